//! Packets as the payload of real UDP datagrams, and back: one format per transport, the same on sockets and in
//! captures.
//!
//! A transport names the protocol of its packets ([`crate::Properties::protocol`]). A flow's [`Format`] holds the
//! parameters that both its ends know from the start. [`encode`] writes a datagram; a [`Decoder`] reads the
//! datagrams of one direction. Each protocol's headers are written and read next to its law
//! (`transport/…/wire.rs`), RTP's in `rtp`. RTP and RTCP use the libraries `rtp-types` and `rtcp-types`. Further
//! fields that measures need are at the start of the payload ([`fairwave_endpoint::wire::descriptor`]).
//!
//! **Sizes.** A datagram's length is its packet's [`Packet::wire`] less 28 bytes of IPv4 and UDP. So the IP packet
//! has the size that the scenario sets. Zeros fill the space after header and descriptor. If the scenario leaves
//! no room for them, the datagram is longer, never shorter; so a decoded packet's `wire` is the IP packet's size.
//! Two formats define their length themselves. DVRC's header counts its payload, and the datagram holds all of it.
//! A datagram with repeats has room for all repeated units.
//!
//! **Clocks.** Every instant in a packet is by the clock of the flow's sender ([`clock`]).
//!
//! **Assumptions.** The other end is also fairwave. So of several encodings of the same content the decoder
//! accepts only one. A decoded packet encodes to the same bytes, except for the padding. The IP packet carries
//! addresses, ports and the ECN codepoint.

mod opaque;
mod rtp;

#[cfg(test)]
mod tests;

pub use fairwave_endpoint::wire::{Format, LOWER_HEADERS, Media, Protocol, WireError, clock};

use fairwave_endpoint::FlowContext;
use fairwave_endpoint::wire::descriptor::Descriptor;
use fairwave_endpoint::wire::media::SequenceExtender;
use fairwave_network::dscp::Dscp;
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet};

use crate::{dvrc, rap, rtcp, tcp, tfrc};

/// Writes a packet as a datagram and replaces the contents of `out`. Returns the number of meaningful bytes; the
/// rest is filling.
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
            Descriptor::single_part(layer, payload, unit, created).write(out);
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
        Body::Opaque { header, sequence, created } if format.protocol != Protocol::Dvrc => {
            opaque::write(layer, &header, sequence, created, out);
        }
        Body::Opaque { header, created, .. } => {
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

/// Reads the datagrams of one direction of a flow, for the endpoint that receives them.
#[derive(Clone, Debug)]
pub struct Decoder {
    flow: FlowId,
    class: Class,
    dscp: Dscp,
    feedback: bool,
    format: Format,
    extender: SequenceExtender,
}

impl Decoder {
    /// Creates the decoder of the flow's receiver, or with `feedback` of its sender.
    pub fn new(context: &FlowContext, format: Format, feedback: bool) -> Self {
        Decoder {
            flow: context.flow,
            class: context.class,
            dscp: context.dscp,
            feedback,
            format,
            extender: SequenceExtender::default(),
        }
    }

    /// Decodes a datagram. `ecn` is the codepoint of the IP packet. The result's size is the size of the IP packet.
    ///
    /// # Errors
    /// The first problem found. The decoder's state does not change. The caller should count the error: the
    /// datagram came from elsewhere, or was damaged.
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
            Protocol::Opaque => opaque::read(datagram)?,
        };
        let wire = u16::try_from(datagram.len() + LOWER_HEADERS).unwrap_or(u16::MAX);
        Ok(Packet {
            flow: self.flow,
            wire,
            class: self.class,
            dscp: self.dscp,
            feedback: self.feedback,
            ecn,
            layer,
            body,
        })
    }
}

/// The bytes after a header.
fn skip_header(datagram: &[u8], header: usize) -> &[u8] {
    datagram.get(header..).unwrap_or(&[])
}

fn tfrc(datagram: &[u8]) -> Result<(Body, u8), WireError> {
    use tfrc::wire::{DATA_HEADER, Header};
    Ok(match Header::decode(datagram)? {
        Header::Data { sequence, sent, round_trip } => {
            let Descriptor { layer, payload, unit, created, part, parts } =
                Descriptor::read(skip_header(datagram, DATA_HEADER))?;
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
                Descriptor::read(skip_header(datagram, DATA_HEADER))?;
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
                Descriptor::read_single_part(skip_header(datagram, SEGMENT_HEADER))?;
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
