//! Layered video through the simulator: layers skipped by adaptation are not lost, and loss judgements are compared
//! with true causes.

use crate::support::{Dumbbell, config, q};
use fairwave_core::loss::BernoulliConfig;
use fairwave_core::queue::{Capacity, DropTailConfig, QueueConfig};
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use fairwave_core::units::{Instant, Span};
use fairwave_sim::{Run, RunResult};

/// One DVRC video with `reno` Reno flows, over 1 Mb/s with 70 ms round trip and a buffer of one bandwidth-delay
/// product.
fn run_dvrc(loss: f64, reno: usize) -> RunResult {
    let dumbbell = Dumbbell {
        bottleneck: q("1 Mb/s"),
        bottleneck_delay: q("25 ms"),
        access: q("10 Mb/s"),
        queue: QueueConfig::new(Capacity::Packets(9), DropTailConfig {}),
        loss: BernoulliConfig { rate: loss }.into(),
        duration: q("30 s"),
        ..Dumbbell::default()
    };
    let video: (TrafficConfig, TransportConfig) = (
        config(r#"{"kind":"video","phase":"zero","layers":["100 kb/s","100 kb/s","100 kb/s"]}"#),
        config(r#"{"name":"dvrc"}"#),
    );
    let bulk: (TrafficConfig, TransportConfig) = (config(r#"{"kind":"bulk"}"#), config(r#"{"name":"tcp/reno"}"#));
    let flows = std::iter::once(video).chain(std::iter::repeat_n(bulk, reno));
    let mut plan = dumbbell.plan(1, flows.map(|(traffic, transport)| (traffic, transport, Instant::ZERO)).collect());
    plan.record.units = vec![0];
    plan.record.windows = vec![0];
    plan.record.window_interval = Span::from_millis(100);
    Run::new(&plan).execute().expect("a valid plan")
}

#[test]
fn units_that_adaptation_leaves_out_are_neither_sent_nor_lost() {
    let result = run_dvrc(0.03, 2);
    let flow = &result.flows[0];
    assert!(flow.units_skipped > 0);
    let made = flow.units_sent + flow.units_in_flight + flow.units_skipped;
    assert_eq!(made, (30 * 25 + 1) * 3, "the frames of 0 s and of 30 s included");
    assert_eq!(flow.units_lost, flow.units_sent - flow.units_received - flow.units_waiting);
    let skipped = result.units.iter().filter(|unit| unit.fate == "skipped").count() as u64;
    assert_eq!(skipped, flow.units_skipped);
}

#[test]
fn frames_are_decodable_in_all_sent_layers_if_nothing_is_lost() {
    let flow = &run_dvrc(0.0, 0).flows[0];
    assert_eq!(flow.lost + flow.dropped, 0, "the link carries all layers");
    assert_eq!(
        (flow.frames, flow.decodable_ratio.expect("measured")),
        (29 * 25 + 1, 1.0),
        "those shown a second after they are made"
    );
    assert!(
        flow.decodable_layers.expect("measured") > 2.0 && flow.decodable_layers.expect("measured") <= 3.0,
        "{}",
        flow.decodable_layers.expect("measured")
    );
}

#[test]
fn loss_spoils_more_frames_than_it_hits() {
    let flow = &run_dvrc(0.03, 0).flows[0];
    let hit = 1.0 - (1.0_f64 - 0.03).powi(2); // at most two packets in a base layer's mean frame of 500 bytes
    assert!(
        1.0 - flow.decodable_ratio.expect("measured") > hit,
        "{} undecodable",
        1.0 - flow.decodable_ratio.expect("measured")
    );
    assert!(flow.decodable_ratio.expect("measured") > 0.2);
}

/// A video of 300 kb/s that sends all its layers over this transport and a link of 200 kb/s for 30 s.
fn run_too_much(transport: &str, playout_delay: &str) -> RunResult {
    let dumbbell = Dumbbell {
        bottleneck: q("200 kb/s"),
        bottleneck_delay: q("25 ms"),
        access: q("10 Mb/s"),
        queue: QueueConfig::new(Capacity::Packets(10), DropTailConfig {}),
        duration: q("30 s"),
        ..Dumbbell::default()
    };
    let traffic =
        format!(r#"{{"kind":"video","layers":["100 kb/s","100 kb/s","100 kb/s"],"playout-delay":"{playout_delay}"}}"#);
    let flow: (TrafficConfig, TransportConfig) = (config(&traffic), config(transport));
    Run::new(&dumbbell.plan(1, vec![(flow.0, flow.1, Instant::ZERO)])).execute().expect("a valid plan")
}

#[test]
fn a_video_that_waits_in_its_sender_is_late_and_its_wait_is_told() {
    let flow = &run_too_much(r#"{"name":"tfrc"}"#, "1 s").flows[0];
    assert!(flow.sender_wait_max_s.expect("measured") > 5.0, "{} s", flow.sender_wait_max_s.expect("measured"));
    assert!(flow.sender_backlog.expect("measured") > 1e5, "{} B", flow.sender_backlog.expect("measured"));
    // Frames of the last second are not due yet; all others except the first and the lost ones missed their display.
    let due = (29 * 25 + 1) * 3;
    assert!(flow.late_units > due * 8 / 10 && flow.late_units <= due, "{} of {due}", flow.late_units);
    assert!(flow.decodable_ratio.expect("measured") < 0.2, "{}", flow.decodable_ratio.expect("measured"));
    // Each unit has one fate: a waiting unit does not count as lost too.
    assert_eq!(flow.units_sent, flow.units_received + flow.units_lost + flow.units_waiting);
    assert!(flow.units_lost + flow.late_units <= flow.units_sent, "{flow:?}");
    assert!(flow.units_lost <= flow.dropped, "{} lost, {} packets dropped", flow.units_lost, flow.dropped);
}

#[test]
fn a_video_over_tcp_loses_nothing_and_what_waits_is_late() {
    let flow = &run_too_much(r#"{"name":"tcp/reno"}"#, "1 s").flows[0];
    assert_eq!(flow.units_lost, 0);
    assert!(flow.units_waiting > 100 && flow.late_units > flow.units_waiting, "{flow:?}");
}

#[test]
fn frames_shown_before_they_can_arrive_are_late() {
    // The delay of the link is at least 25 ms.
    let flow = &run_too_much(r#"{"name":"udp"}"#, "20 ms").flows[0];
    let late = flow.units_received + flow.units_waiting;
    assert!(flow.units_received > 500 && flow.late_units == late, "{} late", flow.late_units);
    assert_eq!(
        (
            flow.decodable_ratio.expect("measured"),
            flow.sender_wait_max_s.expect("measured"),
            flow.sender_backlog.expect("measured")
        ),
        (0.0, 0.0, 0.0)
    );
    let flow = &run_too_much(r#"{"name":"tcp/reno"}"#, "1 s").flows[0];
    assert!(flow.sender_wait_max_s.is_none() && flow.sender_backlog.is_none(), "TCP does not tell");
}

#[test]
fn a_video_in_time_has_no_late_units_and_hardly_waits() {
    let flow = &run_dvrc(0.0, 0).flows[0];
    assert_eq!(flow.late_units, 0);
    assert!(flow.sender_wait_max_s.expect("measured") <= 0.2, "{} s", flow.sender_wait_max_s.expect("measured"));
}

#[test]
fn frames_that_are_shown_before_the_anchor_behind_them_is_made_show_no_b_frame() {
    let play = |playout_delay: &str| {
        let dumbbell =
            Dumbbell { bottleneck: q("10 Mb/s"), access: q("100 Mb/s"), duration: q("10 s"), ..Dumbbell::default() };
        let traffic = format!(r#"{{"kind":"video","layers":["100 kb/s"],"playout-delay":"{playout_delay}"}}"#);
        Run::new(&dumbbell.plan(1, vec![(config(&traffic), config(r#"{"name":"udp"}"#), Instant::ZERO)]))
            .execute()
            .expect("a valid plan")
    };
    // Of IBBPBBPBBPBB the first B frame waits 80 ms for the anchor behind it, the second 40 ms; 50 ms are for the path.
    let ratio = |delay: &str| play(delay).flows[0].decodable_ratio.expect("measured");
    let (none, half, all) = (ratio("60 ms"), ratio("110 ms"), ratio("200 ms"));
    assert!((none - 4.0 / 12.0).abs() < 0.01 && (half - 8.0 / 12.0).abs() < 0.01, "{none} {half}");
    assert_eq!(all, 1.0);
}

#[test]
fn traffic_other_than_video_has_no_frames() {
    let flow = &run_dvrc(0.0, 1).flows[1];
    assert!(flow.frames == 0 && flow.decodable_ratio.is_none() && flow.decodable_layers.is_none());
}

#[test]
fn with_random_loss_alone_no_loss_is_congestions() {
    let flow = &run_dvrc(0.03, 0).flows[0];
    assert_eq!((flow.dropped, flow.congestion_as_congestion + flow.congestion_as_random), (0, 0));
    let judged = flow.random_as_congestion + flow.random_as_random;
    // All except the losses after the last arrival.
    assert!(judged > 20 && flow.lost - judged <= 2, "{judged} of {}", flow.lost);
}

#[test]
fn with_congestion_alone_no_loss_is_random() {
    let flow = &run_dvrc(0.0, 4).flows[0];
    assert_eq!((flow.lost, flow.random_as_congestion + flow.random_as_random), (0, 0));
    let judged = flow.congestion_as_congestion + flow.congestion_as_random;
    assert!(judged > 20 && judged <= flow.dropped, "{judged} of {}", flow.dropped);
}

#[test]
fn layers_and_the_bound_are_sampled() {
    let result = run_dvrc(0.03, 1);
    for kind in ["layers", "receive_bps", "bound_bps", "rate_bps"] {
        assert!(result.series.iter().any(|row| row.kind == kind && row.value > 0.0), "{kind}");
    }
}
