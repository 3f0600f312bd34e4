//! Transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1): arrivals of the packets of all
//! streams.
//!
//! A message covers all packets from `base` on. Status chunks contain one arrival flag per packet. Each arrived packet
//! has a delta: the time since the previous arrival, in 250 µs. The first delta is relative to the reference time, in
//! 64 ms.

use super::bytes::{Bytes, TRANSPORT, feedback, foreign};
use fairwave_endpoint::wire::WireError;
use fairwave_units::units::{Instant, Span};

/// Format (FMT) in the header.
pub(crate) const FORMAT: u8 = 15;

/// Unit of deltas (§3.1.5).
pub const TICK: Span = Span::from_micros(250);
/// Unit of the reference time (§3.1).
pub const REFERENCE: Span = Span::from_millis(64);
/// Number of delta units in a reference unit.
const TICKS: i64 = 256;
/// Number of values of the reference time (24 bits).
const REFERENCES: i64 = 1 << 24;

/// A message.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TransportFeedback {
    /// SSRC of the reporter.
    pub sender: u32,
    /// SSRC of a stream of the peer; the packets may belong to any of its streams.
    pub media: u32,
    /// Transport-wide number of the first packet.
    pub base: u16,
    /// Reference time: multiples of 64 ms by the receiver's clock, modulo 2²⁴.
    pub reference: u32,
    /// Number of earlier messages, modulo 256.
    pub count: u8,
    /// For each packet from `base` on: the ticks since the previous arrival (for the first, since the reference time);
    /// `None` if it has not arrived.
    pub packets: Vec<Option<i16>>,
}

/// Returns the status symbol of a packet (§3.1.1).
fn symbol(packet: Option<i16>) -> u16 {
    match packet {
        None => 0,
        Some(0..=255) => 1,
        Some(_) => 2,
    }
}

impl TransportFeedback {
    /// Creates a message about `arrivals`, the first of which is packet `base`. It covers as many packets as one
    /// message can: it ends before a delta that does not fit 16 bits, and after `most` packets. Returns the message and
    /// the number of packets in it. Returns `None` if no packet of it would have arrived (missing packets before the
    /// first arrival are allowed).
    pub fn from_arrivals(
        sender: u32,
        media: u32,
        base: u16,
        count: u8,
        arrivals: &[Option<Instant>],
        most: usize,
    ) -> Option<(Self, usize)> {
        let first = arrivals.iter().take(most).flatten().next()?;
        let reference = first.nanos() / REFERENCE.nanos();
        let mut last = (reference as i64) * TICKS;
        let mut packets = Vec::with_capacity(arrivals.len().min(most));
        for arrival in arrivals.iter().take(most.min(usize::from(u16::MAX))) {
            let delta = match arrival {
                None => None,
                Some(arrived) => {
                    let ticks = ((arrived.nanos() + TICK.nanos() / 2) / TICK.nanos()) as i64;
                    let Ok(delta) = i16::try_from(ticks - last) else { break };
                    last = ticks;
                    Some(delta)
                }
            };
            packets.push(delta);
        }
        let took = packets.len();
        let reference = (reference % REFERENCES as u64) as u32;
        Some((TransportFeedback { sender, media, base, reference, count, packets }, took))
    }

    /// Returns the arrival times by the receiver's clock. `near` is a time of the same clock within 6 days; it resolves
    /// the wraps of the reference time.
    pub fn arrivals(&self, near: Instant) -> impl Iterator<Item = Option<Instant>> + '_ {
        let near = (near.nanos() / REFERENCE.nanos()) as i64;
        let ahead = (i64::from(self.reference) - near).rem_euclid(REFERENCES);
        let ahead = if ahead >= REFERENCES / 2 { ahead - REFERENCES } else { ahead };
        let mut ticks = (near + ahead) * TICKS;
        self.packets.iter().map(move |packet| {
            packet.map(|delta| {
                ticks += i64::from(delta);
                Instant::from_nanos((ticks.max(0) as u64).saturating_mul(TICK.nanos()))
            })
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let Ok(number) = u16::try_from(self.packets.len()) else {
            return Err(foreign(format!("{} packets in one message, but 65535 are the most", self.packets.len())));
        };
        feedback(out, TRANSPORT, FORMAT, [self.sender, self.media], |out| {
            out.extend(self.base.to_be_bytes());
            out.extend(number.to_be_bytes());
            let [_, a, b, c] = self.reference.to_be_bytes();
            out.extend([a, b, c, self.count]);
            self.chunks(out);
            for delta in self.packets.iter().flatten() {
                match u8::try_from(*delta) {
                    Ok(small) => out.push(small),
                    Err(_) => out.extend(delta.to_be_bytes()),
                }
            }
        })
    }

    /// Encodes runs if they cover more packets than a vector; otherwise vectors of 14 packets without large deltas, or
    /// of 7 packets (§3.1.3, §3.1.4).
    fn chunks(&self, out: &mut Vec<u8>) {
        let mut rest = self.packets.as_slice();
        while let Some(first) = rest.first().map(|packet| symbol(*packet)) {
            let run = rest.iter().take(0x1fff).take_while(|packet| symbol(**packet) == first).count();
            let small = rest.iter().take(14).take_while(|packet| symbol(**packet) < 2).count();
            let (chunk, took) = if run >= 7 && run >= small || run == rest.len() {
                (first << 13 | run as u16, run)
            } else if small == 14 || small == rest.len() {
                let bits = rest.iter().take(14).enumerate();
                (bits.fold(0x8000, |chunk, (at, packet)| chunk | symbol(*packet) << (13 - at)), small)
            } else {
                let symbols = rest.iter().take(7).enumerate();
                let chunk = symbols.fold(0xc000, |chunk, (at, packet)| chunk | symbol(*packet) << (12 - 2 * at));
                (chunk, rest.len().min(7))
            };
            out.extend(chunk.to_be_bytes());
            rest = rest.get(took..).unwrap_or_default();
        }
    }

    pub(crate) fn read(sender: u32, media: u32, items: &[u8]) -> Result<Self, WireError> {
        let mut bytes = Bytes(items);
        let (base, number) = (bytes.u16()?, usize::from(bytes.u16()?));
        let word = bytes.u32()?;
        let mut symbols = Vec::with_capacity(number.min(items.len() * 7));
        while symbols.len() < number {
            let chunk = bytes.u16()?;
            let left = number - symbols.len();
            if chunk & 0x8000 == 0 {
                let run = usize::from(chunk & 0x1fff);
                if run == 0 {
                    return Err(foreign("a status chunk of no packets"));
                }
                symbols.extend(std::iter::repeat_n(chunk >> 13 & 3, run.min(left)));
            } else if chunk & 0x4000 == 0 {
                symbols.extend((0..14).take(left).map(|at| chunk >> (13 - at) & 1));
            } else {
                symbols.extend((0..7).take(left).map(|at| chunk >> (12 - 2 * at) & 3));
            }
        }
        let mut packets = Vec::with_capacity(number);
        for symbol in symbols {
            packets.push(match symbol {
                0 => None,
                1 => Some(i16::from(bytes.u8()?)),
                2 => Some(bytes.u16()? as i16),
                _ => return Err(foreign("a packet status that is reserved (3)")),
            });
        }
        Ok(TransportFeedback { sender, media, base, reference: word >> 8, count: word as u8, packets })
    }
}
