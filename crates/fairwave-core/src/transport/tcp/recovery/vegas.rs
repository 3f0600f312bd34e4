//! Vegas' retransmission: a duplicate acknowledgement looks at a fine-grained timer and need not wait for two more.
//!
//! Source: Brakmo & Peterson 1995 §3.1 as ns-2.35 has it. On each duplicate, and on the first two acknowledgements after a
//! retransmission, the oldest segment is sent again if it has been out for longer than the fine-grained timeout. The window is
//! lowered only if it has not been since that segment left.
//!
//! **Assumptions.** The fine timeout is 17/16 of the smoothed round trip plus twice its mean deviation, grows by an eighth with
//! each retransmission of a segment and doubles with repeated ones. No limited transmit. Three
//! habits of ns-2.35 come with its preset: each early retransmit backs the coarse timer off; the inflation of an early retransmit (one to
//! three segments) stays in the window unless more than three duplicates came; and if more than three come while what was in flight at a
//! timeout is repaired, the window closes altogether, since the value it should return to is unset. Here it opens to one segment again
//! when nothing is in flight any more: no acknowledgement could open it, and the connection would never send again.

use super::super::control::LEAST_THRESHOLD;
use super::super::sender::TcpSender;
use super::Episode;
use crate::transport::Output;
use crate::units::{Instant, Span};

/// When each outstanding segment was last sent, and the timeout measured from that.
#[derive(Clone, Debug)]
pub(crate) struct FineTimers {
    /// Last sending of segment `s`, and how often it has been sent, at `s mod` length (a power of two).
    sent: Vec<(Instant, u32)>,
    /// Smoothed round trip and mean deviation, seconds.
    smoothed: f64,
    deviation: f64,
    timeout: f64,
    /// Acknowledgements after a retransmission that still look at the timer.
    pub(crate) worried: u32,
    /// When the window was last lowered.
    lowered: Instant,
    /// To what an early retransmit lowered it; 0 after a timeout.
    lowered_to: f64,
}

impl FineTimers {
    pub(crate) fn new(window: u32) -> Self {
        let length = (window as usize + 1).next_power_of_two();
        FineTimers {
            sent: vec![(Instant::ZERO, 0); length],
            smoothed: 0.0,
            deviation: 0.0,
            timeout: f64::INFINITY,
            worried: 0,
            lowered: Instant::ZERO,
            lowered_to: 0.0,
        }
    }

    fn place(&self, segment: u32) -> usize {
        segment as usize & (self.sent.len() - 1)
    }

    pub(crate) fn on_sent(&mut self, now: Instant, segment: u32, again: bool) {
        let place = self.place(segment);
        let times = if again { self.sent[place].1.saturating_add(1) } else { 1 };
        self.sent[place] = (now, times);
    }

    /// The round trip of `segment`, which is acknowledged now; zero if it was sent more than once (Karn's rule).
    fn round_trip(&self, now: Instant, segment: u32) -> Span {
        match self.sent[self.place(segment)] {
            (sent, 1) => now.since(sent),
            _ => Span::ZERO,
        }
    }

    pub(crate) fn on_sample(&mut self, rtt: Span) {
        let rtt = rtt.seconds();
        if rtt <= 0.0 {
            return;
        }
        if self.timeout.is_infinite() {
            (self.smoothed, self.deviation) = (rtt, rtt / 4.0);
        } else {
            let error = rtt - self.smoothed;
            self.smoothed += error / 8.0;
            self.deviation += (error.abs() - self.deviation) / 4.0;
        }
        self.timeout = (self.smoothed + 2.0 * self.deviation) * 1.0625;
    }

    fn expired(&self, now: Instant, segment: u32) -> bool {
        now.since(self.sent[self.place(segment)].0).seconds() >= self.timeout
    }

    pub(crate) fn on_timeout(&mut self, now: Instant) {
        self.lowered = now;
        self.lowered_to = 0.0;
    }
}

impl TcpSender {
    pub(crate) fn duplicate_vegas(&mut self, now: Instant, out: &mut Output) {
        self.duplicates += 1;
        let threshold = self.parameters.duplicate_threshold;
        let una = self.una;
        let Some(fine) = &mut self.fine else { return };
        if fine.expired(now, una) || self.duplicates == threshold {
            if una > self.recover || self.episode != Episode::Timeout {
                let (left, times) = fine.sent[fine.place(una)];
                fine.worried = (self.next - una + 1).min(2);
                if times > 1 {
                    fine.timeout *= 2.0;
                } else {
                    fine.timeout *= 1.125;
                }
                let lower = fine.lowered < left;
                if lower {
                    fine.lowered = now;
                }
                self.episode = Episode::FastRecovery;
                self.recover = self.max;
                if lower {
                    self.window.congestion += f64::from(std::mem::take(&mut self.inflation));
                    self.ask_on_loss(now, times);
                    self.inflation = self.duplicates;
                    if let Some(fine) = &mut self.fine {
                        fine.lowered_to = self.window.congestion;
                    }
                }
                if self.parameters.like_ns2 {
                    self.rtt.expired(&self.parameters.rto);
                }
                self.retransmit_first(now, out);
                if times == 1 {
                    self.duplicates = self.duplicates.max(threshold);
                }
            }
        } else if self.duplicates > threshold {
            self.inflation += 1;
        }
        if self.duplicates >= threshold {
            self.send_allowed(now, out);
        }
    }

    /// New data is acknowledged: what duplicates added to the window goes.
    fn deflate_vegas(&mut self) {
        let inflated = self.window.congestion + f64::from(self.inflation);
        let many = self.duplicates > self.parameters.duplicate_threshold;
        match &self.fine {
            Some(fine) if self.parameters.like_ns2 => {
                self.window.congestion = inflated;
                if many && inflated > fine.lowered_to {
                    self.window.congestion = fine.lowered_to;
                    self.window.threshold = LEAST_THRESHOLD;
                }
            }
            _ if many => self.window.threshold = LEAST_THRESHOLD,
            _ => {}
        }
        self.inflation = 0;
    }

    pub(crate) fn acknowledged_vegas(&mut self, now: Instant, next: u32, out: &mut Output) {
        self.deflate_vegas();
        if self.episode == Episode::FastRecovery && self.una >= self.recover {
            self.episode = Episode::Recovered;
        }
        // Vegas reads its own clock for each segment: what waited at the receiver for a hole to be filled took that long.
        let rtt = self.fine.as_ref().map_or(Span::ZERO, |fine| fine.round_trip(now, next - 1));
        self.path.rtt = rtt;
        self.advance(now, next);
        self.open_window();
        let una = self.una;
        if una == self.max && self.window.congestion < 1.0 {
            self.window.congestion = 1.0;
        }
        if let Some(fine) = &mut self.fine {
            if fine.timeout.is_finite() || rtt > Span::ZERO {
                fine.on_sample(rtt);
            }
            if fine.worried > 0 {
                fine.worried -= 1;
                if una < self.max && fine.expired(now, una) {
                    self.duplicates = self.parameters.duplicate_threshold;
                    self.transmit(now, una, out);
                    if self.next == una {
                        self.next = una + 1;
                    }
                } else {
                    fine.worried = 0;
                }
            }
        }
        if self.duplicates == 0 || self.duplicates >= self.parameters.duplicate_threshold {
            self.send_allowed(now, out);
        }
    }
}
