//! Explicit routes, and the routes that flows take after a link failure.
//!
//! `route = ["r1", "r3"]` lists nodes that packets pass, in order. Between these nodes, packets take the shortest path,
//! as without the key. With `failover = "2 s"`, routes follow the state of the links with this delay. The network
//! avoids a link that has been down for this time, and uses a link again that has been up for this time. Until then,
//! packets sent into a failed link are lost, as are the packets that wait there.
//!
//! **Assumptions.** All flows of a group learn of a change at the same time, in both directions. Packets in flight stay
//! on the route on which they were sent. A packet that waits in a managed queue of both routes continues on the new
//! route. The detour has the fewest hops, then the least delay. Without a detour, packets continue into the failed
//! link.

use std::collections::{BTreeMap, BTreeSet};

use fairwave_core::units::{Instant, Span};

use crate::error::Problem;
use crate::model::{Flow, Scenario};
use crate::network_graph::NetworkGraph;
use crate::path::Path;
use crate::plan::{Departure, FlowPlan, LinkPlan, Reroute};
use crate::route::{Edge, Routes};
use crate::template::Template;

/// The nodes on a group's route.
pub(crate) struct Via {
    pub there: Option<Waypoints>,
    pub back: Option<Waypoints>,
}

/// The nodes of one direction.
pub(crate) struct Waypoints {
    at: Path,
    nodes: Vec<Template>,
}

impl Via {
    /// Reads the waypoints of a group.
    ///
    /// # Errors
    /// A name that is not a valid node template.
    pub fn parse(flow: &Flow, at: &Path) -> Result<Self, Box<Problem>> {
        let read = |key: &str, nodes: &Option<Vec<String>>| -> Result<Option<Waypoints>, Box<Problem>> {
            let Some(nodes) = nodes else { return Ok(None) };
            let at = at.key(key);
            let template = |(index, name): (usize, &String)| {
                Template::parse(name).map_err(|why| Box::new(Problem::new(at.index(index), why)))
            };
            let nodes = nodes.iter().enumerate().map(template).collect::<Result<Vec<_>, _>>()?;
            Ok(Some(Waypoints { at, nodes }))
        };
        Ok(Via { there: read("route", &flow.route)?, back: read("route-back", &flow.route_back)? })
    }
}

impl Waypoints {
    /// The links from one node to another through these waypoints, for flow `i` of its group.
    pub fn way(
        &self,
        routes: &mut Routes<'_>,
        network: &NetworkGraph,
        [from, to]: [usize; 2],
        i: u64,
    ) -> Result<Vec<usize>, Box<Problem>> {
        let (mut here, mut links, mut name) = (from, Vec::new(), String::new());
        let mut passed = BTreeSet::from([from]);
        for (index, next) in self.nodes.iter().map(Some).chain([None]).enumerate() {
            let refuse =
                |what: String| Problem::new(self.at.index(index.min(self.nodes.len().saturating_sub(1))), what);
            let node = match next {
                None => to,
                Some(template) => {
                    template.render(i, &mut name);
                    network.find(&name).ok_or_else(|| {
                        let problem = refuse(format!("no link touches a node `{name}`"));
                        Box::new(match network.nearest_node(&name) {
                            Some(near) => problem.help(format!("did you mean `{near}`?")),
                            None => problem.help("name a node that a [[link]] joins"),
                        })
                    })?
                }
            };
            if node == here {
                continue;
            }
            let Some(leg) = routes.route(here, node) else {
                let nodes = [here, node].map(|node| network.name(node));
                let problem = refuse(format!("no way leads from `{}` to `{}`", nodes[0], nodes[1]));
                return Err(Box::new(problem.help("add the [[link]] that is missing, or pass other nodes")));
            };
            for link in leg {
                let reached = network.edges().get(link).map_or(here, |edge| edge.to);
                if !passed.insert(reached) {
                    let problem =
                        refuse(format!("by these nodes packets would pass `{}` twice", network.name(reached)));
                    return Err(Box::new(problem.help("name the nodes in the order of the way, and no end of it")));
                }
                links.push(link);
            }
            here = node;
        }
        Ok(links)
    }
}

/// Checks routes as far as that is possible without the network.
pub(crate) fn check(scenario: &Scenario, flow: &Flow, at: &Path, problems: &mut Vec<Problem>) {
    for (key, nodes) in [("route", &flow.route), ("route-back", &flow.route_back)] {
        if nodes.is_some() && flow.from.is_none() {
            problems.push(
                Problem::new(at.key(key), format!("`{key}` goes with `from` and `to`"))
                    .help("write the nodes with `from = …` and `to = …` instead of `path`"),
            );
        }
    }
    if let Some(after) = flow.failover.filter(|after| *after >= scenario.duration && scenario.duration > Span::ZERO) {
        problems.push(
            Problem::new(at.key("failover"), format!("the run is over before a link has been down for {after}"))
                .allowed(format!("less than `duration`, which is {}", scenario.duration))
                .help("write for example `failover = \"2 s\"`"),
        );
    }
}

/// Adds to flows with a `failover` the routes that they take after link failures.
pub(crate) fn fail_over(scenario: &Scenario, flows: &mut [FlowPlan], links: &[LinkPlan], nodes: usize) {
    if scenario.flows.iter().all(|flow| flow.failover.is_none()) {
        return;
    }
    let edge = |link: &LinkPlan| Edge { from: link.from, to: link.to, delay: link.direction.delay };
    let edges: Vec<Edge> = links.iter().map(edge).collect();
    let mut known = BTreeMap::new();
    for flow in flows {
        let Some(after) = scenario.flows.get(flow.group).and_then(|group| group.failover) else { continue };
        let changes = changes(links, after, scenario.duration);
        let (forward, backward) = (flow.forward.clone(), flow.backward.clone());
        let mut now = (forward.clone(), backward.clone());
        for (at, down) in &changes {
            let mut around = |first: &Vec<usize>, held: &Vec<usize>, from: usize, to: usize| {
                if first.iter().all(|link| !down.contains(link)) {
                    return first.clone();
                }
                let found = known
                    .entry((from, to, down.clone()))
                    .or_insert_with(|| route_around(nodes, &edges, down, from, to));
                found.clone().unwrap_or_else(|| held.clone())
            };
            let next = (around(&forward, &now.0, flow.from, flow.to), around(&backward, &now.1, flow.to, flow.from));
            if next != now {
                flow.reroutes.push(Reroute {
                    at: *at,
                    forward: next.0.clone(),
                    backward: next.1.clone(),
                    network: false,
                });
                now = next;
            }
        }
    }
}

/// Adds routes to the flows of participants who change network.
pub(crate) fn move_over(
    scenario: &Scenario,
    flows: &mut [FlowPlan],
    links: &[LinkPlan],
    nodes: usize,
    problems: &mut Vec<Problem>,
) {
    let edge = |link: &LinkPlan| Edge { from: link.from, to: link.to, delay: link.direction.delay };
    let edges: Vec<Edge> = links.iter().map(edge).collect();
    for flow in flows {
        let Some(group) = scenario.flows.get(flow.group).filter(|group| !group.departures.is_empty()) else { continue };
        let mut departures: Vec<&Departure> = group.departures.iter().collect();
        departures.sort_by_key(|one| one.at);
        let mut left = BTreeSet::new();
        for departure in departures {
            left.extend((0..links.len()).filter(|link| {
                links.get(*link).is_some_and(|link| departure.left.iter().any(|left| **left == *link.name))
            }));
            let ways = route_around(nodes, &edges, &left, flow.from, flow.to)
                .zip(route_around(nodes, &edges, &left, flow.to, flow.from));
            let Some((forward, backward)) = ways else {
                let problem = Problem::new(
                    departure.place.clone(),
                    format!("without the link `{}`, no way leads to the others", departure.left[0]),
                )
                .help("add a [[link]] for the other network");
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
                continue;
            };
            flow.reroutes.push(Reroute { at: departure.at, forward, backward, network: true });
        }
    }
}

/// The times at which the network's knowledge of failed links changes, each with all links known to be down. The
/// network learns of a failure, and of its end, `after` the event.
fn changes(links: &[LinkPlan], after: Span, duration: Span) -> Vec<(Instant, BTreeSet<usize>)> {
    let mut turns: BTreeMap<Span, Vec<(usize, bool)>> = BTreeMap::new();
    for (index, link) in links.iter().enumerate() {
        for outage in &link.direction.changes.outages {
            let (down, up) = (outage.from + after, outage.to.map(|to| to + after));
            // An outage shorter than this delay changes nothing.
            if outage.to.is_some_and(|to| to <= down) {
                continue;
            }
            turns.entry(down).or_default().push((index, true));
            if let Some(up) = up {
                turns.entry(up).or_default().push((index, false));
            }
        }
    }
    let mut down = BTreeSet::new();
    let mut changes = Vec::new();
    for (at, turned) in turns.into_iter().filter(|(at, _)| *at <= duration) {
        for (link, fails) in turned {
            if fails {
                down.insert(link);
            } else {
                down.remove(&link);
            }
        }
        changes.push((Instant::ZERO + at, down.clone()));
    }
    changes
}

/// The links from one node to another that avoid the failed links.
fn route_around(nodes: usize, edges: &[Edge], down: &BTreeSet<usize>, from: usize, to: usize) -> Option<Vec<usize>> {
    let up: Vec<usize> = (0..edges.len()).filter(|link| !down.contains(link)).collect();
    let left: Vec<Edge> = up.iter().filter_map(|link| edges.get(*link).copied()).collect();
    let way = Routes::new(nodes, &left).route(from, to)?;
    way.into_iter().map(|link| up.get(link).copied()).collect()
}
