//! Loss detection from the order of arrivals, for all receivers that report losses.

use fairwave_units::units::{Instant, Span};

/// An arrival: unwrapped sequence number and time.
pub type Arrival = (u64, Instant);

/// Packets missing between two arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The last arrival before the gap.
    pub before: Arrival,
    /// The first arrival after it.
    pub after: Arrival,
}

impl Gap {
    /// The interpolated arrival time of the lost packet `sequence` (§5.2, T_loss).
    pub fn time_of(&self, sequence: u64) -> Instant {
        let width = u128::from(self.after.0 - self.before.0).max(1);
        let along = u128::from(sequence.saturating_sub(self.before.0));
        let span = u128::from((self.after.1 - self.before.1).nanos());
        self.before.1 + Span::from_nanos((span * along / width) as u64)
    }

    /// The first packet of the gap whose interpolated arrival time is after `limit`.
    pub fn first_later_than(&self, limit: Instant) -> Option<u64> {
        let first = self.before.0 + 1;
        if self.time_of(first) > limit {
            return Some(first);
        }
        let (mut low, mut high) = (first, self.after.0);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.time_of(middle) > limit { high = middle } else { low = middle }
        }
        (high < self.after.0).then_some(high)
    }
}

/// The largest number of later arrivals that a detector can wait for.
pub const MOST_LATER_ARRIVALS: usize = 8;

/// Finds gaps in the order of arrivals. A packet is lost when `later` packets with higher sequence numbers have
/// arrived. Reordering by fewer places is not a loss.
#[derive(Clone, Debug)]
pub struct LossDetector {
    later: usize,
    first: u64,
    /// All packets up to this one have arrived or are lost.
    settled: Option<Arrival>,
    /// Later arrivals, ascending; always fewer than `later` between calls.
    pending: [Option<Arrival>; MOST_LATER_ARRIVALS],
}

impl LossDetector {
    /// Creates a detector that waits for `later` arrivals, from 1 (every packet out of order is a loss) to 8.
    pub fn new(later: usize) -> Self {
        LossDetector {
            later: later.clamp(1, MOST_LATER_ARRIVALS),
            first: 0,
            settled: None,
            pending: Default::default(),
        }
    }

    /// True for a packet that counted as lost, if it has not arrived before.
    pub fn gave_up(&self, sequence: u64) -> bool {
        sequence >= self.first && self.settled.is_some_and(|(settled, _)| sequence < settled)
    }

    /// Records an arrival (not a duplicate). Returns the gap that is now known to be lost.
    pub fn on_arrival(&mut self, sequence: u64, now: Instant) -> Option<Gap> {
        let settled = *self.settled.get_or_insert_with(|| {
            self.first = sequence;
            (sequence, now)
        });
        if sequence <= settled.0 {
            return None;
        }
        let mut arrival = Some((sequence, now));
        for place in &mut self.pending {
            let sorts_before = match (&arrival, &place) {
                (Some(a), Some(p)) => a.0 < p.0,
                (Some(_), None) => true,
                (None, _) => false,
            };
            if sorts_before {
                std::mem::swap(place, &mut arrival);
            }
        }
        let mut found = None;
        // The lowest pending arrival is settled when enough packets above the gap have arrived (itself included),
        // or when there is no gap.
        while let Some(lowest) = self.pending[0] {
            let before = self.settled.unwrap_or(lowest);
            let gap = lowest.0 > before.0 + 1;
            if gap && self.pending[self.later - 1].is_none() {
                break;
            }
            if gap {
                found = Some(Gap { before, after: lowest });
            }
            self.settled = Some(lowest);
            self.pending.rotate_left(1);
            self.pending[MOST_LATER_ARRIVALS - 1] = None;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn rfc_5348_section_5_1_a_packet_is_lost_when_three_later_ones_have_arrived() {
        let mut detector = LossDetector::new(3);
        assert_eq!([0, 2, 3].map(|s| detector.on_arrival(s, ms(s))), [None; 3]);
        assert_eq!(detector.on_arrival(4, ms(4)), Some(Gap { before: (0, ms(0)), after: (2, ms(2)) }));
    }

    #[test]
    fn rfc_5348_section_5_1_reordering_by_two_packets_is_no_loss() {
        let mut detector = LossDetector::new(3);
        let found = [0, 2, 3, 1, 4, 5, 6].map(|s| detector.on_arrival(s, ms(s)));
        assert_eq!(found, [None; 7]);
    }

    #[test]
    fn rfc_5348_section_5_2_a_lost_packets_time_lies_between_its_neighbours_in_proportion() {
        let gap = Gap { before: (10, ms(100)), after: (20, ms(200)) };
        assert_eq!([10, 11, 15, 20].map(|sequence| gap.time_of(sequence)), [100, 110, 150, 200].map(ms));
        assert_eq!(
            [105, 110, 145, 189, 190, 300].map(|time| gap.first_later_than(ms(time))),
            [Some(11), Some(12), Some(15), Some(19), None, None]
        );
        let single = Gap { before: (10, ms(100)), after: (12, ms(200)) };
        assert_eq!([149, 150].map(|time| single.first_later_than(ms(time))), [Some(11), None]);
    }

    #[test]
    fn gave_up_lists_all_losses_between_the_first_and_the_last_settled_packet() {
        let mut detector = LossDetector::new(1);
        assert!(!detector.gave_up(0));
        for sequence in [5, 6, 9] {
            detector.on_arrival(sequence, ms(sequence));
        }
        assert_eq!([4, 5, 8, 9, 10].map(|sequence| detector.gave_up(sequence)), [false, true, true, false, false]);
    }

    #[test]
    fn a_detector_that_waits_for_one_takes_any_jump_for_a_loss() {
        let mut detector = LossDetector::new(1);
        assert_eq!(detector.on_arrival(0, ms(0)), None);
        assert_eq!(detector.on_arrival(2, ms(2)), Some(Gap { before: (0, ms(0)), after: (2, ms(2)) }));
        assert_eq!(detector.on_arrival(1, ms(3)), None);
    }

    proptest! {
        /// The slow reference keeps every arrival and scans all of them each time.
        #[test]
        fn the_detector_finds_what_counting_later_arrivals_finds(
                keys in prop::collection::vec((0u32..100, 0u32..5), 4..120), wait in 1usize..=8,
            ) {
            // An ordered sequence: some packets are missing, others are displaced by up to four places.
            let mut order: Vec<(u64, u64)> = keys.iter().enumerate().skip(1).filter(|(_, (lost, _))| *lost > 15)
                .map(|(s, (_, shift))| (s as u64 + u64::from(*shift), s as u64)).collect();
            order.sort_unstable();
            order.insert(0, (0, 0));
            let (mut detector, mut lost) = (LossDetector::new(wait), Vec::new());
            let (mut seen, mut expected) = (Vec::<u64>::new(), Vec::<u64>::new());
            for (_, sequence) in order {
                if let Some(gap) = detector.on_arrival(sequence, ms(0)) {
                    lost.extend(gap.before.0 + 1..gap.after.0);
                }
                seen.push(sequence);
                for candidate in 1..keys.len() as u64 {
                    let later = seen.iter().filter(|&&s| s > candidate).count();
                    if later >= wait && !seen.contains(&candidate) && !expected.contains(&candidate) {
                        expected.push(candidate);
                    }
                }
            }
            lost.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(lost, expected);
        }
    }
}
