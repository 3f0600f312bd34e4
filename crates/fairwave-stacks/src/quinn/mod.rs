//! QUIC by quinn-proto, the protocol state machine of quinn.
//!
//! Both ends are unmodified quinn-proto: packets, recovery, pacing, flow control, path MTU discovery and congestion
//! control. Three parts are replaced so that a run depends only on its seed: TLS ([`crypto`]); randomness (`rng_seed`
//! for endpoints, and numbers from the flow's stream for connection IDs and tokens); and the clock.
//!
//! **Assumptions.** † The sender opens the connection. Its application has data once the connection is established; no
//! 0-RTT data is sent.

mod connection;
mod crypto;

use std::sync::Arc;

use fairwave_core::config::ConfigError;
use fairwave_core::random::Stream;
use fairwave_core::registry::{Checked, Law};
use fairwave_core::transport::{FlowContext, PacketSize, Properties, TransportLaw};
use fairwave_core::units::Bytes;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{StackEnd, pair};
pub use connection::Quinn;

/// QUIC by quinn-proto 0.11: two endpoints, packet by packet.
///
/// Files, pages and bulk data use streams; frames use streams or datagrams. Messages and tags of the same length
/// replace TLS.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct QuinnConfig {
    /// Congestion controller of quinn. Default `cubic`, as in quinn.
    pub control: QuinnControl,
    /// How the application's units travel. Default `streams`.
    pub carry: Carry,
    /// Largest UDP payload that path MTU discovery tries. Default 1452 B, as in quinn: 1500 less IPv6 and UDP.
    pub mtu: Mtu,
}

/// Largest UDP payload, B.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Mtu(pub Bytes);

impl Default for Mtu {
    fn default() -> Self {
        Mtu(Bytes::new(1452))
    }
}

/// Congestion controllers of quinn-proto.
///
/// BBR is missing: it draws from the operating system's randomness, and no setting seeds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuinnControl {
    /// CUBIC; quinn's authors cite RFC 8312.
    #[default]
    Cubic,
    /// NewReno (RFC 9002 §7).
    NewReno,
}

impl QuinnControl {
    fn factory(self) -> Arc<dyn ControllerFactory + Send + Sync> {
        match self {
            QuinnControl::Cubic => Arc::new(CubicConfig::default()),
            QuinnControl::NewReno => Arc::new(NewRenoConfig::default()),
        }
    }
}

/// How the application's units travel over QUIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Carry {
    /// One stream per unit: a file, an object of a page, or a frame (as in Media over QUIC). Each is retransmitted
    /// until it arrives, and none waits for another.
    #[default]
    Streams,
    /// All units on one stream, in order. A lost packet delays everything after it.
    OneStream,
    /// Datagrams (RFC 9221), at most as long as a packet allows; longer units are split. Nothing is retransmitted.
    Datagrams,
}

impl Checked for QuinnConfig {
    /// Checks the range: QUIC needs at least 1200 B (RFC 9000 §14), and IPv4 carries at most 65 507 B.
    fn check(&self) -> Result<(), ConfigError> {
        if !(1200..=65_507).contains(&self.mtu.0.get()) {
            return Err(ConfigError::new("mtu", self.mtu.0, "from 1200 B to 65507 B", "mtu = \"1452 B\""));
        }
        Ok(())
    }
}

impl Law for QuinnConfig {
    const NAME: &'static str = "quic/quinn";
    const EXAMPLE: &'static str = r#"{"control": "cubic"}"#;
}

/// Overhead of a full packet of a stream: IPv4 and UDP 28 B, short header with an 8-byte connection ID and a 2-byte
/// number 11 B, STREAM frame header 8 B †, and tag 16 B.
const HEADER: u64 = 63;

impl Properties for QuinnConfig {
    fn packet(&self, _bulk: bool) -> PacketSize {
        PacketSize { payload: Bytes::new(self.mtu.0.get() + 28 - HEADER), header: Bytes::new(HEADER) }
    }

    fn delivers_all(&self) -> bool {
        self.carry != Carry::Datagrams
    }

    fn only_simulated(&self) -> Option<&'static str> {
        Some("transport = \"tcp/cubic\"")
    }

    fn shown(&self) -> Option<String> {
        let control = match self.control {
            QuinnControl::Cubic => None,
            QuinnControl::NewReno => Some("new-reno"),
        };
        let carry = match self.carry {
            Carry::Streams => None,
            Carry::OneStream => Some("one-stream"),
            Carry::Datagrams => Some("datagrams"),
        };
        let shown: Vec<_> = [control, carry].into_iter().flatten().collect();
        (!shown.is_empty()).then(|| shown.join(", "))
    }
}

impl TransportLaw for QuinnConfig {
    type Sender = StackEnd<Quinn>;
    type Receiver = StackEnd<Quinn>;

    fn endpoints(
        &self,
        context: FlowContext,
        mut stream: Stream,
    ) -> Result<(StackEnd<Quinn>, StackEnd<Quinn>), ConfigError> {
        self.check()?;
        if context.bulk && self.carry == Carry::Datagrams {
            let allowed = "`streams` or `one-stream` for bulk data: datagrams carry units";
            return Err(ConfigError::new("carry", "datagrams", allowed, "carry = \"streams\""));
        }
        let mut seed = || stream.uniform_below(u64::MAX);
        let (client, server) = (seed(), seed());
        Ok(pair(context, Quinn::client(self, context.bulk, client), Quinn::server(self, server)))
    }
}

#[cfg(test)]
mod tests;
