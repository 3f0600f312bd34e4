//! Storyboards: the behaviour of each flavour between two endpoints, over a path with chosen losses.

use proptest::prelude::*;

use super::connection::Connection;
use super::control::{AimdConfig, Control, ControlLaw};
use super::*;
use fairwave_endpoint::test_path::{PathFate, Wire};
use fairwave_endpoint::{FlowContext, Receiver, Sender};
use fairwave_media::traffic::{FrameType, Unit};
use fairwave_network::packet::{Body, Packet};
use fairwave_units::random::Seed;
use fairwave_units::units::{Instant, Rate};

pub(super) type TcpWire = Wire<TcpSender, TcpReceiver>;

const DELAY: Span = Span::from_millis(50);

pub(super) fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// A configuration without delayed acknowledgements.
pub(super) fn undelayed() -> TcpConfig {
    TcpConfig { delayed_ack: Some(false), ..TcpConfig::rfc() }
}

fn ns2() -> TcpConfig {
    TcpConfig { preset: Preset::Ns2, ..TcpConfig::rfc() }
}

/// A connection over 100 ms of round trip.
pub(super) fn wire(flavour: Flavour, config: &TcpConfig, bulk: bool) -> TcpWire {
    let context = FlowContext { bulk, ..FlowContext::default() };
    let (sender, receiver) = config.endpoints(flavour, context, Seed(1).stream("tcp")).expect("in range");
    Wire::new(sender, receiver, DELAY)
}

/// A bulk transfer over 100 ms of round trip, by default without a bottleneck.
pub(super) fn bulk(flavour: Flavour, config: &TcpConfig) -> TcpWire {
    wire(flavour, config, true)
}

/// The same through a bottleneck of 10 Mb/s with room for `buffer` packets.
pub(super) fn bottleneck(flavour: Flavour, config: &TcpConfig, buffer: usize) -> TcpWire {
    let mut wire = bulk(flavour, config);
    wire.bottleneck = Some(Rate::from_bits_per_second(10_000_000));
    wire.buffer = buffer;
    wire
}

pub(super) fn sequence(packet: &Packet) -> u32 {
    match packet.body {
        Body::Segment { sequence, .. } => sequence,
        _ => 0,
    }
}

/// Loses the first transmission of these segments.
pub(super) fn losing(mut wire: TcpWire, segments: &'static [u32]) -> TcpWire {
    wire.fate = Box::new(move |_, _, packet| match packet.body {
        Body::Segment { sequence, retransmission: false, .. } if segments.contains(&sequence) => PathFate::Lose,
        _ => PathFate::Pass,
    });
    wire
}

/// Times of all transmissions of `segment`, in milliseconds.
pub(super) fn sendings(wire: &TcpWire, segment: u32) -> Vec<u64> {
    wire.sent.iter().filter(|(_, p)| sequence(p) == segment).map(|(time, _)| time.nanos() / 1_000_000).collect()
}

/// The congestion window every 10 ms from `from` to `to`.
fn windows(wire: &mut TcpWire, from: u64, to: u64) -> Vec<f64> {
    (from..to)
        .step_by(10)
        .map(|now| {
            wire.run_until(ms(now));
            wire.sender.view().window.expect("a window")
        })
        .collect()
}

#[test]
fn slow_start_doubles_the_window_each_round_trip_after_the_handshake() {
    let config = TcpConfig { initial_window: Some(2), ..undelayed() };
    let mut wire = bulk(Flavour::Reno, &config);
    wire.run_until(ms(499));
    let per_round: Vec<usize> = (0..5)
        .map(|n| wire.sent.iter().filter(|(time, _)| *time >= ms(n * 100) && *time < ms(n * 100 + 100)).count())
        .collect();
    assert_eq!(per_round, [1, 2, 4, 8, 16]);
}

#[test]
fn rfc_5681_section_3_1_with_delayed_acknowledgements_reno_gains_a_segment_per_round_trip_as_without() {
    let gained = |preset, delayed| {
        let config = TcpConfig { preset, delayed_ack: delayed, initial_threshold: Some(16), ..TcpConfig::rfc() };
        let windows = windows(&mut bulk(Flavour::Reno, &config), 1500, 3510);
        windows.last().expect("a window") - windows[0]
    };
    // Twenty round trips of 100 ms.
    for delayed in [None, Some(true), Some(false)] {
        let gained = gained(Preset::Rfc, delayed);
        assert!((gained - 20.0).abs() < 1.5, "{delayed:?}: {gained}");
    }
    let (each, second) = (gained(Preset::Ns2, None), gained(Preset::Ns2, Some(true)));
    assert!((each - 20.0).abs() < 1.5 && (second - 10.0).abs() < 1.5, "ns-2: {each} and {second}");
}

#[test]
fn rfc_5681_section_4_2_acknowledgements_are_delayed_unless_the_preset_is_ns2s() {
    let delay = |preset| TcpConfig { preset, ..TcpConfig::rfc() }.parameters(Flavour::Reno).delayed_ack;
    assert_eq!(delay(Preset::Rfc), Some(Span::from_millis(100)));
    assert_eq!(delay(Preset::Linux), Some(Span::from_millis(40)));
    assert_eq!([delay(Preset::Ns2), delay(Preset::Ns2Of2004)], [None, None]);
    assert_eq!(undelayed().parameters(Flavour::Reno).delayed_ack, None);
}

#[test]
fn view_shows_the_threshold_and_the_rate_of_a_window_per_round_trip() {
    let config = TcpConfig { initial_threshold: Some(64), ..TcpConfig::rfc() };
    let mut wire = bulk(Flavour::Reno, &config);
    assert!(wire.sender.view().rate.is_none(), "no round trip is known");
    wire.run_until(ms(499));
    let view = wire.sender.view();
    assert_eq!(view.slow_start_threshold, Some(64.0));
    let (window, round_trip) = (view.window.expect("a window"), view.smoothed_rtt.expect("a round trip"));
    let rate = window * 8.0 * f64::from(wire.sender.connection.path().payload) / round_trip;
    assert!((view.rate.expect("a rate") / rate - 1.0).abs() < 1e-12 && rate > 1e6, "{view:?} and {rate}");
}

#[test]
fn a_segment_of_bulk_data_is_made_when_it_is_sent_and_so_is_the_syn() {
    let mut wire = losing(bulk(Flavour::Reno, &TcpConfig::rfc()), &[0]);
    wire.run_until(ms(1500));
    let made = wire.sent.iter().map(|(time, packet)| match packet.body {
        Body::Segment { created, .. } => created == *time,
        _ => false,
    });
    assert!(wire.sent.len() > 3 && made.eq(vec![true; wire.sent.len()]));
}

#[test]
fn the_initial_window_depends_on_the_segments_size() {
    // RFC 5681 §3.1: two segments above 2190 bytes, three above 1095, else four.
    for (bytes, window) in [(536, 4), (1095, 4), (1096, 3), (1460, 3), (2190, 3), (2191, 2)] {
        let config = TcpConfig { segment: Some(Bytes::new(bytes)), ..TcpConfig::rfc() };
        let mut wire = bulk(Flavour::Reno, &config);
        wire.run_until(ms(199));
        let data = wire.sent.iter().filter(|(_, packet)| sequence(packet) > 0).count();
        assert_eq!(data, window, "segments of {bytes} bytes");
    }
}

#[test]
fn three_duplicates_bring_the_segment_again_at_once() {
    let mut wire = losing(bulk(Flavour::Reno, &TcpConfig::rfc()), &[20]);
    wire.run_until(ms(2000));
    let times = sendings(&wire, 20);
    assert_eq!(times.len(), 2);
    assert_eq!(times[1] - times[0], 100, "one round trip later");
    assert_eq!((wire.sender.view().timeouts, wire.sender.view().fast_retransmits), (0, 1));
}

#[test]
fn fast_recovery_halves_what_was_in_flight_and_lets_a_segment_go_for_each_further_duplicate() {
    // Sixteen segments are in flight from segment 50 on, which is lost. Of the other fifteen, three duplicates
    // trigger its retransmission. Of the twelve further ones, five account for the flight above half of sixteen
    // and the three. Each of the other seven allows a new segment. With the one that the repair's acknowledgement
    // allows, eight are then in flight.
    let config = TcpConfig { receiver_window: Some(16), limited_transmit: Some(false), ..TcpConfig::rfc() };
    let mut wire = losing(bulk(Flavour::Reno, &config), &[50]);
    wire.run_until(ms(3000));
    let times = sendings(&wire, 50);
    assert_eq!((times.len(), times[1] - times[0]), (2, 100));
    let new: Vec<u32> = (wire.sent.iter())
        .filter(|(time, p)| *time >= ms(times[1]) && *time <= ms(times[1] + 100) && sequence(p) > 65)
        .map(|(_, p)| sequence(p))
        .collect();
    assert_eq!(new, (66..74).collect::<Vec<u32>>());
    let mut wire = losing(bulk(Flavour::Reno, &config), &[50]);
    let after = windows(&mut wire, times[1] + 101, times[1] + 102)[0];
    assert!((8.0..8.3).contains(&after), "half of sixteen, and the first acknowledgement: {after}");
}

#[test]
fn a_partial_acknowledgement_brings_the_next_missing_segment_one_round_trip_after_the_one_before() {
    const LOST: &[u32] = &[40, 42, 44, 46];
    let config = TcpConfig { initial_threshold: Some(16), ..TcpConfig::rfc() };
    let mut wire = losing(bulk(Flavour::Newreno, &config), LOST);
    wire.run_until(ms(6000));
    let again: Vec<u64> = LOST.iter().map(|&segment| sendings(&wire, segment)[1]).collect();
    assert!(again.windows(2).all(|pair| pair[1] - pair[0] == 100), "{again:?}");
    assert_eq!((wire.sender.view().timeouts, wire.sender.view().fast_retransmits), (0, 1), "one recovery for all");
}

#[test]
fn vegas_needs_but_one_duplicate_where_a_segment_has_been_out_for_longer_than_its_fine_timeout() {
    // Two more segments in flight cause two duplicates: too few for Reno.
    let timeouts = |flavour| {
        let config = TcpConfig { receiver_window: Some(3), limited_transmit: Some(false), ..ns2() };
        let mut wire = losing(bulk(flavour, &config), &[40]);
        wire.run_until(ms(4000));
        (sendings(&wire, 40).len(), wire.sender.view().timeouts)
    };
    assert_eq!(timeouts(Flavour::Reno), (2, 1));
    assert_eq!(timeouts(Flavour::Vegas), (2, 0));
}

/// The time until these losses are repaired and all up to `last` is delivered, and the number of timeouts.
fn recovery_from(flavour: Flavour, segments: &'static [u32], last: u32) -> (Instant, u64) {
    let config = TcpConfig { initial_threshold: Some(16), ..TcpConfig::rfc() };
    let mut wire = losing(bulk(flavour, &config), segments);
    wire.run_until(ms(6000));
    let done = wire.deliveries.iter().find(|(_, d)| d.unit + 1 == last).map(|(time, _)| *time).expect("it is repaired");
    (done, wire.sender.view().timeouts)
}

#[test]
fn reno_stalls_on_several_losses_where_newreno_and_sack_do_not() {
    const LOST: &[u32] = &[40, 42, 44, 46];
    assert!(recovery_from(Flavour::Reno, LOST, 47).1 >= 1, "Reno waits for the timer");
    assert_eq!(recovery_from(Flavour::Newreno, LOST, 47).1, 0);
    assert_eq!(recovery_from(Flavour::Sack, LOST, 47).1, 0);
}

#[test]
fn sack_repairs_several_losses_sooner_than_newreno() {
    const LOST: &[u32] = &[40, 42, 44, 46];
    assert!(recovery_from(Flavour::Sack, LOST, 47).0 < recovery_from(Flavour::Newreno, LOST, 47).0);
}

#[test]
fn tahoe_starts_from_one_segment_where_reno_halves() {
    let least = |flavour| {
        let config = TcpConfig { initial_threshold: Some(16), ..TcpConfig::rfc() };
        let mut wire = losing(bulk(flavour, &config), &[60]);
        windows(&mut wire, 300, 1500).into_iter().fold(f64::INFINITY, f64::min)
    };
    assert!(least(Flavour::Tahoe) <= 2.0);
    assert!(least(Flavour::Reno) >= 8.0);
}

#[test]
fn the_timeout_doubles_with_each_expiry() {
    let mut wire = bulk(Flavour::Reno, &ns2());
    wire.fate = Box::new(|_, now, _| if now >= ms(1000) { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(20_000));
    let first_lost = wire.sent.iter().find(|(time, _)| *time >= ms(1000)).map(|(_, p)| sequence(p)).expect("sent");
    let times = sendings(&wire, first_lost);
    let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    assert!(gaps.len() >= 4, "{gaps:?}");
    for pair in gaps[1..].windows(2) {
        assert!((pair[1] / pair[0] - 2.0).abs() < 0.01, "{gaps:?}");
    }
}

#[test]
fn a_round_trip_of_what_was_sent_again_is_not_believed() {
    // Segment 1 is lost once and retransmitted after the initial 3 s. Measured from its first transmission, its
    // round trip would exceed 3 s. Karn's rule forbids the measurement, and the doubled timeout stays until new
    // data is measured.
    let config = TcpConfig { initial_window: Some(1), ..ns2() };
    let mut wire = losing(bulk(Flavour::Reno, &config), &[1]);
    wire.run_until(ms(10_000));
    assert!(wire.sender.view().smoothed_rtt < Some(0.2), "{:?}", wire.sender.view());
    assert_eq!(wire.sender.view().timeouts, 1);
}

#[test]
fn limited_transmit_sends_two_new_segments_on_the_first_duplicates() {
    let new_on_duplicates = |limited| {
        let config = TcpConfig { limited_transmit: Some(limited), initial_threshold: Some(8), ..ns2() };
        let mut wire = losing(bulk(Flavour::Reno, &config), &[30]);
        wire.run_until(ms(3000));
        wire.sender.view().timeouts + 10 * u64::from(sendings(&wire, 30).len() as u32)
    };
    assert_eq!(new_on_duplicates(true), 20);
    assert_eq!(new_on_duplicates(false), 20, "with eight segments three duplicates come anyway");
    // One of three segments in flight is lost: only limited transmit causes the third duplicate.
    let timeouts = |limited| {
        let config = TcpConfig { limited_transmit: Some(limited), receiver_window: Some(5), ..ns2() };
        let config = TcpConfig { initial_threshold: Some(3), ..config };
        let mut wire = losing(bulk(Flavour::Reno, &config), &[4]);
        wire.run_until(ms(3000));
        wire.sender.view().timeouts
    };
    assert_eq!((timeouts(true), timeouts(false)), (0, 1));
}

/// Period and mean of the window's saw-tooth on a path of constant round trip. One segment is lost each time the
/// window reaches `peak`.
fn sawtooth(alpha: f64, beta: f64, peak: f64) -> (f64, f64) {
    let config = TcpConfig {
        recovery: Some(Recovery::Sack),
        receiver_window: Some(300),
        initial_threshold: Some(40),
        ..TcpConfig::rfc()
    };
    let aimd = Control::Aimd(AimdConfig { alpha: Some(alpha), beta: Some(beta) }.controller(config.preset));
    let context = FlowContext { bulk: true, ..FlowContext::default() };
    let ends = config.endpoints_with(Flavour::Aimd, aimd, context, Seed(1).stream("tcp")).expect("in range");
    let mut wire = Wire::new(ends.0, ends.1, DELAY);
    let (mut trace, mut losses) = (Vec::new(), Vec::new());
    let mut now = 0;
    while losses.len() < 6 {
        now += 10;
        assert!(now < 10_000_000, "{} losses by {now} ms: the window never gets to {peak}", losses.len());
        wire.run_until(ms(now));
        let window = wire.sender.view().window.expect("a window");
        if window >= peak && losses.last().is_none_or(|last| now > last + 300) {
            losses.push(now);
            let mut left = 1;
            wire.fate = Box::new(move |_, _, _| {
                left -= 1;
                if left == 0 { PathFate::Lose } else { PathFate::Pass }
            });
        }
        trace.push((now, window));
        assert!(now < 300_000, "the window never reaches its peak");
    }
    let (first, last) = (losses[1], losses[5]);
    let inside: Vec<f64> = trace.iter().filter(|(time, _)| *time > first && *time <= last).map(|(_, w)| *w).collect();
    ((last - first) as f64 / 4.0, inside.iter().sum::<f64>() / inside.len() as f64)
}

#[test]
fn the_sawtooth_has_the_period_and_mean_of_the_closed_form() {
    // From βW to W by α per round trip: (1 − β)W/α round trips, mean (1 + β)W/2 (paper 003 Eq. 4), and two round trips more:
    // one from the loss to its detection, one of recovery.
    for (alpha, beta) in [(1.0, 0.5), (0.31, 0.875), (0.583, 0.75), (1.25, 0.25)] {
        let (peak, rtt) = (100.0, 100.0);
        let (period, mean) = sawtooth(alpha, beta, peak);
        let rounds = (1.0 - beta) * peak / alpha + 2.0;
        assert!(
            (period / rtt / rounds - 1.0).abs() < 0.05,
            "TCP({alpha}, {beta}): {} for {rounds} rounds",
            period / rtt
        );
        let expected = (1.0 + beta) * peak / 2.0;
        assert!((mean / expected - 1.0).abs() < 0.05, "TCP({alpha}, {beta}): mean {mean} for {expected}");
    }
}

#[test]
fn vegas_keeps_between_alpha_and_beta_segments_queued_and_loses_none() {
    let mut wire = bottleneck(
        Flavour::Vegas,
        &TcpConfig { receiver_window: Some(300), header: Some(Bytes::new(40)), ..ns2() },
        100,
    );
    wire.run_until(ms(20_000));
    let pipe = 10e6 * 0.1 / (1040.0 * 8.0);
    let windows = windows(&mut wire, 20_000, 30_000);
    for window in windows {
        let queued = window - pipe;
        assert!((0.5..=4.5).contains(&queued), "{queued} segments stand in the queue");
    }
    assert_eq!(wire.dropped, 0);
    assert!(wire.goodput(ms(20_000), ms(30_000)) > 0.99 * 10e6 * 1000.0 / 1040.0);
}

#[test]
fn westwood_estimates_the_rate_that_it_gets() {
    for flavour in [Flavour::Westwood, Flavour::WestwoodPlus] {
        let mut wire = bottleneck(flavour, &TcpConfig { receiver_window: Some(300), ..ns2() }, 60);
        wire.run_until(ms(20_000));
        let (mut estimates, mut now) = (Vec::new(), 20_000);
        while now < 40_000 {
            now += 100;
            wire.run_until(ms(now));
            estimates.push(wire.sender.view().estimate.expect("Westwood has one").value());
        }
        let estimate = estimates.iter().sum::<f64>() / estimates.len() as f64;
        let true_rate = wire.goodput(ms(20_000), ms(40_000));
        assert!((estimate / true_rate - 1.0).abs() < 0.05, "{flavour:?}: {estimate} for {true_rate}");
    }
}

#[test]
fn the_rate_of_a_wave_is_that_of_the_bottleneck() {
    let mut wire = bottleneck(Flavour::Real, &TcpConfig { receiver_window: Some(300), ..ns2() }, 100);
    wire.run_until(ms(20_000));
    let bottleneck = 10e6 * 1000.0 / 1040.0;
    let mut now = 20_000;
    while now < 25_000 {
        now += 100;
        wire.run_until(ms(now));
        let rate = wire.sender.view().estimate.expect("Westwood has one").value();
        assert!((rate / bottleneck - 1.0).abs() < 0.05, "{rate} for {bottleneck}");
    }
}

#[test]
fn real_keeps_its_window_on_random_loss_where_reno_does_not() {
    let mean_window = |flavour| {
        let mut wire = bulk(flavour, &ns2());
        wire.bottleneck = Some(Rate::from_bits_per_second(10_000_000));
        let mut dice = Seed(7).stream("loss");
        wire.fate = Box::new(move |_, _, _| if dice.chance(0.005) { PathFate::Lose } else { PathFate::Pass });
        let windows = windows(&mut wire, 5000, 30_000);
        windows.iter().map(|w| w.min(64.0)).sum::<f64>() / windows.len() as f64
    };
    let (real, reno) = (mean_window(Flavour::Real), mean_window(Flavour::Newreno));
    assert!(real > 1.5 * reno, "Real {real}, NewReno {reno}");
}

#[test]
fn gamma_lowers_the_window_before_the_buffer_overflows() {
    let drops = |flavour| {
        let mut wire = bottleneck(flavour, &TcpConfig { receiver_window: Some(400), ..ns2() }, 120);
        wire.run_until(ms(60_000));
        (wire.dropped, wire.goodput(ms(20_000), ms(60_000)))
    };
    let (reno, gamma) = (drops(Flavour::Reno), drops(Flavour::Gamma));
    assert!(gamma.0 < reno.0, "{gamma:?} {reno:?}");
    assert!(gamma.1 > 0.98 * reno.1);
}

#[test]
fn units_arrive_whole_in_order_and_with_their_birth() {
    let mut wire = wire(Flavour::Sack, &TcpConfig::rfc(), false);
    let unit = |id: u32| Unit {
        id,
        payload: if id.is_multiple_of(10) { 2500 } else { 160 },
        created: ms(u64::from(id) * 20),
        layer: 0,
        frame_type: FrameType::None,
    };
    wire.units = (0..200).map(unit).collect();
    let mut dice = Seed(3).stream("loss");
    wire.fate = Box::new(move |_, _, _| if dice.chance(0.05) { PathFate::Lose } else { PathFate::Pass });
    wire.run_until(ms(20_000));
    let whole: Vec<_> = wire.deliveries.iter().filter(|(_, d)| d.complete).collect();
    assert_eq!(whole.iter().map(|(_, d)| d.unit).collect::<Vec<_>>(), (0..200).collect::<Vec<_>>());
    assert!(whole.iter().all(|(_, d)| d.created == ms(u64::from(d.unit) * 20)));
    assert_eq!(wire.deliveries.iter().map(|(_, d)| u64::from(d.payload)).sum::<u64>(), 20 * 2500 + 180 * 160);
}

#[test]
fn an_idle_connection_starts_slowly_again() {
    let mut wire = wire(Flavour::Reno, &ns2(), false);
    let burst = |id: u32| Unit {
        id,
        payload: 160,
        created: if id < 60 { ms(1000 + u64::from(id) * 20) } else { ms(10_000) },
        layer: 0,
        frame_type: FrameType::None,
    };
    wire.units = (0..80).map(burst).collect();
    wire.run_until(ms(10_050));
    assert_eq!(wire.sent.iter().filter(|(time, _)| *time >= ms(10_000)).count(), 1, "one segment, though 20 wait");
}

#[test]
fn stop_sends_nothing_new_and_repairs_losses() {
    let mut wire = losing(bulk(Flavour::Newreno, &ns2()), &[30]);
    wire.run_until(ms(450));
    let highest = wire.sent.iter().map(|(_, p)| sequence(p)).max().expect("sent");
    wire.sender.on_stop(wire.now);
    wire.run_until(ms(5000));
    assert_eq!(wire.sent.iter().map(|(_, p)| sequence(p)).max(), Some(highest));
    assert_eq!(wire.deliveries.len() as u32, highest);
    assert_eq!(wire.sender.deadline(), Instant::NEVER);
}

#[test]
fn random_delays_of_sending_stay_below_their_bound() {
    let config = TcpConfig { send_jitter: Some(Span::from_millis(1)), ..ns2() };
    let mut wire = bulk(Flavour::Reno, &config);
    wire.run_until(ms(2000));
    assert!(wire.sender.view().sent > 300);
    let data = wire.sent.iter().filter(|(_, p)| sequence(p) > 0);
    assert!(data.clone().all(|(time, _)| time.nanos() % 100_000_000 < 20_000_000));
    assert!(data.clone().any(|(time, _)| time.nanos() % 100_000_000 > 100_000));
}

/// More than three duplicates during the repair of a timeout close ns-2's window. With no segment in flight, no
/// acknowledgement would open it.
#[test]
fn a_vegas_window_that_has_closed_opens_again_when_nothing_is_in_flight() {
    let config = TcpConfig { preset: Preset::Ns2, receiver_window: Some(10), ..TcpConfig::rfc() };
    let mut wire = wire(Flavour::Vegas, &config, false);
    wire.units = (0..150)
        .map(|id| Unit { id, payload: 160, created: ms(u64::from(id) * 10), layer: 0, frame_type: FrameType::None })
        .collect();
    wire.run_until(ms(900));
    let connection = &mut wire.sender.connection;
    connection.set_congestion_window(0.0);
    connection.set_inflation(0);
    wire.run_until(ms(60_000));
    assert_eq!(wire.deliveries.len(), 150);
}

fn flavours_strategy() -> impl Strategy<Value = Flavour> {
    proptest::sample::select(Flavour::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// For any treatment of packets in both directions, each unit arrives once and in order. The sender never has
    /// more outstanding than the receiver's window.
    #[test]
    fn flavours_deliver_every_unit_once_in_order_within_the_window(
        flavour in flavours_strategy(),
        recovery in proptest::option::of(proptest::sample::select(vec![Recovery::Tahoe, Recovery::Reno, Recovery::Newreno, Recovery::Sack, Recovery::Rack])),
        like_ns2 in any::<bool>(),
        delayed in any::<bool>(),
        window in 1u32..40,
        trouble in (0.0..0.2f64, 0.0..0.1f64, 0.0..0.1f64, 0.0..0.2f64),
        seed in any::<u64>(),
    ) {
        let preset = if like_ns2 { Preset::Ns2 } else { Preset::Rfc };
        let config = TcpConfig { preset, recovery, delayed_ack: Some(delayed), receiver_window: Some(window), max_rto: Some(Span::from_secs(4)), ..TcpConfig::rfc() };
        let mut wire = wire(flavour, &config, false);
        let unit = |id: u32| Unit { id, payload: 160, created: ms(u64::from(id) * 10), layer: 0, frame_type: FrameType::None };
        wire.units = (0..150).map(unit).collect();
        let mut dice = Seed(seed).stream("trouble");
        let (lose, twice, late, lose_ack) = trouble;
        wire.fate = Box::new(move |_, now, _| {
            if now > ms(200_000) { return PathFate::Pass; }
            let draw = dice.uniform();
            if draw < lose { PathFate::Lose }
            else if draw < lose + twice { PathFate::Twice }
            else if draw < lose + twice + late { PathFate::Late(Span::from_millis(dice.uniform_below(150))) }
            else { PathFate::Pass }
        });
        let mut dice = Seed(seed).stream("acks");
        wire.lose_feedback = Box::new(move |_, now| now < ms(200_000) && dice.chance(lose_ack));
        wire.run_until(ms(400_000));
        let units: Vec<u32> = wire.deliveries.iter().map(|(_, d)| d.unit).collect();
        prop_assert_eq!(units, (0..150).collect::<Vec<_>>());
        prop_assert_eq!(wire.sender.deadline(), Instant::NEVER);
        prop_assert_eq!(wire.receiver.is_reactive(), !delayed);
        // Highest segment sent before each acknowledgement of `next` came back: within the receiver's window.
        let mut acknowledged = 0;
        let mut acks = wire.feedback.iter().peekable();
        for (time, packet) in &wire.sent {
            while let Some((sent, ack)) = acks.peek() {
                if *sent + DELAY > *time { break; }
                if let Body::Ack { next, .. } = ack.body { acknowledged = acknowledged.max(next); }
                acks.next();
            }
            prop_assert!(sequence(packet) < acknowledged.max(1) + window);
        }
    }
}

#[test]
fn a_sender_says_what_held_it_back_and_for_how_long() {
    use fairwave_endpoint::limited::Limit;
    let shares = |config: &TcpConfig, units: Vec<Unit>| {
        let mut wire = wire(Flavour::Newreno, config, units.is_empty());
        wire.units = units;
        wire.run_until(ms(10_000));
        let limited = wire.sender.view().limited.expect("TCP is held back by something");
        let times = [Limit::Receiver, Limit::Congestion, Limit::Application].map(|by| limited.time(by, ms(10_000)));
        assert_eq!(times.into_iter().fold(Span::ZERO, |sum, time| sum + time), Span::from_secs(10), "all of its life");
        times.map(|time| time.nanos() / 1_000_000)
    };
    // A round trip for the handshake and three of slow start: 4, 8, 16 segments.
    assert_eq!(shares(&TcpConfig { receiver_window: Some(32), ..undelayed() }, Vec::new()), [9600, 400, 0]);
    assert_eq!(shares(&TcpConfig { initial_threshold: Some(2), ..TcpConfig::rfc() }, Vec::new()), [0, 10_000, 0]);
    // A unit per second is sent as soon as it is made, except the first, which waits for the handshake.
    let unit =
        |id: u32| Unit { id, payload: 160, created: ms(u64::from(id) * 1000), layer: 0, frame_type: FrameType::None };
    assert_eq!(shares(&TcpConfig::rfc(), (0..9).map(unit).collect()), [0, 100, 9900]);
}

#[test]
fn a_receivers_window_limits_only_if_it_is_asked_for() {
    let rfc = TcpConfig::rfc().parameters(Flavour::Reno);
    assert!(
        rfc.receiver_window >= 1 << 22 && rfc.initial_threshold >= f64::from(1 << 22),
        "arbitrarily high (RFC 5681 §3.1)"
    );
    assert_eq!(ns2().parameters(Flavour::Reno).receiver_window, 64);
    assert_eq!(ns2().parameters(Flavour::Reno).initial_threshold, 64.0);
    let asked = TcpConfig { receiver_window: Some(20), ..TcpConfig::rfc() };
    assert_eq!(asked.parameters(Flavour::Reno).receiver_window, 20);
}

#[test]
fn an_acknowledgement_is_not_delayed_by_more_than_half_a_second_unless_ns2_does() {
    let check = |preset, millis| {
        let config = TcpConfig { preset, ack_delay: Some(Span::from_millis(millis)), ..TcpConfig::rfc() };
        config.check().map_err(|error| error.to_string())
    };
    assert_eq!(check(Preset::Rfc, 500), Ok(()));
    let refused = check(Preset::Rfc, 501).expect_err("RFC 5681 §4.2");
    assert!(refused.contains("ack-delay") && refused.contains("501 ms") && refused.contains("500 ms"), "{refused}");
    assert_eq!(check(Preset::Ns2, 501), Ok(()));
}

#[test]
fn a_sender_stays_small_and_has_in_front_what_every_acknowledgement_needs() {
    assert!(size_of::<TcpSender>() <= 9 * 64, "{} bytes", size_of::<TcpSender>());
    let law = std::mem::offset_of!(TcpSender, connection) + Connection::CONTROL_AT;
    assert!(law <= 4 * 64, "the law, needed last, begins at {law}");
}
