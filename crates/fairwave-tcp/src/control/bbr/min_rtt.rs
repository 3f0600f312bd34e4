//! The smallest round trip.

use fairwave_units::units::Instant;

/// `BBR.min_rtt` and the time of its next measurement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct MinRtt {
    /// The smallest round trip, seconds; infinite before the first sample.
    pub least: f64,
    pub at: Instant,
    /// The smallest since the last ProbeRTT.
    pub probe_least: f64,
    pub probe_at: Instant,
    pub expired: bool,
    /// The end of ProbeRTT, once the data in flight is small enough.
    pub until: Option<Instant>,
    pub round_done: bool,
}

impl Default for MinRtt {
    fn default() -> Self {
        MinRtt {
            least: f64::INFINITY,
            at: Instant::ZERO,
            probe_least: f64::INFINITY,
            probe_at: Instant::ZERO,
            expired: false,
            until: None,
            round_done: false,
        }
    }
}

impl MinRtt {
    pub fn begin(&mut self, now: Instant) {
        (self.at, self.probe_at) = (now, now);
    }

    /// Seconds; infinite before the first sample.
    pub fn seconds(&self) -> f64 {
        self.least
    }
}
