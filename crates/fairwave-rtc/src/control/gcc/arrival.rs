//! An arrived packet, as feedback reports it.

use fairwave_units::units::Instant;

/// An arrived packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub sequence: u64,
    pub sent: Instant,
    pub arrived: Instant,
    pub size: u64,
    pub probe: Option<u32>,
}
