//! Weighted fair queueing: classes share the link by their weights, packet by packet; other classes use the share of an idle
//! class.
//!
//! Follows start-time fair queueing (Goyal, Vin & Cheng, "Start-time Fair Queueing", SIGCOMM 1996, §2). A packet's start tag
//! is the virtual time at which it reaches the head of its class, or the finish tag of the previous packet if that is
//! larger. Its finish tag is the start tag plus length / weight. The packet with the smallest start tag is sent next; on
//! equal tags, that of the earlier class. Virtual time is the start tag of the packet in transmission. This algorithm works
//! on a link with a variable rate. It need not know the length of the next packet, which the class's discipline may still
//! drop.
//!
//! While two classes are backlogged, their amounts per weight in any interval differ by at most l₁/w₁ + l₂/w₂. Here l₁ and
//! l₂ are the lengths of their largest packets (Theorem 1).
//!
//! **Deviations.** Tags restart from zero when no packet waits, which does not change the order. In the paper, virtual time
//! continues from the largest finish tag. A class that its shaper held back returns with the current virtual time, so that
//! it does not catch up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::class_map::{self, ClassConfig, ClassMap};
use super::config::Capacity;
use super::discipline::{DisciplineLaw, Nature};
use super::drop_tail::DropTail;
use super::priority::NATURE;
use super::scheduler::{ClassSet, Scheduler};
use fairwave_units::config::ConfigError;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Rate;

/// Weighted fair queueing among classes. It sorts packets by DSCP into classes. Classes with packets share the link by
/// their weights.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WfqConfig {
    /// The classes; each with `name`, `match`, `weight`, `police`, `shape`, `queue`.
    pub classes: Vec<ClassConfig>,
}

impl Checked for WfqConfig {
    fn check(&self) -> Result<(), ConfigError> {
        class_map::check_classes(&self.classes, true)?;
        class_map::check_without_priority(&self.classes, "wfq")
    }
}

impl Law for WfqConfig {
    const NAME: &'static str = "wfq";
    const EXAMPLE: &'static str =
        r#"{"classes": [{"name": "voice", "match": {"dscp": "ef"}, "weight": 3}, {"name": "data"}]}"#;
}

impl DisciplineLaw for WfqConfig {
    type Discipline = DropTail;
    const NATURE: Nature = NATURE;

    fn class_map(&self) -> Option<ClassMap> {
        let classes = class_map::complete(&self.classes);
        let scheduler = Box::new(FairQueue::new(classes.iter().map(ClassConfig::share)));
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

/// A class's tags.
#[derive(Clone, Copy, Debug)]
struct Tags {
    weight: f64,
    /// Start tag of the packet at the head.
    start: f64,
    /// Finish tag of the packet that was sent last.
    finish: f64,
}

/// State of start-time fair queueing.
#[derive(Clone, Debug)]
pub(super) struct FairQueue {
    classes: Vec<Tags>,
    /// Virtual time, in bytes per unit of weight.
    now: f64,
}

impl FairQueue {
    /// Returns empty classes with these weights.
    pub fn new(weights: impl Iterator<Item = f64>) -> Self {
        FairQueue { classes: weights.map(|weight| Tags { weight, start: 0.0, finish: 0.0 }).collect(), now: 0.0 }
    }
}

impl Scheduler for FairQueue {
    fn arrived(&mut self, class: usize) {
        let now = self.now;
        if let Some(tags) = self.classes.get_mut(class) {
            tags.start = now.max(tags.finish);
        }
    }

    fn choose(&mut self, ready: ClassSet) -> usize {
        let mut chosen = (0, f64::INFINITY);
        for (place, tags) in self.classes.iter_mut().enumerate().filter(|(place, _)| ready >> place & 1 == 1) {
            // In the past only if the class was held back.
            tags.start = tags.start.max(self.now);
            if tags.start < chosen.1 {
                chosen = (place, tags.start);
            }
        }
        if chosen.1.is_finite() {
            self.now = chosen.1;
        }
        chosen.0
    }

    fn sent(&mut self, class: usize, bytes: u64) {
        if let Some(tags) = self.classes.get_mut(class) {
            tags.finish = tags.start + bytes as f64 / tags.weight;
            tags.start = tags.finish;
        }
    }

    fn emptied(&mut self, _class: usize, idle: bool) {
        if idle {
            self.now = 0.0;
            self.classes.iter_mut().for_each(|tags| (tags.start, tags.finish) = (0.0, 0.0));
        }
    }
}

#[cfg(test)]
#[path = "wfq_tests.rs"]
mod tests;
