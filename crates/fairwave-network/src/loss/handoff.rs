//! A link with interruptions while its user changes cells.
//!
//! Source: paper 003 §II.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chain::{Chain, Sojourn};
use super::{LossLaw, LossModel, fork};
use crate::packet::Packet;
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Span};

/// Handoffs (paper 003 §II): the link alternates between times connected and interruptions that lose everything. It
/// begins connected.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HandoffConfig {
    /// Mean time connected.
    pub up: Span,
    /// Mean length of an interruption.
    pub down: Span,
    /// All times equal their means; otherwise they are exponential. Default false.
    #[serde(default)]
    pub constant: bool,
    /// Times connected equal their mean; interruptions are exponential (paper 003, Figures 13 and 14: a handoff every 5
    /// s, of exponential length). Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    pub regular: bool,
}

impl Checked for HandoffConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_span("up", self.up, "up = \"5 s\"")?;
        check_span("down", self.down, "down = \"500 ms\"")?;
        if self.constant && self.regular {
            let allowed = "false if `constant` is true, which fixes both times";
            return Err(ConfigError::new("regular", true, allowed, "regular = true, constant = false"));
        }
        Ok(())
    }
}

impl Law for HandoffConfig {
    const NAME: &'static str = "handoff";
    const EXAMPLE: &'static str = r#"{"up": "4 s", "down": "200 ms"}"#;
}

impl LossLaw for HandoffConfig {
    type Model = Handoff;

    fn model(&self, mut stream: Stream) -> Result<Handoff, ConfigError> {
        let sojourn = match self {
            HandoffConfig { constant: true, .. } => Sojourn::Constant,
            HandoffConfig { regular: true, .. } => Sojourn::Regular,
            _ => Sojourn::Exponential,
        };
        Ok(Handoff { chain: Chain::from_good(self.up, self.down, sojourn, fork(&mut stream)) })
    }

    fn cycle(&self) -> Option<Span> {
        Some(self.up + self.down)
    }
}

/// State of the handoffs.
pub struct Handoff {
    chain: Chain,
}

impl LossModel for Handoff {
    fn lost(&mut self, now: Instant, _packet: &Packet) -> bool {
        self.chain.is_bad(now)
    }
}
