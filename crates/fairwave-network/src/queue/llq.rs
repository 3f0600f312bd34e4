//! Low latency queueing: policed classes with strict priority, and weighted fair queueing for all others.
//!
//! Deployed routers call this LLQ. It implements RFC 3246's expedited forwarding by a strict priority queue. A policer
//! limits the load of that queue so that it cannot starve the others. Classes with priority go first, in the scenario's
//! order. The other classes share the remaining rate by start-time fair queueing ([`super::wfq`]).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::class_map::{self, ClassConfig, ClassMap};
use super::config::Capacity;
use super::discipline::{DisciplineLaw, Nature};
use super::drop_tail::DropTail;
use super::priority::NATURE;
use super::scheduler::{ClassSet, Scheduler, first};
use super::wfq::FairQueue;
use fairwave_units::config::ConfigError;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Rate;

/// Low latency queueing. Classes with priority go first; policers keep them from starving the others. The other classes
/// share the rest by their weights. Routers use it for voice.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LlqConfig {
    /// The classes, at least one of them with `priority = true`; each with `name`, `match`, `police`, `shape`, `queue`, those without
    /// priority with `weight`.
    pub classes: Vec<ClassConfig>,
}

impl Checked for LlqConfig {
    fn check(&self) -> Result<(), ConfigError> {
        class_map::check_classes(&self.classes, true)?;
        if !self.classes.iter().any(|class| class.priority) {
            let allowed =
                "classes with at least one `priority = true`; for classes without priority use `wfq` or `drr`";
            let example =
                "{ name = \"voice\", match = { dscp = \"ef\" }, priority = true, police = { rate = \"30 %\" } }";
            return Err(ConfigError::new("classes", "without priority", allowed, example));
        }
        Ok(())
    }
}

impl Law for LlqConfig {
    const NAME: &'static str = "llq";
    const EXAMPLE: &'static str = r#"{"classes": [{"name": "voice", "match": {"dscp": "ef"}, "priority": true, "police": {"rate": "30 %"}},
        {"name": "data", "queue": "fq-codel"}]}"#;
}

impl DisciplineLaw for LlqConfig {
    type Discipline = DropTail;
    const NATURE: Nature = NATURE;

    fn class_map(&self) -> Option<ClassMap> {
        let classes = class_map::complete(&self.classes);
        let urgent = classes.iter().enumerate().filter(|(_, class)| class.priority);
        let urgent = urgent.fold(0, |set, (place, _)| set | 1 << place);
        let rest = FairQueue::new(classes.iter().map(ClassConfig::share));
        Some(ClassMap { classes, scheduler: Box::new(LowLatency { urgent, rest }) })
    }

    fn fits(&self, capacity: Capacity, rate: Option<Rate>) -> Result<(), ConfigError> {
        class_map::fit(&self.classes, capacity, rate)
    }

    fn caution(&self) -> Option<String> {
        let free =
            self.classes.iter().find(|class| class.priority && class.police.is_none() && class.shape.is_none())?;
        Some(format!(
            "the class `{}` has priority and no policer: while it fills the link, all other classes starve. Write for example police = \
             {{ rate = \"30 %\" }}",
            free.name
        ))
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

/// Strict priority for some classes, fair queueing for the others.
struct LowLatency {
    urgent: ClassSet,
    rest: FairQueue,
}

impl LowLatency {
    fn is_urgent(&self, class: usize) -> bool {
        self.urgent >> class & 1 == 1
    }
}

impl Scheduler for LowLatency {
    fn arrived(&mut self, class: usize) {
        if !self.is_urgent(class) {
            self.rest.arrived(class);
        }
    }

    fn choose(&mut self, ready: ClassSet) -> usize {
        match ready & self.urgent {
            0 => self.rest.choose(ready),
            urgent => first(urgent),
        }
    }

    fn sent(&mut self, class: usize, bytes: u64) {
        if !self.is_urgent(class) {
            self.rest.sent(class, bytes);
        }
    }

    fn emptied(&mut self, class: usize, idle: bool) {
        self.rest.emptied(class, idle);
    }
}

#[cfg(test)]
#[path = "llq_tests.rs"]
mod tests;
