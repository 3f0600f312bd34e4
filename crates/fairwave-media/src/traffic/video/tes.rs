//! TES (transform-expand-sample): a random sequence with a given histogram and a chosen autocorrelation.
//!
//! Jagerman & Melamed (1992), Melamed (1991). The background is a walk on the circle of circumference 1. U₀ is uniform
//! and U_n = ⟨U_{n−1} + V_n⟩ (⟨⟩ is the fractional part). The innovations V are uniform on an arc of length α, rotated
//! by φ: from α(φ − 1)/2 to α(φ + 1)/2. This is TES⁺; TES⁻ reflects every other value, 1 − U_n. A short arc makes
//! neighbours similar; a rotation makes the sequence cyclic. Stitching, S_ξ(u) = u/ξ below ξ and (1 − u)/(1 − ξ) above,
//! removes the jump at the end of the circle and keeps the values uniform. The foreground is the inverse of the
//! histogram's distribution function at S_ξ(U_n); values are uniform within a cell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;

/// Family of a TES process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TesSign {
    /// TES⁺: neighbours are similar (positive correlation at lag 1).
    #[default]
    Plus,
    /// TES⁻: neighbours alternate.
    Minus,
}

/// A cell of a histogram.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Cell {
    /// Smallest value, bytes.
    pub low: f64,
    /// Largest value, bytes; above `low`.
    pub high: f64,
    /// Weight, 0 and above; the probability of a cell is its weight divided by the sum of all weights.
    pub weight: f64,
}

/// A TES process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TesConfig {
    /// TES⁺ (default) or TES⁻.
    #[serde(default)]
    pub sign: TesSign,
    /// α: length of the arc of innovations, above 0, at most 1 (all values are independent at 1).
    #[serde(with = "Ratio")]
    pub alpha: f64,
    /// φ: rotation of the arc, from −1 to 1. Default 0.
    #[serde(default)]
    pub phi: f64,
    /// ξ: position of the fold in stitching, from 0 to 1. Default 0.5.
    #[serde(with = "Ratio", default = "half")]
    pub xi: f64,
    /// Histogram of values, with disjoint cells in ascending order.
    pub histogram: Vec<Cell>,
}

fn half() -> f64 {
    0.5
}

impl TesConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(self.alpha > 0.0 && self.alpha <= 1.0) {
            return Err(ConfigError::new("alpha", self.alpha, "above 0 and at most 1", "alpha = 0.3"));
        }
        if !(-1.0..=1.0).contains(&self.phi) {
            return Err(ConfigError::new("phi", self.phi, "from -1 to 1", "phi = 0.0"));
        }
        check_fraction("xi", self.xi, "xi = 0.5")?;
        let example = "histogram = [{ low = 500.0, high = 1500.0, weight = 1.0 }]";
        let mut floor = 0.0;
        for (place, cell) in self.histogram.iter().enumerate() {
            let apart = cell.low >= floor && cell.high > cell.low && cell.high.is_finite();
            if !apart {
                let value = format!("{} to {}", cell.low, cell.high);
                let allowed =
                    format!("a cell with high above low and low at least {floor}, the end of the cell before");
                return Err(ConfigError::new(format!("histogram[{place}]"), value, allowed, example));
            }
            if !(cell.weight >= 0.0 && cell.weight.is_finite()) {
                let key = format!("histogram[{place}].weight");
                return Err(ConfigError::new(key, cell.weight, "0 and above", example));
            }
            floor = cell.high;
        }
        if self.total() <= 0.0 {
            return Err(ConfigError::new("histogram", "without weight", "at least one cell with weight", example));
        }
        Ok(())
    }

    fn total(&self) -> f64 {
        self.histogram.iter().map(|cell| cell.weight).sum()
    }

    /// Returns the mean of the histogram; NaN if it has no weight.
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.histogram.iter().map(|cell| cell.weight * 0.5 * (cell.low + cell.high)).sum();
        sum / self.total()
    }
}

/// State of a TES process.
#[derive(Clone, PartialEq, Debug)]
pub struct Tes {
    sign: TesSign,
    from: f64,
    arc: f64,
    xi: f64,
    /// Cells, each with the cumulative probability up to and including it.
    cells: Vec<(f64, Cell)>,
    background: Option<f64>,
    odd: bool,
}

impl Tes {
    /// Returns the process for `config`.
    ///
    /// # Errors
    /// The errors of [`TesConfig::check`].
    pub fn new(config: &TesConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let total = config.total();
        let mut below = 0.0;
        let cells = config.histogram.iter().filter(|cell| cell.weight > 0.0).map(|cell| {
            below += cell.weight / total;
            (below, *cell)
        });
        Ok(Tes {
            sign: config.sign,
            from: config.alpha * (config.phi - 1.0) / 2.0,
            arc: config.alpha,
            xi: config.xi,
            cells: cells.collect(),
            background: None,
            odd: true,
        })
    }

    /// Returns the next value of the background process, in [0, 1).
    fn walk(&mut self, stream: &mut Stream) -> f64 {
        let draw = stream.uniform();
        let next = match self.background {
            None => draw,
            Some(before) => {
                let moved = before + self.from + self.arc * draw;
                moved - libm::floor(moved)
            }
        };
        self.background = Some(next);
        self.odd = !self.odd;
        if self.sign == TesSign::Minus && self.odd { 1.0 - next } else { next }
    }

    fn stitch(&self, u: f64) -> f64 {
        if u < self.xi { u / self.xi } else { (1.0 - u) / (1.0 - self.xi).max(f64::MIN_POSITIVE) }
    }

    /// Evaluates the inverse of the histogram's distribution function.
    fn invert(&self, probability: f64) -> f64 {
        let place = self.cells.partition_point(|(below, _)| *below < probability);
        let Some((below, cell)) = self.cells.get(place).or(self.cells.last()) else { return 0.0 };
        let before = place.checked_sub(1).and_then(|i| self.cells.get(i)).map_or(0.0, |(below, _)| *below);
        let within = ((probability - before) / (below - before)).clamp(0.0, 1.0);
        cell.low + (cell.high - cell.low) * within
    }

    /// Returns the next value. Draws one number from `stream`.
    pub fn next_value(&mut self, stream: &mut Stream) -> f64 {
        let background = self.walk(stream);
        self.invert(self.stitch(background))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;
    use proptest::prelude::*;

    fn config(alpha: f64, phi: f64, sign: TesSign) -> TesConfig {
        let cell = |low, high, weight| Cell { low, high, weight };
        let histogram = vec![cell(100.0, 200.0, 1.0), cell(300.0, 500.0, 2.0), cell(500.0, 1000.0, 1.0)];
        TesConfig { sign, alpha, phi, xi: 0.5, histogram }
    }

    fn values(config: &TesConfig, n: usize, seed: u64) -> Vec<f64> {
        let (mut tes, mut stream) = (Tes::new(config).expect("valid"), Seed(seed).stream("tes"));
        (0..n).map(|_| tes.next_value(&mut stream)).collect()
    }

    fn autocorrelation(values: &[f64], lag: usize) -> f64 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let product = |lag: usize| values.iter().zip(&values[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
        product(lag) / product(0)
    }

    #[test]
    fn the_histogram_is_kept_whatever_the_correlation() {
        for (alpha, sign) in [(1.0, TesSign::Plus), (0.3, TesSign::Plus), (0.3, TesSign::Minus)] {
            let values = values(&config(alpha, 0.1, sign), 200_000, 1);
            let share =
                |low, high| values.iter().filter(|v| (low..high).contains(*v)).count() as f64 / values.len() as f64;
            for (measured, expected) in
                [(share(100.0, 200.0), 0.25), (share(300.0, 500.0), 0.5), (share(500.0, 1000.0), 0.25)]
            {
                assert!((measured - expected).abs() < 0.02, "{measured} instead of {expected} at α = {alpha}");
            }
        }
    }

    #[test]
    fn the_mean_is_the_histograms() {
        let config = config(0.5, 0.0, TesSign::Plus);
        assert_eq!(config.mean(), 150.0 * 0.25 + 400.0 * 0.5 + 750.0 * 0.25);
        let values = values(&config, 200_000, 2);
        assert!((values.iter().sum::<f64>() / 200_000.0 / config.mean() - 1.0).abs() < 0.02);
    }

    #[test]
    fn the_whole_circle_makes_values_independent_and_a_short_arc_makes_them_alike() {
        let at_lag_1 = |alpha, sign| autocorrelation(&values(&config(alpha, 0.0, sign), 100_000, 3), 1);
        assert!(at_lag_1(1.0, TesSign::Plus).abs() < 0.02);
        assert!(at_lag_1(0.2, TesSign::Plus) > 0.8);
        assert!(at_lag_1(0.5, TesSign::Plus) > at_lag_1(0.9, TesSign::Plus));
    }

    #[test]
    fn tes_minus_without_symmetric_stitching_alternates() {
        let tes = TesConfig { xi: 1.0, ..config(0.2, 0.0, TesSign::Minus) };
        assert!(autocorrelation(&values(&tes, 100_000, 4), 1) < -0.3);
    }

    #[test]
    fn uniform_cell_returns_the_background() {
        // Stitching at 1 changes nothing, so the difference at lag 1 is the innovation: at most α/2 around the circle.
        let histogram = vec![Cell { low: 0.0, high: 1.0, weight: 7.0 }];
        let values = values(&TesConfig { sign: TesSign::Plus, alpha: 0.1, phi: 0.0, xi: 1.0, histogram }, 1000, 5);
        for pair in values.windows(2) {
            let apart = (pair[0] - pair[1]).abs();
            assert!(apart.min(1.0 - apart) <= 0.05 + 1e-12, "{pair:?}");
        }
    }

    #[test]
    fn a_bad_histogram_is_refused_with_the_cell() {
        let mut overlapping = config(0.5, 0.0, TesSign::Plus);
        overlapping.histogram[1].low = 150.0;
        assert!(overlapping.check().expect_err("overlap").to_string().contains("histogram[1]"));
        assert!(TesConfig { histogram: Vec::new(), ..config(0.5, 0.0, TesSign::Plus) }.check().is_err());
        assert!(config(0.0, 0.0, TesSign::Plus).check().is_err() && config(0.5, 2.0, TesSign::Plus).check().is_err());
    }

    proptest! {
        #[test]
        fn values_stay_within_the_cells(alpha in 0.001..=1.0f64, phi in -1.0..=1.0f64, xi in 0.0..=1.0f64, seed: u64, minus: bool) {
            let sign = if minus { TesSign::Minus } else { TesSign::Plus };
            let config = TesConfig { xi, ..config(alpha, phi, sign) };
            for value in values(&config, 200, seed) {
                prop_assert!(config.histogram.iter().any(|c| (c.low..=c.high).contains(&value)), "{value}");
            }
        }
    }
}
