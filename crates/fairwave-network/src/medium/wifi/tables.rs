//! Frame durations, and the signal-to-noise ratios at which frames fail: rates, preambles and interframe spaces of IEEE
//! 802.11.
//!
//! Clauses of IEEE 802.11-2020: 15 (DSSS), 16 (CCK), 17 (OFDM), 18 (ERP), 19 (HT), 21 (VHT); 27 (HE) belongs to IEEE
//! 802.11ax-2021.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A generation of Wi-Fi.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum WifiStandard {
    /// DSSS and CCK: 1, 2, 5.5 and 11 Mb/s (indices 0 to 3).
    #[serde(rename = "802.11b")]
    B,
    /// OFDM, 20 MHz: 6, 9, 12, 18, 24, 36, 48 and 54 Mb/s (indices 0 to 7). At 5 GHz this is 802.11a.
    #[serde(rename = "802.11g")]
    G,
    /// High throughput (Wi-Fi 4): MCS 0 to 7 per stream, 20 or 40 MHz, up to 4 streams, aggregation.
    #[default]
    #[serde(rename = "802.11n")]
    N,
    /// Very high throughput (Wi-Fi 5): MCS 0 to 9, up to 160 MHz and 8 streams.
    #[serde(rename = "802.11ac")]
    Ac,
    /// High efficiency (Wi-Fi 6): MCS 0 to 11; one station at a time (no OFDMA).
    #[serde(rename = "802.11ax")]
    Ax,
}

impl WifiStandard {
    /// The highest index of modulation and coding.
    pub const fn highest(self) -> u8 {
        match self {
            WifiStandard::B => 3,
            WifiStandard::G | WifiStandard::N => 7,
            WifiStandard::Ac => 9,
            WifiStandard::Ax => 11,
        }
    }

    /// Widths in MHz, and the most spatial streams.
    pub const fn widths(self) -> (&'static [u32], u8) {
        match self {
            WifiStandard::B | WifiStandard::G => (&[20], 1),
            WifiStandard::N => (&[20, 40], 4),
            WifiStandard::Ac | WifiStandard::Ax => (&[20, 40, 80, 160], 8),
        }
    }

    /// Guard intervals in nanoseconds; empty if there is no choice.
    pub const fn guards(self) -> &'static [u64] {
        match self {
            WifiStandard::B | WifiStandard::G => &[],
            WifiStandard::N | WifiStandard::Ac => &[800, 400],
            WifiStandard::Ax => &[800, 1600, 3200],
        }
    }

    /// Whether it has A-MPDU aggregation.
    pub const fn aggregates(self) -> bool {
        !matches!(self, WifiStandard::B | WifiStandard::G)
    }

    /// Maximum size of an A-MPDU, bytes (the largest that the capabilities of clauses 19, 21 and 27 can announce).
    pub const fn longest_aggregate(self) -> u64 {
        match self {
            WifiStandard::B | WifiStandard::G => 4095,
            WifiStandard::N => 65_535,
            WifiStandard::Ac => 1_048_575,
            WifiStandard::Ax => 4_194_303,
        }
    }
}

/// Data bits per subcarrier and stream of an index: bits per symbol · code rate (clauses 19, 21 and 27).
const BITS: [f64; 12] = [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 4.5, 5.0, 6.0, 20.0 / 3.0, 7.5, 25.0 / 3.0];

/// Rates of 802.11g in Mb/s (clause 18), which are 802.11a's (clause 17).
const OFDM: [f64; 8] = [6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];

/// Rates of 802.11b in Mb/s (clauses 15 and 16).
const DSSS: [f64; 4] = [1.0, 2.0, 5.5, 11.0];

/// Signal-to-noise ratio in dB at which one frame in ten fails, by index. It is the receiver's minimum sensitivity (clauses
/// 19, 21 and 27: −82 dBm of index 0 to −52 dBm of index 11) minus the noise. The noise is that of 20 MHz, with a noise
/// figure of 10 dB and an implementation margin of 5 dB, as the sensitivities assume (clause 17). On wider channels, noise
/// and sensitivity grow by the same amount, so the ratios stay the same.
const THRESHOLD: [f64; 12] = [4.0, 7.0, 9.0, 12.0, 16.0, 20.0, 21.0, 22.0, 27.0, 29.0, 32.0, 34.0];

/// The thresholds of 802.11g (clause 17: −82 to −65 dBm).
const THRESHOLD_OFDM: [f64; 8] = [4.0, 5.0, 7.0, 9.0, 12.0, 16.0, 20.0, 21.0];

/// The thresholds of 802.11b: −80 dBm at 2 Mb/s (clause 15) and −76 dBm at 11 Mb/s (clause 16), in 22 MHz. † 1 and 5.5 Mb/s
/// have no sensitivity; their thresholds follow from the ratio of the rates.
const THRESHOLD_DSSS: [f64; 4] = [2.6, 5.6, 6.6, 9.6];

/// Spread, in dB, of the ratio at which a frame fails: the width of the waterfall †, as in the cell.
const SPREAD: f64 = 1.0;

/// Distance in standard deviations between failure rates of 0.1 and 0.5.
const TENTH: f64 = 1.281_551_565_545;

/// Failure probabilities below this count as 0.
const SURE: f64 = 1e-7;

/// The transmission times of one medium, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Phy {
    pub standard: WifiStandard,
    pub slot: u64,
    pub sifs: u64,
    modes: Vec<Mode>,
    /// Signal extension after a frame, nanoseconds.
    extension: u64,
    /// An acknowledgement at the lowest basic rate.
    pub lowest_ack: u64,
    /// Preamble and header of a control frame, after which a receiver detects it (aRxPHYStartDelay).
    pub lead: u64,
}

/// Parameters of one index.
#[derive(Clone, Copy, Debug)]
struct Mode {
    /// Bits per symbol, duration of a symbol and of the preamble in nanoseconds. For DSSS, a symbol is one bit.
    bits: f64,
    symbol: f64,
    preamble: u64,
    valid: bool,
    ack: u64,
    block_ack: u64,
    rts: u64,
}

/// Service and tail bits of OFDM.
const SERVICE: f64 = 22.0;

/// Bytes of control frames.
const ACK: u64 = 14;
const BLOCK_ACK: u64 = 32;
const RTS: u64 = 20;

/// Parameters that determine the times.
pub(super) struct Numbers {
    pub standard: WifiStandard,
    pub five: bool,
    pub width: u32,
    pub streams: u8,
    pub guard: u64,
    pub slot: Option<u64>,
    pub sifs: Option<u64>,
    pub preamble: Option<u64>,
}

impl Phy {
    pub fn new(numbers: &Numbers) -> Self {
        let Numbers { standard, five, width, streams, guard, slot, sifs, preamble } = *numbers;
        let dsss = standard == WifiStandard::B;
        // aSignalExtension of OFDM at 2.4 GHz (clauses 18 and 19).
        let extension = if dsss || five { 0 } else { 6_000 };
        let tones = match (standard, width) {
            (WifiStandard::Ax, 20) => 234.0,
            (WifiStandard::Ax, 40) => 468.0,
            (WifiStandard::Ax, 80) => 980.0,
            (WifiStandard::Ax, _) => 1960.0,
            (_, 20) => 52.0,
            (_, 40) => 108.0,
            (_, 80) => 234.0,
            _ => 468.0,
        };
        let count = u64::from(streams);
        // Training fields for 1, 2, 3 … streams.
        let training = match count {
            1 | 2 | 4 | 6 | 8 => count,
            _ => count + 1,
        };
        let of = |index: usize| {
            let (bits, symbol, usual) = match standard {
                WifiStandard::B => (1.0, 1000.0 / DSSS[index], 192_000),
                WifiStandard::G => (OFDM[index] * 4.0, 4000.0, 20_000),
                WifiStandard::N => {
                    (tones * BITS[index] * f64::from(streams), 3200.0 + guard as f64, 32_000 + 4_000 * training)
                }
                WifiStandard::Ac => {
                    (tones * BITS[index] * f64::from(streams), 3200.0 + guard as f64, 36_000 + 4_000 * training)
                }
                // HE-LTF of 6.4 µs and its guard interval, 12.8 µs for the longest one.
                WifiStandard::Ax => (
                    tones * BITS[index] * f64::from(streams),
                    12_800.0 + guard as f64,
                    36_000 + training * (guard + if guard == 3200 { 12_800 } else { 6_400 }),
                ),
            };
            let rate = bits / symbol * 1000.0;
            let control = |bytes: u64| control(standard, rate, bytes, preamble) + extension;
            Mode {
                bits: libm::floor(bits + 1e-6),
                symbol,
                preamble: preamble.unwrap_or(usual),
                valid: exists(standard, index, width, streams),
                ack: control(ACK),
                block_ack: control(BLOCK_ACK),
                rts: control(RTS),
            }
        };
        let modes: Vec<Mode> = (0..=usize::from(standard.highest())).map(of).collect();
        let lowest = |bytes| control(standard, 0.0, bytes, preamble) + extension;
        Phy {
            standard,
            slot: slot.unwrap_or(if dsss { 20_000 } else { 9_000 }),
            sifs: sifs.unwrap_or(if five { 16_000 } else { 10_000 }),
            modes,
            extension,
            lowest_ack: lowest(ACK),
            lead: if dsss { preamble.unwrap_or(192_000) } else { 20_000 },
        }
    }

    fn mode(&self, index: u8) -> &Mode {
        &self.modes[usize::from(index).min(self.modes.len() - 1)]
    }

    /// Whether the index exists at this width and number of streams.
    pub fn has(&self, index: u8) -> bool {
        self.modes.get(usize::from(index)).is_some_and(|mode| mode.valid)
    }

    /// Existing indices in ascending order.
    pub fn indices(&self) -> impl Iterator<Item = u8> + '_ {
        (0..self.modes.len() as u8).filter(|index| self.has(*index))
    }

    /// The highest existing index that is at most `index`.
    pub fn floor_index(&self, index: u8) -> u8 {
        (0..=index.min(self.modes.len() as u8 - 1)).rev().find(|index| self.has(*index)).unwrap_or(0)
    }

    /// Duration of a frame of `bytes` bytes, including the preamble, in nanoseconds.
    pub fn duration(&self, index: u8, bytes: u64) -> u64 {
        let mode = self.mode(index);
        let bits = bytes as f64 * 8.0;
        let symbols = match self.standard {
            WifiStandard::B => bits,
            _ => libm::ceil((bits + SERVICE) / mode.bits),
        };
        mode.preamble + libm::ceil(symbols * mode.symbol) as u64 + self.extension
    }

    /// Maximum size of a frame that lasts at most `nanos` nanoseconds.
    pub fn bytes_in(&self, index: u8, nanos: u64) -> u64 {
        let mode = self.mode(index);
        let left = nanos.saturating_sub(mode.preamble + self.extension) as f64 / mode.symbol;
        let bits = match self.standard {
            WifiStandard::B => left,
            _ => libm::floor(left) * mode.bits - SERVICE,
        };
        (bits.max(0.0) / 8.0) as u64
    }

    /// Duration of the acknowledgement of a frame that was sent with this index, in nanoseconds.
    pub fn ack(&self, index: u8, block: bool) -> u64 {
        let mode = self.mode(index);
        if block { mode.block_ack } else { mode.ack }
    }

    /// Duration of the RTS before a frame of this index, in nanoseconds. It is not faster than the frame, so that a node
    /// that can receive one can receive both.
    pub fn rts(&self, index: u8) -> u64 {
        self.mode(index).rts
    }

    /// Bits per second of the data part.
    #[cfg(test)]
    pub fn rate(&self, index: u8) -> f64 {
        let mode = self.mode(index);
        mode.bits / mode.symbol * 1e9
    }

    fn thresholds(&self) -> &'static [f64] {
        match self.standard {
            WifiStandard::B => &THRESHOLD_DSSS,
            WifiStandard::G => &THRESHOLD_OFDM,
            _ => &THRESHOLD,
        }
    }

    /// The ratio in dB at which a tenth of the frames of the reference length fails.
    pub fn threshold(&self, index: u8) -> f64 {
        let table = self.thresholds();
        table[usize::from(index).min(table.len() - 1)]
    }

    /// Length of the frames for which sensitivities are defined, bytes.
    fn reference(&self) -> f64 {
        match self.standard {
            WifiStandard::B => 1024.0,
            WifiStandard::G => 1000.0,
            _ => 4096.0,
        }
    }

    /// Natural logarithm of the probability that a frame of one byte arrives: 0 or less. A frame of n bytes has n times this
    /// logarithm.
    pub fn soundness(&self, index: u8, snr: f64) -> f64 {
        let above = (snr - self.threshold(index)) / SPREAD + TENTH;
        let failure = 0.5 * libm::erfc(above / std::f64::consts::SQRT_2);
        if failure < SURE { 0.0 } else { libm::log1p(-failure.min(1.0 - 1e-12)) / self.reference() }
    }

    /// The highest index that loses at most a tenth of the frames of the reference length at this ratio (dB). If there is
    /// none, the lowest index.
    pub fn ideal(&self, snr: f64) -> u8 {
        self.indices().filter(|index| self.threshold(*index) <= snr).last().unwrap_or(0)
    }
}

/// Duration of a control frame in nanoseconds. It uses the highest basic rate that does not exceed the rate of the data: 1
/// and 2 Mb/s of DSSS; 6, 12 and 24 Mb/s of OFDM.
fn control(standard: WifiStandard, rate: f64, bytes: u64, preamble: Option<u64>) -> u64 {
    let bits = bytes as f64 * 8.0;
    if standard == WifiStandard::B {
        let rate = if rate >= 2.0 { 2.0 } else { 1.0 };
        return preamble.unwrap_or(192_000) + libm::ceil(bits * 1000.0 / rate) as u64;
    }
    let rate = [24.0, 12.0].into_iter().find(|basic| *basic <= rate).unwrap_or(6.0);
    20_000 + 4_000 * libm::ceil((bits + SERVICE) / (rate * 4.0)) as u64
}

/// Combinations that the standard omits because their symbols do not hold a whole number of bits (clause 21).
fn exists(standard: WifiStandard, index: usize, width: u32, streams: u8) -> bool {
    if standard != WifiStandard::Ac {
        return true;
    }
    !matches!((width, index, streams), (20, 9, 1 | 2 | 4 | 5 | 7 | 8) | (80, 6, 3 | 7) | (80, 9, 6) | (160, 9, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phy(standard: WifiStandard, width: u32, streams: u8, guard: u64) -> Phy {
        let five = standard > WifiStandard::G;
        Phy::new(&Numbers { standard, five, width, streams, guard, slot: None, sifs: None, preamble: None })
    }

    fn megabits(phy: &Phy, index: u8) -> f64 {
        (phy.rate(index) / 1e5).round() / 10.0
    }

    /// Clauses 19 (HT), 21 (VHT) and 27 (HE).
    #[test]
    fn indices_have_the_rates_of_the_standard() {
        let ht = phy(WifiStandard::N, 20, 1, 800);
        let rates: Vec<f64> = (0..8).map(|index| megabits(&ht, index)).collect();
        assert_eq!(rates, [6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0]);
        assert_eq!(megabits(&phy(WifiStandard::N, 40, 2, 400), 7), 300.0);
        assert_eq!(megabits(&phy(WifiStandard::Ac, 80, 1, 800), 9), 390.0);
        assert_eq!(megabits(&phy(WifiStandard::Ac, 80, 2, 400), 9), 866.7);
        assert_eq!(megabits(&phy(WifiStandard::Ax, 80, 2, 800), 11), 1201.0);
        assert_eq!(megabits(&phy(WifiStandard::Ax, 20, 1, 800), 0), 8.6);
        assert_eq!(megabits(&phy(WifiStandard::Ax, 20, 1, 3200), 11), 121.9);
        assert!(!phy(WifiStandard::Ac, 20, 1, 800).has(9) && phy(WifiStandard::Ac, 20, 3, 800).has(9));
        assert_eq!(phy(WifiStandard::Ac, 20, 1, 800).floor_index(9), 8);
    }

    /// TXTIME of OFDM (clause 17): 1500 bytes at 54 Mb/s take 20 + 4 · 56 µs.
    #[test]
    fn a_frame_takes_its_preamble_and_whole_symbols() {
        let five = Phy::new(&Numbers {
            standard: WifiStandard::G,
            five: true,
            width: 20,
            streams: 1,
            guard: 800,
            slot: None,
            sifs: None,
            preamble: None,
        });
        assert_eq!(five.duration(7, 1500), 20_000 + 4_000 * 56);
        assert_eq!(five.ack(7, false), 28_000);
        assert_eq!(five.ack(0, false), 44_000);
        assert_eq!(five.ack(7, true), 32_000);
        // RTS of 20 bytes: 24 Mb/s before frames of 54 Mb/s, 12 before 18, 6 before 6.
        assert_eq!((five.rts(7), five.rts(3), five.rts(0)), (28_000, 36_000, 52_000));
        let b = phy(WifiStandard::B, 20, 1, 0);
        assert_eq!(b.duration(0, 125), 192_000 + 1_000_000);
        assert_eq!((b.rts(0), b.rts(3)), (192_000 + 160_000, 192_000 + 80_000));
        assert_eq!((b.slot, b.sifs, five.slot, five.sifs), (20_000, 10_000, 9_000, 16_000));
        // At 2.4 GHz OFDM adds 6 µs.
        assert_eq!(phy(WifiStandard::G, 20, 1, 0).duration(7, 1500), five.duration(7, 1500) + 6_000);
        // HT of one stream: 36 µs of preamble.
        assert_eq!(phy(WifiStandard::N, 20, 1, 800).duration(7, 1500), 36_000 + 4_000 * 47);
    }

    #[test]
    fn bytes_in_a_time_are_those_that_take_it() {
        for (standard, index) in
            [(WifiStandard::B, 1), (WifiStandard::G, 3), (WifiStandard::N, 7), (WifiStandard::Ax, 11)]
        {
            let phy = phy(standard, 20, 1, 800);
            for time in [1_000_000, 4_000_000, 5_484_000] {
                let bytes = phy.bytes_in(index, time);
                assert!(phy.duration(index, bytes) <= time, "{standard:?}");
                assert!(phy.duration(index, bytes + 200) > time, "{standard:?}");
            }
            assert_eq!(phy.bytes_in(index, 10), 0);
        }
    }

    /// The sensitivities are defined for frames of 4096 bytes with a failure rate of 0.1 (clause 19).
    #[test]
    fn a_frame_of_the_reference_length_fails_one_time_in_ten_at_its_threshold() {
        let phy = phy(WifiStandard::Ax, 20, 1, 800);
        for index in phy.indices() {
            let sound = libm::exp(phy.soundness(index, phy.threshold(index)) * 4096.0);
            assert!((sound - 0.9).abs() < 1e-9, "{index}");
            assert!(libm::exp(phy.soundness(index, phy.threshold(index)) * 400.0) > 0.98);
            assert_eq!(phy.ideal(phy.threshold(index)), index);
        }
        assert_eq!((phy.ideal(-30.0), phy.ideal(90.0)), (0, 11));
        assert_eq!(phy.soundness(0, 90.0), 0.0);
        assert!(libm::exp(phy.soundness(0, -30.0) * 1500.0) < 1e-3, "out of range nothing arrives");
    }
}
