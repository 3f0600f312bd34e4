//! Binomial controllers: a window w that grows by α/w^k per round trip and falls by β·w^l on loss. SQRT has k = l = ½, IIAD
//! (inverse increase, additive decrease) k = 1 and l = 0; TCP(α, β) would be k = 0 and l = 1.
//!
//! Source: Bansal & Balakrishnan, *Binomial congestion control algorithms*, INFOCOM 2001. With k + l = 1 the mean
//! window is √(α/(β·p)) at loss rate p. TCP's window is √(3/(2p)), so the law has TCP's throughput if α/β = 3/2.
//! The defaults are α = 1 and β = 2/3.
//!
//! **Assumptions.** The window grows by α/w^(k+1) for each segment that [`Path::credit`] counts. Slow start, the
//! least threshold and the window after a timeout are TCP's; a timeout lowers the slow start threshold by the law.
//! With ns-2's presets a first decrease, one out of slow start and one by timeout halve the window, as for TCP(α,
//! β).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlLaw, Controller, LEAST_THRESHOLD, Path, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::registry::{Checked, Law};

const ALPHA: f64 = 1.0;
const BETA: f64 = 2.0 / 3.0;

/// Defines a law by its name and its exponents, one line per law.
macro_rules! binomial {
    ($($doc:literal $Config:ident $name:literal $k:literal $l:literal;)+) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
        pub struct $Config {
            /// The window grows by this over its power k per round trip, above 0, segments. Default 1.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(extend("default" = ALPHA))]
            pub alpha: Option<f64>,
            /// The window falls by this times its power l on loss, above 0 and at most 2, segments. Default 2/3.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(extend("default" = BETA))]
            pub beta: Option<f64>,
        }

        impl Checked for $Config {
            fn check(&self) -> Result<(), ConfigError> {
                check_between("alpha", self.alpha.unwrap_or(ALPHA), 0.0, f64::INFINITY, "alpha = 1.0")?;
                check_between("beta", self.beta.unwrap_or(BETA), 0.0, MOST_BETA, "beta = 0.67")
            }
        }

        impl Law for $Config {
            const NAME: &'static str = $name;
        }

        impl ControlLaw for $Config {
            type Controller = Binomial;
            const RECOVERY: Recovery = Recovery::Reno;

            fn controller(&self, preset: Preset) -> Binomial {
                let (alpha, beta) = (self.alpha.unwrap_or(ALPHA), self.beta.unwrap_or(BETA));
                Binomial { alpha, beta, k: $k, l: $l, like_ns2: preset.like_ns2(), first: true }
            }

            /// α and β, if at least one is set.
            fn shown(&self) -> Option<String> {
                (self.alpha.or(self.beta))?;
                Some(format!("{}, {:.3}", self.alpha.unwrap_or(ALPHA), self.beta.unwrap_or(BETA)))
            }
        }
    )+};
}

/// Above this β a decrease would exceed a small window.
const MOST_BETA: f64 = 2.0 + f64::EPSILON;

binomial! {
    "SQRT: grows by α/√w per round trip, falls by β·√w (Bansal & Balakrishnan 2001)." SqrtConfig "tcp/sqrt" 0.5 0.5;
    "IIAD: grows by α/w per round trip, falls by β (Bansal & Balakrishnan 2001)." IiadConfig "tcp/iiad" 1.0 0.0;
}

/// The window of a binomial law.
#[derive(Clone, PartialEq, Debug)]
pub struct Binomial {
    alpha: f64,
    beta: f64,
    k: f64,
    l: f64,
    like_ns2: bool,
    /// True until the first decrease.
    first: bool,
}

impl Binomial {
    /// The window after a decrease.
    fn left(&self, path: &Path, halve: bool) -> f64 {
        let kept = path.in_use - self.beta * libm::pow(path.in_use, self.l);
        if halve { path.in_use / 2.0 } else { kept }.max(LEAST_THRESHOLD)
    }
}

impl Controller for Binomial {
    #[inline]
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        window.congestion += if window.in_slow_start() {
            1.0
        } else {
            f64::from(path.credit) * self.alpha / libm::pow(window.congestion, self.k + 1.0)
        };
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        let halve = self.like_ns2 && (self.first || window.in_slow_start());
        self.first = false;
        window.threshold = self.left(path, halve);
        window.congestion = window.threshold;
        Verdict::Congestion
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        if self.like_ns2 || !path.timed_out_before {
            window.threshold = self.left(path, self.like_ns2);
        }
        self.first = false;
        window.congestion = 1.0;
        Verdict::Congestion
    }

    fn on_restart(&mut self, _path: &Path, _window: &mut Window) {
        self.first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(in_use: f64) -> Path {
        Path { in_use, ..Path::new(1000) }
    }

    fn sqrt() -> Binomial {
        SqrtConfig::default().controller(Preset::Rfc)
    }

    fn iiad() -> Binomial {
        IiadConfig::default().controller(Preset::Rfc)
    }

    /// Segments gained over a round trip's acknowledgements at a window of `w`.
    fn gained(mut law: Binomial, w: f64) -> f64 {
        let mut window = Window { congestion: w, threshold: 2.0 };
        for _ in 0..w as u32 {
            let before = window.congestion;
            law.on_ack(&path(w), &mut window);
            window.congestion = w + (window.congestion - before) + (before - w);
        }
        window.congestion - w
    }

    #[test]
    fn sqrt_gains_the_inverse_root_per_round_trip_and_iiad_the_inverse() {
        assert!((gained(sqrt(), 100.0) - 0.1).abs() < 1e-3, "{}", gained(sqrt(), 100.0));
        assert!((gained(iiad(), 100.0) - 0.01).abs() < 1e-4, "{}", gained(iiad(), 100.0));
    }

    #[test]
    fn a_loss_takes_the_root_or_a_constant_and_leaves_two_segments() {
        let left = |mut law: Binomial, in_use| {
            let mut window = Window { congestion: in_use, threshold: 2.0 };
            assert_eq!(law.on_loss(&path(in_use), &mut window), Verdict::Congestion);
            assert_eq!(window.congestion, window.threshold);
            window.congestion
        };
        assert!((left(sqrt(), 81.0) - 75.0).abs() < 1e-12);
        assert!((left(iiad(), 81.0) - (81.0 - 2.0 / 3.0)).abs() < 1e-12);
        assert_eq!((left(sqrt(), 2.2), left(iiad(), 2.2)), (2.0, 2.0));
    }

    #[test]
    fn the_mean_window_is_that_of_tcp_at_the_same_loss() {
        // A loss every 1/p segments: w² p = 3/2, so w is 38.7 segments at p = 0.001.
        for (name, mut law) in [("sqrt", sqrt()), ("iiad", iiad())] {
            let mut window = Window { congestion: 30.0, threshold: 2.0 };
            let (mut sum, mut rounds) = (0.0, 0.0);
            for segment in 1..=4_000_000 {
                law.on_ack(&path(window.congestion), &mut window);
                if segment % 1000 == 0 {
                    law.on_loss(&path(window.congestion), &mut window);
                }
                if segment > 2_000_000 {
                    // Each segment is 1/w of a round trip.
                    rounds += 1.0 / window.congestion;
                    sum += 1.0;
                }
            }
            let mean: f64 = sum / rounds;
            assert!((mean - 38.7).abs() < 1.0, "{name}: {mean}");
        }
    }

    #[test]
    fn slow_start_timeouts_and_restarts_are_tcps() {
        let mut law = sqrt();
        let mut window = Window { congestion: 9.0, threshold: 10.0 };
        law.on_ack(&path(9.0), &mut window);
        assert_eq!(window.congestion, 10.0);
        law.on_timeout(&path(81.0), &mut window);
        assert!(window.congestion == 1.0 && (window.threshold - 75.0).abs() < 1e-12, "{window:?}");
        law.on_timeout(&Path { timed_out_before: true, ..path(1.0) }, &mut window);
        assert!((window.threshold - 75.0).abs() < 1e-12, "a second timeout of a segment holds it");
    }

    #[test]
    fn as_in_ns2_the_first_decrease_one_out_of_slow_start_and_one_by_timeout_go_to_half() {
        let mut law = IiadConfig::default().controller(Preset::Ns2);
        let mut window = Window { congestion: 40.0, threshold: 20.0 };
        law.on_loss(&path(40.0), &mut window);
        assert_eq!(window.congestion, 20.0);
        law.on_loss(&path(40.0), &mut Window { congestion: 40.0, threshold: 64.0 });
        let mut window = Window { congestion: 40.0, threshold: 20.0 };
        law.on_loss(&path(40.0), &mut window);
        assert!((window.congestion - (40.0 - 2.0 / 3.0)).abs() < 1e-12);
        law.on_timeout(&path(40.0), &mut window);
        assert_eq!(window, Window { congestion: 1.0, threshold: 20.0 });
        let mut restarted = IiadConfig::default().controller(Preset::Ns2);
        restarted.on_restart(&path(40.0), &mut window);
        let mut window = Window { congestion: 40.0, threshold: 20.0 };
        restarted.on_loss(&path(40.0), &mut window);
        assert!(window.congestion > 39.0);
    }

    #[test]
    fn values_out_of_range_are_refused_and_set_values_are_shown() {
        let check = |alpha, beta| SqrtConfig { alpha: Some(alpha), beta: Some(beta) }.check().map_err(|e| e.key);
        assert_eq!(check(0.0, 0.5), Err("alpha".into()));
        assert_eq!((check(1.0, 0.0), check(1.0, 2.1)), (Err("beta".into()), Err("beta".into())));
        assert_eq!(check(1.5, 1.0), Ok(()));
        assert_eq!(SqrtConfig::default().shown(), None);
        assert_eq!(IiadConfig { alpha: Some(1.5), beta: Some(1.0) }.shown().as_deref(), Some("1.5, 1.000"));
    }
}
