//! Vegas: congestion avoidance by comparing the expected rate of the window with the measured rate.
//!
//! Source: Brakmo & Peterson 1995; paper 000 §3.3 (thresholds 1 and 3); the once-per-round-trip bookkeeping of
//! ns-2.35. Once per round trip, the law estimates the queued segments as diff = (expected − actual)·baseRTT. If
//! they are fewer than α, the window grows by one in the next round. If they are more than β, it shrinks by one.
//! Between them it stays. In slow start it doubles every *other* round trip. Slow start ends, and the window falls
//! by an eighth, when diff exceeds γ.
//!
//! **Assumptions.** diff is rounded to the nearest segment, as in ns-2.35. baseRTT is the smallest round trip. A
//! round with one segment in flight sets it again, also upwards. The SYN's round trip does not count. The window
//! grows only while it is nearly used: at most two segments more than in flight. Loss reduces the window to three
//! quarters, or to one half if the segment had been retransmitted before. A segment sent before the last decrease
//! causes no further one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlLaw, Controller, Estimate, LEAST_THRESHOLD, Path, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::registry::{Checked, Law};

const ALPHA: f64 = 1.0;
const BETA: f64 = 3.0;
const GAMMA: f64 = 1.0;

/// Vegas (Brakmo & Peterson 1995; paper 000). Once per round trip it estimates how many of its segments wait in queues:
/// (expected − actual rate) · least round trip. Below `alpha` the window grows by one, above `beta` it shrinks by one;
/// above `gamma`, slow start ends.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct VegasConfig {
    /// The window grows below this number of queued segments, above 0. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ALPHA))]
    pub alpha: Option<f64>,
    /// The window shrinks above this number of queued segments, above `alpha`. Default 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = BETA))]
    pub beta: Option<f64>,
    /// Slow start ends above this number of queued segments, above 0. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = GAMMA))]
    pub gamma: Option<f64>,
}

impl Checked for VegasConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let alpha = self.alpha.unwrap_or(ALPHA);
        check_between("alpha", alpha, 0.0, f64::INFINITY, "alpha = 1")?;
        if let Some(beta) = self.beta {
            check_between("beta", beta, alpha, f64::INFINITY, "beta = 3")?;
        }
        check_between("gamma", self.gamma.unwrap_or(GAMMA), 0.0, f64::INFINITY, "gamma = 1")
    }
}

impl Law for VegasConfig {
    const NAME: &'static str = "tcp/vegas";
    const EXAMPLE: &'static str = r#"{"alpha": 2.0, "beta": 4.0}"#;
}

impl ControlLaw for VegasConfig {
    type Controller = Box<Vegas>;
    const RECOVERY: Recovery = Recovery::Vegas;

    fn controller(&self, _preset: Preset) -> Box<Vegas> {
        let (alpha, beta, gamma) = (self.alpha, self.beta, self.gamma);
        Box::new(Vegas::new(alpha.unwrap_or(ALPHA), beta.unwrap_or(BETA), gamma.unwrap_or(GAMMA)))
    }
}

/// The window of Vegas.
#[derive(Clone, PartialEq, Debug)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// Smallest round trip, seconds.
    base_rtt: f64,
    /// The round ends when this segment is acknowledged.
    round: u32,
    round_began: f64,
    /// Sum and number of the round trips measured in this round.
    sum: f64,
    count: u32,
    /// The increase per acknowledged segment in this round; in slow start, per acknowledgement.
    increment: f64,
    /// Slow start grows in every other round.
    growing: bool,
    diff: Option<f64>,
}

impl Vegas {
    /// Creates Vegas with thresholds in segments: grow below `alpha`, shrink above `beta`, leave slow start above
    /// `gamma`.
    pub fn new(alpha: f64, beta: f64, gamma: f64) -> Self {
        Vegas {
            alpha,
            beta,
            gamma,
            base_rtt: f64::INFINITY,
            round: 0,
            round_began: 0.0,
            sum: 0.0,
            count: 0,
            increment: 0.0,
            growing: false,
            diff: None,
        }
    }

    /// The decision once per round trip.
    fn decide(&mut self, path: &Path, window: &mut Window) {
        let now = path.now.seconds();
        let rtt = match self.count {
            0 if self.round == 0 => path.rtt.seconds(),
            0 => now - self.round_began,
            count => self.sum / f64::from(count),
        };
        (self.sum, self.count) = (0.0, 0);
        let sent = path.next.saturating_sub(self.round);
        if rtt > 0.0 {
            if rtt < self.base_rtt || sent <= 1 {
                self.base_rtt = rtt;
            }
            let actual = f64::from(sent) / rtt;
            let expected = f64::from(path.next.saturating_sub(path.unacknowledged) + 1) / self.base_rtt;
            let diff = libm::trunc((expected - actual) * self.base_rtt + 0.5);
            self.diff = Some(diff);
            if window.in_slow_start() {
                self.growing = !self.growing;
                self.increment = 0.0;
                if self.growing && diff > self.gamma {
                    window.threshold = LEAST_THRESHOLD;
                    window.congestion = (window.congestion * 0.875).max(LEAST_THRESHOLD);
                } else if self.growing {
                    self.increment = 1.0;
                }
            } else if diff > self.beta {
                window.congestion = (window.congestion - 1.0).max(LEAST_THRESHOLD);
                self.increment = 0.0;
            } else if diff < self.alpha {
                self.increment = 1.0 / window.congestion;
            } else {
                self.increment = 0.0;
            }
        }
        self.round = path.next;
        self.round_began = now;
    }
}

impl Controller for Vegas {
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        if path.unacknowledged > self.round {
            self.decide(path, window);
        }
        if self.increment >= 1.0 && !window.in_slow_start() {
            self.increment = 0.0;
        }
        let in_flight = f64::from(path.next.saturating_sub(path.unacknowledged) + 1);
        if self.increment > 0.0 && window.congestion - in_flight <= 2.0 {
            let counted = if window.in_slow_start() { 1.0 } else { f64::from(path.credit) };
            window.congestion += self.increment * counted;
        }
        let rtt = path.rtt.seconds();
        if rtt > 0.0 {
            self.sum += rtt;
            self.count += 1;
            self.base_rtt = self.base_rtt.min(rtt);
        }
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        let whole = libm::trunc(path.in_use);
        window.congestion = if whole <= 3.0 {
            2.0
        } else if path.transmissions > 1 {
            libm::trunc(whole / 2.0)
        } else {
            whole - libm::trunc(whole / 4.0)
        };
        Verdict::Congestion
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        window.threshold = libm::trunc(path.in_use / 2.0).max(LEAST_THRESHOLD);
        window.congestion = 2.0;
        Verdict::Congestion
    }

    /// The last diff, segments.
    fn estimate(&self) -> Option<Estimate> {
        self.diff.map(Estimate::QueuedSegments)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_pipe::estimated;
    use super::*;
    use fairwave_units::units::{Instant, Span};

    /// Runs one round of `window` segments with the given round trip. The window is updated.
    fn round(vegas: &mut Vegas, window: &mut Window, first: &mut u32, now_ms: &mut u64, rtt_ms: u64) {
        let size = window.congestion as u32;
        *now_ms += rtt_ms;
        for n in 0..size {
            let path = Path {
                now: Instant::ZERO + Span::from_millis(*now_ms),
                rtt: Span::from_millis(rtt_ms),
                unacknowledged: *first + n + 1,
                next: *first + size + n,
                ..Path::new(1000)
            };
            vegas.on_ack(&path, window);
        }
        *first += size;
    }

    fn steady(rtts: &[u64], congestion: f64) -> Window {
        let mut vegas = Vegas::new(1.0, 3.0, 1.0);
        let mut window = Window { congestion, threshold: 2.0 };
        let (mut first, mut now) = (1, 0);
        round(&mut vegas, &mut window, &mut first, &mut now, 100);
        for &rtt in rtts {
            round(&mut vegas, &mut window, &mut first, &mut now, rtt);
        }
        window
    }

    #[test]
    fn grows_by_about_one_when_nothing_is_queued() {
        let window = steady(&[100, 100, 100, 100], 10.0);
        assert!(window.congestion > 12.0 && window.congestion < 15.0, "{window:?}");
    }

    #[test]
    fn shrinks_by_one_per_round_when_more_than_beta_are_queued() {
        // At twice the base round trip, half of the window is queued.
        let shrunk = steady(&[200, 200, 200, 200], 20.0).congestion - steady(&[200; 6], 20.0).congestion;
        assert!((shrunk - 2.0).abs() < 1e-6, "{shrunk} in two rounds");
    }

    #[test]
    fn loss_keeps_three_quarters_and_a_repeated_loss_half() {
        let mut vegas = Vegas::new(1.0, 3.0, 1.0);
        let mut window = Window { congestion: 20.9, threshold: 2.0 };
        vegas.on_loss(&Path { in_use: 20.0, ..Path::new(1000) }, &mut window);
        assert_eq!(window.congestion, 15.0);
        vegas.on_loss(&Path { in_use: 15.0, transmissions: 2, ..Path::new(1000) }, &mut window);
        assert_eq!(window.congestion, 7.0);
    }

    /// Vegas after a round with round trips `rtt`, with 21 segments sent in it and 20 of them in flight. The
    /// smallest was 100 ms.
    fn segments_in_round(rtt: f64) -> (Vegas, Path) {
        let vegas = Vegas {
            base_rtt: 0.1,
            round: 100,
            sum: 20.0 * rtt,
            count: 20,
            ..*VegasConfig::default().controller(Preset::Rfc)
        };
        let path = Path {
            now: Instant::ZERO + Span::from_secs(10),
            rtt: Span::from_millis(100),
            unacknowledged: 101,
            next: 121,
            ..Path::new(1000)
        };
        (vegas, path)
    }

    #[test]
    fn diff_is_what_stands_in_queues_to_the_nearest_segment() {
        // 21 segments expected in a round; actually 21 · 100 ms / rtt.
        for (rtt, diff) in [(0.1, 0.0), (0.102, 0.0), (0.105, 1.0), (0.11, 2.0), (0.115, 3.0), (0.13, 5.0)] {
            let (mut vegas, path) = segments_in_round(rtt);
            assert_eq!(vegas.estimate(), None);
            vegas.on_ack(&path, &mut Window { congestion: 20.0, threshold: 2.0 });
            assert_eq!(estimated(&vegas), diff, "{rtt} s");
        }
    }

    #[test]
    fn grows_below_alpha_shrinks_above_beta_and_rests_in_between() {
        for (rtt, expected) in [(0.102, 20.0 + 1.0 / 20.0), (0.105, 20.0), (0.115, 20.0), (0.13, 19.0)] {
            let (mut vegas, path) = segments_in_round(rtt);
            let mut window = Window { congestion: 20.0, threshold: 2.0 };
            vegas.on_ack(&path, &mut window);
            assert_eq!(window.congestion, expected, "{rtt} s");
            // The second acknowledgement of the round makes no decision, and increases the window like the first.
            vegas.on_ack(&Path { unacknowledged: 102, next: 122, ..path }, &mut window);
            let again = if expected > 20.0 { expected + 1.0 / 20.0 } else { expected };
            assert_eq!(window.congestion, again, "{rtt} s");
        }
    }

    #[test]
    fn grows_only_while_the_window_is_nearly_used() {
        for (congestion, grows) in [(23.0, true), (23.5, false)] {
            let (mut vegas, path) = segments_in_round(0.1);
            let mut window = Window { congestion, threshold: 2.0 };
            vegas.on_ack(&path, &mut window);
            assert_eq!(window.congestion > congestion, grows, "{congestion}");
        }
    }

    #[test]
    fn never_shrinks_below_two_segments() {
        let (mut vegas, path) = segments_in_round(0.2);
        let mut window = Window { congestion: 2.5, threshold: 2.0 };
        vegas.on_ack(&path, &mut window);
        assert_eq!(window.congestion, 2.0);
    }

    #[test]
    fn slow_start_doubles_in_every_other_round() {
        let (mut vegas, path) = segments_in_round(0.1);
        let mut window = Window { congestion: 20.0, threshold: 64.0 };
        vegas.on_ack(&path, &mut window);
        assert_eq!(window.congestion, 21.0);
        vegas.on_ack(&Path { unacknowledged: 122, next: 142, ..path }, &mut window);
        assert_eq!(window.congestion, 21.0, "it rests in this round");
        vegas.on_ack(&Path { unacknowledged: 143, next: 163, ..path }, &mut window);
        assert_eq!(window.congestion, 22.0);
    }

    #[test]
    fn leaves_slow_start_an_eighth_lower_when_more_than_gamma_are_queued() {
        for (rtt, left) in [(0.105, false), (0.11, true)] {
            let (mut vegas, path) = segments_in_round(rtt);
            let mut window = Window { congestion: 20.0, threshold: 64.0 };
            vegas.on_ack(&path, &mut window);
            let expected = if left {
                Window { congestion: 17.5, threshold: 2.0 }
            } else {
                Window { congestion: 21.0, threshold: 64.0 }
            };
            assert_eq!(window, expected, "{rtt} s");
        }
        // In a round without growth it makes no comparison.
        let (vegas, path) = segments_in_round(0.13);
        let mut vegas = Vegas { growing: true, ..vegas };
        let mut window = Window { congestion: 20.0, threshold: 64.0 };
        vegas.on_ack(&path, &mut window);
        assert_eq!(window, Window { congestion: 20.0, threshold: 64.0 });
    }

    #[test]
    fn the_increment_of_slow_start_ends_with_it() {
        let (mut vegas, path) = segments_in_round(0.1);
        let mut window = Window { congestion: 20.0, threshold: 21.0 };
        vegas.on_ack(&path, &mut window);
        vegas.on_ack(&Path { unacknowledged: 102, next: 122, ..path }, &mut window);
        assert_eq!(window.congestion, 21.0);
    }

    #[test]
    fn the_base_is_the_smallest_round_trip_unless_one_segment_made_the_round() {
        let (mut vegas, path) = segments_in_round(0.11);
        let mut window = Window { congestion: 20.0, threshold: 2.0 };
        vegas.on_ack(&Path { rtt: Span::from_millis(90), ..path }, &mut window);
        assert_eq!(vegas.base_rtt, 0.09);
        let (mut vegas, path) = segments_in_round(0.2);
        vegas.on_ack(&Path { next: 101, rtt: Span::from_millis(200), ..path }, &mut window);
        assert_eq!(vegas.base_rtt, 0.2, "what one segment met was no queue of its own");
    }

    #[test]
    fn a_round_without_a_measurement_lasted_from_its_beginning_until_now() {
        let (vegas, path) = segments_in_round(0.1);
        let mut vegas = Vegas { sum: 0.0, count: 0, round_began: 9.87, ..vegas };
        vegas.on_ack(&path, &mut Window { congestion: 20.0, threshold: 2.0 });
        assert_eq!(estimated(&vegas), 5.0, "130 ms, as above");
        assert_eq!((vegas.round, vegas.round_began), (121, 10.0));
    }

    #[test]
    fn the_first_round_is_measured_by_its_first_acknowledgement() {
        let mut vegas = VegasConfig::default().controller(Preset::Ns2);
        let path = Path { rtt: Span::from_millis(100), unacknowledged: 2, next: 3, ..Path::new(1000) };
        vegas.on_ack(&path, &mut Window { congestion: 2.0, threshold: 64.0 });
        assert_eq!((vegas.base_rtt, vegas.round, vegas.count), (0.1, 3, 1));
    }

    #[test]
    fn losses_take_a_quarter_of_whole_segments_and_leave_two() {
        for (in_use, left) in [(19.9, 15.0), (4.0, 3.0), (3.9, 2.0), (1.0, 2.0)] {
            let mut window = Window { congestion: 30.0, threshold: 2.0 };
            let verdict = Vegas::new(1.0, 3.0, 1.0).on_loss(&Path { in_use, ..Path::new(1000) }, &mut window);
            assert_eq!((window.congestion, verdict), (left, Verdict::Congestion), "{in_use}");
        }
    }

    #[test]
    fn a_timeout_begins_again_with_two_segments_up_to_half_of_what_was_in_use() {
        for (in_use, threshold) in [(21.9, 10.0), (3.0, 2.0)] {
            let mut window = Window { congestion: 30.0, threshold: 2.0 };
            let verdict = Vegas::new(1.0, 3.0, 1.0).on_timeout(&Path { in_use, ..Path::new(1000) }, &mut window);
            assert_eq!(window, Window { congestion: 2.0, threshold });
            assert_eq!(verdict, Verdict::Congestion);
        }
    }

    #[test]
    fn thresholds_left_out_are_one_three_and_one() {
        let unset = VegasConfig::default().controller(Preset::Rfc);
        assert_eq!((unset.alpha, unset.beta, unset.gamma), (1.0, 3.0, 1.0));
        let set = VegasConfig { alpha: Some(2.0), beta: Some(4.0), gamma: Some(3.0) }.controller(Preset::Rfc);
        assert_eq!((set.alpha, set.beta, set.gamma), (2.0, 4.0, 3.0));
    }
}
