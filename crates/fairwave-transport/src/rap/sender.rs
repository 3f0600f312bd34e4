//! The sending half of RAP: a gap between packets, lengthened on loss and shortened once per round trip.

use std::collections::VecDeque;

use super::RapConfig;
use crate::Properties;
use fairwave_endpoint::limited::{Limit, LimitedTimes};
use fairwave_endpoint::parts::{Part, SendQueue};
use fairwave_endpoint::serial::unwrap;
use fairwave_endpoint::sizes::narrow;
use fairwave_endpoint::{FlowContext, Output, Sender, SenderView};
use fairwave_media::traffic::{FrameType, Unit};
use fairwave_network::packet::{Body, Ecn, Packet};
use fairwave_tcp::control::gamma::gamma;
use fairwave_units::config::ConfigError;
use fairwave_units::registry::Checked;
use fairwave_units::units::{Instant, Span};

/// Gap and smoothed round trip before the first acknowledgement, seconds (ns-2.35: `ipg_`, `srtt_`).
const FIRST: f64 = 2.0;
/// Weight of the newest sample in the round trip and its deviation (`delta_`).
const DELTA: f64 = 0.5;
/// The timeout is μ round trips and φ deviations (`mu_`, `phi_`).
const MU: f64 = 1.2;
const PHI: f64 = 4.0;
/// Weights of the newest sample in the short-term and long-term mean (`kfrtt_`, `kxrtt_`).
const SHORT: f64 = 0.9;
const LONG: f64 = 0.01;
/// Number of later deliveries that imply a loss.
const LATER: usize = 3;
/// The longest gap between packets, seconds.
const LONGEST_GAP: f64 = 64.0;
/// Above this number of packets in flight, the oldest are discarded; they would time out anyway.
const MOST_UNDER_WAY: usize = 1 << 16;

/// A packet in flight, or a delivered packet behind one that is still in flight.
#[derive(Clone, Copy, Debug)]
struct PacketInFlight {
    sent: Instant,
    delivered: bool,
}

/// Means of the round trip, seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct RoundTrip {
    pub smoothed: f64,
    pub deviation: f64,
    pub short: f64,
    pub long: f64,
}

impl RoundTrip {
    pub(super) fn with_sample(known: Option<RoundTrip>, sample: f64) -> RoundTrip {
        let Some(old) = known else {
            return RoundTrip { smoothed: sample, deviation: 0.0, short: sample, long: sample };
        };
        let error = sample - old.smoothed;
        RoundTrip {
            smoothed: old.smoothed + DELTA * error,
            deviation: old.deviation + DELTA * (error.abs() - old.deviation),
            short: old.short + SHORT * (sample - old.short),
            long: old.long + LONG * (sample - old.long),
        }
    }

    fn timeout(&self) -> f64 {
        MU * self.smoothed + PHI * self.deviation
    }
}

/// State for the γ rule.
#[derive(Clone, Copy, Debug)]
struct QueueWatch {
    /// Th_upper.
    upper: f64,
    least: Span,
    most: Span,
    /// When a detected decrease takes effect.
    due: Instant,
    /// No decrease is detected before this packet is acknowledged.
    rest: u64,
}

impl QueueWatch {
    /// Adds a packet's round-trip sample: Eq. (15).
    fn on_sample(&mut self, now: Instant, number: u64, sample: Span) {
        (self.least, self.most) = (self.least.min(sample), self.most.max(sample));
        let (queue, room) = (sample.saturating_sub(self.least), self.most.saturating_sub(self.least));
        let reached = room > Span::ZERO && queue.seconds() >= self.upper * room.seconds();
        if reached && self.due == Instant::NEVER && number > self.rest {
            self.due = now + sample;
        }
    }

    /// Returns γ if a decrease is due. `next` is the number of the next packet.
    fn take(&mut self, now: Instant, next: u64) -> Option<f64> {
        if now < self.due {
            return None;
        }
        self.overtaken(next);
        Some(gamma(self.least, self.most, self.upper))
    }

    /// Cancels the due decrease.
    fn overtaken(&mut self, next: u64) {
        (self.due, self.rest) = (Instant::NEVER, next);
    }
}

/// The sending half.
#[derive(Clone, Debug)]
pub struct RapSender {
    config: RapConfig,
    context: FlowContext,
    running: bool,
    queue: SendQueue,
    /// IPG, seconds.
    gap: f64,
    round_trip: Option<RoundTrip>,
    /// When the latest packet was sent.
    last: Option<Instant>,
    /// When the rate may next rise.
    step: Instant,
    /// A loss event occurred in this step.
    lost_in_step: bool,
    /// The application left some of the rate unused in this step.
    unused_in_step: bool,
    /// Number of the oldest packet in `under_way`.
    oldest: u64,
    under_way: VecDeque<PacketInFlight>,
    /// Number of delivered packets in `under_way`.
    delivered: usize,
    /// Losses of packets below this number belong to the latest loss event.
    cluster: u64,
    sequence: u64,
    sent: u64,
    loss_events: u64,
    timeouts: u64,
    held_back: LimitedTimes,
    watch: Option<QueueWatch>,
}

impl RapSender {
    /// Creates a sender. With bulk data it always has data to send; otherwise it sends the units that it receives.
    ///
    /// # Errors
    /// If [`RapConfig`] is out of range.
    pub fn new(context: FlowContext, config: &RapConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(RapSender {
            queue: SendQueue::new(narrow(config.packet(context.bulk).payload)),
            config: config.clone(),
            context,
            running: false,
            gap: FIRST,
            round_trip: None,
            last: None,
            step: Instant::NEVER,
            lost_in_step: false,
            unused_in_step: false,
            oldest: 0,
            under_way: VecDeque::new(),
            delivered: 0,
            cluster: 0,
            sequence: 0,
            sent: 0,
            loss_events: 0,
            timeouts: 0,
            held_back: LimitedTimes::default(),
            watch: config.gamma.map(|upper| QueueWatch {
                upper,
                least: Span::from_nanos(u64::MAX),
                most: Span::ZERO,
                due: Instant::NEVER,
                rest: 0,
            }),
        })
    }

    fn has_data(&self) -> bool {
        self.running && (self.context.bulk || !self.queue.is_empty())
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

    /// The gap between packets, with fine-grain adaptation if enabled.
    fn spacing(&self) -> Span {
        let stretched = match self.round_trip {
            Some(means) if self.config.fine_grain && means.long > 0.0 => self.gap * means.short / means.long,
            _ => self.gap,
        };
        Span::from_seconds(stretched.min(LONGEST_GAP))
    }

    fn next_send(&self) -> Instant {
        self.last.map_or(Instant::ZERO, |last| last + self.spacing())
    }

    fn smoothed(&self) -> f64 {
        self.round_trip.map_or(FIRST, |means| means.smoothed.max(1e-9))
    }

    /// Ends a step: the rate rises by a packet per round trip, unless a loss event occurred or the rate was not
    /// fully used.
    fn end_step(&mut self, now: Instant) {
        if now < self.step || self.round_trip.is_none() {
            return;
        }
        if !self.lost_in_step && !self.unused_in_step {
            self.gap = self.gap * self.smoothed() / (self.gap + self.smoothed());
        }
        (self.lost_in_step, self.unused_in_step) = (false, !self.has_data());
        self.step = now + Span::from_seconds(self.smoothed());
    }

    /// Handles a lost packet. Returns false if the loss belongs to the latest event's cluster.
    fn on_loss(&mut self, number: u64) -> bool {
        if number < self.cluster {
            return false;
        }
        self.cluster = self.sequence;
        self.gap = (self.gap / self.config.beta).min(LONGEST_GAP);
        self.lost_in_step = true;
        self.loss_events += 1;
        if let Some(watch) = &mut self.watch {
            watch.overtaken(self.sequence);
        }
        true
    }

    /// Removes the oldest packet from `under_way`. Returns true if it was not delivered.
    fn forget_oldest(&mut self) -> bool {
        let Some(oldest) = self.under_way.pop_front() else { return false };
        self.oldest += 1;
        self.delivered -= usize::from(oldest.delivered);
        !oldest.delivered
    }

    /// Removes packets whose fate is known: delivered, or followed by `LATER` deliveries.
    fn settle(&mut self) {
        while let Some(oldest) = self.under_way.front() {
            if !oldest.delivered && self.delivered < LATER {
                return;
            }
            let number = self.oldest;
            if self.forget_oldest() {
                self.on_loss(number);
            }
        }
    }

    /// Declares packets lost that are in flight for longer than the timeout. Called before a packet is sent.
    fn time_out(&mut self, now: Instant) {
        let Some(means) = self.round_trip else { return };
        let timeout = Span::from_seconds(means.timeout());
        while let Some(oldest) = self.under_way.front() {
            if !oldest.delivered && now - oldest.sent <= timeout {
                return;
            }
            let number = self.oldest;
            if self.forget_oldest() && self.on_loss(number) {
                self.timeouts += 1;
            }
        }
    }

    /// Marks a packet as delivered. The first time, returns its sending time.
    fn mark(&mut self, number: u64) -> Option<Instant> {
        let place = usize::try_from(number.checked_sub(self.oldest)?).ok()?;
        let packet = self.under_way.get_mut(place)?;
        if packet.delivered {
            return None;
        }
        packet.delivered = true;
        self.delivered += 1;
        Some(packet.sent)
    }

    fn on_ack(&mut self, now: Instant, current: u32, missing: Option<u32>, before: u32) {
        let number = unwrap(self.sequence, current);
        if number >= self.sequence {
            return;
        }
        let sent = self.mark(number);
        // All packets between the missing one and this one have arrived, and so has the one before the gap.
        let first = missing.map_or(0, |missing| unwrap(number, missing).saturating_add(1));
        for earlier in (first.max(self.oldest)..number).rev() {
            if self.mark(earlier).is_none() {
                break;
            }
        }
        if missing.is_some() {
            self.mark(unwrap(number, before));
        }
        if let Some(sent) = sent {
            let begins = self.round_trip.is_none();
            self.round_trip = Some(RoundTrip::with_sample(self.round_trip, (now - sent).seconds()));
            if let Some(watch) = &mut self.watch {
                watch.on_sample(now, number, now - sent);
            }
            if begins {
                self.gap = self.smoothed();
                self.step = now + Span::from_seconds(self.smoothed());
                self.unused_in_step = false;
            }
        }
        self.settle();
    }

    fn next_part(&mut self, now: Instant) -> Option<Part> {
        if !self.context.bulk {
            return self.queue.pop(now);
        }
        let payload = narrow(self.config.packet(true).payload);
        let (unit, created) = (self.sequence as u32, now);
        Some(Part { unit, part: 0, parts: 1, payload, created, layer: 0, frame_type: FrameType::None })
    }

    fn send_what_is_due(&mut self, now: Instant, out: &mut Output) {
        if let Some(factor) = self.watch.as_mut().and_then(|watch| watch.take(now, self.sequence)) {
            self.gap = (self.gap / factor).min(LONGEST_GAP);
        }
        self.end_step(now);
        while self.has_data() && self.next_send() <= now {
            let events = self.loss_events;
            self.time_out(now);
            if self.loss_events > events && self.next_send() > now {
                return;
            }
            let Some(part) = self.next_part(now) else { return };
            self.send(now, part, out);
        }
        if self.running && !self.has_data() {
            self.unused_in_step = true;
        }
    }

    fn send(&mut self, now: Instant, part: Part, out: &mut Output) {
        let Part { unit, part, parts, payload, created, layer, .. } = part;
        out.send(Packet {
            flow: self.context.flow,
            wire: narrow(self.config.header).saturating_add(payload),
            class: self.context.class,
            dscp: self.context.dscp,
            feedback: false,
            ecn: Ecn::NotEct,
            layer,
            body: Body::Datagram { payload, sequence: self.sequence as u32, unit, part, parts, created },
        });
        if self.under_way.len() >= MOST_UNDER_WAY {
            self.forget_oldest();
        }
        self.under_way.push_back(PacketInFlight { sent: now, delivered: false });
        self.sequence += 1;
        self.sent += 1;
        self.last = Some(now);
    }
}

impl Sender for RapSender {
    fn on_start(&mut self, now: Instant, out: &mut Output) {
        self.running = true;
        self.unused_in_step = true;
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
        let Body::RapAck { current, missing, before } = packet.body else { return };
        self.on_ack(now, current, missing, before);
        self.send_what_is_due(now, out);
        self.note_limit(now);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        self.send_what_is_due(now, out);
        self.note_limit(now);
    }

    fn deadline(&self) -> Instant {
        if self.has_data() { self.next_send().min(self.step) } else { Instant::NEVER }
    }

    fn on_stop(&mut self, now: Instant) {
        self.running = false;
        self.queue.clear();
        self.note_limit(now);
    }

    fn view(&self) -> SenderView {
        let payload = self.config.packet(self.context.bulk).payload;
        SenderView {
            smoothed_rtt: self.round_trip.map(|means| means.smoothed),
            rate: Some(8.0 * payload.get() as f64 / self.gap),
            backlog: Some(self.queue.backlog()),
            sent: self.sent,
            timeouts: self.timeouts,
            fast_retransmits: self.loss_events - self.timeouts,
            limited: Some(self.held_back),
            ..SenderView::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn watch() -> QueueWatch {
        let mut watch = QueueWatch {
            upper: 0.5,
            least: Span::from_nanos(u64::MAX),
            most: Span::ZERO,
            due: Instant::NEVER,
            rest: 0,
        };
        // Earlier round trips were between 100 and 200 ms.
        watch.on_sample(ms(0), 0, Span::from_millis(100));
        watch.on_sample(ms(0), 0, Span::from_millis(200));
        watch
    }

    #[test]
    fn eq_15_and_16_half_of_the_largest_queueing_delay_lowers_the_rate_by_gamma_a_round_trip_later() {
        let mut watch = watch();
        watch.on_sample(ms(1000), 7, Span::from_millis(149));
        assert_eq!(watch.due, Instant::NEVER);
        watch.on_sample(ms(1000), 8, Span::from_millis(150));
        assert_eq!(watch.due, ms(1150));
        watch.on_sample(ms(1020), 9, Span::from_millis(150));
        assert_eq!(watch.due, ms(1150), "a decrease that is due is not put off");
        assert_eq!(watch.take(ms(1149), 20), None);
        let factor = watch.take(ms(1150), 20).expect("due");
        assert!((factor - 2.0 / 3.0).abs() < 1e-12, "min / (0.5 max + 0.5 min): {factor}");
        assert_eq!(watch.take(ms(2000), 20), None, "once");
    }

    #[test]
    fn a_loss_event_takes_the_place_of_a_decrease_that_is_due() {
        let config = RapConfig { gamma: Some(0.5), ..RapConfig::default() };
        let mut sender = RapSender::new(FlowContext::default(), &config).expect("a valid configuration");
        sender.watch = Some(QueueWatch { due: ms(1150), ..watch() });
        sender.sequence = 30;
        assert!(sender.on_loss(20));
        let watch = sender.watch.as_ref().expect("with gamma");
        assert_eq!((watch.due, watch.rest), (Instant::NEVER, 30));
    }

    #[test]
    fn packets_sent_before_a_decrease_or_a_loss_detect_nothing() {
        let mut watch = watch();
        watch.overtaken(20);
        watch.on_sample(ms(1000), 20, Span::from_millis(190));
        assert_eq!(watch.due, Instant::NEVER);
        watch.on_sample(ms(1000), 21, Span::from_millis(190));
        assert_eq!(watch.due, ms(1190));
    }
}
