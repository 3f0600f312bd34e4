//! Tests of the sender alone: its packets, its delays, and its checks of feedback.

use proptest::prelude::*;

use super::*;
use fairwave_endpoint::{Output, Sender};
use fairwave_media::traffic::{FrameType, LayerRates, Unit};
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_units::units::{Instant, Rate, Span};

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

fn us(micros: u64) -> Instant {
    Instant::ZERO + Span::from_micros(micros)
}

/// Four layers of 200 kb/s each.
fn context() -> FlowContext {
    let layers = LayerRates::new(&[Rate::from_bits_per_second(200_000); 4]).expect("four layers");
    FlowContext { flow: FlowId(7), class: Class::OtherUdp, layers, ..FlowContext::default() }
}

fn config() -> DvrcConfig {
    DvrcConfig { segment: Bytes::new(1000), ..DvrcConfig::default() }
}

fn started(context: FlowContext) -> DvrcSender {
    let mut sender = DvrcSender::new(context, &config()).expect("a valid configuration");
    sender.on_start(Instant::ZERO, &mut Output::default());
    sender
}

fn unit(id: u32, payload: u32, created: Instant, layer: u8) -> Unit {
    Unit { id, payload, created, layer, frame_type: FrameType::P }
}

fn header(packet: &Packet) -> Data {
    let Body::Opaque { header, .. } = packet.body else { panic!("not DVRC") };
    match Header::decode(&header) {
        Ok(Header::Data(data)) => data,
        other => panic!("not data: {other:?}"),
    }
}

fn answer(sequence: u32, timestamp: u32) -> Control {
    Control { timeout: false, layers: 2, sequence, timestamp, rate: 400_000, lost: 0 }
}

fn receive(sender: &mut DvrcSender, now: Instant, control: Control) -> Vec<Packet> {
    let mut bytes = [0; 32];
    bytes[..CONTROL].copy_from_slice(&control.encode());
    let body = body(bytes, Instant::ZERO);
    let packet = Packet {
        flow: FlowId(7),
        wire: 52,
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

/// Passes units to the sender and runs it alone until `end`. Returns the packets sent, with times.
fn drive(sender: &mut DvrcSender, units: &[Unit], end: Instant) -> Vec<(Instant, Packet)> {
    let (mut sent, mut units) = (Vec::new(), units.iter().peekable());
    loop {
        assert!(sent.len() < 1_000_000, "it sends without end");
        let unit = units.peek().map_or(Instant::NEVER, |unit| unit.created);
        let now = unit.min(sender.deadline());
        if now > end {
            return sent;
        }
        let mut out = Output::default();
        match units.next_if(|unit| unit.created <= now) {
            Some(&unit) => sender.on_unit(now, unit, &mut out),
            None => sender.on_timer(now, &mut out),
        }
        sent.extend(out.packets.into_iter().map(|packet| (now, packet)));
    }
}

#[test]
fn a_data_packet_has_dvrcs_header_below_its_payload_and_names_its_part() {
    let mut sender = started(context());
    let sent = drive(&mut sender, &[unit(9, 1500, ms(3), 0)], ms(100));
    assert_eq!(sent.iter().map(|(_, packet)| packet.wire).collect::<Vec<_>>(), [1060, 560], "28 + 32 B of headers");
    let first = header(&sent[0].1);
    assert_eq!((first.unit, first.part, first.parts, first.length, first.sequence), (9, 0, 2, 1000, 0));
    assert_eq!((first.timestamp, first.round_trip, first.timeout), (3_000, 0, 0), "nothing is known of the path yet");
    let second = header(&sent[1].1);
    assert_eq!((second.part, second.length, second.sequence, second.frame_type), (1, 500, 1, FrameType::P));
    assert_eq!(
        sent[1].1,
        Packet {
            flow: FlowId(7),
            class: Class::OtherUdp,
            dscp: Default::default(),
            feedback: false,
            layer: 0,
            ..sent[1].1
        }
    );
    assert_eq!(sender.view().sent, 2);
}

#[test]
fn packets_tell_the_receiver_the_round_trip_time_and_the_timeout() {
    let mut sender = started(context());
    drive(&mut sender, &[unit(0, 100, ms(0), 0)], ms(0));
    receive(&mut sender, ms(300), answer(0, 0));
    let sent = drive(&mut sender, &[unit(1, 100, ms(400), 0)], ms(400));
    let parameters = header(&sent[0].1);
    assert_eq!((parameters.round_trip, parameters.timeout), (300_000, 900_000), "300 ms and 300 + 4 · 150");
}

#[test]
fn packets_are_paced_at_the_rate_that_was_asked_for() {
    let mut sender = started(context());
    drive(&mut sender, &[unit(0, 100, ms(0), 0)], ms(0));
    receive(&mut sender, ms(50), answer(0, 0));
    // 400 kb/s: a packet of 1000 bytes takes 20 ms, one of 500 bytes 10 ms.
    let sent = drive(&mut sender, &[unit(1, 2500, ms(100), 0), unit(2, 800, ms(100), 1)], ms(1_000));
    assert_eq!(sent.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [100, 120, 140, 150].map(ms));
}

#[test]
fn the_longest_wait_is_held_for_a_frame_that_is_far_larger_than_the_rate_allows() {
    // 30 kB at 200 kb/s would take 1.2 s.
    let mut sender = started(context());
    let sent = drive(&mut sender, &[unit(0, 30_000, ms(10), 0)], ms(2_000));
    assert_eq!(sent.len(), 30);
    let last = sent[29].0;
    assert!(last <= ms(210), "the last packet left after {} ms", (last - ms(10)).millis());
    assert!(last > ms(190), "and the frame was not sent in a burst: {} ms", (last - ms(10)).millis());
    let gaps: Vec<u64> = sent.windows(2).map(|pair| (pair[1].0 - pair[0].0).nanos()).collect();
    assert!(gaps.iter().max() == gaps.iter().min(), "at one pace: {gaps:?}");
    assert!(sender.view().backlog.expect("a backlog").longest <= Span::from_millis(200));
}

#[test]
fn the_longest_wait_is_held_behind_a_packet_that_was_just_sent() {
    // A packet of 1000 bytes at 200 kb/s delays the next by 40 ms; at most 20 ms are allowed.
    let config = DvrcConfig { most_delay: Span::from_millis(20), ..config() };
    let mut sender = DvrcSender::new(context(), &config).expect("valid");
    sender.on_start(Instant::ZERO, &mut Output::default());
    let sent = drive(&mut sender, &[unit(0, 1000, ms(0), 0), unit(1, 10, ms(1), 0)], ms(1_000));
    assert!(sent[1].0 > ms(1) && sent[1].0 <= ms(21), "{:?}", sent[1].0);
}

#[test]
fn once_nothing_waits_the_pace_is_the_rate_again() {
    let mut sender = started(context());
    let units = [unit(0, 30_000, ms(0), 0), unit(1, 2000, ms(1_000), 0)];
    let sent = drive(&mut sender, &units, ms(2_000));
    assert_eq!(sent[31].0 - sent[30].0, Span::from_millis(40), "1000 bytes at 200 kb/s");
}

#[test]
fn layers_above_those_asked_for_are_left_out_and_those_asked_for_are_sent() {
    let mut sender = started(context());
    let mut out = Output::default();
    for layer in 0..4 {
        sender.on_unit(ms(0), unit(u32::from(layer), 100, ms(0), layer), &mut out);
    }
    assert_eq!((out.packets.len(), out.skipped), (1, 3));
    receive(&mut sender, ms(50), answer(0, 0));
    drive(&mut sender, &[], ms(100));
    let mut out = Output::default();
    for layer in 0..4 {
        sender.on_unit(ms(200), unit(4 + u32::from(layer), 100, ms(200), layer), &mut out);
    }
    assert_eq!((sender.view().layers, out.skipped), (Some(2), 2));
}

#[test]
fn what_is_asked_for_is_kept_between_the_base_layer_and_all_layers_with_headroom() {
    for (layers, rate, expected) in [(0, 0, (1, 200_000.0)), (8, u32::MAX, (4, 1_000_000.0))] {
        let mut sender = started(context());
        drive(&mut sender, &[unit(0, 100, ms(0), 0)], ms(0));
        receive(&mut sender, ms(50), Control { layers, rate, ..answer(0, 0) });
        assert_eq!((sender.view().layers, sender.view().rate), (Some(expected.0), Some(expected.1)));
    }
    let plain = FlowContext { layers: LayerRates::default(), ..context() };
    let mut sender = started(plain);
    assert!(sender.view().layers.is_none());
    assert_eq!(sender.view().rate, Some(64_000.0));
    drive(&mut sender, &[unit(0, 100, ms(0), 0)], ms(0));
    receive(&mut sender, ms(50), Control { rate: u32::MAX, ..answer(0, 0) });
    assert_eq!(sender.view().rate, Some(100_000_000.0));
}

#[test]
fn a_control_packet_about_what_was_never_sent_is_refused() {
    let mut sender = started(context());
    sender.start_at_sequence(100);
    drive(&mut sender, &[unit(0, 100, ms(0), 0)], ms(0));
    for sequence in [99, 101] {
        receive(&mut sender, ms(10), answer(sequence, 0));
    }
    assert_eq!((sender.malformed(), sender.view().layers), (2, Some(1)));
    receive(&mut sender, ms(10), answer(100, 0));
    assert_eq!((sender.malformed(), sender.view().layers), (2, Some(2)));
}

#[test]
fn of_two_control_packets_the_one_about_the_newer_packet_counts_and_of_equals_the_later() {
    let mut sender = started(context());
    drive(&mut sender, &[unit(0, 100, ms(0), 0), unit(1, 100, ms(40), 0)], ms(40));
    receive(&mut sender, ms(90), answer(1, 40_000));
    receive(&mut sender, ms(91), Control { layers: 4, ..answer(0, 0) });
    assert_eq!(sender.view().layers, Some(2));
    receive(&mut sender, ms(92), Control { layers: 3, timeout: true, ..answer(1, 40_000) });
    assert_eq!(sender.view().layers, Some(3));
    assert!(
        (sender.view().smoothed_rtt.expect("a round trip") - 0.05).abs() < 1e-9,
        "neither of the last two is a sample"
    );
}

#[test]
fn a_timestamp_from_the_future_is_no_sample() {
    let mut sender = started(context());
    drive(&mut sender, &[unit(0, 100, ms(0), 0)], ms(0));
    receive(&mut sender, us(50), answer(0, 51));
    assert!(sender.view().smoothed_rtt.is_none());
    receive(&mut sender, us(50), answer(0, 50));
    assert_eq!(sender.view().smoothed_rtt, Some(0.0));
}

#[test]
fn the_sender_tells_how_many_packets_the_receiver_misses() {
    let mut sender = started(context());
    drive(&mut sender, &[unit(0, 100, ms(0), 0)], ms(0));
    receive(&mut sender, ms(50), Control { lost: 17, ..answer(0, 0) });
    assert_eq!(sender.view().estimate, Some(fairwave_endpoint::Estimate::MissingPackets(17.0)));
}

#[test]
fn a_silence_begins_with_the_first_packet_after_what_was_heard_and_brings_the_base_layer() {
    let mut sender = started(context());
    drive(&mut sender, &[unit(0, 100, ms(0), 0)], ms(0));
    receive(&mut sender, ms(50), answer(0, 0));
    assert_eq!(sender.deadline(), Instant::NEVER, "an idle flow hears nothing, and that says nothing");
    drive(&mut sender, &[unit(1, 100, ms(1_000), 0), unit(2, 100, ms(1_500), 0)], ms(2_999));
    assert_eq!((sender.view().layers, sender.view().timeouts, sender.deadline()), (Some(2), 0, ms(3_000)));
    drive(&mut sender, &[], ms(3_000));
    assert_eq!((sender.view().layers, sender.view().rate, sender.view().timeouts), (Some(1), Some(200_000.0), 1));
    assert_eq!(sender.deadline(), Instant::NEVER);
}

#[test]
fn a_stopped_sender_forgets_what_waits_and_takes_nothing_in() {
    let mut sender = started(context());
    drive(&mut sender, &[unit(0, 5000, ms(0), 0)], ms(0));
    assert_eq!(sender.view().backlog.expect("a backlog").payload, Bytes::new(4000));
    sender.on_stop(ms(1));
    assert_eq!((sender.deadline(), sender.view().backlog.expect("a backlog").units), (Instant::NEVER, 0));
    let mut out = Output::default();
    sender.on_unit(ms(2), unit(1, 100, ms(2), 0), &mut out);
    sender.on_timer(ms(5_000), &mut out);
    assert!(out.packets.is_empty() && out.skipped == 0);
}

#[test]
fn bulk_data_is_full_packets_numbered_as_they_are_sent() {
    let bulk = FlowContext { bulk: true, layers: LayerRates::default(), ..context() };
    let mut sender = DvrcSender::new(bulk, &config()).expect("valid");
    let mut out = Output::default();
    sender.on_start(ms(0), &mut out);
    sender.on_timer(ms(125), &mut out); // 1000 bytes at 64 kb/s
    assert_eq!(out.packets.iter().map(|packet| header(packet).unit).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(
        header(&out.packets[1]),
        Data { length: 1000, parts: 1, sequence: 1, unit: 1, timestamp: 125_000, ..Data::default() }
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Any units from the application, and any requested rates in between.
    #[test]
    fn no_packet_waits_longer_than_most_delay(
        units in prop::collection::vec((0u64..120, 0u32..40_000), 1..40),
        rates in prop::collection::vec(0u32..2_000_000, 1..40),
        most_delay in 5u64..400,
    ) {
        let config = DvrcConfig { most_delay: Span::from_millis(most_delay), ..config() };
        let mut sender = DvrcSender::new(context(), &config).expect("valid");
        sender.on_start(Instant::ZERO, &mut Output::default());
        let (mut now, mut sent) = (Instant::ZERO, Vec::new());
        for (id, (&(gap, payload), rate)) in units.iter().zip(rates.iter().cycle()).enumerate() {
            let created = now + Span::from_millis(gap);
            sent.extend(drive(&mut sender, &[unit(id as u32, payload, created, 0)], created));
            if let Some(newest) = sender.sequence.checked_sub(1) {
                let answers = receive(&mut sender, created, Control { rate: *rate, ..answer(newest as u32, 0) });
                sent.extend(answers.into_iter().map(|packet| (created, packet)));
            }
            now = created;
        }
        sent.extend(drive(&mut sender, &[], now + Span::from_secs(60)));
        prop_assert_eq!(sender.view().backlog.expect("a backlog").units, 0);
        for (time, packet) in sent {
            let Body::Opaque { created, .. } = packet.body else { panic!("not DVRC") };
            prop_assert!(time - created <= config.most_delay, "{} ms", (time - created).millis());
        }
    }
}

fn started_with(config: DvrcConfig, context: FlowContext) -> DvrcSender {
    let mut sender = DvrcSender::new(context, &DvrcConfig { segment: Bytes::new(1000), ..config }).expect("valid");
    sender.on_start(Instant::ZERO, &mut Output::default());
    sender
}

#[test]
fn the_pace_is_that_of_the_layers_that_are_sent_or_none_where_it_is_asked_for() {
    let times = |pace| {
        let mut sender = started_with(DvrcConfig { pace, ..DvrcConfig::default() }, context());
        drive(&mut sender, &[unit(0, 100, ms(0), 0)], ms(0));
        receive(&mut sender, ms(50), Control { rate: 500_000, ..answer(0, 0) });
        let sent = drive(&mut sender, &[unit(1, 2000, ms(100), 0)], ms(1_000));
        sent.iter().map(|(time, _)| *time).collect::<Vec<_>>()
    };
    assert_eq!(times(Pace::Rate), [100, 116].map(ms), "500 kb/s");
    assert_eq!(times(Pace::Layers), [100, 120].map(ms), "two layers of 200 kb/s");
    assert_eq!(times(Pace::None), [100, 100].map(ms));
}

#[test]
fn allocated_layers_share_r_from_the_next_group_on_and_are_left_as_those_are_that_have_fixed_rates() {
    let config = DvrcConfig { allocation: Allocation::Group, headroom: 0.0, ..DvrcConfig::default() };
    let mut sender = started_with(config, context());
    // The sent sizes of a frame's four layers; `None` for omitted layers.
    let frame = |sender: &mut DvrcSender, number: u32, frame_type| -> Vec<(u8, u16)> {
        let made = ms(u64::from(number) * 1_000);
        let units: Vec<Unit> =
            (0..4).map(|layer| Unit { frame_type, ..unit(number * 4 + u32::from(layer), 800, made, layer) }).collect();
        let sent = drive(sender, &units, made + Span::from_millis(900));
        sent.iter().map(|(_, packet)| (packet.layer, header(packet).length)).collect()
    };
    assert_eq!(
        frame(&mut sender, 0, FrameType::I),
        [(0, 200), (1, 200), (2, 200), (3, 200)],
        "R is the base's, a quarter"
    );
    receive(&mut sender, ms(950), Control { rate: 600_000, ..answer(0, 0) });
    assert_eq!(frame(&mut sender, 1, FrameType::P)[0], (0, 200), "within a group rates stay");
    assert_eq!(frame(&mut sender, 2, FrameType::I), [(0, 600), (1, 600), (2, 600), (3, 600)]);
    receive(&mut sender, ms(2_950), Control { rate: 350_000, ..answer(5, 0) });
    assert_eq!(frame(&mut sender, 3, FrameType::P), [(0, 600), (1, 600)], "of 150 kb/s each R carries two");
}

#[test]
fn of_versions_one_is_sent_and_another_from_the_next_group_on() {
    let rates = [200, 400, 800].map(|k| Rate::from_bits_per_second(k * 1000));
    let layers = LayerRates::versions(&rates).expect("versions");
    let mut sender = started_with(DvrcConfig::default(), FlowContext { layers, ..context() });
    let version = |sender: &mut DvrcSender, number: u32, frame_type| -> Vec<u8> {
        let made = ms(u64::from(number) * 1_000);
        let units: Vec<Unit> =
            (0..3).map(|layer| Unit { frame_type, ..unit(number * 3 + u32::from(layer), 800, made, layer) }).collect();
        drive(sender, &units, made + Span::from_millis(900)).iter().map(|(_, packet)| packet.layer).collect()
    };
    assert_eq!(version(&mut sender, 0, FrameType::I), [0]);
    receive(&mut sender, ms(950), answer(0, 0));
    assert_eq!(version(&mut sender, 1, FrameType::P), [0]);
    assert_eq!(version(&mut sender, 2, FrameType::I), [1]);
}

#[test]
fn layers_that_are_cut_anywhere_fill_the_rate_and_the_base_layer_is_always_whole() {
    let fine =
        DvrcConfig { segment: Bytes::new(1000), allocation: Allocation::Fine, headroom: 0.0, ..DvrcConfig::default() };
    // Four layers of 200 kb/s, and a frame of 800 bytes in each: the part that is sent, and the layers that the
    // sender reports.
    for (rate, sent, layers) in [
        (200_000, vec![800], 1),
        (250_000, vec![800, 200], 2),
        (400_000, vec![800, 800], 2),
        (500_000, vec![800, 800, 400], 3),
        (800_000, vec![800, 800, 800, 800], 4),
    ] {
        let mut sender = started_with(fine.clone(), context());
        drive(&mut sender, &[unit(0, 100, Instant::ZERO, 0)], ms(100));
        receive(&mut sender, ms(100), Control { rate, ..answer(0, 0) });
        let frame: Vec<Unit> = (0..4).map(|layer| unit(1 + u32::from(layer), 800, ms(200), layer)).collect();
        let payloads: Vec<u16> =
            drive(&mut sender, &frame, ms(900)).iter().map(|(_, one)| header(one).length).collect();
        assert_eq!(payloads, sent, "at {rate}");
        assert_eq!(sender.view().layers, Some(layers), "at {rate}");
    }
}
