//! A link that changes in the course of a run: its delay, whether it is up, and what failures have taken.

use fairwave_core::link::{ActiveChanges, Changes, Conditions, FailurePoint};
use fairwave_core::loss::Loss;
use fairwave_core::packet::Packet;
use fairwave_core::random::Stream;
use fairwave_core::units::{Instant, Span};

use crate::measure::Window;

/// What an outage took in the window from the end of the warm-up to the end of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutageLosses {
    /// Packets that came, or waited.
    pub waiting: u64,
    /// Packets that were being transmitted.
    pub in_transmission: u64,
}

/// Changes at work, beside the loss of the wire.
pub struct WireChanges {
    changing: ActiveChanges,
    loss: Option<Box<Loss>>,
    /// What the rate's law does besides, and the stream of its losses.
    conditions: Option<Box<(Conditions, Stream)>>,
    /// Packets may overtake each other.
    pub reorders: bool,
    /// What a failure has just taken, if it has.
    failed: Option<FailurePoint>,
    /// Of each outage.
    tolls: Box<[OutageLosses]>,
}

impl WireChanges {
    /// A link that begins with `delay`; `stream` gives it its random streams by name.
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

    /// With what the law of the link's rate does besides, if anything.
    pub fn with_conditions(self, conditions: Option<Conditions>, stream: Stream) -> Self {
        WireChanges { conditions: conditions.map(|conditions| Box::new((conditions, stream))), ..self }
    }

    /// A packet is transmitted from `start` until `end` unless the link fails. Answers until when it is, and how long it then takes.
    pub fn transmitted(&mut self, start: Instant, end: Instant) -> (Instant, Span) {
        let failure = self.changing.failure(start, end);
        self.failed = failure.map(|(_, failed)| failed);
        let end = failure.map_or(end, |(at, _)| at);
        if failure.is_some() {
            return (end, Span::ZERO);
        }
        let more = self.conditions.as_mut().map_or(Span::ZERO, |both| both.0.at(end).0);
        (end, self.changing.delay(end, end.since(start), more))
    }

    /// Whether the packet that was transmitted last, until `now`, gets lost.
    pub fn loses(&mut self, now: Instant, packet: &Packet) -> bool {
        if self.failed.is_some() || self.loss.as_mut().is_some_and(|loss| loss.lost(now, packet)) {
            return true;
        }
        self.conditions.as_deref_mut().is_some_and(|(conditions, stream)| stream.chance(conditions.at(now).1))
    }

    /// The packet that was transmitted last, until `now`, is to arrive at `arrival`. Answers how many packets it overtakes that nothing
    /// had overtaken so far.
    pub fn overtakes(&mut self, now: Instant, arrival: Instant) -> u64 {
        if self.reorders { self.changing.overtakes(now, arrival) } else { 0 }
    }

    /// Whether the next packet that arrives arrives twice.
    pub fn twice(&mut self) -> bool {
        self.changing.twice()
    }

    /// What arrives needs an event of its own: packets overtake each other, or one arrives twice.
    pub fn is_out_of_order(&self) -> bool {
        self.reorders || self.changing.duplicates()
    }

    /// Whether the packet that did not get through was taken by a failure at `now`, which is then counted.
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

    /// What each outage took.
    pub fn tolls(&self) -> &[OutageLosses] {
        &self.tolls
    }
}
