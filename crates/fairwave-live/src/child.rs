//! The first process of a program's process namespace: it gives away what it may, starts the program, and ends with it. When it ends, or
//! whoever started it does, the kernel ends everything that the program has left.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use rustix::thread::{CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities};
use serde::{Deserialize, Serialize};

/// What is to be started, and what it is told.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The program and its arguments; no shell reads them.
    pub command: Vec<String>,
    /// On which host.
    pub host: String,
    /// Every host's name and address.
    pub hosts: Vec<(String, String)>,
    /// User and group that the program is to have; those of whoever starts it if none.
    pub user: Option<(u32, u32)>,
}

/// The status that shells give for a program that is not there, and for one that cannot be started.
const NOT_FOUND: i32 = 127;
const NOT_STARTED: i32 = 126;

/// Carries out an order, as JSON, and answers with the status to end with: the program's own, or 128 and the signal that ended it.
///
/// # Errors
/// What is wrong with the order.
pub fn carry_out(order: &str) -> Result<i32, serde_json::Error> {
    let order: Order = serde_json::from_str(order)?;
    furnish(&order.hosts);
    give_away(order.user);
    Ok(start(&order))
}

/// Mounts what shows the namespace as it is: its processes, its hosts' names. A program can do without.
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
    // A file that is nowhere but here: in memory, bound over the machine's own, its place given back.
    if mount(Some("tmpfs"), "/mnt", Some("tmpfs"), safe, NOTHING).is_ok() {
        let table = hosts_table(hosts);
        if fs::write("/mnt/hosts", table).is_ok() {
            let _ = mount(Some("/mnt/hosts"), "/etc/hosts", NOTHING, MsFlags::MS_BIND, NOTHING);
        }
        let _ = umount2("/mnt", MntFlags::MNT_DETACH);
    }
}

/// What `/etc/hosts` says: names that a host may have (letters, digits, hyphens and dots), and no others.
fn hosts_table(hosts: &[(String, String)]) -> String {
    let plain =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    let rows = hosts.iter().filter(|(name, _)| plain(name)).map(|(name, address)| format!("{address} {name}\n"));
    std::iter::once("127.0.0.1 localhost\n".to_owned()).chain(rows).collect()
}

/// No capability, and none to be had by any program; then another user, if one is wanted.
fn give_away(user: Option<(u32, u32)>) {
    let _ = prctl::set_no_new_privs();
    if let Some((user, group)) = user {
        let _ = nix::unistd::setgroups(&[]);
        let _ = nix::unistd::setgid(group.into());
        let _ = nix::unistd::setuid(user.into());
    }
    for capability in CapabilitySet::all().iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    let _ = set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none });
    // Last: a change of user would have taken it away.
    let _ = prctl::set_pdeathsig(Signal::SIGKILL);
}

fn start(order: &Order) -> i32 {
    let Some((program, arguments)) = order.command.split_first() else { return NOT_FOUND };
    let mut command = Command::new(program);
    command.args(arguments).env("FAIRWAVE_HOST", &order.host).arg0(program);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("fairwave: `{program}` cannot be started: {error}");
            return if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_STARTED };
        }
    };
    let program = Pid::from_raw(child.id() as i32);
    loop {
        // Whatever else ends here was left by the program.
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
