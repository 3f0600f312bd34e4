//! Wire formats: parts that the packet bytes of all transports share.

pub mod bytes;
pub mod clock;
pub mod descriptor;
pub mod error;
pub mod media;

pub use error::WireError;
pub use media::Media;

use fairwave_media::traffic::TrafficConfig;
use fairwave_network::packet::FlowId;
use fairwave_units::units::Instant;

use bytes::{Reader, need};

/// Bytes of IPv4 (without options) and UDP before the datagram.
pub const LOWER_HEADERS: usize = 28;

/// The protocol that carries a transport's packets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Protocol {
    /// RTP with RTCP (RFC 3550). The packet type distinguishes them (RFC 5761 §4), so that they may share a port.
    #[default]
    Rtp,
    /// TFRC: the fields of RFC 5348 §3.2 in a layout of fairwave.
    Tfrc,
    /// DVRC, see `fairwave_transport::dvrc::wire`.
    Dvrc,
    /// RAP in a layout of fairwave.
    Rap,
    /// TCP segments over UDP in a framing of fairwave.
    Segments,
    /// A registered transport with an unknown header: its bytes in fairwave's framing.
    Opaque,
}

/// The parameters of a flow's wire format, known to both ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Format {
    /// The protocol.
    pub protocol: Protocol,
    /// RTP parameters of the media.
    pub media: Media,
    /// The names (RTCP's CNAME) of the sender's host and of the receiver's, at most 255 bytes each.
    pub names: [String; 2],
}

impl Format {
    /// The format of a flow between two hosts.
    pub fn for_flow(flow: FlowId, protocol: Protocol, traffic: &TrafficConfig, hosts: [&str; 2]) -> Self {
        Format { protocol, media: Media::for_flow(flow, traffic), names: hosts.map(cname) }
    }

    /// The name of the sending end: the flow's sender, or with `feedback` its receiver.
    pub fn name(&self, feedback: bool) -> &str {
        let [sender, receiver] = &self.names;
        if feedback { receiver } else { sender }
    }
}

/// A host's name, truncated to the size of an RTCP item (RFC 3550 §6.5: the length has 8 bits).
fn cname(host: &str) -> String {
    let end = (0..=host.len().min(255)).rev().find(|&end| host.is_char_boundary(end)).unwrap_or(0);
    host.get(..end).unwrap_or("").to_owned()
}

/// A unit's creation time at the start of the payload, for protocols whose header carries all other fields (DVRC).
/// It has 8 bytes: the sender's clock in nanoseconds.
pub mod made {
    use super::{Instant, Reader, WireError, need};

    /// Size in bytes.
    pub const SIZE: usize = 8;

    /// Appends the creation time to `out`.
    pub fn write(created: Instant, out: &mut Vec<u8>) {
        out.extend(created.nanos().to_be_bytes());
    }

    /// Reads the creation time at the start of a payload.
    pub fn read(payload: &[u8]) -> Result<Instant, WireError> {
        need(payload, SIZE)?;
        Ok(Instant::from_nanos(Reader(payload).u64(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_s_name_is_as_long_as_an_item_holds_and_ends_between_characters() {
        assert_eq!((cname("alice"), cname("").len()), ("alice".to_owned(), 0));
        assert_eq!([cname(&"a".repeat(300)).len(), cname(&"é".repeat(200)).len()], [255, 254]);
    }
}
