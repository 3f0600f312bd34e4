//! Video encoder for calls: turns a target rate into frames.
//!
//! The encoder follows its target after [`VideoConfig::reaction`], within [`VideoConfig::error`], like RFC 8868's test
//! encoder (150 kb/s to 1.5 Mb/s there, 100 ms, 5 %). Frame sizes vary around their share of the rate as in real
//! encodings. `fit.json` contains the results of encodings by libvpx, libx264 and SVT-AV1, of synthetic scenes
//! (`fairwave_report.encoder_fit`). A frame that exceeds its share is paid back within half a second. A key frame is
//! larger by the fitted ratio, at most nine shares (libvpx's bound on the size of key frames in calls). An encoder with
//! a debt of more than [`DEBT`] skips frames.
//!
//! *The coarsest quantiser.* libwebrtc limits the quantiser of VP8 to 56 of 63 (106 in the stream), of H.264 to 51, and
//! of AV1 to 52 of 63. A frame that needs more bits than its share at this quantiser gets them, and later frames are
//! skipped.
//!
//! *Picture size.* The quantiser controls the size of the camera's picture, as in libwebrtc ([`super::scaler`]), with a
//! minimum of 320 × 180 pixels. The first picture is smaller if the first target is low (`DropDueToSize`). Simulcast
//! streams and spatial layers keep their sizes.
//!
//! *Layers.* Each temporal layer doubles the frame rate (shares of the rate as in libwebrtc: 60/40; 40/20/40).
//! Simulcast streams halve the size, with the rates of libwebrtc's table (`simulcast.cc`); their frames are
//! independent. Spatial layers halve the size, too, but each depends on the layer below.
//!
//! *A shared screen* is static most of the time. Its pages are static, scroll and change at times drawn from the
//! stream. New content is sent within the rate. The picture sharpens until it reaches the best quality of the codec;
//! then only empty frames follow.
//!
//! **Assumptions.** The opinion score of a picture follows from its PSNR, by interpolation in the table of Klaue,
//! Rathke and Wolisz (EvalVid, 2003). There 20, 25, 31 and 37 dB are the bounds of the five grades.

use std::collections::VecDeque;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::check_priority;
use super::scaler::{Scaler, Step};
use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::Checked;
use fairwave_units::units::{Instant, Rate, Span};

/// Debt at which the encoder skips frames, as a time at the target rate.
pub const DEBT: Span = Span::from_millis(400);
/// Time within which the excess of a frame is paid back, s.
const PAY_BACK: f64 = 0.5;
/// Largest size of a key frame, as a multiple of a frame's share (libvpx, `rc_max_intra_bitrate_pct` as set by
/// libwebrtc: 0.5 · 600 ms · 30/s).
const MOST_KEY: f64 = 9.0;
/// Smallest picture, pixels (`kDefaultMinPixelsPerFrame`).
const LEAST_PIXELS: f64 = 320.0 * 180.0;
/// Limits of the first picture: below a target rate, at most a number of pixels. libwebrtc (`DropDueToSize`) uses 300
/// and 500 kb/s of the path's rate. The target is up to 100 kb/s lower, because speech and headers are subtracted †.
const FIRST_PICTURE: [(f64, f64); 2] = [(200e3, 320.0 * 240.0), (400e3, 640.0 * 480.0)];
/// Scale factors of a camera's picture: the adaptation steps of libwebrtc (two thirds and three quarters of the pixels,
/// alternating).
const SCALES: [f64; 5] = [1.0, 0.75, 0.5, 0.375, 0.25];
/// Duration of a constant rate error.
const ERROR_HOLDS: Span = Span::from_secs(1);
/// Size of a frame without new content, bytes.
const EMPTY_FRAME: f64 = 40.0;
/// PSNR in dB, and the opinion score for it.
const OPINION: [(f64, f64); 6] = [(15.0, 1.0), (20.0, 1.5), (25.0, 2.5), (31.0, 3.5), (37.0, 4.5), (43.0, 5.0)];
/// Mean durations of static and of scrolling phases of a screen, seconds; and the share of changes that are new pages.
const STANDS: f64 = 4.0;
const SCROLLS: f64 = 1.0;
const NEW_PAGE: f64 = 0.3;
/// Highest PSNR of a screen's picture, dB.
const SHARP: f64 = 40.0;
/// Share of the page that scrolls into view per second.
const SCROLL_SPEED: f64 = 0.7;

/// Video codec.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VideoCodec {
    /// VP8 (RFC 6386), by libvpx with the settings of calls.
    #[default]
    Vp8,
    /// H.264, by x264 without delay.
    H264,
    /// AV1, by SVT-AV1 in real time.
    Av1,
}

impl VideoCodec {
    /// Returns the name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            VideoCodec::Vp8 => "vp8",
            VideoCodec::H264 => "h264",
            VideoCodec::Av1 => "av1",
        }
    }

    /// Returns quantisers on the scale of the stream: where libwebrtc enlarges the picture, where it reduces it, and
    /// the coarsest one.
    fn quantisers(self) -> (f64, f64, f64) {
        match self {
            VideoCodec::Vp8 => (29.0, 95.0, 106.0),
            VideoCodec::H264 => (24.0, 37.0, 51.0),
            VideoCodec::Av1 => (145.0, 205.0, 208.0),
        }
    }
}

/// Content of the picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scene {
    /// A talking head with little movement.
    #[default]
    TalkingHead,
    /// A textured picture that moves as a whole, as from a moving camera. It needs several times as many bits.
    Moving,
    /// Pages of text that are static, scroll and change.
    Screen,
}

/// Video encoder of a camera or a screen.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct VideoConfig {
    /// The codec: `vp8`, `h264` or `av1`. Default `vp8`.
    pub codec: VideoCodec,
    /// Content of the picture: `talking-head`, `moving` or `screen`. Default `talking-head`.
    pub scene: Scene,
    /// Width in pixels, 64 to 3840. Default 1280.
    pub width: u16,
    /// Height in pixels, 64 to 2160. Default 720.
    pub height: u16,
    /// Frames per second of the camera, 1 to 60. Default 30.
    pub frame_rate: f64,
    /// Lowest payload rate. Default 30 kb/s, as in libwebrtc.
    pub least: Rate,
    /// Highest payload rate. Default 2.5 Mb/s, libwebrtc's for this size.
    pub most: Rate,
    /// Delay until the encoder follows a new target, up to 10 s. Default 100 ms (RFC 8868's test encoder).
    pub reaction: Span,
    /// Relative deviation of the rate from the target, 0 to 0.5. Default 0.05 (RFC 8868's test encoder).
    #[serde(with = "Ratio")]
    pub error: f64,
    /// Interval of key frames, at least 100 ms. Default: key frames only on request, as in calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_interval: Option<Span>,
    /// Temporal layers, 1 to 3. Default 1.
    pub temporal_layers: u8,
    /// Number of simulcast streams, 1 to 3, each half the size of the next. Default 1.
    pub simulcast: u8,
    /// Number of spatial layers in a stream, 1 to 3. Default 1.
    pub spatial_layers: u8,
    /// Weight in the allocation of rate above the lowest rates among the streams of a session, 0.01 to 100. Default 1.
    /// W3C's very-low, low, medium and high are 0.5, 1, 2 and 4.
    pub priority: f64,
}

impl Default for VideoConfig {
    fn default() -> Self {
        VideoConfig {
            codec: VideoCodec::default(),
            scene: Scene::default(),
            width: 1280,
            height: 720,
            frame_rate: 30.0,
            least: Rate::from_bits_per_second(30_000),
            most: Rate::from_bits_per_second(2_500_000),
            reaction: Span::from_millis(100),
            error: 0.05,
            key_interval: None,
            temporal_layers: 1,
            simulcast: 1,
            spatial_layers: 1,
            priority: 1.0,
        }
    }
}

impl Checked for VideoConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let refuse = |key: &str, value: String, allowed: &str, example: &str| {
            Err(ConfigError::new(key, value, allowed, example))
        };
        if !(64..=3840).contains(&self.width) {
            return refuse("width", self.width.to_string(), "from 64 to 3840", "width = 1280");
        }
        if !(64..=2160).contains(&self.height) {
            return refuse("height", self.height.to_string(), "from 64 to 2160", "height = 720");
        }
        if !(1.0..=60.0).contains(&self.frame_rate) {
            return refuse("frame-rate", self.frame_rate.to_string(), "from 1 to 60", "frame-rate = 30");
        }
        let (least, most) = (self.least.bits_per_second(), self.most.bits_per_second());
        if least < 1_000 {
            return refuse("least", self.least.to_string(), "at least 1 kb/s", "least = \"30 kb/s\"");
        }
        if most < least || most > 1_000_000_000 {
            let allowed = format!("from least ({}) to 1 Gb/s", self.least);
            return refuse("most", self.most.to_string(), &allowed, "most = \"2.5 Mb/s\"");
        }
        if self.reaction > Span::from_secs(10) {
            return refuse("reaction", self.reaction.to_string(), "from 0 s to 10 s", "reaction = \"100 ms\"");
        }
        check_fraction("error", self.error, "error = 0.05")?;
        if self.error > 0.5 {
            return refuse("error", self.error.to_string(), "from 0 to 0.5", "error = 0.05");
        }
        if self.key_interval.is_some_and(|interval| interval < Span::from_millis(100)) {
            let value = self.key_interval.map_or_else(String::new, |interval| interval.to_string());
            return refuse("key-interval", value, "at least 100 ms", "key-interval = \"4 s\"");
        }
        for (key, number) in [
            ("temporal-layers", self.temporal_layers),
            ("simulcast", self.simulcast),
            ("spatial-layers", self.spatial_layers),
        ] {
            if !(1..=3).contains(&number) {
                return refuse(key, number.to_string(), "from 1 to 3", &format!("{key} = 2"));
            }
        }
        check_priority(self.priority)?;
        if self.simulcast > 1 && self.spatial_layers > 1 {
            return refuse("spatial-layers", self.spatial_layers.to_string(), "1 with simulcast", "spatial-layers = 1");
        }
        Ok(())
    }
}

/// One encoding of a camera frame: of a simulcast stream or of a spatial layer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EncodedFrame {
    /// Payload bytes, at least 1.
    pub bytes: u32,
    /// True if it depends on no other frame; for an upper spatial layer, on no other frame than the layer below.
    pub key: bool,
    /// Simulcast stream, from 0 (the smallest picture). Each has a separate SSRC.
    pub stream: u8,
    /// Spatial layer in its stream, from 0.
    pub spatial: u8,
    /// Temporal layer, from 0. A frame depends only on frames of the same layer and below.
    pub temporal: u8,
    /// Width, pixels.
    pub width: u16,
    /// Height, pixels.
    pub height: u16,
    /// Opinion score that a viewer would give the encoded picture if all frames were shown, 1 to 5.
    pub quality: f32,
}

/// Fit to encodings of one codec and scene.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Fit {
    /// Mean size of key frames relative to other frames.
    key_ratio: f64,
    /// Standard deviation of the logarithm of other frames' sizes.
    deviation: f64,
    /// Correlation of consecutive logarithms.
    correlation: f64,
    sizes: Vec<FitOfSize>,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct FitOfSize {
    width: f64,
    height: f64,
    /// PSNR at one bit per pixel, and gain per doubling of the bits, dB.
    psnr_at_one_bit: f64,
    psnr_per_doubling: f64,
    /// Largest deviation of the fitted line, dB.
    #[allow(dead_code)] // for readers of the file
    worst: f64,
    /// Quantisers in ascending order, each with its bits per pixel; empty for a screen. The file contains the bits;
    /// here they are logarithms to base 2.
    #[serde(deserialize_with = "with_logarithms")]
    quantisers: Vec<(f64, f64)>,
}

fn with_logarithms<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(f64, f64)>, D::Error> {
    let mut quantisers = Vec::<(f64, f64)>::deserialize(deserializer)?;
    quantisers.iter_mut().for_each(|(_, bits)| *bits = libm::log2(*bits));
    Ok(quantisers)
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Fits {
    #[allow(dead_code)] // for readers of the file
    about: String,
    vp8: FitsOfCodec,
    h264: FitsOfCodec,
    av1: FitsOfCodec,
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct FitsOfCodec {
    talking_head: Fit,
    moving: Fit,
    screen: Fit,
}

impl Fit {
    fn for_config(config: &VideoConfig) -> &'static Fit {
        static SHIPPED: OnceLock<Fits> = OnceLock::new();
        let fits = SHIPPED.get_or_init(|| {
            serde_json::from_str(include_str!("fit.json")).unwrap_or_else(|error| panic!("encoder/fit.json: {error}"))
        });
        let of_codec = match config.codec {
            VideoCodec::Vp8 => &fits.vp8,
            VideoCodec::H264 => &fits.h264,
            VideoCodec::Av1 => &fits.av1,
        };
        match config.scene {
            Scene::TalkingHead => &of_codec.talking_head,
            Scene::Moving => &of_codec.moving,
            Scene::Screen => &of_codec.screen,
        }
    }

    /// Returns the PSNR of a picture with `pixels` pixels and `bits` bits, shown at the size of its camera.
    /// Interpolates between the fitted sizes by the logarithm of the pixels, up to the best PSNR of the codec.
    fn psnr(&self, pixels: f64, bits: f64) -> f64 {
        let per_pixel = libm::log2((bits / pixels).clamp(1e-4, 1.0));
        let line = |size: &FitOfSize| size.psnr_at_one_bit + size.psnr_per_doubling * per_pixel;
        let psnr = self.interpolate(pixels, line);
        match self.sizes.first().map(FitOfSize::area) {
            // Half the width costs a camera's picture about as much as the step from the second size to the first.
            Some(least) if pixels < least => psnr - 1.5 * libm::log2(least / pixels),
            _ => psnr,
        }
    }

    /// Interpolates a value between the fitted sizes by the logarithm of the pixels; constant outside of them.
    fn interpolate(&self, pixels: f64, of: impl Fn(&FitOfSize) -> f64) -> f64 {
        let (Some(first), Some(last)) = (self.sizes.first(), self.sizes.last()) else { return 0.0 };
        if pixels <= first.area() {
            return of(first);
        }
        for pair in self.sizes.windows(2) {
            if let [low, high] = pair
                && pixels <= high.area()
            {
                let share = libm::log2(pixels / low.area()) / libm::log2(high.area() / low.area());
                return of(low) * (1.0 - share) + of(high) * share;
            }
        }
        of(last)
    }

    /// Returns the quantiser at which a camera frame of `pixels` pixels has `bits` bits, by the logarithm of the bits;
    /// from 0 to the coarsest.
    fn quantiser(&self, pixels: f64, bits: f64, coarsest: f64) -> f64 {
        let per_pixel = libm::log2((bits / pixels).max(1e-9));
        self.interpolate(pixels, |size| size.quantiser(per_pixel)).clamp(0.0, coarsest)
    }

    /// Returns the bits of a camera frame of `pixels` pixels with this quantiser.
    fn bits(&self, pixels: f64, quantiser: f64) -> f64 {
        pixels * libm::exp2(self.interpolate(pixels, |size| size.bits_per_pixel(quantiser)))
    }

    /// Returns the bits per pixel of a screen's picture that is sent completely, at full sharpness. Screens are coded
    /// in their native size.
    fn whole_screen(&self) -> f64 {
        self.sizes.last().map_or(1.0, |size| libm::exp2((SHARP - size.psnr_at_one_bit) / size.psnr_per_doubling))
    }

    /// Returns the PSNR of a screen after `share` (0 to 1) of its bits has been sent.
    fn screen_psnr(&self, share: f64) -> f64 {
        self.sizes.last().map_or(SHARP, |size| SHARP + size.psnr_per_doubling * libm::log2(share.max(0.01)))
    }
}

impl FitOfSize {
    fn area(&self) -> f64 {
        self.width * self.height
    }

    /// Returns the quantiser for a logarithm of bits per pixel; piecewise linear, extrapolated at both ends.
    fn quantiser(&self, per_pixel: f64) -> f64 {
        on_lines(&self.quantisers, |&(quantiser, per_pixel)| (-per_pixel, quantiser), -per_pixel)
    }

    /// Returns the logarithm of the bits per pixel for a quantiser; piecewise linear, extrapolated at both ends.
    fn bits_per_pixel(&self, quantiser: f64) -> f64 {
        on_lines(&self.quantisers, |&point| point, quantiser)
    }
}

/// Returns the value at `x` on the lines through the points, in ascending order of their first values; extrapolates at
/// both ends. `point` converts an entry of the table to a point.
fn on_lines(table: &[(f64, f64)], point: impl Fn(&(f64, f64)) -> (f64, f64), x: f64) -> f64 {
    let at = table.iter().skip(1).take_while(|entry| point(entry).0 < x).count().min(table.len().saturating_sub(2));
    let ends = table.get(at).map(&point).zip(table.get(at + 1).map(&point));
    match ends {
        Some(((from, low), (to, high))) if to > from => low + (high - low) * (x - from) / (to - from),
        _ => table.first().map_or(0.0, |first| point(first).1),
    }
}

/// Returns the opinion score for a PSNR, 1 to 5.
pub fn opinion_of(psnr: f64) -> f64 {
    let mut opinion = OPINION[0].1;
    for pair in OPINION.windows(2) {
        if let [(low, at_low), (high, at_high)] = *pair
            && psnr > low
        {
            opinion = at_low + (at_high - at_low) * ((psnr - low) / (high - low)).min(1.0);
        }
    }
    opinion
}

/// Returns the rates of a simulcast stream for its pixels, bits per second (libwebrtc, `video/config/simulcast.cc`):
/// the highest, the rate required before the next stream gets any, and the lowest.
fn simulcast_rates(pixels: f64) -> (f64, f64, f64) {
    const TABLE: [(f64, f64, f64, f64); 6] = [
        (1920.0 * 1080.0, 5e6, 4e6, 8e5),
        (1280.0 * 720.0, 2.5e6, 2.5e6, 6e5),
        (960.0 * 540.0, 1.2e6, 1.2e6, 3.5e5),
        (640.0 * 360.0, 7e5, 5e5, 1.5e5),
        (480.0 * 270.0, 4.5e5, 3.5e5, 1.5e5),
        (320.0 * 180.0, 2e5, 1.5e5, 3e4),
    ];
    let found = TABLE.iter().find(|row| pixels >= row.0).unwrap_or(&TABLE[5]);
    (found.1, found.2, found.3)
}

/// State of one simulcast stream.
#[derive(Clone, Debug)]
struct StreamState {
    /// Full size: width and height, pixels.
    size: (u16, u16),
    /// Excess of its frames over their shares, bits.
    debt: f64,
    /// Deviation of the logarithm of the next frame's size.
    deviation: f64,
    /// Mean size of its frames, bits; it determines the quality.
    mean: Option<f64>,
    /// Index into [`SCALES`]; `None` before the first picture.
    scale: Option<usize>,
    scaler: Scaler,
    /// True if the next frame must be a key frame.
    key: bool,
    keyed: Option<Instant>,
    /// Number of frames since the key frame.
    number: u64,
    /// Share of the screen's picture that has been sent at full sharpness.
    sharp: f64,
    /// True once it has had a rate.
    active: bool,
}

/// State of a video encoder.
#[derive(Clone, Debug)]
pub struct VideoEncoder {
    config: VideoConfig,
    fit: &'static Fit,
    stream: Stream,
    /// Targets with their start times; the first is the current one.
    targets: VecDeque<(Instant, f64)>,
    streams: Vec<StreamState>,
    error: f64,
    error_until: Instant,
    /// Screen: whether it scrolls, until when, and the share of the page that is new.
    scrolls: bool,
    scene_until: Instant,
    news: f64,
}

impl VideoEncoder {
    /// Returns an encoder; `stream` is its only source of randomness. The parameters have been checked.
    pub fn new(config: &VideoConfig, stream: Stream) -> Self {
        let count = usize::from(config.simulcast);
        let streams = (0..count).map(|place| {
            let halvings = (count - 1 - place) as u32;
            StreamState {
                size: (config.width >> halvings, config.height >> halvings),
                debt: 0.0,
                deviation: 0.0,
                mean: None,
                scale: None,
                scaler: Scaler::new(config.codec.quantisers().1, config.codec.quantisers().0),
                key: true,
                keyed: None,
                number: 0,
                sharp: 0.0,
                active: false,
            }
        });
        VideoEncoder {
            fit: Fit::for_config(config),
            stream,
            targets: VecDeque::new(),
            streams: streams.collect(),
            config: *config,
            error: 0.0,
            error_until: Instant::ZERO,
            scrolls: false,
            scene_until: Instant::ZERO,
            news: 1.0,
        }
    }

    /// Returns the range of the target, as payload rates.
    pub fn rates(&self) -> (Rate, Rate) {
        (self.config.least, self.config.most)
    }

    /// Returns the number of simulcast streams, at least 1.
    pub fn streams(&self) -> u8 {
        self.config.simulcast
    }

    /// Sets the target payload rate of all streams and layers together, from `now` on; the encoder follows after its
    /// reaction time. Zero suspends it at once.
    pub fn set_target(&mut self, now: Instant, target: Rate) {
        let target = target.bits_per_second().min(self.config.most.bits_per_second()) as f64;
        if target == 0.0 {
            self.targets.clear();
            self.targets.push_back((now, 0.0));
            return;
        }
        let begins = self.targets.back().is_none_or(|(_, latest)| *latest == 0.0);
        if begins {
            self.targets.clear();
        }
        if self.targets.back().is_none_or(|(_, latest)| *latest != target) {
            self.targets.push_back((if begins { now } else { now + self.config.reaction }, target));
        }
    }

    /// Requests a key frame of this simulcast stream, because the receiver cannot decode.
    pub fn request_key_frame(&mut self, stream: u8) {
        if let Some(state) = self.streams.get_mut(usize::from(stream)) {
            state.key = true;
        }
    }

    /// Encodes the camera frame captured at `created`. Appends its encodings to `out`: none if the frame is skipped.
    pub fn encode(&mut self, created: Instant, out: &mut Vec<EncodedFrame>) {
        while self.targets.get(1).is_some_and(|(from, _)| *from <= created) {
            self.targets.pop_front();
        }
        let Some(&(from, target)) = self.targets.front() else { return };
        if target <= 0.0 || from > created {
            return;
        }
        if created >= self.error_until {
            self.error = self.config.error * (2.0 * self.stream.uniform() - 1.0);
            self.error_until = created + ERROR_HOLDS;
        }
        if self.config.scene == Scene::Screen {
            self.turn_pages(created);
        }
        let mut rest = target * (1.0 + self.error);
        for place in 0..self.streams.len() {
            let rate = self.share(place, &mut rest);
            self.encode_stream(place, rate, created, out);
        }
        self.news = 0.0;
    }

    /// Returns the rate of a simulcast stream: the rate that it requires, or the rest for the largest running stream.
    fn share(&self, place: usize, rest: &mut f64) -> f64 {
        if self.streams.len() == 1 {
            return std::mem::take(rest);
        }
        let rates = |place: usize| {
            let size = self.streams.get(place).map_or((0, 0), |state| state.size);
            simulcast_rates(f64::from(size.0) * f64::from(size.1))
        };
        let (most, wanted, least) = rates(place);
        if *rest < least && place > 0 {
            return 0.0;
        }
        let next = (place + 1 < self.streams.len()).then(|| rates(place + 1).2);
        let given = match next {
            // The next larger stream runs, too, so this one gets the rate that it requires.
            Some(least_of_next) if *rest - wanted.min(*rest) >= least_of_next => wanted,
            _ => most,
        };
        let given = given.min(*rest);
        *rest -= given;
        given
    }

    fn encode_stream(&mut self, place: usize, rate: f64, created: Instant, out: &mut Vec<EncodedFrame>) {
        let config = self.config;
        let (noise, draws) = (self.stream.normal(), self.news);
        let Some(state) = self.streams.get_mut(place) else { return };
        if rate <= 0.0 {
            state.active = false;
            return;
        }
        if !state.active {
            (state.active, state.key, state.debt) = (true, true, 0.0);
        }
        state.sharp = (state.sharp - draws).max(0.0);
        let share = rate / config.frame_rate;
        let due = config.key_interval.is_some_and(|every| state.keyed.is_none_or(|latest| created - latest >= every));
        if state.debt > rate * DEBT.seconds() {
            // The frame is skipped; its share reduces the debt. A requested key frame comes with the next frame that is
            // not skipped.
            state.debt -= share;
            state.scaler.on_frame(created, None);
            return;
        }
        let scales = config.scene != Scene::Screen && config.simulcast == 1 && config.spatial_layers == 1;
        if scales {
            state.resize(rate, created);
        }
        let scale = SCALES[state.scale.unwrap_or(0)];
        let key = state.key || due;
        let (width, height) = scaled(state.size, scale);
        let pixels = f64::from(width) * f64::from(height);
        let temporal = temporal_layer(config.temporal_layers, if key { 0 } else { state.number });
        let weight = temporal_weight(config.temporal_layers, temporal);
        // All frames of the next half second pay back an excess; unused bits are used up in the same way.
        let budget = share * weight - (state.debt / (PAY_BACK * config.frame_rate)).clamp(-0.5 * share, 0.5 * share);
        let bits = match config.scene {
            Scene::TalkingHead | Scene::Moving => {
                let coarsest = config.codec.quantisers().2;
                state.scaler.on_frame(created, Some(self.fit.quantiser(pixels, budget, coarsest)));
                let keep = self.fit.correlation;
                state.deviation = keep * state.deviation + (1.0 - keep * keep).sqrt() * self.fit.deviation * noise;
                let varies = libm::exp(state.deviation - self.fit.deviation * self.fit.deviation / 2.0);
                let larger = if key { self.fit.key_ratio.min(MOST_KEY) } else { 1.0 };
                budget.max(self.fit.bits(pixels, coarsest)) * varies * larger
            }
            Scene::Screen => {
                let whole = self.fit.whole_screen() * pixels;
                // A key frame sends the complete picture again.
                if key {
                    state.sharp = 0.0;
                }
                let missing = (1.0 - state.sharp) * whole;
                let bits =
                    missing.min(budget.max(share / 2.0) * if key { MOST_KEY } else { 3.0 }).max(EMPTY_FRAME * 8.0);
                state.sharp = (state.sharp + bits / whole).min(1.0);
                bits
            }
        };
        let bits = bits.max(EMPTY_FRAME * 8.0);
        state.debt = (state.debt + bits - share).max(-rate * PAY_BACK);
        if !key {
            let mean = state.mean.unwrap_or(bits);
            state.mean = Some(mean + (bits - mean) / config.frame_rate);
        }
        let psnr = match config.scene {
            Scene::TalkingHead | Scene::Moving => self.fit.psnr(pixels, state.mean.unwrap_or(share)),
            Scene::Screen => self.fit.screen_psnr(state.sharp),
        };
        if key {
            (state.key, state.keyed, state.number) = (false, Some(created), 0);
        }
        state.number += 1;
        let layers = config.spatial_layers;
        for spatial in 0..layers {
            let halvings = layers - 1 - spatial;
            let bits = bits * spatial_share(layers, spatial);
            out.push(EncodedFrame {
                bytes: ((bits / 8.0) as u32).max(1),
                key,
                stream: place as u8,
                spatial,
                temporal,
                width: width >> halvings,
                height: height >> halvings,
                quality: opinion_of(psnr - 3.0 * f64::from(halvings)) as f32,
            });
        }
    }

    /// Updates the share of the screen that is new since the previous frame.
    fn turn_pages(&mut self, now: Instant) {
        if now >= self.scene_until {
            self.scrolls = !self.scrolls;
            if self.scrolls && self.stream.chance(NEW_PAGE) {
                self.scrolls = false;
                self.news = 1.0;
            }
            let mean = if self.scrolls { SCROLLS } else { STANDS };
            self.scene_until = now + Span::from_seconds(self.stream.exponential(mean)).max(Span::from_millis(100));
        }
        if self.scrolls {
            self.news = (self.news + SCROLL_SPEED / self.config.frame_rate).min(1.0);
        }
    }
}

impl StreamState {
    /// Changes the picture size if a change is due.
    fn resize(&mut self, rate: f64, now: Instant) {
        let pixels = |scale: usize| {
            let (width, height) = scaled(self.size, SCALES.get(scale).copied().unwrap_or_default());
            f64::from(width) * f64::from(height)
        };
        let smallest = |most: f64| {
            let fits = |scale: &usize| pixels(*scale) <= most || pixels(*scale + 1) < LEAST_PIXELS;
            (0..SCALES.len()).find(fits).unwrap_or(0)
        };
        let Some(present) = self.scale else {
            let most = FIRST_PICTURE.iter().find(|(below, _)| rate < *below).map_or(f64::INFINITY, |found| found.1);
            self.scale = Some(smallest(most));
            return;
        };
        let next = match self.scaler.decide(now) {
            Some(Step::Smaller) if pixels(present + 1) >= LEAST_PIXELS => present + 1,
            Some(Step::Larger) => present.saturating_sub(1),
            _ => return,
        };
        if next != present {
            // A change of size needs a key frame (VP8, H.264).
            (self.scale, self.key) = (Some(next), true);
        }
    }
}

/// Returns the pixels of a scaled picture; both sides are even.
fn scaled(size: (u16, u16), scale: f64) -> (u16, u16) {
    let side = |pixels: u16| ((f64::from(pixels) * scale / 2.0) as u16 * 2).max(2);
    (side(size.0), side(size.1))
}

/// Returns the temporal layer of a frame from its number since the key frame.
fn temporal_layer(layers: u8, number: u64) -> u8 {
    match layers {
        2 => [0, 1][(number % 2) as usize],
        3 => [0, 2, 1, 2][(number % 4) as usize],
        _ => 0,
    }
}

/// Returns the share of a frame of a temporal layer, relative to an equal share (libwebrtc: 60/40; 40/20/40 of the
/// rate).
fn temporal_weight(layers: u8, temporal: u8) -> f64 {
    match (layers, temporal) {
        (2, 0) => 1.2,
        (2, _) => 0.8,
        (3, 0) => 1.6,
        (3, _) => 0.8,
        _ => 1.0,
    }
}

/// Returns the share of a spatial layer in the bits of its stream: each layer has three times as many bits as the one
/// below. Assumed.
fn spatial_share(layers: u8, spatial: u8) -> f64 {
    let whole: f64 = (0..layers).map(|layer| 3_f64.powi(i32::from(layer))).sum();
    3_f64.powi(i32::from(spatial)) / whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn encoder(config: VideoConfig) -> VideoEncoder {
        config.check().expect("a valid configuration");
        VideoEncoder::new(&config, Seed(3).stream("video"))
    }

    fn instant(number: u64) -> Instant {
        Instant::ZERO + Span::from_seconds(number as f64 / 30.0)
    }

    fn kilobits(rate: u64) -> Rate {
        Rate::from_bits_per_second(rate * 1000)
    }

    /// Encodes `seconds` seconds of frames from second `from` on.
    fn encoded(encoder: &mut VideoEncoder, from: u64, seconds: u64) -> Vec<(u64, EncodedFrame)> {
        let mut frames = Vec::new();
        for number in from * 30..(from + seconds) * 30 {
            let mut out = Vec::new();
            encoder.encode(instant(number), &mut out);
            frames.extend(out.into_iter().map(|frame| (number, frame)));
        }
        frames
    }

    fn rate(frames: &[(u64, EncodedFrame)], seconds: u64) -> f64 {
        frames.iter().map(|(_, frame)| f64::from(frame.bytes) * 8.0).sum::<f64>() / seconds as f64
    }

    #[test]
    fn the_mean_rate_is_the_target_within_the_error() {
        for codec in [VideoCodec::Vp8, VideoCodec::H264, VideoCodec::Av1] {
            for target in [150, 800, 2_500] {
                let mut encoder = encoder(VideoConfig { codec, ..VideoConfig::default() });
                encoder.set_target(instant(0), kilobits(target));
                let frames = encoded(&mut encoder, 0, 60);
                let off = rate(&frames, 60) / (target as f64 * 1000.0) - 1.0;
                assert!(off.abs() < 0.05, "{codec:?} {target}: {off}");
            }
        }
    }

    #[test]
    fn a_new_target_holds_after_the_reaction_time() {
        let exact = VideoConfig { error: 0.0, reaction: Span::from_millis(500), ..VideoConfig::default() };
        let mut encoder = encoder(exact);
        encoder.set_target(instant(0), kilobits(1_000));
        encoded(&mut encoder, 0, 10);
        encoder.set_target(instant(300), kilobits(200));
        assert_eq!(encoder.targets.front().map(|target| target.1), Some(1e6));
        let mut out = Vec::new();
        encoder.encode(instant(314), &mut out);
        assert_eq!(encoder.targets.front().map(|target| target.1), Some(1e6));
        encoder.encode(instant(315), &mut out);
        assert_eq!(encoder.targets.front().map(|target| target.1), Some(2e5));
        let after = rate(&encoded(&mut encoder, 11, 20), 20);
        assert!((after / 2e5 - 1.0).abs() < 0.05, "{after}");
    }

    #[test]
    fn key_frames_come_first_on_request_and_at_their_interval_and_are_larger() {
        let mut encoder = encoder(VideoConfig::default());
        encoder.set_target(instant(0), kilobits(1_000));
        let mut frames = encoded(&mut encoder, 0, 10);
        encoder.request_key_frame(0);
        frames.extend(encoded(&mut encoder, 10, 10));
        let keys: Vec<u64> = frames.iter().filter(|(_, frame)| frame.key).map(|(number, _)| *number).collect();
        assert_eq!((keys.first(), keys.last()), (Some(&0), Some(&300)));
        let sum = |key: bool| {
            let sizes: Vec<f64> = frames.iter().filter(|f| f.1.key == key).map(|f| f64::from(f.1.bytes)).collect();
            sizes.iter().sum::<f64>() / sizes.len() as f64
        };
        assert!(sum(true) > 3.0 * sum(false) && sum(true) < 12.0 * sum(false), "{} {}", sum(true), sum(false));
        let mut regular =
            self::encoder(VideoConfig { key_interval: Some(Span::from_secs(2)), ..VideoConfig::default() });
        regular.set_target(instant(0), kilobits(1_000));
        let keys = encoded(&mut regular, 0, 10).iter().filter(|(_, frame)| frame.key).count();
        assert!((5..=6).contains(&keys), "{keys}");
    }

    #[test]
    fn a_large_debt_leaves_frames_out_until_it_is_paid() {
        let mut encoder = encoder(VideoConfig::default());
        encoder.set_target(instant(0), kilobits(2_500));
        encoded(&mut encoder, 0, 5);
        encoder.set_target(instant(150), kilobits(100));
        encoder.request_key_frame(0);
        encoder.streams[0].debt = 60_000.0;
        let frames = encoded(&mut encoder, 6, 2);
        assert!(frames.len() < 60 && frames[0].0 > 180, "{} of 60, the first {}", frames.len(), frames[0].0);
    }

    #[test]
    fn zero_suspends_at_once_and_what_follows_begins_with_a_key_frame() {
        let mut encoder = encoder(VideoConfig::default());
        encoder.encode(instant(0), &mut Vec::new());
        encoder.set_target(instant(0), kilobits(500));
        encoded(&mut encoder, 0, 2);
        encoder.set_target(instant(60), Rate::default());
        assert!(encoded(&mut encoder, 2, 2).is_empty());
        encoder.set_target(instant(120), kilobits(500));
        assert_eq!(encoded(&mut encoder, 4, 1).first().map(|(number, _)| *number), Some(120));
    }

    #[test]
    fn the_picture_is_smaller_and_worse_at_low_rates() {
        let of = |target: u64| {
            let mut encoder = encoder(VideoConfig::default());
            encoder.set_target(instant(0), kilobits(target));
            encoded(&mut encoder, 0, 10).last().map(|(_, frame)| (frame.width, frame.quality)).expect("frames")
        };
        let rows: Vec<(u16, f32)> = [60, 200, 700, 2_500].map(of).to_vec();
        assert!(rows.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1), "{rows:?}");
        assert!(rows[0].0 < rows[3].0 && rows[0].1 < rows[3].1, "{rows:?}");
    }

    #[test]
    fn the_first_picture_is_as_large_as_the_first_target_suits() {
        let first = |target: u64| {
            let mut encoder = encoder(unvaried());
            encoder.set_target(instant(0), kilobits(target));
            encoded(&mut encoder, 0, 1).first().map(|(_, frame)| frame.height).expect("a frame")
        };
        assert_eq!([199, 200, 399, 400].map(first), [180, 360, 360, 720]);
    }

    #[test]
    fn a_moving_picture_needs_its_coarsest_frames_and_leaves_others_out_until_it_is_smaller() {
        let config = VideoConfig { scene: Scene::Moving, width: 640, height: 360, ..unvaried() };
        let mut encoder = encoder(config);
        encoder.set_target(instant(0), kilobits(1_000));
        let before = encoded(&mut encoder, 0, 10);
        assert_eq!((before.len(), before.last().map(|(_, frame)| frame.height)), (300, Some(360)));
        encoder.set_target(instant(300), kilobits(100));
        let after = encoded(&mut encoder, 10, 20);
        // At the coarsest quantiser, 360 lines take 191 kb/s, and 180 lines 94.
        let seconds =
            |from: u64| after.iter().filter(|(number, _)| (from * 30..from * 30 + 30).contains(number)).count();
        assert!((5..25).contains(&seconds(12)), "{} frames in the third second", seconds(12));
        assert_eq!(after.last().map(|(_, frame)| frame.height), Some(180));
        assert!(seconds(29) >= 27, "{}", seconds(29));
        let smaller = after.iter().find(|(_, frame)| frame.height < 360).map_or(0, |(number, _)| number - 300);
        assert!((60..=150).contains(&smaller), "the first step after {smaller} frames");
        assert!((rate(&after, 20) / 1e5 - 1.0).abs() < 0.08, "{}", rate(&after, 20));
    }

    #[test]
    fn simulcast_streams_keep_their_sizes() {
        let mut encoder = encoder(VideoConfig { scene: Scene::Moving, simulcast: 2, ..VideoConfig::default() });
        encoder.set_target(instant(0), kilobits(150));
        assert!(encoded(&mut encoder, 0, 20).iter().all(|(_, frame)| frame.height == 360));
    }

    #[test]
    fn the_fit_gives_back_its_own_points_and_goes_on_beyond_them() {
        let fit = Fit::for_config(&VideoConfig { scene: Scene::Moving, ..VideoConfig::default() });
        let size = &fit.sizes[1];
        for &(quantiser, logarithm) in &size.quantisers {
            let bits = libm::exp2(logarithm);
            assert!((fit.bits(size.area(), quantiser) / size.area() - bits).abs() < 1e-9);
            assert!((fit.quantiser(size.area(), bits * size.area(), 127.0) - quantiser).abs() < 1e-9);
        }
        assert_eq!(fit.quantiser(size.area(), 1.0, 106.0), 106.0, "no coarser than that");
        assert_eq!(fit.quantiser(size.area(), 1e9, 106.0), 0.0);
        let finest = libm::exp2(size.quantisers[0].1) * size.area();
        assert!(fit.quantiser(size.area(), 1.5 * finest, 106.0) < size.quantisers[0].0);
    }

    #[test]
    fn temporal_layers_take_turns() {
        let of = |layers: u8| {
            let mut encoder = encoder(VideoConfig { temporal_layers: layers, ..unvaried() });
            encoder.set_target(instant(0), kilobits(1_000));
            encoded(&mut encoder, 0, 1)
        };
        let turns = |layers: u8| of(layers).iter().take(9).map(|(_, frame)| frame.temporal).collect::<Vec<u8>>();
        assert_eq!(turns(3), [0, 2, 1, 2, 0, 2, 1, 2, 0]);
        assert_eq!(turns(2), [0, 1, 0, 1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn simulcast_streams_get_what_libwebrtcs_table_gives_them() {
        let shares = |target: f64| {
            let encoder = encoder(VideoConfig { simulcast: 3, ..VideoConfig::default() });
            let mut rest = target;
            (0..3).map(|place| encoder.share(place, &mut rest)).collect::<Vec<f64>>()
        };
        assert_eq!(shares(3.0e6), [1.5e5, 5e5, 2.35e6]);
        assert_eq!(shares(1.25e6), [1.5e5, 5e5, 6e5]);
        assert_eq!(shares(1.2e6), [1.5e5, 7e5, 0.0], "720 lines need 600 kb/s");
        assert_eq!(shares(2.0e5), [2e5, 0.0, 0.0]);
        assert_eq!(shares(2.0e4), [2e4, 0.0, 0.0]);
        let mut encoder = encoder(VideoConfig { simulcast: 3, ..VideoConfig::default() });
        encoder.set_target(instant(0), kilobits(2_500));
        let first: Vec<(u8, u16, bool)> =
            encoded(&mut encoder, 0, 1).iter().take(3).map(|(_, f)| (f.stream, f.width, f.key)).collect();
        assert!(first.iter().all(|frame| frame.2), "{first:?}");
        assert_eq!(first.iter().map(|frame| frame.0).collect::<Vec<u8>>(), [0, 1, 2]);
    }

    #[test]
    fn spatial_layers_come_from_below_and_grow() {
        let mut encoder = encoder(VideoConfig { spatial_layers: 3, ..VideoConfig::default() });
        encoder.set_target(instant(0), kilobits(2_000));
        let frames = encoded(&mut encoder, 0, 1);
        let seen: Vec<(u8, bool)> = frames.iter().take(6).map(|(_, frame)| (frame.spatial, frame.key)).collect();
        assert_eq!(seen, [(0, true), (1, true), (2, true), (0, false), (1, false), (2, false)]);
        assert!(frames[1].1.width > frames[0].1.width && frames[2].1.bytes > frames[1].1.bytes);
    }

    #[test]
    fn a_screen_is_silent_while_it_stands_and_sharpens_after_a_change() {
        let mut encoder = encoder(VideoConfig { scene: Scene::Screen, ..VideoConfig::default() });
        encoder.set_target(instant(0), kilobits(1_000));
        let frames = encoded(&mut encoder, 0, 120);
        let empty = frames.iter().filter(|(_, frame)| f64::from(frame.bytes) <= EMPTY_FRAME).count();
        assert!(empty * 4 > frames.len(), "{empty} of {}", frames.len());
        assert!(rate(&frames, 120) < 1.06e6);
        let best = frames.iter().map(|(_, frame)| frame.quality).fold(0.0, f32::max);
        let worst = frames.iter().skip(30).map(|(_, frame)| frame.quality).fold(5.0, f32::min);
        assert!(best > worst + 0.5, "{worst} to {best}");
    }

    #[test]
    fn opinion_follows_the_grades_of_psnr() {
        assert_eq!([10.0, 20.0, 28.0, 37.0, 60.0].map(opinion_of), [1.0, 1.5, 3.0, 4.5, 5.0]);
    }

    #[test]
    fn rejects_settings_that_encoders_lack() {
        let refused = |config: VideoConfig| config.check().expect_err("refused").key;
        let default = VideoConfig::default();
        assert_eq!(refused(VideoConfig { width: 63, ..default }), "width");
        assert_eq!(refused(VideoConfig { height: 2161, ..default }), "height");
        assert_eq!(refused(VideoConfig { frame_rate: f64::NAN, ..default }), "frame-rate");
        assert_eq!(refused(VideoConfig { least: Rate::default(), ..default }), "least");
        assert_eq!(refused(VideoConfig { most: kilobits(20), ..default }), "most");
        assert_eq!(refused(VideoConfig { reaction: Span::from_secs(11), ..default }), "reaction");
        assert_eq!(refused(VideoConfig { error: 0.6, ..default }), "error");
        assert_eq!(refused(VideoConfig { key_interval: Some(Span::from_millis(99)), ..default }), "key-interval");
        assert_eq!(refused(VideoConfig { temporal_layers: 4, ..default }), "temporal-layers");
        assert_eq!(refused(VideoConfig { simulcast: 0, ..default }), "simulcast");
        assert_eq!(refused(VideoConfig { simulcast: 2, spatial_layers: 2, ..default }), "spatial-layers");
    }

    fn unvaried() -> VideoConfig {
        VideoConfig { error: 0.0, ..VideoConfig::default() }
    }
}
