//! Westwood+: Westwood with one bandwidth sample per round trip, so that compressed acknowledgements do not inflate the
//! estimate.
//!
//! Source: paper 002 (its TCP competitor); Grieco & Mascolo, *Performance evaluation and comparison of Westwood+, New
//! Reno, and Vegas TCP congestion control* (2004). The sample is b = (data acknowledged in the last round trip) / (its
//! length). Then BWE = 0.9·BWE + 0.1·b.
//!
//! **Assumptions.** A round ends with the first acknowledgement at least one (last measured) round trip after it
//! began; the first sample sets the estimate. Otherwise as [`Westwood`](super::westwood::Westwood).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::growth::Growth;
use super::westwood::{AckedCount, check_filter, threshold_of};
use super::{ControlLaw, Controller, Estimate, Path, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_units::config::ConfigError;
use fairwave_units::ratio::OptionalRatio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate, Span};

/// The default share of the estimate that is kept.
const FILTER: f64 = 0.9;

/// Westwood+ (Grieco & Mascolo 2004). Westwood with one bandwidth sample per round trip, so that compressed
/// acknowledgements do not inflate the estimate.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WestwoodPlusConfig {
    /// Part of the bandwidth estimate that is kept in each round trip, from 0 to below 1. Default 0.9.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = FILTER))]
    pub filter: Option<f64>,
}

impl Checked for WestwoodPlusConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_filter(self.filter)
    }
}

impl Law for WestwoodPlusConfig {
    const NAME: &'static str = "tcp/westwood+";
}

impl ControlLaw for WestwoodPlusConfig {
    type Controller = WestwoodPlus;
    const RECOVERY: Recovery = Recovery::Newreno;

    fn controller(&self, preset: Preset) -> WestwoodPlus {
        WestwoodPlus { growth: Growth::for_preset(preset), ..WestwoodPlus::new(self.filter.unwrap_or(FILTER)) }
    }
}

/// The window of Westwood+.
#[derive(Clone, PartialEq, Debug)]
pub struct WestwoodPlus {
    growth: Growth,
    filter: f64,
    counter: AckedCount,
    /// Bits acknowledged in this round.
    bits: f64,
    began: Instant,
    /// Bits per second.
    estimate: f64,
}

/// A round lasts at least this long, as in its authors' code: shorter ones measure bursts.
const LEAST_ROUND: Span = Span::from_millis(50);

impl WestwoodPlus {
    /// Creates Westwood+. It keeps the share `filter`, in [0, 1), of its estimate in each round.
    pub fn new(filter: f64) -> Self {
        let (counter, growth) = (AckedCount::default(), Growth::default());
        WestwoodPlus { growth, filter, counter, bits: 0.0, began: Instant::ZERO, estimate: 0.0 }
    }

    /// The estimated bandwidth, payload.
    pub fn bandwidth(&self) -> Rate {
        Rate::from_bits_per_second(self.estimate as u64)
    }

    fn measure(&mut self, path: &Path) {
        let segments = self.counter.count(path);
        if self.began == Instant::ZERO {
            self.began = path.now;
            return;
        }
        self.bits += f64::from(segments) * f64::from(path.payload) * 8.0;
        let elapsed = path.now.span_since(self.began);
        if elapsed >= path.rtt.max(LEAST_ROUND) {
            let sample = self.bits / elapsed.seconds();
            self.estimate =
                if self.estimate > 0.0 { self.filter * self.estimate + (1.0 - self.filter) * sample } else { sample };
            self.bits = 0.0;
            self.began = path.now;
        }
    }
}

impl Controller for WestwoodPlus {
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        self.measure(path);
        self.growth.grow(1.0, path, window);
    }

    fn on_other_ack(&mut self, path: &Path, _window: &mut Window) {
        self.measure(path);
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        window.threshold = threshold_of(self.estimate, path);
        window.congestion = window.congestion.min(window.threshold);
        Verdict::Congestion
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        window.threshold = threshold_of(self.estimate, path);
        window.congestion = 1.0;
        Verdict::Congestion
    }

    /// The estimated bandwidth, bits per second of payload.
    fn estimate(&self) -> Option<Estimate> {
        Some(Estimate::Bandwidth(self.estimate))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_pipe::estimated;
    use super::*;

    fn ack(now_ms: u64) -> Path {
        Path {
            now: Instant::ZERO + Span::from_millis(now_ms),
            rtt: Span::from_millis(100),
            min_rtt: Span::from_millis(100),
            acknowledged: 1,
            ..Path::new(1000)
        }
    }

    #[test]
    fn filter_takes_one_sample_per_round_trip() {
        let mut westwood = WestwoodPlus::new(0.9);
        let mut window = Window { congestion: 10.0, threshold: 5.0 };
        for now in (1000..=1100).step_by(10) {
            westwood.on_ack(&ack(now), &mut window);
        }
        // Ten segments of 8000 bits in 100 ms.
        assert!((estimated(&westwood) - 8e5).abs() < 1.0);
        for now in (1105..=1200).step_by(5) {
            westwood.on_ack(&ack(now), &mut window);
        }
        assert!((estimated(&westwood) - (0.9 * 8e5 + 0.1 * 16e5)).abs() < 1.0);
    }

    #[test]
    fn a_round_lasts_a_round_trip_and_50_ms_at_least() {
        for (rtt_ms, first_sample) in [(20, 1050), (100, 1100)] {
            let mut westwood = WestwoodPlusConfig::default().controller(Preset::Rfc);
            let mut window = Window { congestion: 10.0, threshold: 5.0 };
            for now in 1000..first_sample {
                westwood.on_ack(&Path { rtt: Span::from_millis(rtt_ms), ..ack(now) }, &mut window);
                assert_eq!(estimated(&westwood), 0.0, "{now} ms");
            }
            westwood.on_ack(&Path { rtt: Span::from_millis(rtt_ms), ..ack(first_sample) }, &mut window);
            // A segment of 8000 bits every millisecond; the first acknowledgement only begins the round.
            assert_eq!(estimated(&westwood), 8e6);
            assert_eq!(westwood.bandwidth(), Rate::from_bits_per_second(8_000_000));
        }
    }

    #[test]
    fn duplicates_count_and_do_not_open_the_window() {
        let mut westwood = WestwoodPlus::new(0.9);
        let mut window = Window { congestion: 10.0, threshold: 5.0 };
        for now in [1000, 1050, 1100] {
            westwood.on_other_ack(&Path { acknowledged: 0, ..ack(now) }, &mut window);
        }
        assert_eq!(estimated(&westwood), 16e4);
        assert_eq!(window.congestion, 10.0);
    }

    #[test]
    fn grows_as_reno_does() {
        let mut westwood = WestwoodPlus::new(0.9);
        let mut window = Window { congestion: 9.0, threshold: 10.0 };
        westwood.on_ack(&ack(1000), &mut window);
        westwood.on_ack(&ack(1001), &mut window);
        assert_eq!(window.congestion, 10.1);
    }

    #[test]
    fn a_loss_falls_to_bandwidth_times_smallest_round_trip_and_a_timeout_to_one() {
        let mut westwood = WestwoodPlus { estimate: 2e6, ..WestwoodPlus::new(0.9) };
        // 2 Mb/s · 0.1 s = 25 segments of 1000 bytes.
        for (before, after) in [(60.0, 25.0), (20.0, 20.0)] {
            let mut window = Window { congestion: before, threshold: 64.0 };
            assert_eq!(westwood.on_loss(&ack(1000), &mut window), Verdict::Congestion);
            assert_eq!(window, Window { congestion: after, threshold: 25.0 });
        }
        let mut window = Window { congestion: 60.0, threshold: 64.0 };
        assert_eq!(westwood.on_timeout(&ack(1000), &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 1.0, threshold: 25.0 });
    }

    #[test]
    fn the_filter_left_out_is_nine_tenths() {
        assert_eq!(WestwoodPlusConfig::default().controller(Preset::Rfc), WestwoodPlus::new(0.9));
        assert_eq!(WestwoodPlusConfig { filter: Some(0.5) }.controller(Preset::Rfc), WestwoodPlus::new(0.5));
    }
}
