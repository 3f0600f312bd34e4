//! The queue that drops when it is full and only then.
//!
//! With victim `tail` this is the classic drop-tail queue; with the others it is drop-front, drop-random and Drop-Sel on
//! overflow, paper 004's comparison without active queue management.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::Capacity;
use super::discipline::{Discipline, DisciplineLaw, Nature};
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Rate;

/// Drops packets only when the buffer is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropTailConfig {}

impl Checked for DropTailConfig {}

impl Law for DropTailConfig {
    const NAME: &'static str = "drop-tail";
}

impl DisciplineLaw for DropTailConfig {
    type Discipline = DropTail;
    const NATURE: Nature = Nature { passive: true, ..Nature::FIFO };

    fn discipline(&self, _capacity: Capacity, _rate: Rate) -> DropTail {
        DropTail
    }
}

/// Admits whatever there is room for.
pub struct DropTail;

impl Discipline for DropTail {}
