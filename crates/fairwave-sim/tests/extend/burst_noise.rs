//! Gilbert's burst-noise channel per packet: losses come in runs.
//!
//! Source: Gilbert, *Capacity of a burst-noise channel*, Bell System Technical Journal 39, 1960. A Markov chain with
//! two states takes a step per packet: from good to bad with probability P, from bad to good with probability p. The
//! good state loses nothing; in the bad state a packet arrives with probability h. So the loss rate is P / (P + p) ·
//! (1 − h). With h = 0, the mean run of losses is 1 / p packets long.
//!
//! **Assumptions.** Packets replace the paper's digits. The chain begins in its stationary distribution. The state
//! depends on packets, not on time: an idle link does not change it (the model `markov` is a chain in time).

use fairwave_core::config::{ConfigError, check_fraction};
use fairwave_core::loss::{LossLaw, LossModel};
use fairwave_core::packet::Packet;
use fairwave_core::random::Stream;
use fairwave_core::registry::{Checked, Law};
use fairwave_core::units::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A two-state Markov chain with a step per packet (Gilbert 1960). Losses come in runs of packets, however long that takes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BurstNoiseConfig {
    /// Probability per packet that the good state ends (the paper's P), 0 to 1.
    pub good_to_bad: f64,
    /// Probability per packet that the bad state ends (the paper's p), above 0, at most 1.
    pub bad_to_good: f64,
    /// Loss rate in the bad state (1 − h in the paper), 0 to 1. Default 1.
    #[serde(default = "bad_loss")]
    pub bad_loss: f64,
}

fn bad_loss() -> f64 {
    1.0
}

impl Checked for BurstNoiseConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_fraction("good-to-bad", self.good_to_bad, "good-to-bad = 0.01")?;
        if !(self.bad_to_good > 0.0 && self.bad_to_good <= 1.0) {
            return Err(ConfigError::new("bad-to-good", self.bad_to_good, "above 0, at most 1", "bad-to-good = 0.25"));
        }
        check_fraction("bad-loss", self.bad_loss, "bad-loss = 1.0")
    }
}

impl Law for BurstNoiseConfig {
    const NAME: &'static str = "burst-noise";
    const EXAMPLE: &'static str = r#"{"good-to-bad": 0.01, "bad-to-good": 0.25}"#;
}

impl LossLaw for BurstNoiseConfig {
    type Model = BurstNoise;

    fn model(&self, mut stream: Stream) -> Result<BurstNoise, ConfigError> {
        self.check()?;
        let bad = stream.chance(self.good_to_bad / (self.good_to_bad + self.bad_to_good));
        Ok(BurstNoise { config: self.clone(), bad, stream })
    }
}

/// State of the channel.
pub struct BurstNoise {
    config: BurstNoiseConfig,
    /// True if the next packet finds the bad state.
    bad: bool,
    stream: Stream,
}

impl LossModel for BurstNoise {
    fn lost(&mut self, _now: Instant, _packet: &Packet) -> bool {
        // Always two draws per packet, so that runs with other parameters use the same random numbers.
        let lost = self.stream.chance(self.config.bad_loss) && self.bad;
        let leaves = if self.bad { self.config.bad_to_good } else { self.config.good_to_bad };
        self.bad ^= self.stream.chance(leaves);
        lost
    }
}

#[cfg(test)]
mod tests {
    use fairwave_core::packet::{Body, Class, Ecn, FlowId};
    use fairwave_core::random::Seed;

    use super::*;

    /// Returns which of 200 000 packets are lost.
    fn fates(config: &BurstNoiseConfig) -> Vec<bool> {
        let body = Body::Datagram { payload: 1, sequence: 0, unit: 0, part: 0, parts: 1, created: Instant::ZERO };
        let packet = Packet {
            flow: FlowId(0),
            wire: 1,
            class: Class::OtherUdp,
            dscp: Default::default(),
            feedback: false,
            ecn: Ecn::NotEct,
            layer: 0,
            body,
        };
        let mut model = config.model(Seed(1).stream("loss")).expect("a model");
        (0..200_000).map(|_| model.lost(Instant::ZERO, &packet)).collect()
    }

    fn rate(fates: &[bool]) -> f64 {
        fates.iter().filter(|lost| **lost).count() as f64 / fates.len() as f64
    }

    #[test]
    fn losses_are_as_many_as_the_bad_state_has_and_come_in_runs_of_its_length() {
        let fates = fates(&BurstNoiseConfig { good_to_bad: 0.02, bad_to_good: 0.25, bad_loss: 1.0 });
        let runs = fates.windows(2).filter(|pair| pair[0] && !pair[1]).count() as f64;
        assert!((rate(&fates) - 0.02 / 0.27).abs() < 0.003, "{}", rate(&fates));
        let length = rate(&fates) * fates.len() as f64 / runs;
        assert!((length - 4.0).abs() < 0.15, "{length}");
    }

    #[test]
    fn in_the_bad_state_only_its_loss_rate_is_lost() {
        let fates = fates(&BurstNoiseConfig { good_to_bad: 0.1, bad_to_good: 0.1, bad_loss: 0.3 });
        assert!((rate(&fates) - 0.15).abs() < 0.005, "{}", rate(&fates));
    }

    #[test]
    fn a_chain_that_alternates_begins_in_either_state() {
        let config = BurstNoiseConfig { good_to_bad: 1.0, bad_to_good: 1.0, bad_loss: 1.0 };
        let bad = (0..1000).filter(|seed| config.model(Seed(*seed).stream("loss")).expect("a model").bad).count();
        assert!((400..600).contains(&bad), "{bad}");
    }

    #[test]
    fn a_bad_state_without_end_is_refused() {
        let config = BurstNoiseConfig { good_to_bad: 0.1, bad_to_good: 0.0, bad_loss: 1.0 };
        assert_eq!(config.check().expect_err("no end").key, "bad-to-good");
    }
}
