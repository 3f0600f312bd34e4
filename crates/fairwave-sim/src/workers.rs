//! Threads that execute rounds of small tasks, thousands of rounds per second. Waking sleeping threads for each round would
//! be too slow. A waiting thread spins for some microseconds, then yields, then sleeps until it is woken. So on a busy
//! machine, it does not take a core from the threads that it waits for.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// Number of checks of a waiting thread while it spins, then while it yields. After that it sleeps.
const SPINS: u32 = 500;
const YIELDS: u32 = 200;

/// Threads that execute the tasks `0..tasks` in each round.
pub(crate) struct Workers<'w> {
    task: &'w (dyn Fn(usize) + Sync),
    tasks: usize,
    /// The next task to start. At least `tasks` if all have started.
    next: AtomicUsize,
    done: AtomicUsize,
    over: AtomicBool,
    sleepers: Sleepers,
    /// Payload of the first panic.
    panicked: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Threads that sleep until a condition holds.
#[derive(Default)]
struct Sleepers {
    /// Changed only while `door` is locked.
    count: AtomicUsize,
    door: Mutex<()>,
    bell: Condvar,
}

impl Sleepers {
    /// Waits until `has_come` returns true. The thread that makes it true then calls [`Self::wake`].
    fn wait_until(&self, has_come: impl Fn() -> bool) {
        for look in 0..SPINS + YIELDS {
            if has_come() {
                return;
            }
            if look < SPINS { std::hint::spin_loop() } else { thread::yield_now() }
        }
        let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        // Sequentially consistent operations have one total order. Either this addition comes first, and `wake` sees it, or
        // the change comes first, and `has_come` sees it.
        self.count.fetch_add(1, Ordering::SeqCst);
        while !has_come() {
            door = self.bell.wait(door).unwrap_or_else(PoisonError::into_inner);
        }
        self.count.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes the sleeping threads.
    fn wake(&self) {
        if self.count.load(Ordering::SeqCst) > 0 {
            // The lock ensures that no thread is between its last check and its sleep.
            drop(self.door.lock().unwrap_or_else(PoisonError::into_inner));
            self.bell.notify_all();
        }
    }
}

/// Calls `lead`, which starts the rounds, with `threads` threads in total. The threads end before this returns.
pub(crate) fn run_with<R>(
    threads: usize,
    tasks: usize,
    task: &(dyn Fn(usize) + Sync),
    lead: impl FnOnce(&Workers<'_>) -> R,
) -> R {
    let (next, done, over) = (AtomicUsize::new(tasks), AtomicUsize::new(0), AtomicBool::new(false));
    let workers = Workers { task, tasks, next, done, over, sleepers: Sleepers::default(), panicked: Mutex::new(None) };
    thread::scope(|scope| {
        for _ in 1..threads.min(tasks) {
            // If the system refuses a thread, the others do its work.
            let _ = thread::Builder::new().name("fairwave-island".to_owned()).spawn_scoped(scope, || workers.help());
        }
        // Also when `lead` panics.
        let _dismissed = Dismissal(&workers);
        lead(&workers)
    })
}

struct Dismissal<'c, 'w>(&'c Workers<'w>);

impl Drop for Dismissal<'_, '_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
        self.0.sleepers.wake();
    }
}

impl Workers<'_> {
    /// Executes each task once, starting in ascending order, and waits for all. Panics with the payload of a task that
    /// panicked.
    pub fn run_round(&self) {
        self.done.store(0, Ordering::Relaxed);
        self.next.store(0, Ordering::SeqCst);
        self.sleepers.wake();
        self.work();
        self.sleepers.wait_until(|| self.done.load(Ordering::SeqCst) >= self.tasks);
        let panicked = self.panicked.lock().ok().and_then(|mut panicked| panicked.take());
        if let Some(panicked) = panicked {
            resume_unwind(panicked);
        }
    }

    /// Executes tasks while any are left. A started task belongs to the current round, which cannot end before it.
    fn work(&self) {
        while self.next.load(Ordering::Acquire) < self.tasks {
            let mine = self.next.fetch_add(1, Ordering::AcqRel);
            if mine >= self.tasks {
                return;
            }
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.task)(mine)))
                && let Ok(mut panicked) = self.panicked.lock()
            {
                panicked.get_or_insert(panic);
            }
            if self.done.fetch_add(1, Ordering::SeqCst) + 1 == self.tasks {
                // The leading thread may be asleep.
                self.sleepers.wake();
            }
        }
    }

    fn help(&self) {
        loop {
            let is_over = || self.over.load(Ordering::SeqCst);
            self.sleepers.wait_until(|| is_over() || self.next.load(Ordering::SeqCst) < self.tasks);
            if is_over() {
                return;
            }
            self.work();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_round_runs_each_task_once_with_any_number_of_threads() {
        for (threads, tasks) in [(1, 3), (2, 1), (3, 16), (9, 4), (2, 0)] {
            let counts: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
            let task = |own: usize| {
                counts[own].fetch_add(1, Ordering::Relaxed);
            };
            run_with(threads, tasks, &task, |workers| {
                for round in 1..=500 {
                    workers.run_round();
                    assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == round));
                }
            });
        }
    }

    #[test]
    fn threads_that_have_gone_to_sleep_are_woken() {
        let (main, helped) = (thread::current().id(), AtomicUsize::new(0));
        let task = |own: usize| {
            // Long enough for the other thread to fall asleep.
            thread::sleep(Duration::from_millis(if own == 0 { 5 } else { 1 }));
            helped.fetch_add(usize::from(thread::current().id() != main), Ordering::Relaxed);
        };
        run_with(2, 2, &task, |workers| {
            for _ in 0..20 {
                workers.run_round();
                thread::sleep(Duration::from_millis(5));
            }
        });
        assert!(helped.load(Ordering::Relaxed) > 0);
    }

    #[test]
    fn a_panic_of_a_task_ends_the_rounds_with_its_message() {
        for threads in [1, 3] {
            let rounds = AtomicUsize::new(0);
            let task = |own: usize| {
                assert!(own != 5 || rounds.load(Ordering::Relaxed) < 10, "task {own} has failed");
            };
            let ended = catch_unwind(AssertUnwindSafe(|| {
                run_with(threads, 8, &task, |workers| {
                    loop {
                        workers.run_round();
                        rounds.fetch_add(1, Ordering::Relaxed);
                    }
                })
            }));
            let panic = ended.map(|(): ()| ()).expect_err("a panic");
            assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("task 5 has failed"));
        }
    }
}
