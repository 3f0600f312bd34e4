//! Fuzz test of the TCP receiver with reordering, duplication, loss and segments beyond its window, against a
//! simple set of held segments. The receiver delivers the stream exactly once and in order. Every acknowledgement
//! reports the arrived segments, and every SACK block is held (RFC 2018 §4).
//!
//! `make test` runs few cases, `make fuzz` many (`FAIRWAVE_FUZZ_CASES`).

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::receiver::TcpReceiver;
use super::{Flavour, TcpConfig};
use fairwave_endpoint::{FlowContext, Output, Receiver};
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet, SackBlock};
use fairwave_units::testing::fuzz_cases;
use fairwave_units::units::{Instant, Span};

/// Segments of the stream, without the SYN.
const DATA: u32 = 120;

fn payload(sequence: u32) -> u16 {
    if sequence == 0 { 0 } else { (sequence * 37 % 1400 + 1) as u16 }
}

fn segment(sequence: u32, sent: Instant) -> Packet {
    let body = Body::Segment {
        payload: payload(sequence),
        sequence,
        unit: sequence / 3,
        wave: (sequence / 7) as u16,
        wave_size: 7,
        retransmission: false,
        window_reduced: false,
        last: sequence % 3 == 2,
        sent,
        created: Instant::from_nanos(u64::from(sequence)),
    };
    Packet {
        flow: FlowId(0),
        wire: payload(sequence) + 40,
        class: Class::Tcp,
        dscp: Default::default(),
        feedback: false,
        ecn: Ecn::NotEct,
        layer: 0,
        body,
    }
}

/// The slow reference: the next expected segment, and the set of held segments beyond it.
#[derive(Default)]
struct SlowTwin {
    next: u32,
    held: BTreeSet<u32>,
}

impl SlowTwin {
    /// True if the segment is new, beyond the next one, and within the window.
    fn takes(&mut self, sequence: u32, window: u32) -> bool {
        let beyond = sequence > self.next && sequence - self.next < window && self.held.insert(sequence);
        if sequence == self.next {
            self.next += 1;
            while self.held.remove(&self.next) {
                self.next += 1;
            }
        }
        beyond
    }

    /// The run of held segments around one of them.
    fn run(&self, sequence: u32) -> SackBlock {
        let first = (0..=sequence).rev().take_while(|place| self.held.contains(place)).last().unwrap_or(sequence);
        let end = (sequence..).find(|place| !self.held.contains(place)).unwrap_or(sequence);
        SackBlock { first, end }
    }
}

fn is_used(block: &SackBlock) -> bool {
    block.end > block.first
}

/// Checks the requirements of RFC 2018 on the blocks of an acknowledgement.
fn check_blocks(plain: &SlowTwin, blocks: &[SackBlock; 3], newest: Option<u32>) -> Result<(), TestCaseError> {
    let used: Vec<&SackBlock> = blocks.iter().take_while(|block| is_used(block)).collect();
    prop_assert!(blocks[used.len()..].iter().all(|block| !is_used(block)), "a gap between blocks: {:?}", blocks);
    for (place, block) in used.iter().enumerate() {
        prop_assert_eq!(**block, plain.run(block.first), "no whole run of what is held: {:?}", plain.held);
        prop_assert!(used[..place].iter().all(|other| other.end < block.first || other.first > block.end));
    }
    if let Some(newest) = newest {
        let about_newest = used.first().is_some_and(|block| block.first <= newest && newest < block.end);
        prop_assert!(about_newest, "the first block is not about segment {}: {:?}", newest, blocks);
    }
    prop_assert_eq!(used.is_empty(), plain.held.is_empty(), "what is held is not told: {:?}", plain.held);
    Ok(())
}

proptest! {
    #![proptest_config(fuzz_cases(400))]

    #[test]
    fn fuzz_the_tcp_receiver(
        flavour in prop_oneof![Just(Flavour::Sack), Just(Flavour::Newreno), Just(Flavour::Real)],
        window in 1u32..70,
        delayed in any::<bool>(),
        steps in prop::collection::vec((-6i64..80, 0u64..300), 0..400),
    ) {
        let config = TcpConfig { delayed_ack: Some(delayed), receiver_window: Some(window), ..TcpConfig::rfc() };
        let parameters = config.parameters(flavour);
        let mut receiver = TcpReceiver::new(FlowContext::default(), &parameters);
        let (mut plain, mut out, mut now) = (SlowTwin::default(), Output::default(), Instant::ZERO);
        let (mut delivered, mut unacknowledged, mut acknowledged) = (0u32, 0u32, 0u32);
        let mut steps = steps.into_iter();
        while plain.next <= DATA {
            // First the random steps, then the missing segments in order.
            let (sequence, millis) = match steps.next() {
                Some((offset, millis)) => ((i64::from(plain.next) + offset).clamp(0, i64::from(DATA)) as u32, millis),
                None => (plain.next, 1),
            };
            let until = now + Span::from_millis(millis);
            if receiver.deadline() <= until {
                now = now.max(receiver.deadline());
                receiver.on_timer(now, &mut out);
                unacknowledged = 0;
            }
            now = until;
            let beyond = plain.takes(sequence, window);
            let before = out.packets.len();
            receiver.on_packet(now, &segment(sequence, now), &mut out);
            unacknowledged += 1;
            prop_assert!(!beyond || out.packets.len() > before, "disorder is acknowledged at once (RFC 5681 §4.2)");
            let last = out.packets.len();
            for (place, packet) in out.packets.drain(..).enumerate() {
                let Body::Ack { next, sack, echo, .. } = packet.body else { panic!("not an acknowledgement") };
                prop_assert!(packet.feedback && next >= acknowledged && next <= plain.next && echo <= now);
                acknowledged = next;
                if place >= before {
                    unacknowledged = 0;
                }
                if place + 1 == last && last > before {
                    prop_assert_eq!(next, plain.next);
                    match parameters.sends_sack() {
                        true => check_blocks(&plain, &sack, beyond.then_some(sequence))?,
                        false => prop_assert!(sack.iter().all(|block| !is_used(block))),
                    }
                }
            }
            prop_assert!(unacknowledged <= u32::from(delayed), "at least every second one (RFC 5681 §4.2)");
            prop_assert_eq!(unacknowledged > 0, receiver.deadline() < Instant::NEVER);
            for delivery in out.deliveries.drain(..) {
                delivered += 1;
                prop_assert_eq!(delivery.created.nanos(), u64::from(delivered), "out of order or twice");
                prop_assert_eq!(delivery.payload, u32::from(payload(delivered)));
                prop_assert_eq!(delivery.complete, delivered % 3 == 2);
            }
            prop_assert_eq!(delivered, plain.next.saturating_sub(1));
        }
        prop_assert_eq!(delivered, DATA);
    }
}
