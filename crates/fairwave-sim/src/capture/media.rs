//! Headers above UDP: RTP and RTCP as RFC 3550 lays them out, DVRC's own bytes, and for TFRC and RAP, of which no layout is
//! standard, the fields that their senders and receivers exchange, big-endian (`fairwave.lua`, beside the Python package's
//! captures, teaches Wireshark to read them).
//!
//! **Assumptions.** Media clocks begin at 0, sequence numbers too; the source's number (SSRC) is the flow's number plus 1, its
//! receiver's has the highest bit besides. RTCP's wall clock begins 1970-01-01 with the run.

use fairwave_core::packet::{Body, Packet, Repeat};
use fairwave_core::transport::dvrc::wire::{CONTROL, DATA_HEADER};
use fairwave_core::units::{Instant, Span};
use rtcp_types::{
    Compound, ReceiverReport, ReportBlock, RtcpPacketWriter, RtcpPacketWriterExt, Sdes, SdesChunk, SdesItem,
    SenderReport,
};
use rtp_types::RtpPacketBuilder;

use super::address;

/// Seconds from NTP's epoch, 1900, to that of the captures' timestamps, 1970.
const NTP_OFFSET: u64 = 2_208_988_800;

/// What RTP says of a flow's media.
#[derive(Clone, Copy, Debug)]
pub(super) struct Media {
    pub payload_type: u8,
    /// Ticks per second of its timestamps.
    pub clock: u32,
    pub ssrc: u32,
}

impl Media {
    fn ticks(&self, nanos: u64) -> u32 {
        (u128::from(nanos) * u128::from(self.clock) / 1_000_000_000) as u32
    }

    fn rtp(&self, sequence: u32, created: Instant, marker: bool, payload_type: u8) -> Vec<u8> {
        RtpPacketBuilder::<&[u8], &[u8]>::new()
            .payload_type(payload_type)
            .sequence_number(sequence as u16)
            .timestamp(self.ticks(created.nanos()))
            .ssrc(self.ssrc)
            .marker_bit(marker)
            .write_vec()
            .unwrap_or_default()
    }
}

/// The payload type of speech that is sent more than once (RFC 2198), dynamic.
const REDUNDANT: u8 = 97;
/// Packet types of TFRC and RAP in the layouts of fairwave's own.
const DATA: u8 = 1;
const FEEDBACK: u8 = 2;

/// The port, the header above UDP, and how many bytes of payload follow it; none for what is not carried by UDP.
pub(super) fn above_udp(packet: &Packet, media: &Media, is_rap: bool, host: &str) -> Option<(u16, Vec<u8>, usize)> {
    Some(match packet.body {
        Body::Datagram { payload, sequence, unit, part, parts, created } if is_rap => {
            let mut bytes = vec![DATA, 0];
            for number in [part, parts, payload] {
                bytes.extend(number.to_be_bytes());
            }
            bytes.extend(sequence.to_be_bytes());
            bytes.extend(unit.to_be_bytes());
            bytes.extend(created.nanos().to_be_bytes());
            (address::RAP, bytes, usize::from(payload))
        }
        Body::Datagram { payload, sequence, part, parts, created, .. } => {
            let marker = parts > 1 && part + 1 == parts;
            (address::RTP, media.rtp(sequence, created, marker, media.payload_type), usize::from(payload))
        }
        Body::Redundant { payload, sequence, created, repeats, .. } => {
            let mut bytes = media.rtp(sequence, created, false, REDUNDANT);
            let mut length = usize::from(payload);
            // The oldest first (RFC 2198 §3); what its fields cannot hold the sender does not repeat.
            for Repeat { payload, age, .. } in repeats.into_iter().rev().filter(|repeat| repeat.back > 0) {
                let ticks = media.ticks(u64::from(age)) & 0x3fff;
                let word = 1 << 31 | u32::from(media.payload_type) << 24 | ticks << 10 | u32::from(payload) & 0x3ff;
                bytes.extend(word.to_be_bytes());
                length += usize::from(payload);
            }
            bytes.push(media.payload_type);
            (address::RTP, bytes, length)
        }
        Body::TfrcData { payload, part, parts, sequence, unit, sent, created, round_trip } => {
            let mut bytes = vec![DATA, 0];
            for number in [part, parts, payload] {
                bytes.extend(number.to_be_bytes());
            }
            for number in [sequence, unit, micros(round_trip)] {
                bytes.extend(number.to_be_bytes());
            }
            bytes.extend(sent.nanos().to_be_bytes());
            bytes.extend(created.nanos().to_be_bytes());
            (address::TFRC, bytes, usize::from(payload))
        }
        Body::TfrcFeedback { echo, delay, receive_rate, loss_event_rate } => {
            let mut bytes = vec![FEEDBACK, 0, 0, 0];
            bytes.extend(micros(delay).to_be_bytes());
            bytes.extend(echo.nanos().to_be_bytes());
            bytes.extend(receive_rate.bits_per_second().to_be_bytes());
            bytes.extend(loss_event_rate.to_be_bytes());
            (address::TFRC, bytes, 0)
        }
        Body::RapAck { current, missing, before } => {
            let mut bytes = vec![FEEDBACK, u8::from(missing.is_some()), 0, 0];
            for number in [current, missing.unwrap_or(0), before] {
                bytes.extend(number.to_be_bytes());
            }
            (address::RAP, bytes, 0)
        }
        Body::RtcpSenderReport { sent, packets, octets } => {
            let report = SenderReport::builder(media.ssrc)
                .ntp_timestamp(ntp(sent))
                .rtp_timestamp(media.ticks(sent.nanos()))
                .packet_count(packets)
                .octet_count(octets);
            (address::RTP + 1, compound(report, media.ssrc, host), 0)
        }
        Body::RtcpReceiverReport { fraction_lost, lost, highest, jitter, sender_report, delay, .. } => {
            let ssrc = media.ssrc | 1 << 31;
            let block = ReportBlock::builder(media.ssrc)
                .fraction_lost(fraction_lost)
                // 24 bits with a sign (RFC 3550 §6.4.1).
                .cumulative_lost(lost.min(0x7f_ffff))
                .extended_sequence_number(highest)
                .interarrival_jitter(media.ticks(jitter.nanos()))
                .last_sender_report_timestamp(sender_report.map_or(0, |sent| (ntp(sent) >> 16) as u32))
                .delay_since_last_sender_report_timestamp(if sender_report.is_some() { in_65536ths(delay) } else { 0 });
            (address::RTP + 1, compound(ReceiverReport::builder(ssrc).add_report_block(block), ssrc, host), 0)
        }
        Body::Dvrc { header, .. } => {
            let length = if packet.feedback { CONTROL } else { DATA_HEADER };
            let payload = if packet.feedback { 0 } else { usize::from(u16::from_be_bytes([header[4], header[5]])) };
            (address::DVRC, header[..length].to_vec(), payload)
        }
        Body::Segment { .. } | Body::Forward { .. } | Body::Ack { .. } => return None,
    })
}

/// A report with who sends it (RFC 3550 §6.1).
fn compound(report: impl RtcpPacketWriter, ssrc: u32, host: &str) -> Vec<u8> {
    let chunk = SdesChunk::builder(ssrc).add_item(SdesItem::builder(SdesItem::CNAME, host));
    let whole = Compound::builder().add_packet(report).add_packet(Sdes::builder().add_chunk(chunk));
    let mut bytes = vec![0; whole.calculate_size().unwrap_or(0)];
    let length = whole.write_into(&mut bytes).unwrap_or(0);
    bytes.truncate(length);
    bytes
}

/// 64 bits of seconds since 1900, 32 of them behind the point.
fn ntp(time: Instant) -> u64 {
    let (seconds, nanos) = (time.nanos() / 1_000_000_000, time.nanos() % 1_000_000_000);
    ((NTP_OFFSET + seconds) << 32) | ((nanos << 32) / 1_000_000_000)
}

fn in_65536ths(span: Span) -> u32 {
    (u128::from(span.nanos()) * 65_536 / 1_000_000_000).min(u128::from(u32::MAX)) as u32
}

fn micros(span: Span) -> u32 {
    u32::try_from(span.nanos() / 1000).unwrap_or(u32::MAX)
}
