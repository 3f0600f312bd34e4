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
    /// As ns-2 had them at the beginning of 2004: as `ns2`, but TCP's shortest timeout is 1 s, its first one 6 s, and its windows are
    /// lowered by whole segments. What its RED did then is that queue's own preset of the same name.
    #[serde(rename = "ns2-2004")]
    Ns2Of2004,
}

impl Details {
    /// What the transports that have a key `preset` are handed where the details are ns-2's.
    pub(crate) fn version(self) -> Option<&'static str> {
        match self {
            Details::Rfc => None,
            Details::Ns2 => Some("ns2"),
            Details::Ns2Of2004 => Some("ns2-2004"),
        }
    }
}
