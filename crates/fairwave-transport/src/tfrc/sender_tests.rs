//! Tests of the sender alone with made-up reports, one per rule of RFC 5348 §4.

use super::*;
use crate::tfrc::Preset;
use fairwave_endpoint::Sender;
use fairwave_network::packet::{Class, Ecn, FlowId};
use fairwave_units::units::{Bytes, Rate};

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

fn sender(bulk: bool) -> TfrcSender {
    let context = FlowContext { flow: FlowId(3), class: Class::OtherUdp, bulk, ..FlowContext::default() };
    let config = TfrcConfig { segment: Some(Bytes::new(1000)), ..TfrcConfig::default() };
    let mut sender = TfrcSender::new(context, &config).expect("a valid configuration");
    let mut out = Output::default();
    sender.on_start(Instant::ZERO, &mut out);
    assert_eq!(out.packets.len(), usize::from(bulk));
    sender
}

fn hand_over(sender: &mut TfrcSender, now: Instant, payload: u32) -> Vec<Packet> {
    let mut out = Output::default();
    sender.on_unit(now, Unit { id: 0, payload, created: now, layer: 2, frame_type: FrameType::P }, &mut out);
    out.packets
}

/// A report about data sent at `echo`, held back for `delay`: bytes per second received, and the loss event rate.
fn report(sender: &mut TfrcSender, now: Instant, echo: Instant, delay: u64, received: u64, loss: f64) -> Vec<Packet> {
    let body = Body::TfrcFeedback {
        echo,
        delay: Span::from_millis(delay),
        receive_rate: Rate::from_bits_per_second(8 * received),
        loss_event_rate: loss,
    };
    let packet = Packet {
        flow: FlowId(3),
        wire: 40,
        class: Class::OtherUdp,
        dscp: Default::default(),
        feedback: true,
        ecn: Ecn::NotEct,
        layer: 0,
        body,
    };
    let mut out = Output::default();
    sender.on_packet(now, &packet, &mut out);
    out.packets
}

/// Bytes per second that the sender allows.
fn rate(sender: &TfrcSender) -> f64 {
    sender.view().rate.expect("a rate") / 8.0
}

/// Calls the sender's timer until `end`. Returns the sending times.
fn drive(sender: &mut TfrcSender, end: Instant) -> Vec<Instant> {
    let mut times = Vec::new();
    while sender.deadline() <= end {
        assert!(times.len() < 1_000_000, "it sends without end");
        let (now, mut out) = (sender.deadline(), Output::default());
        sender.on_timer(now, &mut out);
        times.extend(out.packets.iter().map(|_| now));
    }
    times
}

/// A sender of units with a round-trip time of 100 ms that has always been data-limited.
fn data_limited() -> TfrcSender {
    let mut sender = sender(false);
    hand_over(&mut sender, ms(0), 1000);
    report(&mut sender, ms(100), ms(0), 0, 10_000, 0.0);
    sender
}

#[test]
fn a_data_packet_has_its_header_and_says_when_it_was_sent_and_the_round_trip_time() {
    let mut sender = data_limited();
    let packets = hand_over(&mut sender, ms(500), 1500);
    assert_eq!(packets.iter().map(|packet| packet.wire).collect::<Vec<_>>(), [1032, 532]);
    assert_eq!((packets[0].layer, packets[0].feedback, packets[0].flow), (2, false, FlowId(3)));
    let expected = Body::TfrcData {
        payload: 500,
        part: 1,
        parts: 2,
        sequence: 2,
        unit: 0,
        sent: ms(500),
        created: ms(500),
        round_trip: Span::from_millis(100),
    };
    assert_eq!(packets[1].body, expected);
    assert_eq!(sender.view().sent, 3);
}

#[test]
fn section_4_2_the_initial_window_is_four_packets_at_most_4380_bytes_at_least_two_packets() {
    for (payload, window) in [(160, 640.0), (1000, 4000.0), (1460, 4380.0), (3000, 6000.0)] {
        let context = FlowContext { flow: FlowId(3), ..FlowContext::default() };
        let config = TfrcConfig { segment: Some(Bytes::new(9000)), ..TfrcConfig::default() };
        let mut sender = TfrcSender::new(context, &config).expect("valid");
        sender.on_start(ms(0), &mut Output::default());
        hand_over(&mut sender, ms(0), payload);
        report(&mut sender, ms(200), ms(0), 0, 1, 0.0);
        assert!((rate(&sender) - window / 0.2).abs() < 1e-6, "{payload}: {}", rate(&sender));
    }
}

#[test]
fn section_4_3_the_round_trip_time_is_smoothed_by_nine_tenths_and_counts_no_delay_at_the_receiver() {
    let mut sender = data_limited();
    assert!((sender.view().smoothed_rtt.expect("a round trip") - 0.1).abs() < 1e-12);
    hand_over(&mut sender, ms(200), 100);
    report(&mut sender, ms(450), ms(200), 50, 10_000, 0.0);
    assert!((sender.view().smoothed_rtt.expect("a round trip") - (0.9 * 0.1 + 0.1 * 0.2)).abs() < 1e-12);
}

#[test]
fn section_4_3_a_loss_while_limited_by_data_allows_085_of_what_was_received() {
    let mut sender = data_limited();
    hand_over(&mut sender, ms(200), 1000);
    report(&mut sender, ms(300), ms(200), 0, 10_000, 0.0);
    hand_over(&mut sender, ms(400), 1000);
    // At this loss rate the equation would allow far more.
    report(&mut sender, ms(500), ms(400), 0, 10_000, 1e-6);
    assert!((rate(&sender) - 8_500.0).abs() < 1e-6, "{}", rate(&sender));
}

#[test]
fn section_4_3_a_loss_while_limited_by_data_halves_what_was_received_before() {
    let mut sender = data_limited();
    hand_over(&mut sender, ms(200), 1000);
    report(&mut sender, ms(300), ms(200), 0, 30_000, 0.0);
    hand_over(&mut sender, ms(400), 1000);
    report(&mut sender, ms(500), ms(400), 0, 10_000, 1e-6);
    assert!((rate(&sender) - 15_000.0).abs() < 1e-6, "half of 30 kB/s is above 0.85 of 10: {}", rate(&sender));
}

#[test]
fn section_4_3_limited_by_data_without_a_new_loss_twice_the_highest_that_was_received_is_allowed() {
    let mut sender = data_limited();
    hand_over(&mut sender, ms(200), 1000);
    report(&mut sender, ms(300), ms(200), 0, 10_000, 1e-6);
    for (at, received, allowed) in [(400, 30_000, 60_000.0), (600, 10_000, 60_000.0), (800, 40_000, 80_000.0)] {
        hand_over(&mut sender, ms(at), 1000);
        report(&mut sender, ms(at + 100), ms(at), 0, received, 1e-6);
        assert!((rate(&sender) - allowed).abs() < 1e-6, "{at}: {}", rate(&sender));
    }
}

#[test]
fn section_4_3_limited_by_its_rate_a_sender_forgets_what_was_received_two_round_trips_ago() {
    let mut sender = sender(true);
    report(&mut sender, ms(100), ms(0), 0, 10_000, 0.0);
    drive(&mut sender, ms(199));
    for (now, received, allowed) in [(200, 50_000, f64::INFINITY), (301, 20_000, 100_000.0), (390, 20_000, 100_000.0)] {
        report(&mut sender, ms(now), ms(now - 100), 0, received, 1e-6);
        assert!(rate(&sender) <= allowed, "{now}: {}", rate(&sender));
        drive(&mut sender, ms(now));
    }
    report(&mut sender, ms(401), ms(301), 0, 20_000, 1e-6);
    assert!((rate(&sender) - 40_000.0).abs() < 1e-6, "{}", rate(&sender));
}

#[test]
fn section_4_3_without_loss_the_rate_doubles_once_per_round_trip_within_twice_what_was_received() {
    let mut sender = sender(true);
    report(&mut sender, ms(100), ms(0), 0, 10_000, 0.0);
    assert_eq!(rate(&sender), 40_000.0);
    drive(&mut sender, ms(199));
    report(&mut sender, ms(199), ms(99), 0, 1_000_000, 0.0);
    assert_eq!(rate(&sender), 40_000.0, "not yet a round trip since");
    report(&mut sender, ms(200), ms(100), 0, 1_000_000, 0.0);
    assert_eq!(rate(&sender), 80_000.0);
    report(&mut sender, ms(300), ms(200), 0, 55_000, 0.0);
    assert_eq!(rate(&sender), 160_000.0, "the 1 MB/s of the round trip before still count");
    for at in [400, 500, 600] {
        report(&mut sender, ms(at), ms(at - 100), 0, 55_000, 0.0);
    }
    assert_eq!(rate(&sender), 110_000.0);
    for at in [700, 800, 900] {
        report(&mut sender, ms(at), ms(at - 100), 0, 5, 0.0);
    }
    assert_eq!(rate(&sender), 40_000.0, "never below the initial rate");
}

#[test]
fn section_4_3_with_losses_the_rate_is_the_equations() {
    let mut sender = sender(true);
    report(&mut sender, ms(100), ms(0), 0, 1_000_000, 0.04);
    assert!((rate(&sender) - bytes_per_second(1000.0, 0.1, 0.04)).abs() < 1e-6);
    assert_eq!(sender.view().estimate, Some(fairwave_endpoint::Estimate::LossEventRate(0.04)));
}

#[test]
fn a_report_that_was_overtaken_or_cannot_be_is_ignored() {
    let mut sender = data_limited();
    hand_over(&mut sender, ms(200), 1000);
    report(&mut sender, ms(300), ms(200), 0, 10_000, 0.01);
    let before = (rate(&sender), sender.view().smoothed_rtt, sender.deadline());
    report(&mut sender, ms(310), ms(199), 0, 10_000, 0.5); // older
    report(&mut sender, ms(310), ms(311), 0, 10_000, 0.5); // about the future
    report(&mut sender, ms(310), ms(200), 111, 10_000, 0.5); // held back before it was sent
    report(&mut sender, ms(310), ms(200), 0, 10_000, f64::NAN);
    assert_eq!((rate(&sender), sender.view().smoothed_rtt, sender.deadline()), before);
    report(&mut sender, ms(310), ms(200), 110, 10_000, 0.5); // a round trip of nothing is one
    assert_ne!(rate(&sender), before.0);
}

#[test]
fn section_4_4_the_timer_is_four_round_trips_or_two_packets_at_the_rate_if_that_is_longer() {
    let mut quick = sender(true);
    report(&mut quick, ms(100), ms(0), 0, 1_000_000, 0.0);
    assert_eq!(quick.no_feedback, ms(500));
    let mut slow = sender(true);
    report(&mut slow, ms(100), ms(0), 0, 1_000_000, 0.9);
    let rate = rate(&slow);
    assert!((slow.no_feedback - ms(100)).seconds() - 2000.0 / rate < 1e-6 && 2000.0 / rate > 0.4, "{rate}");
    assert!((slow.no_feedback - ms(100)).seconds() > 0.4);
}

#[test]
fn section_4_4_a_silence_after_losses_halves_by_the_equation_or_by_what_was_received() {
    let silence = |received: u64| {
        let mut sender = sender(true);
        report(&mut sender, ms(100), ms(0), 0, received, 0.01);
        drive(&mut sender, ms(199));
        report(&mut sender, ms(200), ms(100), 0, received, 0.01);
        // The first set, {infinity}, is two round trips old by then.
        report(&mut sender, ms(350), ms(200), 0, received, 0.01);
        let equation = sender.equation_rate;
        let due = sender.no_feedback;
        drive(&mut sender, due);
        (rate(&sender), equation, sender.view().timeouts)
    };
    let (after, equation, timeouts) = silence(1_000_000);
    assert_eq!(timeouts, 1);
    assert!((after / (equation / 2.0) - 1.0).abs() < 1e-9, "{after} of {equation}");
    let (after, equation, _) = silence(20_000);
    assert!(equation > 40_000.0 && after == 20_000.0, "limited by twice what was received: {after} of {equation}");
}

#[test]
fn section_4_4_the_silence_of_a_sender_without_data_says_nothing() {
    let mut sender = data_limited();
    drive(&mut sender, ms(60_000));
    assert_eq!((rate(&sender), sender.view().timeouts), (40_000.0, 0), "the initial rate, 4 packets per 100 ms");
}

#[test]
fn section_4_6_credit_for_what_was_not_sent_is_kept_for_one_round_trip() {
    let mut sender = data_limited();
    drive(&mut sender, ms(20_000));
    // 40 kB/s: four packets in a round trip, and the one that is due now.
    let at_once = hand_over(&mut sender, ms(20_000), 40_000).len();
    assert_eq!(at_once, 5);
    let later: Vec<f64> =
        drive(&mut sender, ms(20_090)).iter().map(|time| (*time - ms(20_000)).millis().round()).collect();
    assert_eq!(later, [25.0, 50.0, 75.0]);
}

#[test]
fn section_4_6_a_sender_that_its_rate_held_back_does_not_catch_up_when_it_rises() {
    let mut sender = sender(true);
    // A packet per second until the first report, which comes 100 ms after the first packet.
    let at_once = report(&mut sender, ms(100), ms(0), 0, 10_000, 0.0).len();
    assert_eq!(at_once, 1, "one interval at the new rate has passed, and no more is due");
    assert_eq!(drive(&mut sender, ms(150)), [ms(125), ms(150)]);
}

#[test]
fn section_4_5_damping_paces_by_the_root_of_the_latest_round_trip_time_over_its_mean() {
    let context = FlowContext { flow: FlowId(3), bulk: true, ..FlowContext::default() };
    let config = TfrcConfig { oscillation_damping: Some(true), ..TfrcConfig::default() };
    let mut sender = TfrcSender::new(context, &config).expect("valid");
    sender.on_start(ms(0), &mut Output::default());
    report(&mut sender, ms(100), ms(0), 0, 1_000_000, 0.01);
    assert!((sender.pacing_rate() / sender.rate - 1.0).abs() < 1e-12);
    report(&mut sender, ms(500), ms(100), 0, 1_000_000, 0.01);
    // R_sqmean = 0.9·√0.1 + 0.1·√0.4 = 1.1·√0.1, over √0.4 = 2·√0.1.
    assert!((sender.pacing_rate() / sender.rate - 0.55).abs() < 1e-9, "{}", sender.pacing_rate() / sender.rate);
}

#[test]
fn packets_of_units_carry_1200_bytes_and_of_bulk_data_1000_where_nothing_is_said() {
    let payloads = |config: &TfrcConfig| [false, true].map(|bulk| config.packet(bulk).payload.get());
    let config = TfrcConfig::default();
    assert_eq!(payloads(&config), [1200, 1000]);
    assert_eq!(payloads(&TfrcConfig { segment: Some(Bytes::new(500)), ..config }), [500, 500]);
}

#[test]
fn the_segment_size_is_the_mean_of_what_is_sent() {
    let mut sender = data_limited();
    hand_over(&mut sender, ms(500), 200);
    assert!((sender.segment - (1000.0 - 800.0 / 16.0)).abs() < 1e-12);
}

#[test]
fn what_waits_is_told() {
    let mut sender = sender(false);
    hand_over(&mut sender, ms(0), 2000);
    let backlog = sender.view().backlog.expect("a backlog");
    assert_eq!((backlog.units, backlog.payload, backlog.since), (1, Bytes::new(1000), Some(ms(0))));
    // A packet per second before the first report.
    drive(&mut sender, ms(1_000));
    let backlog = sender.view().backlog.expect("a backlog");
    assert_eq!((backlog.units, backlog.longest), (0, Span::from_secs(1)));
}

#[test]
fn for_ns2_the_first_rate_of_the_equation_is_not_bound_to_that_of_slow_start() {
    let context = FlowContext { flow: FlowId(3), class: Class::OtherUdp, bulk: true, ..FlowContext::default() };
    let config = TfrcConfig { segment: Some(Bytes::new(1000)), preset: Preset::Ns2, ..TfrcConfig::default() };
    let mut sender = TfrcSender::new(context, &config).expect("a valid configuration");
    sender.on_start(Instant::ZERO, &mut Output::default());
    report(&mut sender, ms(100), ms(0), 0, 1_000_000, 0.0);
    let slow_start = rate(&sender);
    // At one loss in a million the equation allows megabytes per second, so the limit is twice the received rate.
    report(&mut sender, ms(200), ms(100), 0, 1_000_000, 1e-6);
    let first = rate(&sender);
    assert!(first > slow_start + 100_000.0, "{slow_start} then {first}");
    // After that, at most a packet of 1000 bytes per round trip of 100 ms in each.
    report(&mut sender, ms(300), ms(200), 0, 4_000_000, 1e-6);
    assert!(rate(&sender) <= first + 20_001.0, "{first} then {}", rate(&sender));
}

#[test]
fn section_4_3_slow_start_doubles_the_rate_at_most_once_in_a_round_trip() {
    let mut sender = sender(true);
    report(&mut sender, ms(100), ms(0), 0, 1_000_000, 0.0);
    let initial = rate(&sender);
    report(&mut sender, ms(210), ms(110), 0, 1_000_000, 0.0);
    assert_eq!(rate(&sender), 2.0 * initial);
    report(&mut sender, ms(260), ms(160), 0, 1_000_000, 0.0);
    assert_eq!(rate(&sender), 2.0 * initial, "50 ms later, within a round trip of 100");
    report(&mut sender, ms(311), ms(211), 0, 1_000_000, 0.0);
    assert_eq!(rate(&sender), 4.0 * initial);
}

fn small() -> TfrcSender {
    let config = TfrcConfig { small_packets: true, ..TfrcConfig::default() };
    let mut sender = TfrcSender::new(FlowContext::default(), &config).expect("a valid configuration");
    sender.on_start(Instant::ZERO, &mut Output::default());
    sender
}

#[test]
fn rfc_4828_the_equation_counts_segments_of_1460_bytes_and_headers_lower_the_rate() {
    let mut sender = small();
    hand_over(&mut sender, Instant::ZERO, 160);
    report(&mut sender, ms(100), Instant::ZERO, 0, 1_000_000, 0.01);
    let expected = bytes_per_second(1460.0, 0.1, 0.01) * 160.0 / 200.0;
    assert!((rate(&sender) / expected - 1.0).abs() < 1e-9, "{} and not {expected}", rate(&sender));
}

#[test]
fn rfc_4828_packets_leave_at_least_10_ms_apart() {
    let mut sender = small();
    hand_over(&mut sender, Instant::ZERO, 160);
    report(&mut sender, ms(100), Instant::ZERO, 0, 1_000_000, 0.0001);
    for _ in 0..5 {
        hand_over(&mut sender, ms(200), 160);
    }
    let times = drive(&mut sender, ms(300));
    assert!(times.len() >= 3 && times.windows(2).all(|pair| pair[1] - pair[0] >= Span::from_millis(10)), "{times:?}");
}
