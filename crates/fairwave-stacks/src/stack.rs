//! What a stack is to the simulator.

use fairwave_core::packet::Ecn;
use fairwave_core::traffic::Unit;
use fairwave_core::transport::media::{MediaReceived, MediaSent};
use fairwave_core::transport::{Delivery, SenderView};
use fairwave_core::units::Instant;

/// What happens to a stack.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The flow begins, or goes on after a [`Event::Stop`]. The receiving end is told with its first datagram.
    Start,
    /// The flow ends: nothing new is sent.
    Stop,
    /// The application made a unit, to be delivered whole.
    Unit(Unit),
    /// A datagram of the other end has arrived.
    Datagram {
        /// The payload of UDP.
        bytes: &'a [u8],
        /// What the IP header says of congestion.
        ecn: Ecn,
    },
    /// The time has come that the stack named in its latest [`Action::Wait`].
    Timer,
}

/// What a stack wants done.
#[derive(Clone, Debug)]
pub enum Action {
    /// Send a datagram to the other end.
    Send {
        /// The payload of UDP, at most 65 507 bytes.
        bytes: Vec<u8>,
        /// What the IP header says of congestion.
        ecn: Ecn,
    },
    /// Hand data to the receiving application.
    Deliver(Delivery),
    /// The stack gives up, and says why: the run ends.
    Fail(String),
    /// Nothing until that time, or until the next event; [`Instant::NEVER`] without a timer.
    Wait(Instant),
}

/// One end of a connection, as a state machine without clock, socket and randomness of its own.
///
/// After each event the caller polls until the answer is [`Action::Wait`]. A stack that panics, or that does not come to
/// [`Action::Wait`] within [`super::StackEnd::BUDGET`] polls at one moment, ends the run with its name and the time.
pub trait Stack: Send {
    /// What error messages call it.
    const NAME: &'static str;

    /// Something happens.
    fn handle(&mut self, now: Instant, event: Event<'_>);

    /// What the stack wants done next.
    fn poll(&mut self, now: Instant) -> Action;

    /// What may be plotted of the sending end.
    fn view(&self) -> SenderView {
        SenderView::default()
    }

    /// The run ends: statistics of a media session are to hold until then.
    fn settle_media(&mut self, _now: Instant) {}

    /// Statistics of the sending end of a media session.
    fn media_sent(&self) -> Option<&MediaSent> {
        None
    }

    /// Statistics of the receiving end of a media session.
    fn media_received(&self) -> Option<&MediaReceived> {
        None
    }
}
