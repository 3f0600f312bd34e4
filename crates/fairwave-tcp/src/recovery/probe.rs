//! The tail loss probe: if the end of a flight is not acknowledged for two round trips, the sender sends a segment
//! that triggers an acknowledgement. Recovery then detects a loss there before the timeout.
//!
//! Source: RFC 8985 §7, and Linux' `tcp_schedule_loss_probe` for the waiting time of Linux. The next
//! acknowledgements show whether the probe itself has repaired a loss (§7.4.2).
//!
//! **Assumptions.** The receiver does not report duplicates (no DSACK). So an unneeded probe is recognised by its
//! duplicate acknowledgement (case 2 of §7.4.2). By the RFC's rule, the longest delay of an acknowledgement is the
//! connection's configured one. The timer is set only if a probe can be sent. §7.3 always sets it, and then
//! restarts the timeout.

use super::super::TcpParameters;
use fairwave_units::units::{Instant, Span};

/// The waiting time without a round trip (RFC 8985 §7.2).
const WITHOUT_ROUND_TRIP: Span = Span::from_secs(1);

/// The wait beyond two round trips in Linux with several segments in flight (`TCP_TIMEOUT_MIN_US`).
const LEAST_WAIT_OF_LINUX: Span = Span::from_millis(2);

/// The rule for the wait beyond two round trips.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ProbeRule {
    /// One segment in flight: the receiver's configured longest delay of an acknowledgement. Several: no further
    /// wait (RFC 8985 §7.2).
    #[default]
    Rfc8985,
    /// One segment in flight: the shortest timeout, since Linux does not know the receiver's delay. Several: 2 ms
    /// (`tcp_schedule_loss_probe`).
    Linux,
}

impl ProbeRule {
    /// The wait beyond two round trips with this many segments in flight.
    pub(super) fn allowance(self, flight: u32, parameters: &TcpParameters) -> Span {
        match (self, flight) {
            (ProbeRule::Rfc8985, 1) => parameters.delayed_ack.unwrap_or(Span::ZERO),
            (ProbeRule::Rfc8985, _) => Span::ZERO,
            (ProbeRule::Linux, 1) => parameters.rto.min,
            (ProbeRule::Linux, _) => LEAST_WAIT_OF_LINUX,
        }
    }
}

/// A scheduled or outstanding probe.
#[derive(Debug)]
pub(super) struct Probe {
    /// Time of the next probe.
    at: Instant,
    /// TLP.end_seq: one past the highest segment sent with the outstanding probe.
    end: Option<u32>,
    /// TLP.is_retrans: the outstanding probe was a retransmission.
    again: bool,
    /// A round trip has been measured since the last probe.
    measured: bool,
}

impl Default for Probe {
    fn default() -> Self {
        Probe { at: Instant::NEVER, end: None, again: false, measured: false }
    }
}

/// Inputs for the time of a probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// Smoothed round trip; zero without a measurement.
    pub smoothed: Span,
    /// See [`ProbeRule::allowance`].
    pub allowance: Span,
    /// Expiry of the timeout.
    pub timeout_at: Instant,
}

impl Probe {
    /// Cancels probes at the start of a recovery (§7.1).
    pub fn reset(&mut self) {
        (self.at, self.end, self.again) = (Instant::NEVER, None, false);
    }

    /// Time of the next probe.
    pub fn due_at(&self) -> Instant {
        self.at
    }

    /// Cancels the scheduled probe.
    pub fn cancel(&mut self) {
        self.at = Instant::NEVER;
    }

    /// Schedules a probe after new data was sent or acknowledged (§7.2).
    pub fn schedule(&mut self, now: Instant, timing: Timing) {
        if self.end.is_some() || !self.measured {
            self.at = Instant::NEVER;
            return;
        }
        let wait = if timing.smoothed > Span::ZERO { timing.smoothed + timing.smoothed } else { WITHOUT_ROUND_TRIP };
        self.at = (now + wait + timing.allowance).min(timing.timeout_at);
    }

    /// Records a probe: a new segment, or with `again` a retransmission. Everything before `end` has then been sent.
    pub fn sent(&mut self, end: u32, again: bool) {
        *self = Probe { at: Instant::NEVER, end: Some(end), again, measured: false };
    }

    /// Records that a round trip has been measured.
    pub fn measured(&mut self) {
        self.measured = true;
    }

    /// Handles an acknowledgement of everything before `next`. `is_bare_duplicate`: it acknowledges no new data
    /// and reports no held segments. Returns true if the probe has repaired a loss, which needs a congestion
    /// response (§7.4.2).
    pub fn on_ack(&mut self, next: u32, is_bare_duplicate: bool) -> bool {
        let Some(end) = self.end.filter(|&end| next >= end) else { return false };
        let repaired = self.again && next > end;
        if !self.again || repaired || is_bare_duplicate {
            self.end = None;
        }
        repaired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    const TIMING: Timing = Timing {
        smoothed: Span::from_millis(100),
        allowance: Span::ZERO,
        timeout_at: Instant::from_nanos(2_000_000_000),
    };

    fn measured() -> Probe {
        Probe { measured: true, ..Probe::default() }
    }

    #[test]
    fn rfc_8985_section_7_2_a_probe_waits_for_two_round_trips_a_delayed_acknowledgement_and_never_beyond_the_timeout() {
        let scheduled = |timing| {
            let mut probe = measured();
            probe.schedule(ms(1000), timing);
            probe.due_at()
        };
        assert_eq!(scheduled(TIMING), ms(1200));
        assert_eq!(scheduled(Timing { allowance: Span::from_millis(40), ..TIMING }), ms(1240));
        assert_eq!(scheduled(Timing { smoothed: Span::ZERO, ..TIMING }), ms(2000));
        assert_eq!(scheduled(Timing { timeout_at: ms(1150), ..TIMING }), ms(1150));
        let without = Timing { smoothed: Span::ZERO, timeout_at: ms(9000), ..TIMING };
        assert_eq!(scheduled(without), ms(2000), "a second without a round trip");
    }

    #[test]
    fn rfc_8985_section_7_3_one_probe_is_out_at_a_time_and_none_without_a_round_trip_since_the_last() {
        let mut probe = Probe::default();
        probe.schedule(ms(0), TIMING);
        assert_eq!(probe.due_at(), Instant::NEVER, "nothing has been measured");
        probe.measured();
        probe.schedule(ms(0), TIMING);
        assert_eq!(probe.due_at(), ms(200));
        probe.sent(11, true);
        probe.measured();
        probe.schedule(ms(300), TIMING);
        assert_eq!(probe.due_at(), Instant::NEVER, "one is out");
        probe.on_ack(12, false);
        probe.schedule(ms(300), TIMING);
        assert_eq!(probe.due_at(), ms(500));
    }

    #[test]
    fn rfc_8985_section_7_1_a_recovery_forgets_the_probe_that_is_out() {
        let mut probe = measured();
        probe.sent(11, true);
        probe.reset();
        probe.measured();
        probe.schedule(ms(300), TIMING);
        assert_eq!(probe.due_at(), ms(500), "the next one is not held back");
        assert!(!probe.on_ack(12, false), "and nothing was repaired by the one before");
    }

    #[test]
    fn rfc_8985_section_7_4_2_what_follows_a_probe_tells_whether_it_has_repaired_a_loss() {
        let after = |again, acks: &[(u32, bool)]| {
            let mut probe = measured();
            probe.sent(11, again);
            let repaired: Vec<bool> = acks.iter().map(|&(next, bare)| probe.on_ack(next, bare)).collect();
            (repaired, probe.end)
        };
        assert_eq!(after(false, &[(10, false), (11, false)]), (vec![false, false], None), "new data, delivered");
        assert_eq!(after(false, &[(12, false)]), (vec![false], None), "new data and more repair no loss");
        assert_eq!(after(true, &[(11, false)]), (vec![false], Some(11)), "the original or the probe");
        assert_eq!(after(true, &[(11, false), (11, true)]), (vec![false, false], None), "both: no loss");
        assert_eq!(after(true, &[(11, false), (12, false)]), (vec![false, true], None), "one of them: a loss");
        assert_eq!(after(true, &[(10, true)]), (vec![false], Some(11)), "a duplicate of something before");
    }
}
