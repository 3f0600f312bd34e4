//! Delivery rate estimation: a rate sample on every acknowledgement that delivers a segment.
//!
//! Source: draft-ietf-ccwg-bbr §4.1 (before, draft-cheng-iccrg-delivery-rate-estimation). At its last
//! transmission, each segment records the number of deliveries so far and the time of the last delivery. It also
//! records the sending time of the segment delivered then. The rate is the deliveries since then over the longer
//! one of the send and ACK intervals. So neither aggregated acknowledgements nor pauses of the sender make it too
//! high. When the application leaves the sender without data, the data in flight is a *bubble*. Samples until its
//! end are marked.
//!
//! **Assumptions.** Segments are counted, not bytes. Held segments count as delivered if the recovery records them
//! (`sack` by RFC 6675, `rack`). With other recoveries only acknowledged segments count. A segment counts as lost
//! when time-based recovery marks it, and with the other recoveries when it is retransmitted.

use super::control::{Path, RateSample};
use super::pieces::Ring;
use fairwave_units::units::{Instant, Span};

/// Record of a segment's last transmission.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct SegmentRecord {
    at: Instant,
    /// [`DeliveryRate::first_sent`] at that time.
    first_sent: Instant,
    /// [`DeliveryRate::delivered_at`] at that time.
    delivered_at: Instant,
    delivered: u64,
    lost: u64,
    in_flight: u32,
    marked: u32,
    application_limited: bool,
    again: bool,
    /// The segment is in flight.
    out: bool,
}

/// The latest-sent segment that the current acknowledgement delivers.
#[derive(Clone, Copy, Debug)]
struct NewestSegment {
    segment: u32,
    note: SegmentRecord,
}

/// Records of the segments in flight, and of deliveries.
#[derive(Debug)]
pub(super) struct DeliveryRate {
    notes: Ring<SegmentRecord>,
    /// Time of the latest delivery. While no segment is in flight, the start of the flight.
    delivered_at: Instant,
    /// Sending time of the latest delivered segment. While no segment is in flight, the start of the flight.
    first_sent: Instant,
    /// The bubble ends when more than this number has been delivered; 0 for none.
    bubble_until: u64,
    newest: Option<NewestSegment>,
    newly: u32,
}

/// Initial capacity in segments; it doubles when needed.
const FIRST_ROOM: u32 = 8;

impl DeliveryRate {
    /// Creates the state of a connection that has sent nothing.
    pub fn new() -> Self {
        DeliveryRate {
            notes: Ring::new(FIRST_ROOM),
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            bubble_until: 0,
            newest: None,
            newly: 0,
        }
    }

    /// Records the transmission of `segment`; `again` for a retransmission. `path.pipe` are in flight before it,
    /// and `una` is the first unacknowledged segment. `marked` segments have been reported as marked so far.
    pub fn sent(&mut self, now: Instant, una: u32, segment: u32, again: bool, marked: u32, path: &Path) {
        if path.pipe == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        // A delivered segment is not delivered again, although a sender that has forgotten the delivery may
        // retransmit it.
        let out = !again || self.notes.get(segment).out;
        let note = SegmentRecord {
            at: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: path.delivered,
            lost: path.lost,
            in_flight: path.pipe + 1,
            marked,
            application_limited: self.bubble_until > 0,
            again,
            out,
        };
        self.notes.put(una, segment, note);
    }

    /// Counts the segments from `first` to before `end` as delivered: acknowledged, or reported as held. Skips
    /// those delivered before.
    pub fn deliver(&mut self, now: Instant, first: u32, end: u32, path: &mut Path) {
        for segment in first..end {
            let note = self.notes.get(segment);
            if !note.out {
                continue;
            }
            self.notes.set(segment, SegmentRecord { out: false, ..note });
            path.delivered += 1;
            self.newly += 1;
            self.delivered_at = now;
            let sent_after = |newest: &NewestSegment| (note.at, segment) > (newest.note.at, newest.segment);
            if self.newest.as_ref().is_none_or(sent_after) {
                self.newest = Some(NewestSegment { segment, note });
            }
        }
    }

    /// Returns the sample for the deliveries since the previous one. `marked` segments have been reported as
    /// marked so far.
    pub fn sample(&mut self, now: Instant, marked: u32, path: &Path) -> Option<RateSample> {
        let newly_delivered = std::mem::take(&mut self.newly);
        let NewestSegment { note, .. } = self.newest.take()?;
        self.first_sent = self.first_sent.max(note.at);
        if self.bubble_until > 0 && path.delivered > self.bubble_until {
            self.bubble_until = 0;
        }
        let interval = note.at.span_since(note.first_sent).max(now.span_since(note.delivered_at));
        // Acknowledgements that arrive faster than a round trip were delayed somewhere: they do not show the rate.
        let is_long_enough = interval > Span::ZERO && (path.min_rtt == Span::MAX || interval >= path.min_rtt);
        let delivered = path.delivered - note.delivered;
        Some(RateSample {
            rate: is_long_enough.then(|| delivered as f64 / interval.seconds()),
            interval,
            prior_delivered: note.delivered,
            in_flight: note.in_flight,
            lost: (path.lost - note.lost) as u32,
            marked: marked.wrapping_sub(note.marked),
            application_limited: note.application_limited,
            rtt: if note.again { Span::MAX } else { now.span_since(note.at) },
            newly_delivered,
        })
    }

    /// The application has no data to send, and the window has room: the data in flight is a bubble.
    pub fn limited_by_application(&mut self, path: &Path) {
        self.bubble_until = (path.delivered + u64::from(path.pipe)).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// Applies a connection's changes of the path around the records.
    struct Rig {
        rate: DeliveryRate,
        path: Path,
        una: u32,
    }

    impl Rig {
        fn new() -> Rig {
            let path = Path { min_rtt: Span::from_millis(100), ..Path::new(1000) };
            Rig { rate: DeliveryRate::new(), path, una: 1 }
        }

        fn send(&mut self, millis: u64, segment: u32, again: bool) {
            self.rate.sent(ms(millis), self.una, segment, again, 0, &self.path);
            self.path.pipe += 1;
        }

        fn acknowledge(&mut self, millis: u64, next: u32) -> RateSample {
            let before = self.path.delivered;
            self.rate.deliver(ms(millis), self.una, next, &mut self.path);
            self.una = next;
            self.path.pipe -= (self.path.delivered - before) as u32;
            self.rate.sample(ms(millis), 0, &self.path).expect("something is delivered")
        }
    }

    #[test]
    fn the_rate_is_what_was_delivered_over_the_longer_of_sending_and_acknowledging() {
        // Ten segments, one per 10 ms; acknowledged one per 20 ms from 100 ms on.
        let mut rig = Rig::new();
        for n in 0..10 {
            rig.send(u64::from(n) * 10, n + 1, false);
        }
        let first = rig.acknowledge(100, 2);
        assert_eq!((first.rate, first.interval), (Some(10.0), Span::from_millis(100)), "one segment in a round trip");
        for n in 1..9 {
            rig.acknowledge(100 + u64::from(n) * 20, n + 2);
        }
        rig.send(270, 11, false);
        let last = rig.acknowledge(280, 11);
        assert_eq!((last.prior_delivered, last.newly_delivered, last.in_flight), (0, 1, 10));
        assert_eq!(last.rtt, Span::from_millis(190));
        // Segment 11: ten delivered when it left, the ninth 10 ms before.
        let next = rig.acknowledge(370, 12);
        assert_eq!((next.prior_delivered, next.interval), (9, Span::from_millis(190)), "sending took longer");
        assert!((next.rate.expect("a rate") - 2.0 / 0.19).abs() < 1e-9, "{next:?}");
    }

    #[test]
    fn acknowledgements_that_come_in_a_bunch_do_not_raise_the_rate() {
        // A segment per 10 ms without end. Segments due from 200 to 300 ms arrive at 300 ms.
        let mut rig = Rig::new();
        let mut rates = Vec::new();
        for n in 0..60u32 {
            let millis = u64::from(n) * 10;
            if millis >= 100 && !(200..300).contains(&millis) {
                rates.push(rig.acknowledge(millis, n - 8).rate.expect("a rate"));
            }
            rig.send(millis, n + 1, false);
        }
        assert!(rates.iter().all(|&rate| rate <= 110.0), "{rates:?}");
        assert!(rates.last().is_some_and(|rate| (rate - 100.0).abs() < 11.0), "{rates:?}");
    }

    #[test]
    fn held_segments_are_delivered_once_and_the_newest_gives_the_sample() {
        let mut rig = Rig::new();
        for segment in 1..=5 {
            rig.send(u64::from(segment), segment, false);
        }
        rig.rate.deliver(ms(103), 3, 5, &mut rig.path);
        assert_eq!(rig.path.delivered, 2);
        let sample = rig.rate.sample(ms(103), 0, &rig.path).expect("two");
        assert_eq!((sample.newly_delivered, sample.rtt), (2, Span::from_millis(99)), "of segment 4");
        assert!(rig.rate.sample(ms(104), 0, &rig.path).is_none(), "nothing new");
        rig.send(110, 1, true);
        rig.rate.deliver(ms(210), 1, 6, &mut rig.path);
        assert_eq!(rig.path.delivered, 5, "3 and 4 have been counted");
        let sample = rig.rate.sample(ms(210), 0, &rig.path).expect("three");
        assert_eq!((sample.newly_delivered, sample.rtt), (3, Span::MAX), "segment 1 was sent last, and twice");
    }

    #[test]
    fn delivered_segments_do_not_count_twice() {
        let mut rig = Rig::new();
        rig.send(0, 1, false);
        rig.send(0, 2, false);
        rig.rate.deliver(ms(100), 2, 3, &mut rig.path);
        rig.send(200, 1, true);
        rig.send(200, 2, true);
        rig.rate.deliver(ms(300), 1, 3, &mut rig.path);
        assert_eq!(rig.path.delivered, 2);
    }

    #[test]
    fn an_interval_shorter_than_the_shortest_round_trip_says_nothing() {
        let mut rig = Rig::new();
        rig.send(0, 1, false);
        let sample = rig.acknowledge(60, 2);
        assert!(sample.rate.is_none() && sample.newly_delivered == 1);
    }

    #[test]
    fn samples_are_limited_by_the_application_until_the_bubble_has_been_delivered() {
        let mut rig = Rig::new();
        rig.send(0, 1, false);
        rig.rate.limited_by_application(&rig.path);
        rig.send(1, 2, false);
        rig.send(2, 3, false);
        assert!(!rig.acknowledge(100, 2).application_limited, "sent before");
        assert!(rig.acknowledge(101, 3).application_limited);
        // More than the one segment in flight has been delivered: later segments are not limited by it.
        rig.send(102, 4, false);
        assert!(rig.acknowledge(103, 4).application_limited);
        assert!(!rig.acknowledge(202, 5).application_limited);
    }

    #[test]
    fn losses_and_marks_are_counted_from_the_sending_on() {
        let mut rig = Rig::new();
        rig.path.lost = 7;
        rig.rate.sent(ms(0), 1, 1, false, 40, &rig.path);
        rig.path.lost = 9;
        rig.rate.deliver(ms(100), 1, 2, &mut rig.path);
        let sample = rig.rate.sample(ms(100), 43, &rig.path).expect("one");
        assert_eq!((sample.lost, sample.marked), (2, 3));
    }

    #[test]
    fn interval_begins_with_the_new_flight_after_a_pause() {
        let mut rig = Rig::new();
        rig.send(0, 1, false);
        rig.acknowledge(100, 2);
        rig.send(5000, 2, false);
        assert_eq!(rig.acknowledge(5100, 3).interval, Span::from_millis(100));
    }
}
