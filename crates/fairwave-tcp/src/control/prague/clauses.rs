//! Tests of the clauses of Prague, one by one: acknowledgements and marks, one at a time. Source:
//! `net/ipv4/tcp_prague.c` in `L4STeam/linux`; RFC 8257 for α.

use super::*;

/// A law after the 500 round trips that make it independent of the round trip.
fn old() -> Box<Prague> {
    let mut law = PragueConfig::default().controller(Preset::Rfc);
    law.rounds = 500;
    law
}

fn young() -> Box<Prague> {
    PragueConfig::default().controller(Preset::Rfc)
}

/// The acknowledgement of one segment on a path of this round trip, in a filled window that moves by a segment
/// with each. A window of data passes with every tenth.
fn ack(number: u32, at_millis: u64, rtt_millis: u64, marked: bool) -> Path {
    Path {
        now: Instant::ZERO + Span::from_millis(at_millis),
        rtt: Span::from_millis(rtt_millis),
        acknowledged: 1,
        marked: u32::from(marked),
        flight: 1000,
        in_use: 10.0,
        unacknowledged: number,
        next: number + 9,
        ..Path::new(1000)
    }
}

fn window(congestion: f64, threshold: f64) -> Window {
    Window { congestion, threshold }
}

#[test]
fn windows_of_data_are_measured_once_on_a_long_path() {
    let (mut law, mut window) = (young(), window(10.0, 10.0));
    let mut measured = Vec::new();
    law.on_mark(&ack(1, 1, 50, true), &mut window);
    for number in 1..=60 {
        let before = law.estimate();
        law.on_other_ack(&ack(number, u64::from(number) * 5, 50, false), &mut window);
        if law.estimate() != before {
            measured.push(number);
        }
    }
    assert_eq!(measured, [1, 11, 21, 31, 41, 51]);
}

#[test]
fn counts_before_the_first_mark_do_not_enter_alpha() {
    let (mut law, mut window) = (young(), window(10.0, 10.0));
    for number in 1..=50 {
        law.on_other_ack(&ack(number, u64::from(number) * 5, 50, false), &mut window);
    }
    assert_eq!(law.estimate(), Some(Estimate::MarkedShare(1.0)));
    // The next window is marked throughout: α stays 1.
    for number in 51..=61 {
        law.on_other_ack(&ack(number, u64::from(number) * 5, 50, number > 51), &mut window);
    }
    assert_eq!(law.estimate(), Some(Estimate::MarkedShare(1.0)));
}

#[test]
fn slow_start_counts_a_short_round_trip_as_it_is() {
    // A mark every 5 ms. Within the virtual round trip of 25 ms, congestion avoidance responds once, slow start to
    // each mark.
    let left = |threshold: f64| {
        let (mut law, mut window) = (old(), window(64.0, threshold));
        law.on_other_ack(&ack(1, 5, 5, false), &mut window);
        for n in 0..3 {
            law.on_mark(&ack(20 + 20 * n, u64::from(10 + 5 * n), 5, true), &mut window);
            window.threshold = threshold;
        }
        window.congestion
    };
    assert_eq!((left(1.0), left(1e9)), (32.0, 8.0));
}

#[test]
fn slow_start_ends_at_the_threshold() {
    let (mut law, mut window) = (young(), window(10.0, 11.5));
    law.on_ack(&Path { acknowledged: 5, ..ack(5, 5, 50, false) }, &mut window);
    assert_eq!(law.fraction, 11.5);
}

#[test]
fn a_second_timeout_of_the_same_segment_holds_the_threshold() {
    let (mut law, mut window) = (young(), window(40.0, 100.0));
    law.on_timeout(&Path { in_use: 30.0, ..ack(1, 1, 50, false) }, &mut window);
    law.on_timeout(&Path { in_use: 8.0, timed_out_before: true, ..ack(1, 1000, 50, false) }, &mut window);
    assert_eq!(window, Window { congestion: 1.0, threshold: 15.0 });
}

#[test]
fn a_mark_and_a_loss_set_the_threshold_to_the_window_that_they_leave() {
    let (mut law, mut window) = (young(), window(41.0, 1000.0));
    law.on_mark(&ack(1, 1, 50, true), &mut window);
    assert_eq!(window, Window { congestion: 21.0, threshold: 21.0 }, "α = 1 takes half, and a begun segment is used");
    let (mut law, mut window) = (young(), self::window(41.0, 1000.0));
    law.on_loss(&ack(1, 1, 50, false), &mut window);
    assert_eq!(window, Window { congestion: 21.0, threshold: 21.0 });
}

#[test]
fn the_window_is_at_least_two_segments() {
    let (mut law, mut window) = (young(), window(2.0, 2.0));
    law.on_mark(&ack(1, 1, 50, true), &mut window);
    assert_eq!((law.fraction, window.congestion), (2.0, 2.0));
    law.on_loss(&ack(2, 2, 50, false), &mut window);
    assert_eq!((law.fraction, window.congestion), (2.0, 2.0));
}
