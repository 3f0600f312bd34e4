//! An override that names a law alone, `queue = "codel"`: it exchanges the law and keeps what both laws have in common, so that
//! a comparison of laws changes nothing else.
//!
//! A key is common when both laws have it, with values of the same kind. Some keys are common in name only: α of REM is no α of
//! PIE. A family lists these ([`Law::OWN_MEANING`]); they are kept only between laws that describe them in the same words. What
//! is common but does not fit the new law (`ecn = "classic"` and Prague) is dropped with the rest.

use std::collections::BTreeMap;

use fairwave_core::link::jitter::JitterConfig;
use fairwave_core::loss::LossConfig;
use fairwave_core::quality::playout::PlayoutConfig;
use fairwave_core::queue::QueueConfig;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use schemars::SchemaGenerator;
use serde_json::{Map, Value};

use crate::details::Details;
use crate::law::{Law, LawTable};
use crate::suggest::list;
use crate::write::inline;

/// The key by which transports take the details of the RFCs, of Linux or of ns-2.
const PRESET: &str = "preset";

/// What became of a law's parameters when another took its place.
pub(crate) struct Exchange {
    /// The new law with what it has in common with the old one.
    pub table: Map<String, Value>,
    /// Which law took the place of which, what was kept and what dropped; none if there was nothing to keep or drop.
    pub words: Option<String>,
}

/// The law that stands in `old`, under the scenario's key `key`, exchanged for the law `name`; none where `key` names no law, or
/// `name` is not known.
pub(crate) fn exchanged(key: &str, old: &Map<String, Value>, name: &str) -> Option<Exchange> {
    match key {
        "queue" => of_family::<QueueConfig>(old, name),
        "transport" => of_family::<TransportConfig>(old, name),
        "traffic" => of_family::<TrafficConfig>(old, name),
        "loss" => of_family::<LossConfig>(old, name),
        "jitter" => of_family::<JitterConfig>(old, name),
        "playout" => of_family::<PlayoutConfig>(old, name),
        _ => None,
    }
}

/// The key that names the law that stands under the scenario's key `key`: `discipline` for `queue`.
pub(crate) fn tag_of(key: &str) -> Option<&'static str> {
    match key {
        "queue" => Some(QueueConfig::TAG),
        "transport" => Some(TransportConfig::TAG),
        "traffic" => Some(TrafficConfig::TAG),
        "loss" => Some(LossConfig::TAG),
        "jitter" => Some(JitterConfig::TAG),
        "playout" => Some(<PlayoutConfig as Law>::TAG),
        _ => None,
    }
}

fn of_family<T: Law>(old: &Map<String, Value>, name: &str) -> Option<Exchange> {
    let name = T::full_name(name).ok()?;
    let mut whole = old.clone();
    T::complete(&mut whole);
    let old_name = whole.get(T::TAG)?.as_str()?.to_owned();
    if old_name == name {
        return Some(Exchange { table: old.clone(), words: None });
    }
    let laws = laws::<T>();
    let (from, to) = (laws.get(&old_name)?, laws.get(&name)?);
    let mut table = T::from_name(&name);
    let common = |key: &str| {
        from.get(key).zip(to.get(key)).is_some_and(|(old, new)| old.is_as(new, T::OWN_MEANING.contains(&key)))
    };
    table.extend(
        old.iter().filter(|(key, _)| *key != T::TAG && common(key)).map(|(key, value)| (key.clone(), value.clone())),
    );
    // The scenario's preset is not known here: a key stays if the law takes it with the preset that refuses least.
    let checked = |table: &Map<String, Value>| {
        let mut whole = table.clone();
        if to.contains_key(PRESET) {
            whole.entry(PRESET).or_insert_with(|| Value::from(Details::Rfc.name()));
        }
        LawTable::<T>::refused_key(&whole)
    };
    // What the new law refuses of the old one's, one key after the other.
    while let Some(key) = checked(&table).filter(|key| key != T::TAG && old.contains_key(key)) {
        if table.remove(&key).is_none() {
            break;
        }
    }
    let (kept, dropped): (Vec<_>, Vec<_>) =
        old.iter().filter(|(key, _)| *key != T::TAG).partition(|(key, _)| table.contains_key(*key));
    let said = |entries: &[(&String, &Value)]| {
        let lines: Vec<String> = entries.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
        list(lines.iter().map(String::as_str)).replace(" or `", " and `")
    };
    let words = match (kept.is_empty(), dropped.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("{name} instead of {old_name} keeps {}", said(&kept))),
        (true, false) => Some(format!("{name} instead of {old_name} drops {}", said(&dropped))),
        (false, false) => {
            Some(format!("{name} instead of {old_name} keeps {}, and drops {}", said(&kept), said(&dropped)))
        }
    };
    Some(Exchange { table, words })
}

/// What a law's key holds.
struct Key {
    kind: Value,
    about: String,
}

impl Key {
    fn is_as(&self, other: &Key, own_meaning: bool) -> bool {
        self.kind == other.kind && (!own_meaning || self.about == other.about)
    }
}

/// The keys of each law of a family.
fn laws<T: Law>() -> BTreeMap<String, BTreeMap<String, Key>> {
    let schema = T::json_schema(&mut SchemaGenerator::default()).to_value();
    let laws = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    laws.filter_map(|law| {
        let properties = law.get("properties")?.as_object()?;
        let name = properties.get(T::TAG)?.get("const")?.as_str()?;
        let forms = law.get("anyOf").and_then(Value::as_array).into_iter().flatten();
        let of_forms = forms.filter_map(|form| form.get("properties")?.as_object()).flatten();
        let keys = properties.iter().chain(of_forms).map(|(key, about)| (key.clone(), described(about)));
        Some((name.to_owned(), keys.collect()))
    })
    .collect()
}

/// The kind of a key's values, without what says whether and how it may be left out.
fn described(schema: &Value) -> Key {
    let about = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let null = Value::from("null");
    let mut kind = schema.clone();
    if let Some(table) = kind.as_object_mut() {
        table.retain(|key, _| !["description", "default", "title", "examples"].contains(&key.as_str()));
        if let Some(Value::Array(types)) = table.get_mut("type") {
            types.retain(|one| *one != null);
            if let [only] = types.as_slice() {
                let only = only.clone();
                table.insert("type".to_owned(), only);
            }
        }
        if let Some(forms) = table.get_mut("anyOf").and_then(Value::as_array_mut) {
            forms.retain(|form| form.get("type") != Some(&null));
            if let [only] = forms.as_slice() {
                kind = only.clone();
            }
        }
    }
    Key { kind, about }
}
