//! Recorded losses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LossLaw, LossModel};
use crate::packet::Packet;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Instant;

/// Repeats recorded losses, packet by packet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("anyOf" = [{ "required": ["pattern"] }, { "required": ["file"] }]))]
pub struct PatternConfig {
    /// One character for each packet that leaves the link: `1` lost, `0` not; blanks are ignored.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pattern: String,
    /// Instead of `pattern`: a file with the pattern; its path is relative to the scenario's folder. Text of 0 and 1, a CSV
    /// table, or an error pattern of ITU-T G.191 (see docs/scenario-language.md).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The pattern begins again at its end; if false, no packet is lost after its end. Default true.
    #[serde(default = "repeat")]
    pub repeat: bool,
}

fn repeat() -> bool {
    true
}

impl PatternConfig {
    fn lost_packets(&self) -> Result<Box<[bool]>, ConfigError> {
        let refuse =
            |value: String, allowed: &str| ConfigError::new("pattern", value, allowed, "pattern = \"0000100000\"");
        let lost = (self.pattern.chars())
            .filter(|c| !c.is_whitespace())
            .map(|c| match c {
                '0' => Ok(false),
                '1' => Ok(true),
                other => Err(refuse(format!("`{other}`"), "made of 0 (arrives) and 1 (lost)")),
            })
            .collect::<Result<Box<[bool]>, ConfigError>>()?;
        if lost.is_empty() {
            return Err(refuse("empty".to_owned(), "at least one packet long"));
        }
        Ok(lost)
    }
}

impl Checked for PatternConfig {
    fn check(&self) -> Result<(), ConfigError> {
        match &self.file {
            Some(file) if self.pattern.is_empty() && !file.is_empty() => Ok(()),
            Some(file) => {
                let allowed = "the name of a file, without a `pattern`";
                Err(ConfigError::new("file", format!("`{file}`"), allowed, "file = \"losses.txt\""))
            }
            None => self.lost_packets().map(|_| ()),
        }
    }
}

impl Law for PatternConfig {
    const NAME: &'static str = "pattern";
    const EXAMPLE: &'static str = r#"{"pattern": "0000100001"}"#;
}

impl LossLaw for PatternConfig {
    type Model = Pattern;

    fn model(&self, _stream: Stream) -> Result<Pattern, ConfigError> {
        if let Some(file) = &self.file {
            // A law reads no files; the scenario reader writes their contents into `pattern`.
            let allowed = "read beforehand: `fairwave` does so, and `fairwave.load` in Python";
            return Err(ConfigError::new("file", format!("`{file}`"), allowed, "pattern = \"0000100000\""));
        }
        Ok(Pattern { lost: self.lost_packets()?, next: 0, repeat: self.repeat })
    }
}

/// State of a recorded pattern.
pub struct Pattern {
    lost: Box<[bool]>,
    next: usize,
    repeat: bool,
}

impl LossModel for Pattern {
    fn lost(&mut self, _now: Instant, _packet: &Packet) -> bool {
        if self.next == self.lost.len() && self.repeat {
            self.next = 0;
        }
        let answer = self.lost.get(self.next).copied().unwrap_or(false);
        self.next = (self.next + 1).min(self.lost.len());
        answer
    }
}
