//! Cost of a link's rate law per packet: `cargo bench -p fairwave-core --bench rate`.
//!
//! The link is always busy. Packets of 1500 and 40 bytes alternate, so that no transmission time can be reused. The traces last an
//! hour; their length does not change the cost.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use fairwave_core::link::{LinkRate, RateConfig};
use fairwave_core::random::Seed;
use fairwave_core::units::{Bytes, Instant};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

/// Packets that one measured call handles.
const BATCH: u32 = 1_000;

fn transmit(bencher: Bencher, law: Value) {
    let config: RateConfig = serde_json::from_value(law).expect("a law");
    let mut rate = LinkRate::new(&config, Seed(1).stream("rate")).expect("a law");
    let mut now = Instant::ZERO;
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for packet in 0..BATCH {
            now = rate.end_of(now, black_box(Bytes::new([1500, 40][packet as usize % 2])));
        }
        now
    });
}

#[divan::bench]
fn constant(bencher: Bencher) {
    transmit(bencher, json!({ "law": "constant", "rate": "12 Mb/s" }));
}

/// A step every 100 ms, as in most traces.
#[divan::bench]
fn trace_of_steps(bencher: Bencher) {
    let mut draw = Seed(2).stream("trace");
    let series: Vec<String> = (0..36_000).map(|_| format!("100 {}", 2_000 + draw.uniform_below(20_000))).collect();
    transmit(bencher, json!({ "law": "trace", "series": series.join(","), "after": "repeat" }));
}

/// A step every millisecond, like mahimahi's traces: nearly every packet crosses a step.
#[divan::bench]
fn trace_of_opportunities(bencher: Bencher) {
    let mut draw = Seed(3).stream("trace");
    let marks: String = (0..3_600_000).map(|_| char::from(b'0' + draw.uniform_below(3) as u8)).collect();
    transmit(bencher, json!({ "law": "trace", "opportunities": marks, "after": "repeat" }));
}

#[divan::bench]
fn chain_of_states(bencher: Bencher) {
    transmit(bencher, json!({ "law": "markov", "preset": "lte" }));
}
