//! Expands calls into flows and events, and checks them.

use std::borrow::Cow;

use fairwave_core::config::ConfigError;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::sfu::{LegRole, RoomSetup};
use fairwave_core::transport::{TransportConfig, WebrtcConfig, rate_control::RateControlConfig};
use fairwave_core::units::{Instant, Span};
use serde_json::{Value, json};

use crate::call::{Call, Departure, Leg, MOST, Move};
use crate::error::Problem;
use crate::events::{Event, State, ends};
use crate::law::LawTable;
use crate::model::{Flow, Scenario};
use crate::path::{Path, Step};
use crate::plan::CallPlan;
use crate::values::Start;

/// Traffic and transport of a participant.
type Laws = (LawTable<TrafficConfig>, LawTable<TransportConfig>);

impl Call {
    fn check(&self, at: &Path, duration: Span, problems: &mut Vec<Problem>) {
        let many = self.participants.len();
        if !(2..=MOST).contains(&many) {
            problems.push(
                Problem::new(at.key("participants"), format!("the call `{}` has {many} participants", self.name))
                    .allowed(format!("2 to {MOST}"))
                    .help("name the nodes of all who take part, for example `participants = [\"ann\", \"ben\"]`"),
            );
        }
        for (place, name) in self.participants.iter().enumerate() {
            if self.participants.iter().take(place).any(|other| other == name) {
                problems.push(
                    Problem::new(at.key("participants").index(place), format!("`{name}` takes part twice"))
                        .help("name each participant once"),
                );
            }
        }
        for (place, one) in self.differences.iter().enumerate() {
            let at = at.key("participant").index(place);
            if !self.participants.contains(&one.name) {
                problems.push(
                    Problem::new(at.key("name"), format!("`{}` does not take part in `{}`", one.name, self.name))
                        .allowed(self.participants.join(", "))
                        .help("add the name to `participants`"),
                );
            }
            if let (Some(leave), join) = (one.leave, one.join.unwrap_or_default())
                && leave <= join
            {
                problems.push(
                    Problem::new(at.key("leave"), format!("`{}` leaves at {leave}, and joins at {join}", one.name))
                        .allowed("after `join`")
                        .help("leave later, or remove the participant"),
                );
            }
        }
        for (place, one) in self.differences.iter().enumerate() {
            let at = at.key("participant").index(place).key("moves");
            let mut latest = None;
            for (place, step) in one.moves.iter().enumerate() {
                let at = at.index(place);
                if ends(&step.leaves).is_none_or(|(_, _, both)| !both) {
                    problems.push(
                        Problem::new(at.key("leaves"), format!("`{}` names no link", step.leaves))
                            .allowed("the two nodes that a link joins, `NODE<>NODE`")
                            .help(format!("write for example `leaves = \"{}<>wifi\"`", one.name)),
                    );
                }
                if step.at >= duration && duration > Span::ZERO {
                    problems.push(
                        Problem::new(
                            at.key("at"),
                            format!("`{}` moves at {}, when the run is over", one.name, step.at),
                        )
                        .allowed(format!("before the end of the run at {duration}"))
                        .help("lengthen `duration`, or let it come earlier"),
                    );
                }
                if latest.is_some_and(|latest| step.at < latest) {
                    problems.push(
                        Problem::new(
                            at.key("at"),
                            format!("`{}` moves at {} before an earlier move is over", one.name, step.at),
                        )
                        .allowed("moves in ascending order of time, each after the one before is over")
                        .help("let it come later"),
                    );
                }
                latest = Some(step.switches());
            }
        }
        let Some(server) = &self.server else { return };
        let at_server = at.key("server");
        if self.participants.contains(&server.node) {
            problems.push(
                Problem::new(at_server.key("node"), format!("`{}` is a participant, too", server.node))
                    .help("put the server at a node of its own"),
            );
        }
        if server.speakers == 0 || server.speakers > MOST as u64 {
            problems.push(
                Problem::new(at_server.key("speakers"), format!("`speakers` is {}", server.speakers))
                    .allowed(format!("1 to {MOST}"))
                    .help("write for example `speakers = 3`"),
            );
        }
        if server.start < server.least || server.least.bits_per_second() == 0 {
            problems.push(
                Problem::new(
                    at_server.key("start"),
                    format!("`start` is {}, `least` is {}", server.start, server.least),
                )
                .allowed("`least` above 0, `start` at least `least`")
                .help("write for example `start = \"300 kb/s\"`"),
            );
        }
        let refused = |key: &str, error: ConfigError| {
            Problem::new(at_server.key(key), error.to_string()).help("see `fairwave list controllers`")
        };
        if let Err(error) = server.control.check() {
            problems.push(refused("control", error));
        }
        if let Some(fec) = self.transport.get("fec").filter(|fec| **fec != json!("none")) {
            problems.push(
                Problem::new(
                    at.key("transport").key("fec"),
                    format!("the server restores no packets, and `fec` is {fec}"),
                )
                .help("remove `fec`: lost packets are sent again"),
            );
        }
        if let Some(format) = self.transport.get("feedback").filter(|format| **format != json!("transport-wide")) {
            problems.push(
                Problem::new(
                    at.key("transport").key("feedback"),
                    format!("servers need transport-wide feedback, and it is {format}"),
                )
                .help("remove `feedback`"),
            );
        }
    }

    /// Traffic and transport of a participant.
    fn laws(&self, at: &Path, name: &str) -> Result<Laws, Box<Problem>> {
        let problem_in = |key: &str, error: serde_json::Error| {
            let law = if key == "media" { "media" } else { "webrtc" };
            Box::new(Problem::new(at.key(key), error.to_string()).help(format!("see `fairwave explain {law}`")))
        };
        let traffic =
            serde_json::from_value(Value::Object(self.media(name))).map_err(|error| problem_in("media", error))?;
        let transport =
            serde_json::from_value(Value::Object(self.transport())).map_err(|error| problem_in("transport", error))?;
        Ok((traffic, transport))
    }

    fn flow(&self, at: &Path, (from, to): (&str, &str), (traffic, transport): Laws, leg: Option<Leg>) -> Flow {
        let name = format!("{}-{from}-to-{to}", self.name);
        let ((join, leave), (joins, leaves)) = (self.times(from), self.times(to));
        // A session from the server depends on the receiver's moves only, a session to the server on the sender's only.
        let who: &[&str] = match leg.map(|leg| leg.role) {
            Some(LegRole::Up { .. }) => &[from],
            Some(LegRole::Down { .. }) => &[to],
            None => &[from, to],
        };
        let departures = who.iter().flat_map(|who| self.departures(at, who)).collect();
        let stop = match (leave, leaves) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Flow {
            name,
            count: None,
            from: Some(from.to_owned()),
            to: Some(to.to_owned()),
            path: None,
            transport,
            traffic,
            route: None,
            route_back: None,
            failover: None,
            class: None,
            dscp: None,
            start: Start::At(join.max(joins)),
            stop,
            active: None,
            arrivals: None,
            timely: Default::default(),
            playout: None,
            concealment: None,
            in_band_fec: None,
            advantage: None,
            playback: None,
            recovery: None,
            outcome: None,
            source_access: None,
            sink_access: None,
            leg,
            departures,
        }
    }

    /// The changes of network of a participant.
    fn departures(&self, at: &Path, name: &str) -> Vec<Departure> {
        let Some(place) = self.differences.iter().position(|one| one.name == name) else { return Vec::new() };
        let Some(one) = self.differences.get(place) else { return Vec::new() };
        let at = at.key("participant").index(place).key("moves");
        let departure = |(place, step): (usize, &Move)| {
            let (a, b, _) = ends(&step.leaves)?;
            Some(Departure {
                at: Instant::ZERO + step.switches(),
                left: [format!("{a}>{b}"), format!("{b}>{a}")],
                place: at.index(place).key("leaves"),
            })
        };
        one.moves.iter().enumerate().filter_map(departure).collect()
    }

    /// Events that take down the links that participants leave. Each with the indices of participant and move.
    fn events(&self, duration: Span) -> impl Iterator<Item = ((usize, usize), Event)> + '_ {
        self.differences.iter().enumerate().flat_map(move |(who, one)| {
            let moves = one.moves.iter().enumerate().filter(move |(_, step)| step.breaks() < duration);
            moves.map(move |(place, step)| {
                (
                    (who, place),
                    Event {
                        name: Some(format!("{} leaves {}", one.name, step.leaves)),
                        at: step.breaks(),
                        link: Some(step.leaves.clone()),
                        flow: None,
                        rate: None,
                        delay: None,
                        loss: None,
                        state: Some(State::Down),
                    },
                )
            })
        })
    }

    /// The flows of this call, whose index is `call`.
    fn flows(&self, call: usize, at: &Path, problems: &mut Vec<Problem>) -> Vec<Flow> {
        let mut laws = Vec::new();
        for name in &self.participants {
            match self.laws(at, name) {
                Ok(own) => laws.push(own),
                Err(problem) if !problems.contains(&problem) => problems.push(*problem),
                Err(_) => {}
            }
        }
        if laws.len() < self.participants.len() {
            return Vec::new();
        }
        let mut flows = Vec::new();
        let mut add = |ends: (&str, &str), laws: &Laws, role: Option<LegRole>| {
            match self.flow(at, ends, laws.clone(), role.map(|role| Leg { call, role })) {
                // Participants whose times do not overlap have no session.
                Flow { start: Start::At(start), stop: Some(stop), .. } if stop <= start => {}
                flow => flows.push(flow),
            }
        };
        if let Some(server) = &self.server {
            for (who, (name, laws)) in self.participants.iter().zip(&laws).enumerate() {
                add((name, &server.node), laws, Some(LegRole::Up { who }));
            }
        }
        for (from, (sender, laws)) in self.participants.iter().zip(&laws).enumerate() {
            for (to, receiver) in self.participants.iter().enumerate().filter(|(to, _)| *to != from) {
                let role = self.server.is_some().then_some(LegRole::Down { from, to });
                add((sender, receiver), laws, role);
            }
        }
        if let Some(server) = &self.server {
            // A participant receives media from the server.
            for flow in &mut flows {
                if matches!(flow.leg, Some(Leg { role: LegRole::Down { .. }, .. })) {
                    flow.from = Some(server.node.clone());
                }
            }
        }
        flows
    }
}

impl Scenario {
    /// Adds the flows of the scenario's calls.
    pub(crate) fn with_calls(&self, problems: &mut Vec<Problem>) -> Cow<'_, Scenario> {
        if self.calls.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut whole = self.clone();
        let before = problems.len();
        for (place, call) in self.calls.iter().enumerate() {
            let at = Path::default().key("call").index(place);
            call.check(&at, self.duration, problems);
            if problems.len() == before {
                whole.flows.extend(call.flows(place, &at, problems));
                whole.events.extend(call.events(self.duration).map(|one| one.1));
            }
        }
        if self.load.is_some() {
            problems.push(
                Problem::new(
                    Path::default().key("load"),
                    "under `load` counts of flows are weights, and calls have none",
                )
                .help("remove `load` or the calls"),
            );
        }
        whole.calls = Vec::new();
        Cow::Owned(whole)
    }

    /// Moves problems with the flows of calls to the calls.
    pub(crate) fn place_in_calls(&self, whole: &Scenario, problems: &mut [Problem]) {
        for problem in problems {
            let [Step::Key(key), Step::Index(index), rest @ ..] = problem.path.steps() else { continue };
            if key == "event" {
                let mut moves = self
                    .calls
                    .iter()
                    .enumerate()
                    .flat_map(|(place, call)| call.events(self.duration).map(move |(step, _)| (place, step)));
                let found = index.checked_sub(self.events.len()).and_then(|nth| moves.nth(nth));
                if let Some((call, (who, step))) = found {
                    let at = Path::default().key("call").index(call).key("participant").index(who);
                    problem.path = at.key("moves").index(step).key("leaves");
                }
                continue;
            }
            if key != "flow" || *index < self.flows.len() {
                continue;
            }
            let Some(flow) = whole.flows.get(*index) else { continue };
            let call = self
                .calls
                .iter()
                .position(|call| flow.name.strip_prefix(call.name.as_str()).is_some_and(|rest| rest.starts_with('-')));
            let Some(place) = call else { continue };
            let at = Path::default().key("call").index(place);
            problem.path = match rest {
                [Step::Key(key), ..] if key == "traffic" => at.key("media"),
                [Step::Key(key), ..] if key == "transport" => at.key("transport"),
                [Step::Key(key), ..] if key == "from" || key == "to" => at.key("participants"),
                _ => at,
            };
        }
    }

    /// Set-up of each call for a run.
    pub(crate) fn call_plans(&self) -> Vec<CallPlan> {
        let plan = |call: &Call| {
            let default = WebrtcConfig::default();
            let many = call.participants.len();
            let room = match &call.server {
                Some(server) => RoomSetup {
                    participants: many,
                    speakers: server.speakers as usize,
                    videos: server.videos.min(MOST as u64) as usize,
                    control: server.control.clone(),
                    start: server.start,
                    least: server.least,
                    key_frame_spacing: server.key_frame_spacing,
                },
                None => RoomSetup {
                    participants: many,
                    speakers: many,
                    videos: many,
                    control: RateControlConfig::default(),
                    start: default.start,
                    least: default.least,
                    key_frame_spacing: default.key_frame_spacing,
                },
            };
            let server = call.server.as_ref().map(|server| server.node.clone());
            CallPlan { name: call.name.clone(), participants: call.participants.clone(), server, room }
        };
        self.calls.iter().map(plan).collect()
    }
}
