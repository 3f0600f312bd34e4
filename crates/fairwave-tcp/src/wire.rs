//! TCP segments and acknowledgements in a framing of fairwave over UDP, byte by byte (`docs/protocols/segments.md`).
//!
//! The header is not TCP's: fairwave's sender and receiver count segments instead of bytes. They need fields that
//! do not fit into TCP's header (waves, nanoseconds, counts of marks). Neither a kernel nor a middlebox treats it
//! as TCP. Fields that most acknowledgements do not use are omitted, so that they are about as long as TCP's.

use fairwave_endpoint::wire::WireError;
use fairwave_endpoint::wire::bytes::{Reader, need, packet_type, put, zero};
use fairwave_network::packet::SackBlock;
use fairwave_units::units::Instant;

/// Version of this layout.
pub const VERSION: u8 = 1;
/// Bytes of a segment's header.
pub const SEGMENT_HEADER: usize = 20;
/// Bytes of a message that abandons segments.
pub const FORWARD: usize = 16;
/// Bytes of an acknowledgement without optional fields.
pub const ACKNOWLEDGEMENT: usize = 16;

mod at {
    pub const VERSION_AND_TYPE: usize = 0;
    pub const FLAGS: usize = 1;
    // Fields of a segment.
    pub const WAVE: usize = 2;
    pub const WAVE_SIZE: usize = 4;
    pub const SEQUENCE: usize = 16;
    // Common field: sending time of the packet, or of the segment that caused it.
    pub const TIMESTAMP: usize = 8;
    // Next segment, in acknowledgements and `Forward`.
    pub const NEXT: usize = 4;
}

const SEGMENT_TYPE: u8 = 0;
const FORWARD_TYPE: u8 = 1;
const ACKNOWLEDGEMENT_TYPE: u8 = 2;

// Flags of a segment.
const RETRANSMISSION: u8 = 1;
const WINDOW_REDUCED: u8 = 2;
const LAST: u8 = 4;
// Flags of an acknowledgement; its lowest two bits are the number of blocks.
const BLOCKS: u8 = 3;
const CONGESTION_ECHO: u8 = 4;
const MARKED: u8 = 8;
const RATE: u8 = 16;

/// A segment, an acknowledgement, or the abandonment of segments, without payload. The fields are those of
/// [`fairwave_network::packet::Body`].
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)] // documented there
pub enum Header {
    /// A segment.
    Segment {
        sequence: u32,
        wave: u16,
        wave_size: u16,
        retransmission: bool,
        window_reduced: bool,
        last: bool,
        sent: Instant,
    },
    /// The segments before `next` are abandoned.
    Forward { next: u32, sent: Instant },
    /// An acknowledgement. Empty blocks are not carried; used blocks come first.
    Acknowledgement {
        next: u32,
        echo: Instant,
        rate: f32,
        wave: u16,
        congestion_echo: bool,
        marked: u32,
        sack: [SackBlock; 3],
    },
}

fn flag(set: bool, flag: u8) -> u8 {
    if set { flag } else { 0 }
}

/// Version, type, flags, and the common fields of all packets except segments.
fn short(packet_type: u8, flags: u8, next: u32, time: Instant) -> [u8; ACKNOWLEDGEMENT] {
    let mut bytes = [0; ACKNOWLEDGEMENT];
    bytes[at::VERSION_AND_TYPE] = VERSION << 4 | packet_type;
    bytes[at::FLAGS] = flags;
    put(&mut bytes, at::NEXT, next.to_be_bytes());
    put(&mut bytes, at::TIMESTAMP, time.nanos().to_be_bytes());
    bytes
}

impl Header {
    /// Appends the header to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Header::Segment { sequence, wave, wave_size, retransmission, window_reduced, last, sent } => {
                let mut bytes = [0; SEGMENT_HEADER];
                bytes[at::VERSION_AND_TYPE] = VERSION << 4 | SEGMENT_TYPE;
                bytes[at::FLAGS] =
                    flag(retransmission, RETRANSMISSION) | flag(window_reduced, WINDOW_REDUCED) | flag(last, LAST);
                put(&mut bytes, at::WAVE, wave.to_be_bytes());
                put(&mut bytes, at::WAVE_SIZE, wave_size.to_be_bytes());
                put(&mut bytes, at::TIMESTAMP, sent.nanos().to_be_bytes());
                put(&mut bytes, at::SEQUENCE, sequence.to_be_bytes());
                out.extend_from_slice(&bytes);
            }
            Header::Forward { next, sent } => out.extend_from_slice(&short(FORWARD_TYPE, 0, next, sent)),
            Header::Acknowledgement { next, echo, rate, wave, congestion_echo, marked, sack } => {
                let blocks = || sack.iter().filter(|block| block.first < block.end);
                let measured = rate.to_bits() != 0 || wave != 0;
                let flags = blocks().count() as u8
                    | flag(congestion_echo, CONGESTION_ECHO)
                    | flag(marked != 0, MARKED)
                    | flag(measured, RATE);
                out.extend_from_slice(&short(ACKNOWLEDGEMENT_TYPE, flags, next, echo));
                if marked != 0 {
                    out.extend(marked.to_be_bytes());
                }
                if measured {
                    out.extend(rate.to_be_bytes());
                    out.extend(wave.to_be_bytes());
                    out.extend([0, 0]);
                }
                for block in blocks() {
                    out.extend(block.first.to_be_bytes());
                    out.extend(block.end.to_be_bytes());
                }
            }
        }
    }

    /// Reads the header at the start of `bytes` and ignores the rest.
    ///
    /// # Errors
    /// The first problem found.
    pub fn decode(bytes: &[u8]) -> Result<Header, WireError> {
        let reader = Reader(bytes);
        match packet_type(bytes, VERSION, ACKNOWLEDGEMENT_TYPE)? {
            SEGMENT_TYPE => decode_segment(bytes),
            FORWARD_TYPE => {
                need(bytes, FORWARD)?;
                zero(&reader, &[1, 2, 3])?;
                let sent = Instant::from_nanos(reader.u64(at::TIMESTAMP));
                Ok(Header::Forward { next: reader.u32(at::NEXT), sent })
            }
            _ => decode_acknowledgement(bytes),
        }
    }
}

fn decode_segment(bytes: &[u8]) -> Result<Header, WireError> {
    need(bytes, SEGMENT_HEADER)?;
    let reader = Reader(bytes);
    zero(&reader, &[6, 7])?;
    let flags = reader.u8(at::FLAGS);
    if flags & !(RETRANSMISSION | WINDOW_REDUCED | LAST) != 0 {
        return Err(WireError::Reserved(at::FLAGS));
    }
    Ok(Header::Segment {
        sequence: reader.u32(at::SEQUENCE),
        wave: reader.u16(at::WAVE),
        wave_size: reader.u16(at::WAVE_SIZE),
        retransmission: flags & RETRANSMISSION != 0,
        window_reduced: flags & WINDOW_REDUCED != 0,
        last: flags & LAST != 0,
        sent: Instant::from_nanos(reader.u64(at::TIMESTAMP)),
    })
}

fn decode_acknowledgement(bytes: &[u8]) -> Result<Header, WireError> {
    need(bytes, ACKNOWLEDGEMENT)?;
    let reader = Reader(bytes);
    zero(&reader, &[2, 3])?;
    let flags = reader.u8(at::FLAGS);
    if flags & !(BLOCKS | CONGESTION_ECHO | MARKED | RATE) != 0 {
        return Err(WireError::Reserved(at::FLAGS));
    }
    let (mut place, mut marked, mut rate, mut wave) = (ACKNOWLEDGEMENT, 0, 0.0, 0);
    if flags & MARKED != 0 {
        need(bytes, place + 4)?;
        marked = reader.u32(place);
        if marked == 0 {
            return Err(WireError::Superfluous("count of marks"));
        }
        place += 4;
    }
    if flags & RATE != 0 {
        need(bytes, place + 8)?;
        let bits = reader.u32(place);
        (rate, wave) = (f32::from_bits(bits), reader.u16(place + 4));
        zero(&reader, &[place + 6, place + 7])?;
        if bits == 0 && wave == 0 {
            return Err(WireError::Superfluous("rate of a wave"));
        }
        place += 8;
    }
    let mut sack = [SackBlock::default(); 3];
    for block in sack.iter_mut().take(usize::from(flags & BLOCKS)) {
        need(bytes, place + 8)?;
        *block = SackBlock { first: reader.u32(place), end: reader.u32(place + 4) };
        if block.first >= block.end {
            return Err(WireError::Superfluous("block without segments"));
        }
        place += 8;
    }
    Ok(Header::Acknowledgement {
        next: reader.u32(at::NEXT),
        echo: Instant::from_nanos(reader.u64(at::TIMESTAMP)),
        rate,
        wave,
        congestion_echo: flags & CONGESTION_ECHO != 0,
        marked,
        sack,
    })
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
