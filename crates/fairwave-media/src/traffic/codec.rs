//! Speech codecs from the perspective of the network: size of a packet and duration of its speech.
//!
//! Sizes are those of the RTP payload formats. RFC 3551 §4.5 has the ITU-T codecs, GSM and GSM-EFR. RFC 5993 §5.2 has
//! GSM-HR, with one octet of contents before each frame of 14. RFC 3952 §3 has iLBC. RFC 4867 §4.3 (bandwidth-efficient
//! mode) has AMR and AMR-WB: 4 bits of mode request per packet and 6 bits of contents per frame, padded to octets. EVS:
//! 3GPP TS 26.445, compact for one frame. Opus: RFC 7587; the payload is one Opus packet (RFC 6716 §3), and the rate
//! includes its first octet. Without a rate, `opus` is WebRTC's mono setting (`audio_encoder_opus.cc`:
//! `kOpusBitrateFbBps`; RFC 7587 §3.1.1 recommends 28 to 40 kb/s). A scenario can describe any other codec
//! ([`super::other_codec`]). For the quality of each codec see [`crate::quality::impairment`].

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

use super::other_codec::{CodecTable, OtherCodec};
use fairwave_units::config::ConfigError;
use fairwave_units::units::{Bytes, Rate, Span};

/// Defines the named codecs: the enum, the list, and the descriptions in the schema.
macro_rules! codecs {
    ($count:literal: $($(#[doc = $doc:literal])+ $Name:ident = $text:literal,)+) => {
        /// A speech codec, with its mode if it has several.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Codec {
            $($(#[doc = $doc])+ $Name,)+
            /// A codec that a scenario describes.
            Other(OtherCodec),
        }

        impl Codec {
            /// Every named codec.
            pub const ALL: [Codec; $count] = [$(Codec::$Name),+];

            /// Returns the name in scenarios; for a codec that a scenario describes, the name there.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Codec::$Name => $text,)+
                    Codec::Other(other) => other.label(),
                }
            }
        }

        /// Names with descriptions.
        const NAMES: [(&str, &str); $count] = [$(($text, concat!($($doc),+))),+];
        /// Names only.
        const NAMES_ALONE: [&str; $count] = [$($text),+];
    };
}

codecs! {
    53:
    /// ITU-T G.711, µ or A law, 64 kb/s.
    G711 = "g711",
    /// ITU-T G.722 (wideband), 64 kb/s.
    G722 = "g722",
    /// ITU-T G.726, 40 kb/s.
    G726At40 = "g726-40",
    /// ITU-T G.726, 32 kb/s.
    G726At32 = "g726-32",
    /// ITU-T G.726, 24 kb/s.
    G726At24 = "g726-24",
    /// ITU-T G.726, 16 kb/s.
    G726At16 = "g726-16",
    /// ITU-T G.728, 16 kb/s.
    G728 = "g728",
    /// ITU-T G.729 and its Annex A, 8 kb/s.
    G729 = "g729",
    /// ITU-T G.723.1, 6.3 kb/s.
    G7231At63 = "g723.1-6.3",
    /// ITU-T G.723.1, 5.3 kb/s.
    G7231At53 = "g723.1-5.3",
    /// ETSI GSM 06.10 full rate, 13 kb/s.
    GsmFullRate = "gsm-fr",
    /// ETSI GSM 06.20 half rate, 5.6 kb/s.
    GsmHalfRate = "gsm-hr",
    /// ETSI GSM 06.60 enhanced full rate, 12.2 kb/s.
    GsmEnhancedFullRate = "gsm-efr",
    /// 3GPP AMR, 4.75 kb/s.
    Amr475 = "amr-4.75",
    /// 3GPP AMR, 5.15 kb/s.
    Amr515 = "amr-5.15",
    /// 3GPP AMR, 5.90 kb/s.
    Amr590 = "amr-5.90",
    /// 3GPP AMR, 6.70 kb/s.
    Amr670 = "amr-6.70",
    /// 3GPP AMR, 7.40 kb/s.
    Amr740 = "amr-7.40",
    /// 3GPP AMR, 7.95 kb/s.
    Amr795 = "amr-7.95",
    /// 3GPP AMR, 10.2 kb/s.
    Amr102 = "amr-10.2",
    /// 3GPP AMR in its mode of 12.2 kb/s.
    Amr122 = "amr-12.2",
    /// iLBC with frames of 20 ms, 15.2 kb/s.
    Ilbc20 = "ilbc-20",
    /// iLBC with frames of 30 ms, 13.33 kb/s.
    Ilbc30 = "ilbc-30",
    /// 3GPP AMR-WB (ITU-T G.722.2, wideband) in its mode of 6.60 kb/s.
    AmrWb660 = "amr-wb-6.60",
    /// AMR-WB, 8.85 kb/s.
    AmrWb885 = "amr-wb-8.85",
    /// AMR-WB, 12.65 kb/s.
    AmrWb1265 = "amr-wb-12.65",
    /// AMR-WB, 14.25 kb/s.
    AmrWb1425 = "amr-wb-14.25",
    /// AMR-WB, 15.85 kb/s.
    AmrWb1585 = "amr-wb-15.85",
    /// AMR-WB, 18.25 kb/s.
    AmrWb1825 = "amr-wb-18.25",
    /// AMR-WB, 19.85 kb/s.
    AmrWb1985 = "amr-wb-19.85",
    /// AMR-WB, 23.05 kb/s.
    AmrWb2305 = "amr-wb-23.05",
    /// AMR-WB, 23.85 kb/s.
    AmrWb2385 = "amr-wb-23.85",
    /// 3GPP EVS in its primary mode of 7.2 kb/s.
    Evs72 = "evs-7.2",
    /// 3GPP EVS in its primary mode of 8 kb/s.
    Evs80 = "evs-8",
    /// 3GPP EVS in its primary mode of 9.6 kb/s.
    Evs96 = "evs-9.6",
    /// 3GPP EVS in its primary mode of 13.2 kb/s.
    Evs132 = "evs-13.2",
    /// 3GPP EVS in its primary mode of 16.4 kb/s.
    Evs164 = "evs-16.4",
    /// 3GPP EVS in its primary mode of 24.4 kb/s.
    Evs244 = "evs-24.4",
    /// 3GPP EVS in its primary mode of 32 kb/s.
    Evs320 = "evs-32",
    /// 3GPP EVS in its primary mode of 48 kb/s.
    Evs480 = "evs-48",
    /// 3GPP EVS in its primary mode of 64 kb/s.
    Evs640 = "evs-64",
    /// 3GPP EVS in its primary mode of 96 kb/s.
    Evs960 = "evs-96",
    /// 3GPP EVS in its primary mode of 128 kb/s.
    Evs1280 = "evs-128",
    /// Opus as WebRTC sends speech of one channel: 32 kb/s, frames of 20 ms.
    Opus = "opus",
    /// Opus at a constant 8 kb/s, frames of 20 ms.
    Opus8 = "opus-8",
    /// Opus at a constant 12 kb/s, frames of 20 ms.
    Opus12 = "opus-12",
    /// Opus at a constant 16 kb/s, frames of 20 ms.
    Opus16 = "opus-16",
    /// Opus at a constant 24 kb/s, frames of 20 ms.
    Opus24 = "opus-24",
    /// Opus at a constant 32 kb/s, frames of 20 ms.
    Opus32 = "opus-32",
    /// Opus at a constant 48 kb/s, frames of 20 ms.
    Opus48 = "opus-48",
    /// Opus at a constant 64 kb/s, frames of 20 ms.
    Opus64 = "opus-64",
    /// Opus at a constant 96 kb/s, frames of 20 ms.
    Opus96 = "opus-96",
    /// Opus at a constant 128 kb/s, frames of 20 ms.
    Opus128 = "opus-128",
}

#[allow(clippy::derivable_impls)] // the variants come from a macro, which marks none of them
impl Default for Codec {
    fn default() -> Self {
        Codec::G711
    }
}

impl Serialize for Codec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Codec::Other(other) => other.table().serialize(serializer),
            named => serializer.serialize_str(named.name()),
        }
    }
}

impl<'de> Deserialize<'de> for Codec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> serde::de::Visitor<'de> for Forms {
            type Value = Codec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a codec such as \"g711\", or a table with `rate` and `frame`")
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Codec, E> {
                let found = Codec::ALL.into_iter().find(|codec| codec.name() == name);
                found.ok_or_else(|| E::unknown_variant(name, &NAMES_ALONE))
            }
            fn visit_map<M: serde::de::MapAccess<'de>>(self, map: M) -> Result<Codec, M::Error> {
                let table = CodecTable::deserialize(MapAccessDeserializer::new(map)).map_err(codec_error)?;
                Ok(Codec::Other(OtherCodec::new(table)))
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

/// Returns an error about the codec's table, not about the traffic's.
fn codec_error<E: serde::de::Error>(error: E) -> E {
    let text = error.to_string();
    match text.strip_prefix("missing field `rate`") {
        Some(_) => E::custom("this codec lacks the key `rate`: write for example `codec = { rate = \"24 kb/s\" }`"),
        None => error,
    }
}

impl JsonSchema for Codec {
    fn schema_name() -> Cow<'static, str> {
        "Codec".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let named = NAMES.map(|(name, about)| json!({ "description": about.trim(), "type": "string", "const": name }));
        let mut all = named.to_vec();
        all.push(generator.subschema_for::<CodecTable>().into());
        json_schema!({ "description": "A speech codec, with its mode if it has several.", "oneOf": all })
    }
}

/// Layout of frames in a payload.
#[derive(Clone, Copy)]
enum Packing {
    /// Whole octets per frame, one frame after another.
    Octets(u64),
    /// RFC 4867 §4.3: bits of speech per frame.
    BandwidthEfficient(u64),
    /// 3GPP TS 26.445: octets of speech per frame. A single frame is compact (A.2.1); several frames have one entry
    /// each in the table of contents (A.2.2).
    Evs(u64),
    /// Octets of the payload format once per packet, and whole octets per frame.
    Headed(u64, u64),
}

/// RFC 4867 §4.3.1: the codec mode request, bits per payload.
const MODE_REQUEST: u64 = 4;
/// RFC 4867 §4.3.2: an entry of the table of contents, bits per frame.
const CONTENTS_ENTRY: u64 = 6;

impl Codec {
    /// Returns the RTP payload type and the clock rate of the timestamps: RFC 3551 Table 4; 96, the first dynamic type,
    /// for codecs without a static type. G.722 counts 8000 although it samples 16 000 times.
    pub const fn rtp(self) -> (u8, u32) {
        match self {
            Codec::G711 => (0, 8000),
            Codec::GsmFullRate => (3, 8000),
            Codec::G7231At63 | Codec::G7231At53 => (4, 8000),
            Codec::G722 => (9, 8000),
            Codec::G728 => (15, 8000),
            Codec::G729 => (18, 8000),
            Codec::AmrWb660
            | Codec::AmrWb885
            | Codec::AmrWb1265
            | Codec::AmrWb1425
            | Codec::AmrWb1585
            | Codec::AmrWb1825
            | Codec::AmrWb1985
            | Codec::AmrWb2305
            | Codec::AmrWb2385 => (96, 16_000),
            _ if self.is_evs() => (96, 16_000),
            // RFC 7587 §4.1: always 48 000, for every content.
            _ if self.is_opus() => (96, 48_000),
            Codec::Other(other) if other.is_wideband() => (96, 16_000),
            _ => (96, 8000),
        }
    }

    /// Checks whether the codec is a mode of EVS.
    pub const fn is_evs(self) -> bool {
        matches!(self.packing().0, Packing::Evs(_))
    }

    /// Checks whether the codec is Opus.
    pub const fn is_opus(self) -> bool {
        matches!(
            self,
            Codec::Opus
                | Codec::Opus8
                | Codec::Opus12
                | Codec::Opus16
                | Codec::Opus24
                | Codec::Opus32
                | Codec::Opus48
                | Codec::Opus64
                | Codec::Opus96
                | Codec::Opus128
        )
    }

    /// Checks a scenario's numbers for a custom codec.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn check(self) -> Result<(), ConfigError> {
        match self {
            Codec::Other(other) => other.table().check(),
            _ => Ok(()),
        }
    }

    /// Checks whether the codec's standard defines discontinuous transmission: a voice activity detector, and no
    /// packets in silence. ITU-T G.729 Annex B and ITU-T G.723.1 Annex A do; RFC 4856 assumes them unless a call
    /// declines them (`annexb`, `annexa`). So do GSM 06.31, 06.41 and 06.81, and 3GPP TS 26.093 and 26.193, which
    /// mobile networks use for every call. G.711, G.722, G.726, G.728 and iLBC define none, at most a payload for
    /// comfort noise: telephones send them all the time. EVS has it (3GPP TS 26.450). Opus has it, but uses it only if
    /// a call asks for it (RFC 7587 §6.1: `usedtx`, default 0).
    pub const fn has_discontinuous_transmission(self) -> bool {
        if let Codec::Other(other) = self {
            return other.has_discontinuous_transmission();
        }
        !self.is_opus()
            && !matches!(
                self,
                Codec::G711
                    | Codec::G722
                    | Codec::G726At40
                    | Codec::G726At32
                    | Codec::G726At24
                    | Codec::G726At16
                    | Codec::G728
                    | Codec::Ilbc20
                    | Codec::Ilbc30
            )
    }

    /// Returns the standard that defines the RTP payload.
    pub const fn payload_format(self) -> &'static str {
        match self {
            Codec::GsmHalfRate => "RFC 5993",
            Codec::Ilbc20 | Codec::Ilbc30 => "RFC 3952",
            Codec::Other(_) => "the scenario",
            _ if self.is_opus() => "RFC 7587",
            _ => match self.packing().0 {
                Packing::BandwidthEfficient(_) => "RFC 4867",
                Packing::Evs(_) => "3GPP TS 26.445",
                _ => "RFC 3551",
            },
        }
    }

    /// Returns the packing of a frame, and its duration in microseconds.
    const fn packing(self) -> (Packing, u64) {
        use Packing::{BandwidthEfficient, Evs, Headed, Octets};
        match self {
            Codec::G711 | Codec::G722 => (Octets(1), 125),
            Codec::G726At40 => (Octets(5), 1_000),
            Codec::G726At32 => (Octets(4), 1_000),
            Codec::G726At24 => (Octets(3), 1_000),
            Codec::G726At16 => (Octets(2), 1_000),
            Codec::G728 => (Octets(5), 2_500),
            Codec::G729 => (Octets(10), 10_000),
            Codec::G7231At63 => (Octets(24), 30_000),
            Codec::G7231At53 => (Octets(20), 30_000),
            Codec::GsmFullRate => (Octets(33), 20_000),
            Codec::GsmHalfRate => (Octets(1 + 14), 20_000),
            Codec::GsmEnhancedFullRate => (Octets(31), 20_000),
            Codec::Ilbc20 => (Octets(38), 20_000),
            Codec::Ilbc30 => (Octets(50), 30_000),
            Codec::Amr475 => (BandwidthEfficient(95), 20_000),
            Codec::Amr515 => (BandwidthEfficient(103), 20_000),
            Codec::Amr590 => (BandwidthEfficient(118), 20_000),
            Codec::Amr670 => (BandwidthEfficient(134), 20_000),
            Codec::Amr740 => (BandwidthEfficient(148), 20_000),
            Codec::Amr795 => (BandwidthEfficient(159), 20_000),
            Codec::Amr102 => (BandwidthEfficient(204), 20_000),
            Codec::Amr122 => (BandwidthEfficient(244), 20_000),
            Codec::AmrWb660 => (BandwidthEfficient(132), 20_000),
            Codec::AmrWb885 => (BandwidthEfficient(177), 20_000),
            Codec::AmrWb1265 => (BandwidthEfficient(253), 20_000),
            Codec::AmrWb1425 => (BandwidthEfficient(285), 20_000),
            Codec::AmrWb1585 => (BandwidthEfficient(317), 20_000),
            Codec::AmrWb1825 => (BandwidthEfficient(365), 20_000),
            Codec::AmrWb1985 => (BandwidthEfficient(397), 20_000),
            Codec::AmrWb2305 => (BandwidthEfficient(461), 20_000),
            Codec::AmrWb2385 => (BandwidthEfficient(477), 20_000),
            Codec::Evs72 => (Evs(18), 20_000),
            Codec::Evs80 => (Evs(20), 20_000),
            Codec::Evs96 => (Evs(24), 20_000),
            Codec::Evs132 => (Evs(33), 20_000),
            Codec::Evs164 => (Evs(41), 20_000),
            Codec::Evs244 => (Evs(61), 20_000),
            Codec::Evs320 => (Evs(80), 20_000),
            Codec::Evs480 => (Evs(120), 20_000),
            Codec::Evs640 => (Evs(160), 20_000),
            Codec::Evs960 => (Evs(240), 20_000),
            Codec::Evs1280 => (Evs(320), 20_000),
            Codec::Opus8 => (Octets(20), 20_000),
            Codec::Opus12 => (Octets(30), 20_000),
            Codec::Opus16 => (Octets(40), 20_000),
            Codec::Opus24 => (Octets(60), 20_000),
            Codec::Opus | Codec::Opus32 => (Octets(80), 20_000),
            Codec::Opus48 => (Octets(120), 20_000),
            Codec::Opus64 => (Octets(160), 20_000),
            Codec::Opus96 => (Octets(240), 20_000),
            Codec::Opus128 => (Octets(320), 20_000),
            Codec::Other(other) => (Headed(other.header(), other.octets()), other.frame_micros()),
        }
    }

    /// Returns the payload bytes and the duration of a frame, the smallest unit of speech.
    pub const fn frame(self) -> (Bytes, Span) {
        (self.payload(1), Span::from_micros(self.packing().1))
    }

    /// Returns the payload of a packet with this number of frames; not always a multiple of one frame's payload.
    pub const fn payload(self, frames: u64) -> Bytes {
        Bytes::new(match self.packing().0 {
            Packing::Octets(each) => each.saturating_mul(frames),
            Packing::BandwidthEfficient(speech) => {
                (CONTENTS_ENTRY + speech).saturating_mul(frames).saturating_add(MODE_REQUEST).div_ceil(8)
            }
            Packing::Evs(each) if frames == 1 => each,
            Packing::Evs(each) => (1 + each).saturating_mul(frames),
            Packing::Headed(header, each) => each.saturating_mul(frames).saturating_add(header),
        })
    }

    /// Returns the number of frames in this payload; `None` if no whole number of frames has this payload.
    pub fn frames_in(self, payload: Bytes) -> Option<u64> {
        let bits = payload.get().saturating_mul(8);
        let frames = match self.packing().0 {
            Packing::Octets(each) => payload.get() / each,
            Packing::BandwidthEfficient(speech) => bits.saturating_sub(MODE_REQUEST) / (CONTENTS_ENTRY + speech),
            Packing::Evs(each) if payload.get() == each => 1,
            Packing::Evs(each) => payload.get() / (1 + each),
            Packing::Headed(header, each) => payload.get().saturating_sub(header) / each,
        };
        (frames > 0 && self.payload(frames) == payload).then_some(frames)
    }

    /// Returns the default duration of speech in a packet: 20 ms, or one frame of 30 ms.
    pub const fn default_packet_time(self) -> Span {
        match self {
            Codec::G7231At63 | Codec::G7231At53 | Codec::Ilbc30 => Span::from_millis(30),
            Codec::Other(other) => other.packet_time(),
            _ => Span::from_millis(20),
        }
    }

    /// Returns the coder's look-ahead beyond the coded frame, an unavoidable delay. From the codecs' specifications.
    /// ITU-T G.114 Table I.4 has the ITU-T codecs. AMR-WB: G.722.2 clause 5.2.1. EVS: the part of its 32 ms beyond the
    /// frame, filters included, 3GPP TS 26.441. Opus: 6.5 ms, the part of its default 26.5 ms beyond the frame, RFC
    /// 6716 §2.
    pub const fn look_ahead(self) -> Span {
        match self {
            Codec::G722 => Span::from_micros(1_500),
            Codec::G729
            | Codec::Amr122
            | Codec::AmrWb660
            | Codec::AmrWb885
            | Codec::AmrWb1265
            | Codec::AmrWb1425
            | Codec::AmrWb1585
            | Codec::AmrWb1825
            | Codec::AmrWb1985
            | Codec::AmrWb2305
            | Codec::AmrWb2385 => Span::from_micros(5_000),
            Codec::G7231At63 | Codec::G7231At53 => Span::from_micros(7_500),
            Codec::GsmHalfRate => Span::from_micros(4_400),
            Codec::Amr475
            | Codec::Amr515
            | Codec::Amr590
            | Codec::Amr670
            | Codec::Amr740
            | Codec::Amr795
            | Codec::Amr102 => Span::from_micros(5_000),
            Codec::Other(other) => other.look_ahead(),
            _ if self.is_evs() => Span::from_micros(12_000),
            _ if self.is_opus() => Span::from_micros(6_500),
            _ => Span::ZERO,
        }
    }

    /// Returns the payload bits per second while talking, with one frame per packet.
    pub fn rate(self) -> Rate {
        let (bytes, time) = self.frame();
        bytes.rate_over(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rtp_numbers_and_clocks_are_those_of_rfc_3551_table_4() {
        let told = [Codec::G711, Codec::GsmFullRate, Codec::G7231At63, Codec::G722, Codec::G728, Codec::G729];
        assert_eq!(told.map(Codec::rtp), [(0, 8000), (3, 8000), (4, 8000), (9, 8000), (15, 8000), (18, 8000)]);
        let dynamic = [Codec::Ilbc20, Codec::Amr122, Codec::AmrWb1265];
        assert_eq!(dynamic.map(Codec::rtp), [(96, 8000), (96, 8000), (96, 16_000)]);
        assert_eq!([Codec::Evs244, Codec::Opus24].map(Codec::rtp), [(96, 16_000), (96, 48_000)]);
    }

    #[test]
    fn a_default_packet_is_a_whole_number_of_frames() {
        for codec in Codec::ALL {
            assert_eq!(codec.default_packet_time().nanos() % codec.frame().1.nanos(), 0, "{codec:?}");
        }
        assert_eq!(Codec::G711.default_packet_time(), Span::from_millis(20));
        assert_eq!(Codec::Ilbc30.default_packet_time(), Span::from_millis(30));
    }

    #[test]
    fn a_codec_is_named_as_scenarios_name_it() {
        for codec in Codec::ALL {
            assert_eq!(serde_json::to_value(codec).expect("a name"), codec.name());
        }
    }

    #[test]
    fn coders_look_ahead_as_far_as_their_standards_say() {
        let millis = |codec: Codec| codec.look_ahead().millis();
        assert_eq!(millis(Codec::G711), 0.0);
        assert_eq!(millis(Codec::G728), 0.0);
        assert_eq!(millis(Codec::G722), 1.5);
        assert_eq!(millis(Codec::GsmHalfRate), 4.4);
        assert_eq!((millis(Codec::G729), millis(Codec::AmrWb1265)), (5.0, 5.0));
        assert_eq!((millis(Codec::G7231At63), millis(Codec::G7231At53)), (7.5, 7.5));
        assert_eq!((millis(Codec::Amr475), millis(Codec::Evs132), millis(Codec::Opus24)), (5.0, 12.0, 6.5));
    }

    #[test]
    fn the_payload_of_a_default_packet_is_that_of_its_rtp_format() {
        let bytes = |codec: Codec| codec.payload(codec.default_packet_time().nanos() / codec.frame().1.nanos()).get();
        // Octets of 20 ms (30 ms for G.723.1 and iLBC-30) from RFC 3551 Table 1 and §4.5, RFC 5993, RFC 3952; for AMR
        // by hand: (4 + 6 + 244) / 8 = 31.75, and likewise for the nine modes of AMR-WB in RFC 4867's order.
        assert_eq!(
            Codec::ALL.map(|codec| (codec.name(), bytes(codec), codec.payload_format())),
            [
                ("g711", 160, "RFC 3551"),
                ("g722", 160, "RFC 3551"),
                ("g726-40", 100, "RFC 3551"),
                ("g726-32", 80, "RFC 3551"),
                ("g726-24", 60, "RFC 3551"),
                ("g726-16", 40, "RFC 3551"),
                ("g728", 40, "RFC 3551"),
                ("g729", 20, "RFC 3551"),
                ("g723.1-6.3", 24, "RFC 3551"),
                ("g723.1-5.3", 20, "RFC 3551"),
                ("gsm-fr", 33, "RFC 3551"),
                ("gsm-hr", 15, "RFC 5993"),
                ("gsm-efr", 31, "RFC 3551"),
                ("amr-4.75", 14, "RFC 4867"),
                ("amr-5.15", 15, "RFC 4867"),
                ("amr-5.90", 16, "RFC 4867"),
                ("amr-6.70", 18, "RFC 4867"),
                ("amr-7.40", 20, "RFC 4867"),
                ("amr-7.95", 22, "RFC 4867"),
                ("amr-10.2", 27, "RFC 4867"),
                ("amr-12.2", 32, "RFC 4867"),
                ("ilbc-20", 38, "RFC 3952"),
                ("ilbc-30", 50, "RFC 3952"),
                ("amr-wb-6.60", 18, "RFC 4867"),
                ("amr-wb-8.85", 24, "RFC 4867"),
                ("amr-wb-12.65", 33, "RFC 4867"),
                ("amr-wb-14.25", 37, "RFC 4867"),
                ("amr-wb-15.85", 41, "RFC 4867"),
                ("amr-wb-18.25", 47, "RFC 4867"),
                ("amr-wb-19.85", 51, "RFC 4867"),
                ("amr-wb-23.05", 59, "RFC 4867"),
                ("amr-wb-23.85", 61, "RFC 4867"),
                ("evs-7.2", 18, "3GPP TS 26.445"),
                ("evs-8", 20, "3GPP TS 26.445"),
                ("evs-9.6", 24, "3GPP TS 26.445"),
                ("evs-13.2", 33, "3GPP TS 26.445"),
                ("evs-16.4", 41, "3GPP TS 26.445"),
                ("evs-24.4", 61, "3GPP TS 26.445"),
                ("evs-32", 80, "3GPP TS 26.445"),
                ("evs-48", 120, "3GPP TS 26.445"),
                ("evs-64", 160, "3GPP TS 26.445"),
                ("evs-96", 240, "3GPP TS 26.445"),
                ("evs-128", 320, "3GPP TS 26.445"),
                ("opus", 80, "RFC 7587"),
                ("opus-8", 20, "RFC 7587"),
                ("opus-12", 30, "RFC 7587"),
                ("opus-16", 40, "RFC 7587"),
                ("opus-24", 60, "RFC 7587"),
                ("opus-32", 80, "RFC 7587"),
                ("opus-48", 120, "RFC 7587"),
                ("opus-64", 160, "RFC 7587"),
                ("opus-96", 240, "RFC 7587"),
                ("opus-128", 320, "RFC 7587"),
            ]
        );
    }

    #[test]
    fn a_name_with_a_rate_carries_that_rate_of_speech() {
        // The mode is named after its speech bits divided by the frame duration.
        for codec in Codec::ALL {
            let (Packing::BandwidthEfficient(bits), micros) = codec.packing() else { continue };
            let named: f64 = codec.name().rsplit('-').next().and_then(|rate| rate.parse().ok()).expect("a rate");
            assert!((bits as f64 / micros as f64 * 1e3 - named).abs() < 1e-9, "{codec:?}");
        }
    }

    #[test]
    fn several_frames_share_one_mode_request_and_each_half_rate_frame_has_its_own_contents() {
        // (4 + 2 · 250) / 8 = 63, one less than twice 32.
        assert_eq!(Codec::Amr122.payload(2), Bytes::new(63));
        assert_eq!(Codec::GsmHalfRate.payload(3), Bytes::new(45));
        // A single EVS frame is compact; two frames have an octet of contents each.
        assert_eq!((Codec::Evs132.payload(1), Codec::Evs132.payload(2)), (Bytes::new(33), Bytes::new(68)));
        assert_eq!(Codec::Evs132.frames_in(Bytes::new(66)), None);
        assert_eq!(Codec::G729.payload(2), Bytes::new(20));
    }

    #[test]
    fn frames_are_counted_in_payloads_that_whole_frames_fill_and_in_no_others() {
        for codec in Codec::ALL {
            for frames in 1..=50 {
                assert_eq!(codec.frames_in(codec.payload(frames)), Some(frames), "{codec:?}");
            }
            assert_eq!(codec.frames_in(Bytes::ZERO), None, "{codec:?}");
        }
        assert_eq!(Codec::G729.frames_in(Bytes::new(15)), None);
        assert_eq!(Codec::Amr122.frames_in(Bytes::new(64)), None);
    }

    #[test]
    fn payload_rates_are_those_of_the_standards() {
        let kilobits = |codec: Codec| codec.rate().bits_per_second() as f64 / 1e3;
        assert_eq!(kilobits(Codec::G711), 64.0);
        assert_eq!(kilobits(Codec::G726At32), 32.0);
        assert_eq!(kilobits(Codec::G728), 16.0);
        assert_eq!(kilobits(Codec::G729), 8.0);
        assert_eq!(kilobits(Codec::G7231At63), 6.4);
        assert_eq!(kilobits(Codec::G722), 64.0);
        assert_eq!(kilobits(Codec::GsmFullRate), 13.2);
        assert_eq!(kilobits(Codec::GsmHalfRate), 6.0);
        assert_eq!(kilobits(Codec::Ilbc20), 15.2);
        assert_eq!(kilobits(Codec::Ilbc30).round(), 13.0);
    }
}
