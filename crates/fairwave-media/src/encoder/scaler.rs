//! Quality scaler: changes the picture size of a camera by the quantiser, as libwebrtc's `quality_scaler.cc`.
//!
//! The picture becomes smaller if the quickly smoothed quantiser exceeds a bound or if the encoder skipped most frames.
//! It becomes larger if the slowly smoothed quantiser is at or below another bound. A change discards all earlier
//! observations. The constants are those of libwebrtc's default field trial (`WebRTC-Video-QualityScaling`:
//! `Enabled-29,95,149,205,24,37,26,36,0.9995,0.9999,1`).

use std::collections::VecDeque;

use fairwave_units::units::{Instant, Span};

/// Time between two decisions, before the first reduction and after it (`kMeasureMs`, `kSamplePeriodScaleFactor`), and
/// while there are fewer than [`ENOUGH`] frames.
const FIRST: Span = Span::from_millis(2000);
const LATER: Span = Span::from_millis(5000);
const SOON: Span = Span::from_millis(1000);
/// Number of frames that a decision requires (`kMinFramesNeededToScale`) and considers.
const ENOUGH: usize = 60;
const WINDOW: usize = 150;
/// Share of skipped frames above which the picture is too large (`kFramedropPercentThreshold`).
const LEFT_OUT: f64 = 0.6;
/// Remaining share of a smoothed quantiser after one millisecond: quick smoothing (for reductions), and slow smoothing
/// (for enlargements).
const QUICK: f64 = 0.9995;
const SLOW: f64 = 0.9999;

/// Change of size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// To the next smaller size.
    Smaller,
    /// To the next larger size.
    Larger,
}

/// Quality scaler of a camera.
#[derive(Clone, Debug)]
pub(super) struct Scaler {
    /// Quantiser above which the picture becomes smaller, and at or below which it becomes larger.
    bounds: (f64, f64),
    /// Quickly and slowly smoothed quantiser, and the time of the latest update.
    smoothed: Option<(f64, f64, Instant)>,
    /// For each of the latest frames: true if it was skipped.
    left_out: VecDeque<bool>,
    check: Option<Instant>,
    eager: bool,
}

impl Scaler {
    /// Returns a scaler with these bounds.
    pub(super) fn new(smaller_above: f64, larger_at: f64) -> Self {
        Scaler {
            bounds: (smaller_above, larger_at),
            smoothed: None,
            left_out: VecDeque::new(),
            check: None,
            eager: true,
        }
    }

    /// Records a frame with this quantiser, or a skipped frame.
    pub(super) fn on_frame(&mut self, now: Instant, quantiser: Option<f64>) {
        self.check.get_or_insert(now + FIRST);
        if self.left_out.len() == WINDOW {
            self.left_out.pop_front();
        }
        self.left_out.push_back(quantiser.is_none());
        let Some(sample) = quantiser else { return };
        self.smoothed = Some(match self.smoothed {
            None => (sample, sample, now),
            Some((quick, slow, latest)) => {
                let passed = (now - latest).seconds() * 1e3;
                let blend = |old: f64, left: f64| {
                    let left = libm::pow(left, passed);
                    left * old + (1.0 - left) * sample
                };
                (blend(quick, QUICK), blend(slow, SLOW), now)
            }
        });
    }

    /// Returns the change of size, if a decision is due.
    pub(super) fn decide(&mut self, now: Instant) -> Option<Step> {
        if self.check.is_none_or(|check| now < check) {
            return None;
        }
        if self.left_out.len() < ENOUGH {
            self.check = Some(now + if self.eager { FIRST } else { SOON });
            return None;
        }
        let out = self.left_out.iter().filter(|out| **out).count() as f64 / self.left_out.len() as f64;
        let step = match self.smoothed {
            _ if out >= LEFT_OUT => Some(Step::Smaller),
            // libwebrtc compares whole numbers.
            Some((quick, _, _)) if quick.floor() > self.bounds.0 => Some(Step::Smaller),
            Some((_, slow, _)) if slow.floor() <= self.bounds.1 => Some(Step::Larger),
            _ => None,
        };
        if step == Some(Step::Smaller) {
            self.eager = false;
        }
        if step.is_some() {
            self.forget();
        }
        self.check = Some(now + if self.eager { FIRST } else { LATER });
        step
    }

    /// Discards all observations.
    pub(super) fn forget(&mut self) {
        self.smoothed = None;
        self.left_out.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(number: u64) -> Instant {
        Instant::ZERO + Span::from_seconds(number as f64 / 30.0)
    }

    /// Feeds frames `from` to `to` with a quantiser. Returns the steps with their frame numbers.
    fn run(scaler: &mut Scaler, from: u64, to: u64, quantiser: Option<f64>) -> Vec<(u64, Step)> {
        let mut steps = Vec::new();
        for number in from..to {
            scaler.on_frame(instant(number), quantiser);
            steps.extend(scaler.decide(instant(number)).map(|step| (number, step)));
        }
        steps
    }

    #[test]
    fn a_coarse_quantiser_makes_the_picture_smaller_after_some_seconds() {
        let mut scaler = Scaler::new(95.0, 29.0);
        assert_eq!(run(&mut scaler, 0, 300, Some(70.0)), []);
        // From 70 towards 106 with a time constant of 2 s: 96 is reached after 2.6 s; decisions are made every 2 s.
        assert_eq!(run(&mut scaler, 300, 450, Some(106.0)), [(420, Step::Smaller)]);
    }

    #[test]
    fn a_fine_quantiser_makes_it_larger_and_more_slowly() {
        let mut scaler = Scaler::new(95.0, 29.0);
        run(&mut scaler, 0, 300, Some(70.0));
        // From 70 towards 20 with a time constant of 10 s: below 30 after 16.1 s.
        assert_eq!(run(&mut scaler, 300, 900, Some(20.0)), [(840, Step::Larger)]);
        let mut fine = Scaler::new(95.0, 29.0);
        assert_eq!(run(&mut fine, 0, 70, Some(29.9)), [(60, Step::Larger)], "after two seconds");
        let mut coarser = Scaler::new(95.0, 29.0);
        assert_eq!(run(&mut coarser, 0, 900, Some(30.1)), []);
    }

    #[test]
    fn frames_left_out_make_it_smaller_without_any_quantiser() {
        let mut scaler = Scaler::new(95.0, 29.0);
        assert_eq!(run(&mut scaler, 0, 61, None), [(60, Step::Smaller)]);
        let mut some = Scaler::new(95.0, 29.0);
        for number in 0..600 {
            some.on_frame(instant(number), (number % 5 == 0).then_some(50.0));
            let step = some.decide(instant(number));
            assert_eq!(step.is_some(), number == 60, "four of five: {number} {step:?}");
            if step.is_some() {
                break;
            }
        }
        let mut half = Scaler::new(95.0, 29.0);
        for number in 0..600 {
            half.on_frame(instant(number), (number % 2 == 0).then_some(50.0));
            assert_eq!(half.decide(instant(number)), None);
        }
    }

    #[test]
    fn decisions_wait_five_seconds_and_sixty_frames_after_a_smaller_picture() {
        let mut scaler = Scaler::new(95.0, 29.0);
        assert_eq!(run(&mut scaler, 0, 61, Some(100.0)), [(60, Step::Smaller)]);
        assert_eq!(run(&mut scaler, 61, 230, Some(100.0)), [(210, Step::Smaller)], "not before 7 s");
        // Ten frames per second: 60 of them take 6 s. So after 5 s it decides every second.
        let mut few = Scaler::new(95.0, 29.0);
        run(&mut few, 0, 61, Some(100.0));
        let mut steps = Vec::new();
        for number in 61..300 {
            if number % 3 == 0 {
                few.on_frame(instant(number), Some(100.0));
            }
            steps.extend(few.decide(instant(number)).map(|_| number));
        }
        assert_eq!(steps, [240], "8 s: 5 s after the first and another");
    }
}
