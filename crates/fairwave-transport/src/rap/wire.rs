//! RAP's packets, byte by byte, in a layout of fairwave (`docs/protocols/datagrams.md`). Rejaie, Handley & Estrin
//! 1999 only name the fields.

use fairwave_endpoint::wire::WireError;
use fairwave_endpoint::wire::bytes::{Reader, need, packet_type, put, zero};

/// Version of this layout.
pub const VERSION: u8 = 1;
/// Bytes of a data packet's header.
pub const DATA_HEADER: usize = 8;
/// Bytes of an acknowledgement.
pub const ACKNOWLEDGEMENT: usize = 16;

mod at {
    pub const VERSION_AND_TYPE: usize = 0;
    // Fields of a data packet.
    pub const SEQUENCE: usize = 4;
    // Fields of an acknowledgement.
    pub const FLAGS: usize = 1;
    pub const CURRENT: usize = 4;
    pub const MISSING: usize = 8;
    pub const BEFORE: usize = 12;
}

const DATA_TYPE: u8 = 0;
const ACKNOWLEDGEMENT_TYPE: u8 = 1;
/// The flag that announces a missing datagram.
const IS_MISSING: u8 = 1;

/// A RAP packet without its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Header {
    /// A data packet.
    Data {
        /// Packets sent before this one, modulo 2³².
        sequence: u32,
    },
    /// The receiver's acknowledgement.
    Acknowledgement {
        /// The datagram that caused it.
        current: u32,
        /// The latest missing datagram before it; `None` if none is missing.
        missing: Option<u32>,
        /// The latest datagram that arrived before the missing one.
        before: u32,
    },
}

impl Header {
    /// Appends the header to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut bytes = [0; ACKNOWLEDGEMENT];
        let length = match *self {
            Header::Data { sequence } => {
                bytes[at::VERSION_AND_TYPE] = VERSION << 4 | DATA_TYPE;
                put(&mut bytes, at::SEQUENCE, sequence.to_be_bytes());
                DATA_HEADER
            }
            Header::Acknowledgement { current, missing, before } => {
                bytes[at::VERSION_AND_TYPE] = VERSION << 4 | ACKNOWLEDGEMENT_TYPE;
                bytes[at::FLAGS] = if missing.is_some() { IS_MISSING } else { 0 };
                put(&mut bytes, at::CURRENT, current.to_be_bytes());
                put(&mut bytes, at::MISSING, missing.unwrap_or(0).to_be_bytes());
                put(&mut bytes, at::BEFORE, before.to_be_bytes());
                ACKNOWLEDGEMENT
            }
        };
        out.extend_from_slice(&bytes[..length]);
    }

    /// Reads the header at the start of `bytes` and ignores the rest.
    ///
    /// # Errors
    /// The first problem found.
    pub fn decode(bytes: &[u8]) -> Result<Header, WireError> {
        let reader = Reader(bytes);
        if packet_type(bytes, VERSION, ACKNOWLEDGEMENT_TYPE)? == DATA_TYPE {
            need(bytes, DATA_HEADER)?;
            zero(&reader, &[1, 2, 3])?;
            return Ok(Header::Data { sequence: reader.u32(at::SEQUENCE) });
        }
        need(bytes, ACKNOWLEDGEMENT)?;
        zero(&reader, &[2, 3])?;
        let (flags, missing) = (reader.u8(at::FLAGS), reader.u32(at::MISSING));
        if flags & !IS_MISSING != 0 {
            return Err(WireError::Reserved(at::FLAGS));
        }
        if flags == 0 && missing != 0 {
            return Err(WireError::Superfluous("missing datagram without its flag"));
        }
        Ok(Header::Acknowledgement {
            current: reader.u32(at::CURRENT),
            missing: (flags == IS_MISSING).then_some(missing),
            before: reader.u32(at::BEFORE),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(header: Header) -> Vec<u8> {
        let mut out = Vec::new();
        header.encode(&mut out);
        out
    }

    const ACK: Header = Header::Acknowledgement { current: 0x0102_0304, missing: Some(0x0506_0708), before: 9 };

    #[test]
    fn packets_are_laid_out_as_the_document_says() {
        assert_eq!(bytes(Header::Data { sequence: 0x0102_0304 }), [0x10, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(bytes(ACK), [0x11, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 9]);
        let none = Header::Acknowledgement { current: 7, missing: None, before: 6 };
        assert_eq!(bytes(none), [0x11, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 6]);
        for header in [ACK, none, Header::Data { sequence: 5 }] {
            assert_eq!(Header::decode(&bytes(header)), Ok(header));
        }
    }

    #[test]
    fn malformed_packets_are_refused_with_the_reason() {
        let with = |header: Header, at: usize, value: u8| {
            let mut bytes = bytes(header);
            bytes[at] = value;
            Header::decode(&bytes).err()
        };
        let data = Header::Data { sequence: 5 };
        assert_eq!(with(data, 0, 0x20), Some(WireError::Version { found: 2, known: 1 }));
        assert_eq!(with(data, 0, 0x12), Some(WireError::PacketType { found: 2, most: 1 }));
        assert_eq!([1, 2, 3].map(|at| with(data, at, 1)), [1, 2, 3].map(|at| Some(WireError::Reserved(at))));
        assert_eq!([2, 3].map(|at| with(ACK, at, 1)), [2, 3].map(|at| Some(WireError::Reserved(at))));
        assert_eq!(with(ACK, 1, 3), Some(WireError::Reserved(1)));
        assert_eq!(with(ACK, 1, 0), Some(WireError::Superfluous("missing datagram without its flag")));
        assert_eq!(Header::decode(&bytes(data)[..7]), Err(WireError::Short { have: 7, need: 8 }));
        assert_eq!(Header::decode(&bytes(ACK)[..15]), Err(WireError::Short { have: 15, need: 16 }));
    }
}
