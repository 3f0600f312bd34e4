//! State of a run with laws written in Python. The first error of a law ends the run and is kept with its traceback.
//!
//! The traits of `fairwave-core` have no errors. After an error, the run therefore makes no further calls of laws and uses default
//! values. It ends at its next check for cancellation.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant as Clock};

use pyo3::prelude::*;

/// The failure of a law that ended a run.
pub struct Failure {
    /// Law, method, simulated time and error.
    pub message: String,
    /// The exception of the law. `None` if the law returned an invalid value.
    pub cause: Option<PyErr>,
}

/// A run, or the planning of a run, as its laws see it.
#[derive(Default)]
pub struct Run {
    failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
    cancelled: Arc<AtomicBool>,
    /// Number of calls of laws.
    calls: AtomicU64,
    /// True if the next part of the run holds the interpreter's lock throughout.
    holds: AtomicBool,
}

/// Minimum duration of a call into Python.
const CALL: Duration = Duration::from_nanos(300);
/// If calls take a larger share of the time than 1 / `MUCH`, the part runs faster while it holds the interpreter's lock.
const MUCH: u32 = 5;

thread_local! {
    /// The run that this thread executes.
    static CURRENT: RefCell<Option<Arc<Run>>> = const { RefCell::new(None) };
}

thread_local! {
    /// Number of nested calls into Python on this thread.
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// True if this process is a copy that a law created by a fork.
static FORKED: AtomicBool = AtomicBool::new(false);
/// True if the process is ending.
static ENDING: AtomicBool = AtomicBool::new(false);
/// Number of runs in progress.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

impl Run {
    /// The run of this thread, or an unused new one if there is none.
    pub fn current() -> Arc<Run> {
        CURRENT.with_borrow(|current| current.clone()).unwrap_or_default()
    }

    /// Runs `work`, whose laws belong to one run. Returns its result, and the failure that ended it, if any. `cancelled` also ends
    /// the run.
    pub fn make<T>(cancelled: &Arc<AtomicBool>, work: impl FnOnce(&Run) -> T) -> (T, Option<Failure>) {
        let run = Arc::new(Run { cancelled: cancelled.clone(), ..Run::default() });
        UNDER_WAY.fetch_add(1, Ordering::SeqCst);
        let before = CURRENT.replace(Some(run.clone()));
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&run)));
        CURRENT.replace(before);
        UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
        let done = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let failure = run.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        (done, failure)
    }

    /// True if the run continues, so that its laws may be called.
    pub fn goes_on(&self) -> bool {
        !self.failed.load(Ordering::Relaxed)
            && !self.cancelled.load(Ordering::Relaxed)
            && !ENDING.load(Ordering::Relaxed)
    }

    /// Counts a call of a law.
    #[inline]
    pub fn asks(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Executes a part of the run. Returns true if the next part is wanted.
    ///
    /// Threads that exchange the interpreter's lock at every call are slower than a single thread. If calls took much of the
    /// previous part's time, this part therefore holds the lock throughout. Otherwise several threads simulate in parallel and
    /// exchange the lock for calls only.
    pub fn do_part(&self, work: &mut dyn FnMut()) -> bool {
        let mut timed = || {
            let (begun, calls) = (Clock::now(), self.calls.load(Ordering::Relaxed));
            work();
            let calls = (self.calls.load(Ordering::Relaxed) - calls).min(u64::from(u32::MAX)) as u32;
            self.holds.store(CALL * calls > begun.elapsed() / MUCH, Ordering::Relaxed);
        };
        if !self.holds.load(Ordering::Relaxed) || Python::try_attach(|_| timed()).is_none() {
            timed();
        }
        self.goes_on()
    }

    /// Records the failure of a law. Only the first failure is kept.
    pub fn fail(&self, failure: Failure) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
        }
    }
}

/// Calls a law. If the law forks, the copy of the process ends here: only the forking thread exists in it, so the run would wait
/// for the other threads forever.
#[inline]
pub fn call_law<T>(py: Python<'_>, call: impl FnOnce() -> T) -> T {
    CALLS.set(CALLS.get() + 1);
    let done = call();
    CALLS.set(CALLS.get() - 1);
    if FORKED.load(Ordering::Relaxed) {
        end_copy(py);
    }
    done
}

#[cold]
fn end_copy(py: Python<'_>) {
    let words =
        "fairwave: a law has forked, and its copy of the process ends here; end it in the law by `os._exit(0)`\n";
    let _ = py.import("os").and_then(|os| {
        os.call_method1("write", (2, words.as_bytes()))?;
        os.call_method1("_exit", (70,))
    });
}

/// Notes that this process is a copy from a fork. Has no effect outside a law's call: such a copy may make runs.
#[pyfunction]
pub fn note_fork() {
    if CALLS.get() > 0 {
        FORKED.store(true, Ordering::Relaxed);
    }
}

/// Maximum time that the end of the process waits for runs in progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Prepares the end of the process: calls no further laws and ends runs in progress. Waits at most one second. Returns the number
/// of runs still in progress.
///
/// A thread that returns to a finalised interpreter cannot continue.
#[pyfunction]
pub fn end_runs(py: Python<'_>) -> usize {
    ENDING.store(true, Ordering::SeqCst);
    py.detach(|| {
        let begun = Clock::now();
        while UNDER_WAY.load(Ordering::SeqCst) > 0 && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    UNDER_WAY.load(Ordering::SeqCst)
}
