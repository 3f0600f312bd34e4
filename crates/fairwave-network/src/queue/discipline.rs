//! Interface of a queue discipline. It decides *when* a packet must be dropped and, for some disciplines, also *which*
//! packet.
//!
//! A discipline is one file here and one line in `super::disciplines!`. The file holds the parameters ([`DisciplineLaw`]),
//! with their keys, ranges and documentation, and the running discipline ([`Discipline`]). Capacity and victim rule belong
//! to the queue. The line generates the dispatch, the name in scenarios (`discipline = "…"`), the JSON Schema, the entry of
//! `fairwave list`, and the checks. A program that links this crate adds disciplines by [`register`], written in the same
//! way.

use std::sync::Arc;

use super::buffer::{Buffer, Place};
use super::cake::TinStatistics;
use super::class_map::ClassMap;
use super::config::Capacity;
use super::{DisciplineConfig, DropReason};
use crate::packet::Packet;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{NameTaken, RuntimeLaw, law_trait, running_trait};
use fairwave_units::units::{Instant, Rate, Span};

/// Decision of a discipline about an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The arrival may wait, if there is room.
    Admit,
    /// One packet must be dropped; the victim rule chooses it.
    Drop,
    /// The arrival must be dropped, regardless of the victim rule.
    DropArrival,
    /// The arrival signals congestion. If its transport understands marks ([`crate::packet::Ecn::can_be_marked`]), it is
    /// marked and may wait; otherwise as [`Verdict::Drop`].
    Mark,
    /// The arrival and this waiting packet are both dropped.
    DropBoth(Place),
}

/// Context of an arrival. The arrival is not in the buffer yet.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The current time.
    pub now: Instant,
    /// The arriving packet.
    pub packet: &'a Packet,
    /// The waiting packets.
    pub buffer: &'a Buffer,
    /// Time for which the link has had nothing to send since the last query; zero while it sends.
    pub idle: Span,
    /// Whether the buffer has no room for the arrival.
    pub full: bool,
}

/// Context of a change of the link's rate.
#[derive(Clone, Copy, Debug)]
pub struct RateChange<'a> {
    /// Time of the change.
    pub now: Instant,
    /// The new rate; 0 while the link pauses.
    pub rate: Rate,
    /// Time for which the link has had nothing to send, at the old rate, since the last query; zero while it sends.
    pub idle: Span,
    /// The waiting packets.
    pub buffer: &'a Buffer,
}

/// A packet that the queue dropped, for disciplines that follow its drops.
#[derive(Clone, Copy, Debug)]
pub enum QueueDrop<'a> {
    /// The victim rule chose `victim` instead of an `arrival` with verdict [`Verdict::Drop`]. The sizes may differ.
    Exchanged {
        /// The packet that arrived.
        arrival: &'a Packet,
        /// The packet that was dropped.
        victim: &'a Packet,
    },
    /// An arrival found no room.
    Overflow,
    /// [`IntegratedQueue::redundant`] chose a packet of this list.
    Redundant {
        /// Number of the list.
        bin: u32,
    },
}

running_trait! { ($)
    /// A running discipline, for one queue. Every method has a default; together the defaults are drop-tail.
    ///
    /// Time reaches a discipline only through calls, and never decreases from call to call. A law can do periodic work at
    /// the next arrival or departure, for all periods that have ended, if the work has no earlier effect. Only a law that
    /// must act between calls needs a [`Discipline::deadline`].
    pub trait Discipline, delegated by delegate_discipline {
        /// Decides about an arriving packet.
        fn arrive(&mut self, _arrival: &Arrival<'_>, _stream: &mut Stream) -> Verdict {
            Verdict::Admit
        }

        /// Handles an arrival that need not wait: the queue is empty, the link is free, and there is room. If the packet
        /// leaves unchanged, a law can do the work of [`Discipline::arrive`] and [`Discipline::depart`] here in one step.
        /// False means that nothing has changed, and the caller must call both.
        fn pass(&mut self, _now: Instant, _packet: &Packet, _stream: &mut Stream) -> bool {
            false
        }

        /// The list for the arrival, below [`DisciplineLaw::bins`]. Called just before the packet joins the list. If the
        /// buffer is full, the packet may then be dropped immediately.
        fn bin(&mut self, _now: Instant, _packet: &Packet, _buffer: &Buffer) -> u32 {
            0
        }

        /// Handles a drop by the queue.
        fn on_drop(&mut self, _drop: QueueDrop<'_>) {}

        /// The packet to drop, for a discipline that chooses victims ([`Nature::own_victim`]). The arrival is already at
        /// the back.
        fn victim(&mut self, buffer: &Buffer, _stream: &mut Stream) -> Option<Place> {
            buffer.back()
        }

        /// The buffer, including the arrival, exceeds its limit, and no victim rule is set ([`Nature::makes_room`]).
        /// Removes at least one packet and appends it to `drops` as [`DropReason::Overflow`].
        fn make_room(&mut self, _now: Instant, _buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) {}

        /// The link is free: removes the packet to send next from the buffer by [`Buffer::serve`] or
        /// [`Buffer::pop_front`]. Appends all other removed packets to `drops`. Returns `None` only if no packet waits any
        /// more, or before [`IntegratedQueue::held_until`]. A law that signals congestion marks the packet here
        /// ([`Packet::mark`]), if the packet can be marked.
        fn depart(
            &mut self,
            _now: Instant,
            buffer: &mut Buffer,
            _drops: &mut Vec<(Packet, DropReason)>,
        ) -> Option<Packet> {
            buffer.pop_front().map(|(packet, _)| packet)
        }

        /// The link's rate changes. A law that uses the rate first does the work that is due.
        fn on_rate_change(&mut self, _change: &RateChange<'_>) {}

        /// The discipline's measure of congestion, for plots; `None` means the number of waiting packets.
        fn average(&self) -> Option<f64> {
            None
        }

        /// Time of the next [`Discipline::on_timer`] call; [`Instant::NEVER`] if none is needed.
        fn deadline(&self) -> Instant {
            Instant::NEVER
        }

        /// Called at the deadline. Appends removed packets to `drops` and sets the next deadline.
        fn on_timer(&mut self, _now: Instant, _buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) {}

        /// The further interface of a discipline that is more than a queue. Always the same answer.
        fn integrated(&self) -> Option<&dyn IntegratedQueue> {
            None
        }
    }
}

/// Further interface of a discipline that shapes, filters acknowledgements or has tins. CAKE is the only one here.
pub trait IntegratedQueue {
    /// Earliest time of the next departure, even if packets wait and the link is free.
    fn held_until(&self) -> Instant {
        Instant::ZERO
    }

    /// Whether arrivals can make waiting packets redundant. Queried once, for disciplines with lists.
    fn filters(&self) -> bool {
        false
    }

    /// The arrival is at the end of list `bin`. Returns the packet that it makes redundant. The queue drops that packet
    /// and reports [`QueueDrop::Redundant`].
    fn redundant(&self, _bin: u32, _buffer: &Buffer) -> Option<Place> {
        None
    }

    /// Statistics of the tins.
    fn tins(&self, _buffer: &Buffer) -> Vec<TinStatistics> {
        Vec::new()
    }
}

/// Properties of a discipline that do not depend on its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nature {
    /// Whether packets leave in order of arrival.
    pub fifo: bool,
    /// Whether it drops only when the buffer is full and has no state: [`Discipline`] with all defaults.
    pub passive: bool,
    /// Set if the discipline chooses the victim. The text explains why no victim rule applies: `CHOKe drops the arrival`.
    pub own_victim: Option<&'static str>,
    /// Whether it makes room by [`Discipline::make_room`] if no victim rule is set. The default is then no rule.
    pub makes_room: bool,
    /// Whether it queries the buffer by flow: [`Buffer::flow_tally`], [`Buffer::flows`], [`Buffer::front_of_flow`],
    /// [`Buffer::back_of_flow`], [`Buffer::flow_after`].
    pub by_flow: bool,
    /// Whether it needs the end nodes of each flow ([`Buffer::flow_ends`]).
    pub by_host: bool,
    /// Whether it has a separate queue for `ECT(1)`, and expects that `ECT(0)` responds to a mark as to a loss (RFC 9332).
    pub l4s: bool,
}

impl Nature {
    /// First in, first out, with any victim rule.
    pub const FIFO: Nature = Nature {
        fifo: true,
        passive: false,
        own_victim: None,
        makes_room: false,
        by_flow: false,
        by_host: false,
        l4s: false,
    };
}

law_trait! {
    /// The parameters of a discipline, and its constructor.
    pub trait DisciplineLaw, erased AnyDisciplineLaw, for DisciplineConfig {
        /// Type of the running discipline.
        type Discipline: Discipline;

        /// Properties that do not depend on the parameters.
        const NATURE: Nature = Nature::FIFO, asked by nature;

        /// Returns the discipline for a queue of this capacity in front of a link of this rate.
        fn discipline(&self, capacity: Capacity, rate: Rate) -> Self::Discipline,
            boxed: Box<dyn Discipline> = |made| Box::new(made);

        /// Checks parameters against the queue: the buffer's capacity and, once known, the link's rate. Checks that need
        /// neither belong in [`Checked::check`](fairwave_units::registry::Checked::check).
        ///
        /// # Errors
        /// The first key with a value that is not allowed there.
        fn fits(&self, _capacity: Capacity, _rate: Option<Rate>) -> Result<(), ConfigError> {
            Ok(())
        }

        /// A surprising effect of unresponsive traffic on the link, and the remedy. `check` reports it.
        fn caution(&self) -> Option<String> {
            None
        }

        /// Whether it signals congestion by marks, for packets that can be marked.
        fn marks(&self) -> bool {
            false
        }

        /// Number of numbered packet lists in the buffer; 0 for none. The discipline chooses the list of each arrival
        /// ([`Discipline::bin`]).
        fn bins(&self) -> usize {
            0
        }

        /// Number of packet lists allocated at the start. The memory estimate of a scenario uses it.
        fn lists(&self) -> u64 {
            self.bins() as u64
        }

        /// Limit of waiting bytes on the wire, in addition to the buffer's capacity.
        fn memory(&self) -> u64 {
            u64::MAX
        }

        /// Whether the buffer holds one packet beyond its capacity. If true, the buffer is full when the backlog has
        /// reached the capacity, regardless of the arrival's size. If false, the arrival must fit.
        fn reaches_capacity(&self) -> bool {
            false
        }

        /// Classes and scheduler, for a discipline that consists of classes. The result of [`DisciplineLaw::discipline`]
        /// is then not used.
        fn class_map(&self) -> Option<ClassMap> {
            None
        }
    }
}

/// Registers a custom discipline. Scenarios then name it like any other.
///
/// # Errors
/// If a discipline has this name already.
pub fn register<L: DisciplineLaw>() -> Result<(), NameTaken> {
    super::OWN.add::<L>(super::DisciplineConfig::WHAT, super::DisciplineConfig::BUILT_IN, |law| Arc::new(law))
}

/// Registers a discipline that was built at run time: see [`fairwave_units::registry::Registry::add_runtime`].
///
/// # Errors
/// If the name is taken.
pub fn register_runtime(law: RuntimeLaw<dyn AnyDisciplineLaw>) -> Result<(), NameTaken> {
    super::OWN.add_runtime(super::DisciplineConfig::WHAT, super::DisciplineConfig::BUILT_IN, law)
}
