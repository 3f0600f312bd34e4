//! Pacing: segments leave at a limited rate instead of at the arrival of acknowledgements.
//!
//! Source: draft-ietf-ccwg-bbr §5.6.2 for the rule: a segment leaves after the transmission time of the previous
//! one, at the rate of that time. For a window without a pacing rate, the rates are Linux'
//! (`tcp_update_pacing_rate`). They are the window, or the data in flight if larger, per smoothed round trip. The
//! factor is 2 while the window is below half of the slow start threshold, and 1.2 above it.
//!
//! **Assumptions.** Each segment is paced separately and counts as one for any payload. There are no bursts of a
//! millisecond's worth of segments as from Linux' segmentation offload. The first ten segments are no exception,
//! unlike in Linux. Without a round trip a window has no rate. A segment that leaves late does not shorten later
//! gaps, except with the preset `linux`. There the delay shortens the next gap by up to half of the gap
//! (`tcp_update_skb_after_send`). Without this, a sender that is sometimes limited by its window has a mean rate
//! below its pacing rate. Some retransmissions leave at once (the first of a recovery, the one of a timeout, a
//! loss probe, the next hole of NewReno). The segments behind them wait.

use fairwave_units::units::{Instant, Span};

/// The source of a connection's pacing rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pacing {
    /// No pacing: acknowledgements clock segments out.
    #[default]
    Off,
    /// The controller, by [`Controller::pacing`](super::control::Controller::pacing).
    Law,
    /// The controller if it has a rate, else the window per round trip, as in Linux.
    Window,
}

/// Linux' `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`.
const RATIOS: [f64; 2] = [2.0, 1.2];

/// Linux' pacing rate, segments per second, for a window of `window` segments with threshold `threshold`, `flight`
/// segments in flight and the round trip `smoothed`. Infinite without a round trip.
pub(super) fn window_rate(window: f64, threshold: f64, flight: u32, smoothed: Span) -> f64 {
    let ratio = RATIOS[usize::from(window >= threshold / 2.0)];
    ratio * window.max(f64::from(flight)) / smoothed.seconds()
}

/// Computes the earliest time of the next segment.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    free_at: Instant,
}

impl Pacer {
    /// The earliest time of the next segment.
    pub fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Records a transmission at `rate` (segments per second). A rate that is not positive and finite disables
    /// pacing. With `credit` a late segment shortens the next gap by its delay, at most by half.
    pub fn sent(&mut self, now: Instant, rate: f64, credit: bool) {
        if rate > 0.0 && rate.is_finite() {
            // Rounded up: never faster than the rate.
            let mut gap = libm::ceil(1e9 / rate) as u64;
            if credit {
                gap -= (gap / 2).min(now.span_since(self.free_at.min(now)).nanos());
            }
            self.free_at = self.free_at.max(now) + Span::from_nanos(gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_segment_leaves_when_the_one_before_has_had_its_time() {
        let mut pacer = Pacer::default();
        assert_eq!(pacer.free_at(), Instant::ZERO);
        pacer.sent(ms(100), 100.0, false);
        assert_eq!(pacer.free_at(), ms(110));
        pacer.sent(ms(110), 50.0, false);
        assert_eq!(pacer.free_at(), ms(130), "at the rate that held when it left");
        pacer.sent(ms(120), 100.0, false);
        assert_eq!(pacer.free_at(), ms(140), "what did not wait lets those behind it wait");
        pacer.sent(ms(500), 100.0, false);
        assert_eq!(pacer.free_at(), ms(510), "what was not sent in time is not made up for");
    }

    #[test]
    fn with_credit_a_segment_that_left_late_takes_as_much_off_the_next_gap_at_most_half() {
        let mut pacer = Pacer::default();
        pacer.sent(ms(100), 100.0, false);
        pacer.sent(ms(113), 100.0, true);
        assert_eq!(pacer.free_at(), ms(120), "3 ms late, and on time again");
        pacer.sent(ms(120), 100.0, true);
        assert_eq!(pacer.free_at(), ms(130), "what is on time has no credit");
        pacer.sent(ms(500), 100.0, true);
        assert_eq!(pacer.free_at(), ms(505), "half a segment's time, however late");
        pacer.sent(ms(501), 100.0, true);
        assert_eq!(pacer.free_at(), ms(515), "what did not wait has none");
    }

    #[test]
    fn a_rate_that_is_no_positive_number_paces_nothing() {
        let mut pacer = Pacer::default();
        for rate in [f64::INFINITY, f64::NAN, 0.0, -5.0] {
            pacer.sent(ms(100), rate, false);
        }
        assert_eq!(pacer.free_at(), Instant::ZERO);
    }

    #[test]
    fn a_window_is_paced_at_twice_its_rate_in_slow_start_and_at_one_and_a_fifth_after() {
        let rate = |window, threshold, flight| window_rate(window, threshold, flight, Span::from_millis(100));
        assert_eq!(rate(10.0, 1e9, 0), 200.0);
        assert_eq!(rate(49.0, 100.0, 0), 980.0, "below half of the threshold");
        assert_eq!(rate(50.0, 100.0, 0), 600.0);
        assert_eq!(rate(50.0, 100.0, 80), 960.0, "what is in flight if that is more");
        assert!(window_rate(10.0, 1e9, 0, Span::ZERO).is_infinite());
    }
}
