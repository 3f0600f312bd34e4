//! The sender's scoreboard: the segments in flight that the receiver holds, the lost ones, and the highest
//! retransmitted one. It determines the number of segments still in the network.
//!
//! Source: RFC 6675 §3 (HighACK, HighData, HighRxt, pipe, DupThresh) and §4 (Update, IsLost, SetPipe). Here HighACK + 1 is `una`,
//! HighData + 1 is `max`, HighRxt + 1 is [`Scoreboard::resent_below`].
//!
//! Held segments are stored as ranges, with two sums. So an acknowledgement costs the same for any number of
//! segments in flight. Holes are retransmitted in ascending order, so HighRxt shows for each whether it has been.
//!
//! **Assumptions.** Segments are counted, not bytes. 'More than (DupThresh − 1) · SMSS bytes' held above a segment
//! mean DupThresh segments above it, each counted as a full one. DupThresh discontiguous ranges contain at least
//! as many segments, so that clause adds nothing.

use super::super::ranges::Ranges;
use fairwave_network::packet::SackBlock;

/// The scoreboard of RFC 6675. Uses no memory until a segment is held.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    held: Ranges,
    /// First unacknowledged segment.
    una: u32,
    /// One past the highest retransmitted segment; at least `una`.
    resent_below: u32,
    /// Number of held segments from `una` to before `resent_below`.
    held_resent: u32,
}

impl Scoreboard {
    /// Clears held segments and retransmissions.
    pub fn clear(&mut self, una: u32) {
        self.held.clear();
        self.forget_resent(una);
    }

    /// Clears retransmissions: HighRxt := HighACK.
    pub fn forget_resent(&mut self, una: u32) {
        self.advance(una);
        self.resent_below = self.una;
        self.held_resent = 0;
    }

    /// Moves `una`: everything before it is acknowledged.
    fn advance(&mut self, una: u32) {
        if una <= self.una {
            return;
        }
        self.held_resent -= self.held.count_in(self.una, una.min(self.resent_below));
        self.una = una;
        self.resent_below = self.resent_below.max(una);
        self.held.remove_before(una);
    }

    /// Update (§4): everything before `una` is acknowledged, and the receiver holds these blocks. Returns true if
    /// a block reports a segment between `una` and `max` as newly held. The acknowledgement is then a duplicate by
    /// §2.
    pub fn update(&mut self, una: u32, max: u32, blocks: &[SackBlock; 3]) -> bool {
        self.update_telling(una, max, blocks, |_, _| {})
    }

    /// Like [`Self::update`]. Calls `news` with each newly held range: its first segment, and one past its last.
    pub fn update_telling(
        &mut self,
        una: u32,
        max: u32,
        blocks: &[SackBlock; 3],
        mut news: impl FnMut(u32, u32),
    ) -> bool {
        self.advance(una);
        let known = self.held.count();
        for block in blocks {
            let (first, end) = (block.first.max(self.una), block.end.min(max));
            if first >= end {
                continue;
            }
            let resent = (first.min(self.resent_below), end.min(self.resent_below));
            let before = self.held.count_in(resent.0, resent.1);
            self.held.gaps(first, end).for_each(|(first, end)| news(first, end));
            self.held.insert(first, end);
            self.held_resent += resent.1 - resent.0 - before;
        }
        self.held.count() > known
    }

    /// Number of held segments beyond the first unacknowledged one.
    pub fn held(&self) -> u32 {
        self.held.count()
    }

    /// HighRxt := `segment`, which must not be held or below HighRxt.
    pub fn mark_resent(&mut self, segment: u32) {
        let to = segment.saturating_add(1);
        if to > self.resent_below {
            self.held_resent += self.held.count_in(self.resent_below, to);
            self.resent_below = to;
        }
    }

    /// One past the highest retransmitted segment; the first unacknowledged one if there is none.
    pub fn resent_below(&self) -> u32 {
        self.resent_below
    }

    /// One past the highest held segment; the first unacknowledged one if there is none.
    pub fn top(&self) -> u32 {
        self.held.descending().next().map_or(self.una, |range| range.end)
    }

    /// IsLost (§4) is true for the segments below this one that are not held: at least `threshold` held ones are
    /// above them.
    pub fn lost_below(&self, threshold: u32) -> u32 {
        let mut missing = threshold;
        // Inspects at most `threshold` ranges, since each holds at least one segment.
        for range in self.held.descending() {
            if range.end - range.first >= missing {
                return range.end - missing;
            }
            missing -= range.end - range.first;
        }
        self.una
    }

    /// IsLost (§4) for the first unacknowledged segment.
    pub fn is_first_lost(&self, threshold: u32) -> bool {
        self.held.count() >= threshold
    }

    /// SetPipe (§4): the number of segments in the network, if all before `max` have been sent. A segment that is
    /// not held counts unless it is lost, and once more if it has been retransmitted.
    pub fn pipe(&self, max: u32, threshold: u32) -> u32 {
        let held = self.held.count();
        let not_lost =
            if held >= threshold { max - self.lost_below(threshold) - threshold } else { max - self.una - held };
        let sent_again = self.resent_below - self.una - self.held_resent;
        not_lost + sent_again
    }

    /// The lowest segment above HighRxt and below `below` that is not held.
    pub fn next_hole(&self, below: u32) -> Option<u32> {
        Some(self.held.next_absent(self.resent_below)).filter(|&hole| hole < below)
    }

    /// The first segment at or after `segment` that is not held.
    pub fn next_absent(&self, segment: u32) -> u32 {
        self.held.next_absent(segment)
    }

    /// The highest segment that has been sent and is not held; at least `una`.
    pub fn highest_outstanding(&self, max: u32) -> u32 {
        let end = match self.held.descending().next() {
            Some(range) if range.end >= max => range.first,
            _ => max,
        };
        end.saturating_sub(1).max(self.una)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn blocks(ranges: &[(u32, u32)]) -> [SackBlock; 3] {
        let mut blocks = [SackBlock::default(); 3];
        for (block, &(first, end)) in blocks.iter_mut().zip(ranges) {
            *block = SackBlock { first, end };
        }
        blocks
    }

    /// A scoreboard of segments from 10 on with these held.
    fn board(held: &[(u32, u32)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        board.clear(10);
        board.update(10, 100, &blocks(held));
        board
    }

    #[test]
    fn a_segment_is_lost_when_three_above_it_are_held() {
        let mut board = board(&[(12, 14)]);
        assert_eq!((board.lost_below(3), board.is_first_lost(3)), (10, false));
        assert!(board.update(10, 100, &blocks(&[(15, 16)])));
        assert_eq!((board.lost_below(3), board.is_first_lost(3)), (12, true));
        board.update(10, 100, &blocks(&[(16, 20)]));
        assert_eq!(board.lost_below(3), 17, "17 is held; 14 is the highest that is lost");
    }

    #[test]
    fn only_what_was_not_known_to_be_held_and_has_been_sent_is_news() {
        let mut board = board(&[(12, 14)]);
        assert!(!board.update(10, 100, &blocks(&[(12, 14)])), "known");
        assert!(!board.update(10, 100, &blocks(&[(5, 10)])), "acknowledged");
        assert!(!board.update(10, 100, &blocks(&[(100, 105)])), "never sent");
        assert!(!board.update(14, 100, &blocks(&[(12, 14)])), "acknowledged by now");
        assert!(board.update(14, 100, &blocks(&[(20, 21), (30, 31)])));
    }

    #[test]
    fn the_pipe_has_what_is_neither_held_nor_lost_and_what_was_sent_again() {
        // 10 to 19 sent; 12, 13, 15 held: 10 and 11 are lost, 14 and 16 to 19 are not.
        let mut board = board(&[(12, 14), (15, 16)]);
        assert_eq!(board.pipe(20, 3), 5);
        board.mark_resent(10);
        assert_eq!(board.pipe(20, 3), 6);
        board.mark_resent(11);
        assert_eq!(board.pipe(20, 3), 7);
        // Retransmitted though not lost, it may be in the network twice.
        board.mark_resent(14);
        assert_eq!(board.pipe(20, 3), 8);
        // With fewer than three held, no segment is lost.
        assert_eq!(self::board(&[(12, 14)]).pipe(20, 3), 8);
    }

    #[test]
    fn a_later_acknowledgement_keeps_what_is_held_above_it() {
        let mut board = board(&[(12, 14), (20, 24)]);
        board.mark_resent(10);
        board.update(14, 100, &blocks(&[]));
        assert_eq!((board.top(), board.lost_below(3), board.next_hole(20)), (24, 21, Some(14)));
        assert_eq!(board.highest_outstanding(24), 19);
        assert_eq!(board.highest_outstanding(30), 29);
    }

    /// RFC 6675 §4 word for word.
    struct SlowTwin {
        una: u32,
        max: u32,
        held: BTreeSet<u32>,
        resent_below: u32,
    }

    impl SlowTwin {
        fn is_lost(&self, segment: u32, threshold: u32) -> bool {
            self.held.range(segment + 1..).count() as u32 >= threshold
        }

        fn pipe(&self, threshold: u32) -> u32 {
            let mut pipe = 0;
            for segment in (self.una..self.max).filter(|segment| !self.held.contains(segment)) {
                pipe += u32::from(!self.is_lost(segment, threshold));
                pipe += u32::from(segment < self.resent_below);
            }
            pipe
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definitions_word_for_word(
            threshold in 1u32..6,
            steps in prop::collection::vec((0u32..5, 0u32..130, 1u32..15), 1..100),
        ) {
            let mut board = Scoreboard::default();
            let mut plain = SlowTwin { una: 0, max: 100, held: BTreeSet::new(), resent_below: 0 };
            for (kind, at, length) in steps {
                match kind {
                    0 | 1 => {
                        let before = plain.held.len();
                        plain.held.extend((at.max(plain.una)..at + length).filter(|&segment| segment < plain.max));
                        let news = board.update(plain.una, plain.max, &blocks(&[(at, at + length)]));
                        prop_assert_eq!(news, plain.held.len() > before);
                    }
                    2 => if let Some(hole) = board.next_hole(plain.max) {
                        board.mark_resent(hole);
                        plain.resent_below = hole + 1;
                    },
                    3 => {
                        plain.una = plain.una.max((plain.una + length / 3).min(plain.max));
                        let una = plain.una;
                        plain.held.retain(|&segment| segment >= una);
                        plain.resent_below = plain.resent_below.max(una);
                        board.update(una, plain.max, &blocks(&[]));
                    }
                    _ if length == 1 => {
                        board.clear(plain.una);
                        plain.held.clear();
                        plain.resent_below = plain.una;
                    }
                    _ if length == 2 => {
                        board.forget_resent(plain.una);
                        plain.resent_below = plain.una;
                    }
                    _ => plain.max += 5,
                }
                let lost = (plain.una..plain.max).filter(|&segment| plain.is_lost(segment, threshold)).max();
                prop_assert_eq!(board.lost_below(threshold), lost.map_or(plain.una, |segment| segment + 1));
                prop_assert_eq!(board.is_first_lost(threshold), plain.held.len() as u32 >= threshold);
                prop_assert_eq!(board.pipe(plain.max, threshold), plain.pipe(threshold));
                prop_assert_eq!(board.resent_below(), plain.resent_below);
                prop_assert_eq!(board.top(), plain.held.last().map_or(plain.una, |segment| segment + 1));
                for below in [plain.una, board.lost_below(threshold), board.top(), plain.max] {
                    let hole = (plain.resent_below..below).find(|segment| !plain.held.contains(segment));
                    prop_assert_eq!(board.next_hole(below), hole);
                }
                let highest = (plain.una..plain.max).rev().find(|segment| !plain.held.contains(segment));
                prop_assert_eq!(board.highest_outstanding(plain.max), highest.unwrap_or(plain.una));
            }
        }
    }
}
