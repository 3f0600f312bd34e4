//! Reno: three duplicates mean loss; the segment is sent again, the window halves, and each further duplicate lets one more
//! segment go until new data is acknowledged.
//!
//! Source: RFC 2001 §4, RFC 5681 §3.2. Several losses in a window make Reno stall until the timer goes off.
//!
//! **Assumptions.** With `careful` set (as in ns-2.35) a second fast retransmit within what was in flight at the first loss is not made; without
//! it, as printed in the RFCs, each loss that draws three duplicates halves the window again.

use super::super::control::Verdict;
use super::super::sender::TcpSender;
use super::Episode;
use crate::transport::Output;
use crate::units::Instant;

impl TcpSender {
    pub(crate) fn duplicate_reno(&mut self, now: Instant, out: &mut Output) {
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
        self.send_allowed(now, out);
    }

    /// Enters fast recovery: window, timer, retransmission, inflation by the segments that have left the network.
    pub(super) fn fast_retransmit(&mut self, now: Instant, out: &mut Output) {
        self.recover = self.max;
        self.episode = Episode::FastRecovery;
        let verdict = self.ask_on_loss(now, 1);
        self.kept_window = verdict == Verdict::Random;
        self.retransmit_first(now, out);
        self.inflation = self.parameters.duplicate_threshold;
    }

    pub(crate) fn acknowledged_reno(&mut self, now: Instant, next: u32, out: &mut Output) {
        let recovering = self.episode == Episode::FastRecovery;
        if recovering {
            self.episode = Episode::Recovered;
        }
        self.inflation = 0;
        self.advance(now, next);
        if recovering && self.parameters.deflate && !self.kept_window {
            self.window.congestion = self.window.threshold;
            self.note_ack();
        } else {
            self.open_window();
        }
        self.send_allowed(now, out);
    }
}
