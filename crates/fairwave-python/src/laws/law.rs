//! A law written in Python, its instances and its calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use fairwave_core::config::ConfigError;
use fairwave_core::transport::tcp::{Recovery, control as core_control};
use fairwave_core::units::Instant;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde::Deserialize;

use super::parameters::{self, Parameter, ParameterValue};
use super::random::Random;
use super::run::{Failure, Run, call_law};

/// Description of a law from Python.
#[derive(Debug, Deserialize)]
pub struct LawDescription {
    pub name: String,
    pub about: String,
    pub parameters: Vec<Parameter>,
    /// The methods that the law overrides.
    pub methods: BTreeSet<String>,
    /// Fingerprint of the law's code.
    pub fingerprint: String,
    #[serde(default)]
    pub recovery: Option<Recovery>,
    #[serde(default)]
    pub waves: bool,
    #[serde(default)]
    pub marks: core_control::Marks,
    #[serde(default)]
    pub own_victim: Option<String>,
    #[serde(default)]
    pub not_fifo: bool,
    #[serde(default)]
    pub by_flow: bool,
    #[serde(default)]
    pub reaches_capacity: bool,
    /// True if the discipline can mark packets.
    #[serde(default)]
    pub gives_marks: bool,
    #[serde(default)]
    pub bulk: bool,
    #[serde(default)]
    pub steady: bool,
}

/// A registered law.
pub struct LawSpec {
    pub description: LawDescription,
    pub class: Py<PyAny>,
    /// [`LawDescription::own_victim`] with static lifetime, as core requires.
    pub own_victim: Option<&'static str>,
}

/// A law with its parameter values.
#[derive(Clone)]
pub struct Law {
    pub spec: Arc<LawSpec>,
    pub values: Vec<ParameterValue>,
}

/// An error in a call of a law.
pub enum LawFault {
    /// The law raised an exception.
    Raised(PyErr),
    /// The law returned an invalid value.
    Answer(String),
}

impl From<PyErr> for LawFault {
    fn from(error: PyErr) -> Self {
        LawFault::Raised(error)
    }
}

/// A bound method of an instance. `None` if the law does not override it.
pub type Method = Option<Py<PyAny>>;

/// An instance of a law, for a run or for a question before a run.
pub struct Instance {
    pub name: String,
    /// `None` if the constructor failed. The run has recorded the failure.
    pub object: Option<Py<PyAny>>,
    pub run: Arc<Run>,
}

impl Law {
    pub fn has(&self, method: &str) -> bool {
        self.spec.description.methods.contains(method)
    }

    /// True if packets of this law's flows are ECN-capable.
    pub fn has_marks(&self) -> bool {
        self.description().gives_marks
    }

    pub fn description(&self) -> &LawDescription {
        &self.spec.description
    }

    /// Creates an instance with these random numbers, without calling `begin`.
    pub fn instance(&self, random: Option<Random>) -> Instance {
        let mut instance = Instance { name: self.description().name.clone(), object: None, run: Run::current() };
        instance.object = instance.ask("__init__", None, None, |py| {
            let values = PyDict::new(py);
            for (parameter, held) in self.description().parameters.iter().zip(&self.values) {
                values.set_item(&parameter.attribute, held.to_python(py)?)?;
            }
            let object = self.spec.class.bind(py).call((), Some(&values))?;
            if let Some(random) = random {
                object.setattr("random", Bound::new(py, random)?)?;
            }
            Ok(Some(object.unbind()))
        });
        instance
    }

    /// Calls a method of a temporary instance outside a run, for example for the nominal rate of a link.
    pub fn ask_beforehand<T>(
        &self,
        method: &'static str,
        otherwise: T,
        read: impl FnOnce(Bound<'_, PyAny>) -> Result<T, LawFault>,
    ) -> T {
        let instance = self.instance(None);
        let call = instance.method(self, method);
        instance.ask(method, None, otherwise, |py| match &call {
            Some(call) => read(call.bind(py).call0()?),
            None => Err(LawFault::Answer(format!("it has no method `{method}`"))),
        })
    }

    pub fn check(&self) -> Result<(), ConfigError> {
        parameters::check(&self.description().parameters, &self.values)?;
        if !self.has("check") {
            return Ok(());
        }
        let instance = self.instance(None);
        let call = instance.method(self, "check");
        let refused = instance.ask("check", None, None, |py| {
            let Some(call) = &call else { return Ok(None) };
            match call.bind(py).call0() {
                Ok(_) => Ok(None),
                Err(error) => match refusal(py, &error) {
                    Some(refused) => Ok(Some(refused)),
                    None => Err(error.into()),
                },
            }
        });
        refused.map_or(Ok(()), Err)
    }
}

/// Converts an exception `fairwave.Refusal` to a configuration error.
fn refusal(py: Python<'_>, error: &PyErr) -> Option<ConfigError> {
    let value = error.value(py);
    let part = |name: &str| value.getattr(name).ok()?.extract::<String>().ok();
    Some(ConfigError::new(part("key")?, part("value")?, part("allowed")?, part("example")?))
}

impl Instance {
    /// The bound method `name`, if the law overrides it.
    pub fn method(&self, law: &Law, name: &'static str) -> Method {
        if !law.has(name) {
            return None;
        }
        let object = self.object.as_ref()?;
        self.ask(name, None, None, |py| Ok(Some(object.bind(py).getattr(name)?.unbind())))
    }

    /// Calls `begin`, if the law defines it, with arguments that do not depend on the run.
    pub fn begin(
        &self,
        law: &Law,
        now: Option<Instant>,
        arguments: impl FnOnce(Python<'_>) -> PyResult<Bound<'_, PyTuple>>,
    ) {
        if let Some(begin) = self.method(law, "begin") {
            self.ask("begin", now, (), |py| {
                begin.bind(py).call1(arguments(py)?)?;
                Ok(())
            });
        }
    }

    /// Calls the law. Returns `otherwise` if the run has ended. An error in the law also gives `otherwise` and ends the run.
    #[inline]
    pub fn ask<T>(
        &self,
        method: &'static str,
        now: Option<Instant>,
        otherwise: T,
        question: impl FnOnce(Python<'_>) -> Result<T, LawFault>,
    ) -> T {
        if !self.run.goes_on() {
            return otherwise;
        }
        self.run.asks();
        match Python::try_attach(|py| {
            call_law(py, || question(py)).map_err(|trouble| self.failure(py, method, now, trouble))
        }) {
            Some(Ok(answer)) => answer,
            Some(Err(failure)) => {
                self.run.fail(failure);
                otherwise
            }
            None => otherwise, // the interpreter has ended
        }
    }

    #[cold]
    fn failure(&self, py: Python<'_>, method: &str, now: Option<Instant>, trouble: LawFault) -> Failure {
        let at = now.map_or_else(String::new, |now| format!(" at {} s", now.seconds()));
        let place = format!("law `{}`, {method}{at}", self.name);
        match trouble {
            LawFault::Answer(what) => Failure { message: format!("{place}: {what}"), cause: None },
            LawFault::Raised(error) => {
                let kind = error.get_type(py).name().map_or_else(|_| "error".to_owned(), |name| name.to_string());
                let text = error.value(py).str().map_or_else(|_| String::new(), |text| text.to_string());
                let what = if text.is_empty() { kind } else { format!("{kind}: {text}") };
                Failure { message: format!("{place}: {what}"), cause: Some(error) }
            }
        }
    }
}
