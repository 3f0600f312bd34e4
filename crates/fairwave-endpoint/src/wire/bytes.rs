//! Big-endian numbers in bytes, for reading and writing, and two checks that every format needs.

use super::WireError;
use fairwave_units::units::Span;

/// The longest span that 48 bits of nanoseconds hold: 78 hours.
const LONGEST: u64 = (1 << 48) - 1;

/// Reads big-endian numbers from bytes whose length has been checked. Bytes beyond the end read as zero.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl Reader<'_> {
    /// The byte at this offset; 0 beyond the end.
    pub fn u8(&self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }
    /// The 16-bit number at this offset; 0 for bytes beyond the end.
    pub fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.u8(at), self.u8(at + 1)])
    }
    /// The 32-bit number at this offset; 0 for bytes beyond the end.
    pub fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at)) << 16 | u32::from(self.u16(at + 2))
    }
    /// The 64-bit number at this offset; 0 for bytes beyond the end.
    pub fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) << 32 | u64::from(self.u32(at + 4))
    }
    /// The span at this offset: 48 bits of nanoseconds.
    pub fn span(&self, at: usize) -> Span {
        Span::from_nanos(u64::from(self.u16(at)) << 32 | u64::from(self.u32(at + 2)))
    }
}

/// Writes a big-endian number. Writes nothing if the number does not fit.
pub fn put<const N: usize>(bytes: &mut [u8], at: usize, number: [u8; N]) {
    if let Some(place) = bytes.get_mut(at..at + N) {
        place.copy_from_slice(&number);
    }
}

/// Writes a span as 48 bits of nanoseconds. A longer span becomes the maximum.
pub fn put_span(bytes: &mut [u8], at: usize, span: Span) {
    let [_, _, number @ ..] = span.nanos().min(LONGEST).to_be_bytes();
    put(bytes, at, number);
}

/// Checks that there are at least `need` bytes.
pub fn need(bytes: &[u8], need: usize) -> Result<(), WireError> {
    if bytes.len() < need { Err(WireError::Short { have: bytes.len(), need }) } else { Ok(()) }
}

/// Checks that the bytes at these offsets are zero.
pub fn zero(reader: &Reader<'_>, places: &[usize]) -> Result<(), WireError> {
    places.iter().find(|&&at| reader.u8(at) != 0).map_or(Ok(()), |&at| Err(WireError::Reserved(at)))
}

/// Reads the first byte of fairwave's formats: the version in the high half, the packet type (0 to `most`) in the
/// low half.
pub fn packet_type(bytes: &[u8], version: u8, most: u8) -> Result<u8, WireError> {
    need(bytes, 1)?;
    let first = Reader(bytes).u8(0);
    match (first >> 4, first & 0x0f) {
        (found, _) if found != version => Err(WireError::Version { found, known: version }),
        (_, found) if found > most => Err(WireError::PacketType { found, most }),
        (_, found) => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written_and_zero_beyond_the_end() {
        let mut bytes = [0; 8];
        put(&mut bytes, 0, 0x0102_0304_0506_0708_u64.to_be_bytes());
        let reader = Reader(&bytes);
        assert_eq!((reader.u8(1), reader.u16(1), reader.u32(1)), (2, 0x0203, 0x0203_0405));
        assert_eq!((reader.u64(0), reader.u16(7)), (0x0102_0304_0506_0708, 0x0800));
        put(&mut bytes, 5, 0x1111_1111_u32.to_be_bytes());
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8], "what does not fit is left out");
    }

    #[test]
    fn a_span_has_48_bits_of_nanoseconds_and_is_at_most_as_long_as_they_hold() {
        let mut bytes = [0; 6];
        for (nanos, read) in [(0x0102_0304_0506, 0x0102_0304_0506), (1 << 48, LONGEST), (u64::MAX, LONGEST)] {
            put_span(&mut bytes, 0, Span::from_nanos(nanos));
            assert_eq!(Reader(&bytes).span(0).nanos(), read);
        }
    }
}
