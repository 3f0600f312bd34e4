//! Rate controllers: how much a sender of media may send.
//!
//! The sender tells its controller what it sends ([`RateController::on_sent`]) and what feedback says of it
//! ([`RateController::on_feedback`]). The controller answers with a [`Decision`]: a rate for the encoders, a rate for the
//! pacer, and for some controllers a window. A controller that probes for capacity asks for clusters of packets at a
//! higher rate ([`RateController::next_probe`]).
//!
//! All feedback is per packet: when each arrived by the receiver's clock, and its mark. Transport-wide congestion control
//! (draft-holmer-rmcat-transport-wide-cc-extensions-01) and RFC 8888 both carry that.
//!
//! A controller is one file here, which holds its parameters ([`ControlLaw`]) and its rule ([`RateController`]), and one
//! line in `rate_controllers!`. A program adds its own by [`register`].

pub mod aiamd;
pub mod fixed;
pub mod gcc;
#[cfg(feature = "goog-cc")]
pub mod goog_cc;
mod loss_events;
pub mod nada;
pub mod policy;
mod reports;
#[cfg(test)]
mod rig;
mod rounds;
pub mod rtcp;
pub mod scream;
pub mod tfrc;

use std::sync::Arc;

use fairwave_network::packet::Ecn;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law, NameTaken, Registry, RuntimeLaw, delegate, family, files, laws};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// All rate controllers, in the order in which they are listed to people: a file, and within braces the names that it gives,
/// each with its parameters.
macro_rules! rate_controllers {
    ($then:ident! $arguments:tt) => {
        $then! { $arguments
            gcc { Gcc(GccConfig) }
            scream { Scream(ScreamConfig) }
            nada { Nada(NadaConfig) }
            tfrc { Tfrc(TfrcConfig) }
            aiamd { Aiamd(AiamdConfig) }
            rtcp { Rtcp(RtcpConfig) }
            fixed { Fixed(FixedConfig) }
            policy { Policy(PolicyConfig) }
        }
    };
}

rate_controllers! { files! () }

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Carries {
    /// Audio.
    #[default]
    Audio,
    /// Video.
    Video,
    /// A packet sent again (RFC 4588).
    Retransmission,
    /// Forward error correction.
    Protection,
    /// Padding, which keeps an estimate alive or probes.
    Padding,
}

/// A packet that the sender handed to the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SentPacket {
    /// Transport-wide sequence number, from 0, without wraps.
    pub sequence: u64,
    /// When it was sent, by the sender's clock.
    pub sent: Instant,
    /// Bytes of the whole IP packet.
    pub size: Bytes,
    /// What it carries.
    pub carries: Carries,
    /// The cluster that it probes with ([`Probe::cluster`]); none for other packets.
    pub probe: Option<u32>,
}

/// What feedback says of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketReport {
    /// As it was sent.
    pub packet: SentPacket,
    /// When it arrived, by the receiver's clock, with the feedback format's resolution (250 µs for transport-wide congestion
    /// control, 1/1024 s for RFC 8888); none if it had not arrived when the feedback was made.
    pub arrived: Option<Instant>,
    /// The mark with which it arrived.
    pub ecn: Ecn,
}

/// One feedback message, as the sender reads it: packets in the order of their sequence numbers. A packet that one message
/// reports as missing may be reported as arrived by a later one.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// When it reached the sender.
    pub now: Instant,
    /// What it says of each packet.
    pub packets: &'a [PacketReport],
    /// From sending the newest packet of the message that arrived until now.
    pub round_trip: Span,
    /// Bytes sent and not reported on yet, those of this message taken off.
    pub in_flight: Bytes,
    /// Bytes that wait in the pacer.
    pub waiting: Bytes,
    /// How long the oldest of them has waited.
    pub waits: Span,
}

/// What receiver reports say (RFC 3550 §6.4.2), since the report before.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LossReport {
    /// When it reached the sender.
    pub now: Instant,
    /// Share of packets lost, 0 to 1.
    pub fraction_lost: f64,
    /// Packets expected.
    pub expected: u32,
    /// Round trip by the report's time stamps; none before the first sender report is answered.
    pub round_trip: Option<Span>,
}

/// Within which rates a controller moves. Rates count whole IP packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// What it begins with.
    pub start: Rate,
    /// The least.
    pub least: Rate,
    /// The most: what the encoders can use.
    pub most: Rate,
}

/// A request to send a cluster of packets at a rate, to learn whether the path carries it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// Its number, which its packets bear.
    pub cluster: u32,
    /// At what rate.
    pub rate: Rate,
    /// For how long at least.
    pub lasts: Span,
    /// How many packets at least.
    pub packets: u32,
}

/// What a controller lets the sender do. Rates count whole IP packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decision {
    /// For all streams together, with all that is added to them: headers, retransmissions, protection.
    pub target: Rate,
    /// At which the pacer sends.
    pub pacing: Rate,
    /// Up to which the pacer fills up with padding; zero for no padding.
    pub padding: Rate,
    /// Bytes that may be in flight; none for no window.
    pub window: Option<Bytes>,
    /// Share of their target that video encoders hold back, in part by frames that they leave out; 0 to 1.
    pub held_back: f64,
    /// The most that the pacer sends at once, as a time at its rate; none for the session's own. The shorter of both counts.
    pub burst: Option<Span>,
}

impl Decision {
    /// A target that the pacer exceeds by this factor, without padding and window.
    pub fn paced(target: Rate, factor: f64) -> Self {
        let pacing = Rate::from_bits_per_second((target.bits_per_second() as f64 * factor) as u64);
        Decision { target, pacing, padding: Rate::default(), window: None, held_back: 0.0, burst: None }
    }
}

/// What a controller shows of itself to traces and reports; what it does not have is `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ControlView {
    /// The rate that it believes the path to carry, bits per second of whole IP packets.
    pub capacity: Option<f64>,
    /// Queueing delay, seconds.
    pub queueing_delay: Option<f64>,
    /// Smoothed round trip, seconds.
    pub round_trip: Option<f64>,
    /// Share of packets lost, 0 to 1.
    pub lost: Option<f64>,
    /// Share of packets marked, 0 to 1.
    pub marked: Option<f64>,
    /// What it is at, in one or two words of its source: `increase`, `overuse`.
    pub state: &'static str,
}

/// The law of a rate controller.
///
/// The caller calls [`RateController::on_timer`] at [`RateController::deadline`] or later, never earlier. It asks for the
/// decision after each call.
pub trait RateController: Send {
    /// The session begins, or what the encoders can use has changed.
    fn on_limits(&mut self, now: Instant, limits: Limits);

    /// A packet has been handed to the network; audio too.
    fn on_sent(&mut self, packet: &SentPacket) {
        let _ = packet;
    }

    /// Feedback has arrived.
    fn on_feedback(&mut self, feedback: &Feedback<'_>);

    /// A receiver report has arrived.
    fn on_report(&mut self, report: &LossReport) {
        let _ = report;
    }

    /// The deadline has passed.
    fn on_timer(&mut self, now: Instant) {
        let _ = now;
    }

    /// When it wants to be woken; [`Instant::NEVER`] if not at all.
    fn deadline(&self) -> Instant {
        Instant::NEVER
    }

    /// What the sender may do.
    fn decision(&self) -> Decision;

    /// The next cluster to probe with, if there is one; asked until there is none.
    fn next_probe(&mut self) -> Option<Probe> {
        None
    }

    /// The path is a new one (another address): what is known of the old one is void.
    fn on_new_path(&mut self, now: Instant, limits: Limits) {
        self.on_limits(now, limits);
    }

    /// What may be plotted.
    fn view(&self) -> ControlView {
        ControlView::default()
    }
}

impl<C: RateController + ?Sized> RateController for Box<C> {
    fn on_limits(&mut self, now: Instant, limits: Limits) {
        (**self).on_limits(now, limits);
    }
    fn on_sent(&mut self, packet: &SentPacket) {
        (**self).on_sent(packet);
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        (**self).on_feedback(feedback);
    }
    fn on_report(&mut self, report: &LossReport) {
        (**self).on_report(report);
    }
    fn on_timer(&mut self, now: Instant) {
        (**self).on_timer(now);
    }
    fn deadline(&self) -> Instant {
        (**self).deadline()
    }
    fn decision(&self) -> Decision {
        (**self).decision()
    }
    fn next_probe(&mut self) -> Option<Probe> {
        (**self).next_probe()
    }
    fn on_new_path(&mut self, now: Instant, limits: Limits) {
        (**self).on_new_path(now, limits);
    }
    fn view(&self) -> ControlView {
        (**self).view()
    }
}

/// The parameters of a rate controller, and how it is made.
pub trait ControlLaw: Law {
    /// The rule.
    type Controller: RateController + 'static;

    /// Whether a session can begin: all that the parameters name is there.
    ///
    /// # Errors
    /// The key of what is missing.
    fn ready(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// A controller for a new session. The parameters have been checked. `stream` is the controller's own.
    fn controller(&self, stream: Stream) -> Self::Controller;

    /// The code point of the packets that it controls.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
}

/// What a family asks of a controller that a program handed in; see [`ControlLaw`].
#[allow(missing_docs)] // each method is the one of `ControlLaw` by that name
pub trait AnyControlLaw: Checked + Send + Sync {
    fn any_controller(&self, stream: Stream) -> Box<dyn RateController>;
    fn any_ecn(&self) -> Ecn;
}

impl<L: ControlLaw> AnyControlLaw for L {
    fn any_controller(&self, stream: Stream) -> Box<dyn RateController> {
        Box::new(self.controller(stream))
    }
    fn any_ecn(&self) -> Ecn {
        self.ecn()
    }
}

static OWN: Registry<dyn AnyControlLaw> = Registry::new();

/// Hands in a rate controller of the program's own, which scenarios then name like any other.
///
/// # Errors
/// When there is a rate controller of that name.
pub fn register<L: ControlLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(RateControlConfig::WHAT, RateControlConfig::BUILT_IN, |law| Arc::new(law))
}

/// Hands in a rate controller that was made while the program runs: see [`Registry::give`].
///
/// # Errors
/// When the name is taken.
pub fn give(given: RuntimeLaw<dyn AnyControlLaw>) -> Result<(), NameTaken> {
    OWN.give(RateControlConfig::WHAT, RateControlConfig::BUILT_IN, given)
}

rate_controllers! { laws! (family! (RateControlConfig, "name", "rate controller", dyn AnyControlLaw, OWN)) }

/// Controllers at work.
macro_rules! at_work {
    (() $($Variant:ident($Law:ty)),+ $(,)?) => {
        /// A rate controller at work: that of each law, by value.
        #[allow(missing_docs)] // each is the controller of the law by that name
        #[allow(clippy::large_enum_variant)] // one a session
        pub enum AnyRateController {
            $($Variant(<$Law as ControlLaw>::Controller),)+
            Own(Box<dyn RateController>),
        }

        impl RateController for AnyRateController {
            delegate! {
                [AnyRateController $($Variant)+ Own]
                fn on_limits(&mut self, now: Instant, limits: Limits);
                fn on_sent(&mut self, packet: &SentPacket);
                fn on_feedback(&mut self, feedback: &Feedback<'_>);
                fn on_report(&mut self, report: &LossReport);
                fn on_timer(&mut self, now: Instant);
                fn deadline(&self) -> Instant;
                fn decision(&self) -> Decision;
                fn next_probe(&mut self) -> Option<Probe>;
                fn on_new_path(&mut self, now: Instant, limits: Limits);
                fn view(&self) -> ControlView;
            }
        }

        impl RateControlConfig {
            /// A controller for a new session; `stream` is its own.
            ///
            /// # Errors
            /// The first key whose value is not allowed.
            pub fn controller(&self, stream: Stream) -> Result<AnyRateController, ConfigError> {
                self.check()?;
                Ok(match self {
                    $(RateControlConfig::$Variant(law) => {
                        law.ready()?;
                        AnyRateController::$Variant(law.controller(stream))
                    })+
                    RateControlConfig::Own(own) => AnyRateController::Own(own.law().any_controller(stream)),
                })
            }

            /// The code point of the packets that it controls.
            pub fn ecn(&self) -> Ecn {
                match self {
                    $(RateControlConfig::$Variant(law) => law.ecn(),)+
                    RateControlConfig::Own(own) => own.law().any_ecn(),
                }
            }
        }
    };
}

rate_controllers! { laws! (at_work! ()) }

impl Default for RateControlConfig {
    fn default() -> Self {
        RateControlConfig::Gcc(GccConfig::default())
    }
}
