//! Errors for bytes that are not a packet of their flow.

/// The first problem found in a datagram.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The datagram is shorter than the header.
    #[error("{have} bytes, but this packet's header has {need}")]
    Short {
        /// Available bytes.
        have: usize,
        /// Required bytes.
        need: usize,
    },
    /// The version is not supported.
    #[error("version {found}, but this is version {known}")]
    Version {
        /// The packet's version.
        found: u8,
        /// The supported version.
        known: u8,
    },
    /// The packet type does not exist.
    #[error("packet type {found}, but known are 0 to {most}")]
    PacketType {
        /// The packet's type.
        found: u8,
        /// The highest known type.
        most: u8,
    },
    /// The frame type does not exist.
    #[error("frame type {0}, but known are 0 to 3")]
    FrameType(u8),
    /// A byte that must be zero is not, or an undefined flag is set.
    #[error("byte {0} has bits that are reserved and must be 0")]
    Reserved(usize),
    /// The length field does not match the datagram.
    #[error("the length field states {claimed} bytes, but {have} follow")]
    Length {
        /// The value of the field.
        claimed: usize,
        /// The bytes after the header.
        have: usize,
    },
    /// The part's index is not below the unit's number of parts.
    #[error("part {part} of {parts}: a part is below the number of parts")]
    Part {
        /// Index of the part.
        part: u16,
        /// Number of parts.
        parts: u16,
    },
    /// More than eight layers, or layer rates that do not increase.
    #[error("layers out of range: there are at most eight, and each adds to the rate")]
    Layers,
    /// A field is present but empty.
    #[error("the {0} is present without content: leave it out")]
    Superfluous(&'static str),
    /// A field differs from its value in this flow, or contradicts another field of the same packet.
    #[error("the {field} is {found}, but must be {expected}")]
    Field {
        /// The field's name.
        field: &'static str,
        /// The field's value.
        found: u64,
        /// The required value.
        expected: u64,
    },
    /// A number that must be a fraction is out of range.
    #[error("the {field} is {found}, but must be from 0 to 1")]
    Fraction {
        /// The field's name.
        field: &'static str,
        /// The field's value.
        found: f64,
    },
    /// The packet is neither RTP nor RTCP (RFC 3550).
    #[error("no {protocol}: {why}")]
    Foreign {
        /// The expected protocol.
        protocol: &'static str,
        /// The problem.
        why: String,
    },
    /// DVRC advertises layers to both ends before the flow begins, not within it.
    #[error("an advertisement of layers is no packet of a flow that has begun")]
    Advertisement,
}

/// Checks that a field has its required value.
pub fn expect(field: &'static str, found: impl Into<u64>, expected: impl Into<u64>) -> Result<(), WireError> {
    let (found, expected) = (found.into(), expected.into());
    if found == expected { Ok(()) } else { Err(WireError::Field { field, found, expected }) }
}
