//! One window for all measures: counts before it, units in flight at its end, and the capacity of a link inside it.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{FlowRow, Run, RunResult};
use proptest::prelude::*;

fn outcome(text: &str, seed: u64) -> RunResult {
    let scenario = Scenario::from_text(text, "window.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    Run::new(&scenario.plan(Seed(seed)).expect("a plan")).execute().expect("a run")
}

/// A call over a lossless path, with playout 60 ms after the minimum delay.
fn call(duration: u64, delay: u64) -> String {
    format!(
        r#"
name = "call"
duration = "{duration} s"
[[link]]
from = "a"
to = "b"
rate = "10 Mb/s"
delay = "{delay} ms"
[[flow]]
name = "call"
from = "a"
to = "b"
transport = "udp"
traffic = {{ kind = "voice", codec = "g711" }}
concealment = "none"
playout = {{ strategy = "fixed", delay = "60 ms" }}
"#
    )
}

#[test]
fn a_call_over_a_long_path_is_rated_the_same_however_soon_the_run_ends() {
    for delay in [150, 300] {
        let [short, long] = [10, 60].map(|duration| outcome(&call(duration, delay), 1).flows.remove(0));
        assert_eq!((short.units_lost, long.units_lost), (0, 0));
        assert!(
            (short.r_factor.expect("measured") - long.r_factor.expect("measured")).abs() < 0.1,
            "{} {}",
            short.r_factor.expect("measured"),
            long.r_factor.expect("measured")
        );
        assert!(short.mos.expect("measured") > 1.0, "{}", short.mos.expect("measured"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn nothing_that_arrives_is_lost_on_a_path_of_any_delay(delay in 1u64..900, duration in 2u64..8, seed in 0u64..100) {
        let near = &outcome(&call(duration, 1), seed).flows[0];
        let far = &outcome(&call(duration, delay), seed).flows[0];
        prop_assert_eq!((near.units_lost, far.units_lost), (0, 0));
        prop_assert_eq!(near.units_sent + near.units_in_flight, far.units_sent + far.units_in_flight);
        // Units missing at the end are the ones that the path delay holds back.
        let most = (delay as f64 + 5.0) / 20.0 + 1.0;
        let pending = far.units_in_flight + far.units_waiting;
        prop_assert!(pending as f64 <= most, "{pending} of {}", far.units_sent);
    }
}

#[test]
fn units_that_a_reliable_call_holds_at_the_end_are_missed_but_not_lost() {
    // 64 kb/s of speech over a link of 40 kb/s that fails permanently after 6 s.
    let text = call(12, 20).replace("\"10 Mb/s\"", "\"40 kb/s\"").replace("\"udp\"", "\"tcp/reno\"")
        + "[[event]]\nlink = \"a>b\"\nat = \"6 s\"\nstate = \"down\"\n[record]\nunits = [\"call[0]\"]\n";
    let result = outcome(&text, 1);
    let call = &result.flows[0];
    assert_eq!(call.units_lost, 0, "{call:?}");
    assert!(call.units_waiting > 20, "{call:?}");
    assert_eq!(call.units_sent, call.units_received + call.units_waiting);
    assert_eq!(
        (call.mos.expect("measured"), call.r_cost_loss.expect("measured")),
        (1.0, 0.0),
        "the listener misses it all the same"
    );
    assert!(call.missed_ratio.expect("measured") >= call.units_waiting as f64 / call.units_sent as f64, "{call:?}");
    assert!(call.late_units >= call.units_waiting);
    let overdue = result.units.iter().filter(|unit| unit.fate == "waiting" && unit.counted == 1).count();
    assert_eq!(overdue as u64, call.units_waiting);
}

/// Flows of two kinds that start and stop on one link of 10 Mb/s.
fn coming_and_going(warmup: u64, starts: &[(u64, u64)], capacity: u64, seed: u64) -> RunResult {
    let mut text = format!(
        r#"
name = "coming-and-going"
duration = "6 s"
warmup = "{warmup} ms"
[topology]
preset = "dumbbell"
bottleneck = {{ rate = "10 Mb/s", delay = "20 ms", queue = {{ discipline = "drop-tail", capacity = {{ packets = {capacity} }} }} }}
access = {{ rate = "100 Mb/s", delay = "1 ms" }}
"#
    );
    for (index, (start, lasts)) in starts.iter().enumerate() {
        let how = match index % 2 {
            0 => {
                r#"transport = "udp"
traffic = { kind = "cbr", rate = "9 Mb/s", payload = "1000 B" }"#
            }
            _ => {
                r#"transport = { name = "tcp/sack", receiver-window = 64 }
traffic = "bulk""#
            }
        };
        let stop = start + lasts;
        text.push_str(&format!("[[flow]]\nname = \"f{index}\"\n{how}\nstart = \"{start} ms\"\nstop = \"{stop} ms\"\n"));
    }
    outcome(&text, seed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn throughput_never_exceeds_the_link_rate(
        warmup in 0u64..3000, starts in prop::collection::vec((0u64..4000, 100u64..3000), 1..6), capacity in 5u64..1500, seed in 0u64..50,
    ) {
        let result = coming_and_going(warmup, &starts, capacity, seed);
        for (flow, (start, lasts)) in result.flows.iter().zip(&starts) {
            let on = (start + lasts).min(6000).saturating_sub(warmup.max(*start));
            prop_assert_eq!(flow.goodput_bps.is_none(), on == 0, "{:?}", flow);
            if on > 0 {
                // A receiver releases data held behind a gap all at once: for TCP at most its window, for UDP one
                // packet.
                let kept = if &*flow.transport == "udp" { 1000 } else { 64 * 1500 } * 8;
                let most = 1e7 + f64::from(kept) * 1e3 / on as f64;
                prop_assert!(flow.goodput_bps.expect("measured") <= most, "{} over {} ms", flow.goodput_bps.expect("measured"), on);
            }
        }
        for link in &result.links {
            prop_assert!(link.utilisation <= 1.0, "{:?}", link);
        }
        for group in &result.groups {
            prop_assert!(group.jain.is_none() || group.jain.expect("measured") <= 1.0 + 1e-12, "{:?}", group);
        }
    }
}

/// Returns the utilisation of a link of 1 Mb/s by packets of 1250 B (10 ms each). They are sent every `every` ms, the
/// first at 0.
fn use_of_link(every: u64, warmup: u64, duration: u64, queue: &str) -> f64 {
    let off = every * 1_000_000 - 10;
    let text = format!(
        r#"
name = "edges"
duration = "{duration} ms"
warmup = "{warmup} ms"
hosts = {{ clock-skew = "0 ppm", send-jitter = "0 s" }}
[[link]]
from = "a"
to = "b"
rate = "1 Mb/s"
delay = "1 ms"
queue = {queue}
[[flow]]
name = "packets"
from = "a"
to = "b"
transport = {{ name = "udp", header = "0 B" }}
[flow.traffic]
kind = "burst"
rate = "1000 Gb/s"
payload = "1250 B"
on = {{ distribution = "constant", mean = "1 ns" }}
off = {{ distribution = "constant", mean = "{off} ns" }}
first = "talk"
phase = "zero"
"#
    );
    outcome(&text, 1).links[0].utilisation
}

#[test]
fn a_packet_that_straddles_an_edge_of_the_window_counts_with_its_part_inside() {
    for queue in [
        r#"{ discipline = "drop-tail", capacity = { packets = 1000 } }"#,
        r#"{ discipline = "codel", capacity = { packets = 1000 } }"#,
    ] {
        // Packets are transmitted from 0 to 10 ms, 20 to 30 ms, and so on.
        for (warmup, duration, busy) in [
            (1005, 2000, 495),
            (1010, 2000, 490),
            (1000, 2005, 505),
            (1003, 2004, 501),
            (1015, 2010, 500),
            (1001, 1004, 3),
            (0, 2007, 1007),
        ] {
            let expected = busy as f64 / (duration - warmup) as f64;
            let used = use_of_link(20, warmup, duration, queue);
            assert!((used - expected).abs() < 1e-6, "{queue} {warmup} {duration}: {used}, not {expected}");
        }
    }
}

#[test]
fn a_link_that_never_rests_is_used_by_exactly_1_wherever_the_window_begins() {
    for warmup in [0, 5, 10, 1003] {
        assert_eq!(use_of_link(5, warmup, 2001, r#"{ discipline = "drop-tail", capacity = { packets = 5 } }"#), 1.0);
    }
}

#[test]
fn a_flow_that_ended_in_the_warm_up_has_no_goodput_and_no_part_in_fairness() {
    let text = r#"
name = "gone"
duration = "6 s"
warmup = "2 s"
[[link]]
from = "a"
to = "b"
rate = "10 Mb/s"
delay = "300 ms"
[[flow]]
name = "f"
count = 2
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "cbr", rate = "1 Mb/s", payload = "1000 B" }
start = { from = "0 s", to = "1 s", spread = "even" }
stop = "1.9 s"
[[flow]]
name = "g"
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "cbr", rate = "1 Mb/s", payload = "1000 B" }
"#;
    let result = outcome(text, 1);
    let [early, late] = [&result.groups[0], &result.groups[1]];
    // Its last 300 ms were delivered in the window, but do not count as goodput.
    assert!(result.flows[0].payload_received > 0 && result.flows[0].goodput_bps.is_none());
    assert!(early.goodput_bps.is_none() && early.jain.is_none());
    assert!((late.goodput_bps.expect("measured") - 1e6).abs() < 1e4 && late.jain.expect("measured") == 1.0);
}

#[test]
fn data_that_drains_after_the_stop_is_no_goodput() {
    let drains = coming_and_going(0, &[(0, 500), (500, 500)], 1500, 1);
    for flow in &drains.flows {
        assert!(flow.goodput_bps.expect("measured") <= 1e7, "{flow:?}");
    }
    assert!(
        drains.flows[1].payload_received as f64 * 8.0 / 0.5 > drains.flows[1].goodput_bps.expect("measured") * 1.05,
        "some drained"
    );
}

/// Calls and a download through a bottleneck. With `BLACKOUT`, it loses everything for half a second in the warm-up.
const STATIONARY: &str = r#"
name = "stationary"
duration = "DURATION"
warmup = "20 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "2 Mb/s", delay = "20 ms"BLACKOUT, queue = { discipline = "red", capacity = { packets = 50 } } }
access = { rate = "100 Mb/s", delay = "1 ms" }
[[flow]]
name = "call"
count = 4
transport = "udp"
traffic = "voice"
[[flow]]
name = "download"
count = 2
transport = "tcp/sack"
traffic = "bulk"
"#;

/// Returns each measure with its value in a run.
fn measures(result: &RunResult) -> Vec<(&'static str, f64)> {
    let calls: Vec<_> = result.flows.iter().filter(|flow| &*flow.group == "call").collect();
    // A call that is silent in the window has neither delay nor rating.
    let mean = |of: &dyn Fn(&FlowRow) -> f64| {
        let values: Vec<f64> = calls.iter().map(|call| of(call)).filter(|value| !value.is_nan()).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let link = result.links.iter().find(|link| &*link.link == "r1>r2").expect("the bottleneck");
    let class = result.classes.iter().find(|class| class.link == "r1>r2").expect("a class");
    let download = result.groups.iter().find(|group| group.group == "download").expect("the download");
    let in_time = result.timeliness.iter().filter(|row| row.group == "call" && row.reading == "delay");
    let timely: u64 = in_time.map(|row| row.timely).sum();
    vec![
        ("loss", mean(&|call| call.units_lost as f64 / call.units_sent as f64)),
        ("packet loss", mean(&|call| (call.dropped + call.lost) as f64 / call.packets_sent as f64)),
        ("delay", mean(&|call| call.delay_mean_s.expect("measured"))),
        ("delay, 95th percentile", mean(&|call| call.delay_p95_s.expect("measured"))),
        ("jitter", mean(&|call| call.jitter_s.expect("measured"))),
        ("R", mean(&|call| call.r_factor.expect("measured"))),
        ("MOS", mean(&|call| call.mos.expect("measured"))),
        ("index", timely as f64 / calls.iter().map(|call| call.units_sent).sum::<u64>() as f64),
        ("goodput", download.goodput_bps.expect("measured")),
        ("Jain", download.jain.expect("measured")),
        ("overhead", download.overhead.expect("measured")),
        ("dropped share", download.dropped_share),
        ("timeouts per second", result.flows[4].timeouts as f64 / (result.flows[4].stop_s - 20.0)),
        ("utilisation", link.utilisation),
        ("mean queue", link.mean_queue_packets),
        ("drop rate", link.drop_rate),
        ("mean wait", link.mean_wait_s),
        ("mean wait of a class", class.mean_wait_s.expect("measured")),
    ]
}

/// Returns mean and standard error of each measure over twelve seeds.
fn spread(text: &str, first: u64) -> Vec<(&'static str, f64, f64)> {
    const SEEDS: u64 = 12;
    let runs: Vec<Vec<(&str, f64)>> = (first..first + SEEDS).map(|seed| measures(&outcome(text, seed))).collect();
    (0..runs[0].len())
        .map(|measure| {
            let values = || runs.iter().map(|run| run[measure].1);
            let mean = values().sum::<f64>() / SEEDS as f64;
            let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64;
            (runs[0][measure].0, mean, (variance / SEEDS as f64).sqrt())
        })
        .collect()
}

/// Checks that no mean differs by more than four standard errors of the difference. By chance, one in about ten
/// thousand would.
fn assert_same(one: &[(&str, f64, f64)], other: &[(&str, f64, f64)]) {
    for ((name, mean, error), (_, mean_other, error_other)) in one.iter().zip(other) {
        let allowed = 4.0 * error.hypot(*error_other) + 1e-9;
        assert!((mean - mean_other).abs() <= allowed, "{name}: {mean} ± {error} and {mean_other} ± {error_other}");
    }
}

fn stationary(duration: &str, blackout: &str) -> String {
    STATIONARY.replace("DURATION", duration).replace("BLACKOUT", blackout)
}

#[test]
fn twice_the_duration_of_a_stationary_scenario_moves_no_mean_beyond_its_interval() {
    assert_same(&spread(&stationary("50 s", ""), 1), &spread(&stationary("80 s", ""), 101));
}

#[test]
fn a_blackout_in_the_warm_up_changes_no_measure() {
    let blackout = r#", loss = { model = "blackout", from = "1 s", to = "3 s" }"#;
    assert_same(&spread(&stationary("50 s", ""), 1), &spread(&stationary("50 s", blackout), 201));
}
