//! Replay of captured packets, with their times and sizes.
//!
//! Core reads no files: the reader of the scenario reads the capture, and writes the packets of one of its flows into
//! `packets` (`fairwave.replay` in Python).
//!
//! **Assumptions.** The application follows its clock without feedback: packets leave as in the capture, and their fate
//! changes nothing. A payload above the transport's largest is split into several packets.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{FrameType, TrafficLaw, TrafficSource, Unit, Volume};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Span};

/// Repeats captured packets: each at its time, with its size.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("anyOf" = [{ "required": ["packets"] }, { "required": ["file"] }]))]
pub struct ReplayConfig {
    /// Packets in order, separated by blanks: `GAP:PAYLOAD`. The gap is in microseconds since the previous packet (for
    /// the first: since the start of the flow), with up to three decimals; the payload is in bytes. Append `*COUNT` for
    /// several equal packets.
    #[serde(default, skip_serializing_if = "Packets::is_empty")]
    pub packets: Packets,
    /// Capture file (pcap or pcapng) instead of `packets`. The path is relative to the scenario's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Flow of the capture: its number or its name, as listed by `fairwave replay FILE`. Default: the flow with the
    /// most bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the one with the most bytes"))]
    pub select: Option<String>,
    /// Speed relative to the capture, above 0. Default 1.
    #[serde(default = "as_then", skip_serializing_if = "is_as_then")]
    #[schemars(extend("default" = 1.0))]
    pub speed: f64,
}

fn as_then() -> f64 {
    1.0
}

fn is_as_then(speed: &f64) -> bool {
    *speed == 1.0
}

/// Packets as shared text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Packets(Arc<str>);

impl Packets {
    fn is_empty(&self) -> bool {
        self.0.trim().is_empty()
    }

    fn entries(&self) -> impl Iterator<Item = Result<Entry, ConfigError>> + '_ {
        self.0.split_ascii_whitespace().map(|word| {
            Entry::read(word).ok_or_else(|| {
                let allowed = "GAP:PAYLOAD, microseconds and 1 to 4294967295 bytes, and *COUNT behind it or not";
                ConfigError::new("packets", format!("`{word}`"), allowed, "packets = \"0:1200 20000:1200*49\"")
            })
        })
    }
}

impl Serialize for Packets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Packets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Packets(text.into()))
    }
}

impl JsonSchema for Packets {
    fn schema_name() -> Cow<'static, str> {
        "Packets".into()
    }
    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// Run of equal packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    gap: Span,
    payload: u32,
    count: u32,
}

impl Entry {
    fn read(word: &str) -> Option<Self> {
        let (gap, rest) = word.split_once(':')?;
        let (payload, count) = rest.split_once('*').unwrap_or((rest, "1"));
        let (whole, part) = gap.split_once('.').unwrap_or((gap, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || part.len() > 3 || ![whole, part, payload, count].into_iter().all(digits) {
            return None;
        }
        let part: u64 = format!("{part:0<3}").parse().ok()?;
        let nanos = whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(part)?;
        let (payload, count) = (payload.parse().ok()?, count.parse().ok()?);
        (payload > 0 && count > 0).then_some(Entry { gap: Span::from_nanos(nanos), payload, count })
    }
}

impl Checked for ReplayConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_between("speed", self.speed, 0.0, f64::INFINITY, "speed = 1")?;
        match &self.file {
            Some(file) if !self.packets.is_empty() || file.is_empty() => {
                let allowed = "the name of a capture, without `packets`";
                Err(ConfigError::new("file", format!("`{file}`"), allowed, "file = \"last-night.pcapng\""))
            }
            Some(_) => Ok(()),
            None if self.select.is_some() => {
                let value = self.select.clone().unwrap_or_default();
                let allowed = "given with a `file` alone, as it names a flow of a capture";
                Err(ConfigError::new("select", format!("`{value}`"), allowed, "file = \"last-night.pcapng\""))
            }
            None if self.packets.is_empty() => {
                let example = "packets = \"0:1200 20000:1200*49\"";
                Err(ConfigError::new("packets", "empty", "one packet at least, or a `file`", example))
            }
            None => self.packets.entries().try_for_each(|entry| entry.map(|_| ())),
        }
    }
}

impl Law for ReplayConfig {
    const NAME: &'static str = "replay";
    const EXAMPLE: &'static str = r#"{"packets": "0:1200 16667:1200*59"}"#;
}

impl TrafficLaw for ReplayConfig {
    type Source = Replay;

    fn source(&self, start: Instant, _stream: Stream) -> Result<Replay, ConfigError> {
        if let Some(file) = &self.file {
            let allowed = "read beforehand: `fairwave` does so, and `fairwave.load` in Python";
            return Err(ConfigError::new("file", format!("`{file}`"), allowed, "packets = \"0:1200 20000:1200*49\""));
        }
        Ok(Replay {
            packets: self.packets.0.clone(),
            place: 0,
            entry: None,
            speed: self.speed,
            start,
            then: 0,
            next_id: 0,
        })
    }

    fn volume(&self, _lasts: f64) -> Option<Volume> {
        let (mut units, mut payload) = (0.0, 0.0);
        for entry in self.packets.entries().map_while(Result::ok) {
            units += f64::from(entry.count);
            payload += f64::from(entry.count) * f64::from(entry.payload);
        }
        Some(Volume { units, payload })
    }
}

/// Source of captured packets; it parses the text while sending.
#[derive(Clone, PartialEq, Debug)]
pub struct Replay {
    packets: Arc<str>,
    /// Number of bytes of the text that have been parsed.
    place: usize,
    entry: Option<Entry>,
    speed: f64,
    start: Instant,
    /// Capture time of the latest packet, nanoseconds after the start.
    then: u64,
    next_id: u32,
}

impl Replay {
    fn next_entry(&mut self) -> Option<Entry> {
        if let Some(entry) = self.entry.filter(|entry| entry.count > 0) {
            return Some(entry);
        }
        let rest = self.packets.get(self.place..)?;
        let from = rest.find(|c: char| !c.is_ascii_whitespace())?;
        let word = rest.get(from..)?;
        let length = word.find(|c: char| c.is_ascii_whitespace()).unwrap_or(word.len());
        self.place += from + length;
        Entry::read(word.get(..length)?)
    }
}

impl TrafficSource for Replay {
    fn next_unit(&mut self) -> Option<Unit> {
        let entry = self.next_entry()?;
        self.entry = Some(Entry { count: entry.count - 1, ..entry });
        self.then = self.then.saturating_add(entry.gap.nanos());
        let since = Span::from_nanos(self.then);
        let since = if self.speed == 1.0 { since } else { since.scaled(1.0 / self.speed) };
        let created = self.start + since;
        if created == Instant::NEVER {
            return None;
        }
        let unit = Unit { id: self.next_id, payload: entry.payload, created, layer: 0, frame_type: FrameType::None };
        self.next_id = self.next_id.wrapping_add(1);
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn sent(json: &str) -> Vec<(u64, u32)> {
        let config: ReplayConfig = serde_json::from_str(json).expect("a replay");
        config.check().expect("sound");
        let mut source = config.source(Instant::from_seconds(1.0), Seed(1).stream("traffic")).expect("a source");
        std::iter::from_fn(|| source.next_unit())
            .map(|unit| (unit.created.nanos() - 1_000_000_000, unit.payload))
            .collect()
    }

    #[test]
    fn packets_leave_when_and_as_large_as_they_were_and_then_there_are_no_more() {
        let text = r#"{"packets": " 0:1200 20000.125:80*2\n 0.5:7 "}"#;
        assert_eq!(sent(text), [(0, 1200), (20_000_125, 80), (40_000_250, 80), (40_000_750, 7)]);
        let twice = text.replace('}', r#", "speed": 2}"#);
        assert_eq!(sent(&twice).iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 10_000_063, 20_000_125, 20_000_375]);
    }

    #[test]
    fn volume_equals_the_sum_of_the_packets() {
        let config: ReplayConfig = serde_json::from_str(r#"{"packets": "0:100*3 5:50"}"#).expect("a replay");
        assert_eq!(config.volume(1.0), Some(Volume { units: 4.0, payload: 350.0 }));
    }

    #[test]
    fn rejects_a_word_that_is_not_a_packet() {
        for word in ["5", "5:", ":5", "5:0", "-5:1", "5:1*0", "1.2345:1", "5:1*", "a:1", "5:99999999999", "+5:1"] {
            let json = format!(r#"{{"packets": "0:1 {word} 0:1"}}"#);
            let error = serde_json::from_str::<ReplayConfig>(&json).expect("text").check().expect_err(word);
            assert_eq!((error.key.as_str(), error.to_string().contains(word)), ("packets", true), "{error}");
        }
        for (json, key) in [
            ("{}", "packets"),
            (r#"{"packets": "0:1", "file": "a.pcap"}"#, "file"),
            (r#"{"packets": "0:1", "select": "1"}"#, "select"),
            (r#"{"packets": "0:1", "speed": 0}"#, "speed"),
        ] {
            let config: ReplayConfig = serde_json::from_str(json).expect("a replay");
            assert_eq!(config.check().expect_err(json).key, key);
        }
        let unread: ReplayConfig = serde_json::from_str(r#"{"file": "a.pcap"}"#).expect("a replay");
        assert!(unread.check().is_ok() && unread.source(Instant::ZERO, Seed(1).stream("t")).is_err());
    }
}
