//! Forward error correction of video: XOR parity over the packets of a frame (RFC 8627, RFC 5109).
//!
//! libwebrtc reads the amount of parity from a table. The table comes from an unpublished model of loss, frame size and
//! rate. Here the amount follows from the same principle: the least parity that keeps the probability of a frame loss
//! at or below a given value. There is at most as much parity as media. The calculation assumes independent losses, and
//! that any lost packets can be restored by as many parity packets. XOR restores fewer, so slightly more frames are
//! lost. The loss rate is the highest that reports contained within 10 s (`kLossPrHistorySize` windows of a second).
//!
//! If retransmissions arrive in time, parity is wasteful. So below a round trip of 20 ms there is none, above 100 ms
//! there is the full amount, and in between a proportional part (`kLowRttNackMs`, `kHighRttNackMs`). Without NACK the
//! full amount is sent.
//!
//! Parity packet `j` of `m` protects the media packets `j`, `j + m`, `j + 2m`, …, so that bursts of up to `m` losses
//! can be restored.

use std::collections::VecDeque;

use fairwave_units::units::{Instant, Span};

/// Largest number of media packets in a protection group (`kUlpfecMaxMediaPackets`).
pub const GROUP: usize = 48;
/// Validity of a loss report.
const WINDOW: Span = Span::from_secs(10);
/// Round trip below which only NACK is used, s.
const LOW: f64 = 0.020;
/// Round trip above which only parity counts, s.
const HIGH: f64 = 0.100;

/// Amount of parity for frames.
#[derive(Clone, Debug)]
pub struct Protection {
    acceptable: f64,
    nack: bool,
    losses: VecDeque<(Instant, f64)>,
    round_trip: f64,
    /// Cache for the current loss, by number of media packets.
    known: Vec<Option<u8>>,
    loss: f64,
}

impl Protection {
    /// Returns parity such that a frame is lost with at most the probability `acceptable`.
    pub fn new(acceptable: f64, nack: bool) -> Self {
        Protection {
            acceptable,
            nack,
            losses: VecDeque::new(),
            round_trip: 0.0,
            known: vec![None; GROUP + 1],
            loss: 0.0,
        }
    }

    /// Records a loss report: share of packets lost, and round trip.
    pub fn on_report(&mut self, now: Instant, lost: f64, round_trip: Span) {
        while self.losses.front().is_some_and(|(then, _)| now.span_since(*then) > WINDOW) {
            self.losses.pop_front();
        }
        // Keeps the maximum of a window: values below a later one never count again.
        while self.losses.back().is_some_and(|(_, other)| *other <= lost) {
            self.losses.pop_back();
        }
        self.losses.push_back((now, lost));
        self.round_trip = round_trip.seconds();
        let highest = self.losses.front().map_or(0.0, |(_, lost)| *lost);
        if highest != self.loss {
            self.loss = highest;
            self.known.fill(None);
        }
    }

    /// Returns the number of parity packets for a frame of `media` packets, at most [`GROUP`].
    pub fn packets(&mut self, media: usize) -> usize {
        if self.loss <= 0.0 || media == 0 {
            return 0;
        }
        let (loss, acceptable) = (self.loss, self.acceptable);
        let full = match self.known.get_mut(media) {
            Some(known) => usize::from(*known.get_or_insert_with(|| least_parity(media, loss, acceptable))),
            None => 0,
        };
        if !self.nack {
            return full;
        }
        let share = ((self.round_trip - LOW) / (HIGH - LOW)).clamp(0.0, 1.0);
        (full as f64 * share + 0.5) as usize
    }
}

/// Returns the least `m` up to `media` with P[more than m of media + m lost] ≤ `acceptable`.
fn least_parity(media: usize, loss: f64, acceptable: f64) -> u8 {
    for parity in 0..media {
        let all = media + parity;
        // Binomial probabilities of 0, 1, …, parity losses, each computed from the previous one.
        let mut one = (0..all).fold(1.0, |product, _| product * (1.0 - loss));
        let mut within = one;
        for lost in 1..=parity {
            one *= loss / (1.0 - loss) * (all - lost + 1) as f64 / lost as f64;
            within += one;
        }
        if 1.0 - within <= acceptable {
            return parity as u8;
        }
    }
    media as u8
}

/// Returns the packets that parity packet `which` of `parity` protects: bit i for the i-th of `media`.
pub fn mask(which: usize, parity: usize, media: usize) -> u64 {
    (which..media.min(64)).step_by(parity.max(1)).fold(0, |mask, place| mask | 1 << place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn protection(lost: f64, round_trip: u64) -> Protection {
        let mut protection = Protection::new(0.01, true);
        protection.on_report(ms(0), lost, Span::from_millis(round_trip));
        protection
    }

    #[test]
    fn parity_keeps_the_loss_of_frames_below_the_bound() {
        assert_eq!(protection(0.0, 200).packets(10), 0);
        // 10 packets at 2 %: without parity 1 - 0.98^10 = 18 % of frames are lost; with one parity packet 1 - 0.98^11 -
        // 11·0.02·0.98^10 = 1.95 %, with two 0.15 %.
        assert_eq!(protection(0.02, 200).packets(10), 2);
        assert_eq!(protection(0.02, 200).packets(1), 1);
        assert_eq!(protection(0.009, 200).packets(1), 0, "a frame of one packet is lost with 0.9 %");
        assert_eq!(protection(0.9, 200).packets(4), 4, "at most as much as media");
        assert_eq!(protection(1.0, 200).packets(4), 4);
    }

    #[test]
    fn parity_is_for_round_trips_in_which_nack_comes_too_late() {
        assert_eq!(protection(0.02, 20).packets(10), 0);
        assert_eq!(protection(0.02, 60).packets(10), 1);
        assert_eq!(protection(0.02, 100).packets(10), 2);
        let mut alone = Protection::new(0.01, false);
        alone.on_report(ms(0), 0.02, Span::from_millis(5));
        assert_eq!(alone.packets(10), 2);
    }

    #[test]
    fn the_highest_loss_of_ten_seconds_counts() {
        let mut protection = protection(0.1, 200);
        let most = protection.packets(10);
        protection.on_report(ms(10_000), 0.01, Span::from_millis(200));
        assert_eq!(protection.packets(10), most);
        protection.on_report(ms(10_001), 0.0, Span::from_millis(200));
        assert!(protection.packets(10) < most);
        assert!(protection.packets(10) > 0, "1 % of the report before");
    }

    #[test]
    fn masks_interleave_and_cover_each_packet_once() {
        assert_eq!([mask(0, 2, 5), mask(1, 2, 5)], [0b10101, 0b01010]);
        assert_eq!((0..3).map(|which| mask(which, 3, 48)).fold(0, |all, mask| all ^ mask), (1 << 48) - 1);
    }
}
