//! Partition of a run into islands that can run in parallel, and the time for which they do not affect each other.
//!
//! An event at a link has no effect elsewhere before the link's propagation delay has passed (conservative lookahead). So
//! links and flow ends that reach each other only by an event, and after some delay, may be on different islands. Within a
//! *window* no longer than the shortest delay between islands, each island handles its events independently. Elements with
//! immediate effects on each other stay together: hops without an event, ends and their first links, flows of one host.
//!
//! The partition has no effect on results. Its estimates of work decide only how well the threads are used.

use std::sync::Arc;

use fairwave_core::transport::{AnySender, Receiver};
use fairwave_core::units::Span;
use fairwave_scenario::plan::Plan;

use crate::ends::{ReceivingEnd, SendingEnd};
use crate::hosts::Hosts;
use crate::island_map::{IslandSlot, MOST_ISLANDS, MOST_ITEMS};
use crate::network::Network;
use crate::routes::{END, Routes};

/// Rough estimates of work in nanoseconds: an event, the crossing of a FIFO link and of a managed queue, the reaction of a
/// sender to an acknowledgement and of a receiver to a packet.
const EVENT: f64 = 45.0;
const CROSSING: f64 = 15.0;
const QUEUE: f64 = 80.0;
const SENDER: f64 = 80.0;
const RECEIVER: f64 = 50.0;
/// Nanoseconds to hand a packet over to another island, and to begin a window on all threads.
const HAND_OVER: f64 = 15.0;
const WINDOW: f64 = 15_000.0;

/// Least expected speed of a partitioned run, as a multiple of the speed of one thread.
const LEAST_GAIN: f64 = 1.2;

/// Islands per thread. A thread whose island has less work than estimated starts another one.
const PER_THREAD: usize = 8;
/// Islands per thread if no group of elements has more than 1 / `FINE` of a thread's work. Islands then exchange few
/// packets.
const PER_THREAD_FINE: usize = 6;
const FINE: usize = 8;

/// Number of window lengths to compare.
const LENGTHS: usize = 24;

/// Assumed maximum of packets per second of a flow that does not always send, and bits per packet.
const SPARSE: f64 = 100.0;
const BITS: f64 = 8.0 * 1040.0;

/// Requirements of a partition.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct PartitionRequest {
    /// Number of threads.
    pub threads: usize,
    /// Least expected speed, as a multiple of the speed of one thread.
    pub least: f64,
    /// Number of islands; `None` for a number that suits the threads.
    pub islands: Option<usize>,
    /// When the run switches between islands and the plain loop.
    pub changes: Changes,
}

/// When a run switches between islands and the plain loop. The results are the same.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Changes {
    /// Never: it stays on islands.
    Never,
    /// When the other one is faster.
    ByRate,
    /// After this number of windows; for tests.
    Windows(u64),
}

impl PartitionRequest {
    /// Returns the request of a normal run: as fast as possible on `threads` threads.
    pub fn fast(threads: usize) -> Self {
        PartitionRequest { threads, least: LEAST_GAIN, islands: None, changes: Changes::ByRate }
    }
}

/// Summary of a partition. It shows how much threads can gain.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cut {
    /// Number of islands.
    pub islands: usize,
    /// Length of a window.
    pub window: Span,
    /// Share of the estimated work of the largest group of elements that stay together. More threads than its inverse do not
    /// help.
    pub largest: f64,
}

/// Islands of a run.
pub(crate) struct Partition {
    /// Slot of each link, by index of the plan.
    pub links: Arc<[IslandSlot]>,
    /// Slot of each flow's sending end.
    pub sending: Arc<[IslandSlot]>,
    /// Slot of each flow's receiving end.
    pub receiving: Arc<[IslandSlot]>,
    /// Starts of each flow's routes.
    pub routes: Arc<[[u32; 2]]>,
    /// Per step of the routes: the island that it leads to.
    pub steps: Arc<[u8]>,
    /// Number of threads.
    pub threads: usize,
    /// Number of islands. Groups larger than an island's share are on the first ones.
    pub islands: usize,
    /// Shortest time until an event on one island affects another. Above zero.
    pub lookahead: Span,
    /// Share of the work of the largest group of elements that stay together.
    largest: f64,
}

/// Elements by number: links, then sending ends, then receiving ends.
struct Elements {
    parent: Vec<u32>,
}

impl Elements {
    fn root(&mut self, mut element: usize) -> usize {
        while self.parent[element] as usize != element {
            let above = self.parent[self.parent[element] as usize];
            self.parent[element] = above;
            element = above as usize;
        }
        element
    }

    /// Puts two elements on the same island.
    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        // The lower number represents both, so the result does not depend on the order of calls.
        self.parent[one.max(other)] = one.min(other) as u32;
    }
}

/// Path of packets from one element to another by an event, after at least a delay.
struct Passage {
    from: usize,
    to: usize,
    delay: Span,
    /// Packets per second.
    rate: f64,
}

/// Groups of elements that exchange packets. One element represents each group.
struct Neighbours {
    /// Start of each element's list.
    begins: Vec<usize>,
    /// The other element, and packets per second.
    list: Vec<(usize, f64)>,
}

impl Neighbours {
    fn new(roots: &[usize], passages: &[Passage]) -> Self {
        let apart = || {
            let pairs = passages.iter().map(|passage| (roots[passage.from], roots[passage.to], passage.rate));
            pairs.filter(|(from, to, _)| from != to)
        };
        let mut begins = vec![0; roots.len() + 1];
        apart().for_each(|(from, to, _)| [from, to].into_iter().for_each(|end| begins[end + 1] += 1));
        (0..roots.len()).for_each(|element| begins[element + 1] += begins[element]);
        let (mut filled, mut list) = (begins.clone(), vec![(0, 0.0); begins.last().copied().unwrap_or(0)]);
        for (from, to, rate) in apart() {
            for (end, other) in [(from, to), (to, from)] {
                list[filled[end]] = (other, rate);
                filled[end] += 1;
            }
        }
        Neighbours { begins, list }
    }

    /// Lists the neighbours of a group with their packets per second.
    fn list_neighbours(&self, root: usize) -> impl Iterator<Item = (usize, f64)> {
        self.list[self.begins[root]..self.begins[root + 1]].iter().copied()
    }

    /// Returns all elements, neighbours next to each other as far as possible.
    fn order(&self) -> impl Iterator<Item = usize> {
        let count = self.begins.len() - 1;
        let (mut seen, mut order) = (vec![false; count], Vec::with_capacity(count));
        for first in 0..count {
            let mut next = order.len();
            if !std::mem::replace(&mut seen[first], true) {
                order.push(first);
            }
            while let Some(&root) = order.get(next) {
                next += 1;
                for (other, _) in self.list_neighbours(root) {
                    if !std::mem::replace(&mut seen[other], true) {
                        order.push(other);
                    }
                }
            }
        }
        order.into_iter()
    }
}

/// Returns the requested partition of a run. `None` if the run cannot be partitioned, or if it is not expected to become
/// fast enough.
pub(crate) fn partition_run(
    plan: &Plan,
    network: &Network,
    (sending, receiving): (&[SendingEnd], &[ReceivingEnd]),
    hosts: Option<&Hosts>,
    request: PartitionRequest,
) -> Option<Partition> {
    let (links, flows) = (network.links.items.len(), plan.flows.len());
    let plain = plan.media.is_empty() && plan.calls.is_empty() && plan.record.windows.is_empty();
    let own = |flow: usize| {
        let planned = plan.flows.get(flow)?;
        let (sending, receiving) = (sending.get(flow)?, receiving.get(flow)?);
        let simple = planned.at_most.is_none() && planned.reroutes.is_empty() && planned.leg.is_none();
        Some(simple && !matches!(sending.sender, AnySender::Own(_)) && !receiving.receiver.judges_losses())
    };
    let one = request.threads < 2 && request.islands.is_none();
    if one || !plain || links.max(flows) > MOST_ITEMS || !(0..flows).all(|flow| own(flow) == Some(true)) {
        return None;
    }
    let rates = rates(plan);
    let mut work = vec![0.0; links + 2 * flows];
    let mut elements = Elements { parent: (0..work.len() as u32).collect() };
    let mut passages = Vec::new();
    let mut first_of_host: Vec<Option<usize>> = Vec::new();
    for (flow, (sending, receiving)) in sending.iter().zip(receiving).enumerate() {
        let (sender, receiver, rate) = (links + flow, links + flows + flow, rates[flow]);
        work[sender] += rate * SENDER;
        work[receiver] += rate * RECEIVER;
        if receiving.listened {
            elements.join(sender, receiver);
        }
        if let Some(host) = hosts.and_then(|hosts| hosts.host_index(flow)) {
            first_of_host.resize(first_of_host.len().max(host + 1), None);
            elements.join(sender, *first_of_host[host].get_or_insert(sender));
        }
        for (begin, from, to) in [(sending.route, sender, receiver), (receiving.route, receiver, sender)] {
            let (mut before, mut at_once, mut delay) = (from, true, Span::ZERO);
            for place in begin.. {
                let step = network.routes.step(place);
                let here = if step.target() == END { to } else { step.target() as usize };
                // An end hands its packets to the first link directly.
                // On islands, no sender is called ahead of time, because it would have to be on the island of its feedback.
                at_once |= place > begin && step.is_at_once() && here != sender;
                if at_once {
                    elements.join(before, here);
                } else {
                    work[here] += rate * EVENT;
                    passages.push(Passage { from: before, to: here, delay, rate });
                }
                if here == to {
                    break;
                }
                let link = &network.links[here];
                work[here] += rate * if link.is_managed() { QUEUE } else { CROSSING };
                (before, at_once, delay) = (here, false, link.least_delay());
            }
        }
    }
    let (lookahead, elements) = longest_windows(elements, &work, &mut passages, request)?;
    let begins = (sending.iter().zip(receiving)).map(|(sending, receiving)| [sending.route, receiving.route]).collect();
    Some(Partition::new(elements, &work, begins, &passages, (lookahead, request), &network.routes))
}

/// Returns the packets per second of each flow: its share of the slowest link on its route.
fn rates(plan: &Plan) -> Vec<f64> {
    let mut users = vec![0.0; plan.links.len()];
    plan.flows.iter().flat_map(|flow| &flow.forward).for_each(|&link| users[link] += 1.0);
    let share = |link: &usize| plan.links[*link].direction.rate.nominal().bits_per_second() as f64 / users[*link];
    let rate = |flow: &fairwave_scenario::plan::FlowPlan| {
        let most = if flow.traffic.is_bulk() { f64::INFINITY } else { SPARSE };
        (flow.forward.iter().map(share).fold(f64::INFINITY, f64::min) / BITS).min(most)
    };
    plan.flows.iter().map(rate).collect()
}

/// Returns the window length with the largest expected gain. With longer windows, fewer windows begin, but more elements
/// stay together.
fn longest_windows(
    mut elements: Elements,
    work: &[f64],
    passages: &mut [Passage],
    PartitionRequest { threads, least, .. }: PartitionRequest,
) -> Option<(Span, Elements)> {
    passages.sort_by_key(|passage| passage.delay);
    let mut lengths: Vec<Span> = passages.iter().map(|passage| passage.delay).filter(|d| *d > Span::ZERO).collect();
    lengths.dedup();
    let step = lengths.len().div_ceil(LENGTHS).max(1);
    let total: f64 = work.iter().sum();
    let (mut best, mut joined) = (None::<(f64, Span, Vec<u32>)>, 0);
    for length in lengths.into_iter().step_by(step) {
        while let Some(passage) = passages.get(joined).filter(|passage| passage.delay < length) {
            elements.join(passage.from, passage.to);
            joined += 1;
        }
        let mut together = vec![0.0; work.len()];
        for (element, work) in work.iter().enumerate() {
            together[elements.root(element)] += work;
        }
        let largest = together.into_iter().fold(0.0, f64::max);
        let handed: f64 = passages[joined..].iter().map(|passage| passage.rate * HAND_OVER).sum();
        let windows = WINDOW / length.seconds();
        let gain = total / (largest.max(total / threads as f64) + handed / threads as f64 + windows);
        if best.as_ref().is_none_or(|(most, ..)| gain > *most) {
            best = Some((gain, length, elements.parent.clone()));
        }
    }
    best.filter(|(gain, ..)| *gain >= least).map(|(_, length, parent)| (length, Elements { parent }))
}

impl Partition {
    /// Returns the summary.
    pub fn cut(&self) -> Cut {
        Cut { islands: self.islands, window: self.lookahead, largest: self.largest }
    }

    /// Assigns groups of elements to islands. Groups larger than an island's share come first, each on a separate island.
    /// Each other group goes to the island with which it exchanges most packets, as long as there is room (linear
    /// deterministic greedy: Stanton & Kliot, KDD 2012), neighbours after each other.
    fn new(
        mut elements: Elements,
        work: &[f64],
        begins: Arc<[[u32; 2]]>,
        passages: &[Passage],
        (lookahead, PartitionRequest { threads, islands, .. }): (Span, PartitionRequest),
        routes: &Routes,
    ) -> Self {
        let flows = begins.len();
        let links = work.len() - 2 * flows;
        let roots: Vec<usize> = (0..work.len()).map(|element| elements.root(element)).collect();
        let mut together = vec![0.0; work.len()];
        for (root, work) in roots.iter().zip(work) {
            together[*root] += work;
        }
        let total: f64 = work.iter().sum();
        let largest = together.iter().copied().fold(0.0, f64::max);
        let each = if largest > total / (threads * FINE) as f64 { PER_THREAD } else { PER_THREAD_FINE };
        let islands = islands.unwrap_or(threads * each).clamp(1, MOST_ISLANDS);
        let share = total / islands as f64;
        let neighbours = Neighbours::new(&roots, passages);
        let (mut load, mut island_of) = (vec![0.0; islands], vec![usize::MAX; work.len()]);
        let mut large: Vec<usize> = (0..work.len()).filter(|root| together[*root] > share).collect();
        large.sort_by(|a, b| together[*b].total_cmp(&together[*a]));
        let least = |load: &[f64]| (0..islands).min_by(|a, b| f64::total_cmp(&load[*a], &load[*b])).unwrap_or(0);
        for root in large {
            island_of[root] = least(&load);
            load[island_of[root]] += together[root];
        }
        for root in neighbours.order().filter(|root| roots[*root] == *root) {
            if island_of[root] != usize::MAX {
                continue;
            }
            let mut ties = vec![0.0; islands];
            for (other, rate) in neighbours.list_neighbours(root) {
                if let Some(ties) = ties.get_mut(island_of[other]) {
                    *ties += rate;
                }
            }
            let draw = |island: usize| ties[island] * (1.0 - load[island] / share);
            let best = (0..islands).filter(|island| load[*island] < share && ties[*island] > 0.0);
            let best = best.max_by(|a, b| draw(*a).total_cmp(&draw(*b)));
            island_of[root] = best.unwrap_or_else(|| least(&load));
            load[island_of[root]] += together[root];
        }
        let slots = |elements: std::ops::Range<usize>| -> Arc<[IslandSlot]> {
            let mut places = vec![0; islands];
            let home = |element: usize| {
                let island = island_of[roots[element]];
                places[island] += 1;
                IslandSlot::new(island, places[island] - 1)
            };
            elements.map(home).collect()
        };
        let island = |element: usize| island_of[roots[element]] as u8;
        let mut steps = vec![0; routes.steps()];
        for (flow, begins) in begins.iter().enumerate() {
            for (begin, end) in begins.iter().zip([links + flows + flow, links + flow]) {
                for place in *begin.. {
                    let target = routes.step(place).target();
                    steps[place as usize] = island(if target == END { end } else { target as usize });
                    if target == END {
                        break;
                    }
                }
            }
        }
        Partition {
            links: slots(0..links),
            sending: slots(links..links + flows),
            receiving: slots(links + flows..links + 2 * flows),
            routes: begins,
            steps: steps.into(),
            threads,
            islands,
            lookahead,
            largest: largest / total,
        }
    }
}
