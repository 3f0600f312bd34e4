//! The queue that drops when it is full and only then.
//!
//! With victim `tail` this is the classic drop-tail queue; with the others it is drop-front, drop-random and Drop-Sel on
//! overflow, paper 004's comparison without active queue management.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::Capacity;
use super::victim::Victim;

/// Parameters of a queue that drops when full.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DropTailConfig {
    /// What it holds at most.
    pub capacity: Capacity,
    /// Which packet is dropped when it is full.
    #[serde(default)]
    pub victim: Victim,
}
