//! Cost of a queue per packet.
//!
//! `cargo bench -p fairwave-core --bench queue`. The first group shows that finding and removing a victim is O(1): apart from cache
//! effects, its time per packet does not depend on the number of waiting packets. `backlog_scan` is the cost of Drop-Sel with a
//! search. The second group is the hot path of each discipline.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use fairwave_core::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_core::queue::{Capacity, DisciplineConfig, DropReason, DropTailConfig, Queue, QueueConfig};
use fairwave_core::random::Seed;
use fairwave_core::units::{Instant, Rate, Span};

fn main() {
    divan::main();
}

const BACKLOGS: [u32; 5] = [10, 100, 1_000, 10_000, 100_000];
/// Packets that one measured call handles.
const BATCH: u32 = 1_000;
const RATE: Rate = Rate::from_bits_per_second(10_000_000);

fn packet(serial: u32) -> Packet {
    let body =
        Body::Datagram { payload: 160, sequence: serial, unit: serial, part: 0, parts: 1, created: Instant::ZERO };
    // Voice sends small packets often, the other classes large ones, so that each class is the heaviest at times.
    let class = Class::ALL[serial as usize % 3];
    let wire = [252, 500, 480][serial as usize % 3];
    Packet {
        flow: FlowId(serial % 20),
        wire,
        class,
        dscp: Default::default(),
        feedback: false,
        ecn: Ecn::NotEct,
        layer: 0,
        body,
    }
}

fn queue(text: &str) -> Queue {
    let config: QueueConfig =
        serde_json::from_str(text).unwrap_or(QueueConfig::new(Capacity::Packets(1), DropTailConfig {}));
    assert!(config.check().is_ok() && serde_json::from_str::<QueueConfig>(text).is_ok(), "{text}");
    Queue::new(&config, RATE, Seed(1).stream("bench"))
}

/// A full queue of `backlog` packets. Each further arrival causes one drop by `victim`.
fn overflow(bencher: Bencher, victim: &str, backlog: u32) {
    let text = format!(r#"{{"discipline":"drop-tail","capacity":{{"packets":{backlog}}},"victim":"{victim}"}}"#);
    let mut queue = queue(&text);
    let mut drops: Vec<(Packet, DropReason)> = Vec::with_capacity(4);
    let mut serial = 0;
    for _ in 0..2 * backlog {
        queue.arrive(Instant::ZERO, &packet(serial), &mut drops);
        serial += 1;
        drops.clear();
    }
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for _ in 0..BATCH {
            queue.arrive(Instant::ZERO, &packet(serial), &mut drops);
            serial = serial.wrapping_add(1);
            black_box(&drops);
            drops.clear();
        }
    });
}

#[divan::bench(args = BACKLOGS)]
fn overflow_drop_sel(bencher: Bencher, backlog: u32) {
    overflow(bencher, "drop-sel", backlog);
}

#[divan::bench(args = BACKLOGS)]
fn overflow_random(bencher: Bencher, backlog: u32) {
    overflow(bencher, "random", backlog);
}

#[divan::bench(args = BACKLOGS)]
fn overflow_front(bencher: Bencher, backlog: u32) {
    overflow(bencher, "front", backlog);
}

/// Cost of Drop-Sel with a search of a plain list and a new count of its classes.
#[divan::bench(args = &BACKLOGS[..4])]
fn backlog_scan(bencher: Bencher, backlog: u32) {
    let mut waiting: std::collections::VecDeque<Packet> = (0..backlog).map(packet).collect();
    let mut serial = backlog;
    bencher.counter(ItemsCount::new(10u32)).bench_local(|| {
        for _ in 0..10 {
            waiting.push_back(packet(serial));
            serial = serial.wrapping_add(1);
            let mut bytes = [0u64; 3];
            for packet in &waiting {
                bytes[packet.class as usize] += u64::from(packet.wire);
            }
            let heaviest = (0..3).rev().max_by_key(|&class| bytes[class]).map(|class| Class::ALL[class]);
            let found = waiting.iter().position(|packet| Some(packet.class) == heaviest);
            black_box(found.and_then(|index| waiting.remove(index)));
        }
    });
}

/// One arrival and one departure of each discipline, at a backlog at which its law is active.
#[divan::bench(args = DisciplineConfig::BUILT_IN)]
fn arrive_and_depart(bencher: Bencher, discipline: &str) {
    let mut queue = queue(&format!(r#"{{"discipline":"{discipline}","capacity":{{"packets":125}}}}"#));
    let mut drops = Vec::with_capacity(4);
    let (mut now, mut serial) = (Instant::ZERO, 0);
    let spacing = Span::from_micros(400);
    for _ in 0..20 {
        queue.arrive(now, &packet(serial), &mut drops);
        serial += 1;
    }
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for _ in 0..BATCH {
            now += spacing;
            queue.arrive(now, &packet(serial), &mut drops);
            serial = serial.wrapping_add(1);
            if queue.packets() > 10 {
                black_box(queue.depart(now, &mut drops));
            }
            drops.clear();
        }
    });
}
