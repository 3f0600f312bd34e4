//! A Wi-Fi channel (IEEE 802.11) with access points and their stations. Each node transmits when its backoff ends.
//!
//! Each link direction between an access point and a station is a member. A node has four access categories (EDCA), or one
//! (DCF). An access point uses the same categories for all its stations.
//!
//! **Access** (`access`, `air`). Backoffs count idle slots. Two backoffs that end in the same slot collide. The windows then
//! double, and after `retry-limit` attempts a packet is lost. Within a node the more urgent category wins, and the other
//! behaves as after a collision.
//!
//! **Frames** (`frames`, `tables`, `channel`). A frame takes its preamble and whole symbols; the acknowledgement follows
//! after SIFS at a basic rate. Packets of an aggregate fail independently. Failed packets are sent again in the next
//! aggregate; the receiver delivers in order.
//!
//! **Queues** (`queues`, `holding`). At stations, packets wait by category, in the queues of their links. At the access
//! point, they wait in one queue for all stations and in the driver's buffer, or in one queue per station. Queues per
//! station take turns by frames or by airtime.
//!
//! **Slots have no events.** A frame exchange has three events: its start, the end of the data, at which packets arrive, and
//! its end. With hidden stations, each of its frames has two. The next access is the earliest end of a backoff, found in one
//! pass over the contending nodes.
//!
//! **Hidden stations.** Each node senses the frames of the nodes that it hears. A node that receives a frame without overlap
//! waits until the announced end of the exchange (NAV). It resets this NAV after an RTS without a response. A node that
//! receives a broken frame waits for EIFS.
//!
//! **Assumptions.** Power save is off. Control frames fail only by collisions. A failed acknowledgement counts as a failed
//! attempt, but the acknowledged packets are not sent again. No capture: if frames overlap at a receiver, none of them
//! arrives. A collision among nodes that all hear each other keeps the air busy for the longest of its frames. A frame
//! announces only the time until its acknowledgement. Nodes whose accesses are less than 4 µs apart do not sense each other.
//! Each frame of a TXOP is assembled at the end of the previous one. Queues per station release packets when their frame
//! begins; the hardware holds none. There are no neighbouring channels. All stations of a channel belong to the same
//! generation.

mod access;
mod air;
mod channel;
mod config;
mod frames;
mod holding;
mod law;
mod queues;
mod tables;
#[cfg(test)]
mod tests;

pub use config::{
    WifiAggregation, WifiBand, WifiCategories, WifiCategory, WifiChannel, WifiConfig, WifiMapping, WifiPathLoss,
    WifiQueues, WifiRateControl, WifiStation,
};
pub use tables::WifiStandard;

use access::{Domain, Function};
use air::Reception;
use channel::{Channel, mean_over};
use config::{Access, BEST_EFFORT, CATEGORIES};
use queues::{Aliases, Rotation, State, Tid, category};
use tables::Phy;

use super::interface::{Medium, MediumOutcomes, MemberCounters, drain_queue};
use crate::packet::Packet;
use crate::queue::{DropReason, LinkQueue, QueueConfig};
use fairwave_units::random::{Seed, Stream};
use fairwave_units::units::{Bytes, Instant, Rate};

/// One direction of a link.
struct Direction {
    /// Transmitter and receiver, and which of them is the station.
    node: usize,
    peer: usize,
    station: usize,
    channel: Channel,
    phy: Phy,
    /// Configuration of the channel.
    spec: WifiChannel,
    /// The queue; `None` for the access point's common queue.
    queue: Option<QueueConfig>,
    seed: Seed,
    tids: [Tid; CATEGORIES],
    counters: MemberCounters,
    /// Waiting packets, and packets that have begun and are neither delivered nor lost.
    waiting: u32,
    inside: u32,
}

/// A node of the channel.
struct Node {
    /// Node number of its access point; for an access point, of itself.
    base: usize,
    /// Its members from and to the access point.
    down: Option<usize>,
    up: Option<usize>,
    /// Time at which it leaves.
    leaves: Instant,
    gone: bool,
}

/// State that all stations at an access point share.
struct Common {
    queues: [LinkQueue; CATEGORIES],
    /// Packets in the driver, by category.
    driver: [u32; CATEGORIES],
    aliases: Aliases,
}

/// The frame of an exchange that is on the air or comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// RTS, and the CTS in response.
    Request,
    Clearance,
    Data,
    Acknowledgement,
    /// No further frame: the sender waits for the end.
    Over,
}

/// A frame exchange; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    function: usize,
    member: usize,
    index: u8,
    ratio: f64,
    packets: u32,
    start: u64,
    /// End of its first frame: of the RTS, or of the data.
    open: u64,
    /// End of the data, at which its packets arrive.
    arrives: u64,
    /// End of the acknowledgement.
    end: u64,
    /// Time of its next event.
    due: u64,
    phase: Phase,
    /// Start of the current frame; `None` if it follows after SIFS. Used if only some nodes sense it.
    since: Option<u64>,
    collided: bool,
    /// Packets that arrived.
    arrived: u32,
}

/// State of the channel.
pub struct Wifi {
    config: WifiConfig,
    phy: Phy,
    accesses: [Access; CATEGORIES],
    /// Maximum size of an aggregate, bytes.
    longest: u64,
    nodes: Vec<Node>,
    /// Number of access points. They are the first nodes.
    bases: usize,
    directions: Vec<Direction>,
    functions: Vec<Function>,
    rotations: Vec<Rotation>,
    /// By access point; `None` if each station has separate queues there.
    commons: Vec<Option<Box<Common>>>,
    /// One domain for all nodes, or one per node if some do not hear each other.
    domains: Vec<Domain>,
    /// `hears[a * nodes + b]`: a hears b. Empty if all nodes hear each other.
    hears: Vec<bool>,
    /// Reception state per node, if some nodes do not hear each other.
    receptions: Vec<Reception>,
    /// Functions that contend.
    contending: Vec<usize>,
    air: Vec<Exchange>,
    /// Times of the next access, and of the next event of an exchange.
    access: u64,
    event: u64,
    /// Time at which the next station leaves.
    leaves: Instant,
    /// Whether a queue has a timer.
    timed: bool,
    nominal: Vec<Rate>,
    contention: Stream,
    errors: Stream,
    drops: Vec<(Packet, DropReason)>,
    winners: Vec<usize>,
}

impl Wifi {
    fn hears(&self, own: usize, other: usize) -> bool {
        self.hears.is_empty() || self.hears[own * self.nodes.len() + other]
    }

    fn domain_of(&self, node: usize) -> usize {
        if self.hears.is_empty() { 0 } else { node }
    }
}

impl Medium for Wifi {
    fn arrive(&mut self, now: Instant, member: usize, packet: Packet, outcomes: &mut MediumOutcomes) {
        let direction = &mut self.directions[member];
        if self.nodes[direction.station].gone {
            outcomes.dropped.push((member, packet, DropReason::Link));
            return;
        }
        let category = if self.config.edca { category(self.config.mapping, packet.dscp) } else { BEST_EFFORT };
        let place = direction.node * CATEGORIES + category;
        direction.waiting += 1;
        self.functions[place].backlog += 1;
        if let Some(common) = self.commons.get_mut(direction.node).and_then(Option::as_mut) {
            let hidden = common.aliases.hide(member, packet);
            common.queues[category].arrive(now, &hidden, &mut self.drops);
            self.timed |= common.queues[category].deadline() < Instant::NEVER;
            self.report_common(place, outcomes);
            self.pull(now, place, outcomes);
        } else if let Some(config) = &direction.queue {
            let (seed, rate) = (direction.seed, self.nominal[member]);
            let queue = direction.tids[category].queue.get_or_insert_with(|| {
                Box::new(LinkQueue::new(config, None, None, rate, |what| seed.stream(&format!("{category}.{what}"))))
            });
            queue.arrive(now, &packet, &mut self.drops);
            self.timed |= queue.deadline() < Instant::NEVER;
            self.report(member, category, outcomes);
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

    fn on_timer(&mut self, now: Instant, outcomes: &mut MediumOutcomes) {
        // Among nodes that all hear each other, the end of the data changes no backoff.
        let mut moves = self.timed || !self.hears.is_empty() || self.leaves <= now;
        if self.timed {
            self.queue_timers(now, outcomes);
        }
        while self.leaves <= now {
            let due = |node: &Node| !node.gone && node.leaves <= now;
            while let Some(station) = self.nodes.iter().position(due) {
                self.leave(now, station, outcomes);
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
                } else if self.air[place].phase == Phase::Over {
                    let exchange = self.air.remove(place);
                    self.ends_exchange(now, &exchange, outcomes);
                    moves = true;
                } else {
                    self.goes_on(at, place, outcomes);
                }
            }
        }
        if self.access <= at {
            self.foresee_access();
            if self.access <= at {
                self.accesses(now, outcomes);
            }
            moves = true;
        }
        if moves {
            self.foresee_access();
        }
        self.event = self.air.iter().map(|exchange| exchange.due).min().unwrap_or(u64::MAX);
    }

    fn waiting(&self, member: usize) -> u32 {
        self.directions[member].waiting
    }

    fn held(&self, member: usize) -> u32 {
        let direction = &self.directions[member];
        direction.waiting + direction.inside
    }

    fn drain(&mut self, now: Instant, given: &mut Vec<(usize, Packet)>) {
        for common in self.commons.iter_mut().flatten() {
            let mut hidden = Vec::new();
            for queue in &mut common.queues {
                drain_queue(queue, 0, now, &mut hidden);
            }
            given.extend(hidden.into_iter().map(|(_, packet)| common.aliases.restore(packet)));
        }
        for (member, direction) in self.directions.iter_mut().enumerate() {
            for tid in &mut direction.tids {
                given.extend(tid.ready.drain(..).map(|waiting| (member, waiting.packet)));
                let window = tid.window.drain(..).filter(|entry| entry.state != State::Lost);
                given.extend(window.map(|entry| (member, entry.packet)));
                if let Some(queue) = &mut tid.queue {
                    drain_queue(queue, member, now, given);
                }
            }
        }
    }

    fn counters(&self, member: usize) -> MemberCounters {
        self.directions[member].counters
    }

    fn capacity(&self, member: usize, from: Instant, to: Instant) -> Bytes {
        let direction = &self.directions[member];
        let seconds = to.span_since(from).seconds();
        let of = |index: u8| self.config.alone(&direction.phy, index, self.phy.sifs as f64);
        let bytes = mean_over(&self.config, &direction.phy, &direction.spec, (from, to), of) * seconds;
        Bytes::new(bytes as u64)
    }
}
