//! Route changes of flows during a run. Each change is a separate event. Packets that wait on the old route stay on
//! it.

use std::collections::HashMap;

use fairwave_core::units::Instant;
use fairwave_scenario::plan::{Plan, Reroute};

use crate::error::RunError;
use crate::island_map::Map;
use crate::network::Network;
use crate::routes::END;

/// A change of a flow's routes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detour {
    /// Time of the change.
    pub at: Instant,
    /// Flow that changes.
    pub flow: usize,
    /// Start positions of its new routes: forward, backward.
    pub routes: [u32; 2],
    /// True if the flow changes to another network.
    pub network: bool,
}

/// All route changes, and every route of the flows concerned.
#[derive(Default)]
pub(crate) struct Detours {
    /// Ordered by flow, then by time.
    pub changes: Vec<Detour>,
    /// For each flow with changes: the start positions of all its routes.
    routes: HashMap<usize, Vec<[u32; 2]>>,
}

impl Detours {
    /// Adds the later routes of flows; `first` returns the start positions of a flow's initial routes.
    ///
    /// # Errors
    /// Fails if there are more steps than can be numbered.
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

    /// Returns the position of the step into `link` on the flow's newest route with that link. Needed for packets
    /// that wait on a route that the flow has left.
    pub fn place_of<M: Map>(&self, network: &Network<M>, flow: usize, feedback: bool, link: usize) -> Option<u32> {
        let routes = self.routes.get(&flow)?.iter().rev();
        let mut places = routes.map(|begins| network.routes.place_of(begins[usize::from(feedback)], link));
        places.find(|place| network.routes.step(*place).target() != END)
    }
}
