//! Bulk data: as much as the transport accepts, always or with pauses (paper 004 §4.1: FTP on for Pareto times, off for
//! exponential ones).
//!
//! Bulk sources produce no units: the transport decides when data leaves. The source only yields the intervals *when*
//! there is data. Within an interval the application offers unlimited data, outside nothing new (as ns-2's FTP between
//! `start` and `stop`). The driver of the flow starts and stops the sender accordingly.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::on_off::{Alternation, First};
use super::{Period, TrafficLaw, TrafficSource};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Span};

/// Interval `[from, until)` when a bulk source offers as much data as the transport accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Activity {
    /// Start.
    pub from: Instant,
    /// End; [`Instant::NEVER`] for an interval without end.
    pub until: Instant,
}

/// A long file transfer: as much data as the transport accepts, all the time.
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

/// File transfers one after the other: periods when the source offers as much data as the transport accepts, and
/// pauses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct BulkOnOffConfig {
    /// Length of a transfer. Default Pareto, shape 1.4, mean 2 s.
    pub on: Period,
    /// Length of a pause. Default exponential, mean 1 s.
    pub off: Period,
    /// State at the start.
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
        self.on.check().map_err(|e| e.nested_in("on"))?;
        self.off.check().map_err(|e| e.nested_in("off"))
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

/// Activity of a bulk source.
#[derive(Clone, PartialEq, Debug)]
pub struct Bulk {
    /// `None` for a source that is always on.
    periods: Option<Box<Alternation>>,
    /// Start of the next off-period.
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
