//! Sets of segments as ranges: a receiver's held segments, and a sender's record of them.
//!
//! Most additions extend the last range, and most removals are at the front. So both have a constant cost for any
//! number of segments and ranges. Out-of-order positions are found by bisection.

use std::collections::VecDeque;

/// Segments from `first` to before `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    pub first: u32,
    pub end: u32,
}

impl Range {
    fn length(self) -> u32 {
        self.end - self.first
    }
}

/// A set of segments. Uses no memory while it has none.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// Sorted, not empty, and not touching each other.
    ranges: VecDeque<Range>,
    count: u32,
}

impl Ranges {
    /// Number of segments in the set.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Removes all segments.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.count = 0;
    }

    /// The lowest range.
    pub fn first(&self) -> Option<Range> {
        self.ranges.front().copied()
    }

    /// The ranges in descending order.
    pub fn descending(&self) -> impl Iterator<Item = Range> {
        self.ranges.iter().rev().copied()
    }

    /// Index of the first range that ends after `segment`.
    fn place(&self, segment: u32) -> usize {
        match self.ranges.back() {
            Some(last) if last.first <= segment => self.ranges.len() - usize::from(last.end > segment),
            _ => self.ranges.partition_point(|range| range.end <= segment),
        }
    }

    /// The range that contains `segment`.
    pub fn range_of(&self, segment: u32) -> Option<Range> {
        self.ranges.get(self.place(segment)).copied().filter(|range| range.first <= segment)
    }

    /// Number of segments of `[first, end)` in the set.
    pub fn count_in(&self, first: u32, end: u32) -> u32 {
        let inside = self.ranges.range(self.place(first)..).take_while(|range| range.first < end);
        inside.map(|range| range.end.min(end) - range.first.max(first)).sum()
    }

    /// True if the set contains `segment`.
    pub fn has(&self, segment: u32) -> bool {
        self.range_of(segment).is_some()
    }

    /// The gaps of the set within `[first, end)`, in order, each as (first, end).
    pub fn gaps(&self, first: u32, end: u32) -> impl Iterator<Item = (u32, u32)> {
        let mut from = first;
        let inside = self.ranges.range(self.place(first)..).take_while(move |range| range.first < end).copied();
        let ends = inside.chain(std::iter::once(Range { first: end, end: u32::MAX }));
        ends.filter_map(move |range| {
            let gap = (from, range.first);
            from = from.max(range.end);
            Some(gap).filter(|gap| gap.0 < gap.1)
        })
    }

    /// The first segment at or after `segment` that is not in the set.
    pub fn next_absent(&self, segment: u32) -> u32 {
        self.range_of(segment).map_or(segment, |range| range.end)
    }

    /// Adds `[first, end)`, which must not be empty.
    pub fn insert(&mut self, first: u32, end: u32) {
        // Adjacent ranges are merged, too.
        let from = self.place(first.saturating_sub(1));
        let touching = self.ranges.range(from..).take_while(|range| range.first <= end).count();
        let Some(lowest) = self.ranges.get(from).copied().filter(|_| touching > 0) else {
            self.ranges.insert(from, Range { first, end });
            self.count += end - first;
            return;
        };
        let before: u32 = self.ranges.range(from..from + touching).map(|range| range.length()).sum();
        let highest = self.ranges.get(from + touching - 1).map_or(end, |range| range.end);
        let whole = Range { first: first.min(lowest.first), end: end.max(highest) };
        if let Some(place) = self.ranges.get_mut(from) {
            *place = whole;
        }
        if touching > 1 {
            self.ranges.drain(from + 1..from + touching);
        }
        self.count += whole.length() - before;
    }

    /// Removes the segments of `[first, end)`.
    pub fn remove(&mut self, first: u32, end: u32) {
        let mut place = self.place(first);
        while let Some(range) = self.ranges.get(place).copied().filter(|range| range.first < end) {
            self.count -= range.end.min(end) - range.first.max(first);
            let (before, after) = ((range.first, first), (end, range.end));
            match (before.0 < before.1, after.0 < after.1) {
                (true, true) => {
                    self.ranges.insert(place + 1, Range { first: after.0, end: after.1 });
                    self.replace(place, before);
                    return;
                }
                (true, false) => {
                    self.replace(place, before);
                    place += 1;
                }
                (false, true) => {
                    self.replace(place, after);
                    return;
                }
                (false, false) => {
                    self.ranges.remove(place);
                }
            }
        }
    }

    fn replace(&mut self, place: usize, (first, end): (u32, u32)) {
        if let Some(range) = self.ranges.get_mut(place) {
            *range = Range { first, end };
        }
    }

    /// Removes the segments before `segment`.
    pub fn remove_before(&mut self, segment: u32) {
        while let Some(lowest) = self.ranges.front_mut() {
            if lowest.first >= segment {
                return;
            }
            let gone = lowest.end.min(segment) - lowest.first;
            self.count -= gone;
            lowest.first += gone;
            if lowest.first < lowest.end {
                return;
            }
            self.ranges.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn of(ranges: &Ranges) -> Vec<(u32, u32)> {
        let mut all: Vec<_> = ranges.descending().map(|range| (range.first, range.end)).collect();
        all.reverse();
        all
    }

    #[test]
    fn ranges_that_touch_or_overlap_become_one() {
        let mut ranges = Ranges::default();
        for (first, end) in [(10, 12), (20, 22), (14, 15), (12, 13), (15, 20)] {
            ranges.insert(first, end);
        }
        assert_eq!(of(&ranges), [(10, 13), (14, 22)]);
        ranges.insert(13, 14);
        assert_eq!((of(&ranges), ranges.count()), (vec![(10, 22)], 12));
    }

    proptest! {
        #[test]
        fn ranges_equal_the_set_of_added_numbers(
            steps in prop::collection::vec((0u8..4, 0u32..120, 1u32..12), 1..80),
        ) {
            let (mut ranges, mut plain) = (Ranges::default(), BTreeSet::new());
            for (step, at, length) in steps {
                if step == 0 {
                    ranges.remove(at, at + 3 * length);
                    plain.retain(|&segment| segment < at || segment >= at + 3 * length);
                } else if step < 3 {
                    ranges.insert(at, at + length);
                    plain.extend(at..at + length);
                } else {
                    ranges.remove_before(at / 2);
                    plain.retain(|&segment| segment >= at / 2);
                }
                let whole: Vec<u32> = of(&ranges).iter().flat_map(|&(first, end)| first..end).collect();
                prop_assert_eq!(&whole, &plain.iter().copied().collect::<Vec<_>>());
                prop_assert!(of(&ranges).windows(2).all(|pair| pair[0].1 < pair[1].0), "apart: {:?}", of(&ranges));
                prop_assert_eq!(ranges.count() as usize, plain.len());
                prop_assert_eq!(ranges.first().map(|range| range.first), plain.first().copied());
                prop_assert_eq!(ranges.count_in(at, at + length) as usize, plain.range(at..at + length).count());
                prop_assert_eq!(Some(ranges.next_absent(at)), (at..).find(|segment| !plain.contains(segment)));
                prop_assert_eq!(ranges.has(at), plain.contains(&at));
                let gaps: Vec<u32> = ranges.gaps(at, at + length).flat_map(|(first, end)| first..end).collect();
                let absent: Vec<u32> = (at..at + length).filter(|segment| !plain.contains(segment)).collect();
                prop_assert_eq!(gaps, absent);
                prop_assert!(ranges.gaps(at, at + length).all(|(first, end)| first < end));
                let range = ranges.range_of(at);
                prop_assert_eq!(range.is_some(), plain.contains(&at));
                if let Some(Range { first, end }) = range {
                    prop_assert!(first <= at && at < end && (first..end).all(|segment| plain.contains(&segment)));
                    prop_assert!(!plain.contains(&end) && (first == 0 || !plain.contains(&(first - 1))));
                }
            }
        }
    }
}
