//! Packets of registered transports: a layout of fairwave around the header that the transport encoded.
//!
//! | byte | field | meaning |
//! |---|---|---|
//! | 0 | version, type | 0x10 |
//! | 1 | layer | video layer, 0 is the base |
//! | 2–3 | zero | reserved |
//! | 4–7 | sequence | data packets sent before this one, modulo 2³² |
//! | 8–15 | created | creation time of the unit: the sender's clock, nanoseconds |
//! | 16–47 | header | the transport's header |

use fairwave_endpoint::wire::WireError;
use fairwave_endpoint::wire::bytes::{Reader, need, packet_type, zero};
use fairwave_network::packet::Body;
use fairwave_units::units::Instant;

const VERSION: u8 = 1;
const SIZE: usize = 48;

mod at {
    pub const LAYER: usize = 1;
    pub const SEQUENCE: usize = 4;
    pub const CREATED: usize = 8;
    pub const HEADER: usize = 16;
}

/// Appends a packet's fields to `out`.
pub fn write(layer: u8, header: &[u8; 32], sequence: u32, created: Instant, out: &mut Vec<u8>) {
    out.extend([VERSION << 4, layer, 0, 0]);
    out.extend(sequence.to_be_bytes());
    out.extend(created.nanos().to_be_bytes());
    out.extend(header);
}

/// Reads a packet's body and layer.
///
/// # Errors
/// If there are fewer bytes than the layout has, if the version differs, or if reserved bytes are not 0.
pub fn read(datagram: &[u8]) -> Result<(Body, u8), WireError> {
    packet_type(datagram, VERSION, 0)?;
    need(datagram, SIZE)?;
    let reader = Reader(datagram);
    zero(&reader, &[2, 3])?;
    let mut header = [0; 32];
    header.copy_from_slice(&datagram[at::HEADER..SIZE]);
    let created = Instant::from_nanos(reader.u64(at::CREATED));
    Ok((Body::Opaque { header, sequence: reader.u32(at::SEQUENCE), created }, reader.u8(at::LAYER)))
}
