//! Tests of the clauses of draft-ietf-ccwg-bbr, one by one: a prepared law, one acknowledgement, and the result.

use super::tests::{ack, bbr, cruising, sample};
use super::*;

/// Rate and bandwidth-delay product of the law of [`cruising`].
const RATE: f64 = 1000.0;
const HOLDS: f64 = 100.0;

fn path() -> Path {
    Path { delivered: 1000, ..Path::new(1000) }
}

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

fn window(congestion: f64) -> Window {
    Window { congestion, threshold: 1e9 }
}

/// The law of [`cruising`] in another state.
fn bbr_in_state(state: State) -> Box<Bbr> {
    Box::new(Bbr { state, ..*cruising() })
}

/// The window after one acknowledgement in this state.
fn window_in(state: State, before: f64) -> f64 {
    let mut window = window(before);
    bbr_in_state(state).set_window(&ack(&path(), &sample(), 0), &mut window);
    window.congestion
}

#[test]
fn set_pacing_rate_each_state_has_its_gain_and_stays_one_per_cent_below_the_rate() {
    for (state, gain) in [
        (State::Startup, 4.0 * 2.0f64.ln()),
        (State::Drain, 0.5),
        (State::Down, 0.9),
        (State::Cruise, 1.0),
        (State::Refill, 1.0),
        (State::Up, 1.25),
        (State::ProbeRtt, 1.0),
    ] {
        let mut law = bbr_in_state(state);
        law.set_pace();
        assert!((law.pace - gain * RATE * 0.99).abs() < 1e-9, "{state:?}: {}", law.pace);
    }
}

#[test]
fn set_pacing_rate_before_the_pipe_was_full_the_pace_only_grows() {
    let mut law = bbr_in_state(State::Startup);
    (law.pace, law.full.reached) = (5000.0, false);
    law.set_pace();
    assert_eq!(law.pace, 5000.0);
    law.full.reached = true;
    law.set_pace();
    assert!(law.pace < 5000.0);
}

#[test]
fn update_max_inflight_is_two_products_and_in_up_two_and_a_quarter_with_two_segments_more() {
    for (state, most) in [(State::Down, 200.0), (State::Cruise, 200.0), (State::Refill, 200.0), (State::Up, 227.0)] {
        assert!((window_in(state, 500.0) - most).abs() < 1e-9, "{state:?}: {}", window_in(state, 500.0));
    }
    assert!((window_in(State::ProbeRtt, 500.0) - 0.5 * HOLDS).abs() < 1e-9);
}

#[test]
fn set_cwnd_is_at_least_four_segments() {
    assert_eq!(window_in(State::Cruise, 1.0), 4.0);
    let mut law = cruising();
    law.bounds.inflight_longterm = 1.0;
    let mut window = window(50.0);
    law.set_window(&ack(&path(), &sample(), 0), &mut window);
    assert_eq!(window.congestion, 4.0);
    law.max_bw = [1.0; 2];
    assert_eq!(law.probe_rtt_window(), 4.0);
}

#[test]
fn bound_cwnd_for_model_the_short_term_bound_limits_the_window_in_every_state() {
    for state in [State::Startup, State::Drain, State::Down, State::Cruise, State::Refill, State::Up] {
        let mut law = bbr_in_state(state);
        law.bounds.inflight_shortterm = 50.0;
        let mut window = window(150.0);
        law.set_window(&ack(&path(), &sample(), 0), &mut window);
        assert_eq!(window.congestion, 50.0, "{state:?}");
    }
}

#[test]
fn check_full_bw_reached_needs_three_rounds_without_growth_of_a_quarter() {
    let mut full = FullPipe { bw: 100.0, ..FullPipe::default() };
    full.check(124.0);
    full.check(124.0);
    assert_eq!((full.bw, full.count, full.now), (100.0, 2, false));
    full.check(125.0);
    assert_eq!((full.bw, full.count), (125.0, 0), "growth begins the count anew");
    for (rate, now) in [(130.0, false), (140.0, false), (150.0, true)] {
        full.check(rate);
        assert_eq!((full.now, full.reached), (now, now), "{rate}");
    }
    full.reset(10.0);
    assert_eq!((full.now, full.count, full.reached), (false, 0, true), "what was once reached stays so");
}

/// Rounds without growth after one sample of 100 segments per second, the same rate as before.
fn counted(prior_delivered: u64, application_limited: bool) -> u32 {
    let mut law = bbr();
    (law.full.bw, law.initial, law.rounds.next) = (100.0, 10.0, 500);
    let of = RateSample { prior_delivered, application_limited, ..sample() };
    law.on_sample(&path(), &of, &mut window(10.0));
    law.full.count
}

#[test]
fn check_full_bw_reached_judges_once_in_a_round_trip_and_not_while_the_application_limits() {
    assert_eq!(counted(500, false), 1, "sent in this round: a round ends");
    assert_eq!(counted(499, false), 0, "sent before it began");
    assert_eq!(counted(500, true), 0);
}

#[test]
fn update_max_bw_takes_samples_of_a_limited_sender_only_if_they_are_not_below_the_maximum() {
    let after = |rate: f64, application_limited: bool| {
        let mut law = cruising();
        law.max_bw = [RATE, 0.0];
        law.update_max_bw(&ack(&path(), &RateSample { rate: Some(rate), application_limited, ..sample() }, 0));
        law.max_bw[1]
    };
    assert_eq!(after(900.0, false), 900.0);
    assert_eq!(after(900.0, true), 0.0);
    assert_eq!(after(1100.0, true), 1100.0);
}

#[test]
fn advance_max_bw_filter_keeps_the_maximum_of_two_cycles() {
    let mut law = cruising();
    law.max_bw = [1000.0, 500.0];
    law.advance_max_bw();
    assert_eq!((law.max_bw, law.max_bw()), ([500.0, 0.0], 500.0));
    law.advance_max_bw();
    assert_eq!(law.max_bw(), 500.0, "a cycle without a sample takes nothing");
}

#[test]
fn bound_bw_for_model_is_the_smaller_of_the_maximum_and_the_short_term_bound() {
    let mut law = cruising();
    law.bounds.bw_shortterm = 600.0;
    assert_eq!(law.bw(), 600.0);
    law.bounds.bw_shortterm = 6000.0;
    assert_eq!(law.bw(), RATE);
}

/// Startup in recovery on a path with a capacity of 100 segments. Each element of `rounds` is the number of loss
/// reports in a round. Each report has `lost` losses out of 100 in flight.
fn startup(rounds: &[u32], lost: u32, recovers: bool) -> Box<Bbr> {
    let mut law = bbr_in_state(State::Startup);
    law.full.reached = false;
    law.recover = recovers.then_some(5000);
    let mut delivered = 1000;
    for tellings in rounds {
        let begun = delivered;
        law.bounds.round_delivered = begun;
        for n in 0..=*tellings {
            delivered += 1;
            let path = Path { delivered, ..Path::new(1000) };
            let prior_delivered = if n == *tellings { begun } else { begun - 1 };
            let of = RateSample { prior_delivered, lost, ..sample() };
            let ack = Ack { delivered: 90.0, ..ack(&path, &of, u64::from(n < *tellings)) };
            law.bounds.update_latest(&ack);
            law.check_startup(&ack);
        }
    }
    law
}

#[test]
fn check_startup_high_loss_needs_six_losses_in_one_round_in_recovery_and_more_than_two_per_cent() {
    assert_eq!(startup(&[6], 3, true).state, State::Drain);
    assert_eq!(startup(&[5], 3, true).state, State::Startup);
    assert_eq!(startup(&[3, 3], 3, true).state, State::Startup, "each round counts anew");
    assert_eq!(startup(&[6], 2, true).state, State::Startup, "2 % are borne");
    assert_eq!(startup(&[6], 3, false).state, State::Startup, "not in recovery");
}

#[test]
fn check_startup_high_loss_bounds_by_the_larger_of_the_product_and_what_was_delivered() {
    assert_eq!(startup(&[6], 3, true).bounds.inflight_longterm, HOLDS, "above the 90 delivered");
}

#[test]
fn check_drain_done_when_the_queue_is_empty_or_after_three_round_trips() {
    let after = |pipe: u32, rounds: u64| {
        let mut law = bbr_in_state(State::Drain);
        (law.drain_began, law.rounds.count) = (7, 7 + rounds);
        law.check_drain(&ack(&Path { pipe, ..path() }, &sample(), 0));
        law.state
    };
    assert_eq!(after(100, 1), State::Down);
    assert_eq!(after(101, 1), State::Drain);
    assert_eq!(after(101, 3), State::Drain);
    assert_eq!(after(101, 4), State::Down);
}

#[test]
fn update_ack_aggregation_remembers_ten_round_trips_and_before_the_pipe_is_full_one() {
    let largest = |round: u64, long: bool| {
        let mut aggregation = Aggregation::default();
        aggregation.update(&Path { now: ms(1), ..path() }, 20.0, RATE, 100.0, 1, long);
        assert_eq!(aggregation.extra.largest(), 20.0, "nothing was expected at the beginning of an epoch");
        aggregation.update(&Path { now: ms(1000), ..path() }, 1.0, RATE, 100.0, round, long);
        aggregation.extra.largest()
    };
    assert_eq!((largest(2, true), largest(10, true), largest(11, true)), (20.0, 20.0, 1.0));
    assert_eq!(largest(2, false), 1.0);
}

#[test]
fn save_and_restore_cwnd_the_window_of_before_a_recovery_comes_back() {
    for timeout in [false, true] {
        let mut law = cruising();
        let mut window = window(150.0);
        let path = Path { next: 400, ..path() };
        if timeout {
            law.on_timeout(&path, &mut window)
        } else {
            law.on_loss(&path, &mut window)
        };
        if timeout {
            assert_eq!(window.congestion, 1.0);
        }
        window.congestion = 20.0;
        law.on_recovered(&path, &mut window);
        assert_eq!(window.congestion, 150.0, "timeout: {timeout}");
    }
}

#[test]
fn update_latest_delivery_signals_keep_the_largest_of_a_round_and_begin_anew_with_the_next() {
    let mut bounds = Bounds { round_delivered: 1000, ..Bounds::default() };
    let of = |rate: f64, prior_delivered: u64| RateSample { rate: Some(rate), prior_delivered, ..sample() };
    for (rate, prior) in [(500.0, 900), (300.0, 950)] {
        let of = of(rate, prior);
        bounds.update_latest(&ack(&path(), &of, 0));
        bounds.advance_latest(&ack(&path(), &of, 0));
    }
    assert_eq!((bounds.bw_latest, bounds.inflight_latest), (500.0, 100.0));
    let next = of(200.0, 1000);
    let later = Path { delivered: 1010, ..path() };
    bounds.update_latest(&ack(&later, &next, 0));
    assert_eq!((bounds.bw_latest, bounds.inflight_latest), (500.0, 100.0), "the round's, until it is looked at");
    bounds.advance_latest(&ack(&later, &next, 0));
    assert_eq!((bounds.bw_latest, bounds.inflight_latest), (200.0, 10.0));
}

#[test]
fn note_loss_begins_a_round_with_the_first_loss_alone() {
    let mut bounds = Bounds::default();
    bounds.note_loss(&path());
    assert_eq!(bounds.round_delivered, 1000);
    bounds.note_loss(&Path { delivered: 1005, ..path() });
    assert_eq!(bounds.round_delivered, 1000);
}

#[test]
fn is_inflight_too_high_compares_losses_with_what_was_in_flight() {
    let config = BbrConfig::default();
    let is = |lost: u32, delivered: f64| {
        let of = RateSample { lost, in_flight: 100, ..sample() };
        Bounds::default().is_too_high(&Ack { delivered, ..ack(&path(), &of, 0) }, &config, false)
    };
    assert!(is(3, 1000.0) && !is(2, 10.0), "more than 2 % of the 100 in flight, whatever was delivered");
}

/// Short-term rate and bound in this state: after a round trip with a loss, and after the next one without.
fn pass_a_lossy_round(state: State) -> [(f64, f64); 2] {
    let mut law = bbr_in_state(state);
    law.bounds.note_loss(&path());
    [1001, 1100].map(|delivered| {
        let end = Path { delivered, ..path() };
        let of = RateSample { rate: Some(10.0), prior_delivered: delivered - 1, ..sample() };
        law.bounds.update_latest(&ack(&end, &of, 0));
        law.bounds.round_begins = true;
        law.adapt_lower_bounds(&window(200.0));
        (law.bounds.bw_shortterm, law.bounds.inflight_shortterm)
    })
}

#[test]
fn adapt_lower_bounds_once_for_a_round_with_losses_and_not_while_probing() {
    assert_eq!(pass_a_lossy_round(State::Cruise), [(700.0, 140.0); 2]);
    for state in [State::Startup, State::Refill, State::Up] {
        assert_eq!(pass_a_lossy_round(state), [(f64::INFINITY, f64::INFINITY); 2], "{state:?}");
    }
}

#[test]
fn reset_short_term_model_lifts_both_bounds_in_refill_and_after_probe_rtt() {
    let lowered = || {
        let mut law = cruising();
        (law.bounds.bw_shortterm, law.bounds.inflight_shortterm) = (10.0, 10.0);
        law
    };
    let lifted = (f64::INFINITY, f64::INFINITY);
    let mut law = lowered();
    law.start_refill(&path());
    assert_eq!((law.bounds.bw_shortterm, law.bounds.inflight_shortterm), lifted);
    let mut law = lowered();
    law.exit_probe_rtt(&ack(&path(), &sample(), 0));
    assert_eq!(
        (law.bounds.bw_shortterm, law.bounds.inflight_shortterm, law.state),
        (lifted.0, lifted.1, State::Cruise)
    );
}

#[test]
fn inflight_with_headroom_leaves_fifteen_per_cent_and_at_least_one_segment() {
    let left = |longterm: f64| Bounds { inflight_longterm: longterm, ..Bounds::default() }.with_headroom(0.15);
    assert_eq!((left(100.0), left(6.0), left(4.5)), (85.0, 5.0, 4.0));
}

/// The mean share after rounds with these numbers of segments and marks, on a short path. The flag is true if
/// Startup ends.
fn marked(rounds: &[(u32, u32)]) -> (f64, bool) {
    let (mut marks, config) = (MarkShare::default(), BbrConfig::default());
    for (segments, marked) in rounds {
        for n in 0..*segments {
            let path = Path { marked: u32::from(n < *marked), ..path() };
            marks.take(&ack(&path, &sample(), 0), &config, 0.001);
        }
        marks.end_round(true, &config);
    }
    (marks.alpha, marks.ends_startup())
}

#[test]
fn bbr_ecn_alpha_gain_a_sixteenth_of_each_rounds_own_share_enters_the_mean() {
    assert_eq!(marked(&[(10, 0)]).0, 15.0 / 16.0);
    assert_eq!(marked(&[(10, 10), (10, 0)]).0, 15.0 / 16.0, "the marks of the round before are not counted again");
    assert_eq!(marked(&[(10, 5)]).0, 1.0 - 0.5 / 16.0);
}

#[test]
fn bbr_full_ecn_cnt_two_rounds_in_a_row_with_half_marked_end_startup() {
    assert!(marked(&[(10, 5), (10, 6)]).1);
    assert!(!marked(&[(10, 6)]).1);
    assert!(!marked(&[(10, 6), (10, 1), (10, 6)]).1);
}

#[test]
fn start_probe_bw_down_begins_the_wait_and_the_count_of_rounds() {
    let mut law = bbr_in_state(State::Up);
    law.cycle.rounds_since_up = 50;
    law.start_down(&Path { now: ms(7000), ..path() });
    // The next probing is due 2 to 3 s after that, or after the number of round trips that Reno would take.
    let probes = |law: &mut Bbr, millis: u64| {
        law.update_cycle(&ack(&Path { now: ms(millis), pipe: 1000, ..path() }, &sample(), 0), &window(100.0));
        law.state == State::Refill
    };
    law.rounds.begins = false;
    assert!(!probes(&mut law, 8990) && probes(&mut law, 10_010));
    let mut law = bbr_in_state(State::Up);
    law.cycle.rounds_since_up = 50;
    law.start_down(&Path { now: ms(7000), ..path() });
    law.rounds.begins = false;
    for _ in 0..61 {
        law.cycle.count_round(true);
    }
    assert!(
        !probes(&mut law, 7001),
        "the path holds a hundred, so at most 63 round trips; of these up to one is passed over"
    );
    law.cycle.count_round(true);
    law.cycle.count_round(true);
    assert!(probes(&mut law, 7001));
}

#[test]
fn start_probe_bw_refill_begins_the_growth_of_the_long_term_bound_anew() {
    let mut law = cruising();
    law.bounds.inflight_longterm = 100.0;
    let (path, sample) = (path(), sample());
    let ack = ack(&path, &sample, 0);
    let first_step = |law: &mut Bbr| {
        law.start_refill(&path);
        law.start_up(&ack, &window(100.0));
        law.rounds.begins = false;
        let before = law.bounds.inflight_longterm;
        let mut acks = 0;
        while law.bounds.inflight_longterm < before + 1.0 {
            law.update_cycle(&ack, &window(law.bounds.inflight_longterm));
            acks += 1;
            assert!(acks < 1000, "the bound never grows");
        }
        law.rounds.begins = true;
        for _ in 0..3 {
            law.update_cycle(&ack, &window(law.bounds.inflight_longterm));
        }
        acks
    };
    assert_eq!((first_step(&mut law), first_step(&mut law)), (100, 100), "a window's worth for the first segment");
}

#[test]
fn probe_inflight_longterm_upward_only_while_the_window_is_full_and_was_the_bound() {
    let raised = |fills_window: bool, congestion: f64| {
        let mut law = cruising();
        law.bounds.inflight_longterm = 100.0;
        let (path, sample) = (path(), sample());
        let ack = Ack { fills_window, ..ack(&path, &sample, 0) };
        law.start_up(&ack, &window(100.0));
        for _ in 0..150 {
            law.raise_longterm(&ack, &window(congestion));
        }
        law.bounds.inflight_longterm - 100.0
    };
    assert_eq!((raised(true, 200.0), raised(false, 200.0), raised(true, 99.0)), (1.0, 0.0, 0.0));
}

#[test]
fn adapt_long_term_model_the_bound_grows_to_what_was_in_flight_without_too_many_losses() {
    let after = |lost: u32| {
        let mut law = cruising();
        law.bounds.inflight_longterm = 100.0;
        law.rounds.begins = false;
        law.cycle.is_sample = false;
        let of = RateSample { in_flight: 120, lost, ..sample() };
        law.update_cycle(&ack(&path(), &of, 0), &window(100.0));
        law.bounds.inflight_longterm
    };
    assert_eq!((after(0), after(3)), (120.0, 100.0));
}

#[test]
fn adapt_long_term_model_the_filter_advances_with_the_round_after_a_probing() {
    let mut law = bbr_in_state(State::Up);
    law.max_bw = [2.0 * RATE, RATE];
    law.start_down(&path());
    law.rounds.begins = true;
    law.update_cycle(&ack(&Path { pipe: 1000, ..path() }, &sample(), 0), &window(100.0));
    assert_eq!(law.max_bw, [RATE, 0.0]);
}

#[test]
fn start_probe_bw_up_looks_for_growth_from_its_own_beginning_and_its_samples_are_of_the_probing() {
    let mut law = bbr_in_state(State::Refill);
    (law.full.bw, law.full.count, law.full.now) = (5.0 * RATE, 2, true);
    law.rounds.begins = true;
    law.update_cycle(&ack(&path(), &RateSample { rate: Some(900.0), ..sample() }, 0), &window(100.0));
    assert_eq!((law.state, law.cycle.is_sample), (State::Up, true));
    assert_eq!((law.full.bw, law.full.count, law.full.now), (900.0, 0, false));
}

#[test]
fn is_time_to_cruise_when_the_queue_is_drained_and_others_have_room() {
    let cruises = |pipe: u32, longterm: f64| {
        let mut law = bbr_in_state(State::Down);
        law.bounds.inflight_longterm = longterm;
        law.cycle.began = ms(0);
        law.cycle.wait = Span::from_secs(9);
        law.rounds.begins = false;
        let of = RateSample { in_flight: 1, ..sample() };
        law.update_cycle(&ack(&Path { pipe, ..path() }, &of, 0), &window(200.0));
        law.state == State::Cruise
    };
    assert!(cruises(100, f64::INFINITY) && !cruises(101, f64::INFINITY), "the path holds a hundred");
    assert!(cruises(68, 80.0) && !cruises(69, 80.0), "15 % of the long-term bound is left");
}

#[test]
fn update_min_rtt_takes_a_longer_round_trip_when_ten_seconds_are_over() {
    let mut law = cruising();
    let take = |law: &mut Bbr, millis: u64, rtt: u64| {
        let of = RateSample { rtt: Span::from_millis(rtt), ..sample() };
        law.update_min_rtt(&ack(&Path { now: ms(millis), ..path() }, &of, 0));
        (law.min_rtt.seconds() * 1000.0, law.min_rtt.expired)
    };
    assert_eq!(take(&mut law, 100 + 5000, 120), (100.0, false));
    assert_eq!(take(&mut law, 100 + 5001, 130), (100.0, true), "ProbeRTT is due, and the filter's value holds");
    assert_eq!(take(&mut law, 100 + 10_000, 140), (100.0, false));
    assert_eq!(take(&mut law, 100 + 10_001, 140), (130.0, false), "the smallest since that was due");
}

/// A law with ProbeRTT due at the next acknowledgement and a window of 150. It has at most 50 in flight, half of
/// its path's 100.
fn probes_rtt() -> (Box<Bbr>, Window) {
    let (mut law, mut window) = (cruising(), window(150.0));
    law.min_rtt.expired = true;
    law.check_probe_rtt(&ack(&Path { now: ms(6000), pipe: 51, ..path() }, &sample(), 0), &mut window);
    assert_eq!((law.state, law.min_rtt.until), (State::ProbeRtt, None), "51 in flight are too many");
    (law, window)
}

#[test]
fn check_probe_rtt_saves_the_window_keeps_half_in_flight_and_gives_the_window_back() {
    let (mut law, mut window) = probes_rtt();
    let step = |law: &mut Bbr, window: &mut Window, millis: u64, round: bool| {
        law.rounds.begins = round;
        let path = Path { now: ms(millis), pipe: 50, ..path() };
        law.check_probe_rtt(&ack(&path, &sample(), 0), window);
        law.set_window(&ack(&path, &sample(), 0), window);
    };
    step(&mut law, &mut window, 6100, false);
    assert_eq!((law.min_rtt.until, window.congestion), (Some(ms(6300)), 50.0));
    step(&mut law, &mut window, 6200, true);
    assert_eq!(law.state, State::ProbeRtt, "the round trip is over, the 200 ms are not");
    law.min_rtt.expired = false;
    step(&mut law, &mut window, 6301, false);
    assert_eq!((law.state, window.congestion), (State::Cruise, 151.0), "the window of before, and what was delivered");
    assert_eq!(law.min_rtt.probe_at, ms(6301), "the next is due an interval from now");
}

#[test]
fn check_probe_rtt_lasts_for_a_round_trip_at_least() {
    let (mut law, mut window) = probes_rtt();
    for (millis, round, state) in
        [(6100, false, State::ProbeRtt), (6400, false, State::ProbeRtt), (6500, true, State::Cruise)]
    {
        (law.rounds.begins, law.min_rtt.expired) = (round, false);
        let path = Path { now: ms(millis), pipe: 50, ..path() };
        law.check_probe_rtt(&ack(&path, &sample(), 0), &mut window);
        assert_eq!(law.state, state, "{millis}");
    }
}

#[test]
fn handle_probe_rtt_samples_of_what_was_sent_meanwhile_are_those_of_a_limited_sender() {
    let (law, _) = probes_rtt();
    assert!(law.held.limits(&RateSample { prior_delivered: 1000, ..sample() }));
    assert!(!law.held.limits(&RateSample { prior_delivered: 999, ..sample() }));
}
