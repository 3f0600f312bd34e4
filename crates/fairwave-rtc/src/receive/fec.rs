//! FEC receiver: XOR masks (RFC 8627, RFC 5109). An FEC packet restores a packet of its mask if exactly one is missing.
//! A restored packet may let another FEC packet restore one more.

use std::collections::VecDeque;

/// Largest number of FEC packets that wait for protected packets (`forward_error_correction.cc`: 24 for ULPFEC, 30 for
/// FlexFEC).
const WAITING: usize = 30;
/// Number of media packets remembered.
const REMEMBERED: u64 = 1024;

/// Words of the bit ring: its bits are a power of two, twice the remembered numbers.
const WORDS: u64 = 2 * REMEMBERED / 64;

/// Waiting FEC packets, and the media packets that are present.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    /// One bit per number up to the newest, in a ring.
    there: [u64; WORDS as usize],
    newest: u64,
    waiting: VecDeque<(u64, u64)>,
    /// FEC packets that restored nothing and never will.
    pub useless: u64,
}

impl Recovery {
    /// Records a media packet. Appends the numbers of packets that this restores to `restored`.
    pub fn on_media(&mut self, number: u64, restored: &mut Vec<u64>) {
        self.remember(number);
        if !self.waiting.is_empty() {
            self.work(restored);
        }
    }

    /// Adds an FEC packet that protects `base + i` for each bit i of `mask`.
    pub fn on_protection(&mut self, base: u64, mask: u64, restored: &mut Vec<u64>) {
        if mask == 0 || base + REMEMBERED < self.newest {
            self.useless += 1;
            return;
        }
        self.waiting.push_back((base, mask));
        if self.waiting.len() > WAITING {
            self.waiting.pop_front();
            self.useless += 1;
        }
        self.work(restored);
    }

    /// Returns the word of a number, and its bit in the word.
    fn place(number: u64) -> (usize, u64) {
        ((number / 64 % WORDS) as usize, 1 << (number % 64))
    }

    fn is_there(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        let known = number <= self.newest && number + REMEMBERED >= self.newest;
        known && self.there.get(word).is_some_and(|bits| bits & bit != 0)
    }

    fn remember(&mut self, number: u64) {
        if number + REMEMBERED < self.newest {
            return;
        }
        if number > self.newest {
            // Bits of numbers in between are old.
            if number - self.newest >= WORDS * 64 {
                self.there = Default::default();
            } else {
                for passed in self.newest + 1..=number {
                    let (word, bit) = Self::place(passed);
                    if let Some(bits) = self.there.get_mut(word) {
                        *bits &= !bit;
                    }
                }
            }
            self.newest = number;
        }
        let (word, bit) = Self::place(number);
        if let Some(bits) = self.there.get_mut(word) {
            *bits |= bit;
        }
    }

    fn work(&mut self, restored: &mut Vec<u64>) {
        let mut place = 0;
        while let Some(&(base, mask)) = self.waiting.get(place) {
            let mut missing = (0..64).filter(|bit| mask >> bit & 1 == 1).map(|bit| base + bit);
            let mut missing = missing.by_ref().filter(|number| !self.is_there(*number));
            match (missing.next(), missing.next()) {
                (None, _) => {
                    self.waiting.remove(place);
                    self.useless += 1;
                }
                (Some(one), None) => {
                    self.waiting.remove(place);
                    self.remember(one);
                    restored.push(one);
                    // It may help earlier FEC packets.
                    place = 0;
                }
                _ => place += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn media(recovery: &mut Recovery, number: u64) -> Vec<u64> {
        let mut restored = Vec::new();
        recovery.on_media(number, &mut restored);
        restored
    }

    fn protection(recovery: &mut Recovery, base: u64, mask: u64) -> Vec<u64> {
        let mut restored = Vec::new();
        recovery.on_protection(base, mask, &mut restored);
        restored
    }

    #[test]
    fn the_only_missing_packet_of_a_mask_is_restored() {
        for lost in 10..14 {
            let mut recovery = Recovery::default();
            for number in (10..14).filter(|number| *number != lost) {
                media(&mut recovery, number);
            }
            assert_eq!(protection(&mut recovery, 10, 0b1111), [lost]);
        }
    }

    #[test]
    fn two_missing_wait_for_one_and_none_missing_is_useless() {
        let mut recovery = Recovery::default();
        media(&mut recovery, 10);
        assert_eq!(protection(&mut recovery, 10, 0b111), [0; 0]);
        assert_eq!(media(&mut recovery, 12), [11]);
        assert_eq!(protection(&mut recovery, 10, 0b111), [0; 0]);
        assert_eq!(recovery.useless, 1);
        assert_eq!(protection(&mut recovery, 10, 0), [0; 0]);
        assert_eq!(recovery.useless, 2);
    }

    #[test]
    fn restored_packets_restore_more() {
        let mut recovery = Recovery::default();
        media(&mut recovery, 10);
        assert_eq!(protection(&mut recovery, 11, 0b11), [0; 0], "11 and 12 are missing");
        assert_eq!(protection(&mut recovery, 10, 0b11), [11, 12]);
    }

    #[test]
    fn old_protection_is_useless() {
        let mut recovery = Recovery::default();
        media(&mut recovery, 5000);
        assert_eq!(protection(&mut recovery, 3975, 1), [0; 0]);
        assert_eq!(recovery.useless, 1);
        assert_eq!(protection(&mut recovery, 3976, 1), [3976]);
    }

    proptest! {
        #[test]
        fn the_ring_knows_what_a_set_would(steps in prop::collection::vec((-1500i64..3000, any::<bool>()), 1..200)) {
            let (mut recovery, mut set, mut newest) = (Recovery::default(), BTreeSet::new(), 0u64);
            let mut at = 70_000i64;
            for (step, small) in steps {
                at = (at + if small { step.signum() } else { step }).max(1);
                let number = at as u64;
                recovery.remember(number);
                set.insert(number);
                newest = newest.max(number);
                set = set.split_off(&newest.saturating_sub(REMEMBERED));
                for asked in newest.saturating_sub(REMEMBERED + 70)..newest + 70 {
                    prop_assert_eq!(recovery.is_there(asked), set.contains(&asked), "{} of {}", asked, newest);
                }
            }
        }

        #[test]
        fn restores_only_missing_packets(
            packets in prop::collection::vec((any::<bool>(), 0u64..200, any::<u64>()), 0..200),
        ) {
            let mut recovery = Recovery::default();
            let mut there = BTreeSet::new();
            let mut protections = 0;
            let mut total = 0;
            for (is_media, number, mask) in packets {
                let restored = if is_media {
                    there.insert(number);
                    media(&mut recovery, number)
                } else {
                    protections += 1;
                    protection(&mut recovery, number, mask)
                };
                total += restored.len() as u64;
                for number in restored {
                    prop_assert!(there.insert(number));
                }
            }
            prop_assert_eq!(protections, total + recovery.useless + recovery.waiting.len() as u64);
        }
    }
}
