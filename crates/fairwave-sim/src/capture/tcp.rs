//! TCP byte numbers: the simulator counts segments, a header counts bytes.
//!
//! The bytes of a segment follow from the sizes of the earlier segments. The sender's first transmission records each
//! size, as runs of equal size, because most are equal. Numbers begin at 0 in both directions.

/// Byte numbers of a flow's segments.
#[derive(Default)]
pub(super) struct Offsets {
    /// First segment of each run, its first byte, and the size of the run's segments.
    runs: Vec<(u32, u64, u16)>,
    /// One past the last known segment.
    next: u32,
}

/// Above this many runs, the older half is discarded: its data was acknowledged long ago.
const MOST_RUNS: usize = 1 << 17;

impl Offsets {
    /// Records a data segment that the sender sends (1 is the first one).
    pub fn learn(&mut self, segment: u32, size: u16) {
        if segment < self.next.max(1) {
            return;
        }
        if self.runs.last().is_none_or(|run| run.2 != size) {
            let first = self.byte(segment);
            self.runs.push((segment, first, size));
            if self.runs.len() > MOST_RUNS {
                self.runs.drain(..MOST_RUNS / 2);
            }
        }
        self.next = segment + 1;
    }

    /// Whether a data segment has been sent.
    pub fn begun(&self) -> bool {
        self.next > 1
    }

    /// Returns the data byte number of a segment's first byte.
    pub fn byte(&self, segment: u32) -> u64 {
        let place = self.runs.partition_point(|run| run.0 <= segment);
        match place.checked_sub(1).map(|place| self.runs[place]) {
            Some((first, byte, size)) => byte + u64::from(segment - first) * u64::from(size),
            None => self.runs.first().map_or(0, |run| run.1),
        }
    }

    /// Returns the sequence number in the header: the SYN takes the number 0.
    pub fn number(&self, segment: u32) -> u32 {
        if segment == 0 { 0 } else { (self.byte(segment) as u32).wrapping_add(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segments_number_is_that_of_its_first_byte_behind_the_syn() {
        let mut offsets = Offsets::default();
        assert!(!offsets.begun());
        for (segment, size) in [(1, 100), (2, 100), (3, 40), (4, 100), (2, 100), (5, 100)] {
            offsets.learn(segment, size);
        }
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|segment| offsets.number(segment)), [0, 1, 101, 201, 241, 341, 441]);
        assert!(offsets.begun());
        assert_eq!(offsets.runs.len(), 3);
    }
}
