//! Reno: three duplicates signal a loss. The segment is retransmitted, the window halves, and each further
//! duplicate allows one more segment until new data is acknowledged.
//!
//! Source: RFC 2001 §4, RFC 5681 §3.2. Several losses in a window make Reno stall until the timeout.
//!
//! **Assumptions.** With `careful` set (as in ns-2.35) there is no second fast retransmit for the segments in
//! flight at the first loss. Without it, as printed in the RFCs, each loss with three duplicates halves the window
//! again. After a timeout, duplicates at the highest segment sent before are no loss in either case:
//! retransmissions cause them.

use super::super::connection::Connection;
use super::super::control::Verdict;
use super::FastRetransmitGuard;
use fairwave_endpoint::Output;
use fairwave_units::units::Instant;

/// State of fast retransmit and fast recovery, shared with NewReno.
#[derive(Debug, Default)]
pub(in super::super) struct Reno {
    pub(super) guard: FastRetransmitGuard,
    /// Fast recovery is in progress.
    pub(super) recovering: bool,
    /// The current loss was classified as random: the window must not be deflated.
    pub(super) keeps_window: bool,
}

impl Reno {
    #[inline(never)]
    pub(super) fn on_duplicate(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        if self.count_duplicate(connection, now, out) && self.guard.allows(connection) {
            self.fast_retransmit(connection, now, out);
        }
        if connection.duplicates() >= connection.parameters().duplicate_threshold {
            connection.send(now, u32::MAX, out);
        }
    }

    /// Counts a duplicate: limited transmit below the threshold, inflation above it. Returns true at the threshold.
    pub(super) fn count_duplicate(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) -> bool {
        connection.count_duplicate();
        let threshold = connection.parameters().duplicate_threshold;
        if connection.duplicates() < threshold {
            connection.limited_transmit(now, out);
        } else if connection.duplicates() > threshold && self.recovering {
            // A duplicate shows that a segment has left the network, so another may enter it (RFC 5681 §3.2 step 4).
            connection.set_inflation(connection.inflation() + 1);
        }
        connection.duplicates() == threshold
    }

    /// Enters fast recovery: sets window and timer, retransmits, and inflates by the segments that have left the
    /// network.
    pub(super) fn fast_retransmit(&mut self, connection: &mut Connection, now: Instant, out: &mut Output) {
        self.guard.raise(connection);
        self.recovering = true;
        self.keeps_window = connection.ask_on_loss(now, 1) == Verdict::Random;
        connection.retransmit_first(now, out);
        connection.set_inflation(connection.parameters().duplicate_threshold);
    }

    #[inline(always)] // on the path of every acknowledgement
    pub(super) fn on_new_data(&mut self, connection: &mut Connection, now: Instant, next: u32, out: &mut Output) {
        let recovered = std::mem::take(&mut self.recovering);
        connection.set_inflation(0);
        connection.advance(now, next);
        if recovered && !connection.parameters().careful {
            // No segment that may have arrived was retransmitted, so a loss of the first segment after the flight
            // is treated like any other.
            self.guard.lower();
        }
        if recovered && connection.parameters().deflate && !self.keeps_window {
            connection.set_congestion_window(connection.window().threshold);
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

    pub(super) fn on_timeout(&mut self, connection: &Connection) {
        self.guard.raise(connection);
        self.recovering = false;
    }
}
