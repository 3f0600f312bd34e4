//! On and off periods of sources: lengths from a distribution, and the remaining length at a random time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::random::Stream;
use fairwave_units::units::Span;

/// Distribution of a period's length.
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
    /// Constant.
    Constant {
        /// The length, above 0.
        mean: Span,
    },
    /// Uniform between two lengths.
    Uniform {
        /// Shortest length, 0 and above.
        least: Span,
        /// Longest length, above `least`.
        most: Span,
    },
    /// Lognormal.
    Lognormal {
        /// Median, e^μ, above 0.
        median: Span,
        /// σ, the standard deviation of the logarithm, from 0 to 10.
        sigma: f64,
    },
}

fn default_shape() -> f64 {
    1.5
}

impl Period {
    /// Checks the ranges.
    ///
    /// # Errors
    /// A mean of 0, a shape of 1 or below, limits in the wrong order, a σ outside its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        match *self {
            Period::Uniform { least, most } if most <= least => {
                Err(ConfigError::new("most", most, format!("above `least` ({least})"), "most = \"2 s\""))
            }
            Period::Uniform { .. } => Ok(()),
            Period::Lognormal { median, sigma } => {
                check_span("median", median, "median = \"1 s\"")?;
                if !(0.0..=10.0).contains(&sigma) {
                    return Err(ConfigError::new("sigma", sigma, "from 0 to 10", "sigma = 1.0"));
                }
                Ok(())
            }
            Period::Pareto { mean, shape } => {
                check_span("mean", mean, "mean = \"1 s\"")?;
                check_between("shape", shape, 1.0, f64::INFINITY, "shape = 1.5")
            }
            Period::Exponential { mean } | Period::Constant { mean } => check_span("mean", mean, "mean = \"1 s\""),
        }
    }

    /// Returns the mean length.
    pub fn mean(&self) -> Span {
        match *self {
            Period::Pareto { mean, .. } | Period::Exponential { mean } | Period::Constant { mean } => mean,
            Period::Uniform { least, most } => Span::from_nanos(least.nanos() + most.saturating_sub(least).nanos() / 2),
            Period::Lognormal { median, sigma } => median.scaled(libm::exp(sigma * sigma / 2.0)),
        }
    }

    /// Draws a length.
    pub fn draw(&self, stream: &mut Stream) -> Span {
        match *self {
            Period::Pareto { mean, shape } => Span::from_seconds(stream.pareto(shape, mean.seconds())),
            Period::Exponential { mean } => Span::from_seconds(stream.exponential(mean.seconds())),
            Period::Constant { mean } => mean,
            Period::Uniform { least, most } => least + most.saturating_sub(least).scaled(stream.uniform()),
            Period::Lognormal { median, sigma } => median.scaled(libm::exp(sigma * stream.normal())),
        }
    }

    /// Draws the rest of the period that contains a random time (the equilibrium distribution of renewal theory, with
    /// density P(length > x) / mean).
    ///
    /// For Pareto with shape a and scale m the distribution function is x/mean up to m and 1 − (m/x)^(a−1)/a beyond; it
    /// is inverted in closed form. With a ≤ 2 its mean is infinite: some sources stay in their first period for a very
    /// long time.
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
            // The period that contains the time has density x·f(x)/mean, and the time is uniform in it.
            Period::Uniform { least, most } => {
                let (least, most) = (least.seconds(), most.seconds());
                let around = libm::sqrt(least * least + stream.uniform() * (most * most - least * least));
                Span::from_seconds(around * stream.uniform())
            }
            // A lognormal distribution weighted by length is lognormal again, with σ² added to μ.
            Period::Lognormal { median, sigma } => {
                median.scaled(libm::exp(sigma * (sigma + stream.normal())) * stream.uniform())
            }
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
            (Period::Uniform { least: Span::from_millis(350), most: Span::from_millis(2350) }, 0.01),
            (Period::Lognormal { median: mean.scaled(libm::exp(-0.125)), sigma: 0.5 }, 0.01),
        ] {
            assert!((period.mean().seconds() - 1.35).abs() < 1e-8, "{period:?}");
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
    fn residuals_of_uniform_and_lognormal_periods_have_the_mean_of_renewal_theory() {
        // E[length²] / (2 E[length]): (a² + ab + b²) / 3 / (a + b) with a 1 s and b 3 s; median · e^(1.5 σ²) / 2 with σ 0.5.
        let second = Span::from_secs(1);
        for (period, expected) in [
            (Period::Uniform { least: second, most: second * 3 }, 13.0 / 12.0),
            (Period::Lognormal { median: second, sigma: 0.5 }, libm::exp(0.375) / 2.0),
        ] {
            let mut stream = Seed(4).stream("period");
            let measured = average(200_000, || period.draw_residual(&mut stream).seconds());
            assert!((measured / expected - 1.0).abs() < 0.01, "{period:?}: {measured} for {expected}");
        }
    }

    #[test]
    fn limits_and_spreads_that_make_no_sense_are_refused_by_their_key() {
        let second = Span::from_secs(1);
        let refused = |period: Period| period.check().map_err(|error| error.key);
        assert_eq!(refused(Period::Uniform { least: second, most: second }), Err("most".to_owned()));
        assert_eq!(refused(Period::Uniform { least: Span::ZERO, most: second }), Ok(()));
        assert_eq!(refused(Period::Lognormal { median: Span::ZERO, sigma: 1.0 }), Err("median".to_owned()));
        assert_eq!(refused(Period::Lognormal { median: second, sigma: f64::NAN }), Err("sigma".to_owned()));
        assert_eq!(refused(Period::Lognormal { median: second, sigma: 10.5 }), Err("sigma".to_owned()));
        assert_eq!(refused(Period::Exponential { mean: Span::ZERO }), Err("mean".to_owned()));
    }

    #[test]
    fn a_shape_without_a_mean_is_refused() {
        let period = Period::Pareto { mean: Span::from_secs(1), shape: 1.0 };
        assert_eq!(period.check().expect_err("infinite mean").key, "shape");
    }
}
