//! What a scenario says about a queue: `{ discipline = "red", capacity = { packets = 125 }, victim = "drop-sel" }`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ared::AredConfig;
use super::avq::AvqConfig;
use super::choke::ChokeConfig;
use super::codel::CodelConfig;
use super::drop_tail::DropTailConfig;
use super::pie::PieConfig;
use super::punsi::PunsiConfig;
use super::red::RedConfig;
use super::rem::RemConfig;
use super::victim::Victim;
use crate::config::ConfigError;
use crate::units::Bytes;

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

    /// How many packets of mean size fit.
    pub(super) fn in_packets(self, mean: Bytes) -> f64 {
        match self {
            Capacity::Packets(packets) => f64::from(packets),
            Capacity::Bytes(bytes) => bytes as f64 / mean.get().max(1) as f64,
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

/// Accepts thresholds, in packets of mean size, that are in order and within the buffer; those that are left out are not
/// looked at.
pub(super) fn check_thresholds(
    min: Option<f64>,
    max: Option<f64>,
    capacity: Capacity,
    mean: Bytes,
) -> Result<(), ConfigError> {
    let room = capacity.in_packets(mean);
    let example = format!("min-threshold = {}, max-threshold = {}", room / 5.0, room * 3.0 / 5.0);
    for (key, value) in [("min-threshold", min), ("max-threshold", max)] {
        if let Some(value) = value
            && !(value > 0.0 && value <= room)
        {
            let allowed = format!("above 0 and at most the {room} packets that the buffer holds");
            return Err(ConfigError::new(key, value, allowed, example));
        }
    }
    if let (Some(min), Some(max)) = (min, max)
        && min >= max
    {
        let allowed = format!("below `max-threshold` ({max})");
        return Err(ConfigError::new("min-threshold", min, allowed, example));
    }
    Ok(())
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
    /// Random early detection.
    Red(RedConfig),
    /// Adaptive RED.
    Ared(AredConfig),
    /// Adaptive virtual queue.
    Avq(AvqConfig),
    /// Random exponential marking, here dropping.
    Rem(RemConfig),
    /// Choose and keep, choose and kill.
    Choke(ChokeConfig),
    /// CHOKe's idea against UDP that does not yield.
    Punsi(PunsiConfig),
    /// Controlled delay.
    Codel(CodelConfig),
    /// Proportional integral controller, enhanced.
    Pie(PieConfig),
}

/// [`QueueConfig`] as it is written: one table per discipline.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "QueueConfig")]
enum Written {
    /// Drops when the buffer is full, and only then.
    DropTail(DropTailConfig),
    /// Random early detection (Floyd & Jacobson 1993), gentle.
    Red(RedConfig),
    /// Adaptive RED (Floyd, Gummadi & Shenker 2001).
    Ared(AredConfig),
    /// Adaptive virtual queue (Kunniyur & Srikant 2001).
    Avq(AvqConfig),
    /// Random exponential marking, here dropping (Athuraliya, Li, Low & Yin 2001).
    Rem(RemConfig),
    /// CHOKe (Pan, Prabhakar & Psounis 2000).
    Choke(ChokeConfig),
    /// PUNSI (Yamaguchi & Takahashi 2007).
    Punsi(PunsiConfig),
    /// CoDel (RFC 8289).
    Codel(CodelConfig),
    /// PIE (RFC 8033).
    Pie(PieConfig),
}

impl From<Written> for QueueConfig {
    fn from(written: Written) -> Self {
        match written {
            Written::DropTail(DropTailConfig { capacity, victim: Victim::Tail }) => QueueConfig::DropTail { capacity },
            Written::DropTail(config) => QueueConfig::DropVictim(config),
            Written::Red(config) => QueueConfig::Red(config),
            Written::Ared(config) => QueueConfig::Ared(config),
            Written::Avq(config) => QueueConfig::Avq(config),
            Written::Rem(config) => QueueConfig::Rem(config),
            Written::Choke(config) => QueueConfig::Choke(config),
            Written::Punsi(config) => QueueConfig::Punsi(config),
            Written::Codel(config) => QueueConfig::Codel(config),
            Written::Pie(config) => QueueConfig::Pie(config),
        }
    }
}

impl From<QueueConfig> for Written {
    fn from(config: QueueConfig) -> Self {
        match config {
            QueueConfig::DropTail { capacity } => Written::DropTail(DropTailConfig { capacity, victim: Victim::Tail }),
            QueueConfig::DropVictim(config) => Written::DropTail(config),
            QueueConfig::Red(config) => Written::Red(config),
            QueueConfig::Ared(config) => Written::Ared(config),
            QueueConfig::Avq(config) => Written::Avq(config),
            QueueConfig::Rem(config) => Written::Rem(config),
            QueueConfig::Choke(config) => Written::Choke(config),
            QueueConfig::Punsi(config) => Written::Punsi(config),
            QueueConfig::Codel(config) => Written::Codel(config),
            QueueConfig::Pie(config) => Written::Pie(config),
        }
    }
}

impl QueueConfig {
    /// What the queue holds at most.
    pub fn capacity(&self) -> Capacity {
        match self {
            QueueConfig::DropTail { capacity } => *capacity,
            QueueConfig::DropVictim(config) => config.capacity,
            QueueConfig::Red(config) => config.capacity,
            QueueConfig::Ared(config) => config.capacity,
            QueueConfig::Avq(config) => config.capacity,
            QueueConfig::Rem(config) => config.capacity,
            QueueConfig::Choke(config) => config.capacity,
            QueueConfig::Punsi(config) => config.capacity,
            QueueConfig::Codel(config) => config.capacity,
            QueueConfig::Pie(config) => config.capacity,
        }
    }

    /// Which packet goes when one must; [`Victim::Tail`] for disciplines that choose for themselves.
    pub fn victim(&self) -> Victim {
        match self {
            QueueConfig::DropTail { .. } | QueueConfig::Choke(_) | QueueConfig::Punsi(_) => Victim::Tail,
            QueueConfig::DropVictim(config) => config.victim,
            QueueConfig::Red(config) => config.victim,
            QueueConfig::Ared(config) => config.victim,
            QueueConfig::Avq(config) => config.victim,
            QueueConfig::Rem(config) => config.victim,
            QueueConfig::Codel(config) => config.victim,
            QueueConfig::Pie(config) => config.victim,
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
        self.victim().check()?;
        match self {
            QueueConfig::DropTail { .. } | QueueConfig::DropVictim(_) => Ok(()),
            QueueConfig::Red(config) => config.check(),
            QueueConfig::Ared(config) => config.check(),
            QueueConfig::Avq(config) => config.check(),
            QueueConfig::Rem(config) => config.check(),
            QueueConfig::Choke(config) => config.check(),
            QueueConfig::Punsi(config) => config.check(),
            QueueConfig::Codel(config) => config.check(),
            QueueConfig::Pie(config) => config.check(),
        }
    }
}
