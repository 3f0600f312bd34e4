#![doc = include_str!("../README.md")]
//!
//! # Layers
//!
//! Each box uses only boxes below it.
//!
//! ```text
//!  ┌─────────────────────────────────────────────────────────────┐
//!  │ fairwave             this crate: one name for all below     │
//!  ├──────────────────────────────┬──────────────────────────────┤
//!  │ fairwave-live                │                              │
//!  │ real time: sockets, devices  │ fairwave-stacks              │
//!  ├──────────────────────────────┤ QUIC and WebRTC stacks       │
//!  │ fairwave-sim                 │ of others, in virtual time   │
//!  │ virtual time: runs, tables   │                              │
//!  ├──────────────────────────────┤                              │
//!  │ fairwave-scenario            │                              │
//!  │ text → scenario → plan       │                              │
//!  ├──────────────────────────────┴──────────────────────────────┤
//!  │ fairwave-core        all laws under one name                │
//!  ├─────────────────────────────────────────────────────────────┤
//!  │ fairwave-transport   UDP, RTP, TFRC, RAP, DVRC; bytes       │
//!  ├──────────────────────────────┬──────────────────────────────┤
//!  │ fairwave-tcp                 │ fairwave-rtc                 │
//!  │ sender, receiver, control    │ calls as WebRTC makes them   │
//!  ├──────────────────────────────┴──────────────────────────────┤
//!  │ fairwave-endpoint    interface of sender and receiver       │
//!  ├──────────────────────────────┬──────────────────────────────┤
//!  │ fairwave-network             │ fairwave-media               │
//!  │ queues, links, media, losses │ sources, quality, speech     │
//!  ├──────────────────────────────┴──────────────────────────────┤
//!  │ fairwave-units       quantities, random streams, registries │
//!  └─────────────────────────────────────────────────────────────┘
//! ```
//!
//! A run takes three steps: text → [`Scenario`] → [`Plan`] → [`RunResult`]. A packet of the run takes this path:
//!
//! ```text
//!  source ─► sender ─► queue ─► link ─► loss ─►  …  ─► receiver ─► quality
//!   [laws::traffic]     [laws::queue]  [laws::loss]       │         [laws::quality]
//!            ▲          (each link has a queue)           │
//!            └───────────── feedback ◄────────────────────┘
//! ```
//!
//! # Where to look
//!
//! | you want to | see |
//! |---|---|
//! | read, check and change scenarios | [`scenario`], [`Scenario`] |
//! | run one plan, or many on all cores | [`Run`], [`run_many`] |
//! | observe packets during a run | [`sim::probe`], [`sim::capture`], [`sim::qlog`] |
//! | steer a run step by step | [`SteppedRun`], [`sim::episode`] |
//! | add a queue, controller, source, loss model or link law | [`laws::queue::register`] and the `register` of the other families |
//! | use one law alone, without a simulator | [`laws`] |
//!
//! # Errors
//!
//! [`ScenarioError`] names the fault in a scenario, its place, the allowed values and a remedy. [`RunError`] is the
//! reason why a run cannot start or ended early. Both are `Send + Sync + 'static`.

use std::error::Error;

pub use fairwave_core as laws;
pub use fairwave_core::random::Seed;
#[cfg(feature = "live")]
pub use fairwave_live as live;
pub use fairwave_scenario as scenario;
pub use fairwave_scenario::plan::Plan;
pub use fairwave_scenario::{Scenario, ScenarioError};
pub use fairwave_sim as sim;
pub use fairwave_sim::{Run, RunError, RunResult, SteppedRun, run_many};
#[cfg(feature = "stacks")]
pub use fairwave_stacks as stacks;

/// Programs pass errors between threads and keep them in boxes.
const fn is_error<E: Error + Send + Sync + 'static>() {}
const _: () = {
    is_error::<ScenarioError>();
    is_error::<RunError>();
    is_error::<laws::config::ConfigError>();
    is_error::<laws::registry::NameTaken>();
    is_error::<laws::units::UnitError>();
    is_error::<laws::wire::WireError>();
    is_error::<sim::packet_path::PathError>();
};
#[cfg(feature = "live")]
const _: () = is_error::<live::LiveError>();
