//! Playback, recovery and allotted shares, checked against values computed by hand.

use crate::support::{Dumbbell, config, q};
use fairwave_core::units::{Instant, Span};
use fairwave_sim::{Run, RunResult};

const CBR: &str = r#"{ "kind": "cbr", "rate": "1 Mb/s", "payload": "1000 B" }"#;
const UDP: &str = r#"{ "name": "udp", "header": "0 B" }"#;

fn values(result: &RunResult, kind: &str) -> Vec<f64> {
    result.series.iter().filter(|row| row.kind == kind).map(|row| row.value).collect()
}

#[test]
fn a_second_without_the_link_is_a_failed_read() {
    let dumbbell =
        Dumbbell { loss: config(r#"{ "model": "blackout", "from": "4 s", "to": "5 s" }"#), ..Dumbbell::default() };
    let mut plan = dumbbell.plan(1, vec![(config(CBR), config(UDP), Instant::ZERO)]);
    plan.flows[0].playback = Some(config(r#"{ "rate": "1 Mb/s", "shares": [0.5, 0.9] }"#));
    let result = Run::new(&plan).execute().expect("a run");
    let found: Vec<_> = result
        .playback
        .iter()
        .map(|row| (row.reading, row.share, row.reads, row.success_percent.expect("measured")))
        .collect();
    // Of ten reads the fifth finds only the 50 ms in transit; it alone fails under every reading.
    let expected = [0.5, 0.9].map(|share| [("goodput", share, 10, 90.0), ("buffer", share, 10, 90.0)]).concat();
    assert_eq!(found, expected);
}

#[test]
fn an_open_loop_recovers_in_the_first_bin_after_a_blackout() {
    let dumbbell =
        Dumbbell { loss: config(r#"{ "model": "blackout", "from": "4 s", "to": "5 s" }"#), ..Dumbbell::default() };
    let mut plan = dumbbell.plan(1, vec![(config(CBR), config(UDP), Instant::ZERO)]);
    plan.record.bin = q("500 ms");
    plan.flows[0].recovery = Some(config(r#"{ "from": "4 s", "to": "5 s", "levels": [0.5, 0.95, 1.0] }"#));
    let found: Vec<_> = Run::new(&plan)
        .execute()
        .expect("a run")
        .recovery
        .iter()
        .map(|row| (row.level, row.recovery_s.expect("measured")))
        .collect();
    // The path takes 51 ms, so the first bin holds 90 % of the rate.
    assert_eq!(found, [(0.5, 0.5), (0.95, 1.0), (1.0, 1.0)]);
}

#[test]
fn allotted_fairness_counts_only_flows_that_are_there() {
    let flows = (0..4).map(|i| (config(CBR), config(UDP), Instant::ZERO + Span::from_secs(if i < 2 { 0 } else { 5 })));
    let mut plan = Dumbbell::default().plan(1, flows.collect());
    plan.record.bin = q("1 s");
    plan.record.allotted = vec![("*".to_owned(), vec![0, 1, 2, 3]), ("main[0]".to_owned(), vec![0])];
    let result = Run::new(&plan).execute().expect("a run");
    let (goodput, fairness) = (values(&result, "allotted_goodput_bps"), values(&result, "allotted_fairness"));
    assert_eq!((goodput.len(), fairness.len()), (20, 20));
    assert_eq!((goodput[2], goodput[8], goodput[18]), (2e6, 4e6, 1e6));
    // The two flows that start at 5 s receive 94 % of a second's packets in their first bin; before that, they do not
    // count.
    assert_eq!((fairness[2], fairness[8]), (1.0, 1.0));
    assert!(fairness[5] > 0.99 && fairness[5] < 1.0, "{}", fairness[5]);
}
