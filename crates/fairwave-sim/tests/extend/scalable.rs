//! Scalable TCP: a window that recovers from a loss in a time independent of its size.
//!
//! Source: Kelly, *Scalable TCP: improving performance in highspeed wide area networks*, CCR 33(2), 2003, §2 and
//! §3.1. Each acknowledgement of new data adds a = 0.01 segments, a loss takes b = 1/8 of the window. Up to 16
//! segments (the legacy window) it behaves like Reno.
//!
//! **Assumptions.** A loss takes ⌈b · window⌉ (the paper's pseudo-code) of the data in flight. A timeout is Reno's.

use fairwave_core::config::{ConfigError, check_between};
use fairwave_core::registry::{Checked, Law};
use fairwave_core::transport::tcp::control::{ControlLaw, Controller, LEAST_THRESHOLD, Path, Verdict, Window};
use fairwave_core::transport::tcp::{Preset, Recovery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scalable TCP (Kelly 2003). It grows and shrinks by parts of its window.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ScalableConfig {
    /// Segments added per acknowledgement, above 0. Default 0.01.
    pub gain: f64,
    /// Part of the window lost on loss, above 0 and below 1. Default 0.125.
    pub loss: f64,
    /// Up to this window, in segments, it behaves like Reno. Default 16.
    pub legacy_window: u32,
}

impl Default for ScalableConfig {
    fn default() -> Self {
        ScalableConfig { gain: 0.01, loss: 0.125, legacy_window: 16 }
    }
}

impl Checked for ScalableConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_between("gain", self.gain, 0.0, f64::INFINITY, "gain = 0.01")?;
        check_between("loss", self.loss, 0.0, 1.0, "loss = 0.125")
    }
}

impl Law for ScalableConfig {
    const NAME: &'static str = "tcp/scalable";
}

impl ControlLaw for ScalableConfig {
    type Controller = Scalable;
    const RECOVERY: Recovery = Recovery::Sack;

    fn controller(&self, _preset: Preset) -> Scalable {
        Scalable { config: self.clone() }
    }
}

/// The window of Scalable TCP.
pub struct Scalable {
    config: ScalableConfig,
}

impl Scalable {
    fn is_legacy(&self, window: f64) -> bool {
        window <= f64::from(self.config.legacy_window)
    }
}

impl Controller for Scalable {
    fn on_ack(&mut self, _path: &Path, window: &mut Window) {
        window.congestion += if window.in_slow_start() {
            1.0
        } else if self.is_legacy(window.congestion) {
            1.0 / window.congestion
        } else {
            self.config.gain
        };
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        let lost =
            if self.is_legacy(path.in_use) { path.in_use / 2.0 } else { (self.config.loss * path.in_use).ceil() };
        window.threshold = (path.in_use - lost).max(LEAST_THRESHOLD);
        window.congestion = window.threshold;
        Verdict::Congestion
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        window.threshold = (path.in_use / 2.0).max(LEAST_THRESHOLD);
        window.congestion = 1.0;
        Verdict::Congestion
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalable() -> Scalable {
        ScalableConfig::default().controller(Preset::Rfc)
    }

    #[test]
    fn each_acknowledgement_adds_a_hundredth_above_the_legacy_window_and_as_reno_up_to_it() {
        for (before, after) in [(200.0, 200.01), (16.0, 16.0625)] {
            let mut window = Window { congestion: before, threshold: 10.0 };
            scalable().on_ack(&Path::new(1000), &mut window);
            assert!((window.congestion - after).abs() < 1e-12, "{window:?}");
        }
    }

    #[test]
    fn a_loss_takes_an_eighth_rounded_up_above_the_legacy_window_and_half_up_to_it() {
        for (in_use, left) in [(100.0, 87.0), (16.0, 8.0)] {
            let mut window = Window { congestion: in_use, threshold: 10.0 };
            scalable().on_loss(&Path { in_use, ..Path::new(1000) }, &mut window);
            assert_eq!(window, Window { congestion: left, threshold: left });
        }
    }
}
