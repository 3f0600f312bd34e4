#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! A [`Run`] executes a [`Plan`](fairwave_scenario::plan::Plan) and returns a [`RunResult`]; [`run_many`] executes many
//! plans on all cores. ARCHITECTURE.md describes the path of a packet through a run.
//!
//! Imports run in one direction. First chain: routes; events, entries and pages → calendar; measures and classes →
//! links → network. Second chain: unit logs and judgements → ends of flows → admission. Both chains → tables
//! (`collect`) and books → run → replications. Only the run uses `island_map` (places of links and flow ends), `partition`
//! (islands) and `workers` (threads). The run knows the observer trait (`probe`), but not the observers (captures and
//! qlog).

mod admission;
mod books;
pub mod border;
mod cache_lines;
mod calendar;
pub mod capture;
mod classes;
mod collect;
mod conferences;
mod decodability;
mod detours;
mod digest;
mod ends;
mod entry;
pub mod episode;
mod error;
mod event;
mod fifo;
mod hosts;
mod island_map;
mod judgements;
mod link;
mod measure;
pub mod measures;
pub mod media_rows;
mod network;
pub mod packet_path;
mod pages;
mod partition;
mod parts;
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
mod simulation;
mod unit_log;
mod unsteady;
mod warmup;
mod workers;

pub use classes::ClassRow;
pub use error::RunError;
pub use partition::Cut;
pub use parts::PARTS;
pub use replicate::run_many;
pub use result::{
    CompletionRow, ConversationRow, FateRow, FlowRow, GroupRow, LinkRow, OutageRow, OutcomeRow, PlaybackRow,
    RecoveryRow, RoundTripRow, RunResult, SeriesRow, ServiceClassRow, TimelinessRow, TinRow, TransferRow, UnitRow,
};
pub use run::Run;
pub use simulation::SteppedRun;
