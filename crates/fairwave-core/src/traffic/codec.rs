//! Speech codecs as a network sees them: how many bytes a frame has and how long it lasts.
//!
//! Sizes are those of the RTP payload formats: RFC 3551 §4.5 for the ITU-T codecs, GSM and GSM-EFR, RFC 5993 for GSM-HR,
//! RFC 3951/3952 for iLBC, RFC 4867 (bandwidth-efficient, one frame) for AMR. How each sounds is in [`crate::quality::impairment`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Rate, Span};

/// A speech codec.
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
    /// 3GPP AMR at 12.2 kb/s.
    #[serde(rename = "amr-12.2")]
    Amr122,
    /// iLBC with frames of 20 ms, 15.2 kb/s.
    #[serde(rename = "ilbc-20")]
    Ilbc20,
    /// iLBC with frames of 30 ms, 13.33 kb/s.
    #[serde(rename = "ilbc-30")]
    Ilbc30,
}

impl Codec {
    /// Every codec.
    pub const ALL: [Codec; 16] = [
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
    ];

    /// The smallest piece of speech that can be sent: its payload bytes and how long it lasts.
    pub const fn frame(self) -> (Bytes, Span) {
        let (bytes, micros) = match self {
            Codec::G711 | Codec::G722 => (1, 125),
            Codec::G726At40 => (5, 1_000),
            Codec::G726At32 => (4, 1_000),
            Codec::G726At24 => (3, 1_000),
            Codec::G726At16 => (2, 1_000),
            Codec::G728 => (5, 2_500),
            Codec::G729 => (10, 10_000),
            Codec::G7231At63 => (24, 30_000),
            Codec::G7231At53 => (20, 30_000),
            Codec::GsmFullRate => (33, 20_000),
            Codec::GsmHalfRate => (14, 20_000),
            Codec::GsmEnhancedFullRate => (31, 20_000),
            Codec::Amr122 => (32, 20_000),
            Codec::Ilbc20 => (38, 20_000),
            Codec::Ilbc30 => (50, 30_000),
        };
        (Bytes::new(bytes), Span::from_micros(micros))
    }

    /// How much speech a packet carries when nothing is said: 20 ms, or one frame of 30 ms.
    pub const fn default_packet_time(self) -> Span {
        match self {
            Codec::G7231At63 | Codec::G7231At53 | Codec::Ilbc30 => Span::from_millis(30),
            _ => Span::from_millis(20),
        }
    }

    /// How far the coder looks ahead beyond the frame it codes: a delay that no network can give back. From the codecs'
    /// specifications (ITU-T G.114 Table I.4 has the ITU-T ones).
    pub const fn look_ahead(self) -> Span {
        match self {
            Codec::G722 => Span::from_micros(1_500),
            Codec::G729 | Codec::Amr122 => Span::from_micros(5_000),
            Codec::G7231At63 | Codec::G7231At53 => Span::from_micros(7_500),
            Codec::GsmHalfRate => Span::from_micros(4_400),
            _ => Span::ZERO,
        }
    }

    /// Payload bits per second while talking.
    pub fn rate(self) -> Rate {
        let (bytes, time) = self.frame();
        bytes.per(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_packet_is_a_whole_number_of_frames() {
        for codec in Codec::ALL {
            assert_eq!(codec.default_packet_time().nanos() % codec.frame().1.nanos(), 0, "{codec:?}");
        }
    }

    #[test]
    fn coders_look_ahead_as_far_as_their_standards_say() {
        let millis = |codec: Codec| codec.look_ahead().millis();
        assert_eq!(millis(Codec::G711), 0.0);
        assert_eq!(millis(Codec::G728), 0.0);
        assert_eq!(millis(Codec::G729), 5.0);
        assert_eq!((millis(Codec::G7231At63), millis(Codec::G7231At53)), (7.5, 7.5));
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
        assert_eq!(kilobits(Codec::Ilbc20), 15.2);
        assert_eq!(kilobits(Codec::Ilbc30).round(), 13.0);
        // As RTP carries them: 244 bits and a table of contents (RFC 4867, octets aligned), 112 bits alike (RFC 5993).
        assert_eq!(Codec::Amr122.frame(), (Bytes::new(32), Span::from_millis(20)));
        assert_eq!(Codec::GsmHalfRate.frame(), (Bytes::new(14), Span::from_millis(20)));
    }
}
