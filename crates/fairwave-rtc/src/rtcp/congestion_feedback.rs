//! Congestion control feedback (RFC 8888 §3.1): for each stream the arrived packets, their ECN marks, and their arrival
//! times before the report.

use super::bytes::{Bytes, TRANSPORT, feedback, foreign};
use fairwave_endpoint::wire::WireError;
use fairwave_network::packet::Ecn;
use fairwave_units::units::{Instant, Span};

/// Format (FMT) in the header.
pub(crate) const FORMAT: u8 = 11;
/// Largest number of packets per stream in a report (§3.1).
pub const MOST: usize = 16_384;
/// Value for an arrival too long before the report: 0x1FFE (§3.1).
const OVERFLOW: u16 = 0x1ffe;
/// Value for an unknown arrival time: 0x1FFF (§3.1).
const UNKNOWN: u16 = 0x1fff;

/// Arrival of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ArrivalReport {
    /// ECN code point.
    pub ecn: Ecn,
    /// Arrival time before the report, 1/1024 s, 0 to 0x1FFD; 0x1FFE for longer, 0x1FFF for unknown.
    pub offset: u16,
}

impl ArrivalReport {
    /// Describes a packet that arrived at `arrived`, in a report made at `now`.
    pub fn new(now: Instant, arrived: Instant, ecn: Ecn) -> Self {
        let since = u128::from(now.span_since(arrived).nanos());
        let offset = (since * 1024 / 1_000_000_000).min(u128::from(OVERFLOW)) as u16;
        ArrivalReport { ecn, offset }
    }

    /// Returns the arrival time before the report; `None` if the report does not contain it.
    pub fn age(self) -> Option<Span> {
        (self.offset < OVERFLOW).then(|| Span::from_nanos(u64::from(self.offset) * 1_000_000_000 / 1024))
    }
}

/// Report on one stream.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StreamReport {
    /// The stream.
    pub ssrc: u32,
    /// RTP sequence number of the first packet.
    pub base: u16,
    /// For each packet from `base` on: its arrival; `None` if it has not arrived.
    pub packets: Vec<Option<ArrivalReport>>,
}

/// A report.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CongestionFeedback {
    /// SSRC of the reporter.
    pub sender: u32,
    /// Reports by stream; at least one.
    pub streams: Vec<StreamReport>,
    /// Time of the report: middle 32 bits of the NTP timestamp ([`super::time::middle`]).
    pub timestamp: u32,
}

impl CongestionFeedback {
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        if let Some(stream) = self.streams.iter().find(|stream| stream.packets.len() > MOST) {
            return Err(foreign(format!("{} packets of a stream, but {MOST} are the most", stream.packets.len())));
        }
        // The first stream takes the field that holds the media source in other feedback.
        let Some(first) = self.streams.first() else { return Err(foreign("a report about no stream")) };
        feedback(out, TRANSPORT, FORMAT, [self.sender, first.ssrc], |out| {
            for (place, stream) in self.streams.iter().enumerate() {
                if place > 0 {
                    out.extend(stream.ssrc.to_be_bytes());
                }
                out.extend(stream.base.to_be_bytes());
                out.extend((stream.packets.len() as u16).to_be_bytes());
                for packet in &stream.packets {
                    let word =
                        packet.map_or(0, |packet| 0x8000 | (packet.ecn as u16) << 13 | packet.offset.min(UNKNOWN));
                    out.extend(word.to_be_bytes());
                }
                if stream.packets.len() % 2 == 1 {
                    out.extend([0, 0]);
                }
            }
            out.extend(self.timestamp.to_be_bytes());
        })
    }

    pub(crate) fn read(sender: u32, first: u32, items: &[u8]) -> Result<Self, WireError> {
        let Some((blocks, timestamp)) = items.split_last_chunk::<4>() else {
            return Err(WireError::Short { have: items.len(), need: 4 });
        };
        let mut bytes = Bytes(blocks);
        let mut streams = Vec::new();
        let mut ssrc = first;
        loop {
            let (base, number) = (bytes.u16()?, usize::from(bytes.u16()?));
            if number > MOST {
                return Err(foreign(format!("{number} packets of a stream, but {MOST} are the most")));
            }
            let mut words = Bytes(bytes.take(number * 2)?);
            if number % 2 == 1 {
                bytes.take(2)?;
            }
            let mut packets = Vec::with_capacity(number);
            for _ in 0..number {
                let word = words.u16()?;
                let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].get(usize::from(word >> 13 & 3)).copied();
                packets.push(
                    (word & 0x8000 != 0)
                        .then(|| ArrivalReport { ecn: ecn.unwrap_or_default(), offset: word & UNKNOWN }),
                );
            }
            streams.push(StreamReport { ssrc, base, packets });
            if bytes.0.is_empty() {
                break;
            }
            ssrc = bytes.u32()?;
        }
        Ok(CongestionFeedback { sender, streams, timestamp: u32::from_be_bytes(*timestamp) })
    }
}
