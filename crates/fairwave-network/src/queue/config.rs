//! Configuration of a queue: `{ discipline = "red", capacity = { packets = 125 }, victim = "drop-sel" }`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::DisciplineConfig;
use super::victim::Victim;
use fairwave_units::config::ConfigError;
use fairwave_units::units::{Bytes, Rate};

/// The unit in which a discipline counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Packets, whatever their size.
    #[default]
    Packets,
    /// Bytes, expressed in packets of mean size.
    Bytes,
}

/// The most that a queue holds, in packets or bytes. The packet in transmission has left the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Capacity {
    /// Packets, whatever their size.
    Packets(u32),
    /// Bytes on the wire.
    Bytes(u64),
}

/// Size of a bare acknowledgement, bytes.
const SMALLEST_PACKET: u64 = 40;

impl Capacity {
    /// Upper limit of the packets for which a queue allocates room in advance. Longer queues grow on demand.
    const ROOM: usize = 1024;

    pub(super) fn room(self) -> usize {
        match self {
            Capacity::Packets(packets) => (packets as usize).saturating_add(1).min(Self::ROOM),
            Capacity::Bytes(bytes) => usize::try_from(bytes / SMALLEST_PACKET).unwrap_or(Self::ROOM).min(Self::ROOM),
        }
    }

    /// Number of packets of mean size that fit.
    pub(super) fn packet_count(self, mean: Bytes) -> f64 {
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

/// Checks that thresholds, in packets of mean size, are in order and within the buffer. Ignores absent thresholds.
pub(super) fn check_thresholds(
    min: Option<f64>,
    max: Option<f64>,
    capacity: Capacity,
    mean: Bytes,
) -> Result<(), ConfigError> {
    let room = capacity.packet_count(mean);
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

/// Rejects a buffer in which the average queue can never exceed min-threshold (in packets of mean size), so that no early
/// drop could occur.
pub(super) fn check_reachable(min: f64, capacity: Capacity, mode: Mode, mean: Bytes) -> Result<(), ConfigError> {
    let most = match (capacity, mode) {
        (Capacity::Packets(packets), Mode::Packets) => f64::from(packets),
        (Capacity::Packets(packets), Mode::Bytes) => {
            f64::from(packets) * f64::from(u16::MAX) / mean.get().max(1) as f64
        }
        (Capacity::Bytes(bytes), Mode::Packets) => (bytes / SMALLEST_PACKET) as f64,
        (Capacity::Bytes(_), Mode::Bytes) => capacity.packet_count(mean),
    };
    if min < most {
        return Ok(());
    }
    let room = capacity.packet_count(mean);
    let allowed = format!("below the {most} packets that the buffer holds: nothing would ever be dropped early");
    let example = format!("min-threshold = {}, max-threshold = {}", room / 5.0, room * 3.0 / 5.0);
    Err(ConfigError::new("min-threshold", min, allowed, example))
}

/// The queue in front of a link. A scenario writes it as one table: the discipline's name and keys, together with `capacity`
/// and `victim`.
#[derive(Clone, PartialEq, Debug)]
pub struct QueueConfig {
    /// Capacity of the buffer.
    pub capacity: Capacity,
    /// The victim rule; `None` if the discipline chooses the victim.
    victim: Option<Victim>,
    /// Decides when a packet must be dropped.
    pub discipline: DisciplineConfig,
}

/// Keys of the queue, as opposed to keys of the discipline.
const CAPACITY: &str = "capacity";
const VICTIM: &str = "victim";

impl QueueConfig {
    /// Returns a queue of this capacity and discipline. The victim is the arrival, unless the discipline chooses victims or
    /// makes room.
    pub fn new(capacity: Capacity, discipline: impl Into<DisciplineConfig>) -> Self {
        let discipline = discipline.into();
        let nature = discipline.nature();
        let victim = (nature.own_victim.is_none() && !nature.makes_room).then(Victim::default);
        QueueConfig { capacity, victim, discipline }
    }

    /// The victim rule; `None` if the discipline chooses.
    pub fn victim(&self) -> Option<Victim> {
        self.victim
    }

    /// Returns a copy with this capacity.
    #[must_use]
    pub fn with_capacity(&self, capacity: Capacity) -> Self {
        QueueConfig { capacity, ..self.clone() }
    }

    /// Whether the queue is first in, first out and drops only arrivals that do not fit. The outcome of a packet is then
    /// known when it arrives, and a link may compute it without a [`super::Queue`].
    pub fn is_fifo_tail(&self) -> bool {
        let nature = self.discipline.nature();
        nature.fifo && nature.passive && self.victim == Some(Victim::Tail)
    }

    /// Checks the parameters of the queue.
    ///
    /// # Errors
    /// Names the first key with a value out of range, the allowed values, and an example.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.capacity.check()?;
        match (self.victim, self.discipline.nature().own_victim) {
            (Some(victim), Some(why)) => {
                let value = serde_json::to_value(victim).unwrap_or_default();
                let name = self.discipline.name();
                let allowed = format!("left out: {why}");
                let example = format!("discipline = \"{name}\", capacity = {{ packets = 125 }}");
                return Err(ConfigError::new(VICTIM, value, allowed, example));
            }
            (Some(victim), None) => victim.check()?,
            (None, _) => {}
        }
        self.discipline.check()?;
        self.discipline.fits(self.capacity, None)
    }

    /// Like [`QueueConfig::check`], for a known link rate. Also checks that values derived from the rate fit the buffer.
    ///
    /// # Errors
    /// See [`QueueConfig::check`].
    pub fn check_before(&self, rate: Rate) -> Result<(), ConfigError> {
        self.check()?;
        self.discipline.fits(self.capacity, Some(rate))
    }
}

impl Serialize for QueueConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Value::Object(mut table) = serde_json::to_value(&self.discipline).map_err(S::Error::custom)? else {
            return Err(S::Error::custom("a discipline that is not written as a table"));
        };
        table.insert(CAPACITY.to_owned(), serde_json::to_value(self.capacity).map_err(S::Error::custom)?);
        if let Some(victim) = self.victim {
            table.insert(VICTIM.to_owned(), serde_json::to_value(victim).map_err(S::Error::custom)?);
        }
        table.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for QueueConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Map::<String, Value>::deserialize(deserializer)?;
        let capacity = table.remove(CAPACITY).map(serde_json::from_value).transpose().map_err(D::Error::custom)?;
        let victim = table.remove(VICTIM).map(serde_json::from_value).transpose().map_err(D::Error::custom)?;
        let discipline: DisciplineConfig =
            serde_json::from_value(Value::Object(table)).map_err(|error| own_keys_too::<D::Error>(&error))?;
        let queue = QueueConfig::new(capacity.ok_or_else(|| D::Error::missing_field(CAPACITY))?, discipline);
        Ok(QueueConfig { victim: victim.or(queue.victim), ..queue })
    }
}

/// An unknown key's error message lists the discipline's keys; this adds the keys of the queue.
fn own_keys_too<E: serde::de::Error>(error: &serde_json::Error) -> E {
    let message = error.to_string();
    if !message.starts_with("unknown field") {
        return E::custom(message);
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = quoted.next().unwrap_or_default();
    let known: Vec<String> = [CAPACITY, VICTIM].into_iter().chain(quoted).map(|key| format!("`{key}`")).collect();
    E::custom(format!("unknown field `{unknown}`, expected one of {}", known.join(", ")))
}

impl JsonSchema for QueueConfig {
    fn schema_name() -> Cow<'static, str> {
        "QueueConfig".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let capacity = described(generator.subschema_for::<Capacity>(), "What the buffer holds at most.");
        let victim = described(generator.subschema_for::<Victim>(), "Which packet is discarded when one must be.");
        let mut schema = DisciplineConfig::json_schema(generator);
        let disciplines = schema.ensure_object().get_mut("oneOf").and_then(Value::as_array_mut);
        for discipline in disciplines.into_iter().flatten() {
            let name = discipline.pointer("/properties/discipline/const").and_then(Value::as_str).map(str::to_owned);
            let chooses = name
                .as_deref()
                .and_then(DisciplineConfig::nature_by_name)
                .is_some_and(|nature| nature.own_victim.is_some());
            if let Some(properties) = discipline.get_mut("properties").and_then(Value::as_object_mut) {
                properties.insert(CAPACITY.to_owned(), capacity.clone());
                if !chooses {
                    properties.insert(VICTIM.to_owned(), victim.clone());
                }
            }
            if let Some(required) = discipline.get_mut("required").and_then(Value::as_array_mut) {
                required.push(Value::from(CAPACITY));
            }
        }
        schema
    }
}

fn described(schema: Schema, what: &str) -> Value {
    let mut schema = schema;
    schema.insert("description".to_owned(), Value::from(what));
    schema.to_value()
}
