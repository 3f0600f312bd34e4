//! Laws of `docs/extend.md`, compiled and run: the page links each law in `tests/extend` and contains its scenario.

use std::path::Path;

use fairwave_core::link::RateConfig;
use fairwave_core::loss::LossConfig;
use fairwave_core::queue::DisciplineConfig;
use fairwave_core::random::Seed;
use fairwave_core::registry::NameTaken;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use fairwave_core::transport::tcp::control;
use fairwave_core::{link, loss, queue, traffic, transport};
use fairwave_scenario::Scenario;
use fairwave_sim::{FlowRow, LinkRow, Run, RunResult};

#[path = "extend/burst_noise.rs"]
mod burst_noise;
#[path = "extend/deficit_round_robin.rs"]
mod deficit_round_robin;
#[path = "extend/memoryless.rs"]
mod memoryless;
#[path = "extend/scalable.rs"]
mod scalable;
#[path = "extend/spaced.rs"]
mod spaced;
#[path = "extend/steps.rs"]
pub mod steps;

const SCALABLE: &str = include_str!("extend/scalable.toml");
const DEFICIT_ROUND_ROBIN: &str = include_str!("extend/deficit_round_robin.toml");
const POISSON: &str = include_str!("extend/memoryless.toml");
const GILBERT: &str = include_str!("extend/burst_noise.toml");
const SPACED: &str = include_str!("extend/spaced.toml");
const STEPS: &str = include_str!("extend/steps.toml");

/// Registers the program's laws before the first scenario is read.
pub fn hand_in() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // A reader who follows the page inside fairwave has the law among the built-in ones.
        let own = |built_in: &[&str], name: &str, handed_in: &dyn Fn() -> Result<(), NameTaken>| {
            assert!(built_in.contains(&name) || handed_in() == Ok(()), "{name} is taken");
        };
        own(TransportConfig::BUILT_IN, "tcp/scalable", &control::register::<scalable::ScalableConfig>);
        // The tests in the law's file register it as well, possibly first.
        let _ = queue::register::<deficit_round_robin::DeficitRoundRobinConfig>();
        own(TrafficConfig::BUILT_IN, "memoryless", &traffic::register::<memoryless::MemorylessConfig>);
        own(LossConfig::BUILT_IN, "burst-noise", &loss::register::<burst_noise::BurstNoiseConfig>);
        own(TransportConfig::BUILT_IN, "spaced", &transport::register::<spaced::SpacedConfig>);
        own(RateConfig::BUILT_IN, "steps", &link::register::<steps::StepsConfig>);
    });
}

#[test]
fn the_page_links_every_law_and_shows_every_scenario() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(here.join("../../docs/extend.md")).expect("the page");
    let mut shown = 0;
    for entry in std::fs::read_dir(here.join("tests/extend")).expect("the files") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let wanted = match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => format!("[`{name}`](../crates/fairwave-sim/tests/extend/{name})"),
            Some(other) => format!("```{other}\n{}```\n", std::fs::read_to_string(&path).expect("a file")),
            None => continue,
        };
        assert!(page.contains(&wanted), "docs/extend.md does not have {}", path.display());
        shown += 1;
    }
    assert!(shown >= 13, "{shown} files");
}

fn read(text: &str) -> Scenario {
    hand_in();
    Scenario::from_toml(text, "own.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn result(text: &str) -> RunResult {
    let plan = read(text).plan(Seed(1)).unwrap_or_else(|error| panic!("{error}"));
    Run::new(&plan).execute().expect("a run")
}

fn bottleneck(result: &RunResult) -> &LinkRow {
    result.links.iter().find(|link| &*link.link == "r1>r2").expect("the bottleneck")
}

#[test]
fn a_scenario_runs_the_programs_own_controller() {
    let own = result(SCALABLE).flows.remove(0);
    assert_eq!(&*own.transport, "tcp/scalable");
    // Reno needs half a window of round trips (30 s here) to recover from a loss; Scalable TCP needs a few.
    let sack = result(&SCALABLE.replace("tcp/scalable\", gain = 0.02", "tcp/sack\"")).flows.remove(0);
    assert!(
        own.goodput_bps.expect("measured") > 1.2 * sack.goodput_bps.expect("measured"),
        "{} beside {}",
        own.goodput_bps.expect("measured"),
        sack.goodput_bps.expect("measured")
    );
}

#[test]
fn a_scenario_runs_the_programs_own_discipline() {
    let lost = |flow: &FlowRow| flow.dropped as f64 / flow.packets_sent as f64;
    let own = result(DEFICIT_ROUND_ROBIN);
    let [flood, call] = &own.flows[..] else { panic!("two flows") };
    // The call needs less than its half, so it gets all of it, and the flood gets the rest.
    assert!(call.dropped == 0 && lost(flood) > 0.6, "{} and {}", call.dropped, lost(flood));
    // The call waits for the packet in transmission and one turn of the flood, at most two packets: 11.4 ms each.
    assert!(call.delay_max_s.expect("measured") < 0.050, "{}", call.delay_max_s.expect("measured"));
    let fifo = result(&DEFICIT_ROUND_ROBIN.replace("\"deficit-round-robin\", quantum = \"1 kB\"", "\"drop-tail\""));
    assert!(lost(&fifo.flows[1]) > 0.3 && fifo.flows[1].delay_p50_s.expect("measured") > 0.3, "{:?}", fifo.flows[1]);
}

#[test]
fn a_scenario_runs_the_programs_own_source() {
    let own = result(POISSON);
    let link = bottleneck(&own);
    // Pollaczek–Khinchine for packets of one size: ρ / (2 (1 − ρ)) transmissions of 4 ms each.
    let load = link.utilisation;
    assert!((load - 0.8).abs() < 0.01, "{load}");
    let expected = load / (2.0 * (1.0 - load)) * 0.004;
    assert!((link.mean_wait_s / expected - 1.0).abs() < 0.08, "{} beside {expected}", link.mean_wait_s);
}

#[test]
fn a_scenario_runs_the_programs_own_loss_model() {
    let own = result(GILBERT);
    let link = bottleneck(&own);
    let lost = link.lost as f64 / link.departures as f64;
    assert!((lost - 0.01 / 0.26).abs() < 0.005, "{lost}");
    assert_eq!(own.flows[0].lost, link.lost);
}

#[test]
fn a_scenario_runs_the_programs_own_link_law() {
    let link = |text: &str| bottleneck(&result(text)).clone();
    let own = link(STEPS);
    // 1.25 Mb/s on average, always less than the load.
    let whole = 1.25e6 * 60.0 / 8.0;
    assert!(own.wire_departed as f64 <= whole && own.wire_departed as f64 > 0.999 * whole, "{}", own.wire_departed);
    // The run stops in the slow half, so the fast rate has 1.5 s more.
    let cut = link(&STEPS.replace("60 s", "12 s"));
    let whole = (2e6 * 7.0 + 0.5e6 * 5.0) / 8.0;
    assert!((cut.wire_departed as f64 / whole - 1.0).abs() < 0.005, "{} beside {whole}", cut.wire_departed);
}

#[test]
fn a_scenario_runs_the_programs_own_transport() {
    let flow = |text: &str| result(text).flows.remove(0);
    let own = flow(SPACED);
    assert_eq!((own.dropped, own.units_lost), (0, 0));
    // Ten packets of 1240 bytes at 1.5 Mb/s: the last leaves nine of them after the first.
    assert!(
        (own.sender_wait_max_s.expect("measured") - 9.0 * 1240.0 * 8.0 / 1.5e6).abs() < 1e-6,
        "{}",
        own.sender_wait_max_s.expect("measured")
    );
    let burst = flow(&SPACED.replace("{ name = \"spaced\", rate = \"1.5 Mb/s\" }", "\"udp\""));
    assert!(burst.dropped as f64 > 0.25 * burst.packets_sent as f64, "{}", burst.dropped);
}

fn refused(text: &str, from: &str, to: &str) -> String {
    hand_in();
    assert!(text.contains(from), "{from}");
    Scenario::from_toml(&text.replace(from, to), "own.toml").expect_err("a mistake").to_string()
}

#[test]
fn laws_are_listed_and_described_like_any_other() {
    hand_in();
    let schema = Scenario::json_schema().to_string();
    for (names, name, key, description) in [
        (TransportConfig::names(), "tcp/scalable", "legacy-window", "(Kelly 2003)"),
        (DisciplineConfig::names(), "deficit-round-robin", "quantum", "(Shreedhar & Varghese 1995)"),
        (TrafficConfig::names(), "memoryless", "payload", "(a Poisson process)"),
        (LossConfig::names(), "burst-noise", "good-to-bad", "(Gilbert 1960)"),
        (TransportConfig::names(), "spaced", "rate", "evenly spaced"),
        (RateConfig::names(), "steps", "each", "One rate after the other"),
    ] {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
        assert!(schema.contains(&format!("\"const\":\"{name}\"")), "{name}");
        assert!(schema.contains(&format!("\"{key}\":{{")) && schema.contains(description), "{name}");
    }
}

#[test]
fn mistakes_in_their_tables_are_told_where_they_stand_with_what_to_write() {
    for (text, from, to, place, said) in [
        (SCALABLE, "gain = 0.02", "gain = 0", "transport.gain", "gain = 0.01"),
        (SCALABLE, "gain", "gains", "unknown key `gains`", "did you mean `gain`?"),
        (SCALABLE, "receiver-window", "reciever-window", "", "did you mean `receiver-window`?"),
        (SCALABLE, "tcp/scalable", "tcp/scalabel", "", "did you mean `tcp/scalable`?"),
        (SCALABLE, "tcp/scalable", "tcp/reno", "", "left out with tcp/reno (it belongs to "),
        (DEFICIT_ROUND_ROBIN, "1 kB", "0 B", "bottleneck.queue.quantum", "1 B and above"),
        (DEFICIT_ROUND_ROBIN, "quantum", "quantm", "unknown key `quantm`", "did you mean `quantum`?"),
        (DEFICIT_ROUND_ROBIN, "quantum = \"1 kB\"", "victim = \"front\"", "queue.victim", "drops from the flow"),
        (POISSON, "800 kb/s", "0 kb/s", "traffic.rate", "a rate above 0"),
        (POISSON, "memoryless", "memoryles", "", "did you mean `memoryless`?"),
        (GILBERT, "bad-to-good = 0.25", "bad-to-good = 0", "loss.bad-to-good", "above 0, at most 1"),
        (GILBERT, "bad-to-good", "bad-to-god", "", "did you mean `bad-to-good`?"),
        (SPACED, "1.5 Mb/s", "0 b/s", "transport.rate", "a rate above 0"),
        (STEPS, "\"5 s\"", "\"0 s\"", "rate.each", "a time above 0"),
        (STEPS, "law = \"steps\"", "law = \"step\"", "rate.law", "did you mean `steps`?"),
    ] {
        let error = refused(text, from, to);
        assert!(error.contains("own.toml:") && error.contains(place) && error.contains(said), "{error}");
    }
}

#[test]
fn a_scenario_that_names_them_is_written_as_it_was_read() {
    for text in [SCALABLE, DEFICIT_ROUND_ROBIN, POISSON, GILBERT, SPACED, STEPS] {
        let scenario = read(text);
        let written = scenario.to_toml().expect("text");
        let again = Scenario::from_toml(&written, "again.toml").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.to_toml().expect("text"), written);
        assert_eq!(again.content_hash().expect("a hash"), scenario.content_hash().expect("a hash"));
    }
}
