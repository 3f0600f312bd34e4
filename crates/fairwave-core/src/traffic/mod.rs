//! What applications want to send: each source yields units and the times at which the application makes them.
//!
//! A source knows nothing of the network. It is asked for its next emission, and asked again when that has been handed
//! to the transport; so the same seed gives the same units whatever carries them.

mod bulk;
mod cbr;
pub mod codec;
mod layers;
mod on_off;
mod period;
pub mod video;
mod voice;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::random::Stream;
use crate::units::{Instant, Span};

pub use bulk::{Activity, Bulk, BulkOnOffConfig};
pub use cbr::{BurstConfig, Cbr, CbrConfig};
pub use codec::Codec;
pub use layers::LayerRates;
pub use on_off::{First, OnOff};
pub use period::Period;
pub use video::{Frames, Video, VideoConfig, VideoFit, VideoTrace, VideoTraceConfig};
pub use voice::{Reading, Recording, RecordingConfig, VoiceConfig};

/// A piece that the application made at once and wants delivered: a voice frame, a video frame's layer, a CBR packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Number of the unit within its flow, from 0, without gaps.
    pub id: u32,
    /// Payload bytes.
    pub payload: u32,
    /// When the application made it. Units are made in order.
    pub created: Instant,
    /// Video layer (0 = base).
    pub layer: u8,
    /// What kind of video frame it is a part of; [`FrameType::None`] for everything else.
    pub frame_type: FrameType,
}

/// How a video frame was coded, as transports tell it to routers and receivers (paper 002 Fig. 1 and §3.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[repr(u8)]
pub enum FrameType {
    /// Not video.
    #[default]
    #[serde(rename = "none")]
    None = 0,
    /// Coded by itself.
    I = 1,
    /// Predicted from the I or P frame before it.
    P = 2,
    /// Interpolated between its neighbours; nothing depends on it.
    B = 3,
}

/// What an application sends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficConfig {
    /// As much as the transport takes, all the time: a long file transfer.
    Bulk {},
    /// As much as the transport takes, by turns.
    BulkOnOff(BulkOnOffConfig),
    /// A speaker who talks and is silent.
    Voice(VoiceConfig),
    /// A speaker who talks where a recording does.
    Recording(RecordingConfig),
    /// Constant bit rate.
    Cbr(CbrConfig),
    /// Constant bit rate by turns.
    Burst(BurstConfig),
    /// A layered video whose frame sizes are drawn from a model.
    Video(VideoConfig),
    /// A layered video whose frame sizes are given.
    VideoTrace(VideoTraceConfig),
}

impl Default for TrafficConfig {
    fn default() -> Self {
        TrafficConfig::Bulk {}
    }
}

impl TrafficConfig {
    /// Checks the ranges of all parameters.
    ///
    /// # Errors
    /// The first key whose value is not allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            TrafficConfig::Bulk {} => Ok(()),
            TrafficConfig::BulkOnOff(config) => config.check(),
            TrafficConfig::Voice(config) => config.check(),
            TrafficConfig::Recording(config) => config.check(),
            TrafficConfig::Cbr(config) => config.check(),
            TrafficConfig::Burst(config) => config.check(),
            TrafficConfig::Video(config) => config.check(),
            TrafficConfig::VideoTrace(config) => config.check(),
        }
    }

    /// The rates of the video's layers; none for what is not layered, or whose layers [`TrafficConfig::check`] refuses.
    pub fn layers(&self) -> LayerRates {
        match self {
            TrafficConfig::Video(config) => LayerRates::new(&config.layers).unwrap_or_default(),
            TrafficConfig::VideoTrace(config) => config.rates().unwrap_or_default(),
            _ => LayerRates::default(),
        }
    }

    /// The frames of applications that are videos.
    pub fn frames(&self) -> Option<Frames> {
        match self {
            TrafficConfig::Video(config) => config.frames(),
            TrafficConfig::VideoTrace(config) => config.frames(),
            _ => None,
        }
    }

    /// The codec, and the speech in each unit, of applications that are calls.
    pub fn call(&self) -> Option<(Codec, Span)> {
        match self {
            TrafficConfig::Voice(config) => Some((config.codec, config.packet().ok()?.1)),
            TrafficConfig::Recording(config) => Some((config.codec, config.packet().ok()?.1)),
            _ => None,
        }
    }

    /// True for applications that make no units but offer as much as the transport takes.
    pub const fn is_bulk(&self) -> bool {
        matches!(self, TrafficConfig::Bulk {} | TrafficConfig::BulkOnOff(_))
    }
}

/// A source of units, or of times at which there is bulk data.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// Makes no units; see [`Source::next_activity`].
    Bulk(Bulk),
    /// Packets of one size and interval while on: voice, bursts.
    OnOff(OnOff),
    /// A recording's speech.
    Recording(Recording),
    /// Constant bit rate.
    Cbr(Cbr),
    /// Frames from a model.
    Video(Box<Video>),
    /// Frames from a list.
    VideoTrace(Box<VideoTrace>),
}

impl Source {
    /// The source that `config` describes, beginning at `start`; all its randomness comes from `stream`.
    ///
    /// # Errors
    /// When [`TrafficConfig::check`] refuses the configuration.
    pub fn new(config: &TrafficConfig, start: Instant, stream: Stream) -> Result<Self, ConfigError> {
        Ok(match config {
            TrafficConfig::Bulk {} => Source::Bulk(Bulk::always(start)),
            TrafficConfig::BulkOnOff(config) => Source::Bulk(Bulk::by_turns(config, start, stream)?),
            TrafficConfig::Voice(config) => Source::OnOff(config.source(start, stream)?),
            TrafficConfig::Recording(config) => Source::Recording(Recording::new(config, start)?),
            TrafficConfig::Cbr(config) => Source::Cbr(Cbr::new(config, start, stream)?),
            TrafficConfig::Burst(config) => Source::OnOff(config.source(start, stream)?),
            TrafficConfig::Video(config) => Source::Video(Box::new(Video::new(config, start, stream)?)),
            TrafficConfig::VideoTrace(config) => Source::VideoTrace(Box::new(VideoTrace::new(config, start)?)),
        })
    }

    /// The next unit; none when there will be no more. `created` never decreases, and is at or after the start. A bulk
    /// source has none.
    pub fn next_unit(&mut self) -> Option<Unit> {
        match self {
            Source::Bulk(_) => None,
            Source::OnOff(source) => source.next_unit(),
            Source::Recording(source) => source.next_unit(),
            Source::Cbr(source) => source.next_unit(),
            Source::Video(source) => source.next_unit(),
            Source::VideoTrace(source) => source.next_unit(),
        }
    }

    /// True for a source that makes no units but offers as much as the transport takes, whenever it is active.
    pub const fn is_bulk(&self) -> bool {
        matches!(self, Source::Bulk(_))
    }

    /// The next interval during which a bulk source offers data; none for other sources. Whoever drives the flow calls
    /// [`crate::transport::Sender::on_start`] at its beginning and [`crate::transport::Sender::on_stop`] at its end.
    pub fn next_activity(&mut self) -> Option<Activity> {
        match self {
            Source::Bulk(source) => source.next_activity(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
