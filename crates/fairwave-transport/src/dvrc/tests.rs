//! Storyboards: a video over a path, with the behaviour that paper 002 requires.

use proptest::prelude::*;

use super::wire::{Data, Header};
use super::*;
use fairwave_endpoint::test_path::{PathFate, Wire};
use fairwave_endpoint::{Output, Receiver, Sender};
use fairwave_media::traffic::{FrameType, LayerRates, Unit};
use fairwave_network::packet::{Body, Class, FlowId, Packet};
use fairwave_units::random::Seed;
use fairwave_units::units::{Instant, Rate};

type Pair = Wire<DvrcSender, DvrcReceiver>;

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// Four layers of 200 kb/s each.
fn layers() -> LayerRates {
    LayerRates::new(&[Rate::from_bits_per_second(200_000); 4]).expect("four layers")
}

/// A constant-rate video: 25 frames/s, each layer 1000 bytes per frame, for the given time.
fn video(from: Instant, seconds: u64) -> Vec<Unit> {
    (0..seconds * 25)
        .flat_map(|frame| {
            (0..4).map(move |layer| Unit {
                id: (frame * 4 + layer) as u32,
                payload: 1000,
                created: from + Span::from_millis(40) * frame,
                layer: layer as u8,
                frame_type: FrameType::P,
            })
        })
        .collect()
}

/// A round trip of 100 ms, so one packet per round trip is 80 kb/s.
fn pair(config: &DvrcConfig) -> Pair {
    let context = FlowContext { flow: FlowId(0), class: Class::OtherUdp, layers: layers(), ..FlowContext::default() };
    let sender = DvrcSender::new(context, config).expect("a valid configuration");
    let receiver = DvrcReceiver::new(context, config).expect("a valid configuration");
    let mut wire = Wire::new(sender, receiver, Span::from_millis(50));
    wire.units = video(Instant::ZERO, 120);
    wire
}

fn default_pair() -> Pair {
    pair(&DvrcConfig { segment: Bytes::new(1000), ..DvrcConfig::default() })
}

fn control(packet: &Packet) -> wire::Control {
    let Body::Opaque { header, .. } = packet.body else { panic!("not DVRC: {packet:?}") };
    match Header::decode(&header) {
        Ok(Header::Control(control)) => control,
        other => panic!("not a control packet: {other:?}"),
    }
}

fn random_loss(wire: &mut Pair, rate: f64, seed: u64) {
    let mut stream = Seed(seed).stream("loss");
    wire.fate = Box::new(move |_, _, _| if stream.chance(rate) { PathFate::Lose } else { PathFate::Pass });
}

#[test]
fn section_3_3_transmission_begins_with_the_base_layer() {
    let mut wire = default_pair();
    wire.run_until(ms(99));
    assert!(wire.sent.iter().all(|(_, packet)| packet.layer == 0));
    assert_eq!((wire.sent.len(), wire.skipped), (3, 9), "three frames of four layers");
}

#[test]
fn section_3_1_each_datagram_is_answered_by_a_control_packet_that_echoes_its_timestamp() {
    let mut wire = default_pair();
    wire.run_until(ms(5_000));
    wire.units.clear();
    wire.run_until(ms(5_150));
    assert_eq!(wire.feedback.len(), wire.sent.len());
    for ((_, data), (_, answer)) in wire.sent.iter().zip(&wire.feedback) {
        let Body::Opaque { header, .. } = data.body else { panic!("not DVRC") };
        let Ok(Header::Data(data)) = Header::decode(&header) else { panic!("not data") };
        assert_eq!((control(answer).sequence, control(answer).timestamp), (data.sequence, data.timestamp));
    }
    assert!((wire.sender.view().smoothed_rtt.expect("a round trip") - 0.1).abs() < 1e-6);
}

#[test]
fn eq_11_the_rate_rises_by_a_packet_per_round_trip_and_layers_join_when_it_reaches_them() {
    let mut wire = default_pair();
    // The sender knows the round-trip time after 100 ms. The receiver knows it 50 ms later, within a frame.
    wire.run_until(ms(400));
    let start = wire.receiver.view().rate.expect("a rate");
    for round in 1..=3 {
        wire.run_until(ms(400 + 100 * round));
        let expected = start + 80_000.0 * round as f64;
        assert!((wire.receiver.view().rate.expect("a rate") - expected).abs() < 1.0, "{:?}", wire.receiver.view());
    }
    for (_, packet) in &wire.feedback {
        let control = control(packet);
        assert_eq!(control.layers, layers().carried_by(Rate::from_bits_per_second(u64::from(control.rate))));
    }
    wire.run_until(ms(5_000));
    assert_eq!(wire.sender.view().layers, Some(4));
}

#[test]
fn above_all_layers_the_rate_rises_no_further_than_the_headroom() {
    let mut wire = default_pair();
    wire.run_until(ms(20_000));
    assert_eq!(wire.receiver.view().rate, Some(1.25 * 800_000.0));
}

#[test]
fn section_3_2_random_loss_on_an_idle_path_is_told_from_congestion() {
    let mut wire = default_pair();
    random_loss(&mut wire, 0.03, 1);
    wire.run_until(ms(100_000));
    let random = wire.verdicts.iter().filter(|(_, v)| !v.congestion).count();
    assert!(wire.verdicts.len() > 100, "{}", wire.verdicts.len());
    assert!(random as f64 > 0.7 * wire.verdicts.len() as f64, "{random} of {}", wire.verdicts.len());
}

#[test]
fn section_3_2_a_path_that_suddenly_narrows_is_congestion_and_halves_the_rate() {
    let mut wire = default_pair();
    random_loss(&mut wire, 0.01, 2);
    wire.run_until(ms(60_000));
    let before = wire.receiver.view();
    wire.bottleneck = Some(Rate::from_bits_per_second(200_000));
    wire.buffer = 5;
    wire.fate = Box::new(|_, _, _| PathFate::Pass);
    wire.run_until(ms(63_000));
    let after = wire.receiver.view();
    assert!(after.congestion_events > before.congestion_events, "{before:?} {after:?}");
    assert!(after.rate < before.rate.map(|rate| 0.6 * rate), "{before:?} {after:?}");
    assert!(wire.sender.view().layers < Some(4));
}

#[test]
fn eq_11_it_halves_only_below_the_bound() {
    let mut wire = default_pair();
    wire.bottleneck = Some(Rate::from_bits_per_second(500_000));
    wire.buffer = 10;
    random_loss(&mut wire, 0.02, 3);
    wire.run_until(ms(100_000));
    let events: Vec<_> = wire.verdicts.iter().map(|(_, v)| *v).filter(|v| v.begins_event).collect();
    for v in &events {
        assert_eq!(v.congestion, v.bound.is_some_and(|bound| v.receive_rate < bound), "{v:?}");
    }
    let view = wire.receiver.view();
    assert!(events.len() > 50 && view.congestion_events > 0 && view.random_events > 0, "{view:?}");
}

#[test]
fn verdicts_name_the_packets_that_were_lost() {
    let mut wire = default_pair();
    wire.fate = Box::new(|number, _, _| if matches!(number, 40 | 41 | 77) { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(20_000));
    let named: Vec<_> = wire.verdicts.iter().map(|(_, v)| (v.first, v.packets)).collect();
    assert_eq!(named, [(40, 2), (77, 1)]);
    assert_eq!(wire.receiver.lost(), 3);
}

#[test]
fn losses_within_a_round_trip_lower_the_rate_once() {
    let mut wire = default_pair();
    wire.run_until(ms(10_000));
    let number = wire.sent.len() as u64;
    wire.fate = Box::new(move |n, _, _| if n == number || n == number + 3 { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(10_250));
    let view = wire.receiver.view();
    assert_eq!((wire.verdicts.len(), view.random_events + view.congestion_events), (2, 1));
}

#[test]
fn half_of_all_control_packets_may_be_lost() {
    let mut wire = default_pair();
    let mut stream = Seed(4).stream("control");
    wire.lose_feedback = Box::new(move |_, _| stream.chance(0.5));
    wire.run_until(ms(10_000));
    assert_eq!(wire.sender.view().layers, Some(4));
}

#[test]
fn a_sender_that_hears_nothing_falls_back_to_the_base_layer() {
    let mut wire = default_pair();
    wire.run_until(ms(10_000));
    wire.lose_feedback = Box::new(|_, _| true);
    wire.run_until(ms(11_500));
    assert_eq!(wire.sender.view().layers, Some(4));
    wire.run_until(ms(12_200));
    assert_eq!(wire.sender.view().layers, Some(1));
    wire.lose_feedback = Box::new(|_, _| false);
    wire.run_until(ms(14_000));
    assert_eq!(wire.sender.view().layers, Some(4));
}

#[test]
fn section_3_1_a_silence_longer_than_dto_lowers_the_rate_and_is_told_to_the_sender() {
    let mut wire = default_pair();
    wire.fate =
        Box::new(|_, now, _| if now >= ms(10_000) && now < ms(11_000) { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(10_900));
    let view = wire.receiver.view();
    // DTO is 200 ms (its floor): the first silence ends at about 10.25 s, the second 400 ms later.
    assert_eq!(view.timeouts, 2, "{view:?}");
    assert!(wire.feedback.iter().any(|(_, packet)| control(packet).timeout));
    assert!(wire.sender.view().layers < Some(4));
    assert!(
        (wire.sender.view().smoothed_rtt.expect("a round trip") - 0.1).abs() < 1e-6,
        "a timeout's control packet is no sample"
    );
    wire.run_until(ms(20_000));
    assert_eq!(wire.sender.view().layers, Some(4));
}

#[test]
fn reordering_is_a_loss_unless_the_receiver_waits() {
    let run = |later_arrivals| {
        let mut wire = pair(&DvrcConfig { later_arrivals, ..DvrcConfig::default() });
        wire.fate =
            Box::new(|number, _, _| if number == 100 { PathFate::Late(Span::from_millis(20)) } else { PathFate::Pass });
        wire.run_until(ms(10_000));
        (wire.verdicts.len(), wire.receiver.lost(), wire.deliveries.len() as i64 - wire.sent.len() as i64)
    };
    let (verdicts, lost, _) = run(1);
    assert_eq!((verdicts, lost), (1, 0), "judged at once, found again later");
    assert_eq!(run(3).0, 0);
}

#[test]
fn sequence_numbers_and_timestamps_may_wrap() {
    let mut wire = default_pair();
    wire.sender.start_at_sequence(u64::from(u32::MAX) - 100);
    // Microseconds modulo 2³² wrap 4294.97 s into the run.
    wire.now = ms(4_290_000);
    wire.units = video(wire.now, 30);
    wire.run_until(ms(4_310_000));
    wire.sender.on_stop(wire.now);
    wire.run_until(ms(4_310_100));
    assert!(wire.verdicts.is_empty() && wire.deliveries.len() == wire.sent.len() && wire.sent.len() > 1000);
    assert!((wire.sender.view().smoothed_rtt.expect("a round trip") - 0.1).abs() < 1e-6);
    assert_eq!(wire.sender.view().layers, Some(4));
}

#[test]
fn losses_on_both_sides_of_the_wrap_are_found_and_judged_once_each() {
    let mut wire = default_pair();
    wire.sender.start_at_sequence(u64::from(u32::MAX) - 100);
    wire.fate =
        Box::new(|number, _, _| if matches!(number, 90 | 100..=103 | 150) { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(10_000));
    let named: Vec<_> = wire.verdicts.iter().map(|(_, v)| (v.first as u32, v.packets)).collect();
    assert_eq!(named, [(u32::MAX - 10, 1), (u32::MAX, 4), (49, 1)], "packet 100 bears the last number, 101 number 0");
    assert_eq!(wire.receiver.lost(), 6);
    assert_eq!(wire.deliveries.len() + 6 + in_flight(&wire), wire.sent.len());
}

/// Packets sent within the last 50 ms, which is the delay.
fn in_flight(wire: &Pair) -> usize {
    wire.sent.iter().filter(|(time, _)| *time + Span::from_millis(50) > wire.now).count()
}

#[test]
fn a_control_packet_that_another_overtook_is_ignored() {
    let mut wire = default_pair();
    wire.run_until(ms(5_000));
    let (before, mut out) = (wire.sender.view(), Output::default());
    assert_eq!(before.layers, Some(4));
    let (_, oldest) = wire.feedback[0];
    assert_eq!(control(&oldest).layers, 1);
    wire.sender.on_packet(ms(5_000), &oldest, &mut out);
    let after = wire.sender.view();
    assert_eq!((after.layers, after.rate, after.smoothed_rtt), (before.layers, before.rate, before.smoothed_rtt));
}

#[test]
fn a_datagram_that_arrives_twice_is_one_datagram_and_no_loss() {
    let mut wire = default_pair();
    wire.fate = Box::new(|number, _, _| if number % 7 == 3 { PathFate::Twice } else { PathFate::Pass });
    wire.run_until(ms(10_000));
    assert!(wire.verdicts.is_empty());
    assert_eq!(wire.deliveries.len() + in_flight(&wire), wire.sent.len());
    assert_eq!(wire.receiver.lost(), 0);
}

#[test]
fn a_large_frame_is_paced_but_leaves_within_the_most_delay() {
    let mut wire = default_pair();
    wire.units = vec![Unit { id: 0, payload: 30_000, created: ms(0), layer: 0, frame_type: FrameType::I }];
    wire.run_until(ms(1_000));
    let times: Vec<_> = wire.sent.iter().map(|(time, _)| *time).collect();
    assert_eq!(times.len(), 30);
    assert!(times[29] > ms(150) && times[29] - times[0] <= Span::from_millis(200), "{:?}", times[29]);
    assert!(times.windows(2).all(|w| w[0] < w[1]));
}

#[test]
fn bulk_data_is_sent_at_the_policys_rate() {
    let context = FlowContext { flow: FlowId(0), class: Class::OtherUdp, bulk: true, ..FlowContext::default() };
    let config = DvrcConfig::default();
    let mut wire = Wire::new(
        DvrcSender::new(context, &config).expect("valid"),
        DvrcReceiver::new(context, &config).expect("valid"),
        Span::from_millis(50),
    );
    wire.bottleneck = Some(Rate::from_bits_per_second(1_000_000));
    wire.buffer = 12;
    wire.run_until(ms(60_000));
    let goodput = wire.goodput(ms(10_000), ms(60_000));
    assert!(goodput > 0.8e6 && goodput <= 1e6, "{goodput}");
    assert!(wire.receiver.view().congestion_events > 0);
}

#[test]
fn each_key_out_of_its_range_is_refused_by_name() {
    let config = DvrcConfig::default();
    assert!(config.check().is_ok());
    for (bad, key) in [
        (DvrcConfig { segment: Bytes::ZERO, ..config.clone() }, "segment"),
        (DvrcConfig { segment: Bytes::new(65_535 - 59), ..config.clone() }, "segment"),
        (DvrcConfig { later_arrivals: 9, ..config.clone() }, "later-arrivals"),
        (DvrcConfig { measure_over: Span::ZERO, ..config.clone() }, "measure-over"),
        (DvrcConfig { headroom: f64::INFINITY, ..config.clone() }, "headroom"),
        (DvrcConfig { base_rate: Rate::default(), ..config.clone() }, "base-rate"),
        (DvrcConfig { most_rate: Rate::from_bits_per_second(63_999), ..config.clone() }, "most-rate"),
        (DvrcConfig { most_delay: Span::ZERO, ..config.clone() }, "most-delay"),
        (DvrcConfig { silence: Span::ZERO, ..config.clone() }, "silence"),
        (
            DvrcConfig { timeout: TimeoutConfig { delta: 0.0, ..TimeoutConfig::default() }, ..config.clone() },
            "timeout.delta",
        ),
    ] {
        assert_eq!(bad.check().expect_err(key).key, key);
    }
    for good in [
        DvrcConfig { segment: Bytes::new(65_535 - 60), ..config.clone() },
        DvrcConfig { later_arrivals: 8, ..config.clone() },
        DvrcConfig { headroom: 0.0, ..config.clone() },
        DvrcConfig { most_rate: config.base_rate, ..config.clone() },
    ] {
        assert!(good.check().is_ok(), "{good:?}");
    }
}

#[test]
fn a_configuration_out_of_range_is_refused_with_its_full_key() {
    let mut config = DvrcConfig::default();
    config.aiamd.beta_decrease = 2.0;
    assert!(config.check().expect_err("beta").to_string().contains("aiamd.beta-decrease"));
    assert!(DvrcConfig { later_arrivals: 0, ..DvrcConfig::default() }.check().is_err());
    assert!(DvrcConfig { headroom: -0.1, ..DvrcConfig::default() }.check().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_the_path_does_no_part_is_delivered_twice_and_the_rate_stays_in_range(
        seed: u64, loss in 0.0..0.5f64, late in 0.0..0.3f64, twice in 0.0..0.2f64, back in 0.0..0.5f64, later in 1u8..=8,
    ) {
        let mut wire = pair(&DvrcConfig { later_arrivals: later, ..DvrcConfig::default() });
        wire.bottleneck = Some(Rate::from_bits_per_second(400_000));
        wire.buffer = 20;
        let mut stream = Seed(seed).stream("path");
        wire.fate = Box::new(move |_, _, _| match stream.uniform() {
            x if x < loss => PathFate::Lose,
            x if x < loss + late => PathFate::Late(Span::from_millis(stream.uniform_below(300))),
            x if x < loss + late + twice => PathFate::Twice,
            _ => PathFate::Pass,
        });
        let mut stream = Seed(seed).stream("back");
        wire.lose_feedback = Box::new(move |_, _| stream.chance(back));
        wire.run_until(ms(10_000));
        prop_assert!((200_000.0..=1_000_000.0).contains(&wire.receiver.view().rate.expect("a rate")));
        prop_assert!((200_000.0..=1_000_000.0).contains(&wire.sender.view().rate.expect("a rate")));
        prop_assert!(wire.deliveries.len() <= wire.sent.len());
        let mut units: Vec<u32> = wire.deliveries.iter().map(|(_, d)| d.unit).collect();
        units.sort_unstable();
        prop_assert!(units.windows(2).all(|w| w[0] != w[1]), "each unit here is one packet");
        prop_assert!(wire.receiver.lost() <= wire.sent.len() as u64);
    }

    #[test]
    fn bytes_from_anywhere_do_no_harm(packets in prop::collection::vec((any::<[u8; 32]>(), any::<bool>(), 0u8..4), 0..60)) {
        let mut wire = default_pair();
        wire.run_until(ms(2_000));
        for (mut header, to_sender, kind) in packets {
            header[0] = 0x10 | kind;
            for at in [3, 22, 23] { header[at] = 0; }
            if kind != 0 { for at in [1, 4, 5, 6, 7] { header[at] = 0; } }
            let packet = Packet { body: super::wire::body(header, ms(0)), ..wire.sent[0].1 };
            let mut out = Output::default();
            if to_sender {
                wire.sender.on_packet(ms(2_000), &packet, &mut out);
            } else {
                wire.receiver.on_packet(ms(2_000), &packet, &mut out);
            }
        }
        wire.run_until(ms(3_000));
        prop_assert!((200_000.0..=1_000_000.0).contains(&wire.sender.view().rate.expect("a rate")));
    }
}

#[test]
fn a_packet_that_is_not_dvrcs_is_counted_and_ignored() {
    let mut wire = default_pair();
    wire.run_until(ms(1_000));
    let packet = |header| Packet { body: super::wire::body(header, ms(0)), ..wire.sent[0].1 };
    let (junk, data) = (packet([0xff; 32]), packet(Data { parts: 1, ..Data::default() }.encode()));
    let mut out = Output::default();
    wire.receiver.on_packet(ms(1_000), &junk, &mut out);
    wire.sender.on_packet(ms(1_000), &data, &mut out);
    assert_eq!((wire.receiver.malformed(), wire.sender.malformed()), (1, 1));
    assert!(out.packets.is_empty() && out.deliveries.is_empty());
}
