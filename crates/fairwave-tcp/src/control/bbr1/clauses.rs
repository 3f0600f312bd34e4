//! Tests of the clauses of draft-cardwell-iccrg-bbr-congestion-control-00, one by one, by the names of its
//! functions: a prepared law, one acknowledgement, and the result.

use super::*;

/// The rate of [`filled`], segments per second. Its round trip is 100 ms, so the path's capacity is 100 segments.
const RATE: f64 = 1000.0;
/// Room for three quanta of two segments each, the quantum at 8 Mb/s.
const ROOM: f64 = 6.0;

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

fn path(millis: u64, pipe: u32) -> Path {
    Path { now: ms(millis), pipe, delivered: 1000, ..Path::new(1000) }
}

fn sample() -> RateSample {
    RateSample {
        rate: Some(RATE),
        interval: Span::from_millis(100),
        prior_delivered: 900,
        in_flight: 100,
        lost: 0,
        marked: 0,
        application_limited: false,
        rtt: Span::from_millis(100),
        newly_delivered: 1,
    }
}

fn window(congestion: f64) -> Window {
    Window { congestion, threshold: 1e9 }
}

/// A law that has filled its pipe and cruises.
fn filled() -> Box<Bbr1> {
    let mut law = Bbr1Config::default().controller(Preset::Rfc);
    law.bandwidth.note(0, RATE);
    (law.state, law.filled, law.min_rtt, law.pace) = (State::ProbeBw(2), true, 0.1, RATE);
    (law.initial, law.payload) = (10.0, 1000);
    law
}

#[test]
fn bbr_set_pacing_rate_each_state_and_phase_has_its_gain() {
    let high = 2.0 / 2.0f64.ln();
    let cycle = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let phases = cycle.iter().enumerate().map(|(phase, gain)| (State::ProbeBw(phase), *gain));
    for (state, gain) in
        [(State::Startup, high), (State::Drain, 1.0 / high), (State::ProbeRtt, 1.0)].into_iter().chain(phases)
    {
        let mut law = filled();
        law.state = state;
        law.set_pace();
        assert!((law.pace - gain * RATE).abs() < 1e-9, "{state:?}: {}", law.pace);
    }
    let mut law = filled();
    (law.filled, law.pace) = (false, 5000.0);
    law.set_pace();
    assert_eq!(law.pace, 5000.0, "before the pipe was full only upwards");
}

#[test]
fn bbr_inflight_has_room_for_three_quanta() {
    let mut law = filled();
    assert!((law.inflight(1.0) - 100.0 - ROOM).abs() < 1e-9, "{}", law.inflight(1.0));
    for (pace, quantum) in [(149.0, 1.0), (151.0, 2.0), (2999.0, 2.0), (5000.0, 5.0), (100_000.0, 65.536)] {
        law.pace = pace;
        assert!((law.quantum() - quantum).abs() < 1e-9, "{} at {pace} segments per second", law.quantum());
    }
}

#[test]
fn bbr_update_btl_bw_is_the_largest_of_ten_round_trips() {
    let after = |rounds: u64| {
        let mut law = filled();
        for round in 1..=rounds {
            let path = Path { delivered: 1000 * round, ..path(0, 100) };
            let of = RateSample { rate: Some(500.0), prior_delivered: path.delivered - 1, ..sample() };
            law.update_bandwidth(&path, &of);
        }
        law.bandwidth.largest()
    };
    assert_eq!((after(9), after(10)), (RATE, 500.0));
}

#[test]
fn bbr_update_btl_bw_takes_samples_of_a_limited_sender_only_if_they_are_not_below_the_maximum() {
    // The estimate after this sample, when the previous round trip, with 1000, has expired.
    let left = |rate: f64, application_limited: bool| {
        let mut law = filled();
        law.update_bandwidth(&path(0, 100), &RateSample { rate: Some(rate), application_limited, ..sample() });
        law.bandwidth.move_to(10);
        law.bandwidth.largest()
    };
    assert_eq!((left(900.0, false), left(900.0, true), left(1100.0, true)), (900.0, 0.0, 1100.0));
}

#[test]
fn bbr_modulate_cwnd_for_recovery_conserves_packets_for_one_round_trip() {
    let mut law = filled();
    let mut window = window(200.0);
    law.on_loss(&Path { lost: 3, ..path(100, 60) }, &mut window);
    assert_eq!((law.conserves, window.congestion), (true, 61.0));
    law.rounds.begins = false;
    law.set_window(&path(100, 70), &RateSample { newly_delivered: 5, ..sample() }, 0, &mut window);
    assert_eq!(window.congestion, 75.0, "what is in flight and what was delivered");
    law.update_bandwidth(&path(150, 60), &RateSample { prior_delivered: 999, ..sample() });
    assert!(law.conserves, "sent before the loss");
    law.update_bandwidth(&path(200, 60), &RateSample { prior_delivered: 1000, ..sample() });
    assert!(!law.conserves);
}

#[test]
fn bbr_modulate_cwnd_for_recovery_what_is_lost_is_taken_off_the_window() {
    let mut law = filled();
    law.conserves = true;
    let mut window = window(50.0);
    law.set_window(&path(100, 10), &sample(), 8, &mut window);
    assert_eq!(window.congestion, 42.0);
}

#[test]
fn bbr_save_and_restore_cwnd_the_window_of_before_a_recovery_comes_back() {
    let mut law = filled();
    let mut window = window(150.0);
    law.on_loss(&path(100, 20), &mut window);
    assert_eq!(window.congestion, 21.0);
    law.on_recovered(&path(200, 20), &mut window);
    assert_eq!(window.congestion, 150.0);
}

/// The phase after an acknowledgement `millis` after the start of `phase`, with `lost` losses and `before` in
/// flight before it.
fn next_phase(phase: usize, millis: u64, lost: u64, before: f64) -> State {
    let mut law = filled();
    (law.state, law.cycle_at) = (State::ProbeBw(phase), ms(1000));
    let now = 1000 + millis;
    law.check_cycle_phase(&path(now, 100), lost, before);
    if law.state != State::ProbeBw(phase) {
        assert_eq!(law.cycle_at, ms(now), "the next phase begins now");
    }
    law.state
}

#[test]
fn bbr_is_next_cycle_phase_after_a_round_trip_and_when_its_aim_is_reached() {
    let (stays, goes) = (State::ProbeBw(0), State::ProbeBw(1));
    assert_eq!(next_phase(0, 101, 0, 130.0), stays, "less is in flight than 1.25 of what the path holds, and the room");
    assert_eq!(next_phase(0, 101, 0, 131.0), goes);
    assert_eq!(next_phase(0, 101, 1, 50.0), goes, "something was lost");
    assert_eq!(next_phase(0, 100, 1, 500.0), stays, "not within a round trip");
    assert_eq!(next_phase(1, 10, 0, 100.0 + ROOM), State::ProbeBw(2), "the queue is empty before that");
    assert_eq!(next_phase(1, 10, 0, 101.0 + ROOM), State::ProbeBw(1));
    assert_eq!(next_phase(1, 101, 0, 500.0), State::ProbeBw(2));
    assert_eq!((next_phase(7, 100, 0, 500.0), next_phase(7, 101, 0, 500.0)), (State::ProbeBw(7), State::ProbeBw(0)));
}

#[test]
fn bbr_enter_probe_bw_in_any_phase_but_the_one_that_drains() {
    let mut law = filled();
    let mut seen = [0; 8];
    for _ in 0..1000 {
        law.enter_probe_bw(ms(0));
        let State::ProbeBw(phase) = law.state else { panic!("{:?}", law.state) };
        seen[phase] += 1;
    }
    assert_eq!(seen.map(|times| times > 50), [true, false, true, true, true, true, true, true], "{seen:?}");
}

#[test]
fn bbr_check_full_pipe_needs_three_rounds_without_growth_of_a_quarter() {
    let mut law = filled();
    (law.filled, law.full, law.full_count, law.rounds.begins) = (false, RATE / 1.26, 2, true);
    law.check_full_pipe(&sample());
    assert_eq!((law.full, law.full_count), (RATE, 0), "growth begins the count anew");
    law.check_full_pipe(&RateSample { application_limited: true, ..sample() });
    assert_eq!(law.full_count, 0, "not while the application limits it");
    law.rounds.begins = false;
    law.check_full_pipe(&sample());
    assert_eq!(law.full_count, 0, "once in a round trip");
    law.rounds.begins = true;
    for filled in [false, false, true] {
        law.check_full_pipe(&sample());
        assert_eq!(law.filled, filled);
    }
}

#[test]
fn bbr_update_rtprop_a_round_trip_as_short_renews_its_time_and_after_ten_seconds_a_longer_one_is_taken() {
    let mut law = filled();
    let mut take = |millis: u64, rtt: u64| {
        let of = RateSample { rtt: Span::from_millis(rtt), ..sample() };
        law.check_probe_rtt(&path(millis, 100), &of, &mut window(100.0));
        ((law.min_rtt * 1000.0).round(), law.min_rtt_at, law.state == State::ProbeRtt)
    };
    assert_eq!(take(5000, 100), (100.0, ms(5000), false));
    assert_eq!(take(6000, 101), (100.0, ms(5000), false));
    assert_eq!(take(15_000, 120), (100.0, ms(5000), false));
    assert_eq!(take(15_001, 120), (120.0, ms(15_001), true), "and ProbeRTT begins");
}

#[test]
fn bbr_check_probe_rtt_is_spared_after_an_idle_time() {
    let mut law = filled();
    let idle = RateSample { application_limited: true, in_flight: 1, rtt: Span::from_millis(120), ..sample() };
    law.check_probe_rtt(&path(10_001, 1), &idle, &mut window(100.0));
    assert_ne!(law.state, State::ProbeRtt);
}

#[test]
fn bbr_check_probe_rtt_lasts_200_ms_and_a_round_trip_with_four_in_flight_and_gives_the_window_back() {
    for (round_at, ends_at) in [(10_300, 10_601), (10_700, 10_700)] {
        let (mut law, mut window) = (filled(), window(150.0));
        let mut ended = None;
        // Four are in flight from 10.4 s on. A round trip ends at `round_at`, which counts only after that, and at
        // `ends_at`.
        for (millis, pipe) in
            [(10_001, 100), (10_300, 5), (10_400, 4), (10_500, 4), (10_600, 4), (10_601, 4), (10_700, 4)]
        {
            law.rounds.begins = millis == round_at || (millis == 10_500 && ends_at == 10_601);
            // Only the first is the smallest; the later ones are longer.
            let rtt = Span::from_millis(if millis == 10_001 { 120 } else { 130 });
            law.check_probe_rtt(&path(millis, pipe), &RateSample { rtt, ..sample() }, &mut window);
            if law.state != State::ProbeRtt {
                ended = Some(millis);
                break;
            }
            law.set_window(&path(millis, pipe), &sample(), 0, &mut window);
            assert_eq!(window.congestion, 4.0);
        }
        assert_eq!((ended, window.congestion), (Some(ends_at), 150.0));
        assert_eq!(law.min_rtt_at, ms(ends_at), "the next is due ten seconds from now");
    }
}
