//! Voice: a codec's frames while the speaker talks; with discontinuous transmission, nothing in silence (papers 000
//! §4.2, 001 §III.A, 004 §4.1).
//!
//! A unit is the content of one packet. Its `created` is the start of its speech by the application's clock. It can
//! leave only after the speech has ended. This constant delay (packet time and look-ahead) is added to the mouth-to-ear
//! delay in [`crate::quality::playout`].
//!
//! **Assumptions.** Papers 000 and 001 give 64 kb/s, 20 ms, Pareto with shape 1.5 and means of 1.00 s and 1.35 s. They
//! leave two questions open. Are silences Pareto, too? This is assumed. Is 64 kb/s the rate while talking, or the mean
//! over talk and silence ('Pareto with a mean rate of 64 Kbps')? See [`Reading`]. Calls with pauses are the papers'
//! model. Telephones suppress silence only if the codec defines how ([`Codec::has_discontinuous_transmission`]). With
//! any other codec the speaker is on all the time, unless the scenario sets one of the keys for pauses. Comfort noise
//! frames in a silence ([`super::noise`]) are omitted unless `comfort-noise` asks for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::codec::Codec;
use super::noise::ComfortNoise;
use super::on_off::{Alternation, First, OnOff};
use super::{Period, Phase, TrafficLaw};
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Span};

/// Meaning of 'a rate of 64 kb/s'.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// The codec's rate while talking.
    #[default]
    PeakRate,
    /// The mean of the rate over talk and silence is the codec's rate: packets come faster while talking, by (talk +
    /// silence) / talk.
    MeanRate,
}

/// Default lengths of talk and silence.
const TALK: Period = Period::Pareto { mean: Span::from_millis(1000), shape: 1.5 };
const SILENCE: Period = Period::Pareto { mean: Span::from_millis(1350), shape: 1.5 };

/// One speaker of a call. While the speaker talks, a packet of the codec's frames leaves every packet time. With a
/// codec without discontinuous transmission (G.711, G.722, G.726, G.728, iLBC) the speaker talks all the time. With any
/// other codec the speaker pauses; the lengths of talk and silence are random (as in papers 000 and 001 by default).
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct VoiceConfig {
    /// The codec. Default G.711.
    pub codec: Codec,
    /// Payload of a packet; a whole number of the codec's frames. Default: the payload that fits the packet time. If
    /// you give the packet time too, the two need not match the codec.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "what fits the packet time"))]
    pub payload: Option<Bytes>,
    /// Duration of speech in a packet; a whole number of the codec's frames. Default: the time that fits the payload,
    /// or 20 ms (30 ms for G.723.1 and iLBC-30).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "what fits the payload, else 20 ms (30 ms for G.723.1 and iLBC-30)"))]
    pub packet_time: Option<Span>,
    /// Length of talkspurts. Default Pareto, shape 1.5, mean 1.00 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = TALK))]
    pub talk: Option<Period>,
    /// Length of silences. Default Pareto, shape 1.5, mean 1.35 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = SILENCE))]
    pub silence: Option<Period>,
    /// True: the speaker talks all the time; false: the speaker pauses. Default: true with a codec without
    /// discontinuous transmission, unless `talk`, `silence`, `first`, `reading` or `comfort-noise` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "true with a codec that has no discontinuous transmission, unless `talk`, `silence`, `first`, `reading` or `comfort-noise` is set"))]
    pub always_on: Option<bool>,
    /// State at the start, for a speaker who pauses. Default `stationary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = First::default()))]
    pub first: Option<First>,
    /// Meaning of the codec's rate for a speaker who pauses. Default `peak-rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = Reading::default()))]
    pub reading: Option<Reading>,
    /// Comfort noise frames in pauses: `true`, as often as the codec's standard specifies; a time, one frame per such
    /// time; `false`, none. Default `false`, even if the standard has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub comfort_noise: Option<ComfortNoise>,
    /// Start within the first interval: `random`, uniform over one packet time; or `zero`, at the flow's start, so that
    /// flows that start together stay in step. Default `random`; `zero` for speakers who pause under ns-2's presets.
    pub phase: Phase,
}

/// Returns payload and duration of speech per packet, from the codec and the given values.
///
/// # Errors
/// A single given value is not a whole number of the codec's frames; a value is 0 or above 65 535 bytes.
pub(super) fn packetise(
    codec: Codec,
    payload: Option<Bytes>,
    packet_time: Option<Span>,
) -> Result<(Bytes, Span), ConfigError> {
    codec.check()?;
    let (frame, frame_time) = codec.frame();
    if let Some(size) = payload
        && (size == Bytes::ZERO || size.get() > u64::from(u16::MAX))
    {
        return Err(ConfigError::new("payload", size, "from 1 B to 65535 B", "payload = \"160 B\""));
    }
    if let Some(time) = packet_time {
        check_span("packet-time", time, "packet-time = \"20 ms\"")?;
    }
    let (size, time) = match (payload, packet_time) {
        (Some(size), Some(time)) => (size, time),
        (Some(size), None) => {
            let Some(frames) = codec.frames_in(size) else {
                let allowed = format!("a whole number of the codec's frames of {frame} (or give `packet-time` too)");
                return Err(ConfigError::new("payload", size, allowed, format!("payload = \"{frame}\"")));
            };
            (size, frame_time * frames)
        }
        (None, time) => {
            let time = time.unwrap_or(codec.default_packet_time());
            if time.nanos() % frame_time.nanos() != 0 {
                let allowed = format!("a whole number of the codec's frames of {frame_time} (or give `payload` too)");
                return Err(ConfigError::new("packet-time", time, allowed, format!("packet-time = \"{frame_time}\"")));
            }
            (codec.payload(time.nanos() / frame_time.nanos()), time)
        }
    };
    if size.get() > u64::from(u16::MAX) {
        return Err(ConfigError::new("packet-time", time, "short enough for 65535 B", "packet-time = \"20 ms\""));
    }
    Ok((size, time))
}

impl VoiceConfig {
    /// Returns payload and duration of speech of each packet.
    ///
    /// # Errors
    /// They do not fit the codec, see the fields.
    pub fn packet(&self) -> Result<(Bytes, Span), ConfigError> {
        packetise(self.codec, self.payload, self.packet_time)
    }

    /// Returns the lengths of talk and silence; `None` for a speaker who talks all the time.
    pub fn periods(&self) -> Option<(Period, Period)> {
        let always_on = self
            .always_on
            .unwrap_or(!self.codec.has_discontinuous_transmission() && self.pausing_keys().all(|(_, set)| !set));
        (!always_on).then(|| (self.talk.unwrap_or(TALK), self.silence.unwrap_or(SILENCE)))
    }

    /// Returns the keys that only a speaker with pauses has, and whether they are set.
    fn pausing_keys(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let noise = self.comfort_noise.is_some_and(ComfortNoise::is_sent);
        let set = [self.talk.is_some(), self.silence.is_some(), self.first.is_some(), self.reading.is_some(), noise];
        ["talk", "silence", "first", "reading", "comfort-noise"].into_iter().zip(set)
    }
}

impl Checked for VoiceConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.packet()?;
        if self.always_on == Some(true)
            && let Some((key, _)) = self.pausing_keys().find(|(_, set)| *set)
        {
            let allowed =
                format!("false with `{key}`, or true without it: a speaker who talks all the time has no pauses");
            return Err(ConfigError::new("always-on", true, allowed, "always-on = false"));
        }
        for (key, period) in [("talk", self.talk), ("silence", self.silence)] {
            period.map_or(Ok(()), |period| period.check().map_err(|e| e.nested_in(key)))?;
        }
        self.comfort_noise.map_or(Ok(()), |noise| noise.check(self.codec))
    }
}

impl Law for VoiceConfig {
    const NAME: &'static str = "voice";
    const EXAMPLE: &'static str = r#"{"codec": "g729"}"#;
}

impl TrafficLaw for VoiceConfig {
    type Source = OnOff;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<OnOff, ConfigError> {
        let (payload, time) = self.packet()?;
        let payload = payload.get() as u32;
        let begin = self.phase.begin(start, time, &mut stream);
        let Some((talk, silence)) = self.periods() else { return Ok(OnOff::new(time, payload, begin, None)) };
        let interval = match self.reading.unwrap_or_default() {
            Reading::PeakRate => time,
            Reading::MeanRate => time.scaled(self.activity().unwrap_or(1.0)),
        };
        let periods = Alternation::new(talk, silence, self.first.unwrap_or_default(), stream);
        let noise = self.comfort_noise.and_then(|noise| noise.frames(self.codec));
        Ok(OnOff::new(interval.max(Span::from_nanos(1)), payload, begin, Some(periods)).with_noise(noise))
    }

    fn call(&self) -> Option<(Codec, Span)> {
        Some((self.codec, self.packet().ok()?.1))
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(1.0 / self.packet().ok()?.1.seconds().max(1e-9))
    }

    /// A speaker who pauses loses the alignment in the first silence.
    fn period(&self) -> Option<(Span, Phase)> {
        self.periods().is_none().then_some((self.packet().ok()?.1, self.phase))
    }

    /// ns-2's sources with pauses start in step; a speaker who talks all the time has no counterpart there.
    fn phase_like_ns2(&self) -> Option<Phase> {
        self.periods().map(|_| Phase::Zero)
    }

    fn activity(&self) -> Option<f64> {
        let Some((talk, silence)) = self.periods() else { return Some(1.0) };
        let (talk, silence) = (talk.mean().seconds(), silence.mean().seconds());
        Some(talk / (talk + silence))
    }
}
