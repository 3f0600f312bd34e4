//! Tahoe: three duplicates mean loss; the window falls to one segment and slow start sends everything from the loss on again.
//!
//! Source: Jacobson 1988; RFC 2001 §3 without §4. As in ns-2.35 nothing is inflated.

use super::super::control::Verdict;
use super::super::sender::TcpSender;
use super::Episode;
use crate::transport::Output;
use crate::units::Instant;

impl TcpSender {
    pub(crate) fn duplicate_tahoe(&mut self, now: Instant, out: &mut Output) {
        self.duplicates += 1;
        if self.duplicates == self.parameters.duplicate_threshold {
            if self.may_retransmit_fast() {
                self.recover = self.max;
                self.episode = Episode::FastRecovery;
                if self.ask_on_loss(now, 1) == Verdict::Congestion {
                    self.window.congestion = 1.0;
                    self.next = self.una;
                    self.restart_timer(now);
                } else {
                    self.retransmit_first(now, out);
                }
            }
        } else if self.duplicates < self.parameters.duplicate_threshold {
            self.limited_transmit(now, out);
        }
        self.send_allowed(now, out);
    }
}
