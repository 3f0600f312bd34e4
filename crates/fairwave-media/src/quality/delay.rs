//! One-way delay of received units: mean, exact quantiles, distribution function.

use fairwave_units::units::{Instant, Span};

/// Mean and quantiles of delays. Quantiles are exact, by the nearest rank: the q-quantile is the smallest delay such
/// that at least a share q of all delays do not exceed it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelaySummary {
    /// Number of delays.
    pub count: u64,
    /// Mean.
    pub mean: Span,
    /// Smallest.
    pub min: Span,
    /// Median.
    pub p50: Span,
    /// 95th percentile.
    pub p95: Span,
    /// 99th percentile.
    pub p99: Span,
    /// Largest.
    pub max: Span,
}

impl DelaySummary {
    /// Summarises `delays`; `None` if there are none.
    pub fn from_delays(delays: impl IntoIterator<Item = Span>) -> Option<Self> {
        let mut sorted: Vec<Span> = delays.into_iter().collect();
        sorted.sort_unstable();
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let sum: u128 = sorted.iter().map(|delay| u128::from(delay.nanos())).sum();
        let mean = Span::from_nanos((sum / sorted.len() as u128) as u64);
        let at = |q| quantile(&sorted, q).unwrap_or(max);
        Some(DelaySummary { count: sorted.len() as u64, mean, min, p50: at(0.50), p95: at(0.95), p99: at(0.99), max })
    }

    /// Summarises the delays of units given as (created, arrived).
    pub fn from_units(units: impl IntoIterator<Item = (Instant, Instant)>) -> Option<Self> {
        Self::from_delays(units.into_iter().map(|(created, arrived)| arrived - created))
    }
}

/// Returns the `q`-quantile (0 to 1) of delays in ascending order, by the nearest rank; `None` if there are none.
pub fn quantile(sorted: &[Span], q: f64) -> Option<Span> {
    let rank = libm::ceil(q * sorted.len() as f64) as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied()
}

/// Returns the share of delays, given in ascending order, that do not exceed `delay` (the empirical distribution
/// function); `None` if there are none.
pub fn share_within(sorted: &[Span], delay: Span) -> Option<f64> {
    (!sorted.is_empty()).then(|| sorted.partition_point(|&d| d <= delay) as f64 / sorted.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn millis(delays: &[u64]) -> Vec<Span> {
        delays.iter().map(|&ms| Span::from_millis(ms)).collect()
    }

    #[test]
    fn quantiles_are_delays_that_occurred() {
        let hundred: Vec<u64> = (1..=100).rev().collect();
        let summary = DelaySummary::from_delays(millis(&hundred)).expect("a hundred delays");
        assert_eq!([summary.p50, summary.p95, summary.p99, summary.max].map(Span::millis), [50.0, 95.0, 99.0, 100.0]);
        assert_eq!(summary.mean, Span::from_micros(50_500));
    }

    #[test]
    fn a_units_delay_is_from_when_it_was_made_until_it_arrived() {
        let at = |millis| Instant::ZERO + Span::from_millis(millis);
        let summary = DelaySummary::from_units([(at(10), at(30)), (at(20), at(60))]).expect("two units");
        assert_eq!([summary.min, summary.mean, summary.max].map(Span::millis), [20.0, 30.0, 40.0]);
        assert_eq!(DelaySummary::from_units([]), None);
    }

    #[test]
    fn summary_needs_delays() {
        assert_eq!(DelaySummary::from_delays([]), None);
        assert_eq!(quantile(&[], 0.5), None);
    }

    proptest! {
        #[test]
        fn a_quantile_is_the_smallest_delay_within_which_its_share_falls(
            mut delays in prop::collection::vec(0u64..50, 1..60), q in 0.01f64..1.0,
        ) {
            delays.sort_unstable();
            let sorted = millis(&delays);
            let found = quantile(&sorted, q).expect("not empty");
            prop_assert!(share_within(&sorted, found).expect("there are delays") >= q - 1e-12);
            if found > Span::ZERO {
                prop_assert!(share_within(&sorted, found.saturating_sub(Span::from_nanos(1))).expect("there are delays") < q + 1e-12);
            }
        }
    }
}
