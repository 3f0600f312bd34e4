//! ACK aggregation: the number of segments acknowledged beyond the estimated bandwidth. It follows Linux'
//! `bbr_update_ack_aggregation` and `bbr_ack_aggregation_cwnd` (`net/ipv4/tcp_bbr.c`, since 5.1).
//!
//! An *epoch* lasts while more has been delivered since its start than the bandwidth explains. The window has
//! extra room for the largest excess of the last five to ten round trips. So the sender can continue in the
//! silence between two bursts of acknowledgements.

use super::RateSample;
use fairwave_units::units::Instant;

/// `bbr_extra_acked_win_rtts`: number of round trips after which the older of two maxima is discarded.
const ROUNDS: u32 = 5;
/// `bbr_extra_acked_max_us`: the excess counts at most as the data that the bandwidth delivers in this many seconds.
const LONGEST: f64 = 0.1;

/// Excess of acknowledged segments.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Aggregation {
    /// Start of the epoch, and the segments delivered in it.
    began: Instant,
    delivered: f64,
    /// The largest excess of the current and of the previous five round trips.
    most: [f64; 2],
    present: usize,
    rounds: u32,
}

impl Aggregation {
    /// Processes an acknowledgement. `bandwidth` is in segments per second, `window` in segments.
    pub fn update(&mut self, now: Instant, round_begins: bool, sample: &RateSample, bandwidth: f64, window: f64) {
        if sample.newly_delivered == 0 || sample.rate.is_none() {
            return;
        }
        if round_begins {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                (self.rounds, self.present) = (0, 1 - self.present);
                self.most[self.present] = 0.0;
            }
        }
        let mut expected = bandwidth * now.span_since(self.began).seconds();
        if self.delivered <= expected {
            (self.began, self.delivered, expected) = (now, 0.0, 0.0);
        }
        self.delivered += f64::from(sample.newly_delivered);
        let excess = (self.delivered - expected).min(window);
        self.most[self.present] = self.most[self.present].max(excess);
    }

    /// The extra window for this bandwidth, in segments.
    pub fn window(&self, bandwidth: f64) -> f64 {
        self.most[0].max(self.most[1]).min(bandwidth * LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::delivers;
    use super::*;
    use fairwave_units::units::Span;

    /// The state after acknowledgements, each with a time (ms) and a number of segments. The bandwidth is one
    /// segment per millisecond.
    fn after(acknowledgements: impl IntoIterator<Item = (u64, u32)>) -> Aggregation {
        let mut bunches = Aggregation::default();
        for (millis, segments) in acknowledgements {
            let now = Instant::ZERO + Span::from_millis(millis);
            bunches.update(now, millis % 100 == 0, &delivers(segments), 1000.0, 80.0);
        }
        bunches
    }

    #[test]
    fn acknowledgements_in_step_with_the_bandwidth_bring_no_more_than_one_of_them() {
        assert_eq!(after((1..500).map(|at| (2 * at, 2))).window(1000.0), 2.0);
    }

    #[test]
    fn the_largest_bunch_of_the_last_five_to_ten_round_trips_counts_and_is_then_forgotten() {
        // The burst at 150 ms covers the silence of the next 30 ms.
        let segments = |at| if at == 150 { 30 } else { u32::from(!(151..=179).contains(&at)) };
        let with = |last| after((1..=last).map(|at| (at, segments(at)))).window(1000.0);
        assert_eq!((with(149), with(150)), (1.0, 30.0));
        assert_eq!(with(650), 30.0, "five round trips later");
        assert_eq!(with(1250), 1.0, "eleven round trips later");
    }

    #[test]
    fn segments_faster_than_the_bandwidth_add_up_while_they_last() {
        let bunches = after((1..=40).map(|at| (at, if at <= 20 { 2 } else { 1 })));
        assert_eq!(bunches.window(1000.0), 21.0, "20 ms at twice the bandwidth, and the first");
    }

    #[test]
    fn no_more_counts_than_the_window_and_than_a_tenth_of_a_second_of_the_bandwidth() {
        let bunches = after([(1, 500)]);
        assert_eq!((bunches.window(1000.0), bunches.window(200.0)), (80.0, 20.0));
    }

    #[test]
    fn an_acknowledgement_that_delivers_nothing_or_says_nothing_of_the_rate_leaves_all_as_it_was() {
        let mut bunches = after([(1, 5)]);
        let before = bunches;
        bunches.update(Instant::from_seconds(1.0), true, &delivers(0), 1000.0, 80.0);
        bunches.update(Instant::from_seconds(1.0), true, &RateSample { rate: None, ..delivers(9) }, 1000.0, 80.0);
        assert_eq!(bunches, before);
    }
}
