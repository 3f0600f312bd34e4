//! On-off traffic: periods of constant bit rate and periods of silence (the bursty UDP of papers 002 and 004). The
//! default periods are exponential, with the means of one voice source in Sriram and Whitt 1986.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cadence::Cadence;
use super::cbr::{default_payload, interval, packets_per_second};
use super::interrupted::{default_off, default_on};
use super::on_off::{Alternation, First, OnOff};
use super::{Period, Phase, TrafficLaw};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate};

/// Alternates between constant bit rate and silence.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BurstConfig {
    /// Payload bits per second while on, above 0.
    pub rate: Rate,
    /// Payload of a packet, 1 B and above. Default 1000 B.
    #[serde(default = "default_payload")]
    pub payload: Bytes,
    /// Length of a period with packets. Default exponential, mean 352 ms.
    #[serde(default = "default_on")]
    pub on: Period,
    /// Length of a silence. Default exponential, mean 650 ms.
    #[serde(default = "default_off")]
    pub off: Period,
    /// State at the start.
    #[serde(default)]
    pub first: First,
    /// Start within the first interval: `random`, uniform over the packet interval; or `zero`, at the flow's start, so
    /// that flows that start together stay in step. Default `random`; `zero` under ns-2's presets.
    #[serde(default)]
    pub phase: Phase,
}

impl Checked for BurstConfig {
    fn check(&self) -> Result<(), ConfigError> {
        interval(self.rate, self.payload)?;
        self.on.check().map_err(|e| e.nested_in("on"))?;
        self.off.check().map_err(|e| e.nested_in("off"))
    }
}

impl Law for BurstConfig {
    const NAME: &'static str = "burst";
    const EXAMPLE: &'static str = r#"{"rate": "500 kb/s", "on": {"distribution": "exponential", "mean": "1 s"}, "off": {"distribution": "exponential", "mean": "1 s"}}"#;
}

impl TrafficLaw for BurstConfig {
    type Source = OnOff;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<OnOff, ConfigError> {
        let interval = interval(self.rate, self.payload)?;
        let begin = self.phase.begin(start, interval, &mut stream);
        let periods = Alternation::new(self.on, self.off, self.first, stream);
        Ok(OnOff::new(Cadence::from_rate(self.rate, self.payload), self.payload.get() as u32, begin, Some(periods)))
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(packets_per_second(self.rate, self.payload))
    }

    fn phase_like_ns2(&self) -> Option<Phase> {
        Some(Phase::Zero)
    }
}
