//! Hosts: unnamed network namespaces, each with one TUN device. Only file descriptors hold them, so no host can outlive
//! the process: the kernel then closes the descriptors and removes device, address and namespace.

use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, sendto, socket};
use rustix::thread::{CapabilitySet, capabilities};
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::addresses;
use crate::error::LiveError;

/// Largest IP packet that hosts send, bytes: the payload of an Ethernet frame.
pub const MTU: u16 = 1500;

/// Length of a device's queue, packets: one second at 10 000 packets/s.
const DEVICE_QUEUE: u32 = 10_000;

/// Name of the device in every host.
const DEVICE: &str = "fairwave";

/// A simulated machine.
pub struct Host {
    /// Keeps the namespace alive.
    pub namespace: File,
    /// TUN device for all packets that the host sends and receives.
    pub device: SyncDevice,
    /// Its address.
    pub address: Ipv4Addr,
}

/// Ensures that this process may create namespaces. Without that privilege it enters a user namespace in which it is
/// root. The process must have a single thread, and it will end with its parent. Returns true if it is now in a user
/// namespace.
///
/// # Errors
/// The kernel refuses the namespace.
pub fn become_able() -> Result<bool, LiveError> {
    prctl::set_pdeathsig(Signal::SIGKILL)
        .map_err(|error| LiveError::refused("a process cannot be bound to its parent", error))?;
    let wanted = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    if capabilities(None).is_ok_and(|mine| mine.effective.contains(wanted)) {
        return Ok(false);
    }
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    let refused = |error: io::Error| LiveError::refused("a user namespace cannot be made", error);
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| refused(error.into()))?;
    fs::write("/proc/self/setgroups", "deny").map_err(refused)?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1")).map_err(refused)?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1")).map_err(refused)?;
    Ok(true)
}

/// Runs `work` in a separate thread in the namespace of `host`.
///
/// # Errors
/// The kernel refuses the namespace, or `work` fails.
pub fn run_in_namespace<T: Send>(host: &Host, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let namespace = &host.namespace;
    run_in_thread(move || {
        setns(namespace, CloneFlags::CLONE_NEWNET)?;
        work()
    })
}

fn run_in_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let early = |_| Err(io::Error::other("a thread ended before its time"));
    thread::scope(|scope| thread::Builder::new().spawn_scoped(scope, work)?.join().unwrap_or_else(early))
}

/// Creates host number `number`. `open` opens its sockets and receives its address.
///
/// # Errors
/// The kernel refuses the namespace, the device or a socket.
pub fn make<T: Send>(
    number: usize,
    open: impl FnOnce(Ipv4Addr) -> io::Result<T> + Send,
) -> Result<(Host, T), LiveError> {
    let Some(address) = addresses::address(number) else {
        return Err(LiveError::TooMany {
            what: "hosts",
            found: number + 1,
            allowed: addresses::MOST_HOSTS,
            help: "take a scenario with fewer ends of flows",
        });
    };
    let made = run_in_thread(|| {
        unshare(CloneFlags::CLONE_NEWNET)?;
        let namespace = File::open("/proc/thread-self/ns/net")?;
        loopback_up()?;
        settle();
        let device = DeviceBuilder::new().name(DEVICE).ipv4(address, addresses::PREFIX, None).mtu(MTU).build_sync()?;
        // In a user namespace the kernel refuses the change, and the device holds 500 packets. The books count what it
        // drops.
        let _ = device.set_tx_queue_len(DEVICE_QUEUE);
        device.set_nonblocking(true)?;
        let opened = open(address)?;
        Ok((Host { namespace, device, address }, opened))
    });
    made.map_err(|error| LiveError::refused("a network namespace with a TUN device cannot be made", error))
}

/// Configures a new namespace. All settings are optional: refusals of the kernel are ignored.
fn settle() {
    for (setting, value) in [
        // There are no IPv6 neighbours to discover.
        ("ipv6/conf/all/disable_ipv6", "1"),
        ("ipv6/conf/default/disable_ipv6", "1"),
        // Programs without privileges may use any port, and may ping.
        ("ipv4/ip_unprivileged_port_start", "0"),
        ("ipv4/ping_group_range", "0 2147483647"),
        // As in a simulation, connections do not reuse metrics of earlier ones.
        ("ipv4/tcp_no_metrics_save", "1"),
    ] {
        let _ = fs::write(format!("/proc/sys/net/{setting}"), value);
    }
}

/// Brings up the loopback device with one message (rtnetlink(7): `RTM_NEWLINK`, `ifinfomsg`).
fn loopback_up() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const LOOPBACK: i32 = 1;
    const UP: u32 = 1;
    let route = socket(AddressFamily::NETLINK, SocketType::RAW, None)?; // 0: NETLINK_ROUTE
    let mut message = Vec::with_capacity(32);
    message.extend(32u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]); // sequence number and port: this socket asks once
    message.extend([0; 4]); // any family, any type of device
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes()); // flags
    message.extend(UP.to_ne_bytes()); // which of them change
    sendto(&route, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0u8; 128];
    recv(&route, &mut answer, RecvFlags::empty())?;
    // After the 16-byte header: the negative error number, or zero for success.
    let number = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map_or(0, i32::from_ne_bytes);
    if number == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(-number)) }
}

/// Returns the number of packets that the full device of a host has dropped.
pub fn device_dropped(host: &Host) -> io::Result<u64> {
    let table = run_in_namespace(host, || fs::read_to_string("/proc/thread-self/net/dev"))?;
    // proc_pid_net(5): name, eight columns for receiving, then bytes, packets, errors and drops for sending.
    let row = table.lines().find_map(|line| line.trim_start().strip_prefix(DEVICE)?.strip_prefix(':'));
    Ok(row.and_then(|row| row.split_whitespace().nth(11)?.parse().ok()).unwrap_or(0))
}
