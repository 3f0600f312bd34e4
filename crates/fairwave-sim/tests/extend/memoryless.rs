//! Poisson datagrams: the arrivals of queueing theory, to compare a queue with a formula.
//!
//! Source: Kleinrock, *Queueing Systems*, vol. 1, 1975: the gaps between arrivals are independent and exponential.
//! For datagrams of one size before a link of constant rate §5.6 gives the mean wait (Pollaczek–Khinchine, M/D/1).
//!
//! **Assumptions.** The first datagram arrives one gap after the start, as if the source had always been on.

use fairwave_core::config::ConfigError;
use fairwave_core::random::Stream;
use fairwave_core::registry::{Checked, Law};
use fairwave_core::traffic::{FrameType, TrafficLaw, TrafficSource, Unit};
use fairwave_core::units::{Bytes, Instant, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Datagrams of one size with independent, exponential gaps (a Poisson process).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MemorylessConfig {
    /// Mean payload rate, above 0.
    pub rate: Rate,
    /// Payload of a datagram, 1 B and above. Default 500 B.
    #[serde(default = "default_payload")]
    pub payload: Bytes,
}

fn default_payload() -> Bytes {
    Bytes::new(500)
}

impl Checked for MemorylessConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.rate == Rate::default() {
            return Err(ConfigError::new("rate", self.rate, "a rate above 0", "rate = \"1 Mb/s\""));
        }
        if self.payload == Bytes::ZERO || self.payload.get() > u64::from(u32::MAX) {
            return Err(ConfigError::new("payload", self.payload, "from 1 B to 4294967295 B", "payload = \"500 B\""));
        }
        Ok(())
    }
}

impl Law for MemorylessConfig {
    const NAME: &'static str = "memoryless";
    const EXAMPLE: &'static str = r#"{"rate": "500 kb/s"}"#;
}

impl TrafficLaw for MemorylessConfig {
    type Source = Memoryless;

    fn source(&self, start: Instant, stream: Stream) -> Result<Memoryless, ConfigError> {
        self.check()?;
        Ok(Memoryless {
            mean: self.rate.time_for(self.payload),
            payload: self.payload.get() as u32,
            latest: start,
            next_id: 0,
            stream,
        })
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(self.rate.bits_per_second() as f64 / (8.0 * self.payload.get() as f64))
    }
}

/// State of the Poisson process.
pub struct Memoryless {
    mean: Span,
    payload: u32,
    latest: Instant,
    next_id: u32,
    stream: Stream,
}

impl TrafficSource for Memoryless {
    fn next_unit(&mut self) -> Option<Unit> {
        // Never a zero gap: a source that stops time would never end.
        let gap = Span::from_seconds(self.stream.exponential(self.mean.seconds())).max(Span::from_nanos(1));
        self.latest += gap;
        if self.latest == Instant::NEVER {
            return None;
        }
        let unit = Unit {
            id: self.next_id,
            payload: self.payload,
            created: self.latest,
            layer: 0,
            frame_type: FrameType::None,
        };
        self.next_id = self.next_id.wrapping_add(1);
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use fairwave_core::random::Seed;

    use super::*;

    #[test]
    fn in_any_second_the_number_of_datagrams_has_its_mean_as_variance() {
        let config = MemorylessConfig { rate: Rate::from_bits_per_second(80_000), payload: Bytes::new(500) };
        let start = Instant::from_seconds(7.0);
        let mut source = config.source(start, Seed(1).stream("memoryless")).expect("a source");
        let mut counts = vec![0.0; 5000];
        for id in 0.. {
            let unit = source.next_unit().expect("it never ends");
            assert_eq!((unit.id, unit.payload), (id, 500));
            let Some(count) = counts.get_mut(unit.created.span_since(start).seconds() as usize) else { break };
            *count += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / 5000.0;
        let variance = counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / 5000.0;
        assert!((mean - 20.0).abs() < 0.2, "{mean}");
        assert!((variance - 20.0).abs() < 1.2, "{variance}");
    }

    #[test]
    fn invalid_parameters_are_rejected() {
        let refused = |rate, payload| {
            let config = MemorylessConfig { rate: Rate::from_bits_per_second(rate), payload: Bytes::new(payload) };
            config.check().expect_err("no source").key
        };
        assert_eq!([refused(0, 500), refused(1000, 0), refused(1000, 1 << 32)], ["rate", "payload", "payload"]);
    }
}
