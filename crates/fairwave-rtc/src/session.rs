//! Parameters of a WebRTC session ([`WebrtcConfig`]).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::RateControlConfig;
use crate::receive::config::ReceiveConfig;
use fairwave_units::config::{ConfigError, check_fraction, check_span};
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Rate, Span};

/// Forward error correction of video.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FecFormat {
    /// None.
    #[default]
    None,
    /// FlexFEC (RFC 8627): parity in a separate stream.
    Flexfec,
    /// ULPFEC inside RED (RFC 5109, RFC 2198): parity in the media stream, as in Chrome with VP8.
    Ulpfec,
}

/// WebRTC: audio and video of a peer over RTP, with congestion control, pacing, retransmission and forward error
/// correction. For traffic of the kind `media`. Defaults are those of libwebrtc unless a key names another source.
/// Rates count whole IP packets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WebrtcConfig {
    /// Rate controller: its name, or a table with its parameters.
    #[serde(default)]
    pub control: RateControlConfig,
    /// Rate at the start of the session. Default 300 kb/s.
    pub start: Rate,
    /// Lowest rate. Default 30 kb/s.
    pub least: Rate,
    /// Highest rate. Default: the most that the encoders can use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "what the encoders can use"))]
    pub most: Option<Rate>,
    /// Largest payload of a packet; longer frames are split into equal parts. Default 1200 B; 100 B to 65000 B.
    pub max_payload: Bytes,
    /// Sends retransmissions in a separate stream (RFC 4588), which also carries padding and probes. Default true.
    pub rtx: bool,
    /// Forward error correction of video: `none`, `flexfec` or `ulpfec`. Default `none`.
    pub fec: FecFormat,
    /// FEC: largest probability of a frame loss, for the least parity of a frame. The calculation assumes independent
    /// losses and ideal parity. Parity has at most as many packets as the frame. Default 1 %.
    #[serde(with = "Ratio")]
    pub protection: f64,
    /// Pacing rate as a multiple of the target, instead of the controller's pacing rate, 1 to 100. Default: the
    /// controller's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the controller's"))]
    pub pacing: Option<f64>,
    /// Largest burst of the pacer; after it the pacer waits until its debt is paid. Default 40 ms.
    pub burst: Span,
    /// Waiting time in the pacer above which it sends faster. Default 2 s.
    pub queue_limit: Span,
    /// Audio does not wait in the pacer. Default true; with `false` it queues with video.
    pub audio_first: bool,
    /// Suspends video if its share is below its lowest rate, and resumes it 10 % above it, at least 20 kb/s. Default
    /// false, as in libwebrtc (`suspend_below_min_bitrate`): video then always gets its lowest rate.
    pub suspend: bool,
    /// Shortest interval between key frames that receivers request. Default 300 ms.
    pub key_frame_spacing: Span,
    /// Mean interval of sender reports of audio; each interval is drawn from 0.5 to 1.5 times the mean. Default 5 s.
    pub report_audio: Span,
    /// Mean interval of sender reports of video. Default 1 s.
    pub report_video: Span,
    /// Configuration of the receiver.
    #[serde(flatten)]
    pub receive: ReceiveConfig,
}

impl Default for WebrtcConfig {
    fn default() -> Self {
        WebrtcConfig {
            control: RateControlConfig::default(),
            start: Rate::from_bits_per_second(300_000),
            least: Rate::from_bits_per_second(30_000),
            most: None,
            max_payload: Bytes::new(1200),
            rtx: true,
            fec: FecFormat::default(),
            protection: 0.01,
            pacing: None,
            burst: Span::from_millis(40),
            queue_limit: Span::from_secs(2),
            audio_first: true,
            suspend: false,
            key_frame_spacing: Span::from_millis(300),
            report_audio: Span::from_secs(5),
            report_video: Span::from_secs(1),
            receive: ReceiveConfig::default(),
        }
    }
}

impl Law for WebrtcConfig {
    const NAME: &'static str = "webrtc";
    const EXAMPLE: &'static str = r#"{"control": {"name": "fixed", "rate": "800 kb/s"}, "fec": "flexfec"}"#;
    const BESIDE: &'static str = r#"{"traffic": {"kind": "media"}}"#;
}

impl Checked for WebrtcConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.control.check().map_err(|error| error.nested_in("control"))?;
        if self.least.bits_per_second() == 0 {
            return Err(ConfigError::new("least", self.least, "above 0", "least = \"30 kb/s\""));
        }
        if self.start < self.least {
            let allowed = format!("at least `least` ({})", self.least);
            return Err(ConfigError::new("start", self.start, allowed, "start = \"300 kb/s\""));
        }
        if let Some(most) = self.most
            && most < self.start
        {
            let allowed = format!("at least `start` ({})", self.start);
            return Err(ConfigError::new("most", most, allowed, format!("most = \"{}\"", self.start)));
        }
        if !(100..=65_000).contains(&self.max_payload.get()) {
            let example = "max-payload = \"1200 B\"";
            return Err(ConfigError::new("max-payload", self.max_payload, "from 100 B to 65000 B", example));
        }
        check_fraction("protection", self.protection, "protection = 0.01")?;
        if self.protection == 0.0 {
            return Err(ConfigError::new("protection", "0", "above 0 and at most 1", "protection = 0.01"));
        }
        if let Some(pacing) = self.pacing
            && !(1.0..=100.0).contains(&pacing)
        {
            return Err(ConfigError::new("pacing", pacing, "from 1 to 100", "pacing = 2.5"));
        }
        check_span("queue-limit", self.queue_limit, "queue-limit = \"2 s\"")?;
        check_span("report-audio", self.report_audio, "report-audio = \"5 s\"")?;
        check_span("report-video", self.report_video, "report-video = \"1 s\"")?;
        self.receive.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(table: &str) -> ConfigError {
        serde_json::from_str::<WebrtcConfig>(table).expect("a table").check().expect_err("refused")
    }

    #[test]
    fn values_out_of_range_are_refused_by_the_key_that_holds_them() {
        WebrtcConfig::default().check().expect("the defaults");
        for (table, key) in [
            (r#"{"least": "0 b/s"}"#, "least"),
            (r#"{"start": "10 kb/s"}"#, "start"),
            (r#"{"most": "200 kb/s"}"#, "most"),
            (r#"{"max-payload": "99 B"}"#, "max-payload"),
            (r#"{"protection": 0}"#, "protection"),
            (r#"{"protection": 1.5}"#, "protection"),
            (r#"{"pacing": 0.5}"#, "pacing"),
            (r#"{"queue-limit": "0 s"}"#, "queue-limit"),
            (r#"{"report-audio": "0 s"}"#, "report-audio"),
            (r#"{"report-video": "0 s"}"#, "report-video"),
            (r#"{"nack-retries": 0}"#, "nack-retries"),
            (r#"{"control": {"name": "fixed", "pacing": 0.1}}"#, "control.pacing"),
        ] {
            assert_eq!(refused(table).key, key, "{table}");
        }
    }

    #[test]
    fn a_key_that_there_is_not_is_refused() {
        assert!(serde_json::from_str::<WebrtcConfig>(r#"{"nacks": true}"#).is_err());
    }

    #[test]
    fn the_example_is_read_and_written() {
        let config: WebrtcConfig = serde_json::from_str(WebrtcConfig::EXAMPLE).expect("the example");
        assert_eq!(config.fec, FecFormat::Flexfec);
        let again = serde_json::to_string(&config).expect("writes");
        assert_eq!(serde_json::from_str::<WebrtcConfig>(&again).expect("reads"), config);
    }

    #[test]
    fn defaults_are_libwebrtc_s() {
        let config = WebrtcConfig::default();
        assert_eq!((config.start.bits_per_second(), config.least.bits_per_second()), (300_000, 30_000));
        assert_eq!((config.report_audio, config.report_video), (Span::from_secs(5), Span::from_secs(1)));
        assert_eq!((config.burst, config.queue_limit), (Span::from_millis(40), Span::from_secs(2)));
    }
}
