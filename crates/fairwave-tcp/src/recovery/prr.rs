//! Proportional rate reduction: in recovery segments leave in proportion to deliveries. So the window reaches its
//! target at the end of recovery, without a pause at the start or a burst at the end.
//!
//! Source: RFC 9937 (before, RFC 6937 §3). While more than the target is in flight, the sender may send the share
//! target/flight of the deliveries. Below the target, it may send as much as is delivered (the conservative
//! bound). An acknowledgement that advances and reports no further loss allows one segment more (the bound of slow
//! start).
//!
//! **Assumptions.** Segments are counted, not bytes. The target is the controller's window after its response to
//! the loss. The congestion window has this value during the recovery; PRR counts transmissions separately. At the
//! end of recovery the window is the target.

/// Deliveries and transmissions of a recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Prr {
    /// ssthresh.
    target: u32,
    /// RecoverFS: segments in flight at the start of recovery, without those already held.
    flight: u32,
    delivered: u64,
    sent: u64,
    /// SndCnt, less the segments already sent.
    allowance: u32,
}

impl Prr {
    /// Begins a recovery with `flight` segments in flight. Its final window is `target` segments.
    pub fn new(target: u32, flight: u32) -> Self {
        Prr { target, flight: flight.max(1), delivered: 0, sent: 0, allowance: 0 }
    }

    /// Processes an acknowledgement that delivers `delivered` segments; `pipe` are in flight after it. `safe`: it
    /// advances and reports no further loss.
    pub fn on_ack(&mut self, delivered: u32, pipe: u32, safe: bool) {
        self.delivered += u64::from(delivered);
        let count = if pipe > self.target {
            let due = (self.delivered * u64::from(self.target)).div_ceil(u64::from(self.flight));
            due.saturating_sub(self.sent)
        } else {
            let bound = self.delivered.saturating_sub(self.sent).max(u64::from(delivered)) + u64::from(safe);
            bound.min(u64::from(self.target - pipe))
        };
        // The first retransmission always leaves.
        self.allowance = if self.sent == 0 { count.max(1) } else { count } as u32;
    }

    /// Number of segments that may leave now.
    pub fn allowance(&self) -> u32 {
        self.allowance
    }

    /// Counts a transmitted segment.
    pub fn on_sent(&mut self) {
        self.sent += 1;
        self.allowance = self.allowance.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments sent per acknowledgement, if each acknowledgement delivers one segment and the allowance is always
    /// used.
    fn sent_per_ack(mut prr: Prr, mut pipe: u32, acknowledgements: u32, safe: bool) -> Vec<u32> {
        let on_ack = |_| {
            pipe -= 1;
            prr.on_ack(1, pipe, safe);
            let sent = prr.allowance();
            (0..sent).for_each(|_| prr.on_sent());
            pipe += sent;
            sent
        };
        (0..acknowledgements).map(on_ack).collect()
    }

    #[test]
    fn rfc_9937_above_the_target_the_share_of_target_to_flight_leaves() {
        // Half of twenty: one segment per two deliveries; the first leaves at once.
        let sent = sent_per_ack(Prr::new(10, 20), 19, 16, false);
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
        // Seven tenths, as with CUBIC.
        assert_eq!(sent_per_ack(Prr::new(14, 20), 19, 10, false).iter().sum::<u32>(), 7);
    }

    #[test]
    fn rfc_9937_below_the_target_what_is_delivered_leaves_and_one_more_on_a_safe_acknowledgement() {
        // Twelve of twenty were lost: seven are in flight, the target is ten.
        let conservative = sent_per_ack(Prr::new(10, 20), 8, 6, false);
        assert_eq!(conservative, [1; 6]);
        let grows = sent_per_ack(Prr::new(10, 20), 8, 6, true);
        assert_eq!(grows, [2, 2, 1, 1, 1, 1], "up to the target and not beyond");
    }

    #[test]
    fn rfc_9937_one_acknowledgement_of_many_sends_no_more_than_the_target_allows() {
        let mut prr = Prr::new(10, 20);
        prr.on_ack(15, 4, true);
        assert_eq!(prr.allowance(), 6);
    }

    #[test]
    fn rfc_9937_at_the_target_nothing_leaves() {
        let mut prr = Prr::new(10, 20);
        prr.on_ack(1, 19, false);
        prr.on_sent();
        prr.on_ack(8, 10, false);
        assert_eq!(prr.allowance(), 0, "the share of what is delivered is due above the target only");
    }

    #[test]
    fn rfc_9937_the_first_retransmission_leaves_in_any_case() {
        let mut prr = Prr::new(10, 20);
        prr.on_ack(0, 19, false);
        assert_eq!(prr.allowance(), 1);
        prr.on_sent();
        prr.on_ack(0, 19, false);
        assert_eq!(prr.allowance(), 0, "once");
    }

    #[test]
    fn rfc_9937_what_was_not_sent_in_time_is_made_up_for_below_the_target() {
        let mut prr = Prr::new(10, 20);
        prr.on_ack(3, 9, false);
        assert_eq!(prr.allowance(), 1, "room for one");
        prr.on_ack(1, 5, false);
        assert_eq!(prr.allowance(), 4, "four delivered, none sent");
    }
}
