//! What `docs/extend.md` shows is what is compiled and run here: each file in `tests/extend` stands on the page, word for word.

use std::path::Path;

use fairwave_core::random::Seed;
use fairwave_core::transport::TransportConfig;
use fairwave_core::transport::tcp::control;
use fairwave_scenario::Scenario;
use fairwave_sim::{FlowRow, run};

#[path = "extend/scalable.rs"]
mod scalable;

const SCALABLE: &str = include_str!("extend/scalable.toml");

/// The program's laws, handed in before the first scenario is read.
fn hand_in() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // Whoever follows the page within fairwave has it among the built-in ones.
        if !TransportConfig::BUILT_IN.contains(&"tcp/scalable") {
            control::register::<scalable::ScalableConfig>().expect("no transport has the name yet");
        }
    });
}

#[test]
fn the_page_shows_every_file_word_for_word() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(here.join("../../docs/extend.md")).expect("the page");
    let mut shown = 0;
    for entry in std::fs::read_dir(here.join("tests/extend")).expect("the files") {
        let path = entry.expect("an entry").path();
        let language = match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => "rust",
            Some(other) => other,
            None => continue,
        };
        let text = std::fs::read_to_string(&path).expect("a file");
        assert!(
            page.contains(&format!("```{language}\n{text}```\n")),
            "docs/extend.md does not show {}",
            path.display()
        );
        shown += 1;
    }
    assert!(shown >= 2, "{shown} files");
}

#[test]
fn the_lines_that_the_page_names_stand_in_the_lists() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(here.join("../../docs/extend.md")).expect("the page");
    // After this line the page adds its own.
    let (list, line) =
        ("crates/fairwave-core/src/transport/tcp/control/mod.rs", "            real { Real(RealConfig) }\n");
    let source = std::fs::read_to_string(here.join("../..").join(list)).expect("the list");
    assert!(page.contains(list) && page.contains(line) && source.contains(line), "{list}");
}

fn only_flow(text: &str) -> FlowRow {
    let scenario = Scenario::from_toml(text, "scalable.toml").unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.plan(Seed(1)).unwrap_or_else(|error| panic!("{error}"));
    run(&plan).expect("a run").flows.remove(0)
}

#[test]
fn a_scenario_runs_the_programs_own_controller() {
    hand_in();
    let own = only_flow(SCALABLE);
    assert_eq!(own.transport, "tcp/scalable");
    // Reno needs half a window of round trips, 30 s here, to be where it was before a loss; Scalable TCP a few.
    let sack = only_flow(&SCALABLE.replace("tcp/scalable\", gain = 0.02", "tcp/sack\""));
    assert!(own.goodput_bps > 1.2 * sack.goodput_bps, "{} beside {}", own.goodput_bps, sack.goodput_bps);
}

#[test]
fn it_is_listed_described_and_checked_like_any_other() {
    hand_in();
    assert!(TransportConfig::names().contains(&"tcp/scalable".to_owned()));
    let schema = Scenario::json_schema().to_string();
    assert!(schema.contains("tcp/scalable") && schema.contains("legacy-window") && schema.contains("(Kelly 2003)"));

    let refused = |from: &str, to: &str| {
        Scenario::from_toml(&SCALABLE.replace(from, to), "scalable.toml").expect_err("a mistake").to_string()
    };
    let error = refused("gain = 0.02", "gain = 0");
    assert!(error.contains("transport.gain") && error.contains("above 0") && error.contains("gain = 0.01"), "{error}");
    let error = refused("gain", "gains");
    assert!(error.contains("unknown key `gains`") && error.contains("did you mean `gain`?"), "{error}");
    let error = refused("receiver-window", "reciever-window");
    assert!(error.contains("did you mean `receiver-window`?"), "{error}");
    let error = refused("tcp/scalable", "tcp/scalabel");
    assert!(error.contains("did you mean `tcp/scalable`?"), "{error}");
    let error = refused("tcp/scalable", "tcp/reno");
    assert!(error.contains("left out with tcp/reno (it belongs to tcp/scalable)"), "{error}");
    assert!(error.contains("scalable.toml:"), "{error}");
}

#[test]
fn a_scenario_that_names_it_is_written_as_it_was_read() {
    hand_in();
    let scenario = Scenario::from_toml(SCALABLE, "scalable.toml").unwrap_or_else(|error| panic!("{error}"));
    let written = scenario.to_toml().expect("text");
    let again = Scenario::from_toml(&written, "again.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.to_toml().expect("text"), written);
    assert_eq!(again.content_hash().expect("a hash"), scenario.content_hash().expect("a hash"));
}
