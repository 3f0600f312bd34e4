//! Which segments the receiver holds selectively, and which have been sent again: two bits per segment in a ring over the window.

/// Two bit sets over the segments from the cumulative acknowledgement on. Holds no memory until it is used.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    /// Bit `s mod capacity` of segment `s`.
    sacked: Vec<u64>,
    resent: Vec<u64>,
    /// Segments marked in `sacked`.
    count: u32,
    /// Lowest segment that can be marked.
    first: u32,
    /// One past the highest segment marked in `sacked`, or `first`.
    top: u32,
}

impl Scoreboard {
    /// Makes room for `window` segments and forgets everything; segments before `first` are acknowledged.
    pub fn reset(&mut self, first: u32, window: u32) {
        let words = (window as usize).div_ceil(64).next_power_of_two();
        if self.sacked.len() < words {
            self.sacked = vec![0; words];
            self.resent = vec![0; words];
        } else {
            self.sacked.fill(0);
            self.resent.fill(0);
        }
        (self.count, self.first, self.top) = (0, first, first);
    }

    fn place(&self, segment: u32) -> (usize, u64) {
        let bit = segment as usize & (self.sacked.len() * 64 - 1);
        (bit / 64, 1 << (bit % 64))
    }

    fn holds(&self, segment: u32) -> bool {
        segment >= self.first && ((segment - self.first) as usize) < self.sacked.len() * 64
    }

    /// Segments before `una` are acknowledged.
    pub fn advance(&mut self, una: u32) {
        if self.sacked.is_empty() {
            self.first = una;
            return;
        }
        while self.first < una {
            let (word, bit) = self.place(self.first);
            if self.sacked[word] & bit != 0 {
                self.count -= 1;
            }
            self.sacked[word] &= !bit;
            self.resent[word] &= !bit;
            self.first += 1;
        }
        self.top = self.top.max(self.first);
    }

    /// The receiver holds `[from, to)`; returns whether that was news. Segments out of the window are ignored.
    pub fn mark(&mut self, from: u32, to: u32) -> bool {
        let mut news = false;
        for segment in from.max(self.first)..to {
            if !self.holds(segment) {
                break;
            }
            let (word, bit) = self.place(segment);
            if self.sacked[word] & bit == 0 {
                self.sacked[word] |= bit;
                self.count += 1;
                self.top = self.top.max(segment + 1);
                news = true;
            }
        }
        news
    }

    /// `segment` has been sent again.
    pub fn mark_resent(&mut self, segment: u32) {
        if self.holds(segment) {
            let (word, bit) = self.place(segment);
            self.resent[word] |= bit;
        }
    }

    /// Whether the receiver holds `segment`.
    pub fn is_sacked(&self, segment: u32) -> bool {
        self.holds(segment) && {
            let (word, bit) = self.place(segment);
            self.sacked[word] & bit != 0
        }
    }

    /// Whether `segment` has been sent again.
    pub fn is_resent(&self, segment: u32) -> bool {
        self.holds(segment) && {
            let (word, bit) = self.place(segment);
            self.resent[word] & bit != 0
        }
    }

    /// Segments held selectively.
    pub fn sacked(&self) -> u32 {
        self.count
    }

    /// One past the highest segment held selectively.
    pub fn top(&self) -> u32 {
        self.top
    }

    /// Every segment below the returned one that is not held has at least `threshold` held segments above it, so counts
    /// as lost (RFC 6675 §4, IsLost).
    pub fn lost_below(&self, threshold: u32) -> u32 {
        if self.count < threshold {
            return self.first;
        }
        let mut above = 0;
        let mut segment = self.top;
        while segment > self.first {
            segment -= 1;
            if self.is_sacked(segment) {
                above += 1;
                if above == threshold {
                    return segment;
                }
            }
        }
        self.first
    }

    /// The first segment in `[first, below)` that is neither held nor sent again.
    pub fn next_hole(&self, below: u32) -> Option<u32> {
        (self.first..below).find(|&segment| !self.is_sacked(segment) && !self.is_resent(segment))
    }

    /// Segments in `[first, below)` that are neither held nor sent again.
    pub fn holes(&self, below: u32) -> u32 {
        (self.first..below).filter(|&segment| !self.is_sacked(segment) && !self.is_resent(segment)).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_segment_is_lost_when_three_above_it_are_held() {
        let mut board = Scoreboard::default();
        board.reset(10, 64);
        assert!(board.mark(12, 14));
        assert_eq!(board.lost_below(3), 10);
        assert!(board.mark(15, 16));
        assert_eq!(board.lost_below(3), 12);
        assert_eq!(board.next_hole(12), Some(10));
        board.mark_resent(10);
        assert_eq!((board.next_hole(12), board.holes(12)), (Some(11), 1));
        assert!(!board.mark(12, 14), "no news");
    }

    proptest! {
        #[test]
        fn it_agrees_with_plain_sets(steps in proptest::collection::vec((0u32..3, 0u32..200, 1u32..20), 1..80)) {
            let mut board = Scoreboard::default();
            board.reset(0, 128);
            let (mut sacked, mut resent, mut first) = (BTreeSet::new(), BTreeSet::new(), 0);
            for (kind, at, length) in steps {
                match kind {
                    0 => {
                        board.mark(at, at + length);
                        sacked.extend((at.max(first)..at + length).filter(|s| s - first < 128));
                    }
                    1 => {
                        board.mark_resent(at);
                        if at >= first && at - first < 128 { resent.insert(at); }
                    }
                    _ => {
                        first = first.max(at.min(first + length));
                        board.advance(first);
                        sacked.retain(|&s| s >= first);
                        resent.retain(|&s| s >= first);
                    }
                }
                prop_assert_eq!(board.sacked() as usize, sacked.len());
                prop_assert_eq!(board.top(), sacked.iter().next_back().map_or(first, |s| s + 1).max(first));
                let hole = (first..board.top()).find(|s| !sacked.contains(s) && !resent.contains(s));
                prop_assert_eq!(board.next_hole(board.top()), hole);
                let lost = if sacked.len() < 3 { first } else { *sacked.iter().rev().nth(2).unwrap_or(&first) };
                prop_assert_eq!(board.lost_below(3), lost);
            }
        }
    }
}
