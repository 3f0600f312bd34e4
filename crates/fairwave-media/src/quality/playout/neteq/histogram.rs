//! Histogram of delays with exponential forgetting: libwebrtc `neteq/histogram.cc`, in its fixed point.
//!
//! 100 buckets of 20 ms. Each entry multiplies all buckets by the forgetting factor f and adds 1 − f to the entry's
//! bucket. The factor starts at 0. After n entries it is 1 − w/(n + 1), up to its steady value, so that the first
//! entries have equal weight.

/// Number of buckets.
pub(super) const BUCKETS: usize = 100;

/// Width of a bucket, in milliseconds.
pub(super) const BUCKET_MS: i64 = 20;

/// 1 in Q30, the format of buckets.
const ONE: i32 = 1 << 30;

/// 1 in Q15, the format of forgetting factors.
const ONE_Q15: i32 = 1 << 15;

/// w of [`Histogram`]: `start_forget_weight` of libwebrtc's `DelayManager::Config`.
const START_WEIGHT: f64 = 2.0;

/// Distribution of delays up to 2 s.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Histogram {
    buckets: [i32; BUCKETS],
    /// Number of buckets before the first of only empty ones.
    used: usize,
    forget: i32,
    steady_forget: i32,
    entries: u32,
}

impl Histogram {
    /// Returns a histogram whose buckets halve from one to the next; `steady_forget` is in Q15.
    pub(super) fn new(steady_forget: i32) -> Self {
        let mut buckets = [0; BUCKETS];
        // Slightly more than 1 in Q14, so that the truncated halves sum to 1.
        let mut half = 0x4002;
        let mut used = 0;
        for bucket in &mut buckets {
            half >>= 1;
            *bucket = half << 16;
            used += usize::from(half > 0);
        }
        Histogram { buckets, used, forget: 0, steady_forget, entries: 0 }
    }

    /// Adds an entry; entries beyond the last bucket are ignored.
    pub(super) fn add(&mut self, delay_ms: i64) {
        let Some(index) = usize::try_from(delay_ms / BUCKET_MS).ok().filter(|&index| index < BUCKETS) else { return };
        let mut excess = -ONE;
        let mut used = 0;
        for (place, bucket) in self.buckets.iter_mut().enumerate().take(self.used) {
            *bucket = ((i64::from(*bucket) * i64::from(self.forget)) >> 15) as i32;
            excess += *bucket;
            if *bucket != 0 {
                used = place + 1;
            }
        }
        self.used = used.max(index + 1);
        let weight = (ONE_Q15 - self.forget) << 15;
        self.buckets[index] += weight;
        excess += weight;
        self.settle(excess);
        self.entries = self.entries.saturating_add(1);
        let forget = f64::from(ONE_Q15) * (1.0 - START_WEIGHT / (f64::from(self.entries) + 1.0));
        self.forget = (forget as i32).clamp(0, self.steady_forget);
    }

    /// Subtracts the rounding `excess` from the first buckets, so that the sum stays 1.
    fn settle(&mut self, mut excess: i32) {
        for bucket in &mut self.buckets {
            if excess == 0 {
                return;
            }
            let correction = -excess.signum() * excess.abs().min(*bucket >> 4);
            *bucket += correction;
            excess += correction;
        }
    }

    /// Returns the first bucket with a cumulative probability of at least `probability` (Q30).
    pub(super) fn quantile(&self, probability: i32) -> usize {
        let beyond = ONE - probability;
        let mut left = ONE;
        for (index, bucket) in self.buckets.iter().enumerate() {
            left -= bucket;
            if left <= beyond {
                return index;
            }
        }
        BUCKETS - 1
    }

    /// Returns the probability of each bucket, in Q30; further buckets are empty.
    pub(super) fn probabilities(&self) -> &[i32] {
        self.buckets.get(..self.used).unwrap_or(&self.buckets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.9993 in Q15.
    const STEADY: i32 = 32745;

    fn sum(histogram: &Histogram) -> i64 {
        histogram.probabilities().iter().map(|&bucket| i64::from(bucket)).sum()
    }

    #[test]
    fn starts_with_halving_probabilities_that_sum_to_one() {
        // histogram_unittest.cc, Initialization: within 65537 of 2^(29 − i).
        let histogram = Histogram::new(STEADY);
        for (i, &bucket) in histogram.probabilities().iter().enumerate() {
            let half = libm::ldexp(1.0, 29 - i as i32);
            assert!((f64::from(bucket) - half).abs() <= 65537.0, "bucket {i}: {bucket}");
        }
        assert_eq!(sum(&histogram), 1 << 30);
    }

    #[test]
    fn the_first_two_entries_say_all_and_then_each_counts_as_much_as_those_before() {
        let mut histogram = Histogram::new(STEADY);
        histogram.add(100);
        assert_eq!(histogram.probabilities()[5], 1 << 30, "the first entry forgets the halves");
        histogram.add(60);
        assert_eq!(histogram.probabilities()[3], 1 << 30, "1 − 2/2 = 0 is left of the first");
        histogram.add(0);
        // f = 1 − 2/3 in Q15, truncated: 10922.
        assert_eq!(histogram.probabilities()[0], (32768 - 10922) << 15);
        assert_eq!(histogram.probabilities()[3], 10922 << 15);
    }

    #[test]
    fn an_entry_raises_its_bucket_lowers_the_others_and_keeps_the_sum() {
        // histogram_unittest.cc, Add and ForgetFactor.
        let mut histogram = Histogram::new(STEADY);
        for delay in [0, 20, 40, 60, 80, 100, 120, 20, 40, 60] {
            histogram.add(delay);
        }
        let before = histogram.clone();
        histogram.add(80);
        for (i, (after, before)) in histogram.probabilities().iter().zip(before.probabilities()).enumerate() {
            match i {
                4 => assert!(after > before),
                _ if *before > 0 => assert!(after < before, "bucket {i}"),
                _ => assert_eq!(after, before),
            }
        }
        assert_eq!(sum(&histogram), 1 << 30);
    }

    #[test]
    fn the_sum_stays_one_whatever_is_rounded() {
        let mut histogram = Histogram::new(32210);
        for step in 0..10_000 {
            histogram.add((step * 7919) % 1999);
            assert_eq!(sum(&histogram), 1 << 30, "after {step}");
        }
    }

    #[test]
    fn forgetting_settles_at_its_steady_factor() {
        // histogram_unittest.cc, ReachSteadyStateForgetFactor, with weight 2 instead of 1: after 2/(1 − f) entries.
        let mut histogram = Histogram::new(STEADY);
        let entries = 2 * 32768 / (32768 - STEADY);
        for _ in 0..entries - 1 {
            histogram.add(0);
        }
        assert!(histogram.forget < STEADY);
        histogram.add(0);
        assert_eq!(histogram.forget, STEADY);
        histogram.add(0);
        assert_eq!(histogram.forget, STEADY);
    }

    #[test]
    fn a_quantile_is_the_bucket_up_to_which_so_much_lies() {
        let mut histogram = Histogram::new(STEADY);
        histogram.add(0);
        histogram.add(0);
        histogram.add(199);
        // One third is in bucket 0, two thirds are in bucket 9.
        assert_eq!(histogram.quantile((0.3 * f64::from(ONE)) as i32), 0);
        assert_eq!(histogram.quantile((0.34 * f64::from(ONE)) as i32), 9);
        assert_eq!(histogram.quantile(ONE), 9);
        assert_eq!(histogram.quantile(0), 0);
    }

    #[test]
    fn a_quantile_that_is_met_exactly_needs_no_further_bucket() {
        let mut histogram = Histogram::new(STEADY);
        histogram.add(40);
        histogram.add(40);
        histogram.add(1999);
        let first = histogram.probabilities()[2];
        assert_eq!(histogram.quantile(first), 2);
        assert_eq!(histogram.quantile(first + 1), 99);
    }

    #[test]
    fn delays_beyond_two_seconds_are_not_entered() {
        let mut histogram = Histogram::new(STEADY);
        let before = histogram.clone();
        histogram.add(2000);
        histogram.add(-20);
        assert_eq!(histogram, before);
        histogram.add(1999);
        assert_ne!(histogram, before);
    }
}
