//! From scenario to [`Plan`]: expands presets and templates, draws spreads, finds routes and sizes buffers.
//!
//! Random streams are named after their use: `flow.GROUP.start`, `link.FROM>TO.delay` and `link.FROM>TO.rate`
//! (templates as written). Member i takes number i of its stream. Therefore neither another transport nor more flows
//! change its values.

use fairwave_core::quality::outcome::Latency;
use fairwave_core::random::Seed;
use fairwave_core::transport::TransportConfig;
use fairwave_core::units::Span;

use crate::cost::{self, Cost};
use crate::error::{Problem, ScenarioError};
use crate::flows::Flows;
use crate::link_events;
use crate::marks;
use crate::media;
use crate::model::{Link, Scenario};
use crate::network_graph::NetworkGraph;
use crate::path::{Path, Step};
use crate::plan::{FlowPlan, LinkPlan, Plan, RecordPlan};
use crate::select::Selection;
use crate::service;
use crate::tap::{self, Tap};
use crate::via;

impl Scenario {
    /// The plan of this scenario for a seed. It specifies a run completely.
    ///
    /// # Errors
    /// Any mistake that [`Scenario::check`] finds; links with the same name; nodes without a link; no route; a buffer
    /// that cannot hold a packet; a run whose cost exceeds the limit.
    pub fn plan(&self, seed: Seed) -> Result<Plan, ScenarioError> {
        self.planned(seed).map(|(plan, _)| plan)
    }

    /// Expands the topology preset to links, paths to `from` and `to`, and the load to numbers of flows. A scenario
    /// without preset and load stays the same.
    ///
    /// # Errors
    /// A path that the preset does not have, or any other mistake that [`Scenario::check`] finds.
    pub fn expand_preset(&self) -> Result<Scenario, ScenarioError> {
        self.check()?;
        let mut problems = Vec::new();
        // Calls stay as written: without them, their flows would change.
        let expanded = self.expanded(&mut problems);
        if problems.is_empty() { Ok(expanded) } else { Err(self.error(problems)) }
    }

    /// Rejects a number of runs that would take too long or leave too much data.
    ///
    /// # Errors
    /// Any mistake that [`Scenario::plan`] finds for this seed; more than [`cost::MOST_RUNS`] runs, with their cost.
    pub fn check_runs(&self, runs: u64, seed: Seed) -> Result<(), ScenarioError> {
        if runs <= cost::MOST_RUNS {
            return Ok(());
        }
        let (_, cost) = self.planned(seed)?;
        Err(self.error(vec![cost::too_many_runs(runs, cost.packet_hops)]))
    }

    /// An upper estimate of a run's packet-hops and other simulator events. [`cost::computing`] converts it to a
    /// computing time.
    ///
    /// # Errors
    /// Any mistake that [`Scenario::plan`] finds for this seed.
    pub fn estimate_events(&self, seed: Seed) -> Result<f64, ScenarioError> {
        self.cost(seed).map(|cost| cost.packet_hops)
    }

    /// An upper estimate of a run's cost, computed before the run.
    ///
    /// # Errors
    /// Any mistake that [`Scenario::plan`] finds for this seed.
    pub fn cost(&self, seed: Seed) -> Result<Cost, ScenarioError> {
        self.planned(seed).map(|(_, cost)| cost)
    }

    /// Maximum numbers of flows and link directions of a run. It needs no plan, so a program with little memory can
    /// reject a scenario before it plans it.
    ///
    /// # Errors
    /// A preset or a load that cannot be expanded.
    pub fn sizes(&self) -> Result<(u64, u64), ScenarioError> {
        let mut problems = Vec::new();
        let expanded = self.with_calls(&mut problems).expanded(&mut problems);
        if !problems.is_empty() {
            return Err(self.error(problems));
        }
        let flows = expanded.flows.iter().map(|flow| expanded.flows_of(flow));
        let links = expanded.links.iter().map(|link| link.count.saturating_mul(if link.duplex { 2 } else { 1 }));
        Ok((flows.fold(0, u64::saturating_add), links.fold(0, u64::saturating_add)))
    }

    /// The plan, and an upper estimate of the cost of a run.
    fn planned(&self, seed: Seed) -> Result<(Plan, Cost), ScenarioError> {
        self.check()?;
        let mut problems = Vec::new();
        let settled = |problems: &mut Vec<Problem>| match std::mem::take(problems) {
            found if found.is_empty() => Ok(()),
            found => Err(self.error(found)),
        };
        let mut expanded = self.with_calls(&mut problems).expanded(&mut problems);
        settled(&mut problems)?;
        let media = media::planned(&mut expanded);
        // A preset's links come first in the expanded list and do not occur in the text.
        let presets = expanded.links.len() - self.links.len();
        let place_of_link = |index: usize| match index.checked_sub(presets) {
            Some(own) => Path::default().key("link").index(own),
            None => Path::default().key("topology"),
        };
        if !cost::check_counts(&expanded, self.load.is_some(), &mut problems) {
            // The preset's links do not occur in the text.
            problems.iter_mut().for_each(|problem| problem.path = place_in_text(&problem.path, presets));
        }
        settled(&mut problems)?;
        let mut network = NetworkGraph::default();
        for (index, link) in expanded.links.iter().enumerate() {
            network.add(index, link, seed);
        }
        network.check_ends(&place_of_link, &mut problems);
        settled(&mut problems)?;
        let Flows { plans: mut flows, uses, work } = Flows::expand(&expanded, &network, seed, &mut problems);
        self.place_in_calls(&expanded, &mut problems);
        settled(&mut problems)?;
        cost::check_work(&work, &expanded, &mut problems);
        let (nodes, mut links) = network.finish(&expanded, &media, &uses, &place_of_link, &mut problems);
        settled(&mut problems)?;
        let place_of_direction = |direction: usize| {
            let directions = |link: &Link| link.count.saturating_mul(if link.duplex { 2 } else { 1 });
            let mut before = 0u64;
            let of_link = expanded.links.iter().position(|link| {
                before = before.saturating_add(directions(link));
                (direction as u64) < before
            });
            place_of_link(of_link.unwrap_or_default())
        };
        service::check(&flows, &links, &place_of_direction, &mut problems);
        settled(&mut problems)?;
        link_events::apply(&expanded, &mut links, &mut problems);
        self.place_in_calls(&expanded, &mut problems);
        settled(&mut problems)?;
        via::fail_over(&expanded, &mut flows, &links, nodes.len());
        via::move_over(&expanded, &mut flows, &links, nodes.len(), &mut problems);
        settled(&mut problems)?;
        let marks = marks::marks(&expanded, &links);
        let record = record_plan(&expanded, &flows, &links, &mut problems);
        settled(&mut problems)?;
        let cost = Cost::estimate(&work, flows.len(), links.len());
        let plan = Plan {
            version: self.version,
            name: self.name.clone(),
            seed,
            duration: self.duration,
            warmup: self.warmup,
            hosts: self.hosts(),
            nodes,
            links,
            media,
            groups: expanded.flows.iter().map(|flow| flow.name.clone()).collect(),
            flows,
            calls: self.call_plans(),
            marks,
            record,
        };
        media::check_members(&plan, &mut problems);
        settled(&mut problems)?;
        for (index, entry) in self.record.capture.iter().enumerate() {
            let of_a_flow = matches!(tap::parse(entry, &plan), Ok((taps, _)) if matches!(taps[..], [Tap::Flow(_), ..]));
            let found = if of_a_flow {
                Err(format!("`{entry}`: packets are captured at links and hosts; write for example `host:NODE`"))
            } else {
                tap::parse(entry, &plan).map(|_| ())
            };
            if let Err(words) = found {
                let (what, help) = words.split_once("; ").unwrap_or((&words, "write for example `link:r1>r2`"));
                let at = Path::default().key("record").key("capture").index(index);
                problems.push(Problem::new(at, what).help(help));
            }
        }
        settled(&mut problems)?;
        Ok((plan, cost))
    }
}

/// Position in the text of a problem with a link of the expanded scenario. The first `presets` links do not occur in
/// the text.
fn place_in_text(path: &Path, presets: usize) -> Path {
    match path.steps() {
        [Step::Key(key), Step::Index(index), rest @ ..] if key == "link" => match index.checked_sub(presets) {
            Some(own) => rest.iter().fold(Path::default().key("link").index(own), |path, step| path.step(step.clone())),
            None => Path::default().key("topology"),
        },
        _ => path.clone(),
    }
}

fn record_plan(scenario: &Scenario, flows: &[FlowPlan], links: &[LinkPlan], problems: &mut Vec<Problem>) -> RecordPlan {
    let record = &scenario.record;
    let at = Path::default().key("record");
    let mut queues = Vec::new();
    for (index, name) in record.queues.iter().enumerate() {
        if name == "*" {
            queues.extend(0..links.len());
        } else if let Some(link) = links.iter().position(|link| *link.name == **name) {
            queues.push(link);
        } else {
            let problem = link_events::unknown_link(name, links, at.key("queues").index(index));
            problems.push(problem.allowed("`FROM>TO` with the names of two nodes that a link joins, or `*`"));
        }
    }
    queues.sort_unstable();
    queues.dedup();
    let mut chosen = |key: &str, first: usize, entries: &[String]| {
        let mut selections = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            match Selection::parse(entry, scenario, &at.key(key).index(first + index)) {
                Ok(selection) => selections.push(selection),
                Err(problem) => problems.push(*problem),
            }
        }
        let (mut wanted, mut group, mut within) = (Vec::new(), usize::MAX, 0);
        for (index, flow) in flows.iter().enumerate() {
            within = if flow.group == group { within + 1 } else { 0 };
            group = flow.group;
            if selections.iter().any(|selection| selection.contains(group, within)) {
                wanted.push(index);
            }
        }
        wanted
    };
    let allotted = record
        .allotted
        .iter()
        .enumerate()
        .map(|(index, entry)| (entry.clone(), chosen("allotted", index, std::slice::from_ref(entry))));
    let allotted = allotted.collect();
    let of_series = chosen("series", 0, &record.series);
    let series: std::collections::BTreeSet<usize> = of_series.iter().map(|flow| flows[*flow].group).collect();
    let echoes = |(index, flow): (usize, &FlowPlan)| {
        let measured = flow.outcome.as_ref().is_some_and(|outcome| outcome.of == Latency::RoundTrip);
        let is_ping = matches!(&*flow.transport, TransportConfig::Ping(_));
        (is_ping || measured || series.contains(&flow.group)).then_some(index)
    };
    let mut round_trips: Vec<usize> = flows.iter().enumerate().filter_map(echoes).collect();
    round_trips.extend(chosen("round-trips", 0, &record.round_trips));
    round_trips.sort_unstable();
    round_trips.dedup();
    RecordPlan {
        bin: record.bin.unwrap_or(Span::ZERO),
        goodput: chosen("goodput", 0, &record.goodput),
        allotted,
        window_interval: record.window_interval.unwrap_or(Span::ZERO),
        queues,
        windows: chosen("windows", 0, &record.windows),
        round_trips,
        series: series.into_iter().collect(),
        units: chosen("units", 0, &record.units),
    }
}
