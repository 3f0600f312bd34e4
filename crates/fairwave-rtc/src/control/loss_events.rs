//! Loss event rate of RFC 5348 §5, computed at the sender from per-packet feedback.
//!
//! Losses of packets sent within one round trip of a loss event's first loss belong to that event (§5.2). The sender
//! knows the send times; a receiver would interpolate arrivals. Intervals count packets from one event's first loss to
//! the next (§5.3). The latest eight have the weights 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2; the open interval counts if it
//! increases the mean (§5.4). Older intervals are not discounted (§5.5 is optional).

use fairwave_units::units::{Instant, Span};

use super::SentPacket;

/// §5.4.
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// Smallest loss event rate in the throughput equation.
const SMALLEST: f64 = 1e-8;

/// Intervals between loss events, in packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossEvents {
    /// Newest first.
    closed: [f64; 8],
    number: usize,
    began: Option<(u64, Instant)>,
}

impl LossEvents {
    /// Records a lost packet. Returns whether it starts a loss event. After the very first event, the caller must call
    /// [`LossEvents::set_first_interval`].
    pub fn on_lost(&mut self, packet: &SentPacket, round_trip: Span) -> bool {
        if let Some((first, time)) = self.began {
            if packet.sequence <= first || packet.sent <= time + round_trip {
                return false;
            }
            self.push((packet.sequence - first) as f64);
        }
        self.began = Some((packet.sequence, packet.sent));
        true
    }

    fn push(&mut self, packets: f64) {
        self.closed.rotate_right(1);
        self.closed[0] = packets.max(1.0);
        self.number = (self.number + 1).min(WEIGHTS.len());
    }

    /// Sets the interval before the first loss event (§6.3.1).
    pub fn set_first_interval(&mut self, packets: f64) {
        if self.number == 0 {
            self.push(packets);
        }
    }

    pub fn has_begun(&self) -> bool {
        self.began.is_some()
    }

    /// Returns the open interval, up to the highest known packet.
    pub fn open(&self, highest: u64) -> Option<f64> {
        self.began.map(|(first, _)| highest.saturating_add(1).saturating_sub(first) as f64)
    }

    fn weighted(&self, open: Option<f64>) -> Option<f64> {
        let all = open.into_iter().chain(self.closed[..self.number].iter().copied());
        let (sum, weights) =
            all.zip(WEIGHTS).fold((0.0, 0.0), |(s, w), (length, weight)| (s + length * weight, w + weight));
        (weights > 0.0).then(|| sum / weights)
    }

    /// Returns the weighted mean of the closed intervals.
    pub fn mean(&self) -> Option<f64> {
        self.weighted(None)
    }

    /// Returns p, from 0 to 1; 0 before the first loss.
    pub fn rate(&self, highest: u64) -> f64 {
        match (self.mean(), self.weighted(self.open(highest))) {
            (Some(closed), Some(with_open)) if self.has_begun() => 1.0 / closed.max(with_open).max(1.0),
            _ => 0.0,
        }
    }
}

/// Returns X_Bps: the rate in bytes per second of a TCP with packets of `segment` bytes, by RFC 5348 §3.1 with b = 1
/// and t_RTO = 4 R. The round trip is in seconds.
pub(super) fn throughput(segment: f64, round_trip: f64, loss: f64) -> f64 {
    let p = loss.clamp(SMALLEST, 1.0);
    let per_packet = libm::sqrt(2.0 * p / 3.0) + 12.0 * libm::sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p);
    segment / (round_trip.max(1e-4) * per_packet)
}

/// Returns the loss event rate for which [`throughput`] yields `target`.
pub(super) fn loss_for(target: f64, segment: f64, round_trip: f64) -> f64 {
    let (mut low, mut high) = (libm::log(SMALLEST), 0.0_f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if throughput(segment, round_trip, libm::exp(middle)) > target {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::rig::report;

    fn lost(events: &mut LossEvents, sequence: u64, sent: u64) -> bool {
        events.on_lost(&report(sequence, sent, None).packet, Span::from_millis(100))
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let mut events = LossEvents::default();
        let begun = [(10, 0), (11, 5), (20, 100), (21, 101), (15, 300)].map(|(n, sent)| lost(&mut events, n, sent));
        assert_eq!(begun, [true, false, false, true, false]);
        assert_eq!((events.mean(), events.open(30)), (Some(11.0), Some(10.0)));
    }

    #[test]
    fn the_mean_weighs_eight_intervals_and_the_open_one_if_it_helps() {
        let mut events = LossEvents::default();
        assert_eq!(events.rate(1000), 0.0);
        lost(&mut events, 100, 0);
        events.set_first_interval(50.0);
        assert!((events.rate(100) - 1.0 / 50.0).abs() < 1e-12, "the open one of 1 does not count");
        assert!((events.rate(299) - 1.0 / 125.0).abs() < 1e-12, "(200 + 50) / 2");
        events.set_first_interval(1.0);
        assert_eq!(events.mean(), Some(50.0), "there is one first interval");
        let mut full = LossEvents::default();
        for number in 1..=12u64 {
            lost(&mut full, number * number * 10, number * 1000);
        }
        // Intervals (2n+1)·10, the newest 230: 230, 210, 190, 170, 150, 130, 110, 90.
        let mean = (800.0 + 0.8 * 150.0 + 0.6 * 130.0 + 0.4 * 110.0 + 0.2 * 90.0) / 6.0;
        assert!((full.mean().unwrap_or_default() - mean).abs() < 1e-9);
    }

    #[test]
    fn the_equation_at_one_percent_and_its_inverse() {
        // √(0.02/3) = 0.0816497; 12·√0.00375·0.01·1.0032 = 0.0073720.
        let rate = throughput(1000.0, 0.1, 0.01);
        assert!((rate - 1000.0 / (0.1 * (0.081_649_66 + 0.007_371_98))).abs() < 1.0, "{rate}");
        assert!((loss_for(rate, 1000.0, 0.1) - 0.01).abs() < 1e-6);
    }
}
