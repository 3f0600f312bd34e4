//! Losses by a chain of two states that takes a step with each packet, independently of the time between packets.
//!
//! Source: Gilbert 1960, *Capacity of a burst-noise channel*, and Elliott 1963, applied to packet loss (RFC 3611 §4.7.2
//! names the chain for VoIP; Linux's netem has it as `loss gemodel`, after Salsano et al. 2012). p is the probability of
//! the bad state after the good one (`to-bad`), and r that of the good state after the bad one (`to-good`). In the long
//! run the share p/(p + r) of packets meets the bad state, in runs of geometric length with mean 1/r. Each state loses
//! packets independently with its probability: `good-loss` (netem's 1 − k) and `bad-loss` (netem's 1 − h).
//!
//! **Assumptions.** With `rate` and `run` the bad state loses every packet and the good state none, so both numbers
//! determine the model. Independent losses have mean runs of 1/(1 − rate). Shorter runs are possible, down to 1: no two
//! losses in a row. With a mean run of m, the rate is at most m/(m + 1), because a packet arrives after each run. The
//! first packet meets the bad state with its long-run probability; netem's chain begins in the good state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LossLaw, LossModel};
use crate::packet::Packet;
use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::random::Stream;
use fairwave_units::ratio::{OptionalRatio, Ratio};
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Instant;

/// Loses packets in runs, by a chain of two states that counts packets, not time (Gilbert 1960, Elliott 1963). Give either
/// `rate` and `run`, or `to-bad` and `to-good` (netem's `gemodel`). `fairwave pattern` fits rate and run to a recorded pattern.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[schemars(extend("anyOf" = [{ "required": ["rate", "run"] }, { "required": ["to-bad", "to-good"] }]))]
pub struct GilbertConfig {
    /// Share of packets lost in the long run, 0 to 1; at most run / (run + 1), or exactly 1: the link loses all.
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Mean number of packets lost in a row, 1 and above. Independent losses have 1 / (1 − rate).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<f64>,
    /// Probability that the bad state follows the good one, per packet, 0 to 1 (netem's p).
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    pub to_bad: Option<f64>,
    /// Probability that the good state follows the bad one, per packet, above 0 up to 1 (netem's r).
    #[serde(with = "OptionalRatio", skip_serializing_if = "Option::is_none")]
    pub to_good: Option<f64>,
    /// Loss rate in the good state, 0 to 1 (netem's 1 − k). Default 0. Only with to-bad and to-good.
    #[serde(with = "Ratio", skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0.0))]
    pub good_loss: f64,
    /// Loss rate in the bad state, 0 to 1 (netem's 1 − h). Default 1. Only with to-bad and to-good.
    #[serde(with = "Ratio", skip_serializing_if = "is_one")]
    #[schemars(extend("default" = 1.0))]
    pub bad_loss: f64,
}

// Rate and run are written without the losses of states. The schema states defaults that serde leaves out.
fn is_zero(loss: &f64) -> bool {
    *loss == 0.0
}

fn is_one(loss: &f64) -> bool {
    *loss == 1.0
}

impl Default for GilbertConfig {
    fn default() -> Self {
        GilbertConfig { rate: None, run: None, to_bad: None, to_good: None, good_loss: 0.0, bad_loss: 1.0 }
    }
}

/// The chain's four probabilities.
#[derive(Clone, Copy, Debug)]
struct Steps {
    to_bad: f64,
    to_good: f64,
    good_loss: f64,
    bad_loss: f64,
}

/// Remedies: a complete set of keys of each form.
const BY_RATE: &str = "rate = \"1 %\", run = 3";
const BY_STATES: &str = "to-bad = \"1 %\", to-good = \"25 %\"";

impl GilbertConfig {
    fn steps(&self) -> Result<Steps, ConfigError> {
        let (good_loss, bad_loss) = (self.good_loss, self.bad_loss);
        match (self.rate, self.run, self.to_bad, self.to_good) {
            (Some(rate), Some(_), None, None) if rate >= 1.0 => {
                Ok(Steps { to_bad: 1.0, to_good: 0.0, good_loss, bad_loss })
            }
            (Some(rate), Some(run), None, None) => {
                let to_good = 1.0 / run;
                Ok(Steps { to_bad: to_good * rate / (1.0 - rate), to_good, good_loss, bad_loss })
            }
            (None, None, Some(to_bad), Some(to_good)) => Ok(Steps { to_bad, to_good, good_loss, bad_loss }),
            (rate, run, to_bad, to_good) => {
                let keys = [("rate", rate), ("run", run), ("to-bad", to_bad), ("to-good", to_good)];
                let given: Vec<_> = keys.iter().filter(|(_, value)| value.is_some()).map(|(key, _)| *key).collect();
                let (key, example) = match given[..] {
                    ["rate"] => ("run", "run = 3"),
                    ["run"] => ("rate", "rate = \"1 %\""),
                    ["to-bad"] => ("to-good", "to-good = \"25 %\""),
                    ["to-good"] => ("to-bad", "to-bad = \"1 %\""),
                    [] if (good_loss, bad_loss) != (0.0, 1.0) => ("to-bad", BY_STATES),
                    [] => ("rate", BY_RATE),
                    [.., last] => (last, BY_RATE),
                };
                let value = if given.is_empty() { "none of them".to_owned() } else { given.join(" and ") };
                Err(ConfigError::new(key, value, "either rate and run, or to-bad and to-good", example))
            }
        }
    }
}

impl Checked for GilbertConfig {
    fn check(&self) -> Result<(), ConfigError> {
        for (key, value, example) in [
            ("rate", self.rate, BY_RATE),
            ("to-bad", self.to_bad, BY_STATES),
            ("to-good", self.to_good, BY_STATES),
            ("good-loss", Some(self.good_loss), "good-loss = \"0.1 %\", to-bad = \"1 %\", to-good = \"25 %\""),
            ("bad-loss", Some(self.bad_loss), "bad-loss = \"50 %\", to-bad = \"1 %\", to-good = \"25 %\""),
        ] {
            check_fraction(key, value.unwrap_or(0.0), example)?;
        }
        if let Some(run) = self.run.filter(|run| !(*run >= 1.0 && run.is_finite())) {
            return Err(ConfigError::new("run", run, "1 packet or more", BY_RATE));
        }
        if self.to_good == Some(0.0) {
            return Err(ConfigError::new("to-good", 0.0, "above 0, or the bad state never ends", BY_STATES));
        }
        let steps = self.steps()?;
        let (Some(rate), Some(run)) = (self.rate, self.run) else { return Ok(()) };
        for (key, value, default) in [("good-loss", self.good_loss, 0.0), ("bad-loss", self.bad_loss, 1.0)] {
            if value != default {
                let allowed = "with rate and run only the default; with to-bad and to-good any share";
                return Err(ConfigError::new(key, value, allowed, format!("{key} = {default}")));
            }
        }
        // Tolerates rounding errors at the largest allowed rate.
        if rate < 1.0 && steps.to_bad > 1.0 + 1e-9 {
            let (most, longer) = (run / (run + 1.0), rate / (1.0 - rate));
            let allowed = format!("at most run / (run + 1) = {:.4}, as a packet arrives between two runs", most);
            return Err(ConfigError::new("rate", rate, allowed, format!("run = {:.4}", longer.max(1.0))));
        }
        Ok(())
    }
}

impl Law for GilbertConfig {
    const NAME: &'static str = "gilbert";
    const EXAMPLE: &'static str = r#"{"rate": "1 %", "run": 3}"#;
}

impl LossLaw for GilbertConfig {
    type Model = Gilbert;

    fn model(&self, mut stream: Stream) -> Result<Gilbert, ConfigError> {
        let steps = self.steps()?;
        // The state before the first packet has the stationary distribution.
        let share = self.rate.unwrap_or_else(|| steps.to_bad / (steps.to_bad + steps.to_good));
        let is_bad = stream.chance(share);
        Ok(Gilbert { steps, is_bad, stream })
    }
}

/// State of the chain.
pub struct Gilbert {
    steps: Steps,
    is_bad: bool,
    stream: Stream,
}

impl LossModel for Gilbert {
    fn lost(&mut self, _now: Instant, _packet: &Packet) -> bool {
        let steps = &self.steps;
        self.is_bad ^= self.stream.chance(if self.is_bad { steps.to_good } else { steps.to_bad });
        // Certain outcomes take no random number.
        match if self.is_bad { steps.bad_loss } else { steps.good_loss } {
            0.0 => false,
            1.0 => true,
            loss => self.stream.chance(loss),
        }
    }
}

#[cfg(test)]
mod tests {
    use fairwave_units::random::Seed;

    use super::super::tests::packet;
    use super::*;

    fn pattern(rate: f64, run: f64, seed: u64, count: usize) -> Vec<bool> {
        sequence(GilbertConfig { rate: Some(rate), run: Some(run), ..Default::default() }, seed, count)
    }

    fn sequence(config: GilbertConfig, seed: u64, count: usize) -> Vec<bool> {
        config.check().expect("sound");
        let mut model = config.model(Seed(seed).stream("loss")).expect("a model");
        (0..count).map(|_| model.lost(Instant::ZERO, &packet())).collect()
    }

    fn runs(lost: &[bool]) -> Vec<usize> {
        lost.chunk_by(|one, next| one == next).filter(|run| run[0]).map(<[bool]>::len).collect()
    }

    #[test]
    fn rate_and_run_are_those_that_are_asked_for_and_runs_are_geometric() {
        for (rate, run) in [(0.01, 3.0), (0.2, 1.25), (0.1, 1.0), (0.5, 10.0)] {
            let lost = pattern(rate, run, 1, 1_000_000);
            let share = lost.iter().filter(|lost| **lost).count() as f64 / 1e6;
            assert!((share / rate - 1.0).abs() < 0.05, "{share} for {rate}");
            let runs = runs(&lost);
            let mean = runs.iter().sum::<usize>() as f64 / runs.len() as f64;
            assert!((mean / run - 1.0).abs() < 0.04, "{mean} for {run}");
            let single = runs.iter().filter(|run| **run == 1).count() as f64 / runs.len() as f64;
            assert!((single - 1.0 / run).abs() < 0.02, "{single} of runs are of one packet, for 1/{run}");
        }
    }

    #[test]
    fn with_the_run_that_chance_has_each_packet_is_lost_whatever_became_of_the_one_before() {
        let lost = pattern(0.2, 1.25, 2, 400_000);
        let behind = |before: bool| {
            let pairs: Vec<bool> = lost.windows(2).filter(|pair| pair[0] == before).map(|pair| pair[1]).collect();
            pairs.iter().filter(|lost| **lost).count() as f64 / pairs.len() as f64
        };
        assert!((behind(true) - 0.2).abs() < 0.006 && (behind(false) - 0.2).abs() < 0.004);
    }

    #[test]
    fn the_first_packet_is_lost_as_often_as_any() {
        let lost = (0..20_000).filter(|seed| pattern(0.3, 5.0, *seed, 1)[0]).count() as f64 / 20_000.0;
        assert!((lost - 0.3).abs() < 0.015, "{lost}");
    }

    #[test]
    fn loses_none_or_all_if_configured() {
        assert!(pattern(0.0, 3.0, 1, 10_000).iter().all(|lost| !lost));
        assert!(pattern(1.0, 3.0, 1, 10_000).iter().all(|lost| *lost));
        // At the highest rate of single losses, every other packet is lost.
        assert!(pattern(0.5, 1.0, 1, 1000).windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn rejects_losses_that_no_chain_has_and_names_possible_ones() {
        let refused = |rate, run| {
            GilbertConfig { rate: Some(rate), run: Some(run), ..Default::default() }.check().expect_err("refused")
        };
        assert_eq!(refused(1.5, 3.0).key, "rate");
        assert_eq!(refused(0.1, 0.5).key, "run");
        assert_eq!(refused(0.1, f64::NAN).key, "run");
        let error = refused(0.8, 2.0);
        assert_eq!((error.key.as_str(), error.to_string().contains("run = 4.0000")), ("rate", true), "{error}");
    }

    /// netem's `loss gemodel 2 % 25 % 60 % 0.5 %`, checked against the chain's closed forms.
    #[test]
    fn each_state_loses_with_its_probability_and_states_last_as_long_as_configured() {
        let config = GilbertConfig {
            to_bad: Some(0.02),
            to_good: Some(0.25),
            good_loss: 0.005,
            bad_loss: 0.6,
            ..Default::default()
        };
        let count = 2_000_000;
        let lost = sequence(config, 3, count);
        let bad = 0.02 / 0.27;
        let expected = bad * 0.6 + (1.0 - bad) * 0.005;
        let share = lost.iter().filter(|lost| **lost).count() as f64 / count as f64;
        assert!((share / expected - 1.0).abs() < 0.02, "{share}, expected {expected}");
        // A loss after a loss: the share of bad states among losses, one step on.
        let was_bad = bad * 0.6 / expected;
        let is_bad = was_bad * 0.75 + (1.0 - was_bad) * 0.02;
        let after = is_bad * 0.6 + (1.0 - is_bad) * 0.005;
        let pairs: Vec<bool> = lost.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]).collect();
        let seen = pairs.iter().filter(|lost| **lost).count() as f64 / pairs.len() as f64;
        assert!((seen / after - 1.0).abs() < 0.02, "{seen}, expected {after}");
    }

    #[test]
    fn both_forms_without_losses_in_the_good_state_are_one_chain() {
        let states = GilbertConfig { to_bad: Some(1.0 / 9.0 / 3.0), to_good: Some(1.0 / 3.0), ..Default::default() };
        assert_eq!(pattern(0.1, 3.0, 7, 10_000), sequence(states, 7, 10_000));
    }

    #[test]
    fn rejects_keys_that_do_not_belong_together() {
        let refused = |config: GilbertConfig| config.check().expect_err("refused").key;
        let (none, some) = (GilbertConfig::default(), Some(0.5));
        assert_eq!(refused(none), "rate");
        assert_eq!(refused(GilbertConfig { rate: some, ..none }), "run");
        assert_eq!(refused(GilbertConfig { to_bad: some, ..none }), "to-good");
        assert_eq!(refused(GilbertConfig { rate: some, run: Some(3.0), to_bad: some, ..none }), "to-bad");
        assert_eq!(refused(GilbertConfig { rate: Some(0.1), run: Some(3.0), bad_loss: 0.5, ..none }), "bad-loss");
        assert_eq!(refused(GilbertConfig { to_bad: some, to_good: Some(0.0), ..none }), "to-good");
        assert_eq!(refused(GilbertConfig { to_bad: some, to_good: some, good_loss: 2.0, ..none }), "good-loss");
    }
}
