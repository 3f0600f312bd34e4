//! Loss models written in Python.

use fairwave_core::config::ConfigError;
use fairwave_core::loss::{AnyLossLaw, LossModel};
use fairwave_core::packet::Packet;
use fairwave_core::random::Stream;
use fairwave_core::units::{Instant, Span};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::law::{Instance, Law, LawFault, Method};
use super::py_types;
use super::random::Random;
use super::time::seconds;

impl AnyLossLaw for Law {
    fn model(&self, stream: Stream) -> Result<Box<dyn LossModel>, ConfigError> {
        let instance = self.instance(Some(Random::from_stream(Some(stream))));
        instance.begin(self, None, |py| Ok(PyTuple::empty(py)));
        Ok(Box::new(Loss { lost: instance.method(self, "lost"), instance }))
    }

    fn cycle(&self) -> Option<Span> {
        if !self.has("cycle") {
            return None;
        }
        self.ask_beforehand("cycle", None, |answer| match answer.extract::<Option<f64>>()? {
            None => Ok(None),
            Some(mean) if mean > 0.0 && mean.is_finite() => Ok(Some(Span::from_seconds(mean))),
            Some(mean) => Err(LawFault::Answer(format!(
                "it answered {mean}, but must answer a time in seconds, above 0, or None"
            ))),
        })
    }
}

struct Loss {
    instance: Instance,
    lost: Method,
}

impl LossModel for Loss {
    fn lost(&mut self, now: Instant, packet: &Packet) -> bool {
        let Some(lost) = &self.lost else { return false };
        self.instance.ask("lost", Some(now), false, |py| {
            Ok(lost.bind(py).call1((seconds(now), py_types::Packet::from_core(packet)))?.extract()?)
        })
    }
}
