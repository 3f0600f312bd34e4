//! Observers of a run. Most runs have none, and observation then costs nothing. The compiler generates two versions of
//! a run: one without a probe (`ProbeSlot::ON` is false, and the code for probes is left out), and one that calls any
//! probe dynamically.

use std::panic::Location;

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

    /// Whether the run also calls [`line`](Probe::line), [`made`](Probe::made) and [`queue`](Probe::queue). The run asks
    /// once, at its start.
    fn wants_details(&self) -> bool {
        false
    }
    /// The simulator's line that makes the next report.
    fn line(&mut self, _line: &'static Location<'static>) {}
    /// The endpoint's line that made the packet of the latest [`sent`](Probe::sent).
    fn made(&mut self, _packet: &Packet, _line: &'static Location<'static>) {}
    /// The state of the link's queue at the next [`arrived`](Probe::arrived).
    fn queue(&mut self, _packet: &Packet, _state: QueueState) {}
}

/// State of a link's queue just before an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueState {
    /// Waiting packets.
    pub packets: u64,
    /// Waiting bytes; `None` for queues that the run computes without counting bytes.
    pub bytes: Option<u64>,
}

/// Place of a run's probe, as a type parameter of the run. The methods report the same events as [`Probe`].
pub(crate) trait ProbeSlot {
    /// True if a probe observes the run.
    const ON: bool;
    fn now(&mut self, _now: Instant) {}
    /// `made` is the line of the endpoint that made the packet.
    fn sent(&mut self, _packet: &Packet, _at: Instant, _made: Option<&'static Location<'static>>) {}
    /// `state` returns the state of the link's queue before the arrival.
    fn arrived(&mut self, _link: usize, _packet: &Packet, _at: Instant, _state: impl FnOnce() -> QueueState) {}
    fn begun(&mut self, _link: usize, _packet: &Packet, _at: Instant) {}
    fn received(&mut self, _packet: &Packet, _at: Instant) {}
    fn left(&mut self, _link: usize, _packet: &Packet, _at: Instant, _lost: bool) {}
    fn acted(&mut self, _flow: usize, _sender: &AnySender, _receiver: &AnyReceiver, _at: Instant) {}
    fn gone(&mut self, _link: usize, _packet: &Packet, _at: Instant, _how: RemovalCause) {}
}

/// No probe observes the run.
impl ProbeSlot for () {
    const ON: bool = false;
}

/// A probe that observes the run.
pub(crate) struct Observed<'a> {
    probe: &'a mut dyn Probe,
    wants_details: bool,
}

impl<'a> Observed<'a> {
    pub fn new(probe: &'a mut dyn Probe) -> Self {
        let wants_details = probe.wants_details();
        Observed { probe, wants_details }
    }

    /// Names the line that makes the next report.
    #[inline]
    fn locate(&mut self, line: &'static Location<'static>) {
        if self.wants_details {
            self.probe.line(line);
        }
    }
}

impl ProbeSlot for Observed<'_> {
    const ON: bool = true;

    fn now(&mut self, now: Instant) {
        self.probe.now(now);
    }

    #[track_caller]
    fn sent(&mut self, packet: &Packet, at: Instant, made: Option<&'static Location<'static>>) {
        self.locate(Location::caller());
        self.probe.sent(packet, at);
        if let Some(line) = made.filter(|_| self.wants_details) {
            self.probe.made(packet, line);
        }
    }

    #[track_caller]
    fn arrived(&mut self, link: usize, packet: &Packet, at: Instant, state: impl FnOnce() -> QueueState) {
        self.locate(Location::caller());
        if self.wants_details {
            self.probe.queue(packet, state());
        }
        self.probe.arrived(link, packet, at);
    }

    #[track_caller]
    fn begun(&mut self, link: usize, packet: &Packet, at: Instant) {
        self.locate(Location::caller());
        self.probe.begun(link, packet, at);
    }

    #[track_caller]
    fn received(&mut self, packet: &Packet, at: Instant) {
        self.locate(Location::caller());
        self.probe.received(packet, at);
    }

    #[track_caller]
    fn left(&mut self, link: usize, packet: &Packet, at: Instant, lost: bool) {
        self.locate(Location::caller());
        self.probe.left(link, packet, at, lost);
    }

    fn acted(&mut self, flow: usize, sender: &AnySender, receiver: &AnyReceiver, at: Instant) {
        self.probe.acted(flow, sender, receiver, at);
    }

    #[track_caller]
    fn gone(&mut self, link: usize, packet: &Packet, at: Instant, how: RemovalCause) {
        self.locate(Location::caller());
        self.probe.gone(link, packet, at, how);
    }
}
