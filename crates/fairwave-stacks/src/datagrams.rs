//! The bytes of packets that are in the network. A packet has 64 bytes and is copied, so it carries a number.
//!
//! **Assumptions.** A datagram that more than [`OVERTAKEN`] later ones of its direction have overtaken is lost. So are the oldest of more
//! than [`MOST`] under way.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use fairwave_core::packet::Body;
use fairwave_core::units::Instant;

/// Datagrams that are kept behind the latest that arrived, for those that come late or twice.
pub const OVERTAKEN: usize = 1024;

/// Datagrams that are kept in all.
pub const MOST: usize = 1 << 16;

/// Datagrams of one direction of a flow. Both ends have a handle to the same.
#[derive(Clone, Debug, Default)]
pub struct Datagrams(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    /// The number of the oldest.
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
    /// Keeps a datagram. Answers with the body of the packet that carries it.
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

    /// The datagram of a packet, as often as copies of it arrive; none for one that is too old, and for another body.
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
