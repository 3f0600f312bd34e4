//! Audio encoders of calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Rate, Span};

/// How a microphone is encoded: Opus (RFC 6716), in packets as RFC 7587 has them.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AudioConfig {
    /// Bit rate of the payload, 6 kb/s to 128 kb/s. Default 32 kb/s.
    pub rate: Rate,
    /// Speech in a packet: 10, 20, 40 or 60 ms. Default 20 ms.
    pub frame: Span,
}

impl Default for AudioConfig {
    fn default() -> Self {
        AudioConfig { rate: Rate::from_bits_per_second(32_000), frame: Span::from_millis(20) }
    }
}

/// A frame of speech, encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AudioFrame {
    /// Payload bytes of the packet: the frame and all that is added for its predecessors.
    pub payload: u16,
    /// How many frames before it the packet repeats, whole (RFC 2198): the latest first, without gaps.
    pub repeats: u8,
    /// The packet holds a coarse copy of the frame before it (in-band FEC, RFC 6716 §2.1.7).
    pub in_band_fec: bool,
    /// Speech, as opposed to comfort noise.
    pub speech: bool,
}

/// An encoder of speech at work.
#[derive(Clone, Debug)]
pub struct AudioEncoder {
    config: AudioConfig,
}

impl AudioEncoder {
    /// An encoder; all its randomness comes from `stream`.
    pub fn new(config: &AudioConfig, _stream: Stream) -> Self {
        AudioEncoder { config: *config }
    }

    /// Rates that it can use, payload: least, and most with all that it adds.
    pub fn rates(&self) -> (Rate, Rate) {
        (self.config.rate, self.config.rate)
    }

    /// Encodes the frame that the microphone made at `created`; none if it sends nothing for it (DTX). `target` is the payload
    /// rate that it may use, `loss` the share of packets that the network loses, 0 to 1.
    pub fn encode(&mut self, _created: Instant, _target: Rate, _loss: f64) -> Option<AudioFrame> {
        let payload = self.config.rate.bytes_in(self.config.frame).get() as u16;
        Some(AudioFrame { payload, repeats: 0, in_band_fec: false, speech: true })
    }
}
