//! RTCP as real bytes: reports (RFC 3550), feedback (RFC 4585, RFC 5104) and congestion control feedback
//! (transport-wide, RFC 8888). One file per kind.
//!
//! [`compound::write`] and [`compound::parse`] handle messages of several packets. Bytes that are not RTCP give an
//! error. Packets of other kinds are ignored (RFC 3550 §6.1).

pub mod compound;
pub mod congestion_feedback;
pub mod fir;
pub mod nack;
pub mod pli;
pub mod receiver_report;
pub mod sdes;
pub mod sender_report;
pub mod time;
pub mod transport_feedback;

#[cfg(test)]
mod tests;

pub use congestion_feedback::{ArrivalReport, CongestionFeedback, StreamReport};
pub use fir::{Fir, FirEntry};
pub use nack::Nack;
pub use pli::Pli;
pub use receiver_report::{ReceiverReport, ReportBlock};
pub use sdes::Description;
pub use sender_report::SenderReport;
pub use transport_feedback::TransportFeedback;

use fairwave_endpoint::wire::WireError;

/// One RTCP packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rtcp {
    /// RFC 3550 §6.4.1.
    SenderReport(SenderReport),
    /// RFC 3550 §6.4.2.
    ReceiverReport(ReceiverReport),
    /// RFC 3550 §6.5.1.
    Description(Description),
    /// RFC 4585 §6.2.1.
    Nack(Nack),
    /// RFC 4585 §6.3.1.
    Pli(Pli),
    /// RFC 5104 §4.3.1.
    Fir(Fir),
    /// draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1.
    TransportFeedback(TransportFeedback),
    /// RFC 8888 §3.1.
    CongestionFeedback(CongestionFeedback),
}

impl Rtcp {
    /// Appends the packet's bytes to `out`.
    ///
    /// # Errors
    /// The format cannot represent the packet: more than 31 report blocks, a name above 255 B, or more packets than 16
    /// bits can count. `out` is then unchanged.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        match self {
            Rtcp::SenderReport(report) => report.write(out),
            Rtcp::ReceiverReport(report) => report.write(out),
            Rtcp::Description(description) => description.write(out),
            Rtcp::Nack(nack) => nack.write(out),
            Rtcp::Pli(pli) => pli.write(out),
            Rtcp::Fir(fir) => fir.write(out),
            Rtcp::TransportFeedback(feedback) => feedback.write(out),
            Rtcp::CongestionFeedback(feedback) => feedback.write(out),
        }
    }
}

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
