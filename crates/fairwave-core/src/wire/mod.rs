//! Packets as the payload of real UDP datagrams, and back: one format for every transport, the same on sockets and in captures.
//!
//! A transport says by which protocol its packets are carried ([`crate::transport::Properties::protocol`]), a flow's [`Format`] what both its ends
//! know from the beginning. [`encode`] writes a datagram, a [`Decoder`] reads those of one direction. The protocols' own headers are
//! written and read beside their laws (`transport/…/wire.rs`), RTP's in [`rtp`]; RTP and RTCP by the libraries `rtp-types` and
//! `rtcp-types`. What measures need besides stands at the beginning of the payload ([`descriptor`]).
//!
//! **Sizes.** A datagram is as long as its packet's [`Packet::wire`] says, less 28 bytes of IPv4 and UDP: then the IP packet has
//! the size that the scenario gives it. What is left behind header and descriptor is filled with zeros. Where the scenario leaves
//! no room for them, the datagram is as much longer as they need, and never shorter; so a decoded packet's `wire` is the IP packet's size.
//! Two formats know better what follows: DVRC's header counts its payload, and all of it is there; a datagram with
//! repeats has room for all that it repeats.
//!
//! **Clocks.** Every instant in a packet is by the clock of the flow's sender ([`clock`]).
//!
//! **Assumptions.** The other end is one of ours, so whatever could be said in two ways is refused in all but one, and what was decoded is
//! encoded to the same bytes but for the fill. Addresses, ports and the ECN codepoint are the IP packet's affair.

pub(crate) mod bytes;
pub mod clock;
mod descriptor;
pub(crate) mod error;
mod media;
mod rtp;

#[cfg(test)]
mod tests;

pub use error::WireError;
pub use media::Media;

use crate::packet::{Body, Class, Ecn, FlowId, Packet};
use crate::traffic::TrafficConfig;
use crate::transport::{FlowContext, Properties, TransportConfig, dvrc, rap, rtcp, tcp, tfrc};
use crate::units::Instant;
use bytes::{Reader, need};
use descriptor::Descriptor;
use media::Extender;

/// Bytes of IPv4 (without options) and UDP before the datagram that is written here.
pub const LOWER_HEADERS: usize = 28;

/// How a transport's packets are carried.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Protocol {
    /// RTP with RTCP (RFC 3550), told apart by the packet type (RFC 5761 §4), so that they may share a port.
    #[default]
    Rtp,
    /// TFRC: the fields of RFC 5348 §3.2 in a layout of our own.
    Tfrc,
    /// DVRC, see [`dvrc::wire`].
    Dvrc,
    /// RAP in a layout of our own.
    Rap,
    /// TCP's segments in a framing of our own over UDP.
    Segments,
}

/// What both ends of a flow know of how its packets are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Format {
    /// How they are carried.
    pub protocol: Protocol,
    /// What RTP says of its media.
    pub media: Media,
    /// The names (RTCP's CNAME) of the sender's host and of the receiver's, at most 255 bytes each.
    pub names: [String; 2],
}

impl Format {
    /// That of a flow between two hosts.
    pub fn of(flow: FlowId, transport: &TransportConfig, traffic: &TrafficConfig, hosts: [&str; 2]) -> Self {
        Format { protocol: transport.protocol(), media: Media::of(flow, traffic), names: hosts.map(cname) }
    }

    /// The name of who sends: the flow's sender, or with `feedback` its receiver.
    pub(crate) fn name(&self, feedback: bool) -> &str {
        let [sender, receiver] = &self.names;
        if feedback { receiver } else { sender }
    }
}

/// A host's name, as much of it as an item of RTCP holds (RFC 3550 §6.5: its length has 8 bits).
fn cname(host: &str) -> String {
    let end = (0..=host.len().min(255)).rev().find(|&end| host.is_char_boundary(end)).unwrap_or(0);
    host.get(..end).unwrap_or("").to_owned()
}

/// Writes a packet as a datagram; what `out` held before is gone. Answers how many bytes say something: those behind them are fill.
pub fn encode(packet: &Packet, format: &Format, out: &mut Vec<u8>) -> usize {
    out.clear();
    let target = usize::from(packet.wire).saturating_sub(LOWER_HEADERS);
    let layer = packet.layer;
    let mut least = None;
    match packet.body {
        Body::Datagram { payload, sequence, unit, part, parts, created } if format.protocol == Protocol::Rap => {
            rap::wire::Header::Data { sequence }.encode(out);
            Descriptor { layer, payload, unit, created, part, parts }.write(out);
        }
        Body::Datagram { .. } | Body::Redundant { .. } => least = Some(rtp::write(packet, format, out)),
        Body::TfrcData { payload, part, parts, sequence, unit, sent, created, round_trip } => {
            tfrc::wire::Header::Data { sequence, sent, round_trip }.encode(out);
            Descriptor { layer, payload, unit, created, part, parts }.write(out);
        }
        Body::TfrcFeedback { echo, delay, receive_rate, loss_event_rate } => {
            tfrc::wire::Header::Feedback { echo, delay, receive_rate, loss_event_rate }.encode(out);
        }
        Body::RapAck { current, missing, before } => {
            rap::wire::Header::Acknowledgement { current, missing, before }.encode(out);
        }
        Body::Segment {
            payload,
            sequence,
            unit,
            wave,
            wave_size,
            retransmission,
            window_reduced,
            last,
            sent,
            created,
        } => {
            let header =
                tcp::wire::Header::Segment { sequence, wave, wave_size, retransmission, window_reduced, last, sent };
            header.encode(out);
            Descriptor::whole(layer, payload, unit, created).write(out);
        }
        Body::Forward { next, sent } => tcp::wire::Header::Forward { next, sent }.encode(out),
        Body::Ack { next, echo, rate, wave, congestion_echo, marked, sack } => {
            let header = tcp::wire::Header::Acknowledgement { next, echo, rate, wave, congestion_echo, marked, sack };
            header.encode(out);
        }
        Body::RtcpSenderReport { .. } | Body::RtcpReceiverReport { .. } => {
            rtcp::wire::write(&packet.body, packet.feedback, format, target, out);
            return out.len();
        }
        Body::Dvrc { header, created } => {
            let length = dvrc::wire::write(&header, created, out);
            let head = out.len();
            out.resize(length, 0);
            return head;
        }
    }
    let head = out.len();
    out.resize(target.max(least.unwrap_or(head)), 0);
    head
}

/// Reads the datagrams of one direction of a flow. It lives with the endpoint that they come to.
#[derive(Clone, Debug)]
pub struct Decoder {
    flow: FlowId,
    class: Class,
    feedback: bool,
    format: Format,
    extender: Extender,
}

impl Decoder {
    /// That of the flow's receiver, or with `feedback` of its sender.
    pub fn new(context: &FlowContext, format: Format, feedback: bool) -> Self {
        Decoder { flow: context.flow, class: context.class, feedback, format, extender: Extender::default() }
    }

    /// The packet that a datagram is; its codepoint is what the IP packet bore, its size that of the IP packet.
    ///
    /// # Errors
    /// What is wrong with it first. It leaves no trace, and belongs counted: it came from elsewhere, or was damaged.
    pub fn decode(&mut self, datagram: &[u8], ecn: Ecn) -> Result<Packet, WireError> {
        let (body, layer) = match self.format.protocol {
            Protocol::Rtp if rtcp::wire::is_report(datagram) => {
                (rtcp::wire::read(datagram, self.feedback, &self.format)?, 0)
            }
            Protocol::Rtp => rtp::read(datagram, &self.format, self.feedback, &mut self.extender)?,
            Protocol::Tfrc => tfrc(datagram)?,
            Protocol::Dvrc => dvrc::wire::read(datagram)?,
            Protocol::Rap => rap(datagram)?,
            Protocol::Segments => segments(datagram)?,
        };
        let wire = u16::try_from(datagram.len() + LOWER_HEADERS).unwrap_or(u16::MAX);
        Ok(Packet { flow: self.flow, wire, class: self.class, feedback: self.feedback, ecn, layer, body })
    }
}

/// What follows a header.
fn after(datagram: &[u8], header: usize) -> &[u8] {
    datagram.get(header..).unwrap_or(&[])
}

fn tfrc(datagram: &[u8]) -> Result<(Body, u8), WireError> {
    use tfrc::wire::{DATA_HEADER, Header};
    Ok(match Header::decode(datagram)? {
        Header::Data { sequence, sent, round_trip } => {
            let Descriptor { layer, payload, unit, created, part, parts } =
                Descriptor::read(after(datagram, DATA_HEADER))?;
            (Body::TfrcData { payload, part, parts, sequence, unit, sent, created, round_trip }, layer)
        }
        Header::Feedback { echo, delay, receive_rate, loss_event_rate } => {
            (Body::TfrcFeedback { echo, delay, receive_rate, loss_event_rate }, 0)
        }
    })
}

fn rap(datagram: &[u8]) -> Result<(Body, u8), WireError> {
    use rap::wire::{DATA_HEADER, Header};
    Ok(match Header::decode(datagram)? {
        Header::Data { sequence } => {
            let Descriptor { layer, payload, unit, created, part, parts } =
                Descriptor::read(after(datagram, DATA_HEADER))?;
            (Body::Datagram { payload, sequence, unit, part, parts, created }, layer)
        }
        Header::Acknowledgement { current, missing, before } => (Body::RapAck { current, missing, before }, 0),
    })
}

fn segments(datagram: &[u8]) -> Result<(Body, u8), WireError> {
    use tcp::wire::{Header, SEGMENT_HEADER};
    Ok(match Header::decode(datagram)? {
        Header::Segment { sequence, wave, wave_size, retransmission, window_reduced, last, sent } => {
            let Descriptor { layer, payload, unit, created, .. } =
                Descriptor::read_whole(after(datagram, SEGMENT_HEADER))?;
            let body = Body::Segment {
                payload,
                sequence,
                unit,
                wave,
                wave_size,
                retransmission,
                window_reduced,
                last,
                sent,
                created,
            };
            (body, layer)
        }
        Header::Forward { next, sent } => (Body::Forward { next, sent }, 0),
        Header::Acknowledgement { next, echo, rate, wave, congestion_echo, marked, sack } => {
            (Body::Ack { next, echo, rate, wave, congestion_echo, marked, sack }, 0)
        }
    })
}

/// When a unit was made, at the beginning of a payload whose header says everything else (DVRC): 8 bytes, the sender's clock in nanoseconds.
pub(crate) mod made {
    use super::{Instant, Reader, WireError, need};

    /// Bytes.
    pub const SIZE: usize = 8;

    /// Writes it at the end of `out`.
    pub fn write(created: Instant, out: &mut Vec<u8>) {
        out.extend(created.nanos().to_be_bytes());
    }

    /// Reads what a payload begins with.
    pub fn read(payload: &[u8]) -> Result<Instant, WireError> {
        need(payload, SIZE)?;
        Ok(Instant::from_nanos(Reader(payload).u64(0)))
    }
}
