//! Fairwave in virtual time: a deterministic packet-level simulator.
//!
//! [`run`] executes a [`Plan`](fairwave_scenario::plan::Plan) and leaves a [`RunResult`]; [`run_many`] does so for many
//! on all cores. A run is a pure function of its plan: the same bytes on any machine, on any number of threads. How a
//! packet passes through is told in ARCHITECTURE.md.
//!
//! Imports run one way: routes; events, their entries and pages → calendar; measures and classes → links → network; unit logs and
//! judgements → the ends of flows; these → the tables (`collect`) and the books → the run → replications.

mod before;
mod books;
mod calendar;
mod classes;
mod collect;
mod digest;
mod ends;
mod entry;
mod error;
mod event;
mod hosts;
mod judged;
mod link;
mod look_ahead;
mod measure;
mod network;
mod pages;
mod replicate;
mod result;
mod routes;
mod run;
mod unit_log;
mod watched;

pub use classes::ClassRow;
pub use error::RunError;
pub use replicate::run_many;
pub use result::{FlowRow, GroupRow, LinkRow, PlaybackRow, RecoveryRow, RunResult, SeriesRow, TimelinessRow, UnitRow};
pub use run::run;
