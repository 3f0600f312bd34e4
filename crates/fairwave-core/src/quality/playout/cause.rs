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
