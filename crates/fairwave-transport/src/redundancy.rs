//! Redundant coding of speech (RFC 2198): each datagram carries its unit and copies of earlier units. The next
//! datagram that arrives replaces a lost one, one packet time later. The price is the bytes of the copies.
//!
//! Paper 000 §4.1.3 names forward error correction as a measure of codecs against loss. The receiver's playout
//! decides whether a copy arrives in time. It treats a repaired unit as a late one, and so do E-model and
//! timeliness.
//!
//! **Assumptions.** Copies are the unit itself, not a coarser coding of it. A unit can be repeated if it is at
//! most 2¹⁴ − 1 periods of an 8 kHz clock old and at most 1023 bytes long. These are the limits of the fields of
//! RFC 2198 §3. So the last units of a talkspurt are repeated only after a short silence. A datagram repeats only
//! as many units as `max-payload` has room for. Units that are cut into several datagrams neither repeat nor are
//! repeated. Repeats stay within a layer.

use fairwave_endpoint::serial::ReplayWindow;
use fairwave_endpoint::{Delivery, Output};
use fairwave_media::traffic::Unit;
use fairwave_network::packet::{Body, Packet, Repeat};
use fairwave_units::units::{Instant, Span};

/// The largest number of units that a datagram repeats.
pub(super) const MOST: u8 = 2;

/// Header bytes of a repeated block, and of the datagram's unit (RFC 2198 §3).
const BLOCK_HEADER: u16 = 4;
const OWN_HEADER: u16 = 1;

/// The longest block: its length has 10 bits.
const LONGEST: u32 = (1 << 10) - 1;

/// The oldest block: its offset has 14 bits, of 125 µs each.
const OLDEST: Span = Span::from_micros(125 * ((1 << 14) - 1));

/// The latest units sent, newest first.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// Number of units to repeat.
    wanted: u8,
    past: [Option<Unit>; MOST as usize],
}

impl History {
    /// Creates an empty history. Datagrams will repeat up to `wanted` units.
    pub fn new(wanted: u8) -> Self {
        History { wanted, past: [None; MOST as usize] }
    }

    /// Makes the datagram that carries `unit` and repeats earlier units. Returns it with its size without lower
    /// headers, or `None` if the unit does not fit one datagram.
    pub fn datagram(&mut self, unit: &Unit, sequence: u32, max_payload: u16) -> Option<(Body, u16)> {
        let payload = u16::try_from(unit.payload).ok().filter(|size| *size <= max_payload)?;
        let mut size = payload;
        let mut repeats = [Repeat::default(); MOST as usize];
        let mut places = repeats.iter_mut();
        for past in self.past.iter().take(usize::from(self.wanted)).flatten() {
            let age = unit.created.span_since(past.created);
            let room = u32::from(max_payload - size);
            if past.layer != unit.layer || age > OLDEST || past.payload > LONGEST.min(room) {
                continue;
            }
            let (Ok(back), Ok(age)) = (u16::try_from(unit.id.wrapping_sub(past.id)), u32::try_from(age.nanos())) else {
                continue;
            };
            if let Some(place) = places.next() {
                *place = Repeat { back, payload: past.payload as u16, age };
                size += past.payload as u16;
            }
        }
        self.past.rotate_right(1);
        self.past[0] = Some(*unit);
        let blocks = repeats.iter().filter(|repeat| repeat.back > 0).count() as u16;
        let body = Body::Redundant { payload, sequence, unit: unit.id, created: unit.created, repeats };
        Some((body, size.saturating_add(OWN_HEADER + BLOCK_HEADER * blocks)))
    }
}

/// Tracks the units that a receiver of redundant datagrams has received.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedUnits {
    units: ReplayWindow<16>,
}

impl ReceivedUnits {
    /// Delivers the new units of a datagram: repeated units, oldest first, then the datagram's unit.
    pub fn deliver(&mut self, packet: &Packet, out: &mut Output) {
        let Body::Redundant { payload, unit, created, repeats, .. } = packet.body else { return };
        let old =
            repeats.iter().rev().filter(|repeat| repeat.back > 0 && u32::from(repeat.back) <= unit).map(|repeat| {
                let made = Instant::ZERO + created.span_since(Instant::ZERO + Span::from_nanos(u64::from(repeat.age)));
                (unit - u32::from(repeat.back), repeat.payload, made)
            });
        for (unit, payload, created) in old.chain([(unit, payload, created)]) {
            if self.units.is_new(u64::from(unit)) {
                let (payload, layer) = (u32::from(payload), packet.layer);
                out.deliveries.push(Delivery { unit, payload, created, layer, complete: true });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::udp::{UdpConfig, UdpReceiver, UdpSender};
    use super::*;
    use fairwave_endpoint::{FlowContext, Receiver, Sender};
    use fairwave_media::traffic::FrameType;
    use fairwave_units::units::Bytes;

    fn sender(redundancy: u8, max_payload: u64) -> UdpSender {
        let config = UdpConfig { redundancy, max_payload: Bytes::new(max_payload), ..UdpConfig::default() };
        UdpSender::new(FlowContext::default(), &config).expect("a valid configuration")
    }

    /// Sends units of 20 ms, created at these times (ms).
    fn send(sender: &mut UdpSender, payload: u32, made: &[u64]) -> Vec<Packet> {
        let mut out = Output::default();
        for (id, millis) in made.iter().enumerate() {
            let created = Instant::ZERO + Span::from_millis(*millis);
            let unit = Unit { id: id as u32, payload, created, layer: 0, frame_type: FrameType::None };
            sender.on_unit(created, unit, &mut out);
        }
        out.packets
    }

    fn receive<'a>(packets: impl IntoIterator<Item = &'a Packet>) -> Vec<(u32, u64)> {
        let (mut receiver, mut out) = (UdpReceiver::new(), Output::default());
        packets.into_iter().for_each(|packet| receiver.on_packet(Instant::ZERO, packet, &mut out));
        assert!(out.deliveries.iter().all(|one| one.complete && one.payload == 160));
        out.deliveries.iter().map(|one| (one.unit, one.created.nanos() / 1_000_000)).collect()
    }

    fn wire(packets: &[Packet]) -> Vec<u16> {
        packets.iter().map(|packet| packet.wire).collect()
    }

    #[test]
    fn copies_and_their_headers_are_on_the_wire() {
        // Section 3: 4 bytes per repeated block and 1 for the datagram's unit, after 40 of IP, UDP and RTP.
        assert_eq!(wire(&send(&mut sender(1, 1200), 160, &[0, 20, 40])), [201, 365, 365]);
        assert_eq!(wire(&send(&mut sender(2, 1200), 160, &[0, 20, 40])), [201, 365, 529]);
        assert_eq!(wire(&send(&mut sender(0, 1200), 160, &[0, 20, 40])), [200, 200, 200]);
    }

    #[test]
    fn a_lost_datagram_is_made_up_for_by_the_next_and_nothing_is_delivered_twice() {
        let packets = send(&mut sender(1, 1200), 160, &[0, 20, 40, 60]);
        assert_eq!(receive(&packets), [(0, 0), (1, 20), (2, 40), (3, 60)]);
        assert_eq!(receive([&packets[0], &packets[2], &packets[3]]), [(0, 0), (1, 20), (2, 40), (3, 60)]);
        let late = [&packets[0], &packets[2], &packets[1], &packets[3], &packets[3]];
        assert_eq!(receive(late), [(0, 0), (1, 20), (2, 40), (3, 60)], "what a copy brought is a duplicate");
    }

    #[test]
    fn two_losses_in_a_row_need_two_copies() {
        for (redundancy, units) in [(1, vec![0, 2, 3]), (2, vec![0, 1, 2, 3])] {
            let packets = send(&mut sender(redundancy, 1200), 160, &[0, 20, 40, 60]);
            let got: Vec<u32> = receive([&packets[0], &packets[3]]).iter().map(|one| one.0).collect();
            assert_eq!(got, units, "{redundancy} copies");
        }
    }

    #[test]
    fn units_that_rfc_2198_cannot_describe_are_not_repeated() {
        // 14 bits of 125 µs: 2047.875 ms.
        assert_eq!(wire(&send(&mut sender(1, 1200), 160, &[0, 2047, 4095])), [201, 365, 201]);
        // 10 bits of length. No datagram grows beyond its limit.
        assert_eq!(wire(&send(&mut sender(1, 4000), 1023, &[0, 20])), [1064, 2091]);
        assert_eq!(wire(&send(&mut sender(1, 4000), 1024, &[0, 20])), [1065, 1065]);
        assert_eq!(wire(&send(&mut sender(1, 300), 160, &[0, 20])), [201, 201]);
    }

    #[test]
    fn a_unit_of_several_datagrams_is_sent_as_without_redundancy() {
        assert_eq!(wire(&send(&mut sender(1, 100), 160, &[0])), [140, 100]);
    }

    #[test]
    fn more_copies_than_a_datagram_has_room_for_are_refused() {
        let error = UdpSender::new(FlowContext::default(), &UdpConfig { redundancy: 3, ..UdpConfig::default() });
        assert_eq!(error.expect_err("too many").key, "redundancy");
    }
}
