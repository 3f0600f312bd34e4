//! The cost of a scenario, and the limits above which fairwave rejects it.
//!
//! The limits are generous: they reject obvious mistakes (10⁹ flows), not long runs. The estimates are upper bounds of the right
//! order of magnitude. Fairwave computes them before it allocates memory.

use fairwave_core::loss::LossConfig;
use fairwave_core::units::{Rate, Span};
use serde::Serialize;

use crate::error::Problem;
use crate::model::{Link, Scenario};
use crate::path::Path;
use crate::select::Selection;
use crate::template::Template;
use crate::workload::GroupWork;

/// Maximum number of flows in one run.
pub const MOST_FLOWS: u64 = 2_000_000;
/// Maximum number of link directions in one run: those of a dumbbell with the maximum number of flows.
pub const MOST_LINKS: u64 = 8_100_000;
/// Maximum number of links on one flow's route. The Internet Protocol discards a packet after 255 hops.
pub const MOST_HOPS: u64 = 1000;
/// Maximum number of links in a chain of templates (`n{i}` to `n{i+1}`). The route search visits each node of a chain.
pub const MOST_CHAINED: u64 = 100_000;
/// Maximum number of packet-hops and other simulator events of one run: about a day of computing.
pub const MOST_PACKET_HOPS: f64 = 1e12;
/// Maximum size of recorded series, bytes.
pub const MOST_RECORDED: f64 = 8e9;
/// Maximum size of all routes, bytes.
pub const MOST_ROUTED: f64 = 4e9;
/// Maximum size of data that flows keep, bytes: units, packets that wait in senders, and configurations.
pub const MOST_KEPT: f64 = 32e9;
/// Maximum number of runs in one request.
pub const MOST_RUNS: u64 = 1_000_000;
/// Maximum number of packets in one buffer.
pub const MOST_PACKETS_WAITING: u64 = 100_000_000;
/// Maximum size of memory that buffers reserve in advance, bytes.
pub const MOST_BUFFERED: f64 = 32e9;

/// Memory of a flow: both endpoints, the route and the measures. Order of magnitude.
const BYTES_PER_FLOW: f64 = 4000.0;
/// Memory of a link direction with its queue.
const BYTES_PER_LINK: f64 = 1500.0;
/// Memory of a waiting packet.
const BYTES_PER_PACKET: f64 = 64.0;
/// Number of packets for which a queue with a victim rule reserves memory in advance, and the bytes of each.
const ROOM: u64 = 1024;
const BYTES_PER_PLACE: f64 = 88.0;
/// Memory of a packet list that a discipline keeps ready, with its state. Order of magnitude.
const BYTES_PER_LIST: f64 = 110.0;
/// Memory of a bin during the run, of a recorded row of a table, and of a sample of a sender with its rows.
const BYTES_PER_BIN: f64 = 8.0;
const BYTES_PER_ROW: f64 = 80.0;
const BYTES_PER_SAMPLE: f64 = 800.0;
/// Memory of a link on a flow's route.
const BYTES_PER_STEP: f64 = 8.0;
/// Minimum size of a run's tables.
const BYTES_PER_RUN: f64 = 30_000.0;
/// Fixed cost of a run in packet-hops: planning, start and tables.
const HOPS_PER_RUN: f64 = 10_000.0;
/// Approximate number of packet-hops per second on a current core.
const HOPS_PER_SECOND: f64 = 1e7;

/// Upper estimate of a run's cost.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Cost {
    /// Packets times the links that each crosses, plus other simulator events of similar cost.
    pub packet_hops: f64,
    /// Bytes of flows, links, and data that flows keep.
    pub memory: f64,
}

impl Cost {
    /// The cost of this work, for a number of flows and link directions.
    pub(crate) fn estimate(work: &[GroupWork], flows: usize, links: usize) -> Cost {
        let kept: f64 = work.iter().map(|group| group.work.memory).sum();
        Cost {
            packet_hops: work.iter().map(|group| group.work.events).sum(),
            memory: kept + flows as f64 * BYTES_PER_FLOW + links as f64 * BYTES_PER_LINK,
        }
    }

    /// Approximate computing time on a current core, seconds.
    pub fn seconds(&self) -> f64 {
        self.packet_hops / HOPS_PER_SECOND
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (seconds, memory) = (time(self.seconds()), bytes(self.memory));
        write!(f, "up to {:.1e} packet-hops, {seconds} on one core, {memory} of memory", self.packet_hops)
    }
}

/// Rejects numbers of flows and links that exceed the limits. Returns true if all are within the limits.
pub(crate) fn check_counts(scenario: &Scenario, from_load: bool, problems: &mut Vec<Problem>) -> bool {
    let before = problems.len();
    count_flows(scenario, from_load, problems);
    count_links(scenario, problems);
    problems.len() == before
}

fn count_flows(scenario: &Scenario, from_load: bool, problems: &mut Vec<Problem>) {
    let mut all = 0u64;
    for (index, flow) in scenario.flows.iter().enumerate() {
        let count = scenario.flows_of(flow);
        all = all.saturating_add(count);
        let at = Path::default().key("flow").index(index);
        let key = if flow.arrivals.is_some() { "arrivals" } else { "count" };
        let written = count as f64 * bytes_written(flow);
        let needed = bytes(count as f64 * (BYTES_PER_FLOW + 2.0 * BYTES_PER_LINK) + written);
        let problem = if count > MOST_FLOWS && from_load {
            Problem::new(
                Path::default().key("load").key("total"),
                format!("this load takes {count} flows of `{}`, which would need about {needed} of memory", flow.name),
            )
            .allowed(format!("up to {MOST_FLOWS} flows in all"))
            .help("lower `total`, or let each flow offer more")
        } else if count > MOST_FLOWS {
            let help = match key {
                "arrivals" => "let fewer arrive, larger ones, or shorten `duration`",
                _ => "simulate fewer flows, each with its share of the rate",
            };
            Problem::new(at.key(key), format!("{count} flows would need about {needed} of memory"))
                .allowed(format!("up to {MOST_FLOWS} flows in all"))
                .help(help)
        } else if written > MOST_KEPT {
            Problem::new(
                at.key(key),
                format!("{count} flows, each with what is written here, would need about {needed} of memory"),
            )
            .allowed(format!("up to {} of lists in all", bytes(MOST_KEPT)))
            .help("simulate fewer flows, or shorten their lists")
        } else {
            continue;
        };
        problems.push(problem);
        return;
    }
    if all > MOST_FLOWS {
        problems.push(
            Problem::new(
                Path::default().key("flow"),
                format!("{all} flows in all would need about {} of memory", bytes(all as f64 * BYTES_PER_FLOW)),
            )
            .allowed(format!("up to {MOST_FLOWS} flows in all"))
            .help("lower a `count`"),
        );
    }
}

/// Bytes of a group's configuration as text. Each flow's source and each link keeps a copy, and a list of frames can be long.
fn bytes_written(group: &impl Serialize) -> f64 {
    serde_json::to_string(group).map_or(0.0, |text| text.len() as f64)
}

fn count_links(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let mut all = 0u64;
    for (index, link) in scenario.links.iter().enumerate() {
        all = all.saturating_add(link.count.saturating_mul(if link.duplex { 2 } else { 1 }));
        let at = Path::default().key("link").index(index).key("count");
        if all > MOST_LINKS {
            problems.push(
                Problem::new(
                    at,
                    format!("{all} link directions would need about {} of memory", bytes(all as f64 * BYTES_PER_LINK)),
                )
                .allowed(format!("up to {MOST_LINKS} link directions in all"))
                .help("lower the `count`"),
            );
            return;
        }
        let written = link.count as f64 * bytes_written(link);
        if written > MOST_KEPT {
            let what = format!(
                "{} links, each with what is written here, would need about {} of memory",
                link.count,
                bytes(written)
            );
            let problem = Problem::new(at, what).allowed(format!("up to {} of lists in all", bytes(MOST_KEPT)));
            problems.push(problem.help("lower the `count`, or shorten the pattern of losses"));
            return;
        }
        let chained = match (Template::parse(&link.from), Template::parse(&link.to)) {
            (Ok(from), Ok(to)) => from.is_followed_by(&to),
            _ => false,
        };
        if chained && link.count > MOST_CHAINED {
            problems.push(
                Problem::new(at, describe_chain_cost(link.count, rate_of(link), scenario.duration))
                    .allowed(format!("up to {MOST_CHAINED} links in a chain"))
                    .help("write for example `count = 10`"),
            );
            return;
        }
    }
}

/// The nominal rate of a link.
fn rate_of(link: &Link) -> Rate {
    link.spec.there.rate.as_ref().map_or(Rate::default(), |rate| rate.nominal().middle())
}

/// Rejects a chain of routers that is too long.
pub(crate) fn check_hops(hops: u64, rate: Rate, duration: Span, problems: &mut Vec<Problem>) {
    let at = Path::default().key("topology").key("hops");
    let allowed = format!("1 to {MOST_HOPS} links between routers");
    if hops == 0 {
        problems.push(Problem::new(at, "`hops` is 0").allowed(allowed).help("write for example `hops = 5`"));
    } else if hops > MOST_HOPS {
        let problem = Problem::new(at, format!("`hops` is {hops}: {}", describe_chain_cost(hops, rate, duration)));
        problems.push(problem.allowed(allowed).help("write for example `hops = 5`"));
    }
}

/// Describes the cost of a chain of links, with each link full in one direction.
fn describe_chain_cost(links: u64, rate: Rate, duration: Span) -> String {
    let hops = rate.bits_per_second() as f64 * duration.seconds() / 8000.0 * links as f64;
    format!(
        "a chain of {links} links would need about {} of memory and, full for {duration}, {} of computing",
        bytes(2.0 * links as f64 * BYTES_PER_LINK),
        computing(hops)
    )
}

/// Rejects routes of a group that are too long, or too many for the memory limit. The group's first flow, with its number of links
/// in both directions, represents all flows.
pub(crate) fn check_way(links: usize, count: u64, at: &Path, flow: &str) -> Result<(), Box<Problem>> {
    let needed = bytes(count as f64 * links as f64 * BYTES_PER_STEP);
    let routes = format!("{count} flows of {links} links there and back would need about {needed} for their routes");
    if links as u64 > 2 * (MOST_HOPS + 2) {
        return Err(Box::new(
            Problem::new(
                at.key("to"),
                format!("the way of `{flow}` is too long: {routes}, and each packet's way {links} packet-hops"),
            )
            .allowed(format!("up to {MOST_HOPS} links each way, and one to each host"))
            .help("name nodes that lie closer, or shorten the chain of links"),
        ));
    }
    if count as f64 * links as f64 * BYTES_PER_STEP > MOST_ROUTED {
        return Err(Box::new(
            Problem::new(at.key("count"), routes)
                .allowed(format!("up to {} of routes in all", bytes(MOST_ROUTED)))
                .help("simulate fewer flows, or shorten their way"),
        ));
    }
    Ok(())
}

/// Rejects series above the memory limit: bins for each flow and link direction, rows of recorded series, and samples of senders.
pub(crate) fn check_record(scenario: &Scenario, links: u64, problems: &mut Vec<Problem>) {
    let record = &scenario.record;
    let flows: u64 = scenario.flows.iter().map(|flow| scenario.flows_of(flow)).fold(0, u64::saturating_add);
    let chosen = |entries: &[String]| -> f64 {
        let of = |entry| Selection::parse(entry, scenario, &Path::default()).map_or(0, |one| one.count(flows));
        entries.iter().map(|entry: &String| of(entry) as f64).sum::<f64>().min(flows as f64)
    };
    let queues = if record.queues.iter().any(|name| name == "*") { links } else { record.queues.len() as u64 };
    let rows = chosen(&record.goodput) + 2.0 * record.allotted.len() as f64 + queues as f64;
    let of_bins = (flows + links) as f64 * BYTES_PER_BIN + rows * BYTES_PER_ROW;
    let windows = chosen(&record.windows);
    for (key, width, each, what) in [
        ("bin", record.bin, of_bins, format!("bins for each of {flows} flows and {links} link directions")),
        (
            "window-interval",
            record.window_interval,
            windows * BYTES_PER_SAMPLE,
            format!("samples of each of {windows} flows"),
        ),
    ] {
        let Some(width) = width.filter(|width| *width > Span::ZERO) else { continue };
        let steps = scenario.duration.seconds() / width.seconds();
        let memory = steps * each;
        if memory > MOST_RECORDED {
            problems.push(
                Problem::new(
                    Path::default().key("record").key(key),
                    format!("{steps:.0} {what} would need about {} of memory", bytes(memory)),
                )
                .allowed(format!("up to {} of series in all", bytes(MOST_RECORDED)))
                .help(format!("write for example `{key} = \"{}\"`", scenario.duration / 1000)),
            );
        }
    }
}

/// Rejects runs above the limits of computing or memory. `work` is an upper estimate, by group.
pub(crate) fn check_work(work: &[GroupWork], scenario: &Scenario, problems: &mut Vec<Problem>) {
    let hops: f64 = work.iter().map(|group| group.work.events).sum();
    let wasted: f64 = work.iter().map(|group| group.work.wasted).sum();
    let memory: f64 = work.iter().map(|group| group.work.memory).sum();
    let traffic = |most: fn(&GroupWork) -> f64| {
        let group = work.iter().max_by(|a, b| most(a).total_cmp(&most(b))).map_or(0, |group| group.group);
        let name = scenario.flows.get(group).map_or("", |flow| flow.name.as_str());
        (Path::default().key("flow").index(group).key("traffic"), name)
    };
    if hops > MOST_PACKET_HOPS {
        let allowed = format!("up to {MOST_PACKET_HOPS:.0e} packet-hops (duration × rates / packet size × hops)");
        problems.push(if wasted > hops / 2.0 {
            let (at, name) = traffic(|group| group.work.wasted);
            let what = format!(
                "what `{name}` does would take about {hops:.1e} happenings, that is {} of computing",
                computing(hops)
            );
            Problem::new(at, what)
                .allowed(allowed)
                .help("lower its rate, or let its periods, timers and packets be longer")
        } else {
            let what =
                format!("this run would take about {hops:.1e} packet-hops, that is {} of computing", computing(hops));
            Problem::new(Path::default().key("duration"), what)
                .allowed(allowed)
                .help("shorten the duration, or lower the rates")
        });
    } else if memory > MOST_KEPT {
        let (at, name) = traffic(|group| group.work.memory);
        problems.push(
            Problem::new(
                at,
                format!(
                    "what flows like `{name}` make and keep (units, what waits in senders) would need about {} of memory",
                    bytes(memory)
                ),
            )
            .allowed(format!("up to {} in all", bytes(MOST_KEPT)))
            .help("shorten the duration, lower the rates, or give the flows smaller windows"),
        );
    }
}

/// Rejects a buffer of more packets than the limit.
pub(crate) fn check_buffer(packets: u64, link: &str, at: &Path) -> Result<(), Box<Problem>> {
    if packets <= MOST_PACKETS_WAITING {
        return Ok(());
    }
    let what = format!(
        "a buffer of {packets} packets, as before `{link}`, would need about {} of memory",
        buffer_memory(packets as f64)
    );
    let problem = Problem::new(at.key("capacity"), what).allowed(format!("up to {MOST_PACKETS_WAITING} packets"));
    Err(Box::new(problem.help("write for example `capacity = { packets = 125 }`")))
}

/// The memory of this many waiting packets, as text.
pub(crate) fn buffer_memory(packets: f64) -> String {
    bytes(packets * BYTES_PER_PACKET)
}

/// Memory reserved in advance by queues that choose victims or drop before they are full.
#[derive(Default)]
pub(crate) struct QueueMemory {
    queues: u64,
    bytes: f64,
}

impl QueueMemory {
    /// Adds the memory of `queues` queues, each with this many packets and lists.
    pub fn add(&mut self, queues: u64, packets: u64, lists: u64) {
        if packets == 0 {
            return;
        }
        self.queues = self.queues.saturating_add(queues);
        let packets = packets.saturating_add(1).min(ROOM) as f64;
        self.bytes += queues as f64 * (packets * BYTES_PER_PLACE + lists as f64 * BYTES_PER_LIST);
    }

    /// Rejects queues that together exceed the limit.
    pub fn check(&self, at: &Path) -> Result<(), Box<Problem>> {
        if self.bytes <= MOST_BUFFERED {
            return Ok(());
        }
        let what =
            format!("{} managed queues would take about {} of memory in advance", self.queues, bytes(self.bytes));
        let problem = Problem::new(at.clone(), what).allowed(format!("up to {} in all", bytes(MOST_BUFFERED)));
        Err(Box::new(
            problem.help("manage only the queues of bottlenecks; leave out `queue` on links without queueing"),
        ))
    }
}

/// Number of state changes of a loss model in a run.
pub(crate) fn changes_of(loss: &LossConfig, duration: Span) -> f64 {
    loss.cycle().map_or(0.0, |cycle| 2.0 * duration.seconds() / cycle.seconds().max(1e-9))
}

/// Rejects loss models with more state changes than the limit.
pub(crate) fn check_changes(changes: f64, queue: &Path) -> Result<(), Box<Problem>> {
    if changes <= MOST_PACKET_HOPS {
        return Ok(());
    }
    let at = queue.parent().unwrap_or_default().key("loss");
    let what = format!(
        "the links' losses would change their state {changes:.1e} times, that is {} of computing",
        computing(changes)
    );
    let problem = Problem::new(at, what).allowed(format!("up to {MOST_PACKET_HOPS:.0e} times in a run"));
    Err(Box::new(problem.help("write longer times for its states, for example `good = \"1 s\"`")))
}

/// The cost of several runs with the same number of packet-hops.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CostOfRuns {
    /// Number of runs.
    pub runs: u64,
    /// Size of the runs' tables, bytes.
    pub tables: f64,
    /// Computing time on one core, seconds. Upper estimate.
    pub seconds: f64,
}

impl CostOfRuns {
    /// The cost of `runs` runs, each with `hops` packet-hops.
    pub fn new(runs: u64, hops: f64) -> CostOfRuns {
        let tables = runs as f64 * BYTES_PER_RUN;
        CostOfRuns { runs, tables, seconds: runs as f64 * (hops + HOPS_PER_RUN) / HOPS_PER_SECOND }
    }
}

impl std::fmt::Display for CostOfRuns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (tables, seconds) = (bytes(self.tables), time(self.seconds));
        write!(f, "{} runs would leave about {tables} of tables and take up to {seconds} of computing", self.runs)
    }
}

/// The error for too many runs, each with this number of packet-hops.
pub(crate) fn too_many_runs(runs: u64, hops: f64) -> Problem {
    Problem::new(Path::default(), CostOfRuns::new(runs, hops).to_string())
        .allowed(format!("up to {MOST_RUNS} runs at once"))
        .help("make fewer replications: 10 to 100 give an interval")
}

/// The cost of the longest possible run of one full 1 Mb/s link, as text.
pub(crate) fn describe_endless_run() -> String {
    let hops = 1e6 * Span::MAX.seconds() / 8000.0;
    format!("one link of 1 Mb/s alone, full for {}, would take {} of computing", Span::MAX, computing(hops))
}

/// The computing time for this many packet-hops, as text.
pub fn computing(hops: f64) -> String {
    time(hops / HOPS_PER_SECOND)
}

/// A number of bytes as text.
pub fn bytes(amount: f64) -> String {
    for (worth, unit) in [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")] {
        if amount >= worth {
            return match amount / worth {
                many if many >= 1e4 => format!("{many:.1e} {unit}"),
                some => format!("{some:.1} {unit}"),
            };
        }
    }
    format!("{amount:.0} bytes")
}

fn time(seconds: f64) -> String {
    for (worth, unit) in [(365.25 * 86_400.0, "years"), (86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")] {
        if seconds >= worth {
            return match seconds / worth {
                many if many >= 1e4 => format!("{many:.1e} {unit}"),
                some => format!("{some:.1} {unit}"),
            };
        }
    }
    if seconds < 1.0 { "less than a second".to_owned() } else { format!("{seconds:.0} seconds") }
}
