//! The two ends of a flow as the simulator keeps them: endpoint, application, counters.

use std::sync::Arc;

use fairwave_core::packet::{Body, FlowId, Packet};
use fairwave_core::quality::playback::Playback;
use fairwave_core::traffic::{Activity, Source, TrafficSource, Unit};
use fairwave_core::transport::{AnyReceiver, AnySender, FlowContext, Prepared, Receiver, Sender, TransportConfig};
use fairwave_core::units::Instant;
use fairwave_scenario::plan::{FlowPlan, Plan};

use crate::error::RunError;
use crate::hosts::{ApplicationClock, Hosts};
use crate::judged::LossJudge;
use crate::measure::{Bins, FlowMeasure, Window};
use crate::unit_log::UnitLog;

/// Both ends of every flow, by index of the plan.
pub(crate) struct Ends {
    pub sending: Vec<Sending>,
    pub receiving: Vec<Receiving>,
}

impl Ends {
    /// The ends as planned; their random streams are those that bear their flows' names.
    ///
    /// # Errors
    /// A configuration that its law refuses.
    pub fn of_flows(plan: &Plan, window: Window, hosts: Option<&Hosts>) -> Result<Self, RunError> {
        let count = plan.flows.len();
        let mut ends = Ends { sending: Vec::with_capacity(count), receiving: Vec::with_capacity(count) };
        let mut latest: Option<(&Arc<TransportConfig>, Prepared<'_>)> = None;
        for (index, flow) in plan.flows.iter().enumerate() {
            let refused = |error| RunError::Config { place: flow.name.clone(), error };
            let stream = plan.seed.stream(&format!("flow.{}.traffic", flow.name));
            let source = Source::new(&flow.traffic, flow.start, stream).map_err(refused)?;
            let bulk = flow.traffic.is_bulk();
            let (class, layers) = (flow.class, flow.traffic.layers());
            let context = FlowContext { flow: FlowId(index as u32), class, bulk, layers };
            let stream = plan.seed.stream(&format!("flow.{}.transport", flow.name));
            let prepared = match &latest {
                // Flows of a group share their configuration.
                Some((config, prepared)) if Arc::ptr_eq(config, &flow.transport) => prepared,
                _ => &latest.insert((&flow.transport, flow.transport.prepare().map_err(refused)?)).1,
            };
            let (sender, receiver) = prepared.endpoints(context, stream).map_err(refused)?;
            let playback = (flow.playback.as_ref())
                .map(|playback| Playback::new(playback, flow.start).map(Box::new).map_err(refused))
                .transpose()?;
            let measure = FlowMeasure::new(Bins::over(window, plan.record.bin), playback, flow.stop, window);
            let clock = hosts.map_or_else(ApplicationClock::default, |hosts| hosts.clock(index, flow.start));
            ends.sending.push(Sending::new(flow, source, sender, clock));
            ends.receiving.push(Receiving::new(flow, window, receiver, measure));
        }
        Ok(ends)
    }
}

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
    /// Feedback packets that reached the sender.
    pub feedback_arrived: u64,
    /// Where the route of its packets begins.
    pub route: u32,
    pub sender: AnySender,
    pub source: Box<Source>,
    pub next_unit: Option<Unit>,
    /// When the application is, or will next be, active; none when it has ended.
    pub activity: Option<Activity>,
    pub active: bool,
    pub stop: Instant,
    clock: ApplicationClock,
}

impl Sending {
    fn new(flow: &FlowPlan, mut source: Source, sender: AnySender, clock: ApplicationClock) -> Self {
        let activity = match flow.traffic.is_bulk() {
            true => Sending::next_activity(&mut source, flow.stop),
            false => Some(Activity { from: flow.start, until: flow.stop }),
        };
        let mut sending = Sending {
            sender,
            scheduled: Instant::NEVER,
            application_at: Instant::NEVER,
            packets_sent: 0,
            wire_sent: 0,
            feedback_arrived: 0,
            route: 0,
            next_unit: clock.unit(source.next_unit()),
            source: Box::new(source),
            activity,
            active: false,
            stop: flow.stop,
            clock,
        };
        sending.ask_application();
        sending
    }

    /// The application goes on to its next unit.
    #[inline]
    pub fn make_next_unit(&mut self) {
        self.next_unit = self.clock.unit(self.source.next_unit());
    }

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
    /// Where the route of its packets begins.
    pub route: u32,
    /// There is a log of units.
    pub logged: bool,
    pub receiver: AnyReceiver,
}

impl Receiving {
    fn new(flow: &FlowPlan, window: Window, receiver: AnyReceiver, measure: FlowMeasure) -> Self {
        let bulk = flow.traffic.is_bulk();
        Receiving {
            scheduled: Instant::NEVER,
            route: 0,
            logged: !bulk,
            measure,
            units: (!bulk).then(|| Box::new(UnitLog::new(&flow.thresholds, flow.start.max(window.warmup)))),
            judge: receiver.judges_losses().then(Box::default),
            receiver,
        }
    }

    /// A packet is gone at `now`, by congestion or at random.
    #[inline]
    pub fn lose(&mut self, packet: &Packet, congestion: bool, now: Instant, window: Window) {
        if congestion {
            self.measure.dropped(packet.feedback, now, window);
        } else {
            self.measure.lost(packet.feedback, now, window);
        }
        if self.logged
            && let Body::Datagram { unit, .. } | Body::Redundant { unit, .. } | Body::TfrcData { unit, .. } =
                packet.body
            && let Some(units) = &mut self.units
        {
            // None of these transports sends anything again; a copy that comes later makes up for it.
            units.lost(unit);
        }
        if let Some(judge) = &mut self.judge {
            judge.lost(packet, congestion);
        }
    }
}
