//! Deficit round robin: classes take turns with a quantum in proportion to their weights.
//!
//! Follows Shreedhar & Varghese, "Efficient Fair Queuing Using Deficit Round Robin" (SIGCOMM 1995). A class sends in its
//! turn while its deficit lasts. It keeps an unused deficit for its next turn, but loses it when it has no packets. The cost
//! of a decision does not depend on the number of classes. The class with the least weight gets the configured quantum, the
//! others get proportionally more.
//!
//! **Deviation.** The paper sends a packet only when the deficit covers it. Here a turn lasts until the deficit is used up.
//! The last packet may overdraw the deficit by less than its length, which reduces the next turn, as in RFC 8290 §4.2. The
//! reason: the length of the next packet is unknown until the class's discipline releases it. The paper's bound still holds:
//! in n turns a backlogged class gets n quanta, plus or minus less than the largest packet.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::class_map::{self, ClassConfig, ClassMap};
use super::config::Capacity;
use super::discipline::{DisciplineLaw, Nature};
use super::drop_tail::DropTail;
use super::priority::NATURE;
use super::scheduler::{ClassSet, Scheduler, first};
use fairwave_units::config::ConfigError;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Rate};

/// Deficit round robin among classes. It sorts packets by DSCP into classes. Classes with packets take turns, in
/// proportion to their weights.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DrrConfig {
    /// The classes; each with `name`, `match`, `weight`, `police`, `shape`, `queue`.
    pub classes: Vec<ClassConfig>,
    /// Bytes that the class with the least weight may send per turn; 64 B or more.
    #[serde(default = "quantum")]
    pub quantum: Bytes,
}

fn quantum() -> Bytes {
    Bytes::new(1514)
}

impl Checked for DrrConfig {
    fn check(&self) -> Result<(), ConfigError> {
        class_map::check_classes(&self.classes, true)?;
        class_map::check_without_priority(&self.classes, "drr")?;
        if !(64..=1 << 30).contains(&self.quantum.get()) {
            return Err(ConfigError::new("quantum", self.quantum, "64 B to 1 GB", "quantum = \"1514 B\""));
        }
        Ok(())
    }
}

impl Law for DrrConfig {
    const NAME: &'static str = "drr";
    const EXAMPLE: &'static str =
        r#"{"classes": [{"name": "voice", "match": {"dscp": "ef"}, "weight": 3}, {"name": "data"}]}"#;
}

impl DisciplineLaw for DrrConfig {
    type Discipline = DropTail;
    const NATURE: Nature = NATURE;

    fn class_map(&self) -> Option<ClassMap> {
        let classes = class_map::complete(&self.classes);
        let weights: Vec<f64> = classes.iter().map(ClassConfig::share).collect();
        let scheduler = Box::new(DeficitRounds::new(&weights, self.quantum.get()));
        Some(ClassMap { classes, scheduler })
    }

    fn fits(&self, capacity: Capacity, rate: Option<Rate>) -> Result<(), ConfigError> {
        class_map::fit(&self.classes, capacity, rate)
    }

    fn marks(&self) -> bool {
        class_map::marks(&self.classes)
    }

    fn lists(&self) -> u64 {
        class_map::lists(&self.classes)
    }

    fn discipline(&self, _capacity: Capacity, _rate: Rate) -> DropTail {
        DropTail
    }
}

/// State of the scheduler.
#[derive(Clone, Debug)]
struct DeficitRounds {
    quanta: Vec<i64>,
    deficits: Vec<i64>,
    /// Classes with waiting packets, in the order of their turns; the current one is first.
    round: VecDeque<usize>,
}

impl DeficitRounds {
    fn new(weights: &[f64], quantum: u64) -> Self {
        let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let quanta = weights.iter().map(|weight| libm::round(quantum as f64 * weight / least).max(1.0) as i64);
        DeficitRounds { quanta: quanta.collect(), deficits: vec![0; weights.len()], round: VecDeque::new() }
    }
}

impl Scheduler for DeficitRounds {
    fn arrived(&mut self, class: usize) {
        self.deficits[class] = self.quanta[class];
        self.round.push_back(class);
    }

    fn choose(&mut self, ready: ClassSet) -> usize {
        loop {
            let Some(&class) = self.round.front() else { return first(ready) };
            if ready >> class & 1 == 0 {
                // The class holds its packets back, and keeps its deficit.
                self.round.rotate_left(1);
            } else if self.deficits[class] > 0 {
                return class;
            } else {
                self.deficits[class] += self.quanta[class];
                self.round.rotate_left(1);
            }
        }
    }

    fn sent(&mut self, class: usize, bytes: u64) {
        self.deficits[class] -= bytes as i64;
    }

    fn emptied(&mut self, class: usize, _idle: bool) {
        self.round.retain(|known| *known != class);
    }
}

#[cfg(test)]
#[path = "drr_tests.rs"]
mod tests;
