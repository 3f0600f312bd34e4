//! BOLA-E: the version of BOLA in dash.js (Spiteri et al. 2018, *From Theory to Practice: Improving Bitrate Adaptation
//! in the DASH Reference Player*; dash.js `BolaRule` and `InsufficientBufferRule`).
//!
//! There are four differences to BOLA-BASIC. The parameters suit a short buffer. A *placeholder*, in seconds, counts as
//! additional buffer. BOLA-O does not rise above the sustainable throughput. The time until the buffer runs out sets a
//! limit.
//!
//! **Parameters.** Utilities are ln(rate/lowest) + 1. The lowest rung is optimal at 10 s of buffer, the highest at 10 s
//! plus 2 s per rung.
//!
//! **Assumptions and deviations.** Throughput is the harmonic mean of the last five segments, as for MPC. dash.js has
//! moving averages with half-lives of 3 s and 8 s. dash.js 5 limits to 0.7 of the throughput; its documentation states
//! 0.5. Here it is 0.5. No download is abandoned or replaced.

use super::abr::View;

/// Buffer below which BOLA adds no pause, seconds.
const MINIMUM_BUFFER: f64 = 10.0;
/// Additional buffer per rung, seconds.
const BUFFER_PER_RUNG: f64 = 2.0;
/// Remaining share of the placeholder after each segment.
const DECAY: f64 = 0.99;
/// Share of the throughput that counts for BOLA-O and at the start.
const SAFE_THROUGHPUT: f64 = 0.9;
/// Largest segment, as a share of the data that arrives until the buffer runs out.
const SAFE_BUFFER: f64 = 0.5;
/// Number of first segments without that limit.
const UNLIMITED: u64 = 2;

/// State of BOLA-E.
#[derive(Clone, Debug)]
pub(super) struct BolaE {
    rates: Vec<f64>,
    /// Utility of each rung.
    utilities: Vec<f64>,
    /// Parameter V, seconds.
    v: f64,
    gamma: f64,
    /// Placeholder, seconds: counts as buffered.
    placeholder: f64,
    /// True after the first choice by throughput.
    steady: bool,
    /// Rung of the latest segment.
    last: usize,
    /// Number of segments that have arrived.
    came: u64,
}

impl BolaE {
    /// Returns the state for a ladder of rates.
    pub fn new(rates: &[f64]) -> Self {
        let lowest = rates.first().copied().unwrap_or(1.0);
        let utilities: Vec<f64> = rates.iter().map(|rate| libm::log(rate / lowest) + 1.0).collect();
        let top = MINIMUM_BUFFER + BUFFER_PER_RUNG * rates.len() as f64;
        let most = utilities.last().copied().unwrap_or(1.0);
        let gamma = (most - 1.0) / (top / MINIMUM_BUFFER - 1.0);
        let v = if gamma > 0.0 { MINIMUM_BUFFER / gamma } else { 0.0 };
        BolaE { rates: rates.to_vec(), utilities, v, gamma, placeholder: 0.0, steady: false, last: 0, came: 0 }
    }

    /// Returns the rung that maximises (V (v + γ) − level) / rate; among equals the higher one.
    fn rung_for_level(&self, level: f64) -> usize {
        let value = |rung: usize| (self.v * (self.utilities[rung] + self.gamma) - level) / self.rates[rung];
        (1..self.rates.len()).fold(0, |best, rung| if value(rung) >= value(best) { rung } else { best })
    }

    /// Returns the highest level at which it fetches a rung instead of waiting.
    fn most_for(&self, rung: usize) -> f64 {
        self.v * (self.utilities[rung] + self.gamma)
    }

    /// Returns the lowest level at which it prefers a rung to all lower ones.
    fn least_for(&self, rung: usize) -> f64 {
        let (rate, utility) = (self.rates[rung], self.utilities[rung]);
        let over = |(lower, its): (&f64, &f64)| self.v * (self.gamma + (rate * its - lower * utility) / (rate - lower));
        self.rates.iter().zip(&self.utilities).take(rung).map(over).fold(0.0, f64::max)
    }

    /// Returns the highest rung that a throughput sustains.
    fn sustained(&self, throughput: f64) -> usize {
        self.rates.iter().rposition(|rate| *rate <= throughput).unwrap_or(0)
    }

    /// Records that the player waited for `seconds` although it could have fetched.
    pub fn waited(&mut self, seconds: f64) {
        if self.steady {
            self.placeholder += seconds;
        }
    }

    /// Records the arrival of a segment that was requested at this buffer level; `stalled` is true if the buffer ran
    /// out in the meantime.
    pub fn fetched(&mut self, level: f64, stalled: bool) {
        self.came += 1;
        if stalled && self.steady {
            self.placeholder = 0.0;
        }
        let most = (self.most_for(self.last) - level).max(0.0);
        self.placeholder = (DECAY * self.placeholder).min(most);
    }

    /// Returns the rung of the next segment, and the pause before its request, seconds.
    pub fn choose(&mut self, view: &View<'_>) -> (usize, f64) {
        let Some(throughput) = view.predicted().filter(|_| self.rates.len() > 1) else { return (0, 0.0) };
        let sustained = self.sustained(SAFE_THROUGHPUT * throughput);
        let mut pause = 0.0;
        let mut rung = if self.steady {
            let level = view.buffer + self.placeholder;
            let mut rung = self.rung_for_level(level);
            // BOLA-O: no rise above the sustainable throughput.
            if rung > self.last && rung > sustained {
                rung = sustained.max(self.last);
            }
            let over = (level - self.most_for(rung)).max(0.0);
            pause = (over - self.placeholder).max(0.0);
            self.placeholder = (self.placeholder - over).max(0.0);
            if rung + 1 == self.rates.len() {
                pause = 0.0;
            }
            rung
        } else {
            self.steady = view.buffer >= view.segment - 1e-9;
            self.placeholder = (self.least_for(sustained) - view.buffer).max(0.0);
            sustained
        };
        if self.came >= UNLIMITED {
            let most = self.sustained(SAFE_BUFFER * throughput * view.buffer / view.segment);
            if most < rung {
                (rung, pause) = (most, 0.0);
            }
        }
        self.last = rung;
        (rung, pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LADDER: [f64; 4] = [300e3, 750e3, 1500e3, 3000e3];

    fn view(buffer: f64, throughput: &'static [f64]) -> View<'static> {
        View {
            ladder: &LADDER,
            segment: 4.0,
            most: 60.0,
            buffer,
            before: None,
            sizes: &[],
            throughput,
            errors: &[],
            gained: None,
            filling: false,
        }
    }

    /// Returns a running state with this rung of the latest segment.
    fn steady(last: usize) -> BolaE {
        BolaE { steady: true, last, came: 10, ..BolaE::new(&LADDER) }
    }

    #[test]
    fn the_lowest_rung_is_right_at_10_s_and_the_highest_at_2_s_more_for_each_rung() {
        let bola = BolaE::new(&LADDER);
        // V (v − 1 + γ) is the value of a rung: zero at these levels and, for the highest, the maximum.
        assert!((bola.v * (bola.utilities[0] + bola.gamma - 1.0) - 10.0).abs() < 1e-9);
        assert!((bola.v * (bola.utilities[3] + bola.gamma - 1.0) - 18.0).abs() < 1e-9);
        assert!((bola.gamma - libm::log(10.0) / 0.8).abs() < 1e-9);
    }

    #[test]
    fn the_least_level_of_a_rung_is_where_it_is_worth_as_much_as_the_best_below() {
        let bola = BolaE::new(&LADDER);
        for rung in 1..4 {
            let least = bola.least_for(rung);
            assert_eq!((bola.rung_for_level(least - 1e-6), bola.rung_for_level(least + 1e-6)), (rung - 1, rung));
            assert!(least < bola.most_for(rung));
        }
        assert_eq!(bola.least_for(0), 0.0);
    }

    #[test]
    fn starts_at_the_lowest_rung_and_continues_at_nine_tenths_of_the_throughput() {
        let mut bola = BolaE::new(&LADDER);
        assert_eq!(bola.choose(&view(0.0, &[])), (0, 0.0));
        bola.fetched(0.0, false);
        // 0.9 · 1.7 Mb/s = 1.53 Mb/s. The placeholder adds the buffer that this rung requires.
        assert_eq!(bola.choose(&view(4.0, &[1.7e6])), (2, 0.0));
        assert!((bola.placeholder - (bola.least_for(2) - 4.0)).abs() < 1e-9 && bola.steady);
        let mut slower = BolaE::new(&LADDER);
        assert_eq!(slower.choose(&view(4.0, &[1.6e6])).0, 1, "0.9 · 1.6 Mb/s = 1.44 Mb/s");
        let mut early = BolaE::new(&LADDER);
        early.choose(&view(3.0, &[1.6e6]));
        assert!(!early.steady, "not before a whole segment is there");
    }

    #[test]
    fn the_placeholder_counts_as_buffer() {
        let mut bola = steady(1);
        let (with, without) = (bola.least_for(2) + 0.1, bola.least_for(2) - 0.1);
        let fast: &[f64] = &[9e6];
        assert_eq!(bola.clone().choose(&view(without, fast)).0, 1);
        bola.placeholder = 0.2;
        assert_eq!(bola.choose(&view(without, fast)).0, 2);
        assert_eq!(steady(1).choose(&view(with, fast)).0, 2);
    }

    #[test]
    fn does_not_rise_above_the_throughput_but_keeps_its_rung() {
        // The level suggests the highest rung; the throughput of 1 Mb/s sustains rung 1.
        assert_eq!(steady(0).choose(&view(30.0, &[1e6])).0, 1);
        assert_eq!(steady(2).choose(&view(30.0, &[1e6])).0, 2, "what it has it holds");
        assert_eq!(steady(3).choose(&view(30.0, &[1e6])).0, 3);
        assert_eq!(steady(0).choose(&view(30.0, &[9e6])).0, 3);
    }

    #[test]
    fn a_buffer_too_full_for_a_low_rung_takes_the_placeholder_first_and_then_a_pause() {
        let slow: &[f64] = &[1e6];
        let most = steady(0).most_for(1);
        let (rung, pause) = steady(0).choose(&view(most + 3.0, slow));
        assert_eq!(rung, 1);
        assert!((pause - 3.0).abs() < 1e-9, "{pause}");
        let mut bola = BolaE { placeholder: 5.0, ..steady(0) };
        assert_eq!(bola.choose(&view(most - 2.0, slow)), (1, 0.0));
        assert!((bola.placeholder - 2.0).abs() < 1e-9, "{}", bola.placeholder);
        let mut both = BolaE { placeholder: 1.0, ..steady(0) };
        let (_, pause) = both.choose(&view(most + 3.0, slow));
        assert!((pause - 3.0).abs() < 1e-9 && both.placeholder == 0.0);
        // At the highest rung the buffer fills completely.
        let high = steady(3).most_for(3) + 5.0;
        assert_eq!(steady(3).choose(&view(high, &[9e6])), (3, 0.0));
    }

    #[test]
    fn a_segment_must_come_within_half_of_the_time_that_the_buffer_lasts() {
        // 0.5 · 4 Mb/s · 3 s / 4 s = 1.5 Mb/s; not for the first two segments.
        let fast: &[f64] = &[4e6];
        let full = BolaE { placeholder: 30.0, ..steady(3) };
        assert_eq!(full.clone().choose(&view(3.0, fast)).0, 2);
        assert_eq!(full.clone().choose(&view(2.9, fast)).0, 1);
        assert_eq!(full.clone().choose(&view(0.0, fast)).0, 0, "an empty buffer has the lowest");
        assert_eq!(BolaE { came: 1, ..full }.choose(&view(2.9, fast)).0, 3);
    }

    #[test]
    fn the_placeholder_shrinks_with_each_segment_and_ends_with_a_stall() {
        let with = |placeholder| BolaE { placeholder, ..steady(1) };
        let mut bola = with(2.0);
        bola.fetched(5.0, false);
        assert!((bola.placeholder - 1.98).abs() < 1e-9);
        // Including the buffer, at most the highest level of the rung.
        let mut bola = with(20.0);
        bola.fetched(5.0, false);
        assert!((bola.placeholder - (bola.most_for(1) - 5.0)).abs() < 1e-9);
        let mut bola = with(20.0);
        bola.fetched(100.0, false);
        assert_eq!(bola.placeholder, 0.0);
        let mut bola = with(2.0);
        bola.fetched(1.0, true);
        assert_eq!(bola.placeholder, 0.0);
    }

    #[test]
    fn waiting_compensates_for_playback() {
        let mut bola = steady(2);
        bola.waited(3.0);
        assert_eq!(bola.placeholder, 3.0);
        let mut new = BolaE::new(&LADDER);
        new.waited(3.0);
        assert_eq!(new.placeholder, 0.0, "not before it has begun");
    }

    #[test]
    fn a_single_rung_is_always_it() {
        let mut bola = BolaE::new(&LADDER[..1]);
        bola.fetched(0.0, false);
        assert_eq!(bola.choose(&view(9.0, &[1e6])), (0, 0.0));
    }
}
