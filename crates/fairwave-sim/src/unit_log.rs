//! What became of each unit that an application made: the ground of every measure of timeliness and of call quality.

use fairwave_core::quality::jitter::InterarrivalJitter;
use fairwave_core::quality::timeliness::Timeliness;
use fairwave_core::traffic::Unit;
use fairwave_core::units::{Instant, Span};

/// One unit's way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logged {
    /// When the application made it.
    pub created: Instant,
    /// When it was complete at the receiver; `NEVER` if it has not been.
    pub arrived: Instant,
    /// Payload bytes.
    pub payload: u32,
    /// The transport's adaptation left it out: neither sent nor lost.
    pub skipped: bool,
}

/// Every unit of a flow, in the order of their numbers.
pub(crate) struct UnitLog {
    pub units: Vec<Logged>,
    pub timeliness: Timeliness,
    pub jitter: InterarrivalJitter,
    pub received: u64,
    pub skipped: u64,
}

impl UnitLog {
    /// An empty log, measuring timeliness against these thresholds.
    pub fn new(thresholds: &[Span]) -> Self {
        UnitLog {
            units: Vec::new(),
            timeliness: Timeliness::new(thresholds),
            jitter: InterarrivalJitter::new(),
            received: 0,
            skipped: 0,
        }
    }

    /// The application made a unit. Units are numbered from 0 without gaps.
    pub fn sent(&mut self, unit: &Unit) {
        let (created, payload) = (unit.created, unit.payload);
        self.units.push(Logged { created, arrived: Instant::NEVER, payload, skipped: false });
    }

    /// The unit made last was not sent.
    pub fn skipped(&mut self) {
        if let Some(logged) = self.units.last_mut() {
            logged.skipped = true;
            self.skipped += 1;
        }
    }

    /// A unit is complete at the receiver.
    pub fn received(&mut self, unit: u32, now: Instant) {
        if let Some(logged) = self.units.get_mut(unit as usize)
            && logged.arrived == Instant::NEVER
        {
            logged.arrived = now;
            self.received += 1;
            self.timeliness.on_received(logged.created, now);
            self.jitter.on_received(logged.created, now);
        }
    }
}
