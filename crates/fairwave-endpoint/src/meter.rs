//! Meter of the recent receiving rate, for receivers that report a rate.

use std::collections::VecDeque;

use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Recent arrivals.
#[derive(Clone, Debug)]
pub struct RateMeter {
    arrivals: VecDeque<(Instant, u32)>,
    bytes: u64,
}

impl Default for RateMeter {
    fn default() -> Self {
        RateMeter { arrivals: VecDeque::with_capacity(64), bytes: 0 }
    }
}

impl RateMeter {
    /// Records the arrival of `payload` bytes.
    pub fn on_arrival(&mut self, now: Instant, payload: u16) {
        self.arrivals.push_back((now, u32::from(payload)));
        self.bytes += u64::from(payload);
    }

    /// The rate over the last `span`, which excludes its start; zero if `span` is zero. Discards older arrivals.
    pub fn rate(&mut self, now: Instant, span: Span) -> Rate {
        while let Some(&(time, payload)) = self.arrivals.front() {
            if now - time < span {
                break;
            }
            self.arrivals.pop_front();
            self.bytes -= u64::from(payload);
        }
        Bytes::new(self.bytes).rate_over(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_of_the_latest_span_alone() {
        let mut meter = RateMeter::default();
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        for ms in [0, 10, 20, 30] {
            meter.on_arrival(at(ms), 1000);
        }
        assert_eq!(meter.rate(at(30), Span::from_millis(20)).bits_per_second(), 800_000); // at 20 and 30 ms
        assert_eq!(meter.rate(at(100), Span::from_millis(20)).bits_per_second(), 0);
    }
}
