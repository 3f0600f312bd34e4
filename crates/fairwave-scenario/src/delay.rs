//! A link's delay as it is written: `"10 ms"`, a range over which a template's links are spread, or one delay after the other.

use std::borrow::Cow;
use std::fmt;

use fairwave_core::timed::Step;
use fairwave_core::units::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::values::{FixedOrSpread, no_range};

/// A link's delay as it is written.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum WrittenDelay {
    /// The same all the time, for all links of a template or spread over them.
    Constant(FixedOrSpread<Span>),
    /// One after the other: `[{ at = "0 s", is = "10 ms" }, …]`.
    Steps(Vec<Step<Span>>),
    /// The same as a table, which may say more.
    Schedule(DelaySchedule),
}

/// Several delays, one after the other at known times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DelaySchedule {
    /// The delays in ascending order of time, the first from 0 s on. A packet takes the delay that holds at the end of
    /// its transmission.
    pub steps: Vec<Step<Span>>,
    /// After a shorter delay begins, a packet may overtake an earlier one. Default: packets keep their order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overtaking: bool,
}

impl From<FixedOrSpread<Span>> for WrittenDelay {
    fn from(delay: FixedOrSpread<Span>) -> Self {
        WrittenDelay::Constant(delay)
    }
}

impl WrittenDelay {
    /// The delay with which the run begins; buffers are sized by its middle.
    pub fn first(&self) -> FixedOrSpread<Span> {
        match self {
            WrittenDelay::Constant(delay) => *delay,
            _ => FixedOrSpread::Fixed(self.steps().first().map_or(Span::ZERO, |step| step.is)),
        }
    }

    /// The steps of a delay that changes; none of a constant one.
    pub fn steps(&self) -> &[Step<Span>] {
        match self {
            WrittenDelay::Constant(_) => &[],
            WrittenDelay::Steps(steps) | WrittenDelay::Schedule(DelaySchedule { steps, .. }) => steps,
        }
    }

    /// Whether packets may overtake each other.
    pub fn overtaking(&self) -> bool {
        matches!(self, WrittenDelay::Schedule(DelaySchedule { overtaking: true, .. }))
    }

    /// So that what means the same is written the same.
    pub(crate) fn spelled_out(&self) -> Self {
        match self {
            WrittenDelay::Schedule(DelaySchedule { steps, overtaking: false }) => WrittenDelay::Steps(steps.clone()),
            other => other.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for WrittenDelay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = WrittenDelay;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text with a unit, a table { from, to, spread }, or a list of { at, is }")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<WrittenDelay, E> {
                Span::deserialize(StrDeserializer::new(text))
                    .map(|delay| WrittenDelay::Constant(FixedOrSpread::Fixed(delay)))
            }
            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<WrittenDelay, M::Error> {
                let table = Map::<String, Value>::deserialize(MapAccessDeserializer::new(map))?;
                let steps = table.contains_key("steps");
                let table = Value::Object(table);
                if steps {
                    serde_json::from_value(table).map(WrittenDelay::Schedule).map_err(M::Error::custom)
                } else {
                    serde_json::from_value(table).map(WrittenDelay::Constant).map_err(M::Error::custom)
                }
            }
            fn visit_seq<S: SeqAccess<'de>>(self, seq: S) -> Result<WrittenDelay, S::Error> {
                let items = Vec::<Value>::deserialize(SeqAccessDeserializer::new(seq))?;
                if !is_schedule(&items) {
                    return Err(S::Error::custom(no_range(&items)));
                }
                serde_json::from_value(Value::Array(items)).map(WrittenDelay::Steps).map_err(S::Error::custom)
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

/// Whether a list is one of steps, and not of values.
pub(crate) fn is_schedule(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(Value::is_object)
}

impl JsonSchema for WrittenDelay {
    fn schema_name() -> Cow<'static, str> {
        "WrittenDelay".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One delay for all, a range over which it is spread, or one after the other.",
            "anyOf": [
                generator.subschema_for::<FixedOrSpread<Span>>(),
                generator.subschema_for::<Vec<Step<Span>>>(),
                generator.subschema_for::<DelaySchedule>(),
            ],
        })
    }
}
