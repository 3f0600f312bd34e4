//! A link's delay as written: `"10 ms"`, a range spread over a template's links, or a schedule.

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

/// A link's delay as written.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum WrittenDelay {
    /// One delay for the whole run, the same for all links of a template or spread over them.
    Constant(FixedOrSpread<Span>),
    /// A schedule: `[{ at = "0 s", is = "10 ms" }, …]`.
    Steps(Vec<Step<Span>>),
    /// A schedule as a table, with options.
    Schedule(DelaySchedule),
}

/// A schedule of delays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DelaySchedule {
    /// The delays in ascending order of time, the first at 0 s. A packet takes the delay in force at the end of its transmission.
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
    /// The delay at the start of the run. Its middle value determines buffer sizes.
    pub fn first(&self) -> FixedOrSpread<Span> {
        match self {
            WrittenDelay::Constant(delay) => *delay,
            _ => FixedOrSpread::Fixed(self.steps().first().map_or(Span::ZERO, |step| step.is)),
        }
    }

    /// The steps of a schedule. Empty for a constant delay.
    pub fn steps(&self) -> &[Step<Span>] {
        match self {
            WrittenDelay::Constant(_) => &[],
            WrittenDelay::Steps(steps) | WrittenDelay::Schedule(DelaySchedule { steps, .. }) => steps,
        }
    }

    /// True if packets may overtake each other.
    pub fn overtaking(&self) -> bool {
        matches!(self, WrittenDelay::Schedule(DelaySchedule { overtaking: true, .. }))
    }

    /// Returns the canonical form, so that equal delays have equal text.
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

/// True if a list consists of steps, not of values.
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
