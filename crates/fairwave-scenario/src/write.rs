//! Writes a scenario: JSON, TOML, JSON Schema, and the hash that identifies it in results.

use serde_json::{Map, Value, json};

use crate::events::Event;
use crate::hosts::{Hosts, HostsPlan};
use crate::law::LawTable;
use crate::model::Scenario;
use crate::version::{KEY, LANGUAGE};

impl Scenario {
    /// Returns canonical JSON: keys in alphabetical order, defaults left out except the version, laws as written.
    ///
    /// # Errors
    /// Numbers that JSON cannot represent (NaN, infinity). Only a scenario built in code can contain them.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut whole = self.canonical()?;
        if let Some(table) = whole.as_object_mut() {
            table.insert(KEY.to_owned(), LANGUAGE.to_string().into());
        }
        serde_json::to_string_pretty(&sorted(whole))
    }

    /// Returns TOML: one line per key; nested tables of links and flows on one line each.
    ///
    /// # Errors
    /// See [`Scenario::to_json`].
    pub fn to_toml(&self) -> Result<String, serde_json::Error> {
        let whole = serde_json::to_value(self)?;
        let mut text = format!("{KEY} = \"{LANGUAGE}\"\n");
        let mut tables = String::new();
        for key in KEYS {
            match whole.get(key) {
                None => {}
                Some(Value::Array(items)) => {
                    for item in items {
                        tables.push_str(&format!("\n[[{key}]]\n"));
                        write_keys(item, &mut tables);
                    }
                }
                Some(table @ Value::Object(_)) => {
                    tables.push_str(&format!("\n[{key}]\n"));
                    write_keys(table, &mut tables);
                }
                Some(scalar) => text.push_str(&format!("{key} = {}\n", inline(scalar))),
            }
        }
        Ok(text + &tables)
    }

    /// Sixteen hexadecimal digits that identify the scenario on any machine, independent of its written form. FNV-1a of the JSON
    /// without spaces, with all parameters of queues, losses, traffic and transports. The hash distinguishes scenarios; it is not
    /// cryptographic.
    ///
    /// # Errors
    /// See [`Scenario::to_json`].
    pub fn content_hash(&self) -> Result<String, serde_json::Error> {
        let text = self.spelled_out().canonical()?.to_string();
        let hash = text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Ok(format!("{hash:016x}"))
    }

    /// Returns the scenario with all parameters of its laws, including defaults.
    pub fn spelled_out(&self) -> Scenario {
        let (mut whole, details) = (self.clone(), self.preset);
        // The model has the current keys, whatever version the author wrote.
        whole.version = LANGUAGE;
        let hosts = self.hosts();
        // Hosts with perfect timing are left out.
        whole.hosts = (hosts != HostsPlan::default())
            .then_some(Hosts { clock_skew: Some(hosts.clock_skew), send_jitter: Some(hosts.send_jitter) });
        for law in whole.media.values_mut() {
            *law = law.spelled_out();
        }
        for link in &mut whole.links {
            // A link with an omitted queue equals a link that writes the default queue.
            let (queue, loss) = (link.spec.there.queue(), link.spec.there.loss());
            (link.spec.there.queue, link.spec.there.loss) = (Some(queue), Some(loss));
            link.spec = link.spec.spelled_out();
            link.spec.there = std::mem::take(&mut link.spec.there).omit_defaults();
        }
        whole.events = whole.events.iter().map(Event::spelled_out).collect();
        let of_topology = whole.topology.iter_mut().flat_map(|topology| topology.specs_mut());
        let of_flows = whole.flows.iter_mut().flat_map(|flow| {
            if let Ok(transport) = flow.transport.with_details(details).and_then(|law| LawTable::from_law(&law)) {
                flow.transport = transport;
            }
            if let Ok(traffic) = flow.traffic.with_details(details).and_then(|law| LawTable::from_law(&law)) {
                flow.traffic = traffic;
            }
            flow.playout = flow.playout.as_ref().map(LawTable::spelled_out);
            [&mut flow.source_access, &mut flow.sink_access].into_iter().flatten()
        });
        for spec in of_topology.chain(of_flows) {
            *spec = spec.spelled_out();
        }
        whole
    }

    fn canonical(&self) -> Result<Value, serde_json::Error> {
        Ok(sorted(serde_json::to_value(self)?))
    }

    /// The JSON Schema (draft 2020-12) of the language. Its `$id` ends in the version of the language.
    pub fn json_schema() -> Value {
        let mut schema = schemars::schema_for!(Scenario).to_value();
        for definition in schema.get_mut("$defs").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
            allow_names(definition);
        }
        if let Some(table) = schema.as_object_mut() {
            table.insert("$id".to_owned(), format!("urn:fairwave:scenario:{LANGUAGE}").into());
        }
        schema
    }
}

/// Adds the names that the language accepts for a law within another law (`control = "gcc"`, as `{ name = "gcc" }`), and short names
/// (`cubic` for `tcp/cubic`).
fn allow_names(definition: &mut Value) {
    if let Some(laws) = definition.get_mut("oneOf").and_then(Value::as_array_mut) {
        let names: Vec<Value> = laws.iter().filter_map(name_of_law).collect();
        if !names.is_empty() {
            laws.insert(0, json!({ "enum": names, "description": "The law with its defaults." }));
        }
    }
    if let Some(names) = definition.pointer_mut("/anyOf/0/enum").and_then(Value::as_array_mut) {
        // Laws of the machine (`host/…`) have no short name.
        let full: Vec<String> = names
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| !name.starts_with("host/"))
            .map(str::to_owned)
            .collect();
        let last = |name: &str| name.rsplit('/').next().map(str::to_owned);
        let is_short = |name: &String| full.iter().filter(|full| last(full).as_ref() == Some(name)).count() == 1;
        let of_families = full.iter().filter(|name| name.contains('/'));
        names.extend(of_families.filter_map(|name| last(name)).filter(is_short).map(Value::from));
    }
}

/// The name of a law of the schema whose other keys all have defaults.
fn name_of_law(law: &Value) -> Option<Value> {
    let keys = law.get("required")?.as_array().filter(|keys| keys.len() == 1 && law.get("anyOf").is_none())?;
    law.get("properties")?.get(keys.first()?.as_str()?)?.get("const").cloned()
}

/// Sorts the keys of all tables, whatever order serde_json is configured to keep.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(table) => {
            let mut entries: Vec<(String, Value)> =
                table.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// Top-level keys in reading order.
const KEYS: [&str; 15] = [
    "name",
    "description",
    "duration",
    "warmup",
    "preset",
    "seed",
    "hosts",
    "topology",
    "medium",
    "link",
    "load",
    "call",
    "flow",
    "event",
    "record",
];

/// Keys of nested tables in reading order. Others follow in alphabetical order.
const INNER_KEYS: [&str; 14] = [
    "name",
    "preset",
    "discipline",
    "model",
    "kind",
    "count",
    "path",
    "from",
    "to",
    "transport",
    "traffic",
    "rate",
    "delay",
    "queue",
];

fn sort_entries(table: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = table.iter().filter(|(_, value)| !value.is_null()).collect();
    let rank = |key: &str| INNER_KEYS.iter().position(|known| *known == key).unwrap_or(INNER_KEYS.len());
    entries.sort_by(|(a, _), (b, _)| (rank(a), a).cmp(&(rank(b), b)));
    entries
}

fn write_keys(table: &Value, text: &mut String) {
    for (key, value) in sort_entries(table.as_object().unwrap_or(&Map::new())) {
        text.push_str(&format!("{} = {}\n", toml_key(key), inline(value)));
    }
}

pub(crate) fn inline(value: &Value) -> String {
    match value {
        Value::Object(table) if table.is_empty() => "{}".to_owned(),
        Value::Object(table) => {
            let entries: Vec<String> = sort_entries(table)
                .into_iter()
                .map(|(key, value)| format!("{} = {}", toml_key(key), inline(value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::String(text) => toml::Value::String(text.clone()).to_string(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.to_string(),
            (None, Some(float)) => toml::Value::Float(float).to_string(),
            _ => number.to_string(),
        },
        Value::Bool(flag) => flag.to_string(),
        // TOML has no null; the writer leaves out keys with null.
        Value::Null => "\"\"".to_owned(),
    }
}

fn toml_key(key: &str) -> String {
    if !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
        key.to_owned()
    } else {
        toml::Value::String(key.to_owned()).to_string()
    }
}
