//! The parts that all transports share. A transport is a pair of endpoints: a [`Sender`] and a [`Receiver`]. Both are
//! state machines without clock or socket.
//!
//! The caller calls an endpoint with the current time and an event, and passes an [`Output`]. The endpoint writes
//! packets and deliveries to it. An endpoint never waits: it names the time at which it needs the next call
//! ([`Sender::deadline`]), and the caller calls [`Sender::on_timer`] at that time or later, never earlier. An endpoint
//! sets its timer again by writing a field.

pub mod gaps;
pub mod limited;
pub mod media;
pub mod meter;
pub mod parts;
#[cfg(feature = "testing")]
pub mod path_test;
pub mod policy;
pub mod preset;
pub mod serial;
pub mod sizes;
pub mod subscription;
pub mod wire;

use fairwave_media::traffic::{LayerRates, Unit};
use fairwave_network::dscp::Dscp;
use fairwave_network::packet::{CarriedUnit, Class, FlowId, Packet};
use fairwave_units::units::{Bytes, Instant, Span};
use limited::LimitedTimes;
use media::{MediaReceived, MediaSent};

/// A unit, or a part of it, that reached the receiving application.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Delivery {
    /// Number of the application unit; for bulk data, the segment.
    pub unit: u32,
    /// Payload bytes delivered now.
    pub payload: u32,
    /// When the sending application made the unit.
    pub created: Instant,
    /// Video layer (0 = base).
    pub layer: u8,
    /// True when with this the unit is complete.
    pub complete: bool,
}

/// What an endpoint must know of its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowContext {
    /// The flow; goes on every packet.
    pub flow: FlowId,
    /// Traffic class; goes on every packet.
    pub class: Class,
    /// Differentiated services code point; goes on every packet.
    pub dscp: Dscp,
    /// The application offers as much as the transport takes; it makes no units.
    pub bulk: bool,
    /// The rates of the video's layers ([`fairwave_media::traffic::TrafficConfig::layers`]), which the sender advertises before the
    /// flow begins; empty for everything else.
    pub layers: LayerRates,
}

/// What an endpoint wants done: packets for the network, units for the application above.
///
/// The driver hands in an empty one and drains it after the call; it keeps its memory.
#[derive(Default, Debug)]
pub struct Output {
    /// Packets to send now, in order.
    pub packets: Vec<Packet>,
    /// Units for the application, in order.
    pub deliveries: Vec<Delivery>,
    /// Number of units of this call that the transport's adaptation left out (layers above those that the receiver
    /// takes now). The application did not send them, so they count neither as sent nor as lost.
    pub skipped: u32,
    /// What a receiver tells besides.
    pub notices: Vec<Notice>,
}

/// What a receiver tells whoever drives it. Few receivers ever do.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Notice {
    /// Losses that it noticed, and what it took them for.
    Verdict(LossVerdict),
    /// The sender of another flow, at the same place, has something to send: call [`Sender::on_timer`] now.
    Wake(FlowId),
}

/// A run of lost packets as a receiver judged it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LossVerdict {
    /// The first lost packet: how many data packets the sender sent before it. Senders whose receivers judge never send
    /// a packet twice, so this is also its place in the flow.
    pub first: u64,
    /// Packets lost in a row.
    pub packets: u64,
    /// True for congestion, false for random loss.
    pub congestion: bool,
    /// True when a loss event begins with it; later losses of an event share its verdict.
    pub begins_event: bool,
    /// The receiving rate at this moment, bits per second of payload.
    pub receive_rate: f64,
    /// Below this rate a loss is taken for congestion, bits per second of payload; none while there is no bound.
    pub bound: Option<f64>,
}

impl Output {
    /// The verdicts among the notices.
    pub fn verdicts(&self) -> impl Iterator<Item = LossVerdict> + '_ {
        self.notices.iter().filter_map(|notice| match notice {
            Notice::Verdict(verdict) => Some(*verdict),
            Notice::Wake(_) => None,
        })
    }

    /// Empties both lists and keeps their memory.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.deliveries.clear();
        self.skipped = 0;
        self.notices.clear();
    }
}

/// Why an endpoint has stopped to work: foreign code behind it has panicked, or does not let the time go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Whose code it is.
    pub stack: &'static str,
    /// When it happened.
    pub at: Instant,
    /// What happened.
    pub reason: String,
}

/// The sending half of a transport.
pub trait Sender {
    /// The flow begins. Bulk senders start to send; others may open a connection. Called again after [`Sender::on_stop`],
    /// the flow goes on where it stopped (bulk sources that turn on and off: [`fairwave_media::traffic::Source::next_activity`]).
    fn on_start(&mut self, now: Instant, out: &mut Output);
    /// The application made a unit.
    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output);
    /// A packet came back from the receiver.
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output);
    /// The deadline has passed.
    fn on_timer(&mut self, now: Instant, out: &mut Output);
    /// When the sender wants to be woken; [`Instant::NEVER`] if not at all.
    fn deadline(&self) -> Instant;
    /// The flow ends: nothing new is sent, what is in flight may be.
    fn on_stop(&mut self, now: Instant);
    /// From now on the flow's packets go over another network, with another address: estimates of the path begin anew. A sender that
    /// does not know of networks does nothing.
    fn on_new_network(&mut self, _now: Instant) {}
    /// What may be plotted: see [`SenderView`].
    fn view(&self) -> SenderView;
    /// The run ends at `now`: what [`Sender::media`] shows is to hold until then.
    fn settle_media(&mut self, _now: Instant) {}
    /// Statistics of a media session; none for a transport that carries none.
    fn media(&self) -> Option<&MediaSent> {
        None
    }
    /// Why it has stopped to work. A run asks in each of its parts, and ends with the answer.
    fn failure(&self) -> Option<&Failure> {
        None
    }
}

/// The receiving half of a transport.
pub trait Receiver {
    /// A packet arrived.
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output);
    /// The deadline has passed.
    fn on_timer(&mut self, now: Instant, out: &mut Output);
    /// When the receiver wants to be woken; [`Instant::NEVER`] if not at all.
    fn deadline(&self) -> Instant;
    /// True for a receiver without timers: it acts only when a packet arrives, so a simulator may call it as soon as
    /// the arrival time is known.
    fn is_reactive(&self) -> bool;
    /// True for a receiver that judges whether losses were congestion, and says so in [`Output::notices`].
    fn judges_losses(&self) -> bool {
        false
    }
    /// The application's unit in a data packet of this transport; none for a packet without one.
    fn unit_in(&self, packet: &Packet) -> Option<CarriedUnit> {
        packet.body.carried_unit()
    }
    /// What may be plotted; nothing, for a receiver that only receives.
    fn view(&self) -> ReceiverView {
        ReceiverView::default()
    }
    /// The run ends at `now`: what [`Receiver::media`] shows is to hold until then.
    fn settle_media(&mut self, _now: Instant) {}
    /// Statistics of a media session; none for a transport that carries none.
    fn media(&self) -> Option<&MediaReceived> {
        None
    }
    /// See [`Sender::failure`].
    fn failure(&self) -> Option<&Failure> {
        None
    }
}

/// What a receiver shows of itself to traces and reports; fields that its protocol does not have are `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ReceiverView {
    /// Measured receiving rate, bits per second of payload.
    pub receive_rate: Option<f64>,
    /// Below this receiving rate a loss is taken for congestion (DVRC: mean − n · deviation), bits per second of payload.
    pub bound: Option<f64>,
    /// The sending rate that the receiver asks for, bits per second of payload.
    pub rate: Option<f64>,
    /// Layers that the receiver asks for.
    pub layers: Option<u8>,
    /// Loss events that it took for congestion.
    pub congestion_events: u64,
    /// Loss events that it took for random.
    pub random_events: u64,
    /// Times that nothing arrived for so long that it acted.
    pub timeouts: u64,
}

/// What a sender or its controller estimates of the path: a quantity with its unit.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Estimate {
    /// Bandwidth of the path, bits per second of payload (Westwood, BBR).
    Bandwidth(f64),
    /// Rate of the last wave, bits per second of payload (TCP-Real).
    WaveRate(f64),
    /// Queueing delay, seconds (LEDBAT++).
    QueueingDelay(f64),
    /// Segments that stand in queues (Vegas' diff).
    QueuedSegments(f64),
    /// Mean share of marked segments, from 0 to 1 (DCTCP's and Prague's α).
    MarkedShare(f64),
    /// Factor of the last decrease, from 0 to 1 (TCP(α, γ, δ)'s γ).
    Decrease(f64),
    /// Loss event rate, from 0 to 1 (TFRC).
    LossEventRate(f64),
    /// Share of packets lost in the last report, from 0 to 1 (RTCP).
    LostShare(f64),
    /// Packets that the receiver misses (DVRC).
    MissingPackets(f64),
    /// What a law of a program's own says; the law knows the unit.
    Custom(f64),
}

impl Estimate {
    /// The number, in [`Self::unit`].
    pub fn value(self) -> f64 {
        match self {
            Estimate::Bandwidth(value)
            | Estimate::WaveRate(value)
            | Estimate::QueueingDelay(value)
            | Estimate::QueuedSegments(value)
            | Estimate::MarkedShare(value)
            | Estimate::Decrease(value)
            | Estimate::LossEventRate(value)
            | Estimate::LostShare(value)
            | Estimate::MissingPackets(value)
            | Estimate::Custom(value) => value,
        }
    }

    /// What the quantity is called.
    pub fn quantity(self) -> &'static str {
        match self {
            Estimate::Bandwidth(_) => "bandwidth",
            Estimate::WaveRate(_) => "rate of the last wave",
            Estimate::QueueingDelay(_) => "queueing delay",
            Estimate::QueuedSegments(_) => "segments in queues",
            Estimate::MarkedShare(_) => "marked share",
            Estimate::Decrease(_) => "factor of the last decrease",
            Estimate::LossEventRate(_) => "loss event rate",
            Estimate::LostShare(_) => "lost share",
            Estimate::MissingPackets(_) => "missing packets",
            Estimate::Custom(_) => "estimate",
        }
    }

    /// The unit; empty for a ratio, and for what only the law knows.
    pub fn unit(self) -> &'static str {
        match self {
            Estimate::Bandwidth(_) | Estimate::WaveRate(_) => "b/s",
            Estimate::QueueingDelay(_) => "s",
            Estimate::QueuedSegments(_) => "segments",
            Estimate::MissingPackets(_) => "packets",
            Estimate::MarkedShare(_)
            | Estimate::Decrease(_)
            | Estimate::LossEventRate(_)
            | Estimate::LostShare(_)
            | Estimate::Custom(_) => "",
        }
    }
}

/// What a sender shows of itself to traces and reports; fields that its protocol does not have are `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SenderView {
    /// Congestion window, segments.
    pub window: Option<f64>,
    /// Slow start threshold, segments.
    pub slow_start_threshold: Option<f64>,
    /// Smoothed round-trip time, seconds.
    pub smoothed_rtt: Option<f64>,
    /// Sending rate that the controller allows, bits per second of payload.
    pub rate: Option<f64>,
    /// What it estimates of its path; none where it estimates nothing, or nothing yet.
    pub estimate: Option<Estimate>,
    /// Video layers that are sent.
    pub layers: Option<u8>,
    /// What waits in the sender for the rate that the transport allows; nothing for one that does not tell (TCP).
    pub backlog: Option<Backlog>,
    /// Packets sent, retransmissions included.
    pub sent: u64,
    /// Packets sent again.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Window reductions on loss that was not a timeout.
    pub fast_retransmits: u64,
    /// How long what has held it back; nothing for a transport that nothing holds back.
    pub limited: Option<LimitedTimes>,
}

/// Units that wait in a sender, and how long others did; the default is that of a sender that holds nothing back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Units that wait, whole or in part.
    pub units: u64,
    /// Their payload that waits.
    pub payload: Bytes,
    /// When the oldest of them was made; none while nothing waits.
    pub since: Option<Instant>,
    /// The longest that any unit waited, from when it was made until its last packet was sent.
    pub longest: Span,
}

impl Backlog {
    /// The longest wait by `now`, those that still wait included.
    pub fn longest_by(&self, now: Instant) -> Span {
        self.longest.max(self.since.map_or(Span::ZERO, |since| now - since))
    }
}
