//! Source text of a scenario and the position of every key. Only error messages use it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use crate::path::Path;

/// Byte range in the text. `None` for values without a text (overrides, models built in code).
pub(crate) type TextRange = Option<Range<usize>>;

/// Source text of a scenario. All origins compare equal, so that scenarios are equal regardless of their origins.
#[derive(Clone, Default)]
pub struct Origin {
    /// File name as the user gave it.
    pub file: String,
    /// The complete text. Empty for a scenario built in code.
    pub text: String,
    places: BTreeMap<Path, (TextRange, TextRange)>,
    overridden: Vec<Path>,
    /// For overrides that give only a law's name: parameters kept and dropped, by the key of the override.
    pub(crate) kept: BTreeMap<String, String>,
    /// Old keys that were read as new ones: place and text.
    pub(crate) renamed: Vec<(String, String)>,
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Origin({:?})", self.file)
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}

impl Origin {
    /// Returns an origin with file name and text, and without positions.
    pub(crate) fn from_text(file: &str, text: &str) -> Self {
        Origin { file: file.to_owned(), text: text.to_owned(), ..Origin::default() }
    }

    /// Records the positions of the key and the value at `path`.
    pub(crate) fn learn(&mut self, path: &Path, key: TextRange, value: TextRange) {
        self.places.insert(path.clone(), (key, value));
    }

    /// Marks the value at `path` as overridden: the text no longer applies to it.
    pub(crate) fn set_overridden(&mut self, path: Path) {
        self.places.retain(|known, _| !known.is_within(&path));
        self.overridden.push(path);
    }

    /// True if an override set `path` or one of its parents.
    pub(crate) fn is_overridden(&self, path: &Path) -> bool {
        self.overridden.iter().any(|set| path.is_within(set))
    }

    /// Positions of key and value exactly at `path`.
    pub(crate) fn places(&self, path: &Path) -> (TextRange, TextRange) {
        self.places.get(path).cloned().unwrap_or_default()
    }

    /// Position to show for `path`: its value, else its key, else the closest parent with a position.
    pub(crate) fn place(&self, path: &Path, about_key: bool) -> Option<Range<usize>> {
        if self.is_overridden(path) {
            return None;
        }
        let (key, value) = self.places(path);
        let exact = if about_key { key.or(value) } else { value.or(key) };
        exact.or_else(|| self.place(&path.parent()?, false))
    }
}
