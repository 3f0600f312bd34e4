//! Variation of the goodput of a group's flows from bin to bin.

use super::{Better, Group, Measure, Words};
use fairwave_core::quality::smoothness::system_coefficient_of_variation;

/// See [`system_coefficient_of_variation`].
pub struct Cov;

impl Measure for Cov {
    const WORDS: Words = Words {
        name: "cov",
        about: "Coefficient of variation of a flow's goodput over bins after the warm-up, mean over flows; needs bins.",
        title: "coefficient of variation",
        better: Better::Lower,
        least: Some(0.0),
        ..Words::PLAIN
    };

    fn compute(group: &Group<'_>) -> Option<f64> {
        system_coefficient_of_variation(group.bins.iter().map(Vec::as_slice))
    }
}
