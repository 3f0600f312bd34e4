//! Looking ahead: with many flows little of what an event needs is still in a cache, and to wait for memory would be most of
//! the work. So what the coming events will read is asked for in time: while some are handled, the lines for those after
//! them are on their way. Nothing here has an effect on what a run leaves.
//!
//! It goes in steps, since where the next set of lines is stands in the one before: entries; routes and endpoints; links, and
//! senders that are reached at once; the links that these send to.

use std::ops::Range;
use std::slice;

use prefetch_index::prefetch_index;

use crate::calendar::EventQueue;
use crate::ends::{ReceivingEnd, SendingEnd};
use crate::entry::Transit;
use crate::event::EventKind;
use crate::network::Network;
use crate::places::{Held, Map};
use crate::routes::END;

/// Number of flows from which prefetching pays: their state no longer fits a second-level cache.
pub const WORTH_IT: usize = 2000;

/// How many days of the calendar ahead the entries themselves are asked for, then each set of lines.
const ENTRIES: u64 = 4;
const FIRST: u64 = 3;
const SECOND: u64 = 2;
const THIRD: u64 = 1;

/// The cache lines of a flow's sending and receiving sides that a packet reads: the endpoint included, which lies inside.
const SENDING: Range<usize> = 0..6;
const RECEIVING: Range<usize> = 0..4;

/// Words of eight bytes in a cache line.
const LINE: usize = 8;

/// Asks for the line in which `item` begins.
#[inline]
fn line_of<T>(item: &T) {
    prefetch_index(slice::from_ref(item), 0);
}

/// When a day of the calendar begins, asks for what those that follow will read.
pub(crate) fn fetch<M: Map>(
    events: &EventQueue,
    network: &Network<M>,
    sending: &Held<SendingEnd, M>,
    receiving: &Held<ReceivingEnd, M>,
) {
    for entry in events.day_after(ENTRIES) {
        line_of(entry);
        line_of(&entry.transit.place);
    }
    for entry in events.day_after(FIRST) {
        let flow = entry.transit.packet.flow.0 as usize;
        match entry.arrival() {
            Some(transit) => {
                // Both routes of a flow share a line, if they are not long.
                line_of(network.routes.line(transit.place));
                if transit.next == END && transit.packet.feedback {
                    fetch_sending(&sending[flow]);
                } else if !transit.packet.feedback
                    && let Some(receiving) = receiving.get(flow)
                {
                    fetch_receiving(receiving);
                }
            }
            None if entry.event.kind() == EventKind::Sender => {
                fetch_sending(&sending[entry.event.index()]);
            }
            None => {}
        }
    }
    for entry in events.day_after(SECOND) {
        let Some(transit) = entry.arrival() else { continue };
        let flow = transit.packet.flow.0 as usize;
        if transit.next != END
            && is_end_reached(network, transit)
            && transit.packet.feedback
            && let Some(sending) = sending.get(flow)
        {
            fetch_sending(sending);
        }
        // What the packet causes enters the first link of the other way.
        if !transit.packet.feedback
            && let Some(receiving) = receiving.get(flow)
        {
            line_of_link(network, receiving.route);
        }
    }
    for entry in events.day_after(THIRD) {
        let Some(transit) = entry.arrival() else { continue };
        if transit.packet.feedback
            && (transit.next == END || is_end_reached(network, transit))
            && let Some(sending) = sending.get(transit.packet.flow.0 as usize)
        {
            line_of_link(network, sending.route);
        }
    }
}

/// Asks for the links that are crossed at once after the next one, and answers whether the end of the route is reached at once, too.
#[inline]
fn is_end_reached<M: Map>(network: &Network<M>, transit: &Transit) -> bool {
    let mut place = transit.place + 1;
    loop {
        let step = network.routes.at(place);
        if step.target() == END {
            return step.is_at_once();
        }
        line_of_link(network, place);
        if !step.is_at_once() {
            return false;
        }
        place += 1;
    }
}

/// Asks for the line of the link that the step at `place` enters.
#[inline]
fn line_of_link<M: Map>(network: &Network<M>, place: u32) {
    if let Some(link) = network.links.get(network.routes.at(place).target() as usize) {
        line_of(link);
    }
}

/// What an acknowledgement that reaches its sender reads and writes.
#[inline]
fn fetch_sending(sending: &SendingEnd) {
    let start = slice::from_ref(&sending.scheduled);
    SENDING.for_each(|line| prefetch_index(start, line * LINE));
}

/// What a packet that reaches its receiver reads and writes.
#[inline]
fn fetch_receiving(receiving: &ReceivingEnd) {
    let start = slice::from_ref(&receiving.units);
    RECEIVING.for_each(|line| prefetch_index(start, line * LINE));
}
