//! Looking ahead: with many flows little of what an event needs is still in a cache, and to wait for memory would be most of
//! the work. So what the coming events will read is asked for in time: while some are handled, the lines for those after
//! them are on their way. Nothing here has an effect on what a run leaves.
//!
//! It goes in steps, since where the next set of lines is stands in the one before: entries; routes; links and ends. Each step is taken
//! a few events at a time, in the order in which the events will be handled (entries in that of their lists). A line costs little if it
//! is on its way while there is work to do. A whole day's lines at once would have to wait for each other, and the work with them.

use crate::calendar::EventQueue;
use crate::ends::{ReceivingEnd, SendingEnd};
use crate::entry::Entry;
use crate::event::EventKind;
use crate::network::Network;
use crate::pages::Walk;
use crate::places::{Held, Map};
use crate::prefetch::{LINE, WORDS, line_of, lines_from, word_after};
use crate::routes::END;

/// Number of flows from which prefetching pays: their state no longer fits a second-level cache.
pub const WORTH_IT: usize = 2000;

/// How many days of the calendar ahead the entries themselves are asked for, in the course of a day: tomorrow's are read today.
const ENTRIES: u64 = 2;

/// How many events ahead a packet's route is asked for, and links and ends by how many fewer.
const FIRST: usize = 10;
const STEP: usize = 4;

/// After how many events more is asked for: that many at once.
const EACH: usize = 2;

/// The cache lines of a flow's sending and receiving sides that a packet reads: the endpoint included, which lies inside. Timers read
/// the whole sending side.
const SENDING: usize = 6;
const RECEIVING: usize = 4;
const WHOLE_SENDING: usize = size_of::<SendingEnd>() / LINE;

/// An event to come, as far as it matters here.
#[derive(Clone, Copy)]
struct Coming {
    flow: u32,
    /// From where on its packet goes its way; [`TIMER`] for a sender's timer, more than that for what is not asked for.
    place: u32,
    feedback: bool,
    /// The packet is at the end of its way.
    ends: bool,
}

const NOTHING: Coming = Coming { flow: 0, place: u32::MAX, feedback: false, ends: false };
const TIMER: u32 = u32::MAX - 1;

/// How many of these are kept: a power of two, and more than [`STEP`].
const KEPT: usize = 8;

/// How far what is to come has been asked for.
pub(crate) struct Sight {
    /// The entries of one day that are still to be prefetched.
    entries: Walk,
    /// So many of the events of today and tomorrow.
    reached: usize,
    /// How many today had when it began.
    today: usize,
    /// The last events for which routes have been asked for, round and round.
    coming: [Coming; KEPT],
    /// How many there have been.
    count: usize,
}

impl Default for Sight {
    fn default() -> Self {
        Sight { entries: Walk::DONE, reached: 0, today: 0, coming: [NOTHING; KEPT], count: 0 }
    }
}

impl Sight {
    /// Whether it is time to go on although no day has begun.
    #[inline(always)]
    pub fn is_due(&self, events: &EventQueue) -> bool {
        events.handled_today().is_multiple_of(EACH)
    }

    /// Before the next event is handled, asks for what those that follow will read. `new_day`: a day of the calendar has begun.
    #[inline(never)]
    pub fn go_on<M: Map>(
        &mut self,
        new_day: bool,
        events: &EventQueue,
        network: &Network<M>,
        sending: &Held<SendingEnd, M>,
        receiving: &Held<ReceivingEnd, M>,
    ) {
        if new_day {
            self.entries = events.walk_day_after(ENTRIES);
            self.reached = self.reached.saturating_sub(self.today);
            self.today = events.today();
        }
        events.fetch(&mut self.entries);
        let until = events.in_sight(FIRST);
        while self.reached < until {
            let entry = events.nth(self.reached);
            self.reached += 1;
            self.coming[self.count % KEPT] = coming(entry, network, sending);
            // Whether packets are data or feedback makes no difference to what is done: nobody could guess it in time.
            let then = self.coming[self.count.wrapping_sub(STEP) % KEPT];
            self.count = self.count.wrapping_add(1);
            if then.place < TIMER {
                fetch_way(then, network, sending, receiving);
            } else if then.place == TIMER
                && let Some(sending) = sending.get(then.flow as usize)
            {
                fetch_link(network, network.routes.at(sending.route).target());
            }
        }
    }
}

/// What an entry is about. Asks for its packet's route, or what its timer reads.
#[inline(always)]
fn coming<M: Map>(entry: Option<&Entry>, network: &Network<M>, sending: &Held<SendingEnd, M>) -> Coming {
    let Some(entry) = entry else { return NOTHING };
    if let Some(transit) = entry.arrival() {
        // Both routes of a flow share a line, if they are not long.
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

/// Asks for the links that a packet crosses without another event and, if its end is reached so, for that and for the link that what
/// it causes enters.
#[inline(always)]
fn fetch_way<M: Map>(
    coming: Coming,
    network: &Network<M>,
    sending: &Held<SendingEnd, M>,
    receiving: &Held<ReceivingEnd, M>,
) {
    let mut place = coming.place;
    let mut step = network.routes.at(place);
    while step.target() != END {
        fetch_link(network, step.target());
        if !step.is_at_once() {
            return;
        }
        place += 1;
        step = network.routes.at(place);
    }
    if !step.is_at_once() && !coming.ends {
        return;
    }
    fetch_link(network, network.routes.at(place + 1).target());
    let flow = coming.flow as usize;
    let ends = [receiving.get(flow).map(|end| &end.scheduled), sending.get(flow).map(|end| &end.scheduled)];
    let Some(start) = ends[usize::from(coming.feedback)] else { return };
    let (first, more) = if coming.feedback { (0, WORDS) } else { (RECEIVING_SCHEDULED, 0) };
    (0..RECEIVING).for_each(|line| word_after(start, (line * WORDS).wrapping_sub(first)));
    // A sender has more lines than a receiver, which is asked for one of its own again.
    (RECEIVING..SENDING).for_each(|line| word_after(start, line * more));
}

/// Where among the words of a receiving side its timer is.
const RECEIVING_SCHEDULED: usize = std::mem::offset_of!(ReceivingEnd, scheduled) / 8;

/// Asks for what a packet reads that crosses a link, and what one reads that waits there.
#[inline(always)]
fn fetch_link<M: Map>(network: &Network<M>, link: u32) {
    if let Some(link) = network.links.get(link as usize) {
        line_of(&link.free);
        line_of(&link.service);
    }
}
