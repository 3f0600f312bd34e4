//! LEDBAT++: background transfer that yields as soon as other traffic arrives.
//!
//! Source: draft-irtf-iccrg-ledbat-plus-plus (Balasubramanian, Ertugay, Havey & Bagnulo), by the titles of its
//! sections; LEDBAT is RFC 6817. The queueing delay is the round trip above the smallest one of the last minutes.
//! *Slower than Reno increase*: below the target the window gains GAIN = 1/min(16, ⌈2·target/base⌉) segments per round
//! trip. *Multiplicative decrease*: above it the round trip's change is max(GAIN − C·W·(delay/target − 1), −W/2).
//! *Modified slow start*: GAIN segments for each acknowledged, and the first one ends when the delay exceeds ¾ of the
//! target. *Initial and periodic slowdown*: the window falls to two segments for two round trips, so that the queue
//! empties and all flows measure the path without it. Slow start then leads back to the window before. The first
//! slowdown comes two round trips after the first slow start; each later one comes after nine times the length of the
//! slowdown before it.
//!
//! **Assumptions and deviations.** The delay is the smallest of the last four round trips. The base is the
//! smallest of the last ten minutes, by the minute (both as RFC 6817 §2.4.2 has them for one-way delays). Changes
//! per round trip are spread over its acknowledgements. Slow start after a slowdown has the same GAIN as the first
//! one, as in Apple's implementation; the draft says *the slow start algorithm*. A loss halves the window
//! (RFC 6817 §2.4.2), ends slow start and counts as the end of a slowdown. A timeout leaves one segment, and half
//! the window as the threshold. An idle time does not count as a slowdown. The window opens only while it is
//! filled. The receiver's delayed acknowledgements are part of the round trip, as everywhere.

#[cfg(test)]
mod clauses;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::growth::{WindowUse, avoidance, slow_start};
use super::{ControlLaw, Controller, Estimate, LEAST_THRESHOLD, Path, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Span};

/// LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus), for transfers in the background. It keeps its queueing delay at a
/// target and yields to other flows. From time to time it slows down to measure the path without its own queue.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct LedbatPlusPlusConfig {
    /// Target of the queueing delay, above 0. Default 60 ms.
    pub target: Span,
    /// The smallest gain is 1 divided by this, in segments per round trip on short paths; at least 1. Default 16.
    pub gain_divisor: f64,
    /// C, how strongly the window falls with the delay above the target, above 0. Default 1.
    pub decrease: f64,
    /// Slow down after the first slow start and from time to time. Default true.
    pub slowdown: bool,
}

impl Default for LedbatPlusPlusConfig {
    fn default() -> Self {
        LedbatPlusPlusConfig { target: Span::from_millis(60), gain_divisor: 16.0, decrease: 1.0, slowdown: true }
    }
}

impl Checked for LedbatPlusPlusConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_span("target", self.target, "target = \"60 ms\"")?;
        if !(1.0..f64::INFINITY).contains(&self.gain_divisor) {
            return Err(ConfigError::new("gain-divisor", self.gain_divisor, "at least 1", "gain-divisor = 16"));
        }
        check_between("decrease", self.decrease, 0.0, f64::INFINITY, "decrease = 1")
    }
}

impl Law for LedbatPlusPlusConfig {
    const NAME: &'static str = "tcp/ledbat++";
}

impl ControlLaw for LedbatPlusPlusConfig {
    type Controller = Box<LedbatPlusPlus>;
    const RECOVERY: Recovery = Recovery::Sack;
    const CREDIT: bool = false;

    fn controller(&self, _preset: Preset) -> Box<LedbatPlusPlus> {
        Box::new(LedbatPlusPlus {
            config: *self,
            base: MinuteMinima::new(),
            latest: [f64::INFINITY; FILTER],
            place: 0,
            phase: Phase::First,
            slow_at: Instant::NEVER,
            window_use: WindowUse::default(),
        })
    }
}

/// Number of round trips for the minimum that counts as the current one.
const FILTER: usize = 4;
/// The window during a slowdown, and the minimum otherwise, segments.
const LEAST: f64 = 2.0;
/// The first slow start ends at this share of the target.
const EARLY: f64 = 0.75;
/// Length of a slowdown, and of the wait before the first one, in round trips.
const SLOW_ROUNDS: u64 = 2;
/// Pause between two slowdowns ÷ duration of the previous one.
const PAUSE: u64 = 9;

/// Phase of the window rule.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// The first slow start.
    First,
    /// Congestion avoidance, and slow start after a timeout.
    Steady,
    /// Slowdown: two segments until this time.
    Slow { since: Instant, until: Instant },
    /// Slow start back to the window before the slowdown.
    Back { since: Instant },
}

/// Minima of the last minutes, one per minute.
#[derive(Clone, PartialEq, Debug)]
struct MinuteMinima {
    /// Seconds; infinite without a measurement.
    least: [f64; Self::KEPT],
    minute: u64,
}

impl MinuteMinima {
    /// Number of minutes kept, including the current one.
    const KEPT: usize = 10;

    /// Creates minima without a measurement.
    fn new() -> Self {
        MinuteMinima { least: [f64::INFINITY; Self::KEPT], minute: 0 }
    }

    /// Adds a measurement, in seconds.
    fn note(&mut self, now: Instant, seconds: f64) {
        let minute = now.nanos() / 60_000_000_000;
        let passed = (minute - self.minute).min(Self::KEPT as u64);
        for past in 0..passed {
            self.least[((minute - past) % Self::KEPT as u64) as usize] = f64::INFINITY;
        }
        self.minute = minute;
        let present = &mut self.least[(minute % Self::KEPT as u64) as usize];
        *present = present.min(seconds);
    }

    /// The smallest; infinite without a measurement.
    fn least(&self) -> f64 {
        self.least.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// The window of LEDBAT++.
#[derive(Clone, PartialEq, Debug)]
pub struct LedbatPlusPlus {
    config: LedbatPlusPlusConfig,
    base: MinuteMinima,
    /// The latest round trips, seconds.
    latest: [f64; FILTER],
    place: usize,
    phase: Phase,
    /// Time of the next slowdown.
    slow_at: Instant,
    window_use: WindowUse,
}

impl LedbatPlusPlus {
    fn measure(&mut self, path: &Path) {
        if path.acknowledged > 0 && path.rtt > Span::ZERO {
            let rtt = path.rtt.seconds();
            self.base.note(path.now, rtt);
            self.latest[self.place] = rtt;
            self.place = (self.place + 1) % FILTER;
        }
    }

    /// Queueing delay ÷ target; 0 without a measurement.
    fn delay(&self) -> f64 {
        let latest = self.latest.iter().copied().fold(f64::INFINITY, f64::min);
        let delay = latest - self.base.least();
        if delay.is_finite() { delay / self.config.target.seconds() } else { 0.0 }
    }

    /// GAIN, segments per round trip.
    fn gain(&self) -> f64 {
        let divisor = libm::ceil(2.0 * self.config.target.seconds() / self.base.least());
        1.0 / divisor.clamp(1.0, self.config.gain_divisor)
    }

    /// Updates the window of congestion avoidance after an acknowledgement.
    fn avoid(&self, path: &Path, filled: bool, window: &mut Window) {
        let (congestion, excess) = (window.congestion, self.delay() - 1.0);
        if excess <= 0.0 {
            if filled {
                avoidance(path.acknowledged, self.gain(), window);
            }
            return;
        }
        let per_round_trip = (self.gain() - self.config.decrease * congestion * excess).max(-congestion / 2.0);
        if per_round_trip < 0.0 || filled {
            let part = (f64::from(path.acknowledged) / congestion).min(1.0);
            window.congestion = (congestion + per_round_trip * part).max(LEAST);
            // Otherwise slow start would undo the decrease.
            window.threshold = window.threshold.min(window.congestion);
        }
    }

    /// Ends slow start after any phase: begins congestion avoidance and schedules the next slowdown.
    fn settle(&mut self, path: &Path) {
        let wait = match self.phase {
            Phase::First => path.rtt * SLOW_ROUNDS,
            Phase::Slow { since, .. } | Phase::Back { since } => path.now.span_since(since) * PAUSE,
            Phase::Steady => return,
        };
        self.phase = Phase::Steady;
        self.slow_at = path.now + wait;
    }

    /// True during a slowdown, which holds the window. Begins and ends slowdowns.
    fn is_slow(&mut self, path: &Path, window: &mut Window) -> bool {
        if let Phase::Slow { since, until } = self.phase {
            if path.now < until {
                return true;
            }
            self.phase = Phase::Back { since };
        }
        let due = self.config.slowdown && self.phase == Phase::Steady && path.now >= self.slow_at;
        if due && !window.in_slow_start() {
            self.phase = Phase::Slow { since: path.now, until: path.now + path.rtt * SLOW_ROUNDS };
            *window = Window { congestion: LEAST, threshold: window.congestion.max(LEAST_THRESHOLD) };
            return true;
        }
        false
    }
}

impl Controller for Box<LedbatPlusPlus> {
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        self.measure(path);
        let filled = self.window_use.is_filled(path, window);
        if self.is_slow(path, window) {
            return;
        }
        if self.phase == Phase::First && self.delay() > EARLY {
            window.threshold = window.congestion.max(LEAST_THRESHOLD);
        }
        if window.in_slow_start() {
            if filled || self.phase != Phase::First {
                let step = self.gain() * f64::from(path.acknowledged);
                slow_start(path.acknowledged, step, window);
            }
        } else {
            self.avoid(path, filled, window);
        }
        if !window.in_slow_start() {
            self.settle(path);
        }
    }

    fn on_other_ack(&mut self, path: &Path, _window: &mut Window) {
        self.measure(path);
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        self.settle(path);
        window.threshold = (path.in_use / 2.0).max(LEAST_THRESHOLD);
        window.congestion = window.threshold;
        Verdict::Congestion
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        self.settle(path);
        if !path.timed_out_before {
            window.threshold = (path.in_use / 2.0).max(LEAST_THRESHOLD);
        }
        window.congestion = 1.0;
        Verdict::Congestion
    }

    /// The measured queueing delay, seconds.
    fn estimate(&self) -> Option<Estimate> {
        Some(Estimate::QueueingDelay(self.delay() * self.config.target.seconds()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_pipe::{Pipe, estimated};
    use super::*;

    fn ledbat() -> Box<LedbatPlusPlus> {
        LedbatPlusPlusConfig::default().controller(Preset::Rfc)
    }

    /// An acknowledgement in a filled window.
    fn ack(number: u32, at_millis: u64, rtt_millis: u64, window: f64) -> Path {
        Path {
            now: Instant::ZERO + Span::from_millis(at_millis),
            rtt: Span::from_millis(rtt_millis),
            acknowledged: 1,
            flight: window as u32,
            in_use: window,
            unacknowledged: number,
            next: number + window as u32,
            ..Path::new(1000)
        }
    }

    /// A law in congestion avoidance with a known base and four round trips of `rtt` milliseconds.
    fn steady(base: u64, rtt: u64) -> Box<LedbatPlusPlus> {
        let mut law = ledbat();
        law.phase = Phase::Steady;
        law.measure(&ack(1, 1, base, 10.0));
        (2..6).for_each(|n| law.measure(&ack(n, 1, rtt, 10.0)));
        law
    }

    #[test]
    fn the_gain_is_one_over_twice_the_target_in_round_trips_and_a_sixteenth_at_least() {
        for (base, divisor) in [(5, 16.0), (8, 15.0), (20, 6.0), (50, 3.0), (120, 1.0), (500, 1.0)] {
            assert_eq!(steady(base, base).gain(), 1.0 / divisor, "{base} ms");
        }
    }

    #[test]
    fn window_gains_the_gain_per_round_trip_below_the_target() {
        let law = steady(40, 100);
        let mut window = Window { congestion: 1000.0, threshold: 5.0 };
        (0..1000).for_each(|n| law.avoid(&ack(n, 2, 100, 1000.0), true, &mut window));
        assert!((window.congestion - 1000.0 - 1.0 / 3.0).abs() < 1e-3, "{window:?}");
        law.avoid(&ack(1, 2, 100, 1000.0), false, &mut window);
        assert!((window.congestion - 1000.0 - 1.0 / 3.0).abs() < 1e-3, "and nothing while it is not filled");
    }

    #[test]
    fn window_loses_its_part_of_the_excess_above_the_target_and_half_at_most() {
        // 40 ms of base: 112 ms mean a delay of 1.2 targets, 220 ms of three.
        for (rtt, change) in [(112, 1.0 / 3.0 - 200.0), (220, -500.0)] {
            let law = steady(40, rtt);
            let mut window = Window { congestion: 1000.0, threshold: 5.0 };
            law.avoid(&Path { acknowledged: 100, ..ack(1, 2, rtt, 1000.0) }, true, &mut window);
            assert!((window.congestion - (1000.0 + change / 10.0)).abs() < 1e-9, "{window:?} at {rtt} ms");
        }
        let mut window = Window { congestion: 2.1, threshold: 2.0 };
        steady(40, 220).avoid(&ack(1, 2, 220, 2.0), true, &mut window);
        assert_eq!(window.congestion, LEAST);
    }

    #[test]
    fn the_smallest_of_four_round_trips_is_the_present_one() {
        let mut law = steady(40, 100);
        law.measure(&ack(9, 2, 300, 10.0));
        assert!((estimated(&law) - 0.06).abs() < 1e-9);
        (0..3).for_each(|n| law.measure(&ack(10 + n, 2, 300, 10.0)));
        assert!((estimated(&law) - 0.26).abs() < 1e-9);
    }

    #[test]
    fn the_first_slow_start_ends_above_three_quarters_of_the_target() {
        for (rtt, goes_on) in [(84, true), (86, false)] {
            let mut law = ledbat();
            let mut window = Window { congestion: 10.0, threshold: 1000.0 };
            law.on_ack(&ack(1, 100, 40, 10.0), &mut window);
            assert!((window.congestion - 10.0 - 1.0 / 3.0).abs() < 1e-12, "by the gain: {window:?}");
            (2..7).for_each(|n| law.on_ack(&ack(n, 140, rtt, 10.0), &mut window));
            assert_eq!((window.in_slow_start(), law.phase == Phase::First), (goes_on, goes_on), "{rtt} ms");
        }
    }

    #[test]
    fn slows_down_two_round_trips_later_for_two_round_trips_and_then_comes_back() {
        let mut law = ledbat();
        let mut window = Window { congestion: 60.0, threshold: 60.0 };
        let mut number = 0;
        let mut ack_at = |law: &mut Box<LedbatPlusPlus>, millis: u64, window: &mut Window| {
            number += 1;
            law.on_ack(&ack(number, millis, 120, window.congestion), window);
        };
        ack_at(&mut law, 1000, &mut window);
        assert_eq!((law.phase, law.slow_at), (Phase::Steady, Instant::ZERO + Span::from_millis(1240)));
        ack_at(&mut law, 1239, &mut window);
        let before = window.congestion;
        ack_at(&mut law, 1240, &mut window);
        assert_eq!(window, Window { congestion: 2.0, threshold: before });
        ack_at(&mut law, 1479, &mut window);
        assert_eq!(window.congestion, 2.0);
        ack_at(&mut law, 1480, &mut window);
        assert_eq!(window.congestion, 3.0, "slow start, with a gain of one on a path of 120 ms");
        for _ in 0..100 {
            if window.in_slow_start() {
                ack_at(&mut law, 2040, &mut window);
            }
        }
        assert!(!window.in_slow_start(), "slow start does not lead back to the window of before: {window:?}");
        // 800 ms from start to end. The next one begins nine times that duration later.
        assert_eq!((law.phase, law.slow_at), (Phase::Steady, Instant::ZERO + Span::from_millis(2040 + 7200)));
    }

    #[test]
    fn a_loss_halves_what_is_in_use_and_a_timeout_leaves_one_segment() {
        let mut law = steady(40, 60);
        let mut window = Window { congestion: 80.0, threshold: 5.0 };
        let path = ack(1, 100, 60, 60.0);
        assert_eq!(law.on_loss(&path, &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 30.0, threshold: 30.0 });
        assert_eq!(law.on_timeout(&path, &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 1.0, threshold: 30.0 });
        law.on_timeout(&Path { timed_out_before: true, in_use: 1.0, ..path }, &mut window);
        assert_eq!(window, Window { congestion: 1.0, threshold: 30.0 });
    }

    #[test]
    fn alone_it_keeps_the_queue_at_its_target_the_pipe_nearly_full_and_measures_the_path_again_and_again() {
        // At 40 ms, a queue of 60 ms is one and a half pipes.
        let mut pipe = Pipe::new(ledbat(), 1000.0, 40);
        pipe.run_until(30.0, |_| {});
        let before = pipe.path.delivered;
        let (mut emptied, mut slow, mut delays) = (0, false, Vec::new());
        pipe.run_until(120.0, |pipe| {
            let now_slow = matches!(pipe.law.phase, Phase::Slow { .. });
            emptied += u32::from(now_slow && !slow);
            slow = now_slow;
            if pipe.law.phase == Phase::Steady {
                delays.push(pipe.queue() / 1000.0);
            }
        });
        let delivered = (pipe.path.delivered - before) as f64 / 90.0 / 1000.0;
        assert!(delivered > 0.88, "a tenth is what slowing down may cost: {delivered}");
        assert!((2..60).contains(&emptied), "{emptied}");
        let highest = delays.iter().copied().fold(0.0, f64::max);
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        assert!(highest < 0.07 && mean > 0.03, "{highest} at most, {mean} in the mean");
    }

    #[test]
    fn parameters_out_of_range_are_refused_and_those_left_out_are_the_drafts() {
        let config: LedbatPlusPlusConfig = serde_json::from_str("{}").expect("a table");
        let target = Span::from_millis(60);
        assert_eq!(config, LedbatPlusPlusConfig { target, gain_divisor: 16.0, decrease: 1.0, slowdown: true });
        assert!(config.check().is_ok());
        for bad in [
            LedbatPlusPlusConfig { target: Span::ZERO, ..config },
            LedbatPlusPlusConfig { gain_divisor: 0.5, ..config },
            LedbatPlusPlusConfig { decrease: 0.0, ..config },
        ] {
            assert!(bad.check().is_err());
        }
    }

    #[test]
    fn the_smallest_of_ten_minutes_is_remembered_and_no_longer() {
        let mut minutes = MinuteMinima::new();
        assert_eq!(minutes.least(), f64::INFINITY);
        let mut note_at = |seconds: u64, value: f64| {
            minutes.note(Instant::ZERO + Span::from_secs(seconds), value);
            minutes.least()
        };
        assert_eq!(note_at(30, 0.02), 0.02);
        assert_eq!(note_at(61, 0.05), 0.02);
        assert_eq!(note_at(599, 0.09), 0.02, "the tenth minute");
        assert_eq!(note_at(600, 0.09), 0.05, "the first is forgotten");
        assert_eq!(note_at(4000, 0.3), 0.3, "all are");
    }
}
