//! Programs in hosts: each in a process namespace of its own, so that all it starts ends with it, and with the run.

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

/// A program to be run.
#[derive(Clone, Debug)]
pub struct Program {
    /// On which host, by its number.
    pub host: usize,
    /// What.
    pub order: Order,
    /// When it begins.
    pub begins: Instant,
    /// When it is ended if it has not ended by itself; the end of the run if none.
    pub ends: Option<Instant>,
    /// It reads the terminal of the user who started the run.
    pub reads: bool,
}

/// A program that is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramExit {
    /// Which.
    pub program: usize,
    /// Its status, as shells count it; why it could not be started.
    pub status: Result<i32, String>,
}

/// A kill never hits another process that has taken over the number.
type Handle = Arc<Mutex<Option<OwnedFd>>>;

struct RunningProgram {
    handle: Handle,
    /// Dropped to say that it is not to begin any more.
    wanted: Option<Sender<()>>,
    thread: JoinHandle<()>,
    ends: Option<Instant>,
}

/// Programs that have been started, or will be.
pub struct Programs {
    started: Vec<RunningProgram>,
    exits: Receiver<ProgramExit>,
    /// Readable when a program is over.
    pub wake: OwnedFd,
}

impl Programs {
    /// Starts each when it begins. `helper` is how to start a process that carries out an order, its last argument.
    ///
    /// # Errors
    /// What the kernel refuses.
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

    /// Those that are over since this was last asked.
    pub fn over(&self) -> Vec<ProgramExit> {
        let _ = rustix::io::read(&self.wake, &mut [0u8; 8]);
        self.exits.try_iter().collect()
    }

    /// When one is next to be ended.
    pub fn next_end(&self) -> Instant {
        self.started.iter().filter_map(|one| one.ends).min().unwrap_or(Instant::NEVER)
    }

    /// Ends those whose time has come.
    pub fn end_until(&mut self, now: Instant) {
        for started in self.started.iter_mut().filter(|one| one.ends.is_some_and(|ends| ends <= now)) {
            started.ends = None;
            started.wanted = None;
            kill(&started.handle);
        }
    }

    /// Ends all, and waits until they have ended. Answers with those that were not over before.
    pub fn end(mut self) -> Vec<ProgramExit> {
        self.end_until(Instant::NEVER);
        for started in &mut self.started {
            started.wanted = None;
            kill(&started.handle);
        }
        for started in self.started {
            // It may have been about to begin.
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

/// Waits for a program's time, starts it and waits for its end; none when it was called off.
fn run(
    program: &Program,
    namespace: &File,
    helper: &[OsString],
    handle: &Handle,
    cancelled: &Receiver<()>,
    clock: Clock,
) -> io::Result<Option<i32>> {
    setns(namespace, CloneFlags::CLONE_NEWNET)?;
    // For what this thread starts, not for itself.
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
