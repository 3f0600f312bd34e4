//! Encoders of calls: a target rate goes in, frames come out. Unlike a source ([`crate::traffic`]), an encoder is asked by
//! the transport, which knows the rate that the network allows.

pub mod audio;
pub mod video;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use audio::{AudioConfig, AudioEncoder, AudioFrame};
pub use video::{EncodedFrame, VideoConfig, VideoEncoder};

/// What a peer of a call sends: its streams, all by one transport.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Media {
    /// The microphone; none without audio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<AudioConfig>,
    /// The camera; none without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<VideoConfig>,
    /// A shared screen; none without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen: Option<VideoConfig>,
}

/// A stream of a peer: the number is the unit's `layer` in traffic of the kind `media`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum StreamKind {
    /// The microphone.
    Audio = 0,
    /// The camera.
    Video = 1,
    /// A shared screen.
    Screen = 2,
}

impl StreamKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [StreamKind; 3] = [StreamKind::Audio, StreamKind::Video, StreamKind::Screen];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            StreamKind::Audio => "audio",
            StreamKind::Video => "video",
            StreamKind::Screen => "screen",
        }
    }

    /// The stream with this number.
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}
