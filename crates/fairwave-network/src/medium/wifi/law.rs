//! Builds a channel from its parameters and its members.

use std::collections::BTreeMap;

use super::access::{Domain, Function};
use super::air::Reception;
use super::channel::{Channel, mean_over};
use super::config::{BEST_EFFORT, CATEGORIES, VOICE, WifiConfig, WifiQueues};
use super::queues::{Aliases, QUANTUM, Rotation, station_queue};
use super::tables::Phy;
use super::{Common, Direction, Node, Wifi};
use crate::medium::MediumLaw;
use crate::medium::interface::{Member, MemberCounters};
use crate::queue::rounds::Rounds;
use crate::queue::{Capacity, LinkQueue, QueueConfig};
use fairwave_units::config::ConfigError;
use fairwave_units::random::{Seed, Stream};
use fairwave_units::units::{Instant, Rate};

impl WifiConfig {
    /// The access points: as configured, or the one node that all members share.
    fn bases(&self, members: &[Member]) -> Result<Vec<String>, ConfigError> {
        let known = &self.access_points;
        if known.is_empty() {
            return Ok(vec![self.base(members)?]);
        }
        let refuse = |value: &str, allowed: String| {
            let example = "access-points = [\"left\", \"right\"]";
            Err(ConfigError::new("access-points", value, allowed, example))
        };
        let joins = |member: &&Member| known.contains(&member.from) != known.contains(&member.to);
        if let Some(other) = members.iter().find(|member| !joins(member)) {
            let list = known.join(", ");
            return refuse(
                &list,
                format!("one end of each link of the channel (`{}` has none or two of them)", other.name),
            );
        }
        let idle = |base: &&String| !members.iter().any(|member| member.from == **base || member.to == **base);
        match known.iter().find(idle) {
            Some(base) => refuse(base, "nodes with links of the channel".to_owned()),
            None => Ok(known.clone()),
        }
    }

    /// The access point: as configured, or the one node that all members share.
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
            [] => {
                let allowed = "given: its links share no node. For several access points write `access-points`";
                refuse("missing".to_owned(), allowed)
            }
            _ => refuse("missing".to_owned(), "given: both ends of the only link could be it"),
        }
    }

    /// Whether a member is an uplink, even if the access point is not known.
    pub(super) fn is_uplink(&self, member: &Member) -> bool {
        match &self.access_point {
            Some(base) => member.to == *base,
            None if !self.access_points.is_empty() => self.access_points.contains(&member.to),
            None => self.stations.contains_key(&member.from),
        }
    }

    /// Size of a packet on the air, in an aggregate or alone, bytes.
    pub(super) fn on_air(&self, wire: u64, aggregated: bool) -> u64 {
        let bytes = wire + self.header.get();
        // A delimiter and padding to whole words (the subframes of an A-MPDU).
        if aggregated { 4 + bytes.next_multiple_of(4) } else { bytes }
    }

    pub(super) fn longest(&self) -> u64 {
        let most = self.standard.longest_aggregate();
        self.aggregation.bytes.map_or(most, |bytes| bytes.get().min(most))
    }

    pub(super) fn aggregates(&self, category: usize) -> bool {
        self.standard.aggregates() && self.aggregation.frames > 1 && (category != VOICE || self.aggregation.voice)
    }

    /// Bytes on the wire per second of one member alone, with best-effort packets of 1500 bytes and `gap` nanoseconds
    /// between frames.
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
        let bases = self.bases(members)?;
        let common_phy = self.phy(self.streams);
        let accesses = self.accesses(&common_phy);
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let node = |base: usize| Node { base, down: None, up: None, leaves: Instant::NEVER, gone: false };
        let mut nodes: Vec<Node> = (0..bases.len()).map(node).collect();
        names.extend(bases.iter().enumerate().map(|(place, base)| (base.as_str(), place)));
        let mut directions = Vec::new();
        let mut shared: Vec<Option<QueueConfig>> = vec![None; bases.len()];
        let nominal: Vec<Rate> = members.iter().map(|member| self.nominal(member)).collect();
        for (place, member) in members.iter().enumerate() {
            let uplink = bases.contains(&member.to);
            let (name, other) = if uplink { (&member.from, &member.to) } else { (&member.to, &member.from) };
            let base = names[other.as_str()];
            let station = *names.entry(name.as_str()).or_insert(nodes.len());
            if station == nodes.len() {
                let leaves = self.stations.get(name).and_then(|own| own.leaves);
                let leaves = leaves.map_or(Instant::NEVER, |leaves| Instant::ZERO + leaves);
                nodes.push(Node { leaves, ..node(base) });
            }
            let known = nodes[station].base;
            let own = if uplink { &mut nodes[station].up } else { &mut nodes[station].down };
            if own.replace(place).is_some() || known != base {
                let (value, allowed) = match known == base {
                    true => {
                        (format!("two of `{}`", member.name), format!("at most one link from `{other}` to `{name}`"))
                    }
                    false => {
                        let both = format!("`{name}` to `{}` and to `{other}`", bases[known]);
                        (both, "one access point for each station".to_owned())
                    }
                };
                return Err(ConfigError::new("links", value, allowed, "stations with a link each"));
            }
            let stream = |what: &str| streams(&format!("{}.{what}", member.name));
            let queue = match self.queues {
                _ if uplink => Some(member.queue.clone()),
                WifiQueues::FqCodel | WifiQueues::Airtime => Some(station_queue()),
                WifiQueues::Fifo => {
                    shared[base] = Some(joined(shared[base].take(), member)?);
                    None
                }
            };
            let phy = self.phy(self.streams_of(name, uplink));
            let (node, peer) = if uplink { (station, base) } else { (base, station) };
            directions.push(Direction {
                node,
                peer,
                station,
                channel: Channel::new(self, &phy, self.channel_of(name, uplink), stream),
                spec: self.channel_of(name, uplink).clone(),
                queue,
                seed: Seed(stream("queue").uniform_below(u64::MAX)),
                phy,
                tids: Default::default(),
                counters: MemberCounters::default(),
                waiting: 0,
                inside: 0,
            });
        }
        let hears = self.audibility(&names, &nodes, &bases)?;
        let station = |name: &str| names.get(name).is_some_and(|node| *node >= bases.len());
        if let Some(unknown) = self.stations.keys().find(|name| !station(name)) {
            return Err(unknown_station("stations", unknown, &names, &bases));
        }
        let rate = nominal.iter().copied().max().unwrap_or(Rate::from_bits_per_second(1));
        let common = |(base, config): (&String, Option<QueueConfig>)| {
            let config = config?;
            let queue = |category: usize| {
                LinkQueue::new(&config, None, None, rate, |what| streams(&format!("{base}.{category}.{what}")))
            };
            let queues = std::array::from_fn(queue);
            Some(Box::new(Common { queues, driver: [0; CATEGORIES], aliases: Aliases::default() }))
        };
        let commons: Vec<Option<Box<Common>>> = bases.iter().zip(shared).map(common).collect();
        let functions: Vec<Function> = (0..nodes.len() * CATEGORIES)
            .map(|place| {
                let category = place % CATEGORIES;
                Function::new((place / CATEGORIES) as u32, category as u8, &accesses[category])
            })
            .collect();
        let rotation = |place: usize| match self.queues {
            WifiQueues::Airtime if place < bases.len() * CATEGORIES => {
                Rotation::Airtime(Rounds::new(members.len(), QUANTUM))
            }
            _ => Rotation::turns(members.len()),
        };
        Ok(Wifi {
            longest: self.longest(),
            bases: bases.len(),
            rotations: (0..functions.len()).map(rotation).collect(),
            timed: (commons.iter().flatten())
                .any(|common| common.queues.iter().any(|queue| queue.deadline() < Instant::NEVER)),
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
            commons,
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

/// The common queue of links with the same discipline: the one with the largest buffer.
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

fn unknown_station(key: &str, name: &str, names: &BTreeMap<&str, usize>, bases: &[String]) -> ConfigError {
    let station = |known: &&str| !bases.iter().any(|base| base == *known);
    let known: Vec<&str> = names.keys().copied().filter(station).collect();
    let (first, last) = (known.first().unwrap_or(&"laptop"), known.last().unwrap_or(&"phone"));
    let example = match key {
        "stations" => format!("stations = {{ {first} = {{ channel = {{ snr = 20.0 }} }} }}"),
        _ => format!("hears = {{ {first} = [\"{last}\"] }}"),
    };
    let all: Vec<&str> = names.keys().copied().collect();
    let allowed = match (key, bases.len()) {
        ("stations", _) | (_, 1) => format!("the names of its stations ({})", known.join(", ")),
        _ => format!("the names of its nodes ({})", all.join(", ")),
    };
    ConfigError::new(key, name, allowed, example)
}

impl WifiConfig {
    /// Which node hears which, as rows; empty if all nodes hear each other. An access point and its stations always hear
    /// each other.
    fn audibility(
        &self,
        names: &BTreeMap<&str, usize>,
        nodes: &[Node],
        bases: &[String],
    ) -> Result<Vec<bool>, ConfigError> {
        let count = nodes.len();
        let mut hears = vec![true; count * count];
        for (name, heard) in &self.hears {
            // A single access point hears all stations.
            let Some(own) = names.get(name.as_str()).filter(|own| **own > 0 || bases.len() > 1) else {
                return Err(unknown_station("hears", name, names, bases));
            };
            for other in 0..count {
                let related = nodes[other].base == *own || nodes[*own].base == other;
                hears[own * count + other] = other == *own || related;
            }
            for other in heard {
                let Some(other) = names.get(other.as_str()) else {
                    return Err(unknown_station(&format!("hears.{name}"), other, names, bases));
                };
                hears[own * count + other] = true;
            }
        }
        Ok(if hears.iter().all(|own| *own) { Vec::new() } else { hears })
    }
}
