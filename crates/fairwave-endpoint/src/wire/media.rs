//! RTP parameters of a flow's media, and the extension of 16-bit sequence numbers.

use crate::serial::unwrap;
use fairwave_media::traffic::TrafficConfig;
use fairwave_network::packet::FlowId;
use fairwave_units::units::{Instant, Span};

const SECOND: u128 = 1_000_000_000;

/// RTP parameters of a flow's media.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Media {
    /// Payload type (RFC 3551), below 128. Not 97, which redundant speech uses here.
    pub payload_type: u8,
    /// Timestamp ticks per second, from 1 to 10⁹.
    pub clock: u32,
    /// Synchronisation source of the sender. The receiver's source also has the highest bit set.
    pub ssrc: u32,
}

impl Media {
    /// The parameters of a flow. The codec determines payload type and clock. Without a codec, the clock is 90 kHz
    /// for video, as in its payload formats, and 1 kHz for other traffic. The source is the flow's number plus 1.
    pub fn for_flow(flow: FlowId, traffic: &TrafficConfig) -> Self {
        let other = if traffic.frames().is_some() { (98, 90_000) } else { (96, 1000) };
        let (payload_type, clock) = traffic.call().map_or(other, |(codec, _)| codec.rtp());
        Media { payload_type, clock, ssrc: flow.0.wrapping_add(1) & !RECEIVER }
    }

    /// The source of the sender's packets, or with `feedback` of the receiver's packets.
    pub fn source(&self, feedback: bool) -> u32 {
        if feedback { self.ssrc | RECEIVER } else { self.ssrc }
    }

    /// Whole ticks, modulo 2³². The media clock is zero when the sender's clock is.
    pub fn timestamp(&self, time: Instant) -> u32 {
        self.ticks_of(time.nanos()) as u32
    }

    /// Whole ticks, saturated at 32 bits.
    pub fn ticks(&self, span: Span) -> u32 {
        u32::try_from(self.ticks_of(span.nanos())).unwrap_or(u32::MAX)
    }

    fn ticks_of(&self, nanos: u64) -> u128 {
        u128::from(nanos) * u128::from(self.clock) / SECOND
    }

    /// The shortest span with this number of whole ticks.
    pub fn span(&self, ticks: u32) -> Span {
        Span::from_nanos((u128::from(ticks) * SECOND).div_ceil(u128::from(self.clock.max(1))) as u64)
    }
}

/// The bit that marks a receiver's source.
const RECEIVER: u32 = 1 << 31;

/// Extends sequence numbers of 16 bits to numbers that never wrap (RFC 3550 Appendix A.1). The extended number is
/// the candidate nearest to the highest so far. So up to 32 767 packets may be lost in a row, and a packet may be
/// up to 32 768 late.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SequenceExtender {
    highest: Option<u64>,
}

impl SequenceExtender {
    /// Returns the extended number. The first number is unchanged.
    pub fn extend(&self, low: u16) -> u64 {
        // The 16-bit number is the upper half of the lower 32 bits of 2¹⁶ times the extended number.
        self.highest.map_or(u64::from(low), |highest| unwrap(highest << 16, u32::from(low) << 16) >> 16)
    }

    /// Records the number of a valid packet.
    pub fn note(&mut self, number: u64) {
        self.highest = Some(self.highest.map_or(number, |highest| highest.max(number)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_media::traffic::TrafficConfig;
    use proptest::prelude::*;

    #[test]
    fn a_call_has_its_codecs_clock_and_video_ninety_kilohertz() {
        let media = |text: serde_json::Value| {
            let traffic: TrafficConfig = serde_json::from_value(text).expect("traffic");
            let Media { payload_type, clock, ssrc } = Media::for_flow(FlowId(6), &traffic);
            (payload_type, clock, ssrc)
        };
        assert_eq!(media(serde_json::json!({ "kind": "voice", "codec": "g729" })), (18, 8000, 7));
        assert_eq!(media(serde_json::json!({ "kind": "video" })), (98, 90_000, 7));
        assert_eq!(media(serde_json::json!({ "kind": "cbr", "rate": "64 kb/s" })), (96, 1000, 7));
    }

    #[test]
    fn rfc_3550_appendix_a_1_sixteen_bits_are_extended_by_the_cycles_so_far() {
        let mut extender = SequenceExtender::default();
        let mut come = |low: u16| {
            let number = extender.extend(low);
            extender.note(number);
            number
        };
        assert_eq!([65_530, 3, 65_535, 4, 32_771].map(&mut come), [65_530, 65_539, 65_535, 65_540, 98_307]);
        assert_eq!([2, 1].map(&mut come), [131_074, 131_073], "another cycle");
    }

    proptest! {
        #[test]
        fn a_number_near_the_highest_is_recovered(highest in 0u64..1 << 40, offset in -32_768i64..=32_767) {
            let truth = highest.saturating_add_signed(offset);
            let extender = SequenceExtender { highest: Some(highest) };
            prop_assert_eq!(extender.extend(truth as u16), truth);
        }

        #[test]
        fn ticks_are_those_of_the_span_that_they_are_read_as(ticks: u32, clock in 1u32..=1_000_000_000) {
            let media = Media { payload_type: 96, clock, ssrc: 1 };
            prop_assert_eq!(media.ticks(media.span(ticks)), ticks);
            prop_assert!(media.ticks(media.span(ticks).saturating_sub(Span::from_nanos(1))) < ticks.max(1));
        }
    }
}
