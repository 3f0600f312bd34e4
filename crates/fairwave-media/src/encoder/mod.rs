//! Encoders of calls: they turn a target rate into frames. Unlike a source ([`crate::traffic`]), an encoder is called
//! by the transport, which knows the available rate.

pub mod audio;
mod scaler;
pub mod spells;
pub mod video;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::config::ConfigError;
use fairwave_units::units::Span;

pub use audio::{AudioConfig, AudioEncoder, AudioFrame};
pub use spells::Spells;
pub use video::{EncodedFrame, VideoConfig, VideoEncoder};

/// Checks that a stream's weight is between 0.01 and 100.
fn check_priority(priority: f64) -> Result<(), ConfigError> {
    if (0.01..=100.0).contains(&priority) {
        return Ok(());
    }
    Err(ConfigError::new("priority", priority, "from 0.01 to 100", "priority = 2.0"))
}

/// Media of a peer in a call over the transport `webrtc`, which encodes it for the available rate: microphone and
/// camera, and optionally a shared screen. Each is a table, `true` for its defaults, or `false`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Media {
    /// The microphone. Default `true`.
    #[serde(with = "switch")]
    #[schemars(schema_with = "switch::schema::<AudioConfig>", extend("default" = true))]
    pub audio: Option<AudioConfig>,
    /// The camera. Default `true`.
    #[serde(with = "switch")]
    #[schemars(schema_with = "switch::schema::<VideoConfig>", extend("default" = true))]
    pub video: Option<VideoConfig>,
    /// A shared screen. Default `false`.
    #[serde(with = "switch")]
    #[schemars(schema_with = "switch::schema::<VideoConfig>", extend("default" = false))]
    pub screen: Option<VideoConfig>,
    /// Times of the run when the camera is off: `[from, until]` in ascending order. It makes no pictures then, its rate
    /// goes to the other streams, and viewers miss nothing. It resumes with a key frame. Left out: it is always on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub camera_off: Vec<[Span; 2]>,
    /// Times of the run when the screen is shared, in the same form. Left out: always, if there is a `screen`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub screen_on: Vec<[Span; 2]>,
}

impl Default for Media {
    fn default() -> Self {
        Media {
            audio: Some(AudioConfig::default()),
            video: Some(VideoConfig::default()),
            screen: None,
            camera_off: Vec::new(),
            screen_on: Vec::new(),
        }
    }
}

impl Media {
    /// Returns when a stream is off.
    pub fn paused_times(&self, kind: StreamKind) -> Spells {
        match kind {
            StreamKind::Audio => Spells::default(),
            StreamKind::Video => Spells::from_times(&self.camera_off),
            StreamKind::Screen if self.screen_on.is_empty() => Spells::default(),
            StreamKind::Screen => Spells::from_times(&self.screen_on).complement(),
        }
    }

    /// Rejects empty time ranges, and times of a missing stream.
    pub(crate) fn check_times(&self) -> Result<(), ConfigError> {
        let times = [
            ("camera-off", &self.camera_off, self.video.is_some(), "video"),
            ("screen-on", &self.screen_on, self.screen.is_some(), "screen"),
        ];
        for (key, times, there, stream) in times {
            if times.is_empty() {
                continue;
            }
            let written =
                || times.iter().map(|[from, until]| format!("[{from}, {until}]")).collect::<Vec<_>>().join(", ");
            let example = format!("{key} = [[\"10 s\", \"20 s\"]]");
            if !there {
                let allowed = format!("times only with a {stream}");
                return Err(ConfigError::new(key, written(), &allowed, format!("{stream} = true")));
            }
            let mut latest = None;
            for [from, until] in times {
                if from >= until || latest.is_some_and(|latest| *from <= latest) {
                    let allowed = "times [from, until] in ascending order, apart from each other";
                    return Err(ConfigError::new(key, format!("[{from}, {until}]"), allowed, &example));
                }
                latest = Some(*until);
            }
        }
        Ok(())
    }
}

/// (De)serialisation of an optional stream: a table, `true` for its defaults, or `false`.
mod switch {
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::de::{DeserializeOwned, Error};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<T: Serialize, S: Serializer>(stream: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match stream {
            Some(stream) => stream.serialize(serializer),
            None => false.serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: DeserializeOwned + Default,
        D: Deserializer<'de>,
    {
        match Value::deserialize(deserializer)? {
            Value::Bool(on) => Ok(on.then(T::default)),
            Value::Object(table) => serde_json::from_value(Value::Object(table)).map(Some).map_err(D::Error::custom),
            other => Err(D::Error::custom(format!("invalid type: {other}, expected a table, `true` or `false`"))),
        }
    }

    pub(super) fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [T::json_schema(generator), { "type": "boolean" }] })
    }
}

/// Stream of a peer. Its number is the unit's `layer` in traffic of the kind `media`.
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

    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            StreamKind::Audio => "audio",
            StreamKind::Video => "video",
            StreamKind::Screen => "screen",
        }
    }

    /// Returns the stream with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}
