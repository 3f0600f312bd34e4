//! One user's radio channel in one direction.
//!
//! The configuration of a channel gives indicators (fixed, or steps over time), or a signal-to-noise ratio with or without
//! Rayleigh [`fading`](super::super::fading).

use super::super::fading::{Fading, PATHS};
use super::config::{ChannelConfig, HarqConfig};
use super::tables::{CqiTable, from_db};
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Span};

/// Spread, in dB, of the ratio at which a block fails: the width of the waterfall including estimation errors †.
const SPREAD: f64 = 1.0;

/// Distance in standard deviations between failure rates of 0.1 and 0.5.
const TENTH: f64 = 1.281_551_565_545;

/// A fading channel, sampled at equal steps of time. A step rotates each sinusoid by a fixed angle, which costs far less
/// than a cosine. After [`TURNS`] steps the angles are recomputed, so that rounding errors stay below 10⁻¹³.
struct Walk {
    /// Cosine and sine of the current angle of each sinusoid.
    angles: [[(f64, f64); PATHS]; 2],
    /// Cosine and sine of the rotation per step.
    turns: [[(f64, f64); PATHS]; 2],
    /// Number of the step, and number of rotations since the angles were computed.
    place: Option<(u64, u32)>,
}

/// Largest number of rotations in a row.
const TURNS: u32 = 64;

/// Largest number of steps to catch up by rotation.
const LEAP: u64 = 8;

impl Walk {
    fn new(fading: &Fading, step: f64) -> Self {
        let turns = fading.paths.map(|paths| paths.map(|(angular, _)| sincos(angular * step)));
        Walk { angles: turns, turns, place: None }
    }

    /// Power at step `number`, at time `at`, relative to its mean. `number` must not decrease.
    fn power(&mut self, fading: &Fading, number: u64, at: f64) -> f64 {
        match &mut self.place {
            Some((last, turned)) if number - *last <= LEAP && *turned < TURNS => {
                for _ in *last..number {
                    for (angles, turns) in self.angles.iter_mut().zip(&self.turns) {
                        for ((cosine, sine), (by_cosine, by_sine)) in angles.iter_mut().zip(turns) {
                            (*cosine, *sine) =
                                (*cosine * by_cosine - *sine * by_sine, *sine * by_cosine + *cosine * by_sine);
                        }
                    }
                }
                *turned += (number - *last) as u32;
                *last = number;
            }
            place => {
                self.angles = fading.paths.map(|paths| paths.map(|(angular, phase)| sincos(angular * at + phase)));
                *place = Some((number, 0));
            }
        }
        let component = |angles: &[(f64, f64); PATHS]| {
            let sum: f64 = angles.iter().map(|(cosine, _)| cosine).sum();
            sum * sum
        };
        self.angles.iter().map(component).sum::<f64>() / PATHS as f64
    }
}

fn sincos(angle: f64) -> (f64, f64) {
    let (sine, cosine) = libm::sincos(angle);
    (cosine, sine)
}

enum Quality {
    /// Indicators over time, and the index of the current one.
    Steps(Vec<(Instant, u8)>, usize),
    /// Mean ratio, with optional fading.
    Ratio { mean: f64, fading: Option<Box<(Fading, Walk)>>, report: Span, delay: Span, latest: Option<(u64, u8)> },
}

/// State of a channel.
pub(super) struct Channel {
    quality: Quality,
    table: CqiTable,
}

impl Channel {
    pub fn new(config: &ChannelConfig, table: CqiTable, mut stream: Stream) -> Self {
        let quality = match config.snr {
            Some(snr) => {
                let report = config.report.unwrap_or(Span::from_millis(5));
                let fading = config.doppler.map(|doppler| {
                    let fading = Fading::new(doppler, &mut stream);
                    let walk = Walk::new(&fading, report.seconds());
                    Box::new((fading, walk))
                });
                let delay = config.report_delay.unwrap_or(Span::from_millis(6));
                Quality::Ratio { mean: from_db(snr), fading, report, delay, latest: None }
            }
            None if config.steps.is_empty() => Quality::Steps(vec![(Instant::ZERO, config.cqi.unwrap_or(0))], 0),
            None => Quality::Steps(config.steps.iter().map(|step| (step.begins(), step.is)).collect(), 0),
        };
        Channel { quality, table }
    }

    /// The indicator that the scheduler knows at `now`; `now` must not decrease from call to call.
    pub fn cqi(&mut self, now: Instant) -> u8 {
        let table = self.table;
        match &mut self.quality {
            Quality::Steps(steps, place) => {
                while steps.get(*place + 1).is_some_and(|(from, _)| *from <= now) {
                    *place += 1;
                }
                steps[*place].1
            }
            Quality::Ratio { mean, fading, report, delay, latest } => {
                let number = now.span_since(Instant::ZERO + *delay).nanos() / report.nanos();
                match latest {
                    Some((known, cqi)) if *known == number => *cqi,
                    _ => {
                        let at = Span::from_nanos(number * report.nanos()).seconds();
                        let power = fading.as_mut().map_or(1.0, |own| own.1.power(&own.0, number, at));
                        let cqi = table.cqi(to_db(*mean * power));
                        *latest = Some((number, cqi));
                        cqi
                    }
                }
            }
        }
    }

    /// Earliest time at which the indicator can differ from the one at `now`.
    pub fn changes(&self, now: Instant) -> Instant {
        match &self.quality {
            Quality::Steps(steps, place) => steps.get(place + 1).map_or(Instant::NEVER, |(from, _)| *from),
            Quality::Ratio { fading: None, .. } => Instant::NEVER,
            Quality::Ratio { report, delay, .. } => {
                let number = now.span_since(Instant::ZERO + *delay).nanos() / report.nanos();
                Instant::ZERO + *delay + *report * (number + 1)
            }
        }
    }

    /// Signal-to-noise power ratio at `now`, linear; `None` for channels by indicator.
    pub fn ratio(&self, now: Instant) -> Option<f64> {
        match &self.quality {
            Quality::Steps(..) => None,
            Quality::Ratio { mean, fading, .. } => {
                Some(*mean * fading.as_ref().map_or(1.0, |own| own.0.power(now.seconds())))
            }
        }
    }

    /// Failure probability of transmission number `attempt` of a block (0 is the first) with indicator `cqi`. `energy` is
    /// the sum of the ratios of all its transmissions (chase combining).
    pub fn failure(&self, harq: &HarqConfig, cqi: u8, attempt: u32, energy: f64) -> f64 {
        match &self.quality {
            Quality::Steps(..) if attempt == 0 => harq.error,
            Quality::Steps(..) => harq.repeat_error,
            Quality::Ratio { .. } => {
                let above = (to_db(energy) - self.table.threshold(cqi)) / SPREAD + TENTH;
                0.5 * libm::erfc(above / std::f64::consts::SQRT_2)
            }
        }
    }

    /// Mean efficiency between `from` and `to`, in bits per element.
    pub fn mean_efficiency(&self, from: Instant, to: Instant) -> f64 {
        let whole = to.span_since(from);
        match &self.quality {
            _ if whole == Span::ZERO => 0.0,
            Quality::Steps(steps, _) => {
                let until = |place: usize| steps.get(place + 1).map_or(to, |(next, _)| (*next).min(to));
                let part = |(place, (begins, cqi)): (usize, &(Instant, u8))| {
                    until(place).span_since((*begins).max(from)).seconds() * self.table.efficiency(*cqi)
                };
                steps.iter().enumerate().map(part).sum::<f64>() / whole.seconds()
            }
            Quality::Ratio { mean, fading: None, .. } => self.table.efficiency(self.table.cqi(to_db(*mean))),
            Quality::Ratio { mean, fading: Some(fading), report, .. } => {
                let parts = (whole.nanos() / report.nanos()).clamp(1, 100_000);
                let at = |part: u64| from.seconds() + whole.seconds() * (part as f64 + 0.5) / parts as f64;
                let mut walk = Walk::new(&fading.0, whole.seconds() / parts as f64);
                let ratio = |part| to_db(mean * walk.power(&fading.0, part, at(part)));
                (0..parts).map(ratio).map(|ratio| self.table.efficiency(self.table.cqi(ratio))).sum::<f64>()
                    / parts as f64
            }
        }
    }
}

/// Long-run mean efficiency, in bits per element.
pub(super) fn nominal_efficiency(config: &ChannelConfig, table: CqiTable) -> f64 {
    match (config.snr, config.doppler) {
        (Some(snr), Some(_)) => table.mean_efficiency(snr),
        (Some(snr), None) => table.efficiency(table.cqi(snr)),
        (None, _) if config.steps.is_empty() => table.efficiency(config.cqi.unwrap_or(0)),
        (None, _) => {
            let sum: f64 = config.steps.iter().map(|step| table.efficiency(step.is)).sum();
            sum / config.steps.len() as f64
        }
    }
}

fn to_db(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn fading(name: &str) -> Fading {
        Fading::new(10.0, &mut Seed(4).stream(name))
    }

    #[test]
    fn a_walk_has_the_power_of_its_channel_at_every_step() {
        let fading = fading("a");
        let (mut walk, mut number) = (Walk::new(&fading, 0.005), 0);
        for turn in 0..3000_u64 {
            number += [1, 1, 3, 1, 9, 0, 2][(turn % 7) as usize];
            let at = 0.005 * number as f64;
            let (found, exact) = (walk.power(&fading, number, at), fading.power(at));
            assert!((found - exact).abs() < 1e-11, "{turn}: {found} and {exact}");
        }
    }

    #[test]
    fn the_power_of_fading_is_exponential() {
        let powers: Vec<f64> = (0..400)
            .flat_map(|n| {
                let fading = fading(&format!("{n}"));
                (0..50).map(move |k| fading.power(f64::from(k) * 0.37))
            })
            .collect();
        let share = |below: f64| powers.iter().filter(|power| **power < below).count() as f64 / powers.len() as f64;
        let mean = powers.iter().sum::<f64>() / powers.len() as f64;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        for below in [0.1, 0.5, 1.0, 2.0, 3.0] {
            assert!((share(below) - (1.0 - libm::exp(-below))).abs() < 0.015, "{below}: {}", share(below));
        }
    }

    /// The amplitude's autocorrelation is the Bessel function J0 at the Doppler frequency (Clarke's model), that of the
    /// power J0².
    #[test]
    fn fading_forgets_as_the_doppler_frequency_says() {
        let correlation = |lag: f64| {
            let (mut product, mut count) = (0.0, 0);
            for n in 0..600 {
                let fading = fading(&format!("{n}"));
                for k in 0..20 {
                    let at = f64::from(k) * 0.83;
                    product += (fading.power(at) - 1.0) * (fading.power(at + lag) - 1.0);
                    count += 1;
                }
            }
            product / f64::from(count)
        };
        let turn = 2.0 * std::f64::consts::PI * 10.0;
        for lag in [0.0, 0.01, 0.02, 0.038] {
            let bessel = libm::j0(turn * lag);
            assert!((correlation(lag) - bessel * bessel).abs() < 0.12, "{lag}: {}", correlation(lag));
        }
    }

    #[test]
    fn the_scheduler_knows_what_was_reported() {
        let config = ChannelConfig { cqi: None, snr: Some(12.0), doppler: Some(50.0), ..ChannelConfig::fixed(1) };
        let mut channel = Channel::new(&config, CqiTable::Qam64, Seed(1).stream("a"));
        for millis in 6..400 {
            let now = Instant::from_nanos(millis * 1_000_000);
            let reported = (millis - 6) / 5 * 5;
            let expected =
                CqiTable::Qam64.cqi(to_db(channel.ratio(Instant::from_nanos(reported * 1_000_000)).expect("a ratio")));
            assert_eq!(channel.cqi(now), expected, "{millis} ms");
            assert_eq!(channel.changes(now), Instant::from_nanos((reported + 11) * 1_000_000));
        }
    }

    #[test]
    fn a_block_at_its_threshold_fails_one_time_in_ten_and_seldom_when_combined() {
        let config = ChannelConfig { cqi: None, snr: Some(12.0), ..ChannelConfig::fixed(1) };
        let channel = Channel::new(&config, CqiTable::Qam64, Seed(1).stream("a"));
        let harq = HarqConfig::default();
        let at_threshold = from_db(CqiTable::Qam64.threshold(8));
        assert!((channel.failure(&harq, 8, 0, at_threshold) - 0.1).abs() < 1e-6);
        assert!(channel.failure(&harq, 8, 1, 2.0 * at_threshold) < 1e-4);
        assert!(channel.failure(&harq, 9, 0, at_threshold) > 0.5);
    }

    #[test]
    fn indicators_follow_their_steps() {
        let second = |s: u64| Span::from_secs(s);
        let steps =
            vec![fairwave_units::timed::Step::new(second(0), 4), fairwave_units::timed::Step::new(second(2), 15)];
        let config = ChannelConfig { cqi: None, steps, ..ChannelConfig::fixed(1) };
        let mut channel = Channel::new(&config, CqiTable::Qam64, Seed(1).stream("a"));
        assert_eq!(channel.cqi(Instant::from_seconds(1.9)), 4);
        assert_eq!(channel.changes(Instant::from_seconds(1.9)), Instant::from_seconds(2.0));
        let mean = channel.mean_efficiency(Instant::from_seconds(1.0), Instant::from_seconds(3.0));
        assert!((mean - (0.6016 + 5.5547) / 2.0).abs() < 1e-9, "{mean}");
        assert_eq!(channel.cqi(Instant::from_seconds(2.0)), 15);
    }
}
