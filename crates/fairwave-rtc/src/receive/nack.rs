//! NACK list: the packets to request again, and when (libwebrtc's `nack_requester.cc`).
//!
//! A gap is requested at once, then once per round trip; the list is processed every 20 ms. The source has histograms
//! of reordering but never fills them: it requests without waiting for reordered packets.

use std::collections::{BTreeMap, BTreeSet};

use fairwave_units::units::{Instant, Span};

/// Age limit of the list, in sequence numbers.
const OLDEST: u64 = 10_000;
/// Largest number of missing packets; with more, only a key frame helps.
const MOST: u64 = 1000;
/// Interval at which the list is processed.
pub const LOOKED_AT: Span = Span::from_millis(20);
/// Round trip before the first measurement.
const FIRST_ROUND_TRIP: Span = Span::from_millis(100);

#[derive(Clone, Copy, Debug)]
struct Missing {
    asked: u32,
    last: Instant,
}

/// Missing packets of a stream.
#[derive(Clone, Debug)]
pub struct NackList {
    retries: u32,
    round_trip: Span,
    newest: Option<u64>,
    missing: BTreeMap<u64, Missing>,
    recovered: BTreeSet<u64>,
}

/// Effect of a packet on the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Noticed {
    /// Number of earlier requests for the packet.
    pub asked: u32,
    /// True if too many packets are missing: the list has been emptied; request a key frame.
    pub key_frame: bool,
}

impl NackList {
    /// Returns an empty list that requests each packet at most `retries` times.
    pub fn new(retries: u32) -> Self {
        NackList {
            retries,
            round_trip: FIRST_ROUND_TRIP,
            newest: None,
            missing: BTreeMap::new(),
            recovered: BTreeSet::new(),
        }
    }

    /// Sets the round trip.
    pub fn set_round_trip(&mut self, round_trip: Span) {
        self.round_trip = round_trip;
    }

    /// Records a packet that arrived, or was `recovered` by FEC or a retransmission. Appends the numbers to request now
    /// to `ask`.
    pub fn on_packet(&mut self, now: Instant, number: u64, recovered: bool, ask: &mut Vec<u64>) -> Noticed {
        let Some(newest) = self.newest else {
            self.newest = Some(number);
            return Noticed::default();
        };
        if number == newest {
            return Noticed::default();
        }
        if number < newest {
            let asked = self.missing.remove(&number).map_or(0, |missing| missing.asked);
            return Noticed { asked, key_frame: false };
        }
        if recovered {
            self.recovered.insert(number);
            self.recovered = self.recovered.split_off(&number.saturating_sub(OLDEST));
            return Noticed::default();
        }
        self.newest = Some(number);
        self.forget_missing(number.saturating_sub(OLDEST));
        let gap = number - newest - 1;
        if self.missing.len() as u64 + gap > MOST {
            self.missing.clear();
            return Noticed { asked: 0, key_frame: true };
        }
        for lost in newest + 1..number {
            if !self.recovered.contains(&lost) {
                ask.push(lost);
                if self.retries > 1 {
                    self.missing.insert(lost, Missing { asked: 1, last: now });
                }
            }
        }
        Noticed::default()
    }

    /// Processes the list. Appends the packets that have not arrived within a round trip to `ask`.
    pub fn on_timer(&mut self, now: Instant, ask: &mut Vec<u64>) {
        let (round_trip, retries) = (self.round_trip, self.retries);
        self.missing.retain(|&number, missing| {
            if now.span_since(missing.last) < round_trip {
                return true;
            }
            ask.push(number);
            missing.asked += 1;
            missing.last = now;
            missing.asked < retries
        });
    }

    /// Removes all packets before `number`, with which a key frame starts.
    pub fn clear_to(&mut self, number: u64) {
        self.forget_missing(number);
        if !self.recovered.is_empty() {
            self.recovered = self.recovered.split_off(&number);
        }
    }

    /// The list is empty most of the time; the check then avoids the split.
    fn forget_missing(&mut self, before: u64) {
        if !self.missing.is_empty() {
            self.missing = self.missing.split_off(&before);
        }
    }

    /// Checks whether nothing is missing.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn packet(list: &mut NackList, millis: u64, number: u64) -> (Vec<u64>, Noticed) {
        let mut ask = Vec::new();
        let noticed = list.on_packet(ms(millis), number, false, &mut ask);
        (ask, noticed)
    }

    fn timer(list: &mut NackList, millis: u64) -> Vec<u64> {
        let mut ask = Vec::new();
        list.on_timer(ms(millis), &mut ask);
        ask
    }

    #[test]
    fn a_gap_is_asked_for_at_once_and_then_once_per_round_trip() {
        let mut list = NackList::new(100);
        packet(&mut list, 0, 100);
        assert_eq!(packet(&mut list, 0, 103).0, [101, 102]);
        assert_eq!(timer(&mut list, 99), [0; 0], "100 ms until a round trip is known");
        assert_eq!(timer(&mut list, 100), [101, 102]);
        list.set_round_trip(Span::from_millis(30));
        assert_eq!(timer(&mut list, 129), [0; 0]);
        assert_eq!(timer(&mut list, 130), [101, 102]);
        assert_eq!(packet(&mut list, 140, 102).1.asked, 3);
        assert_eq!(timer(&mut list, 170), [101]);
    }

    #[test]
    fn gives_up_after_the_configured_number_of_requests() {
        for retries in [1, 3] {
            let mut list = NackList::new(retries);
            packet(&mut list, 0, 10);
            let mut asked = packet(&mut list, 0, 12).0.len();
            asked += (1..50).map(|k| timer(&mut list, k * 100).len()).sum::<usize>();
            assert_eq!(asked as u32, retries);
            assert!(list.is_empty());
        }
    }

    #[test]
    fn recovered_packets_are_not_requested_and_move_nothing() {
        let mut list = NackList::new(100);
        packet(&mut list, 0, 10);
        let mut ask = Vec::new();
        list.on_packet(ms(0), 12, true, &mut ask);
        assert_eq!(ask, [0; 0]);
        assert_eq!(packet(&mut list, 0, 13).0, [11]);
    }

    #[test]
    fn a_thousand_missing_are_asked_for_and_one_more_needs_a_key_frame() {
        let mut list = NackList::new(100);
        packet(&mut list, 0, 10);
        let (ask, noticed) = packet(&mut list, 0, 1011);
        assert_eq!((ask.len(), noticed.key_frame), (1000, false));
        let (ask, noticed) = packet(&mut list, 0, 1013);
        assert_eq!((ask.len(), noticed.key_frame, list.is_empty()), (0, true, true));
    }

    #[test]
    fn a_key_frame_forgets_what_was_before_it_and_age_does_too() {
        let mut list = NackList::new(100);
        packet(&mut list, 0, 10);
        packet(&mut list, 0, 14);
        list.clear_to(13);
        assert_eq!(timer(&mut list, 100), [13]);
        for number in 15..10_015 {
            packet(&mut list, 100, number);
        }
        assert_eq!(timer(&mut list, 200), [0; 0]);
        assert!(list.is_empty(), "10 000 packets later");
    }

    proptest! {
        #[test]
        fn random_numbers_keep_the_list_short(numbers in prop::collection::vec((0u64..5000, any::<bool>()), 0..300)) {
            let mut list = NackList::new(100);
            for (place, (number, recovered)) in numbers.into_iter().enumerate() {
                let mut ask = Vec::new();
                list.on_packet(ms(place as u64), number, recovered, &mut ask);
                list.on_timer(ms(place as u64), &mut ask);
                prop_assert!(list.missing.len() as u64 <= MOST);
                prop_assert!(ask.iter().all(|asked| Some(*asked) < list.newest));
            }
        }
    }
}
