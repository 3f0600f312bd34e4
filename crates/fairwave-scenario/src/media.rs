//! Shared media: checks of their tables and of the links that use them, and their conversion to the plan.

use std::collections::BTreeSet;

use fairwave_core::medium::{MediumConfig, Member, SharedMedium};
use fairwave_core::queue::QueueConfig;

use crate::direction::{Direction, LinkSpec};
use crate::error::Problem;
use crate::law::LawTable;
use crate::model::{Link, Scenario};
use crate::path::Path;
use crate::plan::{MediumPlan, Plan};
use crate::ranges::{check_config, check_law};
use crate::suggest::{list, nearest};

/// Checks the media and all references to them.
pub(crate) fn check(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let root = Path::default();
    for (name, law) in &scenario.media {
        check_law(law, &root.key("medium").key(name), problems);
    }
    let mut used = BTreeSet::new();
    for (at, direction) in directions(scenario) {
        check_direction(direction, scenario, &at, problems);
        used.extend(direction.medium.as_deref());
    }
    for name in scenario.media.keys().filter(|name| !used.contains(name.as_str())) {
        problems.push(
            Problem::new(root.key("medium").key(name), format!("no link uses the medium `{name}`"))
                .help(format!("write `medium = \"{name}\"` in place of the `rate` of a link, or remove the medium")),
        );
    }
}

/// All link directions in the scenario, with their positions.
fn directions(scenario: &Scenario) -> Vec<(Path, &Direction)> {
    let root = Path::default();
    let mut specs: Vec<(Path, &LinkSpec)> = Vec::new();
    for (index, link) in scenario.links.iter().enumerate() {
        specs.push((root.key("link").index(index), &link.spec));
    }
    for (index, flow) in scenario.flows.iter().enumerate() {
        let at = root.key("flow").index(index);
        let access = [("source-access", &flow.source_access), ("sink-access", &flow.sink_access)];
        specs.extend(access.into_iter().filter_map(|(key, spec)| Some((at.key(key), spec.as_ref()?))));
    }
    if let Some(topology) = &scenario.topology {
        specs.extend(topology.specs().map(|(key, spec)| (root.key("topology").key(key), spec)));
    }
    let mut both = Vec::new();
    for (at, spec) in specs {
        both.extend(spec.reverse.as_ref().map(|reverse| (at.key("reverse"), reverse)));
        both.push((at, &spec.there));
    }
    both
}

fn check_direction(direction: &Direction, scenario: &Scenario, at: &Path, problems: &mut Vec<Problem>) {
    let Some(medium) = &direction.medium else { return };
    if !scenario.media.contains_key(medium) {
        let known = || scenario.media.keys().map(String::as_str);
        let problem = Problem::new(at.key("medium"), format!("there is no medium `{medium}`"));
        problems.push(match (nearest(medium, known()), known().next()) {
            (Some(near), _) => problem.help(format!("did you mean `{near}`?")),
            (None, Some(_)) => problem.allowed(list(known())),
            (None, None) => problem.help(format!("add a table `[medium.{medium}]` with `law = \"half-duplex\"`")),
        });
    }
    let Direction { rate, medium: _, delay, queue: _, police, shape, loss: _, outages, jitter, reorder, duplicate } =
        direction;
    let changes = delay.as_ref().is_some_and(|delay| delay.steps().len() > 1);
    for (key, there, why) in [
        ("rate", rate.is_some(), "the medium decides how long a packet takes"),
        ("delay", changes, "the delay of a link with a medium does not change"),
        ("police", police.is_some(), "the medium holds the queue"),
        ("shape", shape.is_some(), "the medium holds the queue"),
        ("outages", outages.is_some(), "the medium decides who transmits"),
        ("jitter", jitter.is_some(), "the medium decides when a packet arrives"),
        ("reorder", reorder.is_some(), "the medium decides when a packet arrives"),
        ("duplicate", duplicate.is_some(), "the medium decides what arrives"),
    ] {
        if there {
            problems.push(
                Problem::new(at.key(key), format!("this link uses the medium `{medium}`: {why}"))
                    .help(format!("remove `{key}`, or `medium`")),
            );
        }
    }
}

/// The media of a scenario whose presets are expanded. Each direction on a medium gets the medium's nominal rate, for buffer sizes
/// and cost estimates.
pub(crate) fn planned(scenario: &mut Scenario) -> Vec<MediumPlan> {
    let law = |(name, law): (&String, &LawTable<MediumConfig>)| {
        Some(MediumPlan { name: name.clone(), law: law.resolve().ok()? })
    };
    let media: Vec<MediumPlan> = scenario.media.iter().filter_map(law).collect();
    if media.is_empty() {
        return media;
    }
    let Ok(queue) = LawTable::<QueueConfig>::default().resolve() else { return media };
    for link in &mut scenario.links {
        let Link { from, to, spec, .. } = link;
        for (direction, from, to) in [(Some(&mut spec.there), &*from, &*to), (spec.reverse.as_mut(), &*to, &*from)] {
            let Some(direction) = direction else { continue };
            let name = direction.medium.as_deref();
            if let Some(medium) = media.iter().find(|medium| Some(medium.name.as_str()) == name) {
                let member = Member { name: String::new(), from: from.clone(), to: to.clone(), queue: queue.clone() };
                direction.rate = Some(medium.law.nominal(&member).into());
            }
        }
    }
    media
}

/// Reports errors that media laws find in their links, such as a station without a link or two access points.
pub(crate) fn check_members(plan: &Plan, problems: &mut Vec<Problem>) {
    for (index, medium) in plan.media.iter().enumerate() {
        let members: Vec<Member> = plan.members(index).into_iter().map(|(_, member)| member).collect();
        if members.is_empty() {
            continue;
        }
        let streams = |name: &str| plan.seed.stream(&format!("medium.{}.{name}", medium.name));
        let made = SharedMedium::new(&medium.law, &members, &streams).map(|_| ());
        check_config(made, &Path::default().key("medium").key(&medium.name), problems);
    }
}
