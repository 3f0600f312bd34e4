//! Fairwave in virtual time: a deterministic packet-level simulator.
//!
//! [`run`] executes a [`Plan`](fairwave_scenario::plan::Plan) and leaves a [`RunResult`]; [`run_many`] does so for many
//! on all cores. A run is a pure function of its plan: the same bytes on any machine, on any number of threads. How a
//! packet passes through is told in ARCHITECTURE.md.

mod application;
mod calendar;
mod classes;
mod digest;
mod ends;
mod error;
mod event;
mod judged;
mod link;
mod look_ahead;
mod measure;
mod network;
mod pages;
mod replicate;
mod result;
mod run;
mod unit_log;
mod watched;

pub use application::{PlaybackRow, RecoveryRow};
pub use classes::ClassRow;
pub use error::RunError;
pub use replicate::run_many;
pub use result::{FlowRow, GroupRow, LinkRow, RunResult, SeriesRow, TimelinessRow, UnitRow};
pub use run::run;
