//! What became of each unit that an application made: the ground of every measure of timeliness and of call quality.

use fairwave_core::quality::jitter::InterarrivalJitter;
use fairwave_core::quality::timeliness::Timeliness;
use fairwave_core::traffic::{FrameType, TransferRequest, Unit};
use fairwave_core::units::{Instant, Span};

/// One unit's way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedUnit {
    /// When the application made it.
    pub created: Instant,
    /// When it was complete at the receiver; `NEVER` if it has not been.
    pub arrived: Instant,
    /// Payload bytes.
    pub payload: u32,
    /// Video layer, 0 for what is not layered.
    pub layer: u8,
    /// The transport's adaptation left it out: neither sent nor lost.
    pub skipped: bool,
    /// A packet of it is gone that the transport does not send again.
    pub gone: bool,
    /// Comfort noise: sent, and no speech, so it counts in no measure of a call.
    pub noise: bool,
}

/// Every unit of a flow, in the order of their numbers; timeliness and jitter are of those made in the window that are not noise.
pub(crate) struct UnitLog {
    pub units: Vec<LoggedUnit>,
    pub timeliness: Timeliness,
    pub jitter: InterarrivalJitter,
    /// Units made earlier are not measured.
    pub from: Instant,
    /// They are of one stream, and not those of several streams of a media session.
    pub is_one_stream: bool,
}

impl UnitLog {
    /// An empty log, measuring units made at `from` or later, and their timeliness against these thresholds.
    pub fn new(thresholds: &[Span], from: Instant) -> Self {
        let (timeliness, jitter) = (Timeliness::new(thresholds), InterarrivalJitter::new());
        UnitLog { units: Vec::new(), timeliness, jitter, from, is_one_stream: true }
    }

    /// The application made a unit. Units are numbered from 0 without gaps.
    pub fn sent(&mut self, unit: &Unit) {
        let (created, payload, layer) = (unit.created, unit.payload, unit.layer);
        let noise = unit.frame_type == FrameType::Noise;
        let arrived = Instant::NEVER;
        self.units.push(LoggedUnit { created, arrived, payload, layer, skipped: false, gone: false, noise });
    }

    /// The unit made last was not sent.
    pub fn skipped(&mut self) {
        if let Some(logged) = self.units.last_mut() {
            logged.skipped = true;
        }
    }

    /// A packet of a unit is gone for good.
    pub fn lost(&mut self, unit: u32) {
        if let Some(logged) = self.units.get_mut(unit as usize) {
            logged.gone = true;
        }
    }

    /// When all of what was wanted as a whole was there; never if it is not.
    pub fn arrival(&self, wanted: &TransferRequest) -> Instant {
        let last = u64::from(wanted.first) + u64::from(wanted.units.max(1)) - 1;
        self.units.get(last as usize).map_or(Instant::NEVER, |unit| unit.arrived)
    }

    /// A unit is complete at the receiver.
    pub fn received(&mut self, unit: u32, now: Instant) {
        let place = (unit as usize).min(self.units.len());
        let (earlier, rest) = self.units.split_at_mut(place);
        if let Some(logged) = rest.first_mut()
            && logged.arrived == Instant::NEVER
        {
            logged.arrived = now;
            if logged.created >= self.from && !logged.noise {
                // What the transport's adaptation left out was never sent, and has no number on the network.
                let before = earlier.iter().rev().find(|one| !one.skipped && !one.noise).map(|one| one.arrived);
                self.timeliness.on_received(logged.created, now, before);
                self.jitter.on_received(logged.created, now);
            }
        }
    }
}
