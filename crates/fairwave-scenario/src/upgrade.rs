//! Rewrites a scenario in the current version of the language. Comments, order and layout stay: only the old keys in the text change.

use std::ops::Range;

use serde_json::Value;

use crate::error::ScenarioError;
use crate::model::Scenario;
use crate::origin::Origin;
use crate::path::{Path, Step};
use crate::read::{is_json, parse};
use crate::renames::{Found, RENAMES, Rename, find_all};
use crate::tree::{Data, Tree};
use crate::version::{self, LANGUAGE, Version};
use crate::write::inline;

/// A scenario in the current version of the language, as far as fairwave can rewrite it.
#[derive(Clone, PartialEq, Debug)]
pub struct Upgrade {
    /// The text. Equal to the given text if nothing was changed.
    pub text: String,
    /// What was changed, in the order of the text.
    pub changes: Vec<Change>,
    /// The mistakes that the text still has, for the author to correct. `None` if fairwave reads it.
    pub rest: Option<ScenarioError>,
}

/// One change of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The line, from 1.
    pub line: usize,
    /// The change in words.
    pub words: String,
}

impl Scenario {
    /// Rewrites a scenario in the current version of the language. `file` is the name in messages; it decides between TOML and JSON
    /// as in [`Scenario::from_text`].
    ///
    /// # Errors
    /// The text is neither TOML nor JSON, or has a newer version of the language.
    pub fn upgrade(text: &str, file: &str) -> Result<Upgrade, ScenarioError> {
        rewrite(text, file, RENAMES)
    }
}

/// One replacement in the text, with its words.
struct Edit {
    range: Range<usize>,
    new: String,
    words: Option<String>,
}

fn rewrite(text: &str, file: &str, renames: &'static [Rename]) -> Result<Upgrade, ScenarioError> {
    let tree = parse(text, file)
        .and_then(|tree| version::refuse_newer(&tree).map_or(Ok(tree), |problem| Err(vec![problem])))
        .map_err(|problems| ScenarioError::new(Origin::from_text(file, text).into(), problems))?;
    let found = find_all(&tree, renames);
    let mut edits: Vec<Edit> = found.iter().flat_map(|one| edit_key(&tree, one, text, file)).collect();
    // A TOML table can have several headers, and the tree knows the first only. Then the text stays as it is.
    let is_complete = parse(&replace(text, &edits), file).is_ok_and(|new| is_renamed(&tree, &found, &new));
    if !is_complete {
        edits.clear();
    }
    edits.extend(edit_version(&tree));
    let new = replace(text, &edits);
    let rest = Scenario::from_text(&new, file).err();
    edits.sort_by_key(|edit| edit.range.start);
    let line = |at: usize| text.get(..at).map_or(1, |before| before.matches('\n').count() + 1);
    let change = |edit: &Edit| Some(Change { line: line(edit.range.start), words: edit.words.clone()? });
    Ok(Upgrade { text: new, changes: edits.iter().filter_map(change).collect(), rest })
}

/// The edits of an old key and of its value. Empty if the author must make the change.
fn edit_key(tree: &Tree, found: &Found, text: &str, file: &str) -> Vec<Edit> {
    let Rename { old, new, .. } = found.rename;
    let Some(entry) = tree.get(&found.table).and_then(|table| table.entry(old)) else { return Vec::new() };
    let (Some(key), Some(value), Some(now)) = (entry.key_place.clone(), entry.value.place.clone(), &found.value) else {
        return Vec::new();
    };
    let quote = text.get(key.clone()).and_then(|key| key.chars().next()).filter(|first| ['"', '\''].contains(first));
    let quote = quote.map(String::from).unwrap_or_default();
    let words = format!("{}: `{old}` is now `{new}`", found.table.key(old));
    let mut edits = vec![Edit { range: key, new: format!("{quote}{new}{quote}"), words: Some(words) }];
    if entry.value.to_value() != *now {
        let new = if is_json(file, text) { now.to_string() } else { inline(now) };
        edits.push(Edit { range: value, new, words: None });
    }
    edits
}

/// The edit of an older version.
fn edit_version(tree: &Tree) -> Option<Edit> {
    let value = &tree.entry(version::KEY)?.value;
    let Data::Scalar(Value::String(text)) = &value.data else { return None };
    let older = Version::from_text(text).filter(|older| *older < LANGUAGE)?;
    let words = format!("{}: {older} is now {LANGUAGE}", version::KEY);
    Some(Edit { range: value.place.clone()?, new: format!("\"{LANGUAGE}\""), words: Some(words) })
}

/// Applies edits that do not overlap.
fn replace(text: &str, edits: &[Edit]) -> String {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start));
    let mut text = text.to_owned();
    for edit in edits {
        if text.get(edit.range.clone()).is_some() {
            text.replace_range(edit.range.clone(), &edit.new);
        }
    }
    text
}

/// True if `old` with the renamed keys equals `new`.
fn is_renamed(old: &Tree, found: &[Found], new: &Tree) -> bool {
    let mut expected = old.to_value();
    for one in found {
        let Some(value) = &one.value else { continue };
        let Some(table) = get_mut(&mut expected, &one.table).and_then(Value::as_object_mut) else { return false };
        table.remove(one.rename.old);
        table.insert(one.rename.new.to_owned(), value.clone());
    }
    expected == new.to_value()
}

fn get_mut<'a>(value: &'a mut Value, path: &Path) -> Option<&'a mut Value> {
    path.steps().iter().try_fold(value, |at, step| match step {
        Step::Key(key) => at.get_mut(key),
        Step::Index(index) => at.get_mut(index),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::renames::tests::TEST_RENAMES;

    const OLD: &str = "# A link.\r\nname   = 'old' # kept\r\ntime = '1 s'\r\n\r\n[topology]\r\npreset = 'dumbbell'\r\n\
                       bottleneck.rate = '1 Mb/s'\r\nbottleneck.delay = '1 ms'\r\n\
                       bottleneck.loss = { model = 'bernoulli', 'percent' = 2 } # two\r\n\r\n[[flow]]\r\nname = 'a'\r\n\
                       number = 2\r\ntransport = 'udp'\r\ntraffic = 'voice'\r\n";

    #[test]
    fn only_old_keys_change_and_comments_and_layout_stay() {
        let upgrade = rewrite(OLD, "old.toml", TEST_RENAMES).expect("TOML");
        let expected = OLD
            .replace("time =", "duration =")
            .replace("'percent' = 2", "'rate' = 0.02")
            .replace("number =", "count =");
        assert_eq!((upgrade.text.as_str(), &upgrade.rest), (expected.as_str(), &None));
        assert_eq!(upgrade.changes.iter().map(|change| change.line).collect::<Vec<_>>(), [3, 9, 13]);
        assert_eq!(upgrade.changes[1].words, "topology.bottleneck.loss.percent: `percent` is now `rate`");
        let again = rewrite(&upgrade.text, "old.toml", TEST_RENAMES).expect("TOML");
        assert!(again.changes.is_empty() && again.text == upgrade.text);
    }

    #[test]
    fn json_keeps_its_layout_too() {
        let old = "{\"name\": \"j\",\n\t\"time\" : \"1 s\", \"topology\": {\"preset\": \"dumbbell\", \"bottleneck\": \
                   {\"rate\": \"1 Mb/s\", \"delay\": \"1 ms\", \"loss\": {\"model\": \"bernoulli\", \"percent\": 2}}}, \
                   \"flow\": [{\"name\": \"a\", \"transport\": \"udp\", \"traffic\": \"voice\"}]}";
        let upgrade = rewrite(old, "old.json", TEST_RENAMES).expect("JSON");
        assert_eq!(upgrade.rest, None);
        assert_eq!(upgrade.text, old.replace("\"time\"", "\"duration\"").replace("\"percent\": 2", "\"rate\": 0.02"));
    }

    #[test]
    fn a_value_that_cannot_be_converted_and_a_key_given_twice_are_left_to_the_author() {
        let strange = OLD.replace("= 2 }", "= 'two' }");
        let upgrade = rewrite(&strange, "old.toml", TEST_RENAMES).expect("TOML");
        assert!(upgrade.text.contains("'percent' = 'two'") && upgrade.text.contains("count = 2"));
        assert!(upgrade.rest.is_some_and(|rest| rest.to_string().contains("old.toml:9")));
        let twice = OLD.replace("time = '1 s'", "time = '1 s'\r\nduration = '2 s'");
        let upgrade = rewrite(&twice, "old.toml", TEST_RENAMES).expect("TOML");
        assert!(upgrade.text.contains("time = '1 s'") && upgrade.rest.is_some());
    }

    #[test]
    fn a_table_in_several_places_is_left_to_the_author() {
        const TABLE: &[Rename] = &[Rename { table: "", law: None, old: "net", new: "topology", ..TEST_RENAMES[1] }];
        let once = OLD.replace("time", "duration").replace("number", "count").replace("percent", "rate");
        let once = once.replace("[topology]", "[net]").replace("= 2 }", "= 0.02 }");
        let upgrade = rewrite(&once, "n.toml", TABLE).expect("TOML");
        assert_eq!((upgrade.text, upgrade.rest), (once.replace("[net]", "[topology]"), None));
        let twice = once.replace("[[flow]]", "[net.access]\r\nrate = '1 Mb/s'\r\ndelay = '1 ms'\r\n[[flow]]");
        let upgrade = rewrite(&twice, "n.toml", TABLE).expect("TOML");
        assert!(upgrade.text == twice && upgrade.changes.is_empty() && upgrade.rest.is_some());
    }

    #[test]
    fn no_scenario_has_an_upgrade_without_being_toml_or_json() {
        assert!(rewrite("name = ", "n.toml", RENAMES).is_err());
        let newer = format!("version = \"{}.0\"", LANGUAGE.major + 1);
        let error = rewrite(&newer, "n.toml", RENAMES).expect_err("a newer version").to_string();
        assert!(error.contains("pip install --upgrade fairwave"), "{error}");
    }
}
