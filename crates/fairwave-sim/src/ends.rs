//! The two ends of a flow as the simulator keeps them: endpoint, application, counters.

use fairwave_core::packet::Packet;
use fairwave_core::traffic::{Activity, Source, TrafficSource, Unit};
use fairwave_core::transport::{AnyReceiver, AnySender, Sender};
use fairwave_core::units::Instant;

use crate::judged::LossJudge;
use crate::measure::FlowMeasure;
use crate::unit_log::UnitLog;

/// A flow's sending side. What every acknowledgement needs comes first.
#[repr(C, align(64))]
pub(crate) struct Sending {
    /// When the live entry in the event queue is due; `NEVER` without one. Entries that are not this one are stale.
    pub scheduled: Instant,
    /// When the application wants to be woken.
    pub application_at: Instant,
    /// Data packets handed to the network, retransmissions included.
    pub packets_sent: u64,
    /// Their bytes on the wire.
    pub wire_sent: u64,
    pub sender: AnySender,
    pub source: Box<Source>,
    pub next_unit: Option<Unit>,
    /// When the application is, or will next be, active; none when it has ended.
    pub activity: Option<Activity>,
    pub active: bool,
    pub stop: Instant,
}

impl Sending {
    /// When the application or the sender wants to be woken.
    #[inline]
    pub fn wake_at(&self) -> Instant {
        self.sender.deadline().min(self.application_at)
    }

    /// Finds out when the application wants to be woken; call when its activity or its next unit has changed.
    pub fn ask_application(&mut self) {
        self.application_at = match self.activity {
            None => Instant::NEVER,
            Some(activity) if !self.active => activity.from,
            Some(activity) => self.next_unit.map_or(Instant::NEVER, |unit| unit.created).min(activity.until),
        };
    }

    /// The next time of activity, cut off where the flow ends.
    pub fn next_activity(source: &mut Source, stop: Instant) -> Option<Activity> {
        let Activity { from, until } = source.next_activity()?;
        (from < stop).then_some(Activity { from, until: until.min(stop) })
    }
}

/// A flow's receiving side. What every packet needs lies together in two cache lines: the first line holds the rest of the
/// measures.
#[repr(C, align(64))]
pub(crate) struct Receiving {
    /// For applications that make units.
    pub units: Option<Box<UnitLog>>,
    /// For receivers that judge losses.
    pub judge: Option<Box<LossJudge>>,
    pub measure: FlowMeasure,
    pub scheduled: Instant,
    /// Called as soon as the arrival time is known.
    pub ahead_of_time: bool,
    /// There is a log of units.
    pub logged: bool,
    pub receiver: AnyReceiver,
}

impl Receiving {
    /// A packet is gone, by congestion or at random.
    #[inline]
    pub fn lose(&mut self, packet: &Packet, congestion: bool) {
        if congestion {
            self.measure.dropped(packet.feedback);
        } else {
            self.measure.lost(packet.feedback);
        }
        if let Some(judge) = &mut self.judge {
            judge.lost(packet, congestion);
        }
    }
}
