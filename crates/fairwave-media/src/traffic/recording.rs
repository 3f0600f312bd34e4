//! Voice with talk and silence from a recording, so that the received call is a real sentence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::codec::Codec;
use super::voice::packetise;
use super::{FrameType, Phase, TrafficLaw, TrafficSource, Unit};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Span};

/// A speaker who talks whenever a recording contains speech, as found by voice activity detection.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RecordingConfig {
    /// The codec. Default G.711.
    pub codec: Codec,
    /// Payload of a packet, as in `voice`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Bytes>,
    /// Duration of speech in a packet, as in `voice`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_time: Option<Span>,
    /// Packets of the recording with speech, as ranges `[first, end)` in packet times from its start, in ascending
    /// order and without overlap: `[[0, 62], [80, 121]]`.
    pub talk: Vec<[u32; 2]>,
    /// Length of the recording in packet times, after which it repeats. Left out: it is played once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_after: Option<u32>,
    /// Start within the first interval: `random`, uniform over one packet time; or `zero`, at the flow's start, so that
    /// flows that start together stay in step. Default `random`; `zero` under ns-2's presets.
    pub phase: Phase,
}

impl RecordingConfig {
    /// Returns payload and duration of speech of each packet.
    ///
    /// # Errors
    /// They do not fit the codec.
    pub fn packet(&self) -> Result<(Bytes, Span), ConfigError> {
        packetise(self.codec, self.payload, self.packet_time)
    }
}

impl Checked for RecordingConfig {
    /// Rejects empty or overlapping ranges, ranges beyond `repeat-after`, and packets that do not fit the codec.
    fn check(&self) -> Result<(), ConfigError> {
        self.packet()?;
        let refuse = |range: &[u32; 2], allowed: String| {
            let [first, end] = range;
            ConfigError::new("talk", format!("[{first}, {end}]"), allowed, "talk = [[0, 62], [80, 121]]")
        };
        let mut from = 0;
        for range in &self.talk {
            let [first, end] = *range;
            if first < from || end <= first {
                return Err(refuse(range, format!("a range [first, end) with end > first and first ≥ {from}")));
            }
            from = end;
        }
        match (self.repeat_after, self.talk.last()) {
            (Some(0), _) => Err(ConfigError::new("repeat-after", 0, "at least 1 packet", "repeat-after = 400")),
            (Some(length), Some(last)) if from > length => {
                Err(refuse(last, format!("within the recording of {length} packets (`repeat-after`)")))
            }
            _ => Ok(()),
        }
    }
}

impl Law for RecordingConfig {
    const NAME: &'static str = "recording";
    const EXAMPLE: &'static str = r#"{"talk": [[0, 62], [80, 121]], "repeat-after": 150}"#;
}

impl TrafficLaw for RecordingConfig {
    type Source = Recording;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<Recording, ConfigError> {
        let (payload, packet_time) = self.packet()?;
        Ok(Recording {
            payload: payload.get() as u32,
            packet_time,
            talk: self.talk.clone(),
            repeat_after: self.repeat_after,
            start: self.phase.begin(start, packet_time, &mut stream),
            range: 0,
            packet: 0,
            next_id: 0,
        })
    }

    fn call(&self) -> Option<(Codec, Span)> {
        Some((self.codec, self.packet().ok()?.1))
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(1.0 / self.packet().ok()?.1.seconds().max(1e-9))
    }

    fn period(&self) -> Option<(Span, Phase)> {
        Some((self.packet().ok()?.1, self.phase))
    }

    fn phase_like_ns2(&self) -> Option<Phase> {
        Some(Phase::Zero)
    }

    fn activity(&self) -> Option<f64> {
        let talk: u32 = self.talk.iter().map(|[first, end]| end.saturating_sub(*first)).sum();
        let whole = self.repeat_after.or(self.talk.last().map(|[_, end]| *end)).filter(|packets| *packets > 0)?;
        (talk > 0).then(|| f64::from(talk) / f64::from(whole))
    }
}

/// Source of packets with the speech of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    payload: u32,
    packet_time: Span,
    talk: Vec<[u32; 2]>,
    repeat_after: Option<u32>,
    start: Instant,
    range: usize,
    /// Next packet of the recording.
    packet: u32,
    next_id: u32,
}

impl TrafficSource for Recording {
    fn next_unit(&mut self) -> Option<Unit> {
        if self.range >= self.talk.len() {
            self.start += self.packet_time * u64::from(self.repeat_after?);
            self.range = 0;
        }
        let [first, end] = *self.talk.get(self.range)?;
        let packet = self.packet.max(first);
        let created = self.start + self.packet_time * u64::from(packet);
        if created == Instant::NEVER {
            return None;
        }
        self.packet = packet + 1;
        if self.packet >= end {
            self.range += 1;
            if self.range >= self.talk.len() {
                self.packet = 0;
            }
        }
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        Some(Unit { id, payload: self.payload, created, layer: 0, frame_type: FrameType::None })
    }
}
