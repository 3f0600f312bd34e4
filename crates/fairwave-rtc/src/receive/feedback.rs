//! Congestion feedback: when it is sent, and its content.
//!
//! Transport-wide: libwebrtc's `transport_sequence_number_feedback_generator.cc`. RFC 8888:
//! `congestion_control_feedback_generator.cc`. In libwebrtc, feedback uses 5 % of the rate that the peer may send. Here
//! a receiver does not send media, so feedback uses 5 % of the received rate.

use std::collections::VecDeque;

use super::reception::{Unwrapper, unwrap16};
use crate::rtcp::{
    ArrivalReport, CongestionFeedback, Rtcp, StreamReport, TransportFeedback, congestion_feedback, time,
};
use crate::rtp::Ssrc;
use fairwave_network::packet::Ecn;
use fairwave_units::units::{Instant, Span};

/// Time for which arrivals are kept, for late packets.
const BACK: Span = Span::from_millis(500);
/// Shortest, longest and initial interval of transport-wide feedback.
const SHORTEST: Span = Span::from_millis(50);
const LONGEST: Span = Span::from_millis(250);
const FIRST: Span = Span::from_millis(100);
/// Size of a message with all headers, bytes, as in libwebrtc: 20 + 8 + 10 + 30.
const MESSAGE: f64 = 68.0;
/// Share of the rate that feedback may use.
const SHARE: f64 = 0.05;
/// Largest number of packets in a message, so that it fits one packet.
const PACKETS: usize = 400;
/// Largest number of arrivals kept.
const MOST: usize = 0x7fff;
/// Shortest interval between two reports of RFC 8888, and the longest wait for the end of a frame.
const APART: Span = Span::from_millis(25);
/// Longest interval between two reports.
const APART_MOST: Span = Span::from_millis(250);
/// Rate of reports before a rate is known, bits per second, and the overhead of their headers, bytes.
const REPORT_RATE: f64 = 500_000.0;
const OVERHEAD: f64 = 42.0;

/// Arrivals by number, from the oldest that is kept.
#[derive(Clone, Debug, Default)]
struct Arrivals {
    begin: u64,
    kept: VecDeque<Option<(Instant, Ecn)>>,
    /// First number of the next message.
    next: Option<u64>,
}

impl Arrivals {
    fn end(&self) -> u64 {
        self.begin + self.kept.len() as u64
    }

    /// Records an arrival. Returns whether it is the first of this number.
    fn insert(&mut self, now: Instant, number: u64, ecn: Ecn) -> bool {
        if self.next.is_some_and(|next| next >= self.end()) {
            while let Some(front) = self.kept.front()
                && self.begin < number
                && front.is_none_or(|(arrived, _)| now.span_since(arrived) > BACK)
            {
                self.kept.pop_front();
                self.begin += 1;
            }
        }
        if self.kept.is_empty() {
            self.begin = number;
        }
        if number == self.end() && self.kept.len() < MOST {
            // The common case: the next number in order.
            self.kept.push_back(Some((now, ecn)));
            self.next = Some(self.next.map_or(number, |next| next.min(number)).max(self.begin));
            return true;
        }
        if number < self.begin {
            if self.begin - number + self.kept.len() as u64 > MOST as u64 {
                return false;
            }
            for _ in number..self.begin {
                self.kept.push_front(None);
            }
            self.begin = number;
        }
        if number >= self.end() {
            let gap = number + 1 - self.end();
            if gap > MOST as u64 {
                self.kept.clear();
                self.begin = number;
                self.next = Some(number);
            }
            while self.end() <= number {
                self.kept.push_back(None);
            }
            while self.kept.len() > MOST {
                self.kept.pop_front();
                self.begin += 1;
            }
        }
        let Some(place) = self.kept.get_mut((number - self.begin) as usize) else { return false };
        if place.is_some() {
            return false;
        }
        *place = Some((now, ecn));
        self.next = Some(self.next.map_or(number, |next| next.min(number)).max(self.begin));
        true
    }

    /// Returns arrivals since the latest message, including late ones.
    fn unreported(&self) -> impl Iterator<Item = &Option<(Instant, Ecn)>> {
        let from = self.next.map_or(self.kept.len(), |next| next.saturating_sub(self.begin) as usize);
        self.kept.iter().skip(from)
    }
}

/// Generator of transport-wide feedback.
#[derive(Clone, Debug)]
pub struct TransportWide {
    numbers: Unwrapper,
    arrivals: Arrivals,
    count: u8,
    interval: Span,
    due: Instant,
    media: Ssrc,
}

impl Default for TransportWide {
    fn default() -> Self {
        TransportWide {
            numbers: Unwrapper::default(),
            arrivals: Arrivals::default(),
            count: 0,
            interval: FIRST,
            due: Instant::NEVER,
            media: Ssrc::default(),
        }
    }
}

impl TransportWide {
    /// Records the arrival of a packet.
    pub fn on_packet(&mut self, now: Instant, sequence: u16, ssrc: Ssrc, ecn: Ecn) {
        self.media = ssrc;
        let number = self.numbers.unwrap(sequence);
        self.arrivals.insert(now, number, ecn);
        if self.due == Instant::NEVER {
            self.due = now + self.interval;
        }
    }

    /// Sets the received rate, bits per second; feedback uses 5 % of it.
    pub fn on_rate(&mut self, rate: f64) {
        let share = SHARE * rate;
        self.interval = if share <= MESSAGE * 8.0 / LONGEST.seconds() {
            LONGEST
        } else {
            Span::from_seconds(MESSAGE * 8.0 / share).max(SHORTEST)
        };
    }

    /// Returns when feedback is due.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// Creates the messages that are due.
    pub fn take(&mut self, now: Instant, messages: &mut Vec<Rtcp>) {
        self.due = now + self.interval;
        let all: Vec<Option<Instant>> = self.arrivals.unreported().map(|one| one.map(|(arrived, _)| arrived)).collect();
        let Some(mut base) = self.arrivals.next else { return };
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            let found = TransportFeedback::from_arrivals(
                Ssrc::RECEIVER.number(),
                self.media.number(),
                base as u16,
                self.count,
                rest,
                PACKETS,
            );
            let took = match found {
                Some((message, took)) if took > 0 => {
                    messages.push(Rtcp::TransportFeedback(message));
                    self.count = self.count.wrapping_add(1);
                    took
                }
                // None of the first packets has arrived.
                _ => PACKETS,
            };
            base += took as u64;
            rest = rest.get(took..).unwrap_or_default();
        }
        self.arrivals.next = Some(self.arrivals.end());
        if all.is_empty() {
            // Nothing has arrived; the next packet restarts the timer.
            self.due = Instant::NEVER;
        }
    }
}

/// Generator of RFC 8888 reports.
#[derive(Clone, Debug)]
pub struct Reports {
    streams: Vec<(Ssrc, Option<u64>, Arrivals)>,
    first: Option<Instant>,
    marker: bool,
    possible: Instant,
    sent: Option<Instant>,
    debt: f64,
    /// Largest rate of reports, bits per second.
    most: f64,
}

impl Default for Reports {
    fn default() -> Self {
        Reports {
            streams: Vec::new(),
            first: None,
            marker: false,
            possible: Instant::ZERO,
            sent: None,
            debt: 0.0,
            most: REPORT_RATE,
        }
    }
}

impl Reports {
    /// Records the arrival of a packet.
    pub fn on_packet(&mut self, now: Instant, ssrc: Ssrc, sequence: u16, ecn: Ecn, marker: bool) {
        self.marker |= marker;
        self.first.get_or_insert(now);
        let place = match self.streams.binary_search_by_key(&ssrc, |(ssrc, ..)| *ssrc) {
            Ok(place) => place,
            Err(place) => {
                self.streams.insert(place, (ssrc, None, Arrivals::default()));
                place
            }
        };
        if let Some((_, near, arrivals)) = self.streams.get_mut(place) {
            let number = near.map_or(0x1_0000 + u64::from(sequence), |near| unwrap16(near, sequence));
            *near = Some(near.map_or(number, |near| near.max(number)));
            arrivals.insert(now, number, ecn);
        }
    }

    /// Sets the received rate, bits per second; reports use 5 % of it.
    pub fn on_rate(&mut self, rate: f64) {
        self.most = (SHARE * rate).max(1.0);
    }

    /// Returns when a report is due.
    pub fn due(&self) -> Instant {
        match self.first {
            None => Instant::NEVER,
            Some(_) if self.marker => self.possible,
            Some(first) => self.possible.max(first + APART),
        }
    }

    /// Creates the report that is due, with arrivals since the previous one.
    pub fn take(&mut self, now: Instant) -> Option<Rtcp> {
        let mut streams = Vec::new();
        let mut bytes = 12.0;
        for (ssrc, _, arrivals) in &mut self.streams {
            let Some(next) = arrivals.next.filter(|&next| next < arrivals.end()) else { continue };
            let packets: Vec<Option<ArrivalReport>> = (arrivals.unreported().take(congestion_feedback::MOST))
                .map(|one| one.map(|(arrived, ecn)| ArrivalReport::new(now, arrived, ecn)))
                .collect();
            arrivals.next = Some(next + packets.len() as u64);
            bytes += 8.0 + 2.0 * packets.len() as f64;
            streams.push(StreamReport { ssrc: ssrc.number(), base: next as u16, packets });
        }
        (self.first, self.marker) = (None, false);
        let paid = self.sent.map_or(0.0, |sent| now.span_since(sent).seconds() * self.most / 8.0);
        self.debt = (self.debt - paid).max(0.0) + bytes + OVERHEAD;
        self.sent = Some(now);
        self.possible = now + Span::from_seconds(self.debt * 8.0 / self.most).clamp(APART, APART_MOST);
        let timestamp = time::middle(time::ntp(now));
        (!streams.is_empty()).then(|| {
            Rtcp::CongestionFeedback(CongestionFeedback { sender: Ssrc::RECEIVER.number(), streams, timestamp })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn packet(feedback: &mut TransportWide, millis: u64, sequence: u16) {
        feedback.on_packet(ms(millis), sequence, Ssrc(4), Ecn::NotEct);
    }

    /// Returns messages as (base, arrival flags).
    fn reported(feedback: &mut TransportWide, millis: u64) -> Vec<(u16, Vec<bool>)> {
        let mut messages = Vec::new();
        feedback.take(ms(millis), &mut messages);
        (messages.iter())
            .map(|message| match message {
                Rtcp::TransportFeedback(one) => (one.base, one.packets.iter().map(Option::is_some).collect()),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn the_interval_is_5_percent_of_the_rate_between_50_and_250_ms() {
        let mut feedback = TransportWide::default();
        packet(&mut feedback, 0, 0);
        assert_eq!(feedback.due(), ms(100), "at first 100 ms");
        for (rate, millis) in [(0.0, 250.0), (43_520.0, 250.0), (108_800.0, 100.0), (217_600.0, 50.0), (1e9, 50.0)] {
            feedback.on_rate(rate);
            assert!((feedback.interval.millis() - millis).abs() < 0.01, "{rate} b/s: {}", feedback.interval.millis());
        }
    }

    #[test]
    fn messages_continue_where_the_last_ended_through_a_wrap() {
        let mut feedback = TransportWide::default();
        for (millis, sequence) in [(0, 65_534), (5, 65_535), (10, 1)] {
            packet(&mut feedback, millis, sequence);
        }
        packet(&mut feedback, 11, 1);
        assert_eq!(reported(&mut feedback, 100), [(65_534, vec![true, true, false, true])]);
        packet(&mut feedback, 120, 3);
        assert_eq!(reported(&mut feedback, 200), [(2, vec![false, true])]);
        assert!(reported(&mut feedback, 300).is_empty());
        assert_eq!(feedback.due(), Instant::NEVER, "nothing came");
    }

    #[test]
    fn late_packets_are_reported_with_all_later_ones() {
        let mut feedback = TransportWide::default();
        for (millis, sequence) in [(0, 10), (5, 12)] {
            packet(&mut feedback, millis, sequence);
        }
        reported(&mut feedback, 100);
        packet(&mut feedback, 110, 11);
        assert_eq!(reported(&mut feedback, 200), [(11, vec![true, true])]);
    }

    #[test]
    fn a_long_gap_takes_a_message_of_its_own() {
        let mut feedback = TransportWide::default();
        packet(&mut feedback, 0, 0);
        packet(&mut feedback, 1, 1000);
        let messages = reported(&mut feedback, 100);
        assert_eq!(messages.first().map(|(base, arrived)| (*base, arrived.len())), Some((0, 400)));
        assert_eq!(messages.last().map(|(base, arrived)| (*base, arrived.len())), Some((800, 201)));
    }

    #[test]
    fn reports_come_at_the_end_of_a_frame_or_25_ms_after_the_first_packet() {
        let mut reports = Reports::default();
        assert_eq!(reports.due(), Instant::NEVER);
        reports.on_packet(ms(100), Ssrc(4), 7, Ecn::Ce, false);
        assert_eq!(reports.due(), ms(125));
        reports.on_packet(ms(110), Ssrc(4), 9, Ecn::Ect1, true);
        assert!(reports.due() <= ms(110));
        let Some(Rtcp::CongestionFeedback(report)) = reports.take(ms(110)) else { panic!("a report") };
        let stream = report.streams.first().expect("one");
        assert_eq!((stream.ssrc, stream.base, stream.packets.len()), (4, 7, 3));
        assert_eq!(stream.packets[0].map(|one| (one.ecn, one.offset)), Some((Ecn::Ce, 10)));
        assert_eq!(stream.packets[1], None);
        reports.on_packet(ms(111), Ssrc(4), 10, Ecn::Ect1, true);
        assert_eq!(reports.due(), ms(135), "25 ms apart");
    }

    #[test]
    fn long_reports_are_further_apart() {
        let mut reports = Reports::default();
        for sequence in 0..5000 {
            reports.on_packet(ms(0), Ssrc(4), sequence, Ecn::NotEct, true);
        }
        reports.take(ms(0));
        reports.on_packet(ms(1), Ssrc(4), 5000, Ecn::NotEct, true);
        // 10 062 bytes at 500 kb/s.
        assert!((reports.due().seconds() - 0.160992).abs() < 1e-6, "{}", reports.due().seconds());
    }

    #[test]
    fn reports_take_5_percent_of_the_rate_where_250_ms_apart_allow_it() {
        for (rate, least, most) in
            [(1e6, 0.01, 0.03), (300_000.0, 0.045, 0.052), (100_000.0, 0.045, 0.052), (10_000.0, 0.05, 0.06)]
        {
            let mut reports = Reports::default();
            reports.on_rate(rate);
            // Frames of one packet with 1200 B.
            let gap = (1200.0 * 8.0 / rate * 1e3) as u64;
            let mut bytes = 0;
            let mut written = Vec::new();
            for number in 0..60_000 / gap {
                reports.on_packet(ms(number * gap), Ssrc(4), number as u16, Ecn::Ect1, true);
                while reports.due() <= ms((number + 1) * gap) {
                    let when = reports.due().max(ms(number * gap));
                    written.clear();
                    let Some(report) = reports.take(when) else { continue };
                    report.write(&mut written).expect("writes");
                    bytes += written.len() + 42;
                }
            }
            let share = bytes as f64 * 8.0 / 60.0 / rate;
            assert!((least..=most).contains(&share), "{share} of {rate} b/s");
        }
    }

    proptest! {
        #[test]
        fn random_numbers_make_messages_that_can_be_written(packets in prop::collection::vec((any::<u16>(), 0u64..300), 0..200)) {
            let (mut wide, mut reports) = (TransportWide::default(), Reports::default());
            let mut now = 0;
            let mut bytes = Vec::new();
            for (sequence, gap) in packets {
                now += gap;
                packet(&mut wide, now, sequence);
                reports.on_packet(ms(now), Ssrc(1), sequence, Ecn::NotEct, sequence % 5 == 0);
                if gap % 4 == 0 {
                    let mut messages = Vec::new();
                    wide.take(ms(now), &mut messages);
                    messages.extend(reports.take(ms(now)));
                    for message in &messages {
                        prop_assert!(message.write(&mut bytes).is_ok());
                    }
                    bytes.clear();
                }
            }
        }
    }
}
