use super::super::testing::{link_queue, marked, rate, served};
use super::*;
use crate::packet::Packet;
use fairwave_units::units::Instant;
use proptest::prelude::*;
use serde_json::json;

/// Always backlogged classes of these weights, with code points 8, 16, …. Returns the bytes sent per class after each
/// packet.
fn backlogged(discipline: &str, weights: &[f64], sizes: &[Vec<u16>], packets: usize) -> Vec<Vec<u64>> {
    let classes: Vec<_> = (weights.iter().enumerate())
        .map(|(place, weight)| json!({"name": format!("c{place}"), "match": {"dscp": 8 * (place + 1)}, "weight": weight}))
        .collect();
    let queue = json!({"discipline": discipline, "capacity": {"packets": 100_000}, "classes": classes});
    let mut arrivals: Vec<(Instant, Packet)> = Vec::new();
    for number in 0..packets {
        for (place, sizes) in sizes.iter().enumerate() {
            let packet = marked(8 * (place as u8 + 1), sizes[number % sizes.len()], arrivals.len() as u64);
            arrivals.push((Instant::ZERO, packet));
        }
    }
    let (served, drops) = served(&mut link_queue(queue, None, None), rate(), &arrivals);
    assert!(drops.is_empty());
    let mut sums = vec![vec![0; weights.len()]];
    let mut left = vec![packets; weights.len()];
    for (_, packet) in served {
        let class = usize::from(packet.dscp.get() / 8 - 1);
        let mut sum = sums.last().cloned().unwrap_or_default();
        sum[class] += u64::from(packet.wire);
        left[class] -= 1;
        if left.contains(&0) {
            break;
        }
        sums.push(sum);
    }
    sums
}

/// Largest difference between the amounts per weight of two classes, over all intervals in which all classes are backlogged.
fn unfairness(sums: &[Vec<u64>], weights: &[f64], one: usize, other: usize) -> f64 {
    let gap = |sum: &Vec<u64>| sum[one] as f64 / weights[one] - sum[other] as f64 / weights[other];
    let gaps: Vec<f64> = sums.iter().map(gap).collect();
    let (low, high) = gaps.iter().fold((f64::MAX, f64::MIN), |(low, high), gap| (low.min(*gap), high.max(*gap)));
    high - low
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_interval_is_less_fair_than_the_largest_packets_over_their_weights(
        classes in prop::collection::vec((1u32..20, prop::collection::vec(40u16..1500, 1..8)), 2..5),
    ) {
        let weights: Vec<f64> = classes.iter().map(|(weight, _)| f64::from(*weight)).collect();
        let sizes: Vec<Vec<u16>> = classes.iter().map(|(_, sizes)| sizes.clone()).collect();
        let largest: Vec<f64> = sizes.iter().map(|sizes| f64::from(*sizes.iter().max().unwrap_or(&0))).collect();
        let sums = backlogged("wfq", &weights, &sizes, 60);
        for one in 0..weights.len() {
            for other in one + 1..weights.len() {
                // Goyal, Vin & Cheng 1996, Theorem 1.
                let bound = largest[one] / weights[one] + largest[other] / weights[other];
                let found = unfairness(&sums, &weights, one, other);
                prop_assert!(found <= bound + 1e-6, "{found} over {bound}");
            }
        }
    }
}

#[test]
fn shares_are_those_of_the_weights() {
    let sums = backlogged("wfq", &[1.0, 3.0], &[vec![1500], vec![200]], 3000);
    let last = sums.last().expect("packets");
    assert!((last[1] as f64 / last[0] as f64 - 3.0).abs() < 0.05, "{last:?}");
    // The start tags of the first packets are equal, so the first class goes first. Then the other class goes until it has
    // had three times as much.
    let order: Vec<usize> = sums.windows(2).take(5).map(|pair| usize::from(pair[0][0] == pair[1][0])).collect();
    assert_eq!(order, [0, 1, 1, 1, 1]);
}

#[test]
fn who_comes_late_gets_its_share_from_then_on_and_nothing_for_before() {
    let mut queue = FairQueue::new([1.0, 1.0].into_iter());
    queue.arrived(0);
    for _ in 0..10 {
        assert_eq!(queue.choose(0b01), 0);
        queue.sent(0, 1000);
    }
    queue.arrived(1);
    let mut order = Vec::new();
    for _ in 0..4 {
        let class = queue.choose(0b11);
        queue.sent(class, 1000);
        order.push(class);
    }
    assert_eq!(order, [1, 0, 1, 0], "virtual time stands at the tag of the packet that is sent last");
}

#[test]
fn a_class_that_comes_back_has_not_gained_what_it_sent_before() {
    let mut queue = FairQueue::new([1.0, 1.0].into_iter());
    queue.arrived(0);
    queue.arrived(1);
    assert_eq!(queue.choose(0b11), 0, "of equal tags the first");
    queue.sent(0, 1000);
    // The class is empty, and gets a packet before the other class has sent.
    queue.emptied(0, false);
    queue.arrived(0);
    assert_eq!(queue.choose(0b11), 1, "its start tag is the finish tag of the packet before");
}

#[test]
fn who_was_held_back_does_not_catch_up() {
    let mut queue = FairQueue::new([1.0, 1.0].into_iter());
    queue.arrived(0);
    queue.arrived(1);
    for _ in 0..10 {
        assert_eq!(queue.choose(0b01), 0);
        queue.sent(0, 1000);
    }
    let mut order = Vec::new();
    for _ in 0..4 {
        let class = queue.choose(0b11);
        queue.sent(class, 1000);
        order.push(class);
    }
    assert_eq!(order, [1, 0, 1, 0]);
}

#[test]
fn weights_of_zero_are_refused() {
    for weight in [json!(0), json!(-1), json!(1e9)] {
        let text = json!({"classes": [{"name": "a", "match": {"dscp": "ef"}, "weight": weight}]});
        let law: WfqConfig = serde_json::from_value(text).expect("wfq");
        let error = law.check().expect_err("a weight");
        assert!(error.key == "classes.0.weight" && error.allowed.contains("would never send"), "{error}");
    }
}
