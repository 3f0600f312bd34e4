//! Smoothness of shown pictures: gaps, freezes and pauses, as defined by webrtc-stats (`freezeCount`, `pauseCount`) and
//! counted by libwebrtc's `video_quality_observer2.cc`.
//!
//! From the fifth gap on, a gap is a freeze if it is at least max(3 · average, average + 150 ms). The average covers
//! the last 30 gaps, including this one. More than 5 s without a picture is a pause, not a freeze.

use std::collections::VecDeque;

use fairwave_units::units::{Instant, Span};

/// Number of gaps in the average.
const GAPS: usize = 30;
/// Number of gaps before the first possible freeze.
const FEWEST: usize = 5;
/// Least excess of a freeze over the average.
const LONGER: Span = Span::from_millis(150);
/// Longest gap that is not a pause.
const PAUSE: Span = Span::from_secs(5);

/// Statistics of gaps between pictures.
#[derive(Clone, Debug, Default)]
pub struct Smoothness {
    last: Option<Instant>,
    first: Option<Instant>,
    gaps: VecDeque<Span>,
    sum: Span,
    /// Pictures shown.
    pub shown: u64,
    /// Sum of gaps, seconds.
    pub gaps_sum: f64,
    /// Sum of their squares.
    pub gaps_squares: f64,
    /// Freezes.
    pub freezes: u64,
    /// Their sum, seconds.
    pub freezes_sum: f64,
    /// Pauses.
    pub pauses: u64,
    /// Their sum, seconds.
    pub pauses_sum: f64,
    /// Longest freeze or pause.
    longest: Span,
    /// Time with the camera off.
    away: Span,
}

impl Smoothness {
    /// Records a picture shown at `now`. For `away` of the time since the previous picture, the camera was off. Returns
    /// whether the rest of the gap was a freeze or a pause.
    pub fn on_shown(&mut self, now: Instant, away: Span) -> bool {
        self.shown += 1;
        let Some(last) = self.last.replace(now) else {
            self.first = Some(now);
            return false;
        };
        let gap = now.span_since(last).saturating_sub(away);
        self.away += away;
        self.gaps_sum += gap.seconds();
        self.gaps_squares += gap.seconds() * gap.seconds();
        if gap > PAUSE {
            self.pauses += 1;
            self.pauses_sum += gap.seconds();
            self.longest = self.longest.max(gap);
            return true;
        }
        self.gaps.push_back(gap);
        self.sum += gap;
        if self.gaps.len() > GAPS
            && let Some(oldest) = self.gaps.pop_front()
        {
            self.sum = self.sum.saturating_sub(oldest);
        }
        let freeze = self.is_freeze(gap, self.sum, self.gaps.len());
        if freeze {
            self.freezes += 1;
            self.freezes_sum += gap.seconds();
            self.longest = self.longest.max(gap);
        }
        freeze
    }

    fn is_freeze(&self, gap: Span, sum: Span, gaps: usize) -> bool {
        if gaps < FEWEST {
            return false;
        }
        let average = sum / gaps as u64;
        gap >= (average * 3).max(average + LONGER)
    }

    /// Returns the display time of the latest picture.
    pub fn last(&self) -> Option<Instant> {
        self.last
    }

    /// Returns how long the last picture stays until `end`, without time with the camera off, if that is a freeze or a
    /// pause; otherwise 0.
    fn stands(&self, end: Instant, away: Span) -> Span {
        let Some(last) = self.last else { return Span::ZERO };
        let stands = end.span_since(last).saturating_sub(away);
        let still = stands > PAUSE || self.is_freeze(stands, self.sum + stands, self.gaps.len() + 1);
        if still { stands } else { Span::ZERO }
    }

    /// Returns the seconds without motion from the first picture until `end`: freezes, pauses, and a last picture that
    /// stays longer than any gap without a freeze. For `away` of the time since the last picture, the camera was off.
    pub fn still(&self, end: Instant, away: Span) -> f64 {
        self.freezes_sum + self.pauses_sum + self.stands(end, away).seconds()
    }

    /// Returns the longest time without a new picture that counts in [`Smoothness::still`], seconds.
    pub fn longest(&self, end: Instant, away: Span) -> f64 {
        self.longest.max(self.stands(end, away)).seconds()
    }

    /// Returns [`Smoothness::still`] as a share of the time from the first picture until `end` with the camera on, 0 to
    /// 1.
    pub fn freeze_ratio(&self, end: Instant, away: Span) -> f64 {
        let Some(first) = self.first else { return 0.0 };
        let whole = end.span_since(first).saturating_sub(self.away + away).seconds();
        if whole > 0.0 { (self.still(end, away) / whole).min(1.0) } else { 0.0 }
    }

    /// Returns the display time of the first picture.
    pub fn first(&self) -> Option<Instant> {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// Shows pictures 33 ms apart, the last at 33 · (n − 1).
    fn steady(pictures: u64) -> Smoothness {
        let mut shown = Smoothness::default();
        for k in 0..pictures {
            shown.on_shown(ms(33 * k), Span::ZERO);
        }
        shown
    }

    #[test]
    fn a_gap_of_the_average_and_150_ms_is_a_freeze() {
        // 30 gaps, one of them x: the average is (29 · 33 + x) / 30; x = avg + 150 at 188.17 ms.
        for (gap, freezes) in [(188, 0), (189, 1)] {
            let mut shown = steady(60);
            shown.on_shown(ms(33 * 59 + gap), Span::ZERO);
            assert_eq!(shown.freezes, freezes, "{gap} ms");
            assert!((shown.freezes_sum - freezes as f64 * gap as f64 / 1e3).abs() < 1e-9);
        }
    }

    #[test]
    fn freeze_of_slow_pictures_takes_three_times_the_average() {
        // Gaps of 200 ms: x = 3 (29 · 200 + x) / 30 at 644.4 ms.
        for (gap, freezes) in [(644, 0), (645, 1)] {
            let mut shown = Smoothness::default();
            for k in 0..60 {
                shown.on_shown(ms(200 * k), Span::ZERO);
            }
            shown.on_shown(ms(200 * 59 + gap), Span::ZERO);
            assert_eq!(shown.freezes, freezes, "{gap} ms");
        }
    }

    #[test]
    fn the_first_four_gaps_are_never_freezes() {
        for (pictures, freezes) in [(4, 0), (5, 1)] {
            let mut shown = steady(pictures);
            shown.on_shown(ms(2000), Span::ZERO);
            assert_eq!(shown.freezes, freezes);
        }
    }

    #[test]
    fn more_than_five_seconds_are_a_pause_and_no_freeze() {
        let mut shown = steady(60);
        shown.on_shown(ms(33 * 59 + 5000), Span::ZERO);
        assert_eq!((shown.freezes, shown.pauses), (1, 0));
        let mut shown = steady(60);
        shown.on_shown(ms(33 * 59 + 5001), Span::ZERO);
        assert_eq!((shown.freezes, shown.pauses, shown.pauses_sum), (0, 1, 5.001));
    }

    #[test]
    fn still_picture_at_the_end_counts() {
        let shown = steady(60);
        let last = 33 * 59;
        assert_eq!(shown.freeze_ratio(ms(last + 100), Span::ZERO), 0.0);
        assert!((shown.freeze_ratio(ms(last + 8053), Span::ZERO) - 0.8053).abs() < 1e-9);
        assert_eq!(Smoothness::default().freeze_ratio(ms(1000), Span::ZERO), 0.0);
    }

    #[test]
    fn time_in_which_the_camera_is_off_is_no_freeze() {
        let last = 33 * 59;
        let mut shown = steady(60);
        assert!(!shown.on_shown(ms(last + 20_033), Span::from_millis(20_000)));
        assert_eq!((shown.freezes, shown.pauses), (0, 0));
        // The camera is on for half a second before its first picture is shown.
        let mut late = steady(60);
        assert!(late.on_shown(ms(last + 20_500), Span::from_millis(20_000)));
        assert_eq!((late.freezes_sum, late.longest(ms(last + 20_500), Span::ZERO)), (0.5, 0.5));
        let ratio = late.freeze_ratio(ms(last + 20_500), Span::ZERO);
        assert!((ratio - 0.5 / (f64::from(last as u32) / 1e3 + 0.5)).abs() < 1e-9, "{ratio}");
        // Off until the end.
        assert_eq!(steady(60).freeze_ratio(ms(last + 9_000), Span::from_millis(9_000)), 0.0);
    }

    #[test]
    fn gaps_and_their_squares_are_summed() {
        let mut shown = Smoothness::default();
        for millis in [0, 100, 300] {
            shown.on_shown(ms(millis), Span::ZERO);
        }
        assert!((shown.gaps_sum - 0.3).abs() < 1e-12 && (shown.gaps_squares - 0.05).abs() < 1e-12);
    }
}
