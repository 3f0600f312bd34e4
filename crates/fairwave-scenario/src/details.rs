//! Source of the transports' default protocol details.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Source of the transports' defaults for all keys that the scenario does not set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Details {
    /// The defaults of the RFCs.
    Rfc,
    /// Current Linux for TCP, the RFCs for other transports. TCP has initial windows of ten segments of 1448 B, delayed
    /// acknowledgements, time-based loss detection (RACK-TLP) and proportional rate reduction (PRR). Its retransmission timeout
    /// exceeds the round-trip time by at least 200 ms.
    #[default]
    Linux,
    /// The defaults of ns-2.35, which the papers used: its timers and windows for TCP, no header on UDP packets.
    Ns2,
    /// The defaults of ns-2 at the beginning of 2004. Differences from `ns2`: TCP's minimum timeout is 1 s, its initial timeout 6
    /// s, and its windows decrease by whole segments. For RED, use the queue's preset of the same name.
    #[serde(rename = "ns2-2004")]
    Ns2Of2004,
}

impl Details {
    /// Name in scenarios.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Details::Rfc => "rfc",
            Details::Linux => "linux",
            Details::Ns2 => "ns2",
            Details::Ns2Of2004 => "ns2-2004",
        }
    }

    /// True for both versions of ns-2.
    pub(crate) fn like_ns2(self) -> bool {
        matches!(self, Details::Ns2 | Details::Ns2Of2004)
    }
}
