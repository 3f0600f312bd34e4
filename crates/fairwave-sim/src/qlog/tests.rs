//! Traces are JSON with all required schema members, and their events agree with the run's tables.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use serde_json::Value;

use super::*;
use crate::result::RunResult;

const SCENARIO: &str = r#"
name = "logged"
duration = "5 s"
hosts = { clock-skew = "0 ppm", send-jitter = "0 s" }
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms", queue = { capacity = { packets = 12 } } }
[[flow]]
name = "data"
transport = "tcp/sack"
traffic = "bulk"
[[flow]]
name = "smooth"
transport = "tfrc"
traffic = "bulk"
"#;

fn logged(flows: &[usize]) -> (RunResult, Vec<Value>, Vec<u64>) {
    let plan = Scenario::from_text(SCENARIO, "logged.toml").expect("a scenario").plan(Seed(1)).expect("a plan");
    let unique = format!("fairwave-qlog-{}-{:?}", std::process::id(), std::thread::current().id());
    let folder = std::env::temp_dir().join(unique.replace(['(', ')'], ""));
    let mut probe = Qlog::new(&plan, flows, &folder).expect("files");
    let result = crate::Run::new(&plan).probe(&mut probe).execute().expect("a run");
    assert_eq!(
        result.digest().expect("a digest"),
        crate::Run::new(&plan).execute().expect("a run").digest().expect("a digest")
    );
    let written = probe.finish().expect("files");
    let read = |one: &CaptureSummary| {
        serde_json::from_str(&std::fs::read_to_string(&one.path).expect("a file")).expect("JSON")
    };
    let files = written.iter().map(read).collect();
    std::fs::remove_dir_all(folder).expect("a folder");
    (result, files, written.iter().map(|one| one.packets).collect())
}

fn events<'a>(file: &'a Value, name: &'a str) -> impl Iterator<Item = &'a Value> {
    file["traces"][0]["events"].as_array().expect("events").iter().filter(move |event| event["name"] == name)
}

#[test]
fn a_file_has_what_the_schema_requires_and_its_events_are_in_order() {
    let (_, files, counts) = logged(&[0, 1]);
    assert_eq!(files.len(), 2);
    for (file, count) in files.iter().zip(counts) {
        assert_eq!((file["qlog_version"].as_str(), file["qlog_format"].as_str()), (Some("0.3"), Some("JSON")));
        let trace = &file["traces"][0];
        assert_eq!(trace["vantage_point"]["type"], "server");
        assert_eq!(trace["common_fields"]["time_format"], "relative");
        let events = trace["events"].as_array().expect("events");
        assert_eq!(events.len() as u64, count);
        let times: Vec<f64> = events.iter().map(|event| event["time"].as_f64().expect("a time")).collect();
        assert!(times.is_sorted() && times.last() <= Some(&5000.0));
        assert!(events.iter().all(|event| event["name"].is_string() && event["data"].is_object()));
    }
}

#[test]
fn a_tcp_says_what_it_sent_what_was_acknowledged_and_what_it_took_for_lost() {
    let (result, files, _) = logged(&[0]);
    let (file, row) = (&files[0], &result.flows[0]);
    let sent: Vec<u64> = events(file, "transport:packet_sent")
        .map(|event| event["data"]["header"]["packet_number"].as_u64().expect("a number"))
        .collect();
    assert_eq!(sent, (0..row.packets_sent).collect::<Vec<_>>());
    let lost = events(file, "recovery:packet_lost").count() as u64;
    assert_eq!(lost, row.packets_retransmitted);
    assert!(lost > 0);
    let mut acknowledged: Vec<u64> = events(file, "transport:packet_received")
        .filter_map(|event| event["data"]["frames"].as_array()?.first())
        .flat_map(|frame| frame["acked_ranges"].as_array().expect("ranges").iter())
        .flat_map(|range| range[0].as_u64().expect("a number")..=range[1].as_u64().expect("a number"))
        .collect();
    acknowledged.sort_unstable();
    assert!(acknowledged.windows(2).all(|pair| pair[0] < pair[1]), "each once");
    let states: Vec<&str> = events(file, "recovery:congestion_state_updated")
        .map(|event| event["data"]["new"].as_str().expect("a state"))
        .collect();
    assert_eq!(states[..2], ["slow_start", "recovery"]);
    assert_eq!(states.iter().filter(|state| **state == "recovery").count() as u64, row.fast_retransmits);
    let window = |event: &Value| event["data"]["congestion_window"].as_u64();
    assert!(events(file, "recovery:metrics_updated").filter_map(window).all(|bytes| bytes >= 1000));
    let of = |name: &str| {
        events(file, "recovery:metrics_updated")
            .filter_map(|event| event["data"][name].as_f64())
            .fold(f64::NAN, f64::max)
    };
    assert!(of("smoothed_rtt") >= 40.0 && of("latest_rtt") >= 40.0, "at least the propagation delay of both ways");
    // Data in flight waits in 12 places of the queue, or is on the wire: 1 Mb/s · 40 ms, a packet and the queue.
    assert!(of("bytes_in_flight") <= 60_000.0, "{}", of("bytes_in_flight"));
}

#[test]
fn tfrc_says_its_rate_and_what_the_network_lost() {
    let (result, files, _) = logged(&[1]);
    let (file, row) = (&files[0], &result.flows[1]);
    assert_eq!(events(file, "recovery:packet_lost").count() as u64, row.dropped + row.lost);
    let rates: Vec<f64> =
        events(file, "fairwave:controller").filter_map(|event| event["data"]["rate_bps"].as_f64()).collect();
    assert!(rates.len() > 3 && rates.windows(2).all(|pair| pair[0] != pair[1]), "told when it changes");
    assert!(
        events(file, "fairwave:controller").any(|event| event["data"]["estimate"]["quantity"] == "loss event rate")
    );
}

#[test]
fn a_flow_s_name_becomes_a_file_s() {
    assert_eq!(["voice[0]", "a/b[12]", "x.y"].map(file_name), ["voice-0", "a-b-12", "x.y"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let plan = Scenario::from_text(SCENARIO, "logged.toml").expect("a scenario").plan(Seed(1)).expect("a plan");
    let Err((path, _)) = Qlog::new(&plan, &[0], Path::new("/proc/no/such")) else { panic!("written") };
    assert_eq!(path, PathBuf::from("/proc/no/such/data-0.qlog"));
}
