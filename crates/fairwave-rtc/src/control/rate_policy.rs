//! Rate control by a learned policy: each monitor interval multiplies the rate by 2^a, with a from −1 to 1.
//!
//! [`fairwave_endpoint::policy`] describes the policy's inputs and outputs. The controller computes the inputs from
//! per-packet feedback; each packet counts once, as arrived, marked or missing. The delay is one-way, so drifting
//! clocks would look like a growing queue (**assumption**: they do not drift).
//!
//! The controller requests neither padding nor probes: the policy sees only how media crosses the path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_endpoint::policy::{self, Level, Policy, SharedPolicyQueue};
use fairwave_network::packet::Ecn;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate};

use super::reports::{News, Reports, signed_delay};
use super::{ControlLaw, ControlView, Decision, Feedback, Limits, RateController};

/// A learned or handwritten policy. `fairwave.gym` trains policies and writes them to files.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PolicyConfig {
    /// The policy. Default: a linear rule that grows by 3.5 % every 50 ms and holds at a queueing delay of 50 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "a plain linear rule"))]
    pub policy: Option<Policy>,
    /// File with the policy, as `fairwave.gym` writes it, instead of `policy`. The path is relative to the scenario's
    /// folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "none"))]
    pub file: Option<String>,
    /// Pacing rate as a multiple of the rate, from 1 to 100. Default 2.5.
    pub pacing: f64,
    /// Packets carry ECT(0), and the policy sees marks. Default false.
    pub ecn: bool,
    /// External decision maker that replaces the policy; not part of a scenario.
    #[serde(skip)]
    pub policy_queue: Option<SharedPolicyQueue>,
}

impl Default for PolicyConfig {
    fn default() -> Self {
        PolicyConfig { policy: None, file: None, pacing: 2.5, ecn: false, policy_queue: None }
    }
}

impl Checked for PolicyConfig {
    fn check(&self) -> Result<(), ConfigError> {
        policy::check_table(self.file.as_deref(), self.policy.as_ref())?;
        if !(1.0..=100.0).contains(&self.pacing) {
            return Err(ConfigError::new("pacing", self.pacing, "from 1 to 100", "pacing = 2.5"));
        }
        Ok(())
    }
}

impl Law for PolicyConfig {
    const NAME: &'static str = "policy";
    const EXAMPLE: &'static str = r#"{"policy": {"interval": "100 ms", "layers": [{"weights": [[0, 0, 0, -1, 0, -1, -2, 0, 0, 0]], "bias": [0.05]}]}}"#;
}

impl ControlLaw for PolicyConfig {
    type Controller = PolicyControl;

    fn ready(&self) -> Result<(), ConfigError> {
        policy::check_read(self.file.as_deref())
    }

    fn controller(&self, _stream: Stream) -> PolicyControl {
        let policy_queue = self.policy_queue.clone().unwrap_or_else(|| self.policy.clone().unwrap_or_default().queue());
        let none = Rate::default();
        PolicyControl {
            policy_queue,
            reports: Reports::default(),
            limits: Limits { start: none, least: none, most: none },
            rate: 0.0,
            pacing: self.pacing,
            due: Instant::NEVER,
            latest: None,
        }
    }

    fn ecn(&self) -> Ecn {
        if self.ecn { Ecn::Ect0 } else { Ecn::NotEct }
    }
}

/// Sender side of the policy queue.
pub struct PolicyControl {
    policy_queue: SharedPolicyQueue,
    reports: Reports,
    limits: Limits,
    /// Bits per second.
    rate: f64,
    pacing: f64,
    due: Instant,
    /// Latest round trip, seconds.
    latest: Option<f64>,
}

impl PolicyControl {
    fn set(&mut self, rate: f64) {
        let least = self.limits.least.bits_per_second() as f64;
        let most = (self.limits.most.bits_per_second() as f64).max(least);
        self.rate = rate.min(most).max(least);
    }

    fn begin(&mut self, now: Instant) {
        self.set(self.limits.start.bits_per_second() as f64);
        let level = Level::Rate(self.rate);
        self.due = self.policy_queue.with(|queue| {
            queue.begin(now, level);
            queue.due()
        });
    }
}

impl RateController for PolicyControl {
    fn on_limits(&mut self, now: Instant, limits: Limits) {
        self.limits = limits;
        if self.due == Instant::NEVER {
            self.begin(now);
        } else {
            self.set(self.rate);
            let level = Level::Rate(self.rate);
            self.policy_queue.with(|queue| queue.level = level);
        }
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let (reports, latest) = (&mut self.reports, &mut self.latest);
        self.policy_queue.with(|queue| {
            let monitor = &mut queue.monitor;
            let mut has_arrived = false;
            for report in feedback.packets {
                let news = reports.take(report);
                match (news, report.arrived) {
                    (News::Arrived | News::Recovered, Some(arrived)) => {
                        if news == News::Recovered {
                            monitor.recovered();
                        }
                        has_arrived = true;
                        let marked = u32::from(report.ecn == Ecn::Ce);
                        monitor.arrived(1, report.packet.size.get() as f64, marked);
                        monitor.delayed(signed_delay(report.packet.sent, arrived));
                    }
                    (News::Missing, _) => monitor.lost(1),
                    _ => {}
                }
            }
            if has_arrived {
                *latest = Some(feedback.round_trip.seconds());
                monitor.round_trip(feedback.round_trip.seconds());
            }
            monitor.record_feedback(feedback.now, feedback.waits.seconds());
        });
    }

    fn on_timer(&mut self, now: Instant) {
        if now < self.due {
            return;
        }
        let (action, due) = self.policy_queue.with(|queue| (queue.take(now), queue.due()));
        if let Some(action) = action {
            self.set(self.rate * libm::exp2(action));
            let level = Level::Rate(self.rate);
            self.policy_queue.with(|queue| queue.level = level);
        }
        // If no decision has ended the interval, it continues.
        self.due = if due > now { due } else { now + fairwave_units::units::Span::from_millis(1) };
    }

    fn deadline(&self) -> Instant {
        self.due
    }

    fn decision(&self) -> Decision {
        Decision::paced(Rate::from_bits_per_second(self.rate as u64), self.pacing)
    }

    fn on_new_path(&mut self, now: Instant, limits: Limits) {
        (self.limits, self.reports, self.latest) = (limits, Reports::default(), None);
        self.begin(now);
    }

    fn view(&self) -> ControlView {
        ControlView { capacity: Some(self.rate), round_trip: self.latest, state: "policy", ..ControlView::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{Path, controller, feedback, limits, report, run, torture};
    use super::*;
    use fairwave_endpoint::policy::PolicyQueue;
    use fairwave_units::random::Seed;
    use fairwave_units::units::Span;
    use proptest::prelude::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn steered() -> (PolicyControl, SharedPolicyQueue) {
        let queue = SharedPolicyQueue::new(PolicyQueue::new(Span::from_millis(50), None));
        let config = PolicyConfig { policy_queue: Some(queue.clone()), ..PolicyConfig::default() };
        let mut control = config.controller(Seed(1).stream("control"));
        control.on_limits(ms(0), limits(400_000, 100_000, 1_000_000));
        (control, queue)
    }

    #[test]
    fn an_action_multiplies_the_rate_within_its_limits() {
        let (mut control, queue) = steered();
        let mut after = |millis: u64, action: f64| {
            queue.with(|queue| {
                queue.close();
                queue.act(action);
            });
            assert!(control.deadline() <= ms(millis) + Span::from_nanos(1));
            control.on_timer(ms(millis) + Span::from_nanos(1));
            control.decision().target.bits_per_second()
        };
        assert_eq!(
            [after(50, 1.0), after(100, 1.0), after(150, -0.5), after(200, -1.0), after(250, -1.0), after(300, -1.0)],
            [800_000, 1_000_000, 707_106, 353_553, 176_776, 100_000]
        );
    }

    #[test]
    fn a_packet_counts_once_and_a_loss_is_taken_back() {
        let (mut control, queue) = steered();
        let said = [report(0, 0, Some(20)), report(1, 1, None), report(2, 2, Some(62)), report(3, 3, None)];
        control.on_feedback(&feedback(45, &said));
        control.on_feedback(&feedback(46, &[said[0], report(1, 1, Some(31)), said[2], said[3]]));
        let outcome = queue.with(PolicyQueue::close);
        // Three packets of 1000 B in 50 ms; one of four lost; delays of 20, 60 and 30 ms.
        assert!((outcome.delivered - 480_000.0).abs() < 1e-6, "{}", outcome.delivered);
        assert!((outcome.lost - 0.25).abs() < 1e-9);
        assert!((outcome.queueing - (110.0 / 3.0 - 20.0) / 1000.0).abs() < 1e-9, "{}", outcome.queueing);
        assert!((outcome.observation[0] - 0.4_f64.log2()).abs() < 1e-9);
        assert!((outcome.observation[7] - 0.043).abs() < 1e-9, "the least round trip: {}", outcome.observation[7]);
    }

    #[test]
    fn the_plain_rule_fills_a_link_and_keeps_its_queue_short() {
        let path = Path::drop_tail(1_000_000, 50, 300);
        let course = run(&path, &[("\"policy\"", 0)], limits(300_000, 50_000, 3_000_000), 60);
        let mean = course[0].mean(20);
        assert!((600.0..1000.0).contains(&(mean / 1000.0)), "{mean}");
    }

    #[test]
    fn a_file_that_was_not_read_ends_in_an_error_and_not_in_another_policy() {
        let config: super::super::RateControlConfig =
            serde_json::from_str(r#"{"name": "policy", "file": "mine.json"}"#).expect("a table");
        config.check().expect("it is there to be read");
        let error = config.controller(Seed(1).stream("control")).err().expect("refused");
        assert!(error.to_string().contains("mine.json"), "{error}");
        assert!(controller("\"policy\"").deadline() == Instant::NEVER);
    }

    proptest! {
        #[test]
        fn fuzz_no_feedback_makes_it_leave_its_limits(
            random in prop::collection::vec(any::<(u8, u16, u16, bool)>(), 0..300),
        ) {
            torture("\"policy\"", &random);
        }
    }
}
