//! quinn-proto in complete runs.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{Run, RunResult, run_many};

const FILES: &str = r#"
name = "files"
duration = "20 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "10 Mb/s", delay = "20 ms" }

[[flow]]
name = "quinn"
transport = "quic/quinn"
traffic = "bulk"

[[flow]]
name = "ours"
transport = "tcp/cubic"
traffic = "bulk"

[[flow]]
name = "page"
transport = "quic/quinn"
traffic = { kind = "web", page = "3gpp2-2004" }
"#;

fn result(text: &str, seed: u64) -> RunResult {
    fairwave_stacks::register_all().expect("names of their own");
    let scenario = Scenario::from_toml(text, "t.toml").unwrap_or_else(|error| panic!("{error}"));
    Run::new(&scenario.plan(Seed(seed)).unwrap_or_else(|error| panic!("{error}")))
        .execute()
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_run_has_the_same_digest_every_time_and_on_any_number_of_threads() {
    let first = result(FILES, 1).digest().expect("a digest");
    for threads in [1, 4] {
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let runs = run_many(4, Some(threads), |_, _| Ok::<_, ()>(result(FILES, 1)), |_| {}, &cancel).expect("runs");
        for one in runs {
            assert_eq!(one.expect("made").digest().expect("a digest"), first, "{threads} threads");
        }
    }
    assert_ne!(result(FILES, 2).digest().expect("a digest"), first);
}

#[test]
fn quinn_fills_the_link_next_to_our_cubic_and_loads_pages() {
    let result = result(FILES, 1);
    let goodput = |name: &str| result.flows.iter().find(|flow| &*flow.group == name).and_then(|flow| flow.goodput_bps);
    let (quinn, ours) = (goodput("quinn").expect("measured"), goodput("ours").expect("measured"));
    assert!(quinn > 1e6 && ours > 1e6, "{quinn} {ours}");
    assert!(quinn + ours > 8.5e6, "{quinn} {ours}");
    let units = result.flows.iter().find(|flow| &*flow.group == "page").expect("a page");
    assert!(units.units_received > 0, "{units:?}");
}
