//! Strict priority: the first class with waiting packets sends next.
//!
//! A transmission is not interrupted, so a class waits for at most one packet of a lower class. Cobham's formula (1954)
//! gives the mean waiting times of M/G/1 with such priorities; the tests check against it. A class can starve all lower
//! classes: use `llq` to prevent that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::class_map::{self, ClassConfig, ClassMap};
use super::config::Capacity;
use super::discipline::{DisciplineLaw, Nature};
use super::drop_tail::DropTail;
use super::scheduler::{ClassSet, Scheduler, first};
use fairwave_units::config::ConfigError;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Rate;

/// Properties of disciplines with classes.
pub(super) const NATURE: Nature = Nature {
    fifo: false,
    own_victim: Some("each class's queue names its own: classes = [{ name = …, queue = { victim = … } }]"),
    by_host: true,
    ..Nature::FIFO
};

/// Strict priority among classes. It sorts packets by DSCP into classes. The first class with packets sends, in the
/// order in which you write the classes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PriorityConfig {
    /// The classes, highest priority first; each with `name`, `match`, `police`, `shape`, `queue`.
    pub classes: Vec<ClassConfig>,
}

impl Checked for PriorityConfig {
    fn check(&self) -> Result<(), ConfigError> {
        class_map::check_classes(&self.classes, false)?;
        class_map::check_without_priority(&self.classes, "priority")
    }
}

impl Law for PriorityConfig {
    const NAME: &'static str = "priority";
    const EXAMPLE: &'static str =
        r#"{"classes": [{"name": "voice", "match": {"dscp": "ef"}}, {"name": "data", "queue": "fq-codel"}]}"#;
}

impl DisciplineLaw for PriorityConfig {
    type Discipline = DropTail;
    const NATURE: Nature = NATURE;

    fn class_map(&self) -> Option<ClassMap> {
        Some(ClassMap { classes: class_map::complete(&self.classes), scheduler: Box::new(Priority) })
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

/// The scheduler.
struct Priority;

impl Scheduler for Priority {
    fn choose(&mut self, ready: ClassSet) -> usize {
        first(ready)
    }
}

#[cfg(test)]
#[path = "priority_tests.rs"]
mod tests;
