//! The engine of every source that turns on and off: while on, packets of one size at one interval; while off, nothing.
//!
//! **Assumptions.** As in ns-2, an on-period is a whole number of packets, at least one: its drawn length divided by the
//! interval, rounded. The off-period starts one interval after the last packet. ns-2 always begins with an off-period; here
//! that is [`First::Silence`], and the default draws state and remaining time from the stationary distribution, so that the
//! offered load has its mean from the start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FrameType, Period, TrafficSource, Unit};
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Span};

/// In which state a source begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum First {
    /// State and remaining time as an observer finds them who looks at a random moment.
    #[default]
    Stationary,
    /// A fresh off-period (what ns-2 does).
    Silence,
    /// A fresh on-period.
    Talk,
}

/// Periods that alternate.
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

    /// Time off, then time on: the next of each. The first may have no time off.
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

/// Packets at an interval while on.
#[derive(Clone, PartialEq, Debug)]
pub struct OnOff {
    interval: Span,
    payload: u32,
    periods: Option<Alternation>,
    /// When the next packet is due, if any is left in this on-period.
    due: Instant,
    /// Packets left in this on-period.
    left: u64,
    next_id: u32,
}

impl OnOff {
    /// A source that begins at `start`; it is always on when there are no periods.
    pub(super) fn new(interval: Span, payload: u32, start: Instant, periods: Option<Alternation>) -> Self {
        let left = if periods.is_some() { 0 } else { u64::MAX };
        OnOff { interval, payload, periods, due: start, left, next_id: 0 }
    }
}

impl TrafficSource for OnOff {
    fn next_unit(&mut self) -> Option<Unit> {
        if self.left == 0 {
            let (off, on) = self.periods.as_mut()?.next();
            self.due += off;
            self.left = (libm::round(on.nanos() as f64 / self.interval.nanos().max(1) as f64) as u64).max(1);
        }
        if self.due == Instant::NEVER {
            return None;
        }
        let unit =
            Unit { id: self.next_id, payload: self.payload, created: self.due, layer: 0, frame_type: FrameType::None };
        self.next_id = self.next_id.wrapping_add(1);
        self.left -= 1;
        self.due += self.interval;
        Some(unit)
    }
}
