//! Nodes and link directions of a plan, and the buffers that depend on the flows.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use fairwave_core::config::ConfigError;
use fairwave_core::link::{self, Changes, RateConfig};
use fairwave_core::loss::LossConfig;
use fairwave_core::queue::{Capacity, PoliceConfig, QueueConfig, ShapeConfig};
use fairwave_core::random::Seed;
use fairwave_core::units::{Rate, Span};
use indexmap::IndexSet;

use crate::cost;
use crate::direction::Direction;
use crate::error::Problem;
use crate::law::{BandwidthDelay, LawTable};
use crate::model::{Link, Scenario};
use crate::path::Path;
use crate::plan::{LinkPlan, MediumPlan};
use crate::ranges::join_dotted;
use crate::rate::WrittenRate;
use crate::route::Edge;
use crate::suggest::nearest;
use crate::template::Template;
use crate::values::FixedOrSpread;

/// Properties of a link direction that are known before the flows.
struct DirectionProperties {
    /// Index of the link in the scenario, and whether this is its reverse direction.
    link: usize,
    back: bool,
    /// The rate; for a rate law, its nominal rate.
    rate: Rate,
    /// The law's highest rate.
    highest: Rate,
    /// Rate and delay at the middle of their ranges. They determine the buffer size.
    nominal_rate: Rate,
    nominal_delay: Span,
}

/// How flows use a link direction.
#[derive(Clone, Copy, Default)]
pub(crate) struct DirectionUse {
    /// Number of flows whose data or feedback crosses the direction.
    pub flows: u64,
    /// Average number of flows that share the direction at the same time. It determines each flow's share.
    pub sharers: f64,
    /// Sum of the flows' nominal round-trip times.
    pub round_trips: Span,
    /// The flows' largest packet, bytes on the wire.
    pub largest_packet: u64,
}

/// Nodes and link directions of a scenario after expansion of its presets.
#[derive(Default)]
pub(crate) struct NetworkGraph {
    names: IndexSet<String, BuildHasherDefault<Fnv>>,
    directions: Vec<DirectionProperties>,
    edges: Vec<Edge>,
}

/// FNV-1a. For the short names of hundreds of thousands of hosts it is several times as fast as the standard hash.
/// Lookups alone use it, so the hash order affects no result.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl NetworkGraph {
    fn node(&mut self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| self.names.insert_full(name.to_owned()).0)
    }

    /// Index of a node by name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.get_index_of(name)
    }

    /// Index of a node whose index is probably `guess`: hosts of one template usually follow each other.
    pub fn find_at(&self, guess: usize, name: &str) -> Option<usize> {
        if self.name(guess) == name { Some(guess) } else { self.find(name) }
    }

    /// The node with the most similar name.
    pub fn nearest_node(&self, name: &str) -> Option<&str> {
        nearest(name, self.names.iter().take(10_000).map(String::as_str))
    }

    /// The name of a node.
    pub fn name(&self, node: usize) -> &str {
        self.names.get_index(node).map_or("", String::as_str)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.names.len()
    }

    /// The link directions as edges for routing.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The highest rate of a link direction.
    pub fn highest_rate(&self, direction: usize) -> Rate {
        self.directions.get(direction).map_or(Rate::default(), |direction| direction.highest.max(direction.rate))
    }

    /// The sum of nominal delays along a route.
    pub fn nominal_delay(&self, route: &[usize]) -> Span {
        route.iter().filter_map(|link| self.directions.get(*link)).fold(Span::ZERO, |sum, d| sum + d.nominal_delay)
    }

    /// Adds all links of the template `link`. `index` is its index in the scenario.
    pub fn add(&mut self, index: usize, link: &Link, seed: Seed) {
        let (Ok(from_name), Ok(to_name)) = (Template::parse(&link.from), Template::parse(&link.to)) else { return };
        let stream = |from: &str, to: &str, what: &str| seed.stream(&format!("link.{from}>{to}.{what}"));
        let (mut delays, mut rates) = (stream(&link.from, &link.to, "delay"), stream(&link.from, &link.to, "rate"));
        let (mut back_delays, mut back_rates) =
            (stream(&link.to, &link.from, "delay"), stream(&link.to, &link.from, "rate"));
        let (there, back) = (link.spec.direction(false), link.spec.direction(true));
        let own = link.spec.reverse.as_ref();
        let (own_rate, own_delay) =
            (own.is_some_and(|own| own.rate.is_some()), own.is_some_and(|own| own.delay.is_some()));
        let rate_of = |direction: &Direction| {
            direction.rate.as_ref().map_or(FixedOrSpread::Fixed(Rate::default()), WrittenRate::nominal)
        };
        // Each link of the template has a separate constant rate, so only laws have a common highest rate.
        let highest_of = |direction: &Direction| match &direction.rate {
            Some(law @ WrittenRate::Law(_)) => law.highest(),
            _ => Rate::default(),
        };
        let (highest, highest_back) = (highest_of(&there), highest_of(&back));
        let (rate, delay) = (rate_of(&there), there.delay());
        let (back_rate, back_delay) = (rate_of(&back), back.delay());
        let count = link.count as usize;
        let directions = if link.duplex { count * 2 } else { count };
        self.directions.reserve(directions);
        self.edges.reserve(directions);
        self.names.reserve([&from_name, &to_name].into_iter().map(|name| if name.varies() { count } else { 1 }).sum());
        let mut name = String::new();
        for i in 0..link.count {
            from_name.render(i, &mut name);
            let from = self.node(&name);
            to_name.render(i, &mut name);
            let to = self.node(&name);
            let (own, way) = (rate.value(i, link.count, &mut rates), delay.value(i, link.count, &mut delays));
            let there = DirectionProperties {
                link: index,
                back: false,
                rate: own,
                highest,
                nominal_rate: rate.middle(),
                nominal_delay: delay.middle(),
            };
            self.add_direction(from, to, way, there);
            if link.duplex {
                let back = DirectionProperties {
                    link: index,
                    back: true,
                    highest: highest_back,
                    rate: if own_rate { back_rate.value(i, link.count, &mut back_rates) } else { own },
                    nominal_rate: back_rate.middle(),
                    nominal_delay: back_delay.middle(),
                };
                let way = if own_delay { back_delay.value(i, link.count, &mut back_delays) } else { way };
                self.add_direction(to, from, way, back);
            }
        }
    }

    fn add_direction(&mut self, from: usize, to: usize, delay: Span, direction: DirectionProperties) {
        self.directions.push(direction);
        self.edges.push(Edge { from, to, delay });
    }

    /// Reports links that join two nodes twice, or a node to itself: routes and names identify links by their ends.
    pub fn check_ends(&self, place_of_link: &dyn Fn(usize) -> Path, problems: &mut Vec<Problem>) {
        // Usually there is no error. Then the edges need no sorting.
        let mut seen: HashSet<u64, BuildHasherDefault<Fnv>> =
            HashSet::with_capacity_and_hasher(self.edges.len(), BuildHasherDefault::default());
        let is_new = |edge: &Edge| edge.from != edge.to && seen.insert(((edge.from as u64) << 32) | edge.to as u64);
        if self.edges.iter().all(is_new) {
            return;
        }
        let mut ends: Vec<(usize, usize, usize)> =
            self.edges.iter().enumerate().map(|(index, edge)| (edge.from, edge.to, index)).collect();
        ends.sort_unstable();
        let mut reported = BTreeSet::new();
        let doubled = ends.windows(2).filter_map(|pair| match pair {
            [first, second] => ((first.0, first.1) == (second.0, second.1)).then_some(*second),
            _ => None,
        });
        for (from, to, index) in doubled.chain(ends.iter().copied().filter(|(from, to, _)| from == to)) {
            let Some(direction) = self.directions.get(index) else { continue };
            if reported.insert(direction.link) {
                let what = match from == to {
                    true => format!("`{}` is joined to itself", self.name(from)),
                    false if direction.back => {
                        format!("`{}` and `{}` are joined twice", self.name(to), self.name(from))
                    }
                    false => format!("`{}` and `{}` are joined twice", self.name(from), self.name(to)),
                };
                let help = "remove the link; in templates, number the nodes so that all names differ";
                problems.push(Problem::new(place_of_link(direction.link), what).help(help));
            }
        }
    }

    /// Returns the names of the nodes, and the link directions with buffers sized for their flows.
    pub fn finish(
        self,
        scenario: &Scenario,
        media: &[MediumPlan],
        uses: &[DirectionUse],
        place_of_link: &dyn Fn(usize) -> Path,
        problems: &mut Vec<Problem>,
    ) -> (Vec<String>, Vec<LinkPlan>) {
        let mut plans = Vec::with_capacity(self.directions.len());
        let mut configured: Vec<TemplateProperties> = Vec::with_capacity(scenario.links.len() * 2);
        for (index, link) in scenario.links.iter().enumerate() {
            for back in [false, true] {
                match TemplateProperties::new(link, back, &place_of_link(index)) {
                    Ok(direction) => configured.push(direction),
                    Err(problem) => {
                        problems.push(*problem);
                        return (self.names.into_iter().collect(), plans);
                    }
                }
            }
        }
        // Each link has two directions here, and one of them may be absent.
        let (mut room, mut changes) = (cost::QueueMemory::default(), 0.0);
        for (own, link) in
            configured.iter().zip(scenario.links.iter().flat_map(|link| [Some(link), link.duplex.then_some(link)]))
        {
            let Some(link) = link else { continue };
            let (packets, lists) = own.places_in_advance();
            room.add(link.count, packets, lists);
            changes += link.count as f64 * cost::changes_of(&own.loss, scenario.duration);
            if let Err(problem) = room.check(&own.at).and_then(|()| cost::check_changes(changes, &own.at)) {
                problems.push(*problem);
                return (self.names.into_iter().collect(), plans);
            }
        }
        let mut name = String::new();
        for ((direction, edge), used) in self.directions.iter().zip(&self.edges).zip(uses) {
            let Some(own) = configured.get_mut(direction.link * 2 + usize::from(direction.back)) else { continue };
            let queue = match own.queue(direction, used) {
                Ok(queue) => queue,
                Err(problem) => {
                    if !problems.contains(&problem) {
                        problems.push(*problem);
                    }
                    continue;
                }
            };
            let end = |node: usize| self.names.get_index(node).map_or("", String::as_str);
            name.clear();
            [end(edge.from), ">", end(edge.to)].into_iter().for_each(|part| name.push_str(part));
            if let Err(problem) = cost::check_buffer(most_waiting(&queue), &name, &own.at) {
                problems.push(*problem);
                return (self.names.into_iter().collect(), plans);
            }
            plans.push(LinkPlan {
                name: name.as_str().into(),
                from: edge.from,
                to: edge.to,
                direction: own.direction(direction.rate, edge.delay, queue),
                medium: own.medium.as_ref().and_then(|medium| media.iter().position(|plan| plan.name == *medium)),
            });
        }
        (self.names.into_iter().collect(), plans)
    }
}

/// Properties common to all directions of one template. Computed once per template, because a template can have 100 000
/// links.
struct TemplateProperties {
    at: Path,
    /// The rate's law. `None` if each direction has a separate constant rate.
    rate: Option<RateConfig>,
    medium: Option<String>,
    queue: LawTable<QueueConfig>,
    buffer: Option<BandwidthDelay>,
    police: Option<PoliceConfig>,
    shape: Option<ShapeConfig>,
    loss: LossConfig,
    changes: Changes,
    /// The queue's configuration per buffer size in packets. The key is `None` if the scenario gives the size.
    sized: BTreeMap<Option<u32>, QueueConfig>,
    /// The buffer size and link rate of the last successful check of the queue's configuration.
    checked: Option<(Option<u32>, Rate)>,
    /// The previous direction and its constant rate. Most directions equal the previous one and share it.
    latest: Option<(Rate, Arc<link::Direction>)>,
}

impl TemplateProperties {
    fn new(link: &Link, back: bool, at: &Path) -> Result<Self, Box<Problem>> {
        let direction = link.spec.direction(back);
        let refused = |key: &str, error: serde_json::Error| Problem::new(at.key(key), error.to_string());
        let rate = direction.rate.as_ref().map(WrittenRate::law).transpose().map_err(|error| refused("rate", error))?;
        let loss = direction.loss().resolve().map_err(|error| refused("loss", error))?;
        let queue = direction.queue();
        let buffer = queue.bandwidth_delay();
        Ok(TemplateProperties {
            at: at.key("queue"),
            rate: rate.flatten(),
            medium: direction.medium.clone(),
            queue,
            buffer,
            police: direction.police.clone(),
            shape: direction.shape.clone(),
            loss,
            changes: direction.changes(),
            sized: BTreeMap::new(),
            checked: None,
            latest: None,
        })
    }

    /// Number of packets for which the queue reserves memory in advance, and its number of packet lists.
    fn places_in_advance(&self) -> (u64, u64) {
        let queue = match self.buffer {
            Some(buffer) => self.queue.with_packets(buffer.at_least_packets),
            None => self.queue.resolve(),
        };
        match queue {
            Ok(queue) if queue.is_fifo_tail() => (0, 0),
            Ok(queue) => (most_waiting(&queue), queue.discipline.lists()),
            Err(_) => (0, 0),
        }
    }

    /// Returns the configuration of a direction. Reuses the previous direction's if both are equal.
    fn direction(&mut self, rate: Rate, delay: Span, queue: QueueConfig) -> Arc<link::Direction> {
        if let Some((known, latest)) = &self.latest
            && *known == rate
            && latest.delay == delay
            && latest.queue == queue
        {
            return Arc::clone(latest);
        }
        let made = Arc::new(link::Direction {
            rate: self.rate.clone().unwrap_or_else(|| rate.into()),
            delay,
            queue,
            police: self.police.clone(),
            shape: self.shape.clone(),
            loss: self.loss.clone(),
            changes: self.changes.clone(),
        });
        self.latest = Some((rate, Arc::clone(&made)));
        made
    }

    fn queue(&mut self, direction: &DirectionProperties, used: &DirectionUse) -> Result<QueueConfig, Box<Problem>> {
        let slowed =
            self.shape.as_ref().map_or(direction.nominal_rate, |shape| shape.rate.rate_on(direction.nominal_rate));
        let packets =
            self.buffer.map(|buffer| buffer_packets(&buffer, slowed.min(direction.nominal_rate), direction, used));
        let queue = match self.sized.get(&packets) {
            Some(known) => known.clone(),
            None => {
                let queue = sized_queue(&self.queue, packets, &self.at)?;
                self.sized.insert(packets, queue.clone());
                queue
            }
        };
        if self.checked != Some((packets, direction.rate)) {
            check_sized(queue.check_before(direction.rate), packets, &self.at)?;
            self.checked = Some((packets, direction.rate));
        }
        match queue.capacity {
            Capacity::Bytes(bytes) if bytes < used.largest_packet => Err(Box::new(
                Problem::new(
                    self.at.key("capacity").key("bytes"),
                    format!(
                        "a buffer of {bytes} bytes cannot hold the packets of {} bytes that come here",
                        used.largest_packet
                    ),
                )
                .allowed(format!("{} bytes or more", used.largest_packet))
                .help(format!("write for example `capacity = {{ bytes = {} }}`", used.largest_packet * 50)),
            )),
            _ => Ok(queue),
        }
    }
}

/// See [`BandwidthDelay`].
fn buffer_packets(buffer: &BandwidthDelay, rate: Rate, direction: &DirectionProperties, used: &DirectionUse) -> u32 {
    let round_trip = buffer.round_trip.unwrap_or(match used.flows {
        0 => direction.nominal_delay * 2,
        flows => used.round_trips / flows,
    });
    let product = rate.bytes_in(round_trip).get() as f64 * buffer.bdp / buffer.packet.get() as f64;
    // The conversion from floating point saturates.
    (libm::round(product) as u32).max(buffer.at_least_packets)
}

/// The queue's configuration with a buffer of `packets`.
fn sized_queue(written: &LawTable<QueueConfig>, packets: Option<u32>, at: &Path) -> Result<QueueConfig, Box<Problem>> {
    let queue = match packets {
        Some(packets) => written.with_packets(packets),
        None => written.resolve(),
    };
    Ok(queue.map_err(|error| Problem::new(at.clone(), error.to_string()))?)
}

/// Reports parameters that the queue rejects now that buffer size and link rate are known.
fn check_sized(checked: Result<(), ConfigError>, packets: Option<u32>, at: &Path) -> Result<(), Box<Problem>> {
    let Err(ConfigError { key, value, allowed, example }) = checked else { return Ok(()) };
    let place = join_dotted(at, &key);
    let sized = packets.map_or_else(String::new, |packets| format!(" in a buffer of {packets} packets"));
    let problem = Problem::new(place, format!("`{key}` is {value}{sized}")).allowed(allowed);
    Err(Box::new(problem.help(format!("write for example `{example}`"))))
}

/// Maximum number of packets in a queue. The smallest packets are acknowledgements of 40 bytes.
fn most_waiting(queue: &QueueConfig) -> u64 {
    match queue.capacity {
        Capacity::Packets(packets) => u64::from(packets),
        Capacity::Bytes(bytes) => bytes / 40,
    }
}
