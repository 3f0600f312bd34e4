//! A link that alternates between a good and a bad state.
//!
//! Source: Gilbert 1960, Elliott 1963; paper 003 §II.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chain::{Chain, Sojourn};
use super::{LossLaw, LossModel, fork};
use crate::packet::Packet;
use fairwave_units::config::{ConfigError, check_fraction, check_span};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Span};

/// Loses packets by a two-state Markov chain in continuous time; each state has a loss rate (Gilbert 1960, Elliott
/// 1963; paper 003 §II). The first state is drawn from the stationary distribution.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MarkovConfig {
    /// Mean time in the good state.
    pub good: Span,
    /// Mean time in the bad state.
    pub bad: Span,
    /// Loss rate in the good state, 0 to 1. Default 0.
    #[serde(with = "Ratio", default)]
    pub good_loss: f64,
    /// Loss rate in the bad state, 0 to 1. Default 1.
    #[serde(with = "Ratio", default = "bad_loss")]
    pub bad_loss: f64,
}

fn bad_loss() -> f64 {
    1.0
}

impl Checked for MarkovConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_span("good", self.good, "good = \"5 s\"")?;
        check_span("bad", self.bad, "bad = \"500 ms\"")?;
        check_fraction("good-loss", self.good_loss, "good-loss = 0.0")?;
        check_fraction("bad-loss", self.bad_loss, "bad-loss = 1.0")
    }
}

impl Law for MarkovConfig {
    const NAME: &'static str = "markov";
    const EXAMPLE: &'static str = r#"{"good": "4 s", "bad": "100 ms", "bad-loss": 0.3}"#;
}

impl LossLaw for MarkovConfig {
    type Model = Markov;

    fn model(&self, mut stream: Stream) -> Result<Markov, ConfigError> {
        let chain = Chain::stationary(self.good, self.bad, Sojourn::Exponential, fork(&mut stream));
        Ok(Markov { chain, good_loss: self.good_loss, bad_loss: self.bad_loss, stream })
    }

    fn cycle(&self) -> Option<Span> {
        Some(self.good + self.bad)
    }
}

/// State of the chain.
pub struct Markov {
    chain: Chain,
    good_loss: f64,
    bad_loss: f64,
    stream: Stream,
}

impl LossModel for Markov {
    fn lost(&mut self, now: Instant, _packet: &Packet) -> bool {
        let bad = self.chain.is_bad(now);
        self.stream.chance(if bad { self.bad_loss } else { self.good_loss })
    }
}
