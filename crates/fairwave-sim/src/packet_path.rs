//! The path of one packet: each step with time, link, queue and the source line that decided it.
//!
//! The path comes from a probe ([`PathProbe`]) that follows one packet by its flow and header. A first run without a
//! chosen packet finds one worth following ([`Scout`]). Neither probe changes the run. Lines of the simulator and of
//! transports come from the compiler (`#[track_caller]`), lines of laws from their files ([`SourceLine`]).

use std::panic::Location;

use fairwave_core::packet::{Ecn, Packet};
use fairwave_core::queue::{Capacity, DropReason, OVERFLOW};
use fairwave_core::source::SourceLine;
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::Plan;
use serde::Serialize;

use crate::error::RunError;
use crate::probe::{Probe, QueueState, RemovalCause};
use crate::run::Run;

/// The path of a packet through the network.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PacketPath {
    /// Name of the flow.
    pub flow: String,
    /// Number of the packet among the data packets that the flow sent, from 1.
    pub packet: u64,
    /// Number of data packets that the flow sent.
    pub sent: u64,
    /// Bytes on the wire.
    pub bytes: u16,
    /// Why this packet was chosen.
    pub chosen: &'static str,
    /// The steps, in order.
    pub steps: Vec<PathStep>,
}

/// A step of a packet.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PathStep {
    /// Time since the start of the run.
    pub time_s: f64,
    /// Name of the link, or of the node for the first and last step.
    pub place: String,
    /// Kind of step: `sent`, `arrives`, `admitted`, `marked`, `transmitted`, `leaves`, `discarded`, `lost` or `delivered`.
    pub step: &'static str,
    /// Packets waiting in the queue just before an arrival.
    pub waiting_packets: Option<u64>,
    /// Their bytes, if the queue counts bytes.
    pub waiting_bytes: Option<u64>,
    /// Explanation.
    pub detail: String,
    /// The source line that decided: `crates/…/file.rs:LINE`.
    pub source: String,
    /// The line of the simulator that applied the decision.
    pub simulator: String,
}

/// Error of [`trace_packet`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The flow does not exist, or it sent fewer packets.
    #[error("{flow} sent {sent} packets, so there is no packet {packet}; write a number from 1 to {sent}")]
    NoPacket {
        /// Name of the flow.
        flow: String,
        /// The requested number.
        packet: u64,
        /// Number of data packets that it sent.
        sent: u64,
    },
    /// No flow sent a packet.
    #[error("no packet was sent by {0}; lengthen `duration`, or choose another flow")]
    NothingSent(String),
}

/// Executes a plan and returns the path of a data packet of `flow`, by its number from 1. Without a number, the packet is
/// the flow's first one that a queue discards or marks or a wire loses, otherwise the one that waits longest in queues.
/// Without a flow, it is the first flow with a discarded, marked or lost packet, otherwise the first flow that sends.
///
/// # Errors
/// Fails if the run fails, or if there is no such packet.
pub fn trace_packet(plan: &Plan, flow: Option<usize>, number: Option<u64>) -> Result<PacketPath, PathError> {
    let name = |flow: usize| plan.flows.get(flow).map_or_else(String::new, |flow| format!("`{}`", flow.name));
    let (flow, number, chosen) = match (flow, number) {
        (Some(flow), Some(number)) => (flow, number, "as requested"),
        _ => {
            let mut scout = Scout::new(plan, flow);
            Run::new(plan).probe(&mut scout).execute()?;
            let nothing = || PathError::NothingSent(flow.map_or_else(|| "any flow".to_owned(), name));
            let choice = scout.choice().ok_or_else(nothing)?;
            match number {
                Some(number) => (choice.flow, number, "as requested, in the first flow with a notable packet"),
                None => (choice.flow, choice.number, choice.why),
            }
        }
    };
    let mut probe = PathProbe::new(plan, flow, number);
    Run::new(plan).probe(&mut probe).execute()?;
    match probe.packet {
        Some(packet) => Ok(PacketPath {
            flow: plan.flows[flow].name.clone(),
            packet: number,
            sent: probe.sent,
            bytes: packet.wire,
            chosen,
            steps: probe.steps,
        }),
        None if probe.sent == 0 => Err(PathError::NothingSent(name(flow))),
        None => Err(PathError::NoPacket { flow: name(flow), packet: number, sent: probe.sent }),
    }
}

/// The function that discards packets for which a computed queue has no room.
const FIFO_OVERFLOW: SourceLine =
    SourceLine::find("crates/fairwave-sim/src/fifo.rs", include_str!("fifo.rs"), ["pub fn arrive("])[0];

/// Whether two reports concern the same packet. Queues change only the code points.
fn is_same(one: &Packet, other: &Packet) -> bool {
    one.flow == other.flow && one.feedback == other.feedback && one.body == other.body
}

/// Formats a line of the compiler as a path from the root of the repository.
fn written(line: &Location<'_>) -> String {
    let file = line.file().replace('\\', "/");
    let file = file.find("crates/").map_or(file.as_str(), |begin| &file[begin..]);
    format!("{file}:{}", line.line())
}

/// Probe that records the path of a packet.
struct PathProbe<'p> {
    plan: &'p Plan,
    flow: usize,
    number: u64,
    /// Number of data packets that the flow has sent.
    sent: u64,
    /// The packet, once sent.
    packet: Option<Packet>,
    /// Time of the latest arrival at a link, and its queue.
    arrival: (Instant, QueueState),
    /// Code point at the latest arrival.
    ecn: Ecn,
    /// Simulator's line of the next report.
    line: &'static Location<'static>,
    steps: Vec<PathStep>,
}

impl<'p> PathProbe<'p> {
    fn new(plan: &'p Plan, flow: usize, number: u64) -> Self {
        PathProbe {
            plan,
            flow,
            number,
            sent: 0,
            packet: None,
            arrival: (Instant::ZERO, QueueState::default()),
            ecn: Ecn::NotEct,
            line: Location::caller(),
            steps: Vec::new(),
        }
    }

    fn follows(&self, packet: &Packet) -> bool {
        self.packet.as_ref().is_some_and(|followed| is_same(followed, packet))
    }

    fn add(&mut self, at: Instant, place: String, step: &'static str, detail: String, source: Option<String>) {
        let simulator = written(self.line);
        let source = source.unwrap_or_else(|| simulator.clone());
        let (waiting_packets, waiting_bytes) = (None, None);
        let time_s = at.seconds();
        self.steps.push(PathStep { time_s, place, step, waiting_packets, waiting_bytes, detail, source, simulator });
    }

    fn link(&self, link: usize) -> String {
        self.plan.links[link].name.to_string()
    }

    /// Line of the discipline that decides about arrivals (0) or departures (1), if it decides there.
    fn discipline(&self, link: usize, which: usize) -> Option<String> {
        law_line(self.plan.links[link].direction.queue.discipline.source_lines(), which)
    }
}

/// Formats line number `which` of a law, if its file has it.
fn law_line(lines: &[SourceLine], which: usize) -> Option<String> {
    lines.get(which).filter(|found| found.line > 0).map(|found| format!("{}:{}", found.file, found.line))
}

impl Probe for PathProbe<'_> {
    fn wants_details(&self) -> bool {
        true
    }

    fn line(&mut self, line: &'static Location<'static>) {
        self.line = line;
    }

    fn sent(&mut self, packet: &Packet, at: Instant) {
        if packet.flow.0 as usize != self.flow || packet.feedback {
            return;
        }
        self.sent += 1;
        if self.sent == self.number {
            self.packet = Some(*packet);
            self.ecn = packet.ecn;
            let flow = &self.plan.flows[self.flow];
            let detail = format!("{} sends {} B of `{}`", flow.transport.name(), packet.wire, flow.name);
            self.add(at, self.plan.nodes[flow.from].clone(), "sent", detail, None);
        }
    }

    fn made(&mut self, packet: &Packet, line: &'static Location<'static>) {
        if self.follows(packet)
            && let Some(step) = self.steps.last_mut().filter(|step| step.step == "sent")
        {
            step.source = written(line);
        }
    }

    fn queue(&mut self, packet: &Packet, state: QueueState) {
        if self.follows(packet) {
            self.arrival.1 = state;
        }
    }

    fn arrived(&mut self, link: usize, packet: &Packet, at: Instant) {
        if !self.follows(packet) {
            return;
        }
        self.arrival.0 = at;
        self.ecn = packet.ecn;
        let QueueState { packets, bytes } = self.arrival.1;
        let queue = &self.plan.links[link].direction.queue;
        let discipline = queue.discipline.name();
        let detail = match queue.capacity {
            Capacity::Packets(packets) => format!("queue {discipline} of {packets} packets"),
            Capacity::Bytes(bytes) => format!("queue {discipline} of {bytes} B"),
        };
        self.add(at, self.link(link), "arrives", detail, None);
        if let Some(step) = self.steps.last_mut() {
            (step.waiting_packets, step.waiting_bytes) = (Some(packets), bytes);
        }
    }

    fn begun(&mut self, link: usize, packet: &Packet, at: Instant) {
        if !self.follows(packet) {
            return;
        }
        let waited = at.span_since(self.arrival.0);
        let discipline = self.plan.links[link].direction.queue.discipline.name();
        let detail = if waited == Span::ZERO {
            format!("{discipline} lets it pass: nothing to wait for")
        } else {
            format!("{discipline} lets it wait")
        };
        self.add(self.arrival.0, self.link(link), "admitted", detail, self.discipline(link, 0));
        if packet.ecn == Ecn::Ce && self.ecn != Ecn::Ce {
            self.add(at, self.link(link), "marked", format!("{discipline} marks it CE"), self.discipline(link, 1));
        }
        let detail = format!("transmission begins after {} in the queue", milliseconds(waited));
        self.add(at, self.link(link), "transmitted", detail, None);
        self.arrival.0 = at;
    }

    fn left(&mut self, link: usize, packet: &Packet, at: Instant, lost: bool) {
        if !self.follows(packet) {
            return;
        }
        let direction = &self.plan.links[link].direction;
        let detail = format!("transmission ends after {}", milliseconds(at.span_since(self.arrival.0)));
        self.add(at, self.link(link), "leaves", detail, law_line(direction.rate.source_lines(), 0));
        if lost {
            let detail = format!("the wire loses it: {}", direction.loss.name());
            self.add(at, self.link(link), "lost", detail, law_line(direction.loss.source_lines(), 0));
        }
    }

    fn gone(&mut self, link: usize, packet: &Packet, at: Instant, how: RemovalCause) {
        if !self.follows(packet) {
            return;
        }
        let discipline = self.plan.links[link].direction.queue.discipline.name();
        let at_arrival = at == self.arrival.0;
        let line = self.discipline(link, usize::from(!at_arrival));
        let (detail, source) = match how {
            RemovalCause::Failed => ("the link fails during the transmission".to_owned(), None),
            RemovalCause::Dropped(DropReason::Overflow) => {
                let computed = self.arrival.1.bytes.is_none();
                (
                    format!("{discipline}: no room in the queue"),
                    law_line(&[OVERFLOW, FIFO_OVERFLOW], usize::from(computed)),
                )
            }
            RemovalCause::Dropped(DropReason::AckFilter) => {
                ("the ACK filter drops it: a later acknowledgement covers it".to_owned(), line)
            }
            RemovalCause::Dropped(DropReason::Policed) => ("a policer drops it".to_owned(), None),
            RemovalCause::Dropped(DropReason::Early | DropReason::Link) => {
                (format!("{discipline} discards it early"), line)
            }
        };
        let step = if how == RemovalCause::Failed { "lost" } else { "discarded" };
        self.add(at, self.link(link), step, detail, source);
    }

    fn received(&mut self, packet: &Packet, at: Instant) {
        if self.follows(packet) {
            let flow = &self.plan.flows[self.flow];
            let detail = format!("the receiver of `{}` takes it", flow.name);
            self.add(at, self.plan.nodes[flow.to].clone(), "delivered", detail, None);
        }
    }
}

fn milliseconds(span: Span) -> String {
    format!("{:.3} ms", span.seconds() * 1e3)
}

/// A packet on its way.
struct ScoutedPacket {
    number: u64,
    packet: Packet,
    arrived: Instant,
    waited: Span,
}

/// State of a flow.
#[derive(Default)]
struct ScoutedFlow {
    sent: u64,
    under_way: Vec<ScoutedPacket>,
    /// The first packet, by number, that was discarded, marked or lost.
    notable: Option<(u64, &'static str)>,
    /// The longest wait so far, and its packet.
    longest: Option<(Span, u64)>,
}

/// Probe that finds a packet worth following.
struct Scout {
    only: Option<usize>,
    flows: Vec<ScoutedFlow>,
}

/// The packet that a [`Scout`] has found.
struct Choice {
    flow: usize,
    number: u64,
    why: &'static str,
}

impl Scout {
    fn new(plan: &Plan, only: Option<usize>) -> Self {
        Scout { only, flows: plan.flows.iter().map(|_| ScoutedFlow::default()).collect() }
    }

    fn choice(&self) -> Option<Choice> {
        let flows = || self.flows.iter().enumerate();
        let notable =
            flows().find_map(|(flow, scouted)| scouted.notable.map(|(number, why)| Choice { flow, number, why }));
        let waited = || {
            flows().filter(|(_, scouted)| scouted.sent > 0).map(|(flow, scouted)| Choice {
                flow,
                number: scouted.longest.map_or(1, |(_, number)| number),
                why: "the flow's packet with the longest wait; none is discarded, marked or lost",
            })
        };
        notable.or_else(|| waited().next())
    }

    /// The flow of a data packet to watch.
    fn flow(&mut self, packet: &Packet) -> Option<&mut ScoutedFlow> {
        let flow = packet.flow.0 as usize;
        let watched = !packet.feedback && self.only.is_none_or(|only| only == flow);
        self.flows.get_mut(flow).filter(|scouted| watched && scouted.notable.is_none())
    }

    fn with_packet(&mut self, packet: &Packet, then: impl FnOnce(&mut ScoutedFlow, usize)) {
        if let Some(flow) = self.flow(packet)
            && let Some(place) = flow.under_way.iter().position(|one| is_same(&one.packet, packet))
        {
            then(flow, place);
        }
    }

    fn remove(&mut self, packet: &Packet, why: &'static str) {
        self.with_packet(packet, |flow, place| {
            flow.notable = Some((flow.under_way[place].number, why));
            flow.under_way.clear();
        });
    }
}

impl Probe for Scout {
    fn sent(&mut self, packet: &Packet, at: Instant) {
        if let Some(flow) = self.flow(packet) {
            flow.sent += 1;
            let number = flow.sent;
            flow.under_way.push(ScoutedPacket { number, packet: *packet, arrived: at, waited: Span::ZERO });
        }
    }

    fn arrived(&mut self, _link: usize, packet: &Packet, at: Instant) {
        self.with_packet(packet, |flow, place| flow.under_way[place].arrived = at);
    }

    fn begun(&mut self, _link: usize, packet: &Packet, at: Instant) {
        self.with_packet(packet, |flow, place| {
            let one = &mut flow.under_way[place];
            one.waited += at.span_since(one.arrived);
            if packet.ecn == Ecn::Ce && one.packet.ecn != Ecn::Ce {
                flow.notable = Some((one.number, "the flow's first packet that a queue marks"));
                flow.under_way.clear();
            }
        });
    }

    fn left(&mut self, _link: usize, packet: &Packet, _at: Instant, lost: bool) {
        if lost {
            self.remove(packet, "the flow's first packet that a wire loses");
        }
    }

    fn gone(&mut self, _link: usize, packet: &Packet, _at: Instant, _how: RemovalCause) {
        self.remove(packet, "the flow's first packet that a queue discards");
    }

    fn received(&mut self, packet: &Packet, _at: Instant) {
        self.with_packet(packet, |flow, place| {
            let one = flow.under_way.remove(place);
            if flow.longest.is_none_or(|(longest, _)| one.waited > longest) {
                flow.longest = Some((one.waited, one.number));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use fairwave_core::link::RateConfig;
    use fairwave_core::loss::LossConfig;
    use fairwave_core::queue::DisciplineConfig;
    use fairwave_core::random::Seed;
    use fairwave_scenario::Scenario;

    use super::*;

    /// Two calls and a download over a lossy access link and a bottleneck under `QUEUE`.
    const SCENARIO: &str = r#"
        name = "path"
        duration = "4 s"
        link = [
            { from = "a", to = "r", rate = "20 Mb/s", delay = "2 ms", duplex = true, loss = { model = "bernoulli", rate = "LOSS" } },
            { from = "r", to = "b", rate = "2 Mb/s", delay = "10 ms", duplex = true, queue = QUEUE },
        ]
        flow = [
            { name = "call", count = 2, from = "a", to = "b", transport = "udp", traffic = "voice" },
            { name = "data", from = "a", to = "b", transport = TRANSPORT, traffic = "bulk" },
        ]
    "#;

    fn plan(queue: &str, loss: &str, ecn: bool) -> Plan {
        let transport = if ecn { "\"tcp/dctcp\"" } else { "\"tcp/reno\"" };
        let text = SCENARIO.replace("QUEUE", queue).replace("LOSS", loss).replace("TRANSPORT", transport);
        Scenario::from_text(&text, "path.toml").and_then(|read| read.plan(Seed(1))).unwrap_or_else(|e| panic!("{e}"))
    }

    /// The text of a source line `crates/…/file.rs:LINE`.
    fn text_of(source: &str) -> String {
        let (file, line) = source.rsplit_once(':').expect("a file and a line");
        let path = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let line: usize = line.parse().expect("a number");
        text.lines().nth(line - 1).unwrap_or_else(|| panic!("{source} is after the end")).to_owned()
    }

    fn kinds(path: &PacketPath) -> Vec<&str> {
        path.steps.iter().map(|step| step.step).collect()
    }

    /// Checks that the path's lines exist and make the reports, and that times do not decrease.
    fn check(path: &PacketPath) {
        assert_eq!(path.steps[0].step, "sent");
        assert!(path.steps.windows(2).all(|pair| pair[0].time_s <= pair[1].time_s), "{path:#?}");
        for step in &path.steps {
            assert!(text_of(&step.simulator).contains("self.probe."), "{step:#?}");
            let text = text_of(&step.source);
            let expected = if step.step == "sent" { "out.send(" } else { "fn " };
            assert!(text.contains(expected) || step.source == step.simulator, "{step:#?}: {text}");
        }
    }

    #[test]
    fn a_delivered_packet_crosses_each_link_and_changes_nothing() {
        let plan = plan(r#"{ discipline = "drop-tail", capacity = { packets = 400 } }"#, "0 %", false);
        let path = trace_packet(&plan, Some(0), Some(3)).expect("a path");
        check(&path);
        let link = ["arrives", "admitted", "transmitted", "leaves"];
        assert_eq!(kinds(&path), [&["sent"][..], &link, &link, &["delivered"]].concat());
        assert_eq!((path.flow.as_str(), path.packet), ("call[0]", 3));
        let [leaves, arrives] = [4, 5].map(|step| path.steps[step].time_s);
        assert!((arrives - leaves - 0.002).abs() < 1e-9, "2 ms of propagation: {leaves} to {arrives}");
        let (plain, mut probe) = (Run::new(&plan).execute().expect("a run"), PathProbe::new(&plan, 0, 3));
        let traced = Run::new(&plan).probe(&mut probe).execute().expect("a run");
        assert_eq!(plain.digest().expect("a digest"), traced.digest().expect("a digest"));
    }

    #[test]
    fn the_default_packet_is_the_first_that_something_happens_to() {
        let droptail = r#"{ discipline = "drop-tail", capacity = { packets = 10 } }"#;
        let found = |queue: &str, loss: &str, ecn: bool, flow: Option<usize>| {
            let path = trace_packet(&plan(queue, loss, ecn), flow, None).expect("a path");
            check(&path);
            let last = path.steps.last().expect("steps").clone();
            (kinds(&path).join(" "), path, last)
        };
        let (_, path, last) = found(droptail, "0 %", false, Some(2));
        assert_eq!((last.step, path.chosen), ("discarded", "the flow's first packet that a queue discards"));
        assert_eq!(path.steps[path.steps.len() - 2].waiting_packets, Some(10), "a full queue");
        assert!(last.source.starts_with("crates/fairwave-sim/src/fifo.rs:"), "{last:#?}");
        let (_, path, last) = found(droptail, "20 %", false, None);
        assert!(last.step == "lost" && path.chosen.contains("wire loses"), "{last:#?}");
        assert!(last.source.starts_with("crates/fairwave-network/src/loss/bernoulli.rs:"), "{last:#?}");
        let codel = r#"{ discipline = "codel", ecn = true, capacity = { packets = 400 } }"#;
        let (kinds, path, last) = found(codel, "0 %", true, Some(2));
        assert!(kinds.contains("marked") && last.step == "delivered" && path.chosen.contains("marks"), "{kinds}");
        let marked = path.steps.iter().find(|step| step.step == "marked").expect("a mark");
        assert!(marked.source.starts_with("crates/fairwave-network/src/queue/codel.rs:"), "{marked:#?}");
        let red = r#"{ discipline = "red", capacity = { packets = 60 } }"#;
        let (_, _, last) = found(red, "0 %", false, Some(2));
        assert!(last.source.starts_with("crates/fairwave-network/src/queue/red.rs:"), "{last:#?}");
    }

    #[test]
    fn a_packet_that_was_not_sent_is_an_error_with_the_number_sent() {
        let plan = plan(r#"{ discipline = "drop-tail", capacity = { packets = 400 } }"#, "0 %", false);
        let error = trace_packet(&plan, Some(1), Some(10_000)).expect_err("too few packets").to_string();
        assert!(error.starts_with("`call[1]` sent ") && error.contains("write a number from 1 to "), "{error}");
    }

    #[test]
    fn lines_of_laws_are_the_functions_that_decide() {
        let lines = |family: Vec<&'static [SourceLine]>, all: bool, starts: &[&str]| {
            for found in family.into_iter().flatten() {
                assert!(found.line > 0 || !all, "{found:?}");
                if let Some(source) = law_line(&[*found], 0) {
                    assert!(starts.iter().any(|start| text_of(&source).contains(start)), "{source}");
                }
            }
        };
        let disciplines = DisciplineConfig::examples().into_iter().map(serde_json::from_value::<DisciplineConfig>);
        lines(
            disciplines.map(|law| law.expect("a law").source_lines()).collect(),
            false,
            &["fn arrive(", "fn depart("],
        );
        let losses = LossConfig::examples().into_iter().map(serde_json::from_value::<LossConfig>);
        lines(losses.map(|law| law.expect("a law").source_lines()).collect(), true, &["fn lost("]);
        let rates = RateConfig::examples().into_iter().map(serde_json::from_value::<RateConfig>);
        lines(rates.map(|law| law.expect("a law").source_lines()).collect(), false, &["fn end_of("]);
    }
}
