//! Events and schedules: their effect on the plan, and errors for invalid ones.

use fairwave_core::link::{Outage, RateConfig};
use fairwave_core::loss::LossConfig;
use fairwave_core::random::Seed;
use fairwave_core::timed::Step;
use fairwave_core::units::{Instant, Rate, Span};
use fairwave_scenario::Scenario;
use fairwave_scenario::plan::{LinkPlan, Plan};
use serde_json::json;

const SOUND: &str = r#"name = "events"
duration = "60 s"

[[link]]
from = "a"
to = "b"
rate = "2 Mb/s"
delay = "10 ms"

[[flow]]
name = "calls"
count = 3
from = "a"
to = "b"
transport = "udp"
traffic = "voice"
"#;

fn scenario(more: &str) -> Scenario {
    Scenario::from_toml(&format!("{SOUND}{more}"), "events.toml").expect("a scenario")
}

fn plan(more: &str) -> Plan {
    scenario(more).plan(Seed(1)).expect("a plan")
}

fn link<'p>(plan: &'p Plan, name: &str) -> &'p LinkPlan {
    plan.links.iter().find(|link| &*link.name == name).expect("a link")
}

fn event(keys: &str) -> String {
    format!("[[event]]\n{keys}\n")
}

/// The error for the valid scenario with further text.
fn complaint(more: &str) -> String {
    let text = format!("{SOUND}{more}");
    match Scenario::from_toml(&text, "events.toml").and_then(|scenario| scenario.plan(Seed(1))) {
        Ok(_) => "no complaint".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn secs(seconds: u64) -> Span {
    Span::from_secs(seconds)
}

#[test]
fn events_of_a_link_are_the_schedules_that_it_could_have_written_itself() {
    let by_events = plan(
        &[
            event("at = \"20 s\"\nlink = \"a>b\"\nrate = \"500 kb/s\"\ndelay = \"50 ms\""),
            event("at = \"10 s\"\nlink = \"a>b\"\nloss = { model = \"bernoulli\", rate = 0.02 }"),
            event("at = \"30 s\"\nlink = \"a>b\"\nstate = \"down\""),
            event("at = \"32 s\"\nlink = \"a>b\"\nstate = \"up\""),
        ]
        .concat(),
    );
    let written = SOUND
        .replace(
            "rate = \"2 Mb/s\"\ndelay = \"10 ms\"",
            r#"duplex = false
            rate = [{ at = "0 s", is = "2 Mb/s" }, { at = "20 s", is = "500 kb/s" }]
            delay = [{ at = "0 s", is = "10 ms" }, { at = "20 s", is = "50 ms" }]
            loss = [{ at = "0 s", is = "none" }, { at = "10 s", is = { model = "bernoulli", rate = 0.02 } }]
            outages = [{ from = "30 s", to = "32 s" }]"#,
        )
        .replace(
            "[[flow]]",
            "[[link]]\nfrom = \"b\"\nto = \"a\"\nduplex = false\nrate = \"2 Mb/s\"\ndelay = \"10 ms\"\n[[flow]]",
        );
    let by_itself = Scenario::from_toml(&written, "itself.toml").expect("a scenario").plan(Seed(1)).expect("a plan");
    assert_eq!(link(&by_events, "a>b").direction, link(&by_itself, "a>b").direction);
    assert_eq!(link(&by_events, "b>a").direction, link(&by_itself, "b>a").direction);
    let direction = &link(&by_events, "a>b").direction;
    assert_eq!(direction.changes.delays, [Step::new(secs(20), Span::from_millis(50))]);
    assert_eq!(direction.changes.outages, [Outage { from: secs(30), to: Some(secs(32)) }]);
    assert_eq!(direction.rate.nominal(), Rate::from_bits_per_second(2_000_000), "buffers stay as they are");
    assert!(matches!(direction.loss, LossConfig::Schedule(_)));
}

#[test]
fn both_directions_are_meant_by_an_arrow_both_ways() {
    let plan = plan(&event("at = \"20 s\"\nlink = \"a<>b\"\nrate = \"1 Mb/s\""));
    assert!(plan.links.iter().all(|link| matches!(link.direction.rate, RateConfig::Schedule(_))));
}

#[test]
fn events_of_flows_are_their_start_and_stop() {
    let more = [
        event("at = \"5 s\"\nflow = \"calls[1]\"\nstate = \"on\""),
        event("at = \"50 s\"\nflow = \"calls\"\nstate = \"off\""),
    ];
    let times: Vec<_> = plan(&more.concat()).flows.iter().map(|flow| (flow.start, flow.stop)).collect();
    let at = |seconds| Instant::ZERO + secs(seconds);
    assert_eq!(times, [(at(0), at(50)), (at(5), at(50)), (at(0), at(50))]);
}

#[test]
fn marks_are_the_events_by_name_or_by_what_they_do_in_order_of_time() {
    let plan = plan(
        &[
            event("at = \"20 s\"\nlink = \"a>b\"\nrate = \"500 kb/s\""),
            event("at = \"10 s\"\nname = \"storm\"\nlink = \"a>b\"\nstate = \"down\""),
        ]
        .concat(),
    );
    let marks: Vec<_> = plan.marks.iter().map(|mark| (mark.at.seconds(), mark.label.as_str())).collect();
    assert_eq!(marks, [(10.0, "storm"), (20.0, "a>b 500 kb/s")]);
    let text = SOUND.replace("\"2 Mb/s\"", "[{ at = \"0 s\", is = \"2 Mb/s\" }, { at = \"20 s\", is = \"1 Mb/s\" }]");
    let by_itself = Scenario::from_toml(&text, "steps.toml").expect("a scenario").plan(Seed(1)).expect("a plan");
    let marks: Vec<_> = by_itself.marks.iter().map(|mark| mark.label.as_str()).collect();
    assert_eq!(marks, ["a<>b 1 Mb/s"], "both directions at once");
}

#[test]
fn overrides_reach_events_by_place_and_by_name_and_steps_by_place() {
    let more = event("name = \"slower\"\nat = \"20 s\"\nlink = \"a>b\"\nrate = \"500 kb/s\"");
    let steps = scenario(&more);
    for key in ["event.0.rate", "event.slower.rate", "event.*.rate"] {
        let changed =
            steps.with_overrides(&[(key, json!("1 Mb/s"))]).expect("a scenario").plan(Seed(1)).expect("a plan");
        let RateConfig::Schedule(schedule) = &link(&changed, "a>b").direction.rate else { panic!("no schedule") };
        assert_eq!(schedule.steps[1].is, Rate::from_bits_per_second(1_000_000), "{key}");
    }
    let said = steps.with_overrides(&[("event.slowr.rate", json!("1 Mb/s"))]).expect_err("no such event").to_string();
    assert!(said.contains("no event named `slowr`") && said.contains("did you mean `slower`?"), "{said}");
    let text = SOUND.replace("\"2 Mb/s\"", "[{ at = \"0 s\", is = \"2 Mb/s\" }, { at = \"20 s\", is = \"1 Mb/s\" }]");
    let steps = Scenario::from_toml(&text, "steps.toml").expect("a scenario");
    let changed = steps.with_overrides(&[("link.a>b.rate.1.is", json!("3 Mb/s"))]).expect("a scenario");
    assert!(changed.to_json().expect("JSON").contains("\"3 Mb/s\""));
}

#[test]
fn a_scenario_with_events_and_schedules_is_the_same_when_written_out() {
    let more = [
        event("name = \"x\"\nat = \"20 s\"\nlink = \"a>b\"\nrate = \"500 kb/s\"\nloss = \"none\""),
        event("at = \"5 s\"\nflow = \"calls\"\nstate = \"on\""),
    ];
    let text = format!("{SOUND}{}", more.concat()).replace(
        "rate = \"2 Mb/s\"\ndelay = \"10 ms\"",
        r#"rate = { law = "schedule", steps = [{ at = "0 s", is = "2 Mb/s" }, { at = "1 s", is = "1 Mb/s" }], repeat-after = "2 s" }
        delay = { steps = [{ at = "0 s", is = "10 ms" }, { at = "20 s", is = "5 ms" }], overtaking = true }
        loss = [{ at = "0 s", is = "none" }]
        outages = [{ from = "30 s" }]"#,
    ).replace("rate = \"500 kb/s\"\n", "delay = \"7 ms\"\n");
    let scenario = Scenario::from_toml(&text, "whole.toml").expect("a scenario");
    for other in [
        Scenario::from_toml(&scenario.to_toml().expect("TOML"), "again.toml"),
        Scenario::from_json(&scenario.to_json().expect("JSON"), "again.json"),
    ] {
        let other = other.expect("a scenario");
        assert_eq!(other.to_json().expect("JSON"), scenario.to_json().expect("JSON"));
        assert_eq!(other.content_hash().expect("a hash"), scenario.content_hash().expect("a hash"));
    }
}

#[test]
fn what_cannot_happen_is_refused_with_place_and_remedy() {
    for (more, words) in [
        (
            "at = \"60 s\"\nlink = \"a>b\"\nrate = \"1 Mb/s\"",
            ["when the run is over", "before the end of the run at 60 s"],
        ),
        ("at = \"1 s\"\nlink = \"a>c\"\nrate = \"1 Mb/s\"", ["no link direction `a>c`", "did you mean `a>b`?"]),
        ("at = \"1 s\"\nlink = \"a\"\nrate = \"1 Mb/s\"", ["does not say which link", "`FROM>TO`"]),
        ("at = \"1 s\"\nlink = \"a>b\"", ["nothing happens to this link", "`rate`, `delay`, `loss` or `state`"]),
        ("at = \"1 s\"\nlink = \"a>b\"\nstate = \"on\"", ["a link is not on", "state = \"down\""]),
        ("at = \"1 s\"\nlink = \"a>b\"\nstate = \"up\"", ["`a>b` is not down at 1 s", "let it go `down` before"]),
        ("at = \"1 s\"\nflow = \"calls\"\nstate = \"down\"", ["flows are not down", "state = \"on\""]),
        ("at = \"1 s\"\nflow = \"cals\"\nstate = \"on\"", ["no group of flows named `cals`", "did you mean `calls`?"]),
        ("at = \"1 s\"\nflow = \"calls\"\nrate = \"1 Mb/s\"\nstate = \"on\"", ["flows have no `rate`", "link = "]),
        ("at = \"1 s\"\nflow = \"calls\"", ["nothing happens to these flows", "state = \"on\""]),
        ("at = \"0 s\"\nflow = \"calls\"\nstate = \"off\"", ["before it begins", "let it end later"]),
        ("at = \"1 s\"\nrate = \"1 Mb/s\"", ["to whom it happens", "add `link = "]),
        ("at = \"-1 s\"\nlink = \"a>b\"\nrate = \"1 Mb/s\"", ["must not be negative", "`20 ms`"]),
        ("at = \"1 s\"\nlink = \"a>b\"\nrate = \"1 Mq/s\"", ["unknown unit `Mq/s`", "Mb/s"]),
        ("at = \"1 s\"\nlink = \"a>b\"\ndelay = \"2 h\"", ["no delay of a link", "up to"]),
        ("at = \"1 s\"\nlink = \"a>b\"\nloss = { model = \"bernoulli\", rate = 2 }", ["`rate` is 2", "a fraction"]),
        ("at = \"1 s\"\nlink = \"a>b\"\ndelai = \"1 ms\"", ["unknown key `delai`", "did you mean `delay`?"]),
        ("link = \"a>b\"\nrate = \"1 Mb/s\"", ["lacks the key `at`", "at"]),
    ] {
        let said = complaint(&event(more));
        assert!(said.contains("events.toml:"), "no place in\n{said}");
        for word in words {
            assert!(said.contains(word), "no `{word}` in\n{said}");
        }
    }
}

#[test]
fn two_events_that_contradict_each_other_are_refused() {
    let slower = event("at = \"5 s\"\nlink = \"a>b\"\nrate = \"1 Mb/s\"");
    let down = event("at = \"5 s\"\nlink = \"a>b\"\nstate = \"down\"");
    let on = event("at = \"5 s\"\nflow = \"calls\"\nstate = \"on\"");
    let named = event("at = \"5 s\"\nname = \"x\"\nlink = \"a>b\"\nrate = \"1 Mb/s\"");
    assert!(complaint(&slower.repeat(2)).contains("the link's rate changes twice at 5 s"));
    assert!(complaint(&down.repeat(2)).contains("is down since 5 s"));
    assert!(complaint(&on.repeat(2)).contains("these flows begin at event 0 already"));
    assert!(complaint(&named.repeat(2)).contains("two events named `x`"));
    let all = event("at = \"5 s\"\nlink = \"a>b\"\nrate = \"0 b/s\"")
        + &event("at = \"0 s\"\nlink = \"a>b\"\nrate = \"0 b/s\"");
    assert!(complaint(&all).contains("0 b/s throughout"), "{}", complaint(&all));
}

#[test]
fn events_do_not_change_a_rate_that_follows_a_law_of_its_own() {
    let repeats = "{ law = \"schedule\", steps = [{ at = \"0 s\", is = \"1 Mb/s\" }], repeat-after = \"2 s\" }";
    let text = SOUND.replace("\"2 Mb/s\"", repeats) + &event("at = \"5 s\"\nlink = \"a>b\"\nrate = \"1 Mb/s\"");
    let scenario = Scenario::from_toml(&text, "events.toml").expect("a scenario");
    let said = scenario.plan(Seed(1)).expect_err("refused").to_string();
    assert!(said.contains("follows a law of its own") && said.contains("a schedule that does not repeat"), "{said}");
}

#[test]
fn schedules_out_of_order_are_refused_where_they_stand() {
    for (sound, mistaken, words) in [
        ("\"2 Mb/s\"", "[{ at = \"5 s\", is = \"2 Mb/s\" }]", "first step begins `at = \"0 s\"`"),
        (
            "\"2 Mb/s\"",
            "[{ at = \"0 s\", is = \"2 Mb/s\" }, { at = \"0 s\", is = \"1 Mb/s\" }]",
            "in ascending order of `at`",
        ),
        ("\"2 Mb/s\"", "[\"2 Mb/s\", \"1 Mb/s\"]", "a list stands where"),
        (
            "\"10 ms\"",
            "[{ at = \"0 s\", is = \"1 ms\" }, { at = \"0 s\", is = \"2 ms\" }]",
            "in ascending order of `at`",
        ),
        ("\"10 ms\"", "[{ at = \"0 s\", is = \"1 ms\" }, { at = \"2 s\", is = \"2 h\" }]", "no delay of a link"),
        ("\"10 ms\"", "\"10 ms\"\noutages = [{ from = \"3 s\", to = \"2 s\" }]", "each ends later than it begins"),
        ("\"10 ms\"", "\"10 ms\"\nloss = [{ at = \"1 s\", is = \"none\" }]", "first step begins"),
    ] {
        let text = SOUND.replace(sound, mistaken);
        let said = Scenario::from_toml(&text, "events.toml").expect_err("refused").to_string();
        assert!(said.contains("events.toml:") && said.contains(words), "no `{words}` in\n{said}");
    }
}

#[test]
fn captures_are_looked_up_when_planned() {
    let said = complaint("[record]\ncapture = [\"link:a>x\"]\n");
    assert!(said.contains("there is no link direction `a>x`") && said.contains("did you mean `a>b`?"), "{said}");
    assert!(complaint("[record]\ncapture = [\"flow:calls[0]\"]\n").contains("captured at links and hosts"));
    assert!(complaint("[record]\ncapture = [\"a>b\"]\n").contains("does not say where"));
    assert_eq!(complaint("[record]\ncapture = [\"link:*=all.pcapng\", \"host:a\", \"drops:a>b\"]\n"), "no complaint");
}

#[test]
fn events_do_not_turn_flows_on_that_come_and_go_by_themselves() {
    for own in [
        "active = [[\"1 s\", \"2 s\"], [\"5 s\", \"6 s\"]]",
        "arrivals = { rate = \"1 per s\", lasts = { distribution = \"exponential\", mean = \"5 s\" } }",
    ] {
        let text = SOUND.replace("count = 3", own) + &event("at = \"5 s\"\nflow = \"calls\"\nstate = \"off\"");
        let said = Scenario::from_toml(&text, "events.toml").expect_err("refused").to_string();
        assert!(said.contains("comes and goes by its `a"), "{said}");
    }
}

#[test]
fn both_directions_of_a_conversation_begin_and_end_by_an_event() {
    let text = SOUND.replace("\"voice\"", "\"conversation\"").replace("count = 3", "count = 2")
        + &event("at = \"5 s\"\nflow = \"calls\"\nstate = \"on\"")
        + &event("at = \"9 s\"\nflow = \"calls\"\nstate = \"off\"");
    let plan = Scenario::from_toml(&text, "events.toml").expect("a scenario").plan(Seed(1)).expect("a plan");
    let times: Vec<_> = plan.flows.iter().map(|flow| (flow.start, flow.stop)).collect();
    assert_eq!(times, vec![(Instant::from_seconds(5.0), Instant::from_seconds(9.0)); 4]);
}
