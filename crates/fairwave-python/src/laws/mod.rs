//! Laws written in Python. The class that `fairwave.laws` describes becomes a law of its family. The simulator calls its methods
//! like those of a built-in law.
//!
//! Arguments and return values are those of the core traits, with times in seconds, rates in bits per second and sizes in bytes.
//! Each run creates separate instances. A call holds the interpreter's lock for its duration, so runs on several threads take
//! turns.

mod arrival;
mod buffer;
mod control;
mod link;
mod loss;
mod parameters;
mod py_types;
mod queue;
mod random;
mod rate_control;
mod run;
mod traffic;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use fairwave_core::config::ConfigError;
use fairwave_core::link as core_link;
use fairwave_core::loss as core_loss;
use fairwave_core::queue as core_queue;
use fairwave_core::registry::{NameTaken, RuntimeLaw};
use fairwave_core::traffic as core_traffic;
use fairwave_core::transport::rate_control as core_rate_control;
use fairwave_core::transport::tcp::{self, Recovery, control as core_control};
use fairwave_core::units::Instant;
use parameters::{Parameter, ParameterValue};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde::Deserialize;
use serde_json::{Map, Value};

pub use arrival::Arrival;
pub use buffer::Buffer;
pub use py_types::{Packet, Path, Place, RateSample, Unit, Window};
pub use random::Random;
pub use rate_control::{MediaFeedback, MediaPacket};
use run::call_law;
pub use run::{Failure, Run, end_runs, note_fork};

/// Description of a law from Python.
#[derive(Debug, Deserialize)]
struct LawDescription {
    name: String,
    about: String,
    parameters: Vec<Parameter>,
    /// The methods that the law overrides.
    methods: BTreeSet<String>,
    /// Fingerprint of the law's code.
    fingerprint: String,
    #[serde(default)]
    recovery: Option<Recovery>,
    #[serde(default)]
    waves: bool,
    #[serde(default)]
    marks: core_control::Marks,
    #[serde(default)]
    own_victim: Option<String>,
    #[serde(default)]
    not_fifo: bool,
    #[serde(default)]
    by_flow: bool,
    #[serde(default)]
    reaches_capacity: bool,
    /// True if the discipline can mark packets.
    #[serde(default)]
    gives_marks: bool,
    #[serde(default)]
    bulk: bool,
    #[serde(default)]
    steady: bool,
}

/// A registered law.
struct LawSpec {
    description: LawDescription,
    class: Py<PyAny>,
    /// [`LawDescription::own_victim`] with static lifetime, as core requires.
    own_victim: Option<&'static str>,
}

/// A law with its parameter values.
#[derive(Clone)]
pub struct Law {
    spec: Arc<LawSpec>,
    values: Vec<ParameterValue>,
}

/// An error in a call of a law.
enum LawFault {
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
type Method = Option<Py<PyAny>>;

/// An instance of a law, for a run or for a question before a run.
struct Instance {
    name: String,
    /// `None` if the constructor failed. The run has recorded the failure.
    object: Option<Py<PyAny>>,
    run: Arc<Run>,
}

impl Law {
    fn has(&self, method: &str) -> bool {
        self.spec.description.methods.contains(method)
    }

    /// True if packets of this law's flows are ECN-capable.
    fn has_marks(&self) -> bool {
        self.description().gives_marks
    }

    fn description(&self) -> &LawDescription {
        &self.spec.description
    }

    /// Creates an instance with these random numbers, without calling `begin`.
    fn instance(&self, random: Option<Random>) -> Instance {
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
    fn ask_beforehand<T>(
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

    fn check(&self) -> Result<(), ConfigError> {
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
    fn method(&self, law: &Law, name: &'static str) -> Method {
        if !law.has(name) {
            return None;
        }
        let object = self.object.as_ref()?;
        self.ask(name, None, None, |py| Ok(Some(object.bind(py).getattr(name)?.unbind())))
    }

    /// Calls `begin`, if the law defines it, with arguments that do not depend on the run.
    fn begin(
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
    fn ask<T>(
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

/// Converts a law's returned time. Infinity means never.
fn instant(seconds: f64, what: &str) -> Result<Instant, LawFault> {
    if seconds == f64::INFINITY {
        return Ok(Instant::NEVER);
    }
    if !(0.0..1e10).contains(&seconds) {
        return Err(LawFault::Answer(format!(
            "{what} is {seconds}, but must be a time in seconds since the beginning"
        )));
    }
    Ok(Instant::from_seconds(seconds))
}

/// Converts a time for a law: seconds, infinity for never.
fn seconds(time: Instant) -> f64 {
    if time == Instant::NEVER { f64::INFINITY } else { time.seconds() }
}

/// Fingerprints of the laws' code, by name and family.
static FINGERPRINTS: Mutex<BTreeMap<String, BTreeMap<String, String>>> = Mutex::new(BTreeMap::new());

/// True if any law is registered.
pub fn is_any_registered() -> bool {
    !FINGERPRINTS.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
}

/// The laws among `words`, with fingerprints of their code.
pub fn fingerprints<'a>(words: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, String> {
    let known = FINGERPRINTS.lock().unwrap_or_else(PoisonError::into_inner);
    let joined = |word: &str| Some(known.get(word)?.values().cloned().collect::<Vec<_>>().join(" "));
    words.into_iter().filter_map(|word| Some((word.to_owned(), joined(word)?))).collect()
}

/// Registers a law written in Python. It replaces a law of the same name and family.
///
/// `family` is `controller`, `discipline`, `source`, `loss`, `rate_controller` or `link`. `description` is the law's description from
/// `fairwave.laws`, as JSON.
///
/// # Errors
/// `ValueError` if a law that is not written in Python has this name, or if a parameter is invalid.
#[pyfunction]
pub fn register_law(family: &str, description: &str, class: Bound<'_, PyAny>) -> PyResult<()> {
    let refuse = |what: String| PyValueError::new_err(what);
    let description: LawDescription = serde_json::from_str(description).map_err(|error| refuse(error.to_string()))?;
    for parameter in &description.parameters {
        parameter.check_description().map_err(|error| refuse(format!("parameter `{}`: {error}", parameter.key)))?;
    }
    let reserved: Vec<String> = match family {
        "controller" => tcp::connection_keys().iter().cloned().chain(["name".to_owned()]).collect(),
        "discipline" => ["discipline", "capacity", "victim"].map(str::to_owned).to_vec(),
        "source" => ["kind", "clip"].map(str::to_owned).to_vec(),
        "loss" => vec!["model".to_owned()],
        "rate_controller" => vec!["name".to_owned()],
        _ => vec!["law".to_owned()],
    };
    if let Some(parameter) = description.parameters.iter().find(|one| reserved.contains(&one.key)) {
        return Err(refuse(format!(
            "parameter `{}`: this key has a meaning already; give it another name",
            parameter.key
        )));
    }
    let (name, fingerprint) = (description.name.clone(), description.fingerprint.clone());
    let own_victim = description.own_victim.clone().map(|why| &*why.leak());
    let spec = Arc::new(LawSpec { description, class: class.unbind(), own_victim });
    let registered = match family {
        "controller" => {
            core_control::give(runtime_law(&spec, |law| Arc::new(law) as Arc<dyn core_control::AnyControlLaw>))
        }
        "discipline" => {
            core_queue::give(runtime_law(&spec, |law| Arc::new(law) as Arc<dyn core_queue::AnyDisciplineLaw>))
        }
        "source" => core_traffic::give(runtime_law(&spec, |law| Arc::new(law) as Arc<dyn core_traffic::AnyTrafficLaw>)),
        "loss" => core_loss::give(runtime_law(&spec, |law| Arc::new(law) as Arc<dyn core_loss::AnyLossLaw>)),
        "rate_controller" => core_rate_control::give(runtime_law(&spec, |law| {
            Arc::new(law) as Arc<dyn core_rate_control::AnyControlLaw>
        })),
        "link" => core_link::give(runtime_law(&spec, |law| Arc::new(law) as Arc<dyn core_link::AnyRateLaw>)),
        other => return Err(refuse(format!("there is no family `{other}` of laws"))),
    };
    registered.map_err(|error: NameTaken| refuse(error.to_string()))?;
    let mut known = FINGERPRINTS.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(name).or_default().insert(family.to_owned(), fingerprint);
    Ok(())
}

/// Wraps a law for its family's registry.
fn runtime_law<D: ?Sized>(spec: &Arc<LawSpec>, erase: fn(Law) -> Arc<D>) -> RuntimeLaw<D> {
    let (reading, describing) = (spec.clone(), spec.clone());
    let read = move |table: Map<String, Value>| {
        let values = parameters::read(&reading.description.parameters, &table)?;
        let written = parameters::written(&reading.description.parameters, &values);
        Ok((written, erase(Law { spec: reading.clone(), values })))
    };
    RuntimeLaw::new(spec.description.name.clone(), read, move |generator| {
        parameters::schema(&describing.description.parameters, &describing.description.about, generator)
    })
}
