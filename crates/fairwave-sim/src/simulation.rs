//! The event loop of a run. It handles events in order, moves packets along their routes, calls endpoints, updates counters
//! and checks invariants.

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
use crate::parts::{Parts, execute_parts};
use crate::prefetch;
use crate::probe::{ProbeSlot, RemovalCause};
use crate::result::RunResult;
use crate::routes::END;
use crate::unit_log::Pending;
use crate::warmup::WarmupCounters;

pub(crate) struct Simulation<'p, P, B, E: Extent = WholeRun> {
    plan: Cow<'p, Plan>,
    /// Observer of the run.
    probe: P,
    /// Border between flow endpoints and the network (live runs only).
    border: B,
    window: Window,
    network: Network<E::Map>,
    /// The whole run, or an island with its messages for other islands.
    extent: E,
    /// Flows that change their routes during the run.
    detours: Detours,
    sending: PlacedItems<SendingEnd, E::Map>,
    receiving: PlacedItems<ReceivingEnd, E::Map>,
    samples: Vec<Sample>,
    events: EventQueue,
    /// Output of senders.
    out: Output,
    /// Output of receivers, which the run can call while it forwards a sender's packets.
    answer: Output,
    /// Per flow: packets whose next event is after the end of the run.
    under_way: Vec<InFlight>,
    /// Per flow: counters of its ends at the start of the window. Empty without a warm-up.
    before: Vec<WarmupCounters>,
    events_handled: u64,
    /// Hosts with a sending delay.
    hosts: Option<Hosts>,
    /// Active members of each group with an `at-most` limit.
    admission: Admission,
    /// True if the run's state exceeds the cache, so that prefetching pays.
    prefetches: bool,
    /// Progress of prefetching.
    prefetcher: prefetch::Prefetcher,
    /// True if senders can be called ahead of time ([`Network::senders_ahead_of_time`]): the window has begun, and no probe
    /// observes the run.
    calls_senders_ahead: bool,
    /// Flows with foreign endpoints. These can fail.
    foreign: Vec<usize>,
}

impl<'p, P: ProbeSlot, B: Border> Simulation<'p, P, B> {
    pub fn new(planned: Cow<'p, Plan>, probe: P, border: B) -> Result<Self, RunError> {
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
        // Conferences have fairwave's endpoints, too.
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

    /// Prefetches for any number of flows if `always`.
    pub fn prefetch_always(&mut self, always: bool) {
        if always && !self.prefetches {
            self.prefetches = true;
            let begun = std::mem::replace(&mut self.events, EventQueue::new(true, self.plan.flows.len()));
            self.events.append(begun);
        }
    }

    /// Runs to the end.
    pub fn finish(mut self, parts: Parts<'_>) -> Result<(RunResult, P, B), RunError> {
        self.run_until_end(parts)?;
        self.settle()
    }

    /// Collects the results and checks the packet accounting.
    fn settle(mut self) -> Result<(RunResult, P, B), RunError> {
        // No further events: the tables can use this memory.
        self.events = EventQueue::new(false, 0);
        self.network.routes = Default::default();
        // Links are reported before their queues are emptied. The waiting packets then count in the fates of the units.
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

    /// Checks the links, and removes the waiting packets from managed queues and shared media.
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

    /// Closes the window at the end of the run.
    fn end_window(&mut self) {
        self.network.account_for_queues(self.window);
        self.read_to_the_end();
        self.settle_media();
    }

    /// Handles the events from `from` to `until`, both included, part by part.
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

    /// Returns the first failure of a foreign endpoint.
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

    /// Opens the window after the warm-up.
    fn begin_window(&mut self) {
        let warmup = self.window.warmup;
        let ends = self.sending.items.iter().zip(&self.receiving.items);
        self.before = ends.map(|(sending, receiving)| WarmupCounters::read(sending, receiving, warmup)).collect();
        self.network.begin_window(warmup, self.window);
    }
}

impl<P: ProbeSlot, B: Border, E: Extent> Simulation<'_, P, B, E> {
    /// Handles the events from `from` to `until`, both included.
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
                EventKind::Sender => self.wake_sender(event.index(), now),
                EventKind::Receiver => self.wake_receiver(event.index(), now),
                EventKind::Sample => self.sample(now),
                EventKind::Rate => self.handle_rate_change(event.index(), now),
                EventKind::Reroute => self.take_detour(event.index(), now),
            }
        }
        Ok(())
    }

    /// Handles a packet that has reached the far end of a link.
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

    /// Counts a packet that the queue or the wire of a link has removed.
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

    /// Lets a packet arrive at a link at `at`, by the step at `place` of its route. Moves it as far as possible without
    /// another event.
    #[inline(always)]
    fn forward(&mut self, mut link: usize, packet: &Packet, mut place: u32, mut at: Instant) {
        loop {
            let here = &mut self.network.links[link];
            if P::ON {
                self.probe.arrived(link, packet, at, || here.queue_state(at));
            }
            if let Some((start, arrival)) = here.cross(at, packet, self.window) {
                if P::ON {
                    self.probe.begun(link, packet, start);
                }
                match self.continue_route(link, packet, place, Departure::Arrives(arrival), start > at) {
                    Some((next, arrival)) => (link, place, at) = (next, place + 1, arrival),
                    None => return,
                }
                continue;
            }
            here.measure.arrived(at, self.window);
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

    /// Continues the route of a packet that entered a link by the step at `place` and has left it. Returns the next link and
    /// the arrival there if the packet can cross it immediately. Otherwise it schedules or delivers the packet. `waited`:
    /// the packet waited in this link's queue. Always inlined: a call would cost as much as the step.
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

    /// Schedules the arrival of the latest packet of a link and of its copy at `arrival`. The element after such a link always
    /// needs an event.
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

    /// Counts the loss of the latest packet of a link. `counts`: it was lost within the run.
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

    /// Keeps the latest packet of a link, whose next event is after the end of the run.
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

    /// Records a packet that is at a link at the end of the run: queued, or on the wire.
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

    /// Returns the start of the current route of the packet's flow and direction.
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

    /// Not inlined: few events need a new timer, and the others must not pay for its stack space.
    #[inline(never)]
    fn push_timer(&mut self, event: Event) {
        self.events.push_timer(event);
    }

    /// Switches a flow to other routes.
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
