//! A constant rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RateLaw, Transmitter};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Carry, Instant, Rate};

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
        Ok(Constant::new(self.rate))
    }

    fn nominal(&self) -> Rate {
        self.rate
    }
}

/// A running constant rate. The end of a transmission is rounded to the nearest nanosecond. A transmission that
/// begins when the last one ended starts with the remainder of that one, so rounding errors do not add up. Packets of
/// 4.29 s and more are rounded separately.
#[derive(Clone, Copy)]
pub struct Constant {
    rate: Rate,
    carry: Carry,
    /// The low bits of the time when the last transmission ended; all bits would make links larger. In rare cases a
    /// transmission at an idle transmitter looks like one that follows another. It then ends a nanosecond off.
    ended: u16,
    /// A transmission has begun.
    has_begun: bool,
}

impl Constant {
    /// An idle transmitter of `rate`.
    pub const fn new(rate: Rate) -> Self {
        Constant { rate, carry: Carry::NOTHING, ended: 0, has_begun: false }
    }

    /// The bits per second.
    pub const fn rate(&self) -> Rate {
        self.rate
    }
}

impl Transmitter for Constant {
    #[inline]
    fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        let follows = self.has_begun && start.nanos() as u16 == self.ended;
        let (time, carry) = match self.rate.fine_time_for(size) {
            Some(time) if follows => time.carried(self.carry),
            Some(time) => time.fresh(),
            None => (self.rate.time_for(size), Carry::NOTHING),
        };
        let end = start + time;
        (self.carry, self.ended, self.has_begun) = (carry, end.nanos() as u16, true);
        end
    }

    fn capacity(&self, from: Instant, to: Instant) -> Bytes {
        self.rate.bytes_in(to.span_since(from))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LinkRate, RateConfig};
    use super::*;
    use fairwave_units::random::Seed;
    use fairwave_units::units::Span;

    fn running(rate: &str) -> LinkRate {
        let config = RateConfig::from(rate.parse::<Rate>().expect("a rate"));
        LinkRate::new(&config, Seed(1).stream("link")).expect("a rate law")
    }

    #[test]
    fn a_packet_takes_its_bits_over_the_rate() {
        let mut rate = running("10 Mb/s");
        let start = Instant::from_seconds(3.0);
        assert_eq!(rate.end_of(start, Bytes::new(1250)), start + Span::from_millis(1));
        assert_eq!(rate.capacity(start, start + Span::from_millis(1)), Bytes::new(1250));
    }

    /// Sends packets of these sizes in turn, directly behind each other, and returns the total time.
    fn time_of(rate: &str, sizes: &[u64], packets: usize) -> Instant {
        let mut law = running(rate);
        sizes.iter().cycle().take(packets).fold(Instant::ZERO, |end, size| law.end_of(end, Bytes::new(*size)))
    }

    #[test]
    fn a_million_packets_take_a_million_times_the_exact_time_of_one() {
        for rate in ["100 Gb/s", "400 Gb/s", "33.3 Mb/s", "10.000001 Gb/s", "1.536 Mb/s", "7 kb/s"] {
            for sizes in [&[66][..], &[1500], &[1], &[66, 1500, 40]] {
                let bytes = sizes.iter().sum::<u64>() * 999_999 / sizes.len() as u64;
                let exact = rate.parse::<Rate>().expect("a rate").time_for(Bytes::new(bytes)).nanos() as f64;
                let found = time_of(rate, sizes, 999_999).nanos() as f64;
                // Within the rounding of the last end, and 10⁻⁹.
                assert!(
                    (found - exact).abs() <= 1.0 + exact * 1e-9,
                    "{sizes:?} at {rate}: {found} instead of {exact} ns"
                );
            }
        }
    }

    #[test]
    fn a_packet_at_an_idle_link_takes_its_time_to_the_nearest_nanosecond() {
        let mut rate = running("100 Gb/s");
        for gap in 0..100 {
            // 5.28 ns.
            let start = Instant::from_nanos(1000 + 17 * gap);
            assert_eq!(rate.end_of(start, Bytes::new(66)).span_since(start), Span::from_nanos(5));
        }
        let start = Instant::from_nanos(5000);
        let first = rate.end_of(start, Bytes::new(66));
        assert_eq!(rate.end_of(first, Bytes::new(66)).span_since(start), Span::from_nanos(11));
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
