//! What a link's rate law costs per packet: `cargo bench -p fairwave-core --bench rate`.
//!
//! The link is always busy, and packets are 1500 and 40 bytes in turn, so that no time is known from the packet before. The traces
//! last an hour; their cost does not depend on that.

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
    let series: Vec<String> = (0..36_000).map(|_| format!("100 {}", 2_000 + draw.below(20_000))).collect();
    transmit(bencher, json!({ "law": "trace", "series": series.join(","), "after": "repeat" }));
}

/// A step every millisecond, as mahimahi records: nearly every packet crosses one.
#[divan::bench]
fn trace_of_opportunities(bencher: Bencher) {
    let mut draw = Seed(3).stream("trace");
    let marks: String = (0..3_600_000).map(|_| char::from(b'0' + draw.below(3) as u8)).collect();
    transmit(bencher, json!({ "law": "trace", "opportunities": marks, "after": "repeat" }));
}

#[divan::bench]
fn chain_of_states(bencher: Bencher) {
    transmit(bencher, json!({ "law": "markov", "preset": "lte" }));
}
