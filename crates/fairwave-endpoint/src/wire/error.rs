//! Why bytes are not a packet of the flow that they came for.

/// What is wrong first with a datagram.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum WireError {
    /// Fewer bytes than the header has.
    #[error("{have} bytes, but this packet's header has {need}")]
    Short {
        /// Bytes at hand.
        have: usize,
        /// Bytes needed.
        need: usize,
    },
    /// Another version.
    #[error("version {found}, but this is version {known}")]
    Version {
        /// What the packet says.
        found: u8,
        /// What is known.
        known: u8,
    },
    /// No such packet type.
    #[error("packet type {found}, but known are 0 to {most}")]
    PacketType {
        /// What the packet says.
        found: u8,
        /// The highest that is known.
        most: u8,
    },
    /// No such frame type.
    #[error("frame type {0}, but known are 0 to 3")]
    FrameType(u8),
    /// A byte that must be zero is not, or a flag is set that means nothing.
    #[error("byte {0} has bits that are reserved and must be 0")]
    Reserved(usize),
    /// The length field does not agree with the datagram.
    #[error("the length field states {said} bytes, but {have} follow")]
    Length {
        /// What the field says.
        said: usize,
        /// What follows the header.
        have: usize,
    },
    /// The part is not one of the unit's.
    #[error("part {part} of {parts}: a part is below the number of parts")]
    Part {
        /// Place.
        part: u16,
        /// How many.
        parts: u16,
    },
    /// Layers beyond the eight that there can be, or layer rates that do not increase.
    #[error("layers out of range: there are at most eight, and each adds to the rate")]
    Layers,
    /// A field is stated although it says nothing.
    #[error("the {0} is present without content: leave it out")]
    Superfluous(&'static str),
    /// A field differs from its value in this flow, or contradicts another field of the same packet.
    #[error("the {field} is {found}, but must be {expected}")]
    Field {
        /// Its name.
        field: &'static str,
        /// What it says.
        found: u64,
        /// What it must say.
        expected: u64,
    },
    /// A number that must be a fraction is none.
    #[error("the {field} is {found}, but must be from 0 to 1")]
    Fraction {
        /// Its name.
        field: &'static str,
        /// What it says.
        found: f64,
    },
    /// It is not RTP or RTCP at all (RFC 3550).
    #[error("no {protocol}: {why}")]
    Foreign {
        /// Which of them it was taken for.
        protocol: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// DVRC's layers are advertised to both ends before the flow begins, not within it.
    #[error("an advertisement of layers is no packet of a flow that has begun")]
    Advertisement,
}

/// A field that must say something certain does so.
pub fn expect(field: &'static str, found: impl Into<u64>, expected: impl Into<u64>) -> Result<(), WireError> {
    let (found, expected) = (found.into(), expected.into());
    if found == expected { Ok(()) } else { Err(WireError::Field { field, found, expected }) }
}
