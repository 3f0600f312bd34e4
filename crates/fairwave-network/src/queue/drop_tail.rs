//! Drop-tail: drops packets only when the buffer is full.
//!
//! With victim `tail` this is the classic drop-tail queue. With the other victim rules it is drop-front, drop-random and
//! Drop-Sel on overflow: the comparison without active queue management in paper 004.

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

/// Admits every packet that fits.
pub struct DropTail;

impl Discipline for DropTail {}
