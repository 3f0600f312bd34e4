//! Shared media in a run: members share the medium, every packet is somewhere, and what links count is what the medium did.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{RunResult, run};

const TWO: &str = r#"
name = "two downloads on one channel"
duration = "5 s"
warmup = "1 s"
medium.air = { law = "half-duplex", rate = "10 Mb/s" }
link = [
    { from = "ap", to = "near", medium = "air" },
    { from = "ap", to = "far", medium = "air" },
    { from = "server", to = "ap", rate = "100 Mb/s", delay = "5 ms" },
]
flow = [
    { name = "near", from = "server", to = "near", transport = "tcp/sack", traffic = "bulk" },
    { name = "far", from = "server", to = "far", transport = "tcp/sack", traffic = "bulk" },
    { name = "call", count = 2, from = "far", to = "near", transport = "udp", traffic = "voice" },
]
"#;

fn result(text: &str, seed: u64) -> RunResult {
    let scenario = Scenario::from_toml(text, "media.toml").expect("a scenario");
    run(&scenario.plan(Seed(seed)).expect("a plan")).expect("books that close")
}

#[test]
fn members_share_the_medium_and_its_books_close() {
    let result = result(TWO, 1);
    let goodput = |group: &str| {
        let of = result.flows.iter().filter(|flow| flow.group == group);
        of.filter_map(|flow| flow.goodput_bps).sum::<f64>()
    };
    let (near, far) = (goodput("near"), goodput("far"));
    assert!((near / far - 1.0).abs() < 0.1, "{near} and {far} b/s");
    assert!(near + far > 8.5e6 && near + far < 10e6, "{near} + {far} b/s in a channel of 10 Mb/s");
    let airtime: f64 = result.radio.iter().map(|row| row.airtime).sum();
    assert!((0.98..=1.001).contains(&airtime), "{airtime}");
    assert_eq!(result.radio.len(), 4);
    // The call from station to station crosses the channel twice.
    let up = result.links.iter().find(|row| row.link == "far>ap").expect("a row");
    assert!(up.departures > 300);
}

#[test]
fn a_run_with_a_medium_is_the_same_run_again_and_in_parts() {
    let scenario = Scenario::from_toml(TWO, "media.toml").expect("a scenario");
    let plan = scenario.plan(Seed(7)).expect("a plan");
    let digest = |result: RunResult| result.digest().expect("a digest");
    let whole = digest(run(&plan).expect("a run"));
    assert_eq!(whole, digest(run(&plan).expect("a run")));
    let parts = fairwave_sim::run_in_parts(&plan, &|part| {
        part();
        true
    });
    assert_eq!(whole, digest(parts.expect("a run")));
    assert_ne!(whole, digest(result(TWO, 8)));
}

#[test]
fn links_without_a_medium_leave_no_rows_of_one() {
    let text = TWO.replace("medium = \"air\"", "rate = \"10 Mb/s\", delay = \"0 s\"");
    let text = text.lines().filter(|line| !line.starts_with("medium.air")).collect::<Vec<_>>().join("\n");
    assert!(result(&text, 1).radio.is_empty());
}

#[test]
fn losses_of_the_link_itself_come_on_top() {
    let text = TWO.replacen("medium = \"air\" }", "medium = \"air\", loss = \"10 %\" }", 1);
    let result = result(&text, 1);
    let row = result.links.iter().find(|row| row.link == "ap>near").expect("a row");
    let ratio = row.lost as f64 / row.departures as f64;
    assert!((0.07..0.13).contains(&ratio), "{ratio}");
}

/// A call, a file transfer, and more for a fast and a slow laptop than their Wi-Fi channel carries.
const HOME: &str = r#"
name = "a home"
duration = "10 s"
warmup = "2 s"
medium.air = { law = "wifi", queues = "fifo", stations = { slow = { channel = { mcs = 0 } } } }
link = [
    { from = "ap", to = "fast", medium = "air", queue = { capacity = { packets = 1000 } } },
    { from = "ap", to = "slow", medium = "air", queue = { capacity = { packets = 1000 } } },
    { from = "ap", to = "phone", medium = "air", queue = { capacity = { packets = 1000 } } },
    { from = "server", to = "ap", rate = "1 Gb/s", delay = "10 ms" },
]
flow = [
    { name = "fast", from = "server", to = "fast", transport = "udp", traffic = { kind = "cbr", rate = "40 Mb/s" } },
    { name = "slow", from = "server", to = "slow", transport = "udp", traffic = { kind = "cbr", rate = "40 Mb/s" } },
    { name = "files", from = "server", to = "fast", transport = "tcp/cubic", traffic = "bulk" },
    { name = "call", from = "server", to = "phone", transport = "udp", traffic = "voice" },
]
"#;

#[test]
fn airtime_fairness_gives_a_fast_station_what_a_slow_one_took() {
    let goodput = |queues: &str| {
        let result = result(&HOME.replace("\"fifo\"", &format!("\"{queues}\"")), 1);
        let of = |group: &str| result.flows.iter().find(|flow| flow.group == group).and_then(|flow| flow.goodput_bps);
        let row = |link: &str| result.radio.iter().find(|row| row.link == link).expect("a row").airtime_share;
        assert_eq!(result.radio.len(), 6);
        (of("fast").unwrap_or(0.0), row("ap>slow").unwrap_or(0.0), row("ap>fast").unwrap_or(0.0))
    };
    let ((one, ..), (fair, slow, fast)) = (goodput("fifo"), goodput("airtime"));
    assert!(fair > 1.3 * one, "{one} and {fair} b/s");
    assert!((slow / fast - 1.0).abs() < 0.25, "{slow} and {fast} of the airtime");
}

#[test]
fn a_run_on_wifi_is_the_same_run_again_and_in_parts() {
    let scenario = Scenario::from_toml(HOME, "media.toml").expect("a scenario");
    let plan = scenario.plan(Seed(3)).expect("a plan");
    let digest = |result: RunResult| result.digest().expect("a digest");
    let whole = digest(run(&plan).expect("a run"));
    assert_eq!(whole, digest(run(&plan).expect("a run")));
    let parts = fairwave_sim::run_in_parts(&plan, &|part| {
        part();
        true
    });
    assert_eq!(whole, digest(parts.expect("a run")));
}
