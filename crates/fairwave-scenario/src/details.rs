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
    /// TCP as a current Linux has it, all else as the RFCs have it: initial windows of ten segments of 1448 B, delayed acknowledgements,
    /// losses found by time (RACK-TLP) and repaired in proportion (PRR), timeouts from 200 ms above the round trip.
    Linux,
    /// As ns-2.35 has them, which the papers used: its timers and windows for TCP, no header on UDP packets.
    Ns2,
    /// As ns-2 had them at the beginning of 2004: as `ns2`, but TCP's shortest timeout is 1 s, its first one 6 s, and its windows are
    /// lowered by whole segments. What its RED did then is that queue's own preset of the same name.
    #[serde(rename = "ns2-2004")]
    Ns2Of2004,
}

impl Details {
    /// What transports that have a key `preset` are handed: those that ns-2 has where the details are ns-2's, TCPs where they are Linux'.
    pub(crate) fn version(self) -> Option<&'static str> {
        match self {
            Details::Rfc => None,
            Details::Linux => Some("linux"),
            Details::Ns2 => Some("ns2"),
            Details::Ns2Of2004 => Some("ns2-2004"),
        }
    }
}
