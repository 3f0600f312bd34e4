//! The sending half of TFRC: RFC 5348 §4.

use super::equation::bytes_per_second;
use super::limits::{RateLimitedTimes, ReceiveRates};
use super::{LEAST_INTERVAL, PresetDetails, TfrcConfig};
use crate::Properties;
use fairwave_endpoint::limited::{Limit, LimitedTimes};
use fairwave_endpoint::parts::{Part, SendQueue};
use fairwave_endpoint::sizes::narrow;
use fairwave_endpoint::{Estimate, FlowContext, Output, Sender, SenderView};
use fairwave_media::traffic::{FrameType, Unit};
use fairwave_network::packet::{Body, Ecn, Packet};
use fairwave_units::config::ConfigError;
use fairwave_units::registry::Checked;
use fairwave_units::units::{Instant, Span};

/// Longest time between packets (§4.3: t_mbi), seconds.
const LONGEST_PAUSE: f64 = 64.0;
/// The no-feedback timer before the first report (§4.2).
const FIRST_NO_FEEDBACK: Span = Span::from_secs(2);

/// The sending half. Rates inside are bytes of payload per second.
#[derive(Clone, Debug)]
pub struct TfrcSender {
    config: TfrcConfig,
    law: PresetDetails,
    context: FlowContext,
    running: bool,
    queue: SendQueue,
    /// s: the mean payload of packets sent.
    segment: f64,
    /// X: the allowed sending rate.
    rate: f64,
    /// X_Bps: the rate by the throughput equation.
    equation_rate: f64,
    receive_rates: ReceiveRates,
    limited: RateLimitedTimes,
    loss_event_rate: f64,
    /// R, seconds; `None` before the first report.
    round_trip: Option<f64>,
    /// R_sqmean and the latest root (§4.5).
    roots: (f64, f64),
    /// True after the loss event that ended slow start.
    in_avoidance: bool,
    /// When the equation last set the rate.
    changed: Instant,
    /// tld: when the rate was last doubled.
    doubled: Instant,
    no_feedback: Instant,
    /// No packet has been sent since the no-feedback timer was set.
    idle: bool,
    /// The latest packet's nominal sending time and payload.
    last: Option<(Instant, f64)>,
    newest_echo: Option<Instant>,
    sequence: u32,
    sent: u64,
    expirations: u64,
    held_back: LimitedTimes,
}

impl TfrcSender {
    /// Creates a sender. With bulk data it always has data to send; otherwise it sends the units that it receives.
    ///
    /// # Errors
    /// If [`TfrcConfig::check`] fails.
    pub fn new(context: FlowContext, config: &TfrcConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let segment = config.packet(context.bulk).payload;
        Ok(TfrcSender {
            law: config.details(),
            config: config.clone(),
            context,
            running: false,
            queue: SendQueue::new(narrow(segment)),
            segment: segment.get() as f64,
            rate: segment.get() as f64,
            equation_rate: f64::INFINITY,
            receive_rates: ReceiveRates::new(Instant::ZERO),
            limited: RateLimitedTimes::default(),
            loss_event_rate: 0.0,
            round_trip: None,
            roots: (0.0, 0.0),
            in_avoidance: false,
            changed: Instant::ZERO,
            doubled: Instant::ZERO,
            no_feedback: Instant::NEVER,
            idle: true,
            last: None,
            newest_echo: None,
            sequence: 0,
            sent: 0,
            expirations: 0,
            held_back: LimitedTimes::default(),
        })
    }

    /// Updates the limiting cause: the rate while there is data to send.
    fn note_limit(&mut self, now: Instant) {
        let by = match (self.running, self.has_data()) {
            (false, _) => Limit::Nothing,
            (true, true) => Limit::Congestion,
            (true, false) => Limit::Application,
        };
        self.held_back.change(now, by);
    }

    /// Sets the first sequence number, for tests of the wrap.
    #[cfg(test)]
    pub(super) fn start_at_sequence(&mut self, sequence: u32) {
        self.sequence = sequence;
    }

    fn has_data(&self) -> bool {
        self.running && (self.context.bulk || !self.queue.is_empty())
    }

    /// W_init / R (§4.2): infinite before the first round-trip time is known.
    fn initial_rate(&self) -> f64 {
        let window = (4.0 * self.segment).min((2.0 * self.segment).max(4380.0));
        self.round_trip.map_or(f64::INFINITY, |r| window / r)
    }

    /// s / t_mbi: one packet in 64 s.
    fn least_rate(&self) -> f64 {
        self.segment / LONGEST_PAUSE
    }

    /// X_inst: the rate that paces packets (§4.5).
    fn pacing_rate(&self) -> f64 {
        if !self.law.damps || self.roots.1 <= 0.0 {
            return self.rate;
        }
        (self.rate * self.roots.0 / self.roots.1).max(self.least_rate())
    }

    /// When the next packet may leave (§4.6).
    fn next_send(&self) -> Instant {
        let least = if self.config.small_packets { LEAST_INTERVAL } else { Span::ZERO };
        self.last
            .map_or(Instant::ZERO, |(nominal, size)| nominal + Span::from_seconds(size / self.pacing_rate()).max(least))
    }

    fn send_what_is_due(&mut self, now: Instant, out: &mut Output) {
        while self.has_data() {
            let due = self.next_send();
            if due > now {
                self.limited.rate(now);
                return;
            }
            let Some(part) = self.next_part(now) else { return };
            // The least interval applies between actual sending times, so small packets have no credit.
            let most = if self.config.small_packets { 0.0 } else { self.round_trip.unwrap_or(0.0) };
            let credit = Span::from_seconds(most);
            let earliest = Instant::from_nanos(now.nanos().saturating_sub(credit.nanos()));
            self.last = Some((due.max(earliest), f64::from(part.payload.max(1))));
            self.send(now, part, out);
        }
    }

    fn next_part(&mut self, now: Instant) -> Option<Part> {
        if !self.context.bulk {
            return self.queue.pop(now);
        }
        let payload = narrow(self.config.packet(self.context.bulk).payload);
        let (unit, created) = (self.sequence, now);
        Some(Part { unit, part: 0, parts: 1, payload, created, layer: 0, frame_type: FrameType::None })
    }

    fn send(&mut self, now: Instant, part: Part, out: &mut Output) {
        let size = f64::from(part.payload.max(1));
        self.segment = if self.sent == 0 { size } else { self.segment + (size - self.segment) / 16.0 };
        if self.sent == 0 {
            self.rate = self.segment;
        }
        out.send(Packet {
            flow: self.context.flow,
            wire: narrow(self.config.header).saturating_add(part.payload),
            class: self.context.class,
            dscp: self.context.dscp,
            feedback: false,
            ecn: Ecn::NotEct,
            layer: part.layer,
            body: Body::TfrcData {
                payload: part.payload,
                part: part.part,
                parts: part.parts,
                sequence: self.sequence,
                unit: part.unit,
                sent: now,
                created: part.created,
                round_trip: Span::from_seconds(self.round_trip.unwrap_or(0.0)),
            },
        });
        self.sequence = self.sequence.wrapping_add(1);
        self.sent += 1;
        self.idle = false;
        if self.no_feedback == Instant::NEVER {
            self.no_feedback = now + FIRST_NO_FEEDBACK;
        }
    }

    /// Sets X. A rate-limited sender does not catch up on earlier time.
    fn set_rate(&mut self, now: Instant, rate: f64) {
        self.rate = rate;
        if let Some((_, size)) = self.last
            && self.has_data()
            && self.next_send() < now
        {
            let interval = Span::from_seconds(size / self.pacing_rate());
            self.last = Some((Instant::from_nanos(now.nanos().saturating_sub(interval.nanos())), size));
        }
    }

    /// Step (4) of §4.3 for p > 0: the equation's rate within `limit`.
    fn rate_by_equation(&mut self, now: Instant, limit: f64) {
        let round_trip = self.round_trip.unwrap_or(LONGEST_PAUSE);
        let segment = self.config.equation_segment(self.segment);
        let part = self.config.payload_part(self.segment);
        self.equation_rate = part * bytes_per_second(segment, round_trip, self.loss_event_rate);
        // ns-2.35 (`increase_rate`): by a packet per round trip in each since the last change, two at the most.
        let rounds = ((now - self.changed).seconds() / round_trip).min(2.0);
        let slope = self.law.increase * rounds * self.segment / round_trip;
        let rise = if self.in_avoidance && slope.is_finite() { self.rate + slope } else { f64::INFINITY };
        self.in_avoidance = true;
        self.changed = now;
        self.set_rate(now, self.equation_rate.min(rise).min(limit).max(self.least_rate()));
    }

    fn on_feedback(&mut self, now: Instant, echo: Instant, delay: Span, receive_rate: f64, loss: f64) {
        let stale = self.newest_echo.is_some_and(|newest| echo < newest);
        if stale || echo > now || now - echo < delay || !loss.is_finite() || !receive_rate.is_finite() {
            return;
        }
        self.newest_echo = Some(echo);
        let sample = (now - echo).saturating_sub(delay).seconds().max(1e-9);
        let (first, memory) = (self.round_trip.is_none(), self.law.memory);
        let round_trip = self.round_trip.map_or(sample, |r| memory * r + (1.0 - memory) * sample);
        self.round_trip = Some(round_trip);
        let root = libm::sqrt(sample);
        self.roots = (if first { root } else { memory * self.roots.0 + (1.0 - memory) * root }, root);
        let by_data = self.limited.on_feedback(now, echo, Span::from_seconds(round_trip));
        let worse = loss > self.loss_event_rate;
        self.loss_event_rate = loss.clamp(0.0, 1.0);
        if first {
            self.receive_rates.replace(now, f64::INFINITY);
            self.doubled = now;
            self.set_rate(now, self.initial_rate());
            if self.loss_event_rate > 0.0 {
                self.rate_by_equation(now, f64::INFINITY);
            }
        } else {
            let limit = if by_data && worse {
                self.receive_rates.halve();
                self.receive_rates.maximize(now, 0.85 * receive_rate);
                self.receive_rates.max()
            } else if by_data {
                self.receive_rates.maximize(now, receive_rate);
                2.0 * self.receive_rates.max()
            } else {
                self.receive_rates.update(now, receive_rate, Span::from_seconds(round_trip));
                2.0 * self.receive_rates.max()
            };
            if self.loss_event_rate > 0.0 {
                self.rate_by_equation(now, limit);
            } else if now - self.doubled >= Span::from_seconds(round_trip) {
                self.set_rate(now, (2.0 * self.rate).min(limit).max(self.initial_rate()));
                self.doubled = now;
            }
        }
        self.arm_no_feedback(now);
    }

    /// Sets the no-feedback timer to max(4R, 2s/X) (§4.3 step 6), or to the preset's value.
    fn arm_no_feedback(&mut self, now: Instant) {
        let timeout = (self.law.patience * self.round_trip.unwrap_or(0.0)).max(2.0 * self.segment / self.rate);
        self.no_feedback = now + Span::from_seconds(timeout);
        self.idle = true;
    }

    /// §4.4: the no-feedback timer expired.
    fn on_no_feedback(&mut self, now: Instant) {
        let received = self.receive_rates.max();
        let recover = self.initial_rate();
        let lossless = self.loss_event_rate <= 0.0;
        let slow = if lossless { self.rate < 2.0 * recover } else { received < recover };
        if self.idle && slow {
            // The silence has no meaning: there was no data to report on, and the rate is low enough to start from.
        } else if lossless {
            self.expirations += 1;
            self.set_rate(now, (self.rate / 2.0).max(self.least_rate()));
        } else {
            self.expirations += 1;
            let bound = if self.equation_rate > 2.0 * received { received } else { self.equation_rate / 2.0 };
            let bound = bound.max(self.least_rate());
            self.receive_rates.replace(now, bound / 2.0);
            self.rate_by_equation(now, bound);
        }
        self.arm_no_feedback(now);
    }
}

impl Sender for TfrcSender {
    fn on_start(&mut self, now: Instant, out: &mut Output) {
        self.running = true;
        // Applies the no-feedback timer's expiries while the flow was off. They soon have no further effect.
        for _ in 0..64 {
            if self.no_feedback > now {
                break;
            }
            self.on_no_feedback(self.no_feedback);
        }
        if self.no_feedback <= now {
            self.arm_no_feedback(now);
        }
        self.send_what_is_due(now, out);
        self.note_limit(now);
    }

    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output) {
        if self.running {
            self.queue.push(unit);
            self.send_what_is_due(now, out);
            self.note_limit(now);
        }
    }

    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        let Body::TfrcFeedback { echo, delay, receive_rate, loss_event_rate } = packet.body else { return };
        self.on_feedback(now, echo, delay, receive_rate.bits_per_second() as f64 / 8.0, loss_event_rate);
        self.send_what_is_due(now, out);
        self.note_limit(now);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        if now >= self.no_feedback {
            self.on_no_feedback(now);
        }
        self.send_what_is_due(now, out);
        self.note_limit(now);
    }

    fn deadline(&self) -> Instant {
        if !self.running {
            return Instant::NEVER;
        }
        let send = if self.has_data() { self.next_send() } else { Instant::NEVER };
        send.min(self.no_feedback)
    }

    fn on_stop(&mut self, now: Instant) {
        self.running = false;
        self.queue.clear();
        self.note_limit(now);
    }

    fn view(&self) -> SenderView {
        SenderView {
            smoothed_rtt: self.round_trip,
            rate: Some(8.0 * self.rate),
            estimate: Some(Estimate::LossEventRate(self.loss_event_rate)),
            backlog: Some(self.queue.backlog()),
            sent: self.sent,
            timeouts: self.expirations,
            limited: Some(self.held_back),
            ..SenderView::default()
        }
    }
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
