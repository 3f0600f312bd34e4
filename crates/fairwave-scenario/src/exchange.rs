//! Overrides that give only a law's name, such as `queue = "codel"`. They replace the law and keep the parameters
//! common to both laws, so that a comparison of laws changes nothing else.
//!
//! A key is common if both laws have it with values of the same kind. Some keys share only the name: α of REM is not α
//! of PIE. A family lists such keys ([`Law::OWN_MEANING`]). They are kept only between laws whose descriptions of the
//! key are identical. Common keys with values that the new law rejects (`ecn = "classic"` and Prague) are dropped with
//! the rest.

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

/// The key with which transports select details of the RFCs, of Linux or of ns-2.
const PRESET: &str = "preset";

/// Result of replacing one law with another.
pub(crate) struct Exchange {
    /// Table of the new law, including the parameters kept from the old one.
    pub table: Map<String, Value>,
    /// Message: the old and new law, and the parameters kept and dropped. `None` if the old law had no parameters.
    pub words: Option<String>,
}

/// Replaces the law `old`, under the scenario's key `key`, with the law `name`. `None` if `key` names no law or `name`
/// is unknown.
pub(crate) fn exchanged(key: &str, old: &Map<String, Value>, name: &str) -> Option<Exchange> {
    match key {
        "queue" => exchange_in_family::<QueueConfig>(old, name),
        "transport" => exchange_in_family::<TransportConfig>(old, name),
        "traffic" => exchange_in_family::<TrafficConfig>(old, name),
        "loss" => exchange_in_family::<LossConfig>(old, name),
        "jitter" => exchange_in_family::<JitterConfig>(old, name),
        "playout" => exchange_in_family::<PlayoutConfig>(old, name),
        _ => None,
    }
}

/// The key that names a law under the scenario's key `key`: `discipline` for `queue`.
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

fn exchange_in_family<T: Law>(old: &Map<String, Value>, name: &str) -> Option<Exchange> {
    let name = T::full_name(name).ok()?;
    let mut complete = old.clone();
    T::complete(&mut complete);
    let old_name = complete.get(T::TAG)?.as_str()?.to_owned();
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
    // The scenario's preset is not known here. A key stays if the law accepts it with the most permissive preset.
    let checked = |table: &Map<String, Value>| {
        let mut complete = table.clone();
        if to.contains_key(PRESET) {
            complete.entry(PRESET).or_insert_with(|| Value::from(Details::Rfc.name()));
        }
        LawTable::<T>::refused_key(&complete)
    };
    // Remove the old law's keys that the new law rejects, one at a time.
    while let Some(key) = checked(&table).filter(|key| key != T::TAG && old.contains_key(key)) {
        if table.remove(&key).is_none() {
            break;
        }
    }
    let (kept, dropped): (Vec<_>, Vec<_>) =
        old.iter().filter(|(key, _)| *key != T::TAG).partition(|(key, _)| table.contains_key(*key));
    let show = |entries: &[(&String, &Value)]| {
        let lines: Vec<String> = entries.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
        list(lines.iter().map(String::as_str)).replace(" or `", " and `")
    };
    let words = match (kept.is_empty(), dropped.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("{name} instead of {old_name} keeps {}", show(&kept))),
        (true, false) => Some(format!("{name} instead of {old_name} drops {}", show(&dropped))),
        (false, false) => {
            Some(format!("{name} instead of {old_name} keeps {}, and drops {}", show(&kept), show(&dropped)))
        }
    };
    Some(Exchange { table, words })
}

/// Value kind and description of a law's key.
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

/// Kind and description of a key's values. The kind leaves out defaults and `null`.
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
