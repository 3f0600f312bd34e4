//! Headers of media packets: RTP with the extensions that WebRTC uses, as the 32 bytes of [`Body::Opaque`].

use fairwave_network::packet::Body;
use fairwave_units::units::Instant;

/// Which RTP stream a packet belongs to: the place of its SSRC among those of the peer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Ssrc(pub u8);

/// What the payload is (the payload type, as the session description maps it).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum PayloadKind {
    /// An encoded frame, or a part of one.
    #[default]
    Media = 0,
    /// A media packet sent again in a stream of its own (RFC 4588): [`RtpHeader::base`] is its original sequence number.
    Retransmission = 1,
    /// Forward error correction: [`RtpHeader::base`] and [`RtpHeader::mask`] name the packets that it protects (RFC 8627, RFC 5109).
    Protection = 2,
    /// Nothing but padding.
    Padding = 3,
}

impl PayloadKind {
    fn of(number: u8) -> Option<Self> {
        [PayloadKind::Media, PayloadKind::Retransmission, PayloadKind::Protection, PayloadKind::Padding]
            .get(usize::from(number))
            .copied()
    }
}

/// Header of a media packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RtpHeader {
    /// Its stream.
    pub ssrc: Ssrc,
    /// What it carries.
    pub kind: PayloadKind,
    /// RTP sequence number (RFC 3550 §5.1).
    pub sequence: u16,
    /// RTP timestamp, in ticks of the stream's clock.
    pub timestamp: u32,
    /// Transport-wide sequence number (draft-holmer-rmcat-transport-wide-cc-extensions-01 §2).
    pub transport_sequence: u16,
    /// RTP marker: the last packet of a video frame, the first of a talk spurt.
    pub marker: bool,
    /// It begins its frame.
    pub first: bool,
    /// Its frame depends on no other.
    pub key: bool,
    /// The packet holds in-band FEC for the frame before it.
    pub in_band_fec: bool,
    /// Audio: how many frames before it the packet repeats (RFC 2198).
    pub repeats: u8,
    /// Temporal layer of its frame, 0 to 7.
    pub temporal: u8,
    /// Spatial layer of its frame, 0 to 7.
    pub spatial: u8,
    /// Number of the application's unit modulo 2³²: which frame of the camera or the microphone it is.
    pub unit: u32,
    /// Number of its frame within the RTP stream, modulo 2¹⁶ (the dependency descriptor's frame number).
    pub frame: u16,
    /// The number of the frame that it depends on, counted back from its own; 0 for none (a key frame).
    pub depends: u8,
    /// Payload bytes, without what the header says.
    pub payload: u16,
    /// Retransmission: the original sequence number. Protection: the first that it protects.
    pub base: u16,
    /// Protection: bit i set if it protects `base + i`.
    pub mask: u64,
}

impl RtpHeader {
    /// As a packet's body. `sequence` is the number of packets that the sender sent before it; `created` is when the application
    /// made the frame, for measurements alone.
    pub fn body(&self, sequence: u32, created: Instant) -> Body {
        let mut header = [0; 32];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            if let Some(place) = header.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
            at += bytes.len();
        };
        let flags = u8::from(self.marker)
            | u8::from(self.first) << 1
            | u8::from(self.key) << 2
            | u8::from(self.in_band_fec) << 3
            | (self.kind as u8) << 4;
        put(&[self.ssrc.0, flags]);
        put(&[(self.temporal & 7) | (self.spatial & 7) << 3, self.repeats]);
        put(&self.sequence.to_be_bytes());
        put(&self.transport_sequence.to_be_bytes());
        put(&self.timestamp.to_be_bytes());
        put(&self.unit.to_be_bytes());
        put(&self.frame.to_be_bytes());
        put(&[self.depends, 0]);
        put(&self.payload.to_be_bytes());
        put(&self.base.to_be_bytes());
        put(&self.mask.to_be_bytes());
        Body::Opaque { header, sequence, created }
    }

    /// The header of a media packet, and when its frame was made; none for another body.
    pub fn read(body: &Body) -> Option<(Self, Instant)> {
        let Body::Opaque { header, created, .. } = body else { return None };
        let byte = |at: usize| header.get(at).copied().unwrap_or_default();
        let two = |at: usize| u16::from_be_bytes([byte(at), byte(at + 1)]);
        let four = |at: usize| u32::from(two(at)) << 16 | u32::from(two(at + 2));
        let flags = byte(1);
        let read = RtpHeader {
            ssrc: Ssrc(byte(0)),
            kind: PayloadKind::of(flags >> 4)?,
            marker: flags & 1 != 0,
            first: flags & 2 != 0,
            key: flags & 4 != 0,
            in_band_fec: flags & 8 != 0,
            temporal: byte(2) & 7,
            spatial: byte(2) >> 3 & 7,
            repeats: byte(3),
            sequence: two(4),
            transport_sequence: two(6),
            timestamp: four(8),
            unit: four(12),
            frame: two(16),
            depends: byte(18),
            payload: two(20),
            base: two(22),
            mask: u64::from(four(24)) << 32 | u64::from(four(28)),
        };
        Some((read, *created))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_header_is_read_as_it_was_written(
            (sequence, transport_sequence, frame, payload, base) in any::<(u16, u16, u16, u16, u16)>(),
            (timestamp, unit, mask, depends, repeats) in any::<(u32, u32, u64, u8, u8)>(),
            (marker, first, key, in_band_fec) in any::<(bool, bool, bool, bool)>(),
            (ssrc, kind, temporal, spatial) in (any::<u8>(), 0u8..4, 0u8..8, 0u8..8),
        ) {
            let header = RtpHeader {
                ssrc: Ssrc(ssrc), kind: PayloadKind::of(kind).expect("a kind"), sequence, timestamp, transport_sequence, marker,
                first, key, in_band_fec, repeats, temporal, spatial, unit, frame, depends, payload, base, mask,
            };
            let created = Instant::from_nanos(u64::from(timestamp));
            prop_assert_eq!(RtpHeader::read(&header.body(7, created)), Some((header, created)));
        }
    }
}
