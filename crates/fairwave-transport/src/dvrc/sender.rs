//! The sending half of DVRC: it measures the round-trip time and follows the receiver's requests (paper 002 §3.1).

use super::timeout::TimeoutEstimator;
use super::wire::{CONTROL, Control, DATA_HEADER, Data, Header, body, micros};
use super::{Allocation, DvrcConfig, FlowContext, Pace};
use fairwave_endpoint::parts::{Part, SendQueue};
use fairwave_endpoint::serial::unwrap;
use fairwave_endpoint::sizes::narrow;
use fairwave_endpoint::subscription::Subscription;
use fairwave_endpoint::{Estimate, Output, Sender, SenderView};
use fairwave_media::traffic::{FrameType, Unit};
use fairwave_network::packet::{Body, Ecn, Packet};
use fairwave_units::config::ConfigError;
use fairwave_units::registry::Checked;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// The sending half.
#[derive(Clone, Debug)]
pub struct DvrcSender {
    config: DvrcConfig,
    context: FlowContext,
    running: bool,
    queue: SendQueue,
    estimator: TimeoutEstimator,
    /// R, as last requested by the receiver.
    rate: Rate,
    /// The lowest pace that meets the deadline of all waiting units; zero while none waits.
    urgency: Rate,
    /// K; meaningless for flows without layers.
    layers: u8,
    subscription: Subscription,
    /// Factor on the layers' rates until the next group of frames; 1 unless they are allocated dynamically.
    scale: f64,
    /// Time and payload of the latest packet.
    last: Option<(Instant, u16)>,
    /// Packets sent; also the next sequence number.
    sequence: u64,
    first_sequence: u64,
    /// The newest packet that the receiver has reported.
    newest: Option<u64>,
    /// Time at which missing feedback counts as silence.
    silence: Instant,
    /// Packets that the receiver misses, according to its last report.
    lost: u32,
    silences: u64,
    malformed: u64,
}

impl DvrcSender {
    /// Creates a sender that begins with the base layer.
    ///
    /// # Errors
    /// If [`DvrcConfig::check`] fails.
    pub fn new(context: FlowContext, config: &DvrcConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(DvrcSender {
            config: config.clone(),
            context,
            running: false,
            queue: SendQueue::new(narrow(config.segment)),
            estimator: TimeoutEstimator::new(&config.timeout),
            rate: config.range(&context).0,
            urgency: Rate::default(),
            layers: 1,
            subscription: Subscription::default(),
            scale: 1.0,
            last: None,
            sequence: 0,
            first_sequence: 0,
            newest: None,
            silence: Instant::NEVER,
            lost: 0,
            silences: 0,
            malformed: 0,
        })
    }

    /// Packets that were not DVRC packets, or contained impossible values.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// Sets the first sequence number, for tests of the wrap.
    #[cfg(test)]
    pub(super) fn start_at_sequence(&mut self, sequence: u64) {
        self.sequence = sequence;
        self.first_sequence = sequence;
    }

    fn is_layered(&self) -> bool {
        self.context.layers.count() > 0
    }

    fn has_data(&self) -> bool {
        self.running && (self.context.bulk || !self.queue.is_empty())
    }

    fn pace(&self) -> Rate {
        let sent = match self.config.pace {
            Pace::Rate => self.rate,
            _ if !self.is_layered() => self.rate,
            Pace::Layers => self.sent_rate(),
            Pace::None => Rate::from_bits_per_second(u64::MAX),
        };
        sent.max(self.urgency)
    }

    /// c_K of the current layers.
    fn sent_rate(&self) -> Rate {
        if self.config.allocation == Allocation::Fine {
            return self.context.layers.total().map_or(self.rate, |total| total.min(self.rate));
        }
        let place = usize::from(self.layers.max(1)) - 1;
        let rate = self.context.layers.cumulative().get(place).copied().unwrap_or(self.rate);
        Rate::from_bits_per_second((rate.bits_per_second() as f64 * self.scale) as u64)
    }

    /// At the start of a group of frames, chooses the layers' rates. Then computes the number of layers that R
    /// carries.
    fn allocate(&mut self, unit: &Unit) {
        let (Some(base), Some(total)) = (self.context.layers.base(), self.context.layers.total()) else { return };
        let bits = |rate: Rate| rate.bits_per_second() as f64;
        if unit.layer == 0 && matches!(unit.frame_type, FrameType::I | FrameType::None) {
            self.scale = (bits(self.rate) / bits(total)).clamp(bits(base) / bits(total), 1.0);
        }
        // Rounding R to whole bits must not cost a layer.
        let carried = Rate::from_bits_per_second(((bits(self.rate) + 1.0) / self.scale) as u64);
        self.layers = self.context.layers.carried_by(carried).max(1);
    }

    /// Computes the part of a unit that fits R: all of the base layer, a part of the layer that only partly fits,
    /// nothing above.
    fn cut(&mut self, unit: &Unit) {
        let (layers, bits) = (&self.context.layers, |rate: Rate| rate.bits_per_second() as f64);
        let rates = layers.cumulative();
        if layers.are_versions() || rates.is_empty() {
            (self.layers, self.scale) = (layers.carried_by(self.rate).max(1), 1.0);
            return;
        }
        let reached = 1 + rates.iter().take(rates.len() - 1).filter(|rate| **rate < self.rate).count();
        self.layers = reached as u8;
        let place = usize::from(unit.layer).min(rates.len() - 1);
        let below = if place == 0 { 0.0 } else { bits(rates[place - 1]) };
        let part = (bits(self.rate) - below) / (bits(rates[place]) - below);
        self.scale = if place == 0 { 1.0 } else { part.clamp(0.0, 1.0) };
    }

    /// Adds a unit that must leave within `most-delay`. The pace is set here and kept until no unit waits. If the
    /// pace were the remaining data over the whole of `most-delay`, it would fall with the queue. The last packet
    /// would then always be late.
    fn take_in(&mut self, now: Instant, unit: Unit) {
        if self.queue.is_empty() {
            self.urgency = Rate::default();
        }
        self.queue.push(unit);
        let waiting = self.queue.bytes();
        let mut needed = Bytes::new(waiting).rate_over(self.config.most_delay);
        // At this pace, the previous packet delays the first of the waiting packets by its transmission time.
        if let Some((time, payload)) = self.last {
            let with_last = Bytes::new(waiting + u64::from(payload));
            needed = needed.max(with_last.rate_over(self.config.most_delay + (now - time)));
        }
        // Rates are whole bits per second. Adding one prevents rounding down from making the unit late.
        let needed = Rate::from_bits_per_second(needed.bits_per_second().saturating_add(1));
        self.urgency = self.urgency.max(needed);
    }

    fn next_send(&self) -> Instant {
        self.last.map_or(Instant::ZERO, |(time, payload)| time + self.pace().time_for(Bytes::new(u64::from(payload))))
    }

    fn send_what_is_due(&mut self, now: Instant, out: &mut Output) {
        while self.has_data() && self.next_send() <= now {
            let Some(part) = self.next_part(now) else { return };
            self.last = Some((now, part.payload));
            self.send(now, part, out);
        }
    }

    fn next_part(&mut self, now: Instant) -> Option<Part> {
        if !self.context.bulk {
            return self.queue.pop(now);
        }
        let (payload, unit) = (narrow(self.config.segment), self.sequence as u32);
        Some(Part { unit, part: 0, parts: 1, payload, created: now, layer: 0, frame_type: FrameType::None })
    }

    fn send(&mut self, now: Instant, part: Part, out: &mut Output) {
        let header = Data {
            frame_type: part.frame_type,
            layer: part.layer,
            length: part.payload,
            part: part.part,
            parts: part.parts,
            unit: part.unit,
            sequence: self.sequence as u32,
            timestamp: clock(now),
            round_trip: self.estimator.round_trip().map_or(0, micros),
            timeout: self.estimator.timeout().map_or(0, micros),
        };
        out.send(Packet {
            flow: self.context.flow,
            wire: narrow(self.config.lower_headers).saturating_add(DATA_HEADER as u16).saturating_add(part.payload),
            class: self.context.class,
            dscp: self.context.dscp,
            feedback: false,
            ecn: Ecn::NotEct,
            layer: part.layer,
            body: body(header.encode(), part.created),
        });
        self.sequence += 1;
        if self.silence == Instant::NEVER {
            self.silence = now + self.config.silence;
        }
    }

    fn on_control(&mut self, now: Instant, control: Control) {
        let sequence = unwrap(self.newest.unwrap_or(self.first_sequence), control.sequence);
        if sequence < self.first_sequence || sequence >= self.sequence {
            self.malformed += 1; // about a packet that was never sent
            return;
        }
        if self.newest.is_some_and(|newest| sequence < newest) {
            return;
        }
        self.newest = Some(sequence);
        // Armed again when the next packet is sent: an idle flow gets no feedback.
        self.silence = Instant::NEVER;
        self.lost = control.lost;
        if !control.timeout {
            let sample = clock(now).wrapping_sub(control.timestamp);
            if sample < 1 << 31 {
                self.estimator.on_sample(Span::from_micros(u64::from(sample)));
            }
        }
        let (least, most) = self.config.range(&self.context);
        self.rate = Rate::from_bits_per_second(u64::from(control.rate)).clamp(least, most);
        if self.config.allocation == Allocation::Fixed {
            self.layers = control.layers.clamp(1, self.context.layers.count().max(1));
        }
    }

    /// Handles missing feedback: sends only the base layer until feedback arrives.
    fn on_silence(&mut self) {
        self.silences += 1;
        self.layers = 1;
        self.rate = self.config.range(&self.context).0;
        self.silence = Instant::NEVER;
    }
}

/// The sender's clock on the wire: microseconds modulo 2³², so it wraps every 71.6 minutes.
fn clock(now: Instant) -> u32 {
    (now.nanos() / 1000) as u32
}

impl Sender for DvrcSender {
    fn on_start(&mut self, now: Instant, out: &mut Output) {
        self.running = true;
        self.silence = Instant::NEVER;
        self.send_what_is_due(now, out);
    }

    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output) {
        if !self.running {
            return;
        }
        match self.config.allocation {
            Allocation::Fixed => {}
            Allocation::Group => self.allocate(&unit),
            Allocation::Fine => self.cut(&unit),
        }
        if !self.subscription.takes(&self.context.layers, self.layers, &unit) {
            out.skipped += 1;
            return;
        }
        let payload = (f64::from(unit.payload) * self.scale) as u32;
        self.take_in(now, Unit { payload: payload.max(unit.payload.min(1)), ..unit });
        self.send_what_is_due(now, out);
    }

    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        let Body::Opaque { header, .. } = packet.body else { return };
        match Header::decode(&header[..CONTROL]) {
            Ok(Header::Control(control)) => self.on_control(now, control),
            _ => self.malformed += 1,
        }
        self.send_what_is_due(now, out);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        if self.running && now >= self.silence {
            self.on_silence();
        }
        self.send_what_is_due(now, out);
    }

    fn deadline(&self) -> Instant {
        if !self.running {
            return Instant::NEVER;
        }
        let send = if self.has_data() { self.next_send() } else { Instant::NEVER };
        send.min(self.silence)
    }

    fn on_stop(&mut self, _now: Instant) {
        self.running = false;
        self.queue.clear();
    }

    fn view(&self) -> SenderView {
        SenderView {
            smoothed_rtt: self.estimator.round_trip().map(Span::seconds),
            rate: Some(self.rate.bits_per_second() as f64),
            estimate: Some(Estimate::MissingPackets(f64::from(self.lost))),
            layers: self.is_layered().then_some(self.layers),
            backlog: Some(self.queue.backlog()),
            sent: self.sequence - self.first_sequence,
            timeouts: self.silences,
            ..SenderView::default()
        }
    }
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
