//! Applies events to a plan's links: schedules of rates, delays and losses, and outages, in the same form as keys of links.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use fairwave_core::link::{Outage, RateConfig, ScheduleConfig, check_outages};
use fairwave_core::loss::{LossConfig, LossScheduleConfig};
use fairwave_core::timed::Step;
use fairwave_core::units::Span;

use crate::error::Problem;
use crate::events::{Event, State, ends};
use crate::model::Scenario;
use crate::path::Path;
use crate::plan::LinkPlan;
use crate::suggest::nearest;

/// Events of one link direction.
#[derive(Default)]
struct DirectionEvents<'e> {
    /// Indices of the events, in ascending order of time.
    events: Vec<(usize, &'e Event)>,
}

/// Merges link events into the plan's link directions.
pub(crate) fn apply(scenario: &Scenario, links: &mut [LinkPlan], problems: &mut Vec<Problem>) {
    if scenario.events.iter().all(|event| event.link.is_none()) {
        return;
    }
    let by_name: HashMap<&str, usize> = links.iter().enumerate().map(|(index, link)| (&*link.name, index)).collect();
    let mut by_link: BTreeMap<usize, DirectionEvents<'_>> = BTreeMap::new();
    for (index, event) in scenario.events.iter().enumerate() {
        let Some((from, to, both)) = event.link.as_deref().and_then(ends) else { continue };
        let at = Path::default().key("event").index(index).key("link");
        let mut names = vec![format!("{from}>{to}")];
        if both {
            names.push(format!("{to}>{from}"));
        }
        for name in names {
            match by_name.get(name.as_str()).copied() {
                Some(link) => by_link.entry(link).or_default().events.push((index, event)),
                None => problems.push(unknown_link(&name, links, at.clone())),
            }
        }
    }
    for (link, DirectionEvents { mut events }) in by_link {
        events.sort_by_key(|(_, event)| event.at);
        let Some(link) = links.get_mut(link) else { continue };
        if let Some((index, _)) = events.first().filter(|_| link.medium.is_some()) {
            let at = Path::default().key("event").index(*index).key("link");
            problems.push(
                Problem::new(at, format!("`{}` uses a shared medium, which no event changes", link.name))
                    .allowed("a link direction with a rate of its own")
                    .help("give the event to another link"),
            );
            continue;
        }
        for change in [change_rate, change_delay, change_loss, fail] {
            if let Err(problem) = change(link, &events) {
                problems.push(*problem);
            }
        }
    }
}

/// The error for an unknown link direction, with the most similar name.
pub(crate) fn unknown_link(name: &str, links: &[LinkPlan], at: Path) -> Problem {
    // The first names are links between routers. Access links are numerous and rarely meant.
    let names = || links.iter().take(1000).map(|link| &*link.name);
    let problem = Problem::new(at, format!("there is no link direction `{name}`"))
        .allowed("`FROM>TO` with the names of two nodes that a link joins");
    match nearest(name, names()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("there are for example {}", names().take(4).collect::<Vec<_>>().join(", "))),
    }
}

/// Merges schedule steps with events. Rejects two changes at the same time.
fn merged<T: Clone>(
    base: Vec<Step<T>>,
    events: &[(usize, &Event)],
    key: &str,
    of: impl Fn(&Event) -> Option<T>,
) -> Result<Vec<Step<T>>, Box<Problem>> {
    let (mut steps, mut changed) = (base, false);
    for (index, event) in events {
        let Some(is) = of(event) else { continue };
        match steps.iter_mut().find(|step| step.at == event.at) {
            // At time 0, the first event replaces the initial value.
            Some(step) if event.at == Span::ZERO && !changed => step.is = is,
            Some(_) => {
                let at = Path::default().key("event").index(*index);
                return Err(Box::new(
                    Problem::new(at.key(key), format!("the link's {key} changes twice at {}", event.at))
                        .help("let one of the two come at another time, or leave it out"),
                ));
            }
            None => steps.push(Step::new(event.at, is)),
        }
        changed = true;
    }
    steps.sort_by_key(|step| step.at);
    Ok(steps)
}

fn change_rate(link: &mut LinkPlan, events: &[(usize, &Event)]) -> Result<(), Box<Problem>> {
    let Some((index, _)) = events.iter().find(|(_, event)| event.rate.is_some()) else { return Ok(()) };
    let at = Path::default().key("event").index(*index).key("rate");
    let base = match &link.direction.rate {
        RateConfig::Constant(constant) => vec![Step::new(Span::ZERO, constant.rate)],
        RateConfig::Schedule(ScheduleConfig { steps, repeat_after: None }) => steps.clone(),
        other => {
            let what = format!(
                "the rate of `{}` follows a law of its own (`{}`), which events cannot change",
                link.name,
                other.name()
            );
            return Err(Box::new(
                Problem::new(at, what).help("give the link a constant rate, or a schedule that does not repeat"),
            ));
        }
    };
    let schedule = ScheduleConfig { steps: merged(base, events, "rate", |event| event.rate)?, repeat_after: None };
    let direction = Arc::make_mut(&mut link.direction);
    direction.rate = schedule.into();
    direction.rate.check().map_err(|error| {
        Box::new(Problem::new(at, format!("the rates of `{}` are {}", link.name, error.value)).allowed(error.allowed))
    })
}

fn change_delay(link: &mut LinkPlan, events: &[(usize, &Event)]) -> Result<(), Box<Problem>> {
    if events.iter().all(|(_, event)| event.delay.is_none()) {
        return Ok(());
    }
    let direction = Arc::make_mut(&mut link.direction);
    let mut base = vec![Step::new(Span::ZERO, direction.delay)];
    base.append(&mut direction.changes.delays);
    let mut steps = merged(base, events, "delay", |event| event.delay)?;
    direction.delay = steps.remove(0).is;
    direction.changes.delays = steps;
    Ok(())
}

fn change_loss(link: &mut LinkPlan, events: &[(usize, &Event)]) -> Result<(), Box<Problem>> {
    let mut models = Vec::with_capacity(events.len());
    for (index, event) in events {
        if let Some(loss) = &event.loss {
            let at = Path::default().key("event").index(*index).key("loss");
            let loss = loss.resolve().map_err(|error| Box::new(Problem::new(at, error.to_string())))?;
            models.push((event.at, loss));
        }
    }
    if models.is_empty() {
        return Ok(());
    }
    let direction = Arc::make_mut(&mut link.direction);
    let base = match std::mem::take(&mut direction.loss) {
        LossConfig::Schedule(LossScheduleConfig { steps }) => steps,
        other => vec![Step::new(Span::ZERO, other)],
    };
    let of = |event: &Event| {
        event.loss.as_ref().and_then(|_| models.iter().find(|(at, _)| *at == event.at).map(|(_, loss)| loss.clone()))
    };
    direction.loss = LossScheduleConfig { steps: merged(base, events, "loss", of)? }.into();
    Ok(())
}

fn fail(link: &mut LinkPlan, events: &[(usize, &Event)]) -> Result<(), Box<Problem>> {
    let mut failed: Option<(usize, Span)> = None;
    let mut outages = std::mem::take(&mut Arc::make_mut(&mut link.direction).changes.outages);
    for (index, event) in events {
        let at = Path::default().key("event").index(*index).key("state");
        let refuse = |what: String, help: &str| Err(Box::new(Problem::new(at.clone(), what).help(help.to_owned())));
        match (event.state, failed) {
            (Some(State::Down), None) => failed = Some((*index, event.at)),
            (Some(State::Down), Some((_, since))) => {
                return refuse(format!("`{}` is down since {since}", link.name), "let it come `up` in between");
            }
            (Some(State::Up), Some((_, from))) if from < event.at => {
                outages.push(Outage { from, to: Some(event.at) });
                failed = None;
            }
            (Some(State::Up), Some(_)) => {
                return refuse(
                    format!("`{}` fails and comes back at the same time", link.name),
                    "let it come `up` later",
                );
            }
            (Some(State::Up), None) => {
                return refuse(format!("`{}` is not down at {}", link.name, event.at), "let it go `down` before");
            }
            _ => {}
        }
    }
    outages.extend(failed.map(|(_, from)| Outage { from, to: None }));
    outages.sort_by_key(|outage| outage.from);
    if let Err(error) = check_outages(&outages) {
        let index = events.iter().find(|(_, event)| event.state.is_some()).map_or(0, |(index, _)| *index);
        let at = Path::default().key("event").index(index).key("state");
        return Err(Box::new(Problem::new(at, format!("`{}` is {}", link.name, error.value)).allowed(error.allowed)));
    }
    Arc::make_mut(&mut link.direction).changes.outages = outages;
    Ok(())
}
