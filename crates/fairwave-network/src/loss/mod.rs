//! How links lose packets for reasons other than congestion.
//!
//! The link asks its loss model once per packet, in the order in which packets leave, and the model answers whether the
//! packet is lost. Each direction of a link has its own model and its own random stream, so both directions lose
//! independently.
//!
//! A model is one file here and one line in `models!`; a program adds its own by [`register`].

mod bernoulli;
mod blackout;
mod chain;
mod gilbert;
mod handoff;
mod lossless;
mod markov;
mod pattern;
mod rounds;
mod schedule;

use std::sync::Arc;

use crate::packet::Packet;
use fairwave_units::config::ConfigError;
use fairwave_units::random::{Seed, Stream};
use fairwave_units::registry::{Checked, Law, NameTaken, Registry, RuntimeLaw, delegate, family, files, laws};
use fairwave_units::units::{Instant, Span};

/// All loss models, in the order in which they are listed to people: a file, and within braces the names that it gives, each
/// with its parameters.
macro_rules! models {
    ($then:ident! $arguments:tt) => {
        $then! { $arguments
            lossless { None(LosslessConfig) }
            bernoulli { Bernoulli(BernoulliConfig) }
            rounds { Rounds(RoundsConfig) }
            gilbert { Gilbert(GilbertConfig) }
            markov { Markov(MarkovConfig) }
            handoff { Handoff(HandoffConfig) }
            blackout { Blackout(BlackoutConfig) }
            pattern { Pattern(PatternConfig) }
            schedule { Schedule(LossScheduleConfig) }
        }
    };
}

models! { files! () }

/// A link's loss at work.
pub trait LossModel: Send {
    /// True when the packet that leaves the link at `now` is lost. `now` does not decrease from call to call.
    fn lost(&mut self, now: Instant, packet: &Packet) -> bool;
}

/// The parameters of a loss model, and how it is made.
pub trait LossLaw: Law {
    /// The model at work.
    type Model: LossModel + 'static;

    /// True when it never loses a packet, so that links skip the call.
    const NEVER: bool = false;

    /// The model; all its randomness comes from `stream`. The parameters have been checked.
    ///
    /// # Errors
    /// What [`Checked::check`] refuses.
    fn model(&self, stream: Stream) -> Result<Self::Model, ConfigError>;

    /// How long the model stays in a state and the next one together, on average, if it changes its state by itself: what
    /// a run costs is estimated by it.
    fn cycle(&self) -> Option<Span> {
        None
    }
}

/// What a family asks of a model that a program handed in.
pub trait AnyLossLaw: Checked + Send + Sync {
    /// See [`LossLaw::model`].
    ///
    /// # Errors
    /// What [`Checked::check`] refuses.
    fn any_model(&self, stream: Stream) -> Result<Box<dyn LossModel>, ConfigError>;
    /// See [`LossLaw::cycle`].
    fn any_cycle(&self) -> Option<Span>;
}

impl<L: LossLaw> AnyLossLaw for L {
    fn any_model(&self, stream: Stream) -> Result<Box<dyn LossModel>, ConfigError> {
        Ok(Box::new(self.model(stream)?))
    }
    fn any_cycle(&self) -> Option<Span> {
        self.cycle()
    }
}

static OWN: Registry<dyn AnyLossLaw> = Registry::new();

/// Hands in a loss model of the program's own, which scenarios then name like any other.
///
/// # Errors
/// When there is a model of that name.
pub fn register<L: LossLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(LossConfig::WHAT, LossConfig::BUILT_IN, |law| Arc::new(law))
}

/// Hands in a loss model that was made while the program runs: see [`Registry::give`].
///
/// # Errors
/// When the name is taken.
pub fn give(given: RuntimeLaw<dyn AnyLossLaw>) -> Result<(), NameTaken> {
    OWN.give(LossConfig::WHAT, LossConfig::BUILT_IN, given)
}

models! { laws! (family! (LossConfig, "model", "loss model", dyn AnyLossLaw, OWN)) }

impl Default for LossConfig {
    /// A link that loses nothing.
    fn default() -> Self {
        LossConfig::None(LosslessConfig {})
    }
}

/// The models at work, by value: a call costs a jump.
macro_rules! at_work {
    (() $($Variant:ident($Law:ty)),+ $(,)?) => {
        enum ActiveLossModel {
            $($Variant(<$Law as LossLaw>::Model),)+
            Own(Box<dyn LossModel>),
        }

        impl ActiveLossModel {
            fn new(config: &LossConfig, stream: Stream) -> Result<Self, ConfigError> {
                Ok(match config {
                    $(LossConfig::$Variant(law) => ActiveLossModel::$Variant(law.model(stream)?),)+
                    LossConfig::Own(own) => ActiveLossModel::Own(own.law().any_model(stream)?),
                })
            }

            delegate! {
                [ActiveLossModel $($Variant)+ Own]
                #[inline]
                fn lost(&mut self, now: Instant, packet: &Packet) -> bool;
            }
        }

        impl LossConfig {
            /// True when the model never loses a packet, so that links skip the call.
            pub fn is_none(&self) -> bool {
                match self {
                    $(LossConfig::$Variant(_) => <$Law as LossLaw>::NEVER,)+
                    LossConfig::Own(_) => false,
                }
            }

            /// See [`LossLaw::cycle`].
            pub fn cycle(&self) -> Option<Span> {
                match self {
                    $(LossConfig::$Variant(law) => law.cycle(),)+
                    LossConfig::Own(own) => own.law().any_cycle(),
                }
            }
        }
    };
}

models! { laws! (at_work! ()) }

/// A link's loss.
pub struct Loss(ActiveLossModel);

impl Loss {
    /// The model that `config` describes; all its randomness comes from `stream`.
    ///
    /// # Errors
    /// When [`LossConfig::check`] refuses the configuration.
    pub fn new(config: &LossConfig, stream: Stream) -> Result<Self, ConfigError> {
        config.check()?;
        ActiveLossModel::new(config, stream).map(Loss)
    }

    /// True when the packet that leaves the link at `now` is lost. `now` must not decrease from call to call.
    #[inline]
    pub fn lost(&mut self, now: Instant, packet: &Packet) -> bool {
        self.0.lost(now, packet)
    }
}

/// A stream of its own for the chain, so that when the link is good or bad does not depend on how many packets cross it.
fn fork(stream: &mut Stream) -> Stream {
    Seed(stream.below(u64::MAX)).stream("chain")
}

#[cfg(test)]
mod tests;
