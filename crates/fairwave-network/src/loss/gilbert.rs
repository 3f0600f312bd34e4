//! Losses in runs: a share of packets is lost, in runs of a mean length, independently of the time between packets.
//!
//! Source: Gilbert 1960, *Capacity of a burst-noise channel*, applied to packet loss (RFC 3611 §4.7.2 names it for VoIP).
//! The model is a chain of two states that takes a step with each packet. Here p is the probability of a loss after an
//! arrival, and q the probability of an arrival after a loss. In the long run the share p/(p + q) is lost, in runs of
//! geometric length with mean 1/q.
//!
//! **Assumptions.** The bad state loses every packet and the good state none, so rate and mean run determine the model.
//! The first packet is lost with the long-run probability. Independent losses have mean runs of 1/(1 − rate). Shorter
//! runs are possible, down to 1: no two losses in a row. With a mean run of m, the rate is at most m/(m + 1), because a
//! packet arrives after each run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LossLaw, LossModel};
use crate::packet::Packet;
use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Instant;

/// Loses a given share of packets in runs of a given mean length (Gilbert 1960). The model counts packets, not time.
/// `fairwave pattern` fits both numbers to a recorded pattern.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GilbertConfig {
    /// Share of packets lost in the long run, 0 to 1; at most run / (run + 1), or exactly 1: the link loses all.
    #[serde(with = "Ratio")]
    pub rate: f64,
    /// Mean number of packets lost in a row, 1 and above. Independent losses have 1 / (1 − rate).
    pub run: f64,
}

impl GilbertConfig {
    /// Transition probabilities from arriving to lost (p), and from lost to arriving (q).
    fn steps(&self) -> (f64, f64) {
        if self.rate >= 1.0 {
            return (1.0, 0.0);
        }
        let back = 1.0 / self.run;
        (back * self.rate / (1.0 - self.rate), back)
    }
}

impl Checked for GilbertConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_fraction("rate", self.rate, "rate = \"1 %\"")?;
        if !(self.run >= 1.0 && self.run.is_finite()) {
            return Err(ConfigError::new("run", self.run, "1 packet or more", "run = 3"));
        }
        // Tolerates rounding errors at the largest allowed rate.
        if self.rate < 1.0 && self.steps().0 > 1.0 + 1e-9 {
            let (most, run) = (self.run / (self.run + 1.0), self.rate / (1.0 - self.rate));
            let allowed = format!("at most run / (run + 1) = {:.4}, as a packet arrives between two runs", most);
            return Err(ConfigError::new("rate", self.rate, allowed, format!("run = {:.4}", run.max(1.0))));
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
        let (lose, recover) = self.steps();
        // The state before the first packet has the stationary distribution.
        let losing = stream.chance(self.rate);
        Ok(Gilbert { lose, recover, losing, stream })
    }
}

/// State of the chain.
pub struct Gilbert {
    lose: f64,
    recover: f64,
    losing: bool,
    stream: Stream,
}

impl LossModel for Gilbert {
    fn lost(&mut self, _now: Instant, _packet: &Packet) -> bool {
        let leaves = if self.losing { self.recover } else { self.lose };
        self.losing ^= self.stream.chance(leaves);
        self.losing
    }
}

#[cfg(test)]
mod tests {
    use fairwave_units::random::Seed;

    use super::super::tests::packet;
    use super::*;

    fn pattern(rate: f64, run: f64, seed: u64, count: usize) -> Vec<bool> {
        let config = GilbertConfig { rate, run };
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
        let refused = |rate, run| GilbertConfig { rate, run }.check().expect_err("refused");
        assert_eq!(refused(1.5, 3.0).key, "rate");
        assert_eq!(refused(0.1, 0.5).key, "run");
        assert_eq!(refused(0.1, f64::NAN).key, "run");
        let error = refused(0.8, 2.0);
        assert_eq!((error.key.as_str(), error.to_string().contains("run = 4.0000")), ("rate", true), "{error}");
    }
}
