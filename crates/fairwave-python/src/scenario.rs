//! Scenarios for Python: read, written, overridden, checked. Structured values cross as JSON text.

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
    /// The scenario itself.
    pub fn inner(&self) -> Arc<fairwave_scenario::Scenario> {
        self.inner.clone()
    }
}

pub(crate) fn refused(error: &fairwave_scenario::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// Does what may ask laws that are written in Python, and refuses what comes of it when one of them was in trouble.
fn judged<T>(py: Python<'_>, work: impl FnOnce() -> Result<T, fairwave_scenario::ScenarioError>) -> PyResult<T> {
    let (done, failure) = Run::make(&Arc::default(), |_| work());
    match failure {
        // A stop of a law that is called here also stops its caller.
        Some(Failure { cause: Some(cause), .. }) if cause.is_instance_of::<PyKeyboardInterrupt>(py) => Err(cause),
        Some(Failure { message, cause }) => {
            let error = ScenarioError::new_err(format!("error: {message}"));
            error.set_cause(py, cause);
            Err(error)
        }
        None => done.map_err(|error| ScenarioError::new_err(error.to_string())),
    }
}

/// The laws written in Python that a scenario may name, with what tells their code from another's.
pub fn own_laws(scenario: &fairwave_scenario::Scenario) -> BTreeMap<String, String> {
    if !laws::are_there() {
        return BTreeMap::new();
    }
    let table = scenario.to_json().ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let mut words = BTreeSet::new();
    texts(&table, &mut words);
    laws::fingerprints(words)
}

/// Every text that stands as a value in a table.
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

#[pymethods]
impl Scenario {
    /// Reads TOML or JSON; `file` is the name that messages use.
    #[staticmethod]
    #[pyo3(signature = (text, file = "-"))]
    fn from_text(py: Python<'_>, text: &str, file: &str) -> PyResult<Self> {
        judged(py, || fairwave_scenario::Scenario::from_text(text, file)).map(Self::from)
    }

    /// The JSON Schema of the language, as text.
    #[staticmethod]
    fn schema() -> PyResult<String> {
        serde_json::to_string_pretty(&fairwave_scenario::Scenario::json_schema()).map_err(|error| unwritable(&error))
    }

    /// The value that the text of an override means on a command line, as JSON.
    #[staticmethod]
    fn override_value(text: &str) -> String {
        fairwave_scenario::Scenario::override_value(text).to_string()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// What tells the scenario from others: with laws written in Python also by their code.
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

    /// The same scenario with other values: a JSON object of dotted path to value.
    fn with_overrides(&self, py: Python<'_>, overrides: &str) -> PyResult<Self> {
        let overrides: BTreeMap<String, Value> = serde_json::from_str(overrides).map_err(|error| {
            ScenarioError::new_err(format!("error: an override holds what no scenario can: {error}"))
        })?;
        let pairs: Vec<(&str, Value)> = overrides.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
        judged(py, || self.inner.with_overrides(&pairs)).map(Self::from)
    }

    /// The same scenario with the preset of its topology written out as links.
    fn expand_preset(&self, py: Python<'_>) -> PyResult<Self> {
        judged(py, || self.inner.expand_preset()).map(Self::from)
    }

    /// Rejects a number of runs that would take too long or leave too much data, and states their cost.
    fn check_runs(&self, py: Python<'_>, runs: u64, seed: u64) -> PyResult<()> {
        judged(py, || self.inner.check_runs(runs, Seed(seed)))
    }

    /// The cost of a number of runs: at most this many seconds of computing on one core, and the cost in words.
    fn cost_of_runs(&self, py: Python<'_>, runs: u64, seed: u64) -> PyResult<(f64, String)> {
        let hops = judged(py, || self.inner.happenings(Seed(seed)))?;
        let cost = CostOfRuns::new(runs, hops);
        Ok((cost.seconds, cost.to_string()))
    }

    /// What a run with this seed would execute, as JSON.
    fn plan(&self, py: Python<'_>, seed: u64) -> PyResult<String> {
        judged(py, || Ok(describe(&self.inner.plan(Seed(seed))?).to_string()))
    }

    /// Groups of calls, and the mean share of the time during which each speaker talks.
    fn activities(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        judged(py, || Ok(self.inner.activities()))
    }

    /// What overrides that named a law alone kept of the law before and what they dropped, a sentence for each.
    fn kept(&self) -> Vec<String> {
        self.inner.kept()
    }

    /// An upper estimate of what a run with this seed costs: packet-hops, seconds of one core, bytes of memory; and in words.
    fn cost(&self, py: Python<'_>, seed: u64) -> PyResult<(f64, f64, f64, String)> {
        let cost = judged(py, || self.inner.cost(Seed(seed)))?;
        Ok((cost.packet_hops, cost.seconds(), cost.memory, cost.to_string()))
    }

    /// The full name of the law of a family (`transport`, `queue`, `traffic`, `loss`) that `name` means: `tcp/cubic` for `cubic`.
    /// A name that means none is left as it is.
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

    /// What one may not expect of a law in a run with this seed: the link's name, and the words.
    fn cautions(&self, py: Python<'_>, seed: u64) -> PyResult<Vec<(String, String)>> {
        let plan = judged(py, || self.inner.plan(Seed(seed)))?;
        Ok(plan.cautions().into_iter().map(|(link, words)| (link.to_owned(), words)).collect())
    }

    /// The plan with indices for names and whole nanoseconds, for programs that run the plan elsewhere.
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
        let on = flow.on_between(flow.start, flow.stop.min(Instant::ZERO + plan.duration)).seconds();
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
