//! Places of links and flow ends: in one simulation, or distributed over islands.
//!
//! A run is compiled twice. In the whole run, the index in the plan is the place. On islands, a table maps the index to the
//! island and the place there. Code that handles events uses indices of the plan only.

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

/// Map from an index of the plan to a place.
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

/// Island of an item, and its place there.
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

/// Slot of each item, as one island sees it.
#[derive(Clone, Debug)]
pub(crate) struct IslandMap {
    /// Slot of the first item here. An item on another island differs from it in the island's bits.
    first: IslandSlot,
    slots: Arc<[IslandSlot]>,
}

impl IslandMap {
    /// Creates the map of `island`.
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
        // At least `MOST_ITEMS` for an item on another island, so out of bounds.
        self.slots.get(index).map_or(usize::MAX, |slot| (slot.0 ^ self.first.0) as usize)
    }
}

/// Items by index of the plan.
pub(crate) struct PlacedItems<T, M> {
    /// The items that are here, by place.
    pub items: Vec<T>,
    map: M,
}

impl<T, M: Map> PlacedItems<T, M> {
    /// Wraps items that are in the order of their places.
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

/// Panics for an item on another island, because an event was handled on a wrong island.
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

/// Message from one island to another. It arrives before the other island begins its next window.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IslandMessage {
    /// A link removed a packet, by congestion or at random. The receiving end counts it.
    Removed { flow: usize, packet: Packet, congestion: bool, link: usize, at: Instant },
    /// A link holds a packet at the end of the run. The receiving end logs it.
    Pending { flow: usize, packet: Packet, pending: Pending, link: usize },
    /// The application of a flow has created a unit. The receiving end logs it.
    Created { flow: usize, unit: Unit },
    /// The sender skipped the latest unit.
    Skipped { flow: usize },
}

/// Packets and messages from one island to another.
#[derive(Debug)]
pub(crate) struct Mail {
    /// Packets that arrive at the other island.
    pub arrivals: Vec<Entry>,
    /// Earliest of these arrivals.
    pub first: Instant,
    /// Messages in the order of their events.
    pub messages: Vec<IslandMessage>,
}

impl Default for Mail {
    fn default() -> Self {
        Mail { arrivals: Vec::new(), first: Instant::NEVER, messages: Vec::new() }
    }
}

impl Mail {
    /// Whether there is neither a packet nor a message.
    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty() && self.messages.is_empty()
    }
}

/// Extent of a simulation: the whole run or an island.
pub(crate) trait Extent {
    /// Map from indices to places.
    type Map: Map;
    /// Keeps a packet whose next element is on another island. Returns whether it is.
    fn divert(&mut self, event: Event, packet: &Packet, next: u32, place: u32) -> bool;
    /// Keeps a message for the receiving end of a flow.
    fn send_message(&mut self, flow: usize, message: IslandMessage);
    /// Returns the starts of a flow's routes, forward and backward. `None` in a whole run, because its ends have them.
    fn routes(&self, flow: usize) -> Option<[u32; 2]>;
}

/// The whole run.
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
    /// Per flow: the starts of its routes.
    routes: Arc<[[u32; 2]]>,
    /// Per step of the routes: the island that it leads to.
    steps: Arc<[u8]>,
    /// Mail for each island.
    pub outbox: Vec<Mail>,
    /// Mail from each island.
    pub inbox: Vec<Mail>,
    /// Time of the next event after the latest window, here or in the outbox.
    pub next: Instant,
    /// Error of the latest window.
    pub failed: Option<RunError>,
}

impl Island {
    /// Creates island number `own`, which is below [`MOST_ISLANDS`].
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

    /// Returns the maps of links, senders and receivers.
    pub fn maps(&self) -> [IslandMap; 3] {
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
