//! Sizes of packets: what transports have in common about them.

use fairwave_units::config::ConfigError;
use fairwave_units::units::Bytes;

/// The most payload that a datagram carries where a scenario does not say: 1200 B, as media stacks send today (the RTP packets of
/// libwebrtc; QUIC takes datagrams of this size for what any path carries). It is the same for every transport that
/// carries video in datagrams, so that a comparison compares the transports and not their headers' share.
pub const DATAGRAM_PAYLOAD: Bytes = Bytes::new(1200);

/// Accepts a segment of at least one byte that fits a datagram together with its headers.
pub fn check_sizes(segment: Bytes, header: Bytes) -> Result<(), ConfigError> {
    if segment == Bytes::ZERO || (segment + header).get() > u64::from(u16::MAX) {
        let allowed = format!("at least 1 B, and with the headers ({header}) at most 65535 B");
        return Err(ConfigError::new("segment", segment, allowed, "segment = \"1000 B\""));
    }
    Ok(())
}

/// A size that has been checked, as packets carry it; the largest that they can carry, of one that has not.
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
    fn what_does_not_fit_is_as_large_as_can_be() {
        assert_eq!([0, 65_535, 65_536].map(|size| narrow(Bytes::new(size))), [0, 65_535, 65_535]);
    }
}
