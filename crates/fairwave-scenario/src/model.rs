//! The scenario as a value: all keys of the language. TOML and JSON share it, and its JSON Schema.
//!
//! Nothing here is resolved: presets are not expanded, templates not multiplied, spreads not drawn. [`Scenario::plan`]
//! does this for a seed.

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
pub use crate::delay::{DelaySchedule, WrittenDelay};
pub use crate::details::Details;
use crate::direction::table_with_direction;
pub use crate::direction::{Direction, LinkSpec};
use crate::error::{Problem, ScenarioError};
pub use crate::events::{Event, State};
pub use crate::hosts::Hosts;
use crate::law::LawTable;
use crate::origin::Origin;
use crate::plan::{Departure, HostsPlan, Leg};
pub use crate::rate::WrittenRate;
use crate::shares::Load;
use crate::topology::Topology;
use crate::values::{Start, Thresholds};

/// An experiment: a network, flows across it, and the results to record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Name of the scenario in reports.
    pub name: String,
    /// The purpose of the scenario, in one or more sentences.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Simulated time.
    pub duration: Span,
    /// The beginning of the run that measures leave out; shorter than the duration.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warmup: Span,
    /// Whose protocol details are the defaults, and whether hosts are in step.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preset: Details,
    /// Clock skew and send jitter of hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
    /// The seed of a run that does not name one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub seed: u64,
    /// A network by name; its links join those under `link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Links, one by one or as templates.
    #[serde(default, rename = "link", skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// Shared media by name, which links name instead of a rate: `[medium.air]` with `law = "…"`.
    #[serde(default, rename = "medium", skip_serializing_if = "BTreeMap::is_empty")]
    pub media: BTreeMap<String, LawTable<MediumConfig>>,
    /// The load that all flows offer together, and each class's share of it; the counts of flows are then weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Groups of flows.
    #[serde(default, rename = "flow", skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    /// Calls of two or more participants: their flows join those under `flow`.
    #[serde(default, rename = "call", skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// Changes at known times.
    #[serde(default, rename = "event", skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// What a run records in addition to the measures.
    #[serde(default, skip_serializing_if = "is_default")]
    pub record: Record,
    /// The text that it was read from, for messages.
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
    /// Number of links that this table stands for.
    #[serde(skip_serializing_if = "is_one")]
    pub count: u64,
    /// What its directions are like; of the one there, rate and delay must be given, or a medium.
    #[serde(flatten)]
    pub spec: LinkSpec,
    /// Both directions (the default), or only from `from` to `to`.
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
        /// Number of links that this table stands for.
        #[serde(default = "one")]
        count: u64,
    } and {
        /// Both directions (the default), or only from `from` to `to`.
        #[serde(default = "yes")]
        duplex: bool,
        /// Where the direction back differs.
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

/// A group of flows that differ only in their place, their start and their random numbers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Flow {
    /// Name of the group; flow i of it is called `name[i]`.
    pub name: String,
    /// How many flows, or under a `load` the group's weight; 0 leaves the group out. 1 if left out (in the multi-hop preset: one per hop on `each-hop`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Node of the sender; `{i}` is the flow's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Node of the receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// In a preset topology, instead of `from` and `to`: the path by name. Each flow then has its own two hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How it is sent: `"udp"`, `"tcp/vegas"`, or a table with its parameters.
    pub transport: LawTable<TransportConfig>,
    /// What the application sends: `"bulk"`, or a table with its parameters.
    pub traffic: LawTable<TrafficConfig>,
    /// Nodes that packets pass from sender to receiver, in order; between them, packets take the shortest way. The
    /// shortest way from end to end, when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Vec<String>>,
    /// Nodes that packets pass from receiver to sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_back: Option<Vec<String>>,
    /// Time until flows take another route. When a link on their route has been down for this time, their packets take
    /// the best route around it. When the link has been up again for this time, they return to the first route. Left
    /// out: they never change, and a failed link loses their packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover: Option<Span>,
    /// Class by which queues distinguish packets. If left out: `tcp` over TCP, else `voice` for voice, else
    /// `other-udp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Differentiated services code point of its packets, in both directions: a name (`ef`, `af41`, `le`) or a number from 0 to 63. If left
    /// out: `ef` for the class `voice`, else `df`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// When the flows begin.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: Start,
    /// When they end; the end of the run if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
    /// When the flows are on, instead of `start` and `stop`: intervals `[from, until]` in ascending order. Between
    /// intervals the application's time stands still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<Vec<[Span; 2]>>,
    /// Flows arrive at random and leave: the rate of arrivals, from `start` to `stop`. `count` is then the number of
    /// pairs of hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// The threshold of timeliness, 300 ms if left out; or several thresholds in ascending order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timely: Thresholds,
    /// The playout of the receivers of calls; adaptive if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playout: Option<LawTable<PlayoutConfig>>,
    /// How the receivers of calls conceal what they cannot play; G.711 Appendix I if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concealment: Option<Concealment>,
    /// Whether packets of Opus carry a coarse copy of the frame before them (RFC 6716 §2.1.7), which replaces a single lost frame. True,
    /// as in WebRTC, if left out; other codecs of calls have none. Media sessions have their key in `audio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_band_fec: Option<bool>,
    /// A, the advantage factor of ITU-T G.107 §7.6, from 0 to 20: added to R for what users forgive in exchange for
    /// access. 0 for a wired line (if left out); at most 5 within a building, 10 in an area or a vehicle, 20 in places
    /// that nothing else reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advantage: Option<f64>,
    /// The receivers read at a constant rate from a playback buffer; fairwave measures how often they find enough data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playback: Option<PlaybackConfig>,
    /// Measures how long the flows take to recover from an interruption, in steps of the record's `bin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryConfig>,
    /// What the application needs of latency and loss: how near each flow comes to it is its Quality of Outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Requirement>,
    /// In a preset topology: where the links of this group's senders differ from the topology's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_access: Option<LinkSpec>,
    /// In a preset topology: where the links of this group's receivers differ from the topology's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_access: Option<LinkSpec>,
    /// It is a session of a call with a server; made from `call`.
    #[serde(skip)]
    #[schemars(skip)]
    pub leg: Option<Leg>,
    /// Changes of network of a participant of a call; made from `call`.
    #[serde(skip)]
    #[schemars(skip)]
    pub departures: Vec<Departure>,
}

/// What a run records in addition to the measures.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Record {
    /// Width of the bins of goodput and queue length, from which smoothness is measured; no series if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bin: Option<Span>,
    /// Flows whose goodput per bin is kept as a series: `voice` for the whole group, `voice[0]`, `voice[0..5]`, `*` for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goodput: Vec<String>,
    /// Flows whose goodputs per bin are combined, one series per entry: their sum (allotted goodput) and Jain's index
    /// (allotted fairness); written as for `goodput`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allotted: Vec<String>,
    /// Interval between samples of the senders in `windows`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_interval: Option<Span>,
    /// Link directions (`r1>r2`) whose queue is sampled; `*` for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<String>,
    /// Flows whose sender is sampled; written as for `goodput`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<String>,
    /// Flows whose senders measure round trips; written as for `goodput`. Flows of `ping` always do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub round_trips: Vec<String>,
    /// Groups whose means are kept as series, one value per `bin`: goodput, delay, loss, MOS and round trip, as far as
    /// the group has them, and the queueing delay of the links in `queues`; `*` for all groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<String>,
    /// Flows whose units are recorded one by one, so that you can hear or see them; written as for `goodput`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<String>,
    /// Where packets are captured, for Wireshark and similar tools: `link:r1>r2` for packets that leave a link's
    /// transmitter, `drops:r1>r2` for packets that its queue drops, `host:NODE` for packets that a node sends and
    /// receives. Each can name a file, `link:r1>r2=up.pcapng`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capture: Vec<String>,
}

impl Scenario {
    /// An empty scenario of this name and duration, to be filled in code.
    pub fn new(name: &str, duration: Span) -> Self {
        Scenario {
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
    /// How far hosts are from being in step, by this scenario and its preset.
    pub(crate) fn hosts(&self) -> HostsPlan {
        self.hosts.unwrap_or_default().resolved(self.preset)
    }

    /// The groups of calls, by name, and the mean share of the time during which each speaker of a group talks: above 0, at most 1.
    pub fn activities(&self) -> Vec<(String, f64)> {
        let of = |flow: &Flow| flow.traffic.with_details(self.preset).ok()?.activity();
        self.flows.iter().filter_map(|flow| Some((flow.name.clone(), of(flow)?))).collect()
    }

    /// How many flows the group has.
    pub(crate) fn count_of(&self, flow: &Flow) -> u64 {
        let of_path = || {
            let topology = self.topology.as_ref().filter(|_| flow.from.is_none())?;
            let name = flow.path.as_deref().or(topology.preset.paths().first().copied())?;
            topology.path(name).map(|ends| ends.default_count)
        };
        flow.count.or_else(of_path).unwrap_or(1)
    }

    /// How many link directions its links stand for.
    pub(crate) fn link_directions(&self) -> u64 {
        let directions = |link: &Link| link.count.saturating_mul(if link.duplex { 2 } else { 1 });
        self.links.iter().map(directions).fold(0, u64::saturating_add)
    }

    /// These problems, each with the place in the text that it is about.
    pub(crate) fn error(&self, problems: Vec<Problem>) -> ScenarioError {
        ScenarioError::new(self.origin.clone(), problems)
    }
}

impl Link {
    /// The name by which overrides and messages address it: `from>to`, templates as they are written.
    pub fn name(&self) -> String {
        format!("{}>{}", self.from, self.to)
    }
}

impl Flow {
    /// Its class by which queues tell packets apart: the one that is written, else TCP in all its flavours, voice by what the
    /// application sends, other UDP.
    pub(crate) fn class(&self) -> Class {
        self.class.unwrap_or(match self.traffic.name() {
            _ if ["tcp", "host"].iter().any(|family| self.transport.name().starts_with(family)) => Class::Tcp,
            "voice" | "recording" | "conversation" => Class::Voice,
            _ => Class::OtherUdp,
        })
    }

    /// The code point of its packets: the one that is written, else its class's.
    pub(crate) fn dscp(&self) -> Dscp {
        self.dscp.unwrap_or(self.class().dscp())
    }
}

fn one() -> u64 {
    1
}

fn is_one(value: &u64) -> bool {
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
