//! The rate at which packets arrive (libwebrtc's `robust_throughput_estimator.cc`, its default).

use std::collections::VecDeque;

use fairwave_units::units::{Instant, Span};

use super::trendline::between;

/// The window has at least so many packets, and at least those of the last second.
const PACKETS: usize = 20;
const TIME: i64 = 1_000_000_000;
const MOST_PACKETS: usize = 500;
const MOST_TIME: i64 = 5_000_000_000;
/// No estimate from fewer packets.
const REQUIRED: usize = 10;
/// A packet that arrived longer before the newest means that the receiver's clock was set: 1 s.
const CLOCK_WAS_SET: i64 = 1_000_000_000;

#[derive(Clone, Copy, Debug)]
struct Arrived {
    at: Instant,
    sent: Instant,
    size: u64,
}

/// What arrived of late.
#[derive(Clone, Debug, Default)]
pub(super) struct Acknowledged {
    window: VecDeque<Arrived>,
    /// When the newest of the packets was sent that left the window.
    left: Option<Instant>,
}

impl Acknowledged {
    /// A packet of `size` bytes has arrived. After the packets of a message call [`Acknowledged::forget`].
    pub fn on_packet(&mut self, sent: Instant, arrived: Instant, size: u64) {
        self.window.push_back(Arrived { at: arrived, sent, size });
        let mut place = self.window.len() - 1;
        while place > 0 && self.window[place].at < self.window[place - 1].at {
            self.window.swap(place, place - 1);
            place -= 1;
        }
        if self.window.back().is_some_and(|newest| between(arrived, newest.at) > CLOCK_WAS_SET) {
            self.window.clear();
            self.left = None;
        }
    }

    /// Packets leave that the window does not need.
    pub fn forget(&mut self) {
        while let (Some(first), Some(last)) = (self.window.front(), self.window.back()) {
            let time = between(first.at, last.at);
            let count = self.window.len();
            if count <= MOST_PACKETS && time <= MOST_TIME && (count <= PACKETS || time <= TIME) {
                return;
            }
            self.left = self.left.max(Some(first.sent));
            self.window.pop_front();
        }
    }

    /// Bits per second; none before ten packets.
    ///
    /// It is the lower of the rates of sending and of arrival. For arrival the longest pause counts as long as the second
    /// longest, so a path that stops for a moment does not seem slow.
    pub fn rate(&self) -> Option<f64> {
        if self.window.len() < REQUIRED {
            return None;
        }
        let first = self.window.front()?;
        let last = self.window.back()?;
        let (mut longest, mut second) = (0, 0);
        let mut before = first.at;
        let mut bytes = 0;
        let mut sent = Sent::default();
        for packet in &self.window {
            let pause = between(before, packet.at);
            if pause > longest {
                second = longest;
                longest = pause;
            } else if pause > second {
                second = pause;
            }
            before = packet.at;
            bytes += packet.size;
            // A packet older than one that left was reordered; its time of sending says nothing about the rate.
            if self.left.is_none_or(|left| packet.sent >= left) {
                sent.add(packet);
            }
        }
        let time = between(first.at, last.at).saturating_sub(longest).saturating_add(second);
        let arrival = rate(bytes - first.size, time);
        Some(sent.rate().map_or(arrival, |sending| sending.min(arrival)))
    }
}

/// The rate of sending of packets in a window.
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
        (self.packets >= REQUIRED).then(|| rate(self.bytes - last.size, between(first, last.sent)))
    }
}

/// Bits per second of bytes in nanoseconds, of which there is at least a millisecond.
fn rate(bytes: u64, nanos: i64) -> f64 {
    bytes as f64 * 8.0 / Span::from_nanos(nanos.max(1_000_000) as u64).seconds()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// Packets of 1000 bytes, each sent and arrived at these milliseconds.
    fn fed(packets: impl IntoIterator<Item = (u64, u64)>) -> Acknowledged {
        let mut acknowledged = Acknowledged::default();
        packets.into_iter().for_each(|(sent, arrived)| acknowledged.on_packet(at(sent), at(arrived), 1000));
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
    fn one_long_pause_counts_as_the_second_longest() {
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
            acknowledged.on_packet(at(n * 10), at(50 + n * 10), if n == 0 { 9000 } else { 1000 });
        }
        assert_eq!(acknowledged.rate(), Some(800_000.0), "9 × 1000 bytes in 90 ms arrived; more was sent");
        let mut acknowledged = Acknowledged::default();
        for n in 0..10 {
            acknowledged.on_packet(at(n * 10), at(50 + n * 10), if n == 9 { 9000 } else { 1000 });
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
        set.on_packet(at(200), at(4190), 1000);
        assert!(set.rate().is_some(), "1 s before the newest");
        set.on_packet(at(210), at(4189), 1000);
        assert!(set.window.is_empty() && set.rate().is_none());
    }

    #[test]
    fn a_packet_older_than_one_that_left_does_not_count_as_sent() {
        let mut acknowledged = fed((0..40).map(|n| (5000 + n * 50, 6000 + n * 50)));
        acknowledged.on_packet(at(10), at(7960), 1000);
        let rate = acknowledged.rate().expect("enough packets");
        assert!((rate - 160_000.0).abs() < 8_000.0, "its time of sending would make it 32 kb/s: {rate}");
        // Too few are left to know the rate of sending: arrival alone counts.
        let mut late = Acknowledged { left: Some(at(9000)), ..Acknowledged::default() };
        (0..10).for_each(|n| late.on_packet(at(n * 20), at(9050 + n * 10), 1000));
        assert_eq!(late.rate(), Some(800_000.0));
    }

    #[test]
    fn packets_at_one_instant_take_a_millisecond() {
        assert_eq!(fed((0..10).map(|_| (0, 50))).rate(), Some(72_000_000.0));
    }
}
