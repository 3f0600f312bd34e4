//! RTCP reports in the format of RFC 3550. Compound packets hold a sender's or receiver's report and its source
//! (CNAME, §6.1). An early report adds an application-defined packet (§6.7) named `ERLY`, because a report has no
//! field for this.
//!
//! Their resolution is lower than the resolution of fairwave's fields:
//!
//! | field | resolution |
//! |---|---|
//! | sending time of a sender report | exact in the report; in the receiver's answer 1/65 536 s, within the first 65 536 s of the sender's clock |
//! | time since its arrival | 1/65 536 s |
//! | jitter | a tick of the media clock |
//! | datagrams lost | at most 2²³ − 1 |
//!
//! All are rounded down. So the round-trip time that a sender computes from them is at most 31 µs too long, and
//! never negative. The NTP timestamp counts from 1970-01-01, the zero of the sender's clock: it is no wall clock,
//! as §6.4.1 allows. Padding (§6.4.1) extends the datagram to the report's size, by up to 252 bytes in words of 4.
//! The datagram is never shorter than its contents.

use rtcp_types::{
    App, Compound, Packet as Part, ReceiverReport, ReportBlock, RtcpPacketWriter, RtcpPacketWriterExt, Sdes, SdesChunk,
    SdesItem, SenderReport,
};

use crate::wire::{Format, WireError};
use fairwave_endpoint::wire::error::expect;
use fairwave_network::packet::Body;
use fairwave_units::units::{Instant, Span};

/// Seconds from NTP's epoch, 1900, to 1970.
const NTP_OFFSET: u64 = 2_208_988_800;
/// The largest loss that a report can carry: 24 bits with a sign (RFC 3550 §6.4.1).
const MOST_LOST: u32 = 0x7f_ffff;
/// The name of the packet that marks an early report.
const EARLY: &str = "ERLY";
/// The largest padding: its length is a byte, in multiples of 4.
const MOST_PADDING: usize = 252;
const SECOND: u64 = 1_000_000_000;

/// True if a datagram on the RTP port is RTCP (RFC 5761 §4).
pub(crate) fn is_report(bytes: &[u8]) -> bool {
    bytes.get(1).is_some_and(|kind| (192..=223).contains(kind))
}

/// Writes a report, padded to `target` bytes if possible.
pub(crate) fn write(body: &Body, feedback: bool, format: &Format, target: usize, out: &mut Vec<u8>) {
    let media = &format.media;
    let source = media.source(feedback);
    match *body {
        Body::RtcpSenderReport { sent, packets, octets } => {
            let report = SenderReport::builder(source)
                .ntp_timestamp(ntp(sent))
                .rtp_timestamp(media.timestamp(sent))
                .packet_count(packets)
                .octet_count(octets);
            compound(report, source, format.name(feedback), false, target, out);
        }
        Body::RtcpReceiverReport { fraction_lost, early, lost, highest, jitter, sender_report, delay } => {
            let block = ReportBlock::builder(media.source(!feedback))
                .fraction_lost(fraction_lost)
                .cumulative_lost(lost.min(MOST_LOST))
                .extended_sequence_number(highest)
                .interarrival_jitter(media.ticks(jitter))
                .last_sender_report_timestamp(sender_report.map_or(0, |sent| (ntp(sent) >> 16) as u32))
                .delay_since_last_sender_report_timestamp(if sender_report.is_some() { to_65536ths(delay) } else { 0 });
            let report = ReceiverReport::builder(source).add_report_block(block);
            compound(report, source, format.name(feedback), early, target, out);
        }
        _ => {}
    }
}

fn compound(report: impl RtcpPacketWriter, source: u32, name: &str, early: bool, target: usize, out: &mut Vec<u8>) {
    let chunk = SdesChunk::builder(source).add_item(SdesItem::builder(SdesItem::CNAME, name));
    let sdes = Sdes::builder().add_chunk(chunk);
    let early = early.then(|| App::builder(source, EARLY));
    let size = |part: &dyn RtcpPacketWriter| part.calculate_size().unwrap_or(0);
    let plain = size(&report) + size(&sdes) + early.as_ref().map_or(0, |early| size(early));
    let padding = (target.saturating_sub(plain) / 4 * 4).min(MOST_PADDING) as u8;
    let whole = Compound::builder().add_packet(report);
    let whole = match early {
        Some(early) => whole.add_packet(sdes).add_packet(early.padding(padding)),
        None => whole.add_packet(sdes.padding(padding)),
    };
    let mut bytes = vec![0; whole.calculate_size().unwrap_or(0)];
    let length = whole.write_into(&mut bytes).unwrap_or(0);
    out.extend(bytes.iter().take(length));
}

/// Reads a report of the flow's sender, or with `feedback` of its receiver.
pub(crate) fn read(bytes: &[u8], feedback: bool, format: &Format) -> Result<Body, WireError> {
    let foreign = |why: String| WireError::Foreign { protocol: "RTCP", why };
    let media = &format.media;
    let first = Compound::parse(bytes).map_err(|error| foreign(error.to_string()))?.next();
    let first = first.transpose().map_err(|error| foreign(error.to_string()))?;
    let body = match first {
        Some(Part::Sr(report)) => {
            expect("SSRC", report.ssrc(), media.source(feedback))?;
            Body::RtcpSenderReport {
                sent: instant(report.ntp_timestamp())?,
                packets: report.packet_count(),
                octets: report.octet_count(),
            }
        }
        Some(Part::Rr(report)) => {
            expect("SSRC", report.ssrc(), media.source(feedback))?;
            let mut blocks = report.report_blocks();
            let (Some(block), None) = (blocks.next(), blocks.next()) else {
                let found = u64::from(report.n_reports());
                return Err(WireError::Field { field: "number of report blocks", found, expected: 1 });
            };
            let middle = block.last_sender_report_timestamp();
            Body::RtcpReceiverReport {
                fraction_lost: block.fraction_lost(),
                early: false,
                lost: block.cumulative_lost(),
                highest: block.extended_sequence_number(),
                jitter: media.span(block.interarrival_jitter()),
                sender_report: (middle != 0).then(|| from_middle_bits(middle)),
                delay: from_65536ths(block.delay_since_last_sender_report_timestamp()),
            }
        }
        _ => return Err(foreign("it does not begin with a sender's or a receiver's report".to_owned())),
    };
    // fairwave's ends send nothing else in RTCP. So the rest must equal the bytes that fairwave would have written;
    // otherwise the packet is foreign.
    let (mut body, mut again) = (body, Vec::with_capacity(bytes.len()));
    write(&body, feedback, format, bytes.len(), &mut again);
    if again != bytes
        && let Body::RtcpReceiverReport { early, .. } = &mut body
    {
        *early = true;
        again.clear();
        write(&body, feedback, format, bytes.len(), &mut again);
    }
    if again == bytes {
        return Ok(body);
    }
    Err(foreign("it differs from what this flow's other end sends".to_owned()))
}

/// The 64-bit NTP timestamp: seconds since 1900 with 32 fractional bits.
fn ntp(time: Instant) -> u64 {
    let (seconds, nanos) = (time.nanos() / SECOND, time.nanos() % SECOND);
    (NTP_OFFSET.wrapping_add(seconds) << 32) | ((nanos << 32) / SECOND)
}

/// The instant of an NTP timestamp that fairwave wrote. Fractions of 2⁻³² s are finer than nanoseconds.
fn instant(ntp: u64) -> Result<Instant, WireError> {
    let (seconds, fraction) = (ntp >> 32, ntp & u64::from(u32::MAX));
    let Some(since) = seconds.checked_sub(NTP_OFFSET) else {
        return Err(WireError::Foreign {
            protocol: "RTCP",
            why: format!("its NTP timestamp is of second {seconds}, before 1970 (second {NTP_OFFSET})"),
        });
    };
    Ok(Instant::from_nanos(since * SECOND + (fraction * SECOND).div_ceil(1 << 32)))
}

/// The instant whose NTP timestamp has these middle 32 bits, within the first 65 536 s.
fn from_middle_bits(middle: u32) -> Instant {
    let seconds = ((middle >> 16) as u16).wrapping_sub(NTP_OFFSET as u16);
    Instant::from_nanos(u64::from(seconds) * SECOND) + from_65536ths(middle & 0xffff)
}

fn to_65536ths(span: Span) -> u32 {
    (u128::from(span.nanos()) * 65_536 / u128::from(SECOND)).min(u128::from(u32::MAX)) as u32
}

/// The shortest span with this number of whole 65 536ths of a second.
fn from_65536ths(count: u32) -> Span {
    Span::from_nanos((u64::from(count) * SECOND).div_ceil(65_536))
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
