use super::super::testing::{packet, stream};
use super::super::{Queue, QueueConfig};
use super::*;
use crate::packet::{Class, Ecn};

const RATE: Rate = Rate::from_bits_per_second(8_000_000);

fn queue(extra: &str) -> Queue {
    let text = format!(r#"{{"discipline":"fq-codel","capacity":{{"packets":1000}}{extra}}}"#);
    let config: QueueConfig = serde_json::from_str(&text).expect("fq-codel");
    config.check().expect("a sound queue");
    Queue::new(&config, RATE, stream())
}

fn instant(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// Returns `number` flows that do not share queues.
fn apart(number: usize) -> Vec<u32> {
    let salt = stream().uniform_below(u64::MAX);
    let mut queues = Vec::new();
    (0..10_000)
        .filter(|flow| {
            let queue = queue_of(&packet(*flow, 100, Class::Tcp), salt, flows());
            let new = !queues.contains(&queue);
            queues.push(queue);
            new
        })
        .take(number)
        .collect()
}

#[test]
fn flows_of_packets_of_a_quarter_of_the_size_get_as_many_bytes() {
    let (mut queue, mut drops, flows) = (queue(r#","target":"90 s","interval":"100 s""#), Vec::new(), apart(2));
    for _ in 0..100 {
        queue.arrive(instant(0), &packet(flows[0], 1200, Class::Tcp), &mut drops);
    }
    for _ in 0..400 {
        queue.arrive(instant(0), &packet(flows[1], 300, Class::Tcp), &mut drops);
    }
    let mut bytes = [0u64; 2];
    for served in 1..=400 {
        let packet = queue.depart(instant(0), &mut drops).expect("more than that wait");
        bytes[usize::from(packet.flow.0 == flows[1])] += u64::from(packet.wire);
        // No flow is ever ahead by more than a quantum and a packet.
        assert!(bytes[0].abs_diff(bytes[1]) <= 1514 + 1200, "{bytes:?} after {served}");
    }
    assert!(drops.is_empty() && bytes[0] > 90_000, "{bytes:?}");
}

#[test]
fn a_packet_of_a_flow_that_has_just_begun_overtakes_all_that_wait() {
    let (mut queue, mut drops, flows) = (queue(""), Vec::new(), apart(3));
    for _ in 0..50 {
        queue.arrive(instant(0), &packet(flows[0], 1500, Class::Tcp), &mut drops);
        queue.arrive(instant(0), &packet(flows[1], 1500, Class::Tcp), &mut drops);
    }
    // Both have used up their quantum and are on the list of old queues.
    for _ in 0..5 {
        assert!(queue.depart(instant(1), &mut drops).is_some());
    }
    for _ in 0..20 {
        queue.arrive(instant(2), &packet(flows[2], 300, Class::Voice), &mut drops);
    }
    let order: Vec<_> = (0..12).filter_map(|_| Some(queue.depart(instant(2), &mut drops)?.flow.0)).collect();
    let first = order.iter().take_while(|flow| **flow == flows[2]).count();
    assert_eq!(first, 6, "a quantum of 1514 bytes at once, its last packet begun within: {order:?}");
    assert_ne!(order[6], flows[2], "one round only, then its turn comes with the others': {order:?}");
}

#[test]
fn too_much_is_dropped_from_the_head_of_the_fattest_queue_half_of_it_but_at_most_a_batch() {
    let flows = apart(3);
    let fill = |extra: &str, packets: [(u32, u16); 3]| {
        let (mut queue, mut drops) = (queue(extra), Vec::new());
        for (flow, (number, size)) in flows.iter().zip(packets) {
            for serial in 0..number {
                queue.arrive(instant(u64::from(serial)), &packet(*flow, size, Class::Tcp), &mut drops);
            }
        }
        drops
    };
    // 1001 packets: flow 1 holds the most bytes, not the most packets. A batch of 64 of its 400 packets is dropped.
    let drops = fill("", [(600, 100), (400, 1500), (1, 100)]);
    assert_eq!(drops.len(), 64);
    assert!(drops.iter().all(|(packet, reason)| packet.flow.0 == flows[1] && *reason == DropReason::Overflow));
    // Half of its bytes are fewer than a batch.
    let drops = fill(r#","memory-limit":"30 kB""#, [(100, 100), (13, 1500), (6, 100)]);
    assert_eq!(drops.len(), 7, "30 100 bytes: of 19 500 at least 9750 go");
    let drops = fill(r#","drop-batch":3"#, [(600, 100), (400, 1500), (1, 100)]);
    assert_eq!(drops.len(), 3);
}

#[test]
fn what_overflow_drops_makes_codel_drop_faster() {
    let config: FqCodelConfig = serde_json::from_str(r#"{"flows":1}"#).expect("fq-codel");
    let mut discipline = config.discipline(Capacity::Packets(10), RATE);
    let (mut buffer, mut drops) = (Buffer::with_bins(0, 1), Vec::new());
    for _ in 0..10 {
        buffer.push_into(instant(0), &packet(0, 1000, Class::Tcp), 0);
    }
    let before = format!("{:?}", discipline.controls[0]);
    discipline.make_room(instant(0), &mut buffer, &mut drops);
    assert_eq!(drops.len(), 5);
    assert!(before.contains("count: 0") && format!("{:?}", discipline.controls[0]).contains("count: 5"));
}

#[test]
fn a_victim_rule_takes_the_place_of_the_fattest_queue() {
    let (mut queue, mut drops, flows) = (queue(r#","victim":"tail""#), Vec::new(), apart(2));
    for _ in 0..1000 {
        queue.arrive(instant(0), &packet(flows[0], 1500, Class::Tcp), &mut drops);
    }
    queue.arrive(instant(0), &packet(flows[1], 100, Class::Tcp), &mut drops);
    assert_eq!(drops.iter().map(|(packet, _)| packet.flow.0).collect::<Vec<_>>(), [flows[1]]);
}

/// Sends 1 Mb/s for 2 s, spread over these flows, through 800 kb/s. Returns the drops and marks per flow.
fn overload(extra: &str, flows: &[u32], ecn: Ecn) -> Vec<u32> {
    let (mut queue, mut drops, mut signals) = (queue(extra), Vec::new(), vec![0; flows.len()]);
    let mut signal = |flow: u32| {
        if let Some(place) = flows.iter().position(|of| *of == flow) {
            signals[place] += 1;
        }
    };
    for millis in 0..4000 {
        // Flow 0 sends twice the link's rate, each of the others a hundredth of it.
        queue.arrive(instant(millis), &Packet { ecn, ..packet(flows[0], 1000, Class::Tcp) }, &mut drops);
        let other = (millis / 200) as usize % flows.len();
        if other > 0 && millis % 200 == 0 {
            queue.arrive(instant(millis), &Packet { ecn, ..packet(flows[other], 1000, Class::Tcp) }, &mut drops);
        }
        if millis % 2 == 0
            && let Some(packet) = queue.depart(instant(millis), &mut drops)
            && queue.has_marked()
        {
            signal(packet.flow.0);
        }
        drops.drain(..).for_each(|(packet, _)| signal(packet.flow.0));
    }
    signals
}

#[test]
fn codel_acts_on_the_queue_that_stands_and_spares_the_others() {
    let signals = overload("", &apart(4), Ecn::NotEct);
    assert!(signals[0] > 20 && signals[1..] == [0, 0, 0], "{signals:?}");
}

#[test]
fn what_can_be_marked_is_marked_unless_that_is_switched_off() {
    let flows = apart(2);
    let dropped = |extra: &str, ecn| {
        let (mut queue, mut drops, mut marked) = (queue(extra), Vec::new(), 0);
        for millis in 0..1000 {
            queue.arrive(instant(millis), &Packet { ecn, ..packet(flows[0], 1000, Class::Tcp) }, &mut drops);
            if millis % 2 == 0 && queue.depart(instant(millis), &mut drops).is_some() {
                marked += u32::from(queue.has_marked());
            }
        }
        (marked > 0, !drops.is_empty())
    };
    assert_eq!(dropped("", Ecn::Ect0), (true, false));
    assert_eq!(dropped("", Ecn::NotEct), (false, true));
    assert_eq!(dropped(r#","ecn":false"#, Ecn::Ect0), (false, true));
}

#[test]
fn beyond_the_ce_threshold_every_packet_that_can_be_is_marked() {
    let flows = apart(1);
    for (waited, ecn, marked) in [(2, Ecn::Ect1, true), (1, Ecn::Ect1, false), (2, Ecn::NotEct, false)] {
        let (mut queue, mut drops) = (queue(r#","ce-threshold":"1 ms","ecn":false"#), Vec::new());
        queue.arrive(instant(0), &Packet { ecn, ..packet(flows[0], 1000, Class::Tcp) }, &mut drops);
        assert!(queue.depart(instant(waited), &mut drops).is_some() && drops.is_empty());
        assert_eq!(queue.has_marked(), marked, "{waited} ms, {ecn:?}");
    }
}

#[test]
fn flows_of_one_queue_share_it_and_another_seed_shares_otherwise() {
    let of = |flow, salt| queue_of(&packet(flow, 100, Class::Tcp), salt, 1024);
    // Of a hundred flows in 1024 queues some pair collides more often than not, but rarely three (§5.3).
    let collisions = |salt| {
        let mut queues: Vec<_> = (0..100).map(|flow| of(flow, salt)).collect();
        queues.sort_unstable();
        queues.dedup();
        100 - queues.len()
    };
    let mean = (0..400).map(collisions).sum::<usize>() as f64 / 400.0;
    // 100 − 1024 (1 − (1 − 1/1024)¹⁰⁰) = 4.67.
    assert!((mean - 4.67).abs() < 0.4, "{mean}");
    assert!((0..100).any(|flow| of(flow, 1) != of(flow, 2)));
    let back = Packet { feedback: true, ..packet(3, 100, Class::Tcp) };
    assert!((0..8).any(|salt| queue_of(&back, salt, 1024) != of(3, salt)), "its other direction is another flow");
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_write_instead() {
    for (extra, named) in [
        (r#","quantum":"100 B""#, "256 B or more"),
        (r#","flows":0"#, "1 to 65536"),
        (r#","drop-batch":0"#, "1 or more"),
        (r#","interval":"1 ms""#, "longer than `target`"),
        (r#","memory-limit":"0 B""#, "above 0"),
    ] {
        let text = format!(r#"{{"discipline":"fq-codel","capacity":{{"packets":1000}}{extra}}}"#);
        let config: QueueConfig = serde_json::from_str(&text).expect("fq-codel");
        assert!(config.check().expect_err("refused").to_string().contains(named), "{extra}");
    }
}
