//! Sets of time intervals, for example when a camera is off.

use fairwave_units::units::{Instant, Span};

/// Disjoint intervals of a run in ascending order; start inclusive, end exclusive.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spells(Vec<(Instant, Instant)>);

impl Spells {
    /// Returns these intervals, relative to the start of the run. They must be ascending and disjoint.
    pub fn from_times(times: &[[Span; 2]]) -> Self {
        Spells(times.iter().map(|[from, until]| (Instant::ZERO + *from, Instant::ZERO + *until)).collect())
    }

    /// Returns all other times.
    #[must_use]
    pub fn complement(&self) -> Self {
        let mut free = Instant::ZERO;
        let mut others = Vec::new();
        for (from, until) in &self.0 {
            if free < *from {
                others.push((free, *from));
            }
            free = *until;
        }
        others.push((free, Instant::NEVER));
        Spells(others)
    }

    /// Checks whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the end of the interval that contains `at`, if there is one.
    pub fn end_at(&self, at: Instant) -> Option<Instant> {
        self.0.iter().find(|(from, until)| (*from..*until).contains(&at)).map(|one| one.1)
    }

    /// Returns the first start or end after `at`; [`Instant::NEVER`] after the last.
    pub fn next(&self, at: Instant) -> Instant {
        let turns = self.0.iter().flat_map(|(from, until)| [*from, *until]);
        turns.filter(|turn| *turn > at).min().unwrap_or(Instant::NEVER)
    }

    /// Returns how much of the time from `from` to `until` is inside the intervals.
    pub fn covered(&self, from: Instant, until: Instant) -> Span {
        let common = |(begins, ends): &(Instant, Instant)| until.min(*ends).span_since(from.max(*begins));
        self.0.iter().map(common).fold(Span::ZERO, |sum, one| sum + one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(seconds: u64) -> Instant {
        Instant::ZERO + Span::from_secs(seconds)
    }

    fn two() -> Spells {
        Spells::from_times(&[[Span::from_secs(2), Span::from_secs(5)], [Span::from_secs(7), Span::from_secs(8)]])
    }

    #[test]
    fn a_spell_holds_from_its_beginning_until_just_before_its_end() {
        let two = two();
        assert_eq!(
            [1, 2, 4, 5, 7].map(|one| two.end_at(instant(one))),
            [None, Some(instant(5)), Some(instant(5)), None, Some(instant(8))]
        );
        assert_eq!(
            [0, 2, 5, 8].map(|one| two.next(instant(one))),
            [instant(2), instant(5), instant(7), Instant::NEVER]
        );
    }

    #[test]
    fn time_within_is_summed_over_all() {
        let two = two();
        for (from, until, seconds) in [(0, 10, 4), (3, 4, 1), (4, 8, 2), (5, 7, 0), (9, 10, 0)] {
            assert_eq!(two.covered(instant(from), instant(until)), Span::from_secs(seconds), "{from} to {until}");
        }
    }

    #[test]
    fn the_complement_is_all_other_time() {
        let others = two().complement();
        assert_eq!([0, 2, 5, 7, 8].map(|one| others.end_at(instant(one)).is_some()), [true, false, true, false, true]);
        assert_eq!(others.end_at(instant(9)), Some(Instant::NEVER));
        assert_eq!(Spells::from_times(&[[Span::ZERO, Span::from_secs(1)]]).complement().end_at(instant(0)), None);
    }
}
