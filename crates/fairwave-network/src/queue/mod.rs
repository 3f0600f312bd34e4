//! Queues. A discipline decides *when* a packet must be discarded, a victim rule decides *which*, and the buffer
//! supports both in O(1).
//!
//! [`Queue`] is the interface for the driver of a link. Disciplines learn the time only by `arrive` and `depart`. Every
//! periodic law here (REM's price, PIE's probability, ARED's max_p) catches up lazily, with the state at the time when
//! its timer would have fired. The result is exactly that of timers, because nothing changes between those calls.
//!
//! A discipline is one file and one line in `disciplines!`; a program adds custom disciplines with [`register`].
//!
//! **Assumptions.** The packet in transmission has left the queue. A packet for which the victim rule decides counts as
//! waiting: it joins the end of the queue, then the victim is discarded. A packet that is larger than the whole buffer
//! is dropped under any rule, because no victim could make room. At equal times packets come before timers.

mod afd;
mod ared;
mod avq;
mod bins;
mod bucket;
mod buffer;
mod cake;
mod choke;
mod class_map;
mod codel;
mod config;
#[cfg(test)]
mod configured_tests;
mod csfq;
#[macro_use]
mod discipline;
mod drop_tail;
mod drr;
mod dualpi2;
mod flows;
mod fq_codel;
mod fq_pie;
mod fred;
#[cfg(test)]
mod fuzz;
mod green;
mod lists;
mod llq;
#[cfg(test)]
mod marks_tests;
mod pie;
mod police;
mod priority;
mod punsi;
mod red;
mod rem;
pub(crate) mod rounds;
mod scheduler;
mod shape;
mod share;
mod stage;
#[cfg(test)]
mod testing;
mod ticker;
mod victim;
mod voice_guard;
mod wfq;

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use avq::{AvqPreset, OnVictim};
pub use buffer::{Buffer, Place, Tally};
pub use cake::{AckFilter, Diffserv, Framing, Isolation, TinStatistics};
pub use class_map::{ClassConfig, ClassMap, ClassQueue, DEFAULT_CLASS, MOST_CLASSES, Match};
pub use config::{Capacity, Mode, QueueConfig};
pub use discipline::{
    AnyDisciplineLaw, Arrival, Discipline, DisciplineLaw, IntegratedQueue, Nature, QueueDrop, RateChange, Verdict,
    register, register_runtime,
};
pub use dualpi2::Scheduler;
pub use green::Estimate;
pub use police::{Action, PoliceConfig, When};
pub use punsi::Fellow;
pub use red::{EarlyVictim, RedPreset};
pub use scheduler::{ClassSet, Scheduler as ClassScheduler};
pub use shape::ShapeConfig;
pub use share::LinkShare;
pub use stage::{LinkQueue, Stage, StageCounters, StageView, largest_packet};
pub use victim::Victim;
pub use voice_guard::VoiceGuardConfig;

use victim::Selector;

use crate::packet::{Class, Ecn, Packet};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Registry, family, files, laws};
use fairwave_units::source::{SourceLine, sources};
use fairwave_units::units::{Carry, FineSpan, Instant, Rate, Span};

/// All disciplines, in the order of listings: a file, and in braces its names with their parameters.
macro_rules! disciplines {
    ($then:ident! $arguments:tt) => {
        $then! { $arguments
            drop_tail { DropTail(DropTailConfig) }
            red { Red(RedConfig) }
            ared { Ared(AredConfig) }
            avq { Avq(AvqConfig) }
            rem { Rem(RemConfig) }
            green { Green(GreenConfig) }
            choke { Choke(ChokeConfig) }
            fred { Fred(FredConfig) }
            punsi { Punsi(PunsiConfig) }
            afd { Afd(AfdConfig) }
            csfq { Csfq(CsfqConfig) }
            codel { Codel(CodelConfig) }
            pie { Pie(PieConfig) }
            fq_codel { FqCodel(FqCodelConfig) }
            fq_pie { FqPie(FqPieConfig) }
            dualpi2 { Dualpi2(Dualpi2Config) }
            cake { Cake(CakeConfig) }
            priority { Priority(PriorityConfig) }
            llq { Llq(LlqConfig) }
            wfq { Wfq(WfqConfig) }
            drr { Drr(DrrConfig) }
        }
    };
}

disciplines! { files! () }

static OWN: Registry<dyn AnyDisciplineLaw> = Registry::new();

disciplines! { laws! (family! (DisciplineConfig, "discipline", "queue discipline", dyn AnyDisciplineLaw, OWN)) }

/// Why a packet did not get through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum DropReason {
    /// The buffer was full.
    Overflow = 0,
    /// The discipline dropped early.
    Early = 1,
    /// The link lost it.
    Link = 2,
    /// A policer dropped it.
    Policed = 3,
    /// CAKE's ACK filter dropped it, because a later acknowledgement says the same; counted with those that were dropped early.
    AckFilter = 4,
}

/// Running disciplines, stored by value, so that a call is a jump instead of a virtual call.
macro_rules! dispatch {
    (() $($Variant:ident($Law:ty)),+ $(,)?) => {
        enum ActiveDiscipline {
            $($Variant(<$Law as DisciplineLaw>::Discipline),)+
            Registered(Box<dyn Discipline>),
        }

        impl ActiveDiscipline {
            fn new(config: &DisciplineConfig, capacity: Capacity, rate: Rate) -> Self {
                match config {
                    $(DisciplineConfig::$Variant(law) => {
                        ActiveDiscipline::$Variant(DisciplineLaw::discipline(law, capacity, rate))
                    })+
                    DisciplineConfig::Registered(law) => ActiveDiscipline::Registered(law.law().discipline(capacity, rate)),
                }
            }
        }

        delegate_discipline! { ActiveDiscipline $($Variant)+ Registered }

        impl DisciplineConfig {
            /// Properties of the built-in discipline of this name.
            fn nature_by_name(name: &str) -> Option<Nature> {
                $(if name == <$Law as fairwave_units::registry::Law>::NAME {
                    return Some(<$Law as DisciplineLaw>::NATURE);
                })+
                None
            }
        }
    };
}

disciplines! { laws! (dispatch! ()) }

disciplines! { sources! (DisciplineConfig, "crates/fairwave-network/src/queue/", ["fn arrive(&mut self", "fn depart("]) }

/// The function that discards packets for which a managed queue has no room.
pub const OVERFLOW: SourceLine = {
    // In two parts, so that this line does not match.
    let patterns = [concat!("pub fn ", "arrive(&mut self")];
    SourceLine::find("crates/fairwave-network/src/queue/mod.rs", include_str!("mod.rs"), patterns)[0]
};

/// A queue before a link: buffer, discipline and victim rule.
pub struct Queue {
    buffer: Buffer,
    capacity: Capacity,
    /// The buffer is full when the backlog has reached the capacity: [`DisciplineLaw::reaches_capacity`].
    reaches_capacity: bool,
    /// Limit of waiting bytes: [`DisciplineLaw::memory`].
    memory: u64,
    /// Whether the discipline assigns arrivals to lists.
    binned: bool,
    /// Whether arrivals can make waiting packets redundant: [`IntegratedQueue::filters`].
    filters: bool,
    /// Whether the discipline is an [`IntegratedQueue`].
    integrated: bool,
    /// The victim rule; `None` if the discipline chooses.
    selector: Option<Selector>,
    discipline: ActiveDiscipline,
    stream: Stream,
    rate: Rate,
    /// Wire size of the last packet that left, and its transmission time: consecutive packets are mostly alike.
    last_wire: Option<u16>,
    /// `None` if it is too long for a fine span.
    last_time: Option<FineSpan>,
    /// Fraction that its transmission passes on to one that begins at `free_from`.
    carry: Carry,
    /// Time from which the link has nothing to send if the buffer is empty. Earlier idle time is accounted for.
    free_from: Instant,
    /// Whether this queue marked the last packet that left.
    marked: bool,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Queue");
        shown.field("rate", &self.rate).field("packets", &self.packets()).field("bytes", &self.bytes());
        shown.finish_non_exhaustive()
    }
}

impl Queue {
    /// Returns an empty queue before a link of `rate`; `stream` provides all randomness.
    pub fn new(config: &QueueConfig, rate: Rate, stream: Stream) -> Self {
        let room = config.capacity.room();
        let nature = config.discipline.nature();
        let discipline = ActiveDiscipline::new(&config.discipline, config.capacity, rate);
        let bins = config.discipline.bins();
        let integrated = discipline.integrated();
        let (is_integrated, filters) = (integrated.is_some(), integrated.is_some_and(IntegratedQueue::filters));
        let selector =
            config.victim().filter(|_| nature.own_victim.is_none()).map(|victim| Selector::new(victim, rate));
        // Built-in disciplines that make room themselves use their lists for it.
        let by_bin_alone =
            nature.makes_room && selector.is_none() && !matches!(discipline, ActiveDiscipline::Registered(_));
        Queue {
            buffer: match nature.by_flow {
                _ if bins > 0 && by_bin_alone => Buffer::with_bins_only(room, bins),
                _ if bins > 0 => Buffer::with_bins(room, bins),
                true => Buffer::with_flow_lists(room),
                false => Buffer::with_capacity(room),
            },
            memory: config.discipline.memory(),
            binned: bins > 0,
            filters: bins > 0 && filters,
            integrated: is_integrated,
            capacity: config.capacity,
            reaches_capacity: config.discipline.reaches_capacity(),
            selector,
            discipline,
            stream,
            rate,
            last_wire: None,
            last_time: None,
            carry: Carry::NOTHING,
            free_from: Instant::ZERO,
            marked: false,
        }
    }

    /// Sets the sender and receiver node of each flow, by flow number, for disciplines that share by hosts. Without
    /// it, they assume two separate hosts per flow.
    pub fn set_flow_ends(&mut self, ends: &Arc<[[u32; 2]]>) {
        self.buffer.set_flow_ends(ends);
    }

    #[inline(always)] // one caller
    fn push(&mut self, now: Instant, packet: &Packet, drops: &mut Vec<(Packet, DropReason)>) {
        let bin = if self.binned { self.discipline.bin(now, packet, &self.buffer) } else { 0 };
        self.buffer.push_into(now, packet, bin);
        if self.filters {
            self.filter(bin, drops);
        }
    }

    /// Not inlined, because only CAKE filters.
    #[cold]
    #[inline(never)]
    fn filter(&mut self, bin: u32, drops: &mut Vec<(Packet, DropReason)>) {
        let redundant = self.discipline.integrated().and_then(|queue| queue.redundant(bin, &self.buffer));
        let Some(packet) = redundant.and_then(|place| self.buffer.remove(place)) else { return };
        drops.push((packet, DropReason::AckFilter));
        self.discipline.on_drop(QueueDrop::Redundant { bin });
    }

    /// Handles an arrival. Appends all packets dropped now, the arrival or others, to `drops`; otherwise the arrival
    /// waits. The driver of an idle link then calls [`Queue::depart`].
    pub fn arrive(&mut self, now: Instant, packet: &Packet, drops: &mut Vec<(Packet, DropReason)>) {
        if let Some(selector) = &mut self.selector {
            selector.arrival(now, packet);
        }
        let mut idle = Span::ZERO;
        if self.buffer.is_empty() && now > self.free_from {
            idle = now.span_since(self.free_from);
            (self.free_from, self.carry) = (now, Carry::NOTHING);
        }
        let BufferRoom { full, hopeless, most } = self.room_for(packet);
        let arrival = Arrival { now, packet, buffer: &self.buffer, idle, full };
        let tail = matches!(self.selector, Some(Selector::Tail));
        let (verdict, mark) = match self.discipline.arrive(&arrival, &mut self.stream) {
            Verdict::Mark if packet.ecn.can_be_marked() => (Verdict::Admit, true),
            Verdict::Mark => (Verdict::Drop, false),
            verdict => (verdict, false),
        };
        match verdict {
            Verdict::Admit => {
                if hopeless || (full && tail) {
                    drops.push((*packet, DropReason::Overflow));
                    self.discipline.on_drop(QueueDrop::Overflow);
                    return;
                }
            }
            Verdict::Drop | Verdict::Mark => {
                if tail || hopeless {
                    drops.push((*packet, DropReason::Early));
                    return;
                }
            }
            Verdict::DropArrival => {
                drops.push((*packet, DropReason::Early));
                return;
            }
            Verdict::DropBoth(waiting) => {
                drops.extend(self.buffer.remove(waiting).map(|packet| (packet, DropReason::Early)));
                drops.push((*packet, DropReason::Early));
                return;
            }
        }
        self.push(now, packet, drops);
        if matches!(verdict, Verdict::Admit) {
            if mark && let Some(place) = self.buffer.back() {
                self.buffer.mark(place);
            }
        } else if let Some(victim) = self.drop_victim(DropReason::Early, drops) {
            self.discipline.on_drop(QueueDrop::Exchanged { arrival: packet, victim: &victim });
        }
        while self.holds_more_than(most) {
            if self.makes_room(now, drops) {
                continue;
            }
            if self.drop_victim(DropReason::Overflow, drops).is_none() {
                return;
            }
            self.discipline.on_drop(QueueDrop::Overflow);
        }
    }

    /// Handles an arrival while the link is free. Returns true if the packet leaves at once and unchanged: no other
    /// packet waits, and the discipline needs no waiting packet to decide. The caller must then not call
    /// [`Queue::arrive`] and [`Queue::depart`] for it.
    #[inline(always)] // most packets of a link with room to spare
    pub fn pass(&mut self, now: Instant, packet: &Packet) -> bool {
        if !self.buffer.is_empty() {
            return false;
        }
        let BufferRoom { full, hopeless, .. } = self.room_for(packet);
        if full || hopeless || !self.discipline.pass(now, packet, &mut self.stream) {
            return false;
        }
        if let Some(selector) = &mut self.selector {
            selector.arrival(now, packet);
        }
        self.buffer.has_passed(now, packet);
        self.left(now, packet);
        true
    }

    /// The link is free: removes the packet whose transmission begins now. Appends packets that the discipline drops
    /// to `drops`. Returns `None` if no packet waits any more (the link is then idle), or before
    /// [`Queue::held_until`].
    pub fn depart(&mut self, now: Instant, drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        let packet = self.discipline.depart(now, &mut self.buffer, drops);
        if let Some(packet) = &packet {
            self.left(now, packet);
        }
        packet
    }

    /// Records the start of a packet's transmission.
    #[inline(always)] // two callers, once for each packet
    fn left(&mut self, now: Instant, packet: &Packet) {
        if self.last_wire != Some(packet.wire) {
            (self.last_wire, self.last_time) = (Some(packet.wire), self.rate.fine_time_for(packet.size()));
        }
        let before = if now == self.free_from { self.carry } else { Carry::NOTHING };
        let (time, carry) = match self.last_time {
            Some(time) => time.carried(before),
            None => (self.rate.time_for(packet.size()), Carry::NOTHING),
        };
        (self.free_from, self.carry) = (now + time, carry);
        self.marked = packet.ecn == Ecn::Ce && self.buffer.last_came() != Ecn::Ce;
    }

    /// Whether this queue marked the packet that [`Queue::depart`] returned last.
    pub fn has_marked(&self) -> bool {
        self.marked
    }

    /// Sets the end of the transmission of the last packet from [`Queue::depart`] to `free`. For links whose rate
    /// differs from the rate given to [`Queue::new`].
    pub fn transmits_until(&mut self, free: Instant) {
        self.free_from = free;
    }

    /// Changes the link's rate to `rate` from `now` on; 0 while it pauses.
    pub fn rate_changed(&mut self, now: Instant, rate: Rate) {
        let mut idle = Span::ZERO;
        if self.buffer.is_empty() && now > self.free_from {
            idle = now.span_since(self.free_from);
            (self.free_from, self.carry) = (now, Carry::NOTHING);
        }
        self.rate = rate;
        self.last_wire = None;
        if let Some(selector) = &mut self.selector {
            selector.rate_changed(now, rate);
        }
        self.discipline.on_rate_change(&RateChange { now, rate, idle, buffer: &self.buffer });
    }

    /// Earliest time of the next departure; [`Instant::ZERO`] for disciplines that do not shape.
    pub fn held_until(&self) -> Instant {
        match self.integrated {
            true => self.discipline.integrated().map_or(Instant::ZERO, IntegratedQueue::held_until),
            false => Instant::ZERO,
        }
    }

    /// Arrival time of the packet that [`Queue::depart`] returned last.
    pub fn waited_since(&self) -> Instant {
        self.buffer.last_served()
    }

    /// Time of the next [`Queue::on_timer`] call; [`Instant::NEVER`] if none is needed.
    pub fn deadline(&self) -> Instant {
        self.discipline.deadline()
    }

    /// Called at the deadline. Appends packets that the discipline drops to `drops`.
    pub fn on_timer(&mut self, now: Instant, drops: &mut Vec<(Packet, DropReason)>) {
        self.discipline.on_timer(now, &mut self.buffer, drops);
    }

    /// Waiting packets.
    pub fn packets(&self) -> u32 {
        self.buffer.total().packets
    }

    /// Waiting bytes.
    pub fn bytes(&self) -> u64 {
        self.buffer.total().bytes
    }

    /// Waiting packets of a class.
    pub fn class_packets(&self, class: Class) -> u32 {
        self.buffer.class_tally(class).packets
    }

    /// Waiting bytes of a class.
    pub fn class_bytes(&self, class: Class) -> u64 {
        self.buffer.class_tally(class).bytes
    }

    /// The discipline's measure of congestion after the last arrival or departure, for plots:
    ///
    /// - RED, ARED, CHOKe, FRED, PUNSI: the average queue, (mean) packets
    /// - AFD: its fair share, samples; CSFQ: its fair rate, bits per second
    /// - AVQ: its virtual capacity, bits per second; REM: its price
    /// - CoDel, FQ-CoDel, CAKE: the queueing delay of the last packet that left, seconds
    /// - PIE, GREEN: the drop probability; FQ-PIE: that of the queue with the last event; DualPI2: the base
    ///   probability
    /// - a queue that drops when full: the waiting packets
    pub fn average(&self) -> f64 {
        self.discipline.average().unwrap_or(f64::from(self.packets()))
    }

    /// The statistics of CAKE's tins, as `tc -s qdisc` shows them; empty for other disciplines.
    pub fn tins(&self) -> Vec<TinStatistics> {
        self.discipline.integrated().map_or_else(Vec::new, |queue| queue.tins(&self.buffer))
    }

    /// Lets the discipline make room, if there is no victim rule. Returns whether it did.
    fn makes_room(&mut self, now: Instant, drops: &mut Vec<(Packet, DropReason)>) -> bool {
        if self.selector.is_some() {
            return false;
        }
        let before = self.buffer.total().packets;
        self.discipline.make_room(now, &mut self.buffer, drops);
        self.buffer.total().packets < before
    }

    fn holds_more_than(&self, most: Capacity) -> bool {
        let total = self.buffer.total();
        if total.bytes > self.memory {
            return true;
        }
        match most {
            Capacity::Packets(packets) => total.packets > packets,
            Capacity::Bytes(bytes) => total.bytes > bytes,
        }
    }

    /// Whether there is room for `packet` now, and whether there would be in an empty buffer.
    fn room_for(&self, packet: &Packet) -> BufferRoom {
        let total = self.buffer.total();
        let size = u64::from(packet.wire);
        let most = self.capacity;
        let (no_memory, never) = (total.bytes + size > self.memory, size > self.memory);
        match self.capacity {
            Capacity::Packets(packets) => {
                BufferRoom { full: total.packets >= packets || no_memory, hopeless: packets == 0 || never, most }
            }
            Capacity::Bytes(bytes) if self.reaches_capacity => {
                let full = total.bytes >= bytes;
                let most = Capacity::Bytes(if full { total.bytes } else { total.bytes.saturating_add(size) });
                BufferRoom { full, hopeless: bytes == 0, most }
            }
            Capacity::Bytes(bytes) => {
                BufferRoom { full: total.bytes + size > bytes || no_memory, hopeless: size > bytes || never, most }
            }
        }
    }

    fn drop_victim(&mut self, reason: DropReason, drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        let place = match &self.selector {
            Some(selector) => selector.choose(&self.buffer, &mut self.stream),
            None => self.discipline.victim(&self.buffer, &mut self.stream),
        };
        // If the discipline names no victim although one is needed, drop the last packet.
        let victim = self.buffer.remove(place.or_else(|| self.buffer.back())?)?;
        drops.push((victim, reason));
        Some(victim)
    }
}

/// Room in the buffer for an arrival.
struct BufferRoom {
    /// There is no room now.
    full: bool,
    /// There would be none in an empty buffer.
    hopeless: bool,
    /// Limit of the waiting packets after the arrival.
    most: Capacity,
}

#[cfg(test)]
mod tests;
