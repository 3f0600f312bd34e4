//! Where packets wait: a discipline decides *when* one must go, a victim rule *which*, the buffer does both in O(1).
//!
//! [`Queue`] is the face to whoever drives a link. Time only enters with `arrive` and `depart`: every periodic law here
//! (REM's price, PIE's probability, ARED's max_p) is brought up to date lazily, with the state that held when its timer
//! would have fired, which is exactly what timers would have given since nothing changes between those calls.
//!
//! **Assumptions.** The packet in transmission has left the queue. A packet for which the victim rule is asked counts as
//! waiting: it is put behind the others, then the victim goes. A packet that is larger than the whole buffer is itself
//! dropped whatever the rule, since no victim could make room. At equal times packets come before timers.

mod ared;
mod avq;
mod buffer;
mod choke;
mod codel;
mod config;
mod drop_tail;
#[cfg(test)]
mod fuzz;
mod pie;
mod punsi;
mod red;
mod rem;
#[cfg(test)]
mod testing;
mod ticker;
mod victim;
mod voice_guard;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use ared::AredConfig;
pub use avq::{AvqConfig, AvqPreset};
pub use choke::ChokeConfig;
pub use codel::CodelConfig;
pub use config::{Capacity, QueueConfig};
pub use drop_tail::DropTailConfig;
pub use pie::PieConfig;
pub use punsi::{Fellow, PunsiConfig};
pub use red::{Mode, RedConfig, RedPreset};
pub use rem::RemConfig;
pub use victim::Victim;
pub use voice_guard::VoiceGuardConfig;

use ared::Ared;
use avq::Avq;
use buffer::{Buffer, Place};
use choke::Choke;
use codel::Codel;
use pie::Pie;
use punsi::Punsi;
use red::Red;
use rem::Rem;
use victim::Selector;

use crate::packet::{Class, Packet};
use crate::random::Stream;
use crate::units::{Instant, Rate, Span};

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
}

/// What a discipline says of an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// It may wait, if there is room.
    Admit,
    /// One packet must go; the victim rule says which.
    Drop,
    /// The arrival goes, and so does this one that waits.
    DropBoth(Place),
}

/// What a discipline sees when a packet arrives. The arrival is not in the buffer.
struct Arrival<'a> {
    now: Instant,
    packet: &'a Packet,
    buffer: &'a Buffer,
    /// How long the link has had nothing to send, since it was last asked; zero while it sends.
    idle: Span,
}

/// The disciplines, by value: a call costs a jump.
#[derive(Clone, Debug)]
enum Discipline {
    /// Drops when full.
    None,
    Red(Red),
    Ared(Ared),
    Avq(Avq),
    Rem(Rem),
    Choke(Choke),
    Punsi(Punsi),
    Codel(Codel),
    Pie(Pie),
}

impl Discipline {
    fn new(config: &QueueConfig, rate: Rate) -> Self {
        match config {
            QueueConfig::DropTail { .. } | QueueConfig::DropVictim(_) => Discipline::None,
            QueueConfig::Red(config) => Discipline::Red(Red::from_config(config, rate)),
            QueueConfig::Ared(config) => Discipline::Ared(Ared::new(config, rate)),
            QueueConfig::Avq(config) => Discipline::Avq(Avq::new(config, rate)),
            QueueConfig::Rem(config) => Discipline::Rem(Rem::new(config, rate)),
            QueueConfig::Choke(config) => Discipline::Choke(Choke::new(config, rate)),
            QueueConfig::Punsi(config) => Discipline::Punsi(Punsi::new(config, rate)),
            QueueConfig::Codel(config) => Discipline::Codel(Codel::new(config)),
            QueueConfig::Pie(config) => Discipline::Pie(Pie::new(config, rate)),
        }
    }

    /// `full`: the buffer has no room for the arrival.
    #[inline]
    fn arrive(&mut self, arrival: &Arrival<'_>, full: bool, stream: &mut Stream) -> Verdict {
        match self {
            Discipline::None | Discipline::Codel(_) => Verdict::Admit,
            Discipline::Red(red) => red.arrive(arrival, stream),
            Discipline::Ared(ared) => ared.arrive(arrival, stream),
            Discipline::Avq(avq) => avq.arrive(arrival),
            Discipline::Rem(rem) => rem.arrive(arrival, stream),
            Discipline::Choke(choke) => choke.arrive(arrival, stream),
            Discipline::Punsi(punsi) => punsi.arrive(arrival, full, stream),
            Discipline::Pie(pie) => pie.arrive(arrival, stream),
        }
    }

    /// In the place of an arrival that was to be dropped the victim rule chose `victim`, which may be another size.
    #[inline]
    fn exchanged(&mut self, arrival: &Packet, victim: &Packet) {
        if let Discipline::Avq(avq) = self {
            avq.exchanged(arrival, victim);
        }
    }

    #[inline]
    fn depart(&mut self, now: Instant, buffer: &mut Buffer, drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        match self {
            Discipline::Codel(codel) => return codel.depart(now, buffer, drops),
            // Their laws watch the backlog, which is about to change.
            Discipline::Rem(rem) => rem.catch_up(now, buffer),
            Discipline::Pie(pie) => pie.catch_up(now, buffer),
            _ => {}
        }
        buffer.pop_front().map(|(packet, _)| packet)
    }

    fn average(&self) -> Option<f64> {
        match self {
            Discipline::None => None,
            Discipline::Red(red) => Some(red.average),
            Discipline::Ared(Ared { red, .. })
            | Discipline::Choke(Choke { red, .. })
            | Discipline::Punsi(Punsi { red, .. }) => Some(red.average),
            Discipline::Avq(avq) => Some(avq.capacity()),
            Discipline::Rem(rem) => Some(rem.price()),
            Discipline::Codel(codel) => Some(codel.sojourn()),
            Discipline::Pie(pie) => Some(pie.probability()),
        }
    }
}

/// A queue before a link: buffer, discipline and victim rule.
#[derive(Clone, Debug)]
pub struct Queue {
    buffer: Buffer,
    capacity: Capacity,
    selector: Selector,
    discipline: Discipline,
    stream: Stream,
    rate: Rate,
    /// From when on the link has nothing to send, if the buffer is empty; idle time before is accounted for.
    free_from: Instant,
}

impl Queue {
    /// An empty queue before a link of `rate`; `stream` decides everything that is random.
    pub fn new(config: &QueueConfig, rate: Rate, stream: Stream) -> Self {
        Queue {
            buffer: Buffer::with_capacity(config.capacity().room()),
            capacity: config.capacity(),
            selector: Selector::new(config.victim(), rate),
            discipline: Discipline::new(config, rate),
            stream,
            rate,
            free_from: Instant::ZERO,
        }
    }

    /// A packet arrives. Whatever is dropped now, the arrival or others, is appended to `drops`; the arrival waits unless
    /// it is among them. Whoever drives an idle link calls [`Queue::depart`] next.
    pub fn arrive(&mut self, now: Instant, packet: Packet, drops: &mut Vec<(Packet, DropReason)>) {
        self.selector.arrival(now, &packet);
        let mut idle = Span::ZERO;
        if self.buffer.is_empty() && now > self.free_from {
            idle = now.since(self.free_from);
            self.free_from = now;
        }
        let arrival = Arrival { now, packet: &packet, buffer: &self.buffer, idle };
        let Excess { full, hopeless } = self.excess(&packet);
        match self.discipline.arrive(&arrival, full, &mut self.stream) {
            Verdict::Admit => {
                if hopeless || (full && matches!(self.selector, Selector::Tail)) {
                    drops.push((packet, DropReason::Overflow));
                    return;
                }
                self.buffer.push(now, packet);
            }
            Verdict::Drop => {
                if matches!(self.selector, Selector::Tail) || hopeless {
                    drops.push((packet, DropReason::Early));
                    return;
                }
                self.buffer.push(now, packet);
                self.drop_victim(DropReason::Early, drops);
                if let Some((victim, _)) = drops.last() {
                    self.discipline.exchanged(&packet, victim);
                }
            }
            Verdict::DropBoth(waiting) => {
                drops.push((self.buffer.remove(waiting), DropReason::Early));
                drops.push((packet, DropReason::Early));
                return;
            }
        }
        while self.is_over() {
            self.drop_victim(DropReason::Overflow, drops);
        }
    }

    /// The link is free: takes the packet whose transmission begins now. What the discipline drops on the way is appended
    /// to `drops`. `None` when nothing waits any more; the link is then idle.
    pub fn depart(&mut self, now: Instant, drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        let packet = self.discipline.depart(now, &mut self.buffer, drops);
        if let Some(packet) = &packet {
            self.free_from = now + self.rate.time_for(packet.size());
        }
        packet
    }

    /// The transmission of the packet that [`Queue::depart`] returned last ends at `free`. To be told by a link whose rate is
    /// not always the one that the queue was made with.
    pub fn transmits_until(&mut self, free: Instant) {
        self.free_from = free;
    }

    /// Since when the packet had waited that [`Queue::depart`] returned last.
    pub fn waited_since(&self) -> Instant {
        self.buffer.last_popped()
    }

    /// When [`Queue::on_timer`] must be called: never, as all periodic work is done lazily. Here for disciplines that
    /// will need it.
    pub fn deadline(&self) -> Instant {
        Instant::NEVER
    }

    /// The deadline has come. Does nothing: see [`Queue::deadline`].
    pub fn on_timer(&mut self, _now: Instant, _drops: &mut Vec<(Packet, DropReason)>) {}

    /// Packets that wait.
    pub fn packets(&self) -> u32 {
        self.buffer.total().packets
    }

    /// Bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.buffer.total().bytes
    }

    /// Packets of a class that wait.
    pub fn class_packets(&self, class: Class) -> u32 {
        self.buffer.of(class).packets
    }

    /// Bytes of a class that wait.
    pub fn class_bytes(&self, class: Class) -> u64 {
        self.buffer.of(class).bytes
    }

    /// The quantity by which the discipline judges congestion, for plots: RED, ARED, CHOKe and PUNSI the average queue in
    /// (mean) packets, AVQ its virtual capacity in bits per second, REM its price, CoDel how long the packet that left last had
    /// waited, in seconds, PIE its drop probability, and a queue that drops when full the packets that wait. As of the
    /// last arrival or departure.
    pub fn average(&self) -> f64 {
        self.discipline.average().unwrap_or(f64::from(self.packets()))
    }

    fn is_over(&self) -> bool {
        let total = self.buffer.total();
        match self.capacity {
            Capacity::Packets(packets) => total.packets > packets,
            Capacity::Bytes(bytes) => total.bytes > bytes,
        }
    }

    /// What `packet` would be too much for: what waits now, or the buffer as such.
    fn excess(&self, packet: &Packet) -> Excess {
        let total = self.buffer.total();
        let size = u64::from(packet.wire);
        match self.capacity {
            Capacity::Packets(packets) => Excess { full: total.packets >= packets, hopeless: packets == 0 },
            Capacity::Bytes(bytes) => Excess { full: total.bytes + size > bytes, hopeless: size > bytes },
        }
    }

    fn drop_victim(&mut self, reason: DropReason, drops: &mut Vec<(Packet, DropReason)>) {
        if let Some(place) = self.selector.choose(&self.buffer, &mut self.stream) {
            drops.push((self.buffer.remove(place), reason));
        }
    }
}

/// Whether an arrival finds no room now (`full`), or would find none in an empty buffer (`hopeless`).
struct Excess {
    full: bool,
    hopeless: bool,
}

#[cfg(test)]
mod tests;
