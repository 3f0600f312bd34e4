//! IPv4 packets as the router reads and writes them: addresses, ports, DSCP and ECN.

use std::net::Ipv4Addr;

use etherparse::{IpNumber, Ipv4HeaderSlice};
use fairwave_core::packet::{Class, Ecn};

/// Key of a conversation: addresses, protocol and ports.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConversationKey {
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Protocol number.
    pub protocol: u8,
    /// Source port; 0 for protocols without ports, and for all fragments except the first.
    pub source_port: u16,
    /// Destination port; 0 as for the source.
    pub destination_port: u16,
}

impl ConversationKey {
    /// Returns the key of the opposite direction.
    pub fn reversed(self) -> ConversationKey {
        ConversationKey {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            ..self
        }
    }

    /// Returns the class of a packet for which the scenario sets no class: TCP by protocol number, voice by DSCP EF
    /// (46), the default of voice applications.
    pub fn class(self, dscp: u8) -> Class {
        match (self.protocol, dscp) {
            (number, _) if number == IpNumber::TCP.0 => Class::Tcp,
            (_, 46) => Class::Voice,
            _ => Class::OtherUdp,
        }
    }
}

/// Header fields of an IPv4 packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Key of the conversation.
    pub key: ConversationKey,
    /// Differentiated services code point.
    pub dscp: u8,
    /// ECN code point.
    pub ecn: Ecn,
    /// Offset of the TCP or UDP payload, bytes; for other protocols, the end of the IP header.
    pub payload_at: u16,
    /// Length of the packet, bytes.
    pub length: u16,
}

impl Header {
    /// Returns the number of bytes after the IP header and the TCP or UDP header.
    pub fn payload(&self) -> u16 {
        self.length.saturating_sub(self.payload_at)
    }
}

/// Reads an IPv4 packet. Returns `None` for other data and for truncated packets.
pub fn read(packet: &[u8]) -> Option<Header> {
    let ip = Ipv4HeaderSlice::from_slice(packet).ok()?;
    let length = ip.total_len();
    let body = packet.get(ip.slice().len()..usize::from(length))?;
    let port = |at: usize| Some(u16::from_be_bytes([*body.get(at)?, *body.get(at + 1)?]));
    let first = ip.fragments_offset().value() == 0;
    let (ports, behind) = match ip.protocol() {
        IpNumber::UDP if first => (port(0).zip(port(2)), 8),
        IpNumber::TCP if first => (port(0).zip(port(2)), usize::from(body.get(12)? >> 4) * 4),
        _ => (Some((0, 0)), 0),
    };
    let (source_port, destination_port) = ports?;
    let key = ConversationKey {
        source: ip.source_addr(),
        destination: ip.destination_addr(),
        protocol: ip.protocol().0,
        source_port,
        destination_port,
    };
    let ecn = ecn_of(ip.ecn().value());
    let payload_at = u16::try_from(ip.slice().len() + behind).ok()?;
    Some(Header { key, dscp: ip.dcp().value(), ecn, payload_at, length })
}

/// Returns the sequence number of a TCP segment read by [`read`]; `None` for other protocols.
pub fn sequence(packet: &[u8], header: &Header) -> Option<u32> {
    let tcp = Ipv4HeaderSlice::from_slice(packet).ok()?.slice().len();
    let number = packet.get(tcp + 4..tcp + 8).filter(|_| header.key.protocol == IpNumber::TCP.0)?;
    number.try_into().ok().map(u32::from_be_bytes)
}

/// Returns the ECN code point of two bits (RFC 3168 §5).
pub fn ecn_of(bits: u8) -> Ecn {
    match bits & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// Sets the ECN code point to "congestion experienced" in an IPv4 header and updates the checksum (RFC 1624 §3). Leaves
/// data that is shorter than a header unchanged.
pub fn mark(packet: &mut [u8]) {
    let Some([version, service, .., high, low]) = packet.first_chunk_mut::<12>() else { return };
    let before = u16::from_be_bytes([*version, *service]);
    *service |= 3;
    let after = u16::from_be_bytes([*version, *service]);
    // RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
    let sum = u32::from(!u16::from_be_bytes([*high, *low])) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    [*high, *low] = (!(folded as u16)).to_be_bytes();
}

#[cfg(test)]
mod tests {
    use etherparse::{Ipv4Header, PacketBuilder};
    use proptest::prelude::*;

    use super::*;

    fn udp(payload: usize, service: u8) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64)
            .udp(5004, 6000)
            .write(&mut packet, &vec![7; payload])
            .expect("a packet");
        packet[1] = service;
        packet[10..12].fill(0);
        let sum = Ipv4Header::from_slice(&packet).expect("a header").0.calc_header_checksum();
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    #[test]
    fn a_datagram_is_read() {
        let header = read(&udp(160, 46 << 2 | 2)).expect("a header");
        assert_eq!((header.key.source_port, header.key.destination_port), (5004, 6000));
        assert_eq!((header.ecn, header.dscp, header.length, header.payload()), (Ecn::Ect0, 46, 188, 160));
        assert_eq!(header.key.class(header.dscp), Class::Voice);
        assert_eq!(header.key.reversed().reversed(), header.key);
    }

    #[test]
    fn a_segment_is_read_with_its_options() {
        let mut packet = Vec::new();
        PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64)
            .tcp(40_000, 80, 1, 1000)
            .options(&[etherparse::TcpOptionElement::Timestamp(1, 2)])
            .expect("an option")
            .write(&mut packet, &[0; 100])
            .expect("a packet");
        let header = read(&packet).expect("a header");
        assert_eq!((header.payload(), header.key.class(header.dscp)), (100, Class::Tcp));
    }

    proptest! {
        #[test]
        fn a_mark_leaves_the_checksum_right(payload in 0usize..1400, service: u8) {
            let mut packet = udp(payload, service);
            mark(&mut packet);
            let header = Ipv4Header::from_slice(&packet).expect("a header").0;
            prop_assert_eq!(header.header_checksum, header.calc_header_checksum());
            prop_assert_eq!(read(&packet).expect("a header").ecn, Ecn::Ce);
            prop_assert_eq!(packet[1] >> 2, service >> 2);
        }

        #[test]
        fn fuzz_reading_and_marking_survive_any_bytes(mut bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            if let Some(header) = read(&bytes) {
                prop_assert!(usize::from(header.length) <= bytes.len());
            }
            mark(&mut bytes);
        }
    }
}
