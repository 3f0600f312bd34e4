//! Whose protocol details a scenario's transports have where it does not say otherwise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose protocol details are the defaults of the transports, where the scenario does not say otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Details {
    /// As the RFCs have them.
    #[default]
    Rfc,
    /// As ns-2.35 has them, which the papers used: its timers and windows for TCP, no header on UDP packets.
    Ns2,
}
