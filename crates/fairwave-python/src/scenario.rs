//! Scenarios for Python: read, written, overridden, checked. Structured values cross as JSON text.

use std::collections::BTreeMap;
use std::sync::Arc;

use fairwave_core::random::Seed;
use fairwave_core::units::Instant;
use fairwave_scenario::plan::{FlowPlan, LinkPlan, Plan};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::ScenarioError;

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

fn refused(error: &fairwave_scenario::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
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
    fn from_text(text: &str, file: &str) -> PyResult<Self> {
        fairwave_scenario::Scenario::from_text(text, file).map(Self::from).map_err(|error| refused(&error))
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

    #[getter]
    fn hash(&self) -> PyResult<String> {
        self.inner.content_hash().map_err(|error| unwritable(&error))
    }

    fn to_json(&self) -> PyResult<String> {
        self.inner.to_json().map_err(|error| unwritable(&error))
    }

    fn to_toml(&self) -> PyResult<String> {
        self.inner.to_toml().map_err(|error| unwritable(&error))
    }

    /// The same scenario with other values: a JSON object of dotted path to value.
    fn with_overrides(&self, overrides: &str) -> PyResult<Self> {
        let overrides: BTreeMap<String, Value> = serde_json::from_str(overrides)
            .map_err(|error| PyValueError::new_err(format!("overrides are no JSON object: {error}")))?;
        let pairs: Vec<(&str, Value)> = overrides.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
        self.inner.with_overrides(&pairs).map(Self::from).map_err(|error| refused(&error))
    }

    /// The same scenario with the preset of its topology written out as links.
    fn expand_preset(&self) -> PyResult<Self> {
        self.inner.expand_preset().map(Self::from).map_err(|error| refused(&error))
    }

    /// Refuses so many runs when nobody could wait for them or keep what they leave, with what they would cost.
    fn check_runs(&self, runs: u64, seed: u64) -> PyResult<()> {
        self.inner.check_runs(runs, Seed(seed)).map_err(|error| refused(&error))
    }

    /// What a run with this seed would execute, as JSON.
    fn plan(&self, seed: u64) -> PyResult<String> {
        let plan = self.inner.plan(Seed(seed)).map_err(|error| refused(&error))?;
        Ok(describe(&plan).to_string())
    }

    /// What one may not expect of a law in a run with this seed: the link's name, and the words.
    fn cautions(&self, seed: u64) -> PyResult<Vec<(String, String)>> {
        let plan = self.inner.plan(Seed(seed)).map_err(|error| refused(&error))?;
        Ok(plan.cautions().into_iter().map(|(link, words)| (link.to_owned(), words)).collect())
    }

    /// The plan with indices for names and whole nanoseconds, for programs that run the plan elsewhere.
    fn exact_plan(&self, seed: u64) -> PyResult<String> {
        let plan = self.inner.plan(Seed(seed)).map_err(|error| refused(&error))?;
        Ok(plan.to_json().map_err(|error| unwritable(&error))?.to_string())
    }
}

fn describe(plan: &Plan) -> Value {
    let node = |index: usize| plan.nodes.get(index).map_or("?", String::as_str);
    let route = |links: &[usize]| -> Vec<&str> {
        links.iter().map(|&link| plan.links.get(link).map_or("?", |link| link.name.as_str())).collect()
    };
    let link = |link: &LinkPlan| {
        json!({
            "name": link.name,
            "rate_bps": link.direction.rate.nominal().bits_per_second(),
            "delay_s": link.direction.delay.seconds(),
            "queue": link.direction.queue,
            "loss": link.direction.loss,
        })
    };
    let flow = |flow: &FlowPlan| {
        json!({
            "name": flow.name,
            "from": node(flow.from),
            "to": node(flow.to),
            "forward": route(&flow.forward),
            "backward": route(&flow.backward),
            "transport": *flow.transport,
            "traffic": *flow.traffic,
            "offered_bps": flow.offered(),
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
        "flows": plan.flows.iter().map(flow).collect::<Vec<_>>(),
    })
}
