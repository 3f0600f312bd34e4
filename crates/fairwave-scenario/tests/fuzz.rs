//! Fuzzing of the scenario reader: it never panics, and an accepted scenario can be written, read again and overridden.
//!
//! `make fuzz` runs many cases (`FAIRWAVE_FUZZ_CASES`), `make test` a few. The corpus is every example and every golden scenario,
//! in TOML and JSON. The tests cut and join these texts and trees, and insert hostile pieces.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fairwave_core::random::Seed;
use fairwave_scenario::{Scenario, ScenarioError};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

/// Uses `few` cases, unless `FAIRWAVE_FUZZ_CASES` sets the number.
fn cases(few: u32) -> ProptestConfig {
    let asked = std::env::var("FAIRWAVE_FUZZ_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(few), failure_persistence: None, ..ProptestConfig::default() }
}

/// Every scenario of the repository, as text and as its tree.
static CORPUS: LazyLock<Vec<(String, Value)>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<_> = ["examples", "tests/golden"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("a folder of scenarios"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("a scenario");
        // Python converts a file for `fairwave network` to a scenario.
        if text.contains("[demands]") {
            return None;
        }
        // All targets read the corpus. The first failure must name the file.
        let scenario = Scenario::from_toml(&text, &path.to_string_lossy()).unwrap_or_else(|error| panic!("{error}"));
        let json = scenario.to_json().expect("JSON");
        Some((text, serde_json::from_str(&json).expect("a tree")))
    };
    files.iter().filter_map(read).collect()
});

/// Pieces of text that often break readers.
const HOSTILE: [&str; 34] = [
    "",
    "0",
    "-1",
    "1e309",
    "nan",
    "inf",
    "18446744073709551616",
    "9223372036854775807",
    "0.0000000000001",
    "\"0 b/s\"",
    "\"1e30 s\"",
    "\"-3 ms\"",
    "\"∞ B\"",
    "\"99999999999 Gb/s\"",
    "\"1 fortnight\"",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'''",
    "\n",
    "[[flow]]\n",
    "[topology]\n",
    "count = 1000000000\n",
    "hops = 1000000\n",
    "{i}",
    "{i%0}",
    "{i+99999999999999999999}",
    "\\u",
    "\u{0}",
    "é",
    "#",
    "null",
];

/// A change to a text: position, removed length and inserted text.
#[derive(Clone, Debug)]
enum Edit {
    Replace(Index, usize, usize),
    Copy(Index, Index, usize),
    Join(Index, Index, Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => (any::<Index>(), 0usize..40, 0..HOSTILE.len()).prop_map(|(at, length, piece)| Edit::Replace(at, length, piece)),
        1 => (any::<Index>(), any::<Index>(), 1usize..200).prop_map(|(from, to, length)| Edit::Copy(from, to, length)),
        1 => (any::<Index>(), any::<Index>(), any::<Index>()).prop_map(|(at, other, from)| Edit::Join(at, other, from)),
    ]
}

/// The last character boundary at or before `at`.
fn cut(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&place| text.is_char_boundary(place)).unwrap_or(0)
}

fn apply(text: &mut String, edit: &Edit) {
    let place = |text: &str, index: &Index| cut(text, index.index(text.len() + 1));
    match edit {
        Edit::Replace(at, length, piece) => {
            let from = place(text, at);
            let to = cut(text, from + length).max(from);
            text.replace_range(from..to, HOSTILE[*piece]);
        }
        Edit::Copy(from, to, length) => {
            let (from, to) = (place(text, from), place(text, to));
            let piece = text[from..cut(text, from + length).max(from)].to_owned();
            text.insert_str(to, &piece);
        }
        Edit::Join(at, other, from) => {
            let other = &CORPUS[other.index(CORPUS.len())].0;
            let at = place(text, at);
            text.truncate(at);
            text.push_str(&other[place(other, from)..]);
        }
    }
}

/// Hostile values to put into a tree.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        (0u64..20).prop_map(Value::from),
        (0..HOSTILE.len()).prop_map(|piece| Value::from(HOSTILE[piece].trim_matches('"'))),
        "[0-9]{1,18} ?(ns|ms|s|h|b/s|kb/s|Gb/s|B|kB|GiB)".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!({ "from": "9 s", "to": "1 ms" })),
    ]
}

/// Paths to every value of a tree, as JSON pointers.
fn pointers(tree: &Value, here: &str, found: &mut Vec<String>) {
    found.push(here.to_owned());
    match tree {
        Value::Object(table) => table.iter().for_each(|(key, inner)| pointers(inner, &format!("{here}/{key}"), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(place, inner)| pointers(inner, &format!("{here}/{place}"), found));
        }
        _ => {}
    }
}

/// Replaces a value, removes it, or moves it to a key that does not exist.
fn disturb(tree: &mut Value, at: &Index, way: u8, value: Value) {
    let mut places = Vec::new();
    pointers(tree, "", &mut places);
    let place = &places[at.index(places.len())];
    let Some((parent, key)) = place.rsplit_once('/') else { return };
    match (tree.pointer_mut(parent), way) {
        (Some(Value::Object(table)), 0) => drop(table.remove(key)),
        (Some(Value::Object(table)), 1) => drop(table.insert(format!("{key}x"), value)),
        (Some(Value::Object(table)), _) => drop(table.insert(key.to_owned(), value)),
        (Some(Value::Array(items)), 0) => items.clear(),
        (Some(Value::Array(items)), 1) => items.push(value),
        (Some(Value::Array(items)), _) => items[0] = value,
        _ => {}
    }
}

/// Checks the properties that hold for any result of reading.
fn answers(read: Result<Scenario, ScenarioError>) -> Result<(), TestCaseError> {
    let scenario = match read {
        Ok(scenario) => scenario,
        Err(error) => {
            let text = error.to_string();
            prop_assert!(text.starts_with("error: "), "{}", text);
            return Ok(());
        }
    };
    let written = scenario.to_json().map_err(|error| TestCaseError::fail(error.to_string()))?;
    let again =
        Scenario::from_json(&written, "").map_err(|error| TestCaseError::fail(format!("{error}\n{written}")))?;
    prop_assert_eq!(&again, &scenario);
    let _ = scenario.content_hash();
    let _ = scenario.expand_preset().map_err(|error| error.to_string());
    if let Ok(plan) = scenario.plan(Seed(1)) {
        prop_assert!(plan.flows.iter().all(|flow| flow.forward.iter().all(|&link| link < plan.links.len())));
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn fuzz_any_text(text in "(\\PC|\n){0,300}") {
        answers(Scenario::from_toml(&text, "x.toml"))?;
        answers(Scenario::from_json(&text, "x.json"))?;
    }

    #[test]
    fn fuzz_an_edited_text(which in any::<Index>(), as_json in any::<bool>(), edits in prop::collection::vec(edit(), 1..5)) {
        let (text, tree) = &CORPUS[which.index(CORPUS.len())];
        let mut text = if as_json { tree.to_string() } else { text.clone() };
        edits.iter().for_each(|edit| apply(&mut text, edit));
        answers(Scenario::from_text(&text, if as_json { "x.json" } else { "x.toml" }))?;
    }

    #[test]
    fn fuzz_a_disturbed_tree(
        which in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), 0u8..5, value()), 1..4),
    ) {
        let mut tree = CORPUS[which.index(CORPUS.len())].1.clone();
        for (at, way, value) in changes {
            disturb(&mut tree, &at, way, value);
        }
        answers(Scenario::from_json(&tree.to_string(), "x.json"))?;
    }

    #[test]
    fn fuzz_overrides(
        which in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), value(), any::<bool>()), 1..4),
        any_path in "[a-z*0-9.>\\[\\]]{0,24}",
        text in "\\PC{0,24}",
    ) {
        let tree = &CORPUS[which.index(CORPUS.len())].1;
        let scenario = Scenario::from_json(&tree.to_string(), "").expect("a sound scenario");
        let mut places = Vec::new();
        pointers(tree, "", &mut places);
        let dotted: Vec<String> = changes
            .iter()
            .map(|(at, _, longer)| {
                let path = places[at.index(places.len())].trim_start_matches('/').replace('/', ".");
                if *longer { format!("{path}.{any_path}") } else { path }
            })
            .collect();
        let pairs: Vec<(&str, Value)> =
            dotted.iter().zip(&changes).map(|(path, (_, value, _))| (path.as_str(), value.clone())).collect();
        answers(scenario.with_overrides(&pairs))?;
        answers(scenario.with_overrides(&[(any_path.as_str(), Scenario::override_value(&text))]))?;
    }
}
