//! Requests at a fixed interval, as with `ping -i`: the application of the transport `ping`, which replies to each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FrameType, Phase, TrafficLaw, TrafficSource, Unit};
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Span};

/// Requests at a fixed interval. With `transport = "ping"` the receiver replies to each request, and fairwave measures
/// round trips.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PingConfig {
    /// Time from a request to the next, above 0. Default 200 ms, as in Flent's tests; the program `ping` uses 1 s.
    pub interval: Span,
    /// Payload of a request, 1 B to 65 000 B. Default 56 B, as in the program `ping`.
    pub payload: Bytes,
    /// Start within the first interval: `random`, uniform over one interval; or `zero`, at the flow's start. Default
    /// `random`; `zero` under ns-2's presets.
    pub phase: Phase,
}

impl Default for PingConfig {
    fn default() -> Self {
        PingConfig { interval: Span::from_millis(200), payload: Bytes::new(56), phase: Phase::default() }
    }
}

/// Largest payload of a request in an IP packet, bytes.
const MOST: u64 = 65_000;

impl Checked for PingConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_span("interval", self.interval, "interval = \"200 ms\"")?;
        if !(1..=MOST).contains(&self.payload.get()) {
            return Err(ConfigError::new("payload", self.payload, "from 1 B to 65000 B", "payload = \"56 B\""));
        }
        Ok(())
    }
}

impl Law for PingConfig {
    const NAME: &'static str = "ping";
    const EXAMPLE: &'static str = r#"{"interval": "100 ms"}"#;
    const BESIDE: &'static str = r#"{"transport": "ping"}"#;
}

impl TrafficLaw for PingConfig {
    type Source = Ping;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<Ping, ConfigError> {
        self.check()?;
        let due = self.phase.begin(start, self.interval, &mut stream);
        Ok(Ping { interval: self.interval, payload: self.payload.get() as u32, due, next_id: 0 })
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(1.0 / self.interval.seconds())
    }

    fn period(&self) -> Option<(Span, Phase)> {
        Some((self.interval, self.phase))
    }

    fn phase_like_ns2(&self) -> Option<Phase> {
        Some(Phase::Zero)
    }
}

/// Source of requests.
#[derive(Clone, PartialEq, Debug)]
pub struct Ping {
    interval: Span,
    payload: u32,
    due: Instant,
    next_id: u32,
}

impl TrafficSource for Ping {
    fn next_unit(&mut self) -> Option<Unit> {
        if self.due == Instant::NEVER {
            return None;
        }
        let unit =
            Unit { id: self.next_id, payload: self.payload, created: self.due, layer: 0, frame_type: FrameType::None };
        self.next_id = self.next_id.wrapping_add(1);
        self.due += self.interval;
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn made(config: &PingConfig) -> Vec<(u32, f64, u32)> {
        let mut source = config.source(Instant::from_seconds(2.0), Seed(1).stream("ping")).expect("a source");
        let mut units = std::iter::from_fn(|| source.next_unit());
        units.by_ref().take(3).map(|unit| (unit.id, unit.created.seconds(), unit.payload)).collect()
    }

    #[test]
    fn a_request_leaves_each_interval_from_the_start_on() {
        let config = PingConfig { phase: Phase::Zero, ..PingConfig::default() };
        assert_eq!(made(&config), [(0, 2.0, 56), (1, 2.2, 56), (2, 2.4, 56)]);
    }

    #[test]
    fn the_phase_is_within_the_first_interval() {
        let made = made(&PingConfig::default());
        assert!(made[0].1 >= 2.0 && made[0].1 < 2.2 && (made[1].1 - made[0].1 - 0.2).abs() < 1e-9, "{made:?}");
    }

    #[test]
    fn no_interval_and_no_or_too_much_payload_are_refused() {
        let refused = |config: PingConfig| config.check().expect_err("refused").key;
        assert_eq!(refused(PingConfig { interval: Span::ZERO, ..PingConfig::default() }), "interval");
        assert_eq!(refused(PingConfig { payload: Bytes::ZERO, ..PingConfig::default() }), "payload");
        assert_eq!(refused(PingConfig { payload: Bytes::new(65_001), ..PingConfig::default() }), "payload");
        assert!(PingConfig { payload: Bytes::new(65_000), ..PingConfig::default() }.check().is_ok());
    }
}
