use super::super::test_pipe::{Pipe, estimated};
use super::*;

type SingleFlow = Pipe<Box<Bbr1>>;

const RATE: f64 = 1000.0;

/// A sample with this many segments newly delivered.
pub(super) fn delivers(newly_delivered: u32) -> RateSample {
    RateSample {
        rate: Some(RATE),
        interval: Span::from_millis(40),
        prior_delivered: 0,
        in_flight: 40,
        lost: 0,
        marked: 0,
        application_limited: false,
        rtt: Span::MAX,
        newly_delivered,
    }
}

/// A single flow on a path of 1000 segments per second and 40 ms, with a capacity of 40 segments.
fn alone() -> SingleFlow {
    Pipe::new(Bbr1Config::default().controller(Preset::Rfc), RATE, 40)
}

/// The states until `seconds`, each with its start.
fn states(pipe: &mut SingleFlow, seconds: f64) -> Vec<(f64, State)> {
    let mut states: Vec<(f64, State)> = Vec::new();
    pipe.run_until(seconds, |pipe| {
        if states.last().is_none_or(|(_, state)| *state != pipe.law.state) {
            states.push((pipe.now.seconds(), pipe.law.state));
        }
    });
    states
}

#[test]
fn startup_doubles_the_rate_each_round_trip_until_three_bring_no_quarter_more_and_drain_empties_the_queue() {
    let mut pipe = alone();
    let mut paces = Vec::new();
    let (mut drained, mut highest) = (f64::NAN, 0.0f64);
    let mut round = 0;
    pipe.run_until(2.0, |pipe| {
        if pipe.law.state == State::Startup && pipe.law.rounds.count > round {
            round = pipe.law.rounds.count;
            paces.push(pipe.law.pace);
        }
        highest = highest.max(pipe.queue());
        if drained.is_nan() && matches!(pipe.law.state, State::ProbeBw(_)) {
            drained = pipe.queue();
        }
    });
    assert!(paces[1] / paces[0] > 1.5 && paces[2] / paces[0] > 2.5, "{paces:?}");
    let last = paces[paces.len() - 1];
    assert!((last / (HIGH_GAIN * RATE) - 1.0).abs() < 0.03, "{paces:?}");
    // cwnd_gain bounds the queue of Startup, and Drain removes all of it.
    assert!(highest > 40.0 && highest < (HIGH_GAIN - 1.0) * 40.0 + 10.0, "{highest}");
    // Except for the three quanta of two segments each, the quantum at 8 Mb/s.
    assert!((QUANTA + 1.0..=2.0 * QUANTA + 1.0).contains(&drained), "{drained}");
}

#[test]
fn a_quantum_is_a_segment_below_1_2_megabits_two_below_24_and_then_a_millisecond_of_at_most_64_kilobytes() {
    let mut law = *Bbr1Config::default().controller(Preset::Rfc);
    law.payload = 1000;
    for (megabits, quantum) in
        [(0.0, 1.0), (1.19, 1.0), (1.2, 2.0), (23.9, 2.0), (24.0, 3.0), (80.0, 10.0), (524.0, 65.5), (2000.0, 65.536)]
    {
        law.pace = megabits * 1e6 / 8000.0;
        assert!((law.quantum() - quantum).abs() < 1e-9, "{} at {megabits} Mb/s", law.quantum());
    }
    (law.pace, law.min_rtt) = (1000.0, 0.04);
    law.bandwidth.move_to(1);
    assert_eq!(law.inflight(2.0) - law.inflight(1.0) * 2.0, -6.0, "three of them, whatever the gain");
}

#[test]
fn it_finds_the_rate_and_the_round_trip_and_keeps_about_what_the_path_holds_in_flight() {
    let mut pipe = alone();
    pipe.run_until(2.0, |_| {});
    let before = pipe.path.delivered;
    let (mut sum, mut acks, mut highest) = (0.0, 0.0, 0.0f64);
    pipe.run_until(9.0, |pipe| {
        (sum, acks) = (sum + f64::from(pipe.in_flight()), acks + 1.0);
        highest = highest.max(f64::from(pipe.in_flight()));
        assert!((estimated(&pipe.law) / (RATE * 8000.0) - 1.0).abs() < 0.02);
        assert!((pipe.law.min_rtt - 0.041).abs() < 1e-6, "and the segment's own service");
    });
    assert!((pipe.path.delivered - before) as f64 / 7.0 / RATE > 0.98);
    let mean = sum / acks / pipe.product();
    assert!((0.95..1.25).contains(&mean), "{mean} of what the path holds");
    assert!(highest / pipe.product() < 1.5, "a quarter more in the first phase: {highest}");
}

#[test]
fn probe_bw_goes_through_eight_phases_of_a_round_trip_each() {
    let mut pipe = alone();
    pipe.run_until(2.0, |_| {});
    let phases: Vec<(f64, State)> = states(&mut pipe, 4.0).into_iter().skip(1).collect();
    assert!(phases.len() > 40, "{}", phases.len());
    for pair in phases.windows(2) {
        let ((began, State::ProbeBw(phase)), (ended, State::ProbeBw(next))) = (pair[0], pair[1]) else {
            panic!("{pair:?}")
        };
        assert_eq!(next, (phase + 1) % 8);
        let lasted = (ended - began) / pipe.law.min_rtt;
        assert!(lasted < 1.4 && (phase == 1 || lasted >= 1.0), "phase {phase} lasted {lasted} round trips");
    }
}

#[test]
fn probe_bw_begins_in_any_phase_but_the_one_that_drains() {
    let mut law = Bbr1Config::default().controller(Preset::Rfc);
    let mut seen = [0; 8];
    for _ in 0..700 {
        law.enter_probe_bw(Instant::ZERO);
        let State::ProbeBw(phase) = law.state else { panic!("{:?}", law.state) };
        seen[phase] += 1;
    }
    assert_eq!(seen[1], 0);
    assert!((0..8).filter(|phase| *phase != 1).all(|phase| (60..150).contains(&seen[phase])), "{seen:?}");
}

#[test]
fn the_path_is_measured_by_four_segments_for_200_ms_once_ten_seconds_brought_no_round_trip_as_short() {
    let mut pipe = alone();
    pipe.run_until(5.0, |_| {});
    // The path gets longer. Only a measurement without a queue reveals this.
    pipe.delay = Span::from_millis(60);
    let states = states(&mut pipe, 33.0);
    let probes: Vec<usize> = (0..states.len() - 1).filter(|at| states[*at].1 == State::ProbeRtt).collect();
    let times: Vec<f64> = probes.iter().map(|at| states[*at].0).collect();
    // The connection last saw a round trip without a queue at its start.
    assert!(times.len() == 3 && (10.0..10.4).contains(&times[0]), "{times:?}");
    assert!(times.windows(2).all(|pair| (10.0..10.7).contains(&(pair[1] - pair[0]))), "{times:?}");
    for at in probes {
        let lasted = states[at + 1].0 - states[at].0;
        assert!((0.2..0.5).contains(&lasted), "with the round trip in which what is in flight leaves: {lasted}");
    }
    assert!((pipe.law.min_rtt - 0.061).abs() < 1e-3, "{}", pipe.law.min_rtt);
    let delivered = pipe.path.delivered;
    pipe.run_until(37.0, |_| {});
    assert!((pipe.path.delivered - delivered) as f64 / 4.0 / RATE > 0.97);
}

#[test]
fn probe_rtt_keeps_four_segments_in_flight_and_the_window_of_before_returns() {
    let mut pipe = alone();
    pipe.run_until(5.0, |_| {});
    pipe.delay = Span::from_millis(60);
    let (mut least, mut before, mut after) = (f64::INFINITY, f64::NAN, f64::NAN);
    let mut was = false;
    pipe.run_until(20.0, |pipe| {
        let probes = pipe.law.state == State::ProbeRtt;
        if probes {
            least = least.min(pipe.window.congestion);
        } else if was && after.is_nan() {
            after = pipe.window.congestion;
        } else if before.is_nan() || least == f64::INFINITY {
            before = pipe.window.congestion;
        }
        was = probes;
    });
    assert_eq!(least, LEAST);
    assert!(after >= before - 1.0, "{after} after {before}");
}

#[test]
fn the_rate_of_ten_round_trips_ago_is_forgotten() {
    let mut pipe = alone();
    pipe.run_until(5.0, |_| {});
    pipe.rate = RATE / 4.0;
    // Round trips last up to window ÷ rate: 80 segments at 250 per second.
    pipe.run_until(10.0, |_| {});
    assert!((estimated(&pipe.law) / (RATE / 4.0 * 8000.0) - 1.0).abs() < 0.03, "{}", estimated(&pipe.law));
    pipe.rate = RATE;
    pipe.run_until(14.0, |_| {});
    assert!((estimated(&pipe.law) / (RATE * 8000.0) - 1.0).abs() < 0.03, "and a higher one is found");
}

#[test]
fn losses_lower_the_window_by_what_is_lost_within_a_recovery_but_not_the_rate() {
    let mut pipe = alone();
    pipe.buffer = 12.0;
    pipe.run_until(5.0, |_| {});
    let (lost, delivered) = (pipe.path.lost, pipe.path.delivered);
    pipe.run_until(10.0, |_| {});
    let share = (pipe.path.lost - lost) as f64 / (pipe.path.delivered - delivered) as f64;
    assert!(share > 0.0 && share < 0.1, "its window of two pipes does not fit, its pace does: {share}");
    assert!((pipe.path.delivered - delivered) as f64 / 5.0 / RATE > 0.9);
    assert!((estimated(&pipe.law) / (RATE * 8000.0) - 1.0).abs() < 0.03);
}

#[test]
fn a_recovery_sends_as_much_as_is_delivered_for_a_round_trip_and_then_returns() {
    let mut law = Bbr1Config::default().controller(Preset::Rfc);
    let mut window = Window { congestion: 80.0, threshold: 1e9 };
    let path = Path { pipe: 50, next: 200, unacknowledged: 100, ..Path::new(1000) };
    assert_eq!(law.on_loss(&path, &mut window), Verdict::Congestion);
    assert_eq!((window.congestion, law.prior, law.conserves), (51.0, 80.0, true));
    law.on_recovered(&path, &mut window);
    assert_eq!((window.congestion, law.conserves), (80.0, false));
    assert_eq!(law.on_timeout(&path, &mut window), Verdict::Congestion);
    assert_eq!(window.congestion, 1.0);
    law.on_recovered(&path, &mut window);
    assert_eq!(window.congestion, 80.0);
}

#[test]
fn an_application_that_pauses_leaves_the_rate_as_it_was_and_spares_probe_rtt() {
    let mut pipe = alone();
    pipe.run_until(5.0, |_| {});
    pipe.delay = Span::from_millis(60);
    pipe.idle_until = Instant::from_seconds(16.0);
    pipe.run_until(15.9, |_| {});
    let states = states(&mut pipe, 17.0);
    assert!((estimated(&pipe.law) / (RATE * 8000.0) - 1.0).abs() < 0.03, "{}", estimated(&pipe.law));
    assert!(states.iter().all(|(_, state)| *state != State::ProbeRtt), "{states:?}");
}

#[test]
fn before_the_first_sample_the_pace_is_that_of_the_first_window_and_a_millisecond() {
    let law = Bbr1Config::default().controller(Preset::Rfc);
    let window = Window { congestion: 10.0, threshold: 1e9 };
    assert!((law.pacing(&Path::new(1000), &window) - HIGH_GAIN * 10_000.0).abs() < 1e-6);
    let known = Path { rtt: Span::from_millis(100), ..Path::new(1000) };
    assert!((law.pacing(&known, &window) - HIGH_GAIN * 100.0).abs() < 1e-6);
    assert_eq!(law.estimate(), None);
}

/// A law with the Linux preset on a path of 1000 segments per second and 40.5 ms, after startup.
fn of_linux() -> Bbr1 {
    let mut law = *Bbr1Config::default().controller(Preset::Linux);
    (law.payload, law.pace, law.min_rtt, law.filled) = (1000, 1000.0, 0.0405, true);
    law.bandwidth.note(1, 1000.0);
    law
}

#[test]
fn linux_paces_one_percent_below_the_rate() {
    let mut law = of_linux();
    law.state = State::ProbeBw(2);
    law.set_pace();
    assert!((law.pace - 990.0).abs() < 1e-9, "{}", law.pace);
    let mut draft = *Bbr1Config::default().controller(Preset::Rfc);
    (draft.filled, draft.state) = (true, State::ProbeBw(2));
    draft.bandwidth.note(1, 1000.0);
    draft.set_pace();
    assert_eq!(draft.pace, 1000.0);
}

#[test]
fn linux_rounds_windows_up_to_even_numbers_and_adds_two_segments_while_it_probes() {
    let mut law = of_linux();
    law.state = State::ProbeBw(2);
    assert_eq!(law.inflight(2.0), 88.0, "81 and three quanta of two are 87");
    assert_eq!(law.inflight(1.0), 48.0, "40.5 and 6");
    law.state = State::ProbeBw(0);
    assert_eq!(law.inflight(2.0), 90.0);
    law.even = false;
    assert_eq!(law.inflight(2.0), 87.0);
}

#[test]
fn linux_adds_what_acknowledgements_bring_in_bunches_to_the_window_once_the_pipe_was_full() {
    let mut law = of_linux();
    law.state = State::ProbeBw(2);
    let mut bunches = Aggregation::default();
    bunches.update(Instant::from_seconds(1.0), true, &delivers(20), 1000.0, 87.0);
    law.aggregation = Some(bunches);
    let widened = |law: &Bbr1| {
        let mut window = Window { congestion: 200.0, threshold: 1e9 };
        law.set_window(&Path::new(1000), &delivers(1), 0, &mut window);
        window.congestion
    };
    assert_eq!(widened(&law), 108.0, "20 more than 87, and even");
    law.filled = false;
    assert!(widened(&law) >= 200.0, "before that nothing cuts the window");
    (law.filled, law.aggregation) = (true, None);
    assert_eq!(widened(&law), 88.0);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let config = Bbr1Config::default();
    assert!(config.check().is_ok());
    assert!(Bbr1Config { pacing_margin: Some(0.0), ..config }.check().is_ok());
    for bad in [
        Bbr1Config { cwnd_gain: 1.0, ..config },
        Bbr1Config { min_rtt_window: Span::ZERO, ..config },
        Bbr1Config { probe_rtt_duration: Span::ZERO, ..config },
        Bbr1Config { pacing_margin: Some(-0.01), ..config },
        Bbr1Config { pacing_margin: Some(1.0), ..config },
    ] {
        assert!(bad.check().is_err());
    }
}
