//! The receiving half of DVRC: it detects and judges losses, and requests a rate and layers (paper 002 §3.1–3.3).

use super::aiamd::{Aiamd, Verdict};
use super::wire::{CONTROL, Control, Data, Header, body, clamp};
use super::{Answers, DvrcConfig, FlowContext, Measured, Reaction, Rise};
use fairwave_endpoint::gaps::{Gap, LossDetector};
use fairwave_endpoint::meter::RateMeter;
use fairwave_endpoint::parts::Assembly;
use fairwave_endpoint::serial::{ReplayWindow, unwrap};
use fairwave_endpoint::sizes::narrow;
use fairwave_endpoint::{Delivery, LossVerdict, Notice, Output, Receiver, ReceiverView};
use fairwave_network::packet::{Body, CarriedUnit, Ecn, Packet};
use fairwave_units::config::ConfigError;
use fairwave_units::registry::Checked;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Consecutive timeouts after which the flow counts as ended.
const MOST_TIMEOUTS: u32 = 10;

/// The receiving half.
#[derive(Clone, Debug)]
pub struct DvrcReceiver {
    config: DvrcConfig,
    context: FlowContext,
    policy: Aiamd,
    seen: ReplayWindow,
    detector: LossDetector,
    assembly: Assembly,
    meter: RateMeter,
    /// The receiving rate at the latest arrival.
    receiving: Rate,
    /// When the first packet arrived.
    since: Option<Instant>,
    /// Round-trip time reported by the sender; zero while unknown.
    round_trip: Span,
    timeout: Span,
    /// The newest packet's sequence number and timestamp.
    newest: Option<(u64, u32)>,
    /// The end of the current round trip; never while no packet arrives.
    round_end: Instant,
    /// A packet has arrived in this round trip; no loss occurred since its start.
    arrived: bool,
    lossless: bool,
    /// The time of the next timeout.
    silence_end: Instant,
    timeouts_in_a_row: u32,
    /// The newest packet before the last silence: packets missing after it were lost in the silence.
    silent_after: Option<u64>,
    /// The latest loss event, and its verdict.
    event: Option<(Instant, Verdict)>,
    /// Payload that has arrived since the latest loss event.
    epoch: u64,
    lost: u64,
    malformed: u64,
    congestion_events: u64,
    random_events: u64,
    timeouts: u64,
    /// Earliest time of the next answer, if the receiver does not answer every datagram.
    answer_from: Instant,
}

impl DvrcReceiver {
    /// Creates a receiver that begins at the base layer's rate.
    ///
    /// # Errors
    /// If [`DvrcConfig::check`] fails.
    pub fn new(context: FlowContext, config: &DvrcConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let (least, most) = config.range(&context);
        Ok(DvrcReceiver {
            policy: Aiamd::new(&config.aiamd, least, least, most)?,
            detector: LossDetector::new(usize::from(config.later_arrivals)),
            config: config.clone(),
            context,
            seen: ReplayWindow::default(),
            assembly: Assembly::default(),
            meter: RateMeter::default(),
            receiving: Rate::default(),
            since: None,
            round_trip: Span::ZERO,
            timeout: Span::ZERO,
            newest: None,
            round_end: Instant::NEVER,
            arrived: false,
            lossless: true,
            silence_end: Instant::NEVER,
            timeouts_in_a_row: 0,
            silent_after: None,
            event: None,
            epoch: 0,
            lost: 0,
            malformed: 0,
            congestion_events: 0,
            random_events: 0,
            timeouts: 0,
            answer_from: Instant::ZERO,
        })
    }

    /// Packets that were not DVRC data packets.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// The number of lost packets. A packet that arrives late is no longer lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The unit of both α of Eq. (11): one packet per round-trip time, or the configured rate.
    fn step(&self) -> Rate {
        self.config.aiamd.step(self.config.segment.rate_over(self.round_trip))
    }

    /// The receiving rate that judges a loss detected now.
    fn judged_by(&mut self, now: Instant) -> Rate {
        let began = self.event.map_or(self.since, |(time, _)| Some(time)).unwrap_or(now);
        match self.config.measure {
            Measured::Epoch if now > began => Bytes::new(self.epoch).rate_over(now - began),
            _ => self.measure(now),
        }
    }

    /// The receiving rate. For a young flow, since its first packet.
    fn measure(&mut self, now: Instant) -> Rate {
        let longest = self.config.measure_over.max(self.round_trip);
        let age = now - self.since.unwrap_or(now);
        let shortest = longest.nanos() / 4;
        self.meter.rate(now, longest.min(age.max(Span::from_nanos(shortest))))
    }

    /// Handles a loss, detected now at this receiving rate. The loss belongs to an event that began less than a
    /// round trip ago, or to the timeout in whose silence it happened. Otherwise it begins a new loss event.
    fn on_loss(&mut self, now: Instant, first: u64, packets: u64, receiving: Rate, out: &mut Output) {
        let bound = self.policy.bound();
        let in_silence = packets > 0 && self.silent_after.is_some_and(|newest| newest + 1 == first);
        let (verdict, begins_event) = match self.event {
            _ if in_silence => {
                self.lossless = false;
                (Verdict::Congestion, false)
            }
            Some((began, verdict)) if self.config.reaction == Reaction::RoundTrip && now - began < self.round_trip => {
                self.lossless = false;
                (verdict, false)
            }
            _ => {
                let verdict = self.policy.on_loss_event(receiving, self.step());
                self.event = Some((now, verdict));
                self.epoch = 0;
                self.begin_round(now);
                match verdict {
                    Verdict::Congestion => self.congestion_events += 1,
                    Verdict::Random => self.random_events += 1,
                }
                (verdict, true)
            }
        };
        out.notices.push(Notice::Verdict(LossVerdict {
            first,
            packets,
            congestion: verdict == Verdict::Congestion,
            begins_event,
            receive_rate: receiving.bits_per_second() as f64,
            bound,
        }));
    }

    fn begin_round(&mut self, now: Instant) {
        (self.arrived, self.lossless) = (false, true);
        self.round_end = if self.round_trip > Span::ZERO { now + self.round_trip } else { Instant::NEVER };
    }

    fn layers(&self) -> u8 {
        let layers = &self.context.layers;
        if layers.count() == 0 { 0 } else { layers.carried_by(self.policy.rate()).max(1) }
    }

    fn answer(&self, sequence: u32, timestamp: u32, timeout: bool, out: &mut Output) {
        let control = Control {
            timeout,
            layers: self.layers(),
            sequence,
            timestamp,
            rate: clamp(self.policy.rate()),
            lost: self.lost as u32,
        };
        let mut header = [0; 32];
        header[..CONTROL].copy_from_slice(&control.encode());
        out.send(Packet {
            flow: self.context.flow,
            wire: narrow(self.config.lower_headers).saturating_add(CONTROL as u16),
            class: self.context.class,
            dscp: self.context.dscp,
            feedback: true,
            ecn: Ecn::NotEct,
            layer: 0,
            body: body(header, Instant::ZERO),
        });
    }

    fn on_data(&mut self, now: Instant, data: Data, created: Instant, out: &mut Output) {
        let sequence = unwrap(self.seen.highest().unwrap_or(u64::from(data.sequence)), data.sequence);
        if !self.seen.is_new(sequence) {
            return;
        }
        self.since.get_or_insert(now);
        let is_newest = self.newest.is_none_or(|(newest, _)| sequence > newest);
        if is_newest {
            self.newest = Some((sequence, data.timestamp));
            self.round_trip = Span::from_micros(u64::from(data.round_trip));
            self.timeout = Span::from_micros(u64::from(data.timeout));
        } else {
            self.lost = self.lost.saturating_sub(u64::from(self.detector.gave_up(sequence)));
        }
        self.meter.on_arrival(now, data.length);
        self.epoch += u64::from(data.length);
        self.receiving = self.measure(now);
        let complete = self.assembly.completes(data.unit, data.parts);
        let (unit, payload, layer) = (data.unit, u32::from(data.length), data.layer);
        out.deliveries.push(Delivery { unit, payload, created, layer, complete });
        let events = self.congestion_events + self.random_events;
        if let Some(Gap { before, after }) = self.detector.on_arrival(sequence, now) {
            let packets = after.0 - before.0 - 1;
            self.lost += packets;
            let receiving = self.judged_by(now);
            self.on_loss(now, before.0 + 1, packets, receiving, out);
        } else if is_newest && self.config.rise == Rise::Packet && self.round_trip > Span::ZERO {
            let bytes = self.policy.rate().bits_per_second() as f64 / 8.0 * self.round_trip.seconds();
            let of_a_round = bytes / f64::from(data.length.max(1));
            self.policy.on_packet_without_loss(self.step(), of_a_round);
        }
        if self.round_end == Instant::NEVER {
            self.begin_round(now);
        }
        self.arrived = true;
        self.timeouts_in_a_row = 0;
        self.silence_end = if self.timeout > Span::ZERO { now + self.timeout } else { Instant::NEVER };
        let begins_event = self.congestion_events + self.random_events > events;
        if self.config.answers == Answers::Packet || begins_event || now >= self.answer_from {
            self.answer_from = now + self.round_trip;
            self.answer(data.sequence, data.timestamp, false, out);
        }
    }

    fn on_silence(&mut self, now: Instant, out: &mut Output) {
        let Some((newest, timestamp)) = self.newest else { return };
        self.timeouts += 1;
        self.timeouts_in_a_row += 1;
        self.silent_after = Some(newest);
        // No packet arrives, so the rate is zero even if packets arrived within the measuring interval.
        self.on_loss(now, newest + 1, 0, Rate::default(), out);
        self.silence_end = if self.timeouts_in_a_row < MOST_TIMEOUTS {
            now + self.timeout * (1 << self.timeouts_in_a_row)
        } else {
            Instant::NEVER
        };
        self.answer(newest as u32, timestamp, true, out);
    }
}

impl Receiver for DvrcReceiver {
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        let Body::Opaque { header, created, .. } = packet.body else { return };
        match Header::decode(&header) {
            Ok(Header::Data(data)) => self.on_data(now, data, created, out),
            _ => self.malformed += 1,
        }
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        if now >= self.round_end {
            let (arrived, lossless) = (self.arrived, self.lossless);
            if arrived && lossless && self.config.rise == Rise::RoundTrip {
                self.policy.on_round_without_loss(self.step());
            }
            self.round_end = Instant::NEVER;
            if arrived {
                self.begin_round(now);
            }
        }
        if now >= self.silence_end {
            self.on_silence(now, out);
        }
    }

    fn deadline(&self) -> Instant {
        self.round_end.min(self.silence_end)
    }

    fn is_reactive(&self) -> bool {
        false
    }

    fn judges_losses(&self) -> bool {
        true
    }

    fn unit_in(&self, packet: &Packet) -> Option<CarriedUnit> {
        let Body::Opaque { header, .. } = packet.body else { return None };
        match Header::decode(&header) {
            Ok(Header::Data(data)) => Some(CarriedUnit { unit: data.unit, is_complete: data.parts <= 1 }),
            _ => None,
        }
    }

    fn view(&self) -> ReceiverView {
        ReceiverView {
            receive_rate: Some(self.receiving.bits_per_second() as f64),
            bound: self.policy.bound(),
            rate: Some(self.policy.rate().bits_per_second() as f64),
            layers: (self.context.layers.count() > 0).then(|| self.layers()),
            congestion_events: self.congestion_events,
            random_events: self.random_events,
            timeouts: self.timeouts,
        }
    }
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
