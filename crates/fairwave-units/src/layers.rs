//! Layers of a video: the rate of each layer, and how many layers a given rate can carry (paper 002 §3.3).
//!
//! Layers are cumulative: layer 1 is the base, and layer j is useful only with all layers before it. With layer
//! rates l₁ … l_k, the cumulative rate up to layer j is c_j = l₁ + … + l_j. A rate R carries K = max{j : c_j ≤ R}.

use crate::config::ConfigError;
use crate::units::Rate;

/// Cumulative payload rates c₁ … c_k of a video's layers. Empty if the video has no layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LayerRates {
    cumulative: [Rate; LayerRates::MOST],
    count: u8,
    /// True for versions of the whole video (simulcast): the sender sends one of them.
    versions: bool,
}

impl LayerRates {
    /// The maximum number of layers of a video.
    pub const MOST: usize = 8;

    /// Creates cumulative layers from the rate that each layer adds (l₁ … l_k), base first.
    ///
    /// # Errors
    /// If there is no rate or more than 8, or if one is zero (then c_j would not increase).
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
    /// If there is no rate or more than 8, or if one is not above the one before it.
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

    /// True for versions of the whole video (one is sent). False for layers that add up.
    pub const fn are_versions(&self) -> bool {
        self.versions
    }

    /// The cumulative rates c₁ … c_k. For simulcast, the rates of the versions.
    pub fn cumulative(&self) -> &[Rate] {
        &self.cumulative[..usize::from(self.count)]
    }

    /// The rates l₁ … l_k that each layer adds.
    pub fn own(&self) -> impl Iterator<Item = Rate> + '_ {
        let mut before = 0;
        self.cumulative().iter().map(move |c| {
            let own = c.bits_per_second() - before;
            before = c.bits_per_second();
            Rate::from_bits_per_second(own)
        })
    }

    /// The number k of layers; 0 without layers.
    pub const fn count(&self) -> u8 {
        self.count
    }

    /// K = max{j : c_j ≤ `rate`}; 0 if not even the base layer fits.
    pub fn carried_by(&self, rate: Rate) -> u8 {
        self.cumulative().iter().take_while(|&&c| c <= rate).count() as u8
    }

    /// The base rate c₁; `None` without layers.
    pub fn base(&self) -> Option<Rate> {
        self.cumulative().first().copied()
    }

    /// The total rate c_k; `None` without layers.
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
