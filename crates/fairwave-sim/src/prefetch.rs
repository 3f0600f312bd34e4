//! Prefetching of the data that coming events will read. With many flows, this data is rarely in a cache, and waiting
//! for memory would dominate the run time. So the run prefetches the lines of later events while it handles earlier
//! ones. Prefetching does not change results.
//!
//! It works in steps, because each set of lines gives the addresses of the next set: entries; routes; links and ends.
//! Each step covers a few events at a time, in the order of handling (entries in the order of their lists). A line
//! that loads during other work costs little. Prefetching a whole day at once would make the lines wait for each
//! other, and the work for the lines.

use crate::cache_lines::{LINE, WORDS, line_of, lines_from, word_after};
use crate::calendar::EventQueue;
use crate::ends::{ReceivingEnd, SendingEnd};
use crate::entry::Entry;
use crate::event::EventKind;
use crate::island_map::{Map, PlacedItems};
use crate::network::Network;
use crate::pages::Walk;
use crate::routes::END;

/// Number of flows from which prefetching pays: their state then exceeds a second-level cache.
pub const MIN_FLOWS: usize = 2000;

/// Entries are prefetched two days ahead in the calendar: tomorrow's entries are read today.
const ENTRIES: u64 = 2;

/// A packet's route is prefetched `FIRST` events ahead, its links and ends `FIRST − STEP` events ahead.
const FIRST: usize = 10;
const STEP: usize = 4;

/// Number of events between two prefetches; each prefetch covers as many events.
const EACH: usize = 2;

/// Cache lines of a flow's sending and receiving ends that a packet reads, including the endpoint inside. Timers read
/// the whole sending end.
const SENDING: usize = 6;
const RECEIVING: usize = 4;
const WHOLE_SENDING: usize = size_of::<SendingEnd>() / LINE;

/// Data of a coming event that prefetching needs.
#[derive(Clone, Copy)]
struct Coming {
    flow: u32,
    /// Position of its packet on the route; [`TIMER`] for a sender's timer, a larger value for events without
    /// prefetching.
    place: u32,
    feedback: bool,
    /// True if the packet is at the end of its route.
    ends: bool,
}

const NOTHING: Coming = Coming { flow: 0, place: u32::MAX, feedback: false, ends: false };
const TIMER: u32 = u32::MAX - 1;

/// Number of coming events kept: a power of two, larger than [`STEP`].
const KEPT: usize = 8;

/// Progress of prefetching.
pub(crate) struct Prefetcher {
    /// Entries of one day still to be prefetched.
    entries: Walk,
    /// Number of events of today and tomorrow covered so far.
    reached: usize,
    /// Number of today's events at the start of the day.
    today: usize,
    /// Ring of the latest events with prefetched routes.
    coming: [Coming; KEPT],
    /// Number of events put into the ring.
    count: usize,
}

impl Default for Prefetcher {
    fn default() -> Self {
        Prefetcher { entries: Walk::DONE, reached: 0, today: 0, coming: [NOTHING; KEPT], count: 0 }
    }
}

impl Prefetcher {
    /// Whether prefetching is due although no day has begun.
    #[inline(always)]
    pub fn is_due(&self, events: &EventQueue) -> bool {
        events.handled_today().is_multiple_of(EACH)
    }

    /// Prefetches the data of the following events, before the next event is handled. `new_day`: a day of the
    /// calendar has begun.
    #[inline(never)]
    pub fn advance<M: Map>(
        &mut self,
        new_day: bool,
        events: &EventQueue,
        network: &Network<M>,
        sending: &PlacedItems<SendingEnd, M>,
        receiving: &PlacedItems<ReceivingEnd, M>,
    ) {
        if new_day {
            self.entries = events.walk_day_after(ENTRIES);
            self.reached = self.reached.saturating_sub(self.today);
            self.today = events.today();
        }
        events.fetch(&mut self.entries);
        let until = events.count_known(FIRST);
        while self.reached < until {
            let entry = events.nth(self.reached);
            self.reached += 1;
            self.coming[self.count % KEPT] = coming(entry, network, sending);
            // Data and feedback packets take the same path here: the processor could not predict a branch on them.
            let then = self.coming[self.count.wrapping_sub(STEP) % KEPT];
            self.count = self.count.wrapping_add(1);
            if then.place < TIMER {
                fetch_way(then, network, sending, receiving);
            } else if then.place == TIMER
                && let Some(sending) = sending.get(then.flow as usize)
            {
                fetch_link(network, network.routes.step(sending.route).target());
            }
        }
    }
}

/// Extracts the data of an entry, and prefetches its packet's route or the state of its timer.
#[inline(always)]
fn coming<M: Map>(entry: Option<&Entry>, network: &Network<M>, sending: &PlacedItems<SendingEnd, M>) -> Coming {
    let Some(entry) = entry else { return NOTHING };
    if let Some(transit) = entry.arrival() {
        // Both routes of a flow share a cache line if they are short.
        line_of(network.routes.line(transit.place));
        let ends = transit.next == END;
        let place = transit.place + u32::from(!ends);
        return Coming { flow: transit.packet.flow.0, place, feedback: transit.packet.feedback, ends };
    }
    let flow = entry.event.index();
    match sending.get(flow) {
        Some(sending) if entry.event.kind() == EventKind::Sender => {
            lines_from(&sending.scheduled, WHOLE_SENDING);
            Coming { flow: flow as u32, place: TIMER, ..NOTHING }
        }
        _ => NOTHING,
    }
}

/// Prefetches the links that a packet crosses without another event. If the packet then reaches its end, also
/// prefetches that end and the first link of the reply.
#[inline(always)]
fn fetch_way<M: Map>(
    coming: Coming,
    network: &Network<M>,
    sending: &PlacedItems<SendingEnd, M>,
    receiving: &PlacedItems<ReceivingEnd, M>,
) {
    let mut place = coming.place;
    let mut step = network.routes.step(place);
    while step.target() != END {
        fetch_link(network, step.target());
        if !step.is_at_once() {
            return;
        }
        place += 1;
        step = network.routes.step(place);
    }
    if !step.is_at_once() && !coming.ends {
        return;
    }
    fetch_link(network, network.routes.step(place + 1).target());
    let flow = coming.flow as usize;
    let ends = [receiving.get(flow).map(|end| &end.scheduled), sending.get(flow).map(|end| &end.scheduled)];
    let Some(start) = ends[usize::from(coming.feedback)] else { return };
    let (first, more) = if coming.feedback { (0, WORDS) } else { (RECEIVING_SCHEDULED, 0) };
    (0..RECEIVING).for_each(|line| word_after(start, (line * WORDS).wrapping_sub(first)));
    // A sender has more lines than a receiver, so a receiver's line is prefetched again.
    (RECEIVING..SENDING).for_each(|line| word_after(start, line * more));
}

/// Index of the timer among the words of a receiving end.
const RECEIVING_SCHEDULED: usize = std::mem::offset_of!(ReceivingEnd, scheduled) / 8;

/// Prefetches the fields of a link that a crossing or waiting packet reads.
#[inline(always)]
fn fetch_link<M: Map>(network: &Network<M>, link: u32) {
    if let Some(link) = network.links.get(link as usize) {
        line_of(&link.free);
        line_of(&link.service);
    }
}
