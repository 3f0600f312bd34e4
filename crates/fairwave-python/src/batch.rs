//! Many runs in the background, handed to Python one by one as they end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fairwave_core::random::Seed;
use fairwave_sim::{PARTS, RunResult};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;

use crate::RunError;
use crate::columns::{Column, Columns, columns};
use crate::laws::{Failure, Run};
use crate::scenario::{Scenario, own_laws};

/// How long Python waits at most before it looks whether the user pressed Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// Tables by name.
pub type Tables = Vec<(&'static str, Columns)>;
type RunOutcome = (usize, Result<Tables, Failure>);

/// Results and cost of a whole run: one row.
#[derive(Serialize)]
struct WorkRow {
    digest: String,
    packet_hops: u64,
    events: u64,
}

/// Runs in progress; an iterator over `(index of the job, tables)` in the order in which they end.
#[pyclass(frozen)]
pub struct Batch {
    ended: Mutex<Receiver<RunOutcome>>,
    shared: Arc<BatchState>,
    tell: Option<Py<PyAny>>,
}

/// State shared by the runs and the caller that waits for them.
#[derive(Default)]
struct BatchState {
    /// The caller has cancelled the runs.
    cancel: Arc<AtomicBool>,
    /// How many parts of their simulated time all runs have come through, of about [`PARTS`] each.
    parts: AtomicU64,
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (jobs, threads = None, tell = None))]
    fn new(jobs: Vec<(PyRef<'_, Scenario>, u64)>, threads: Option<usize>, tell: Option<Py<PyAny>>) -> Self {
        let jobs: Vec<(Arc<fairwave_scenario::Scenario>, u64)> =
            jobs.iter().map(|(scenario, seed)| (scenario.inner(), *seed)).collect();
        let shared = Arc::new(BatchState::default());
        let (sender, ended) = channel();
        let theirs = shared.clone();
        std::thread::spawn(move || work(&jobs, threads, &sender, &theirs));
        Batch { ended: Mutex::new(ended), shared, tell }
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(usize, Bound<'py, PyDict>)>> {
        loop {
            py.check_signals()?;
            let next = py.detach(|| self.ended.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PATIENCE));
            match next {
                Ok((job, Ok(tables))) => return Ok(Some((job, to_python(py, &tables)?))),
                Ok((_, Err(Failure { message, cause }))) => {
                    self.cancel();
                    let error = RunError::new_err(message);
                    error.set_cause(py, cause);
                    return Err(error);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(tell) = &self.tell {
                        tell.call1(py, (self.shared.parts.load(Ordering::Relaxed) as f64 / PARTS as f64,))?;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// Begins no further runs; those in progress end soon and leave nothing.
    fn cancel(&self) {
        self.shared.cancel.store(true, Ordering::Relaxed);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.cancel();
    }
}

fn work(
    jobs: &[(Arc<fairwave_scenario::Scenario>, u64)],
    threads: Option<usize>,
    ended: &Sender<RunOutcome>,
    shared: &BatchState,
) {
    let make = |job: usize| -> Result<RunResult, ()> {
        let tables = catch_unwind(AssertUnwindSafe(|| one(jobs, job, shared))).unwrap_or_else(|panic| {
            let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Err(because(format!("a defect of fairwave ended a run: {}", what.unwrap_or("unknown"))))
        });
        // What was stopped is no failure.
        if shared.cancel.load(Ordering::Relaxed) && tables.is_err() {
            return Ok(RunResult::default());
        }
        // The receiver is gone when Python has dropped the batch.
        if ended.send((job, tables)).is_err() {
            shared.cancel.store(true, Ordering::Relaxed);
        }
        Ok(RunResult::default())
    };
    let _ = fairwave_sim::run_many(jobs.len(), threads, make, |_| {}, &shared.cancel);
}

/// A failure that no law raised.
fn because(message: String) -> Failure {
    Failure { message, cause: None }
}

fn one(jobs: &[(Arc<fairwave_scenario::Scenario>, u64)], job: usize, shared: &BatchState) -> Result<Tables, Failure> {
    let (scenario, seed) = jobs.get(job).ok_or_else(|| because("no such job".to_owned()))?;
    // With a thread state that lasts as long as the run, a law's call takes the interpreter's lock and no more.
    let attached = |work: &(dyn Fn() -> Result<Tables, String> + Sync)| match !own_laws(scenario).is_empty() {
        true => Python::try_attach(|py| py.detach(work)).unwrap_or_else(|| Err("the interpreter ends".to_owned())),
        false => work(),
    };
    let (tables, failure) = Run::make(&shared.cancel, |run| attached(&|| tables(scenario, *seed, run, &shared.parts)));
    match failure {
        Some(Failure { message, cause }) => {
            Err(Failure { message: format!("{}, seed {seed}: {message}", scenario.name), cause })
        }
        None => tables.map_err(because),
    }
}

fn tables(scenario: &fairwave_scenario::Scenario, seed: u64, run: &Run, parts: &AtomicU64) -> Result<Tables, String> {
    let plan = scenario.plan(Seed(seed)).map_err(|error| error.to_string())?;
    let part = |work: &mut dyn FnMut()| {
        let wanted = run.do_part(work);
        parts.fetch_add(1, Ordering::Relaxed);
        wanted
    };
    let result =
        fairwave_sim::run_in_parts(&plan, &part).map_err(|error| format!("{}, seed {seed}: {error}", plan.name))?;
    tables_of(&result)
}

/// All that a run leaves, as columns.
pub fn tables_of(result: &RunResult) -> Result<Tables, String> {
    let digest = result.digest().map_err(|error| error.to_string())?;
    let tables = [
        ("work", columns(&[WorkRow { digest, packet_hops: result.packet_hops, events: result.events }])),
        ("flows", columns(&result.flows)),
        ("groups", columns(&result.groups)),
        ("timeliness", columns(&result.timeliness)),
        ("playback", columns(&result.playback)),
        ("recovery", columns(&result.recovery)),
        ("transfers", columns(&result.transfers)),
        ("completions", columns(&result.completions)),
        ("conversations", columns(&result.conversations)),
        ("round_trips", columns(&result.round_trips)),
        ("outcomes", columns(&result.outcomes)),
        ("tins", columns(&result.tins)),
        ("sessions", columns(&result.sessions)),
        ("media", columns(&result.media)),
        ("media_transport", columns(&result.media_transport)),
        ("media_outbound", columns(&result.media_outbound)),
        ("media_inbound", columns(&result.media_inbound)),
        ("links", columns(&result.links)),
        ("outages", columns(&result.outages)),
        ("classes", columns(&result.classes)),
        ("service_classes", columns(&result.service_classes)),
        ("series", columns(&result.series)),
        ("units", columns(&result.units)),
    ];
    tables.into_iter().map(|(name, columns)| Ok((name, columns.map_err(|error| error.to_string())?))).collect()
}

/// Tables as Python has them.
pub fn to_python<'py>(py: Python<'py>, tables: &Tables) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    for (name, columns) in tables {
        let table = PyDict::new(py);
        for (name, column) in columns {
            match column {
                Column::Float(bytes, validity) => {
                    let valid = validity.bitmap().map(|bitmap| PyBytes::new(py, bitmap));
                    table.set_item(name, ("f64", PyBytes::new(py, bytes), valid))?;
                }
                Column::Integer(bytes) => table.set_item(name, ("i64", PyBytes::new(py, bytes)))?,
                Column::Text(bytes, words) => {
                    table.set_item(name, ("dictionary", PyBytes::new(py, bytes), words.clone()))?;
                }
            }
        }
        result.set_item(name, table)?;
    }
    Ok(result)
}
