//! Messages of several RTCP packets: compound (RFC 3550 §6.1) and of reduced size (RFC 5506).

use super::bytes::{Bytes, PAYLOAD, TRANSPORT, foreign};
use super::{
    CongestionFeedback, Description, Fir, Nack, Pli, ReceiverReport, Rtcp, SenderReport, TransportFeedback,
    congestion_feedback, fir, nack, pli, transport_feedback,
};
use fairwave_endpoint::wire::WireError;

/// Writes packets one after another to `out`. Clears `out` first.
///
/// # Errors
/// The first packet that cannot be written.
pub fn write(packets: &[Rtcp], out: &mut Vec<u8>) -> Result<(), WireError> {
    out.clear();
    packets.iter().try_for_each(|packet| packet.write(out))
}

/// Checks whether packets form a compound message: it starts with a report and names its source (RFC 3550 §6.1). Other
/// messages are allowed if both ends agreed on reduced size (RFC 5506 §3.3).
pub fn is_compound(packets: &[Rtcp]) -> bool {
    matches!(packets.first(), Some(Rtcp::SenderReport(_) | Rtcp::ReceiverReport(_)))
        && packets.iter().any(|packet| matches!(packet, Rtcp::Description(_)))
}

/// Reads a message, compound or of reduced size.
///
/// # Errors
/// The first problem in the message. Then no part of it is used.
pub fn parse(message: &[u8]) -> Result<Vec<Rtcp>, WireError> {
    if message.is_empty() {
        return Err(WireError::Short { have: 0, need: 4 });
    }
    let mut packets = Vec::new();
    let mut rest = Bytes(message);
    while !rest.0.is_empty() {
        let whole = rest.0;
        let (first, kind, words) = (rest.u8()?, rest.u8()?, usize::from(rest.u16()?));
        if first >> 6 != 2 {
            return Err(WireError::Version { found: first >> 6, known: 2 });
        }
        let mut body = rest.take(words * 4)?;
        let packet = whole.get(..4 + words * 4).unwrap_or_default();
        if first & 0x20 != 0 {
            // Only the last packet may be padded (§6.4.1); the last byte counts the padding.
            if !rest.0.is_empty() {
                return Err(foreign("padding in a packet that is not the last"));
            }
            let padding = usize::from(body.last().copied().unwrap_or_default());
            if padding == 0 || padding % 4 != 0 || padding > body.len() {
                return Err(foreign(format!("{padding} B of padding in a packet of {} B", packet.len())));
            }
            body = body.get(..body.len() - padding).unwrap_or_default();
        }
        packets.extend(parse_packet(kind, first & 31, packet, body)?);
    }
    Ok(packets)
}

/// Reads one packet; `body` is its content after the header, without padding. Returns `None` for a kind that is
/// ignored.
fn parse_packet(kind: u8, format: u8, packet: &[u8], body: &[u8]) -> Result<Option<Rtcp>, WireError> {
    Ok(match (kind, format) {
        (200, _) => Some(Rtcp::SenderReport(SenderReport::read(packet)?)),
        (201, _) => Some(Rtcp::ReceiverReport(ReceiverReport::read(packet)?)),
        (202, _) => Description::read(packet)?.map(Rtcp::Description),
        (TRANSPORT | PAYLOAD, _) => {
            let mut bytes = Bytes(body);
            let (sender, media) = (bytes.u32()?, bytes.u32()?);
            let items = bytes.0;
            match (kind, format) {
                (TRANSPORT, nack::FORMAT) => Some(Rtcp::Nack(Nack::read(sender, media, items)?)),
                (TRANSPORT, transport_feedback::FORMAT) => {
                    Some(Rtcp::TransportFeedback(TransportFeedback::read(sender, media, items)?))
                }
                (TRANSPORT, congestion_feedback::FORMAT) => {
                    Some(Rtcp::CongestionFeedback(CongestionFeedback::read(sender, media, items)?))
                }
                (PAYLOAD, pli::FORMAT) => Some(Rtcp::Pli(Pli { sender, media })),
                (PAYLOAD, fir::FORMAT) => Some(Rtcp::Fir(Fir::read(sender, items)?)),
                _ => None,
            }
        }
        _ => None,
    })
}
