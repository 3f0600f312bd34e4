//! Events of a run, and their order.
//!
//! Events are ordered by time and then by kind. Packets come before timers; packets that waited in a queue come after
//! packets that did not. The remaining ties are broken pseudo-randomly: each instant has an order of the links or
//! flows, a fixed function of the time. So a tie has one outcome for any order of entry, and no flow always wins.
//! Flows with equal round trips meet at the bottleneck in the same nanosecond again and again. If the lower index
//! always came first, the other flows would find the last buffer place taken for the whole run.

use fairwave_core::units::Instant;

/// Kind of an event. The order of the variants is the order at equal times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum EventKind {
    /// A packet arrives at a link's far end.
    Arrival = 0,
    /// The same, for a packet that waited in that link's queue. It comes second. At a bottleneck, the packet
    /// triggered by an acknowledgement then takes the buffer place freed by its predecessor's departure. The extra
    /// packet of a grown window, sent directly behind another, does not. ns-2 has the same order, because it
    /// schedules the packet that waited later. Without this rule, chance would decide which packet is dropped.
    ArrivalBehind = 1,
    /// A link with a managed queue has finished a transmission, or its discipline has periodic work.
    Service = 2,
    /// Timer of a flow's application or sender.
    Sender = 3,
    /// Timer of a flow's receiver.
    Receiver = 4,
    /// Sampling of the senders' state.
    Sample = 5,
    /// Rate change of a link; its queue is informed.
    Rate = 6,
    /// Route change of a flow.
    Reroute = 7,
}

const KIND_SHIFT: u32 = 29;
const INDEX_MASK: u32 = (1 << KIND_SHIFT) - 1;

/// Largest index of a link or flow in an event.
pub const MAX_INDEX: usize = INDEX_MASK as usize;

/// An event: its time, kind, and link or flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Event {
    /// Time.
    pub at: Instant,
    pub(crate) rank: u32,
}

impl Event {
    /// Creates an event. `index` must not exceed [`MAX_INDEX`]; plans are checked for it.
    pub fn new(at: Instant, kind: EventKind, index: usize) -> Self {
        Event { at, rank: ((kind as u32) << KIND_SHIFT) | ((index as u32 ^ tie_break(at)) & INDEX_MASK) }
    }

    /// Returns the kind.
    #[inline]
    pub fn kind(self) -> EventKind {
        match self.rank >> KIND_SHIFT {
            0 => EventKind::Arrival,
            1 => EventKind::ArrivalBehind,
            2 => EventKind::Service,
            3 => EventKind::Sender,
            4 => EventKind::Receiver,
            5 => EventKind::Sample,
            6 => EventKind::Rate,
            _ => EventKind::Reroute,
        }
    }

    /// Whether a packet arrives. Most events are arrivals, so one comparison suffices for them.
    #[inline]
    pub fn is_arrival(self) -> bool {
        self.rank < (EventKind::Service as u32) << KIND_SHIFT
    }

    /// Returns the index of the link or flow.
    #[inline]
    pub fn index(self) -> usize {
        ((self.rank ^ tie_break(self.at)) & INDEX_MASK) as usize
    }
}

/// Returns a hash of the instant. It is mixed into the indices of events before they are compared.
#[inline]
fn tie_break(at: Instant) -> u32 {
    let mixed = at.nanos().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_is_known_from_all_others() {
        use EventKind::{Arrival, ArrivalBehind, Rate, Receiver, Reroute, Sample, Sender, Service};
        for kind in [Arrival, ArrivalBehind, Service, Sender, Receiver, Sample, Rate, Reroute] {
            for index in [0, MAX_INDEX] {
                let event = Event::new(Instant::from_nanos(7), kind, index);
                assert_eq!((event.kind(), event.index()), (kind, index));
                assert_eq!(event.is_arrival(), matches!(kind, Arrival | ArrivalBehind));
            }
        }
    }

    #[test]
    fn no_index_wins_its_ties_more_often_than_another() {
        let wins = |a: usize, b: usize, step: u64| {
            let first = |at| Event::new(at, EventKind::Arrival, a) < Event::new(at, EventKind::Arrival, b);
            (0..10_000).filter(|n| first(Instant::from_nanos(n * step))).count()
        };
        // The interval of the ties must not matter: 832 µs is the transmission time of 1040 bytes at 10 Mb/s.
        for step in [1, 832_000, 1_000_000, 83_200] {
            for (a, b) in [(0, 1), (3, 7), (0, 100), (17, 4000)] {
                let share = wins(a, b, step) as f64 / 10_000.0;
                assert!((share - 0.5).abs() < 0.03, "{a} before {b} in {share} of ties every {step} ns");
            }
        }
    }
}
