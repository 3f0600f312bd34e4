//! Participant end of a session from the server. All sessions of a participant share one path, so they share the
//! feedback.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::mailbox::Mailbox;
use crate::receive::WebrtcReceiver;
use crate::receive::feedback::TransportWide;
use crate::rtcp::compound;
use crate::rtp::{PayloadKind, RtpHeader};
use crate::sizes;
use fairwave_endpoint::media::MediaReceived;
use fairwave_endpoint::{FlowContext, Output, Receiver, ReceiverView};
use fairwave_network::packet::{Ecn, Packet};
use fairwave_units::units::{Instant, Span};

/// Interval at which the feedback interval follows the rate.
const HOUSEKEEPING: Span = Span::from_secs(1);

#[derive(Debug, Default)]
struct Together {
    wide: TransportWide,
    bytes: u64,
    since: Instant,
}

/// Feedback on all packets that a participant receives.
#[derive(Clone, Debug, Default)]
pub struct Bundle(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    together: Mutex<Together>,
    /// Time of the next feedback, nanoseconds. All sessions read it after each packet. They are called one after the
    /// other.
    due: AtomicU64,
}

impl Default for Shared {
    fn default() -> Self {
        Shared { together: Mutex::default(), due: AtomicU64::new(Instant::NEVER.nanos()) }
    }
}

impl Bundle {
    fn lock(&self) -> MutexGuard<'_, Together> {
        self.0.together.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn due(&self) -> Instant {
        Instant::from_nanos(self.0.due.load(Ordering::Relaxed))
    }

    fn set_due(&self, due: Instant) {
        self.0.due.store(due.nanos(), Ordering::Relaxed);
    }
}

/// Receiver of a session from the server.
pub struct Listener {
    inner: WebrtcReceiver,
    bundle: Bundle,
    context: FlowContext,
    feedback: Mailbox,
    message: Vec<u8>,
    due: Instant,
}

impl Listener {
    pub(super) fn new(inner: WebrtcReceiver, bundle: Bundle, context: FlowContext, feedback: Mailbox) -> Self {
        Listener { inner, bundle, context, feedback, message: Vec::new(), due: Instant::NEVER }
    }

    /// Sends feedback that is due; any session may do this.
    fn report(&mut self, now: Instant, out: &mut Output) {
        // The session that sent the latest feedback keeps the timer.
        if self.bundle.due() > now {
            if self.due <= now {
                self.due = Instant::NEVER;
            }
            return;
        }
        let mut messages = Vec::new();
        let mut together = self.bundle.lock();
        if now.span_since(together.since) >= HOUSEKEEPING {
            let rate = together.bytes as f64 * 8.0 / now.span_since(together.since).seconds();
            together.wide.on_rate(rate);
            (together.bytes, together.since) = (0, now);
        }
        together.wide.take(now, &mut messages);
        self.due = together.wide.due();
        drop(together);
        self.bundle.set_due(self.due);
        for message in messages {
            if compound::write(&[message], &mut self.message).is_err() {
                continue;
            }
            out.send(Packet {
                flow: self.context.flow,
                wire: sizes::control(self.message.len()),
                class: self.context.class,
                feedback: true,
                ecn: Ecn::NotEct,
                dscp: self.context.dscp,
                layer: 0,
                body: self.feedback.put(&self.message, 0, now),
            });
        }
    }
}

impl Receiver for Listener {
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        if !packet.feedback
            && let Some((header, created)) = RtpHeader::read(&packet.body)
        {
            if header.kind != PayloadKind::Control {
                let mut together = self.bundle.lock();
                together.wide.on_packet(now, header.transport_sequence, header.ssrc, packet.ecn);
                together.bytes += u64::from(packet.wire);
                if self.bundle.due() == Instant::NEVER {
                    self.due = together.wide.due();
                    self.bundle.set_due(self.due);
                }
            }
            self.inner.on_header(now, packet, header, created, out);
        }
        self.report(now, out);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        if self.inner.deadline() <= now {
            self.inner.on_timer(now, out);
        }
        self.report(now, out);
    }

    fn deadline(&self) -> Instant {
        self.inner.deadline().min(self.due)
    }

    fn is_reactive(&self) -> bool {
        false
    }

    fn view(&self) -> ReceiverView {
        self.inner.view()
    }

    fn settle_media(&mut self, now: Instant) {
        self.inner.settle_media(now);
    }

    fn media(&self) -> Option<&MediaReceived> {
        self.inner.media()
    }
}
