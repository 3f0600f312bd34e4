//! Round-trip times and the retransmission timeout.
//!
//! Source: RFC 6298 (Jacobson & Karels 1988). There are two clocks. The *fine* one measures every acknowledgement
//! by its echoed time stamp, in nanoseconds, so Karn's rule is met by construction (RFC 6298 §3). The *coarse*
//! clock follows ns-2.35 and the BSD code before it. It times one segment at a time, never a retransmitted one
//! (Karn), and the smoothed values are integers in ticks, scaled by 8 and 4.
//!
//! **Assumptions.** The coarse clock's phase is uniform over a tick, as in ns-2.35. Both double the timeout on
//! expiry until it reaches the maximum, and undo the doubling with the next valid sample.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::units::{Instant, Span};

/// The clock that measures round trips.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttClock {
    /// Every acknowledgement, by its echo, in nanoseconds.
    Fine,
    /// One segment at a time, in whole ticks.
    Coarse,
}

/// Limits and granularity of the retransmission timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtoLimits {
    /// The clock that measures round trips.
    pub clock: RttClock,
    /// Granularity: a tick of the coarse clock, G of RFC 6298 §2.3 for the fine one.
    pub tick: Span,
    /// The timeout before the first sample.
    pub initial: Span,
    /// The shortest timeout.
    pub min: Span,
    /// The longest timeout.
    pub max: Span,
}

/// Smoothed round-trip time, its variation, and the resulting timeout. The caller owns the limits, which
/// connections share, and passes the same ones in every call.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// Nanoseconds on the fine clock, ticks × 8 on the coarse one; 0 before the first sample.
    smoothed: u64,
    /// Nanoseconds on the fine clock, ticks × 4 on the coarse one.
    variation: u64,
    /// The timeout before limits and backoff, nanoseconds.
    base: u64,
    /// Number of times that the timeout has been doubled.
    doublings: u8,
    timing: bool,
    timed: u32,
    /// Phase of the coarse clock.
    phase: u64,
    timed_at: Instant,
}

/// The initial timeout of data after a lost SYN (RFC 6298 §5.7).
const AFTER_LOST_SYN: Span = Span::from_secs(3);

/// Above this backoff factor the old round-trip time is discarded (BSD, ns-2.35).
const DISTRUST_BACKOFF: u32 = 8;

/// The maximum number of doublings; no timeout needs more.
const MOST_DOUBLINGS: u8 = 31;

impl RttEstimator {
    /// An estimator without samples. `phase` is the coarse clock's offset, below a tick.
    pub fn new(limits: &RtoLimits, phase: Span) -> Self {
        RttEstimator {
            smoothed: 0,
            variation: 0,
            base: limits.initial.nanos(),
            doublings: 0,
            phase: phase.nanos(),
            timing: false,
            timed: 0,
            timed_at: Instant::ZERO,
        }
    }

    /// The current timeout, including backoff.
    pub fn timeout(&self, limits: &RtoLimits) -> Span {
        let floor = self.base.max(limits.min.nanos());
        Span::from_nanos(floor.saturating_mul(u64::from(self.backoff())).min(limits.max.nanos()))
    }

    /// The backoff factor since the last valid sample: 1, 2, 4, …
    pub fn backoff(&self) -> u32 {
        1 << self.doublings
    }

    /// Smoothed round-trip time; zero before the first sample.
    pub fn smoothed(&self, limits: &RtoLimits) -> Span {
        match limits.clock {
            RttClock::Fine => Span::from_nanos(self.smoothed),
            RttClock::Coarse => Span::from_nanos(self.smoothed * limits.tick.nanos() / 8),
        }
    }

    /// Records a new segment `sequence`. It is timed if no other segment is.
    pub fn sent_new(&mut self, now: Instant, sequence: u32) {
        if !self.timing && (sequence > self.timed || self.timed_at == Instant::ZERO) {
            self.timing = true;
            self.timed = sequence;
            self.timed_at = now;
        }
    }

    /// Discards the running measurement at the start of a recovery (ns-2.35).
    pub fn distrust(&mut self) {
        self.timing = false;
    }

    /// Processes an acknowledgement of everything before `next`. The segment that caused it left at `echo`.
    pub fn acknowledged(&mut self, limits: &RtoLimits, now: Instant, next: u32, echo: Instant) {
        match limits.clock {
            RttClock::Fine => {
                self.doublings = 0;
                self.sample_fine(limits, now.span_since(echo).nanos());
            }
            RttClock::Coarse => {
                if self.timing && next > self.timed {
                    self.timing = false;
                    self.doublings = 0;
                    self.sample_coarse(limits, self.timed_at, now);
                }
            }
        }
    }

    /// Like [`Self::acknowledged`], for a partial acknowledgement within a recovery. The coarse clock then ends
    /// its timing and its backoff, and takes no sample.
    pub fn acknowledged_partially(&mut self, limits: &RtoLimits, now: Instant, next: u32, echo: Instant) {
        match limits.clock {
            RttClock::Fine => self.acknowledged(limits, now, next, echo),
            RttClock::Coarse => {
                if self.timing && next > self.timed {
                    self.timing = false;
                    self.doublings = 0;
                }
            }
        }
    }

    /// Records a retransmission. If the segment is being timed, its measurement is discarded (Karn's rule).
    pub fn sent_again(&mut self, segment: u32) {
        if self.timed == segment {
            self.timing = false;
        }
    }

    /// Handles a handshake with a lost SYN: a timeout below 3 s is set to 3 s (RFC 6298 §5.7), until the next
    /// measurement.
    pub fn restart_after_lost_syn(&mut self, limits: &RtoLimits) {
        if limits.initial < AFTER_LOST_SYN {
            self.base = AFTER_LOST_SYN.nanos();
            self.doublings = 0;
        }
    }

    /// Resets the backoff when the connection makes progress.
    pub fn forget_backoff(&mut self) {
        self.doublings = 0;
    }

    /// Doubles the timeout after an expiry (RFC 6298 §5.5).
    pub fn expired(&mut self, limits: &RtoLimits) {
        self.timing = false;
        if self.timeout(limits) < limits.max {
            self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        }
        if limits.clock == RttClock::Coarse && self.backoff() > DISTRUST_BACKOFF {
            self.variation += self.smoothed >> 3;
            self.smoothed = 0;
        }
    }

    /// RFC 6298 §2.2–2.3 with α = 1/8, β = 1/4, K = 4.
    fn sample_fine(&mut self, limits: &RtoLimits, rtt: u64) {
        if self.smoothed == 0 {
            self.smoothed = rtt.max(1);
            self.variation = rtt / 2;
        } else {
            self.variation = self.variation - self.variation / 4 + self.smoothed.abs_diff(rtt) / 4;
            self.smoothed = self.smoothed - self.smoothed / 8 + rtt / 8;
        }
        self.base = self.smoothed + (4 * self.variation).max(limits.tick.nanos());
    }

    /// The same in whole ticks, as in BSD.
    fn sample_coarse(&mut self, limits: &RtoLimits, from: Instant, to: Instant) {
        let tick = limits.tick.nanos().max(1);
        let offset = (from.nanos() + self.phase) % tick;
        let ticks = ((to.span_since(from).nanos() + offset) / tick).max(1) as i64;
        if self.smoothed == 0 {
            self.smoothed = (ticks as u64) << 3;
            self.variation = (ticks as u64) << 1;
        } else {
            let error = ticks - (self.smoothed >> 3) as i64;
            self.smoothed = (self.smoothed as i64 + error).max(1) as u64;
            let spread = error.abs() - (self.variation >> 2) as i64;
            self.variation = (self.variation as i64 + spread).max(1) as u64;
        }
        self.base = (((self.variation << 3) + self.smoothed) >> 3) * tick;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(clock: RttClock) -> RtoLimits {
        RtoLimits {
            clock,
            tick: Span::from_millis(10),
            initial: Span::from_secs(3),
            min: Span::from_millis(200),
            max: Span::from_secs(60),
        }
    }

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn the_first_sample_sets_rtt_and_half_of_it_as_variation() {
        // RFC 6298 §2.2: SRTT = R, RTTVAR = R/2, RTO = R + 4·R/2 = 3R.
        let limits = limits(RttClock::Fine);
        let mut rtt = RttEstimator::new(&limits, Span::ZERO);
        rtt.acknowledged(&limits, ms(1100), 1, ms(1000));
        assert_eq!(rtt.smoothed(&limits), Span::from_millis(100));
        assert_eq!(rtt.timeout(&limits), Span::from_millis(300));
    }

    #[test]
    fn later_samples_follow_the_filters_of_rfc_6298() {
        let limits = limits(RttClock::Fine);
        let mut rtt = RttEstimator::new(&limits, Span::ZERO);
        rtt.acknowledged(&limits, ms(1100), 1, ms(1000));
        rtt.acknowledged(&limits, ms(1280), 2, ms(1100));
        // RTTVAR = 3/4·50 + 1/4·80 = 57.5, SRTT = 7/8·100 + 1/8·180 = 110, RTO = 110 + 230.
        assert_eq!(rtt.smoothed(&limits), Span::from_millis(110));
        assert_eq!(rtt.timeout(&limits), Span::from_millis(340));
    }

    #[test]
    fn a_steady_round_trip_leaves_it_and_the_granularity_as_the_timeout() {
        // RFC 6298 §2.3: RTO = SRTT + max(G, 4·RTTVAR), and RTTVAR decays to zero.
        let limits = limits(RttClock::Fine);
        let mut rtt = RttEstimator::new(&limits, Span::ZERO);
        for n in 1..200u64 {
            rtt.acknowledged(&limits, ms(1000 * n + 300), n as u32, ms(1000 * n));
        }
        let timeout = rtt.timeout(&limits);
        let over = timeout.saturating_sub(Span::from_millis(310));
        assert!(timeout >= Span::from_millis(310) && over < Span::from_micros(1), "{timeout}");
    }

    #[test]
    fn the_timeout_stays_between_its_limits() {
        let limits = limits(RttClock::Fine);
        let mut rtt = RttEstimator::new(&limits, Span::ZERO);
        for n in 0..50 {
            rtt.acknowledged(&limits, ms(1000 + n), n as u32, ms(999 + n));
        }
        assert_eq!(rtt.timeout(&limits), Span::from_millis(200));
        for _ in 0..20 {
            rtt.expired(&limits);
        }
        assert_eq!(rtt.timeout(&limits), Span::from_secs(60));
    }

    #[test]
    fn expiry_doubles_and_a_valid_sample_forgets() {
        let limits = limits(RttClock::Coarse);
        let mut rtt = RttEstimator::new(&limits, Span::ZERO);
        assert_eq!(rtt.timeout(&limits), Span::from_secs(3));
        rtt.expired(&limits);
        rtt.expired(&limits);
        assert_eq!(rtt.timeout(&limits), Span::from_secs(12));
        rtt.sent_new(ms(1000), 5);
        rtt.acknowledged(&limits, ms(1100), 6, ms(1000));
        assert_eq!(rtt.timeout(&limits), Span::from_millis(300));
    }

    #[test]
    fn a_segment_sent_again_gives_no_sample_on_the_coarse_clock() {
        let limits = limits(RttClock::Coarse);
        let mut rtt = RttEstimator::new(&limits, Span::ZERO);
        rtt.sent_new(ms(1000), 1);
        rtt.expired(&limits);
        rtt.acknowledged(&limits, ms(9000), 2, ms(8900));
        assert_eq!(rtt.smoothed(&limits), Span::ZERO);
        assert_eq!(rtt.backoff(), 2, "the doubled timeout is kept until a valid sample");
    }

    #[test]
    fn the_coarse_clock_counts_whole_ticks() {
        // 104 ms from an instant 5 ms after a tick: 10 ticks. SRTT 80/8, RTTVAR 20/4, RTO 10 + 4·5 ticks.
        let limits = limits(RttClock::Coarse);
        let mut rtt = RttEstimator::new(&limits, Span::ZERO);
        rtt.sent_new(ms(1005), 1);
        rtt.acknowledged(&limits, ms(1109), 2, ms(1005));
        assert_eq!(rtt.smoothed(&limits), Span::from_millis(100));
        assert_eq!(rtt.timeout(&limits), Span::from_millis(300));
    }

    #[test]
    fn the_coarse_clock_smooths_in_whole_ticks() {
        // A second sample of 18 ticks after one of 10: error 8 on 80/8 gives 88/8 (11 ticks); spread 8 − 5 on 20/4 gives 23/4.
        let limits = limits(RttClock::Coarse);
        let mut rtt = RttEstimator::new(&limits, Span::ZERO);
        rtt.sent_new(ms(1000), 1);
        rtt.acknowledged(&limits, ms(1100), 2, ms(1000));
        rtt.sent_new(ms(2000), 2);
        rtt.acknowledged(&limits, ms(2180), 3, ms(2000));
        assert_eq!(rtt.smoothed(&limits), Span::from_millis(110));
        assert_eq!(rtt.timeout(&limits), Span::from_millis(10 * ((23 * 8 + 88) / 8)));
    }

    #[test]
    fn the_coarse_clock_counts_from_its_own_phase() {
        // 104 ms from 5 ms into a tick are ten ticks; from 7 ms into it they are eleven.
        let limits = limits(RttClock::Coarse);
        let smoothed = |phase| {
            let mut rtt = RttEstimator::new(&limits, Span::from_millis(phase));
            rtt.sent_new(ms(1005), 1);
            rtt.acknowledged(&limits, ms(1109), 2, ms(1005));
            rtt.smoothed(&limits)
        };
        assert_eq!((smoothed(0), smoothed(2)), (Span::from_millis(100), Span::from_millis(110)));
    }

    #[test]
    fn the_coarse_clock_times_one_segment_at_a_time_and_none_twice() {
        let limits = limits(RttClock::Coarse);
        let mut rtt = RttEstimator::new(&limits, Span::ZERO);
        rtt.sent_new(ms(1000), 1);
        rtt.sent_new(ms(1050), 2);
        rtt.acknowledged(&limits, ms(1060), 1, ms(1050));
        assert_eq!(rtt.smoothed(&limits), Span::ZERO, "segment 1 is not acknowledged yet");
        rtt.acknowledged(&limits, ms(1100), 2, ms(1050));
        assert_eq!(rtt.smoothed(&limits), Span::from_millis(100));
        rtt.sent_new(ms(1100), 1);
        rtt.acknowledged(&limits, ms(1900), 3, ms(1100));
        assert_eq!(rtt.smoothed(&limits), Span::from_millis(100), "it has been timed before");
    }

    #[test]
    fn distrusted_and_resent_segments_give_no_sample() {
        let limits = limits(RttClock::Coarse);
        let sampled = |spoil: &dyn Fn(&mut RttEstimator)| {
            let mut rtt = RttEstimator::new(&limits, Span::ZERO);
            rtt.sent_new(ms(1000), 4);
            spoil(&mut rtt);
            rtt.acknowledged(&limits, ms(1100), 5, ms(1000));
            rtt.smoothed(&limits) > Span::ZERO
        };
        assert!(sampled(&|_| {}));
        assert!(!sampled(&RttEstimator::distrust));
        assert!(!sampled(&|rtt| rtt.sent_again(4)));
        assert!(sampled(&|rtt| rtt.sent_again(5)), "another segment");
    }

    #[test]
    fn a_partial_acknowledgement_is_a_sample_for_the_fine_clock_and_ends_the_coarse_ones_timing() {
        let fine = limits(RttClock::Fine);
        let mut rtt = RttEstimator::new(&fine, Span::ZERO);
        rtt.acknowledged_partially(&fine, ms(1100), 2, ms(1000));
        assert_eq!(rtt.smoothed(&fine), Span::from_millis(100));
        let coarse = limits(RttClock::Coarse);
        let mut rtt = RttEstimator::new(&coarse, Span::ZERO);
        rtt.expired(&coarse);
        rtt.sent_new(ms(1000), 4);
        rtt.acknowledged_partially(&coarse, ms(1100), 4, ms(1000));
        assert_eq!(rtt.backoff(), 2, "the segment that is timed is not acknowledged");
        rtt.acknowledged_partially(&coarse, ms(1100), 5, ms(1000));
        assert_eq!((rtt.backoff(), rtt.smoothed(&coarse)), (1, Span::ZERO));
        rtt.acknowledged(&coarse, ms(1200), 6, ms(1000));
        assert_eq!(rtt.smoothed(&coarse), Span::ZERO, "nothing is timed any more");
    }

    #[test]
    fn round_trip_is_forgotten_after_eight_timeouts() {
        let limits = limits(RttClock::Coarse);
        let mut rtt = RttEstimator::new(&limits, Span::ZERO);
        rtt.sent_new(ms(1000), 1);
        rtt.acknowledged(&limits, ms(1100), 2, ms(1000));
        for _ in 0..3 {
            rtt.expired(&limits);
        }
        assert_eq!((rtt.backoff(), rtt.smoothed(&limits)), (8, Span::from_millis(100)));
        rtt.expired(&limits);
        assert_eq!((rtt.backoff(), rtt.smoothed(&limits)), (16, Span::ZERO));
        rtt.forget_backoff();
        assert_eq!(rtt.backoff(), 1);
    }

    #[test]
    fn rfc_6298_section_5_7_a_lost_syn_sets_a_shorter_timeout_to_three_seconds() {
        let short = RtoLimits { initial: Span::from_secs(1), ..limits(RttClock::Fine) };
        let mut rtt = RttEstimator::new(&short, Span::ZERO);
        rtt.expired(&short);
        rtt.restart_after_lost_syn(&short);
        assert_eq!(rtt.timeout(&short), Span::from_secs(3));
        rtt.acknowledged(&short, ms(1100), 1, ms(1000));
        assert_eq!(rtt.timeout(&short), Span::from_millis(300), "the next measurement ends it");
        let long = RtoLimits { initial: Span::from_secs(3), ..short };
        let mut rtt = RttEstimator::new(&long, Span::ZERO);
        rtt.acknowledged(&long, ms(1100), 1, ms(1000));
        rtt.restart_after_lost_syn(&long);
        assert_eq!(rtt.timeout(&long), Span::from_millis(300));
    }
}
