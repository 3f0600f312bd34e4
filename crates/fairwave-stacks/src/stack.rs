//! Interface between a stack and the simulator.

use fairwave_core::packet::Ecn;
use fairwave_core::traffic::Unit;
use fairwave_core::transport::media::{MediaReceived, MediaSent};
use fairwave_core::transport::{Delivery, SenderView};
use fairwave_core::units::Instant;

/// Input of a stack.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The flow starts, or continues after an [`Event::Stop`]. The receiving end gets this event with its first
    /// datagram.
    Start,
    /// The flow stops: no new data is sent.
    Stop,
    /// The application produced a unit, which must be delivered as a whole.
    Unit(Unit),
    /// A datagram of the other end has arrived.
    Datagram {
        /// UDP payload.
        bytes: &'a [u8],
        /// ECN code point of the IP header.
        ecn: Ecn,
    },
    /// The time of the latest [`Action::Wait`] has come.
    Timer,
}

/// Action that a stack requests.
#[derive(Clone, Debug)]
pub enum Action {
    /// Send a datagram to the other end.
    Send {
        /// UDP payload, at most 65 507 bytes.
        bytes: Vec<u8>,
        /// ECN code point for the IP header.
        ecn: Ecn,
    },
    /// Deliver data to the receiving application.
    Deliver(Delivery),
    /// Give up for this reason; the run ends.
    Fail(String),
    /// Wait until this time or the next event; [`Instant::NEVER`] without a timer.
    Wait(Instant),
}

/// One end of a connection: a state machine without clock, socket or randomness.
///
/// After each event the caller polls until it gets [`Action::Wait`]. The run ends with an error if a stack panics, or
/// if [`super::StackEnd::BUDGET`] polls at one time yield no [`Action::Wait`]. The error names the stack and the time.
pub trait Stack: Send {
    /// Name in error messages.
    const NAME: &'static str;

    /// Handles an event.
    fn handle(&mut self, now: Instant, event: Event<'_>);

    /// Returns the next action.
    fn poll(&mut self, now: Instant) -> Action;

    /// Returns the state of the sending end, for plots.
    fn view(&self) -> SenderView {
        SenderView::default()
    }

    /// Completes the statistics of a media session at the end of the run.
    fn settle_media(&mut self, _now: Instant) {}

    /// Returns the statistics of the sending end of a media session.
    fn media_sent(&self) -> Option<&MediaSent> {
        None
    }

    /// Returns the statistics of the receiving end of a media session.
    fn media_received(&self) -> Option<&MediaReceived> {
        None
    }
}
