//! Common state of controllers based on loss events: round trip, receive rate of each round, and loss events.

use fairwave_network::packet::Ecn;
use fairwave_units::units::{Instant, Span};

use super::Feedback;
use super::loss_events::LossEvents;
use super::reports::{News, Reports};

/// RFC 5348 §4.3: q = 0.9.
const KEPT: f64 = 0.9;
/// Gain of the mean packet size.
const SIZE_GAIN: f64 = 1.0 / 16.0;

/// Result of a round: at least one round trip, or less at a loss event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Arrival rate, bytes per second by the receiver's clock.
    pub received: f64,
    /// A loss event has begun; it is the very first.
    pub lost: bool,
    pub is_first: bool,
    /// Packets were waiting in the pacer.
    pub has_waited: bool,
}

/// State of packets and rounds. Bytes and seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    reports: Reports,
    pub events: LossEvents,
    pub highest: u64,
    pub round_trip: Option<f64>,
    /// s: mean size of arrived packets.
    pub size: f64,
    began: Option<Instant>,
    /// Bytes that arrived in this round, after the arrival that ended the previous round.
    bytes: f64,
    since: Option<Instant>,
    newest: Instant,
    last_received: f64,
    lost: bool,
    is_first: bool,
    has_waited: bool,
}

impl Rounds {
    /// Returns the smoothed round trip; zero before the first.
    pub fn span(&self) -> Span {
        Span::from_seconds(self.round_trip.unwrap_or(0.0))
    }

    /// Handles a message. Returns the round that ends with it, if one does. A mark counts as a loss (RFC 5348 §5.1).
    pub fn take(&mut self, feedback: &Feedback<'_>) -> Option<Round> {
        let mut arrived_any = false;
        for report in feedback.packets {
            let news = self.reports.take(report);
            if let (News::Arrived | News::Recovered, Some(arrived)) = (news, report.arrived) {
                arrived_any = true;
                let bytes = report.packet.size.get() as f64;
                self.size = if self.size == 0.0 { bytes } else { self.size + SIZE_GAIN * (bytes - self.size) };
                self.highest = self.highest.max(report.packet.sequence);
                self.newest = self.newest.max(arrived);
                if self.since.is_none() {
                    self.since = Some(arrived);
                } else {
                    self.bytes += bytes;
                }
                if report.ecn == Ecn::Ce {
                    self.is_lost(&report.packet);
                }
            }
        }
        while let Some(packet) = self.reports.lost() {
            self.is_lost(&packet);
        }
        if arrived_any {
            let sample = feedback.round_trip.seconds();
            self.round_trip = Some(self.round_trip.map_or(sample, |mean| KEPT * mean + (1.0 - KEPT) * sample));
        }
        self.has_waited |= feedback.waiting.get() > 0;
        let began = *self.began.get_or_insert(feedback.now);
        if !self.lost && (feedback.now - began < self.span() || !arrived_any) {
            return None;
        }
        let time = self.since.map_or(0.0, |since| (self.newest - since).seconds());
        if time > 0.0 {
            self.last_received = self.bytes / time;
            (self.since, self.bytes) = (Some(self.newest), 0.0);
        }
        self.began = Some(feedback.now);
        let round = Round {
            received: self.last_received,
            lost: std::mem::take(&mut self.lost),
            is_first: std::mem::take(&mut self.is_first),
            has_waited: std::mem::take(&mut self.has_waited),
        };
        Some(round)
    }

    fn is_lost(&mut self, packet: &super::SentPacket) {
        let had_begun = self.events.has_begun();
        if self.events.on_lost(packet, self.span()) {
            self.lost = true;
            self.is_first |= !had_begun;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::PacketReport;
    use crate::control::rig::{feedback, report};

    #[test]
    fn a_round_ends_after_a_round_trip_or_at_a_loss_event() {
        let mut rounds = Rounds::default();
        assert!(rounds.take(&feedback(100, &[report(0, 0, Some(50))])).is_none());
        assert_eq!(rounds.round_trip, Some(0.1));
        assert!(rounds.take(&feedback(150, &[report(1, 50, Some(100))])).is_none());
        let round = rounds.take(&feedback(200, &[report(2, 100, Some(150))])).expect("a round");
        assert!(!round.lost && (round.received - 20_000.0).abs() < 1e-6, "2000 bytes after the first, in 100 ms");
        let lost =
            [report(3, 110, None), report(4, 115, Some(160)), report(5, 118, Some(165)), report(6, 119, Some(170))];
        let round = rounds.take(&feedback(210, &lost)).expect("at once");
        assert!(round.lost && round.is_first && (round.received - 150_000.0).abs() < 1e-6);
        assert!((rounds.size - 1000.0).abs() < 1e-9);
    }

    #[test]
    fn a_mark_is_a_loss_and_the_round_trip_keeps_nine_tenths() {
        let mut rounds = Rounds::default();
        rounds.take(&feedback(100, &[report(0, 0, Some(50))]));
        let mark = PacketReport { ecn: Ecn::Ce, ..report(1, 0, Some(60)) };
        assert!(rounds.take(&feedback(120, &[mark])).expect("at once").lost);
        assert!((rounds.round_trip.unwrap_or_default() - 0.102).abs() < 1e-9);
    }
}
