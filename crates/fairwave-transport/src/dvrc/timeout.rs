//! DTO, the silence after which a receiver counts packets as lost: paper 002 Eq. (2)–(4).
//!
//! **Assumptions.** The first sample is EstimatedRTT, and half of it the Deviation (RFC 6298 §2.2; the paper is silent).
//! Eq. (4) weighs the *change of the estimate*, with ε = 0.25 on the old value, as printed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::ratio::Ratio;
use fairwave_units::units::Span;

/// Parameters of Eq. (2)–(4).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TimeoutConfig {
    /// γ: weight of the past in EstimatedRTT. Above 0 and below 1; default 0.9.
    #[serde(with = "Ratio")]
    pub gamma: f64,
    /// δ: deviations added to EstimatedRTT. Above 0; default 4.
    pub delta: f64,
    /// ε: weight of the past in Deviation. Above 0 and below 1; default 0.25.
    #[serde(with = "Ratio")]
    pub epsilon: f64,
    /// Lower bound of DTO. The paper has no such bound; without it, the pause between two video frames is a timeout on
    /// short paths. Default 200 ms.
    pub least: Span,
}

impl Default for TimeoutConfig {
    fn default() -> Self {
        TimeoutConfig { gamma: 0.9, delta: 4.0, epsilon: 0.25, least: Span::from_millis(200) }
    }
}

impl TimeoutConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first key whose value is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_between("gamma", self.gamma, 0.0, 1.0, "gamma = 0.9")?;
        check_between("delta", self.delta, 0.0, f64::INFINITY, "delta = 4.0")?;
        check_between("epsilon", self.epsilon, 0.0, 1.0, "epsilon = 0.25")
    }
}

/// EstimatedRTT, Deviation and the resulting DTO.
#[derive(Clone, PartialEq, Debug)]
pub struct TimeoutEstimator {
    config: TimeoutConfig,
    /// EstimatedRTT and Deviation, seconds.
    state: Option<(f64, f64)>,
}

impl TimeoutEstimator {
    /// Creates an estimator without samples.
    pub fn new(config: &TimeoutConfig) -> Self {
        TimeoutEstimator { config: config.clone(), state: None }
    }

    /// Adds a sample of the round-trip time.
    pub fn on_sample(&mut self, sample: Span) {
        let sample = sample.seconds();
        let TimeoutConfig { gamma, epsilon, .. } = self.config;
        self.state = Some(match self.state {
            None => (sample, sample / 2.0),
            Some((before, deviation)) => {
                let estimate = gamma * before + (1.0 - gamma) * sample;
                (estimate, epsilon * deviation + (1.0 - epsilon) * libm::fabs(estimate - before))
            }
        });
    }

    /// EstimatedRTT.
    pub fn round_trip(&self) -> Option<Span> {
        self.state.map(|(estimate, _)| Span::from_seconds(estimate))
    }

    /// DTO, Eq. (3).
    pub fn timeout(&self) -> Option<Span> {
        let delta = self.config.delta;
        let timeout = |(estimate, deviation)| Span::from_seconds(estimate + delta * deviation).max(self.config.least);
        self.state.map(timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eq_2_to_4_by_hand() {
        let mut estimator = TimeoutEstimator::new(&TimeoutConfig { least: Span::ZERO, ..TimeoutConfig::default() });
        estimator.on_sample(Span::from_millis(100));
        assert_eq!(estimator.timeout(), Some(Span::from_millis(300))); // 100 + 4·50
        estimator.on_sample(Span::from_millis(200));
        // EstimatedRTT = 0.9·100 + 0.1·200 = 110; Deviation = 0.25·50 + 0.75·10 = 20.
        assert_eq!(estimator.round_trip(), Some(Span::from_millis(110)));
        assert_eq!(estimator.timeout(), Some(Span::from_millis(190)));
    }

    #[test]
    fn the_timeout_is_never_below_its_floor() {
        let mut estimator = TimeoutEstimator::new(&TimeoutConfig::default());
        estimator.on_sample(Span::from_millis(10));
        assert_eq!(estimator.timeout(), Some(Span::from_millis(200)));
    }

    #[test]
    fn weights_outside_their_ranges_are_refused() {
        assert!(TimeoutConfig { gamma: 1.0, ..TimeoutConfig::default() }.check().is_err());
        assert!(TimeoutConfig { epsilon: f64::NAN, ..TimeoutConfig::default() }.check().is_err());
    }
}
