//! Sequence numbers and timestamps that wrap (RFC 1982): whoever receives one knows about where it must be, and so
//! recovers the number that never wraps.

/// The number nearest to `near` whose lower 32 bits are `low`; never below zero.
pub fn unwrap(near: u64, low: u32) -> u64 {
    let ahead = low.wrapping_sub(near as u32);
    if ahead < 1 << 31 {
        return near.saturating_add(u64::from(ahead));
    }
    let behind = (near as u32).wrapping_sub(low);
    near.checked_sub(u64::from(behind)).unwrap_or(u64::from(low))
}

/// Remembers which of the latest sequence numbers have been seen, to tell a duplicate from a late packet
/// (the sliding window of RFC 4303 §3.4.3).
#[derive(Clone, Debug, Default)]
pub struct SeenWindow {
    /// One past the highest number seen.
    next: u64,
    /// Bit i: `next` − 1 − i was seen.
    bits: u128,
}

impl SeenWindow {
    /// How far behind the highest number a packet may be and still count as new.
    pub const LENGTH: u64 = u128::BITS as u64;

    /// True the first time that `sequence` is seen; false for duplicates and for what is too old to tell.
    pub fn is_new(&mut self, sequence: u64) -> bool {
        if sequence >= self.next {
            let ahead = sequence - self.next + 1;
            self.bits = if ahead >= Self::LENGTH { 0 } else { self.bits << ahead };
            self.bits |= 1;
            self.next = sequence.saturating_add(1);
            return true;
        }
        let behind = self.next - 1 - sequence;
        if behind >= Self::LENGTH || self.bits >> behind & 1 == 1 {
            return false;
        }
        self.bits |= 1 << behind;
        true
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

    proptest! {
        #[test]
        fn unwrapping_recovers_a_number_near_the_reference(near in 0u64..1 << 40, offset in -(1i64 << 30)..1 << 30) {
            let truth = near.saturating_add_signed(offset);
            prop_assert_eq!(unwrap(near, truth as u32), truth);
        }

        #[test]
        fn the_window_agrees_with_a_set_that_forgets_nothing(sequences in prop::collection::vec(0u64..300, 0..400)) {
            let (mut window, mut set) = (SeenWindow::default(), BTreeSet::new());
            for sequence in sequences {
                let too_old = set.last().is_some_and(|&high| high >= sequence + SeenWindow::LENGTH);
                prop_assert_eq!(window.is_new(sequence), set.insert(sequence) && !too_old);
            }
        }
    }
}
