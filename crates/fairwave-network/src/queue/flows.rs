//! One list of waiting packets per flow, and a round of the flows with waiting packets.
//!
//! For disciplines that serve flows separately (deficit round robin, fair queueing). Every operation takes constant time.
//! The links are stored separately from the packets, so a buffer without such lists pays nothing for them.

use std::collections::HashMap;

use super::lists::{ListEnds, ListLinks, NIL, Tally, append, unlink};
use crate::packet::{FlowId, Packet};

/// Links of one waiting packet.
#[derive(Clone, Copy, Debug)]
struct Member {
    flow: ListLinks,
    /// Slot of the packet's flow.
    slot: u32,
}

/// A flow with waiting packets. In a free slot, `next` of the round is the next free slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    flow: FlowId,
    packets: ListEnds,
    tally: Tally,
    round: ListLinks,
}

/// All flows with waiting packets.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    /// By place of the packet.
    members: Vec<Member>,
    slots: Vec<Slot>,
    free: u32,
    round: ListEnds,
    /// Never iterated: its order differs between processes.
    slot_of: HashMap<u32, u32>,
}

impl Default for Flows {
    fn default() -> Self {
        Flows { members: Vec::new(), slots: Vec::new(), free: NIL, round: ListEnds::EMPTY, slot_of: HashMap::new() }
    }
}

impl Flows {
    /// Adds the packet at `place`.
    pub fn push(&mut self, place: u32, packet: &Packet) {
        let slot = match self.slot_of.get(&packet.flow.0) {
            Some(&slot) => slot,
            None => self.begin(packet.flow),
        };
        if self.members.len() <= place as usize {
            self.members.resize(place as usize + 1, Member { flow: ListLinks::NONE, slot: NIL });
        }
        self.members[place as usize].slot = slot;
        let of = &mut self.slots[slot as usize];
        of.tally.add(u64::from(packet.wire));
        append!(self.members, of.packets, flow, place);
    }

    /// Removes the packet at `place`.
    pub fn remove(&mut self, place: u32, flow: FlowId, size: u64) {
        let slot = self.members[place as usize].slot;
        let of = &mut self.slots[slot as usize];
        of.tally.take(size);
        unlink!(self.members, of.packets, flow, place);
        if of.tally.packets == 0 {
            unlink!(self.slots, self.round, round, slot);
            self.slots[slot as usize].round.next = self.free;
            self.free = slot;
            self.slot_of.remove(&flow.0);
        }
    }

    fn begin(&mut self, flow: FlowId) -> u32 {
        let new = Slot { flow, packets: ListEnds::EMPTY, tally: Tally::default(), round: ListLinks::NONE };
        let slot = if self.free == NIL {
            self.slots.push(new);
            (self.slots.len() - 1) as u32
        } else {
            let slot = self.free;
            self.free = self.slots[slot as usize].round.next;
            self.slots[slot as usize] = new;
            slot
        };
        append!(self.slots, self.round, round, slot);
        self.slot_of.insert(flow.0, slot);
        slot
    }

    fn slot(&self, flow: FlowId) -> Option<&Slot> {
        self.slot_of.get(&flow.0).map(|&slot| &self.slots[slot as usize])
    }

    /// Packets and bytes of a flow that wait.
    pub fn tally(&self, flow: FlowId) -> Tally {
        self.slot(flow).map_or(Tally::default(), |slot| slot.tally)
    }

    /// Number of flows with waiting packets.
    pub fn count(&self) -> u32 {
        self.slot_of.len() as u32
    }

    /// The first and the last waiting packet of a flow.
    pub fn ends(&self, flow: FlowId) -> ListEnds {
        self.slot(flow).map_or(ListEnds::EMPTY, |slot| slot.packets)
    }

    /// The flow after this one in the round; the first for `None`.
    pub fn next_flow(&self, flow: Option<FlowId>) -> Option<FlowId> {
        let next = flow.and_then(|flow| self.slot(flow)).map_or(NIL, |slot| slot.round.next);
        let slot = if next == NIL { self.round.front } else { next };
        self.slots.get(slot as usize).map(|slot| slot.flow)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::buffer::Buffer;
    use super::super::testing::packet;
    use super::*;
    use crate::packet::{Body, Class};
    use fairwave_units::units::Instant;

    /// Operation on a buffer: a packet of (flow, size) arrives, or a waiting packet leaves.
    #[derive(Clone, Debug)]
    enum Operation {
        Push(u32, u16),
        RemoveAny(u64),
        ServeFrontOf(u32),
        RemoveBackOf(u32),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            4 => (0..6u32, 1..1600u16).prop_map(|(flow, size)| Operation::Push(flow, size)),
            2 => any::<u64>().prop_map(Operation::RemoveAny),
            1 => (0..6u32).prop_map(Operation::ServeFrontOf),
            1 => (0..6u32).prop_map(Operation::RemoveBackOf),
        ]
    }

    /// Reference model: all packets in order of arrival, and the flows in order of their first waiting packet.
    #[derive(Default)]
    struct SlowTwin {
        packets: Vec<Packet>,
        round: Vec<FlowId>,
    }

    impl SlowTwin {
        fn push(&mut self, packet: Packet) {
            if !self.round.contains(&packet.flow) {
                self.round.push(packet.flow);
            }
            self.packets.push(packet);
        }

        fn remove(&mut self, packet: Packet) {
            let place = self.packets.iter().position(|waiting| *waiting == packet).expect("it waits");
            self.packets.remove(place);
            if !self.packets.iter().any(|waiting| waiting.flow == packet.flow) {
                self.round.retain(|flow| *flow != packet.flow);
            }
        }

        fn packets_of(&self, flow: FlowId) -> impl DoubleEndedIterator<Item = &Packet> + Clone {
            self.packets.iter().filter(move |packet| packet.flow == flow)
        }
    }

    proptest! {
        #[test]
        fn lists_tallies_and_round_are_those_of_a_plain_list(operations in prop::collection::vec(operation(), 0..300)) {
            let (mut buffer, mut plain, mut serial) = (Buffer::with_flow_lists(2), SlowTwin::default(), 0u64);
            for operation in operations {
                let gone = match operation {
                    Operation::Push(flow, size) => {
                        serial += 1;
                        let mut packet = packet(flow, size, Class::Tcp);
                        if let Body::Datagram { created, .. } = &mut packet.body {
                            *created = Instant::from_nanos(serial);
                        }
                        buffer.push(Instant::from_nanos(serial), packet);
                        plain.push(packet);
                        None
                    }
                    Operation::RemoveAny(draw) => {
                        let place = buffer.pick(draw % u64::from(buffer.total().packets.max(1)));
                        place.and_then(|place| buffer.remove(place))
                    }
                    Operation::ServeFrontOf(flow) => {
                        let front = plain.packets_of(FlowId(flow)).next().copied();
                        let served = buffer.front_of_flow(FlowId(flow)).and_then(|place| buffer.serve(place));
                        prop_assert_eq!(served.map(|(packet, _)| packet), front);
                        if let Some((packet, since)) = served {
                            prop_assert_eq!(buffer.last_served(), since);
                            let came = matches!(packet.body, Body::Datagram { created, .. } if created == since);
                            prop_assert!(came, "{:?} since {}", packet, since);
                        }
                        front
                    }
                    Operation::RemoveBackOf(flow) => {
                        let back = plain.packets_of(FlowId(flow)).next_back().copied();
                        prop_assert_eq!(buffer.back_of_flow(FlowId(flow)).and_then(|place| buffer.remove(place)), back);
                        back
                    }
                };
                if let Some(gone) = gone {
                    plain.remove(gone);
                }
                for flow in (0..6).map(FlowId) {
                    let those = plain.packets_of(flow);
                    let tally = buffer.flow_tally(flow);
                    prop_assert_eq!(tally.packets as usize, those.clone().count());
                    prop_assert_eq!(tally.bytes, those.map(|packet| u64::from(packet.wire)).sum::<u64>());
                }
                // One whole round, from the first flow to the first again.
                let mut at = None;
                for expected in plain.round.iter().chain(plain.round.first()) {
                    at = buffer.flow_after(at);
                    prop_assert_eq!(at, Some(*expected));
                }
                prop_assert_eq!(buffer.flow_after(None), plain.round.first().copied());
            }
        }
    }

    #[test]
    fn a_flow_of_which_nothing_waits_has_no_place_in_the_round() {
        let mut buffer = Buffer::with_flow_lists(0);
        for flow in [7, 3, u32::MAX] {
            buffer.push(Instant::ZERO, packet(flow, 100, Class::Tcp));
        }
        assert_eq!(buffer.flow_after(Some(FlowId(5))), Some(FlowId(7)), "the first");
        let place = buffer.front_of_flow(FlowId(3)).expect("it waits");
        assert!(buffer.remove(place).is_some());
        assert_eq!((buffer.remove(place), buffer.packet(place)), (None, None), "it has gone");
        assert_eq!(buffer.flow_after(Some(FlowId(7))), Some(FlowId(u32::MAX)));
        assert_eq!(buffer.flow_tally(FlowId(3)), Tally::default());
    }

    #[test]
    fn a_buffer_without_lists_per_flow_knows_no_flows() {
        let mut buffer = Buffer::with_capacity(0);
        buffer.push(Instant::ZERO, packet(1, 100, Class::Tcp));
        assert_eq!((buffer.flow_after(None), buffer.front_of_flow(FlowId(1))), (None, None));
        assert_eq!(buffer.flow_tally(FlowId(1)), Tally::default());
    }

    #[test]
    fn warm_lists_use_their_places_again() {
        let mut flows = Flows::default();
        for _ in 0..4 {
            for flow in 0..100 {
                flows.push(flow, &packet(flow, 100, Class::Tcp));
            }
            for flow in 0..100 {
                flows.remove(flow, FlowId(flow), 100);
            }
            assert_eq!((flows.members.len(), flows.slots.len(), flows.slot_of.len()), (100, 100, 0));
        }
    }
}
