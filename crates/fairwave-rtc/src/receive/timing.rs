//! Timing of video frames, for decoding and display: libwebrtc's `video_coding/timing/timing.cc` (VCMTiming),
//! `video/timing/timestamp_extrapolator.cc` and `video/frame_decode_timing.cc`.
//!
//! A frame is shown at the local time of its timestamp plus the current delay. The target of the delay is jitter +
//! decoding + display, or the delay that lip synchronisation requires. The current delay grows only with late frames.

use super::config::ReceiveConfig;
use fairwave_endpoint::serial;
use fairwave_units::units::{Instant, Span};

/// Number of unmeasured frames before the decoding time counts (`decode_time_percentile_filter.cc`).
const DECODED_UNMEASURED: u32 = 5;
/// A frame that is later than this, ms, is dropped if another can be decoded.
const LATE: f64 = -5.0;
/// Largest `max-playout-delay` that, with a least delay of 0, shows frames as soon as they are decoded.
const LOW_LATENCY: Span = Span::from_millis(500);
/// Least interval between decoding of frames that are shown as soon as possible.
const LOW_LATENCY_PACING: Span = Span::from_millis(8);
/// With more frames in the buffer, the interval does not apply.
const LOW_LATENCY_QUEUE: usize = 8;

/// The clock restarts after a longer silence.
const SILENCE: Span = Span::from_secs(10);
/// A larger error of a timestamp restarts the clock, ticks.
const JUMP: f64 = 900_000.0;
const OUTLIER_STARTUP: u32 = 300;
const OUTLIERS: u32 = 150;
const FORGET: f64 = 0.999;
const OUTLIER_DEVIATIONS: f64 = 2.0;
const FIRST_VARIANCE: f64 = 3000.0 * 3000.0;
const ALARM: f64 = 60_000.0;
const DRIFT: f64 = 6600.0;
const LARGEST_ERROR: f64 = 7000.0;
const COVARIANCE: [[f64; 2]; 2] = [[1.0, 0.0], [0.0, 1e10]];

/// Local time of timestamps at 90 kHz: a line fitted by recursive least squares.
#[derive(Clone, Debug)]
struct Extrapolator {
    start: Instant,
    last: Instant,
    first: Option<u64>,
    before: Option<u64>,
    near: u64,
    /// Ticks per ms, and ticks.
    line: [f64; 2],
    covariance: [[f64; 2]; 2],
    frames: u32,
    mean: f64,
    variance: f64,
    outliers: u32,
    above: f64,
    below: f64,
}

impl Extrapolator {
    fn new(start: Instant) -> Self {
        Extrapolator {
            start,
            last: start,
            first: None,
            before: None,
            near: 1 << 32,
            line: [90.0, 0.0],
            covariance: COVARIANCE,
            frames: 0,
            mean: 0.0,
            variance: FIRST_VARIANCE,
            outliers: 0,
            above: 0.0,
            below: 0.0,
        }
    }

    fn update(&mut self, now: Instant, timestamp: u32) {
        if now.span_since(self.last) > SILENCE {
            *self = Extrapolator::new(now);
        }
        let passed = now.span_since(self.last).millis();
        let mut ticks = serial::unwrap(self.near, timestamp);
        if let Some(before) = self.before
            && (ticks as f64 - before as f64 - passed * self.line[0]).abs() > JUMP
        {
            *self = Extrapolator::new(now);
            ticks = serial::unwrap(self.near, timestamp);
        }
        self.last = now;
        self.near = ticks;
        let time = now.span_since(self.start).millis();
        let first = *self.first.get_or_insert_with(|| {
            self.line[1] = -self.line[0] * time;
            ticks
        });
        let residual = (ticks as f64 - first as f64) - time * self.line[0] - self.line[1];
        if self.is_outlier(residual) {
            self.outliers += 1;
            if self.outliers <= OUTLIERS {
                return;
            }
            self.covariance[1][1] = COVARIANCE[1][1];
        }
        self.outliers = 0;
        if self.has_moved(residual) && self.frames >= 2 {
            self.covariance[1][1] = COVARIANCE[1][1];
        }
        let [[p00, p01], [p10, p11]] = self.covariance;
        let gain = [p00 * time + p01, p10 * time + p11];
        let norm = 1.0 + time * gain[0] + gain[1];
        let gain = [gain[0] / norm, gain[1] / norm];
        self.line[0] += gain[0] * residual;
        self.line[1] += gain[1] * residual;
        self.covariance = [
            [p00 - (gain[0] * time * p00 + gain[0] * p10), p01 - (gain[0] * time * p01 + gain[0] * p11)],
            [p10 - (gain[1] * time * p00 + gain[1] * p10), p11 - (gain[1] * time * p01 + gain[1] * p11)],
        ];
        self.before = Some(ticks);
        self.frames = self.frames.saturating_add(1);
    }

    fn is_outlier(&mut self, residual: f64) -> bool {
        if self.frames >= OUTLIER_STARTUP && (residual - self.mean).abs() > OUTLIER_DEVIATIONS * self.variance.sqrt() {
            return true;
        }
        self.mean = FORGET * self.mean + (1.0 - FORGET) * residual;
        let deviation = residual - self.mean;
        self.variance = (FORGET * self.variance + (1.0 - FORGET) * deviation * deviation).max(1.0);
        false
    }

    /// Detects a change of the delay by cumulative sums of residuals (CUSUM).
    fn has_moved(&mut self, residual: f64) -> bool {
        let residual = residual.clamp(-LARGEST_ERROR, LARGEST_ERROR);
        self.above = (self.above + residual - DRIFT).max(0.0);
        self.below = (self.below + residual + DRIFT).min(0.0);
        let moved = self.above > ALARM || self.below < -ALARM;
        if moved {
            (self.above, self.below) = (0.0, 0.0);
        }
        moved
    }

    /// Returns the seconds since the start of the run; `None` before the first frame.
    fn local(&self, timestamp: u32) -> Option<f64> {
        let first = self.first?;
        let ticks = serial::unwrap(self.near, timestamp) as f64;
        if self.frames < 2 {
            return Some(self.last.seconds() + (ticks - self.near as f64) / 90_000.0);
        }
        if self.line[0] < 1e-3 {
            return Some(self.start.seconds());
        }
        let millis = libm::floor((ticks - first as f64 - self.line[1]) / self.line[0] + 0.5);
        Some(self.start.seconds() + millis / 1e3)
    }
}

/// Timing of a stream's frames. Delays are in milliseconds, as in the source.
#[derive(Clone, Debug)]
pub struct Timing {
    clock: Extrapolator,
    decode_time: f64,
    decoded: u32,
    render_delay: f64,
    /// Delay required by jitter.
    minimum: f64,
    current: f64,
    least: f64,
    most: f64,
    low_latency: bool,
    last_decode: Option<Instant>,
}

/// Decision about the next decodable frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Schedule {
    /// Decode it at the first time and show it at the second; `None`: show it as soon as it is decoded.
    Decode(Instant, Option<f64>),
    /// Drop it: it is too late, and another can be decoded.
    Drop,
}

impl Timing {
    /// Returns the timing of a new stream.
    pub fn new(config: &ReceiveConfig) -> Self {
        Timing {
            clock: Extrapolator::new(Instant::ZERO),
            decode_time: config.decode_time.millis(),
            decoded: 0,
            render_delay: config.render_delay.millis(),
            minimum: 0.0,
            current: 0.0,
            least: config.min_playout_delay.millis(),
            most: config.max_playout_delay.millis(),
            low_latency: config.max_playout_delay <= LOW_LATENCY,
            last_decode: None,
        }
    }

    fn decode(&self) -> f64 {
        if self.decoded > DECODED_UNMEASURED { self.decode_time } else { 0.0 }
    }

    /// Returns the target delay, ms.
    pub fn target(&self) -> f64 {
        self.least.max(self.minimum + self.decode() + self.render_delay)
    }

    /// Returns the buffer's part of the target, and the part required by jitter alone, ms: `jitterBufferTargetDelay`,
    /// `jitterBufferMinimumDelay`.
    pub fn buffer_targets(&self) -> (f64, f64) {
        ((self.target() - self.decode() - self.render_delay).max(0.0), self.minimum)
    }

    /// Sets the least delay, for lip synchronisation.
    pub fn set_least(&mut self, least: f64) {
        self.least = least.clamp(0.0, self.most);
    }

    /// Sets the delay required by jitter.
    pub fn set_minimum(&mut self, jitter: Span) {
        self.minimum = jitter.millis();
        if self.current == 0.0 {
            self.current = self.minimum;
        }
    }

    /// Records a complete frame that was not retransmitted.
    pub fn on_complete(&mut self, arrived: Instant, timestamp: u32) {
        self.clock.update(arrived, timestamp);
    }

    /// Resets everything except the settings, because the times make no sense.
    pub fn reset(&mut self, now: Instant) {
        self.clock = Extrapolator::new(now);
        (self.decoded, self.minimum, self.current, self.least) = (0, 0.0, 0.0, 0.0);
    }

    /// Returns when to show a frame, seconds; `None` means as soon as possible.
    pub fn render_time(&self, timestamp: u32, now: Instant) -> Option<f64> {
        if self.least == 0.0 && self.low_latency {
            return None;
        }
        match self.clock.local(timestamp) {
            None => Some(now.seconds()),
            Some(local) => Some(local + self.current.max(self.least).min(self.most) / 1e3),
        }
    }

    /// Returns the decision about the next frame. `last` returns whether no other can be decoded; `waiting` frames are
    /// in the buffer.
    pub fn schedule(&self, timestamp: u32, now: Instant, last: impl FnOnce() -> bool, waiting: usize) -> Schedule {
        let render = self.render_time(timestamp, now);
        let wait = match render {
            None if waiting > LOW_LATENCY_QUEUE => 0.0,
            None => self.last_decode.map_or(0.0, |decoded| (decoded + LOW_LATENCY_PACING).span_since(now).millis()),
            Some(render) => (render - now.seconds()) * 1e3 - self.decode() - self.render_delay,
        };
        if wait <= LATE && !last() {
            return Schedule::Drop;
        }
        Schedule::Decode(now + Span::from_seconds(wait.max(0.0) / 1e3), render)
    }

    /// Checks whether a display time is invalid: more than 10 s away, or with a delay above 10 s.
    pub fn is_nonsense(&self, render: Option<f64>, now: Instant) -> bool {
        render.is_some_and(|render| render < 0.0 || (render - now.seconds()).abs() > 10.0) || self.target() > 10_000.0
    }

    /// Records that a frame for display at `render` is decoded at `now`; `again` is true if a part of it was
    /// retransmitted.
    pub fn on_decode(&mut self, now: Instant, render: Option<f64>, again: bool) {
        self.last_decode = Some(now);
        let delayed = (now.seconds() - render.unwrap_or(0.0)) * 1e3 + self.decode() + self.render_delay;
        if !again && delayed >= 0.0 {
            self.current = (self.current + delayed).min(self.target());
        }
        self.decoded = self.decoded.saturating_add(1);
    }

    /// Returns the current delay of frames, ms.
    pub fn current(&self) -> f64 {
        self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn timing() -> Timing {
        Timing::new(&ReceiveConfig::default())
    }

    /// Returns the timing after frames every 40 ms that arrived 100 ms after capture, with timestamps from `first`.
    fn fed(first: u32, frames: u64) -> Timing {
        let mut timing = timing();
        for k in 0..frames {
            timing.on_complete(ms(100 + 40 * k), first.wrapping_add(3600 * k as u32));
        }
        timing
    }

    #[test]
    fn a_frame_is_shown_at_its_local_time_plus_the_delay() {
        for first in [0, u32::MAX - 20_000] {
            let mut timing = fed(first, 50);
            timing.set_minimum(Span::from_millis(30));
            let next = first.wrapping_add(3600 * 50);
            let shown = timing.render_time(next, ms(2060)).expect("a time");
            assert!((shown - 2.130).abs() < 0.002, "{shown}");
        }
    }

    #[test]
    fn decoding_begins_before_by_what_decoding_and_display_take() {
        let mut timing = fed(0, 50);
        timing.set_minimum(Span::from_millis(30));
        let decode = |timing: &Timing| match timing.schedule(3600 * 50, ms(2100), || true, 1) {
            Schedule::Decode(when, _) => (when.seconds() * 1e3).round() as u64,
            Schedule::Drop => panic!("kept"),
        };
        assert_eq!(decode(&timing), 2120, "10 ms of display");
        for _ in 0..6 {
            timing.on_decode(ms(0), Some(10.0), false);
        }
        assert_eq!(decode(&timing), 2117, "and 3 ms of decoding, from the sixth frame on");
    }

    #[test]
    fn frames_five_ms_late_are_skipped_if_another_can_be_decoded() {
        let timing = fed(0, 50);
        // Display at 2100 ms, decoding at 2090.
        let at_time = |millis, last| timing.schedule(3600 * 50, ms(millis), || last, 1);
        assert!(matches!(at_time(2094, false), Schedule::Decode(..)));
        assert_eq!(at_time(2096, false), Schedule::Drop);
        assert!(matches!(at_time(2096, true), Schedule::Decode(when, _) if when == ms(2096)));
    }

    #[test]
    fn the_delay_grows_with_late_frames_up_to_the_target() {
        let mut timing = fed(0, 50);
        timing.set_minimum(Span::from_millis(20));
        assert_eq!(timing.current(), 20.0, "at first the least that is asked for");
        timing.set_minimum(Span::from_millis(60));
        timing.on_decode(ms(1000), Some(1.005), false);
        assert!((timing.current() - 25.0).abs() < 1e-6, "5 ms late: {}", timing.current());
        timing.on_decode(ms(1000), Some(1.5), false);
        assert!((timing.current() - 25.0).abs() < 1e-6, "early frames change nothing");
        timing.on_decode(ms(1000), Some(0.9), true);
        assert!((timing.current() - 25.0).abs() < 1e-6, "nor do those that were sent again");
        timing.on_decode(ms(1000), Some(0.5), false);
        assert!((timing.current() - 70.0).abs() < 1e-6, "60 ms of jitter, 10 of display");
    }

    #[test]
    fn lip_synchronisation_raises_the_least() {
        let mut timing = fed(0, 50);
        timing.set_least(200.0);
        assert_eq!(timing.target(), 200.0);
        assert_eq!(timing.buffer_targets(), (190.0, 0.0));
        let shown = timing.render_time(3600 * 50, ms(2100)).expect("a time");
        assert!((shown - 2.3).abs() < 0.002);
    }

    #[test]
    fn low_latency_shows_as_soon_as_decoded_and_paces_by_8_ms() {
        let config = ReceiveConfig { max_playout_delay: LOW_LATENCY, ..ReceiveConfig::default() };
        let mut timing = Timing::new(&config);
        assert_eq!(timing.schedule(0, ms(5), || true, 1), Schedule::Decode(ms(5), None));
        timing.on_decode(ms(5), None, false);
        assert_eq!(timing.schedule(0, ms(6), || true, 1), Schedule::Decode(ms(13), None));
        assert_eq!(timing.schedule(0, ms(6), || true, 9), Schedule::Decode(ms(6), None), "too many wait");
        timing.set_least(20.0);
        assert!(timing.render_time(0, ms(6)).is_some());
    }

    #[test]
    fn ten_seconds_of_silence_begin_a_new_clock() {
        let mut timing = fed(0, 50);
        timing.on_complete(ms(60_000), 77);
        assert_eq!(timing.render_time(77, ms(60_000)), Some(60.0));
        assert!(timing.is_nonsense(Some(-0.1), ms(0)));
        assert!(timing.is_nonsense(Some(10.1), ms(0)) && !timing.is_nonsense(Some(9.9), ms(0)));
    }

    proptest! {
        #[test]
        fn hostile_timestamps_give_finite_times(frames in prop::collection::vec((any::<u32>(), 0u64..20_000), 1..200)) {
            let mut timing = timing();
            let mut now = 0;
            for (timestamp, gap) in frames {
                now += gap;
                timing.on_complete(ms(now), timestamp);
                let render = timing.render_time(timestamp, ms(now)).expect("a time");
                prop_assert!(render.is_finite());
                timing.on_decode(ms(now), Some(render), false);
                prop_assert!(timing.current().is_finite() && timing.current() <= timing.target() + 1e-9);
            }
        }
    }
}
