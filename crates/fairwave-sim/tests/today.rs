//! Current queues at a link: the service of a call next to unresponsive traffic, and the shaping of a shaper.

use crate::support::{Dumbbell, config, q};
use fairwave_core::packet::Class;
use fairwave_core::units::{Instant, Span};
use fairwave_sim::{LinkRow, Run, RunResult};

/// A call and `floods` floods of 1 Mb/s for 20 s, all over UDP, through this rate and queue; `change` modifies the
/// plan last.
fn beside_floods(
    rate: &str,
    queue: &str,
    floods: u64,
    change: impl FnOnce(&mut fairwave_scenario::plan::Plan),
) -> RunResult {
    let dumbbell = Dumbbell { bottleneck: q(rate), queue: config(queue), duration: q("20 s"), ..Dumbbell::default() };
    let start = |ms| Instant::ZERO + Span::from_millis(ms);
    let udp = r#"{ "name": "udp" }"#;
    let call = r#"{ "kind": "voice", "packet-time": "20 ms", "always-on": true }"#;
    let flood = r#"{ "kind": "cbr", "rate": "1 Mb/s", "payload": "1200 B" }"#;
    let mut flows = vec![(config(call), config(udp), start(0))];
    flows.extend((0..floods).map(|flood_of| (config(flood), config(udp), start(3 + 7 * flood_of))));
    let mut plan = dumbbell.plan(1, flows);
    plan.flows[0].class = Class::Voice;
    change(&mut plan);
    Run::new(&plan).execute().expect("a run that keeps its books")
}

fn bottleneck(result: &RunResult) -> &LinkRow {
    result.links.iter().find(|row| &*row.link == "r1>r2").expect("the bottleneck")
}

#[test]
fn a_call_loses_nothing_and_hardly_waits_where_each_flow_has_its_queue() {
    let waits = |queue: &str| {
        let result = beside_floods("1 Mb/s", queue, 3, |_| {});
        let row = result.classes.iter().find(|row| row.link == "r1>r2" && row.class == "voice").expect("a row");
        (row.dropped_early + row.dropped_overflow, row.mean_wait_s.expect("measured"))
    };
    // FQ-PIE drops every arrival while its buffer is full.
    for discipline in ["fq-codel", "cake"] {
        let (dropped, wait) =
            waits(&format!(r#"{{ "discipline": "{discipline}", "capacity": {{ "packets": 100 }} }}"#));
        // A packet of a flood takes 10 ms.
        assert!(dropped == 0 && wait < 0.011, "{discipline}: {dropped} dropped, {wait} s");
    }
    let (dropped, wait) = waits(r#"{ "discipline": "drop-tail", "capacity": { "packets": 100 }, "victim": "front" }"#);
    assert!(dropped > 100 && wait > 0.1, "drop-tail: {dropped} dropped, {wait} s");
}

#[test]
fn cake_keeps_the_queue_where_it_is_by_sending_no_faster_than_it_is_told() {
    let queue = r#"{ "discipline": "cake", "capacity": { "packets": 200 }, "bandwidth": "2 Mb/s" }"#;
    let result = beside_floods("10 Mb/s", queue, 3, |_| {});
    let used = bottleneck(&result).utilisation;
    assert!((used - 0.2).abs() < 0.001, "{used}");
    let result = beside_floods("10 Mb/s", &queue.replace(r#", "bandwidth": "2 Mb/s""#, ""), 3, |_| {});
    assert!(bottleneck(&result).utilisation > 0.3 && bottleneck(&result).dropped_early == 0);
}

#[test]
fn cake_knows_which_flows_come_from_the_same_node() {
    let queue = r#"{ "discipline": "cake", "capacity": { "packets": 200 }, "diffserv": "besteffort",
                     "isolation": "dual-srchost" }"#;
    let shares = |change: fn(&mut fairwave_scenario::plan::Plan)| {
        let result = beside_floods("1 Mb/s", queue, 3, change);
        let of_floods: Vec<_> = result.flows[1..].iter().map(|flow| flow.payload_received as f64).collect();
        of_floods.iter().map(|payload| payload / of_floods.iter().sum::<f64>()).collect::<Vec<_>>()
    };
    let apart = shares(|_| {});
    assert!(apart.iter().all(|share| (share - 1.0 / 3.0).abs() < 0.02), "{apart:?}");
    let together = shares(|plan| plan.flows[2].from = plan.flows[1].from);
    assert!((together[2] - 0.5).abs() < 0.03 && (together[0] - 0.25).abs() < 0.02, "{together:?}");
}

#[test]
fn dualpi2_serves_what_cannot_be_marked_as_a_single_queue_of_15_ms() {
    let queue = r#"{ "discipline": "dualpi2", "capacity": { "packets": 500 } }"#;
    let dumbbell =
        Dumbbell { bottleneck: q("10 Mb/s"), queue: config(queue), duration: q("60 s"), ..Dumbbell::default() };
    let tcp = |ms| {
        (config(r#"{ "kind": "bulk" }"#), config(r#"{ "name": "tcp/newreno" }"#), Instant::ZERO + Span::from_millis(ms))
    };
    let result = Run::new(&dumbbell.plan(1, (0..10).map(|flow| tcp(100 * flow)).collect())).execute().expect("a run");
    let row = bottleneck(&result);
    assert!(row.utilisation > 0.95 && (0.008..0.025).contains(&row.mean_wait_s), "{row:?}");
    assert!(row.dropped_early > 100 && row.marked == 0 && row.dropped_overflow == 0, "{row:?}");
}
