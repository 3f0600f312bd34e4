//! Configuration of the recovery time after an interruption (paper 003, Figure 20).
//!
//! The measure is [`recovery_time`](super::throughput::recovery_time).
//!
//! **Assumptions.** The paper does not define when a flow has recovered. Here it has recovered at the end of the first
//! bin with a goodput of at least a share of the goodput before the interruption. The user sets the shares; the default
//! is 0.9.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::config::ConfigError;
use fairwave_units::ratio::Ratios;
use fairwave_units::units::Span;

/// Interruption, and the criterion of recovery from it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RecoveryConfig {
    /// Start of the interruption, relative to the start of the run. Full speed is the rate that the flow receives
    /// between the warm-up and this time.
    pub from: Span,
    /// End of the interruption. Recovery counts from the first bin that starts at this time or later.
    pub to: Span,
    /// Shares of full speed at which the flow counts as recovered: each above 0, at most 1. Default 0.9.
    #[serde(with = "Ratios", default = "nine_tenths")]
    pub levels: Vec<f64>,
}

fn nine_tenths() -> Vec<f64> {
    vec![0.9]
}

impl RecoveryConfig {
    /// Checks all ranges.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.from >= self.to {
            let allowed = format!("later than `from` ({})", self.from);
            return Err(ConfigError::new("to", self.to, allowed, "from = \"20 s\", to = \"21 s\""));
        }
        if self.levels.is_empty() {
            return Err(ConfigError::new("levels", "empty", "at least one level", "levels = [0.9]"));
        }
        match self.levels.iter().find(|level| !(**level > 0.0 && **level <= 1.0)) {
            Some(level) => Err(ConfigError::new("levels", level, "a fraction above 0, at most 1", "levels = [0.9]")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_recovered_at_nine_tenths_of_full_speed_unless_said_otherwise() {
        let plain: RecoveryConfig = serde_json::from_str(r#"{ "from": "20 s", "to": "21 s" }"#).expect("well-formed");
        assert_eq!(plain.levels, [0.9]);
    }

    #[test]
    fn an_interruption_that_ends_before_it_begins_is_refused() {
        let refused = |json: &str| {
            let config: RecoveryConfig = serde_json::from_str(json).expect("well-formed");
            config.check().expect_err("out of range").to_string()
        };
        let error = refused(r#"{ "from": "21 s", "to": "20 s" }"#);
        assert!(error.contains("`to` is 20 s") && error.contains("later than `from` (21 s)"), "{error}");
        assert!(refused(r#"{ "from": "20 s", "to": "21 s", "levels": [0.0] }"#).contains("above 0, at most 1"));
        assert!(refused(r#"{ "from": "20 s", "to": "21 s", "levels": [] }"#).contains("at least one"));
    }
}
