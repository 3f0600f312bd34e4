//! Every remedy that an error suggests is accepted: for every law of every family, for each of its numeric keys.

use fairwave_core::config::ConfigError;
use fairwave_core::link::RateConfig;
use fairwave_core::link::jitter::JitterConfig;
use fairwave_core::loss::LossConfig;
use fairwave_core::quality::playout::PlayoutConfig;
use fairwave_core::queue::QueueConfig;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use fairwave_scenario::Scenario;
use fairwave_scenario::law::Law;
use serde_json::{Map, Value, json};

/// Values for mandatory keys of laws.
fn needed(name: &str, key: &str) -> Value {
    match (name, key) {
        (_, "rate") if name == "bernoulli" => json!(0.01),
        (_, "rate") => json!("1 Mb/s"),
        ("recording", "talk") => json!([[0, 50]]),
        (_, "on" | "off" | "talk" | "silence") => json!({ "distribution": "exponential", "mean": "1 s" }),
        (_, "capacity") => json!({ "packets": 100 }),
        ("transfer", "size") => json!("1 MB"),
        ("web", "reading") => json!({ "distribution": "exponential", "mean": "5 s" }),
        ("markov", "states") => json!([{ "rate": "1 Mb/s", "mean": "1 s" }, { "rate": "2 Mb/s", "mean": "1 s" }]),
        ("schedule", "steps") => json!([{ "at": "0 s", "is": "1 Mb/s" }]),
        (_, "good" | "bad" | "connected" | "handoff" | "to" | "offset" | "at" | "mean" | "least") => json!("1 s"),
        (_, "from") => json!("0.5 s"),
        _ => Value::Null,
    }
}

fn read<T: Law>(table: &Map<String, Value>) -> Result<Result<(), ConfigError>, serde_json::Error> {
    let mut whole = table.clone();
    T::complete(&mut whole);
    serde_json::from_value::<T>(Value::Object(whole)).map(|law| law.check())
}

fn is_number(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == "number" || one == "integer",
        Some(Value::Array(several)) => several.iter().any(|one| one == "number" || one == "integer"),
        _ => false,
    }
}

/// Applies every remedy suggested for numbers out of range. Returns the number of remedies.
fn remedies_of<T: Law>(refused_too: &mut Vec<String>) -> usize {
    let schema = T::json_schema(&mut schemars::SchemaGenerator::default()).to_value();
    let mut taken = 0;
    for law in schema["oneOf"].as_array().into_iter().flatten() {
        let properties = law["properties"].as_object().expect("keys");
        let name = properties[T::TAG]["const"].as_str().expect("a name");
        let mut base = T::from_name(name);
        for key in law["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if key != T::TAG && key != "capacity" {
                base.insert(key.to_owned(), needed(name, key));
            }
        }
        if name == "game" {
            base.insert("rate".to_owned(), json!("20 Mb/s"));
        }
        if name == "replay" {
            base.insert("packets".to_owned(), json!("0:1200"));
        }
        if name == "video-trace" {
            base.insert("frames".to_owned(), json!([{ "type": "I", "sizes": [4000, 4000, 4000, 4000, 4000] }]));
        }
        for (key, about) in properties.iter().filter(|(_, about)| is_number(about)) {
            for value in [json!(-1), json!(0), json!(1), json!(1.0), json!(2.5), json!(1e12)] {
                let mut table = base.clone();
                table.insert(key.clone(), value.clone());
                let Ok(Err(ConfigError { key: refused, allowed, example, .. })) = read::<T>(&table) else { continue };
                let remedy = Scenario::override_value(&format!("{{ {example} }}"));
                let Some(remedy) = remedy.as_object() else {
                    refused_too.push(format!("{name}: {key} = {value}: `{example}` is not TOML"));
                    continue;
                };
                if refused.contains('.') || remedy.contains_key(T::TAG) {
                    continue;
                }
                table.extend(remedy.clone());
                let again = read::<T>(&table);
                if !matches!(again, Ok(Ok(()))) {
                    refused_too.push(format!("{name}: {key} = {value} is to be {allowed}; `{example}`: {again:?}"));
                }
                taken += 1;
                // If an end of the range is excluded, the description must state it.
                if remedy.contains_key(key)
                    && (value == json!(0) || value == json!(1))
                    && about["description"].is_string()
                {
                    let said = about["description"].as_str().unwrap_or_default();
                    assert!(!said.contains("between 0 and 1"), "{name}: {key}: {said}");
                }
            }
        }
    }
    taken
}

#[test]
fn what_an_error_suggests_is_accepted() {
    let mut refused_too = Vec::new();
    let refused = &mut refused_too;
    assert!(remedies_of::<QueueConfig>(refused) > 50);
    assert!(remedies_of::<TransportConfig>(refused) > 100);
    assert!(remedies_of::<TrafficConfig>(refused) > 3);
    assert!(remedies_of::<LossConfig>(refused) > 3);
    assert!(remedies_of::<JitterConfig>(refused) > 0);
    remedies_of::<RateConfig>(refused);
    remedies_of::<PlayoutConfig>(refused);
    assert_eq!(refused_too, Vec::<String>::new());
}
