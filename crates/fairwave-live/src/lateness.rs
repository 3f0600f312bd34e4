//! Histogram of lateness with logarithmic steps of a few per cent. It holds any number of values in constant memory.

use fairwave_core::units::Span;

/// Steps per octave.
const STEPS: u64 = 32;

/// Histogram of values. Percentiles are accurate to one part in 32.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    /// Number of values.
    pub values: u64,
    worst: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Lateness { counts: vec![0; 60 * STEPS as usize], values: 0, worst: 0 }
    }
}

fn bin_index(nanos: u64) -> usize {
    if nanos < STEPS {
        return nanos as usize;
    }
    let power = u64::from(nanos.ilog2()) - u64::from(STEPS.ilog2());
    ((power + 1) * STEPS + (nanos >> power) - STEPS) as usize
}

/// Returns the smallest value above bin `place`.
fn bin_end(place: usize) -> u64 {
    let place = place as u64 + 1;
    if place < STEPS {
        return place;
    }
    (STEPS + place % STEPS) << (place / STEPS - 1)
}

impl Lateness {
    /// Adds a value.
    pub fn add(&mut self, late: Span) {
        let nanos = late.nanos();
        if let Some(count) = self.counts.get_mut(bin_index(nanos)) {
            *count += 1;
        }
        self.values += 1;
        self.worst = self.worst.max(nanos);
    }

    /// Returns the percentile for `share` (0 to 1), rounded up to the end of its bin; `None` without values.
    pub fn percentile(&self, share: f64) -> Option<Span> {
        let wanted = ((self.values as f64 * share).ceil() as u64).max(1);
        let mut so_far = 0;
        let found = self.counts.iter().position(|count| {
            so_far += count;
            so_far >= wanted
        })?;
        Some(Span::from_nanos(bin_end(found).min(self.worst)))
    }

    /// Returns the largest value; `None` without values.
    pub fn worst(&self) -> Option<Span> {
        (self.values > 0).then(|| Span::from_nanos(self.worst))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_percentile_is_right_to_one_part_in_32(mut values in proptest::collection::vec(0u64..3_000_000_000, 1..400)) {
            let mut lateness = Lateness::default();
            values.iter().for_each(|value| lateness.add(Span::from_nanos(*value)));
            values.sort_unstable();
            for share in [0.5, 0.99, 1.0] {
                let exact = values[((values.len() as f64 * share).ceil() as usize).max(1) - 1];
                let found = lateness.percentile(share).expect("values").nanos();
                prop_assert!(found >= exact && found <= exact + exact / 32 + 1, "{} for {}", found, exact);
            }
            prop_assert_eq!(lateness.worst().expect("values").nanos(), values[values.len() - 1]);
        }
    }

    #[test]
    fn no_values_give_no_percentile() {
        assert_eq!((Lateness::default().percentile(0.5), Lateness::default().worst()), (None, None));
    }
}
