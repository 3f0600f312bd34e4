//! Plan: a scenario with every value specified for one seed. A simulator or a live run executes it.
//!
//! Presets and templates are expanded, defaults filled in and spreads drawn. A plan guarantees: every index is in range, every
//! route exists, every rate is above zero.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use fairwave_core::dscp::Dscp;
use fairwave_core::link::Direction;
use fairwave_core::medium::{MediumConfig, Member};
use fairwave_core::packet::Class;
use fairwave_core::quality::impairment::Reception;
use fairwave_core::quality::outcome::Requirement;
use fairwave_core::quality::playback::PlaybackConfig;
use fairwave_core::quality::playout::PlayoutConfig;
use fairwave_core::quality::recovery::RecoveryConfig;
use fairwave_core::random::Seed;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use fairwave_core::transport::sfu::{LegRole, RoomSetup};
use fairwave_core::units::{Instant, Span};

pub use crate::call::{Departure, Leg};
pub use crate::hosts::HostsPlan;
use crate::law::wire_of_unit;
use crate::route::{Edge, Routes};
use crate::version::Version;

/// Active periods, in ascending order and without overlap.
pub type Intervals = Arc<[(Instant, Instant)]>;

/// Complete specification of one run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Version of the language in which the scenario is written.
    pub version: Version,
    /// The scenario's name, for reports.
    pub name: String,
    /// The seed. Every random stream of the run derives from it.
    pub seed: Seed,
    /// Simulated time.
    pub duration: Span,
    /// Measures exclude this initial time.
    pub warmup: Span,
    /// Clock skew and send jitter of the sending hosts.
    pub hosts: HostsPlan,
    /// Names of the nodes; links refer to them by index.
    pub nodes: Vec<String>,
    /// Link directions. A duplex link has two.
    pub links: Vec<LinkPlan>,
    /// Shared media; links refer to them by index.
    pub media: Vec<MediumPlan>,
    /// Names of the flow groups; flows refer to them by index.
    pub groups: Vec<String>,
    /// Flows.
    pub flows: Vec<FlowPlan>,
    /// Conferences; flows refer to them by index.
    pub calls: Vec<CallPlan>,
    /// Marks of figures over time, in order of time.
    pub marks: Vec<Mark>,
    /// Series and samples that a run records in addition to the measures.
    pub record: RecordPlan,
}

impl Plan {
    /// The links from a node to another, and the links back. `None` without a route.
    pub fn way(&self, from: usize, to: usize) -> Option<(Vec<usize>, Vec<usize>)> {
        let edge = |link: &LinkPlan| Edge { from: link.from, to: link.to, delay: link.direction.delay };
        let edges: Vec<Edge> = self.links.iter().map(edge).collect();
        let mut routes = Routes::new(self.nodes.len(), &edges);
        Some((routes.route(from, to)?, routes.route(to, from)?))
    }
}

/// A labelled point in time in figures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The time.
    pub at: Instant,
    /// The label.
    pub label: String,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// `from>to`; also the name of the link's random streams (`link.r1>r2.loss`, `link.r1>r2.queue`,
    /// `link.r1>r2.transmission`).
    pub name: Arc<str>,
    /// Index of the sending node.
    pub from: usize,
    /// Index of the receiving node.
    pub to: usize,
    /// Rate, delay, queue and losses. Identical link directions share this value.
    pub direction: Arc<Direction>,
    /// Index of the shared medium that schedules its transmissions, if it uses one. The direction's rate is then the nominal rate.
    pub medium: Option<usize>,
}

/// A shared medium of at least one link direction.
#[derive(Clone, Debug)]
pub struct MediumPlan {
    /// Name, also of its random streams (`medium.air.…`).
    pub name: String,
    /// The medium's law.
    pub law: MediumConfig,
}

impl Plan {
    /// The link directions of a medium in the form that its law expects, with their indices in `links`, in the same order.
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

/// One flow: its individual values, and the values shared by its group ([`GroupPlan`]). The shared values read like fields of the
/// flow.
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
    /// Later routes, in order of time.
    pub reroutes: Vec<Reroute>,
    /// Start time.
    pub start: Instant,
    /// Stop time. [`Instant::NEVER`] for the end of the run.
    pub stop: Instant,
    /// The other direction of a conversation.
    pub partner: Option<Partner>,
    /// Values shared with other flows. Writing to them makes a separate copy for this flow.
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

/// Values shared by the flows of a group. A conversation has one per direction.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// Index of the group.
    pub group: usize,
    /// The application. Flows of a group share it.
    pub traffic: Arc<TrafficConfig>,
    /// The transport. Flows of a group share it.
    pub transport: Arc<TransportConfig>,
    /// Traffic class, for queues that distinguish classes.
    pub class: Class,
    /// Initial differentiated services code point of its packets, in both directions.
    pub dscp: Dscp,
    /// For flows with pauses: the active intervals from the flow's `start` to its `stop`.
    pub active: Option<Intervals>,
    /// Maximum number of simultaneous flows of the group. At the limit, the flow does not start.
    pub at_most: Option<u64>,
    /// Thresholds of timeliness, in ascending order. Reports quote the first.
    pub thresholds: Vec<Span>,
    /// Playout at the receiver of a call.
    pub playout: PlayoutConfig,
    /// Handling of missing and late units at the receiver of a call.
    pub reception: Reception,
    /// Playback at a constant rate, if measured.
    pub playback: Option<PlaybackConfig>,
    /// The interruption whose recovery is measured, in steps of the record's bin.
    pub recovery: Option<RecoveryConfig>,
    /// The application's requirements for latency and loss, if its Quality of Outcome is measured.
    pub outcome: Option<Arc<Requirement>>,
    /// Set for a session of a conference with a server.
    pub leg: Option<Leg>,
}

/// A conference.
#[derive(Clone, PartialEq, Debug)]
pub struct CallPlan {
    /// Name of the conference.
    pub name: String,
    /// Names of the participants.
    pub participants: Vec<String>,
    /// Node of the server. `None` for a mesh, in which participants send to each other directly.
    pub server: Option<String>,
    /// Set-up of the server.
    pub room: RoomSetup,
}

/// Routes that a flow takes from a given time on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reroute {
    /// Time of the change. Packets in flight stay on the route on which they were sent.
    pub at: Instant,
    /// Indices of the links from sender to receiver, in order.
    pub forward: Vec<usize>,
    /// Indices of the links back, in order.
    pub backward: Vec<usize>,
    /// True for a change of network and address: estimates of the path start anew.
    pub network: bool,
}

/// The flow of the other party in a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partner {
    /// Index of the flow.
    pub flow: usize,
    /// True if the conversation is named after the partner. Both flows draw the speech from its stream.
    pub leads: bool,
}

impl FlowPlan {
    /// True if the flow carries media that another flow brought to a server.
    pub fn is_forwarded(&self) -> bool {
        matches!(self.leg, Some(Leg { role: LegRole::Down { .. }, .. }))
    }

    /// All routes of its packets, in both directions, including later routes.
    pub fn routes(&self) -> impl Iterator<Item = &Vec<usize>> {
        let later = self.reroutes.iter().flat_map(|reroute| [&reroute.forward, &reroute.backward]);
        [&self.forward, &self.backward].into_iter().chain(later)
    }

    /// Active time between two instants, without pauses.
    pub fn active_time(&self, from: Instant, until: Instant) -> Span {
        let within = |(begins, ends): (Instant, Instant)| ends.min(until).span_since(begins.max(from));
        match &self.active {
            Some(active) => active.iter().fold(Span::ZERO, |sum, interval| sum + within(*interval)),
            None => within((self.start, self.stop)),
        }
    }

    /// Offered load while the application is active, in bits per second on the wire. For video, whose frames differ in size: the
    /// payload of all its layers. `None` for bulk data.
    pub fn offered(&self) -> Option<f64> {
        let units = self.traffic.units_per_second();
        let of_units = units.map(|units| units * wire_of_unit(&self.traffic, &self.transport) as f64 * 8.0);
        let layers = self.traffic.layers();
        of_units.or_else(|| layers.cumulative().last().map(|rate| rate.bits_per_second() as f64))
    }
}

/// Series and samples that a run records in addition to the measures.
#[derive(Clone, Debug, Default)]
pub struct RecordPlan {
    /// Width of the bins of goodput per flow and queue length per link. Smoothness is measured over these bins. Zero: no bins.
    pub bin: Span,
    /// Indices of the flows whose goodput per bin is recorded as a series.
    pub goodput: Vec<usize>,
    /// Sets of flows whose goodputs per bin are combined: name of the set, and indices of its flows.
    pub allotted: Vec<(String, Vec<usize>)>,
    /// Interval between samples of every sender's window and estimate. Zero: no samples.
    pub window_interval: Span,
    /// Indices of the links whose mean queue length per bin is recorded as a series.
    pub queues: Vec<usize>,
    /// Indices of the flows whose sender is sampled.
    pub windows: Vec<usize>,
    /// Indices of the flows whose round-trip times are measured.
    pub round_trips: Vec<usize>,
    /// Indices of the groups whose means per bin are recorded as series.
    pub series: Vec<usize>,
    /// Indices of the flows whose units are recorded one by one (creation, arrival), for playback of the call or video.
    pub units: Vec<usize>,
}
