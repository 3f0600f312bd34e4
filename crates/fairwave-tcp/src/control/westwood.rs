//! Westwood: Reno with a decrease to the estimated bandwidth-delay product.
//!
//! Source: paper 000 §3.2, Algorithm 1; Mascolo, Casetti, Gerla, Sanadidi & Wang 2001. Every acknowledgement gives
//! a sample of the bandwidth, (segments acknowledged · segment size) / (time since the last acknowledgement). The
//! estimate is `BWE[n] = (1 − β)·(sample[n] + sample[n − 1])/2 + β·BWE[n − 1]` with the pole β = 19/21. On loss
//! the slow start threshold becomes BWE·RTTmin.
//!
//! **Assumptions.** A duplicate acknowledgement counts as one segment, and the cumulative one after it does not
//! count these again (as in the 2001 paper's *AckedCount*). Acknowledgements at the same time form one sample.
//! Sizes are payload. On loss the window falls to the threshold, if it is above it; on timeout it falls to one
//! segment. Without an estimate the window halves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::growth::Growth;
use super::{ControlLaw, Controller, Estimate, LEAST_THRESHOLD, Path, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_units::config::ConfigError;
use fairwave_units::ratio::OptionalRatio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate};

/// The default pole of the filter.
const FILTER: f64 = 19.0 / 21.0;

/// Westwood (Mascolo, Casetti, Gerla, Sanadidi & Wang 2001; paper 000). Each acknowledgement gives a sample of the
/// bandwidth. On loss the slow start threshold becomes the filtered estimate times the least round trip, not half
/// the window.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WestwoodConfig {
    /// Pole of the filter of bandwidth samples, from 0 to below 1. Default 19/21.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = FILTER))]
    pub filter: Option<f64>,
}

/// Accepts the filter's share of the old estimate. It must be below 1, so that new samples count.
pub(super) fn check_filter(filter: Option<f64>) -> Result<(), ConfigError> {
    match filter {
        Some(filter) if !(0.0..1.0).contains(&filter) => {
            Err(ConfigError::new("filter", filter, "from 0 to below 1", "filter = 0.9"))
        }
        _ => Ok(()),
    }
}

impl Checked for WestwoodConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_filter(self.filter)
    }
}

impl Law for WestwoodConfig {
    const NAME: &'static str = "tcp/westwood";
}

impl ControlLaw for WestwoodConfig {
    type Controller = Westwood;
    const RECOVERY: Recovery = Recovery::Reno;

    fn controller(&self, preset: Preset) -> Westwood {
        Westwood { growth: Growth::for_preset(preset), ..Westwood::new(self.filter.unwrap_or(FILTER)) }
    }
}

/// The window of Westwood.
#[derive(Clone, PartialEq, Debug)]
pub struct Westwood {
    growth: Growth,
    pole: f64,
    counter: AckedCount,
    /// Segments acknowledged since the last sample.
    pending: u32,
    last: Instant,
    sample: f64,
    /// Bits per second.
    estimate: f64,
}

/// Counts the segments that left the network according to acknowledgements, duplicates once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct AckedCount {
    counted: u32,
}

impl AckedCount {
    /// Segments that this acknowledgement reports for the first time.
    pub(super) fn count(&mut self, path: &Path) -> u32 {
        if path.acknowledged == 0 {
            self.counted += 1;
            return 1;
        }
        let fresh = path.acknowledged.saturating_sub(self.counted).max(1);
        self.counted = self.counted.saturating_sub(path.acknowledged.saturating_sub(1));
        fresh
    }
}

impl Westwood {
    /// Creates Westwood with the given pole of its filter, in [0, 1).
    pub fn new(pole: f64) -> Self {
        let (counter, growth) = (AckedCount::default(), Growth::default());
        Westwood { growth, pole, counter, pending: 0, last: Instant::ZERO, sample: 0.0, estimate: 0.0 }
    }

    /// The estimated bandwidth, payload.
    pub fn bandwidth(&self) -> Rate {
        Rate::from_bits_per_second(self.estimate as u64)
    }

    fn measure(&mut self, path: &Path) {
        self.pending += self.counter.count(path);
        let elapsed = path.now.span_since(self.last).seconds();
        if self.last == Instant::ZERO {
            self.last = path.now;
            self.pending = 0;
        } else if elapsed > 0.0 {
            let sample = f64::from(self.pending) * f64::from(path.payload) * 8.0 / elapsed;
            self.estimate = (1.0 - self.pole) * (sample + self.sample) / 2.0 + self.pole * self.estimate;
            self.sample = sample;
            self.pending = 0;
            self.last = path.now;
        }
    }
}

/// The threshold for a bandwidth of `estimate` bits per second: BWE·RTTmin in segments.
pub(super) fn threshold_of(estimate: f64, path: &Path) -> f64 {
    if estimate <= 0.0 || path.rtt.nanos() == 0 || path.payload == 0 {
        return (path.in_use / 2.0).max(LEAST_THRESHOLD);
    }
    (estimate * path.min_rtt.seconds() / (f64::from(path.payload) * 8.0)).max(LEAST_THRESHOLD)
}

impl Controller for Westwood {
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
    use fairwave_units::units::Span;

    fn ack(now_ms: u64, acknowledged: u32) -> Path {
        Path {
            now: Instant::ZERO + Span::from_millis(now_ms),
            rtt: Span::from_millis(100),
            min_rtt: Span::from_millis(100),
            acknowledged,
            ..Path::new(1000)
        }
    }

    #[test]
    fn the_filter_is_algorithm_1() {
        let pole = 19.0 / 21.0;
        let mut westwood = Westwood::new(pole);
        let mut window = Window { congestion: 10.0, threshold: 5.0 };
        westwood.on_ack(&ack(1000, 1), &mut window);
        westwood.on_ack(&ack(1001, 1), &mut window);
        let first = (1.0 - pole) * 8e6 / 2.0;
        assert!((estimated(&westwood) - first).abs() < 1.0);
        westwood.on_ack(&ack(1003, 1), &mut window);
        let second = (1.0 - pole) * (4e6 + 8e6) / 2.0 + pole * first;
        assert!((estimated(&westwood) - second).abs() < 1.0);
    }

    #[test]
    fn duplicates_count_once() {
        let mut count = AckedCount::default();
        let counts = [1, 0, 0, 0, 4, 1].map(|acknowledged| count.count(&ack(0, acknowledged)));
        assert_eq!(counts, [1, 1, 1, 1, 1, 1]);
        assert_eq!(count, AckedCount::default());
    }

    #[test]
    fn a_loss_sets_the_threshold_to_bandwidth_times_smallest_round_trip() {
        let mut westwood = Westwood { estimate: 2e6, ..Westwood::new(19.0 / 21.0) };
        let mut window = Window { congestion: 60.0, threshold: 64.0 };
        westwood.on_loss(&ack(1000, 0), &mut window);
        // 2 Mb/s · 0.1 s = 200 kb = 25 segments of 1000 bytes.
        assert!((window.threshold - 25.0).abs() < 1e-9 && (window.congestion - 25.0).abs() < 1e-9);
    }

    #[test]
    fn grows_as_reno_does() {
        let mut westwood = WestwoodConfig::default().controller(Preset::Rfc);
        let mut window = Window { congestion: 9.0, threshold: 10.0 };
        westwood.on_ack(&ack(1000, 1), &mut window);
        westwood.on_ack(&ack(1001, 1), &mut window);
        assert_eq!(window.congestion, 10.1);
    }

    #[test]
    fn acknowledgements_of_one_instant_make_one_sample_and_duplicates_count_in_it() {
        let mut westwood = Westwood::new(0.0);
        let mut window = Window { congestion: 10.0, threshold: 5.0 };
        westwood.on_ack(&ack(1000, 1), &mut window);
        westwood.on_other_ack(&ack(1000, 0), &mut window);
        assert_eq!(estimated(&westwood), 0.0);
        westwood.on_other_ack(&ack(1002, 0), &mut window);
        // Two segments of 8000 bits in 2 ms, and half of that since the previous sample was zero.
        assert_eq!(estimated(&westwood), 4e6);
        assert_eq!(westwood.bandwidth(), Rate::from_bits_per_second(4_000_000));
        assert_eq!(window.congestion, 10.1, "duplicates do not open the window");
    }

    #[test]
    fn an_acknowledgement_covers_what_duplicates_have_not_counted() {
        let mut count = AckedCount::default();
        let counts = [0, 0, 5, 3, 0, 2].map(|acknowledged| count.count(&ack(0, acknowledged)));
        assert_eq!(counts, [1, 1, 3, 3, 1, 1]);
    }

    #[test]
    fn a_loss_does_not_open_the_window_and_a_timeout_closes_it() {
        let mut westwood = Westwood { estimate: 2e6, ..Westwood::new(19.0 / 21.0) };
        let mut window = Window { congestion: 20.0, threshold: 64.0 };
        assert_eq!(westwood.on_loss(&ack(1000, 0), &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 20.0, threshold: 25.0 });
        window.threshold = 3.0;
        assert_eq!(westwood.on_timeout(&ack(1000, 0), &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 1.0, threshold: 25.0 });
    }

    #[test]
    fn window_halves_if_there_is_no_estimate_or_round_trip() {
        let path = Path { in_use: 30.0, ..ack(1000, 0) };
        assert_eq!(threshold_of(2e6, &path), 25.0);
        assert_eq!(threshold_of(0.0, &path), 15.0);
        assert_eq!(threshold_of(2e6, &Path { rtt: Span::ZERO, ..path }), 15.0);
        assert_eq!(threshold_of(2e6, &Path { payload: 0, ..path }), 15.0);
        assert_eq!(threshold_of(0.0, &Path { in_use: 3.0, ..path }), 2.0);
        assert_eq!(threshold_of(1e3, &path), 2.0);
    }

    #[test]
    fn the_pole_left_out_is_19_of_21() {
        assert_eq!(WestwoodConfig::default().controller(Preset::Rfc), Westwood::new(19.0 / 21.0));
        assert_eq!(WestwoodConfig { filter: Some(0.5) }.controller(Preset::Ns2), Westwood::new(0.5));
    }
}
