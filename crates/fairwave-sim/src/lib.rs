//! Fairwave in virtual time: a deterministic packet-level simulator.
//!
//! [`run`] executes a [`Plan`](fairwave_scenario::plan::Plan) and leaves a [`RunResult`]; [`run_many`] does so for many
//! on all cores. A run is a pure function of its plan: the same bytes on any machine, on any number of threads. How a
//! packet passes through is told in ARCHITECTURE.md.
//!
//! Imports run one way: routes; events, their entries and pages → calendar; measures and classes → links → network; unit logs and
//! judgements → the ends of flows → their admission; these → the tables (`collect`) and the books → the run → replications. The
//! run knows that somebody may look on (`probe`), not who: captures do.

mod admission;
mod before;
mod books;
pub mod border;
mod calendar;
pub mod capture;
mod classes;
mod collect;
mod detours;
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
pub mod measures;
mod network;
mod pages;
pub mod probe;
mod replicate;
mod result;
mod routes;
mod run;
mod service_classes;
mod unit_log;
mod unsteady;
mod watched;

pub use classes::ClassRow;
pub use error::RunError;
pub use replicate::run_many;
pub use result::{
    CompletionRow, ConversationRow, FlowRow, GroupRow, LinkRow, OutageRow, PlaybackRow, RecoveryRow, RunResult,
    SeriesRow, ServiceClassRow, TimelinessRow, TransferRow, UnitRow,
};
pub use run::{PARTS, SteppedRun, run, run_in_parts, run_seen};
