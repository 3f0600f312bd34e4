//! Log of the units of a flow, the basis of all timeliness and call quality measures.

use fairwave_core::packet::CarriedUnit;
use fairwave_core::quality::jitter::InterarrivalJitter;
use fairwave_core::quality::timeliness::Timeliness;
use fairwave_core::traffic::{FrameType, TransferRequest, Unit};
use fairwave_core::units::{Instant, Span};

/// Removal of a packet of a unit, by a queue or a wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Removal {
    /// A queue dropped it.
    Dropped,
    /// A wire lost it.
    Lost,
}

/// Location of a packet of a unit at the end of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pending {
    /// In the queue of a link.
    Queued,
    /// Transmitted in part, or on the wire.
    OnWire,
}

/// Record of one unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedUnit {
    /// Creation time at the application.
    pub created: Instant,
    /// Completion time at the receiver; `NEVER` if incomplete.
    pub arrived: Instant,
    /// Payload bytes.
    pub payload: u32,
    /// Link that first removed a packet of it, by index of the plan; meaningless without a removal.
    removed_at: u32,
    /// Link that holds a packet of it at the end of the run; meaningless without one.
    pending_at: u32,
    removal: Option<Removal>,
    pending: Option<Pending>,
    /// True if a removed packet was one of several: a copy of another packet does not replace it.
    incomplete: bool,
    /// Video layer; 0 for units without layers.
    pub layer: u8,
    /// Skipped by the transport's adaptation: neither sent nor lost.
    pub skipped: bool,
    /// Comfort noise: sent, but no speech, so it does not count in the measures of a call.
    pub noise: bool,
    /// True for a packet of a call while its party listens.
    pub background: bool,
}

// With many flows, the logs take a large part of the memory.
const _: () = assert!(size_of::<LoggedUnit>() <= 40);

impl LoggedUnit {
    /// Returns how and where the network removed it, unless a copy is pending.
    pub fn removed(&self) -> Option<(Removal, usize)> {
        let replaced = self.pending.is_some() && !self.incomplete;
        self.removal.filter(|_| !replaced).map(|removal| (removal, self.removed_at as usize))
    }

    /// Returns how and where the network holds it at the end of the run.
    pub fn pending(&self) -> Option<(Pending, usize)> {
        self.pending.map(|pending| (pending, self.pending_at as usize))
    }
}

/// All units of a flow in the order of their numbers. Timeliness and jitter cover the units made in the window,
/// without noise.
pub(crate) struct UnitLog {
    pub units: Vec<LoggedUnit>,
    pub timeliness: Timeliness,
    pub jitter: InterarrivalJitter,
    /// Units created before this time are not measured.
    pub from: Instant,
    /// True for a single stream, false for the streams of a media session together.
    pub is_one_stream: bool,
    /// True if the network removed packets with unknown units.
    pub has_unnamed_losses: bool,
}

impl UnitLog {
    /// Creates an empty log. It measures units created at `from` or later, and their timeliness against `thresholds`.
    pub fn new(thresholds: &[Span], from: Instant) -> Self {
        let (timeliness, jitter) = (Timeliness::new(thresholds), InterarrivalJitter::new());
        UnitLog { units: Vec::new(), timeliness, jitter, from, is_one_stream: true, has_unnamed_losses: false }
    }

    /// Records a unit that the application made. Units are numbered from 0 without gaps.
    pub fn sent(&mut self, unit: &Unit) {
        let (created, payload, layer) = (unit.created, unit.payload, unit.layer);
        let noise = unit.frame_type == FrameType::Noise;
        self.units.push(LoggedUnit {
            created,
            arrived: Instant::NEVER,
            payload,
            removed_at: 0,
            pending_at: 0,
            removal: None,
            pending: None,
            incomplete: false,
            layer,
            skipped: false,
            noise,
            background: unit.frame_type == FrameType::Background,
        });
    }

    /// Records that the last unit was not sent.
    pub fn skipped(&mut self) {
        if let Some(logged) = self.units.last_mut() {
            logged.skipped = true;
        }
    }

    /// Records that a link removed a packet of a unit.
    pub fn remove(&mut self, carried: CarriedUnit, removal: Removal, link: usize) {
        if let Some(logged) = self.units.get_mut(carried.unit as usize) {
            if logged.removal.is_none() {
                (logged.removal, logged.removed_at) = (Some(removal), link as u32);
            }
            logged.incomplete |= !carried.is_complete;
        }
    }

    /// Records that a link holds a packet of a unit at the end of the run. A partly waiting unit counts as waiting.
    pub fn keep_pending(&mut self, unit: u32, pending: Pending, link: usize) {
        if let Some(logged) = self.units.get_mut(unit as usize)
            && logged.pending != Some(Pending::Queued)
        {
            (logged.pending, logged.pending_at) = (Some(pending), link as u32);
        }
    }

    /// Returns the completion time of a requested object; never if incomplete.
    pub fn arrival(&self, wanted: &TransferRequest) -> Instant {
        let last = u64::from(wanted.first) + u64::from(wanted.units.max(1)) - 1;
        self.units.get(last as usize).map_or(Instant::NEVER, |unit| unit.arrived)
    }

    /// Records that a unit is complete at the receiver.
    pub fn received(&mut self, unit: u32, now: Instant) {
        let place = (unit as usize).min(self.units.len());
        let (earlier, rest) = self.units.split_at_mut(place);
        if let Some(logged) = rest.first_mut()
            && logged.arrived == Instant::NEVER
        {
            logged.arrived = now;
            if logged.created >= self.from && !logged.noise {
                // A unit skipped by the transport's adaptation was never sent and has no number on the network.
                let before = earlier.iter().rev().find(|one| !one.skipped && !one.noise).map(|one| one.arrived);
                self.timeliness.on_received(logged.created, now, before);
                self.jitter.on_received(logged.created, now);
            }
        }
    }
}
