#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! [`run`] creates a network namespace with a TUN device for each host of a plan and routes packets between the hosts.
//! One thread drives the simulator ([`fairwave_sim::SteppedRun`]) by a real clock. When the router reads a packet of a
//! host, the packet enters the links of the run. It waits in their queues, may be lost, and is written to its
//! destination host at its nominal time. Flows with a transport of fairwave use real sockets in their hosts. Flows of
//! the kernel's TCP use connections, and programs run as processes.
//!
//! **Sizes.** Links and queues count the IP packet: the IP header and everything after it, without lower layers.
//! Scenarios count headers in the same way: 40 bytes for IP, UDP and RTP, or for IP and TCP.
//!
//! **Assumptions.** Queues use nominal times, not the times at which the router handles an event. A packet arrives when
//! the router reads it. A transmission ends at the time that follows from its rate. Only IPv4 is routed. Nothing leaves
//! the machine: hosts have addresses from 192.0.2.0/24 (RFC 5737) and reach only the router.
//!
//! Imports run one way, from low to high: clock, addresses, headers → flow mapping, packet store, accounts → hosts and
//! sockets → border → programs → run.

// Other systems do not use the parts that run anywhere.
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

/// Input of [`run`].
#[derive(Clone, Debug)]
pub struct Request {
    /// The network and its flows.
    pub plan: Plan,
    /// Commands that start with the run: host name, and the command word by word. The run ends when the last command
    /// ends; without commands, it ends at the time in the plan.
    pub commands: Vec<(String, Vec<String>)>,
    /// Command line of the helper process that carries out an order ([`carry_out`]). The order becomes its last
    /// argument.
    pub helper: Vec<OsString>,
    /// User and group of the programs; those of this process if `None`.
    pub user: Option<(u32, u32)>,
    /// Path of the capture file for Wireshark.
    pub recording: Option<PathBuf>,
}

/// Result of [`run`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// Tables of the run; `None` if the run ended before the time in the plan.
    pub result: Option<RunResult>,
    /// Accuracy report.
    pub report: Report,
    /// Exit status of each command of the request, as in shells; `None` for commands that were killed at the end of the
    /// run.
    pub statuses: Vec<Option<i32>>,
    /// Messages about failures in the hosts.
    pub troubles: Vec<String>,
    /// Why the capture file is incomplete; `None` if it is complete or was not requested.
    pub unrecorded: Option<String>,
}
