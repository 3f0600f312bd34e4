//! A participant's end of a session from the server. All sessions of a participant give feedback together: they share one path.

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

/// Once a second the interval of feedback follows the rate.
const HOUSEKEEPING: Span = Span::from_secs(1);

#[derive(Debug, Default)]
struct Together {
    wide: TransportWide,
    bytes: u64,
    since: Instant,
}

/// Feedback on all that a participant receives.
#[derive(Clone, Debug, Default)]
pub struct Bundle(Arc<Mutex<Together>>);

impl Bundle {
    fn lock(&self) -> MutexGuard<'_, Together> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The receiver of a session from the server.
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

    /// Sends the feedback that is due, whichever session notices.
    fn report(&mut self, now: Instant, out: &mut Output) {
        let mut messages = Vec::new();
        let mut together = self.bundle.lock();
        let takes = together.wide.due() <= now;
        if takes {
            if now.since(together.since) >= HOUSEKEEPING {
                let rate = together.bytes as f64 * 8.0 / now.since(together.since).seconds();
                together.wide.on_rate(rate);
                (together.bytes, together.since) = (0, now);
            }
            together.wide.take(now, &mut messages);
        }
        // The session that gave feedback last keeps the clock.
        if takes {
            self.due = together.wide.due();
        } else if self.due <= now {
            self.due = Instant::NEVER;
        }
        drop(together);
        for message in messages {
            if compound::write(&[message], &mut self.message).is_err() {
                continue;
            }
            out.packets.push(Packet {
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
        if let Some((header, _)) = RtpHeader::read(&packet.body)
            && header.kind != PayloadKind::Control
            && !packet.feedback
        {
            let mut together = self.bundle.lock();
            let first = together.wide.due() == Instant::NEVER;
            together.wide.on_packet(now, header.transport_sequence, header.ssrc, packet.ecn);
            together.bytes += u64::from(packet.wire);
            if first {
                self.due = together.wide.due();
            }
        }
        self.inner.on_packet(now, packet, out);
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
