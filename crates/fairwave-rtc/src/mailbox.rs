//! Storage for messages that do not fit a simulated packet, which has 64 bytes and is copied. Feedback is longer. So
//! its packet carries a number, and both ends share the bytes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use fairwave_network::packet::Body;
use fairwave_units::units::Instant;

/// Number of messages kept. Packets of older messages are lost or useless.
const KEPT: usize = 4096;

/// Messages in transit from one end of a flow to the other; both ends share them.
#[derive(Clone, Debug, Default)]
pub struct Mailbox(Arc<Mutex<Messages>>);

#[derive(Debug, Default)]
struct Messages {
    /// Number of the oldest message.
    first: u32,
    kept: VecDeque<Box<[u8]>>,
}

impl Mailbox {
    /// Returns an empty mailbox.
    pub fn new() -> Self {
        Mailbox::default()
    }

    /// Stores a message. Returns the body of the packet that carries it.
    pub fn put(&self, message: &[u8], sequence: u32, now: Instant) -> Body {
        let mut messages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = messages.first.wrapping_add(messages.kept.len() as u32);
        messages.kept.push_back(message.into());
        if messages.kept.len() > KEPT {
            messages.kept.pop_front();
            messages.first = messages.first.wrapping_add(1);
        }
        let mut header = [0; 32];
        if let Some(place) = header.get_mut(..4) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        Body::Opaque { header, sequence, created: now }
    }

    /// Returns the message of a packet; a copy of the packet returns it again. Returns `None` for other bodies, and for
    /// messages that are too old.
    pub fn get(&self, body: &Body) -> Option<Box<[u8]>> {
        let Body::Opaque { header: [a, b, c, d, ..], .. } = *body else { return None };
        let messages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = u32::from_be_bytes([a, b, c, d]).wrapping_sub(messages.first);
        messages.kept.get(place as usize).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_there_for_each_copy_of_its_packet_until_it_is_too_old() {
        let mailbox = Mailbox::new();
        let other_end = mailbox.clone();
        let first = mailbox.put(b"first", 0, Instant::ZERO);
        let second = mailbox.put(b"second", 1, Instant::ZERO);
        assert_eq!(other_end.get(&second).as_deref(), Some(&b"second"[..]));
        assert_eq!(other_end.get(&first).as_deref(), Some(&b"first"[..]));
        assert_eq!(other_end.get(&first).as_deref(), Some(&b"first"[..]), "a duplicate");
        for _ in 1..KEPT {
            mailbox.put(b"later", 2, Instant::ZERO);
        }
        assert_eq!(other_end.get(&first), None);
        assert_eq!(other_end.get(&second).as_deref(), Some(&b"second"[..]));
        assert_eq!(other_end.get(&Body::Opaque { header: [255; 32], sequence: 0, created: Instant::ZERO }), None);
    }
}
