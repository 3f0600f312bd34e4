//! The one TCP sender. It numbers segments, keeps what they carry until it is acknowledged, runs the retransmission timer
//! and hands every question of *how much* to its controller and of *what again* to its recovery (`recovery/`).
//!
//! Source: RFC 9293 in outline (one direction, no closing handshake), RFC 5681, 6298, 3042; ns-2.35 where the preset says so.
//!
//! **Assumptions.** Segments are numbered, not bytes; the SYN is segment 0, data starts at 1. A unit of the application is a
//! segment of its own, and is cut only if it is longer than the configured segment; units are not joined (no Nagle). Units wait
//! here, without limit, until the window lets them go. The receiver's window is constant: its application reads at once.
//! After `on_stop` units that have not been sent never are; what was sent is still repaired. With a `deadline` nothing waits for
//! longer than that, and what is older is not sent again ([`super::lifetime`]).

use std::sync::Arc;

use super::TcpParameters;
use super::connection::Connection;
use super::control::{Control, Controller, Verdict};
use super::recovery::LossRecovery;
use super::units::Piece;
use fairwave_endpoint::{FlowContext, Output, Sender, SenderView};
use fairwave_media::traffic::Unit;
use fairwave_network::packet::{Body, Packet};
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Rate};

/// The sending half of a TCP connection: what has been sent, and how losses among it are repaired.
#[repr(C)]
pub struct TcpSender {
    pub(super) recovery: LossRecovery,
    pub(super) connection: Connection,
}

impl TcpSender {
    /// A sender of `context`'s flow. `stream` is used for the phase of the coarse clock and the random delay of sending.
    pub fn new(context: FlowContext, parameters: Arc<TcpParameters>, control: Control, stream: Stream) -> Self {
        let recovery = LossRecovery::new(parameters.recovery);
        TcpSender { recovery, connection: Connection::new(context, parameters, control, stream) }
    }

    fn send(&mut self, now: Instant, out: &mut Output) {
        self.recovery.send(&mut self.connection, now, out);
    }

    /// What was put off happens, or the recovery is woken.
    fn on_send_timer(&mut self, now: Instant, out: &mut Output) {
        self.connection.send_at = Instant::NEVER;
        if self.connection.take_recovery_timer(now) {
            self.recovery.on_wake(&mut self.connection, now, out);
        }
        self.recovery.send_now(&mut self.connection, now, out);
    }

    fn on_timeout(&mut self, now: Instant, out: &mut Output) {
        let connection = &mut self.connection;
        if connection.una == connection.max {
            connection.retransmit_at = Instant::NEVER;
            return;
        }
        connection.count_timeout();
        self.recovery.on_timeout(connection, now);
        if connection.ask_on_timeout(now) == Verdict::Random {
            self.recovery.on_random_timeout(connection);
            connection.retransmit_first(now, out);
            return;
        }
        connection.rtt.expired(&connection.parameters.rto);
        connection.restart_timer(now);
        // Everything from the first unacknowledged segment on counts as lost: slow start goes through it again.
        if !self.recovery.goes_by_marks() {
            connection.next = connection.una;
        }
        self.send(now, out);
    }
}

impl Sender for TcpSender {
    fn on_start(&mut self, now: Instant, out: &mut Output) {
        let connection = &mut self.connection;
        connection.shed(now);
        connection.stopped = false;
        connection.limit = if connection.bulk { u32::MAX } else { connection.handed };
        if !connection.started && connection.parameters.handshake {
            connection.next = 1;
            connection.transmit(now, 0, out);
        } else {
            connection.restart_if_idle(now);
            self.recovery.send(connection, now, out);
        }
        self.connection.started = true;
        self.connection.note_limit(now);
    }

    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output) {
        let connection = &mut self.connection;
        if connection.stopped || connection.bulk {
            return;
        }
        connection.shed(now);
        if connection.extras.is_some() && connection.started {
            connection.note_application_limit();
        }
        let mut left = unit.payload;
        loop {
            let payload = left.min(u32::from(connection.parameters.segment));
            left -= payload;
            let piece = Piece {
                created: unit.created,
                unit: unit.id,
                payload: payload as u16,
                layer: unit.layer,
                last: left == 0,
            };
            match &mut connection.lifetime {
                Some(lifetime) => lifetime.wait(piece),
                None => connection.pieces.put(connection.una, connection.handed, piece),
            }
            connection.handed += 1;
            if left == 0 {
                break;
            }
        }
        connection.limit = connection.handed;
        if connection.started {
            connection.restart_if_idle(now);
            self.send(now, out);
        }
        self.connection.note_limit(now);
    }

    #[inline]
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        let Body::Ack { next, echo, rate, wave, congestion_echo, marked, ref sack } = packet.body else { return };
        let connection = &mut self.connection;
        if next > connection.max || next < connection.una || connection.una == connection.max {
            if next == connection.una {
                self.recovery.on_idle_ack(next, sack);
            }
            return;
        }
        connection.shed(now);
        let path = &mut connection.path;
        path.now = now;
        path.acknowledged = next - connection.una;
        path.credit = if connection.parameters.counts_segments { path.acknowledged } else { 1 };
        path.flight = connection.max - connection.una;
        path.unacknowledged = next;
        path.next = connection.next.max(next);
        if connection.parameters.waves && rate > 0.0 {
            path.rate = Rate::from_bits_per_second(rate as u64);
            path.wave = wave;
        }
        connection.echo = echo;
        if connection.extras.is_some() {
            connection.hear(now, next, congestion_echo, marked);
        }
        let path = &mut connection.path;
        if path.acknowledged > 0 {
            path.rtt = now.since(echo);
            // The SYN is smaller than what follows, so its round trip is none that data could have.
            if next > 1 {
                path.min_rtt = path.min_rtt.min(path.rtt);
                path.max_rtt = path.max_rtt.max(path.rtt);
            }
        } else {
            connection.note_ack();
        }
        self.recovery.on_ack(connection, now, next, sack, out);
        connection.note_limit(now);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        self.connection.shed(now);
        if now >= self.connection.send_at {
            self.on_send_timer(now, out);
        }
        if now >= self.connection.retransmit_at {
            self.on_timeout(now, out);
        }
        self.connection.note_limit(now);
    }

    #[inline]
    fn deadline(&self) -> Instant {
        self.connection.retransmit_at.min(self.connection.send_at)
    }

    fn on_stop(&mut self, now: Instant) {
        let connection = &mut self.connection;
        connection.stopped = true;
        connection.limit = connection.max.max(1);
        connection.handed = connection.handed.min(connection.limit);
        if let Some(lifetime) = &mut connection.lifetime {
            lifetime.clear();
        }
        connection.note_limit(now);
    }

    fn view(&self) -> SenderView {
        let connection = &self.connection;
        let smoothed_rtt = connection.rtt.smoothed(&connection.parameters.rto).seconds();
        let window = connection.window.congestion.min(f64::from(connection.parameters.receiver_window));
        SenderView {
            window: connection.window.congestion,
            slow_start_threshold: connection.window.threshold,
            smoothed_rtt: if smoothed_rtt > 0.0 { smoothed_rtt } else { f64::NAN },
            rate: if smoothed_rtt > 0.0 {
                window * f64::from(connection.path.payload) * 8.0 / smoothed_rtt
            } else {
                f64::NAN
            },
            estimate: connection.control.estimate(),
            sent: connection.sent,
            retransmitted: connection.retransmitted,
            timeouts: connection.timeouts,
            fast_retransmits: connection.fast_retransmits,
            limited: Some(connection.limited()),
            ..SenderView::default()
        }
    }
}
