//! Timed events: changes to the network or to flows during a run.
//!
//! An event is shorthand for keys of a link or a flow: a schedule of rate, delay or loss, outages, `start` and `stop`.
//! The plan merges link events into the directions, and flow events into start and stop times.

use fairwave_core::link::{RateConfig, ScheduleConfig};
use fairwave_core::loss::{LossConfig, LossScheduleConfig};
use fairwave_core::units::{Instant, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::law::LawTable;
use crate::model::Scenario;
use crate::path::Path;
use crate::plan::{LinkPlan, Mark};
use crate::ranges::{LONGEST_DELAY, check_law};
use crate::select::Selection;

/// Changes a link (`link` with `rate`, `delay`, `loss` or `state`) or flows (`flow` with `state`) at a known time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Event {
    /// Name of the event in figures and overrides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Time of the event, counted from the beginning of the run; before its end.
    pub at: Span,
    /// The link direction that the event changes, `r1>r2`, or both directions, `r1<>r2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The flows that the event changes: `voice` for a group, `voice[3]`, `voice[0..5]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The link's rate from then on; `0 b/s` pauses the link: a packet in transmission waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The link's delay from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// How the link loses packets from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LawTable<LossConfig>>,
    /// A link fails (`down`) or comes back (`up`); flows begin (`on`) or end (`off`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
}

/// The change of a link or of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The link fails: it loses packets that wait, that it is transmitting, or that arrive.
    Down,
    /// The link comes back, with an empty queue.
    Up,
    /// The flows begin.
    On,
    /// The flows end.
    Off,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Down => "down",
            State::Up => "up",
            State::On => "on",
            State::Off => "off",
        }
    }
}

impl Event {
    /// Describes the change in words.
    fn words(&self) -> String {
        let mut said = Vec::new();
        said.extend(self.rate.map(|rate| rate.to_string()));
        said.extend(self.delay.map(|delay| format!("delay {delay}")));
        said.extend(self.loss.as_ref().map(|loss| format!("loss {}", loss.name())));
        said.extend(self.state.map(|state| state.word().to_owned()));
        let whom = self.link.as_deref().or(self.flow.as_deref()).unwrap_or_default();
        format!("{whom} {}", said.join(", "))
    }

    /// Returns the event with all parameters of its loss model.
    pub(crate) fn spelled_out(&self) -> Event {
        Event { loss: self.loss.as_ref().map(LawTable::spelled_out), ..self.clone() }
    }

    fn mark(&self) -> Mark {
        Mark { at: Instant::ZERO + self.at, label: self.name.clone().unwrap_or_else(|| self.words()) }
    }
}

/// Checks events as far as that is possible without the network.
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

/// Start and stop times from events: the event's index, the flows, the change and its time.
pub(crate) struct FlowTimes(Vec<(usize, Selection, State, Span)>);

impl FlowTimes {
    /// Collects the times from a scenario's events. Skips events that cannot be read.
    pub fn from_events(scenario: &Scenario) -> Self {
        let each = scenario.events.iter().enumerate().filter_map(|(index, event)| {
            let selection = Selection::parse(event.flow.as_deref()?, scenario, &Path::default()).ok()?;
            Some((index, selection, event.state?, event.at))
        });
        FlowTimes(each.filter(|(_, _, state, _)| matches!(state, State::On | State::Off)).collect())
    }

    /// The time at which an event starts, or stops, flow `index` of `group`.
    pub fn time(&self, state: State, group: usize, index: u64) -> Option<Instant> {
        let found =
            self.0.iter().find(|(_, selection, which, _)| *which == state && selection.contains(group, index))?;
        Some(Instant::ZERO + found.3)
    }
}

/// Both ends of an event's link, and whether the event covers both directions.
pub(crate) fn ends(link: &str) -> Option<(&str, &str, bool)> {
    let (from, to, both) = match link.split_once("<>") {
        Some((from, to)) => (from, to, true),
        None => link.split_once('>').map(|(from, to)| (from, to, false))?,
    };
    (!from.is_empty() && !to.is_empty() && !to.contains('>')).then_some((from, to, both))
}

/// Maximum number of marks for link changes that are not events. If there are more, figures mark none of them.
const MOST_MARKS: usize = 24;

/// Marks in figures: named events, and changes of single links as long as there are few.
pub(crate) fn marks(scenario: &Scenario, links: &[LinkPlan]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = scenario.events.iter().map(Event::mark).collect();
    let named = |name: &str, at: Span| {
        scenario.events.iter().any(|event| {
            event.at == at
                && event.link.as_deref().and_then(ends).is_some_and(|(from, to, both)| {
                    name == format!("{from}>{to}") || (both && name == format!("{to}>{from}"))
                })
        })
    };
    let mut own: Vec<(Span, &str, &str, bool, String)> = Vec::new();
    for link in links {
        let mut add = |at: Span, what: String| {
            let Some((from, to, _)) = ends(&link.name) else { return };
            if at == Span::ZERO || at >= scenario.duration || named(&link.name, at) {
                return;
            }
            // A change in both directions gets one mark.
            match own.iter_mut().find(|(when, a, b, _, said)| (*when, *a, *b) == (at, to, from) && *said == what) {
                Some((_, _, _, both, _)) => *both = true,
                None => own.push((at, from, to, false, what)),
            }
        };
        if let RateConfig::Schedule(ScheduleConfig { steps, repeat_after: None }) = &link.direction.rate {
            steps.iter().for_each(|step| add(step.at, step.is.to_string()));
        }
        if let LossConfig::Schedule(LossScheduleConfig { steps }) = &link.direction.loss {
            steps.iter().for_each(|step| add(step.at, format!("loss {}", step.is.name())));
        }
        link.direction.changes.delays.iter().for_each(|step| add(step.at, format!("delay {}", step.is)));
        for outage in &link.direction.changes.outages {
            add(outage.from, "down".to_owned());
            outage.to.into_iter().for_each(|to| add(to, "up".to_owned()));
        }
        if own.len() > MOST_MARKS {
            break;
        }
    }
    if own.len() <= MOST_MARKS {
        marks.extend(own.into_iter().map(|(at, from, to, both, what)| {
            let arrow = if both { "<>" } else { ">" };
            Mark { at: Instant::ZERO + at, label: format!("{from}{arrow}{to} {what}") }
        }));
    }
    marks.sort_by_key(|mark| mark.at);
    marks
}
