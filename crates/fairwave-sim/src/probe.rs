//! Who looks on while a run is made. Most runs have no observer, and then observation costs nothing. The compiler makes
//! one version of a run without a probe ([`Probe::ON`] is false, and the code for probes is left out) and one version
//! per probe.

use fairwave_core::packet::Packet;
use fairwave_core::queue::DropReason;
use fairwave_core::transport::{AnyReceiver, AnySender};
use fairwave_core::units::Instant;

/// What became of a packet at a link that did not let it through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemovalCause {
    /// Its queue dropped it.
    Dropped(DropReason),
    /// The link failed before it had been transmitted.
    Failed,
}

/// What may be seen of a run. The run crosses links ahead of time, so `at` may be later than the next reported event.
/// It is never before the last time that [`Probe::now`] reported, nor after the end of the run. The reports of one link
/// come in the order in which packets left it, with its drops in between.
pub trait Probe {
    /// A probe observes the run.
    const ON: bool;
    /// The time; nothing that happened earlier will be told any more.
    fn now(&mut self, _now: Instant) {}
    /// An endpoint hands a packet to the network at `at`.
    fn sent(&mut self, _packet: &Packet, _at: Instant) {}
    /// A packet arrives at a link, whose queue may drop it.
    fn arrived(&mut self, _link: usize, _packet: &Packet, _at: Instant) {}
    /// A link's transmission of a packet begins.
    fn begun(&mut self, _link: usize, _packet: &Packet, _at: Instant) {}
    /// A packet reaches the endpoint that it is for.
    fn received(&mut self, _packet: &Packet, _at: Instant) {}
    /// A packet leaves a link's transmitter, whose wire then loses it or not.
    fn left(&mut self, _link: usize, _packet: &Packet, _at: Instant, _lost: bool) {}
    /// A flow's sender has dealt with what came back, with its application or with its timer.
    fn acted(&mut self, _flow: usize, _sender: &AnySender, _receiver: &AnyReceiver, _at: Instant) {}
    /// A link does not transmit a packet.
    fn gone(&mut self, _link: usize, _packet: &Packet, _at: Instant, _how: RemovalCause) {}
}

/// No probe observes the run.
impl Probe for () {
    const ON: bool = false;
}
