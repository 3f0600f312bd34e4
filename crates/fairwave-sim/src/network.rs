//! What a plan becomes before it runs: links, routes in one flat array, and which hops need no event of their own.

use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::Plan;

use crate::error::RunError;
use crate::event::MAX_INDEX;
use crate::link::Link;
use crate::measure::Window;

/// Links and the routes over them.
pub struct Network {
    /// Link directions, by index of the plan.
    pub links: Vec<Link>,
    routes: Vec<FlowRoutes>,
    /// Links of the routes that are too long for their flow's [`FlowRoutes`], one route after the other.
    long: Vec<u32>,
}

/// Links of both routes of a flow that are kept with their lengths.
const NEAR: usize = 14;

/// A flow's route forward and, behind it, the one back, in a cache line of their own.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct FlowRoutes {
    forward: u16,
    backward: u16,
    /// Where they begin in `long`, if they have more than `NEAR` links.
    long: u32,
    near: [u32; NEAR],
}

impl Network {
    /// Builds links and routes.
    pub fn new(plan: &Plan, window: Window) -> Result<Self, RunError> {
        if plan.links.len() > MAX_INDEX || plan.flows.len() > MAX_INDEX {
            return Err(RunError::TooLarge { links: plan.links.len(), flows: plan.flows.len(), allowed: MAX_INDEX });
        }
        let links = (plan.links.iter().enumerate())
            .map(|(index, link)| {
                let bin = if plan.record.queues.contains(&index) { plan.record.bin } else { Span::ZERO };
                Link::new(link, plan.seed, window, bin)
                    .map_err(|error| RunError::Config { place: link.name.clone(), error })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut network = Network { links, routes: Vec::with_capacity(plan.flows.len()), long: Vec::new() };
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
            let hops = flow.forward.iter().chain(&flow.backward).map(|&link| link as u32);
            let mut near = [0; NEAR];
            let long = network.long.len() as u32;
            if flow.forward.len() + flow.backward.len() <= NEAR {
                near.iter_mut().zip(hops).for_each(|(place, link)| *place = link);
            } else {
                network.long.extend(hops);
            }
            let (forward, backward) = (flow.forward.len() as u16, flow.backward.len() as u16);
            network.routes.push(FlowRoutes { forward, backward, long, near });
        }
        network.find_links_fed_in_order(plan);
        Ok(network)
    }

    /// The link at place `hop` of a flow's route; `None` at its end.
    #[inline]
    pub fn route(&self, flow: usize, feedback: bool, hop: u16) -> Option<usize> {
        let routes = &self.routes[flow];
        let (first, len) = if feedback { (routes.forward, routes.backward) } else { (0, routes.forward) };
        if hop >= len {
            return None;
        }
        let place = usize::from(first) + usize::from(hop);
        let near = usize::from(routes.forward) + usize::from(routes.backward) <= NEAR;
        Some(if near { routes.near[place] } else { self.long[routes.long as usize + place] } as usize)
    }

    /// Where a flow's routes are, for those who want them in a cache.
    #[inline]
    pub fn routes_of(&self, flow: usize) -> &FlowRoutes {
        &self.routes[flow]
    }

    /// The place of a link on a flow's route; routes have no loops, so there is one.
    pub fn hop_of(&self, flow: usize, feedback: bool, link: usize) -> u16 {
        (0..).take_while(|&hop| self.route(flow, feedback, hop).is_some_and(|at| at != link)).count() as u16
    }

    /// Completes the averages of managed queues at the end of the run.
    pub fn account_for_queues(&mut self, window: Window) {
        for link in &mut self.links {
            link.account_for_queue(window.end, window);
        }
    }

    /// The window begins: managed queues count their classes from here.
    pub fn begin_window(&mut self, now: Instant, window: Window) {
        for link in &mut self.links {
            link.begin_window(now, window);
        }
    }

    /// A link is fed in order when every packet that enters it comes from the same other link, and it is a plain FIFO.
    fn find_links_fed_in_order(&mut self, plan: &Plan) {
        const NOBODY: usize = usize::MAX;
        const SEVERAL: usize = usize::MAX - 1;
        let mut feeder = vec![NOBODY; self.links.len()];
        for flow in &plan.flows {
            for route in [&flow.forward, &flow.backward] {
                feeder[route[0]] = SEVERAL;
                for pair in route.windows(2) {
                    let known = &mut feeder[pair[1]];
                    *known = if *known == NOBODY || *known == pair[0] { pair[0] } else { SEVERAL };
                }
            }
        }
        for (link, feeder) in self.links.iter_mut().zip(feeder) {
            link.fed_in_order = feeder < SEVERAL && !link.is_managed();
        }
    }

    /// Which flows' receivers may be called as soon as a packet's arrival time is known: nobody but such receivers sits
    /// at their node, all that reaches the node comes over one link, nothing passes through, and what they answer enters
    /// a plain FIFO.
    pub fn receivers_ahead_of_time(&self, plan: &Plan, reactive: &[bool]) -> Vec<bool> {
        const NOBODY: usize = usize::MAX;
        let mut last_link = vec![NOBODY; plan.nodes.len()];
        let mut allowed = vec![true; plan.nodes.len()];
        for (flow, &reactive) in plan.flows.iter().zip(reactive) {
            allowed[flow.from] = false;
            allowed[flow.to] &= reactive && !self.links[flow.backward[0]].is_managed();
            for route in [&flow.forward, &flow.backward] {
                for pair in route.windows(2) {
                    allowed[plan.links[pair[0]].to] = false;
                }
            }
            if let Some(&last) = flow.forward.last() {
                let known = &mut last_link[flow.to];
                allowed[flow.to] &= *known == NOBODY || *known == last;
                *known = last;
            }
        }
        plan.flows.iter().map(|flow| allowed[flow.to]).collect()
    }
}
