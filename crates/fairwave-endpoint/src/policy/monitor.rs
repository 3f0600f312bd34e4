//! The observation of a monitor interval: ten numbers that a sender can measure.

use fairwave_units::units::Instant;

/// Length of an observation.
pub const OBSERVED: usize = 10;

/// An observation. Every number is finite.
///
/// | place | quantity | unit, range |
/// |---|---|---|
/// | 0 | the granted rate or window | log2 of Mb/s, log2 of segments; −20 to 20 |
/// | 1 | rate at which data arrived | log2 of Mb/s; −20 to 20, −20 if no data arrived |
/// | 2 | arrival rate ÷ granted rate (a window per least round trip) | 0 to 4 |
/// | 3 | packets newly known to be lost ÷ packets of newly known fate | 0 to 1 |
/// | 4 | marked packets ÷ arrived packets | 0 to 1 |
/// | 5 | queueing delay: mean delay − least delay so far | s; 0 to 10 |
/// | 6 | change of the queueing delay since the previous interval | s; −10 to 10 |
/// | 7 | least round trip so far | s; 0 to 10, 0 before the first |
/// | 8 | age of the oldest packet in the pacer (s), or share of the window in flight | 0 to 10 |
/// | 9 | time since the latest feedback | s; 0 to 10 |
pub type Observation = [f64; OBSERVED];

/// The granted rate or window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Level {
    /// A rate, bits per second.
    Rate(f64),
    /// A window: segments, and the bytes per segment.
    Window(f64, f64),
}

impl Default for Level {
    fn default() -> Self {
        Level::Rate(0.0)
    }
}

/// The result of an interval.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Outcome {
    /// The policy's observation.
    pub observation: Observation,
    /// Rate at which data arrived, bits per second.
    pub delivered: f64,
    /// Queueing delay, seconds.
    pub queueing: f64,
    /// Share of packets lost, 0 to 1.
    pub lost: f64,
}

/// The reward of an interval (†): log2(1 + delivered / 100 kb/s) − `delay` · queueing delay in seconds − `loss` ·
/// share of packets lost. Doubling the rate adds one, if the rate is well above 100 kb/s.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reward {
    /// Cost of a second of queueing delay. Default 10.
    pub delay: f64,
    /// Cost of losing every packet. Default 10.
    pub loss: f64,
}

impl Default for Reward {
    fn default() -> Self {
        Reward { delay: 10.0, loss: 10.0 }
    }
}

impl Reward {
    /// The reward of an interval.
    pub fn evaluate(&self, outcome: &Outcome) -> f64 {
        libm::log2(1.0 + outcome.delivered / 100_000.0) - self.delay * outcome.queueing - self.loss * outcome.lost
    }
}

/// Sums of the current interval, and state that lasts longer.
#[derive(Clone, Debug)]
pub struct Monitor {
    began: Instant,
    bytes: f64,
    arrived: u32,
    lost: u32,
    marked: u32,
    delays: f64,
    measured: u32,
    /// The least delay so far. The clocks of both ends need not agree.
    least_delay: f64,
    /// Queueing delay of the previous interval.
    queueing: f64,
    least_round_trip: f64,
    held: f64,
    heard: Option<Instant>,
}

impl Default for Monitor {
    fn default() -> Self {
        Monitor {
            began: Instant::ZERO,
            bytes: 0.0,
            arrived: 0,
            lost: 0,
            marked: 0,
            delays: 0.0,
            measured: 0,
            least_delay: f64::INFINITY,
            queueing: 0.0,
            least_round_trip: f64::INFINITY,
            held: 0.0,
            heard: None,
        }
    }
}

impl Monitor {
    /// Creates a monitor whose first interval begins now.
    pub fn new(now: Instant) -> Self {
        Monitor { began: now, heard: Some(now), ..Monitor::default() }
    }

    /// Records arrived packets, their bytes, and the number of marked packets.
    pub fn arrived(&mut self, packets: u32, bytes: f64, marked: u32) {
        self.arrived = self.arrived.saturating_add(packets);
        self.marked = self.marked.saturating_add(marked);
        self.bytes += bytes;
    }

    /// Records a measured delay, seconds: one-way by the clocks of both ends, or a round trip.
    pub fn delayed(&mut self, delay: f64) {
        self.least_delay = self.least_delay.min(delay);
        self.delays += delay;
        self.measured += 1;
    }

    /// Records packets known to be lost.
    pub fn lost(&mut self, packets: u32) {
        self.lost = self.lost.saturating_add(packets);
    }

    /// Records the arrival of a packet that counted as lost.
    pub fn recovered(&mut self) {
        self.lost = self.lost.saturating_sub(1);
    }

    /// Records a measured round trip, seconds.
    pub fn round_trip(&mut self, seconds: f64) {
        if seconds > 0.0 {
            self.least_round_trip = self.least_round_trip.min(seconds);
        }
    }

    /// Records feedback. `held` is place 8 of [`Observation`].
    pub fn record_feedback(&mut self, now: Instant, held: f64) {
        (self.heard, self.held) = (Some(now), held);
    }

    /// Ends the interval at `now` and begins the next. `level` is the rate or window at the end.
    pub fn close(&mut self, now: Instant, level: Level) -> Outcome {
        let length = now.span_since(self.began).seconds();
        let delivered = if length > 0.0 { 8.0 * self.bytes / length } else { 0.0 };
        let known = self.arrived.saturating_add(self.lost);
        let share = |part: u32, whole: u32| if whole > 0 { f64::from(part) / f64::from(whole) } else { 0.0 };
        let before = self.queueing;
        if self.measured > 0 {
            self.queueing = (self.delays / f64::from(self.measured) - self.least_delay).max(0.0);
        }
        let round_trip = if self.least_round_trip.is_finite() { self.least_round_trip } else { 0.0 };
        let (granted, rate) = match level {
            Level::Rate(rate) => (rate / 1e6, rate),
            Level::Window(segments, bytes) => {
                (segments, if round_trip > 0.0 { 8.0 * segments * bytes / round_trip } else { 0.0 })
            }
        };
        let lost = share(self.lost, known);
        let observation = [
            logarithm(granted),
            logarithm(delivered / 1e6),
            if rate > 0.0 { (delivered / rate).clamp(0.0, 4.0) } else { 0.0 },
            lost,
            share(self.marked, self.arrived).min(1.0),
            self.queueing.min(10.0),
            (self.queueing - before).clamp(-10.0, 10.0),
            round_trip.min(10.0),
            self.held.clamp(0.0, 10.0),
            self.heard.map_or(10.0, |heard| now.span_since(heard).seconds().min(10.0)),
        ];
        (self.began, self.bytes, self.arrived, self.lost, self.marked) = (now, 0.0, 0, 0, 0);
        (self.delays, self.measured) = (0.0, 0);
        Outcome { observation, delivered, queueing: self.queueing, lost }
    }
}

fn logarithm(value: f64) -> f64 {
    if value > 0.0 { libm::log2(value).clamp(-20.0, 20.0) } else { -20.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::units::Span;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn an_interval_is_summed_up_in_units_that_are_documented() {
        let mut monitor = Monitor::new(ms(100));
        monitor.arrived(9, 12_500.0, 3);
        monitor.lost(2);
        monitor.recovered();
        for delay in [0.030, 0.050, 0.070] {
            monitor.delayed(delay);
        }
        monitor.round_trip(0.080);
        monitor.record_feedback(ms(190), 0.025);
        // 12 500 B in 100 ms are 1 Mb/s, a quarter of the granted rate.
        let outcome = monitor.close(ms(200), Level::Rate(4e6));
        let wanted = [2.0, 0.0, 0.25, 0.1, 3.0 / 9.0, 0.02, 0.02, 0.08, 0.025, 0.01];
        for (place, (seen, wanted)) in outcome.observation.iter().zip(wanted).enumerate() {
            assert!((seen - wanted).abs() < 1e-9, "place {place}: {seen}, not {wanted}");
        }
        // log2(11) − 10 · 0.02 − 10 · 0.1.
        assert!((Reward::default().evaluate(&outcome) - (11.0_f64.log2() - 0.2 - 1.0)).abs() < 1e-9);
        let next = monitor.close(ms(300), Level::Rate(4e6));
        assert_eq!(next.observation[1], -20.0, "nothing arrived");
        assert_eq!((next.lost, next.observation[6]), (0.0, 0.0), "what is not known anew has not changed");
        assert!((next.observation[9] - 0.11).abs() < 1e-9);
    }

    #[test]
    fn a_window_counts_by_the_least_round_trip() {
        let mut monitor = Monitor::new(ms(0));
        monitor.round_trip(0.1);
        monitor.round_trip(0.3);
        monitor.arrived(10, 12_500.0, 0);
        // 16 segments of 1250 B in 100 ms are 1.6 Mb/s; 1 Mb/s arrived.
        let outcome = monitor.close(ms(100), Level::Window(16.0, 1250.0));
        assert_eq!((outcome.observation[0], outcome.observation[7]), (4.0, 0.1));
        assert!((outcome.observation[2] - 0.625).abs() < 1e-9);
    }

    #[test]
    fn clocks_that_are_apart_do_not_matter() {
        let outcome = |apart: f64| {
            let mut monitor = Monitor::new(ms(0));
            monitor.delayed(0.050 + apart);
            monitor.delayed(0.090 + apart);
            monitor.close(ms(50), Level::Rate(1e6)).queueing
        };
        assert!((outcome(0.0) - 0.02).abs() < 1e-9 && (outcome(-3600.0) - 0.02).abs() < 1e-9);
    }
}
