//! Prague: DCTCP's response to marks for the Internet. It is paced, uses fractional windows, and in the long run
//! does not depend on the round trip.
//!
//! Source: TCP Prague as its authors run it (`L4STeam/linux`, `net/ipv4/tcp_prague.c`, version 0.6;
//! `L4STeam/udp_prague` is a short version). It is designed to meet the requirements of RFC 9331 §4.3 for scalable
//! congestion controls. α is DCTCP's mean part of marked segments (RFC 8257 §3.3), and a mark reduces the window
//! by α/2. DCTCP grows by a segment per round trip. In Prague only unmarked segments add to this growth, also
//! right after a decrease. Otherwise growth would ignore a queue that marks many segments. After `rtt-transition`
//! round trips, a connection whose round trip R is below `rtt-virtual` V behaves like one with round trip V.
//! Growth is scaled by (R/V)², so that the rate gains a segment per V in each V. The window falls, and α is
//! measured, at most once per V.
//!
//! **Assumptions and deviations.** The window is a fraction. The sender uses it rounded up to whole segments, at
//! least two. The rate is the fraction per smoothed round trip, twice that in slow start below half of the
//! threshold. The authors' window moves to the fraction by one segment per acknowledgement; this one moves at
//! once. Decreases are the same, as no segment leaves meanwhile. A loss halves the window, and the window does not
//! grow until the loss is repaired. There is **no fall-back for classic ECN**: the law does not recognise a queue
//! that marks where it would drop. In the deployed code the fall-back is off too. Such a queue gives this law more
//! than its share. α is not measured before the first mark, which therefore finds α = 1 and halves the window.
//! Undoing of spurious losses and the authors' choice of bursts for segmentation by hardware are left out.

#[cfg(test)]
mod clauses;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dctcp::MarkedPart;
use super::growth::{SmoothedRtt, WindowUse};
use super::{ControlLaw, Controller, Estimate, Marks, Path, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Span};

/// TCP Prague (L4S, RFC 9331), for queues that keep delay low by marking early. It responds to the share of marks,
/// paces its segments, and in the long run does not depend on the round trip.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PragueConfig {
    /// Weight of each measurement in the mean share of marks, above 0 and below 1. Default 1/16.
    #[serde(with = "Ratio")]
    pub gain: f64,
    /// The rate of a flow with a shorter round trip behaves as if the round trip were this long; 0 s: off. Default 25
    /// ms.
    pub rtt_virtual: Span,
    /// Number of round trips of congestion avoidance before the rate becomes independent of the round trip; 0: at once.
    /// Default 500.
    pub rtt_transition: u32,
}

impl Default for PragueConfig {
    fn default() -> Self {
        PragueConfig { gain: 1.0 / 16.0, rtt_virtual: Span::from_millis(25), rtt_transition: 500 }
    }
}

impl Checked for PragueConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_between("gain", self.gain, 0.0, 1.0, "gain = 0.0625")
    }
}

impl Law for PragueConfig {
    const NAME: &'static str = "tcp/prague";
}

impl ControlLaw for PragueConfig {
    type Controller = Box<Prague>;
    const RECOVERY: Recovery = Recovery::Sack;
    const CREDIT: bool = false;
    const MARKS: Marks = Marks::Scalable;
    const PACES: bool = true;

    fn controller(&self, _preset: Preset) -> Box<Prague> {
        Box::new(Prague {
            config: *self,
            marked: MarkedPart::new(self.gain, 1.0),
            window_use: WindowUse::default(),
            rtt: SmoothedRtt::default(),
            fraction: 0.0,
            shown: 0.0,
            rounds: 0,
            has_seen_mark: false,
            is_repairing: false,
            window_passed: false,
            observed: Instant::ZERO,
            reduced: Instant::ZERO,
        })
    }
}

/// The window never falls below two segments.
const LEAST: f64 = 2.0;

/// The window of Prague.
#[derive(Clone, PartialEq, Debug)]
pub struct Prague {
    config: PragueConfig,
    marked: MarkedPart,
    window_use: WindowUse,
    rtt: SmoothedRtt,
    /// The window, in segments, with a fractional part.
    fraction: f64,
    /// The window last given to the sender. If the sender's window differs, the sender has changed it.
    shown: f64,
    /// Round trips of congestion avoidance.
    rounds: u32,
    has_seen_mark: bool,
    /// A loss is being repaired.
    is_repairing: bool,
    /// A window of data has passed since the last measurement of α.
    window_passed: bool,
    /// Time of the last measurement of α.
    observed: Instant,
    /// Time of the last decrease by a mark.
    reduced: Instant,
}

impl Prague {
    /// The virtual round trip, while the connection behaves as if it had that one.
    fn pace(&self, window: &Window) -> Option<f64> {
        let pace = self.config.rtt_virtual.seconds();
        let independent = !window.in_slow_start() && self.rounds >= self.config.rtt_transition;
        (independent && self.rtt.seconds() < pace).then_some(pace)
    }

    /// True if the virtual round trip has passed since then.
    fn has_passed(&self, path: &Path, since: Instant, window: &Window) -> bool {
        self.pace(window).is_none() || path.now.span_since(since) >= self.config.rtt_virtual
    }

    /// Adopts the sender's change of the window.
    fn take(&mut self, window: &Window) {
        if window.congestion != self.shown {
            self.fraction = window.congestion;
        }
    }

    fn show(&mut self, window: &mut Window) {
        self.fraction = self.fraction.max(LEAST);
        window.congestion = libm::ceil(self.fraction);
        self.shown = window.congestion;
    }

    fn count(&mut self, path: &Path, window: &Window) {
        self.rtt.note(path);
        self.has_seen_mark |= path.marked > 0;
        if self.marked.count(path) {
            self.window_passed = true;
            if !window.in_slow_start() {
                self.rounds = self.rounds.saturating_add(1);
            }
        }
        if self.window_passed && self.has_passed(path, self.observed, window) {
            self.window_passed = false;
            self.observed = path.now;
            if self.has_seen_mark {
                self.marked.observe();
            } else {
                self.marked.forget();
            }
        }
    }
}

impl Controller for Prague {
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        self.take(window);
        self.is_repairing = false;
        self.count(path, window);
        let unmarked = f64::from(path.acknowledged.saturating_sub(path.marked));
        if self.window_use.is_filled(path, window) && unmarked > 0.0 {
            if window.in_slow_start() {
                self.fraction = (self.fraction + unmarked).min(window.threshold);
            } else {
                let scale = self.pace(window).map_or(1.0, |pace| self.rtt.seconds() / pace);
                self.fraction += unmarked / self.fraction * scale * scale;
            }
        }
        self.show(window);
    }

    fn on_other_ack(&mut self, path: &Path, window: &mut Window) {
        self.take(window);
        self.count(path, window);
    }

    fn on_mark(&mut self, path: &Path, window: &mut Window) {
        self.take(window);
        self.has_seen_mark = true;
        if self.is_repairing || (self.reduced > Instant::ZERO && !self.has_passed(path, self.reduced, window)) {
            return;
        }
        self.reduced = path.now;
        self.fraction -= self.fraction * self.marked.alpha() / 2.0;
        self.show(window);
        window.threshold = window.congestion;
    }

    fn on_loss(&mut self, _path: &Path, window: &mut Window) -> Verdict {
        self.take(window);
        self.is_repairing = true;
        self.fraction /= 2.0;
        self.show(window);
        window.threshold = window.congestion;
        Verdict::Congestion
    }

    fn on_recovered(&mut self, _path: &Path, _window: &mut Window) {
        self.is_repairing = false;
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        if !path.timed_out_before {
            window.threshold = (path.in_use / 2.0).max(LEAST);
        }
        window.congestion = 1.0;
        (self.fraction, self.shown) = (1.0, 1.0);
        Verdict::Congestion
    }

    /// The fraction per smoothed round trip.
    fn pacing(&self, path: &Path, window: &Window) -> f64 {
        let rtt = if self.rtt.seconds() > 0.0 { self.rtt.seconds() } else { path.rtt.seconds() };
        if rtt == 0.0 {
            return f64::INFINITY;
        }
        let fraction = if window.congestion == self.shown { self.fraction } else { window.congestion };
        let pace = if window.congestion < window.threshold / 2.0 { 2.0 } else { 1.0 };
        pace * fraction / rtt
    }

    /// α.
    fn estimate(&self) -> Option<Estimate> {
        Some(Estimate::MarkedShare(self.marked.alpha()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_pipe::{Pipe, estimated};
    use super::*;

    fn prague() -> Box<Prague> {
        PragueConfig::default().controller(Preset::Rfc)
    }

    /// A law that is independent of the round trip from the start.
    fn independent() -> Box<Prague> {
        PragueConfig { rtt_transition: 0, ..PragueConfig::default() }.controller(Preset::Rfc)
    }

    /// An acknowledgement of a segment in a filled window of ten, on a path of 5 ms.
    fn ack(number: u32, marked: bool) -> Path {
        Path {
            now: Instant::ZERO + Span::from_micros(500) * u64::from(number),
            rtt: Span::from_millis(5),
            acknowledged: 1,
            marked: u32::from(marked),
            flight: 10,
            in_use: 10.0,
            unacknowledged: number,
            next: number + 9,
            ..Path::new(1000)
        }
    }

    #[test]
    fn slow_start_adds_what_is_acknowledged_without_a_mark() {
        let mut law = prague();
        let mut window = Window { congestion: 10.0, threshold: 100.0 };
        law.on_ack(&Path { acknowledged: 3, marked: 1, ..ack(3, false) }, &mut window);
        assert_eq!(window.congestion, 12.0);
        law.on_ack(&ack(4, true), &mut window);
        assert_eq!(window.congestion, 12.0);
    }

    #[test]
    fn the_first_mark_halves_the_window_and_ends_slow_start_and_later_ones_take_half_of_alpha() {
        let mut law = prague();
        let mut window = Window { congestion: 10.0, threshold: 100.0 };
        for number in 1..40 {
            law.on_ack(&Path { flight: 60, ..ack(number, false) }, &mut window);
        }
        assert_eq!((estimated(&law), window.congestion), (1.0, 49.0), "α is not measured before there was a mark");
        law.on_mark(&ack(40, true), &mut window);
        assert_eq!((law.fraction, window), (24.5, Window { congestion: 25.0, threshold: 25.0 }));
        law.marked = MarkedPart::new(1.0 / 16.0, 0.25);
        law.on_mark(&ack(90, true), &mut window);
        assert!((law.fraction - 24.5 * 0.875).abs() < 1e-12);
    }

    #[test]
    fn growth_is_a_segment_for_a_window_of_unmarked_segments_also_right_after_a_mark() {
        let mut law = prague();
        let mut window = Window { congestion: 10.0, threshold: 10.0 };
        law.on_mark(&ack(1, true), &mut window);
        assert_eq!(law.fraction, 5.0);
        law.on_ack(&ack(2, false), &mut window);
        assert_eq!(law.fraction, 5.2);
        law.on_ack(&ack(3, true), &mut window);
        assert_eq!(law.fraction, 5.2);
        assert_eq!(window.congestion, 6.0, "the sender uses what the fraction has begun");
    }

    #[test]
    fn a_short_round_trip_grows_by_its_square_part_of_the_virtual_one_after_the_transition() {
        let grown = |mut law: Box<Prague>, millis| {
            let mut window = Window { congestion: 10.0, threshold: 10.0 };
            let path = Path { rtt: Span::from_millis(millis), ..ack(1, false) };
            law.on_ack(&path, &mut window);
            (law.fraction - 10.0) * 10.0
        };
        assert!((grown(independent(), 5) - 0.04).abs() < 1e-9);
        assert!((grown(independent(), 25) - 1.0).abs() < 1e-9);
        assert!((grown(independent(), 80) - 1.0).abs() < 1e-9);
        assert!((grown(prague(), 5) - 1.0).abs() < 1e-9, "not before 500 round trips");
        let mut old = prague();
        old.rounds = 500;
        assert!((grown(old, 5) - 0.04).abs() < 1e-9);
    }

    #[test]
    fn a_short_round_trip_is_reduced_and_measured_once_in_the_virtual_one() {
        let mut law = independent();
        let mut window = Window { congestion: 100.0, threshold: 10.0 };
        let mut reductions = Vec::new();
        // A window of ten takes 5 ms; each window has a mark.
        for number in 1..=200 {
            let before = law.fraction;
            law.on_ack(&Path { flight: 100, ..ack(number, number % 10 == 0) }, &mut window);
            if number % 10 == 0 {
                law.on_mark(&ack(number, true), &mut window);
            }
            if law.fraction < before {
                reductions.push(number / 10);
            }
        }
        assert_eq!(reductions, [1, 6, 11, 16], "each 25 ms");
        // Four measurements in 100 ms: the first without a mark, then a tenth each.
        let measured = (0..3).fold(1.0, |alpha: f64, _| alpha + (0.1 - alpha) / 16.0);
        assert!((estimated(&law) - measured).abs() < 0.06, "{} for {measured}", estimated(&law));
    }

    #[test]
    fn a_loss_halves_the_window_which_neither_grows_nor_answers_marks_until_it_is_repaired() {
        let mut law = prague();
        let mut window = Window { congestion: 40.0, threshold: 10.0 };
        assert_eq!(law.on_loss(&ack(1, false), &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 20.0, threshold: 20.0 });
        law.on_mark(&ack(2, true), &mut window);
        law.on_other_ack(&ack(3, false), &mut window);
        assert_eq!(law.fraction, 20.0);
        law.on_recovered(&ack(60, false), &mut window);
        law.on_mark(&ack(61, true), &mut window);
        assert!(law.fraction < 20.0);
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_two_are_the_least_otherwise() {
        let mut law = prague();
        let mut window = Window { congestion: 40.0, threshold: 100.0 };
        assert_eq!(law.on_timeout(&Path { in_use: 30.0, ..ack(1, false) }, &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 1.0, threshold: 15.0 });
        let mut window = Window { congestion: 3.0, threshold: 2.0 };
        law.on_loss(&ack(2, false), &mut window);
        assert_eq!(window, Window { congestion: 2.0, threshold: 2.0 });
    }

    #[test]
    fn the_pace_is_the_fraction_per_round_trip_and_twice_that_early_in_slow_start() {
        let mut law = prague();
        let mut window = Window { congestion: 10.0, threshold: 10.0 };
        assert_eq!(law.pacing(&Path::new(1000), &window), f64::INFINITY, "no round trip is known");
        law.on_ack(&ack(1, false), &mut window);
        assert!((law.pacing(&ack(1, false), &window) - 10.1 / 0.005).abs() < 1e-6, "not that of the eleven");
        window.threshold = 100.0;
        assert!((law.pacing(&ack(1, false), &window) - 20.2 / 0.005).abs() < 1e-6);
    }

    #[test]
    fn a_window_that_the_sender_has_changed_is_taken_over() {
        let mut law = prague();
        let mut window = Window { congestion: 40.0, threshold: 10.0 };
        law.on_ack(&Path { flight: 40, ..ack(1, false) }, &mut window);
        window.congestion = 6.0;
        assert!((law.pacing(&ack(1, false), &window) - 6.0 / 0.005).abs() < 1e-6);
        law.on_ack(&ack(2, true), &mut window);
        assert_eq!(law.fraction, 6.0);
    }

    /// RFC 9332 Appendix C.2 has r = 2/(R·p): two marks per round trip, for a control that falls in each. After a
    /// round trip with a decrease, this law waits for the next random mark. With two marks per round trip it waits
    /// half a round trip more, and grows meanwhile.
    #[test]
    fn on_marks_at_random_it_has_two_to_three_of_them_in_each_round_trip() {
        let mut dice = fairwave_units::random::Seed(4).stream("marks");
        for (millis, part) in [(40u64, 0.02), (40, 0.1), (100, 0.05)] {
            let mut law = prague();
            let mut window = Window { congestion: 20.0, threshold: 10.0 };
            let (mut sum, mut rounds, mut acknowledged, mut marked_below) = (0.0, 0u32, 0u32, 0);
            let mut micros = 0.0;
            for round in 0..4000 {
                let flight = window.congestion as u32;
                for _ in 0..flight {
                    acknowledged += 1;
                    micros += millis as f64 * 1000.0 / f64::from(flight);
                    let marked = dice.chance(part);
                    let path = Path {
                        now: Instant::ZERO + Span::from_micros(micros as u64),
                        rtt: Span::from_millis(millis),
                        flight,
                        next: acknowledged + flight - 1,
                        ..ack(acknowledged, marked)
                    };
                    if marked && acknowledged >= marked_below {
                        marked_below = path.next + 1;
                        law.on_mark(&path, &mut window);
                    }
                    law.on_ack(&path, &mut window);
                }
                if round >= 1000 {
                    sum += law.fraction;
                    rounds += 1;
                }
            }
            // Growth counts only unmarked segments, and is lower only in round trips with a mark.
            let mean = sum / f64::from(rounds);
            let per_round_trip = mean * part;
            assert!((2.0..3.0).contains(&per_round_trip), "{per_round_trip} marks at {part}");
        }
    }

    #[test]
    fn on_a_step_it_keeps_the_queue_at_the_step_and_the_pipe_full() {
        let mut pipe = Pipe::new(prague(), 5_000.0, 30);
        pipe.mark_above = 5.0;
        pipe.run_until(10.0, |_| {});
        let before = pipe.path.delivered;
        let (mut queue, mut acks, mut highest) = (0.0, 0u32, 0.0f64);
        pipe.run_until(30.0, |pipe| {
            (queue, acks) = (queue + pipe.queue(), acks + 1);
            highest = highest.max(pipe.queue());
        });
        let delivered = (pipe.path.delivered - before) as f64 / 20.0 / 5_000.0;
        assert!(delivered > 0.97, "{delivered}");
        assert!(
            queue / f64::from(acks) < 8.0 && highest < 20.0,
            "{} in the mean, {highest} at most",
            queue / f64::from(acks)
        );
    }

    #[test]
    fn parameters_out_of_range_are_refused_and_those_left_out_are_the_authors() {
        let config: PragueConfig = serde_json::from_str("{}").expect("a table");
        let expected = PragueConfig { gain: 0.0625, rtt_virtual: Span::from_millis(25), rtt_transition: 500 };
        assert_eq!(config, expected);
        assert!(config.check().is_ok() && PragueConfig::MARKS == Marks::Scalable);
        assert!(PragueConfig { gain: 1.0, ..config }.check().is_err());
    }
}
