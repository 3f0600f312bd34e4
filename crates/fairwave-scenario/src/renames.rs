//! Keys that the language has renamed: one table for the reader, for overrides and for [`crate::upgrade`].
//!
//! A renamed key still works for one release: the reader takes it for the new key and warns. From the version `removed` on it is an
//! error. Both messages name `fairwave upgrade`.

use serde_json::{Map, Value};

use crate::error::Problem;
use crate::path::Path;
use crate::tree::{Data, Entry, Tree};
use crate::version::{LANGUAGE, Version};

/// A key that has a new name.
#[derive(Clone, Copy, Debug)]
pub struct Rename {
    /// The table with the key, by the key of the table: `control`, `flow`, `link`. Empty for the top of the scenario.
    pub table: &'static str,
    /// The law that has the key. `None` if the table is no law, or if all its laws have the key.
    pub law: Option<&'static str>,
    /// The old key.
    pub old: &'static str,
    /// The new key, in the same table.
    pub new: &'static str,
    /// Returns the value of the new key. `None` for values that the author must convert by hand.
    pub convert: fn(&Value) -> Option<Value>,
    /// First version of the language with the new key.
    pub since: Version,
    /// First version of the language without the old key.
    pub removed: Version,
}

/// All renamed keys, oldest first. `tests/renames.rs` reads a scenario with each of them.
pub const RENAMES: &[Rename] = &[
    // GCC's `push-back` is the same reaction.
    Rename {
        table: "control",
        law: Some("scream"),
        old: "pushback",
        new: "push-back",
        convert: keep,
        since: Version::new(0, 1),
        removed: Version::new(0, 2),
    },
];

/// The value of a key that only has a new name.
fn keep(value: &Value) -> Option<Value> {
    Some(value.clone())
}

/// Keys that name the law of a table.
const TAGS: [&str; 7] = ["name", "kind", "discipline", "model", "law", "rule", "strategy"];

impl Rename {
    /// True if the language no longer reads the old key.
    pub fn is_removed(&self) -> bool {
        self.removed <= LANGUAGE
    }

    /// True for keys of the table at `path`, whose laws `has_tag` compares with a name.
    fn concerns(&self, path: &Path, has_tag: impl Fn(&str, &str) -> bool) -> bool {
        path.last_key().unwrap_or_default() == self.table
            && self.law.is_none_or(|law| TAGS.iter().any(|tag| has_tag(tag, law)))
    }
}

/// A renamed key in a scenario.
pub(crate) struct Found {
    /// Path of the table.
    pub table: Path,
    pub rename: &'static Rename,
    /// The value of the new key. `None` if it cannot be converted, or if the table already has the new key.
    pub value: Option<Value>,
}

impl Found {
    /// The old key as a problem, if the reader cannot take it for the new one.
    fn problem(&self, file: &str, has_both: bool) -> Option<Problem> {
        let Rename { old, new, removed, .. } = self.rename;
        let problem = |what: String| Some(Problem::new(self.table.key(old), what).on_key());
        if has_both {
            return problem(format!("`{old}` is the old name of `{new}`, which is set, too"))
                .map(|problem| problem.help(format!("remove `{old}`")));
        }
        if self.value.is_none() {
            return problem(format!("`{old}` is the old name of `{new}`, whose values differ"))
                .map(|problem| problem.help(format!("write `{new} = …` (`fairwave explain`)")));
        }
        if self.rename.is_removed() {
            return problem(format!("the key `{old}` is called `{new}` since version {removed} of the language"))
                .map(|problem| problem.help(format!("write `{new}`, or run {}", describe_upgrade(file))));
        }
        None
    }

    /// The warning about an old key that the reader takes for the new one: place and text. `file` is `None` for overrides.
    pub(crate) fn warning(&self, file: Option<&str>) -> (String, String) {
        let Rename { old, new, removed, .. } = self.rename;
        let command = file.map(|file| format!(", or run {}", describe_upgrade(file))).unwrap_or_default();
        let words = format!(
            "`{old}` is the old name of `{new}`, and fairwave {removed} will refuse it: write `{new}`{command}"
        );
        (self.table.key(old).to_string(), words)
    }
}

/// Names of scenarios that come from standard input or from objects in Python.
const NO_FILES: [&str; 3] = ["", "-", "objects.json"];

/// The command that changes the file.
fn describe_upgrade(file: &str) -> String {
    format!("`fairwave upgrade {}`", if NO_FILES.contains(&file) { "FILE" } else { file })
}

/// Finds all old keys of a scenario, in the order of [`Tree::walk`].
pub(crate) fn find_all(tree: &Tree, renames: &'static [Rename]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut search = |table: &Path, value: &Tree| {
        let has_tag = |tag: &str, law: &str| matches!(value.entry(tag).map(|entry| &entry.value.data), Some(Data::Scalar(Value::String(own))) if own == law);
        for rename in renames.iter().filter(|one| one.concerns(table, has_tag)) {
            if let Some(entry) = value.entry(rename.old) {
                let has_both = value.entry(rename.new).is_some();
                let value = (rename.convert)(&entry.value.to_value()).filter(|_| !has_both);
                found.push(Found { table: table.clone(), rename, value });
            }
        }
    };
    search(&Path::default(), tree);
    tree.walk(&Path::default(), &mut |path, _, value| search(path, value));
    found
}

/// Old keys of a scenario, as the reader reports them.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Keys that cannot be read.
    pub problems: Vec<Problem>,
    /// Keys that were read as the new ones: place and text.
    pub warnings: Vec<(String, String)>,
}

/// Renames old keys to new ones, and removes those that cannot be read.
pub(crate) fn apply(tree: &mut Tree, file: &str, renames: &'static [Rename]) -> Outcome {
    let mut outcome = Outcome::default();
    for found in find_all(tree, renames) {
        let Some(Data::Table(entries)) = tree.get_mut(&found.table).map(|table| &mut table.data) else { continue };
        let has_both = entries.iter().any(|entry| entry.key == found.rename.new);
        let Some(place) = entries.iter().position(|entry| entry.key == found.rename.old) else { continue };
        if let Some(problem) = found.problem(file, has_both) {
            outcome.problems.push(problem.with_place(entries.remove(place).key_place));
            continue;
        }
        outcome.warnings.push(found.warning(Some(file)));
        if let (Some(entry), Some(value)) = (entries.get_mut(place), found.value) {
            entry.rename(found.rename.new, value);
        }
    }
    outcome
}

impl Entry {
    /// Gives the entry another key and value, at the same position of the text.
    fn rename(&mut self, key: &str, value: Value) {
        self.key = key.to_owned();
        if self.value.to_value() != value {
            let place = self.value.place.clone();
            self.value = Tree::from_value(&value, &Path::default(), &|_| (None, place.clone()));
        }
    }
}

/// The rename of a key that an override sets in the table at `path`. `None` for current and for removed keys.
pub(crate) fn find(table: &Map<String, Value>, path: &Path, key: &str) -> Option<&'static Rename> {
    let has_tag = |tag: &str, law: &str| table.get(tag).and_then(Value::as_str) == Some(law);
    RENAMES.iter().find(|one| one.old == key && !one.is_removed() && one.concerns(path, has_tag))
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    /// Versions far from the current one, so that the tests hold in later releases.
    const LATER: Version = Version::new(u32::MAX, 0);

    fn percent_to_share(value: &Value) -> Option<Value> {
        value.as_f64().map(|percent| json!(percent / 100.0))
    }

    /// A deprecated key with a conversion, a deprecated key of the top, and a removed key.
    pub(crate) const TEST_RENAMES: &[Rename] = &[
        Rename {
            table: "loss",
            law: Some("bernoulli"),
            old: "percent",
            new: "rate",
            convert: percent_to_share,
            since: Version::new(0, 1),
            removed: LATER,
        },
        Rename {
            table: "",
            law: None,
            old: "time",
            new: "duration",
            convert: keep,
            since: Version::new(0, 1),
            removed: LATER,
        },
        Rename {
            table: "flow",
            law: None,
            old: "number",
            new: "count",
            convert: keep,
            since: Version::new(0, 0),
            removed: Version::new(0, 0),
        },
    ];

    fn applied(text: &str) -> (Value, Outcome) {
        let mut tree = Tree::from_toml(text).expect("TOML");
        let outcome = apply(&mut tree, "s.toml", TEST_RENAMES);
        (tree.to_value(), outcome)
    }

    #[test]
    fn a_deprecated_key_is_read_as_the_new_one_with_its_value_converted() {
        let (value, outcome) = applied("time = \"1 s\"\nloss = { model = \"bernoulli\", percent = 2 }");
        assert_eq!(value, json!({ "duration": "1 s", "loss": { "model": "bernoulli", "rate": 0.02 } }));
        assert!(outcome.problems.is_empty());
        let [(top, words), (inner, _)] = &outcome.warnings[..] else { panic!("two warnings") };
        assert_eq!((top.as_str(), inner.as_str()), ("time", "loss.percent"));
        assert!(words.contains("old name of `duration`") && words.contains("`fairwave upgrade s.toml`"), "{words}");
    }

    #[test]
    fn a_key_of_another_law_or_another_table_stays() {
        let text = "loss = { model = \"gilbert\", percent = 2 }\nflow = { time = 1 }";
        let (value, outcome) = applied(text);
        assert_eq!(value, json!({ "loss": { "model": "gilbert", "percent": 2 }, "flow": { "time": 1 } }));
        assert!(outcome.problems.is_empty() && outcome.warnings.is_empty());
    }

    #[test]
    fn a_removed_key_a_key_given_twice_and_a_strange_value_are_problems() {
        let text = "time = 1\nduration = 2\nloss = { model = \"bernoulli\", percent = \"two\" }\n[[flow]]\nnumber = 3";
        let (value, outcome) = applied(text);
        assert_eq!(value, json!({ "duration": 2, "loss": { "model": "bernoulli" }, "flow": [{}] }));
        let said: Vec<_> = outcome.problems.iter().map(|one| (one.message.as_str(), one.help.as_deref())).collect();
        assert_eq!(said[0].1, Some("remove `time`"));
        assert!(said[1].0.contains("values differ"), "{said:?}");
        assert_eq!(said[2].1, Some("write `count`, or run `fairwave upgrade s.toml`"));
        assert!(outcome.problems.iter().all(|one| one.place.is_some()));
    }

    #[test]
    fn every_rename_lasts_one_release_at_least() {
        for one in RENAMES {
            assert!(one.since < one.removed && one.since <= LANGUAGE, "{one:?}");
            assert_ne!(one.old, one.new, "{one:?}");
        }
    }
}
