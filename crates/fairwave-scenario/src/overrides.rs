//! Overrides: a copy of a scenario with some values changed, for grids and command lines.
//!
//! A dotted path names a value: `duration`, `topology.shared-bottleneck.rate`, `flow.voice.count`,
//! `flow.voice.transport`, `link.r1>r2.queue.capacity.packets`. Names select groups of flows and events, and `FROM>TO`
//! as written selects links. `flow.*.timely` changes all groups. An index can replace a name (`flow.0.count`).

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::error::{Problem, ScenarioError};
use crate::exchange::{Exchange, exchanged, tag_of};
use crate::model::Scenario;
use crate::path::{Path, Step};
use crate::renames::{self, Found, RENAMES};
use crate::suggest::{list, nearest};
use crate::tree::Tree;

impl Scenario {
    /// Returns a checked copy of the scenario with these values. A missing key is added. An existing value, including a
    /// table, is replaced completely. A law's name alone replaces the law and keeps the parameters common to both laws:
    /// `queue = "codel"` keeps the buffer ([`Scenario::kept`]). `null` removes a key, so that its default applies.
    ///
    /// # Errors
    /// A path that does not exist, or any mistake in the new scenario.
    pub fn with_overrides(&self, overrides: &[(&str, Value)]) -> Result<Scenario, ScenarioError> {
        let mut whole = serde_json::to_value(self).map_err(|error| {
            self.error(vec![Problem::new(Path::default(), format!("this scenario cannot be written out: {error}"))])
        })?;
        let mut origin = (*self.origin).clone();
        let mut problems = Vec::new();
        // The key that names the law must come before the law's parameters.
        let mut overrides: Vec<&(&str, Value)> = overrides.iter().collect();
        overrides.sort_by_key(|(dotted, _)| is_within_law(dotted));
        for (dotted, value) in overrides {
            let mut changed = OverrideResult::default();
            match set(&mut whole, Path::default(), &dotted.split('.').collect::<Vec<_>>(), value, &mut changed) {
                Ok(()) => {
                    changed.paths.into_iter().for_each(|path| origin.set_overridden(path));
                    origin.renamed.extend(changed.renamed);
                    origin.kept.remove(*dotted);
                    origin.kept.extend(changed.words.map(|words| ((*dotted).to_owned(), words)));
                }
                Err(mut problem) => {
                    problem.message = format!("override `{dotted}`: {}", problem.message);
                    problems.push(*problem);
                }
            }
        }
        if !problems.is_empty() {
            return Err(ScenarioError::new(Arc::new(origin), problems));
        }
        let mut tree = Tree::from_value(&whole, &Path::default(), &|path| origin.places(path));
        let renamed = renames::apply(&mut tree, &origin.file, RENAMES);
        Scenario::from_parts(tree, origin, renamed)
    }

    /// Lists, for overrides that gave only a law's name, the parameters kept and dropped: one sentence each.
    pub fn kept(&self) -> Vec<String> {
        self.origin.kept.iter().map(|(key, words)| format!("`{key}`: {words}")).collect()
    }

    /// Converts the text of an override, for example from the command line, to a value. `40`, `true` and
    /// `{ packets = 50 }` are read as TOML. `null` means no value. Any other text stands for itself (`2 Mb/s`,
    /// `tcp/vegas`).
    pub fn override_value(text: &str) -> Value {
        if text.trim() == "null" {
            return Value::Null;
        }
        match Tree::from_toml(&format!("value = {text}")) {
            Ok(tree) => match tree.to_value() {
                Value::Object(mut table) if table.len() == 1 => table.remove("value").unwrap_or(Value::Null),
                _ => Value::from(text),
            },
            Err(_) => Value::from(text),
        }
    }
}

/// True for a key that is a law's parameter, rather than the law itself or the key that names it.
fn is_within_law(dotted: &str) -> bool {
    let keys: Vec<&str> = dotted.split('.').collect();
    keys.iter().enumerate().any(|(place, key)| {
        let within = keys.get(place + 1..).unwrap_or_default();
        tag_of(key).is_some_and(|tag| !within.is_empty() && within != [tag])
    })
}

/// Result of an override.
#[derive(Default)]
struct OverrideResult {
    /// Paths to which the text no longer applies.
    paths: Vec<Path>,
    /// If the override replaced a law: the parameters kept and dropped.
    words: Option<String>,
    /// Old keys that were read as new ones: place and text.
    renamed: Vec<(String, String)>,
}

fn set(
    at: &mut Value,
    path: Path,
    keys: &[&str],
    value: &Value,
    changed: &mut OverrideResult,
) -> Result<(), Box<Problem>> {
    let Some((key, rest)) = keys.split_first() else {
        let exchange = match (&*at, value, path.last_key()) {
            (Value::Object(old), Value::String(name), Some(key)) if !old.is_empty() => exchanged(key, old, name),
            _ => None,
        };
        *at = match exchange {
            Some(Exchange { table, words }) => {
                changed.words = changed.words.take().or(words);
                Value::Object(table)
            }
            None => value.clone(),
        };
        changed.paths.push(path);
        return Ok(());
    };
    if key.is_empty() {
        return Err(Box::new(Problem::new(path, "a key is empty").help("write for example `flow.voice.count`")));
    }
    match at {
        Value::Array(items) => {
            let all = *key == "*";
            let named: Vec<usize> =
                (0..items.len()).filter(|&i| all || items.get(i).is_some_and(|item| name_of(item) == *key)).collect();
            let chosen = match key.parse::<usize>() {
                Ok(index) if named.is_empty() && index < items.len() => vec![index],
                _ => named,
            };
            if chosen.is_empty() {
                let names: Vec<String> = items.iter().map(name_of).collect();
                let names = || names.iter().map(String::as_str);
                let what = match path.last_key() {
                    Some("flow") => "group of flows",
                    Some("link") => "link",
                    Some("event") => "event",
                    _ => "entry",
                };
                let problem = Problem::new(path, format!("there is no {what} named `{key}`")).allowed(list(names()));
                return Err(Box::new(match nearest(key, names()) {
                    Some(near) => problem.help(format!("did you mean `{near}`?")),
                    None => problem,
                }));
            }
            for index in chosen {
                if let Some(item) = items.get_mut(index) {
                    set(item, path.index(index), rest, value, changed)?;
                }
            }
            Ok(())
        }
        Value::Object(table) => {
            if let Some(rename) = renames::find(table, &path, key) {
                let new =
                    if rest.is_empty() && !value.is_null() { (rename.convert)(value) } else { Some(value.clone()) };
                let found = Found { table: path.clone(), rename, value: new };
                changed.renamed.push(found.warning(None));
                if let Some(new) = &found.value {
                    return set(at, path, &[&[rename.new], rest].concat(), new, changed);
                }
            }
            let inner = path.step(Step::Key((*key).to_owned()));
            if rest.is_empty() && value.is_null() {
                table.remove(*key);
                changed.paths.push(inner);
                return Ok(());
            }
            // The key that names a law replaces the law, as the name alone does.
            if rest.is_empty()
                && let (Value::String(_), Some(law)) = (value, path.last_key())
                && tag_of(law) == Some(*key)
            {
                return set(at, path, &[], value, changed);
            }
            // `flow`, `link` and `event` are lists. In an empty list there is no element to select.
            if path.steps().is_empty()
                && matches!(*key, "flow" | "link" | "event")
                && !table.contains_key(*key)
                && !rest.is_empty()
            {
                let problem = Problem::new(inner, format!("this scenario has no [[{key}]]"));
                return Err(Box::new(match table.get("topology").filter(|_| *key == "link") {
                    Some(topology) => problem.help(key_of_preset(topology, rest)),
                    None => problem,
                }));
            }
            if let [law] = rest {
                inherit(table, key, law);
            }
            set(table.entry(*key).or_insert_with(|| Value::Object(Map::new())), inner, rest, value, changed)
        }
        other => {
            let written = other.to_string();
            let key = path.last_key().unwrap_or("this").to_owned();
            Err(Box::new(
                Problem::new(path, format!("`{key}` is {written} and has no keys of its own"))
                    .help(format!("give all of `{key}` a new value")),
            ))
        }
    }
}

/// The preset's key for a link: `topology.bottleneck.rate` for `link.r1>r2.rate`.
fn key_of_preset(topology: &Value, rest: &[&str]) -> String {
    let named = |key: &str| topology.get(key).and_then(Value::as_str).unwrap_or_default();
    let two = matches!(named("preset"), "two-bottleneck" | "cross-traffic" | "reverse-traffic");
    let (link, keys) = rest.split_first().map_or(("", &[][..]), |(link, keys)| (*link, keys));
    let (from, to) = link.split_once('>').unwrap_or_default();
    let mut ends = [from, to];
    ends.sort_unstable();
    let key = match (ends, two) {
        (["r1", "r2"], true) => Some("first-bottleneck"),
        (["r2", "r3"], true) => Some("shared-bottleneck"),
        (["r1", "r2"], false) => Some("bottleneck"),
        ([a, b], false) if named("preset") == "multi-hop" && a.starts_with('r') && b.starts_with('r') => {
            Some("bottleneck")
        }
        _ => None,
    };
    let way = if from > to { ".reverse" } else { "" };
    match key {
        Some(key) => {
            let rest: String = keys.iter().map(|key| format!(".{key}")).collect();
            format!("the links come from the preset: write `topology.{key}{way}{rest}`")
        }
        None => {
            "the links come from the preset: `topology.access` sets those of hosts, `topology.bottleneck` the others"
                .to_owned()
        }
    }
}

/// Writes the law that the table under `key` inherits into this table, so that an override finds the law to replace. A
/// reverse direction inherits its queue from the forward direction, a preset's access links from `access`.
fn inherit(table: &mut Map<String, Value>, key: &str, law: &str) {
    let from = match key {
        "reverse" => table.get(law),
        "source-access" | "sink-access" => table.get("access").and_then(|access| access.get(law)),
        _ => None,
    };
    let Some(inherited) = from.filter(|value| value.is_object()).cloned() else { return };
    let own = table.entry(key).or_insert_with(|| Value::Object(Map::new()));
    if let Some(own) = own.as_object_mut() {
        own.entry(law).or_insert(inherited);
    }
}

/// Name of a list element: a group's name, or both ends of a link.
fn name_of(item: &Value) -> String {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    match (text("name"), text("from"), text("to")) {
        (Some(name), ..) => name.to_owned(),
        (None, Some(from), Some(to)) => format!("{from}>{to}"),
        _ => String::new(),
    }
}
