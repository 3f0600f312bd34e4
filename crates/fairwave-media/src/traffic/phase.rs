//! Start of a periodic source within its first interval.
//!
//! Sources that start at the same time and have the same interval send in step for the whole run. Their packets, or the
//! large I frames of their videos, then meet in the queue again and again. So the queue loses packets that it would not
//! lose with independent start times, as in reality. A random phase removes that artefact.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Span};

/// Start of a periodic source within its first interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// At a uniform random time in the interval after the flow's start, drawn for each flow.
    #[default]
    Random,
    /// At the flow's start: sources that start together stay in step.
    Zero,
}

impl Phase {
    /// Returns the start of a source with this `interval` in a flow that starts at `start`. Only [`Phase::Random`]
    /// draws from `stream`.
    pub(super) fn begin(self, start: Instant, interval: Span, stream: &mut Stream) -> Instant {
        match self {
            Phase::Random => start + interval.scaled(stream.uniform()),
            Phase::Zero => start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    #[test]
    fn a_random_phase_is_uniform_over_one_interval_and_phase_zero_draws_nothing() {
        let (start, interval) = (Instant::from_seconds(3.0), Span::from_millis(20));
        let mut stream = Seed(1).stream("phase");
        let drawn: Vec<f64> = (0..20_000)
            .map(|_| Phase::Random.begin(start, interval, &mut stream).span_since(start).seconds())
            .collect();
        assert!(drawn.iter().all(|phase| (0.0..0.02).contains(phase)));
        assert!((drawn.iter().sum::<f64>() / 20_000.0 - 0.01).abs() < 1e-4);
        let before = stream.clone();
        assert_eq!(Phase::Zero.begin(start, interval, &mut stream), start);
        assert_eq!(stream, before);
    }
}
