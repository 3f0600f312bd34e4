//! Token bucket: tokens arrive at a rate and accumulate up to a depth (RFC 2697 §3, RFC 2698 §3).
//!
//! A bucket of rate r and depth b passes at most b + r t bytes in any time t. Tokens are counted exactly, in bits times
//! nanoseconds, so rounding errors do not accumulate.

use fairwave_units::units::{Instant, Rate, Span};

const NANOS: u128 = 1_000_000_000;

/// A token bucket. It starts full.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenBucket {
    /// Bits per second.
    rate: u128,
    /// Bits × nanoseconds.
    depth: u128,
    tokens: u128,
    /// Tokens have been added up to this time.
    filled: Instant,
}

/// Cost of `bytes` in tokens.
fn cost(bytes: u64) -> u128 {
    u128::from(bytes) * 8 * NANOS
}

impl TokenBucket {
    /// Returns a full bucket of `depth` bytes that fills at `rate`.
    pub fn new(rate: Rate, depth: u64) -> Self {
        let depth = cost(depth);
        TokenBucket { rate: u128::from(rate.bits_per_second()), depth, tokens: depth, filled: Instant::ZERO }
    }

    /// Adds the tokens that arrived until `now`. Returns the tokens that did not fit.
    pub fn fill(&mut self, now: Instant) -> u128 {
        let came = self.rate * u128::from(now.span_since(self.filled).nanos());
        self.filled = self.filled.max(now);
        self.add(came)
    }

    /// Adds tokens. Returns those that did not fit.
    pub fn add(&mut self, tokens: u128) -> u128 {
        let all = self.tokens + tokens;
        self.tokens = all.min(self.depth);
        all - self.tokens
    }

    /// Whether the bucket holds the tokens for `bytes` bytes.
    pub fn holds(&self, bytes: u64) -> bool {
        self.tokens >= cost(bytes)
    }

    /// Removes the tokens for `bytes` bytes; the bucket must hold them.
    pub fn take(&mut self, bytes: u64) {
        self.tokens = self.tokens.saturating_sub(cost(bytes));
    }

    /// First time at which the bucket holds the tokens for `bytes` bytes, if no tokens are removed before. `bytes` must not
    /// exceed the depth.
    pub fn holds_at(&self, bytes: u64) -> Instant {
        let missing = cost(bytes).saturating_sub(self.tokens);
        if missing == 0 {
            return self.filled;
        }
        if cost(bytes) > self.depth || self.rate == 0 {
            return Instant::NEVER;
        }
        let nanos = missing.div_ceil(self.rate);
        self.filled + Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn instant(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn a_bucket_begins_full_fills_at_its_rate_and_no_further_than_its_depth() {
        // 8 kb/s: one byte per millisecond.
        let mut bucket = TokenBucket::new(Rate::from_bits_per_second(8_000), 100);
        assert!(bucket.holds(100) && !bucket.holds(101));
        bucket.take(100);
        assert_eq!(bucket.holds_at(10), instant(10_000_000));
        bucket.fill(instant(9_999_999));
        assert!(!bucket.holds(10));
        bucket.fill(instant(10_000_000));
        assert!(bucket.holds(10));
        assert_eq!(bucket.fill(instant(200_000_000)), cost(100), "90 of 190 bytes find room");
        assert!(bucket.holds(100) && !bucket.holds(101));
        assert_eq!(bucket.holds_at(101), Instant::NEVER, "more than it can hold");
    }

    #[test]
    fn tokens_that_are_missing_come_from_the_last_fill_on_and_are_there_at_the_next_whole_nanosecond() {
        // A byte takes 8/7 s.
        let mut bucket = TokenBucket::new(Rate::from_bits_per_second(7), 10);
        bucket.take(10);
        assert_eq!(bucket.holds_at(1), instant(1_142_857_143));
        bucket.fill(instant(1_142_857_142));
        assert!(!bucket.holds(1));
        bucket.fill(instant(1_142_857_143));
        assert!(bucket.holds(1));
        bucket.take(1);
        assert_eq!(bucket.holds_at(1), instant(2 * 1_142_857_143), "from there on, with what rounding has left");
    }

    proptest! {
        #[test]
        fn passes_at_most_burst_plus_rate_times_time(
            packets in prop::collection::vec((0u64..3_000_000, 40u64..1500), 1..80), rate in 1_000u64..10_000_000,
            depth in 1500u64..6000,
        ) {
            let mut bucket = TokenBucket::new(Rate::from_bits_per_second(rate), depth);
            let (mut now, mut passed) = (0, Vec::new());
            for (gap, bytes) in packets {
                now += gap;
                bucket.fill(instant(now));
                if bucket.holds(bytes) {
                    bucket.take(bytes);
                    passed.push((now, bytes));
                }
            }
            for first in 0..passed.len() {
                let mut sum = 0u128;
                for &(when, bytes) in &passed[first..] {
                    sum += cost(bytes);
                    let elapsed = u128::from(when - passed[first].0);
                    prop_assert!(sum <= cost(depth) + u128::from(rate) * elapsed);
                }
            }
        }
    }
}
