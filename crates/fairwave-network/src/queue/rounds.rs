//! Deficit round robin that serves new queues first (DRR++, RFC 8290 §4).
//!
//! Queues are identified by number. An idle queue becomes *new* with its first packet and gets a quantum of credits. New
//! queues come before *old* ones. A queue without credits gets another quantum and moves to the end of the old queues. An
//! empty new queue also moves there at its turn. Therefore it cannot return as a new queue before all others have had their
//! turn (§4.2). No operation searches.

use super::lists::{ListEnds, ListLinks, NIL, append, unlink};

/// List membership of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum List {
    None,
    New,
    Old,
}

#[derive(Clone, Copy, Debug)]
struct FlowQueue {
    links: ListLinks,
    /// Bytes that it may still send in this turn; at worst one packet below 0.
    credits: i64,
    on: List,
}

/// Queues with waiting packets, and queues that became empty since their last turn.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    queues: Vec<FlowQueue>,
    new: ListEnds,
    old: ListEnds,
    quantum: i64,
}

impl Rounds {
    /// Returns `queues` idle queues, each with `quantum` bytes per turn.
    pub fn new(queues: usize, quantum: u64) -> Self {
        let idle = FlowQueue { links: ListLinks::NONE, credits: 0, on: List::None };
        let quantum = i64::try_from(quantum).unwrap_or(i64::MAX / 2);
        Rounds { queues: vec![idle; queues], new: ListEnds::EMPTY, old: ListEnds::EMPTY, quantum }
    }

    /// Handles the arrival of a packet in a queue.
    #[inline]
    pub fn arrived(&mut self, queue: u32) {
        let of = &mut self.queues[queue as usize];
        if of.on == List::None {
            (of.on, of.credits) = (List::New, self.quantum);
            append!(self.queues, self.new, links, queue);
        }
    }

    /// The current queue; `None` if all are idle. Its turn lasts until the caller reports the outcome by
    /// [`Self::sent`] or [`Self::was_empty`].
    #[inline]
    pub fn turn(&mut self) -> Option<u32> {
        loop {
            let queue = if self.new.front == NIL { self.old.front } else { self.new.front };
            let of = self.queues.get_mut(queue as usize)?;
            if of.credits > 0 {
                return Some(queue);
            }
            of.credits += self.quantum;
            self.move_to_old(queue);
        }
    }

    /// Charges the current queue for `bytes` sent bytes.
    #[inline]
    pub fn sent(&mut self, queue: u32, bytes: u64) {
        self.queues[queue as usize].credits -= bytes as i64;
    }

    /// The current queue had nothing to send.
    #[inline]
    pub fn was_empty(&mut self, queue: u32) {
        if self.queues[queue as usize].on == List::New {
            self.move_to_old(queue);
            return;
        }
        unlink!(self.queues, self.old, links, queue);
        self.queues[queue as usize].on = List::None;
    }

    /// Moves a queue to the end of the old queues.
    #[inline]
    fn move_to_old(&mut self, queue: u32) {
        if self.queues[queue as usize].on == List::New {
            unlink!(self.queues, self.new, links, queue);
        } else {
            unlink!(self.queues, self.old, links, queue);
        }
        self.queues[queue as usize].on = List::Old;
        append!(self.queues, self.old, links, queue);
    }
}

/// A 64-bit hash in which every bit depends on every bit of `value` (the finalizer of SplitMix64, Steele, Lea & Flood 2014).
#[inline]
pub(super) fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Maps a hash to [0, `number`), every value equally often.
#[inline]
pub(super) fn reduced(hash: u64, number: u32) -> u32 {
    ((u64::from((hash >> 32) as u32) * u64::from(number)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends packets of a fixed size per queue from queues that hold `held` bytes, and returns the order of the queues.
    fn order(rounds: &mut Rounds, mut held: Vec<(u32, u64)>, packets: usize) -> Vec<u32> {
        let mut order = Vec::new();
        while order.len() < packets {
            let Some(queue) = rounds.turn() else { break };
            let (left, size) = &mut held[queue as usize];
            if *left == 0 {
                rounds.was_empty(queue);
                continue;
            }
            *left -= 1;
            rounds.sent(queue, *size);
            order.push(queue);
        }
        order
    }

    #[test]
    fn queues_send_a_quantum_of_bytes_in_turn_whatever_the_size_of_their_packets() {
        let mut rounds = Rounds::new(3, 1500);
        (0..3).for_each(|queue| rounds.arrived(queue));
        // A quantum is one packet of 1500 bytes, three of 500, fifteen of 100.
        let order = order(&mut rounds, vec![(1000, 1500), (3000, 500), (15_000, 100)], 19 * 100);
        let bytes = [0, 1, 2]
            .map(|queue| order.iter().filter(|of| **of == queue).count() as u64 * [1500, 500, 100][queue as usize]);
        assert_eq!(bytes, [150_000; 3]);
        assert_eq!(order[..19], [vec![0], vec![1; 3], vec![2; 15]].concat());
    }

    #[test]
    fn a_queue_that_has_just_begun_comes_before_those_that_have_had_their_turn_but_for_one_quantum() {
        let mut rounds = Rounds::new(3, 1500);
        (0..2).for_each(|queue| rounds.arrived(queue));
        let mut held = vec![(100, 1000), (100, 1000), (0, 500)];
        assert_eq!(order(&mut rounds, held.clone(), 4), [0, 0, 1, 1]);
        rounds.arrived(2);
        held[2].0 = 6;
        // Three packets of 500 bytes at once; then it takes turns like the others.
        assert_eq!(order(&mut rounds, held, 8), [2, 2, 2, 0, 1, 2, 2, 2]);
    }

    #[test]
    fn a_queue_that_is_emptied_comes_back_as_a_new_one_only_after_the_others_have_had_their_turn() {
        let mut rounds = Rounds::new(2, 1500);
        (0..2).for_each(|queue| rounds.arrived(queue));
        // Whenever queue 1 is found empty, its next packet arrives immediately; queue 0 always has one.
        let (mut order, mut waits) = (Vec::new(), true);
        while order.len() < 30 {
            let queue = rounds.turn().expect("queue 0");
            if queue == 1 && !waits {
                rounds.was_empty(1);
                rounds.arrived(1);
                waits = true;
                continue;
            }
            rounds.sent(queue, if queue == 0 { 1500 } else { 100 });
            waits &= queue == 0;
            order.push(queue);
        }
        // Served once as an old and once as a new queue; then it must wait behind queue 0 (§4.2).
        assert_eq!(order[..9], [0, 1, 0, 1, 1, 0, 1, 1, 0], "{order:?}");
    }

    #[test]
    fn idle_queues_have_no_turn() {
        let mut rounds = Rounds::new(4, 300);
        assert_eq!(rounds.turn(), None);
        rounds.arrived(3);
        assert_eq!(rounds.turn(), Some(3));
        rounds.was_empty(3);
        assert_eq!(rounds.turn(), Some(3), "once more, among the old ones");
        rounds.was_empty(3);
        assert_eq!(rounds.turn(), None);
    }

    #[test]
    fn numbers_that_are_alike_are_spread_evenly() {
        let mut times = vec![0u32; 64];
        for flow in 0..64_000u64 {
            times[reduced(mixed(flow ^ 77), 64) as usize] += 1;
        }
        assert!(times.iter().all(|n| n.abs_diff(1000) < 160), "{times:?}");
    }

    #[test]
    fn numbers_are_mixed_as_splitmix64_mixes_its_counter() {
        // First outputs of SplitMix64 for seed 1234567, with a counter that advances by the golden gamma.
        let counter = |n: u64| 1_234_567_u64.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let published = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([1, 2, 3].map(|n| mixed(counter(n))), published);
    }
}
