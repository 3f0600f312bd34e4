//! HyStart++: a slow start that ends when the round trip grows, before the queue overflows.
//!
//! Source: RFC 9406 §4.2 and §4.3. Each round trip, the smallest sample is compared with the smallest sample of
//! the previous round trip. If it has grown by an eighth (but at least 4 ms and at most 16 ms), slow start becomes
//! conservative. For five round trips the window opens at a quarter of the pace, and then slow start ends. If the
//! round trip falls below its value at their start, no queue caused the growth, and slow start continues.
//!
//! **Assumptions.** HyStart++ applies only to a connection's first slow start, whose threshold is unknown
//! (RFC 9406 §4.3 recommends it). A slow start after a timeout or an idle time ends at the known threshold. An
//! acknowledgement adds at most eight segments (L, for senders without pacing). The limit also applies to paced
//! senders, since only very long gaps between acknowledgements reach it.

use super::growth::{Round, slow_start};
use super::{Path, Window};
use fairwave_units::units::Span;

/// `MIN_RTT_THRESH`.
const LEAST_GROWTH: Span = Span::from_millis(4);
/// `MAX_RTT_THRESH`.
const MOST_GROWTH: Span = Span::from_millis(16);
/// `MIN_RTT_DIVISOR`.
const PART: u64 = 8;
/// `N_RTT_SAMPLE`.
const SAMPLES: u32 = 8;
/// `CSS_GROWTH_DIVISOR`.
const SLOWER: f64 = 4.0;
/// `CSS_ROUNDS`.
const CONSERVATIVE_ROUNDS: u32 = 5;
/// L: the largest number of segments that an acknowledgement adds.
pub(super) const LARGEST_STEP: f64 = 8.0;

/// A connection's first slow start.
#[derive(Clone, PartialEq, Debug)]
pub struct HyStart {
    round: Round,
    /// `lastRoundMinRTT`; the longest span before the first round.
    last: Span,
    /// `currentRoundMinRTT`.
    current: Span,
    samples: u32,
    /// While slow start is conservative: `cssBaselineMinRtt`, and the number of its round trips begun.
    conservative: Option<(Span, u32)>,
}

impl Default for HyStart {
    fn default() -> Self {
        HyStart { round: Round::default(), last: Span::MAX, current: Span::MAX, samples: 0, conservative: None }
    }
}

impl HyStart {
    /// Opens the window for an acknowledgement of new data in slow start, if `filled`: the sender fills its
    /// window. Sets the threshold to the window when slow start ends.
    pub fn on_ack(&mut self, path: &Path, filled: bool, window: &mut Window) {
        if self.round.ends(path) && self.begin_round() {
            window.threshold = window.congestion;
            return;
        }
        if filled {
            let step = f64::from(path.acknowledged).min(LARGEST_STEP);
            let pace = if self.is_conservative() { SLOWER } else { 1.0 };
            slow_start(path.acknowledged, step / pace, window);
        }
        if path.rtt > Span::ZERO {
            self.current = self.current.min(path.rtt);
            self.samples += 1;
        }
        self.judge();
    }

    /// True if slow start is conservative.
    pub fn is_conservative(&self) -> bool {
        self.conservative.is_some()
    }

    /// Begins a round trip. Returns true if slow start is over.
    fn begin_round(&mut self) -> bool {
        self.last = self.current;
        self.current = Span::MAX;
        self.samples = 0;
        match &mut self.conservative {
            // The incomplete round in which it began counts as one.
            Some((_, begun)) if *begun >= CONSERVATIVE_ROUNDS => return true,
            Some((_, begun)) => *begun += 1,
            None => {}
        }
        false
    }

    /// Detects growth of the round trip, or that the growth was spurious.
    fn judge(&mut self) {
        if self.samples < SAMPLES || self.current == Span::MAX {
            return;
        }
        if let Some((baseline, _)) = self.conservative {
            if self.current < baseline {
                self.conservative = None;
            }
            return;
        }
        if self.last == Span::MAX {
            return;
        }
        let threshold = (self.last / PART).clamp(LEAST_GROWTH, MOST_GROWTH);
        if self.current >= self.last + threshold {
            self.conservative = Some((self.current, 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slow start with given round trips. Each has one acknowledgement per segment of the window.
    struct SlowStart {
        hystart: HyStart,
        window: Window,
        sent: u32,
        acknowledged: u32,
    }

    impl SlowStart {
        fn new() -> Self {
            let window = Window { congestion: 16.0, threshold: f64::INFINITY };
            SlowStart { hystart: HyStart::default(), window, sent: 16, acknowledged: 0 }
        }

        fn ack(&mut self, micros: u64) {
            self.acknowledged += 1;
            let path = Path {
                rtt: Span::from_micros(micros),
                acknowledged: 1,
                unacknowledged: self.acknowledged,
                next: self.sent,
                ..Path::new(1000)
            };
            self.hystart.on_ack(&path, true, &mut self.window);
            self.sent = self.sent.max(self.acknowledged + self.window.congestion as u32);
        }

        /// Acknowledges all outstanding segments. Returns true when slow start is over.
        fn round(&mut self, micros: u64) -> bool {
            let end = self.sent;
            for _ in self.acknowledged..end {
                self.ack(micros);
                if !self.window.in_slow_start() {
                    return true;
                }
            }
            false
        }
    }

    #[test]
    fn the_window_doubles_each_round_trip_while_none_grows() {
        let mut start = SlowStart::new();
        for doubled in [32.0, 64.0, 128.0, 256.0] {
            assert!(!start.round(40_000));
            assert_eq!(start.window.congestion, doubled);
        }
    }

    #[test]
    fn an_eighth_more_and_at_least_four_and_at_most_sixteen_milliseconds_make_it_conservative() {
        for (before, growth) in [(10_000, 4_000), (80_000, 10_000), (400_000, 16_000)] {
            for (grown, conservative) in [(before + growth - 1, false), (before + growth, true)] {
                let mut start = SlowStart::new();
                start.round(before);
                start.round(before);
                start.round(grown);
                assert_eq!(start.hystart.is_conservative(), conservative, "{before} µs, then {grown} µs");
            }
        }
    }

    #[test]
    fn eight_samples_are_needed_for_a_judgement() {
        let mut start = SlowStart::new();
        start.round(40_000);
        (0..8).for_each(|_| start.ack(60_000));
        // The first of these ended the previous round, and its sample is the first of the new one.
        assert!(start.hystart.is_conservative());
        let mut start = SlowStart::new();
        start.round(40_000);
        (0..7).for_each(|_| start.ack(60_000));
        assert!(!start.hystart.is_conservative());
    }

    #[test]
    fn single_early_sample_of_a_round_keeps_the_pace() {
        let mut start = SlowStart::new();
        start.round(40_000);
        start.ack(40_000);
        start.round(90_000);
        assert!(!start.hystart.is_conservative(), "the smallest of a round counts");
    }

    #[test]
    fn a_conservative_slow_start_adds_a_quarter_and_ends_after_five_round_trips() {
        let mut start = SlowStart::new();
        start.round(40_000);
        (0..8).for_each(|_| start.ack(60_000));
        assert_eq!((start.window.congestion, start.hystart.is_conservative()), (40.0, true));
        let is_over = (0..20).any(|_| start.round(60_000));
        assert!(is_over, "slow start goes on after twenty round trips");
        // The round in which it began has 24 acknowledgements left, and four more rounds follow.
        let expected = (40.0 + 24.0 / 4.0) * libm::pow(1.25, 4.0);
        assert!((start.window.congestion / expected - 1.0).abs() < 0.02, "{} for {expected}", start.window.congestion);
        assert_eq!(start.window.threshold, start.window.congestion);
    }

    #[test]
    fn a_round_trip_that_falls_again_resumes_the_pace() {
        let mut start = SlowStart::new();
        start.round(40_000);
        start.round(60_000);
        assert!(start.hystart.is_conservative());
        start.round(59_999);
        assert!(!start.hystart.is_conservative());
        let window = start.window.congestion;
        start.round(59_999);
        assert_eq!(start.window.congestion, 2.0 * window);
    }

    #[test]
    fn an_acknowledgement_of_many_adds_eight_and_one_in_an_unused_window_none() {
        let mut hystart = HyStart::default();
        let mut window = Window { congestion: 100.0, threshold: f64::INFINITY };
        let path = Path { acknowledged: 30, unacknowledged: 30, next: 130, ..Path::new(1000) };
        hystart.on_ack(&path, true, &mut window);
        assert_eq!(window.congestion, 108.0);
        hystart.on_ack(&path, false, &mut window);
        assert_eq!(window.congestion, 108.0);
    }
}
