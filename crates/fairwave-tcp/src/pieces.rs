//! Contents of segments, kept from the application's write until the acknowledgement.

use fairwave_units::units::Instant;

/// Contents of a segment: a whole unit or a piece of one.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Piece {
    /// When the application made the unit.
    pub created: Instant,
    /// The unit's number.
    pub unit: u32,
    /// Payload bytes.
    pub payload: u16,
    /// Video layer.
    pub layer: u8,
    /// True for the last piece of its unit.
    pub last: bool,
}

/// One value per outstanding segment, in a ring that doubles when it is full and never shrinks.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// The length is a power of two; segment `s` is at `s mod` length.
    slots: Vec<T>,
}

impl<T: Copy + Default> Ring<T> {
    /// Creates a ring for at least `room` segments. With `room` 0 it allocates no memory before the first value.
    pub fn new(room: u32) -> Self {
        let slots = if room == 0 { 0 } else { (room as usize).next_power_of_two() };
        Ring { slots: vec![T::default(); slots] }
    }

    #[inline]
    fn place(&self, segment: u32) -> usize {
        segment as usize & (self.slots.len() - 1)
    }

    /// The value of `segment`. Valid from the first unacknowledged segment to the last one stored.
    #[inline]
    pub fn get(&self, segment: u32) -> T {
        self.slots[self.place(segment)]
    }

    /// Stores a value for `segment`. The values of `[first, segment)` remain.
    #[inline]
    pub fn put(&mut self, first: u32, segment: u32, value: T) {
        if segment.saturating_sub(first) as usize >= self.slots.len() {
            self.grow(first, segment);
        }
        let place = self.place(segment);
        self.slots[place] = value;
    }

    /// Replaces the value of `segment`, which must have one.
    #[inline]
    pub fn set(&mut self, segment: u32, value: T) {
        let place = self.place(segment);
        self.slots[place] = value;
    }

    #[cold]
    fn grow(&mut self, first: u32, segment: u32) {
        let mut larger = Ring::new((segment - first).saturating_add(1));
        // The ring holds at most as many segments as it has slots.
        let kept = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        for segment in first..segment.min(first.saturating_add(kept)) {
            let place = larger.place(segment);
            larger.slots[place] = self.get(segment);
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_keeps_what_is_in_flight() {
        for room in [0, 4] {
            let mut pieces = Ring::new(room);
            for segment in 5..40 {
                pieces.put(5, segment, Piece { unit: segment, ..Piece::default() });
            }
            assert!((5..40).all(|segment| pieces.get(segment).unit == segment));
        }
    }
}
