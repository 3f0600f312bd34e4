//! Voice-Guard: Drop-Sel with an automatic switch for voice, as paper 004 §4.4.1 requires. The paper leaves as future work
//! 'automatic mechanisms to switch from Drop-Sel to other algorithm' when voice dominates and its quality comes before
//! fairness.
//!
//! **Rule.** The rate r at which voice arrives is averaged exponentially with time constant `memory`. While r is at most
//! `quota` of the link's rate, the rule is Drop-Sel. When r exceeds the quota, Drop-Sel would limit voice to the quota.
//! Instead, the guard closes: the victim is the packet nearest the front of the heavier of the *other* two classes. Voice is
//! dropped only if no other packet waits. The guard opens again when r falls below `release` times the quota. While r
//! exceeds the link's rate, the link cannot carry all voice. Protection would starve the other classes without saving voice.
//! Therefore Drop-Sel applies again, until r is below `release` times the link's rate.
//!
//! Voice may thus use up to the whole link, and the other classes share the rest. Fairness returns automatically when voice
//! no longer dominates. Both switches have hysteresis, so that a rate near a limit does not switch at every packet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::{Class, Packet};
use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::ratio::Ratio;
use fairwave_units::units::{Instant, Rate, Span};

/// Parameters of Voice-Guard.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct VoiceGuardConfig {
    /// Part of the link's rate above which voice is protected, above 0 and below 1; below it, voice is held down.
    /// Default 1/3: the fair part for one of three classes (004 §4.4.1).
    #[serde(with = "Ratio")]
    pub quota: f64,
    /// Time constant of the average rate of voice, above 0. Default 1 s: long compared with a talker's packet spacing,
    /// short compared with a call.
    pub memory: Span,
    /// A switch turns back at this part of the rate at which it turned, above 0 and at most 1. Default 0.9.
    #[serde(with = "Ratio")]
    pub release: f64,
}

impl VoiceGuardConfig {
    /// The default parameters.
    pub const DEFAULT: VoiceGuardConfig =
        VoiceGuardConfig { quota: 1.0 / 3.0, memory: Span::from_secs(1), release: 0.9 };

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_between("quota", self.quota, 0.0, 1.0, "quota = 0.33")?;
        check_span("memory", self.memory, "memory = \"1 s\"")?;
        if !(self.release > 0.0 && self.release <= 1.0) {
            return Err(ConfigError::new("release", self.release, "above 0 and at most 1", "release = 0.9"));
        }
        Ok(())
    }
}

impl Default for VoiceGuardConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// State of Voice-Guard.
#[derive(Clone, Debug)]
pub(super) struct VoiceGuard {
    config: VoiceGuardConfig,
    /// Rate of the link, bytes per second.
    link: f64,
    /// Average rate of voice at time `updated`, bytes per second.
    voice: f64,
    updated: Instant,
    /// Whether voice exceeds its quota.
    dominates: bool,
    /// Whether voice exceeds the link's rate.
    hopeless: bool,
}

impl VoiceGuard {
    pub fn new(config: &VoiceGuardConfig, rate: Rate) -> Self {
        let link = rate.bits_per_second() as f64 / 8.0;
        VoiceGuard { config: *config, link, voice: 0.0, updated: Instant::ZERO, dominates: false, hopeless: false }
    }

    /// Whether voice is protected: it dominates, and the link can carry it.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.dominates && !self.hopeless
    }

    /// Handles a change of the link's rate; the quota is relative to this rate.
    pub fn rate_changed(&mut self, now: Instant, rate: Rate) {
        let memory = self.config.memory.seconds();
        self.voice *= libm::exp(-now.span_since(self.updated).seconds() / memory);
        self.updated = now;
        self.link = rate.bits_per_second() as f64 / 8.0;
        self.dominates = self.switch(self.dominates, self.config.quota * self.link);
        self.hopeless = self.switch(self.hopeless, self.link);
    }

    /// Observes every arrival, including dropped ones.
    pub fn arrival(&mut self, now: Instant, packet: &Packet) {
        // Exponential average: r(t) = Σ size·exp(−(t − tᵢ)/T)/T, updated lazily.
        let memory = self.config.memory.seconds();
        self.voice *= libm::exp(-now.span_since(self.updated).seconds() / memory);
        self.updated = now;
        if packet.class == Class::Voice {
            self.voice += f64::from(packet.wire) / memory;
        }
        self.dominates = self.switch(self.dominates, self.config.quota * self.link);
        self.hopeless = self.switch(self.hopeless, self.link);
    }

    fn switch(&self, on: bool, limit: f64) -> bool {
        self.voice > if on { self.config.release * limit } else { limit }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{feed, packet};
    use super::*;

    /// Sends voice at `share` of the rate of a 1 Mb/s link for `seconds` to a guard. Returns the end time.
    fn hear(guard: &mut VoiceGuard, from: Instant, share: f64, seconds: f64) -> Instant {
        let size = 250;
        let spacing = f64::from(size) * 8.0 / (share * 1e6);
        feed(from, seconds, spacing, |now| guard.arrival(now, &packet(1, size, Class::Voice)))
    }

    #[test]
    fn the_guard_closes_above_a_third_of_the_link_and_opens_when_voice_recedes() {
        let mut guard = VoiceGuard::new(&VoiceGuardConfig::DEFAULT, Rate::from_bits_per_second(1_000_000));
        let now = hear(&mut guard, Instant::ZERO, 0.30, 10.0);
        assert!(!guard.is_closed(), "below the quota it is Drop-Sel");
        let now = hear(&mut guard, now, 0.50, 10.0);
        assert!(guard.is_closed(), "above the quota voice is protected");
        let now = hear(&mut guard, now, 0.32, 10.0);
        assert!(guard.is_closed(), "just below the quota it does not flap");
        hear(&mut guard, now, 0.25, 10.0);
        assert!(!guard.is_closed(), "well below the quota fairness returns");
    }

    #[test]
    fn the_quota_is_a_part_of_the_rate_that_there_is() {
        let mut guard = VoiceGuard::new(&VoiceGuardConfig::DEFAULT, Rate::from_bits_per_second(1_000_000));
        let now = hear(&mut guard, Instant::ZERO, 0.25, 10.0);
        assert!(!guard.is_closed());
        guard.rate_changed(now, Rate::from_bits_per_second(500_000));
        assert!(guard.is_closed(), "half of the link is voice now");
        guard.rate_changed(now, Rate::from_bits_per_second(200_000));
        assert!(guard.dominates && !guard.is_closed(), "more than the link can carry");
        guard.rate_changed(now, Rate::from_bits_per_second(1_000_000));
        assert!(!guard.is_closed());
    }

    #[test]
    fn the_guard_does_not_protect_voice_that_the_link_cannot_carry() {
        let mut guard = VoiceGuard::new(&VoiceGuardConfig::DEFAULT, Rate::from_bits_per_second(1_000_000));
        let now = hear(&mut guard, Instant::ZERO, 1.2, 10.0);
        assert!(guard.dominates && !guard.is_closed());
        hear(&mut guard, now, 0.7, 10.0);
        assert!(guard.is_closed());
    }

    #[test]
    fn quota_memory_and_release_are_settable() {
        let config = VoiceGuardConfig { quota: 0.5, memory: Span::from_millis(100), release: 0.5 };
        let mut guard = VoiceGuard::new(&config, Rate::from_bits_per_second(1_000_000));
        let now = hear(&mut guard, Instant::ZERO, 0.45, 1.0);
        assert!(!guard.is_closed(), "below the larger quota");
        let now = hear(&mut guard, now, 0.6, 1.0);
        assert!(guard.is_closed(), "closed within ten time constants");
        let now = hear(&mut guard, now, 0.3, 1.0);
        assert!(guard.is_closed(), "the wider hysteresis holds");
        hear(&mut guard, now, 0.2, 1.0);
        assert!(!guard.is_closed());
    }

    #[test]
    fn the_rate_of_voice_is_an_exponential_average() {
        let mut guard = VoiceGuard::new(&VoiceGuardConfig::DEFAULT, Rate::from_bits_per_second(8_000_000));
        guard.arrival(Instant::ZERO, &packet(1, 1000, Class::Voice));
        assert_eq!(guard.voice, 1000.0, "1000 bytes over a memory of a second");
        guard.arrival(Instant::ZERO + Span::from_secs(2), &packet(1, 500, Class::Tcp));
        assert!((guard.voice - 1000.0 * libm::exp(-2.0)).abs() < 1e-9, "{}: others only age it", guard.voice);
        guard.arrival(Instant::ZERO + Span::from_secs(2), &packet(1, 100, Class::Voice));
        assert!((guard.voice - 1000.0 * libm::exp(-2.0) - 100.0).abs() < 1e-9, "{}", guard.voice);
    }

    #[test]
    fn switches_turn_above_their_limit_and_back_at_nine_tenths() {
        let mut guard = VoiceGuard::new(&VoiceGuardConfig::DEFAULT, Rate::from_bits_per_second(8_000_000));
        guard.voice = 1000.0;
        assert_eq!([guard.switch(false, 1000.0), guard.switch(false, 999.9)], [false, true]);
        assert_eq!([guard.switch(true, 1111.2), guard.switch(true, 1111.1)], [false, true]);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let check = |config: VoiceGuardConfig| config.check().map_err(|error| error.key);
        let default = VoiceGuardConfig::DEFAULT;
        for quota in [0.0, 1.0] {
            assert_eq!(check(VoiceGuardConfig { quota, ..default }), Err("quota".to_owned()));
        }
        assert_eq!(check(VoiceGuardConfig { memory: Span::ZERO, ..default }), Err("memory".to_owned()));
        for release in [0.0, 1.1] {
            assert_eq!(check(VoiceGuardConfig { release, ..default }), Err("release".to_owned()));
        }
        assert_eq!(check(VoiceGuardConfig { release: 1.0, ..default }), Ok(()));
    }
}
