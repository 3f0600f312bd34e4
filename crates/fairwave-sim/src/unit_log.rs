//! What became of each unit that an application made: the ground of every measure of timeliness and of call quality.

use fairwave_core::packet::CarriedUnit;
use fairwave_core::quality::jitter::InterarrivalJitter;
use fairwave_core::quality::timeliness::Timeliness;
use fairwave_core::traffic::{FrameType, TransferRequest, Unit};
use fairwave_core::units::{Instant, Span};

/// How a queue or a wire removed a packet of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Removal {
    /// A queue dropped it.
    Dropped,
    /// A wire lost it.
    Lost,
}

/// Where a packet of a unit is when the run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pending {
    /// In the queue of a link.
    Queued,
    /// Transmitted in part, or on the wire.
    OnWire,
}

/// One unit's way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedUnit {
    /// When the application made it.
    pub created: Instant,
    /// When it was complete at the receiver; `NEVER` if it has not been.
    pub arrived: Instant,
    /// Payload bytes.
    pub payload: u32,
    /// The link that removed a packet of it first, by index of the plan; without meaning if none did.
    removed_at: u32,
    /// The link that has a packet of it when the run ends; without meaning if none has.
    pending_at: u32,
    removal: Option<Removal>,
    pending: Option<Pending>,
    /// A removed packet was one of several: a copy of another one does not replace it.
    incomplete: bool,
    /// Video layer, 0 for what is not layered.
    pub layer: u8,
    /// The transport's adaptation left it out: neither sent nor lost.
    pub skipped: bool,
    /// Comfort noise: sent, and no speech, so it counts in no measure of a call.
    pub noise: bool,
    /// A packet of a call while its party listens.
    pub background: bool,
}

// With many flows the logs are a large part of the memory.
const _: () = assert!(size_of::<LoggedUnit>() <= 40);

impl LoggedUnit {
    /// How and where the network removed it, unless a copy is pending.
    pub fn removed(&self) -> Option<(Removal, usize)> {
        let replaced = self.pending.is_some() && !self.incomplete;
        self.removal.filter(|_| !replaced).map(|removal| (removal, self.removed_at as usize))
    }

    /// How and where the network has it when the run ends.
    pub fn pending(&self) -> Option<(Pending, usize)> {
        self.pending.map(|pending| (pending, self.pending_at as usize))
    }
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
    /// The network removed packets without knowing their units.
    pub has_unnamed_losses: bool,
}

impl UnitLog {
    /// An empty log, measuring units made at `from` or later, and their timeliness against these thresholds.
    pub fn new(thresholds: &[Span], from: Instant) -> Self {
        let (timeliness, jitter) = (Timeliness::new(thresholds), InterarrivalJitter::new());
        UnitLog { units: Vec::new(), timeliness, jitter, from, is_one_stream: true, has_unnamed_losses: false }
    }

    /// The application made a unit. Units are numbered from 0 without gaps.
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

    /// The unit made last was not sent.
    pub fn skipped(&mut self) {
        if let Some(logged) = self.units.last_mut() {
            logged.skipped = true;
        }
    }

    /// A link removed a packet of a unit.
    pub fn remove(&mut self, carried: CarriedUnit, removal: Removal, link: usize) {
        if let Some(logged) = self.units.get_mut(carried.unit as usize) {
            if logged.removal.is_none() {
                (logged.removal, logged.removed_at) = (Some(removal), link as u32);
            }
            logged.incomplete |= !carried.is_whole;
        }
    }

    /// A link has a packet of a unit when the run ends. A unit that waits in part waits.
    pub fn keep_pending(&mut self, unit: u32, pending: Pending, link: usize) {
        if let Some(logged) = self.units.get_mut(unit as usize)
            && logged.pending != Some(Pending::Queued)
        {
            (logged.pending, logged.pending_at) = (Some(pending), link as u32);
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
