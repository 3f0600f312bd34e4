//! Reserved flows for the traffic of programs. Each conversation is a separate flow, so queues that distinguish flows
//! also distinguish conversations of programs.
//!
//! Each pair of hosts has one reserved flow. All others are spare: a new conversation takes the next one, and that flow
//! is then routed between the hosts of the conversation. So a pair may have thousands of conversations, and networks
//! with hundreds of pairs cost no more.

use std::ops::Range;
use std::sync::Arc;

use fairwave_core::packet::Class;
use fairwave_core::quality::impairment::Reception;
use fairwave_core::quality::playout::PlayoutConfig;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use fairwave_core::units::Instant;
use fairwave_scenario::plan::{FlowPlan, GroupPlan, Plan};

use crate::error::LiveError;
use crate::host::PROGRAM;

/// Number of spare flows, in addition to one per pair of hosts.
pub const SPARE: usize = 4096;

/// Group name of unused spare flows.
const UNTAKEN: &str = "programs: not used";

/// Reserved flow between two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramFlow {
    /// Node that starts the conversation.
    pub from: usize,
    /// The other node.
    pub to: usize,
    /// Index of the flow.
    pub flow: usize,
}

/// Returns the group name of the reserved flows between two nodes.
pub fn group(plan: &Plan, from: usize, to: usize) -> String {
    let name = |node: usize| plan.nodes.get(node).map_or("?", String::as_str);
    format!("programs {}-{}", name(from), name(to))
}

/// Assignment of a spare flow to other hosts than its initial ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlaceConflict {
    /// Index of the spare flow.
    pub flow: usize,
    /// Index of the first reserved flow between the new hosts.
    pub like: usize,
}

/// Adds one reserved flow per pair of nodes, and spare flows. Returns both. Pairs without a route get none.
///
/// # Errors
/// The transport of programs is not registered ([`crate::register_all`]).
pub fn add(plan: &mut Plan, pairs: &[(usize, usize)]) -> Result<(Vec<ProgramFlow>, Range<usize>), LiveError> {
    let not_live = |error: &dyn std::fmt::Display| LiveError::NotLive {
        place: PROGRAM.to_owned(),
        what: error.to_string(),
        help: "call fairwave_live::register_all() first".to_owned(),
    };
    let transport: Arc<TransportConfig> = Arc::new(PROGRAM.parse().map_err(|error| not_live(&error))?);
    let traffic: TrafficConfig =
        serde_json::from_value(serde_json::json!({ "kind": "bulk" })).map_err(|error| not_live(&error))?;
    let traffic = Arc::new(traffic);
    let mut places = Vec::new();
    for &(from, to) in pairs {
        let Some((forward, backward)) = plan.way(from, to) else { continue };
        let name = group(plan, from, to);
        let group = plan.groups.len();
        plan.groups.push(name.clone());
        places.push(ProgramFlow { from, to, flow: plan.flows.len() });
        let common = GroupPlan {
            group,
            traffic: Arc::clone(&traffic),
            transport: Arc::clone(&transport),
            class: Class::Tcp,
            dscp: Class::Tcp.dscp(),
            active: None,
            at_most: None,
            thresholds: Vec::new(),
            playout: PlayoutConfig::default(),
            reception: Reception::default(),
            playback: None,
            recovery: None,
            outcome: None,
            leg: None,
        };
        plan.flows.push(FlowPlan {
            name,
            from,
            to,
            forward,
            backward,
            reroutes: Vec::new(),
            start: Instant::ZERO,
            stop: Instant::NEVER,
            partner: None,
            common: Arc::new(common),
        });
    }
    let spare = plan.flows.len();
    if let Some(first) = places.first().and_then(|place| plan.flows.get(place.flow)).cloned() {
        let group = plan.groups.len();
        plan.groups.push(UNTAKEN.to_owned());
        let common = Arc::new(GroupPlan { group, ..(*first.common).clone() });
        plan.flows.extend((0..SPARE).map(|_| FlowPlan { common: Arc::clone(&common), ..first.clone() }));
    }
    Ok((places, spare..plan.flows.len()))
}

/// Returns the plan after the run: assigned spare flows have the group and the route of their hosts.
pub fn with_reassigned_places(plan: &Plan, reassigned: &[PlaceConflict]) -> Plan {
    let mut plan = plan.clone();
    for &PlaceConflict { flow, like } in reassigned {
        let of_hosts = plan.flows.get(like).cloned();
        if let (Some(place), Some(of_hosts)) = (plan.flows.get_mut(flow), of_hosts) {
            *place = of_hosts;
        }
    }
    plan
}
