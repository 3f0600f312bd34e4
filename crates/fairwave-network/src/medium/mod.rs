//! Shared media: several link directions that cannot transmit independently of each other, such as the stations of a Wi-Fi
//! channel or the users of a cell.
//!
//! Each direction of a link that names a medium is a *member*. A medium holds the queues of all its members. It decides
//! which member transmits when, with how many packets, and which packets the air loses. It is a pure state machine: the
//! driver passes arrivals and the time, and reads the outcomes from [`MediumOutcomes`]. A delivered packet has crossed the air;
//! the driver adds the link's propagation delay.
//!
//! A law is one file here and one line in `media!`; a program adds custom laws by [`register`].
//!
//! **Assumptions.** A packet belongs to its member until it is delivered, dropped or lost. Exactly one of these happens to
//! it: arrivals = delivered + dropped + lost + [`Medium::held`]. Time does not decrease from call to call.

mod cell;
#[cfg(test)]
mod driving;
mod fading;
mod half_duplex;
#[macro_use]
mod interface;
mod wifi;

use std::sync::Arc;

use crate::packet::Packet;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{NameTaken, Registry, family, files, law_trait, laws};
use fairwave_units::units::{Bytes, Instant, Rate};

/// All laws of shared media, in the order of user-visible lists. Each entry is a file and, in braces, the exported names,
/// each with its parameters.
macro_rules! media {
    ($then:ident! $arguments:tt) => {
        $then! { $arguments
            half_duplex { HalfDuplex(HalfDuplexConfig) }
            cell { Cell(CellConfig) }
            wifi { Wifi(WifiConfig) }
        }
    };
}

media! { files! () }

pub use cell::{
    CellScheduler, CellUserConfig, ChannelConfig, CqiTable, DrxConfig, HandoffBuffer, HandoffEvent, HarqConfig,
    RlcConfig, RlcMode, UplinkConfig,
};
pub use interface::{Begun, Medium, MediumOutcomes, Member, MemberCounters, drain_queue};
pub use wifi::{
    WifiAggregation, WifiBand, WifiCategories, WifiCategory, WifiChannel, WifiMapping, WifiPathLoss, WifiQueues,
    WifiRateControl, WifiStandard, WifiStation,
};

law_trait! {
    /// The parameters of a medium's law, and its constructor.
    pub trait MediumLaw, erased AnyMediumLaw, for MediumConfig {
        /// Type of the running law.
        type Medium: Medium;

        /// Returns the running law for these members, at least one. `streams` returns a random stream by name; such streams
        /// provide all randomness.
        ///
        /// # Errors
        /// The errors of [`Checked::check`], and members that do not fit: a station without a link, two access points.
        fn medium(&self, members: &[Member], streams: &dyn Fn(&str) -> Stream) -> Result<Self::Medium, ConfigError>,
            boxed: Result<Box<dyn Medium>, ConfigError> = |made| Ok(Box::new(made?));

        /// Rate of a member alone on the medium, above zero. Buffers, queue disciplines and the cost estimate of a run use it.
        fn nominal(&self, member: &Member) -> Rate;
    }
}

static OWN: Registry<dyn AnyMediumLaw> = Registry::new();

/// Registers a custom law. Scenarios then name it like any other: `access = { law = "…", … }`.
///
/// # Errors
/// If a law has this name already.
pub fn register<L: MediumLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(MediumConfig::WHAT, MediumConfig::BUILT_IN, |law| Arc::new(law))
}

media! { laws! (family! (MediumConfig, "law", "shared medium", dyn AnyMediumLaw, OWN)) }

/// Running laws, stored by value, so that a call is a jump instead of a virtual call.
macro_rules! dispatch {
    (() $($Variant:ident($Law:ty)),+ $(,)?) => {
        /// Any running medium.
        #[allow(clippy::large_enum_variant)] // a run has few of them, and they stay where they are
        #[allow(missing_docs)] // the laws' parameters are documented
        pub enum SharedMedium {
            $($Variant(<$Law as MediumLaw>::Medium),)+
            /// A registered law.
            Registered(Box<dyn Medium>),
        }

        impl SharedMedium {
            /// Returns the law for `config`.
            ///
            /// # Errors
            /// See [`MediumLaw::medium`].
            pub fn new(
                config: &MediumConfig,
                members: &[Member],
                streams: &dyn Fn(&str) -> Stream,
            ) -> Result<Self, ConfigError> {
                config.check()?;
                Ok(match config {
                    $(MediumConfig::$Variant(law) => SharedMedium::$Variant(MediumLaw::medium(law, members, streams)?),)+
                    MediumConfig::Registered(law) => SharedMedium::Registered(law.law().medium(members, streams)?),
                })
            }
        }

        delegate_medium! { SharedMedium $($Variant)+ Registered }
    };
}

media! { laws! (dispatch! ()) }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_in_range_and_survive_a_round_trip() {
        for example in MediumConfig::examples() {
            let law: MediumConfig =
                serde_json::from_value(example.clone()).unwrap_or_else(|error| panic!("{example}: {error}"));
            law.check().unwrap_or_else(|error| panic!("{example}: {error}"));
            let written = serde_json::to_value(&law).expect("a table");
            assert_eq!(serde_json::from_value::<MediumConfig>(written).expect("a medium"), law);
        }
    }
}
