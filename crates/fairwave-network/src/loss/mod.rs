//! Losses on links for reasons other than congestion.
//!
//! The link queries its loss model once per packet, in the order in which packets leave; the model returns whether the
//! packet is lost. Each direction of a link has a separate model and random stream, so both directions lose independently.
//!
//! A model is one file here and one line in `models!`. A program adds custom models by [`register`].

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
use fairwave_units::registry::{NameTaken, Registry, RuntimeLaw, family, files, law_trait, laws, running_trait};
use fairwave_units::source::sources;
use fairwave_units::units::{Instant, Span};

/// All loss models, in the order of user-visible lists. Each entry is a file and, in braces, the exported names, each with
/// its parameters.
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

running_trait! { ($)
    /// A running loss model of one link direction.
    pub trait LossModel, delegated by delegate_loss_model {
        /// Returns true if the packet that leaves the link at `now` is lost. `now` never decreases from call to call.
        fn lost(&mut self, now: Instant, packet: &Packet) -> bool;
    }
}

law_trait! {
    /// The parameters of a loss model, and its constructor.
    pub trait LossLaw, erased AnyLossLaw, for LossConfig {
        /// Type of the running model.
        type Model: LossModel;

        /// True if the model never loses a packet, so that links skip the call.
        const NEVER: bool = false, asked by is_none;

        /// Returns the model; `stream` provides all its randomness. The parameters have been checked.
        ///
        /// # Errors
        /// The errors of [`Checked::check`](fairwave_units::registry::Checked::check).
        fn model(&self, stream: Stream) -> Result<Self::Model, ConfigError>,
            boxed: Result<Box<dyn LossModel>, ConfigError> = |made| Ok(Box::new(made?));

        /// Mean time of one sojourn in each state together, if the model changes its state over time. The cost estimate
        /// of a run uses it.
        fn cycle(&self) -> Option<Span> {
            None
        }
    }
}

static OWN: Registry<dyn AnyLossLaw> = Registry::new();

/// Registers a custom loss model. Scenarios then name it like any other.
///
/// # Errors
/// If a model has this name already.
pub fn register<L: LossLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(LossConfig::WHAT, LossConfig::BUILT_IN, |law| Arc::new(law))
}

/// Registers a loss model that was built at run time: see [`Registry::add_runtime`].
///
/// # Errors
/// If the name is taken.
pub fn register_runtime(law: RuntimeLaw<dyn AnyLossLaw>) -> Result<(), NameTaken> {
    OWN.add_runtime(LossConfig::WHAT, LossConfig::BUILT_IN, law)
}

models! { laws! (family! (LossConfig, "model", "loss model", dyn AnyLossLaw, OWN)) }

impl Default for LossConfig {
    /// The default: no losses.
    fn default() -> Self {
        LossConfig::None(LosslessConfig {})
    }
}

/// Running models, stored by value, so that a call is a jump instead of a virtual call.
macro_rules! dispatch {
    (() $($Variant:ident($Law:ty)),+ $(,)?) => {
        enum ActiveLossModel {
            $($Variant(<$Law as LossLaw>::Model),)+
            Registered(Box<dyn LossModel>),
        }

        impl ActiveLossModel {
            fn new(config: &LossConfig, stream: Stream) -> Result<Self, ConfigError> {
                Ok(match config {
                    $(LossConfig::$Variant(law) => ActiveLossModel::$Variant(LossLaw::model(law, stream)?),)+
                    LossConfig::Registered(law) => ActiveLossModel::Registered(law.law().model(stream)?),
                })
            }
        }

        delegate_loss_model! { ActiveLossModel $($Variant)+ Registered }
    };
}

models! { laws! (dispatch! ()) }

models! { sources! (LossConfig, "crates/fairwave-network/src/loss/", ["fn lost(&mut self"]) }

/// The losses of one link direction.
pub struct Loss(ActiveLossModel);

impl Loss {
    /// Returns the model for `config`; `stream` provides all its randomness.
    ///
    /// # Errors
    /// If [`LossConfig::check`] rejects the configuration.
    pub fn new(config: &LossConfig, stream: Stream) -> Result<Self, ConfigError> {
        config.check()?;
        ActiveLossModel::new(config, stream).map(Loss)
    }

    /// Returns true if the packet that leaves the link at `now` is lost. `now` must not decrease from call to call.
    #[inline]
    pub fn lost(&mut self, now: Instant, packet: &Packet) -> bool {
        self.0.lost(now, packet)
    }
}

/// Returns a separate stream for the chain, so that its states do not depend on the number of packets.
fn fork(stream: &mut Stream) -> Stream {
    Seed(stream.uniform_below(u64::MAX)).stream("chain")
}

#[cfg(test)]
mod tests;
