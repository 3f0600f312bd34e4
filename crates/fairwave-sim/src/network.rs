//! What a plan becomes before it runs: links, routes in one flat array, and which hops need no event of their own.

use fairwave_core::packet::Class;
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::Plan;

use crate::event::{Kind, MAX_INDEX};
use crate::link::{Link, Service};
use crate::measure::Window;
use crate::run::RunError;

/// Links and the routes over them.
pub struct Network {
    /// Link directions, by index of the plan.
    pub links: Vec<Link>,
    /// Every route's links one after the other.
    hops: Vec<u32>,
    /// Per flow: where its routes begin in `hops`, and how many links they have.
    routes: Vec<FlowRoutes>,
}

#[derive(Clone, Copy)]
struct FlowRoutes {
    forward: u32,
    forward_len: u16,
    backward_len: u16,
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
        let mut network = Network { links, hops: Vec::new(), routes: Vec::with_capacity(plan.flows.len()) };
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
            network.routes.push(FlowRoutes {
                forward: network.hops.len() as u32,
                forward_len: flow.forward.len() as u16,
                backward_len: flow.backward.len() as u16,
            });
            network.hops.extend(flow.forward.iter().chain(&flow.backward).map(|&link| link as u32));
        }
        network.find_links_fed_in_order(plan);
        Ok(network)
    }

    /// The link at place `hop` of a flow's route; `None` at its end.
    #[inline]
    pub fn route(&self, flow: usize, feedback: bool, hop: u16) -> Option<usize> {
        let routes = self.routes[flow];
        let (first, len) = if feedback {
            (routes.forward + u32::from(routes.forward_len), routes.backward_len)
        } else {
            (routes.forward, routes.forward_len)
        };
        (hop < len).then(|| self.hops[first as usize + usize::from(hop)] as usize)
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

    /// Packets of a class in pipes, whose arrival has not become the present, and in managed queues.
    pub fn holds(&self, class: Class) -> u64 {
        let on_its_way = |link: &Link| link.pipe.iter().filter(|transit| transit.packet.class == class).count() as u64;
        let waiting = |link: &Link| match &link.service {
            Service::Managed(managed) => u64::from(managed.queue.class_packets(class)),
            Service::Fifo(_) => 0,
        };
        self.links.iter().map(|link| on_its_way(link) + waiting(link)).sum()
    }

    /// When the first packet of a pipe arrives.
    #[inline]
    pub fn first_arrival(&self, link: usize) -> Option<(Instant, Kind)> {
        self.links[link].pipe.front().map(|transit| (transit.arrival, transit.kind()))
    }
}
