//! A link's rate as written: `"10 Mb/s"`, a range spread over a template's links, or a rate law's table.

use std::borrow::Cow;
use std::fmt;

use fairwave_core::link::RateConfig;
use fairwave_core::timed::Step;
use fairwave_core::units::Rate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::delay::is_schedule;
use crate::law::{Law, LawTable};
use crate::values::{FixedOrSpread, no_range};

/// A link's rate as written.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum WrittenRate {
    /// A constant rate, the same for all links of a template or spread over them.
    Constant(FixedOrSpread<Rate>),
    /// A rate law: `{ law = "…", … }`.
    Law(LawTable<RateConfig>),
}

impl From<Rate> for WrittenRate {
    fn from(rate: Rate) -> Self {
        WrittenRate::Constant(FixedOrSpread::Fixed(rate))
    }
}

impl WrittenRate {
    /// Nominal rate for buffer sizes and estimates. 0 for a law that cannot be read.
    pub fn nominal(&self) -> FixedOrSpread<Rate> {
        match self {
            WrittenRate::Constant(rate) => *rate,
            WrittenRate::Law(law) => {
                FixedOrSpread::Fixed(law.resolve().map_or(Rate::default(), |config| config.nominal()))
            }
        }
    }

    /// Highest rate, for cost estimates. 0 for a law that cannot be read.
    pub(crate) fn highest(&self) -> Rate {
        match self {
            WrittenRate::Constant(rate) => rate.bounds().1,
            WrittenRate::Law(law) => law.resolve().map_or(Rate::default(), |config| config.highest()),
        }
    }

    /// The law's configuration. `None` for constant rates, because each link of a template can have a different one.
    ///
    /// # Errors
    /// A table that the law cannot read.
    pub(crate) fn law(&self) -> Result<Option<RateConfig>, serde_json::Error> {
        match self {
            WrittenRate::Constant(_) => Ok(None),
            WrittenRate::Law(law) => law.resolve().map(Some),
        }
    }

    /// Returns the canonical form, so that equal rates have equal text: all parameters of a law, a constant law as a plain rate.
    pub(crate) fn spelled_out(&self) -> Self {
        match self {
            WrittenRate::Law(law) => match law.resolve() {
                Ok(RateConfig::Constant(constant)) => constant.rate.into(),
                _ => WrittenRate::Law(law.spelled_out()),
            },
            constant => constant.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for WrittenRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = WrittenRate;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a text with a unit, or a table { from, to, spread } or { law, … }, or a list of { at, is }",
                )
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<WrittenRate, E> {
                Rate::deserialize(StrDeserializer::new(text)).map(WrittenRate::from)
            }
            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<WrittenRate, M::Error> {
                let table = Map::<String, Value>::deserialize(MapAccessDeserializer::new(map))?;
                let named = table.contains_key(<RateConfig as Law>::TAG);
                let table = Value::Object(table);
                if named {
                    serde_json::from_value(table).map(WrittenRate::Law).map_err(M::Error::custom)
                } else {
                    serde_json::from_value(table).map(WrittenRate::Constant).map_err(M::Error::custom)
                }
            }
            fn visit_seq<S: SeqAccess<'de>>(self, seq: S) -> Result<WrittenRate, S::Error> {
                let items = Vec::<Value>::deserialize(SeqAccessDeserializer::new(seq))?;
                if !is_schedule(&items) {
                    return Err(S::Error::custom(no_range(&items)));
                }
                serde_json::from_value(Value::Array(items)).map(WrittenRate::Law).map_err(S::Error::custom)
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl JsonSchema for WrittenRate {
    fn schema_name() -> Cow<'static, str> {
        "WrittenRate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One rate for all, a range over which it is spread, one after the other, or a rate law.",
            "anyOf": [
                generator.subschema_for::<FixedOrSpread<Rate>>(),
                generator.subschema_for::<Vec<Step<Rate>>>(),
                generator.subschema_for::<RateConfig>(),
            ],
        })
    }
}
