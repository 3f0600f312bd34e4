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

use super::turns::Turns;
use super::{Parts, Simulation};
use crate::admission::Admission;
use crate::books::InFlight;
use crate::calendar::EventQueue;
use crate::crew;
use crate::detours::Detours;
use crate::entry::{Entry, Transit};
use crate::error::RunError;
use crate::event::EventKind;
use crate::network::Network;
use crate::partition::{self, Partition, Wish};
use crate::places::{Held, Home, Island, Told};
use crate::result::RunResult;
use crate::routes::END;

/// So many windows are one step of the plain loop.
const PLAIN: u64 = 8;

type OnIsland<'p> = Simulation<'p, (), (), Island>;

impl<'p> Simulation<'p, (), ()> {
    /// How the run is cut as wished.
    pub(super) fn partition(&self, plan: &Plan, wish: Wish) -> Option<Partition> {
        let ends = (self.sending.items.as_slice(), self.receiving.items.as_slice());
        partition::of_run(plan, &self.network, ends, self.hosts.as_ref(), wish)
    }

    /// Runs to the end on islands, where it can be cut as wished. Answers with their number, too.
    pub(super) fn finish_on(
        mut self,
        plan: &'p Plan,
        wish: Wish,
        parts: Parts<'_>,
    ) -> Result<(RunResult, usize), RunError> {
        let Some(partition) = self.partition(plan, wish) else {
            return Ok((self.finish(parts)?.0, 1));
        };
        let (warmup, mut turns) = (self.window.warmup, Turns::new(wish.changes));
        if warmup > Instant::ZERO {
            let last = Instant::from_nanos(warmup.nanos() - 1);
            self.run_by_turns(plan, &partition, (Instant::ZERO, last), parts, &mut turns)?;
            self.begin_window();
        }
        self.calls_senders_ahead = true;
        self.run_by_turns(plan, &partition, (warmup, self.window.end), parts, &mut turns)?;
        self.end_window();
        Ok((self.settle()?.0, partition.islands))
    }

    /// Handles what happens in this time, both moments included: on islands and in the plain loop by turns.
    fn run_by_turns(
        &mut self,
        plan: &'p Plan,
        partition: &Partition,
        (from, until): (Instant, Instant),
        parts: Parts<'_>,
        turns: &mut Turns,
    ) -> Result<(), RunError> {
        // Empty in the plain loop.
        let islands: Vec<Mutex<Option<OnIsland<'p>>>> = (0..partition.islands).map(|_| Mutex::new(None)).collect();
        let window = [AtomicU64::new(0), AtomicU64::new(0)];
        let handle = |own: usize| {
            let [begin, end] = window.each_ref().map(|edge| Instant::from_nanos(edge.load(Ordering::Relaxed)));
            if let Some(island) = held(&islands[own]).as_mut() {
                island.run_window(begin, end);
            }
        };
        if turns.on_islands {
            self.settle_on(&islands, plan, partition);
        }
        crew::with(partition.threads, islands.len(), &handle, |crew| {
            super::in_parts(self.window.end, (from, until), parts, &mut |mut from, until| loop {
                let reached = if turns.on_islands {
                    in_windows(partition.lookahead, (from, until), &mut |begin, end| {
                        window
                            .iter()
                            .zip([begin, end])
                            .for_each(|(edge, at)| edge.store(at.nanos(), Ordering::Relaxed));
                        crew.round();
                        let mut guards: Vec<_> = islands.iter().map(held).collect();
                        let mut islands: Vec<&mut OnIsland<'p>> =
                            guards.iter_mut().filter_map(|island| island.as_mut()).collect();
                        let next = hand_over(&mut islands)?;
                        let events = || islands.iter().map(|island| island.events_handled).sum();
                        Ok(WindowEnd { next, is_last: turns.is_over(events) })
                    })?
                } else {
                    self.run_plain(partition.lookahead * PLAIN, (from, until), turns)?
                };
                if reached == until {
                    return Ok(());
                }
                let begun = std::time::Instant::now();
                if turns.on_islands {
                    self.unite(taken(&islands), partition, reached);
                    turns.change(begun.elapsed(), self.events_handled);
                } else {
                    self.settle_on(&islands, plan, partition);
                    turns.change(begun.elapsed(), 0);
                }
                from = reached + Span::from_nanos(1);
            })
        })?;
        if turns.on_islands {
            self.unite(taken(&islands), partition, until);
        }
        Ok(())
    }

    /// Handles the events from `from` to `until`, both included, in steps of the plain loop while it has the turn.
    /// Returns the last moment that it handled.
    fn run_plain(
        &mut self,
        step: Span,
        (from, until): (Instant, Instant),
        turns: &mut Turns,
    ) -> Result<Instant, RunError> {
        let mut begin = from;
        loop {
            let end = Instant::from_nanos((begin + step).nanos() - 1).min(until);
            self.run_until(begin, end)?;
            let next = self.events.earliest();
            if end == until || next > until {
                return Ok(until);
            }
            if turns.is_over(|| self.events_handled) {
                return Ok(end);
            }
            begin = next.max(end + Span::from_nanos(1));
        }
    }

    /// Gives everything to islands that are empty.
    fn settle_on(&mut self, islands: &[Mutex<Option<OnIsland<'p>>>], plan: &'p Plan, partition: &Partition) {
        for (place, island) in islands.iter().zip(self.cut(plan, partition)) {
            *held(place) = Some(island);
        }
    }

    /// Gives everything to the islands.
    fn cut(&mut self, plan: &'p Plan, partition: &Partition) -> Vec<OnIsland<'p>> {
        let (flows, islands) = (plan.flows.len(), partition.islands);
        let links = dealt(std::mem::take(&mut self.network.links.items), &partition.links, islands);
        let sending = dealt(std::mem::take(&mut self.sending.items), &partition.sending, islands);
        let receiving = dealt(std::mem::take(&mut self.receiving.items), &partition.receiving, islands);
        let mut cut: Vec<OnIsland<'p>> = (links.into_iter().zip(sending).zip(receiving).enumerate())
            .map(|(own, ((links, sending), receiving))| {
                let island = Island::new(own, partition);
                let [links_at, sending_at, receiving_at] = island.homes();
                Simulation {
                    plan: Cow::Borrowed(plan),
                    probe: (),
                    border: (),
                    window: self.window,
                    network: Network {
                        links: Held::new(links, links_at),
                        media: Vec::new(),
                        routes: self.network.routes.clone(),
                        fed_in_order: Vec::new(),
                    },
                    extent: island,
                    detours: Detours::default(),
                    sending: Held::new(sending, sending_at),
                    receiving: Held::new(receiving, receiving_at),
                    samples: Vec::new(),
                    // It grows as needed: how much lies on an island is not known.
                    events: EventQueue::new(self.looks_ahead, 0),
                    out: Default::default(),
                    answer: Default::default(),
                    under_way: vec![InFlight::default(); flows],
                    before: Vec::new(),
                    events_handled: 0,
                    hosts: self.hosts.clone(),
                    admission: Admission::default(),
                    looks_ahead: self.looks_ahead,
                    sight: Default::default(),
                    calls_senders_ahead: false,
                    foreign: Vec::new(),
                }
            })
            .collect();
        for entry in std::mem::replace(&mut self.events, EventQueue::new(self.looks_ahead, 0)).take() {
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
        self.sight = Default::default();
        self.network.links.items = gathered(links, &partition.links);
        self.sending.items = gathered(sending, &partition.sending);
        self.receiving.items = gathered(receiving, &partition.receiving);
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
fn dealt<T>(items: Vec<T>, homes: &[Home], islands: usize) -> Vec<Vec<T>> {
    let mut counts = vec![0; islands];
    homes.iter().for_each(|home| counts[home.island()] += 1);
    let mut dealt: Vec<Vec<T>> = counts.into_iter().map(Vec::with_capacity).collect();
    for (item, home) in items.into_iter().zip(homes) {
        dealt[home.island()].push(item);
    }
    dealt
}

/// The other way.
fn gathered<T>(mut dealt: Vec<std::vec::IntoIter<T>>, homes: &[Home]) -> Vec<T> {
    homes.iter().filter_map(|home| dealt[home.island()].next()).collect()
}

/// An island, which nobody else uses at the time.
fn held<'i, 'p>(island: &'i Mutex<Option<OnIsland<'p>>>) -> MutexGuard<'i, Option<OnIsland<'p>>> {
    // Who panicked with it has ended the run.
    island.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes all islands out of their places.
fn taken<'p>(islands: &[Mutex<Option<OnIsland<'p>>>]) -> Vec<OnIsland<'p>> {
    islands.iter().filter_map(|island| held(island).take()).collect()
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
fn in_windows(
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
            for told in mail.told.drain(..) {
                self.hear(told);
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

    fn hear(&mut self, told: Told) {
        let (Told::Gone { flow, .. } | Told::Pending { flow, .. } | Told::Made { flow, .. } | Told::Skipped { flow }) =
            told;
        let Some(receiving) = self.receiving.get_mut(flow) else { return };
        match told {
            Told::Gone { packet, congestion, link, at, .. } => {
                receiving.lose(&packet, congestion, link, at, self.window);
            }
            Told::Pending { packet, pending, link, .. } => receiving.keep_pending(&packet, pending, link),
            Told::Made { unit, .. } => receiving.made(&unit),
            Told::Skipped { .. } => receiving.skipped(),
        }
    }
}
