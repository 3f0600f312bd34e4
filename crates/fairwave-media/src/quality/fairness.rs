//! Fairness among flows: Jain's index, the worst case, and both over short times.
//!
//! Over the connection time these are the fairness measures of papers 000–003; over one short bin, paper 003's
//! *allotted* fairness; averaged over bins, its *short-term* fairness.

use fairwave_units::units::Rate;

/// Jain's fairness index (Chiu & Jain 1989): (Σxᵢ)² / (n Σxᵢ²), from 1/n if one flow has everything to 1 if all are
/// equal. `None` without flows; 1 if all have nothing, because all are equal then.
pub fn jain(throughputs: &[Rate]) -> Option<f64> {
    let (sum, squares) =
        throughputs.iter().map(|rate| rate.bits_per_second() as f64).fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    match throughputs.len() {
        0 => None,
        _ if squares == 0.0 => Some(1.0),
        n => Some(sum * sum / (n as f64 * squares)),
    }
}

/// Worst-case fairness (paper 002 §4.2): smallest throughput divided by the largest. `None` without flows; 1 if all
/// have nothing.
pub fn worst_case(throughputs: &[Rate]) -> Option<f64> {
    let bits = || throughputs.iter().map(|rate| rate.bits_per_second());
    match (bits().min(), bits().max()) {
        (Some(_), Some(0)) => Some(1.0),
        (Some(min), Some(max)) => Some(min as f64 / max as f64),
        _ => None,
    }
}

/// Short-term fairness (paper 003 §II.A): the mean over time of Jain's index in each bin.
///
/// Each item holds the allotted throughputs of all flows in one bin. Bins in which no flow receives anything contain no
/// information about sharing and are skipped (**assumption**: the paper leaves this open). `None` if no bin is left.
pub fn short_term<'a>(bins: impl IntoIterator<Item = &'a [Rate]>) -> Option<f64> {
    let (sum, count) = (bins.into_iter())
        .filter(|bin| bin.iter().any(|rate| rate.bits_per_second() > 0))
        .filter_map(jain)
        .fold((0.0, 0u32), |(sum, count), index| (sum + index, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rates(bits: &[u64]) -> Vec<Rate> {
        bits.iter().map(|&b| Rate::from_bits_per_second(b)).collect()
    }

    #[test]
    fn jains_index_is_k_over_n_if_k_of_n_flows_share() {
        assert_eq!(jain(&rates(&[5, 5, 5, 0, 0])), Some(0.6));
    }

    #[test]
    fn the_worst_case_sees_the_one_flow_that_starves() {
        let throughputs = rates(&[100, 100, 100, 100, 100, 100, 100, 100, 100, 10]);
        assert_eq!(worst_case(&throughputs), Some(0.1));
        assert!(jain(&throughputs) > Some(0.9));
    }

    #[test]
    fn index_is_undefined_without_flows_or_received_data() {
        assert_eq!((jain(&[]), worst_case(&[])), (None, None));
        assert_eq!(short_term([&rates(&[0, 0])[..], &[]]), None);
    }

    #[test]
    fn turns_are_fair_in_the_long_run_and_not_in_the_short() {
        let bins = [rates(&[10, 0]), rates(&[0, 10]), rates(&[0, 0])];
        assert_eq!(short_term(bins.iter().map(Vec::as_slice)), Some(0.5));
        assert_eq!(jain(&rates(&[10, 10])), Some(1.0));
    }

    proptest! {
        #[test]
        fn jains_index_lies_between_one_over_n_and_one_and_has_no_unit(bits in prop::collection::vec(1u64..1_000_000, 1..40)) {
            let index = jain(&rates(&bits)).expect("there are flows");
            prop_assert!(index >= 1.0 / bits.len() as f64 - 1e-12 && index <= 1.0 + 1e-12);
            let thousandfold: Vec<u64> = bits.iter().map(|b| b * 1000).collect();
            prop_assert!((jain(&rates(&thousandfold)).expect("there are flows") - index).abs() < 1e-9);
        }
    }
}
