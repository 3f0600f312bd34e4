use super::super::testing::{link_queue, marked, rate, served};
use super::*;
use crate::packet::Packet;
use fairwave_units::units::Instant;
use proptest::prelude::*;
use serde_json::json;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_a_class_gets_in_its_turns_is_its_quanta_give_or_take_a_packet(
        classes in prop::collection::vec((1u32..8, prop::collection::vec(40u64..1500, 1..8)), 2..5),
        quantum in 200u64..4000,
    ) {
        let weights: Vec<f64> = classes.iter().map(|(weight, _)| f64::from(*weight)).collect();
        let mut rounds = DeficitRounds::new(&weights, quantum);
        let all = (1u64 << classes.len()) - 1;
        (0..classes.len()).for_each(|class| rounds.arrived(class));
        let (mut sent, mut turns, mut last) = (vec![0i64; classes.len()], vec![0i64; classes.len()], usize::MAX);
        for number in 0..400 {
            let before = rounds.deficits.clone();
            let class = rounds.choose(all);
            // A turn begins after another class has sent, or after the deficit was used up.
            turns[class] += i64::from(class != last || before[class] <= 0);
            last = class;
            let size = classes[class].1[number % classes[class].1.len()];
            rounds.sent(class, size);
            sent[class] += size as i64;
            for (class, (_, sizes)) in classes.iter().enumerate() {
                let most = *sizes.iter().max().unwrap_or(&0) as i64;
                prop_assert!(rounds.deficits[class] > -most, "overdrawn by less than a packet");
                prop_assert!(rounds.deficits[class] <= rounds.quanta[class]);
            }
        }
        // Shreedhar & Varghese 1995, Theorem on fairness: between any two classes, at most a quantum and two packets.
        for one in 0..classes.len() {
            for other in one + 1..classes.len() {
                let share = |class: usize| sent[class] as f64 / weights[class];
                let most = |class: usize| *classes[class].1.iter().max().unwrap_or(&0) as f64 / weights[class];
                let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
                let bound = quantum as f64 / least + 1.0 + most(one) + most(other);
                prop_assert!((share(one) - share(other)).abs() <= bound, "{} over {bound}", (share(one) - share(other)).abs());
            }
        }
    }
}

#[test]
fn turns_are_as_long_as_the_weights_and_the_least_has_the_quantum() {
    let classes = json!([
        {"name": "a", "match": {"dscp": "cs1"}, "weight": 0.5},
        {"name": "b", "match": {"dscp": "cs2"}, "weight": 1.5},
    ]);
    let queue = json!({"discipline": "drr", "capacity": {"packets": 1000}, "classes": classes, "quantum": "1000 B"});
    let packets = |number: u64| [marked(8, 500, 2 * number), marked(16, 500, 2 * number + 1)];
    let arrivals: Vec<(Instant, Packet)> = (0..100).flat_map(packets).map(|packet| (Instant::ZERO, packet)).collect();
    let (served, _) = served(&mut link_queue(queue, None, None), rate(), &arrivals);
    let order: String =
        served.iter().take(16).map(|(_, packet)| if packet.dscp.get() == 8 { 'a' } else { 'b' }).collect();
    // The additional class `default` of weight 1 stays empty.
    assert_eq!(order, "aabbbbbbaabbbbbb");
}

#[test]
fn a_class_that_runs_empty_loses_what_it_did_not_use() {
    let mut rounds = DeficitRounds::new(&[1.0, 1.0], 1000);
    rounds.arrived(0);
    assert_eq!(rounds.choose(0b01), 0);
    rounds.sent(0, 100);
    rounds.emptied(0, true);
    rounds.arrived(1);
    rounds.arrived(0);
    assert_eq!((rounds.choose(0b11), rounds.deficits[0]), (1, 1000));
}

#[test]
fn who_holds_its_packets_back_is_passed_over() {
    let mut rounds = DeficitRounds::new(&[1.0, 1.0], 1000);
    rounds.arrived(0);
    rounds.arrived(1);
    assert_eq!((rounds.choose(0b10), rounds.choose(0b10)), (1, 1));
    rounds.sent(1, 5000);
    assert_eq!(rounds.choose(0b11), 0);
    assert_eq!(rounds.choose(0b10), 1, "alone it goes on whatever its deficit");
}

#[test]
fn a_quantum_without_sense_is_refused() {
    for quantum in ["0 B", "10 B", "2 GB"] {
        let text = json!({"classes": [{"name": "a"}], "quantum": quantum});
        let law: DrrConfig = serde_json::from_value(text).expect("drr");
        assert_eq!(law.check().expect_err(quantum).key, "quantum");
    }
}
