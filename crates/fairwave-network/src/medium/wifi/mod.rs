//! A Wi-Fi channel (IEEE 802.11): an access point and its stations, each of which transmits when its backoff is over.
//!
//! Each link direction between the access point and a station is a member. A node has four access categories (EDCA), or one (DCF); the
//! access point sends to all its stations by the same ones.
//!
//! **Access** (`access`). Backoffs count idle slots. Two that end in the same slot collide; then windows double, and after `retry-limit`
//! attempts a packet is lost. Within a node the more urgent category wins and the other behaves as after a collision.
//!
//! **Frames** (`tables`, `channel`). A frame takes its preamble and whole symbols; the acknowledgement follows after SIFS at a basic rate.
//! Packets of an aggregate fail one by one, and those that failed are sent again in the next one; the receiver delivers in order.
//!
//! **Queues** (`queues`). Packets wait at stations as their links say, by category; at the access point in one queue for all stations and the
//! driver's buffer, or per station, in turn by frames or by airtime.
//!
//! **No slot has an event.** A frame exchange has two, its begin and its end; with hidden stations a third, when the answer begins. The
//! next access is the least of the backoffs' ends, in one pass over the nodes that contend.
//!
//! **Assumptions.** Power save is off. A packet is delivered when its frame exchange ends, acknowledgement included. Control frames fail by
//! collisions only. No capture: of frames that overlap at a receiver none arrives. A collision keeps the air busy for the longest of its
//! frames. Nodes whose accesses are less than 4 µs apart do not sense each other. Frames of a TXOP are put together at the end of
//! the one before. Queues per station hand packets over when their frame begins; the hardware holds none. Neighbouring channels do
//! not exist. Stations of several generations on one channel are not told apart.

mod access;
mod channel;
mod config;
mod queues;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use config::{
    WifiAggregation, WifiBand, WifiCategories, WifiCategory, WifiChannel, WifiConfig, WifiMapping, WifiPathLoss,
    WifiQueues, WifiRateControl, WifiStation,
};
pub use tables::WifiStandard;

use access::{Domain, Function, SENSING};
use channel::{Channel, mean_over};
use config::{Access, BEST_EFFORT, CATEGORIES, VOICE};
use queues::{Aliases, Entry, QUANTUM, Rotation, State, Tid, WINDOW, Waiting, category, of_station};
use tables::Phy;

use super::{Begun, Happenings, Medium, MediumLaw, Member, MemberCounters, empty_queue};
use crate::packet::Packet;
use crate::queue::rounds::Rounds;
use crate::queue::{Capacity, DropReason, LinkQueue, QueueConfig};
use fairwave_units::config::ConfigError;
use fairwave_units::random::{Seed, Stream};
use fairwave_units::units::{Bytes, Instant, Rate};

/// One direction of a link.
struct Direction {
    /// Who transmits and who receives, and which of them is the station.
    node: usize,
    peer: usize,
    station: usize,
    channel: Channel,
    phy: Phy,
    /// What the channel was made of.
    spec: WifiChannel,
    /// Where packets wait; none: in the access point's common queue.
    queue: Option<QueueConfig>,
    seed: Seed,
    tids: [Tid; CATEGORIES],
    counters: MemberCounters,
    /// Packets that wait, and those that have begun and are neither delivered nor lost.
    waiting: u32,
    inside: u32,
}

/// A node of the channel.
struct Node {
    /// Its member from the access point, and that to it.
    down: Option<usize>,
    up: Option<usize>,
    /// When it leaves.
    leaves: Instant,
    gone: bool,
}

/// What is common to all stations at the access point.
struct Common {
    queues: [LinkQueue; CATEGORIES],
    /// Packets in the driver, by category.
    driver: [u32; CATEGORIES],
    aliases: Aliases,
}

/// A frame exchange on the air, times in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    function: usize,
    member: usize,
    index: u8,
    ratio: f64,
    packets: u32,
    start: u64,
    /// End of the part that others may collide with: of the data, or of RTS.
    open: u64,
    /// End of the acknowledgement.
    end: u64,
    /// Its next event.
    due: u64,
    /// The receiver has still to answer, which some nodes sense only then.
    answers: bool,
    collided: bool,
}

/// The channel at work.
pub struct Wifi {
    config: WifiConfig,
    phy: Phy,
    accesses: [Access; CATEGORIES],
    /// Most bytes of an aggregate.
    longest: u64,
    nodes: Vec<Node>,
    /// The access point's number.
    base: usize,
    directions: Vec<Direction>,
    functions: Vec<Function>,
    rotations: Vec<Rotation>,
    common: Option<Box<Common>>,
    /// One for all, or one for each node if some do not hear each other.
    domains: Vec<Domain>,
    /// `hears[a * nodes + b]`: a hears b. Empty: all hear all.
    hears: Vec<bool>,
    /// Functions that contend.
    contending: Vec<usize>,
    air: Vec<Exchange>,
    /// The next access, and the next event of those on the air.
    access: u64,
    event: u64,
    /// When the next station leaves.
    leaves: Instant,
    /// A queue has a timer.
    timed: bool,
    nominal: Vec<Rate>,
    contention: Stream,
    errors: Stream,
    drops: Vec<(Packet, DropReason)>,
    winners: Vec<usize>,
}

impl WifiConfig {
    /// The access point: as given, or the one node that all members share.
    fn base(&self, members: &[Member]) -> Result<String, ConfigError> {
        let refuse = |value: String, allowed: &str| {
            Err(ConfigError::new("access-point", value, allowed, "access-point = \"r1\""))
        };
        if let Some(base) = &self.access_point {
            return match members.iter().find(|member| member.from != *base && member.to != *base) {
                Some(other) => refuse(
                    base.clone(),
                    &format!("an end of every link of the channel (`{}` has other ends)", other.name),
                ),
                None => Ok(base.clone()),
            };
        }
        let Some(first) = members.first() else {
            return refuse("missing".to_owned(), "given: the channel has no links");
        };
        let shared = |node: &&String| members.iter().all(|member| member.from == **node || member.to == **node);
        let known = |node: &&String| !self.stations.contains_key(*node) && !self.hears.contains_key(*node);
        let candidates: Vec<&String> = [&first.from, &first.to].into_iter().filter(shared).filter(known).collect();
        match candidates.as_slice() {
            [base] => Ok((*base).clone()),
            [] => refuse("missing".to_owned(), "given: its links share no node"),
            _ => refuse("missing".to_owned(), "given: both ends of the only link could be it"),
        }
    }

    /// The station of a member whose access point may not be known.
    fn is_uplink(&self, member: &Member) -> bool {
        match &self.access_point {
            Some(base) => member.to == *base,
            None => self.stations.contains_key(&member.from),
        }
    }

    /// Bytes of a packet in an aggregate, or alone.
    fn on_air(&self, wire: u64, aggregated: bool) -> u64 {
        let bytes = wire + self.header.get();
        // A delimiter, and whole words (the subframes of an A-MPDU).
        if aggregated { 4 + bytes.next_multiple_of(4) } else { bytes }
    }

    fn longest(&self) -> u64 {
        let most = self.standard.longest_aggregate();
        self.aggregation.bytes.map_or(most, |bytes| bytes.get().min(most))
    }

    fn aggregates(&self, category: usize) -> bool {
        self.standard.aggregates() && self.aggregation.frames > 1 && (category != VOICE || self.aggregation.voice)
    }

    /// Bytes on the wire per second of one member alone, in packets of 1500 bytes of best effort, with so many nanoseconds between frames.
    fn alone(&self, phy: &Phy, index: u8, gap: f64) -> f64 {
        let aggregated = self.aggregates(BEST_EFFORT);
        let size = self.on_air(1500, aggregated);
        let most = self.longest().min(phy.bytes_in(index, self.aggregation.time.nanos()));
        let count = if aggregated { (most / size).clamp(1, u64::from(self.aggregation.frames)) } else { 1 };
        let exchange = phy.duration(index, count * size) + phy.sifs + phy.ack(index, count > 1);
        count as f64 * 1500.0 / (exchange as f64 + gap) * 1e9
    }
}

impl MediumLaw for WifiConfig {
    type Medium = Wifi;

    fn medium(&self, members: &[Member], streams: &dyn Fn(&str) -> Stream) -> Result<Wifi, ConfigError> {
        let base = self.base(members)?;
        let common_phy = self.phy(self.streams);
        let accesses = self.accesses(&common_phy);
        let mut names: BTreeMap<&str, usize> = BTreeMap::from([(base.as_str(), 0)]);
        let mut nodes = vec![Node { down: None, up: None, leaves: Instant::NEVER, gone: false }];
        let mut directions = Vec::new();
        let mut common: Option<QueueConfig> = None;
        let nominal: Vec<Rate> = members.iter().map(|member| self.nominal(member)).collect();
        for (place, member) in members.iter().enumerate() {
            let uplink = member.to == base;
            let name = if uplink { member.from.as_str() } else { member.to.as_str() };
            let station = *names.entry(name).or_insert(nodes.len());
            if station == nodes.len() {
                let leaves = self.stations.get(name).and_then(|own| own.leaves);
                let leaves = leaves.map_or(Instant::NEVER, |leaves| Instant::ZERO + leaves);
                nodes.push(Node { down: None, up: None, leaves, gone: false });
            }
            let own = if uplink { &mut nodes[station].up } else { &mut nodes[station].down };
            if own.replace(place).is_some() {
                let allowed = format!("at most one link from `{base}` to `{name}`");
                return Err(ConfigError::new(
                    "links",
                    format!("two of `{}`", member.name),
                    allowed,
                    "stations with a link each",
                ));
            }
            let stream = |what: &str| streams(&format!("{}.{what}", member.name));
            let queue = match self.queues {
                _ if uplink => Some(member.queue.clone()),
                WifiQueues::FqCodel | WifiQueues::Airtime => Some(of_station()),
                WifiQueues::Fifo => {
                    common = Some(joined(common.take(), member)?);
                    None
                }
            };
            let phy = self.phy(self.streams_of(name));
            let (node, peer) = if uplink { (station, 0) } else { (0, station) };
            directions.push(Direction {
                node,
                peer,
                station,
                channel: Channel::new(self, &phy, self.channel_of(name, uplink), stream),
                spec: self.channel_of(name, uplink).clone(),
                queue,
                seed: Seed(stream("queue").below(u64::MAX)),
                phy,
                tids: Default::default(),
                counters: MemberCounters::default(),
                waiting: 0,
                inside: 0,
            });
        }
        let hears = self.audibility(&names, &base)?;
        if let Some(unknown) = self.stations.keys().find(|name| !names.contains_key(name.as_str()) || **name == base) {
            return Err(unknown_station("stations", unknown, &names, &base));
        }
        let rate = nominal.iter().copied().max().unwrap_or(Rate::from_bits_per_second(1));
        let common = common.map(|config| {
            let queue = |category: usize| {
                LinkQueue::new(&config, None, None, rate, |what| streams(&format!("{base}.{category}.{what}")))
            };
            Box::new(Common {
                queues: std::array::from_fn(queue),
                driver: [0; CATEGORIES],
                aliases: Aliases::default(),
            })
        });
        let functions: Vec<Function> = (0..nodes.len() * CATEGORIES)
            .map(|place| {
                let category = place % CATEGORIES;
                Function::new((place / CATEGORIES) as u32, category as u8, &accesses[category])
            })
            .collect();
        let rotation = |place: usize| match self.queues {
            WifiQueues::Airtime if place < CATEGORIES => Rotation::Airtime(Rounds::new(members.len(), QUANTUM)),
            _ => Rotation::turns(members.len()),
        };
        Ok(Wifi {
            longest: self.longest(),
            base: 0,
            rotations: (0..functions.len()).map(rotation).collect(),
            timed: common
                .as_ref()
                .is_some_and(|common| common.queues.iter().any(|queue| queue.deadline() < Instant::NEVER)),
            leaves: nodes.iter().map(|node| node.leaves).min().unwrap_or(Instant::NEVER),
            domains: vec![Domain::default(); if hears.is_empty() { 1 } else { nodes.len() }],
            hears,
            contending: Vec::new(),
            air: Vec::new(),
            access: u64::MAX,
            event: u64::MAX,
            nominal,
            contention: streams("contention"),
            errors: streams("errors"),
            drops: Vec::new(),
            winners: Vec::new(),
            config: self.clone(),
            phy: common_phy,
            accesses,
            nodes,
            directions,
            functions,
            common,
        })
    }

    fn nominal(&self, member: &Member) -> Rate {
        let uplink = self.is_uplink(member);
        let station = if uplink { &member.from } else { &member.to };
        let phy = self.phy(self.streams_of(station));
        let access = self.accesses(&phy)[BEST_EFFORT];
        let gap = access.aifs as f64 + f64::from(access.cw_min) / 2.0 * phy.slot as f64;
        let of = |index: u8| self.alone(&phy, index, gap);
        let long = (Instant::ZERO, Instant::ZERO);
        let bytes = mean_over(self, &phy, self.channel_of(station, uplink), long, of);
        Rate::from_bits_per_second(((bytes * 8.0) as u64).max(1))
    }
}

/// The common queue of links that have the same discipline: that with the largest buffer.
fn joined(known: Option<QueueConfig>, member: &Member) -> Result<QueueConfig, ConfigError> {
    let Some(known) = known else { return Ok(member.queue.clone()) };
    let room = |capacity: Capacity| match capacity {
        Capacity::Packets(packets) => u64::from(packets) * 1500,
        Capacity::Bytes(bytes) => bytes,
    };
    if member.queue.discipline != known.discipline || member.queue.victim() != known.victim() {
        let value = format!("fifo, with another queue for `{}`", member.name);
        let allowed = "with the same `queue` in all links from the access point, since it is one queue";
        return Err(ConfigError::new("queues", value, allowed, "queues = \"airtime\""));
    }
    Ok(if room(member.queue.capacity) > room(known.capacity) { member.queue.clone() } else { known })
}

fn unknown_station(key: &str, name: &str, names: &BTreeMap<&str, usize>, base: &str) -> ConfigError {
    let known: Vec<&str> = names.keys().copied().filter(|name| *name != base).collect();
    let example = format!("stations = {{ {} = {{ channel = {{ snr = 20.0 }} }} }}", known.first().unwrap_or(&"laptop"));
    ConfigError::new(key, name, format!("the names of its stations ({})", known.join(", ")), example)
}

impl WifiConfig {
    /// Who hears whom, as rows; empty if all hear all.
    fn audibility(&self, names: &BTreeMap<&str, usize>, base: &str) -> Result<Vec<bool>, ConfigError> {
        let count = names.len();
        let mut hears = vec![true; count * count];
        for (name, heard) in &self.hears {
            let Some(own) = names.get(name.as_str()).filter(|_| name != base) else {
                return Err(unknown_station("hears", name, names, base));
            };
            for other in 1..count {
                hears[own * count + other] = other == *own;
            }
            for other in heard {
                let Some(other) = names.get(other.as_str()) else {
                    return Err(unknown_station(&format!("hears.{name}"), other, names, base));
                };
                hears[own * count + other] = true;
            }
        }
        Ok(if hears.iter().all(|own| *own) { Vec::new() } else { hears })
    }
}

impl Wifi {
    fn hears(&self, own: usize, other: usize) -> bool {
        self.hears.is_empty() || self.hears[own * self.nodes.len() + other]
    }

    fn domain_of(&self, node: usize) -> usize {
        if self.hears.is_empty() { 0 } else { node }
    }

    /// Reports what a member's queue has dropped.
    fn report(&mut self, member: usize, category: usize, happenings: &mut Happenings) {
        let direction = &mut self.directions[member];
        let function = direction.node * CATEGORIES + category;
        for (packet, reason) in self.drops.drain(..) {
            direction.waiting = direction.waiting.saturating_sub(1);
            self.functions[function].backlog = self.functions[function].backlog.saturating_sub(1);
            happenings.dropped.push((member, packet, reason));
        }
    }

    /// Reports what the common queue has dropped.
    fn report_common(&mut self, category: usize, happenings: &mut Happenings) {
        let Some(common) = &self.common else { return };
        for (packet, reason) in self.drops.drain(..) {
            let (member, packet) = common.aliases.restore(packet);
            self.directions[member].waiting = self.directions[member].waiting.saturating_sub(1);
            let function = &mut self.functions[category];
            function.backlog = function.backlog.saturating_sub(1);
            happenings.dropped.push((member, packet, reason));
        }
    }

    /// Moves packets from the common queue into the driver, as long as it has room.
    fn pull(&mut self, now: Instant, category: usize, happenings: &mut Happenings) {
        while let Some(common) = &mut self.common {
            if common.driver[category] >= self.config.driver_buffer || common.queues[category].packets() == 0 {
                return;
            }
            let queue = &mut common.queues[category];
            let departing = queue.depart(now, &mut self.drops);
            let (since, marked) = (queue.waited_since(), queue.has_marked());
            let restored = departing.map(|packet| common.aliases.restore(packet));
            self.report_common(category, happenings);
            let Some((member, packet)) = restored else { return };
            let direction = &mut self.directions[member];
            if self.nodes[direction.station].gone {
                self.drops.push((packet, DropReason::Link));
                self.report(member, category, happenings);
                continue;
            }
            direction.tids[category].ready.push_back(Waiting { packet, since, marked });
            self.rotations[category].add(member);
            if let Some(common) = &mut self.common {
                common.driver[category] += 1;
            }
        }
    }

    /// Whether a packet of a member can be sent now; the first one is ready then.
    fn has_ready(&mut self, now: Instant, member: usize, category: usize, happenings: &mut Happenings) -> bool {
        let tid = &mut self.directions[member].tids[category];
        if !tid.ready.is_empty() {
            return true;
        }
        let Some(queue) = &mut tid.queue else { return false };
        if queue.packets() == 0 {
            return false;
        }
        if let Some(packet) = queue.depart(now, &mut self.drops) {
            tid.ready.push_back(Waiting { packet, since: queue.waited_since(), marked: queue.has_marked() });
        }
        let ready = !tid.ready.is_empty();
        self.report(member, category, happenings);
        ready
    }

    /// Puts a frame of a function together that begins at `start` and fits, with its acknowledgement, into `room` nanoseconds. Its first packet
    /// need not fit unless it `must`. None if nothing can be sent.
    fn assemble(
        &mut self,
        now: Instant,
        function: usize,
        limits: (u64, u64, bool),
        happenings: &mut Happenings,
    ) -> Option<Exchange> {
        let mut held = Vec::new();
        let exchange = self.assemble_for_next(now, function, limits, &mut held, happenings);
        for member in held {
            self.rotations[function].add(member);
        }
        exchange
    }

    /// The same. Members whose queues hold packets back are left out, and noted in `held`.
    fn assemble_for_next(
        &mut self,
        now: Instant,
        function: usize,
        (start, room, must): (u64, u64, bool),
        held: &mut Vec<usize>,
        happenings: &mut Happenings,
    ) -> Option<Exchange> {
        let category = usize::from(self.functions[function].category);
        let aggregated = self.config.aggregates(category);
        let frames = if aggregated { self.config.aggregation.frames } else { 1 };
        loop {
            let member = self.rotations[function].turn()?;
            let direction = &mut self.directions[member];
            let ratio = direction.channel.ratio(now);
            let attempt = direction.tids[category].failures;
            let index = direction.channel.index(&direction.phy, now, attempt, ratio);
            let phy = &direction.phy;
            let announced = self.phy.rts + phy.ack(index, false) + 2 * self.phy.sifs;
            let overhead =
                self.phy.sifs + phy.ack(index, aggregated) + if self.config.rts.is_some() { announced } else { 0 };
            let time = if aggregated { self.config.aggregation.time.nanos() } else { u64::MAX };
            let in_time = match time.min(room.saturating_sub(overhead)) {
                u64::MAX => u64::MAX,
                time => phy.bytes_in(index, time),
            };
            let most = if aggregated { self.longest.min(in_time) } else { in_time };
            let (mut packets, mut bytes, mut begun, mut full) = (0u32, 0u64, 0u32, false);
            let fits = |bytes: u64, size: u64, packets: u32| (packets == 0 && !must) || bytes + size <= most;
            for entry in &mut direction.tids[category].window {
                if entry.state != State::Ready {
                    continue;
                }
                let size = self.config.on_air(u64::from(entry.packet.wire), aggregated);
                if packets >= frames || !fits(bytes, size, packets) {
                    full = true;
                    break;
                }
                entry.state = State::OnAir;
                bytes += size;
                packets += 1;
            }
            let again = packets;
            let window = if aggregated { WINDOW } else { 1 };
            while !full && packets < frames && self.directions[member].tids[category].window.len() < window {
                if !self.has_ready(now, member, category, happenings) {
                    break;
                }
                let direction = &mut self.directions[member];
                let tid = &mut direction.tids[category];
                let Some(waiting) = tid.ready.front().copied() else { break };
                let size = self.config.on_air(u64::from(waiting.packet.wire), aggregated);
                if !fits(bytes, size, packets) {
                    full = true;
                    break;
                }
                tid.ready.pop_front();
                bytes += size;
                packets += 1;
                begun += 1;
                tid.window.push_back(Entry { packet: waiting.packet, attempts: 0, state: State::OnAir });
                direction.waiting = direction.waiting.saturating_sub(1);
                direction.inside += 1;
                let Waiting { packet, since, marked } = waiting;
                happenings.begun.push(Begun { member, packet, since, marked });
            }
            let own = &mut self.functions[function];
            own.backlog = own.backlog.saturating_sub(again + begun);
            if packets == 0 {
                if full {
                    return None; // it does not fit into the rest of the TXOP
                }
                self.rotations[function].was_empty(member);
                let queue = self.directions[member].tids[category].queue.as_ref();
                if queue.is_some_and(|queue| queue.packets() > 0) {
                    held.push(member);
                }
                continue;
            }
            if let Some(common) = self.common.as_mut().filter(|_| self.directions[member].node == self.base) {
                common.driver[category] = common.driver[category].saturating_sub(begun);
                self.pull(now, category, happenings);
            }
            // One packet goes as one, without delimiter and bitmap.
            let alone = aggregated && packets == 1;
            let block = aggregated && !alone;
            let phy = &self.directions[member].phy;
            let data = phy.duration(index, bytes);
            let (mut open, mut lead) = (data, 0);
            if self.config.rts.is_some_and(|least| bytes >= least.get()) {
                open = self.phy.rts;
                lead = announced;
            }
            let end = start + lead + data + self.phy.sifs + phy.ack(index, block);
            let counters = &mut self.directions[member].counters;
            counters.transmissions += 1;
            counters.carried += u64::from(packets);
            return Some(Exchange {
                function,
                member,
                index,
                ratio,
                packets,
                start,
                open: start + open,
                end,
                due: end,
                answers: false,
                collided: false,
            });
        }
    }

    /// The frame of a function has begun: it goes on the air.
    fn transmits(&mut self, function: usize) {
        self.functions[function].transmits = true;
        self.functions[function].contends = false;
    }

    /// Backoffs are over: nodes transmit, alone or at the same time.
    fn accesses(&mut self, now: Instant, happenings: &mut Happenings) {
        let (at, slot) = (now.nanos(), self.phy.slot);
        let mut winners = std::mem::take(&mut self.winners);
        winners.clear();
        let (functions, domains, accesses) = (&self.functions, &self.domains, &self.accesses);
        let single = self.hears.is_empty();
        self.contending.retain(|&place| {
            let function = &functions[place];
            let domain = &domains[if single { 0 } else { function.node as usize }];
            let over = function.instant(domain, &accesses[usize::from(function.category)], slot) < at + SENSING;
            if over {
                winners.push(place);
            }
            !over
        });
        // By node, the most urgent category first.
        winners.sort_unstable_by_key(|place| (place / CATEGORIES, CATEGORIES - place % CATEGORIES));
        let first = self.air.len();
        let (mut node, mut losers) = (usize::MAX, 0);
        for turn in 0..winners.len() {
            let place = winners[turn];
            self.functions[place].contends = false;
            if place / CATEGORIES == node {
                winners[losers] = place;
                losers += 1;
                continue;
            }
            let category = place % CATEGORIES;
            let txop = self.accesses[category].txop;
            let room = if txop == 0 { u64::MAX } else { txop };
            match self.assemble(now, place, (at, room, false), happenings) {
                Some(exchange) => {
                    node = place / CATEGORIES;
                    self.functions[place].txop_end = if txop == 0 { 0 } else { at + txop };
                    self.transmits(place);
                    self.air.push(exchange);
                }
                None => self.waits_for_queue(now, place),
            }
        }
        self.sent(at, first);
        // Categories that lost within their node (IEEE 802.11-2020 §10.23.2.4).
        for &place in &winners[..losers] {
            if self.functions[place].backlog == 0 {
                continue;
            }
            let (category, domain) = (place % CATEGORIES, self.domain_of(place / CATEGORIES));
            let function = &mut self.functions[place];
            function.fails(&self.accesses[category], self.config.retry_limit);
            function.draws(&self.domains[domain], &mut self.contention);
            function.contends = true;
            function.after = at;
            self.contending.push(place);
        }
        self.winners = winners;
    }

    /// A function had nothing to send. What a queue holds back is tried again when the queue gives it.
    fn waits_for_queue(&mut self, now: Instant, place: usize) {
        if self.functions[place].backlog == 0 {
            return;
        }
        let (node, category) = (place / CATEGORIES, place % CATEGORIES);
        let own = self.directions.iter().filter(|direction| direction.node == node);
        let queues = own.filter_map(|direction| direction.tids[category].queue.as_ref());
        let held = queues.filter(|queue| queue.packets() > 0).map(|queue| queue.held_until());
        let mut due = held.min().unwrap_or(Instant::NEVER);
        if let Some(common) = self.common.as_ref().filter(|_| node == self.base) {
            due = due.min(common.queues[category].held_until());
        }
        if due == Instant::NEVER {
            return;
        }
        let function = &mut self.functions[place];
        function.contends = true;
        function.after = due.max(now).nanos();
        self.contending.push(place);
    }

    /// Exchanges from place `first` on have begun at the same time: who senses them, and which of them collide.
    fn sent(&mut self, at: u64, first: usize) {
        let count = self.air.len() - first;
        if count == 0 {
            return;
        }
        let (slot, accesses) = (self.phy.slot, self.accesses);
        let penalty = if self.config.eifs { self.phy.sifs + self.phy.lowest_ack } else { 0 };
        if self.hears.is_empty() {
            let mut until = self.air[first].end;
            if count > 1 {
                until = self.air[first..].iter().map(|exchange| exchange.open).max().unwrap_or(until) + penalty;
                for exchange in &mut self.air[first..] {
                    (exchange.collided, exchange.due) = (true, until);
                }
            }
            self.domains[0].occupy(at, until, &accesses, slot);
            return;
        }
        for own in first..self.air.len() {
            let (sender, receiver) = self.ends(own);
            for other in 0..self.air.len() {
                // An answer that is under way is sensed by all, so whatever overlaps does so before.
                if other == own {
                    continue;
                }
                if self.air[other].answers && self.air[other].open <= at {
                    self.air[own].collided = true;
                    continue;
                }
                let (from, to) = self.ends(other);
                if to == self.base || self.hears(to, sender) {
                    self.air[other].collided = true;
                }
                if receiver == self.base || self.hears(receiver, from) {
                    self.air[own].collided = true;
                }
            }
        }
        for own in first..self.air.len() {
            let (sender, receiver) = self.ends(own);
            let exchange = &mut self.air[own];
            // Stations that do not hear the sender sense the access point's answer.
            if receiver == self.base {
                exchange.answers = true;
                exchange.due = exchange.open + self.phy.sifs;
            }
            let end = exchange.end;
            for node in 0..self.nodes.len() {
                if node == sender || self.hears(node, sender) {
                    self.domains[node].occupy(at, end, &accesses, slot);
                }
            }
        }
    }

    /// Sender and receiver of an exchange.
    fn ends(&self, place: usize) -> (usize, usize) {
        let direction = &self.directions[self.air[place].member];
        (direction.node, direction.peer)
    }

    /// The access point begins to answer, or does not because it could not receive.
    fn answers(&mut self, at: u64, place: usize) {
        let exchange = &mut self.air[place];
        exchange.answers = false;
        if exchange.collided {
            exchange.due = (exchange.open + self.phy.sifs + self.phy.lowest_ack).min(exchange.end).max(at + 1);
            return;
        }
        exchange.due = exchange.end;
        let end = exchange.end;
        for domain in &mut self.domains {
            domain.occupy(at, end, &self.accesses, self.phy.slot);
        }
    }

    /// A frame exchange is over.
    fn ends_exchange(&mut self, now: Instant, exchange: &Exchange, happenings: &mut Happenings) {
        let (place, member) = (exchange.function, exchange.member);
        let category = place % CATEGORIES;
        let limit = self.config.retry_limit;
        let direction = &mut self.directions[member];
        let gone = self.nodes[direction.station].gone;
        let mut errors = direction.channel.errors(&direction.phy, exchange.index, exchange.ratio);
        let (mut successes, mut again, mut lost) = (0u32, 0u32, 0u32);
        let tid = &mut direction.tids[category];
        let header = self.config.header.get();
        for entry in tid.window.iter_mut().filter(|entry| entry.state == State::OnAir) {
            let sound = errors.spare(u64::from(entry.packet.wire) + header, &mut self.errors);
            if sound && !exchange.collided && !gone {
                entry.state = State::Received;
                successes += 1;
                continue;
            }
            entry.attempts += 1;
            if entry.attempts >= limit || gone {
                entry.state = State::Lost;
                happenings.lost.push((member, entry.packet));
                lost += 1;
            } else {
                entry.state = State::Ready;
                again += 1;
            }
        }
        let acknowledged = successes > 0;
        tid.failures = if acknowledged || lost > 0 { 0 } else { tid.failures + 1 };
        let released = tid.release(member, happenings);
        direction.inside = direction.inside.saturating_sub(released + lost);
        let airtime = now.nanos().saturating_sub(exchange.start);
        let counters = &mut direction.counters;
        counters.airtime += airtime;
        counters.failed += u64::from(!acknowledged);
        counters.collided += u64::from(exchange.collided);
        direction.channel.learns(exchange.index, exchange.packets, successes);
        let station = direction.station;
        self.rotations[place].used(member, airtime, acknowledged);
        // What stations send counts against them, too (Høiland-Jørgensen et al. 2017 §3.2).
        if self.config.queues == WifiQueues::Airtime
            && place >= CATEGORIES
            && let Some(down) = self.nodes[station].down
        {
            self.rotations[category].used(down, airtime, true);
        }
        let access = self.accesses[category];
        let function = &mut self.functions[place];
        function.transmits = false;
        function.backlog += again;
        if acknowledged {
            function.succeeds(&access);
        } else {
            function.fails(&access, limit);
        }
        let start = now.nanos() + self.phy.sifs;
        let until = function.txop_end;
        if acknowledged
            && until > start
            && let Some(next) = self.assemble(now, place, (start, until - start, true), happenings)
        {
            self.transmits(place);
            self.air.push(next);
            self.sent(now.nanos(), self.air.len() - 1);
            return;
        }
        let domain = self.domain_of(place / CATEGORIES);
        let function = &mut self.functions[place];
        function.txop_end = 0;
        function.draws(&self.domains[domain], &mut self.contention);
        if function.backlog > 0 {
            function.contends = true;
            function.after = now.nanos();
            self.contending.push(place);
        }
    }

    /// A station leaves for good.
    fn leave(&mut self, now: Instant, station: usize, happenings: &mut Happenings) {
        self.nodes[station].gone = true;
        let members = [self.nodes[station].down, self.nodes[station].up];
        for member in members.into_iter().flatten() {
            for category in 0..CATEGORIES {
                let direction = &mut self.directions[member];
                let function = direction.node * CATEGORIES + category;
                let tid = &mut direction.tids[category];
                let in_driver = tid.ready.len() as u32;
                let mut given: Vec<(usize, Packet)> =
                    tid.ready.drain(..).map(|waiting| (member, waiting.packet)).collect();
                if let Some(queue) = &mut tid.queue {
                    empty_queue(queue, member, now, &mut given);
                }
                self.drops.extend(given.into_iter().map(|(_, packet)| (packet, DropReason::Link)));
                let mut again = 0;
                for entry in tid.window.iter_mut().filter(|entry| entry.state == State::Ready) {
                    entry.state = State::Lost;
                    happenings.lost.push((member, entry.packet));
                    again += 1;
                }
                let released = tid.release(member, happenings);
                direction.inside = direction.inside.saturating_sub(again + released);
                if let Some(common) = self.common.as_mut().filter(|_| direction.node == self.base) {
                    common.driver[category] = common.driver[category].saturating_sub(in_driver);
                }
                let own = &mut self.functions[function];
                own.backlog = own.backlog.saturating_sub(again);
                self.report(member, category, happenings);
            }
        }
        for category in 0..CATEGORIES {
            self.pull(now, category, happenings);
        }
    }

    /// Reckons the next access and the next event of exchanges.
    fn foresee(&mut self) {
        let slot = self.phy.slot;
        let single = self.hears.is_empty();
        let instant = |place: &usize| {
            let function = &self.functions[*place];
            let domain = &self.domains[if single { 0 } else { function.node as usize }];
            function.instant(domain, &self.accesses[usize::from(function.category)], slot)
        };
        self.access = self.contending.iter().map(instant).min().unwrap_or(u64::MAX);
        self.event = self.air.iter().map(|exchange| exchange.due).min().unwrap_or(u64::MAX);
    }

    fn queue_timers(&mut self, now: Instant, happenings: &mut Happenings) {
        for category in 0..CATEGORIES {
            if let Some(common) = &mut self.common
                && common.queues[category].deadline() <= now
            {
                common.queues[category].on_timer(now, &mut self.drops);
                self.report_common(category, happenings);
            }
            for member in 0..self.directions.len() {
                if let Some(queue) = &mut self.directions[member].tids[category].queue
                    && queue.deadline() <= now
                {
                    queue.on_timer(now, &mut self.drops);
                    self.report(member, category, happenings);
                }
            }
        }
    }

    fn queue_deadline(&self) -> Instant {
        let common = self.common.iter().flat_map(|common| common.queues.iter()).map(LinkQueue::deadline);
        let own = self.directions.iter().flat_map(|direction| direction.tids.iter());
        let own = own.filter_map(|tid| tid.queue.as_ref()).map(|queue| queue.deadline());
        common.chain(own).min().unwrap_or(Instant::NEVER)
    }
}

impl Medium for Wifi {
    fn arrive(&mut self, now: Instant, member: usize, packet: Packet, happenings: &mut Happenings) {
        let direction = &mut self.directions[member];
        if self.nodes[direction.station].gone {
            happenings.dropped.push((member, packet, DropReason::Link));
            return;
        }
        let category = if self.config.edca { category(self.config.mapping, packet.dscp) } else { BEST_EFFORT };
        let place = direction.node * CATEGORIES + category;
        direction.waiting += 1;
        self.functions[place].backlog += 1;
        if let Some(common) = self.common.as_mut().filter(|_| direction.node == self.base) {
            let hidden = common.aliases.hide(member, packet);
            common.queues[category].arrive(now, hidden, &mut self.drops);
            self.report_common(category, happenings);
            self.pull(now, category, happenings);
        } else if let Some(config) = &direction.queue {
            let (seed, rate) = (direction.seed, self.nominal[member]);
            let queue = direction.tids[category].queue.get_or_insert_with(|| {
                Box::new(LinkQueue::new(config, None, None, rate, |what| seed.stream(&format!("{category}.{what}"))))
            });
            queue.arrive(now, packet, &mut self.drops);
            self.timed |= queue.deadline() < Instant::NEVER;
            self.report(member, category, happenings);
            self.rotations[place].add(member);
        }
        let function = &self.functions[place];
        if function.backlog == 0 || function.contends || function.transmits {
            return;
        }
        let domain = self.domain_of(place / CATEGORIES);
        let (domain, access) = (self.domains[domain], self.accesses[category]);
        let function = &mut self.functions[place];
        function.joins(now, &domain, &access, self.phy.slot, &mut self.contention);
        self.access = self.access.min(function.instant(&domain, &access, self.phy.slot));
        self.contending.push(place);
    }

    fn deadline(&self) -> Instant {
        let own = match self.access.min(self.event) {
            u64::MAX => Instant::NEVER,
            nanos => Instant::from_nanos(nanos),
        };
        let own = own.min(self.leaves);
        if self.timed { own.min(self.queue_deadline()) } else { own }
    }

    fn on_timer(&mut self, now: Instant, happenings: &mut Happenings) {
        if self.timed {
            self.queue_timers(now, happenings);
        }
        while self.leaves <= now {
            let due = |node: &Node| !node.gone && node.leaves <= now;
            while let Some(station) = self.nodes.iter().position(due) {
                self.leave(now, station, happenings);
            }
            let left = self.nodes.iter().filter(|node| !node.gone);
            self.leaves = left.map(|node| node.leaves).min().unwrap_or(Instant::NEVER);
        }
        let at = now.nanos();
        if self.event <= at {
            let mut place = 0;
            while place < self.air.len() {
                if self.air[place].due > at {
                    place += 1;
                } else if self.air[place].answers {
                    self.answers(at, place);
                } else {
                    let exchange = self.air.remove(place);
                    self.ends_exchange(now, &exchange, happenings);
                }
            }
        }
        if self.access <= at {
            self.foresee();
            if self.access <= at {
                self.accesses(now, happenings);
            }
        }
        self.foresee();
    }

    fn waiting(&self, member: usize) -> u32 {
        self.directions[member].waiting
    }

    fn held(&self, member: usize) -> u32 {
        let direction = &self.directions[member];
        direction.waiting + direction.inside
    }

    fn empty(&mut self, now: Instant, given: &mut Vec<(usize, Packet)>) {
        if let Some(common) = &mut self.common {
            let mut hidden = Vec::new();
            for queue in &mut common.queues {
                empty_queue(queue, 0, now, &mut hidden);
            }
            given.extend(hidden.into_iter().map(|(_, packet)| common.aliases.restore(packet)));
        }
        for (member, direction) in self.directions.iter_mut().enumerate() {
            for tid in &mut direction.tids {
                given.extend(tid.ready.drain(..).map(|waiting| (member, waiting.packet)));
                let window = tid.window.drain(..).filter(|entry| entry.state != State::Lost);
                given.extend(window.map(|entry| (member, entry.packet)));
                if let Some(queue) = &mut tid.queue {
                    empty_queue(queue, member, now, given);
                }
            }
        }
    }

    fn counters(&self, member: usize) -> MemberCounters {
        self.directions[member].counters
    }

    fn capacity(&self, member: usize, from: Instant, to: Instant) -> Bytes {
        let direction = &self.directions[member];
        let seconds = to.since(from).seconds();
        let of = |index: u8| self.config.alone(&direction.phy, index, self.phy.sifs as f64);
        let bytes = mean_over(&self.config, &direction.phy, &direction.spec, (from, to), of) * seconds;
        Bytes::new(bytes as u64)
    }
}
