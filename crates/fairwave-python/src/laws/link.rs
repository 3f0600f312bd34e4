//! Link laws written in Python.

use fairwave_core::config::ConfigError;
use fairwave_core::link::{AnyRateLaw, Transmitter};
use fairwave_core::random::Stream;
use fairwave_core::units::{Bytes, Instant, Rate};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::law::{Instance, Law, LawFault, Method};
use super::random::Random;
use super::time::{instant, seconds};

impl AnyRateLaw for Law {
    fn transmitter(&self, stream: Stream) -> Result<Box<dyn Transmitter>, ConfigError> {
        let instance = self.instance(Some(Random::from_stream(Some(stream))));
        instance.begin(self, None, |py| Ok(PyTuple::empty(py)));
        let (end_of, capacity) = (instance.method(self, "end_of"), instance.method(self, "capacity"));
        Ok(Box::new(Link { instance, end_of, capacity }))
    }

    fn is_steady(&self) -> bool {
        self.description().steady
    }

    fn nominal(&self) -> Rate {
        rate_by(self, "nominal")
    }

    fn highest(&self) -> Rate {
        rate_by(self, if self.has("highest") { "highest" } else { "nominal" })
    }
}

/// A rate that a method of the law returns before the run.
fn rate_by(law: &Law, method: &'static str) -> Rate {
    let least = Rate::from_bits_per_second(1);
    law.ask_beforehand(method, least, |answer| {
        let rate: f64 = answer.extract()?;
        if !(1.0..=1e15).contains(&rate) {
            return Err(LawFault::Answer(format!(
                "it answered {rate}, but must answer a rate in bits per second, 1 or more"
            )));
        }
        Ok(Rate::from_bits_per_second(rate.round() as u64))
    })
}

struct Link {
    instance: Instance,
    end_of: Method,
    capacity: Method,
}

impl Transmitter for Link {
    fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        let Some(end_of) = &self.end_of else { return Instant::NEVER };
        self.instance.ask("end_of", Some(start), Instant::NEVER, |py| {
            let end =
                instant(end_of.bind(py).call1((seconds(start), size.get()))?.extract()?, "the end of a transmission")?;
            if end < start {
                let (end, start) = (end.seconds(), start.seconds());
                return Err(LawFault::Answer(format!(
                    "a transmission that begins at {start} s cannot end at {end} s, before that"
                )));
            }
            Ok(end)
        })
    }

    fn capacity(&self, from: Instant, to: Instant) -> Bytes {
        let Some(capacity) = &self.capacity else { return Bytes::ZERO };
        self.instance.ask("capacity", Some(from), Bytes::ZERO, |py| {
            let bytes: f64 = capacity.bind(py).call1((seconds(from), seconds(to)))?.extract()?;
            if !(0.0..=1e18).contains(&bytes) {
                return Err(LawFault::Answer(format!(
                    "it answered {bytes}, but must answer a number of bytes, 0 or more"
                )));
            }
            Ok(Bytes::new(bytes as u64))
        })
    }
}
