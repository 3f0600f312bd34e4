//! A program's own rate law, handed in by name: a schedule of steps, which a scenario then names like any other law.

use fairwave_core::config::ConfigError;
use fairwave_core::link::{RateLaw, Transmitter, register};
use fairwave_core::random::{Seed, Stream};
use fairwave_core::registry::{Checked, Law};
use fairwave_core::units::{Bytes, Instant, Rate, Span};
use fairwave_scenario::{Scenario, ScenarioError};
use fairwave_sim::{LinkRow, RunResult, run};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// So many bits a second until a time, step by step; then the steps begin again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct StepsConfig {
    /// How long each step lasts.
    each: Span,
    /// Their rates, of which one at least is above 0.
    rates: Vec<Rate>,
}

impl Checked for StepsConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.each == Span::ZERO {
            return Err(ConfigError::new("each", self.each, "a time above 0", "each = \"1 s\""));
        }
        if self.rates.iter().all(|rate| *rate == Rate::default()) {
            return Err(ConfigError::new("rates", "0 throughout", "one rate above 0", "rates = [\"1 Mb/s\"]"));
        }
        Ok(())
    }
}

impl Law for StepsConfig {
    const NAME: &'static str = "steps";
}

impl RateLaw for StepsConfig {
    type Transmitter = Steps;

    fn transmitter(&self, _stream: Stream) -> Result<Steps, ConfigError> {
        Ok(Steps(self.clone()))
    }

    fn nominal(&self) -> Rate {
        let sum: u64 = self.rates.iter().map(|rate| rate.bits_per_second()).sum();
        Rate::from_bits_per_second(sum / (self.rates.len() as u64).max(1))
    }
}

/// The schedule at work.
struct Steps(StepsConfig);

impl Steps {
    /// The rate at a time, and when it ends.
    fn step(&self, at: Instant) -> (Rate, Instant) {
        let step = at.nanos() / self.0.each.nanos();
        let rate = self.0.rates[step as usize % self.0.rates.len()];
        (rate, Instant::from_nanos((step + 1) * self.0.each.nanos()))
    }

    /// Bit-nanoseconds a second from one time to another.
    fn area(&self, mut from: Instant, to: Instant) -> u128 {
        let mut area = 0;
        while from < to {
            let (rate, ends) = self.step(from);
            area += u128::from(rate.bits_per_second()) * u128::from(ends.min(to).since(from).nanos());
            from = ends.min(to);
        }
        area
    }
}

impl Transmitter for Steps {
    fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        let (mut at, mut left) = (start, u128::from(size.get()) * 8_000_000_000);
        loop {
            let (rate, ends) = self.step(at);
            let rate = u128::from(rate.bits_per_second());
            let within = rate * u128::from(ends.since(at).nanos());
            if left <= within {
                return at + Span::from_nanos(left.checked_div(rate).unwrap_or(0) as u64);
            }
            (at, left) = (ends, left - within);
        }
    }

    fn capacity(&self, from: Instant, to: Instant) -> Bytes {
        Bytes::new((self.area(from, to) / 8_000_000_000) as u64)
    }
}

const RATE: &str = r#"{ law = "steps", each = "500 ms", rates = ["4 Mb/s", "0 Mb/s", "1 Mb/s", "3 Mb/s"] }"#;

/// A flood of 5 Mb/s and two transfers through a bottleneck whose capacity is 2 Mb/s in the mean and never that of the flood.
fn scenario(rate: &str, queue: &str) -> Result<Scenario, ScenarioError> {
    // Whoever comes first hands it in; whoever comes second finds it there.
    let _ = register::<StepsConfig>();
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
    // The run itself refuses books that do not balance.
    run(&plan).expect("a run that keeps its books")
}

fn bottleneck(result: &RunResult) -> &LinkRow {
    result.links.iter().find(|link| link.link == "r1>r2").expect("the bottleneck")
}

const FIFO: &str = r#"{ discipline = "drop-tail", capacity = { packets = 40 } }"#;
/// Drop-tail again, but served event by event, since its victims are chosen among those that wait.
const MANAGED: &str = r#"{ discipline = "drop-tail", capacity = { packets = 40 }, victim = "front" }"#;

#[test]
fn a_link_that_is_never_idle_carries_what_its_schedule_allows_whatever_its_queue() {
    // RED and CoDel may let the queue run empty.
    let red = r#"{ discipline = "red", capacity = { packets = 40 } }"#;
    let codel = r#"{ discipline = "codel", capacity = { packets = 40 } }"#;
    for (queue, least) in [(FIFO, 0.995), (MANAGED, 0.995), (red, 0.9), (codel, 0.9)] {
        let result = outcome(RATE, queue);
        let link = bottleneck(&result);
        // 2 Mb/s over 8 s, of which the first packet's way of 5 ms is missing.
        let whole = 2e6 * 8.0 / 8.0;
        assert!(link.wire_departed as f64 <= whole, "{queue}: {} bytes", link.wire_departed);
        assert!(link.wire_departed as f64 > least * whole, "{queue}: {} bytes", link.wire_departed);
        assert!((link.utilisation - link.wire_departed as f64 / whole).abs() < 1e-6, "{queue}: {}", link.utilisation);
        assert!(link.dropped_overflow + link.dropped_early > 0, "{queue} is overloaded");
    }
}

#[test]
fn crossing_arithmetically_and_event_by_event_give_the_same_service() {
    // With room for everything nothing is dropped, and the two differ in nothing but how they are computed.
    let [fifo, managed] = [FIFO, MANAGED].map(|queue| outcome(RATE, &queue.replace("40", "100000")));
    assert_eq!(bottleneck(&fifo).departures, bottleneck(&managed).departures);
    assert_eq!(bottleneck(&fifo).wire_departed, bottleneck(&managed).wire_departed);
    assert_eq!(fifo.flows[0].delay_max_s, managed.flows[0].delay_max_s);
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
        (RATE.replace("steps", "stairs").as_str(), "topology.bottleneck.rate.law", "allowed: constant, steps"),
        (RATE.replace("500 ms", "0 s").as_str(), "topology.bottleneck.rate.each", "a time above 0"),
        (RATE.replace("each", "eahc").as_str(), "topology.bottleneck.rate.eahc", "did you mean `each`?"),
    ] {
        let error = scenario(rate, FIFO).expect_err("a mistake").to_string();
        assert!(error.contains(place) && error.contains(said), "{rate}: {error}");
    }
}

proptest! {
    /// The slow twin: bit by bit of a nanosecond's worth.
    #[test]
    fn a_transmission_ends_when_the_capacity_since_its_start_is_its_size(
        rates in prop::collection::vec(0u64..4, 1..5), start in 0u64..40_000, size in 1u64..60,
    ) {
        prop_assume!(rates.iter().any(|rate| *rate > 0));
        let rates: Vec<Rate> = rates.into_iter().map(|rate| Rate::from_bits_per_second(rate * 8_000_000)).collect();
        let mut steps = Steps(StepsConfig { each: Span::from_nanos(1000), rates });
        let (start, size) = (Instant::from_nanos(start), Bytes::new(size));
        let end = steps.end_of(start, size);
        prop_assert!(steps.area(start, end + Span::from_nanos(1)) >= u128::from(size.get()) * 8_000_000_000);
        prop_assert!(steps.area(start, end) <= u128::from(size.get()) * 8_000_000_000);
    }
}
