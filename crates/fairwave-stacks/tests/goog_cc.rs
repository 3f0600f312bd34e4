//! Crate `goog_cc` in complete runs.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{Run, RunResult};

const CALL: &str = r#"
name = "call"
duration = "80 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "50 ms", queue = { capacity = { bytes = 37_500 } } }

[[flow]]
name = "call"
transport = { name = "webrtc", control = { name = "goog-cc", constants = "libwebrtc" } }
traffic = "media"

[[event]]
at = "40 s"
link = "r1>r2"
rate = "500 kb/s"
"#;

fn result(seed: u64) -> RunResult {
    fairwave_stacks::register_all().expect("names of their own");
    let scenario = Scenario::from_toml(CALL, "t.toml").unwrap_or_else(|error| panic!("{error}"));
    Run::new(&scenario.plan(Seed(seed)).unwrap_or_else(|error| panic!("{error}")))
        .execute()
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_target_finds_the_rate_of_a_link_and_follows_it_down() {
    let samples = result(1).media_transport;
    let mean = |from: f64, to: f64| {
        let found: Vec<f64> =
            samples.iter().filter(|row| (from..to).contains(&row.time_s)).map(|row| row.available_bps).collect();
        found.iter().sum::<f64>() / found.len() as f64
    };
    assert!((700e3..1e6).contains(&mean(15.0, 40.0)), "{}", mean(15.0, 40.0));
    assert!((350e3..550e3).contains(&mean(55.0, 80.0)), "{}", mean(55.0, 80.0));
}

#[test]
fn a_run_has_the_same_digest_every_time() {
    assert_eq!(result(1).digest().expect("a digest"), result(1).digest().expect("a digest"));
}

#[test]
fn unknown_keys_are_refused() {
    fairwave_stacks::register_all().expect("names of their own");
    let mistaken = CALL.replace("constants = \"libwebrtc\"", "x = 1");
    assert!(Scenario::from_toml(&mistaken, "t.toml").is_err());
}
