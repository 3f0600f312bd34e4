//! NewReno: fast recovery lasts until all that was in flight at the loss is acknowledged; each partial acknowledgement has
//! the next hole sent again at once.
//!
//! Source: RFC 6582, the 'careful' variant, with the 'impatient' timer (restarted by the first partial acknowledgement only).
//! The end of recovery keeps `recover` (§3.2 step 2 asks for more than it; so does ns-2.35). The loss of the very next
//! segment waits for the timer, because its duplicates look like those of unnecessary retransmissions.
//!
//! **Assumptions.** A partial acknowledgement deflates the window by what it acknowledges less one segment. While duplicates
//! come in, at most two segments leave per acknowledgement, as in ns-2.35. On leaving, the window is min(threshold, flight + 1)
//! (§3.2 step 3, option 1) with `deflate`, and stays as it is without (ns-2.35).

use super::super::connection::Connection;
use super::reno::Reno;
use fairwave_endpoint::Output;
use fairwave_units::units::Instant;

/// Segments sent per duplicate at most.
const BURST: u32 = 2;

#[derive(Debug, Default)]
pub(in super::super) struct Newreno {
    reno: Reno,
    /// A partial acknowledgement has come since recovery began.
    partial: bool,
}

impl Newreno {
    #[inline(never)]
    pub(super) fn on_duplicate(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        if self.reno.count_duplicate(connection, now, out) && self.reno.guard.is_passed(connection) {
            self.reno.fast_retransmit(connection, now, out);
        }
        if connection.duplicates() >= connection.parameters().duplicate_threshold {
            connection.send(now, BURST, out);
        }
    }

    #[inline]
    pub(super) fn on_new_data(&mut self, connection: &mut Connection, now: Instant, next: u32, out: &mut Output) {
        if self.reno.recovering && next < self.reno.guard.recover() {
            self.on_partial(connection, now, next, out);
            return;
        }
        let recovered = std::mem::take(&mut self.reno.recovering);
        connection.set_inflation(0);
        self.partial = false;
        connection.advance(now, next);
        if recovered && connection.parameters().deflate && !self.reno.keeps_window {
            // Option 1 of §3.2 step 3: no burst when little is left in flight.
            let flight = f64::from(connection.max().saturating_sub(connection.una()).max(1));
            connection.set_congestion_window(connection.window().threshold.min(flight + 1.0));
            connection.recovered();
            connection.note_ack();
        } else {
            if recovered {
                connection.recovered();
            }
            connection.open_window();
        }
        connection.send(now, u32::MAX, out);
    }

    #[inline(never)]
    fn on_partial(&mut self, connection: &mut Connection, now: Instant, next: u32, out: &mut Output) {
        // What it covers has left the network; the segment sent again below enters it. What the inflation cannot give the window does.
        let covered = next - connection.una();
        if connection.inflation() > covered {
            connection.set_inflation(connection.inflation() - (covered - 1));
        } else {
            let short = f64::from(covered - connection.inflation());
            connection.set_congestion_window((connection.window().congestion - short).max(1.0));
            connection.set_inflation(1);
        }
        connection.move_partially(now, next);
        if !self.partial {
            // The impatient variant: many losses end in a timeout rather than in as many round trips.
            self.partial = true;
            connection.restart_timer(now);
        }
        connection.note_ack();
        connection.transmit_first(now, out);
        if connection.duplicates() == 0 {
            connection.send(now, u32::MAX, out);
        } else if connection.duplicates() >= connection.parameters().duplicate_threshold {
            connection.send(now, BURST, out);
        }
    }

    pub(super) fn on_timeout(&mut self, connection: &Connection) {
        self.reno.on_timeout(connection);
        self.partial = false;
    }

    pub(super) fn on_random_timeout(&mut self) {
        self.reno.recovering = true;
        self.reno.keeps_window = true;
    }
}
