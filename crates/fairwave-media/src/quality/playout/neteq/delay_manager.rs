//! Target delay: libwebrtc `neteq/delay_manager.cc`, `underrun_optimizer.cc` and `reorder_optimizer.cc`.
//!
//! The target is the larger of two values. Against underruns: the 95 % quantile of the largest relative delay in each
//! half second. Against reordering: the delay b with the least cost. The cost is max(0, b − base) + 20 ms for each
//! percent of packets that would still be too late; `base` is the first value.

use super::histogram::{BUCKET_MS, Histogram};

/// Target before delays are known, in milliseconds.
const START_DELAY_MS: i64 = 80;

/// 0.95 in Q30.
const QUANTILE: i32 = (0.95 * (1 << 30) as f64) as i32;

/// 0.983 in Q15.
const FORGET: i32 = (0.983 * (1 << 15) as f64) as i32;

/// 0.9993 in Q15.
const REORDER_FORGET: i32 = (0.9993 * (1 << 15) as f64) as i32;

/// Each histogram entry against underruns is the largest delay in this time, in milliseconds.
const RESAMPLE_MS: i64 = 500;

/// Delay that costs as much as one percent of loss, in milliseconds.
const MS_PER_LOSS_PERCENT: i64 = 20;

/// Both target values, in milliseconds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DelayManager {
    underrun: Underrun,
    reorder: Reorder,
    target_ms: i64,
}

impl DelayManager {
    pub(super) fn new() -> Self {
        DelayManager { underrun: Underrun::new(), reorder: Reorder::new(), target_ms: START_DELAY_MS }
    }

    /// Records a packet that arrived at `now_ms`, `delay_ms` later than the least delayed earlier packet.
    pub(super) fn on_arrival(&mut self, now_ms: i64, delay_ms: i64, reordered: bool) {
        if !reordered {
            self.underrun.on_arrival(now_ms, delay_ms);
        }
        let base = self.underrun.optimal_ms.unwrap_or(START_DELAY_MS);
        self.target_ms = base.max(self.reorder.on_arrival(delay_ms, reordered, base));
    }

    pub(super) const fn target_ms(&self) -> i64 {
        self.target_ms
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Underrun {
    histogram: Histogram,
    since_ms: Option<i64>,
    largest_ms: i64,
    optimal_ms: Option<i64>,
}

impl Underrun {
    fn new() -> Self {
        Underrun { histogram: Histogram::new(FORGET), since_ms: None, largest_ms: 0, optimal_ms: None }
    }

    fn on_arrival(&mut self, now_ms: i64, delay_ms: i64) {
        let since = *self.since_ms.get_or_insert(now_ms);
        if now_ms - since > RESAMPLE_MS {
            self.histogram.add(self.largest_ms);
            self.optimal_ms = Some((1 + self.histogram.quantile(QUANTILE) as i64) * BUCKET_MS);
            self.since_ms = Some(now_ms);
            self.largest_ms = 0;
        }
        self.largest_ms = self.largest_ms.max(delay_ms);
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Reorder {
    histogram: Histogram,
}

impl Reorder {
    fn new() -> Self {
        Reorder { histogram: Histogram::new(REORDER_FORGET) }
    }

    /// Returns the delay for reordered packets, if `base_ms` is waited anyway.
    fn on_arrival(&mut self, delay_ms: i64, reordered: bool, base_ms: i64) -> i64 {
        self.histogram.add(if reordered { delay_ms } else { 0 });
        let mut late = 1_i64 << 30;
        let mut best = (i64::MAX, 0);
        for (delay, bucket) in (0..).step_by(BUCKET_MS as usize).zip(self.histogram.probabilities()) {
            late -= i64::from(*bucket);
            let cost = ((delay - base_ms).max(0) << 30) + 100 * MS_PER_LOSS_PERCENT * late;
            if cost < best.0 {
                best = (cost, delay);
            }
        }
        best.1 + BUCKET_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_are_cut_as_libwebrtc_cuts_them() {
        assert_eq!((QUANTILE, FORGET, REORDER_FORGET), (1_020_054_732, 32_210, 32_745));
    }

    #[test]
    fn packets_that_are_never_late_are_given_one_bucket() {
        // delay_manager_unittest.cc, UpdateNormal: 50 packets, one every 20 ms, none delayed.
        let mut delays = DelayManager::new();
        assert_eq!(delays.target_ms(), 80);
        for i in 0..50 {
            delays.on_arrival(20 * i, 0, false);
            assert_eq!(delays.target_ms(), if 20 * i > 500 { 20 } else { 80 }, "after {i}");
        }
    }

    #[test]
    fn half_a_second_is_entered_by_its_largest_delay() {
        // underrun_optimizer_unittest.cc, ResamplePacketDelays: delays up to 480 ms give 500 ms.
        let mut underrun = Underrun::new();
        for delay in (0..500).step_by(20) {
            underrun.on_arrival(0, delay);
            assert_eq!(underrun.optimal_ms, None);
        }
        underrun.on_arrival(500, 0);
        assert_eq!(underrun.optimal_ms, None, "500 ms have not passed until later than 500 ms");
        underrun.on_arrival(510, 0);
        assert_eq!(underrun.optimal_ms, Some(500));
    }

    #[test]
    fn the_delay_that_ends_an_interval_counts_for_the_next() {
        let mut underrun = Underrun::new();
        underrun.on_arrival(0, 0);
        underrun.on_arrival(510, 300);
        assert_eq!(underrun.optimal_ms, Some(20));
        underrun.on_arrival(1020, 0);
        assert_eq!(underrun.optimal_ms, Some(320));
        underrun.on_arrival(1400, 0);
        assert_eq!(underrun.optimal_ms, Some(320), "the next interval begins when the last was entered");
    }

    #[test]
    fn only_reordered_packets_make_the_second_wish_grow() {
        // reorder_optimizer_unittest.cc, OnlyIncreaseDelayForReorderedPackets.
        let mut reorder = Reorder::new();
        assert_eq!(reorder.on_arrival(60, false, 0), 20);
        assert_eq!(reorder.on_arrival(100, false, 0), 20);
        assert_eq!(reorder.on_arrival(80, true, 0), 100);
    }

    #[test]
    fn a_long_delay_that_is_rare_costs_more_than_it_saves() {
        // reorder_optimizer_unittest.cc, AvoidIncreasingDelayWhenProbabilityIsLow. There it is the fourth of equal
        // entries, with the start weight of 1; here, with weight 2, it is a rarer entry.
        let mut reorder = Reorder::new();
        for _ in 0..12 {
            assert_eq!(reorder.on_arrival(40, true, 0), 60);
        }
        assert_eq!(reorder.on_arrival(600, true, 0), 60);
    }

    #[test]
    fn delay_up_to_the_minimum_costs_nothing() {
        // reorder_optimizer_unittest.cc, BaseDelayIsSubtractedFromCost.
        let mut reorder = Reorder::new();
        for _ in 0..4 {
            assert_eq!(reorder.on_arrival(40, true, 200), 60);
        }
        assert_eq!(reorder.on_arrival(600, true, 200), 620);
        let mut tie = Reorder::new();
        tie.on_arrival(600, true, 620);
        assert_eq!(tie.on_arrival(600, true, 620), 620, "all buckets up to the base cost the same but what is late");
    }

    #[test]
    fn the_target_is_the_larger_wish() {
        let mut delays = DelayManager::new();
        delays.on_arrival(0, 0, false);
        delays.on_arrival(510, 0, false);
        assert_eq!(delays.target_ms(), 20);
        delays.on_arrival(520, 100, true);
        // Two thirds of the weight: 66 % × 20 ms of loss compared with 80 ms more of delay.
        assert_eq!(delays.target_ms(), 120);
        for i in 0..600 {
            delays.on_arrival(530 + 10 * i, 170, false);
        }
        assert_eq!(delays.target_ms(), 180, "now the first wish: 170 ms is in the bucket up to 180 ms");
    }

    #[test]
    fn reordered_packets_do_not_count_against_running_dry() {
        let mut delays = DelayManager::new();
        delays.on_arrival(0, 0, false);
        delays.on_arrival(10, 900, true);
        delays.on_arrival(520, 0, false);
        assert_eq!(delays.underrun.optimal_ms, Some(20));
    }
}
