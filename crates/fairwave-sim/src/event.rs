//! The event queue: what happens next.
//!
//! Entries are ordered by time, then by kind (packets before timers, and those that have just waited
//! behind another after those that have not), then by lot: each instant draws its own order of the
//! links or flows, a fixed function of the time. So a tie has one outcome, whatever order the entries came in, and nobody
//! always wins: flows of equal round trip meet at the bottleneck at the very same nanosecond again and again, and were the
//! lower index always first, the others would find the last place in the buffer taken for the whole run. Each link and each timer has at most one live entry, so the queue's size
//! is that of the network, not of the traffic.

use fairwave_core::units::Instant;

/// What kind of thing happens; the order of the variants is the order at equal times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum Kind {
    /// The first packet of a link's pipe arrives at the link's far end.
    Arrival = 0,
    /// As before, for a packet that stood in that link's queue. It comes second: at a bottleneck, the packet that an
    /// acknowledgement clocked out then finds the place which the departure of its predecessor left, and the packet by which
    /// a window has grown, sent right behind another, does not. So it is in ns-2, where the packet that waited was
    /// scheduled later; without it, who is dropped would be a matter of chance.
    ArrivalBehind = 1,
    /// A link with a managed queue has finished a transmission or its discipline has periodic work.
    Service = 2,
    /// A flow's application or sender wants to be woken.
    Sender = 3,
    /// A flow's receiver wants to be woken.
    Receiver = 4,
    /// Senders' views are sampled.
    Sample = 5,
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
    rank: u32,
}

impl Event {
    /// `index` must not exceed [`MAX_INDEX`]; plans are checked for it.
    pub fn new(at: Instant, kind: Kind, index: usize) -> Self {
        Event { at, rank: ((kind as u32) << KIND_SHIFT) | ((index as u32 ^ lot(at)) & INDEX_MASK) }
    }

    /// What kind of thing happens.
    #[inline]
    pub fn kind(self) -> Kind {
        match self.rank >> KIND_SHIFT {
            0 => Kind::Arrival,
            1 => Kind::ArrivalBehind,
            2 => Kind::Service,
            3 => Kind::Sender,
            4 => Kind::Receiver,
            _ => Kind::Sample,
        }
    }

    /// To which link or flow.
    #[inline]
    pub fn index(self) -> usize {
        ((self.rank ^ lot(self.at)) & INDEX_MASK) as usize
    }

    #[inline]
    fn key(self) -> u128 {
        (u128::from(self.at.nanos()) << 32) | u128::from(self.rank)
    }
}

/// The lot of an instant: what is mixed into the indices of its events before they are compared.
#[inline]
fn lot(at: Instant) -> u32 {
    let mixed = at.nanos().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
}

const ARITY: usize = 4;

/// A four-ary heap in one array: half the depth of a binary heap, four children in one or two cache lines.
#[derive(Debug, Default)]
struct Heap(Vec<Event>);

impl Heap {
    fn push(&mut self, event: Event) {
        let heap = &mut self.0;
        heap.push(event);
        let (key, mut hole) = (event.key(), heap.len() - 1);
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if heap[parent].key() <= key {
                break;
            }
            heap[hole] = heap[parent];
            hole = parent;
        }
        heap[hole] = event;
    }

    fn pop(&mut self) -> Option<Event> {
        let last = self.0.pop()?;
        let Some(first) = self.0.first().copied() else { return Some(last) };
        let heap = self.0.as_mut_slice();
        let (key, len, mut hole) = (last.key(), heap.len(), 0);
        loop {
            let child = hole * ARITY + 1;
            let children = child..len.min(child + ARITY);
            let Some(least) = children.min_by_key(|&child| heap[child].key()) else { break };
            if key <= heap[least].key() {
                break;
            }
            heap[hole] = heap[least];
            hole = least;
        }
        heap[hole] = last;
        Some(first)
    }
}

/// No entry: the end of a list.
const NONE: u32 = u32::MAX;

/// After how many events the calendar looks whether its days still have the right length.
const REVIEW: u32 = 8192;

#[derive(Clone, Copy, Debug)]
struct Page {
    event: Event,
    next: u32,
}

/// Pending events, earliest first: a calendar (Brown 1988).
///
/// A day is a span of 2^`shift` ns; the year's days are lists of entries, in no order. The present day's entries are kept
/// sorted; what lies beyond the year waits in a heap. The length of a day follows the rate of events and the number of
/// days the number of entries, so that adding and removing touch one or two lists each, however many entries there are.
/// The order in which events come out does not depend on any of this.
#[derive(Debug)]
pub struct EventQueue {
    /// Sorted, latest first: the next event is the last entry.
    today: Vec<Event>,
    /// Number of the present day since the beginning.
    day: u64,
    /// First page of each day's list; a power of two of them.
    days: Vec<u32>,
    pages: Vec<Page>,
    free_page: u32,
    /// Entries in the lists.
    listed: usize,
    beyond: Heap,
    shift: u32,
    until_review: u32,
    reviewed_at: Instant,
    /// Events that a day is made to hold, as a power of two.
    per_day: u32,
    /// A day has begun whose events nobody has been shown.
    new_day: bool,
}

impl EventQueue {
    /// An empty queue that expects about `entries` entries. Days are made to hold one or two events or, where somebody looks
    /// ahead a day at a time, a handful.
    pub fn new(entries: usize, looking_ahead: bool) -> Self {
        EventQueue {
            today: Vec::with_capacity(64),
            day: 0,
            days: vec![NONE; entries.clamp(64, 1 << 22).next_power_of_two()],
            pages: Vec::with_capacity(entries),
            free_page: NONE,
            listed: 0,
            beyond: Heap::default(),
            shift: 15,
            until_review: REVIEW,
            reviewed_at: Instant::ZERO,
            per_day: if looking_ahead { 3 } else { 1 },
            new_day: false,
        }
    }

    /// The events of the present day if it has begun since the last call: what they will need can then be fetched from memory
    /// for all of them at once.
    #[inline]
    pub fn new_day(&mut self) -> Option<&[Event]> {
        std::mem::take(&mut self.new_day).then_some(self.today.as_slice())
    }

    /// The earliest event.
    #[inline]
    pub fn peek(&mut self) -> Option<Event> {
        match self.today.last() {
            Some(event) => Some(*event),
            None => self.turn_page(),
        }
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, event: Event) {
        let day = event.at.nanos() >> self.shift;
        if day <= self.day {
            let key = event.key();
            let place = self.today.iter().rposition(|other| other.key() > key).map_or(0, |i| i + 1);
            self.today.insert(place, event);
        } else if day - self.day < self.days.len() as u64 {
            self.list(day, event);
        } else {
            self.beyond.push(event);
        }
    }

    /// Removes the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        self.peek()?;
        self.until_review -= 1;
        let event = self.today.pop();
        if self.until_review == 0
            && let Some(event) = event
        {
            self.review(event.at);
        }
        event
    }

    /// Entries.
    pub fn len(&self) -> usize {
        self.today.len() + self.listed + self.beyond.0.len()
    }

    #[inline]
    fn list(&mut self, day: u64, event: Event) {
        let slot = (day & (self.days.len() as u64 - 1)) as usize;
        let page = Page { event, next: self.days[slot] };
        if self.free_page == NONE {
            self.days[slot] = self.pages.len() as u32;
            self.pages.push(page);
        } else {
            let index = self.free_page;
            self.free_page = self.pages[index as usize].next;
            self.pages[index as usize] = page;
            self.days[slot] = index;
        }
        self.listed += 1;
    }

    /// Goes to the next day that has entries and answers with its first.
    fn turn_page(&mut self) -> Option<Event> {
        loop {
            if self.listed == 0 {
                // The year is empty: go to the first day that the heap knows of.
                self.day = (self.beyond.0.first()?.at.nanos() >> self.shift).max(self.day + 1);
            } else {
                self.day += 1;
            }
            while let Some(first) = self.beyond.0.first() {
                let day = first.at.nanos() >> self.shift;
                if day >= self.day + self.days.len() as u64 {
                    break;
                }
                let Some(event) = self.beyond.pop() else { break };
                self.list(day.max(self.day), event);
            }
            let slot = (self.day & (self.days.len() as u64 - 1)) as usize;
            let mut page = std::mem::replace(&mut self.days[slot], NONE);
            while page != NONE {
                let Page { event, next } = self.pages[page as usize];
                self.pages[page as usize].next = self.free_page;
                self.free_page = page;
                self.listed -= 1;
                self.today.push(event);
                page = next;
            }
            if self.today.len() > 1 {
                self.today.sort_unstable_by_key(|event| std::cmp::Reverse(event.key()));
            }
            if let Some(event) = self.today.last() {
                self.new_day = true;
                return Some(*event);
            }
        }
    }

    /// Fits the day to the rate of events and the year to the number of entries.
    fn review(&mut self, now: Instant) {
        self.until_review = REVIEW;
        let gap = now.since(self.reviewed_at).nanos() / u64::from(REVIEW);
        self.reviewed_at = now;
        let shift = gap.max(1).ilog2() + self.per_day;
        let days = self.len().clamp(64, 1 << 22).next_power_of_two() * 2;
        if shift.abs_diff(self.shift) < 2 && days <= self.days.len() * 2 && days * 4 >= self.days.len() {
            return;
        }
        let mut all = std::mem::take(&mut self.today);
        all.append(&mut self.beyond.0);
        for head in &self.days {
            let mut page = *head;
            while page != NONE {
                all.push(self.pages[page as usize].event);
                page = self.pages[page as usize].next;
            }
        }
        self.shift = shift;
        self.day = now.nanos() >> shift;
        self.days.clear();
        self.days.resize(days, NONE);
        self.pages.clear();
        (self.free_page, self.listed) = (NONE, 0);
        for event in all {
            self.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_go_to_packets_before_timers_whatever_order_they_came_in() {
        let at = Instant::from_nanos(5);
        let mut events = vec![
            Event::new(at, Kind::Sample, 0),
            Event::new(at, Kind::Receiver, 0),
            Event::new(at, Kind::Sender, 1),
            Event::new(at, Kind::Service, 0),
            Event::new(at, Kind::Arrival, 7),
            Event::new(at, Kind::Arrival, 3),
        ];
        let drain = |events: &[Event]| {
            let mut queue = EventQueue::new(4, false);
            events.iter().for_each(|event| queue.push(*event));
            std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>()
        };
        let first = drain(&events);
        assert!(first.is_sorted_by_key(|event| event.kind()));
        events.reverse();
        assert_eq!(drain(&events), first);
    }

    #[test]
    fn no_index_wins_its_ties_more_often_than_another() {
        let wins = |a: usize, b: usize, step: u64| {
            let first = |at| Event::new(at, Kind::Arrival, a) < Event::new(at, Kind::Arrival, b);
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

    proptest! {
        /// Times of a simulation: nothing is added before what has come out last.
        #[test]
        fn events_come_out_in_order_whatever_the_length_of_a_day(
            ops in prop::collection::vec((any::<bool>(), 0u64..40, 0u32..40, 0usize..20), 1..400), ahead in any::<bool>()
        ) {
            let (mut queue, mut plain, mut now) = (EventQueue::new(4, ahead), Vec::<Event>::new(), 0);
            queue.until_review = 7;
            for (push, mantissa, exponent, index) in ops {
                if push {
                    let event = Event::new(Instant::from_nanos(now + (mantissa << exponent)), Kind::Arrival, index);
                    queue.push(event);
                    plain.push(event);
                } else {
                    plain.sort();
                    let first = (!plain.is_empty()).then(|| plain.remove(0));
                    if queue.until_review > 20 { queue.until_review = 5; }
                    prop_assert_eq!(queue.peek(), first);
                    prop_assert_eq!(queue.pop(), first);
                    now = first.map_or(now, |event| event.at.nanos());
                }
                prop_assert_eq!(queue.len(), plain.len());
            }
        }
    }
}
