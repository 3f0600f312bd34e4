//! One direction of a link: queue, transmission and wire losses.
//!
//! A link has one of three kinds of service. A *FIFO* with drops on overflow is computed arithmetically: the
//! departure of an arriving packet follows from the earlier packets. A *managed* queue has a discipline that can act
//! on waiting packets. It is served packet by packet, with an event for each start of a transmission. A queue on a
//! *shared* medium is served by the medium.

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
use crate::probe::QueueState;
use crate::unsteady::WireChanges;

/// 146 years in nanoseconds. Later times are not computed in one step.
const FAR: u64 = 1 << 62;

/// Size of the largest packet.
const LARGEST: Bytes = Bytes::new(u16::MAX as u64);

/// Service of a link's queue.
pub enum Service {
    /// First in, first out; computed arithmetically.
    Fifo(Fifo),
    /// Managed by a discipline, event by event.
    Managed(Box<ManagedQueue>),
    /// Served by a shared medium, which also holds the queue.
    Shared(Box<SharedQueue>),
}

/// State of a queue inside a shared medium.
pub struct SharedQueue {
    /// Index of the medium.
    pub medium: usize,
    /// Index of the direction among the members of the medium.
    pub member: usize,
    /// Waiting packets: transmission not started, and not dropped.
    pub waiting: u32,
    /// Packets that have arrived and are neither delivered, dropped nor lost.
    pub held: u32,
    /// Time up to which the queue-length average is updated.
    accounted: Instant,
    /// Counters per traffic class for the whole run.
    pub classes: ClassMeasures,
    /// Counters per traffic class at the start of the window.
    pub classes_before: ClassMeasures,
}

/// A queue managed by a discipline.
pub struct ManagedQueue {
    /// The queue.
    pub queue: LinkQueue,
    /// Time of its next service event; `NEVER` if there is none.
    pub scheduled: Instant,
    /// Time up to which the queue-length average is updated.
    accounted: Instant,
    /// Counters per traffic class for the whole run.
    pub classes: ClassMeasures,
    /// Counters per traffic class at the start of the window.
    pub classes_before: ClassMeasures,
    /// Packets just dropped by the discipline.
    pub drops: Vec<(Packet, DropReason)>,
}

/// One direction of a link. A crossing without waiting touches only the first cache line. With many flows, links take
/// a large part of the memory. So the struct has two lines, and rarely needed fields are in boxes allocated on
/// demand.
#[repr(C, align(64))]
pub struct Link {
    /// Time when the transmitter becomes free.
    pub free: Instant,
    delay: Span,
    /// Transmission time of a packet of `last_wire` bytes.
    last_time: FineSpan,
    /// Fraction of a nanosecond that the last transmission passes on to a directly following one.
    carry: Carry,
    last_wire: u16,
    crossing: Crossing,
    /// Counters. The counters of a crossing without waiting come first.
    pub measure: LinkMeasure,
    /// Start of the last transmission that was not a one-step crossing.
    started: Instant,
    /// The queue.
    pub service: Service,
    /// Loss and other changes after transmission; `None` if every packet arrives.
    wire: Option<Box<Wire>>,
    rate: LinkRate,
}

/// How a packet crosses the link. The rate is *steady* if the transmission time depends only on the size, and nothing
/// else changes; otherwise it is *varying*. One-step crossings require: inside the window, no wire effects, no bins of
/// departures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Crossing {
    /// At a varying rate, in separate steps.
    Varying,
    /// At a steady rate, in separate steps.
    Steady,
    /// At a steady rate, a packet from a managed queue is transmitted and leaves the link in one step.
    SteadyLeave,
    /// At a varying rate, a packet crosses a FIFO link in one step if it need not wait.
    VaryingImmediate,
    /// At a steady rate, a packet crosses a FIFO link in one step if it need not wait.
    SteadyImmediate,
    /// At a steady rate, a packet crosses a FIFO link in one step, and can also wait. The queue counts packets and has
    /// no bins of waiting.
    Queued,
}

impl Crossing {
    /// Whether the rate is steady.
    #[inline(always)]
    fn is_steady(self) -> bool {
        match self {
            Crossing::Varying | Crossing::VaryingImmediate => false,
            Crossing::Steady | Crossing::SteadyLeave | Crossing::SteadyImmediate | Crossing::Queued => true,
        }
    }

    /// The crossing in separate steps at the same kind of rate.
    fn in_steps(self) -> Self {
        if self.is_steady() { Crossing::Steady } else { Crossing::Varying }
    }
}

/// Effects of the wire on transmitted packets.
enum Wire {
    /// Random losses.
    Lossy(Loss),
    /// Changes of the link during the run, possibly with losses.
    Changing(Box<WireChanges>),
}

impl Link {
    /// Checks that the queue suits the rate of the link.
    ///
    /// # Errors
    /// Same as [`QueueConfig::check_before`](fairwave_core::queue::QueueConfig::check_before).
    pub fn check(direction: &Direction) -> Result<(), ConfigError> {
        direction.queue.check_before(direction.rate.nominal()).map_err(|error| error.nested_in("queue"))
    }

    /// Creates a link as planned. Its direction must be [checked](Self::check). The link's name selects its random
    /// streams.
    pub fn new(plan: &LinkPlan, seed: Seed, window: Window, bin: Span) -> Result<Self, ConfigError> {
        let Direction { rate, delay, queue, police, shape, loss, changes } = &*plan.direction;
        let stream = |what: &str| seed.stream(&format!("link.{}.{what}", plan.name));
        let service = if let Some(medium) = plan.medium {
            Service::Shared(Box::new(SharedQueue {
                medium,
                // Set when the medium is created.
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
            false => Some(Loss::new(loss, stream("loss")).map_err(|error| error.nested_in("loss"))?),
        };
        changes.check()?;
        // A constant rate needs no random numbers, so skip the creation of its stream.
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
        // At lower rates, the largest packets take longer than a fine span can represent.
        let is_steady = rate.is_steady() && changes.is_none() && rate.nominal().fine_time_for(LARGEST).is_some();
        Ok(Link {
            crossing: if is_steady { Crossing::Steady } else { Crossing::Varying },
            rate: LinkRate::new(rate, transmission).map_err(|error| error.nested_in("rate"))?,
            delay: *delay,
            free: Instant::ZERO,
            started: Instant::ZERO,
            last_wire: 0,
            last_time: FineSpan::ZERO,
            carry: Carry::NOTHING,
            service,
            wire,
            measure: LinkMeasure::new(Bins::zero(window, bin)),
        }
        .with_steps(window))
    }

    /// Enables the one-step operations if there is no warm-up. Otherwise the start of the window enables them, so
    /// crossings need not check for the warm-up.
    fn with_steps(mut self, window: Window) -> Self {
        if window.warmup == Instant::ZERO {
            self.find_steps(window);
        }
        self
    }

    fn find_steps(&mut self, window: Window) {
        let near = self.delay.nanos() < FAR && window.end.nanos() < FAR;
        let in_steps = self.crossing.in_steps();
        let one_step = near && self.wire.is_none() && !self.measure.counts_departures();
        self.crossing = match (&self.service, in_steps) {
            _ if !one_step => in_steps,
            (Service::Fifo(fifo), Crossing::Steady)
                if fifo.counts_alike() && self.measure.waited_in_bin().is_empty() =>
            {
                Crossing::Queued
            }
            (Service::Fifo(_), Crossing::Steady) => Crossing::SteadyImmediate,
            (Service::Fifo(_), _) => Crossing::VaryingImmediate,
            (Service::Managed(_), Crossing::Steady) => Crossing::SteadyLeave,
            (Service::Managed(_) | Service::Shared(_), _) => in_steps,
        };
    }

    /// Returns a fresh link for another plan of the same direction. Call it before this link carries a packet.
    /// Returns `None` if either link has random streams or a discipline. With many flows most links are created this
    /// way, so shared properties are computed only once.
    pub fn another(&self, plan: &LinkPlan, window: Window, bin: Span) -> Option<Self> {
        let (Service::Fifo(_), None, None) = (&self.service, &self.wire, plan.medium) else { return None };
        Some(
            Link {
                rate: self.rate.another()?,
                service: Service::Fifo(Fifo::new(plan.direction.queue.capacity)),
                wire: None,
                measure: LinkMeasure::new(Bins::zero(window, bin)),
                ..*self
            }
            .with_steps(window),
        )
    }

    /// Passes the end nodes of each flow to a queue that shares by hosts.
    pub fn set_flow_ends(&mut self, ends: &Arc<[[u32; 2]]>) {
        if let Service::Managed(managed) = &mut self.service {
            managed.queue.set_flow_ends(ends);
        }
    }

    /// Transmits a packet from `start` on, and sets the time when the transmitter is free again. With `follows`, the
    /// packet directly follows the last transmission and starts with its carry.
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

    /// Returns the end of a transmission and its carry. At a steady rate the time is cached, because most consecutive
    /// packets have the same size. At other rates `last_wire` and `last_time` stay 0, because the rate law carries
    /// fractions internally. A packet of size 0 takes no time there either.
    #[inline(never)]
    fn end_of(&mut self, start: Instant, packet: &Packet, follows: bool) -> (Instant, Carry) {
        if self.crossing.is_steady() {
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

    /// Informs a managed queue of a change of the link's rate at `now`, if there is one. Returns the time of the next
    /// change.
    pub fn update_rate(&mut self, now: Instant) -> Option<Instant> {
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

    /// Returns a lower bound of the delay between departure and arrival.
    pub fn least_delay(&self) -> Span {
        if matches!(self.wire.as_deref(), Some(Wire::Changing(_))) { Span::ZERO } else { self.delay }
    }

    /// Whether packets can be reordered or duplicated.
    pub fn reorders(&self) -> bool {
        self.unsteady().is_some_and(WireChanges::is_out_of_order)
    }

    /// Returns the changes of the link, with the losses of its outages, if it has any.
    pub fn unsteady(&self) -> Option<&WireChanges> {
        match self.wire.as_deref() {
            Some(Wire::Changing(unsteady)) => Some(unsteady),
            _ => None,
        }
    }

    /// Whether a link failure removed the latest packet before the end of its transmission. If so, takes its
    /// departure back.
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

    /// Returns the bytes that the link can transmit from `from` until `to`.
    pub fn capacity(&self, from: Instant, to: Instant) -> Bytes {
        self.rate.capacity(from, to)
    }

    /// Lets a packet leave the transmitter at `free`, and counts it. Always inlined: every hop calls it, and the
    /// caller already holds the link.
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
                        // A packet of size 0 takes no time, and its outcome is not determined yet.
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

    /// Whether the latest transmission started before the window and ended in it.
    #[inline]
    fn straddles_warmup(&self, window: Window) -> bool {
        (self.started < window.warmup) == (self.free >= window.warmup)
    }

    /// Counts the part inside the window of a transmission that straddles an edge of it.
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

    /// Returns the departure of the latest packet if it is not lost. For links with changes.
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

    /// Returns the state of the transmitter, for the queue's computation.
    #[inline(always)]
    pub fn pace(&self) -> Pace {
        Pace {
            free: self.free,
            wire: self.last_wire,
            time: self.last_time,
            carry: self.carry,
            steady: self.crossing.is_steady(),
        }
    }

    /// Whether a packet that arrives at `now` is transmitted immediately, without queueing.
    #[inline]
    pub fn passes_at_once(&self, now: Instant) -> bool {
        matches!(self.service, Service::Fifo(_)) && self.free <= now
    }

    /// Counts departures per bin, if there are bins. This disables one-step operations.
    pub fn count_departures(&mut self, bins: Option<Box<Bins>>) {
        if bins.is_some() {
            self.crossing = self.crossing.in_steps();
        }
        self.measure.count_departures(bins);
    }

    /// Returns the end and the carry of a transmission that begins at `now`, which is before [`FAR`]. Ends later than
    /// 2 · [`FAR`] are reported as 2 · [`FAR`].
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

    /// Transmits a packet of a managed queue from `now` on and lets it leave, in one step instead of
    /// [`Self::transmit`] and [`Self::leave`]. Returns its arrival time. Returns `None` without counting anything if
    /// the outcome is not certain.
    #[inline(always)]
    pub fn transmit_and_leave(&mut self, now: Instant, packet: &Packet, window: Window) -> Option<Instant> {
        match self.crossing {
            Crossing::SteadyLeave => {}
            Crossing::Varying
            | Crossing::Steady
            | Crossing::VaryingImmediate
            | Crossing::SteadyImmediate
            | Crossing::Queued => return None,
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

    /// Lets a packet that arrives at `now` cross the link in one step, instead of the queue, [`Self::transmit`] and
    /// [`Self::leave`]. The packet is transmitted immediately, or waits behind packets of its size. It must arrive at
    /// the far end within the run, after the warm-up. Returns the start of its transmission and its arrival. Returns
    /// `None` without counting anything if a condition does not hold.
    #[inline(always)]
    pub fn cross(&mut self, now: Instant, packet: &Packet, window: Window) -> Option<(Instant, Instant)> {
        let may_wait = match self.crossing {
            Crossing::Varying | Crossing::Steady | Crossing::SteadyLeave => return None,
            Crossing::VaryingImmediate | Crossing::SteadyImmediate => false,
            Crossing::Queued => true,
        };
        debug_assert!(now >= window.warmup, "a crossing at {now}, before the window");
        let (start, alike) = (self.free.max(now), packet.wire == self.last_wire);
        let (free, carry) = if self.free <= now {
            self.end_soon(now, packet, false)
        } else if may_wait && alike && start <= window.end {
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
            self.measure.waits(fifo.arrive_alike(now, pace)?, start.span_since(now));
        }
        (self.free, self.carry) = (free, carry);
        self.measure.crossed(packet.wire);
        Some((start, arrival))
    }

    /// Updates the average length of a managed queue. Call it before the queue changes.
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

    /// Returns when a managed link must be served next, if no scheduled event is as early. It is due when its
    /// transmitter becomes free, or when its discipline has periodic work. The caller schedules the event.
    #[inline(always)] // usually there is nothing to do, and a call would cost as much as the body
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

    /// Records a crossing of a shared medium at `now`.
    pub fn record_air_crossing(&mut self, now: Instant) {
        (self.started, self.free) = (now, now);
    }

    /// Starts the window at `now`.
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

    /// Returns the number of waiting packets at `now`, which is not before the last arrival.
    pub fn waiting_at(&self, now: Instant) -> u64 {
        match &self.service {
            Service::Fifo(fifo) => fifo.waiting_at(now, self.pace()),
            Service::Managed(managed) => u64::from(managed.queue.packets()),
            Service::Shared(shared) => u64::from(shared.held),
        }
    }

    /// Returns the state of the queue at `now`, which is not before the last arrival. For probes.
    #[cold]
    pub fn queue_state(&self, now: Instant) -> QueueState {
        let bytes = if let Service::Managed(managed) = &self.service { Some(managed.queue.bytes()) } else { None };
        QueueState { packets: self.waiting_at(now), bytes }
    }

    /// Whether the link is served event by event.
    pub fn is_managed(&self) -> bool {
        !matches!(self.service, Service::Fifo(_))
    }
}

/// Adds a span to a time. One is at most 2 · [`FAR`] and the other less than [`FAR`], so the sum cannot overflow.
#[inline(always)]
fn later(at: Instant, span: Span) -> Instant {
    Instant::from_nanos(at.nanos() + span.nanos())
}

/// Outcome of a packet that leaves a transmitter.
pub enum Departure {
    /// It reaches the far end within the run.
    Arrives(Instant),
    /// It reaches the far end within the run, together with a copy made by the wire.
    Twice(Instant),
    /// Nothing more happens to it within the run.
    UnderWay,
    /// The wire loses it.
    Lost {
        /// True if it left within the run.
        counts: bool,
    },
}
