//! Packet arrivals of the last two seconds: libwebrtc `neteq/packet_arrival_history.cc`.
//!
//! A packet's delay is relative to the least delayed packet in the window: (arrival − its arrival) − (media time − its
//! media time). Overtaken packets are remembered, but excluded from the least and the most delayed.

use std::collections::VecDeque;

use super::SAMPLES_PER_MS;

/// Length of the window, in samples of media time.
const WINDOW: i64 = 2000 * SAMPLES_PER_MS;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Arrival {
    media: i64,
    arrived: i64,
    length: i64,
}

impl Arrival {
    const fn delay(&self) -> i64 {
        self.arrived - self.media
    }
}

/// Arrival history. Times in samples; delays in milliseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    /// Arrivals by media time.
    history: VecDeque<Arrival>,
    /// Candidates for the least delay, ascending, and for the largest delay, descending.
    least: VecDeque<Arrival>,
    most: VecDeque<Arrival>,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        Arrivals::default()
    }

    pub(super) fn clear(&mut self) {
        self.history.clear();
        self.least.clear();
        self.most.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.history.len()
    }

    /// Adds a packet. Returns false if it is too old or overlaps a remembered one.
    pub(super) fn insert(&mut self, media: i64, length: i64, now: i64) -> bool {
        let packet = Arrival { media, arrived: now, length };
        let place = self.history.partition_point(|before| before.media <= media);
        if self.is_obsolete(&packet) {
            return false;
        }
        if let Some(before) = place.checked_sub(1).and_then(|at| self.history.get(at))
            && before.media + before.length >= media + length
        {
            return false;
        }
        let newest = place == self.history.len();
        self.history.insert(place, packet);
        if !newest {
            return true;
        }
        while let Some(&oldest) = self.history.front()
            && self.is_obsolete(&oldest)
        {
            for extreme in [&mut self.least, &mut self.most] {
                if extreme.front() == Some(&oldest) {
                    extreme.pop_front();
                }
            }
            self.history.pop_front();
        }
        while self.least.back().is_some_and(|last| packet.delay() <= last.delay()) {
            self.least.pop_back();
        }
        while self.most.back().is_some_and(|last| packet.delay() >= last.delay()) {
            self.most.pop_back();
        }
        self.least.push_back(packet);
        self.most.push_back(packet);
        true
    }

    /// Returns the delay of `media` if it arrived at `now`.
    pub(super) fn delay_ms(&self, media: i64, now: i64) -> i64 {
        let Some(least) = self.least.front() else { return 0 };
        // Each time is truncated to milliseconds before the subtraction, as in libwebrtc.
        let ms = |samples: i64| samples / SAMPLES_PER_MS;
        (ms(now) - ms(least.arrived) - (ms(media) - ms(least.media))).max(0)
    }

    /// Returns the largest delay in the window.
    pub(super) fn most_delayed_ms(&self) -> i64 {
        self.most.front().map_or(0, |packet| self.delay_ms(packet.media, packet.arrived))
    }

    /// Checks whether no newer packet is remembered.
    pub(super) fn is_newest(&self, media: i64) -> bool {
        self.history.back().is_none_or(|newest| newest.media == media)
    }

    fn is_obsolete(&self, packet: &Arrival) -> bool {
        self.history.back().is_some_and(|newest| packet.media + WINDOW < newest.media)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver with a clock, in milliseconds, and the media time of a sender, which advances only with newer
    /// packets.
    struct ReceiverScript {
        arrivals: Arrivals,
        now: i64,
        media: i64,
    }

    const FRAME: i64 = 20;

    impl ReceiverScript {
        fn begin() -> Self {
            let mut story = ReceiverScript { arrivals: Arrivals::new(), now: 0, media: 1 << 20 };
            assert_eq!(story.packet(0), 0);
            story
        }

        fn wait(&mut self, ms: i64) {
            self.now += ms;
        }

        /// Receives a packet `ahead` of the newest one; returns its delay.
        fn packet(&mut self, ahead: i64) -> i64 {
            let media = self.media + ahead;
            self.media = self.media.max(media);
            assert!(self.insert(media, FRAME));
            assert_eq!(self.arrivals.is_newest(media * SAMPLES_PER_MS), ahead >= 0);
            self.arrivals.delay_ms(media * SAMPLES_PER_MS, self.now * SAMPLES_PER_MS)
        }

        fn insert(&mut self, media: i64, length: i64) -> bool {
            self.arrivals.insert(media * SAMPLES_PER_MS, length * SAMPLES_PER_MS, self.now * SAMPLES_PER_MS)
        }
    }

    #[test]
    fn delay_counts_from_the_packet_that_came_soonest() {
        // packet_arrival_history_unittest.cc, RelativeArrivalDelay.
        let mut story = ReceiverScript::begin();
        story.wait(FRAME);
        assert_eq!(story.packet(FRAME), 0);
        story.wait(2 * FRAME);
        assert_eq!(story.packet(FRAME), 20);
        assert_eq!(story.packet(-3 * FRAME), 80, "overtaken");
        story.wait(2 * FRAME);
        assert_eq!(story.packet(FRAME), 40);
        assert_eq!(story.packet(4 * FRAME), 0, "sooner than all before: from now on delays count from it");
        story.wait(2 * FRAME);
        assert_eq!(story.packet(FRAME), 20);
        assert_eq!(story.arrivals.most_delayed_ms(), 80);
    }

    #[test]
    fn packets_that_were_overtaken_set_no_measure() {
        // packet_arrival_history_unittest.cc, ReorderedPackets.
        let mut story = ReceiverScript::begin();
        assert_eq!(story.packet(-80), 80);
        assert_eq!(story.packet(-FRAME), 20);
        story.wait(4 * FRAME);
        assert_eq!(story.packet(FRAME), 60);
        assert_eq!(story.arrivals.most_delayed_ms(), 60);
    }

    #[test]
    fn forgets_arrivals_older_than_the_window() {
        // packet_arrival_history_unittest.cc, MaxHistorySize, with libwebrtc's window of 2 s.
        let mut story = ReceiverScript::begin();
        story.wait(2 * FRAME);
        assert_eq!(story.packet(FRAME), 20);
        assert_eq!(story.arrivals.most_delayed_ms(), 20);
        story.wait(2000 + FRAME);
        assert_eq!(story.packet(2000), 20, "the first is gone; the second, as old as the window, is not");
        assert_eq!((story.arrivals.len(), story.arrivals.most_delayed_ms()), (2, 20));
        story.wait(FRAME);
        assert_eq!(story.packet(FRAME), 0, "the second, which came sooner, is gone");
        assert_eq!((story.arrivals.len(), story.arrivals.most_delayed_ms()), (2, 0));
    }

    #[test]
    fn too_old_twice_or_within_another_is_not_remembered() {
        // packet_arrival_history_unittest.cc, OldPacketShouldNotBeInserted, Duplicate…, Overlapping….
        let mut story = ReceiverScript::begin();
        let first = story.media;
        assert!(!story.insert(first - 2001, FRAME));
        assert!(story.insert(first - 2000, FRAME));
        story.packet(FRAME);
        assert!(!story.insert(first, FRAME));
        assert!(!story.insert(first + FRAME / 2, FRAME / 2));
        assert!(story.insert(first + FRAME / 2, FRAME), "it reaches beyond");
    }

    #[test]
    fn delay_is_zero_without_arrivals_and_after_clearing() {
        let mut story = ReceiverScript::begin();
        story.wait(500);
        assert_eq!(story.packet(FRAME), 480);
        story.arrivals.clear();
        assert_eq!((story.arrivals.len(), story.arrivals.most_delayed_ms()), (0, 0));
        assert_eq!(story.arrivals.delay_ms(0, 8000), 0);
        assert!(story.arrivals.is_newest(5));
    }

    #[test]
    fn least_and_most_are_those_of_a_plain_search() {
        let mut story = ReceiverScript::begin();
        let mut all = vec![(story.now, story.media)];
        for i in 1..400_i64 {
            story.wait(10 + (i * 37) % 25);
            story.packet(FRAME);
            all.push((story.now, story.media));
            all.retain(|(_, media)| media + 2000 >= story.media);
            let delays: Vec<i64> = all.iter().map(|(now, media)| now - media).collect();
            let (least, most) = (delays.iter().min().expect("some"), delays.iter().max().expect("some"));
            assert_eq!(story.arrivals.most_delayed_ms(), most - least, "after {i}");
        }
    }
}
