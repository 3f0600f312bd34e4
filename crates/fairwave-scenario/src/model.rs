//! The scenario as a value: all keys of the language. TOML and JSON share this model and its JSON Schema.
//!
//! Nothing here is resolved: presets and templates are not expanded, spreads not drawn. [`Scenario::plan`] does this for a seed.

use std::collections::BTreeMap;
use std::sync::Arc;

use fairwave_core::dscp::Dscp;
use fairwave_core::medium::MediumConfig;
use fairwave_core::packet::Class;
use fairwave_core::quality::impairment::Concealment;
use fairwave_core::quality::outcome::Requirement;
use fairwave_core::quality::playback::PlaybackConfig;
use fairwave_core::quality::playout::PlayoutConfig;
use fairwave_core::quality::recovery::RecoveryConfig;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use fairwave_core::units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arrivals::Arrivals;
pub use crate::call::{Call, Participant, Server};
use crate::call::{Departure, Leg};
pub use crate::delay::{DelaySchedule, WrittenDelay};
pub use crate::details::Details;
use crate::direction::table_with_direction;
pub use crate::direction::{Direction, LinkSpec};
use crate::error::{Problem, ScenarioError};
pub use crate::events::{Event, State};
pub use crate::hosts::Hosts;
use crate::hosts::HostsPlan;
use crate::law::LawTable;
use crate::origin::Origin;
pub use crate::rate::WrittenRate;
use crate::shares::Load;
use crate::topology::Topology;
use crate::values::{Start, Thresholds};
use crate::version::{LANGUAGE, Version};

/// An experiment: a network, flows across it, and the results to record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Version of the scenario language. Default: the current version.
    #[serde(default, skip_serializing_if = "is_default")]
    pub version: Version,
    /// Name of the scenario in reports.
    pub name: String,
    /// The purpose of the scenario, in one or more sentences.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Simulated time.
    pub duration: Span,
    /// Initial part of the run that measures exclude. Shorter than the duration.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warmup: Span,
    /// Source of default protocol details (RFCs, Linux, ns-2), and of the hosts' default timing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preset: Details,
    /// Clock skew and send jitter of hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
    /// Default seed of runs.
    #[serde(default = "default_count", skip_serializing_if = "is_default_count")]
    pub seed: u64,
    /// A named topology. Its links are used together with the links under `link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Links, individual or as templates.
    #[serde(default, rename = "link", skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Shared media by name: `[medium.air]` with `law = "…"`. Links refer to a medium instead of a rate.
    #[serde(default, rename = "medium", skip_serializing_if = "BTreeMap::is_empty")]
    pub media: BTreeMap<String, LawTable<MediumConfig>>,
    /// Total load offered by all flows, and the share of each class. With a load, the counts of flows are weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Groups of flows.
    #[serde(default, rename = "flow", skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    /// Calls of two or more participants. Their flows are used together with the flows under `flow`.
    #[serde(default, rename = "call", skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// Changes at known times.
    #[serde(default, rename = "event", skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// Series and samples that a run records in addition to the measures.
    #[serde(default, skip_serializing_if = "is_default")]
    pub record: Record,
    /// Source text, for messages.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) origin: Arc<Origin>,
}

/// A link between two nodes, in both directions unless `duplex = false`; with `count`, a template for several links.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", from = "LinkTable")]
#[schemars(with = "LinkTable")]
pub struct Link {
    /// Node at one end. In templates `{i}` counts from 0; `{i+1}`, `{i%3}` and `{i%3+1}` compute with it.
    pub from: String,
    /// Node at the other end.
    pub to: String,
    /// Number of links created from this table.
    #[serde(skip_serializing_if = "is_default_count")]
    pub count: u64,
    /// Properties of both directions. The forward direction needs a rate and a delay, or a medium.
    #[serde(flatten)]
    pub spec: LinkSpec,
    /// True (the default): both directions. False: only from `from` to `to`.
    #[serde(skip_serializing_if = "is_yes")]
    pub duplex: bool,
}

table_with_direction! {
    /// A link between two nodes, in both directions unless `duplex = false`; with `count`, a template for several
    /// links.
    #[derive(Deserialize, JsonSchema)]
    #[schemars(rename = "Link", extend("required" = ["from", "to"]))]
    struct LinkTable {
        /// Node at one end. In templates `{i}` counts from 0; `{i+1}`, `{i%3}` and `{i%3+1}` compute with it.
        from: String,
        /// Node at the other end.
        to: String,
        /// Number of links created from this table.
        #[serde(default = "default_count")]
        count: u64,
    } and {
        /// True (the default): both directions. False: only from `from` to `to`.
        #[serde(default = "yes")]
        duplex: bool,
        /// Differences of the reverse direction.
        #[serde(default)]
        reverse: Option<Direction>,
    }
}

impl From<LinkTable> for Link {
    fn from(table: LinkTable) -> Self {
        let LinkTable {
            from,
            to,
            count,
            rate,
            medium,
            delay,
            queue,
            police,
            shape,
            loss,
            outages,
            jitter,
            reorder,
            duplicate,
            duplex,
            reverse,
        } = table;
        let there = Direction { rate, medium, delay, queue, police, shape, loss, outages, jitter, reorder, duplicate };
        Link { from, to, count, spec: LinkSpec { there, reverse }, duplex }
    }
}

/// A group of flows that differ only in route, start time and random numbers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Flow {
    /// Name of the group. Its flows are called `name[i]`, with i from 0.
    pub name: String,
    /// Number of flows, or the group's weight under a `load`. 0 leaves the group out. Default 1; in the multi-hop preset, one per
    /// hop on `each-hop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Node of the sender. `{i}` is the flow's index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Node of the receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// In a preset topology, instead of `from` and `to`: the name of a path. Each flow then has two separate hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The transport: `"udp"`, `"tcp/vegas"`, or a table with its parameters.
    pub transport: LawTable<TransportConfig>,
    /// The application: `"bulk"`, or a table with its parameters.
    pub traffic: LawTable<TrafficConfig>,
    /// Nodes that packets pass from sender to receiver, in order. Between these nodes, packets take the shortest route. Default:
    /// the shortest route from end to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Vec<String>>,
    /// Nodes that packets pass from receiver to sender, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_back: Option<Vec<String>>,
    /// Time until flows change their route. After a link on their route has been down for this time, packets take the best route
    /// around it. After the link has been up again for this time, they return to the original route. Default: the route never
    /// changes, and a failed link loses the packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover: Option<Span>,
    /// Class by which queues distinguish packets. Default: `tcp` over TCP, else `voice` for voice, else `other-udp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Differentiated services code point of its packets, in both directions: a name (`ef`, `af41`, `le`) or a number from 0 to 63.
    /// Default: `ef` for the class `voice`, else `df`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Start time of the flows.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: Start,
    /// Stop time of the flows. Default: end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
    /// Active times of the flows, instead of `start` and `stop`: intervals `[from, until]` in ascending order. The application
    /// pauses between intervals and then continues from the same state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<Vec<[Span; 2]>>,
    /// Random arrivals of flows: their rate, from `start` to `stop`. `count` is then the number of pairs of hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// The threshold of timeliness, or several thresholds in ascending order. Default 300 ms.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timely: Thresholds,
    /// Playout at the receivers of calls. Default: adaptive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playout: Option<LawTable<PlayoutConfig>>,
    /// Concealment of missing units at the receivers of calls. Default: G.711 Appendix I.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concealment: Option<Concealment>,
    /// True if packets of Opus carry a coarse copy of the previous frame (RFC 6716 §2.1.7), which replaces a single lost frame.
    /// Default: true, as in WebRTC. Other codecs of calls have no such copy. Media sessions have this key in `audio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_band_fec: Option<bool>,
    /// A, the advantage factor of ITU-T G.107 §7.6, from 0 to 20. It is added to R, because users accept lower quality in exchange
    /// for access. Default 0 (wired line). At most 5 within a building, 10 in an area or a vehicle, 20 in places that are hard to
    /// reach otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advantage: Option<f64>,
    /// Playback at a constant rate from a buffer at the receivers. Fairwave measures how often the buffer holds enough data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playback: Option<PlaybackConfig>,
    /// Measures the time that flows need to recover from an interruption, in steps of the record's `bin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryConfig>,
    /// Requirements of the application for latency and loss. Each flow's Quality of Outcome measures how close it comes to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Requirement>,
    /// In a preset topology: differences of this group's senders' links from the topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_access: Option<LinkSpec>,
    /// In a preset topology: differences of this group's receivers' links from the topology.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_access: Option<LinkSpec>,
    /// Set for a session of a call with a server. Derived from `call`.
    #[serde(skip)]
    #[schemars(skip)]
    pub leg: Option<Leg>,
    /// Changes of network of a participant of a call. Derived from `call`.
    #[serde(skip)]
    #[schemars(skip)]
    pub departures: Vec<Departure>,
}

/// Series and samples that a run records in addition to the measures.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Record {
    /// Width of the bins of goodput and queue length. Smoothness is measured over these bins. Default: no series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bin: Option<Span>,
    /// Flows whose goodput per bin is recorded as a series: `voice` for the whole group, `voice[0]`, `voice[0..5]`, `*` for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goodput: Vec<String>,
    /// Flows whose goodputs per bin are combined, one series per entry: their sum (allotted goodput) and Jain's index (allotted
    /// fairness). Same form as `goodput`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allotted: Vec<String>,
    /// Interval between samples of the senders in `windows`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_interval: Option<Span>,
    /// Link directions (`r1>r2`) whose queue is sampled; `*` for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<String>,
    /// Flows whose sender is sampled. Same form as `goodput`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<String>,
    /// Flows whose senders measure round-trip times. Same form as `goodput`. Flows of `ping` always do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub round_trips: Vec<String>,
    /// Groups whose means are recorded as series, one value per `bin`: goodput, delay, loss, MOS and round-trip time, as far as
    /// they apply, and the queueing delay of the links in `queues`. `*` for all groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<String>,
    /// Flows whose units are recorded one by one, so that you can play back the call or the video. Same form as `goodput`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<String>,
    /// Capture points of packets, for Wireshark and similar tools: `link:r1>r2` for packets that leave a link's transmitter,
    /// `drops:r1>r2` for packets that its queue drops, `host:NODE` for packets that a node sends and receives. You can add a file
    /// name: `link:r1>r2=up.pcapng`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capture: Vec<String>,
}

impl Scenario {
    /// Creates an empty scenario, to be filled in code.
    pub fn new(name: &str, duration: Span) -> Self {
        Scenario {
            version: LANGUAGE,
            name: name.to_owned(),
            description: String::new(),
            duration,
            warmup: Span::ZERO,
            preset: Details::default(),
            hosts: None,
            seed: 1,
            topology: None,
            links: Vec::new(),
            media: BTreeMap::new(),
            load: None,
            flows: Vec::new(),
            calls: Vec::new(),
            events: Vec::new(),
            record: Record::default(),
            origin: Arc::default(),
        }
    }
}

impl Scenario {
    /// Clock skew and send jitter of the hosts, from the scenario or its preset.
    pub(crate) fn hosts(&self) -> HostsPlan {
        self.hosts.unwrap_or_default().resolved(self.preset)
    }

    /// The groups of calls, and each group's mean share of time with speech per speaker: above 0, at most 1.
    pub fn activities(&self) -> Vec<(String, f64)> {
        let of = |flow: &Flow| flow.traffic.with_details(self.preset).ok()?.activity();
        self.flows.iter().filter_map(|flow| Some((flow.name.clone(), of(flow)?))).collect()
    }

    /// Number of flows of the group.
    pub(crate) fn count_of(&self, flow: &Flow) -> u64 {
        let of_path = || {
            let topology = self.topology.as_ref().filter(|_| flow.from.is_none())?;
            let name = flow.path.as_deref().or(topology.preset.paths().first().copied())?;
            topology.path(name).map(|ends| ends.default_count)
        };
        flow.count.or_else(of_path).unwrap_or(1)
    }

    /// Number of link directions of all link tables.
    pub(crate) fn link_directions(&self) -> u64 {
        let directions = |link: &Link| link.count.saturating_mul(if link.duplex { 2 } else { 1 });
        self.links.iter().map(directions).fold(0, u64::saturating_add)
    }

    /// Converts problems to an error, with their positions in the text.
    pub(crate) fn error(&self, problems: Vec<Problem>) -> ScenarioError {
        ScenarioError::new(self.origin.clone(), problems)
    }
}

impl Link {
    /// Name in overrides and messages: `from>to`, templates as written.
    pub fn name(&self) -> String {
        format!("{}>{}", self.from, self.to)
    }
}

impl Flow {
    /// Class by which queues distinguish packets. Default: `tcp` for TCP and live transports, `voice` for voice, `other-udp` for the
    /// rest.
    pub(crate) fn class(&self) -> Class {
        self.class.unwrap_or(match self.traffic.name() {
            _ if ["tcp", "host"].iter().any(|family| self.transport.name().starts_with(family)) => Class::Tcp,
            "voice" | "recording" | "conversation" => Class::Voice,
            _ => Class::OtherUdp,
        })
    }

    /// Code point of its packets: the code point in the scenario, else the default of its class.
    pub(crate) fn dscp(&self) -> Dscp {
        self.dscp.unwrap_or(self.class().dscp())
    }
}

fn default_count() -> u64 {
    1
}

fn is_default_count(value: &u64) -> bool {
    *value == 1
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
