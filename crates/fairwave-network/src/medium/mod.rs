//! Shared media: several link directions that cannot transmit independently of each other, such as the stations of a Wi-Fi
//! channel or the users of a cell.
//!
//! Each direction of a link that names a medium is a *member*. A medium holds the queues of all its members and decides which
//! of them transmits, when, how many packets at once, and what the air loses. It is a pure state machine: the driver passes
//! arrivals and the time, and reads from [`Happenings`] what became of packets. A delivered packet has crossed the air; the
//! driver adds the link's propagation delay.
//!
//! A law is one file here and one line in `media!`; a program adds its own by [`register`].
//!
//! **Assumptions.** A packet belongs to its member until it is delivered, dropped or lost, exactly one of which happens to
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
use fairwave_units::registry::{Checked, Law, NameTaken, Registry, RuntimeLaw, delegate, family, files, laws};
use fairwave_units::units::{Bytes, Instant, Rate};

/// All laws of shared media, in the order in which they are listed to people: a file, and within braces the names that it
/// gives, each with its parameters.
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
    /// Where its packets wait, as the link says; laws with queues of their own say which parts they use.
    pub queue: QueueConfig,
}

/// What became of packets in a call.
#[derive(Default)]
pub struct Happenings {
    /// Transmission of a packet began for the first time: it has left its member's queue. In order.
    pub begun: Vec<Begun>,
    /// Packets that have crossed the air now, with their members, in the order in which they go on.
    pub delivered: Vec<(usize, Packet)>,
    /// Packets that the queue of a member has dropped.
    pub dropped: Vec<(usize, Packet, DropReason)>,
    /// Packets that the air has lost for good.
    pub lost: Vec<(usize, Packet)>,
}

/// A packet that has left its member's queue.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    /// The member.
    pub member: usize,
    /// The packet.
    pub packet: Packet,
    /// Since when it had waited.
    pub since: Instant,
    /// The queue has marked it.
    pub marked: bool,
}

impl Happenings {
    /// Nothing is left to be read.
    pub fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.delivered.is_empty() && self.dropped.is_empty() && self.lost.is_empty()
    }

    /// Forgets what has been read.
    pub fn clear(&mut self) {
        self.begun.clear();
        self.delivered.clear();
        self.dropped.clear();
        self.lost.clear();
    }
}

/// What a medium has counted of one member since the run began; time as nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemberCounters {
    /// Transmissions on the air (frame exchanges, transport blocks), retries included.
    pub transmissions: u64,
    /// Those that failed, by collision or by noise.
    pub failed: u64,
    /// Those that failed because another transmitted at the same time.
    pub collided: u64,
    /// How long it occupied the medium, all overheads included.
    pub airtime: u64,
    /// Packets that were transmitted, counted once per transmission that carried them.
    pub carried: u64,
}

impl MemberCounters {
    /// What has been counted since the counters were `before`.
    pub fn since(&self, before: &MemberCounters) -> MemberCounters {
        MemberCounters {
            transmissions: self.transmissions - before.transmissions,
            failed: self.failed - before.failed,
            collided: self.collided - before.collided,
            airtime: self.airtime - before.airtime,
            carried: self.carried - before.carried,
        }
    }
}

/// A law at work on one medium.
pub trait Medium: Send {
    /// A packet arrives at the transmitter of a member.
    fn arrive(&mut self, now: Instant, member: usize, packet: Packet, happenings: &mut Happenings);

    /// When [`Medium::on_timer`] must be called; [`Instant::NEVER`] while nothing waits and nothing is on the air.
    fn deadline(&self) -> Instant;

    /// The deadline has come. The next one is later than `now`.
    fn on_timer(&mut self, now: Instant, happenings: &mut Happenings);

    /// Packets of a member that wait in its queue: not begun, not dropped.
    fn waiting(&self, member: usize) -> u32;

    /// Packets of a member that have arrived and were neither delivered nor dropped nor lost.
    fn held(&self, member: usize) -> u32;

    /// Gives all packets that it holds with their members, in any order, when a run is over; nothing else is asked of it afterwards.
    fn empty(&mut self, now: Instant, given: &mut Vec<(usize, Packet)>);

    /// What it has counted of a member.
    fn counters(&self, member: usize) -> MemberCounters;

    /// The most bytes on the wire that a member could have moved until `to` if the medium had been its own: the whole that a
    /// utilisation is a part of.
    fn capacity(&self, member: usize, from: Instant, to: Instant) -> Bytes;
}

/// The parameters of a medium's law, and how it is made.
pub trait MediumLaw: Law {
    /// The law at work.
    type Medium: Medium + 'static;

    /// The law at work for these members, of which there is at least one. `streams` makes a named random stream; all
    /// randomness comes from such streams.
    ///
    /// # Errors
    /// What [`Checked::check`] refuses, and members that do not fit: a station that no link has, two access points.
    fn medium(&self, members: &[Member], streams: &dyn Fn(&str) -> Stream) -> Result<Self::Medium, ConfigError>;

    /// The rate of a member alone on the medium, for buffers, queue disciplines and the cost of a run. Above zero.
    fn nominal(&self, member: &Member) -> Rate;
}

/// What the family asks of a law that a program handed in.
pub trait AnyMediumLaw: Checked + Send + Sync {
    /// See [`MediumLaw::medium`].
    ///
    /// # Errors
    /// As there.
    fn any_medium(&self, members: &[Member], streams: &dyn Fn(&str) -> Stream) -> Result<Box<dyn Medium>, ConfigError>;
    /// See [`MediumLaw::nominal`].
    fn any_nominal(&self, member: &Member) -> Rate;
}

impl<L: MediumLaw> AnyMediumLaw for L {
    fn any_medium(&self, members: &[Member], streams: &dyn Fn(&str) -> Stream) -> Result<Box<dyn Medium>, ConfigError> {
        Ok(Box::new(self.medium(members, streams)?))
    }
    fn any_nominal(&self, member: &Member) -> Rate {
        self.nominal(member)
    }
}

static OWN: Registry<dyn AnyMediumLaw> = Registry::new();

/// Hands in a law of the program's own, which scenarios then name like any other: `access = { law = "…", … }`.
///
/// # Errors
/// When there is a law of that name.
pub fn register<L: MediumLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(MediumConfig::WHAT, MediumConfig::BUILT_IN, |law| Arc::new(law))
}

/// Hands in a law that was made while the program runs: see [`Registry::give`].
///
/// # Errors
/// When the name is taken.
pub fn give(given: RuntimeLaw<dyn AnyMediumLaw>) -> Result<(), NameTaken> {
    OWN.give(MediumConfig::WHAT, MediumConfig::BUILT_IN, given)
}

media! { laws! (family! (MediumConfig, "law", "shared medium", dyn AnyMediumLaw, OWN)) }

/// The laws at work, by value: a call costs a jump.
macro_rules! at_work {
    (() $($Variant:ident($Law:ty)),+ $(,)?) => {
        /// A medium at work.
        pub struct SharedMedium(ActiveMedium);

        #[allow(clippy::large_enum_variant)] // a run has few of them, and they stay where they are
        enum ActiveMedium {
            $($Variant(<$Law as MediumLaw>::Medium),)+
            Own(Box<dyn Medium>),
        }

        impl SharedMedium {
            /// The law that `config` describes.
            ///
            /// # Errors
            /// As [`MediumLaw::medium`].
            pub fn new(
                config: &MediumConfig,
                members: &[Member],
                streams: &dyn Fn(&str) -> Stream,
            ) -> Result<Self, ConfigError> {
                config.check()?;
                Ok(SharedMedium(match config {
                    $(MediumConfig::$Variant(law) => ActiveMedium::$Variant(law.medium(members, streams)?),)+
                    MediumConfig::Own(own) => ActiveMedium::Own(own.law().any_medium(members, streams)?),
                }))
            }
        }

        impl ActiveMedium {
            delegate! {
                [ActiveMedium $($Variant)+ Own]
                fn arrive(&mut self, now: Instant, member: usize, packet: Packet, happenings: &mut Happenings);
                fn deadline(&self) -> Instant;
                fn on_timer(&mut self, now: Instant, happenings: &mut Happenings);
                fn waiting(&self, member: usize) -> u32;
                fn held(&self, member: usize) -> u32;
                fn empty(&mut self, now: Instant, given: &mut Vec<(usize, Packet)>);
                fn counters(&self, member: usize) -> MemberCounters;
                fn capacity(&self, member: usize, from: Instant, to: Instant) -> Bytes;
            }
        }

        impl MediumConfig {
            /// See [`MediumLaw::nominal`].
            pub fn nominal(&self, member: &Member) -> Rate {
                match self {
                    $(MediumConfig::$Variant(law) => law.nominal(member),)+
                    MediumConfig::Own(own) => own.law().any_nominal(member),
                }
            }
        }
    };
}

media! { laws! (at_work! ()) }

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

    /// See [`Medium::empty`].
    pub fn empty(&mut self, now: Instant, given: &mut Vec<(usize, Packet)>) {
        self.0.empty(now, given);
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

/// Gives all packets that wait in the queue of a member, when a run is over: what the discipline drops on the way, too.
pub fn empty_queue(queue: &mut LinkQueue, member: usize, mut now: Instant, given: &mut Vec<(usize, Packet)>) {
    let mut drops = Vec::new();
    while queue.packets() > 0 {
        let before = queue.packets();
        let departing = queue.depart(now, &mut drops);
        given.extend(
            departing.into_iter().chain(drops.drain(..).map(|(packet, _)| packet)).map(|packet| (member, packet)),
        );
        if queue.packets() == before {
            // A discipline that shapes gives nothing before its time.
            let due = queue.held_until();
            if due <= now || due == Instant::NEVER {
                return;
            }
            now = due;
        }
    }
}

/// Refuses a value of a key that is not from `low` to `high`.
fn within<T: PartialOrd + std::fmt::Display>(
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
