//! What each segment carries, kept from the moment the application hands it over until it is acknowledged.

use crate::units::Instant;

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

/// Pieces by segment number, in a ring that doubles when it is full and then stays.
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    /// Length is a power of two; segment `s` is at `s mod` length.
    slots: Vec<Piece>,
}

impl Pieces {
    /// A ring for at least `room` segments.
    pub fn new(room: u32) -> Self {
        Pieces { slots: vec![Piece::default(); (room as usize).next_power_of_two()] }
    }

    #[inline]
    fn place(&self, segment: u32) -> usize {
        segment as usize & (self.slots.len() - 1)
    }

    /// What `segment` carries. Only segments from the first unacknowledged one to the last put in are kept.
    #[inline]
    pub fn get(&self, segment: u32) -> Piece {
        self.slots[self.place(segment)]
    }

    /// Keeps what `segment` carries; those in `[first, segment)` stay.
    #[inline]
    pub fn put(&mut self, first: u32, segment: u32, piece: Piece) {
        if (segment - first) as usize >= self.slots.len() {
            self.grow(first, segment);
        }
        let place = self.place(segment);
        self.slots[place] = piece;
    }

    fn grow(&mut self, first: u32, segment: u32) {
        let mut larger = Pieces::new((segment - first).saturating_add(1));
        for kept in first..segment {
            let place = larger.place(kept);
            larger.slots[place] = self.get(kept);
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_keeps_what_is_in_flight() {
        let mut pieces = Pieces::new(4);
        for segment in 5..40 {
            pieces.put(5, segment, Piece { unit: segment, ..Piece::default() });
        }
        assert!((5..40).all(|segment| pieces.get(segment).unit == segment));
    }
}
