//! Where packets wait: a discipline decides *when* one must go, a victim rule *which*, the buffer does both in O(1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a packet did not get through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum DropReason {
    /// The buffer was full.
    Overflow = 0,
    /// The discipline dropped early.
    Early = 1,
    /// The link lost it.
    Link = 2,
}

/// A queue's capacity: what it holds at most, in packets or bytes. The packet in transmission has left the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Capacity {
    /// Packets, whatever their size.
    Packets(u32),
    /// Bytes on the wire.
    Bytes(u64),
}

/// Where packets wait before a link.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueConfig {
    /// First in, first out; an arrival that finds no room is dropped.
    DropTail {
        /// What it holds at most.
        capacity: Capacity,
    },
}
