//! CUBIC: the window is a cubic function of the time since the last loss, but at least Reno's window.
//!
//! Source: RFC 9438. Outside slow start the window follows W_cubic(t) = C·(t − K)³ + W_max (§4.2 Eq. 1). W_max is
//! the window before the last decrease, and K (Eq. 2) is the time to reach it again. The window grows fast at
//! first, slowly around W_max, then fast again. CUBIC also estimates Reno's window (§4.3) and uses it if it is
//! larger. A loss keeps β of the data in flight (§4.6). Fast convergence (§4.7) lowers W_max further if the window
//! had not reached the previous one. Slow start is HyStart++ (§4.10).
//!
//! **Assumptions and deviations.** The increase (target − window)/window (§4.4, §4.5) applies to each acknowledged
//! segment, as §4.3 counts them and as Linux does. The RFC applies it to each acknowledgement. An epoch begins
//! with the first acknowledgement outside recovery and slow start. Time during which the sender does not fill its
//! window does not count (§4.2, §5.8). Spurious losses (§4.9, optional) are not undone: the controller does not
//! learn of them. C is in segments per second³, as in the RFC, for any segment size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::growth::{SmoothedRtt, WindowUse, slow_start};
use super::hystart::HyStart;
use super::{ControlLaw, Controller, LEAST_THRESHOLD, Path, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Instant;

/// CUBIC (RFC 9438). The window is a cubic function of the time since the last loss, flat around the window at that
/// loss, and never below Reno's window.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct CubicConfig {
    /// C, how fast the window grows with time, segments per second³, above 0. Default 0.4.
    pub c: f64,
    /// Part of the window kept on loss, above 0 and below 1. Default 0.7.
    #[serde(with = "Ratio")]
    pub beta: f64,
    /// Fast convergence: after a loss below the last peak, the window aims lower to make room for new flows. Default
    /// true.
    pub fast_convergence: bool,
    /// When Reno's window is larger, the window gains a whole segment per round trip once it is back at the window
    /// before the loss (RFC 9438 §4.3). False: never more than α = 3(1 − β)/(1 + β), as before that RFC. Default true.
    pub alpha_one: bool,
    /// The first slow start ends when the round trip grows (HyStart++), not only by a loss. Default true.
    pub hystart: bool,
}

impl Default for CubicConfig {
    fn default() -> Self {
        CubicConfig { c: 0.4, beta: 0.7, fast_convergence: true, alpha_one: true, hystart: true }
    }
}

impl Checked for CubicConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_between("c", self.c, 0.0, f64::INFINITY, "c = 0.4")?;
        check_between("beta", self.beta, 0.0, 1.0, "beta = 0.7")
    }
}

impl Law for CubicConfig {
    const NAME: &'static str = "tcp/cubic";
}

impl ControlLaw for CubicConfig {
    type Controller = Box<Cubic>;
    const RECOVERY: Recovery = Recovery::Sack;
    const CREDIT: bool = false;

    fn controller(&self, _preset: Preset) -> Box<Cubic> {
        Box::new(Cubic::new(self))
    }
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Epoch {
    /// Start of the epoch, shifted by the time in which the window was not filled.
    began: Instant,
    /// Seconds from the start to the plateau.
    k: f64,
    /// Window of the plateau.
    plateau: f64,
    /// The last acknowledgement.
    last: Instant,
}

impl Epoch {
    /// W_cubic, `t` seconds after the start (RFC 9438 §4.2 Eq. 1).
    fn window(&self, c: f64, t: f64) -> f64 {
        let distance = t - self.k;
        self.plateau + c * distance * distance * distance
    }
}

/// The window of CUBIC.
#[derive(Clone, PartialEq, Debug)]
pub struct Cubic {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    alpha_one: bool,
    /// No peak to return to: no loss has occurred, or a timeout has invalidated the peak.
    aimless: bool,
    /// W_max.
    peak: f64,
    /// cwnd_prior: the window when the threshold was set.
    prior: f64,
    /// W_est: Reno's window.
    reno: f64,
    epoch: Option<Epoch>,
    rtt: SmoothedRtt,
    window_use: WindowUse,
    hystart: Option<Box<HyStart>>,
}

impl Cubic {
    fn new(config: &CubicConfig) -> Self {
        Cubic {
            c: config.c,
            beta: config.beta,
            fast_convergence: config.fast_convergence,
            alpha_one: config.alpha_one,
            aimless: true,
            peak: 0.0,
            prior: 0.0,
            reno: 0.0,
            epoch: None,
            rtt: SmoothedRtt::default(),
            window_use: WindowUse::default(),
            hystart: config.hystart.then(Box::default),
        }
    }

    /// α_cubic: the increase per round trip that gives Reno's mean window with a decrease to β (RFC 9438 §4.3).
    fn friendly_alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }

    /// Begins congestion avoidance with this window.
    #[cold]
    fn begin(&mut self, now: Instant, window: f64) -> Epoch {
        if self.prior == 0.0 {
            // HyStart++ or an initial threshold has ended slow start (§4.10).
            self.prior = window;
        }
        if self.aimless {
            self.peak = window;
            self.aimless = false;
        }
        self.reno = window;
        let plateau = self.peak.max(window);
        Epoch { began: now, k: libm::cbrt((plateau - window) / self.c), plateau, last: now }
    }

    fn avoid(&mut self, path: &Path, filled: bool, window: &mut Window) {
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin(path.now, window.congestion),
        };
        if !filled {
            epoch.began += path.now.span_since(epoch.last);
        }
        epoch.last = path.now;
        self.epoch = Some(epoch);
        if !filled {
            return;
        }
        let (congestion, acknowledged) = (window.congestion, f64::from(path.acknowledged));
        let alpha = if self.alpha_one && self.reno >= self.prior { 1.0 } else { self.friendly_alpha() };
        self.reno += alpha * acknowledged / congestion;
        let t = path.now.span_since(epoch.began).seconds();
        window.congestion = if epoch.window(self.c, t) < self.reno {
            congestion.max(self.reno)
        } else {
            let target = epoch.window(self.c, t + self.rtt.seconds()).clamp(congestion, 1.5 * congestion);
            (congestion + (target - congestion) / congestion * acknowledged).min(target)
        };
    }

    /// Decreases to β of the window in use, to at least `least` segments (RFC 9438 §4.6, §4.7).
    fn decrease(&mut self, path: &Path, least: f64, window: &mut Window) {
        let congestion = window.congestion;
        let falls_short = self.fast_convergence && congestion < self.peak;
        self.peak = if falls_short { congestion * (1.0 + self.beta) / 2.0 } else { congestion };
        self.prior = congestion;
        let left = self.beta * path.in_use;
        window.threshold = left.max(LEAST_THRESHOLD);
        window.congestion = left.max(least);
        self.aimless = false;
        self.epoch = None;
        self.hystart = None;
    }
}

impl Controller for Cubic {
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        self.rtt.note(path);
        let filled = self.window_use.is_filled(path, window);
        if !window.in_slow_start() {
            self.avoid(path, filled, window);
            return;
        }
        self.epoch = None;
        match &mut self.hystart {
            Some(hystart) => hystart.on_ack(path, filled, window),
            None if filled => slow_start(path.acknowledged, 1.0, window),
            None => {}
        }
        if !window.in_slow_start() {
            self.hystart = None;
        }
    }

    fn on_other_ack(&mut self, path: &Path, _window: &mut Window) {
        self.rtt.note(path);
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        self.decrease(path, LEAST_THRESHOLD, window);
        Verdict::Congestion
    }

    fn on_mark(&mut self, path: &Path, window: &mut Window) {
        self.decrease(path, 1.0, window);
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        // The threshold stays if the timer expires again for the same segment (RFC 5681 §3.1).
        if !path.timed_out_before {
            self.decrease(path, 1.0, window);
        }
        window.congestion = 1.0;
        self.aimless = true;
        self.epoch = None;
        Verdict::Congestion
    }

    fn on_restart(&mut self, _path: &Path, _window: &mut Window) {
        self.epoch = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::units::Span;

    fn cubic() -> Box<Cubic> {
        CubicConfig::default().controller(Preset::Rfc)
    }

    /// A path of 100 ms with a filled window.
    fn path(millis: u64, window: f64) -> Path {
        Path {
            now: Instant::ZERO + Span::from_millis(millis),
            rtt: Span::from_millis(100),
            acknowledged: 1,
            flight: window as u32,
            in_use: window,
            unacknowledged: millis as u32,
            next: millis as u32 + 1,
            ..Path::new(1000)
        }
    }

    /// A connection that fills its window. All round trips are equally long, and one segment of every `period` is
    /// lost. A round trip is one acknowledgement.
    struct Periodic {
        law: Box<Cubic>,
        window: Window,
        rtt: f64,
        period: u64,
        sent: u64,
        rounds: u64,
    }

    impl Periodic {
        fn new(config: CubicConfig, rtt: f64, period: u64, first: f64) -> Self {
            let window = Window { congestion: first, threshold: 2.0 };
            Periodic { law: config.controller(Preset::Rfc), window, rtt, period, sent: 0, rounds: 0 }
        }

        fn round(&mut self) {
            let segments = self.window.congestion as u32;
            let path = Path {
                now: Instant::from_seconds(self.rounds as f64 * self.rtt),
                rtt: Span::from_seconds(self.rtt),
                acknowledged: segments,
                flight: segments,
                in_use: self.window.congestion,
                unacknowledged: self.sent as u32 + segments,
                next: self.sent as u32 + segments,
                ..Path::new(1000)
            };
            let sent = self.sent + u64::from(segments);
            if sent / self.period > self.sent / self.period {
                self.law.on_loss(&path, &mut self.window);
            } else {
                self.law.on_ack(&path, &mut self.window);
            }
            self.sent = sent;
            self.rounds += 1;
            assert!(self.rounds < 100_000_000, "{sent} segments in a hundred million round trips");
        }

        /// The mean window over a hundred periods, after four hundred periods of settling. The flatter the
        /// function at the loss, the more slowly the peak converges.
        fn mean(mut self) -> f64 {
            while self.sent < 400 * self.period {
                self.round();
            }
            let (rounds, sent) = (self.rounds, self.sent);
            while self.sent < 500 * self.period {
                self.round();
            }
            (self.sent - sent) as f64 / (self.rounds - rounds) as f64
        }
    }

    #[test]
    fn the_mean_window_under_periodic_loss_is_that_of_tables_1_and_2() {
        for (rtt, period, mean) in [
            (0.1, 10_000, 187.0),
            (0.1, 100_000, 1054.0),
            (0.1, 1_000_000, 5926.0),
            (0.01, 10_000, 120.0),
            (0.01, 100_000, 379.0),
            (0.01, 1_000_000, 1200.0),
        ] {
            for (fast_convergence, first) in [(false, 10.0), (true, 10.0), (false, 3000.0), (true, 3000.0)] {
                let config = CubicConfig { fast_convergence, ..CubicConfig::default() };
                let measured = Periodic::new(config, rtt, period, first).mean();
                assert!(
                    (measured / mean - 1.0).abs() < 0.06,
                    "{measured} for {mean}: {rtt} s, one of {period} lost, {fast_convergence}, from {first}"
                );
            }
        }
    }

    #[test]
    fn the_window_is_the_cubic_function_of_the_time_since_the_loss() {
        let mut law = cubic();
        let mut window = Window { congestion: 1000.0, threshold: 5.0 };
        law.on_loss(&path(0, 1000.0), &mut window);
        assert_eq!(window, Window { congestion: 700.0, threshold: 700.0 });
        // K = ∛(300 / 0.4) = 9.0856 s. Each round trip reaches the function's value at its end.
        let k = libm::cbrt(300.0 / 0.4);
        for round in 0..150u64 {
            let segments = window.congestion as u64;
            for n in 0..segments {
                let now = Span::from_nanos(100_000_000 * round + 100_000_000 * n / segments);
                law.on_ack(&Path { now: Instant::ZERO + now, ..path(round + 1, window.congestion) }, &mut window);
            }
            let t = 0.1 * (round + 1) as f64;
            let expected = 0.4 * (t - k) * (t - k) * (t - k) + 1000.0;
            assert!(
                (window.congestion / expected - 1.0).abs() < 0.02,
                "{} for {expected} after {t} s",
                window.congestion
            );
        }
        assert!(window.congestion > 1050.0, "beyond the plateau");
    }

    #[test]
    fn acknowledgement_adds_the_distance_to_the_target_over_the_window() {
        let mut law = cubic();
        let mut window = Window { congestion: 1000.0, threshold: 5.0 };
        law.on_loss(&path(0, 1000.0), &mut window);
        law.on_ack(&path(100, 700.0), &mut window);
        // A second after the epoch began. The target is the function's value a round trip later.
        let (mut twice, mut once) = (law.clone(), law);
        let (mut by_two, mut by_one) = (window, window);
        once.on_ack(&path(1100, 700.0), &mut by_one);
        let until = libm::cbrt((1000.0 - 700.0) / 0.4) - 1.1;
        let target = 1000.0 - 0.4 * until * until * until;
        let before = window.congestion;
        assert!((by_one.congestion - (before + (target - before) / before)).abs() < 1e-9, "{by_one:?}");
        // An acknowledgement of two segments counts for two.
        twice.on_ack(&Path { acknowledged: 2, ..path(1100, 700.0) }, &mut by_two);
        let gained = |after: Window| after.congestion - window.congestion;
        assert!((gained(by_two) / gained(by_one) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn slow_start_without_hystart_opens_the_window_only_while_it_is_filled() {
        // RFC 5681 §3.1: 10 of the window's 100 segments are in flight.
        let mut law = CubicConfig { hystart: false, ..CubicConfig::default() }.controller(Preset::Rfc);
        let mut window = Window { congestion: 100.0, threshold: 1000.0 };
        law.on_ack(&path(1, 10.0), &mut window);
        let before = window;
        law.on_ack(&path(101, 10.0), &mut window);
        law.on_ack(&path(201, 10.0), &mut window);
        assert_eq!(window, before);
        law.on_ack(&path(301, 200.0), &mut window);
        assert_eq!(window.congestion, before.congestion + 1.0, "filled");
    }

    #[test]
    fn the_peak_is_the_window_and_the_decrease_is_of_what_is_in_flight() {
        // RFC 9438 §4.6 and §4.7: the window of 100 segments was not full.
        let mut law = cubic();
        let mut window = Window { congestion: 100.0, threshold: 5.0 };
        law.on_loss(&Path { in_use: 60.0, ..path(0, 60.0) }, &mut window);
        assert_eq!(law.peak, 100.0);
        assert!((window.congestion - 42.0).abs() < 1e-9, "{window:?}");
    }

    #[test]
    fn a_stage_that_begins_above_the_last_peak_has_its_plateau_there() {
        // RFC 9438 §4.2: the window grows from the start, and faster and faster.
        let mut law = Cubic { peak: 100.0, aimless: false, ..*cubic() };
        let mut window = Window { congestion: 200.0, threshold: 5.0 };
        law.on_ack(&path(0, 200.0), &mut window);
        let epoch = law.epoch.expect("congestion avoidance has begun");
        assert_eq!((epoch.k, epoch.plateau), (0.0, 200.0));
    }

    #[test]
    fn renos_window_is_taken_where_it_is_above_the_cubic_function_now_and_not_a_round_trip_later() {
        // RFC 9438 §4.3: W_cubic is 100.4 after a second, and 100.53 a round trip of 100 ms later.
        let epoch = Epoch { began: Instant::ZERO, k: 0.0, plateau: 100.0, last: Instant::ZERO };
        let mut law = Cubic { reno: 100.45, prior: 1000.0, aimless: false, epoch: Some(epoch), ..*cubic() };
        let mut window = Window { congestion: 100.0, threshold: 5.0 };
        law.on_ack(&path(1000, 100.0), &mut window);
        assert!((100.45..100.46).contains(&window.congestion), "{window:?}");
    }

    #[test]
    fn the_target_is_at_most_one_and_a_half_times_the_window_and_never_below_it() {
        let mut law = Cubic { reno: 0.0, ..*cubic() };
        let epoch = Epoch { began: Instant::ZERO, k: 0.0, plateau: 100.0, last: Instant::ZERO };
        law.epoch = Some(epoch);
        let mut window = Window { congestion: 100.0, threshold: 5.0 };
        law.on_ack(&path(60_000, 100.0), &mut window);
        assert!((window.congestion - 100.5).abs() < 1e-9, "half a segment, though the function says 86500");
        law.epoch = Some(Epoch { k: 60.0, plateau: 90.0, ..epoch });
        law.reno = -1e9;
        let before = window.congestion;
        law.on_ack(&path(60_001, 100.0), &mut window);
        assert_eq!(window.congestion, before);
    }

    /// In each of thirty round trips after a loss at 20 segments: the window before, and its gain, while Reno's
    /// window is larger.
    fn gains_where_reno_would_have_more(config: &CubicConfig) -> Vec<(f64, f64)> {
        let mut law = config.controller(Preset::Rfc);
        let mut window = Window { congestion: 20.0, threshold: 5.0 };
        law.on_loss(&path(0, 20.0), &mut window);
        assert!((law.friendly_alpha() - 0.9 / 1.7).abs() < 1e-12);
        let mut gains = Vec::new();
        for round in 0..30u64 {
            let before = window.congestion;
            for _ in 0..before as u32 {
                // At 1 ms the cubic function is flat for a long time.
                let quick = Path { rtt: Span::from_millis(1), ..path(round + 1, window.congestion) };
                law.on_ack(&quick, &mut window);
            }
            gains.push((before, window.congestion - before));
        }
        gains
    }

    #[test]
    fn window_is_at_least_renos_with_alpha_until_the_old_window_and_one_from_there() {
        for (before, gained) in gains_where_reno_would_have_more(&CubicConfig::default()) {
            let expected = if before < 19.4 {
                0.9 / 1.7
            } else if before > 20.0 {
                1.0
            } else {
                continue;
            };
            assert!((gained / expected - 1.0).abs() < 0.1, "{gained} from {before}");
        }
    }

    #[test]
    fn gains_alpha_beyond_the_old_window_too_if_so_configured() {
        let gains = gains_where_reno_would_have_more(&CubicConfig { alpha_one: false, ..CubicConfig::default() });
        assert!(gains[gains.len() - 1].0 > 20.5);
        for (before, gained) in gains {
            assert!((gained * 1.7 / 0.9 - 1.0).abs() < 0.1, "{gained} from {before}");
        }
    }

    #[test]
    fn a_loss_keeps_seven_tenths_of_what_is_in_flight_and_at_least_two_segments_and_a_mark_one() {
        let after = |in_use: f64, marked: bool| {
            let mut window = Window { congestion: 100.0, threshold: 5.0 };
            let path = Path { in_use, ..path(0, 100.0) };
            if marked {
                cubic().on_mark(&path, &mut window);
            } else {
                assert_eq!(cubic().on_loss(&path, &mut window), Verdict::Congestion);
            }
            (window.congestion, window.threshold)
        };
        assert_eq!(after(60.0, false), (42.0, 42.0));
        assert_eq!(after(60.0, true), (42.0, 42.0));
        assert_eq!(after(2.0, false), (2.0, 2.0));
        assert_eq!(after(2.0, true), (1.4, 2.0));
        assert_eq!(after(1.0, true), (1.0, 2.0));
    }

    #[test]
    fn a_window_that_falls_short_of_the_last_peak_aims_lower_if_it_is_to_converge_fast() {
        let peak = |fast_convergence: bool, second: f64| {
            let mut law = CubicConfig { fast_convergence, ..CubicConfig::default() }.controller(Preset::Rfc);
            for congestion in [1000.0, second] {
                law.on_loss(&path(0, congestion), &mut Window { congestion, threshold: 5.0 });
            }
            law.peak
        };
        assert_eq!(peak(true, 800.0), 800.0 * 0.85);
        assert_eq!(peak(true, 1000.0), 1000.0);
        assert_eq!(peak(true, 1200.0), 1200.0);
        assert_eq!(peak(false, 800.0), 800.0);
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_seven_tenths_as_threshold_and_the_old_peak_is_forgotten() {
        let mut law = cubic();
        let mut window = Window { congestion: 100.0, threshold: 5.0 };
        assert_eq!(law.on_timeout(&path(0, 100.0), &mut window), Verdict::Congestion);
        assert_eq!(window, Window { congestion: 1.0, threshold: 70.0 });
        law.on_timeout(&Path { timed_out_before: true, ..path(10, 1.0) }, &mut window);
        assert_eq!(window, Window { congestion: 1.0, threshold: 70.0 }, "the threshold is held");
        window.congestion = 70.0;
        law.on_ack(&path(1000, 70.0), &mut window);
        let epoch = law.epoch.expect("congestion avoidance has begun");
        assert_eq!((epoch.k, epoch.plateau, law.peak), (0.0, 70.0, 70.0));
        assert!(law.reno >= 70.0 && law.reno < 70.1 && law.prior == 100.0);
    }

    #[test]
    fn a_slow_start_that_ends_without_a_loss_leaves_its_window_as_the_plateau() {
        let mut law = cubic();
        let mut window = Window { congestion: 50.0, threshold: 50.0 };
        law.on_ack(&path(1000, 50.0), &mut window);
        let epoch = law.epoch.expect("congestion avoidance has begun");
        assert_eq!((epoch.k, epoch.plateau, law.peak, law.prior), (0.0, 50.0, 50.0, 50.0));
    }

    #[test]
    fn time_stands_still_while_the_window_is_not_filled() {
        let mut law = cubic();
        let mut window = Window { congestion: 1000.0, threshold: 5.0 };
        law.on_loss(&path(0, 1000.0), &mut window);
        law.on_ack(&path(100, 700.0), &mut window);
        let epoch = law.epoch.expect("it has begun");
        // The application sends little for ten seconds.
        let held = |millis: u64| Path { flight: 5, ..path(millis, 700.0) };
        (2..=100).for_each(|n| law.on_ack(&held(100 * n), &mut window));
        let before = window.congestion;
        let began = law.epoch.expect("it goes on").began;
        let stood = began.span_since(epoch.began).seconds();
        assert!((9.5..=10.0).contains(&stood), "{stood}");
        law.on_ack(&held(10_100), &mut window);
        assert_eq!(window.congestion, before);
    }

    #[test]
    fn an_idle_time_ends_the_epoch_but_not_the_memory_of_the_peak() {
        let mut law = cubic();
        let mut window = Window { congestion: 1000.0, threshold: 5.0 };
        law.on_loss(&path(0, 1000.0), &mut window);
        law.on_ack(&path(100, 700.0), &mut window);
        law.on_restart(&path(60_000, 700.0), &mut window);
        law.on_ack(&path(60_100, 700.0), &mut window);
        let epoch = law.epoch.expect("a new one");
        assert_eq!((epoch.began, epoch.plateau), (path(60_100, 0.0).now, 1000.0));
    }

    #[test]
    fn slow_start_is_hystart_unless_switched_off_and_only_once() {
        let grown = |hystart| {
            let mut law = CubicConfig { hystart, ..CubicConfig::default() }.controller(Preset::Rfc);
            let mut window = Window { congestion: 10.0, threshold: 100.0 };
            law.on_ack(&Path { acknowledged: 3, ..path(100, 10.0) }, &mut window);
            (window.congestion, law.hystart.is_some())
        };
        assert_eq!(grown(true), (13.0, true));
        assert_eq!(grown(false), (11.0, false));
        let mut law = cubic();
        law.on_loss(&path(0, 20.0), &mut Window { congestion: 20.0, threshold: 100.0 });
        assert!(law.hystart.is_none());
        let mut law = cubic();
        law.on_ack(&path(100, 10.0), &mut Window { congestion: 9.5, threshold: 10.0 });
        assert!(law.hystart.is_none(), "the threshold is reached");
    }

    #[test]
    fn parameters_out_of_range_are_refused_and_those_left_out_are_the_standards() {
        let config: CubicConfig = serde_json::from_str("{}").expect("a table");
        assert_eq!(config, CubicConfig { c: 0.4, beta: 0.7, fast_convergence: true, alpha_one: true, hystart: true });
        assert!(config.check().is_ok());
        for bad in [CubicConfig { c: 0.0, ..config }, CubicConfig { beta: 1.0, ..config }] {
            assert!(bad.check().is_err());
        }
    }
}
