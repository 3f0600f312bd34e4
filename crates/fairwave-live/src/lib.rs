//! Fairwave in real time: the same laws on real packets.
//!
//! [`run`] makes a network namespace with a TUN device for each host of a plan, and is the router between them. One
//! thread drives the simulator's own run ([`fairwave_sim::SteppedRun`]) by a real clock. A packet of a host enters the
//! run's links when the router reads it. It waits in their queues, may be lost on their wires, and is written to its
//! destination host at its nominal time. Flows with a transport of fairwave have real sockets in their hosts, flows of
//! the kernel's TCP have connections, and programs have processes.
//!
//! **Sizes.** For links and queues a packet has the size of its IP packet: the IP header and everything after it,
//! nothing below. Scenarios count a header of 40 bytes in the same way (IP, UDP and RTP, or IP and TCP).
//!
//! **Assumptions.** Queues use nominal times, not the times at which the router handles an event. A packet arrives when
//! it is read; a transmission ends at the time that its rate gives. Only IPv4 is routed. Nothing leaves the machine: hosts
//! have addresses from 192.0.2.0/24 (RFC 5737) and reach only the router.
//!
//! Imports run one way: clock, addresses, headers → whose a packet is, its bytes, the accounts → hosts and sockets → the border →
//! programs → the run.

// On other systems, nothing uses the parts that need no system.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

mod accounts;
mod addresses;
mod error;
mod host;
mod ip;
mod lateness;
mod mapping;
mod places;
mod promise;
mod store;

#[cfg(target_os = "linux")]
mod border;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod endpoints;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod setup;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
use elsewhere as run;

pub use accounts::{Books, LATENESS_PROMISE, RATE_PROMISE, Report};
pub use error::LiveError;
pub use host::register_all;
pub use promise::Judgement;
pub use run::{become_able, carry_out, run};

use std::ffi::OsString;
use std::path::PathBuf;

use fairwave_scenario::plan::Plan;
use fairwave_sim::RunResult;

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Request {
    /// The network, and the flows in it.
    pub plan: Plan,
    /// Programs that begin with the run: on which host, and the command word by word. The run ends with the last of them; if there are
    /// none, when the plan says so.
    pub commands: Vec<(String, Vec<String>)>,
    /// How to start a process that carries out an order ([`carry_out`]), its last argument.
    pub helper: Vec<OsString>,
    /// User and group of programs; those of this process if none.
    pub user: Option<(u32, u32)>,
    /// Where to write all packets, for Wireshark.
    pub recording: Option<PathBuf>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The tables that a run leaves; none when it ended before the plan says.
    pub result: Option<RunResult>,
    /// How true it was.
    pub report: Report,
    /// Of each command of the request, its status as shells count it; none for one that was ended with the run.
    pub statuses: Vec<Option<i32>>,
    /// What went wrong in the hosts, in words.
    pub troubles: Vec<String>,
    /// Why the file for Wireshark does not hold every packet; none when it does, and when none was asked for.
    pub unrecorded: Option<String>,
}
