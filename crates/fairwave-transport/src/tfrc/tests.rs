//! Storyboards: a sender and a receiver over a path, with the behaviour that RFC 5348 requires.

use proptest::prelude::*;

use super::equation::throughput;
use super::*;
use fairwave_endpoint::test_path::{PathFate, Wire};
use fairwave_endpoint::{FlowContext, Sender, SenderView};
use fairwave_media::traffic::{FrameType, Unit};
use fairwave_network::packet::{Body, Class, Ecn, FlowId};
use fairwave_units::random::Seed;
use fairwave_units::units::{Instant, Rate, Span};

fn wire(bulk: bool, config: &TfrcConfig) -> Wire<TfrcSender, TfrcReceiver> {
    let context = FlowContext { flow: FlowId(0), class: Class::OtherUdp, bulk, ..FlowContext::default() };
    let sender = TfrcSender::new(context, config).expect("a valid configuration");
    let receiver = TfrcReceiver::new(context, config).expect("a valid configuration");
    Wire::new(sender, receiver, Span::from_millis(50))
}

fn bulk() -> Wire<TfrcSender, TfrcReceiver> {
    wire(true, &TfrcConfig::default())
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

fn bit_rate(view: SenderView) -> f64 {
    view.rate.expect("a rate")
}

/// Voice: 160 bytes every 20 ms.
fn voice(from: u64, to: u64) -> Vec<Unit> {
    (from / 20..to / 20)
        .map(|i| Unit { id: i as u32, payload: 160, created: ms(i * 20), layer: 0, frame_type: FrameType::None })
        .collect()
}

#[test]
fn section_4_2_it_starts_with_a_packet_and_after_the_first_report_with_the_initial_window_per_round_trip() {
    let mut wire = bulk();
    wire.run_until(ms(99));
    assert_eq!(wire.sent.len(), 1);
    wire.run_until(ms(100));
    // W_init = min(4·1000, max(2·1000, 4380)) = 4000 bytes per 100 ms.
    assert!((bit_rate(wire.sender.view()) - 320_000.0).abs() < 1.0, "{:?}", wire.sender.view());
}

#[test]
fn section_4_3_without_loss_the_rate_doubles_as_soon_as_a_report_shows_that_it_arrives() {
    let mut wire = bulk();
    let mut rates = Vec::new();
    for round in [5, 7, 9, 11] {
        wire.run_until(ms(50 + round * 100));
        rates.push(bit_rate(wire.sender.view()));
    }
    // A report covers data sent in the round trip before the previous one, so a new rate shows after two.
    assert!(rates.windows(2).all(|pair| pair[1] == 2.0 * pair[0]), "{rates:?}");
}

#[test]
fn section_4_3_the_rate_is_never_above_twice_the_receive_rate() {
    let mut wire = bulk();
    wire.bottleneck = Some(Rate::from_bits_per_second(2_000_000));
    wire.buffer = 1000;
    wire.run_until(ms(3_000));
    assert!(bit_rate(wire.sender.view()) <= 2.0 * 2_000_000.0 * 1.05, "{:?}", wire.sender.view());
}

#[test]
fn section_3_1_the_steady_rate_at_a_given_loss_is_the_equations() {
    // Every hundredth packet is lost, so the loss event rate is 1 % while a round trip has fewer than 100 packets.
    let mut wire = bulk();
    wire.fate = Box::new(|number, _, _| if number % 100 == 99 { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(120_000));
    let expected = throughput(Bytes::new(1000), 0.01, Span::from_millis(100), Span::from_millis(400));
    let ratio = wire.goodput(ms(20_000), ms(120_000)) / 0.99 / expected.bits_per_second() as f64;
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

#[test]
fn section_5_2_losses_within_one_round_trip_are_one_event_and_one_early_report() {
    let mut wire = bulk();
    wire.bottleneck = Some(Rate::from_bits_per_second(1_000_000));
    wire.buffer = 10_000;
    let mut from = None;
    wire.fate = Box::new(move |number, now, _| {
        // Four losses spread over 60 ms, from packet 200 on.
        if number == 200 {
            from = Some(now);
        }
        let lost = from.is_some_and(|t| now >= t && now - t < Span::from_millis(60)) && number % 2 == 0;
        if lost { PathFate::Lose } else { PathFate::Pass }
    });
    wire.run_until(ms(20_000));
    assert_eq!(wire.receiver.loss_events(), 1);
}

#[test]
fn section_6_1_a_new_loss_event_is_reported_at_once() {
    let mut wire = bulk();
    wire.bottleneck = Some(Rate::from_bits_per_second(1_000_000));
    wire.fate = Box::new(|number, _, _| if number == 150 { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(5_000));
    let loss_seen = wire.deliveries.iter().position(|(_, d)| d.unit == 153).map(|i| wire.deliveries[i].0);
    let first_with_loss = wire.feedback.iter().find(|(_, p)| match p.body {
        Body::TfrcFeedback { loss_event_rate, .. } => loss_event_rate > 0.0,
        _ => false,
    });
    assert_eq!(first_with_loss.map(|f| f.0), loss_seen);
}

#[test]
fn section_6_2_one_report_per_round_trip() {
    let mut wire = bulk();
    wire.fate = Box::new(|number, _, _| if number == 100 { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(5_000));
    let before = wire.feedback.len();
    wire.run_until(ms(15_000));
    let reports = wire.feedback.len() - before;
    assert!((98..=101).contains(&reports), "{reports} reports in a hundred round trips");
}

#[test]
fn section_6_3_1_the_rate_after_the_first_loss_is_what_had_been_received() {
    let mut wire = bulk();
    wire.bottleneck = Some(Rate::from_bits_per_second(4_128_000)); // 4 Mb/s of payload
    wire.buffer = 25;
    wire.run_until(ms(2_500));
    let rate = bit_rate(wire.sender.view());
    assert!(wire.dropped > 0 && (0.4..=1.2).contains(&(rate / 4e6)), "{rate}");
}

#[test]
fn section_4_4_without_reports_the_rate_halves_at_each_expiry() {
    let mut wire = bulk();
    wire.fate = Box::new(|number, _, _| if number % 100 == 99 { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(20_000));
    wire.lose_feedback = Box::new(|_, _| true);
    wire.run_until(ms(20_100));
    let (steady, expirations) = (bit_rate(wire.sender.view()), wire.sender.view().timeouts);
    wire.run_until(ms(20_600)); // the timer is 4R = 400 ms
    assert_eq!(wire.sender.view().timeouts, expirations + 1);
    let ratio = bit_rate(wire.sender.view()) / steady;
    assert!((0.4..=0.6).contains(&ratio), "{ratio}");
    wire.run_until(ms(21_000));
    let ratio = bit_rate(wire.sender.view()) / steady;
    assert!((0.2..=0.3).contains(&ratio), "{ratio}");
}

#[test]
fn section_4_4_before_the_first_report_the_rate_halves_every_two_seconds_and_more() {
    let mut wire = bulk();
    wire.lose_feedback = Box::new(|_, _| true);
    wire.run_until(ms(2_001));
    assert!((bit_rate(wire.sender.view()) - 4_000.0).abs() < 1.0);
    wire.run_until(ms(6_100)); // then max(4R, 2s/X) = 4 s
    assert!((bit_rate(wire.sender.view()) - 2_000.0).abs() < 1.0);
}

#[test]
fn section_4_3_the_rate_never_falls_below_a_packet_in_64_seconds() {
    let mut wire = bulk();
    wire.lose_feedback = Box::new(|_, _| true);
    wire.run_until(ms(1_000_000));
    assert_eq!(bit_rate(wire.sender.view()), 8.0 * 1000.0 / 64.0);
}

#[test]
fn section_4_3_a_blackout_ends_and_the_rate_comes_back() {
    let mut wire = bulk();
    wire.bottleneck = Some(Rate::from_bits_per_second(1_000_000));
    wire.buffer = 20;
    wire.fate =
        Box::new(|_, now, _| if now >= ms(20_000) && now < ms(22_000) { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(60_000));
    assert!(wire.goodput(ms(50_000), ms(60_000)) > 0.8e6, "{}", wire.goodput(ms(50_000), ms(60_000)));
}

#[test]
fn section_8_2_1_voice_that_needs_little_is_carried_without_delay_once_started() {
    let mut wire = wire(false, &TfrcConfig::default());
    wire.units = voice(0, 20_000);
    wire.run_until(ms(21_000));
    let late = wire.deliveries.iter().filter(|(t, d)| d.created >= ms(2_000) && *t - d.created > Span::from_millis(55));
    assert_eq!(late.count(), 0);
    assert_eq!(wire.deliveries.len(), 1000);
}

#[test]
fn section_4_3_the_rate_of_a_data_limited_sender_is_kept_within_twice_what_was_received() {
    let mut wire = wire(false, &TfrcConfig::default());
    wire.units = voice(0, 20_000);
    wire.run_until(ms(19_900));
    let received = wire.feedback.iter().map(|(_, packet)| match packet.body {
        Body::TfrcFeedback { receive_rate, .. } => receive_rate.bits_per_second(),
        _ => 0,
    });
    assert!(bit_rate(wire.sender.view()) <= 2.0 * received.max().expect("reports") as f64 + 1.0);
}

#[test]
fn section_4_4_an_idle_sender_keeps_the_initial_rate() {
    let mut wire = wire(false, &TfrcConfig::default());
    wire.units = voice(0, 5_000);
    wire.run_until(ms(60_000));
    let initial = 4.0 * 160.0 * 8.0 / 0.1;
    let rate = bit_rate(wire.sender.view());
    assert!(rate >= initial * 0.5 && rate <= 2.0 * initial, "{rate} against {initial}");
}

#[test]
fn section_4_6_packets_are_paced() {
    let mut wire = bulk();
    wire.fate = Box::new(|number, _, _| if number % 100 == 99 { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(30_000));
    let late: Vec<_> = wire.sent.iter().filter(|(t, _)| *t > ms(20_000)).map(|(t, _)| *t).collect();
    let gaps: Vec<f64> = late.windows(2).map(|w| (w[1] - w[0]).seconds()).collect();
    let (least, most) = gaps.iter().fold((f64::MAX, 0.0_f64), |(l, m), &g| (l.min(g), m.max(g)));
    assert!(most / least < 1.5, "gaps from {least} to {most} s");
}

#[test]
fn section_4_5_damping_stretches_the_pace_when_the_round_trip_time_rises() {
    let pace = |oscillation_damping| {
        let mut wire =
            wire(true, &TfrcConfig { oscillation_damping: Some(oscillation_damping), ..TfrcConfig::default() });
        wire.fate = Box::new(|number, now, _| match number % 100 {
            99 => PathFate::Lose,
            _ if now > ms(20_000) => PathFate::Late(Span::from_millis(100)),
            _ => PathFate::Pass,
        });
        wire.run_until(ms(20_350)); // the reports of two round trips have seen 200 ms instead of 100
        let last = wire.sent[wire.sent.len() - 2..].iter().map(|s| s.0).collect::<Vec<_>>();
        (last[1] - last[0]).seconds() * bit_rate(wire.sender.view()) / 8000.0
    };
    assert!((pace(false) - 1.0).abs() < 0.02, "{}", pace(false));
    // √0.2 over a mean that has taken in two such samples: 1/(0.81/√2 + 0.19) = 1.31.
    assert!((1.2..=1.4).contains(&pace(true)), "{}", pace(true));
}

fn like(preset: Preset) -> TfrcConfig {
    TfrcConfig { preset, ..TfrcConfig::default() }
}

#[test]
fn a_preset_damps_as_its_source_does_unless_told_otherwise() {
    let damps = |preset, oscillation_damping| TfrcConfig { oscillation_damping, ..like(preset) }.details().damps;
    assert_eq!((damps(Preset::Rfc, None), damps(Preset::Ns2, None)), (false, true));
    assert_eq!((damps(Preset::Rfc, Some(true)), damps(Preset::Ns2, Some(false))), (true, false));
}

#[test]
fn for_ns2_the_first_packet_that_overtakes_another_tells_of_its_loss() {
    let loss = |preset| {
        let mut wire = wire(true, &like(preset));
        wire.bottleneck = Some(Rate::from_bits_per_second(2_000_000));
        wire.fate =
            Box::new(|number, _, _| if number == 500 { PathFate::Late(Span::from_millis(6)) } else { PathFate::Pass });
        wire.run_until(ms(6_000));
        assert!(wire.sent.len() > 600);
        wire.sender.view().estimate.expect("TFRC has one").value()
    };
    assert_eq!(loss(Preset::Rfc), 0.0, "two packets late are no loss (RFC 5348 §5.1)");
    assert!(loss(Preset::Ns2) > 0.0);
}

#[test]
fn for_ns2_two_silent_round_trips_halve_the_rate() {
    let silent = |preset, millis: u64| {
        let mut wire = wire(true, &like(preset));
        wire.fate = Box::new(|number, _, _| if number % 100 == 99 { PathFate::Lose } else { PathFate::Pass });
        wire.run_until(ms(20_000));
        wire.lose_feedback = Box::new(|_, _| true);
        wire.run_until(ms(20_100));
        let before = wire.sender.view().timeouts;
        wire.run_until(ms(20_100 + millis));
        wire.sender.view().timeouts - before
    };
    assert_eq!((silent(Preset::Ns2, 210), silent(Preset::Rfc, 210)), (1, 0));
}

#[test]
fn for_ns2_the_rate_rises_by_a_packet_per_round_trip_in_each() {
    // Two minutes of 2 % loss end. The equation soon allows far more.
    let rise = |preset| {
        let mut wire = wire(true, &like(preset));
        wire.fate = Box::new(|number, now, _| match number % 50 {
            49 if now < ms(60_000) => PathFate::Lose,
            _ => PathFate::Pass,
        });
        wire.bottleneck = Some(Rate::from_bits_per_second(20_000_000));
        let mut rates = Vec::new();
        for time in (60_000..64_000).step_by(100) {
            wire.run_until(ms(time));
            rates.push(bit_rate(wire.sender.view()));
        }
        rates.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max)
    };
    // A packet of 8000 bits per 100 ms are 80 kb/s; at most two such steps fall between two reports.
    assert!(rise(Preset::Ns2) <= 161_000.0, "{}", rise(Preset::Ns2));
}

#[test]
fn for_ns2_the_round_trip_is_smoothed_over_a_longer_past() {
    let smoothed = |preset| {
        let mut wire = wire(true, &like(preset));
        wire.fate = Box::new(|number, now, _| match number % 100 {
            99 => PathFate::Lose,
            _ if now > ms(20_000) => PathFate::Late(Span::from_millis(100)),
            _ => PathFate::Pass,
        });
        wire.run_until(ms(20_350));
        wire.sender.view().smoothed_rtt.expect("a round trip")
    };
    // A first report of 200 ms after many of 100.
    assert!((smoothed(Preset::Rfc) - 0.110).abs() < 1e-9, "{}", smoothed(Preset::Rfc));
    assert!((smoothed(Preset::Ns2) - 0.105).abs() < 1e-9, "{}", smoothed(Preset::Ns2));
}

#[test]
fn a_sender_is_held_back_by_its_rate_while_it_has_something_to_send_and_by_the_application_else() {
    use fairwave_endpoint::limited::Limit;
    let times = |mut wire: Wire<TfrcSender, TfrcReceiver>| {
        wire.run_until(ms(10_000));
        let limited = wire.sender.view().limited.expect("TFRC is held back by something");
        [Limit::Receiver, Limit::Congestion, Limit::Application].map(|by| limited.time(by, ms(10_000)).seconds())
    };
    let mut busy = bulk();
    busy.bottleneck = Some(Rate::from_bits_per_second(2_000_000));
    assert_eq!(times(busy), [0.0, 10.0, 0.0]);
    let mut calm = wire(false, &TfrcConfig::default());
    calm.units = voice(5_000, 10_000);
    let [receiver, congestion, application] = times(calm);
    assert!(receiver == 0.0 && application > 9.0 && congestion > 0.0, "{congestion} and {application}");
    assert!((congestion + application - 10.0).abs() < 1e-9);
}

#[test]
fn a_sequence_number_that_wraps_is_no_loss() {
    let mut wire = bulk();
    wire.bottleneck = Some(Rate::from_bits_per_second(1_000_000));
    wire.sender.start_at_sequence(u32::MAX - 100);
    wire.run_until(ms(5_000));
    assert_eq!((wire.receiver.loss_events(), wire.deliveries.len() > 200), (0, true));
}

#[test]
fn a_flow_that_goes_on_after_a_pause_starts_from_the_initial_rate_or_what_it_had() {
    let mut wire = bulk();
    wire.bottleneck = Some(Rate::from_bits_per_second(10_000_000));
    wire.run_until(ms(700));
    let before = bit_rate(wire.sender.view());
    wire.sender.on_stop(ms(700));
    wire.run_until(ms(60_000));
    wire.sender.on_start(ms(60_000), &mut fairwave_endpoint::Output::default());
    let after = bit_rate(wire.sender.view());
    assert!(after < before && after >= 320_000.0, "{before} then {after}");
}

#[test]
fn a_flow_that_goes_on_before_its_timer_goes_off_keeps_its_rate() {
    let mut wire = bulk();
    wire.bottleneck = Some(Rate::from_bits_per_second(10_000_000));
    wire.run_until(ms(5000));
    let before = bit_rate(wire.sender.view());
    assert!(before > 1e6, "{before}");
    wire.sender.on_stop(ms(5000));
    wire.sender.on_start(ms(5010), &mut fairwave_endpoint::Output::default());
    assert_eq!(bit_rate(wire.sender.view()), before);
}

#[test]
fn sizes_that_packets_cannot_have_are_refused() {
    let config = TfrcConfig::default();
    assert!(config.check().is_ok());
    assert!(TfrcConfig { feedback: Bytes::new(65_535), ..config.clone() }.check().is_ok());
    assert!(TfrcConfig { feedback: Bytes::new(65_536), ..config.clone() }.check().is_err());
    assert!(TfrcConfig { segment: Some(Bytes::ZERO), ..config.clone() }.check().is_err());
    assert!(TfrcConfig { header: Bytes::new(65_535), ..config }.check().is_err());
}

#[test]
fn a_stopped_sender_is_silent() {
    let mut wire = bulk();
    wire.run_until(ms(2_000));
    wire.sender.on_stop(ms(2_000));
    let sent = wire.sent.len();
    wire.run_until(ms(10_000));
    assert_eq!(wire.sent.len(), sent);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_the_path_does_nothing_is_delivered_twice_and_the_rate_stays_finite(
        seed: u64, loss in 0.0..0.5f64, late in 0.0..0.3f64, twice in 0.0..0.2f64, back in 0.0..0.5f64, is_bulk: bool,
    ) {
        let mut wire = wire(is_bulk, &TfrcConfig::default());
        wire.bottleneck = Some(Rate::from_bits_per_second(500_000));
        wire.buffer = 30;
        wire.units = if is_bulk { Vec::new() } else { voice(0, 8_000) };
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
        let view = wire.sender.view();
        let rate = bit_rate(view);
        prop_assert!(rate.is_finite() && rate > 0.0);
        prop_assert!((0.0..=1.0).contains(&view.estimate.expect("TFRC has one").value()));
        let mut units: Vec<u32> = wire.deliveries.iter().map(|(_, d)| d.unit).collect();
        units.sort_unstable();
        prop_assert!(units.windows(2).all(|w| w[0] != w[1]));
        prop_assert!(wire.deliveries.len() <= wire.sent.len());
    }

    #[test]
    fn a_report_with_any_content_does_no_harm(echo: u64, delay: u64, rate: u64, loss: f64) {
        let mut wire = bulk();
        wire.run_until(ms(500));
        let body = Body::TfrcFeedback {
            echo: Instant::from_nanos(echo),
            delay: Span::from_nanos(delay),
            receive_rate: Rate::from_bits_per_second(rate),
            loss_event_rate: loss,
        };
        let packet = fairwave_network::packet::Packet { feedback: true, ecn: Ecn::NotEct, body, ..wire.feedback[0].1 };
        wire.sender.on_packet(ms(500), &packet, &mut fairwave_endpoint::Output::default());
        let rate = bit_rate(wire.sender.view());
        prop_assert!(rate.is_finite() && rate > 0.0);
    }
}
