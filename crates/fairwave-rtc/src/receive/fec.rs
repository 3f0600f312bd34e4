//! Forward error correction at the receiver: masks of exclusive or (RFC 8627, RFC 5109). A packet of FEC restores the packet of its
//! mask that is missing, if one alone is. What it restores may let another restore one more.

use std::collections::{BTreeSet, VecDeque};

/// Packets of FEC that wait for more of what they protect (`forward_error_correction.cc`: 24 for ULPFEC, 30 for FlexFEC).
const WAITING: usize = 30;
/// Media packets that are remembered.
const REMEMBERED: u64 = 1024;

/// Packets of FEC that wait, and the media packets that are there.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    there: BTreeSet<u64>,
    newest: u64,
    waiting: VecDeque<(u64, u64)>,
    /// Packets of FEC that restored nothing and never will.
    pub useless: u64,
}

impl Recovery {
    /// A media packet is there. Adds to `restored` the numbers of packets that this makes known.
    pub fn on_media(&mut self, number: u64, restored: &mut Vec<u64>) {
        self.remember(number);
        self.work(restored);
    }

    /// A packet of FEC that protects `base + i` for each bit i of `mask`.
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

    fn remember(&mut self, number: u64) {
        self.there.insert(number);
        self.newest = self.newest.max(number);
        let oldest = self.newest.saturating_sub(REMEMBERED);
        while self.there.first().is_some_and(|&first| first < oldest) {
            self.there.pop_first();
        }
    }

    fn work(&mut self, restored: &mut Vec<u64>) {
        let mut place = 0;
        while let Some(&(base, mask)) = self.waiting.get(place) {
            let mut missing = (0..64).filter(|bit| mask >> bit & 1 == 1).map(|bit| base + bit);
            let mut missing = missing.by_ref().filter(|number| !self.there.contains(number));
            match (missing.next(), missing.next()) {
                (None, _) => {
                    self.waiting.remove(place);
                    self.useless += 1;
                }
                (Some(one), None) => {
                    self.waiting.remove(place);
                    self.remember(one);
                    restored.push(one);
                    // It may help those before.
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
    fn what_is_restored_restores_more() {
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
        fn whatever_comes_it_restores_only_what_was_missing(
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
