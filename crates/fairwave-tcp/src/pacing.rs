//! Segments leave no faster than at a rate, rather than as acknowledgements come in.
//!
//! Source: draft-ietf-ccwg-bbr §5.6.2 for the rule: a segment leaves when the one before has had its time at the rate
//! that held when it left. For a window without a rate of its own, the rates are Linux' (`tcp_update_pacing_rate`).
//! They are the window, or what is in flight if that is more, per smoothed round trip. This counts times 2 while the
//! window is below half of the slow start threshold and times 1.2 from there on.
//!
//! **Assumptions.** Each segment is paced by itself and counts as one whatever its payload. There are no bursts of a
//! millisecond's worth of segments as from Linux' segmentation offload. The first ten segments are no exception, as
//! they are in Linux. Without a round trip a window has no rate. A segment that leaves late does not shorten later
//! gaps, except with the preset `linux`: there the delay shortens the next gap by up to half of the gap
//! (`tcp_update_skb_after_send`). Without this, a sender that its window sometimes holds back has a mean rate below its
//! pacing rate. A segment that recovery sends again at once (the first of a recovery, the one of a timeout, a loss
//! probe, the next hole of NewReno) does not wait, but those behind it do.

use fairwave_units::units::{Instant, Span};

/// What paces a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pacing {
    /// Nothing: acknowledgements clock segments out.
    #[default]
    Off,
    /// Its controller, by [`Controller::pacing`](super::control::Controller::pacing).
    Law,
    /// Its controller if that has a rate, else the window per round trip, as Linux has it.
    Window,
}

/// Linux' `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`.
const RATIOS: [f64; 2] = [2.0, 1.2];

/// Linux' rate of a window of `window` segments with threshold `threshold`, `flight` being out and `smoothed` the round trip:
/// segments per second; infinite without a round trip.
pub(super) fn of_window(window: f64, threshold: f64, flight: u32, smoothed: Span) -> f64 {
    let ratio = RATIOS[usize::from(window >= threshold / 2.0)];
    ratio * window.max(f64::from(flight)) / smoothed.seconds()
}

/// When the next segment may leave.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    free_at: Instant,
}

impl Pacer {
    /// From when on the next segment may leave.
    pub fn free_at(&self) -> Instant {
        self.free_at
    }

    /// A segment leaves while `rate` (segments per second) holds. A rate that is no positive number paces nothing. With `credit` what
    /// left late takes as much off the gap behind it, at most half.
    pub fn sent(&mut self, now: Instant, rate: f64, credit: bool) {
        if rate > 0.0 && rate.is_finite() {
            // Rounded up: never faster than the rate.
            let mut gap = libm::ceil(1e9 / rate) as u64;
            if credit {
                gap -= (gap / 2).min(now.since(self.free_at.min(now)).nanos());
            }
            self.free_at = self.free_at.max(now) + Span::from_nanos(gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_segment_leaves_when_the_one_before_has_had_its_time() {
        let mut pacer = Pacer::default();
        assert_eq!(pacer.free_at(), Instant::ZERO);
        pacer.sent(at(100), 100.0, false);
        assert_eq!(pacer.free_at(), at(110));
        pacer.sent(at(110), 50.0, false);
        assert_eq!(pacer.free_at(), at(130), "at the rate that held when it left");
        pacer.sent(at(120), 100.0, false);
        assert_eq!(pacer.free_at(), at(140), "what did not wait lets those behind it wait");
        pacer.sent(at(500), 100.0, false);
        assert_eq!(pacer.free_at(), at(510), "what was not sent in time is not made up for");
    }

    #[test]
    fn with_credit_a_segment_that_left_late_takes_as_much_off_the_next_gap_at_most_half() {
        let mut pacer = Pacer::default();
        pacer.sent(at(100), 100.0, false);
        pacer.sent(at(113), 100.0, true);
        assert_eq!(pacer.free_at(), at(120), "3 ms late, and on time again");
        pacer.sent(at(120), 100.0, true);
        assert_eq!(pacer.free_at(), at(130), "what is on time has no credit");
        pacer.sent(at(500), 100.0, true);
        assert_eq!(pacer.free_at(), at(505), "half a segment's time, however late");
        pacer.sent(at(501), 100.0, true);
        assert_eq!(pacer.free_at(), at(515), "what did not wait has none");
    }

    #[test]
    fn a_rate_that_is_no_positive_number_paces_nothing() {
        let mut pacer = Pacer::default();
        for rate in [f64::INFINITY, f64::NAN, 0.0, -5.0] {
            pacer.sent(at(100), rate, false);
        }
        assert_eq!(pacer.free_at(), Instant::ZERO);
    }

    #[test]
    fn a_window_is_paced_at_twice_its_rate_in_slow_start_and_at_one_and_a_fifth_after() {
        let rate = |window, threshold, flight| of_window(window, threshold, flight, Span::from_millis(100));
        assert_eq!(rate(10.0, 1e9, 0), 200.0);
        assert_eq!(rate(49.0, 100.0, 0), 980.0, "below half of the threshold");
        assert_eq!(rate(50.0, 100.0, 0), 600.0);
        assert_eq!(rate(50.0, 100.0, 80), 960.0, "what is in flight if that is more");
        assert!(of_window(10.0, 1e9, 0, Span::ZERO).is_infinite());
    }
}
