//! The network of a run, made from the plan: links, routes over them, and the hops that need no event.

use std::sync::Arc;

use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::{FlowPlan, LinkPlan, Plan};

use crate::error::RunError;
use crate::event::MAX_INDEX;
use crate::link::Link;
use crate::measure::{Bins, Window};
use crate::places::{Held, Same};
use crate::routes::{Routes, Step};
use crate::shared_media::{self, MediumRun};

/// Links and the routes over them.
pub(crate) struct Network<M = Same> {
    /// Link directions, by index of the plan.
    pub links: Held<Link, M>,
    /// Shared media, by index of the plan.
    pub media: Vec<MediumRun>,
    /// Those of the flows that have been added.
    pub routes: Arc<Routes>,
    /// By link, while routes are added: true when all that arrives comes, in order, from one other link. Then the link can
    /// be crossed as soon as that one is.
    pub fed_in_order: Vec<bool>,
}

impl Network {
    /// Builds links and routes.
    pub fn new(plan: &Plan, window: Window) -> Result<Self, RunError> {
        if plan.links.len() + plan.media.len() > MAX_INDEX || plan.flows.len() > MAX_INDEX {
            return Err(RunError::TooLarge { links: plan.links.len(), flows: plan.flows.len(), allowed: MAX_INDEX });
        }
        // Only for queues that share by hosts.
        let ends = || -> Arc<[[u32; 2]]> { plan.flows.iter().map(|flow| [flow.from as u32, flow.to as u32]).collect() };
        let ends = plan.links.iter().any(|link| link.direction.queue.discipline.nature().by_host).then(ends);
        let mut links: Vec<Link> = Vec::with_capacity(plan.links.len());
        let refused = |link: &LinkPlan, error| RunError::Config { place: link.name.to_string(), error };
        for (index, link) in plan.links.iter().enumerate() {
            let bin = if plan.record.queues.contains(&index) { plan.record.bin } else { Span::ZERO };
            // Links that are alike share their direction, and most are like one of the two before: the same way of another duplex link.
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
                made.count_departures(Bins::over(window, bin));
            }
            if let Some(ends) = &ends {
                made.tell_ends(ends);
            }
            links.push(made);
        }
        let media = shared_media::of_plan(plan, &mut links)?;
        let mut network =
            Network { links: Held::new(links, Same), media, routes: Arc::default(), fed_in_order: Vec::new() };
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

    /// Adds a flow's two routes, once it is known whether its receiver is called `ahead` of time, and whether its sender may be
    /// ([`Self::receivers_ahead_of_time`], [`Self::senders_ahead_of_time`]). Answers where the route forward and the one back begin.
    ///
    /// # Errors
    /// More steps than can be numbered.
    pub fn add_routes(&mut self, plan: &Plan, flow: &FlowPlan, ahead: [bool; 2]) -> Result<[u32; 2], RunError> {
        self.add_way(plan, &flow.forward, &flow.backward, ahead)
    }

    /// The same of any two routes.
    ///
    /// # Errors
    /// More steps than can be numbered.
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
        // Nobody else has them yet.
        Arc::get_mut(&mut self.routes).and_then(|routes| routes.add(&forward, &backward)).ok_or(too_large)
    }

    /// Completes the averages of managed queues at the end of the run.
    pub fn account_for_queues(&mut self, window: Window) {
        for link in &mut self.links.items {
            link.account_for_queue(window.end, window);
        }
    }

    /// The window begins: managed queues count their classes from here.
    pub fn begin_window(&mut self, now: Instant, window: Window) {
        for link in &mut self.links.items {
            link.begin_window(now, window);
        }
        for medium in &mut self.media {
            medium.begin_window();
        }
    }

    /// A link is fed in order when every packet that enters it comes from the same other link, which keeps their order, and it is a
    /// plain FIFO.
    fn find_links_fed_in_order(&mut self, plan: &Plan) {
        const NOBODY: usize = usize::MAX;
        const SEVERAL: usize = usize::MAX - 1;
        let mut feeder = vec![NOBODY; self.links.items.len()];
        for flow in &plan.flows {
            for route in flow.every_route() {
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

    /// Flows whose receivers may be called as soon as a packet's arrival time is known. Their node has only such
    /// receivers; all packets reach the node over one link, in order; no packet passes through the node; and their
    /// answers enter a plain FIFO.
    pub fn receivers_ahead_of_time(&self, plan: &Plan, reactive: &[bool]) -> Vec<bool> {
        const NOBODY: usize = usize::MAX;
        let mut last_link = vec![NOBODY; plan.nodes.len()];
        let mut allowed = vec![true; plan.nodes.len()];
        for (flow, &reactive) in plan.flows.iter().zip(reactive) {
            allowed[flow.from] = false;
            allowed[flow.to] &= reactive && flow.reroutes.is_empty() && !self.links[flow.backward[0]].is_managed();
            for route in flow.every_route() {
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

    /// Flows whose senders may be called as soon as it is known when feedback reaches them, unless something is due there
    /// before. They are `alone` ones, with which nothing but their feedback and their own timers has to do; no other flow
    /// begins, ends or passes at their node; their feedback comes in order; what they send enters a plain FIFO and takes
    /// time; and on the way of a packet and its answer something still needs an event, so that this way is never gone
    /// again at once. `ahead` says whose receivers are called ahead of time.
    pub fn senders_ahead_of_time(&self, plan: &Plan, alone: &[bool], ahead: &[bool]) -> Vec<bool> {
        let mut visits = vec![0u32; plan.nodes.len()];
        for flow in &plan.flows {
            visits[flow.from] += 1;
            visits[flow.to] += 1;
            for route in flow.every_route() {
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
