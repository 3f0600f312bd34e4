//! Background runs for Python. Results arrive one by one, or in groups of runs that end at about the same time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fairwave_core::random::Seed;
use fairwave_sim::{PARTS, RunResult};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use serde::Serialize;

use crate::RunError;
use crate::columns::{Column, Columns, append, columns, rows};
use crate::laws::{Failure, Run};
use crate::packed::packed;
use crate::scenario::{Scenario, own_laws};

/// Maximum time that Python waits before it checks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// Period over which completed runs are collected and then handed over together. If the process is killed, no more than these runs
/// are lost.
const TOGETHER: Duration = Duration::from_millis(50);

/// Maximum number of runs handed over together.
const MOST_TOGETHER: usize = 4096;

/// Tables by name.
pub type Tables = Vec<(&'static str, Columns)>;
type RunOutcome = (usize, Result<Ended, Failure>);
/// Indices of jobs, their concatenated tables, each table's number of rows per run, and the packed tables of each run.
type Several<'py> = (Vec<usize>, Bound<'py, PyDict>, Bound<'py, PyDict>, Bound<'py, PyList>);

/// Result of a run.
struct Ended {
    tables: Tables,
    /// The tables in the file format of a result folder, if packing was requested and they are small.
    packed: Option<Vec<u8>>,
}

/// Digest and cost of a run: one row.
#[derive(Serialize)]
struct WorkRow {
    digest: String,
    packet_hops: u64,
    events: u64,
}

/// Runs in progress. An iterator over `(index of the job, tables)` in order of completion.
#[pyclass(frozen)]
pub struct Batch {
    ended: Mutex<Receiver<RunOutcome>>,
    /// A failure to report with the next call, after the runs that had completed before it were handed over.
    failed: Mutex<Option<Failure>>,
    shared: Arc<BatchState>,
    tell: Option<Py<PyAny>>,
}

/// State shared by the runs and the caller that waits for them.
#[derive(Default)]
struct BatchState {
    /// True if the caller has cancelled the runs.
    cancel: Arc<AtomicBool>,
    /// Number of completed parts of simulated time, over all runs. A run has about [`PARTS`] parts.
    parts: AtomicU64,
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (jobs, threads = None, tell = None, pack = false))]
    fn new(jobs: Vec<(PyRef<'_, Scenario>, u64)>, threads: Option<usize>, tell: Option<Py<PyAny>>, pack: bool) -> Self {
        let jobs: Vec<(Arc<fairwave_scenario::Scenario>, u64)> =
            jobs.iter().map(|(scenario, seed)| (scenario.inner(), *seed)).collect();
        let shared = Arc::new(BatchState::default());
        let (sender, ended) = channel();
        let theirs = shared.clone();
        std::thread::spawn(move || work(&jobs, threads, pack, &sender, &theirs));
        Batch { ended: Mutex::new(ended), failed: Mutex::default(), shared, tell }
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(usize, Bound<'py, PyDict>)>> {
        match self.next(py)? {
            Some((job, Ok(ended))) => Ok(Some((job, to_python(py, &ended.tables)?))),
            Some((_, Err(failure))) => Err(self.fail(py, failure)),
            None => Ok(None),
        }
    }

    /// Waits for the next completed run and returns it with the runs that complete shortly after, sorted by job. `None` at the end.
    fn several<'py>(&self, py: Python<'py>) -> PyResult<Option<Several<'py>>> {
        if let Some(failure) = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(self.fail(py, failure));
        }
        let mut found = match self.next(py)? {
            Some((job, Ok(ended))) => vec![(job, ended)],
            Some((_, Err(failure))) => return Err(self.fail(py, failure)),
            None => return Ok(None),
        };
        let begun = Instant::now();
        let tables = py.detach(|| {
            let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
            while let Some(left) = TOGETHER.checked_sub(begun.elapsed())
                && found.len() < MOST_TOGETHER
                && let Ok((job, outcome)) = ended.recv_timeout(left)
            {
                match outcome {
                    Ok(ended) => found.push((job, ended)),
                    Err(failure) => {
                        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
                        break;
                    }
                }
            }
            found.sort_unstable_by_key(|(job, _)| *job);
            concatenate(&found)
        });
        let (tables, counts) = tables.map_err(RunError::new_err)?;
        let counted = PyDict::new(py);
        for ((name, _), counts) in tables.iter().zip(counts) {
            let bytes: Vec<u8> = counts.into_iter().flat_map(i64::to_le_bytes).collect();
            counted.set_item(name, PyBytes::new(py, &bytes))?;
        }
        let packed = found.iter().map(|(_, ended)| ended.packed.as_ref().map(|bytes| PyBytes::new(py, bytes)));
        let packed = PyList::new(py, packed.collect::<Vec<_>>())?;
        let jobs = found.iter().map(|(job, _)| *job).collect();
        Ok(Some((jobs, to_python(py, &tables)?, counted, packed)))
    }

    /// Starts no further runs. Runs in progress stop soon, without results.
    fn cancel(&self) {
        self.shared.cancel.store(true, Ordering::Relaxed);
    }
}

impl Batch {
    /// The next completed run. `None` at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<RunOutcome>> {
        loop {
            py.check_signals()?;
            let next = py.detach(|| self.ended.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PATIENCE));
            match next {
                Ok(outcome) => return Ok(Some(outcome)),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(tell) = &self.tell {
                        tell.call1(py, (self.shared.parts.load(Ordering::Relaxed) as f64 / PARTS as f64,))?;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// Cancels all runs after a failure.
    fn fail(&self, py: Python<'_>, Failure { message, cause }: Failure) -> PyErr {
        self.cancel();
        let error = RunError::new_err(message);
        error.set_cause(py, cause);
        error
    }
}

/// Concatenates the tables of several runs. Also returns the number of rows per run of each table.
fn concatenate(runs: &[(usize, Ended)]) -> Result<(Tables, Vec<Vec<i64>>), String> {
    let mut joined: Tables = Vec::new();
    let mut counts: Vec<Vec<i64>> = Vec::new();
    for (place, (_, ended)) in runs.iter().enumerate() {
        if place == 0 {
            // All runs have the same tables. A table without rows has no columns.
            joined = ended.tables.iter().map(|(name, _)| (*name, Columns::new())).collect();
            counts = vec![Vec::with_capacity(runs.len()); joined.len()];
        }
        for (((_, columns), counts), (_, mine)) in joined.iter_mut().zip(&mut counts).zip(&ended.tables) {
            append(columns, mine).map_err(|error| error.to_string())?;
            counts.push(rows(mine));
        }
    }
    Ok((joined, counts))
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.cancel();
    }
}

fn work(
    jobs: &[(Arc<fairwave_scenario::Scenario>, u64)],
    threads: Option<usize>,
    pack: bool,
    ended: &Sender<RunOutcome>,
    shared: &BatchState,
) {
    let make = |job: usize, share: usize| -> Result<RunResult, ()> {
        let tables = catch_unwind(AssertUnwindSafe(|| run_job(jobs, job, share, shared))).unwrap_or_else(|panic| {
            let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Err(plain_failure(format!("a defect of fairwave ended a run: {}", what.unwrap_or("unknown"))))
        });
        // A cancelled run is not a failure.
        if shared.cancel.load(Ordering::Relaxed) && tables.is_err() {
            return Ok(RunResult::default());
        }
        let left = tables.map(|tables| Ended { packed: if pack { packed(&tables) } else { None }, tables });
        // The receiver no longer exists if Python has dropped the batch.
        if ended.send((job, left)).is_err() {
            shared.cancel.store(true, Ordering::Relaxed);
        }
        Ok(RunResult::default())
    };
    let _ = fairwave_sim::run_many(jobs.len(), threads, make, |_| {}, &shared.cancel);
}

/// A failure without an exception from a law.
fn plain_failure(message: String) -> Failure {
    Failure { message, cause: None }
}

/// Runs a job and returns its tables. Uses `share` threads unless the scenario names laws written in Python.
fn run_job(
    jobs: &[(Arc<fairwave_scenario::Scenario>, u64)],
    job: usize,
    share: usize,
    shared: &BatchState,
) -> Result<Tables, Failure> {
    let (scenario, seed) = jobs.get(job).ok_or_else(|| plain_failure("no such job".to_owned()))?;
    // A thread state kept for the joined run reduces each call of a law to acquiring the interpreter's lock.
    let python = !own_laws(scenario).is_empty();
    let threads = if python { 1 } else { share };
    let attached = |work: &(dyn Fn() -> Result<Tables, String> + Sync)| match python {
        true => Python::try_attach(|py| py.detach(work)).unwrap_or_else(|| Err("the interpreter ends".to_owned())),
        false => work(),
    };
    let (tables, failure) =
        Run::make(&shared.cancel, |run| attached(&|| tables(scenario, *seed, threads, run, &shared.parts)));
    match failure {
        Some(Failure { message, cause }) => {
            Err(Failure { message: format!("{}, seed {seed}: {message}", scenario.name), cause })
        }
        None => tables.map_err(plain_failure),
    }
}

fn tables(
    scenario: &fairwave_scenario::Scenario,
    seed: u64,
    threads: usize,
    run: &Run,
    parts: &AtomicU64,
) -> Result<Tables, String> {
    let plan = scenario.plan(Seed(seed)).map_err(|error| error.to_string())?;
    let part = |work: &mut dyn FnMut()| {
        let wanted = run.do_part(work);
        parts.fetch_add(1, Ordering::Relaxed);
        wanted
    };
    let result = fairwave_sim::Run::new(&plan)
        .threads(threads)
        .parts(&part)
        .execute()
        .map_err(|error| format!("{}, seed {seed}: {error}", plan.name))?;
    tables_of(&result)
}

/// All results of a run, as columns.
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
        ("radio", columns(&result.radio)),
        ("sessions", columns(&result.sessions)),
        ("media", columns(&result.media)),
        ("media_transport", columns(&result.media_transport)),
        ("media_outbound", columns(&result.media_outbound)),
        ("media_inbound", columns(&result.media_inbound)),
        ("links", columns(&result.links)),
        ("fates", columns(&result.fates)),
        ("outages", columns(&result.outages)),
        ("classes", columns(&result.classes)),
        ("service_classes", columns(&result.service_classes)),
        ("series", columns(&result.series)),
        ("units", columns(&result.units)),
    ];
    tables.into_iter().map(|(name, columns)| Ok((name, columns.map_err(|error| error.to_string())?))).collect()
}

/// Converts tables to Python objects.
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
