//! Explicit congestion notification: the sender's response to marks, and the receiver's reports of marks.
//!
//! Source: RFC 3168 §6.1 for `classic`: the receiver repeats the echo (ECE) until the sender reports that it has
//! reduced the window (CWR). An acknowledgement with the echo does not open the window. For `accurate` and
//! `scalable` every acknowledgement carries a count of the segments that arrived marked, the purpose of RFC 9768's
//! counters. A delayed acknowledgement leaves at once when marks begin or end (RFC 8257 §3.2, RFC 9768
//! §3.2.2.5.1). ECT(1) by RFC 9331 §4.1.
//!
//! **Responses.** The sender responds to a mark at most once for the data in flight at its previous response,
//! whether to a mark, a loss or a timeout. A mark counts as a loss with `classic`, and with any law that ignores
//! marks. A loss among the segments in flight at the response to a mark is then repaired without a second
//! response. Laws that use accurate marks receive every loss (RFC 8257 §3.5).
//!
//! **Assumptions.** Both ends support it without negotiation, though captures show the flags of a negotiation.
//! SYNs, pure acknowledgements and packets that abandon segments are never ECN-capable. Retransmissions are not
//! ECN-capable with `classic` (RFC 3168 §6.1.5). With the others they are, as Linux does for laws that need marks.
//! Every acknowledgement carries the count in segments as 32 bits, starting at 0. So it is never ambiguous, unlike
//! the three bits of RFC 9768's ACE field. Marks outside the receiver's window are ignored (RFC 3168 §6.1.5). With
//! accurate marks the law receives all acknowledgements as usual, with
//! [`Path::marked`](super::control::Path::marked), and itself decides whether they open its window. At a window of
//! one segment a mark does not stop the sender for a timeout (RFC 3168 §6.1.2 requires it; laws here leave two
//! segments).

use super::control::Marks;
use fairwave_network::packet::Ecn;

/// The sender's state of marks.
#[derive(Debug)]
pub(super) struct MarkReaction {
    marks: Marks,
    /// A response to a mark also covers losses in the same window.
    one_for_all: bool,
    /// Number of segments that have been reported as marked.
    counted: u32,
    /// One past the data in flight at the last response to congestion.
    answered: u32,
    /// The last response was to a mark.
    to_mark: bool,
    /// The current acknowledgement reports a mark that needs a response.
    due: bool,
    /// The current acknowledgement does not open the window.
    holds: bool,
    /// The next new segment reports the reduced window to the receiver.
    tells: bool,
}

impl MarkReaction {
    /// Creates the state without marks. `one_for_all`: a mark counts as a loss.
    pub fn new(marks: Marks, one_for_all: bool) -> Self {
        MarkReaction {
            marks,
            one_for_all,
            counted: 0,
            answered: 0,
            to_mark: false,
            due: false,
            holds: false,
            tells: false,
        }
    }

    /// Processes the echo and the total count of an acknowledgement of everything before `next`. Returns the
    /// number of new marks.
    pub fn on_echo(&mut self, next: u32, echo: bool, count: u32) -> u32 {
        if self.marks == Marks::Classic {
            self.holds = echo;
            self.due = echo && next > self.answered;
            return 0;
        }
        // A reordered acknowledgement reports a lower count.
        let news = Some(count.wrapping_sub(self.counted)).filter(|&news| news < 1 << 31).unwrap_or(0);
        self.counted = self.counted.wrapping_add(news);
        self.due = news > 0 && next > self.answered;
        news
    }

    /// True if the current acknowledgement may open the window.
    pub fn opens(&self) -> bool {
        !self.holds
    }

    /// Returns whether a mark needs a response now, and clears the flag.
    pub fn take_due(&mut self) -> bool {
        std::mem::take(&mut self.due)
    }

    /// Records that the window has been reduced with everything before `max` sent, because of a mark or another
    /// signal.
    pub fn answer(&mut self, max: u32, to_mark: bool) {
        self.answered = max;
        self.to_mark = to_mark;
        self.due = false;
        self.tells = self.marks == Marks::Classic;
    }

    /// True if a response to a mark covers the loss of `segment`.
    pub fn covers(&self, segment: u32) -> bool {
        self.one_for_all && self.to_mark && segment < self.answered
    }

    /// Number of segments that have been reported as marked.
    pub fn counted(&self) -> u32 {
        self.counted
    }

    /// The ECN code point of a data segment, and whether the segment reports a reduced window.
    pub fn dress(&mut self, again: bool) -> (Ecn, bool) {
        match self.marks {
            Marks::None => (Ecn::NotEct, false),
            Marks::Classic if again => (Ecn::NotEct, false),
            Marks::Classic => (Ecn::Ect0, std::mem::take(&mut self.tells)),
            Marks::Accurate => (Ecn::Ect0, false),
            Marks::Scalable => (Ecn::Ect1, false),
        }
    }
}

/// The receiver's reports of marks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Echo {
    pub marks: Marks,
    /// Acknowledgements carry the echo.
    pub stands: bool,
    /// The latest segment was marked.
    latest: bool,
    /// Number of segments that arrived marked, modulo 2³²; updated only for accurate feedback.
    pub counted: u32,
}

impl Echo {
    /// Creates the state before any segment.
    pub fn new(marks: Marks) -> Self {
        Echo { marks, ..Echo::default() }
    }

    /// Processes a data segment within the window. Returns true if it must be acknowledged at once, because marks
    /// begin or end with it.
    #[inline(never)]
    pub fn on_segment(&mut self, ecn: Ecn, window_reduced: bool) -> bool {
        let marked = ecn == Ecn::Ce;
        if self.marks == Marks::Classic {
            // In a segment with both, CWR applies before the mark (RFC 8257 §3.2).
            self.stands = marked || (self.stands && !window_reduced);
            return false;
        }
        self.counted = self.counted.wrapping_add(u32::from(marked));
        std::mem::replace(&mut self.latest, marked) != marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3168_the_echo_stands_until_a_segment_tells_of_a_reduced_window() {
        let mut echo = Echo::new(Marks::Classic);
        let mut stands = |ecn, reduced| {
            assert!(!echo.on_segment(ecn, reduced), "RFC 3168 leaves delayed acknowledgements as they are");
            echo.stands
        };
        assert!(!stands(Ecn::Ect0, false));
        assert!(stands(Ecn::Ce, false));
        assert!(stands(Ecn::Ect0, false) && stands(Ecn::NotEct, false), "whatever comes");
        assert!(!stands(Ecn::Ect0, true));
        assert!(!stands(Ecn::Ect0, false));
        assert!(stands(Ecn::Ce, true), "a new mark on the segment that ends the old one");
    }

    #[test]
    fn rfc_8257_section_3_2_marks_that_begin_or_end_are_acknowledged_at_once_and_each_is_counted() {
        let mut echo = Echo::new(Marks::Accurate);
        let echoes: Vec<_> = [Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ect0, Ecn::Ect0, Ecn::Ce]
            .map(|ecn| (echo.on_segment(ecn, false), echo.counted))
            .into();
        assert_eq!(echoes, [(false, 0), (true, 1), (false, 2), (true, 2), (false, 2), (true, 3)]);
        assert!(!echo.stands);
    }

    #[test]
    fn a_mark_is_answered_once_for_what_was_in_flight_at_the_answer_before() {
        for (marks, counts) in [(Marks::Classic, [0; 4]), (Marks::Accurate, [1, 3, 4, 6])] {
            let mut answers = MarkReaction::new(marks, true);
            answers.on_echo(5, true, counts[0]);
            assert!(answers.take_due() && !answers.take_due(), "asked once");
            answers.answer(20, true);
            answers.on_echo(6, true, counts[1]);
            assert!(!answers.take_due());
            answers.on_echo(20, true, counts[2]);
            assert!(!answers.take_due(), "what was in flight at the answer ends with 19");
            answers.on_echo(21, true, counts[3]);
            assert!(answers.take_due(), "{marks:?}");
        }
    }

    #[test]
    fn new_marks_are_what_the_count_has_grown_by_and_an_old_count_brings_none() {
        let mut answers = MarkReaction::new(Marks::Scalable, false);
        let news: Vec<u32> = [3, 3, 2, 7].map(|count| answers.on_echo(9, false, count)).into();
        assert_eq!(news, [3, 0, 0, 4]);
        assert_eq!(answers.counted(), 7);
        let mut answers = MarkReaction { counted: u32::MAX, ..MarkReaction::new(Marks::Accurate, false) };
        assert_eq!(answers.on_echo(9, false, 1), 2, "it starts again from 0 after 2³² − 1");
    }

    #[test]
    fn rfc_3168_section_6_1_2_an_echo_does_not_open_the_window_and_a_count_leaves_it_to_the_law() {
        let mut classic = MarkReaction::new(Marks::Classic, true);
        classic.on_echo(5, true, 0);
        assert!(!classic.opens());
        classic.on_echo(6, false, 0);
        assert!(classic.opens());
        let mut accurate = MarkReaction::new(Marks::Accurate, true);
        accurate.on_echo(5, false, 9);
        assert!(accurate.opens());
    }

    #[test]
    fn rfc_3168_section_6_1_2_the_first_new_segment_after_a_reduction_tells_of_it() {
        let mut classic = MarkReaction::new(Marks::Classic, true);
        assert_eq!(classic.dress(false), (Ecn::Ect0, false));
        classic.answer(20, false);
        assert_eq!(
            classic.dress(true),
            (Ecn::NotEct, false),
            "not what is sent again, which is not ECT either (§6.1.5)"
        );
        assert_eq!(classic.dress(false), (Ecn::Ect0, true));
        assert_eq!(classic.dress(false), (Ecn::Ect0, false), "once");
    }

    #[test]
    fn rfc_9331_section_4_1_scalable_segments_are_ect_1_and_accurate_ones_ect_0() {
        for (marks, ecn) in [(Marks::Accurate, Ecn::Ect0), (Marks::Scalable, Ecn::Ect1), (Marks::None, Ecn::NotEct)] {
            let mut answers = MarkReaction::new(marks, false);
            answers.answer(20, true);
            assert_eq!((answers.dress(false), answers.dress(true)), ((ecn, false), (ecn, false)));
        }
    }

    #[test]
    fn a_loss_in_a_window_whose_mark_was_answered_is_covered_where_a_mark_counts_as_a_loss() {
        let covered = |one_for_all, to_mark, segment| {
            let mut answers = MarkReaction::new(Marks::Classic, one_for_all);
            answers.answer(20, to_mark);
            answers.covers(segment)
        };
        assert!(covered(true, true, 19));
        assert!(!covered(true, true, 20), "sent after the answer");
        assert!(!covered(true, false, 19), "a second loss is the recovery's business");
        assert!(!covered(false, true, 19), "RFC 8257 §3.5");
    }
}
