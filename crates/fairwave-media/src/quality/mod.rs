//! What the receiver makes of it. Each measure is defined here, once, with its equation; simulator, live runs and studies use it.
//!
//! Measures that a simulator feeds event by event are accumulators (`on_received`); those that look back on a run are
//! functions. Where papers leave open what a measure means, each reading has a name and all are reported.

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
