//! Flows that take other routes in the course of a run: each change is an event of its own, and what waits on a route that its flow has left
//! stays on it.

use std::collections::HashMap;

use fairwave_core::units::Instant;
use fairwave_scenario::plan::{Plan, Reroute};

use crate::error::RunError;
use crate::network::Network;
use crate::places::Map;
use crate::routes::END;

/// A change of a flow's routes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detour {
    /// When.
    pub at: Instant,
    /// Whose.
    pub flow: usize,
    /// Where its routes begin from then on: forward, backward.
    pub routes: [u32; 2],
    /// It is another network.
    pub network: bool,
}

/// All changes, and every route that a flow ever has.
#[derive(Default)]
pub(crate) struct Detours {
    /// In order of flows, and of time for each.
    pub changes: Vec<Detour>,
    /// Of each flow that changes, where its routes begin.
    routes: HashMap<usize, Vec<[u32; 2]>>,
}

impl Detours {
    /// Adds the routes that flows take later; `first` says where those begin that they have at the start.
    ///
    /// # Errors
    /// More steps than can be numbered.
    pub fn new(plan: &Plan, network: &mut Network, first: impl Fn(usize) -> [u32; 2]) -> Result<Self, RunError> {
        let mut detours = Detours::default();
        for (flow, planned) in plan.flows.iter().enumerate().filter(|(_, flow)| !flow.reroutes.is_empty()) {
            let mut all = vec![first(flow)];
            for Reroute { at, forward, backward, network: other } in &planned.reroutes {
                let routes = network.add_way(plan, forward, backward, [false; 2])?;
                all.push(routes);
                detours.changes.push(Detour { at: *at, flow, routes, network: *other });
            }
            detours.routes.insert(flow, all);
        }
        Ok(detours)
    }

    /// The place of the step into `link` on the newest route of a flow that has it; for a packet that waits where its flow does not go any
    /// more.
    pub fn place_of<M: Map>(&self, network: &Network<M>, flow: usize, feedback: bool, link: usize) -> Option<u32> {
        let routes = self.routes.get(&flow)?.iter().rev();
        let mut places = routes.map(|begins| network.routes.place_of(begins[usize::from(feedback)], link));
        places.find(|place| network.routes.at(*place).target() != END)
    }
}
