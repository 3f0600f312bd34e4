//! Times with the clock that measured them: the sender's, the receiver's, or the wall clock. Times of different
//! clocks cannot be subtracted.
//!
//! An endpoint in core uses one clock: the [`Instant`]s that its caller passes. Every instant in a packet, even
//! one that feedback echoes, is by the clock of the flow's *sender*. A duration (a delay, jitter) is a span and
//! has no clock. So endpoints need no conversion: a receiver subtracts such instants only from each other, never
//! from its current time. Measures such as the one-way delay of a unit need a conversion. A caller that drives
//! endpoints by real clocks wraps the times that endpoints receive and deliver ([`SenderTime`], [`ReceiverTime`]).
//! Only [`Alignment`] converts one clock's time to another's.
//!
//! ```
//! use fairwave_units::units::{Instant, Span};
//! use fairwave_endpoint::wire::clock::{Alignment, ReceiverTime, SenderTime};
//!
//! let sent = SenderTime::new(Instant::from_seconds(1.0));
//! let arrived = ReceiverTime::new(Instant::from_seconds(501.03));
//! // The receiver's clock showed 500.02 s when the sender's report of 0 s arrived, and a round trip takes 40 ms.
//! let alignment = Alignment::from_sender_report(
//!     SenderTime::new(Instant::ZERO),
//!     ReceiverTime::new(Instant::from_seconds(500.02)),
//!     Span::from_millis(40),
//! );
//! assert_eq!(alignment.delay(sent, arrived), Span::from_millis(30));
//! ```
//!
//! ```compile_fail
//! use fairwave_units::units::Instant;
//! use fairwave_endpoint::wire::clock::{ReceiverTime, SenderTime};
//!
//! let delay = ReceiverTime::new(Instant::ZERO) - SenderTime::new(Instant::ZERO);
//! ```

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, Sub};

use fairwave_units::units::{Instant, Span};

/// The clock of a flow's sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SenderClock {}

/// The clock of a flow's receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiverClock {}

/// The wall clock, counted from 1970-01-01.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WallClock {}

/// A point in time by the clock `C`: nanoseconds since that clock's zero.
pub struct Time<C>(Instant, PhantomData<C>);

/// A point in time by the clock of a flow's sender.
pub type SenderTime = Time<SenderClock>;
/// A point in time by the clock of a flow's receiver.
pub type ReceiverTime = Time<ReceiverClock>;
/// A point in time by the wall clock.
pub type WallTime = Time<WallClock>;

impl<C> Time<C> {
    /// Marks an instant as a time of this clock.
    pub const fn new(instant: Instant) -> Self {
        Time(instant, PhantomData)
    }

    /// The bare instant, for an endpoint that uses this clock.
    pub const fn instant(self) -> Instant {
        self.0
    }
}

impl<C> Sub for Time<C> {
    type Output = Span;
    /// The time since `earlier`; zero if `earlier` is later.
    fn sub(self, earlier: Self) -> Span {
        self.0 - earlier.0
    }
}

impl<C> Add<Span> for Time<C> {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Time::new(self.0 + span)
    }
}

// Derived implementations would require the same traits of the clock type.
impl<C> Clone for Time<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Time<C> {}

impl<C> PartialEq for Time<C> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<C> Eq for Time<C> {}

impl<C> PartialOrd for Time<C> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<C> Ord for Time<C> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl<C> fmt::Debug for Time<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The offset between two clocks: the time that `B` shows when `A` shows zero. Both clocks are assumed to run
/// equally fast.
#[derive(Debug)]
pub struct Offset<A, B> {
    /// Nanoseconds.
    ahead: i128,
    clocks: PhantomData<(A, B)>,
}

/// The offset of the receiver's clock from the sender's clock.
pub type Alignment = Offset<SenderClock, ReceiverClock>;

impl<A, B> Clone for Offset<A, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, B> Copy for Offset<A, B> {}

impl<A, B> Offset<A, B> {
    /// Both ends share one clock, as on one machine.
    pub const fn common() -> Self {
        Offset { ahead: 0, clocks: PhantomData }
    }

    /// The offset of two clocks from simultaneous readings.
    pub fn from_readings(a: Time<A>, b: Time<B>) -> Self {
        Offset { ahead: i128::from(b.0.nanos()) - i128::from(a.0.nanos()), clocks: PhantomData }
    }

    /// Combines two offsets through a common clock, for example two machines whose wall clocks agree.
    pub fn then<C>(self, next: Offset<B, C>) -> Offset<A, C> {
        Offset { ahead: self.ahead + next.ahead, clocks: PhantomData }
    }

    /// The offset in the opposite direction.
    pub fn reversed(self) -> Offset<B, A> {
        Offset { ahead: -self.ahead, clocks: PhantomData }
    }

    /// Converts a time of `A` to a time of `B`, clamped to the range of times.
    pub fn convert(self, time: Time<A>) -> Time<B> {
        let nanos = (i128::from(time.0.nanos()) + self.ahead).clamp(0, i128::from(u64::MAX));
        Time::new(Instant::from_nanos(nanos as u64))
    }
}

impl Alignment {
    /// Estimates the offset from a sender report: its sending time (NTP timestamp, RFC 3550 §6.4.1), its arrival
    /// time and the round-trip time. It assumes that half the round trip is the forward delay. The error is half
    /// the difference of the two one-way delays, so at most half the round trip.
    pub fn from_sender_report(sent: SenderTime, arrived: ReceiverTime, round_trip: Span) -> Self {
        Offset::from_readings(sent + round_trip / 2, arrived)
    }

    /// The one-way delay; zero if the clocks give a negative delay.
    pub fn delay(self, sent: SenderTime, arrived: ReceiverTime) -> Span {
        let nanos = i128::from(arrived.0.nanos()) - i128::from(sent.0.nanos()) - self.ahead;
        Span::from_nanos(nanos.clamp(0, i128::from(u64::MAX)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms<C>(millis: u64) -> Time<C> {
        Time::new(Instant::ZERO + Span::from_millis(millis))
    }

    #[test]
    fn common_clock_gives_the_difference_as_delay() {
        assert_eq!(Alignment::common().delay(ms(20), ms(65)), Span::from_millis(45));
        assert_eq!(Alignment::common().delay(ms(65), ms(20)), Span::ZERO);
    }

    #[test]
    fn a_report_aligns_clocks_by_half_the_round_trip_whichever_is_ahead() {
        // RFC 3550 §6.4.1: the report carries its sending time. Each direction takes 30 ms.
        for (sent, arrived) in [(1_000, 7_777), (7_777, 1_000)] {
            let alignment = Alignment::from_sender_report(ms(sent), ms(arrived), Span::from_millis(60));
            assert_eq!(alignment.delay(ms(sent + 500), ms(arrived + 517)), Span::from_millis(47));
            let there = alignment.convert(ms(sent + 500));
            assert_eq!(there, ms(arrived + 470));
            assert_eq!(alignment.reversed().convert(there), ms(sent + 500));
        }
    }

    #[test]
    fn two_machines_whose_walls_agree_are_aligned_by_them() {
        let sender: Offset<SenderClock, WallClock> = Offset::from_readings(ms(5), ms(1_700_000_000_000));
        let receiver: Offset<ReceiverClock, WallClock> = Offset::from_readings(ms(99), ms(1_700_000_000_010));
        let alignment = sender.then(receiver.reversed());
        assert_eq!(alignment.convert(ms(5)), ms(89));
        assert_eq!(alignment.delay(ms(5), ms(100)), Span::from_millis(11));
    }

    #[test]
    fn a_time_beyond_the_others_zero_is_its_zero() {
        let alignment: Alignment = Offset::from_readings(ms(100), ms(0));
        assert_eq!(alignment.convert(ms(40)), ms(0));
        assert_eq!(
            alignment.convert(Time::new(Instant::NEVER)) - ms(0),
            Span::MAX.saturating_sub(Span::from_millis(100))
        );
    }
}
