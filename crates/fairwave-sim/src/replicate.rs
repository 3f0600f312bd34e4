//! Many runs on all cores. The assignment of runs to threads has no effect on results.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::result::RunResult;

/// Executes `jobs` runs on `threads` threads (all cores if `None`). `make(i, share)` executes run `i`. `share` is the number
/// of threads that a run may use ([`Run::threads`](crate::Run::threads)). It exceeds one if there are fewer runs than threads.
///
/// `progress` receives the number of completed runs; the thread that completes a run calls it. After `cancel` becomes true,
/// no further run starts, and runs that did not start are `None` in the result.
///
/// # Errors
/// Returns the error of the failed job with the lowest index.
pub fn run_many<E: Send>(
    jobs: usize,
    threads: Option<usize>,
    make: impl Fn(usize, usize) -> Result<RunResult, E> + Sync,
    progress: impl Fn(usize) + Sync,
    cancel: &AtomicBool,
) -> Result<Vec<Option<RunResult>>, E> {
    let done = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<RunResult, E>>>> = (0..jobs).map(|_| Mutex::new(None)).collect();
    for_each_job(jobs, threads, &|job, share| {
        if cancel.load(Ordering::Relaxed) {
            return;
        }
        let result = make(job, share);
        let failed = result.is_err();
        *results[job].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        if !failed {
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    });
    let result = |slot: Mutex<Option<_>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(|slot| result(slot).transpose()).collect()
}

/// Calls `work` with each job and its share of the threads. Not generic, so that it is compiled once.
fn for_each_job(jobs: usize, threads: Option<usize>, work: &(dyn Fn(usize, usize) + Sync)) {
    let all = || {
        let share = rayon::current_num_threads() / jobs.max(1);
        (0..jobs).into_par_iter().with_max_len(1).for_each(|job| work(job, share));
    };
    // Many more threads than cores would only cost memory.
    let most = 16 * rayon::current_num_threads().max(1);
    let threads = threads.map(|threads| threads.clamp(1, most));
    let pool = threads.and_then(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok());
    match pool {
        Some(pool) => pool.install(all),
        None => all(),
    }
}
