//! Media of a peer in a call: microphone, camera, shared screen. The transport `webrtc` encodes it for the available
//! rate.
//!
//! The source produces a unit for each frame of microphone or camera. The unit's layer is its stream
//! ([`StreamKind`]). Its payload is that of the stream at its highest rate; the encoder
//! reduces it.

pub use crate::encoder::Media as MediaConfig;

use super::{FrameType, TrafficLaw, TrafficSource, Unit};
use crate::encoder::{Spells, StreamKind};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate, Span};

impl Checked for MediaConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.audio.is_none() && self.video.is_none() && self.screen.is_none() {
            return Err(ConfigError::new("audio", "false", "true where video and screen are false", "audio = true"));
        }
        let within = |name: &'static str| move |error: ConfigError| error.nested_in(name);
        self.audio.as_ref().map_or(Ok(()), Checked::check).map_err(within("audio"))?;
        self.video.as_ref().map_or(Ok(()), Checked::check).map_err(within("video"))?;
        self.screen.as_ref().map_or(Ok(()), Checked::check).map_err(within("screen"))?;
        self.check_times()
    }
}

impl Law for MediaConfig {
    const NAME: &'static str = "media";
    const EXAMPLE: &'static str = r#"{"audio": {"rate": "32 kb/s"}, "video": {"codec": "vp8", "most": "2.5 Mb/s"}}"#;
    const BESIDE: &'static str = r#"{"transport": "webrtc"}"#;
}

/// Yields the frame intervals of the streams, and the payload of each frame at the stream's highest rate.
fn cadences(media: &MediaConfig) -> impl Iterator<Item = (StreamKind, Span, u32)> + use<> {
    let bytes = |rate: Rate, every: Span| rate.bytes_in(every).get().max(1) as u32;
    let audio = media.audio.map(|audio| (StreamKind::Audio, audio.frame, bytes(audio.rate, audio.frame)));
    let camera = |kind: StreamKind, video: Option<crate::encoder::VideoConfig>| {
        let video = video?;
        let every = Span::from_seconds(1.0 / video.frame_rate);
        Some((kind, every, bytes(video.most, every)))
    };
    let (video, screen) = (camera(StreamKind::Video, media.video), camera(StreamKind::Screen, media.screen));
    [audio, video, screen].into_iter().flatten()
}

impl TrafficLaw for MediaConfig {
    type Source = Devices;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<Devices, ConfigError> {
        self.check()?;
        let device = |(kind, every, payload): (StreamKind, Span, u32)| {
            // Devices have independent clocks: each starts at a random time in its first interval.
            let begins = start + every.scaled(stream.uniform());
            let mut device = Device { kind, every, payload, begins, made: 0, off: self.paused_times(kind) };
            device.skip();
            device
        };
        Ok(Devices { devices: cadences(self).map(device).collect(), next_id: 0 })
    }

    fn media(&self) -> Option<&MediaConfig> {
        Some(self)
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(cadences(self).map(|(_, every, _)| 1.0 / every.seconds()).sum())
    }

    fn mean_payload(&self) -> Option<f64> {
        let bytes: f64 = cadences(self).map(|(_, every, payload)| f64::from(payload) / every.seconds()).sum();
        Some(bytes / self.units_per_second()?)
    }
}

/// A microphone, a camera or a screen.
#[derive(Clone, PartialEq, Debug)]
struct Device {
    kind: StreamKind,
    every: Span,
    payload: u32,
    begins: Instant,
    made: u64,
    /// When it is off.
    off: Spells,
}

impl Device {
    fn due(&self) -> Instant {
        if self.made == u64::MAX { Instant::NEVER } else { self.begins + self.every * self.made }
    }

    /// Skips the frames while the device is off.
    fn skip(&mut self) {
        while let Some(until) = self.off.end_at(self.due()) {
            if until == Instant::NEVER {
                self.made = u64::MAX;
                return;
            }
            self.made = until.span_since(self.begins).nanos().div_ceil(self.every.nanos().max(1)).max(self.made + 1);
        }
    }
}

/// The devices of a peer.
#[derive(Clone, PartialEq, Debug)]
pub struct Devices {
    devices: Vec<Device>,
    next_id: u32,
}

impl TrafficSource for Devices {
    fn next_unit(&mut self) -> Option<Unit> {
        // At equal times the microphone comes first.
        let device = self.devices.iter_mut().min_by_key(|device| (device.due(), device.kind))?;
        if device.due() == Instant::NEVER {
            return None;
        }
        let frame_type = if device.kind == StreamKind::Audio { FrameType::None } else { FrameType::P };
        let unit = Unit {
            id: self.next_id,
            payload: device.payload,
            created: device.due(),
            layer: device.kind as u8,
            frame_type,
        };
        device.made += 1;
        device.skip();
        self.next_id = self.next_id.wrapping_add(1);
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn media(json: &str) -> MediaConfig {
        serde_json::from_str(json).expect("media")
    }

    #[test]
    fn microphone_and_camera_make_their_frames_side_by_side() {
        let mut source = media("{}").source(Instant::from_seconds(1.0), Seed(1).stream("media")).expect("a source");
        let units: Vec<Unit> = std::iter::from_fn(|| source.next_unit()).take(800).collect();
        assert!(units.windows(2).all(|pair| pair[0].created <= pair[1].created && pair[1].id == pair[0].id + 1));
        for (kind, every, payload) in [(StreamKind::Audio, 0.02, 80), (StreamKind::Video, 1.0 / 30.0, 10_416)] {
            let own: Vec<&Unit> = units.iter().filter(|unit| unit.layer == kind as u8).collect();
            let first = own[0].created.seconds();
            assert!(first >= 1.0 && first < 1.0 + every, "{first}");
            let last = own[own.len() - 1].created.seconds();
            assert!((last - first - every * (own.len() - 1) as f64).abs() < 1e-6);
            assert!(own.iter().all(|unit| unit.payload == payload));
        }
        assert!(media("{}").units_per_second().is_some_and(|rate| (rate - 80.0).abs() < 1e-6));
    }

    #[test]
    fn streams_are_switched_and_described() {
        assert_eq!(media("{}"), media(r#"{"audio": true, "video": {}, "screen": false}"#));
        let shares = media(r#"{"audio": false, "video": false, "screen": {"scene": "screen", "frame-rate": 5}}"#);
        assert!(shares.audio.is_none() && shares.video.is_none());
        let mut source = shares.source(Instant::ZERO, Seed(1).stream("media")).expect("a source");
        assert_eq!(source.next_unit().map(|unit| unit.layer), Some(StreamKind::Screen as u8));
        let written = serde_json::to_value(&shares).expect("JSON");
        assert_eq!((&written["audio"], &written["screen"]["frame-rate"]), (&false.into(), &5.0.into()));
        assert_eq!(serde_json::from_value::<MediaConfig>(written).expect("read again"), shares);
    }

    #[test]
    fn a_camera_that_is_off_makes_no_pictures_and_its_clock_runs_on() {
        let pictures = |json: &str| -> Vec<f64> {
            let mut source = media(json).source(Instant::ZERO, Seed(1).stream("media")).expect("a source");
            std::iter::from_fn(|| source.next_unit())
                .take(2000)
                .take_while(|unit| unit.created < Instant::from_seconds(9.0))
                .filter(|unit| unit.layer != StreamKind::Audio as u8)
                .map(|unit| unit.created.seconds())
                .collect()
        };
        let always = pictures("{}");
        let off = pictures(r#"{"camera-off": [["1 s", "3 s"], ["5 s", "6 s"]]}"#);
        let on = |at: &f64| !(1.0..3.0).contains(at) && !(5.0..6.0).contains(at);
        assert_eq!(off, always.into_iter().filter(on).collect::<Vec<_>>());
        let shared = pictures(r#"{"video": false, "screen": true, "screen-on": [["2 s", "4 s"]]}"#);
        assert_eq!(shared.len(), 60);
        assert!(shared.iter().all(|at| (2.0..4.0).contains(at)));
        let alone = r#"{"audio": false, "video": false, "screen": true, "screen-on": [["2 s", "4 s"]]}"#;
        assert_eq!(pictures(alone).len(), 60, "and then there is nothing more");
    }

    #[test]
    fn times_that_are_none_are_refused() {
        let refused = |json: &str| media(json).check().expect_err("refused").key;
        assert_eq!(refused(r#"{"camera-off": [["3 s", "1 s"]]}"#), "camera-off");
        assert_eq!(refused(r#"{"camera-off": [["1 s", "3 s"], ["2 s", "4 s"]]}"#), "camera-off");
        assert_eq!(refused(r#"{"video": false, "camera-off": [["1 s", "3 s"]]}"#), "camera-off");
        assert_eq!(refused(r#"{"screen-on": [["1 s", "3 s"]]}"#), "screen-on");
    }

    #[test]
    fn rejects_no_streams_and_settings_that_encoders_reject() {
        let refused = |json: &str| media(json).check().expect_err("refused").key;
        assert_eq!(refused(r#"{"audio": false, "video": false}"#), "audio");
        assert_eq!(refused(r#"{"audio": {"frame": "30 ms"}}"#), "audio.frame");
        assert_eq!(refused(r#"{"video": {"simulcast": 4}}"#), "video.simulcast");
        assert_eq!(refused(r#"{"screen": {"width": 10}}"#), "screen.width");
    }
}
