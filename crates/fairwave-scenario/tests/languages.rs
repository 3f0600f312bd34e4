//! Different forms of one scenario: TOML, JSON, the model and overrides; and invalid input.

use fairwave_core::loss::{BernoulliConfig, LossConfig};
use fairwave_core::queue::{Capacity, DropTailConfig, QueueConfig};
use fairwave_core::random::Seed;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::{Properties, TransportConfig};
use fairwave_core::units::{Rate, Span};
use fairwave_scenario::law::{BandwidthDelay, LawTable};
use fairwave_scenario::model::{Direction, Flow, Link, LinkSpec, WrittenRate};
use fairwave_scenario::topology::{Preset, Topology};
use fairwave_scenario::values::{FixedOrSpread, Spread, Spreading, StaggeredStart, Start, Thresholds};
use fairwave_scenario::{Scenario, ScenarioError};
use proptest::prelude::*;
use serde_json::{Value, json};

const TEXT: &str = r#"
name = "calls"
duration = "60 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }
[[link]]
from = "r1"
to = "printer"
rate = "1 Mb/s"
delay = "1 ms"
[[flow]]
name = "voice"
count = 10
transport = "udp"
traffic = "voice"
[[flow]]
name = "data"
transport = "udp"
traffic = { kind = "cbr", rate = "64 kb/s" }
"#;

fn scenario() -> Scenario {
    Scenario::from_toml(TEXT, "calls.toml").expect("a scenario")
}

fn overridden(overrides: &[(&str, Value)]) -> Result<Scenario, ScenarioError> {
    scenario().with_overrides(overrides)
}

fn refused(overrides: &[(&str, Value)]) -> String {
    overridden(overrides).expect_err("a refusal").to_string()
}

#[test]
fn an_override_changes_what_it_names_and_nothing_else() {
    let changed = overridden(&[
        ("flow.voice.count", json!(40)),
        ("topology.bottleneck.rate", json!("2 Mb/s")),
        ("link.r1>printer.delay", json!("7 ms")),
        ("flow.data.traffic.rate", json!("128 kb/s")),
    ])
    .expect("all exist");
    let mut by_hand = TEXT.replace("count = 10", "count = 40").replace("64 kb/s", "128 kb/s");
    by_hand = by_hand.replace("bottleneck = { rate = \"1 Mb/s\"", "bottleneck = { rate = \"2 Mb/s\"");
    by_hand = by_hand.replace("delay = \"1 ms\"", "delay = \"7 ms\"");
    assert_eq!(changed, Scenario::from_toml(&by_hand, "").expect("a scenario"));
}

#[test]
fn an_override_may_add_a_key_remove_one_or_change_all_groups() {
    assert_eq!(overridden(&[("warmup", json!("5 s"))]).expect("added").warmup, Span::from_secs(5));
    assert_eq!(overridden(&[("flow.voice.count", Value::Null)]).expect("removed").flows[0].count, None);
    let timely = overridden(&[("flow.*.timely", json!("150 ms"))]).expect("both");
    assert!(timely.flows.iter().all(|flow| flow.timely == Thresholds(vec![Span::from_millis(150)])));
    let record = overridden(&[("record.bin", json!("1 s")), ("record.queues", json!(["r1>r2"]))]).expect("a table");
    assert_eq!(record.record.queues, ["r1>r2"]);
}

#[test]
fn an_override_that_names_nothing_is_refused_with_the_nearest_name() {
    assert!(refused(&[("flow.vioce.count", json!(1))]).contains("did you mean `voice`?"));
    assert!(refused(&[("link.r1>printre.delay", json!("1 ms"))]).contains("did you mean `r1>printer`?"));
    assert!(refused(&[("flow.voice.cuont", json!(1))]).contains("did you mean `count`?"));
    assert!(refused(&[("topology.botleneck.rate", json!("1 Mb/s"))]).contains("did you mean `bottleneck`?"));
    assert!(refused(&[("duration.x", json!(1))]).contains("has no keys of its own"));
}

#[test]
fn a_bad_value_of_an_override_is_not_blamed_on_the_file() {
    let said = refused(&[("topology.bottleneck.rate", json!("0 Mb/s"))]);
    assert!(said.contains("topology.bottleneck.rate), set by an override"), "{said}");
    assert!(!said.contains("calls.toml:"), "{said}");
}

#[test]
fn a_mistake_that_an_override_brings_to_light_elsewhere_is_shown_in_the_file() {
    let said = refused(&[("duration", json!("1 ms")), ("warmup", json!("0 s")), ("flow.data.start", json!("1 s"))]);
    assert!(said.contains("flow[1].start), set by an override"), "{said}");
    let text = TEXT.replace("count = 10", "count = 10\nstart = \"30 s\"");
    let late = Scenario::from_toml(&text, "calls.toml").expect("a scenario");
    let said = late.with_overrides(&[("duration", json!("20 s"))]).expect_err("too late").to_string();
    assert!(said.contains("calls.toml:15:9 (flow[0].start)"), "{said}");
}

#[test]
fn the_text_of_an_override_means_what_toml_means_and_else_itself() {
    for (text, value) in [
        ("40", json!(40)),
        ("0.5", json!(0.5)),
        ("true", json!(true)),
        ("2 Mb/s", json!("2 Mb/s")),
        ("tcp/vegas", json!("tcp/vegas")),
        ("\"2 s\"", json!("2 s")),
        ("[\"1 s\", \"2 s\"]", json!(["1 s", "2 s"])),
        ("{ packets = 50 }", json!({"packets": 50})),
        ("1\nname = 2", json!("1\nname = 2")),
    ] {
        assert_eq!(Scenario::override_value(text), value);
    }
}

#[test]
fn toml_and_json_say_the_same() {
    let scenario = scenario();
    let json = scenario.to_json().expect("JSON");
    assert_eq!(Scenario::from_text(&json, "calls.json").expect("read again"), scenario);
    assert_eq!(Scenario::from_text(&json, "-").expect("told by its brace"), scenario);
}

#[test]
fn the_hash_tells_scenarios_apart_and_does_not_see_how_they_are_written() {
    let hash = |text: &str| Scenario::from_toml(text, "").expect("a scenario").content_hash().expect("a hash");
    let own = hash(TEXT);
    assert_eq!(own, hash(&TEXT.replace("\"60 s\"", "\"1 min\"").replace("64 kb/s", "0.064 Mb/s")));
    assert_eq!(own, hash(&TEXT.replace("traffic = \"voice\"", "traffic = { kind = \"voice\", codec = \"g711\" }")));
    assert_eq!(own, hash(&TEXT.replace("delay = \"1 ms\"", "delay = \"1 ms\"\nqueue = \"drop-tail\"")));
    assert_ne!(own, hash(&TEXT.replace("64 kb/s", "65 kb/s")));
    let hosts =
        |text: &str, written: &str| hash(&text.replace("[topology]", &format!("hosts = {written}\n[topology]")));
    assert_eq!(own, hosts(TEXT, "{ clock-skew = \"0.05e3 ppm\", send-jitter = \"1000 us\" }"));
    assert_ne!(own, hosts(TEXT, "{ send-jitter = \"0 s\" }"));
    // UDP in ns-2 has no header, so an explicit header must change the hash.
    let ns2 = TEXT.replace("[topology]", "preset = \"ns2\"\n[topology]");
    assert_ne!(hash(&ns2), hash(&ns2.replacen("\"udp\"", "{ name = \"udp\", header = \"40 B\" }", 1)));
    assert_eq!(hash(&ns2), hosts(&ns2, "{ clock-skew = \"0 ppm\" }"));
    assert_eq!(hash(&ns2), hash(&ns2.replacen("\"udp\"", "{ name = \"udp\", header = \"0 B\" }", 1)));
}

#[test]
fn details_as_in_ns2_reach_the_transports_that_do_not_say_otherwise() {
    let transport = |text: &str| {
        let scenario = Scenario::from_toml(text, "").expect("a scenario");
        scenario.plan(Seed(1)).expect("a plan").flows[0].transport.as_ref().clone()
    };
    let header = |config: TransportConfig| serde_json::to_value(config).expect("JSON")["header"].clone();
    let ns2 = TEXT.replace("[topology]", "preset = \"ns2\"\n[topology]");
    assert_eq!(header(transport(TEXT)), "40 B");
    assert_eq!(header(transport(&ns2)), "0 B");
    assert_eq!(header(transport(&ns2.replace("\"udp\"", "{ name = \"udp\", header = \"12 B\" }"))), "12 B");
    // Every transport with a preset gets it, whatever its name.
    let preset = |text: &str, name: &str| {
        let config = transport(&text.replace("\"udp\"", &format!("\"{name}\"")));
        serde_json::to_value(config).expect("JSON").get("preset").cloned()
    };
    for name in ["tfrc", "tcp/sack", "tcp/vegas"] {
        assert_eq!((preset(&ns2, name), preset(TEXT, name)), (Some(json!("ns2")), None), "{name}");
    }
    assert_eq!(preset(&ns2, "rtcp"), None);
    let old = ns2.replace("preset = \"ns2\"", "preset = \"ns2-2004\"");
    for name in ["tfrc", "tcp/sack", "tcp/iiad"] {
        assert_eq!(preset(&old, name), Some(json!("ns2-2004")), "{name}");
    }
    assert_eq!((header(transport(&old)), preset(&old, "rap")), (json!("0 B"), None));
    let tcp = transport(&old.replace("\"udp\"", "\"tcp/reno\"")).tcp().expect("a TCP");
    assert_eq!((tcp.rto.min.to_string(), tcp.rto.initial.to_string()), ("1 s".to_owned(), "6 s".to_owned()));
}

#[test]
fn the_details_of_linux_are_tcps_alone() {
    let transport = |name: &str| {
        let text = TEXT.replace("[topology]", "preset = \"linux\"\n[topology]").replace("\"udp\"", name);
        let scenario = Scenario::from_toml(&text, "").expect("a scenario");
        scenario.plan(Seed(1)).expect("a plan").flows[0].transport.as_ref().clone()
    };
    let tcp = transport("\"tcp/sack\"").tcp().expect("a TCP");
    assert_eq!((tcp.initial_window, tcp.segment, tcp.prr), (10.0, 1448, true));
    let tcp = transport("{ name = \"tcp/sack\", preset = \"rfc\" }").tcp().expect("a TCP");
    assert_eq!((tcp.initial_window, tcp.segment), (4.0, 1000), "what a flow says goes first");
    for name in ["tfrc", "udp", "rap"] {
        let preset = serde_json::to_value(transport(&format!("\"{name}\""))).expect("JSON").get("preset").cloned();
        assert_eq!(preset, None, "{name}");
    }
    let text = TEXT.replace("\"udp\"", "{ name = \"tfrc\", preset = \"linux\" }");
    let refused = format!("{:?}", Scenario::from_toml(&text, "").map(|scenario| scenario.plan(Seed(1))));
    assert!(refused.contains("linux is a preset of TCP's"), "{refused}");
}

#[test]
fn hosts_are_out_of_step_by_default_as_the_rfcs_have_them_and_in_step_as_ns2_has_them() {
    let hosts = |text: &str| {
        let plan = Scenario::from_toml(text, "").expect("a scenario").plan(Seed(1)).expect("a plan");
        (plan.hosts.clock_skew.to_string(), plan.hosts.send_jitter.to_string())
    };
    let of = |skew: &str, jitter: &str| (skew.to_owned(), jitter.to_owned());
    let with = |lines: &str| hosts(&TEXT.replace("[topology]", &format!("{lines}\n[topology]")));
    assert_eq!(hosts(TEXT), of("50 ppm", "1 ms"));
    assert_eq!(with("preset = \"ns2\""), of("0 ppm", "0 s"));
    assert_eq!(with("preset = \"ns2-2004\""), of("0 ppm", "0 s"));
    assert_eq!(with("preset = \"linux\""), of("50 ppm", "1 ms"));
    assert_eq!(with("hosts = { clock-skew = \"20 ppm\" }"), of("20 ppm", "1 ms"));
    assert_eq!(with("preset = \"ns2\"\nhosts = { send-jitter = \"200 us\" }"), of("0 ppm", "200 us"));
}

#[test]
fn the_schema_describes_every_key_of_the_language() {
    let schema = Scenario::json_schema();
    let properties = |value: &Value| -> Vec<String> {
        value["properties"].as_object().map(|keys| keys.keys().cloned().collect()).unwrap_or_default()
    };
    let mut keys = properties(&schema);
    keys.sort();
    let frame = [
        "call",
        "description",
        "duration",
        "event",
        "flow",
        "hosts",
        "link",
        "load",
        "medium",
        "name",
        "preset",
        "record",
        "seed",
        "topology",
        "version",
        "warmup",
    ];
    assert_eq!(keys, frame);
    assert_eq!(schema["required"], json!(["name", "duration"]));
    assert!(properties(&schema["$defs"]["Flow"]).contains(&"timely".to_owned()));
    let names = |law: &str| schema["$defs"][law]["anyOf"][0]["enum"].to_string();
    assert!(names("WrittenTransportConfig").contains("tcp/vegas"), "laws stand by their names");
    assert!(names("WrittenQueueConfig").contains("codel"));
    assert!(!names("WrittenLossConfig").contains("pattern"), "nor one that needs a text or a file");
    assert!(!names("WrittenLossConfig").contains("bernoulli"), "a law that needs a number does not stand by its name");
}

fn examples() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the folder of examples")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("a text")))
        // Python converts a file for `fairwave network` to a scenario.
        .filter(|(_, text)| !text.contains("[demands]"))
        .collect();
    found.sort();
    found
}

#[test]
fn every_example_can_be_read_planned_and_written() {
    assert!(examples().len() >= 4);
    for (file, text) in examples() {
        let scenario = Scenario::from_text(&text, &file).unwrap_or_else(|error| panic!("{error}"));
        scenario.plan(Seed(1)).unwrap_or_else(|error| panic!("{error}"));
        let expanded = scenario.expand_preset().and_then(|expanded| {
            Scenario::from_toml(&expanded.to_toml().expect("TOML"), "expanded.toml").map(|read| (expanded, read))
        });
        let (expanded, read) = expanded.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(expanded, read, "{file}");
    }
}

#[test]
fn the_scenario_in_the_reference_can_be_planned_and_its_tables_name_every_key() {
    let page = include_str!("../../../docs/scenario-language.md");
    let text = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a scenario");
    let scenario = Scenario::from_toml(text, "scenario-language.md").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.plan(Seed(1)).expect("a plan").flows.len(), 10);
    let schema = Scenario::json_schema();
    assert_eq!(schema.pointer("/$defs/Link/required"), Some(&json!(["from", "to"])));
    for table in [
        "",
        "/$defs/Link",
        "/$defs/LinkSpec",
        "/$defs/Flow",
        "/$defs/Event",
        "/$defs/Record",
        "/$defs/Topology",
        "/$defs/BandwidthDelay",
        "/$defs/Hosts",
    ] {
        for key in schema.pointer(&format!("{table}/properties")).and_then(Value::as_object).expect("keys").keys() {
            let named = [format!("`{key}`"), format!("`{key} ="), format!("`[[{key}]]`"), format!("`[{key}]`")];
            assert!(named.iter().any(|name| page.contains(name)), "the page does not name `{key}`");
        }
    }
}

fn span() -> impl Strategy<Value = Span> + Clone {
    (1u64..1_000_000_000_000).prop_map(Span::from_nanos)
}

fn rate() -> impl Strategy<Value = Rate> + Clone {
    (1u64..1_000_000_000_000).prop_map(Rate::from_bits_per_second)
}

fn spreading() -> impl Strategy<Value = Spreading> {
    prop_oneof![Just(Spreading::Even), Just(Spreading::Random)]
}

fn varied<T: Clone + std::fmt::Debug + Ord + 'static>(
    value: impl Strategy<Value = T> + Clone + 'static,
) -> impl Strategy<Value = FixedOrSpread<T>> {
    prop_oneof![
        value.clone().prop_map(FixedOrSpread::Fixed),
        (value.clone(), value, spreading()).prop_map(|(a, b, spread)| {
            let (from, to) = if a < b { (a, b) } else { (b, a) };
            FixedOrSpread::Spread(Spread { from, to, spread })
        }),
    ]
}

fn queue() -> impl Strategy<Value = LawTable<QueueConfig>> {
    prop_oneof![
        Just(LawTable::default()),
        (1u32..10_000).prop_map(|packets| {
            LawTable::from_law(&QueueConfig::new(Capacity::Packets(packets), DropTailConfig {})).expect("a queue")
        }),
        (0.0..8.0, 1u32..100).prop_map(|(bdp, at_least_packets)| {
            let capacity = BandwidthDelay { bdp, at_least_packets, ..BandwidthDelay::default() };
            serde_json::from_value(json!({ "capacity": capacity })).expect("a queue")
        }),
    ]
}

fn loss() -> impl Strategy<Value = LawTable<LossConfig>> {
    prop_oneof![
        Just(LawTable::default()),
        (0.0..=1.0).prop_map(|rate| LawTable::from_law(&BernoulliConfig { rate }.into()).expect("a loss")),
    ]
}

fn written_rate() -> impl Strategy<Value = WrittenRate> {
    prop_oneof![
        varied(rate()).prop_map(WrittenRate::Constant),
        rate().prop_map(|rate| WrittenRate::Law(LawTable::from_law(&rate.into()).expect("a rate law"))),
    ]
}

prop_compose! {
    fn direction()(
        rate in proptest::option::of(written_rate()),
        delay in proptest::option::of(varied(span())),
        queue in proptest::option::of(queue()),
        loss in proptest::option::of(loss()),
    ) -> Direction {
        Direction { rate, delay: delay.map(Into::into), queue, loss, ..Direction::default() }
    }
}

prop_compose! {
    fn spec()(there in direction(), reverse in proptest::option::of(direction())) -> LinkSpec {
        LinkSpec { there, reverse }
    }
}

prop_compose! {
    fn link(index: usize)(
        count in 1u64..4,
        spec in spec(),
        rate in written_rate(),
        delay in varied(span()),
    ) -> Link {
        let (from, to) = (format!("h{index}-{{i}}"), "r1".to_owned());
        let there = Direction { rate: Some(rate), delay: Some(delay.into()), ..spec.there };
        Link { from, to, count, spec: LinkSpec { there, ..spec }, duplex: true }
    }
}

fn start() -> impl Strategy<Value = Start> {
    prop_oneof![
        span().prop_map(Start::At),
        (span(), span(), spreading())
            .prop_map(|(a, b, spread)| { Start::Spread(Spread { from: a.min(b), to: a.max(b), spread }) }),
        (span(), span()).prop_map(|(every, from)| Start::Every(StaggeredStart { every, from })),
    ]
}

prop_compose! {
    fn flow(index: usize)(
        count in proptest::option::of(1u64..5),
        reverse in any::<bool>(),
        start in start(),
        timely in span(),
        source_access in proptest::option::of(spec()),
        sink_access in proptest::option::of(spec()),
    ) -> Flow {
        Flow {
            name: format!("f{index}"),
            count,
            from: None,
            to: None,
            path: reverse.then(|| "reverse".to_owned()),
            transport: LawTable::from_law(&TransportConfig::default()).expect("a transport"),
            traffic: LawTable::from_law(&TrafficConfig::Voice(Default::default())).expect("traffic"),
            route: None,
            route_back: None,
            failover: None,
            class: None,
            dscp: None,
            start,
            stop: None,
            active: None,
            arrivals: None,
            timely: Thresholds(vec![timely]),
            playout: None,
            concealment: None,
            in_band_fec: None,
            advantage: None,
            playback: None,
            recovery: None,
            outcome: None,
            source_access,
            sink_access,
            leg: None,
            departures: Vec::new(),
        }
    }
}

prop_compose! {
    fn any_scenario()(
        bottleneck in proptest::option::of(spec()),
        access in proptest::option::of(spec()),
        links in (link(0), link(1)),
        flows in (flow(0), flow(1)),
        name in "[a-zA-Z\"\\\\ é\n]{1,12}",
        seed in 0u64..1 << 62,
    ) -> Scenario {
        let mut scenario = Scenario::new(&format!("x{name}"), Span::from_secs(100_000));
        scenario.seed = seed;
        scenario.topology = Some(Topology { bottleneck, access, ..Topology::new(Preset::Dumbbell) });
        scenario.links = vec![links.0, links.1];
        scenario.flows = vec![flows.0, flows.1];
        scenario
    }
}

// Without optimisation, scenarios and their readers need more stack than the 2 MiB of a test thread.
#[test]
fn a_model_written_out_and_read_again_is_the_same() {
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(written_out_and_read_again).expect("a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    fn written_out_and_read_again(scenario in any_scenario()) {
        let toml = scenario.to_toml().expect("TOML");
        let read = Scenario::from_toml(&toml, "").map_err(|error| TestCaseError::fail(format!("{error}\n{toml}")))?;
        prop_assert_eq!(&read, &scenario);
        let json = scenario.to_json().expect("JSON");
        let read = Scenario::from_json(&json, "").map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&read, &scenario);
        prop_assert_eq!(read.content_hash().expect("a hash"), scenario.content_hash().expect("a hash"));
    }

    #[test]
    fn whatever_is_read_answers_and_does_not_panic(text in "\\PC{0,200}") {
        let _ = Scenario::from_toml(&text, "").map_err(|error| error.to_string());
        let _ = Scenario::from_json(&text, "").map_err(|error| error.to_string());
    }

    #[test]
    fn a_scenario_with_a_piece_exchanged_answers_and_does_not_panic(
        at in 0.0..1.0f64,
        length in 0usize..12,
        piece in "(\\PC{0,4}|[0-9]{1,24}|\\{|\\}|\\[|\\]|\"|\n|-1|nan|\\{i%0\\})",
    ) {
        let from = (TEXT.len() as f64 * at) as usize;
        let to = (from + length).min(TEXT.len());
        let text = format!("{}{piece}{}", &TEXT[..from], &TEXT[to..]);
        match Scenario::from_toml(&text, "x.toml").and_then(|scenario| scenario.plan(Seed(1))) {
            Ok(plan) => prop_assert!(plan.flows.len() <= 100_000),
            Err(error) => prop_assert!(error.to_string().starts_with("error: ")),
        }
    }
}
