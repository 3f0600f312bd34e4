//! Rate controllers: how much a media sender may send.
//!
//! The sender reports sent packets ([`RateController::on_sent`]) and feedback ([`RateController::on_feedback`]) to its
//! controller. The controller returns a [`Decision`]: a rate for the encoders, a rate for the pacer, and for some
//! controllers a window. A controller that probes for capacity requests packet clusters at a higher rate
//! ([`RateController::next_probe`]).
//!
//! All feedback is per packet: its arrival time by the receiver's clock, and its ECN mark. Transport-wide congestion
//! control (draft-holmer-rmcat-transport-wide-cc-extensions-01) and RFC 8888 both carry this.
//!
//! Each controller is one file with its parameters ([`ControlLaw`]) and its rule ([`RateController`]), plus one line in
//! `rate_controllers!`. A program adds custom controllers with [`register`].

pub mod aiamd;
pub mod fixed;
pub mod gcc;
mod loss_events;
pub mod nada;
pub mod rate_policy;
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
use fairwave_units::registry::{NameTaken, Registry, RuntimeLaw, family, files, law_trait, laws, running_trait};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// All rate controllers in the order of listings: a file, and in braces its names with their parameters.
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
            rate_policy { Policy(PolicyConfig) }
        }
    };
}

rate_controllers! { files! () }

/// Content of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Carries {
    /// Audio.
    #[default]
    Audio,
    /// Video.
    Video,
    /// A retransmission (RFC 4588).
    Retransmission,
    /// Forward error correction.
    Protection,
    /// Padding, which keeps an estimate valid or probes.
    Padding,
}

/// A packet that the sender has passed to the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SentPacket {
    /// Transport-wide sequence number, from 0, without wraps.
    pub sequence: u64,
    /// Send time, by the sender's clock.
    pub sent: Instant,
    /// Size of the IP packet.
    pub size: Bytes,
    /// Content.
    pub carries: Carries,
    /// Cluster of a probe ([`Probe::cluster`]); `None` for other packets.
    pub probe: Option<u32>,
}

/// Feedback on one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketReport {
    /// The packet as sent.
    pub packet: SentPacket,
    /// Arrival time by the receiver's clock, with the resolution of the feedback format: 250 µs for transport-wide
    /// congestion control, 1/1024 s for RFC 8888. `None` if the packet had not arrived when the feedback was made.
    pub arrived: Option<Instant>,
    /// ECN code point on arrival.
    pub ecn: Ecn,
}

/// A feedback message as the sender reads it: packets in order of sequence number. A packet that one message reports as
/// missing may be reported as arrived by a later one.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// Arrival at the sender.
    pub now: Instant,
    /// Reports by packet.
    pub packets: &'a [PacketReport],
    /// Time since the newest arrived packet of the message was sent.
    pub round_trip: Span,
    /// Bytes sent and not reported yet, after this message.
    pub in_flight: Bytes,
    /// Bytes in the pacer.
    pub waiting: Bytes,
    /// Waiting time of the oldest packet in the pacer.
    pub waits: Span,
}

/// Loss since the previous receiver report (RFC 3550 §6.4.2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LossReport {
    /// Arrival at the sender.
    pub now: Instant,
    /// Share of packets lost, 0 to 1.
    pub fraction_lost: f64,
    /// Packets expected.
    pub expected: u32,
    /// Round trip from the report's time stamps; `None` before the first reply to a sender report.
    pub round_trip: Option<Span>,
}

/// Limits of a controller's rate. Rates count whole IP packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Initial rate.
    pub start: Rate,
    /// Lowest rate.
    pub least: Rate,
    /// Highest rate: the most that the encoders can use.
    pub most: Rate,
}

/// Request to send a packet cluster at a given rate, to test whether the path carries it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// Number of the cluster, which its packets carry.
    pub cluster: u32,
    /// Send rate.
    pub rate: Rate,
    /// Shortest duration.
    pub lasts: Span,
    /// Smallest number of packets.
    pub packets: u32,
}

/// Decision of a controller. Rates count whole IP packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decision {
    /// Rate for all streams together, including headers, retransmissions and protection.
    pub target: Rate,
    /// Send rate of the pacer.
    pub pacing: Rate,
    /// The pacer adds padding up to this rate; zero for no padding.
    pub padding: Rate,
    /// Bytes that may be in flight; `None` without a window.
    pub window: Option<Bytes>,
    /// Share of their target that video encoders hold back, in part by skipping frames; 0 to 1.
    pub held_back: f64,
    /// Largest burst of the pacer, as a time at its rate; `None` for the session's value. The shorter of both applies.
    pub burst: Option<Span>,
}

impl Decision {
    /// Returns a decision without padding and window; the pacing rate is `factor` times the target.
    pub fn paced(target: Rate, factor: f64) -> Self {
        let pacing = Rate::from_bits_per_second((target.bits_per_second() as f64 * factor) as u64);
        Decision { target, pacing, padding: Rate::default(), window: None, held_back: 0.0, burst: None }
    }
}

/// State of a controller for traces and reports. Quantities that a controller lacks are `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ControlView {
    /// Estimated capacity of the path, bits per second of whole IP packets.
    pub capacity: Option<f64>,
    /// Queueing delay, seconds.
    pub queueing_delay: Option<f64>,
    /// Smoothed round trip, seconds.
    pub round_trip: Option<f64>,
    /// Share of packets lost, 0 to 1.
    pub lost: Option<f64>,
    /// Share of packets marked, 0 to 1.
    pub marked: Option<f64>,
    /// State in one or two words of the source: `increase`, `overuse`.
    pub state: &'static str,
}

running_trait! { ($)
    /// A rate controller.
    ///
    /// The caller calls [`RateController::on_timer`] at [`RateController::deadline`] or later, never earlier. It reads the
    /// decision after each call.
    pub trait RateController, delegated by delegate_rate_controller {
        /// Starts the session, or changes the limits because the encoders can use another rate.
        fn on_limits(&mut self, now: Instant, limits: Limits);

        /// Handles a packet that was passed to the network; audio, too.
        fn on_sent(&mut self, packet: &SentPacket) {
            let _ = packet;
        }

        /// Handles feedback.
        fn on_feedback(&mut self, feedback: &Feedback<'_>);

        /// Handles a receiver report.
        fn on_report(&mut self, report: &LossReport) {
            let _ = report;
        }

        /// Handles a deadline that has passed.
        fn on_timer(&mut self, now: Instant) {
            let _ = now;
        }

        /// Returns the time of the next timer; [`Instant::NEVER`] without one.
        fn deadline(&self) -> Instant {
            Instant::NEVER
        }

        /// Returns the current decision.
        fn decision(&self) -> Decision;

        /// Returns the next cluster to probe with. The caller repeats the call until it returns `None`.
        fn next_probe(&mut self) -> Option<Probe> {
            None
        }

        /// Resets the controller for a new path (another address).
        fn on_new_path(&mut self, now: Instant, limits: Limits) {
            self.on_limits(now, limits);
        }

        /// Returns the state for plots.
        fn view(&self) -> ControlView {
            ControlView::default()
        }
    }
}

law_trait! {
    /// Parameters of a rate controller.
    pub trait ControlLaw, erased AnyControlLaw, for RateControlConfig {
        /// The controller type.
        type Controller: RateController;

        /// Checks that everything that the parameters name is available, before a session starts.
        ///
        /// # Errors
        /// The key of what is missing.
        fn ready(&self) -> Result<(), ConfigError> {
            Ok(())
        }

        /// Returns a controller for a new session. The parameters have been checked. No other component draws from
        /// `stream`.
        fn controller(&self, stream: Stream) -> Self::Controller,
            boxed: Box<dyn RateController> = |made| Box::new(made);

        /// Returns the ECN code point of the controlled packets.
        fn ecn(&self) -> Ecn {
            Ecn::NotEct
        }
    }
}

static OWN: Registry<dyn AnyControlLaw> = Registry::new();

/// Registers a custom rate controller. Scenarios then use it like any other.
///
/// # Errors
/// A rate controller of that name exists.
pub fn register<L: ControlLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(RateControlConfig::WHAT, RateControlConfig::BUILT_IN, |law| Arc::new(law))
}

/// Registers a rate controller that was created at run time: see [`Registry::add_runtime`].
///
/// # Errors
/// The name is taken.
pub fn register_runtime(law: RuntimeLaw<dyn AnyControlLaw>) -> Result<(), NameTaken> {
    OWN.add_runtime(RateControlConfig::WHAT, RateControlConfig::BUILT_IN, law)
}

rate_controllers! { laws! (family! (RateControlConfig, "name", "rate controller", dyn AnyControlLaw, OWN)) }

/// Defines the controller enum.
macro_rules! dispatch {
    (() $($Variant:ident($Law:ty)),+ $(,)?) => {
        /// A rate controller of any kind, by value.
        #[allow(missing_docs)] // each is the controller of the law by that name
        #[allow(clippy::large_enum_variant)] // one a session
        pub enum AnyRateController {
            $($Variant(<$Law as ControlLaw>::Controller),)+
            Registered(Box<dyn RateController>),
        }

        delegate_rate_controller! { AnyRateController $($Variant)+ Registered }

        impl RateControlConfig {
            /// Returns a controller for a new session. No other component draws from `stream`.
            ///
            /// # Errors
            /// The first key with an invalid value.
            pub fn controller(&self, stream: Stream) -> Result<AnyRateController, ConfigError> {
                self.check()?;
                self.ready()?;
                Ok(match self {
                    $(RateControlConfig::$Variant(law) => {
                        AnyRateController::$Variant(ControlLaw::controller(law, stream))
                    })+
                    RateControlConfig::Registered(law) => AnyRateController::Registered(law.law().controller(stream)),
                })
            }
        }
    };
}

rate_controllers! { laws! (dispatch! ()) }

impl Default for RateControlConfig {
    fn default() -> Self {
        RateControlConfig::Gcc(GccConfig::default())
    }
}
