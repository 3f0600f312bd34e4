//! Compares every discipline and victim rule with a plain list of waiting packets, for random times, sizes and classes. Both
//! must hold the same packets in the same order, none duplicated and none lost.
//!
//! Few cases in `make test`, many in `make fuzz` (`FAIRWAVE_FUZZ_CASES`).

use proptest::prelude::*;

use super::testing::{configs, packet, rate, stream};
use super::*;
use crate::packet::{Body, Ecn};
use fairwave_units::testing::fuzz_cases;

/// Operation on a queue.
#[derive(Clone, Debug)]
enum Step {
    /// `copies` packets of a size, class, video layer and codepoint arrive together.
    Arrive { wire: u16, class: usize, flow: u32, layer: u8, copies: u8, ecn: Ecn },
    /// The link takes a packet.
    Depart,
    /// Time passes.
    Wait { micros: u64 },
}

fn codepoint() -> impl Strategy<Value = Ecn> {
    prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect1), Just(Ecn::Ect0), Just(Ecn::Ce)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (prop_oneof![Just(40u16), Just(1000), Just(1500), 1..=u16::MAX], 0..3usize, 0..4u32, 0..9u8, 1..4u8, codepoint())
            .prop_map(|(wire, class, flow, layer, copies, ecn)| Step::Arrive { wire, class, flow, layer, copies, ecn }),
        4 => Just(Step::Depart),
        2 => prop_oneof![0..200u64, 0..20_000u64, 0..3_000_000_000u64].prop_map(|micros| Step::Wait { micros }),
    ]
}

/// Reference model: all waiting packets, oldest first. The creation time identifies a packet.
#[derive(Default)]
struct SlowTwin(Vec<Packet>);

impl SlowTwin {
    fn take(&mut self, packet: &Packet) -> Option<usize> {
        let place = self.0.iter().position(|waiting| Packet { ecn: waiting.ecn, ..*packet } == *waiting)?;
        self.0.remove(place);
        Some(place)
    }

    /// ECN codepoint with which a waiting packet arrived.
    fn came(&self, packet: &Packet) -> Ecn {
        let found = self.0.iter().find(|waiting| Packet { ecn: waiting.ecn, ..*packet } == **waiting);
        found.map_or(Ecn::NotEct, |waiting| waiting.ecn)
    }

    fn tally(&self, class: Class) -> (u32, u64) {
        let those = self.0.iter().filter(|packet| packet.class == class);
        those.fold((0, 0), |(packets, bytes), packet| (packets + 1, bytes + u64::from(packet.wire)))
    }

    /// Paper 004 §3, transcribed directly: of the class with the most bytes, the packet nearest the front. On equal bytes
    /// TCP comes first, then other UDP.
    fn drop_sel(&self) -> Option<usize> {
        let bytes = |class: Class| self.tally(class).1;
        let heaviest = [Class::Tcp, Class::OtherUdp, Class::Voice]
            .into_iter()
            .reduce(|most, class| if bytes(class) > bytes(most) { class } else { most })?;
        self.0.iter().position(|packet| packet.class == heaviest)
    }

    /// Paper 002 §3.3, transcribed directly: of the highest layer, the newest packet.
    fn highest_layer(&self) -> Option<usize> {
        let layer = |packet: &Packet| packet.layer.min(7);
        let highest = self.0.iter().map(layer).max()?;
        self.0.iter().rposition(|packet| layer(packet) == highest)
    }

    /// Index of the packet that a rule drops; `None` for rules that depend on more than the waiting packets.
    fn victim(&self, victim: Victim) -> Option<usize> {
        match victim {
            Victim::Tail => self.0.len().checked_sub(1),
            Victim::Front => (!self.0.is_empty()).then_some(0),
            Victim::DropSel => self.drop_sel(),
            Victim::HighestLayer => self.highest_layer(),
            Victim::Random | Victim::VoiceGuard(_) => None,
        }
    }
}

proptest! {
    #![proptest_config(fuzz_cases(300))]

    #[test]
    fn fuzz_queues_against_a_plain_list(
        which in any::<prop::sample::Index>(),
        steps in prop::collection::vec(step(), 1..250),
    ) {
        let all = configs();
        let written = &all[which.index(all.len())];
        let config: QueueConfig = serde_json::from_value(written.clone()).expect("a queue");
        let mut queue = Queue::new(&config, rate(), stream());
        let (mut plain, mut drops, mut now, mut made) = (SlowTwin::default(), Vec::new(), Instant::ZERO, 0u64);
        let nature = config.discipline.nature();
        let beyond = if written["preset"] == "ns2" { u64::from(u16::MAX) } else { 0 };
        let any_victim_may_go = matches!(written["discipline"].as_str(), Some("drop-tail"));
        for step in steps {
            match step {
                Step::Wait { micros } => now += Span::from_micros(micros),
                Step::Arrive { wire, class, flow, layer, copies, ecn } => {
                    for _ in 0..copies {
                        made += 1;
                        let mut arrival = Packet { layer, ecn, ..packet(flow, wire, Class::ALL[class]) };
                        if let Body::Datagram { created, .. } = &mut arrival.body {
                            *created = Instant::from_nanos(made);
                        }
                        plain.0.push(arrival);
                        queue.arrive(now, &arrival, &mut drops);
                        let hopeless = matches!(config.capacity, Capacity::Bytes(bytes) if u64::from(wire) > bytes);
                        for (dropped, reason) in drops.drain(..) {
                            prop_assert!(!nature.passive || reason == DropReason::Overflow, "{written}: drops early");
                            let foretold = if hopeless { plain.0.len().checked_sub(1) } else { plain.victim(config.victim().unwrap_or_default()) };
                            let place = plain.take(&dropped);
                            prop_assert!(place.is_some(), "{written}: drops what does not wait");
                            prop_assert!(!any_victim_may_go || foretold.is_none() || foretold == place, "{written}: another victim");
                        }
                    }
                }
                Step::Depart => {
                    let departed = queue.depart(now, &mut drops);
                    for (dropped, _) in drops.drain(..) {
                        prop_assert!(plain.take(&dropped).is_some(), "{written}: drops what does not wait");
                    }
                    match departed {
                        Some(departed) => {
                            let came = plain.came(&departed);
                            let marked = departed.ecn != came;
                            let may = config.discipline.marks() && came.can_be_marked() && departed.ecn == Ecn::Ce;
                            prop_assert!(!marked || may, "{written}: {came:?} became {:?}", departed.ecn);
                            prop_assert_eq!(queue.has_marked(), marked, "{}", written);
                            let place = plain.take(&departed);
                            prop_assert!(place.is_some(), "{written}: serves what does not wait");
                            prop_assert!(!nature.fifo || place == Some(0), "{written}: not the oldest");
                        }
                        None => prop_assert!(plain.0.is_empty() || queue.held_until() > now, "{written}: keeps what waits"),
                    }
                }
            }
            for class in Class::ALL {
                prop_assert_eq!((queue.class_packets(class), queue.class_bytes(class)), plain.tally(class), "{}", written);
            }
            prop_assert_eq!(queue.packets() as usize, plain.0.len());
            match config.capacity {
                Capacity::Packets(packets) => prop_assert!(queue.packets() <= packets),
                Capacity::Bytes(bytes) => prop_assert!(queue.bytes() <= bytes + beyond),
            }
            prop_assert!(queue.average().is_finite(), "{written}: {}", queue.average());
        }
    }
}
