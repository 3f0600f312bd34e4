//! Flows of a plan: multiplies groups, draws start times and finds routes.

use std::sync::Arc;

use fairwave_core::quality::impairment::{IN_BAND_FEC, Reception};
use fairwave_core::random::Seed;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use fairwave_core::units::{Instant, Span};

use crate::arrivals::{Arrival, Arrivals};
use crate::cost;
use crate::error::Problem;
use crate::events::State;
use crate::flow_times::FlowTimes;
use crate::law::largest_packet;
use crate::model::{Flow, Scenario};
use crate::network_graph::{DirectionUse, NetworkGraph};
use crate::path::Path;
use crate::plan::{FlowPlan, GroupPlan, Partner};
use crate::route::Routes;
use crate::template::Template;
use crate::via::Via;
use crate::workload::{FlowWork, GroupWork, Workload};

/// All flows, and their use of the network.
pub(crate) struct Flows {
    pub plans: Vec<FlowPlan>,
    /// Per link direction.
    pub uses: Vec<DirectionUse>,
    /// Estimated cost of each group.
    pub work: Vec<GroupWork>,
}

impl Flows {
    /// Creates the flows of all groups. The scenario's presets must be expanded.
    pub fn expand(scenario: &Scenario, network: &NetworkGraph, seed: Seed, problems: &mut Vec<Problem>) -> Flows {
        let routes = Routes::new(network.nodes(), network.edges());
        let uses = vec![DirectionUse::default(); network.edges().len()];
        let times = FlowTimes::from_events(scenario);
        let mut expansion = Expansion { scenario, network, routes, seed, times, plans: Vec::new(), uses };
        for (group, flow) in scenario.flows.iter().enumerate() {
            if let Err(problem) = expansion.add_group(group, flow) {
                problems.push(*problem);
            }
        }
        let Expansion { plans, uses, .. } = expansion;
        let work = work(&plans, &uses, network, scenario.duration);
        Flows { plans, uses, work }
    }
}

/// Estimated cost of each group. All flows that cross a link get an equal share of it.
fn work(plans: &[FlowPlan], uses: &[DirectionUse], network: &NetworkGraph, duration: Span) -> Vec<GroupWork> {
    let of_link = |link: &usize| {
        let sharers = uses.get(*link).map_or(1.0, |used| used.sharers.max(1.0));
        network.highest_rate(*link).bits_per_second() as f64 / sharers
    };
    let of_group = |plans: &[FlowPlan]| {
        let first = plans.first()?;
        let workload = Workload::new(&first.traffic, &first.transport);
        let mut sum = FlowWork::default();
        for plan in plans {
            let lasts = plan.active_time(plan.start, plan.stop.min(Instant::ZERO + duration)).seconds();
            let share = plan.forward.iter().map(of_link).fold(f64::INFINITY, f64::min);
            let work = workload.work(lasts, share, plan.forward.len(), plan.backward.len());
            sum.events += work.events;
            sum.wasted += work.wasted;
            sum.memory += work.memory;
        }
        Some(GroupWork { group: first.group, work: sum })
    };
    plans.chunk_by(|one, next| one.group == next.group).filter_map(of_group).collect()
}

/// End nodes of a group's flow, and the links of both directions.
#[derive(Clone)]
struct GroupRoute {
    from: usize,
    to: usize,
    forward: Vec<usize>,
    backward: Vec<usize>,
}

impl GroupRoute {
    /// The route of the opposite flow.
    fn back(&self) -> GroupRoute {
        let GroupRoute { from, to, forward, backward } = self.clone();
        GroupRoute { from: to, to: from, forward: backward, backward: forward }
    }
}

/// Inputs and results of the expansion of groups.
struct Expansion<'a> {
    scenario: &'a Scenario,
    network: &'a NetworkGraph,
    routes: Routes<'a>,
    seed: Seed,
    /// Start and stop times that events set.
    times: FlowTimes,
    plans: Vec<FlowPlan>,
    uses: Vec<DirectionUse>,
}

impl Expansion<'_> {
    fn add_group(&mut self, group: usize, flow: &Flow) -> Result<(), Box<Problem>> {
        let at = Path::default().key("flow").index(group);
        let resolved = |key: &str, error: serde_json::Error| Box::new(Problem::new(at.key(key), error.to_string()));
        let details = self.scenario.preset;
        let transport = flow.transport.with_details(details).map_err(|error| resolved("transport", error))?;
        let traffic = flow.traffic.with_details(details).map_err(|error| resolved("traffic", error))?;
        let answer = traffic.answer().map(Arc::new);
        let playout = flow.playout.as_ref().map(|playout| playout.resolve()).transpose();
        let ways = self.ways(flow, &at)?;
        self.note_uses(flow, &ways, &traffic, &transport);
        let (Some(first), transport, traffic) = (ways.first(), Arc::new(transport), Arc::new(traffic)) else {
            return Ok(());
        };
        let active = flow.intervals();
        let stop = flow.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop);
        let (start, stop) = match active.as_deref() {
            Some([first, .., last]) => (first.0, last.1),
            Some([only]) => (only.0, only.1),
            _ => (Instant::ZERO, stop),
        };
        let common = GroupPlan {
            group,
            traffic,
            transport,
            class: flow.class(),
            dscp: flow.dscp(),
            active,
            at_most: flow.arrivals.as_ref().and_then(Arrivals::active_limit),
            thresholds: flow.timely.0.clone(),
            playout: playout.map_err(|error| resolved("playout", error))?.unwrap_or_default(),
            reception: Reception {
                concealment: flow.concealment.unwrap_or_default(),
                in_band_fec: flow.in_band_fec.unwrap_or(IN_BAND_FEC),
                advantage: flow.advantage.unwrap_or_default(),
            },
            playback: flow.playback.clone(),
            recovery: flow.recovery.clone(),
            outcome: flow.outcome.clone().map(Arc::new),
            leg: flow.leg,
        };
        // Each direction of a conversation has separate traffic.
        let answer = answer.map(|traffic| Arc::new(GroupPlan { traffic, ..common.clone() }));
        let model = FlowPlan {
            name: String::new(),
            from: first.from,
            to: first.to,
            forward: Vec::new(),
            backward: Vec::new(),
            reroutes: Vec::new(),
            start,
            stop,
            partner: None,
            common: Arc::new(common),
        };
        if let Some(arrivals) = &flow.arrivals {
            let pairs = ways.len() as u64;
            let drawn = arrivals.draw(flow, &model.traffic, pairs, self.scenario.duration, self.seed);
            for (index, Arrival { pair, start, stop }) in drawn.enumerate() {
                let Some(way) = ways.get(pair as usize) else { continue };
                self.plans.push(member(&model, flow, index, way.clone(), start, stop));
            }
            return Ok(());
        }
        let mut starts = self.seed.stream(&format!("flow.{}.start", flow.name));
        let count = ways.len() as u64;
        let more = ways.len() * if answer.is_some() { 2 } else { 1 };
        // The first group is often the only one. Then its exact size saves memory.
        if self.plans.is_empty() {
            self.plans.reserve_exact(more);
        } else {
            self.plans.reserve(more);
        }
        for (index, way) in ways.into_iter().enumerate() {
            // Both directions of a conversation start and stop together, whether an event or the group sets the times.
            let member_of = if answer.is_some() { 2 * index as u64 } else { index as u64 };
            let start = match (self.times.time(State::On, group, member_of), &model.active) {
                (Some(start), _) => start,
                (None, Some(_)) => model.start,
                (None, None) => flow.start.instant(index as u64, count, &mut starts),
            };
            let stop = self.times.time(State::Off, group, member_of).unwrap_or(Instant::NEVER).min(model.stop);
            let Some(answer) = &answer else {
                self.plans.push(member(&model, flow, index, way, start, stop));
                continue;
            };
            let (there, back) = (self.plans.len(), self.plans.len() + 1);
            let answers = member(&model, flow, 2 * index + 1, way.back(), start, stop);
            let leads = member(&model, flow, 2 * index, way, start, stop);
            self.plans.push(FlowPlan { partner: Some(Partner { flow: back, leads: true }), ..leads });
            let partner = Some(Partner { flow: there, leads: false });
            self.plans.push(FlowPlan { partner, common: Arc::clone(answer), ..answers });
        }
        Ok(())
    }

    /// The routes of a group, one for each pair of hosts.
    fn ways(&mut self, flow: &Flow, at: &Path) -> Result<Vec<GroupRoute>, Box<Problem>> {
        let Expansion { scenario, network, routes, .. } = self;
        let count = scenario.count_of(flow);
        let (Some(from), Some(to)) = (&flow.from, &flow.to) else { return Ok(Vec::new()) };
        let template =
            |text: &str, key: &str| Template::parse(text).map_err(|why| Box::new(Problem::new(at.key(key), why)));
        let (from, to) = (template(from, "from")?, template(to, "to")?);
        let via = Via::parse(flow, at)?;
        let mut ways = Vec::with_capacity(count as usize);
        let mut name = String::new();
        // Per end: the last host's index, and its distance from the host before. The next host is probably at the same
        // distance.
        let mut likely = [(0usize, 0usize); 2];
        for i in 0..count {
            let mut node = |end: usize, template: &Template, key: &str| {
                template.render(i, &mut name);
                let (last, step) = likely[end];
                let found = network.find_at(last.wrapping_add(step), &name);
                if let Some(found) = found {
                    likely[end] = (found, found.wrapping_sub(last));
                }
                found.ok_or_else(|| {
                    let problem = Problem::new(
                        at.key(key),
                        format!("no link touches a node `{name}`, which flow `{}[{i}]` needs", flow.name),
                    );
                    Box::new(match network.nearest_node(&name) {
                        Some(near) => {
                            problem.help(format!("did you mean `{near}`? Or are there more flows than hosts?"))
                        }
                        None => problem.help("add a [[link]] to it, or name another node"),
                    })
                })
            };
            let (from, to) = (node(0, &from, "from")?, node(1, &to, "to")?);
            let route = |routes: &mut Routes<'_>, from: usize, to: usize, what: &str| {
                routes.route(from, to).ok_or_else(|| {
                    let nodes = [from, to].map(|node| network.name(node));
                    let message =
                        format!("no route {what} from `{}` to `{}` for flow `{}[{i}]`", nodes[0], nodes[1], flow.name);
                    let help = "add the [[link]] that is missing on the way, or remove a `duplex = false`";
                    Box::new(Problem::new(at.key("to"), message).help(help))
                })
            };
            let (forward, backward) = (
                match &via.there {
                    Some(via) => via.way(routes, network, [from, to], i)?,
                    None => route(routes, from, to, "there")?,
                },
                match &via.back {
                    Some(via) => via.way(routes, network, [to, from], i)?,
                    None => route(routes, to, from, "back")?,
                },
            );
            if i == 0 {
                let flows = scenario.flows_of(flow).max(count);
                cost::check_way(forward.len() + backward.len(), flows, at, &format!("{}[0]", flow.name))?;
            }
            ways.push(GroupRoute { from, to, forward, backward });
        }
        Ok(ways)
    }

    /// Records which flows use which link. Flows with arrivals count once per pair of hosts, so that no buffer depends
    /// on the seed.
    fn note_uses(&mut self, flow: &Flow, ways: &[GroupRoute], traffic: &TrafficConfig, transport: &TransportConfig) {
        let largest = if ways.is_empty() { 0 } else { largest_packet(traffic, transport) };
        // A flow with arrivals shares a link only while it exists. A transfer counts by its size.
        let sharers = match &flow.arrivals {
            _ if traffic.transfers() => 0.0,
            Some(arrivals) => {
                let at_once = arrivals.mean_rate(traffic) * arrivals.stays().unwrap_or_default().seconds();
                at_once / ways.len().max(1) as f64
            }
            None => 1.0,
        };
        let answers = traffic.answer().is_some();
        for way in ways {
            let round_trip = self.network.nominal_delay(&way.forward) + self.network.nominal_delay(&way.backward);
            for (link, data) in
                way.forward.iter().map(|link| (link, true)).chain(way.backward.iter().map(|link| (link, answers)))
            {
                if let Some(used) = self.uses.get_mut(*link) {
                    // Each party of a conversation uses both directions.
                    let flows = if answers { 2 } else { 1 };
                    used.flows += flows;
                    used.sharers += sharers * flows as f64;
                    used.round_trips += round_trip * flows;
                    if data {
                        used.largest_packet = used.largest_packet.max(largest);
                    }
                }
            }
        }
    }
}

/// Flow `index` of a group: a copy of `model` with this route and these times.
fn member(model: &FlowPlan, flow: &Flow, index: usize, way: GroupRoute, start: Instant, stop: Instant) -> FlowPlan {
    let GroupRoute { from, to, forward, backward } = way;
    FlowPlan { name: format!("{}[{index}]", flow.name), from, to, forward, backward, start, stop, ..model.clone() }
}
