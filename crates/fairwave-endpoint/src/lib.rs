#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! The caller calls an endpoint with the current time and an event, and passes an [`Output`]. The endpoint writes
//! packets and deliveries to it. An endpoint never waits: it states the time of the next call that it needs
//! ([`Sender::deadline`]). The caller calls [`Sender::on_timer`] at that time or later, never earlier. An endpoint
//! sets its timer again by writing a field.

pub mod gaps;
pub mod limited;
pub mod media;
pub mod meter;
pub mod parts;
pub mod policy;
pub mod preset;
pub mod serial;
pub mod sizes;
pub mod subscription;
#[cfg(feature = "testing")]
pub mod test_path;
pub mod wire;

use std::panic::Location;

use fairwave_media::traffic::{LayerRates, Unit};
use fairwave_network::dscp::Dscp;
use fairwave_network::packet::{CarriedUnit, Class, FlowId, Packet};
use fairwave_units::units::{Bytes, Instant, Span};
use limited::LimitedTimes;
use media::{MediaReceived, MediaSent};

/// A unit, or a part of a unit, that reached the receiving application.
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
    /// True if this delivery completes the unit.
    pub complete: bool,
}

/// Properties of a flow that its endpoints need.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowContext {
    /// The flow's number; every packet carries it.
    pub flow: FlowId,
    /// Traffic class; every packet carries it.
    pub class: Class,
    /// Differentiated services code point; every packet carries it.
    pub dscp: Dscp,
    /// The application offers as much data as the transport accepts. It makes no units.
    pub bulk: bool,
    /// The rates of the video's layers ([`fairwave_media::traffic::TrafficConfig::layers`]). The sender advertises
    /// them before the flow begins. Empty for other traffic.
    pub layers: LayerRates,
}

/// Output of an endpoint: packets for the network and units for the application.
///
/// The driver passes an empty `Output` and drains it after the call. The buffers keep their memory.
#[derive(Default, Debug)]
pub struct Output {
    /// Packets to send now, in order. Endpoints add them by [`send`](Self::send).
    pub packets: Vec<Packet>,
    /// The line of the endpoint that added the latest packet.
    pub made: Option<&'static Location<'static>>,
    /// Units for the application, in order.
    pub deliveries: Vec<Delivery>,
    /// Number of units of this call that the transport's adaptation left out (layers above those that the receiver
    /// currently accepts). The application did not send them, so they count neither as sent nor as lost.
    pub skipped: u32,
    /// Other notices of a receiver.
    pub notices: Vec<Notice>,
}

impl Output {
    /// Adds a packet to send now, and notes the line that did so.
    #[inline]
    #[track_caller]
    pub fn send(&mut self, packet: Packet) {
        self.made = Some(Location::caller());
        self.packets.push(packet);
    }
}

/// A notice from a receiver to its driver. Few receivers send notices.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Notice {
    /// Losses that the receiver detected, and their assumed cause.
    Verdict(LossVerdict),
    /// The sender of another flow on the same host has something to send: call [`Sender::on_timer`] now.
    Wake(FlowId),
}

/// A run of lost packets, as classified by the receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LossVerdict {
    /// The first lost packet: the number of data packets that the sender sent before it. If the receiver
    /// classifies losses, the sender never sends a packet twice, so this is also the packet's position in the
    /// flow.
    pub first: u64,
    /// Number of consecutive lost packets.
    pub packets: u64,
    /// True for congestion, false for random loss.
    pub congestion: bool,
    /// True if this run begins a loss event. Later losses of an event share its verdict.
    pub begins_event: bool,
    /// The receiving rate at this time, bits per second of payload.
    pub receive_rate: f64,
    /// A loss below this receiving rate counts as congestion, bits per second of payload. `None` while there is no
    /// bound.
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

    /// Empties all lists and keeps their memory.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.deliveries.clear();
        self.skipped = 0;
        self.notices.clear();
    }
}

/// The reason why an endpoint stopped working: foreign code panicked, or time does not advance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The stack that failed.
    pub stack: &'static str,
    /// The time of the failure.
    pub at: Instant,
    /// The cause.
    pub reason: String,
}

/// The sending half of a transport.
pub trait Sender {
    /// Starts the flow. Bulk senders start to send; others may open a connection. A call after [`Sender::on_stop`]
    /// resumes the flow (bulk sources that turn on and off: `next_activity` of
    /// [`fairwave_media::traffic::Source`]).
    fn on_start(&mut self, now: Instant, out: &mut Output);
    /// The application made a unit.
    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output);
    /// A packet came back from the receiver.
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output);
    /// Called at or after the deadline.
    fn on_timer(&mut self, now: Instant, out: &mut Output);
    /// The time of the next timer call; [`Instant::NEVER`] for none.
    fn deadline(&self) -> Instant;
    /// Stops the flow. The sender sends no new data, but may retransmit data in flight.
    fn on_stop(&mut self, now: Instant);
    /// The flow's packets now use another network, with another address, so estimates of the path start afresh. A
    /// sender that does not know of networks does nothing.
    fn on_new_network(&mut self, _now: Instant) {}
    /// State for plots and traces: see [`SenderView`].
    fn view(&self) -> SenderView;
    /// The run ends at `now`. Brings the statistics of [`Sender::media`] up to this time.
    fn settle_media(&mut self, _now: Instant) {}
    /// Statistics of a media session. `None` for transports without media sessions.
    fn media(&self) -> Option<&MediaSent> {
        None
    }
    /// The reason why the sender stopped working. A run checks it in each of its parts, and fails with this reason.
    fn failure(&self) -> Option<&Failure> {
        None
    }
}

/// The receiving half of a transport.
pub trait Receiver {
    /// A packet arrived.
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output);
    /// Called at or after the deadline.
    fn on_timer(&mut self, now: Instant, out: &mut Output);
    /// The time of the next timer call; [`Instant::NEVER`] for none.
    fn deadline(&self) -> Instant;
    /// True for a receiver without timers. It acts only on packets, so a simulator may call it as soon as the
    /// arrival time is known.
    fn is_reactive(&self) -> bool;
    /// True for a receiver that classifies losses and reports the verdicts in [`Output::notices`].
    fn judges_losses(&self) -> bool {
        false
    }
    /// The application's unit in a data packet of this transport. `None` for a packet without a unit.
    fn unit_in(&self, packet: &Packet) -> Option<CarriedUnit> {
        packet.body.carried_unit()
    }
    /// State for plots and traces. Empty for a receiver without such state.
    fn view(&self) -> ReceiverView {
        ReceiverView::default()
    }
    /// The run ends at `now`. Brings the statistics of [`Receiver::media`] up to this time.
    fn settle_media(&mut self, _now: Instant) {}
    /// Statistics of a media session. `None` for transports without media sessions.
    fn media(&self) -> Option<&MediaReceived> {
        None
    }
    /// See [`Sender::failure`].
    fn failure(&self) -> Option<&Failure> {
        None
    }
}

/// A receiver's state for traces and reports. Fields that its protocol does not have are `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ReceiverView {
    /// Measured receiving rate, bits per second of payload.
    pub receive_rate: Option<f64>,
    /// A loss below this receiving rate counts as congestion (DVRC: mean − n · deviation), bits per second of payload.
    pub bound: Option<f64>,
    /// The sending rate that the receiver requests, bits per second of payload.
    pub rate: Option<f64>,
    /// Number of layers that the receiver requests.
    pub layers: Option<u8>,
    /// Loss events classified as congestion.
    pub congestion_events: u64,
    /// Loss events classified as random.
    pub random_events: u64,
    /// Number of timeouts: the receiver acted because no packet arrived for too long.
    pub timeouts: u64,
}

/// An estimate of the path by a sender or its controller: a quantity with its unit.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Estimate {
    /// Bandwidth of the path, bits per second of payload (Westwood, BBR).
    Bandwidth(f64),
    /// Rate of the last wave, bits per second of payload (TCP-Real).
    WaveRate(f64),
    /// Queueing delay, seconds (LEDBAT++).
    QueueingDelay(f64),
    /// Queued segments (Vegas' diff).
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
    /// An estimate of a registered law; the law defines the unit.
    Custom(f64),
}

impl Estimate {
    /// The value, in [`Self::unit`].
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

    /// The name of the quantity.
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

    /// The unit. Empty for a ratio, and for custom estimates.
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

/// A sender's state for traces and reports. Fields that its protocol does not have are `None`.
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
    /// The sender's estimate of its path. `None` if it has no estimate (yet).
    pub estimate: Option<Estimate>,
    /// Number of video layers that the sender sends.
    pub layers: Option<u8>,
    /// Units that wait in the sender for the rate that the transport allows. `None` for transports that do not
    /// report it (TCP).
    pub backlog: Option<Backlog>,
    /// Packets sent, retransmissions included.
    pub sent: u64,
    /// Retransmitted packets.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Window reductions on loss that was not a timeout.
    pub fast_retransmits: u64,
    /// Time per limiting cause. `None` for transports without limits.
    pub limited: Option<LimitedTimes>,
}

/// Units that wait in a sender, and the longest wait. The default suits a sender without a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Waiting units, whole or in part.
    pub units: u64,
    /// Waiting payload.
    pub payload: Bytes,
    /// Creation time of the oldest waiting unit. `None` while no unit waits.
    pub since: Option<Instant>,
    /// The longest wait of any unit, from its creation until its last packet was sent.
    pub longest: Span,
}

impl Backlog {
    /// The longest wait until `now`, including units that still wait.
    pub fn longest_by(&self, now: Instant) -> Span {
        self.longest.max(self.since.map_or(Span::ZERO, |since| now - since))
    }
}
