//! A tin: the flows of one level of service. Each flow has a queue; the queues take turns so that hosts get equal shares.
//!
//! Flows find their queue by a set-associative hash. Of the eight queues of a set, a flow takes the one with its tag, else
//! an unused one. Two flows share a queue only if all eight are in use. Deficit round robin serves the queues, new ones
//! first. A turn is worth a quantum divided by the number of flows in the round of the busier of the flow's two hosts.

use super::super::lists::{ListEnds, ListLinks, NIL, append, unlink};
use super::cobalt::{Cobalt, Settings};
use super::statistics::TinCounters;
use super::{Clock, Isolation};
use fairwave_units::units::{Instant, Span};

/// Number of queues per tin.
pub const QUEUES: u32 = 1024;
const WAYS: usize = 8;
/// Deficits count fractions of a byte, so that quanta can be divided.
const PARTS: i64 = 1 << 16;

/// List membership of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueState {
    /// Not in use.
    Idle,
    /// New: served first.
    Sparse,
    /// Found empty with its deficit used up: in the round, but counted with the sparse queues.
    Waiting,
    /// In the round.
    Bulk,
    /// Empty, until COBALT's state has decayed.
    Decaying,
}

#[derive(Clone, Debug)]
pub struct FlowQueue {
    links: ListLinks,
    pub stand: QueueState,
    deficit: i64,
    tag: u64,
    /// Sender and receiver.
    pub hosts: [u32; 2],
    pub cobalt: Cobalt,
}

/// State of a tin.
#[derive(Clone, Debug)]
pub struct Tin {
    pub set: Settings,
    /// Bytes per second; `None` without `bandwidth`.
    pub rate: Option<u64>,
    /// Time until which the tin has used up its rate.
    pub next: Instant,
    /// Bytes per turn of the tin, without `bandwidth`.
    pub quantum: i64,
    pub deficit: i64,
    /// Waiting packets.
    pub packets: u32,
    flow_quantum: i64,
    pub queues: Vec<FlowQueue>,
    fresh: ListEnds,
    round: ListEnds,
    decaying: ListEnds,
    sparse: u32,
    bulk: u32,
    /// Flows in the round, by host, as sender and as receiver.
    pub bulk_of: [Vec<u32>; 2],
    /// Counters for `tc`'s statistics.
    pub counters: TinCounters,
}

impl Tin {
    pub fn new(set: Settings, rate: Option<u64>, quantum: i64) -> Self {
        // The bytes of 1/4096 s, limited to 300 to 1514.
        let flow_quantum = rate.map_or(1514, |rate| (rate >> 12).clamp(300, 1514)) as i64;
        let queue = FlowQueue {
            links: ListLinks::NONE,
            stand: QueueState::Idle,
            deficit: 0,
            tag: u64::MAX,
            hosts: [0; 2],
            cobalt: Cobalt::default(),
        };
        Tin {
            set,
            rate,
            next: Instant::ZERO,
            quantum,
            deficit: 0,
            packets: 0,
            flow_quantum,
            queues: vec![queue; QUEUES as usize],
            fresh: ListEnds::EMPTY,
            round: ListEnds::EMPTY,
            decaying: ListEnds::EMPTY,
            sparse: 0,
            bulk: 0,
            bulk_of: [Vec::new(), Vec::new()],
            counters: TinCounters::default(),
        }
    }

    /// Whether it has flows to serve.
    pub fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// Numbers of new flows, of flows in the round, and of flows that BLUE drops.
    pub fn flows(&self) -> [u32; 3] {
        let unresponsive = self.queues.iter().filter(|queue| queue.cobalt.probability > 0.0).count();
        [self.sparse, self.bulk, unresponsive as u32]
    }

    /// Quantum of a flow's turn, bytes.
    pub fn quantum_of_flows(&self) -> u64 {
        self.flow_quantum.unsigned_abs()
    }

    fn count_bulk(&mut self, hosts: [u32; 2], up: bool) {
        for (counts, host) in self.bulk_of.iter_mut().zip(hosts) {
            if counts.len() <= host as usize {
                counts.resize(host as usize + 1, 0);
            }
            let count = &mut counts[host as usize];
            *count = if up { *count + 1 } else { count.saturating_sub(1) };
        }
    }

    /// The queue of a flow with this hash, between these hosts.
    pub fn queue_of(&mut self, hash: u64, hosts: [u32; 2]) -> u32 {
        let direct = (hash % u64::from(QUEUES)) as usize;
        if self.queues[direct].tag == hash && self.queues[direct].stand != QueueState::Idle {
            return direct as u32;
        }
        let set = direct - direct % WAYS;
        let ways = || (0..WAYS).map(move |way| set + (direct + way) % WAYS);
        let reserved = ways().find(|way| self.queues[*way].tag == hash);
        let idle = || ways().find(|way| self.queues[*way].stand == QueueState::Idle);
        let found = match (reserved, reserved.or_else(idle)) {
            (Some(way), _) => {
                self.counters.indirect_hits += u64::from(way != direct);
                way
            }
            (None, Some(way)) => {
                self.counters.misses += 1;
                way
            }
            (None, None) => {
                self.counters.collisions += 1;
                direct
            }
        };
        let FlowQueue { stand, hosts: before, .. } = self.queues[found];
        // A flow that takes over a used queue also replaces its hosts.
        if reserved.is_none() || stand == QueueState::Idle {
            if stand == QueueState::Bulk {
                self.count_bulk(before, false);
                self.count_bulk(hosts, true);
            }
            self.queues[found].hosts = hosts;
        }
        self.queues[found].tag = hash;
        found as u32
    }

    /// Handles the arrival of a packet in a queue.
    pub fn arrived(&mut self, queue: u32, isolation: Isolation) {
        self.packets += 1;
        let FlowQueue { stand, hosts, .. } = self.queues[queue as usize];
        match stand {
            QueueState::Idle | QueueState::Decaying => {
                self.queues[queue as usize].deficit = self.flow_quantum * PARTS / self.load(hosts, isolation);
                self.stands(queue, QueueState::Sparse);
            }
            QueueState::Waiting => self.stands(queue, QueueState::Bulk),
            QueueState::Sparse | QueueState::Bulk => {}
        }
    }

    /// Number of flows in the round of the busier of two hosts, if hosts share equally; at least 1.
    pub fn load(&self, hosts: [u32; 2], isolation: Isolation) -> i64 {
        let shared = isolation.shared();
        let of = |which: usize| self.bulk_of[which].get(hosts[which] as usize).copied().unwrap_or(0);
        let loads = [0, 1].map(|which| if shared[which] { of(which) } else { 0 });
        i64::from(loads[0].max(loads[1]).max(1))
    }

    /// Moves a queue to the end of the list for its new state, and updates the counts. A queue that waited in the round and
    /// is served again keeps its place.
    fn stands(&mut self, queue: u32, stand: QueueState) {
        let FlowQueue { stand: before, hosts, .. } = self.queues[queue as usize];
        match before {
            QueueState::Sparse | QueueState::Waiting => self.sparse -= 1,
            QueueState::Bulk => {
                self.bulk -= 1;
                self.count_bulk(hosts, false);
            }
            QueueState::Idle | QueueState::Decaying => {}
        }
        match stand {
            QueueState::Sparse | QueueState::Waiting => self.sparse += 1,
            QueueState::Bulk => {
                self.bulk += 1;
                self.count_bulk(hosts, true);
            }
            QueueState::Idle | QueueState::Decaying => {}
        }
        self.queues[queue as usize].stand = stand;
        if (before, stand) == (QueueState::Waiting, QueueState::Bulk) {
            return;
        }
        match before {
            QueueState::Sparse => unlink!(self.queues, self.fresh, links, queue),
            QueueState::Waiting | QueueState::Bulk => unlink!(self.queues, self.round, links, queue),
            QueueState::Decaying => unlink!(self.queues, self.decaying, links, queue),
            QueueState::Idle => {}
        }
        match stand {
            QueueState::Sparse => append!(self.queues, self.fresh, links, queue),
            QueueState::Waiting | QueueState::Bulk => append!(self.queues, self.round, links, queue),
            QueueState::Decaying => append!(self.queues, self.decaying, links, queue),
            QueueState::Idle => {}
        }
    }

    /// The next queue to serve. With `decaying`, a decaying queue comes first. `waits` returns whether a queue holds
    /// packets.
    pub fn turn(&mut self, mut decaying: bool, isolation: Isolation, waits: impl Fn(u32) -> bool) -> Option<u32> {
        loop {
            let lists = [self.fresh.front, self.round.front, self.decaying.front];
            let queue = match std::mem::take(&mut decaying) && self.decaying.front != NIL {
                true => self.decaying.front,
                false => lists.into_iter().find(|front| *front != NIL)?,
            };
            let FlowQueue { deficit, stand, hosts, .. } = self.queues[queue as usize];
            if deficit > 0 {
                return Some(queue);
            }
            let stand = match stand {
                QueueState::Sparse if waits(queue) => QueueState::Bulk,
                QueueState::Sparse => QueueState::Waiting,
                other => other,
            };
            // Moves to the end of the round, and is counted there before its quantum is divided.
            self.stands(queue, stand);
            self.queues[queue as usize].deficit += self.flow_quantum * PARTS / self.load(hosts, isolation);
        }
    }

    /// Handles a turn of an empty queue.
    pub fn was_empty(&mut self, queue: u32, now: Instant) {
        let cobalt = &mut self.queues[queue as usize].cobalt;
        cobalt.was_empty(&self.set, now);
        let stand = if cobalt.is_at_rest(now) { QueueState::Idle } else { QueueState::Decaying };
        self.stands(queue, stand);
    }

    /// Charges the bytes that a queue has sent to the queue and to the tin.
    pub fn sent(&mut self, queue: u32, bytes: u64, now: Instant) {
        self.queues[queue as usize].deficit -= bytes as i64 * PARTS;
        self.deficit -= bytes as i64;
        let Some(rate) = self.rate else { return };
        let time = Clock::time(rate, bytes);
        if self.next < now {
            self.next += time;
        } else if self.next < now + time {
            self.next = now + time;
        }
    }

    /// Time until the tin may send within its rate; zero if it may now. Used to choose among tins.
    pub fn early(&self, now: Instant) -> Span {
        self.next.span_since(now)
    }
}
