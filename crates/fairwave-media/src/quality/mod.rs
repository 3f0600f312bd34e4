//! Receiver quality measures. Each measure is defined once, here, with its equation; simulator, live runs and studies
//! use this definition.
//!
//! Measures over single events are accumulators (`on_received`); measures over a finished run are functions. If papers
//! leave the meaning of a measure open, each reading has a name, and all readings are reported.

pub mod call;
pub mod completion;
pub mod conversation;
pub mod decodable;
pub mod delay;
pub mod emodel;
mod emodel_loss;
pub mod emodel_ranges;
pub mod emodel_wideband;
pub mod fairness;
pub mod gaps;
pub mod impairment;
pub mod jitter;
pub mod loss;
pub mod opinion;
pub mod outcome;
pub mod playback;
pub mod playout;
pub mod recovery;
pub mod responsiveness;
pub mod smoothness;
pub mod throughput;
pub mod timeliness;
