//! Sources written in Python.

use fairwave_core::config::ConfigError;
use fairwave_core::random::Stream;
use fairwave_core::traffic::{self, Activity, AnyTrafficLaw, Codec, TrafficSource};
use fairwave_core::units::{Instant, Span};
use pyo3::IntoPyObject;
use pyo3::prelude::*;

use super::law::{Instance, Law, LawFault, Method};
use super::py_types;
use super::random::Random;
use super::time::{instant, seconds};

// Traffic with a size (transfers, pages) and sources that listen to a partner exist only in `fairwave-core`.
impl AnyTrafficLaw for Law {
    fn is_bulk(&self) -> bool {
        self.description().bulk
    }

    fn source(&self, start: Instant, stream: Stream) -> Result<Box<dyn TrafficSource>, ConfigError> {
        let instance = self.instance(Some(Random::from_stream(Some(stream))));
        instance.begin(self, Some(start), |py| (seconds(start),).into_pyobject(py));
        let (next_unit, next_activity) = (instance.method(self, "next_unit"), instance.method(self, "next_activity"));
        Ok(Box::new(Source { instance, next_unit, next_activity, latest: start, at_once: 0, next_id: 0 }))
    }

    fn call(&self) -> Option<(Codec, Span)> {
        if !self.has("call") {
            return None;
        }
        self.ask_beforehand("call", None, |answer| {
            let Some((name, each)) = answer.extract::<Option<(String, f64)>>()? else { return Ok(None) };
            let Some(codec) = Codec::ALL.into_iter().find(|codec| codec.name() == name) else {
                return Err(LawFault::Answer(format!("there is no codec `{name}`: `fairwave list codecs` shows them")));
            };
            if !(each > 0.0 && each < 10.0) {
                return Err(LawFault::Answer(format!(
                    "the speech in a unit is {each} s, but must be above 0 and below 10"
                )));
            }
            Ok(Some((codec, Span::from_seconds(each))))
        })
    }

    fn units_per_second(&self) -> Option<f64> {
        if !self.has("units_per_second") {
            return None;
        }
        self.ask_beforehand("units_per_second", None, |answer| match answer.extract::<Option<f64>>()? {
            None => Ok(None),
            Some(rate) if rate > 0.0 && rate.is_finite() => Ok(Some(rate)),
            Some(rate) => {
                Err(LawFault::Answer(format!("it answered {rate}, but must answer a number above 0, or None")))
            }
        })
    }
}

struct Source {
    instance: Instance,
    next_unit: Method,
    next_activity: Method,
    /// Creation time of the latest unit, or end of the latest active period.
    latest: Instant,
    /// Number of units created at that time.
    at_once: u32,
    next_id: u32,
}

/// Maximum number of units of a source at one time. More would stop the run's progress.
const MOST_AT_ONCE: u32 = 100_000;

impl TrafficSource for Source {
    fn next_unit(&mut self) -> Option<traffic::Unit> {
        let next_unit = self.next_unit.as_ref()?;
        let (latest, at_once, id) = (self.latest, self.at_once, self.next_id);
        let unit = self.instance.ask("next_unit", Some(latest), None, |py| {
            let answer = next_unit.bind(py).call0()?;
            if answer.is_none() {
                return Ok(None);
            }
            let unit: PyRef<'_, py_types::Unit> = answer.extract().map_err(|_| {
                LawFault::Answer(format!("it answered {answer:?}, but must answer a fairwave.Unit, or None for no more"))
            })?;
            let created = instant(unit.created, "`created`")?;
            if created == Instant::NEVER {
                return Ok(None);
            }
            if created < latest {
                let (created, latest) = (created.seconds(), latest.seconds());
                return Err(LawFault::Answer(format!(
                    "a unit made at {created} s comes after one of {latest} s: units are made in order, none before the start"
                )));
            }
            if created == latest && at_once >= MOST_AT_ONCE {
                return Err(LawFault::Answer(format!("it made {at_once} units at one moment, and no time passes")));
            }
            if unit.payload == 0 {
                return Err(LawFault::Answer("`payload` is 0, but must be 1 byte or more".to_owned()));
            }
            let frame_type = unit.coded();
            Ok(Some(traffic::Unit { id, payload: unit.payload, created, layer: unit.layer, frame_type }))
        })?;
        self.at_once = if unit.created == self.latest { self.at_once + 1 } else { 1 };
        self.latest = unit.created;
        self.next_id = self.next_id.wrapping_add(1);
        Some(unit)
    }

    fn next_activity(&mut self) -> Option<Activity> {
        let next_activity = self.next_activity.as_ref()?;
        let latest = self.latest;
        let activity = self.instance.ask("next_activity", Some(latest), None, |py| {
            let Some((from, until)) = next_activity.bind(py).call0()?.extract::<Option<(f64, f64)>>()? else {
                return Ok(None);
            };
            let activity = Activity { from: instant(from, "the beginning")?, until: instant(until, "the end")? };
            if activity.from < latest || activity.until <= activity.from {
                return Err(LawFault::Answer(format!(
                    "the interval from {from} s until {until} s must begin at {} s or later and end after its beginning",
                    latest.seconds()
                )));
            }
            Ok(Some(activity))
        })?;
        self.latest = activity.until;
        Some(activity)
    }
}
