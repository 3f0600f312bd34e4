//! Datagrams through the simulator, checked against values computed by hand.

use crate::support::{Dumbbell, config, q};
use fairwave_core::units::{Instant, Span};
use fairwave_sim::Run;

const CBR: &str = r#"{ "kind": "cbr", "rate": "1 Mb/s", "payload": "1000 B" }"#;
const UDP: &str = r#"{ "name": "udp", "header": "0 B" }"#;

#[test]
fn an_idle_path_delays_a_packet_by_its_transmissions_and_propagations() {
    let mut plan = Dumbbell::default().plan(1, vec![(config(CBR), config(UDP), Instant::ZERO)]);
    plan.record.units = vec![0];
    let result = Run::new(&plan).execute().expect("a run");
    // 50 ms of propagation, 1000 bytes twice at 100 Mb/s and once at 10 Mb/s.
    let expected = 0.050 + 2.0 * 80e-6 + 800e-6;
    for unit in result.units.iter().filter(|unit| unit.created_s < 9.9) {
        assert!((unit.arrived_s.expect("measured") - unit.created_s - expected).abs() < 1e-8, "{unit:?}");
    }
}

#[test]
fn an_overloaded_drop_tail_keeps_its_queue_full_and_drops_the_excess() {
    let flows = (0..20).map(|i| (config(CBR), config(UDP), Instant::ZERO + Span::from_millis(i))).collect();
    let plan = Dumbbell { warmup: q("2 s"), ..Dumbbell::default() }.plan(1, flows);
    let result = Run::new(&plan).execute().expect("a run");
    let bottleneck = &result.links[0];
    assert!((bottleneck.utilisation - 1.0).abs() < 1e-3, "{bottleneck:?}");
    assert!((bottleneck.drop_rate - 0.5).abs() < 5e-3, "{bottleneck:?}");
    assert!(bottleneck.mean_queue_packets > 123.0, "{bottleneck:?}");
    assert_eq!(bottleneck.max_queue_packets, 124);
}

#[test]
fn a_managed_queue_that_drops_the_tail_does_what_arithmetic_does() {
    let flows = || (0..20).map(|i| (config(CBR), config(UDP), Instant::from_nanos(i * 1_234_567))).collect::<Vec<_>>();
    let plain = Dumbbell::default();
    let front = Dumbbell {
        queue: config(r#"{ "discipline": "drop-tail", "capacity": { "packets": 124 }, "victim": "front" }"#),
        ..Dumbbell::default()
    };
    let (plain, front) = (
        Run::new(&plain.plan(1, flows())).execute().expect("a run"),
        Run::new(&front.plan(1, flows())).execute().expect("a run"),
    );
    // The disciplines drop different packets, but the same number: the counts of drops, waiting and departed packets
    // agree.
    let counts = |r: &fairwave_sim::RunResult| {
        (r.links[0].departures, r.links[0].dropped_overflow, r.links[0].max_queue_packets)
    };
    assert_eq!(counts(&plain), counts(&front));
    let (plain, front) = (plain.links[0].mean_queue_packets, front.links[0].mean_queue_packets);
    assert!((plain - front).abs() < 1e-6, "{plain} {front}");
}

#[test]
fn the_wire_loses_its_share() {
    let dumbbell = Dumbbell {
        loss: config(r#"{ "model": "bernoulli", "rate": 0.1 }"#),
        duration: q("100 s"),
        ..Dumbbell::default()
    };
    let result = Run::new(&dumbbell.plan(1, vec![(config(CBR), config(UDP), Instant::ZERO)])).execute().expect("a run");
    let share = result.links[0].lost as f64 / result.links[0].departures as f64;
    assert!((share - 0.1).abs() < 0.01, "{share}");
    assert_eq!(result.flows[0].lost, result.links[0].lost);
}

#[test]
fn the_same_plan_leaves_the_same_bytes() {
    let flows = || (0..5).map(|i| (config(CBR), config(UDP), Instant::from_nanos(i * 777))).collect::<Vec<_>>();
    let dumbbell = Dumbbell { loss: config(r#"{ "model": "bernoulli", "rate": 0.1 }"#), ..Dumbbell::default() };
    let bytes =
        |seed| serde_json::to_string(&Run::new(&dumbbell.plan(seed, flows())).execute().expect("a run")).expect("JSON");
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
}
