//! RTP data packets (RFC 3550 §5.1), alone or with repeats of earlier units (RFC 2198).
//!
//! The fixed header carries sequence number (the lower 16 bits of the packet's; [`super::Decoder`] extends them),
//! timestamp (creation time of the unit, in ticks of the media clock, from 0) and source. There are no
//! contributing sources, no extension and no padding. The marker is set on the last packet of a unit that was cut.
//! The payload's descriptor ([`fairwave_endpoint::wire::descriptor`]) carries the fields that RTP's header lacks,
//! including the exact creation time of the unit.
//!
//! With repeats the payload type is 97. Blocks follow the layout of RFC 2198 §3: a header of 4 bytes for each
//! repeat, the oldest first, and 1 byte for the packet's unit. The blocks' data follows in the same order. The
//! descriptor is at the start of the data. After it, each repeat has 6 bytes more, in the order of the headers.
//! They give the unit's distance from the packet's unit (2 bytes), and its age relative to that unit in
//! nanoseconds (4 bytes).

use rtp_types::{RtpPacket, RtpPacketBuilder};

use super::{Format, WireError};
use fairwave_endpoint::wire::bytes::{Reader, need};
use fairwave_endpoint::wire::descriptor::Descriptor;
use fairwave_endpoint::wire::error::expect;
use fairwave_endpoint::wire::media::{Media, SequenceExtender};
use fairwave_network::packet::{Body, Packet, Repeat};
use fairwave_units::units::{Instant, Span};

/// The payload type of redundant speech (RFC 2198), dynamic.
const REDUNDANT: u8 = 97;
/// Bytes of a repeated block's header.
const BLOCK: usize = 4;
/// Bytes per repeat after the descriptor.
const REPEAT: usize = 6;
/// The bit of a block's header that announces another block.
const MORE: u32 = 1 << 31;
/// The largest offset and the largest length of a block's header: 14 and 10 bits.
const MOST_TICKS: u32 = (1 << 14) - 1;
const MOST_LENGTH: u32 = (1 << 10) - 1;

/// Writes a datagram's header and descriptor. Returns the minimum length of the datagram.
pub(super) fn write(packet: &Packet, format: &Format, out: &mut Vec<u8>) -> usize {
    match packet.body {
        Body::Datagram { payload, sequence, unit, part, parts, created } => {
            let payload_type = format.media.payload_type;
            header(packet, format, (sequence, created), (payload_type, is_last(part, parts)), out);
            Descriptor { layer: packet.layer, payload, unit, created, part, parts }.write(out);
        }
        Body::Redundant { payload, sequence, unit, created, repeats } => {
            header(packet, format, (sequence, created), (REDUNDANT, false), out);
            return redundant(packet.layer, (payload, unit, created), &repeats, &format.media, out);
        }
        _ => {}
    }
    out.len()
}

fn is_last(part: u16, parts: u16) -> bool {
    parts > 1 && part + 1 == parts
}

fn header(
    packet: &Packet,
    format: &Format,
    (sequence, created): (u32, Instant),
    (payload_type, marker): (u8, bool),
    out: &mut Vec<u8>,
) {
    let header = RtpPacketBuilder::<&[u8], &[u8]>::new()
        .payload_type(payload_type & 0x7f)
        .sequence_number(sequence as u16)
        .timestamp(format.media.timestamp(created))
        .ssrc(format.media.source(packet.feedback))
        .marker_bit(marker);
    // Fails only for payload types above 7 bits.
    let _ = header.write_into_vec(out);
}

fn is_used(repeat: &&Repeat) -> bool {
    repeat.back > 0
}

fn redundant(
    layer: u8,
    (payload, unit, created): (u16, u32, Instant),
    repeats: &[Repeat; 2],
    media: &Media,
    out: &mut Vec<u8>,
) -> usize {
    let own = u32::from(media.payload_type & 0x7f);
    let mut length = 0;
    for repeat in repeats.iter().rev().filter(is_used) {
        let ticks = media.ticks(Span::from_nanos(u64::from(repeat.age))).min(MOST_TICKS);
        let bytes = u32::from(repeat.payload).min(MOST_LENGTH);
        out.extend((MORE | own << 24 | ticks << 10 | bytes).to_be_bytes());
        length += bytes as usize;
    }
    out.push(own as u8);
    let least = out.len() + length;
    Descriptor::single_part(layer, payload, unit, created).write(out);
    for repeat in repeats.iter().rev().filter(is_used) {
        out.extend(repeat.back.to_be_bytes());
        out.extend(repeat.age.to_be_bytes());
    }
    least.max(out.len())
}

/// Reads a datagram. Returns its body and the video layer.
pub(super) fn read(
    bytes: &[u8],
    format: &Format,
    feedback: bool,
    extender: &mut SequenceExtender,
) -> Result<(Body, u8), WireError> {
    let foreign = |why: String| WireError::Foreign { protocol: "RTP", why };
    let rtp = RtpPacket::parse(bytes).map_err(|error| foreign(error.to_string()))?;
    expect("SSRC", rtp.ssrc(), format.media.source(feedback))?;
    expect("number of contributing sources", rtp.n_csrcs(), 0u32)?;
    expect("extension bit", rtp.extension_bit(), false)?;
    expect("padding bit", rtp.padding_bit(), false)?;
    let number = extender.extend(rtp.sequence_number());
    let payload = rtp.payload();
    let (body, layer, (created, marker)) = if rtp.payload_type() == REDUNDANT {
        let (body, descriptor) = read_redundant(payload, number as u32, &format.media)?;
        (body, descriptor.layer, (descriptor.created, false))
    } else {
        expect("payload type", rtp.payload_type(), format.media.payload_type & 0x7f)?;
        let Descriptor { layer, payload, unit, created, part, parts } = Descriptor::read(payload)?;
        let body = Body::Datagram { payload, sequence: number as u32, unit, part, parts, created };
        (body, layer, (created, is_last(part, parts)))
    };
    expect("timestamp", rtp.timestamp(), format.media.timestamp(created))?;
    expect("marker", rtp.marker_bit(), marker)?;
    extender.note(number);
    Ok((body, layer))
}

fn read_redundant(payload: &[u8], sequence: u32, media: &Media) -> Result<(Body, Descriptor), WireError> {
    let own = media.payload_type & 0x7f;
    let mut repeats = [Repeat::default(); 2];
    let mut offsets = [0; 2];
    let (mut blocks, mut at, mut length) = (0, 0, 0);
    let reader = Reader(payload);
    loop {
        need(payload, at + 1)?;
        let first = reader.u8(at);
        expect("payload type of a block", first & 0x7f, own)?;
        if first & 0x80 == 0 {
            break;
        }
        need(payload, at + BLOCK)?;
        let (Some(repeat), Some(offset)) = (repeats.get_mut(blocks), offsets.get_mut(blocks)) else {
            return Err(WireError::Field { field: "number of repeated blocks", found: blocks as u64 + 1, expected: 2 });
        };
        let word = reader.u32(at);
        repeat.payload = (word & MOST_LENGTH) as u16;
        *offset = word >> 10 & MOST_TICKS;
        length += usize::from(repeat.payload);
        (blocks, at) = (blocks + 1, at + BLOCK);
    }
    let data = payload.get(at + 1..).unwrap_or(&[]);
    need(data, length.max(Descriptor::SINGLE_PART + REPEAT * blocks))?;
    let descriptor = Descriptor::read_single_part(data)?;
    let more = Reader(data.get(Descriptor::SINGLE_PART..).unwrap_or(&[]));
    for (place, (repeat, offset)) in repeats.iter_mut().zip(offsets).enumerate().take(blocks) {
        (repeat.back, repeat.age) = (more.u16(REPEAT * place), more.u32(REPEAT * place + 2));
        if repeat.back == 0 {
            return Err(WireError::Superfluous("repeat of the packet's own unit"));
        }
        expect("timestamp offset of a block", offset, media.ticks(Span::from_nanos(u64::from(repeat.age))))?;
    }
    // The headers begin with the oldest unit, fairwave's list with the latest.
    if let Some(used) = repeats.get_mut(..blocks) {
        used.reverse();
    }
    let Descriptor { payload, unit, created, .. } = descriptor;
    Ok((Body::Redundant { payload, sequence, unit, created, repeats }, descriptor))
}
