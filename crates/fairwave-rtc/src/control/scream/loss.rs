//! Loss level: distinguishes congestion from random loss (libwebrtc `loss_estimator.cc`). The level rises by a third in
//! each round trip with a loss, and falls by half in each without.

use fairwave_units::units::{Instant, Span};

use super::{Message, VIRTUAL_ROUND_TRIP};

/// Change of the level per round trip with loss, and without.
const UP: f64 = 1.0 / 3.0;
const DOWN: f64 = 1.0 / 2.0;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    level: f64,
    unrecovered: u64,
    in_this_round: bool,
    /// Time of the latest loss or recovery, and start of the round.
    last_change: Option<Instant>,
    round: Option<Instant>,
}

impl Losses {
    /// Handles a message. Returns whether it reports a loss.
    pub fn update(&mut self, message: &Message, round_trip: f64) -> bool {
        let round = VIRTUAL_ROUND_TRIP.max(Span::from_seconds(round_trip));
        let now = message.now;
        if self.last_change.is_none_or(|last| now - last > round) {
            // Packets that have not arrived by now will never arrive. They must not prevent the recovery of later
            // losses.
            self.unrecovered = 0;
        }
        if message.missing + message.recovered > 0 {
            self.last_change = Some(now);
        }
        if message.recovered > 0 {
            self.unrecovered = self.unrecovered.saturating_sub(message.recovered);
            if self.unrecovered == 0 {
                (self.level, self.in_this_round) = (0.0, false);
            }
        }
        if message.missing > 0 {
            self.unrecovered += message.missing;
            self.in_this_round = true;
        }
        if self.round.is_none_or(|began| now - began >= round) {
            self.round = Some(now);
            self.level = if self.in_this_round { self.level + UP } else { self.level - DOWN }.clamp(0.0, 1.0);
            self.in_this_round = false;
        }
        message.missing > 0
    }

    /// Returns the level: from 0 (none) to 1 (congestion).
    pub fn level(&self) -> f64 {
        self.level
    }

    pub fn is_congestion(&self) -> bool {
        self.level >= 0.99
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(all: &[(u64, u64, u64)]) -> Losses {
        let mut losses = Losses::default();
        for &(now, missing, recovered) in all {
            let now = Instant::ZERO + Span::from_millis(now);
            assert_eq!(losses.update(&Message { now, missing, recovered, ..Message::default() }, 0.1), missing > 0);
        }
        losses
    }

    #[test]
    fn three_round_trips_with_loss_are_congestion_and_two_without_clear_it() {
        let all = [(0, 1, 0), (100, 1, 0), (200, 1, 0), (300, 0, 0), (400, 0, 0)];
        assert!(!after(&all[..2]).is_congestion() && after(&all[..3]).is_congestion());
        assert!((after(&all[..4]).level() - 0.5).abs() < 1e-9 && after(&all).level() == 0.0);
    }

    #[test]
    fn several_losses_in_a_round_trip_count_once() {
        assert!((after(&[(0, 3, 0), (30, 2, 0), (60, 2, 0), (90, 1, 0)]).level() - 1.0 / 3.0).abs() < 1e-9);
        assert!((after(&[(0, 3, 0), (30, 2, 0), (100, 0, 0)]).level() - 2.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn recovered_packets_are_no_loss() {
        assert_eq!(after(&[(0, 2, 0), (30, 0, 2)]).level(), 0.0);
        assert!(after(&[(0, 2, 0), (30, 0, 1)]).level() > 0.3, "one is still out");
    }

    #[test]
    fn earlier_losses_cannot_recover_after_a_round_trip() {
        // Without the reset, the two early losses would keep the late recovery from clearing the level.
        assert_eq!(after(&[(0, 2, 0), (101, 1, 0), (110, 0, 1)]).level(), 0.0);
        assert!(after(&[(0, 2, 0), (100, 1, 0), (110, 0, 1)]).level() > 0.0);
    }

    #[test]
    fn a_round_lasts_25_milliseconds_at_least() {
        let mut losses = Losses::default();
        for ms in [0, 24, 25] {
            let now = Instant::ZERO + Span::from_millis(ms);
            losses.update(&Message { now, missing: 1, ..Message::default() }, 0.001);
            assert!((losses.level() - if ms == 25 { 2.0 } else { 1.0 } / 3.0).abs() < 1e-9);
        }
    }
}
