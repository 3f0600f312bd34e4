//! Observers of a run. Most runs have none, and observation then costs nothing. The compiler generates two versions of
//! a run: one without a probe (`ProbeSlot::ON` is false, and the code for probes is left out), and one that calls any
//! probe dynamically.

use fairwave_core::packet::Packet;
use fairwave_core::queue::DropReason;
use fairwave_core::transport::{AnyReceiver, AnySender};
use fairwave_core::units::Instant;

/// Reason why a link did not transmit a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemovalCause {
    /// The queue dropped it.
    Dropped(DropReason),
    /// The link failed before the end of the transmission.
    Failed,
}

/// Observer of a run. The run crosses links ahead of time, so `at` can be later than the next reported event. It is
/// never before the last time reported by [`Probe::now`], nor after the end of the run. The reports of one link come
/// in the order of departure, with its drops in between.
pub trait Probe {
    /// Reports the current time; no report of an earlier event follows.
    fn now(&mut self, _now: Instant) {}
    /// An endpoint hands a packet to the network at `at`.
    fn sent(&mut self, _packet: &Packet, _at: Instant) {}
    /// A packet arrives at a link; the queue can drop it.
    fn arrived(&mut self, _link: usize, _packet: &Packet, _at: Instant) {}
    /// A link starts to transmit a packet.
    fn begun(&mut self, _link: usize, _packet: &Packet, _at: Instant) {}
    /// A packet reaches its destination endpoint.
    fn received(&mut self, _packet: &Packet, _at: Instant) {}
    /// A packet leaves a link's transmitter. `lost`: the wire loses it.
    fn left(&mut self, _link: usize, _packet: &Packet, _at: Instant, _lost: bool) {}
    /// A flow's sender has handled feedback, application data or a timer.
    fn acted(&mut self, _flow: usize, _sender: &AnySender, _receiver: &AnyReceiver, _at: Instant) {}
    /// A link removes a packet without transmitting it.
    fn gone(&mut self, _link: usize, _packet: &Packet, _at: Instant, _how: RemovalCause) {}
}

/// Place of a run's probe, as a type parameter of the run.
pub(crate) trait ProbeSlot: Probe {
    /// True if a probe observes the run.
    const ON: bool;
}

impl Probe for () {}

/// No probe observes the run.
impl ProbeSlot for () {
    const ON: bool = false;
}

impl Probe for &mut (dyn Probe + '_) {
    fn now(&mut self, now: Instant) {
        (**self).now(now);
    }
    fn sent(&mut self, packet: &Packet, at: Instant) {
        (**self).sent(packet, at);
    }
    fn arrived(&mut self, link: usize, packet: &Packet, at: Instant) {
        (**self).arrived(link, packet, at);
    }
    fn begun(&mut self, link: usize, packet: &Packet, at: Instant) {
        (**self).begun(link, packet, at);
    }
    fn received(&mut self, packet: &Packet, at: Instant) {
        (**self).received(packet, at);
    }
    fn left(&mut self, link: usize, packet: &Packet, at: Instant, lost: bool) {
        (**self).left(link, packet, at, lost);
    }
    fn acted(&mut self, flow: usize, sender: &AnySender, receiver: &AnyReceiver, at: Instant) {
        (**self).acted(flow, sender, receiver, at);
    }
    fn gone(&mut self, link: usize, packet: &Packet, at: Instant, how: RemovalCause) {
        (**self).gone(link, packet, at, how);
    }
}

impl ProbeSlot for &mut (dyn Probe + '_) {
    const ON: bool = true;
}
