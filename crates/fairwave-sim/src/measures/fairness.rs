//! Jain's index of the goodputs of a group's flows.

use super::{Better, EVERY, Group, Measure, Words};
use fairwave_core::quality::fairness::jain;

/// See [`jain`].
pub struct Fairness;

impl Measure for Fairness {
    const WORDS: Words = Words {
        name: "fairness",
        about: "Jain's index of the flows' goodputs, (Σx)² / (n Σx²): 1 when all have the same, 1/n when one has all.",
        title: "fairness (Jain)",
        better: Better::Higher,
        least: Some(0.0),
        most: Some(1.0),
        applies: EVERY,
        least_flows: 2,
        ..Words::PLAIN
    };

    fn compute(group: &Group<'_>) -> Option<f64> {
        jain(&group.goodputs)
    }
}
