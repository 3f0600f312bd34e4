//! Live runs. They need a separate process, because the process may become root of a user namespace.

use std::ffi::OsString;
use std::path::PathBuf;

use fairwave_core::random::Seed;
use fairwave_live::{LiveError, Request};
use fairwave_scenario::plan::Plan;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::RunError;
use crate::batch::{tables_of, to_python};
use crate::scenario::{Scenario, refused};

fn failed(error: &LiveError) -> PyErr {
    RunError::new_err(error.to_string())
}

/// A host, and the words of a command for it.
type Command = (String, Vec<String>);

/// Result of a live run: tables (none if it ended early), its report as JSON, exit statuses of the commands, error messages, and
/// the reason for an incomplete recording.
type LiveResult<'py> = (Option<Bound<'py, PyDict>>, String, Vec<Option<i32>>, Vec<String>, Option<String>);

/// Makes a live run and blocks until it ends.
#[pyfunction]
#[pyo3(signature = (scenario, seed, commands, helper, *, flows = true, duration = None, user = None, recording = None))]
#[allow(clippy::needless_pass_by_value)] // PyO3 passes owned values
#[allow(clippy::too_many_arguments)] // Python passes them by keyword
pub fn live<'py>(
    py: Python<'py>,
    scenario: PyRef<'_, Scenario>,
    seed: u64,
    commands: Vec<Command>,
    helper: Vec<OsString>,
    flows: bool,
    duration: Option<f64>,
    user: Option<(u32, u32)>,
    recording: Option<PathBuf>,
) -> PyResult<LiveResult<'py>> {
    let mut plan = scenario.inner().plan(Seed(seed)).map_err(|error| refused(&error))?;
    if !flows {
        remove_flows(&mut plan);
    }
    if let Some(seconds) = duration {
        plan.duration = fairwave_core::units::Span::from_seconds(seconds);
    }
    let request = Request { plan, commands, helper, user, recording };
    let outcome = py.detach(|| fairwave_live::run(&request)).map_err(|error| failed(&error))?;
    let tables = outcome.result.as_ref().map(tables_of).transpose().map_err(RunError::new_err)?;
    let tables = tables.map(|tables| to_python(py, &tables)).transpose()?;
    let report = serde_json::to_string(&outcome.report).map_err(|error| RunError::new_err(error.to_string()))?;
    Ok((tables, report, outcome.statuses, outcome.troubles, outcome.unrecorded))
}

/// Removes the flows and everything that the run would record of them. The network remains.
fn remove_flows(plan: &mut Plan) {
    plan.flows.clear();
    let record = &mut plan.record;
    for flows in [&mut record.goodput, &mut record.windows, &mut record.units] {
        flows.clear();
    }
    record.allotted.clear();
    // Without flows, no goodput is binned. Bins for the thousands of flows reserved for programs would waste memory.
    record.queues.clear();
    record.bin = fairwave_core::units::Span::ZERO;
}

/// Gives this single-threaded process the right to create namespaces, and makes it end with its parent. Returns true if the process
/// is now in a user namespace.
#[pyfunction]
pub fn live_alone() -> PyResult<bool> {
    fairwave_live::become_able().map_err(|error| failed(&error))
}

/// Carries out an order of a live run as the first process of its program. Returns the exit status.
#[pyfunction]
pub fn live_order(py: Python<'_>, order: &str) -> PyResult<i32> {
    py.detach(|| fairwave_live::carry_out(order)).map_err(|error| PyValueError::new_err(format!("no order: {error}")))
}
