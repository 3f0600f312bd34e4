//! Many runs in the background, handed to Python one by one as they end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fairwave_core::random::Seed;
use fairwave_sim::RunResult;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;

use crate::RunError;
use crate::columns::{Column, Columns, columns};
use crate::scenario::Scenario;

/// How long Python waits at most before it looks whether the user pressed Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

type Tables = Vec<(&'static str, Columns)>;
type Ended = (usize, Result<Tables, String>);

/// What a run came to as a whole, and what it cost: one row.
#[derive(Serialize)]
struct Work {
    digest: String,
    packet_hops: u64,
    events: u64,
}

/// Runs in progress; an iterator over `(index of the job, tables)` in the order in which they end.
#[pyclass(frozen)]
pub struct Batch {
    ended: Mutex<Receiver<Ended>>,
    cancel: Arc<AtomicBool>,
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (jobs, threads = None))]
    fn new(jobs: Vec<(PyRef<'_, Scenario>, u64)>, threads: Option<usize>) -> Self {
        let jobs: Vec<(Arc<fairwave_scenario::Scenario>, u64)> =
            jobs.iter().map(|(scenario, seed)| (scenario.inner(), *seed)).collect();
        let cancel = Arc::new(AtomicBool::new(false));
        let (sender, ended) = channel();
        let flag = cancel.clone();
        std::thread::spawn(move || work(&jobs, threads, &sender, &flag));
        Batch { ended: Mutex::new(ended), cancel }
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
                Ok((_, Err(message))) => {
                    self.cancel();
                    return Err(RunError::new_err(message));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// Begins no further runs; those in progress are dropped when they end.
    fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
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
    ended: &Sender<Ended>,
    cancel: &AtomicBool,
) {
    let make = |job: usize| -> Result<RunResult, ()> {
        let tables = catch_unwind(AssertUnwindSafe(|| one(jobs, job))).unwrap_or_else(|panic| {
            let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Err(format!("a defect of fairwave ended a run: {}", what.unwrap_or("unknown")))
        });
        // Nobody listens any more when Python has dropped the batch.
        if ended.send((job, tables)).is_err() {
            cancel.store(true, Ordering::Relaxed);
        }
        Ok(RunResult::default())
    };
    let _ = fairwave_sim::run_many(jobs.len(), threads, make, |_| {}, cancel);
}

fn one(jobs: &[(Arc<fairwave_scenario::Scenario>, u64)], job: usize) -> Result<Tables, String> {
    let (scenario, seed) = jobs.get(job).ok_or("no such job")?;
    let plan = scenario.plan(Seed(*seed)).map_err(|error| error.to_string())?;
    let result = fairwave_sim::run(&plan).map_err(|error| format!("{}, seed {seed}: {error}", plan.name))?;
    let digest = result.digest().map_err(|error| error.to_string())?;
    let tables = [
        ("work", columns(&[Work { digest, packet_hops: result.packet_hops, events: result.events }])),
        ("flows", columns(&result.flows)),
        ("groups", columns(&result.groups)),
        ("timeliness", columns(&result.timeliness)),
        ("playback", columns(&result.playback)),
        ("recovery", columns(&result.recovery)),
        ("links", columns(&result.links)),
        ("classes", columns(&result.classes)),
        ("series", columns(&result.series)),
        ("units", columns(&result.units)),
    ];
    tables.into_iter().map(|(name, columns)| Ok((name, columns.map_err(|error| error.to_string())?))).collect()
}

fn to_python<'py>(py: Python<'py>, tables: &Tables) -> PyResult<Bound<'py, PyDict>> {
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
