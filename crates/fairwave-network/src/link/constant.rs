//! The same rate all the time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RateLaw, Transmitter};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate};

/// One rate for the whole run; `rate = "10 Mb/s"` is short for it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConstantConfig {
    /// Bits per second on the wire, above 0.
    pub rate: Rate,
}

impl Checked for ConstantConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.rate > Rate::default() {
            return Ok(());
        }
        Err(ConfigError::new("rate", self.rate, "a rate of at least 1 b/s", "rate = \"10 Mb/s\""))
    }
}

impl Law for ConstantConfig {
    const NAME: &'static str = "constant";
    const EXAMPLE: &'static str = r#"{"rate": "2 Mb/s"}"#;
}

impl RateLaw for ConstantConfig {
    type Transmitter = Constant;

    const STEADY: bool = true;

    fn transmitter(&self, _stream: Stream) -> Result<Constant, ConfigError> {
        Ok(Constant(self.rate))
    }

    fn nominal(&self) -> Rate {
        self.rate
    }
}

/// A constant rate at work. Each transmission is rounded to the nearest nanosecond by itself.
#[derive(Clone, Copy)]
pub struct Constant(Rate);

impl Transmitter for Constant {
    #[inline]
    fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        start + self.0.time_for(size)
    }

    fn capacity(&self, from: Instant, to: Instant) -> Bytes {
        self.0.bytes_in(to.since(from))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LinkRate, RateConfig};
    use super::*;
    use fairwave_units::random::Seed;
    use fairwave_units::units::Span;

    fn at_work(rate: &str) -> LinkRate {
        let config = RateConfig::from(rate.parse::<Rate>().expect("a rate"));
        LinkRate::new(&config, Seed(1).stream("link")).expect("a rate law")
    }

    #[test]
    fn a_packet_takes_its_bits_over_the_rate() {
        let mut rate = at_work("10 Mb/s");
        let start = Instant::from_seconds(3.0);
        assert_eq!(rate.end_of(start, Bytes::new(1250)), start + Span::from_millis(1));
        assert_eq!(rate.capacity(start, start + Span::from_millis(1)), Bytes::new(1250));
    }

    #[test]
    fn a_rate_of_zero_is_refused() {
        let error = RateConfig::from(Rate::default()).check().expect_err("zero");
        assert_eq!((error.key.as_str(), error.allowed.as_str()), ("rate", "a rate of at least 1 b/s"));
    }

    #[test]
    fn a_program_may_not_take_the_name_of_a_built_in_law() {
        assert_eq!(super::super::register::<ConstantConfig>().expect_err("taken").name, "constant");
    }
}
