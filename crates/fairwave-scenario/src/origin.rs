//! Where a scenario came from: its text and the place of every key, kept for messages only.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use crate::path::Path;

/// Byte range in the text; none for what did not come from a text (overrides, models built in code).
pub(crate) type TextRange = Option<Range<usize>>;

/// The text that a scenario was read from. Two scenarios are equal whatever their origins.
#[derive(Clone, Default)]
pub struct Origin {
    /// The file's name as the user gave it.
    pub file: String,
    /// The whole text; empty for a scenario that was built in code.
    pub text: String,
    places: BTreeMap<Path, (TextRange, TextRange)>,
    overridden: Vec<Path>,
    /// What overrides that name a law alone kept and dropped, by the key as it was written.
    pub(crate) kept: BTreeMap<String, String>,
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
    /// An origin that knows its file and text and no places yet.
    pub(crate) fn of_text(file: &str, text: &str) -> Self {
        Origin { file: file.to_owned(), text: text.to_owned(), ..Origin::default() }
    }

    /// Remembers where the key and the value at `path` stand.
    pub(crate) fn learn(&mut self, path: &Path, key: TextRange, value: TextRange) {
        self.places.insert(path.clone(), (key, value));
    }

    /// Marks `path` as no longer what the text says.
    pub(crate) fn set_overridden(&mut self, path: Path) {
        self.places.retain(|known, _| !known.is_within(&path));
        self.overridden.push(path);
    }

    /// True when `path`, or what it stands in, was set by an override.
    pub(crate) fn is_overridden(&self, path: &Path) -> bool {
        self.overridden.iter().any(|set| path.is_within(set))
    }

    /// Key and value places exactly at `path`.
    pub(crate) fn places(&self, path: &Path) -> (TextRange, TextRange) {
        self.places.get(path).cloned().unwrap_or_default()
    }

    /// Where to point for `path`: at its value, or its key, or else at what it stands in.
    pub(crate) fn place(&self, path: &Path, about_key: bool) -> Option<Range<usize>> {
        if self.is_overridden(path) {
            return None;
        }
        let (key, value) = self.places(path);
        let exact = if about_key { key.or(value) } else { value.or(key) };
        exact.or_else(|| self.place(&path.parent()?, false))
    }
}
