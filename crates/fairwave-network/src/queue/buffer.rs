//! Packets waiting, in order of arrival, from which any one can be taken in constant time.
//!
//! A slab of nodes threaded by doubly linked lists: one through all packets, one through those of each class and one
//! through those of each video layer above the base. A vector of occupied places serves uniformly random choice. Paper
//! 004 §3 needs the front-most packet of a class and the bytes that each class holds. Paper 002 §3.3 needs the highest
//! layer. RED's and CHOKe's variants need the tail, the front and a random packet. For disciplines that serve flow by
//! flow there is a list per flow, too ([`super::flows`]), or a list by number ([`super::bins`]); the others do without.
//! Nothing here searches, and nothing allocates once the buffer has held its largest number of packets (and flows).

use super::bins::Bins;
use super::flows::Flows;
pub use super::lists::Tally;
use super::lists::{ListEnds, ListLinks, NIL, append, unlink};
use crate::packet::{Class, Ecn, FlowId, Packet};
use fairwave_units::layers::LayerRates;
use fairwave_units::units::Instant;

/// A packet that waits. Valid until that packet leaves; later it names nothing, or another packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place(pub(super) u32);

#[derive(Clone, Debug)]
struct Node {
    packet: Packet,
    arrived: Instant,
    order: ListLinks,
    class: ListLinks,
    layer: ListLinks,
    /// Where `occupied` names this node, if anything is chosen by that; [`NIL`] if no packet waits here.
    index: u32,
    /// Its codepoint when it came.
    came: Ecn,
}

/// Lists that only some disciplines want.
#[derive(Clone, Debug)]
enum Lists {
    None,
    /// One per flow.
    Flows(Box<Flows>),
    /// A fixed number, into which the discipline puts what arrives.
    Bins(Box<Bins>),
}

/// Packets waiting.
#[derive(Clone, Debug)]
pub struct Buffer {
    nodes: Vec<Node>,
    occupied: Vec<u32>,
    free: u32,
    order: ListEnds,
    classes: [ListEnds; 3],
    /// Of layers 1 to 7; packets of layer 0 are in none.
    layers: [ListEnds; LayerRates::MOST - 1],
    total: Tally,
    per_class: [Tally; 3],
    /// Further lists, for disciplines that ask for them.
    lists: Lists,
    /// Packets are in `occupied` and in the lists of their class and their layer; not if no rule chooses by these.
    choosable: bool,
    /// When the packet came that was taken last to be sent.
    served: Instant,
    /// The codepoint with which it came.
    served_came: Ecn,
}

impl Default for Buffer {
    /// An empty buffer that has allocated nothing.
    fn default() -> Self {
        Buffer::with_capacity(0)
    }
}

impl Buffer {
    /// An empty buffer that holds `expected` packets before it allocates again.
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
        }
    }

    /// The same, with a list per flow.
    pub(super) fn by_flow(expected: usize) -> Self {
        Buffer { lists: Lists::Flows(Box::default()), ..Self::with_capacity(expected) }
    }

    /// The same, with a number of lists, at least one, into which the discipline puts arrivals.
    pub(super) fn by_bin(expected: usize, bins: usize) -> Self {
        Buffer { lists: Lists::Bins(Box::new(Bins::new(bins.max(1)))), ..Self::with_capacity(expected) }
    }

    /// The same for disciplines that choose neither at random ([`Self::any`]) nor by class ([`Self::front_of`]) or by layer
    /// ([`Self::back_of_highest_layer`]): no lists are kept for that.
    pub(super) fn by_bin_alone(expected: usize, bins: usize) -> Self {
        Buffer { choosable: false, ..Self::by_bin(expected, bins) }
    }

    /// Everything that waits.
    pub fn total(&self) -> Tally {
        self.total
    }

    /// What waits of one class.
    pub fn of(&self, class: Class) -> Tally {
        self.per_class[class as usize]
    }

    /// No packet waits.
    pub fn is_empty(&self) -> bool {
        self.total.packets == 0
    }

    /// Puts a packet behind all others.
    #[cfg(test)]
    pub(super) fn push(&mut self, now: Instant, packet: Packet) {
        self.push_into(now, &packet, 0);
    }

    /// Puts a packet behind all others, and behind those of a list by number; the number is of no account in a buffer without.
    #[inline(always)] // one caller that counts
    pub(super) fn push_into(&mut self, now: Instant, packet: &Packet, bin: u32) {
        let place = if self.free == NIL { self.add_node(packet) } else { self.free };
        let node = &mut self.nodes[place as usize];
        self.free = node.order.next;
        // Part by part: what is made elsewhere and copied costs more.
        node.packet = *packet;
        node.arrived = now;
        node.came = packet.ecn;
        node.index = self.occupied.len() as u32;
        append!(self.nodes, self.order, order, place);
        if self.choosable {
            self.occupied.push(place);
            append!(self.nodes, self.classes[packet.class as usize], class, place);
            if let Some(above) = above_base(packet.layer) {
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

    /// Another place.
    #[cold]
    #[inline(never)]
    fn add_node(&mut self, packet: &Packet) -> u32 {
        let unlinked = ListLinks::NONE;
        let (packet, came) = (*packet, packet.ecn);
        let arrived = Instant::ZERO;
        self.nodes.push(Node { packet, arrived, order: unlinked, class: unlinked, layer: unlinked, index: 0, came });
        (self.nodes.len() - 1) as u32
    }

    /// Marks a packet that waits, if its transport understands marks. Answers whether it bears a mark now.
    pub fn mark(&mut self, place: Place) -> bool {
        self.waiting(place).is_some() && self.nodes[place.0 as usize].packet.mark()
    }

    /// Takes a packet out, wherever it waits; `None` if nothing waits there any more.
    pub fn remove(&mut self, place: Place) -> Option<Packet> {
        let index = self.waiting(place)?.index;
        self.take(place.0, index);
        Some(self.nodes[place.0 as usize].packet)
    }

    /// Takes the packet at a place out of all lists; `index` is its node's. The node keeps it until another one comes.
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
            if let Some(above) = above_base(layer) {
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

    /// Takes a packet to be sent, and says since when it has waited; `None` if nothing waits there any more.
    #[inline]
    pub fn serve(&mut self, place: Place) -> Option<(Packet, Instant)> {
        let &Node { arrived, index, came, .. } = self.waiting(place)?;
        (self.served, self.served_came) = (arrived, came);
        self.take(place.0, index);
        Some((self.nodes[place.0 as usize].packet, arrived))
    }

    /// A packet has come and is sent at once, without having waited here.
    #[inline]
    pub(super) fn has_passed(&mut self, now: Instant, packet: &Packet) {
        (self.served, self.served_came) = (now, packet.ecn);
    }

    /// Takes the packet that has waited longest, to be sent, and says since when.
    pub fn pop_front(&mut self) -> Option<(Packet, Instant)> {
        self.serve(self.front()?)
    }

    /// When the packet came that was taken last to be sent.
    pub(super) fn last_served(&self) -> Instant {
        self.served
    }

    /// The codepoint with which the packet came that was taken last to be sent.
    pub(super) fn last_came(&self) -> Ecn {
        self.served_came
    }

    /// The packet that has waited longest.
    pub fn front(&self) -> Option<Place> {
        at(self.order.front)
    }

    /// The packet that came last.
    pub fn back(&self) -> Option<Place> {
        at(self.order.back)
    }

    /// The packet of a class that has waited longest.
    pub fn front_of(&self, class: Class) -> Option<Place> {
        at(self.classes[class as usize].front)
    }

    /// The packet of the highest video layer that came last; of layer 0 is everything that is not an enhancement.
    pub fn back_of_highest_layer(&self) -> Option<Place> {
        self.layers.iter().rev().find_map(|ends| at(ends.back)).or_else(|| self.back())
    }

    /// The `index`-th of the packets in no particular order, `index` < packets: with a uniform index, a uniform choice.
    pub fn any(&self, index: u64) -> Option<Place> {
        self.occupied.get(index as usize).map(|&place| Place(place))
    }

    /// The packet that came just before this one.
    pub fn before(&self, place: Place) -> Option<Place> {
        at(self.waiting(place)?.order.previous)
    }

    /// The packet at a place; `None` if nothing waits there any more.
    pub fn packet(&self, place: Place) -> Option<&Packet> {
        self.waiting(place).map(|node| &node.packet)
    }

    /// Since when the packet at a place has waited; `None` if nothing waits there any more.
    pub fn since(&self, place: Place) -> Option<Instant> {
        self.waiting(place).map(|node| node.arrived)
    }

    /// Since when the packet at a place has waited, and its bytes on the wire; `None` if nothing waits there any more.
    #[inline]
    pub(super) fn waits_at(&self, place: Place) -> Option<(Instant, u64)> {
        self.waiting(place).map(|node| (node.arrived, u64::from(node.packet.wire)))
    }

    /// What waits of one flow; nothing in a buffer without lists per flow ([`super::Nature::by_flow`]).
    pub fn of_flow(&self, flow: FlowId) -> Tally {
        self.by_flows().map_or(Tally::default(), |flows| flows.tally(flow))
    }

    /// Flows of which packets wait; none in a buffer without lists per flow.
    pub fn flows(&self) -> u32 {
        self.by_flows().map_or(0, |flows| flows.count())
    }

    /// The packet of a flow that has waited longest.
    pub fn front_of_flow(&self, flow: FlowId) -> Option<Place> {
        self.by_flows().and_then(|flows| at(flows.ends(flow).front))
    }

    /// The packet of a flow that came last.
    pub fn back_of_flow(&self, flow: FlowId) -> Option<Place> {
        self.by_flows().and_then(|flows| at(flows.ends(flow).back))
    }

    /// The flow after `flow` in the round of flows with waiting packets. The round has the order in which flows began
    /// to wait; the first follows the last. With `None`, or a flow of which nothing waits, the first.
    pub fn flow_after(&self, flow: Option<FlowId>) -> Option<FlowId> {
        self.by_flows().and_then(|flows| flows.after(flow))
    }

    /// What waits in a list by number; nothing in a buffer without such lists ([`super::Discipline::bins`]).
    #[inline]
    pub fn of_bin(&self, bin: u32) -> Tally {
        self.by_bins().map_or(Tally::default(), |bins| bins.tally(bin))
    }

    /// The packet of a list by number that has waited longest.
    #[inline]
    pub fn front_of_bin(&self, bin: u32) -> Option<Place> {
        self.by_bins().and_then(|bins| at(bins.ends(bin).front))
    }

    /// The packet of a list by number that came last.
    #[inline]
    pub fn back_of_bin(&self, bin: u32) -> Option<Place> {
        self.by_bins().and_then(|bins| at(bins.ends(bin).back))
    }

    /// The packet that came into the same list by number just before this one.
    #[inline]
    pub fn before_in_bin(&self, place: Place) -> Option<Place> {
        self.waiting(place)?;
        self.by_bins().and_then(|bins| at(bins.before(place.0)))
    }

    /// The list by number that holds most bytes, the first of several; none while nothing waits. Once asked for, it is kept up to date
    /// with whatever comes and goes.
    pub fn fattest_bin(&mut self) -> Option<u32> {
        match &mut self.lists {
            Lists::Bins(bins) => bins.fattest(),
            _ => None,
        }
    }

    fn by_flows(&self) -> Option<&Flows> {
        match &self.lists {
            Lists::Flows(flows) => Some(flows),
            _ => None,
        }
    }

    fn by_bins(&self) -> Option<&Bins> {
        match &self.lists {
            Lists::Bins(bins) => Some(bins),
            _ => None,
        }
    }

    /// The node at a place where a packet waits.
    #[inline]
    fn waiting(&self, place: Place) -> Option<&Node> {
        self.nodes.get(place.0 as usize).filter(|node| node.index != NIL)
    }
}

/// Which list of an enhancement layer a packet belongs to; none for the base layer and for what has no layers.
fn above_base(layer: u8) -> Option<usize> {
    usize::from(layer).min(LayerRates::MOST - 1).checked_sub(1)
}

fn at(place: u32) -> Option<Place> {
    (place != NIL).then_some(Place(place))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::packet;
    use super::*;
    use fairwave_units::units::Span;

    /// The slow twin: a vector in order of arrival, everything by search and recount.
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
        fn every_counter_equals_a_recount_and_every_removal_takes_the_right_packet(
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
                        let place = fast.any(draw % u64::from(fast.total().packets.max(1)));
                        let got = place.and_then(|place| fast.remove(place));
                        // The order of the choice is the buffer's own; the twin follows it.
                        let found = got.and_then(|packet| slow.0.iter().position(|p| *p == packet));
                        (got, found.map(|i| slow.0.remove(i)))
                    }
                };
                prop_assert_eq!(got, expected);
                prop_assert_eq!(fast.total(), slow.recount(|_| true));
                for class in Class::ALL {
                    prop_assert_eq!(fast.of(class), slow.recount(|p| p.class == class));
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
        assert_eq!((buffer.since(front), buffer.since(back)), (at(3), at(7)));
        let _ = buffer.remove(front);
        assert_eq!((buffer.since(front), buffer.since(back)), (None, at(7)));
    }

    #[test]
    fn every_waiting_packet_can_be_chosen_exactly_once_by_index() {
        let mut buffer = Buffer::with_capacity(0);
        for serial in 0..10 {
            buffer.push(Instant::ZERO, packet(serial, 100, Class::Tcp));
        }
        for _ in 0..3 {
            let _ = buffer.pop_front();
        }
        let mut flows: Vec<_> = (0..7)
            .filter_map(|i| buffer.any(i))
            .filter_map(|place| buffer.packet(place))
            .map(|packet| packet.flow.0)
            .collect();
        flows.sort_unstable();
        assert_eq!(flows, (3..10).collect::<Vec<_>>());
        assert_eq!(buffer.any(7), None);
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
