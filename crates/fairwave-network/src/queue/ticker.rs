//! Period counter for laws that catch up lazily.

use fairwave_units::units::{Instant, Span};

/// Counts the ends of equal periods. At equal times packets come before timers, so a period that ends at `now` has not
/// ended for a packet at `now`.
#[derive(Clone, Debug)]
pub(super) struct Ticker {
    period: Span,
    next: Instant,
}

impl Ticker {
    /// Returns a ticker with periods from the beginning of the run.
    pub fn new(period: Span) -> Self {
        let period = period.max(Span::from_nanos(1));
        Ticker { period, next: Instant::ZERO + period }
    }

    /// Whether another period ended before `now`; counts it.
    #[inline]
    pub fn tick(&mut self, now: Instant) -> bool {
        self.end_before(now).is_some()
    }

    /// End of the next period, if it is before `now`; counts it.
    #[inline]
    pub fn end_before(&mut self, now: Instant) -> Option<Instant> {
        let end = self.next;
        (end < now).then(|| {
            self.next += self.period;
            end
        })
    }

    /// Counts every period that ended before `now`; returns their number.
    pub fn skip(&mut self, now: Instant) -> u64 {
        if self.next >= now {
            return 0;
        }
        let periods = (now.span_since(self.next).nanos() - 1) / self.period.nanos() + 1;
        self.next += self.period * periods;
        periods
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_ends_where_ticking_would() {
        for nanos in 0..50 {
            let now = Instant::from_nanos(nanos);
            let (mut one, mut all) = (Ticker::new(Span::from_nanos(7)), Ticker::new(Span::from_nanos(7)));
            let mut ticks = 0;
            while one.tick(now) {
                ticks += 1;
            }
            assert_eq!((all.skip(now), all.next), (ticks, one.next), "at {nanos}");
        }
    }
}
