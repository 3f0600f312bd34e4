//! First process in the process namespace of a program. It gives up its privileges, starts the program, and ends when
//! the program ends. When this process or its parent ends, the kernel kills everything that the program has left
//! running.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Gid, Pid, Uid, getgroups, getresgid, getresuid, setgroups, setresgid, setresuid};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set, remove_capability_from_bounding_set,
    set_capabilities,
};
use serde::{Deserialize, Serialize};

/// Program to start, and its environment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The program and its arguments; not parsed by a shell.
    pub command: Vec<String>,
    /// Name of the host.
    pub host: String,
    /// Name and address of every host.
    pub hosts: Vec<(String, String)>,
    /// User and group of the program; those of the caller if `None`.
    pub user: Option<(u32, u32)>,
}

/// Exit status, as in shells, of a program that does not exist, and of one that cannot be started.
const NOT_FOUND: i32 = 127;
const NOT_STARTED: i32 = 126;

/// Carries out an order, given as JSON. Returns the exit status of the program, or 128 plus the signal that ended it.
/// Returns 126 if the process could not give up its privileges; the program has not started then.
///
/// # Errors
/// The order is not valid JSON for an [`Order`].
pub fn carry_out(order: &str) -> Result<i32, serde_json::Error> {
    let order: Order = serde_json::from_str(order)?;
    furnish(&order.hosts);
    if let Err(RetainedRight { what, why }) = give_away(order.user) {
        let program = order.command.first().map_or("", String::as_str);
        eprintln!(
            "fairwave: {program:?} was not started: its process cannot {what}: {why}. Programs never start with more rights than \
             asked for; run fairwave without sudo, or where root has all capabilities"
        );
        return Ok(NOT_STARTED);
    }
    Ok(start(&order))
}

/// Mounts `/proc` and `/etc/hosts` for the namespace. Failures are ignored: programs can do without them.
fn furnish(hosts: &[(String, String)]) {
    const NOTHING: Option<&str> = None;
    if unshare(CloneFlags::CLONE_NEWNS).is_err() {
        return;
    }
    if mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING).is_err() {
        return;
    }
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let _ = mount(Some("proc"), "/proc", Some("proc"), safe, NOTHING);
    // The file is in memory and visible only in this namespace: it is bound over `/etc/hosts`, then its mount is
    // released.
    if mount(Some("tmpfs"), "/mnt", Some("tmpfs"), safe, NOTHING).is_ok() {
        let table = hosts_table(hosts);
        if fs::write("/mnt/hosts", table).is_ok() {
            let _ = mount(Some("/mnt/hosts"), "/etc/hosts", NOTHING, MsFlags::MS_BIND, NOTHING);
        }
        let _ = umount2("/mnt", MntFlags::MNT_DETACH);
    }
}

/// Returns the content of `/etc/hosts`. Skips names with characters other than letters, digits, hyphens and dots.
fn hosts_table(hosts: &[(String, String)]) -> String {
    let plain =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    let rows = hosts.iter().filter(|(name, _)| plain(name)).map(|(name, address)| format!("{address} {name}\n"));
    std::iter::once("127.0.0.1 localhost\n".to_owned()).chain(rows).collect()
}

/// A privilege that could not be given up, and why.
#[derive(Debug)]
struct RetainedRight {
    what: String,
    why: String,
}

impl RetainedRight {
    fn on_error<E: std::fmt::Display>(what: &str) -> impl Fn(E) -> RetainedRight {
        move |error| RetainedRight { what: what.to_owned(), why: error.to_string() }
    }
}

/// Gives up all capabilities, for this process and all programs that it starts, then changes the user if requested. The
/// program may start only after this function has succeeded.
///
/// # Errors
/// The first step that the kernel refuses, or that has left a privilege behind.
fn give_away(user: Option<(u32, u32)>) -> Result<(), RetainedRight> {
    prctl::set_no_new_privs().map_err(RetainedRight::on_error("set no_new_privs"))?;
    // Before the change of user, which removes the permission for this step.
    empty_bounding_set()?;
    if let Some((user, group)) = user {
        become_user(user.into(), group.into())?;
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(RetainedRight::on_error("give up its capabilities"))?;
    // Last, because a change of user clears the signal.
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(RetainedRight::on_error("be bound to the run"))?;
    check_given_away()
}

/// Removes every capability from the bounding set, including capabilities newer than this program.
fn empty_bounding_set() -> Result<(), RetainedRight> {
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        match capability_is_in_bounding_set(capability) {
            // capabilities(7): EINVAL means a number above the last capability of the kernel.
            Err(Errno::INVAL) => break,
            Ok(false) => {}
            Ok(true) | Err(_) => remove_capability_from_bounding_set(capability)
                .map_err(RetainedRight::on_error(&format!("remove capability {number} from its bounding set")))?,
        }
    }
    Ok(())
}

/// Changes real, effective and saved ids, and checks them. A program that could change back would be root.
fn become_user(user: Uid, group: Gid) -> Result<(), RetainedRight> {
    let what = format!("become user {user} of group {group}");
    setgroups(&[]).map_err(RetainedRight::on_error(&format!("{what} (setgroups)")))?;
    setresgid(group, group, group).map_err(RetainedRight::on_error(&format!("{what} (setresgid)")))?;
    setresuid(user, user, user).map_err(RetainedRight::on_error(&format!("{what} (setresuid)")))?;
    let users = getresuid().map_err(RetainedRight::on_error(&what))?;
    let groups = getresgid().map_err(RetainedRight::on_error(&what))?;
    let others = getgroups().map_err(RetainedRight::on_error(&what))?;
    let changed = [users.real, users.effective, users.saved] == [user; 3]
        && [groups.real, groups.effective, groups.saved] == [group; 3]
        && others.is_empty();
    if changed { Ok(()) } else { Err(RetainedRight { what, why: "the kernel kept other ids".to_owned() }) }
}

/// Checks which privileges are left in the kernel.
fn check_given_away() -> Result<(), RetainedRight> {
    let left = capabilities(None).map_err(RetainedRight::on_error("read its capabilities"))?;
    let none = [left.effective, left.permitted, left.inheritable].iter().all(CapabilitySet::is_empty);
    if !none {
        return Err(RetainedRight {
            what: "give up its capabilities".to_owned(),
            why: "the kernel kept some".to_owned(),
        });
    }
    match prctl::get_no_new_privs() {
        Ok(true) => Ok(()),
        _ => Err(RetainedRight { what: "set no_new_privs".to_owned(), why: "the kernel did not keep it".to_owned() }),
    }
}

fn start(order: &Order) -> i32 {
    let Some((program, arguments)) = order.command.split_first() else { return NOT_FOUND };
    let mut command = Command::new(program);
    command.args(arguments).env("FAIRWAVE_HOST", &order.host).arg0(program);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("fairwave: {program:?} cannot be started: {error}");
            return if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_STARTED };
        }
    };
    let program = Pid::from_raw(child.id() as i32);
    loop {
        // All other processes that end here are leftovers of the program.
        match waitpid(None, None) {
            Ok(WaitStatus::Exited(pid, status)) if pid == program => return status,
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == program => return 128 + signal as i32,
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(_) => return NOT_STARTED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_hosts_may_have_come_into_their_table() {
        let named = |name: &str| (name.to_owned(), "192.0.2.1".to_owned());
        let table = hosts_table(&[
            named("alice"),
            named("a b"),
            named("x\n127.0.0.1 bank.example"),
            named("r1.lab"),
            named(""),
        ]);
        assert_eq!(table, "127.0.0.1 localhost\n192.0.2.1 alice\n192.0.2.1 r1.lab\n");
    }
}
