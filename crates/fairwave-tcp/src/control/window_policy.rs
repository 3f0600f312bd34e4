//! A window set by a learned policy: each monitor interval multiplies the window by 2^a, with a from −1 to 1.
//!
//! [`fairwave_endpoint::policy`] describes the policy's observation and action. A TCP controller has no timer, so
//! an action takes effect with the first acknowledgement that delivers a segment after the interval. Delays are
//! round trips.
//!
//! **Assumptions.** A loss leaves the window to the policy, which observes the loss. Loss recovery is SACK
//! (RFC 6675). A timeout leaves one segment (RFC 5681 §3.1) and discards the pending action. The window is at
//! least 2 and at most 10⁶ segments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlLaw, Controller, Estimate, LEAST_THRESHOLD, Path, RateSample, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_endpoint::policy::{self, Level, Policy, SharedPolicyQueue};
use fairwave_units::config::ConfigError;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Span;

/// The largest window, segments.
const MOST: f64 = 1e6;

/// A learned policy sets the window, or one written by hand. `fairwave.gym` trains policies and writes them to files.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TcpPolicyConfig {
    /// The policy. Default: a linear rule that grows by 3.5 % each 50 ms and is in equilibrium at a queueing delay
    /// of 50 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "a plain linear rule"))]
    pub policy: Option<Policy>,
    /// Instead of `policy`: a file with the policy, as `fairwave.gym` writes it; its path is relative to the scenario's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "none"))]
    pub file: Option<String>,
    /// The policy queue of an external decider that replaces the policy; not part of a scenario.
    #[serde(skip)]
    pub policy_queue: Option<SharedPolicyQueue>,
}

impl Checked for TcpPolicyConfig {
    fn check(&self) -> Result<(), ConfigError> {
        policy::check_table(self.file.as_deref(), self.policy.as_ref())
    }
}

impl Law for TcpPolicyConfig {
    const NAME: &'static str = "tcp/policy";
    const EXAMPLE: &'static str = r#"{"policy": {"interval": "100 ms", "layers": [{"weights": [[0, 0, 0, -1, 0, -1, -2, 0, 0, 0]], "bias": [0.05]}]}}"#;
}

impl ControlLaw for TcpPolicyConfig {
    type Controller = TcpPolicy;
    const RECOVERY: Recovery = Recovery::Sack;
    const SAMPLES: bool = true;
    const CREDIT: bool = false;

    fn ready(&self) -> Result<(), ConfigError> {
        policy::check_read(self.file.as_deref())
    }

    fn controller(&self, _preset: Preset) -> TcpPolicy {
        let policy_queue = self.policy_queue.clone().unwrap_or_else(|| self.policy.clone().unwrap_or_default().queue());
        TcpPolicy { policy_queue, lost: 0, least: Span::MAX, has_begun: false }
    }
}

/// The controller at the sender's side of the policy queue.
pub struct TcpPolicy {
    policy_queue: SharedPolicyQueue,
    /// [`Path::lost`] at the previous sample.
    lost: u64,
    least: Span,
    has_begun: bool,
}

fn level(path: &Path, window: &Window) -> Level {
    Level::Window(window.congestion, f64::from(path.payload))
}

impl Controller for TcpPolicy {
    fn on_ack(&mut self, _path: &Path, window: &mut Window) {
        // Neither slow start nor congestion avoidance: only the policy opens the window.
        window.threshold = window.congestion.max(LEAST_THRESHOLD);
    }

    fn on_sample(&mut self, path: &Path, sample: &RateSample, window: &mut Window) {
        let first = !std::mem::replace(&mut self.has_begun, true);
        let lost = path.lost.saturating_sub(std::mem::replace(&mut self.lost, path.lost));
        if sample.rtt < Span::MAX {
            self.least = self.least.min(sample.rtt);
        }
        self.policy_queue.with(|queue| {
            if first {
                queue.begin(path.now, level(path, window));
            }
            if let Some(action) = queue.take(path.now) {
                window.congestion = (window.congestion * libm::exp2(action)).clamp(LEAST_THRESHOLD, MOST);
                window.threshold = window.congestion;
            }
            let monitor = &mut queue.monitor;
            let packets = sample.newly_delivered;
            monitor.arrived(packets, f64::from(packets) * f64::from(path.payload), path.marked.min(packets));
            monitor.lost(u32::try_from(lost).unwrap_or(u32::MAX));
            if sample.rtt < Span::MAX {
                monitor.delayed(sample.rtt.seconds());
                monitor.round_trip(sample.rtt.seconds());
            }
            monitor.record_feedback(path.now, f64::from(path.pipe) / window.congestion.max(1.0));
            queue.level = level(path, window);
        });
    }

    fn on_loss(&mut self, _path: &Path, window: &mut Window) -> Verdict {
        window.threshold = window.congestion.max(LEAST_THRESHOLD);
        Verdict::Congestion
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        (window.congestion, window.threshold) = (1.0, LEAST_THRESHOLD);
        self.policy_queue.with(|queue| {
            queue.forget();
            queue.level = level(path, window);
        });
        Verdict::Congestion
    }

    fn estimate(&self) -> Option<Estimate> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_endpoint::policy::PolicyQueue;
    use fairwave_units::units::Instant;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn acknowledged(now: Instant, lost: u64) -> (Path, RateSample) {
        let path = Path { now, lost, pipe: 5, ..Path::new(1000) };
        let sample = RateSample {
            rate: None,
            interval: Span::ZERO,
            prior_delivered: 0,
            in_flight: 10,
            lost: 0,
            marked: 0,
            application_limited: false,
            rtt: Span::from_millis(100),
            newly_delivered: 2,
        };
        (path, sample)
    }

    fn steered() -> (TcpPolicy, SharedPolicyQueue, Window) {
        let queue = SharedPolicyQueue::new(PolicyQueue::new(Span::from_millis(100), None));
        let config = TcpPolicyConfig { policy_queue: Some(queue.clone()), ..TcpPolicyConfig::default() };
        (config.controller(Preset::default()), queue, Window { congestion: 10.0, threshold: 64.0 })
    }

    #[test]
    fn an_action_holds_from_the_next_acknowledgement_on() {
        let (mut law, queue, mut window) = steered();
        let ack = |law: &mut TcpPolicy, window: &mut Window, millis: u64, lost: u64| {
            let (path, sample) = acknowledged(ms(millis), lost);
            law.on_ack(&path, window);
            law.on_sample(&path, &sample, window);
        };
        ack(&mut law, &mut window, 20, 0);
        ack(&mut law, &mut window, 60, 2);
        assert_eq!(window.congestion, 10.0, "acknowledgements alone do not open it");
        let outcome = queue.with(|queue| {
            let outcome = queue.close();
            queue.act(1.0);
            outcome
        });
        // Four segments of 1000 B in the 80 ms since the beginning, and two lost.
        assert!((outcome.delivered - 400_000.0).abs() < 1e-6);
        assert!((outcome.lost - 2.0 / 6.0).abs() < 1e-9);
        assert!((outcome.observation[8] - 0.5).abs() < 1e-9, "part of the window in flight");
        ack(&mut law, &mut window, 130, 2);
        assert_eq!(window, Window { congestion: 20.0, threshold: 20.0 });
        law.on_loss(&acknowledged(ms(140), 3).0, &mut window);
        assert_eq!(window.congestion, 20.0, "a loss is the policy's to judge");
        queue.with(|queue| queue.act(1.0));
        law.on_timeout(&acknowledged(ms(900), 3).0, &mut window);
        assert_eq!(window, Window { congestion: 1.0, threshold: LEAST_THRESHOLD });
        ack(&mut law, &mut window, 950, 3);
        assert_eq!(window.congestion, 1.0, "what was due before the timeout is void");
    }
}
