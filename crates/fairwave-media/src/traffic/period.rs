//! How long a source is on or off: lengths drawn from a distribution, and where in such a length an observer falls who
//! looks at a random moment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::random::Stream;
use fairwave_units::units::Span;

/// The distribution of a period's length.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "distribution", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Period {
    /// Pareto: P(length > x) = (scale / x)^shape, scale = mean · (shape − 1) / shape.
    Pareto {
        /// Mean length, above 0.
        mean: Span,
        /// Shape, above 1; below 2 the variance is infinite. Default 1.5.
        #[serde(default = "default_shape")]
        shape: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean length, above 0.
        mean: Span,
    },
    /// Always the same.
    Constant {
        /// The length, above 0.
        mean: Span,
    },
}

fn default_shape() -> f64 {
    1.5
}

impl Period {
    /// Checks the ranges.
    ///
    /// # Errors
    /// A mean of 0, a shape of 1 or below.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_span("mean", self.mean(), "mean = \"1 s\"")?;
        if let Period::Pareto { shape, .. } = *self {
            check_between("shape", shape, 1.0, f64::INFINITY, "shape = 1.5")?;
        }
        Ok(())
    }

    /// Mean length.
    pub const fn mean(&self) -> Span {
        match *self {
            Period::Pareto { mean, .. } | Period::Exponential { mean } | Period::Constant { mean } => mean,
        }
    }

    /// Draws a length.
    pub fn draw(&self, stream: &mut Stream) -> Span {
        match *self {
            Period::Pareto { mean, shape } => Span::from_seconds(stream.pareto(shape, mean.seconds())),
            Period::Exponential { mean } => Span::from_seconds(stream.exponential(mean.seconds())),
            Period::Constant { mean } => mean,
        }
    }

    /// Draws what is left of the period in which a random moment falls (the equilibrium distribution of renewal theory,
    /// with density P(length > x) / mean).
    ///
    /// For Pareto with shape a and scale m the distribution function is x/mean up to m and 1 − (m/x)^(a−1)/a beyond;
    /// it is inverted in closed form. With a ≤ 2 its own mean is infinite: some sources stay in their first period for long.
    pub fn draw_residual(&self, stream: &mut Stream) -> Span {
        match *self {
            Period::Pareto { mean, shape } => {
                let u = stream.uniform();
                let mean = mean.seconds();
                let scale = mean * (shape - 1.0) / shape;
                let length = if u * mean < scale {
                    u * mean
                } else {
                    scale * libm::pow(shape * (1.0 - u), -1.0 / (shape - 1.0))
                };
                Span::from_seconds(length)
            }
            Period::Exponential { mean } => Span::from_seconds(stream.exponential(mean.seconds())),
            Period::Constant { mean } => mean.scaled(stream.uniform()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn average(n: u32, mut draw: impl FnMut() -> f64) -> f64 {
        (0..n).map(|_| draw()).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn lengths_have_their_mean() {
        let mean = Span::from_millis(1350);
        let mut stream = Seed(1).stream("period");
        for (period, tolerance) in [
            (Period::Pareto { mean, shape: 3.0 }, 0.02),
            (Period::Exponential { mean }, 0.02),
            (Period::Constant { mean }, 1e-9),
        ] {
            let measured = average(100_000, || period.draw(&mut stream).seconds());
            assert!((measured - 1.35).abs() < 1.35 * tolerance, "{period:?}: {measured}");
        }
    }

    #[test]
    fn half_of_the_pareto_lengths_are_below_the_median() {
        let period = Period::Pareto { mean: Span::from_secs(1), shape: 1.5 };
        let mut stream = Seed(2).stream("period");
        let median = 1.0 / 3.0 * libm::pow(2.0, 1.0 / 1.5);
        let below = average(100_000, || f64::from(u8::from(period.draw(&mut stream).seconds() < median)));
        assert!((below - 0.5).abs() < 0.01, "{below}");
    }

    #[test]
    fn a_random_moment_falls_into_long_periods_more_often() {
        // E[residual] = E[length²] / (2 E[length]); for Pareto with shape 4 and scale m: m²·2 / (2·m·4/3) = 0.75 m.
        let period = Period::Pareto { mean: Span::from_secs(4), shape: 4.0 };
        let mut stream = Seed(3).stream("period");
        let measured = average(200_000, || period.draw_residual(&mut stream).seconds());
        assert!((measured - 0.75 * 3.0).abs() < 0.03, "{measured}");
    }

    #[test]
    fn a_shape_without_a_mean_is_refused() {
        let period = Period::Pareto { mean: Span::from_secs(1), shape: 1.0 };
        assert_eq!(period.check().expect_err("infinite mean").key, "shape");
    }
}
