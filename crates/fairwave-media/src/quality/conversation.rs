//! Quality of a conversation: the round trip, the time of double talk, and the rating of both directions.
//!
//! **Delay.** Each direction has a mouth-to-ear delay; their sum is the round trip. It leads from the mouth of one
//! party to the ear of the other and, with an immediate reply, back to the ear of the first.
//!
//! **Rating.** The E-model (ITU-T G.107, G.107.1) rates each direction for its listener. Ta is the delay of that
//! direction. The echo path includes both directions: its mean one-way delay T is half the round trip, and Tr is the
//! round trip. The rating of the conversation is that of the worse direction; the mean of both is reported, too. A call
//! that is rated alone ([`super::call::rate`]) uses its one-way delay for both directions. The result is the same if
//! both directions have equal delays.
//!
//! **Double talk.** As spoken: the share of time when both talk, by a common clock. As heard: at each end, the share of
//! time when that party talks and hears the other. Delay shifts the heard speech, so parties who take turns find
//! themselves talking at once. For two independent talkers, delay would change nothing.

use super::call::{self, CallRating, UnratedCause};
use super::impairment::Reception;
use crate::traffic::Codec;
use fairwave_units::units::{Instant, Span};

/// Conditions of the listener in one direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Direction {
    /// The talker's codec.
    pub codec: Codec,
    /// Concealment at the listener, and the tolerance of the users.
    pub reception: Reception,
    /// Mean mouth-to-ear delay.
    pub delay: Span,
    /// Fraction of packets not played, 0 to 1.
    pub loss: f64,
    /// Burst ratio of the losses.
    pub burst_ratio: f64,
}

/// Rating of both directions of a conversation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ConversationRating {
    /// Sum of both delays.
    pub round_trip: Span,
    /// Rating of each direction, in the given order.
    pub directions: [CallRating; 2],
}

impl ConversationRating {
    /// Mean opinion score of the worse direction.
    pub fn worse(&self) -> f64 {
        self.directions[0].mos.min(self.directions[1].mos)
    }

    /// Mean of both mean opinion scores.
    pub fn mean(&self) -> f64 {
        (self.directions[0].mos + self.directions[1].mos) / 2.0
    }
}

/// Rates a conversation.
///
/// # Errors
/// [`UnratedCause::NoImpairment`] for a codec without factors.
pub fn rate(directions: &[Direction; 2]) -> Result<ConversationRating, UnratedCause> {
    let round_trip = directions[0].delay + directions[1].delay;
    let rated = |one: &Direction| {
        call::rate_with_echo(one.codec, one.reception, one.delay, round_trip, one.loss, one.burst_ratio)
    };
    Ok(ConversationRating { round_trip, directions: [rated(&directions[0])?, rated(&directions[1])?] })
}

/// A time interval: start and end.
pub type Interval = (Instant, Instant);

/// Merges times to disjoint intervals in ascending order, cut at the ends of `window`.
pub fn joined(times: impl IntoIterator<Item = Interval>, window: Interval) -> Vec<Interval> {
    let mut joined: Vec<Interval> = Vec::new();
    for (from, until) in times {
        let (from, until) = (from.max(window.0), until.min(window.1));
        match joined.last_mut() {
            _ if until <= from => {}
            Some(last) if from <= last.1 => last.1 = last.1.max(until),
            _ => joined.push((from, until)),
        }
    }
    joined
}

/// Returns how long both lists of intervals overlap. Each list is ascending and disjoint.
pub fn overlap(one: &[Interval], other: &[Interval]) -> Span {
    let (mut i, mut j, mut sum) = (0, 0, Span::ZERO);
    while let (Some(a), Some(b)) = (one.get(i), other.get(j)) {
        sum += a.1.min(b.1).span_since(a.0.max(b.0));
        if a.1 <= b.1 { i += 1 } else { j += 1 }
    }
    sum
}

/// Returns the total length of disjoint intervals.
pub fn length(intervals: &[Interval]) -> Span {
    intervals.iter().fold(Span::ZERO, |sum, (from, until)| sum + until.span_since(*from))
}

#[cfg(test)]
mod tests {
    use super::super::impairment::Concealment;
    use super::*;
    use proptest::prelude::*;

    fn direction(delay: u64, loss: f64) -> Direction {
        Direction {
            codec: Codec::G711,
            reception: Concealment::AppendixI.into(),
            delay: Span::from_millis(delay),
            loss,
            burst_ratio: 1.0,
        }
    }

    fn instant(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn directions_that_take_as_long_are_rated_as_each_alone() {
        let found = rate(&[direction(180, 0.01), direction(180, 0.0)]).expect("rated");
        let alone = call::rate(Codec::G711, Concealment::AppendixI, Span::from_millis(180), 0.01, 1.0).expect("rated");
        assert_eq!(found.round_trip, Span::from_millis(360));
        assert_eq!(found.directions[0], alone);
        assert_eq!(found.worse(), alone.mos);
        assert!(found.mean() > found.worse());
    }

    #[test]
    fn a_slow_way_back_harms_the_fast_direction_by_echo_but_not_by_its_own_delay() {
        let alone = rate(&[direction(50, 0.0), direction(50, 0.0)]).expect("rated").directions[0].rating;
        let beside = rate(&[direction(50, 0.0), direction(400, 0.0)]).expect("rated").directions[0].rating;
        assert_eq!(alone.absolute_delay, beside.absolute_delay);
        assert!(beside.talker_echo > alone.talker_echo && beside.r < alone.r);
        // T = 225 ms, Tr = 450 ms, Ta = 50 ms.
        let model = super::super::emodel::EModel {
            echo_delay: Span::from_millis(225),
            round_trip_delay: Span::from_millis(450),
            absolute_delay: Span::from_millis(50),
            ..Default::default()
        };
        assert!((model.rate().r - beside.r).abs() < 5.0);
        assert_eq!(model.rate().talker_echo, beside.talker_echo);
        assert_eq!(model.rate().listener_echo, beside.listener_echo);
    }

    #[test]
    fn packets_that_follow_each_other_are_one_interval_and_what_lies_outside_is_cut_off() {
        let packets = [
            (instant(0), instant(20)),
            (instant(20), instant(40)),
            (instant(100), instant(120)),
            (instant(110), instant(130)),
            (instant(300), instant(320)),
        ];
        assert_eq!(
            joined(packets, (instant(10), instant(310))),
            [(instant(10), instant(40)), (instant(100), instant(130)), (instant(300), instant(310))]
        );
    }

    #[test]
    fn delay_makes_double_talk_of_taking_turns() {
        let (one, other) = ([(instant(0), instant(1000))], [(instant(1000), instant(2000))]);
        assert_eq!(overlap(&one, &other), Span::ZERO);
        // At the other end, the first talk spurt is heard 300 ms later, until 1300 ms.
        assert_eq!(overlap(&[(instant(300), instant(1300))], &other), Span::from_millis(300));
    }

    proptest! {
        #[test]
        fn overlap_equals_a_count_of_milliseconds(
            one in prop::collection::vec((0u64..200, 1u64..30), 0..8),
            other in prop::collection::vec((0u64..200, 1u64..30), 0..8),
        ) {
            let intervals = |mut times: Vec<(u64, u64)>| {
                times.sort_unstable();
                joined(times.into_iter().map(|(from, length)| (instant(from), instant(from + length))), (instant(0), instant(1000)))
            };
            let (one, other) = (intervals(one), intervals(other));
            let within = |intervals: &[Interval], time| intervals.iter().any(|(from, until)| (*from..*until).contains(&time));
            let counted = (0..1000).filter(|&ms| within(&one, instant(ms)) && within(&other, instant(ms))).count() as u64;
            prop_assert_eq!(overlap(&one, &other), Span::from_millis(counted));
            prop_assert_eq!(length(&one), Span::from_millis((0..1000).filter(|&ms| within(&one, instant(ms))).count() as u64));
        }
    }
}
