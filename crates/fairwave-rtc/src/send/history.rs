//! History of sent packets: by transport-wide number for feedback, and by stream for RFC 8888 (libwebrtc,
//! `transport_feedback_adapter.cc`).
//!
//! A packet is reported to the controller as missing once, and as arrived once, which may be later. So repeated or
//! reordered messages have no second effect. Messages can get lost: a packet without a report leaves the flight when a
//! later one is reported. Reports on packets that were not sent are ignored.

use std::collections::VecDeque;

use crate::control::{PacketReport, SentPacket};
use crate::rtcp::{CongestionFeedback, TransportFeedback, time};
use crate::rtp::Ssrc;
use fairwave_network::packet::Ecn;
use fairwave_units::units::{Bytes, Instant, Span};

/// Time for which a packet is remembered (`kSendTimeHistoryWindow`).
const KEPT: Span = Span::from_secs(60);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReportState {
    Unreported,
    Missing,
    Arrived,
}

/// History of sent packets.
#[derive(Clone, Debug, Default)]
pub struct SentHistory {
    /// Number of the first packet kept.
    first: u64,
    packets: VecDeque<(SentPacket, ReportState)>,
    /// For each stream: the unwrapped RTP number of the first packet kept, and the packets' transport-wide numbers.
    streams: Vec<(Ssrc, u64, VecDeque<u64>)>,
    by_stream: bool,
    in_flight: u64,
    /// Number of the first packet that may still be in flight.
    settled: u64,
    reports: Vec<PacketReport>,
}

/// Result of a feedback message.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reported<'a> {
    /// Reports in the order of transport-wide numbers.
    pub packets: &'a [PacketReport],
    /// Time since the newest arrived packet was sent; `None` if none arrived.
    pub round_trip: Option<Span>,
    /// Bytes sent and not reported yet, after this message.
    pub in_flight: Bytes,
}

/// Returns the number nearest to `near` with the lower 16 bits `low`; never below zero.
pub fn unwrap16(near: u64, low: u16) -> u64 {
    let behind = (near as u16).wrapping_sub(low);
    if behind < 1 << 15 {
        near.checked_sub(u64::from(behind)).unwrap_or(u64::from(low))
    } else {
        near + u64::from(low.wrapping_sub(near as u16))
    }
}

impl SentHistory {
    /// Returns an empty history; `by_stream` enables RFC 8888.
    pub fn new(by_stream: bool) -> Self {
        SentHistory { by_stream, ..SentHistory::default() }
    }

    /// Discards all packets so far, because they used another path. Reports on them no longer count.
    pub fn forget(&mut self) {
        self.first = self.next();
        self.settled = self.first;
        self.packets.clear();
        self.streams.clear();
        self.in_flight = 0;
    }

    /// Number of the next packet.
    pub fn next(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Bytes sent and not reported yet.
    pub fn in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight)
    }

    /// Adds a sent packet; its number is [`SentHistory::next`].
    pub fn add(&mut self, packet: SentPacket, ssrc: Ssrc, sequence: u16) {
        while let Some((oldest, state)) = self.packets.front()
            && packet.sent - oldest.sent > KEPT
        {
            if *state == ReportState::Unreported && self.first >= self.settled {
                self.in_flight -= oldest.size.get();
                self.settled = self.first + 1;
            }
            self.packets.pop_front();
            self.first += 1;
        }
        self.in_flight += packet.size.get();
        if self.by_stream {
            let first_kept = self.first;
            let place = self.streams.iter().position(|(known, ..)| *known == ssrc).unwrap_or_else(|| {
                self.streams.push((ssrc, u64::from(sequence), VecDeque::new()));
                self.streams.len() - 1
            });
            if let Some((_, base, numbers)) = self.streams.get_mut(place) {
                while numbers.front().is_some_and(|number| *number < first_kept) {
                    numbers.pop_front();
                    *base += 1;
                }
                let place = unwrap16(*base + numbers.len() as u64, sequence);
                match place.checked_sub(*base).map(|at| at as usize) {
                    // Sent again under the same number.
                    Some(at) if at < numbers.len() => numbers[at] = packet.sequence,
                    Some(at) if at < numbers.len() + 1000 => {
                        numbers.resize(at, packet.sequence);
                        numbers.push_back(packet.sequence);
                    }
                    _ => {}
                }
            }
        }
        self.packets.push_back((packet, ReportState::Unreported));
    }

    /// Handles a report on packet `number`.
    fn record_report(&mut self, number: u64, arrived: Option<Instant>, ecn: Ecn) {
        let Some(place) = number.checked_sub(self.first) else { return };
        let Some((packet, state)) = self.packets.get_mut(place as usize) else { return };
        let new_state = if arrived.is_some() { ReportState::Arrived } else { ReportState::Missing };
        if *state == ReportState::Arrived || *state == new_state {
            return;
        }
        *state = new_state;
        self.reports.push(PacketReport { packet: *packet, arrived, ecn });
    }

    /// Ends the flight of all packets up to the newest reported one.
    fn settle(&mut self, now: Instant) -> Reported<'_> {
        if let Some(newest) = self.reports.last().map(|report| report.packet.sequence) {
            while self.settled <= newest {
                if let Some(place) = self.settled.checked_sub(self.first)
                    && let Some((packet, _)) = self.packets.get(place as usize)
                {
                    self.in_flight -= packet.size.get();
                }
                self.settled += 1;
            }
        }
        let newest = self.reports.iter().rev().find(|report| report.arrived.is_some());
        Reported {
            packets: &self.reports,
            round_trip: newest.map(|report| now.span_since(report.packet.sent)),
            in_flight: Bytes::new(self.in_flight),
        }
    }

    /// Handles a transport-wide message.
    pub fn on_transport_feedback(&mut self, now: Instant, message: &TransportFeedback) -> Reported<'_> {
        self.reports.clear();
        let base = unwrap16(self.next(), message.base);
        for (at, arrived) in message.arrivals(now).enumerate() {
            self.record_report(base + at as u64, arrived, Ecn::NotEct);
        }
        self.settle(now)
    }

    /// Handles a message of RFC 8888.
    pub fn on_congestion_feedback(&mut self, now: Instant, message: &CongestionFeedback) -> Reported<'_> {
        self.reports.clear();
        // Time of the report by the receiver's clock: the time nearest to `now` with these middle bits.
        let ahead = message.timestamp.wrapping_sub(time::middle(time::ntp(now))) as i32;
        let made = if ahead < 0 {
            Instant::from_nanos(now.nanos().saturating_sub(time::from_65536ths(ahead.unsigned_abs()).nanos()))
        } else {
            now + time::from_65536ths(ahead as u32)
        };
        for stream in &message.streams {
            let Some(place) = self.streams.iter().position(|(known, ..)| known.number() == stream.ssrc) else {
                continue;
            };
            let Some((_, first, numbers)) = self.streams.get(place) else { continue };
            let first = *first;
            let base = unwrap16(first + numbers.len() as u64, stream.base);
            for (at, packet) in stream.packets.iter().enumerate() {
                let Some(number) = (base + at as u64).checked_sub(first).and_then(|at| {
                    self.streams.get(place).and_then(|(_, _, numbers)| numbers.get(at as usize)).copied()
                }) else {
                    continue;
                };
                let arrived = packet.map(|packet| {
                    let before = packet.age().unwrap_or_default();
                    Instant::from_nanos(made.nanos().saturating_sub(before.nanos()))
                });
                self.record_report(number, arrived, packet.map_or(Ecn::NotEct, |packet| packet.ecn));
            }
        }
        self.reports.sort_by_key(|report| report.packet.sequence);
        self.settle(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Carries;
    use crate::rtcp::{ArrivalReport, StreamReport};
    use proptest::prelude::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn sent(history: &mut SentHistory, number: u64) {
        let packet = SentPacket {
            sequence: history.next(),
            sent: ms(10 * number),
            size: Bytes::new(1000),
            carries: Carries::Video,
            probe: None,
        };
        history.add(packet, Ssrc(16), (65_530 + number) as u16);
    }

    fn history(number: u64, by_stream: bool) -> SentHistory {
        let mut history = SentHistory::new(by_stream);
        (0..number).for_each(|number| sent(&mut history, number));
        history
    }

    fn message(base: u16, arrivals: &[Option<u64>]) -> TransportFeedback {
        let arrivals: Vec<_> = arrivals.iter().map(|millis| millis.map(ms)).collect();
        TransportFeedback::from_arrivals(255, 0, base, 0, &arrivals, 1000).expect("a message").0
    }

    fn arrivals(reported: Reported<'_>) -> Vec<(u64, bool)> {
        reported.packets.iter().map(|report| (report.packet.sequence, report.arrived.is_some())).collect()
    }

    #[test]
    fn numbers_are_unwrapped_to_the_nearest() {
        assert_eq!((unwrap16(70_000, 65_535), unwrap16(70_000, 5_000), unwrap16(65_530, 2)), (65_535, 70_536, 65_538));
        assert_eq!((unwrap16(3, 65_535), unwrap16(0, 0)), (65_535, 0));
    }

    #[test]
    fn forgotten_packets_do_not_count() {
        for by_stream in [false, true] {
            let mut history = history(6, by_stream);
            history.forget();
            assert_eq!((history.next(), history.in_flight()), (6, Bytes::new(0)));
            sent(&mut history, 6);
            let message = message(4, &[Some(50), None, Some(70)]);
            let reported = history.on_transport_feedback(ms(90), &message);
            assert_eq!(reported.in_flight, Bytes::new(0));
            assert_eq!(arrivals(reported), [(6, true)]);
        }
    }

    #[test]
    fn a_packet_is_missing_once_and_arrived_once_whatever_comes_twice_or_late() {
        let mut history = history(6, false);
        let first = message(0, &[Some(50), None, Some(70)]);
        let at_100 = history.on_transport_feedback(ms(100), &first);
        assert_eq!(at_100.round_trip, Some(Span::from_millis(80)));
        assert_eq!(arrivals(at_100), [(0, true), (1, false), (2, true)]);
        assert_eq!(history.in_flight(), Bytes::new(3000));
        let again = history.on_transport_feedback(ms(101), &first);
        assert_eq!((again.round_trip, arrivals(again)), (None, vec![]));
        let late = message(1, &[Some(90)]);
        assert_eq!(arrivals(history.on_transport_feedback(ms(110), &late)), [(1, true)]);
        assert_eq!(history.in_flight(), Bytes::new(3000));
        // The message about 3 is lost: 3 leaves the flight together with 4, and is not reported.
        assert_eq!(arrivals(history.on_transport_feedback(ms(120), &message(4, &[Some(110)]))), [(4, true)]);
        assert_eq!(history.in_flight(), Bytes::new(1000));
        assert_eq!(
            arrivals(history.on_transport_feedback(ms(130), &message(3, &[Some(100)]))),
            [(3, true)],
            "reordered"
        );
        assert_eq!(history.in_flight(), Bytes::new(1000));
    }

    #[test]
    fn packets_that_were_not_sent_are_passed_over() {
        let mut history = history(3, false);
        assert_eq!(arrivals(history.on_transport_feedback(ms(100), &message(2, &[Some(50), Some(60)]))), [(2, true)]);
        assert_eq!(arrivals(history.on_transport_feedback(ms(100), &message(40_000, &[Some(50)]))), []);
        assert_eq!(history.in_flight(), Bytes::ZERO);
    }

    #[test]
    fn numbers_of_a_stream_find_their_packets_through_the_wrap() {
        let mut history = history(10, true);
        let now = ms(1_000);
        let arrived = |millis, ecn| Some(ArrivalReport::new(now, ms(millis), ecn));
        let packets = vec![arrived(500, Ecn::Ce), None, arrived(600, Ecn::Ect1)];
        let streams = vec![
            StreamReport { ssrc: 16, base: 65_534, packets },
            StreamReport { ssrc: 99, base: 0, packets: vec![arrived(1, Ecn::Ce)] },
        ];
        let message = CongestionFeedback { sender: 255, streams, timestamp: time::middle(time::ntp(now)) };
        let found = history.on_congestion_feedback(ms(1_050), &message);
        let marks: Vec<_> = found.packets.iter().map(|report| (report.packet.sequence, report.ecn)).collect();
        assert_eq!(marks, [(4, Ecn::Ce), (5, Ecn::NotEct), (6, Ecn::Ect1)]);
        let error = found.packets[0].arrived.expect("arrived").nanos().abs_diff(ms(500).nanos());
        assert!(error < 1_000_000, "{error} ns");
    }

    #[test]
    fn old_packets_are_forgotten_and_out_of_flight() {
        let mut history = history(3, true);
        sent(&mut history, 6_200);
        assert_eq!(history.in_flight(), Bytes::new(1000));
        assert_eq!(history.next(), 4);
    }

    proptest! {
        #[test]
        fn fuzz_feedback_of_any_content(
            messages in proptest::collection::vec(
                (any::<u16>(), 0u32..1 << 24, proptest::collection::vec(proptest::option::of(any::<i16>()), 0..50)), 1..20,
            ),
        ) {
            let mut history = history(200, false);
            let mut seen = std::collections::BTreeSet::new();
            for (base, reference, packets) in messages {
                let message = TransportFeedback { sender: 0, media: 0, base: base % 300, reference, count: 0, packets };
                for report in history.on_transport_feedback(ms(5_000), &message).packets {
                    prop_assert!(seen.insert((report.packet.sequence, report.arrived.is_some())));
                }
                prop_assert!(history.in_flight().get() <= 200_000);
            }
        }
    }
}
