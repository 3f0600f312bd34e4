//! The TCP sender. It numbers segments, keeps their contents until they are acknowledged, and runs the
//! retransmission timer. Its controller decides *how much* to send, its recovery (`recovery/`) *which segments* to
//! retransmit.
//!
//! Source: RFC 9293 in outline (one direction, no closing handshake), RFC 5681, 6298, 3042; ns-2.35 with its
//! presets.
//!
//! **Assumptions.** Segments are numbered, not bytes; the SYN is segment 0, data starts at 1. A unit of the
//! application becomes one segment, and is cut only if it is longer than the configured segment; units are not
//! joined (no Nagle). Units wait here, without limit, until the window admits them. The receiver's window is
//! constant: its application reads at once. After `on_stop` unsent units are never sent; lost segments are still
//! repaired. With a `deadline` no unit waits longer than that, and older data is not retransmitted (`lifetime`).

use std::fmt;
use std::sync::Arc;

use super::TcpParameters;
use super::connection::{Acknowledgement, Connection};
use super::control::{Control, Verdict};
use super::recovery::LossRecovery;
use fairwave_endpoint::{FlowContext, Output, Sender, SenderView};
use fairwave_media::traffic::Unit;
use fairwave_network::packet::{Body, Packet};
use fairwave_units::random::Stream;
use fairwave_units::units::Instant;

/// The sending half of a TCP connection: the connection state and its loss recovery.
#[repr(C)]
pub struct TcpSender {
    pub(super) recovery: LossRecovery,
    pub(super) connection: Connection,
}

impl fmt::Debug for TcpSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpSender").field("view", &self.view()).finish_non_exhaustive()
    }
}

impl TcpSender {
    /// Creates the sender of a flow. `stream` supplies the phase of the coarse clock and the random delays of
    /// transmissions.
    pub fn new(context: FlowContext, parameters: Arc<TcpParameters>, control: Control, stream: Stream) -> Self {
        let recovery = LossRecovery::new(parameters.recovery);
        TcpSender { recovery, connection: Connection::new(context, parameters, control, stream) }
    }

    fn send(&mut self, now: Instant, out: &mut Output) {
        self.recovery.send(&mut self.connection, now, out);
    }

    /// Handles a delayed transmission or the recovery's timer.
    fn on_send_timer(&mut self, now: Instant, out: &mut Output) {
        if self.connection.take_send_timer(now) {
            self.recovery.on_wake(&mut self.connection, now, out);
        }
        self.recovery.send_now(&mut self.connection, now, out);
    }

    fn on_timeout(&mut self, now: Instant, out: &mut Output) {
        let connection = &mut self.connection;
        if connection.is_idle() {
            connection.stop_timer();
            return;
        }
        connection.count_timeout();
        self.recovery.on_timeout(connection, now);
        if connection.ask_on_timeout(now) == Verdict::Random {
            self.recovery.on_random_timeout(connection);
            connection.retransmit_first(now, out);
            return;
        }
        connection.back_off();
        connection.restart_timer(now);
        // Everything from the first unacknowledged segment on counts as lost: slow start retransmits it.
        if !self.recovery.goes_by_marks() {
            connection.go_on_from(connection.una());
        }
        self.send(now, out);
    }
}

impl Sender for TcpSender {
    fn on_start(&mut self, now: Instant, out: &mut Output) {
        if !self.connection.start(now, out) {
            self.send(now, out);
        }
        self.connection.note_limit(now);
    }

    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output) {
        if self.connection.take_unit(now, unit) {
            self.send(now, out);
        }
        self.connection.note_limit(now);
    }

    #[inline(always)] // on the path of every acknowledgement
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        let Body::Ack { next, echo, rate, wave, congestion_echo, marked, ref sack } = packet.body else { return };
        let connection = &mut self.connection;
        if next > connection.max() || next < connection.una() || connection.is_idle() {
            if next == connection.una() {
                self.recovery.on_idle_ack(next, sack);
            }
            return;
        }
        connection.take_ack(now, next, &Acknowledgement { echo, rate, wave, congestion_echo, marked });
        self.recovery.on_ack(connection, now, next, sack, out);
        connection.note_limit(now);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        self.connection.shed(now);
        if now >= self.connection.send_at() {
            self.on_send_timer(now, out);
        }
        if now >= self.connection.retransmit_at() {
            self.on_timeout(now, out);
        }
        self.connection.note_limit(now);
    }

    #[inline]
    fn deadline(&self) -> Instant {
        self.connection.retransmit_at().min(self.connection.send_at())
    }

    fn on_stop(&mut self, now: Instant) {
        self.connection.stop(now);
    }

    fn view(&self) -> SenderView {
        self.connection.view()
    }
}
