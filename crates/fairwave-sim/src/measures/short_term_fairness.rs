//! Jain's index within each bin, mean over bins.

use super::{Better, Group, Measure, Words};
use fairwave_core::quality::fairness::short_term;

/// See [`short_term`].
pub struct ShortTermFairness;

impl Measure for ShortTermFairness {
    const WORDS: Words = Words {
        name: "short_term_fairness",
        about: "Mean of Jain's index per bin after the warm-up; needs a scenario that records bins.",
        title: "short-term fairness",
        better: Better::Higher,
        least: Some(0.0),
        most: Some(1.0),
        ..Words::PLAIN
    };

    fn compute(group: &Group<'_>) -> Option<f64> {
        short_term(group.goodputs_by_bin().iter().map(Vec::as_slice))
    }
}
