//! Hosts with skew and jitter share a link evenly; hosts without them lock their phases.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{FlowRow, Run};

fn flows(text: &str, seed: u64) -> Vec<FlowRow> {
    let scenario = Scenario::from_text(text, "hosts.toml").unwrap_or_else(|error| panic!("{error}"));
    Run::new(&scenario.plan(Seed(seed)).expect("a plan")).execute().expect("a run").flows
}

/// Thirteen G.711 calls with 200 bytes on the wire every 20 ms, on a link for twelve and a half calls.
const CALLS: &str = r#"
name = "calls"
duration = "60 s"
warmup = "5 s"
[hosts]
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms", queue = { discipline = "drop-tail", capacity = { packets = 30 } } }
access = { rate = "100 Mb/s", delay = "1 ms" }
[[flow]]
name = "call"
count = 13
transport = "udp"
traffic = { kind = "cbr", rate = "64 kb/s", payload = "160 B", phase = "zero" }
start = { from = "0 s", to = "20 ms" }
"#;

const IN_STEP: &str = "hosts = { clock-skew = \"0 ppm\", send-jitter = \"0 s\" }";

fn in_step(text: &str) -> String {
    text.replace("[hosts]", IN_STEP)
}

/// Returns the loss share of each call, the largest first.
fn losses(text: &str, seed: u64) -> Vec<f64> {
    let share = |flow: &FlowRow| flow.units_lost as f64 / flow.units_sent as f64;
    let mut losses: Vec<f64> = flows(text, seed).iter().map(share).collect();
    losses.sort_by(|a, b| b.total_cmp(a));
    losses
}

#[test]
fn synchronous_hosts_concentrate_losses_on_one_call_and_others_spread_them() {
    for seed in 1..=5 {
        let locked = losses(&in_step(CALLS), seed);
        assert!(locked[0] > 0.45 && locked[1] < 0.01, "{seed}: {locked:.3?}");
        let shared = losses(CALLS, seed);
        // The excess is half a call in total, however it is distributed.
        let mean = shared.iter().sum::<f64>() / 13.0;
        assert!((mean - 0.5 / 13.0).abs() < 0.003, "{seed}: {shared:.3?}");
        assert!(shared[0] < 0.35 && shared[2] > 0.02, "{seed}: {shared:.3?}");
    }
}

/// Two bulk flows with a round-trip ratio of 1 to 1.64.
const UNEQUAL: &str = r#"
name = "unequal"
duration = "200 s"
warmup = "20 s"
preset = "rfc"
[hosts]
[topology]
preset = "dumbbell"
bottleneck = { rate = "10 Mb/s", delay = "5 ms", queue = { discipline = "drop-tail", capacity = { packets = 25 } } }
access = { rate = "100 Mb/s", delay = "2 ms" }
[[flow]]
name = "near"
transport = { name = "tcp/sack", delayed-ack = false }
traffic = "bulk"
[[flow]]
name = "far"
transport = { name = "tcp/sack", delayed-ack = false }
traffic = "bulk"
source-access = { delay = "6.48 ms" }
"#;

/// Returns the near flow's goodput divided by the far flow's.
fn ratio(text: &str, seed: u64) -> f64 {
    let flows = flows(text, seed);
    flows[0].goodput_bps.expect("measured") / flows[1].goodput_bps.expect("measured")
}

#[test]
fn a_drop_tail_queue_favours_the_shorter_round_trip_a_little_and_in_step_whomever_the_phases_favour() {
    let locked = ratio(&in_step(UNEQUAL), 1);
    assert!(locked < 0.2, "the far flow has most: {locked:.2}");
    for seed in 1..=5 {
        let shared = ratio(UNEQUAL, seed);
        assert!((1.0..3.0).contains(&shared), "{seed}: {shared:.2}");
    }
}

#[test]
fn the_preset_ns2_makes_hosts_synchronous_unless_the_scenario_overrides_it() {
    let outcome = |text: &str| {
        let scenario = Scenario::from_text(text, "hosts.toml").unwrap_or_else(|error| panic!("{error}"));
        Run::new(&scenario.plan(Seed(1)).expect("a plan")).execute().expect("a run").digest().expect("a digest")
    };
    let ns2 = |hosts: &str| outcome(&CALLS.replace("[hosts]", &format!("preset = \"ns2\"\n{hosts}")));
    assert_eq!(ns2(""), ns2(IN_STEP));
    assert_ne!(ns2(""), ns2("hosts = { send-jitter = \"1 ms\" }"));
    assert_ne!(ns2(""), ns2("hosts = { clock-skew = \"50 ppm\" }"));
}

/// Datagrams and segments from one host over one link, repeatedly created at the same times.
const ONE_HOST: &str = r#"
name = "one-host"
duration = "5 s"
hosts = { clock-skew = "0 ppm", send-jitter = "30 ms" }
[[link]]
from = "a"
to = "b"
rate = "100 Mb/s"
delay = "1 ms"
[[flow]]
name = "packets"
count = 3
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "cbr", rate = "800 kb/s", payload = "1000 B" }
[record]
units = ["packets"]
"#;

#[test]
fn packets_leave_their_host_late_and_never_overtake_each_other() {
    let scenario = Scenario::from_text(ONE_HOST, "hosts.toml").unwrap_or_else(|error| panic!("{error}"));
    let result = Run::new(&scenario.plan(Seed(1)).expect("a plan")).execute().expect("a run");
    let mut arrived: Vec<(f64, f64)> = (result.units.iter())
        .filter(|unit| unit.arrived_s.is_some())
        .map(|unit| (unit.created_s, unit.arrived_s.expect("measured")))
        .collect();
    assert!(arrived.len() > 1400);
    arrived.sort_by(|a, b| a.1.total_cmp(&b.1));
    assert!(arrived.windows(2).all(|pair| pair[0].0 <= pair[1].0), "made in the order in which they arrive");
    let (least, most) = arrived
        .iter()
        .map(|(made, arrived)| arrived - made)
        .fold((1.0_f64, 0.0_f64), |(least, most), delay| (least.min(delay), most.max(delay)));
    assert!((0.001..0.012).contains(&least) && (0.025..0.034).contains(&most), "{least} {most}");
}
