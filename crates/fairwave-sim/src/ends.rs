//! Both ends of a flow in the simulator: endpoint, application, counters.

use std::sync::Arc;

use fairwave_core::config::ConfigError;
use fairwave_core::packet::{Body, CarriedUnit, FlowId, Packet};
use fairwave_core::quality::playback::Playback;
use fairwave_core::traffic::{Activity, Source, TrafficSource, Unit};
use fairwave_core::transport::Properties;
use fairwave_core::transport::{
    AnyReceiver, AnySender, FlowContext, Output, PreparedTransport, Receiver, Sender, TransportConfig,
};
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::{FlowPlan, Partner, Plan};

use crate::conferences::Rooms;
use crate::error::RunError;
use crate::event::{Event, EventKind};
use crate::hosts::{ApplicationClock, Hosts};
use crate::judgements::LossJudge;
use crate::measure::{Bins, FlowMeasure, Window};
use crate::round_trips::RoundTripLog;
use crate::unit_log::{Pending, Removal, UnitLog};

/// Both ends of every flow, by index of the plan.
pub(crate) struct FlowEnds {
    pub sending: Vec<SendingEnd>,
    pub receiving: Vec<ReceivingEnd>,
}

impl FlowEnds {
    /// Creates the ends as planned. The flows' names select their random streams.
    ///
    /// # Errors
    /// Returns a configuration that its law rejects.
    pub fn new(plan: &Plan, window: Window, hosts: Option<&Hosts>, live: bool) -> Result<Self, RunError> {
        let count = plan.flows.len();
        let mut ends = FlowEnds { sending: Vec::with_capacity(count), receiving: Vec::with_capacity(count) };
        let (mut rooms, mut name) = (Rooms::default(), String::new());
        // Returns the random stream `what` of a flow; `name` is a reusable buffer.
        let named = |flow: &FlowPlan, what: &str, name: &mut String| {
            name.clear();
            ["flow.", &flow.name, ".", what].into_iter().for_each(|part| name.push_str(part));
            plan.seed.stream(name)
        };
        let mut latest: Option<(&Arc<TransportConfig>, PreparedTransport<'_>)> = None;
        for (index, flow) in plan.flows.iter().enumerate() {
            let refused = |error| RunError::Config { place: flow.name.clone(), error };
            if let Some(instead) = flow.transport.only_live().filter(|_| !live) {
                return Err(RunError::OnlyLive { flow: flow.name.clone(), transport: flow.transport.label(), instead });
            }
            if let Some(instead) = flow.transport.only_simulated().filter(|_| live) {
                let allowed = "a transport whose packets live runs can write; this one runs in simulation only";
                return Err(refused(ConfigError::new("transport", flow.transport.label(), allowed, instead)));
            }
            // Both parties of a conversation use the stream of the leading flow.
            let script = match flow.partner {
                Some(Partner { flow: leader, leads: false }) => plan.flows.get(leader).unwrap_or(flow),
                _ => flow,
            };
            let stream = named(script, "traffic", &mut name);
            let source = Source::new(&flow.traffic, flow.start, stream).map_err(refused)?;
            let bulk = flow.traffic.is_bulk();
            let (class, layers) = (flow.class, flow.traffic.layers());
            let context = FlowContext { flow: FlowId(index as u32), class, dscp: flow.dscp, bulk, layers };
            let stream = named(flow, "transport", &mut name);
            let prepared = match &latest {
                // Flows of a group share their configuration.
                Some((config, prepared)) if Arc::ptr_eq(config, &flow.transport) => prepared,
                _ => &latest.insert((&flow.transport, flow.transport.prepare().map_err(refused)?)).1,
            };
            let ends_of_flow = match (flow.traffic.media(), &flow.leg) {
                (Some(media), Some(leg)) => rooms.leg(plan, leg, (&*flow.transport, context, media), stream),
                (Some(media), None) => prepared.media_endpoints(context, media, stream),
                (None, _) => prepared.endpoints(context, stream),
            };
            let (sender, receiver) = ends_of_flow.map_err(refused)?;
            let playback = (flow.playback.as_ref())
                .map(|playback| Playback::new(playback, flow.start).map(Box::new).map_err(refused))
                .transpose()?;
            let measure = FlowMeasure::new(Bins::zero(window, plan.record.bin), playback, flow.stop, window);
            let clock = hosts
                .map_or_else(|| ApplicationClock::skewed(flow.start, 0), |hosts| hosts.clock(index, flow.start))
                .with_pauses(flow, request(plan, flow));
            ends.sending.push(SendingEnd::new(flow, source, sender, clock));
            ends.receiving.push(ReceivingEnd::new(flow, window, receiver, measure));
        }
        for flow in &plan.record.round_trips {
            if let Some(end) = ends.sending.get_mut(*flow) {
                (end.timed, end.round_trips) = (true, Some(Box::default()));
            }
        }
        Ok(ends)
    }
}

/// Returns the time of a request from the receiver to the sender, for a source that depends on arrivals: the
/// propagation delay of the reverse route.
fn request(plan: &Plan, flow: &FlowPlan) -> Span {
    if !flow.traffic.listens() {
        return Span::ZERO;
    }
    let delay = |link: &usize| plan.links.get(*link).map_or(Span::ZERO, |link| link.direction.delay);
    flow.backward.iter().map(delay).fold(Span::ZERO, |sum, delay| sum + delay)
}

/// A saturating count of packets in two bytes. After an overflow, it never returns to zero.
#[derive(Clone, Copy, Default)]
pub(crate) struct Awaited(u16);

impl Awaited {
    /// Whether the count is zero.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Counts one more packet in transit.
    #[inline]
    pub fn add(&mut self) {
        self.0 = self.0.saturating_add(1);
    }

    /// Counts an arrival.
    #[inline]
    pub fn remove(&mut self) {
        if self.0 < u16::MAX {
            self.0 = self.0.saturating_sub(1);
        }
    }
}

/// Sending end of a flow. The fields that every acknowledgement needs come first.
#[repr(C, align(64))]
pub(crate) struct SendingEnd {
    /// Time of the valid entry in the event queue; `NEVER` without one. Other entries are stale.
    pub scheduled: Instant,
    /// Next timer of the application.
    pub application_at: Instant,
    /// Data packets handed to the network, retransmissions included.
    pub packets_sent: u64,
    /// Bytes on the wire of these packets.
    pub wire_sent: u64,
    /// Feedback packets that reached the sender.
    pub feedback_arrived: u64,
    /// Start of the route of its packets.
    pub route: u32,
    /// Feedback in transit by separate events, if the sender can be called ahead of time. Later feedback must then
    /// wait as well.
    pub awaited: Awaited,
    /// True if its round trips are measured.
    pub timed: bool,
    pub sender: AnySender,
    pub source: Source,
    pub next_unit: Option<Unit>,
    /// Current or next active period of the application; `None` after the last one.
    pub activity: Option<Activity>,
    pub active: bool,
    /// True if its group has a limit of simultaneous flows and admission is not yet decided.
    pub room_is_unchecked: bool,
    /// True if the group's limit refused the flow.
    pub refused: bool,
    stop: Instant,
    pub clock: ApplicationClock,
    /// Rest of a bulk source's active period after a pause cut it, in the application's clock.
    rest: Option<Box<Activity>>,
    /// Round-trip samples.
    pub round_trips: Option<Box<RoundTripLog>>,
}

impl SendingEnd {
    fn new(flow: &FlowPlan, mut source: Source, sender: AnySender, clock: ApplicationClock) -> Self {
        let mut sending = SendingEnd {
            sender,
            scheduled: Instant::NEVER,
            application_at: Instant::NEVER,
            packets_sent: 0,
            wire_sent: 0,
            feedback_arrived: 0,
            route: 0,
            awaited: Awaited::default(),
            timed: false,
            round_trips: None,
            // A server forwards units that are made elsewhere.
            next_unit: if flow.is_forwarded() { None } else { clock.unit(source.next_unit()) },
            source,
            activity: None,
            active: false,
            room_is_unchecked: flow.at_most.is_some(),
            refused: false,
            stop: flow.stop,
            clock,
            rest: None,
        };
        sending.activity = match flow.traffic.is_bulk() {
            true => sending.next_activity(flow.start),
            false => sending.clock.next_active(flow.start).or(Some(Activity { from: flow.start, until: flow.stop })),
        };
        sending.ask_application();
        sending
    }

    /// Whether only feedback and its timers affect the flow, apart from the network. True for bulk TCP flows. They
    /// belong to no conversation or conference, have no loss judgement, and are admitted by time alone. False for a
    /// program's source that depends on arrivals.
    pub fn is_alone(&self, flow: &FlowPlan, receiving: &ReceivingEnd) -> bool {
        matches!(self.sender, AnySender::Tcp(_)) && flow.traffic.is_bulk() && !receiving.listened
    }

    /// Advances the application to its next unit.
    #[inline]
    pub fn make_next_unit(&mut self) {
        self.next_unit = self.clock.unit(self.source.next_unit());
    }

    /// Records a round trip if the arriving packet is a sample.
    #[cold]
    #[inline(never)]
    pub fn note_round_trip(&mut self, packet: &Packet, now: Instant) {
        if let Some(round_trips) = &mut self.round_trips {
            round_trips.note(packet, now);
        }
    }

    /// Returns the next timer of the application or the sender.
    #[inline]
    pub fn wake_at(&self) -> Instant {
        self.sender.deadline().min(self.application_at)
    }

    /// Passes arriving feedback to the sender.
    #[inline(always)] // every acknowledgement comes through here
    pub fn take_feedback(&mut self, packet: &Packet, now: Instant, out: &mut Output) {
        if self.timed {
            self.note_round_trip(packet, now);
        }
        self.sender.on_packet(now, packet, out);
    }

    /// Returns the event that the queue needs for the next deadline, if no entry is early enough. The event is not
    /// before `earliest`; there is none after `end`, the end of the run.
    #[inline(always)]
    pub fn arm(&mut self, flow: usize, earliest: Instant, end: Instant) -> Option<Event> {
        let wanted = self.wake_at();
        if wanted >= self.scheduled || wanted > end {
            return None;
        }
        self.scheduled = wanted.max(earliest);
        Some(Event::new(self.scheduled, EventKind::Sender, flow))
    }

    /// Updates the application's timer. Call it after a change of its activity or of its next unit.
    pub fn ask_application(&mut self) {
        self.application_at = match self.activity {
            None => Instant::NEVER,
            Some(activity) if !self.active => activity.from,
            Some(activity) => self.next_unit.map_or(Instant::NEVER, |unit| unit.created).min(activity.until),
        };
    }

    /// Returns the next active period from `now`, limited by the stop of the flow.
    #[inline(never)]
    pub fn next_activity(&mut self, now: Instant) -> Option<Activity> {
        let rest = self.rest.take().map(|rest| *rest);
        let Some(whole) = rest.or_else(|| self.source.next_activity()) else {
            return self.clock.next_active(now);
        };
        let (Activity { from, until }, rest) = self.clock.activity(whole)?;
        self.rest = rest.map(Box::new);
        (from < self.stop).then_some(Activity { from, until: until.min(self.stop) })
    }

    /// Informs the source that the receiver has the complete unit that it waits for. Returns the application's new
    /// timer if it is by the `end` of the run and no entry of the event queue is as early.
    #[cold]
    #[inline(never)]
    pub fn report_delivery(&mut self, unit: u32, now: Instant, end: Instant) -> Option<Instant> {
        self.source.on_received(unit, self.clock.shown(now));
        if self.next_unit.is_none() {
            self.make_next_unit();
        }
        if let Some(next) = &mut self.next_unit {
            next.created = next.created.max(now);
        }
        self.ask_application();
        let wanted = self.wake_at();
        let earlier = wanted < self.scheduled && wanted <= end;
        self.scheduled = if earlier { wanted } else { self.scheduled };
        earlier.then_some(wanted)
    }
}

// With many flows, their ends take a large part of the memory.
const _: () = assert!(
    size_of::<SendingEnd>() <= 640 && size_of::<ReceivingEnd>() <= 256,
    "put the state of the large source or transport in a box"
);

/// Receiving end of a flow. The fields that the simulator needs for every packet come first.
#[repr(C, align(64))]
pub(crate) struct ReceivingEnd {
    /// Log for applications that make units.
    pub units: Option<Box<UnitLog>>,
    pub measure: FlowMeasure,
    pub scheduled: Instant,
    /// Start of the route of its packets.
    pub route: u32,
    /// True if there is a log of units.
    pub logged: bool,
    /// True if the source depends on arrivals.
    pub listened: bool,
    pub receiver: AnyReceiver,
    /// Set for receivers that judge losses.
    pub judge: Option<Box<LossJudge>>,
}

impl ReceivingEnd {
    fn new(flow: &FlowPlan, window: Window, receiver: AnyReceiver, measure: FlowMeasure) -> Self {
        let bulk = flow.traffic.is_bulk() || flow.is_forwarded();
        let mut log = UnitLog::new(&flow.thresholds, flow.start.max(window.warmup));
        log.is_one_stream = flow.traffic.media().is_none();
        ReceivingEnd {
            scheduled: Instant::NEVER,
            route: 0,
            logged: !bulk,
            listened: flow.traffic.listens(),
            measure,
            units: (!bulk).then(|| Box::new(log)),
            judge: receiver.judges_losses().then(Box::default),
            receiver,
        }
    }

    /// Records a unit that the application made.
    #[inline]
    pub fn made(&mut self, unit: &Unit) {
        if let Some(units) = &mut self.units {
            units.sent(unit);
        }
    }

    /// Records that the last unit was not sent.
    pub fn skipped(&mut self) {
        if let Some(units) = &mut self.units {
            units.skipped();
        }
    }

    /// Records that `link` removed a packet at `now`, by congestion or at random.
    #[inline]
    pub fn lose(&mut self, packet: &Packet, congestion: bool, link: usize, now: Instant, window: Window) {
        if congestion {
            self.measure.dropped(packet.feedback, now, window);
        } else {
            self.measure.lost(packet.feedback, now, window);
        }
        if self.logged && (!packet.feedback || matches!(packet.body, Body::Datagram { .. })) {
            // The reply to a ping carries the number of its request.
            self.note_removal(packet, if congestion { Removal::Dropped } else { Removal::Lost }, link);
        }
        if let Some(judge) = &mut self.judge {
            judge.lost(packet, congestion);
        }
    }

    #[inline(never)]
    fn note_removal(&mut self, packet: &Packet, removal: Removal, link: usize) {
        let Some(units) = &mut self.units else { return };
        match self.receiver.unit_in(packet) {
            Some(carried) => units.remove(carried, removal, link),
            // Packets of foreign code name no units.
            None => units.has_unnamed_losses |= matches!(self.receiver, AnyReceiver::Own(_)),
        }
    }

    /// Records a packet that `link` holds at the end of the run.
    #[cold]
    #[inline(never)]
    pub fn keep_pending(&mut self, packet: &Packet, pending: Pending, link: usize) {
        let Some(units) = self.units.as_mut().filter(|_| !packet.feedback) else { return };
        let Some(CarriedUnit { unit, .. }) = self.receiver.unit_in(packet) else { return };
        units.keep_pending(unit, pending, link);
        if let Body::Redundant { repeats, .. } = packet.body {
            for repeat in repeats.iter().filter(|repeat| repeat.back > 0) {
                units.keep_pending(unit.wrapping_sub(u32::from(repeat.back)), pending, link);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awaited_feedback_is_counted_up_to_a_limit() {
        let mut awaited = Awaited::default();
        (0..1000).for_each(|_| awaited.add());
        (0..999).for_each(|_| awaited.remove());
        assert!(!awaited.is_empty());
        awaited.remove();
        assert!(awaited.is_empty());
        (0..70_000).for_each(|_| awaited.add());
        (0..70_000).for_each(|_| awaited.remove());
        assert!(!awaited.is_empty(), "too many to know when the last has arrived");
    }
}
