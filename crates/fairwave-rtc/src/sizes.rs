//! Header sizes, bytes. All packet sizes count the whole IP packet: IPv4, UDP, RTP with extensions, payload, and SRTP
//! authentication tag, because every WebRTC call is encrypted (RFC 8827 §6.5). They exclude the link layer.

/// IPv4 without options (RFC 791 §3.1).
pub const IPV4: u16 = 20;
/// UDP (RFC 768).
pub const UDP: u16 = 8;
/// RTP without contributing sources (RFC 3550 §5.1).
pub const RTP: u16 = 12;
/// Start of header extensions: profile and length (RFC 8285 §4.1).
pub const EXTENSION: u16 = 4;
/// One-byte-header element with 2 bytes of data: transport-wide sequence number
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §2).
pub const TRANSPORT_SEQUENCE: u16 = 3;
/// One-byte-header element with 3 bytes of data: send time (the extension abs-send-time).
pub const ABSOLUTE_SEND_TIME: u16 = 4;
/// One-byte-header element with 1 byte of data: media identifier (the MID of RFC 8843 §15, of one character).
pub const MEDIA_IDENTIFIER: u16 = 2;
/// One-byte-header element with 1 byte of data: audio level (RFC 6464 §3).
pub const AUDIO_LEVEL: u16 = 2;
/// One-byte-header element with 3 bytes of data: dependency descriptor of a frame that names a template (AV1's RTP
/// payload specification, appendix A: three bytes are mandatory).
pub const DEPENDENCY_DESCRIPTOR: u16 = 4;
/// Authentication tag of SRTP (RFC 3711 §5.2: HMAC-SHA1, 80 bits).
pub const PROTECTION_TAG: u16 = 10;
/// Field before the payload of a retransmission: the original sequence number (RFC 4588 §4).
pub const ORIGINAL_SEQUENCE: u16 = 2;
/// FlexFEC header for one source: fixed part, base, and a mask of 15 packets (RFC 8627 §4.2.2); 4 B more for up to 46
/// packets, 8 B more for up to 109.
pub const FLEXFEC: u16 = 12;
/// ULPFEC: FEC header (RFC 5109 §7.3) and header of one level with a short mask (§7.4); 4 B more with a long mask, and
/// 1 B for RED (RFC 2198 §3).
pub const ULPFEC: u16 = 10 + 4;
/// RED header of the last block (RFC 2198 §3).
pub const RED: u16 = 1;
/// VP8 payload descriptor with a picture number of 15 bits (RFC 7741 §4.2), at the start of each video packet.
pub const VIDEO_DESCRIPTOR: u16 = 4;

/// Extensions of an audio packet, padded to words of 4 B (RFC 8285 §4.1): transport-wide number, time, media, level.
pub const AUDIO_EXTENSIONS: u16 =
    words(EXTENSION + TRANSPORT_SEQUENCE + ABSOLUTE_SEND_TIME + MEDIA_IDENTIFIER + AUDIO_LEVEL);
/// Extensions of a video packet: transport-wide number, time, media, dependency descriptor.
pub const VIDEO_EXTENSIONS: u16 =
    words(EXTENSION + TRANSPORT_SEQUENCE + ABSOLUTE_SEND_TIME + MEDIA_IDENTIFIER + DEPENDENCY_DESCRIPTOR);

/// IPv4 and UDP headers.
pub const LOWER: u16 = IPV4 + UDP;
/// All headers of an audio packet.
pub const AUDIO_HEADER: u16 = LOWER + RTP + AUDIO_EXTENSIONS + PROTECTION_TAG;
/// All headers of a video packet, of a retransmission without the original number, and of protection without the FEC
/// header.
pub const VIDEO_HEADER: u16 = LOWER + RTP + VIDEO_EXTENSIONS + PROTECTION_TAG;
/// SRTCP overhead of RTCP: index and authentication tag (RFC 3711 §3.4).
pub const PROTECTED_CONTROL: u16 = 4 + PROTECTION_TAG;

/// Pads to words of 4 B.
const fn words(bytes: u16) -> u16 {
    bytes.div_ceil(4) * 4
}

/// Returns the size of the IP packet that carries RTCP of this length.
pub fn control(message: usize) -> u16 {
    u16::try_from(message + usize::from(LOWER + PROTECTED_CONTROL)).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_add_up() {
        assert_eq!((AUDIO_EXTENSIONS, VIDEO_EXTENSIONS), (16, 20));
        assert_eq!((AUDIO_HEADER, VIDEO_HEADER), (66, 70));
        assert_eq!((control(20), control(100_000)), (62, u16::MAX));
    }
}
