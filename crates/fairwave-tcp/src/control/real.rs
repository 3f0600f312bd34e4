//! TCP-Real: the receiver measures the arrival rate of each wave of segments and reports it on its acknowledgements.
//!
//! Source: paper 000 §3.1 and §5.1, paper 003 §IV; Tsaoussidis & Zhang, *TCP-Real: receiver-oriented congestion
//! control* (2002). A wave is a window's worth of segments. Once per wave the new rate is compared with the
//! previous one. Without a drop the window grows by one per round trip. After a small drop it stays. After a
//! larger one it is multiplied by 1 − γ, γ = 1/8. A loss or timeout while the rate holds and the jitter is low
//! counts as a transmission error and does not reduce the window. Any other loss is congestion, as in Reno.
//!
//! **Assumptions** (the papers give no thresholds; all can be set). *No drop*: the rate is at least (1 − `hold`)
//! of the previous one, `hold` = 0.01, the effect of rounding. *Small*: not below (1 − `cut`), `cut` = 1/8, so
//! that the window never falls by more than the rate did. *The rate holds* at a loss: the last comparison was no
//! large drop. *Jitter is low*: the smoothed round trip is little above its minimum (packet delay variation as in
//! RFC 5481 §4.2). The limit is `jitter` = half of the largest queueing delay seen, as for γ in paper 003
//! Eq. (15). If no queue was ever seen, it is a tenth of the minimum. The receiver's rate is the payload between
//! the wave's first and last arrival over that time. In slow start the window grows by one per acknowledgement,
//! and a large drop ends it. At most one timeout in a row counts as random. If the timer expires again before new
//! data is acknowledged, the path is lost and the window falls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlLaw, Controller, Estimate, LEAST_THRESHOLD, Path, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::ratio::OptionalRatio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Rate;

/// TCP-Real (Tsaoussidis & Zhang 2002; papers 000, 003). The receiver measures the rate of each wave of segments and
/// reports it on its acknowledgements. While the rate holds, the window grows; on a large drop of the rate, the window
/// is multiplied by 1 − `gamma`. A loss while the rate holds and the jitter is low counts as a transmission error and
/// costs no window.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RealConfig {
    /// Part of the window lost on a large drop of the rate, above 0 and below 1. Default 0.125.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = RealConfig::default().thresholds().gamma))]
    pub gamma: Option<f64>,
    /// A drop of the rate by up to this part is none, from 0 to below 1. Default 0.01.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = RealConfig::default().thresholds().hold))]
    pub hold: Option<f64>,
    /// A drop of the rate by up to this part is small, from `hold` to below 1. Default 0.125.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = RealConfig::default().thresholds().cut))]
    pub cut: Option<f64>,
    /// Jitter is low up to this part of the largest queueing delay, from 0 to below 1. Default 0.5.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = RealConfig::default().thresholds().jitter))]
    pub jitter: Option<f64>,
}

impl RealConfig {
    fn thresholds(&self) -> RealThresholds {
        RealThresholds {
            gamma: self.gamma.unwrap_or(0.125),
            hold: self.hold.unwrap_or(0.01),
            cut: self.cut.unwrap_or(0.125),
            jitter: self.jitter.unwrap_or(0.5),
        }
    }
}

impl Checked for RealConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let RealThresholds { gamma, hold, cut, jitter } = self.thresholds();
        check_between("gamma", gamma, 0.0, 1.0, "gamma = 0.125")?;
        for (key, value, example) in [("hold", hold, "hold = 0.01"), ("jitter", jitter, "jitter = 0.5")] {
            if !(0.0..1.0).contains(&value) {
                return Err(ConfigError::new(key, value, "from 0 to below 1", example));
            }
        }
        if self.cut.is_some() && !(hold..1.0).contains(&cut) {
            let allowed = format!("from hold ({hold}) to below 1");
            return Err(ConfigError::new("cut", cut, allowed, "cut = 0.125"));
        }
        Ok(())
    }
}

impl Law for RealConfig {
    const NAME: &'static str = "tcp/real";
}

impl ControlLaw for RealConfig {
    type Controller = Real;
    const RECOVERY: Recovery = Recovery::Newreno;
    const WAVES: bool = true;

    fn controller(&self, _preset: Preset) -> Real {
        Real::new(self.thresholds())
    }
}

/// Thresholds of TCP-Real.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RealThresholds {
    /// The part of the window that a large drop removes.
    pub gamma: f64,
    /// A drop of the rate by up to this part is none.
    pub hold: f64,
    /// A drop by up to this part is small.
    pub cut: f64,
    /// Jitter is low up to this part of the largest queueing delay seen.
    pub jitter: f64,
}

/// The window of TCP-Real.
#[derive(Clone, PartialEq, Debug)]
pub struct Real {
    thresholds: RealThresholds,
    /// Rate of the last wave, bits per second; 0 before the first.
    rate: f64,
    wave: u16,
    trend: Trend,
    /// Smoothed round trip, seconds.
    rtt: f64,
}

/// How the last wave's rate compares with the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trend {
    NoDrop,
    Small,
    Large,
}

/// Delay variation below this part of the smallest round trip is low for any largest round trip.
const QUIET: f64 = 0.1;

impl Real {
    /// Creates TCP-Real with these thresholds.
    pub fn new(thresholds: RealThresholds) -> Self {
        Real { thresholds, rate: 0.0, wave: 0, trend: Trend::NoDrop, rtt: 0.0 }
    }

    fn observe(&mut self, path: &Path, window: &mut Window) {
        let rtt = path.rtt.seconds();
        self.rtt += if self.rtt == 0.0 { rtt } else { (rtt - self.rtt) / 8.0 };
        if path.rate == Rate::default() || (path.wave == self.wave && self.rate > 0.0) {
            return;
        }
        let rate = path.rate.bits_per_second() as f64;
        if self.rate > 0.0 {
            let kept = rate / self.rate;
            self.trend = if kept >= 1.0 - self.thresholds.hold {
                Trend::NoDrop
            } else if kept >= 1.0 - self.thresholds.cut {
                Trend::Small
            } else {
                window.congestion = (window.congestion * (1.0 - self.thresholds.gamma)).max(LEAST_THRESHOLD);
                window.threshold = window.threshold.min(window.congestion);
                Trend::Large
            };
        }
        self.rate = rate;
        self.wave = path.wave;
    }

    fn jitter_is_low(&self, path: &Path) -> bool {
        let min = path.min_rtt.seconds();
        let range = path.max_rtt.saturating_sub(path.min_rtt).seconds();
        self.rtt - min <= (self.thresholds.jitter * range).max(QUIET * min)
    }

    fn is_random(&self, path: &Path) -> bool {
        self.rate > 0.0 && self.trend != Trend::Large && self.jitter_is_low(path)
    }
}

impl Controller for Real {
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        self.observe(path, window);
        if window.in_slow_start() {
            window.congestion += 1.0;
        } else if self.trend == Trend::NoDrop {
            window.congestion += f64::from(path.credit) / window.congestion;
        }
    }

    fn on_other_ack(&mut self, path: &Path, window: &mut Window) {
        self.observe(path, window);
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        if self.is_random(path) {
            return Verdict::Random;
        }
        window.threshold = (path.in_use / 2.0).max(LEAST_THRESHOLD);
        window.congestion = window.threshold;
        Verdict::Congestion
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        if !path.timed_out_before && self.is_random(path) {
            return Verdict::Random;
        }
        window.threshold = (path.in_use / 2.0).max(LEAST_THRESHOLD);
        window.congestion = 1.0;
        Verdict::Congestion
    }

    /// Rate of the last wave, bits per second of payload.
    fn estimate(&self) -> Option<Estimate> {
        (self.rate > 0.0).then_some(Estimate::WaveRate(self.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_pipe::estimated;
    use super::*;
    use fairwave_units::units::Span;

    const THRESHOLDS: RealThresholds = RealThresholds { gamma: 0.125, hold: 0.01, cut: 0.125, jitter: 0.5 };

    fn path(wave: u16, kilobits: u64, rtt_ms: u64) -> Path {
        Path {
            rtt: Span::from_millis(rtt_ms),
            min_rtt: Span::from_millis(100),
            max_rtt: Span::from_millis(200),
            rate: Rate::from_bits_per_second(kilobits * 1000),
            wave,
            in_use: 20.0,
            ..Path::new(1000)
        }
    }

    /// The window after waves of these rates, one acknowledgement each.
    fn after(rates: &[u64]) -> (Real, Window) {
        let mut real = Real::new(THRESHOLDS);
        let mut window = Window { congestion: 20.0, threshold: 10.0 };
        for (wave, &rate) in rates.iter().enumerate() {
            real.on_ack(&path(wave as u16 + 1, rate, 110), &mut window);
        }
        (real, window)
    }

    #[test]
    fn the_window_grows_while_the_rate_does_not_drop() {
        assert!(after(&[1000, 1000, 1100]).1.congestion > 20.14);
    }

    #[test]
    fn rests_on_a_small_drop() {
        let before = after(&[1000]).1.congestion;
        assert_eq!(after(&[1000, 900]).1.congestion, before);
    }

    #[test]
    fn loses_an_eighth_on_a_larger_drop() {
        let before = after(&[1000]).1.congestion;
        assert_eq!(after(&[1000, 800]).1.congestion, before * 0.875);
    }

    #[test]
    fn a_wave_counts_once() {
        let (mut real, mut window) = after(&[1000]);
        let before = window.congestion;
        real.on_ack(&path(2, 800, 110), &mut window);
        real.on_ack(&path(2, 800, 110), &mut window);
        assert_eq!(window.congestion, before * 0.875);
    }

    #[test]
    fn a_loss_at_steady_rate_and_low_jitter_costs_no_window() {
        let (mut real, mut window) = after(&[1000, 1000]);
        let before = window;
        assert_eq!(real.on_loss(&path(2, 1000, 110), &mut window), Verdict::Random);
        assert_eq!(real.on_timeout(&path(2, 1000, 110), &mut window), Verdict::Random);
        assert_eq!(window, before);
    }

    #[test]
    fn a_loss_after_a_large_drop_or_with_a_long_queue_halves() {
        let (mut real, mut window) = after(&[1000, 800]);
        assert_eq!(real.on_loss(&path(2, 800, 110), &mut window), Verdict::Congestion);
        assert_eq!(window.congestion, 10.0);
        let mut real = Real::new(THRESHOLDS);
        let mut window = Window { congestion: 20.0, threshold: 10.0 };
        for wave in 1..30 {
            real.on_ack(&path(wave, 1000, 190), &mut window);
        }
        assert_eq!(real.on_loss(&path(30, 1000, 190), &mut window), Verdict::Congestion);
    }

    #[test]
    fn a_second_timeout_in_a_row_is_never_random() {
        let (mut real, mut window) = after(&[1000, 1000]);
        let again = Path { timed_out_before: true, ..path(2, 1000, 110) };
        assert_eq!(real.on_timeout(&again, &mut window), Verdict::Congestion);
        assert_eq!(window.congestion, 1.0);
    }

    #[test]
    fn thresholds_divide_no_drop_from_small_and_small_from_large() {
        let before = after(&[1000]).1.congestion;
        for (rate, expected) in [(991, before + 1.0 / before), (989, before), (876, before), (874, before * 0.875)] {
            assert_eq!(after(&[1000, rate]).1.congestion, expected, "{rate} kb/s");
        }
    }

    #[test]
    fn a_rate_is_held_against_that_of_the_wave_before() {
        let (real, window) = after(&[1000, 800, 800]);
        let lowered = after(&[1000, 800]).1.congestion;
        assert_eq!(window.congestion, lowered + 1.0 / lowered);
        assert_eq!(estimated(&real), 8e5);
        assert!(Real::new(THRESHOLDS).estimate().is_none());
    }

    #[test]
    fn acknowledgements_without_a_rate_say_nothing() {
        let (mut real, mut window) = after(&[1000]);
        let before = window.congestion;
        real.on_ack(&path(2, 0, 110), &mut window);
        assert_eq!((estimated(&real), window.congestion), (1e6, before + 1.0 / before));
    }

    #[test]
    fn duplicates_bring_rates_and_do_not_open_the_window() {
        let (mut real, mut window) = after(&[1000]);
        let before = window.congestion;
        real.on_other_ack(&path(2, 1000, 110), &mut window);
        assert_eq!(window.congestion, before);
        real.on_other_ack(&path(3, 500, 110), &mut window);
        assert_eq!(window.congestion, before * 0.875);
    }

    #[test]
    fn slow_start_adds_one_and_ends_with_a_large_drop() {
        let mut real = Real::new(THRESHOLDS);
        let mut window = Window { congestion: 20.0, threshold: 64.0 };
        real.on_ack(&path(1, 1000, 110), &mut window);
        real.on_ack(&path(2, 900, 110), &mut window);
        assert_eq!(window, Window { congestion: 22.0, threshold: 64.0 }, "a small drop does not count there");
        real.on_ack(&path(3, 700, 110), &mut window);
        assert_eq!(window, Window { congestion: 19.25, threshold: 19.25 });
    }

    #[test]
    fn a_large_drop_leaves_two_segments() {
        let (mut real, _) = after(&[1000]);
        let mut window = Window { congestion: 2.1, threshold: 2.0 };
        real.on_ack(&path(2, 500, 110), &mut window);
        assert_eq!(window, Window { congestion: 2.0, threshold: 2.0 });
    }

    /// The verdict on a loss after two waves of equal rate with these round trips (smallest 100 ms), in milliseconds.
    fn verdict(rtt: u64, largest: u64) -> Verdict {
        let mut real = Real::new(THRESHOLDS);
        let mut window = Window { congestion: 20.0, threshold: 10.0 };
        let at = |wave| Path { max_rtt: Span::from_millis(largest), ..path(wave, 1000, rtt) };
        real.on_ack(&at(1), &mut window);
        real.on_ack(&at(2), &mut window);
        real.on_loss(&at(2), &mut window)
    }

    #[test]
    fn jitter_is_low_up_to_half_of_the_largest_queueing_delay_or_a_tenth_of_the_smallest_round_trip() {
        assert_eq!(verdict(149, 200), Verdict::Random);
        assert_eq!(verdict(151, 200), Verdict::Congestion);
        assert_eq!(verdict(109, 110), Verdict::Random);
        assert_eq!(verdict(111, 112), Verdict::Congestion);
    }

    #[test]
    fn the_round_trip_is_smoothed_by_an_eighth() {
        let (mut real, mut window) = after(&[]);
        real.on_ack(&path(1, 1000, 140), &mut window);
        // 140 + 88 / 8 = 151.
        real.on_ack(&path(2, 1000, 228), &mut window);
        assert!((real.rtt - 0.151).abs() < 1e-12);
    }

    #[test]
    fn a_loss_after_a_small_drop_is_random_and_one_before_any_rate_is_congestion() {
        let (mut real, mut window) = after(&[1000, 900]);
        assert_eq!(real.on_loss(&path(2, 900, 110), &mut window), Verdict::Random);
        let (mut real, mut window) = after(&[]);
        assert_eq!(real.on_loss(&path(0, 0, 110), &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 10.0, threshold: 10.0 });
        assert_eq!(real.on_loss(&Path { in_use: 3.0, ..path(0, 0, 110) }, &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 2.0, threshold: 2.0 });
    }

    #[test]
    fn a_timeout_that_is_congestion_leaves_one_segment_up_to_half() {
        let (mut real, mut window) = after(&[1000, 800]);
        assert_eq!(real.on_timeout(&path(2, 800, 110), &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 1.0, threshold: 10.0 });
        real.on_timeout(&Path { in_use: 3.0, ..path(2, 800, 110) }, &mut window);
        assert_eq!(window.threshold, 2.0);
    }

    #[test]
    fn thresholds_left_out_are_those_of_the_head() {
        assert_eq!(RealConfig::default().thresholds(), THRESHOLDS);
        let set = RealConfig { gamma: Some(0.25), hold: Some(0.02), cut: Some(0.2), jitter: Some(0.4) };
        let expected = RealThresholds { gamma: 0.25, hold: 0.02, cut: 0.2, jitter: 0.4 };
        assert_eq!(set.controller(Preset::Rfc), Real::new(expected));
    }
}
