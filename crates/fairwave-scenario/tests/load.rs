//! Workloads given as shares of the offered load, and queues that distinguish classes: plans and errors.

use fairwave_core::packet::Class;
use fairwave_core::queue::Victim;
use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;

const SHARED: &str = r#"name = "shared"
duration = "60 s"
preset = "ns2"

[topology]
preset = "dumbbell"
bottleneck = { rate = "3.5 Mb/s", delay = "10 ms", queue = { discipline = "red", capacity = { bytes = 100_000 } } }

[load]
total = "5 Mb/s"
shares = { voice = 14, other-udp = 50, tcp = 36 }
transfer = "200 kb/s"

[[flow]]
name = "a"
count = 2
transport = { name = "udp", header = "12 B" }
traffic = { kind = "voice", packet-time = "10 ms" }

[[flow]]
name = "b"
count = 6
transport = { name = "udp", header = "12 B" }
traffic = { kind = "voice", packet-time = "30 ms" }

[[flow]]
name = "other"
transport = { name = "udp", header = "28 B", max-payload = "1472 B" }
traffic = { kind = "cbr", rate = "100 kb/s", payload = "1472 B" }

[[flow]]
name = "ftp"
transport = "tcp/reno"
traffic = "bulk"
"#;

fn complaint(text: &str) -> String {
    match Scenario::from_toml(text, "load.toml").and_then(|scenario| scenario.plan(Seed(1))) {
        Ok(_) => String::from("no complaint"),
        Err(error) => error.to_string(),
    }
}

/// Asserts that the scenario with one passage replaced gives one error, with all of these words.
fn assert_says(passage: &str, instead: &str, words: &[&str]) {
    assert_eq!(SHARED.matches(passage).count(), 1, "`{passage}` must stand once in the scenario");
    let said = complaint(&SHARED.replace(passage, instead));
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
    for word in words {
        assert!(said.contains(word), "no `{word}` in\n{said}");
    }
}

fn counts(text: &str) -> Vec<usize> {
    let plan = Scenario::from_toml(text, "load.toml").expect("a scenario").plan(Seed(1)).expect("a plan");
    (0..plan.groups.len()).map(|group| plan.flows.iter().filter(|flow| flow.group == group).count()).collect()
}

#[test]
fn shares_of_the_load_become_numbers_of_flows_in_the_proportion_of_their_counts() {
    // Voice: 700 kb/s from calls of 73.6 kb/s (92 B every 10 ms) and 67.2 kb/s (252 B every 30 ms) as 1 to 3: 10.2 calls.
    // Other UDP: 2.5 Mb/s from sources of 101.9 kb/s on the wire. TCP: 1.8 Mb/s from transfers that count 200 kb/s.
    assert_eq!(counts(SHARED), [2, 8, 25, 9]);
}

#[test]
fn a_unit_that_is_cut_offers_a_header_per_packet() {
    // 1472 B is segmented into 1200 B and 272 B, each with a header of 100 B: 1672 B instead of 1572 B in one packet. So there are
    // 22 sources of 113.6 kb/s instead of 23 of 106.8 kb/s.
    let headers = SHARED.replace("header = \"28 B\"", "header = \"100 B\"");
    assert_eq!(counts(&headers)[2], 23);
    assert_eq!(counts(&headers.replace(", max-payload = \"1472 B\"", ""))[2], 22);
}

#[test]
fn a_class_without_a_share_has_no_flows() {
    assert_eq!(counts(&SHARED.replace("voice = 14, other-udp = 50, tcp = 36", "other-udp = 100")), [0, 0, 49, 0]);
}

#[test]
fn more_load_adds_flows_and_leaves_the_others_random_numbers() {
    let text = SHARED.replace("name = \"ftp\"", "name = \"ftp\"\nstart = { from = \"0 s\", to = \"5 s\" }");
    let starts = |text: &str| {
        let plan = Scenario::from_toml(text, "load.toml").expect("a scenario").plan(Seed(1)).expect("a plan");
        plan.flows.iter().filter(|flow| flow.class == Class::Tcp).map(|flow| flow.start).collect::<Vec<_>>()
    };
    let (few, many) = (starts(&text), starts(&text.replace("total = \"5 Mb/s\"", "total = \"8 Mb/s\"")));
    assert!(many.len() > few.len());
    assert_eq!(many[..few.len()], few);
}

#[test]
fn shares_that_do_not_add_up_are_refused_with_what_they_add_up_to() {
    assert_says(
        "tcp = 36",
        "tcp = 40",
        &["load.toml:11:10", "(load.shares)", "add up to 104 % (14 + 50 + 40)", "100 %"],
    );
    assert_says("tcp = 36", "tcp = -36", &["`tcp` is -36", "0 to 100", "tcp = 25"]);
    assert_says("tcp = 36", "tcp = nan", &["`tcp` is the text \"nan\"", "a number"]);
}

#[test]
fn an_unknown_class_is_shown_with_those_that_there_are() {
    assert_says("tcp = 36", "tpc = 36", &["unknown key `tpc`", "voice, other-udp, tcp", "did you mean `tcp`?"]);
    assert_says("name = \"ftp\"", "name = \"ftp\"\nclass = \"tpc\"", &["unknown class `tpc`", "did you mean `tcp`?"]);
}

#[test]
fn a_share_without_flows_of_its_class_is_refused() {
    assert_says(
        "name = \"ftp\"",
        "name = \"ftp\"\nclass = \"other-udp\"",
        &["`tcp` has 36 % of the load, but no flows", "(load.shares.tcp)", "add a [[flow]] of class `tcp`"],
    );
}

#[test]
fn transfers_need_to_count_for_something() {
    assert_says("transfer = \"200 kb/s\"\n", "", &["(load.transfer)", "`ftp`", "transfer = \"250 kb/s\""]);
    assert_says("transfer = \"200 kb/s\"", "transfer = \"0 b/s\"", &["`transfer` is 0", "above 0"]);
    assert_says("total = \"5 Mb/s\"", "total = \"0 b/s\"", &["`total` is 0", "above 0"]);
}

#[test]
fn an_unknown_victim_or_codec_is_shown_with_the_nearest() {
    let red = "discipline = \"red\"";
    assert_says(
        red,
        "discipline = \"red\", victim = \"drop-sell\"",
        &["unknown victim `drop-sell`", "tail, front, random, drop-sel, voice-guard", "did you mean `drop-sel`?"],
    );
    assert_says(
        "packet-time = \"10 ms\"",
        "packet-time = \"10 ms\", codec = \"g712\"",
        &["unknown codec `g712`", "did you mean `g711`?"],
    );
}

#[test]
fn thresholds_above_the_buffer_are_refused_with_what_it_holds() {
    assert_says(
        "discipline = \"red\"",
        "discipline = \"red\", min-threshold = 60, max-threshold = 300",
        &["`max-threshold` is 300", "at most the 200 packets that the buffer holds", "max-threshold = 120"],
    );
}

#[test]
fn a_voice_guard_takes_its_constants_from_the_scenario() {
    let red = "discipline = \"red\"";
    let guard =
        |parameters: &str| SHARED.replace(red, &format!("{red}, victim = {{ rule = \"voice-guard\"{parameters} }}"));
    let plan = Scenario::from_toml(&guard(", quota = 0.5, memory = \"2 s\", release = 0.8"), "load.toml")
        .expect("a scenario")
        .plan(Seed(1))
        .expect("a plan");
    let bottleneck = plan.links.iter().find(|link| &*link.name == "r1>r2").expect("the bottleneck");
    let Some(Victim::VoiceGuard(config)) = bottleneck.direction.queue.victim() else {
        panic!("{:?}", bottleneck.direction.queue)
    };
    assert_eq!((config.quota, config.release, config.memory.seconds()), (0.5, 0.8, 2.0));
    assert_eq!(complaint(&guard("")), "no complaint");
    for (parameter, words) in [
        ("quota = 1.5", ["victim.quota", "`queue.victim.quota` is 1.5", "above 0 and below 1", "quota = 0.33"]),
        ("memory = \"0 s\"", ["victim.memory", "is 0 s", "a time above 0", "memory = \"1 s\""]),
        ("release = 1.2", ["victim.release", "is 1.2", "at most 1", "release = 0.9"]),
        ("quot = 0.3", ["unknown key `quot`", "quota, memory, release", "did you mean `quota`?", "victim.quot"]),
    ] {
        let said = complaint(&guard(&format!(", {parameter}")));
        assert_eq!(said.matches("error: ").count(), 1, "{said}");
        for word in words {
            assert!(said.contains(word.trim_start_matches("`queue.").trim_end()), "no `{word}` in\n{said}");
        }
    }
}

#[test]
fn a_load_is_written_out_and_read_again() {
    let scenario = Scenario::from_toml(SHARED, "load.toml").expect("a scenario");
    let again = Scenario::from_toml(&scenario.to_toml().expect("TOML"), "again.toml").expect("the same");
    assert_eq!(scenario.to_json().expect("JSON"), again.to_json().expect("JSON"));
    let explicit = scenario.expand_preset().expect("expanded");
    assert!(explicit.load.is_none());
    assert_eq!(counts(&explicit.to_toml().expect("TOML")), counts(SHARED));
}
