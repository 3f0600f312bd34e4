//! Whose protocol details a scenario's transports have where it does not say otherwise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of the transports' defaults for everything that the scenario does not set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Details {
    /// The defaults of the RFCs.
    Rfc,
    /// TCP like current Linux, everything else like the RFCs. TCP has initial windows of ten segments of 1448 B,
    /// delayed acknowledgements, time-based loss detection (RACK-TLP), proportional rate reduction (PRR), and timeouts
    /// from 200 ms above the round trip.
    #[default]
    Linux,
    /// The defaults of ns-2.35, which the papers used: its timers and windows for TCP, no header on UDP packets.
    Ns2,
    /// The defaults of ns-2 at the beginning of 2004: as `ns2`, but TCP's shortest timeout is 1 s, its first timeout 6
    /// s, and its windows fall by whole segments. For RED, use the queue's preset of the same name.
    #[serde(rename = "ns2-2004")]
    Ns2Of2004,
}

impl Details {
    /// Its name in scenarios.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Details::Rfc => "rfc",
            Details::Linux => "linux",
            Details::Ns2 => "ns2",
            Details::Ns2Of2004 => "ns2-2004",
        }
    }

    /// Whether they are those of ns-2.
    pub(crate) fn like_ns2(self) -> bool {
        matches!(self, Details::Ns2 | Details::Ns2Of2004)
    }
}
