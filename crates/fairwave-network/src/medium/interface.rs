//! The interface between a shared medium and its driver: members, outcomes of packets, counters, and the trait of a
//! running law.

use crate::packet::Packet;
use crate::queue::{DropReason, LinkQueue, QueueConfig};
use fairwave_units::config::ConfigError;
use fairwave_units::registry::running_trait;
use fairwave_units::units::{Bytes, Instant};

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
pub struct MediumOutcomes {
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

impl MediumOutcomes {
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
        fn arrive(&mut self, now: Instant, member: usize, packet: Packet, outcomes: &mut MediumOutcomes);

        /// Time of the next [`Medium::on_timer`] call; [`Instant::NEVER`] if no packet waits and the air is idle.
        fn deadline(&self) -> Instant;

        /// Called at the deadline. The next deadline is later than `now`.
        fn on_timer(&mut self, now: Instant, outcomes: &mut MediumOutcomes);

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

/// Appends all packets in the queue of a member at the end of a run, including those that the discipline drops.
pub fn drain_queue(queue: &mut LinkQueue, member: usize, mut now: Instant, given: &mut Vec<(usize, Packet)>) {
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
pub(super) fn check_range<T: PartialOrd + std::fmt::Display>(
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
