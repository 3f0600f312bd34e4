//! What a call's rating is made of, in points of R.
//!
//! With R(d, p) the E-model's rating at mouth-to-ear delay d and missed share p, the burst ratio always that of all that was
//! missed, and p₁ the share of what never arrived (not counting what was made up):
//!
//! R(d, p) = R(0, 0; Ie = 0) − codec − delay − loss − lateness, with codec = Ie, delay = R(0, 0) − R(d, 0),
//! loss = Ie,eff(p₁) − Ie, lateness = Ie,eff(p) − Ie,eff(p₁).
//!
//! ITU-T G.107 Eq. (7-1) subtracts what delay and what equipment cost independently of one another, so the parts add up as long
//! as R itself is not clipped.

use crate::quality::emodel::{EModel, Rating};
use crate::quality::impairment::Impairment;
use crate::units::Span;

/// Points of R that each cause costs; none is negative.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Causes {
    /// The codec, without losses.
    pub codec: f64,
    /// Delay mouth to ear.
    pub delay: f64,
    /// Units that never arrived.
    pub loss: f64,
    /// Units that arrived too late to be played, and what was made up for those that were only just not too late.
    pub lateness: f64,
}

impl Causes {
    /// `lost` and `missed` are shares from 0 to 1, `lost` the smaller.
    pub(super) fn of(delay: Span, lost: f64, missed: f64, burst_ratio: f64, codec: Impairment) -> Self {
        let rate = |delay, share| EModel::call(delay, share, burst_ratio, codec).rate();
        let (whole, lossy) = (rate(Span::ZERO, 0.0), rate(Span::ZERO, lost));
        Causes {
            codec: whole.equipment,
            delay: delay_cost(&rate(delay, 0.0)) - delay_cost(&whole),
            loss: lossy.equipment - whole.equipment,
            lateness: rate(Span::ZERO, missed).equipment - lossy.equipment,
        }
    }
}

fn delay_cost(rating: &Rating) -> f64 {
    rating.talker_echo + rating.listener_echo + rating.absolute_delay
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::impairment::{self, Concealment};
    use crate::traffic::Codec;

    fn codec() -> Impairment {
        impairment::of(Codec::G729, Concealment::AppendixI).expect("in G.113")
    }

    const DELAY: Span = Span::from_millis(250);

    #[test]
    fn the_parts_and_the_rating_make_a_perfect_call() {
        let rating = EModel::call(DELAY, 0.05, 1.5, codec()).rate();
        let causes = Causes::of(DELAY, 0.02, 0.05, 1.5, codec());
        let perfect = EModel::call(Span::ZERO, 0.0, 1.0, Impairment { equipment: 0.0, ..codec() }).rate();
        let sum = rating.r + causes.codec + causes.delay + causes.loss + causes.lateness;
        // Sidetone changes with the delay by 10⁻⁸.
        assert!((sum - perfect.r).abs() < 1e-6, "{sum} of {perfect:?} {rating:?}: {causes:?}");
    }

    #[test]
    fn each_cause_has_its_own_points() {
        // G.729A + VAD: Ie 11, Bpl 19. Ie,eff = 11 + 84·2/(2 + 19) = 19 at 2 %, 11 + 84·5/(5 + 19) = 28.5 at 5 %.
        let causes = Causes::of(DELAY, 0.02, 0.05, 1.0, codec());
        for (points, expected) in [(causes.codec, 11.0), (causes.loss, 8.0), (causes.lateness, 9.5)] {
            assert!((points - expected).abs() < 1e-9, "{causes:?}");
        }
        // Idd of 250 ms by G.107 Eq. (7-27) alone is 10.9; echo is heard as well.
        assert!((11.0..20.0).contains(&causes.delay), "{causes:?}");
    }

    #[test]
    fn without_delay_loss_and_lateness_there_is_only_the_codec() {
        let causes = Causes::of(Span::ZERO, 0.0, 0.0, 1.0, codec());
        assert_eq!((causes.codec, causes.delay, causes.loss, causes.lateness), (11.0, 0.0, 0.0, 0.0));
    }

    #[test]
    fn clustering_is_that_of_all_that_was_missed() {
        let (random, clustered) =
            (Causes::of(DELAY, 0.02, 0.05, 1.0, codec()), Causes::of(DELAY, 0.02, 0.05, 1.8, codec()));
        assert!(clustered.loss > random.loss && clustered.lateness > random.lateness);
        assert_eq!(clustered.delay, random.delay);
    }
}
