//! Layered video: frames of three types at a constant rate, in cumulative layers (paper 002 §4.1).
//!
//! The size of each frame comes from one of three TES processes, for I, P and B frames ([`tes`]), interleaved in the
//! group's order; or, for a real clip, from a list ([`VideoTraceConfig`]). Each frame is split over the layers, and
//! each layer of each frame is a [`Unit`]. Frame f's layer j (0 = base) of k layers is unit f·k + j, so units are
//! numbered without gaps even if a transport omits some. A layered transport skips units above the layers that it
//! sends; they count neither as sent nor as lost (an endpoint's `Output::skipped`).
//!
//! **Assumptions.** Frames are sent in display order, one per frame time. The bytes of a frame are split among layers
//! in proportion to the layers' rates. TES sizes are scaled so that the mean rate of all layers is the sum of their
//! rates. So the fit determines the variation, and the layers the rate.

mod fit;
pub mod tes;
mod trace;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use fit::VideoFit;
pub use trace::{TracedFrame, VideoTrace, VideoTraceConfig};

use self::tes::Tes;
use super::{FrameType, LayerRates, Phase, TrafficLaw, TrafficSource, Unit};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Layered video with frame sizes from a model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct VideoConfig {
    /// Additional rate of each layer, base first; 1 to 8 layers, each above 0. Default 128, 128, 128, 256, 384 kb/s:
    /// five layers of 1.024 Mb/s together.
    pub layers: Vec<Rate>,
    /// Frames per second, above 0, at most 1000. Default 25.
    pub frame_rate: f64,
    /// Order of frames in a group, as letters I, P and B. Default `IBBPBBPBBPBB`.
    pub group: String,
    /// Model of the frame sizes. Default: the fit in fairwave's package.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the fit that comes with fairwave"))]
    pub fit: Option<VideoFit>,
    /// Time from capturing a frame to displaying it; the decoder cannot use data that arrive later. Default 1 s.
    pub playout_delay: Span,
    /// Divides the video into packets of exactly this payload, at least 1 B; each packet is one unit. A layer is a
    /// stream of bytes. A packet leaves with the first frame that has bytes in it; as for a stored video, the next
    /// frame fills the rest of the packet. Default: none; each layer of each frame is a unit. The transport splits it
    /// into packets; the last one is shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "none"))]
    pub packet: Option<Bytes>,
    /// Method by which a sender can reduce the video's rate. Default `layers`.
    #[serde(skip_serializing_if = "Coding::is_layers")]
    #[schemars(extend("default" = Coding::default()))]
    pub coding: Coding,
    /// Start within the first interval: `random`, uniform over one group of frames; or `zero`, at the flow's start, so
    /// that flows that start together stay in step. Default `random`; `zero` under ns-2's presets.
    pub phase: Phase,
}

/// Method by which a sender can reduce the rate of a video.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Coding {
    /// Cumulative layers: a layer needs all layers below it.
    #[default]
    Layers,
    /// Simulcast: `layers` are the rates of versions of the whole video, slowest first. The sender sends one version
    /// and changes it only at the start of a group. The model includes no quality loss by layering.
    Simulcast,
    /// Temporal scaling: the sender omits B frames, then P frames. The rates of I, P and B frames follow from the fit;
    /// their sum is the rate of `layers`.
    Temporal,
}

impl Coding {
    /// Checks for the default coding.
    fn is_layers(&self) -> bool {
        *self == Coding::Layers
    }
}

/// Default time from capturing a frame to displaying it: one second, a usual buffer of players for live streams.
pub(in crate::traffic) const PLAYOUT_DELAY: Span = Span::from_secs(1);

/// Frames of a video for the decoder: layers, types and display times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frames {
    /// Layers of each frame: unit number = frame × layers + layer, unless `packets`.
    pub layers: u8,
    /// True if each unit is a packet of one layer; it starts with the rest of the previous frame
    /// ([`VideoConfig::packet`]).
    pub packets: bool,
    /// True if layers are versions of the whole frame.
    pub versions: bool,
    /// True if each frame is a block of packets: layer 0 are the packets of the frame, layer 1 those of a code. Any
    /// packets suffice if they are as many as the frame has.
    pub blocks: bool,
    /// Time from one frame to the next.
    pub frame_time: Span,
    /// Time from capturing a frame to displaying it.
    pub playout_delay: Span,
    /// Repeating sequence of frame types.
    types: Vec<FrameType>,
}

impl Frames {
    /// Returns frames that are independent blocks of packets.
    pub(in crate::traffic) fn from_blocks(frame_time: Span, playout_delay: Span) -> Self {
        Frames {
            layers: 1,
            packets: false,
            versions: false,
            blocks: true,
            frame_time,
            playout_delay,
            types: vec![FrameType::None],
        }
    }

    /// Returns the type of a frame, by its number from 0.
    pub fn frame_type(&self, frame: usize) -> FrameType {
        self.types.get(frame % self.types.len().max(1)).copied().unwrap_or_default()
    }
}

impl Default for VideoConfig {
    fn default() -> Self {
        VideoConfig {
            layers: [128, 128, 128, 256, 384].map(|k| Rate::from_bits_per_second(k * 1000)).to_vec(),
            frame_rate: 25.0,
            group: "IBBPBBPBBPBB".to_owned(),
            fit: None,
            playout_delay: PLAYOUT_DELAY,
            packet: None,
            coding: Coding::Layers,
            phase: Phase::Random,
        }
    }
}

impl Checked for VideoConfig {
    fn check(&self) -> Result<(), ConfigError> {
        match self.coding {
            Coding::Simulcast => LayerRates::versions(&self.layers)?,
            Coding::Layers | Coding::Temporal => LayerRates::new(&self.layers)?,
        };
        if let Some(packet) = self.packet {
            if packet == Bytes::ZERO || packet.get() > u64::from(u16::MAX) {
                return Err(ConfigError::new("packet", packet, "from 1 B to 65535 B", "packet = \"1000 B\""));
            }
            if self.coding != Coding::Layers {
                return Err(ConfigError::new("packet", packet, "coding = \"layers\" alone", "omit `packet`"));
            }
        }
        frame_time(self.frame_rate)?;
        self.order()?;
        match &self.fit {
            Some(fit) => fit.check().map_err(|e| e.nested_in("fit")),
            None => Ok(()),
        }
    }
}

impl Law for VideoConfig {
    const NAME: &'static str = "video";
}

impl TrafficLaw for VideoConfig {
    type Source = Box<Video>;

    fn source(&self, start: Instant, stream: Stream) -> Result<Box<Video>, ConfigError> {
        Ok(Box::new(Video::new(self, start, stream)?))
    }

    fn layers(&self) -> LayerRates {
        match self.coding {
            Coding::Layers => LayerRates::new(&self.layers).unwrap_or_default(),
            Coding::Simulcast => LayerRates::versions(&self.layers).unwrap_or_default(),
            Coding::Temporal => self.rates_by_type().unwrap_or_default(),
        }
    }

    fn frames(&self) -> Option<Frames> {
        Some(Frames {
            layers: if self.coding == Coding::Temporal { 1 } else { self.layers().count() },
            packets: self.packet.is_some(),
            versions: self.coding == Coding::Simulcast,
            blocks: false,
            frame_time: frame_time(self.frame_rate).ok()?,
            playout_delay: self.playout_delay,
            types: self.order().ok()?,
        })
    }

    fn period(&self) -> Option<(Span, Phase)> {
        Some((group_time(self.order().ok()?.len(), self.frame_rate), self.phase))
    }

    fn phase_like_ns2(&self) -> Option<Phase> {
        Some(Phase::Zero)
    }
}

/// Returns the duration of a group of this many frames.
fn group_time(frames: usize, frame_rate: f64) -> Span {
    Span::from_seconds(frames as f64 / frame_rate)
}

/// Returns the layer for a frame type, if the sender omits frames.
const fn temporal_layer(frame_type: FrameType) -> u8 {
    match frame_type {
        FrameType::I | FrameType::None | FrameType::Noise | FrameType::Background => 0,
        FrameType::P => 1,
        FrameType::B => 2,
    }
}

impl VideoConfig {
    /// Returns the configured fit, or the default.
    fn fitted(&self) -> Result<VideoFit, ConfigError> {
        match &self.fit {
            Some(fit) => Ok(fit.clone()),
            None => VideoFit::shipped().map_err(|e| e.nested_in("fit")),
        }
    }

    /// Returns the rates of I, P and B frames; types that the group lacks have 1 b/s.
    fn rates_by_type(&self) -> Result<LayerRates, ConfigError> {
        let (fit, order) = (self.fitted()?, self.order()?);
        let mut bytes = [0.0; 3];
        for &frame_type in &order {
            let tes = [&fit.i, &fit.p, &fit.b][usize::from(temporal_layer(frame_type))];
            bytes[usize::from(temporal_layer(frame_type))] += tes.mean();
        }
        let (sum, total) = (bytes.iter().sum::<f64>(), LayerRates::new(&self.layers)?.total().unwrap_or_default());
        let share =
            |part: f64| Rate::from_bits_per_second(((part / sum * total.bits_per_second() as f64) as u64).max(1));
        LayerRates::new(&bytes.map(share))
    }

    /// Returns the frame types of the group in order.
    fn order(&self) -> Result<Vec<FrameType>, ConfigError> {
        let refuse = || {
            let allowed = "one or more of the letters I, P and B";
            ConfigError::new("group", format!("\"{}\"", self.group), allowed, "group = \"IBBPBBPBBPBB\"")
        };
        let order: Option<Vec<FrameType>> = self
            .group
            .chars()
            .map(|letter| match letter {
                'I' => Some(FrameType::I),
                'P' => Some(FrameType::P),
                'B' => Some(FrameType::B),
                _ => None,
            })
            .collect();
        order.filter(|order| !order.is_empty()).ok_or_else(refuse)
    }
}

/// Returns the time from one frame to the next.
fn frame_time(frame_rate: f64) -> Result<Span, ConfigError> {
    if frame_rate > 1000.0 {
        return Err(ConfigError::new("frame-rate", frame_rate, "at most 1000", "frame-rate = 25.0"));
    }
    check_between("frame-rate", frame_rate, 0.0, f64::INFINITY, "frame-rate = 25.0")?;
    Ok(Span::from_seconds(1.0 / frame_rate))
}

/// Generator of units: the layers of one frame after the other.
#[derive(Clone, PartialEq, Debug)]
struct Cutter {
    layers: u8,
    frame: u64,
    layer: u8,
    frame_type: FrameType,
    sizes: [u32; LayerRates::MOST],
}

impl Cutter {
    fn new(layers: u8) -> Self {
        Cutter { layers, frame: 0, layer: layers, frame_type: FrameType::None, sizes: [0; LayerRates::MOST] }
    }

    /// Checks whether the next frame's sizes are needed.
    fn wants_frame(&self) -> bool {
        self.layer >= self.layers
    }

    /// Sets the next frame; the first call is frame 0.
    fn set_frame(&mut self, frame_type: FrameType, sizes: [u32; LayerRates::MOST]) {
        (self.frame_type, self.sizes, self.layer) = (frame_type, sizes, 0);
    }

    /// Returns the next layer of the current frame; `None` if the numbers are exhausted (after 2³² units).
    fn unit(&mut self, start: Instant, frame_rate: f64) -> Option<Unit> {
        let id = u32::try_from(self.frame * u64::from(self.layers) + u64::from(self.layer)).ok()?;
        let unit = Unit {
            id,
            payload: self.sizes.get(usize::from(self.layer)).copied().unwrap_or(0),
            // Computed from the start each time, so that rounding errors do not accumulate.
            created: start + Span::from_seconds(self.frame as f64 / frame_rate),
            layer: self.layer,
            frame_type: self.frame_type,
        };
        self.layer += 1;
        if self.wants_frame() {
            self.frame += 1;
        }
        Some(unit)
    }
}

/// Splits a frame of `size` bytes over layers in proportion to their rates, at least one byte each. The parts of a
/// large enough frame sum to its size. Versions get a share in proportion to the rate of the fastest one.
fn split(size: f64, layers: &LayerRates) -> [u32; LayerRates::MOST] {
    let total = layers.total().unwrap_or_default().bits_per_second() as f64;
    let mut sizes = [0; LayerRates::MOST];
    let mut before = 0;
    for (slot, cumulative) in sizes.iter_mut().zip(layers.cumulative()) {
        let up_to = libm::round(size * cumulative.bits_per_second() as f64 / total) as u32;
        *slot = up_to.saturating_sub(before).max(1);
        before = if layers.are_versions() { 0 } else { up_to };
    }
    sizes
}

/// Generator of packets with a fixed payload; each is a unit.
#[derive(Clone, PartialEq, Debug)]
struct Packets {
    payload: u32,
    /// Bytes of each layer so far, and the packets that hold them.
    bytes: [u64; LayerRates::MOST],
    packets: [u64; LayerRates::MOST],
    /// Remaining packets of the current frame.
    left: [u64; LayerRates::MOST],
    made: u64,
    frame: u64,
    frame_type: FrameType,
}

impl Packets {
    fn new(payload: u32) -> Self {
        let none = [0; LayerRates::MOST];
        Packets { payload, bytes: none, packets: none, left: none, made: 0, frame: 0, frame_type: FrameType::None }
    }

    /// Sets the next frame; the first call is frame 0. A packet is created with the first frame that has bytes in it.
    fn set_frame(&mut self, frame: u64, frame_type: FrameType, sizes: [u32; LayerRates::MOST]) {
        (self.frame, self.frame_type) = (frame, frame_type);
        let payload = u64::from(self.payload.max(1));
        for ((bytes, packets), (left, size)) in
            self.bytes.iter_mut().zip(&mut self.packets).zip(self.left.iter_mut().zip(sizes))
        {
            *bytes += u64::from(size);
            let holding = bytes.div_ceil(payload);
            *left = holding - *packets;
            *packets = holding;
        }
    }

    /// Returns the next packet of the current frame, the base layer first; `None` if the next frame is needed.
    fn unit(&mut self, start: Instant, frame_rate: f64) -> Option<Unit> {
        let layer = self.left.iter().position(|&left| left > 0)?;
        self.left[layer] -= 1;
        let id = u32::try_from(self.made).ok()?;
        self.made += 1;
        let created = start + Span::from_seconds(self.frame as f64 / frame_rate);
        Some(Unit { id, payload: self.payload, created, layer: layer as u8, frame_type: self.frame_type })
    }
}

/// Source of frames from three TES processes.
#[derive(Clone, PartialEq, Debug)]
pub struct Video {
    layers: LayerRates,
    order: Vec<FrameType>,
    /// Processes for I, P and B frames.
    sizes: [Tes; 3],
    scale: f64,
    frame_rate: f64,
    start: Instant,
    place: usize,
    cutter: Cutter,
    /// Packet generator, if the video is divided into packets of a fixed size.
    packets: Option<Packets>,
    /// Number of frames so far, if frames are omitted or divided.
    frame: u64,
    temporal: bool,
    stream: Stream,
}

impl Video {
    fn new(config: &VideoConfig, start: Instant, mut stream: Stream) -> Result<Self, ConfigError> {
        config.check()?;
        let fit = config.fitted()?;
        let layers = match config.coding {
            Coding::Simulcast => LayerRates::versions(&config.layers)?,
            Coding::Layers | Coding::Temporal => LayerRates::new(&config.layers)?,
        };
        let order = config.order()?;
        let model = |frame_type| match frame_type {
            FrameType::I => &fit.i,
            FrameType::P => &fit.p,
            _ => &fit.b,
        };
        let mean = order.iter().map(|&frame_type| model(frame_type).mean()).sum::<f64>() / order.len() as f64;
        let wanted = layers.total().unwrap_or_default().bits_per_second() as f64 / 8.0 / config.frame_rate;
        let start = config.phase.begin(start, group_time(order.len(), config.frame_rate), &mut stream);
        Ok(Video {
            layers,
            order,
            sizes: [Tes::new(&fit.i)?, Tes::new(&fit.p)?, Tes::new(&fit.b)?],
            scale: wanted / mean,
            frame_rate: config.frame_rate,
            start,
            place: 0,
            cutter: Cutter::new(layers.count()),
            packets: config.packet.map(|packet| Packets::new(packet.get() as u32)),
            frame: 0,
            temporal: config.coding == Coding::Temporal,
            stream,
        })
    }

    /// Returns the next frame's type and bytes.
    fn next_frame(&mut self) -> (FrameType, f64) {
        let frame_type = self.order.get(self.place).copied().unwrap_or_default();
        self.place = (self.place + 1) % self.order.len().max(1);
        let tes = match frame_type {
            FrameType::I => &mut self.sizes[0],
            FrameType::P => &mut self.sizes[1],
            _ => &mut self.sizes[2],
        };
        (frame_type, tes.next_value(&mut self.stream) * self.scale)
    }

    /// Returns a whole frame as one unit, in the layer of its type.
    fn next_whole_frame(&mut self) -> Option<Unit> {
        let (frame_type, size) = self.next_frame();
        let unit = Unit {
            id: u32::try_from(self.frame).ok()?,
            payload: (libm::round(size) as u32).max(1),
            created: self.start + Span::from_seconds(self.frame as f64 / self.frame_rate),
            layer: temporal_layer(frame_type),
            frame_type,
        };
        self.frame += 1;
        Some(unit)
    }

    /// Returns the next packet of a fixed size. A frame with all of its bytes in earlier packets has none.
    fn next_packet(&mut self) -> Option<Unit> {
        loop {
            let packets = self.packets.as_mut()?;
            if let Some(unit) = packets.unit(self.start, self.frame_rate) {
                return Some(unit);
            }
            if u32::try_from(packets.made).is_err() {
                return None;
            }
            let (frame_type, size) = self.next_frame();
            let (frame, sizes) = (self.frame, split(size, &self.layers));
            self.packets.as_mut()?.set_frame(frame, frame_type, sizes);
            self.frame += 1;
        }
    }
}

impl TrafficSource for Video {
    fn next_unit(&mut self) -> Option<Unit> {
        if self.packets.is_some() {
            return self.next_packet();
        }
        if self.temporal {
            return self.next_whole_frame();
        }
        if self.cutter.wants_frame() {
            let (frame_type, size) = self.next_frame();
            self.cutter.set_frame(frame_type, split(size, &self.layers));
        }
        self.cutter.unit(self.start, self.frame_rate)
    }
}

#[cfg(test)]
mod tests;
