//! Many runs on all cores. The assignment of runs, and of parts of one, to threads has no influence on results.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::result::RunResult;

/// Makes `jobs` runs, the `i`-th by `make(i, share)`, on `threads` threads (all cores when `None`). `share` is the number of threads
/// that a run may use by itself ([`run_on`](crate::run_on)): more than one where there are fewer runs than threads.
///
/// `progress` is called with the number of runs done, from whichever thread finished one. When `cancel` becomes true,
/// no further run begins; the answer then holds `None` in the places of those that were not made.
///
/// # Errors
/// What `make` answers for the first job, by index, that failed.
pub fn run_many<E: Send>(
    jobs: usize,
    threads: Option<usize>,
    make: impl Fn(usize, usize) -> Result<RunResult, E> + Sync,
    progress: impl Fn(usize) + Sync,
    cancel: &AtomicBool,
) -> Result<Vec<Option<RunResult>>, E> {
    let done = AtomicUsize::new(0);
    let all = || {
        let share = rayon::current_num_threads() / jobs.max(1);
        (0..jobs)
            .into_par_iter()
            .with_max_len(1)
            .map(|job| {
                if cancel.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let result = make(job, share)?;
                progress(done.fetch_add(1, Ordering::Relaxed) + 1);
                Ok(Some(result))
            })
            .collect::<Vec<Result<Option<RunResult>, E>>>()
    };
    // More threads than cores many times over would only cost memory.
    let most = 16 * rayon::current_num_threads().max(1);
    let threads = threads.map(|threads| threads.clamp(1, most));
    let pool = threads.and_then(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok());
    let results = match pool {
        Some(pool) => pool.install(all),
        None => all(),
    };
    results.into_iter().collect()
}
