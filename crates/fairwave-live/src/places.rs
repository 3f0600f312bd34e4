//! A plan with places for what programs send: flows of their own between the hosts, so that queues that tell flows apart tell those of
//! programs apart as well.

use std::sync::Arc;

use fairwave_core::packet::Class;
use fairwave_core::quality::impairment::Concealment;
use fairwave_core::quality::playout::PlayoutConfig;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use fairwave_core::units::Instant;
use fairwave_scenario::plan::{FlowPlan, Plan};

use crate::error::LiveError;
use crate::host::PROGRAM;

/// Conversations of programs between two hosts that are told apart, in each direction.
pub const PLACES: usize = 32;

/// A flow that is kept for programs between two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Node of who begins.
    pub from: usize,
    /// The other node.
    pub to: usize,
    /// Index of the flow.
    pub flow: usize,
}

/// The group of the places between two nodes.
pub fn group(plan: &Plan, from: usize, to: usize) -> String {
    let name = |node: usize| plan.nodes.get(node).map_or("?", String::as_str);
    format!("programs {}-{}", name(from), name(to))
}

/// Adds places between pairs of nodes. Pairs without a way between them get none.
///
/// # Errors
/// When programs' flows have not been handed in ([`crate::register_all`]).
pub fn add(plan: &mut Plan, pairs: &[(usize, usize)]) -> Result<Vec<Place>, LiveError> {
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
        for index in 0..PLACES {
            places.push(Place { from, to, flow: plan.flows.len() });
            plan.flows.push(FlowPlan {
                group,
                name: format!("{name}[{index}]"),
                from,
                to,
                forward: forward.clone(),
                backward: backward.clone(),
                traffic: Arc::clone(&traffic),
                transport: Arc::clone(&transport),
                class: Class::Tcp,
                start: Instant::ZERO,
                stop: Instant::NEVER,
                active: None,
                at_most: None,
                partner: None,
                thresholds: Vec::new(),
                playout: PlayoutConfig::default(),
                concealment: Concealment::default(),
                playback: None,
                recovery: None,
            });
        }
    }
    Ok(places)
}
