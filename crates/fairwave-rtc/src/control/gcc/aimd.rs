//! Delay-based rate: grows multiplicatively while the capacity is unknown and additively near it; on overuse it falls
//! to a share of the arrival rate (libwebrtc's `aimd_rate_control.cc` and `link_capacity_estimator.cc`).

use fairwave_units::units::{Instant, Span};

use super::trendline::Usage;

/// Rate after overuse, relative to the arrival rate.
pub(super) const BACK_OFF: f64 = 0.85;
/// Growth factor per second while the capacity is unknown.
const GROWTH: f64 = 1.08;
/// Round trip before the first measurement.
pub(super) const FIRST_ROUND_TRIP: Span = Span::from_millis(200);
/// Assumed reaction time of the detector, s.
const DETECTION: f64 = 0.1;

/// Capacity estimate: mean and variation of the arrival rates at overuse.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    /// kb/s; `None` before the first overuse, and after an arrival rate far from the estimate.
    estimate: Option<f64>,
    /// Variance divided by mean, kb/s.
    deviation: f64,
}

impl Capacity {
    const NEW: Capacity = Capacity { estimate: None, deviation: 0.4 };

    fn scatter(&self, estimate: f64) -> f64 {
        (self.deviation * estimate).sqrt()
    }

    fn most(&self) -> f64 {
        self.estimate.map_or(f64::INFINITY, |rate| (rate + 3.0 * self.scatter(rate)) * 1e3)
    }

    fn least(&self) -> f64 {
        self.estimate.map_or(0.0, |rate| (rate - 3.0 * self.scatter(rate)).max(0.0) * 1e3)
    }

    fn on_overuse(&mut self, arrives: f64) {
        let sample = libm::round(arrives / 1e3);
        let estimate = self.estimate.map_or(sample, |rate| 0.95 * rate + 0.05 * sample);
        self.estimate = Some(estimate);
        let error = estimate - sample;
        self.deviation = (0.95 * self.deviation + 0.05 * error * error / estimate.max(1.0)).clamp(0.4, 2.5);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Hold,
    Increase,
}

/// Delay-based rate, bits per second.
#[derive(Clone, Debug)]
pub(super) struct Aimd {
    back_off: f64,
    least: f64,
    rate: f64,
    arrives: f64,
    capacity: Capacity,
    state: State,
    last_change: Option<Instant>,
    round_trip: Span,
}

impl Aimd {
    pub fn new(back_off: f64, start: f64, least: f64) -> Self {
        Aimd {
            back_off,
            least,
            rate: start.max(least),
            arrives: start,
            capacity: Capacity::NEW,
            state: State::Hold,
            last_change: None,
            round_trip: FIRST_ROUND_TRIP,
        }
    }

    pub fn rate(&self) -> f64 {
        self.rate
    }

    pub fn set_least(&mut self, least: f64) {
        self.least = least;
        self.rate = self.rate.max(least);
    }

    pub fn set_round_trip(&mut self, round_trip: Span) {
        self.round_trip = round_trip;
    }

    /// Sets the rate that a probe measured, or the rate after an overuse before the first measurement.
    pub fn set_rate(&mut self, rate: f64, now: Instant) {
        self.rate = rate.max(self.least);
        self.last_change = Some(now);
    }

    /// Checks whether the rate may fall again: one round trip (10 to 200 ms) has passed, or less than half the rate
    /// arrives.
    pub fn may_reduce(&self, now: Instant, arrives: f64) -> bool {
        let pause = self.round_trip.clamp(Span::from_millis(10), Span::from_millis(200));
        self.last_change.is_none_or(|last| now.span_since(last) >= pause) || arrives < 0.5 * self.rate
    }

    /// Like [`Aimd::may_reduce`], but by time alone. Used before the first measurement.
    pub fn may_reduce_unmeasured(&self, now: Instant) -> bool {
        self.may_reduce(now, f64::INFINITY)
    }

    /// Updates the rate after feedback, given the detector's state and the arrival rate.
    pub fn update(&mut self, usage: Usage, arrives: Option<f64>, now: Instant) -> f64 {
        self.arrives = arrives.unwrap_or(self.arrives);
        match usage {
            Usage::Under => self.state = State::Hold,
            Usage::Over => self.decrease(now),
            Usage::Normal => {
                if self.state == State::Hold {
                    self.last_change = Some(now);
                    self.state = State::Increase;
                }
                self.increase(now);
            }
        }
        self.rate
    }

    /// Increases the rate: by a factor, or additively near the capacity. The result is at most 1.5 times the arrival
    /// rate plus 10 kb/s.
    fn increase(&mut self, now: Instant) {
        if self.arrives > self.capacity.most() {
            self.capacity.estimate = None;
        }
        let limit = 1.5 * self.arrives + 10_000.0;
        if self.rate < limit {
            let elapsed = self.last_change.map_or(Span::ZERO, |last| now.span_since(last)).seconds();
            let more = if self.capacity.estimate.is_some() {
                self.growth_near_capacity() * elapsed
            } else {
                (self.rate * (libm::pow(GROWTH, elapsed.min(1.0)) - 1.0)).max(1_000.0)
            };
            self.rate = (self.rate + more).min(limit).max(self.least);
        }
        self.last_change = Some(now);
    }

    /// Decreases the rate to a share of the arrival rate, less 5 kb/s. Never increases it.
    fn decrease(&mut self, now: Instant) {
        let mut lower = self.arrives * self.back_off;
        if lower > 5_000.0 {
            lower -= 5_000.0;
        }
        if lower > self.rate
            && let Some(capacity) = self.capacity.estimate
        {
            lower = self.back_off * capacity * 1e3;
        }
        self.rate = self.rate.min(lower).max(self.least);
        if self.arrives < self.capacity.least() {
            self.capacity.estimate = None;
        }
        self.capacity.on_overuse(self.arrives);
        self.state = State::Hold;
        self.last_change = Some(now);
    }

    /// Returns the growth near the capacity, bits per second per second: one packet of average size per two response
    /// times, at least 4 kb/s.
    fn growth_near_capacity(&self) -> f64 {
        let frame = self.rate / 30.0 / 8.0;
        let packet = frame / libm::ceil(frame / 1200.0).max(1.0);
        let response = 2.0 * (self.round_trip.seconds() + DETECTION);
        (packet * 8.0 / response).max(4_000.0)
    }

    /// Returns the state: one or two words of the source.
    pub fn state(&self) -> &'static str {
        match self.state {
            State::Hold => "hold",
            State::Increase => "increase",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn started(rate: f64) -> Aimd {
        Aimd::new(BACK_OFF, rate, 5_000.0)
    }

    #[test]
    fn grows_by_8_percent_a_second_while_the_capacity_is_unknown() {
        let mut aimd = started(1e6);
        assert_eq!(aimd.update(Usage::Normal, Some(1e6), ms(0)), 1_001_000.0, "no time has passed: at least 1 kb/s");
        let half = aimd.update(Usage::Normal, Some(1e6), ms(500));
        assert!((half - 1_001_000.0 * 1.08_f64.sqrt()).abs() < 1.0);
        let late = aimd.update(Usage::Normal, Some(1e6), ms(5500));
        assert!((late - half * 1.08).abs() < 1.0, "as if at most a second had passed");
    }

    #[test]
    fn grows_to_one_and_a_half_of_the_arrival_rate_and_10_kb_per_second() {
        let mut aimd = started(300_000.0);
        for n in 0..100 {
            aimd.update(Usage::Normal, Some(300_000.0), ms(n * 1000));
        }
        assert_eq!(aimd.rate(), 460_000.0);
        // A rate above the limit stays, because a probe may have measured it.
        aimd.set_rate(2e6, ms(100_000));
        assert_eq!(aimd.update(Usage::Normal, Some(300_000.0), ms(101_000)), 2e6);
    }

    #[test]
    fn overuse_takes_it_to_85_percent_of_what_arrives_less_5_kb_per_second() {
        let mut aimd = started(1e6);
        assert_eq!(aimd.update(Usage::Over, Some(800_000.0), ms(0)), 675_000.0);
        let mut low = started(100_000.0);
        assert_eq!(low.update(Usage::Over, Some(5_000.0), ms(0)), 5_000.0, "not below the least");
        let mut other = Aimd::new(0.5, 1e6, 5_000.0);
        assert_eq!(other.update(Usage::Over, Some(800_000.0), ms(0)), 395_000.0);
        let mut slow = Aimd::new(BACK_OFF, 100_000.0, 1_000.0);
        assert_eq!(slow.update(Usage::Over, Some(5_000.0), ms(0)), 4_250.0, "5 kb/s are not taken from less");
    }

    #[test]
    fn overuse_never_raises_it() {
        let mut aimd = started(100_000.0);
        assert_eq!(aimd.update(Usage::Over, Some(1e6), ms(0)), 100_000.0, "no capacity is known");
        assert_eq!(aimd.capacity.estimate, Some(1000.0));
        let mut aimd = started(800_000.0);
        aimd.update(Usage::Over, Some(1e6), ms(0));
        // 85 % of the arrival rate is above the rate, and 85 % of the capacity is below it. The capacity counts.
        aimd.capacity.estimate = Some(700.0);
        aimd.capacity.deviation = 2.5;
        assert_eq!(aimd.update(Usage::Over, Some(1e6), ms(1000)), 595_000.0);
    }

    #[test]
    fn holds_after_overuse_until_the_detector_is_normal_and_while_the_queue_empties() {
        let mut aimd = started(1e6);
        aimd.update(Usage::Over, Some(800_000.0), ms(0));
        assert_eq!(aimd.state(), "hold");
        assert_eq!(aimd.update(Usage::Under, Some(800_000.0), ms(1000)), 675_000.0);
        assert_eq!(aimd.update(Usage::Normal, Some(800_000.0), ms(3000)), 675_000.0, "growth counts from now");
        assert_eq!(aimd.state(), "increase");
        assert!(aimd.update(Usage::Normal, Some(800_000.0), ms(4000)) > 675_000.0);
    }

    #[test]
    fn grows_near_the_capacity_by_a_packet_per_two_response_times() {
        let mut aimd = started(1e6);
        aimd.update(Usage::Over, Some(800_000.0), ms(0));
        aimd.update(Usage::Normal, Some(790_000.0), ms(100));
        let frame: f64 = 675_000.0 / 30.0 / 8.0;
        let packet = frame / 3.0; // 2812.5 bytes are three packets
        let per_second = packet * 8.0 / (2.0 * 0.3);
        assert!((aimd.update(Usage::Normal, Some(790_000.0), ms(1100)) - 675_000.0 - per_second).abs() < 1.0);
        aimd.set_round_trip(Span::from_millis(50));
        let before = aimd.rate();
        let faster = aimd.update(Usage::Normal, Some(790_000.0), ms(1200)) - before;
        assert!(faster > 2_400.0 && faster < 2_550.0, "response 300 ms: {faster}");
        let mut slow = started(20_000.0);
        slow.capacity.estimate = Some(20.0);
        assert_eq!(slow.growth_near_capacity(), 4_000.0, "at least 4 kb/s");
    }

    #[test]
    fn a_capacity_far_from_what_arrives_is_forgotten() {
        let mut aimd = started(1e6);
        aimd.update(Usage::Over, Some(800_000.0), ms(0));
        // Upper bound: 800 kb/s plus three times the root of 0.4 × 800, which is 853.7 kb/s.
        aimd.update(Usage::Normal, Some(853_000.0), ms(1000));
        assert!(aimd.capacity.estimate.is_some());
        aimd.update(Usage::Normal, Some(854_000.0), ms(2000));
        assert!(aimd.capacity.estimate.is_none());
        aimd.update(Usage::Over, Some(800_000.0), ms(3000));
        aimd.update(Usage::Over, Some(740_000.0), ms(4000));
        assert_eq!(aimd.capacity.estimate, Some(740.0), "below 746.3: anew");
        aimd.update(Usage::Over, Some(700_000.0), ms(5000));
        assert_eq!(aimd.capacity.estimate, Some(738.0), "within: a twentieth of the way");
        aimd.capacity = Capacity::NEW;
        aimd.capacity.on_overuse(1e6);
        aimd.capacity.on_overuse(1e6);
        assert_eq!(aimd.capacity.deviation, 0.4, "the least");
        aimd.capacity.on_overuse(1.5e6);
        assert_eq!(aimd.capacity.deviation, 2.5, "the most");
    }

    #[test]
    fn goes_down_again_after_a_round_trip_or_when_less_than_half_arrives() {
        let mut aimd = started(1e6);
        assert!(aimd.may_reduce(ms(0), 1e6), "nothing has changed yet");
        aimd.set_rate(1e6, ms(1000));
        assert!(!aimd.may_reduce(ms(1199), 1e6), "200 ms before the first measurement");
        assert!(aimd.may_reduce(ms(1200), 1e6));
        assert!(aimd.may_reduce(ms(1001), 499_999.0) && !aimd.may_reduce(ms(1001), 500_000.0));
        assert!(!aimd.may_reduce_unmeasured(ms(1199)) && aimd.may_reduce_unmeasured(ms(1200)));
        aimd.set_round_trip(Span::from_millis(1));
        assert!(!aimd.may_reduce(ms(1009), 1e6) && aimd.may_reduce(ms(1010), 1e6), "at least 10 ms");
        aimd.set_round_trip(Span::from_millis(900));
        assert!(!aimd.may_reduce(ms(1199), 1e6) && aimd.may_reduce(ms(1200), 1e6), "at most 200 ms");
    }

    #[test]
    fn arrival_rate_is_remembered_and_the_least_holds() {
        let mut aimd = started(1e6);
        aimd.update(Usage::Normal, Some(600_000.0), ms(0));
        assert_eq!(aimd.update(Usage::Over, None, ms(100)), 505_000.0);
        aimd.set_least(550_000.0);
        assert_eq!(aimd.rate(), 550_000.0);
        aimd.set_rate(1.0, ms(200));
        assert_eq!(aimd.rate(), 550_000.0);
    }
}
