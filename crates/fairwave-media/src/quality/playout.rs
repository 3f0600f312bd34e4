//! Playout: when each unit of a call is played, which are not, and how the call is then rated.
//!
//! The receiver holds units back so that they can be played one after the other. Strategies differ in their reaction to
//! a unit that is late. Those of [`offsets`] have fixed its playing time, and play nothing instead. The jitter buffer
//! of [`neteq`] conceals the gap, plays the unit afterwards if it still arrives, and catches up by playing faster. It
//! is the default because it is widely deployed.
//!
//! | measure | is |
//! |---|---|
//! | late for playout | units that arrived but were not played, or still wait in their sender ÷ units that were not lost |
//! | mouth to ear | packet time + look-ahead of the coder + mean over units played of (played − made) |
//! | missed | (units not played + made up) ÷ (units sent + made up); *made up*: what was played within talkspurts for units that were played after it, in units |
//!
//! *Missed* is the packet loss Ppl of the E-model ([`call_quality`]). Under offsets nothing is made up.
//!
//! **Assumptions.** A talkspurt begins where units are made more than one and a half packet times apart. The decoder takes no
//! time, nor does the sound's way through the device.

mod cause;
pub mod neteq;
mod offsets;
mod rating;
mod timeline;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cause::Causes;
pub use neteq::NeteqConfig;
pub use offsets::{Estimator, Reference};
pub use rating::{CallQuality, CallScore, call_quality};
pub use timeline::{Timeline, timeline};

use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::units::{Instant, Span};

/// One unit of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpokenUnit {
    /// When its speech began, on the application's clock.
    pub created: Instant,
    /// When it was complete at the receiver; [`Instant::NEVER`] if it has not been.
    pub arrived: Instant,
}

/// The rule by which a receiver decides when to play.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "strategy", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum PlayoutConfig {
    /// A deployed jitter buffer: NetEQ of libwebrtc, which stretches speech. The default.
    Neteq(NeteqConfig),
    /// The same offset throughout the call.
    #[schemars(extend("examples" = [{ "strategy": "fixed", "delay": "60 ms" }]))]
    Fixed {
        /// How long units are held back, beyond the reference. Default 60 ms.
        #[serde(default = "default_delay")]
        delay: Span,
        /// The reference from which the delay counts.
        #[serde(default)]
        reference: Reference,
    },
    /// A new offset for each talkspurt: estimated mean delay plus `safety` times its estimated deviation, but at least
    /// `least`.
    Adaptive {
        /// The estimator of the mean.
        #[serde(default)]
        estimator: Estimator,
        /// Number of deviations of margin, 0 and above. Default 4 (the paper's).
        #[serde(default = "default_safety")]
        safety: f64,
        /// The least margin above the mean. Default 10 ms; the paper has none.
        #[serde(default = "default_least")]
        least: Span,
    },
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
        PlayoutConfig::Neteq(NeteqConfig::default())
    }
}

impl PlayoutConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// A negative `safety`, or a setting of the jitter buffer out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        match *self {
            PlayoutConfig::Neteq(config) => config.check(),
            PlayoutConfig::Fixed { .. } => Ok(()),
            PlayoutConfig::Adaptive { safety: 0.0, .. } => Ok(()),
            PlayoutConfig::Adaptive { safety, .. } => check_between("safety", safety, 0.0, f64::INFINITY, "safety = 4"),
        }
    }
}

/// What became of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnitFate {
    /// Played at this moment.
    Played(Instant),
    /// It arrived, but was not played: its turn was over at this moment.
    Late(Instant),
    /// It never arrived.
    Lost,
}

/// The fate of each unit of a call, in the order given, which is the order in which they were made.
pub fn play(units: &[SpokenUnit], packet_time: Span, config: &PlayoutConfig) -> Vec<UnitFate> {
    let offsets = match *config {
        PlayoutConfig::Neteq(config) => return timeline(units, packet_time, &config).fates,
        PlayoutConfig::Fixed { delay, reference } => vec![offsets::fixed_offset(units, delay, reference); units.len()],
        PlayoutConfig::Adaptive { estimator, safety, least } => {
            offsets::adaptive_offsets(units, packet_time, estimator, safety, least)
        }
    };
    (units.iter().zip(offsets))
        .map(|(unit, offset)| match unit.created + offset {
            _ if unit.arrived == Instant::NEVER => UnitFate::Lost,
            due if unit.arrived <= due => UnitFate::Played(due),
            due => UnitFate::Late(due),
        })
        .collect()
}

/// The talkspurt of each unit, counted from 0.
pub(crate) fn talkspurts(units: &[SpokenUnit], packet_time: Span) -> Vec<usize> {
    let longest_gap = packet_time + packet_time / 2;
    let mut spurt = 0;
    (units.iter().enumerate())
        .map(|(i, unit)| {
            let before = i.checked_sub(1).and_then(|i| units.get(i));
            spurt += usize::from(before.is_some_and(|before| unit.created - before.created > longest_gap));
            spurt
        })
        .collect()
}

#[cfg(test)]
mod tests;
