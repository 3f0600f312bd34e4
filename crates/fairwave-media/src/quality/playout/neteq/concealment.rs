//! Fading of concealment: `mute_factor` of libwebrtc `neteq/expand.cc`.
//!
//! Concealment repeats the last pitch period. After three periods it fades by 0.0010 per sample at 8 kHz, after seven
//! by 0.0020. **Assumption.** The preceding sound was steady voice, which by itself does not fade (`mute_slope` 0).

/// 1 in Q14.
const FULL: i64 = 1 << 14;

/// Concealment since the last decoded packet. Lengths are in samples at 8 kHz.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Concealment {
    made: i64,
    periods: i64,
    factor: i64,
}

impl Concealment {
    pub(super) const fn inactive() -> Self {
        Concealment { made: 0, periods: 0, factor: FULL }
    }

    /// Extends the concealment by `samples`, in periods of `period` samples.
    pub(super) fn extend(&mut self, samples: i64, period: i64) {
        self.made += samples;
        while self.periods * period < self.made && self.factor > 0 {
            let slope = match self.periods {
                0..=2 => 0,
                3..=6 => 1049,
                _ => 2097,
            };
            // Conversion from Q20 to Q14, with the rounding of expand.cc.
            let gain = FULL - ((period * slope + 8192) >> 6);
            let factor = (gain.max(0) * self.factor + 8192) >> 14;
            self.factor = match slope {
                0 => self.factor,
                _ if self.periods > 3 && factor >= self.factor => 0,
                _ => factor,
            };
            self.periods += 1;
        }
    }

    /// Checks whether the factor is below one half.
    pub(super) const fn is_faded(&self) -> bool {
        self.factor < FULL / 2
    }

    /// Checks whether the factor is zero.
    pub(super) const fn is_silent(&self) -> bool {
        self.factor == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the factors after each period of 50 samples.
    fn factors(periods: usize) -> Vec<i64> {
        let mut concealment = Concealment::inactive();
        (0..periods)
            .map(|_| {
                concealment.extend(50, 50);
                concealment.factor
            })
            .collect()
    }

    #[test]
    fn fades_after_three_periods_and_faster_after_seven() {
        // By hand: gains 1 − 947/16384 and 1 − 1766/16384 per period.
        assert_eq!(factors(12), [16384, 16384, 16384, 15437, 14545, 13704, 12912, 11520, 10278, 9170, 8182, 7300]);
    }

    #[test]
    fn is_faded_below_half_and_finally_silent() {
        let mut concealment = Concealment::inactive();
        concealment.extend(500, 50);
        assert!(!concealment.is_faded());
        concealment.extend(1, 50);
        assert!(concealment.is_faded() && !concealment.is_silent());
        concealment.extend(8000, 50);
        assert!(concealment.is_silent());
    }

    #[test]
    fn short_pieces_fade_like_long_ones() {
        let (mut short, mut long) = (Concealment::inactive(), Concealment::inactive());
        for _ in 0..10 {
            short.extend(80, 50);
        }
        long.extend(800, 50);
        assert_eq!(short, long);
    }

    #[test]
    fn a_factor_that_rounding_keeps_up_becomes_none() {
        let mut concealment = Concealment { made: 400, periods: 8, factor: 4 };
        concealment.extend(50, 50);
        assert!(concealment.is_silent());
    }
}
