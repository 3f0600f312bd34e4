//! What all kinds of packets share: feedback headers, a reader of numbers, and the error about received bytes.

use fairwave_endpoint::wire::WireError;

/// Returns an error about received bytes.
pub(crate) fn foreign(why: impl ToString) -> WireError {
    WireError::Foreign { protocol: "RTCP", why: why.to_string() }
}

/// Packet type of feedback for transports (RFC 4585 §6.1).
pub(crate) const TRANSPORT: u8 = 205;
/// Packet type of feedback for payloads (RFC 4585 §6.1).
pub(crate) const PAYLOAD: u8 = 206;

/// Appends a feedback message (RFC 4585 §6.1): header, both sources, and the output of `fill`, padded to words of 4 B.
/// The length covers all of it. Padding inside does not set the padding bit, as in both formats of congestion control.
pub(crate) fn feedback(
    out: &mut Vec<u8>,
    kind: u8,
    format: u8,
    sources: [u32; 2],
    fill: impl FnOnce(&mut Vec<u8>),
) -> Result<(), WireError> {
    let begin = out.len();
    out.extend([0x80 | (format & 31), kind, 0, 0]);
    out.extend(sources.iter().flat_map(|source| source.to_be_bytes()));
    fill(out);
    while !(out.len() - begin).is_multiple_of(4) {
        out.push(0);
    }
    let words = (out.len() - begin) / 4 - 1;
    let Ok(words) = u16::try_from(words) else {
        out.truncate(begin);
        return Err(foreign(format!("a packet of {} words is longer than its length field says", words + 1)));
    };
    if let Some(place) = out.get_mut(begin + 2..begin + 4) {
        place.copy_from_slice(&words.to_be_bytes());
    }
    Ok(())
}

/// Reader of numbers. It returns an error when no bytes are left.
pub(crate) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let Some((head, tail)) = self.0.split_at_checked(count) else {
            return Err(WireError::Short { have: self.0.len(), need: count });
        };
        self.0 = tail;
        Ok(head)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, WireError> {
        Ok(self.take(1)?.first().copied().unwrap_or_default())
    }

    pub(crate) fn u16(&mut self) -> Result<u16, WireError> {
        Ok(u16::from(self.u8()?) << 8 | u16::from(self.u8()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, WireError> {
        Ok(u32::from(self.u16()?) << 16 | u32::from(self.u16()?))
    }
}
