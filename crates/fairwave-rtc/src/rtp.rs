//! Headers of media packets: RTP with the extensions that WebRTC uses, as the 32 bytes of [`Body::Opaque`].

use crate::mailbox::Mailbox;
use fairwave_media::encoder::StreamKind;
use fairwave_network::packet::Body;
use fairwave_units::units::Instant;

/// Which RTP stream a packet belongs to: the place of its SSRC among those of the peer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Ssrc(pub u8);

/// What a stream is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Role {
    /// Encoded frames.
    Media = 0,
    /// Packets sent again (RFC 4588 §4: a stream of its own), and padding.
    Retransmission = 1,
    /// Forward error correction (RFC 8627: a stream of its own).
    Protection = 2,
}

impl Ssrc {
    /// The feedback's own source: the other peer.
    pub const RECEIVER: Ssrc = Ssrc(255);

    /// The stream of `kind` for `role`; `simulcast` is its place among the simulcast streams, 0 to 3. Both ends know it without
    /// a session description.
    pub const fn new(kind: StreamKind, simulcast: u8, role: Role) -> Self {
        Ssrc((kind as u8) << 4 | (simulcast & 3) << 2 | role as u8)
    }

    /// What it carries; none for a number that no stream has.
    pub fn parts(self) -> Option<(StreamKind, u8, Role)> {
        let role = match self.0 & 3 {
            0 => Role::Media,
            1 => Role::Retransmission,
            2 => Role::Protection,
            _ => return None,
        };
        Some((StreamKind::of(self.0 >> 4)?, self.0 >> 2 & 3, role))
    }

    /// The 32 bits of RTCP.
    pub const fn number(self) -> u32 {
        self.0 as u32
    }

    /// The stream with these 32 bits; none for a foreign one.
    pub fn of(number: u32) -> Option<Self> {
        u8::try_from(number).ok().map(Ssrc)
    }
}

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
    /// RTCP of the sender: the bytes lie in the flow's other mailbox, see [`control_body`].
    Control = 4,
}

impl PayloadKind {
    fn of(number: u8) -> Option<Self> {
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
    /// RTP marker: the last packet of a picture, the first of a talk spurt.
    pub marker: bool,
    /// It begins its frame.
    pub first: bool,
    /// It ends its frame (the dependency descriptor's end of frame): of spatial layers the marker ends the last alone.
    pub last: bool,
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
        put(&[self.depends, u8::from(self.last)]);
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
            last: byte(19) & 1 != 0,
            payload: two(20),
            base: two(22),
            mask: u64::from(four(24)) << 32 | u64::from(four(28)),
        };
        Some((read, *created))
    }
}

/// Byte of a [`Body::Opaque`] header that holds the payload kind, in its upper four bits.
const KIND_AT: usize = 1;

/// The body of a packet that brings RTCP of the sender: its bytes lie in `mailbox`. [`control_message`] reads it.
pub fn control_body(mailbox: &Mailbox, message: &[u8], sequence: u32, now: Instant) -> Body {
    // The mailbox's number takes the first four bytes; they move behind the byte that tells the kind.
    let mut body = mailbox.put(message, sequence, now);
    if let Body::Opaque { header, .. } = &mut body {
        let [a, b, c, d, ..] = *header;
        *header = [0; 32];
        header[4..8].copy_from_slice(&[a, b, c, d]);
        header[KIND_AT] = (PayloadKind::Control as u8) << 4;
    }
    body
}

/// The RTCP that a packet of the sender brings; none for a media packet, and for a message too old to be kept.
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
    fn each_stream_has_a_number_of_its_own() {
        let mut numbers = std::collections::BTreeSet::new();
        for kind in StreamKind::ALL {
            for simulcast in 0..4 {
                for role in [Role::Media, Role::Retransmission, Role::Protection] {
                    let ssrc = Ssrc::new(kind, simulcast, role);
                    assert_eq!(ssrc.parts(), Some((kind, simulcast, role)));
                    assert_eq!(Ssrc::of(ssrc.number()), Some(ssrc));
                    assert!(numbers.insert(ssrc.0));
                }
            }
        }
        assert_eq!(
            (Ssrc(3).parts(), Ssrc(0x30).parts(), Ssrc::RECEIVER.parts(), Ssrc::of(256)),
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
                ssrc: Ssrc(ssrc), kind: PayloadKind::of(kind).expect("a kind"), sequence, timestamp, transport_sequence, marker,
                first, last, key, in_band_fec, repeats, temporal, spatial, unit, frame, depends, payload, base, mask,
            };
            let created = Instant::from_nanos(u64::from(timestamp));
            prop_assert_eq!(RtpHeader::read(&header.body(7, created)), Some((header, created)));
        }
    }
}
