//! Packet accounting of a run: every created packet is accounted for at the end.
//!
//! Three conservation laws are checked once, at the end, from counters of the run:
//!
//! 1. each link: arrived = departed + dropped + failed + waiting + in transmission. Packets lost or on the wire are
//!    at most the departed ones;
//! 2. each node: packets handed on by links into it (departed − lost − on the wire + duplicated) plus packets sent by
//!    its flow ends = packets received by links out of it and by its flow ends;
//! 3. each flow, data and feedback separately: sent + duplicated by wires = arrived + dropped + lost + in transit or
//!    waiting.
//!
//! The terms come from different places: link counters from the link, flow counters from its ends, waiting packets
//! from the queue. So a packet that disappears, appears from nothing or is counted twice breaks at least one law.

use std::borrow::Cow;

use fairwave_core::medium::Medium;
use fairwave_core::packet::Packet;
use fairwave_core::units::Instant;
use fairwave_scenario::plan::{LinkPlan, Plan};

use crate::classes;
use crate::ends::{ReceivingEnd, SendingEnd};
use crate::error::RunError;
use crate::link::{Link, Service};
use crate::shared_media::MediumRun;

/// Packets of a flow without a further event in the run: they wait, are in transmission or are on a wire. Also counts
/// the copies made by wires, which have no sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InFlight {
    data: u32,
    feedback: u32,
    data_copies: u32,
    feedback_copies: u32,
}

impl InFlight {
    /// Counts one more packet.
    pub fn add(&mut self, packet: &Packet) {
        *(if packet.feedback { &mut self.feedback } else { &mut self.data }) += 1;
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.data += other.data;
        self.feedback += other.feedback;
        self.data_copies += other.data_copies;
        self.feedback_copies += other.feedback_copies;
    }

    /// Counts a copy made by a wire.
    pub fn copied(&mut self, packet: &Packet) {
        *(if packet.feedback { &mut self.feedback_copies } else { &mut self.data_copies }) += 1;
    }
}

/// Checks each link, then removes the waiting packets from managed queues and shared media. Calls `found` with each
/// packet and the link that held it.
///
/// # Errors
/// Returns the first law that does not hold, with its place and numbers.
pub(crate) fn empty_queues(
    plan: &Plan,
    links: &mut [Link],
    media: &mut [MediumRun],
    end: Instant,
    found: &mut dyn FnMut(usize, &Packet),
) -> Result<(), RunError> {
    for (index, (plan, link)) in plan.links.iter().zip(&mut *links).enumerate() {
        check_link(plan, link, end)?;
        empty(plan, index, link, end, found)?;
    }
    for (medium, run) in media.iter_mut().enumerate() {
        empty_medium(plan, medium, run, links, end, found)?;
    }
    Ok(())
}

/// State of a finished run with empty queues.
pub(crate) struct Books<'p> {
    pub plan: Cow<'p, Plan>,
    pub links: Vec<Link>,
    pub sending: Vec<SendingEnd>,
    pub receiving: Vec<ReceivingEnd>,
    /// Packets in transit per flow, including those that waited in managed queues.
    pub under_way: Vec<InFlight>,
}

impl Books<'_> {
    /// Checks flows and nodes.
    ///
    /// # Errors
    /// Returns the first law that does not hold, with its place and numbers.
    pub fn check(self) -> Result<(), RunError> {
        self.check_flows()?;
        self.check_nodes()
    }

    fn check_flows(&self) -> Result<(), RunError> {
        for (index, plan) in self.plan.flows.iter().enumerate() {
            let (sending, measure, under_way) =
                (&self.sending[index], &self.receiving[index].measure, self.under_way[index]);
            let (arrived, (dropped, lost)) = (measure.packets_arrived, measure.gone_in_all());
            let made = sending.packets_sent + u64::from(under_way.data_copies);
            if made != arrived + dropped + lost + u64::from(under_way.data) {
                return Err(violated(
                    "sent + duplicated = arrived + dropped + lost + under way, per flow",
                    format!("the data of `{}`", plan.name),
                    format!(
                        "{} sent, {} duplicated, {arrived} arrived, {dropped} dropped, {lost} lost, {} under way",
                        sending.packets_sent, under_way.data_copies, under_way.data
                    ),
                ));
            }
            let (arrived, missing) = (sending.feedback_arrived, u64::from(measure.feedback_missing));
            let made = measure.feedback_sent + u64::from(under_way.feedback_copies);
            if made != arrived + missing + u64::from(under_way.feedback) {
                return Err(violated(
                    "sent + duplicated = arrived + dropped + lost + under way, per flow",
                    format!("the feedback of `{}`", plan.name),
                    format!(
                        "{} sent, {} duplicated, {arrived} arrived, {missing} dropped or lost, {} under way",
                        measure.feedback_sent, under_way.feedback_copies, under_way.feedback
                    ),
                ));
            }
        }
        Ok(())
    }

    fn check_nodes(&self) -> Result<(), RunError> {
        let mut nodes = vec![Node::default(); self.plan.nodes.len()];
        for (plan, link) in self.plan.links.iter().zip(&self.links) {
            let measure = &link.measure;
            nodes[plan.to].handed_on += measure.totals().departures + measure.copies()
                - measure.whole_missing().lost
                - u64::from(measure.on_wire);
            nodes[plan.from].passed_on += measure.totals().arrivals;
        }
        for ((plan, sending), receiving) in self.plan.flows.iter().zip(&self.sending).zip(&self.receiving) {
            let measure = &receiving.measure;
            let ends = |route: &[usize]| {
                let link = |place: Option<&usize>| place.and_then(|&link| self.plan.links.get(link));
                (link(route.first()).map(|link| link.from), link(route.last()).map(|link| link.to))
            };
            for (route, sent, arrived) in [
                (&plan.forward, sending.packets_sent, measure.packets_arrived),
                (&plan.backward, measure.feedback_sent, sending.feedback_arrived),
            ] {
                if let (Some(from), Some(to)) = ends(route) {
                    nodes[from].sent += sent;
                    nodes[to].received += arrived;
                }
            }
        }
        for (name, node) in self.plan.nodes.iter().zip(nodes) {
            let Node { handed_on, sent, passed_on, received } = node;
            if handed_on + sent != passed_on + received {
                let of = |names: &mut dyn Iterator<Item = &LinkPlan>| {
                    names.take(4).map(|link| &*link.name).collect::<Vec<_>>().join(", ")
                };
                let at = |link: &&LinkPlan, end: usize| self.plan.nodes.get(end) == Some(name) && !link.name.is_empty();
                return Err(violated(
                    "handed on by links + sent by flows = arrived at links + received by flows, per node",
                    format!("node `{name}`"),
                    format!(
                        "{handed_on} handed on ({}), {sent} sent, {passed_on} arrived ({}), {received} received",
                        of(&mut self.plan.links.iter().filter(|link| at(link, link.to))),
                        of(&mut self.plan.links.iter().filter(|link| at(link, link.from))),
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// Packets that arrived at a node and that left it.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    handed_on: u64,
    sent: u64,
    passed_on: u64,
    received: u64,
}

fn violated(law: &'static str, place: String, found: String) -> RunError {
    RunError::Invariant { law, place, found }
}

fn check_link(plan: &LinkPlan, link: &Link, end: Instant) -> Result<(), RunError> {
    let (measure, totals) = (&link.measure, link.measure.totals());
    let missing = measure.whole_missing();
    let (dropped, waiting) = (missing.dropped(), link.waiting_at(end));
    let in_transmission = u64::from(link.free > end);
    if totals.arrivals != totals.departures + dropped + missing.failed + waiting + in_transmission {
        return Err(violated(
            "arrived = departed + dropped + failed + waiting + in transmission, per link",
            format!("link `{}`", plan.name),
            format!(
                "{} arrived, {} departed, {dropped} dropped, {} failed, {waiting} waiting, {in_transmission} in transmission",
                totals.arrivals, totals.departures, missing.failed
            ),
        ));
    }
    if totals.departures < missing.lost + u64::from(measure.on_wire) {
        return Err(violated(
            "departed = lost + on the wire + handed on, per link",
            format!("link `{}`", plan.name),
            format!("{} departed, {} lost, {} on the wire", totals.departures, missing.lost, measure.on_wire),
        ));
    }
    match &link.service {
        Service::Managed(managed) => classes::check(&plan.name, &managed.queue, &managed.classes),
        Service::Fifo(_) | Service::Shared(_) => Ok(()),
    }
}

/// Removes the packets that a shared medium holds.
fn empty_medium(
    plan: &Plan,
    medium: usize,
    run: &mut MediumRun,
    links: &[Link],
    end: Instant,
    removed: &mut dyn FnMut(usize, &Packet),
) -> Result<(), RunError> {
    let mut given = Vec::new();
    let counted: Vec<u32> = (0..run.members.len()).map(|member| run.medium.held(member)).collect();
    run.medium.drain(end, &mut given);
    for (member, (&link, counted)) in run.members.iter().zip(counted).enumerate() {
        let found = given.iter().filter(|(own, _)| *own == member).count() as u64;
        let held = links[link].waiting_at(end);
        if found != held || u64::from(counted) != held {
            let name = plan.media.get(medium).map_or("", |medium| medium.name.as_str());
            return Err(violated(
                "a shared medium gives what it holds",
                format!("medium `{name}`, link `{}`", plan.links[link].name),
                format!("{held} held by its counts, {counted} by the law's, {found} given when it was emptied"),
            ));
        }
    }
    for (member, packet) in given {
        removed(run.members[member], &packet);
    }
    Ok(())
}

/// Removes the waiting packets from a managed queue, as its discipline delivers or drops them.
fn empty(
    plan: &LinkPlan,
    index: usize,
    link: &mut Link,
    end: Instant,
    removed: &mut dyn FnMut(usize, &Packet),
) -> Result<(), RunError> {
    let mut now = link.free.max(end);
    let Service::Managed(managed) = &mut link.service else { return Ok(()) };
    let (counted, mut found) = (u64::from(managed.queue.packets()), 0u64);
    while managed.queue.packets() > 0 {
        let given = managed.queue.depart(now, &mut managed.drops);
        let before = found;
        for packet in given.into_iter().chain(managed.drops.drain(..).map(|(packet, _)| packet)) {
            removed(index, &packet);
            found += 1;
        }
        if found == before {
            // A shaping discipline releases packets only when they are due.
            let due = managed.queue.held_until();
            if due <= now || due == Instant::NEVER {
                break;
            }
            now = due;
        }
    }
    if found != counted {
        return Err(violated(
            "a queue gives what waits in it",
            format!("link `{}`", plan.name),
            format!("{counted} waiting, {found} given or dropped when it was emptied"),
        ));
    }
    Ok(())
}
