//! Golden digests: the same scenario and seed give the same bytes. The scenarios cover transports, queues, victims,
//! losses, sources, topologies and ties.
//!
//! The scenarios are `tests/golden/*.toml`, the digests `tests/golden/digests.json`. This test checks them in the
//! debug build of `cargo test`; `tests/test_golden.py` checks the same file in the release build, in other processes.
//! A change that is meant to change results renews the file by `make golden` and gives the reason in its commit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{Run, run_many};

/// Digests by scenario, one per seed of [`SEEDS`].
type Digests = BTreeMap<String, Vec<String>>;

const SEEDS: [u64; 2] = [1, 2];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// Returns the scenarios ordered by name.
fn scenarios() -> BTreeMap<String, Scenario> {
    let files = std::fs::read_dir(folder()).expect("the folder of golden scenarios");
    files
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a scenario");
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, Scenario::from_text(&text, &path.to_string_lossy()).unwrap_or_else(|error| panic!("{error}")))
        })
        .collect()
}

fn digests(threads: usize) -> Digests {
    let scenarios = scenarios();
    let jobs: Vec<(&str, &Scenario, u64)> =
        scenarios.iter().flat_map(|(name, scenario)| SEEDS.map(|seed| (name.as_str(), scenario, seed))).collect();
    let make = |job: usize, _| {
        let (name, scenario, seed) = jobs[job];
        let plan = scenario.plan(Seed(seed)).map_err(|error| format!("{name}: {error}"))?;
        Run::new(&plan).execute().map_err(|error| format!("{name}: {error}"))
    };
    let runs = run_many(jobs.len(), Some(threads), make, |_| {}, &AtomicBool::new(false)).expect("runs");
    let mut digests = Digests::new();
    for ((name, ..), result) in jobs.iter().zip(runs) {
        let digest = result.expect("a run that was not cancelled").digest().expect("a digest");
        digests.entry((*name).to_owned()).or_default().push(digest);
    }
    digests
}

#[test]
fn golden_scenarios_keep_their_digests() {
    let found = digests(1);
    let file = folder().join("digests.json");
    if std::env::var_os("FAIRWAVE_RENEW_GOLDEN").is_some() {
        let text = serde_json::to_string_pretty(&found).expect("text") + "\n";
        std::fs::write(&file, text).expect("the file of digests");
        return;
    }
    let text = std::fs::read_to_string(&file).expect("the file of digests");
    let golden: Digests = serde_json::from_str(&text).expect("digests");
    let differing: Vec<&String> = found.keys().filter(|name| golden.get(*name) != found.get(*name)).collect();
    assert!(
        differing.is_empty() && golden.len() == found.len(),
        "results have changed: {differing:?} differ from tests/golden/digests.json ({} scenarios for {} entries). \
         If that is meant, renew the file by `make golden` and say why in the commit",
        found.len(),
        golden.len(),
    );
}

#[test]
fn the_number_of_threads_changes_nothing() {
    assert_eq!(digests(1), digests(3));
}
