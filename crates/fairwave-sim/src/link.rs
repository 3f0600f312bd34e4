//! One direction of a link: queue, transmission and losses on the wire.
//!
//! There are two kinds of service. A *FIFO* whose overflow drops the arrival is computed arithmetically: when a packet
//! arrives, its departure follows at once from those before it. A *managed* queue, whose discipline may act on packets
//! that already wait, is served packet by packet, each beginning of a transmission being an event.

use std::sync::Arc;

use fairwave_core::config::ConfigError;
use fairwave_core::link::{Direction, LinkRate, RateConfig};
use fairwave_core::loss::Loss;
use fairwave_core::packet::Packet;
use fairwave_core::queue::{DropReason, LinkQueue};
use fairwave_core::random::Seed;
use fairwave_core::units::{Bytes, Carry, FineSpan, Instant, Span};
use fairwave_scenario::plan::LinkPlan;

use crate::classes::ClassMeasures;
use crate::fifo::{Fifo, Pace};
use crate::measure::{Bins, LinkMeasure, Window};
use crate::unsteady::WireChanges;

/// 146 years in nanoseconds. Where times reach it, nothing happens in one step.
const FAR: u64 = 1 << 62;

/// The largest packet.
const LARGEST: Bytes = Bytes::new(u16::MAX as u64);

// Two cache lines: with many flows, links are a large part of the memory.
const _: () = assert!(size_of::<Link>() == 128);

/// How a link serves its queue.
pub enum Service {
    /// First in, first out, crossed arithmetically.
    Fifo(Fifo),
    /// By a discipline, event by event.
    Managed(Box<ManagedQueue>),
    /// By a shared medium, which also holds the queue.
    Shared(Box<SharedQueue>),
}

/// What is known of a queue that a shared medium holds.
pub struct SharedQueue {
    /// Index of the medium.
    pub medium: usize,
    /// The direction's place among the members of the medium.
    pub member: usize,
    /// Packets that wait: not begun to be transmitted, not dropped.
    pub waiting: u32,
    /// Packets that have arrived and were neither delivered nor dropped nor lost.
    pub held: u32,
    /// Until when the queue's length has been accounted for.
    accounted: Instant,
    /// What became of each traffic class, in the whole run.
    pub classes: ClassMeasures,
    /// The same until the window began.
    pub classes_before: ClassMeasures,
}

/// A queue under a discipline.
pub struct ManagedQueue {
    /// The queue.
    pub queue: LinkQueue,
    /// When the event that serves it is due; `NEVER` if none is.
    pub scheduled: Instant,
    /// Until when the queue's length has been accounted for.
    accounted: Instant,
    /// What became of each traffic class, in the whole run.
    pub classes: ClassMeasures,
    /// The same until the window began.
    pub classes_before: ClassMeasures,
    /// What the discipline has just dropped.
    pub drops: Vec<(Packet, DropReason)>,
}

/// One direction of a link. A crossing without waiting needs the first cache line and no other. With many flows links are a large part of
/// the memory: two lines, and what few links need in boxes that are made when it is needed.
#[repr(C, align(64))]
pub struct Link {
    /// When the transmitter will be free.
    pub free: Instant,
    delay: Span,
    /// The time that a packet of `last_wire` bytes takes.
    last_time: FineSpan,
    /// What the last transmission leaves to one that follows it at once.
    carry: Carry,
    last_wire: u16,
    /// How long a packet takes depends on its size alone, and nothing else changes.
    steady: bool,
    one_step: OneStep,
    /// Counters; those of a crossing without waiting come first.
    pub measure: LinkMeasure,
    /// When the last transmission began that was not a crossing in one step.
    started: Instant,
    /// The queue.
    pub service: Service,
    /// What becomes of packets that have been transmitted; nothing where all arrive.
    wire: Option<Box<Wire>>,
    rate: LinkRate,
}

/// What may happen to a packet in one step: in the window, over a sound wire, without bins of departures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OneStep {
    /// Nothing.
    Nothing,
    /// At a steady rate, a packet that leaves a managed queue is transmitted and leaves the link.
    Leave,
    /// A packet crosses a first-in-first-out link if it need not wait.
    CrossIdle,
    /// A packet may also wait: at a steady rate, before a queue that counts packets and has no bins of waiting.
    Cross,
}

/// What becomes of packets that have been transmitted, where not all arrive as they were sent.
enum Wire {
    /// Some are lost.
    Lossy(Loss),
    /// The link changes in the course of the run, and may lose some as well.
    Changing(Box<WireChanges>),
}

impl Link {
    /// Refuses a queue that does not go with the rate behind it.
    ///
    /// # Errors
    /// As [`QueueConfig::check_before`](fairwave_core::queue::QueueConfig::check_before).
    pub fn check(direction: &Direction) -> Result<(), ConfigError> {
        direction.queue.check_before(direction.rate.nominal()).map_err(|error| error.within("queue"))
    }

    /// A link as planned, whose direction has been [checked](Self::check); its random streams are those that bear its name.
    pub fn new(plan: &LinkPlan, seed: Seed, window: Window, bin: Span) -> Result<Self, ConfigError> {
        let Direction { rate, delay, queue, police, shape, loss, changes } = &*plan.direction;
        let stream = |what: &str| seed.stream(&format!("link.{}.{what}", plan.name));
        let service = if let Some(medium) = plan.medium {
            Service::Shared(Box::new(SharedQueue {
                medium,
                // Told when the medium is made.
                member: 0,
                waiting: 0,
                held: 0,
                accounted: Instant::ZERO,
                classes: ClassMeasures::default(),
                classes_before: ClassMeasures::default(),
            }))
        } else if queue.is_fifo_tail() && police.is_none() && shape.is_none() {
            Service::Fifo(Fifo::new(queue.capacity))
        } else {
            Service::Managed(Box::new(ManagedQueue {
                queue: LinkQueue::new(queue, police.as_ref(), shape.as_ref(), rate.nominal(), stream),
                scheduled: Instant::NEVER,
                accounted: Instant::ZERO,
                classes: ClassMeasures::default(),
                classes_before: ClassMeasures::default(),
                drops: Vec::new(),
            }))
        };
        let loss = match loss.is_none() {
            true => None,
            false => Some(Loss::new(loss, stream("loss")).map_err(|error| error.within("loss"))?),
        };
        changes.check()?;
        // A constant rate draws nothing: its stream would be made, link by link, for nothing.
        let transmission = match rate {
            RateConfig::Constant(_) => seed.stream(""),
            _ => stream("transmission"),
        };
        let conditions = rate.conditions(transmission.clone());
        let wire = match loss {
            loss if !changes.is_none() || conditions.is_some() => {
                let changing = WireChanges::new(*delay, changes, loss.map(Box::new), stream);
                let changing = changing.with_conditions(conditions, stream("conditions"));
                Some(Box::new(Wire::Changing(Box::new(changing))))
            }
            Some(loss) => Some(Box::new(Wire::Lossy(loss))),
            None => None,
        };
        Ok(Link {
            // At the rates of the others, the largest packets take longer than fine spans count.
            steady: rate.is_steady() && changes.is_none() && rate.nominal().fine_time_for(LARGEST).is_some(),
            rate: LinkRate::new(rate, transmission).map_err(|error| error.within("rate"))?,
            delay: *delay,
            free: Instant::ZERO,
            started: Instant::ZERO,
            last_wire: 0,
            last_time: FineSpan::ZERO,
            carry: Carry::NOTHING,
            one_step: OneStep::Nothing,
            service,
            wire,
            measure: LinkMeasure::new(Bins::over(window, bin)),
        }
        .with_steps(window))
    }

    /// Finds out what may happen in one step, once the warm-up is over: until then each crossing would have to ask for it.
    fn with_steps(mut self, window: Window) -> Self {
        if window.warmup == Instant::ZERO {
            self.find_steps(window);
        }
        self
    }

    fn find_steps(&mut self, window: Window) {
        let near = self.delay.nanos() < FAR && window.end.nanos() < FAR;
        self.one_step = match &self.service {
            _ if !near || self.wire.is_some() || self.measure.counts_departures() => OneStep::Nothing,
            Service::Fifo(fifo) if self.steady && fifo.counts_alike() && self.measure.waited_in_bin().is_empty() => {
                OneStep::Cross
            }
            Service::Fifo(_) => OneStep::CrossIdle,
            Service::Managed(_) if self.steady => OneStep::Leave,
            _ => OneStep::Nothing,
        };
    }

    /// Another one, as [`Self::new`] makes it, for a plan of the same direction while this one is new. None where either has streams or a
    /// discipline of its own. With many flows most links are made so: what they share is not worked out again.
    pub fn another(&self, plan: &LinkPlan, window: Window, bin: Span) -> Option<Self> {
        let (Service::Fifo(_), None, None) = (&self.service, &self.wire, plan.medium) else { return None };
        Some(
            Link {
                rate: self.rate.another()?,
                service: Service::Fifo(Fifo::new(plan.direction.queue.capacity)),
                wire: None,
                measure: LinkMeasure::new(Bins::over(window, bin)),
                ..*self
            }
            .with_steps(window),
        )
    }

    /// Between which nodes each flow goes, for a queue that shares by hosts.
    pub fn tell_ends(&mut self, ends: &Arc<[[u32; 2]]>) {
        if let Service::Managed(managed) = &mut self.service {
            managed.queue.tell_ends(ends);
        }
    }

    /// Transmits a packet from `start` on: the transmitter is free again when that ends. A packet that `follows` the last
    /// transmission begins with its carry.
    #[inline]
    pub fn transmit(&mut self, start: Instant, packet: &Packet, follows: bool) {
        self.started = start;
        (self.free, self.carry) = if packet.wire == self.last_wire {
            let (time, carry) = self.last_time.carried(if follows { self.carry } else { Carry::NOTHING });
            (start + time, carry)
        } else {
            self.end_of(start, packet, follows)
        };
    }

    /// The end of a transmission, and what it leaves to the next. At a steady rate the time is kept, because most neighbours are alike.
    /// `last_wire` stays 0, and with it `last_time`, where the rate is not steady: such a law carries by itself. A packet of no size
    /// takes no time there, too.
    #[inline(never)]
    fn end_of(&mut self, start: Instant, packet: &Packet, follows: bool) -> (Instant, Carry) {
        if self.steady {
            (self.last_wire, self.last_time) = (packet.wire, self.rate.steady_time(start, packet.size()));
            let (time, carry) = self.last_time.carried(if follows { self.carry } else { Carry::NOTHING });
            return (start + time, carry);
        }
        let mut end = self.rate.end_of(start, packet.size());
        if let Some(Wire::Changing(unsteady)) = self.wire.as_deref_mut() {
            (end, self.delay) = unsteady.transmitted(start, end);
        }
        if let Service::Managed(managed) = &mut self.service {
            managed.queue.transmits_until(end);
        }
        (end, Carry::NOTHING)
    }

    /// Tells a managed queue of a change of the link's rate at `now`, if there is one then. Answers when the next one is.
    pub fn tell_rate(&mut self, now: Instant) -> Option<Instant> {
        let Service::Managed(managed) = &mut self.service else { return None };
        if let Some((at, rate)) = self.rate.change_from(now)
            && at == now
        {
            managed.queue.rate_changed(now, rate);
        }
        self.rate.change_from(now + Span::from_nanos(1)).map(|(at, _)| at)
    }

    /// Whether the last transmission begins after `end`.
    pub fn begins_after(&self, end: Instant) -> bool {
        self.started > end
    }

    /// A packet that leaves arrives after this time at the earliest.
    pub fn least_delay(&self) -> Span {
        if matches!(self.wire.as_deref(), Some(Wire::Changing(_))) { Span::ZERO } else { self.delay }
    }

    /// Whether packets may arrive in another order than they were sent, or more of them than were.
    pub fn reorders(&self) -> bool {
        self.unsteady().is_some_and(WireChanges::is_out_of_order)
    }

    /// What the outages have taken, for a link that has any.
    pub fn unsteady(&self) -> Option<&WireChanges> {
        match self.wire.as_deref() {
            Some(Wire::Changing(unsteady)) => Some(unsteady),
            _ => None,
        }
    }

    /// The packet that left last did not get through. Whether it was a failure of the link that took it, before it had been transmitted:
    /// then it did not leave after all.
    pub fn take_failed(&mut self, packet: &Packet, window: Window) -> bool {
        let Some(Wire::Changing(unsteady)) = self.wire.as_deref_mut() else { return false };
        if !unsteady.take_failed(self.free, window) {
            return false;
        }
        self.measure.failed(self.free, packet.wire, window);
        if self.straddles_warmup(window) {
            self.measure.begun_before(0);
        }
        true
    }

    /// What could be transmitted from `from` until `to`.
    pub fn capacity(&self, from: Instant, to: Instant) -> Bytes {
        self.rate.capacity(from, to)
    }

    /// A packet leaves the transmitter at the time for which that is taken (`free`), and is counted. Always inlined: every hop
    /// comes through here, and its caller has the link at hand.
    #[inline(always)]
    pub fn leave(&mut self, packet: &Packet, window: Window) -> Departure {
        let counts = self.measure.departed(self.free, packet.wire, window);
        if self.straddles_warmup(window) || !counts {
            self.split(packet, window);
        }
        if let Some(wire) = self.wire.as_deref_mut() {
            let lost = match wire {
                Wire::Lossy(loss) => loss.lost(self.free, packet),
                Wire::Changing(unsteady) => {
                    if packet.wire == 0 {
                        // It takes no time, and its outcome is not known yet.
                        (self.free, self.delay) = unsteady.transmitted(self.free, self.free);
                    }
                    if !unsteady.loses(self.free, packet) {
                        return self.arrives(window);
                    }
                    true
                }
            };
            if lost {
                return Departure::Lost { counts };
            }
        }
        let arrival = self.free + self.delay;
        if arrival > window.end { Departure::UnderWay } else { Departure::Arrives(arrival) }
    }

    /// Whether the packet that was transmitted last began before the window and left in it.
    #[inline]
    fn straddles_warmup(&self, window: Window) -> bool {
        (self.started < window.warmup) == (self.free >= window.warmup)
    }

    /// Counts the part of a packet that was transmitted within the window, of one whose transmission straddles an edge of it.
    #[cold]
    #[inline(never)]
    fn split(&mut self, packet: &Packet, window: Window) {
        let wire = u64::from(packet.wire);
        let part = |from: Instant, to: Instant| self.rate.capacity(from, to).get().min(wire);
        if self.free <= window.end {
            self.measure.begun_before(wire - part(window.warmup, self.free));
        } else if self.started < window.end {
            self.measure.cut_off(part(self.started.max(window.warmup), window.end));
        }
    }

    /// The packet that left last, of a link that changes, is not lost.
    #[inline(never)]
    fn arrives(&mut self, window: Window) -> Departure {
        let arrival = self.free + self.delay;
        if arrival > window.end {
            return Departure::UnderWay;
        }
        if let Some(Wire::Changing(unsteady)) = self.wire.as_deref_mut() {
            let overtaken = unsteady.overtakes(self.free, arrival);
            self.measure.overtaken(overtaken, arrival, window);
            if unsteady.twice() {
                self.measure.duplicated(arrival, window);
                return Departure::Twice(arrival);
            }
        }
        Departure::Arrives(arrival)
    }

    /// The transmitter, for a queue that goes by it.
    #[inline(always)]
    pub fn pace(&self) -> Pace {
        Pace { free: self.free, wire: self.last_wire, time: self.last_time, carry: self.carry, steady: self.steady }
    }

    /// Whether a packet that arrives at `now` is transmitted at once, without having been in the queue.
    #[inline]
    pub fn passes_at_once(&self, now: Instant) -> bool {
        matches!(self.service, Service::Fifo(_)) && self.free <= now
    }

    /// What leaves is counted per bin, if there are bins; then no packet crosses in one step.
    pub fn count_departures(&mut self, bins: Option<Box<Bins>>) {
        if bins.is_some() {
            self.one_step = OneStep::Nothing;
        }
        self.measure.count_departures(bins);
    }

    /// When the transmission of a packet ends that begins at `now`, which lies before [`FAR`], and what it leaves to the next. What ends
    /// later than twice that is said to end then.
    #[inline(always)]
    fn end_soon(&mut self, now: Instant, packet: &Packet, follows: bool) -> (Instant, Carry) {
        if packet.wire == self.last_wire {
            let (time, carry) = if follows { self.last_time.carried(self.carry) } else { self.last_time.fresh() };
            (later(now, time), carry)
        } else {
            let (end, carry) = self.end_of(now, packet, follows);
            (end.min(Instant::from_nanos(2 * FAR)), carry)
        }
    }

    /// Transmits a packet of a managed queue from `now` on, and lets it leave, where nothing else can become of it. Answers when it arrives;
    /// nothing, and nothing has been counted, where more may happen. What [`Self::transmit`] and [`Self::leave`] would do.
    #[inline(always)]
    pub fn transmit_and_leave(&mut self, now: Instant, packet: &Packet, window: Window) -> Option<Instant> {
        if self.one_step != OneStep::Leave {
            return None;
        }
        let (free, carry) = self.end_soon(now, packet, now == self.free);
        let arrival = later(free, self.delay);
        if arrival > window.end {
            return None;
        }
        (self.free, self.carry) = (free, carry);
        self.measure.left(packet.wire);
        Some(arrival)
    }

    /// A packet that arrives at `now` crosses, where nothing else can become of it: it is transmitted at once, or waits behind others of its
    /// size; it arrives at the far end within the run, and the warm-up is over. Answers when its transmission begins, and when it
    /// arrives; nothing, and nothing has been counted, where any of that does not hold. What [`Self::transmit`] and [`Self::leave`] would
    /// do, and the queue before them, in one step.
    #[inline(always)]
    pub fn cross(&mut self, now: Instant, packet: &Packet, window: Window) -> Option<(Instant, Instant)> {
        if self.one_step < OneStep::CrossIdle {
            return None;
        }
        debug_assert!(now >= window.warmup, "a crossing at {now}, before the window");
        let (start, alike) = (self.free.max(now), packet.wire == self.last_wire);
        let (free, carry) = if self.free <= now {
            self.end_soon(now, packet, false)
        } else if self.one_step == OneStep::Cross && alike && start <= window.end {
            let (time, carry) = self.last_time.carried(self.carry);
            (later(start, time), carry)
        } else {
            return None;
        };
        let arrival = later(free, self.delay);
        if arrival > window.end {
            return None;
        }
        if start > now {
            let pace = self.pace();
            let Service::Fifo(fifo) = &mut self.service else { return None };
            self.measure.waits(fifo.arrive_alike(now, pace)?, start.since(now));
        }
        (self.free, self.carry) = (free, carry);
        self.measure.crossed(packet.wire);
        Some((start, arrival))
    }

    /// Adds the time since the last call to the average length of a managed queue; call before the queue changes.
    #[inline(always)] // twice for each packet of a managed queue
    pub fn account_for_queue(&mut self, now: Instant, window: Window) {
        match &mut self.service {
            Service::Managed(managed) => {
                let waiting = managed.queue.packets();
                if waiting > 0 {
                    self.measure.held(waiting, managed.accounted, now, window);
                }
                managed.accounted = now;
            }
            Service::Shared(shared) => {
                self.measure.held(shared.waiting, shared.accounted, now, window);
                shared.accounted = now;
            }
            Service::Fifo(_) => {}
        }
    }

    /// When a managed link must be served next, if no event is arranged for that as early: when its transmitter is free, or its discipline
    /// has periodic work. The caller arranges it.
    #[inline(always)] // a call costs as much as what it does most of the time: nothing
    pub fn next_service(&mut self, now: Instant) -> Option<Instant> {
        let Service::Managed(managed) = &mut self.service else { return None };
        let next_start = match managed.queue.packets() {
            0 => Instant::NEVER,
            _ => self.free.max(managed.queue.held_until()),
        };
        let wanted = next_start.min(managed.queue.deadline());
        if wanted >= managed.scheduled {
            return None;
        }
        managed.scheduled = wanted.max(now + Span::from_nanos(1));
        Some(managed.scheduled)
    }

    /// A packet has crossed a shared medium at `now`.
    pub fn crosses_air(&mut self, now: Instant) {
        (self.started, self.free) = (now, now);
    }

    /// The window begins at `now`.
    pub fn begin_window(&mut self, now: Instant, window: Window) {
        self.find_steps(window);
        self.account_for_queue(now, window);
        if let Service::Managed(managed) = &mut self.service {
            managed.classes_before = managed.classes;
            managed.queue.begin_window();
        }
        if let Service::Shared(shared) = &mut self.service {
            shared.classes_before = shared.classes;
        }
    }

    /// Packets that wait at `now`, which is not before the last arrival.
    pub fn waiting_at(&self, now: Instant) -> u64 {
        match &self.service {
            Service::Fifo(fifo) => fifo.waiting_at(now, self.pace()),
            Service::Managed(managed) => u64::from(managed.queue.packets()),
            Service::Shared(shared) => u64::from(shared.held),
        }
    }

    /// True for a link that is served event by event.
    pub fn is_managed(&self) -> bool {
        !matches!(self.service, Service::Fifo(_))
    }
}

/// A time and a span later. One is at most twice [`FAR`] and the other less than that: the sum cannot overflow.
#[inline(always)]
fn later(at: Instant, span: Span) -> Instant {
    Instant::from_nanos(at.nanos() + span.nanos())
}

/// What becomes of a packet that leaves a transmitter.
pub enum Departure {
    /// It reaches the far end, within the run.
    Arrives(Instant),
    /// It reaches the far end, within the run, and so does a copy that the wire has made.
    Twice(Instant),
    /// Nothing more happens to it within the run.
    UnderWay,
    /// The wire loses it; within the run, if it `counts`.
    Lost {
        /// It left within the run.
        counts: bool,
    },
}
