//! Clock of a live run: nanoseconds since its start; monotonic.

use fairwave_core::units::{Instant, Span};

/// Start time of a run. All endpoints are on one machine and share this clock. So a one-way delay is the difference of
/// two readings ([`fairwave_core::wire::clock::Offset::common`]).
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: std::time::Instant,
}

impl Clock {
    /// Starts the clock.
    pub fn begin() -> Self {
        Clock { began: std::time::Instant::now() }
    }

    /// Returns the present time.
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::ZERO + Span::from_nanos(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}
