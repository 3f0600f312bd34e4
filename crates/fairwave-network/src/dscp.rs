//! Differentiated services code points: the six bits of the IP header that select a service class (RFC 2474).
//!
//! Names follow the registry: class selectors (RFC 2474 §4.2.2), assured forwarding (RFC 2597), expedited forwarding (RFC
//! 3246), voice-admit (RFC 5865) and lower effort (RFC 8622). RFC 4594 assigns traffic to code points.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A code point, 0 to 63. Scenarios write its name, `"ef"`, or its number, `46`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Dscp(u8);

/// All code points with a name. If several names exist, the first one is used for output.
const NAMES: [(&str, u8); 26] = [
    ("df", 0),
    ("be", 0),
    ("cs0", 0),
    ("le", 1),
    ("cs1", 8),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("cs2", 16),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("cs3", 24),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("cs4", 32),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("cs5", 40),
    ("voice-admit", 44),
    ("va", 44),
    ("ef", 46),
    ("cs6", 48),
    ("cs7", 56),
];

impl Dscp {
    /// Default forwarding (RFC 2474 §4.1): best effort.
    pub const DF: Dscp = Dscp(0);
    /// Lower effort (RFC 8622).
    pub const LE: Dscp = Dscp(1);
    /// Expedited forwarding (RFC 3246): telephony.
    pub const EF: Dscp = Dscp(46);
    /// Number of code points.
    pub const NUMBER: usize = 64;

    /// Returns the code point of a number; `None` above 63.
    pub const fn new(number: u8) -> Option<Dscp> {
        if (number as usize) < Self::NUMBER { Some(Dscp(number)) } else { None }
    }

    /// The number, 0 to 63.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The name, if it has one.
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|(_, number)| *number == self.0).map(|(name, _)| *name)
    }

    /// Parses a name, in upper or lower case, or a number.
    ///
    /// # Errors
    /// A text that describes the allowed values.
    pub fn parse(text: &str) -> Result<Dscp, String> {
        let text = text.trim();
        let named = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, number)| Dscp(*number));
        named.or_else(|| text.parse().ok().and_then(Dscp::new)).ok_or_else(|| {
            format!(
                "`{text}` is no DSCP: write 0 to 63, or a name: df (or be, cs0), le, cs1 to cs7, af11 to af43, ef, voice-admit; for \
                 example `dscp = \"ef\"`"
            )
        })
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Dscp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.name() {
            Some(name) => serializer.serialize_str(name),
            None => serializer.serialize_u8(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Dscp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl serde::de::Visitor<'_> for Forms {
            type Value = Dscp;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a DSCP such as \"ef\", or a number from 0 to 63")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Dscp, E> {
                Dscp::parse(text).map_err(E::custom)
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Dscp, E> {
                Dscp::parse(&number.to_string()).map_err(E::custom)
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Dscp, E> {
                Dscp::parse(&number.to_string()).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl JsonSchema for Dscp {
    fn schema_name() -> Cow<'static, str> {
        "Dscp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        json_schema!({
            "description": "A differentiated services code point: name or number.",
            "anyOf": [{ "type": "string", "enum": names }, { "type": "integer", "minimum": 0, "maximum": 63 }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_registry() {
        // RFC 2597 §6: AFxy is 8 x + 2 y; RFC 2474 §4.2.2.2: CSx is 8 x.
        for class in 1..=4 {
            for precedence in 1..=3 {
                let name = format!("AF{class}{precedence}");
                assert_eq!(Dscp::parse(&name).map(Dscp::get), Ok(8 * class + 2 * precedence), "{name}");
            }
        }
        for class in 0..=7 {
            assert_eq!(Dscp::parse(&format!("cs{class}")).map(Dscp::get), Ok(8 * class));
        }
        for (name, number) in [("ef", 0b10_1110), ("voice-admit", 0b10_1100), ("le", 0b00_0001), ("df", 0)] {
            assert_eq!(Dscp::parse(name).map(Dscp::get), Ok(number), "{name}");
        }
    }

    #[test]
    fn reads_back_the_written_code_point() {
        for number in 0..64 {
            let dscp = Dscp::new(number).expect("in range");
            let written = serde_json::to_value(dscp).expect("written");
            assert_eq!(serde_json::from_value::<Dscp>(written).expect("read"), dscp);
            assert_eq!(serde_json::from_value::<Dscp>(number.into()).expect("a number"), dscp);
            assert_eq!(Dscp::parse(&dscp.to_string()), Ok(dscp));
        }
        assert_eq!(Dscp::new(64), None);
    }

    #[test]
    fn rejects_unknown_code_points_and_lists_the_known_ones() {
        for wrong in ["\"gold\"", "64", "-1", "\"af14\"", "\"\"", "\"64\""] {
            let said = serde_json::from_str::<Dscp>(wrong).expect_err(wrong).to_string();
            assert!(said.contains("0 to 63") && said.contains("ef"), "{said}");
        }
        for wrong in ["1.5", "true", "[46]", "{}", "null"] {
            assert!(serde_json::from_str::<Dscp>(wrong).is_err(), "{wrong}");
        }
    }
}
