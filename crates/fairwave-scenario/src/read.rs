//! From text to scenario. The reader reports all mistakes of form at once: it records each part that it cannot read, removes it,
//! and reads the rest again.

use std::sync::Arc;

use fairwave_core::units::Span;
use serde_json::Value;
use serde_path_to_error::Segment;

use crate::cost;
use crate::error::{Problem, ScenarioError};
use crate::foreign;
use crate::model::Scenario;
use crate::origin::Origin;
use crate::path::{Path, Step};
use crate::renames::{self, Outcome, RENAMES};
use crate::suggest::nearest;
use crate::topology::Preset;
use crate::tree::{Data, Entry, Tree};
use crate::version;

/// The reader stops after this many problems: users start with the first.
const MOST_PROBLEMS: usize = 20;

impl Scenario {
    /// Reads and checks a scenario in TOML. `file` is the name in messages.
    ///
    /// # Errors
    /// All mistakes found, each with its line.
    pub fn from_toml(text: &str, file: &str) -> Result<Scenario, ScenarioError> {
        Self::from_tree(Tree::from_toml(text), Origin::from_text(file, text))
    }

    /// Reads and checks a scenario in JSON. `file` is the name in messages.
    ///
    /// # Errors
    /// All mistakes found, each with its line.
    pub fn from_json(text: &str, file: &str) -> Result<Scenario, ScenarioError> {
        Self::from_tree(Tree::from_json(text), Origin::from_text(file, text))
    }

    /// Reads JSON or TOML: JSON if the file name ends in `.json` or the text begins with `{`.
    ///
    /// # Errors
    /// All mistakes found, each with its line.
    pub fn from_text(text: &str, file: &str) -> Result<Scenario, ScenarioError> {
        Self::from_tree(parse(text, file), Origin::from_text(file, text))
    }

    fn from_tree(tree: Result<Tree, Vec<Problem>>, mut origin: Origin) -> Result<Scenario, ScenarioError> {
        match tree {
            Ok(mut tree) => {
                let renamed = renames::apply(&mut tree, &origin.file, RENAMES);
                origin.learn(&Path::default(), None, tree.place.clone());
                tree.walk(&Path::default(), &mut |path, key, value| {
                    origin.learn(path, key.clone(), value.place.clone());
                });
                Self::from_parts(tree, origin, renamed)
            }
            Err(problems) => Err(ScenarioError::new(Arc::new(origin), problems)),
        }
    }

    pub(crate) fn from_parts(tree: Tree, mut origin: Origin, renamed: Outcome) -> Result<Scenario, ScenarioError> {
        origin.renamed.extend(renamed.warnings);
        let origin = Arc::new(origin);
        if let Some(newer) = version::refuse_newer(&tree) {
            return Err(ScenarioError::new(origin, vec![newer]));
        }
        match read(tree) {
            Ok(mut scenario) if renamed.problems.is_empty() => {
                scenario.origin = origin;
                scenario.check()?;
                Ok(scenario)
            }
            Ok(_) => Err(ScenarioError::new(origin, renamed.problems)),
            Err(problems) => Err(ScenarioError::new(origin, [renamed.problems, problems].concat())),
        }
    }

    /// Warnings about old keys that were read as new ones: place and text. [`Scenario::upgrade`] rewrites them.
    pub fn renamed_keys(&self) -> &[(String, String)] {
        &self.origin.renamed
    }
}

/// True if the text is read as JSON: the file name ends in `.json`, or the text begins with `{`.
pub(crate) fn is_json(file: &str, text: &str) -> bool {
    file.ends_with(".json") || (!file.ends_with(".toml") && text.trim_start().starts_with('{'))
}

/// Parses JSON or TOML.
pub(crate) fn parse(text: &str, file: &str) -> Result<Tree, Vec<Problem>> {
    if is_json(file, text) { Tree::from_json(text) } else { Tree::from_toml(text) }
}

/// The transport of flows from programs, and the flow keys that replace it.
const PROGRAM: &str = "host/program";
const PROGRAM_KEYS: [&str; 2] = ["command", "serve"];

/// Expands flows with `command` or `serve` instead of a transport: these keys move to the transport for programs. The traffic
/// defaults to `bulk`.
fn spell_out_programs(tree: &mut Tree) {
    let Data::Table(entries) = &mut tree.data else { return };
    let Some(flows) = entries.iter_mut().find(|entry| entry.key == "flow") else { return };
    let Data::Array(flows) = &mut flows.value.data else { return };
    for (_, flow) in flows {
        let Data::Table(keys) = &mut flow.data else { continue };
        let (mut own, rest): (Vec<Entry>, Vec<Entry>) =
            std::mem::take(keys).into_iter().partition(|entry| PROGRAM_KEYS.contains(&entry.key.as_str()));
        *keys = rest;
        let Some(first) = own.first().filter(|_| !keys.iter().any(|entry| entry.key == "transport")) else {
            keys.append(&mut own);
            continue;
        };
        let (key_place, place) = (first.key_place.clone(), first.value.place.clone());
        let said = |key: &str, data: Data| Entry {
            key: key.to_owned(),
            key_place: key_place.clone(),
            value: Tree { data, place: place.clone() },
        };
        own.push(said("name", Data::Scalar(Value::from(PROGRAM))));
        keys.push(said("transport", Data::Table(own)));
        if !keys.iter().any(|entry| entry.key == "traffic") {
            keys.push(said("traffic", Data::Scalar(Value::from("bulk"))));
        }
    }
}

/// A named access network implies the dumbbell: `topology = { network = "lte" }` needs no preset.
fn spell_out_network(tree: &mut Tree) {
    let Data::Table(entries) = &mut tree.data else { return };
    let Some(topology) = entries.iter_mut().find(|entry| entry.key == "topology") else { return };
    let Data::Table(keys) = &mut topology.value.data else { return };
    let Some(network) = keys.iter().find(|entry| entry.key == "network") else { return };
    if keys.iter().any(|entry| entry.key == "preset") {
        return;
    }
    let (key_place, place) = (network.key_place.clone(), network.value.place.clone());
    let value = Tree { data: Data::Scalar(Value::from(Preset::Dumbbell.name())), place };
    keys.push(Entry { key: "preset".to_owned(), key_place, value });
}

fn read(mut tree: Tree) -> Result<Scenario, Vec<Problem>> {
    spell_out_programs(&mut tree);
    spell_out_network(&mut tree);
    let mut problems: Vec<Problem> = Vec::new();
    let mut removed: Vec<Path> = Vec::new();
    loop {
        let error = match serde_path_to_error::deserialize::<_, Scenario>(tree.to_value()) {
            Ok(scenario) if problems.is_empty() => {
                let misplaced = lists_for_tables(&tree, &scenario);
                return if misplaced.is_empty() { Ok(scenario) } else { Err(misplaced) };
            }
            Ok(_) => return Err(problems),
            Err(error) => error,
        };
        let path = locate(&tree, error.path());
        let message = error.inner().to_string();
        let Diagnosis { problem, remove, meant } = explain(&tree, &path, &message);
        // A key that is missing because it was removed or misspelled is not a second mistake.
        let consequence = removed.contains(&problem.path);
        let mended = match stand_in(&problem.path) {
            Some(value) if remove.steps().is_empty() => tree.insert(&problem.path, value),
            _ => tree.remove(&remove),
        };
        removed.push(remove);
        removed.extend(meant);
        if !consequence {
            problems.push(problem);
        }
        if !mended || problems.len() >= MOST_PROBLEMS {
            return Err(problems);
        }
    }
}

/// The path that serde followed, as far as it exists, with list indices of the text.
fn locate(tree: &Tree, segments: &serde_path_to_error::Path) -> Path {
    let mut path = Path::default();
    let mut at = tree;
    for segment in segments {
        let step = match (segment, &at.data) {
            (Segment::Seq { index }, Data::Array(items)) => items.get(*index).map(|(place, _)| Step::Index(*place)),
            (Segment::Map { key }, _) => Some(Step::Key(key.clone())),
            (Segment::Enum { variant }, _) => Some(Step::Key(variant.clone())),
            _ => None,
        };
        let Some(step) = step else { break };
        let Some(next) = at.child(&step) else { break };
        path = path.step(step);
        at = next;
    }
    path
}

/// A replacement for a missing mandatory key, so that reading can continue.
fn stand_in(path: &Path) -> Option<Value> {
    match path.steps() {
        [Step::Key(key)] if key == "name" => Some(Value::from("?")),
        [Step::Key(key)] if key == "duration" => Some(Value::from("1 s")),
        _ => None,
    }
}

/// The problem, the path to remove before reading on, and the intended key if one is misspelled.
struct Diagnosis {
    problem: Problem,
    remove: Path,
    meant: Option<Path>,
}

/// Translates serde's message for the author of the scenario.
fn explain(tree: &Tree, path: &Path, message: &str) -> Diagnosis {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (first, others) = quoted.split_first().map_or(("", &[][..]), |(first, others)| (*first, others));
    // Within a law's table, serde gives no position. The values quoted in its message locate the mistake, and the whole law is
    // removed.
    let diagnose = |problem: Problem| Diagnosis { problem, remove: path.clone(), meant: None };
    if message.starts_with("unknown field") {
        return unknown_key(tree, path, first, others);
    }
    if message.starts_with("missing field") {
        let owner = path.last_key().map_or_else(|| "the scenario".to_owned(), |key| format!("this {key}"));
        let problem = Problem::new(path.key(first), format!("{owner} lacks the key `{first}`"));
        return diagnose(problem.help(example_for(first)));
    }
    if message.starts_with("unknown variant") {
        let Some(value) = value_below(tree, path, first) else { return unknown_key(tree, path, first, others) };
        let what = law_of(&value).to_owned();
        if what == "capacity" {
            let problem = Problem::new(value, format!("`capacity` is the text `{first}`"));
            return diagnose(problem.allowed(CAPACITIES).help(foreign::capacity(first)));
        }
        let problem = Problem::new(value, format!("unknown {what} `{first}`")).allowed(others.join(", "));
        return diagnose(problem.help(meant_name(&what, first, others)));
    }
    if let Some(rest) = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: ")) {
        let (found, expected) = rest.split_once(", expected ").unwrap_or((rest, "something else"));
        let text = found.split(['`', '"']).nth(1).unwrap_or(found);
        let value = value_below(tree, path, text).unwrap_or_else(|| path.clone());
        let key = value.last_key().unwrap_or("this").to_owned();
        let mut what = format!("`{key}` is {}", plainly(found));
        // The plan's memory check never sees a value that the type rejects, so its memory is estimated here.
        if let Some(packets) = text.parse::<f64>().ok().filter(|packets| key == "packets" && *packets > 1e9) {
            what += &format!(": such a buffer would need about {} of memory", cost::buffer_memory(packets));
        }
        if key == "capacity" && expected == "string or map" {
            return diagnose(Problem::new(value, what).allowed(CAPACITIES).help(foreign::capacity(text)));
        }
        let problem = Problem::new(value, what).allowed(plainly(expected));
        let is_number = ["integer", "floating"].iter().any(|kind| found.starts_with(kind));
        let readings = if is_number { foreign::readings(quantity_of(&key, expected), &key, text) } else { Vec::new() };
        return diagnose(match readings.is_empty() {
            false => problem.help(format!("write the unit, too: {}", alternatives(&key, &readings))),
            true => problem,
        });
    }
    // A `ConfigError`: key, value, allowed values and an example.
    if let Some((what, rest)) = message.split_once(", but must be ")
        && let Some((allowed, example)) = rest.split_once("; write for example ")
    {
        let problem = Problem::new(key_below(tree, path, first), what).allowed(allowed);
        return diagnose(problem.help(format!("write for example {example}")));
    }
    // A message of a fairwave type, such as a unit: "`10 Mbq` is not a rate: unknown unit `Mbq` (one of …); write …".
    let value = value_below(tree, path, first).unwrap_or_else(|| path.clone());
    let (what, help) = message.split_once("; write ").map_or((message, None), |(what, help)| (what, Some(help)));
    let mut problem = Problem::new(value, what.to_owned());
    if problem.path == Path::default().key("duration") && what.ends_with("it is too large") {
        problem.message += &format!(": {}", cost::describe_endless_run());
        problem = problem.allowed(format!("up to {}", Span::MAX));
    }
    if let Some((start, units)) = what.split_once(" (one of ") {
        let units = units.trim_end_matches(')');
        problem.message = start.to_owned();
        problem = problem.allowed(units.to_owned());
        let quantity = start.split_once(" is not a ").and_then(|(_, rest)| rest.split(':').next()).unwrap_or_default();
        let key = problem.path.last_key().unwrap_or_default().to_owned();
        let readings = match others.first().filter(|_| start.contains("unknown unit")) {
            Some(unit) => {
                let number = first.trim().trim_end_matches(*unit).trim();
                let meant = foreign::with_units(quantity, number, unit);
                let near = || nearest(unit, units.split(", ")).map(|near| format!("{number} {near}"));
                if meant.is_empty() { near().into_iter().collect() } else { meant }
            }
            None if start.contains("the unit is missing") => foreign::readings(quantity, &key, first),
            None => Vec::new(),
        };
        if !readings.is_empty() {
            return diagnose(problem.help(format!("write {}", listed(&readings))));
        }
    }
    diagnose(match help {
        Some(help) => problem.help(format!("write {help}")),
        None => problem,
    })
}

/// Allowed forms of a queue's capacity.
const CAPACITIES: &str = "`{ packets = 100 }`, `{ bytes = 64000 }` or `{ bdp = 1.0 }`";

/// The key of the law to which a name belongs: `transport` for `transport.name`.
fn law_of(value: &Path) -> &str {
    let keys: Vec<&str> = value
        .steps()
        .iter()
        .filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
        .collect();
    match keys.as_slice() {
        [.., law, "name" | "kind" | "discipline" | "model" | "law" | "rule" | "strategy"] => law,
        [.., last] => last,
        [] => "value",
    }
}

/// Help for a name that no law of the family has: another spelling of the same name, the equivalent of another tool's name, or the
/// most similar name.
fn meant_name(what: &str, given: &str, known: &[&str]) -> String {
    if let Some(same) = foreign::same(given, known.iter().copied()) {
        return format!("did you mean `{same}`?");
    }
    if let Some(remedy) = foreign::instead(what, given) {
        return remedy.to_owned();
    }
    if let Some(remedy) = foreign::elsewhere(what, given) {
        return remedy;
    }
    match nearest(given, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write one of the allowed names".to_owned(),
    }
}

/// The kind of quantity of a key, derived from the type that serde expected.
fn quantity_of<'a>(key: &str, expected: &'a str) -> &'a str {
    match key {
        "rate" if expected.contains("text") => "rate",
        _ if expected.starts_with("a rate ") => "rate",
        _ if expected.starts_with("a size ") => "size",
        _ if expected.starts_with("a clock skew ") => "clock skew",
        _ if expected.contains("time") || expected.starts_with("a text with a unit") => "time",
        _ => "",
    }
}

/// `key = "value"` for each value.
fn alternatives(key: &str, values: &[String]) -> String {
    values.iter().map(|value| format!("`{key} = \"{value}\"`")).collect::<Vec<_>>().join(" or ")
}

/// The values, each in backquotes.
fn listed(values: &[String]) -> String {
    values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ")
}

/// Reports lists in place of tables. Serde fills a table's keys from a list in order, but the author of
/// `hosts = ["50 ppm", "1 ms"]` cannot know this order.
fn lists_for_tables(tree: &Tree, scenario: &Scenario) -> Vec<Problem> {
    let written = serde_json::to_value(scenario).unwrap_or_default();
    let mut problems = Vec::new();
    tree.walk(&Path::default(), &mut |path, _, value| {
        let there = path.steps().iter().try_fold(&written, |at, step| match step {
            Step::Key(key) => at.get(key),
            Step::Index(index) => at.get(index),
        });
        if matches!(value.data, Data::Array(_)) && there.is_some_and(Value::is_object) {
            let key = path.last_key().unwrap_or("this");
            problems.push(
                Problem::new(path.clone(), format!("`{key}` is a list"))
                    .allowed("a table")
                    .help("name each of its values: `{ key = value, … }`"),
            );
        }
    });
    problems
}

fn unknown_key(tree: &Tree, path: &Path, given: &str, known: &[&str]) -> Diagnosis {
    let key = key_below(tree, path, given);
    let mut problem = Problem::new(key.clone(), format!("unknown key `{given}`")).on_key();
    if !known.is_empty() {
        problem = problem.allowed(known.join(", "));
    }
    let near = nearest(given, known.iter().copied());
    problem = problem.help(match (near, foreign_key(tree, given, known), place_of(&key, given)) {
        (Some(near), ..) => format!("did you mean `{near}`?"),
        (None, Some(remedy), _) | (None, None, Some(remedy)) => remedy,
        (None, None, None) => "remove it".to_owned(),
    });
    // An unknown key of the language is removed alone. An unknown key of a law removes the whole law.
    let ours = key == *path || key.parent().as_ref() == Some(path);
    let meant = near.zip(key.parent()).map(|(near, parent)| parent.key(near));
    Diagnosis { problem, remove: if ours { key } else { path.clone() }, meant }
}

/// Help for a key of another tool, or for a flow group's name in place of a key. The suggested key must be allowed here.
fn foreign_key(tree: &Tree, given: &str, known: &[&str]) -> Option<String> {
    let is_group = |group: &Tree| {
        let name = group.child(&Step::Key("name".to_owned())).map(|name| &name.data);
        matches!(name, Some(Data::Scalar(Value::String(name))) if name == given)
    };
    if known.contains(&"flow")
        && let Some(Data::Array(groups)) = tree.child(&Step::Key("flow".to_owned())).map(|flows| &flows.data)
        && groups.iter().any(|(_, group)| is_group(group))
    {
        return Some(format!("it is a flow group: its keys begin with `flow.{given}.`"));
    }
    let remedy = foreign::instead("key", given)?;
    let key = remedy.split('`').nth(1)?.split(" = ").next()?;
    known.contains(&key).then(|| remedy.to_owned())
}

/// Help for a key in the wrong table: keys of flows and of links at the top of a scenario.
fn place_of(key: &Path, given: &str) -> Option<String> {
    if key.steps().len() > 1 {
        return None;
    }
    match given {
        "count" | "transport" | "traffic" | "path" | "playout" | "concealment" | "dscp" | "arrivals" => {
            Some(format!("it is a key of a flow group: `flow.NAME.{given}`, or `{given} = …` in [[flow]]"))
        }
        "rate" | "delay" | "queue" | "loss" | "jitter" => {
            Some(format!("it is a key of a link: `topology.bottleneck.{given}`, or `{given} = …` in [[link]]"))
        }
        "capacity" | "victim" => Some(format!("it is a key of a queue: `topology.bottleneck.queue.{given}`")),
        _ => None,
    }
}

/// Translates serde's type names to plain words.
fn plainly(words: &str) -> String {
    match words {
        "u8" | "u16" | "u32" => format!(
            "a whole number from 0 to {}",
            match words {
                "u8" => u64::from(u8::MAX),
                "u16" => u64::from(u16::MAX),
                _ => u64::from(u32::MAX),
            }
        ),
        "u64" | "usize" => "a whole number, 0 or more".to_owned(),
        "f64" | "f32" => "a number".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        "a sequence" | "sequence" => "a list, for example `[\"…\"]`".to_owned(),
        "map" => "a table".to_owned(),
        "map with a single key" => "a table with one key".to_owned(),
        "null" => "nothing".to_owned(),
        other => match other.split_once(' ') {
            Some(("string", text)) => format!("the text {text}"),
            Some(("integer" | "floating", number)) => {
                format!("the number {}", number.trim_start_matches("point ").replace('`', ""))
            }
            Some(("boolean", flag)) => flag.to_owned(),
            Some(("struct", _)) => "a table".to_owned(),
            _ => other.to_owned(),
        },
    }
}

/// The key `name` at `path` or below it, the shallowest first. `path` itself if there is none.
fn key_below(tree: &Tree, path: &Path, name: &str) -> Path {
    if path.last_key() == Some(name) && !path.steps().is_empty() {
        return path.clone();
    }
    find(tree, path, &mut |inner, _| matches!(inner.steps().last(), Some(Step::Key(key)) if key == name))
        .unwrap_or_else(|| path.clone())
}

/// The value with the text `text`, at `path` or below it.
fn value_below(tree: &Tree, path: &Path, text: &str) -> Option<Path> {
    let reads = |value: &Tree| match &value.data {
        Data::Scalar(Value::String(own)) => own == text,
        Data::Scalar(scalar) => {
            let own = scalar.to_string();
            own == text
        }
        _ => false,
    };
    if tree.get(path).is_some_and(reads) {
        return Some(path.clone());
    }
    find(tree, path, &mut |_, value| reads(value))
}

fn find(tree: &Tree, path: &Path, wanted: &mut dyn FnMut(&Path, &Tree) -> bool) -> Option<Path> {
    let mut found = None;
    tree.get(path)?.walk(path, &mut |inner, _, value| {
        if found.is_none() && wanted(inner, value) {
            found = Some(inner.clone());
        }
    });
    found
}

/// A line that supplies a missing key.
fn example_for(key: &str) -> String {
    let line = match key {
        "name" => "name = \"voice\"",
        "duration" => "duration = \"60 s\"",
        "from" => "from = \"r1\"",
        "to" => "to = \"r2\"",
        "rate" => "rate = \"10 Mb/s\"",
        "delay" => "delay = \"10 ms\"",
        "transport" => "transport = \"udp\"",
        "traffic" => "traffic = \"bulk\"",
        "preset" => "preset = \"dumbbell\"",
        "capacity" => "capacity = { packets = 50 }",
        _ => return format!("add `{key} = …`"),
    };
    format!("add for example `{line}`")
}
