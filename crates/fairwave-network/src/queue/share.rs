//! A rate, either absolute or as a share of the link's rate: `"300 kb/s"`, `"30 %"`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use fairwave_units::config::ConfigError;
use fairwave_units::ratio::percent;
use fairwave_units::units::Rate;

/// A rate, or a share of the link's nominal rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LinkShare {
    /// An absolute rate.
    Rate(Rate),
    /// Percent of the link's nominal rate.
    Percent(f64),
}

impl LinkShare {
    /// The absolute rate on a link of this nominal rate; at least 1 b/s.
    pub fn rate_on(self, link: Rate) -> Rate {
        match self {
            LinkShare::Rate(rate) => rate,
            LinkShare::Percent(percent) => {
                Rate::from_bits_per_second(((link.bits_per_second() as f64 * percent / 100.0) as u64).max(1))
            }
        }
    }

    /// Checks that a rate is above 0, and a share above 0 and at most 100 %.
    pub(super) fn check(self, key: &str, example: &str) -> Result<(), ConfigError> {
        match self {
            LinkShare::Rate(rate) if rate == Rate::default() => {
                Err(ConfigError::new(key, rate, "a rate above 0, or a share of the link's above \"0 %\"", example))
            }
            LinkShare::Percent(share) if !(share > 0.0 && share <= 100.0) => {
                Err(ConfigError::new(key, self, "above \"0 %\", at most \"100 %\"; or a rate", example))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for LinkShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkShare::Rate(rate) => rate.fmt(f),
            LinkShare::Percent(percent) => write!(f, "{percent} %"),
        }
    }
}

impl Serialize for LinkShare {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LinkShare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl serde::de::Visitor<'_> for Forms {
            type Value = LinkShare;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate such as \"300 kb/s\", or a share of the link's such as \"30 %\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<LinkShare, E> {
                match percent(text) {
                    Some(percent) => Ok(LinkShare::Percent(percent)),
                    None => text.parse().map(LinkShare::Rate).map_err(E::custom),
                }
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl JsonSchema for LinkShare {
    fn schema_name() -> Cow<'static, str> {
        "LinkShare".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rate = generator.subschema_for::<Rate>();
        json_schema!({
            "description": "A rate, or a share of the link's in percent: \"30 %\".",
            "anyOf": [rate, { "type": "string", "pattern": "^ *[0-9.]+ *% *$" }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_the_links_rate_and_a_rate_is_what_it_says() {
        let link = Rate::from_bits_per_second(2_000_000);
        for (text, bits) in [("\"30 %\"", 600_000), ("\"300 kb/s\"", 300_000), ("\"12.5%\"", 250_000)] {
            let share: LinkShare = serde_json::from_str(text).expect(text);
            assert_eq!(share.rate_on(link).bits_per_second(), bits, "{text}");
            let written = serde_json::to_value(share).expect("written");
            assert_eq!(serde_json::from_value::<LinkShare>(written).expect("read"), share);
        }
    }

    #[test]
    fn rejects_text_that_is_neither_rate_nor_share() {
        for wrong in ["\"0 %\"", "\"101 %\"", "\"-3 %\"", "\"0 b/s\""] {
            let share = serde_json::from_str::<LinkShare>(wrong);
            assert!(share.is_err() || share.is_ok_and(|share| share.check("rate", "").is_err()), "{wrong}");
        }
        assert!(serde_json::from_str::<LinkShare>("\"fast\"").is_err());
        assert!(serde_json::from_str::<LinkShare>("0.3").is_err());
    }
}
