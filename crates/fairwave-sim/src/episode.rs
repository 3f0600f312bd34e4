//! Step-by-step control of one media session's rate or one TCP window from outside the run, for reinforcement
//! learning.
//!
//! The flow's controller becomes the one of [`fairwave_core::transport::policy`] with an external agent. Each step is
//! one monitor interval. The agent's action holds from just after the end of the previous interval. The step returns
//! the sender's observations up to the end of its interval. A policy inside the scenario decides at the same moments.
//! So it produces the same bytes as the same policy outside.

use std::sync::Arc;

use fairwave_core::transport::TransportConfig;
use fairwave_core::transport::policy::{OBSERVED, Outcome, PolicyQueue, SharedPolicyQueue};
use fairwave_core::transport::rate_control::{PolicyConfig, RateControlConfig};
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::Plan;
use rayon::prelude::*;

use crate::error::RunError;
use crate::result::RunResult;
use crate::simulation::SteppedRun;

/// Controllable quantity of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Steered {
    /// Rate of a media session.
    Rate,
    /// Window of a TCP sender.
    Window,
}

/// Result of a step.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Step {
    /// Observations of the sender.
    pub outcome: Outcome,
    /// End of the interval, in seconds from the start of the run.
    pub at: f64,
    /// True if no further step is possible because it would end after the run.
    pub is_last: bool,
}

/// A run in progress under external control.
#[derive(Debug)]
pub struct Episode {
    run: SteppedRun<'static, ()>,
    queue: SharedPolicyQueue,
    interval: Span,
    end: Instant,
    is_over: bool,
}

/// Returns the quantity that an agent can set for a flow; `None` if there is none.
pub fn steers(plan: &Plan, flow: usize) -> Option<Steered> {
    match &*plan.flows.get(flow)?.transport {
        TransportConfig::Webrtc(_) => Some(Steered::Rate),
        TransportConfig::TcpPolicy(_) => Some(Steered::Window),
        _ => None,
    }
}

impl Episode {
    /// Starts an episode and runs the sender's first interval without an action. The flow must be one that [`steers`]
    /// accepts. A session keeps the pacing settings of its `control` only if that control is `policy`.
    ///
    /// # Errors
    /// Fails if the run cannot start, the flow has no controllable quantity, or the sender does not start before the
    /// end of the run.
    pub fn begin(mut plan: Plan, flow: usize, interval: Span) -> Result<(Self, Step), String> {
        let queue = SharedPolicyQueue::new(PolicyQueue::new(interval, None));
        let interval = interval.max(Span::from_millis(1));
        let Some(steered) = plan.flows.get_mut(flow) else {
            return Err(format!("there is no flow number {flow}"));
        };
        let transport = match &*steered.transport {
            TransportConfig::Webrtc(config) => {
                let mut config = config.clone();
                let mut control = match config.control {
                    RateControlConfig::Policy(own) => own,
                    _ => PolicyConfig::default(),
                };
                (control.policy_queue, control.file) = (Some(queue.clone()), None);
                config.control = RateControlConfig::Policy(control);
                TransportConfig::Webrtc(config)
            }
            TransportConfig::TcpPolicy(tcp) => {
                let mut tcp = tcp.clone();
                (tcp.law.policy_queue, tcp.law.file) = (Some(queue.clone()), None);
                TransportConfig::TcpPolicy(tcp)
            }
            other => {
                return Err(format!(
                    "the flow `{}` is sent by {}, which an agent cannot steer; write transport = \"webrtc\" or \"tcp/policy\"",
                    steered.name,
                    other.name()
                ));
            }
        };
        steered.transport = Arc::new(transport);
        let (name, end) = (steered.name.clone(), Instant::ZERO + plan.duration);
        let run = SteppedRun::from_owned(plan, ()).map_err(|error| error.to_string())?;
        let mut episode = Episode { run, queue, interval, end, is_over: false };
        let mut until = Instant::ZERO;
        while !episode.queue.with(|queue| queue.has_begun() && queue.ends() <= until) {
            until += episode.interval;
            if until > end {
                return Err(format!("`{name}` does not begin before the run ends at {end}"));
            }
            episode.run.advance(until).map_err(|error| error.to_string())?;
        }
        let first = episode.close();
        Ok((episode, first))
    }

    /// Closes the current interval.
    fn close(&mut self) -> Step {
        let (at, outcome, next) = self.queue.with(|queue| (queue.ends(), queue.close(), queue.ends()));
        self.is_over = next > self.end;
        Step { outcome, at: at.seconds(), is_last: self.is_over }
    }

    /// Whether no further step is possible.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Applies an action from −1 to 1, runs to the end of the next interval and returns the sender's observations.
    /// After the last step, it does nothing.
    ///
    /// # Errors
    /// Fails if an invariant is broken.
    pub fn step(&mut self, action: f64) -> Result<Step, RunError> {
        if self.is_over {
            return Ok(Step { at: self.end.seconds(), is_last: true, ..Step::default() });
        }
        let until = self.queue.with(|queue| {
            queue.act(action);
            queue.ends()
        });
        self.run.advance(until)?;
        Ok(self.close())
    }

    /// Runs to the end with the last action's rate or window, and returns all results.
    ///
    /// # Errors
    /// Same as [`Run::execute`](crate::Run::execute).
    pub fn complete(self) -> Result<RunResult, RunError> {
        Ok(self.run.complete()?.0)
    }
}

/// Steps many episodes, each with its action, on all cores. The episodes are independent, so the number of threads
/// has no effect on results.
///
/// # Errors
/// Returns the first broken invariant, by index.
pub fn step_all(episodes: &mut [&mut Episode], actions: &[f64]) -> Result<Vec<Step>, RunError> {
    let work = |(episode, action): (&mut &mut Episode, &f64)| episode.step(*action);
    if episodes.len() == 1 {
        return episodes.iter_mut().zip(actions).map(work).collect();
    }
    let steps: Vec<Result<Step, RunError>> = episodes.par_iter_mut().zip(actions).map(work).collect();
    steps.into_iter().collect()
}

/// Length of an observation.
pub const WIDTH: usize = OBSERVED;

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_core::random::Seed;
    use fairwave_core::transport::policy::Policy;
    use fairwave_scenario::Scenario;

    const CALL: &str = r#"
        name = "call"
        duration = "10 s"
        link = [{ from = "a", to = "b", rate = "1 Mb/s", delay = "40 ms", queue = { capacity = { bytes = 30000 } } }]
        [[flow]]
        name = "call"
        from = "a"
        to = "b"
        transport = { name = "webrtc", control = CONTROL }
        traffic = { kind = "media", video = { most = "2 Mb/s" } }
    "#;
    const DOWNLOAD: &str = r#"
        name = "download"
        duration = "10 s"
        link = [{ from = "a", to = "b", rate = "5 Mb/s", delay = "20 ms", queue = { capacity = { packets = 40 } } }]
        flow = [{ name = "download", from = "a", to = "b", start = "0.3 s", transport = "tcp/policy", traffic = "bulk" }]
    "#;

    fn plan(text: &str, seed: u64) -> Plan {
        let text = text.replace("CONTROL", "\"policy\"");
        Scenario::from_text(&text, "test.toml").expect("a scenario").plan(Seed(seed)).expect("a plan")
    }

    /// Runs the default policy from outside.
    fn steered(text: &str, seed: u64) -> (String, Vec<Step>) {
        let policy = Policy::default();
        let (mut episode, first) = Episode::begin(plan(text, seed), 0, policy.interval).expect("an episode");
        let mut steps = vec![first];
        while !episode.is_over() {
            let action = policy.act(&steps.last().expect("a step").outcome.observation);
            steps.push(episode.step(action).expect("a step"));
        }
        (episode.complete().expect("a result").digest().expect("a digest"), steps)
    }

    #[test]
    fn a_policy_outside_of_the_run_leaves_the_bytes_of_the_same_policy_within() {
        for text in [CALL, DOWNLOAD] {
            let within = crate::Run::new(&plan(text, 3)).execute().expect("a run").digest().expect("a digest");
            let (outside, steps) = steered(text, 3);
            assert_eq!(within, outside);
            assert!(steps.len() > 150, "{}", steps.len());
            assert!((steps.last().expect("steps").at - 10.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_seed_fixes_an_episode_and_another_seed_makes_another() {
        assert_eq!(steered(CALL, 5), steered(CALL, 5));
        assert_ne!(steered(CALL, 5).0, steered(CALL, 6).0);
    }

    /// OpenNetLab/gym#21: above the link's rate the measured round trip collapsed, so sending more looked better.
    #[test]
    fn more_than_the_link_carries_costs_delay_and_loss_and_brings_no_more() {
        let reached = |action: f64| {
            let (mut episode, _) = Episode::begin(plan(CALL, 1), 0, Span::from_millis(100)).expect("an episode");
            let steps: Vec<Step> = (0..80).map(|_| episode.step(action).expect("a step")).collect();
            let late = &steps[50..];
            let mean = |of: fn(&Outcome) -> f64| late.iter().map(|step| of(&step.outcome)).sum::<f64>() / 30.0;
            (mean(|outcome| outcome.delivered), mean(|outcome| outcome.queueing), mean(|outcome| outcome.lost))
        };
        let (low, little) = (reached(0.0), reached(1.0));
        assert!(low.0 < 400_000.0 && low.1 < 0.02 && low.2 == 0.0, "{low:?}");
        // 30 000 B at 1 Mb/s take 240 ms.
        assert!(little.0 < 1_010_000.0 && little.1 > 0.12 && little.2 > 0.1, "{little:?}");
    }

    #[test]
    fn the_run_stops_at_its_end() {
        let (mut episode, _) = Episode::begin(plan(DOWNLOAD, 1), 0, Span::from_secs(3)).expect("an episode");
        let steps: Vec<Step> = (0..4).map(|_| episode.step(0.1).expect("a step")).collect();
        assert_eq!(steps.iter().map(|step| step.is_last).collect::<Vec<_>>(), [false, true, true, true]);
        assert_eq!(steps[2].outcome, Outcome::default());
    }

    #[test]
    fn many_at_once_are_as_each_alone() {
        let seeds = [1, 2, 3, 4, 5];
        let begin = |seed: &u64| Episode::begin(plan(CALL, *seed), 0, Span::from_millis(50)).expect("an episode").0;
        let mut alone: Vec<Episode> = seeds.iter().map(begin).collect();
        let mut together: Vec<Episode> = seeds.iter().map(begin).collect();
        for turn in 0..20 {
            let actions: Vec<f64> = (0..5).map(|place| f64::from(turn * place % 7) / 7.0 - 0.3).collect();
            let one: Vec<Step> = alone
                .iter_mut()
                .zip(&actions)
                .map(|(episode, action)| episode.step(*action).expect("a step"))
                .collect();
            let mut all: Vec<&mut Episode> = together.iter_mut().collect();
            assert_eq!(step_all(&mut all, &actions).expect("steps"), one);
        }
    }

    #[test]
    fn flows_that_nobody_can_steer_are_refused() {
        let cubic = DOWNLOAD.replace("tcp/policy", "tcp/cubic");
        let refused = |text: &str, flow: usize| Episode::begin(plan(text, 1), flow, Span::from_millis(50)).err();
        assert!(refused(&cubic, 0).expect("refused").contains("tcp/policy"));
        assert!(refused(CALL, 7).expect("refused").contains('7'));
        let late = DOWNLOAD.replace("0.3 s", "20 s");
        assert!(Scenario::from_text(&late, "late.toml").is_err() || refused(&late, 0).is_some());
        assert_eq!(steers(&plan(CALL, 1), 0), Some(Steered::Rate));
        assert_eq!(steers(&plan(DOWNLOAD, 1), 0), Some(Steered::Window));
    }
}
