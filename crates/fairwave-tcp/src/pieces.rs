//! What each segment carries, kept from the moment the application hands it over until it is acknowledged.

use fairwave_units::units::Instant;

/// What a segment carries: a whole unit or a piece of one.
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
    /// The last piece of its unit.
    pub last: bool,
}

/// One value per outstanding segment, in a ring that doubles when it is full and then stays.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// Length is a power of two; segment `s` is at `s mod` length.
    slots: Vec<T>,
}

impl<T: Copy + Default> Ring<T> {
    /// A ring for at least `room` segments. Without room it takes no memory until something is put in.
    pub fn new(room: u32) -> Self {
        let slots = if room == 0 { 0 } else { (room as usize).next_power_of_two() };
        Ring { slots: vec![T::default(); slots] }
    }

    #[inline]
    fn place(&self, segment: u32) -> usize {
        segment as usize & (self.slots.len() - 1)
    }

    /// What is kept for `segment`. Only segments from the first unacknowledged one to the last put in are kept.
    #[inline]
    pub fn get(&self, segment: u32) -> T {
        self.slots[self.place(segment)]
    }

    /// Keeps a value for `segment`; those in `[first, segment)` stay.
    #[inline]
    pub fn put(&mut self, first: u32, segment: u32, value: T) {
        if segment.saturating_sub(first) as usize >= self.slots.len() {
            self.grow(first, segment);
        }
        let place = self.place(segment);
        self.slots[place] = value;
    }

    /// Keeps another value for `segment`, for which one is kept.
    #[inline]
    pub fn set(&mut self, segment: u32, value: T) {
        let place = self.place(segment);
        self.slots[place] = value;
    }

    #[cold]
    fn grow(&mut self, first: u32, segment: u32) {
        let mut larger = Ring::new((segment - first).saturating_add(1));
        // Only the latest of as many segments as there are slots are here at all.
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
