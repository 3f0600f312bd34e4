//! Custom codec, described by a scenario.
//!
//! ```toml
//! codec = { rate = "13 kb/s", frame = "20 ms", ie = 20, bpl = 10, source = "our listening test of May" }
//! ```
//!
//! **Assumptions.** The codec has one rate. A frame fills whole octets, and the payload format adds the same header to
//! each packet. Ie and Bpl are those of ITU-T G.107, or of G.107.1 for a wideband codec; without them calls have no
//! rating, because the quality of the codec is unknown.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::noise::NoiseFrames;
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::units::{Bytes, Rate, Span};

/// Parameters of a custom codec.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CodecTable {
    /// Bits per second of speech while talking, above 0. A frame has the least number of whole octets for this rate.
    pub rate: Rate,
    /// Duration of a frame, the smallest unit of speech: a whole number of microseconds, at most 1 s. Default 20 ms.
    #[serde(default = "default_frame")]
    pub frame: Span,
    /// Octets that the payload format adds to each packet of any length. Default 0 B.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub header: Bytes,
    /// Look-ahead of the coder beyond a frame. Default 0 ms.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub look_ahead: Span,
    /// Equipment impairment factor Ie, from 0 to 95 (wideband: Ie,WB, to 129). Give it together with `bpl` and
    /// `source`, or leave out all three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ie: Option<f64>,
    /// Packet-loss robustness factor Bpl, from 1 to 100; larger is more robust.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bpl: Option<f64>,
    /// Source of Ie and Bpl; shown with each rating.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Rates the codec on the wideband scale of the E-model (ITU-T G.107.1). Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wideband: bool,
    /// Sends nothing in silence (discontinuous transmission). Default false: it sends all the time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dtx: bool,
    /// Comfort noise frames, for `comfort-noise`. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseTable>,
    /// Name of the codec. Default its rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Comfort noise frames: they describe the background in pauses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NoiseTable {
    /// Payload of a packet with one frame, from 1 B to 65535 B.
    pub payload: Bytes,
    /// Interval of frames, from a frame of the codec to 1 h; the first is at the start of each pause. Default: only the
    /// first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
}

fn default_frame() -> Span {
    Span::from_millis(20)
}

fn is_nothing(size: &Bytes) -> bool {
    *size == Bytes::ZERO
}

fn is_no_time(time: &Span) -> bool {
    *time == Span::ZERO
}

/// Longest frame of any codec.
const LONGEST_FRAME: Span = Span::from_secs(1);
/// Largest frame that a datagram can carry.
const LARGEST_FRAME: u64 = u16::MAX as u64;

impl CodecTable {
    /// Returns the octets of a frame.
    fn octets(&self) -> u64 {
        let bits = u128::from(self.rate.bits_per_second()) * u128::from(self.frame.nanos());
        u64::try_from(bits.div_ceil(8_000_000_000)).unwrap_or(u64::MAX)
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn check(&self) -> Result<(), ConfigError> {
        let refuse = |key: &str, value: String, allowed: &str, example: &str| {
            Err(ConfigError::new(format!("codec.{key}"), value, allowed, example))
        };
        if self.rate == Rate::default() {
            return refuse("rate", self.rate.to_string(), "a rate above 0", "rate = \"24 kb/s\"");
        }
        check_span("frame", self.frame, "frame = \"20 ms\"").map_err(|error| error.nested_in("codec"))?;
        if self.frame > LONGEST_FRAME || !self.frame.nanos().is_multiple_of(1000) {
            let allowed = "a whole number of microseconds, at most 1 s";
            return refuse("frame", self.frame.to_string(), allowed, "frame = \"20 ms\"");
        }
        if self.octets() > LARGEST_FRAME {
            let value = format!("{} ({} B in a frame of {})", self.rate, self.octets(), self.frame);
            return refuse("rate", value, "such that a frame has at most 65535 B", "rate = \"24 kb/s\"");
        }
        if self.header.get() > LARGEST_FRAME {
            return refuse("header", self.header.to_string(), "from 0 B to 65535 B", "header = \"1 B\"");
        }
        if self.look_ahead > LONGEST_FRAME {
            return refuse("look-ahead", self.look_ahead.to_string(), "from 0 ms to 1 s", "look-ahead = \"5 ms\"");
        }
        let most = if self.wideband { 129.0 } else { 95.0 };
        if let Some(ie) = self.ie.filter(|ie| !(0.0..=most).contains(ie)) {
            return refuse("ie", ie.to_string(), &format!("from 0 to {most}"), "ie = 11");
        }
        if let Some(bpl) = self.bpl.filter(|bpl| !(1.0..=100.0).contains(bpl)) {
            return refuse("bpl", bpl.to_string(), "from 1 to 100", "bpl = 19");
        }
        if let Some(NoiseTable { payload, every }) = &self.noise {
            if !(1..=LARGEST_FRAME).contains(&payload.get()) {
                return refuse("noise.payload", payload.to_string(), "from 1 B to 65535 B", "payload = \"6 B\"");
            }
            if let Some(every) = every.filter(|every| !(self.frame..=Span::from_secs(3600)).contains(every)) {
                let allowed = format!("from a frame ({}) to 1 h", self.frame);
                return refuse("noise.every", every.to_string(), &allowed, "every = \"160 ms\"");
            }
        }
        let together = "given with `ie`, `bpl` and `source`, or none of the three";
        let (ie, bpl) = (self.ie.is_some(), self.bpl.is_some());
        match self.source.as_deref().map(str::trim) {
            Some("") => refuse("source", "empty".to_owned(), together, "source = \"ITU-T G.113\""),
            None if ie || bpl => refuse("source", "missing".to_owned(), together, "source = \"ITU-T G.113\""),
            Some(_) if !ie => refuse("ie", "missing".to_owned(), together, "ie = 11"),
            Some(_) if !bpl => refuse("bpl", "missing".to_owned(), together, "bpl = 19"),
            _ => Ok(()),
        }
    }
}

/// Properties of a custom codec. Each distinct codec is kept until the program ends.
#[derive(Debug)]
struct CodecNumbers {
    table: CodecTable,
    label: String,
    octets: u64,
    micros: u64,
}

/// A custom codec.
#[derive(Clone, Copy, Debug)]
pub struct OtherCodec(&'static CodecNumbers);

static KNOWN: Mutex<BTreeMap<String, &'static CodecNumbers>> = Mutex::new(BTreeMap::new());

impl OtherCodec {
    /// Returns the codec of this table. Equal tables yield the same codec.
    pub(super) fn new(table: CodecTable) -> Self {
        let key = format!("{table:?}");
        let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        OtherCodec(all.entry(key).or_insert_with(|| {
            let label = table.name.clone().unwrap_or_else(|| format!("codec of {}", table.rate));
            let (octets, micros) = (table.octets().max(1), (table.frame.nanos() / 1000).max(1));
            Box::leak(Box::new(CodecNumbers { table, label, octets, micros }))
        }))
    }

    /// Returns the table in the scenario.
    pub const fn table(self) -> &'static CodecTable {
        &self.0.table
    }

    pub(super) const fn label(self) -> &'static str {
        self.0.label.as_str()
    }

    pub(super) const fn octets(self) -> u64 {
        self.0.octets
    }

    pub(super) const fn frame_micros(self) -> u64 {
        self.0.micros
    }

    pub(super) const fn header(self) -> u64 {
        self.0.table.header.get()
    }

    pub(super) const fn look_ahead(self) -> Span {
        self.0.table.look_ahead
    }

    pub(super) const fn has_discontinuous_transmission(self) -> bool {
        self.0.table.dtx
    }

    pub(super) fn noise(self) -> Option<NoiseFrames> {
        let table = self.0.table.noise.as_ref()?;
        Some(NoiseFrames { payload: table.payload, first: Span::ZERO, second: None, every: table.every })
    }

    /// Checks whether the codec is rated on the wideband scale.
    pub const fn is_wideband(self) -> bool {
        self.0.table.wideband
    }

    /// Returns 20 ms of whole frames, or one longer frame.
    pub(super) const fn packet_time(self) -> Span {
        let frames = 20_000 / self.0.micros;
        Span::from_micros(self.0.micros * if frames == 0 { 1 } else { frames })
    }
}

impl PartialEq for OtherCodec {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for OtherCodec {}

impl Hash for OtherCodec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.label.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Codec;

    fn codec(json: &str) -> Codec {
        serde_json::from_str(json).expect("a codec")
    }

    #[test]
    fn a_codec_by_its_numbers_has_the_packets_that_follow_from_them() {
        let own = codec(r#"{"rate":"13 kb/s","frame":"10 ms","header":"2 B","look-ahead":"3 ms"}"#);
        // 130 bits need 17 octets; two frames make 20 ms.
        assert_eq!(own.frame(), (Bytes::new(2 + 17), Span::from_millis(10)));
        assert_eq!(own.default_packet_time(), Span::from_millis(20));
        assert_eq!((own.payload(2), own.frames_in(Bytes::new(36))), (Bytes::new(36), Some(2)));
        assert_eq!((own.look_ahead(), own.rtp()), (Span::from_millis(3), (96, 8000)));
        assert_eq!((own.name(), own.has_discontinuous_transmission()), ("codec of 13 kb/s", false));
        let long = codec(r#"{"rate":"4 kb/s","frame":"60 ms","wideband":true,"dtx":true,"name":"mine"}"#);
        assert_eq!((long.default_packet_time(), long.rtp()), (Span::from_millis(60), (96, 16_000)));
        assert_eq!((long.name(), long.has_discontinuous_transmission()), ("mine", true));
    }

    #[test]
    fn equal_tables_are_one_codec_and_what_is_read_is_written_again() {
        let text = r#"{"rate":"24 kb/s","frame":"20 ms","ie":5.0,"bpl":12.0,"source":"a test"}"#;
        assert_eq!(codec(text), codec(text));
        assert_ne!(codec(text), codec(&text.replace("12.0", "13.0")));
        assert_eq!(codec(&serde_json::to_string(&codec(text)).expect("text")), codec(text));
        assert_eq!(serde_json::to_value(Codec::G729).expect("text"), "g729");
    }

    #[test]
    fn a_codec_that_makes_no_sense_is_refused_by_its_key() {
        for (more, key) in [
            (r#""rate":"0 b/s""#, "rate"),
            (r#""rate":"30 Mb/s""#, "rate"),
            (r#""rate":"8 kb/s","frame":"0 ms""#, "frame"),
            (r#""rate":"8 kb/s","frame":"1500 ns""#, "frame"),
            (r#""rate":"8 kb/s","frame":"2 s""#, "frame"),
            (r#""rate":"8 kb/s","header":"70 kB""#, "header"),
            (r#""rate":"8 kb/s","look-ahead":"2 s""#, "look-ahead"),
            (r#""rate":"8 kb/s","ie":96,"bpl":10,"source":"x""#, "ie"),
            (r#""rate":"8 kb/s","ie":10,"bpl":0,"source":"x""#, "bpl"),
            (r#""rate":"8 kb/s","ie":10,"bpl":10"#, "source"),
            (r#""rate":"8 kb/s","ie":10,"bpl":10,"source":" ""#, "source"),
            (r#""rate":"8 kb/s","bpl":10,"source":"x""#, "ie"),
            (r#""rate":"8 kb/s","ie":10,"source":"x""#, "bpl"),
        ] {
            let error = codec(&format!("{{{more}}}")).check().expect_err(more);
            assert_eq!(error.key, format!("codec.{key}"), "{more}");
        }
        assert!(codec(r#"{"rate":"8 kb/s","ie":120,"bpl":10,"source":"x","wideband":true}"#).check().is_ok());
        let unknown = serde_json::from_str::<Codec>(r#""g711x""#).expect_err("no such codec").to_string();
        assert!(unknown.contains("unknown variant `g711x`, expected one of `g711`"), "{unknown}");
        assert!(serde_json::from_str::<Codec>(r#"{"rate":"8 kb/s","bits":3}"#).is_err());
        let lacking = serde_json::from_str::<Codec>(r#"{"frame":"20 ms"}"#).expect_err("no rate").to_string();
        assert!(lacking.contains("this codec lacks the key `rate`: write for example `codec = {"), "{lacking}");
    }
}
