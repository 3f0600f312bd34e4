//! Links with traces and random rates, jitter, reordering and duplication: their effect on the plan, and errors for invalid ones.

use fairwave_core::random::Seed;
use fairwave_core::units::Span;
use fairwave_scenario::Scenario;
use fairwave_scenario::plan::Plan;
use serde_json::json;

fn text(rate: &str, more: &str) -> String {
    format!(
        r#"name = "links"
duration = "60 s"

[[link]]
from = "a"
to = "b"
rate = {rate}
delay = "10 ms"
{more}

[[flow]]
name = "calls"
from = "a"
to = "b"
transport = "udp"
traffic = "voice"
"#
    )
}

fn plan(rate: &str, more: &str) -> Plan {
    let scenario = Scenario::from_toml(&text(rate, more), "links.toml").expect("a scenario");
    scenario.plan(Seed(1)).expect("a plan")
}

/// The error for the scenario with this rate and further text.
fn complaint(rate: &str, more: &str) -> String {
    match Scenario::from_toml(&text(rate, more), "links.toml").and_then(|scenario| scenario.plan(Seed(1))) {
        Ok(_) => "no complaint".to_owned(),
        Err(error) => error.to_string(),
    }
}

const MINUTE: &str = r#"{ law = "trace", series = "30000 2000, 30000 500" }"#;

#[test]
fn a_trace_that_is_shorter_than_the_run_must_say_what_comes_then() {
    assert_eq!(complaint(MINUTE, ""), "no complaint");
    let short = r#"{ law = "trace", series = "30000 2000, 29999 500" }"#;
    let said = complaint(short, "");
    for part in ["links.toml:7", "lasts 59.999 s, the run 60 s", "after = \"repeat\"", "after = \"hold\""] {
        assert!(said.contains(part), "{said}");
    }
    for after in ["repeat", "hold"] {
        assert_eq!(complaint(&short.replace(" }", &format!(", after = \"{after}\" }}")), ""), "no complaint");
    }
    // The duration of a trace is unknown until its file is read.
    assert_eq!(complaint(r#"{ law = "trace", file = "lte.csv" }"#, ""), "no complaint");
}

#[test]
fn a_trace_that_is_longer_than_the_run_is_remarked_on_once() {
    let long = plan(&MINUTE.replace("500\"", "500, 1000 1\""), "");
    let said = long.cautions();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].0 == "a>b" && said[0].1.contains("(and of 1 other link directions) lasts 61 s"), "{said:?}");
    assert!(plan(MINUTE, "").cautions().is_empty());
}

#[test]
fn a_law_of_the_rate_cannot_be_changed_by_events() {
    for rate in [MINUTE, r#"{ law = "markov", preset = "lte" }"#] {
        let said = complaint(rate, "[[event]]\nat = \"5 s\"\nlink = \"a>b\"\nrate = \"1 Mb/s\"");
        assert!(said.contains("follows a law of its own"), "{said}");
    }
}

#[test]
fn what_a_wire_does_is_written_where_the_link_is_and_comes_to_the_plan() {
    let more = "jitter = \"gaussian\"\nreorder = { share = 0.01, by = \"10 ms\" }\nduplicate = { share = 0.001 }\n\
                [link.reverse]\njitter = { model = \"uniform\", up-to = \"3 ms\" }\nduplicate = { share = 0 }";
    let plan = plan("\"2 Mb/s\"", more);
    let [there, back] = &plan.links[..] else { panic!("two directions") };
    let reorder = there.direction.changes.reorder.expect("reordering");
    assert_eq!((reorder.share, reorder.by), (0.01, Span::from_millis(10)));
    assert_eq!(there.direction.changes.duplicate.map(|duplicate| duplicate.share), Some(0.001));
    // The reverse direction inherits omitted keys from the forward direction.
    assert!(back.direction.changes.reorder.is_some() && back.direction.changes.duplicate.is_none());
    let exact = plan.to_json().expect("JSON");
    assert_eq!(exact["links"][0]["jitter"], json!({ "model": "gaussian", "deviation": "5 ms", "at-most": 3.0 }));
    assert_eq!(exact["links"][1]["jitter"], json!({ "model": "uniform", "up-to": "3 ms" }));
}

#[test]
fn what_means_the_same_has_the_same_hash() {
    let hash = |more: &str| {
        let scenario = Scenario::from_toml(&text("\"2 Mb/s\"", more), "links.toml").expect("a scenario");
        scenario.content_hash().expect("a hash")
    };
    assert_eq!(
        hash("jitter = \"gaussian\""),
        hash("jitter = { model = \"gaussian\", deviation = \"5 ms\", at-most = 3.0 }")
    );
    assert_ne!(hash("jitter = \"gaussian\""), hash(""));
    assert_ne!(hash("duplicate = { share = 0.1 }"), hash("duplicate = { share = 0.2 }"));
}

#[test]
fn what_is_out_of_range_is_refused_at_its_place() {
    for (more, parts) in [
        ("jitter = { model = \"uniform\", up-to = \"0 s\" }", ["jitter", "above 0"]),
        ("jitter = { model = \"pareto\" }", ["pareto", "gaussian"]),
        ("reorder = { share = 2, by = \"1 ms\" }", ["share", "a fraction from 0 to 1"]),
        ("reorder = { share = 0.1, by = \"0 s\" }", ["by", "above 0"]),
        ("duplicate = { share = -0.1 }", ["share", "a fraction from 0 to 1"]),
        ("duplicate = { shares = 0.1 }", ["shares", "share"]),
    ] {
        let said = complaint("\"2 Mb/s\"", more);
        assert!(said.contains("links.toml:9") && parts.iter().all(|part| said.contains(part)), "{said}");
    }
}
