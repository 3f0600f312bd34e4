//! Serialisation of units: the header before each unit on a stream and before each part in a datagram.
//!
//! The header has 24 bytes: unit number, length, creation time, layer, picture quality, frame number in the stream, and
//! number of parts after this one. Real applications have similar headers. HTTP/3 and Media over QUIC add about as
//! much; with RTP, most of this information is in the frame.

use std::collections::VecDeque;

use fairwave_core::traffic::Unit;
use fairwave_core::transport::Delivery;
use fairwave_core::units::Instant;

/// Size of the header, bytes.
pub(crate) const HEADER: usize = 24;

/// Length value of bulk data, which ends when the flow stops.
pub(crate) const ENDLESS: u32 = u32::MAX;

/// Header of a unit or of a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub unit: u32,
    /// Bytes after the header; in a part, the bytes of the whole unit.
    pub length: u32,
    pub created: Instant,
    pub layer: u8,
    /// Number of parts of the unit after this one.
    pub after: u16,
    /// Opinion score of the picture, 0 to 5, in steps of 1/25; 128 is added for key frames.
    pub quality: u8,
    /// Frame number in the stream.
    pub frame: u32,
}

impl Header {
    pub fn for_unit(unit: &Unit) -> Self {
        Header {
            unit: unit.id,
            length: unit.payload,
            created: unit.created,
            layer: unit.layer,
            after: 0,
            quality: 0,
            frame: 0,
        }
    }

    pub fn write(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let values = (self.unit.to_be_bytes().into_iter())
            .chain(self.length.to_be_bytes())
            .chain(self.created.nanos().to_be_bytes())
            .chain([self.layer, self.quality])
            .chain(self.after.to_be_bytes())
            .chain(self.frame.to_be_bytes());
        bytes.iter_mut().zip(values).for_each(|(place, value)| *place = value);
        bytes
    }

    pub fn read(bytes: &[u8; HEADER]) -> Self {
        let &[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, layer, quality, q, r, s, t, u, v] = bytes;
        Header {
            unit: u32::from_be_bytes([a, b, c, d]),
            length: u32::from_be_bytes([e, f, g, h]),
            created: Instant::from_nanos(u64::from_be_bytes([i, j, k, l, m, n, o, p])),
            layer,
            after: u16::from_be_bytes([q, r]),
            quality,
            frame: u32::from_be_bytes([s, t, u, v]),
        }
    }

    /// Returns a delivery of `payload` bytes of the unit.
    pub fn delivery(&self, payload: u32, complete: bool) -> Delivery {
        Delivery { unit: self.unit, payload, created: self.created, layer: self.layer, complete }
    }
}

/// Parser of units that arrive back to back on a stream.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    header: Vec<u8>,
    unit: Option<(Header, u32)>,
}

impl Reader {
    /// Parses more bytes. Calls `deliver` for each piece of a unit.
    pub fn read(&mut self, mut bytes: &[u8], mut deliver: impl FnMut(Delivery)) {
        loop {
            let Some((header, left)) = &mut self.unit else {
                let (head, rest) = bytes.split_at(bytes.len().min(HEADER - self.header.len()));
                self.header.extend_from_slice(head);
                bytes = rest;
                let Ok(whole) = <&[u8; HEADER]>::try_from(self.header.as_slice()) else { return };
                let header = Header::read(whole);
                self.header.clear();
                self.unit = Some((header, header.length));
                continue;
            };
            if bytes.is_empty() && *left > 0 {
                return;
            }
            let length = bytes.len().min(*left as usize);
            bytes = &bytes[length..];
            *left -= if *left == ENDLESS { 0 } else { length as u32 };
            let complete = *left == 0;
            deliver(header.delivery(length as u32, complete));
            if complete {
                self.unit = None;
            }
        }
    }
}

/// Units that arrive in parts, some of which may be lost.
#[derive(Debug, Default)]
pub(crate) struct Parts(VecDeque<(u32, u32)>);

/// Largest number of incomplete units that are tracked.
const OPEN_UNITS: usize = 64;

impl Parts {
    /// Counts one more part. Returns true if it completes its unit.
    pub fn completes(&mut self, header: &Header) -> bool {
        if header.length <= 1 {
            return true;
        }
        let place = self.0.iter().position(|(unit, _)| *unit == header.unit).unwrap_or_else(|| {
            self.0.push_back((header.unit, header.length));
            if self.0.len() > OPEN_UNITS {
                self.0.pop_front();
            }
            self.0.len() - 1
        });
        let Some((_, left)) = self.0.get_mut(place) else { return false };
        *left -= 1;
        let complete = *left == 0;
        if complete {
            self.0.remove(place);
        }
        complete
    }
}

/// Splits the payload of a unit into parts of at most `most` bytes. Yields the header of each part and the number of
/// bytes after it.
pub(crate) fn cut(header: Header, payload: u32, most: usize) -> impl Iterator<Item = (Header, usize)> {
    let payload = payload as usize;
    let parts = payload.div_ceil(most.max(1)).clamp(1, usize::from(u16::MAX));
    (0..parts).map(move |part| {
        let size = payload.saturating_sub(part * most).min(most);
        (Header { length: parts as u32, after: (parts - 1 - part) as u16, ..header }, size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_on_a_stream_are_read_whatever_the_pieces_are() {
        let created = Instant::from_nanos(7_000_000_123);
        let header = |unit, length| Header { unit, length, created, layer: 2, after: 0, quality: 0, frame: 0 };
        let mut bytes = Vec::new();
        for (unit, length) in [(0, 5), (1, 0), (9, 70)] {
            bytes.extend_from_slice(&header(unit, length).write());
            bytes.resize(bytes.len() + length as usize, 0);
        }
        for size in 1..=bytes.len() {
            let (mut reader, mut delivered) = (Reader::default(), Vec::new());
            bytes.chunks(size).for_each(|chunk| reader.read(chunk, |delivery| delivered.push(delivery)));
            let whole: Vec<_> = delivered.iter().filter(|one| one.complete).map(|one| one.unit).collect();
            assert_eq!(whole, [0, 1, 9], "in pieces of {size}");
            assert_eq!(delivered.iter().map(|one| one.payload).sum::<u32>(), 75);
            assert!(delivered.iter().all(|one| one.created == created && one.layer == 2));
        }
    }
}
