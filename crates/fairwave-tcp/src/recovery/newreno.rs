//! NewReno: fast recovery lasts until all data in flight at the loss is acknowledged. Each partial acknowledgement
//! retransmits the next hole at once.
//!
//! Source: RFC 6582, the 'careful' variant, with the 'impatient' timer (restarted only by the first partial
//! acknowledgement). `recover` remains after recovery (§3.2 step 2 requires an acknowledgement beyond it; so does
//! ns-2.35). So a loss of the very next segment waits for the timer, because its duplicates look like those of
//! unnecessary retransmissions.
//!
//! **Assumptions.** A partial acknowledgement deflates the window by the acknowledged segments less one. While
//! duplicates arrive, at most two segments leave per acknowledgement, as in ns-2.35. At the end, the window is
//! min(threshold, flight + 1) (§3.2 step 3, option 1) with `deflate`, and unchanged without (ns-2.35).

use super::super::connection::Connection;
use super::reno::Reno;
use fairwave_endpoint::Output;
use fairwave_units::units::Instant;

/// Maximum number of segments sent per duplicate.
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
            // Option 1 of §3.2 step 3: no burst when little data is in flight.
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
        // The covered segments have left the network; the retransmission below enters it. The window provides the
        // part that exceeds the inflation.
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
            // The impatient variant: many losses end in a timeout instead of taking one round trip each.
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
