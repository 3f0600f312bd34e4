//! Ratios: probabilities, shares and fractions. A scenario writes them as a number (`0.02`) or in percent
//! (`"2 %"`). Laws use the number.
//!
//! `#[serde(with = "Ratio")]` marks a field as a ratio: it reads both forms and describes both in the JSON Schema.
//! The law checks the range of the value, as for any number.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Serde adapter for a ratio.
#[derive(Clone, Copy, Debug)]
pub struct Ratio;

/// Serde adapter for an optional ratio.
#[derive(Clone, Copy, Debug)]
pub struct OptionalRatio;

/// Serde adapter for a list of ratios.
#[derive(Clone, Copy, Debug)]
pub struct Ratios;

/// Serde adapter for a percentage: `60` or `"60 %"`.
#[derive(Clone, Copy, Debug)]
pub struct Percent;

/// Returns the number before a percent sign: 2 for `2 %`. Returns `None` for any other text.
pub fn percent(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim_end();
    // Rust also parses `inf` and `NaN`; a scenario must not.
    let plain = number.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | 'e' | 'E'));
    number.parse().ok().filter(|_| plain)
}

/// A ratio read from a number or a percentage.
#[derive(Clone, Copy)]
struct ParsedRatio(f64);

impl<'de> Deserialize<'de> for ParsedRatio {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl Visitor<'_> for Forms {
            type Value = ParsedRatio;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number such as `0.02`, or percent such as `\"2 %\"`")
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<ParsedRatio, E> {
                Ok(ParsedRatio(number))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<ParsedRatio, E> {
                Ok(ParsedRatio(number as f64))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<ParsedRatio, E> {
                Ok(ParsedRatio(number as f64))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<ParsedRatio, E> {
                match percent(text) {
                    Some(percent) => Ok(ParsedRatio(percent / 100.0)),
                    None => Err(E::invalid_type(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl Ratio {
    /// Reads a ratio.
    ///
    /// # Errors
    /// If the value is neither a number nor a percentage.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        ParsedRatio::deserialize(deserializer).map(|ParsedRatio(ratio)| ratio)
    }

    /// Writes a ratio as a number.
    ///
    /// # Errors
    /// If the serializer fails.
    pub fn serialize<S: Serializer>(ratio: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        ratio.serialize(serializer)
    }
}

impl Percent {
    /// Reads a percentage.
    ///
    /// # Errors
    /// If the value is neither a number nor a percentage.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        struct Forms;
        impl Visitor<'_> for Forms {
            type Value = f64;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of percent, such as `60` or `\"60 %\"`")
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
                Ok(number)
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
                Ok(number as f64)
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<f64, E> {
                Ok(number as f64)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
                percent(text).ok_or_else(|| E::invalid_type(serde::de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Forms)
    }

    /// Writes a percentage as a number.
    ///
    /// # Errors
    /// If the serializer fails.
    pub fn serialize<S: Serializer>(percent: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        percent.serialize(serializer)
    }
}

impl OptionalRatio {
    /// Like [`Ratio::deserialize`], for an optional value.
    ///
    /// # Errors
    /// If the value is neither a number nor a percentage.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<ParsedRatio>::deserialize(deserializer)?.map(|ParsedRatio(ratio)| ratio))
    }

    /// Like [`Ratio::serialize`], for an optional value.
    ///
    /// # Errors
    /// If the serializer fails.
    pub fn serialize<S: Serializer>(ratio: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        ratio.serialize(serializer)
    }
}

impl Ratios {
    /// Like [`Ratio::deserialize`], for each element of a list.
    ///
    /// # Errors
    /// If an element is neither a number nor a percentage.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<ParsedRatio>::deserialize(deserializer)?.into_iter().map(|ParsedRatio(ratio)| ratio).collect())
    }

    /// Like [`Ratio::serialize`], for each element of a list.
    ///
    /// # Errors
    /// If the serializer fails.
    pub fn serialize<S: Serializer>(ratios: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        ratios.serialize(serializer)
    }
}

/// Pattern for percentages in the JSON Schema.
const PATTERN: &str = r"^\s*[-+0-9.eE]+\s*%\s*$";

macro_rules! described {
    ($Type:ident: $schema:tt) => {
        impl JsonSchema for $Type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($Type).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

described!(Percent: { "type": ["number", "string"], "format": "double", "pattern": PATTERN });
described!(Ratio: { "type": ["number", "string"], "format": "double", "pattern": PATTERN });
described!(OptionalRatio: { "type": ["number", "string", "null"], "format": "double", "pattern": PATTERN });
described!(Ratios: {
    "type": "array",
    "items": { "type": ["number", "string"], "format": "double", "pattern": PATTERN },
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_is_a_number_and_a_percent_sign() {
        for (text, number) in [("2 %", 2.0), ("0.5%", 0.5), (" 100 % ", 100.0), ("1e-3 %", 1e-3), ("-1 %", -1.0)] {
            assert_eq!(percent(text), Some(number), "{text}");
        }
        for text in ["2", "%", "two %", "2 % %", "inf %", "NaN %", "2 ppm", ""] {
            assert_eq!(percent(text), None, "{text}");
        }
    }

    #[test]
    fn a_ratio_is_read_from_both_forms_and_written_as_a_number() {
        #[derive(Serialize, Deserialize)]
        struct Law {
            #[serde(with = "Ratio")]
            share: f64,
            #[serde(default, with = "OptionalRatio")]
            weight: Option<f64>,
            #[serde(with = "Ratios")]
            levels: Vec<f64>,
        }
        let law: Law = serde_json::from_str(r#"{ "share": "2 %", "levels": ["90 %", 1, 0.5] }"#).expect("a law");
        assert_eq!((law.share, law.weight, law.levels.as_slice()), (0.02, None, &[0.9, 1.0, 0.5][..]));
        let law: Law = serde_json::from_str(r#"{ "share": 1, "weight": "0.2 %", "levels": [] }"#).expect("a law");
        assert_eq!((law.share, law.weight), (1.0, Some(0.002)));
        let written = serde_json::to_string(&law).expect("JSON");
        assert_eq!(written, r#"{"share":1.0,"weight":0.002,"levels":[]}"#);
        let refused = serde_json::from_str::<Law>(r#"{ "share": "much", "levels": [] }"#).err().expect("no ratio");
        assert!(refused.to_string().contains("expected a number such as `0.02`, or percent"), "{refused}");
    }
}
