//! Voice: a codec's frames while somebody talks, nothing in between (papers 000 §4.2, 001 §III.A, 004 §4.1).
//!
//! A unit is what one packet carries. Its `created` is the moment at which its speech begins on the application's clock;
//! that it can leave only when the speech has been spoken is a constant delay (packet time and look-ahead), which
//! [`crate::quality::playout`] adds to mouth-to-ear delay.
//!
//! **Assumptions.** Papers 000 and 001 give 64 kb/s, 20 ms, Pareto with shape 1.5 and means of 1.00 s and 1.35 s. That
//! silences are Pareto too, and whether 64 kb/s is meant while talking or over talk and silence ('Pareto with a mean rate
//! of 64 Kbps'), they leave open: the first is assumed, the second is [`Reading`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::codec::Codec;
use super::on_off::{Alternation, First, OnOff};
use super::{Period, TrafficLaw};
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Span};

/// What 'a rate of 64 kb/s' means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// The codec's rate while talking, as codecs work.
    #[default]
    PeakRate,
    /// The codec's rate as the mean over talk and silence: packets come faster while talking, by (talk + silence) / talk.
    MeanRate,
}

/// A speaker who talks and is silent. While talking, a packet of the codec's frames leaves at each packet time; the
/// lengths of talk and silence are drawn (papers 000 and 001 by default).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct VoiceConfig {
    /// The codec. Default G.711.
    pub codec: Codec,
    /// Payload of a packet; a whole number of the codec's frames. Default: what fits the packet time. If packet time is
    /// given too, the two need not be the codec's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Bytes>,
    /// Speech in a packet; a whole number of the codec's frames. Default: what fits the payload, else 20 ms (30 ms for G.723.1 and iLBC-30).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_time: Option<Span>,
    /// How long talkspurts last. Default Pareto, shape 1.5, mean 1.00 s.
    pub talk: Period,
    /// How long silences last. Default Pareto, shape 1.5, mean 1.35 s.
    pub silence: Period,
    /// True: talks all the time (paper 004, S1). Default false.
    pub always_on: bool,
    /// State at the beginning.
    pub first: First,
    /// What the codec's rate means.
    pub reading: Reading,
}

impl Default for VoiceConfig {
    fn default() -> Self {
        VoiceConfig {
            codec: Codec::G711,
            payload: None,
            packet_time: None,
            talk: Period::Pareto { mean: Span::from_secs(1), shape: 1.5 },
            silence: Period::Pareto { mean: Span::from_millis(1350), shape: 1.5 },
            always_on: false,
            first: First::Stationary,
            reading: Reading::PeakRate,
        }
    }
}

/// Payload and speech per packet that follow from a codec and what is said about either.
///
/// # Errors
/// When one alone is given and is not a whole number of the codec's frames; when either is 0 or above 65 535 bytes.
pub(super) fn packetise(
    codec: Codec,
    payload: Option<Bytes>,
    packet_time: Option<Span>,
) -> Result<(Bytes, Span), ConfigError> {
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
    /// Payload and speech of each packet.
    ///
    /// # Errors
    /// When they do not fit the codec, see the fields.
    pub fn packet(&self) -> Result<(Bytes, Span), ConfigError> {
        packetise(self.codec, self.payload, self.packet_time)
    }
}

impl Checked for VoiceConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.packet()?;
        self.talk.check().map_err(|e| e.within("talk"))?;
        self.silence.check().map_err(|e| e.within("silence"))
    }
}

impl Law for VoiceConfig {
    const NAME: &'static str = "voice";
}

impl TrafficLaw for VoiceConfig {
    type Source = OnOff;

    /// A speaker who talks all the time begins at a random moment within the first packet time, because nobody's sound
    /// cards are in phase.
    fn source(&self, start: Instant, mut stream: Stream) -> Result<OnOff, ConfigError> {
        let (payload, time) = self.packet()?;
        let payload = payload.get() as u32;
        if self.always_on {
            let phase = time.scaled(stream.uniform());
            return Ok(OnOff::new(time, payload, start + phase, None));
        }
        let interval = match self.reading {
            Reading::PeakRate => time,
            Reading::MeanRate => {
                let (talk, silence) = (self.talk.mean().seconds(), self.silence.mean().seconds());
                time.scaled(talk / (talk + silence))
            }
        };
        let periods = Alternation::new(self.talk, self.silence, self.first, stream);
        Ok(OnOff::new(interval.max(Span::from_nanos(1)), payload, start, Some(periods)))
    }

    fn call(&self) -> Option<(Codec, Span)> {
        Some((self.codec, self.packet().ok()?.1))
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(1.0 / self.packet().ok()?.1.seconds().max(1e-9))
    }
}
