//! The payload descriptor at the start of a data packet's payload: fields that measures need and that no header
//! carries.
//!
//! A transport with a payload format puts a descriptor before the format, as video over RTP does. The layout of
//! fairwave:
//!
//! | byte | field | meaning |
//! |---|---|---|
//! | 0 | version, flags | high nibble 1; bit 0: part and parts follow; the rest reserved |
//! | 1 | layer | video layer, 0 is the base |
//! | 2–3 | payload | bytes that the application sent with this packet, regardless of the datagram's length |
//! | 4–7 | unit | number of the application's unit |
//! | 8–15 | created | creation time of the unit: the sender's clock, nanoseconds |
//! | 16–17 | part | index among the packets of the unit, from 0; only if the flag is set |
//! | 18–19 | parts | number of packets of the unit: more than `part`, and more than 1 |

use super::WireError;
use super::bytes::{Reader, need, put};
use fairwave_units::units::Instant;

/// Version of this layout.
const VERSION: u8 = 1;
/// Bytes with `part` and `parts`.
const CUT: usize = 20;
/// The flag that announces `part` and `parts`.
const IS_CUT: u8 = 1;

mod at {
    pub const VERSION_AND_FLAGS: usize = 0;
    pub const LAYER: usize = 1;
    pub const PAYLOAD: usize = 2;
    pub const UNIT: usize = 4;
    pub const CREATED: usize = 8;
    pub const PART: usize = 16;
    pub const PARTS: usize = 18;
}

/// The fields of a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor {
    /// Video layer (0 = base).
    pub layer: u8,
    /// Payload bytes.
    pub payload: u16,
    /// The application's unit.
    pub unit: u32,
    /// When the application made the unit.
    pub created: Instant,
    /// The packet's index among those of its unit, from 0.
    pub part: u16,
    /// Number of the unit's packets.
    pub parts: u16,
}

impl Descriptor {
    /// Bytes without `part` and `parts`.
    pub const SINGLE_PART: usize = 16;

    /// Appends the descriptor to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        let is_single = (self.part, self.parts) == (0, 1);
        let mut bytes = [0; CUT];
        bytes[at::VERSION_AND_FLAGS] = VERSION << 4 | if is_single { 0 } else { IS_CUT };
        bytes[at::LAYER] = self.layer;
        put(&mut bytes, at::PAYLOAD, self.payload.to_be_bytes());
        put(&mut bytes, at::UNIT, self.unit.to_be_bytes());
        put(&mut bytes, at::CREATED, self.created.nanos().to_be_bytes());
        put(&mut bytes, at::PART, self.part.to_be_bytes());
        put(&mut bytes, at::PARTS, self.parts.to_be_bytes());
        out.extend_from_slice(if is_single { &bytes[..Self::SINGLE_PART] } else { &bytes });
    }

    /// Reads the descriptor at the start of a payload.
    pub fn read(payload: &[u8]) -> Result<Descriptor, WireError> {
        need(payload, Self::SINGLE_PART)?;
        let reader = Reader(payload);
        let first = reader.u8(at::VERSION_AND_FLAGS);
        if first >> 4 != VERSION {
            return Err(WireError::Version { found: first >> 4, known: VERSION });
        }
        if first & 0x0f & !IS_CUT != 0 {
            return Err(WireError::Reserved(at::VERSION_AND_FLAGS));
        }
        let (mut part, mut parts) = (0, 1);
        if first & IS_CUT != 0 {
            need(payload, CUT)?;
            (part, parts) = (reader.u16(at::PART), reader.u16(at::PARTS));
            if part >= parts {
                return Err(WireError::Part { part, parts });
            }
            if parts == 1 {
                return Err(WireError::Superfluous("part of a unit that is whole"));
            }
        }
        Ok(Descriptor {
            layer: reader.u8(at::LAYER),
            payload: reader.u16(at::PAYLOAD),
            unit: reader.u32(at::UNIT),
            created: Instant::from_nanos(reader.u64(at::CREATED)),
            part,
            parts,
        })
    }

    /// Reads a descriptor without `part` and `parts`: the protocol does not cut units, or describes parts elsewhere.
    pub fn read_single_part(payload: &[u8]) -> Result<Descriptor, WireError> {
        let read = Descriptor::read(payload)?;
        if read.parts == 1 { Ok(read) } else { Err(WireError::Superfluous("part in this protocol")) }
    }

    /// Creates the descriptor of a whole unit, or of a part that the protocol describes elsewhere.
    pub fn single_part(layer: u8, payload: u16, unit: u32, created: Instant) -> Descriptor {
        Descriptor { layer, payload, unit, created, part: 0, parts: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATED: Instant = Instant::from_nanos(0x0a0b_0c0d_0e0f_1011);

    fn written(descriptor: Descriptor) -> Vec<u8> {
        let mut out = Vec::new();
        descriptor.write(&mut out);
        out
    }

    #[test]
    fn a_descriptor_is_laid_out_as_the_table_says() {
        let single = Descriptor::single_part(2, 0x0102, 0x0304_0506, CREATED);
        #[rustfmt::skip]
        let expected = [
            0x10, 2, 1, 2, 3, 4, 5, 6, // version and flags, layer, payload, unit
            10, 11, 12, 13, 14, 15, 16, 17, // created
        ];
        assert_eq!(written(single), expected);
        let cut = written(Descriptor { part: 3, parts: 0x0708, ..single });
        assert_eq!((cut[0], &cut[1..16], &cut[16..]), (0x11, &expected[1..], &[0, 3, 7, 8][..]));
    }

    #[test]
    fn malformed_descriptors_are_refused_with_the_reason() {
        let cut = written(Descriptor { part: 1, parts: 3, ..Descriptor::single_part(0, 9, 9, CREATED) });
        let with = |at: usize, value: u8| {
            let mut bytes = cut.clone();
            bytes[at] = value;
            Descriptor::read(&bytes).err()
        };
        assert_eq!(Descriptor::read(&cut[..15]), Err(WireError::Short { have: 15, need: 16 }));
        assert_eq!(Descriptor::read(&cut[..19]), Err(WireError::Short { have: 19, need: 20 }));
        assert_eq!(with(0, 0x21), Some(WireError::Version { found: 2, known: 1 }));
        assert_eq!(with(0, 0x13), Some(WireError::Reserved(0)));
        assert_eq!(with(19, 1), Some(WireError::Part { part: 1, parts: 1 }));
        let mut bytes = cut.clone();
        bytes[16..].copy_from_slice(&[0, 0, 0, 1]);
        assert_eq!(Descriptor::read(&bytes), Err(WireError::Superfluous("part of a unit that is whole")));
        assert_eq!(Descriptor::read_single_part(&cut), Err(WireError::Superfluous("part in this protocol")));
    }
}
