//! Shared media in the scenario language: keys of their links, and errors.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;

const TEXT: &str = r#"
name = "two stations"
duration = "5 s"

[medium.air]
law = "half-duplex"
rate = "10 Mb/s"

[[link]]
from = "ap"
to = "laptop"
medium = "air"

[[link]]
from = "ap"
to = "phone"
medium = "air"

[[link]]
from = "server"
to = "ap"
rate = "100 Mb/s"
delay = "5 ms"

[[flow]]
name = "call"
from = "server"
to = "phone"
transport = "udp"
traffic = "voice"
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml(text, "media.toml").expect("a scenario")
}

fn refusal(text: &str) -> String {
    match Scenario::from_toml(text, "media.toml") {
        Err(error) => error.to_string(),
        Ok(scenario) => scenario.plan(Seed(1)).expect_err("a refusal").to_string(),
    }
}

#[test]
fn both_directions_of_a_link_are_members_of_its_medium_and_no_other_link_is() {
    let plan = scenario(TEXT).plan(Seed(1)).expect("a plan");
    let members: Vec<String> = plan.members(0).into_iter().map(|(_, member)| member.name).collect();
    assert_eq!(members, ["ap>laptop", "laptop>ap", "ap>phone", "phone>ap"]);
    assert!(plan.links.iter().all(|link| link.medium.is_some() != link.name.contains("server")));
    let rates: Vec<u64> = plan.links.iter().map(|link| link.direction.rate.nominal().bits_per_second()).collect();
    assert_eq!(rates[..4], [10_000_000; 4], "the medium's nominal rate");
}

#[test]
fn a_scenario_with_a_medium_is_written_as_it_is_read() {
    let read = scenario(TEXT);
    let toml = read.to_toml().expect("TOML");
    assert_eq!(scenario(&toml), read, "{toml}");
    let json = read.to_json().expect("JSON");
    assert_eq!(Scenario::from_json(&json, "media.json").expect("a scenario"), read);
    let other = scenario(&TEXT.replace(
        "10 Mb/s\"\n\n[[link]]\nfrom = \"ap\"\nto = \"laptop",
        "11 Mb/s\"\n\n[[link]]\nfrom = \"ap\"\nto = \"laptop",
    ));
    assert_ne!(read.content_hash().expect("a hash"), other.content_hash().expect("a hash"));
}

#[test]
fn a_preset_can_put_its_access_links_on_a_medium() {
    let text = r#"
        name = "preset"
        duration = "5 s"
        medium.air = { law = "half-duplex", rate = "10 Mb/s" }
        topology = { preset = "dumbbell", sink-access = { medium = "air" } }
        flow = [{ name = "call", count = 3, transport = "udp", traffic = "voice" }]
    "#;
    let plan = scenario(text).plan(Seed(1)).expect("a plan");
    assert_eq!(plan.members(0).len(), 6);
    assert_eq!(plan.links.iter().filter(|link| link.medium.is_none()).count(), 8);
}

#[test]
fn what_a_medium_decides_is_refused_on_its_links() {
    let with = |line: &str| TEXT.replacen("medium = \"air\"", &format!("medium = \"air\"\n{line}"), 1);
    for (line, words) in [
        ("rate = \"1 Mb/s\"", "decides how long a packet takes"),
        ("police = { rate = \"1 Mb/s\", burst = \"15 kB\" }", "holds the queue"),
        ("outages = [{ from = \"1 s\", to = \"2 s\" }]", "decides who transmits"),
        ("jitter = \"gaussian\"", "decides when a packet arrives"),
    ] {
        let said = refusal(&with(line));
        assert!(said.contains(words), "{line}: {said}");
    }
    let said = refusal(&format!("{TEXT}\n[[event]]\nat = \"1 s\"\nlink = \"ap>phone\"\nrate = \"1 Mb/s\"\n"));
    assert!(said.contains("uses a shared medium"), "{said}");
}

#[test]
fn a_medium_must_exist_be_used_and_have_a_rate() {
    let said = refusal(&TEXT.replacen("medium = \"air\"", "medium = \"aire\"", 1));
    assert!(said.contains("no medium `aire`") && said.contains("did you mean `air`?"), "{said}");
    let said =
        refusal(&TEXT.replace("[[flow]]", "[medium.other]\nlaw = \"half-duplex\"\nrate = \"1 Mb/s\"\n\n[[flow]]"));
    assert!(said.contains("no link uses the medium `other`"), "{said}");
    let said = refusal(&TEXT.replacen("10 Mb/s", "0 b/s", 1));
    assert!(said.contains("at least 1 b/s"), "{said}");
}
