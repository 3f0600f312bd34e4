//! The layers of a video: how fast each is, and how many of them a rate can carry (paper 002 §3.3).
//!
//! Layers are cumulative: layer 1 is the base, and layer j is useful only with all layers before it. With layer rates
//! l₁ … l_k, the cumulative rate up to layer j is c_j = l₁ + … + l_j, and a rate R carries K = max{j : c_j ≤ R}.

use crate::config::ConfigError;
use crate::units::Rate;

/// The cumulative rates c₁ … c_k of a video's layers, in payload; empty for what is not layered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LayerRates {
    cumulative: [Rate; LayerRates::MOST],
    count: u8,
    /// They are versions of the whole video, of which one is sent.
    versions: bool,
}

impl LayerRates {
    /// Most layers that a video may have.
    pub const MOST: usize = 8;

    /// The layers with these rates of their own (l₁ … l_k), base first.
    ///
    /// # Errors
    /// When there is none, when there are more than 8, or when one has rate zero (then c_j would not increase).
    pub fn new(rates: &[Rate]) -> Result<Self, ConfigError> {
        const EXAMPLE: &str = "layers = [\"128 kb/s\", \"128 kb/s\", \"256 kb/s\"]";
        if rates.is_empty() {
            return Err(ConfigError::new("layers", "[]", "at least the base layer's rate", EXAMPLE));
        }
        if rates.len() > Self::MOST {
            return Err(ConfigError::new("layers", rates.len(), "at most 8 layers", EXAMPLE));
        }
        let mut layers = LayerRates { count: rates.len() as u8, ..LayerRates::default() };
        let mut total = 0_u64;
        for (place, rate) in rates.iter().enumerate() {
            if rate.bits_per_second() == 0 {
                let key = format!("layers[{place}]");
                return Err(ConfigError::new(key, rate, "above 0, so that cumulative rates increase", EXAMPLE));
            }
            total = total.saturating_add(rate.bits_per_second());
            layers.cumulative[place] = Rate::from_bits_per_second(total);
        }
        Ok(layers)
    }

    /// The same video coded several times, slowest first (simulcast). Each version is a separate stream with a separate
    /// rate; a receiver needs only one of them.
    ///
    /// # Errors
    /// When there is none, when there are more than 8, or when one is not faster than the one before.
    pub fn versions(rates: &[Rate]) -> Result<Self, ConfigError> {
        let mut before = 0;
        let mut steps = [Rate::default(); Self::MOST];
        for (place, rate) in rates.iter().enumerate() {
            let Some(step) = rate.bits_per_second().checked_sub(before).filter(|&step| step > 0) else {
                let key = format!("layers[{place}]");
                return Err(ConfigError::new(
                    key,
                    rate,
                    "faster than the version before",
                    "layers = [\"128 kb/s\", \"256 kb/s\"]",
                ));
            };
            before = rate.bits_per_second();
            if let Some(slot) = steps.get_mut(place) {
                *slot = Rate::from_bits_per_second(step);
            }
        }
        match steps.get(..rates.len()) {
            Some(steps) => Ok(LayerRates { versions: true, ..LayerRates::new(steps)? }),
            None => LayerRates::new(rates),
        }
    }

    /// True for versions of the whole video, of which one is sent; false for layers that add up.
    pub const fn are_versions(&self) -> bool {
        self.versions
    }

    /// c₁ … c_k; of versions, their rates.
    pub fn cumulative(&self) -> &[Rate] {
        &self.cumulative[..usize::from(self.count)]
    }

    /// l₁ … l_k: what each layer adds.
    pub fn own(&self) -> impl Iterator<Item = Rate> + '_ {
        let mut before = 0;
        self.cumulative().iter().map(move |c| {
            let own = c.bits_per_second() - before;
            before = c.bits_per_second();
            Rate::from_bits_per_second(own)
        })
    }

    /// k: how many layers there are; 0 for what is not layered.
    pub const fn count(&self) -> u8 {
        self.count
    }

    /// K = max{j : c_j ≤ `rate`}; 0 when not even the base layer fits.
    pub fn carried_by(&self, rate: Rate) -> u8 {
        self.cumulative().iter().take_while(|&&c| c <= rate).count() as u8
    }

    /// c₁; `None` for what is not layered.
    pub fn base(&self) -> Option<Rate> {
        self.cumulative().first().copied()
    }

    /// c_k; `None` for what is not layered.
    pub fn total(&self) -> Option<Rate> {
        self.cumulative().last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kilobits(rates: &[u64]) -> Vec<Rate> {
        rates.iter().map(|&k| Rate::from_bits_per_second(k * 1000)).collect()
    }

    #[test]
    fn a_rate_carries_the_layers_whose_cumulative_rate_it_reaches() {
        let layers = LayerRates::new(&kilobits(&[128, 128, 256])).expect("three layers");
        let carried = [127_999, 128_000, 255_999, 256_000, 511_999, 512_000].map(Rate::from_bits_per_second);
        assert_eq!(carried.map(|rate| layers.carried_by(rate)), [0, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn layers_that_do_not_increase_are_refused_with_key_and_remedy() {
        let error = LayerRates::new(&kilobits(&[128, 0])).expect_err("the second adds nothing").to_string();
        assert!(error.contains("layers[1]") && error.contains("above 0") && error.contains("kb/s"), "{error}");
        assert!(LayerRates::new(&[]).expect_err("no layer").to_string().contains("base layer"));
        assert!(LayerRates::new(&kilobits(&[1; 9])).is_err());
    }

    #[test]
    fn versions_have_their_own_rates_and_each_is_faster_than_the_one_before() {
        let versions = LayerRates::versions(&kilobits(&[128, 256, 512])).expect("three versions");
        assert_eq!(versions.cumulative(), kilobits(&[128, 256, 512]));
        assert!(versions.are_versions() && !LayerRates::new(&kilobits(&[128])).expect("a layer").are_versions());
        assert_eq!(versions.carried_by(Rate::from_bits_per_second(511_999)), 2);
        assert_eq!(LayerRates::versions(&kilobits(&[128, 128])).expect_err("as fast").key, "layers[1]");
        assert_eq!(LayerRates::versions(&kilobits(&[1, 2, 3, 4, 5, 6, 7, 8, 9])).expect_err("nine").key, "layers");
        assert_eq!(LayerRates::versions(&[]).expect_err("none").key, "layers");
    }

    proptest! {
        #[test]
        fn the_layers_carried_fit_and_one_more_would_not(rates in prop::collection::vec(1u64..2000, 1..=8), rate in 0u64..20_000_000) {
            let layers = LayerRates::new(&kilobits(&rates)).expect("valid layers");
            let rate = Rate::from_bits_per_second(rate);
            let carried = usize::from(layers.carried_by(rate));
            prop_assert!(carried == 0 || layers.cumulative()[carried - 1] <= rate);
            prop_assert!(carried == rates.len() || layers.cumulative()[carried] > rate);
        }
    }
}
