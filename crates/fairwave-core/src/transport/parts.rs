//! Units cut into parts that fit a packet, and put together again: what rate-controlled transports share.
//!
//! A unit is cut into parts of at most the segment's size, all full but the last. The sending queue is unbounded, like
//! TCP's send buffer: what an application makes faster than the network takes waits, and what still waits at the end of
//! the run was sent by the application and not received.
//!
//! **Assumptions.** A unit has at most 65 535 parts; what lies beyond is not sent. Up to 64 units of several parts may be
//! on their way at once; a part that arrives later than that opens its unit anew, which is then never complete.

use std::collections::VecDeque;

use crate::traffic::{FrameType, Unit};
use crate::units::Instant;

/// One packet's share of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Number of the unit.
    pub unit: u32,
    /// Place among the unit's parts, from 0.
    pub part: u16,
    /// How many parts the unit has.
    pub parts: u16,
    /// Payload bytes.
    pub payload: u16,
    /// When the application made the unit.
    pub created: Instant,
    /// Video layer (0 = base).
    pub layer: u8,
    /// What kind of video frame it is a part of.
    pub frame_type: FrameType,
}

/// Units that wait to be sent, in order, handed out part by part.
#[derive(Clone, Debug)]
pub struct SendQueue {
    units: VecDeque<Unit>,
    segment: u16,
    part: u16,
    bytes: u64,
}

impl SendQueue {
    /// An empty queue whose parts have at most `segment` bytes (at least 1).
    pub fn new(segment: u16) -> Self {
        SendQueue { units: VecDeque::with_capacity(16), segment: segment.max(1), part: 0, bytes: 0 }
    }

    /// Adds a unit at the end.
    pub fn push(&mut self, unit: Unit) {
        self.bytes += u64::from(unit.payload);
        self.units.push_back(unit);
    }

    /// Payload bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// True when nothing waits.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Forgets all that waits.
    pub fn clear(&mut self) {
        self.units.clear();
        self.part = 0;
        self.bytes = 0;
    }

    /// Takes the next part.
    pub fn pop(&mut self) -> Option<Part> {
        let unit = *self.units.front()?;
        let segment = u32::from(self.segment);
        let parts = u16::try_from(unit.payload.div_ceil(segment).max(1)).unwrap_or(u16::MAX);
        let part = self.part;
        let payload = (unit.payload - (u32::from(part) * segment).min(unit.payload)).min(segment) as u16;
        self.part = part.saturating_add(1);
        self.bytes = self.bytes.saturating_sub(u64::from(payload));
        if self.part >= parts {
            self.units.pop_front();
            self.part = 0;
            if self.units.is_empty() {
                self.bytes = 0;
            }
        }
        let Unit { id, created, layer, frame_type, .. } = unit;
        Some(Part { unit: id, part, parts, payload, created, layer, frame_type })
    }
}

const OPEN_UNITS: usize = 64;

/// Knows of each unit under way how many of its parts have arrived.
#[derive(Clone, Debug)]
pub struct Assembly {
    open: [(u32, u16, u16); OPEN_UNITS],
}

impl Default for Assembly {
    fn default() -> Self {
        Assembly { open: [(0, 0, 0); OPEN_UNITS] }
    }
}

impl Assembly {
    /// Counts one more part of `unit` (the caller leaves out duplicates); true when it was the last one missing.
    pub fn completes(&mut self, unit: u32, parts: u16) -> bool {
        if parts <= 1 {
            return true;
        }
        let place = &mut self.open[unit as usize % OPEN_UNITS];
        if place.0 != unit || place.2 != parts {
            *place = (unit, 0, parts);
        }
        place.1 = place.1.saturating_add(1);
        if place.1 < parts {
            return false;
        }
        *place = (0, 0, 0);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit(id: u32, payload: u32) -> Unit {
        Unit { id, payload, created: Instant::ZERO, layer: 0, frame_type: FrameType::None }
    }

    #[test]
    fn all_parts_are_full_but_the_last() {
        let mut queue = SendQueue::new(1000);
        queue.push(unit(0, 2500));
        let sizes: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|p| (p.part, p.parts, p.payload)).collect();
        assert_eq!(sizes, [(0, 3, 1000), (1, 3, 1000), (2, 3, 500)]);
    }

    proptest! {
        #[test]
        fn every_unit_is_complete_once_and_no_byte_is_lost(sizes in prop::collection::vec(0u32..9000, 1..30)) {
            let (mut queue, mut assembly) = (SendQueue::new(1000), Assembly::default());
            sizes.iter().enumerate().for_each(|(id, &size)| queue.push(unit(id as u32, size)));
            let (mut bytes, mut complete) = (0, Vec::new());
            while let Some(part) = queue.pop() {
                bytes += u32::from(part.payload);
                if assembly.completes(part.unit, part.parts) {
                    complete.push(part.unit);
                }
            }
            prop_assert_eq!(bytes, sizes.iter().sum::<u32>());
            prop_assert_eq!(complete, (0..sizes.len() as u32).collect::<Vec<_>>());
        }
    }
}
