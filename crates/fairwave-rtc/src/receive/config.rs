//! Configuration of the receiving end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_media::quality::playout::NeteqConfig;
use fairwave_units::config::ConfigError;
use fairwave_units::units::Span;

/// Format of congestion feedback.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FeedbackFormat {
    /// Transport-wide (draft-holmer-rmcat-transport-wide-cc-extensions-01), every 50 to 250 ms; uses 5 % of the
    /// received rate.
    #[default]
    TransportWide,
    /// RFC 8888, at the end of a frame or 25 ms after the first packet, at intervals of 25 to 250 ms; uses 5 % of the
    /// received rate.
    Rfc8888,
    /// None: only receiver reports.
    None,
}

/// Receiving end of a call. The defaults are those of libwebrtc.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ReceiveConfig {
    /// Format of the congestion feedback that it sends.
    pub feedback: FeedbackFormat,
    /// Requests lost packets of video (RFC 4585). Default true.
    pub nack: bool,
    /// Requests lost packets of audio, too. Default false.
    pub audio_nack: bool,
    /// Largest number of requests for the same packet, 1 to 1000. Default 100 (`nack_requester.cc`; 10 before 2023).
    pub nack_retries: u32,
    /// Mean interval of receiver reports, 100 ms to 60 s; each interval is 0.5 to 1.5 times the mean (RFC 3550 §6.2).
    /// Default 1 s.
    pub report_interval: Span,
    /// Keeps picture and sound synchronised. Default true.
    pub lip_sync: bool,
    /// Least time from arrival to display of pictures, 0 to 10 s. Default 0.
    pub min_playout_delay: Span,
    /// Largest time from arrival to display, `min-playout-delay` to 10 s. Default 10 s. A value of at most 500 ms, with
    /// a least time of 0, shows pictures as soon as they are decoded.
    pub max_playout_delay: Span,
    /// Delay of the display, 0 to 500 ms. Default 10 ms.
    pub render_delay: Span,
    /// Time to decode a picture, 0 to 1 s. Default 3 ms (assumed: simulated decoders take no time).
    pub decode_time: Span,
    /// Requests a key frame after this time without a decodable picture, 100 ms to 60 s. Default 3 s.
    pub max_wait_for_frame: Span,
    /// Like `max-wait-for-frame`, while it waits for a key frame, 10 ms to 60 s. Default 200 ms.
    pub max_wait_for_key_frame: Span,
    /// Jitter buffer for audio.
    pub audio: NeteqConfig,
    /// Weight of a frame restored by in-band FEC in the rating, as a fraction of a lost frame, 0 to 1. Default:
    /// determined by experiment for the rate of Opus (docs/opus.md), 0.24 at 32 kb/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "determined by experiment for the rate of Opus (docs/opus.md)"))]
    pub in_band_fec_impairment: Option<f64>,
    /// Interval of statistics samples, 10 ms to 1 h. Default 1 s.
    pub sample_every: Span,
}

impl Default for ReceiveConfig {
    fn default() -> Self {
        ReceiveConfig {
            feedback: FeedbackFormat::TransportWide,
            nack: true,
            audio_nack: false,
            nack_retries: 100,
            report_interval: Span::from_secs(1),
            lip_sync: true,
            min_playout_delay: Span::ZERO,
            max_playout_delay: Span::from_secs(10),
            render_delay: Span::from_millis(10),
            decode_time: Span::from_millis(3),
            max_wait_for_frame: Span::from_secs(3),
            max_wait_for_key_frame: Span::from_millis(200),
            audio: NeteqConfig::default(),
            in_band_fec_impairment: None,
            sample_every: fairwave_endpoint::media::SAMPLE_EVERY,
        }
    }
}

impl ReceiveConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first key with a value out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let ms = Span::from_millis;
        if !(1..=1000).contains(&self.nack_retries) {
            return Err(ConfigError::new("nack-retries", self.nack_retries, "from 1 to 1000", "nack-retries = 100"));
        }
        for (key, value, least, most, instead) in [
            ("report-interval", self.report_interval, ms(100), ms(60_000), "report-interval = \"1 s\""),
            ("min-playout-delay", self.min_playout_delay, ms(0), ms(10_000), "min-playout-delay = \"0 ms\""),
            (
                "max-playout-delay",
                self.max_playout_delay,
                self.min_playout_delay,
                ms(10_000),
                "max-playout-delay = \"10 s\"",
            ),
            ("render-delay", self.render_delay, ms(0), ms(500), "render-delay = \"10 ms\""),
            ("decode-time", self.decode_time, ms(0), ms(1000), "decode-time = \"3 ms\""),
            ("max-wait-for-frame", self.max_wait_for_frame, ms(100), ms(60_000), "max-wait-for-frame = \"3 s\""),
            (
                "max-wait-for-key-frame",
                self.max_wait_for_key_frame,
                ms(10),
                ms(60_000),
                "max-wait-for-key-frame = \"200 ms\"",
            ),
            ("sample-every", self.sample_every, ms(10), ms(3_600_000), "sample-every = \"1 s\""),
        ] {
            if !(least..=most).contains(&value) {
                return Err(ConfigError::new(key, value, format!("from {least} to {most}"), instead));
            }
        }
        if let Some(part) = self.in_band_fec_impairment.filter(|part| !(0.0..=1.0).contains(part)) {
            let key = "in-band-fec-impairment";
            return Err(ConfigError::new(key, part, "from 0 to 1", format!("{key} = 0.5")));
        }
        self.audio.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_allowed_and_each_range_has_its_ends() {
        assert!(ReceiveConfig::default().check().is_ok());
        let bad = |change: fn(&mut ReceiveConfig)| {
            let mut config = ReceiveConfig::default();
            change(&mut config);
            config.check().expect_err("refused").key
        };
        assert_eq!(bad(|c| c.nack_retries = 0), "nack-retries");
        assert_eq!(bad(|c| c.report_interval = Span::from_millis(99)), "report-interval");
        assert_eq!(bad(|c| c.max_playout_delay = Span::from_secs(11)), "max-playout-delay");
        assert_eq!(bad(|c| c.min_playout_delay = Span::from_secs(11)), "min-playout-delay");
        assert_eq!(bad(|c| c.in_band_fec_impairment = Some(1.1)), "in-band-fec-impairment");
        assert_eq!(bad(|c| c.sample_every = Span::ZERO), "sample-every");
        assert_eq!(bad(|c| c.audio.max_packets = 1), "max-packets");
    }
}
