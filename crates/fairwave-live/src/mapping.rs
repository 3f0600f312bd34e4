//! Mapping of packets to flows. Flows of the scenario are found by their ports. Other conversations get the next free
//! flow that the run reserves for programs.

use std::collections::HashMap;

use fairwave_core::packet::FlowId;

use crate::addresses;
use crate::ip::ConversationKey;
use crate::places::PlaceConflict;

/// Flow and direction of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowDirection {
    /// The flow.
    pub flow: FlowId,
    /// True if the packet travels from the flow's receiver to its sender.
    pub feedback: bool,
}

/// Reserved flows of one pair of hosts.
#[derive(Clone, Debug, Default)]
struct HostPair {
    flows: Vec<FlowId>,
    used: usize,
}

/// Known conversations and reserved flows.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    known: HashMap<ConversationKey, FlowDirection>,
    /// Reserved flows by sending and receiving host.
    places: HashMap<(usize, usize), HostPair>,
    /// Reserved flows without hosts; the last one is assigned next.
    spare: Vec<FlowId>,
    /// Spare flows assigned since the last drain.
    pub assigned_spares: Vec<PlaceConflict>,
    /// Conversations that share a flow with earlier ones because no flow was left.
    pub sharing: u64,
}

impl Mapping {
    /// Assigns packets with this key to `flow`, and packets in the opposite direction to its feedback.
    pub fn insert(&mut self, key: ConversationKey, flow: FlowId) {
        self.known.insert(key, FlowDirection { flow, feedback: false });
        self.known.insert(key.reversed(), FlowDirection { flow, feedback: true });
    }

    /// Reserves a flow between two hosts for programs.
    pub fn reserve(&mut self, from: usize, to: usize, flow: FlowId) {
        self.places.entry((from, to)).or_default().flows.push(flow);
    }

    /// Reserves flows for programs between any pair of hosts that already has one.
    pub fn reserve_spare(&mut self, flows: impl DoubleEndedIterator<Item = FlowId>) {
        self.spare = flows.rev().collect();
    }

    /// Returns the flow of a packet. A new conversation gets the next reserved flow between its hosts, or a spare one.
    /// If none is left, it shares a flow between its hosts, and queues treat both conversations as one flow. Returns
    /// `None` if no flow is reserved between the hosts.
    pub fn assign(&mut self, key: ConversationKey) -> Option<FlowDirection> {
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let (from, to) = (addresses::host(key.source)?, addresses::host(key.destination)?);
        let (forward, pair) =
            if self.places.contains_key(&(from, to)) { (key, (from, to)) } else { (key.reversed(), (to, from)) };
        let places = self.places.get_mut(&pair)?;
        if places.used >= places.flows.len() {
            match (self.spare.pop(), places.flows.first()) {
                (Some(spare), Some(first)) => {
                    self.assigned_spares.push(PlaceConflict { flow: spare.0 as usize, like: first.0 as usize });
                    places.flows.push(spare);
                }
                _ => self.sharing += 1,
            }
        }
        let flow = *places.flows.get(places.used % places.flows.len().max(1))?;
        places.used += 1;
        self.insert(forward, flow);
        self.known.get(&key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(from: usize, to: usize, port: u16) -> ConversationKey {
        let [source, destination] = [from, to].map(|host| addresses::address(host).expect("an address"));
        ConversationKey { source, destination, protocol: 6, source_port: port, destination_port: 80 }
    }

    #[test]
    fn a_conversation_is_one_flow_both_ways_and_the_next_another() {
        let mut mapping = Mapping::default();
        mapping.insert(key(0, 1, 5000), FlowId(7));
        (10..12).for_each(|flow| mapping.reserve(0, 1, FlowId(flow)));
        assert_eq!(mapping.assign(key(0, 1, 5000)), Some(FlowDirection { flow: FlowId(7), feedback: false }));
        assert_eq!(mapping.assign(key(0, 1, 5000).reversed()), Some(FlowDirection { flow: FlowId(7), feedback: true }));
        assert_eq!(mapping.assign(key(0, 1, 1)), Some(FlowDirection { flow: FlowId(10), feedback: false }));
        assert_eq!(mapping.assign(key(0, 1, 1).reversed()), Some(FlowDirection { flow: FlowId(10), feedback: true }));
        // The other side starts: its first packet is feedback of the reserved flow.
        assert_eq!(mapping.assign(key(1, 0, 2)), Some(FlowDirection { flow: FlowId(11), feedback: true }));
        assert_eq!(mapping.sharing, 0);
        assert_eq!(mapping.assign(key(0, 1, 3)), Some(FlowDirection { flow: FlowId(10), feedback: false }));
        assert_eq!(mapping.sharing, 1);
        assert_eq!(mapping.assign(key(0, 2, 1)), None);
    }

    #[test]
    fn thousands_of_conversations_between_two_hosts_are_told_apart() {
        let mut mapping = Mapping::default();
        mapping.reserve(0, 1, FlowId(7));
        mapping.reserve(2, 1, FlowId(8));
        mapping.reserve_spare((100..100 + 4096).map(FlowId));
        let flows: Vec<u32> = (0..4097).map(|port| mapping.assign(key(0, 1, port)).expect("a place").flow.0).collect();
        assert_eq!(flows, [7].into_iter().chain(100..100 + 4096).collect::<Vec<u32>>());
        assert_eq!(mapping.assigned_spares.first(), Some(&PlaceConflict { flow: 100, like: 7 }));
        assert_eq!((mapping.assigned_spares.len(), mapping.sharing), (4096, 0));
        // Other hosts still have their first flow. After that, none is left.
        assert_eq!(mapping.assign(key(2, 1, 1)), Some(FlowDirection { flow: FlowId(8), feedback: false }));
        assert_eq!(mapping.assign(key(2, 1, 2)), Some(FlowDirection { flow: FlowId(8), feedback: false }));
        assert_eq!(mapping.sharing, 1);
    }
}
