//! Receiver reports (RFC 3550 §6.4.2), with the library `rtcp-types`.

use rtcp_types::RtcpWriteError;
use rtcp_types::prelude::{RtcpPacketParser, RtcpPacketWriterExt};

use super::bytes::foreign;
use fairwave_endpoint::wire::WireError;

/// Size of a report with the maximum of 31 blocks, bytes.
const LONGEST: usize = 28 + 31 * 24;

/// Reception report on one stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReportBlock {
    /// The stream.
    pub ssrc: u32,
    /// Fraction lost since the previous report, in 1/256.
    pub fraction_lost: u8,
    /// Packets lost so far; duplicates may make it negative, which is legal. Written as 24 bits with a sign, clamped to
    /// the range.
    pub lost: i32,
    /// Highest sequence number received, with its cycles in the upper half.
    pub highest: u32,
    /// Interarrival jitter, ticks of the stream's clock (§A.8).
    pub jitter: u32,
    /// Middle 32 bits of the latest sender report's NTP timestamp; 0 for none.
    pub last: u32,
    /// Time since the arrival of that report, 1/65 536 s.
    pub delay: u32,
}

impl ReportBlock {
    pub(crate) fn builder(&self) -> rtcp_types::ReportBlockBuilder {
        let lost = self.lost.clamp(-0x80_0000, 0x7f_ffff) as u32 & 0xff_ffff;
        rtcp_types::ReportBlock::builder(self.ssrc)
            .fraction_lost(self.fraction_lost)
            .cumulative_lost(lost)
            .extended_sequence_number(self.highest)
            .interarrival_jitter(self.jitter)
            .last_sender_report_timestamp(self.last)
            .delay_since_last_sender_report_timestamp(self.delay)
    }

    pub(crate) fn read(block: &rtcp_types::ReportBlock<'_>) -> Self {
        ReportBlock {
            ssrc: block.ssrc(),
            fraction_lost: block.fraction_lost(),
            lost: ((block.cumulative_lost() << 8) as i32) >> 8,
            highest: block.extended_sequence_number(),
            jitter: block.interarrival_jitter(),
            last: block.last_sender_report_timestamp(),
            delay: block.delay_since_last_sender_report_timestamp(),
        }
    }
}

/// Reception reports on streams.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReceiverReport {
    /// SSRC of the reporter.
    pub ssrc: u32,
    /// At most 31.
    pub blocks: Vec<ReportBlock>,
}

impl ReceiverReport {
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut builder = rtcp_types::ReceiverReport::builder(self.ssrc);
        for block in &self.blocks {
            builder = builder.add_report_block(block.builder());
        }
        append(out, |bytes| builder.write_into(bytes))
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let report = rtcp_types::ReceiverReport::parse(bytes).map_err(foreign)?;
        let blocks = report.report_blocks().map(|block| ReportBlock::read(&block)).collect();
        Ok(ReceiverReport { ssrc: report.ssrc(), blocks })
    }
}

/// Appends the output of the library.
pub(crate) fn append(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut [u8]) -> Result<usize, RtcpWriteError>,
) -> Result<(), WireError> {
    let mut bytes = [0; LONGEST];
    let length = write(&mut bytes).map_err(foreign)?;
    out.extend(bytes.iter().take(length));
    Ok(())
}
