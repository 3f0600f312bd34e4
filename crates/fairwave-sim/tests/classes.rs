//! Per-class counters of managed queues: they agree with the flows and account for every packet.

use crate::support::{Dumbbell, config, q};
use fairwave_core::loss::BernoulliConfig;
use fairwave_core::packet::Class;
use fairwave_core::queue::DisciplineConfig;
use fairwave_core::units::{Instant, Span};
use fairwave_sim::{ClassRow, Run, RunResult};

const UDP: &str = r#"{ "name": "udp" }"#;
const TCP: &str = r#"{ "name": "tcp/reno", "segment": "1460 B" }"#;

/// Voice, other UDP and TCP, one flow each, through a queue that they overload and a wire with 1 % loss.
fn mixed(queue: &str) -> RunResult {
    let dumbbell = Dumbbell {
        bottleneck: q("500 kb/s"),
        queue: config(queue),
        loss: BernoulliConfig { rate: 0.01 }.into(),
        duration: q("20 s"),
        ..Dumbbell::default()
    };
    let start = |ms| Instant::ZERO + Span::from_millis(ms);
    let flows = vec![
        (config(r#"{ "kind": "voice", "packet-time": "10 ms", "always-on": true }"#), config(UDP), start(0)),
        (config(r#"{ "kind": "cbr", "rate": "400 kb/s", "payload": "1472 B" }"#), config(UDP), start(3)),
        (config(r#"{ "kind": "bulk" }"#), config(TCP), start(7)),
    ];
    let mut plan = dumbbell.plan(1, flows);
    for (flow, class) in plan.flows.iter_mut().zip([Class::Voice, Class::OtherUdp, Class::Tcp]) {
        flow.class = class;
    }
    Run::new(&plan).execute().expect("a run that keeps its books")
}

fn row<'a>(result: &'a RunResult, class: &str) -> &'a ClassRow {
    result.classes.iter().find(|row| row.link == "r1>r2" && row.class == class).expect("a row")
}

#[test]
fn packets_of_each_class_are_served_dropped_or_waiting_under_all_disciplines_and_victims() {
    for table in DisciplineConfig::shortest_tables() {
        let discipline = table["discipline"].as_str().expect("a name");
        for victim in ["tail", "front", "random", "drop-sel", "voice-guard", "highest-layer"] {
            let law: DisciplineConfig = config(&table.to_string());
            let chooses_itself = law.nature().own_victim.is_some();
            if chooses_itself && victim != "tail" {
                continue;
            }
            let mut queue = table.clone();
            queue["capacity"] = serde_json::json!({ "packets": 40 });
            if !chooses_itself {
                queue["victim"] = victim.into();
            }
            let result = mixed(&queue.to_string());
            if discipline == "drop-tail" && victim == "tail" {
                assert!(result.classes.is_empty(), "a plain FIFO knows no classes");
                continue;
            }
            for (flow, class) in ["voice", "other-udp", "tcp"].into_iter().enumerate() {
                let row = row(&result, class);
                let dropped = row.dropped_overflow + row.dropped_early;
                assert_eq!(row.arrivals, row.served + dropped + row.waiting, "{queue} {class}");
                assert!(row.served > 0, "{queue} {class} gets something");
                // Only the bottleneck drops and loses data; feedback uses the other direction.
                let flow = &result.flows[flow];
                assert_eq!((flow.dropped, flow.lost), (dropped, row.lost), "{queue} {class}");
            }
            let link = &result.links[0];
            let all = |count: fn(&ClassRow) -> u64| {
                result.classes.iter().filter(|row| row.link == "r1>r2").map(count).sum::<u64>()
            };
            assert_eq!(link.arrivals, all(|row| row.arrivals), "{queue}");
            assert_eq!(link.dropped_overflow, all(|row| row.dropped_overflow), "{queue}");
            assert_eq!(link.dropped_early, all(|row| row.dropped_early), "{queue}");
        }
    }
}

#[test]
fn mean_wait_is_what_a_packet_that_gets_through_spends_in_the_queue() {
    for victim in ["front", "random", "drop-sel"] {
        let result = mixed(&format!(
            r#"{{ "discipline": "drop-tail", "capacity": {{ "packets": 40 }}, "victim": "{victim}" }}"#
        ));
        // 50 ms of propagation, 108 bytes of voice twice at 100 Mb/s and once at 500 kb/s; the access queues stay empty.
        let path = 0.050 + 2.0 * 108.0 * 8.0 / 100e6 + 108.0 * 8.0 / 500e3;
        let waited = result.flows[0].delay_mean_s.expect("measured") - path;
        let measured = row(&result, "voice").mean_wait_s.expect("measured");
        assert!((measured - waited).abs() < 1e-3, "{victim}: waits {measured} s, delay says {waited} s");
    }
}

#[test]
fn a_class_below_its_share_loses_nothing_to_drop_sel_and_much_to_drop_front() {
    let loss = |victim: &str| {
        let result = mixed(&format!(
            r#"{{ "discipline": "drop-tail", "capacity": {{ "packets": 40 }}, "victim": "{victim}" }}"#
        ));
        // Voice needs 86 of 500 kb/s, less than a third.
        let voice = row(&result, "voice");
        (voice.dropped_overflow + voice.dropped_early) as f64 / voice.arrivals as f64
    };
    assert!(loss("drop-sel") < 1e-3, "{}", loss("drop-sel"));
    assert!(loss("front") > 0.02, "{}", loss("front"));
}
