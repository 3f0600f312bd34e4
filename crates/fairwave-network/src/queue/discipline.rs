//! What a queue discipline is: the law that says *when* a packet must go and, where it must say so itself, *which*.
//!
//! A discipline is one file here and one line in [`super::disciplines!`]: its parameters ([`DisciplineLaw`]), with their own keys,
//! ranges and documentation, and the law at work ([`Discipline`]). Capacity and victim rule belong to the queue. From
//! the line follow dispatch, its name in scenarios (`discipline = "…"`), the JSON Schema, what `fairwave list` says, and
//! the checks. A program that links this crate hands in its own by [`register`]; it is written in exactly the same way.

use std::sync::Arc;

use super::DropReason;
use super::buffer::{Buffer, Place};
use super::cake::TinStatistics;
use super::class_map::ClassMap;
use super::config::Capacity;
use crate::packet::Packet;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law, NameTaken, RuntimeLaw};
use fairwave_units::units::{Instant, Rate, Span};

/// What a discipline says of an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It may wait, if there is room.
    Admit,
    /// One packet must go; the victim rule says which.
    Drop,
    /// The arrival must go, whatever the victim rule.
    DropArrival,
    /// The arrival is to tell of congestion: it is marked and may wait, if its transport understands marks
    /// ([`crate::packet::Ecn::can_be_marked`]); else as [`Verdict::Drop`].
    Mark,
    /// The arrival goes, and so does this one that waits.
    DropBoth(Place),
}

/// What a discipline sees when a packet arrives. The arrival is not in the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The time.
    pub now: Instant,
    /// What arrives.
    pub packet: &'a Packet,
    /// What waits.
    pub buffer: &'a Buffer,
    /// How long the link has had nothing to send, since it was last asked; zero while it sends.
    pub idle: Span,
    /// The buffer has no room for the arrival.
    pub full: bool,
}

/// What a discipline sees when the link's rate becomes another.
#[derive(Clone, Copy, Debug)]
pub struct RateChange<'a> {
    /// When.
    pub now: Instant,
    /// The rate from then on; 0 while the link pauses.
    pub rate: Rate,
    /// How long the link has had nothing to send, at the rate before, since it was last asked; zero while it sends.
    pub idle: Span,
    /// What waits.
    pub buffer: &'a Buffer,
}

/// A discipline at work, for one queue. Every method but those that it needs may be left as it is: what remains drops
/// when full.
///
/// Time only comes with the calls, and does not decrease from call to call. A law with periodic work does it at the
/// next arrival or departure, for all periods that have ended, if the work has no effect before then. Only a law that
/// must act in between needs a [`Discipline::deadline`].
pub trait Discipline: Send {
    /// A packet arrives.
    fn arrive(&mut self, _arrival: &Arrival<'_>, _stream: &mut Stream) -> Verdict {
        Verdict::Admit
    }

    /// In the place of an arrival that was to be dropped the victim rule chose `victim`, which may be another size.
    fn exchanged(&mut self, _arrival: &Packet, _victim: &Packet) {}

    /// An arrival found no room, and for that a packet was dropped.
    fn overflowed(&mut self) {}

    /// The buffer holds one packet beyond its capacity: it is full when the backlog has reached the capacity, whatever the
    /// size of what arrives. Otherwise what arrives must fit.
    fn reaches_capacity(&self) -> bool {
        false
    }

    /// How many lists of packets it has, told apart by number; none if 0. Asked once, before anything arrives.
    fn bins(&self) -> usize {
        0
    }

    /// Into which of its lists the arrival goes, below [`Discipline::bins`]. Asked just before the packet is put there; it may be
    /// dropped again at once, where the buffer is full.
    fn bin(&mut self, _now: Instant, _packet: &Packet, _buffer: &Buffer) -> u32 {
        0
    }

    /// It drops packets that wait because of what arrives ([`Discipline::filter`]). Asked once, of disciplines with lists.
    fn filters(&self) -> bool {
        false
    }

    /// The arrival waits at the end of a list. Removes what it makes redundant, and appends it to `drops`; the arrival stays.
    fn filter(&mut self, _bin: u32, _buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) {}

    /// Bytes on the wire that may wait, besides what the buffer's capacity allows. Asked once.
    fn memory(&self) -> u64 {
        u64::MAX
    }

    /// The buffer holds more than it may, the arrival included, and no victim rule was given ([`Nature::makes_room`]). Removes what it
    /// chooses, at least a packet, and appends it to `drops` as [`DropReason::Overflow`].
    fn make_room(&mut self, _now: Instant, _buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) {}

    /// Nothing leaves before this, even where packets wait and the link is free: of a discipline that keeps a rate of its own.
    fn held_until(&self) -> Instant {
        Instant::ZERO
    }

    /// Between which nodes each flow goes, by its number: sender and receiver, as numbers. Told once, before anything arrives, by
    /// those who know.
    fn told_ends(&mut self, _ends: &Arc<[[u32; 2]]>) {}

    /// Which packet goes when one must, for a discipline that says so itself ([`Nature::own_victim`]); the arrival waits
    /// at the back already.
    fn victim(&mut self, buffer: &Buffer, _stream: &mut Stream) -> Option<Place> {
        buffer.back()
    }

    /// A packet arrives that need not wait: nothing else does, the link is free, and there is room. A law can do here,
    /// in one step, what [`Discipline::arrive`] and [`Discipline::depart`] would do, if the packet leaves as it came.
    /// False means: nothing has changed, call both.
    fn pass(&mut self, _now: Instant, _packet: &Packet, _stream: &mut Stream) -> bool {
        false
    }

    /// The link is free: takes the packet that it sends next out of the buffer by [`Buffer::serve`] or
    /// [`Buffer::pop_front`]. What is removed otherwise is appended to `drops`. `None` only when nothing waits any more,
    /// or before [`Discipline::held_until`].
    /// A law that signals congestion marks the packet here ([`Packet::mark`]), if the packet can be marked.
    fn depart(&mut self, _now: Instant, buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        buffer.pop_front().map(|(packet, _)| packet)
    }

    /// The link's rate becomes another. A law that computes with the rate first does the work that is due by then.
    fn rate_changed(&mut self, _change: &RateChange<'_>) {}

    /// The quantity by which it judges congestion, for plots; `None` stands for the packets that wait.
    fn average(&self) -> Option<f64> {
        None
    }

    /// Statistics of its tins; only CAKE has them.
    fn tins(&self, _buffer: &Buffer) -> Vec<TinStatistics> {
        Vec::new()
    }

    /// When [`Discipline::on_timer`] must be called; [`Instant::NEVER`] if it need not.
    fn deadline(&self) -> Instant {
        Instant::NEVER
    }

    /// The deadline has come. What is removed from the buffer is appended to `drops`; the deadline moves on.
    fn on_timer(&mut self, _now: Instant, _buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) {}
}

/// Properties of a discipline that do not depend on its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nature {
    /// What it serves leaves in the order in which it arrived.
    pub fifo: bool,
    /// It drops nothing unless the buffer is full, and has no state: [`Discipline`] as it is without any method of its own.
    pub passive: bool,
    /// Why no victim rule goes with it, as it chooses itself which packet goes: `CHOKe drops the arrival`.
    pub own_victim: Option<&'static str>,
    /// Where no victim rule is given it makes room itself ([`Discipline::make_room`]), and by default none is.
    pub makes_room: bool,
    /// It asks the buffer for flows: [`Buffer::of_flow`], [`Buffer::flows`], [`Buffer::front_of_flow`], [`Buffer::back_of_flow`],
    /// [`Buffer::flow_after`].
    pub by_flow: bool,
    /// It wants to know between which nodes flows go ([`Discipline::told_ends`]).
    pub by_host: bool,
    /// It keeps `ECT(1)` in a queue of its own, and takes `ECT(0)` for traffic that yields to a mark as to a loss (RFC 9332).
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

/// The parameters of a discipline, and how it is made.
pub trait DisciplineLaw: Law {
    /// The discipline at work.
    type Discipline: Discipline + 'static;

    /// What it says of itself.
    const NATURE: Nature = Nature::FIFO;

    /// Checks what goes together with the queue that the discipline is for: the buffer's capacity and, once it is
    /// known, the link's rate. Ranges that hold anywhere belong into [`Checked::check`].
    ///
    /// # Errors
    /// The first key whose value is not allowed there.
    fn fits(&self, _capacity: Capacity, _rate: Option<Rate>) -> Result<(), ConfigError> {
        Ok(())
    }

    /// A surprising effect on the link of traffic that does not respond to losses, and what to write instead. `check`
    /// reports it.
    fn caution(&self) -> Option<String> {
        None
    }

    /// Whether it signals congestion by marks, if packets can be marked.
    fn marks(&self) -> bool {
        false
    }

    /// Number of lists of packets that it allocates at the beginning; the estimate of a scenario's memory uses it.
    fn lists(&self) -> u64 {
        0
    }

    /// The classes into which it sorts packets, and which of them sends next, for a discipline that is made of those. What
    /// [`DisciplineLaw::discipline`] gives is then asked nothing.
    fn class_map(&self) -> Option<ClassMap> {
        None
    }

    /// The discipline for a queue of this capacity before a link of this rate.
    fn discipline(&self, capacity: Capacity, rate: Rate) -> Self::Discipline;
}

/// What the queue asks of a discipline that a program handed in: [`DisciplineLaw`], without types of its own.
pub trait AnyDisciplineLaw: Checked + Send + Sync {
    /// See [`DisciplineLaw::NATURE`].
    fn any_nature(&self) -> Nature;
    /// See [`DisciplineLaw::fits`].
    ///
    /// # Errors
    /// The first key whose value is not allowed there.
    fn any_fits(&self, capacity: Capacity, rate: Option<Rate>) -> Result<(), ConfigError>;
    /// See [`DisciplineLaw::caution`].
    fn any_caution(&self) -> Option<String>;
    /// See [`DisciplineLaw::marks`].
    fn any_marks(&self) -> bool;
    /// See [`DisciplineLaw::lists`].
    fn any_lists(&self) -> u64 {
        0
    }
    /// See [`DisciplineLaw::discipline`].
    fn any_discipline(&self, capacity: Capacity, rate: Rate) -> Box<dyn Discipline>;
}

impl<L: DisciplineLaw> AnyDisciplineLaw for L {
    fn any_nature(&self) -> Nature {
        L::NATURE
    }
    fn any_fits(&self, capacity: Capacity, rate: Option<Rate>) -> Result<(), ConfigError> {
        self.fits(capacity, rate)
    }
    fn any_caution(&self) -> Option<String> {
        self.caution()
    }
    fn any_marks(&self) -> bool {
        self.marks()
    }
    fn any_lists(&self) -> u64 {
        self.lists()
    }
    fn any_discipline(&self, capacity: Capacity, rate: Rate) -> Box<dyn Discipline> {
        Box::new(self.discipline(capacity, rate))
    }
}

/// Hands in a discipline of the program's own, which scenarios then name like any other.
///
/// # Errors
/// When there is a discipline of that name.
pub fn register<L: DisciplineLaw>() -> Result<(), NameTaken> {
    super::OWN.add::<L>(super::DisciplineConfig::WHAT, super::DisciplineConfig::BUILT_IN, |law| Arc::new(law))
}

/// Hands in a discipline that was made while the program runs: see [`fairwave_units::registry::Registry::give`].
///
/// # Errors
/// When the name is taken.
pub fn give(given: RuntimeLaw<dyn AnyDisciplineLaw>) -> Result<(), NameTaken> {
    super::OWN.give(super::DisciplineConfig::WHAT, super::DisciplineConfig::BUILT_IN, given)
}
