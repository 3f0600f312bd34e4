//! When a camera's picture is made smaller or larger: by the quantiser, as libwebrtc's `quality_scaler.cc` has it.
//!
//! A picture is made smaller when the smoothed quantiser exceeds a bound, or when the encoder left out most frames; larger when the
//! slowly smoothed quantiser is at most another bound. What was seen before a change does not count after it. Constants are those of
//! its default field trial (`WebRTC-Video-QualityScaling`: `Enabled-29,95,149,205,24,37,26,36,0.9995,0.9999,1`).

use std::collections::VecDeque;

use fairwave_units::units::{Instant, Span};

/// Time between two decisions, until the picture is made smaller for the first time and afterwards (`kMeasureMs`,
/// `kSamplePeriodScaleFactor`), and while there are not [`ENOUGH`] frames.
const FIRST: Span = Span::from_millis(2000);
const LATER: Span = Span::from_millis(5000);
const SOON: Span = Span::from_millis(1000);
/// Frames that a decision needs (`kMinFramesNeededToScale`), and that it looks back on.
const ENOUGH: usize = 60;
const WINDOW: usize = 150;
/// Share of frames left out above which the picture is too large (`kFramedropPercentThreshold`).
const LEFT_OUT: f64 = 0.6;
/// What is left of a smoothed quantiser after a millisecond: of the one that makes smaller, and of the one that makes larger.
const QUICK: f64 = 0.9995;
const SLOW: f64 = 0.9999;

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// To the next smaller size.
    Smaller,
    /// To the next larger size.
    Larger,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Scaler {
    /// Above and at most which quantiser the picture becomes smaller and larger.
    bounds: (f64, f64),
    /// Smoothed quantisers, quickly and slowly, and when the latest was added.
    smoothed: Option<(f64, f64, Instant)>,
    /// Of the latest frames, whether they were left out.
    left_out: VecDeque<bool>,
    check: Option<Instant>,
    eager: bool,
}

impl Scaler {
    /// With these bounds.
    pub(super) fn new(smaller_above: f64, larger_at: f64) -> Self {
        Scaler {
            bounds: (smaller_above, larger_at),
            smoothed: None,
            left_out: VecDeque::new(),
            check: None,
            eager: true,
        }
    }

    /// A frame was encoded with this quantiser, or left out.
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

    /// What is to be done now, if it is time to decide.
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

    /// What was seen does not count any more.
    pub(super) fn forget(&mut self) {
        self.smoothed = None;
        self.left_out.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u64) -> Instant {
        Instant::ZERO + Span::from_seconds(number as f64 / 30.0)
    }

    /// Frames from one number to another with a quantiser; the steps, each with its frame's number.
    fn run(scaler: &mut Scaler, from: u64, to: u64, quantiser: Option<f64>) -> Vec<(u64, Step)> {
        let mut steps = Vec::new();
        for number in from..to {
            scaler.on_frame(at(number), quantiser);
            steps.extend(scaler.decide(at(number)).map(|step| (number, step)));
        }
        steps
    }

    #[test]
    fn a_coarse_quantiser_makes_the_picture_smaller_after_some_seconds() {
        let mut scaler = Scaler::new(95.0, 29.0);
        assert_eq!(run(&mut scaler, 0, 300, Some(70.0)), []);
        // From 70 towards 106 with a time constant of 2 s: 96 is reached after 2.6 s, the decision falls each 2 s.
        assert_eq!(run(&mut scaler, 300, 450, Some(106.0)), [(420, Step::Smaller)]);
    }

    #[test]
    fn a_fine_quantiser_makes_it_larger_and_more_slowly() {
        let mut scaler = Scaler::new(95.0, 29.0);
        run(&mut scaler, 0, 300, Some(70.0));
        // From 70 towards 20 with a time constant of 10 s: less than 30 after 16.1 s.
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
            some.on_frame(at(number), (number % 5 == 0).then_some(50.0));
            let step = some.decide(at(number));
            assert_eq!(step.is_some(), number == 60, "four of five: {number} {step:?}");
            if step.is_some() {
                break;
            }
        }
        let mut half = Scaler::new(95.0, 29.0);
        for number in 0..600 {
            half.on_frame(at(number), (number % 2 == 0).then_some(50.0));
            assert_eq!(half.decide(at(number)), None);
        }
    }

    #[test]
    fn after_a_smaller_picture_decisions_are_five_seconds_apart_and_need_sixty_frames() {
        let mut scaler = Scaler::new(95.0, 29.0);
        assert_eq!(run(&mut scaler, 0, 61, Some(100.0)), [(60, Step::Smaller)]);
        assert_eq!(run(&mut scaler, 61, 230, Some(100.0)), [(210, Step::Smaller)], "not before 7 s");
        // Ten frames a second: 60 of them take 6 s, so it looks again each second after 5.
        let mut few = Scaler::new(95.0, 29.0);
        run(&mut few, 0, 61, Some(100.0));
        let mut steps = Vec::new();
        for number in 61..300 {
            if number % 3 == 0 {
                few.on_frame(at(number), Some(100.0));
            }
            steps.extend(few.decide(at(number)).map(|_| number));
        }
        assert_eq!(steps, [240], "8 s: 5 s after the first and another");
    }
}
