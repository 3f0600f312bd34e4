//! Overrides that give only a law's name replace the law, and keep the parameters common to both laws.

use fairwave_scenario::Scenario;
use serde_json::{Value, json};

const HOME: &str = r#"name = "home"
duration = "10 s"

[[link]]
from = "home"
to = "isp"
rate = "2 Mb/s"
delay = "10 ms"
queue = { discipline = "red", capacity = { bytes = 250000 }, victim = "front", ecn = true, min-threshold = 5, max-threshold = 15 }

[link.reverse]
rate = "20 Mb/s"

[[flow]]
name = "call"
from = "home"
to = "isp"
transport = "udp"
traffic = { kind = "voice", codec = "g729", payload = "40 B" }

[[flow]]
name = "files"
from = "home"
to = "isp"
transport = { name = "tcp/aimd", preset = "linux", receiver-window = 100, header = "60 B", alpha = 0.31, beta = 0.875 }
traffic = "bulk"
"#;

fn home() -> Scenario {
    Scenario::from_toml(HOME, "home.toml").expect("a sound scenario")
}

fn with(path: &str, value: impl Into<Value>) -> Scenario {
    home().with_overrides(&[(path, value.into())]).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn at(scenario: &Scenario, pointer: &str) -> Value {
    let written: Value = serde_json::from_str(&scenario.to_json().expect("JSON")).expect("JSON");
    written.pointer(pointer).cloned().unwrap_or_default()
}

const QUEUE: &str = "link.home>isp.queue";

#[test]
fn another_discipline_has_the_same_buffer_victim_and_marks() {
    let codel = with(QUEUE, "codel");
    let expected = json!({ "discipline": "codel", "capacity": { "bytes": 250_000 }, "victim": "front", "ecn": true });
    assert_eq!(at(&codel, "/link/0/queue"), expected);
    assert_eq!(
        codel.kept(),
        ["`link.home>isp.queue`: codel instead of red keeps `capacity = { bytes = 250000 }`, `ecn = true` and \
          `victim = \"front\"`, and drops `max-threshold = 15` and `min-threshold = 5`"]
    );
}

#[test]
fn what_the_new_discipline_chooses_itself_is_dropped() {
    let punsi = at(&with(QUEUE, "punsi"), "/link/0/queue");
    assert_eq!(punsi["capacity"], json!({ "bytes": 250_000 }));
    assert_eq!((punsi.get("victim"), punsi.get("ecn")), (None, None));
    // Thresholds of the average queue have the same meaning for both laws.
    assert_eq!((&punsi["min-threshold"], &punsi["max-threshold"]), (&json!(5), &json!(15)));
}

#[test]
fn the_name_that_stands_there_already_changes_nothing() {
    let red = with(QUEUE, "red");
    assert_eq!(red.content_hash().expect("a hash"), home().content_hash().expect("a hash"));
    assert_eq!(red.kept(), Vec::<String>::new());
}

#[test]
fn the_key_that_names_a_law_says_the_same_as_its_name_alone() {
    let (alone, by_key) = (with(QUEUE, "codel"), with("link.home>isp.queue.discipline", "codel"));
    assert_eq!(at(&alone, "/link/0/queue"), at(&by_key, "/link/0/queue"));
    let without =
        with("link.home>isp.queue", Value::Null).with_overrides(&[("link.home>isp.queue.discipline", json!("pie"))]);
    assert_eq!(at(&without.expect("a scenario"), "/link/0/queue"), json!({ "discipline": "pie" }));
    let first = with("link.home>isp.loss", json!({ "model": "rounds", "first": 0.02 }));
    let short = first.with_overrides(&[("link.home>isp.loss.model", json!("none"))]).expect("a scenario");
    assert_eq!(at(&short, "/link/0/loss"), json!({ "model": "none" }));
}

#[test]
fn parameters_that_are_set_with_the_name_are_those_of_the_new_law() {
    let changes = [("link.home>isp.queue.alpha", json!(0.2)), ("link.home>isp.queue.discipline", json!("pie"))];
    let pie = at(&home().with_overrides(&changes).expect("a scenario"), "/link/0/queue");
    assert_eq!((&pie["discipline"], &pie["alpha"]), (&json!("pie"), &json!(0.2)));
}

#[test]
fn a_table_replaces_all() {
    assert_eq!(at(&with(QUEUE, json!({ "discipline": "codel" })), "/link/0/queue"), json!({ "discipline": "codel" }));
}

#[test]
fn a_queue_that_nothing_was_said_of_has_the_default_buffer() {
    let without = with(QUEUE, Value::Null);
    let fq = without.with_overrides(&[(QUEUE, json!("fq-codel"))]).expect("a scenario");
    assert_eq!(at(&fq, "/link/0/queue"), json!({ "discipline": "fq-codel" }));
}

#[test]
fn the_direction_back_keeps_the_buffer_that_it_has_from_the_direction_there() {
    let back = with("link.home>isp.reverse.queue", "fq-codel");
    assert_eq!(at(&back, "/link/0/reverse/queue/capacity"), json!({ "bytes": 250_000 }));
    assert_eq!(at(&back, "/link/0/queue/discipline"), json!("red"));
}

#[test]
fn another_tcp_has_the_same_connection_and_its_own_controller() {
    let cubic = at(&with("flow.files.transport", "tcp/cubic"), "/flow/1/transport");
    let expected = json!({ "name": "tcp/cubic", "preset": "linux", "receiver-window": 100, "header": "60 B" });
    assert_eq!(cubic, expected, "α and β are those of AIMD");
}

#[test]
fn a_letter_keeps_its_value_only_where_it_means_the_same() {
    let gamma = at(&with("flow.files.transport", "tcp/gamma"), "/flow/1/transport");
    assert_eq!((&gamma["alpha"], &gamma["beta"]), (&json!(0.31), &json!(0.875)));
    let vegas = at(&with("flow.files.transport", "tcp/vegas"), "/flow/1/transport");
    assert_eq!((vegas.get("alpha"), vegas.get("beta")), (None, None));
}

#[test]
fn udp_takes_of_a_tcp_only_what_it_has_itself() {
    let udp = with("flow.call.transport", json!({ "name": "tcp/reno", "header": "60 B", "receiver-window": 100 }))
        .with_overrides(&[("flow.call.transport", json!("udp"))])
        .expect("a scenario");
    assert_eq!(at(&udp, "/flow/0/transport"), json!({ "name": "udp", "header": "60 B" }));
}

#[test]
fn marks_that_a_controller_answers_in_its_own_way_are_its_own() {
    let classic = with("flow.files.transport", json!({ "name": "tcp/cubic", "ecn": "classic", "receiver-window": 50 }));
    let over = |name: &str| {
        at(&classic.with_overrides(&[("flow.files.transport", json!(name))]).expect(name), "/flow/1/transport")
    };
    assert_eq!(over("tcp/reno"), json!({ "name": "tcp/reno", "ecn": "classic", "receiver-window": 50 }));
    assert_eq!(over("tcp/prague"), json!({ "name": "tcp/prague", "receiver-window": 50 }));
}

#[test]
fn a_value_that_the_new_law_refuses_is_dropped_and_said() {
    let tfrc = with("flow.files.transport", "tfrc");
    assert_eq!(at(&tfrc, "/flow/1/transport"), json!({ "name": "tfrc", "header": "60 B" }));
    assert!(tfrc.kept()[0].contains("`preset = \"linux\"`"), "{:?}", tfrc.kept());
}

#[test]
fn other_traffic_keeps_what_it_has_in_common() {
    let talk = at(&with("flow.call.traffic", "conversation"), "/flow/0/traffic");
    assert_eq!(talk, json!({ "kind": "conversation", "codec": "g729", "payload": "40 B" }));
    assert_eq!(at(&with("flow.files.traffic", "bulk-on-off"), "/flow/1/traffic"), json!({ "kind": "bulk-on-off" }));
}

#[test]
fn an_unknown_name_is_refused_as_itself() {
    let said = home().with_overrides(&[(QUEUE, json!("fq-codle"))]).expect_err("no such discipline").to_string();
    assert!(said.contains("unknown queue `fq-codle`") || said.contains("unknown discipline `fq-codle`"), "{said}");
    assert!(said.contains("did you mean `fq-codel`?"), "{said}");
}

#[test]
fn a_short_name_is_the_law_that_it_names() {
    for short in ["cubic", "reno", "westwood+", "gamma-delta"] {
        let full = format!("tcp/{short}");
        let overridden = at(&with("flow.files.transport", short), "/flow/1/transport");
        assert_eq!(overridden["name"], json!(full));
        assert_eq!(overridden["receiver-window"], json!(100), "{short} keeps the connection");
        let text = HOME.replace("name = \"tcp/aimd\"", &format!("name = \"{short}\""));
        let text = text.replace(", alpha = 0.31, beta = 0.875", "");
        let written = Scenario::from_toml(&text, "home.toml").expect("a sound scenario");
        assert_eq!(at(&written, "/flow/1/transport/name"), json!(full), "as a scenario is shown, the name is whole");
        let bare = Scenario::from_toml(&HOME.replace("transport = \"udp\"", &format!("transport = \"{short}\"")), "x");
        assert_eq!(at(&bare.expect("a sound scenario"), "/flow/0/transport/name"), json!(full));
    }
}

#[test]
fn a_key_that_the_scenarios_preset_allows_is_kept() {
    let text = HOME.replace(", preset = \"linux\"", ", byte-counting = false");
    let rfc = Scenario::from_toml(&text.replacen("name", "preset = \"rfc\"\nname", 1), "").expect("a scenario");
    let reno = rfc.with_overrides(&[("flow.files.transport", json!("tcp/reno"))]).expect("a scenario");
    assert_eq!(at(&reno, "/flow/1/transport")["byte-counting"], json!(false));
    let refused = Scenario::from_toml(&text, "").expect_err("Linux has its own rule").to_string();
    assert!(refused.contains("`byte-counting` is false"), "{refused}");
}
