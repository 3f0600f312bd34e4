//! Reception state of an RTP stream: unwrapped numbers, losses and jitter (RFC 3550 A.1, A.3, A.8).
//!
//! Only packets in order with a new timestamp count for jitter, as in libwebrtc's `receive_statistics_impl.cc`. Further
//! parts of a frame, repetitions of a telephone event (RFC 4733 §2.5.1.2) and late packets do not count. Silence needs
//! no special rule, because the timestamp advances with the clock.

use fairwave_endpoint::serial::ReplayWindow;
use fairwave_units::units::Instant;

/// Differences above 5 s at 90 kHz are a new clock, not jitter (`receive_statistics_impl.cc`).
const LARGEST_DIFFERENCE: f64 = 450_000.0;

/// Returns the number nearest to `near` with the lower 16 bits `low`; never below zero.
pub fn unwrap16(near: u64, low: u16) -> u64 {
    let ahead = low.wrapping_sub(near as u16) as i16;
    near.checked_add_signed(i64::from(ahead)).unwrap_or(u64::from(low))
}

/// Converter of 16-bit numbers to numbers without wraps. The first result is 2¹⁶ above its value, so that earlier
/// numbers stay positive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unwrapper(Option<u64>);

impl Unwrapper {
    /// Returns the unwrapped number of `low`, nearest to the highest so far.
    pub fn unwrap(&mut self, low: u16) -> u64 {
        let Some(highest) = self.0 else {
            let first = 0x1_0000 + u64::from(low);
            self.0 = Some(first);
            return first;
        };
        let number = unwrap16(highest, low);
        self.0 = Some(highest.max(number));
        number
    }
}

/// Statistics for a receiver report, since the previous one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// Fraction lost, in 1/256.
    pub fraction_lost: u8,
    /// Packets lost so far; negative if duplicates outnumber losses.
    pub lost: i64,
    /// Highest sequence number, with its cycles.
    pub highest: u32,
}

/// Reception state of one stream.
#[derive(Clone, Debug)]
pub struct Reception {
    clock: f64,
    numbers: Unwrapper,
    first: Option<u64>,
    highest: u64,
    received: u64,
    duplicates: u64,
    seen: ReplayWindow<64>,
    expected_before: u64,
    received_before: u64,
    last: Option<(Instant, u32)>,
    jitter: f64,
}

impl Reception {
    /// Returns the state of a stream with `clock` ticks per second.
    pub fn new(clock: u32) -> Self {
        Reception {
            clock: f64::from(clock),
            numbers: Unwrapper::default(),
            first: None,
            highest: 0,
            received: 0,
            duplicates: 0,
            seen: ReplayWindow::default(),
            expected_before: 0,
            received_before: 0,
            last: None,
            jitter: 0.0,
        }
    }

    /// Records a packet. Returns its unwrapped number, and whether it is the first with this number.
    pub fn on_packet(&mut self, now: Instant, sequence: u16, timestamp: u32) -> (u64, bool) {
        let number = self.numbers.unwrap(sequence);
        self.received += 1;
        let new = self.seen.is_new(number);
        self.duplicates += u64::from(!new);
        let in_order = self.first.is_none() || number > self.highest;
        // A packet from before the first arrival extends the range of expected packets.
        self.first = Some(self.first.map_or(number, |first| first.min(number)));
        self.highest = self.highest.max(number);
        if in_order {
            if let Some((arrived, before)) = self.last
                && timestamp != before
            {
                let ticks = f64::from(timestamp.wrapping_sub(before) as i32);
                let difference = (now.span_since(arrived).seconds() * self.clock - ticks).abs();
                if difference < LARGEST_DIFFERENCE {
                    self.jitter += (difference - self.jitter) / 16.0;
                }
            }
            if self.last.is_none_or(|(_, before)| before != timestamp) {
                self.last = Some((now, timestamp));
            }
        }
        (number, new)
    }

    /// Packets expected, from the first to the highest number.
    pub fn expected(&self) -> u64 {
        self.first.map_or(0, |first| self.highest - first + 1)
    }

    /// Packets received, including duplicates.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Duplicates.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Expected minus received packets.
    pub fn lost(&self) -> i64 {
        self.expected() as i64 - self.received as i64
    }

    /// Interarrival jitter, seconds.
    pub fn jitter(&self) -> f64 {
        self.jitter / self.clock
    }

    /// Interarrival jitter, ticks of the stream's clock.
    pub fn jitter_ticks(&self) -> u32 {
        self.jitter as u32
    }

    /// Closes the interval of a report (A.3); `None` before the first packet.
    pub fn report(&mut self) -> Option<Interval> {
        self.first?;
        let expected = self.expected();
        let expected_now = expected - self.expected_before;
        let received_now = self.received - self.received_before;
        self.expected_before = expected;
        self.received_before = self.received;
        let lost = expected_now.saturating_sub(received_now);
        let fraction_lost = (lost * 256).checked_div(expected_now).unwrap_or(0).min(255) as u8;
        Some(Interval { fraction_lost, lost: self.lost(), highest: self.highest as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::units::Span;
    use proptest::prelude::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn numbers_pass_the_wrap_and_late_ones_are_no_wrap() {
        let mut numbers = Unwrapper::default();
        let first = numbers.unwrap(65_534);
        let found: Vec<i64> = [65_535, 1, 0, 65_533, 2].map(|low| numbers.unwrap(low) as i64 - first as i64).to_vec();
        assert_eq!(found, [1, 3, 2, -1, 4]);
        assert_eq!(unwrap16(0, 65_535), 65_535, "never below zero");
        assert_eq!(unwrap16(65_536, 32_768), 32_768, "half a range is behind");
    }

    #[test]
    fn duplicates_make_losses_negative_which_is_legal() {
        let mut stream = Reception::new(90_000);
        for sequence in [7, 8, 8, 8] {
            stream.on_packet(ms(0), sequence, 0);
        }
        assert_eq!((stream.expected(), stream.lost(), stream.duplicates()), (2, -2, 2));
        let report = stream.report().expect("a report");
        assert_eq!((report.fraction_lost, report.lost), (0, -2), "A.3: a negative share is 0");
    }

    #[test]
    fn a_report_is_of_its_interval_and_the_count_is_cumulative() {
        let mut stream = Reception::new(90_000);
        assert_eq!(stream.report(), None);
        for sequence in [0, 1, 3] {
            stream.on_packet(ms(0), sequence, 0);
        }
        let report = stream.report().expect("a report");
        assert_eq!((report.fraction_lost, report.lost, report.highest), (64, 1, 0x1_0003));
        stream.on_packet(ms(0), 4, 0);
        assert_eq!(stream.report().map(|report| (report.fraction_lost, report.lost)), Some((0, 1)));
        assert_eq!(stream.report().map(|report| report.fraction_lost), Some(0), "nothing expected");
    }

    #[test]
    fn packets_before_the_first_arrival_were_expected_too() {
        let mut stream = Reception::new(48_000);
        for sequence in [10, 9, 11] {
            stream.on_packet(ms(0), sequence, 0);
        }
        assert_eq!((stream.expected(), stream.lost()), (3, 0));
    }

    /// Returns the jitter in ms of packets given as (arrival in ms, sequence number, timestamp in ticks of 48 kHz).
    fn jitter(packets: &[(u64, u16, u32)]) -> f64 {
        let mut stream = Reception::new(48_000);
        for &(arrived, sequence, timestamp) in packets {
            stream.on_packet(ms(arrived), sequence, timestamp);
        }
        stream.jitter() * 1e3
    }

    #[test]
    fn jitter_is_a_sixteenth_of_each_difference_in_seconds() {
        assert!((jitter(&[(0, 0, 0), (20, 1, 960), (56, 2, 1920)]) - 1.0).abs() < 1e-9);
        assert!((jitter(&[(0, 0, 0), (36, 1, 960), (56, 2, 1920)]) - 0.9375).abs() < 1e-9);
    }

    #[test]
    fn evenly_spaced_packets_have_no_jitter_through_wraps_and_silence() {
        assert_eq!(jitter(&[(0, 65_535, u32::MAX - 959), (20, 0, 0), (40, 1, 960)]), 0.0);
        assert_eq!(jitter(&[(0, 0, 0), (20, 1, 960), (400, 2, 19_200), (420, 3, 20_160)]), 0.0, "DTX");
    }

    #[test]
    fn parts_of_a_frame_telephone_events_and_late_packets_do_not_count() {
        assert_eq!(jitter(&[(0, 0, 0), (9, 1, 0), (20, 2, 960)]), 0.0, "the same timestamp");
        assert_eq!(jitter(&[(0, 0, 0), (50, 1, 0), (100, 2, 0), (150, 3, 7200)]), 0.0, "an event of 150 ms");
        assert_eq!(jitter(&[(0, 0, 0), (40, 2, 1920), (41, 1, 960), (60, 3, 2880)]), 0.0, "reordered");
    }

    #[test]
    fn a_new_clock_is_no_jitter() {
        assert_eq!(jitter(&[(0, 0, 0), (20, 1, 3_000_000_000), (40, 2, 3_000_000_960)]), 0.0);
    }

    proptest! {
        #[test]
        fn random_numbers_are_counted_once(packets in prop::collection::vec((any::<u16>(), any::<u32>(), 0u64..50), 0..300)) {
            let mut stream = Reception::new(90_000);
            let mut now = 0;
            for (sequence, timestamp, gap) in &packets {
                now += gap;
                stream.on_packet(ms(now), *sequence, *timestamp);
                prop_assert!(stream.jitter() >= 0.0 && stream.jitter().is_finite());
                stream.report();
            }
            prop_assert_eq!(stream.received(), packets.len() as u64);
            prop_assert_eq!(stream.expected() as i64, stream.received() as i64 + stream.lost());
        }
    }
}
