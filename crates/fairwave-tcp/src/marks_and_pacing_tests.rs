//! Storyboards of current connections: marks, pacing, samples of the delivery rate, time-based recovery.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::control::{Control, Controller, Path, RateSample, Verdict, Window};
use super::storyboards::{TcpWire, bottleneck, bulk, losing, ms, sendings, sequence, undelayed, wire};
use super::*;
use fairwave_endpoint::test_path::{PathFate, Wire};
use fairwave_endpoint::{FlowContext, Sender};
use fairwave_media::traffic::{FrameType, Unit};
use fairwave_network::packet::{Body, Ecn, Packet};
use fairwave_units::random::Seed;
use fairwave_units::units::{Instant, Rate};

fn marked_by(marks: Marks) -> TcpConfig {
    TcpConfig { ecn: Some(marks), ..undelayed() }
}

/// Marks the first transmission of these segments.
fn marking(mut wire: TcpWire, segments: &'static [u32]) -> TcpWire {
    wire.mark = Box::new(move |packet, _| {
        segments.contains(&sequence(packet)) && matches!(packet.body, Body::Segment { retransmission: false, .. })
    });
    wire
}

fn is_echo(packet: &Packet) -> bool {
    matches!(packet.body, Body::Ack { congestion_echo: true, .. })
}

/// The controller calls, in order.
#[derive(Clone, Default)]
struct CallLog(Arc<Mutex<Vec<Event>>>);

#[derive(Clone, Copy, Debug)]
enum Event {
    Ack(Path),
    Other(Path),
    Loss,
    Mark,
    Sample(RateSample),
    Recovered,
}

/// A controller with a constant window and pace. It logs its calls.
struct LoggingController {
    log: CallLog,
    window: f64,
    rate: f64,
}

impl LoggingController {
    fn note(&self, event: Event) {
        self.log.0.lock().expect("a note").push(event);
    }
}

impl Controller for LoggingController {
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        self.note(Event::Ack(*path));
        window.congestion = self.window;
    }
    fn on_other_ack(&mut self, path: &Path, _window: &mut Window) {
        self.note(Event::Other(*path));
    }
    fn on_loss(&mut self, _path: &Path, _window: &mut Window) -> Verdict {
        self.note(Event::Loss);
        Verdict::Congestion
    }
    fn on_mark(&mut self, _path: &Path, _window: &mut Window) {
        self.note(Event::Mark);
    }
    fn on_sample(&mut self, _path: &Path, sample: &RateSample, _window: &mut Window) {
        self.note(Event::Sample(*sample));
    }
    fn on_recovered(&mut self, _path: &Path, _window: &mut Window) {
        self.note(Event::Recovered);
    }
    fn pacing(&self, _path: &Path, _window: &Window) -> f64 {
        self.rate
    }
    fn on_timeout(&mut self, _path: &Path, window: &mut Window) -> Verdict {
        window.congestion = 1.0;
        Verdict::Congestion
    }
}

/// A connection with a logging controller. It keeps `window` segments in flight and sends at most `rate` segments
/// per second.
fn noting(config: &TcpConfig, needs: Needs, window: f64, rate: f64, bulk: bool) -> (TcpWire, CallLog) {
    let log = CallLog::default();
    let control = Control::Own(Box::new(LoggingController { log: log.clone(), window, rate }));
    let parameters = Arc::new(config.parameters_with(needs));
    let context = FlowContext { bulk, ..FlowContext::default() };
    let receiver = TcpReceiver::new(context, &parameters);
    let sender = TcpSender::new(context, parameters, control, Seed(1).stream("tcp"));
    (Wire::new(sender, receiver, Span::from_millis(50)), log)
}

impl CallLog {
    fn all(&self) -> Vec<Event> {
        self.0.lock().expect("a note").clone()
    }

    fn samples(&self) -> Vec<RateSample> {
        let sample = |event| if let Event::Sample(sample) = event { Some(sample) } else { None };
        self.all().into_iter().filter_map(sample).collect()
    }
}

const SACK: Needs = Needs::recovery(Recovery::Sack);

#[test]
fn data_can_be_marked_and_the_syn_acknowledgements_and_what_is_sent_again_cannot() {
    let mut wire = losing(bulk(Flavour::Reno, &marked_by(Marks::Classic)), &[20]);
    wire.run_until(ms(2000));
    for (_, packet) in &wire.sent {
        let Body::Segment { sequence, retransmission, .. } = packet.body else { continue };
        let expected = if sequence == 0 || retransmission { Ecn::NotEct } else { Ecn::Ect0 };
        assert_eq!(packet.ecn, expected, "segment {sequence}");
    }
    assert!(wire.sender.view().retransmitted > 0);
    assert!(wire.feedback.iter().all(|(_, ack)| ack.ecn == Ecn::NotEct));
    for (marks, ecn) in [(Marks::Accurate, Ecn::Ect0), (Marks::Scalable, Ecn::Ect1)] {
        let mut wire = losing(bulk(Flavour::Reno, &marked_by(marks)), &[20]);
        wire.run_until(ms(2000));
        assert!(wire.sent.iter().all(|(_, packet)| sequence(packet) == 0 || packet.ecn == ecn));
    }
}

#[test]
fn a_connection_that_does_not_ask_for_marks_cannot_be_marked() {
    let mut wire = bulk(Flavour::Reno, &TcpConfig::rfc());
    wire.mark = Box::new(|_, _| true);
    wire.run_until(ms(1000));
    assert!(wire.sent.iter().all(|(_, packet)| packet.ecn == Ecn::NotEct));
    assert!(!wire.feedback.iter().any(|(_, ack)| is_echo(ack)));
}

#[test]
fn a_mark_halves_the_window_and_nothing_is_sent_again_whatever_the_recovery() {
    let all = [Flavour::Tahoe, Flavour::Reno, Flavour::Newreno, Flavour::Sack, Flavour::Vegas];
    for (flavour, marks) in all
        .into_iter()
        .flat_map(|flavour| [Marks::Classic, Marks::Accurate, Marks::Scalable].map(move |marks| (flavour, marks)))
    {
        let config = TcpConfig { receiver_window: Some(40), ..marked_by(marks) };
        let mut wire = bulk(flavour, &config);
        wire.run_until(ms(4000));
        let marked = wire.sent.iter().find(|(_, packet)| sequence(packet) == 200).expect("sent").0;
        let mut wire = marking(bulk(flavour, &config), &[200]);
        wire.run_until(marked + Span::from_millis(99));
        let before = wire.sender.view().window.expect("a window").min(40.0);
        wire.run_until(marked + Span::from_millis(101));
        let after = wire.sender.view().window.expect("a window");
        // One half (Vegas: three quarters), plus the growth by later acknowledgements.
        assert!(after < 0.8 * before, "{flavour:?} {marks:?}: {before} to {after}");
        wire.run_until(ms(4000));
        assert_eq!((wire.sender.view().retransmitted, wire.sender.view().timeouts), (0, 0), "{flavour:?} {marks:?}");
        assert!(wire.sender.view().window > Some(after), "and it grows again");
    }
}

#[test]
fn a_marked_window_is_answered_once_and_the_next_one_again() {
    // Every segment of a round trip of 32 is marked, then one in the next.
    for marks in [Marks::Classic, Marks::Accurate] {
        let (mut wire, log) = noting(&marked_by(marks), SACK, 32.0, f64::INFINITY, true);
        wire.mark = Box::new(|packet, _| (100..132).contains(&sequence(packet)) || sequence(packet) == 170);
        wire.run_until(ms(3000));
        let marks_told = log.all().iter().filter(|event| matches!(event, Event::Mark)).count();
        assert_eq!(marks_told, 2, "{marks:?}");
        assert!(!log.all().iter().any(|event| matches!(event, Event::Loss)));
    }
}

#[test]
fn the_echo_stands_until_the_sender_has_told_of_its_answer_and_opens_no_window() {
    let (mut wire, log) = noting(&marked_by(Marks::Classic), SACK, 10.0, f64::INFINITY, true);
    wire.mark = Box::new(|packet, _| sequence(packet) == 50);
    wire.run_until(ms(3000));
    let echoes: Vec<u32> = (wire.feedback.iter())
        .filter(|(_, ack)| is_echo(ack))
        .filter_map(|(_, ack)| if let Body::Ack { next, .. } = ack.body { Some(next) } else { None })
        .collect();
    // Ten are in flight when 50's acknowledgement arrives. The first after them, 60, reports the reduced window.
    assert_eq!(echoes, (51..=60).collect::<Vec<_>>());
    let told_of: Vec<u32> = (wire.sent.iter())
        .filter(|(_, packet)| matches!(packet.body, Body::Segment { window_reduced: true, .. }))
        .map(|(_, packet)| sequence(packet))
        .collect();
    assert_eq!(told_of, [60]);
    let other: Vec<u32> = (log.all().iter())
        .filter_map(|event| if let Event::Other(path) = event { Some(path.unacknowledged) } else { None })
        .collect();
    assert_eq!(other, echoes, "RFC 3168 §6.1.2");
}

#[test]
fn each_marked_segment_is_counted_once_even_if_acknowledgements_are_lost_or_delayed() {
    for (delayed, lose) in [(false, 0.0), (true, 0.0), (false, 0.3), (true, 0.3)] {
        let config = TcpConfig { delayed_ack: Some(delayed), ..marked_by(Marks::Accurate) };
        let (mut wire, log) = noting(&config, SACK, 20.0, f64::INFINITY, true);
        wire.mark = Box::new(|packet, _| sequence(packet) % 7 < 3 && sequence(packet) < 300);
        let mut dice = Seed(4).stream("acks");
        wire.lose_feedback = Box::new(move |_, _| dice.chance(lose));
        wire.run_until(ms(20_000));
        let marked = |event: &Event| match event {
            Event::Ack(path) | Event::Other(path) => path.marked,
            _ => 0,
        };
        let counted: u32 = log.all().iter().map(marked).sum();
        assert_eq!(counted, (1..300).filter(|segment| segment % 7 < 3).count() as u32, "{delayed} {lose}");
    }
}

#[test]
fn a_loss_within_a_window_whose_mark_was_answered_is_repaired_and_not_answered_again() {
    let answers = |needs: Needs, marks| {
        let (mut wire, log) = noting(&marked_by(marks), needs, 32.0, f64::INFINITY, true);
        wire.mark = Box::new(|packet, _| sequence(packet) == 100);
        wire.fate = Box::new(|_, _, packet| match packet.body {
            Body::Segment { sequence: 120, retransmission: false, .. } => PathFate::Lose,
            _ => PathFate::Pass,
        });
        wire.run_until(ms(3000));
        let count = |wanted: fn(&Event) -> bool| log.all().iter().filter(|event| wanted(event)).count();
        let recovered = count(|event| matches!(event, Event::Recovered));
        assert_eq!((recovered, sendings(&wire, 120).len()), (1, 2), "{marks:?} {needs:?}");
        (count(|event| matches!(event, Event::Mark)), count(|event| matches!(event, Event::Loss)))
    };
    assert_eq!(answers(SACK, Marks::Classic), (1, 0));
    assert_eq!(answers(SACK, Marks::Accurate), (1, 0), "a law that knows nothing of marks");
    let knows = Needs { marks: Marks::Scalable, ..SACK };
    assert_eq!(answers(knows, Marks::Scalable), (1, 1), "RFC 8257 §3.5");
    assert_eq!(answers(Needs { recovery: Recovery::Rack, ..SACK }, Marks::Classic), (1, 0));
}

#[test]
fn a_mark_within_a_window_whose_loss_was_answered_is_not_answered() {
    let (mut wire, log) = noting(&marked_by(Marks::Accurate), SACK, 32.0, f64::INFINITY, true);
    wire.mark = Box::new(|packet, _| sequence(packet) == 120);
    wire.fate = Box::new(|_, _, packet| match packet.body {
        Body::Segment { sequence: 100, retransmission: false, .. } => PathFate::Lose,
        _ => PathFate::Pass,
    });
    wire.run_until(ms(3000));
    let events = log.all();
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Loss)).count(), 1);
    assert!(!events.iter().any(|event| matches!(event, Event::Mark)));
}

#[test]
fn with_a_threshold_that_marks_nothing_is_lost_and_the_bottleneck_stays_busy() {
    for (flavour, recovery) in [(Flavour::Newreno, None), (Flavour::Sack, None), (Flavour::Sack, Some(Recovery::Rack))]
    {
        let config = TcpConfig { recovery, initial_threshold: Some(150), ..marked_by(Marks::Classic) };
        let mut wire = bottleneck(flavour, &config, 200);
        wire.mark = Box::new(|_, waiting| waiting >= 120);
        wire.run_until(ms(30_000));
        assert_eq!((wire.dropped, wire.sender.view().retransmitted), (0, 0), "{flavour:?}");
        let goodput = wire.goodput(ms(10_000), ms(30_000));
        assert!(goodput > 0.99 * 10e6 * 1000.0 / 1040.0, "{flavour:?}: {goodput}");
    }
}

/// Gaps between transmissions from `from` on, in microseconds.
fn gaps(wire: &TcpWire, from: Instant) -> Vec<u64> {
    let times: Vec<Instant> = wire.sent.iter().map(|(time, _)| *time).filter(|time| *time >= from).collect();
    times.windows(2).map(|pair| (pair[1] - pair[0]).nanos() / 1000).collect()
}

#[test]
fn a_law_that_paces_has_its_segments_leave_no_faster_than_its_rate() {
    for recovery in [Recovery::Newreno, Recovery::Sack, Recovery::Rack] {
        let needs = Needs { paces: true, ..Needs::recovery(recovery) };
        let (mut wire, _) = noting(&undelayed(), needs, 1000.0, 500.0, true);
        wire.run_until(ms(4000));
        let gaps = gaps(&wire, ms(300));
        assert!(gaps.iter().all(|&gap| gap == 2000), "{recovery:?}: {:?}", &gaps[..9]);
        assert!(gaps.len() >= 1849, "{recovery:?}: and no slower: {}", gaps.len());
    }
}

#[test]
fn what_is_sent_again_is_paced_but_for_the_first_of_a_recovery() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let needs = Needs { paces: true, ..Needs::recovery(recovery) };
        let (wire, _) = noting(&undelayed(), needs, 60.0, 1000.0, true);
        let mut wire = losing(wire, &[300, 301, 302, 303, 304, 305, 306]);
        wire.run_until(ms(4000));
        let again: Vec<Instant> = (wire.sent.iter())
            .filter(|(_, packet)| matches!(packet.body, Body::Segment { retransmission: true, .. }))
            .map(|(time, _)| *time)
            .collect();
        assert!(again.len() >= 7, "{recovery:?}");
        let close = again.windows(2).filter(|pair| (pair[1] - pair[0]) < Span::from_millis(1)).count();
        assert_eq!(close, 0, "{recovery:?}: {again:?}");
    }
}

#[test]
fn a_paced_window_leaves_at_twice_its_rate_in_slow_start() {
    let config = TcpConfig { pacing: Some(true), initial_window: Some(10), ..TcpConfig::rfc() };
    let mut wire = bulk(Flavour::Newreno, &config);
    wire.run_until(ms(199));
    // Ten segments per 100 ms, twice as fast: one per 5 ms.
    assert_eq!(gaps(&wire, ms(100)), [5000; 9]);
}

#[test]
fn a_paced_window_leaves_at_a_fifth_more_than_its_rate_in_congestion_avoidance() {
    let config =
        TcpConfig { pacing: Some(true), initial_threshold: Some(20), receiver_window: Some(20), ..undelayed() };
    let (mut paced, mut clocked) =
        (bulk(Flavour::Newreno, &config), bulk(Flavour::Newreno, &TcpConfig { pacing: None, ..config }));
    for wire in [&mut paced, &mut clocked] {
        wire.run_until(ms(5000));
    }
    let window = paced.sender.view().window.expect("a window");
    let least = 1e6 * 0.1 / (1.2 * window);
    let gaps = gaps(&paced, ms(4000));
    assert!(gaps.iter().all(|&gap| gap as f64 >= 0.9 * least), "{window}: {gaps:?}");
    assert_eq!(paced.deliveries.len() / 50, clocked.deliveries.len() / 50, "without being slower");
}

#[test]
fn a_window_that_has_just_fallen_is_paced_by_what_is_still_out() {
    let config =
        TcpConfig { pacing: Some(true), initial_threshold: Some(20), receiver_window: Some(20), ..TcpConfig::rfc() };
    let mut wire = bulk(Flavour::Newreno, &config);
    wire.run_until(ms(5000));
    let connection = &mut wire.sender.connection;
    let out = connection.max() - connection.una();
    assert!(out > 10, "{out}");
    connection.set_congestion_window(5.0);
    connection.set_threshold(5.0);
    let smoothed = connection.smoothed_rtt().seconds();
    assert!((connection.pace() - 1.2 * f64::from(out) / smoothed).abs() < 1e-9, "{}", connection.pace());
}

#[test]
fn pacing_may_be_switched_off_for_a_law_that_paces() {
    let needs = Needs { paces: true, ..SACK };
    let config = TcpConfig { pacing: Some(false), ..TcpConfig::rfc() };
    let (mut wire, _) = noting(&config, needs, 100.0, 500.0, true);
    wire.run_until(ms(1000));
    assert!(gaps(&wire, ms(300)).contains(&0));
}

#[test]
fn every_law_that_paces_says_so() {
    for &flavour in Flavour::ALL {
        let control = flavour.control(&TcpConfig::rfc());
        let path = Path { rtt: Span::from_millis(100), min_rtt: Span::from_millis(100), ..Path::new(1000) };
        let rate = control.pacing(&path, &Window { congestion: 10.0, threshold: 5.0 });
        assert!(flavour.needs().paces || rate.is_infinite(), "{flavour:?} has a rate and no `PACES`");
    }
}

#[test]
fn a_sample_measures_the_rate_of_a_bottleneck_within_a_hundredth() {
    for recovery in [Recovery::Newreno, Recovery::Sack, Recovery::Rack] {
        let needs = Needs { samples: true, ..Needs::recovery(recovery) };
        for megabits in [1u64, 10, 100] {
            let rate = megabits as f64 * 1e6 / (8.0 * 1040.0);
            // One and a half times the path's capacity, without a loss.
            let (mut wire, log) = noting(&undelayed(), needs, 1.5 * (rate * 0.1 + 2.0), f64::INFINITY, true);
            wire.bottleneck = Some(Rate::from_bits_per_second(megabits * 1_000_000));
            wire.run_until(ms(3000));
            let rates: Vec<f64> = log.samples().iter().map(|sample| sample.rate.expect("long enough")).collect();
            let settled = &rates[rates.len() / 2..];
            assert!(settled.len() > 50);
            for &one in settled {
                assert!((one / rate - 1.0).abs() < 0.01, "{recovery:?} {megabits} Mb/s: {one} for {rate}");
            }
        }
    }
}

#[test]
fn with_losses_samples_stay_at_the_bottlenecks_rate_since_what_is_held_counts() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let needs = Needs { samples: true, ..Needs::recovery(recovery) };
        let rate = 10e6 / (8.0 * 1040.0);
        let (mut wire, log) = noting(&undelayed(), needs, 200.0, f64::INFINITY, true);
        wire.bottleneck = Some(Rate::from_bits_per_second(10_000_000));
        let mut dice = Seed(3).stream("loss");
        wire.fate = Box::new(
            move |number, _, _| if number > 300 && dice.chance(0.01) { PathFate::Lose } else { PathFate::Pass },
        );
        wire.run_until(ms(10_000));
        let samples = log.samples();
        let settled = &samples[samples.len() / 5..];
        // A loss leaves a gap at the bottleneck's output, so the delivery rate is at most its rate, and close to it.
        let most = settled.iter().filter_map(|sample| sample.rate).fold(0.0, f64::max);
        assert!((most / rate - 1.0).abs() < 0.01, "{recovery:?}: {most} for {rate}");
        let mut rates: Vec<f64> = settled.iter().filter_map(|sample| sample.rate).collect();
        rates.sort_by(f64::total_cmp);
        let median = rates[rates.len() / 2];
        assert!((0.97..1.01).contains(&(median / rate)), "{recovery:?}: {median} for {rate}");
        assert!(settled.iter().any(|sample| sample.lost > 0) && settled.iter().any(|sample| sample.rtt == Span::MAX));
        let delivered: u64 = samples.iter().map(|sample| u64::from(sample.newly_delivered)).sum();
        let path = *wire.sender.connection.path();
        assert_eq!(path.delivered, delivered);
        let out = u64::from(wire.sender.connection.max() - 1) - delivered;
        assert!(u64::from(path.pipe) <= out, "{recovery:?}: {} in flight of {out} out", path.pipe);
    }
}

#[test]
fn a_sender_that_its_application_holds_back_says_so_with_every_sample() {
    let needs = Needs { samples: true, ..SACK };
    let (mut wire, log) = noting(&undelayed(), needs, 50.0, f64::INFINITY, false);
    let unit = |id: u32| Unit {
        id,
        payload: 1000,
        created: ms(200 + u64::from(id) * 20),
        layer: 0,
        frame_type: FrameType::None,
    };
    wire.units = (0..100).map(unit).collect();
    wire.run_until(ms(4000));
    let samples = log.samples();
    assert_eq!(samples.len(), 100);
    assert!(samples.iter().all(|sample| sample.application_limited));
    let rate = samples.last().and_then(|sample| sample.rate).expect("one");
    assert!((rate / 50.0 - 1.0).abs() < 0.25, "the application's rate: {rate}");
    let (mut wire, log) = noting(&undelayed(), needs, 50.0, f64::INFINITY, true);
    wire.run_until(ms(1000));
    assert!(log.samples().iter().all(|sample| !sample.application_limited));
}

#[test]
fn a_sample_comes_after_the_acknowledgement_that_it_belongs_to_and_before_what_that_lets_go() {
    for recovery in [Recovery::Newreno, Recovery::Sack, Recovery::Rack] {
        let needs = Needs { samples: true, ..Needs::recovery(recovery) };
        let (mut wire, log) = noting(&undelayed(), needs, 10.0, f64::INFINITY, true);
        wire.run_until(ms(1000));
        let events = log.all();
        for pair in events.chunks(2) {
            assert!(matches!(pair, [Event::Ack(_), Event::Sample(_)]), "{recovery:?}: {pair:?}");
        }
        let Some(Event::Sample(sample)) = events.last().copied() else { panic!("no sample") };
        assert_eq!((sample.newly_delivered, sample.in_flight), (1, 10), "{recovery:?}: itself included");
    }
}

fn linux() -> TcpConfig {
    TcpConfig { preset: Preset::Linux, ..TcpConfig::rfc() }
}

#[test]
fn the_preset_linux_is_what_it_says() {
    let parameters = linux().parameters(Flavour::Sack);
    assert_eq!((parameters.segment, parameters.header, parameters.acknowledgement), (1448, 52, 52));
    assert_eq!((parameters.recovery, parameters.prr), (Recovery::Rack, true));
    assert_eq!((parameters.initial_window, parameters.restart_window), (10.0, 10.0), "RFC 6928");
    assert_eq!((parameters.delayed_ack, parameters.quick_acks), (Some(Span::from_millis(40)), 16));
    assert_eq!((parameters.rto.min, parameters.rto.initial), (Span::from_millis(200), Span::from_secs(1)));
    assert_eq!((parameters.marks, parameters.pacing), (Marks::None, Pacing::Off));
    assert!(parameters.limited_transmit && parameters.slow_start_restart && parameters.receiver_window >= 1 << 22);
    assert_eq!(
        linux().parameters(Flavour::Newreno).recovery,
        Recovery::Newreno,
        "what a controller is named for stays"
    );
    let asked = TcpConfig { recovery: Some(Recovery::Sack), prr: Some(true), ..linux() };
    assert_eq!(
        (asked.parameters(Flavour::Sack).recovery, asked.check_with(Flavour::Sack.needs())),
        (Recovery::Sack, Ok(()))
    );
    let samples = Needs { samples: true, ..SACK };
    assert!(!linux().parameters_with(samples).prr, "a law that sets its window by samples does so in recovery, too");
    assert!(TcpConfig { prr: Some(true), ..linux() }.check_with(samples).is_err());
    let credit = TcpConfig { pacing_credit: Some(true), ..TcpConfig::rfc() };
    assert!(credit.check_with(Needs::recovery(Recovery::Sack)).is_err(), "nothing is paced");
    let paced = TcpConfig { pacing: Some(true), ..credit };
    assert_eq!(paced.check_with(Needs::recovery(Recovery::Sack)), Ok(()));
    assert!(linux().parameters_with(samples).pacing_credit && !TcpConfig::rfc().parameters_with(samples).pacing_credit);
}

#[test]
fn linux_timeout_is_the_round_trip_and_two_tenths_of_a_second() {
    // The window never fills the path, so the round trip remains the path's.
    let mut wire = bulk(Flavour::Sack, &TcpConfig { receiver_window: Some(20), ..linux() });
    wire.run_until(ms(3000));
    let rto = wire.sender.connection.timeout();
    assert!((300..=342).contains(&(rto.nanos() / 1_000_000)), "{rto}");
}

#[test]
fn the_first_segments_are_acknowledged_at_once_and_then_every_second_one() {
    let mut wire = bulk(Flavour::Sack, &TcpConfig { receiver_window: Some(10), ..linux() });
    wire.run_until(ms(2000));
    let acknowledged: Vec<u32> = (wire.feedback.iter())
        .filter_map(|(_, ack)| if let Body::Ack { next, .. } = ack.body { Some(next) } else { None })
        .collect();
    assert_eq!(acknowledged[..18], (1..=17).chain([19]).collect::<Vec<u32>>());
    assert!(acknowledged[18..].windows(2).all(|pair| pair[1] - pair[0] == 2));
}

#[test]
fn keys_that_would_be_ignored_are_refused() {
    let refused = |config: TcpConfig| config.check().expect_err("refused").to_string();
    assert!(refused(TcpConfig { quick_acks: Some(4), ..undelayed() }).contains("delayed-ack = true"));
    assert!(refused(TcpConfig { quick_acks: Some(u32::MAX), ..linux() }).contains("quick-acks"));
    assert!(refused(TcpConfig { ack_delay: Some(Span::from_millis(600)), ..linux() }).contains("500 ms"));
    assert_eq!(TcpConfig { quick_acks: Some(0), ..TcpConfig::rfc() }.check(), Ok(()));
}

#[test]
fn recovery_by_time_repairs_a_lost_tail_without_a_timeout() {
    let timeouts = |recovery| {
        let config = TcpConfig { recovery: Some(recovery), ..TcpConfig::rfc() };
        let mut wire = losing(wire(Flavour::Sack, &config, false), &[28, 29, 30]);
        let unit = |id: u32| Unit { id, payload: 1000, created: ms(300), layer: 0, frame_type: FrameType::None };
        wire.units = (0..30).map(unit).collect();
        wire.run_until(ms(10_000));
        (wire.sender.view().timeouts, wire.deliveries.last().expect("all of it").0)
    };
    let ((by_count, late), (by_time, early)) = (timeouts(Recovery::Sack), timeouts(Recovery::Rack));
    assert_eq!((by_count, by_time), (1, 0));
    assert!(early < late);
}

#[test]
fn recovery_by_time_sends_nothing_again_that_is_only_late_by_less_than_a_quarter_of_the_round_trip() {
    let config = TcpConfig { recovery: Some(Recovery::Rack), receiver_window: Some(40), ..TcpConfig::rfc() };
    let mut late = bulk(Flavour::Sack, &config);
    late.fate =
        Box::new(
            |_, _, packet| {
                if sequence(packet) % 40 == 7 { PathFate::Late(Span::from_millis(20)) } else { PathFate::Pass }
            },
        );
    late.run_until(ms(10_000));
    // Before the first reordering is detected, three held segments count as a loss.
    assert!(late.sender.view().retransmitted <= 1, "{:?}", late.sender.view());
    let mut counted = bulk(Flavour::Sack, &TcpConfig { recovery: Some(Recovery::Sack), ..config });
    counted.fate =
        Box::new(
            |_, _, packet| {
                if sequence(packet) % 40 == 7 { PathFate::Late(Span::from_millis(20)) } else { PathFate::Pass }
            },
        );
    counted.run_until(ms(10_000));
    assert!(counted.sender.view().retransmitted > 5, "{:?}", counted.sender.view());
}

#[test]
fn recovery_by_time_finds_a_retransmission_that_was_lost() {
    let again = |recovery| {
        let config = TcpConfig { recovery: Some(recovery), initial_threshold: Some(30), ..TcpConfig::rfc() };
        let mut wire = bulk(Flavour::Sack, &config);
        let mut left = 3;
        wire.fate = Box::new(move |_, _, packet| {
            if sequence(packet) == 200 && left > 0 {
                left -= 1;
                return PathFate::Lose;
            }
            PathFate::Pass
        });
        wire.run_until(ms(10_000));
        (sendings(&wire, 200).len(), wire.sender.view().timeouts)
    };
    assert_eq!(again(Recovery::Rack), (4, 0));
    assert!(again(Recovery::Sack).1 >= 1, "RFC 6675 waits for the timer");
}

#[test]
fn a_timeout_ends_with_word_of_recovery_where_losses_are_found_by_time() {
    let needs = Needs::recovery(Recovery::Rack);
    let (mut wire, log) = noting(&undelayed(), needs, 10.0, f64::INFINITY, true);
    wire.fate = Box::new(|_, now, _| if (ms(500)..ms(2200)).contains(&now) { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(10_000));
    assert!(wire.sender.view().timeouts >= 1);
    assert!(log.all().iter().any(|event| matches!(event, Event::Recovered)));
}

fn any_recovery() -> impl Strategy<Value = Option<Recovery>> {
    let recoveries = [Recovery::Tahoe, Recovery::Reno, Recovery::Newreno, Recovery::Sack, Recovery::Rack];
    proptest::option::weighted(0.9, proptest::sample::select(recoveries.to_vec()))
}

proptest! {
    #![proptest_config(fairwave_units::testing::fuzz_cases(96))]

    /// With any loss, marking, delay and duplication, everything arrives once and in order. Timers do not spin,
    /// each mark is counted once, and samples count every delivery.
    #[test]
    fn fuzz_whatever_happens_to_packets_everything_arrives_once(
        recovery in any_recovery(),
        preset in proptest::sample::select(vec![Preset::Rfc, Preset::Linux]),
        marks in proptest::sample::select(vec![Marks::None, Marks::Classic, Marks::Accurate, Marks::Scalable]),
        (pacing, prr, samples, limited) in any::<(bool, bool, bool, bool)>(),
        delayed in any::<bool>(),
        jitter in any::<bool>(),
        deadline in proptest::option::weighted(0.2, 100u64..2000),
        trouble in (0.0..0.2f64, 0.0..0.1f64, 0.0..0.2f64, 0.0..0.2f64, 0.0..0.5f64),
        bottleneck in proptest::option::of(1u64..20),
        seed in any::<u64>(),
    ) {
        let knows = matches!(recovery, Some(Recovery::Sack | Recovery::Rack));
        let config = TcpConfig {
            preset,
            recovery,
            ecn: Some(marks),
            pacing: Some(pacing),
            prr: (prr && knows && !samples).then_some(true),
            delayed_ack: Some(delayed),
            limited_transmit: Some(limited),
            send_jitter: jitter.then_some(Span::from_millis(3)),
            deadline: deadline.map(Span::from_millis),
            max_rto: Some(Span::from_secs(4)),
            ..TcpConfig::rfc()
        };
        let needs = Needs { samples, ..SACK };
        prop_assert_eq!(config.check_with(needs), Ok(()));
        let (wire, log) = noting(&config, needs, 20.0, f64::INFINITY, false);
        let mut wire = wire;
        wire.bottleneck = bottleneck.map(|megabits| Rate::from_bits_per_second(megabits * 100_000));
        wire.most_acts = 200_000;
        wire.units = (0..150u32)
            .map(|id| Unit { id, payload: 160, created: ms(u64::from(id) * 10), layer: 0, frame_type: FrameType::None })
            .collect();
        let (lose, twice, late, lose_ack, mark) = trouble;
        let mut dice = Seed(seed).stream("trouble");
        wire.fate = Box::new(move |_, now, _| {
            if now > ms(100_000) { return PathFate::Pass; }
            let draw = dice.uniform();
            if draw < lose { PathFate::Lose }
            else if draw < lose + twice { PathFate::Twice }
            else if draw < lose + twice + late { PathFate::Late(Span::from_millis(dice.uniform_below(150))) }
            else { PathFate::Pass }
        });
        let mut dice = Seed(seed).stream("acks");
        wire.lose_feedback = Box::new(move |_, now| now < ms(100_000) && dice.chance(lose_ack));
        let mut dice = Seed(seed).stream("marks");
        wire.mark = Box::new(move |_, _| dice.chance(mark));
        wire.run_until(ms(300_000));
        let units: Vec<u32> = wire.deliveries.iter().map(|(_, delivery)| delivery.unit).collect();
        if deadline.is_some() {
            prop_assert!(units.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", units);
        } else {
            prop_assert_eq!(units, (0..150).collect::<Vec<_>>());
        }
        let connection = &wire.sender.connection;
        prop_assert_eq!(connection.una(), connection.max());
        prop_assert_eq!(wire.sender.deadline(), Instant::NEVER);
        if samples {
            let delivered: u64 = log.samples().iter().map(|sample| u64::from(sample.newly_delivered)).sum();
            prop_assert_eq!(delivered, u64::from(connection.max() - 1), "each segment once");
            prop_assert_eq!((connection.path().delivered, connection.path().pipe), (delivered, 0));
        }
    }
}
