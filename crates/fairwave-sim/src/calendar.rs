//! Event queue of a run: pending events with the packets that they deliver.
//!
//! The queue is a calendar (Brown 1988). A day is a span of 2^`shift` ns, and each day of the year has a list of its
//! events in order of entry. The current day's events are sorted; events beyond the year wait in a heap. The queue
//! adapts the length of a day to the event rate, and the number of days to the number of entries. So an insertion or
//! removal touches one list, however many entries there are. These sizes do not affect the order of removal. It is
//! the order of [`Event`], and the order of entry for equal events.
//!
//! A packet in transit is stored only once: in its day's list, next to its arrival event.

use std::cmp::Reverse;

use dary_heap::QuaternaryHeap;
use fairwave_core::packet::Packet;
use fairwave_core::units::Instant;

use crate::entry::{Entry, Transit};
use crate::event::Event;
use crate::pages::{List, PageSlot, Pages, Walk};

/// An event of the current day, with the location of its entry. It has 16 bytes, because sorting a day moves these
/// items.
#[derive(Clone, Copy)]
struct DayEvent {
    /// Nanoseconds since the start of the day, then the rank. One number gives the order of events. Days are short
    /// enough for this ([`LONGEST_DAY`]).
    key: u64,
    /// [`PageSlot::NOWHERE`] for a timer set today.
    place: PageSlot,
}

impl DayEvent {
    /// Creates the item of an event on the day that starts at `begin`.
    #[inline(always)]
    fn new(event: Event, begin: u64, place: PageSlot) -> Self {
        DayEvent { key: ((event.at.nanos() - begin) << 32) | u64::from(event.rank), place }
    }

    /// Returns the event.
    #[inline(always)]
    fn event(self, begin: u64) -> Event {
        Event { at: Instant::from_nanos(begin + (self.key >> 32)), rank: self.key as u32 }
    }
}

/// An event beyond the year. For a packet arrival, `slot` locates the entry, so the heap moves only this item.
/// `number` counts insertions and orders equal events. With many flows, each has a timer here.
struct LaterEvent {
    at: Instant,
    rank: u32,
    slot: u32,
    number: u64,
}

/// Slot value of timers, which have no entry.
const TIMER: u32 = u32::MAX;

impl LaterEvent {
    fn event(&self) -> Event {
        Event { at: self.at, rank: self.rank }
    }

    fn key(&self) -> (Event, u64) {
        (self.event(), self.number)
    }
}

impl PartialEq for LaterEvent {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for LaterEvent {}

impl PartialOrd for LaterEvent {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LaterEvent {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Minimum number of events between two reviews of the day length. With more entries, the interval is the number of
/// entries. Then a review costs only a part of the normal work, and it measures the event rate over a period in which
/// each entry is due about once.
const REVIEW: u32 = 8192;

/// Target number of events per day, as a power of two.
const PER_DAY: u32 = 3;

/// The same when prefetching through the events of a day.
const PER_DAY_AHEAD: u32 = 5;

/// Entries per flow to reserve at the start with many flows: packets in transit, and those of a fast-opening window.
const ROOM: usize = 24;

/// Timers beyond the year to reserve per flow: the current one, and one superseded by it.
const TIMERS: usize = 2;

/// Longest day, as a power of two of nanoseconds: the time within a day has 32 bits.
const LONGEST_DAY: u32 = 32;

/// Minimum and maximum number of days per year. With fewer days, the timers of a hundred flows would be beyond the
/// year, in the heap.
const DAYS: (usize, usize) = (2048, 1 << 20);

/// Pending events, earliest first.
pub struct EventQueue {
    /// Today's events, earliest first. Entries arrive almost in this order, so sorting is cheap.
    today: Vec<DayEvent>,
    /// Index of the next event in `today`.
    coming: usize,
    /// Today's entries, including handled ones.
    entries: List,
    /// With prefetching: tomorrow's list at the start of today, earliest first. Later entries are missing.
    tomorrow: Vec<DayEvent>,
    /// Number of the current day, from the start of the run.
    day: u64,
    /// Start of the current day in nanoseconds.
    begin: u64,
    /// Entries of each day; the length is a power of two.
    days: Vec<List>,
    pages: Pages,
    /// Number of entries in the lists of `days`.
    listed: usize,
    beyond: QuaternaryHeap<Reverse<LaterEvent>>,
    /// Time of the earliest event in `beyond`; never if it is empty. Each day starts with a check of this field.
    first_beyond: Instant,
    /// Entries of the arrivals in `beyond`, and vacant slots.
    slots: Vec<Entry>,
    vacant: Vec<u32>,
    /// Number of insertions beyond the year so far.
    numbered: u64,
    shift: u32,
    until_review: u32,
    /// Number of entries between the last review and the next.
    reviewed_after: u32,
    reviewed_at: u64,
    /// True if a day has begun since the last query.
    begun: bool,
    /// True if tomorrow is sorted today, for prefetching.
    looking_ahead: bool,
    /// Target number of events per day, as a power of two.
    per_day: u32,
}

impl EventQueue {
    /// Creates an empty queue for a run of `flows` flows.
    pub fn new(looking_ahead: bool, flows: usize) -> Self {
        let (pages, beyond) = match looking_ahead {
            true => (Pages::with_room(flows * ROOM), QuaternaryHeap::with_capacity(flows * TIMERS)),
            false => (Pages::default(), QuaternaryHeap::new()),
        };
        EventQueue {
            today: Vec::new(),
            coming: 0,
            entries: List::EMPTY,
            tomorrow: Vec::new(),
            day: 0,
            begin: 0,
            days: vec![List::EMPTY; DAYS.0],
            pages,
            listed: 0,
            beyond,
            first_beyond: Instant::NEVER,
            slots: Vec::new(),
            vacant: Vec::new(),
            numbered: 0,
            shift: 15,
            until_review: REVIEW,
            reviewed_after: REVIEW,
            reviewed_at: 0,
            begun: true,
            looking_ahead,
            per_day: if looking_ahead { PER_DAY_AHEAD } else { PER_DAY },
        }
    }

    /// Adds the event of a timer.
    #[inline]
    pub fn push_timer(&mut self, event: Event) {
        let day = event.at.nanos() >> self.shift;
        if self.is_listed(day) {
            let slot = self.slot(day);
            self.pages.push_timer(&mut self.days[slot], event);
            self.listed += 1;
        } else {
            self.push_timer_elsewhere(day, event);
        }
    }

    /// Adds the arrival of a packet that will enter the link `next`, the step at `place` of the routes.
    #[inline(always)]
    pub fn push_arrival(&mut self, event: Event, packet: &Packet, next: u32, place: u32) {
        let day = event.at.nanos() >> self.shift;
        if self.is_listed(day) {
            let slot = self.slot(day);
            self.pages.push_arrival(&mut self.days[slot], event, packet, next, place);
            self.listed += 1;
        } else {
            self.push_arrival_elsewhere(day, event, packet, next, place);
        }
    }

    /// Adds the arrival of a packet today or beyond the year.
    #[inline(never)]
    fn push_arrival_elsewhere(&mut self, day: u64, event: Event, packet: &Packet, next: u32, place: u32) {
        self.push_elsewhere(day, Entry { event, transit: Transit { packet: *packet, next, place } });
    }

    /// Adds an entry taken from a queue.
    pub fn push(&mut self, entry: &Entry) {
        let day = entry.event.at.nanos() >> self.shift;
        if self.is_listed(day) {
            self.list(day, entry);
        } else {
            self.push_elsewhere(day, *entry);
        }
    }

    /// Whether `day` is a day of the coming year and so has a list.
    #[inline(always)]
    fn is_listed(&self, day: u64) -> bool {
        day.wrapping_sub(self.day + 1) < self.days.len() as u64 - 1
    }

    /// Returns the list index of a day.
    #[inline(always)]
    fn slot(&self, day: u64) -> usize {
        (day & (self.days.len() as u64 - 1)) as usize
    }

    /// Adds a timer's event that is due today or beyond the year.
    #[inline(never)]
    fn push_timer_elsewhere(&mut self, day: u64, event: Event) {
        if day == self.day {
            self.insert_today(event, PageSlot::NOWHERE);
        } else {
            self.push_timer_beyond(day, event);
        }
    }

    /// Adds a timer's event that is due beyond the year, or before today.
    #[cold]
    #[inline(never)]
    fn push_timer_beyond(&mut self, day: u64, event: Event) {
        if day < self.day {
            self.begin_earlier(day, Entry::timer(event));
        } else {
            self.push_beyond(event, TIMER);
        }
    }

    /// Adds an event beyond the year. Its entry is in `slot`.
    fn push_beyond(&mut self, event: Event, slot: u32) {
        self.numbered += 1;
        self.first_beyond = self.first_beyond.min(event.at);
        self.beyond.push(Reverse(LaterEvent { at: event.at, rank: event.rank, slot, number: self.numbered }));
    }

    /// Removes the earliest heap event that now falls within the year, if any.
    fn next_of_this_year(&mut self) -> Option<Entry> {
        self.next_beyond(self.day + self.days.len() as u64)
    }

    /// Whether an event of the heap can be due before the day `before`.
    #[inline(always)]
    fn is_beyond(&self, before: u64) -> bool {
        self.first_beyond.nanos() >> self.shift < before
    }

    /// Removes the earliest event of the heap, if it is due before the day `before`.
    #[inline(never)]
    fn next_beyond(&mut self, before: u64) -> Option<Entry> {
        if !self.is_beyond(before) {
            return None;
        }
        let Reverse(later) = self.beyond.pop()?;
        self.first_beyond = self.beyond.peek().map_or(Instant::NEVER, |Reverse(first)| first.at);
        if later.slot == TIMER {
            return Some(Entry::timer(later.event()));
        }
        self.vacant.push(later.slot);
        self.slots.get(later.slot as usize).copied()
    }

    /// Inserts an event due today, with its entry at `place`.
    #[inline(always)]
    fn insert_today(&mut self, event: Event, place: PageSlot) {
        let due = DayEvent::new(event, self.begin, place);
        // Behind its equals, which were entered earlier.
        let still_due = self.today.get(self.coming..).unwrap_or_default();
        let later = still_due.iter().rev().take_while(|other| other.key > due.key).count();
        self.today.insert(self.today.len() - later, due);
    }

    /// Adds an entry due today or beyond the year.
    #[inline(never)]
    fn push_elsewhere(&mut self, day: u64, entry: Entry) {
        if day < self.day {
            self.begin_earlier(day, entry);
        } else if day == self.day {
            let place = self.pages.push(&mut self.entries, &entry);
            self.insert_today(entry.event, place);
        } else {
            let slot = match self.vacant.pop() {
                Some(slot) => slot,
                None => {
                    self.slots.push(entry);
                    (self.slots.len() - 1) as u32
                }
            };
            self.slots[slot as usize] = entry;
            self.push_beyond(entry.event, slot);
        }
    }

    /// Removes the earliest event, unless it is after `end`. Returns it with the location of its entry.
    #[inline]
    pub fn pop_until(&mut self, end: Instant) -> Option<(Event, PageSlot)> {
        if self.coming == self.today.len() {
            self.begin_next_day(end)?;
        }
        let due = *self.today.get(self.coming)?;
        let event = due.event(self.begin);
        if event.at > end {
            return None;
        }
        self.coming += 1;
        Some((event, due.place))
    }

    /// Returns the time of the earliest event; never if there is none. Unlike [`Self::pop_until`], it does not
    /// advance the current day.
    pub fn earliest(&self) -> Instant {
        if let Some(due) = self.today.get(self.coming) {
            return due.event(self.begin).at;
        }
        if self.listed == 0 {
            return self.first_beyond;
        }
        // All listed entries belong to days of one year, so each list has the entries of one day.
        let listed = (1..self.days.len() as u64).find_map(|day| self.day_after(day).map(|entry| entry.event.at).min());
        listed.unwrap_or(Instant::NEVER).min(self.first_beyond)
    }

    /// Returns the entry of the event just removed.
    #[inline]
    pub fn entry(&self, place: PageSlot) -> &Entry {
        self.pages.entry(place)
    }

    /// Returns the number of entries.
    fn len(&self) -> usize {
        self.today.len() - self.coming + self.listed + self.beyond.len()
    }

    /// Returns whether a day has begun since the last call. If the current day has no events left, the next day with
    /// entries begins, unless it starts after `end`.
    #[inline]
    pub fn new_day(&mut self, end: Instant) -> bool {
        if self.coming == self.today.len() {
            self.begin_next_day(end);
        }
        std::mem::take(&mut self.begun)
    }

    /// Returns the number of today's events so far, including handled ones.
    #[inline]
    pub fn today(&self) -> usize {
        self.today.len()
    }

    /// Returns the number of handled events of today.
    #[inline(always)]
    pub fn handled_today(&self) -> usize {
        self.coming
    }

    /// Returns the number of known events of today and tomorrow up to `after` places behind the next one.
    #[inline(always)]
    pub fn count_known(&self, after: usize) -> usize {
        (self.coming + after).min(self.today.len() + self.tomorrow.len())
    }

    /// Returns the `n`th known entry of today and tomorrow in time order. `None` for timers set today, and past the
    /// last entry.
    #[inline(always)]
    pub fn nth(&self, n: usize) -> Option<&Entry> {
        let due = self.today.get(n).or_else(|| self.tomorrow.get(n - self.today.len()))?;
        (due.place != PageSlot::NOWHERE).then(|| self.pages.entry(due.place))
    }

    /// Starts to prefetch the entries of the `n`th day after today.
    pub fn walk_day_after(&self, n: u64) -> Walk {
        self.pages.walk(self.days[self.slot(self.day + n)])
    }

    /// Prefetches the next entries of the walk.
    #[inline(always)]
    pub fn fetch(&self, walk: &mut Walk) {
        self.pages.fetch(walk);
    }

    /// Iterates over the entries so far for the `n`th day after today, in order of entry.
    fn day_after(&self, n: u64) -> impl Iterator<Item = &Entry> {
        let slot = self.slot(self.day + n);
        self.pages.iter(self.days[slot]).map(|(_, entry)| entry)
    }

    #[inline(always)]
    fn list(&mut self, day: u64, entry: &Entry) {
        let slot = self.slot(day);
        self.pages.push(&mut self.days[slot], entry);
        self.listed += 1;
    }

    /// Advances to the next day with entries. Returns `None` if no such day starts by `end`, because entries for the
    /// days until then can still arrive.
    fn begin_next_day(&mut self, end: Instant) -> Option<()> {
        self.pages.release(&mut self.entries);
        self.today.clear();
        self.coming = 0;
        if self.until_review == 0 {
            self.review();
            if !self.today.is_empty() {
                return Some(());
            }
        }
        loop {
            let next = match self.listed {
                // The year is empty: go to the day of the earliest heap event.
                0 if self.beyond.is_empty() => return None,
                0 => (self.first_beyond.nanos() >> self.shift).max(self.day + 1),
                _ => self.day + 1,
            };
            if next > end.nanos() >> self.shift {
                return None;
            }
            self.day = next;
            while self.is_beyond(next + self.days.len() as u64)
                && let Some(entry) = self.next_of_this_year()
            {
                let day = entry.event.at.nanos() >> self.shift;
                self.list(day.max(self.day), &entry);
            }
            let slot = (self.day & (self.days.len() as u64 - 1)) as usize;
            if self.days[slot].is_empty() {
                continue;
            }
            self.entries = std::mem::replace(&mut self.days[slot], List::EMPTY);
            self.listed -= self.entries.len();
            self.until_review = self.until_review.saturating_sub(self.entries.len() as u32);
            self.begun = true;
            self.begin = self.day << self.shift;
            if self.looking_ahead {
                self.look_at_tomorrow();
            } else {
                sort(&self.pages, self.entries, self.begin, &mut self.today);
            }
            return Some(());
        }
    }

    /// Sorts the current day, unless it was sorted the day before, and the known part of tomorrow.
    fn look_at_tomorrow(&mut self) {
        // A list loses no entry before its day begins. So an unchanged length means that the sorted copy is complete.
        if self.tomorrow.len() == self.entries.len() {
            std::mem::swap(&mut self.today, &mut self.tomorrow);
        } else {
            sort(&self.pages, self.entries, self.begin, &mut self.today);
        }
        let tomorrow = self.days[self.slot(self.day + 1)];
        self.tomorrow.clear();
        sort(&self.pages, tomorrow, self.begin + (1 << self.shift), &mut self.tomorrow);
    }

    /// Adapts the day length to the event rate, and the year to the number of entries. Runs at the end of a day.
    fn review(&mut self) {
        let end = (self.day + 1) << self.shift;
        // A longer day can end before the last review.
        let gap = end.saturating_sub(self.reviewed_at) / u64::from(self.reviewed_after);
        (self.until_review, self.reviewed_at) = (REVIEW.max(self.len() as u32), end);
        self.reviewed_after = self.until_review;
        let shift = (gap.max(1).ilog2() + self.per_day).min(LONGEST_DAY);
        let days = ((self.len() >> self.per_day) * 4).clamp(DAYS.0, DAYS.1).next_power_of_two();
        if shift.abs_diff(self.shift) < 2 && days <= self.days.len() && days * 8 >= self.days.len() {
            return;
        }
        self.tomorrow.clear();
        // Page by page: a copy of all entries would take a large part of the memory of many flows.
        let lists = std::mem::replace(&mut self.days, vec![List::EMPTY; days]);
        self.listed = 0;
        // No entry is due before the end of the day.
        (self.shift, self.day) = (shift, (end >> shift).saturating_sub(1));
        self.begin = self.day << shift;
        let mut page = Vec::new();
        for mut list in lists {
            while self.pages.take_first(&mut list, &mut page) {
                page.iter().for_each(|entry| self.push(entry));
            }
        }
        // Events beyond the year are later than all listed ones, so the order of entry survives.
        while let Some(entry) = self.next_of_this_year() {
            self.push(&entry);
        }
    }

    /// Makes an earlier day the current one, for an entry due before the current day. Only packets from outside the
    /// run can be so early.
    #[cold]
    #[inline(never)]
    fn begin_earlier(&mut self, day: u64, entry: Entry) {
        let later = self.take_listed();
        (self.day, self.begin) = (day, day << self.shift);
        for entry in [entry].iter().chain(&later) {
            self.push(entry);
        }
    }

    /// Removes the entries of today and of the listed days. Equal events keep their order of entry.
    fn take_listed(&mut self) -> Vec<Entry> {
        let begin = self.begin;
        let entry = |due: DayEvent| match due.place {
            PageSlot::NOWHERE => Entry::timer(due.event(begin)),
            place => *self.pages.entry(place),
        };
        self.tomorrow.clear();
        let left = self.today.drain(..).skip(self.coming).map(entry);
        let mut all: Vec<Entry> = left.collect();
        self.pages.release(&mut self.entries);
        self.coming = 0;
        all.reserve(self.listed);
        for list in &mut self.days {
            all.extend(self.pages.iter(*list).map(|(_, entry)| entry));
            self.pages.release(list);
        }
        self.listed = 0;
        all
    }

    /// Adds all entries of another queue.
    pub fn append(&mut self, mut other: Self) {
        other.take().iter().for_each(|entry| self.push(entry));
    }

    /// Removes all entries, in an order suitable for insertion elsewhere.
    pub fn take(&mut self) -> Vec<Entry> {
        let mut all = self.take_listed();
        while let Some(entry) = self.next_beyond(u64::MAX) {
            all.push(entry);
        }
        all
    }
}

/// Sorts the events of a list of the day that starts at `begin` into the empty vector `to`, earliest first.
#[inline(always)]
fn sort(pages: &Pages, list: List, begin: u64, to: &mut Vec<DayEvent>) {
    pages.map_to(list, to, |place, entry| DayEvent::new(entry.event, begin, place));
    // Stable: equal events keep their order of entry.
    to.sort_by_key(|due| due.key);
}

#[cfg(test)]
mod tests {
    use fairwave_core::packet::{Body, Class, Ecn, FlowId};
    use proptest::prelude::*;

    use super::*;
    use crate::event::EventKind;
    use crate::routes::END;

    fn packet(number: u32) -> Packet {
        let body = Body::Datagram { payload: 1, sequence: number, unit: 0, part: 0, parts: 1, created: Instant::ZERO };
        Packet {
            flow: FlowId(0),
            wire: 1,
            class: Class::Voice,
            dscp: Default::default(),
            feedback: false,
            ecn: Ecn::NotEct,
            layer: 0,
            body,
        }
    }

    fn pop(queue: &mut EventQueue, end: Instant) -> Option<Entry> {
        let (event, place) = queue.pop_until(end)?;
        if !event.is_arrival() {
            return Some(Entry::timer(event));
        }
        assert_eq!(queue.entry(place).event, event);
        Some(*queue.entry(place))
    }

    fn drain(queue: &mut EventQueue) -> Vec<Entry> {
        std::iter::from_fn(|| pop(queue, Instant::NEVER)).collect()
    }

    #[test]
    fn ties_go_to_packets_before_timers_whatever_order_they_came_in() {
        let at = Instant::from_nanos(5);
        let mut events = vec![
            Event::new(at, EventKind::Sample, 0),
            Event::new(at, EventKind::Receiver, 0),
            Event::new(at, EventKind::Sender, 1),
            Event::new(at, EventKind::Service, 0),
            Event::new(at, EventKind::Arrival, 7),
            Event::new(at, EventKind::Arrival, 3),
        ];
        let drained = |events: &[Event]| {
            let mut queue = EventQueue::new(false, 0);
            for event in events {
                match event.is_arrival() {
                    true => queue.push_arrival(*event, &packet(0), END, 0),
                    false => queue.push_timer(*event),
                }
            }
            drain(&mut queue)
        };
        let first = drained(&events);
        assert!(first.is_sorted_by_key(|entry| entry.event.kind()));
        events.reverse();
        assert_eq!(drained(&events), first);
    }

    #[test]
    fn events_after_the_end_stay_in_the_queue() {
        let mut queue = EventQueue::new(false, 0);
        queue.push_arrival(Event::new(Instant::from_nanos(7), EventKind::Arrival, 0), &packet(1), 4, 0);
        assert_eq!(pop(&mut queue, Instant::from_nanos(6)), None);
        assert_eq!(queue.len(), 1);
        let kept = pop(&mut queue, Instant::from_nanos(7)).expect("what stayed");
        assert_eq!(kept.arrival(), Some(&Transit { packet: packet(1), next: 4, place: 0 }));
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn external_events_may_precede_the_current_day() {
        let at = |nanos: u64| Event::new(Instant::from_nanos(nanos), EventKind::Sender, 0);
        let mut queue = EventQueue::new(true, 10);
        let far = 1 << 40;
        for late in [far, far + 1, far + (1 << 20), far << 4] {
            queue.push_timer(at(late));
        }
        assert!(queue.new_day(Instant::NEVER), "the day of the first entry");
        for early in [70_000, 5, far - 1, far, 70_000] {
            queue.push_timer(at(early));
        }
        let due: Vec<u64> = drain(&mut queue).iter().map(|entry| entry.event.at.nanos()).collect();
        assert_eq!(due, [5, 70_000, 70_000, far - 1, far, far, far + 1, far + (1 << 20), far << 4]);
        assert_eq!(queue.len(), 0);
    }

    proptest! {
        /// Times of a simulation: no event is added before the one removed last. Few links and times make many events
        /// equal. Their packets must come out in the order of entry, as on a link without delay.
        #[test]
        fn entries_come_out_in_order_whatever_the_length_of_a_day(
            looking_ahead in any::<bool>(),
            ops in prop::collection::vec((any::<bool>(), 0u64..40, 0u32..40, 0usize..3), 1..400)
        ) {
            let (mut queue, mut plain, mut now) = (EventQueue::new(looking_ahead, 10), Vec::<Entry>::new(), 0);
            queue.until_review = 7;
            for (number, (push, mantissa, exponent, index)) in (0u32..).zip(ops) {
                if push {
                    let event = Event::new(Instant::from_nanos(now + (mantissa << exponent)), EventKind::Arrival, index);
                    queue.push_arrival(event, &packet(number), END, 3);
                    plain.push(Entry { event, transit: Transit { packet: packet(number), next: END, place: 3 } });
                } else {
                    plain.sort_by_key(|entry| entry.event);
                    let first = (!plain.is_empty()).then(|| plain.remove(0));
                    if queue.until_review > 20 { queue.until_review = 5; }
                    prop_assert_eq!(pop(&mut queue, Instant::NEVER), first);
                    now = first.map_or(now, |entry| entry.event.at.nanos());
                }
                prop_assert_eq!(queue.len(), plain.len());
            }
            plain.sort_by_key(|entry| entry.event);
            prop_assert_eq!(drain(&mut queue), plain);
        }

        #[test]
        fn known_events_of_the_next_day_match_its_order(times in prop::collection::vec(40_000u64..500_000, 1..200)) {
            // None of them on the first day, which has begun.
            let mut queue = EventQueue::new(true, 10);
            for &at in &times {
                queue.push_timer(Event::new(Instant::from_nanos(at), EventKind::Sender, 0));
            }
            let mut shown: Vec<Entry> = Vec::new();
            while queue.new_day(Instant::NEVER) {
                let brought: Vec<Entry> = (0..queue.today()).filter_map(|n| queue.nth(n)).copied().collect();
                prop_assert_eq!(brought.len(), queue.entries.len());
                prop_assert!(shown.is_empty() || shown == brought);
                let count_known = queue.count_known(times.len());
                shown = (queue.today()..count_known).filter_map(|n| queue.nth(n)).copied().collect();
                prop_assert_eq!(shown.len(), queue.day_after(1).count());
                prop_assert_eq!(queue.nth(count_known), None);
                for entry in brought {
                    prop_assert_eq!(pop(&mut queue, Instant::NEVER), Some(entry));
                }
            }
            prop_assert_eq!(queue.len(), 0);
        }
    }
}
