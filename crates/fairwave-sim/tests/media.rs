//! Shared media in a run: members share the medium, every packet is accounted for, and link counters agree with the
//! medium.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{Run, RunResult};

const TWO: &str = r#"
name = "two downloads on one channel"
duration = "5 s"
warmup = "1 s"
preset = "rfc"
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
    Run::new(&scenario.plan(Seed(seed)).expect("a plan")).execute().expect("books that close")
}

#[test]
fn members_share_the_medium_and_its_books_close() {
    let result = result(TWO, 1);
    let goodput = |group: &str| {
        let of = result.flows.iter().filter(|flow| &*flow.group == group);
        of.filter_map(|flow| flow.goodput_bps).sum::<f64>()
    };
    let (near, far) = (goodput("near"), goodput("far"));
    assert!((near / far - 1.0).abs() < 0.1, "{near} and {far} b/s");
    assert!(near + far > 8.5e6 && near + far < 10e6, "{near} + {far} b/s in a channel of 10 Mb/s");
    let airtime: f64 = result.radio.iter().map(|row| row.airtime).sum();
    assert!((0.98..=1.001).contains(&airtime), "{airtime}");
    assert_eq!(result.radio.len(), 4);
    // The call from station to station crosses the channel twice.
    let up = result.links.iter().find(|row| &*row.link == "far>ap").expect("a row");
    assert!(up.departures > 300);
}

#[test]
fn a_run_with_a_medium_is_the_same_run_again_and_in_parts() {
    let scenario = Scenario::from_toml(TWO, "media.toml").expect("a scenario");
    let plan = scenario.plan(Seed(7)).expect("a plan");
    let digest = |result: RunResult| result.digest().expect("a digest");
    let whole = digest(Run::new(&plan).execute().expect("a run"));
    assert_eq!(whole, digest(Run::new(&plan).execute().expect("a run")));
    let parts = Run::new(&plan)
        .parts(&|part| {
            part();
            true
        })
        .execute();
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
    let row = result.links.iter().find(|row| &*row.link == "ap>near").expect("a row");
    let ratio = row.lost as f64 / row.departures as f64;
    assert!((0.07..0.13).contains(&ratio), "{ratio}");
}

/// A call, a file transfer, and more load for a fast and a slow laptop than their Wi-Fi channel carries.
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
        let of = |group: &str| result.flows.iter().find(|flow| &*flow.group == group).and_then(|flow| flow.goodput_bps);
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
    let whole = digest(Run::new(&plan).execute().expect("a run"));
    assert_eq!(whole, digest(Run::new(&plan).execute().expect("a run")));
    let parts = Run::new(&plan)
        .parts(&|part| {
            part();
            true
        })
        .execute();
    assert_eq!(whole, digest(parts.expect("a run")));
}

/// A number of stations on a medium, each with a call in both directions and more data than it can receive.
fn crowd(medium: &str, stations: usize, rate: &str) -> String {
    let names = || (0..stations).map(|place| format!("s{place}"));
    let links = names().map(|name| format!("{{ from = \"mast\", to = \"{name}\", medium = \"air\" }},"));
    let flows = names().map(|name| {
        format!(
            r#"{{ name = "down-{name}", from = "server", to = "{name}", transport = "udp", traffic = "voice" }},
               {{ name = "up-{name}", from = "{name}", to = "server", transport = "udp", traffic = "voice" }},
               {{ name = "data-{name}", from = "server", to = "{name}", transport = "udp", traffic = {{ kind = "cbr", rate = "{rate}" }} }},"#
        )
    });
    format!(
        r#"
name = "a crowd"
duration = "4 s"
medium.air = {{ {medium} }}
link = [{} {{ from = "server", to = "mast", rate = "1 Gb/s", delay = "5 ms" }}]
flow = [{}]
"#,
        links.collect::<String>(),
        flows.collect::<String>()
    )
}

/// Every unit of each flow that is not in flight arrived, is lost, or waits at its sender. `run` checks the packet
/// accounting.
fn check_accounting(result: &RunResult) {
    for flow in &result.flows {
        let found = flow.units_received + flow.units_lost + flow.units_waiting;
        assert_eq!(found, flow.units_sent, "{}", flow.group);
        assert!(flow.units_sent > 0, "{}", flow.group);
    }
}

const WIFI: &str = "law = \"wifi\", access-point = \"mast\"";
const CELL: &str = "law = \"cell\", base-station = \"mast\"";

fn arrived(result: &RunResult, prefix: &str) -> u64 {
    result.flows.iter().filter(|flow| flow.group.starts_with(prefix)).map(|flow| flow.units_received).sum()
}

#[test]
fn stations_none_of_which_hears_another_lose_packets_and_books_close() {
    let upwards = |medium: &str| {
        let swapped = |text: String, place: usize| {
            let way = |from: &str, to: &str| format!("name = \"data-s{place}\", from = \"{from}\", to = \"{to}\"");
            let station = format!("s{place}");
            text.replace(&way("server", &station), &way(&station, "server"))
        };
        result(&(0..3).fold(crowd(medium, 3, "8 Mb/s"), swapped), 1)
    };
    let plain = upwards(WIFI);
    let hidden = upwards(&format!("{WIFI}, hears = {{ s0 = [], s1 = [], s2 = [] }}"));
    check_accounting(&hidden);
    let collided = |result: &RunResult| result.radio.iter().map(|row| row.collided).sum::<u64>();
    assert!(collided(&hidden) > 2 * collided(&plain), "{} and {}", collided(&hidden), collided(&plain));
    assert!(arrived(&hidden, "up") > 0);
}

#[test]
fn two_hundred_stations_share_a_channel_and_a_cell() {
    for medium in [WIFI.to_owned(), format!("{WIFI}, queues = \"airtime\""), CELL.to_owned()] {
        let text = crowd(&medium, 200, "100 kb/s").replace("duration = \"4 s\"", "duration = \"1 s\"");
        let result = result(&text, 1);
        check_accounting(&result);
        assert_eq!(result.radio.len(), 400);
        assert!(arrived(&result, "up") > 500, "{medium}");
    }
}

#[test]
fn a_station_that_leaves_with_a_full_queue_keeps_no_packet() {
    let queues = ["fifo", "fq-codel", "airtime"].map(|queues| format!("{WIFI}, queues = \"{queues}\", stations"));
    for medium in queues.iter().map(String::as_str).chain([&*format!("{CELL}, channel = {{ cqi = 3 }}, users")]) {
        let result = result(&crowd(&format!("{medium} = {{ s0 = {{ leaves = \"2 s\" }} }}"), 2, "60 Mb/s"), 1);
        check_accounting(&result);
        let of = |group: &str| result.flows.iter().find(|flow| &*flow.group == group).expect("a flow");
        let (gone, stays) = (of("data-s0"), of("data-s1"));
        assert!(stays.units_received > gone.units_received, "{medium}");
        let link = result.links.iter().find(|row| &*row.link == "mast>s0").expect("a row");
        assert_eq!(link.arrivals, link.departures + link.dropped_overflow + link.dropped_early, "{medium}");
    }
}

#[test]
fn a_user_out_of_range_keeps_its_packets_at_the_base_station() {
    let steps = "channel = { steps = [{ at = \"0 s\", is = 0 }] }";
    let result = result(&crowd(&format!("{CELL}, {steps}"), 2, "50 kb/s"), 1);
    check_accounting(&result);
    assert_eq!(arrived(&result, ""), 0);
}

#[test]
fn rates_and_ratios_out_of_range_are_refused_where_they_stand() {
    for (medium, key, allowed) in [
        ("law = \"half-duplex\", rate = \"0 b/s\"", "medium.air.rate", "at least 1 b/s"),
        (&*format!("{WIFI}, channel = {{ snr = 200.0 }}"), "medium.air.channel.snr", "-30 to 90"),
        (&*format!("{CELL}, channel = {{ snr = 200.0 }}"), "medium.air.channel.snr", "-30 to 60"),
        (&*format!("{CELL}, channel = {{ cqi = 0 }}"), "medium.air.channel.cqi", "1 to 15"),
        (&*format!("{WIFI}, channel = {{ mcs = 99 }}"), "medium.air.channel.mcs", "0 to 7"),
    ] {
        let read = Scenario::from_toml(&crowd(medium, 2, "1 Mb/s"), "bad.toml");
        let said = read.map(|_| ()).expect_err("out of range").to_string();
        assert!(said.contains(key) && said.contains(allowed) && said.contains("write for example"), "{said}");
    }
    let zero = crowd(WIFI, 2, "1 Mb/s").replacen("medium = \"air\" }", "medium = \"air\", rate = \"0 b/s\" }", 1);
    let said = Scenario::from_toml(&zero, "bad.toml").map(|_| ()).expect_err("a rate of zero").to_string();
    assert!(said.contains("link[0].rate") && said.contains("remove `rate`, or `medium`"), "{said}");
}
