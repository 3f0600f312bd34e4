//! The version of a scenario, and keys with a new name.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_scenario::renames::RENAMES;
use fairwave_scenario::version::{LANGUAGE, VERSIONS};
use serde_json::json;

const CALL: &str = r#"name = "call"
duration = "10 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }

[[flow]]
name = "call"
transport = { name = "webrtc", control = { name = "scream", push-back = false } }
traffic = "media"
"#;

fn read(text: &str) -> Result<Scenario, String> {
    Scenario::from_toml(text, "call.toml").map_err(|error| error.to_string())
}

fn hash(scenario: &Scenario) -> String {
    scenario.content_hash().expect("a hash")
}

#[test]
fn a_scenario_may_state_its_version_and_means_the_same() {
    let plain = read(CALL).expect("a scenario");
    assert_eq!(plain.version, LANGUAGE);
    for version in VERSIONS {
        let stated = read(&format!("version = \"{version}\"\n{CALL}")).expect("a scenario");
        assert_eq!((stated.version, hash(&stated)), (*version, hash(&plain)));
        assert_eq!(stated.plan(Seed(1)).expect("a plan").to_json().expect("JSON")["version"], version.to_string());
    }
}

#[test]
fn written_scenarios_state_the_version_and_are_read_again() {
    let plain = read(CALL).expect("a scenario");
    let (toml, json) = (plain.to_toml().expect("TOML"), plain.to_json().expect("JSON"));
    assert!(toml.starts_with(&format!("version = \"{LANGUAGE}\"\nname = \"call\"\n")), "{toml}");
    assert!(json.contains(&format!("\"version\": \"{LANGUAGE}\"")), "{json}");
    assert_eq!(Scenario::from_toml(&toml, "call.toml"), Ok(plain.clone()));
    assert_eq!(Scenario::from_json(&json, "call.json"), Ok(plain));
}

#[test]
fn a_newer_version_is_the_only_error_and_names_the_remedy() {
    let text = format!("version = \"{}.{}\"\nnew-key = true\n{CALL}", LANGUAGE.major, LANGUAGE.minor + 1);
    let error = Scenario::from_toml(&text, "call.toml").expect_err("a newer version");
    let [problem] = &error.problems[..] else { panic!("{error}") };
    assert_eq!(error.line_and_column(problem), Some((1, 11)));
    assert!(problem.help.as_deref().is_some_and(|help| help.contains("pip install --upgrade fairwave")), "{error}");
    let scenario = read(CALL).expect("a scenario");
    assert!(scenario.with_overrides(&[("version", json!("99.0"))]).is_err());
}

#[test]
fn a_malformed_version_lists_the_allowed_ones() {
    for written in ["0.1", "\"0.1.0\"", "\"v0.1\"", "\"0.0\"", "\"\"", "1", "true", "[]", "{}"] {
        let error = read(&format!("version = {written}\n{CALL}")).expect_err(written);
        assert!(error.contains("call.toml:1:11 (version)"), "{error}");
        assert!(error.contains(&format!("allowed: \"{LANGUAGE}\"")), "{error}");
        assert!(error.contains(&format!("write for example `version = \"{LANGUAGE}\"`")), "{error}");
    }
}

#[test]
fn a_key_with_a_new_name_works_for_one_release_with_a_warning() {
    let new = read(CALL).expect("a scenario");
    assert!(new.renamed_keys().is_empty());
    let old = read(&CALL.replace("push-back", "pushback")).expect("a scenario");
    assert_eq!((&old, hash(&old)), (&new, hash(&new)));
    let [(place, words)] = old.renamed_keys() else { panic!("one warning") };
    assert_eq!(place, "flow[0].transport.control.pushback");
    assert!(words.contains("write `push-back`, or run `fairwave upgrade call.toml`"), "{words}");
    // The value's mistakes still have their place in the text.
    let error = read(&CALL.replace("push-back = false", "pushback = 3")).expect_err("a number");
    assert!(error.contains("call.toml:10:"), "{error}");
}

#[test]
fn an_override_may_have_the_old_name_too() {
    let scenario = read(CALL).expect("a scenario");
    let changed = |key: &str| scenario.with_overrides(&[(key, json!(true))]).expect("a scenario");
    let (new, old) =
        (changed("flow.call.transport.control.push-back"), changed("flow.call.transport.control.pushback"));
    assert_eq!(new, old);
    assert!(new.renamed_keys().is_empty() && old.renamed_keys().len() == 1);
    let table = json!({ "name": "scream", "pushback": true });
    let whole = scenario.with_overrides(&[("flow.call.transport.control", table)]).expect("a scenario");
    assert_eq!((whole.renamed_keys().len(), hash(&whole)), (1, hash(&new)));
}

#[test]
fn old_and_new_name_together_are_an_error() {
    let error = read(&CALL.replace("push-back = false", "push-back = false, pushback = true")).expect_err("both");
    assert!(error.contains("help: remove `pushback`") && error.contains("call.toml:10:"), "{error}");
}

#[test]
fn every_renamed_key_is_unknown_to_the_schema_and_the_new_one_is_known() {
    let schema = Scenario::json_schema();
    assert_eq!(schema["$id"], format!("urn:fairwave:scenario:{LANGUAGE}"));
    let text = schema.to_string();
    for one in RENAMES {
        assert!(!text.contains(&format!("\"{}\":{{", one.old)), "{one:?}");
        assert!(text.contains(&format!("\"{}\":{{", one.new)), "{one:?}");
    }
}

#[test]
fn an_upgrade_has_the_new_names() {
    let old = CALL.replace("push-back = false", "pushback=false, # SCReAM's\n ");
    let upgrade = Scenario::upgrade(&old, "call.toml").expect("TOML");
    assert_eq!(upgrade.text, old.replace("pushback=", "push-back="));
    assert_eq!(upgrade.rest, None);
    let current = Scenario::upgrade(CALL, "call.toml").expect("TOML");
    assert!(current.text == CALL && current.changes.is_empty());
    let wrong = Scenario::upgrade(&old.replace("duration", "durations"), "call.toml").expect("TOML");
    assert!(wrong.text.contains("push-back=false"));
    assert!(wrong.rest.is_some_and(|rest| rest.to_string().contains("did you mean `duration`?")));
}

#[test]
fn the_schema_knows_names_within_laws_and_short_names() {
    let schema = Scenario::json_schema();
    let has = |place: &str, name: &str| {
        let names = schema.pointer(&format!("/$defs/{place}/enum")).and_then(|names| names.as_array());
        names.is_some_and(|names| names.contains(&json!(name)))
    };
    assert!(has("RateControlConfig/oneOf/0", "gcc") && has("LossConfig/oneOf/0", "none"));
    assert!(!has("LossConfig/oneOf/0", "bernoulli"), "a law that needs a number");
    assert!(has("WrittenTransportConfig/anyOf/0", "tcp/cubic") && has("WrittenTransportConfig/anyOf/0", "cubic"));
    assert!(!has("WrittenTransportConfig/anyOf/0", "host/cubic") || !has("WrittenTransportConfig/anyOf/0", "tcp"));
}
