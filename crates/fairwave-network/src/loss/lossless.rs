//! A link without losses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LossLaw, LossModel};
use crate::packet::Packet;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Instant;

/// Loses no packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LosslessConfig {}

impl Checked for LosslessConfig {}

impl Law for LosslessConfig {
    const NAME: &'static str = "none";
}

impl LossLaw for LosslessConfig {
    type Model = Lossless;
    const NEVER: bool = true;

    fn model(&self, _stream: Stream) -> Result<Lossless, ConfigError> {
        Ok(Lossless)
    }
}

/// No loss.
pub struct Lossless;

impl LossModel for Lossless {
    fn lost(&mut self, _now: Instant, _packet: &Packet) -> bool {
        false
    }
}
