//! Tests of the sender alone: its reports, and its reactions to the receiver's reports.

use super::*;
use fairwave_media::traffic::{FrameType, LayerRates};
use fairwave_network::packet::{Class, Ecn, FlowId};
use fairwave_units::random::Seed;
use fairwave_units::units::Rate;

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// Three layers of 200 kb/s; the sender begins with `start` of them.
fn sender(start: u8) -> RtcpSender {
    let layers = LayerRates::new(&[Rate::from_bits_per_second(200_000); 3]).expect("three layers");
    let context = FlowContext { flow: FlowId(4), class: Class::OtherUdp, layers, ..FlowContext::default() };
    let config = RtcpConfig { start_layers: start, ..RtcpConfig::default() };
    let mut sender = RtcpSender::new(context, &config, Seed(2).stream("reports")).expect("a valid configuration");
    sender.on_start(ms(0), &mut Output::default());
    sender
}

fn hand_over(sender: &mut RtcpSender, layer: u8, payload: u32) -> Output {
    let mut out = Output::default();
    sender.on_unit(ms(0), Unit { id: 0, payload, created: ms(0), layer, frame_type: FrameType::P }, &mut out);
    out
}

fn report(lost: u8, early: bool, highest: u32) -> Body {
    let (jitter, delay) = (Span::ZERO, Span::ZERO);
    Body::RtcpReceiverReport { fraction_lost: lost, early, lost: 0, highest, jitter, sender_report: None, delay }
}

fn receive(sender: &mut RtcpSender, now: Instant, body: Body) {
    let packet = Packet {
        flow: FlowId(4),
        wire: 80,
        class: Class::OtherUdp,
        dscp: Default::default(),
        feedback: true,
        ecn: Ecn::NotEct,
        layer: 0,
        body,
    };
    sender.on_packet(now, &packet, &mut Output::default());
}

#[test]
fn section_6_4_1_a_sender_report_counts_datagrams_and_their_payload() {
    let mut sender = sender(3);
    hand_over(&mut sender, 0, 2500);
    hand_over(&mut sender, 2, 300);
    let (due, mut out) = (sender.deadline(), Output::default());
    sender.on_timer(Instant::from_nanos(due.nanos() - 1), &mut out);
    assert!(out.packets.is_empty(), "not before it is due");
    sender.on_timer(due, &mut out);
    let packet = out.packets[0];
    assert_eq!(packet.body, Body::RtcpSenderReport { sent: due, packets: 4, octets: 2800 });
    assert_eq!((packet.wire, packet.feedback, packet.flow), (80, false, FlowId(4)));
    assert!(sender.deadline() > due + Span::from_secs(2) && sender.deadline() < due + Span::from_secs(7));
}

#[test]
fn layers_above_those_that_are_sent_are_left_out() {
    let mut sender = sender(2);
    let skipped: Vec<u32> = (0..3).map(|layer| hand_over(&mut sender, layer, 100).skipped).collect();
    assert_eq!((skipped, sender.view().layers, sender.view().sent), (vec![0, 0, 1], Some(2), 2));
    assert_eq!(sender.view().rate, Some(400_000.0));
    assert_eq!(sender.view().backlog, Some(fairwave_endpoint::Backlog::default()), "nothing waits, as with UDP");
}

#[test]
fn a_layer_is_dropped_above_five_percent_and_added_below_two_by_regular_reports_alone() {
    // In 1/256: 12 is 4.7 %, 13 is 5.1 %, 5 is 1.95 %, 6 is 2.3 %.
    for (lost, early, expected) in
        [(13, false, 1), (13, true, 1), (12, false, 2), (12, true, 2), (6, false, 2), (5, false, 3), (5, true, 2)]
    {
        let mut sender = sender(2);
        receive(&mut sender, ms(100), report(lost, early, 1));
        assert_eq!(sender.view().layers, Some(expected), "{lost}/256, early: {early}");
        assert_eq!(sender.view().estimate, Some(fairwave_endpoint::Estimate::LostShare(f64::from(lost) / 256.0)));
    }
}

#[test]
fn layers_stay_between_the_base_and_all() {
    let mut sender = sender(2);
    (0..5).for_each(|highest| receive(&mut sender, ms(100), report(0, false, highest)));
    assert_eq!(sender.view().layers, Some(3));
    (0..5).for_each(|highest| receive(&mut sender, ms(100), report(255, false, highest)));
    assert_eq!(sender.view().layers, Some(1));
}

#[test]
fn a_regular_report_about_nothing_new_drops_a_layer_if_something_was_sent() {
    let mut sender = sender(3);
    hand_over(&mut sender, 0, 100);
    receive(&mut sender, ms(100), report(10, false, 0));
    receive(&mut sender, ms(200), report(10, false, 0));
    assert_eq!(sender.view().layers, Some(3), "nothing was sent in between");
    hand_over(&mut sender, 0, 100);
    receive(&mut sender, ms(300), report(10, true, 0));
    assert_eq!(sender.view().layers, Some(3), "an early report comes because something arrived");
    hand_over(&mut sender, 0, 100);
    receive(&mut sender, ms(400), report(10, false, 0));
    assert_eq!(sender.view().layers, Some(2));
    hand_over(&mut sender, 0, 100);
    receive(&mut sender, ms(500), report(10, false, 3));
    assert_eq!(sender.view().layers, Some(2));
}

#[test]
fn the_round_trip_time_is_what_has_passed_since_the_sender_report_less_the_receivers_delay() {
    let found = |sent: Option<Instant>, delay: u64| {
        let mut sender = sender(1);
        let body = Body::RtcpReceiverReport {
            fraction_lost: 10,
            early: false,
            lost: 0,
            highest: 0,
            jitter: Span::ZERO,
            sender_report: sent,
            delay: Span::from_millis(delay),
        };
        receive(&mut sender, ms(1_000), body);
        sender.view().smoothed_rtt
    };
    assert!((found(Some(ms(700)), 200).expect("a round trip") - 0.1).abs() < 1e-12);
    assert_eq!(found(Some(ms(700)), 300), Some(0.0));
    assert_eq!(found(Some(ms(1_000)), 0), Some(0.0));
    assert!(found(None, 0).is_none() && found(Some(ms(700)), 301).is_none() && found(Some(ms(1_001)), 0).is_none());
}

#[test]
fn a_stopped_sender_reports_no_more_and_starts_anew() {
    let mut sender = sender(1);
    let due = sender.deadline();
    sender.on_stop(ms(10));
    let mut out = Output::default();
    sender.on_timer(due, &mut out);
    assert!(out.packets.is_empty() && sender.deadline() == Instant::NEVER);
    assert!(hand_over(&mut sender, 0, 100).packets.is_empty());
    sender.on_start(ms(60_000), &mut out);
    assert!(sender.deadline() > ms(60_000) && hand_over(&mut sender, 0, 100).packets.len() == 1);
}

#[test]
fn a_flow_without_layers_is_carried_whole() {
    let context = FlowContext { flow: FlowId(4), ..FlowContext::default() };
    let mut sender = RtcpSender::new(context, &RtcpConfig::default(), Seed(2).stream("reports")).expect("valid");
    sender.on_start(ms(0), &mut Output::default());
    assert_eq!(hand_over(&mut sender, 5, 100).packets.len(), 1);
    receive(&mut sender, ms(100), report(255, false, 0));
    assert!(sender.view().layers.is_none() && sender.view().rate.is_none());
    let many = RtcpConfig { start_layers: 8, ..RtcpConfig::default() };
    assert_eq!(RtcpSender::new(context, &many, Seed(2).stream("r")).expect("valid").layers, 1);
}
