//! RTCP over UDP: RTP-like datagrams, receiver reports, and a sender that adds or drops a layer (paper 002 §4.1).
//!
//! RFC 3550 §6: both ends report at randomised intervals. All reports together use at most 5 % of the session's
//! bandwidth, and each end reports at most every 5 s ([`interval`]). Reports carry the fraction lost, the packets
//! lost, the highest sequence number, jitter, and the times for the round-trip estimate. The receiver also reports
//! early when it detects a loss ('and whenever congestion is detected'). Datagrams leave as over UDP, unpaced.
//! Flows without layers are carried as over UDP, with reports.
//!
//! **Assumptions.** Paper 002 names neither thresholds nor spacing:
//! - Each report of a loss above `drop-above` drops a layer. Each regular report of a loss below `add-below` adds one.
//! - An early report follows any other report after at least `early-spacing` (in the spirit of RFC 4585's early
//!   feedback). It does not change the regular schedule.
//! - A regular report without new packets, although some were sent, drops a layer. After three such reports the
//!   receiver is silent until a packet arrives.
//! - Transmission begins with `start-layers`. A session has two members; one of them sends.

pub mod interval;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;
pub(crate) mod wire;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use interval::ReportInterval;
pub use receiver::RtcpReceiver;
pub use sender::RtcpSender;

use super::udp::UdpConfig;
use crate::{PacketSize, Properties, TransportLaw};
use fairwave_endpoint::FlowContext;
use fairwave_endpoint::sizes::DATAGRAM_PAYLOAD;
use fairwave_units::config::{ConfigError, check_fraction, check_span};
use fairwave_units::random::{Seed, Stream};
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Rate, Span};

/// UDP with receiver reports, by which a layered sender adapts (RFC 3550). A report of loss above `drop-above` drops a
/// layer; a regular report of loss below `add-below` adds one. Datagrams leave as over UDP.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RtcpConfig {
    /// Header bytes added to each datagram on the wire. Default 40 B: IPv4 20, UDP 8, RTP 12.
    pub header: Bytes,
    /// Most payload bytes in a datagram; a longer unit is cut. Default 1200 B; paper 002 sends 1000.
    pub max_payload: Bytes,
    /// Bytes of a report on the wire. Default 80 B: IPv4 and UDP 28, receiver report 32, source description 20.
    pub report: Bytes,
    /// Shortest time between regular reports before randomisation. Default 5 s (RFC 3550 §6.2); halved for the first.
    pub minimum: Span,
    /// Use the reduced minimum of RFC 3550 §6.2, 360 s divided by the session's bandwidth in kb/s. Default false.
    pub reduced_minimum: bool,
    /// The session's bandwidth for flows without layers; others have the rate of all layers. Default 1 Mb/s.
    pub session_bandwidth: Rate,
    /// Send an early report after a loss. Default true.
    pub early_reports: bool,
    /// Shortest time from any report to an early one. Default 1 s.
    pub early_spacing: Span,
    /// A report of loss above this fraction drops a layer. Default 0.05.
    #[serde(with = "Ratio")]
    pub drop_above: f64,
    /// A regular report of loss below this fraction adds a layer. Default 0.02.
    #[serde(with = "Ratio")]
    pub add_below: f64,
    /// Number of layers at the start, 1 to 8. Default 1.
    pub start_layers: u8,
}

impl Default for RtcpConfig {
    fn default() -> Self {
        RtcpConfig {
            header: Bytes::new(40),
            max_payload: DATAGRAM_PAYLOAD,
            report: Bytes::new(80),
            minimum: Span::from_secs(5),
            reduced_minimum: false,
            session_bandwidth: Rate::from_bits_per_second(1_000_000),
            early_reports: true,
            early_spacing: Span::from_secs(1),
            drop_above: 0.05,
            add_below: 0.02,
            start_layers: 1,
        }
    }
}

impl Law for RtcpConfig {
    const NAME: &'static str = "rtcp";
    const BESIDE: &'static str = r#"{"traffic": "video"}"#;
}

impl Properties for RtcpConfig {
    fn packet(&self, _bulk: bool) -> PacketSize {
        PacketSize { payload: self.max_payload, header: self.header }
    }

    fn controls_rate(&self) -> bool {
        false
    }

    /// Reports continue while no data is sent.
    fn slowest_timer(&self) -> Span {
        self.minimum
    }
}

impl Checked for RtcpConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.udp().check()?;
        if self.report == Bytes::ZERO || self.report.get() > u64::from(u16::MAX) {
            return Err(ConfigError::new("report", self.report, "from 1 B to 65535 B", "report = \"80 B\""));
        }
        check_span("minimum", self.minimum, "minimum = \"5 s\"")?;
        if self.session_bandwidth.bits_per_second() == 0 {
            let example = "session-bandwidth = \"1 Mb/s\"";
            return Err(ConfigError::new("session-bandwidth", self.session_bandwidth, "above 0", example));
        }
        check_span("early-spacing", self.early_spacing, "early-spacing = \"1 s\"")?;
        check_fraction("drop-above", self.drop_above, "drop-above = 0.05")?;
        if !(0.0..=self.drop_above).contains(&self.add_below) {
            let allowed = format!("from 0 to drop-above ({})", self.drop_above);
            let example = format!("add-below = {}", self.drop_above.min(0.02));
            return Err(ConfigError::new("add-below", self.add_below, allowed, example));
        }
        if !(1..=8).contains(&self.start_layers) {
            return Err(ConfigError::new("start-layers", self.start_layers, "from 1 to 8", "start-layers = 1"));
        }
        Ok(())
    }
}

impl TransportLaw for RtcpConfig {
    type Sender = RtcpSender;
    type Receiver = RtcpReceiver;

    /// `stream` supplies the intervals between reports.
    fn endpoints(&self, context: FlowContext, mut stream: Stream) -> Result<(RtcpSender, RtcpReceiver), ConfigError> {
        let seed = Seed(stream.uniform_below(u64::MAX));
        let sender = RtcpSender::new(context, self, seed.stream("sender"))?;
        Ok((sender, RtcpReceiver::new(context, self, seed.stream("receiver"))?))
    }
}

impl RtcpConfig {
    fn udp(&self) -> UdpConfig {
        UdpConfig { header: self.header, max_payload: self.max_payload, redundancy: 0 }
    }

    /// The intervals between one end's reports.
    fn report_interval(&self, context: &FlowContext, stream: Stream) -> ReportInterval {
        let bandwidth = context.layers.total().unwrap_or(self.session_bandwidth);
        let minimum = (!self.reduced_minimum).then_some(self.minimum);
        ReportInterval::new(self.report, minimum, bandwidth, stream)
    }
}
