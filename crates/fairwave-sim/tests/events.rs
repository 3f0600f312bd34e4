//! Links that change during a run, checked against values computed by hand.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{FlowRow, LinkRow, Run, RunResult};
use proptest::prelude::*;

/// A link of 1 Mb/s and 10 ms in both directions, hosts without skew or jitter, and a flow of 125-byte packets
/// without headers.
fn scenario(duration: &str, rate: &str, link: &str, more: &str) -> RunResult {
    let text = format!(
        r#"
        name = "events"
        duration = "{duration}"
        hosts = {{ clock-skew = "0 ppm", send-jitter = "0 s" }}
        [[link]]
        from = "a"
        to = "b"
        rate = "1 Mb/s"
        delay = "10 ms"
        {link}
        [[flow]]
        name = "flow"
        from = "a"
        to = "b"
        transport = {{ name = "udp", header = "0 B" }}
        traffic = {{ kind = "cbr", rate = "{rate}", payload = "125 B", phase = "zero" }}
        {more}
        "#
    );
    let plan = Scenario::from_toml(&text, "events.toml").expect("a scenario").plan(Seed(1)).expect("a plan");
    Run::new(&plan).execute().expect("a run whose books close")
}

fn there(result: &RunResult) -> &LinkRow {
    result.links.iter().find(|link| &*link.link == "a>b").expect("the link")
}

fn flow(result: &RunResult) -> &FlowRow {
    &result.flows[0]
}

const DISCIPLINES: [&str; 4] = [
    r#"queue = { capacity = { packets = 20 } }"#,
    r#"queue = { discipline = "red", capacity = { packets = 20 }, min-threshold = 18, max-threshold = 20, max-p = 0.000001 }"#,
    r#"queue = { discipline = "pie", capacity = { packets = 20 } }"#,
    r#"queue = { discipline = "codel", capacity = { packets = 20 } }"#,
];

#[test]
fn half_the_rate_is_half_the_goodput_of_who_sends_more_than_either() {
    for queue in DISCIPLINES {
        let slower = "[[event]]\nat = \"10 s\"\nlink = \"a>b\"\nrate = \"500 kb/s\"\n";
        let whole = scenario("20 s", "3 Mb/s", queue, "[record]\nbin = \"1 s\"\ngoodput = [\"flow\"]");
        let halved =
            scenario("20 s", "3 Mb/s", queue, &format!("{slower}[record]\nbin = \"1 s\"\ngoodput = [\"flow\"]"));
        let goodput = |result: &RunResult, from: f64| {
            let bins: Vec<f64> = result
                .series
                .iter()
                .filter(|row| row.time_s > from && row.time_s <= from + 9.0)
                .map(|row| row.value)
                .collect();
            bins.iter().sum::<f64>() / bins.len() as f64
        };
        assert!((goodput(&whole, 10.0) - 1e6).abs() < 2e3, "{queue}: {}", goodput(&whole, 10.0));
        assert!((goodput(&halved, 1.0) - 1e6).abs() < 2e3, "{queue}: {}", goodput(&halved, 1.0));
        assert!((goodput(&halved, 11.0) - 5e5).abs() < 2e3, "{queue}: {}", goodput(&halved, 11.0));
        assert!((there(&halved).utilisation - 1.0).abs() < 1e-3, "of what the link could carry");
    }
}

#[test]
fn a_packet_that_crosses_the_change_takes_its_parts_at_each_rate() {
    // A packet every 100 ms takes 1 ms. The packet of 0.1 s has sent half at 100.5 ms; the rest takes 5 ms at 100
    // kb/s.
    let slower = "[[event]]\nat = \"100.5 ms\"\nlink = \"a>b\"\nrate = \"100 kb/s\"\n[record]\nunits = [\"flow\"]";
    let result = scenario("1 s", "10 kb/s", "", slower);
    let delays: Vec<f64> =
        result.units.iter().take(3).map(|unit| (unit.arrived_s.expect("measured") - unit.created_s) * 1e3).collect();
    for (delay, expected) in delays.iter().zip([11.0, 15.5, 20.0]) {
        assert!((delay - expected).abs() < 1e-6, "{delays:?}");
    }
}

#[test]
fn a_failure_of_two_seconds_loses_exactly_what_is_sent_then() {
    for queue in DISCIPLINES {
        // 100 packets per second of 1 ms each, so no packet waits. The failure starts and ends between packets.
        let failure = "[[event]]\nat = \"3.005 s\"\nlink = \"a>b\"\nstate = \"down\"\n\
                       [[event]]\nat = \"5.005 s\"\nlink = \"a>b\"\nstate = \"up\"\n";
        let result = scenario("9.995 s", "100 kb/s", queue, failure);
        assert_eq!((flow(&result).lost, flow(&result).dropped), (200, 0), "{queue}");
        let outage = &result.outages[0];
        assert_eq!((outage.lost_waiting, outage.lost_in_transmission), (200, 0));
        assert_eq!((outage.from_s, outage.to_s.expect("measured")), (3.005, 5.005));
        assert_eq!(there(&result).lost, 0, "the wire itself lost none");
        assert_eq!(there(&result).arrivals, there(&result).departures + 200);
    }
}

#[test]
fn a_failure_loses_waiting_and_transmitted_packets_but_not_those_in_propagation() {
    for queue in DISCIPLINES {
        // Four packets arrive per ms and one leaves: 20 always wait, and ten are in transit.
        let failure = "[[event]]\nat = \"500.5 ms\"\nlink = \"a>b\"\nstate = \"down\"\n";
        let result = scenario("1 s", "4 Mb/s", queue, failure);
        let outage = &result.outages[0];
        assert_eq!(outage.lost_in_transmission, 1, "{queue}");
        assert!(outage.to_s.is_none());
        assert_eq!(flow(&result).units_received, 500, "{queue}: what had left by then");
        // 2000 packets arrive later, in addition to those that waited.
        assert!(outage.lost_waiting > 1995 && outage.lost_waiting <= 2020, "{queue}: {}", outage.lost_waiting);
    }
}

#[test]
fn a_queue_crossed_by_arithmetic_and_one_served_event_by_event_agree_on_all_of_it() {
    let events = r#"
        [[event]]
        at = "1.0003 s"
        link = "a>b"
        rate = "300 kb/s"
        loss = { model = "pattern", pattern = "00001" }
        [[event]]
        at = "2.0007 s"
        link = "a>b"
        rate = "0 b/s"
        delay = "2 ms"
        [[event]]
        at = "2.5 s"
        link = "a>b"
        rate = "2 Mb/s"
        [[event]]
        at = "3.0004 s"
        link = "a>b"
        state = "down"
        [[event]]
        at = "3.2 s"
        link = "a>b"
        state = "up"
        loss = "none"
    "#;
    let of = |queue: &str| scenario("4 s", "1.4 Mb/s", queue, events);
    let (arithmetic, by_events) = (of(DISCIPLINES[0]), of(DISCIPLINES[1]));
    let counted = |result: &RunResult| {
        let (link, flow, outage) = (there(result), flow(result), &result.outages[0]);
        [link.arrivals, link.departures, link.dropped_overflow, link.lost, link.wire_departed, flow.units_received]
            .into_iter()
            .chain([outage.lost_waiting, outage.lost_in_transmission])
            .collect::<Vec<_>>()
    };
    assert_eq!(counted(&arithmetic), counted(&by_events));
    assert!(counted(&arithmetic).iter().all(|count| *count > 0), "{:?}", counted(&arithmetic));
    assert!(
        (flow(&arithmetic).delay_mean_s.expect("measured") - flow(&by_events).delay_mean_s.expect("measured")).abs()
            < 1e-12
    );
}

#[test]
fn a_shorter_delay_keeps_the_order_unless_overtaking_is_asked_for() {
    let delay = |overtaking: &str| {
        format!(
            "delay = {{ steps = [{{ at = \"0 s\", is = \"100 ms\" }}, {{ at = \"500 ms\", is = \"10 ms\" }}]{overtaking} }}"
        )
    };
    for (overtaking, in_order) in [("", true), (", overtaking = true", false)] {
        let text = format!(
            r#"
            name = "delay"
            duration = "1 s"
            hosts = {{ clock-skew = "0 ppm", send-jitter = "0 s" }}
            [[link]]
            from = "a"
            to = "r"
            rate = "1 Mb/s"
            {}
            [[link]]
            from = "r"
            to = "b"
            rate = "100 Mb/s"
            delay = "0 ms"
            [[flow]]
            name = "flow"
            from = "a"
            to = "b"
            transport = "udp"
            traffic = {{ kind = "cbr", rate = "100 kb/s", payload = "125 B" }}
            [record]
            units = ["flow"]
            "#,
            delay(overtaking)
        );
        let plan = Scenario::from_toml(&text, "delay.toml").expect("a scenario").plan(Seed(1)).expect("a plan");
        let result = Run::new(&plan).execute().expect("a run");
        let arrived: Vec<f64> = result.units.iter().filter_map(|unit| unit.arrived_s).collect();
        assert!(arrived.len() > 90);
        assert_eq!(arrived.is_sorted(), in_order, "{overtaking}");
        let last = &result.units[90];
        assert!((last.arrived_s.expect("measured") - last.created_s) < 0.013, "the new delay holds");
    }
}

#[test]
fn a_loss_that_begins_later_leaves_what_came_before_as_it_was() {
    let loss = |model: &str| format!("loss = {model}");
    let (early, late) = ("{ model = \"bernoulli\", rate = 0.1 }", "{ model = \"bernoulli\", rate = 1.0 }");
    let alone = scenario("2 s", "100 kb/s", &loss(early), "[record]\nunits = [\"flow\"]");
    let followed = format!("[{{ at = \"0 s\", is = {early} }}, {{ at = \"1 s\", is = {late} }}]");
    let followed = scenario("2 s", "100 kb/s", &loss(&followed), "[record]\nunits = [\"flow\"]");
    let arrived = |result: &RunResult, n: usize| -> Vec<bool> {
        result.units.iter().skip(n).take(99).map(|unit| unit.arrived_s.is_some()).collect()
    };
    assert_eq!(arrived(&alone, 0), arrived(&followed, 0), "the first model draws what it would draw alone");
    assert!(arrived(&followed, 100).iter().all(|arrived| !arrived));
}

/// Possible events at the bottleneck.
const HAPPENINGS: [&str; 7] = [
    "rate = \"0 b/s\"",
    "rate = \"37 kb/s\"",
    "rate = \"5 Mb/s\"",
    "delay = \"0 ms\"",
    "delay = \"333 ms\"",
    "loss = { model = \"markov\", good = \"40 ms\", bad = \"10 ms\", bad-loss = 0.5 }",
    "loss = \"none\"",
];

/// Returns `few` cases, unless `FAIRWAVE_FUZZ_CASES` gives a number (`make fuzz`).
fn cases(few: u32) -> ProptestConfig {
    let asked = std::env::var("FAIRWAVE_FUZZ_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(few), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(24))]

    /// Whatever happens to a link, every packet is accounted for at the end of the run, and a second run gives the
    /// same result.
    #[test]
    fn fuzz_the_books_close_whatever_happens_to_a_link(
        happenings in prop::collection::btree_map(1u64..1990, 0usize..7, 0..8),
        outages in prop::collection::vec((1u64..400, 1u64..200), 0..3),
        discipline in 0usize..4, overtaking: bool, front: bool,
    ) {
        let mut text = format!(
            r#"
            name = "busy"
            duration = "2 s"
            warmup = "300 ms"
            [[link]]
            from = "r1"
            to = "r2"
            rate = "600 kb/s"
            delay = {{ steps = [{{ at = "0 s", is = "40 ms" }}, {{ at = "700.5 ms", is = "3 ms" }}], overtaking = {overtaking} }}
            loss = {{ model = "bernoulli", rate = 0.02 }}
            {}
            [[link]]
            from = "a{{i}}"
            to = "r1"
            count = 3
            rate = "10 Mb/s"
            delay = "1 ms"
            [[link]]
            from = "r2"
            to = "b{{i}}"
            count = 3
            rate = "10 Mb/s"
            delay = "1 ms"
            [[flow]]
            name = "data"
            count = 2
            from = "a{{i}}"
            to = "b{{i}}"
            transport = "tcp/sack"
            traffic = "bulk"
            [[flow]]
            name = "back"
            from = "b1"
            to = "a2"
            transport = "tfrc"
            traffic = "bulk"
            [[flow]]
            name = "flood"
            from = "a2"
            to = "b2"
            transport = "udp"
            traffic = {{ kind = "cbr", rate = "500 kb/s" }}
            "#,
            DISCIPLINES[discipline],
        );
        if front && discipline > 0 {
            text = text.replacen("queue = { ", "queue = { victim = \"front\", ", 1);
        }
        for (nth, (at, what)) in happenings.iter().enumerate() {
            let link = if nth % 2 == 0 { "r1<>r2" } else { "r1>r2" };
            text += &format!("[[event]]\nat = \"{at} ms\"\nlink = \"{link}\"\n{}\n", HAPPENINGS[*what]);
        }
        let mut at = 0;
        for (gap, length) in outages {
            let (down, up) = (at + gap, at + gap + length);
            text += &format!("[[event]]\nat = \"{down} ms\"\nlink = \"r1>r2\"\nstate = \"down\"\n");
            text += &format!("[[event]]\nat = \"{up} ms\"\nlink = \"r1>r2\"\nstate = \"up\"\n");
            at = up;
        }
        let scenario = Scenario::from_toml(&text, "busy.toml").map_err(|error| TestCaseError::fail(error.to_string()))?;
        let plan = scenario.plan(Seed(7)).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let digest = || Run::new(&plan).execute().map(|result| result.digest().expect("a digest"));
        let first = digest().map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(digest().expect("a run"), first);
    }
}

#[test]
fn an_event_in_the_warm_up_is_counted_there() {
    let failure = "[[event]]\nat = \"1.005 s\"\nlink = \"a>b\"\nstate = \"down\"\n[[event]]\nat = \"2.005 s\"\nlink = \"a>b\"\nstate = \"up\"\n";
    let text = |warmup: &str| {
        format!(
            "name = \"w\"\nduration = \"4 s\"\nwarmup = \"{warmup}\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mb/s\"\n\
             delay = \"1 ms\"\n[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\ntraffic = {{ kind = \"cbr\", \
             rate = \"100 kb/s\", payload = \"125 B\" }}\n{failure}"
        )
    };
    let of = |warmup: &str| {
        let plan = Scenario::from_toml(&text(warmup), "w.toml").expect("a scenario").plan(Seed(1)).expect("a plan");
        Run::new(&plan).execute().expect("a run whose books close")
    };
    assert_eq!(of("0 s").outages[0].lost_waiting, 100);
    assert_eq!(of("3 s").outages[0].lost_waiting, 0);
    assert_eq!(of("3 s").flows[0].lost, 0);
}
