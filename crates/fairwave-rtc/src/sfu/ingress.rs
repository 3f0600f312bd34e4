//! Server end of a participant's session: a complete receiver that passes media to the room.

use super::publisher::Publisher;
use super::room::{Room, State};
use crate::mailbox::Mailbox;
use crate::receive::WebrtcReceiver;
use crate::rtcp::{Pli, Rtcp, compound};
use crate::rtp::{PayloadKind, Role, RtpHeader, Ssrc};
use crate::sizes;
use fairwave_endpoint::media::MediaReceived;
use fairwave_endpoint::{FlowContext, Notice, Output, Receiver, ReceiverView};
use fairwave_network::packet::{Ecn, FlowId, Packet};
use fairwave_units::units::Instant;

/// Receiver at the server. It sends feedback and requests missing packets like any receiver.
///
/// Unlike a real server it also decodes, so its statistics show what the server could have displayed.
pub struct Ingress {
    inner: WebrtcReceiver,
    room: Room,
    who: usize,
    context: FlowContext,
    feedback: Mailbox,
    wakes: Vec<FlowId>,
    message: Vec<u8>,
}

impl Ingress {
    pub(super) fn new(inner: WebrtcReceiver, room: Room, who: usize, context: FlowContext, feedback: Mailbox) -> Self {
        Ingress { inner, room, who, context, feedback, wakes: Vec::new(), message: Vec::new() }
    }

    /// Returns the streams of which receivers need key frames.
    fn wanted(&self, state: &mut State) -> Vec<Ssrc> {
        state.publishers.get_mut(self.who).map(Publisher::take_wants).unwrap_or_default()
    }

    /// Requests key frames from the publisher.
    fn ask(&mut self, now: Instant, wanted: Vec<Ssrc>, out: &mut Output) {
        for ssrc in wanted {
            let pli = Rtcp::Pli(Pli { sender: Ssrc::RECEIVER.number(), media: ssrc.number() });
            if compound::write(&[pli], &mut self.message).is_err() {
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

impl Receiver for Ingress {
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        if packet.feedback {
            return;
        }
        let Some((mut header, created)) = RtpHeader::read(&packet.body) else { return };
        self.inner.on_header(now, packet, header, created, out);
        let room = self.room.clone();
        let mut state = room.lock();
        if let Some((kind, place, role)) = header.ssrc.parts() {
            let mut wire = packet.wire;
            let media = match (role, header.kind) {
                (Role::Media, PayloadKind::Media) => true,
                (Role::Retransmission, PayloadKind::Retransmission) => {
                    header.ssrc = Ssrc::new(kind, place, Role::Media);
                    header.sequence = header.base;
                    wire = wire.saturating_sub(sizes::ORIGINAL_SEQUENCE);
                    true
                }
                // Padding and parity are not forwarded.
                _ => false,
            };
            if media {
                let mut wakes = std::mem::take(&mut self.wakes);
                state.on_media(now, self.who, &header, created, wire, &mut wakes);
                out.notices.extend(wakes.drain(..).map(Notice::Wake));
                self.wakes = wakes;
            }
        }
        let wanted = self.wanted(&mut state);
        drop(state);
        self.ask(now, wanted, out);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        self.inner.on_timer(now, out);
        let wanted = self.wanted(&mut self.room.lock());
        self.ask(now, wanted, out);
    }

    fn deadline(&self) -> Instant {
        self.inner.deadline()
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
