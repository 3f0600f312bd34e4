//! One run: events in order, packets on their way, endpoints called, counters fed, invariants checked.

use std::borrow::Cow;

use fairwave_core::packet::Packet;
use fairwave_core::transport::{AnySender, Output, Receiver, Sender};
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::Plan;

use crate::admission::Admission;
use crate::books::{self, Books, InFlight};
use crate::border::Border;
use crate::calendar::EventQueue;
use crate::collect::{self, RunRecord, Sample};
use crate::detours::{Detour, Detours};
use crate::ends::{FlowEnds, ReceivingEnd, SendingEnd};
use crate::entry::Transit;
use crate::error::RunError;
use crate::event::{Event, EventKind};
use crate::hosts::Hosts;
use crate::island_map::{Extent, IdentityMap, IslandMessage, PlacedItems, WholeRun};
use crate::link::{Departure, Service};
use crate::measure::Window;
use crate::network::Network;
use crate::partition::{Changes, Cut, PartitionRequest};
use crate::prefetch;
use crate::probe::{Probe, RemovalCause};
use crate::result::RunResult;
use crate::routes::END;
use crate::unit_log::Pending;
use crate::warmup::WarmupCounters;

struct Simulation<'p, P, B, E: Extent = WholeRun> {
    plan: Cow<'p, Plan>,
    /// Who looks on.
    probe: P,
    /// What lies between the ends of flows and the network.
    border: B,
    window: Window,
    network: Network<E::Map>,
    /// Whether all of the run is here; what there is for other islands.
    extent: E,
    /// Flows that take other routes on the way.
    detours: Detours,
    sending: PlacedItems<SendingEnd, E::Map>,
    receiving: PlacedItems<ReceivingEnd, E::Map>,
    samples: Vec<Sample>,
    events: EventQueue,
    /// Of senders.
    out: Output,
    /// Of receivers, which may be called while a sender's packets are on their way.
    answer: Output,
    /// Of each flow, packets whose next happening lies beyond the end.
    under_way: Vec<InFlight>,
    /// Of each flow, what its ends had counted when the window began; nothing without a warm-up.
    before: Vec<WarmupCounters>,
    events_handled: u64,
    /// Where packets do not leave their hosts at once.
    hosts: Option<Hosts>,
    /// Who is at work in groups that bound it.
    admission: Admission,
    /// There is more of everything than a cache holds.
    prefetches: bool,
    /// How far it does.
    prefetcher: prefetch::Prefetcher,
    /// Senders are called ahead of time where they may be ([`Network::senders_ahead_of_time`]): the window has begun, and nobody
    /// sees the run before its end.
    calls_senders_ahead: bool,
    /// Flows whose endpoints are not those of fairwave: they may fail.
    foreign: Vec<usize>,
}

/// Executes a plan.
///
/// # Errors
/// A plan too large to be indexed, or an invariant that does not hold at the end.
pub fn run(plan: &Plan) -> Result<RunResult, RunError> {
    Ok(Simulation::new(Cow::Borrowed(plan), (), ())?.finish(None)?.0)
}

/// Executes a plan in about [`PARTS`] parts of equal simulated time. `part` is given the work of each, does it, and says whether the
/// next is wanted. What comes out is what [`run`] gives.
///
/// # Errors
/// As [`run`], and [`RunError::Stopped`].
pub fn run_in_parts(plan: &Plan, part: &dyn Fn(&mut dyn FnMut()) -> bool) -> Result<RunResult, RunError> {
    Ok(Simulation::new(Cow::Borrowed(plan), (), ())?.finish(Some(part))?.0)
}

/// As [`run_in_parts`], on so many threads as far as the plan allows it and it is worth it. What comes out is the same.
///
/// # Errors
/// As [`run_in_parts`].
///
/// # Panics
/// As the thread does that handles what panics.
pub fn run_on(plan: &Plan, threads: usize, parts: Parts<'_>) -> Result<RunResult, RunError> {
    let simulation = Simulation::new(Cow::Borrowed(plan), (), ())?;
    Ok(simulation.finish_on(plan, PartitionRequest::fast(threads), parts)?.0)
}

/// How [`run_on`] would cut a plan for so many threads; none where it has the plain loop.
///
/// # Errors
/// A plan too large to be indexed.
pub fn cut_of(plan: &Plan, threads: usize) -> Result<Option<Cut>, RunError> {
    Ok(Simulation::new(Cow::Borrowed(plan), (), ())?
        .partition(plan, PartitionRequest::fast(threads))
        .map(|it| it.cut()))
}

/// As [`run_on`], whether it is worth it or not, on so many islands if any number is given; made for tests and measurements. Answers
/// with the number of islands, too: 1 for a plan that cannot be cut.
///
/// # Errors
/// As [`run`].
pub fn run_cut(plan: &Plan, threads: usize, islands: Option<usize>) -> Result<(RunResult, usize), RunError> {
    Simulation::new(Cow::Borrowed(plan), (), ())?.finish_on(
        plan,
        PartitionRequest { threads, least: 0.0, islands, changes: Changes::Never },
        None,
    )
}

/// Like [`run_cut`], but the run goes from islands to the plain loop and back after every `windows` windows.
///
/// # Errors
/// As [`run`].
pub fn run_changing(plan: &Plan, threads: usize, windows: u64) -> Result<(RunResult, usize), RunError> {
    let request = PartitionRequest { threads, least: 0.0, islands: None, changes: Changes::Windows(windows) };
    Simulation::new(Cow::Borrowed(plan), (), ())?.finish_on(plan, request, None)
}

/// As [`run_cut`], with prefetching however few flows there are: it changes nothing of what a run leaves.
///
/// # Errors
/// As [`run`].
pub fn run_looking_ahead(plan: &Plan, threads: usize) -> Result<(RunResult, usize), RunError> {
    let mut simulation = Simulation::new(Cow::Borrowed(plan), (), ())?;
    simulation.prefetches = true;
    let begun = std::mem::replace(&mut simulation.events, EventQueue::new(true, plan.flows.len()));
    simulation.events.append(begun);
    simulation.finish_on(plan, PartitionRequest { threads, least: 0.0, islands: None, changes: Changes::Never }, None)
}

/// Executes a plan while `probe` looks on, which changes nothing of what the run leaves.
///
/// # Errors
/// As [`run`].
pub fn run_seen<P: Probe>(plan: &Plan, probe: P) -> Result<(RunResult, P), RunError> {
    let (result, probe, ()) = Simulation::new(Cow::Borrowed(plan), probe, ())?.finish(None)?;
    Ok((result, probe))
}

/// Into how many parts a run is cut so that it can be followed and stopped; a few more where there is a warm-up.
pub const PARTS: u64 = 1024;

/// The caller that does the parts of a run; none if the run is done at once.
type Parts<'a> = Option<&'a dyn Fn(&mut dyn FnMut()) -> bool>;

/// Has `run` handle what happens from a moment until another, both included, part by part of a run that ends at `end`.
fn execute_parts(
    end: Instant,
    (from, until): (Instant, Instant),
    parts: Parts<'_>,
    run: &mut dyn FnMut(Instant, Instant) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let Some(part) = parts else { return run(from, until) };
    let span = Span::from_nanos((end.nanos() / PARTS).max(1));
    let mut begin = from;
    loop {
        let end = (begin + span).min(until);
        let mut done = Err(RunError::Stopped);
        let wanted = part(&mut || done = run(begin, end));
        done?;
        if end == until {
            return Ok(());
        }
        if !wanted {
            return Err(RunError::Stopped);
        }
        begin = end + Span::from_nanos(1);
    }
}

impl<'p, P: Probe, B: Border> Simulation<'p, P, B> {
    fn new(planned: Cow<'p, Plan>, probe: P, border: B) -> Result<Self, RunError> {
        let plan = &*planned;
        let end = Instant::ZERO + plan.duration;
        let window = Window { warmup: (Instant::ZERO + plan.warmup).min(end), end };
        let mut network = Network::new(plan, window)?;
        let hosts = Hosts::new(plan);
        let FlowEnds { mut sending, mut receiving } = FlowEnds::new(plan, window, hosts.as_ref(), B::THERE)?;
        let hosts = hosts.filter(Hosts::are_late);
        let reactive: Vec<bool> = receiving.iter().map(|end| !B::THERE && end.receiver.is_reactive()).collect();
        let ahead = network.receivers_ahead_of_time(plan, &reactive);
        let seen = P::ON || B::THERE || !plan.record.windows.is_empty();
        let alone: Vec<bool> = (plan.flows.iter().zip(&sending).zip(&receiving))
            .map(|((flow, sending), receiving)| !seen && sending.is_alone(flow, receiving))
            .collect();
        let senders = network.senders_ahead_of_time(plan, &alone, &ahead);
        for (index, (flow, ahead)) in plan.flows.iter().zip(ahead.into_iter().zip(senders)).enumerate() {
            [sending[index].route, receiving[index].route] = network.add_routes(plan, flow, ahead.into())?;
        }
        let detours = Detours::new(plan, &mut network, |flow| [sending[flow].route, receiving[flow].route])?;
        let flows = plan.flows.len();
        let prefetches = flows > prefetch::MIN_FLOWS;
        // The ends of a conference are fairwave's, too.
        let own = |flow: &usize| matches!(sending[*flow].sender, AnySender::Own(_)) && plan.flows[*flow].leg.is_none();
        let foreign = (0..sending.len()).filter(own).collect();
        let mut simulation = Simulation {
            plan: planned,
            probe,
            border,
            window,
            events: EventQueue::new(prefetches, flows),
            network,
            extent: WholeRun,
            detours,
            sending: PlacedItems::new(sending, IdentityMap),
            receiving: PlacedItems::new(receiving, IdentityMap),
            samples: Vec::new(),
            out: Output::default(),
            answer: Output::default(),
            under_way: vec![InFlight::default(); flows],
            before: Vec::new(),
            hosts,
            admission: Admission::default(),
            events_handled: 0,
            prefetches,
            prefetcher: Default::default(),
            calls_senders_ahead: false,
            foreign,
        };
        for flow in 0..simulation.sending.items.len() {
            simulation.arm_sender(flow, Instant::ZERO);
        }
        let record = &simulation.plan.record;
        if record.window_interval > Span::ZERO && !record.windows.is_empty() {
            simulation.events.push_timer(Event::new(Instant::ZERO, EventKind::Sample, 0));
        }
        for link in 0..simulation.network.links.items.len() {
            simulation.handle_rate_change(link, Instant::ZERO);
        }
        for (index, change) in simulation.detours.changes.iter().enumerate() {
            simulation.events.push_timer(Event::new(change.at, EventKind::Reroute, index));
        }
        Ok(simulation)
    }

    /// Runs to the end.
    fn finish(mut self, parts: Parts<'_>) -> Result<(RunResult, P, B), RunError> {
        self.run_until_end(parts)?;
        self.settle()
    }

    /// Collects what there is to tell and checks the books.
    fn settle(mut self) -> Result<(RunResult, P, B), RunError> {
        // Nothing more happens: the tables get the room.
        self.events = EventQueue::new(false, 0);
        self.network.routes = Default::default();
        // Queues are described as they are, then emptied: what waits in them is part of what became of the units.
        let mut result = RunResult::default();
        collect::add_links(&self.recorded(), &mut result);
        self.empty_queues()?;
        collect::add_flows(&self.recorded(), &mut result);
        let (books, probe, border) = self.into_books();
        books.check()?;
        Ok((result, probe, border))
    }

    fn recorded(&self) -> RunRecord<'_> {
        RunRecord {
            plan: &self.plan,
            window: self.window,
            links: &self.network.links.items,
            media: &self.network.media,
            sending: &self.sending.items,
            receiving: &self.receiving.items,
            samples: &self.samples,
            before: &self.before,
            is_live: B::THERE,
            events: self.events_handled,
        }
    }

    /// Checks the links, and takes what waits out of managed queues and shared media.
    fn empty_queues(&mut self) -> Result<(), RunError> {
        let Simulation { plan, border, window, network, receiving, under_way, .. } = self;
        let mut found = |link: usize, packet: &Packet| {
            let flow = packet.flow.0 as usize;
            under_way[flow].add(packet);
            let packet = if B::THERE { border.written(packet) } else { *packet };
            receiving[flow].keep_pending(&packet, Pending::Queued, link);
        };
        books::empty_queues(plan, &mut network.links.items, &mut network.media, window.end, &mut found)
    }

    fn into_books(self) -> (Books<'p>, P, B) {
        let Simulation { plan, probe, border, network, sending, receiving, under_way, .. } = self;
        let links = network.links.items;
        (Books { plan, links, sending: sending.items, receiving: receiving.items, under_way }, probe, border)
    }

    fn run_until_end(&mut self, parts: Parts<'_>) -> Result<(), RunError> {
        if self.window.warmup > Instant::ZERO {
            let last = Instant::from_nanos(self.window.warmup.nanos() - 1);
            self.run_parts(Instant::ZERO, last, parts)?;
            self.begin_window();
        }
        self.calls_senders_ahead = true;
        self.run_parts(self.window.warmup, self.window.end, parts)?;
        self.end_window();
        Ok(())
    }

    /// The run is over.
    fn end_window(&mut self) {
        self.network.account_for_queues(self.window);
        self.read_to_the_end();
        self.settle_media();
    }

    /// Handles what happens from `from` until `until`, both moments included, part by part.
    fn run_parts(&mut self, from: Instant, until: Instant, parts: Parts<'_>) -> Result<(), RunError> {
        let at_once = |work: &mut dyn FnMut()| {
            work();
            true
        };
        let parts: Parts<'_> = if parts.is_none() && !self.foreign.is_empty() { Some(&at_once) } else { parts };
        execute_parts(self.window.end, (from, until), parts, &mut |begin, end| {
            self.run_until(begin, end)?;
            self.check_foreign()
        })
    }

    /// The first failure of code that is not fairwave's.
    fn check_foreign(&self) -> Result<(), RunError> {
        let ends =
            self.foreign.iter().filter_map(|&flow| Some((flow, self.sending.get(flow)?, self.receiving.get(flow)?)));
        let failures = ends.flat_map(|(flow, sending, receiving)| {
            [sending.sender.failure(), receiving.receiver.failure()]
                .into_iter()
                .flatten()
                .map(move |failure| (flow, failure))
        });
        failures.min_by_key(|(_, failure)| failure.at).map_or(Ok(()), |(flow, failure)| {
            let flow = self.plan.flows.get(flow).map_or_else(String::new, |flow| flow.name.clone());
            Err(RunError::Stack { flow, stack: failure.stack, at: failure.at, reason: failure.reason.clone() })
        })
    }

    /// The warm-up is over.
    fn begin_window(&mut self) {
        let warmup = self.window.warmup;
        let ends = self.sending.items.iter().zip(&self.receiving.items);
        self.before = ends.map(|(sending, receiving)| WarmupCounters::read(sending, receiving, warmup)).collect();
        self.network.begin_window(warmup, self.window);
    }
}

impl<P: Probe, B: Border, E: Extent> Simulation<'_, P, B, E> {
    /// Handles what happens from `from` until `until`, both moments included.
    fn run_until(&mut self, from: Instant, until: Instant) -> Result<(), RunError> {
        let mut now = from;
        loop {
            if self.prefetches {
                let new_day = self.events.new_day(until);
                if new_day || self.prefetcher.is_due(&self.events) {
                    self.prefetcher.advance(new_day, &self.events, &self.network, &self.sending, &self.receiving);
                }
            }
            let Some((event, place)) = self.events.pop_until(until) else { break };
            if event.at < now {
                return Err(RunError::Invariant {
                    law: "time never runs back",
                    place: format!("{:?} {}", event.kind(), event.index()),
                    found: format!("{} after {now}", event.at),
                });
            }
            now = event.at;
            self.events_handled += 1;
            if P::ON {
                self.probe.now(now);
            }
            if event.is_arrival() {
                let transit = self.events.entry(place).transit;
                self.arrival(&transit, now);
                continue;
            }
            match event.kind() {
                EventKind::Arrival | EventKind::ArrivalBehind => {}
                EventKind::Service => self.service(event.index(), now),
                EventKind::Sender => self.sender_wakes(event.index(), now),
                EventKind::Receiver => self.receiver_wakes(event.index(), now),
                EventKind::Sample => self.sample(now),
                EventKind::Rate => self.handle_rate_change(event.index(), now),
                EventKind::Reroute => self.take_detour(event.index(), now),
            }
        }
        Ok(())
    }

    /// A packet has reached the far end of a link.
    #[inline]
    fn arrival(&mut self, transit: &Transit, now: Instant) {
        let Transit { packet, next, place } = transit;
        let flow = packet.flow.0 as usize;
        match *next {
            END if B::THERE => self.hand_over(flow, packet, now),
            END if packet.feedback => {
                if P::ON {
                    self.probe.received(packet, now);
                }
                let sending = &mut self.sending[flow];
                sending.feedback_arrived += 1;
                sending.awaited.remove();
                self.take_feedback(flow, packet, now);
            }
            END => {
                self.receive(flow, packet, now);
                self.arm_receiver(flow, now);
            }
            next => self.forward(next as usize, packet, *place, now),
        }
    }

    /// The queue or the wire of a link has removed a packet.
    #[inline]
    fn lose(&mut self, link: usize, packet: &Packet, congestion: bool, at: Instant) {
        let flow = packet.flow.0 as usize;
        if B::THERE {
            let packet = self.border.gone(packet, congestion);
            self.receiving[flow].lose(&packet, congestion, link, at, self.window);
        } else if let Some(receiving) = self.receiving.get_mut(flow) {
            receiving.lose(packet, congestion, link, at, self.window);
        } else {
            self.extent.send_message(flow, IslandMessage::Removed { flow, packet: *packet, congestion, link, at });
        }
    }

    /// A packet arrives at a link at `at`, by the step at `place` of its route, and goes as far as can be told without another
    /// event.
    #[inline(always)]
    fn forward(&mut self, mut link: usize, packet: &Packet, mut place: u32, mut at: Instant) {
        loop {
            let here = &mut self.network.links[link];
            if let Some((start, arrival)) = here.cross(at, packet, self.window) {
                if P::ON {
                    self.probe.arrived(link, packet, at);
                    self.probe.begun(link, packet, start);
                }
                match self.continue_route(link, packet, place, Departure::Arrives(arrival), start > at) {
                    Some((next, arrival)) => (link, place, at) = (next, place + 1, arrival),
                    None => return,
                }
                continue;
            }
            here.measure.arrived(at, self.window);
            if P::ON {
                self.probe.arrived(link, packet, at);
            }
            let waits = !here.passes_at_once(at);
            let start = if !waits {
                at
            } else {
                let pace = here.pace();
                let Service::Fifo(fifo) = &mut here.service else {
                    self.arrive_at_managed(link, packet, place, at);
                    return;
                };
                match fifo.arrive(at, packet.wire, pace) {
                    Ok(start) => {
                        here.measure.waiting(fifo.len(), at, self.window);
                        here.measure.held(1, at, start, self.window);
                        start
                    }
                    Err(reason) => {
                        here.measure.dropped(at, reason, self.window);
                        self.lose(link, packet, true, at);
                        if P::ON {
                            self.probe.gone(link, packet, at, RemovalCause::Dropped(reason));
                        }
                        return;
                    }
                }
            };
            if P::ON {
                self.probe.begun(link, packet, start);
            }
            here.transmit(start, packet, waits);
            let leaving = here.leave(packet, self.window);
            match self.continue_route(link, packet, place, leaving, start > at) {
                Some((next, arrival)) => (link, place, at) = (next, place + 1, arrival),
                None => return,
            }
        }
    }

    /// A packet that entered a link by the step at `place` has left it. Answers with the next link and the arrival there, if that can be
    /// crossed at once; else the packet has been put where it belongs. `waited` says that it stood in this link's queue. Always
    /// inlined: a call would cost as much as the step.
    #[inline(always)]
    fn continue_route(
        &mut self,
        link: usize,
        packet: &Packet,
        place: u32,
        leaving: Departure,
        waited: bool,
    ) -> Option<(usize, Instant)> {
        match leaving {
            Departure::Arrives(arrival) => {
                if P::ON {
                    self.probe.left(link, packet, self.network.links[link].free, false);
                }
                let step = self.network.routes.step(place + 1);
                if !step.is_at_once() {
                    let kind = if waited { EventKind::ArrivalBehind } else { EventKind::Arrival };
                    let event = Event::new(arrival, kind, link);
                    if !self.extent.divert(event, packet, step.target(), place + 1) {
                        self.events.push_arrival(event, packet, step.target(), place + 1);
                    }
                } else if step.target() != END {
                    return Some((step.target() as usize, arrival));
                } else if packet.feedback {
                    self.reach_sender(link, packet, place + 1, arrival, waited);
                } else {
                    self.receive(packet.flow.0 as usize, packet, arrival);
                }
            }
            Departure::Twice(arrival) => self.arrive_twice(link, packet, place, arrival, waited),
            Departure::UnderWay => self.leave_under_way(link, packet),
            Departure::Lost { counts } => self.lose_on_wire(link, packet, counts),
        }
        None
    }

    /// The packet that a link transmitted last arrives at `arrival`, and a copy with it. What such a link leads to is never crossed at once.
    #[cold]
    #[inline(never)]
    fn arrive_twice(&mut self, link: usize, packet: &Packet, place: u32, arrival: Instant, waited: bool) {
        if P::ON {
            self.probe.left(link, packet, self.network.links[link].free, false);
        }
        self.under_way[packet.flow.0 as usize].copied(packet);
        if B::THERE {
            self.border.copied(packet);
        }
        let kind = if waited { EventKind::ArrivalBehind } else { EventKind::Arrival };
        for _ in 0..2 {
            let target = self.network.routes.step(place + 1).target();
            let event = Event::new(arrival, kind, link);
            if !self.extent.divert(event, packet, target, place + 1) {
                self.events.push_arrival(event, packet, target, place + 1);
            }
        }
    }

    /// A link has lost the packet that it transmitted last; within the run, if that `counts`.
    #[inline(never)]
    fn lose_on_wire(&mut self, link: usize, packet: &Packet, counts: bool) {
        if !counts {
            self.keep_pending(link, packet);
            return;
        }
        let here = &mut self.network.links[link];
        let departure = here.free;
        let failed = here.take_failed(packet, self.window);
        if P::ON && failed {
            self.probe.gone(link, packet, departure, RemovalCause::Failed);
        } else if P::ON {
            self.probe.left(link, packet, departure, true);
        }
        if !failed {
            here.measure.lost(departure, self.window);
        }
        match &mut here.service {
            Service::Managed(managed) => managed.classes.lost(packet),
            Service::Shared(shared) => shared.classes.lost(packet),
            Service::Fifo(_) => {}
        }
        self.lose(link, packet, false, departure);
    }

    /// Nothing more happens within the run to the packet that a link transmitted last.
    #[cold]
    #[inline(never)]
    fn leave_under_way(&mut self, link: usize, packet: &Packet) {
        let here = &mut self.network.links[link];
        here.measure.on_wire += u32::from(here.free <= self.window.end);
        if P::ON && here.free <= self.window.end {
            self.probe.left(link, packet, here.free, false);
        }
        self.keep_pending(link, packet);
    }

    /// A link has a packet when the run ends: before its transmission, or from then on.
    fn keep_pending(&mut self, link: usize, packet: &Packet) {
        let flow = packet.flow.0 as usize;
        self.under_way[flow].add(packet);
        let queued = self.network.links[link].begins_after(self.window.end);
        let pending = if queued { Pending::Queued } else { Pending::OnWire };
        if B::THERE {
            let packet = self.border.written(packet);
            self.receiving[flow].keep_pending(&packet, pending, link);
        } else if let Some(receiving) = self.receiving.get_mut(flow) {
            receiving.keep_pending(packet, pending, link);
        } else {
            self.extent.send_message(flow, IslandMessage::Pending { flow, packet: *packet, pending, link });
        }
    }

    /// Where the route begins that a packet goes along, if its flow still does.
    #[inline(always)]
    fn route_of(&self, packet: &Packet) -> u32 {
        let flow = packet.flow.0 as usize;
        match self.extent.routes(flow) {
            Some([forward, backward]) => {
                if packet.feedback {
                    backward
                } else {
                    forward
                }
            }
            None if packet.feedback => self.receiving[flow].route,
            None => self.sending[flow].route,
        }
    }

    /// Few events need a new timer: those that do not must not pay for the room that it takes to make one.
    #[inline(never)]
    fn push_timer(&mut self, event: Event) {
        self.events.push_timer(event);
    }

    /// A flow's packets take other routes from here on.
    fn take_detour(&mut self, index: usize, now: Instant) {
        let Some(Detour { flow, routes, network, .. }) = self.detours.changes.get(index).copied() else { return };
        [self.sending[flow].route, self.receiving[flow].route] = routes;
        if network && self.sending[flow].active {
            self.sending[flow].sender.on_new_network(now);
            self.arm_sender(flow, now + Span::from_nanos(1));
        }
    }

    fn sample(&mut self, now: Instant) {
        self.events.push_timer(Event::new(now + self.plan.record.window_interval, EventKind::Sample, 0));
        for &flow in &self.plan.record.windows {
            let (view, receiver) = (self.sending[flow].sender.view(), self.receiving[flow].receiver.view());
            self.samples.push(Sample { flow, at: now, view, receiver });
        }
    }
}

mod ends;
mod islands;
mod loop_choice;
mod managed;
mod shared;
mod stepped;
#[cfg(test)]
mod tests;

pub use stepped::SteppedRun;
