//! Adaptive RED: RED whose max-p follows the load, so that the average stays midway between the thresholds.
//!
//! Follows Floyd, Gummadi & Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active Queue
//! Management" (2001), §4: every half second max-p grows by α = min(0.01, max-p/4) when the average is above the
//! target range and is multiplied by β = 0.9 when it is below; it stays within 0.01 and 0.5. Weight and thresholds are
//! automatic unless given: weight 1 − exp(−1/C), min-threshold max(5, C · target-delay / 2), max-threshold three times that,
//! with C the link's rate in mean packets per second.
//!
//! The average changes only when a packet arrives, so max-p is adapted on arrival, for all periods since the last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::{Capacity, check_reachable, check_thresholds};
use super::discipline::{Arrival, Discipline, DisciplineLaw, Verdict};
use super::red::{MEAN_PACKET, Mode, Parameters, Red, SLOW, TARGET_DELAY, automatic, packets_per_second};
use super::red::{check_probability, check_size};
use super::ticker::Ticker;
use crate::config::{ConfigError, check_span};
use crate::random::Stream;
use crate::registry::{Checked, Law};
use crate::units::{Bytes, Instant, Rate, Span};

/// Adaptive RED (Floyd, Gummadi & Shenker 2001).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AredConfig {
    /// Average queue, in (mean) packets, below which nothing is dropped early; automatic when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_threshold: Option<f64>,
    /// Average queue, in (mean) packets, at which the drop probability reaches max-p; three times `min-threshold` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_threshold: Option<f64>,
    /// Weight of the newest sample in the average, in (0, 1]; automatic when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

    fn discipline(&self, _capacity: Capacity, rate: Rate) -> Ared {
        Ared { red: Red::new(self.resolve(rate)), ticker: Ticker::new(self.interval) }
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
        }
    }
}

/// Adaptive RED at work.
#[derive(Clone, Debug)]
pub struct Ared {
    red: Red,
    ticker: Ticker,
}

impl Ared {
    /// Where max-p stays.
    const MAX_P: (f64, f64) = (0.01, 0.5);
    /// The target range of the average, as parts of the way from min-threshold to max-threshold.
    const TARGET: (f64, f64) = (0.4, 0.6);

    /// Adapts max-p for every period that has ended before `now`.
    fn catch_up(&mut self, now: Instant) {
        while self.ticker.tick(now) {
            let before = self.red.parameters.max_p;
            self.adapt();
            if self.red.parameters.max_p == before {
                // Nothing changes until the average does.
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

    fn after(average: f64, periods: u64) -> f64 {
        let mut ared = ared();
        ared.red.average = average;
        ared.catch_up(Instant::ZERO + Span::from_millis(500) * periods + Span::from_nanos(1));
        ared.red.parameters.max_p
    }

    #[test]
    fn max_p_grows_by_a_hundredth_above_the_target_range_and_decays_by_a_tenth_below() {
        assert!((after(14.0, 3) - 0.13).abs() < 1e-12);
        assert!((after(6.0, 2) - 0.1 * 0.9 * 0.9).abs() < 1e-12);
        assert_eq!(after(10.0, 100), 0.1);
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
        assert!((0.5..=0.51).contains(&after(14.0, 10_000)));
        assert!((0.009..=0.01).contains(&after(0.0, 10_000)));
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
}
