//! Version of the scenario language. A scenario may state it as `version = "0.1"`, and the reader compares it with [`LANGUAGE`].
//!
//! The version of the language is the major and minor number of the release that last added, renamed or removed a key. A release
//! without such a change keeps the version of the language.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::error::Problem;
use crate::path::Path;
use crate::tree::{Data, Tree};

/// A version of the language: major and minor number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

/// All versions of the language, oldest first.
pub const VERSIONS: &[Version] = &[LANGUAGE];

/// The version of the language that this crate reads and writes.
pub const LANGUAGE: Version = Version::new(0, 1);

/// The scenario's key that states the version.
pub(crate) const KEY: &str = "version";

impl Version {
    /// Creates a version from its numbers.
    pub const fn new(major: u32, minor: u32) -> Self {
        Version { major, minor }
    }

    /// Reads `MAJOR.MINOR`, each a decimal number without leading zeros. `None` for any other text.
    pub fn from_text(text: &str) -> Option<Self> {
        let number = |digits: &str| {
            let is_plain =
                digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
            digits.parse().ok().filter(|_| is_plain)
        };
        let (major, minor) = text.split_once('.')?;
        Some(Version { major: number(major)?, minor: number(minor)? })
    }
}

impl Default for Version {
    /// The current version: that of a scenario that states none.
    fn default() -> Self {
        LANGUAGE
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let known = value.as_str().and_then(Version::from_text).filter(|version| VERSIONS.contains(version));
        known.ok_or_else(|| {
            D::Error::custom(format!(
                "`{KEY}` is {value}, but must be {}; write for example `{KEY} = \"{LANGUAGE}\"`",
                list_versions()
            ))
        })
    }
}

impl JsonSchema for Version {
    fn schema_name() -> Cow<'static, str> {
        "Version".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let known: Vec<String> = VERSIONS.iter().map(Version::to_string).collect();
        json_schema!({ "description": "A version of the scenario language.", "type": "string", "enum": known })
    }
}

/// `"0.1"`, or all versions with commas.
fn list_versions() -> String {
    VERSIONS.iter().map(|version| format!("\"{version}\"")).collect::<Vec<_>>().join(", ")
}

/// The problem of a scenario in a newer version of the language. The reader reports it alone, because it explains all others.
pub(crate) fn refuse_newer(tree: &Tree) -> Option<Problem> {
    let Data::Scalar(Value::String(text)) = &tree.entry(KEY)?.value.data else { return None };
    let newer = Version::from_text(text).filter(|version| *version > LANGUAGE)?;
    let what = format!("this scenario has version {newer} of the language, but this fairwave reads up to {LANGUAGE}");
    let remedy = format!("update fairwave to {newer} or newer: `pip install --upgrade fairwave`");
    Some(Problem::new(Path::default().key(KEY), what).help(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_two_plain_numbers() {
        assert_eq!(Version::from_text("0.1"), Some(Version::new(0, 1)));
        assert_eq!(Version::from_text("12.30"), Some(Version::new(12, 30)));
        for text in ["", "1", "0.1.0", "v0.1", "0.01", "0.", ".1", "+0.1", "0.1 ", "0,1", "99999999999.0"] {
            assert_eq!(Version::from_text(text), None, "{text}");
        }
    }

    #[test]
    fn versions_are_ordered_by_number() {
        assert!(Version::new(0, 10) > Version::new(0, 9) && Version::new(1, 0) > Version::new(0, 10));
        assert!(VERSIONS.is_sorted() && VERSIONS.last() == Some(&LANGUAGE));
    }

    #[test]
    fn the_language_is_no_newer_than_the_release() {
        let release = env!("CARGO_PKG_VERSION").rsplit_once('.').and_then(|(version, _)| Version::from_text(version));
        assert!(release.is_some_and(|release| LANGUAGE <= release), "{release:?}");
    }
}
