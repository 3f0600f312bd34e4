//! Adapter from a stack to an endpoint of the simulator.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fairwave_core::packet::Packet;
use fairwave_core::traffic::Unit;
use fairwave_core::transport::media::{MediaReceived, MediaSent};
use fairwave_core::transport::{Failure, FlowContext, Output, Receiver, Sender, SenderView};
use fairwave_core::units::Instant;

use crate::datagrams::Datagrams;
use crate::{Action, Event, Stack};

/// Size of the IPv4 (20) and UDP (8) headers before each datagram, bytes.
pub const HEADERS: u16 = 28;

/// Returns both ends of a flow over these stacks.
pub fn pair<A: Stack, B: Stack>(context: FlowContext, sender: A, receiver: B) -> (StackEnd<A>, StackEnd<B>) {
    let (data, feedback) = (Datagrams::default(), Datagrams::default());
    let receiver = StackEnd::new(receiver, context, true, feedback.clone(), data.clone());
    (StackEnd::new(sender, context, false, data, feedback), receiver)
}

/// One end of a flow over a stack.
pub struct StackEnd<S> {
    stack: S,
    context: FlowContext,
    /// True at the receiving end.
    feedback: bool,
    outbox: Datagrams,
    inbox: Datagrams,
    deadline: Instant,
    started: bool,
    sent: u64,
    /// Time of the latest call, and number of polls at that time.
    polled: (Instant, u32),
    failure: Option<Failure>,
}

impl<S: Stack> fmt::Debug for StackEnd<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("StackEnd");
        shown.field("stack", &S::NAME).field("sent", &self.sent).field("failure", &self.failure);
        shown.finish_non_exhaustive()
    }
}

impl<S: Stack> StackEnd<S> {
    /// Largest number of polls at one time. Real stacks send at most a few thousand packets at once.
    pub const BUDGET: u32 = 100_000;

    fn new(stack: S, context: FlowContext, feedback: bool, outbox: Datagrams, inbox: Datagrams) -> Self {
        StackEnd {
            stack,
            context,
            feedback,
            outbox,
            inbox,
            deadline: Instant::NEVER,
            started: false,
            sent: 0,
            polled: (Instant::ZERO, 0),
            failure: None,
        }
    }

    fn call(&mut self, now: Instant, event: Event<'_>, out: &mut Output) {
        self.guard(now, |end| end.turn(now, event, out));
    }

    /// Calls the stack through `act`. Records a failure if `act` returns an error or panics; later calls do nothing.
    fn guard(&mut self, now: Instant, act: impl FnOnce(&mut Self) -> Result<(), String>) {
        if self.failure.is_some() {
            return;
        }
        let acted = catch_unwind(AssertUnwindSafe(|| act(self)));
        let reason = match acted {
            Ok(Ok(())) => return,
            Ok(Err(reason)) => reason,
            Err(panic) => format!("it panicked: {}", message(panic.as_ref())),
        };
        (self.deadline, self.failure) = (Instant::NEVER, Some(Failure { stack: S::NAME, at: now, reason }));
    }

    /// Passes an event to the stack and carries out its actions until it waits.
    fn turn(&mut self, now: Instant, event: Event<'_>, out: &mut Output) -> Result<(), String> {
        if now > self.polled.0 {
            self.polled = (now, 0);
        }
        if !std::mem::replace(&mut self.started, true) && !matches!(event, Event::Start) {
            self.stack.handle(now, Event::Start);
        }
        self.stack.handle(now, event);
        while self.polled.1 < Self::BUDGET {
            self.polled.1 += 1;
            match self.stack.poll(now) {
                Action::Send { bytes, ecn } => {
                    let wire = u16::try_from(bytes.len()).unwrap_or(u16::MAX).saturating_add(HEADERS);
                    let FlowContext { flow, class, dscp, .. } = self.context;
                    let body = self.outbox.put(bytes, now);
                    self.sent += 1;
                    out.send(Packet { flow, wire, class, dscp, feedback: self.feedback, ecn, layer: 0, body });
                }
                Action::Deliver(delivery) => out.deliveries.push(delivery),
                Action::Wait(until) if until <= now => self.stack.handle(now, Event::Timer),
                Action::Wait(until) => {
                    self.deadline = until;
                    return Ok(());
                }
                Action::Fail(reason) => return Err(reason),
            }
        }
        Err(format!("it was polled {} times at one moment and does not wait", Self::BUDGET))
    }

    fn arrived(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        if let Some(bytes) = self.inbox.get(&packet.body) {
            self.call(now, Event::Datagram { bytes: &bytes, ecn: packet.ecn }, out);
        }
    }
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

impl<S: Stack> Sender for StackEnd<S> {
    fn on_start(&mut self, now: Instant, out: &mut Output) {
        self.started = true;
        self.call(now, Event::Start, out);
    }

    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output) {
        self.call(now, Event::Unit(unit), out);
    }

    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        self.arrived(now, packet, out);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        self.call(now, Event::Timer, out);
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Packets that the stack sends on a stop leave with its next call, which is due at once.
    fn on_stop(&mut self, now: Instant) {
        if self.failure.is_none() {
            self.deadline = now;
        }
        self.guard(now, |end| {
            end.stack.handle(now, Event::Stop);
            Ok(())
        });
    }

    fn view(&self) -> SenderView {
        let view = catch_unwind(AssertUnwindSafe(|| self.stack.view())).unwrap_or_default();
        SenderView { sent: self.sent, ..view }
    }

    fn settle_media(&mut self, now: Instant) {
        self.stack.settle_media(now);
    }

    fn media(&self) -> Option<&MediaSent> {
        self.stack.media_sent()
    }

    fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}

impl<S: Stack> Receiver for StackEnd<S> {
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        self.arrived(now, packet, out);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        self.call(now, Event::Timer, out);
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn is_reactive(&self) -> bool {
        false
    }

    fn settle_media(&mut self, now: Instant) {
        self.stack.settle_media(now);
    }

    fn media(&self) -> Option<&MediaReceived> {
        self.stack.media_received()
    }

    fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}
