//! Bytes of packets in the network. Simulated packets carry an index into this store instead of bytes.

use fairwave_core::packet::{Body, Packet};
use fairwave_core::units::Instant;

/// Bytes of a packet, and its decoded form.
#[derive(Clone, Debug)]
pub struct StoredPacket {
    /// The IP packet.
    pub bytes: Vec<u8>,
    /// The packet as its endpoint sent it; `None` for traffic of programs and of the kernel.
    pub packet: Option<Packet>,
    /// Number of copies in the network.
    copies: u32,
}

/// Packets in the network.
#[derive(Clone, Debug, Default)]
pub struct Store {
    slots: Vec<StoredPacket>,
    vacant: Vec<u32>,
    /// Number of packets in the network, copies included.
    pub held: u64,
}

/// Returns the body that carries index `number`. Links and queues do not read the body.
pub fn ticket(number: u32) -> Body {
    let sent = Instant::ZERO;
    Body::Segment {
        payload: 0,
        sequence: number,
        unit: 0,
        wave: 0,
        wave_size: 0,
        retransmission: false,
        window_reduced: false,
        last: false,
        sent,
        created: sent,
    }
}

/// Returns the index that a packet carries.
fn number(packet: &Packet) -> Option<usize> {
    match packet.body {
        Body::Segment { sequence, .. } => Some(sequence as usize),
        _ => None,
    }
}

impl Store {
    /// Stores a packet and returns its index.
    pub fn keep(&mut self, bytes: &[u8], packet: Option<Packet>) -> u32 {
        self.held += 1;
        let vacant = self.vacant.pop();
        match vacant.and_then(|slot| Some((slot, self.slots.get_mut(slot as usize)?))) {
            Some((slot, stored)) => {
                stored.bytes.clear();
                stored.bytes.extend_from_slice(bytes);
                (stored.packet, stored.copies) = (packet, 1);
                slot
            }
            None => {
                self.slots.push(StoredPacket { bytes: bytes.to_vec(), packet, copies: 1 });
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// Returns the stored packet for a packet in the network.
    pub fn get_mut(&mut self, packet: &Packet) -> Option<&mut StoredPacket> {
        self.slots.get_mut(number(packet)?)
    }

    /// Records that a link has copied a packet.
    pub fn copied(&mut self, packet: &Packet) {
        if let Some(stored) = self.get_mut(packet) {
            stored.copies += 1;
            self.held += 1;
        }
    }

    /// Records that a packet has left the network.
    pub fn release(&mut self, packet: &Packet) {
        let Some(slot) = number(packet) else { return };
        let Some(stored) = self.slots.get_mut(slot).filter(|stored| stored.copies > 0) else { return };
        stored.copies -= 1;
        self.held -= 1;
        if stored.copies == 0 {
            self.vacant.push(slot as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use fairwave_core::packet::{Class, Ecn, FlowId};

    use super::*;

    #[test]
    fn a_place_is_given_again_when_the_last_copy_has_left() {
        let mut store = Store::default();
        let packet = |number| Packet {
            flow: FlowId(0),
            wire: 3,
            class: Class::Tcp,
            dscp: Default::default(),
            feedback: false,
            ecn: Ecn::NotEct,
            layer: 0,
            body: ticket(number),
        };
        let first = store.keep(b"one", None);
        store.copied(&packet(first));
        store.release(&packet(first));
        let second = store.keep(b"two", None);
        assert_ne!(first, second);
        assert_eq!(store.get_mut(&packet(first)).expect("there").bytes, b"one");
        store.release(&packet(first));
        store.release(&packet(first));
        assert_eq!(store.keep(b"three", None), first);
        assert_eq!(store.held, 2);
    }
}
