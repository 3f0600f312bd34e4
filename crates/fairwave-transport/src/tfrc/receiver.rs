//! The receiving half of TFRC: RFC 5348 §6.

use super::TfrcConfig;
use super::equation::loss_for;
use super::history::LossHistory;
use fairwave_endpoint::gaps::LossDetector;
use fairwave_endpoint::meter::RateMeter;
use fairwave_endpoint::parts::Assembly;
use fairwave_endpoint::serial::{ReplayWindow, unwrap};
use fairwave_endpoint::sizes::narrow;
use fairwave_endpoint::{Delivery, FlowContext, Output, Receiver};
use fairwave_network::packet::{Body, Ecn, Packet};
use fairwave_units::config::ConfigError;
use fairwave_units::registry::Checked;
use fairwave_units::units::{Instant, Rate, Span};

/// The receiving half.
#[derive(Clone, Debug)]
pub struct TfrcReceiver {
    context: FlowContext,
    feedback_wire: u16,
    seen: ReplayWindow,
    assembly: Assembly,
    detector: LossDetector,
    history: LossHistory,
    config: TfrcConfig,
    meter: RateMeter,
    /// s: the mean payload received.
    segment: f64,
    /// R_m: the sender's round-trip time from the latest packet; zero while unknown.
    round_trip: Span,
    /// Sending time and arrival time of the latest packet.
    newest: Option<(Instant, Instant)>,
    highest_rate: Rate,
    /// When the feedback timer expires, or when it expired if no packet had arrived by then.
    feedback: Option<Instant>,
    fresh: bool,
}

impl TfrcReceiver {
    /// Creates a receiver.
    ///
    /// # Errors
    /// If [`TfrcConfig::check`] fails.
    pub fn new(context: FlowContext, config: &TfrcConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let law = config.details();
        Ok(TfrcReceiver {
            context,
            feedback_wire: narrow(config.feedback),
            seen: ReplayWindow::default(),
            assembly: Assembly::default(),
            detector: LossDetector::new(law.later_arrivals),
            history: LossHistory::new(config.history_discounting, law.least_discount)
                .with_short_intervals(config.small_packets),
            config: config.clone(),
            meter: RateMeter::default(),
            segment: 0.0,
            round_trip: Span::ZERO,
            newest: None,
            highest_rate: Rate::default(),
            feedback: None,
            fresh: false,
        })
    }

    /// Loss events so far.
    pub fn loss_events(&self) -> u64 {
        self.history.events()
    }

    /// p, a fraction; 0 before the first loss.
    pub fn loss_event_rate(&self) -> f64 {
        self.history.loss_event_rate(self.seen.highest().unwrap_or(0))
    }

    /// Adds a packet. Returns true if a new loss event began.
    fn take_in(&mut self, now: Instant, sequence: u64, payload: u16) -> bool {
        let size = f64::from(payload.max(1));
        self.segment = if self.segment == 0.0 { size } else { self.segment + (size - self.segment) / 16.0 };
        self.meter.on_arrival(now, payload);
        self.highest_rate = self.highest_rate.max(self.meter.rate(now, self.round_trip));
        let Some(gap) = self.detector.on_arrival(sequence, now) else { return false };
        let first = self.history.events() == 0;
        let begun = self.history.on_gap(gap, self.round_trip) > 0;
        if first && begun {
            self.history.set_first_interval(self.first_interval());
        }
        begun
    }

    /// §6.3.1: the interval that corresponds to the highest rate so far, at least half a packet per round-trip time.
    fn first_interval(&self) -> f64 {
        let round_trip = self.round_trip.seconds();
        if round_trip <= 0.0 {
            return 1.0;
        }
        let reached = self.highest_rate.bits_per_second() as f64 / 8.0;
        let rate = reached.max(0.5 * self.segment / round_trip) / self.config.payload_part(self.segment);
        1.0 / loss_for(rate, self.config.equation_segment(self.segment), round_trip)
    }

    fn report(&mut self, now: Instant, out: &mut Output) {
        let Some((echo, arrived)) = self.newest else { return };
        let body = Body::TfrcFeedback {
            echo,
            delay: now - arrived,
            // X_recv: the receive rate over the last round-trip time (§6.2).
            receive_rate: self.meter.rate(now, self.round_trip),
            loss_event_rate: self.loss_event_rate(),
        };
        let FlowContext { flow, class, dscp, .. } = self.context;
        out.send(Packet {
            flow,
            wire: self.feedback_wire,
            class,
            dscp,
            feedback: true,
            ecn: Ecn::NotEct,
            layer: 0,
            body,
        });
        self.fresh = false;
        self.feedback = (self.round_trip > Span::ZERO).then(|| now + self.round_trip);
    }

    /// Sets the timer to its next expiry after now. It advances by round-trip times while no packet arrives (§6.2).
    fn resume_timer(&mut self, now: Instant) {
        let due = self.feedback.unwrap_or(now + self.round_trip);
        let period = self.round_trip.nanos().max(1);
        let missed = (now - due).nanos().div_ceil(period);
        self.feedback = Some(due + self.round_trip * missed);
    }
}

impl Receiver for TfrcReceiver {
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        let Body::TfrcData { payload, parts, sequence, unit, sent, created, round_trip, .. } = packet.body else {
            return;
        };
        let sequence = unwrap(self.seen.highest().unwrap_or(0), sequence);
        if !self.seen.is_new(sequence) {
            return;
        }
        let complete = self.assembly.completes(unit, parts);
        out.deliveries.push(Delivery { unit, payload: u32::from(payload), created, layer: packet.layer, complete });
        if self.newest.is_none_or(|(newest, _)| sent >= newest) {
            self.newest = Some((sent, now));
            if round_trip > Span::ZERO {
                self.round_trip = round_trip;
            }
        }
        let new_event = self.take_in(now, sequence, payload);
        if !self.fresh && self.round_trip > Span::ZERO {
            self.resume_timer(now);
        }
        self.fresh = true;
        if new_event || self.round_trip == Span::ZERO {
            self.report(now, out);
        }
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        if self.fresh && self.feedback.is_some_and(|due| due <= now) {
            self.report(now, out);
        }
    }

    fn deadline(&self) -> Instant {
        if self.fresh { self.feedback.unwrap_or(Instant::NEVER) } else { Instant::NEVER }
    }

    fn is_reactive(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_6_2_the_timer_reports_nothing_if_nothing_has_arrived_since_the_last_report() {
        let at = |millis| Instant::ZERO + Span::from_millis(millis);
        let mut receiver =
            TfrcReceiver::new(FlowContext::default(), &TfrcConfig::default()).expect("a valid configuration");
        let arrive = |receiver: &mut TfrcReceiver, millis: u64, sequence: u32| {
            let body = Body::TfrcData {
                payload: 1000,
                part: 0,
                parts: 1,
                sequence,
                unit: sequence,
                sent: at(millis - 50),
                created: at(millis - 50),
                round_trip: Span::from_millis(100),
            };
            let FlowContext { flow, class, dscp, .. } = receiver.context;
            let packet = Packet { flow, wire: 1032, class, dscp, feedback: false, ecn: Ecn::NotEct, layer: 0, body };
            receiver.on_packet(at(millis), &packet, &mut Output::default());
        };
        let reports = |receiver: &mut TfrcReceiver, millis: u64| {
            let mut out = Output::default();
            receiver.on_timer(at(millis), &mut out);
            out.packets.len()
        };
        arrive(&mut receiver, 100, 0);
        assert_eq!(reports(&mut receiver, 200), 1, "a round trip later");
        assert_eq!(reports(&mut receiver, 300), 0, "nothing has arrived");
        arrive(&mut receiver, 310, 1);
        assert_eq!(reports(&mut receiver, 400), 1);
    }
}
