//! QUIC by quinn-proto, the state machine behind quinn.
//!
//! Both ends are quinn-proto as it is: its packets, recovery, pacing, flow control, path MTU discovery and congestion control. Three
//! things are replaced, so that a run depends on its seed alone: TLS ([`crypto`]), the randomness of endpoints (seeded by
//! `rng_seed`, connection IDs and tokens by numbers of the flow's stream), and the clock.
//!
//! **Assumptions.** † The sender opens the connection. It has the application's data when the connection is established, and
//! sends no 0-RTT data.

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

/// QUIC by quinn-proto 0.11: two of its endpoints, packet by packet.
///
/// Files, pages and bulk data go over streams, frames over streams or datagrams. TLS is replaced by messages and tags of the same
/// length.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct QuinnConfig {
    /// Quinn's congestion controller. Default `cubic`, as quinn's.
    pub control: QuinnControl,
    /// How the application's units travel. Default `streams`.
    pub carry: Carry,
    /// The largest UDP payload that path MTU discovery tries. Default 1452 B, as quinn's: 1500 less IPv6 and UDP.
    pub mtu: Mtu,
}

/// A UDP payload.
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
/// Its BBR is not among them: it draws from the operating system's randomness, and no setting seeds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuinnControl {
    /// CUBIC, by RFC 8312 as quinn's authors say.
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

/// How units of an application travel over QUIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Carry {
    /// One stream each: a file, an object of a page, a frame as Media over QUIC does. Each is sent again until it is there, and waits for
    /// no other.
    #[default]
    Streams,
    /// All on one stream, in order: a lost packet holds up what follows.
    OneStream,
    /// Datagrams (RFC 9221), at most as long as a packet takes; a longer unit is cut. Nothing is sent again.
    Datagrams,
}

impl Checked for QuinnConfig {
    /// Checks the range: QUIC needs 1200 B (RFC 9000 §14), and IPv4 carries 65 507 B at most.
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

/// What QUIC adds to a full packet of a stream: IPv4 and UDP 28 B, a short header with an 8-byte connection ID and a 2-byte number 11 B, a
/// STREAM frame's header 8 B †, and the tag 16 B.
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
        let mut seed = || stream.below(u64::MAX);
        let (client, server) = (seed(), seed());
        Ok(pair(context, Quinn::client(self, context.bulk, client), Quinn::server(self, server)))
    }
}

#[cfg(test)]
mod tests;
