//! Links with a rate trace or a chain of states, jitter, reordering and duplication, in complete runs.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_sim::{LinkRow, Run, RunResult};
use proptest::prelude::*;

/// A flow of 125-byte packets without headers over a link of 10 ms, followed by a second link.
fn text(rate: &str, link: &str, flow: &str) -> String {
    format!(
        r#"
        name = "wires"
        duration = "20 s"
        hosts = {{ clock-skew = "0 ppm", send-jitter = "0 s" }}
        [[link]]
        from = "a"
        to = "b"
        rate = {rate}
        delay = "10 ms"
        {link}
        [[link]]
        from = "b"
        to = "c"
        rate = "100 Mb/s"
        delay = "1 ms"
        [[flow]]
        name = "flow"
        from = "a"
        to = "c"
        {flow}
        "#
    )
}

const DATAGRAMS: &str = r#"
    transport = { name = "udp", header = "0 B" }
    traffic = { kind = "cbr", rate = "200 kb/s", payload = "125 B" }
"#;

fn of(text: &str, seed: u64) -> RunResult {
    let plan = Scenario::from_toml(text, "wires.toml").expect("a scenario").plan(Seed(seed)).expect("a plan");
    Run::new(&plan).execute().expect("a run whose books close")
}

fn link<'r>(result: &'r RunResult, name: &str) -> &'r LinkRow {
    result.links.iter().find(|link| &*link.link == name).expect("the link")
}

const QUEUES: [&str; 2] =
    ["queue = { capacity = { packets = 50 } }", "queue = { discipline = \"pie\", capacity = { packets = 50 } }"];

#[test]
fn copies_are_counted_at_the_wire_that_made_them_and_reach_the_receiver_once() {
    for queue in QUEUES {
        let result = of(&text("\"1 Mb/s\"", &format!("{queue}\nduplicate = {{ share = 0.1 }}"), DATAGRAMS), 1);
        let (first, second) = (link(&result, "a>b"), link(&result, "b>c"));
        assert!(first.duplicated.abs_diff(first.departures / 10) < first.departures / 50, "{first:?}");
        // At the end, packets that left within the last 10 ms are on the wire: at most three, without their copies.
        let made = first.departures + first.duplicated;
        assert!((made - 3..=made).contains(&second.arrivals), "{} of {made}", second.arrivals);
        assert_eq!((first.reordered, second.duplicated), (0, 0));
        // A packet that arrives at the very end is in transmission.
        assert!(first.arrivals - first.departures <= 1);
        assert!(result.flows[0].units_received <= first.departures, "no unit is received twice");
        assert!(result.flows[0].units_received + 5 > first.departures);
    }
}

#[test]
fn a_late_packet_is_reordered_when_another_arrives_before_it_and_not_otherwise() {
    // A packet every 5 ms: a packet delayed by 12 ms is overtaken, a packet delayed by 3 ms is not.
    let reordered = |by: &str| {
        let result = of(&text("\"1 Mb/s\"", &format!("reorder = {{ share = 0.05, by = \"{by}\" }}"), DATAGRAMS), 1);
        (link(&result, "a>b").reordered, link(&result, "a>b").departures)
    };
    let (overtaken, departures) = reordered("12 ms");
    assert!(overtaken.abs_diff(departures / 20) < departures / 100, "{overtaken} of {departures}");
    assert_eq!(reordered("3 ms").0, 0);
}

#[test]
fn jitter_makes_packets_late_by_its_mean_and_keeps_their_order() {
    let mean = |jitter: &str| {
        let result = of(&text("\"100 Mb/s\"", jitter, DATAGRAMS), 1);
        assert_eq!(link(&result, "a>b").reordered, 0);
        result.flows[0].delay_mean_s.expect("measured")
    };
    let more = mean("jitter = { model = \"uniform\", up-to = \"4 ms\" }") - mean("");
    // 4 ms are less than the 5 ms between packets, so no packet waits for another.
    assert!((more - 0.002).abs() < 0.0001, "{more}");
    let gaussian = mean("jitter = { model = \"gaussian\", deviation = \"1 ms\" }") - mean("");
    assert!((gaussian - 0.000_797_9).abs() < 0.000_05, "{gaussian}");
}

#[test]
fn tcp_acknowledges_copies_again_and_its_goodput_stays_within_the_link() {
    let bulk = "transport = \"tcp/sack\"\ntraffic = \"bulk\"";
    let clean = of(&text("\"2 Mb/s\"", "", bulk), 1);
    let copied = of(&text("\"2 Mb/s\"", "duplicate = { share = 0.01 }", bulk), 1);
    assert!(link(&copied, "a>b").duplicated > 20);
    assert!(
        copied.flows[0].goodput_bps.expect("measured") <= 2e6
            && copied.flows[0].goodput_bps.expect("measured") > 0.8 * clean.flows[0].goodput_bps.expect("measured")
    );
}

#[test]
fn a_trace_and_a_schedule_that_say_the_same_leave_the_same() {
    let bulk = "transport = \"tcp/sack\"\ntraffic = \"bulk\"";
    for queue in QUEUES {
        let steps =
            r#"[{ at = "0 s", is = "2 Mb/s" }, { at = "7 s", is = "500 kb/s" }, { at = "9.5 s", is = "3 Mb/s" }]"#;
        let series = r#"{ law = "trace", series = "7000 2000, 2500 500, 10500 3000" }"#;
        // Buffers have equal sizes and PIE receives the same changes: only the name differs.
        let digest = |rate: &str| of(&text(rate, queue, bulk), 1).digest().expect("a digest");
        assert_eq!(digest(steps), digest(series));
    }
}

#[test]
fn a_link_that_follows_opportunities_carries_what_they_are() {
    // 1504 B every 10 ms: 1.2032 Mb/s.
    let rate = r#"{ law = "trace", opportunities = "0000000001", after = "repeat" }"#;
    let flood = DATAGRAMS.replace("200 kb/s", "5 Mb/s").replace("125 B", "752 B");
    let result = of(&text(rate, QUEUES[0], &flood), 1);
    let first = link(&result, "a>b");
    assert_eq!((first.departures, first.wire_departed), (4000, 2000 * 1504));
    assert!((first.utilisation - 1.0).abs() < 1e-9, "{}", first.utilisation);
}

#[test]
fn a_chain_of_states_carries_its_mean_rate_and_draws_another_course_with_another_seed() {
    let rate =
        r#"{ law = "markov", states = [{ rate = "3 Mb/s", mean = "50 ms" }, { rate = "0 b/s", mean = "25 ms" }] }"#;
    let flood = DATAGRAMS.replace("200 kb/s", "5 Mb/s");
    for queue in QUEUES {
        let wire = |seed| link(&of(&text(rate, queue, &flood), seed), "a>b").wire_departed;
        let (one, two) = (wire(1), wire(2));
        assert_eq!(one, wire(1));
        assert_ne!(one, two);
        for bytes in [one, two] {
            assert!((bytes as f64 * 8.0 / 20.0 / 2e6 - 1.0).abs() < 0.15, "{bytes}");
        }
    }
}

fn cases(few: u32) -> ProptestConfig {
    let asked = std::env::var("FAIRWAVE_FUZZ_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(few), failure_persistence: None, ..ProptestConfig::default() }
}

const TRANSPORTS: [(&str, &str); 8] = [
    ("\"udp\"", "{ kind = \"cbr\", rate = \"300 kb/s\" }"),
    ("\"tcp/newreno\"", "\"bulk\""),
    ("\"tcp/sack\"", "\"bulk\""),
    ("\"tcp/real\"", "\"voice\""),
    ("\"tfrc\"", "\"bulk\""),
    ("\"rap\"", "\"bulk\""),
    ("\"dvrc\"", "\"video\""),
    ("\"rtcp\"", "\"video\""),
];

proptest! {
    #![proptest_config(cases(24))]

    /// Whatever a wire does to the packets of any transport, every packet is accounted for at the end of the run, and
    /// a second run gives the same result.
    #[test]
    fn fuzz_the_books_close_whatever_wires_do(
        transport in 0usize..8, seed in 0u64..100, queue in 0usize..2, share in 0.0f64..0.3, by in 1u64..80,
        jitter in 0usize..3, overtaking: bool, rate in 0usize..3, down: bool,
    ) {
        let jitter = ["", "jitter = \"gaussian\"", "jitter = { model = \"uniform\", up-to = \"40 ms\" }"][jitter];
        let rate = [
            "\"600 kb/s\"",
            r#"{ law = "markov", states = [{ rate = "2 Mb/s", mean = "50 ms" }, { rate = "0 b/s", mean = "25 ms" }] }"#,
            r#"{ law = "trace", series = "100 900, 1.5 0, 33 250.5", after = "repeat" }"#,
        ][rate];
        let outage = if down { "outages = [{ from = \"700 ms\", to = \"900 ms\" }]" } else { "" };
        let link = format!(
            "{}\n{jitter}\n{outage}\nreorder = {{ share = {share}, by = \"{by} ms\" }}\nduplicate = {{ share = {share} }}\n\
             loss = {{ model = \"bernoulli\", rate = 0.02 }}",
            QUEUES[queue],
        );
        let flow = format!("transport = {}\ntraffic = {}", TRANSPORTS[transport].0, TRANSPORTS[transport].1);
        let text = text(rate, &link, &flow).replace("\"20 s\"", "\"3 s\"\nwarmup = \"500 ms\"").replace(
            "delay = \"10 ms\"",
            &format!("delay = {{ steps = [{{ at = \"0 s\", is = \"30 ms\" }}, {{ at = \"1 s\", is = \"5 ms\" }}], overtaking = {overtaking} }}"),
        );
        let scenario = Scenario::from_toml(&text, "w.toml").map_err(|error| TestCaseError::fail(error.to_string()))?;
        let plan = scenario.plan(Seed(seed)).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let digest = || Run::new(&plan).execute().map(|result| result.digest().expect("a digest"));
        let first = digest().map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(digest().expect("a run"), first);
    }
}
