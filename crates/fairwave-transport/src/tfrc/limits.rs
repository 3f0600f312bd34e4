//! Limits of the sending rate. X_recv_set of RFC 5348 §4.3 is the limit from the reported receive rates. §8.2.1
//! defines how a sender finds whether it was data-limited or rate-limited.

use fairwave_units::units::{Instant, Span};

/// Receive rates of the latest two round-trip times, bytes per second.
#[derive(Clone, Debug)]
pub struct ReceiveRates {
    rates: Vec<(Instant, f64)>,
}

impl ReceiveRates {
    /// Creates the set without a limit: {infinity}, as of `now` (§4.2).
    pub fn new(now: Instant) -> Self {
        let mut rates = Vec::with_capacity(16);
        rates.push((now, f64::INFINITY));
        ReceiveRates { rates }
    }

    /// The highest rate of the set; 0 if it is empty.
    pub fn max(&self) -> f64 {
        self.rates.iter().fold(0.0, |max, &(_, rate)| max.max(rate))
    }

    /// 'Update X_recv_set': adds a rate and removes rates older than two round-trip times.
    pub fn update(&mut self, now: Instant, rate: f64, round_trip: Span) {
        self.rates.retain(|&(time, _)| now - time <= round_trip * 2);
        self.rates.push((now, rate));
    }

    /// 'Maximize X_recv_set': keeps only the highest measured rate, dated to now.
    pub fn maximize(&mut self, now: Instant, rate: f64) {
        let highest = self.rates.iter().map(|&(_, rate)| rate).filter(|r| r.is_finite()).fold(rate, f64::max);
        self.replace(now, highest);
    }

    /// Halves every member after a loss in a data-limited interval.
    pub fn halve(&mut self) {
        self.rates.iter_mut().for_each(|(_, rate)| *rate /= 2.0);
    }

    /// Replaces all members with this one.
    pub fn replace(&mut self, now: Instant, rate: f64) {
        self.rates.clear();
        self.rates.push((now, rate));
    }
}

/// Times at which the sender had more data than its rate allowed (§8.2.1: NotLimited1 and NotLimited2).
#[derive(Clone, Copy, Debug, Default)]
pub struct RateLimitedTimes {
    first: Option<Instant>,
    second: Option<Instant>,
    newest: Instant,
    next: Instant,
}

impl RateLimitedTimes {
    /// Records that the sender has sent all that its rate allows, and has more data.
    pub fn rate(&mut self, now: Instant) {
        if self.first.is_none_or(|first| first <= self.newest) {
            self.first = Some(now);
        } else if self.second.is_none_or(|second| second <= self.next) {
            self.second = Some(now);
        }
    }

    /// Handles a report about data sent until `echo`. Returns true if the sender was data-limited during the whole
    /// preceding round trip.
    pub fn on_feedback(&mut self, now: Instant, echo: Instant, round_trip: Span) -> bool {
        self.newest = echo;
        self.next = now;
        let covered = |time: Option<Instant>| time.is_some_and(|t| t <= echo && echo - t < round_trip);
        let by_data = !covered(self.first) && !covered(self.second);
        if self.first.is_none_or(|first| first <= echo) && self.second.is_some_and(|second| second > echo) {
            self.first = self.second;
        }
        by_data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn section_4_3_rates_older_than_two_round_trips_are_forgotten() {
        let mut rates = ReceiveRates::new(ms(0));
        rates.update(ms(100), 5.0, Span::from_millis(100));
        assert_eq!(rates.max(), f64::INFINITY);
        rates.update(ms(201), 4.0, Span::from_millis(100));
        assert_eq!(rates.max(), 5.0);
    }

    #[test]
    fn section_4_3_maximizing_drops_the_infinity_of_the_start() {
        let mut rates = ReceiveRates::new(ms(0));
        rates.maximize(ms(1), 5.0);
        rates.maximize(ms(2), 3.0);
        assert_eq!(rates.max(), 5.0);
    }

    #[test]
    fn section_4_3_halving_and_replacing_are_of_the_whole_set() {
        let mut rates = ReceiveRates::new(ms(0));
        rates.replace(ms(0), 8.0);
        rates.update(ms(50), 6.0, Span::from_millis(100));
        rates.halve();
        assert_eq!(rates.max(), 4.0);
        rates.update(ms(201), 1.0, Span::from_millis(100));
        assert_eq!(rates.max(), 3.0, "the older one is out, the younger was halved, too");
        rates.replace(ms(201), 0.5);
        assert_eq!(rates.max(), 0.5);
    }

    #[test]
    fn section_8_2_1_a_hold_exactly_a_round_trip_before_the_report_is_outside_it() {
        for (held, by_data) in [(50, true), (51, false), (150, false), (151, true)] {
            let mut limited = RateLimitedTimes::default();
            limited.rate(ms(held));
            assert_eq!(limited.on_feedback(ms(200), ms(150), Span::from_millis(100)), by_data, "held at {held} ms");
        }
    }

    #[test]
    fn section_8_2_1_an_interval_is_data_limited_when_the_rate_never_held_anything_back() {
        let mut limited = RateLimitedTimes::default();
        let round_trip = Span::from_millis(100);
        assert!(limited.on_feedback(ms(100), ms(50), round_trip));
        limited.rate(ms(120));
        assert!(limited.on_feedback(ms(160), ms(110), round_trip), "the hold came later");
        assert!(!limited.on_feedback(ms(200), ms(150), round_trip), "the hold is in (50, 150]");
        assert!(limited.on_feedback(ms(300), ms(250), round_trip), "and not in (150, 250]");
    }

    #[test]
    fn section_8_2_1_a_hold_after_the_first_is_remembered_for_the_next_report() {
        let mut limited = RateLimitedTimes::default();
        limited.on_feedback(ms(100), ms(50), Span::from_millis(50));
        limited.rate(ms(60));
        limited.rate(ms(140));
        assert!(!limited.on_feedback(ms(150), ms(100), Span::from_millis(50)));
        assert!(!limited.on_feedback(ms(200), ms(150), Span::from_millis(50)));
    }
}
