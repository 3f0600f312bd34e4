//! Loss judgements of receivers compared with the true causes, which the simulator knows.
//!
//! A packet dropped by a queue was lost to congestion; a packet lost by a link was lost at random. When a receiver
//! judges a run of lost packets, each packet of the run counts by cause and judgement.

use std::collections::VecDeque;

use fairwave_core::packet::Packet;
use fairwave_core::transport::LossVerdict;

/// Lost packets by cause and judgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Judgements {
    pub congestion_as_congestion: u64,
    pub congestion_as_random: u64,
    pub random_as_congestion: u64,
    pub random_as_random: u64,
}

impl Judgements {
    /// Returns the judgements since the snapshot `before`.
    pub fn count_since(self, before: Judgements) -> Judgements {
        Judgements {
            congestion_as_congestion: self.congestion_as_congestion - before.congestion_as_congestion,
            congestion_as_random: self.congestion_as_random - before.congestion_as_random,
            random_as_congestion: self.random_as_congestion - before.random_as_congestion,
            random_as_random: self.random_as_random - before.random_as_random,
        }
    }
}

/// Causes of losses without a judgement so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossJudge {
    /// Sequence number, and whether the cause was congestion.
    causes: VecDeque<(u32, bool)>,
    pub judgements: Judgements,
}

impl LossJudge {
    /// Records a lost data packet.
    pub fn lost(&mut self, packet: &Packet, congestion: bool) {
        if let Some(sequence) = packet.sequence() {
            self.causes.push_back((sequence, congestion));
        }
    }

    /// Counts a judgement of the receiver.
    pub fn judged(&mut self, verdict: &LossVerdict) {
        let (first, packets) = (verdict.first as u32, verdict.packets);
        let judgements = &mut self.judgements;
        self.causes.retain(|&(sequence, congestion)| {
            let place = sequence.wrapping_sub(first);
            if u64::from(place) < packets {
                let count = match (congestion, verdict.congestion) {
                    (true, true) => &mut judgements.congestion_as_congestion,
                    (true, false) => &mut judgements.congestion_as_random,
                    (false, true) => &mut judgements.random_as_congestion,
                    (false, false) => &mut judgements.random_as_random,
                };
                *count += 1;
                return false;
            }
            // Packets before this run have a judgement already, or never will.
            place < 1 << 31
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_core::packet::{Body, Class, Ecn, FlowId};
    use fairwave_core::units::Instant;

    fn packet(sequence: u32) -> Packet {
        let body = Body::Datagram { payload: 1, sequence, unit: 0, part: 0, parts: 1, created: Instant::ZERO };
        Packet {
            flow: FlowId(0),
            wire: 1,
            class: Class::OtherUdp,
            dscp: Default::default(),
            feedback: false,
            ecn: Ecn::NotEct,
            layer: 0,
            body,
        }
    }

    fn verdict(first: u64, packets: u64, congestion: bool) -> LossVerdict {
        LossVerdict { first, packets, congestion, begins_event: true, receive_rate: 0.0, bound: None }
    }

    #[test]
    fn lost_packets_are_counted_once_by_cause_and_judgement() {
        let mut judge = LossJudge::default();
        for (sequence, congestion) in [(5, true), (6, false), (9, false), (12, true)] {
            judge.lost(&packet(sequence), congestion);
        }
        judge.judged(&verdict(5, 2, true));
        judge.judged(&verdict(5, 2, true));
        judge.judged(&verdict(9, 1, false));
        judge.judged(&verdict(13, 0, true));
        let expected = Judgements {
            congestion_as_congestion: 1,
            congestion_as_random: 0,
            random_as_congestion: 1,
            random_as_random: 1,
        };
        assert_eq!(judge.judgements, expected);
        assert!(judge.causes.is_empty());
    }
}
