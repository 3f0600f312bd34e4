//! Capacity of a resource block: tables of channel quality indicators (CQI), and the resource elements left for data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which table of channel quality indicators the cell uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CqiTable {
    /// Up to 64-QAM: 3GPP TS 36.213 Table 7.2.3-1, the same as 3GPP TS 38.214 Table 5.2.2.1-2.
    #[default]
    #[serde(rename = "64-qam")]
    Qam64,
    /// Up to 256-QAM: 3GPP TS 36.213 Table 7.2.3-2, the same as 3GPP TS 38.214 Table 5.2.2.1-3.
    #[serde(rename = "256-qam")]
    Qam256,
}

/// The highest indicator. 0 means out of range: nothing can be sent.
pub(super) const HIGHEST: u8 = 15;

/// Bits per resource element of indicators 0 to 15 (3GPP TS 36.213 Table 7.2.3-1).
const EFFICIENCY_64: [f64; 16] = [
    0.0, 0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234,
    5.1152, 5.5547,
];

/// Bits per resource element of indicators 0 to 15 (Table 7.2.3-2).
const EFFICIENCY_256: [f64; 16] = [
    0.0, 0.1523, 0.3770, 0.8770, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152, 5.5547, 6.2266,
    6.9141, 7.4063,
];

/// Signal-to-noise ratio, in dB, at which a block of indicators 1 to 15 fails with probability 0.1. 3GPP TS 36.213 §7.2.3
/// defines the indicator by this probability. † Values that system simulations of LTE commonly use; the standard has none,
/// and the first publication was not found.
const THRESHOLD_64: [f64; 15] = [-6.7, -4.7, -2.3, 0.2, 2.4, 4.3, 5.9, 8.1, 10.3, 11.7, 14.1, 16.3, 18.7, 21.0, 22.7];

/// The thresholds of the 256-QAM table; † beyond 64-QAM, extrapolated with the slope of the last steps.
const THRESHOLD_256: [f64; 15] =
    [-6.7, -2.3, 2.4, 5.9, 8.1, 10.3, 11.7, 14.1, 16.3, 18.7, 21.0, 22.7, 25.1, 27.5, 29.3];

impl CqiTable {
    /// Bits per resource element; 0 for indicator 0. Indicators above 15 count as 15.
    pub fn efficiency(self, cqi: u8) -> f64 {
        let table = match self {
            CqiTable::Qam64 => &EFFICIENCY_64,
            CqiTable::Qam256 => &EFFICIENCY_256,
        };
        table.get(usize::from(cqi)).copied().unwrap_or(table[usize::from(HIGHEST)])
    }

    fn thresholds(self) -> &'static [f64; 15] {
        match self {
            CqiTable::Qam64 => &THRESHOLD_64,
            CqiTable::Qam256 => &THRESHOLD_256,
        }
    }

    /// The indicator that a receiver reports at this signal-to-noise ratio (dB); 0 below the table.
    pub fn cqi(self, snr: f64) -> u8 {
        self.thresholds().partition_point(|threshold| *threshold <= snr) as u8
    }

    /// The lowest signal-to-noise ratio (dB) of an indicator; minus infinity for 0.
    pub fn threshold(self, cqi: u8) -> f64 {
        match cqi.min(HIGHEST) {
            0 => f64::NEG_INFINITY,
            cqi => self.thresholds()[usize::from(cqi) - 1],
        }
    }

    /// Mean bits per element of a Rayleigh channel with mean ratio `snr` (dB), if each block uses the current indicator.
    /// Sums the efficiency of each indicator times its share of time under exponential power.
    pub fn mean_efficiency(self, snr: f64) -> f64 {
        let mean = from_db(snr);
        let above = |cqi: u8| libm::exp(-from_db(self.threshold(cqi)) / mean);
        (1..=HIGHEST).map(|cqi| (self.efficiency(cqi) - self.efficiency(cqi - 1)) * above(cqi)).sum()
    }
}

/// Converts a ratio in dB to a linear one.
pub(super) fn from_db(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

/// Resource elements of a block and a slot (12 subcarriers, 14 symbols) that are left for data.
///
/// LTE, down: the reference resource of 3GPP TS 36.213 §7.2.3 has three control symbols. Two antenna ports use 12 more
/// elements for reference signals (3GPP TS 36.211 §6.10.1.2). LTE, up: two symbols are reference signals (3GPP TS 36.211
/// §5.5.2.1). 5G: the overheads 0.14 and 0.08 of 3GPP TS 38.306 §4.1.2.
pub(super) fn elements(numerology: u8, uplink: bool) -> f64 {
    match (numerology, uplink) {
        (0, false) => 120.0,
        (0, true) => 144.0,
        (_, false) => 168.0 * 0.86,
        (_, true) => 168.0 * 0.92,
    }
}

/// Resource blocks that are given out together (3GPP TS 36.213 Table 7.1.6.1-1); beyond LTE's sizes 3GPP TS 38.214 Table 5.1.2.2.1-1, configuration 1.
pub(super) fn group(blocks: u32) -> u32 {
    match blocks {
        0..=10 => 1,
        11..=26 => 2,
        27..=63 => 3,
        64..=110 => 4,
        111..=144 => 8,
        _ => 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indicators_have_the_efficiencies_of_36_213() {
        // Modulation order and code rate · 1024 of Table 7.2.3-1.
        let rows = [(2, 78), (2, 120), (2, 193), (2, 308), (2, 449), (2, 602), (4, 378), (4, 490), (4, 616), (6, 466)];
        let rest = [(6, 567), (6, 666), (6, 772), (6, 873), (6, 948)];
        for (cqi, (order, rate)) in (1..).zip(rows.into_iter().chain(rest)) {
            let expected = f64::from(order) * f64::from(rate) / 1024.0;
            assert!((CqiTable::Qam64.efficiency(cqi) - expected).abs() < 6e-5, "{cqi}");
        }
        assert!((CqiTable::Qam256.efficiency(15) - 8.0 * 948.0 / 1024.0).abs() < 6e-5);
        assert!((CqiTable::Qam256.efficiency(13) - 8.0 * 797.0 / 1024.0).abs() < 6e-5);
    }

    #[test]
    fn a_ratio_outside_the_table_is_out_of_range_or_the_highest() {
        for table in [CqiTable::Qam64, CqiTable::Qam256] {
            assert_eq!((table.cqi(-40.0), table.cqi(90.0), table.cqi(f64::NEG_INFINITY)), (0, 15, 0));
            for cqi in 1..=15 {
                assert_eq!(table.cqi(table.threshold(cqi)), cqi);
                assert_eq!(table.cqi(table.threshold(cqi) - 1e-9), cqi - 1);
            }
        }
    }

    #[test]
    fn ten_megahertz_at_the_highest_indicator_carry_33_megabits() {
        let bits = elements(0, false) * 50.0 * CqiTable::Qam64.efficiency(15) * 1000.0;
        assert!((bits / 1e6 - 33.3).abs() < 0.1, "{bits}");
    }

    #[test]
    fn blocks_are_grouped_as_36_213_says() {
        assert_eq!([6, 15, 25, 50, 75, 100].map(group), [1, 2, 2, 3, 4, 4]);
    }
}
