//! Jitter as for the evaluation of congestion controls for media.
//!
//! Source: RFC 8868 §4.5.3. A packet takes |max(min(N, m·σ), −m·σ)| longer; N is Gaussian with mean 0 and standard
//! deviation σ. A value beyond m deviations becomes m deviations; it is not drawn again. The sign is dropped, so that
//! no packet takes less than the delay of the link. The RFC recommends σ = 5 ms and m = 3. The mean addition is close
//! to σ·√(2/π), 4 ms then.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{JitterLaw, check_addition};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Span;

/// The absolute value of a truncated Gaussian (RFC 8868): its defaults are 5 ms and three deviations.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GaussianConfig {
    /// Standard deviation before truncation, above 0.
    #[serde(default = "five")]
    pub deviation: Span,
    /// Number of standard deviations at which it is truncated, above 0.
    #[serde(default = "three")]
    pub at_most: f64,
}

fn five() -> Span {
    Span::from_millis(5)
}

fn three() -> f64 {
    3.0
}

impl Checked for GaussianConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_addition("deviation", self.deviation, "deviation = \"5 ms\"")?;
        check_between("at-most", self.at_most, 0.0, 100.0, "at-most = 3.0")
    }
}

impl Law for GaussianConfig {
    const NAME: &'static str = "gaussian";
    const EXAMPLE: &'static str = r#"{"deviation": "5 ms"}"#;
}

impl JitterLaw for GaussianConfig {
    fn draw(&self, stream: &mut Stream) -> Span {
        self.deviation.scaled(stream.normal().clamp(-self.at_most, self.at_most).abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    #[test]
    fn an_addition_is_the_size_of_a_gaussian_set_to_its_bound_where_it_lies_beyond() {
        let config = GaussianConfig { deviation: five(), at_most: 1.0 };
        let mut stream = Seed(1).stream("jitter");
        let draws: Vec<f64> = (0..100_000).map(|_| config.draw(&mut stream).millis()).collect();
        let share = |of: &dyn Fn(f64) -> bool| draws.iter().filter(|one| of(**one)).count() as f64 / 100_000.0;
        // Of a Gaussian 31.7 % lie beyond one deviation, and half as many as all within 0.6745 of it.
        assert!((share(&|one| one == 5.0) - 0.3173).abs() < 0.006);
        assert!((share(&|one| one < 0.6745 * 5.0) - 0.5).abs() < 0.006);
        assert!(draws.iter().all(|one| (0.0..=5.0).contains(one)));
    }

    #[test]
    fn defaults_are_the_recommended_ones() {
        let config: GaussianConfig = serde_json::from_str("{}").expect("defaults");
        let mut stream = Seed(2).stream("jitter");
        let draws: Vec<f64> = (0..100_000).map(|_| config.draw(&mut stream).millis()).collect();
        let mean = draws.iter().sum::<f64>() / 100_000.0;
        assert!((mean - 5.0 * 0.7979).abs() < 0.04, "{mean}");
        assert_eq!(draws.iter().copied().fold(0.0, f64::max), 15.0);
    }

    #[test]
    fn no_deviation_and_no_bound_are_refused() {
        let refused = |deviation, at_most| GaussianConfig { deviation, at_most }.check().map_err(|error| error.key);
        assert_eq!(refused(Span::ZERO, 3.0), Err("deviation".to_owned()));
        assert_eq!(refused(five(), 0.0), Err("at-most".to_owned()));
        assert_eq!(refused(five(), f64::NAN), Err("at-most".to_owned()));
    }
}
