//! Sender reports (RFC 3550 §6.4.1), with the library `rtcp-types`.

use rtcp_types::prelude::{RtcpPacketParser, RtcpPacketWriterExt};

use super::bytes::foreign;
use super::receiver_report::{ReportBlock, append};
use fairwave_endpoint::wire::WireError;

/// Report of a sender on one of its streams.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SenderReport {
    /// SSRC of the stream.
    pub ssrc: u32,
    /// Time of the report ([`super::time::ntp`]).
    pub ntp: u64,
    /// The same time in ticks of the stream's clock. Receivers use the pair to synchronise streams by capture times.
    pub rtp: u32,
    /// Packets sent, modulo 2³².
    pub packets: u32,
    /// Payload bytes sent, without headers and padding, modulo 2³².
    pub octets: u32,
    /// Reception reports of the sender.
    pub blocks: Vec<ReportBlock>,
}

impl SenderReport {
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut builder = rtcp_types::SenderReport::builder(self.ssrc)
            .ntp_timestamp(self.ntp)
            .rtp_timestamp(self.rtp)
            .packet_count(self.packets)
            .octet_count(self.octets);
        for block in &self.blocks {
            builder = builder.add_report_block(block.builder());
        }
        append(out, |bytes| builder.write_into(bytes))
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let report = rtcp_types::SenderReport::parse(bytes).map_err(foreign)?;
        Ok(SenderReport {
            ssrc: report.ssrc(),
            ntp: report.ntp_timestamp(),
            rtp: report.rtp_timestamp(),
            packets: report.packet_count(),
            octets: report.octet_count(),
            blocks: report.report_blocks().map(|block| ReportBlock::read(&block)).collect(),
        })
    }
}
