//! How a channel is made of its parameters and its members.

use std::collections::BTreeMap;

use super::access::{Domain, Function};
use super::air::Reception;
use super::channel::{Channel, mean_over};
use super::config::{BEST_EFFORT, CATEGORIES, VOICE, WifiConfig, WifiQueues};
use super::queues::{Aliases, QUANTUM, Rotation, of_station};
use super::tables::Phy;
use super::{Common, Direction, Node, Wifi};
use crate::medium::{MediumLaw, Member, MemberCounters};
use crate::queue::rounds::Rounds;
use crate::queue::{Capacity, LinkQueue, QueueConfig};
use fairwave_units::config::ConfigError;
use fairwave_units::random::{Seed, Stream};
use fairwave_units::units::{Instant, Rate};

impl WifiConfig {
    /// The access point: as given, or the one node that all members share.
    pub(super) fn base(&self, members: &[Member]) -> Result<String, ConfigError> {
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
    pub(super) fn is_uplink(&self, member: &Member) -> bool {
        match &self.access_point {
            Some(base) => member.to == *base,
            None => self.stations.contains_key(&member.from),
        }
    }

    /// Bytes of a packet in an aggregate, or alone.
    pub(super) fn on_air(&self, wire: u64, aggregated: bool) -> u64 {
        let bytes = wire + self.header.get();
        // A delimiter, and whole words (the subframes of an A-MPDU).
        if aggregated { 4 + bytes.next_multiple_of(4) } else { bytes }
    }

    pub(super) fn longest(&self) -> u64 {
        let most = self.standard.longest_aggregate();
        self.aggregation.bytes.map_or(most, |bytes| bytes.get().min(most))
    }

    pub(super) fn aggregates(&self, category: usize) -> bool {
        self.standard.aggregates() && self.aggregation.frames > 1 && (category != VOICE || self.aggregation.voice)
    }

    /// Bytes on the wire per second of one member alone, in packets of 1500 bytes of best effort, with so many nanoseconds between frames.
    pub(super) fn alone(&self, phy: &Phy, index: u8, gap: f64) -> f64 {
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
            let phy = self.phy(self.streams_of(name, uplink));
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
            receptions: vec![Reception::default(); if hears.is_empty() { 0 } else { nodes.len() }],
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
        let phy = self.phy(self.streams_of(station, uplink));
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
    let (first, last) = (known.first().unwrap_or(&"laptop"), known.last().unwrap_or(&"phone"));
    let example = match key {
        "stations" => format!("stations = {{ {first} = {{ channel = {{ snr = 20.0 }} }} }}"),
        _ => format!("hears = {{ {first} = [\"{last}\"] }}"),
    };
    ConfigError::new(key, name, format!("the names of its stations ({})", known.join(", ")), example)
}

impl WifiConfig {
    /// Who hears whom, as rows; empty if all hear all.
    pub(super) fn audibility(&self, names: &BTreeMap<&str, usize>, base: &str) -> Result<Vec<bool>, ConfigError> {
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
