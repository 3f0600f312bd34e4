//! The simulator runs or refuses every plan that the language accepts: no panic, no broken invariant, and equal bytes
//! in a second run and on islands.
//!
//! Few cases in `make test`, many in `make fuzz` (`FAIRWAVE_FUZZ_CASES`). The seeds are the golden scenarios, cut to
//! a quarter of a second, each with a few changed values.

use std::path::Path;
use std::sync::LazyLock;

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{Run, RunError};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

fn cases(few: u32) -> ProptestConfig {
    let asked = std::env::var("FAIRWAVE_FUZZ_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(few), failure_persistence: None, ..ProptestConfig::default() }
}

static CORPUS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the golden scenarios")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let read = |path| {
        let text = std::fs::read_to_string(path).expect("a scenario");
        let scenario = Scenario::from_toml(&text, "").expect("a sound scenario");
        let json = scenario.to_json().expect("JSON");
        let mut tree: Value = serde_json::from_str(&json).expect("a tree");
        tree["duration"] = json!("250 ms");
        tree["warmup"] = json!("50 ms");
        tree
    };
    files.iter().map(read).collect()
});

/// Collects the JSON pointers of all numbers and strings in a tree.
fn leaves(tree: &Value, here: &str, found: &mut Vec<String>) {
    match tree {
        Value::Object(table) => table.iter().for_each(|(key, inner)| leaves(inner, &format!("{here}/{key}"), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(place, inner)| leaves(inner, &format!("{here}/{place}"), found));
        }
        _ => found.push(here.to_owned()),
    }
}

/// Returns the value scaled by up to a million, or one of a few generally valid values.
fn exchanged(value: &Value, way: u8, exponent: i32) -> Value {
    let factor = 10f64.powi(exponent);
    match (value, way) {
        (Value::Number(number), 0..4) => match number.as_u64() {
            Some(whole) => json!((whole as f64 * factor) as u64),
            None => json!(number.as_f64().unwrap_or(1.0) * factor),
        },
        (Value::String(text), 0..4) => match text.split_once(' ') {
            Some((amount, unit)) if amount.parse::<f64>().is_ok() => {
                json!(format!("{} {unit}", amount.parse::<f64>().unwrap_or(1.0) * factor))
            }
            _ => value.clone(),
        },
        (_, 4) => json!(0),
        (_, 5) => json!("1 ns"),
        (_, 6) => json!("1 B"),
        (_, 7) => json!("1 b/s"),
        (_, 8) => json!("tcp/sack"),
        (_, 9) => json!("tfrc"),
        (_, 10) => json!("udp"),
        (_, 11) => json!("bulk"),
        (_, 12) => json!({ "discipline": "pie", "capacity": { "bytes": 1500 }, "victim": "drop-sel" }),
        (_, 13) => json!({ "discipline": "codel", "capacity": { "packets": 1 }, "victim": "random" }),
        (_, 14) => json!({ "discipline": "fq-codel", "capacity": { "packets": 3 }, "quantum": "256 B" }),
        (_, 15) => json!({ "discipline": "cake", "capacity": { "bytes": 3000 }, "bandwidth": "300 kb/s" }),
        (_, 16) => json!({ "discipline": "dualpi2", "capacity": { "packets": 2 }, "victim": "front" }),
        (_, 17) => json!({ "model": "bernoulli", "rate": 0.5 }),
        _ => json!("voice"),
    }
}

/// Maximum packet-hops of a fuzz case.
const MOST_PACKETS: f64 = 200_000.0;

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn fuzz_accepted_plans_run_and_run_again_the_same(
        which in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), 0u8..16, -6i32..6), 0..4),
        seed in 0u64..1000,
    ) {
        let mut tree = CORPUS[which.index(CORPUS.len())].clone();
        let mut places = Vec::new();
        leaves(&tree, "", &mut places);
        for (at, way, exponent) in changes {
            if let Some(value) = tree.pointer_mut(&places[at.index(places.len())]) {
                *value = exchanged(value, way, exponent);
            }
        }
        let Ok(plan) = Scenario::from_json(&tree.to_string(), "").and_then(|scenario| scenario.plan(Seed(seed))) else {
            return Ok(());
        };
        // Every flow can fill its first link with the smallest packets; a case above the maximum is skipped.
        let seconds = plan.duration.seconds();
        let packets: f64 = (plan.links.iter()).map(|link| link.direction.rate.nominal().bits_per_second() as f64 * seconds / 8.0 / 500.0).sum();
        let busy: f64 = (plan.flows.iter())
            .filter_map(|flow| plan.links.get(*flow.forward.first()?))
            .map(|link| link.direction.rate.nominal().bits_per_second() as f64 * seconds / 8.0 / 500.0)
            .fold(0.0, f64::max);
        prop_assume!(seconds <= 1.0 && packets.min(busy * plan.flows.len() as f64) < 50.0 * MOST_PACKETS && busy < MOST_PACKETS);
        match (Run::new(&plan).execute(), Run::new(&plan).execute()) {
            (Ok(first), Ok(second)) => {
                prop_assert_eq!(first.digest().expect("a digest"), second.digest().expect("a digest"));
                let cut = Run::new(&plan).threads(3).islands(None).execute().expect("what runs on one thread");
                prop_assert_eq!(first.digest().expect("a digest"), cut.digest().expect("a digest"), "{}", tree);
                prop_assert_eq!((first.events, first.packet_hops), (cut.events, cut.packet_hops));
            }
            (Err(first), Err(_)) => {
                prop_assert!(!matches!(first, RunError::Invariant { .. }), "{}\n{}", first, tree);
            }
            _ => prop_assert!(false, "once it runs, once it does not: {}", tree),
        }
    }
}
