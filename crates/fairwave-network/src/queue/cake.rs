//! CAKE: shaper, priority tins, fairness between hosts and flows, and active queue management in one discipline.
//!
//! Follows Høiland-Jørgensen, Täht & Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways"
//! (2018), and, in details that the paper leaves open, Linux' `sch_cake`. The shaper sends no faster than `bandwidth` and
//! counts each packet with its `overhead`. The next packet leaves when the transmission time of its predecessors has passed
//! (`held_until`), so there is no burst. The highest tin within its rate goes first. If all tins exceed their rates, the tin
//! that will be due soonest goes first. Without `bandwidth` the tins share by weights. Within a tin, a set-associative hash
//! assigns flows to queues. The queues take turns so that hosts get equal shares, and flows get equal shares of their host's
//! share (`tin`). COBALT manages each queue (`cobalt`) and never drops the last packet of a queue. When the buffer
//! overflows, the queue with the most bytes loses its head, and BLUE raises its drop probability.
//!
//! **Tins.** The DSCP of a packet selects its tin, by the tables of the same names in `sch_cake`. Packets of calls bear EF
//! unless their flow sets another code point; all other packets bear none.
//!
//! **Deviations.** Hosts are the scenario's nodes, so they never collide in a hash. If the driver of a queue does not name
//! the nodes of flows, every flow counts as two separate hosts. A quantum is divided exactly instead of with random
//! rounding, clocks count exactly, and square roots are exact. The queue's `capacity` replaces Linux' `memlimit`. Not
//! implemented: `nat`, `wash`, `ingress`, `autorate-ingress`, firewall marks, `precedence` and `diffserv8`. Packets never
//! consist of several segments.

mod ack_filter;
mod cobalt;
mod statistics;
mod tin;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::ack_filter::AckFilter;
pub use self::statistics::TinStatistics;

use self::cobalt::Settings;
use self::tin::{QUEUES, Tin};
use super::DropReason;
use super::buffer::{Buffer, Place};
use super::config::Capacity;
use super::discipline::{Arrival, Discipline, DisciplineLaw, IntegratedQueue, Nature, QueueDrop, Verdict};
use super::rounds::mixed;
use crate::dscp::Dscp;
use crate::packet::Packet;
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::random::{Seed, Stream};
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// The levels of service into which packets are sorted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Diffserv {
    /// One level for all packets.
    Besteffort,
    /// Bulk (a sixteenth of the rate), best effort, voice (a quarter).
    #[default]
    Diffserv3,
    /// Bulk (a sixteenth), best effort, video (half), voice (a quarter).
    Diffserv4,
}

impl Diffserv {
    /// Per tin, the right shift that gives its rate from the whole rate, or its weight if no rate is set.
    fn shifts(self) -> &'static [u32] {
        match self {
            Diffserv::Besteffort => &[0],
            Diffserv::Diffserv3 => &[0, 4, 2],
            Diffserv::Diffserv4 => &[0, 4, 1, 2],
        }
    }

    /// The tin of a code point, by the tables of the same names in `sch_cake`.
    fn tin_of(self, dscp: Dscp) -> u8 {
        match (self, dscp.get()) {
            (Diffserv::Besteffort, _) => 0,
            // Lower effort, CS1.
            (_, 1 | 8) => 1,
            // TOS4, voice-admit, EF, CS6, CS7.
            (Diffserv::Diffserv3, 4 | 44 | 46 | 48 | 56) => 2,
            (Diffserv::Diffserv3, _) => 0,
            // TOS4, CS2 and AF2x, CS3 and AF3x, AF4x.
            (Diffserv::Diffserv4, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => 2,
            // CS4, CS5, voice-admit, EF, CS6, CS7.
            (Diffserv::Diffserv4, 32 | 40 | 44 | 46 | 48 | 56) => 3,
            (Diffserv::Diffserv4, _) => 0,
        }
    }
}

/// Which parties get equal shares of a tin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// None: one queue for all packets.
    Flowblind,
    /// Senders.
    Srchost,
    /// Receivers.
    Dsthost,
    /// Pairs of sender and receiver.
    Hosts,
    /// Flows.
    Flows,
    /// Senders, and flows of each.
    DualSrchost,
    /// Receivers, and flows of each.
    DualDsthost,
    /// Senders and receivers, and flows of each.
    #[default]
    TripleIsolate,
}

impl Isolation {
    /// Whether senders, and whether receivers, get equal shares in addition to flows.
    fn shared(self) -> [bool; 2] {
        match self {
            Isolation::DualSrchost => [true, false],
            Isolation::DualDsthost => [false, true],
            Isolation::TripleIsolate => [true, true],
            _ => [false, false],
        }
    }
}

/// Extra bytes of link framing for each packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Framing {
    /// Nothing.
    #[default]
    None,
    /// Cells of 53 bytes for each 48 (ATM).
    Atm,
    /// A byte for each 64 begun (PTM).
    Ptm,
}

/// CAKE, Common Applications Kept Enhanced. It shapes to `bandwidth`, gives equal shares to hosts and flows, sends
/// voice first within its share, and keeps the queue of every flow short. In Linux since 4.19, and the default of many
/// home routers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CakeConfig {
    /// The rate of the shaper; it has no effect above the link's rate. Left out: the link's rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "whatever the link carries"))]
    pub bandwidth: Option<Rate>,
    /// Levels of service.
    #[serde(default)]
    pub diffserv: Diffserv,
    /// Which parties get equal shares.
    #[serde(default)]
    pub isolation: Isolation,
    /// The round trip of most flows: CoDel's interval, and twenty times its target.
    #[serde(default = "rtt")]
    pub rtt: Span,
    /// Extra bytes per packet, −64 to 256; only with `bandwidth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<i32>,
    /// Minimum bytes per packet, overhead included; only with `bandwidth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpu: Option<Bytes>,
    /// Extra bytes of the link's framing; only with `bandwidth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// Which acknowledgements of TCP are dropped while later ones of the same connection wait: for links whose reverse direction is slow.
    #[serde(default, skip_serializing_if = "AckFilter::is_none")]
    pub ack_filter: AckFilter,
}

fn rtt() -> Span {
    Span::from_millis(100)
}

/// The largest packet of an Ethernet.
const MTU: u64 = 1514;

impl Checked for CakeConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_span("rtt", self.rtt, "rtt = \"100 ms\"")?;
        let bandwidth = self.bandwidth;
        if let Some(rate) = bandwidth
            && rate.bits_per_second() < 8 * 64
        {
            return Err(ConfigError::new("bandwidth", rate, "512 b/s or more", "bandwidth = \"10 Mb/s\""));
        }
        let unshaped = [
            ("overhead", self.overhead.map(|bytes| bytes.to_string())),
            ("mpu", self.mpu.map(|bytes| bytes.to_string())),
            ("framing", self.framing.map(|framing| format!("{framing:?}").to_lowercase())),
        ];
        for (key, value) in unshaped {
            if let (Some(value), None) = (value, bandwidth) {
                let allowed = "left out without `bandwidth`, by which it counts";
                return Err(ConfigError::new(key, value, allowed, "bandwidth = \"10 Mb/s\""));
            }
        }
        match self.overhead {
            Some(bytes) if !(-64..=256).contains(&bytes) => {
                Err(ConfigError::new("overhead", bytes, "−64 to 256", "overhead = 18"))
            }
            _ => Ok(()),
        }
    }
}

impl Law for CakeConfig {
    const NAME: &'static str = "cake";
    const EXAMPLE: &'static str = r#"{"bandwidth": "900 kb/s", "isolation": "dual-dsthost"}"#;
}

impl DisciplineLaw for CakeConfig {
    type Discipline = Cake;
    const NATURE: Nature = Nature {
        fifo: false,
        own_victim: Some("CAKE drops the head of its fattest queue, by which BLUE learns who does not yield"),
        makes_room: true,
        by_host: true,
        ..Nature::FIFO
    };

    fn marks(&self) -> bool {
        true
    }

    fn bins(&self) -> usize {
        self.diffserv.shifts().len() * QUEUES as usize
    }

    fn discipline(&self, _capacity: Capacity, _rate: Rate) -> Cake {
        let whole = self.bandwidth.map(|rate| rate.bits_per_second() / 8);
        let shifts = self.diffserv.shifts();
        let tin = |shift: &u32| {
            let rate = whole.map(|whole| (whole >> shift).max(1));
            let packet_time = rate.map_or(Span::ZERO, |rate| Clock::time(rate, MTU));
            let wanted = Span::from_nanos(self.rtt.nanos() / 20);
            let target = wanted.max(packet_time.scaled(1.5));
            let interval = (self.rtt + target.saturating_sub(wanted)).max(target * 2);
            let weight = if shifts.len() == 1 { 65_535 } else { 1024 >> shift };
            Tin::new(Settings { target, interval, packet_time }, rate, weight)
        };
        Cake {
            tins: shifts.iter().map(tin).collect(),
            clock: self.bandwidth.map(Clock::new),
            diffserv: self.diffserv,
            isolation: self.isolation,
            overhead: i64::from(self.overhead.unwrap_or(0)),
            mpu: self.mpu.unwrap_or(Bytes::ZERO).get(),
            framing: self.framing.unwrap_or_default(),
            ack_filter: self.ack_filter,
            random: None,
            salt: 0,
            current: 0,
            sojourn: Span::ZERO,
        }
    }
}

/// Exact time at which the transmission of everything sent so far ends.
#[derive(Clone, Debug)]
struct Clock {
    next: Instant,
    /// Fraction of a nanosecond beyond `next`, in units of 1/`rate` ns.
    rest: u64,
    /// Bits per second.
    rate: u64,
}

impl Clock {
    fn new(rate: Rate) -> Self {
        Clock { next: Instant::ZERO, rest: 0, rate: rate.bits_per_second() }
    }

    fn sent(&mut self, bytes: u64) {
        let parts = bytes * 8 * 1_000_000_000 + self.rest;
        self.next += Span::from_nanos(parts / self.rate);
        self.rest = parts % self.rate;
    }

    /// Transmission time of `bytes` at a rate in bytes per second.
    fn time(rate: u64, bytes: u64) -> Span {
        Span::from_nanos(bytes * 1_000_000_000 / rate)
    }
}

/// State of CAKE.
#[derive(Clone, Debug)]
pub struct Cake {
    /// Best effort, bulk, then the higher tins in ascending order.
    tins: Vec<Tin>,
    /// The shaper; `None` without `bandwidth`.
    clock: Option<Clock>,
    diffserv: Diffserv,
    isolation: Isolation,
    overhead: i64,
    mpu: u64,
    framing: Framing,
    ack_filter: AckFilter,
    /// Random numbers of BLUE, seeded by the link's stream when the first packet arrives.
    random: Option<Stream>,
    /// Salt of the hash, drawn at the same time.
    salt: u64,
    /// The current tin, without `bandwidth`.
    current: usize,
    /// Queueing delay of the last packet that left.
    sojourn: Span,
}

impl Cake {
    fn tin_of(&self, packet: &Packet) -> usize {
        usize::from(self.diffserv.tin_of(packet.dscp))
    }

    /// The sending and the receiving host of a packet.
    fn hosts_of(packet: &Packet, buffer: &Buffer) -> [u32; 2] {
        let flow = packet.flow.0;
        let [from, to] =
            buffer.flow_ends(packet.flow).unwrap_or([flow.wrapping_mul(2), flow.wrapping_mul(2).wrapping_add(1)]);
        if packet.feedback { [to, from] } else { [from, to] }
    }

    fn hash_of(&self, packet: &Packet, [from, to]: [u32; 2]) -> u64 {
        let pair = u64::from(from) << 32 | u64::from(to);
        let key = match self.isolation {
            Isolation::Flowblind => return 0,
            Isolation::Srchost => u64::from(from),
            Isolation::Dsthost => u64::from(to),
            Isolation::Hosts => pair,
            _ => u64::from(packet.flow.0) << 1 | u64::from(packet.feedback),
        };
        mixed(key ^ self.salt)
    }

    /// Size of a packet for the shaper, bytes.
    fn size(&self, packet: &Packet) -> u64 {
        let bytes = (i64::from(packet.wire) + self.overhead).max(0) as u64;
        let bytes = bytes.max(self.mpu);
        match self.framing {
            Framing::None => bytes,
            Framing::Atm => bytes.div_ceil(48) * 53,
            Framing::Ptm => bytes + bytes.div_ceil(64),
        }
    }

    /// The tin that sends next; `None` if no tin has flows.
    fn choose_tin(&mut self, now: Instant) -> Option<usize> {
        if self.clock.is_some() {
            // The highest tin within its rate; if there is none, the tin that is due soonest, the higher of two.
            let active = self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active());
            return active.min_by_key(|(place, tin)| (tin.early(now), usize::MAX - place)).map(|(place, _)| place);
        }
        if !self.tins.iter().any(Tin::is_active) {
            return None;
        }
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.is_active() {
                return Some(self.current);
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }
}

/// Names of the tins in `tc`, in fairwave's order.
fn names(tins: usize) -> &'static [&'static str] {
    match tins {
        3 => &["Best Effort", "Bulk", "Voice"],
        4 => &["Best Effort", "Bulk", "Video", "Voice"],
        _ => &["Best Effort"],
    }
}

/// Number of the buffer's list for a tin's queue.
fn bin_of(tin: usize, queue: u32) -> u32 {
    tin as u32 * QUEUES + queue
}

impl Discipline for Cake {
    fn arrive(&mut self, _arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        if self.random.is_none() {
            self.salt = stream.uniform_below(u64::MAX);
            self.random = Some(Seed(stream.uniform_below(u64::MAX)).stream("discipline"));
        }
        Verdict::Admit
    }

    fn bin(&mut self, now: Instant, packet: &Packet, buffer: &Buffer) -> u32 {
        let (place, hosts) = (self.tin_of(packet), Self::hosts_of(packet, buffer));
        let hash = self.hash_of(packet, hosts);
        let tin = &mut self.tins[place];
        // An empty tin keeps no unused rate.
        if tin.packets == 0 {
            tin.next = tin.next.max(now);
            if let Some(clock) = self.clock.as_mut().filter(|clock| buffer.is_empty() && clock.next < now) {
                (clock.next, clock.rest) = (now, 0);
            }
        }
        let queue = tin.queue_of(hash, hosts);
        tin.arrived(queue, self.isolation);
        tin.counters.came(packet.wire);
        bin_of(place, queue)
    }

    fn on_drop(&mut self, drop: QueueDrop<'_>) {
        if let QueueDrop::Redundant { bin } = drop {
            let tin = &mut self.tins[(bin / QUEUES) as usize];
            tin.packets -= 1;
            tin.counters.acknowledgements_dropped += 1;
        }
    }

    fn make_room(&mut self, now: Instant, buffer: &mut Buffer, drops: &mut Vec<(Packet, DropReason)>) {
        let Some(fattest) = buffer.fattest_bin() else { return };
        let Some(packet) = buffer.front_of_bin(fattest).and_then(|place| buffer.remove(place)) else { return };
        let tin = &mut self.tins[(fattest / QUEUES) as usize];
        tin.packets -= 1;
        tin.counters.drops += 1;
        tin.queues[(fattest % QUEUES) as usize].cobalt.overflowed(&tin.set, now);
        drops.push((packet, DropReason::Overflow));
    }

    fn depart(&mut self, now: Instant, buffer: &mut Buffer, drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        if self.held_until() > now {
            return None;
        }
        let mut decaying = true;
        while !buffer.is_empty() {
            let place = self.choose_tin(now)?;
            let tin = &mut self.tins[place];
            let waits = |queue| buffer.bin_tally(bin_of(place, queue)).packets > 0;
            let Some(queue) = tin.turn(std::mem::take(&mut decaying), self.isolation, waits) else { continue };
            let bin = bin_of(place, queue);
            loop {
                let Some((mut packet, since)) = buffer.front_of_bin(bin).and_then(|place| buffer.serve(place)) else {
                    tin.was_empty(queue, now);
                    break;
                };
                tin.packets -= 1;
                let waited = now.span_since(since);
                let random = self.random.get_or_insert_with(|| Seed(0).stream("discipline"));
                let last = buffer.bin_tally(bin).packets == 0;
                let before = packet.ecn;
                if tin.queues[queue as usize].cobalt.drops(&tin.set, now, &mut packet, waited, random) && !last {
                    tin.counters.drops += 1;
                    drops.push((packet, DropReason::Early));
                    continue;
                }
                tin.counters.marks += u64::from(packet.ecn != before);
                tin.counters.left(waited);
                self.sojourn = waited;
                let size = self.size(&packet);
                self.tins[place].sent(queue, size, now);
                if let Some(clock) = &mut self.clock {
                    clock.sent(size);
                }
                return Some(packet);
            }
        }
        None
    }

    /// Queueing delay of the last packet that left, seconds.
    fn average(&self) -> Option<f64> {
        Some(self.sojourn.seconds())
    }

    fn integrated(&self) -> Option<&dyn IntegratedQueue> {
        Some(self)
    }
}

impl IntegratedQueue for Cake {
    fn held_until(&self) -> Instant {
        self.clock.as_ref().map_or(Instant::ZERO, |clock| clock.next)
    }

    fn filters(&self) -> bool {
        !self.ack_filter.is_none()
    }

    fn redundant(&self, bin: u32, buffer: &Buffer) -> Option<Place> {
        self.ack_filter.redundant(buffer, bin)
    }

    fn tins(&self, buffer: &Buffer) -> Vec<TinStatistics> {
        let statistics = |(place, tin): (usize, &Tin)| {
            let counters = tin.counters;
            let waiting = (0..QUEUES).map(|queue| buffer.bin_tally(bin_of(place, queue)).bytes).sum();
            let [sparse_flows, bulk_flows, unresponsive_flows] = tin.flows();
            TinStatistics {
                name: names(self.tins.len()).get(place).copied().unwrap_or("Best Effort"),
                threshold: tin.rate.map(|rate| Rate::from_bits_per_second(rate * 8)),
                target: tin.set.target,
                interval: tin.set.interval,
                peak_delay: Span::from_nanos(counters.peak),
                average_delay: Span::from_nanos(counters.average),
                base_delay: Span::from_nanos(counters.base),
                backlog: Bytes::new(waiting),
                packets: counters.packets,
                bytes: Bytes::new(counters.bytes),
                indirect_hits: counters.indirect_hits,
                misses: counters.misses,
                collisions: counters.collisions,
                drops: counters.drops,
                marks: counters.marks,
                acknowledgements_dropped: counters.acknowledgements_dropped,
                sparse_flows,
                bulk_flows,
                unresponsive_flows,
                longest: Bytes::new(u64::from(counters.longest)),
                quantum: Bytes::new(tin.quantum_of_flows()),
            }
        };
        self.tins.iter().enumerate().map(statistics).collect()
    }
}

#[cfg(test)]
mod clauses;
#[cfg(test)]
#[path = "cake_tests.rs"]
mod tests;
