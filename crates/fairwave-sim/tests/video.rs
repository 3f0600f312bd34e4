//! Layered video through the simulator: what adaptation leaves out is not lost, and judgements meet the truth.

mod support;

use fairwave_core::loss::BernoulliConfig;
use fairwave_core::queue::{Capacity, QueueConfig};
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use fairwave_core::units::{Instant, Span};
use fairwave_sim::{RunResult, run};
use support::{Dumbbell, config, q};

/// One video over DVRC beside two Reno, over 1 Mb/s with 70 ms of round trip and a buffer of its product.
fn run_dvrc(loss: f64, reno: usize) -> RunResult {
    let dumbbell = Dumbbell {
        bottleneck: q("1 Mb/s"),
        bottleneck_delay: q("25 ms"),
        access: q("10 Mb/s"),
        queue: QueueConfig::drop_tail(Capacity::Packets(9)),
        loss: BernoulliConfig { rate: loss }.into(),
        duration: q("30 s"),
        ..Dumbbell::default()
    };
    let video: (TrafficConfig, TransportConfig) =
        (config(r#"{"kind":"video","layers":["100 kb/s","100 kb/s","100 kb/s"]}"#), config(r#"{"name":"dvrc"}"#));
    let bulk: (TrafficConfig, TransportConfig) = (config(r#"{"kind":"bulk"}"#), config(r#"{"name":"tcp/reno"}"#));
    let flows = std::iter::once(video).chain(std::iter::repeat_n(bulk, reno));
    let mut plan = dumbbell.plan(1, flows.map(|(traffic, transport)| (traffic, transport, Instant::ZERO)).collect());
    plan.record.units = vec![0];
    plan.record.windows = vec![0];
    plan.record.window_interval = Span::from_millis(100);
    run(&plan).expect("a valid plan")
}

#[test]
fn units_that_adaptation_leaves_out_are_neither_sent_nor_lost() {
    let result = run_dvrc(0.03, 2);
    let flow = &result.flows[0];
    assert!(flow.units_skipped > 0);
    let made = flow.units_sent + flow.units_in_flight + flow.units_skipped;
    assert_eq!(made, (30 * 25 + 1) * 3, "the frames of 0 s and of 30 s included");
    assert_eq!(flow.units_lost, flow.units_sent - flow.units_received);
    let skipped = result.units.iter().filter(|unit| unit.fate == "skipped").count() as u64;
    assert_eq!(skipped, flow.units_skipped);
}

#[test]
fn without_loss_every_frame_is_decodable_in_the_layers_that_were_sent() {
    let flow = &run_dvrc(0.0, 0).flows[0];
    assert_eq!(flow.lost + flow.dropped, 0, "the link carries all layers");
    assert_eq!((flow.frames, flow.decodable_ratio), (29 * 25 + 1, 1.0), "those shown a second after they are made");
    assert!(flow.decodable_layers > 2.0 && flow.decodable_layers <= 3.0, "{}", flow.decodable_layers);
}

#[test]
fn loss_spoils_more_frames_than_it_hits() {
    let flow = &run_dvrc(0.03, 0).flows[0];
    let hit = 1.0 - (1.0_f64 - 0.03).powi(2); // at most two packets in a base layer's mean frame of 500 bytes
    assert!(1.0 - flow.decodable_ratio > hit, "{} undecodable", 1.0 - flow.decodable_ratio);
    assert!(flow.decodable_ratio > 0.2);
}

#[test]
fn what_is_not_video_has_no_frames() {
    let flow = &run_dvrc(0.0, 1).flows[1];
    assert!(flow.frames == 0 && flow.decodable_ratio.is_nan() && flow.decodable_layers.is_nan());
}

#[test]
fn with_random_loss_alone_no_loss_is_congestions() {
    let flow = &run_dvrc(0.03, 0).flows[0];
    assert_eq!((flow.dropped, flow.congestion_as_congestion + flow.congestion_as_random), (0, 0));
    let judged = flow.random_as_congestion + flow.random_as_random;
    // All but those after which nothing arrived any more.
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
