//! Changes of a link during a run: its delay, outages, and the packets lost to failures.

use fairwave_core::link::{ActiveChanges, Changes, Conditions, FailurePoint};
use fairwave_core::loss::Loss;
use fairwave_core::packet::Packet;
use fairwave_core::random::Stream;
use fairwave_core::units::{Instant, Span};

use crate::measure::Window;

/// Packets lost to an outage in the window from the end of the warm-up to the end of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutageLosses {
    /// Packets that arrived during the outage or waited at its start.
    pub waiting: u64,
    /// Packets in transmission at the failure.
    pub in_transmission: u64,
}

/// Active changes of a link, together with the loss of its wire.
pub struct WireChanges {
    changing: ActiveChanges,
    loss: Option<Box<Loss>>,
    /// Other effects of the rate's law (delay, loss), and the random stream of these losses.
    conditions: Option<Box<(Conditions, Stream)>>,
    /// True if packets can overtake each other.
    pub reorders: bool,
    /// Failure that has just removed a packet, if any.
    failed: Option<FailurePoint>,
    /// Losses of each outage.
    tolls: Box<[OutageLosses]>,
}

impl WireChanges {
    /// Creates the changes of a link with the initial delay `delay`. `stream` returns its random streams by name.
    pub fn new(delay: Span, changes: &Changes, loss: Option<Box<Loss>>, stream: impl Fn(&str) -> Stream) -> Self {
        WireChanges {
            changing: ActiveChanges::new(delay, changes, stream),
            loss,
            conditions: None,
            reorders: changes.reorder(),
            failed: None,
            tolls: vec![OutageLosses::default(); changes.outages.len()].into(),
        }
    }

    /// Adds other effects of the rate's law, if any.
    pub fn with_conditions(self, conditions: Option<Conditions>, stream: Stream) -> Self {
        WireChanges { conditions: conditions.map(|conditions| Box::new((conditions, stream))), ..self }
    }

    /// Transmits a packet from `start` until `end`, or until a failure. Returns the end of the transmission and the
    /// propagation delay.
    pub fn transmitted(&mut self, start: Instant, end: Instant) -> (Instant, Span) {
        let failure = self.changing.failure(start, end);
        self.failed = failure.map(|(_, failed)| failed);
        let end = failure.map_or(end, |(at, _)| at);
        if failure.is_some() {
            return (end, Span::ZERO);
        }
        let more = self.conditions.as_mut().map_or(Span::ZERO, |both| both.0.effects(end).0);
        (end, self.changing.delay(end, end.span_since(start), more))
    }

    /// Whether the latest packet, with its transmission finished at `now`, is lost.
    pub fn loses(&mut self, now: Instant, packet: &Packet) -> bool {
        if self.failed.is_some() || self.loss.as_mut().is_some_and(|loss| loss.lost(now, packet)) {
            return true;
        }
        self.conditions.as_deref_mut().is_some_and(|(conditions, stream)| stream.chance(conditions.effects(now).1))
    }

    /// Records that the latest packet, with its transmission finished at `now`, will arrive at `arrival`. Returns the
    /// number of packets that it overtakes and that no packet overtook before.
    pub fn overtakes(&mut self, now: Instant, arrival: Instant) -> u64 {
        if self.reorders { self.changing.overtakes(now, arrival) } else { 0 }
    }

    /// Whether the next arriving packet is duplicated.
    pub fn twice(&mut self) -> bool {
        self.changing.twice()
    }

    /// Whether arrivals need separate events, because packets can overtake each other or be duplicated.
    pub fn is_out_of_order(&self) -> bool {
        self.reorders || self.changing.duplicates()
    }

    /// Whether a failure at `now` removed the lost packet. Counts it for the outage.
    pub fn take_failed(&mut self, now: Instant, window: Window) -> bool {
        let Some(failed) = self.failed.take() else { return false };
        if let Some(toll) = self.tolls.get_mut(self.changing.outage())
            && now >= window.warmup
        {
            match failed {
                FailurePoint::Down => toll.waiting += 1,
                FailurePoint::InTransmission => toll.in_transmission += 1,
            }
        }
        true
    }

    /// Returns the losses of each outage.
    pub fn tolls(&self) -> &[OutageLosses] {
        &self.tolls
    }
}
