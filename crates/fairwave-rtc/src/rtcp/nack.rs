//! Generic negative acknowledgements (RFC 4585 §6.2.1): a packet number and a mask of the next 16.

use super::bytes::{Bytes, TRANSPORT, feedback};
use fairwave_endpoint::wire::WireError;

/// Format (FMT) in the header.
pub(crate) const FORMAT: u8 = 1;

/// Request for missing packets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Nack {
    /// SSRC of the requester.
    pub sender: u32,
    /// The stream.
    pub media: u32,
    /// RTP sequence numbers, ascending from the first (through a wrap).
    pub sequences: Vec<u16>,
}

impl Nack {
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        feedback(out, TRANSPORT, FORMAT, [self.sender, self.media], |out| {
            let mut sequences = self.sequences.iter().copied().peekable();
            while let Some(first) = sequences.next() {
                let mut mask = 0u16;
                while let Some(behind) = sequences.peek().map(|next| next.wrapping_sub(first)) {
                    if !(1..=16).contains(&behind) {
                        break;
                    }
                    mask |= 1 << (behind - 1);
                    sequences.next();
                }
                out.extend(first.to_be_bytes());
                out.extend(mask.to_be_bytes());
            }
        })
    }

    pub(crate) fn read(sender: u32, media: u32, items: &[u8]) -> Result<Self, WireError> {
        let mut bytes = Bytes(items);
        let mut sequences = Vec::new();
        while !bytes.0.is_empty() {
            let (first, mask) = (bytes.u16()?, bytes.u16()?);
            sequences.push(first);
            sequences.extend((0..16).filter(|bit| mask & 1 << bit != 0).map(|bit| first.wrapping_add(bit + 1)));
        }
        Ok(Nack { sender, media, sequences })
    }
}
