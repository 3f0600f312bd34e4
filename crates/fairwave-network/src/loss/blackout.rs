//! One interruption at a known time.
//!
//! Source: paper 003, Figure 20.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LossLaw, LossModel};
use crate::packet::Packet;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Span};

/// Loses everything once, in the interval `[from, to)` of the run (paper 003, Figure 20).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BlackoutConfig {
    /// Start of the interval, counted from the beginning of the run.
    pub from: Span,
    /// End of the interval, counted from the beginning of the run.
    pub to: Span,
}

impl Checked for BlackoutConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.from < self.to {
            return Ok(());
        }
        let allowed = format!("later than `from` ({})", self.from);
        Err(ConfigError::new("to", self.to, allowed, "from = \"30 s\", to = \"31 s\""))
    }
}

impl Law for BlackoutConfig {
    const NAME: &'static str = "blackout";
    const EXAMPLE: &'static str = r#"{"from": "4 s", "to": "5 s"}"#;
}

impl LossLaw for BlackoutConfig {
    type Model = Blackout;

    fn model(&self, _stream: Stream) -> Result<Blackout, ConfigError> {
        Ok(Blackout { from: Instant::ZERO + self.from, to: Instant::ZERO + self.to })
    }
}

/// State of the interruption.
pub struct Blackout {
    from: Instant,
    to: Instant,
}

impl LossModel for Blackout {
    fn lost(&mut self, now: Instant, _packet: &Packet) -> bool {
        self.from <= now && now < self.to
    }
}
