//! Scenarios for Python: read, write, override and check. Structured values cross as JSON text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fairwave_core::loss::LossConfig;
use fairwave_core::queue::DisciplineConfig;
use fairwave_core::random::Seed;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use fairwave_core::units::Instant;
use fairwave_scenario::cost::CostOfRuns;
use fairwave_scenario::plan::{FlowPlan, LinkPlan, Plan};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::ScenarioError;
use crate::laws::{self, Failure, Run};

/// A checked scenario.
#[pyclass(frozen)]
pub struct Scenario {
    inner: Arc<fairwave_scenario::Scenario>,
}

impl Scenario {
    /// The scenario of the Rust crate.
    pub fn inner(&self) -> Arc<fairwave_scenario::Scenario> {
        self.inner.clone()
    }
}

pub(crate) fn refused(error: &fairwave_scenario::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// Runs work that may call laws written in Python. Returns an error if one of these laws failed.
fn judged<T>(py: Python<'_>, work: impl FnOnce() -> Result<T, fairwave_scenario::ScenarioError>) -> PyResult<T> {
    let (done, failure) = Run::make(&Arc::default(), |_| work());
    match failure {
        // A keyboard interrupt in a law also interrupts its caller.
        Some(Failure { cause: Some(cause), .. }) if cause.is_instance_of::<PyKeyboardInterrupt>(py) => Err(cause),
        Some(Failure { message, cause }) => {
            let error = ScenarioError::new_err(format!("error: {message}"));
            error.set_cause(py, cause);
            Err(error)
        }
        None => done.map_err(|error| ScenarioError::new_err(error.to_string())),
    }
}

/// Names of all laws in the scenario that are written in Python, with fingerprints of their code.
pub fn own_laws(scenario: &fairwave_scenario::Scenario) -> BTreeMap<String, String> {
    if !laws::is_any_registered() {
        return BTreeMap::new();
    }
    let table = scenario.to_json().ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let mut words = BTreeSet::new();
    texts(&table, &mut words);
    laws::fingerprints(words)
}

/// Collects all texts among the values of a table.
fn texts<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::String(text) => {
            found.insert(text);
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(table) => table.values().for_each(|inner| texts(inner, found)),
        _ => {}
    }
}

fn unwritable(error: &serde_json::Error) -> PyErr {
    PyValueError::new_err(format!("this scenario cannot be written out: {error}"))
}

impl From<fairwave_scenario::Scenario> for Scenario {
    fn from(inner: fairwave_scenario::Scenario) -> Self {
        Scenario { inner: Arc::new(inner) }
    }
}

/// The text with its changed keys, each change with its line, and the part that needs a person.
type UpgradedText = (String, Vec<(usize, String)>, Option<String>);

#[pymethods]
impl Scenario {
    /// Reads TOML or JSON. `file` is the name in messages.
    #[staticmethod]
    #[pyo3(signature = (text, file = "-"))]
    fn from_text(py: Python<'_>, text: &str, file: &str) -> PyResult<Self> {
        judged(py, || fairwave_scenario::Scenario::from_text(text, file)).map(Self::from)
    }

    /// The JSON Schema of the language as text.
    #[staticmethod]
    fn schema() -> PyResult<String> {
        serde_json::to_string_pretty(&fairwave_scenario::Scenario::json_schema()).map_err(|error| unwritable(&error))
    }

    /// Rewrites a scenario in the current version of the language: the text, the changes as lines and words, and the message about
    /// what the author must change.
    #[staticmethod]
    fn upgrade(py: Python<'_>, text: &str, file: &str) -> PyResult<UpgradedText> {
        let upgrade = judged(py, || fairwave_scenario::Scenario::upgrade(text, file))?;
        let changes = upgrade.changes.into_iter().map(|change| (change.line, change.words)).collect();
        Ok((upgrade.text, changes, upgrade.rest.map(|rest| rest.to_string())))
    }

    /// Warnings about old keys that were read as new ones: place and text.
    fn renamed_keys(&self) -> Vec<(String, String)> {
        self.inner.renamed_keys().to_vec()
    }

    /// Converts an override's text, as on a command line, to a JSON value.
    #[staticmethod]
    fn override_value(text: &str) -> String {
        fairwave_scenario::Scenario::override_value(text).to_string()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// Hash of the scenario. It includes the code of laws written in Python.
    #[getter]
    fn hash(&self) -> PyResult<String> {
        let hash = self.inner.content_hash().map_err(|error| unwritable(&error))?;
        let own = own_laws(&self.inner);
        if own.is_empty() {
            return Ok(hash);
        }
        let text = own.iter().fold(hash, |text, (name, code)| format!("{text} {name} {code}"));
        let mixed = text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Ok(format!("{mixed:016x}"))
    }

    fn to_json(&self) -> PyResult<String> {
        self.inner.to_json().map_err(|error| unwritable(&error))
    }

    fn to_toml(&self) -> PyResult<String> {
        self.inner.to_toml().map_err(|error| unwritable(&error))
    }

    /// Returns a copy with changed values: a JSON object from dotted path to value.
    fn with_overrides(&self, py: Python<'_>, overrides: &str) -> PyResult<Self> {
        let overrides: BTreeMap<String, Value> = serde_json::from_str(overrides).map_err(|error| {
            ScenarioError::new_err(format!("error: an override holds what no scenario can: {error}"))
        })?;
        let pairs: Vec<(&str, Value)> = overrides.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
        judged(py, || self.inner.with_overrides(&pairs)).map(Self::from)
    }

    /// Returns a copy with the topology preset expanded to links.
    fn expand_preset(&self, py: Python<'_>) -> PyResult<Self> {
        judged(py, || self.inner.expand_preset()).map(Self::from)
    }

    /// Rejects a number of runs that would take too long or leave too much data, and states their cost.
    fn check_runs(&self, py: Python<'_>, runs: u64, seed: u64) -> PyResult<()> {
        judged(py, || self.inner.check_runs(runs, Seed(seed)))
    }

    /// Upper estimate of the cost of several runs: seconds of computing on one core, and a description.
    fn cost_of_runs(&self, py: Python<'_>, runs: u64, seed: u64) -> PyResult<(f64, String)> {
        let hops = judged(py, || self.inner.estimate_events(Seed(seed)))?;
        let cost = CostOfRuns::new(runs, hops);
        Ok((cost.seconds, cost.to_string()))
    }

    /// The plan of a run with this seed, as JSON.
    fn plan(&self, py: Python<'_>, seed: u64) -> PyResult<String> {
        judged(py, || Ok(describe(&self.inner.plan(Seed(seed))?).to_string()))
    }

    /// Groups of calls, and the mean share of time with speech per speaker.
    fn activities(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        judged(py, || Ok(self.inner.activities()))
    }

    /// For overrides that gave only a law's name: the parameters kept and dropped, one sentence each.
    fn kept(&self) -> Vec<String> {
        self.inner.kept()
    }

    /// Upper estimate of the cost of a run with this seed: packet-hops, seconds on one core, bytes of memory, and a description.
    fn cost(&self, py: Python<'_>, seed: u64) -> PyResult<(f64, f64, f64, String)> {
        let cost = judged(py, || self.inner.cost(Seed(seed)))?;
        Ok((cost.packet_hops, cost.seconds(), cost.memory, cost.to_string()))
    }

    /// The full name of a law of a family (`transport`, `queue`, `traffic`, `loss`): `tcp/cubic` for `cubic`. Returns an unknown
    /// name unchanged.
    #[staticmethod]
    #[pyo3(signature = (name, family = "transport"))]
    fn full_name(name: &str, family: &str) -> PyResult<String> {
        let full = match family {
            "transport" => TransportConfig::full_name(name),
            "queue" => DisciplineConfig::full_name(name),
            "traffic" => TrafficConfig::full_name(name),
            "loss" => LossConfig::full_name(name),
            _ => Ok(name.to_owned()),
        };
        full.map_err(|error| ScenarioError::new_err(error.to_string()))
    }

    /// Warnings about unexpected behaviour in a run with this seed: names of links or groups, and texts.
    fn cautions(&self, py: Python<'_>, seed: u64) -> PyResult<Vec<(String, String)>> {
        let plan = judged(py, || self.inner.plan(Seed(seed)))?;
        let cautions = plan.cautions().into_iter().map(|(link, words)| (link.to_owned(), words));
        Ok(self.inner.renamed_keys().iter().cloned().chain(cautions).collect())
    }

    /// The plan with indices instead of names and times in whole nanoseconds, for programs that run it elsewhere.
    fn exact_plan(&self, py: Python<'_>, seed: u64) -> PyResult<String> {
        let plan = judged(py, || self.inner.plan(Seed(seed)))?;
        Ok(plan.to_json().map_err(|error| unwritable(&error))?.to_string())
    }
}

fn describe(plan: &Plan) -> Value {
    let node = |index: usize| plan.nodes.get(index).map_or("?", String::as_str);
    let route = |links: &[usize]| -> Vec<&str> {
        links.iter().map(|&link| plan.links.get(link).map_or("?", |link| &*link.name)).collect()
    };
    let link = |link: &LinkPlan| {
        json!({
            "name": link.name,
            "rate_bps": link.direction.rate.nominal().bits_per_second(),
            "delay_s": link.direction.delay.seconds(),
            "queue": link.direction.queue,
            "loss": link.direction.loss,
            "medium": link.medium.and_then(|medium| plan.media.get(medium)).map(|medium| medium.name.as_str()),
        })
    };
    let flow = |flow: &FlowPlan| {
        let on = flow.active_time(flow.start, flow.stop.min(Instant::ZERO + plan.duration)).seconds();
        json!({
            "name": flow.name,
            "from": node(flow.from),
            "to": node(flow.to),
            "forward": route(&flow.forward),
            "backward": route(&flow.backward),
            "transport": *flow.transport,
            "traffic": *flow.traffic,
            "offered_bps": flow.offered(),
            "volume_bytes": flow.traffic.volume(on).map(|volume| volume.payload),
            "on_s": on,
            "activity": flow.traffic.activity(),
            "period_s": flow.traffic.period().map(|(period, _)| period.seconds()),
            "partner": flow.partner.and_then(|partner| plan.flows.get(partner.flow)).map(|other| other.name.as_str()),
            "start_s": flow.start.seconds(),
            "stop_s": if flow.stop == Instant::NEVER { plan.duration.seconds() } else { flow.stop.seconds() },
            "thresholds_s": flow.thresholds.iter().map(|one| one.seconds()).collect::<Vec<_>>(),
        })
    };
    json!({
        "version": plan.version,
        "name": plan.name,
        "seed": plan.seed.0,
        "duration_s": plan.duration.seconds(),
        "warmup_s": plan.warmup.seconds(),
        "hosts": {
            "clock_skew_ppm": plan.hosts.clock_skew.ppb() as f64 / 1e3,
            "send_jitter_s": plan.hosts.send_jitter.seconds(),
        },
        "nodes": plan.nodes,
        "links": plan.links.iter().map(link).collect::<Vec<_>>(),
        "media": plan.media.iter().map(|medium| json!({ "name": medium.name, "law": medium.law })).collect::<Vec<_>>(),
        "marks": plan.marks.iter().map(|mark| json!({ "at_s": mark.at.seconds(), "label": mark.label })).collect::<Vec<_>>(),
        "flows": plan.flows.iter().map(flow).collect::<Vec<_>>(),
    })
}
