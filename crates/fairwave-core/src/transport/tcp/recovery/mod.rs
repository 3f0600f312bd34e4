//! How lost segments are found and sent again. Each file adds its rules to the one [`TcpSender`](super::TcpSender): what a
//! duplicate acknowledgement does, and what an acknowledgement of new data does while a recovery is going on.

pub mod newreno;
pub mod reno;
pub mod sack;
pub mod scoreboard;
pub mod tahoe;
pub mod vegas;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules of loss recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Fast retransmit, then slow start from the loss on.
    Tahoe,
    /// Fast retransmit and fast recovery, left with the first new acknowledgement (RFC 2001, 5681).
    Reno,
    /// Fast recovery that lasts until all that was in flight is acknowledged (RFC 6582).
    Newreno,
    /// Selective acknowledgements (RFC 2018, 6675).
    Sack,
    /// Reno's, with Vegas' early retransmit by fine-grained timers.
    Vegas,
}

/// Which kind of loss response happened last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Episode {
    /// None yet.
    None,
    /// Fast recovery is going on.
    FastRecovery,
    /// Fast recovery is over.
    Recovered,
    /// The timer went off.
    Timeout,
}
