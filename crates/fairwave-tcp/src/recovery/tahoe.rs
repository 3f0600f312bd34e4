//! Tahoe: three duplicates signal a loss. The window falls to one segment, and slow start retransmits everything
//! from the loss on.
//!
//! Source: Jacobson 1988; RFC 2001 §3 without §4. As in ns-2.35 there is no window inflation.

use super::super::connection::Connection;
use super::super::control::Verdict;
use super::FastRetransmitGuard;
use fairwave_endpoint::Output;
use fairwave_units::units::Instant;

#[derive(Debug, Default)]
pub(in super::super) struct Tahoe {
    pub(super) guard: FastRetransmitGuard,
}

impl Tahoe {
    pub(super) fn on_duplicate(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        connection.count_duplicate();
        let threshold = connection.parameters().duplicate_threshold;
        if connection.duplicates() == threshold {
            if self.guard.allows(connection) {
                self.guard.raise(connection);
                if connection.ask_on_loss(now, 1) == Verdict::Congestion {
                    // Slow start from the loss on: all later segments are retransmitted, even if they had arrived.
                    connection.set_congestion_window(1.0);
                    connection.go_on_from(connection.una());
                    connection.restart_timer(now);
                } else {
                    connection.retransmit_first(now, out);
                }
            }
        } else if connection.duplicates() < threshold {
            connection.limited_transmit(now, out);
        }
        connection.send(now, u32::MAX, out);
    }

    pub(super) fn on_new_data(connection: &mut Connection, now: Instant, next: u32, out: &mut Output) {
        connection.advance(now, next);
        connection.open_window();
        connection.send(now, u32::MAX, out);
    }
}
