//! The flows of a plan: groups multiplied, starts drawn, routes found.

use std::sync::Arc;

use fairwave_core::random::Seed;
use fairwave_core::units::{Instant, Span};

use crate::cost;
use crate::error::Problem;
use crate::law::largest_packet;
use crate::model::{Flow, Scenario};
use crate::network::{Network, Use};
use crate::path::Path;
use crate::plan::FlowPlan;
use crate::route::Routes;
use crate::template::Template;
use crate::workload::{GroupWork, Work, Workload};

/// All flows, and how they use the network.
pub(crate) struct Flows {
    pub plans: Vec<FlowPlan>,
    /// Per link direction.
    pub uses: Vec<Use>,
    /// What the flows of each group would come to.
    pub work: Vec<GroupWork>,
}

impl Flows {
    /// Multiplies the groups of a scenario whose presets are written out.
    pub fn expand(scenario: &Scenario, network: &Network, seed: Seed, problems: &mut Vec<Problem>) -> Flows {
        let routes = Routes::new(network.nodes(), network.edges());
        let mut expansion = Expansion { scenario, network, routes, seed, plans: Vec::new() };
        let mut uses = vec![Use::default(); network.edges().len()];
        for (group, flow) in scenario.flows.iter().enumerate() {
            let first = expansion.plans.len();
            if let Err(problem) = expansion.add_group(group, flow) {
                problems.push(*problem);
                continue;
            }
            let members = expansion.plans.get(first..).unwrap_or_default();
            let largest = members.first().map_or(0, |plan| largest_packet(&plan.traffic, &plan.transport));
            for plan in members {
                let round_trip = network.nominal_delay(&plan.forward) + network.nominal_delay(&plan.backward);
                for (link, data) in
                    plan.forward.iter().map(|link| (link, true)).chain(plan.backward.iter().map(|link| (link, false)))
                {
                    if let Some(used) = uses.get_mut(*link) {
                        used.flows += 1;
                        used.round_trips += round_trip;
                        if data {
                            used.largest_packet = used.largest_packet.max(largest);
                        }
                    }
                }
            }
        }
        let plans = expansion.plans;
        let work = work(&plans, &uses, network, scenario.duration);
        Flows { plans, uses, work }
    }
}

/// What the flows of each group would come to, with an equal share of each link to all that cross it.
fn work(plans: &[FlowPlan], uses: &[Use], network: &Network, duration: Span) -> Vec<GroupWork> {
    let of_link = |link: &usize| {
        let flows = uses.get(*link).map_or(1, |used| used.flows.max(1));
        network.rate(*link).bits_per_second() as f64 / flows as f64
    };
    let of_group = |plans: &[FlowPlan]| {
        let first = plans.first()?;
        let workload = Workload::of(&first.traffic, &first.transport);
        let mut sum = Work::default();
        for plan in plans {
            let lasts = plan.stop.min(Instant::ZERO + duration).since(plan.start).seconds();
            let share = plan.forward.iter().map(of_link).fold(f64::INFINITY, f64::min);
            let work = workload.work(lasts, share, plan.forward.len(), plan.backward.len());
            sum.happenings += work.happenings;
            sum.vain += work.vain;
            sum.memory += work.memory;
        }
        Some(GroupWork { group: first.group, work: sum })
    };
    plans.chunk_by(|one, next| one.group == next.group).filter_map(of_group).collect()
}

/// What multiplying groups needs and makes.
struct Expansion<'a> {
    scenario: &'a Scenario,
    network: &'a Network,
    routes: Routes<'a>,
    seed: Seed,
    plans: Vec<FlowPlan>,
}

impl Expansion<'_> {
    fn add_group(&mut self, group: usize, flow: &Flow) -> Result<(), Box<Problem>> {
        let Expansion { scenario, network, routes, seed, plans } = self;
        let at = Path::default().key("flow").index(group);
        let count = scenario.count_of(flow);
        let (Some(from), Some(to)) = (&flow.from, &flow.to) else { return Ok(()) };
        let template =
            |text: &str, key: &str| Template::parse(text).map_err(|why| Box::new(Problem::new(at.key(key), why)));
        let (from, to) = (template(from, "from")?, template(to, "to")?);
        let resolved = |key: &str, error: serde_json::Error| Box::new(Problem::new(at.key(key), error.to_string()));
        let transport = flow.transport.with_details(scenario.preset).map_err(|error| resolved("transport", error))?;
        let transport = Arc::new(transport);
        let traffic = flow.traffic.resolve(|_| ()).map_err(|error| resolved("traffic", error))?;
        let traffic = Arc::new(traffic);
        let playout = flow.playout.as_ref().map(|playout| playout.resolve(|_| ())).transpose();
        let playout = playout.map_err(|error| resolved("playout", error))?.unwrap_or_default();
        let class = flow.class();
        let mut starts = seed.stream(&format!("flow.{}.start", flow.name));
        let mut name = String::new();
        for i in 0..count {
            let mut node = |template: &Template, key: &str| {
                template.render(i, &mut name);
                network.find(&name).ok_or_else(|| {
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
            let (from, to) = (node(&from, "from")?, node(&to, "to")?);
            let mut route = |from: usize, to: usize, what: &str| {
                routes.route(from, to).ok_or_else(|| {
                    let nodes = [from, to].map(|node| network.name(node));
                    let message =
                        format!("no route {what} from `{}` to `{}` for flow `{}[{i}]`", nodes[0], nodes[1], flow.name);
                    let help = "add the [[link]] that is missing on the way, or remove a `duplex = false`";
                    Box::new(Problem::new(at.key("to"), message).help(help))
                })
            };
            let (forward, backward) = (route(from, to, "there")?, route(to, from, "back")?);
            if i == 0 {
                cost::check_way(forward.len() + backward.len(), count, &at, &format!("{}[0]", flow.name))?;
            }
            plans.push(FlowPlan {
                group,
                name: format!("{}[{i}]", flow.name),
                from,
                to,
                forward,
                backward,
                traffic: Arc::clone(&traffic),
                transport: Arc::clone(&transport),
                class,
                start: flow.start.instant(i, count, &mut starts),
                stop: flow.stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop),
                thresholds: flow.timely.0.clone(),
                playout,
                concealment: flow.concealment.unwrap_or_default(),
                playback: flow.playback.clone(),
                recovery: flow.recovery.clone(),
            });
        }
        Ok(())
    }
}
