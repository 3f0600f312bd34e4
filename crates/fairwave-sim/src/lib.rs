//! Fairwave in virtual time: a deterministic packet-level simulator.
//!
//! [`run`] executes a [`Plan`](fairwave_scenario::plan::Plan) and returns a [`RunResult`]; [`run_many`] executes many
//! plans on all cores. A run is a pure function of its plan: the same bytes on any machine, with any number of threads.
//! ARCHITECTURE.md describes the way of a packet through a run.
//!
//! Imports run one way. The first part is: routes; events, their entries and pages → calendar; measures and classes →
//! links → network. The second is: unit logs and judgements → the ends of flows → their admission. Both → the tables
//! (`collect`) and the books → the run → replications. Where the parts of a run are (`places`), how it is cut (`partition`) and the threads
//! that handle its islands (`crew`) are asked by the run alone. The run knows the trait of observers (`probe`), not the
//! observers: captures and qlog.

mod admission;
mod before;
mod books;
pub mod border;
mod calendar;
pub mod capture;
mod classes;
mod collect;
mod conferences;
mod crew;
mod detours;
mod digest;
mod ends;
mod entry;
pub mod episode;
mod error;
mod event;
mod fifo;
mod hosts;
mod judged;
mod link;
mod look_ahead;
mod measure;
pub mod measures;
pub mod media_rows;
mod network;
mod pages;
mod partition;
mod places;
mod prefetch;
pub mod probe;
pub mod qlog;
mod replicate;
mod result;
mod round_trips;
mod routes;
mod run;
mod service_classes;
mod shared_media;
mod unit_log;
mod unsteady;
mod watched;

pub use classes::ClassRow;
pub use error::RunError;
pub use partition::Cut;
pub use replicate::run_many;
pub use result::{
    CompletionRow, ConversationRow, FateRow, FlowRow, GroupRow, LinkRow, OutageRow, OutcomeRow, PlaybackRow,
    RecoveryRow, RoundTripRow, RunResult, SeriesRow, ServiceClassRow, TimelinessRow, TinRow, TransferRow, UnitRow,
};
pub use run::{PARTS, SteppedRun, cut_of, run, run_cut, run_in_parts, run_looking_ahead, run_on, run_seen};
