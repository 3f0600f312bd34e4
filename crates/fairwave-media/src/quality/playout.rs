//! Playout: the playing time of each unit of a call, the units that are not played, and the resulting rating.
//!
//! The receiver delays units so that they can be played one after the other. Strategies differ in their reaction to a
//! late unit. Those of [`offsets`] have fixed its playing time, and play nothing instead. The jitter buffer of
//! [`neteq`] conceals the gap. It plays the unit later if it still arrives, and catches up by faster playout. It is the
//! default because it is widely deployed.
//!
//! | measure | definition |
//! |---|---|
//! | late for playout | units that arrived but were not played, or are still in the sender ÷ units that were not lost |
//! | mouth to ear | packet time + look-ahead of the coder + mean over played units of (playout − creation) |
//! | missed | (units not played + made up) ÷ (units sent + made up); *made up*: concealment in talkspurts for units played later |
//!
//! *Missed* is the packet loss Ppl of the E-model ([`call_quality`]). With fixed offsets there is no time made up.
//!
//! **Assumptions.** A talkspurt starts if units are produced more than one and a half packet times apart. Decoding
//! takes no time, and neither does the sound's path through the device.

mod cause;
pub mod neteq;
mod offsets;
mod rating;
mod timeline;
mod unit;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cause::Causes;
pub use neteq::NeteqConfig;
pub use offsets::{Estimator, Reference};
pub use rating::{CallQuality, CallScore, call_quality};
pub use timeline::{Timeline, timeline};
pub(crate) use unit::talkspurts;
pub use unit::{SpokenUnit, UnitFate};

use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::units::{Instant, Span};

/// Playout strategy of a receiver.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "strategy", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum PlayoutConfig {
    /// A widely deployed jitter buffer: NetEQ of libwebrtc, which changes the tempo of speech. The default.
    Neteq(NeteqConfig),
    /// A constant offset for the whole call.
    #[schemars(extend("examples" = [{ "strategy": "fixed", "delay": "60 ms" }]))]
    Fixed {
        /// Delay of units relative to the reference. Default 60 ms.
        #[serde(default = "default_delay")]
        delay: Span,
        /// Reference of the delay.
        #[serde(default)]
        reference: Reference,
    },
    /// A new offset for each talkspurt: estimated mean delay plus `safety` times its estimated deviation, but at least
    /// plus `least`.
    Adaptive {
        /// The estimator of the mean.
        #[serde(default)]
        estimator: Estimator,
        /// Margin in deviations, 0 and above. Default 4 (the paper's).
        #[serde(default = "default_safety")]
        safety: f64,
        /// Least margin above the mean. Default 10 ms; the paper has none.
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

/// Returns the fate of each unit of a call. The units must be in the order of their creation.
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

#[cfg(test)]
mod tests;
