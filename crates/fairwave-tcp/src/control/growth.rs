//! Parts that several controllers share: growth by acknowledged segments while the window is filled, a smoothed
//! round trip, and the round trips of a window.
//!
//! Source: RFC 5681 §3.1 for slow start and congestion avoidance, by the number of segments that an
//! acknowledgement covers, as it recommends; RFC 6298 §2 for the smoothed round trip.
//!
//! **Assumptions.** A window is filled if the data in flight within the last round trip reached the window at the
//! start of that round trip. So a paced sender that reaches its window only now and then fills it. A sender
//! limited by its application or receiver stops filling it at most a round trip later.

use super::{Path, Window};
use crate::Preset;
use fairwave_units::units::Span;

/// Slow start (RFC 5681 §3.1): the window grows by the acknowledged segments, at most `most` per acknowledgement,
/// and not beyond the threshold.
pub(super) fn slow_start(acknowledged: u32, most: f64, window: &mut Window) {
    window.congestion = (window.congestion + f64::from(acknowledged).min(most)).min(window.threshold);
}

/// Congestion avoidance: `alpha` segments per acknowledged window (RFC 5681 §3.1).
pub(super) fn avoidance(acknowledged: u32, alpha: f64, window: &mut Window) {
    window.congestion += alpha * f64::from(acknowledged) / window.congestion;
}

/// The smoothed round trip of RFC 6298 §2: each sample has a weight of 1/8.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct SmoothedRtt {
    /// Seconds; zero before the first sample.
    smoothed: f64,
}

impl SmoothedRtt {
    /// Adds the round trip that this acknowledgement measured, if any.
    #[inline]
    pub fn note(&mut self, path: &Path) {
        if path.acknowledged == 0 || path.rtt == Span::ZERO {
            return;
        }
        let sample = path.rtt.seconds();
        self.smoothed += if self.smoothed > 0.0 { (sample - self.smoothed) / 8.0 } else { sample };
    }

    /// In seconds; zero before the first sample.
    #[inline]
    pub fn seconds(&self) -> f64 {
        self.smoothed
    }
}

/// Counts the round trips of a connection by its segments. One ends with the acknowledgement of a segment sent
/// after it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Round {
    end: u32,
}

impl Round {
    /// True if a round ends with this acknowledgement. The next round then begins.
    #[inline]
    pub fn ends(&mut self, path: &Path) -> bool {
        let ends = path.unacknowledged > self.end;
        if ends {
            self.end = path.next;
        }
        ends
    }
}

/// Detects whether the sender fills its congestion window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct WindowUse {
    round: Round,
    /// The whole part of the window when the round began.
    allowed: u32,
    /// The most segments in flight in the round.
    most: u32,
    /// The previous round filled its window.
    filled: bool,
}

impl Default for WindowUse {
    fn default() -> Self {
        WindowUse { round: Round::default(), allowed: u32::MAX, most: 0, filled: true }
    }
}

impl WindowUse {
    /// Processes an acknowledgement. Returns true if the window is filled. Must be called before the window changes.
    #[inline]
    pub fn is_filled(&mut self, path: &Path, window: &Window) -> bool {
        self.most = self.most.max(path.flight);
        if self.round.ends(path) {
            // Before the first round there is no measurement.
            self.filled = self.allowed == u32::MAX || self.most >= self.allowed;
            self.allowed = window.congestion as u32;
            self.most = path.flight;
        }
        self.was_filled()
    }

    /// The result for the last acknowledgement.
    #[inline]
    fn was_filled(&self) -> bool {
        self.filled || self.most >= self.allowed
    }
}

/// Growth of a window by a number of segments per round trip. By the RFCs, slow start adds one segment per
/// acknowledgement (RFC 5681 §3.1 Eq. 2), and congestion avoidance counts [`Path::credit`]. As in Linux
/// (`tcp_reno_cong_avoid`), both count the acknowledged segments, and only while the window is filled.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Growth {
    /// Present if the law counts acknowledged segments.
    counted: Option<WindowUse>,
}

impl Growth {
    /// The growth rule of a preset.
    pub fn for_preset(preset: Preset) -> Self {
        Growth { counted: (preset == Preset::Linux).then(WindowUse::default) }
    }

    /// The number of segments that the acknowledgement of the last [`Self::grow`] counts for in congestion avoidance.
    #[inline]
    pub fn weight(&self, path: &Path) -> f64 {
        match &self.counted {
            None => f64::from(path.credit),
            Some(window_use) if window_use.was_filled() => f64::from(path.acknowledged),
            Some(_) => 0.0,
        }
    }

    /// Updates the window after an acknowledgement: slow start up to the threshold, then `alpha` segments per
    /// round trip.
    #[inline]
    pub fn grow(&mut self, alpha: f64, path: &Path, window: &mut Window) {
        match &mut self.counted {
            None if window.in_slow_start() => window.congestion += 1.0,
            None => avoidance(path.credit, alpha, window),
            Some(window_use) => {
                let is_filled = window_use.is_filled(path, window);
                if is_filled && window.in_slow_start() {
                    slow_start(path.acknowledged, f64::INFINITY, window);
                } else if is_filled {
                    avoidance(path.acknowledged, alpha, window);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(acknowledged: u32, flight: u32, unacknowledged: u32) -> Path {
        Path { acknowledged, flight, unacknowledged, next: unacknowledged - acknowledged + flight, ..Path::new(1000) }
    }

    #[test]
    fn slow_start_adds_what_is_acknowledged_up_to_its_limit_and_stops_at_the_threshold() {
        for (acknowledged, most, after) in
            [(1, 8.0, 11.0), (3, 8.0, 13.0), (20, 8.0, 18.0), (3, 1.0, 11.0), (9, 9.0, 18.5)]
        {
            let mut window = Window { congestion: 10.0, threshold: 18.5 };
            slow_start(acknowledged, most, &mut window);
            assert_eq!(window.congestion, after, "{acknowledged} acknowledged, at most {most}");
        }
    }

    #[test]
    fn avoidance_adds_alpha_for_a_window_however_many_acknowledgements_tell_of_it() {
        let grown = |at_once: u32| {
            let mut window = Window { congestion: 1000.0, threshold: 2.0 };
            for _ in 0..1000 / at_once {
                avoidance(at_once, 0.5, &mut window);
            }
            window.congestion
        };
        assert!((grown(1) - 1000.5).abs() < 1e-3 && (grown(2) - 1000.5).abs() < 1e-3);
    }

    #[test]
    fn an_eighth_of_each_sample_enters_the_smoothed_round_trip() {
        let mut rtt = SmoothedRtt::default();
        let sample = |millis, acknowledged| Path { rtt: Span::from_millis(millis), ..ack(acknowledged, 10, 10) };
        rtt.note(&sample(0, 1));
        rtt.note(&sample(70, 0));
        assert_eq!(rtt.seconds(), 0.0, "neither is a measurement");
        rtt.note(&sample(80, 1));
        assert_eq!(rtt.seconds(), 0.08);
        rtt.note(&sample(160, 1));
        assert!((rtt.seconds() - 0.09).abs() < 1e-12);
    }

    #[test]
    fn a_round_ends_with_the_acknowledgement_of_a_segment_that_was_sent_after_it_began() {
        let mut round = Round::default();
        let ends: Vec<bool> = (1..=12).map(|n| round.ends(&ack(1, 4, n))).collect();
        // Four are in flight at each acknowledgement. The first begins a round when segments up to 3 have been sent.
        let expected = [1, 5, 9];
        assert_eq!(ends, (1..=12).map(|n| expected.contains(&n)).collect::<Vec<_>>());
    }

    #[test]
    fn a_window_is_filled_if_a_round_trip_reached_it_and_no_longer_when_one_has_not() {
        let window = Window { congestion: 10.9, threshold: 2.0 };
        let mut window_use = WindowUse::default();
        let mut acknowledged = 0;
        let mut ask = |flight| {
            acknowledged += 1;
            window_use.is_filled(&ack(1, flight, acknowledged), &window)
        };
        assert!((0..25).all(|_| ask(10)), "as much is in flight as the window allows");
        let fewer: Vec<bool> = (0..30).map(|_| ask(6)).collect();
        let turn = fewer.iter().position(|filled| !filled).expect("it is seen");
        assert!(turn <= 20 && fewer[turn..].iter().all(|filled| !filled), "{fewer:?}");
        assert!(ask(10), "and at once when it is filled again");
    }

    #[test]
    fn linux_grows_by_what_is_acknowledged_while_the_window_is_filled_and_others_by_what_counts() {
        let delayed = ack(2, 10, 20);
        let after = |preset, path: &Path, congestion, threshold| {
            let mut window = Window { congestion, threshold };
            Growth::for_preset(preset).grow(1.0, path, &mut window);
            window.congestion
        };
        assert_eq!(after(Preset::Linux, &delayed, 10.0, 100.0), 12.0);
        assert_eq!(after(Preset::Linux, &delayed, 10.0, 11.0), 11.0, "not beyond the threshold");
        assert_eq!(after(Preset::Linux, &delayed, 10.0, 5.0), 10.2);
        for preset in [Preset::Rfc, Preset::Ns2] {
            assert_eq!(after(preset, &delayed, 10.0, 100.0), 11.0);
            assert_eq!(after(preset, &delayed, 10.0, 5.0), 10.1);
            let counted = Path { credit: 2, ..delayed };
            assert_eq!(after(preset, &counted, 10.0, 100.0), 11.0, "RFC 5681 section 3.1 Eq. 2: one segment at most");
            assert_eq!(after(preset, &counted, 10.0, 5.0), 10.2);
        }
        let mut growth = Growth::for_preset(Preset::Linux);
        let mut window = Window { congestion: 10.0, threshold: 5.0 };
        for round in 1..4 {
            // Two segments in each round trip, of the window's ten.
            growth.grow(1.0, &ack(2, 2, 2 * round), &mut window);
        }
        let before = window.congestion;
        growth.grow(1.0, &ack(2, 2, 8), &mut window);
        assert_eq!(window.congestion, before, "what the application leaves unused does not grow");
    }
}
