//! Smoothness of reception: the coefficient of variation of a flow's throughput (Yang et al. 2001; papers 002 §4.2, 003
//! §II.A).

use fairwave_units::units::{Bytes, Rate, Span};

/// CoV = √(E{x²} − E{x}²) / E{x} over the bins of one flow. `None` without bins or if nothing was received.
///
/// The caller chooses flow, bin width and start: paper 002 uses 150 ms from 2 s on, paper 003 several RTTs from 15 s
/// on.
pub fn coefficient_of_variation(throughputs: &[Rate]) -> Option<f64> {
    let n = throughputs.len() as f64;
    let bits = || throughputs.iter().map(|rate| rate.bits_per_second() as f64);
    let mean = bits().sum::<f64>() / n;
    // Computed around the mean, because for steady flows the difference of squares in the equation loses all digits.
    let variance = bits().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    (mean > 0.0).then(|| libm::sqrt(variance) / mean)
}

/// CoV of a system: the mean CoV of its flows (papers 002, 003), without flows that received nothing. `None` if no flow
/// is left.
pub fn system_coefficient_of_variation<'a>(flows: impl IntoIterator<Item = &'a [Rate]>) -> Option<f64> {
    let (sum, count) = (flows.into_iter())
        .filter_map(coefficient_of_variation)
        .fold((0.0, 0u32), |(sum, count), cov| (sum + cov, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Returns the rates of the complete bins of `width` between `from` and `until`, from payload counted in narrower bins
/// of `grain` since the start of the run. `width` is a multiple of `grain`; incomplete bins are excluded.
pub fn rates(payload: &[Bytes], grain: Span, width: Span, from: Span, until: Span) -> Vec<Rate> {
    if grain == Span::ZERO || width < grain {
        return Vec::new();
    }
    let per_bin = (width.nanos() / grain.nanos()) as usize;
    let index = |time: Span| usize::try_from(time.nanos() / grain.nanos()).unwrap_or(usize::MAX);
    let first = index(from + grain.saturating_sub(Span::from_nanos(1))).min(payload.len());
    let last = index(until).clamp(first, payload.len());
    (payload[first..last].chunks_exact(per_bin))
        .map(|bin| bin.iter().fold(Bytes::ZERO, |sum, &size| sum + size).rate_over(grain * per_bin as u64))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(rates: &[u64]) -> Vec<Rate> {
        rates.iter().map(|&b| Rate::from_bits_per_second(b)).collect()
    }

    #[test]
    fn a_steady_flow_does_not_vary() {
        assert_eq!(coefficient_of_variation(&bits(&[700_000_001; 9])), Some(0.0));
    }

    #[test]
    fn a_flow_that_comes_every_other_bin_varies_by_one() {
        assert_eq!(coefficient_of_variation(&bits(&[0, 8, 0, 8])), Some(1.0));
    }

    #[test]
    fn a_system_varies_as_its_flows_do_on_the_mean_those_without_anything_left_out() {
        let (coming, steady, silent) = (bits(&[0, 8, 0, 8]), bits(&[5, 5, 5, 5]), bits(&[0, 0, 0, 0]));
        assert_eq!(system_coefficient_of_variation([&coming[..], &steady, &coming, &silent]), Some(2.0 / 3.0));
        assert_eq!(
            (coefficient_of_variation(&silent), system_coefficient_of_variation([&silent[..], &[]])),
            (None, None)
        );
    }

    #[test]
    fn a_sawtooth_between_half_and_full_varies_by_a_ninth_of_root_twelve_times_two() {
        // Uniform on [W/2, W]: standard deviation W/(2√12), mean 3W/4, so CoV = 1/(3√3).
        let saw: Vec<u64> = (0..=10_000).map(|i| 1_000_000 + 100 * i).collect();
        let cov = coefficient_of_variation(&bits(&saw)).expect("it receives");
        assert!((cov - 1.0 / (3.0 * 3f64.sqrt())).abs() < 1e-3);
    }

    #[test]
    fn bins_are_gathered_from_the_first_whole_one_on() {
        let payload: Vec<Bytes> = (0..10).map(Bytes::new).collect();
        let second = Span::from_secs(1);
        let found = rates(&payload, second, second * 2, Span::from_millis(500), second * 8);
        // Bins of seconds 1+2, 3+4, 5+6; second 7 alone does not fill a bin.
        assert_eq!(found, bits(&[12, 28, 44]));
    }

    #[test]
    fn bins_are_at_least_one_grain_wide_and_the_grain_is_above_zero() {
        let payload = [Bytes::new(8); 4];
        let second = Span::from_secs(1);
        assert_eq!(rates(&payload, second, Span::from_millis(500), Span::ZERO, second * 4), []);
        assert_eq!(rates(&payload, Span::ZERO, second, Span::ZERO, second * 4), []);
        assert_eq!(rates(&payload, second, second, Span::ZERO, second * 4), bits(&[64; 4]));
    }

    proptest! {
        #[test]
        fn cov_has_no_unit(rates in prop::collection::vec(1u64..1_000_000, 2..40)) {
            let thousandfold: Vec<u64> = rates.iter().map(|r| r * 1000).collect();
            let cov = |rates: &[u64]| coefficient_of_variation(&bits(rates)).expect("it receives");
            prop_assert!((cov(&rates) - cov(&thousandfold)).abs() < 1e-9);
        }
    }
}
