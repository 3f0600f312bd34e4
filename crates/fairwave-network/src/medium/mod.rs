//! Shared media: several link directions that cannot transmit independently of each other, such as the stations of a Wi-Fi
//! channel or the users of a cell.
//!
//! Each direction of a link that names a medium is a *member*. A medium holds the queues of all its members. It decides
//! which member transmits when, with how many packets, and which packets the air loses. It is a pure state machine: the
//! driver passes arrivals and the time, and reads the outcomes from [`Happenings`]. A delivered packet has crossed the air;
//! the driver adds the link's propagation delay.
//!
//! A law is one file here and one line in `media!`; a program adds custom laws by [`register`].
//!
//! **Assumptions.** A packet belongs to its member until it is delivered, dropped or lost. Exactly one of these happens to
//! it: arrivals = delivered + dropped + lost + [`Medium::held`]. Time does not decrease from call to call.

mod cell;
#[cfg(test)]
mod driving;
mod half_duplex;
mod wifi;

use std::sync::Arc;

use crate::packet::Packet;
use crate::queue::{DropReason, LinkQueue, QueueConfig};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{NameTaken, Registry, family, files, law_trait, laws, running_trait};
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
pub use wifi::{
    WifiAggregation, WifiBand, WifiCategories, WifiCategory, WifiChannel, WifiMapping, WifiPathLoss, WifiQueues,
    WifiRateControl, WifiStandard, WifiStation,
};

/// One direction of a link that uses a medium.
#[derive(Clone, Debug)]
pub struct Member {
    /// Name of the link direction, for errors and random streams.
    pub name: String,
    /// Name of the node that transmits.
    pub from: String,
    /// Name of the node that receives.
    pub to: String,
    /// Its queue from the link's configuration. A law with separate queues documents the parts that it uses.
    pub queue: QueueConfig,
}

/// Outcomes of packets in a call.
#[derive(Default)]
pub struct Happenings {
    /// First transmissions that began, in order: the packets have left their members' queues.
    pub begun: Vec<Begun>,
    /// Packets that have now crossed the air, with their members, in the order of forwarding.
    pub delivered: Vec<(usize, Packet)>,
    /// Packets that a member's queue has dropped.
    pub dropped: Vec<(usize, Packet, DropReason)>,
    /// Packets that the air has lost permanently.
    pub lost: Vec<(usize, Packet)>,
}

/// A packet that has left its member's queue.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    /// The member.
    pub member: usize,
    /// The packet.
    pub packet: Packet,
    /// Time at which it joined the queue.
    pub since: Instant,
    /// Whether the queue has marked it.
    pub marked: bool,
}

impl Happenings {
    /// Whether no outcomes are left to read.
    pub fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.delivered.is_empty() && self.dropped.is_empty() && self.lost.is_empty()
    }

    /// Removes all outcomes.
    pub fn clear(&mut self) {
        self.begun.clear();
        self.delivered.clear();
        self.dropped.clear();
        self.lost.clear();
    }
}

/// Counters of one member since the start of the run; times in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemberCounters {
    /// Transmissions on the air (frame exchanges, transport blocks), including retries.
    pub transmissions: u64,
    /// Transmissions that failed, by collision or by noise.
    pub failed: u64,
    /// Transmissions that failed because another node transmitted at the same time.
    pub collided: u64,
    /// Time for which it occupied the medium, including all overheads.
    pub airtime: u64,
    /// Packets transmitted, counted once per transmission.
    pub carried: u64,
}

impl MemberCounters {
    /// The counts since the counters were `before`.
    pub fn difference(&self, before: &MemberCounters) -> MemberCounters {
        MemberCounters {
            transmissions: self.transmissions - before.transmissions,
            failed: self.failed - before.failed,
            collided: self.collided - before.collided,
            airtime: self.airtime - before.airtime,
            carried: self.carried - before.carried,
        }
    }
}

running_trait! { ($)
    /// A running law of one medium.
    pub trait Medium, delegated by delegate_medium {
        /// Handles the arrival of a packet at the transmitter of a member.
        fn arrive(&mut self, now: Instant, member: usize, packet: Packet, happenings: &mut Happenings);

        /// Time of the next [`Medium::on_timer`] call; [`Instant::NEVER`] if no packet waits and the air is idle.
        fn deadline(&self) -> Instant;

        /// Called at the deadline. The next deadline is later than `now`.
        fn on_timer(&mut self, now: Instant, happenings: &mut Happenings);

        /// Packets in the queue of a member: neither transmitted nor dropped.
        fn waiting(&self, member: usize) -> u32;

        /// Packets of a member that have arrived and were not delivered, dropped or lost.
        fn held(&self, member: usize) -> u32;

        /// Appends all held packets with their members, in any order, at the end of a run. No other call follows.
        fn drain(&mut self, now: Instant, given: &mut Vec<(usize, Packet)>);

        /// Counters of a member.
        fn counters(&self, member: usize) -> MemberCounters;

        /// Bytes on the wire that a member could have moved from `from` to `to` with the medium to itself: the denominator of
        /// its utilisation.
        fn capacity(&self, member: usize, from: Instant, to: Instant) -> Bytes;
    }
}

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
        /// A running medium.
        pub struct SharedMedium(ActiveMedium);

        #[allow(clippy::large_enum_variant)] // a run has few of them, and they stay where they are
        enum ActiveMedium {
            $($Variant(<$Law as MediumLaw>::Medium),)+
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
                Ok(SharedMedium(match config {
                    $(MediumConfig::$Variant(law) => ActiveMedium::$Variant(MediumLaw::medium(law, members, streams)?),)+
                    MediumConfig::Registered(law) => ActiveMedium::Registered(law.law().medium(members, streams)?),
                }))
            }
        }

        delegate_medium! { ActiveMedium $($Variant)+ Registered }
    };
}

media! { laws! (dispatch! ()) }

impl SharedMedium {
    /// See [`Medium::arrive`].
    pub fn arrive(&mut self, now: Instant, member: usize, packet: Packet, happenings: &mut Happenings) {
        self.0.arrive(now, member, packet, happenings);
    }

    /// See [`Medium::deadline`].
    pub fn deadline(&self) -> Instant {
        self.0.deadline()
    }

    /// See [`Medium::on_timer`].
    pub fn on_timer(&mut self, now: Instant, happenings: &mut Happenings) {
        self.0.on_timer(now, happenings);
    }

    /// See [`Medium::waiting`].
    pub fn waiting(&self, member: usize) -> u32 {
        self.0.waiting(member)
    }

    /// See [`Medium::held`].
    pub fn held(&self, member: usize) -> u32 {
        self.0.held(member)
    }

    /// See [`Medium::drain`].
    pub fn drain(&mut self, now: Instant, given: &mut Vec<(usize, Packet)>) {
        self.0.drain(now, given);
    }

    /// See [`Medium::counters`].
    pub fn counters(&self, member: usize) -> MemberCounters {
        self.0.counters(member)
    }

    /// See [`Medium::capacity`].
    pub fn capacity(&self, member: usize, from: Instant, to: Instant) -> Bytes {
        self.0.capacity(member, from, to)
    }
}

/// Appends all packets in the queue of a member at the end of a run, including those that the discipline drops.
pub fn empty_queue(queue: &mut LinkQueue, member: usize, mut now: Instant, given: &mut Vec<(usize, Packet)>) {
    let mut drops = Vec::new();
    while queue.packets() > 0 {
        let before = queue.packets();
        let departing = queue.depart(now, &mut drops);
        given.extend(
            departing.into_iter().chain(drops.drain(..).map(|(packet, _)| packet)).map(|packet| (member, packet)),
        );
        if queue.packets() == before {
            // A discipline that shapes releases nothing before this time.
            let due = queue.held_until();
            if due <= now || due == Instant::NEVER {
                return;
            }
            now = due;
        }
    }
}

/// Rejects a value that is not in `low` to `high`.
fn check_range<T: PartialOrd + std::fmt::Display>(
    key: &str,
    value: T,
    low: T,
    high: T,
    example: &str,
) -> Result<(), ConfigError> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(ConfigError::new(key, &value, format!("{low} to {high}"), example))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_in_range_and_read_as_it_is_written() {
        for example in MediumConfig::examples() {
            let law: MediumConfig =
                serde_json::from_value(example.clone()).unwrap_or_else(|error| panic!("{example}: {error}"));
            law.check().unwrap_or_else(|error| panic!("{example}: {error}"));
            let written = serde_json::to_value(&law).expect("a table");
            assert_eq!(serde_json::from_value::<MediumConfig>(written).expect("a medium"), law);
        }
    }
}
