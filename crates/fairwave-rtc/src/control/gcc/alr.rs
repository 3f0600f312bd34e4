//! Detector of application-limited phases (libwebrtc's `alr_detector.cc` with `interval_budget.cc`).
//!
//! libwebrtc rounds the time between packets to milliseconds; here it is exact.

use fairwave_units::units::Instant;

/// The budget fills at this share of the estimate.
const USAGE: f64 = 0.8;
/// A phase begins above this share of the budget and ends below the other.
const BEGINS: f64 = 0.4;
const ENDS: f64 = -0.6;
/// The capacity of the budget equals its gain in this time, s.
const WINDOW: f64 = 0.5;

/// Budget that fills at the estimate and empties by sent bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Alr {
    last: Option<Instant>,
    rate: f64,
    bytes: f64,
    since: Option<Instant>,
}

impl Alr {
    /// Sets the estimate, bits per second.
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = rate * USAGE;
        let most = self.most();
        self.bytes = self.bytes.clamp(-most, most);
    }

    fn most(&self) -> f64 {
        self.rate * WINDOW / 8.0
    }

    /// Records a sent packet.
    pub fn on_sent(&mut self, now: Instant, size: u64) {
        let Some(last) = self.last.replace(now) else { return };
        let most = self.most();
        let filled = self.rate / 8.0 * now.span_since(last).seconds();
        self.bytes = ((self.bytes - size as f64).max(-most) + filled).min(most);
        let level = if most > 0.0 { self.bytes / most } else { 0.0 };
        if level > BEGINS {
            self.since.get_or_insert(now);
        } else if level < ENDS {
            self.since = None;
        }
    }

    /// Returns the start of the current application-limited phase, if there is one.
    pub fn limited_since(&self) -> Option<Instant> {
        self.since
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::units::Span;

    /// Sends at `rate` for `millis` milliseconds, one packet every 10 ms.
    fn send(alr: &mut Alr, from: u64, millis: u64, rate: f64) -> Option<u64> {
        for n in 1..=millis / 10 {
            alr.on_sent(Instant::ZERO + Span::from_millis(from + n * 10), (rate / 800.0) as u64);
        }
        alr.limited_since().map(|since| since.nanos() / 1_000_000)
    }

    fn limited_by_a_megabit() -> Alr {
        let mut alr = Alr::default();
        alr.set_rate(1e6);
        alr
    }

    #[test]
    fn begins_above_40_percent_of_the_budget_and_ends_below_minus_60() {
        let mut alr = limited_by_a_megabit();
        alr.on_sent(Instant::ZERO, 1000);
        // The budget holds 50 000 bytes and gains 1000 − 500 in 10 ms: 40 % after 400 ms.
        assert_eq!(send(&mut alr, 0, 400, 400_000.0), None);
        assert_eq!(send(&mut alr, 400, 10, 400_000.0), Some(410));
        // From 20 500 down to −30 000 at 500 bytes in 10 ms.
        assert_eq!(send(&mut alr, 410, 1010, 1.2e6), Some(410));
        assert_eq!(send(&mut alr, 1420, 10, 1.2e6), None);
    }

    #[test]
    fn a_sender_at_80_percent_is_not_limited() {
        let mut alr = limited_by_a_megabit();
        assert_eq!(send(&mut alr, 0, 60_000, 800_000.0), None);
        assert!(send(&mut alr, 60_000, 60_000, 700_000.0).is_some());
    }

    #[test]
    fn the_first_packet_has_no_time_and_without_an_estimate_nothing_is_known() {
        let mut alr = limited_by_a_megabit();
        alr.on_sent(Instant::ZERO + Span::from_secs(10), 0);
        assert_eq!(alr.limited_since(), None);
        let mut unknown = Alr::default();
        assert_eq!(send(&mut unknown, 0, 1000, 0.0), None);
    }

    #[test]
    fn the_budget_stays_within_half_a_second_and_follows_the_estimate() {
        let mut alr = limited_by_a_megabit();
        send(&mut alr, 0, 5000, 10e6);
        assert!(alr.bytes >= -50_000.0 && alr.bytes <= -49_000.0);
        send(&mut alr, 5000, 5000, 0.0);
        assert_eq!(alr.bytes, 50_000.0);
        alr.set_rate(100_000.0);
        assert_eq!(alr.bytes, 5_000.0);
    }
}
