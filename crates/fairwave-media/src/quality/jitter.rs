//! Interarrival jitter (RFC 3550 §6.4.1, paper 002 Eq. 12–13): the variation of arrival times relative to send times.
//!
//! For consecutively received units i, j: D(i, j) = (Rⱼ − Rᵢ) − (Sⱼ − Sᵢ) and J ← J + (|D| − J)/16.
//!
//! **Assumptions.** S is the time when the application produced the unit, as in RTP timestamps, not the time when a
//! packet left the host. RFC 3550 counts in timestamp units; here in nanoseconds. The estimate has a memory of a few
//! dozen units, so its value at the end of a call describes only the end. The value for a whole call is its mean over
//! the received units.

use fairwave_units::units::{Instant, Span};

/// Jitter estimate, updated per unit in order of arrival.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InterarrivalJitter {
    /// Nanoseconds.
    estimate: f64,
    largest: f64,
    sum: f64,
    terms: u64,
    previous_transit: Option<i128>,
}

impl InterarrivalJitter {
    /// Returns an estimate before the first unit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a unit produced at `created` that arrived at `arrived`.
    pub fn on_received(&mut self, created: Instant, arrived: Instant) {
        let transit = i128::from(arrived.nanos()) - i128::from(created.nanos());
        if let Some(previous) = self.previous_transit {
            let difference = (transit - previous).unsigned_abs() as f64;
            self.estimate += (difference - self.estimate) / 16.0;
            self.largest = self.largest.max(self.estimate);
            self.sum += self.estimate;
            self.terms += 1;
        }
        self.previous_transit = Some(transit);
    }

    /// Returns the current estimate J; zero until two units have arrived.
    pub fn estimate(&self) -> Span {
        Span::from_nanos(self.estimate as u64)
    }

    /// Returns the mean of the estimates after each unit except the first; zero until two units have arrived.
    pub fn mean(&self) -> Span {
        Span::from_nanos(if self.terms == 0 { 0 } else { (self.sum / self.terms as f64) as u64 })
    }

    /// Returns the largest estimate so far.
    pub fn largest(&self) -> Span {
        Span::from_nanos(self.largest as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_constant_delay_has_no_jitter_even_across_silence() {
        let mut jitter = InterarrivalJitter::new();
        for created in [0, 20, 40, 1500, 1520] {
            jitter.on_received(instant(created), instant(created + 80));
        }
        assert_eq!(jitter.estimate(), Span::ZERO);
    }

    #[test]
    fn deviation_counts_a_sixteenth_and_fades_by_fifteen_sixteenths() {
        let mut jitter = InterarrivalJitter::new();
        jitter.on_received(instant(0), instant(50));
        jitter.on_received(instant(20), instant(86));
        assert_eq!(jitter.estimate(), Span::from_millis(1));
        jitter.on_received(instant(40), instant(106));
        assert_eq!(jitter.estimate(), Span::from_nanos(937_500));
        assert_eq!(jitter.largest(), Span::from_millis(1));
        assert_eq!(jitter.mean(), Span::from_nanos(968_750));
    }

    #[test]
    fn a_quiet_end_does_not_make_a_call_smooth() {
        let mut jitter = InterarrivalJitter::new();
        for i in 0..1000 {
            jitter.on_received(instant(20 * i), instant(20 * i + 50 + if i < 500 { 10 * (i % 2) } else { 0 }));
        }
        assert_eq!(jitter.estimate(), Span::ZERO);
        assert!((jitter.mean().millis() - 5.0).abs() < 0.2, "{}", jitter.mean());
    }

    #[test]
    fn alternating_delays_converge_to_their_difference() {
        let mut jitter = InterarrivalJitter::new();
        for i in 0..400 {
            jitter.on_received(instant(20 * i), instant(20 * i + 50 + 10 * (i % 2)));
        }
        assert!((jitter.estimate().millis() - 10.0).abs() < 0.001, "{}", jitter.estimate());
    }
}
