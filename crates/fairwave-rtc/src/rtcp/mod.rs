//! RTCP as real bytes: reports (RFC 3550), feedback (RFC 4585, RFC 5104) and congestion control feedback
//! (transport-wide, RFC 8888). One file per kind.
//!
//! [`compound::write`] and [`compound::parse`] handle messages of several packets. Bytes that are not RTCP give an
//! error. Packets of other kinds are ignored (RFC 3550 §6.1).

mod bytes;
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
