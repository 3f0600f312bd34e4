//! Waiting packets in order of arrival. Any packet can be removed in constant time.
//!
//! A slab of nodes carries doubly linked lists: one of all packets, one per class, and one per video layer above the base. A
//! vector of occupied places serves uniform random choice. Paper 004 §3 needs the front-most packet and the bytes of a
//! class. Paper 002 §3.3 needs the highest layer. RED's and CHOKe's variants need the tail, the front and a random packet.
//! Disciplines that serve flows also get one list per flow ([`super::flows`]) or numbered lists ([`super::bins`]); other
//! disciplines do not pay for these. No operation searches. The buffer allocates nothing after it has held its largest
//! number of packets (and flows).

use std::sync::Arc;

use super::bins::Bins;
use super::flows::Flows;
pub use super::lists::Tally;
use super::lists::{ListEnds, ListLinks, NIL, append, unlink};
use crate::packet::{Class, Ecn, FlowId, Packet};
use fairwave_units::layers::LayerRates;
use fairwave_units::units::Instant;

/// Place of a waiting packet. Valid until that packet leaves; afterwards it is empty or holds another packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place(pub(super) u32);

#[derive(Clone, Debug)]
struct Node {
    packet: Packet,
    arrived: Instant,
    order: ListLinks,
    class: ListLinks,
    layer: ListLinks,
    /// Index of this node in `occupied`, if `choosable`; [`NIL`] if no packet waits here.
    index: u32,
    /// ECN codepoint on arrival.
    came: Ecn,
}

/// Lists that only some disciplines need.
#[derive(Clone, Debug)]
enum Lists {
    None,
    /// One per flow.
    Flows(Box<Flows>),
    /// A fixed number of lists; the discipline assigns each arrival to one.
    Bins(Box<Bins>),
}

/// The waiting packets of a queue.
#[derive(Clone, Debug)]
pub struct Buffer {
    nodes: Vec<Node>,
    occupied: Vec<u32>,
    free: u32,
    order: ListEnds,
    classes: [ListEnds; 3],
    /// Lists of layers 1 to 7. Packets of layer 0 are in none of them.
    layers: [ListEnds; LayerRates::MOST - 1],
    total: Tally,
    per_class: [Tally; 3],
    /// Further lists that the discipline asked for.
    lists: Lists,
    /// Packets are also in `occupied` and in the lists of their class and layer. False if no rule selects by these.
    choosable: bool,
    /// Arrival time of the packet that was served last.
    served: Instant,
    /// ECN codepoint on arrival of the packet that was served last.
    served_came: Ecn,
    /// Sender and receiver node of each flow.
    ends: Option<Arc<[[u32; 2]]>>,
}

impl Default for Buffer {
    /// Returns an empty buffer without any allocation.
    fn default() -> Self {
        Buffer::with_capacity(0)
    }
}

impl Buffer {
    /// Returns an empty buffer with room for `expected` packets.
    pub(super) fn with_capacity(expected: usize) -> Self {
        Buffer {
            nodes: Vec::with_capacity(expected),
            occupied: Vec::with_capacity(expected),
            free: NIL,
            order: ListEnds::EMPTY,
            classes: [ListEnds::EMPTY; 3],
            layers: [ListEnds::EMPTY; LayerRates::MOST - 1],
            total: Tally::default(),
            per_class: [Tally::default(); 3],
            lists: Lists::None,
            choosable: true,
            served: Instant::ZERO,
            served_came: Ecn::NotEct,
            ends: None,
        }
    }

    /// Like [`Self::with_capacity`], with one list per flow.
    pub(super) fn with_flow_lists(expected: usize) -> Self {
        Buffer { lists: Lists::Flows(Box::default()), ..Self::with_capacity(expected) }
    }

    /// Like [`Self::with_capacity`], with `bins` numbered lists (at least one). The discipline assigns arrivals to lists.
    pub(super) fn with_bins(expected: usize, bins: usize) -> Self {
        Buffer { lists: Lists::Bins(Box::new(Bins::new(bins.max(1)))), ..Self::with_capacity(expected) }
    }

    /// Like [`Self::with_bins`], for disciplines that never select at random ([`Self::pick`]), by class ([`Self::front_of`]) or
    /// by layer ([`Self::back_of_highest_layer`]). Keeps no lists for these.
    pub(super) fn with_bins_only(expected: usize, bins: usize) -> Self {
        Buffer { choosable: false, ..Self::with_bins(expected, bins) }
    }

    /// Sets the sender and receiver node of each flow, by flow number.
    pub(super) fn set_flow_ends(&mut self, ends: &Arc<[[u32; 2]]>) {
        self.ends = Some(Arc::clone(ends));
    }

    /// Sender and receiver node of a flow; `None` if the driver of the queue did not set them.
    pub fn flow_ends(&self, flow: FlowId) -> Option<[u32; 2]> {
        self.ends.as_ref()?.get(flow.0 as usize).copied()
    }

    /// Packets and bytes that wait.
    pub fn total(&self) -> Tally {
        self.total
    }

    /// Packets and bytes of one class that wait.
    pub fn class_tally(&self, class: Class) -> Tally {
        self.per_class[class as usize]
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.total.packets == 0
    }

    /// Appends a packet.
    #[cfg(test)]
    pub(super) fn push(&mut self, now: Instant, packet: Packet) {
        self.push_into(now, &packet, 0);
    }

    /// Appends a packet, also to list `bin`. A buffer without numbered lists ignores `bin`.
    #[inline(always)] // one caller that counts
    pub(super) fn push_into(&mut self, now: Instant, packet: &Packet, bin: u32) {
        let place = if self.free == NIL { self.add_node(packet) } else { self.free };
        let node = &mut self.nodes[place as usize];
        self.free = node.order.next;
        // Assigned field by field: building a node elsewhere and copying it is slower.
        node.packet = *packet;
        node.arrived = now;
        node.came = packet.ecn;
        node.index = self.occupied.len() as u32;
        append!(self.nodes, self.order, order, place);
        if self.choosable {
            self.occupied.push(place);
            append!(self.nodes, self.classes[packet.class as usize], class, place);
            if let Some(above) = layer_index(packet.layer) {
                append!(self.nodes, self.layers[above], layer, place);
            }
        }
        let size = u64::from(packet.wire);
        match &mut self.lists {
            Lists::None => {}
            Lists::Flows(flows) => flows.push(place, packet),
            Lists::Bins(bins) => bins.push(place, size, bin),
        }
        self.total.add(size);
        self.per_class[packet.class as usize].add(size);
    }

    /// Adds a place.
    #[cold]
    #[inline(never)]
    fn add_node(&mut self, packet: &Packet) -> u32 {
        let unlinked = ListLinks::NONE;
        let (packet, came) = (*packet, packet.ecn);
        let arrived = Instant::ZERO;
        self.nodes.push(Node { packet, arrived, order: unlinked, class: unlinked, layer: unlinked, index: 0, came });
        (self.nodes.len() - 1) as u32
    }

    /// Marks a waiting packet, if its transport understands marks. Returns whether the packet now bears a mark.
    pub fn mark(&mut self, place: Place) -> bool {
        self.waiting(place).is_some() && self.nodes[place.0 as usize].packet.mark()
    }

    /// Removes a packet from any place; `None` if no packet waits there any more.
    pub fn remove(&mut self, place: Place) -> Option<Packet> {
        let index = self.waiting(place)?.index;
        self.take(place.0, index);
        Some(self.nodes[place.0 as usize].packet)
    }

    /// Unlinks the packet at a place from all lists; `index` is the node's index. The node keeps the packet until the place
    /// is reused.
    #[inline(always)] // two callers
    fn take(&mut self, place: u32, index: u32) {
        let Packet { flow, wire, class, layer, .. } = self.nodes[place as usize].packet;
        unlink!(self.nodes, self.order, order, place);
        if self.choosable {
            self.occupied.swap_remove(index as usize);
            if let Some(&moved) = self.occupied.get(index as usize) {
                self.nodes[moved as usize].index = index;
            }
            unlink!(self.nodes, self.classes[class as usize], class, place);
            if let Some(above) = layer_index(layer) {
                unlink!(self.nodes, self.layers[above], layer, place);
            }
        }
        let size = u64::from(wire);
        match &mut self.lists {
            Lists::None => {}
            Lists::Flows(flows) => flows.remove(place, flow, size),
            Lists::Bins(bins) => bins.remove(place, size),
        }
        let node = &mut self.nodes[place as usize];
        (node.order.next, node.index) = (self.free, NIL);
        self.free = place;
        self.total.take(size);
        self.per_class[class as usize].take(size);
    }

    /// Removes a packet to be sent, and returns it with its arrival time; `None` if no packet waits there any more.
    #[inline]
    pub fn serve(&mut self, place: Place) -> Option<(Packet, Instant)> {
        let &Node { arrived, index, came, .. } = self.waiting(place)?;
        (self.served, self.served_came) = (arrived, came);
        self.take(place.0, index);
        Some((self.nodes[place.0 as usize].packet, arrived))
    }

    /// Records a packet that is sent immediately, without waiting here.
    #[inline]
    pub(super) fn has_passed(&mut self, now: Instant, packet: &Packet) {
        (self.served, self.served_came) = (now, packet.ecn);
    }

    /// Removes the oldest packet to be sent, and returns it with its arrival time.
    pub fn pop_front(&mut self) -> Option<(Packet, Instant)> {
        self.serve(self.front()?)
    }

    /// Arrival time of the packet that was served last.
    pub(super) fn last_served(&self) -> Instant {
        self.served
    }

    /// ECN codepoint on arrival of the packet that was served last.
    pub(super) fn last_came(&self) -> Ecn {
        self.served_came
    }

    /// The oldest packet.
    pub fn front(&self) -> Option<Place> {
        checked_place(self.order.front)
    }

    /// The newest packet.
    pub fn back(&self) -> Option<Place> {
        checked_place(self.order.back)
    }

    /// The oldest packet of a class.
    pub fn front_of(&self, class: Class) -> Option<Place> {
        checked_place(self.classes[class as usize].front)
    }

    /// The newest packet of the highest video layer. All packets that are not of an enhancement layer count as layer 0.
    pub fn back_of_highest_layer(&self) -> Option<Place> {
        self.layers.iter().rev().find_map(|ends| checked_place(ends.back)).or_else(|| self.back())
    }

    /// The `index`-th packet in arbitrary order, `index` < packets. A uniform index gives a uniform choice.
    pub fn pick(&self, index: u64) -> Option<Place> {
        self.occupied.get(index as usize).map(|&place| Place(place))
    }

    /// The packet that arrived just before this one.
    pub fn previous(&self, place: Place) -> Option<Place> {
        checked_place(self.waiting(place)?.order.previous)
    }

    /// The packet at a place; `None` if no packet waits there any more.
    pub fn packet(&self, place: Place) -> Option<&Packet> {
        self.waiting(place).map(|node| &node.packet)
    }

    /// Arrival time of the packet at a place; `None` if no packet waits there any more.
    pub fn arrival_time(&self, place: Place) -> Option<Instant> {
        self.waiting(place).map(|node| node.arrived)
    }

    /// Arrival time and wire size of the packet at a place; `None` if no packet waits there any more.
    #[inline]
    pub(super) fn waits_at(&self, place: Place) -> Option<(Instant, u64)> {
        self.waiting(place).map(|node| (node.arrived, u64::from(node.packet.wire)))
    }

    /// Packets and bytes of one flow that wait; zero in a buffer without lists per flow ([`super::Nature::by_flow`]).
    pub fn flow_tally(&self, flow: FlowId) -> Tally {
        self.flow_lists().map_or(Tally::default(), |flows| flows.tally(flow))
    }

    /// Number of flows with waiting packets; zero in a buffer without lists per flow.
    pub fn flows(&self) -> u32 {
        self.flow_lists().map_or(0, |flows| flows.count())
    }

    /// The oldest packet of a flow.
    pub fn front_of_flow(&self, flow: FlowId) -> Option<Place> {
        self.flow_lists().and_then(|flows| checked_place(flows.ends(flow).front))
    }

    /// The newest packet of a flow.
    pub fn back_of_flow(&self, flow: FlowId) -> Option<Place> {
        self.flow_lists().and_then(|flows| checked_place(flows.ends(flow).back))
    }

    /// The flow after `flow` in the round of flows with waiting packets. The round follows the order in which flows began to
    /// wait, and wraps around. Returns the first flow for `None`, or if no packet of `flow` waits.
    pub fn flow_after(&self, flow: Option<FlowId>) -> Option<FlowId> {
        self.flow_lists().and_then(|flows| flows.next_flow(flow))
    }

    /// Packets and bytes in a numbered list; zero in a buffer without such lists ([`super::Discipline::bins`]).
    #[inline]
    pub fn bin_tally(&self, bin: u32) -> Tally {
        self.bin_lists().map_or(Tally::default(), |bins| bins.tally(bin))
    }

    /// The oldest packet of a numbered list.
    #[inline]
    pub fn front_of_bin(&self, bin: u32) -> Option<Place> {
        self.bin_lists().and_then(|bins| checked_place(bins.ends(bin).front))
    }

    /// The newest packet of a numbered list.
    #[inline]
    pub fn back_of_bin(&self, bin: u32) -> Option<Place> {
        self.bin_lists().and_then(|bins| checked_place(bins.ends(bin).back))
    }

    /// The packet that precedes this one in its numbered list.
    #[inline]
    pub fn previous_in_bin(&self, place: Place) -> Option<Place> {
        self.waiting(place)?;
        self.bin_lists().and_then(|bins| checked_place(bins.previous(place.0)))
    }

    /// The numbered list with the most bytes, the first of several equals; `None` if no packet waits. After the first call,
    /// the buffer keeps the answer up to date.
    pub fn fattest_bin(&mut self) -> Option<u32> {
        match &mut self.lists {
            Lists::Bins(bins) => bins.fattest(),
            _ => None,
        }
    }

    fn flow_lists(&self) -> Option<&Flows> {
        match &self.lists {
            Lists::Flows(flows) => Some(flows),
            _ => None,
        }
    }

    fn bin_lists(&self) -> Option<&Bins> {
        match &self.lists {
            Lists::Bins(bins) => Some(bins),
            _ => None,
        }
    }

    /// The node at a place, if a packet waits there.
    #[inline]
    fn waiting(&self, place: Place) -> Option<&Node> {
        self.nodes.get(place.0 as usize).filter(|node| node.index != NIL)
    }
}

/// Index of the enhancement layer's list for a packet; `None` for the base layer and for traffic without layers.
fn layer_index(layer: u8) -> Option<usize> {
    usize::from(layer).min(LayerRates::MOST - 1).checked_sub(1)
}

fn checked_place(place: u32) -> Option<Place> {
    (place != NIL).then_some(Place(place))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::packet;
    use super::*;
    use fairwave_units::units::Span;

    /// Reference model: a vector in order of arrival; every query searches and recounts.
    #[derive(Default)]
    struct SlowTwin(Vec<Packet>);

    impl SlowTwin {
        fn recount(&self, of: impl Fn(&Packet) -> bool) -> Tally {
            let chosen = self.0.iter().filter(|p| of(p));
            Tally { packets: chosen.clone().count() as u32, bytes: chosen.map(|p| u64::from(p.wire)).sum() }
        }
    }

    #[derive(Clone, Debug)]
    enum Operation {
        Push(u16, usize, u8),
        PopFront,
        RemoveFrontOf(usize),
        RemoveBack,
        RemoveBackOfHighestLayer,
        RemoveAny(u64),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            4 => (1..1600u16, 0..3usize, 0..9u8).prop_map(|(size, class, layer)| Operation::Push(size, class, layer)),
            1 => Just(Operation::PopFront),
            1 => (0..3usize).prop_map(Operation::RemoveFrontOf),
            1 => Just(Operation::RemoveBack),
            1 => Just(Operation::RemoveBackOfHighestLayer),
            1 => any::<u64>().prop_map(Operation::RemoveAny),
        ]
    }

    proptest! {
        #[test]
        fn counters_equal_a_recount_and_removals_take_the_right_packet(
            operations in prop::collection::vec(operation(), 0..400),
        ) {
            let (mut fast, mut slow, mut serial) = (Buffer::with_capacity(4), SlowTwin::default(), 0);
            for operation in operations {
                let (got, expected) = match operation {
                    Operation::Push(size, class, layer) => {
                        serial += 1;
                        let packet = Packet { layer, ..packet(serial, size, Class::ALL[class]) };
                        fast.push(Instant::ZERO, packet);
                        slow.0.push(packet);
                        (None, None)
                    }
                    Operation::PopFront => {
                        let expected = (!slow.0.is_empty()).then(|| slow.0.remove(0));
                        (fast.pop_front().map(|(packet, _)| packet), expected)
                    }
                    Operation::RemoveFrontOf(class) => {
                        let class = Class::ALL[class];
                        let found = slow.0.iter().position(|p| p.class == class);
                        (fast.front_of(class).and_then(|place| fast.remove(place)), found.map(|i| slow.0.remove(i)))
                    }
                    Operation::RemoveBack => (fast.back().and_then(|place| fast.remove(place)), slow.0.pop()),
                    Operation::RemoveBackOfHighestLayer => {
                        let highest = slow.0.iter().map(|p| p.layer.min(7)).max();
                        let found = highest.and_then(|layer| slow.0.iter().rposition(|p| p.layer.min(7) == layer));
                        let got = fast.back_of_highest_layer().and_then(|place| fast.remove(place));
                        (got, found.map(|i| slow.0.remove(i)))
                    }
                    Operation::RemoveAny(draw) => {
                        let place = fast.pick(draw % u64::from(fast.total().packets.max(1)));
                        let got = place.and_then(|place| fast.remove(place));
                        // The buffer's order is arbitrary; the model follows it.
                        let found = got.and_then(|packet| slow.0.iter().position(|p| *p == packet));
                        (got, found.map(|i| slow.0.remove(i)))
                    }
                };
                prop_assert_eq!(got, expected);
                prop_assert_eq!(fast.total(), slow.recount(|_| true));
                for class in Class::ALL {
                    prop_assert_eq!(fast.class_tally(class), slow.recount(|p| p.class == class));
                }
            }
            let rest: Vec<_> = std::iter::from_fn(|| fast.pop_front().map(|(packet, _)| packet)).collect();
            prop_assert_eq!(rest, slow.0);
        }
    }

    #[test]
    fn a_waiting_packet_has_the_time_of_its_arrival_until_it_is_gone() {
        let mut buffer = Buffer::default();
        for millis in [3, 7] {
            buffer.push(Instant::ZERO + Span::from_millis(millis), packet(0, 100, Class::Tcp));
        }
        let (front, back) = (buffer.front().expect("two wait"), buffer.back().expect("two wait"));
        let at = |millis| Some(Instant::ZERO + Span::from_millis(millis));
        assert_eq!((buffer.arrival_time(front), buffer.arrival_time(back)), (at(3), at(7)));
        let _ = buffer.remove(front);
        assert_eq!((buffer.arrival_time(front), buffer.arrival_time(back)), (None, at(7)));
    }

    #[test]
    fn indices_choose_waiting_packets_exactly_once() {
        let mut buffer = Buffer::with_capacity(0);
        for serial in 0..10 {
            buffer.push(Instant::ZERO, packet(serial, 100, Class::Tcp));
        }
        for _ in 0..3 {
            let _ = buffer.pop_front();
        }
        let mut flows: Vec<_> = (0..7)
            .filter_map(|i| buffer.pick(i))
            .filter_map(|place| buffer.packet(place))
            .map(|packet| packet.flow.0)
            .collect();
        flows.sort_unstable();
        assert_eq!(flows, (3..10).collect::<Vec<_>>());
        assert_eq!(buffer.pick(7), None);
    }

    #[test]
    fn a_warm_buffer_does_not_allocate() {
        let mut buffer = Buffer::with_capacity(0);
        for round in 0..3 {
            for serial in 0..100 {
                buffer.push(Instant::ZERO, packet(serial, 100, Class::ALL[serial as usize % 3]));
            }
            let room = (buffer.nodes.capacity(), buffer.occupied.capacity());
            while buffer.pop_front().is_some() {}
            if round > 0 {
                assert_eq!(buffer.nodes.len(), 100, "places are used again");
            }
            assert_eq!(room, (buffer.nodes.capacity(), buffer.occupied.capacity()));
        }
    }
}
