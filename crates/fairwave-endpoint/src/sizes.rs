//! Packet sizes shared by all transports.

use fairwave_units::config::ConfigError;
use fairwave_units::units::Bytes;

/// Default payload of a datagram: 1200 B, as current media stacks send (RTP packets of libwebrtc; QUIC assumes
/// that any path carries datagrams of this size). It is the same for every transport that carries video in
/// datagrams. So a comparison does not depend on the headers' share.
pub const DATAGRAM_PAYLOAD: Bytes = Bytes::new(1200);

/// Accepts a segment of at least one byte that fits in a datagram with its headers.
pub fn check_sizes(segment: Bytes, header: Bytes) -> Result<(), ConfigError> {
    if segment == Bytes::ZERO || (segment + header).get() > u64::from(u16::MAX) {
        let allowed = format!("at least 1 B, and with the headers ({header}) at most 65535 B");
        return Err(ConfigError::new("segment", segment, allowed, "segment = \"1000 B\""));
    }
    Ok(())
}

/// Converts a checked size to the 16 bits that packets carry. A larger size becomes the maximum.
pub fn narrow(size: Bytes) -> u16 {
    u16::try_from(size.get()).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_must_have_a_byte_and_fit_a_datagram_with_its_headers() {
        let check = |segment, header| check_sizes(Bytes::new(segment), Bytes::new(header)).is_ok();
        assert_eq!([check(0, 40), check(1, 40), check(65_495, 40), check(65_496, 40)], [false, true, true, false]);
    }

    #[test]
    fn sizes_that_do_not_fit_saturate() {
        assert_eq!([0, 65_535, 65_536].map(|size| narrow(Bytes::new(size))), [0, 65_535, 65_535]);
    }
}
