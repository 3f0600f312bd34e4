//! What applications want to send: each source yields units and the times at which the application makes them.
//!
//! A source knows nothing of the network. It is asked for its next emission, and asked again when that has been handed
//! to the transport; so the same seed gives the same units whatever carries them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Instant;

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
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficConfig {
    /// As much as the transport takes, all the time: a long file transfer.
    #[default]
    Bulk,
}
