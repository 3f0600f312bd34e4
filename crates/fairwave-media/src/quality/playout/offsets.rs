//! Playout with a constant offset from creation to playout, per call or per talkspurt.
//!
//! Within a talkspurt the offset is constant, so the tempo of speech never changes. Adaptive offsets follow Ramjee,
//! Kurose, Towsley & Schulzrinne, 'Adaptive playout mechanisms for packetized audio applications in wide-area networks'
//! (INFOCOM 1994).
//!
//! **Assumptions.** Clocks of sender and receiver agree (in a simulation they do). A talkspurt's offset is fixed on the
//! arrival of its first unit, from all arrivals up to and including that unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::unit::{SpokenUnit, talkspurts};
use fairwave_units::units::{Instant, Span};

/// Reference of a fixed delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// The network delay of the first arrived unit, the only value that a receiver knows.
    #[default]
    First,
    /// The least network delay of the call: the best case for a fixed offset.
    Minimum,
    /// The creation time of the unit: the delay is a budget for the network (paper 004: 300 ms).
    Creation,
}

/// Estimators of Ramjee et al. 1994.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Ramjee et al. 1994, Algorithm 1: exponential averages with weight 0.998002.
    Average,
    /// Ramjee et al. 1994, Algorithm 4: exponential averages with weight 7/8. They follow a delay spike at once, during
    /// and after the spike.
    #[default]
    Spike,
}

pub(super) fn fixed_offset(units: &[SpokenUnit], delay: Span, reference: Reference) -> Span {
    let arrived = || units.iter().filter(|unit| unit.arrived < Instant::NEVER);
    let base = match reference {
        Reference::First => arrived().min_by_key(|unit| unit.arrived).map(|unit| unit.arrived - unit.created),
        Reference::Minimum => arrived().map(|unit| unit.arrived - unit.created).min(),
        Reference::Creation => None,
    };
    base.unwrap_or(Span::ZERO) + delay
}

/// Returns the offset of each unit, which is the offset of its talkspurt. A talkspurt without arrivals has none.
pub(super) fn adaptive_offsets(
    units: &[SpokenUnit],
    packet_time: Span,
    estimator: Estimator,
    safety: f64,
    least: Span,
) -> Vec<Span> {
    let mut delays = Delays::new(estimator);
    let spurts = talkspurts(units, packet_time);
    let mut arrivals: Vec<(Instant, usize)> = (units.iter().enumerate())
        .filter(|(_, unit)| unit.arrived < Instant::NEVER)
        .map(|(i, unit)| (unit.arrived, i))
        .collect();
    arrivals.sort_unstable();
    let mut offset_of_spurt: Vec<Option<Span>> = vec![None; spurts.last().map_or(0, |last| last + 1)];
    for (arrived, i) in arrivals {
        delays.on_arrival((arrived - units[i].created).millis());
        offset_of_spurt[spurts[i]].get_or_insert_with(|| delays.offset(safety, least));
    }
    spurts.iter().map(|&spurt| offset_of_spurt[spurt].unwrap_or(Span::ZERO)).collect()
}

/// Running estimates of network delay, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Delays {
    estimator: Estimator,
    /// d̂
    mean: f64,
    /// v̂
    deviation: f64,
    /// The last two delays, newest first.
    last: Option<[f64; 2]>,
    /// Variable `var` of Ramjee et al. 1994, Algorithm 4, during a spike.
    spike: Option<f64>,
}

impl Delays {
    fn new(estimator: Estimator) -> Self {
        Delays { estimator, mean: 0.0, deviation: 0.0, last: None, spike: None }
    }

    fn on_arrival(&mut self, delay: f64) {
        let Some([last, before]) = self.last else {
            // The paper does not define the initial values. They are the first delay, and no deviation.
            self.mean = delay;
            self.last = Some([delay, delay]);
            return;
        };
        match self.estimator {
            Estimator::Average => self.average(delay, 0.998_002),
            Estimator::Spike => self.spike(delay, last, before),
        }
        self.last = Some([delay, last]);
    }

    fn average(&mut self, delay: f64, weight: f64) {
        self.mean = weight * self.mean + (1.0 - weight) * delay;
        self.deviate(delay, weight);
    }

    fn deviate(&mut self, delay: f64, weight: f64) {
        self.deviation = weight * self.deviation + (1.0 - weight) * (self.mean - delay).abs();
    }

    /// Ramjee et al. 1994, Algorithm 4. Its thresholds of 800 and 63 samples at 8 kHz are 100 ms and 7.875 ms.
    fn spike(&mut self, delay: f64, last: f64, before: f64) {
        match self.spike {
            None if (delay - last).abs() > 2.0 * self.deviation + 100.0 => self.spike = Some(0.0),
            None => {}
            Some(slope) => {
                let slope = slope / 2.0 + ((2.0 * delay - last - before) / 8.0).abs();
                self.spike = Some(slope);
                if slope <= 7.875 {
                    self.spike = None;
                    return;
                }
            }
        }
        if self.spike.is_some() {
            self.mean += delay - last;
            self.deviate(delay, 0.875);
        } else {
            self.average(delay, 0.875);
        }
    }

    fn offset(&self, safety: f64, least: Span) -> Span {
        Span::from_seconds((self.mean + (safety * self.deviation).max(least.millis())) / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Algorithm 4 of Ramjee et al. 1994 with the paper's symbols: d̂ and v̂ after each delay, in milliseconds.
    fn paper_algorithm(delays: &[f64]) -> Vec<(f64, f64)> {
        let (mut d, mut v, mut var, mut impulse) = (delays[0], 0.0, 0.0, false);
        let (mut one, mut two) = (delays[0], delays[0]);
        let mut out = vec![(d, v)];
        for &n in &delays[1..] {
            let mut ends = false;
            if !impulse {
                if (n - one).abs() > 2.0 * v + 100.0 {
                    (var, impulse) = (0.0, true);
                }
            } else {
                var = var / 2.0 + ((2.0 * n - one - two) / 8.0).abs();
                if var <= 7.875 {
                    (impulse, ends) = (false, true);
                }
            }
            if !ends {
                d = if impulse { d + n - one } else { 0.125 * n + 0.875 * d };
                v = 0.125 * (n - d).abs() + 0.875 * v;
            }
            (two, one) = (one, n);
            out.push((d, v));
        }
        out
    }

    #[test]
    fn a_spike_is_followed_and_left_as_algorithm_4_does() {
        let delays = [
            50.0, 54.0, 47.0, 61.0, 320.0, 300.0, 281.0, 239.0, 203.0, 160.0, 121.0, 97.0, 80.0, 66.0, 55.0, 53.0,
            58.0, 51.0, 180.0, 176.0, 171.0, 168.0, 166.0, 60.0, 52.0,
        ];
        let mut estimates = Delays::new(Estimator::Spike);
        let mut in_spike = Vec::new();
        for (delay, (mean, deviation)) in delays.iter().zip(paper_algorithm(&delays)) {
            estimates.on_arrival(*delay);
            assert!((estimates.mean - mean).abs() < 1e-9, "{delay}: {estimates:?}, d̂ {mean}");
            assert!((estimates.deviation - deviation).abs() < 1e-9, "{delay}: {estimates:?}, v̂ {deviation}");
            in_spike.push(estimates.spike.is_some());
        }
        assert!(in_spike[4..8].iter().all(|spike| *spike) && !in_spike[17], "{in_spike:?}");
    }

    #[test]
    fn the_average_keeps_0_998002_of_itself() {
        let mut estimates = Delays::new(Estimator::Average);
        for delay in [50.0, 60.0, 40.0] {
            estimates.on_arrival(delay);
        }
        let weight = 0.998_002;
        let first = weight * 50.0 + (1.0 - weight) * 60.0;
        let second = weight * first + (1.0 - weight) * 40.0;
        let deviation = weight * (1.0 - weight) * (60.0 - first) + (1.0 - weight) * (second - 40.0);
        assert!((estimates.mean - second).abs() < 1e-12);
        assert!((estimates.deviation - deviation).abs() < 1e-12);
    }
}
