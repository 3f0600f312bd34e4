//! Parsed document with the position of every key and value, the same for TOML and JSON.
//!
//! Both parsers know positions, but serde drops them. Fairwave therefore reads the document into this tree first. Serde
//! reads the tree's plain value, and error messages take positions from the tree.

use std::ops::Range;

use jsonc_parser::ast;
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::Problem;
use crate::origin::TextRange;
use crate::path::{Path, Step};

/// A value and its position in the text.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub data: Data,
    pub place: TextRange,
}

#[derive(Clone, Debug)]
pub(crate) enum Data {
    Scalar(Value),
    /// Elements with their index in the text. The index stays the same when other elements are removed.
    Array(Vec<(usize, Tree)>),
    Table(Vec<Entry>),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub key_place: TextRange,
    pub value: Tree,
}

impl Tree {
    /// Reads TOML and reports every syntax error.
    pub fn from_toml(text: &str) -> Result<Tree, Vec<Problem>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let problem = |error: &toml::de::Error| {
                Problem::new(Path::default(), format!("this is not TOML: {}", error.message().replace('\n', "; ")))
                    .with_place(error.span())
            };
            return Err(errors.iter().map(problem).collect());
        }
        Ok(Tree { place: Some(0..0), data: toml_table(table.get_ref()) })
    }

    /// Reads JSON according to RFC 8259: no comments, no trailing commas, no duplicate keys.
    pub fn from_json(text: &str) -> Result<Tree, Vec<Problem>> {
        let strict = jsonc_parser::ParseOptions {
            allow_comments: false,
            allow_loose_object_property_names: false,
            allow_trailing_commas: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let failure = |place: Range<usize>, what: String| {
            vec![Problem::new(Path::default(), format!("this is not JSON: {what}")).with_place(Some(place))]
        };
        let parsed = jsonc_parser::parse_to_ast(text, &jsonc_parser::CollectOptions::default(), &strict)
            .map_err(|error| failure(error.range().start..error.range().end, error.kind().to_string()))?;
        let Some(value) = parsed.value else {
            return Err(failure(0..text.len().min(1), "the file is empty".to_owned()));
        };
        let mut problems = Vec::new();
        let tree = json_value(&value, &Path::default(), &mut problems);
        if problems.is_empty() { Ok(tree) } else { Err(problems) }
    }

    /// Builds the tree of a value without text. `place` returns the positions known for a path.
    pub fn from_value(value: &Value, path: &Path, place: &dyn Fn(&Path) -> (TextRange, TextRange)) -> Tree {
        let data = match value {
            Value::Array(items) => Data::Array(
                items.iter().enumerate().map(|(i, v)| (i, Tree::from_value(v, &path.index(i), place))).collect(),
            ),
            Value::Object(map) => Data::Table(
                map.iter()
                    .map(|(key, v)| {
                        let inner = path.key(key);
                        Entry {
                            key: key.clone(),
                            key_place: place(&inner).0,
                            value: Tree::from_value(v, &inner, place),
                        }
                    })
                    .collect(),
            ),
            scalar => Data::Scalar(scalar.clone()),
        };
        Tree { data, place: place(path).1 }
    }

    /// The plain value.
    pub fn to_value(&self) -> Value {
        match &self.data {
            Data::Scalar(value) => value.clone(),
            Data::Array(items) => Value::Array(items.iter().map(|(_, item)| item.to_value()).collect()),
            Data::Table(entries) => {
                Value::Object(entries.iter().map(|e| (e.key.clone(), e.value.to_value())).collect::<Map<_, _>>())
            }
        }
    }

    /// Entries of a table. Empty for other values.
    pub fn entries(&self) -> &[Entry] {
        match &self.data {
            Data::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The entry with this key. `None` if this is not a table.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The value one step down.
    pub fn child(&self, step: &Step) -> Option<&Tree> {
        match (step, &self.data) {
            (Step::Key(key), Data::Table(_)) => self.entry(key).map(|entry| &entry.value),
            (Step::Index(index), Data::Array(items)) => items.iter().find(|(i, _)| i == index).map(|(_, item)| item),
            _ => None,
        }
    }

    /// The value at `path`.
    pub fn get(&self, path: &Path) -> Option<&Tree> {
        path.steps().iter().try_fold(self, |tree, step| tree.child(step))
    }

    /// The value at `path`, to be changed.
    pub fn get_mut(&mut self, path: &Path) -> Option<&mut Tree> {
        path.steps().iter().try_fold(self, |tree, step| match (step, &mut tree.data) {
            (Step::Key(key), Data::Table(entries)) => {
                entries.iter_mut().find(|entry| entry.key == *key).map(|entry| &mut entry.value)
            }
            (Step::Index(index), Data::Array(items)) => {
                items.iter_mut().find(|(i, _)| i == index).map(|(_, item)| item)
            }
            _ => None,
        })
    }

    /// Adds a key to the outermost table. Returns false if `path` is not exactly one key.
    pub fn insert(&mut self, path: &Path, value: Value) -> bool {
        let (Data::Table(entries), [Step::Key(key)]) = (&mut self.data, path.steps()) else { return false };
        let value = Tree { data: Data::Scalar(value), place: None };
        entries.push(Entry { key: key.clone(), key_place: None, value });
        true
    }

    /// Removes the value at `path`. Returns false if there is none.
    pub fn remove(&mut self, path: &Path) -> bool {
        let (Some(last), Some(parent)) = (path.steps().last(), path.parent()) else { return false };
        let Some(tree) = self.get_mut(&parent) else { return false };
        match (last, &mut tree.data) {
            (Step::Key(key), Data::Table(entries)) => {
                let before = entries.len();
                entries.retain(|e| e.key != *key);
                entries.len() < before
            }
            (Step::Index(index), Data::Array(items)) => {
                let before = items.len();
                items.retain(|(i, _)| i != index);
                items.len() < before
            }
            _ => false,
        }
    }

    /// Calls `visit` for every value below this one, breadth first, with its path and the position of its key.
    pub fn walk(&self, from: &Path, visit: &mut dyn FnMut(&Path, &TextRange, &Tree)) {
        let mut level: Vec<(Path, &Tree)> = vec![(from.clone(), self)];
        while !level.is_empty() {
            let mut next = Vec::new();
            for (path, tree) in level {
                match &tree.data {
                    Data::Scalar(_) => {}
                    Data::Array(items) => {
                        for (index, item) in items {
                            let inner = path.index(*index);
                            visit(&inner, &item.place, item);
                            next.push((inner, item));
                        }
                    }
                    Data::Table(entries) => {
                        for entry in entries {
                            let inner = path.key(&entry.key);
                            visit(&inner, &entry.key_place, &entry.value);
                            next.push((inner, &entry.value));
                        }
                    }
                }
            }
            level = next;
        }
    }
}

fn toml_table(table: &DeTable<'_>) -> Data {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_place: Some(key.span()),
            value: toml_value(value),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_place.as_ref().map_or(0, |place| place.start));
    Data::Table(entries)
}

fn toml_value(value: &Spanned<DeValue<'_>>) -> Tree {
    let data = match value.get_ref() {
        DeValue::String(text) => Data::Scalar(Value::String(text.to_string())),
        DeValue::Boolean(flag) => Data::Scalar(Value::Bool(*flag)),
        // The language has no dates. As text, a date fails at its position, with a message about the expected value.
        DeValue::Datetime(date) => Data::Scalar(Value::String(date.to_string())),
        DeValue::Integer(integer) => Data::Scalar(
            i128::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .and_then(Number::from_i128)
                .map_or_else(|| Value::String(integer.to_string()), Value::Number),
        ),
        DeValue::Float(float) => Data::Scalar(
            float
                .as_str()
                .parse::<f64>()
                .ok()
                .and_then(Number::from_f64)
                .map_or_else(|| Value::String(float.to_string()), Value::Number),
        ),
        DeValue::Array(items) => {
            Data::Array(items.iter().enumerate().map(|(index, item)| (index, toml_value(item))).collect())
        }
        DeValue::Table(table) => toml_table(table),
    };
    Tree { data, place: Some(value.span()) }
}

fn json_value(value: &ast::Value<'_>, path: &Path, problems: &mut Vec<Problem>) -> Tree {
    use jsonc_parser::common::Ranged;
    let span = |range: jsonc_parser::common::Range| Some(range.start..range.end);
    let data = match value {
        ast::Value::StringLit(text) => Data::Scalar(Value::String(text.value.to_string())),
        ast::Value::BooleanLit(flag) => Data::Scalar(Value::Bool(flag.value)),
        ast::Value::NullKeyword(_) => Data::Scalar(Value::Null),
        ast::Value::NumberLit(number) => Data::Scalar(
            serde_json::from_str::<Number>(number.value)
                .map_or_else(|_| Value::String(number.value.to_owned()), Value::Number),
        ),
        ast::Value::Array(array) => Data::Array(
            array
                .elements
                .iter()
                .enumerate()
                .map(|(index, item)| (index, json_value(item, &path.index(index), problems)))
                .collect(),
        ),
        ast::Value::Object(object) => {
            let mut entries: Vec<Entry> = Vec::new();
            for property in &object.properties {
                let key = property.name.as_str().to_owned();
                let inner = path.key(&key);
                let key_place = span(property.name.range());
                if entries.iter().any(|entry| entry.key == key) {
                    problems.push(
                        Problem::new(inner.clone(), format!("the key `{key}` stands twice in this object"))
                            .with_place(key_place.clone())
                            .help("remove one of the two"),
                    );
                }
                entries.push(Entry { key, key_place, value: json_value(&property.value, &inner, problems) });
            }
            Data::Table(entries)
        }
    };
    Tree { data, place: span(value.range()) }
}
