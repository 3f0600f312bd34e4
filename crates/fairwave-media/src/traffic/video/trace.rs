//! Trace of a real video: the sizes of its frames, layer by layer, from an encoder.
//!
//! The scenario gives either the frames, or a clip and the rates of its layers. Core reads no files: `fairwave_video`
//! in Python encodes the clip and adds the frames before the run.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cutter, Frames, PLAYOUT_DELAY, frame_time, group_time};
use crate::traffic::{FrameType, LayerRates, Phase, TrafficLaw, TrafficSource, Unit};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// A frame of a real video.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TracedFrame {
    /// Type of the frame: `I`, `P` or `B`.
    #[serde(rename = "type")]
    pub frame_type: FrameType,
    /// Bytes of each layer, base first; one number for a video without layers. A layer may have 0 bytes in a frame.
    pub sizes: Vec<u32>,
}

/// Layered video with given frame sizes, or a clip that an encoder converts to frame sizes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VideoTraceConfig {
    /// Frames in the order of sending; all have the same number of layers, at most 8. Omit them if you give a `clip`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<TracedFrame>,
    /// Path of a video file, or name of a packaged clip. Fairwave encodes it in layers before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<String>,
    /// Additional rate of each layer of the clip, base first; 1 to 8 layers, each above 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Rate>,
    /// Frames per second, above 0, at most 1000. Default 25.
    #[serde(default = "default_frame_rate")]
    pub frame_rate: f64,
    /// Repeats the video after its end. Default false: the video ends with its last frame.
    #[serde(default)]
    pub repeat: bool,
    /// Time from capturing a frame to displaying it; the decoder cannot use data that arrive later. Default 1 s.
    #[serde(default = "default_playout_delay")]
    pub playout_delay: Span,
    /// Start within the first interval: `random`, uniform over the frames from the first I frame to the next (one frame
    /// if there is no second); or `zero`, at the flow's start, so that flows that start together stay in step. Default
    /// `random`; `zero` under ns-2's presets.
    #[serde(default)]
    pub phase: Phase,
}

fn default_playout_delay() -> Span {
    PLAYOUT_DELAY
}

fn default_frame_rate() -> f64 {
    25.0
}

impl Checked for VideoTraceConfig {
    /// Rejects a video without frames and clip, a clip whose layers do not increase, frames with different numbers of
    /// layers, and layers that are empty in all frames.
    fn check(&self) -> Result<(), ConfigError> {
        frame_time(self.frame_rate)?;
        let example = "frames = [{ type = \"I\", sizes = [9000, 4000] }, { type = \"P\", sizes = [2000, 900] }]";
        if self.clip.is_some() {
            LayerRates::new(&self.layers)?;
        } else if !self.layers.is_empty() {
            let allowed = "nothing but with a `clip`, as the layers of given frames are in their `sizes`";
            return Err(ConfigError::new(
                "layers",
                format!("{} layers", self.layers.len()),
                allowed,
                "clip = \"film.mp4\"",
            ));
        }
        let Some(first) = self.frames.first() else {
            if self.clip.is_some() {
                return Ok(());
            }
            let example = format!("clip = \"film.mp4\", or {example}");
            return Err(ConfigError::new("frames", "[]", "at least one frame, or a `clip`", example));
        };
        let layers = first.sizes.len();
        if layers == 0 || layers > LayerRates::MOST {
            return Err(ConfigError::new("frames[0].sizes", format!("{layers} layers"), "1 to 8 layers", example));
        }
        if let Some(place) = self.frames.iter().position(|frame| frame.sizes.len() != layers) {
            let value = format!("{} layers", self.frames[place].sizes.len());
            let allowed = format!("as many as in the first frame ({layers})");
            return Err(ConfigError::new(format!("frames[{place}].sizes"), value, allowed, example));
        }
        self.rates().map(|_| ())
    }
}

impl Law for VideoTraceConfig {
    const NAME: &'static str = "video-trace";
    const EXAMPLE: &'static str =
        r#"{"repeat": true, "frames": [{"type": "I", "sizes": [4000]}, {"type": "P", "sizes": [1000]}]}"#;
}

impl TrafficLaw for VideoTraceConfig {
    type Source = Box<VideoTrace>;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<Box<VideoTrace>, ConfigError> {
        let start = self.phase.begin(start, self.group_time(), &mut stream);
        Ok(Box::new(VideoTrace::new(self, start)?))
    }

    fn period(&self) -> Option<(Span, Phase)> {
        Some((self.group_time(), self.phase))
    }

    fn phase_like_ns2(&self) -> Option<Phase> {
        Some(Phase::Zero)
    }

    fn layers(&self) -> LayerRates {
        self.rates().unwrap_or_default()
    }

    fn frames(&self) -> Option<Frames> {
        let types: Vec<FrameType> = self.frames.iter().map(|frame| frame.frame_type).collect();
        (!types.is_empty()).then_some(())?;
        Some(Frames {
            layers: self.rates().ok()?.count(),
            packets: false,
            versions: false,
            blocks: false,
            frame_time: frame_time(self.frame_rate).ok()?,
            playout_delay: self.playout_delay,
            types,
        })
    }
}

impl VideoTraceConfig {
    /// Returns the duration of the first group of frames; one frame if there is a single group.
    fn group_time(&self) -> Span {
        let mut intra = self.frames.iter().enumerate().filter(|(_, frame)| frame.frame_type == FrameType::I);
        let frames = match (intra.next(), intra.next()) {
            (Some((first, _)), Some((second, _))) => second - first,
            _ => 1,
        };
        group_time(frames, self.frame_rate)
    }

    /// Returns the mean rate of each layer; for a clip before its encoding, the target rate.
    ///
    /// # Errors
    /// A layer is empty in all frames.
    pub(super) fn rates(&self) -> Result<LayerRates, ConfigError> {
        if self.frames.is_empty() {
            return LayerRates::new(&self.layers);
        }
        let layers = self.frames.first().map_or(0, |frame| frame.sizes.len());
        let duration = Span::from_seconds(self.frames.len() as f64 / self.frame_rate);
        let rates: Vec<Rate> = (0..layers)
            .map(|layer| {
                let bytes = self.frames.iter().map(|f| f.sizes.get(layer).map_or(0, |&size| u64::from(size))).sum();
                Bytes::new(bytes).rate_over(duration)
            })
            .collect();
        LayerRates::new(&rates).map_err(|e| e.nested_in("frames"))
    }
}

/// Source of frames from a list.
#[derive(Clone, PartialEq, Debug)]
pub struct VideoTrace {
    frames: Arc<[TracedFrame]>,
    repeat: bool,
    frame_rate: f64,
    start: Instant,
    place: usize,
    cutter: Cutter,
}

impl VideoTrace {
    pub(super) fn new(config: &VideoTraceConfig, start: Instant) -> Result<Self, ConfigError> {
        if config.frames.is_empty() {
            let clip = config.clip.clone().unwrap_or_default();
            let allowed = "a clip that has been coded: its sizes as `frames`";
            return Err(ConfigError::new(
                "clip",
                format!("\"{clip}\""),
                allowed,
                "run it by `fairwave run` or from Python",
            ));
        }
        Ok(VideoTrace {
            frames: config.frames.clone().into(),
            repeat: config.repeat,
            frame_rate: config.frame_rate,
            start,
            place: 0,
            cutter: Cutter::new(config.rates()?.count()),
        })
    }
}

impl TrafficSource for VideoTrace {
    fn next_unit(&mut self) -> Option<Unit> {
        if self.cutter.wants_frame() {
            if self.repeat && self.place >= self.frames.len() {
                self.place = 0;
            }
            let frame = self.frames.get(self.place)?;
            self.place += 1;
            let mut sizes = [0; LayerRates::MOST];
            sizes.iter_mut().zip(&frame.sizes).for_each(|(slot, &size)| *slot = size);
            self.cutter.set_frame(frame.frame_type, sizes);
        }
        self.cutter.unit(self.start, self.frame_rate)
    }
}
