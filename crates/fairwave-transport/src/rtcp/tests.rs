//! Storyboards: a layered video over UDP with reports.

use proptest::prelude::*;

use super::*;
use fairwave_endpoint::test_path::{PathFate, Wire};
use fairwave_endpoint::{Output, Sender};
use fairwave_media::traffic::{FrameType, LayerRates, Unit};
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_units::random::Seed;
use fairwave_units::units::Instant;

type Pair = Wire<RtcpSender, RtcpReceiver>;

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// Four layers of 1000 bytes per frame each, 25 frames/s, for 120 s, over a round trip of 100 ms.
fn pair(config: &RtcpConfig) -> Pair {
    let layers = LayerRates::new(&[Rate::from_bits_per_second(200_000); 4]).expect("four layers");
    let context = FlowContext { flow: FlowId(0), class: Class::OtherUdp, layers, ..FlowContext::default() };
    let (sender, receiver) = config.endpoints(context, Seed(5).stream("reports")).expect("a valid configuration");
    let mut wire = Wire::new(sender, receiver, Span::from_millis(50));
    wire.units = (0..12_000)
        .map(|id| {
            let created = ms(u64::from(id / 4) * 40);
            Unit { id, payload: 1000, created, layer: (id % 4) as u8, frame_type: FrameType::P }
        })
        .collect();
    wire
}

fn reports(wire: &Pair) -> Vec<(Instant, u8, bool)> {
    let report = |(time, packet): &(Instant, Packet)| match packet.body {
        Body::RtcpReceiverReport { fraction_lost, early, .. } => Some((*time, fraction_lost, early)),
        _ => None,
    };
    wire.feedback.iter().filter_map(report).collect()
}

#[test]
fn without_loss_each_regular_report_adds_a_layer() {
    let mut wire = pair(&RtcpConfig::default());
    wire.run_until(ms(100));
    assert_eq!(wire.sender.view().layers, Some(1));
    wire.run_until(ms(100_000));
    let times: Vec<f64> = reports(&wire).iter().map(|(time, ..)| time.seconds()).collect();
    for (count, time) in times.iter().take(3).enumerate() {
        let before = wire.sent.iter().rev().find(|(t, p)| t.seconds() < time + 0.04 && p.layer as usize == count + 1);
        assert!(before.is_none(), "layer {} before report {count}", count + 2);
    }
    assert_eq!(wire.sender.view().layers, Some(4));
}

#[test]
fn section_6_2_regular_reports_are_some_seconds_apart() {
    let mut wire = pair(&RtcpConfig { early_reports: false, ..RtcpConfig::default() });
    wire.run_until(ms(100_000));
    let times: Vec<f64> = reports(&wire).iter().map(|(time, ..)| time.seconds()).collect();
    assert!(times.len() > 10 && times.windows(2).all(|w| (2.0..6.2).contains(&(w[1] - w[0]))), "{times:?}");
}

#[test]
fn a_loss_is_reported_at_once_but_not_more_often_than_the_spacing() {
    let mut wire = pair(&RtcpConfig::default());
    wire.fate = Box::new(|number, _, _| if number % 10 == 9 { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(60_000));
    let reports = reports(&wire);
    let early: Vec<_> = reports.iter().filter(|(.., early)| *early).collect();
    assert!(early.len() > 30, "{}", early.len());
    for pair in reports.windows(2).filter(|pair| pair[1].2) {
        assert!(pair[1].0 - pair[0].0 >= Span::from_secs(1), "{pair:?}");
    }
}

#[test]
fn early_reports_leave_the_regular_ones_when_they_were() {
    let regular = |early_reports| {
        let mut wire = pair(&RtcpConfig { early_reports, ..RtcpConfig::default() });
        wire.fate = Box::new(|number, _, _| if number % 10 == 9 { PathFate::Lose } else { PathFate::Pass });
        wire.run_until(ms(60_000));
        reports(&wire).iter().filter(|(.., early)| !early).map(|(time, ..)| *time).collect::<Vec<_>>()
    };
    let with = regular(true);
    assert!(with.len() > 10 && with == regular(false), "{with:?}");
}

#[test]
fn a_3_the_fraction_lost_is_of_what_was_expected_since_the_report_before() {
    let mut wire = pair(&RtcpConfig { early_reports: false, add_below: 0.0, ..RtcpConfig::default() });
    wire.fate = Box::new(|number, _, _| if number % 4 == 3 { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(60_000));
    for (_, fraction, _) in reports(&wire) {
        assert!((60..=66).contains(&fraction), "{fraction}/256 instead of a quarter");
    }
}

#[test]
fn loss_above_the_threshold_drops_layers_down_to_the_base() {
    let mut wire = pair(&RtcpConfig { start_layers: 4, ..RtcpConfig::default() });
    wire.fate = Box::new(|number, _, _| if number % 10 == 9 { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(30_000));
    assert_eq!(wire.sender.view().layers, Some(1));
    assert!(wire.skipped > 0);
}

#[test]
fn loss_between_the_thresholds_changes_nothing() {
    let config = RtcpConfig { start_layers: 2, early_reports: false, ..RtcpConfig::default() };
    let mut wire = pair(&config);
    wire.fate = Box::new(|number, _, _| if number % 28 == 27 { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(60_000));
    assert_eq!(wire.sender.view().layers, Some(2));
}

#[test]
fn a_blackout_is_no_reason_to_add_layers() {
    let mut wire = pair(&RtcpConfig { start_layers: 3, ..RtcpConfig::default() });
    wire.fate = Box::new(|_, now, _| if now > ms(1_000) { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(60_000));
    assert!(wire.sender.view().layers < Some(3));
    let silent = reports(&wire).last().expect("reports").0;
    assert!(silent < ms(30_000), "reports about nothing end");
}

#[test]
fn the_round_trip_time_comes_from_sender_reports() {
    let mut wire = pair(&RtcpConfig::default());
    wire.run_until(ms(60_000));
    assert!((wire.sender.view().smoothed_rtt.expect("a round trip") - 0.1).abs() < 1e-9, "{:?}", wire.sender.view());
}

#[test]
fn each_key_out_of_its_range_is_refused_by_name() {
    let config = RtcpConfig::default();
    assert!(config.check().is_ok());
    for (bad, key) in [
        (RtcpConfig { max_payload: Bytes::ZERO, ..config.clone() }, "max-payload"),
        (RtcpConfig { report: Bytes::ZERO, ..config.clone() }, "report"),
        (RtcpConfig { report: Bytes::new(65_536), ..config.clone() }, "report"),
        (RtcpConfig { minimum: Span::ZERO, ..config.clone() }, "minimum"),
        (RtcpConfig { session_bandwidth: Rate::default(), ..config.clone() }, "session-bandwidth"),
        (RtcpConfig { early_spacing: Span::ZERO, ..config.clone() }, "early-spacing"),
        (RtcpConfig { drop_above: 1.1, ..config.clone() }, "drop-above"),
        (RtcpConfig { add_below: -0.1, ..config.clone() }, "add-below"),
        (RtcpConfig { start_layers: 0, ..config.clone() }, "start-layers"),
        (RtcpConfig { start_layers: 9, ..config.clone() }, "start-layers"),
    ] {
        assert_eq!(bad.check().expect_err(key).key, key);
    }
    for good in [
        RtcpConfig { report: Bytes::new(65_535), ..config.clone() },
        RtcpConfig { add_below: 0.05, ..config.clone() },
        RtcpConfig { start_layers: 8, ..config.clone() },
    ] {
        assert!(good.check().is_ok(), "{good:?}");
    }
}

#[test]
fn thresholds_out_of_order_are_refused() {
    let config = RtcpConfig { add_below: 0.2, drop_above: 0.1, ..RtcpConfig::default() };
    assert!(config.check().expect_err("out of order").to_string().contains("add-below"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_the_path_does_layers_stay_in_range_and_nothing_is_delivered_twice(
        seed: u64, loss in 0.0..0.6f64, late in 0.0..0.3f64, twice in 0.0..0.2f64, back in 0.0..0.6f64,
    ) {
        let mut wire = pair(&RtcpConfig::default());
        let mut stream = Seed(seed).stream("path");
        wire.fate = Box::new(move |_, _, _| match stream.uniform() {
            x if x < loss => PathFate::Lose,
            x if x < loss + late => PathFate::Late(Span::from_millis(stream.uniform_below(300))),
            x if x < loss + late + twice => PathFate::Twice,
            _ => PathFate::Pass,
        });
        let mut stream = Seed(seed).stream("back");
        wire.lose_feedback = Box::new(move |_, _| stream.chance(back));
        wire.run_until(ms(30_000));
        prop_assert!((Some(1)..=Some(4)).contains(&wire.sender.view().layers));
        let mut units: Vec<u32> = wire.deliveries.iter().map(|(_, d)| d.unit).collect();
        units.sort_unstable();
        prop_assert!(units.windows(2).all(|w| w[0] != w[1]));
    }

    #[test]
    fn a_report_with_any_content_does_no_harm(fraction_lost: u8, early: bool, lost: u32, highest: u32, sent: u64, delay: u64) {
        let mut wire = pair(&RtcpConfig::default());
        wire.run_until(ms(20_000));
        let body = Body::RtcpReceiverReport {
            fraction_lost, early, lost, highest, jitter: Span::ZERO,
            sender_report: Some(Instant::from_nanos(sent)), delay: Span::from_nanos(delay),
        };
        let packet = Packet { feedback: true, ecn: Ecn::NotEct, body, ..wire.sent[0].1 };
        wire.sender.on_packet(ms(20_000), &packet, &mut Output::default());
        prop_assert!((Some(1)..=Some(4)).contains(&wire.sender.view().layers));
    }
}
