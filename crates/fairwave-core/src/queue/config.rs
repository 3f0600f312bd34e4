//! What a scenario says about a queue: `{ discipline = "red", capacity = { packets = 125 }, victim = "drop-sel" }`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drop_tail::DropTailConfig;
use super::victim::Victim;
use crate::config::ConfigError;

/// A queue's capacity: what it holds at most, in packets or bytes. The packet in transmission has left the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Capacity {
    /// Packets, whatever their size.
    Packets(u32),
    /// Bytes on the wire.
    Bytes(u64),
}

impl Capacity {
    /// The most packets that a queue allocates room for in advance; longer queues grow when they need to.
    const ROOM: usize = 1024;

    pub(super) fn room(self) -> usize {
        match self {
            Capacity::Packets(packets) => (packets as usize).saturating_add(1).min(Self::ROOM),
            Capacity::Bytes(bytes) => usize::try_from(bytes / 40).unwrap_or(Self::ROOM).min(Self::ROOM),
        }
    }

    fn check(self) -> Result<(), ConfigError> {
        let (key, empty) = match self {
            Capacity::Packets(packets) => ("capacity.packets", packets == 0),
            Capacity::Bytes(bytes) => ("capacity.bytes", bytes == 0),
        };
        if empty {
            return Err(ConfigError::new(key, 0, "1 or more", "capacity = { packets = 125 }"));
        }
        Ok(())
    }
}

/// Where packets wait before a link.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Written", into = "Written")]
#[schemars(with = "Written")]
pub enum QueueConfig {
    /// First in, first out; an arrival that finds no room is dropped. Written `discipline = "drop-tail"`.
    DropTail {
        /// What it holds at most.
        capacity: Capacity,
    },
    /// First in, first out; when an arrival finds no room, the victim rule says which packet is dropped. Written
    /// `discipline = "drop-tail"` with a `victim`.
    DropVictim(DropTailConfig),
}

/// [`QueueConfig`] as it is written: one table per discipline.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "QueueConfig")]
enum Written {
    /// Drops when the buffer is full, and only then.
    DropTail(DropTailConfig),
}

impl From<Written> for QueueConfig {
    fn from(written: Written) -> Self {
        match written {
            Written::DropTail(DropTailConfig { capacity, victim: Victim::Tail }) => QueueConfig::DropTail { capacity },
            Written::DropTail(config) => QueueConfig::DropVictim(config),
        }
    }
}

impl From<QueueConfig> for Written {
    fn from(config: QueueConfig) -> Self {
        match config {
            QueueConfig::DropTail { capacity } => Written::DropTail(DropTailConfig { capacity, victim: Victim::Tail }),
            QueueConfig::DropVictim(config) => Written::DropTail(config),
        }
    }
}

impl QueueConfig {
    /// What the queue holds at most.
    pub fn capacity(&self) -> Capacity {
        match self {
            QueueConfig::DropTail { capacity } => *capacity,
            QueueConfig::DropVictim(config) => config.capacity,
        }
    }

    /// Which packet goes when one must; [`Victim::Tail`] for disciplines that choose for themselves.
    pub fn victim(&self) -> Victim {
        match self {
            QueueConfig::DropTail { .. } => Victim::Tail,
            QueueConfig::DropVictim(config) => config.victim,
        }
    }

    /// First in, first out, and only an arrival that finds no room is dropped: what becomes of a packet is known when it
    /// arrives, and a link may compute it instead of keeping a [`super::Queue`].
    pub fn is_fifo_tail(&self) -> bool {
        matches!(
            self,
            QueueConfig::DropTail { .. } | QueueConfig::DropVictim(DropTailConfig { victim: Victim::Tail, .. })
        )
    }

    /// Accepts parameters with which the queue can work.
    ///
    /// # Errors
    /// Names the first key whose value is out of range, what is allowed, and an example.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.capacity().check()?;
        match self {
            QueueConfig::DropTail { .. } | QueueConfig::DropVictim(_) => Ok(()),
        }
    }
}
