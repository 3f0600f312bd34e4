//! Losses that are correlated within rounds of packets.
//!
//! Source: paper 002 §4.1, correlated Bernoulli.
//!
//! **Assumptions.** The paper's sentence that defines q names q for both cases; this module interprets it as described
//! below. The paper does not state the mean length of a round: 10 packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LossLaw, LossModel};
use crate::packet::Packet;
use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::random::Stream;
use fairwave_units::ratio::{OptionalRatio, Ratio};
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Instant;

/// Correlated Bernoulli losses (paper 002 §4.1). Packets come in rounds of geometric length. Within a round, a packet
/// after a lost one has one loss probability, and every other packet has another.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RoundsConfig {
    /// Paper 002's p: probability of losing a round's first packet, or a packet after one that was not lost. Default 0.01.
    #[serde(with = "Ratio", default = "first")]
    pub first: f64,
    /// Paper 002's q: probability of losing a packet after a lost one in the same round. Default 0.15.
    #[serde(with = "Ratio", default = "default_after_loss")]
    pub after_loss: f64,
    /// Probability of losing a packet, other than a round's first, after one that was not lost. Default: `first`. Read word
    /// by word, the paper's sentence has q here too.
    #[serde(with = "OptionalRatio", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "`first`"))]
    pub other: Option<f64>,
    /// Mean packets in a round, at least 1. Default 10.
    #[serde(default = "mean_length")]
    pub mean_length: f64,
}

fn first() -> f64 {
    0.01
}

fn default_after_loss() -> f64 {
    0.15
}

fn mean_length() -> f64 {
    10.0
}

impl Checked for RoundsConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_fraction("first", self.first, "first = 0.01")?;
        check_fraction("after-loss", self.after_loss, "after-loss = 0.15")?;
        check_fraction("other", self.other.unwrap_or(self.first), "other = 0.01")?;
        if self.mean_length >= 1.0 && self.mean_length.is_finite() {
            return Ok(());
        }
        Err(ConfigError::new("mean-length", self.mean_length, "at least 1 packet", "mean-length = 10"))
    }
}

impl Law for RoundsConfig {
    const NAME: &'static str = "rounds";
}

impl LossLaw for RoundsConfig {
    type Model = Rounds;

    fn model(&self, stream: Stream) -> Result<Rounds, ConfigError> {
        Ok(Rounds { config: *self, left: 0, previous_lost: false, begun: false, stream })
    }
}

/// State of correlated losses.
pub struct Rounds {
    config: RoundsConfig,
    /// Remaining packets of the current round.
    left: u64,
    previous_lost: bool,
    /// Whether the round has had a packet.
    begun: bool,
    stream: Stream,
}

impl LossModel for Rounds {
    fn lost(&mut self, _now: Instant, _packet: &Packet) -> bool {
        if self.left == 0 {
            self.left = 1 + self.stream.geometric(1.0 / self.config.mean_length);
            self.previous_lost = false;
            self.begun = false;
        }
        self.left -= 1;
        let chance = match (self.previous_lost, self.begun) {
            (true, _) => self.config.after_loss,
            (false, true) => self.config.other.unwrap_or(self.config.first),
            (false, false) => self.config.first,
        };
        self.begun = true;
        self.previous_lost = self.stream.chance(chance);
        self.previous_lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, Class, Ecn, FlowId};
    use fairwave_units::random::Seed;

    #[test]
    fn packets_after_the_first_of_a_round_have_q() {
        let config = RoundsConfig { first: 0.0, after_loss: 1.0, other: Some(1.0), mean_length: 4.0 };
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
        let kept = (0..100_000).filter(|_| !model.lost(Instant::ZERO, &packet)).count() as f64 / 1e5;
        assert!((kept - 0.25).abs() < 0.01, "the first of four on average: {kept}");
    }
}
