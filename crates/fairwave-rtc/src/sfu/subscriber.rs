//! Path from the server to one participant: rate controller, packet numbers and probes.

use std::collections::VecDeque;

use super::layers::RateMeter;
use crate::control::{
    AnyRateController, Carries, Decision, Feedback, Limits, LossReport, Probe, RateController, SentPacket,
};
use crate::rtcp::Rtcp;
use crate::rtp::RtpHeader;
use crate::send::history::SentHistory;
use crate::send::repair::RateLimiter;
use fairwave_endpoint::media::TransportSample;
use fairwave_network::packet::Ecn;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Time after which a waiting cluster is discarded (libwebrtc, `kProbeClusterTimeout`: 5 s).
const GIVEN_UP: Span = Span::from_secs(5);

/// A cluster of padding packets.
#[derive(Clone, Copy, Debug)]
struct Cluster {
    probe: Probe,
    asked: Instant,
    begun: Option<Instant>,
    bytes: u64,
    packets: u32,
}

impl Cluster {
    fn due(&self, now: Instant) -> Instant {
        let Some(begun) = self.begun else { return now };
        begun + Span::from_seconds(self.bytes as f64 * 8.0 / (self.probe.rate.bits_per_second() as f64).max(1.0))
    }

    fn is_done(&self) -> bool {
        let least = self.probe.rate.bytes_in(self.probe.lasts).get();
        self.packets >= self.probe.packets && self.bytes >= least
    }
}

/// Path to a participant.
pub(super) struct Subscriber {
    controller: AnyRateController,
    history: SentHistory,
    /// Latest decision of the controller.
    decision: Decision,
    /// True if the decision may have changed.
    stale: bool,
    limits: Limits,
    begun: bool,
    /// True once something was sent; padding is allowed from then on.
    pads: bool,
    /// Publisher of the lead session, which sends packets of the path as a whole.
    pub lead: Option<usize>,
    /// True once the lead session has been called.
    pub awake: bool,
    ecn: Ecn,
    round_trip: Option<Span>,
    feedback_round_trip: Option<Span>,
    lost: Option<f64>,
    clusters: VecDeque<Cluster>,
    /// Rate of sent audio.
    pub audio: RateMeter,
    limiter: RateLimiter,
    /// Time of the latest choice of layers.
    pub chosen: Instant,
}

impl Subscriber {
    pub fn new(controller: AnyRateController, ecn: Ecn, start: Rate, least: Rate) -> Self {
        Subscriber {
            controller,
            history: SentHistory::new(false),
            decision: Decision::paced(start, 1.0),
            stale: false,
            limits: Limits { start, least, most: start },
            begun: false,
            pads: false,
            lead: None,
            awake: false,
            ecn,
            round_trip: None,
            feedback_round_trip: None,
            lost: None,
            clusters: VecDeque::new(),
            audio: RateMeter::default(),
            limiter: RateLimiter::default(),
            chosen: Instant::ZERO,
        }
    }

    /// Restarts controller and path after a network change of the participant.
    pub fn reset(&mut self, now: Instant, controller: AnyRateController) {
        // The previous decision applies until the new controller starts.
        self.target();
        self.controller = controller;
        self.history.forget();
        self.clusters.clear();
        (self.round_trip, self.feedback_round_trip, self.lost) = (None, None, None);
        if self.begun {
            self.controller.on_limits(now, self.limits);
            self.refresh(now);
        }
    }

    /// Starts the path. `most` is the largest total rate of all publishers, bits per second.
    pub fn begin(&mut self, now: Instant, most: f64) {
        let most = Rate::from_bits_per_second(most as u64).max(self.limits.start);
        if !self.begun || most != self.limits.most {
            (self.begun, self.limits.most) = (true, most);
            self.controller.on_limits(now, self.limits);
            self.refresh(now);
        }
    }

    pub fn is_begun(&self) -> bool {
        self.begun
    }

    pub fn ecn(&self) -> Ecn {
        self.ecn
    }

    /// Returns the round trip for repair decisions.
    pub fn repair_round_trip(&self) -> Span {
        self.round_trip.or(self.feedback_round_trip).unwrap_or_default()
    }

    /// Checks whether `bytes` more may be retransmitted.
    pub fn may_repair(&mut self, now: Instant, bytes: u64) -> bool {
        let target = self.target();
        self.limiter.try_use(now, bytes, target)
    }

    /// Returns the rate for media.
    pub fn target(&mut self) -> Rate {
        self.decision = self.now_allowed();
        self.stale = false;
        self.decision.target
    }

    fn now_allowed(&self) -> Decision {
        if self.stale { self.controller.decision() } else { self.decision }
    }

    /// Marks the decision as outdated; it is read when needed.
    fn refresh(&mut self, now: Instant) {
        self.stale = true;
        while let Some(probe) = self.controller.next_probe() {
            self.clusters.push_back(Cluster { probe, asked: now, begun: None, bytes: 0, packets: 0 });
        }
    }

    /// Records a sent packet and assigns its number.
    pub fn send(&mut self, now: Instant, header: &mut RtpHeader, wire: u16, carries: Carries, probe: Option<u32>) {
        let sequence = self.history.next();
        header.transport_sequence = sequence as u16;
        let size = Bytes::new(u64::from(wire));
        let sent = SentPacket { sequence, sent: now, size, carries, probe };
        self.history.add(sent, header.ssrc, header.sequence);
        self.controller.on_sent(&sent);
        self.pads = true;
        if carries == Carries::Audio {
            self.audio.add(now, u64::from(wire));
        }
        self.refresh(now);
    }

    /// Handles feedback on packets. Returns whether the target has changed.
    pub fn on_feedback(&mut self, now: Instant, message: &Rtcp) -> bool {
        let Rtcp::TransportFeedback(message) = message else { return false };
        let before = self.target();
        let reported = self.history.on_transport_feedback(now, message);
        if reported.packets.is_empty() {
            return false;
        }
        self.feedback_round_trip = reported.round_trip.or(self.feedback_round_trip);
        let missing = reported.packets.iter().filter(|packet| packet.arrived.is_none()).count();
        self.lost = Some(missing as f64 / reported.packets.len() as f64);
        self.controller.on_feedback(&Feedback {
            now,
            packets: reported.packets,
            round_trip: self.feedback_round_trip.unwrap_or_default(),
            in_flight: reported.in_flight,
            waiting: Bytes::new(0),
            waits: Span::ZERO,
        });
        self.refresh(now);
        before != self.target()
    }

    /// Handles a receiver report on one session of the path.
    pub fn on_report(&mut self, now: Instant, lost: f64, expected: u32, round_trip: Option<Span>) {
        self.round_trip = round_trip.or(self.round_trip);
        self.controller.on_report(&LossReport { now, fraction_lost: lost, expected, round_trip: self.round_trip });
        self.refresh(now);
    }

    pub fn on_timer(&mut self, now: Instant) {
        if self.controller.deadline() <= now {
            self.controller.on_timer(now);
            self.refresh(now);
        }
    }

    /// Returns the cluster for a padding packet of `bytes`, if one is due.
    pub fn probes(&mut self, now: Instant, bytes: u64) -> Option<u32> {
        if !self.pads {
            return None;
        }
        while self.clusters.front().is_some_and(|one| one.is_done() || now.span_since(one.asked) > GIVEN_UP) {
            self.clusters.pop_front();
        }
        let cluster = self.clusters.front_mut()?;
        if cluster.due(now) > now {
            return None;
        }
        cluster.begun.get_or_insert(now);
        cluster.bytes += bytes;
        cluster.packets += 1;
        Some(cluster.probe.cluster)
    }

    /// Returns the deadline of the path.
    pub fn deadline(&self, now: Instant) -> Instant {
        if !self.begun {
            return Instant::NEVER;
        }
        let probe = self.clusters.front().filter(|_| self.pads).map_or(Instant::NEVER, |cluster| cluster.due(now));
        self.controller.deadline().min(probe)
    }

    pub fn sample(&self, at: Instant) -> TransportSample {
        let view = self.controller.view();
        let decision = self.now_allowed();
        let target = decision.target.bits_per_second() as f64;
        TransportSample {
            at,
            available_outgoing_bitrate: view.capacity.unwrap_or(target),
            target_bitrate: target,
            pacing_bitrate: decision.pacing.bits_per_second() as f64,
            round_trip_time: self.feedback_round_trip.or(self.round_trip).map(Span::seconds),
            pacer_queue_bytes: 0,
            pacer_queue_time: 0.0,
            bytes_in_flight: self.history.in_flight().get(),
            fraction_lost: self.lost,
            state: view.state,
        }
    }
}
