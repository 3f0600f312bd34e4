//! Where the parts of a run are: all in one place, or on islands, each of which holds some links and ends of flows.
//!
//! A run is compiled once for the whole, where an index of the plan is the place, and once for islands, where a table tells
//! the place and the island. Code that handles events knows indices of the plan only.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use fairwave_core::packet::Packet;
use fairwave_core::traffic::Unit;
use fairwave_core::units::Instant;

use crate::entry::{Entry, Transit};
use crate::error::RunError;
use crate::event::Event;
use crate::partition::Partition;
use crate::unit_log::Pending;

/// From an index of the plan to a place.
pub(crate) trait Map {
    /// The item's place. Out of bounds if the item is on another island or does not exist.
    fn place(&self, index: usize) -> usize;
}

/// The place is the index.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdentityMap;

impl Map for IdentityMap {
    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        index
    }
}

/// On which island an item is, and at which place there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IslandSlot(u32);

/// Bits of a place.
const PLACE: u32 = 24;

/// The most items of one kind on an island.
pub(crate) const MOST_ITEMS: usize = 1 << PLACE;

/// The most islands.
pub(crate) const MOST_ISLANDS: usize = 1 << (32 - PLACE);

impl IslandSlot {
    /// Both must be below their limits.
    pub fn new(island: usize, place: usize) -> Self {
        IslandSlot(((island as u32) << PLACE) | place as u32)
    }

    /// The island.
    #[inline(always)]
    pub fn island(self) -> usize {
        (self.0 >> PLACE) as usize
    }
}

/// Of each item, its slot; and which island asks.
#[derive(Clone, Debug)]
pub(crate) struct IslandMap {
    /// The slot of the first item here. An item elsewhere differs from it in the island's bits.
    first: IslandSlot,
    slots: Arc<[IslandSlot]>,
}

impl IslandMap {
    /// As `island` sees it.
    pub fn new(island: usize, slots: &Arc<[IslandSlot]>) -> Self {
        IslandMap { first: IslandSlot::new(island, 0), slots: Arc::clone(slots) }
    }

    #[inline(always)]
    fn island_of(&self, index: usize) -> Option<usize> {
        self.slots.get(index).map(|slot| slot.island())
    }
}

impl Map for IslandMap {
    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        // For an item elsewhere at least `MOST_ITEMS`, so out of bounds.
        self.slots.get(index).map_or(usize::MAX, |slot| (slot.0 ^ self.first.0) as usize)
    }
}

/// Items by index of the plan.
pub(crate) struct PlacedItems<T, M> {
    /// Those that are here, by place.
    pub items: Vec<T>,
    map: M,
}

impl<T, M: Map> PlacedItems<T, M> {
    /// These, by place.
    pub fn new(items: Vec<T>, map: M) -> Self {
        PlacedItems { items, map }
    }

    /// The item, if it is here.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.items.get(self.map.place(index))
    }

    /// The item, if it is here.
    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.items.get_mut(self.map.place(index))
    }
}

/// What is not here has no place, so the index is out of bounds: an event has been handled on a wrong island.
impl<T, M: Map> Index<usize> for PlacedItems<T, M> {
    type Output = T;
    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        &self.items[self.map.place(index)]
    }
}

impl<T, M: Map> IndexMut<usize> for PlacedItems<T, M> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.items[self.map.place(index)]
    }
}

/// What an island tells another. It arrives before the other begins its next window.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IslandMessage {
    /// A link removed a packet of a flow, by congestion or at random: the receiver's end counts it.
    Removed { flow: usize, packet: Packet, congestion: bool, link: usize, at: Instant },
    /// A link has a packet of a flow when the run ends: the receiver's end logs it.
    Pending { flow: usize, packet: Packet, pending: Pending, link: usize },
    /// The application of a flow has made a unit: it is logged at the receiver's end.
    Created { flow: usize, unit: Unit },
    /// The unit that it made last was not sent.
    Skipped { flow: usize },
}

/// What an island has for another.
#[derive(Debug)]
pub(crate) struct Mail {
    /// Packets that arrive there.
    pub arrivals: Vec<Entry>,
    /// When the first of them does.
    pub first: Instant,
    /// All else, in the order in which it happened.
    pub messages: Vec<IslandMessage>,
}

impl Default for Mail {
    fn default() -> Self {
        Mail { arrivals: Vec::new(), first: Instant::NEVER, messages: Vec::new() }
    }
}

impl Mail {
    /// There is nothing.
    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty() && self.messages.is_empty()
    }
}

/// Whether all of a run is here.
pub(crate) trait Extent {
    /// How places are found.
    type Map: Map;
    /// A packet that arrives at a link or an end elsewhere is kept for there; answers whether it was one.
    fn divert(&mut self, event: Event, packet: &Packet, next: u32, place: u32) -> bool;
    /// Keeps news for the receiver's end of a flow.
    fn send_message(&mut self, flow: usize, message: IslandMessage);
    /// Where a flow's routes begin, forward and backward; none in the whole, where the ends know it.
    fn routes(&self, flow: usize) -> Option<[u32; 2]>;
}

/// All of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WholeRun;

impl Extent for WholeRun {
    type Map = IdentityMap;

    #[inline(always)]
    fn divert(&mut self, _: Event, _: &Packet, _: u32, _: u32) -> bool {
        false
    }

    fn send_message(&mut self, _: usize, _: IslandMessage) {}

    #[inline(always)]
    fn routes(&self, _: usize) -> Option<[u32; 2]> {
        None
    }
}

/// An island of a run.
pub(crate) struct Island {
    own: u8,
    links: IslandMap,
    sending: IslandMap,
    receiving: IslandMap,
    /// Of each flow, where its routes begin.
    routes: Arc<[[u32; 2]]>,
    /// For each step of the routes, the island that it leads to.
    steps: Arc<[u8]>,
    /// For each island.
    pub outbox: Vec<Mail>,
    /// From each island.
    pub inbox: Vec<Mail>,
    /// When something is due next, here or for another island, after the window that was handled last.
    pub next: Instant,
    /// What that window failed of.
    pub failed: Option<RunError>,
}

impl Island {
    /// The island of that number, which is below [`MOST_ISLANDS`]; nothing waits to be sent yet.
    pub fn new(own: usize, partition: &Partition) -> Self {
        let slots = [&partition.links, &partition.sending, &partition.receiving];
        let [links, sending, receiving] = slots.map(|slots| IslandMap::new(own, slots));
        let empty = || (0..partition.islands).map(|_| Mail::default()).collect();
        Island {
            own: own as u8,
            links,
            sending,
            receiving,
            routes: Arc::clone(&partition.routes),
            steps: Arc::clone(&partition.steps),
            outbox: empty(),
            inbox: empty(),
            next: Instant::ZERO,
            failed: None,
        }
    }

    /// The slots of links, senders and receivers.
    pub fn slots(&self) -> [IslandMap; 3] {
        [self.links.clone(), self.sending.clone(), self.receiving.clone()]
    }
}

impl Extent for Island {
    type Map = IslandMap;

    #[inline(always)]
    fn divert(&mut self, event: Event, packet: &Packet, next: u32, place: u32) -> bool {
        // One branch, not one per kind of target: the processor cannot predict the kind.
        let Some(island) = self.steps.get(place as usize).filter(|island| **island != self.own) else { return false };
        let Some(mail) = self.outbox.get_mut(usize::from(*island)) else { return false };
        mail.first = mail.first.min(event.at);
        mail.arrivals.push(Entry { event, transit: Transit { packet: *packet, next, place } });
        true
    }

    #[cold]
    #[inline(never)]
    fn send_message(&mut self, flow: usize, message: IslandMessage) {
        if let Some(mail) = self.receiving.island_of(flow).and_then(|island| self.outbox.get_mut(island)) {
            mail.messages.push(message);
        }
    }

    #[inline(always)]
    fn routes(&self, flow: usize) -> Option<[u32; 2]> {
        self.routes.get(flow).copied()
    }
}
