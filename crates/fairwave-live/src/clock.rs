//! The one clock of a live run: nanoseconds since it began, which never run back.

use fairwave_core::units::{Instant, Span};

/// When a run began. All its ends are on one machine and have this clock in common, so a one-way delay is the difference of two of its
/// times ([`fairwave_core::wire::clock::Offset::common`]).
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: std::time::Instant,
}

impl Clock {
    /// Begins now.
    pub fn begin() -> Self {
        Clock { began: std::time::Instant::now() }
    }

    /// The present time.
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::ZERO + Span::from_nanos(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}
