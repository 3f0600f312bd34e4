//! Storyboards: a sender and a receiver over a path, with the behaviour that RAP requires.

use proptest::prelude::*;

use super::sender::RoundTrip;
use super::*;
use fairwave_endpoint::limited::Limit;
use fairwave_endpoint::test_path::{PathFate, Wire};
use fairwave_endpoint::{FlowContext, Output, Receiver, Sender};
use fairwave_media::traffic::{FrameType, Unit};
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_units::units::{Instant, Rate, Span};

fn wire(bulk: bool, config: &RapConfig) -> Wire<RapSender, RapReceiver> {
    let context = FlowContext { flow: FlowId(0), class: Class::OtherUdp, bulk, ..FlowContext::default() };
    let sender = RapSender::new(context, config).expect("a valid configuration");
    let receiver = RapReceiver::new(context, config).expect("a valid configuration");
    Wire::new(sender, receiver, Span::from_millis(50))
}

fn bulk() -> Wire<RapSender, RapReceiver> {
    wire(true, &RapConfig::default())
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// Packets per round trip of 100 ms that the sender allows.
fn per_round_trip(wire: &Wire<RapSender, RapReceiver>) -> f64 {
    wire.sender.view().rate.expect("a rate") / 8000.0 * 0.1
}

fn voice(count: u64) -> Vec<Unit> {
    (0..count)
        .map(|i| Unit { id: i as u32, payload: 160, created: ms(i * 20), layer: 0, frame_type: FrameType::None })
        .collect()
}

#[test]
fn without_loss_the_rate_rises_by_a_packet_per_round_trip_in_each() {
    let mut wire = bulk();
    wire.run_until(ms(99));
    assert_eq!(wire.sent.len(), 1, "one packet until the round trip is known");
    wire.run_until(ms(101));
    assert!((per_round_trip(&wire) - 1.0).abs() < 1e-9, "{}", per_round_trip(&wire));
    for round in 1..=10u32 {
        wire.run_until(ms(101 + 100 * u64::from(round)));
        assert!((per_round_trip(&wire) - f64::from(round + 1)).abs() < 1e-6, "{round}: {}", per_round_trip(&wire));
    }
    let packets = wire.sent.iter().filter(|(at, _)| *at >= ms(1001)).count();
    assert!((9..=11).contains(&packets), "they are spread over the round trip: {packets}");
}

#[test]
fn a_packet_that_three_later_ones_overtake_is_lost_and_halves_the_rate_at_once() {
    let mut wire = bulk();
    wire.fate = Box::new(|number, _, _| if number == 250 { PathFate::Lose } else { PathFate::Pass });
    let (mut most, mut after) = (0.0f64, None);
    for at in 0..4000 {
        wire.run_until(ms(at));
        let view = wire.sender.view();
        if view.fast_retransmits == 0 {
            most = per_round_trip(&wire);
        } else if after.is_none() {
            after = Some(per_round_trip(&wire));
        }
    }
    let after = after.expect("the loss is found");
    assert!((after - most / 2.0).abs() < 0.6, "{most} to {after}");
    assert_eq!((wire.sender.view().fast_retransmits, wire.sender.view().timeouts), (1, 0));
    assert!(per_round_trip(&wire) > after + 1.0, "and rises again");
}

#[test]
fn what_was_under_way_when_a_loss_was_found_belongs_to_its_event() {
    let events = |lost: &'static [u64]| {
        let mut wire = bulk();
        wire.fate = Box::new(move |number, _, _| if lost.contains(&number) { PathFate::Lose } else { PathFate::Pass });
        wire.run_until(ms(2500));
        wire.sender.view().fast_retransmits + wire.sender.view().timeouts
    };
    assert_eq!(events(&[60]), 1);
    assert_eq!(events(&[60, 62, 64]), 1, "a cluster");
    assert_eq!(events(&[60, 90]), 2, "two events");
}

#[test]
fn a_packet_that_two_later_ones_overtake_is_not_lost() {
    // About 22 packets per round trip of 100 ms: two overtake a packet that is 11 ms late, and more than three one
    // that is 30 ms late.
    for (late, events) in [(11, 0), (30, 1)] {
        let mut wire = bulk();
        let late = Span::from_millis(late);
        wire.fate = Box::new(move |number, _, _| if number == 250 { PathFate::Late(late) } else { PathFate::Pass });
        wire.run_until(ms(4000));
        let view = wire.sender.view();
        assert_eq!((view.fast_retransmits, view.timeouts), (events, 0), "{late} late");
    }
}

#[test]
fn lost_acknowledgements_alone_are_no_losses() {
    let mut wire = bulk();
    wire.lose_feedback = Box::new(|number, at| at >= ms(2500) && number % 3 != 0);
    wire.run_until(ms(4000));
    assert_eq!((wire.sender.view().fast_retransmits, wire.sender.view().timeouts), (0, 0));
    assert!(per_round_trip(&wire) > 35.0);
}

#[test]
fn a_silence_is_found_before_a_packet_is_sent_and_lowers_the_rate_each_time() {
    let mut wire = bulk();
    wire.fate = Box::new(|_, at, _| if at >= ms(2000) && at < ms(4000) { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(2000));
    let before = per_round_trip(&wire);
    wire.run_until(ms(4000));
    assert!(wire.sender.view().timeouts >= 3, "{:?}", wire.sender.view());
    assert!(per_round_trip(&wire) < before / 8.0, "{before} to {}", per_round_trip(&wire));
    wire.run_until(ms(8000));
    assert!(per_round_trip(&wire) > 10.0, "and it recovers: {}", per_round_trip(&wire));
}

#[test]
fn what_is_due_when_a_silence_is_found_waits_for_the_longer_gap() {
    let mut wire = bulk();
    wire.fate = Box::new(|_, at, _| if at >= ms(2000) { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(2000));
    let (mut timeouts, mut found) = (0, 0);
    for at in 2001..4000 {
        wire.run_until(ms(at));
        let view = wire.sender.view();
        if view.timeouts > timeouts {
            (timeouts, found) = (view.timeouts, found + 1);
            assert!(wire.sent.iter().all(|(sent, _)| *sent <= ms(at - 1)), "{at} ms: sent at once all the same");
        }
    }
    assert!(found >= 3, "{found}");
}

#[test]
fn it_shows_the_round_trip_what_was_sent_and_what_held_it_back() {
    let mut wire = bulk();
    wire.run_until(ms(1000));
    let view = wire.sender.view();
    assert!((view.smoothed_rtt.expect("a round trip") - 0.1).abs() < 1e-9, "{view:?}");
    assert_eq!(view.sent, wire.sent.len() as u64);
    let held = view.limited.expect("it tells").time(Limit::Congestion, ms(1000));
    assert_eq!(held, Span::from_secs(1), "bulk data always waits for the rate");
}

#[test]
fn its_mean_rate_is_that_of_tcp_at_the_same_loss() {
    // One packet in 150 is lost: √(3/(2p)) = 15 packets per round trip.
    let mut wire = bulk();
    wire.fate = Box::new(|number, _, _| if number % 150 == 149 { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(120_000));
    let packets = wire.sent.iter().filter(|(at, _)| *at >= ms(20_000)).count() as f64 / 1000.0;
    assert!((packets - 15.0).abs() < 1.5, "{packets} per round trip");
}

#[test]
fn alone_on_an_empty_path_it_fills_most_of_it_and_pays_with_what_it_overshoots() {
    let mut wire = bulk();
    (wire.bottleneck, wire.buffer) = (Some(Rate::from_bits_per_second(1_000_000)), 13);
    wire.run_until(ms(60_000));
    let goodput = wire.goodput(ms(20_000), ms(60_000));
    assert!((800_000.0..=960_000.0).contains(&goodput), "{goodput}");
    // RAP is not ACK-clocked: it sends too much from the overflow until the loss is reported.
    let lost = wire.dropped as f64 / wire.sent.len() as f64;
    assert!((0.01..0.08).contains(&lost), "{lost}");
}

#[test]
fn a_rate_that_the_application_does_not_use_does_not_rise() {
    let mut wire = wire(false, &RapConfig::default());
    wire.units = voice(500);
    let allowed = |wire: &Wire<RapSender, RapReceiver>| wire.sender.view().rate.expect("a rate") / (8.0 * 1200.0) * 0.1;
    wire.run_until(ms(3000));
    // 50 units a second are 5 per round trip. The rate rises beyond that until the initial backlog is sent.
    let early = allowed(&wire);
    assert!((5.0..=12.0).contains(&early), "{early}");
    wire.run_until(ms(10_000));
    assert_eq!(allowed(&wire), early);
    wire.run_until(ms(10_100));
    assert_eq!(wire.deliveries.iter().filter(|(_, one)| one.complete).count(), 500);
    assert_eq!(wire.sender.view().backlog.expect("it tells").units, 0);
}

#[test]
fn nothing_is_sent_again_and_long_units_are_cut() {
    let mut wire = wire(false, &RapConfig::default());
    wire.units = vec![Unit { id: 7, payload: 3000, created: ms(0), layer: 0, frame_type: FrameType::None }];
    wire.fate = Box::new(|number, _, _| if number == 1 { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(20_000));
    assert_eq!(wire.sent.iter().map(|(_, packet)| packet.wire).collect::<Vec<_>>(), [1244, 1244, 644]);
    assert!(wire.deliveries.iter().all(|(_, one)| !one.complete), "a part is missing for good");
    wire.sender.on_stop(ms(20_000));
    assert_eq!(wire.sender.deadline(), Instant::NEVER);
}

#[test]
fn an_acknowledgement_names_the_latest_gap_before_it() {
    let mut rx = wire(true, &RapConfig::default()).receiver;
    let mut arrive = |sequence: u32| {
        let body = Body::Datagram { payload: 1000, sequence, unit: sequence, part: 0, parts: 1, created: ms(0) };
        let packet = Packet {
            flow: FlowId(0),
            wire: 1044,
            class: Class::OtherUdp,
            dscp: Default::default(),
            feedback: false,
            ecn: Ecn::NotEct,
            layer: 0,
            body,
        };
        let mut out = Output::default();
        rx.on_packet(ms(0), &packet, &mut out);
        out.packets.first().map(|packet| match packet.body {
            Body::RapAck { current, missing, before } => (current, missing, before),
            _ => panic!("an acknowledgement"),
        })
    };
    assert_eq!(arrive(0), Some((0, None, 0)));
    assert_eq!(arrive(3), Some((3, Some(2), 0)), "1 and 2 are missing");
    assert_eq!(arrive(4), Some((4, Some(2), 0)));
    assert_eq!(arrive(2), Some((2, Some(1), 2)), "a late one speaks for itself");
    assert_eq!(arrive(2), None, "a duplicate is not acknowledged");
    assert_eq!(arrive(6), Some((6, Some(5), 4)));
}

#[test]
fn the_timeout_and_the_means_follow_the_authors_weights() {
    let means = RoundTrip::with_sample(Some(RoundTrip::with_sample(None, 0.1)), 0.2);
    assert!((means.smoothed - 0.15).abs() < 1e-12 && (means.deviation - 0.05).abs() < 1e-12);
    assert!((means.short - 0.19).abs() < 1e-12 && (means.long - 0.101).abs() < 1e-12);
}

#[test]
fn fine_grain_adaptation_stretches_the_gap_while_the_queue_grows() {
    let drops = |fine_grain| {
        let mut wire = wire(true, &RapConfig { fine_grain, ..RapConfig::default() });
        (wire.bottleneck, wire.buffer) = (Some(Rate::from_bits_per_second(1_000_000)), 13);
        wire.run_until(ms(60_000));
        (wire.dropped, wire.goodput(ms(20_000), ms(60_000)))
    };
    let ((coarse, _), (fine, goodput)) = (drops(false), drops(true));
    assert!(fine < coarse && goodput > 700_000.0, "{fine} < {coarse}, {goodput}");
}

#[test]
fn what_is_out_of_range_is_refused() {
    let key = |config: RapConfig| config.check().map_err(|error| error.key);
    let beta = |beta| RapConfig { beta, ..RapConfig::default() };
    assert_eq!((key(beta(0.0)), key(beta(1.0)), key(beta(0.5))), (Err("beta".into()), Err("beta".into()), Ok(())));
    let size = |bytes| RapConfig { acknowledgement: Bytes::new(bytes), ..RapConfig::default() };
    assert_eq!((key(size(0)), key(size(70_000))), (Err("acknowledgement".into()), Err("acknowledgement".into())));
    assert_eq!(key(RapConfig { segment: Some(Bytes::ZERO), ..RapConfig::default() }), Err("segment".into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_the_path_does_every_unit_arrives_at_most_once_and_no_timer_spins(
        fates in prop::collection::vec(0u8..10, 1..60),
        feedback in prop::collection::vec(any::<bool>(), 1..20),
    ) {
        let mut wire = wire(false, &RapConfig::default());
        wire.units = voice(150);
        wire.fate = Box::new(move |number, _, _| match fates[number as usize % fates.len()] {
            0 | 1 => PathFate::Lose,
            2 => PathFate::Late(Span::from_millis(90)),
            3 => PathFate::Twice,
            _ => PathFate::Pass,
        });
        wire.lose_feedback = Box::new(move |number, _| feedback[number as usize % feedback.len()]);
        wire.run_until(ms(10_000));
        let mut units: Vec<u32> = wire.deliveries.iter().map(|(_, one)| one.unit).collect();
        let arrived = units.len();
        units.sort_unstable();
        units.dedup();
        prop_assert_eq!(units.len(), arrived);
        prop_assert!(wire.sent.len() <= 150);
    }
}

#[test]
fn gamma_lowers_the_rate_where_packets_queue_and_nothing_is_lost() {
    let fullest = |gamma| {
        let mut wire = wire(true, &RapConfig { gamma, ..RapConfig::default() });
        wire.bottleneck = Some(Rate::from_bits_per_second(400_000));
        let (mut most, mut cuts, mut before) = (0.0f64, 0, 0.0);
        for at in 0..20_000 {
            wire.run_until(ms(at));
            let now = per_round_trip(&wire);
            most = most.max(now);
            cuts += u32::from(now < 0.99 * before);
            before = now;
        }
        assert_eq!(wire.sender.view().fast_retransmits, 0, "nothing is lost");
        (most, cuts)
    };
    let ((plain, never), (gamma, often)) = (fullest(None), fullest(Some(0.5)));
    assert_eq!(never, 0);
    assert!(often >= 3 && gamma < plain, "{gamma} and {plain}, {often} cuts");
}
