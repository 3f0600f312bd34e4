//! Constant bit rate: UDP other than voice, and paper 003's application with a playback buffer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cadence::Cadence;
use super::{FrameType, Phase, TrafficLaw, TrafficSource, Unit};
use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Constant bit rate: packets of `payload` bytes at equal intervals, at `rate`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CbrConfig {
    /// Payload bits per second, above 0.
    pub rate: Rate,
    /// Payload of a packet, 1 B and above. Default 1000 B.
    #[serde(default = "default_payload")]
    pub payload: Bytes,
    /// Variation of the gaps: a gap is the interval times 1 + jitter·(U − ½), U uniform in [0, 1). From 0 (default) to
    /// 1 (ns-2's `random_`).
    #[serde(with = "Ratio", default)]
    pub jitter: f64,
    /// Start within the first interval: `random`, uniform over one interval; or `zero`, at the flow's start, so that
    /// flows that start together stay in step. Default `random`; `zero` under ns-2's presets.
    #[serde(default)]
    pub phase: Phase,
}

pub(super) fn default_payload() -> Bytes {
    Bytes::new(1000)
}

/// Returns the packet interval.
pub(super) fn interval(rate: Rate, payload: Bytes) -> Result<Span, ConfigError> {
    if rate.bits_per_second() == 0 {
        return Err(ConfigError::new("rate", rate, "a rate above 0", "rate = \"1 Mb/s\""));
    }
    if payload == Bytes::ZERO || payload.get() > u64::from(u32::MAX) {
        return Err(ConfigError::new("payload", payload, "from 1 B to 4294967295 B", "payload = \"1000 B\""));
    }
    Ok(rate.time_for(payload).max(Span::from_nanos(1)))
}

/// Returns the packets per second.
pub(super) fn packets_per_second(rate: Rate, payload: Bytes) -> f64 {
    rate.bits_per_second() as f64 / (8.0 * payload.get().max(1) as f64)
}

impl Checked for CbrConfig {
    fn check(&self) -> Result<(), ConfigError> {
        interval(self.rate, self.payload)?;
        check_fraction("jitter", self.jitter, "jitter = 0.5")
    }
}

impl Law for CbrConfig {
    const NAME: &'static str = "cbr";
    const EXAMPLE: &'static str = r#"{"rate": "500 kb/s"}"#;
}

impl TrafficLaw for CbrConfig {
    type Source = Cbr;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<Cbr, ConfigError> {
        let interval = interval(self.rate, self.payload)?;
        Ok(Cbr {
            cadence: Cadence::from_rate(self.rate, self.payload),
            payload: self.payload.get() as u32,
            jitter: self.jitter,
            due: self.phase.begin(start, interval, &mut stream),
            next_id: 0,
            stream,
        })
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(packets_per_second(self.rate, self.payload))
    }

    fn period(&self) -> Option<(Span, Phase)> {
        Some((interval(self.rate, self.payload).ok()?, self.phase))
    }

    fn phase_like_ns2(&self) -> Option<Phase> {
        Some(Phase::Zero)
    }
}

/// Source of constant bit rate.
#[derive(Clone, PartialEq, Debug)]
pub struct Cbr {
    cadence: Cadence,
    payload: u32,
    jitter: f64,
    due: Instant,
    next_id: u32,
    stream: Stream,
}

impl TrafficSource for Cbr {
    fn next_unit(&mut self) -> Option<Unit> {
        if self.due == Instant::NEVER {
            return None;
        }
        let unit =
            Unit { id: self.next_id, payload: self.payload, created: self.due, layer: 0, frame_type: FrameType::None };
        self.next_id = self.next_id.wrapping_add(1);
        let factor = (self.jitter > 0.0).then(|| 1.0 + self.jitter * (self.stream.uniform() - 0.5));
        self.due = self.cadence.next_after(self.due, factor);
        Some(unit)
    }
}
