//! Names that scenarios can use, read from the JSON Schema. A new law in `fairwave-core` appears without a change here.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use serde_json::Value;

/// For each kind: name and first sentence of the description, in the order of the schema.
type Names = BTreeMap<&'static str, Vec<(String, String)>>;

/// Kinds: each with the schema's definition that lists its names, and the key that carries a name.
const KINDS: [(&str, &str, &str); 9] = [
    ("transports", "WrittenTransportConfig", "name"),
    ("controllers", "RateControlConfig", "name"),
    ("traffic", "WrittenTrafficConfig", "kind"),
    ("queues", "WrittenQueueConfig", "discipline"),
    ("losses", "WrittenLossConfig", "model"),
    ("rates", "WrittenRate", "law"),
    ("media", "WrittenMediumConfig", "law"),
    ("jitters", "WrittenJitterConfig", "model"),
    ("playouts", "WrittenPlayoutConfig", "strategy"),
];

/// All names that scenarios can use, by kind.
#[pyfunction]
pub fn names() -> Names {
    let schema = fairwave_scenario::Scenario::json_schema();
    let mut found = Names::new();
    for (kind, definition, key) in KINDS {
        let mut several = Vec::new();
        if let Some(part) = schema.pointer(&format!("/$defs/{definition}")) {
            alternatives(&schema, part, key, &mut several, 8);
        }
        found.insert(kind, several);
    }
    found
}

/// The replacement for another tool's word, as a value of the key `of` (of any key if `of` is empty).
#[pyfunction]
pub fn instead(of: &str, word: &str) -> Option<&'static str> {
    fairwave_scenario::foreign::instead(of, word)
}

/// All words of other tools that have a replacement, with the key for whose value users write them.
#[pyfunction]
pub fn foreign_words() -> Vec<(&'static str, &'static str)> {
    fairwave_scenario::foreign::words().collect()
}

/// The simulator's measures of flow groups, as JSON: column of `groups`, name, title, unit, range and kinds of flows.
#[pyfunction]
pub fn group_measures() -> PyResult<String> {
    serde_json::to_string(&fairwave_sim::measures::described())
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
}

/// The named access networks, as JSON: name, description, downlink, differences of the uplink, and sources.
#[pyfunction]
pub fn access_networks() -> PyResult<String> {
    let networks = fairwave_scenario::access::AccessNetwork::ALL.iter().map(|network| -> PyResult<Value> {
        let data = network.data().map_err(pyo3::exceptions::PyValueError::new_err)?;
        let failed = |error: serde_json::Error| pyo3::exceptions::PyValueError::new_err(error.to_string());
        let mut table = serde_json::to_value(data).map_err(failed)?;
        table["name"] = network.name().into();
        Ok(table)
    });
    serde_json::to_string(&networks.collect::<PyResult<Vec<Value>>>()?)
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
}

fn alternatives(schema: &Value, part: &Value, key: &str, found: &mut Vec<(String, String)>, depth: u8) {
    if depth == 0 {
        return;
    }
    if let Some(name) = part.pointer(&format!("/properties/{key}/const")).and_then(Value::as_str) {
        let description = part.get("description").and_then(Value::as_str).unwrap_or_default();
        if !found.iter().any(|(known, _)| known == name) {
            found.push((name.to_owned(), first_sentence(description)));
        }
    }
    for word in ["oneOf", "anyOf", "allOf"] {
        for inner in part.get(word).and_then(Value::as_array).into_iter().flatten() {
            alternatives(schema, inner, key, found, depth - 1);
        }
    }
    let target = part.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    if let Some(inner) = target.and_then(|pointer| schema.pointer(pointer)) {
        alternatives(schema, inner, key, found, depth - 1);
    }
}

fn first_sentence(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    flat.split_inclusive(". ").next().unwrap_or_default().trim().to_owned()
}
