//! A run on several threads: its network is cut into islands, and time into windows in which no island reaches another.
//!
//! Within a window each island handles its own events, in their order; what goes to another island is handed over when the
//! window ends, and nothing of it is due before the next begins. Events that act on the same element are handled by the same
//! island, in the one order of events. So a run leaves the same bytes on any number of threads.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::Plan;

use super::loop_choice::LoopChoice;
use super::{Parts, Simulation};
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
use crate::result::RunResult;
use crate::routes::END;
use crate::workers;

/// So many windows are one step of the plain loop.
const PLAIN: u64 = 8;

type OnIsland<'p> = Simulation<'p, (), (), Island>;

impl<'p> Simulation<'p, (), ()> {
    /// How the run is cut as wished.
    pub(super) fn partition(&self, plan: &Plan, request: PartitionRequest) -> Option<Partition> {
        let ends = (self.sending.items.as_slice(), self.receiving.items.as_slice());
        partition::partition_run(plan, &self.network, ends, self.hosts.as_ref(), request)
    }

    /// Runs to the end on islands, where it can be cut as wished. Answers with their number, too.
    pub(super) fn finish_on(
        mut self,
        plan: &'p Plan,
        request: PartitionRequest,
        parts: Parts<'_>,
    ) -> Result<(RunResult, usize), RunError> {
        let Some(partition) = self.partition(plan, request) else {
            return Ok((self.finish(parts)?.0, 1));
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
        Ok((self.settle()?.0, partition.islands))
    }

    /// Handles what happens in this time, both moments included: on islands and in the plain loop by choice.
    fn run_alternately(
        &mut self,
        plan: &'p Plan,
        partition: &Partition,
        (from, until): (Instant, Instant),
        parts: Parts<'_>,
        choice: &mut LoopChoice,
    ) -> Result<(), RunError> {
        // Empty in the plain loop.
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
            super::execute_parts(self.window.end, (from, until), parts, &mut |mut from, until| loop {
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

    /// Handles the events from `from` to `until`, both included, in steps of the plain loop while it has the turn.
    /// Returns the last moment that it handled.
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

    /// Gives everything to islands that are empty.
    fn fill_islands(&mut self, islands: &[Mutex<Option<OnIsland<'p>>>], plan: &'p Plan, partition: &Partition) {
        for (place, island) in islands.iter().zip(self.cut(plan, partition)) {
            *lock_island(place) = Some(island);
        }
    }

    /// Gives everything to the islands.
    fn cut(&mut self, plan: &'p Plan, partition: &Partition) -> Vec<OnIsland<'p>> {
        let (flows, islands) = (plan.flows.len(), partition.islands);
        let links = distribute(std::mem::take(&mut self.network.links.items), &partition.links, islands);
        let sending = distribute(std::mem::take(&mut self.sending.items), &partition.sending, islands);
        let receiving = distribute(std::mem::take(&mut self.receiving.items), &partition.receiving, islands);
        let mut cut: Vec<OnIsland<'p>> = (links.into_iter().zip(sending).zip(receiving).enumerate())
            .map(|(own, ((links, sending), receiving))| {
                let island = Island::new(own, partition);
                let [links_at, sending_at, receiving_at] = island.slots();
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
                    // It grows as needed: how much lies on an island is not known.
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

    /// Takes everything back; of events, what happens by the end.
    fn unite(&mut self, mut islands: Vec<OnIsland<'p>>, partition: &Partition, until: Instant) {
        let (mut links, mut sending, mut receiving) = (Vec::new(), Vec::new(), Vec::new());
        for (own, island) in islands.iter_mut().enumerate() {
            island.read_mail();
            // Freed before anything is put together: these are a large part of the memory.
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

/// Where an event is handled.
fn island_of(entry: &Entry, partition: &Partition) -> usize {
    let index = entry.event.index();
    match (entry.arrival(), entry.event.kind()) {
        (Some(transit), _) => usize::from(partition.steps[transit.place as usize]),
        (None, EventKind::Sender) => partition.sending[index].island(),
        (None, EventKind::Receiver) => partition.receiving[index].island(),
        (None, _) => partition.links[index].island(),
    }
}

/// Items of the plan, each to its island, in order.
fn distribute<T>(items: Vec<T>, slots: &[IslandSlot], islands: usize) -> Vec<Vec<T>> {
    let mut counts = vec![0; islands];
    slots.iter().for_each(|slot| counts[slot.island()] += 1);
    let mut dealt: Vec<Vec<T>> = counts.into_iter().map(Vec::with_capacity).collect();
    for (item, slot) in items.into_iter().zip(slots) {
        dealt[slot.island()].push(item);
    }
    dealt
}

/// The other way.
fn gather<T>(mut dealt: Vec<std::vec::IntoIter<T>>, slots: &[IslandSlot]) -> Vec<T> {
    slots.iter().filter_map(|slot| dealt[slot.island()].next()).collect()
}

/// An island, which nobody else uses at the time.
fn lock_island<'i, 'p>(island: &'i Mutex<Option<OnIsland<'p>>>) -> MutexGuard<'i, Option<OnIsland<'p>>> {
    // Who panicked with it has ended the run.
    island.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes all islands out of their places.
fn remove_islands<'p>(islands: &[Mutex<Option<OnIsland<'p>>>]) -> Vec<OnIsland<'p>> {
    islands.iter().filter_map(|island| lock_island(island).take()).collect()
}

/// A window is over.
struct WindowEnd {
    /// When something is due next.
    next: Instant,
    /// No other window follows.
    is_last: bool,
}

/// Handles the events from `from` to `until`, both included, window by window; `handle` does one window. Returns the last
/// moment that it handled.
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
        // Where nothing is due for a while, time goes on at once.
        begin = next.max(end + Span::from_nanos(1));
    }
}

/// A window is over: each island finds in its inbox what others had for it, and gives them its empty mail in exchange. Answers with
/// when something is due next anywhere.
///
/// # Errors
/// The first failure by island, whichever came first.
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
    /// Handles what happens in a window, both moments included, and notes when something is due next, here or for another.
    fn run_window(&mut self, begin: Instant, end: Instant) {
        self.read_mail();
        self.extent.failed = self.run_until(begin, end).err();
        let sent = self.extent.outbox.iter().map(|mail| mail.first).min();
        self.extent.next = self.events.earliest().min(sent.unwrap_or(Instant::NEVER));
    }

    /// Takes what others had for this island.
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
                    // The plain loop wants to know.
                    sending.awaited.add();
                }
                self.events.push(entry);
            }
            mail.arrivals.clear();
        }
        self.extent.inbox = inbox;
    }

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
