//! Picture loss indications (RFC 4585 §6.3.1).

use super::bytes::{PAYLOAD, feedback};
use fairwave_endpoint::wire::WireError;

/// Format (FMT) in the header.
pub(crate) const FORMAT: u8 = 1;

/// Request for a key frame of a stream that cannot be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pli {
    /// SSRC of the requester.
    pub sender: u32,
    /// The stream.
    pub media: u32,
}

impl Pli {
    pub(crate) fn write(self, out: &mut Vec<u8>) -> Result<(), WireError> {
        feedback(out, PAYLOAD, FORMAT, [self.sender, self.media], |_| {})
    }
}
