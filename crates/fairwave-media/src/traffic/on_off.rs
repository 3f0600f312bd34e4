//! On-off engine of sources with pauses: while on, packets of one size at one interval; while off, nothing.
//!
//! **Assumptions.** As in ns-2, an on-period is a whole number of packets, at least one: its drawn length divided by
//! the interval, rounded. The off-period starts one interval after the last packet. ns-2 always starts with an
//! off-period; here that is [`First::Silence`]. The default draws state and remaining time from the stationary
//! distribution, so that the offered load has its mean from the start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cadence::Cadence;
use super::noise::{NoiseFrames, Pauses};
use super::{FrameType, Period, TrafficSource, Unit};
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Span};

/// State of a source at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum First {
    /// State and remaining time as at a random time of a long run.
    #[default]
    Stationary,
    /// A new off-period (as in ns-2).
    Silence,
    /// A new on-period.
    Talk,
}

/// Alternating periods.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Alternation {
    on: Period,
    off: Period,
    first: First,
    stream: Stream,
    begun: bool,
}

impl Alternation {
    pub(super) fn new(on: Period, off: Period, first: First, stream: Stream) -> Self {
        Alternation { on, off, first, stream, begun: false }
    }

    /// Returns the next off time and on time. The first off time may be zero.
    pub(super) fn next(&mut self) -> (Span, Span) {
        if self.begun {
            return (self.off.draw(&mut self.stream), self.on.draw(&mut self.stream));
        }
        self.begun = true;
        match self.first {
            First::Silence => (self.off.draw(&mut self.stream), self.on.draw(&mut self.stream)),
            First::Talk => (Span::ZERO, self.on.draw(&mut self.stream)),
            First::Stationary => {
                let (on, off) = (self.on.mean().seconds(), self.off.mean().seconds());
                if self.stream.chance(on / (on + off)) {
                    (Span::ZERO, self.on.draw_residual(&mut self.stream))
                } else {
                    (self.off.draw_residual(&mut self.stream), self.on.draw(&mut self.stream))
                }
            }
        }
    }
}

/// Source of packets at an interval while on.
#[derive(Clone, PartialEq, Debug)]
pub struct OnOff {
    cadence: Cadence,
    payload: u32,
    periods: Option<Alternation>,
    /// Time of the next packet, if any is left in this on-period.
    due: Instant,
    /// Packets left in this on-period.
    left: u64,
    next_id: u32,
    /// Comfort noise while off.
    noise: Option<Box<Pauses>>,
}

impl OnOff {
    /// Returns a source that starts at `start`; without periods it is always on.
    pub(super) fn new(cadence: impl Into<Cadence>, payload: u32, start: Instant, periods: Option<Alternation>) -> Self {
        let left = if periods.is_some() { 0 } else { u64::MAX };
        OnOff { cadence: cadence.into(), payload, periods, due: start, left, next_id: 0, noise: None }
    }

    /// Adds comfort noise while off.
    pub(super) fn with_noise(self, frames: Option<NoiseFrames>) -> Self {
        OnOff { noise: frames.map(|frames| Box::new(Pauses::new(frames))), ..self }
    }
}

impl TrafficSource for OnOff {
    fn next_unit(&mut self) -> Option<Unit> {
        if self.left == 0 {
            let (off, on) = self.periods.as_mut()?.next();
            if let Some(noise) = &mut self.noise {
                noise.begin(self.due);
            }
            self.due += off;
            self.left = (libm::round(on.nanos() as f64 / self.cadence.nanos().max(1.0)) as u64).max(1);
        }
        if let Some(noise) = &mut self.noise
            && let Some((created, payload)) = noise.next(self.due)
        {
            let id = self.next_id;
            self.next_id = id.wrapping_add(1);
            return Some(Unit { id, payload, created, layer: 0, frame_type: FrameType::Noise });
        }
        if self.due == Instant::NEVER {
            return None;
        }
        let unit =
            Unit { id: self.next_id, payload: self.payload, created: self.due, layer: 0, frame_type: FrameType::None };
        self.next_id = self.next_id.wrapping_add(1);
        self.left -= 1;
        self.due = self.cadence.next_after(self.due, None);
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use fairwave_units::random::Seed;

    use super::*;

    /// Returns the first on times of a source that is almost never off, over many seeds, in seconds.
    fn first_times_on(first: First) -> Vec<f64> {
        let (on, off) = (Span::from_secs(1), Span::from_nanos(1));
        let one = |seed| {
            let (on, off) = (Period::Constant { mean: on }, Period::Constant { mean: off });
            Alternation::new(on, off, first, Seed(seed).stream("on-off")).next().1.seconds()
        };
        (0..1000).map(one).collect()
    }

    #[test]
    fn residual_of_a_constant_period_is_half_of_it_in_the_mean() {
        let left = first_times_on(First::Stationary);
        let mean = left.iter().sum::<f64>() / left.len() as f64;
        assert!((mean - 0.5).abs() < 0.03 && left.iter().all(|left| *left < 1.0), "{mean}");
        assert!(first_times_on(First::Talk).iter().all(|on| *on == 1.0), "a fresh one is whole");
    }

    #[test]
    fn a_period_shorter_than_the_interval_has_one_packet() {
        let period = |millis| Period::Constant { mean: Span::from_millis(millis) };
        let periods = Alternation::new(period(1), period(980), First::Talk, Seed(1).stream("on-off"));
        let mut source = OnOff::new(Span::from_millis(20), 160, Instant::ZERO, Some(periods));
        let made: Vec<u64> =
            std::iter::from_fn(|| source.next_unit()).take(4).map(|unit| unit.created.nanos() / 1_000_000).collect();
        assert_eq!(made, [0, 1000, 2000, 3000]);
    }
}
