//! Checks events as far as that is possible without the network.

use crate::error::Problem;
use crate::events::{Event, State, ends};
use crate::flow_times::FlowTimes;
use crate::model::Scenario;
use crate::path::Path;
use crate::ranges::{LONGEST_DELAY, check_law};
use crate::select::Selection;

/// Checks all events of a scenario.
pub(crate) fn check(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let mut names: Vec<&str> = Vec::new();
    for (index, event) in scenario.events.iter().enumerate() {
        let at = Path::default().key("event").index(index);
        if event.at >= scenario.duration {
            problems.push(
                Problem::new(at.key("at"), format!("this event comes at {}, when the run is over", event.at))
                    .allowed(format!("before the end of the run at {}", scenario.duration))
                    .help("lengthen `duration`, or let it come earlier"),
            );
        }
        if let Some(name) = &event.name {
            if name.trim().is_empty() || name.contains('.') {
                problems.push(
                    Problem::new(at.key("name"), format!("an event cannot be called `{name}`"))
                        .allowed("a text without dots")
                        .help("write for example `name = \"uplink slows down\"`"),
                );
            } else if names.contains(&name.as_str()) {
                problems.push(
                    Problem::new(at.key("name"), format!("there are two events named `{name}`"))
                        .help("give this one another name"),
                );
            }
            names.push(name);
        }
        check_event(event, scenario, &at, problems);
    }
    check_flow_events(scenario, problems);
}

fn check_event(event: &Event, scenario: &Scenario, at: &Path, problems: &mut Vec<Problem>) {
    let of_links = [("rate", event.rate.is_some()), ("delay", event.delay.is_some()), ("loss", event.loss.is_some())];
    let refuse = |key: &str, what: String, help: &str| Problem::new(at.key(key), what).help(help.to_owned());
    match (&event.link, &event.flow) {
        (Some(link), None) => {
            if ends(link).is_none() {
                problems.push(
                    Problem::new(at.key("link"), format!("`{link}` does not say which link"))
                        .allowed("`FROM>TO`, or `FROM<>TO` for both directions")
                        .help("write for example `link = \"r1>r2\"`"),
                );
            }
            match event.state {
                Some(state @ (State::On | State::Off)) => problems.push(refuse(
                    "state",
                    format!("a link is not {}", state.word()),
                    "write `state = \"down\"` or `\"up\"`",
                )),
                None if of_links.iter().all(|(_, given)| !given) => problems.push(refuse(
                    "link",
                    "nothing happens to this link".to_owned(),
                    "say what does: `rate`, `delay`, `loss` or `state`, for example `rate = \"500 kb/s\"`",
                )),
                _ => {}
            }
        }
        (None, Some(flow)) => {
            if let Err(problem) = Selection::parse(flow, scenario, &at.key("flow")) {
                problems.push(*problem);
            }
            for (key, _) in of_links.iter().filter(|(_, given)| *given) {
                problems.push(
                    refuse(key, format!("flows have no `{key}`"), "name a link instead: `link = \"r1>r2\"`").on_key(),
                );
            }
            match event.state {
                Some(State::On | State::Off) => {}
                Some(state) => problems.push(refuse(
                    "state",
                    format!("flows are not {}", state.word()),
                    "write `state = \"on\"` or `\"off\"`",
                )),
                None => problems.push(refuse(
                    "state",
                    "nothing happens to these flows".to_owned(),
                    "say what does: `state = \"on\"` or `state = \"off\"`",
                )),
            }
        }
        (Some(_), Some(_)) => problems.push(refuse(
            "flow",
            "an event happens to a link or to flows, not to both".to_owned(),
            "write two events",
        )),
        (None, None) => problems.push(refuse(
            "link",
            "this event does not say to whom it happens".to_owned(),
            "add `link = \"r1>r2\"` or `flow = \"voice\"`",
        )),
    }
    if event.delay.is_some_and(|delay| delay > LONGEST_DELAY) {
        problems.push(
            Problem::new(at.key("delay"), "this is no delay of a link")
                .allowed(format!("up to {LONGEST_DELAY}"))
                .help("write for example `delay = \"50 ms\"`"),
        );
    }
    if let Some(loss) = &event.loss {
        check_law(loss, &at.key("loss"), problems);
    }
}

/// Checks that a flow starts at most once and stops at most once.
fn check_flow_events(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let times = FlowTimes::from_events(scenario);
    for (place, (index, selection, state, time)) in times.0.iter().enumerate() {
        let at = Path::default().key("event").index(*index);
        let overlap = |other: &Selection| {
            let groups = selection.group.is_none() || other.group.is_none() || selection.group == other.group;
            groups && selection.flows.start < other.flows.end && other.flows.start < selection.flows.end
        };
        let twice = times.0.iter().take(place).find(|(_, other, which, _)| which == state && overlap(other));
        if let Some((other, ..)) = twice {
            let verb = if *state == State::On { "begin" } else { "end" };
            problems.push(
                Problem::new(at.key("flow"), format!("these flows {verb} at event {other} already"))
                    .allowed("one `on` and one `off` for each flow")
                    .help("write another [[flow]] for what comes later"),
            );
        }
        for (group, flow) in scenario.flows.iter().enumerate() {
            if selection.group.is_some_and(|own| own != group) {
                continue;
            }
            let own = match state {
                State::On => flow.start != Default::default(),
                _ => flow.stop.is_some(),
            };
            let key = if *state == State::On { "start" } else { "stop" };
            if own {
                problems.push(
                    Problem::new(at.key("flow"), format!("`{}` has a `{key}` of its own", flow.name))
                        .help(format!("remove this event, or the `{key}`")),
                );
            }
            let comes_and_goes = [("active", flow.active.is_some()), ("arrivals", flow.arrivals.is_some())];
            if let Some((own, _)) = comes_and_goes.iter().find(|(_, is)| *is) {
                problems.push(
                    Problem::new(at.key("flow"), format!("`{}` comes and goes by its `{own}`", flow.name))
                        .help(format!("remove this event, or the `{own}`; `start` and `stop` bound `arrivals`")),
                );
                continue;
            }
            let begins =
                times.0.iter().filter(|(_, other, which, _)| *which == State::On && overlap(other)).map(|one| one.3);
            let begins = begins.max().unwrap_or_else(|| flow.start.latest(scenario.count_of(flow)));
            if *state == State::Off && *time <= begins && scenario.count_of(flow) > 0 {
                problems.push(
                    Problem::new(at.key("at"), format!("`{}` ends at {time}, before it begins at {begins}", flow.name))
                        .help("let it end later, or begin earlier"),
                );
            }
            if flow.stop.is_some_and(|stop| *state == State::On && stop <= *time) {
                problems.push(
                    Problem::new(at.key("at"), format!("`{}` begins at {time}, after its `stop`", flow.name))
                        .help("let it begin earlier, or stop later"),
                );
            }
        }
    }
}
