//! Smallest goodput in a group as a share of the mean goodput.
//!
//! Source: none but the definition: the smallest goodput over the mean.

use super::{Better, Group, Kind, Measure, Words};

/// Smallest goodput over the mean.
pub struct PoorestShare;

impl Measure for PoorestShare {
    const WORDS: Words = Words {
        name: "poorest_share",
        about: "Smallest goodput of a flow over the mean, in %: 100 when all have the same, 0 when one has nothing.",
        title: "share of the poorest flow",
        unit: "%",
        factor: 100.0,
        better: Better::Higher,
        least: Some(0.0),
        most: Some(100.0),
        applies: &[Kind::Bulk],
        least_flows: 2,
    };

    fn compute(group: &Group<'_>) -> Option<f64> {
        let bits = || group.goodputs.iter().map(|rate| rate.bits_per_second() as f64);
        let mean = bits().sum::<f64>() / group.goodputs.len() as f64;
        (mean > 0.0).then(|| bits().fold(f64::INFINITY, f64::min) / mean)
    }
}

#[cfg(test)]
mod tests {
    use fairwave_core::units::Rate;

    use super::*;

    fn share(goodputs: &[u64]) -> Option<f64> {
        let goodputs = goodputs.iter().map(|bits| Rate::from_bits_per_second(*bits)).collect();
        PoorestShare::compute(&Group { flows: Vec::new(), goodputs, bins: Vec::new() })
    }

    #[test]
    fn it_is_one_where_all_have_the_same_and_nothing_where_one_has_nothing() {
        assert_eq!([share(&[5, 5, 5]), share(&[0, 6]), share(&[1, 3])], [Some(1.0), Some(0.0), Some(0.5)]);
        assert_eq!([share(&[]), share(&[0, 0])], [None, None]);
    }
}
