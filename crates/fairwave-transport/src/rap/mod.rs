//! RAP: a rate for real-time streams that grows by a packet per round trip and halves on loss, without retransmission.
//!
//! Source: Rejaie, Handley & Estrin, *RAP: An end-to-end rate-based congestion control mechanism for realtime
//! streams in the Internet*, INFOCOM 1999. Numbers that the paper omits come from the authors' RAP in ns-2.35
//! (`ns-default.tcl`, `Agent/RAP`). Every datagram is acknowledged. The sender keeps a gap between packets (IPG).
//! Once per smoothed round trip the rate rises by a packet per round trip, IPG ← IPG·S/(IPG + S). A loss event
//! halves it, IPG ← IPG/β. A packet is lost after three later deliveries, or after a timeout of μ·S + φ·V, which
//! is checked before a packet is sent. Losses of packets that were in flight when a loss event was detected belong
//! to it (cluster losses). With `fine-grain` the gap is stretched by the ratio of a short-term to a long-term mean
//! of the round trip.
//!
//! With `gamma` the rate yields to a queue before it overflows: paper 003's γ (§IV, Eq. (15) and (16)) for a rate
//! instead of a window. When the queueing delay reaches that share of the largest delay seen, the gap becomes
//! IPG/γ one round trip later. Until a packet sent after that is acknowledged, no further decrease is detected. A
//! loss event in between replaces the decrease.
//!
//! **Assumptions.** After the first acknowledgement the rate is a packet per round trip; there is no slow start.
//! The rate does not rise over a round trip in which the application left some of it unused: an unused rate is
//! untested. The gap is at most 64 s. The send queue is unbounded. A unit longer than a segment is cut, and lost
//! packets are not retransmitted.

mod receiver;
mod sender;
#[cfg(test)]
mod tests;
pub mod wire;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use receiver::RapReceiver;
pub use sender::RapSender;

use crate::{PacketSize, Properties, TransportLaw};
use fairwave_endpoint::FlowContext;
use fairwave_endpoint::sizes::{DATAGRAM_PAYLOAD, check_sizes};
use fairwave_endpoint::wire::Protocol;
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::random::Stream;
use fairwave_units::ratio::{OptionalRatio, Ratio};
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Bytes;

/// RAP (Rejaie, Handley & Estrin 1999): additive increase and multiplicative decrease of a rate, for streams.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RapConfig {
    /// Payload of a packet of bulk data, and the most payload of a unit in one packet. Default 1000 B for bulk data,
    /// and 1200 B for units, as in other datagrams.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "1000 B for bulk data, 1200 B for units"))]
    pub segment: Option<Bytes>,
    /// Header bytes of a data packet on the wire. Default 44 B, as ns-2 counts them.
    pub header: Bytes,
    /// Bytes of an acknowledgement on the wire. Default 44 B.
    pub acknowledgement: Bytes,
    /// Part of the rate kept on a loss event, above 0 and below 1. Default 0.5.
    #[serde(with = "Ratio")]
    pub beta: f64,
    /// Lengthen the gap while the round trip exceeds its long-term mean. Default false, as in ns-2.
    pub fine_grain: bool,
    /// γ: share of the largest queueing delay at which the rate falls to the value that empties the queue, above 0
    /// and below 1 (paper 003: 0.5). Not done when left out.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "not done"))]
    pub gamma: Option<f64>,
}

impl Default for RapConfig {
    fn default() -> Self {
        RapConfig {
            segment: None,
            header: Bytes::new(44),
            acknowledgement: Bytes::new(44),
            beta: 0.5,
            fine_grain: false,
            gamma: None,
        }
    }
}

impl Law for RapConfig {
    const NAME: &'static str = "rap";
}

impl Properties for RapConfig {
    fn packet(&self, bulk: bool) -> PacketSize {
        let default = if bulk { Bytes::new(1000) } else { DATAGRAM_PAYLOAD };
        PacketSize { payload: self.segment.unwrap_or(default), header: self.header }
    }

    fn protocol(&self) -> Protocol {
        Protocol::Rap
    }
}

impl TransportLaw for RapConfig {
    type Sender = RapSender;
    type Receiver = RapReceiver;

    fn endpoints(&self, context: FlowContext, _stream: Stream) -> Result<(RapSender, RapReceiver), ConfigError> {
        Ok((RapSender::new(context, self)?, RapReceiver::new(context, self)?))
    }
}

impl Checked for RapConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// If `segment` is zero, a packet would exceed 65 535 B on the wire, or `beta` or `gamma` is not between 0 and 1.
    fn check(&self) -> Result<(), ConfigError> {
        check_sizes(self.segment.unwrap_or(DATAGRAM_PAYLOAD), self.header)?;
        let size = self.acknowledgement;
        if size == Bytes::ZERO || size.get() > u64::from(u16::MAX) {
            return Err(ConfigError::new("acknowledgement", size, "from 1 to 65535 B", "acknowledgement = \"44 B\""));
        }
        check_between("beta", self.beta, 0.0, 1.0, "beta = 0.5")?;
        check_between("gamma", self.gamma.unwrap_or(0.5), 0.0, 1.0, "gamma = 0.5")
    }
}
