//! Network of a run, built from the plan: links, routes, and the hops that need no event.

use std::sync::Arc;

use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::{FlowPlan, LinkPlan, Plan};

use crate::error::RunError;
use crate::event::MAX_INDEX;
use crate::island_map::{IdentityMap, PlacedItems};
use crate::link::Link;
use crate::measure::{Bins, Window};
use crate::routes::{Routes, Step};
use crate::shared_media::{self, MediumRun};

/// Links and their routes.
pub(crate) struct Network<M = IdentityMap> {
    /// Link directions, by index of the plan.
    pub links: PlacedItems<Link, M>,
    /// Shared media, by index of the plan.
    pub media: Vec<MediumRun>,
    /// Routes of the flows added so far.
    pub routes: Arc<Routes>,
    /// Per link, while routes are added: true if all its packets come in order from a single other link. Then the
    /// link can be crossed immediately after that one.
    pub fed_in_order: Vec<bool>,
}

impl Network {
    /// Builds the links and the routes.
    pub fn new(plan: &Plan, window: Window) -> Result<Self, RunError> {
        if plan.links.len() + plan.media.len() > MAX_INDEX || plan.flows.len() > MAX_INDEX {
            return Err(RunError::TooLarge { links: plan.links.len(), flows: plan.flows.len(), allowed: MAX_INDEX });
        }
        // Needed only by queues that share by hosts.
        let ends = || -> Arc<[[u32; 2]]> { plan.flows.iter().map(|flow| [flow.from as u32, flow.to as u32]).collect() };
        let ends = plan.links.iter().any(|link| link.direction.queue.discipline.nature().by_host).then(ends);
        let mut links: Vec<Link> = Vec::with_capacity(plan.links.len());
        let refused = |link: &LinkPlan, error| RunError::Config { place: link.name.to_string(), error };
        for (index, link) in plan.links.iter().enumerate() {
            let bin = if plan.record.queues.contains(&index) { plan.record.bin } else { Span::ZERO };
            // Equal links share their direction. Most equal one of the two previous links: the same direction of
            // another duplex link.
            let before = index.saturating_sub(2)..index;
            let alike = before.rev().find(|&one| Arc::ptr_eq(&plan.links[one].direction, &link.direction));
            if alike.is_none() {
                Link::check(&link.direction).map_err(|error| refused(link, error))?;
            }
            let made = alike.and_then(|one: usize| links[one].another(link, window, bin));
            let mut made = match made {
                Some(made) => made,
                None => Link::new(link, plan.seed, window, bin).map_err(|error| refused(link, error))?,
            };
            if !plan.record.series.is_empty() {
                made.count_departures(Bins::zero(window, bin));
            }
            if let Some(ends) = &ends {
                made.set_flow_ends(ends);
            }
            links.push(made);
        }
        let media = shared_media::create_media(plan, &mut links)?;
        let mut network = Network {
            links: PlacedItems::new(links, IdentityMap),
            media,
            routes: Arc::default(),
            fed_in_order: Vec::new(),
        };
        for flow in &plan.flows {
            if flow.forward.is_empty()
                || flow.backward.is_empty()
                || flow.forward.len().max(flow.backward.len()) > 0x7fff
            {
                return Err(RunError::Route {
                    flow: flow.name.clone(),
                    hops: flow.forward.len().max(flow.backward.len()),
                });
            }
        }
        network.find_links_fed_in_order(plan);
        Ok(network)
    }

    /// Adds the two routes of a flow. `ahead` states whether its receiver and its sender are called ahead of time
    /// ([`Self::receivers_ahead_of_time`], [`Self::senders_ahead_of_time`]). Returns the start positions of the
    /// forward and the reverse route.
    ///
    /// # Errors
    /// Fails if there are more steps than can be numbered.
    pub fn add_routes(&mut self, plan: &Plan, flow: &FlowPlan, ahead: [bool; 2]) -> Result<[u32; 2], RunError> {
        self.add_way(plan, &flow.forward, &flow.backward, ahead)
    }

    /// The same for any two routes.
    ///
    /// # Errors
    /// Fails if there are more steps than can be numbered.
    pub fn add_way(
        &mut self,
        plan: &Plan,
        forward: &[usize],
        backward: &[usize],
        ahead: [bool; 2],
    ) -> Result<[u32; 2], RunError> {
        let steps = |route: &[usize], end: Step| -> Vec<Step> {
            let links = route.iter().map(|&link| Step::enter(link as u32, self.fed_in_order[link]));
            links.chain([end]).collect()
        };
        let (forward, backward) = (steps(forward, Step::end(ahead[0])), steps(backward, Step::end(ahead[1])));
        let too_large = RunError::TooLarge { links: plan.links.len(), flows: plan.flows.len(), allowed: MAX_INDEX };
        // The routes are not shared yet.
        Arc::get_mut(&mut self.routes).and_then(|routes| routes.add(&forward, &backward)).ok_or(too_large)
    }

    /// Completes the averages of managed queues at the end of the run.
    pub fn account_for_queues(&mut self, window: Window) {
        for link in &mut self.links.items {
            link.account_for_queue(window.end, window);
        }
    }

    /// Starts the window: managed queues count their classes from here.
    pub fn begin_window(&mut self, now: Instant, window: Window) {
        for link in &mut self.links.items {
            link.begin_window(now, window);
        }
        for medium in &mut self.media {
            medium.begin_window();
        }
    }

    /// Finds the links that are fed in order: a plain FIFO that receives all its packets from one order-preserving
    /// link.
    fn find_links_fed_in_order(&mut self, plan: &Plan) {
        const NOBODY: usize = usize::MAX;
        const SEVERAL: usize = usize::MAX - 1;
        let mut feeder = vec![NOBODY; self.links.items.len()];
        for flow in &plan.flows {
            for route in flow.routes() {
                feeder[route[0]] = SEVERAL;
                for pair in route.windows(2) {
                    let known = &mut feeder[pair[1]];
                    *known = if *known == NOBODY || *known == pair[0] { pair[0] } else { SEVERAL };
                }
            }
        }
        let reorders: Vec<bool> = self.links.items.iter().map(Link::reorders).collect();
        let fed_in_order = |(link, feeder): (&Link, usize)| feeder < SEVERAL && !link.is_managed() && !reorders[feeder];
        self.fed_in_order = self.links.items.iter().zip(feeder).map(fed_in_order).collect();
    }

    /// Returns the flows with receivers that can be called as soon as a packet's arrival time is known. Conditions:
    /// their node has only such receivers; all packets reach the node over one link, in order; no packet passes
    /// through the node; and their replies enter a plain FIFO.
    pub fn receivers_ahead_of_time(&self, plan: &Plan, reactive: &[bool]) -> Vec<bool> {
        const NOBODY: usize = usize::MAX;
        let mut last_link = vec![NOBODY; plan.nodes.len()];
        let mut allowed = vec![true; plan.nodes.len()];
        for (flow, &reactive) in plan.flows.iter().zip(reactive) {
            allowed[flow.from] = false;
            allowed[flow.to] &= reactive && flow.reroutes.is_empty() && !self.links[flow.backward[0]].is_managed();
            for route in flow.routes() {
                for pair in route.windows(2) {
                    allowed[plan.links[pair[0]].to] = false;
                }
            }
            if let Some(&last) = flow.forward.last() {
                let known = &mut last_link[flow.to];
                allowed[flow.to] &= (*known == NOBODY || *known == last) && !self.links[last].reorders();
                *known = last;
            }
        }
        plan.flows.iter().map(|flow| allowed[flow.to]).collect()
    }

    /// Returns the flows with senders that can be called as soon as the arrival of their feedback is known, unless an
    /// earlier event is due there. Conditions: the flow is in `alone`, so only its feedback and its timers affect it.
    /// No other flow starts, ends or passes at its node. Its feedback comes in order. Its packets enter a plain FIFO
    /// and take time. At least one hop of a packet and its reply needs an event, so the round trip cannot repeat
    /// within one call. `ahead` marks the flows with receivers called ahead of time.
    pub fn senders_ahead_of_time(&self, plan: &Plan, alone: &[bool], ahead: &[bool]) -> Vec<bool> {
        let mut visits = vec![0u32; plan.nodes.len()];
        for flow in &plan.flows {
            visits[flow.from] += 1;
            visits[flow.to] += 1;
            for route in flow.routes() {
                let passed = route.len().saturating_sub(1);
                route.iter().take(passed).for_each(|&link| visits[plan.links[link].to] += 1);
            }
        }
        let may = |((flow, &alone), &ahead): ((&FlowPlan, &bool), &bool)| {
            let (first, last) = (flow.forward[0], flow.backward[flow.backward.len() - 1]);
            let further = flow.forward.iter().skip(1).chain(flow.backward.iter().skip(1));
            alone
                && visits[flow.from] == 1
                && flow.reroutes.is_empty()
                && !self.links[last].reorders()
                && !self.links[first].is_managed()
                && self.links[first].least_delay() > Span::ZERO
                && (!ahead || further.into_iter().any(|&link| !self.fed_in_order[link]))
        };
        plan.flows.iter().zip(alone).zip(ahead).map(may).collect()
    }
}
