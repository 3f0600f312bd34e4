//! AIAMD: a rate that rises by a packet per round trip, falls by a packet on random loss, and halves on congestion.
//!
//! Paper 002 §3.2, Eq. (11). The receiver distinguishes random loss from congestion by the history of receiving
//! rates at the ends of epochs. An epoch lasts from one loss event to the next. It keeps their moving mean R̄ and
//! moving deviation D̄. A loss while the rate is at least R̄ − n·D̄ is random. The policy knows neither packets
//! nor time, so that other protocols can use it (the paper proposes it as a rate control of DCCP).
//!
//! **Assumptions.**
//! - The paper prints α_D = 1 and α_I = −1; since α_I > 0 > α_D everywhere else, they are taken to be swapped.
//! - The unit of both α is one packet per round-trip time, or a rate (`unit`). It is added once per round-trip
//!   time: `step` below.
//! - The gains of R̄ and D̄ are those of RFC 6298 (1/8 and 1/4), and so are their first values (R and R/2).
//! - At the first loss event there is no history and so no bound. The loss counts as random.
//! - A timeout (no packet arrives at all) is congestion for any history.
//! - A loss is judged by the history before it. Then the rate at the loss enters the history.
//! - Eq. (11) compares R(t−1), the text 'the currently measured \[receiving\] rate'. `compare` selects; the text
//!   is the default.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::ratio::Ratio;
use fairwave_units::units::Rate;

/// The rate to compare with R̄ − n·D̄.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// The rate that the receiver measures, as in §3.2's text and Fig. 2.
    #[default]
    ReceivingRate,
    /// The rate that the policy last requested, R(t−1), as in Eq. (11).
    RequestedRate,
}

/// The unit of both α of Eq. (11).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepUnit {
    /// Packets per round-trip time.
    #[default]
    Packet,
    /// A constant rate on every path, `alpha-rate`.
    Rate,
}

/// Parameters of Eq. (11).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AiamdConfig {
    /// α_I: packets per round-trip time added in each round trip without loss. Above 0; default 1.
    pub alpha_increase: f64,
    /// α_D: packets per round-trip time added on random loss. Below 0; default −1.
    pub alpha_decrease: f64,
    /// β_D: part of the rate kept on congestion. Above 0 and below 1; default 0.5.
    #[serde(with = "Ratio")]
    pub beta_decrease: f64,
    /// n: deviations below the mean at which congestion begins. 0 and above; default 1.5.
    pub deviations: f64,
    /// Gain of R̄. Above 0, at most 1; default 1/8.
    #[serde(with = "Ratio")]
    pub mean_gain: f64,
    /// Gain of D̄. Above 0, at most 1; default 1/4.
    #[serde(with = "Ratio")]
    pub deviation_gain: f64,
    /// The rate to compare with the bound. Default `receiving-rate`.
    pub compare: Compared,
    /// The unit of both α. Default `packet`: packets per round-trip time.
    #[serde(skip_serializing_if = "StepUnit::is_packet")]
    pub unit: StepUnit,
    /// The unit of both α if they count a rate, above 0. Default 8 kb/s: a packet of 1000 bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha_rate: Option<Rate>,
}

impl StepUnit {
    fn is_packet(&self) -> bool {
        *self == StepUnit::Packet
    }
}

impl Default for AiamdConfig {
    fn default() -> Self {
        AiamdConfig {
            alpha_increase: 1.0,
            alpha_decrease: -1.0,
            beta_decrease: 0.5,
            deviations: 1.5,
            mean_gain: 0.125,
            deviation_gain: 0.25,
            compare: Compared::ReceivingRate,
            unit: StepUnit::Packet,
            alpha_rate: None,
        }
    }
}

impl AiamdConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first key whose value is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_between("alpha-increase", self.alpha_increase, 0.0, f64::INFINITY, "alpha-increase = 1.0")?;
        if !(self.alpha_decrease < 0.0 && self.alpha_decrease.is_finite()) {
            let allowed = "below 0 (the paper prints the two alphas swapped)";
            return Err(ConfigError::new("alpha-decrease", self.alpha_decrease, allowed, "alpha-decrease = -1.0"));
        }
        check_between("beta-decrease", self.beta_decrease, 0.0, 1.0, "beta-decrease = 0.5")?;
        if !(self.deviations >= 0.0 && self.deviations.is_finite()) {
            return Err(ConfigError::new("deviations", self.deviations, "0 and above", "deviations = 1.5"));
        }
        for (key, gain) in [("mean-gain", self.mean_gain), ("deviation-gain", self.deviation_gain)] {
            if !(gain > 0.0 && gain <= 1.0) {
                return Err(ConfigError::new(key, gain, "above 0 and at most 1", format!("{key} = 0.125")));
            }
        }
        if self.alpha_rate.is_some_and(|rate| rate.bits_per_second() == 0) {
            return Err(ConfigError::new("alpha-rate", "0 b/s", "above 0", "alpha-rate = \"8 kb/s\""));
        }
        Ok(())
    }

    /// The rate that corresponds to α = 1 on a path with `packet` as one packet per round-trip time.
    pub fn step(&self, packet: Rate) -> Rate {
        match self.unit {
            StepUnit::Packet => packet,
            StepUnit::Rate => self.alpha_rate.unwrap_or(Rate::from_bits_per_second(8_000)),
        }
    }
}

/// The assumed cause of a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Too many packets for the path.
    Congestion,
    /// Any other cause.
    Random,
}

/// The policy's state. Rates are bits per second inside.
#[derive(Clone, PartialEq, Debug)]
pub struct Aiamd {
    config: AiamdConfig,
    rate: f64,
    least: f64,
    most: f64,
    /// R̄ and D̄.
    history: Option<(f64, f64)>,
}

impl Aiamd {
    /// Creates a policy that begins at `start` and stays within `least` and `most`.
    ///
    /// # Errors
    /// If [`AiamdConfig::check`] fails.
    pub fn new(config: &AiamdConfig, start: Rate, least: Rate, most: Rate) -> Result<Self, ConfigError> {
        config.check()?;
        let number = |rate: Rate| rate.bits_per_second() as f64;
        let (least, most) = (number(least), number(most).max(number(least)));
        Ok(Aiamd { config: config.clone(), rate: number(start).clamp(least, most), least, most, history: None })
    }

    /// R: the allowed sending rate.
    pub fn rate(&self) -> Rate {
        Rate::from_bits_per_second(self.rate as u64)
    }

    /// R̄ − n·D̄, bits per second (it may be below zero); `None` before the first loss event.
    pub fn bound(&self) -> Option<f64> {
        self.history.map(|(mean, deviation)| mean - self.config.deviations * deviation)
    }

    fn set(&mut self, rate: f64) {
        self.rate = rate.clamp(self.least, self.most);
    }

    /// Eq. (11), y(t) = 0: a round trip without loss. `step` is one packet per round-trip time.
    pub fn on_round_without_loss(&mut self, step: Rate) {
        self.set(self.rate + self.config.alpha_increase * step.bits_per_second() as f64);
    }

    /// Eq. (11), y(t) = 0: a packet without a gap before it. R sends `of_a_round` packets per round trip.
    pub fn on_packet_without_loss(&mut self, step: Rate, of_a_round: f64) {
        let packets = of_a_round.max(1.0);
        self.set(self.rate + self.config.alpha_increase * step.bits_per_second() as f64 / packets);
    }

    /// Classifies a loss at this receiving rate.
    pub fn judge(&self, receiving: Rate) -> Verdict {
        let receiving = receiving.bits_per_second() as f64;
        let compared = match self.config.compare {
            Compared::ReceivingRate => receiving,
            Compared::RequestedRate => self.rate,
        };
        let congestion = receiving <= 0.0 || self.bound().is_some_and(|bound| compared < bound);
        if congestion { Verdict::Congestion } else { Verdict::Random }
    }

    /// Eq. (11), y(t) = 1: a loss event at the measured rate `receiving`. It ends an epoch.
    pub fn on_loss_event(&mut self, receiving: Rate, step: Rate) -> Verdict {
        let verdict = self.judge(receiving);
        self.set(match verdict {
            Verdict::Random => self.rate + self.config.alpha_decrease * step.bits_per_second() as f64,
            Verdict::Congestion => self.rate * self.config.beta_decrease,
        });
        let rate = receiving.bits_per_second() as f64;
        self.history = Some(match self.history {
            None => (rate, rate / 2.0),
            Some((mean, deviation)) => {
                let apart = libm::fabs(rate - mean);
                (
                    mean + self.config.mean_gain * (rate - mean),
                    deviation + self.config.deviation_gain * (apart - deviation),
                )
            }
        });
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STEP: Rate = Rate::from_bits_per_second(100_000);

    fn kilobits(k: u64) -> Rate {
        Rate::from_bits_per_second(k * 1000)
    }

    fn policy(start: u64) -> Aiamd {
        Aiamd::new(&AiamdConfig::default(), kilobits(start), kilobits(10), kilobits(10_000)).expect("the defaults")
    }

    /// A policy with R̄ = `mean`, D̄ = `deviation` and rate `start`.
    fn with_history(start: u64, mean: f64, deviation: f64) -> Aiamd {
        Aiamd { history: Some((mean, deviation)), ..policy(start) }
    }

    #[test]
    fn eq_11_without_loss_one_packet_per_round_trip_is_added() {
        let mut policy = policy(500);
        policy.on_round_without_loss(STEP);
        assert_eq!(policy.rate(), kilobits(600));
    }

    #[test]
    fn eq_11_a_loss_at_the_bound_is_random_and_takes_one_packet() {
        let mut policy = with_history(500, 600_000.0, 100_000.0); // bound 450 kb/s
        assert_eq!(policy.on_loss_event(kilobits(450), STEP), Verdict::Random);
        assert_eq!(policy.rate(), kilobits(400));
    }

    #[test]
    fn eq_11_a_loss_below_the_bound_is_congestion_and_halves() {
        let mut policy = with_history(500, 600_000.0, 100_000.0);
        assert_eq!(policy.on_loss_event(kilobits(449), STEP), Verdict::Congestion);
        assert_eq!(policy.rate(), kilobits(250));
    }

    #[test]
    fn a_round_of_packets_adds_what_a_round_trip_adds() {
        let mut policy = policy(500);
        (0..4).for_each(|_| policy.on_packet_without_loss(STEP, 4.0));
        assert_eq!(policy.rate(), kilobits(600));
        policy.on_packet_without_loss(STEP, 0.1);
        assert_eq!(policy.rate(), kilobits(700), "less than a packet per round trip adds no more than one would");
    }

    #[test]
    fn alpha_is_a_packet_per_round_trip_or_a_rate_of_its_own() {
        let rate = AiamdConfig { unit: StepUnit::Rate, ..AiamdConfig::default() };
        assert_eq!(AiamdConfig::default().step(STEP), STEP);
        assert_eq!((rate.step(STEP), rate.step(kilobits(1))), (kilobits(8), kilobits(8)));
        let other = AiamdConfig { alpha_rate: Some(kilobits(3)), ..rate };
        assert_eq!(other.step(STEP), kilobits(3));
        assert_eq!(
            AiamdConfig { alpha_rate: Some(kilobits(0)), ..other }.check().expect_err("nothing").key,
            "alpha-rate"
        );
    }

    #[test]
    fn mean_and_deviation_move_by_their_gains_at_the_end_of_an_epoch() {
        let mut policy = with_history(500, 800_000.0, 40_000.0);
        policy.on_loss_event(kilobits(400), STEP);
        assert_eq!(policy.history, Some((750_000.0, 130_000.0))); // 800 − 400/8; 40 + (400 − 40)/4
    }

    #[test]
    fn the_first_loss_has_no_history_and_is_random() {
        assert_eq!(policy(500).judge(kilobits(1)), Verdict::Random);
    }

    #[test]
    fn silence_is_congestion_for_every_history() {
        assert_eq!(policy(500).judge(Rate::default()), Verdict::Congestion);
        assert_eq!(with_history(500, 0.0, 0.0).judge(Rate::default()), Verdict::Congestion);
    }

    #[test]
    fn the_other_reading_compares_the_requested_rate() {
        let mut policy = with_history(500, 600_000.0, 100_000.0);
        policy.config.compare = Compared::RequestedRate;
        assert_eq!(policy.judge(kilobits(1)), Verdict::Random, "500 kb/s are requested, the bound is 450");
        policy.rate = 400_000.0;
        assert_eq!(policy.judge(kilobits(900)), Verdict::Congestion);
    }

    #[test]
    fn swapped_alphas_are_refused_with_the_remedy() {
        let config = AiamdConfig { alpha_decrease: 1.0, ..AiamdConfig::default() };
        let error = config.check().expect_err("it must be negative").to_string();
        assert!(error.contains("alpha-decrease") && error.contains("-1.0"), "{error}");
        for bad in [
            AiamdConfig { alpha_increase: 0.0, ..AiamdConfig::default() },
            AiamdConfig { beta_decrease: 1.0, ..AiamdConfig::default() },
            AiamdConfig { deviations: f64::NAN, ..AiamdConfig::default() },
            AiamdConfig { mean_gain: 0.0, ..AiamdConfig::default() },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn the_rate_stays_within_its_bounds_and_halves_only_below_the_bound(
            events in prop::collection::vec((any::<bool>(), 0u64..20_000), 0..200),
        ) {
            let mut policy = policy(500);
            for (loss, receiving) in events {
                let (before, bound) = (policy.rate, policy.bound());
                if loss {
                    let verdict = policy.on_loss_event(kilobits(receiving), STEP);
                    let below = receiving == 0 || bound.is_some_and(|bound| ((receiving * 1000) as f64) < bound);
                    prop_assert_eq!(verdict == Verdict::Congestion, below);
                    let expected = if below { before / 2.0 } else { before - 100_000.0 };
                    prop_assert_eq!(policy.rate, expected.max(10_000.0));
                } else {
                    policy.on_round_without_loss(STEP);
                    prop_assert_eq!(policy.rate, (before + 100_000.0).min(10_000_000.0));
                }
            }
        }

        /// §3.2 case (iii): rates converge under a hybrid whose congestion signals reach all flows.
        #[test]
        fn two_flows_that_see_the_same_congestion_converge(a in 100u64..4000, b in 100u64..4000) {
            let (mut first, mut second) = (with_history(a, 1e9, 0.0), with_history(b, 1e9, 0.0));
            for _ in 0..400 {
                if first.rate + second.rate > 4_000_000.0 {
                    first.on_loss_event(kilobits(1), STEP);
                    second.on_loss_event(kilobits(1), STEP);
                    (first.history, second.history) = (Some((1e9, 0.0)), Some((1e9, 0.0)));
                } else {
                    first.on_round_without_loss(STEP);
                    second.on_round_without_loss(STEP);
                }
            }
            prop_assert!((first.rate / second.rate - 1.0).abs() < 0.02);
        }
    }
}
