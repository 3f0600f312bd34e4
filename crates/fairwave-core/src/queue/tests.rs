//! What holds for every discipline and victim together.

use proptest::prelude::*;

use super::testing::{packet, stream};
use super::*;

fn rate() -> Rate {
    Rate::from_bits_per_second(1_000_000)
}

fn queue(toml: serde_json::Value) -> Queue {
    let config: QueueConfig = serde_json::from_value(toml).expect("a queue");
    config.check().expect("a sound queue");
    Queue::new(&config, rate(), stream())
}

fn configs() -> Vec<serde_json::Value> {
    let mut configs = Vec::new();
    for capacity in [serde_json::json!({"packets": 12}), serde_json::json!({"bytes": 6000})] {
        for victim in ["tail", "front", "random", "drop-sel", "voice-guard"] {
            configs.push(serde_json::json!({"discipline": "drop-tail", "capacity": capacity, "victim": victim}));
        }
    }
    configs
}

/// Sums packets and bytes per class.
#[derive(Default, PartialEq, Debug, Clone, Copy)]
struct Sums([(u64, u64); 3]);

impl Sums {
    fn add(&mut self, packet: &Packet) {
        let sum = &mut self.0[packet.class as usize];
        *sum = (sum.0 + 1, sum.1 + u64::from(packet.wire));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_arrived_has_departed_or_was_dropped_or_waits_per_class_and_byte(
        steps in prop::collection::vec((1..1501u16, 0..3usize, 0..12_000u64), 1..300),
    ) {
        for config in configs() {
            let mut queue = queue(config.clone());
            let capacity: Capacity = serde_json::from_value(config["capacity"].clone()).expect("a capacity");
            let (mut arrived, mut gone) = (Sums::default(), Sums::default());
            let (mut now, mut free, mut drops) = (Instant::ZERO, Instant::ZERO, Vec::new());
            for (serial, &(size, class, micros)) in steps.iter().enumerate() {
                let next = now + Span::from_micros(micros);
                while free <= next && queue.packets() > 0 {
                    let begins = free.max(now);
                    if let Some(packet) = queue.depart(begins, &mut drops) {
                        gone.add(&packet);
                        free = begins + rate().time_for(packet.size());
                    }
                }
                now = next;
                let packet = packet(serial as u32 % 5, size, Class::ALL[class]);
                arrived.add(&packet);
                queue.arrive(now, packet, &mut drops);
                match capacity {
                    Capacity::Packets(packets) => prop_assert!(queue.packets() <= packets),
                    Capacity::Bytes(bytes) => prop_assert!(queue.bytes() <= bytes),
                }
            }
            for (packet, _) in &drops {
                gone.add(packet);
            }
            for class in Class::ALL {
                let (packets, bytes) = &mut gone.0[class as usize];
                *packets += u64::from(queue.class_packets(class));
                *bytes += queue.class_bytes(class);
            }
            prop_assert_eq!(arrived, gone, "{}", config);
        }
    }
}

/// Three packets of 100 bytes fill the queue; the fourth arrives.
fn dropped_on_overflow(victim: &str) -> Vec<u32> {
    let mut queue = queue(serde_json::json!({"discipline": "drop-tail", "capacity": {"packets": 3}, "victim": victim}));
    let mut drops = Vec::new();
    for (flow, class) in [(1, Class::Voice), (2, Class::Tcp), (3, Class::OtherUdp), (4, Class::Tcp)] {
        queue.arrive(Instant::ZERO, packet(flow, 100, class), &mut drops);
    }
    assert!(drops.iter().all(|(_, reason)| *reason == DropReason::Overflow));
    drops.iter().map(|(packet, _)| packet.flow.0).collect()
}

#[test]
fn a_full_queue_drops_the_victim_of_its_rule() {
    assert_eq!(dropped_on_overflow("tail"), [4]);
    assert_eq!(dropped_on_overflow("front"), [1]);
    assert_eq!(dropped_on_overflow("drop-sel"), [2], "with the arrival, TCP holds most bytes");
}

#[test]
fn a_queue_counted_in_bytes_drops_as_many_as_the_arrival_needs() {
    let mut queue =
        queue(serde_json::json!({"discipline": "drop-tail", "capacity": {"bytes": 1000}, "victim": "front"}));
    let mut drops = Vec::new();
    for flow in 0..10 {
        queue.arrive(Instant::ZERO, packet(flow, 100, Class::Voice), &mut drops);
    }
    queue.arrive(Instant::ZERO, packet(10, 250, Class::Tcp), &mut drops);
    assert_eq!(drops.iter().map(|(packet, _)| packet.flow.0).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(queue.bytes(), 950);
}

#[test]
fn a_packet_larger_than_the_buffer_costs_nobody_else_a_place() {
    for victim in ["tail", "front", "random", "drop-sel", "voice-guard"] {
        let mut queue =
            queue(serde_json::json!({"discipline": "drop-tail", "capacity": {"bytes": 1000}, "victim": victim}));
        let mut drops = Vec::new();
        queue.arrive(Instant::ZERO, packet(1, 100, Class::Voice), &mut drops);
        queue.arrive(Instant::ZERO, packet(2, 1500, Class::Tcp), &mut drops);
        assert_eq!((drops.len(), queue.packets()), (1, 1), "{victim}");
        assert_eq!(drops[0].0.flow.0, 2, "{victim}");
    }
}

#[test]
fn a_drop_tail_queue_whose_victim_is_the_tail_is_read_as_plain_fifo() {
    let read = |text: &str| serde_json::from_str::<QueueConfig>(text).expect("a queue");
    let plain = read(r#"{"discipline":"drop-tail","capacity":{"packets":5}}"#);
    assert_eq!(plain, QueueConfig::DropTail { capacity: Capacity::Packets(5) });
    assert_eq!(plain, read(r#"{"discipline":"drop-tail","capacity":{"packets":5},"victim":"tail"}"#));
    assert!(plain.is_fifo_tail());
    let front = read(r#"{"discipline":"drop-tail","capacity":{"packets":5},"victim":"front"}"#);
    assert!(!front.is_fifo_tail());
}

#[test]
fn every_configuration_is_written_as_it_is_read() {
    for config in configs() {
        let read: QueueConfig = serde_json::from_value(config.clone()).expect("a queue");
        let again: QueueConfig = serde_json::from_value(serde_json::to_value(&read).expect("text")).expect("a queue");
        assert_eq!(read, again, "{config}");
    }
}

#[test]
fn unknown_keys_victims_and_disciplines_are_refused_with_what_is_allowed() {
    let error = |text: &str| serde_json::from_str::<QueueConfig>(text).expect_err("refused").to_string();
    let base = r#""discipline":"drop-tail","capacity":{"packets":5}"#;
    assert!(error(&format!("{{{base},\"victms\":\"front\"}}")).contains("victim"));
    assert!(error(&format!("{{{base},\"victim\":\"middle\"}}")).contains("drop-sel"));
    assert!(error(r#"{"discipline":"blue","capacity":{"packets":5}}"#).contains("drop-tail"));
}

#[test]
fn a_queue_without_room_is_refused() {
    let config = QueueConfig::DropTail { capacity: Capacity::Packets(0) };
    let error = config.check().expect_err("no room");
    assert_eq!((error.key.as_str(), error.value.as_str()), ("capacity.packets", "0"));
}
