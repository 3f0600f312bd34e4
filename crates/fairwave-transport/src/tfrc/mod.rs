//! TFRC: a smooth rate from an equation, with the long-term throughput of a TCP on the same path (RFC 5348).
//!
//! The receiver measures the loss event rate and reports it once per round-trip time. The sender puts it into the
//! TCP throughput equation. [`equation`] has the equation, [`history`] the loss event rate, and [`limits`] the
//! limits from the receive rate. [`TfrcSender`] and [`TfrcReceiver`] are the endpoints. TFRC carries bulk data and
//! units (voice, video, constant rate). It paces packets on virtual time.
//!
//! With `small-packets` it is TFRC-SP (RFC 4828). The equation counts segments of 1460 bytes for any packet size.
//! The rate
//! is lowered by the share of headers (40 bytes). Packets leave at least 10 ms apart. A loss interval of at most two
//! round trips with K losses among N packets counts N/K.
//!
//! **Assumptions.**
//! - The segment size s of the equation is the mean payload of packets sent (received), smoothed with gain 1/16.
//!   (§4.1 requires a mean and leaves the averaging open.) Rates count payload, as in §3.1.
//! - A report older than one already processed (reordered) is ignored.
//! - Unused sending credit is kept for at most one round-trip time (§4.6), and only by a sender that had nothing to send.
//! - The send queue is unbounded.
//! - TFRC-SP uses H = 40 bytes for any `header`, and N/K only for closed loss intervals;
//!   its packets are never sent in bursts.
//!
//! **The preset `ns2`** takes from ns-2.35 (`tfrc.cc`, `tfrc-sink.cc`, `ns-default.tcl`) the rules listed in
//! `PresetDetails`. A packet is lost with the first that overtakes it (`numPkts_`). Old intervals count at least
//! half (`minDiscountRatio_`). The round trip is smoothed over a longer past (`df_`). The rate is halved after two
//! silent round trips, rises by at most a packet per round trip in each, and damps oscillations (`ca_`). The
//! preset does not take its timeout in the equation (coarse ticks; here four round trips). It does not take its
//! reports (here by the timer, there by the first packet after it). Nor does it take its receive rate (there since
//! the last report) and its slow start (there spread over a round trip).

pub mod equation;
pub mod history;
pub mod limits;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;
pub mod wire;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use receiver::TfrcReceiver;
pub use sender::TfrcSender;

use crate::{PacketSize, Properties, TransportLaw};
use fairwave_endpoint::FlowContext;
use fairwave_endpoint::preset::Preset;
use fairwave_endpoint::sizes::{DATAGRAM_PAYLOAD, check_sizes};
use fairwave_endpoint::wire::Protocol;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Span};

/// Rules that differ between presets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct PresetDetails {
    /// Weight of the past in the round-trip time (§4.3: q) and in its root (§4.5: q2).
    pub memory: f64,
    /// Later packets that must arrive before one counts as lost (§5.1: NDUPACK).
    pub later_arrivals: usize,
    /// Lower bound of the discount of old intervals (§5.5: THRESHOLD).
    pub least_discount: f64,
    /// Round trips without a report after which the rate falls (§4.3 step 6).
    pub patience: f64,
    /// Outside slow start, the rate rises by at most this many packets per round trip in each; infinite by §4.3.
    pub increase: f64,
    /// The rate is lowered while the round trip rises (§4.5).
    pub damps: bool,
}

/// TFRC (RFC 5348). The receiver measures the loss event rate and reports it once per round trip; the sender puts it
/// into the throughput equation of TCP and paces packets at that rate. The defaults are RFC 5348's, with ns-2's sizes
/// for bulk data (1000 B of payload, 32 B of headers).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TfrcConfig {
    /// Source of parameters that are not set. Default rfc (RFC 5348).
    #[serde(skip_serializing_if = "is_rfc")]
    #[schemars(extend("default" = Preset::Rfc))]
    pub preset: Preset,
    /// Payload of a packet of bulk data, and the most payload of a unit in one packet. Default 1000 B for bulk data, as
    /// in ns-2, and 1200 B for units, as in other datagrams.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "1000 B for bulk data, 1200 B for units"))]
    pub segment: Option<Bytes>,
    /// Header bytes of a data packet on the wire. Default 32 B, as ns-2 counts them.
    pub header: Bytes,
    /// Bytes of a feedback packet on the wire. Default 40 B, as ns-2 counts them.
    pub feedback: Bytes,
    /// Discount old loss intervals when the current one is long (RFC 5348 §5.5). Default true.
    pub history_discounting: bool,
    /// Lower the rate while the round-trip time rises (RFC 5348 §4.5). Default: rfc false, ns2 true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-defaults" = Preset::defaults(&[Preset::Rfc, Preset::Ns2], |preset| TfrcConfig { preset, ..TfrcConfig::default() }.details().damps)))]
    pub oscillation_damping: Option<bool>,
    /// TFRC-SP for small packets (RFC 4828): the rate in bits per second equals the rate of a TCP with segments of
    /// 1460 B. Default false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    pub small_packets: bool,
}

impl Default for TfrcConfig {
    fn default() -> Self {
        TfrcConfig {
            preset: Preset::Rfc,
            segment: None,
            header: Bytes::new(32),
            feedback: Bytes::new(40),
            history_discounting: true,
            oscillation_damping: None,
            small_packets: false,
        }
    }
}

impl Law for TfrcConfig {
    const NAME: &'static str = "tfrc";
}

impl Properties for TfrcConfig {
    fn packet(&self, bulk: bool) -> PacketSize {
        let default = if bulk { BULK_SEGMENT } else { DATAGRAM_PAYLOAD };
        PacketSize { payload: self.segment.unwrap_or(default), header: self.header }
    }

    fn like_ns2(&self) -> Option<(&'static str, Value)> {
        Some(("preset", Value::from("ns2")))
    }

    fn protocol(&self) -> Protocol {
        Protocol::Tfrc
    }
}

impl TransportLaw for TfrcConfig {
    type Sender = TfrcSender;
    type Receiver = TfrcReceiver;

    fn endpoints(&self, context: FlowContext, _stream: Stream) -> Result<(TfrcSender, TfrcReceiver), ConfigError> {
        Ok((TfrcSender::new(context, self)?, TfrcReceiver::new(context, self)?))
    }
}

fn is_rfc(preset: &Preset) -> bool {
    *preset == Preset::Rfc
}

impl TfrcConfig {
    pub(super) fn details(&self) -> PresetDetails {
        let law = match self.preset {
            Preset::Rfc | Preset::Linux => PresetDetails {
                memory: 0.9,
                later_arrivals: 3,
                least_discount: 0.25,
                patience: 4.0,
                increase: f64::INFINITY,
                damps: false,
            },
            Preset::Ns2 | Preset::Ns2Of2004 => PresetDetails {
                memory: 0.95,
                later_arrivals: 1,
                least_discount: 0.5,
                patience: 2.0,
                increase: 1.0,
                damps: true,
            },
        };
        PresetDetails { damps: self.oscillation_damping.unwrap_or(law.damps), ..law }
    }
}

impl Checked for TfrcConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// If `segment` is zero, if a packet would exceed 65 535 B on the wire, or with the preset `linux` (Linux has
    /// no TFRC).
    fn check(&self) -> Result<(), ConfigError> {
        if self.preset == Preset::Linux {
            let allowed = "rfc, ns2 or ns2-2004 (linux is a preset of TCP's)";
            return Err(ConfigError::new("preset", "linux", allowed, "preset = \"rfc\""));
        }
        check_sizes(self.segment.unwrap_or(DATAGRAM_PAYLOAD), self.header)?;
        if self.feedback.get() > u64::from(u16::MAX) {
            return Err(ConfigError::new("feedback", self.feedback, "at most 65535 B", "feedback = \"40 B\""));
        }
        Ok(())
    }
}

/// RFC 4828: the segment size of the equation for any packet size (§4.1: the nominal segment size).
const NOMINAL_SEGMENT: f64 = 1460.0;
/// RFC 4828: bytes of headers that lower the allowed rate (H).
const SMALL_PACKET_HEADERS: f64 = 40.0;
/// RFC 4828: the least time between packets (the Min Interval).
const LEAST_INTERVAL: Span = Span::from_millis(10);

impl TfrcConfig {
    /// The segment size of the equation for packets that carry `segment` bytes.
    fn equation_segment(&self, segment: f64) -> f64 {
        if self.small_packets { NOMINAL_SEGMENT } else { segment }
    }

    /// The payload share of the equation's rate for packets that carry `segment` bytes.
    fn payload_part(&self, segment: f64) -> f64 {
        if self.small_packets { segment / (segment + SMALL_PACKET_HEADERS) } else { 1.0 }
    }
}

/// The payload of bulk packets, as in ns-2.
const BULK_SEGMENT: Bytes = Bytes::new(1000);
