//! Independent losses: packet errors as in papers 000, 001 and 003.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LossLaw, LossModel};
use crate::packet::Packet;
use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Instant;

/// Loses each packet with the same probability, independently of all others (papers 000, 001, 003).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BernoulliConfig {
    /// Packet error rate, 0 to 1, or percent in quotes (`"1 %"`).
    #[serde(with = "Ratio")]
    pub rate: f64,
}

impl Checked for BernoulliConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_fraction("rate", self.rate, "rate = 0.01")
    }
}

impl Law for BernoulliConfig {
    const NAME: &'static str = "bernoulli";
    const EXAMPLE: &'static str = r#"{"rate": 0.01}"#;
}

impl LossLaw for BernoulliConfig {
    type Model = Bernoulli;

    fn model(&self, stream: Stream) -> Result<Bernoulli, ConfigError> {
        Ok(Bernoulli { rate: self.rate, stream })
    }
}

/// State of independent losses.
pub struct Bernoulli {
    rate: f64,
    stream: Stream,
}

impl LossModel for Bernoulli {
    #[inline]
    fn lost(&mut self, _now: Instant, _packet: &Packet) -> bool {
        self.stream.chance(self.rate)
    }
}
