//! Calls: `[[call]]` with two to fifty participants, peer to peer, as a mesh, or through a server.
//!
//! Fairwave expands a call into flows. Without a server, each participant has a session to each other participant,
//! `CALL-FROM-to-TO`. With a server, each participant has a session to the server, `CALL-FROM-to-SERVER`. The server has a session
//! to each participant for each other participant, `CALL-FROM-to-TO`. Therefore `CALL-FROM-to-TO` always carries the media of FROM
//! that TO receives.

use fairwave_core::transport::rate_control::RateControlConfig;
use fairwave_core::transport::sfu::LegRole;
use fairwave_core::units::{Instant, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::path::Path;

/// Maximum number of participants of a call.
pub(crate) const MOST: usize = 50;

/// A call of two or more participants.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Call {
    /// Name of the call. Its flows are called `NAME-FROM-to-TO`.
    pub name: String,
    /// The participants, 2 to 50, named by their nodes.
    pub participants: Vec<String>,
    /// Node of a server that forwards media (SFU), or a table with its parameters. Default: each participant sends to each other
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
    /// Media of each participant, as parameters of the traffic `media`. Default: microphone (with silence suppression) and camera;
    /// with a server, the camera has three simulcast streams.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub media: Map<String, Value>,
    /// Parameters of the transport `webrtc` of all sessions.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub transport: Map<String, Value>,
    /// Differences of individual participants.
    #[serde(default, rename = "participant", skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Participant>,
}

/// Differences of a participant from the call's defaults.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Participant {
    /// The participant: a name in `participants`.
    pub name: String,
    /// Time at which they join. Default: start of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<Span>,
    /// Time at which they leave. Default: end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave: Option<Span>,
    /// Their media. Keys here add to the call's `media` or replace its values.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub media: Map<String, Value>,
    /// Their changes of network, in ascending order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Move>,
}

/// A participant changes network: one of their links fails, and their sessions continue on another route with another address (ICE
/// restart, RFC 8445 §2.4). Both rate controllers restart.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Move {
    /// Time at which they leave the network. Must be before the end of the run.
    pub at: Span,
    /// The link that they leave, in both directions: two nodes, `eli<>wifi`.
    pub leaves: String,
    /// Time from the loss of the network until the participant notices it. Default 2.5 s: libwebrtc considers a connection broken
    /// when nothing has arrived for this long (`RECEIVING_TIMEOUT`).
    #[serde(default = "detection", skip_serializing_if = "is_detection")]
    pub detection: Span,
    /// Time from detection until packets take the new route: signalling, new candidates and their checks. Default 500 ms.
    #[serde(default = "restart", skip_serializing_if = "is_restart")]
    pub restart: Span,
    /// They connect to the new network while the old one still works, then leave the old one, so that there is no detection delay.
    /// Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub make_before_break: bool,
}

fn detection() -> Span {
    Span::from_millis(2_500)
}

fn is_detection(span: &Span) -> bool {
    *span == detection()
}

fn restart() -> Span {
    Span::from_millis(500)
}

fn is_restart(span: &Span) -> bool {
    *span == restart()
}

impl Move {
    /// Time at which the old network fails.
    pub(crate) fn breaks(&self) -> Span {
        if self.make_before_break { self.at + self.restart } else { self.at }
    }

    /// Time at which packets take the new route.
    pub(crate) fn switches(&self) -> Span {
        self.at + if self.make_before_break { Span::ZERO } else { self.detection } + self.restart
    }
}

/// The server of a call. It forwards received media, and chooses layers for each receiver according to its estimate of their path.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Server {
    /// Node of the server.
    pub node: String,
    /// Number of participants whose audio is forwarded at the same time. Default 3.
    #[serde(default = "three")]
    pub speakers: u64,
    /// Maximum number of cameras that a participant receives: those of the most recent speakers. Default 9.
    #[serde(default = "nine")]
    pub videos: u64,
    /// The rate controller towards each participant. Default `gcc`, which probes while it sends little.
    #[serde(default = "control")]
    pub control: RateControlConfig,
    /// Initial estimate of the rate controller. Default 300 kb/s.
    #[serde(default = "start")]
    pub start: Rate,
    /// Minimum estimate. Default 30 kb/s.
    #[serde(default = "least")]
    pub least: Rate,
    /// Minimum time between two requests for a key frame of a layer. Default 500 ms.
    #[serde(default = "spacing")]
    pub key_frame_spacing: Span,
}

fn three() -> u64 {
    3
}

fn nine() -> u64 {
    9
}

fn control() -> RateControlConfig {
    serde_json::from_value(json!({ "name": "gcc", "limited-probing": true })).unwrap_or_default()
}

fn start() -> Rate {
    Rate::from_bits_per_second(300_000)
}

fn least() -> Rate {
    Rate::from_bits_per_second(30_000)
}

fn spacing() -> Span {
    Span::from_millis(500)
}

/// Merges `over` into `base`: tables are merged, other values replaced.
fn merge(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

impl Call {
    pub(crate) fn participant(&self, name: &str) -> Option<&Participant> {
        self.differences.iter().find(|one| one.name == name)
    }

    pub(crate) fn media(&self, name: &str) -> Map<String, Value> {
        let mut media = Map::new();
        media.insert("kind".to_owned(), json!("media"));
        media.insert("audio".to_owned(), json!({ "dtx": true }));
        let video = if self.server.is_some() { json!({ "simulcast": 3 }) } else { json!({}) };
        media.insert("video".to_owned(), video);
        merge(&mut media, &self.media);
        if let Some(own) = self.participant(name) {
            merge(&mut media, &own.media);
        }
        media
    }

    pub(crate) fn transport(&self) -> Map<String, Value> {
        let mut transport = self.transport.clone();
        transport.insert("name".to_owned(), json!("webrtc"));
        transport
    }

    /// Join and leave times of a participant.
    pub(crate) fn times(&self, name: &str) -> (Span, Option<Span>) {
        self.participant(name).map_or((Span::ZERO, None), |one| (one.join.unwrap_or_default(), one.leave))
    }
}

/// A flow's session within a conference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leg {
    /// Index of the conference.
    pub call: usize,
    /// The session's role.
    pub role: LegRole,
}

/// A change of network: from `at` on, a flow's packets avoid the link directions `left`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Departure {
    /// Time of the switch to the other route.
    pub at: Instant,
    /// `FROM>TO` of both directions of the abandoned link.
    pub left: [String; 2],
    /// The position in the scenario, for messages.
    pub(crate) place: Path,
}
