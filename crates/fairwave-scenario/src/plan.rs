//! A plan: a scenario with everything spelled out for one seed. It is what a simulator or a live run executes.
//!
//! Presets are expanded, defaults filled in, templates multiplied, spreads drawn; nothing in a plan is left to guess.
//! A plan guarantees: every index is in range, every route exists, every rate is above zero.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use fairwave_core::dscp::Dscp;
use fairwave_core::link::{Direction, RecordedLength};
use fairwave_core::medium::{MediumConfig, Member};
use fairwave_core::packet::Class;
use fairwave_core::quality::impairment::Reception;
use fairwave_core::quality::outcome::Requirement;
use fairwave_core::quality::playback::PlaybackConfig;
use fairwave_core::quality::playout::PlayoutConfig;
use fairwave_core::quality::recovery::RecoveryConfig;
use fairwave_core::random::Seed;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::sfu::{LegRole, RoomSetup};
use fairwave_core::transport::tcp::control::Marks;
use fairwave_core::transport::{Properties, TransportConfig};
use fairwave_core::units::{Instant, Skew, Span};

pub use crate::active::Intervals;
use crate::law::wire_of_unit;
use crate::route::{Edge, Routes};
use crate::service;
pub use crate::via::Departure;

/// Everything that one run needs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario's name, for reports.
    pub name: String,
    /// The seed: every random stream of the run derives from it.
    pub seed: Seed,
    /// Simulated time.
    pub duration: Span,
    /// Measures leave out what happens before.
    pub warmup: Span,
    /// How far sending hosts are from being in step.
    pub hosts: HostsPlan,
    /// Names of the nodes; links refer to them by index.
    pub nodes: Vec<String>,
    /// Link directions. A duplex link is two of them.
    pub links: Vec<LinkPlan>,
    /// Shared media; links refer to them by index.
    pub media: Vec<MediumPlan>,
    /// Names of the flow groups; flows refer to them by index.
    pub groups: Vec<String>,
    /// Flows.
    pub flows: Vec<FlowPlan>,
    /// Conferences; flows refer to them by index.
    pub calls: Vec<CallPlan>,
    /// What figures over time mark, in order of time.
    pub marks: Vec<Mark>,
    /// What a run records in addition to the measures.
    pub record: RecordPlan,
}

impl Plan {
    /// The links by which flows go from a node to another, and those by which what answers them comes back; none where there is no way.
    pub fn way(&self, from: usize, to: usize) -> Option<(Vec<usize>, Vec<usize>)> {
        let edge = |link: &LinkPlan| Edge { from: link.from, to: link.to, delay: link.direction.delay };
        let edges: Vec<Edge> = self.links.iter().map(edge).collect();
        let mut routes = Routes::new(self.nodes.len(), &edges);
        Some((routes.route(from, to)?, routes.route(to, from)?))
    }

    /// What a link or a group of flows does that one may not expect of it: its name and the words.
    pub fn cautions(&self) -> Vec<(&str, String)> {
        let mut unyielding = vec![false; self.links.len()];
        for flow in self.flows.iter().filter(|flow| matches!(&*flow.transport, TransportConfig::Udp(_))) {
            for &link in &flow.forward {
                if let Some(link) = unyielding.get_mut(link) {
                    *link = true;
                }
            }
        }
        let crossed = self.links.iter().zip(unyielding).filter(|(_, unyielding)| *unyielding);
        let said = crossed.filter_map(|(link, _)| Some((&*link.name, link.direction.queue.discipline.caution()?)));
        said.chain(self.left_over())
            .chain(self.marked_in_vain())
            .chain(self.classic_by_mistake())
            .chain(service::unmatched(&self.flows, &self.links))
            .collect()
    }

    /// What is recorded for longer than the run lasts: once for links whose rates were recorded for the same time.
    fn left_over(&self) -> Vec<(&str, String)> {
        let mut said: Vec<(&str, Span, &str, usize)> = Vec::new();
        for link in &self.links {
            let Some(RecordedLength { length, .. }) = link.direction.rate.recorded() else { continue };
            match said.iter_mut().find(|(_, known, ..)| *known == length) {
                Some((.., others)) => *others += 1,
                None if length > self.duration => said.push((&link.name, length, link.direction.rate.name(), 0)),
                None => {}
            }
        }
        let words = |(name, length, law, others): (_, Span, &str, usize)| {
            let also = if others > 0 { format!(" (and of {others} other link directions)") } else { String::new() };
            (
                name,
                format!("the {law} of its rate{also} lasts {length}, the run {}: the rest is not used", self.duration),
            )
        };
        said.into_iter().map(words).collect()
    }

    /// Groups of flows that yield little by little to marks, but whose packets a queue for L4S takes for those of a classic TCP.
    fn classic_by_mistake(&self) -> Vec<(&str, String)> {
        let mut said: Vec<(usize, &LinkPlan)> = Vec::new();
        for flow in &self.flows {
            let is_taken = flow.transport.tcp().is_some_and(|tcp| tcp.marks == Marks::Accurate && !tcp.one_answer);
            let separates = |link: &&LinkPlan| link.direction.queue.discipline.nature().l4s;
            let there = flow.forward.iter().filter_map(|link| self.links.get(*link)).find(separates);
            if let Some(link) = there.filter(|_| is_taken && said.iter().all(|(group, _)| *group != flow.group)) {
                said.push((flow.group, link));
            }
        }
        let words = |(group, link): (usize, &LinkPlan)| {
            let name = self.groups.get(group)?;
            Some((
                name.as_str(),
                format!(
                    "its packets bear ECT(0), so the {} of {} takes them for a classic TCP's and marks them rarely; but the flows yield to \
                     a mark by little, so they crowd out classic TCP: write ecn = \"scalable\" (ECT(1), the L queue), or give the link \
                     DCTCP's own queue, {{ discipline = \"red\", min-threshold = 20, max-threshold = 20, weight = 1.0, ecn = true, \
                     harddrop = false }}",
                    link.direction.queue.discipline.name(),
                    link.name
                ),
            ))
        };
        said.into_iter().filter_map(words).collect()
    }

    /// Groups of flows that ask for marks on whose way no queue gives any.
    fn marked_in_vain(&self) -> Vec<(&str, String)> {
        let marks = |link: &usize| self.links.get(*link).is_some_and(|link| link.direction.queue.discipline.marks());
        let mut said = Vec::new();
        for flow in &self.flows {
            let asks = flow.transport.tcp().is_some_and(|tcp| tcp.marks != Marks::None);
            if asks && !flow.forward.iter().any(marks) && !said.contains(&flow.group) {
                said.push(flow.group);
            }
        }
        let words = "its packets may be marked instead of dropped, and no queue on their way marks any, so it works as without: write \
                     queue = { discipline = \"codel\", ecn = true } (or fq-codel, dualpi2, …; docs/queues.md), or ecn = \"none\"";
        let name = |group: usize| self.groups.get(group).map(|name| (name.as_str(), words.to_owned()));
        said.into_iter().filter_map(name).collect()
    }
}

/// How far sending hosts are from being in step. Each draws from a stream of its name (`host.s0.clock`): first its
/// skew, then its jitter, packet by packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostsPlan {
    /// The clock of a host's applications is off by no more than this, in either direction.
    pub clock_skew: Skew,
    /// Packets leave no later than this after they are made.
    pub send_jitter: Span,
}

/// Something that happens at a known time, as figures call it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// When.
    pub at: Instant,
    /// What.
    pub label: String,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// `from>to`; also the name of the link's random streams (`link.r1>r2.loss`, `link.r1>r2.queue`,
    /// `link.r1>r2.transmission`).
    pub name: Arc<str>,
    /// Index of the node that it leaves.
    pub from: usize,
    /// Index of the node that it reaches.
    pub to: usize,
    /// What it is like; link directions that are alike share it.
    pub direction: Arc<Direction>,
    /// Index of the shared medium that decides when its packets are transmitted, if it has one; the direction's rate is then the
    /// nominal one.
    pub medium: Option<usize>,
}

/// A shared medium, which at least one link direction uses.
#[derive(Clone, Debug)]
pub struct MediumPlan {
    /// Its name, also of its random streams (`medium.air.…`).
    pub name: String,
    /// Its law.
    pub law: MediumConfig,
}

impl Plan {
    /// The link directions that use a medium, as its law knows them, with their indices among the links; in the order of the links.
    pub fn members(&self, medium: usize) -> Vec<(usize, Member)> {
        let node = |index: usize| self.nodes.get(index).cloned().unwrap_or_default();
        let member = |link: &LinkPlan| Member {
            name: link.name.to_string(),
            from: node(link.from),
            to: node(link.to),
            queue: link.direction.queue.clone(),
        };
        let own = |(_, link): &(usize, &LinkPlan)| link.medium == Some(medium);
        self.links.iter().enumerate().filter(own).map(|(index, link)| (index, member(link))).collect()
    }
}

/// One flow: what is its own, and what it shares with the other flows of its group ([`GroupPlan`]), which is read as if it were its
/// own, too.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// `group[i]`; also the name of the flow's random streams (`flow.group[i].traffic`).
    pub name: String,
    /// Node of the sender.
    pub from: usize,
    /// Node of the receiver.
    pub to: usize,
    /// Indices of the links from sender to receiver, in order.
    pub forward: Vec<usize>,
    /// Indices of the links back, in order.
    pub backward: Vec<usize>,
    /// The routes that it takes later, in order of time.
    pub reroutes: Vec<Reroute>,
    /// When it begins.
    pub start: Instant,
    /// When it ends; [`Instant::NEVER`] for the end of the run.
    pub stop: Instant,
    /// The other direction of a conversation.
    pub partner: Option<Partner>,
    /// What it has in common with other flows. Written to, it becomes the flow's own.
    pub common: Arc<GroupPlan>,
}

impl Deref for FlowPlan {
    type Target = GroupPlan;

    #[inline]
    fn deref(&self) -> &GroupPlan {
        &self.common
    }
}

impl DerefMut for FlowPlan {
    fn deref_mut(&mut self) -> &mut GroupPlan {
        Arc::make_mut(&mut self.common)
    }
}

/// What the flows of a group have in common; of a conversation's, those of each direction.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// Index of the group.
    pub group: usize,
    /// What the application sends; flows of a group share it.
    pub traffic: Arc<TrafficConfig>,
    /// How it is sent; flows of a group share it.
    pub transport: Arc<TransportConfig>,
    /// Traffic class, for queues that tell classes apart.
    pub class: Class,
    /// Differentiated services code point, with which its packets begin their way in both directions.
    pub dscp: Dscp,
    /// When it is at work, from the flow's `start` to its `stop` where there are pauses between.
    pub active: Option<Intervals>,
    /// Limit of simultaneous flows of its group; the flow does not begin when the limit is reached.
    pub at_most: Option<u64>,
    /// Thresholds of timeliness, in ascending order; the first is the one that reports quote.
    pub thresholds: Vec<Span>,
    /// How the receiver of a call plays it out.
    pub playout: PlayoutConfig,
    /// What the receiver of a call does about units that it cannot play.
    pub reception: Reception,
    /// How the receiver plays back at a constant rate, if that is to be measured.
    pub playback: Option<PlaybackConfig>,
    /// The interruption from which the flow's recovery is to be measured, in steps of the record's bin.
    pub recovery: Option<RecoveryConfig>,
    /// What the application needs of latency and loss, if its Quality of Outcome is to be measured.
    pub outcome: Option<Arc<Requirement>>,
    /// It is a session of a conference with a server.
    pub leg: Option<Leg>,
}

/// A conference.
#[derive(Clone, PartialEq, Debug)]
pub struct CallPlan {
    /// Its name.
    pub name: String,
    /// Names of the participants.
    pub participants: Vec<String>,
    /// The node of its server; none where all send to all.
    pub server: Option<String>,
    /// What its server is to know.
    pub room: RoomSetup,
}

/// The session of a conference that a flow is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leg {
    /// Index of the conference.
    pub call: usize,
    /// Which session.
    pub role: LegRole,
}

/// Other routes that a flow takes from a time on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reroute {
    /// From when on; packets that are under way stay on the route by which they were sent.
    pub at: Instant,
    /// Indices of the links from sender to receiver, in order.
    pub forward: Vec<usize>,
    /// Indices of the links back, in order.
    pub backward: Vec<usize>,
    /// It is another network, with another address: estimates of the path begin anew.
    pub network: bool,
}

/// The flow by which the other party of a conversation talks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partner {
    /// Its index.
    pub flow: usize,
    /// It is the one that the conversation is named after: both draw what is said from its stream.
    pub leads: bool,
}

impl FlowPlan {
    /// It brings what another flow has brought to a server.
    pub fn is_forwarded(&self) -> bool {
        matches!(self.leg, Some(Leg { role: LegRole::Down { .. }, .. }))
    }

    /// Every route that its packets ever take, there and back.
    pub fn every_route(&self) -> impl Iterator<Item = &Vec<usize>> {
        let later = self.reroutes.iter().flat_map(|reroute| [&reroute.forward, &reroute.backward]);
        [&self.forward, &self.backward].into_iter().chain(later)
    }

    /// How long it is at work between two times: without its pauses.
    pub fn on_between(&self, from: Instant, until: Instant) -> Span {
        let within = |(begins, ends): (Instant, Instant)| ends.min(until).since(begins.max(from));
        match &self.active {
            Some(active) => active.iter().fold(Span::ZERO, |sum, interval| sum + within(*interval)),
            None => within((self.start, self.stop)),
        }
    }

    /// What the application offers while it is on, in bits per second: on the wire, but of a video, whose frames differ in
    /// size, the payload of all its layers. None for bulk data, which has no rate of its own.
    pub fn offered(&self) -> Option<f64> {
        let units = self.traffic.units_per_second();
        let of_units = units.map(|units| units * wire_of_unit(&self.traffic, &self.transport) as f64 * 8.0);
        let layers = self.traffic.layers();
        of_units.or_else(|| layers.cumulative().last().map(|rate| rate.bits_per_second() as f64))
    }
}

/// What a run records in addition to the measures.
#[derive(Clone, Debug, Default)]
pub struct RecordPlan {
    /// Width of the bins of goodput per flow and queue length per link, from which smoothness is measured; zero for none.
    pub bin: Span,
    /// Indices of the flows whose goodput per bin is left as a series.
    pub goodput: Vec<usize>,
    /// Flows whose goodputs per bin are put together: the name of each choice, and the flows' indices.
    pub allotted: Vec<(String, Vec<usize>)>,
    /// Interval between samples of every sender's view (window, estimate); zero for none.
    pub window_interval: Span,
    /// Indices of the links whose mean queue length per bin is left as a series.
    pub queues: Vec<usize>,
    /// Indices of the flows whose sender is sampled.
    pub windows: Vec<usize>,
    /// Indices of the flows whose round trips are measured.
    pub round_trips: Vec<usize>,
    /// Indices of the groups whose means per bin are left as series.
    pub series: Vec<usize>,
    /// Indices of the flows whose units are recorded one by one (created, arrived), so that they can be heard or seen.
    pub units: Vec<usize>,
}
