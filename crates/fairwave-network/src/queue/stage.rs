//! Stages in front of a link: policer, queue or classes, and shaper. [`LinkQueue`] is either a whole stage or a plain queue.
//!
//! A stage judges arrivals by its policer, keeps admitted packets in one queue or sorts them into classes, and releases
//! packets by its shaper. Each class is itself a stage, so it may have a policer, a shaper and inner classes.
//!
//! **Assumptions.** Disciplines that compute with a rate learn the smaller of the link's rate and the shaper's rate.
//! Every class learns the full rate, because it may use what other classes leave.

use std::sync::Arc;

use super::cake::TinStatistics;
use super::class_map::{ClassConfig, ClassMap};
use super::config::QueueConfig;
use super::police::{Action, PoliceConfig, Policer};
use super::scheduler::{ClassSet, Scheduler};
use super::shape::{ShapeConfig, Shaper};
use super::{DropReason, Queue};
use crate::dscp::Dscp;
use crate::packet::{Class, Packet};
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Rate};

/// Counters of a stage, in packets and bytes on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StageCounters {
    /// Packets that arrived.
    pub arrivals: u64,
    /// Bytes that arrived.
    pub wire_arrived: u64,
    /// Packets that left.
    pub served: u64,
    /// Bytes that left.
    pub wire_served: u64,
    /// Total waiting time of the packets that left, nanoseconds.
    pub waited: u64,
    /// Longest waiting time of one packet, nanoseconds.
    pub longest_wait: u64,
    /// Dropped by the policer.
    pub policed: u64,
    /// Passed by the policer with a new code point.
    pub remarked: u64,
    /// Dropped because the buffer was full.
    pub dropped_overflow: u64,
    /// Dropped by the discipline.
    pub dropped_early: u64,
    /// Left with a mark from this stage.
    pub marked: u64,
    /// Largest number of packets that waited at once.
    pub most_waiting: u32,
}

/// A stage in the results.
#[derive(Clone, Copy, Debug)]
pub struct StageView<'a> {
    /// Name of the class; empty for the stage in front of the whole link.
    pub name: &'a str,
    /// Nesting depth: number of enclosing classes.
    pub depth: usize,
    /// Counts since the window began.
    pub counters: &'a StageCounters,
    /// Packets that wait now.
    pub waiting: u32,
}

/// A packet that has left the queue and waits only for tokens.
#[derive(Clone, Copy, Debug)]
struct HeldPacket {
    packet: Packet,
    since: Instant,
    marked: bool,
}

/// The waiting packets of a stage.
enum Inside {
    Queue(Box<Queue>),
    Classes(Box<Classes>),
}

/// Classes and their scheduler.
struct Classes {
    stages: Vec<Stage>,
    scheduler: Box<dyn Scheduler>,
    /// The class of each code point and traffic class.
    places: [u8; Dscp::NUMBER * Class::ALL.len()],
    /// The class that sent last.
    last: usize,
}

/// A policer, a queue or classes, and a shaper.
pub struct Stage {
    name: String,
    police: Option<Policer>,
    inside: Inside,
    shape: Option<Shaper>,
    held: Option<HeldPacket>,
    counters: StageCounters,
    /// Arrival time and mark of the packet that left last.
    last: (Instant, bool),
}

/// Returns a random stream of a link by name: `queue`, `queue.voice`.
type Streams<'a> = &'a dyn Fn(&str) -> Stream;

impl Stage {
    /// Returns the stage of a link or of a class. Shares refer to the link's nominal rate `link`.
    fn new(
        name: &str,
        stream: &str,
        queue: &QueueConfig,
        police: Option<&PoliceConfig>,
        shape: Option<&ShapeConfig>,
        link: Rate,
        streams: Streams<'_>,
    ) -> Self {
        let shaped = shape.map_or(link, |shape| shape.rate.rate_on(link).min(link));
        let inside = match queue.discipline.class_map() {
            Some(ClassMap { classes, scheduler }) => {
                let of = |class: &ClassConfig| {
                    let (police, shape) = (class.police.as_ref(), class.shape.as_ref());
                    let stream = format!("{stream}.{}", class.name);
                    let queue = class.queue.queue_config(queue.capacity);
                    Stage::new(&class.name, &stream, &queue, police, shape, shaped, streams)
                };
                let mut places = [0; Dscp::NUMBER * Class::ALL.len()];
                for (place, own) in places.iter_mut().enumerate() {
                    let (dscp, class) = (place / Class::ALL.len(), place % Class::ALL.len());
                    let dscp = Dscp::new(dscp as u8).unwrap_or_default();
                    *own = ClassMap::class_of(&classes, dscp, Class::ALL[class]) as u8;
                }
                let stages = classes.iter().map(of).collect();
                Inside::Classes(Box::new(Classes { stages, scheduler, places, last: 0 }))
            }
            None => Inside::Queue(Box::new(Queue::new(queue, shaped, streams(stream)))),
        };
        Stage {
            name: name.to_owned(),
            police: police.map(|police| Policer::new(police, link)),
            inside,
            shape: shape.map(|shape| Shaper::new(shape, link)),
            held: None,
            counters: StageCounters::default(),
            last: (Instant::ZERO, false),
        }
    }

    /// Handles an arrival; `congested` is true if packets wait at the link.
    fn arrive(&mut self, now: Instant, packet: &Packet, congested: bool, drops: &mut Vec<(Packet, DropReason)>) {
        self.counters.arrivals += 1;
        self.counters.wire_arrived += u64::from(packet.wire);
        let mut packet = *packet;
        if let Some(police) = &mut self.police {
            match police.judge(now, &packet, congested) {
                Action::Transmit => {}
                Action::Remark(dscp) => {
                    self.counters.remarked += u64::from(packet.dscp != dscp);
                    packet.dscp = dscp;
                }
                Action::Drop => {
                    self.counters.policed += 1;
                    drops.push((packet, DropReason::Policed));
                    return;
                }
            }
        }
        let before = drops.len();
        match &mut self.inside {
            Inside::Queue(queue) => queue.arrive(now, &packet, drops),
            Inside::Classes(classes) => classes.arrive(now, &packet, congested, drops),
        }
        self.count_drops(&drops[before..]);
        self.counters.most_waiting = self.counters.most_waiting.max(self.packets());
    }

    fn count_drops(&mut self, drops: &[(Packet, DropReason)]) {
        for (_, reason) in drops {
            match reason {
                DropReason::Overflow => self.counters.dropped_overflow += 1,
                DropReason::Policed => self.counters.policed += 1,
                _ => self.counters.dropped_early += 1,
            }
        }
    }

    /// Returns the packet that leaves now, if one may leave.
    fn depart(&mut self, now: Instant, drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        let next = match self.held.take() {
            Some(held) => held,
            None => {
                let before = drops.len();
                let taken = match &mut self.inside {
                    Inside::Queue(queue) => queue.depart(now, drops).map(|packet| HeldPacket {
                        packet,
                        since: queue.waited_since(),
                        marked: queue.has_marked(),
                    }),
                    Inside::Classes(classes) => classes.depart(now, drops),
                };
                self.count_drops(&drops[before..]);
                taken?
            }
        };
        let HeldPacket { packet, since, marked } = next;
        let bytes = u64::from(packet.wire);
        if let Some(shape) = &mut self.shape
            && !shape.takes(now, bytes)
        {
            self.held = Some(next);
            return None;
        }
        let waited = now.span_since(since).nanos();
        let counters = &mut self.counters;
        counters.served += 1;
        counters.wire_served += bytes;
        counters.waited += waited;
        counters.longest_wait = counters.longest_wait.max(waited);
        counters.marked += u64::from(marked);
        self.last = (since, marked);
        Some(packet)
    }

    fn tins(&self) -> Vec<TinStatistics> {
        match &self.inside {
            Inside::Queue(queue) => queue.tins(),
            Inside::Classes(classes) => classes.stages.iter().flat_map(Stage::tins).collect(),
        }
    }

    fn packets(&self) -> u32 {
        let inside = match &self.inside {
            Inside::Queue(queue) => queue.packets(),
            Inside::Classes(classes) => classes.stages.iter().map(Stage::packets).sum(),
        };
        inside + u32::from(self.held.is_some())
    }

    fn bytes(&self) -> u64 {
        let inside = match &self.inside {
            Inside::Queue(queue) => queue.bytes(),
            Inside::Classes(classes) => classes.stages.iter().map(Stage::bytes).sum(),
        };
        inside + self.held.map_or(0, |held| u64::from(held.packet.wire))
    }

    /// Waiting packets and bytes of a traffic class.
    fn class_tally(&self, class: Class) -> (u32, u64) {
        let (packets, bytes) = match &self.inside {
            Inside::Queue(queue) => (queue.class_packets(class), queue.class_bytes(class)),
            Inside::Classes(classes) => classes.stages.iter().fold((0, 0), |sum, stage| {
                let own = stage.class_tally(class);
                (sum.0 + own.0, sum.1 + own.1)
            }),
        };
        match self.held.filter(|held| held.packet.class == class) {
            Some(held) => (packets + 1, bytes + u64::from(held.packet.wire)),
            None => (packets, bytes),
        }
    }

    /// Earliest time of the next departure.
    fn held_until(&self) -> Instant {
        if let (Some(held), Some(shape)) = (&self.held, &self.shape) {
            return shape.ready_at(u64::from(held.packet.wire));
        }
        match &self.inside {
            Inside::Queue(queue) => queue.held_until(),
            Inside::Classes(classes) => {
                let waiting = classes.stages.iter().filter(|stage| stage.packets() > 0);
                waiting.map(Stage::held_until).min().unwrap_or(Instant::ZERO)
            }
        }
    }

    fn deadline(&self) -> Instant {
        match &self.inside {
            Inside::Queue(queue) => queue.deadline(),
            Inside::Classes(classes) => classes.stages.iter().map(Stage::deadline).min().unwrap_or(Instant::NEVER),
        }
    }

    fn on_timer(&mut self, now: Instant, drops: &mut Vec<(Packet, DropReason)>) {
        let before = drops.len();
        match &mut self.inside {
            Inside::Queue(queue) => queue.on_timer(now, drops),
            Inside::Classes(classes) => {
                for place in 0..classes.stages.len() {
                    let stage = &mut classes.stages[place];
                    if stage.deadline() <= now {
                        let waited = stage.packets();
                        stage.on_timer(now, drops);
                        if waited > 0 && stage.packets() == 0 {
                            classes.emptied(place);
                        }
                    }
                }
            }
        }
        self.count_drops(&drops[before..]);
    }

    fn rate_changed(&mut self, now: Instant, rate: Rate) {
        match &mut self.inside {
            Inside::Queue(queue) => queue.rate_changed(now, rate),
            Inside::Classes(classes) => classes.stages.iter_mut().for_each(|stage| stage.rate_changed(now, rate)),
        }
    }

    fn transmits_until(&mut self, free: Instant) {
        match &mut self.inside {
            Inside::Queue(queue) => queue.transmits_until(free),
            Inside::Classes(classes) => {
                if let Some(stage) = classes.stages.get_mut(classes.last) {
                    stage.transmits_until(free);
                }
            }
        }
    }

    fn set_flow_ends(&mut self, ends: &Arc<[[u32; 2]]>) {
        match &mut self.inside {
            Inside::Queue(queue) => queue.set_flow_ends(ends),
            Inside::Classes(classes) => classes.stages.iter_mut().for_each(|stage| stage.set_flow_ends(ends)),
        }
    }

    fn begin_window(&mut self) {
        self.counters = StageCounters { most_waiting: self.packets(), ..StageCounters::default() };
        if let Inside::Classes(classes) = &mut self.inside {
            classes.stages.iter_mut().for_each(Stage::begin_window);
        }
    }

    fn views<'a>(&'a self, depth: usize, views: &mut Vec<StageView<'a>>) {
        if depth > 0 || self.police.is_some() || self.shape.is_some() {
            let (counters, waiting) = (&self.counters, self.packets());
            views.push(StageView { name: &self.name, depth, counters, waiting });
        }
        if let Inside::Classes(classes) = &self.inside {
            classes.stages.iter().for_each(|stage| stage.views(depth + 1, views));
        }
    }
}

impl Classes {
    fn arrive(&mut self, now: Instant, packet: &Packet, congested: bool, drops: &mut Vec<(Packet, DropReason)>) {
        let place = usize::from(packet.dscp.get()) * Class::ALL.len() + packet.class as usize;
        let class = usize::from(self.places[place]);
        let stage = &mut self.stages[class];
        let waited = stage.packets() > 0;
        stage.arrive(now, packet, congested, drops);
        match (waited, stage.packets() > 0) {
            (false, true) => self.scheduler.arrived(class),
            (true, false) => self.emptied(class),
            _ => {}
        }
    }

    fn depart(&mut self, now: Instant, drops: &mut Vec<(Packet, DropReason)>) -> Option<HeldPacket> {
        let mut tried: ClassSet = 0;
        loop {
            let mut ready: ClassSet = 0;
            for (place, stage) in self.stages.iter().enumerate() {
                if tried >> place & 1 == 0 && stage.packets() > 0 && stage.held_until() <= now {
                    ready |= 1 << place;
                }
            }
            if ready == 0 {
                return None;
            }
            let class = self.scheduler.choose(ready);
            let stage = &mut self.stages[class];
            let sent = stage.depart(now, drops);
            let (since, marked) = stage.last;
            let is_empty = stage.packets() == 0;
            if let Some(packet) = sent {
                self.last = class;
                self.scheduler.sent(class, u64::from(packet.wire));
                if is_empty {
                    self.emptied(class);
                }
                return Some(HeldPacket { packet, since, marked });
            }
            // The class's discipline has dropped its packets, or its shaper holds them back.
            tried |= 1 << class;
            if is_empty {
                self.emptied(class);
            }
        }
    }

    fn emptied(&mut self, class: usize) {
        let idle = self.stages.iter().all(|stage| stage.packets() == 0);
        self.scheduler.emptied(class, idle);
    }
}

/// The waiting packets in front of a link: a plain queue, or a stage with policer, class map and shaper.
#[allow(clippy::large_enum_variant)] // a queue alone is the rule, and pays for no further step
pub enum LinkQueue {
    /// A plain queue.
    Plain(Queue),
    /// A whole stage.
    Staged(Box<Stage>),
}

impl LinkQueue {
    /// Returns the queue for a link of this nominal rate; `streams` provides random streams by name.
    pub fn new(
        queue: &QueueConfig,
        police: Option<&PoliceConfig>,
        shape: Option<&ShapeConfig>,
        rate: Rate,
        streams: impl Fn(&str) -> Stream,
    ) -> Self {
        if police.is_none() && shape.is_none() && queue.discipline.class_map().is_none() {
            return LinkQueue::Plain(Queue::new(queue, rate, streams("queue")));
        }
        LinkQueue::Staged(Box::new(Stage::new("", "queue", queue, police, shape, rate, &streams)))
    }

    /// See [`Queue::set_flow_ends`].
    pub fn set_flow_ends(&mut self, ends: &Arc<[[u32; 2]]>) {
        match self {
            LinkQueue::Plain(queue) => queue.set_flow_ends(ends),
            LinkQueue::Staged(stage) => stage.set_flow_ends(ends),
        }
    }

    /// See [`Queue::arrive`].
    #[inline]
    pub fn arrive(&mut self, now: Instant, packet: &Packet, drops: &mut Vec<(Packet, DropReason)>) {
        match self {
            LinkQueue::Plain(queue) => queue.arrive(now, packet, drops),
            LinkQueue::Staged(stage) => {
                let congested = stage.packets() > 0;
                stage.arrive(now, packet, congested, drops);
            }
        }
    }

    /// See [`Queue::pass`].
    #[inline]
    pub fn pass(&mut self, now: Instant, packet: &Packet) -> bool {
        match self {
            LinkQueue::Plain(queue) => queue.pass(now, packet),
            LinkQueue::Staged(_) => false,
        }
    }

    /// See [`Queue::depart`].
    #[inline]
    pub fn depart(&mut self, now: Instant, drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        match self {
            LinkQueue::Plain(queue) => queue.depart(now, drops),
            LinkQueue::Staged(stage) => stage.depart(now, drops),
        }
    }

    /// See [`Queue::has_marked`].
    #[inline]
    pub fn has_marked(&self) -> bool {
        match self {
            LinkQueue::Plain(queue) => queue.has_marked(),
            LinkQueue::Staged(stage) => stage.last.1,
        }
    }

    /// See [`Queue::transmits_until`].
    pub fn transmits_until(&mut self, free: Instant) {
        match self {
            LinkQueue::Plain(queue) => queue.transmits_until(free),
            LinkQueue::Staged(stage) => stage.transmits_until(free),
        }
    }

    /// See [`Queue::rate_changed`].
    pub fn rate_changed(&mut self, now: Instant, rate: Rate) {
        match self {
            LinkQueue::Plain(queue) => queue.rate_changed(now, rate),
            LinkQueue::Staged(stage) => stage.rate_changed(now, rate),
        }
    }

    /// See [`Queue::held_until`].
    #[inline]
    pub fn held_until(&self) -> Instant {
        match self {
            LinkQueue::Plain(queue) => queue.held_until(),
            LinkQueue::Staged(stage) => stage.held_until(),
        }
    }

    /// Statistics of CAKE's tins, for all classes in order; empty under other disciplines.
    pub fn tins(&self) -> Vec<TinStatistics> {
        match self {
            LinkQueue::Plain(queue) => queue.tins(),
            LinkQueue::Staged(stage) => stage.tins(),
        }
    }

    /// See [`Queue::waited_since`].
    #[inline]
    pub fn waited_since(&self) -> Instant {
        match self {
            LinkQueue::Plain(queue) => queue.waited_since(),
            LinkQueue::Staged(stage) => stage.last.0,
        }
    }

    /// See [`Queue::deadline`].
    #[inline]
    pub fn deadline(&self) -> Instant {
        match self {
            LinkQueue::Plain(queue) => queue.deadline(),
            LinkQueue::Staged(stage) => stage.deadline(),
        }
    }

    /// See [`Queue::on_timer`].
    pub fn on_timer(&mut self, now: Instant, drops: &mut Vec<(Packet, DropReason)>) {
        match self {
            LinkQueue::Plain(queue) => queue.on_timer(now, drops),
            LinkQueue::Staged(stage) => stage.on_timer(now, drops),
        }
    }

    /// Number of waiting packets.
    #[inline]
    pub fn packets(&self) -> u32 {
        match self {
            LinkQueue::Plain(queue) => queue.packets(),
            LinkQueue::Staged(stage) => stage.packets(),
        }
    }

    /// Number of waiting bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            LinkQueue::Plain(queue) => queue.bytes(),
            LinkQueue::Staged(stage) => stage.bytes(),
        }
    }

    /// Number of waiting packets of a traffic class.
    pub fn class_packets(&self, class: Class) -> u32 {
        match self {
            LinkQueue::Plain(queue) => queue.class_packets(class),
            LinkQueue::Staged(stage) => stage.class_tally(class).0,
        }
    }

    /// Number of waiting bytes of a traffic class.
    pub fn class_bytes(&self, class: Class) -> u64 {
        match self {
            LinkQueue::Plain(queue) => queue.class_bytes(class),
            LinkQueue::Staged(stage) => stage.class_tally(class).1,
        }
    }

    /// See [`Queue::average`]. For a stage, the number of waiting packets.
    pub fn average(&self) -> f64 {
        match self {
            LinkQueue::Plain(queue) => queue.average(),
            LinkQueue::Staged(stage) => f64::from(stage.packets()),
        }
    }

    /// Resets the counters at the end of the warm-up.
    pub fn begin_window(&mut self) {
        if let LinkQueue::Staged(stage) = self {
            stage.begin_window();
        }
    }

    /// Counters of policer, shaper and classes; inner classes follow their outer class. Empty for a plain queue.
    pub fn stages(&self) -> Vec<StageView<'_>> {
        let mut views = Vec::new();
        if let LinkQueue::Staged(stage) = self {
            stage.views(0, &mut views);
        }
        views
    }
}

/// The largest packet that can pass this queue, policer and shaper, by the class of its code point. Larger packets never
/// pass. Also returns the place in the scenario that sets the limit.
pub fn largest_packet(
    queue: &QueueConfig,
    police: Option<&PoliceConfig>,
    shape: Option<&ShapeConfig>,
    link: Rate,
    dscp: Dscp,
    class: Class,
) -> Option<(u64, String)> {
    let own = [
        police.filter(|police| police.drops()).map(|police| (police.largest(link), "police.burst".to_owned())),
        shape.map(|shape| (shape.largest(link), "shape.burst".to_owned())),
    ];
    let within = queue.discipline.class_map().and_then(|map| {
        let place = ClassMap::class_of(&map.classes, dscp, class);
        let own = map.classes.get(place)?;
        let queue: QueueConfig = own.queue.queue_config(queue.capacity);
        let found = largest_packet(&queue, own.police.as_ref(), own.shape.as_ref(), link, dscp, class)?;
        Some((found.0, format!("queue.classes.{place}.{}", found.1)))
    });
    own.into_iter().chain([within]).flatten().min()
}

#[cfg(test)]
#[path = "stage_tests.rs"]
mod tests;
