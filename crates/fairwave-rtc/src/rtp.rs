//! Headers of media packets: RTP with the extensions of WebRTC, stored in the 32 bytes of [`Body::Opaque`].

use crate::mailbox::Mailbox;
use fairwave_media::encoder::StreamKind;
use fairwave_network::packet::Body;
use fairwave_units::units::Instant;

/// RTP stream of a packet: index of its SSRC among those of the peer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Ssrc(pub u8);

/// Role of a stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Role {
    /// Encoded frames.
    Media = 0,
    /// Retransmissions, which form a separate stream (RFC 4588 §4), and padding.
    Retransmission = 1,
    /// Forward error correction, as a separate stream (RFC 8627).
    Protection = 2,
}

impl Ssrc {
    /// Source of the feedback: the other peer.
    pub const RECEIVER: Ssrc = Ssrc(255);

    /// Returns the stream of `kind` for `role`; `simulcast` is its index among the simulcast streams, 0 to 3. Both ends
    /// know it without a session description.
    pub const fn new(kind: StreamKind, simulcast: u8, role: Role) -> Self {
        Ssrc((kind as u8) << 4 | (simulcast & 3) << 2 | role as u8)
    }

    /// Returns kind, simulcast index and role; `None` for an unused number.
    pub fn parts(self) -> Option<(StreamKind, u8, Role)> {
        let role = match self.0 & 3 {
            0 => Role::Media,
            1 => Role::Retransmission,
            2 => Role::Protection,
            _ => return None,
        };
        Some((StreamKind::from_number(self.0 >> 4)?, self.0 >> 2 & 3, role))
    }

    /// Returns the 32-bit SSRC in RTCP.
    pub const fn number(self) -> u32 {
        self.0 as u32
    }

    /// Returns the stream with this 32-bit SSRC; `None` for a foreign one.
    pub fn from_number(number: u32) -> Option<Self> {
        u8::try_from(number).ok().map(Ssrc)
    }
}

/// Payload type of a packet (the session description would map it).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum PayloadKind {
    /// An encoded frame or a part of it.
    #[default]
    Media = 0,
    /// A retransmitted media packet in a separate stream (RFC 4588); [`RtpHeader::base`] is its original sequence
    /// number.
    Retransmission = 1,
    /// Forward error correction; [`RtpHeader::base`] and [`RtpHeader::mask`] identify the protected packets (RFC 8627,
    /// RFC 5109).
    Protection = 2,
    /// Only padding.
    Padding = 3,
    /// RTCP of the sender. Its bytes are in the flow's other mailbox, see [`control_body`].
    Control = 4,
}

impl PayloadKind {
    fn from_number(number: u8) -> Option<Self> {
        [
            PayloadKind::Media,
            PayloadKind::Retransmission,
            PayloadKind::Protection,
            PayloadKind::Padding,
            PayloadKind::Control,
        ]
        .get(usize::from(number))
        .copied()
    }
}

/// Header of a media packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RtpHeader {
    /// Stream of the packet.
    pub ssrc: Ssrc,
    /// Payload type.
    pub kind: PayloadKind,
    /// RTP sequence number (RFC 3550 §5.1).
    pub sequence: u16,
    /// RTP timestamp, in ticks of the stream's clock.
    pub timestamp: u32,
    /// Transport-wide sequence number (draft-holmer-rmcat-transport-wide-cc-extensions-01 §2).
    pub transport_sequence: u16,
    /// RTP marker: set on the last packet of a picture and on the first of a talk spurt.
    pub marker: bool,
    /// True for the first packet of a frame.
    pub first: bool,
    /// True for the last packet of a frame (the dependency descriptor's end of frame). With spatial layers, the marker
    /// is set only on the last layer.
    pub last: bool,
    /// True if the frame depends on no other.
    pub key: bool,
    /// True if the packet contains in-band FEC for the previous frame.
    pub in_band_fec: bool,
    /// Audio: number of earlier frames that the packet repeats (RFC 2198).
    pub repeats: u8,
    /// Temporal layer of the frame, 0 to 7.
    pub temporal: u8,
    /// Spatial layer of the frame, 0 to 7.
    pub spatial: u8,
    /// Number of the application's unit modulo 2³²: identifies the frame of the camera or the microphone.
    pub unit: u32,
    /// Frame number in the RTP stream, modulo 2¹⁶ (the dependency descriptor's frame number).
    pub frame: u16,
    /// Distance to the frame that it depends on, in frames; 0 for none (a key frame).
    pub depends: u8,
    /// Payload bytes, without the fields of this header.
    pub payload: u16,
    /// Retransmission: original sequence number. Protection: first protected sequence number.
    pub base: u16,
    /// Protection: bit i is set if it protects `base + i`.
    pub mask: u64,
}

impl RtpHeader {
    /// Returns the header as a packet body. `sequence` is the number of packets sent before it; `created` is the
    /// capture time of the frame, used only for measurements.
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
        put(&[self.depends, u8::from(self.last)]);
        put(&self.payload.to_be_bytes());
        put(&self.base.to_be_bytes());
        put(&self.mask.to_be_bytes());
        Body::Opaque { header, sequence, created }
    }

    /// Returns the header of a media packet and the capture time of its frame; `None` for other bodies.
    pub fn read(body: &Body) -> Option<(Self, Instant)> {
        let Body::Opaque { header, created, .. } = body else { return None };
        let byte = |at: usize| header.get(at).copied().unwrap_or_default();
        let two = |at: usize| u16::from_be_bytes([byte(at), byte(at + 1)]);
        let four = |at: usize| u32::from(two(at)) << 16 | u32::from(two(at + 2));
        let flags = byte(1);
        let read = RtpHeader {
            ssrc: Ssrc(byte(0)),
            kind: PayloadKind::from_number(flags >> 4)?,
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
            last: byte(19) & 1 != 0,
            payload: two(20),
            base: two(22),
            mask: u64::from(four(24)) << 32 | u64::from(four(28)),
        };
        Some((read, *created))
    }
}

/// Index of the byte in a [`Body::Opaque`] header that contains the payload kind, in its upper four bits.
const KIND_AT: usize = 1;

/// Returns the body of a packet with RTCP of the sender. Stores the bytes in `mailbox`; [`control_message`] reads them.
pub fn control_body(mailbox: &Mailbox, message: &[u8], sequence: u32, now: Instant) -> Body {
    // The mailbox's number uses the first four bytes. They move after the byte of the payload kind.
    let mut body = mailbox.put(message, sequence, now);
    if let Body::Opaque { header, .. } = &mut body {
        let [a, b, c, d, ..] = *header;
        *header = [0; 32];
        header[4..8].copy_from_slice(&[a, b, c, d]);
        header[KIND_AT] = (PayloadKind::Control as u8) << 4;
    }
    body
}

/// Returns the RTCP bytes of the sender's packet; `None` for media packets, and for messages that are too old.
pub fn control_message(mailbox: &Mailbox, body: &Body) -> Option<Box<[u8]>> {
    let Body::Opaque { header, sequence, created } = *body else { return None };
    if header[KIND_AT] >> 4 != PayloadKind::Control as u8 {
        return None;
    }
    let mut plain = [0; 32];
    plain[..4].copy_from_slice(&header[4..8]);
    mailbox.get(&Body::Opaque { header: plain, sequence, created })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rtcp_of_the_sender_is_told_from_media_and_found_in_the_mailbox() {
        let mailbox = Mailbox::new();
        mailbox.put(b"before", 0, Instant::ZERO);
        let body = control_body(&mailbox, b"report", 3, Instant::ZERO);
        assert_eq!(RtpHeader::read(&body).map(|(header, _)| header.kind), Some(PayloadKind::Control));
        assert_eq!(control_message(&mailbox, &body).as_deref(), Some(&b"report"[..]));
        assert_eq!(control_message(&mailbox, &RtpHeader::default().body(0, Instant::ZERO)), None);
    }

    #[test]
    fn streams_have_different_numbers() {
        let mut numbers = std::collections::BTreeSet::new();
        for kind in StreamKind::ALL {
            for simulcast in 0..4 {
                for role in [Role::Media, Role::Retransmission, Role::Protection] {
                    let ssrc = Ssrc::new(kind, simulcast, role);
                    assert_eq!(ssrc.parts(), Some((kind, simulcast, role)));
                    assert_eq!(Ssrc::from_number(ssrc.number()), Some(ssrc));
                    assert!(numbers.insert(ssrc.0));
                }
            }
        }
        assert_eq!(
            (Ssrc(3).parts(), Ssrc(0x30).parts(), Ssrc::RECEIVER.parts(), Ssrc::from_number(256)),
            (None, None, None, None)
        );
    }

    proptest! {
        #[test]
        fn a_header_is_read_as_it_was_written(
            (sequence, transport_sequence, frame, payload, base) in any::<(u16, u16, u16, u16, u16)>(),
            (timestamp, unit, mask, depends, repeats) in any::<(u32, u32, u64, u8, u8)>(),
            (marker, first, last, key, in_band_fec) in any::<(bool, bool, bool, bool, bool)>(),
            (ssrc, kind, temporal, spatial) in (any::<u8>(), 0u8..5, 0u8..8, 0u8..8),
        ) {
            let header = RtpHeader {
                ssrc: Ssrc(ssrc), kind: PayloadKind::from_number(kind).expect("a kind"), sequence, timestamp, transport_sequence, marker,
                first, last, key, in_band_fec, repeats, temporal, spatial, unit, frame, depends, payload, base, mask,
            };
            let created = Instant::from_nanos(u64::from(timestamp));
            prop_assert_eq!(RtpHeader::read(&header.body(7, created)), Some((header, created)));
        }
    }
}
