//! Border between flow endpoints and the network: empty in a simulation; sockets and devices in a real-time run.
//!
//! Like a [`Probe`](crate::probe::Probe), a border is a type parameter of the run, so the empty border costs nothing.
//! The run passes each packet sent by an end to the border. The packet enters the network when the run's driver calls
//! [`SteppedRun::enter`](crate::SteppedRun::enter). The run also passes each packet that has crossed the network to
//! the border. It reaches the end by [`SteppedRun::arrive`](crate::SteppedRun::arrive).

use fairwave_core::packet::Packet;
use fairwave_core::units::Instant;

/// Border between the ends of flows and the network. Packets in the network can differ from those of the ends, except
/// in flow and direction: queues and links read no body.
pub trait Border {
    /// True if there is a border.
    const THERE: bool;
    /// Called when an end sends a packet at `at`.
    fn send(&mut self, _packet: &Packet, _at: Instant) {}
    /// Called when a packet has crossed the network and leaves it at `at`.
    fn deliver(&mut self, _packet: &Packet, _at: Instant) {}
    /// Called when a queue drops a packet (by `congestion`) or a wire loses it. Returns the packet as its end sent
    /// it.
    fn gone(&mut self, packet: &Packet, _congestion: bool) -> Packet {
        *packet
    }
    /// Returns a packet of the network as its end sent it.
    fn written(&mut self, packet: &Packet) -> Packet {
        *packet
    }
    /// Called when the network duplicates a packet. Each copy will be delivered or removed separately.
    fn copied(&mut self, _packet: &Packet) {}
}

/// The empty border.
impl Border for () {
    const THERE: bool = false;
}
