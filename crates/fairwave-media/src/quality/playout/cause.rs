//! Causes of a call's impairment, in points of R.
//!
//! R(d, p) is the E-model's rating at mouth-to-ear delay d and missed share p; the burst ratio is always computed from
//! everything that was missed. p₁ is the share that was lost, without time made up. R₀ is the rating of the same call
//! without delay, loss and codec impairment. Then:
//!
//! R(d, p) = R₀ − codec − delay − loss − lateness, with codec = Ie, delay = Id(d) − Id(0), loss = Ie,eff(p₁) − Ie,
//! lateness = Ie,eff(p) − Ie,eff(p₁).
//!
//! ITU-T G.107 Eq. (7-1) and G.107.1 Eq. (7-1) subtract the impairments by delay and by equipment independently. So the
//! parts add up as long as R is not clipped. If they exceed R₀ together, R is 0 and all parts are reduced in the same
//! proportion. The parts always add up to the loss of R, and no part depends on their order.

use crate::quality::call::{self, UnratedCause};
use crate::quality::emodel::Rating;
use crate::quality::impairment::Reception;
use crate::traffic::Codec;
use fairwave_units::units::Span;

/// Points of R lost to each cause, on the scale of R (up to 129 for wideband codecs). No value is negative.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Causes {
    /// The codec, without losses.
    pub codec: f64,
    /// Mouth-to-ear delay.
    pub delay: f64,
    /// Lost units.
    pub loss: f64,
    /// Units that arrived too late for playout or are still in the sender, and the time made up for units that were
    /// played late.
    pub lateness: f64,
}

impl Causes {
    /// `lost` and `missed` are shares from 0 to 1; `lost` is the smaller one.
    ///
    /// # Errors
    /// [`UnratedCause::NoImpairment`] for a codec without factors.
    pub(super) fn attribute(
        codec: Codec,
        reception: Reception,
        delay: Span,
        lost: f64,
        missed: f64,
        burst_ratio: f64,
    ) -> Result<Self, UnratedCause> {
        let rate = |delay, share| call::rate(codec, reception, delay, share, burst_ratio).map(|rated| rated.rating);
        let (whole, lossy, missing) =
            (rate(Span::ZERO, 0.0)?, rate(Span::ZERO, lost)?, rate(Span::ZERO, missed)?.equipment);
        let parts = Causes {
            codec: whole.equipment,
            delay: delay_cost(&rate(delay, 0.0)?) - delay_cost(&whole),
            loss: lossy.equipment - whole.equipment,
            lateness: missing - lossy.equipment,
        };
        // No codec alone reduces R to 0, so this is R₀.
        Ok(parts.limited_to(whole.r + whole.equipment))
    }

    /// Reduces all parts in proportion, to a sum of at most `all`.
    fn limited_to(self, all: f64) -> Self {
        let sum = self.codec + self.delay + self.loss + self.lateness;
        let share = if sum > all { all / sum } else { 1.0 };
        Causes {
            codec: self.codec * share,
            delay: self.delay * share,
            loss: self.loss * share,
            lateness: self.lateness * share,
        }
    }
}

fn delay_cost(rating: &Rating) -> f64 {
    rating.talker_echo + rating.listener_echo + rating.absolute_delay
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DELAY: Span = Span::from_millis(250);

    fn causes(codec: Codec, delay: Span, lost: f64, missed: f64, burst_ratio: f64) -> Causes {
        Causes::attribute(codec, Reception::default(), delay, lost, missed, burst_ratio).expect("in G.113")
    }

    fn sum(causes: &Causes) -> f64 {
        causes.codec + causes.delay + causes.loss + causes.lateness
    }

    fn r(codec: Codec, delay: Span, missed: f64, burst_ratio: f64) -> f64 {
        call::rate(codec, Reception::default(), delay, missed, burst_ratio).expect("in G.113").rating.r
    }

    /// R of a call without impairment: G.107 §7.7's 93.2, or the end of G.107.1's scale except for echo.
    fn perfect(codec: Codec) -> f64 {
        if codec == Codec::G722 { 128.8463 } else { 93.206 }
    }

    #[test]
    fn causes_have_separate_points() {
        // G.729A + VAD: Ie 11, Bpl 19. Ie,eff = 11 + 84·2/(2 + 19) = 19 at 2 %, 11 + 84·5/(5 + 19) = 28.5 at 5 %.
        let causes = causes(Codec::G729, DELAY, 0.02, 0.05, 1.0);
        for (points, expected) in [(causes.codec, 11.0), (causes.loss, 8.0), (causes.lateness, 9.5)] {
            assert!((points - expected).abs() < 1e-9, "{causes:?}");
        }
        // Idd of 250 ms by G.107 Eq. (7-27) alone is 10.9; echo adds to it.
        assert!((11.0..20.0).contains(&causes.delay), "{causes:?}");
    }

    #[test]
    fn a_wideband_call_has_points_of_the_wideband_scale() {
        // G.722: Ie,wb 13, Bpl,wb 4.3. Ie,eff = 13 + 82·1/5.3 at 1 %, 13 + 82·3/7.3 at 3 %.
        let causes = causes(Codec::G722, DELAY, 0.01, 0.03, 1.0);
        for (points, expected) in
            [(causes.codec, 13.0), (causes.loss, 82.0 / 5.3), (causes.lateness, 82.0 * (3.0 / 7.3 - 1.0 / 5.3))]
        {
            assert!((points - expected).abs() < 1e-9, "{causes:?}");
        }
    }

    #[test]
    fn only_the_codec_costs_points_without_delay_loss_and_lateness() {
        let causes = causes(Codec::G729, Span::ZERO, 0.0, 0.0, 1.0);
        assert_eq!((causes.codec, causes.delay, causes.loss, causes.lateness), (11.0, 0.0, 0.0, 0.0));
    }

    #[test]
    fn clustering_is_that_of_all_that_was_missed() {
        let (random, clustered) =
            (causes(Codec::G729, DELAY, 0.02, 0.05, 1.0), causes(Codec::G729, DELAY, 0.02, 0.05, 1.8));
        assert!(clustered.loss > random.loss && clustered.lateness > random.lateness);
        assert_eq!(clustered.delay, random.delay);
    }

    #[test]
    fn parts_shrink_in_proportion_if_r_is_0() {
        let late = Span::from_seconds(3.0);
        // Half of the units never arrive, and 40 % are too late.
        let causes = causes(Codec::G729, late, 0.5, 0.9, 1.0);
        assert_eq!(r(Codec::G729, late, 0.9, 1.0), 0.0);
        assert!((sum(&causes) - perfect(Codec::G729)).abs() < 1e-3, "{causes:?}");
        // Unclipped: Ie 11, Ie,eff(50 %) = 11 + 84·50/69.
        assert!((causes.loss / causes.codec - 84.0 * 50.0 / 69.0 / 11.0).abs() < 1e-9, "{causes:?}");
        assert!(causes.codec < 11.0 && causes.delay > 20.0 && causes.lateness > 0.0, "{causes:?}");
    }

    #[test]
    fn a_codec_that_g113_does_not_have_has_no_parts() {
        let refused = Causes::attribute(Codec::Ilbc20, Reception::default(), DELAY, 0.0, 0.0, 1.0);
        assert_eq!(refused, Err(UnratedCause::NoImpairment(Codec::Ilbc20)));
    }

    proptest! {
        #[test]
        fn the_parts_and_the_rating_make_a_perfect_call(
            which in 0usize..3, delay in 0u64..4000, missed in 0.0f64..=1.0, lost in 0.0f64..=1.0, burst in 1.0f64..10.0,
        ) {
            let codec = [Codec::G711, Codec::G729, Codec::G722][which];
            let delay = Span::from_millis(delay);
            let causes = causes(codec, delay, lost * missed, missed, burst);
            let whole = r(codec, delay, missed, burst) + sum(&causes);
            prop_assert!((whole - perfect(codec)).abs() < 1e-3, "{whole}: {causes:?}");
            for part in [causes.codec, causes.delay, causes.loss, causes.lateness] {
                prop_assert!(part > -1e-9, "{causes:?}");
            }
        }
    }
}
