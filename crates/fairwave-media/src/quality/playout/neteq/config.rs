//! Configuration of the buffer: `{ strategy = "neteq", min-delay = "0 ms", max-packets = 200 }`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::config::ConfigError;
use fairwave_units::units::Span;

/// Largest `min-delay`, as in libwebrtc's `SetBaseMinimumDelay`.
const LONGEST: Span = Span::from_secs(10);

/// Pitch lags that libwebrtc searches (`time_stretch.h`: 10 to 60 samples at 4 kHz).
const PITCH: [Span; 2] = [Span::from_micros(2_500), Span::from_millis(15)];

/// Settings of NetEQ. All defaults except `pitch-period` are libwebrtc's (`api/neteq/neteq.h`); libwebrtc finds the
/// pitch in the sound.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct NeteqConfig {
    /// Lower bound of the target, 0 to 10 s. Default 0.
    pub min_delay: Span,
    /// Upper bound of the target, `min-delay` to 10 s; without it, the limit is three quarters of the buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_delay: Option<Span>,
    /// Number of packets that the buffer holds, 20 to 1000; one packet more empties it. Default 200.
    pub max_packets: u32,
    /// Changes the tempo of speech to approach the target. Default true.
    pub stretch: bool,
    /// Far above the target, removes as many pitch periods as fit into 15 ms instead of one. Default false.
    pub fast_accelerate: bool,
    /// Duration of speech that one change of tempo adds or removes, 2.5 to 15 ms. Default 6.25 ms: a pitch of 160 Hz,
    /// between men's and women's, and about 100 ms of change per second at most, as libwebrtc states.
    pub pitch_period: Span,
}

impl Default for NeteqConfig {
    fn default() -> Self {
        NeteqConfig {
            min_delay: Span::ZERO,
            max_delay: None,
            max_packets: 200,
            stretch: true,
            fast_accelerate: false,
            pitch_period: Span::from_micros(6_250),
        }
    }
}

impl NeteqConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// A limit, a capacity or a pitch period out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.min_delay > LONGEST {
            return Err(ConfigError::new("min-delay", self.min_delay, "from 0 to 10 s", "min-delay = \"0 ms\""));
        }
        if let Some(most) = self.max_delay
            && !(self.min_delay.max(Span::from_millis(1))..=LONGEST).contains(&most)
        {
            let allowed = format!("from `min-delay` ({}) to 10 s and above 0", self.min_delay);
            return Err(ConfigError::new("max-delay", most, allowed, "max-delay = \"500 ms\""));
        }
        if !(20..=1000).contains(&self.max_packets) {
            let allowed = "from 20 to 1000 packets";
            return Err(ConfigError::new("max-packets", self.max_packets, allowed, "max-packets = 200"));
        }
        if !(PITCH[0]..=PITCH[1]).contains(&self.pitch_period) {
            let (value, allowed) = (self.pitch_period, "from 2.5 ms to 15 ms");
            return Err(ConfigError::new("pitch-period", value, allowed, "pitch-period = \"6.25 ms\""));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(config: NeteqConfig) -> String {
        config.check().expect_err("out of range").key
    }

    #[test]
    fn the_ends_of_the_ranges_are_within() {
        let seconds = |s| Span::from_secs(s);
        for config in [
            NeteqConfig::default(),
            NeteqConfig { min_delay: seconds(10), max_delay: Some(seconds(10)), ..NeteqConfig::default() },
            NeteqConfig { max_delay: Some(Span::from_millis(1)), max_packets: 20, ..NeteqConfig::default() },
            NeteqConfig { max_packets: 1000, pitch_period: PITCH[0], ..NeteqConfig::default() },
            NeteqConfig { pitch_period: PITCH[1], ..NeteqConfig::default() },
        ] {
            assert_eq!(config.check(), Ok(()));
        }
    }

    #[test]
    fn names_the_key_out_of_range() {
        let default = NeteqConfig::default();
        let more = Span::from_nanos(10_000_000_001);
        assert_eq!(refused(NeteqConfig { min_delay: more, ..default }), "min-delay");
        assert_eq!(refused(NeteqConfig { max_delay: Some(more), ..default }), "max-delay");
        assert_eq!(refused(NeteqConfig { max_delay: Some(Span::ZERO), ..default }), "max-delay");
        let (min_delay, max_delay) = (Span::from_millis(80), Some(Span::from_millis(79)));
        assert_eq!(refused(NeteqConfig { min_delay, max_delay, ..default }), "max-delay");
        assert_eq!(refused(NeteqConfig { max_packets: 19, ..default }), "max-packets");
        assert_eq!(refused(NeteqConfig { max_packets: 1001, ..default }), "max-packets");
        assert_eq!(refused(NeteqConfig { pitch_period: Span::from_micros(2_499), ..default }), "pitch-period");
        assert_eq!(refused(NeteqConfig { pitch_period: Span::from_micros(15_001), ..default }), "pitch-period");
    }
}
