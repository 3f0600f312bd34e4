//! What becomes of a run whose laws are written in Python: the first trouble with one of them ends it, and is kept with the traceback.
//!
//! Core's laws answer with values, not with errors. A law that raised is therefore asked no more, whatever it would have said is left
//! out, and the run ends when it next looks whether it is still wanted.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant as Clock};

use pyo3::prelude::*;

/// Why a law ended a run.
pub struct Failure {
    /// Law, method, simulated time and what was wrong.
    pub message: String,
    /// What the law raised; none when its answer could not be used.
    pub cause: Option<PyErr>,
}

/// A run, or the planning of one, as its laws see it.
#[derive(Default)]
pub struct Run {
    failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
    cancelled: Arc<AtomicBool>,
    /// How often laws were asked.
    calls: AtomicU64,
    /// The next part of the run keeps the interpreter to itself.
    holds: AtomicBool,
}

/// What a call into Python takes at least.
const CALL: Duration = Duration::from_nanos(300);
/// If calls take a larger share of the time than 1 divided by this, the part runs faster while it holds the
/// interpreter's lock.
const MUCH: u32 = 5;

thread_local! {
    /// The run that this thread makes.
    static CURRENT: RefCell<Option<Arc<Run>>> = const { RefCell::new(None) };
}

thread_local! {
    /// Calls into Python that this thread waits for.
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// This process is a copy that a law made by a fork.
static FORKED: AtomicBool = AtomicBool::new(false);
/// The process ends.
static ENDING: AtomicBool = AtomicBool::new(false);
/// Runs under way.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

impl Run {
    /// The run of this thread; a dummy without listeners if there is none.
    pub fn current() -> Arc<Run> {
        CURRENT.with_borrow(|current| current.clone()).unwrap_or_default()
    }

    /// Runs `work`, whose laws belong to one run, and returns the cause of its end. `cancelled` ends it, too.
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

    /// Whether the run is still wanted, and its laws may be asked.
    pub fn goes_on(&self) -> bool {
        !self.failed.load(Ordering::Relaxed)
            && !self.cancelled.load(Ordering::Relaxed)
            && !ENDING.load(Ordering::Relaxed)
    }

    /// A law is asked.
    #[inline]
    pub fn asks(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Does a part of the run, and says whether the next is wanted.
    ///
    /// Threads that take the interpreter from each other at every call get less done than one alone. So a part keeps it, when the
    /// calls of the part before took much of its time; otherwise several threads simulate at once, and only their calls take turns.
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

    /// A law is in trouble. What comes after the first is not kept.
    pub fn fail(&self, failure: Failure) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
        }
    }
}

/// Calls a law, and ends the process if the law has forked and this is the copy: only the forking thread exists here, so the run
/// would wait for the others for ever.
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

/// A process was forked and this is the copy. Without effect outside of a law: such a copy may make runs.
#[pyfunction]
pub fn note_fork() {
    if CALLS.get() > 0 {
        FORKED.store(true, Ordering::Relaxed);
    }
}

/// How long the end of the process waits for runs under way.
const PATIENCE: Duration = Duration::from_secs(1);

/// The process ends: no law is asked any more, and runs under way end. Waits for that, for a second at most, and answers with
/// how many have not.
///
/// A thread that comes back to an interpreter that is gone cannot go on.
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
