//! No rate control: the encoders get a constant rate on every path. For comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlLaw, Decision, Feedback, Limits, RateController};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate};

/// A constant rate for the whole session, on every path.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct FixedConfig {
    /// Total rate of all streams, in whole IP packets. Default: the most that the streams can use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the most that the streams can use"))]
    pub rate: Option<Rate>,
    /// Pacing rate as a multiple of the rate, from 1 to 100. Default 2.5.
    pub pacing: f64,
}

impl Default for FixedConfig {
    fn default() -> Self {
        FixedConfig { rate: None, pacing: 2.5 }
    }
}

impl Checked for FixedConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.rate.is_some_and(|rate| rate.bits_per_second() == 0) {
            return Err(ConfigError::new("rate", "0 b/s", "above 0", "rate = \"1 Mb/s\""));
        }
        if !(1.0..=100.0).contains(&self.pacing) {
            return Err(ConfigError::new("pacing", self.pacing, "from 1 to 100", "pacing = 2.5"));
        }
        Ok(())
    }
}

impl Law for FixedConfig {
    const NAME: &'static str = "fixed";
    const EXAMPLE: &'static str = r#"{"rate": "1 Mb/s"}"#;
}

impl ControlLaw for FixedConfig {
    type Controller = Fixed;

    fn controller(&self, _stream: Stream) -> Fixed {
        Fixed { config: *self, most: Rate::default() }
    }
}

/// Controller with the configured rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fixed {
    config: FixedConfig,
    most: Rate,
}

impl RateController for Fixed {
    fn on_limits(&mut self, _now: Instant, limits: Limits) {
        self.most = limits.most;
    }

    fn on_feedback(&mut self, _feedback: &Feedback<'_>) {}

    fn decision(&self) -> Decision {
        Decision::paced(self.config.rate.unwrap_or(self.most), self.config.pacing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn decided(config: FixedConfig) -> Decision {
        let mut fixed = config.controller(Seed(1).stream("control"));
        let rate = Rate::from_bits_per_second;
        fixed.on_limits(Instant::ZERO, Limits { start: rate(300_000), least: rate(30_000), most: rate(2_000_000) });
        fixed.decision()
    }

    #[test]
    fn gives_the_configured_rate_or_all_that_the_streams_can_use() {
        let most = decided(FixedConfig::default());
        assert_eq!((most.target.bits_per_second(), most.pacing.bits_per_second()), (2_000_000, 5_000_000));
        let given = FixedConfig { rate: Some(Rate::from_bits_per_second(400_000)), pacing: 1.0 };
        assert_eq!(decided(given), Decision::paced(Rate::from_bits_per_second(400_000), 1.0));
    }

    #[test]
    fn rates_of_zero_and_pacing_below_the_rate_are_refused() {
        let refused = |config: FixedConfig| config.check().expect_err("refused").key;
        assert_eq!(refused(FixedConfig { rate: Some(Rate::default()), pacing: 2.5 }), "rate");
        assert_eq!(refused(FixedConfig { rate: None, pacing: 0.9 }), "pacing");
    }
}
