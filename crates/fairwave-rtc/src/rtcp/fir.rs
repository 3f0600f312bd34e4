//! Full intra requests (RFC 5104 §4.3.1).

use super::bytes::{Bytes, PAYLOAD, feedback};
use fairwave_endpoint::wire::WireError;

/// Format (FMT) in the header.
pub(crate) const FORMAT: u8 = 4;

/// Request for one stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FirEntry {
    /// The stream.
    pub ssrc: u32,
    /// Command number; a repetition has the same number.
    pub command: u8,
}

/// Request for key frames, for example after someone has joined.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fir {
    /// SSRC of the requester.
    pub sender: u32,
    /// Requests by stream.
    pub entries: Vec<FirEntry>,
}

impl Fir {
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        // The media source is unused and 0 (§4.3.1.2).
        feedback(out, PAYLOAD, FORMAT, [self.sender, 0], |out| {
            for entry in &self.entries {
                out.extend(entry.ssrc.to_be_bytes());
                out.extend([entry.command, 0, 0, 0]);
            }
        })
    }

    pub(crate) fn read(sender: u32, items: &[u8]) -> Result<Self, WireError> {
        let mut bytes = Bytes(items);
        let mut entries = Vec::new();
        while !bytes.0.is_empty() {
            let (ssrc, command) = (bytes.u32()?, bytes.u8()?);
            bytes.take(3)?;
            entries.push(FirEntry { ssrc, command });
        }
        Ok(Fir { sender, entries })
    }
}
