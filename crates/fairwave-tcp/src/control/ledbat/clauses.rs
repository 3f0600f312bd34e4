//! Tests of the clauses of LEDBAT++, one by one, by the titles of the draft's sections: one acknowledgement, loss
//! or timeout at a time.

use super::*;

fn law() -> Box<LedbatPlusPlus> {
    LedbatPlusPlusConfig::default().controller(Preset::Rfc)
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// The acknowledgement of a segment in a filled window, without a queue on a path of 120 ms: GAIN is 1.
fn ack(number: u32, millis: u64, window: f64) -> Path {
    Path {
        now: ms(millis),
        rtt: Span::from_millis(120),
        acknowledged: 1,
        flight: window as u32,
        in_use: window,
        unacknowledged: number,
        next: number + window as u32,
        ..Path::new(1000)
    }
}

/// A law in a slowdown to two segments since 1 s, from a window of 60.
fn slow() -> (Box<LedbatPlusPlus>, Window) {
    let (mut law, mut window) = (law(), Window { congestion: 60.0, threshold: 60.0 });
    law.on_ack(&ack(1, 700, 60.0), &mut window);
    assert_eq!((law.phase, law.slow_at), (Phase::Steady, ms(940)), "two round trips after the first slow start");
    law.on_ack(&ack(2, 1000, 60.0), &mut window);
    assert_eq!(law.phase, Phase::Slow { since: ms(1000), until: ms(1240) });
    assert_eq!(window.congestion, 2.0);
    (law, window)
}

#[test]
fn initial_and_periodic_slowdown_the_threshold_is_the_window_of_before() {
    let (mut law, mut window) = (law(), Window { congestion: 60.0, threshold: 20.0 });
    law.on_ack(&ack(1, 700, 60.0), &mut window);
    let before = window.congestion;
    law.on_ack(&ack(2, 1000, 60.0), &mut window);
    assert_eq!(window, Window { congestion: 2.0, threshold: before });
}

#[test]
fn initial_and_periodic_slowdown_a_loss_or_a_timeout_ends_it_and_the_next_comes_nine_times_as_long_later() {
    for timeout in [false, true] {
        let (mut law, mut window) = slow();
        let path = ack(3, 1200, 2.0);
        if timeout {
            law.on_timeout(&path, &mut window)
        } else {
            law.on_loss(&path, &mut window)
        };
        assert_eq!((law.phase, law.slow_at), (Phase::Steady, ms(1200 + 9 * 200)), "timeout: {timeout}");
    }
}

#[test]
fn initial_and_periodic_slowdown_its_length_counts_from_the_fall_of_the_window() {
    let (mut law, mut window) = slow();
    law.on_ack(&ack(3, 1300, 2.0), &mut window);
    assert_eq!(law.phase, Phase::Back { since: ms(1000) });
    law.on_loss(&ack(4, 1500, 3.0), &mut window);
    assert_eq!(law.slow_at, ms(1500 + 9 * 500));
}

#[test]
fn multiplicative_decrease_what_has_given_way_does_not_come_back_by_slow_start() {
    let (mut law, mut window) = (law(), Window { congestion: 100.0, threshold: 90.0 });
    law.phase = Phase::Steady;
    law.base.note(ms(1), 0.040);
    law.latest = [0.220; FILTER];
    for _ in 0..40 {
        law.avoid(&ack(1, 2, window.congestion), true, &mut window);
    }
    assert!(window.congestion < 90.0 && !window.in_slow_start(), "{window:?}");
}

#[test]
fn slower_than_reno_increase_only_while_the_window_is_filled() {
    let (mut law, mut window) = (law(), Window { congestion: 100.0, threshold: 90.0 });
    law.phase = Phase::Steady;
    law.base.note(ms(1), 0.120);
    law.latest = [0.130; FILTER];
    law.avoid(&ack(1, 2, 100.0), false, &mut window);
    assert_eq!(window.congestion, 100.0);
    law.avoid(&ack(2, 3, 100.0), true, &mut window);
    assert_eq!(window.congestion, 100.01, "GAIN is 1");
}

#[test]
fn a_second_timeout_of_the_same_segment_holds_the_threshold() {
    let (mut law, mut window) = (law(), Window { congestion: 60.0, threshold: 5.0 });
    law.on_timeout(&ack(1, 100, 60.0), &mut window);
    law.on_timeout(&Path { timed_out_before: true, ..ack(1, 500, 8.0) }, &mut window);
    assert_eq!(window, Window { congestion: 1.0, threshold: 30.0 });
}
