//! Adaptive RED: RED whose max-p follows the load, so that the average stays midway between the thresholds.
//!
//! Follows Floyd, Gummadi & Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active Queue
//! Management" (2001), §4. Every half second max-p grows by α = min(0.01, max-p/4) if the average is above the target range,
//! and shrinks by the factor β = 0.9 if it is below. It stays within 0.01 and 0.5. Weight and thresholds are automatic
//! unless given. With C, the link's rate in mean packets per second: weight 1 − exp(−1/C), min-threshold max(5, C ·
//! target-delay / 2), max-threshold three times that.
//!
//! The average changes only when a packet arrives, so max-p is adapted on arrival, for all periods since the last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::Mode;
use super::config::{Capacity, check_reachable, check_thresholds};
use super::discipline::{Arrival, Discipline, DisciplineLaw, RateChange, Verdict};
use super::red::{MEAN_PACKET, Parameters, Red, SLOW, TARGET_DELAY, automatic, packets_per_second};
use super::red::{check_probability, check_size};
use super::ticker::Ticker;
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::random::Stream;
use fairwave_units::ratio::OptionalRatio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Adaptive RED (Floyd, Gummadi & Shenker 2001). RED with a maximum drop probability that follows the load, so that the
/// average queue stays midway between the thresholds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AredConfig {
    /// Average queue, in (mean) packets, below which there are no early drops; automatic when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "automatic"))]
    pub min_threshold: Option<f64>,
    /// Average queue, in (mean) packets, at which the drop probability reaches max-p; three times `min-threshold` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "three times `min-threshold`"))]
    pub max_threshold: Option<f64>,
    /// Weight of the newest sample in the average, in (0, 1]; automatic when left out.
    #[serde(with = "OptionalRatio", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "automatic"))]
    pub weight: Option<f64>,
    /// The queueing delay that the automatic `min-threshold` aims at.
    #[serde(default = "target_delay")]
    pub target_delay: Span,
    /// How often max-p is adapted.
    #[serde(default = "interval")]
    pub interval: Span,
    /// Whether packets or bytes count.
    #[serde(default)]
    pub mode: Mode,
    /// Mean packet size on the wire.
    #[serde(default = "mean_packet")]
    pub mean_packet: Bytes,
    /// Mark instead of dropping early, if the packet's transport understands marks and the average is below
    /// max-threshold; at and above it drop (RFC 3168 §7).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
}

fn target_delay() -> Span {
    TARGET_DELAY
}

fn interval() -> Span {
    Span::from_millis(500)
}

fn mean_packet() -> Bytes {
    MEAN_PACKET
}

impl Checked for AredConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_probability("weight", self.weight.unwrap_or(1.0), "weight = 0.002")?;
        check_span("target-delay", self.target_delay, "target-delay = \"5 ms\"")?;
        check_span("interval", self.interval, "interval = \"500 ms\"")?;
        check_size("mean-packet", self.mean_packet)
    }
}

impl Law for AredConfig {
    const NAME: &'static str = "ared";
}

impl DisciplineLaw for AredConfig {
    type Discipline = Ared;

    fn fits(&self, capacity: Capacity, rate: Option<Rate>) -> Result<(), ConfigError> {
        check_thresholds(self.min_threshold, self.max_threshold, capacity, self.mean_packet)?;
        let min_threshold = self.resolve(rate.unwrap_or(SLOW)).min_threshold;
        check_reachable(min_threshold, capacity, self.mode, self.mean_packet)
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn discipline(&self, _capacity: Capacity, rate: Rate) -> Ared {
        Ared { red: Red::new(self.resolve(rate)), ticker: Ticker::new(self.interval), config: self.clone() }
    }
}

impl AredConfig {
    fn resolve(&self, rate: Rate) -> Parameters {
        let per_second = packets_per_second(rate, self.mean_packet);
        let (floor, weight) = automatic(per_second, self.target_delay);
        let min_threshold =
            self.min_threshold.unwrap_or_else(|| self.max_threshold.map_or(floor, |max| floor.min(max / 3.0)));
        Parameters {
            min_threshold,
            max_threshold: self.max_threshold.unwrap_or(3.0 * min_threshold),
            weight: self.weight.unwrap_or(weight),
            max_p: 0.1,
            gentle: true,
            mode: self.mode,
            by_size: self.mode == Mode::Bytes,
            mean_packet: self.mean_packet,
            per_second,
            wait: false,
            ecn: self.ecn,
            harddrop: true,
        }
    }
}

/// State of Adaptive RED.
#[derive(Clone, Debug)]
pub struct Ared {
    red: Red,
    ticker: Ticker,
    /// Kept to recompute rate-dependent values when the rate changes.
    config: AredConfig,
}

impl Ared {
    /// Range of max-p.
    const MAX_P: (f64, f64) = (0.01, 0.5);
    /// Target range of the average, as fractions of the way from min-threshold to max-threshold.
    const TARGET: (f64, f64) = (0.4, 0.6);

    /// Adapts max-p for every period that has ended before `now`.
    fn catch_up(&mut self, now: Instant) {
        while self.ticker.tick(now) {
            let before = self.red.parameters.max_p;
            self.adapt();
            if self.red.parameters.max_p == before {
                // The remaining periods change nothing before the average changes.
                self.ticker.skip(now);
            }
        }
    }

    fn adapt(&mut self) {
        let Parameters { min_threshold: min, max_threshold: max, .. } = self.red.parameters;
        let max_p = &mut self.red.parameters.max_p;
        let place = (self.red.average - min) / (max - min);
        if place > Self::TARGET.1 && *max_p <= Self::MAX_P.1 {
            *max_p += (*max_p / 4.0).min(0.01);
        } else if place < Self::TARGET.0 && *max_p >= Self::MAX_P.0 {
            *max_p *= 0.9;
        }
    }
}

impl Discipline for Ared {
    fn arrive(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        self.catch_up(arrival.now);
        self.red.arrive(arrival, stream)
    }

    /// Recomputes the thresholds and the weight that depend on the link's rate. Keeps max-p and the average.
    fn on_rate_change(&mut self, change: &RateChange<'_>) {
        self.catch_up(change.now);
        self.red.rate_now(change.rate, change.idle);
        let Red { average, parameters: Parameters { max_p, .. }, .. } = self.red;
        self.red = Red::new(Parameters { max_p, ..self.config.resolve(change.rate) });
        self.red.average = average;
    }

    fn average(&self) -> Option<f64> {
        Some(self.red.average)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ared() -> Ared {
        let config: AredConfig = serde_json::from_str(r#"{"min-threshold":5,"max-threshold":15}"#).expect("ared");
        config.discipline(Capacity::Packets(100), Rate::from_bits_per_second(10_000_000))
    }

    #[test]
    fn thresholds_that_follow_from_the_rate_follow_it_and_max_p_stays() {
        let config: AredConfig = serde_json::from_str(r#"{"mean-packet":"1000 B"}"#).expect("ared");
        let rate = |megabits: u64| Rate::from_bits_per_second(megabits * 1_000_000);
        let mut ared = config.discipline(Capacity::Packets(100), rate(100));
        (ared.red.average, ared.red.parameters.max_p) = (20.0, 0.3);
        let buffer = super::super::buffer::Buffer::with_capacity(0);
        let before = ared.red.parameters.min_threshold;
        ared.on_rate_change(&RateChange { now: Instant::ZERO, rate: rate(40), idle: Span::ZERO, buffer: &buffer });
        let Parameters { min_threshold, weight, max_p, .. } = ared.red.parameters;
        assert!((before, min_threshold) == (31.25, 12.5), "{before} {min_threshold}");
        assert!((weight + libm::expm1(-1.0 / 5000.0)).abs() < 1e-12, "{weight}");
        assert_eq!((max_p, ared.red.average), (0.3, 20.0));
        let mut set = self::ared();
        set.on_rate_change(&RateChange { now: Instant::ZERO, rate: rate(1), idle: Span::ZERO, buffer: &buffer });
        assert_eq!(set.red.parameters.min_threshold, 5.0, "what was set stays");
    }

    fn adapted_max_p(average: f64, periods: u64) -> f64 {
        let mut ared = ared();
        ared.red.average = average;
        ared.catch_up(Instant::ZERO + Span::from_millis(500) * periods + Span::from_nanos(1));
        ared.red.parameters.max_p
    }

    #[test]
    fn max_p_grows_by_a_hundredth_above_the_target_range_and_decays_by_a_tenth_below() {
        assert!((adapted_max_p(14.0, 3) - 0.13).abs() < 1e-12);
        assert!((adapted_max_p(6.0, 2) - 0.1 * 0.9 * 0.9).abs() < 1e-12);
        assert_eq!(adapted_max_p(10.0, 100), 0.1);
    }

    #[test]
    fn small_max_p_grows_by_a_quarter() {
        let mut ared = ared();
        (ared.red.average, ared.red.parameters.max_p) = (14.0, 0.02);
        ared.adapt();
        assert!((ared.red.parameters.max_p - 0.025).abs() < 1e-12);
    }

    #[test]
    fn max_p_stays_within_its_bounds_however_long_the_load_lasts() {
        assert!((0.5..=0.51).contains(&adapted_max_p(14.0, 10_000)));
        assert!((0.009..=0.01).contains(&adapted_max_p(0.0, 10_000)));
    }

    #[test]
    fn catching_up_late_is_the_same_as_every_timer_in_time() {
        let (mut lazy, mut eager) = (ared(), ared());
        (lazy.red.average, eager.red.average) = (13.0, 13.0);
        for period in 1..=40 {
            eager.catch_up(Instant::ZERO + Span::from_millis(500) * period + Span::from_nanos(1));
        }
        lazy.catch_up(Instant::ZERO + Span::from_secs(20) + Span::from_nanos(1));
        assert_eq!(lazy.red.parameters, eager.red.parameters);
    }

    #[test]
    fn the_target_range_is_two_fifths_to_three_fifths_of_the_way_between_the_thresholds() {
        // 2001 §4: thresholds 5 and 15, so the range is 9 to 11.
        let moved = [8.99, 9.01, 10.99, 11.01].map(|average| adapted_max_p(average, 1) - 0.1);
        assert!((moved[0] + 0.01).abs() < 1e-12 && (moved[3] - 0.01).abs() < 1e-12, "{moved:?}");
        assert_eq!((moved[1], moved[2]), (0.0, 0.0));
    }

    #[test]
    fn max_p_moves_from_within_a_hundredth_and_a_half_only() {
        let adapted = |average: f64, max_p: f64| {
            let mut ared = ared();
            (ared.red.average, ared.red.parameters.max_p) = (average, max_p);
            ared.adapt();
            ared.red.parameters.max_p
        };
        assert_eq!([adapted(14.0, 0.5), adapted(14.0, 0.501)], [0.51, 0.501]);
        assert_eq!([adapted(6.0, 0.01), adapted(6.0, 0.0099)], [0.01 * 0.9, 0.0099]);
        assert_eq!([adapted(14.0, 0.04), adapted(14.0, 0.08)], [0.05, 0.09], "a quarter of max-p, a hundredth at most");
    }

    #[test]
    fn thresholds_and_weight_are_automatic_unless_given() {
        let at = |text: &str, megabits: u64| {
            let config: AredConfig = serde_json::from_str(text).expect("ared");
            config.resolve(Rate::from_bits_per_second(megabits * 1_000_000))
        };
        // 100 Mb/s carries 25 000 packets of 500 bytes a second; half of what 5 ms hold are 62.5.
        let fast = at("{}", 100);
        assert_eq!((fast.min_threshold, fast.max_threshold, fast.max_p, fast.gentle), (62.5, 187.5, 0.1, true));
        assert!((fast.weight - (1.0 - libm::exp(-1.0 / 25_000.0))).abs() < 1e-12, "{}", fast.weight);
        assert_eq!(at("{}", 1).min_threshold, 5.0, "5 is the least");
        assert_eq!(at(r#"{"target-delay":"10 ms"}"#, 100).min_threshold, 125.0);
        assert_eq!(at(r#"{"max-threshold":9}"#, 100).min_threshold, 3.0, "thresholds stay in order");
        let given = at(r#"{"min-threshold":7,"weight":0.5,"mode":"bytes"}"#, 100);
        assert_eq!((given.min_threshold, given.max_threshold, given.weight, given.by_size), (7.0, 21.0, 0.5, true));
    }

    #[test]
    fn a_buffer_whose_average_cannot_reach_min_threshold_is_refused() {
        let fits = |packets, rate: Option<u64>| {
            let config: AredConfig = serde_json::from_str("{}").expect("ared");
            config.fits(Capacity::Packets(packets), rate.map(Rate::from_bits_per_second)).map_err(|error| error.key)
        };
        assert_eq!((fits(1, None), fits(5, None)), (Err("min-threshold".into()), Err("min-threshold".into())));
        assert_eq!((fits(6, None), fits(6, Some(100_000_000))), (Ok(()), Err("min-threshold".into())));
    }

    #[test]
    fn drops_and_shows_the_same_as_red() {
        let (mut ared, mut stream) = (ared(), super::super::testing::stream());
        let buffer = super::super::buffer::Buffer::with_capacity(0);
        let packet = super::super::testing::packet(0, 500, crate::packet::Class::Tcp);
        ared.red.average = 100.0;
        ared.red.parameters.weight = 1e-12;
        let now = Instant::ZERO + Span::from_millis(501);
        let arrival = Arrival { now, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
        assert_eq!(ared.arrive(&arrival, &mut stream), Verdict::Drop);
        assert!((ared.average().expect("an average") - 100.0).abs() < 1e-6);
        assert!((ared.red.parameters.max_p - 0.11).abs() < 1e-12, "adapted on arrival");
    }
}
