//! Laws written in Python. The class that `fairwave.laws` describes becomes a law of its family. The simulator calls its methods
//! like those of a built-in law.
//!
//! Arguments and return values are those of the core traits, with times in seconds, rates in bits per second and sizes in bytes.
//! Each run creates separate instances. A call holds the interpreter's lock for its duration, so runs on several threads take
//! turns.

mod arrival;
mod buffer;
mod control;
mod law;
mod link;
mod loss;
mod parameters;
mod py_types;
mod queue;
mod random;
mod rate_control;
mod run;
mod time;
mod traffic;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fairwave_core::link as core_link;
use fairwave_core::loss as core_loss;
use fairwave_core::queue as core_queue;
use fairwave_core::registry::{NameTaken, RuntimeLaw};
use fairwave_core::traffic as core_traffic;
use fairwave_core::transport::rate_control as core_rate_control;
use fairwave_core::transport::tcp::{self, control as core_control};
use law::{Law, LawDescription, LawSpec};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value};

pub use arrival::Arrival;
pub use buffer::Buffer;
pub use py_types::{Packet, Path, Place, RateSample, Unit, Window};
pub use random::Random;
pub use rate_control::{MediaFeedback, MediaPacket};
pub use run::{Failure, Run, end_runs, note_fork};

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
        "controller" => core_control::register_runtime(runtime_law(&spec, |law| {
            Arc::new(law) as Arc<dyn core_control::AnyControlLaw>
        })),
        "discipline" => core_queue::register_runtime(runtime_law(&spec, |law| {
            Arc::new(law) as Arc<dyn core_queue::AnyDisciplineLaw>
        })),
        "source" => core_traffic::register_runtime(runtime_law(&spec, |law| {
            Arc::new(law) as Arc<dyn core_traffic::AnyTrafficLaw>
        })),
        "loss" => {
            core_loss::register_runtime(runtime_law(&spec, |law| Arc::new(law) as Arc<dyn core_loss::AnyLossLaw>))
        }
        "rate_controller" => core_rate_control::register_runtime(runtime_law(&spec, |law| {
            Arc::new(law) as Arc<dyn core_rate_control::AnyControlLaw>
        })),
        "link" => {
            core_link::register_runtime(runtime_law(&spec, |law| Arc::new(law) as Arc<dyn core_link::AnyRateLaw>))
        }
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
