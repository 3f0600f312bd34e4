//! Estimate of the arrival rate (libwebrtc's `robust_throughput_estimator.cc`, its default).

use std::collections::VecDeque;

use fairwave_units::units::{Instant, Span};

use super::trendline::signed_nanos;

/// The window contains at least this number of packets, and all packets of the last second.
const PACKETS: usize = 20;
const TIME: i64 = 1_000_000_000;
const MOST_PACKETS: usize = 500;
const MOST_TIME: i64 = 5_000_000_000;
/// Number of packets required for an estimate.
const REQUIRED: usize = 10;
/// If a packet arrived this much earlier than the newest one, the receiver's clock was set: 1 s, in nanoseconds.
const CLOCK_WAS_SET: i64 = 1_000_000_000;

#[derive(Clone, Copy, Debug)]
struct Arrived {
    at: Instant,
    sent: Instant,
    size: u64,
}

/// Recently arrived packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Acknowledged {
    window: VecDeque<Arrived>,
    /// Latest send time of a packet that has left the window.
    left: Option<Instant>,
    /// Bytes of all packets in the window.
    bytes: u64,
    pauses: Pauses,
    /// Number of packets in the window that were sent before the packet that arrived before them.
    overtaken: usize,
}

impl Acknowledged {
    /// Adds a packet of `size` bytes. Call [`Acknowledged::forget`] after all packets of a message.
    pub fn on_packet(&mut self, sent: Instant, arrived: Instant, size: u64) {
        let newest = self.window.back().copied();
        self.window.push_back(Arrived { at: arrived, sent, size });
        self.bytes += size;
        let Some(newest) = newest else { return };
        if arrived >= newest.at {
            self.pauses.push(signed_nanos(newest.at, arrived));
            self.overtaken += usize::from(sent < newest.sent);
            return;
        }
        if signed_nanos(arrived, newest.at) > CLOCK_WAS_SET {
            *self = Acknowledged::default();
            return;
        }
        let mut place = self.window.len() - 1;
        while place > 0 && self.window[place].at < self.window[place - 1].at {
            self.window.swap(place, place - 1);
            place -= 1;
        }
        self.pauses = Pauses::default();
        self.overtaken = 0;
        for (before, packet) in self.window.iter().zip(self.window.iter().skip(1)) {
            self.pauses.push(signed_nanos(before.at, packet.at));
            self.overtaken += usize::from(packet.sent < before.sent);
        }
    }

    /// Removes packets that the window does not need.
    pub fn forget(&mut self) {
        while let (Some(first), Some(last)) = (self.window.front().copied(), self.window.back()) {
            let time = signed_nanos(first.at, last.at);
            let count = self.window.len();
            if count <= MOST_PACKETS && time <= MOST_TIME && (count <= PACKETS || time <= TIME) {
                return;
            }
            self.left = self.left.max(Some(first.sent));
            self.bytes -= first.size;
            self.window.pop_front();
            if let Some(second) = self.window.front() {
                self.overtaken -= usize::from(second.sent < first.sent);
                self.pauses.pop();
            }
        }
    }

    /// Returns the rate in bits per second; `None` before ten packets.
    ///
    /// It is the lower of send rate and arrival rate. In the arrival rate, the longest pause counts only as much as the
    /// second longest. So a path that stops briefly does not look slow.
    pub fn rate(&self) -> Option<f64> {
        if self.window.len() < REQUIRED {
            return None;
        }
        let first = self.window.front()?;
        let last = self.window.back()?;
        let Longest(longest, second) = self.pauses.longest();
        let time = signed_nanos(first.at, last.at).saturating_sub(longest).saturating_add(second);
        let arrival = rate(self.bytes - first.size, time);
        Some(self.sent().rate().map_or(arrival, |sending| sending.min(arrival)))
    }

    fn sent(&self) -> Sent {
        let in_order = self.window.front().filter(|first| self.overtaken == 0 && self.left <= Some(first.sent));
        if let Some(first) = in_order {
            // Among packets with the same latest send time, the first to arrive counts as the last.
            let newest = self.window.back().map(|last| last.sent);
            let last = self.window.iter().rev().take_while(|packet| Some(packet.sent) == newest).last();
            let (bytes, packets) = (self.bytes, self.window.len());
            return Sent { first: Some(first.sent), last: last.copied(), bytes, packets };
        }
        let mut sent = Sent::default();
        // A packet older than one that has left the window was reordered. Its send time says nothing about the rate.
        let counted = |packet: &&Arrived| self.left.is_none_or(|left| packet.sent >= left);
        self.window.iter().filter(counted).for_each(|packet| sent.add(packet));
        sent
    }
}

/// Longest and second longest pause, nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Longest(i64, i64);

impl Longest {
    fn with(self, Longest(longest, second): Longest) -> Longest {
        if longest > self.0 { Longest(longest, second.max(self.0)) } else { Longest(self.0, longest.max(self.1)) }
    }
}

/// Queue of pauses that yields the longest ones at constant cost per operation.
#[derive(Clone, Debug, Default)]
struct Pauses {
    /// For each of the older pauses, oldest last: the longest pauses from it to the newest of the older ones.
    older: Vec<Longest>,
    newer: Vec<i64>,
    newer_longest: Longest,
}

impl Pauses {
    fn push(&mut self, pause: i64) {
        self.newer.push(pause);
        self.newer_longest = self.newer_longest.with(Longest(pause, 0));
    }

    /// Removes the oldest pause.
    fn pop(&mut self) {
        if self.older.is_empty() {
            let mut longest = Longest::default();
            self.older.extend(self.newer.drain(..).rev().map(|pause| {
                longest = longest.with(Longest(pause, 0));
                longest
            }));
            self.newer_longest = Longest::default();
        }
        self.older.pop();
    }

    fn longest(&self) -> Longest {
        self.older.last().copied().unwrap_or_default().with(self.newer_longest)
    }
}

/// Accumulator for the send rate of packets in a window.
#[derive(Default)]
struct Sent {
    first: Option<Instant>,
    last: Option<Arrived>,
    bytes: u64,
    packets: usize,
}

impl Sent {
    fn add(&mut self, packet: &Arrived) {
        if self.last.is_none_or(|last| packet.sent > last.sent) {
            self.last = Some(*packet);
        }
        self.first = Some(self.first.map_or(packet.sent, |first| first.min(packet.sent)));
        self.bytes += packet.size;
        self.packets += 1;
    }

    fn rate(&self) -> Option<f64> {
        let (first, last) = (self.first?, self.last?);
        (self.packets >= REQUIRED).then(|| rate(self.bytes - last.size, signed_nanos(first, last.sent)))
    }
}

/// Returns bits per second for `bytes` in `nanos`, at least one millisecond.
fn rate(bytes: u64, nanos: i64) -> f64 {
    bytes as f64 * 8.0 / Span::from_nanos(nanos.max(1_000_000) as u64).seconds()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// Returns a window with packets of 1000 bytes, given their send and arrival times in milliseconds.
    fn fed(packets: impl IntoIterator<Item = (u64, u64)>) -> Acknowledged {
        let mut acknowledged = Acknowledged::default();
        packets.into_iter().for_each(|(sent, arrived)| acknowledged.on_packet(ms(sent), ms(arrived), 1000));
        acknowledged.forget();
        acknowledged
    }

    #[test]
    fn a_steady_stream_gives_its_rate_after_ten_packets() {
        assert_eq!(fed((0..9).map(|n| (n * 10, 50 + n * 10))).rate(), None);
        assert_eq!(fed((0..10).map(|n| (n * 10, 50 + n * 10))).rate(), Some(800_000.0));
    }

    #[test]
    fn the_lower_of_the_rates_of_sending_and_arrival_counts() {
        assert_eq!(fed((0..20).map(|n| (n * 10, 50 + n * 20))).rate(), Some(400_000.0), "it arrives more slowly");
        assert_eq!(fed((0..20).map(|n| (n * 20, 500 + n * 10))).rate(), Some(400_000.0), "it was sent more slowly");
    }

    #[test]
    fn longest_pause_counts_as_the_second_longest() {
        let stopped = |n: u64| (n * 10, 50 + n * 10 + if n >= 10 { 300 } else { 0 });
        assert_eq!(fed((0..20).map(stopped)).rate(), Some(800_000.0));
        let twice = |n: u64| (n * 10, 50 + n * 10 + if n >= 5 { 300 } else { 0 } + if n >= 10 { 300 } else { 0 });
        let rate = fed((0..20).map(twice)).rate().expect("20 packets");
        assert!((rate - 19.0 * 8_000.0 / 0.79).abs() < 1.0, "two as long as each other both count: {rate}");
    }

    #[test]
    fn the_first_to_arrive_and_the_last_sent_are_not_counted() {
        let mut acknowledged = Acknowledged::default();
        for n in 0..10 {
            acknowledged.on_packet(ms(n * 10), ms(50 + n * 10), if n == 0 { 9000 } else { 1000 });
        }
        assert_eq!(acknowledged.rate(), Some(800_000.0), "9 × 1000 bytes in 90 ms arrived; more was sent");
        let mut acknowledged = Acknowledged::default();
        for n in 0..10 {
            acknowledged.on_packet(ms(n * 10), ms(50 + n * 10), if n == 9 { 9000 } else { 1000 });
        }
        assert_eq!(acknowledged.rate(), Some(800_000.0), "9 × 1000 bytes in 90 ms were sent; more arrived");
    }

    #[test]
    fn the_window_has_20_packets_or_a_second_at_most_500_or_five_seconds() {
        assert_eq!(fed((0..300).map(|n| (n * 10, 50 + n * 10))).window.len(), 101, "a second");
        assert_eq!(fed((0..30).map(|n| (n * 100, 50 + n * 100))).window.len(), 20, "20 packets");
        assert_eq!(fed((0..30).map(|n| (n * 1000, 50 + n * 1000))).window.len(), 6, "5 s");
        assert_eq!(fed((0..900).map(|n| (n, 50 + n))).window.len(), 500);
    }

    #[test]
    fn packets_out_of_order_are_sorted_and_a_clock_that_was_set_begins_anew() {
        let mixed = fed([0, 2, 1, 3, 5, 4, 6, 7, 8, 9].map(|n| (n * 10, 50 + n * 10)));
        assert_eq!(mixed.rate(), Some(800_000.0));
        let mut set = fed((0..20).map(|n| (n * 10, 5000 + n * 10)));
        set.on_packet(ms(200), ms(4190), 1000);
        assert!(set.rate().is_some(), "1 s before the newest");
        set.on_packet(ms(210), ms(4189), 1000);
        assert!(set.window.is_empty() && set.rate().is_none());
    }

    #[test]
    fn a_packet_older_than_one_that_left_does_not_count_as_sent() {
        let mut acknowledged = fed((0..40).map(|n| (5000 + n * 50, 6000 + n * 50)));
        acknowledged.on_packet(ms(10), ms(7960), 1000);
        let rate = acknowledged.rate().expect("enough packets");
        assert!((rate - 160_000.0).abs() < 8_000.0, "its time of sending would make it 32 kb/s: {rate}");
        // Too few packets remain for a send rate, so only the arrival rate counts.
        let mut late = Acknowledged { left: Some(ms(9000)), ..Acknowledged::default() };
        (0..10).for_each(|n| late.on_packet(ms(n * 20), ms(9050 + n * 10), 1000));
        assert_eq!(late.rate(), Some(800_000.0));
    }

    /// Like [`Acknowledged::rate`], but computed from all packets of the window.
    fn plain(acknowledged: &Acknowledged) -> Option<f64> {
        let window = &acknowledged.window;
        if window.len() < REQUIRED {
            return None;
        }
        let (first, last) = (window.front()?, window.back()?);
        let mut pauses: Vec<i64> =
            window.iter().zip(window.iter().skip(1)).map(|(a, b)| signed_nanos(a.at, b.at)).collect();
        pauses.sort_unstable();
        let time = signed_nanos(first.at, last.at) - pauses[pauses.len() - 1] + pauses[pauses.len() - 2];
        let arrival = rate(window.iter().skip(1).map(|packet| packet.size).sum(), time);
        let mut sent = Sent::default();
        window.iter().filter(|packet| acknowledged.left <= Some(packet.sent)).for_each(|packet| sent.add(packet));
        Some(sent.rate().map_or(arrival, |sending| sending.min(arrival)))
    }

    proptest! {
        #[test]
        fn incremental_rate_equals_that_of_the_window(
            packets in prop::collection::vec((0u64..12, 0u64..40, 1u64..1500, 0u64..60), 1..300),
        ) {
            let mut acknowledged = Acknowledged::default();
            let mut now = 0;
            for (place, (passed, early, size, delay)) in packets.into_iter().enumerate() {
                now += passed * 4;
                let sent = now.saturating_sub(if early > 34 { early * 10 } else { 0 });
                acknowledged.on_packet(ms(sent), ms(now + if delay > 50 { delay } else { 20 }), size);
                if place % 3 == 0 {
                    acknowledged.forget();
                }
                prop_assert_eq!(acknowledged.rate(), plain(&acknowledged));
            }
        }
    }

    #[test]
    fn packets_at_one_instant_take_a_millisecond() {
        assert_eq!(fed((0..10).map(|_| (0, 50))).rate(), Some(72_000_000.0));
    }
}
