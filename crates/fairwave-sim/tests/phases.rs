//! Periodic sources with random start times do not meet in a queue for the whole run; synchronised sources do.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::Run;

/// Returns the loss share of all units.
fn lost(text: &str) -> f64 {
    let scenario = Scenario::from_text(text, "phases.toml").unwrap_or_else(|error| panic!("{error}"));
    let flows = Run::new(&scenario.plan(Seed(1)).expect("a plan")).execute().expect("a run").flows;
    let lost: u64 = flows.iter().map(|flow| flow.units_lost).sum();
    let sent: u64 = flows.iter().map(|flow| flow.units_sent).sum();
    lost as f64 / sent as f64
}

fn scenario(preset: &str, rate: &str, delay: &str, count: u32, traffic: &str, seconds: u32) -> String {
    format!(
        r#"
name = "phases"
duration = "{seconds} s"
preset = "{preset}"
[topology]
preset = "dumbbell"
bottleneck = {{ rate = "{rate}", delay = "{delay}" }}
[[flow]]
name = "source"
count = {count}
transport = {{ name = "udp", header = "40 B" }}
traffic = {{ {traffic} }}
"#
    )
}

const CBR: &str = r#"kind = "cbr", rate = "100 kb/s""#;
const VIDEO: &str = r#"kind = "video""#;

#[test]
fn two_thousand_streams_that_take_four_fifths_of_a_link_lose_nothing_unless_they_are_in_step() {
    let lost =
        |preset: &str, more: &str| lost(&scenario(preset, "250 Mb/s", "10 ms", 2000, &format!("{CBR}{more}"), 2));
    for preset in ["rfc", "linux"] {
        assert!(lost(preset, "") < 1e-4, "{preset}");
        assert!(lost(preset, r#", phase = "zero""#) > 0.25, "{preset}");
    }
    assert!(lost("ns2", "") > 0.25, "ns-2's sources begin at once");
    assert!(lost("ns2", r#", phase = "random""#) < 1e-4);
}

#[test]
fn ten_videos_that_take_three_quarters_of_a_link_lose_a_tenth_of_what_they_lose_in_step() {
    let lost = |count, more: &str| lost(&scenario("rfc", "15 Mb/s", "20 ms", count, &format!("{VIDEO}{more}"), 30));
    let (random, step) = (lost(10, ""), lost(10, r#", phase = "zero""#));
    assert!(step > 0.02 && random < step / 10.0, "{random} and {step}");
    let (eleven, seven) = (lost(11, ""), lost(8, r#", phase = "zero""#));
    assert!(
        eleven < 0.01 && seven > 0.01,
        "one per cent at most: eleven fit, and of those in step not eight: {eleven} and {seven}"
    );
}
