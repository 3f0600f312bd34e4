//! How links lose packets for reasons other than congestion.
//!
//! A loss model is asked once per packet, in the order in which packets leave the link, and answers whether this one is
//! lost. Each direction of a link has its own model and its own random stream, so both directions lose independently.

mod chain;
mod config;

use crate::config::ConfigError;
use crate::packet::Packet;
use crate::random::{Seed, Stream};
use crate::units::Instant;

use chain::{Chain, Sojourn};
pub use config::LossConfig;

/// A link's loss.
#[derive(Clone, PartialEq, Debug)]
pub struct Loss {
    model: Model,
    stream: Stream,
}

#[derive(Clone, PartialEq, Debug)]
enum Model {
    None,
    Bernoulli { rate: f64 },
    Rounds { first: f64, after_loss: f64, mean_length: f64, left: u64, previous_lost: bool },
    Markov { chain: Chain, good_loss: f64, bad_loss: f64 },
    Handoff { chain: Chain },
    Blackout { from: Instant, to: Instant },
    Pattern { lost: Box<[bool]>, next: usize, repeat: bool },
}

impl Loss {
    /// The model that `config` describes; all its randomness comes from `stream`.
    ///
    /// # Errors
    /// When [`LossConfig::check`] refuses the configuration.
    pub fn new(config: &LossConfig, mut stream: Stream) -> Result<Self, ConfigError> {
        config.check()?;
        let model = match config {
            LossConfig::None {} => Model::None,
            LossConfig::Bernoulli { rate } => Model::Bernoulli { rate: *rate },
            LossConfig::Rounds { first, after_loss, mean_length } => Model::Rounds {
                first: *first,
                after_loss: *after_loss,
                mean_length: *mean_length,
                left: 0,
                previous_lost: false,
            },
            LossConfig::Markov { good, bad, good_loss, bad_loss } => Model::Markov {
                chain: Chain::stationary(*good, *bad, Sojourn::Exponential, fork(&mut stream)),
                good_loss: *good_loss,
                bad_loss: *bad_loss,
            },
            LossConfig::Handoff { up, down, constant } => {
                let sojourn = if *constant { Sojourn::Constant } else { Sojourn::Exponential };
                Model::Handoff { chain: Chain::from_good(*up, *down, sojourn, fork(&mut stream)) }
            }
            LossConfig::Blackout { from, to } => {
                Model::Blackout { from: Instant::ZERO + *from, to: Instant::ZERO + *to }
            }
            LossConfig::Pattern { pattern, repeat } => {
                Model::Pattern { lost: config::lost_packets(pattern)?, next: 0, repeat: *repeat }
            }
        };
        Ok(Loss { model, stream })
    }

    /// True when the packet that leaves the link at `now` is lost. `now` must not decrease from call to call.
    #[inline]
    pub fn lost(&mut self, now: Instant, _packet: &Packet) -> bool {
        match &mut self.model {
            Model::None => false,
            Model::Bernoulli { rate } => self.stream.chance(*rate),
            Model::Rounds { first, after_loss, mean_length, left, previous_lost } => {
                if *left == 0 {
                    *left = 1 + self.stream.geometric(1.0 / *mean_length);
                    *previous_lost = false;
                }
                *left -= 1;
                *previous_lost = self.stream.chance(if *previous_lost { *after_loss } else { *first });
                *previous_lost
            }
            Model::Markov { chain, good_loss, bad_loss } => {
                let bad = chain.is_bad(now);
                self.stream.chance(if bad { *bad_loss } else { *good_loss })
            }
            Model::Handoff { chain } => chain.is_bad(now),
            Model::Blackout { from, to } => *from <= now && now < *to,
            Model::Pattern { lost, next, repeat } => {
                if *next == lost.len() && *repeat {
                    *next = 0;
                }
                let answer = lost.get(*next).copied().unwrap_or(false);
                *next = (*next + 1).min(lost.len());
                answer
            }
        }
    }

    /// True when this link never loses anything, so that nobody need ask.
    pub const fn is_none(&self) -> bool {
        matches!(self.model, Model::None)
    }
}

/// A stream of its own for the chain, so that when the link is good or bad does not depend on how many packets cross it.
fn fork(stream: &mut Stream) -> Stream {
    Seed(stream.below(u64::MAX)).stream("chain")
}

#[cfg(test)]
mod tests;
