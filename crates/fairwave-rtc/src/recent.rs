//! Ring buffer for values of the latest numbers of a stream: packets, frames.

/// A ring of at most `KEPT` entries, indexed by number. An entry is replaced by one with the same number modulo `KEPT`.
///
/// The ring starts small. It doubles only if a new entry would replace one that must be kept, so a slow stream needs
/// little memory.
#[derive(Clone, Debug)]
pub struct Recent<T, const KEPT: usize> {
    /// Entries by number modulo their count, a power of two.
    places: Vec<Option<(u64, T)>>,
}

impl<T, const KEPT: usize> Default for Recent<T, KEPT> {
    fn default() -> Self {
        const { assert!(KEPT.is_power_of_two()) };
        Recent { places: Vec::new() }
    }
}

impl<T, const KEPT: usize> Recent<T, KEPT> {
    /// Initial size.
    const FIRST: usize = if KEPT < 32 { KEPT } else { 32 };

    /// Returns the index of a number in a ring of `places` entries.
    fn place(number: u64, places: usize) -> usize {
        (number as usize) & places.wrapping_sub(1)
    }

    /// Stores a value.
    pub fn put(&mut self, number: u64, value: T) {
        loop {
            let count = self.places.len();
            if let Some(place) = self.places.get_mut(Self::place(number, count)) {
                let free = place.as_ref().is_none_or(|(other, _)| Self::place(*other ^ number, KEPT) == 0);
                if free {
                    *place = Some((number, value));
                    return;
                }
            }
            self.grow();
        }
    }

    /// Doubles the ring. Numbers with different places in the smaller ring have different places in the larger one.
    fn grow(&mut self) {
        let count = (2 * self.places.len()).max(Self::FIRST);
        let mut places = Vec::new();
        places.resize_with(count, || None);
        for entry in std::mem::take(&mut self.places).into_iter().flatten() {
            if let Some(place) = places.get_mut(Self::place(entry.0, count)) {
                *place = Some(entry);
            }
        }
        self.places = places;
    }

    /// Returns the value with this number, if it is kept.
    pub fn get(&self, number: u64) -> Option<&T> {
        let (kept, value) = self.places.get(Self::place(number, self.places.len()))?.as_ref()?;
        (*kept == number).then_some(value)
    }

    /// Returns the value with this number for modification, if it is kept.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let count = self.places.len();
        let (kept, value) = self.places.get_mut(Self::place(number, count))?.as_mut()?;
        (*kept == number).then_some(value)
    }

    /// Removes all values; the memory stays allocated.
    pub fn clear(&mut self) {
        self.places.iter_mut().for_each(|place| *place = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keeps_the_same_as_a_ring_of_full_size(
            numbers in prop::collection::vec(prop_oneof![0u64..200, 65_400u64..65_600, any::<u64>()], 0..400),
        ) {
            let (mut recent, mut whole) = (Recent::<usize, 128>::default(), vec![None; 128]);
            for (value, number) in numbers.iter().enumerate() {
                recent.put(*number, value);
                whole[*number as usize % 128] = Some((*number, value));
                for asked in &numbers {
                    let expected = whole[*asked as usize % 128].filter(|one| one.0 == *asked).map(|one| one.1);
                    prop_assert_eq!(recent.get(*asked).copied(), expected);
                    prop_assert_eq!(recent.get_mut(*asked).copied(), expected);
                }
            }
            prop_assert!(recent.places.len() <= 128);
            recent.clear();
            prop_assert!(numbers.iter().all(|number| recent.get(*number).is_none()));
        }
    }

    #[test]
    fn a_few_numbers_take_little() {
        let mut recent = Recent::<u8, 2048>::default();
        assert!(recent.get(0).is_none() && recent.places.is_empty());
        (0..33).for_each(|number| recent.put(number, 0));
        assert_eq!(recent.places.len(), 64);
    }
}
