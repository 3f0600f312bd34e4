//! Threads that do one round of small tasks after another, thousands of rounds a second: too many to wake sleeping threads
//! for each.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How often one who waits looks again at once, then after giving way to others; after that it sleeps in between.
const SPINS: u32 = 2_000;
const YIELDS: u32 = 500;
const NAP: Duration = Duration::from_micros(50);

/// Threads at work on tasks `0..tasks`, each of which one of them does in each round.
pub(crate) struct Crew<'w> {
    task: &'w (dyn Fn(usize) + Sync),
    tasks: usize,
    /// The next task to be taken on; none is left from `tasks` on.
    next: AtomicUsize,
    done: AtomicUsize,
    over: AtomicBool,
    /// What the first task that panicked said.
    panicked: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Has `lead` call for rounds, with so many threads in all. They are gone when it returns.
pub(crate) fn with<R>(
    threads: usize,
    tasks: usize,
    task: &(dyn Fn(usize) + Sync),
    lead: impl FnOnce(&Crew<'_>) -> R,
) -> R {
    let (next, done, over) = (AtomicUsize::new(tasks), AtomicUsize::new(0), AtomicBool::new(false));
    let crew = Crew { task, tasks, next, done, over, panicked: Mutex::new(None) };
    thread::scope(|scope| {
        for _ in 1..threads.min(tasks) {
            // Where the system refuses a thread, the others do its work.
            let _ = thread::Builder::new().name("fairwave-island".to_owned()).spawn_scoped(scope, || crew.help());
        }
        // Also when `lead` panics.
        let _dismissed = Dismissal(&crew.over);
        lead(&crew)
    })
}

struct Dismissal<'o>(&'o AtomicBool);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Crew<'_> {
    /// Every task is done once, the lower ones first; returns when all are. Panics if one did, with what it said.
    pub fn round(&self) {
        self.done.store(0, Ordering::Relaxed);
        self.next.store(0, Ordering::Release);
        self.work();
        let mut looked = 0;
        while self.done.load(Ordering::Acquire) < self.tasks {
            wait(&mut looked);
        }
        let panicked = self.panicked.lock().ok().and_then(|mut panicked| panicked.take());
        if let Some(panicked) = panicked {
            resume_unwind(panicked);
        }
    }

    /// Takes on tasks while there are any. A task that is taken belongs to the present round, which cannot end before it is done.
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
            self.done.fetch_add(1, Ordering::Release);
        }
    }

    fn help(&self) {
        let mut looked = 0;
        while !self.over.load(Ordering::Acquire) {
            if self.next.load(Ordering::Acquire) < self.tasks {
                self.work();
                looked = 0;
            } else {
                wait(&mut looked);
            }
        }
    }
}

fn wait(looked: &mut u32) {
    *looked = looked.saturating_add(1);
    match *looked {
        looked if looked < SPINS => std::hint::spin_loop(),
        looked if looked < SPINS + YIELDS => thread::yield_now(),
        _ => thread::sleep(NAP),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_done_once_a_round_with_more_threads_than_tasks_too() {
        for (threads, tasks) in [(1, 3), (2, 1), (3, 16), (9, 4), (2, 0)] {
            let counts: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
            let task = |own: usize| {
                counts[own].fetch_add(1, Ordering::Relaxed);
            };
            with(threads, tasks, &task, |crew| {
                for round in 1..=500 {
                    crew.round();
                    assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == round));
                }
            });
        }
    }

    #[test]
    fn a_task_that_panics_ends_the_rounds_with_what_it_said_and_nothing_hangs() {
        for threads in [1, 3] {
            let rounds = AtomicUsize::new(0);
            let task = |own: usize| {
                assert!(own != 5 || rounds.load(Ordering::Relaxed) < 10, "task {own} has failed");
            };
            let ended = catch_unwind(AssertUnwindSafe(|| {
                with(threads, 8, &task, |crew| {
                    loop {
                        crew.round();
                        rounds.fetch_add(1, Ordering::Relaxed);
                    }
                })
            }));
            let said = ended.map(|(): ()| ()).expect_err("a panic");
            assert_eq!(said.downcast_ref::<String>().map(String::as_str), Some("task 5 has failed"));
        }
    }
}
