//! A Wi-Fi channel (IEEE 802.11): access points and their stations, each of which transmits when its backoff is over.
//!
//! Each link direction between an access point and a station is a member. A node has four access categories (EDCA), or one (DCF); an
//! access point sends to all its stations by the same ones.
//!
//! **Access** (`access`, `air`). Backoffs count idle slots. Two that end in the same slot collide; then windows double, and after `retry-limit`
//! attempts a packet is lost. Within a node the more urgent category wins and the other behaves as after a collision.
//!
//! **Frames** (`frames`, `tables`, `channel`). A frame takes its preamble and whole symbols; the acknowledgement follows after SIFS at a basic rate.
//! Packets of an aggregate fail one by one, and those that failed are sent again in the next one; the receiver delivers in order.
//!
//! **Queues** (`queues`, `holding`). Packets wait at stations as their links say, by category; at the access point in one queue for all stations and the
//! driver's buffer, or per station, in turn by frames or by airtime.
//!
//! **No slot has an event.** A frame exchange has three: its begin, the end of the data, when packets arrive, and its end. With hidden
//! stations each of its frames has two. The next access is the least of the backoffs' ends, in one pass over the nodes that contend.
//!
//! **Hidden stations.** Each node senses the frames of the nodes that it hears. A node that receives a frame, because no other frame overlaps
//! there, waits until the announced end of the exchange (NAV). It resets this NAV after an RTS without an answer. A node that
//! receives a broken frame waits for EIFS.
//!
//! **Assumptions.** Power save is off. Control frames fail by collisions only; an acknowledgement that fails counts as a failed attempt, but
//! what it acknowledged is not sent again. No capture: of frames that overlap at a receiver none arrives. A collision among nodes that
//! all hear each other keeps the air busy for the longest of its frames. A frame announces the time to its own acknowledgement only. Nodes whose accesses are less than 4 µs apart do not sense each other. Frames of a TXOP are put together at the end of
//! the one before. Queues per station hand packets over when their frame begins; the hardware holds none. Neighbouring channels do
//! not exist. Stations of several generations on one channel are not told apart.

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

use super::{Happenings, Medium, MemberCounters, empty_queue};
use crate::packet::Packet;
use crate::queue::{DropReason, LinkQueue, QueueConfig};
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
    /// Its access point's number, or its own.
    base: usize,
    /// Its member from the access point, and that to it.
    down: Option<usize>,
    up: Option<usize>,
    /// When it leaves.
    leaves: Instant,
    gone: bool,
}

/// What is common to all stations at an access point.
struct Common {
    queues: [LinkQueue; CATEGORIES],
    /// Packets in the driver, by category.
    driver: [u32; CATEGORIES],
    aliases: Aliases,
}

/// The frame of an exchange that is on the air, or comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// RTS, and the CTS that answers.
    Request,
    Clearance,
    Data,
    Acknowledgement,
    /// No frame follows: the sender waits for the end.
    Over,
}

/// A frame exchange, times in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    function: usize,
    member: usize,
    index: u8,
    ratio: f64,
    packets: u32,
    start: u64,
    /// End of its first frame: of RTS, or of the data.
    open: u64,
    /// End of the data, when its packets arrive.
    arrives: u64,
    /// End of the acknowledgement.
    end: u64,
    /// Its next event.
    due: u64,
    phase: Phase,
    /// Since when the frame of this phase is on the air; none: it follows after SIFS. Only some nodes may sense it.
    since: Option<u64>,
    collided: bool,
    /// Packets that arrived.
    arrived: u32,
}

/// The channel at work.
pub struct Wifi {
    config: WifiConfig,
    phy: Phy,
    accesses: [Access; CATEGORIES],
    /// Most bytes of an aggregate.
    longest: u64,
    nodes: Vec<Node>,
    /// Access points are the first of the nodes.
    bases: usize,
    directions: Vec<Direction>,
    functions: Vec<Function>,
    rotations: Vec<Rotation>,
    /// By access point; none: each station has queues of its own there.
    commons: Vec<Option<Box<Common>>>,
    /// One for all, or one for each node if some do not hear each other.
    domains: Vec<Domain>,
    /// `hears[a * nodes + b]`: a hears b. Empty: all hear all.
    hears: Vec<bool>,
    /// What each node receives, if some do not hear each other.
    receptions: Vec<Reception>,
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

impl Wifi {
    fn hears(&self, own: usize, other: usize) -> bool {
        self.hears.is_empty() || self.hears[own * self.nodes.len() + other]
    }

    fn domain_of(&self, node: usize) -> usize {
        if self.hears.is_empty() { 0 } else { node }
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
        if let Some(common) = self.commons.get_mut(direction.node).and_then(Option::as_mut) {
            let hidden = common.aliases.hide(member, packet);
            common.queues[category].arrive(now, &hidden, &mut self.drops);
            self.timed |= common.queues[category].deadline() < Instant::NEVER;
            self.report_common(place, happenings);
            self.pull(now, place, happenings);
        } else if let Some(config) = &direction.queue {
            let (seed, rate) = (direction.seed, self.nominal[member]);
            let queue = direction.tids[category].queue.get_or_insert_with(|| {
                Box::new(LinkQueue::new(config, None, None, rate, |what| seed.stream(&format!("{category}.{what}"))))
            });
            queue.arrive(now, &packet, &mut self.drops);
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
        // Among nodes that all hear each other the end of the data changes no backoff.
        let mut moves = self.timed || !self.hears.is_empty() || self.leaves <= now;
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
                } else if self.air[place].phase == Phase::Over {
                    let exchange = self.air.remove(place);
                    self.ends_exchange(now, &exchange, happenings);
                    moves = true;
                } else {
                    self.goes_on(at, place, happenings);
                }
            }
        }
        if self.access <= at {
            self.foresee_access();
            if self.access <= at {
                self.accesses(now, happenings);
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

    fn empty(&mut self, now: Instant, given: &mut Vec<(usize, Packet)>) {
        for common in self.commons.iter_mut().flatten() {
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
