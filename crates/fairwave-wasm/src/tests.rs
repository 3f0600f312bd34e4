//! Replies to a page: the same results and errors as natively, and never a panic.

use std::path::Path;

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use serde_json::{Value, json};

use crate::requests::answer;

fn ask_with(request: &Value, sound: &[u8]) -> (Value, Vec<u8>) {
    let text = request.to_string();
    let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes.extend(sound);
    let found = answer(&bytes);
    let (length, rest) = found.split_first_chunk::<4>().expect("a length");
    let (text, samples) = rest.split_at(u32::from_le_bytes(*length) as usize);
    (serde_json::from_slice(text).expect("JSON"), samples.to_vec())
}

fn ask(request: Value) -> Value {
    ask_with(&request, &[]).0
}

fn golden(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name);
    std::fs::read_to_string(file).expect("a golden scenario")
}

const CALL: &str = r#"
name = "a call"
duration = "10 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms", queue = { discipline = "red", victim = "drop-sel", min-threshold = 5, max-threshold = 15, capacity = { packets = 20 } } }
[[flow]]
name = "call"
transport = "udp"
traffic = { kind = "voice", always-on = true }
[[flow]]
name = "ftp"
count = 3
transport = "tcp/reno"
traffic = "bulk"
"#;

#[test]
fn looking_on_changes_nothing_of_the_golden_results() {
    let digests: Value = serde_json::from_str(&golden("digests.json")).expect("digests");
    for name in ["calls", "controllers", "victims", "layered-video", "reverse-traffic"] {
        for seed in [1, 2] {
            let text = golden(&format!("{name}.toml"));
            for observe in [true, false] {
                let found = ask(json!({ "op": "run", "text": text, "seed": seed, "observe": observe }));
                assert_eq!(found["digest"], digests[name][seed - 1], "{name} {seed} {observe}: {}", found["message"]);
            }
        }
    }
}

#[test]
fn a_mistake_is_told_as_on_the_command_line_with_its_place() {
    let text = CALL.replace("always-on", "alway-on");
    let found = ask(json!({ "op": "check", "text": text, "file": "calls.toml" }));
    let expected = Scenario::from_text(&text, "calls.toml").expect_err("a mistake").to_string();
    assert_eq!(found["message"], expected.as_str());
    assert_eq!((&found["ok"], &found["problems"][0]["line"]), (&json!(false), &json!(10)), "{found}");
    assert_eq!(found["problems"][0]["column"], 29);
}

#[test]
fn a_run_too_large_for_a_page_says_what_it_would_cost_and_where_to_run_it() {
    let text = CALL.replace("10 s", "2000 h").replace("1 Mb/s", "100 Mb/s");
    for allowed in [false, true] {
        let found = ask(json!({ "op": "run", "text": text, "allowed": allowed }));
        let message = found["message"].as_str().expect("words");
        assert!(
            found["too_large"] == true && message.contains("of computing") && message.contains("fairwave run"),
            "{found}"
        );
    }
    assert!(ask(json!({ "op": "check", "text": text }))["too_large"].is_string());
}

#[test]
fn more_flows_than_a_page_has_memory_for_are_refused_before_they_are_planned() {
    for count in [70_000, 1_999_000] {
        let text = CALL.replace("count = 3", &format!("count = {count}"));
        for op in ["check", "run"] {
            let found = ask(json!({ "op": op, "text": text, "allowed": true }));
            let message = found["message"].as_str().expect("words");
            assert!(found["too_large"] == true && message.contains("smaller `count`"), "{op} {count}: {message}");
        }
    }
}

#[test]
fn a_long_run_is_asked_for_and_runs_once_the_reader_has_agreed() {
    let short = ask(json!({ "op": "check", "text": CALL }));
    assert!(short["question"].is_null() && short["cost"]["seconds"].as_f64().is_some_and(|s| s < 1.0), "{short}");
    // 30 000 almost idle flows take long to plan, but not to run.
    let idle =
        "\n[[flow]]\nname = \"idle\"\ncount = 30000\ntransport = \"udp\"\ntraffic = \"voice\"\nstart = \"9.99 s\"\n";
    let text = CALL.to_owned() + idle;
    let checked = ask(json!({ "op": "check", "text": text }));
    assert!(checked["question"].as_str().is_some_and(|words| words.contains("stop it at any time")), "{checked}");
    let refused = ask(json!({ "op": "run", "text": text, "observe": false }));
    assert_eq!(refused["question"], checked["question"]);
    assert_eq!(ask(json!({ "op": "run", "text": text, "observe": false, "allowed": true }))["ok"], true);
}

#[test]
fn a_run_reports_its_progress_in_ascending_shares() {
    use crate::progress::page::REPORTED;
    REPORTED.take();
    assert_eq!(ask(json!({ "op": "run", "text": CALL }))["ok"], true);
    let shares = REPORTED.take();
    assert!((100..=200).contains(&shares.len()), "{}", shares.len());
    assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    ask(json!({ "op": "packets", "text": CALL, "link": "r1>r2", "from_s": 4.0, "until_s": 4.1 }));
    assert!(REPORTED.take().len() >= 100);
}

#[test]
fn the_drawn_queue_matches_the_results() {
    let found = ask(json!({ "op": "run", "text": CALL, "bins": 100 }));
    let link = &found["link_series"][0];
    assert_eq!(link["link"], "r1>r2");
    let number = |value: &Value| value.as_f64().expect("a number");
    let row = found["links"].as_array().expect("links").iter().find(|row| row["link"] == "r1>r2").expect("the link");
    let classes = link["waiting"].as_array().expect("classes");
    let mean: f64 = classes.iter().flat_map(|bins| bins.as_array().expect("bins")).map(number).sum::<f64>() / 100.0;
    assert!((mean - number(&row["mean_queue_packets"])).abs() < 0.01, "{mean} {row}");
    let gone: f64 = link["gone"]
        .as_array()
        .expect("classes")
        .iter()
        .flat_map(|bins| bins.as_array().expect("bins"))
        .map(number)
        .sum();
    assert_eq!(gone, number(&row["dropped_overflow"]) + number(&row["dropped_early"]));
    let call = &found["calls"][0];
    assert_eq!(call["flow"], "call[0]");
    let heard = number(&call["counts"]["played"]) + number(&call["counts"]["late"]) + number(&call["counts"]["lost"]);
    // A unit that arrives too late for playout before the end is in neither count.
    assert!((480.0..=500.0).contains(&heard), "{heard}");
    assert!(found["senders"].as_array().is_some_and(|senders| senders.len() == 1 && senders[0]["flow"] == "ftp[0]"));
}

#[test]
fn packets_at_a_link_begin_after_their_arrival_and_leave_or_are_dropped() {
    let found = ask(json!({ "op": "packets", "text": CALL, "link": "r1>r2", "from_s": 4.0, "until_s": 6.0 }));
    let passages = found["passages"].as_array().expect("passages");
    assert!(passages.len() > 150 && found["victim"] == "drop-sel", "{} {}", passages.len(), found["victim"]);
    let mut dropped_in_the_queue = 0;
    for one in passages {
        let arrived = one["arrived"].as_f64().expect("an arrival");
        match (one["begun"].as_f64(), one["left"].as_f64(), one["gone"].as_f64()) {
            (Some(begun), Some(left), None) => assert!(arrived <= begun && begun < left, "{one}"),
            (None, None, Some(gone)) => {
                assert!(arrived <= gone && one["why"] != "", "{one}");
                dropped_in_the_queue += u32::from(arrived < gone);
            }
            _ => panic!("{one}"),
        }
    }
    assert!(dropped_in_the_queue > 0, "Drop-Sel takes packets that wait");
    let nowhere = ask(json!({ "op": "packets", "text": CALL, "link": "a>b", "from_s": 4.0, "until_s": 6.0 }));
    assert_eq!(nowhere["ok"], false);
}

#[test]
fn speech_is_heard_as_long_as_the_call_and_silent_where_all_is_lost() {
    let speech: Vec<u8> = (0..16_000i32).flat_map(|i| (((i * 37) % 4000 - 2000) as i16).to_le_bytes()).collect();
    let (found, heard) = ask_with(&json!({ "op": "speech", "text": CALL }), &speech);
    assert_eq!((&found["ok"], &found["flow"]), (&json!(true), &json!("call[0]")), "{found}");
    let seconds = heard.len() as f64 / 16_000.0;
    assert!((9.9..10.6).contains(&seconds), "{seconds}");
    let position: Vec<u64> = serde_json::from_value(found["position"].clone()).expect("positions");
    assert!(position.windows(2).all(|pair| pair[0] <= pair[1]));
    let lost = CALL.replace(r#"delay = "20 ms""#, r#"delay = "20 ms", loss = { model = "bernoulli", rate = 1.0 }"#);
    assert_eq!(ask_with(&json!({ "op": "speech", "text": lost }), &speech).0["ok"], false);
    assert_eq!(ask_with(&json!({ "op": "speech", "text": CALL }), &[1]).0["ok"], false);
    let silent = golden("reno-newreno-sack.toml");
    assert!(
        ask(json!({ "op": "speech", "text": silent }))["message"]
            .as_str()
            .is_some_and(|words| words.contains("no call"))
    );
}

#[test]
fn a_scenario_comes_back_as_it_was_written_and_runs_to_the_same() {
    let found = ask(json!({ "op": "check", "text": CALL }));
    let (json, toml) = (found["json"].to_string(), found["toml"].as_str().expect("TOML"));
    let digest = |text: &str| ask(json!({ "op": "run", "text": text, "observe": false }))["digest"].clone();
    assert_eq!(digest(CALL), digest(toml));
    assert_eq!(digest(CALL), digest(&json));
    let native = Scenario::from_text(toml, "-").expect("a scenario").plan(Seed(1)).expect("a plan");
    assert_eq!(
        digest(toml),
        fairwave_sim::Run::new(&native).execute().expect("a run").digest().expect("a digest").as_str()
    );
}

#[test]
fn a_preset_written_out_as_links_runs_to_the_same_tables() {
    let found = ask(json!({ "op": "expand", "text": CALL }));
    assert!(found["json"]["topology"].is_null() && found["json"]["link"].is_array(), "{found}");
    let flows = |text: &str| ask(json!({ "op": "run", "text": text, "observe": false }))["flows"].clone();
    assert_eq!(flows(CALL), flows(&found["json"].to_string()));
}

#[test]
fn invalid_requests_are_rejected_with_a_message() {
    for bytes in [&b""[..], b"abc", &[255; 40], b"\x02\0\0\0{}", b"\x04\0\0\0nope"] {
        let found = answer(bytes);
        let text = String::from_utf8_lossy(found.get(4..).unwrap_or_default()).into_owned();
        assert!(text.contains("\"ok\":false"), "{bytes:?}: {text}");
    }
}

const SESSION: &str = r#"
name = "a video call"
duration = "6 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }
[[flow]]
name = "call"
count = 2
transport = "webrtc"
traffic = "media"
"#;

#[test]
fn a_session_is_rated_by_its_worst_stream_and_shown_over_time() {
    let found = ask(json!({ "op": "run", "text": SESSION }));
    let rows = found["media"].as_array().expect("rows");
    assert_eq!(rows.len(), 4, "{found}");
    let number = |row: &Value, key: &str| row[key].as_f64().expect("a number");
    let worst = |flow: u64| {
        let scores = rows.iter().filter(|row| row["flow"] == flow).map(|row| number(row, "mos"));
        scores.fold(5.0, f64::min)
    };
    let groups = found["media_groups"].as_array().expect("groups");
    assert_eq!((groups.len(), &groups[0]["group"], &groups[0]["sessions"]), (1, &json!("call"), &json!(2)));
    assert!((number(&groups[0], "mos") - f64::midpoint(worst(0), worst(1))).abs() < 1e-9);
    let of = |stream: &str| -> f64 {
        let scores = rows.iter().filter(|row| row["stream"] == stream).map(|row| number(row, "mos"));
        scores.sum::<f64>() / 2.0
    };
    assert!((number(&groups[0], "audio_mos") - of("audio")).abs() < 1e-9);
    assert!((number(&groups[0], "video_mos") - of("video")).abs() < 1e-9);
    let series = &found["session_series"];
    assert_eq!(series.as_array().map(Vec::len), Some(1), "the first session of the group");
    assert_eq!(series[0]["time_s"].as_array(), Some(&(1..=6).map(|second| json!(f64::from(second))).collect()));
    let pictures = &series[0]["pictures"][0];
    assert_eq!(pictures["stream"], "video");
    assert!(pictures["height"].as_array().expect("heights").iter().any(|height| height.as_u64() > Some(0)));
    let frozen: f64 = pictures["frozen_s"].as_array().expect("times").iter().filter_map(Value::as_f64).sum();
    let shown = rows.iter().find(|row| row["flow"] == 0 && row["stream"] == "video").expect("a row");
    assert_eq!(frozen > 0.0, number(shown, "freezes") > 0.0);
}

#[test]
fn a_session_of_which_nothing_arrives_has_the_worst_score() {
    let text = SESSION.replace(r#"delay = "20 ms""#, r#"delay = "20 ms", loss = { model = "bernoulli", rate = 1.0 }"#);
    assert_eq!(ask(json!({ "op": "run", "text": text }))["media_groups"][0]["mos"], 1.0);
    let calls = ask(json!({ "op": "run", "text": CALL }));
    assert_eq!((&calls["media_groups"], &calls["session_series"]), (&json!([]), &json!([])));
}
