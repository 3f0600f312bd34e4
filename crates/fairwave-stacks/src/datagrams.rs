//! Bytes of packets in the network. A simulated packet has 64 bytes and is copied often, so it carries an index
//! instead.
//!
//! **Assumptions.** A datagram counts as lost after more than [`OVERTAKEN`] later datagrams of its direction have
//! arrived. If more than [`MOST`] are in the network, the oldest count as lost.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use fairwave_core::packet::Body;
use fairwave_core::units::Instant;

/// Number of datagrams kept behind the latest arrival, for late and duplicate arrivals.
pub const OVERTAKEN: usize = 1024;

/// Largest number of datagrams kept.
pub const MOST: usize = 1 << 16;

/// Datagrams of one direction of a flow; both ends share them.
#[derive(Clone, Debug, Default)]
pub struct Datagrams(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    /// Index of the oldest datagram.
    first: u32,
    bytes: VecDeque<Box<[u8]>>,
}

impl Kept {
    fn forget(&mut self, count: usize) {
        let count = count.min(self.bytes.len());
        self.bytes.drain(..count);
        self.first = self.first.wrapping_add(count as u32);
    }
}

impl Datagrams {
    /// Stores a datagram. Returns the body of the packet that carries it.
    pub fn put(&self, bytes: Vec<u8>, now: Instant) -> Body {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = kept.first.wrapping_add(kept.bytes.len() as u32);
        kept.bytes.push_back(bytes.into_boxed_slice());
        let surplus = kept.bytes.len().saturating_sub(MOST);
        kept.forget(surplus);
        let mut header = [0; 32];
        header.iter_mut().zip(number.to_be_bytes()).for_each(|(place, byte)| *place = byte);
        Body::Opaque { header, sequence: number, created: now }
    }

    /// Returns the datagram of a packet; a copy of the packet returns it again. Returns `None` if the datagram is too
    /// old or the body is of another kind.
    pub fn get(&self, body: &Body) -> Option<Box<[u8]>> {
        let Body::Opaque { header: [a, b, c, d, ..], .. } = *body else { return None };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = u32::from_be_bytes([a, b, c, d]).wrapping_sub(kept.first) as usize;
        let bytes = kept.bytes.get(place).cloned()?;
        kept.forget(place.saturating_sub(OVERTAKEN));
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_there_for_each_copy_until_many_later_ones_have_arrived() {
        let sent = Datagrams::default();
        let received = sent.clone();
        let bodies: Vec<_> = (0..OVERTAKEN + 3).map(|n| sent.put(vec![n as u8; 3], Instant::ZERO)).collect();
        let get = |place: usize| received.get(&bodies[place]);
        assert_eq!(get(1).as_deref(), Some(&[1; 3][..]));
        assert_eq!(get(1).as_deref(), Some(&[1; 3][..]), "a copy");
        assert_eq!(get(0).as_deref(), Some(&[0; 3][..]), "overtaken by one");
        assert!(get(OVERTAKEN + 2).is_some());
        assert_eq!(get(1), None, "overtaken by too many");
        assert!(get(2).is_some());
        let ping = Body::Forward { next: 0, sent: Instant::ZERO };
        assert_eq!(received.get(&ping), None);
    }

    #[test]
    fn no_more_than_the_most_are_kept_when_all_are_lost() {
        let datagrams = Datagrams::default();
        let first = datagrams.put(vec![1], Instant::ZERO);
        for _ in 0..MOST {
            datagrams.put(vec![2], Instant::ZERO);
        }
        assert_eq!(datagrams.get(&first), None);
        assert_eq!(datagrams.0.lock().expect("unpoisoned").bytes.len(), MOST);
    }
}
