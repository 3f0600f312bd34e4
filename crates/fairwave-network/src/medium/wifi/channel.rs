//! One station's radio channel in one direction, and the choice of the modulation and coding index.
//!
//! A channel without noise has an index (fixed, or steps over time) and the failure probability `error`. A channel with a
//! signal-to-noise ratio fails by the table of sensitivities (`tables`). It uses the same Rayleigh fading as the cell.
//!
//! **Adaptation.** `adaptive` follows Linux's `minstrel_ht` in outline. Every 50 ms the share of frames that arrived updates
//! a moving average (three quarters old). A frame first uses the index with the highest expected throughput. Retries use the
//! second best, then the most reliable, then the lowest index. One frame in ten samples another index. † The order of the
//! sampled indices is random.

use super::config::{WifiChannel, WifiConfig, WifiRateControl};
use super::tables::Phy;
use crate::medium::fading::Fading;
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Span};

/// Interval between updates of the statistics (Linux: 50 ms).
const UPDATE: Span = Span::from_millis(50);

/// Weight of the old share (Linux: 96 of 128 in `EWMA_LEVEL`).
const OLD: f64 = 0.75;

/// One of this many frames samples another index.
const SAMPLING: u64 = 10;

/// Size of the frame for which throughputs are compared, bytes (Linux: 1200).
const COMPARED: u64 = 1200;

/// Statistics of an index.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    attempts: u32,
    successes: u32,
    /// Moving average of the share that arrived; `None` before the first update.
    share: Option<f64>,
}

/// State of Minstrel.
struct Adaptation {
    seen: Vec<Seen>,
    /// Best, second best and most reliable index.
    ladder: [u8; 3],
    next: Instant,
    stream: Stream,
}

impl Adaptation {
    fn new(phy: &Phy, stream: Stream) -> Self {
        let highest = usize::from(phy.standard.highest());
        // Without statistics, it starts in the middle †.
        let middle = phy.floor_index(highest as u8 / 2);
        Adaptation {
            seen: vec![Seen::default(); highest + 1],
            ladder: [middle; 3],
            next: Instant::ZERO + UPDATE,
            stream,
        }
    }

    fn index(&mut self, phy: &Phy, now: Instant, attempt: u32) -> u8 {
        if now >= self.next {
            self.next = now + UPDATE;
            self.reckon(phy);
        }
        match attempt {
            0 if self.stream.uniform_below(SAMPLING) == 0 => {
                let own = self.ladder[0];
                // Samples up to two steps above the current index, and any index below it.
                let candidates = phy.indices().filter(|index| *index != own && *index <= own + 2).count() as u64;
                let chosen = self.stream.uniform_below(candidates) as usize;
                phy.indices().filter(|index| *index != own && *index <= own + 2).nth(chosen).unwrap_or(own)
            }
            0 => self.ladder[0],
            1 => self.ladder[1],
            2 => self.ladder[2],
            _ => 0,
        }
    }

    fn reckon(&mut self, phy: &Phy) {
        for seen in &mut self.seen {
            if seen.attempts > 0 {
                let latest = f64::from(seen.successes) / f64::from(seen.attempts);
                seen.share = Some(seen.share.map_or(latest, |old| OLD * old + (1.0 - OLD) * latest));
            }
            (seen.attempts, seen.successes) = (0, 0);
        }
        let share = |index: u8| self.seen[usize::from(index)].share;
        let throughput = |index: u8| {
            // As in Linux, a share below 0.1 counts as 0.
            let share = share(index).filter(|share| *share >= 0.1).unwrap_or(0.0);
            share.min(0.9) / phy.duration(index, COMPARED) as f64
        };
        let best = |but: Option<u8>| {
            let mut found: Option<(u8, f64)> = None;
            for index in phy.indices().filter(|index| Some(*index) != but && share(*index).is_some()) {
                let own = throughput(index);
                if found.is_none_or(|(_, most)| own > most) {
                    found = Some((index, own));
                }
            }
            found.map(|(index, _)| index)
        };
        let Some(first) = best(None) else { return };
        let second = best(Some(first)).unwrap_or(first);
        let mut sure: Option<(u8, f64)> = None;
        for index in phy.indices() {
            // The fastest of the indices that arrive nearly always.
            let Some(own) = share(index) else { continue };
            if sure.is_none_or(|(_, most)| own >= most.min(0.95)) {
                sure = Some((index, own));
            }
        }
        self.ladder = [first, second, sure.map_or(first, |(index, _)| index)];
    }

    fn learns(&mut self, index: u8, attempts: u32, successes: u32) {
        if let Some(seen) = self.seen.get_mut(usize::from(index)) {
            seen.attempts += attempts;
            seen.successes += successes;
        }
    }
}

/// Failure model of a channel.
enum Noise {
    /// Each packet with this probability, regardless of its size.
    Flat(f64),
    /// By the ratio in dB.
    Ratio { mean: f64, fading: Option<Box<Fading>> },
}

/// Selection of the index.
enum Choice {
    /// Indices over time, and the position of the current one.
    Steps(Vec<(Instant, u8)>, usize),
    Ideal,
    Adaptive(Box<Adaptation>),
}

/// State of a channel.
pub(super) struct Channel {
    noise: Noise,
    choice: Choice,
    fallback: bool,
}

impl Channel {
    /// `stream` returns the random streams of this direction by name.
    pub fn new(law: &WifiConfig, phy: &Phy, config: &WifiChannel, stream: impl Fn(&str) -> Stream) -> Self {
        let noise = match ratio_of(law, config) {
            Some(mean) => {
                let fading = |doppler| Box::new(Fading::new(doppler, &mut stream("fading")));
                Noise::Ratio { mean, fading: config.doppler.map(fading) }
            }
            None => Noise::Flat(config.error.unwrap_or(0.0)),
        };
        let choice = match (&noise, law.rate) {
            (Noise::Ratio { .. }, WifiRateControl::Ideal) if config.mcs.is_none() => Choice::Ideal,
            (Noise::Ratio { .. }, WifiRateControl::Adaptive) if config.mcs.is_none() => {
                Choice::Adaptive(Box::new(Adaptation::new(phy, stream("rate"))))
            }
            _ => Choice::Steps(steps_of(phy, config), 0),
        };
        Channel { noise, choice, fallback: law.fallback }
    }

    /// The current ratio in dB; infinite without noise.
    pub fn ratio(&self, now: Instant) -> f64 {
        match &self.noise {
            Noise::Flat(_) => f64::INFINITY,
            Noise::Ratio { mean, fading: None } => *mean,
            Noise::Ratio { mean, fading: Some(fading) } => mean + 10.0 * libm::log10(fading.power(now.seconds())),
        }
    }

    /// The index of a frame sent at `now` after `attempt` failed attempts, at this ratio. `now` must not decrease.
    pub fn index(&mut self, phy: &Phy, now: Instant, attempt: u32, ratio: f64) -> u8 {
        let first = match &mut self.choice {
            Choice::Adaptive(adaptation) => return adaptation.index(phy, now, attempt),
            Choice::Ideal => phy.ideal(ratio),
            Choice::Steps(steps, place) => {
                while steps.get(*place + 1).is_some_and(|(from, _)| *from <= now) {
                    *place += 1;
                }
                steps[*place].1
            }
        };
        match attempt {
            2.. if self.fallback => phy.floor_index(first.saturating_sub((attempt - 1).min(255) as u8)),
            _ => first,
        }
    }

    /// Records the outcomes of packets sent with this index.
    pub fn learns(&mut self, index: u8, attempts: u32, successes: u32) {
        if let Choice::Adaptive(adaptation) = &mut self.choice {
            adaptation.learns(index, attempts, successes);
        }
    }

    /// Errors of a frame sent with this index at this ratio.
    pub fn errors(&self, phy: &Phy, index: u8, ratio: f64) -> Errors {
        match &self.noise {
            Noise::Flat(error) => Errors { flat: *error, per_byte: 0.0, size: 0, chance: 0.0 },
            Noise::Ratio { .. } => Errors { flat: 0.0, per_byte: phy.soundness(index, ratio), size: 0, chance: 0.0 },
        }
    }
}

/// Packet errors within one frame.
pub(super) struct Errors {
    flat: f64,
    per_byte: f64,
    /// The last requested size, and its probability.
    size: u64,
    chance: f64,
}

impl Errors {
    /// Whether a packet of `bytes` bytes arrives.
    pub fn spare(&mut self, bytes: u64, stream: &mut Stream) -> bool {
        if self.per_byte < 0.0 {
            if self.size != bytes {
                (self.size, self.chance) = (bytes, -libm::expm1(self.per_byte * bytes as f64));
            }
            return !stream.chance(self.chance);
        }
        self.flat == 0.0 || !stream.chance(self.flat)
    }
}

fn ratio_of(law: &WifiConfig, config: &WifiChannel) -> Option<f64> {
    config.snr.or(config.distance.map(|distance| law.ratio_at(distance)))
}

fn steps_of(phy: &Phy, config: &WifiChannel) -> Vec<(Instant, u8)> {
    if config.steps.is_empty() {
        return vec![(Instant::ZERO, config.mcs.unwrap_or(phy.floor_index(7)))];
    }
    config.steps.iter().map(|step| (step.begins(), step.is)).collect()
}

/// Mean of a function of the index between `from` and `to`.
pub(super) fn mean_over(
    law: &WifiConfig,
    phy: &Phy,
    config: &WifiChannel,
    (from, to): (Instant, Instant),
    of: impl Fn(u8) -> f64,
) -> f64 {
    match (ratio_of(law, config), config.mcs) {
        (Some(_), Some(index)) => of(index),
        (Some(mean), None) if config.doppler.is_some() => {
            // The power is exponential: each index is used while the power is above its threshold.
            let above = |index: u8| libm::exp(-libm::pow(10.0, (phy.threshold(index) - mean) / 10.0));
            let mut before = of(0);
            let mut sum = before;
            for index in phy.indices().skip(1) {
                let own = of(index).max(before);
                sum += (own - before) * above(index);
                before = own;
            }
            sum
        }
        (Some(mean), None) => of(phy.ideal(mean)),
        (None, _) => {
            let steps = steps_of(phy, config);
            let whole = to.span_since(from).seconds();
            if steps.len() == 1 || whole <= 0.0 {
                return of(steps[0].1);
            }
            let until = |place: usize| steps.get(place + 1).map_or(to, |(next, _)| (*next).min(to));
            let part = |(place, (begins, index)): (usize, &(Instant, u8))| {
                let from = (*begins).max(from);
                if until(place) > from { until(place).span_since(from).seconds() * of(*index) } else { 0.0 }
            };
            steps.iter().enumerate().map(part).sum::<f64>() / whole
        }
    }
}
