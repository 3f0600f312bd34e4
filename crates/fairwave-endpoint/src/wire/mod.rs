//! What the bytes of all transports have in common: how a flow's packets are carried, and the parts that headers are written with.

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

/// Bytes of IPv4 (without options) and UDP before the datagram that is written here.
pub const LOWER_HEADERS: usize = 28;

/// How a transport's packets are carried.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Protocol {
    /// RTP with RTCP (RFC 3550), told apart by the packet type (RFC 5761 §4), so that they may share a port.
    #[default]
    Rtp,
    /// TFRC: the fields of RFC 5348 §3.2 in a layout of our own.
    Tfrc,
    /// DVRC, see [`dvrc::wire`].
    Dvrc,
    /// RAP in a layout of our own.
    Rap,
    /// TCP's segments in a framing of our own over UDP.
    Segments,
    /// A transport that a program registers and whose header only the program knows: its bytes in fairwave's framing.
    Opaque,
}

/// What both ends of a flow know of how its packets are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Format {
    /// How they are carried.
    pub protocol: Protocol,
    /// What RTP says of its media.
    pub media: Media,
    /// The names (RTCP's CNAME) of the sender's host and of the receiver's, at most 255 bytes each.
    pub names: [String; 2],
}

impl Format {
    /// That of a flow between two hosts.
    pub fn of(flow: FlowId, protocol: Protocol, traffic: &TrafficConfig, hosts: [&str; 2]) -> Self {
        Format { protocol, media: Media::of(flow, traffic), names: hosts.map(cname) }
    }

    /// The name of who sends: the flow's sender, or with `feedback` its receiver.
    pub fn name(&self, feedback: bool) -> &str {
        let [sender, receiver] = &self.names;
        if feedback { receiver } else { sender }
    }
}

/// A host's name, as much of it as an item of RTCP holds (RFC 3550 §6.5: its length has 8 bits).
fn cname(host: &str) -> String {
    let end = (0..=host.len().min(255)).rev().find(|&end| host.is_char_boundary(end)).unwrap_or(0);
    host.get(..end).unwrap_or("").to_owned()
}

/// When a unit was made, at the beginning of a payload whose header says everything else (DVRC): 8 bytes, the sender's clock in nanoseconds.
pub mod made {
    use super::{Instant, Reader, WireError, need};

    /// Bytes.
    pub const SIZE: usize = 8;

    /// Writes it at the end of `out`.
    pub fn write(created: Instant, out: &mut Vec<u8>) {
        out.extend(created.nanos().to_be_bytes());
    }

    /// Reads what a payload begins with.
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
