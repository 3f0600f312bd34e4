//! Segmentation and reassembly of units for rate-controlled transports.
//!
//! A unit is cut into parts of at most the segment size; all but the last are full. The send queue is unbounded,
//! like TCP's send buffer: data that exceeds the allowed rate waits. Data that waits at the end of the run counts
//! as sent by the application and not received. [`SendQueue::backlog`] reports the waiting data and the longest
//! wait.
//!
//! **Assumptions.** A unit has at most 65 535 parts; the rest of a larger unit is not sent. Up to 64 units of
//! several parts may be in flight at once. A part that arrives later opens its unit again, and that unit is never
//! complete.

use std::collections::VecDeque;

use super::Backlog;
use fairwave_media::traffic::{FrameType, Unit};
use fairwave_units::units::{Bytes, Instant, Span};

/// One packet's part of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Number of the unit.
    pub unit: u32,
    /// Index among the unit's parts, from 0.
    pub part: u16,
    /// Number of the unit's parts.
    pub parts: u16,
    /// Payload bytes.
    pub payload: u16,
    /// When the application made the unit.
    pub created: Instant,
    /// Video layer (0 = base).
    pub layer: u8,
    /// Type of the video frame that the part belongs to.
    pub frame_type: FrameType,
}

/// Queue of units that wait to be sent. It returns them in order, part by part.
#[derive(Clone, Debug)]
pub struct SendQueue {
    units: VecDeque<Unit>,
    segment: u16,
    part: u16,
    bytes: u64,
    longest: Span,
}

impl SendQueue {
    /// Creates an empty queue. Its parts have at most `segment` bytes (at least 1).
    pub fn new(segment: u16) -> Self {
        SendQueue {
            units: VecDeque::with_capacity(16),
            segment: segment.max(1),
            part: 0,
            bytes: 0,
            longest: Span::ZERO,
        }
    }

    /// Adds a unit at the end.
    pub fn push(&mut self, unit: Unit) {
        self.bytes += u64::from(unit.payload);
        self.units.push_back(unit);
    }

    /// Waiting payload, bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The current backlog, and the longest wait so far.
    pub fn backlog(&self) -> Backlog {
        Backlog {
            units: self.units.len() as u64,
            payload: Bytes::new(self.bytes),
            since: self.units.front().map(|unit| unit.created),
            longest: self.longest,
        }
    }

    /// True if no unit waits.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Discards all waiting units.
    pub fn clear(&mut self) {
        self.units.clear();
        self.part = 0;
        self.bytes = 0;
    }

    /// Removes and returns the next part, to be sent at `now`.
    pub fn pop(&mut self, now: Instant) -> Option<Part> {
        let unit = *self.units.front()?;
        let segment = u32::from(self.segment);
        let parts = u16::try_from(unit.payload.div_ceil(segment).max(1)).unwrap_or(u16::MAX);
        let part = self.part;
        let payload = (unit.payload - (u32::from(part) * segment).min(unit.payload)).min(segment) as u16;
        self.part = part.saturating_add(1);
        self.bytes = self.bytes.saturating_sub(u64::from(payload));
        if self.part >= parts {
            self.longest = self.longest.max(now - unit.created);
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

/// Counts the arrived parts of each unit in flight.
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
    /// Counts a part of `unit`. The caller filters out duplicates. Returns true for the last missing part.
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
    fn parts_are_full_except_the_last() {
        let mut queue = SendQueue::new(1000);
        queue.push(unit(0, 2500));
        let sizes: Vec<_> =
            std::iter::from_fn(|| queue.pop(Instant::ZERO)).map(|p| (p.part, p.parts, p.payload)).collect();
        assert_eq!(sizes, [(0, 3, 1000), (1, 3, 1000), (2, 3, 500)]);
    }

    #[test]
    fn the_backlog_is_what_waits_and_the_longest_wait_ends_with_a_units_last_part() {
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        let mut queue = SendQueue::new(1000);
        queue.push(Unit { created: at(10), ..unit(0, 1500) });
        queue.push(Unit { created: at(20), ..unit(1, 300) });
        assert_eq!((queue.bytes(), queue.is_empty()), (1800, false));
        queue.pop(at(40));
        let backlog = queue.backlog();
        assert_eq!((backlog.units, backlog.payload.get(), backlog.since), (2, 800, Some(at(10))));
        assert_eq!((backlog.longest, backlog.longest_by(at(45))), (Span::ZERO, Span::from_millis(35)));
        queue.pop(at(50));
        let backlog = queue.backlog();
        assert_eq!((backlog.units, backlog.payload.get(), backlog.since), (1, 300, Some(at(20))));
        assert_eq!((backlog.longest, backlog.longest_by(at(55))), (Span::from_millis(40), Span::from_millis(40)));
        queue.pop(at(70));
        let backlog = queue.backlog();
        assert_eq!((backlog.units, backlog.payload.get(), backlog.since), (0, 0, None));
        assert_eq!((backlog.longest, queue.is_empty()), (Span::from_millis(50), true));
    }

    #[test]
    fn cleared_units_no_longer_wait_and_the_next_unit_begins_with_its_first_part() {
        let mut queue = SendQueue::new(1000);
        queue.push(unit(0, 2500));
        queue.pop(Instant::ZERO);
        queue.clear();
        assert_eq!((queue.bytes(), queue.is_empty(), queue.pop(Instant::ZERO)), (0, true, None));
        queue.push(unit(1, 2500));
        assert_eq!(queue.pop(Instant::ZERO).map(|part| (part.unit, part.part, part.parts)), Some((1, 0, 3)));
    }

    #[test]
    fn an_empty_unit_is_one_part_and_65_535_parts_are_the_most() {
        let mut queue = SendQueue::new(1);
        queue.push(unit(0, 0));
        assert_eq!(queue.pop(Instant::ZERO).map(|part| (part.parts, part.payload)), Some((1, 0)));
        queue.push(unit(1, 70_000));
        let parts = std::iter::from_fn(|| queue.pop(Instant::ZERO)).count();
        assert_eq!((parts, queue.bytes()), (65_535, 0));
    }

    #[test]
    fn a_unit_of_another_length_or_number_in_the_same_place_begins_anew() {
        let mut assembly = Assembly::default();
        assert!(!assembly.completes(3, 2) && !assembly.completes(3 + OPEN_UNITS as u32, 2));
        assert!(!assembly.completes(3, 2), "its first part was forgotten");
        assert!(assembly.completes(3, 2));
        assert!(!assembly.completes(5, 3) && !assembly.completes(5, 2) && assembly.completes(5, 2));
    }

    proptest! {
        #[test]
        fn units_are_complete_once_and_no_byte_is_lost(sizes in prop::collection::vec(0u32..9000, 1..30)) {
            let (mut queue, mut assembly) = (SendQueue::new(1000), Assembly::default());
            sizes.iter().enumerate().for_each(|(id, &size)| queue.push(unit(id as u32, size)));
            let (mut bytes, mut complete) = (0, Vec::new());
            while let Some(part) = queue.pop(Instant::ZERO) {
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
