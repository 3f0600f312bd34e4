//! Events: what happens, when, and to whom; and which of two comes first.
//!
//! They are ordered by time, then by kind (packets before timers, and those that have just waited behind another after
//! those that have not), then pseudo-randomly. Each instant has its own order of the links or flows, a fixed function
//! of the time. So a tie has one outcome for any order of entries, and no flow always wins. Flows of equal round trip
//! meet at the bottleneck in the same nanosecond again and again. If the lower index were always first, the other flows
//! would find the last place in the buffer taken for the whole run.

use fairwave_core::units::Instant;

/// What kind of thing happens; the order of the variants is the order at equal times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum EventKind {
    /// A packet arrives at a link's far end.
    Arrival = 0,
    /// As before, for a packet that stood in that link's queue. It comes second. At a bottleneck, the packet that an
    /// acknowledgement triggered then finds the place that the departure of its predecessor left. The extra packet of a
    /// grown window, sent right behind another, does not. So it is in ns-2, where the packet that waited was scheduled
    /// later; without it, who is dropped would be a matter of chance.
    ArrivalBehind = 1,
    /// A link with a managed queue has finished a transmission or its discipline has periodic work.
    Service = 2,
    /// A flow's application or sender wants to be woken.
    Sender = 3,
    /// A flow's receiver wants to be woken.
    Receiver = 4,
    /// Senders' views are sampled.
    Sample = 5,
    /// A link's rate becomes another, and its queue is told.
    Rate = 6,
    /// A flow takes other routes.
    Reroute = 7,
}

const KIND_SHIFT: u32 = 29;
const INDEX_MASK: u32 = (1 << KIND_SHIFT) - 1;

/// The largest index of a link or flow that an event can name.
pub const MAX_INDEX: usize = INDEX_MASK as usize;

/// An entry: when, and what happens to whom.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Event {
    /// When.
    pub at: Instant,
    pub(crate) rank: u32,
}

impl Event {
    /// `index` must not exceed [`MAX_INDEX`]; plans are checked for it.
    pub fn new(at: Instant, kind: EventKind, index: usize) -> Self {
        Event { at, rank: ((kind as u32) << KIND_SHIFT) | ((index as u32 ^ tie_break(at)) & INDEX_MASK) }
    }

    /// What kind of thing happens.
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

    /// Whether a packet arrives: most events are of this kind, and need not be told apart from all others one by one.
    #[inline]
    pub fn is_arrival(self) -> bool {
        self.rank < (EventKind::Service as u32) << KIND_SHIFT
    }

    /// To which link or flow.
    #[inline]
    pub fn index(self) -> usize {
        ((self.rank ^ tie_break(self.at)) & INDEX_MASK) as usize
    }
}

/// A hash of the instant, which is mixed into the indices of its events before they are compared.
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
        // At whatever multiple of a packet's time they meet: 832 µs is that of 1040 bytes at 10 Mb/s.
        for step in [1, 832_000, 1_000_000, 83_200] {
            for (a, b) in [(0, 1), (3, 7), (0, 100), (17, 4000)] {
                let share = wins(a, b, step) as f64 / 10_000.0;
                assert!((share - 0.5).abs() < 0.03, "{a} before {b} in {share} of ties every {step} ns");
            }
        }
    }
}
