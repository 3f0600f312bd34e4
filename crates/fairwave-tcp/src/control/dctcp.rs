//! DCTCP: the window falls in proportion to the number of marked segments.
//!
//! Source: RFC 8257. M is the marked part of the segments of each window of data (§3.3). Its moving mean is α =
//! (1 − g)·α + g·M. A mark reduces the window by α/2, once per window. All other rules are Reno's: growth (§3.4)
//! and losses (§3.5).
//!
//! **Assumptions and deviations.** Segments are counted, not bytes. The receiver reports the count of marks
//! instead of the one-bit state machine of RFC 8257 §3.2. The window falls with the first mark of a window, by the
//! α of the previous windows, as in Linux. Step 9 of RFC 8257 §3.3 can be read as a decrease at the window's end.
//! If a loss follows a mark in the same window, the total decrease is half of the window before the mark: one
//! decrease, of Reno's size. The window opens only while it is filled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::growth::{Round, WindowUse, avoidance, slow_start};
use super::{ControlLaw, Controller, Estimate, LEAST_THRESHOLD, Marks, Path, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_units::config::{ConfigError, check_between, check_fraction};
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};

/// DCTCP (RFC 8257), for data centres whose queues mark early. A mark reduces the window by half the mean share of
/// marked segments: a little for few marks, by half if all segments are marked.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DctcpConfig {
    /// g, the weight of each window's measurement in the mean, above 0 and below 1. Default 1/16.
    #[serde(with = "Ratio")]
    pub gain: f64,
    /// α before the first measurement, from 0 to 1. Default 1.
    #[serde(with = "Ratio")]
    pub initial_alpha: f64,
}

impl Default for DctcpConfig {
    fn default() -> Self {
        DctcpConfig { gain: 1.0 / 16.0, initial_alpha: 1.0 }
    }
}

impl Checked for DctcpConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_between("gain", self.gain, 0.0, 1.0, "gain = 0.0625")?;
        check_fraction("initial-alpha", self.initial_alpha, "initial-alpha = 1.0")
    }
}

impl Law for DctcpConfig {
    const NAME: &'static str = "tcp/dctcp";
}

impl ControlLaw for DctcpConfig {
    type Controller = Box<Dctcp>;
    const RECOVERY: Recovery = Recovery::Sack;
    const CREDIT: bool = false;
    const MARKS: Marks = Marks::Accurate;

    fn controller(&self, _preset: Preset) -> Box<Dctcp> {
        Box::new(Dctcp {
            marked: MarkedPart::new(self.gain, self.initial_alpha),
            window_use: WindowUse::default(),
            cut: None,
        })
    }
}

/// α: the moving mean of the marked part, window by window (RFC 8257 §3.3).
#[derive(Clone, PartialEq, Debug)]
pub(super) struct MarkedPart {
    gain: f64,
    alpha: f64,
    round: Round,
    acknowledged: u32,
    marked: u32,
}

impl MarkedPart {
    /// Creates the mean with the weight `gain` and the first value `alpha`.
    pub fn new(gain: f64, alpha: f64) -> Self {
        MarkedPart { gain, alpha, round: Round::default(), acknowledged: 0, marked: 0 }
    }

    /// From 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Counts the marks that an acknowledgement reports (steps 1 to 3). Returns true if a window of data has passed.
    #[inline]
    pub fn count(&mut self, path: &Path) -> bool {
        self.acknowledged += path.acknowledged;
        self.marked += path.marked;
        self.round.ends(path)
    }

    /// Ends an observation (steps 5, 6 and 8).
    pub fn observe(&mut self) {
        if self.acknowledged > 0 {
            // Marks of segments that are held but not yet acknowledged count early.
            let part = (f64::from(self.marked) / f64::from(self.acknowledged)).min(1.0);
            self.alpha += self.gain * (part - self.alpha);
        }
        self.forget();
    }

    /// Begins a new observation and discards the counts.
    pub fn forget(&mut self) {
        (self.acknowledged, self.marked) = (0, 0);
    }
}

/// A decrease caused by marks.
#[derive(Clone, Copy, PartialEq, Debug)]
struct MarkDecrease {
    /// The window before the decrease.
    from: f64,
    /// The first segment sent after the decrease.
    end: u32,
}

/// The window of DCTCP.
#[derive(Clone, PartialEq, Debug)]
pub struct Dctcp {
    marked: MarkedPart,
    window_use: WindowUse,
    /// The latest decrease.
    cut: Option<MarkDecrease>,
}

impl Dctcp {
    /// The decrease in the window of data that this acknowledgement belongs to, if any.
    fn cut_of(&self, path: &Path) -> Option<MarkDecrease> {
        self.cut.filter(|cut| path.unacknowledged <= cut.end)
    }

    fn count(&mut self, path: &Path) {
        if self.marked.count(path) {
            self.marked.observe();
        }
    }
}

impl Controller for Dctcp {
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        self.count(path);
        if !self.window_use.is_filled(path, window) {
            return;
        }
        if window.in_slow_start() {
            slow_start(path.acknowledged, 1.0, window);
        } else {
            avoidance(path.acknowledged, 1.0, window);
        }
    }

    fn on_other_ack(&mut self, path: &Path, _window: &mut Window) {
        self.count(path);
    }

    fn on_mark(&mut self, path: &Path, window: &mut Window) {
        if self.cut_of(path).is_some() {
            return;
        }
        self.cut = Some(MarkDecrease { from: window.congestion, end: path.next });
        window.congestion = (window.congestion * (1.0 - self.marked.alpha() / 2.0)).max(1.0);
        window.threshold = window.congestion.max(LEAST_THRESHOLD);
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        let from = self.cut_of(path).map_or(path.in_use, |cut| cut.from);
        // Marks of segments in flight cause no second decrease.
        self.cut = Some(MarkDecrease { from, end: path.next });
        window.threshold = (from / 2.0).max(LEAST_THRESHOLD);
        window.congestion = window.threshold;
        Verdict::Congestion
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        if !path.timed_out_before {
            window.threshold = (path.in_use / 2.0).max(LEAST_THRESHOLD);
        }
        window.congestion = 1.0;
        Verdict::Congestion
    }

    /// α.
    fn estimate(&self) -> Option<Estimate> {
        Some(Estimate::MarkedShare(self.marked.alpha()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_pipe::{Pipe, estimated};
    use super::*;

    fn dctcp() -> Box<Dctcp> {
        DctcpConfig::default().controller(Preset::Rfc)
    }

    /// The acknowledgement of segment `number` − 1 in a filled window of ten.
    fn ack(number: u32, marked: bool) -> Path {
        Path {
            acknowledged: 1,
            marked: u32::from(marked),
            flight: 10,
            in_use: 10.0,
            unacknowledged: number,
            next: number + 9,
            ..Path::new(1000)
        }
    }

    #[test]
    fn a_sixteenth_of_each_windows_marked_part_enters_alpha() {
        let mut law = dctcp();
        let mut window = Window { congestion: 10.0, threshold: 2.0 };
        assert_eq!(estimated(&law), 1.0);
        // The first acknowledgement ends the first observation (WindowEnd is SND.UNA at the beginning). Ten more,
        // three of them marked, end the next one.
        for number in 1..=10 {
            law.on_ack(&ack(number, (4..7).contains(&number)), &mut window);
            assert_eq!(estimated(&law), 15.0 / 16.0, "{number}");
        }
        law.on_ack(&ack(11, false), &mut window);
        assert!((estimated(&law) - (15.0 / 16.0 * 15.0 / 16.0 + 0.3 / 16.0)).abs() < 1e-12, "{}", estimated(&law));
    }

    #[test]
    fn a_part_is_one_at_most() {
        // RFC 8257 §3.3: M is a fraction. Marks of held segments arrive before the acknowledgement that covers them.
        let mut law = dctcp();
        let mut window = Window { congestion: 10.0, threshold: 2.0 };
        law.on_other_ack(&Path { acknowledged: 0, marked: 5, unacknowledged: 0, ..ack(0, true) }, &mut window);
        law.on_ack(&ack(1, false), &mut window);
        assert_eq!(law.estimate(), Some(Estimate::MarkedShare(1.0)));
    }

    #[test]
    fn a_mark_takes_half_of_alpha_once_per_window() {
        let mut law = dctcp();
        law.marked.alpha = 0.25;
        let mut window = Window { congestion: 80.0, threshold: 5.0 };
        law.on_mark(&ack(10, true), &mut window);
        assert_eq!(window, Window { congestion: 70.0, threshold: 70.0 });
        law.on_mark(&ack(19, true), &mut window);
        assert_eq!(window.congestion, 70.0, "that one was in flight");
        law.on_mark(&ack(20, true), &mut window);
        assert_eq!(window.congestion, 61.25);
    }

    #[test]
    fn a_mark_leaves_one_segment_and_a_threshold_of_two() {
        let mut window = Window { congestion: 1.5, threshold: 5.0 };
        dctcp().on_mark(&ack(10, true), &mut window);
        assert_eq!(window, Window { congestion: 1.0, threshold: 2.0 });
    }

    #[test]
    fn a_loss_is_renos_and_with_a_mark_in_the_same_window_still_one_decrease() {
        let mut window = Window { congestion: 80.0, threshold: 5.0 };
        let lost = Path { in_use: 60.0, ..ack(10, false) };
        assert_eq!(dctcp().on_loss(&lost, &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 30.0, threshold: 30.0 });
        // Marks of segments in flight at the loss cause no further decrease. A loss after a mark completes the
        // decrease to one half.
        let mut law = dctcp();
        let mut window = Window { congestion: 80.0, threshold: 5.0 };
        law.on_loss(&lost, &mut window);
        law.on_mark(&ack(15, true), &mut window);
        assert_eq!(window.congestion, 30.0);
        let mut law = dctcp();
        law.marked.alpha = 0.25;
        let mut window = Window { congestion: 80.0, threshold: 5.0 };
        law.on_mark(&ack(10, true), &mut window);
        law.on_loss(&Path { in_use: 70.0, ..ack(12, false) }, &mut window);
        assert_eq!(window.congestion, 40.0);
    }

    #[test]
    fn a_timeout_is_renos() {
        let mut window = Window { congestion: 80.0, threshold: 5.0 };
        assert_eq!(dctcp().on_timeout(&Path { in_use: 60.0, ..ack(10, false) }, &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 1.0, threshold: 30.0 });
        dctcp().on_timeout(&Path { timed_out_before: true, ..ack(10, false) }, &mut window);
        assert_eq!(window, Window { congestion: 1.0, threshold: 30.0 });
    }

    #[test]
    fn grows_as_reno_does_while_its_window_is_filled() {
        let mut window = Window { congestion: 9.0, threshold: 10.0 };
        let mut law = dctcp();
        law.on_ack(&ack(1, false), &mut window);
        assert_eq!(window.congestion, 10.0);
        law.on_ack(&ack(2, false), &mut window);
        assert_eq!(window.congestion, 10.1);
        for number in 3..60 {
            law.on_ack(&Path { flight: 4, next: number + 3, ..ack(number, false) }, &mut window);
        }
        assert!(window.congestion < 12.5, "{}", window.congestion);
    }

    /// On a queue that marks every packet behind more than K segments, α and the window follow the saw-tooth of
    /// Alizadeh et al. With W* = C·RTT + K, one round trip in each period is marked, so that α²(1 − α/4) = (2W* +
    /// 1)/(W* + 1)². The queue stays within (W* + 1)·α/2 of K + 1.
    #[test]
    fn on_a_step_alpha_and_queue_are_those_of_the_saw_tooth() {
        let (rate, millis, step) = (10_000.0, 20, 40.0);
        let mut pipe = Pipe::new(dctcp(), rate, millis);
        pipe.window.threshold = 200.0;
        pipe.mark_above = step;
        pipe.run_until(20.0, |_| {});
        let (mut alphas, mut queues, before) = (Vec::new(), Vec::new(), pipe.path.delivered);
        pipe.run_until(40.0, |pipe| {
            alphas.push(estimated(&pipe.law));
            queues.push(pipe.queue());
        });
        let peak = pipe.product() + step;
        let expected = {
            let right = (2.0 * peak + 1.0) / (peak + 1.0) / (peak + 1.0);
            let mut alpha: f64 = 0.1;
            for _ in 0..50 {
                alpha = libm::sqrt(right / (1.0 - alpha / 4.0));
            }
            alpha
        };
        let mean = alphas.iter().sum::<f64>() / alphas.len() as f64;
        assert!((mean / expected - 1.0).abs() < 0.15, "α {mean}, expected {expected}");
        let highest = queues.iter().copied().fold(0.0, f64::max);
        let lowest = queues.iter().copied().fold(f64::INFINITY, f64::min);
        let swing = (peak + 1.0) * expected / 2.0;
        assert!((highest - step).abs() < 4.0, "the queue reaches {highest}");
        assert!((highest - lowest - swing).abs() < 5.0, "it swings by {} for {swing}", highest - lowest);
        let delivered = (pipe.path.delivered - before) as f64 / 20.0;
        assert!((delivered / rate - 1.0).abs() < 1e-3, "the queue never runs empty");
    }

    #[test]
    fn parameters_out_of_range_are_refused_and_those_left_out_are_the_standards() {
        let config: DctcpConfig = serde_json::from_str("{}").expect("a table");
        assert_eq!(config, DctcpConfig { gain: 0.0625, initial_alpha: 1.0 });
        assert!(config.check().is_ok() && DctcpConfig::MARKS == Marks::Accurate);
        for bad in [DctcpConfig { gain: 0.0, ..config }, DctcpConfig { initial_alpha: 1.1, ..config }] {
            assert!(bad.check().is_err());
        }
    }
}
