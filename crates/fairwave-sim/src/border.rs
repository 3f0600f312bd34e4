//! What lies between the ends of flows and the network: nothing in a simulation; sockets and devices in a run in real time.
//!
//! As with a [`Probe`](crate::probe::Probe), a run is compiled once for nothing, which costs nothing, and once for whatever is there.
//! With a border, the run passes it each packet that an end sends. The packet enters the network when the driver of the
//! run calls [`SteppedRun::enter`](crate::SteppedRun::enter). The run also passes it each packet that has crossed the
//! network, which reaches the end by [`SteppedRun::arrive`](crate::SteppedRun::arrive).

use fairwave_core::packet::Packet;
use fairwave_core::units::Instant;

/// Between the ends of flows and the network. What travels in the network need not be what the ends wrote, as long as flow and
/// direction are: laws of queues and links read no body.
pub trait Border {
    /// There is something.
    const THERE: bool;
    /// An end sends a packet at `at`.
    fn send(&mut self, _packet: &Packet, _at: Instant) {}
    /// A packet has come through the network, and leaves it at `at`.
    fn deliver(&mut self, _packet: &Packet, _at: Instant) {}
    /// A queue drops a packet (by `congestion`), or a wire loses it. Answers with it as its end wrote it.
    fn gone(&mut self, packet: &Packet, _congestion: bool) -> Packet {
        *packet
    }
    /// A packet that travels in the network, as its end wrote it.
    fn written(&mut self, packet: &Packet) -> Packet {
        *packet
    }
    /// The network has made a second packet of one: each of them will be delivered, or go, by itself.
    fn copied(&mut self, _packet: &Packet) {}
}

/// Nothing.
impl Border for () {
    const THERE: bool = false;
}
