//! TFRC: a rate as smooth as an equation and as fast, over long times, as a TCP in its place (RFC 5348).
//!
//! The receiver measures the loss event rate and reports it once per round-trip time; the sender puts it into the TCP
//! throughput equation. [`equation`] has the equation, [`history`] the loss event rate, [`limits`] what the receive rate
//! allows, [`TfrcSender`] and [`TfrcReceiver`] the endpoints. Bulk data and units (voice, video, constant rate) are both
//! carried; packets are paced on virtual time.
//!
//! **Assumptions.**
//! - The segment size s of the equation is the mean payload of packets sent (received), smoothed with gain 1/16 (§4.1
//!   asks for a mean and leaves the averaging open); rates count payload, as §3.1 says.
//! - A report that is older than one already taken in (reordered) is ignored.
//! - Unused sending credit is kept for at most one round-trip time (§4.6), and only by a sender that had nothing to send.
//! - The send queue is unbounded.

pub mod equation;
pub mod history;
pub mod limits;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use receiver::TfrcReceiver;
pub use sender::TfrcSender;

use super::FlowContext;
use super::sizes::{DATAGRAM_PAYLOAD, check_sizes};
use crate::config::ConfigError;
use crate::units::Bytes;

/// Parameters of TFRC. The defaults are RFC 5348's, with ns-2's sizes for bulk data (1000 B of payload, 32 B of headers).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TfrcConfig {
    /// Payload of a packet of bulk data, and the most that a packet carries of a unit. Default 1000 B for bulk data, as in ns-2,
    /// and 1200 B for units, as other datagrams carry them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
    /// Header bytes of a data packet on the wire. Default 32 B, as ns-2 counts them.
    pub header: Bytes,
    /// Bytes of a feedback packet on the wire. Default 40 B, as ns-2 counts them.
    pub feedback: Bytes,
    /// Discount old loss intervals when the present one is long (RFC 5348 §5.5). Default true.
    pub history_discounting: bool,
    /// Lower the rate while the round-trip time rises (RFC 5348 §4.5). Default false.
    pub oscillation_damping: bool,
}

impl Default for TfrcConfig {
    fn default() -> Self {
        TfrcConfig {
            segment: None,
            header: Bytes::new(32),
            feedback: Bytes::new(40),
            history_discounting: true,
            oscillation_damping: false,
        }
    }
}

impl TfrcConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// When `segment` is zero, or a packet would exceed 65 535 B on the wire.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_sizes(self.segment.unwrap_or(DATAGRAM_PAYLOAD), self.header)?;
        if self.feedback.get() > u64::from(u16::MAX) {
            return Err(ConfigError::new("feedback", self.feedback, "at most 65535 B", "feedback = \"40 B\""));
        }
        Ok(())
    }

    /// The most payload that a packet carries, of bulk data or of units.
    pub fn packet_payload(&self, bulk: bool) -> Bytes {
        self.segment.unwrap_or(if bulk { BULK_SEGMENT } else { DATAGRAM_PAYLOAD })
    }

    fn segment_of(&self, context: &FlowContext) -> Bytes {
        self.packet_payload(context.bulk)
    }
}

/// The payload of bulk data's packets, as ns-2 sends them.
const BULK_SEGMENT: Bytes = Bytes::new(1000);
