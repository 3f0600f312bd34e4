//! Programs in hosts. Each runs in a separate process namespace, so all its processes end with it and with the run.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fairwave_core::units::{Instant, Span};
use nix::sched::{CloneFlags, setns, unshare};
use rustix::event::{EventfdFlags, eventfd};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::child::Order;
use crate::clock::Clock;

/// A program to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Index of the host.
    pub host: usize,
    /// Command and environment.
    pub order: Order,
    /// Start time.
    pub begins: Instant,
    /// Time at which the program is killed if it is still running; the end of the run if `None`.
    pub ends: Option<Instant>,
    /// True if the program reads the terminal of the user.
    pub reads: bool,
}

/// Exit of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramExit {
    /// Index of the program.
    pub program: usize,
    /// Exit status as in shells, or why the program did not start.
    pub status: Result<i32, String>,
}

/// File descriptor of a process. It never refers to another process that reuses the number.
type Handle = Arc<Mutex<Option<OwnedFd>>>;

struct RunningProgram {
    handle: Handle,
    /// Dropped to cancel the start.
    wanted: Option<Sender<()>>,
    thread: JoinHandle<()>,
    ends: Option<Instant>,
}

/// Started and scheduled programs.
pub struct Programs {
    started: Vec<RunningProgram>,
    exits: Receiver<ProgramExit>,
    /// Readable after a program has ended.
    pub wake: OwnedFd,
}

impl Programs {
    /// Schedules all programs. `helper` is the command line of the process that carries out an order; the order becomes
    /// its last argument.
    ///
    /// # Errors
    /// The kernel refuses a thread or a descriptor.
    pub fn start(programs: &[Program], namespaces: &[&File], helper: &[OsString], clock: Clock) -> io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let (tell, exits) = channel();
        let mut started = Vec::with_capacity(programs.len());
        for (index, program) in programs.iter().enumerate() {
            let namespace = match namespaces.get(program.host) {
                Some(namespace) => namespace.try_clone()?,
                None => continue,
            };
            let (program, helper, tell, wake) = (program.clone(), helper.to_vec(), tell.clone(), wake.try_clone()?);
            let (wanted, cancelled) = channel();
            let handle = Handle::default();
            let ends = program.ends;
            let watched = Arc::clone(&handle);
            let thread = thread::Builder::new().spawn(move || {
                let status = run(&program, &namespace, &helper, &watched, &cancelled, clock);
                drop(namespace);
                if let Some(status) = status.map_err(|error| error.to_string()).transpose() {
                    let _ = tell.send(ProgramExit { program: index, status });
                    let _ = rustix::io::write(&wake, &1u64.to_ne_bytes());
                }
            })?;
            started.push(RunningProgram { handle, wanted: Some(wanted), thread, ends });
        }
        Ok(Programs { started, exits, wake })
    }

    /// Returns the programs that have ended since the last call.
    pub fn take_exits(&self) -> Vec<ProgramExit> {
        let _ = rustix::io::read(&self.wake, &mut [0u8; 8]);
        self.exits.try_iter().collect()
    }

    /// Returns the next time at which a program must be killed.
    pub fn next_end(&self) -> Instant {
        self.started.iter().filter_map(|one| one.ends).min().unwrap_or(Instant::NEVER)
    }

    /// Kills the programs that are due to end.
    pub fn end_until(&mut self, now: Instant) {
        for started in self.started.iter_mut().filter(|one| one.ends.is_some_and(|ends| ends <= now)) {
            started.ends = None;
            started.wanted = None;
            kill(&started.handle);
        }
    }

    /// Kills all programs and waits for them. Returns the exits of those that were still running.
    pub fn end(mut self) -> Vec<ProgramExit> {
        self.end_until(Instant::NEVER);
        for started in &mut self.started {
            started.wanted = None;
            kill(&started.handle);
        }
        for started in self.started {
            // The process may start during this call, so retry.
            while !started.thread.is_finished() {
                kill(&started.handle);
                thread::sleep(Duration::from_millis(1));
            }
            let _ = started.thread.join();
        }
        self.exits.try_iter().collect()
    }
}

fn kill(handle: &Handle) {
    if let Some(process) = &*handle.lock().unwrap_or_else(PoisonError::into_inner) {
        let _ = pidfd_send_signal(process, Signal::KILL);
    }
}

/// Waits for the start time, runs the program and waits for its end. Returns `None` if the start was cancelled.
fn run(
    program: &Program,
    namespace: &File,
    helper: &[OsString],
    handle: &Handle,
    cancelled: &Receiver<()>,
    clock: Clock,
) -> io::Result<Option<i32>> {
    setns(namespace, CloneFlags::CLONE_NEWNET)?;
    // Applies to the children of this thread, not to the thread.
    unshare(CloneFlags::CLONE_NEWPID)?;
    let wait = program.begins - clock.now();
    if wait > Span::ZERO {
        use std::sync::mpsc::RecvTimeoutError::Disconnected;
        if cancelled.recv_timeout(Duration::from_nanos(wait.nanos())) == Err(Disconnected) {
            return Ok(None);
        }
    }
    let order = serde_json::to_string(&program.order)?;
    let Some((first, rest)) = helper.split_first() else {
        return Err(io::Error::other("nobody was named who starts programs"));
    };
    let input = if program.reads { Stdio::inherit() } else { Stdio::null() };
    let mut child = Command::new(first).args(rest).arg(order).stdin(input).spawn()?;
    let number = Pid::from_raw(child.id() as i32).ok_or_else(|| io::Error::other("a process without a number"))?;
    let process = pidfd_open(number, PidfdFlags::empty());
    match process {
        Ok(process) => *handle.lock().unwrap_or_else(PoisonError::into_inner) = Some(process),
        Err(error) => {
            child.kill()?;
            return Err(error.into());
        }
    }
    let status = child.wait()?;
    *handle.lock().unwrap_or_else(PoisonError::into_inner) = None;
    use std::os::unix::process::ExitStatusExt;
    Ok(Some(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))))
}
