//! Sequence numbers and timestamps that wrap (RFC 1982). The receiver of a number knows its approximate value, and
//! so recovers the number without wrapping.

/// Returns the number nearest to `near` whose lower 32 bits are `low`; never below zero.
pub fn unwrap(near: u64, low: u32) -> u64 {
    let ahead = low.wrapping_sub(near as u32);
    if ahead < 1 << 31 {
        return near.saturating_add(u64::from(ahead));
    }
    let behind = (near as u32).wrapping_sub(low);
    near.checked_sub(u64::from(behind)).unwrap_or(u64::from(low))
}

/// Records the sequence numbers seen among the latest 64 · `WORDS`, to distinguish duplicates from late packets
/// (the sliding window of RFC 4303 §3.4.3).
#[derive(Clone, Debug)]
pub struct ReplayWindow<const WORDS: usize = 2> {
    /// One past the highest number seen.
    next: u64,
    /// Bit `s mod LENGTH`: of the latest `LENGTH` numbers, `s` was seen.
    seen: [u64; WORDS],
}

impl<const WORDS: usize> Default for ReplayWindow<WORDS> {
    fn default() -> Self {
        ReplayWindow { next: 0, seen: [0; WORDS] }
    }
}

impl<const WORDS: usize> ReplayWindow<WORDS> {
    /// A packet that is further behind the highest number does not count as new.
    pub const LENGTH: u64 = 64 * WORDS as u64;

    /// The word and the bit of a number. Every number has a position.
    fn place(&mut self, sequence: u64) -> (Option<&mut u64>, u64) {
        let word = (sequence % Self::LENGTH / 64) as usize;
        (self.seen.get_mut(word), 1 << (sequence % 64))
    }

    /// True the first time that `sequence` is seen. False for duplicates and for numbers that are too old.
    pub fn is_new(&mut self, sequence: u64) -> bool {
        if sequence >= self.next {
            if sequence - self.next >= Self::LENGTH {
                self.seen = [0; WORDS];
            } else {
                for skipped in self.next..sequence {
                    if let (Some(word), bit) = self.place(skipped) {
                        *word &= !bit;
                    }
                }
            }
            self.next = sequence.saturating_add(1);
            if let (Some(word), bit) = self.place(sequence) {
                *word |= bit;
            }
            return true;
        }
        if self.next - sequence > Self::LENGTH {
            return false;
        }
        let (Some(word), bit) = self.place(sequence) else { return false };
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// The highest number seen.
    pub fn highest(&self) -> Option<u64> {
        self.next.checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_sequence_goes_on_past_the_wrap() {
        assert_eq!(unwrap(u64::from(u32::MAX), 3), (1 << 32) + 3);
        assert_eq!(unwrap((1 << 32) + 3, u32::MAX), u64::from(u32::MAX));
        assert_eq!(unwrap(0, u32::MAX), u64::from(u32::MAX));
    }

    #[test]
    fn a_number_is_new_once_as_far_back_as_the_window_is_long() {
        let mut window = ReplayWindow::<2>::default();
        assert_eq!(window.highest(), None);
        assert!(window.is_new(1000) && !window.is_new(1000));
        assert!(window.is_new(873) && !window.is_new(873) && !window.is_new(872));
        assert!(window.is_new(1000 + 128) && !window.is_new(1000), "a jump of its length forgets all");
        assert_eq!(window.highest(), Some(1128));
    }

    #[test]
    fn the_place_of_a_number_that_is_passed_over_is_free_again() {
        let mut window = ReplayWindow::<1>::default();
        (0..64).for_each(|sequence| assert!(window.is_new(sequence)));
        assert!(window.is_new(70) && window.is_new(65), "64 to 69 have the places of 0 to 5");
    }

    proptest! {
        #[test]
        fn unwrapping_recovers_a_number_near_the_reference(near in 0u64..1 << 40, offset in -(1i64 << 30)..1 << 30) {
            let truth = near.saturating_add_signed(offset);
            prop_assert_eq!(unwrap(near, truth as u32), truth);
        }

        #[test]
        fn the_window_agrees_with_a_set_that_forgets_nothing(sequences in prop::collection::vec(0u64..300, 0..400)) {
            let (mut window, mut long, mut set) = (ReplayWindow::<1>::default(), ReplayWindow::<3>::default(), BTreeSet::new());
            for sequence in sequences {
                let too_old = |length: u64| set.last().is_some_and(|&high: &u64| high >= sequence + length);
                let (too_old_for_one, too_old_for_three) = (too_old(64), too_old(192));
                let first = set.insert(sequence);
                prop_assert_eq!(window.is_new(sequence), first && !too_old_for_one);
                prop_assert_eq!(long.is_new(sequence), first && !too_old_for_three);
                prop_assert_eq!(long.highest(), set.last().copied());
            }
        }
    }
}
