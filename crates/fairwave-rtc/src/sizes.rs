//! Bytes of headers. All sizes of packets count the whole IP packet: IPv4, UDP, RTP with its extensions, payload and SRTP's
//! authentication tag, since every call of WebRTC is encrypted (RFC 8827 §6.5). They leave out the link layer.

/// IPv4 without options (RFC 791 §3.1).
pub const IPV4: u16 = 20;
/// UDP (RFC 768).
pub const UDP: u16 = 8;
/// RTP without contributing sources (RFC 3550 §5.1).
pub const RTP: u16 = 12;
/// Beginning of header extensions: profile and length (RFC 8285 §4.1).
pub const EXTENSION: u16 = 4;
/// An element of one byte's header with 2 bytes of data: the transport-wide sequence number
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §2).
pub const TRANSPORT_SEQUENCE: u16 = 3;
/// An element of one byte's header with 3 bytes of data: when it was sent (the extension abs-send-time).
pub const ABSOLUTE_SEND_TIME: u16 = 4;
/// An element of one byte's header with 1 byte of data: which media it is (the MID of RFC 8843 §15, of one character).
pub const MEDIA_IDENTIFIER: u16 = 2;
/// An element of one byte's header with 1 byte of data: level of the speech (RFC 6464 §3).
pub const AUDIO_LEVEL: u16 = 2;
/// An element of one byte's header with 3 bytes of data: the dependency descriptor of a frame that names a template (AV1's RTP
/// payload specification, appendix A: three bytes are mandatory).
pub const DEPENDENCY_DESCRIPTOR: u16 = 4;
/// Authentication tag of SRTP (RFC 3711 §5.2: HMAC-SHA1, 80 bits).
pub const PROTECTION_TAG: u16 = 10;
/// What a retransmission says before its payload: the original sequence number (RFC 4588 §4).
pub const ORIGINAL_SEQUENCE: u16 = 2;
/// FlexFEC's header for one source: fixed part, base, and a mask of 15 packets (RFC 8627 §4.2.2); 4 B more for up to 46
/// packets, 8 B more for up to 109.
pub const FLEXFEC: u16 = 12;
/// ULPFEC: the FEC header (RFC 5109 §7.3) and the header of one level with a short mask (§7.4); 4 B more with a long mask, and
/// 1 B for RED (RFC 2198 §3).
pub const ULPFEC: u16 = 10 + 4;
/// RED's header of the last block (RFC 2198 §3).
pub const RED: u16 = 1;
/// VP8's payload descriptor with a picture number of 15 bits (RFC 7741 §4.2), at the beginning of each packet of video.
pub const VIDEO_DESCRIPTOR: u16 = 4;

/// The extensions of an audio packet, filled up to words of 4 B (RFC 8285 §4.1): transport-wide number, time, media, level.
pub const AUDIO_EXTENSIONS: u16 =
    words(EXTENSION + TRANSPORT_SEQUENCE + ABSOLUTE_SEND_TIME + MEDIA_IDENTIFIER + AUDIO_LEVEL);
/// The extensions of a video packet: transport-wide number, time, media, dependencies of the frame.
pub const VIDEO_EXTENSIONS: u16 =
    words(EXTENSION + TRANSPORT_SEQUENCE + ABSOLUTE_SEND_TIME + MEDIA_IDENTIFIER + DEPENDENCY_DESCRIPTOR);

/// IPv4, UDP, SRTP: what is on the wire besides RTP's own header and payload.
pub const LOWER: u16 = IPV4 + UDP;
/// All headers of an audio packet.
pub const AUDIO_HEADER: u16 = LOWER + RTP + AUDIO_EXTENSIONS + PROTECTION_TAG;
/// All headers of a video packet, of a retransmission without the original number, and of protection without its own header.
pub const VIDEO_HEADER: u16 = LOWER + RTP + VIDEO_EXTENSIONS + PROTECTION_TAG;
/// What SRTCP adds to RTCP: index and authentication tag (RFC 3711 §3.4).
pub const PROTECTED_CONTROL: u16 = 4 + PROTECTION_TAG;

/// Fills up to words of 4 B.
const fn words(bytes: u16) -> u16 {
    bytes.div_ceil(4) * 4
}

/// Bytes of the IP packet that brings RTCP of this length.
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
