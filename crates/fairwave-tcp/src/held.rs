//! The receiver's out-of-order segments and their contents.

use fairwave_units::units::Instant;

use super::pieces::{Piece, Ring};
use super::ranges::Ranges;

/// Capacity in out-of-order segments before the ring has to grow.
const FIRST_HELD: u32 = 8;

/// Segments received out of order. Uses no memory before the first one.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutOfOrderSegments {
    pub ranges: Ranges,
    pieces: Option<Box<Pieces>>,
}

/// Contents of the held segments. With many connections this is a large part of the memory.
#[derive(Clone, Debug)]
enum Pieces {
    /// Compact form: each segment carries one whole unit, all units are alike, and all were made within two
    /// seconds of the first held one.
    Alike {
        /// The first held segment, and its contents.
        segment: u32,
        piece: Piece,
        /// Creation time of each segment's unit relative to the first one, nanoseconds.
        later: Ring<i32>,
    },
    /// General form.
    Each(Ring<Piece>),
}

impl OutOfOrderSegments {
    /// Stores `segment`, which is not held and is beyond `next`.
    pub fn put(&mut self, next: u32, segment: u32, piece: Piece) {
        let pieces = self.pieces.get_or_insert_with(|| {
            let later = Ring::new(FIRST_HELD);
            Box::new(Pieces::Alike { segment, piece, later })
        });
        if let Pieces::Alike { segment: first, piece: model, later } = &mut **pieces {
            if let Some(time) = creation_offset(model, segment.wrapping_sub(*first), &piece) {
                later.put(next, segment, time);
            } else {
                let mut each = Ring::new(FIRST_HELD);
                // In descending order, so that the ring grows only once.
                for held in self.ranges.descending().flat_map(|range| (range.first..range.end).rev()) {
                    each.put(next, held, pieces.get(held));
                }
                each.put(next, segment, piece);
                **pieces = Pieces::Each(each);
            }
        } else if let Pieces::Each(each) = &mut **pieces {
            each.put(next, segment, piece);
        }
        self.ranges.insert(segment, segment + 1);
    }

    /// The contents of the held `segment`.
    pub fn piece(&self, segment: u32) -> Piece {
        self.pieces.as_ref().map(|pieces| pieces.get(segment)).unwrap_or_default()
    }

    /// Removes held segments before `next`. Frees the memory with the last one: most connections hold no segments
    /// most of the time.
    pub fn remove_before(&mut self, next: u32) {
        self.ranges.remove_before(next);
        if self.ranges.first().is_none() {
            self.pieces = None;
        }
    }

    /// One past the run of held segments that starts at `next`.
    pub fn end_of_run(&self, next: u32) -> u32 {
        self.ranges.first().filter(|range| range.first == next).map_or(next, |range| range.end)
    }
}

impl Pieces {
    fn get(&self, segment: u32) -> Piece {
        match self {
            Pieces::Alike { segment: first, piece, later } => {
                let later = i64::from(later.get(segment)) as u64;
                Piece {
                    created: Instant::from_nanos(piece.created.nanos().wrapping_add(later)),
                    unit: piece.unit.wrapping_add(segment.wrapping_sub(*first)),
                    ..*piece
                }
            }
            Pieces::Each(each) => each.get(segment),
        }
    }
}

/// The creation time of `piece` relative to `model`, nanoseconds, for a segment that is `behind` positions after
/// the model's. `None` if the pieces differ in other fields than unit and time, or if the time does not fit.
fn creation_offset(model: &Piece, behind: u32, piece: &Piece) -> Option<i32> {
    let alike = Piece { created: piece.created, unit: model.unit.wrapping_add(behind), ..*model };
    let later = piece.created.nanos().wrapping_sub(model.created.nanos()) as i64;
    i32::try_from(later).ok().filter(|_| alike == *piece)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::collections::btree_map::Entry;

    use proptest::prelude::*;

    use super::*;

    /// Contents of a segment. `what` selects a normal unit, or one of another size, layer, number, part or time.
    fn piece(segment: u32, what: u8) -> Piece {
        let time = 3_000_000_000 + u64::from(segment % 7) * 90_000_000;
        let like = Piece { created: Instant::from_nanos(time), unit: segment - 1, payload: 1000, layer: 0, last: true };
        match what {
            0 => Piece { payload: 400, ..like },
            1 => Piece { layer: 1, ..like },
            2 => Piece { unit: segment + 3, ..like },
            3 => Piece { last: false, ..like },
            4 => Piece { created: Instant::ZERO, ..like },
            _ => like,
        }
    }

    proptest! {
        #[test]
        fn held_pieces_equal_those_put_in(
            arrivals in prop::collection::vec((1u32..40, 0u8..=255), 1..200), least in prop::sample::select(vec![0u8, 5])
        ) {
            let (mut held, mut plain, mut next) = (OutOfOrderSegments::default(), BTreeMap::new(), 1);
            for (ahead, what) in arrivals {
                let segment = next + ahead;
                if what % 16 == 15 {
                    next = segment;
                    plain.retain(|one, _| *one >= next);
                    held.remove_before(next);
                } else if let Entry::Vacant(vacant) = plain.entry(segment) {
                    let piece = vacant.insert(piece(segment, (what % 16).max(least)));
                    held.put(next, segment, *piece);
                }
                prop_assert_eq!(held.ranges.count() as usize, plain.len());
                prop_assert_eq!(held.pieces.is_none(), plain.is_empty());
                for (segment, piece) in &plain {
                    prop_assert_eq!(held.piece(*segment), *piece);
                }
            }
        }
    }
}
