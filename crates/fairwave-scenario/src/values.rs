//! Values with several forms: text for the usual case, a table for the rest.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use fairwave_core::random::Stream;
use fairwave_core::units::{Instant, Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use serde_json::Value;

/// How values are spread over the members of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spreading {
    /// At equal steps: the first member gets `from`, the last `to`. A single member gets the middle.
    Even,
    /// Uniform at random in [`from`, `to`), from the stream with the name of the quantity. Member i gets the same value for any
    /// number of members.
    #[default]
    Random,
}

/// A range over which values are spread.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Spread<T> {
    /// The smallest value.
    pub from: T,
    /// The largest value.
    pub to: T,
    /// At random (the default) or at equal steps.
    #[serde(default)]
    pub spread: Spreading,
}

/// One value for all members, or values spread over them: `"10 ms"` or `{ from = "5 ms", to = "15 ms", spread = "even" }`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum FixedOrSpread<T> {
    /// The same for all.
    Fixed(T),
    /// Different for each.
    Spread(Spread<T>),
}

/// A quantity that can be spread: whole units on a line.
pub trait Spreadable: Copy {
    /// Nanoseconds or bits per second.
    fn to_units(self) -> u64;
    /// Converts units back to the quantity.
    fn from_units(units: u64) -> Self;
}

impl Spreadable for Span {
    fn to_units(self) -> u64 {
        self.nanos()
    }
    fn from_units(units: u64) -> Self {
        Span::from_nanos(units)
    }
}

impl Spreadable for Rate {
    fn to_units(self) -> u64 {
        self.bits_per_second()
    }
    fn from_units(units: u64) -> Self {
        Rate::from_bits_per_second(units)
    }
}

impl<T: Spreadable> Spread<T> {
    /// The value of member `index` of `count`. A random spread draws from `stream`.
    pub fn value(&self, index: u64, count: u64, stream: &mut Stream) -> T {
        let (from, to) = (self.from.to_units(), self.to.to_units());
        let width = to.saturating_sub(from);
        T::from_units(match self.spread {
            Spreading::Random => from + stream.uniform_below(width),
            Spreading::Even if count <= 1 => from + width / 2,
            Spreading::Even => {
                from + (u128::from(width) * u128::from(index.min(count - 1)) / u128::from(count - 1)) as u64
            }
        })
    }
}

impl<T: Spreadable> FixedOrSpread<T> {
    /// The value of member `index` of `count`.
    pub fn value(&self, index: u64, count: u64, stream: &mut Stream) -> T {
        match self {
            FixedOrSpread::Fixed(value) => *value,
            FixedOrSpread::Spread(spread) => spread.value(index, count, stream),
        }
    }

    /// The middle of the range. Buffers are sized by it, so that they do not depend on the seed.
    pub fn middle(&self) -> T {
        match self {
            FixedOrSpread::Fixed(value) => *value,
            FixedOrSpread::Spread(Spread { from, to, .. }) => {
                let (from, to) = (from.to_units(), to.to_units());
                T::from_units(from + to.saturating_sub(from) / 2)
            }
        }
    }

    /// Smallest and largest value.
    pub fn bounds(&self) -> (T, T) {
        match self {
            FixedOrSpread::Fixed(value) => (*value, *value),
            FixedOrSpread::Spread(spread) => (spread.from, spread.to),
        }
    }
}

/// Start times of a group's flows, from the beginning of the run: `"1 s"` for all at once, a spread `{ from = "0 s", to = "5 s" }`,
/// or `{ every = "10 ms", from = "1 s" }` for flow i at `from` + i·`every`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Start {
    /// All at the same time.
    At(Span),
    /// Spread over a range of time.
    Spread(Spread<Span>),
    /// One after the other.
    Every(StaggeredStart),
}

/// One flow after the other.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct StaggeredStart {
    /// Time between two starts.
    pub every: Span,
    /// Start time of flow 0.
    pub from: Span,
}

impl Default for Start {
    fn default() -> Self {
        Start::At(Span::ZERO)
    }
}

impl Start {
    /// Start time of member `index` of `count`.
    pub fn instant(&self, index: u64, count: u64, stream: &mut Stream) -> Instant {
        Instant::ZERO
            + match self {
                Start::At(at) => *at,
                Start::Spread(spread) => spread.value(index, count, stream),
                Start::Every(StaggeredStart { every, from }) => *from + *every * index,
            }
    }

    /// The latest start among `count` members.
    pub fn latest(&self, count: u64) -> Span {
        match self {
            Start::At(at) => *at,
            Start::Spread(spread) => spread.to,
            Start::Every(StaggeredStart { every, from }) => *from + *every * count.saturating_sub(1),
        }
    }
}

/// The keys of all table forms of a start time.
#[derive(DeriveDeserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct StartTable {
    /// First start.
    from: Option<Span>,
    /// Last start, for a spread.
    to: Option<Span>,
    /// How the values are spread.
    spread: Option<Spreading>,
    /// Time between two starts.
    every: Option<Span>,
}

impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let what = "a time such as \"1 s\", or a table { from, to } or { every }";
        match text_or::<Span, StartTable, D>(deserializer, what)? {
            TextOrTable::Text(at) => Ok(Start::At(at)),
            TextOrTable::Other(StartTable { every: Some(every), to: None, spread: None, from }) => {
                Ok(Start::Every(StaggeredStart { every, from: from.unwrap_or_default() }))
            }
            TextOrTable::Other(StartTable { every: None, from: Some(from), to: Some(to), spread }) => {
                Ok(Start::Spread(Spread { from, to, spread: spread.unwrap_or_default() }))
            }
            TextOrTable::Other(_) => Err(D::Error::custom(
                "a start is { from, to } with an optional spread, or { every } with an optional from; write for example \
                 { from = \"0 s\", to = \"5 s\" } or { every = \"10 ms\" }",
            )),
        }
    }
}

impl JsonSchema for Start {
    fn schema_name() -> Cow<'static, str> {
        "Start".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "When the flows of a group begin: one time, a spread, or one after the other.",
            "anyOf": [generator.subschema_for::<Span>(), generator.subschema_for::<StartTable>()],
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for FixedOrSpread<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let what = "a text with a unit, or a table { from, to, spread }";
        Ok(match text_or::<T, Spread<T>, D>(deserializer, what)? {
            TextOrTable::Text(value) => FixedOrSpread::Fixed(value),
            TextOrTable::Other(spread) => FixedOrSpread::Spread(spread),
        })
    }
}

impl<T: JsonSchema> JsonSchema for FixedOrSpread<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Varied{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One value for all, or a range over which it is spread.",
            "anyOf": [generator.subschema_for::<T>(), generator.subschema_for::<Spread<T>>()],
        })
    }
}

/// Thresholds of timeliness, in ascending order: `"300 ms"`, or a list of them.
#[derive(Clone, PartialEq, Debug)]
pub struct Thresholds(pub Vec<Span>);

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds(vec![Span::from_millis(300)])
    }
}

impl Serialize for Thresholds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [only] => only.serialize(serializer),
            many => many.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Thresholds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match text_or_list::<Span, Span, D>(deserializer, "a time such as \"300 ms\", or a list of times")? {
            TextOrTable::Text(one) => Thresholds(vec![one]),
            TextOrTable::Other(many) => Thresholds(many),
        })
    }
}

impl JsonSchema for Thresholds {
    fn schema_name() -> Cow<'static, str> {
        "Thresholds".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One threshold of timeliness, or several in ascending order; reports quote the first.",
            "anyOf": [generator.subschema_for::<Span>(), generator.subschema_for::<Vec<Span>>()],
        })
    }
}

/// Either the short form or the long one.
pub(crate) enum TextOrTable<A, B> {
    Text(A),
    Other(B),
}

/// Reads text as `A` and a table as `B`. `what` names the expected value in errors. Unlike an untagged enum, it reports the mistake
/// inside the chosen form. Lists are rejected, because serde would fill a table from their values in order.
pub(crate) fn text_or<'de, A, B, D>(deserializer: D, what: &'static str) -> Result<TextOrTable<A, B>, D::Error>
where
    A: Deserialize<'de>,
    B: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct Forms<A, B>(&'static str, PhantomData<(A, B)>);
    impl<'de, A: Deserialize<'de>, B: Deserialize<'de>> Visitor<'de> for Forms<A, B> {
        type Value = TextOrTable<A, B>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            A::deserialize(StrDeserializer::new(text)).map(TextOrTable::Text)
        }
        fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Self::Value, M::Error> {
            B::deserialize(MapAccessDeserializer::new(map)).map(TextOrTable::Other)
        }
        fn visit_seq<S: SeqAccess<'de>>(self, seq: S) -> Result<Self::Value, S::Error> {
            Err(S::Error::custom(no_range(&Vec::deserialize(SeqAccessDeserializer::new(seq))?)))
        }
    }
    deserializer.deserialize_any(Forms(what, PhantomData))
}

/// Like [`text_or`], for a list instead of a table.
fn text_or_list<'de, A, B, D>(deserializer: D, what: &'static str) -> Result<TextOrTable<A, Vec<B>>, D::Error>
where
    A: Deserialize<'de>,
    B: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct Forms<A, B>(&'static str, PhantomData<(A, B)>);
    impl<'de, A: Deserialize<'de>, B: Deserialize<'de>> Visitor<'de> for Forms<A, B> {
        type Value = TextOrTable<A, Vec<B>>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            A::deserialize(StrDeserializer::new(text)).map(TextOrTable::Text)
        }
        fn visit_seq<S: SeqAccess<'de>>(self, seq: S) -> Result<Self::Value, S::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(seq)).map(TextOrTable::Other)
        }
    }
    deserializer.deserialize_any(Forms(what, PhantomData))
}

/// The error for a list in place of one value or a range. The author of `["1 s", "5 s"]` may mean a range, random or in equal
/// steps, or one value per member.
pub(crate) fn no_range(items: &[Value]) -> String {
    let (from, to) = match items {
        [from, to] => (from.to_string(), to.to_string()),
        _ => ("…".to_owned(), "…".to_owned()),
    };
    format!(
        "a list stands where one value or a range is wanted; write {{ from = {from}, to = {to}, spread = \"even\" }}, or \
         \"random\" to draw each from between; for single values, give each its own entry"
    )
}
