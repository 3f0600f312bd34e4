//! Configurations of the laws (link rates, queues, losses, traffic, transports, playout) as written in a scenario.
//!
//! `fairwave-core` defines the types of the laws. A program may register more laws (`fairwave_core::registry`), and
//! this crate needs no knowledge of them. The language adds three things to every law. A name alone means the law with
//! its defaults (`traffic = "bulk"`). Some defaults depend on the scenario (a buffer of one bandwidth-delay product,
//! protocol details as in ns-2). The written form is kept, so that fairwave can show, compare and override a scenario.
//! [`LawTable`] holds the table. The plan converts it to the law's configuration.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use fairwave_core::config::{ConfigError, check_fraction};
use fairwave_core::link::jitter::JitterConfig;
use fairwave_core::link::{RateConfig, ScheduleConfig};
use fairwave_core::loss::{BernoulliConfig, LossConfig, LossScheduleConfig};
use fairwave_core::medium::MediumConfig;
use fairwave_core::quality::playout::PlayoutConfig;
use fairwave_core::queue::{Capacity, DisciplineConfig, QueueConfig};
use fairwave_core::random::Seed;
use fairwave_core::ratio::{Ratio, percent};
use fairwave_core::registry::generation;
use fairwave_core::traffic::{FrameType, Source, TrafficConfig, TrafficSource};
use fairwave_core::transport::{PacketSize, Properties, TransportConfig};
use fairwave_core::units::{Bytes, Instant, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::delay::is_schedule;
use crate::details::Details;

/// Interface of a law family to the language: how its name is written, and which keys its table may omit.
pub trait Law: Clone + Serialize + DeserializeOwned + JsonSchema {
    /// The family's name in messages: `queue`.
    const WHAT: &'static str;
    /// The key that names the law: `discipline`.
    const TAG: &'static str;

    /// Keys with a different meaning in each law: `alpha`. An override that gives only a law's name does not carry them
    /// over.
    const OWN_MEANING: &'static [&'static str] = &[];

    /// The full name of the law that `name` abbreviates: `tcp/cubic` for `cubic`.
    ///
    /// # Errors
    /// `name` abbreviates several laws.
    fn full_name(name: &str) -> Result<String, serde_json::Error> {
        Ok(name.to_owned())
    }

    /// The table for a name alone.
    fn from_name(name: &str) -> Map<String, Value> {
        Map::from_iter([(Self::TAG.to_owned(), Value::from(name))])
    }

    /// The table for a ratio alone: `loss = "2 %"`. `None` if the family takes no ratios; an error for a ratio out of
    /// range.
    fn from_ratio(_ratio: f64) -> Option<Result<Map<String, Value>, ConfigError>> {
        None
    }

    /// The law whose `steps` a bare list gives, if the family has one.
    const OF_A_LIST: Option<&'static str> = None;

    /// Adds the keys that the scenario's table may omit.
    fn complete(_table: &mut Map<String, Value>) {}

    /// Checks the ranges of all parameters.
    ///
    /// # Errors
    /// The first key whose value is not allowed.
    fn check(&self) -> Result<(), ConfigError>;
}

impl Law for RateConfig {
    const WHAT: &'static str = RateConfig::WHAT;
    const TAG: &'static str = RateConfig::TAG;
    const OF_A_LIST: Option<&'static str> = Some(<ScheduleConfig as fairwave_core::registry::Law>::NAME);

    fn full_name(name: &str) -> Result<String, serde_json::Error> {
        RateConfig::full_name(name)
    }

    fn check(&self) -> Result<(), ConfigError> {
        RateConfig::check(self)
    }
}

impl Law for LossConfig {
    const WHAT: &'static str = LossConfig::WHAT;
    const TAG: &'static str = LossConfig::TAG;
    const OF_A_LIST: Option<&'static str> = Some(<LossScheduleConfig as fairwave_core::registry::Law>::NAME);

    fn from_ratio(ratio: f64) -> Option<Result<Map<String, Value>, ConfigError>> {
        if let Err(error) = check_fraction("loss", ratio, "loss = \"2 %\"") {
            return Some(Err(error));
        }
        let mut table = Self::from_name(<BernoulliConfig as fairwave_core::registry::Law>::NAME);
        table.insert("rate".to_owned(), Value::from(ratio));
        Some(Ok(table))
    }

    fn full_name(name: &str) -> Result<String, serde_json::Error> {
        LossConfig::full_name(name)
    }

    fn check(&self) -> Result<(), ConfigError> {
        LossConfig::check(self)
    }
}

impl Law for JitterConfig {
    const WHAT: &'static str = JitterConfig::WHAT;
    const TAG: &'static str = JitterConfig::TAG;

    fn full_name(name: &str) -> Result<String, serde_json::Error> {
        JitterConfig::full_name(name)
    }

    fn check(&self) -> Result<(), ConfigError> {
        JitterConfig::check(self)
    }
}

impl Law for TrafficConfig {
    const WHAT: &'static str = TrafficConfig::WHAT;
    const TAG: &'static str = TrafficConfig::TAG;

    fn full_name(name: &str) -> Result<String, serde_json::Error> {
        TrafficConfig::full_name(name)
    }

    fn check(&self) -> Result<(), ConfigError> {
        TrafficConfig::check(self)
    }
}

impl Law for TransportConfig {
    const WHAT: &'static str = TransportConfig::WHAT;
    const TAG: &'static str = TransportConfig::TAG;
    const OWN_MEANING: &'static [&'static str] = &["alpha", "beta", "gamma", "filter", "headroom", "ecn"];

    fn full_name(name: &str) -> Result<String, serde_json::Error> {
        TransportConfig::full_name(name)
    }

    fn check(&self) -> Result<(), ConfigError> {
        TransportConfig::check(self)
    }
}

impl Law for QueueConfig {
    const WHAT: &'static str = "queue";
    const TAG: &'static str = DisciplineConfig::TAG;
    const OWN_MEANING: &'static [&'static str] = &["alpha", "beta", "gamma", "interval"];

    fn full_name(name: &str) -> Result<String, serde_json::Error> {
        DisciplineConfig::full_name(name)
    }

    fn complete(table: &mut Map<String, Value>) {
        table.entry(Self::TAG).or_insert_with(|| Value::from("drop-tail"));
        // Values that depend on the path are checked once the path is known. Here, any capacity serves.
        if table.get(CAPACITY).is_none_or(|capacity| capacity.get("bdp").is_some()) {
            table.insert(CAPACITY.to_owned(), json!({ "packets": u32::MAX }));
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        QueueConfig::check(self)
    }
}

impl Law for MediumConfig {
    const WHAT: &'static str = MediumConfig::WHAT;
    const TAG: &'static str = MediumConfig::TAG;

    fn full_name(name: &str) -> Result<String, serde_json::Error> {
        MediumConfig::full_name(name)
    }

    fn check(&self) -> Result<(), ConfigError> {
        MediumConfig::check(self)
    }
}

impl Law for PlayoutConfig {
    const WHAT: &'static str = "playout";
    const TAG: &'static str = "strategy";

    fn check(&self) -> Result<(), ConfigError> {
        PlayoutConfig::check(self)
    }
}

const CAPACITY: &str = "capacity";
const PHASE: &str = "phase";

fn holds_percent(value: &Value) -> bool {
    match value {
        Value::String(text) => percent(text).is_some(),
        Value::Array(items) => items.iter().any(holds_percent),
        Value::Object(table) => table.values().any(holds_percent),
        _ => false,
    }
}

/// Replaces ratios written in percent by the numbers that the law has `read`, so that a scenario has one canonical
/// form.
fn write_as_number(value: &mut Value, read: Option<&Value>) {
    match (value, read) {
        (own @ Value::String(_), Some(Value::Number(number))) if holds_percent(own) => {
            *own = Value::Number(number.clone())
        }
        (Value::Array(items), Some(Value::Array(read))) => {
            items.iter_mut().zip(read).for_each(|(item, read)| write_as_number(item, Some(read)));
        }
        (Value::Object(table), Some(read)) => {
            table.iter_mut().for_each(|(key, value)| write_as_number(value, read.get(key)));
        }
        _ => {}
    }
}

/// A buffer in bandwidth-delay products: `{ bdp = 1.0, at-least-packets = 50 }`.
///
/// Packets = `bdp` × rate × round trip / (8 × `packet`), to the nearest whole packet. The rate is the link's (the middle
/// of its range if it is spread). The round trip is a mean over all flows that use this link direction, for data or for
/// feedback. A flow's round trip is the sum of the propagation delays on its routes in both directions, each at the
/// middle of its range. Transmission and queueing times do not count. So the buffer depends on neither the seed nor
/// the transports. For a link without flows, the round trip is twice the link's delay.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BandwidthDelay {
    /// Number of bandwidth-delay products.
    pub bdp: f64,
    /// The buffer is never smaller than this many packets.
    #[serde(default = "default_least_packets")]
    pub at_least_packets: u32,
    /// The packet size that converts bytes to packets; the papers count packets of 1000 bytes.
    #[serde(default = "thousand_bytes")]
    pub packet: Bytes,
    /// A round-trip time that replaces the flows' mean round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<Span>,
}

fn default_least_packets() -> u32 {
    1
}

fn thousand_bytes() -> Bytes {
    Bytes::new(1000)
}

impl Default for BandwidthDelay {
    /// One bandwidth-delay product, but at least 50 packets.
    fn default() -> Self {
        BandwidthDelay { bdp: 1.0, at_least_packets: 50, packet: thousand_bytes(), round_trip: None }
    }
}

/// A law's configuration as written in the scenario: a table verified to be one of `T`. A copy is cheap, because flows
/// share the table.
#[derive(Clone, Debug)]
pub struct LawTable<T> {
    written: Arc<Written<T>>,
}

#[derive(Debug)]
struct Written<T> {
    table: Map<String, Value>,
    /// The table as the law's type, including the defaults of the language. Filled on first use, with the generation of
    /// laws ([`generation`]) in which it was read.
    law: OnceLock<(u64, T)>,
}

impl<T> PartialEq for LawTable<T> {
    fn eq(&self, other: &Self) -> bool {
        self.written.table == other.written.table
    }
}

impl<T: Law> LawTable<T> {
    /// Wraps a verified table.
    fn known(table: Map<String, Value>) -> Self {
        LawTable { written: Arc::new(Written { table, law: OnceLock::new() }) }
    }

    fn checked(mut table: Map<String, Value>) -> Result<Self, serde_json::Error> {
        if let Some(Value::String(name)) = table.get_mut(T::TAG) {
            *name = T::full_name(name)?;
        }
        let mut whole = table.clone();
        T::complete(&mut whole);
        let generation = generation();
        let law = serde_json::from_value::<T>(Value::Object(whole))?;
        if table.values().any(holds_percent) {
            let read = serde_json::to_value(&law)?;
            for (key, value) in &mut table {
                write_as_number(value, read.get(key));
            }
            return Ok(LawTable::known(table));
        }
        Ok(LawTable { written: Arc::new(Written { table, law: OnceLock::from((generation, law)) }) })
    }

    /// The key of this table whose value the law rejects. `None` if the law accepts all, or cannot be read because a
    /// key is missing.
    pub(crate) fn refused_key(table: &Map<String, Value>) -> Option<String> {
        let mut whole = table.clone();
        T::complete(&mut whole);
        let error = serde_json::from_value::<T>(Value::Object(whole)).ok()?.check().err()?;
        error.key.split('.').next().map(str::to_owned)
    }

    /// Converts a configuration to its written form.
    ///
    /// # Errors
    /// Numbers that JSON cannot represent (NaN, infinity).
    pub fn from_law(law: &T) -> Result<Self, serde_json::Error> {
        match serde_json::to_value(law)? {
            Value::Object(mut table) => {
                table.retain(|_, value| !value.is_null());
                Self::checked(table)
            }
            other => Err(serde_json::Error::custom(format!("`{other}` is not a table"))),
        }
    }

    /// The table as written.
    pub fn table(&self) -> &Map<String, Value> {
        &self.written.table
    }

    /// The law's name: `drop-tail`, `bernoulli`, `udp`.
    pub fn name(&self) -> &str {
        self.table().get(T::TAG).and_then(Value::as_str).unwrap_or("")
    }

    /// Returns the table with all parameters of the law, so that equal configurations have equal text. Values that
    /// depend on the rest of the scenario stay as written.
    pub(crate) fn spelled_out(&self) -> Self {
        let mut law = self.resolve().and_then(|law| serde_json::to_value(law)).unwrap_or_default();
        let Some(table) = law.as_object_mut() else { return self.clone() };
        table.retain(|_, value| !value.is_null());
        if T::TAG == QueueConfig::TAG
            && let Ok(queue) = serde_json::from_value::<LawTable<QueueConfig>>(Value::Object(self.table().clone()))
            && let Some(buffer) = queue.bandwidth_delay()
            && let Ok(capacity) = serde_json::to_value(buffer)
        {
            table.insert(CAPACITY.to_owned(), capacity);
        }
        LawTable::known(table.clone())
    }

    /// The law's configuration, including the defaults of the language.
    pub(crate) fn resolve(&self) -> Result<T, serde_json::Error> {
        let generation = generation();
        if let Some((read_in, law)) = self.written.law.get()
            && *read_in == generation
        {
            return Ok(law.clone());
        }
        let law = self.adjusted(|_| ())?;
        // A value read in an earlier generation stays in the cell, unused.
        self.written.law.get_or_init(|| (generation, law.clone()));
        Ok(law)
    }

    /// Resolves the table after `adjust` has set further keys.
    fn adjusted(&self, adjust: impl FnOnce(&mut Map<String, Value>)) -> Result<T, serde_json::Error> {
        let mut whole = self.table().clone();
        adjust(&mut whole);
        T::complete(&mut whole);
        serde_json::from_value(Value::Object(whole))
    }
}

impl LawTable<QueueConfig> {
    /// The buffer in bandwidth-delay products. `None` if its size is given in packets or bytes.
    pub fn bandwidth_delay(&self) -> Option<BandwidthDelay> {
        match self.table().get(CAPACITY) {
            None => Some(BandwidthDelay::default()),
            Some(capacity) if capacity.get("bdp").is_some() => serde_json::from_value(capacity.clone()).ok(),
            Some(_) => None,
        }
    }

    /// The configuration with a buffer of `packets`, for buffers whose size depends on the path.
    pub(crate) fn with_packets(&self, packets: u32) -> Result<QueueConfig, serde_json::Error> {
        self.adjusted(|table| {
            table.insert(CAPACITY.to_owned(), json!({ "packets": packets }));
        })
    }
}

impl Default for LawTable<QueueConfig> {
    /// Drop-tail with the default buffer: [`BandwidthDelay::default`].
    fn default() -> Self {
        LawTable::known(QueueConfig::from_name("drop-tail"))
    }
}

impl Default for LawTable<LossConfig> {
    fn default() -> Self {
        LawTable::known(LossConfig::from_name("none"))
    }
}

const STEPS: &str = "steps";

impl<T: Law> Serialize for LawTable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.table().get(STEPS) {
            Some(steps) if T::OF_A_LIST == Some(self.name()) && self.table().len() == 2 => steps.serialize(serializer),
            _ => self.table().serialize(serializer),
        }
    }
}

impl<'de, T: Law> Deserialize<'de> for LawTable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms<T>(PhantomData<T>);
        impl<'de, T: Law> serde::de::Visitor<'de> for Forms<T> {
            type Value = Map<String, Value>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let ratio = if T::from_ratio(0.0).is_some() { ", or percent such as `\"2 %\"`" } else { "" };
                write!(f, "the name of a {}, or a table with `{}`{ratio}", T::WHAT, T::TAG)
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
                match percent(name) {
                    Some(percent) if T::from_ratio(0.0).is_some() => self.visit_f64(percent / 100.0),
                    _ => Ok(T::from_name(name)),
                }
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
                self.visit_f64(number as f64)
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
                self.visit_f64(number as f64)
            }
            fn visit_f64<E: serde::de::Error>(self, ratio: f64) -> Result<Self::Value, E> {
                match T::from_ratio(ratio) {
                    Some(table) => table.map_err(E::custom),
                    None => Err(E::invalid_type(serde::de::Unexpected::Float(ratio), &self)),
                }
            }
            fn visit_map<M: serde::de::MapAccess<'de>>(self, map: M) -> Result<Self::Value, M::Error> {
                Map::deserialize(serde::de::value::MapAccessDeserializer::new(map))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                let items = Vec::<Value>::deserialize(serde::de::value::SeqAccessDeserializer::new(seq))?;
                match T::OF_A_LIST.filter(|_| is_schedule(&items)) {
                    Some(law) => Ok(Map::from_iter([
                        (T::TAG.to_owned(), Value::from(law)),
                        (STEPS.to_owned(), Value::Array(items)),
                    ])),
                    None => Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self)),
                }
            }
        }
        let table = deserializer.deserialize_any(Forms::<T>(PhantomData))?;
        if let Some(capacity) = table.get(CAPACITY).filter(|_| T::TAG == QueueConfig::TAG)
            && capacity.get("bdp").is_some()
        {
            BandwidthDelay::deserialize(capacity).map_err(D::Error::custom)?;
        }
        Self::checked(table).map_err(D::Error::custom)
    }
}

impl<T: Law> JsonSchema for LawTable<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Written{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut law = T::json_schema(generator).to_value();
        let capacity = (T::TAG == QueueConfig::TAG).then(
            || json!({ "anyOf": [generator.subschema_for::<Capacity>(), generator.subschema_for::<BandwidthDelay>()] }),
        );
        let mut names = Vec::new();
        for variant in law.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            let name = variant.pointer(&format!("/properties/{}/const", T::TAG)).cloned().unwrap_or_default();
            if let (Some(capacity), Some(own)) = (&capacity, variant.pointer_mut("/properties/capacity")) {
                *own = capacity.clone();
            }
            let one_of_several = variant.get("anyOf").is_some();
            let Some(required) = variant.get_mut("required").and_then(Value::as_array_mut) else { continue };
            required.retain(|key| capacity.is_none() || key != CAPACITY);
            if required.len() <= 1 && !one_of_several {
                names.push(name.clone());
            }
            if name == "drop-tail" {
                required.clear();
            }
        }
        let mut forms = vec![json!({ "enum": names, "description": format!("A {} with its defaults.", T::WHAT) }), law];
        if T::from_ratio(0.0).is_some() {
            let mut ratio = Ratio::json_schema(generator);
            ratio.insert("description".to_owned(), Value::from("Loses each packet with this probability."));
            forms.push(ratio.to_value());
        }
        json_schema!({ "anyOf": forms, "x-own-meaning": T::OWN_MEANING })
    }
}

impl LawTable<TrafficConfig> {
    /// The application's configuration. If the scenario sets no phase, `details` set it.
    pub(crate) fn with_details(&self, details: Details) -> Result<TrafficConfig, serde_json::Error> {
        let traffic = self.resolve()?;
        let like_ns2 = details.like_ns2() && !self.table().contains_key(PHASE);
        match traffic.phase_like_ns2().filter(|_| like_ns2) {
            Some(phase) => {
                let phase = serde_json::to_value(phase)?;
                self.adjusted(|table| {
                    table.insert(PHASE.to_owned(), phase);
                })
            }
            None => Ok(traffic),
        }
    }
}

impl LawTable<TransportConfig> {
    /// The transport's configuration. `details` set the protocol details that the scenario leaves out.
    pub(crate) fn with_details(&self, details: Details) -> Result<TransportConfig, serde_json::Error> {
        let transport = self.resolve()?;
        // RFC and Linux details exist for TCP only. ns-2 has details for other transports, too.
        if !details.like_ns2() && transport.tcp().is_none() {
            return Ok(transport);
        }
        match transport.like_ns2().filter(|(key, _)| !self.table().contains_key(*key)) {
            Some((key, value)) => self.adjusted(|table| {
                let value = if key == "preset" { Value::from(details.name()) } else { value };
                table.insert(key.to_owned(), value);
            }),
            None => Ok(transport),
        }
    }
}

/// The maximum payload of a packet of this transport, bytes.
pub(crate) fn most_payload(traffic: &TrafficConfig, transport: &TransportConfig) -> u64 {
    transport.packet(traffic.is_bulk()).payload.get().max(1)
}

/// The largest packet that a flow sends, bytes on the wire.
pub(crate) fn largest_packet(traffic: &TrafficConfig, transport: &TransportConfig) -> u64 {
    let PacketSize { payload, header } = transport.packet(traffic.is_bulk());
    let (most, header) = (payload.get(), header.get());
    if traffic.is_bulk() || traffic.transfers() {
        return most + header;
    }
    // A unit longer than a packet is segmented.
    first_unit(traffic).map_or(0, |unit| unit.min(most) + header)
}

/// Bytes on the wire of a unit: its payload, plus a header for each of its packets.
pub(crate) fn wire_of_unit(traffic: &TrafficConfig, transport: &TransportConfig) -> u64 {
    let PacketSize { payload, header } = transport.packet(false);
    if let Some(mean) = traffic.mean_payload() {
        let packets = (mean / payload.get().max(1) as f64).max(1.0);
        return (mean + packets * header.get() as f64).round() as u64;
    }
    first_unit(traffic).map_or(0, |unit| unit + unit.div_ceil(payload.get().max(1)).max(1) * header.get())
}

/// Maximum number of comfort noise frames read before the next talkspurt. A longer pause counts as endless.
const MOST_NOISE: usize = 1 << 20;

/// Payload of a source's first unit that is not comfort noise. This unit is representative: all other units of a source
/// have the same size. The exception is video, whose frames are mostly longer than a packet.
fn first_unit(traffic: &TrafficConfig) -> Option<u64> {
    let mut source = Source::new(traffic, Instant::ZERO, Seed(0).stream("size")).ok()?;
    let mut units = std::iter::from_fn(|| source.next_unit()).take(MOST_NOISE);
    units.find(|unit| unit.frame_type != FrameType::Noise).map(|unit| u64::from(unit.payload))
}
