//! TCP(α, β): additive increase, multiplicative decrease. Reno, NewReno, SACK and Tahoe are TCP(1, 0.5) with their recovery.
//!
//! Source: paper 003 §I and Eq. (1)–(4); Yang & Lam, *General AIMD congestion control* (2000); RFC 5681 §3.1 for slow
//! start and for α = 1, β = 0.5. Here β is the part of the window that is KEPT.
//!
//! **Assumptions.** The window grows by α / window for each segment that [`Path::credit`] counts: α per round
//! trip. A timeout lowers the slow start threshold by β as well. With `like_ns2` the law follows three rules of
//! ns-2.35. The first decrease of a connection, a decrease in slow start and one by timeout halve the window for
//! any β. The threshold is truncated to a whole number. Each timeout lowers the threshold, also for a segment that
//! has timed out before (RFC 5681 §3.1 keeps the threshold then). At the beginning of 2004, ns-2 truncated the
//! window before a decrease and the result of the decrease (`precisionReduce_` false, the default until
//! 2006-01-24).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::growth::Growth;
use super::{ControlLaw, Controller, LEAST_THRESHOLD, Path, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::ratio::OptionalRatio;
use fairwave_units::registry::{Checked, Law};

/// Default increase and kept part: Reno's.
pub(super) const ALPHA: f64 = 1.0;
pub(super) const BETA: f64 = 0.5;

/// TCP(α, β) (Yang & Lam 2000; paper 003). The window grows by α segments per round trip, and a loss reduces it to β
/// times its size. TCP(1, 0.5) is Reno.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AimdConfig {
    /// Segments added per round trip, above 0. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ALPHA))]
    pub alpha: Option<f64>,
    /// Part of the window kept on loss, above 0 and below 1. Default 0.5.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = BETA))]
    pub beta: Option<f64>,
}

impl AimdConfig {
    /// Creates the controller. Unset parameters are those of TCP(1, 0.5).
    pub(super) fn aimd(&self, preset: Preset) -> Aimd {
        let aimd = Aimd::new(self.alpha.unwrap_or(ALPHA), self.beta.unwrap_or(BETA), preset.like_ns2());
        Aimd { growth: Growth::for_preset(preset), truncates: preset == Preset::Ns2Of2004, ..aimd }
    }
}

impl Checked for AimdConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_between("alpha", self.alpha.unwrap_or(ALPHA), 0.0, f64::INFINITY, "alpha = 0.31")?;
        check_between("beta", self.beta.unwrap_or(BETA), 0.0, 1.0, "beta = 0.875")
    }
}

impl Law for AimdConfig {
    const NAME: &'static str = "tcp/aimd";
    const EXAMPLE: &'static str = r#"{"alpha": 0.31, "beta": 0.875}"#;
}

impl ControlLaw for AimdConfig {
    type Controller = Aimd;
    const RECOVERY: Recovery = Recovery::Reno;

    fn controller(&self, preset: Preset) -> Aimd {
        self.aimd(preset)
    }

    /// α and β, if at least one is set.
    fn shown(&self) -> Option<String> {
        (self.alpha.or(self.beta))?;
        Some(format!("{}, {}", self.alpha.unwrap_or(ALPHA), self.beta.unwrap_or(BETA)))
    }
}

/// Defines the names of TCP(1, 0.5) with each recovery, one line per name.
macro_rules! reno_with {
    ($($($doc:literal)+ $Config:ident $name:literal $recovery:ident;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $Config {}

        impl Checked for $Config {}

        impl Law for $Config {
            const NAME: &'static str = $name;
        }

        impl ControlLaw for $Config {
            type Controller = Aimd;
            const RECOVERY: Recovery = Recovery::$recovery;

            fn controller(&self, preset: Preset) -> Aimd {
                AimdConfig::default().aimd(preset)
            }
        }
    )+};
}

reno_with! {
    "Tahoe: TCP(1, 0.5) with Tahoe's recovery."
    "In slow start the window doubles per round trip; above the threshold it grows by one segment per round trip."
    "Three duplicate acknowledgements signal a loss: the sender halves the threshold, retransmits the segment, and begins"
    "slow start again from one segment (RFC 5681)."
    TahoeConfig "tcp/tahoe" Tahoe;
    "Reno: TCP(1, 0.5) with Reno's recovery."
    "In slow start the window doubles per round trip; above the threshold it grows by one segment per round trip."
    "Three duplicate acknowledgements signal a loss, which halves the window: fast retransmit, and fast recovery until the"
    "first new acknowledgement (RFC 5681)."
    RenoConfig "tcp/reno" Reno;
    "NewReno: TCP(1, 0.5) with NewReno's recovery (RFC 6582)."
    "In slow start the window doubles per round trip; above the threshold it grows by one segment per round trip. A loss"
    "halves it. A partial acknowledgement repairs the next hole, and recovery lasts until all data that was in flight is"
    "acknowledged."
    NewrenoConfig "tcp/newreno" Newreno;
    "SACK: TCP(1, 0.5) with selective acknowledgements (RFC 6675)."
    "In slow start the window doubles per round trip; above the threshold it grows by one segment per round trip. A loss"
    "halves it. The receiver reports which segments have arrived, so that the sender repairs several losses of one window"
    "within a round trip."
    SackConfig "tcp/sack" Sack;
}

/// The window of TCP(α, β).
#[derive(Clone, PartialEq, Debug)]
pub struct Aimd {
    alpha: f64,
    beta: f64,
    growth: Growth,
    like_ns2: bool,
    /// Decreases are in whole segments.
    truncates: bool,
    /// True until the first decrease.
    first: bool,
}

impl Aimd {
    /// Creates TCP(`alpha`, `beta`): `alpha` > 0 segments per round trip; `beta` in (0, 1) is the part kept.
    pub fn new(alpha: f64, beta: f64, like_ns2: bool) -> Self {
        Aimd { alpha, beta, growth: Growth::default(), like_ns2, truncates: false, first: true }
    }

    fn kept(&self, window: &Window) -> f64 {
        if self.like_ns2 && (self.first || window.in_slow_start()) { 0.5 } else { self.beta }
    }

    /// The window after a decrease.
    fn left(&self, kept: f64, path: &Path) -> f64 {
        if self.truncates { libm::trunc(kept * libm::trunc(path.in_use)) } else { kept * path.in_use }
    }

    fn threshold(&self, kept: f64, path: &Path) -> f64 {
        let threshold = self.left(kept, path);
        (if self.like_ns2 { libm::trunc(threshold) } else { threshold }).max(LEAST_THRESHOLD)
    }
}

/// The α that gives TCP(α, β) the throughput of TCP(1, 0.5) at equal loss: α = 4(1 − β²)/3 (paper 003 Eq. 3; Yang
/// & Lam 2000). `beta` in (0, 1) is the part kept.
pub fn friendly_alpha(beta: f64) -> f64 {
    4.0 * (1.0 - beta * beta) / 3.0
}

/// Additive increase that other controllers can build on.
pub trait Additive: Controller {
    /// Segments per round trip added in congestion avoidance.
    fn alpha(&self) -> f64;

    /// The number of segments that the last acknowledgement counts for. It is one, unless the base counts the
    /// acknowledged segments.
    fn weight(&self, path: &Path) -> f64;
}

impl Additive for Aimd {
    fn alpha(&self) -> f64 {
        self.alpha
    }

    fn weight(&self, path: &Path) -> f64 {
        self.growth.weight(path)
    }
}

impl Controller for Aimd {
    #[inline]
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        self.growth.grow(self.alpha, path, window);
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        let kept = self.kept(window);
        self.first = false;
        window.threshold = self.threshold(kept, path);
        window.congestion = if self.like_ns2 { self.left(kept, path).max(1.0) } else { window.threshold };
        Verdict::Congestion
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        if self.like_ns2 || !path.timed_out_before {
            let kept = if self.like_ns2 { 0.5 } else { self.beta };
            window.threshold = self.threshold(kept, path);
        }
        self.first = false;
        window.congestion = 1.0;
        Verdict::Congestion
    }

    fn on_restart(&mut self, _path: &Path, _window: &mut Window) {
        self.first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(in_use: f64) -> Path {
        Path { in_use, ..Path::new(1000) }
    }

    #[test]
    fn slow_start_adds_one_and_avoidance_alpha_over_the_window() {
        let mut aimd = Aimd::new(0.31, 0.875, false);
        let mut window = Window { congestion: 9.0, threshold: 10.0 };
        aimd.on_ack(&path(9.0), &mut window);
        assert_eq!(window.congestion, 10.0);
        aimd.on_ack(&path(10.0), &mut window);
        assert_eq!(window.congestion, 10.0 + 0.031);
    }

    #[test]
    fn a_loss_keeps_beta() {
        let mut aimd = Aimd::new(0.31, 0.875, false);
        let mut window = Window { congestion: 40.0, threshold: 20.0 };
        assert_eq!(aimd.on_loss(&path(40.0), &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 35.0, threshold: 35.0 });
    }

    #[test]
    fn ns2_halves_first_and_truncates_the_threshold_only() {
        let mut aimd = Aimd::new(0.31, 0.875, true);
        let mut window = Window { congestion: 41.0, threshold: 20.0 };
        aimd.on_loss(&path(41.0), &mut window);
        assert_eq!(window, Window { congestion: 20.5, threshold: 20.0 });
        window.congestion = 41.0;
        aimd.on_loss(&path(41.0), &mut window);
        assert_eq!(window, Window { congestion: 35.875, threshold: 35.0 });
    }

    #[test]
    fn ns2_of_2004_lowers_the_whole_part_of_the_window_to_whole_segments() {
        let lowered = |preset, in_use| {
            let mut aimd = AimdConfig { alpha: Some(0.31), beta: Some(0.875) }.controller(preset);
            aimd.first = false;
            let mut window = Window { congestion: in_use, threshold: 5.0 };
            aimd.on_loss(&path(in_use), &mut window);
            (window.congestion, window.threshold)
        };
        assert_eq!(lowered(Preset::Ns2Of2004, 10.9), (8.0, 8.0), "0.875 of 10, and the rest cut off");
        assert_eq!(lowered(Preset::Ns2, 10.9), (9.5375, 9.0));
        assert_eq!(lowered(Preset::Ns2Of2004, 1.9), (1.0, 2.0), "one segment is the least");
    }

    #[test]
    fn a_second_timeout_of_a_segment_holds_the_threshold() {
        let mut aimd = Aimd::new(1.0, 0.5, false);
        let mut window = Window { congestion: 40.0, threshold: 20.0 };
        aimd.on_timeout(&path(40.0), &mut window);
        aimd.on_timeout(&Path { timed_out_before: true, ..path(1.0) }, &mut window);
        assert_eq!(window, Window { congestion: 1.0, threshold: 20.0 });
    }

    #[test]
    fn eq_4_a_timeout_lowers_the_threshold_to_half_of_what_is_in_flight_and_to_two_segments_at_least() {
        for (in_flight, threshold) in [(40.0, 20.0), (5.0, 2.5), (3.0, 2.0), (1.0, 2.0)] {
            let mut window = Window { congestion: 50.0, threshold: 60.0 };
            Aimd::new(1.0, 0.5, false).on_timeout(&path(in_flight), &mut window);
            assert_eq!(window, Window { congestion: 1.0, threshold }, "{in_flight} in flight");
        }
    }

    #[test]
    fn the_friendly_curve_goes_through_reno_and_paper_003s_pairs() {
        assert!((friendly_alpha(0.5) - 1.0).abs() < 1e-12);
        assert!((friendly_alpha(0.875) - 0.3125).abs() < 1e-12);
        assert!((friendly_alpha(0.75) - 0.5833).abs() < 1e-4);
        assert!((friendly_alpha(0.25) - 1.25).abs() < 1e-12);
    }

    #[test]
    fn a_loss_starts_from_what_is_in_use_and_leaves_two_segments() {
        let mut window = Window { congestion: 64.0, threshold: 20.0 };
        Aimd::new(1.0, 0.5, false).on_loss(&path(30.0), &mut window);
        assert_eq!(window, Window { congestion: 15.0, threshold: 15.0 });
        Aimd::new(1.0, 0.5, false).on_loss(&path(3.0), &mut window);
        assert_eq!(window, Window { congestion: 2.0, threshold: 2.0 });
    }

    #[test]
    fn a_timeout_keeps_beta_of_the_threshold_and_one_segment() {
        let mut aimd = Aimd::new(0.31, 0.875, false);
        let mut window = Window { congestion: 40.0, threshold: 20.0 };
        assert_eq!(aimd.on_timeout(&path(40.0), &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 1.0, threshold: 35.0 });
    }

    #[test]
    fn ns2_halves_out_of_slow_start_and_by_every_timeout() {
        let mut aimd = Aimd::new(0.31, 0.875, true);
        aimd.on_loss(&path(41.0), &mut Window { congestion: 41.0, threshold: 20.0 });
        let mut window = Window { congestion: 30.0, threshold: 64.0 };
        aimd.on_loss(&path(30.0), &mut window);
        assert_eq!(window, Window { congestion: 15.0, threshold: 15.0 });
        for (in_use, threshold) in [(31.0, 15.0), (9.0, 4.0)] {
            aimd.on_timeout(&Path { timed_out_before: true, ..path(in_use) }, &mut window);
            assert_eq!(window, Window { congestion: 1.0, threshold });
        }
    }

    #[test]
    fn ns2_counts_a_timeout_or_a_restart_as_the_first_decrease() {
        let after = |first: &dyn Fn(&mut Aimd)| {
            let mut aimd = Aimd::new(0.31, 0.875, true);
            first(&mut aimd);
            let mut window = Window { congestion: 40.0, threshold: 20.0 };
            aimd.on_loss(&path(40.0), &mut window);
            window.congestion
        };
        let window = Window { congestion: 4.0, threshold: 2.0 };
        assert_eq!(after(&|_| {}), 20.0);
        assert_eq!(
            after(&|aimd| assert_eq!(aimd.on_timeout(&path(4.0), &mut window.clone()), Verdict::Congestion)),
            35.0
        );
        assert_eq!(after(&|aimd| aimd.on_restart(&path(4.0), &mut window.clone())), 35.0);
    }

    #[test]
    fn ns2_leaves_one_segment_of_window() {
        let mut window = Window { congestion: 1.0, threshold: 2.0 };
        Aimd::new(1.0, 0.5, true).on_loss(&path(1.0), &mut window);
        assert_eq!(window, Window { congestion: 1.0, threshold: 2.0 });
    }

    #[test]
    fn parameters_left_out_are_renos_and_the_preset_is_followed() {
        assert_eq!(AimdConfig::default().controller(Preset::Rfc), Aimd::new(1.0, 0.5, false));
        assert_eq!(RenoConfig {}.controller(Preset::Ns2), Aimd::new(1.0, 0.5, true));
        let config = AimdConfig { alpha: Some(0.31), beta: Some(0.875) };
        assert_eq!(config.controller(Preset::Rfc), Aimd::new(0.31, 0.875, false));
        assert_eq!(Aimd::new(0.31, 0.875, false).alpha(), 0.31);
    }
}
