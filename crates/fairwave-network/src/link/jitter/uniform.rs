//! Uniform jitter: all sizes up to a bound are equally likely.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{JitterLaw, check_addition};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Span;

/// Uniform between 0 and a bound.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct UniformConfig {
    /// The bound, above 0.
    pub up_to: Span,
}

impl Checked for UniformConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_addition("up-to", self.up_to, "up-to = \"30 ms\"")
    }
}

impl Law for UniformConfig {
    const NAME: &'static str = "uniform";
    const EXAMPLE: &'static str = r#"{"up-to": "30 ms"}"#;
}

impl JitterLaw for UniformConfig {
    fn draw(&self, stream: &mut Stream) -> Span {
        stream.span_between(Span::ZERO, self.up_to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    #[test]
    fn draws_tenths_of_the_range_equally_often() {
        let config = UniformConfig { up_to: Span::from_millis(30) };
        let (mut stream, mut counts) = (Seed(1).stream("jitter"), [0u32; 10]);
        (0..100_000).for_each(|_| counts[(config.draw(&mut stream).millis() / 3.0) as usize] += 1);
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 400), "{counts:?}");
    }

    #[test]
    fn no_range_is_refused() {
        assert_eq!(UniformConfig { up_to: Span::ZERO }.check().expect_err("none").key, "up-to");
    }
}
