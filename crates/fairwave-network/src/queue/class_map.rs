//! Class maps: the classes into which a link sorts packets, with the policer, shaper and queue of each class.
//!
//! A packet belongs to the first class that it matches, in the scenario's order. A class without `match` accepts every
//! packet. If no class does, the map gets one more class, `default`, for all remaining packets: weight 1, no priority,
//! drop-tail.

use std::collections::BTreeSet;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::DisciplineConfig;
use super::config::{Capacity, QueueConfig};
use super::police::PoliceConfig;
use super::scheduler::Scheduler;
use super::shape::ShapeConfig;
use crate::dscp::Dscp;
use crate::packet::Class;
use fairwave_units::config::ConfigError;
use fairwave_units::units::Rate;

/// Upper limit of the number of classes.
pub const MOST_CLASSES: usize = 32;

/// Name of the class for packets that match no other class.
pub const DEFAULT_CLASS: &str = "default";

/// Which packets belong to a class: those that match every key. A key lists the values that match; a key that is left
/// out matches everything.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// Code points: `"ef"`, or `["ef", "cs5", 44]`.
    #[serde(default, deserialize_with = "deserialize_list", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "OneOrSeveral<Dscp>")]
    pub dscp: Vec<Dscp>,
    /// Traffic classes: `"voice"`, `"other-udp"`, `"tcp"`, or several of them.
    #[serde(default, deserialize_with = "deserialize_list", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "OneOrSeveral<Class>")]
    pub class: Vec<Class>,
}

/// Schema of a list that may also be written as a single value.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // its schema alone is used
enum OneOrSeveral<T> {
    One(T),
    Several(Vec<T>),
}

fn deserialize_list<'de, D: Deserializer<'de>, T: serde::de::DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let items = match Value::deserialize(deserializer)? {
        Value::Array(items) => items,
        one => vec![one],
    };
    items.into_iter().map(|item| serde_json::from_value(item).map_err(D::Error::custom)).collect()
}

impl Match {
    fn takes_everything(&self) -> bool {
        self.dscp.is_empty() && self.class.is_empty()
    }

    fn takes(&self, dscp: Dscp, class: Class) -> bool {
        (self.dscp.is_empty() || self.dscp.contains(&dscp)) && (self.class.is_empty() || self.class.contains(&class))
    }
}

/// The queue of a class: like a link's `queue`, but with an optional buffer size. The default is the size of the map's
/// buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassQueue {
    /// Has the map's buffer if the class gives none.
    queue: QueueConfig,
    has_capacity: bool,
}

impl ClassQueue {
    /// The queue, if the map's buffer is `capacity`.
    pub fn queue_config(&self, capacity: Capacity) -> QueueConfig {
        if self.has_capacity { self.queue.clone() } else { self.queue.with_capacity(capacity) }
    }
}

impl Default for ClassQueue {
    /// Drop-tail with the map's buffer.
    fn default() -> Self {
        ClassQueue {
            queue: QueueConfig::new(Capacity::Packets(u32::MAX), super::DropTailConfig {}),
            has_capacity: false,
        }
    }
}

const CAPACITY: &str = "capacity";

impl Serialize for ClassQueue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut queue = serde_json::to_value(&self.queue).map_err(serde::ser::Error::custom)?;
        if let Some(table) = queue.as_object_mut().filter(|_| !self.has_capacity) {
            table.remove(CAPACITY);
        }
        queue.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ClassQueue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tag = DisciplineConfig::TAG;
        let mut table = match Value::deserialize(deserializer)? {
            Value::String(name) => Map::from_iter([(tag.to_owned(), Value::from(name))]),
            Value::Object(table) => table,
            other => {
                let message =
                    format!("invalid type: {other}, expected the name of a queue discipline or a table with `{tag}`");
                return Err(D::Error::custom(message));
            }
        };
        table.entry(tag).or_insert_with(|| Value::from("drop-tail"));
        let has_capacity = table.contains_key(CAPACITY);
        if !has_capacity {
            table.insert(CAPACITY.to_owned(), serde_json::json!({ "packets": u32::MAX }));
        }
        let queue = serde_json::from_value(Value::Object(table)).map_err(D::Error::custom)?;
        Ok(ClassQueue { queue, has_capacity })
    }
}

impl JsonSchema for ClassQueue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ClassQueue".into()
    }

    // Not expanded, because the schema is recursive: queues may contain classes, and classes contain queues.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = DisciplineConfig::names();
        json_schema!({
            "description": "The queue of the class, written like a link's `queue`. Without a capacity it has that of the class map.",
            "anyOf": [
                { "type": "string", "enum": names },
                { "type": "object", "properties": { "discipline": { "type": "string", "enum": names } } },
            ],
        })
    }
}

/// A class of a class map.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ClassConfig {
    /// The name of the class in results.
    pub name: String,
    /// Which packets belong to the class; all that no earlier class takes, when left out.
    #[serde(default, rename = "match", skip_serializing_if = "is_default")]
    pub matches: Match,
    /// In `llq`: the class is served before all classes without priority.
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority: bool,
    /// Weight of the class relative to the others, above 0; 1 when left out. Not allowed in `priority`, nor for a class
    /// with priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Polices arrivals: discards or remarks packets above the rate before they wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub police: Option<PoliceConfig>,
    /// Shapes departures: holds packets above the rate in the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<ShapeConfig>,
    /// The queue of the class: any discipline with any victim rule, `"fq-codel"` or a table; drop-tail when left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub queue: ClassQueue,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl ClassConfig {
    /// Weight relative to the other classes.
    pub fn share(&self) -> f64 {
        self.weight.unwrap_or(1.0)
    }

    /// The class `default`, which accepts every packet.
    fn catching_all() -> ClassConfig {
        ClassConfig {
            name: DEFAULT_CLASS.to_owned(),
            matches: Match::default(),
            priority: false,
            weight: None,
            police: None,
            shape: None,
            queue: ClassQueue::default(),
        }
    }
}

/// Classes and their scheduler, as a discipline with classes returns them.
pub struct ClassMap {
    /// The classes; one of them accepts every packet.
    pub classes: Vec<ClassConfig>,
    /// Which class sends next.
    pub scheduler: Box<dyn Scheduler>,
}

impl ClassMap {
    /// Index of the class for packets with this code point and traffic class.
    pub fn class_of(classes: &[ClassConfig], dscp: Dscp, class: Class) -> usize {
        let found = classes.iter().position(|own| own.matches.takes(dscp, class));
        found.unwrap_or(classes.len().saturating_sub(1))
    }
}

/// Returns the classes as written, plus `default` if none of them accepts every packet.
pub(super) fn complete(classes: &[ClassConfig]) -> Vec<ClassConfig> {
    let mut complete = classes.to_vec();
    if !classes.iter().any(|class| class.matches.takes_everything()) {
        complete.push(ClassConfig::catching_all());
    }
    complete
}

const EXAMPLE: &str = "classes = [{ name = \"voice\", match = { dscp = \"ef\" } }, { name = \"data\" }]";

/// Checks that the names differ and that packets can reach every class.
pub(super) fn check_classes(classes: &[ClassConfig], weighted: bool) -> Result<(), ConfigError> {
    if classes.is_empty() || classes.len() > MOST_CLASSES {
        let allowed = format!("1 to {MOST_CLASSES} classes");
        return Err(ConfigError::new("classes", format!("a list of {}", classes.len()), allowed, EXAMPLE));
    }
    let mut names = BTreeSet::new();
    let mut everything: Option<&str> = None;
    for (place, class) in classes.iter().enumerate() {
        let at = |error: ConfigError| error.nested_in(&format!("classes.{place}"));
        let refuse = |key: &str, value: String, allowed: &str, example: &str| {
            Err(at(ConfigError::new(key, value, allowed, example)))
        };
        let name = class.name.as_str();
        if name.trim().is_empty() || name.contains(['.', '/', '*']) || name.parse::<usize>().is_ok() {
            let allowed = "a text that is no number, without `.`, `/` and `*`";
            return refuse("name", format!("\"{name}\""), allowed, "name = \"voice\"");
        }
        if !names.insert(name) {
            return refuse("name", format!("\"{name}\" twice"), "a name of its own for each class", "name = \"data\"");
        }
        if let Some(all) = everything {
            let allowed = format!("before `{all}`, which takes everything: no packet would reach it");
            return refuse("name", format!("\"{name}\""), &allowed, EXAMPLE);
        }
        if class.matches.takes_everything() {
            everything = Some(name);
        }
        match class.weight {
            Some(weight) if !weighted => {
                let allowed = "left out in `priority`, which serves classes in the order in which you write them";
                return refuse("weight", weight.to_string(), allowed, "discipline = \"wfq\"");
            }
            Some(weight) if class.priority => {
                let allowed = "left out for a class with `priority`, which goes before all weights";
                return refuse("weight", weight.to_string(), allowed, "police = { rate = \"30 %\" }");
            }
            Some(weight) if !(weight > 0.0 && weight.is_finite() && (1e-6..=1e6).contains(&weight)) => {
                let allowed = "above 0 (0.000001 to 1000000): a class of weight 0 would never send";
                return refuse("weight", weight.to_string(), allowed, "weight = 3");
            }
            _ => {}
        }
        if let Some(police) = &class.police {
            police.check().map_err(|error| at(error.nested_in("police")))?;
        }
        if let Some(shape) = &class.shape {
            shape.check().map_err(|error| at(error.nested_in("shape")))?;
        }
    }
    Ok(())
}

/// Rejects `priority = true` for disciplines without priority.
pub(super) fn check_without_priority(classes: &[ClassConfig], name: &str) -> Result<(), ConfigError> {
    match classes.iter().position(|class| class.priority) {
        Some(place) => {
            let allowed = format!("left out in `{name}`; `llq` has classes with priority");
            let error = ConfigError::new("priority", true, allowed, "discipline = \"llq\"");
            Err(error.nested_in(&format!("classes.{place}")))
        }
        None => Ok(()),
    }
}

/// Checks that the queue of each class fits the map's buffer and the link.
pub(super) fn fit(classes: &[ClassConfig], capacity: Capacity, rate: Option<Rate>) -> Result<(), ConfigError> {
    for (place, class) in classes.iter().enumerate() {
        let queue = class.queue.queue_config(capacity);
        let checked = match rate {
            Some(rate) => queue.check_before(rate),
            None => queue.check(),
        };
        checked.map_err(|error| error.nested_in(&format!("classes.{place}.queue")))?;
    }
    Ok(())
}

/// Number of lists that the queues of the classes allocate.
pub(super) fn lists(classes: &[ClassConfig]) -> u64 {
    classes.iter().map(|class| class.queue.queue.discipline.lists()).sum()
}

/// Whether one of the classes' queues marks.
pub(super) fn marks(classes: &[ClassConfig]) -> bool {
    classes.iter().any(|class| class.queue.queue.discipline.marks())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn class(json: Value) -> ClassConfig {
        serde_json::from_value(json).expect("a class")
    }

    #[test]
    fn a_class_named_default_takes_what_matches_none_unless_another_takes_everything() {
        let voice = class(json!({"name": "voice", "match": {"dscp": "ef"}, "police": {"rate": "30 %"}}));
        let classes = complete(std::slice::from_ref(&voice));
        assert_eq!((classes.len(), classes[1].name.as_str()), (2, DEFAULT_CLASS));
        assert!(classes[1].matches.takes_everything() && classes[1].police.is_none());
        assert_eq!(ClassMap::class_of(&classes, Dscp::EF, Class::Tcp), 0);
        assert_eq!(ClassMap::class_of(&classes, Dscp::default(), Class::Tcp), 1);
        let data = class(json!({"name": "data"}));
        assert_eq!(complete(&[voice.clone(), data.clone()]), [voice, data]);
    }
}
