//! Bulk data: as much as the transport takes, always or with pauses (paper 004 §4.1: FTP on for Pareto times, off for exponential ones).
//!
//! Bulk sources make no units: the transport decides when data leaves. What they say is *when* there is data, as intervals:
//! within one the application offers without limit, outside nothing new (what ns-2's FTP does between `start` and `stop`).
//! The driver of the flow starts and stops the sender accordingly.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::on_off::{Alternation, First};
use super::{Period, TrafficLaw, TrafficSource};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Span};

/// An interval `[from, until)` during which a bulk source offers as much as the transport takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Activity {
    /// Its beginning.
    pub from: Instant,
    /// Its end; [`Instant::NEVER`] for one that does not end.
    pub until: Instant,
}

/// A long file transfer: as much data as the transport takes, all the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkConfig {}

impl Checked for BulkConfig {}

impl Law for BulkConfig {
    const NAME: &'static str = "bulk";
    const BESIDE: &'static str = r#"{"transport": "tcp/sack"}"#;
}

impl TrafficLaw for BulkConfig {
    type Source = Bulk;
    const BULK: bool = true;

    fn source(&self, start: Instant, _stream: Stream) -> Result<Bulk, ConfigError> {
        Ok(Bulk { periods: None, next: start })
    }
}

/// File transfers one after the other: times in which the source offers as much data as the transport takes, and
/// pauses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct BulkOnOffConfig {
    /// Length of a transfer. Default Pareto, shape 1.4, mean 2 s.
    pub on: Period,
    /// Length of a pause. Default exponential, mean 1 s.
    pub off: Period,
    /// State at the beginning.
    pub first: First,
}

impl Default for BulkOnOffConfig {
    fn default() -> Self {
        BulkOnOffConfig {
            on: Period::Pareto { mean: Span::from_secs(2), shape: 1.4 },
            off: Period::Exponential { mean: Span::from_secs(1) },
            first: First::Stationary,
        }
    }
}

impl Checked for BulkOnOffConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.on.check().map_err(|e| e.within("on"))?;
        self.off.check().map_err(|e| e.within("off"))
    }
}

impl Law for BulkOnOffConfig {
    const NAME: &'static str = "bulk-on-off";
    const BESIDE: &'static str = r#"{"transport": "tcp/sack"}"#;
}

impl TrafficLaw for BulkOnOffConfig {
    type Source = Bulk;
    const BULK: bool = true;

    fn source(&self, start: Instant, stream: Stream) -> Result<Bulk, ConfigError> {
        let periods = Alternation::new(self.on, self.off, self.first, stream);
        Ok(Bulk { periods: Some(Box::new(periods)), next: start })
    }
}

/// When a bulk source offers data.
#[derive(Clone, PartialEq, Debug)]
pub struct Bulk {
    /// None for a source that is always on.
    periods: Option<Box<Alternation>>,
    /// Where the next off-period begins.
    next: Instant,
}

impl TrafficSource for Bulk {
    fn next_activity(&mut self) -> Option<Activity> {
        if self.next == Instant::NEVER {
            return None;
        }
        let (off, on) = match &mut self.periods {
            Some(periods) => periods.next(),
            None => (Span::ZERO, Span::MAX),
        };
        let from = self.next + off;
        self.next = from + on;
        (from < Instant::NEVER).then_some(Activity { from, until: self.next })
    }
}
