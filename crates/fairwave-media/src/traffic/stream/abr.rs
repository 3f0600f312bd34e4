//! Adaptive bit rate: choice of the ladder rung for the next segment.
//!
//! BBA-0 and BBA-2 follow Huang et al. 2014, Algorithm 1, §5 and §6: *A Buffer-Based Approach to Rate Adaptation*.
//!
//! BOLA is BOLA-BASIC of Spiteri et al. 2016. BOLA-E is in [`super::bola_e`].
//!
//! MPC and RobustMPC follow Yin et al. 2015, Eq. 5, Algorithm 1 and §4.3.
//!
//! Each function gets the state of the player and returns a rung.
//!
//! **Assumptions.** Huang's buffer is 240 s, the reservoir of BBA-0 90 s, and the map reaches the highest rate at 90 %
//! of the buffer. Here both are shares, 37.5 % and 90 %, of a buffer of any length. BBA-2's reservoir is 8 to 140 s
//! (Huang et al. 2014, §5.1), and at most that share. BOLA has γp = 5 and V = (Q − 1)/(v + γp). Q is the buffer in
//! segments and v the highest utility. So it never fetches more than fits the buffer. MPC looks five segments ahead,
//! with the harmonic mean of five throughputs. One second of stall costs the highest rate, as with Yin's weights (3000
//! with a ladder to 3000 kb/s); a change of rate costs its difference.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Algorithm that chooses the rate of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Abr {
    /// Buffer-based: maps the length of the buffer to a rate (Huang et al. 2014, Algorithm 1).
    #[serde(rename = "bba-0")]
    Bba0,
    /// Buffer-based with the sizes of segments; rises faster while the buffer fills for the first time (Huang et al.
    /// 2014, §5 and §6).
    #[serde(rename = "bba-2")]
    Bba2,
    /// Buffer-based: maximises the utility of a segment per size (Spiteri et al. 2016, BOLA-BASIC).
    #[default]
    Bola,
    /// BOLA as in dash.js: for short buffers, with a placeholder, and limited by the predicted throughput (Spiteri et
    /// al. 2018, BOLA-E).
    BolaE,
    /// By buffer and predicted throughput: the best plan for the next five segments (Yin et al. 2015).
    Mpc,
    /// Like `mpc`, with the predicted throughput reduced by the error of the last predictions (Yin et al. 2015, §4.3).
    RobustMpc,
    /// Throughput-based: the highest rate below the harmonic mean of the last five segments' throughputs.
    Rate,
    /// Always the lowest rate.
    Lowest,
    /// Always the highest rate.
    Highest,
}

/// State of the player at a choice.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// Rates of the rungs, bits per second, ascending.
    pub ladder: &'a [f64],
    /// Duration of a segment, seconds.
    pub segment: f64,
    /// Capacity of the buffer, seconds.
    pub most: f64,
    /// Content of the buffer, seconds.
    pub buffer: f64,
    /// Rung of the previous segment; `None` for the first.
    pub before: Option<usize>,
    /// Sizes of the coming segments relative to their mean, the next one first; for BBA-2, twice as many as fit the
    /// buffer.
    pub sizes: &'a [f64],
    /// Throughput of the latest segments, bits per second, latest last.
    pub throughput: &'a [f64],
    /// Relative errors of the latest predictions, latest last.
    pub errors: &'a [f64],
    /// Gain of the buffer from the latest segment, seconds; `None` before the first.
    pub gained: Option<f64>,
    /// True while the buffer fills for the first time (BBA-2).
    pub filling: bool,
}

/// BBA-0's reservoir as a share of the buffer, and the share at which the map reaches the highest rate.
const RESERVOIR: f64 = 0.375;
const FULL: f64 = 0.9;
/// BBA-2's least and largest reservoir, seconds, and its look-ahead, in buffers.
const LEAST_RESERVOIR: f64 = 8.0;
const MOST_RESERVOIR: f64 = 140.0;
/// BBA-2 steps up while the buffer fills if a segment gains this share of its duration: at an empty and at a full
/// cushion.
const STEP_EMPTY: f64 = 0.875;
const STEP_FULL: f64 = 0.5;
/// γp of BOLA.
const GAMMA: f64 = 5.0;
/// Number of segments that MPC looks ahead, and of throughputs that it looks back.
pub const HORIZON: usize = 5;

impl View<'_> {
    fn highest(&self) -> usize {
        self.ladder.len().saturating_sub(1)
    }

    fn rate(&self, rung: usize) -> f64 {
        self.ladder.get(rung).copied().unwrap_or_default()
    }

    /// Returns the harmonic mean of the latest throughputs; `None` before the first.
    pub fn predicted(&self) -> Option<f64> {
        let last = &self.throughput[self.throughput.len().saturating_sub(HORIZON)..];
        let sum: f64 = last.iter().map(|one| 1.0 / one.max(1.0)).sum();
        (!last.is_empty()).then(|| last.len() as f64 / sum)
    }

    /// Returns the rung of the next segment, and whether the buffer still fills for the first time.
    pub fn choose(&self, abr: Abr) -> (usize, bool) {
        let rung = match abr {
            Abr::Bba0 => self.bba_0(),
            Abr::Bba2 => return self.bba_2(),
            // BOLA-E has more state than a view: see `bola_e`.
            Abr::Bola | Abr::BolaE => self.bola(),
            Abr::Mpc => self.mpc(self.predicted()),
            Abr::RobustMpc => {
                let last = &self.errors[self.errors.len().saturating_sub(HORIZON)..];
                let worst = last.iter().fold(0.0, |worst: f64, error| worst.max(error.abs()));
                self.mpc(self.predicted().map(|rate| rate / (1.0 + worst)))
            }
            Abr::Rate => self.predicted().map_or(0, |rate| self.rung_below(rate)),
            Abr::Lowest => 0,
            Abr::Highest => self.highest(),
        };
        (rung, self.filling)
    }

    /// Returns the highest rung below a rate, or the lowest rung.
    fn rung_below(&self, rate: f64) -> usize {
        self.ladder.iter().rposition(|rung| *rung < rate).unwrap_or(0)
    }

    /// Returns the value of a line from `low` at the reservoir to `high` at the end of the map.
    fn map(&self, reservoir: f64, low: f64, high: f64) -> f64 {
        let cushion = FULL * self.most - reservoir;
        low + (high - low) * ((self.buffer - reservoir) / cushion).clamp(0.0, 1.0)
    }

    /// Huang et al. 2014, Algorithm 1.
    fn bba_0(&self) -> usize {
        let (reservoir, highest) = (RESERVOIR * self.most, self.highest());
        let before = self.before.unwrap_or(0);
        if self.buffer <= reservoir {
            return 0;
        }
        if self.buffer >= FULL * self.most {
            return highest;
        }
        let map = self.map(reservoir, self.rate(0), self.rate(highest));
        let (up, down) = (self.rate((before + 1).min(highest)), self.rate(before.saturating_sub(1)));
        if map >= up {
            self.rung_below(map)
        } else if map <= down {
            self.ladder.iter().position(|rung| *rung > map).unwrap_or(highest)
        } else {
            before
        }
    }

    /// §5.1: returns the buffer that the larger segments of the lowest rung need, over the next two buffers.
    fn reservoir(&self) -> f64 {
        let more: f64 = self.sizes.iter().map(|size| (size - 1.0) * self.segment).sum();
        more.clamp(LEAST_RESERVOIR, MOST_RESERVOIR).min(RESERVOIR * self.most)
    }

    /// §5 (BBA-1): the map is in sizes, and a rung is kept until the map passes a neighbour.
    fn bba_1(&self) -> usize {
        let (reservoir, highest) = (self.reservoir(), self.highest());
        let before = self.before.unwrap_or(0);
        if self.buffer <= reservoir {
            return 0;
        }
        if self.buffer >= FULL * self.most {
            return highest;
        }
        // All values are divided by the segment's duration: the map in mean rates, sizes in rates of this segment.
        let map = self.map(reservoir, self.rate(0), self.rate(highest));
        let this = self.sizes.first().copied().unwrap_or(1.0);
        let size = |rung: usize| self.rate(rung) * this;
        if before < highest && map >= size(before + 1) {
            (0..=highest).rev().find(|rung| size(*rung) < map).unwrap_or(0)
        } else if before > 0 && map <= size(before - 1) {
            (0..=highest).find(|rung| size(*rung) > map).unwrap_or(highest)
        } else {
            before
        }
    }

    /// §6 (BBA-2): while the buffer fills for the first time, a step up whenever a segment arrived fast enough.
    fn bba_2(&self) -> (usize, bool) {
        let steady = self.bba_1();
        let (Some(before), Some(gained), true) = (self.before, self.gained, self.filling) else {
            return (steady, self.filling && self.before.is_none());
        };
        if gained < 0.0 || steady > before {
            return (steady, false);
        }
        let full = (self.buffer / (FULL * self.most)).clamp(0.0, 1.0);
        let threshold = (STEP_EMPTY + (STEP_FULL - STEP_EMPTY) * full) * self.segment;
        let step = usize::from(gained > threshold);
        ((before + step).min(self.highest()), true)
    }

    /// BOLA-BASIC: returns the rung that maximises (V (v + γp) − Q) / S.
    fn bola(&self) -> usize {
        let utility = |rung: usize| libm::log(self.rate(rung) / self.rate(0));
        let v = (self.most / self.segment - 1.0) / (utility(self.highest()) + GAMMA);
        let value = |rung: usize| (v * (utility(rung) + GAMMA) - self.buffer / self.segment) / self.rate(rung);
        // Among rungs of equal value, the lower one.
        (1..self.ladder.len()).fold(0, |best, rung| if value(rung) > value(best) { rung } else { best })
    }

    /// Returns the first rung of the best plan for the coming segments, if each has this throughput.
    fn mpc(&self, throughput: Option<f64>) -> usize {
        let Some(throughput) = throughput else { return 0 };
        let (mut best, mut chosen) = (f64::NEG_INFINITY, 0);
        for first in 0..self.ladder.len() {
            let worth = self.best_from(0, first, self.buffer, self.before, throughput);
            if worth > best {
                (best, chosen) = (worth, first);
            }
        }
        chosen
    }

    /// Returns the maximum of Yin et al. 2015, Eq. 5, for the segments from the `ahead`-th on, the first of them with
    /// this `rung`.
    fn best_from(&self, ahead: usize, rung: usize, buffer: f64, before: Option<usize>, throughput: f64) -> f64 {
        let rate = self.rate(rung);
        let size = self.sizes.get(ahead).copied().unwrap_or(1.0);
        let takes = rate * size * self.segment / throughput.max(1.0);
        let stalled = (takes - buffer).max(0.0);
        let change = before.map_or(0.0, |before| (rate - self.rate(before)).abs());
        let here = rate - change - self.rate(self.highest()) * stalled;
        if ahead + 1 == HORIZON {
            return here;
        }
        let buffer = ((buffer - takes).max(0.0) + self.segment).min(self.most);
        here + (0..self.ladder.len())
            .map(|next| self.best_from(ahead + 1, next, buffer, Some(rung), throughput))
            .fold(f64::NEG_INFINITY, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LADDER: [f64; 4] = [300e3, 750e3, 1500e3, 3000e3];

    fn view(buffer: f64, before: usize) -> View<'static> {
        View {
            ladder: &LADDER,
            segment: 4.0,
            most: 240.0,
            buffer,
            before: Some(before),
            sizes: &[],
            throughput: &[],
            errors: &[],
            gained: Some(0.0),
            filling: false,
        }
    }

    #[test]
    fn the_reservoir_sums_what_larger_segments_need_and_smaller_ones_leave() {
        // 20 segments of 4 s twice as large as the mean, 20 half as large: 80 s more and 40 s less.
        let sizes: Vec<f64> = [2.0, 0.5].repeat(20);
        let view = View { sizes: &sizes, ..view(100.0, 0) };
        assert!((view.reservoir() - 40.0).abs() < 1e-9, "{}", view.reservoir());
    }

    #[test]
    fn bba_0_has_the_lowest_rate_in_the_reservoir_the_highest_at_the_end_of_the_cushion_and_a_line_between() {
        // Huang's buffer: reservoir 90 s, cushion to 216 s.
        for before in 0..4 {
            assert_eq!((view(90.0, before).bba_0(), view(216.0, before).bba_0()), (0, 3));
        }
        // The line is at 300 + 2700 · 63/126 = 1650 kb/s in the middle.
        assert_eq!(view(153.0, 0).bba_0(), 2, "up to the highest rate below the line");
        assert_eq!(view(153.0, 2).bba_0(), 2, "which holds while the line is between its neighbours");
        assert_eq!(view(153.0, 3).bba_0(), 3, "the line is above the next lower rate");
        // 300 + 2700 · 20/126 = 729 kb/s: below the rate under 1500.
        assert_eq!(view(110.0, 2).bba_0(), 1, "down to the lowest rate above the line");
        assert_eq!((view(110.0, 0).bba_0(), view(110.0, 1).bba_0()), (0, 1), "neither neighbour is reached");
        // At exactly the neighbour's rate it moves: 300 + 2700 · (450/2700) = 750 kb/s.
        let at = 90.0 + 126.0 / 6.0;
        assert_eq!((view(at + 1e-9, 0).bba_0(), view(at - 1e-6, 0).bba_0()), (1, 0));
    }

    #[test]
    fn bba_2_steps_up_while_it_fills_if_segments_come_eight_times_as_fast_and_twice_as_fast_at_the_end() {
        let filling = |buffer, gained| View { gained: Some(gained), filling: true, ..view(buffer, 1) }.bba_2();
        // An empty buffer: more than 0.875 of 4 s; a full cushion: more than half.
        assert_eq!((filling(0.0, 3.51), filling(0.0, 3.49)), ((2, true), (1, true)));
        // Halfway to 216 s the threshold is 0.6875 of 4 s = 2.75 s, but the map already suggests more.
        assert_eq!(filling(108.0, 3.9), (2, false));
        assert_eq!(filling(5.0, -0.1), (0, false), "the buffer shrinks: the map alone from now on");
        // With a large previous rung, the map suggests no more; at 100 s the threshold is 4 · (0.875 − 0.375 · 100/216)
        // = 2.806 s.
        let at = |gained| View { gained: Some(gained), filling: true, ..view(100.0, 2) }.bba_2();
        assert_eq!((at(2.81), at(2.80)), ((3, true), (2, true)));
        assert_eq!(View { before: None, gained: None, filling: true, ..view(0.0, 0) }.bba_2(), (0, true));
    }

    #[test]
    fn bba_1s_reservoir_is_what_larger_segments_take_within_its_bounds() {
        let with = |sizes| View { sizes, ..view(50.0, 0) }.reservoir();
        assert_eq!(with(&[1.0; 100]), 8.0);
        assert_eq!(with(&[1.5; 20]), 40.0);
        assert_eq!(with(&[9.0; 20]), 90.0, "at most that of BBA-0, below 140 s");
        let larger = View { most: 480.0, sizes: &[9.0; 20], ..view(50.0, 0) };
        assert_eq!(larger.reservoir(), 140.0);
        // A segment of double size needs a map value of double height: 300 + 2700 · 54/208 = 1001 kb/s at 62 s.
        let next = |sizes| View { sizes, ..view(62.0, 0) }.bba_1();
        assert_eq!((next(&[1.0]), next(&[2.0])), (1, 0));
        assert_eq!(View { sizes: &[1.0], ..view(216.0, 0) }.bba_1(), 3);
        assert_eq!(View { sizes: &[1.0], ..view(8.0, 3) }.bba_1(), 0);
    }

    #[test]
    fn bola_takes_the_rung_of_the_highest_utility_for_its_size() {
        // Q 60 segments: V = 59/(ln 10 + 5) = 8.08. The lowest and the next have equal value if (5 V − Q)/300 = (V (ln
        // 2.5 + 5) − Q)/750.
        let v = 59.0 / (libm::log(10.0) + 5.0);
        let between = |low: usize, high: usize| {
            let worth = |rung: usize| v * (libm::log(LADDER[rung] / LADDER[0]) + 5.0);
            (worth(low) * LADDER[high] - worth(high) * LADDER[low]) / (LADDER[high] - LADDER[low]) * 4.0
        };
        for rung in 0..3 {
            let at = between(rung, rung + 1);
            assert_eq!(view(at - 0.01, 0).bola(), rung, "{at}");
            assert_eq!(view(at + 0.01, 3).bola(), rung + 1, "{at}");
        }
        assert_eq!((view(0.0, 3).bola(), view(236.0, 0).bola()), (0, 3));
    }

    /// Second implementation of Yin et al. 2015, Eq. 5, for a plan of segments.
    fn worth(way: &[usize], view: &View<'_>, throughput: f64) -> f64 {
        let rates: Vec<f64> = way.iter().map(|rung| LADDER[*rung]).collect();
        let (mut buffer, mut stalled) = (view.buffer, 0.0);
        for (place, rate) in rates.iter().enumerate() {
            let takes = rate * view.sizes.get(place).unwrap_or(&1.0) * view.segment / throughput;
            stalled += f64::max(takes - buffer, 0.0);
            buffer = f64::min(f64::max(buffer - takes, 0.0) + view.segment, view.most);
        }
        let before = view.before.map(|rung| LADDER[rung]);
        let all: Vec<f64> = before.into_iter().chain(rates.iter().copied()).collect();
        let changes: f64 = all.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
        rates.iter().sum::<f64>() - changes - 3000e3 * stalled
    }

    #[test]
    fn mpc_takes_the_first_step_of_the_best_of_all_ways() {
        let sizes = [1.1, 0.8, 1.3, 0.9, 1.0];
        let mut found = std::collections::BTreeSet::new();
        for buffer in [0.5, 4.0, 9.0, 30.0] {
            for throughput in [200e3, 700e3, 1200e3, 2500e3, 9000e3] {
                for before in 0..4 {
                    let view = View { sizes: &sizes, throughput: &[throughput], ..view(buffer, before) };
                    let ways =
                        (0..1024).map(|way: usize| [way & 3, way >> 2 & 3, way >> 4 & 3, way >> 6 & 3, way >> 8]);
                    let best = ways.clone().map(|way| worth(&way, &view, throughput)).fold(f64::MIN, f64::max);
                    let (rung, _) = view.choose(Abr::Mpc);
                    let reached = ways.filter(|way| way[0] == rung).map(|way| worth(&way, &view, throughput));
                    assert!((reached.fold(f64::MIN, f64::max) - best).abs() < 1.0, "{view:?}");
                    found.insert(rung);
                }
            }
        }
        assert_eq!(found.len(), 4, "every rung is somewhere the best");
        assert_eq!(View { throughput: &[], ..view(9.0, 2) }.choose(Abr::Mpc).0, 0, "nothing is known yet");
    }

    #[test]
    fn throughput_is_the_harmonic_mean_of_the_last_five_and_robust_mpc_takes_its_errors_off() {
        let view = View {
            throughput: &[9e9, 1e6, 1e6, 1e6, 4e6, 4e6],
            errors: &[9.0, 0.1, 0.1, -0.5, 0.1, 0.1],
            ..view(8.0, 0)
        };
        let mean = 5.0 / (3.0 / 1e6 + 2.0 / 4e6);
        assert!((view.predicted().expect("known") - mean).abs() < 1.0);
        assert_eq!(view.choose(Abr::Rate).0, 1);
        assert_eq!(view.choose(Abr::RobustMpc).0, view.mpc(Some(mean / 1.5)));
        assert_ne!(view.mpc(Some(mean)), view.mpc(Some(mean / 10.0)), "an error of 9 would count");
    }
}
