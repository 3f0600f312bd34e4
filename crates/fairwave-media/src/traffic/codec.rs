//! Speech codecs as a network sees them: how many bytes a packet has and how long its speech lasts.
//!
//! Sizes are those of the RTP payload formats: RFC 3551 §4.5 for the ITU-T codecs, GSM and GSM-EFR; RFC 5993 §5.2 for GSM-HR,
//! which puts an octet of contents before each frame of 14; RFC 3952 §3 for iLBC; RFC 4867 §4.3 (bandwidth-efficient
//! mode) for AMR and AMR-WB: 4 bits of mode request per packet, 6 bits of contents per frame, the whole filled up to
//! octets. How each codec sounds is in [`crate::quality::impairment`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::units::{Bytes, Rate, Span};

/// A speech codec; one that has several modes, in one of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum Codec {
    /// ITU-T G.711, µ or A law, 64 kb/s.
    #[default]
    #[serde(rename = "g711")]
    G711,
    /// ITU-T G.722 (wideband), 64 kb/s.
    #[serde(rename = "g722")]
    G722,
    /// ITU-T G.726, 40 kb/s.
    #[serde(rename = "g726-40")]
    G726At40,
    /// ITU-T G.726, 32 kb/s.
    #[serde(rename = "g726-32")]
    G726At32,
    /// ITU-T G.726, 24 kb/s.
    #[serde(rename = "g726-24")]
    G726At24,
    /// ITU-T G.726, 16 kb/s.
    #[serde(rename = "g726-16")]
    G726At16,
    /// ITU-T G.728, 16 kb/s.
    #[serde(rename = "g728")]
    G728,
    /// ITU-T G.729 and its Annex A, 8 kb/s.
    #[serde(rename = "g729")]
    G729,
    /// ITU-T G.723.1, 6.3 kb/s.
    #[serde(rename = "g723.1-6.3")]
    G7231At63,
    /// ITU-T G.723.1, 5.3 kb/s.
    #[serde(rename = "g723.1-5.3")]
    G7231At53,
    /// ETSI GSM 06.10 full rate, 13 kb/s.
    #[serde(rename = "gsm-fr")]
    GsmFullRate,
    /// ETSI GSM 06.20 half rate, 5.6 kb/s.
    #[serde(rename = "gsm-hr")]
    GsmHalfRate,
    /// ETSI GSM 06.60 enhanced full rate, 12.2 kb/s.
    #[serde(rename = "gsm-efr")]
    GsmEnhancedFullRate,
    /// 3GPP AMR in its mode of 12.2 kb/s.
    #[serde(rename = "amr-12.2")]
    Amr122,
    /// iLBC with frames of 20 ms, 15.2 kb/s.
    #[serde(rename = "ilbc-20")]
    Ilbc20,
    /// iLBC with frames of 30 ms, 13.33 kb/s.
    #[serde(rename = "ilbc-30")]
    Ilbc30,
    /// 3GPP AMR-WB (ITU-T G.722.2, wideband) in its mode of 6.60 kb/s.
    #[serde(rename = "amr-wb-6.60")]
    AmrWb660,
    /// AMR-WB, 8.85 kb/s.
    #[serde(rename = "amr-wb-8.85")]
    AmrWb885,
    /// AMR-WB, 12.65 kb/s.
    #[serde(rename = "amr-wb-12.65")]
    AmrWb1265,
    /// AMR-WB, 14.25 kb/s.
    #[serde(rename = "amr-wb-14.25")]
    AmrWb1425,
    /// AMR-WB, 15.85 kb/s.
    #[serde(rename = "amr-wb-15.85")]
    AmrWb1585,
    /// AMR-WB, 18.25 kb/s.
    #[serde(rename = "amr-wb-18.25")]
    AmrWb1825,
    /// AMR-WB, 19.85 kb/s.
    #[serde(rename = "amr-wb-19.85")]
    AmrWb1985,
    /// AMR-WB, 23.05 kb/s.
    #[serde(rename = "amr-wb-23.05")]
    AmrWb2305,
    /// AMR-WB, 23.85 kb/s.
    #[serde(rename = "amr-wb-23.85")]
    AmrWb2385,
}

/// How frames lie in a payload.
#[derive(Clone, Copy)]
enum Packing {
    /// Whole octets, one frame behind the other.
    Octets(u64),
    /// RFC 4867 §4.3: bits of speech per frame.
    BandwidthEfficient(u64),
}

/// RFC 4867 §4.3.1: the codec mode request, bits per payload.
const MODE_REQUEST: u64 = 4;
/// RFC 4867 §4.3.2: an entry of the table of contents, bits per frame.
const CONTENTS_ENTRY: u64 = 6;

impl Codec {
    /// Every codec.
    pub const ALL: [Codec; 25] = [
        Codec::G711,
        Codec::G722,
        Codec::G726At40,
        Codec::G726At32,
        Codec::G726At24,
        Codec::G726At16,
        Codec::G728,
        Codec::G729,
        Codec::G7231At63,
        Codec::G7231At53,
        Codec::GsmFullRate,
        Codec::GsmHalfRate,
        Codec::GsmEnhancedFullRate,
        Codec::Amr122,
        Codec::Ilbc20,
        Codec::Ilbc30,
        Codec::AmrWb660,
        Codec::AmrWb885,
        Codec::AmrWb1265,
        Codec::AmrWb1425,
        Codec::AmrWb1585,
        Codec::AmrWb1825,
        Codec::AmrWb1985,
        Codec::AmrWb2305,
        Codec::AmrWb2385,
    ];

    /// The name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Codec::G711 => "g711",
            Codec::G722 => "g722",
            Codec::G726At40 => "g726-40",
            Codec::G726At32 => "g726-32",
            Codec::G726At24 => "g726-24",
            Codec::G726At16 => "g726-16",
            Codec::G728 => "g728",
            Codec::G729 => "g729",
            Codec::G7231At63 => "g723.1-6.3",
            Codec::G7231At53 => "g723.1-5.3",
            Codec::GsmFullRate => "gsm-fr",
            Codec::GsmHalfRate => "gsm-hr",
            Codec::GsmEnhancedFullRate => "gsm-efr",
            Codec::Amr122 => "amr-12.2",
            Codec::Ilbc20 => "ilbc-20",
            Codec::Ilbc30 => "ilbc-30",
            Codec::AmrWb660 => "amr-wb-6.60",
            Codec::AmrWb885 => "amr-wb-8.85",
            Codec::AmrWb1265 => "amr-wb-12.65",
            Codec::AmrWb1425 => "amr-wb-14.25",
            Codec::AmrWb1585 => "amr-wb-15.85",
            Codec::AmrWb1825 => "amr-wb-18.25",
            Codec::AmrWb1985 => "amr-wb-19.85",
            Codec::AmrWb2305 => "amr-wb-23.05",
            Codec::AmrWb2385 => "amr-wb-23.85",
        }
    }

    /// The payload type of RTP, and how many ticks per second its timestamps count: RFC 3551 Table 4; 96, the first dynamic
    /// one, for codecs that have none of their own. G.722 counts 8000 although it samples 16 000 times.
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
            _ => (96, 8000),
        }
    }

    /// Whether the codec's own standard defines discontinuous transmission: a voice activity detector, and silence that is not
    /// sent. ITU-T G.729 Annex B and ITU-T G.723.1 Annex A, which RFC 4856 presumes unless a call declines them (`annexb`,
    /// `annexa`); GSM 06.31, 06.41 and 06.81; 3GPP TS 26.093 and 26.193, which mobile networks use for every call. G.711, G.722,
    /// G.726, G.728 and iLBC define none, at the most a payload for comfort noise: telephones send them all the time.
    pub const fn has_discontinuous_transmission(self) -> bool {
        !matches!(
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

    /// The standard that defines the RTP payload.
    pub const fn payload_format(self) -> &'static str {
        match self {
            Codec::GsmHalfRate => "RFC 5993",
            Codec::Ilbc20 | Codec::Ilbc30 => "RFC 3952",
            Codec::Amr122
            | Codec::AmrWb660
            | Codec::AmrWb885
            | Codec::AmrWb1265
            | Codec::AmrWb1425
            | Codec::AmrWb1585
            | Codec::AmrWb1825
            | Codec::AmrWb1985
            | Codec::AmrWb2305
            | Codec::AmrWb2385 => "RFC 4867",
            _ => "RFC 3551",
        }
    }

    /// How a frame is packed, and how many microseconds of speech it holds.
    const fn packing(self) -> (Packing, u64) {
        use Packing::{BandwidthEfficient, Octets};
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
        }
    }

    /// The smallest piece of speech that can be sent: its payload bytes and how long it lasts.
    pub const fn frame(self) -> (Bytes, Span) {
        (self.payload(1), Span::from_micros(self.packing().1))
    }

    /// Payload of a packet of so many frames; not always so many times that of one.
    pub const fn payload(self, frames: u64) -> Bytes {
        Bytes::new(match self.packing().0 {
            Packing::Octets(each) => each.saturating_mul(frames),
            Packing::BandwidthEfficient(speech) => {
                (CONTENTS_ENTRY + speech).saturating_mul(frames).saturating_add(MODE_REQUEST).div_ceil(8)
            }
        })
    }

    /// How many whole frames make this payload; none when no number of them does.
    pub fn frames_in(self, payload: Bytes) -> Option<u64> {
        let bits = payload.get().saturating_mul(8);
        let frames = match self.packing().0 {
            Packing::Octets(each) => payload.get() / each,
            Packing::BandwidthEfficient(speech) => bits.saturating_sub(MODE_REQUEST) / (CONTENTS_ENTRY + speech),
        };
        (frames > 0 && self.payload(frames) == payload).then_some(frames)
    }

    /// How much speech a packet carries when nothing is said: 20 ms, or one frame of 30 ms.
    pub const fn default_packet_time(self) -> Span {
        match self {
            Codec::G7231At63 | Codec::G7231At53 | Codec::Ilbc30 => Span::from_millis(30),
            _ => Span::from_millis(20),
        }
    }

    /// How far the coder looks ahead beyond the frame it codes: a delay that no network can give back. From the codecs'
    /// specifications (ITU-T G.114 Table I.4 has the ITU-T ones; AMR-WB: G.722.2 clause 5.2.1).
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
            _ => Span::ZERO,
        }
    }

    /// Payload bits per second while talking, with one frame per packet.
    pub fn rate(self) -> Rate {
        let (bytes, time) = self.frame();
        bytes.per(time)
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
    }

    #[test]
    fn the_payload_of_a_default_packet_is_that_of_its_rtp_format() {
        let bytes = |codec: Codec| codec.payload(codec.default_packet_time().nanos() / codec.frame().1.nanos()).get();
        // Octets of 20 ms (30 ms for G.723.1 and iLBC-30) from RFC 3551 Table 1 and §4.5, RFC 5993, RFC 3952; for AMR by hand:
        // (4 + 6 + 244) / 8 = 31.75, and so for the nine modes of AMR-WB in RFC 4867's order.
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
            ]
        );
    }

    #[test]
    fn a_name_with_a_rate_carries_that_rate_of_speech() {
        // Speech bits over a frame's time are what the mode is named after.
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
