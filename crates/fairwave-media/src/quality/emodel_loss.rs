//! Impairment by packet loss, for both the narrowband and the wideband scale: Ie,eff of ITU-T G.107 §7.5 (Eq. 7-29) and
//! G.107.1 §7.5 (Eq. 7-15), extended to a loss of 100 %.

/// Largest impairment by codec and losses in Eq. 7-29 if losses are not bursty.
const MOST: f64 = 95.0;
/// Upper limit of Ppl in the Recommendations, percent.
const VALID: f64 = 20.0;
/// Upper limit of the burst ratio in G.107.
const BURSTIEST: f64 = 8.0;

/// Returns Ie,eff = Ie + (95 − Ie) · Ppl / (Ppl / BurstR + Bpl), for the fraction `loss` of packets lost.
///
/// At most 95 within the Recommendation's range. Beyond a loss of 20 %, at least the value on the straight line to
/// `everything` at a loss of 100 %. `everything` is R without losses, so that R reaches 0 there. The result never
/// decreases with `loss` or `burst_ratio`.
pub(super) fn effective_impairment(
    equipment: f64,
    robustness: f64,
    loss: f64,
    burst_ratio: f64,
    everything: f64,
) -> f64 {
    let burst_ratio = burst_ratio.clamp(1.0, BURSTIEST);
    let by_equation = |ppl: f64| {
        let effective = equipment + (MOST - equipment) * ppl / (ppl / burst_ratio + robustness);
        effective.min(MOST.max(equipment))
    };
    let ppl = 100.0 * loss.clamp(0.0, 1.0);
    if ppl <= VALID {
        return by_equation(ppl);
    }
    let last = by_equation(VALID);
    let line = last + (everything - last) * (ppl - VALID) / (100.0 - VALID);
    by_equation(ppl).max(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNDISTURBED: f64 = 93.35;

    #[test]
    fn equals_the_recommendations_equation_within_its_range() {
        // By hand: 11 + 84 · 5 / (5 + 19) = 28.5; 84 · 20 / (20 / 2 + 19) + 11 = 68.93.
        assert!((effective_impairment(11.0, 19.0, 0.05, 1.0, UNDISTURBED) - 28.5).abs() < 1e-9);
        assert!((effective_impairment(11.0, 19.0, 0.2, 2.0, UNDISTURBED) - (11.0 + 1680.0 / 29.0)).abs() < 1e-9);
        assert_eq!(effective_impairment(11.0, 19.0, 0.0, 1.0, UNDISTURBED), 11.0);
    }

    #[test]
    fn total_loss_leaves_nothing() {
        for burst_ratio in [1.0, 2.0, 1e9] {
            assert!(effective_impairment(0.0, 25.1, 1.0, burst_ratio, UNDISTURBED) >= UNDISTURBED - 1e-9);
            assert!((effective_impairment(13.0, 4.3, 1.0, burst_ratio, 129.0) - 129.0).abs() < 1e-9);
        }
    }

    #[test]
    fn line_holds_from_20_to_100_percent_if_the_equation_is_milder() {
        // G.711 with concealment at 60 %: the equation yields 95 · 60 / 85.1 = 66.98; the line from 42.13 to 93.35 is
        // at 67.74 halfway.
        let last = 95.0 * 20.0 / 45.1;
        let line = (last + UNDISTURBED) / 2.0;
        assert!((effective_impairment(0.0, 25.1, 0.6, 1.0, UNDISTURBED) - line).abs() < 1e-9);
        // At 30 % the equation yields more impairment.
        assert!((effective_impairment(0.0, 25.1, 0.3, 1.0, UNDISTURBED) - 95.0 * 30.0 / 55.1).abs() < 1e-9);
    }

    #[test]
    fn bursts_cost_no_more_than_95_and_an_impairment_above_that_is_not_mended() {
        assert_eq!(effective_impairment(0.0, 4.3, 0.2, 8.0, UNDISTURBED), 95.0);
        assert_eq!(effective_impairment(99.0, 4.3, 0.0, 1.0, UNDISTURBED), 99.0);
    }

    #[test]
    fn burst_ratios_count_from_1_to_8() {
        let at = |burst_ratio| effective_impairment(0.0, 25.1, 0.1, burst_ratio, UNDISTURBED);
        assert_eq!(at(0.2), at(1.0));
        assert_eq!(at(100.0), at(8.0));
        assert!(at(8.0) > at(7.9));
        assert!((at(8.0) - 95.0 * 10.0 / (10.0 / 8.0 + 25.1)).abs() < 1e-9);
    }

    #[test]
    fn has_no_step_at_the_end_of_its_range() {
        for (equipment, robustness) in [(0.0, 25.1), (0.0, 4.3), (19.0, 16.1)] {
            let at = |loss| effective_impairment(equipment, robustness, loss, 1.5, UNDISTURBED);
            assert!((at(0.2 + 1e-9) - at(0.2)).abs() < 1e-6);
        }
    }

    #[test]
    fn losses_below_0_and_above_1_count_as_these() {
        assert_eq!(effective_impairment(11.0, 19.0, -1.0, 1.0, UNDISTURBED), 11.0);
        assert_eq!(
            effective_impairment(11.0, 19.0, 7.0, 1.0, UNDISTURBED),
            effective_impairment(11.0, 19.0, 1.0, 1.0, UNDISTURBED)
        );
    }

    proptest! {
        #[test]
        fn never_falls_with_loss_or_bursts(
            equipment in 0.0f64..50.0, robustness in 4.3f64..40.0, everything in 60.0f64..130.0,
            loss in 0.0f64..=1.0, more in 0.0f64..0.5, burst in 0.5f64..10.0, burstier in 0.0f64..10.0,
        ) {
            let at = |loss, burst| effective_impairment(equipment, robustness, loss, burst, everything);
            let here = at(loss, burst);
            prop_assert!(here >= equipment - 1e-9 && here <= everything.max(95.0) + 1e-9);
            prop_assert!(at((loss + more).min(1.0), burst) >= here - 1e-9);
            // The line starts at the end of the equation, so the line for a higher burst ratio is above it everywhere.
            prop_assert!(at(loss, burst + burstier) >= here - 1e-9);
        }
    }
}
