//! Tests of the receiver alone: its requests, and its verdicts on losses.

use super::Header as Wire;
use super::*;
use fairwave_endpoint::{Output, Receiver};
use fairwave_media::traffic::{FrameType, LayerRates};
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_units::units::Bytes;

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// Four layers of 200 kb/s each.
fn context() -> FlowContext {
    let layers = LayerRates::new(&[Rate::from_bits_per_second(200_000); 4]).expect("four layers");
    FlowContext { flow: FlowId(7), class: Class::OtherUdp, layers, ..FlowContext::default() }
}

fn receiver_with(config: &DvrcConfig) -> DvrcReceiver {
    let config = DvrcConfig { segment: Bytes::new(1000), ..config.clone() };
    DvrcReceiver::new(context(), &config).expect("a valid configuration")
}

fn receiver() -> DvrcReceiver {
    receiver_with(&DvrcConfig::default())
}

/// A packet of 1000 bytes from a sender with 100 ms of round trip and 200 ms of timeout.
fn data(sequence: u32) -> Data {
    Data {
        frame_type: FrameType::P,
        layer: 1,
        length: 1000,
        part: 0,
        parts: 1,
        unit: sequence,
        sequence,
        timestamp: 5_000 + sequence,
        round_trip: 100_000,
        timeout: 200_000,
    }
}

fn arrive(receiver: &mut DvrcReceiver, now: Instant, data: Data) -> Output {
    let body = body(data.encode(), ms(1));
    let packet = Packet {
        flow: FlowId(7),
        wire: 1060,
        class: Class::OtherUdp,
        dscp: Default::default(),
        feedback: false,
        ecn: Ecn::NotEct,
        layer: 1,
        body,
    };
    let mut out = Output::default();
    receiver.on_packet(now, &packet, &mut out);
    out
}

/// Sends a packet every 10 ms (800 kb/s) up to `until`, without the `missing` ones. Calls the receiver's timer
/// when due.
fn stream(receiver: &mut DvrcReceiver, numbers: std::ops::Range<u32>, missing: &[u32]) -> Vec<(Instant, LossVerdict)> {
    let mut verdicts = Vec::new();
    for number in numbers.filter(|number| !missing.contains(number)) {
        let now = ms(10 * u64::from(number));
        verdicts.extend(wake(receiver, now).1);
        verdicts.extend(arrive(receiver, now, data(number)).verdicts().map(|verdict| (now, verdict)));
    }
    verdicts
}

type Timeline<T> = Vec<(Instant, T)>;

/// Calls the receiver's timer at each deadline before `until`. Returns its packets and verdicts, with times.
fn wake(receiver: &mut DvrcReceiver, until: Instant) -> (Timeline<Packet>, Timeline<LossVerdict>) {
    let (mut packets, mut verdicts) = (Vec::new(), Vec::new());
    while receiver.deadline() < until {
        assert!(packets.len() + verdicts.len() < 1_000_000, "it reports without end");
        let (now, mut out) = (receiver.deadline(), Output::default());
        receiver.on_timer(now, &mut out);
        verdicts.extend(out.verdicts().map(|verdict| (now, verdict)));
        packets.extend(out.packets.into_iter().map(|packet| (now, packet)));
    }
    (packets, verdicts)
}

fn control(packet: &Packet) -> Control {
    let Body::Opaque { header, .. } = packet.body else { panic!("not DVRC") };
    match Wire::decode(&header) {
        Ok(Wire::Control(control)) => control,
        other => panic!("not a control packet: {other:?}"),
    }
}

#[test]
fn an_answer_is_24_bytes_above_ip_and_udp_and_asks_for_what_the_rate_carries() {
    let mut receiver = receiver();
    let out = arrive(&mut receiver, ms(0), data(3));
    let answer = out.packets[0];
    assert_eq!((answer.wire, answer.feedback, answer.flow, answer.class), (52, true, FlowId(7), Class::OtherUdp));
    let expected = Control { timeout: false, layers: 1, sequence: 3, timestamp: 5_003, rate: 200_000, lost: 0 };
    assert_eq!(control(&answer), expected);
    let Delivery { unit, payload, created, layer, complete } = out.deliveries[0];
    assert_eq!((unit, payload, created, layer, complete), (3, 1000, ms(1), 1, true));
}

#[test]
fn a_unit_is_complete_with_the_last_of_its_parts() {
    let mut receiver = receiver();
    let part = |sequence, part| Data { unit: 5, part, parts: 2, ..data(sequence) };
    assert!(!arrive(&mut receiver, ms(0), part(0, 0)).deliveries[0].complete);
    assert!(arrive(&mut receiver, ms(1), part(1, 1)).deliveries[0].complete);
}

#[test]
fn the_rate_rises_by_one_packet_at_the_end_of_each_round_trip_in_which_something_arrived() {
    let mut receiver = receiver();
    arrive(&mut receiver, ms(0), data(0));
    assert_eq!(receiver.deadline(), ms(100));
    arrive(&mut receiver, ms(50), data(1));
    wake(&mut receiver, ms(101));
    assert_eq!(receiver.view().rate, Some(280_000.0), "1000 bytes per 100 ms more");
    assert_eq!(receiver.deadline(), ms(200), "the next round trip ends before the silence does");
    wake(&mut receiver, ms(201));
    assert_eq!(receiver.view().rate, Some(280_000.0), "nothing arrived in the second");
    arrive(&mut receiver, ms(220), data(2));
    assert_eq!(receiver.deadline(), ms(320), "a round trip begins with the first arrival after such a one");
}

#[test]
fn layers_follow_the_rate_down_to_the_base_and_flows_without_layers_have_none() {
    let mut receiver = receiver();
    stream(&mut receiver, 0..60, &[]);
    assert_eq!((receiver.view().rate, receiver.view().layers), (Some(600_000.0), Some(3)), "200 + 5 · 80 kb/s");
    let plain = FlowContext { layers: LayerRates::default(), ..context() };
    let mut receiver = DvrcReceiver::new(plain, &DvrcConfig::default()).expect("valid");
    let out = arrive(&mut receiver, ms(0), data(0));
    assert_eq!(control(&out.packets[0]).layers, 0);
    assert!(receiver.view().layers.is_none());
}

#[test]
fn the_receiving_rate_is_over_150_ms_or_a_round_trip_or_of_a_young_flow_since_its_first_packet() {
    let mut receiver = receiver();
    arrive(&mut receiver, ms(0), data(0));
    assert_eq!(receiver.view().receive_rate, Some(213_333.0), "at least over a quarter of 150 ms");
    arrive(&mut receiver, ms(100), data(1));
    assert_eq!(
        receiver.view().receive_rate,
        Some(80_000.0),
        "in the 100 ms since the first packet, its own moment left out"
    );
    stream(&mut receiver, 11..60, &[]);
    assert_eq!(receiver.view().receive_rate, Some(800_000.0));
    let mut slow = receiver_with(&DvrcConfig::default());
    for number in 0..100 {
        let far = Data { round_trip: 300_000, timeout: 900_000, ..data(number) };
        arrive(&mut slow, ms(10 * u64::from(number)), far);
    }
    arrive(&mut slow, ms(1_190), Data { round_trip: 300_000, ..data(100) });
    // The 300 ms before 1190 ms contain the packets of 900 to 990 ms, and this one.
    assert_eq!(slow.view().receive_rate, Some(293_333.0));
}

#[test]
fn a_loss_event_is_judged_by_the_rates_at_those_before_and_lowers_the_rate_by_a_packet_or_by_half() {
    let mut receiver = receiver();
    // 800 kb/s without the missing packets: 14 of 15 packets in 150 ms.
    let verdicts = stream(&mut receiver, 0..400, &[100, 200, 300]);
    let seen: Vec<_> =
        verdicts.iter().map(|(time, v)| (*time, v.first, v.packets, v.congestion, v.begins_event)).collect();
    assert_eq!(
        seen,
        [(ms(1_010), 100, 1, false, true), (ms(2_010), 200, 1, false, true), (ms(3_010), 300, 1, false, true)]
    );
    assert!(verdicts[0].1.bound.is_none(), "no history");
    let rate = 14.0 * 8_000.0 / 0.15;
    assert!((verdicts[1].1.receive_rate - rate).abs() < 1.0, "{:?}", verdicts[1]);
    assert!(
        (verdicts[1].1.bound.expect("a bound") - rate * 0.25).abs() < 2.0,
        "mean less 1.5 times half of it: {:?}",
        verdicts[1]
    );
    assert_eq!((receiver.view().random_events, receiver.view().congestion_events), (3, 0));
    let before = receiver.view().rate.expect("a rate");
    // Then a packet every 100 ms, one of them missing: far below the bound.
    for number in [400, 402] {
        let now = ms(4_000 + 100 * (number - 400));
        wake(&mut receiver, now);
        arrive(&mut receiver, now, data(number as u32));
    }
    assert_eq!((receiver.view().random_events, receiver.view().congestion_events), (3, 1));
    let after = receiver.view().rate.expect("a rate");
    assert!(after <= 0.5 * before + 80_000.0, "{after} after {before}");
}

#[test]
fn losses_less_than_a_round_trip_after_an_events_begin_belong_to_it_and_spoil_the_next_round_trip() {
    let mut receiver = receiver();
    stream(&mut receiver, 0..100, &[]);
    let reached = 1_000_000.0; // all layers and the headroom
    let verdicts = stream(&mut receiver, 100..112, &[100, 105]);
    assert_eq!(verdicts.iter().map(|(_, v)| v.begins_event).collect::<Vec<_>>(), [true, false]);
    assert_eq!(receiver.view().rate, Some(reached - 80_000.0));
    // The round trip that began with the event, at 1010 ms, contains the second loss, so no packet is added at its
    // end.
    stream(&mut receiver, 112..122, &[]);
    assert_eq!(receiver.view().rate, Some(reached - 80_000.0));
    stream(&mut receiver, 122..132, &[]);
    assert_eq!(receiver.view().rate, Some(reached), "the one after it was without loss");
    let verdicts = stream(&mut receiver, 132..160, &[132, 142]);
    assert_eq!(verdicts.iter().map(|(_, v)| v.begins_event).collect::<Vec<_>>(), [true, true], "a round trip apart");
}

#[test]
fn section_3_1_nothing_for_the_timeout_is_congestion_and_told_at_twice_the_distance_each_time() {
    let mut receiver = receiver();
    stream(&mut receiver, 0..100, &[]);
    let (packets, verdicts) = wake(&mut receiver, ms(3_000));
    // The last packet came at 990 ms; the timeout is 200 ms.
    let times: Vec<Instant> = packets.iter().map(|(time, _)| *time).collect();
    assert_eq!(times, [1_190, 1_590, 2_390].map(ms));
    for (_, packet) in &packets {
        let told = control(packet);
        assert!(told.timeout && told.sequence == 99 && told.timestamp == 5_099, "{told:?}");
    }
    assert_eq!(control(&packets[0].1).rate, 500_000, "half of what it had reached, 1 Mb/s");
    assert!(verdicts.iter().all(|(_, v)| v.congestion && v.packets == 0 && v.first == 100 && v.receive_rate == 0.0));
    assert_eq!((receiver.view().timeouts, receiver.view().congestion_events), (3, 3));
    wake(&mut receiver, Instant::NEVER);
    assert_eq!(
        (receiver.view().timeouts, receiver.deadline()),
        (10, Instant::NEVER),
        "then the flow is taken to have ended"
    );
}

#[test]
fn a_silence_is_congestion_even_where_the_rate_is_measured_over_longer_than_the_timeout() {
    let mut receiver = receiver_with(&DvrcConfig { measure_over: Span::from_secs(2), ..DvrcConfig::default() });
    stream(&mut receiver, 0..100, &[]);
    wake(&mut receiver, ms(1_200));
    assert_eq!((receiver.view().congestion_events, receiver.view().random_events), (1, 0));
}

#[test]
fn packets_lost_in_a_blackout_are_the_timeouts_congestion_and_those_lost_later_are_judged_anew() {
    for later_arrivals in [1, 3] {
        let mut receiver = receiver_with(&DvrcConfig { later_arrivals, ..DvrcConfig::default() });
        // A loss of each kind first, to make a history.
        stream(&mut receiver, 0..100, &[50, 70]);
        // Nothing from 1 s to 3 s. Then the stream continues, and one more packet is lost.
        let missing: Vec<u32> = (100..300).chain([350]).collect();
        let verdicts = stream(&mut receiver, 100..400, &missing);
        let blackout = verdicts.iter().find(|(_, v)| v.packets == 200).expect("a verdict on the 200 packets").1;
        assert_eq!((blackout.first, blackout.congestion, blackout.begins_event), (100, true, false));
        let after = verdicts.last().expect("a verdict on packet 350").1;
        assert_eq!((after.first, after.packets, after.congestion, after.begins_event), (350, 1, false, true));
        assert_eq!(receiver.lost(), 203);
    }
}

#[test]
fn the_end_of_a_silence_is_a_new_start_for_the_timeout() {
    let mut receiver = receiver();
    stream(&mut receiver, 0..10, &[]);
    wake(&mut receiver, ms(800));
    assert_eq!(receiver.view().timeouts, 2, "at 290 and 690 ms");
    arrive(&mut receiver, ms(800), data(10));
    let (packets, _) = wake(&mut receiver, ms(1_401));
    assert_eq!(packets.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [ms(1_000), ms(1_400)]);
}

#[test]
fn a_sender_that_knows_no_timeout_is_waited_for_without_end() {
    let mut receiver = receiver();
    arrive(&mut receiver, ms(0), Data { round_trip: 0, timeout: 0, ..data(0) });
    assert_eq!(receiver.deadline(), Instant::NEVER);
    assert_eq!(receiver.view().rate, Some(200_000.0));
}

#[test]
fn a_late_packet_is_missing_no_more_and_tells_nothing_of_the_path() {
    let mut receiver = receiver();
    stream(&mut receiver, 0..20, &[10]);
    assert_eq!(receiver.lost(), 1);
    let answer = arrive(&mut receiver, ms(200), Data { round_trip: 900_000, timeout: 900_000, ..data(10) }).packets[0];
    assert_eq!((control(&answer).lost, control(&answer).sequence), (0, 10));
    assert_eq!(receiver.deadline(), ms(210).min(receiver.deadline()));
    wake(&mut receiver, ms(401));
    assert_eq!(receiver.view().timeouts, 1, "the newest packet's 200 ms still hold");
    assert!(arrive(&mut receiver, ms(410), data(10)).packets.is_empty(), "a duplicate is no datagram");
}

#[test]
fn a_packet_from_before_the_first_one_is_delivered_and_no_less_is_missing() {
    let mut receiver = receiver();
    arrive(&mut receiver, ms(0), data(5));
    assert_eq!(arrive(&mut receiver, ms(1), data(3)).deliveries.len(), 1);
    assert_eq!(receiver.lost(), 0);
}

#[test]
fn what_is_not_dvrcs_data_is_counted_and_nothing_else() {
    let mut receiver = receiver();
    let body = body([0; 32], ms(0));
    let packet = Packet {
        flow: FlowId(7),
        wire: 60,
        class: Class::OtherUdp,
        dscp: Default::default(),
        feedback: false,
        ecn: Ecn::NotEct,
        layer: 0,
        body,
    };
    let mut out = Output::default();
    receiver.on_packet(ms(0), &packet, &mut out);
    assert_eq!((receiver.malformed(), out.packets.len(), receiver.deadline()), (1, 0, Instant::NEVER));
    assert!(!receiver.is_reactive());
}

#[test]
fn section_3_1_by_every_gap_each_loss_is_judged_and_lowers_the_rate() {
    let mut receiver = receiver_with(&DvrcConfig { reaction: Reaction::Gap, ..DvrcConfig::default() });
    stream(&mut receiver, 0..100, &[]);
    let verdicts = stream(&mut receiver, 100..112, &[100, 105]);
    assert_eq!(verdicts.iter().map(|(_, v)| v.begins_event).collect::<Vec<_>>(), [true, true]);
    assert_eq!(receiver.view().rate, Some(1_000_000.0 - 2.0 * 80_000.0), "a packet per round trip for each");
    assert_eq!(receiver.view().random_events, 2);
}

#[test]
fn by_packets_the_rate_rises_with_each_behind_which_nothing_is_missing_by_its_share_of_a_round_trip() {
    let mut receiver = receiver_with(&DvrcConfig { rise: Rise::Packet, ..DvrcConfig::default() });
    arrive(&mut receiver, ms(0), data(0));
    // 200 kb/s send 2.5 packets in 100 ms.
    assert_eq!(receiver.view().rate, Some(232_000.0));
    let before = receiver.view().rate;
    wake(&mut receiver, ms(150));
    assert_eq!(receiver.view().rate, before, "the end of a round trip adds nothing");
    arrive(&mut receiver, ms(160), data(2));
    assert_eq!(
        receiver.view().rate,
        Some(200_000.0),
        "a gap: a packet per round trip less, but no less than the base layer"
    );
}

#[test]
fn by_epochs_a_loss_is_judged_by_what_arrived_since_the_one_before() {
    let config = DvrcConfig { measure: Measured::Epoch, ..DvrcConfig::default() };
    let verdicts = stream(&mut receiver_with(&config), 0..400, &[100, 300]);
    let rates: Vec<f64> = verdicts.iter().map(|(_, v)| v.receive_rate).collect();
    // 101 packets from 0 to 1010 ms, 199 from there to 3010 ms.
    assert_eq!(rates, [800_000.0, 796_000.0]);
}

#[test]
fn alpha_as_a_rate_is_the_same_on_every_path() {
    let aiamd = crate::dvrc::AiamdConfig { unit: crate::dvrc::StepUnit::Rate, ..crate::dvrc::AiamdConfig::default() };
    let mut receiver = receiver_with(&DvrcConfig { aiamd, ..DvrcConfig::default() });
    arrive(&mut receiver, ms(0), data(0));
    wake(&mut receiver, ms(101));
    assert_eq!(receiver.view().rate, Some(208_000.0));
}

#[test]
fn a_receiver_that_reports_by_round_trips_answers_once_in_each_and_at_loss_events() {
    let config = DvrcConfig { answers: Answers::RoundTrip, ..DvrcConfig::default() };
    let mut receiver = receiver_with(&config);
    let mut answered = Vec::new();
    for number in (0..50).filter(|&number| number != 33) {
        let now = ms(10 * u64::from(number));
        wake(&mut receiver, now);
        if !arrive(&mut receiver, now, data(number)).packets.is_empty() {
            answered.push(number);
        }
    }
    // The round trip is 100 ms. Packet 34 reveals that 33 is lost.
    assert_eq!(answered, [0, 10, 20, 30, 34, 44]);
}
