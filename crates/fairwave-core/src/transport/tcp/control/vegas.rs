//! Vegas: congestion avoidance by comparing the rate that the window promises with the one that it gets.
//!
//! Source: Brakmo & Peterson 1995; paper 000 §3.3 (thresholds 1 and 3); the once-per-round-trip bookkeeping of ns-2.35.
//! Once per round trip, diff = (expected − actual)·baseRTT segments are taken to stand in queues: fewer than α, the window grows by one
//! in the next round; more than β, it shrinks by one; between them it rests. In slow start it doubles every *other*
//! round trip, and leaves slow start, an eighth lower, when diff exceeds γ.
//!
//! **Assumptions.** diff is rounded to the nearest segment, as in ns-2.35. baseRTT is the smallest round trip; a round in which one segment was
//! in flight sets it anew, also upwards; that of the SYN does not count. The window grows only while it is nearly used: at most two segments more than
//! in flight. Loss lowers the window to three quarters, to one half if the segment had been sent again before, and not at all
//! when it left before the last decrease.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlLaw, Controller, LEAST_THRESHOLD, Path, Verdict, Window};
use crate::config::{ConfigError, check_between};
use crate::registry::{Checked, Law};
use crate::transport::tcp::{Preset, Recovery};

const ALPHA: f64 = 1.0;
const BETA: f64 = 3.0;
const GAMMA: f64 = 1.0;

/// Vegas.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct VegasConfig {
    /// Grow below so many queued segments, above 0. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Shrink above so many queued segments, above `alpha`. Default 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// Leave slow start above so many queued segments, above 0. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
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
}

impl ControlLaw for VegasConfig {
    type Controller = Vegas;
    const RECOVERY: Recovery = Recovery::Vegas;

    fn controller(&self, _preset: Preset) -> Vegas {
        Vegas::new(self.alpha.unwrap_or(ALPHA), self.beta.unwrap_or(BETA), self.gamma.unwrap_or(GAMMA))
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
    /// What each acknowledgement adds in this round.
    increment: f64,
    /// Slow start grows in every other round.
    growing: bool,
    diff: f64,
}

impl Vegas {
    /// Vegas with its thresholds in segments: grow below `alpha`, shrink above `beta`, leave slow start above `gamma`.
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
            diff: f64::NAN,
        }
    }

    /// What is decided once per round trip.
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
            self.diff = libm::trunc((expected - actual) * self.base_rtt + 0.5);
            if window.in_slow_start() {
                self.growing = !self.growing;
                self.increment = 0.0;
                if self.growing && self.diff > self.gamma {
                    window.threshold = LEAST_THRESHOLD;
                    window.congestion = (window.congestion * 0.875).max(LEAST_THRESHOLD);
                } else if self.growing {
                    self.increment = 1.0;
                }
            } else if self.diff > self.beta {
                window.congestion = (window.congestion - 1.0).max(LEAST_THRESHOLD);
                self.increment = 0.0;
            } else if self.diff < self.alpha {
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
            window.congestion += self.increment;
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
    fn estimate(&self) -> f64 {
        self.diff
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Instant, Span};

    /// Feeds one round of `window` segments with the given round trip, and returns the window after it.
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
    fn it_grows_by_about_one_when_nothing_is_queued() {
        let window = steady(&[100, 100, 100, 100], 10.0);
        assert!(window.congestion > 12.0 && window.congestion < 15.0, "{window:?}");
    }

    #[test]
    fn it_shrinks_by_one_per_round_when_more_than_beta_are_queued() {
        // Twice the base round trip: half of the window is queued.
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
}
