//! A run on several threads. Its network is partitioned into islands, and time into windows in which no island affects
//! another.
//!
//! Within a window, each island handles its events in order. Packets and messages for other islands are handed over at the
//! end of the window; none of them is due before the next window. One island handles all events that act on the same
//! element, in the order of the whole run. So the results have the same bytes on any number of threads.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::Plan;

use super::Simulation;
use super::loop_choice::LoopChoice;
use crate::admission::Admission;
use crate::books::InFlight;
use crate::calendar::EventQueue;
use crate::detours::Detours;
use crate::entry::{Entry, Transit};
use crate::error::RunError;
use crate::event::EventKind;
use crate::island_map::{Island, IslandMessage, IslandSlot, PlacedItems};
use crate::network::Network;
use crate::partition::{self, Partition, PartitionRequest};
use crate::parts::{Parts, execute_parts};
use crate::result::RunResult;
use crate::routes::END;
use crate::workers;

/// Windows per step of the plain loop.
const PLAIN: u64 = 8;

type OnIsland<'p> = Simulation<'p, (), (), Island>;

impl<'p> Simulation<'p, (), ()> {
    /// Returns the requested partition of the run; `None` if the run uses the plain loop.
    pub fn partition(&self, plan: &Plan, request: PartitionRequest) -> Option<Partition> {
        let ends = (self.sending.items.as_slice(), self.receiving.items.as_slice());
        partition::partition_run(plan, &self.network, ends, self.hosts.as_ref(), request)
    }

    /// Runs to the end, on islands if the requested partition exists.
    pub fn finish_on(
        mut self,
        plan: &'p Plan,
        request: PartitionRequest,
        parts: Parts<'_>,
    ) -> Result<RunResult, RunError> {
        let Some(partition) = self.partition(plan, request) else {
            return Ok(self.finish(parts)?.0);
        };
        let (warmup, mut choice) = (self.window.warmup, LoopChoice::new(request.changes));
        if warmup > Instant::ZERO {
            let last = Instant::from_nanos(warmup.nanos() - 1);
            self.run_alternately(plan, &partition, (Instant::ZERO, last), parts, &mut choice)?;
            self.begin_window();
        }
        self.calls_senders_ahead = true;
        self.run_alternately(plan, &partition, (warmup, self.window.end), parts, &mut choice)?;
        self.end_window();
        Ok(self.settle()?.0)
    }

    /// Handles the events from `from` to `until`, both included, on islands or in the plain loop as `choice` decides.
    fn run_alternately(
        &mut self,
        plan: &'p Plan,
        partition: &Partition,
        (from, until): (Instant, Instant),
        parts: Parts<'_>,
        choice: &mut LoopChoice,
    ) -> Result<(), RunError> {
        // Empty while the plain loop runs.
        let islands: Vec<Mutex<Option<OnIsland<'p>>>> = (0..partition.islands).map(|_| Mutex::new(None)).collect();
        let window = [AtomicU64::new(0), AtomicU64::new(0)];
        let handle = |own: usize| {
            let [begin, end] = window.each_ref().map(|edge| Instant::from_nanos(edge.load(Ordering::Relaxed)));
            if let Some(island) = lock_island(&islands[own]).as_mut() {
                island.run_window(begin, end);
            }
        };
        if choice.on_islands {
            self.fill_islands(&islands, plan, partition);
        }
        workers::run_with(partition.threads, islands.len(), &handle, |workers| {
            execute_parts(self.window.end, (from, until), parts, &mut |mut from, until| loop {
                let reached = if choice.on_islands {
                    run_windows(partition.lookahead, (from, until), &mut |begin, end| {
                        window
                            .iter()
                            .zip([begin, end])
                            .for_each(|(edge, at)| edge.store(at.nanos(), Ordering::Relaxed));
                        workers.run_round();
                        let mut guards: Vec<_> = islands.iter().map(lock_island).collect();
                        let mut islands: Vec<&mut OnIsland<'p>> =
                            guards.iter_mut().filter_map(|island| island.as_mut()).collect();
                        let next = hand_over(&mut islands)?;
                        let events = || islands.iter().map(|island| island.events_handled).sum();
                        Ok(WindowEnd { next, is_last: choice.switches(events) })
                    })?
                } else {
                    self.run_plain(partition.lookahead * PLAIN, (from, until), choice)?
                };
                if reached == until {
                    return Ok(());
                }
                let begun = std::time::Instant::now();
                if choice.on_islands {
                    self.unite(remove_islands(&islands), partition, reached);
                    choice.record_switch(begun.elapsed(), self.events_handled);
                } else {
                    self.fill_islands(&islands, plan, partition);
                    choice.record_switch(begun.elapsed(), 0);
                }
                from = reached + Span::from_nanos(1);
            })
        })?;
        if choice.on_islands {
            self.unite(remove_islands(&islands), partition, until);
        }
        Ok(())
    }

    /// Handles the events from `from` to `until`, both included, in steps of the plain loop until `choice` switches to
    /// islands. Returns the time of the last handled events.
    fn run_plain(
        &mut self,
        step: Span,
        (from, until): (Instant, Instant),
        choice: &mut LoopChoice,
    ) -> Result<Instant, RunError> {
        let mut begin = from;
        loop {
            let end = Instant::from_nanos((begin + step).nanos() - 1).min(until);
            self.run_until(begin, end)?;
            let next = self.events.earliest();
            if end == until || next > until {
                return Ok(until);
            }
            if choice.switches(|| self.events_handled) {
                return Ok(end);
            }
            begin = next.max(end + Span::from_nanos(1));
        }
    }

    /// Fills the empty islands with all links, ends and events.
    fn fill_islands(&mut self, islands: &[Mutex<Option<OnIsland<'p>>>], plan: &'p Plan, partition: &Partition) {
        for (place, island) in islands.iter().zip(self.cut(plan, partition)) {
            *lock_island(place) = Some(island);
        }
    }

    /// Creates islands from all links, ends and events.
    fn cut(&mut self, plan: &'p Plan, partition: &Partition) -> Vec<OnIsland<'p>> {
        let (flows, islands) = (plan.flows.len(), partition.islands);
        let links = distribute(std::mem::take(&mut self.network.links.items), &partition.links, islands);
        let sending = distribute(std::mem::take(&mut self.sending.items), &partition.sending, islands);
        let receiving = distribute(std::mem::take(&mut self.receiving.items), &partition.receiving, islands);
        let mut cut: Vec<OnIsland<'p>> = (links.into_iter().zip(sending).zip(receiving).enumerate())
            .map(|(own, ((links, sending), receiving))| {
                let island = Island::new(own, partition);
                let [links_at, sending_at, receiving_at] = island.maps();
                Simulation {
                    plan: Cow::Borrowed(plan),
                    probe: (),
                    border: (),
                    window: self.window,
                    network: Network {
                        links: PlacedItems::new(links, links_at),
                        media: Vec::new(),
                        routes: self.network.routes.clone(),
                        fed_in_order: Vec::new(),
                    },
                    extent: island,
                    detours: Detours::default(),
                    sending: PlacedItems::new(sending, sending_at),
                    receiving: PlacedItems::new(receiving, receiving_at),
                    samples: Vec::new(),
                    // Grows as needed, because the number of events on an island is unknown.
                    events: EventQueue::new(self.prefetches, 0),
                    out: Default::default(),
                    answer: Default::default(),
                    under_way: vec![InFlight::default(); flows],
                    before: Vec::new(),
                    events_handled: 0,
                    hosts: self.hosts.clone(),
                    admission: Admission::default(),
                    prefetches: self.prefetches,
                    prefetcher: Default::default(),
                    calls_senders_ahead: false,
                    foreign: Vec::new(),
                }
            })
            .collect();
        for entry in std::mem::replace(&mut self.events, EventQueue::new(self.prefetches, 0)).take() {
            if let Some(island) = cut.get_mut(island_of(&entry, partition)) {
                island.events.push(&entry);
            }
        }
        cut
    }

    /// Takes all links and ends back, and the events until the end of the run.
    fn unite(&mut self, mut islands: Vec<OnIsland<'p>>, partition: &Partition, until: Instant) {
        let (mut links, mut sending, mut receiving) = (Vec::new(), Vec::new(), Vec::new());
        for (own, island) in islands.iter_mut().enumerate() {
            island.read_mail();
            // Freed first, because they take a large part of the memory.
            let events = std::mem::replace(&mut island.events, EventQueue::new(false, 0));
            (island.extent.inbox, island.extent.outbox) = (Vec::new(), Vec::new());
            if until < self.window.end {
                self.events.append(events);
            }
            for (own, other) in self.under_way.iter_mut().zip(&island.under_way) {
                own.merge(other);
            }
            if let (Some(hosts), Some(theirs)) = (&mut self.hosts, island.hosts.take()) {
                hosts.take_back(&theirs, |flow| partition.sending[flow].island() == own);
            }
            self.events_handled += island.events_handled;
            links.push(std::mem::take(&mut island.network.links.items).into_iter());
            sending.push(std::mem::take(&mut island.sending.items).into_iter());
            receiving.push(std::mem::take(&mut island.receiving.items).into_iter());
        }
        self.prefetcher = Default::default();
        self.network.links.items = gather(links, &partition.links);
        self.sending.items = gather(sending, &partition.sending);
        self.receiving.items = gather(receiving, &partition.receiving);
    }
}

/// Returns the island that handles an event.
fn island_of(entry: &Entry, partition: &Partition) -> usize {
    let index = entry.event.index();
    match (entry.arrival(), entry.event.kind()) {
        (Some(transit), _) => usize::from(partition.steps[transit.place as usize]),
        (None, EventKind::Sender) => partition.sending[index].island(),
        (None, EventKind::Receiver) => partition.receiving[index].island(),
        (None, _) => partition.links[index].island(),
    }
}

/// Distributes items of the plan to their islands, in order.
fn distribute<T>(items: Vec<T>, slots: &[IslandSlot], islands: usize) -> Vec<Vec<T>> {
    let mut counts = vec![0; islands];
    slots.iter().for_each(|slot| counts[slot.island()] += 1);
    let mut dealt: Vec<Vec<T>> = counts.into_iter().map(Vec::with_capacity).collect();
    for (item, slot) in items.into_iter().zip(slots) {
        dealt[slot.island()].push(item);
    }
    dealt
}

/// Collects the items of all islands in the order of the plan.
fn gather<T>(mut dealt: Vec<std::vec::IntoIter<T>>, slots: &[IslandSlot]) -> Vec<T> {
    slots.iter().filter_map(|slot| dealt[slot.island()].next()).collect()
}

/// Locks an island. No other thread uses it at this time.
fn lock_island<'i, 'p>(island: &'i Mutex<Option<OnIsland<'p>>>) -> MutexGuard<'i, Option<OnIsland<'p>>> {
    // A thread that panicked with it has ended the run.
    island.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all islands from their slots.
fn remove_islands<'p>(islands: &[Mutex<Option<OnIsland<'p>>>]) -> Vec<OnIsland<'p>> {
    islands.iter().filter_map(|island| lock_island(island).take()).collect()
}

/// End of a window.
struct WindowEnd {
    /// Time of the next event.
    next: Instant,
    /// True if no other window follows.
    is_last: bool,
}

/// Handles the events from `from` to `until`, both included, window by window; `handle` does one window. Returns the time of
/// the last handled events.
fn run_windows(
    lookahead: Span,
    (from, until): (Instant, Instant),
    handle: &mut dyn FnMut(Instant, Instant) -> Result<WindowEnd, RunError>,
) -> Result<Instant, RunError> {
    let mut begin = from;
    loop {
        let end = Instant::from_nanos((begin + lookahead).nanos() - 1).min(until);
        let WindowEnd { next, is_last } = handle(begin, end)?;
        if end == until || next > until {
            return Ok(until);
        }
        if is_last {
            return Ok(end);
        }
        // Time without events is skipped.
        begin = next.max(end + Span::from_nanos(1));
    }
}

/// Moves the mail of all islands from outboxes to inboxes at the end of a window. Emptied mail goes back in exchange.
/// Returns the time of the next event on any island.
///
/// # Errors
/// Returns the error of the first island that failed, by number.
fn hand_over(islands: &mut [&mut OnIsland<'_>]) -> Result<Instant, RunError> {
    islands.iter_mut().find_map(|island| island.extent.failed.take()).map_or(Ok(()), Err)?;
    for from in 0..islands.len() {
        for to in 0..islands.len() {
            if islands[from].extent.outbox[to].is_empty() {
                continue;
            }
            let mail = std::mem::take(&mut islands[from].extent.outbox[to]);
            let read = std::mem::replace(&mut islands[to].extent.inbox[from], mail);
            islands[from].extent.outbox[to] = read;
        }
    }
    Ok(islands.iter().map(|island| island.extent.next).min().unwrap_or(Instant::NEVER))
}

impl OnIsland<'_> {
    /// Handles the events of a window, both ends included, and notes the time of the next event, here or in the outbox.
    fn run_window(&mut self, begin: Instant, end: Instant) {
        self.read_mail();
        self.extent.failed = self.run_until(begin, end).err();
        let sent = self.extent.outbox.iter().map(|mail| mail.first).min();
        self.extent.next = self.events.earliest().min(sent.unwrap_or(Instant::NEVER));
    }

    /// Reads the mail of the other islands.
    fn read_mail(&mut self) {
        let mut inbox = std::mem::take(&mut self.extent.inbox);
        for mail in &mut inbox {
            for message in mail.messages.drain(..) {
                self.take_message(message);
            }
            mail.first = Instant::NEVER;
            for entry in &mail.arrivals {
                if let Some(Transit { packet, next: END, .. }) = entry.arrival()
                    && packet.feedback
                    && let Some(sending) = self.sending.get_mut(packet.flow.0 as usize)
                {
                    // The plain loop needs this count.
                    sending.awaited.add();
                }
                self.events.push(entry);
            }
            mail.arrivals.clear();
        }
        self.extent.inbox = inbox;
    }

    /// Handles a message of another island.
    fn take_message(&mut self, message: IslandMessage) {
        let (IslandMessage::Removed { flow, .. }
        | IslandMessage::Pending { flow, .. }
        | IslandMessage::Created { flow, .. }
        | IslandMessage::Skipped { flow }) = message;
        let Some(receiving) = self.receiving.get_mut(flow) else { return };
        match message {
            IslandMessage::Removed { packet, congestion, link, at, .. } => {
                receiving.lose(&packet, congestion, link, at, self.window);
            }
            IslandMessage::Pending { packet, pending, link, .. } => receiving.keep_pending(&packet, pending, link),
            IslandMessage::Created { unit, .. } => receiving.made(&unit),
            IslandMessage::Skipped { .. } => receiving.skipped(),
        }
    }
}
