//! Video encoders of calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Rate};

/// How a camera or a screen is encoded.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct VideoConfig {
    /// The least rate of the payload. Default 30 kb/s, as in libwebrtc.
    pub least: Rate,
    /// The most. Default 2.5 Mb/s.
    pub most: Rate,
    /// Frames that the camera makes a second. Default 30.
    pub frame_rate: f64,
}

impl Default for VideoConfig {
    fn default() -> Self {
        VideoConfig {
            least: Rate::from_bits_per_second(30_000),
            most: Rate::from_bits_per_second(2_500_000),
            frame_rate: 30.0,
        }
    }
}

/// One encoding of a frame of the camera: of one simulcast stream, or of one spatial layer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EncodedFrame {
    /// Payload bytes, at least 1.
    pub bytes: u32,
    /// It depends on no other frame.
    pub key: bool,
    /// The simulcast stream, each of which has an SSRC of its own, from 0 (the smallest picture).
    pub stream: u8,
    /// Spatial layer within its stream, from 0.
    pub spatial: u8,
    /// Temporal layer, from 0; frames depend only on frames of their own layer and below.
    pub temporal: u8,
    /// Pixels across.
    pub width: u16,
    /// Pixels down.
    pub height: u16,
    /// How good the encoded picture is: the opinion score that a viewer would give if all frames were shown, 1 to 5.
    pub quality: f32,
}

/// A video encoder at work.
#[derive(Clone, Debug)]
pub struct VideoEncoder {
    config: VideoConfig,
    target: Rate,
    key: bool,
}

impl VideoEncoder {
    /// An encoder; all its randomness comes from `stream`.
    pub fn new(config: &VideoConfig, _stream: Stream) -> Self {
        VideoEncoder { config: *config, target: config.least, key: true }
    }

    /// Payload rates between which its target moves.
    pub fn rates(&self) -> (Rate, Rate) {
        (self.config.least, self.config.most)
    }

    /// Simulcast streams that it makes, at least 1.
    pub fn streams(&self) -> u8 {
        1
    }

    /// The payload rate that it may use from `now` on, all its streams and layers together; it follows with its reaction time.
    /// Zero suspends it.
    pub fn set_target(&mut self, _now: Instant, target: Rate) {
        self.target = target;
    }

    /// The receiver cannot decode: the next frame is to be a key frame.
    pub fn request_key_frame(&mut self, _stream: u8) {
        self.key = true;
    }

    /// The camera made a frame at `created`. Adds its encodings to `out`: none if the encoder leaves the frame out.
    pub fn encode(&mut self, _created: Instant, out: &mut Vec<EncodedFrame>) {
        if self.target.bits_per_second() == 0 {
            return;
        }
        let bytes = (self.target.bits_per_second() as f64 / 8.0 / self.config.frame_rate).max(1.0) as u32;
        let key = std::mem::take(&mut self.key);
        out.push(EncodedFrame {
            bytes,
            key,
            stream: 0,
            spatial: 0,
            temporal: 0,
            width: 640,
            height: 360,
            quality: 4.0,
        });
    }
}
