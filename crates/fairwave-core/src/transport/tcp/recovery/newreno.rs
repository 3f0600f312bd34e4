//! NewReno: fast recovery lasts until all that was in flight at the loss is acknowledged; each partial acknowledgement has
//! the next hole sent again at once.
//!
//! Source: RFC 6582, the 'careful' variant, with the 'impatient' timer (restarted by the first partial acknowledgement only).
//!
//! **Assumptions.** A partial acknowledgement deflates the window by what it acknowledges less one segment. While duplicates
//! come in, at most two segments leave per acknowledgement, as in ns-2.35. On leaving, the window is min(threshold, flight + 1)
//! (§3.2 step 3, option 1) with `deflate`, and stays as it is without (ns-2.35).

use super::super::sender::TcpSender;
use super::Episode;
use crate::transport::Output;
use crate::units::Instant;

/// Segments sent per duplicate at most.
const BURST: u32 = 2;

impl TcpSender {
    pub(crate) fn duplicate_newreno(&mut self, now: Instant, out: &mut Output) {
        self.duplicates += 1;
        let threshold = self.parameters.duplicate_threshold;
        if self.duplicates < threshold {
            self.limited_transmit(now, out);
            return;
        }
        if self.duplicates > threshold {
            if self.episode == Episode::FastRecovery {
                self.inflation += 1;
            }
        } else if self.may_retransmit_fast() {
            self.fast_retransmit(now, out);
        }
        self.send_burst(now, BURST, out);
    }

    pub(crate) fn acknowledged_newreno(&mut self, now: Instant, next: u32, out: &mut Output) {
        let recovering = self.episode == Episode::FastRecovery;
        if recovering && next < self.recover {
            self.partial_newreno(now, next, out);
            return;
        }
        if recovering {
            self.episode = Episode::Recovered;
        }
        self.inflation = 0;
        self.first_partial = false;
        self.advance(now, next);
        if recovering && self.parameters.deflate && !self.kept_window {
            let flight = f64::from(self.max.saturating_sub(self.una).max(1));
            self.window.congestion = self.window.threshold.min(flight + 1.0);
            self.note_ack();
        } else {
            self.open_window();
        }
        self.send_allowed(now, out);
    }

    fn partial_newreno(&mut self, now: Instant, next: u32, out: &mut Output) {
        let covered = next - self.una;
        if self.inflation > covered {
            self.inflation -= covered - 1;
        } else {
            self.window.congestion = (self.window.congestion - f64::from(covered - self.inflation)).max(1.0);
            self.inflation = 1;
        }
        self.move_partially(now, next);
        if !self.first_partial {
            self.first_partial = true;
            self.restart_timer(now);
        }
        self.note_ack();
        let una = self.una;
        self.transmit(now, una, out);
        if self.next == una {
            self.next = una + 1;
        }
        if self.duplicates == 0 {
            self.send_allowed(now, out);
        } else if self.duplicates >= self.parameters.duplicate_threshold {
            self.send_burst(now, BURST, out);
        }
    }
}
