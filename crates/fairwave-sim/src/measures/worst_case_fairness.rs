//! Smallest goodput of a group's flows divided by the largest.

use super::{Better, Group, Measure, Words};
use fairwave_core::quality::fairness::worst_case;

/// See [`worst_case`].
pub struct WorstCaseFairness;

impl Measure for WorstCaseFairness {
    const WORDS: Words = Words {
        name: "worst_case_fairness",
        about: "Smallest over largest goodput among the flows (paper 002).",
        title: "worst-case fairness",
        better: Better::Higher,
        least: Some(0.0),
        most: Some(1.0),
        ..Words::PLAIN
    };

    fn compute(group: &Group<'_>) -> Option<f64> {
        worst_case(&group.goodputs)
    }
}
