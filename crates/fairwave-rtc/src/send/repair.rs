//! Retransmission history: the packets kept, for how long, and how often they are retransmitted (libwebrtc,
//! `rtp_packet_history.cc`, `rate_limiter.cc`).
//!
//! - A packet is kept for at least a second and three round trips. After that it is removed if 600 are kept, or after
//!   three times that time. At most 9600 are kept.
//! - A packet is retransmitted at most once within a round trip plus 5 ms.
//! - Within a second, retransmissions use at most the bytes that the target rate carries in a second.

use std::collections::VecDeque;

use super::history::unwrap16;
use super::pacer::Waiting;
use crate::control::Carries;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// `kMinPacketDuration`.
const LEAST: Span = Span::from_secs(1);
/// `kMinPacketDurationRtt`.
const ROUND_TRIPS: u64 = 3;
/// `kPacketCullingDelayFactor`.
const CULLING: u64 = 3;
/// `kMinSendSidePacketHistorySize`.
const STORED: usize = 600;
/// `kMaxCapacity`.
const MOST: usize = 9600;
/// Time added to the round trip (`ModuleRtpRtcpImpl2::OnReceivedNack`).
const SLACK: Span = Span::from_millis(5);

#[derive(Clone, Copy, Debug)]
struct Kept {
    packet: Waiting,
    sent: Option<Instant>,
    again: u32,
    pending: bool,
}

/// Packets of one stream that may be requested again.
#[derive(Clone, Debug, Default)]
pub struct PacketHistory {
    first: u64,
    packets: VecDeque<Kept>,
}

impl PacketHistory {
    /// Adds a packet that waits for its first transmission; its RTP number follows the previous one.
    pub fn add(&mut self, now: Instant, packet: Waiting, round_trip: Span) {
        if self.packets.is_empty() {
            self.first = u64::from(packet.header.sequence);
        }
        self.packets.push_back(Kept { packet, sent: None, again: 0, pending: false });
        let keep = LEAST.max(Span::from_nanos(round_trip.nanos().saturating_mul(ROUND_TRIPS)));
        while let Some(oldest) = self.packets.front() {
            let old = |times: u64| oldest.sent.is_some_and(|sent| now >= sent + keep * times);
            let over = self.packets.len() > MOST;
            if over || !oldest.pending && old(1) && (self.packets.len() > STORED || old(CULLING)) {
                self.packets.pop_front();
                self.first += 1;
            } else {
                break;
            }
        }
    }

    fn find(&mut self, sequence: u16) -> Option<&mut Kept> {
        let place = unwrap16(self.first + self.packets.len() as u64, sequence).checked_sub(self.first)?;
        self.packets.get_mut(place as usize)
    }

    /// Records that the packet was sent, for the first time or again.
    pub fn sent(&mut self, now: Instant, sequence: u16) {
        if let Some(kept) = self.find(sequence) {
            if kept.sent.is_some() {
                kept.again += 1;
            }
            (kept.sent, kept.pending) = (Some(now), false);
        }
    }

    /// Returns the requested packet if it should be retransmitted now, and marks it as pending.
    pub fn asked(&mut self, now: Instant, sequence: u16, round_trip: Span) -> Option<Waiting> {
        let kept = self.find(sequence)?;
        let sent = kept.sent?;
        // Parity in the media stream is not retransmitted.
        if kept.packet.carries != Carries::Video || kept.pending || kept.again > 0 && now < sent + round_trip + SLACK {
            return None;
        }
        kept.pending = true;
        Some(kept.packet)
    }

    /// Cancels a retransmission.
    pub fn forgo(&mut self, sequence: u16) {
        if let Some(kept) = self.find(sequence) {
            kept.pending = false;
        }
    }

    /// Returns the newest packet that was sent: the best choice for padding.
    pub fn newest(&self) -> Option<Waiting> {
        self.packets
            .iter()
            .rev()
            .take(64)
            .find(|kept| kept.sent.is_some() && !kept.pending && kept.packet.carries == Carries::Video)
            .map(|kept| kept.packet)
    }
}

/// Limit on bytes: over each second, at most the bytes that a rate carries.
#[derive(Clone, Debug, Default)]
pub struct RateLimiter {
    used: VecDeque<(Instant, u64)>,
    bytes: u64,
}

impl RateLimiter {
    /// Checks whether `bytes` more are within the rate, and uses them if so.
    pub fn try_use(&mut self, now: Instant, bytes: u64, rate: Rate) -> bool {
        while let Some((used, size)) = self.used.front()
            && now.span_since(*used) >= Span::from_secs(1)
        {
            self.bytes -= size;
            self.used.pop_front();
        }
        if self.bytes + bytes > rate.bytes_in(Span::from_secs(1)).get() {
            return false;
        }
        self.bytes += bytes;
        self.used.push_back((now, bytes));
        true
    }

    /// Returns the bytes of the last second.
    pub fn recent_bytes(&self) -> Bytes {
        Bytes::new(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtp::RtpHeader;

    const ROUND_TRIP: Span = Span::from_millis(100);

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn packet(sequence: u16) -> Waiting {
        let header = RtpHeader { sequence, ..RtpHeader::default() };
        Waiting { header, wire: 1000, carries: Carries::Video, created: ms(0), since: ms(0) }
    }

    fn history(first: u16, number: u16) -> PacketHistory {
        let mut history = PacketHistory::default();
        for sequence in (0..number).map(|number| first.wrapping_add(number)) {
            history.add(ms(0), packet(sequence), ROUND_TRIP);
            history.sent(ms(0), sequence);
        }
        history
    }

    #[test]
    fn a_packet_is_sent_again_at_once_and_a_second_time_only_after_a_round_trip_and_5_ms() {
        let mut history = history(65_534, 4);
        assert!(history.asked(ms(10), 0, ROUND_TRIP).is_some(), "through the wrap");
        assert!(history.asked(ms(11), 0, ROUND_TRIP).is_none(), "under way");
        history.sent(ms(20), 0);
        assert!(history.asked(ms(124), 0, ROUND_TRIP).is_none());
        assert!(history.asked(ms(125), 0, ROUND_TRIP).is_some());
        assert!(history.asked(ms(10), 100, ROUND_TRIP).is_none(), "never sent");
        history.forgo(0);
        assert!(history.asked(ms(126), 0, ROUND_TRIP).is_some());
    }

    #[test]
    fn a_packet_that_has_not_left_yet_is_not_sent_again() {
        let mut history = PacketHistory::default();
        history.add(ms(0), packet(5), ROUND_TRIP);
        assert!(history.asked(ms(1), 5, ROUND_TRIP).is_none());
        assert_eq!(history.newest(), None);
    }

    #[test]
    fn packets_are_kept_a_second_or_three_round_trips_and_three_times_that_while_there_is_room() {
        let kept = |number: u16, later: u64, round_trip: Span| {
            let mut history = history(0, number);
            history.add(ms(later), packet(number), round_trip);
            history.packets.len()
        };
        assert_eq!(kept(10, 2_999, ROUND_TRIP), 11);
        assert_eq!(kept(10, 3_000, ROUND_TRIP), 1);
        assert_eq!(kept(700, 999, ROUND_TRIP), 701);
        assert_eq!(kept(700, 1_000, ROUND_TRIP), STORED);
        assert_eq!(kept(700, 1_499, Span::from_millis(500)), 701);
        assert_eq!(kept(700, 1_500, Span::from_millis(500)), STORED);
        assert_eq!(kept(9_700, 1, ROUND_TRIP), MOST);
    }

    #[test]
    fn no_more_is_sent_again_within_a_second_than_the_rate_carries() {
        let mut limiter = RateLimiter::default();
        let rate = Rate::from_bits_per_second(16_000);
        assert!(limiter.try_use(ms(0), 1500, rate));
        assert!(!limiter.try_use(ms(999), 501, rate));
        assert!(limiter.try_use(ms(999), 500, rate));
        assert!(limiter.try_use(ms(1_000), 1500, rate));
        assert_eq!(limiter.recent_bytes(), Bytes::new(2000));
    }
}
