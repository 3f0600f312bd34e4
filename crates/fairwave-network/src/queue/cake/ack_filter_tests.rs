//! One test per rule of the ACK filter. Source: `cake_ack_filter`, `cake_tcph_may_drop` and `cake_tcph_sack_compare` in
//! `net/sched/sch_cake.c` of Linux.

use super::super::super::testing::{packet, stream};
use super::super::super::{DropReason, Queue, QueueConfig};
use super::*;
use crate::packet::Class;
use fairwave_units::units::Rate;

/// An acknowledgement of flow 0 with a timestamp that follows its number. `change` sets the fields under test.
fn ack(next: u32, change: impl Fn(&mut Body)) -> Packet {
    let mut body = Body::Ack {
        next,
        echo: Instant::from_nanos(u64::from(next)),
        rate: 0.0,
        wave: 0,
        congestion_echo: false,
        marked: 0,
        sack: [SackBlock::default(); 3],
    };
    change(&mut body);
    Packet { feedback: true, body, ..packet(0, 52, Class::Tcp) }
}

fn plain(next: u32) -> Packet {
    ack(next, |_| ())
}

fn sack(next: u32, blocks: &[(u32, u32)]) -> Packet {
    ack(next, |body| {
        let Body::Ack { sack, .. } = body else { return };
        for (place, &(first, end)) in sack.iter_mut().zip(blocks) {
            *place = SackBlock { first, end };
        }
    })
}

fn echoing(next: u32) -> Packet {
    ack(next, |body| {
        let Body::Ack { congestion_echo, .. } = body else { return };
        *congestion_echo = true;
    })
}

fn with_flow(flow: u32, packet: Packet) -> Packet {
    Packet { flow: FlowId(flow), ..packet }
}

/// Indices in `packets` of those that the filter drops, in order, if all arrive in one queue at once.
fn dropped_with(filter: &str, keys: &str, packets: &[Packet]) -> Vec<usize> {
    let text = format!(r#"{{"discipline":"cake","capacity":{{"packets":1000}},"ack-filter":"{filter}"{keys}}}"#);
    let config: QueueConfig = serde_json::from_str(&text).expect("cake");
    let mut queue = Queue::new(&config, Rate::from_bits_per_second(1_000_000), stream());
    let mut drops = Vec::new();
    for packet in packets {
        queue.arrive(Instant::ZERO, packet, &mut drops);
    }
    assert!(drops.iter().all(|(_, reason)| *reason == DropReason::AckFilter));
    let tins = queue.tins();
    let counted: u64 = tins.iter().map(|tin| tin.acknowledgements_dropped).sum();
    let lost: u64 = tins.iter().map(|tin| tin.drops).sum();
    assert_eq!((counted, lost), (drops.len() as u64, 0), "counted as ack_drop, not as drops");
    assert_eq!(queue.packets() as usize + drops.len(), packets.len(), "each packet is somewhere");
    // All others leave in order of arrival.
    let left: Vec<_> = std::iter::from_fn(|| queue.depart(Instant::ZERO, &mut Vec::new())).collect();
    let rest: Vec<_> = packets.iter().filter(|one| drops.iter().all(|(gone, _)| gone != *one)).copied().collect();
    if packets.iter().all(|one| one.flow == packets[0].flow) {
        assert_eq!(left, rest);
    }
    drops.iter().map(|(gone, _)| packets.iter().position(|one| one == gone).expect("one of them")).collect()
}

fn conservative(packets: &[Packet]) -> Vec<usize> {
    dropped_with("conservative", "", packets)
}

fn aggressive(packets: &[Packet]) -> Vec<usize> {
    dropped_with("aggressive", "", packets)
}

#[test]
fn conservative_drops_the_first_of_two_that_are_redundant() {
    assert_eq!(conservative(&[plain(3), plain(5)]), [0usize; 0]);
    assert_eq!(conservative(&[plain(3), plain(5), plain(7)]), [0]);
    // One drop per arrival: two always remain.
    assert_eq!(conservative(&[plain(3), plain(5), plain(7), plain(9)]), [0, 1]);
}

#[test]
fn aggressive_drops_one_that_stands_right_before_the_arrival() {
    assert_eq!(aggressive(&[plain(3), plain(5), plain(7)]), [0, 1]);
    // No drop if another packet is between them.
    let between = Packet { feedback: false, ..packet(0, 1500, Class::Tcp) };
    assert_eq!(dropped_with("aggressive", r#","isolation":"flowblind""#, &[plain(3), between, plain(5)]), [0usize; 0]);
}

#[test]
fn without_the_filter_nothing_is_dropped_and_it_is_off_by_default() {
    let many: Vec<_> = (2..40).map(plain).collect();
    assert_eq!(dropped_with("none", "", &many), [0usize; 0]);
    let config: QueueConfig = serde_json::from_str(r#"{"discipline":"cake","capacity":{"packets":10}}"#).expect("cake");
    let written = serde_json::to_string(&config).expect("JSON");
    assert!(!written.contains("ack-filter"), "{written}");
}

#[test]
fn acknowledgements_of_another_connection_neither_go_nor_count() {
    let all = r#","isolation":"flowblind""#;
    let mixed = [with_flow(1, plain(3)), plain(3), with_flow(1, plain(5)), plain(5), plain(7)];
    assert_eq!(dropped_with("conservative", all, &mixed), [1]);
    assert_eq!(
        dropped_with("conservative", all, &[with_flow(1, plain(3)), with_flow(1, plain(5)), plain(7)]),
        [0usize; 0]
    );
}

#[test]
fn data_neither_goes_nor_triggers() {
    let data = |more: u16| Packet { feedback: false, ..packet(0, 1000 + more, Class::Tcp) };
    let all = r#","isolation":"flowblind""#;
    assert_eq!(dropped_with("aggressive", all, &[plain(3), plain(5), data(0), data(1)]), [0]);
    assert_eq!(dropped_with("aggressive", all, &[data(0), data(1), plain(3)]), [0usize; 0]);
}

#[test]
fn duplicate_acknowledgements_stay() {
    let later = |nanos| {
        ack(3, move |body| {
            let Body::Ack { echo, .. } = body else { return };
            *echo = Instant::from_nanos(nanos);
        })
    };
    assert_eq!(aggressive(&[later(3), later(4), later(5)]), [0usize; 0]);
    // The next higher acknowledgement makes all three redundant; each arrival drops one.
    assert_eq!(aggressive(&[later(3), later(4), later(5), plain(7), plain(9)]), [0, 1]);
}

#[test]
fn one_that_acknowledges_more_than_the_arrival_stays() {
    let late = |next| {
        ack(next, |body| {
            let Body::Ack { echo, .. } = body else { return };
            *echo = Instant::from_nanos(1);
        })
    };
    assert_eq!(aggressive(&[late(9), late(8)]), [0usize; 0]);
    // The same after the numbers wrap around.
    assert_eq!(aggressive(&[late(u32::MAX - 1), late(4)]), [0]);
    assert_eq!(aggressive(&[late(4), late(u32::MAX - 1)]), [0usize; 0]);
}

#[test]
fn one_with_a_later_timestamp_echo_stays() {
    let echoes = |next, nanos| {
        ack(next, move |body| {
            let Body::Ack { echo, .. } = body else { return };
            *echo = Instant::from_nanos(nanos);
        })
    };
    assert_eq!(aggressive(&[echoes(3, 10), echoes(5, 9)]), [0usize; 0]);
    assert_eq!(aggressive(&[echoes(3, 10), echoes(5, 10)]), [0], "an equal one goes");
}

#[test]
fn the_acknowledgement_that_opens_a_connection_stays_and_triggers_nothing() {
    assert_eq!(aggressive(&[plain(1), plain(3)]), [0usize; 0]);
    assert_eq!(aggressive(&[plain(0), plain(1)]), [0usize; 0]);
}

#[test]
fn what_the_filter_does_not_know_stays() {
    let rated = ack(3, |body| {
        let Body::Ack { rate, .. } = body else { return };
        *rate = 1e6;
    });
    let counting = |next| {
        ack(next, |body| {
            let Body::Ack { marked, .. } = body else { return };
            *marked = 1;
        })
    };
    assert_eq!(aggressive(&[rated, plain(5)]), [0usize; 0]);
    assert_eq!(aggressive(&[counting(3), counting(5), counting(7)]), [0usize; 0]);
}

#[test]
fn selective_acknowledgements_go_when_the_arrival_repeats_them() {
    // The same hole, with more data behind it.
    assert_eq!(conservative(&[sack(3, &[(5, 6)]), sack(3, &[(5, 7)]), sack(3, &[(5, 8)])]), [0]);
    // An additional second block.
    assert_eq!(aggressive(&[sack(3, &[(5, 6)]), sack(3, &[(8, 9), (5, 6)])]), [0]);
    // Equal blocks and a higher acknowledgement.
    assert_eq!(aggressive(&[sack(3, &[(9, 10)]), sack(5, &[(9, 10)])]), [0]);
    // No block before: any block adds information.
    assert_eq!(aggressive(&[plain(3), sack(3, &[(5, 6)])]), [0]);
}

#[test]
fn selective_acknowledgements_that_the_arrival_does_not_repeat_stay() {
    assert_eq!(aggressive(&[sack(3, &[(5, 6)]), sack(3, &[(8, 9)])]), [0usize; 0], "another block");
    assert_eq!(aggressive(&[sack(3, &[(5, 8)]), sack(3, &[(5, 7), (20, 30)])]), [0usize; 0], "a part of it");
    assert_eq!(aggressive(&[sack(3, &[(5, 8)]), plain(8)]), [0usize; 0], "none, though all is acknowledged");
    assert_eq!(aggressive(&[sack(3, &[(5, 6)]), sack(3, &[(5, 6)])]), [0usize; 0], "the same again");
}

#[test]
fn reports_of_duplicates_stay() {
    // RFC 2883: a first block below the acknowledgement.
    assert_eq!(aggressive(&[sack(7, &[(4, 5)]), sack(9, &[(4, 5), (12, 13)])]), [0usize; 0]);
    assert_eq!(aggressive(&[sack(7, &[(7, 8)]), sack(9, &[(7, 8), (12, 13)])]), [0], "at it is none");
}

#[test]
fn a_change_of_the_congestion_echo_is_not_filtered_away() {
    // Two are redundant, but the flag changes between them, so neither is the first of a pair.
    assert_eq!(conservative(&[plain(3), echoing(5), plain(7)]), [0usize; 0]);
    assert_eq!(conservative(&[plain(3), echoing(5), echoing(7), echoing(9)]), [1]);
    // Immediately before the arrival, with a different flag.
    assert_eq!(aggressive(&[plain(3), echoing(5)]), [0usize; 0]);
    assert_eq!(aggressive(&[echoing(3), echoing(5)]), [0]);
    // The change also counts on an acknowledgement that the filter must keep.
    let kept = ack(4, |body| {
        let Body::Ack { congestion_echo, rate, .. } = body else { return };
        (*congestion_echo, *rate) = (true, 1.0);
    });
    assert_eq!(conservative(&[plain(3), kept, plain(5), plain(7)]), [0usize; 0]);
}

#[test]
fn it_looks_at_the_newest_64_packets_of_a_queue() {
    let all = r#","isolation":"flowblind""#;
    let drops = |between: usize| {
        let data = (0..between).map(|at| Packet { feedback: false, ..packet(1, 100 + at as u16, Class::Tcp) });
        let packets: Vec<_> = [plain(3), plain(5)].into_iter().chain(data).chain([plain(7)]).collect();
        dropped_with("conservative", all, &packets)
    };
    assert_eq!(drops(64 - 2), [0]);
    assert_eq!(drops(64 - 1), [0usize; 0]);
}

#[test]
fn an_unknown_filter_is_refused_with_those_that_there_are() {
    let text = r#"{"discipline":"cake","capacity":{"packets":10},"ack-filter":"strong"}"#;
    let error = serde_json::from_str::<QueueConfig>(text).expect_err("no such filter").to_string();
    assert!(error.contains("conservative") && error.contains("aggressive"), "{error}");
}

#[test]
fn a_shaper_saves_nothing_up_while_a_tin_is_empty_from_which_the_filter_has_dropped() {
    let text =
        r#"{"discipline":"cake","capacity":{"packets":1000},"bandwidth":"100 kb/s","ack-filter":"conservative"}"#;
    let config: QueueConfig = serde_json::from_str(text).expect("cake");
    let mut queue = Queue::new(&config, Rate::from_bits_per_second(1_000_000), stream());
    let mut drops = Vec::new();
    for next in [2, 3, 4] {
        queue.arrive(Instant::ZERO, &plain(next), &mut drops);
    }
    assert_eq!((drops.len(), queue.packets()), (1, 2));
    let mut now = Instant::ZERO;
    for _ in 0..2 {
        now = now.max(queue.held_until());
        assert!(queue.depart(now, &mut drops).is_some());
    }
    // 1000 bytes take 80 ms.
    let later = Instant::from_seconds(10.0);
    for flow in [1, 2] {
        queue.arrive(later, &packet(flow, 1000, Class::Tcp), &mut drops);
    }
    assert!(queue.depart(later, &mut drops).is_some() && queue.depart(later, &mut drops).is_none());
    assert!(queue.held_until() >= Instant::from_seconds(10.079), "{}", queue.held_until());
}
