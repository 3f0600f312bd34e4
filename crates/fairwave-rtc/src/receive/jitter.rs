//! Estimator of frame jitter: libwebrtc's `video/timing/jitter_estimator.cc`, `frame_delay_variation_kalman_filter.cc`,
//! `inter_frame_delay_variation_calculator.cc` and `rtt_filter.cc`.
//!
//! A Kalman filter explains the variation of frame delay by the variation of frame size (a slope, ms per byte) and an
//! offset. The unexplained rest is noise. The estimate is the additional time of the largest frame over the mean one,
//! plus 2.33 standard deviations of the noise, less 30 ms. After three retransmitted frames it includes a round trip.
//!
//! The round trip is used without smoothing; `rtt_filter.cc` smooths libwebrtc's measurements once a second.

use fairwave_units::units::{Instant, Span};

/// Frames before the estimate is kept.
const STARTUP: u32 = 30;
/// Frames before sizes are filtered.
const SIZES_STARTUP: u32 = 5;
/// Filter gains of the mean and of the largest size.
const PHI: f64 = 0.97;
const PSI: f64 = 0.9999;
const FIRST_SIZE: f64 = 500.0;
/// Standard deviations: clamp of delays, and limits above which delays and sizes are outliers.
const CLAMP: f64 = 3.5;
const DELAY_OUTLIER: f64 = 15.0;
const SIZE_OUTLIER: f64 = 3.0;
/// If a frame is smaller than the previous one by more than this share of the largest, it followed a large frame
/// through a congested queue.
const CONGESTION: f64 = -0.25;
const ALPHA_MOST: u32 = 400;
const NOISE_DEVIATIONS: f64 = 2.33;
const NOISE_OFFSET: f64 = 30.0;
/// Range of the estimate, ms.
const LEAST: f64 = 1.0;
const MOST: f64 = 10_000.0;
/// Delay added by the operating system, ms.
const SYSTEM: f64 = 10.0;
/// Retransmitted frames are forgotten after this time.
const NACKS_FORGOTTEN: Span = Span::from_secs(60);
const NACKS: u32 = 3;
/// After retransmissions, the estimate grows by this share of the round trip, and at most by a number of ms.
const ROUND_TRIP_SHARE: f64 = 0.9;
const ROUND_TRIP_MOST: f64 = 200.0;
/// Number of gaps in the mean frame rate.
const GAPS: usize = 30;
const HIGHEST_FRAME_RATE: f64 = 200.0;

/// Kalman filter of delay variation by size variation.
#[derive(Clone, Copy, Debug)]
struct Kalman {
    /// Slope, ms per byte.
    slope: f64,
    /// Offset, ms.
    offset: f64,
    covariance: [[f64; 2]; 2],
}

impl Kalman {
    fn new() -> Self {
        Kalman { slope: 1.0 / (512e3 / 8.0), offset: 0.0, covariance: [[1e-4, 0.0], [0.0, 1e2]] }
    }

    fn explained(&self, size: f64) -> f64 {
        self.slope * size + self.offset
    }

    fn update(&mut self, delay: f64, size: f64, largest: f64, noise: f64) {
        if largest < 1.0 || noise <= 0.0 {
            return;
        }
        let [[mut p00, p01], [p10, mut p11]] = self.covariance;
        p00 += 2.5e-10;
        p11 += 1e-10;
        let innovation = delay - self.explained(size);
        let observed = [p00 * size + p01, p10 * size + p11];
        let deviation = ((300.0 * libm::exp(-size.abs() / largest) + 1.0) * noise.sqrt()).max(1.0);
        let variance = size * observed[0] + observed[1] + deviation;
        if variance.abs() < 1e-9 {
            return;
        }
        let gain = [observed[0] / variance, observed[1] / variance];
        self.slope = (self.slope + gain[0] * innovation).max(1e-6);
        self.offset += gain[1] * innovation;
        let new00 = (1.0 - gain[0] * size) * p00 - gain[0] * p10;
        let new01 = (1.0 - gain[0] * size) * p01 - gain[0] * p11;
        let new10 = p10 * (1.0 - gain[1]) - gain[1] * size * p00;
        let new11 = p11 * (1.0 - gain[1]) - gain[1] * size * p01;
        self.covariance = [[new00, new01], [new10, new11]];
    }
}

/// Jitter estimator of a stream.
#[derive(Clone, Debug)]
pub struct JitterEstimator {
    kalman: Kalman,
    mean_size: f64,
    largest: f64,
    size_variance: f64,
    startup_sum: f64,
    startup_sizes: u32,
    startup: u32,
    size_before: Option<f64>,
    noise_mean: f64,
    noise_variance: f64,
    alpha: u32,
    held: f64,
    before: Option<f64>,
    /// Number of retransmitted frames, and the time of the last one.
    nacks: u32,
    nacked: Instant,
    round_trip: f64,
    updated: Option<Instant>,
    gaps: std::collections::VecDeque<f64>,
    gaps_sum: f64,
    frame_before: Option<(Instant, u32)>,
}

impl Default for JitterEstimator {
    fn default() -> Self {
        JitterEstimator {
            kalman: Kalman::new(),
            mean_size: FIRST_SIZE,
            largest: FIRST_SIZE,
            size_variance: 100.0,
            startup_sum: 0.0,
            startup_sizes: 0,
            startup: 0,
            size_before: None,
            noise_mean: 0.0,
            noise_variance: 4.0,
            alpha: 1,
            held: 0.0,
            before: None,
            nacks: 0,
            nacked: Instant::ZERO,
            round_trip: 0.0,
            updated: None,
            gaps: std::collections::VecDeque::with_capacity(GAPS),
            gaps_sum: 0.0,
            frame_before: None,
        }
    }
}

impl JitterEstimator {
    /// Sets the round trip.
    pub fn set_round_trip(&mut self, round_trip: Span) {
        self.round_trip = round_trip.millis().min(3000.0);
    }

    /// Records a complete frame that was retransmitted; it is not evidence of jitter.
    pub fn on_nacked_frame(&mut self, now: Instant) {
        self.nacks = (self.nacks + 1).min(NACKS);
        self.nacked = now;
    }

    /// Adds a frame of `bytes` that was complete at `arrived`; its timestamp is at 90 kHz. The estimate is updated at
    /// `now`.
    pub fn on_frame(&mut self, now: Instant, arrived: Instant, timestamp: u32, bytes: u32) {
        let variation = match self.frame_before {
            None => 0.0,
            Some((_, before)) if (timestamp.wrapping_sub(before) as i32) <= 0 => return,
            Some((came, before)) => {
                let wall = arrived.seconds() - came.seconds();
                wall * 1e3 - f64::from(timestamp.wrapping_sub(before)) / 90.0
            }
        };
        self.frame_before = Some((arrived, timestamp));
        self.update(now, variation, f64::from(bytes));
    }

    fn update(&mut self, now: Instant, delay: f64, size: f64) {
        if size <= 0.0 {
            return;
        }
        let size_change = size - self.size_before.unwrap_or(0.0);
        if self.startup_sizes < SIZES_STARTUP {
            self.startup_sum += size;
            self.startup_sizes += 1;
        } else if self.startup_sizes == SIZES_STARTUP {
            self.mean_size = self.startup_sum / f64::from(self.startup_sizes);
            self.startup_sizes += 1;
        }
        let mean = PHI * self.mean_size + (1.0 - PHI) * size;
        if size < self.mean_size + 2.0 * self.size_variance.sqrt() {
            self.mean_size = mean;
        }
        let deviation = size - mean;
        self.size_variance = (PHI * self.size_variance + (1.0 - PHI) * deviation * deviation).max(1.0);
        self.largest = (PSI * self.largest).max(size);
        if self.size_before.replace(size).is_none() {
            return;
        }
        let noise = self.noise_variance.sqrt();
        let clamp = libm::floor(CLAMP * noise + 0.5);
        let delay = libm::trunc(delay.clamp(-clamp, clamp));
        let unexplained = delay - self.kalman.explained(size_change);
        let plain = unexplained.abs() < DELAY_OUTLIER * noise;
        let large = size > self.mean_size + SIZE_OUTLIER * self.size_variance.sqrt();
        if plain || large {
            self.on_noise(now, unexplained);
            if size_change > CONGESTION * self.largest {
                self.kalman.update(delay, size_change, self.largest, self.noise_variance);
            }
        } else {
            self.on_noise(now, if unexplained >= 0.0 { DELAY_OUTLIER * noise } else { -DELAY_OUTLIER * noise });
        }
        if self.startup >= STARTUP {
            self.held = self.calculate();
        } else {
            self.startup += 1;
        }
    }

    fn on_noise(&mut self, now: Instant, unexplained: f64) {
        if let Some(before) = self.updated.replace(now) {
            let gap = now.span_since(before).seconds();
            self.gaps.push_back(gap);
            self.gaps_sum += gap;
            if self.gaps.len() > GAPS
                && let Some(oldest) = self.gaps.pop_front()
            {
                self.gaps_sum -= oldest;
            }
        }
        let mut alpha = f64::from(self.alpha - 1) / f64::from(self.alpha);
        self.alpha = (self.alpha + 1).min(ALPHA_MOST);
        let rate = self.frame_rate();
        if rate > 0.0 {
            let mut scale = 30.0 / rate;
            if self.alpha < STARTUP {
                let (done, all) = (f64::from(self.alpha), f64::from(STARTUP));
                scale = (done * scale + (all - done)) / all;
            }
            alpha = libm::pow(alpha, scale);
        }
        let mean = alpha * self.noise_mean + (1.0 - alpha) * unexplained;
        let deviation = unexplained - self.noise_mean;
        self.noise_variance = (alpha * self.noise_variance + (1.0 - alpha) * deviation * deviation).max(1.0);
        self.noise_mean = mean;
    }

    fn calculate(&mut self) -> f64 {
        let noise = (NOISE_DEVIATIONS * self.noise_variance.sqrt() - NOISE_OFFSET).max(1.0);
        let estimate = self.kalman.slope * (self.largest - self.mean_size) + noise;
        let estimate = if estimate < LEAST { self.before.unwrap_or(LEAST) } else { estimate.min(MOST) };
        self.before = Some(estimate);
        estimate
    }

    /// Returns the frame rate, frames/s, from the gaps between updates; 0 while unknown.
    fn frame_rate(&self) -> f64 {
        if self.gaps.is_empty() || self.gaps_sum <= 0.0 {
            return 0.0;
        }
        (self.gaps.len() as f64 / self.gaps_sum).min(HIGHEST_FRAME_RATE)
    }

    /// Returns the estimate at `now`. It counts in part below 10 frames/s, and is zero below 5.
    pub fn estimate(&mut self, now: Instant) -> Span {
        let mut jitter = self.calculate() + SYSTEM;
        if now.span_since(self.nacked) > NACKS_FORGOTTEN {
            self.nacks = 0;
        }
        jitter = jitter.max(self.held);
        if self.nacks >= NACKS {
            jitter += (self.round_trip * ROUND_TRIP_SHARE).min(ROUND_TRIP_MOST);
        }
        let rate = self.frame_rate();
        if rate > 0.0 && rate < 10.0 {
            jitter *= ((rate - 5.0) / 5.0).max(0.0);
        }
        Span::from_seconds(jitter.max(0.0) / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn us(micros: u64) -> Instant {
        Instant::ZERO + Span::from_micros(micros)
    }

    /// Returns the estimate in ms after each of `frames` frames of `size`, every `gap` ms, delayed by `late(k)` ms.
    fn estimates(frames: u64, gap: u64, size: impl Fn(u64) -> u32, late: impl Fn(u64) -> u64) -> Vec<f64> {
        let mut jitter = JitterEstimator::default();
        (0..frames)
            .map(|k| {
                let arrived = us((gap * k + late(k)) * 1000);
                jitter.on_frame(arrived, arrived, (gap * k * 90) as u32, size(k));
                jitter.estimate(arrived).millis()
            })
            .collect()
    }

    #[test]
    fn steady_frames_have_the_least_estimate() {
        // 1 ms of noise, plus 10 ms of the operating system.
        let last = *estimates(300, 33, |_| 1000, |_| 0).last().expect("some");
        assert!((11.0..11.2).contains(&last), "{last} ms");
    }

    #[test]
    fn noise_raises_it_by_its_deviation_less_30_ms() {
        let noisy =
            *estimates(900, 33, |_| 1000, |k: u64| if k.is_multiple_of(2) { 0 } else { 40 }).last().expect("some");
        // Variation of ±40 ms: 2.33 · 40 − 30 = 63 ms.
        assert!((50.0..90.0).contains(&noisy), "{noisy} ms");
    }

    #[test]
    fn large_frames_that_take_longer_raise_it() {
        // Every tenth frame is ten times as large and takes 18 ms longer. Delays count only up to 3.5 deviations of the
        // noise, which is small here, so the estimate grows by less.
        let size = |k: u64| if k.is_multiple_of(10) { 10_000 } else { 1000 };
        let large = *estimates(900, 33, size, |k: u64| if k.is_multiple_of(10) { 18 } else { 0 }).last().expect("some");
        let alike =
            *estimates(900, 33, |_| 1000, |k: u64| if k.is_multiple_of(10) { 18 } else { 0 }).last().expect("some");
        assert!((alike + 2.0..alike + 18.0).contains(&large), "{large} ms, frames of one size {alike} ms");
    }

    #[test]
    fn the_mean_size_follows_with_three_hundredths() {
        let mut jitter = JitterEstimator::default();
        for _ in 0..6 {
            jitter.update(us(0), 0.0, 1000.0);
        }
        assert!((jitter.mean_size - 1000.0).abs() < 1e-9, "{} B", jitter.mean_size);
        jitter.update(us(0), 0.0, 1100.0);
        assert!((jitter.mean_size - 1003.0).abs() < 1e-9, "{} B", jitter.mean_size);
    }

    #[test]
    fn a_delay_counts_up_to_three_and_a_half_deviations_of_the_noise() {
        for (delay, counted) in [(6.0, 6.0), (1000.0, 7.0), (-1000.0, -7.0)] {
            let mut jitter = JitterEstimator::default();
            jitter.update(us(0), 0.0, 1000.0);
            // The noise has an initial deviation of 2 ms. Without a history, the unexplained delay becomes its mean.
            jitter.update(us(33_000), delay, 1000.0);
            assert!((jitter.noise_mean - counted).abs() < 1e-9, "{delay}: {} ms", jitter.noise_mean);
        }
    }

    #[test]
    fn slow_streams_have_none() {
        assert_eq!(*estimates(60, 250, |_| 1000, |_| 0).last().expect("some"), 0.0);
        let half = *estimates(100, 133, |_| 1000, |_| 0).last().expect("some");
        assert!((5.0..7.0).contains(&half), "7.5 frames a second: {half} ms");
    }

    #[test]
    fn three_nacked_frames_add_a_round_trip_for_a_minute() {
        let mut jitter = JitterEstimator::default();
        jitter.set_round_trip(Span::from_millis(100));
        let plain = jitter.estimate(us(0)).millis();
        for (count, more) in [(1, 0.0), (2, 0.0), (3, 90.0), (4, 90.0)] {
            jitter.on_nacked_frame(us(0));
            assert!((jitter.estimate(us(0)).millis() - plain - more).abs() < 1e-6, "{count}");
        }
        jitter.set_round_trip(Span::from_secs(1));
        assert!((jitter.estimate(us(0)).millis() - plain - 200.0).abs() < 1e-6, "at most 200 ms");
        assert!((jitter.estimate(us(60_000_000)).millis() - plain - 200.0).abs() < 1e-6);
        assert!((jitter.estimate(us(60_000_001)).millis() - plain).abs() < 1e-6, "forgotten");
    }

    #[test]
    fn reordered_frames_say_nothing() {
        let mut jitter = JitterEstimator::default();
        jitter.on_frame(us(0), us(0), 3000, 1000);
        let before = format!("{jitter:?}");
        jitter.on_frame(us(900_000), us(900_000), 3000, 1000);
        jitter.on_frame(us(900_000), us(900_000), 0, 1000);
        assert_eq!(format!("{jitter:?}"), before);
    }

    proptest! {
        #[test]
        fn estimate_is_between_0_and_10_s(frames in prop::collection::vec((any::<u32>(), 0u32..3_000_000, 0u64..4_000_000), 0..200)) {
            let mut jitter = JitterEstimator::default();
            let mut now = 0;
            for (timestamp, size, gap) in frames {
                now += gap;
                jitter.on_frame(us(now), us(now), timestamp, size);
                prop_assert!(jitter.estimate(us(now)) <= Span::from_millis(10_210));
            }
        }
    }
}
