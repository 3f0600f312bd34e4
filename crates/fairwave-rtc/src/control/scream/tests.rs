use proptest::prelude::*;

use super::*;
use crate::control::rig::{Course, Path, feedback, limits, report, run, torture};
use crate::control::{PacketReport, RateControlConfig};
use fairwave_units::random::Seed;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * b.abs().max(1.0)
}

/// Returns a controller at 800 kb/s with a window of 10 000 bytes, after a first message: round trip 100 ms, no queue.
fn started() -> Scream {
    let mut scream = ScreamConfig::default().controller(Seed(1).stream("control"));
    scream.on_limits(Instant::ZERO, limits(800_000, 30_000, 2_500_000));
    scream.on_feedback(&feedback(100, &[report(0, 0, Some(50))]));
    (scream.window, scream.inflection, scream.flown, scream.flown_before) = (10_000.0, 1.0, 20_000.0, 20_000.0);
    (scream.reacted, scream.alpha, scream.may_move_inflection) = (None, 0.0, true);
    scream
}

fn marked(sequence: u64, sent: u64, arrived: u64) -> PacketReport {
    PacketReport { ecn: Ecn::Ce, ..report(sequence, sent, Some(arrived)) }
}

#[test]
fn the_first_message_gives_the_window_of_the_first_rate() {
    let mut scream = ScreamConfig::default().controller(Seed(1).stream("control"));
    scream.on_limits(Instant::ZERO, limits(800_000, 30_000, 2_500_000));
    assert!(scream.decision().window.is_none() && scream.decision().target == Rate::from_bits_per_second(800_000));
    let sent = SentPacket { size: Bytes::new(20_000), ..report(0, 0, None).packet };
    scream.on_sent(&sent);
    scream.on_feedback(&feedback(100, &[report(0, 0, Some(50)), report(1, 5, Some(70))]));
    // 100 kB/s over a round trip of 95 ms and a hold time of 20 ms: 11 500 bytes. They grow by 2000 arrived bytes times
    // 1280/11500, times 1 + 0.02·11500/1280; the spread of 15 ms has no weight yet.
    let grown = 11_500.0 + 2000.0 * (1280.0 / 11_500.0) * (1.0 + 0.02 * 11_500.0 / 1280.0);
    assert!(near(scream.window, grown), "{}", scream.window);
    assert!(near(scream.hold, 0.020));
}

#[test]
fn what_arrives_unmarked_makes_the_window_grow() {
    let mut scream = started();
    scream.on_feedback(&feedback(150, &[report(1, 50, Some(100))]));
    // No congestion so far: one packet of 1280 bytes per window, times 1 + 2 % of the window's packets.
    assert!(near(scream.window, 10_000.0 + 1000.0 * 0.128 * (1.0 + 0.02 * 10_000.0 / 1280.0)), "{}", scream.window);
    assert_eq!(scream.view().state, "increase");
}

#[test]
fn the_window_grows_by_a_quarter_near_the_inflection_point_and_after_congestion_by_the_packet_alone() {
    let mut scream = started();
    scream.inflection = 10_000.0;
    scream.on_feedback(&feedback(150, &[report(1, 50, Some(100))]));
    assert!(near(scream.window, 10_000.0 + 1000.0 * 0.128 * 0.25 * (1.0 + 0.1 * 0.02 * 10_000.0 / 1280.0)));
    let mut scream = started();
    scream.reacted = Some(Instant::ZERO);
    scream.on_feedback(&feedback(150, &[report(1, 50, Some(100))]));
    // 150 ms of the 100 round trips have passed.
    let post = 0.150 / (100.0 * scream.delays.round_trip());
    assert!(near(scream.window, 10_000.0 + 128.0 * (1.0 + post * 0.02 * 10_000.0 / 1280.0)));
}

#[test]
fn a_short_loop_grows_by_the_square_of_its_share_of_25_milliseconds() {
    let mut scream = ScreamConfig::default().controller(Seed(1).stream("control"));
    scream.on_limits(Instant::ZERO, limits(800_000, 30_000, 2_500_000));
    scream.on_feedback(&feedback(10, &[report(0, 0, Some(5))]));
    (scream.window, scream.flown) = (10_000.0, 20_000.0);
    scream.on_feedback(&feedback(20, &[report(1, 10, Some(15))]));
    let grown = 1000.0 * 0.128 * 0.16 * (1.0 + 0.02 * 10_000.0 / 1280.0);
    assert!(near(scream.window, 10_000.0 + grown), "{}", scream.window);
}

#[test]
fn the_window_does_not_grow_beyond_what_is_in_flight_and_a_tenth() {
    let mut scream = started();
    (scream.flown, scream.flown_before) = (8000.0, 7000.0);
    scream.on_feedback(&feedback(150, &[report(1, 50, Some(100))]));
    assert!(near(scream.window, 1280.0 + 8800.0), "{}", scream.window);
    scream.flown_before = 7000.0;
    scream.flown = 7000.0;
    scream.on_feedback(&feedback(200, &[report(2, 100, Some(150))]));
    assert!(near(scream.window, 10_080.0), "it does not shrink for that");
}

#[test]
fn alpha_rises_by_an_eighth_and_falls_by_one_part_in_128() {
    let mut scream = started();
    scream.reacted = Some(Instant::ZERO);
    scream.on_feedback(&feedback(110, &[marked(1, 10, 60), report(2, 10, Some(60))]));
    assert!(near(scream.alpha, 0.5 / 8.0));
    scream.on_feedback(&feedback(120, &[report(3, 20, Some(70))]));
    assert!(near(scream.alpha, 0.0625 * 127.0 / 128.0));
}

#[test]
fn marks_take_half_of_alpha_in_the_parts_of_a_long_round_trip() {
    let mut scream = started();
    (scream.alpha, scream.reacted) = (0.4, Some(Instant::from_seconds(1.0)));
    scream.on_feedback(&feedback(1150, &[marked(1, 1050, 1100)]));
    let alpha = 0.4 + 0.6 / 8.0;
    // The round trip is four virtual round trips. The packet was marked, so nothing is added.
    assert!(near(scream.window, 10_000.0 * (1.0 - alpha / 2.0 / 4.0)), "{}", scream.window);
    assert!(near(scream.inflection, 10_000.0) && !scream.may_move_inflection);
    assert_eq!(scream.view().state, "marked");
}

#[test]
fn growth_slows_within_half_of_the_inflection_point_by_the_square_of_twice_the_distance() {
    let mut scream = started();
    scream.inflection = 10_000.0;
    for (window, share) in [(10_000.0, 0.1), (11_000.0, 0.1), (12_500.0, 0.25), (14_000.0, 0.64), (15_000.0, 1.0)] {
        scream.window = window;
        assert!(near(scream.inflection_scale(), share), "{window}: {}", scream.inflection_scale());
    }
}

#[test]
fn near_the_inflection_point_marks_take_a_quarter() {
    let mut scream = started();
    (scream.alpha, scream.reacted, scream.inflection) = (1.0, Some(Instant::from_seconds(1.0)), 10_000.0);
    scream.on_feedback(&feedback(1150, &[marked(1, 1050, 1100)]));
    assert!(near(scream.window, 10_000.0 * (1.0 - 127.0 / 128.0 / 8.0 * 0.25)), "{}", scream.window);
}

#[test]
fn after_a_hundred_calm_round_trips_the_window_falls_to_what_was_in_flight() {
    let mut scream = started();
    (scream.flown_before, scream.alpha) = (6000.0, 0.0);
    scream.on_feedback(&feedback(150, &[marked(1, 50, 100)]));
    assert!(near(scream.alpha, 0.25));
    assert!(near(scream.window, 6000.0 * (1.0 - 0.125 / 2.0 / 4.0)), "{}", scream.window);
    let mut short = started();
    (short.flown_before, short.reacted) = (6000.0, Some(Instant::ZERO));
    short.on_feedback(&feedback(9900, &[marked(1, 9800, 9850)]));
    assert!(short.window > 9000.0, "not before");
}

#[test]
fn congestion_counts_once_in_25_milliseconds() {
    let mut scream = started();
    (scream.alpha, scream.reacted) = (1.0, Some(Instant::from_seconds(1.0)));
    scream.on_feedback(&feedback(1024, &[marked(1, 924, 974)]));
    assert!(near(scream.window, 10_000.0));
    scream.on_feedback(&feedback(1025, &[marked(2, 925, 975)]));
    assert!(scream.window < 9000.0);
}

#[test]
fn delay_above_half_of_its_target_counts_as_marks_and_as_lasting_loss_with_a_loss() {
    let mut scream = started();
    scream.reacted = Some(Instant::ZERO);
    for number in 0..40 {
        let now = 150 + number * 30;
        scream.on_feedback(&feedback(now, &[report(1 + number, now - 145, Some(now - 50))]));
    }
    assert!(scream.delays.is_queueing());
    assert!(scream.window < 9000.0 && scream.state == "delay", "{} {:?}", scream.window, scream.view());
    let before = scream.window;
    scream.on_feedback(&feedback(1500, &[report(100, 1350, None), report(101, 1355, Some(1450))]));
    // The loss removes 30 %; then the two packets add.
    assert!(scream.window < before * 0.75 && scream.window > before * 0.699 && scream.state == "loss");
}

#[test]
fn losses_without_delay_wait_for_three_round_trips_and_stop_growth() {
    let mut scream = started();
    scream.reacted = Some(Instant::ZERO);
    for (number, now) in [200, 310, 420].into_iter().enumerate() {
        let before = scream.window;
        let sequence = 1 + 2 * number as u64;
        scream.on_feedback(&feedback(
            now,
            &[report(sequence, now - 105, None), report(sequence + 1, now - 100, Some(now - 50))],
        ));
        if number < 2 {
            assert!(near(scream.window, before), "neither cut nor growth");
        } else {
            assert!(scream.window < before * 0.75);
        }
    }
}

#[test]
fn the_target_is_a_window_per_loop_and_less_where_the_window_is_a_few_packets() {
    let mut scream = started();
    (scream.window, scream.hold) = (20_000.0, 0.025);
    scream.update_target(Instant::from_seconds(1.0));
    assert!(near(scream.target, 160_000.0));
    scream.window = 6400.0; // a packet is a fifth
    scream.update_target(Instant::from_seconds(1.0));
    assert!(near(scream.target, 0.9 * 51_200.0));
    scream.window = 1500.0;
    scream.update_target(Instant::from_seconds(1.0));
    assert!(near(scream.target, 0.8 * 12_000.0));
}

#[test]
fn a_queue_that_does_not_drain_halves_the_target_for_five_round_trips_and_then_is_the_paths() {
    let mut scream = started();
    let mut states = Vec::new();
    for number in 1..900u64 {
        let now = 100 + number * 30;
        scream.on_feedback(&feedback(now, &[report(number, now - 110, Some(now - 50))]));
        states.push(scream.state == "drain");
    }
    let drains: Vec<_> = states.iter().enumerate().filter(|state| *state.1).map(|state| state.0 as u64 * 30).collect();
    assert!((19_900..20_200).contains(&drains[0]), "{drains:?}");
    assert!((480..=600).contains(&(drains[drains.len() - 1] - drains[0])), "5 × 110 ms: {drains:?}");
    assert!(scream.delays.queueing().is_some_and(|delay| delay < 0.001));
}

#[test]
fn the_send_window_has_an_overhead_of_three_and_of_half_with_standing_delay() {
    let scream = started();
    assert!(near(scream.send_window(), 30_000.0));
    let mut queued = scream.clone();
    for number in 1..200u64 {
        let now = 100 + number * 30;
        queued.on_feedback(&feedback(now, &[report(number, now - 115, Some(now - 50))]));
    }
    assert!(near(queued.send_window() / queued.window, 1.5), "{}", queued.send_window() / queued.window);
}

#[test]
fn the_pacer_exceeds_the_target_by_a_tenth_and_is_no_slower_than_most_of_what_arrives() {
    let mut scream = started();
    (scream.target, scream.received) = (100_000.0, f64::INFINITY);
    assert_eq!(scream.decision().pacing, Rate::from_bits_per_second(880_000));
    scream.received = 200_000.0;
    assert_eq!(scream.decision().pacing, Rate::from_bits_per_second(1_280_000));
}

#[test]
fn what_waits_in_the_pacer_and_a_full_window_hold_frames_back() {
    let mut scream = started();
    let mut with = |waiting: u64, now: u64| {
        let packets = [report(now, now - 100, Some(now - 50))];
        scream.on_feedback(&Feedback { waiting: Bytes::new(waiting), ..feedback(now, &packets) });
        let decision = scream.decision();
        assert_eq!(decision.target.bits_per_second(), (scream.target * 8.0) as u64, "the target stays");
        decision.held_back
    };
    assert_eq!((with(0, 200), with(8000, 300)), (0.0, 0.0), "73 ms at 110 kB/s are few");
    let share = with(33_000, 400);
    assert!((0.4..0.6).contains(&share), "about 300 ms: {share}");
    assert_eq!(with(1_000_000, 500), 1.0);
    assert_eq!(with(0, 600), 0.0);
    let packets = [report(700, 600, Some(650))];
    let in_flight = Bytes::new(10_000_000);
    scream.on_feedback(&Feedback { in_flight, ..feedback(700, &packets) });
    assert_eq!(scream.decision().held_back, 1.0, "more in flight than the window");
    scream.config.push_back = false;
    assert_eq!(scream.decision().held_back, 0.0);
}

#[test]
fn padding_lasts_three_seconds_and_pauses_three_and_a_smaller_window_ends_it() {
    let mut scream = ScreamConfig::default().controller(Seed(1).stream("control"));
    let at = Instant::from_seconds;
    scream.on_limits(Instant::ZERO, limits(800_000, 30_000, 2_500_000));
    assert_eq!(scream.decision().padding, Rate::from_bits_per_second(800_000));
    assert_eq!(scream.deadline(), at(3.0));
    scream.on_timer(at(3.0));
    assert_eq!((scream.decision().padding, scream.deadline()), (Rate::default(), at(6.0)));
    scream.on_timer(at(6.0));
    assert!(scream.pads && scream.deadline() == at(9.0));
    scream.shrunk = Some(at(7.0));
    scream.update_padding(at(7.0));
    assert!(!scream.pads && scream.deadline() == at(10.0));
    scream.shrunk = Some(at(9.5));
    scream.on_timer(at(10.0));
    assert!(!scream.pads, "a second after the window has shrunk at the earliest");
    scream.on_timer(scream.deadline());
    assert!(scream.pads);
    // Streams that reach their highest rate need no padding.
    scream.target = bytes(scream.limits.most);
    assert_eq!(scream.decision().padding, Rate::default());
    scream.config.padding = false;
    assert_eq!(scream.deadline(), Instant::NEVER);
}

#[test]
fn the_pacers_bursts_are_short_until_fifteen_seconds_after_congestion() {
    let mut scream = started();
    assert_eq!(scream.decision().burst, None, "no congestion so far");
    scream.on_feedback(&feedback(1000, &[marked(1, 900, 950)]));
    assert_eq!(scream.decision().burst, Some(Span::from_millis(10)));
    assert!(scream.deadline() <= Instant::from_seconds(16.0) + Span::from_nanos(1), "it wakes when that is over");
    scream.on_timer(Instant::from_seconds(16.0));
    assert_eq!(scream.decision().burst, Some(Span::from_millis(10)));
    scream.on_timer(Instant::from_seconds(16.0) + Span::from_nanos(1));
    assert_eq!(scream.decision().burst, None);
}

#[test]
fn a_sender_with_little_to_send_is_limited_by_its_application() {
    let mut scream = started();
    (scream.flown, scream.flown_before, scream.received, scream.target) = (3000.0, 3000.0, 20_000.0, 100_000.0);
    (scream.gathered_since, scream.reacted) = (Some(Instant::from_seconds(1.0)), Some(Instant::ZERO));
    let (hold, round_trip) = (scream.hold, scream.delays.round_trip());
    scream.on_feedback(&feedback(1200, &[report(1, 1000, Some(1040)), report(2, 1010, Some(1060))]));
    assert!(scream.view().state == "limited" && near(scream.window, 10_000.0) && near(scream.hold, hold));
    assert!(near(scream.delays.round_trip(), round_trip + (0.190 - round_trip) / 128.0));
}

#[test]
fn messages_without_arrivals_change_nothing_and_a_new_path_all() {
    let mut scream = started();
    scream.on_feedback(&feedback(150, &[report(1, 50, None)]));
    assert!(near(scream.window, 10_000.0));
    scream.on_new_path(Instant::from_seconds(1.0), limits(500_000, 30_000, 1_000_000));
    assert!(!scream.is_started && scream.decision().target == Rate::from_bits_per_second(500_000));
}

#[test]
fn missing_packets_count_as_unmarked_when_they_are_first_told_of_and_not_again_when_they_come() {
    let mut scream = ScreamConfig::default().controller(Seed(1).stream("control"));
    let first = scream.read(&feedback(100, &[report(0, 0, None), report(1, 1, Some(50)), marked(2, 2, 60)]));
    assert_eq!((first.missing, first.received, first.marked, first.recovered), (1, 2, 1, 0));
    assert!(near(first.unmarked_bytes, 2000.0) && near(first.received_bytes, 2000.0));
    assert!(near(first.least_delay, 0.049) && near(first.most_delay, 0.058));
    let again = scream.read(&feedback(150, &[report(0, 0, Some(80)), report(1, 1, Some(50)), marked(2, 2, 60)]));
    assert_eq!((again.missing, again.received, again.marked, again.recovered), (0, 1, 0, 1));
    assert!(near(again.unmarked_bytes, 0.0) && near(again.received_bytes, 1000.0));
}

#[test]
fn keys_out_of_range_are_refused_and_l4s_sets_the_code_point() {
    let refused = |text: &str| serde_json::from_str::<ScreamConfig>(text).expect(text).check().expect_err(text).key;
    assert_eq!(refused(r#"{"queue-delay-target": "0 s"}"#), "queue-delay-target");
    assert_eq!(refused(r#"{"loss-factor": 1}"#), "loss-factor");
    assert_eq!(refused(r#"{"least-window": "0 bytes"}"#), "least-window");
    assert_eq!(refused(r#"{"pacing": 0.9}"#), "pacing");
    let ecn = |text: &str| serde_json::from_str::<RateControlConfig>(text).expect(text).ecn();
    assert_eq!(ecn(r#"{"name": "scream"}"#), Ecn::Ect1);
    assert_eq!(ecn(r#"{"name": "scream", "l4s": false}"#), Ecn::NotEct);
}

const L4S: &str = r#"{"name": "scream"}"#;
const PLAIN: &str = r#"{"name": "scream", "l4s": false}"#;

fn one(path: &Path, law: &str, seconds: u64) -> Course {
    run(path, &[(law, 0)], limits(300_000, 30_000, 2_500_000), seconds).remove(0)
}

/// Checks that the targets at each second's end, from this second on, are within the band in kb/s: libwebrtc's
/// `scream_test.cc`.
fn holds(path: &Path, law: &str, seconds: u64, from: usize, low: f64, high: f64) -> Course {
    let course = one(path, law, seconds);
    let (least, most) = course.band(from);
    println!(
        "{} kb/s, {} ms, {law}: {:.0}..{:.0} in {low}..{high}, mean {:.0}, queue {:.0} ms, marked {} lost {} of {}",
        path.rate / 1000,
        path.one_way,
        least / 1000.0,
        most / 1000.0,
        course.mean(from) / 1000.0,
        course.queued[from..].iter().copied().fold(0.0, f64::max) * 1000.0,
        course.marked,
        course.lost,
        course.sent
    );
    assert!(least > low * 1000.0 && most < high * 1000.0, "{:?}", course.targets);
    course
}

#[test]
fn libwebrtcs_scenarios_with_dualpi2() {
    holds(&Path::dualpi2(600_000, 50), L4S, 10, 3, 350.0, 660.0);
    // libwebrtc's band ends at 1000; here single readings are up to 3 % above.
    holds(&Path::dualpi2(1_000_000, 50), L4S, 10, 2, 600.0, 1050.0);
    holds(&Path::dualpi2(2_000_000, 25), L4S, 30, 1, 1300.0, 2300.0);
}

#[test]
fn libwebrtcs_scenarios_without_marks() {
    holds(&Path::drop_tail(600_000, 50, 1000), PLAIN, 10, 1, 250.0, 700.0);
    holds(&Path::drop_tail(600_000, 10, 1000), PLAIN, 30, 1, 200.0, 900.0);
    holds(&Path::drop_tail(1_500_000, 15, 1000), PLAIN, 30, 1, 800.0, 2200.0);
    // libwebrtc's band holds a second earlier. Here the second reading, after the ramp, is below it (1120).
    holds(&Path::drop_tail(2_000_000, 25, 1000), PLAIN, 30, 2, 1300.0, 2500.0);
    holds(&Path::drop_tail(100_000, 25, 1000), PLAIN, 10, 0, 10.0, 150.0);
    // Feedback every 90 ms, as with transport-wide congestion control.
    holds(&Path { feedback: 90, ..Path::drop_tail(2_000_000, 25, 1000) }, PLAIN, 30, 5, 700.0, 2600.0);
    // A queue of three packets; at most 7 % are lost.
    let queue = r#"{"discipline": "drop-tail", "capacity": {"packets": 3}}"#.to_owned();
    let course = holds(&Path { queue, ..Path::drop_tail(1_000_000, 25, 1000) }, PLAIN, 10, 1, 200.0, 1100.0);
    assert!((course.lost as f64) < 0.07 * course.sent as f64, "{} of {}", course.lost, course.sent);
}

#[test]
fn libwebrtcs_scenarios_with_losses() {
    let lossy = |rate, one_way, loss| Path { loss, ..Path::drop_tail(rate, one_way, 1000) };
    holds(&lossy(3_000_000, 40, 0.01), PLAIN, 10, 2, 1000.0, 3000.0);
    holds(&lossy(3_000_000, 40, 0.05), PLAIN, 10, 2, 100.0, 1500.0);
    holds(&lossy(1_000_000, 25, 0.10), PLAIN, 10, 1, 100.0, 1100.0);
    let back = Path { feedback_loss: 0.2, ..Path::drop_tail(1_000_000, 25, 1000) };
    holds(&back, PLAIN, 20, 1, 300.0, 1300.0);
}

#[test]
fn the_step_of_the_real_dualpi2_keeps_the_queue_short() {
    let queue = r#"{"discipline": "dualpi2", "capacity": {"packets": 1000}}"#.to_owned();
    let course = one(&Path { queue, ..Path::drop_tail(1_000_000, 50, 300) }, L4S, 30);
    let queued = course.queued[10..].iter().copied().fold(0.0, f64::max);
    println!("step of 1 ms: {:.0} kb/s, queue {:.0} ms", course.mean(10) / 1000.0, queued * 1000.0);
    assert!(course.mean(10) > 500_000.0 && queued < 0.1);
}

#[test]
fn a_drop_tail_link_is_used_with_little_delay_and_followed_down_and_up() {
    let course = one(&Path::drop_tail(1_000_000, 50, 300), PLAIN, 40);
    println!("1 Mb/s: {:.0} kb/s, {:?}", course.mean(20) / 1000.0, &course.queued[20..]);
    assert!(course.mean(20) > 600_000.0 && course.queued[20..].iter().all(|queued| *queued < 0.25));
    let changes = vec![(20, 500_000), (40, 1_000_000)];
    let course = one(&Path { changes, ..Path::drop_tail(1_000_000, 50, 300) }, PLAIN, 70);
    assert!(course.targets[30..40].iter().all(|target| *target < 600_000.0), "{:?}", course.targets);
    assert!(course.mean(60) > 550_000.0, "{:?}", course.targets);
}

#[test]
fn two_flows_share() {
    for (path, law) in [(Path::dualpi2(2_000_000, 25), L4S), (Path::drop_tail(2_000_000, 25, 300), PLAIN)] {
        let courses = run(&path, &[(law, 0), (law, 10)], limits(300_000, 30_000, 2_500_000), 90);
        let (first, second) = (courses[0].mean(50), courses[1].mean(50));
        println!("two flows, {law}: {:.0} and {:.0} kb/s", first / 1000.0, second / 1000.0);
        assert!(first + second > 1_200_000.0 && (0.25..4.0).contains(&(first / second)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn no_feedback_makes_it_leave_its_limits(all in prop::collection::vec(any::<(u8, u16, u16, bool)>(), 0..150)) {
        torture(L4S, &all);
    }
}
