//! Estimates of queueing delay and round trip in SCReAM v2 (libwebrtc `delay_based_congestion_control.cc`; draft
//! §4.2.1.4).

use fairwave_units::units::{Instant, Span};

use super::Message;

/// Gain of the smoothed round trip, and its gain in application-limited phases (`SmoothedRttAvgG`,
/// `SmoothedRttAvgInAlrG`).
const ROUND_TRIP_GAIN: f64 = 1.0 / 8.0;
const ROUND_TRIP_GAIN_LIMITED: f64 = 1.0 / 128.0;
/// Gain of the mean queueing delay while it rises; it falls at once (`QDelayAvgG`).
const QUEUE_DELAY_GAIN: f64 = 1.0 / 4.0;
/// Gain of the mean of the least delay and of the spread of delays in a message (`DelayMinAndLatencyDiffAvgG`).
const SLOW_GAIN: f64 = 1.0 / 32.0;
/// If least delay or spread reach this value, the window grows at a tenth of its rate, s.
const NORM: f64 = 0.010;
/// A queue below this delay counts as drained, s; and the longest time without a drained queue.
const DRAINED: f64 = 0.005;
const DRAIN_PERIOD: Span = Span::from_secs(20);
/// Number of minutes for which the least delay is remembered, and their length.
const MINUTES: usize = 10;
const MINUTE: Span = Span::from_secs(60);

/// Delay estimates; times in seconds.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    target: f64,
    /// Start of the current minute.
    minute: Option<Instant>,
    /// Least one-way delay of the current minute, and of earlier ones, newest last.
    present: f64,
    minutes: Vec<f64>,
    /// Time since which the queue has not been drained.
    filled: Option<Instant>,
    round_trip: Option<f64>,
    before: f64,
    average: f64,
    least_average: f64,
    spread_average: f64,
}

impl Delays {
    pub fn new(target: Span) -> Self {
        Delays {
            target: target.seconds(),
            minute: None,
            present: f64::INFINITY,
            minutes: Vec::with_capacity(MINUTES + 1),
            filled: None,
            round_trip: None,
            before: f64::INFINITY,
            average: f64::INFINITY,
            least_average: 0.0,
            spread_average: 0.0,
        }
    }

    /// Resets everything except the round trip, because the delay of the path itself has grown.
    pub fn reset(&mut self) {
        let (round_trip, before) = (self.round_trip, self.before);
        *self = Delays { round_trip, before, ..Delays::new(Span::from_seconds(self.target)) };
    }

    pub fn update(&mut self, message: &Message, is_limited: bool) {
        self.present = self.present.min(message.least_delay);
        let gain = if is_limited { ROUND_TRIP_GAIN_LIMITED } else { ROUND_TRIP_GAIN };
        let sample = message.round_trip.seconds();
        self.round_trip = Some(self.round_trip.map_or(sample, |mean| mean + gain * (sample - mean)));

        let base = self.minutes.iter().copied().fold(self.present, f64::min);
        let queued = message.least_delay - base;
        if queued <= DRAINED {
            self.filled = None;
        } else if self.filled.is_none() {
            self.filled = Some(message.now);
        }
        // The lesser of the latest two, so that a single delayed message does not count.
        let sample = queued.min(self.before);
        self.before = queued;
        self.average =
            if sample < self.average { sample } else { self.average + QUEUE_DELAY_GAIN * (sample - self.average) };
        self.least_average += SLOW_GAIN * (queued.min(2.0 * NORM) - self.least_average);
        let spread = message.most_delay - message.least_delay;
        self.spread_average += SLOW_GAIN * (spread.min(2.0 * NORM) - self.spread_average);

        if self.minute.is_none_or(|began| message.now - began >= MINUTE) {
            self.minutes.push(self.present);
            if self.minutes.len() > MINUTES {
                self.minutes.remove(0);
            }
            self.minute = Some(message.now);
            self.present = f64::INFINITY;
        }
    }

    /// Returns the smoothed round trip, seconds; 0 before the first message.
    pub fn round_trip(&self) -> f64 {
        self.round_trip.unwrap_or(0.0)
    }

    /// Returns the mean queueing delay, seconds.
    pub fn queueing(&self) -> Option<f64> {
        Some(self.average).filter(|average| average.is_finite())
    }

    /// Checks whether the delay exceeds half of the target.
    pub fn is_queueing(&self) -> bool {
        self.average.is_finite() && self.average > self.target / 2.0
    }

    /// Returns l4s_alpha_v (draft §4.2.2.1): from 0 at half of the target to 1 at the target.
    pub fn virtual_alpha(&self) -> f64 {
        let half = self.target / 2.0;
        ((self.average - half) / half).clamp(0.0, 1.0)
    }

    /// Returns the factor on the window's growth from the least delay of each message: 1 up to a quarter of 10 ms, 0.1
    /// from 10 ms on.
    pub fn least_delay_scale(&self, floor: f64) -> f64 {
        scale(self.least_average).clamp(floor, 1.0)
    }

    /// Like [`Delays::least_delay_scale`], from the spread of delays in each message.
    pub fn spread_scale(&self) -> f64 {
        scale(self.spread_average).clamp(0.1, 1.0)
    }

    /// Returns false if the queue has not been drained for 20 s.
    pub fn drained_in_time(&self, now: Instant) -> bool {
        self.filled.is_none_or(|since| now - since < DRAIN_PERIOD)
    }
}

fn scale(delay: f64) -> f64 {
    0.1 + 1.2 * (NORM - delay) / NORM
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(now: u64, least: f64, most: f64, round_trip: u64) -> Message {
        Message {
            now: Instant::ZERO + Span::from_millis(now),
            least_delay: least,
            most_delay: most,
            round_trip: Span::from_millis(round_trip),
            ..Message::default()
        }
    }

    fn delays(all: &[(u64, f64)]) -> Delays {
        let mut delays = Delays::new(Span::from_millis(60));
        for &(now, delay) in all {
            delays.update(&message(now, delay, delay, 100), false);
        }
        delays
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn the_delay_rises_by_a_quarter_of_the_lesser_of_two_and_falls_at_once() {
        let mut delays = delays(&[(0, -5.0), (50, -4.92)]);
        assert!(near(delays.average, 0.0), "the lesser of 0 and 80 ms");
        delays.update(&message(100, -4.96, -4.96, 100), false);
        assert!(near(delays.average, 0.010), "{}", delays.average);
        delays.update(&message(150, -4.998, -4.998, 100), false);
        assert!(near(delays.average, 0.002), "{}", delays.average);
    }

    #[test]
    fn the_round_trip_moves_by_an_eighth_and_by_far_less_while_the_application_limits() {
        let mut delays = delays(&[(0, 0.05)]);
        delays.update(&message(50, 0.05, 0.05, 180), false);
        assert!(near(delays.round_trip(), 0.110));
        delays.update(&message(100, 0.05, 0.05, 238), true);
        assert!(near(delays.round_trip(), 0.111));
    }

    #[test]
    fn delay_is_found_above_half_of_its_target_and_complete_at_the_target() {
        let with = |average| Delays { average, ..delays(&[(0, 0.0)]) };
        assert!(!with(0.030).is_queueing() && with(0.0301).is_queueing());
        assert!(near(with(0.030).virtual_alpha(), 0.0) && near(with(0.045).virtual_alpha(), 0.5));
        assert!(near(with(0.090).virtual_alpha(), 1.0) && near(with(0.0).virtual_alpha(), 0.0));
        let fresh = Delays::new(Span::from_millis(60));
        assert!(!fresh.is_queueing() && fresh.queueing().is_none());
    }

    #[test]
    fn growth_scales_from_one_at_a_quarter_of_ten_milliseconds_to_a_tenth() {
        let with = |mean| Delays { least_average: mean, spread_average: mean, ..delays(&[(0, 0.0)]) };
        for (mean, factor) in [(0.0, 1.0), (0.0025, 1.0), (0.00625, 0.55), (0.010, 0.1), (0.020, 0.1)] {
            assert!(near(with(mean).least_delay_scale(0.1), factor) && near(with(mean).spread_scale(), factor));
        }
        assert!(near(with(0.020).least_delay_scale(0.0), 0.0));
    }

    #[test]
    fn means_move_by_one_part_in_32_and_take_no_more_than_twenty_milliseconds() {
        let mut delays = delays(&[(0, 0.0)]);
        delays.update(&message(50, 0.008, 0.0112, 100), false);
        assert!(near(delays.least_average, 0.00025) && near(delays.spread_average, 0.0001));
        let mut large = Delays::new(Span::from_millis(60));
        large.update(&message(0, 0.0, 0.0, 100), false);
        large.update(&message(50, 1.0, 3.0, 100), false);
        assert!(near(large.least_average, 0.02 / 32.0) && near(large.spread_average, 0.02 / 32.0));
    }

    #[test]
    fn the_base_is_the_least_of_ten_minutes() {
        let mut delays = delays(&[(0, 0.050)]);
        for minute in 1..=9 {
            delays.update(&message(minute * 60_000, 0.090, 0.090, 100), false);
        }
        assert!(near(delays.before, 0.040), "the first minute still counts");
        delays.update(&message(600_000, 0.090, 0.090, 100), false);
        delays.update(&message(601_000, 0.090, 0.090, 100), false);
        assert!(near(delays.before, 0.0), "{}", delays.before);
    }

    #[test]
    fn a_queue_of_more_than_five_milliseconds_for_twenty_seconds_is_not_drained() {
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        let mut delays = delays(&[(0, 0.0), (100, 0.0051)]);
        assert!(delays.drained_in_time(at(20_099)) && !delays.drained_in_time(at(20_100)));
        delays.update(&message(20_050, 0.005, 0.005, 100), false);
        assert!(delays.drained_in_time(at(60_000)));
    }

    #[test]
    fn a_reset_keeps_the_round_trip_alone() {
        let mut delays = delays(&[(0, 0.0), (50, 0.080), (100, 0.080)]);
        delays.reset();
        assert!(near(delays.round_trip(), 0.1) && delays.queueing().is_none() && near(delays.least_average, 0.0));
        delays.update(&message(150, 0.080, 0.080, 100), false);
        assert!(near(delays.average, 0.0), "the base is new");
    }
}
