//! Comfort noise: frames that describe the background in a speaker's pauses. The receiver plays a similar noise, so
//! that the line does not sound dead. These frames cost packets and are not speech.
//!
//! | codec | frames of a pause | octets | source |
//! |---|---|---|---|
//! | AMR, AMR-WB | at its beginning, 60 ms later, then every 160 ms | 7 | 3GPP TS 26.093 and 26.193 (SID_FIRST, SID_UPDATE); RFC 4867 Table 1, §4.3 |
//! | EVS | at its beginning, then every 160 ms | 6 | 3GPP TS 26.445 (the default interval of its encoder) |
//! | GSM-HR | at its beginning, then every 160 ms | 15 | RFC 5993 §5.3.1, §5.2.2 |
//! | GSM-FR, GSM-EFR | at its beginning, then every 480 ms | 33, 31 | GSM 06.31, 06.81 as described in RFC 5993 §3; RFC 3551 §4.5.8, §4.5.9 |
//! | G.729 | at its beginning | 2 | ITU-T G.729 Annex B; RFC 3551 §4.5.6 |
//! | G.723.1 | at its beginning | 4 | ITU-T G.723.1 Annex A; RFC 3551 §4.5.3 |
//! | Opus | every 400 ms, the first after 400 ms | a frame | RFC 6716 §2.1.9 |
//! | G.711, G.722, G.726, G.728, iLBC | at its beginning | 1 | RFC 3389 §3.1, §5 |
//!
//! **Assumptions.** The background does not change. So codecs that update its description only after a change (Annexes
//! A and B) describe it once per pause. So does RFC 3389's payload, which leaves the rate open. A period in the
//! scenario models a changing background. RFC 3389's payload is only the level, because everything else is optional. A
//! pause in progress at the start is treated as one that starts then. Frames that a codec's detector still codes as
//! speech after the last word (hangover) are part of the talkspurt.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::codec::Codec;
use fairwave_units::config::ConfigError;
use fairwave_units::units::{Bytes, Instant, Span};

/// Comfort noise of a speaker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ComfortNoise {
    /// `false`: nothing is sent in pauses; `true`: as in the codec's standard.
    Switch(bool),
    /// One frame at the start of each pause (not with Opus), then one per such time.
    Every(Span),
}

impl Serialize for ComfortNoise {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ComfortNoise::Switch(on) => serializer.serialize_bool(*on),
            ComfortNoise::Every(period) => period.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ComfortNoise {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl serde::de::Visitor<'_> for Forms {
            type Value = ComfortNoise;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or a time such as \"160 ms\"")
            }
            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<ComfortNoise, E> {
                Ok(ComfortNoise::Switch(on))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ComfortNoise, E> {
                text.parse().map(ComfortNoise::Every).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl JsonSchema for ComfortNoise {
    fn schema_name() -> Cow<'static, str> {
        "ComfortNoise".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let period = generator.subschema_for::<Span>();
        json_schema!({
            "description": "Whether comfort noise is sent in pauses: as the codec's standard says, or a frame in each such time.",
            "oneOf": [{ "type": "boolean" }, period],
        })
    }
}

/// Times and size of a codec's comfort noise frames in a pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoiseFrames {
    /// Payload of a packet with one frame.
    pub payload: Bytes,
    /// Time from the start of the pause to the first frame.
    pub first: Span,
    /// Time from the first frame to the second, if different from `every`.
    pub second: Option<Span>,
    /// Interval of frames; `None` if there is only one.
    pub every: Option<Span>,
}

/// Frames of each standard.
impl NoiseFrames {
    const fn immediate(payload: u64, every: Option<u64>) -> Self {
        let every = match every {
            Some(millis) => Some(Span::from_millis(millis)),
            None => None,
        };
        NoiseFrames { payload: Bytes::new(payload), first: Span::ZERO, second: None, every }
    }

    /// Returns the frames in the codec's standard; `None` for a custom codec without them.
    pub fn for_codec(codec: Codec) -> Option<Self> {
        Some(match codec {
            Codec::Other(other) => return other.noise(),
            Codec::G729 => Self::immediate(2, None),
            Codec::G7231At63 | Codec::G7231At53 => Self::immediate(4, None),
            Codec::GsmHalfRate => Self::immediate(codec.payload(1).get(), Some(160)),
            Codec::GsmFullRate | Codec::GsmEnhancedFullRate => Self::immediate(codec.payload(1).get(), Some(480)),
            _ if codec.is_opus() => {
                NoiseFrames { first: Span::from_millis(400), ..Self::immediate(codec.payload(1).get(), Some(400)) }
            }
            _ if codec.is_evs() => Self::immediate(6, Some(160)),
            // The remaining codecs with discontinuous transmission are AMR and AMR-WB: 4 + 6 + 39 bits, or 40.
            _ if codec.has_discontinuous_transmission() => {
                NoiseFrames { second: Some(Span::from_millis(60)), ..Self::immediate(7, Some(160)) }
            }
            _ => Self::immediate(1, None),
        })
    }
}

impl ComfortNoise {
    /// Returns the frames that a speaker sends, if any.
    pub(super) fn frames(self, codec: Codec) -> Option<NoiseFrames> {
        let standard = NoiseFrames::for_codec(codec)?;
        match self {
            ComfortNoise::Switch(on) => on.then_some(standard),
            ComfortNoise::Every(period) => {
                let first = if standard.first == Span::ZERO { Span::ZERO } else { period };
                Some(NoiseFrames { first, second: None, every: Some(period), ..standard })
            }
        }
    }

    /// Checks whether comfort noise is requested, which implies pauses.
    pub(super) fn is_sent(self) -> bool {
        self != ComfortNoise::Switch(false)
    }

    /// Checks the period, and that the codec has comfort noise frames.
    pub(super) fn check(self, codec: Codec) -> Result<(), ConfigError> {
        let (key, shortest) = ("comfort-noise", codec.frame().1);
        if self.is_sent() && NoiseFrames::for_codec(codec).is_none() {
            let value = match self {
                ComfortNoise::Switch(on) => on.to_string(),
                ComfortNoise::Every(period) => format!("\"{period}\""),
            };
            let allowed = "false, unless `codec` has `noise`, the octets of a frame that describes the background";
            return Err(ConfigError::new(key, value, allowed, "noise = { payload = \"6 B\", every = \"160 ms\" }"));
        }
        match self {
            ComfortNoise::Every(period) if !(shortest..=LONGEST).contains(&period) => {
                let allowed = format!("true, false, or from a frame of the codec ({shortest}) to 1 h");
                Err(ConfigError::new(key, period, allowed, "comfort-noise = \"160 ms\""))
            }
            _ => Ok(()),
        }
    }
}

/// Longest period between frames.
const LONGEST: Span = Span::from_secs(3600);

/// Comfort noise frames of one speaker's pauses.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Pauses {
    frames: NoiseFrames,
    /// Time of the next frame; never while the speaker talks, or if none is left.
    due: Instant,
    is_first: bool,
}

impl Pauses {
    pub(super) fn new(frames: NoiseFrames) -> Self {
        Pauses { frames, due: Instant::NEVER, is_first: true }
    }

    /// Starts a pause.
    pub(super) fn begin(&mut self, at: Instant) {
        (self.due, self.is_first) = (at + self.frames.first, true);
    }

    /// Returns time and payload of the next frame in a pause that lasts until the speaker's next packet.
    pub(super) fn next(&mut self, until: Instant) -> Option<(Instant, u32)> {
        let at = self.due;
        if at >= until {
            self.due = Instant::NEVER;
            return None;
        }
        let NoiseFrames { payload, second, every, .. } = self.frames;
        let wait = second.filter(|_| self.is_first).or(every);
        self.due = wait.map_or(Instant::NEVER, |wait| at + wait);
        self.is_first = false;
        Some((at, payload.get() as u32))
    }
}

#[cfg(test)]
mod tests {
    use fairwave_units::random::Seed;

    use super::super::{FrameType, Source, TrafficConfig, TrafficSource, Unit};
    use super::*;

    fn units(json: &str, until_s: f64) -> Vec<Unit> {
        let config: TrafficConfig = serde_json::from_str(json).expect("traffic");
        let mut source = Source::new(&config, Instant::ZERO, Seed(3).stream("talk")).expect(json);
        std::iter::from_fn(|| source.next_unit()).take_while(|unit| unit.created.seconds() < until_s).collect()
    }

    fn noise(units: &[Unit]) -> Vec<(u64, u32)> {
        let mine = units.iter().filter(|unit| unit.frame_type == FrameType::Noise);
        mine.map(|unit| (unit.created.nanos() / 1_000_000, unit.payload)).collect()
    }

    /// Returns a speaker who alternates between silence for a second and speech for 200 ms.
    fn speaker(codec: &str, comfort_noise: &str) -> String {
        let of = |seconds: &str| format!(r#"{{"distribution": "constant", "mean": "{seconds}"}}"#);
        format!(
            r#"{{"kind": "voice", "codec": {codec}, "comfort-noise": {comfort_noise}, "first": "silence", "phase": "zero",
                "talk": {}, "silence": {}}}"#,
            of("200 ms"),
            of("1 s")
        )
    }

    #[test]
    fn codecs_describe_a_pause_as_often_as_their_standards_say() {
        let every = |first: u64, step: usize| (first..1000).step_by(step).collect::<Vec<_>>();
        for (codec, times, octets) in [
            ("amr-12.2", [vec![0], every(60, 160)].concat(), 7),
            ("amr-wb-12.65", [vec![0], every(60, 160)].concat(), 7),
            ("evs-13.2", every(0, 160), 6),
            ("gsm-hr", every(0, 160), 15),
            ("gsm-fr", every(0, 480), 33),
            ("gsm-efr", every(0, 480), 31),
            ("g729", vec![0], 2),
            ("g723.1-5.3", vec![0], 4),
            ("opus-24", every(400, 400), 60),
            ("g711", vec![0], 1),
            ("g726-32", vec![0], 1),
            ("ilbc-20", vec![0], 1),
        ] {
            let found = noise(&units(&speaker(&format!("\"{codec}\""), "true"), 1.0));
            assert_eq!(found, times.into_iter().map(|time| (time, octets)).collect::<Vec<_>>(), "{codec}");
        }
    }

    #[test]
    fn a_period_replaces_the_standards_and_keeps_where_the_first_frame_stands() {
        let times = |codec: &str| {
            let found = noise(&units(&speaker(codec, "\"300 ms\""), 1.0));
            found.into_iter().map(|(time, _)| time).collect::<Vec<_>>()
        };
        assert_eq!(times("\"amr-12.2\""), [0, 300, 600, 900]);
        assert_eq!(times("\"g729\""), [0, 300, 600, 900]);
        assert_eq!(times("\"opus-24\""), [300, 600, 900]);
    }

    #[test]
    fn a_codec_of_the_scenarios_own_has_the_frames_that_the_scenario_says() {
        let own = |more: &str| format!(r#"{{"rate": "8 kb/s", "dtx": true{more}}}"#);
        let at = own(r#", "noise": {"payload": "6 B", "every": "400 ms"}"#);
        assert_eq!(noise(&units(&speaker(&at, "true"), 1.0)), [(0, 6), (400, 6), (800, 6)]);
        let once = own(r#", "noise": {"payload": "6 B"}"#);
        assert_eq!(noise(&units(&speaker(&once, "true"), 1.0)), [(0, 6)]);
        let refused = |json: &str| serde_json::from_str::<TrafficConfig>(json).expect(json).check().expect_err(json);
        let error = refused(&speaker(&own(""), "true"));
        assert_eq!((error.key.as_str(), error.value.as_str()), ("comfort-noise", "true"));
        for (noise, key) in [
            (r#"{"payload": "0 B"}"#, "codec.noise.payload"),
            (r#"{"payload": "70 kB"}"#, "codec.noise.payload"),
            (r#"{"payload": "6 B", "every": "10 ms"}"#, "codec.noise.every"),
            (r#"{"payload": "6 B", "every": "2 h"}"#, "codec.noise.every"),
        ] {
            let codec = own(&format!(r#", "noise": {noise}"#));
            assert_eq!(refused(&speaker(&codec, "false")).key, key, "{noise}");
        }
    }

    #[test]
    fn speech_is_the_same_with_noise_as_without_and_noise_never_falls_into_it() {
        for kind in [r#""kind": "voice", "codec": "amr-12.2""#, r#""kind": "conversation", "codec": "amr-12.2""#] {
            let without = units(&format!("{{{kind}}}"), 300.0);
            let with = units(&format!(r#"{{{kind}, "comfort-noise": true}}"#), 300.0);
            let told = |units: &[Unit]| -> Vec<(Instant, u32)> {
                let speech = units.iter().filter(|unit| unit.frame_type == FrameType::None);
                speech.map(|unit| (unit.created, unit.payload)).collect()
            };
            assert_eq!(told(&with), told(&without), "{kind}");
            assert!(noise(&without).is_empty());
            assert!(with.iter().enumerate().all(|(place, unit)| unit.id as usize == place), "numbers have no gaps");
            assert!(with.windows(2).all(|pair| pair[0].created <= pair[1].created));
            // A frame is sent in every pause, at its start: directly after the 20 ms of speech of a packet.
            let pauses = without.windows(2).filter(|pair| pair[1].created - pair[0].created > Span::from_millis(20));
            let after: Vec<&[Unit]> = (with.windows(2))
                .filter(|pair| pair[0].frame_type == FrameType::None && pair[1].frame_type == FrameType::Noise)
                .collect();
            assert!(after.iter().all(|pair| pair[1].created - pair[0].created == Span::from_millis(20)), "{kind}");
            // The last pause may end after the observed time.
            assert!((0..=1).contains(&(after.len() - pauses.count())), "{kind}: {}", after.len());
        }
    }

    #[test]
    fn comfort_noise_makes_a_speaker_pause_and_one_who_talks_all_the_time_has_none() {
        let read = |json: &str| serde_json::from_str::<TrafficConfig>(json).expect(json);
        let voice = |more: &str| read(&format!(r#"{{"kind": "voice", "codec": "g711"{more}}}"#));
        assert_eq!(voice(r#", "comfort-noise": false"#).activity(), Some(1.0));
        assert!(voice(r#", "comfort-noise": true"#).activity() < Some(0.5));
        let error = voice(r#", "comfort-noise": true, "always-on": true"#).check().expect_err("no pauses");
        assert_eq!(error.key, "always-on");
        assert!(error.allowed.contains("`comfort-noise`"), "{}", error.allowed);
        assert!(voice(r#", "comfort-noise": false, "always-on": true"#).check().is_ok());
    }

    #[test]
    fn a_period_that_makes_no_sense_is_refused_by_its_key() {
        for kind in ["voice", "conversation"] {
            for period in ["10 ms", "2 h"] {
                let json = format!(r#"{{"kind": "{kind}", "comfort-noise": "{period}", "codec": "amr-12.2"}}"#);
                let config: TrafficConfig = serde_json::from_str(&json).expect(&json);
                assert_eq!(config.check().expect_err(&json).key, "comfort-noise");
            }
        }
        let told = serde_json::from_str::<ComfortNoise>("3").expect_err("a number").to_string();
        assert!(told.contains("true, false or a time such as \"160 ms\""), "{told}");
        for text in ["true", "false", "\"160 ms\""] {
            let read: ComfortNoise = serde_json::from_str(text).expect(text);
            assert_eq!(serde_json::to_string(&read).expect(text), text);
        }
    }
}
