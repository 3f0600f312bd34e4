//! A program's custom rate law, registered by name: a schedule of steps that a scenario selects like any other law.

use fairwave_core::link::{RateLaw, Transmitter};
use fairwave_core::random::Seed;
use fairwave_core::units::{Bytes, Instant, Rate, Span};
use fairwave_scenario::{Scenario, ScenarioError};
use fairwave_sim::{LinkRow, Run, RunResult};
use proptest::prelude::*;

use crate::own_laws::{hand_in, steps::StepsConfig};

const RATE: &str = r#"{ law = "steps", each = "500 ms", rates = ["4 Mb/s", "0 Mb/s", "1 Mb/s", "3 Mb/s"] }"#;

/// A flood of 5 Mb/s and two transfers through a bottleneck with 2 Mb/s on average, always below the flood's rate.
fn scenario(rate: &str, queue: &str) -> Result<Scenario, ScenarioError> {
    hand_in();
    let text = format!(
        r#"
name = "steps"
duration = "8 s"
[topology]
preset = "dumbbell"
bottleneck = {{ rate = {rate}, delay = "10 ms", queue = {queue} }}
[[flow]]
name = "flood"
transport = {{ name = "udp", header = "0 B" }}
traffic = {{ kind = "cbr", rate = "5 Mb/s", payload = "1000 B" }}
[[flow]]
name = "data"
count = 2
transport = "tcp/sack"
traffic = "bulk"
start = "1 s"
"#
    );
    Scenario::from_text(&text, "steps.toml")
}

fn outcome(rate: &str, queue: &str) -> RunResult {
    let plan = scenario(rate, queue).expect("a scenario").plan(Seed(1)).expect("a plan");
    // The run returns an error if its packet accounting does not balance.
    Run::new(&plan).execute().expect("a run that keeps its books")
}

fn bottleneck(result: &RunResult) -> &LinkRow {
    result.links.iter().find(|link| &*link.link == "r1>r2").expect("the bottleneck")
}

const FIFO: &str = r#"{ discipline = "drop-tail", capacity = { packets = 40 } }"#;
/// Drop-tail as a managed queue: served event by event, since it selects its victims among the waiting packets.
const MANAGED: &str = r#"{ discipline = "drop-tail", capacity = { packets = 40 }, victim = "front" }"#;

#[test]
fn a_link_that_is_never_idle_carries_what_its_schedule_allows_whatever_its_queue() {
    // RED and CoDel can let the queue run empty.
    let red = r#"{ discipline = "red", capacity = { packets = 40 } }"#;
    let codel = r#"{ discipline = "codel", capacity = { packets = 40 } }"#;
    for (queue, least) in [(FIFO, 0.995), (MANAGED, 0.995), (red, 0.9), (codel, 0.9)] {
        let result = outcome(RATE, queue);
        let link = bottleneck(&result);
        // 2 Mb/s over 8 s, without the 5 ms that the first packet takes to arrive.
        let whole = 2e6 * 8.0 / 8.0;
        assert!(link.wire_departed as f64 <= whole, "{queue}: {} bytes", link.wire_departed);
        assert!(link.wire_departed as f64 > least * whole, "{queue}: {} bytes", link.wire_departed);
        // The packet in transmission at the end counts with its transmitted part.
        let begun = link.utilisation - link.wire_departed as f64 / whole;
        assert!((0.0..1500.0 / whole).contains(&begun), "{queue}: {}", link.utilisation);
        assert!(link.dropped_overflow + link.dropped_early > 0, "{queue} is overloaded");
    }
}

#[test]
fn crossing_arithmetically_and_event_by_event_give_the_same_service() {
    // With a large buffer there are no drops, and the two differ only in their algorithm.
    let [fifo, managed] = [FIFO, MANAGED].map(|queue| outcome(RATE, &queue.replace("40", "100000")));
    assert_eq!(bottleneck(&fifo).departures, bottleneck(&managed).departures);
    assert_eq!(bottleneck(&fifo).wire_departed, bottleneck(&managed).wire_departed);
    assert_eq!(fifo.flows[0].delay_max_s.expect("measured"), managed.flows[0].delay_max_s.expect("measured"));
    assert_eq!(fifo.flows[0].payload_received, managed.flows[0].payload_received);
}

#[test]
fn a_schedule_of_one_rate_is_a_constant_rate() {
    let steps = r#"{ law = "steps", each = "1 s", rates = ["2 Mb/s"] }"#;
    for queue in [FIFO, MANAGED] {
        let (steps, constant) = (outcome(steps, queue), outcome("\"2 Mb/s\"", queue));
        assert_eq!(steps.digest().expect("a digest"), constant.digest().expect("a digest"), "{queue}");
    }
}

#[test]
fn the_constant_law_may_be_written_as_a_table_and_is_the_same_scenario() {
    let hash = |rate| scenario(rate, FIFO).expect("a scenario").content_hash().expect("a hash");
    let table = r#"{ law = "constant", rate = "2 Mb/s" }"#;
    assert_eq!(hash(table), hash("\"2 Mb/s\""));
    assert_ne!(hash(table), hash("\"3 Mb/s\""));
    assert_eq!(outcome(table, FIFO).digest().ok(), outcome("\"2 Mb/s\"", FIFO).digest().ok());
}

#[test]
fn buffers_are_sized_by_the_nominal_rate() {
    let plan = |rate| scenario(rate, "{ capacity = { bdp = 20 } }").expect("a scenario").plan(Seed(1)).expect("a plan");
    assert_eq!(plan(RATE).links[0].direction.queue, plan("\"2 Mb/s\"").links[0].direction.queue);
}

#[test]
fn a_law_that_nobody_handed_in_and_a_parameter_out_of_range_are_refused_where_they_stand() {
    for (rate, place, said) in [
        (
            RATE.replace("steps", "stairs").as_str(),
            "topology.bottleneck.rate.law",
            "allowed: constant, schedule, trace, markov, steps",
        ),
        (RATE.replace("500 ms", "0 s").as_str(), "topology.bottleneck.rate.each", "a time above 0"),
        (RATE.replace("each", "eahc").as_str(), "topology.bottleneck.rate.eahc", "did you mean `each`?"),
    ] {
        let error = scenario(rate, FIFO).expect_err("a mistake").to_string();
        assert!(error.contains(place) && error.contains(said), "{rate}: {error}");
    }
}

/// Returns the bytes sent in each nanosecond at these rates (bytes per nanosecond), `each` nanoseconds per rate: the
/// slow reference.
fn nanoseconds(rates: &[u64], each: u64) -> impl Iterator<Item = u64> {
    rates.iter().flat_map(move |rate| std::iter::repeat_n(*rate, each as usize)).cycle()
}

proptest! {
    #[test]
    fn a_transmission_ends_when_the_capacity_since_its_start_is_its_size(
        rates in prop::collection::vec(0u64..4, 1..5), each in 1u64..50, start in 0u64..2000, size in 1u64..600,
    ) {
        prop_assume!(rates.iter().any(|rate| *rate > 0));
        let written = rates.iter().map(|rate| Rate::from_bits_per_second(rate * 8_000_000_000)).collect();
        let config = StepsConfig { each: Span::from_nanos(each), rates: written };
        let mut steps = config.transmitter(Seed(1).stream("steps")).expect("a law");
        let (mut sent, mut end) = (0, start);
        let mut least = end;
        for rate in nanoseconds(&rates, each).skip(start as usize) {
            if sent >= size {
                break;
            }
            (least, end) = (end, end + 1);
            sent += rate;
        }
        // To the nearest nanosecond: the last one of the transmission, or the previous one.
        let found = steps.end_of(Instant::from_nanos(start), Bytes::new(size)).nanos();
        prop_assert!(found == end || (found == least && sent > size), "{found} of {least} to {end}");
        let capacity = steps.capacity(Instant::from_nanos(start), Instant::from_nanos(end));
        prop_assert_eq!(capacity.get(), sent);
    }
}
