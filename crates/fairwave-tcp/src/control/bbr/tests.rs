use super::super::test_pipe::{Pipe, estimated};
use super::*;

type SingleFlow = Pipe<Box<Bbr>>;

const RATE: f64 = 1000.0;

pub(super) fn bbr() -> Box<Bbr> {
    BbrConfig::default().controller(Preset::Rfc)
}

/// A single flow on a path of 1000 segments per second and 40 ms, with a capacity of 40 segments.
fn alone() -> SingleFlow {
    Pipe::new(bbr(), RATE, 40)
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

/// Estimated bandwidth ÷ true bandwidth.
fn found(pipe: &SingleFlow) -> f64 {
    estimated(&pipe.law) / (pipe.rate * 8000.0)
}

/// Delivered data until `seconds` ÷ the path's capacity.
fn utilisation(pipe: &mut SingleFlow, seconds: f64) -> f64 {
    let (before, began) = (pipe.path.delivered, pipe.now.seconds());
    pipe.run_until(seconds, |_| {});
    (pipe.path.delivered - before) as f64 / (seconds - began) / pipe.rate
}

#[test]
fn startup_ends_on_a_plateau_of_three_rounds_and_drain_empties_its_queue() {
    let mut pipe = alone();
    let (mut highest, mut drained, mut counts) = (0.0f64, f64::NAN, Vec::new());
    pipe.run_until(2.0, |pipe| {
        highest = highest.max(pipe.queue());
        if pipe.law.state == State::Startup {
            counts.push(pipe.law.full.count);
        }
        if drained.is_nan() && pipe.law.state.is_probe_bw() {
            drained = pipe.queue();
        }
    });
    assert!(pipe.law.full.reached);
    assert_eq!(counts.iter().max(), Some(&2), "the third ends it");
    assert!((found(&pipe) - 1.0).abs() < 0.02, "{}", found(&pipe));
    assert!(highest > 30.0 && highest < 55.0, "the window of two pipes bounds it: {highest}");
    assert!(drained <= 2.0, "{drained}");
}

#[test]
fn it_finds_the_rate_within_two_per_cent_and_keeps_about_what_the_path_holds_in_flight() {
    for (rate, millis) in [(1000.0, 40), (10_000.0, 20), (300.0, 150)] {
        let mut pipe = Pipe::new(bbr(), rate, millis);
        pipe.run_until(4.0, |_| {});
        let before = pipe.path.delivered;
        let (mut sum, mut acks) = (0.0, 0.0);
        pipe.run_until(24.0, |pipe| {
            assert!((found(pipe) - 1.0).abs() < 0.02, "{} at {}", found(pipe), pipe.now.seconds());
            if pipe.law.state != State::ProbeRtt {
                (sum, acks) = (sum + f64::from(pipe.in_flight()), acks + 1.0);
            }
        });
        let mean = sum / acks / pipe.product();
        assert!((0.9..1.25).contains(&mean), "{mean} of what the path holds");
        let delivered = (pipe.path.delivered - before) as f64 / 20.0 / rate;
        assert!(delivered > 0.95, "{delivered}");
    }
}

#[test]
fn probe_bw_goes_down_cruises_refills_for_a_round_trip_and_goes_up() {
    let mut pipe = alone();
    pipe.run_until(1.0, |_| {});
    let states: Vec<(f64, State)> = states(&mut pipe, 60.0).into_iter().skip(1).collect();
    let mut ups = Vec::new();
    for pair in states.windows(2) {
        let ((began, state), (ended, next)) = (pair[0], pair[1]);
        let lasted = ended - began;
        match state {
            State::Down => assert!(matches!(next, State::Cruise | State::ProbeRtt)),
            State::Cruise => assert!(matches!(next, State::Refill | State::ProbeRtt)),
            State::Refill => assert!(next == State::Up && (0.035..0.09).contains(&lasted), "{lasted}"),
            State::Up => {
                ups.push(began);
                assert!(next == State::Down && (0.1..0.4).contains(&lasted), "{lasted}");
            }
            State::ProbeRtt => assert_eq!(next, State::Cruise),
            State::Startup | State::Drain => panic!("{pair:?}"),
        }
    }
    // Forty segments are forty round trips of Reno, less than the two seconds of the wait. With the probing itself
    // it is about two seconds. ProbeRTT restarts the wait.
    assert!(ups.len() > 20, "{ups:?}");
    let waits: Vec<f64> = ups.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(waits.iter().all(|wait| (1.9..3.4).contains(wait)), "{waits:?}");
}

#[test]
fn on_a_large_product_the_clock_has_it_probe_after_two_to_three_seconds() {
    // Without ProbeRTT, which restarts the wait.
    let never = Span::from_secs(1000);
    let config = BbrConfig { probe_rtt_interval: never, min_rtt_window: never, ..BbrConfig::default() };
    let mut pipe = Pipe::new(config.controller(Preset::Rfc), 2000.0, 100);
    pipe.run_until(2.0, |_| {});
    let states = states(&mut pipe, 60.0);
    let downs: Vec<f64> = states.iter().filter(|(_, state)| *state == State::Down).map(|(time, _)| *time).collect();
    let refills: Vec<f64> = states.iter().filter(|(_, state)| *state == State::Refill).map(|(time, _)| *time).collect();
    let waits: Vec<f64> = downs
        .iter()
        .filter_map(|down| refills.iter().find(|refill| *refill > down).map(|refill| refill - down))
        .collect();
    assert!(waits.len() > 12 && waits.iter().all(|wait| (2.0..3.1).contains(wait)), "{waits:?}");
    let (least, most) = waits.iter().fold((9.0f64, 0.0f64), |(least, most), wait| (least.min(*wait), most.max(*wait)));
    assert!(most - least > 0.5, "at random: {waits:?}");
}

#[test]
fn probe_rtt_comes_each_five_seconds_for_200_ms_at_half_of_what_the_path_holds() {
    let mut pipe = alone();
    let mut most_late = 0;
    let mut entered = f64::NAN;
    let states = {
        let mut states: Vec<(f64, State)> = Vec::new();
        pipe.run_until(40.0, |pipe| {
            if states.last().is_none_or(|(_, state)| *state != pipe.law.state) {
                states.push((pipe.now.seconds(), pipe.law.state));
                entered = pipe.now.seconds();
            }
            if pipe.law.state == State::ProbeRtt && pipe.now.seconds() > entered + 0.1 {
                most_late = most_late.max(pipe.in_flight());
            }
        });
        states
    };
    let probes: Vec<usize> = (0..states.len() - 1).filter(|at| states[*at].1 == State::ProbeRtt).collect();
    let times: Vec<f64> = probes.iter().map(|at| states[*at].0).collect();
    assert!((6..=8).contains(&times.len()), "{times:?}");
    for pair in times.windows(2) {
        assert!((5.0..5.6).contains(&(pair[1] - pair[0])), "{times:?}");
    }
    for at in probes {
        let lasted = states[at + 1].0 - states[at].0;
        assert!((0.2..0.4).contains(&lasted), "{lasted}");
    }
    assert!((18..=22).contains(&most_late), "{most_late} in flight of 40 that the path holds");
}

#[test]
fn a_probe_rtt_before_the_pipe_is_full_returns_to_startup() {
    let mut law = bbr();
    law.state = State::ProbeRtt;
    let path = Path::new(1000);
    let sample = sample();
    law.exit_probe_rtt(&ack(&path, &sample, 0));
    assert_eq!(law.state, State::Startup);
    law.full.reached = true;
    law.exit_probe_rtt(&ack(&path, &sample, 0));
    assert_eq!(law.state, State::Cruise);
}

#[test]
fn a_pause_of_the_application_spares_probe_rtt_and_does_not_lower_the_rate() {
    let mut pipe = alone();
    pipe.run_until(4.0, |_| {});
    pipe.idle_until = Instant::from_seconds(12.0);
    pipe.run_until(11.9, |_| {});
    let states = states(&mut pipe, 14.0);
    assert!(states.iter().all(|(_, state)| *state != State::ProbeRtt), "{states:?}");
    assert!((found(&pipe) - 1.0).abs() < 0.02, "{}", found(&pipe));
}

#[test]
fn a_small_buffer_bounds_what_is_in_flight_and_losses_stay_few() {
    let mut pipe = alone();
    pipe.buffer = 8.0;
    pipe.run_until(3.0, |_| {});
    let lost = pipe.path.lost;
    let utilisation = utilisation(&mut pipe, 33.0);
    assert!(utilisation > 0.85, "{utilisation}");
    let share = (pipe.path.lost - lost) as f64 / (30.0 * RATE);
    assert!(share < 0.01, "{share}");
    let longterm = pipe.law.bounds.inflight_longterm;
    assert!((40.0..60.0).contains(&longterm), "{longterm}");
}

#[test]
fn a_rate_that_falls_to_a_tenth_is_believed_within_two_cycles_of_probing() {
    let mut pipe = alone();
    pipe.buffer = 60.0;
    pipe.run_until(8.0, |_| {});
    pipe.rate = RATE / 10.0;
    // Each probing follows a wait of two to three seconds, which ProbeRTT restarts.
    pipe.run_until(30.0, |_| {});
    assert!((found(&pipe) - 1.0).abs() < 0.05, "{}", found(&pipe));
    assert!(pipe.law.max_bw() < 1.1 * pipe.rate);
}

#[test]
fn a_rate_that_rises_to_ten_times_is_found_in_a_few_cycles_of_probing() {
    let mut pipe = alone();
    pipe.run_until(8.0, |_| {});
    pipe.rate = 10.0 * RATE;
    pipe.run_until(30.0, |_| {});
    assert!((found(&pipe) - 1.0).abs() < 0.05, "{}", found(&pipe));
}

#[test]
fn a_product_below_a_segment_keeps_four_in_flight() {
    let mut pipe = Pipe::new(bbr(), 20.0, 10);
    pipe.run_until(20.0, |_| {});
    assert!((found(&pipe) - 1.0).abs() < 0.05, "{}", found(&pipe));
    assert!((4.0..9.0).contains(&pipe.window.congestion), "{}", pipe.window.congestion);
}

pub(super) fn sample() -> RateSample {
    RateSample {
        rate: Some(100.0),
        interval: Span::from_millis(40),
        prior_delivered: 0,
        in_flight: 100,
        lost: 0,
        marked: 0,
        application_limited: false,
        rtt: Span::from_millis(40),
        newly_delivered: 1,
    }
}

pub(super) fn ack<'a>(path: &'a Path, sample: &'a RateSample, lost: u64) -> Ack<'a> {
    Ack {
        path,
        sample,
        rate: sample.rate.unwrap_or(0.0),
        delivered: (path.delivered - sample.prior_delivered) as f64,
        lost,
        is_limited: sample.application_limited,
        fills_window: true,
    }
}

/// A law that cruises on a path of 1000 segments per second with a capacity of 100.
pub(super) fn cruising() -> Box<Bbr> {
    let mut law = bbr();
    law.state = State::Cruise;
    law.full.reached = true;
    law.max_bw = [RATE, RATE];
    law.min_rtt = {
        let mut min = MinRtt::default();
        min.begin(Instant::ZERO);
        min
    };
    let path = Path { now: Instant::ZERO + Span::from_millis(100), ..Path::new(1000) };
    law.update_min_rtt(&ack(&path, &RateSample { rtt: Span::from_millis(100), ..sample() }, 0));
    law
}

#[test]
fn a_round_trip_with_losses_leaves_seven_tenths_of_the_short_term_bounds_but_not_less_than_was_delivered() {
    for (rate, delivered, bw, inflight) in [(500.0, 40, 700.0, 140.0), (900.0, 180, 900.0, 180.0)] {
        let mut law = cruising();
        let window = Window { congestion: 200.0, threshold: 1e9 };
        let path = Path { delivered: 1000, lost: 1, ..Path::new(1000) };
        let sample = RateSample { rate: Some(rate), prior_delivered: 1000 - delivered, lost: 1, ..sample() };
        law.note_losses(&ack(&path, &sample, 1), &window);
        law.bounds.update_latest(&ack(&path, &sample, 1));
        law.adapt_lower_bounds(&window);
        assert_eq!(law.bounds.bw_shortterm, f64::INFINITY, "not before the round trip ends");
        let (end, after) = (Path { delivered: 1001, ..path }, RateSample { prior_delivered: 1000, ..sample });
        law.bounds.update_latest(&Ack { delivered: delivered as f64, ..ack(&end, &after, 0) });
        law.adapt_lower_bounds(&window);
        assert_eq!((law.bounds.bw_shortterm, law.bounds.inflight_shortterm), (bw, inflight));
        assert_eq!(law.bw(), bw);
        law.start_refill(&end);
        assert_eq!((law.bounds.bw_shortterm, law.bw()), (f64::INFINITY, RATE), "and probing forgets it");
    }
}

#[test]
fn too_many_losses_while_probing_set_the_long_term_bound_once_and_end_the_probing() {
    let mut law = cruising();
    (law.state, law.cycle.is_sample) = (State::Up, true);
    let window = Window { congestion: 225.0, threshold: 1e9 };
    let path = Path { delivered: 1000, lost: 2, ..Path::new(1000) };
    let few = RateSample { in_flight: 125, lost: 2, ..sample() };
    law.note_losses(&ack(&path, &few, 2), &window);
    assert_eq!((law.bounds.inflight_longterm, law.state), (f64::INFINITY, State::Up), "1.6 % are borne");
    let many = RateSample { lost: 3, ..few };
    law.note_losses(&ack(&path, &many, 1), &window);
    // 124 were in flight before the third loss, with 2 lost. The 2 % threshold was reached after 0.49 more.
    let at_loss = 124.0 + (0.02 * 124.0 - 2.0) / 0.98;
    assert!((law.bounds.inflight_longterm - at_loss).abs() < 1e-9, "{}", law.bounds.inflight_longterm);
    assert_eq!(law.state, State::Down);
    law.note_losses(&ack(&path, &RateSample { in_flight: 80, lost: 60, ..few }, 1), &window);
    assert!((law.bounds.inflight_longterm - at_loss).abs() < 1e-9, "one probing is answered once");
}

#[test]
fn the_long_term_bound_falls_to_seven_tenths_of_the_target_at_most_and_not_for_want_of_data() {
    let fallen = |application_limited| {
        let mut law = cruising();
        (law.state, law.cycle.is_sample) = (State::Refill, true);
        let window = Window { congestion: 200.0, threshold: 1e9 };
        let path = Path { delivered: 1000, lost: 9, ..Path::new(1000) };
        let sample = RateSample { in_flight: 20, lost: 9, application_limited, ..sample() };
        law.note_losses(&ack(&path, &sample, 9), &window);
        (law.bounds.inflight_longterm, law.state)
    };
    assert_eq!(fallen(false), (70.0, State::Refill));
    assert_eq!(fallen(true), (f64::INFINITY, State::Refill));
}

#[test]
fn cruising_leaves_a_part_of_the_long_term_bound_to_others() {
    let mut law = cruising();
    law.bounds.inflight_longterm = 100.0;
    let (path, sample) = (Path { delivered: 5000, ..Path::new(1000) }, sample());
    let mut window = Window { congestion: 150.0, threshold: 1e9 };
    law.set_window(&ack(&path, &sample, 0), &mut window);
    assert_eq!(window.congestion, 85.0);
    law.state = State::Up;
    window.congestion = 150.0;
    law.set_window(&ack(&path, &sample, 0), &mut window);
    assert_eq!(window.congestion, 100.0);
    law.bounds.inflight_longterm = 5.0;
    law.state = State::Cruise;
    law.set_window(&ack(&path, &sample, 0), &mut window);
    assert_eq!(window.congestion, LEAST);
}

#[test]
fn after_too_many_losses_the_next_probing_turns_back_at_the_bound_and_only_then_goes_on() {
    let mut law = cruising();
    law.state = State::Up;
    law.bounds.inflight_longterm = 120.0;
    law.cycle.was_too_high();
    let window = Window { congestion: 130.0, threshold: 1e9 };
    let below = Path { pipe: 119, delivered: 1000, ..Path::new(1000) };
    let sample = RateSample { prior_delivered: 900, ..sample() };
    law.rounds.begins = false;
    law.update_cycle(&ack(&below, &sample, 0), &window);
    assert_eq!(law.state, State::Up);
    law.update_cycle(&ack(&Path { pipe: 120, ..below }, &sample, 0), &window);
    assert_eq!(law.state, State::Down);
    // A round trip without losses later, it refills the pipe at once.
    law.rounds.begins = true;
    law.update_cycle(&ack(&Path { pipe: 130, ..below }, &sample, 0), &window);
    assert_eq!(law.state, State::Refill);
}

#[test]
fn going_up_raises_the_long_term_bound_by_twice_as_much_in_each_round_trip() {
    let mut law = cruising();
    law.bounds.inflight_longterm = 100.0;
    let window = Window { congestion: 100.0, threshold: 1e9 };
    let path = Path { delivered: 1000, ..Path::new(1000) };
    let sample = RateSample { prior_delivered: 900, in_flight: 100, ..sample() };
    law.start_up(&ack(&path, &sample, 0), &window);
    let mut raised = Vec::new();
    for _ in 0..5 {
        let before = law.bounds.inflight_longterm;
        for n in 0..100 {
            law.rounds.begins = n == 99;
            let window = Window { congestion: law.bounds.inflight_longterm, ..window };
            law.update_cycle(&ack(&path, &sample, 0), &window);
        }
        raised.push(law.bounds.inflight_longterm - before);
    }
    for (raised, expected) in raised.iter().zip([1.0, 2.0, 4.0, 8.0, 14.0]) {
        assert!((raised - expected).abs() <= 2.0, "{raised} for {expected}");
    }
}

#[test]
fn startup_ends_by_a_round_trip_of_recovery_with_six_tellings_of_losses_above_two_per_cent() {
    let ended = |tellings: u64, recovers: bool| {
        let mut law = bbr();
        law.max_bw = [0.0, RATE];
        law.initial = 10.0;
        law.recover = recovers.then_some(5000);
        let sample = RateSample { in_flight: 100, lost: 10, prior_delivered: 0, ..sample() };
        let window = Window { congestion: 200.0, threshold: 1e9 };
        for n in 0..20 {
            let path = Path { delivered: 100 + n, ..Path::new(1000) };
            let lost = u64::from(n < tellings);
            let of = RateSample { prior_delivered: if n == 19 { 1000 } else { 1 }, ..sample };
            let ack = Ack {
                delivered: 90.0,
                ..Ack {
                    path: &path,
                    sample: &of,
                    rate: 100.0,
                    delivered: 0.0,
                    lost,
                    is_limited: true,
                    fills_window: true,
                }
            };
            law.note_losses(&ack, &window);
            law.bounds.update_latest(&ack);
            law.check_startup(&ack);
        }
        (law.state, law.full.reached, law.bounds.inflight_longterm)
    };
    assert_eq!(ended(6, true), (State::Drain, true, 90.0), "also while the application limits it");
    assert_eq!(ended(5, true).0, State::Startup);
    assert_eq!(ended(6, false).0, State::Startup);
}

#[test]
fn on_a_short_path_marks_take_a_third_of_their_share_and_on_a_long_one_they_are_losses() {
    let after = |min_rtt_millis: u64| {
        let mut law = cruising();
        law.min_rtt = MinRtt::default();
        law.min_rtt.begin(Instant::ZERO);
        let rtt = RateSample { rtt: Span::from_millis(min_rtt_millis), ..sample() };
        law.update_min_rtt(&ack(&Path::new(1000), &RateSample { prior_delivered: 0, ..rtt }, 0));
        let window = Window { congestion: 200.0, threshold: 1e9 };
        let path = Path { delivered: 1000, marked: 1, ..Path::new(1000) };
        let of = RateSample { prior_delivered: 1000, marked: 1, rate: Some(10.0), ..sample() };
        let ack = ack(&path, &of, 0);
        law.marked.take(&ack, &law.config, law.min_rtt.seconds());
        law.note_losses(&ack, &window);
        law.bounds.update_latest(&ack);
        law.adapt_lower_bounds(&window);
        (law.bounds.inflight_shortterm, law.bounds.bw_shortterm)
    };
    let (inflight, bw) = after(4);
    assert!((inflight - 200.0 * (1.0 - 1.0 / 3.0)).abs() < 1e-9 && bw == f64::INFINITY, "{inflight} {bw}");
    assert_eq!(after(6), (140.0, 700.0));
}

#[test]
fn marks_of_every_segment_end_startup_on_a_short_path_and_keep_its_queue_short() {
    let mut pipe = Pipe::new(bbr(), 20_000.0, 2);
    pipe.mark_above = 10.0;
    pipe.run_until(2.0, |_| {});
    let (mut sum, mut acks) = (0.0, 0.0);
    let before = pipe.path.delivered;
    pipe.run_until(6.0, |pipe| (sum, acks) = (sum + pipe.queue(), acks + 1.0));
    assert!(sum / acks < 12.0, "{}", sum / acks);
    let utilisation = (pipe.path.delivered - before) as f64 / 4.0 / 20_000.0;
    assert!(utilisation > 0.85, "{utilisation}");
}

#[test]
fn bursts_of_acknowledgements_give_the_window_room_and_are_forgotten() {
    let mut aggregation = Aggregation::default();
    let ms = |millis| Path { now: Instant::ZERO + Span::from_millis(millis), ..Path::new(1000) };
    // Twenty at once every 20 ms, at a rate of a thousand per second.
    for n in 1..10 {
        aggregation.update(&ms(20 * n), 20.0, RATE, 100.0, n, true);
    }
    assert_eq!(aggregation.extra.largest(), 20.0);
    for n in 200..240 {
        aggregation.update(&ms(n), 1.0, RATE, 100.0, n, true);
    }
    assert!(aggregation.extra.largest() <= 1.0, "{}", aggregation.extra.largest());
    aggregation.update(&ms(241), 500.0, RATE, 100.0, 240, true);
    assert_eq!(aggregation.extra.largest(), 100.0, "at most a window");
}

#[test]
fn a_timeout_leaves_one_segment_and_the_window_returns_when_all_is_acknowledged() {
    let mut law = cruising();
    let mut window = Window { congestion: 150.0, threshold: 1e9 };
    let path = Path { next: 400, ..Path::new(1000) };
    assert_eq!(law.on_timeout(&path, &mut window), Verdict::Congestion);
    assert_eq!((window.congestion, law.prior, law.recover), (1.0, 150.0, Some(400)));
    law.on_recovered(&path, &mut window);
    assert_eq!((window.congestion, law.recover), (150.0, None));
    assert_eq!(law.on_loss(&path, &mut window), Verdict::Congestion);
    assert_eq!(window.congestion, 150.0, "a loss is answered by the model");
}

#[test]
fn an_idle_time_does_not_take_the_window() {
    let mut law = cruising();
    let mut window = Window { congestion: 10.0, threshold: 1e9 };
    law.on_restart(&Path::new(1000), &mut window);
    assert!((window.congestion - 200.0).abs() < 1e-9);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let config = BbrConfig::default();
    assert!(config.check().is_ok());
    for bad in [
        BbrConfig { beta: 1.0, ..config },
        BbrConfig { loss_threshold: 0.0, ..config },
        BbrConfig { headroom: 1.5, ..config },
        BbrConfig { probe_rtt_interval: Span::ZERO, ..config },
        BbrConfig { probe_rtt_interval: Span::from_secs(11), ..config },
        BbrConfig { probe_rtt_duration: Span::ZERO, ..config },
        BbrConfig { probe_rtt_gain: 1.0, ..config },
        BbrConfig { ecn_factor: 2.0, ..config },
        BbrConfig { ecn_threshold: 0.0, ..config },
    ] {
        assert!(bad.check().is_err(), "{bad:?}");
    }
}
