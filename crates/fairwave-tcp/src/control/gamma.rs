//! γ and δ: congestion avoidance around any additive-increase controller, before the buffer overflows.
//!
//! Source: paper 003 §IV, Eq. (15)–(17). The trigger is a queueing delay that reaches the share Th_upper of the
//! largest seen. One round trip later the window is multiplied by γ = minRTT / (Th_upper·maxRTT + (1 −
//! Th_upper)·minRTT). This brings the system to the knee, where the queue is just empty. With δ, the window grows
//! by δ per round trip instead of α while the share is at most Th_lower.
//!
//! **Assumptions.** The sender measures the round trip to the nanosecond, and its extremes are those of the whole
//! connection. 'After one RTT' is the round trip measured at detection. With `at-once` the law reads the same
//! words as a limit of one decrease per round trip. After a decrease the law detects nothing until a segment sent
//! after it is acknowledged: earlier segments met the old queue. Both act in congestion avoidance only: in slow
//! start the current round trip is always the largest. The threshold follows the window down, so that a decrease
//! does not start slow start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aimd::{Additive, Aimd, AimdConfig};
use super::{ControlLaw, Controller, Estimate, LEAST_THRESHOLD, Path, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::ratio::OptionalRatio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Span};

const UPPER: f64 = 0.5;
const LOWER: f64 = 0.1;
const DELTA: f64 = 2.0;

/// γ around TCP(α, β) (paper 003). When the queueing delay reaches the share `upper` of its maximum, γ cuts the window
/// before the buffer overflows, so that the queue just empties.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct GammaConfig {
    /// Segments added per round trip, above 0. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = super::aimd::ALPHA))]
    pub alpha: Option<f64>,
    /// Part of the window kept on loss, above 0 and below 1. Default 0.5.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = super::aimd::BETA))]
    pub beta: Option<f64>,
    /// Share of the largest queueing delay at which the window is lowered, above 0 and below 1. Default 0.5.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = UPPER))]
    pub upper: Option<f64>,
    /// Lowers the window as soon as the share is reached, not one round trip later. Default false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = GammaConfig::default().at_once))]
    pub at_once: bool,
}

impl GammaConfig {
    fn base(&self) -> AimdConfig {
        AimdConfig { alpha: self.alpha, beta: self.beta }
    }
}

impl Checked for GammaConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.base().check()?;
        check_between("upper", self.upper.unwrap_or(UPPER), 0.0, 1.0, "upper = 0.5")
    }
}

impl Law for GammaConfig {
    const NAME: &'static str = "tcp/gamma";
}

impl ControlLaw for GammaConfig {
    type Controller = Box<Gamma<Aimd>>;
    const RECOVERY: Recovery = Recovery::Reno;

    fn controller(&self, preset: Preset) -> Box<Gamma<Aimd>> {
        let gamma = Gamma::new(self.base().aimd(preset), self.upper.unwrap_or(UPPER), LOWER, None);
        Box::new(Gamma { at_once: self.at_once, ..gamma })
    }

    fn shown(&self) -> Option<String> {
        self.base().shown()
    }
}

/// γ and δ around TCP(α, β) (paper 003). As `tcp/gamma`. In addition, while the queueing delay is at most the share
/// `lower` of its maximum, the window grows by δ per round trip instead of α.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct GammaDeltaConfig {
    /// Segments added per round trip, above 0. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = super::aimd::ALPHA))]
    pub alpha: Option<f64>,
    /// Part of the window kept on loss, above 0 and below 1. Default 0.5.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = super::aimd::BETA))]
    pub beta: Option<f64>,
    /// Segments added per round trip while the queue is nearly empty, above 0. Default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = DELTA))]
    pub delta: Option<f64>,
    /// Share of the largest queueing delay at which the window is lowered, above 0 and below 1. Default 0.5.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = UPPER))]
    pub upper: Option<f64>,
    /// Share up to which the window grows by `delta`, above 0 and below `upper`. Default 0.1.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = LOWER))]
    pub lower: Option<f64>,
    /// Lowers the window as soon as the share is reached, not one round trip later. Default false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = GammaDeltaConfig::default().at_once))]
    pub at_once: bool,
}

impl GammaDeltaConfig {
    fn gamma(&self) -> GammaConfig {
        GammaConfig { alpha: self.alpha, beta: self.beta, upper: self.upper, at_once: self.at_once }
    }
}

impl Checked for GammaDeltaConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.gamma().base().check()?;
        check_between("delta", self.delta.unwrap_or(DELTA), 0.0, f64::INFINITY, "delta = 2")?;
        self.gamma().check()?;
        match self.lower {
            Some(lower) => check_between("lower", lower, 0.0, self.upper.unwrap_or(UPPER), "lower = 0.1"),
            None => Ok(()),
        }
    }
}

impl Law for GammaDeltaConfig {
    const NAME: &'static str = "tcp/gamma-delta";
}

impl ControlLaw for GammaDeltaConfig {
    type Controller = Box<Gamma<Aimd>>;
    const RECOVERY: Recovery = Recovery::Reno;

    fn controller(&self, preset: Preset) -> Box<Gamma<Aimd>> {
        let base = self.gamma().base().aimd(preset);
        let (upper, lower) = (self.upper.unwrap_or(UPPER), self.lower.unwrap_or(LOWER));
        let gamma = Gamma::new(base, upper, lower, Some(self.delta.unwrap_or(DELTA)));
        Box::new(Gamma { at_once: self.at_once, ..gamma })
    }

    fn shown(&self) -> Option<String> {
        self.gamma().shown()
    }
}

/// γ (and δ) around `B`.
#[derive(Clone, PartialEq, Debug)]
pub struct Gamma<B> {
    base: B,
    upper: f64,
    lower: f64,
    delta: Option<f64>,
    /// A detected decrease takes effect at once.
    at_once: bool,
    /// When a detected decrease takes effect.
    due: Instant,
    /// No decrease is detected before this segment is acknowledged. It was the next to be sent at the last decrease.
    rest: u32,
    /// The γ of the last decrease.
    last: Option<f64>,
}

impl<B: Additive> Gamma<B> {
    /// Creates γ around `base` with Th_upper = `upper`. With `delta`, the window grows by `delta` segments per
    /// round trip while the share is at most `lower`.
    pub fn new(base: B, upper: f64, lower: f64, delta: Option<f64>) -> Self {
        Gamma { base, upper, lower, delta, at_once: false, due: Instant::NEVER, rest: 0, last: None }
    }

    /// Cancels a due decrease after the larger decrease of a loss.
    fn overtaken(&mut self, path: &Path) {
        self.due = Instant::NEVER;
        self.rest = path.next;
    }
}

/// γ of Eq. (16): the part of the window to keep so that the queue just empties.
pub fn gamma(min_rtt: Span, max_rtt: Span, upper: f64) -> f64 {
    let (min, max) = (min_rtt.nanos() as f64, max_rtt.nanos() as f64);
    min / (upper * max + (1.0 - upper) * min)
}

impl<B: Additive> Controller for Gamma<B> {
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        let slow_start = window.in_slow_start();
        self.base.on_ack(path, window);
        if slow_start {
            return;
        }
        let share = path.queueing_share();
        if let Some(delta) = self.delta
            && share <= self.lower
        {
            window.congestion += (delta - self.base.alpha()) * self.base.weight(path) / window.congestion;
        }
        if self.due == Instant::NEVER && path.unacknowledged > self.rest && share >= self.upper {
            self.due = if self.at_once { path.now } else { path.now + path.rtt };
        }
        if path.now >= self.due {
            self.due = Instant::NEVER;
            self.rest = path.next;
            let factor = gamma(path.min_rtt, path.max_rtt, self.upper);
            self.last = Some(factor);
            window.congestion = (window.congestion * factor).max(LEAST_THRESHOLD);
            window.threshold = window.threshold.min(window.congestion);
        }
    }

    fn on_other_ack(&mut self, path: &Path, window: &mut Window) {
        self.base.on_other_ack(path, window);
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        self.overtaken(path);
        self.base.on_loss(path, window)
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        self.overtaken(path);
        self.base.on_timeout(path, window)
    }

    fn on_restart(&mut self, path: &Path, window: &mut Window) {
        self.overtaken(path);
        self.base.on_restart(path, window);
    }

    /// The γ of the last decrease.
    fn estimate(&self) -> Option<Estimate> {
        self.last.map(Estimate::Decrease)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_pipe::estimated;
    use super::*;

    /// A segment is sent and acknowledged every millisecond.
    fn path(now_ms: u64, rtt_ms: u64) -> Path {
        Path {
            next: now_ms as u32,
            unacknowledged: (now_ms - rtt_ms) as u32,
            now: Instant::ZERO + Span::from_millis(now_ms),
            rtt: Span::from_millis(rtt_ms),
            min_rtt: Span::from_millis(100),
            max_rtt: Span::from_millis(200),
            ..Path::new(1000)
        }
    }

    fn reno(delta: Option<f64>) -> (Gamma<Aimd>, Window) {
        (Gamma::new(Aimd::new(1.0, 0.5, false), 0.5, 0.1, delta), Window { congestion: 30.0, threshold: 10.0 })
    }

    #[test]
    fn gamma_is_two_thirds_when_the_buffer_is_the_delay_bandwidth_product() {
        // Paper 003 §IV: "since the buffer size is set to the delay-bandwidth product, γ is around 2/3".
        assert!((gamma(Span::from_millis(100), Span::from_millis(200), 0.5) - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn the_decrease_takes_effect_one_round_trip_after_detection() {
        let (mut gamma, mut window) = reno(None);
        gamma.on_ack(&path(1000, 150), &mut window);
        gamma.on_ack(&path(1149, 150), &mut window);
        let before = window.congestion;
        assert!(before > 30.0, "it grows until then");
        gamma.on_ack(&path(1150, 150), &mut window);
        assert!((window.congestion - (before + 1.0 / before) * 2.0 / 3.0).abs() < 1e-9);
        assert!(window.threshold <= window.congestion);
    }

    #[test]
    fn adjusts_at_most_once_per_round_trip() {
        let (mut gamma, mut window) = reno(None);
        for now in [1000, 1150] {
            gamma.on_ack(&path(now, 150), &mut window);
        }
        let lowered = window.congestion;
        for now in 1151..1451 {
            gamma.on_ack(&path(now, 150), &mut window);
        }
        let grown = window.congestion;
        assert!(grown > lowered, "what was queued before the decrease does not count again");
        gamma.on_ack(&path(1451, 150), &mut window);
        assert!(window.congestion < grown);
    }

    #[test]
    fn delta_replaces_alpha_while_the_queue_is_nearly_empty() {
        let (mut gamma, mut window) = reno(Some(2.0));
        gamma.on_ack(&path(1000, 110), &mut window);
        assert!((window.congestion - (30.0 + 2.0 / 30.0)).abs() < 1e-3);
        let (mut gamma, mut window) = reno(Some(2.0));
        gamma.on_ack(&path(1000, 111), &mut window);
        assert!((window.congestion - (30.0 + 1.0 / 30.0)).abs() < 1e-9);
    }

    #[test]
    fn with_delayed_acknowledgements_delta_is_gained_per_round_trip_where_alpha_is() {
        let mut gamma = GammaDeltaConfig { delta: Some(3.0), ..GammaDeltaConfig::default() }.controller(Preset::Linux);
        let mut window = Window { congestion: 1000.0, threshold: 10.0 };
        for ack in 0..500 {
            let path = Path { acknowledged: 2, flight: window.congestion as u32, ..path(2000 + 2 * ack, 105) };
            gamma.on_ack(&path, &mut window);
        }
        assert!((window.congestion - 1003.0).abs() < 0.02, "{}", window.congestion);
    }

    #[test]
    fn slow_start_is_not_adjusted() {
        let (mut gamma, _) = reno(Some(2.0));
        let mut window = Window { congestion: 8.0, threshold: 64.0 };
        gamma.on_ack(&path(1000, 200), &mut window);
        gamma.on_ack(&path(1300, 200), &mut window);
        assert_eq!(window.congestion, 10.0);
    }

    #[test]
    fn eq_16_weighs_the_extremes_by_the_upper_threshold() {
        // Th_upper = 0.8, 100 ms and 300 ms: 100 / (0.8 · 300 + 0.2 · 100) = 100 / 260.
        let kept = super::gamma(Span::from_millis(100), Span::from_millis(300), 0.8);
        assert!((kept - 100.0 / 260.0).abs() < 1e-12);
    }

    #[test]
    fn eq_15_detection_begins_at_the_upper_threshold() {
        for (rtt, lowered) in [(149, false), (150, true)] {
            let (mut gamma, mut window) = reno(None);
            gamma.on_ack(&path(1000, rtt), &mut window);
            gamma.on_ack(&path(1000 + rtt, rtt), &mut window);
            assert_eq!(window.congestion < 30.0, lowered, "{rtt} ms");
            assert_eq!(gamma.estimate().is_none(), !lowered);
        }
    }

    #[test]
    fn shows_the_gamma_of_the_last_decrease() {
        let (mut gamma, mut window) = reno(None);
        assert_eq!(gamma.estimate(), None);
        gamma.on_ack(&path(1000, 150), &mut window);
        gamma.on_ack(&path(1150, 150), &mut window);
        assert!((estimated(&gamma) - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_decrease_leaves_two_segments_and_takes_the_threshold_along() {
        let mut gamma = Gamma::new(Aimd::new(1.0, 0.5, false), 0.5, 0.1, None);
        let mut window = Window { congestion: 2.1, threshold: 2.05 };
        gamma.on_ack(&path(1000, 150), &mut window);
        gamma.on_ack(&path(1150, 150), &mut window);
        assert_eq!(window, Window { congestion: 2.0, threshold: 2.0 });
    }

    #[test]
    fn a_loss_a_timeout_or_a_restart_overtakes_a_decrease_that_is_due() {
        type Event = fn(&mut Gamma<Aimd>, &Path, &mut Window);
        let events: [Event; 3] = [
            |gamma, path, window| assert_eq!(gamma.on_loss(path, window), Verdict::Congestion),
            |gamma, path, window| assert_eq!(gamma.on_timeout(path, window), Verdict::Congestion),
            |gamma, path, window| gamma.on_restart(path, window),
        ];
        for event in events {
            let (mut gamma, mut window) = reno(None);
            gamma.on_ack(&path(1000, 150), &mut window);
            event(&mut gamma, &Path { in_use: 30.0, ..path(1100, 150) }, &mut window);
            let mut window = Window { congestion: 15.0, threshold: 15.0 };
            gamma.on_ack(&path(1150, 150), &mut window);
            // Segment 1150 − 150 was sent before it, so it is not detected again.
            gamma.on_ack(&path(1240, 150), &mut window);
            gamma.on_ack(&path(1390, 150), &mut window);
            assert!(window.congestion > 15.0, "{window:?}");
        }
    }

    #[test]
    fn losses_and_timeouts_are_the_base_controllers() {
        let (mut gamma, mut window) = reno(None);
        let path = Path { in_use: 30.0, ..path(1000, 150) };
        assert_eq!(gamma.on_loss(&path, &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 15.0, threshold: 15.0 });
        assert_eq!(gamma.on_timeout(&path, &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 1.0, threshold: 15.0 });
    }

    #[test]
    fn a_restart_is_the_base_controllers_first_decrease() {
        let mut gamma = Gamma::new(Aimd::new(0.31, 0.875, true), 0.5, 0.1, None);
        let mut window = Window { congestion: 40.0, threshold: 20.0 };
        gamma.on_restart(&path(1000, 150), &mut window);
        gamma.on_loss(&Path { in_use: 40.0, ..path(1000, 150) }, &mut window);
        assert_eq!(window.congestion, 35.0);
    }

    #[test]
    fn delta_counts_from_the_alpha_of_the_base() {
        let mut gamma = Gamma::new(Aimd::new(0.5, 0.5, false), 0.5, 0.1, Some(2.0));
        let mut window = Window { congestion: 30.0, threshold: 10.0 };
        gamma.on_ack(&path(1000, 105), &mut window);
        // α / 30, then (δ − α) over the increased window.
        let grown = 30.0 + 0.5 / 30.0;
        assert_eq!(window.congestion, grown + 1.5 / grown);
    }

    #[test]
    fn lowers_the_window_when_the_share_is_found_and_then_not_for_a_round_trip() {
        let config = GammaConfig { at_once: true, ..GammaConfig::default() };
        let mut gamma = config.controller(Preset::Rfc);
        let mut window = Window { congestion: 30.0, threshold: 10.0 };
        gamma.on_ack(&path(1000, 150), &mut window);
        let lowered = window.congestion;
        assert!((lowered - (30.0 + 1.0 / 30.0) * 100.0 / 150.0).abs() < 1e-9, "{lowered}");
        gamma.on_ack(&path(1100, 150), &mut window);
        assert!(window.congestion > lowered, "what was queued before does not count");
        gamma.on_ack(&path(1160, 150), &mut window);
        assert!(window.congestion < lowered, "what was sent after does");
        let delta = GammaDeltaConfig { at_once: true, ..GammaDeltaConfig::default() };
        assert!(delta.controller(Preset::Rfc).at_once && !GammaDeltaConfig::default().controller(Preset::Rfc).at_once);
    }

    #[test]
    fn parameters_left_out_are_the_papers() {
        let base = Aimd::new(1.0, 0.5, false);
        let gamma = |config: GammaConfig| format!("{:?}", config.controller(Preset::Rfc));
        assert_eq!(gamma(GammaConfig::default()), format!("{:?}", Gamma::new(base.clone(), 0.5, 0.1, None)));
        let delta = |config: GammaDeltaConfig| format!("{:?}", config.controller(Preset::Ns2));
        let ns2 = Aimd::new(1.0, 0.5, true);
        assert_eq!(delta(GammaDeltaConfig::default()), format!("{:?}", Gamma::new(ns2, 0.5, 0.1, Some(2.0))));
        let set = GammaDeltaConfig {
            alpha: Some(0.3),
            beta: Some(0.8),
            delta: Some(3.0),
            upper: Some(0.6),
            lower: Some(0.2),
            at_once: false,
        };
        assert_eq!(delta(set), format!("{:?}", Gamma::new(Aimd::new(0.3, 0.8, true), 0.6, 0.2, Some(3.0))));
    }
}
