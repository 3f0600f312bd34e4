//! Interrupted Poisson process: a Poisson process that alternates between on and off; a model of packetised voice and
//! of aggregates of sources.
//!
//! Source: Kuczura 1973, *The interrupted Poisson process as an overflow process*. On and off times are exponential,
//! with the means 1/γ and 1/ω, and the rate is λ while on. Then gaps between packets are hyperexponential, with the
//! mean (γ + ω)/(λω) and the squared coefficient of variation 1 + 2λγ/(γ + ω)². The default times are those of one
//! voice source in Sriram and Whitt 1986, 352 ms and 650 ms.
//!
//! **Assumptions.** An on time may be too short for any packet. For packets at a fixed interval while on, see `burst`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::on_off::{Alternation, First};
use super::size::Size;
use super::{FrameType, Period, TrafficLaw, TrafficSource, Unit};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Alternates between Poisson packets and silence: an interrupted Poisson process if both times are exponential.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct InterruptedPoissonConfig {
    /// Mean payload bits per second while on, above 0.
    pub rate: Rate,
    /// Payload of a packet: a size, or a distribution from which each packet draws a size. Default 1000 B.
    #[serde(default = "default_payload")]
    pub payload: Size,
    /// Length of a period with packets. Default exponential, mean 352 ms.
    #[serde(default = "default_on")]
    pub on: Period,
    /// Length of a silence. Default exponential, mean 650 ms.
    #[serde(default = "default_off")]
    pub off: Period,
    /// State at the start.
    #[serde(default)]
    pub first: First,
}

fn default_payload() -> Size {
    Size::Fixed(Bytes::new(1000))
}

/// On time of one voice source (Sriram and Whitt 1986).
pub(super) fn default_on() -> Period {
    Period::Exponential { mean: Span::from_millis(352) }
}

/// Off time of one voice source.
pub(super) fn default_off() -> Period {
    Period::Exponential { mean: Span::from_millis(650) }
}

impl Checked for InterruptedPoissonConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.rate == Rate::default() {
            return Err(ConfigError::new("rate", self.rate, "a rate above 0", "rate = \"64 kb/s\""));
        }
        self.payload.check("payload")?;
        self.on.check().map_err(|error| error.nested_in("on"))?;
        self.off.check().map_err(|error| error.nested_in("off"))
    }
}

impl Law for InterruptedPoissonConfig {
    const NAME: &'static str = "interrupted-poisson";
    const EXAMPLE: &'static str = r#"{"rate": "64 kb/s", "payload": "160 B"}"#;
}

impl TrafficLaw for InterruptedPoissonConfig {
    type Source = InterruptedPoisson;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<InterruptedPoisson, ConfigError> {
        let gap = 8.0 * self.payload.mean() / self.rate.bits_per_second() as f64;
        // Periods use a separate random stream, so that they do not depend on the number of packets drawn.
        let seed = fairwave_units::random::Seed(stream.uniform_below(u64::MAX));
        let periods = Alternation::new(self.on, self.off, self.first, seed.stream("periods"));
        Ok(InterruptedPoisson {
            gap: gap.max(1e-9),
            payload: self.payload.clone(),
            periods,
            now: start,
            until: start,
            next_id: 0,
            stream,
        })
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(self.rate.bits_per_second() as f64 / (8.0 * self.payload.mean().max(1.0)))
    }

    fn mean_payload(&self) -> Option<f64> {
        Some(self.payload.mean())
    }
}

/// An interrupted Poisson process.
#[derive(Clone, PartialEq, Debug)]
pub struct InterruptedPoisson {
    /// Mean gap while on, seconds.
    gap: f64,
    payload: Size,
    periods: Alternation,
    now: Instant,
    /// End of the current on time.
    until: Instant,
    next_id: u32,
    stream: Stream,
}

impl TrafficSource for InterruptedPoisson {
    fn next_unit(&mut self) -> Option<Unit> {
        loop {
            let due = self.now + Span::from_seconds(self.stream.exponential(self.gap));
            if due < self.until {
                self.now = due;
                break;
            }
            // A Poisson process has no memory: the next on time starts with a new gap.
            let (off, on) = self.periods.next();
            self.now = self.until + off;
            self.until = self.now + on;
            if self.now == Instant::NEVER {
                return None;
            }
        }
        let payload = self.payload.draw(&mut self.stream);
        let unit = Unit { id: self.next_id, payload, created: self.now, layer: 0, frame_type: FrameType::None };
        self.next_id = self.next_id.wrapping_add(1);
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn source(json: &str, seed: u64) -> InterruptedPoisson {
        let config: InterruptedPoissonConfig = serde_json::from_str(json).expect("a source");
        config.check().expect("sound");
        config.source(Instant::ZERO, Seed(seed).stream("traffic")).expect("a source")
    }

    #[test]
    fn gaps_have_the_mean_and_the_variation_of_kuczura() {
        // λ 100 per second, γ 1/0.352 s, ω 1/0.65 s.
        let mut source = source(r#"{"rate": "800 kb/s"}"#, 1);
        let times: Vec<f64> =
            std::iter::from_fn(|| source.next_unit()).take(500_000).map(|unit| unit.created.seconds()).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let count = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / count;
        let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / count;
        let (lambda, gamma, omega) = (100.0, 1.0 / 0.352, 1.0 / 0.65);
        let expected = (gamma + omega) / (lambda * omega);
        assert!((mean / expected - 1.0).abs() < 0.02, "{mean} for {expected}");
        let expected = 1.0 + 2.0 * lambda * gamma / ((gamma + omega) * (gamma + omega));
        let found = variance / (mean * mean);
        assert!((found / expected - 1.0).abs() < 0.05, "{found} for {expected}");
    }

    #[test]
    fn starts_on_with_the_long_run_probability_or_as_configured() {
        // At 10 packets per ms, a source that is on sends within the first ms.
        let early = |more: &str| {
            let json = format!(r#"{{"rate": "80 Mb/s"{more}}}"#);
            let at_once =
                |seed: &u64| source(&json, *seed).next_unit().is_some_and(|unit| unit.created.seconds() < 2e-3);
            (0..5000).filter(at_once).count() as f64 / 5000.0
        };
        assert!((early("") - 0.352 / 1.002).abs() < 0.03, "{}", early(""));
        assert!(early(r#", "first": "talk""#) > 0.99 && early(r#", "first": "silence""#) < 0.01);
    }

    #[test]
    fn draws_a_new_first_gap_for_each_on_period() {
        // 1 ms on, 1 ms off, mean gaps of 10 ms: nearly every on time ends before a packet is due, and no packet is
        // carried over.
        let on_off = r#""on": {"distribution": "constant", "mean": "1 ms"}, "off": {"distribution": "constant", "mean": "1 ms"}"#;
        let mut source = source(&format!(r#"{{"rate": "800 kb/s", {on_off}}}"#), 1);
        let last = std::iter::from_fn(|| source.next_unit()).take(20_000).last().expect("packets");
        let rate = 20_000.0 / last.created.seconds();
        assert!((rate / 50.0 - 1.0).abs() < 0.03, "{rate} per second: 100 for half of the time");
    }

    #[test]
    fn rejects_invalid_values_by_their_keys() {
        for (json, key) in [
            (r#"{"rate": "0 b/s"}"#, "rate"),
            (r#"{"rate": "1 Mb/s", "payload": "0 B"}"#, "payload"),
            (r#"{"rate": "1 Mb/s", "on": {"distribution": "constant", "mean": "0 s"}}"#, "on.mean"),
            (r#"{"rate": "1 Mb/s", "off": {"distribution": "pareto", "mean": "1 s", "shape": 1}}"#, "off.shape"),
        ] {
            let config: InterruptedPoissonConfig = serde_json::from_str(json).expect("a source");
            assert_eq!(config.check().expect_err(json).key, key);
        }
    }
}
