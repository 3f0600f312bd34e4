//! Playout: when each unit of a call is played, which come too late for it, and how the call is then rated.
//!
//! The receiver plays a unit a fixed *offset* after it was made; within a talkspurt the offset does not change, or the
//! speech would be stretched. What has not arrived by then is late, and as lost to the ear as what never arrives.
//! Strategies differ in how they choose the offset. Adaptive ones follow Ramjee, Kurose, Towsley & Schulzrinne,
//! 'Adaptive playout mechanisms for packetized audio applications in wide-area networks' (INFOCOM 1994).
//!
//! **Assumptions.** Clocks of sender and receiver agree (in a simulation they do). A talkspurt begins where units are made
//! more than one and a half packet times apart. Its offset is fixed when the first of its units arrives, from all that has
//! arrived until then, that unit included. The decoder takes no time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::{self, Caveats, NotDefined};
use super::emodel::Rating;
use super::impairment::Concealment;
use super::loss::LossRuns;
use crate::config::{ConfigError, check_between};
use crate::traffic::Codec;
use crate::units::{Instant, Span};

/// One unit of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpokenUnit {
    /// When its speech began, on the application's clock.
    pub created: Instant,
    /// When it was complete at the receiver; [`Instant::NEVER`] if it has not been.
    pub arrived: Instant,
}

/// From what a fixed delay counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// The network delay of the call's first unit to arrive, as a receiver does that knows nothing else.
    #[default]
    First,
    /// The least network delay of the call: the best that a fixed offset could know.
    Minimum,
    /// The moment at which the unit was made: the delay is a budget for the network (paper 004: 300 ms).
    Creation,
}

/// How the receiver chooses the offset.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "strategy", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum PlayoutConfig {
    /// The same offset throughout the call.
    Fixed {
        /// How long units are held back, beyond the reference. Default 60 ms.
        #[serde(default = "default_delay")]
        delay: Span,
        /// From what the delay counts.
        #[serde(default)]
        reference: Reference,
    },
    /// Anew for each talkspurt: estimated mean delay plus `safety` times its estimated deviation, but at least `least`.
    Adaptive {
        /// How the mean is estimated.
        #[serde(default)]
        estimator: Estimator,
        /// Deviations of margin, 0 and above. Default 4 (the paper's).
        #[serde(default = "default_safety")]
        safety: f64,
        /// The least margin above the mean. Default 10 ms; the paper has none.
        #[serde(default = "default_least")]
        least: Span,
    },
}

/// Estimators of Ramjee et al. 1994.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Ramjee et al. 1994, Algorithm 1: exponential averages with weight 0.998002.
    Average,
    /// Ramjee et al. 1994, Algorithm 4: exponential averages with weight 7/8 that follow a spike of delay at once and forget
    /// it at once.
    #[default]
    Spike,
}

fn default_delay() -> Span {
    Span::from_millis(60)
}

fn default_safety() -> f64 {
    4.0
}

fn default_least() -> Span {
    Span::from_millis(10)
}

impl Default for PlayoutConfig {
    fn default() -> Self {
        PlayoutConfig::Adaptive { estimator: Estimator::default(), safety: default_safety(), least: default_least() }
    }
}

impl PlayoutConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// A negative `safety`.
    pub fn check(&self) -> Result<(), ConfigError> {
        match *self {
            PlayoutConfig::Fixed { .. } => Ok(()),
            PlayoutConfig::Adaptive { safety: 0.0, .. } => Ok(()),
            PlayoutConfig::Adaptive { safety, .. } => check_between("safety", safety, 0.0, f64::INFINITY, "safety = 4"),
        }
    }
}

/// What became of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Played at this moment.
    Played(Instant),
    /// It arrived after the moment at which it should have been played.
    Late(Instant),
    /// It never arrived.
    Lost,
}

/// The fate of each unit of a call, in the order given, which is the order in which they were made.
pub fn play(units: &[SpokenUnit], packet_time: Span, config: &PlayoutConfig) -> Vec<Fate> {
    let offsets = match *config {
        PlayoutConfig::Fixed { delay, reference } => vec![fixed_offset(units, delay, reference); units.len()],
        PlayoutConfig::Adaptive { estimator, safety, least } => {
            adaptive_offsets(units, packet_time, Delays::new(estimator), safety, least)
        }
    };
    (units.iter().zip(offsets))
        .map(|(unit, offset)| match unit.created + offset {
            _ if unit.arrived == Instant::NEVER => Fate::Lost,
            due if unit.arrived <= due => Fate::Played(due),
            due => Fate::Late(due),
        })
        .collect()
}

fn fixed_offset(units: &[SpokenUnit], delay: Span, reference: Reference) -> Span {
    let arrived = || units.iter().filter(|unit| unit.arrived < Instant::NEVER);
    let base = match reference {
        Reference::First => arrived().min_by_key(|unit| unit.arrived).map(|unit| unit.arrived - unit.created),
        Reference::Minimum => arrived().map(|unit| unit.arrived - unit.created).min(),
        Reference::Creation => None,
    };
    base.unwrap_or(Span::ZERO) + delay
}

/// The offset of each unit: that of its talkspurt. A talkspurt of which nothing arrived has none, and needs none.
fn adaptive_offsets(
    units: &[SpokenUnit],
    packet_time: Span,
    mut delays: Delays,
    safety: f64,
    least: Span,
) -> Vec<Span> {
    let longest_gap = packet_time + packet_time / 2;
    let mut spurt = 0;
    let spurts: Vec<usize> = (units.iter().enumerate())
        .map(|(i, unit)| {
            let before = i.checked_sub(1).and_then(|i| units.get(i));
            spurt += usize::from(before.is_some_and(|before| unit.created - before.created > longest_gap));
            spurt
        })
        .collect();
    let mut arrivals: Vec<(Instant, usize)> = (units.iter().enumerate())
        .filter(|(_, unit)| unit.arrived < Instant::NEVER)
        .map(|(i, unit)| (unit.arrived, i))
        .collect();
    arrivals.sort_unstable();
    let mut offset_of_spurt: Vec<Option<Span>> = vec![None; spurt + 1];
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
    /// While a spike lasts: Ramjee et al. 1994, Algorithm 4's `var`.
    spike: Option<f64>,
}

impl Delays {
    fn new(estimator: Estimator) -> Self {
        Delays { estimator, mean: 0.0, deviation: 0.0, last: None, spike: None }
    }

    fn on_arrival(&mut self, delay: f64) {
        let Some([last, before]) = self.last else {
            // The paper does not say how the averages begin: with the first delay, and no deviation.
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

    /// Ramjee et al. 1994, Algorithm 4, whose thresholds of 800 and 63 samples at 8 kHz are 100 ms and 7.875 ms.
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

/// How a call went.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CallQuality {
    /// Units that the application made.
    pub sent: u64,
    /// Units that arrived after their playout.
    pub late: u64,
    /// Units that never arrived: dropped by queues, lost by links, or still in the sender.
    pub lost: u64,
    /// Mean delay mouth to ear of what was played: packet time, coder's look-ahead, and playout offset.
    pub delay: Span,
    /// Burst ratio of what was late or lost.
    pub burst_ratio: f64,
    /// The E-model's rating and its parts.
    pub rating: Rating,
    /// Mean opinion score from the rating.
    pub mos: f64,
    /// What has to be said beside them.
    pub caveats: Caveats,
}

/// Rates a call by the E-model: late units count as lost, delay is that of the played ones.
///
/// # Errors
/// When nothing was sent, or when ITU-T G.113 has no impairment factor for the codec.
pub fn call_quality(
    units: &[SpokenUnit],
    codec: Codec,
    packet_time: Span,
    concealment: Concealment,
    config: &PlayoutConfig,
) -> Result<CallQuality, NotDefined> {
    if units.is_empty() {
        return Err(NotDefined::NothingSent);
    }
    let fates = play(units, packet_time, config);
    let missed: LossRuns = fates.iter().map(|fate| !matches!(fate, Fate::Played(_))).collect();
    let count = |wanted: fn(&Fate) -> bool| fates.iter().filter(|fate| wanted(fate)).count() as u64;
    let played = (units.iter().zip(&fates)).filter_map(|(unit, fate)| match fate {
        Fate::Played(at) => Some(u128::from((*at - unit.created).nanos())),
        _ => None,
    });
    let (sum, number) = played.fold((0u128, 0u128), |(sum, number), offset| (sum + offset, number + 1));
    let offset = Span::from_nanos((sum / number.max(1)) as u64);
    let delay = packet_time + codec.look_ahead() + offset;
    let burst_ratio = missed.burst_ratio();
    let rated = call::rate(codec, concealment, delay, missed.rate(), burst_ratio)?;
    Ok(CallQuality {
        sent: units.len() as u64,
        late: count(|fate| matches!(fate, Fate::Late(_))),
        lost: count(|fate| matches!(fate, Fate::Lost)),
        delay,
        burst_ratio,
        rating: rated.rating,
        mos: rated.mos,
        caveats: rated.caveats,
    })
}

#[cfg(test)]
mod tests;
