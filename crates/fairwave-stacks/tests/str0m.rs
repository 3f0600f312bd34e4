//! str0m in complete runs.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{Run, RunResult, run_many};

const CALL: &str = r#"
name = "call"
duration = "30 s"

[topology]
preset = "dumbbell"
bottleneck = { rate = "3 Mb/s", delay = "30 ms", queue = { capacity = { bytes = 110_000 } } }

[[flow]]
name = "call"
transport = "webrtc/str0m"
traffic = "media"
"#;

fn result(text: &str, seed: u64) -> RunResult {
    fairwave_stacks::register_all().expect("names of their own");
    let scenario = Scenario::from_toml(text, "t.toml").unwrap_or_else(|error| panic!("{error}"));
    Run::new(&scenario.plan(Seed(seed)).unwrap_or_else(|error| panic!("{error}")))
        .execute()
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_session_has_the_same_digest_every_time_and_on_any_number_of_threads() {
    let first = result(CALL, 1).digest().expect("a digest");
    for threads in [1, 4] {
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let runs = run_many(3, Some(threads), |_, _| Ok::<_, ()>(result(CALL, 1)), |_| {}, &cancel).expect("runs");
        for one in runs {
            assert_eq!(one.expect("made").digest().expect("a digest"), first, "{threads} threads");
        }
    }
}

#[test]
fn the_estimate_rises_to_what_the_camera_wants_on_an_idle_path() {
    let result = result(CALL, 1);
    let last = result.media_transport.last().expect("samples");
    assert!(last.available_bps > 2e6 && last.available_bps < 4e6, "{last:?}");
    let video = result.media.iter().find(|row| row.stream == "video").expect("video");
    assert!(video.frame_rate.is_some_and(|rate| rate > 27.0), "{video:?}");
    assert!(video.mos.is_some_and(|mos| mos > 2.5), "{video:?}");
}

#[test]
fn the_estimate_falls_below_a_narrow_link() {
    let narrow = CALL.replace("3 Mb/s", "500 kb/s").replace("110_000", "20_000");
    let last = result(&narrow, 1).media_transport.last().expect("samples").available_bps;
    assert!((100e3..650e3).contains(&last), "{last}");
}

#[test]
fn losses_are_repaired() {
    let lossy = CALL.replace("queue =", "loss = { model = \"bernoulli\", rate = 0.01 }, queue =");
    let result = result(&lossy, 1);
    let video = result.media.iter().find(|row| row.stream == "video").expect("video");
    assert!(video.frame_rate.is_some_and(|rate| rate > 20.0), "{video:?}");
}

#[test]
fn encoders_may_follow_the_estimate_itself() {
    let narrow = CALL.replace("3 Mb/s", "1 Mb/s").replace("110_000", "60_000");
    let itself = narrow.replace("\"webrtc/str0m\"", "{ name = \"webrtc/str0m\", estimate = \"statistics\" }");
    let [smoothed, itself] = [narrow, itself].map(|text| {
        let changes = result(&text, 1).media_transport;
        changes.windows(2).filter(|pair| pair[0].target_bps != pair[1].target_bps).count()
    });
    assert!(itself > smoothed, "{itself} changes between samples, {smoothed} of the smoothed one");
}
