//! WebRTC by str0m: ICE, the order of DTLS, SRTP, NACK and RTX, TWCC, pacer and bandwidth estimation.
//!
//! Both peers are unmodified str0m in RTP mode. Fairwave's encoders feed it and follow its estimate. Three parts are
//! replaced so that a run depends only on its seed: cryptography (through str0m's provider interface, [`crypto`]); the
//! random generator (fastrand's, seeded before and saved after each call); and the clock.
//!
//! **Assumptions.** † Signalling is complete before the session begins. The video payload may use the estimate minus
//! audio and headers. A receiver shows a frame as soon as it and all earlier frames are complete. After 300 ms of
//! waiting it requests a key frame. There is no jitter buffer: speech is delivered but not rated.

mod crypto;
mod peer;
mod receiving;
mod sending;

use fairwave_core::config::ConfigError;
use fairwave_core::encoder::Media;
use fairwave_core::random::Stream;
use fairwave_core::registry::{Checked, Law};
use fairwave_core::transport::{FlowContext, PacketSize, Properties, TransportLaw};
use fairwave_core::units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{StackEnd, pair};
pub use receiving::Receiving;
pub use sending::Sending;

/// WebRTC by str0m 0.24: two peers, packet by packet.
///
/// They carry a media session whose encoders follow str0m's bandwidth estimate. Messages and tags of the same length
/// replace DTLS and SRTP.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Str0mConfig {
    /// Estimate before the first feedback, above 0. Default 300 kb/s, as in libwebrtc.
    pub start: Rate,
    /// Rate that the application wants to reach, above 0: str0m probes up to it. Default: the most that microphone and
    /// camera make.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the most that microphone and camera make"))]
    pub desired: Option<Rate>,
    /// Estimate that the encoders follow: `events` (str0m's event `EgressBitrateEstimate`, smoothed over 3 s) or
    /// `statistics` (`PeerStats::bwe_tx`, the raw estimate, read every 50 ms). Default `events`, as in applications.
    pub estimate: Estimate,
}

/// Estimate of str0m that the encoders follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimate {
    /// The estimate in str0m's event.
    #[default]
    Events,
    /// The estimate in str0m's statistics.
    Statistics,
}

impl Default for Str0mConfig {
    fn default() -> Self {
        Str0mConfig { start: Rate::from_bits_per_second(300_000), desired: None, estimate: Estimate::default() }
    }
}

impl Checked for Str0mConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.start == Rate::default() {
            return Err(ConfigError::new("start", self.start, "a rate above 0", "start = \"300 kb/s\""));
        }
        if self.desired == Some(Rate::default()) {
            return Err(ConfigError::new("desired", Rate::default(), "a rate above 0", "desired = \"5 Mb/s\""));
        }
        Ok(())
    }
}

impl Law for Str0mConfig {
    const NAME: &'static str = "webrtc/str0m";
    const EXAMPLE: &'static str = r#"{"start": "300 kb/s"}"#;
    const BESIDE: &'static str = r#"{"traffic": {"kind": "media"}}"#;
}

/// Largest payload of a video packet, bytes, as in str0m's tests of its estimation.
const MOST_PAYLOAD: usize = 1150;

/// Overhead on the wire: IPv4 and UDP 28 B, RTP 12 B with extensions of 16 B, SRTP's tag 16 B.
const HEADER: u64 = 72;

impl Properties for Str0mConfig {
    fn packet(&self, _bulk: bool) -> PacketSize {
        PacketSize { payload: Bytes::new(MOST_PAYLOAD as u64), header: Bytes::new(HEADER) }
    }

    fn carries_bulk(&self) -> bool {
        false
    }

    /// Interval of RTCP reports.
    fn slowest_timer(&self) -> Span {
        Span::from_secs(1)
    }

    fn only_simulated(&self) -> Option<&'static str> {
        Some("transport = \"udp\"")
    }
}

impl TransportLaw for Str0mConfig {
    type Sender = StackEnd<Sending>;
    type Receiver = StackEnd<Receiving>;

    fn endpoints(
        &self,
        _context: FlowContext,
        _stream: Stream,
    ) -> Result<(StackEnd<Sending>, StackEnd<Receiving>), ConfigError> {
        let allowed =
            "another transport where the traffic is not of the kind `media`: encoders follow str0m's estimate";
        Err(ConfigError::new("transport", Self::NAME, allowed, "traffic = { kind = \"media\" }"))
    }

    fn media_endpoints(
        &self,
        context: FlowContext,
        media: &Media,
        mut stream: Stream,
    ) -> Result<(StackEnd<Sending>, StackEnd<Receiving>), ConfigError> {
        self.check()?;
        if media.video.as_ref().is_some_and(|video| video.simulcast > 1 || video.spatial_layers > 1)
            || media.screen.is_some()
            || !media.camera_off.is_empty()
        {
            let allowed = "one camera in one encoding over webrtc/str0m, without a screen and without `camera-off`";
            return Err(ConfigError::new("media", "more streams", allowed, "traffic = \"media\""));
        }
        let mut seed = || stream.uniform_below(u64::MAX);
        let (ours, theirs, encoders) = (seed(), seed(), seed());
        Ok(pair(context, Sending::new(self, media, ours, encoders), Receiving::new(media, theirs)))
    }
}

#[cfg(test)]
mod tests;
