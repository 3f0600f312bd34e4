//! TCP controllers: a TCP flavour is a controller. The TCP sender reports acknowledgements, losses and timeouts to
//! its controller, together with the state of the path. The controller returns a [`Window`].
//!
//! A controller is one file here, with its parameters ([`ControlLaw`]) and its window rule ([`Controller`]), and
//! one line in `controllers!`. A program writes further controllers in the same way and adds them with
//! `fairwave_transport::tcp::control::register`. `docs/extend.md` shows both.

pub mod aimd;
pub mod bbr;
pub mod bbr1;
pub mod binomial;
#[cfg(test)]
mod connection_tests;
pub mod cubic;
pub mod dctcp;
pub mod gamma;
mod growth;
pub mod hystart;
pub mod ledbat;
pub mod prague;
pub mod real;
#[cfg(test)]
mod test_pipe;
pub mod vegas;
pub mod westwood;
pub mod westwood_plus;
pub mod window_policy;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Preset, Recovery};
pub use fairwave_endpoint::Estimate;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law, running_trait};
use fairwave_units::units::{Instant, Rate, Span};

/// All controllers in the order of listings: a file, and in braces the names that it defines, each with its
/// parameters.
#[macro_export]
macro_rules! controllers {
    ($then:ident! $arguments:tt) => {
        $then! { $arguments
            aimd { Tahoe(TahoeConfig), Reno(RenoConfig), Newreno(NewrenoConfig), Sack(SackConfig), Aimd(AimdConfig) }
            binomial { Sqrt(SqrtConfig), Iiad(IiadConfig) }
            gamma { Gamma(GammaConfig), GammaDelta(GammaDeltaConfig) }
            vegas { Vegas(VegasConfig) }
            westwood { Westwood(WestwoodConfig) }
            westwood_plus { WestwoodPlus(WestwoodPlusConfig) }
            real { Real(RealConfig) }
            cubic { Cubic(CubicConfig) }
            dctcp { Dctcp(DctcpConfig) }
            prague { Prague(PragueConfig) }
            ledbat { LedbatPlusPlus(LedbatPlusPlusConfig) }
            bbr { Bbr(BbrConfig) }
            bbr1 { Bbr1(Bbr1Config) }
            window_policy { TcpPolicy(TcpPolicyConfig) }
        }
    };
}
pub use crate::controllers;

/// A controller's decision, in segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Congestion window. The sender uses its whole part.
    pub congestion: f64,
    /// Slow start threshold. A window below it is in slow start.
    pub threshold: f64,
}

impl Window {
    /// True if the window is in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.congestion < self.threshold
    }
}

/// The sender's measurements of the path, for the controller.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The current time.
    pub now: Instant,
    /// The latest acknowledgement's round trip, measured by its echo; zero before the first.
    pub rtt: Span,
    /// The smallest so far; [`Span::MAX`] before the first.
    pub min_rtt: Span,
    /// The largest so far.
    pub max_rtt: Span,
    /// The segment that the receiver expects next: all earlier ones are acknowledged, including by this
    /// acknowledgement.
    pub unacknowledged: u32,
    /// The segment to be sent next.
    pub next: u32,
    /// Segments newly acknowledged; 0 for a duplicate.
    pub acknowledged: u32,
    /// The number of segments that this acknowledgement counts for in congestion avoidance. With delayed
    /// acknowledgements it is the newly acknowledged segments, as RFC 5681 §3.1 recommends; else 1, as its Eq. 3
    /// has it. ns-2.35 counts 1 in either case.
    pub credit: u32,
    /// Segments sent but not acknowledged before this acknowledgement.
    pub flight: u32,
    /// Payload of the latest segment sent, bytes.
    pub payload: u32,
    /// The window that a decrease starts from, in segments. It is the data in flight (RFC 5681 §3.1 Eq. 4), or the
    /// usable window (ns-2.35).
    pub in_use: f64,
    /// The receiver's rate of the last wave, payload (TCP-Real); zero without a measurement.
    pub rate: Rate,
    /// The wave of that rate.
    pub wave: u16,
    /// Number of transmissions of the lost segment, without the coming retransmission; 1 unless the sender counts
    /// them.
    pub transmissions: u32,
    /// The timer has expired before for this segment.
    pub timed_out_before: bool,
    /// Marked segments that this acknowledgement newly reports; 0 unless feedback is accurate.
    pub marked: u32,
    /// Segments delivered so far: acknowledged, or reported as held. This and the following fields are updated
    /// only for laws that use samples ([`ControlLaw::SAMPLES`]).
    pub delivered: u64,
    /// Segments counted as lost so far.
    pub lost: u64,
    /// Segments in flight after this acknowledgement, as loss recovery counts them.
    pub pipe: u32,
}

/// A sample of the delivery rate. It compares a segment that this acknowledgement covers with the deliveries at
/// the time when the segment was sent (draft-ietf-ccwg-bbr §4.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSample {
    /// Segments delivered ÷ interval, segments per second. `None` if the interval is too short.
    pub rate: Option<f64>,
    /// The longer one of the send and ACK intervals.
    pub interval: Span,
    /// [`Path::delivered`] when the segment was sent.
    pub prior_delivered: u64,
    /// Segments in flight when the segment was sent, including itself.
    pub in_flight: u32,
    /// Segments counted as lost since the segment was sent.
    pub lost: u32,
    /// Number of marked packets among those delivered in the interval.
    pub marked: u32,
    /// The application left the sender without data at some time in the interval, so the path may carry more.
    pub application_limited: bool,
    /// Round trip of the latest-sent segment among those covered. [`Span::MAX`] if that segment was retransmitted.
    pub rtt: Span,
    /// Segments newly delivered by this acknowledgement.
    pub newly_delivered: u32,
}

impl Path {
    /// Creates the state of an unknown path.
    pub fn new(payload: u32) -> Self {
        Path {
            now: Instant::ZERO,
            rtt: Span::ZERO,
            min_rtt: Span::MAX,
            max_rtt: Span::ZERO,
            unacknowledged: 0,
            next: 0,
            acknowledged: 0,
            credit: 1,
            flight: 0,
            payload,
            in_use: 1.0,
            rate: Rate::default(),
            wave: 0,
            transmissions: 1,
            timed_out_before: false,
            marked: 0,
            delivered: 0,
            lost: 0,
            pipe: 0,
        }
    }

    /// True if the application or the receiver's window limited the sender before this acknowledgement: less was
    /// in flight than `window` allowed. An unused window is untested, so a controller may choose not to open it
    /// further.
    pub fn limited(&self, window: &Window) -> bool {
        self.flight < window.congestion as u32
    }

    /// Queueing delay ÷ largest queueing delay so far, 0 to 1 (paper 003 Eq. 15). 0 while all round trips are equal.
    pub fn queueing_share(&self) -> f64 {
        let range = self.max_rtt.saturating_sub(self.min_rtt).nanos();
        if range == 0 {
            return 0.0;
        }
        self.rtt.saturating_sub(self.min_rtt).nanos() as f64 / range as f64
    }
}

/// The ECN code point of a connection's segments, and how the receiver reports marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Marks {
    /// Segments cannot be marked.
    #[default]
    None,
    /// ECT(0); the receiver reports a mark with every acknowledgement until the sender announces its response (RFC 3168
    /// §6.1).
    Classic,
    /// ECT(0); the receiver counts marked segments and reports the count (as RFC 9768 does).
    Accurate,
    /// ECT(1), for queues that keep delay low (RFC 9331); the receiver reports as with `accurate`.
    Scalable,
}

/// A controller's verdict on a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Congestion: the controller has set the window.
    Congestion,
    /// Not congestion (a transmission error): the window stays, and the segment is retransmitted.
    Random,
}

running_trait! { ($)
    /// The window rule of a TCP flavour.
    ///
    /// The sender owns the window; a controller changes it in place. A controller never has to clamp to the receiver's
    /// window. It can ignore the inflation of fast recovery, which the sender stores separately.
    pub trait Controller, delegated by delegate_controller {
        /// Called when new data is acknowledged outside loss recovery. With `classic` marks, an acknowledgement that
        /// echoes a mark (RFC 3168 §6.1.2) calls [`Controller::on_other_ack`] instead.
        fn on_ack(&mut self, path: &Path, window: &mut Window);

        /// Called for an acknowledgement that does not open the window: a duplicate, or one within loss recovery
        /// (`path.acknowledged` distinguishes them).
        fn on_other_ack(&mut self, path: &Path, window: &mut Window) {
            let _ = (path, window);
        }

        /// Called once per recovery, when duplicate or selective acknowledgements reveal a loss. Sets both fields of
        /// the window.
        fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict;

        /// Called when the path has marked a segment (RFC 3168 §6.1.2), after [`Controller::on_ack`] or
        /// [`Controller::on_other_ack`] of the acknowledgement that reports the mark. It is called at most once for
        /// the data in flight at the previous response to a mark or a loss. `path.in_use` is the data in flight before
        /// the acknowledgement. By default a mark counts as a loss.
        fn on_mark(&mut self, path: &Path, window: &mut Window) {
            self.on_loss(path, window);
        }

        /// Called with a sample of the delivery rate, on every acknowledgement that delivers a segment, inside and
        /// outside recovery. It follows [`Controller::on_ack`] or [`Controller::on_other_ack`]. Only for laws that use
        /// samples ([`ControlLaw::SAMPLES`]).
        fn on_sample(&mut self, path: &Path, sample: &RateSample, window: &mut Window) {
            let _ = (path, sample, window);
        }

        /// Called at the end of a loss recovery: the data in flight at its start has been delivered. This covers fast
        /// recovery, and with `rack` also the recovery from a timeout.
        fn on_recovered(&mut self, path: &Path, window: &mut Window) {
            let _ = (path, window);
        }

        /// The pacing rate, segments per second; infinite if acknowledgements clock the segments out. Called for every
        /// segment sent, if the law paces ([`ControlLaw::PACES`]).
        fn pacing(&self, path: &Path, window: &Window) -> f64 {
            let _ = (path, window);
            f64::INFINITY
        }

        /// Called when the retransmission timer expires.
        fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict;

        /// Called when the connection sends again after it was idle for longer than the retransmission timeout. The
        /// sender has set the congestion window to the restart window.
        fn on_restart(&mut self, path: &Path, window: &mut Window) {
            let _ = (path, window);
        }

        /// The estimate of the path, for plots. `None` without an estimate.
        fn estimate(&self) -> Option<Estimate> {
            None
        }
    }
}

/// The parameters of a controller, and its constructor. The connection's keys ([`TcpConfig`](super::TcpConfig))
/// are in the same scenario table, so a controller cannot use them.
pub trait ControlLaw: Law {
    /// The window rule.
    type Controller: Controller + 'static;

    /// Default loss recovery of a connection.
    const RECOVERY: Recovery;

    /// The receiver measures and reports the rate of each wave of segments: [`Path::rate`], [`Path::wave`].
    const WAVES: bool = false;

    /// The law uses samples of the delivery rate.
    const SAMPLES: bool = false;

    /// Default ECN code point of the segments, and the receiver's way of reporting marks.
    const MARKS: Marks = Marks::None;

    /// The law grows in congestion avoidance by [`Path::credit`], so the connection's key `byte-counting` affects it.
    const CREDIT: bool = true;

    /// Segments are paced at [`Controller::pacing`]. For other laws that method is called only if the connection
    /// enables pacing.
    const PACES: bool = false;

    /// Checks that a connection can begin: everything that the parameters name exists.
    ///
    /// # Errors
    /// The key of a missing object.
    fn ready(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// Creates a controller for a new connection. The parameters have been checked. `preset` selects between the
    /// controller's source and a simulator if their rules differ.
    fn controller(&self, preset: Preset) -> Self::Controller;

    /// Like [`ControlLaw::controller`], for a law that draws random numbers from `stream`.
    fn controller_with(&self, preset: Preset, stream: Stream) -> Self::Controller {
        let _ = stream;
        self.controller(preset)
    }

    /// The parameters that distinguish controllers of one name, for labels: `0.31, 0.875`.
    fn shown(&self) -> Option<String> {
        None
    }
}

/// The object-safe form of [`ControlLaw`], for controllers that are created at run time.
pub trait AnyControlLaw: Checked + Send + Sync {
    /// See [`ControlLaw::RECOVERY`].
    fn recovery(&self) -> Recovery;
    /// See [`ControlLaw::WAVES`].
    fn waves(&self) -> bool;
    /// See [`ControlLaw::SAMPLES`].
    fn samples(&self) -> bool {
        false
    }
    /// See [`ControlLaw::MARKS`].
    fn marks(&self) -> Marks {
        Marks::None
    }
    /// See [`ControlLaw::PACES`].
    fn paces(&self) -> bool {
        false
    }
    /// See [`ControlLaw::controller`]. `stream` is the controller's random stream.
    fn controller(&self, preset: Preset, stream: Stream) -> Box<dyn Controller>;
    /// See [`ControlLaw::shown`].
    fn shown(&self) -> Option<String>;
}

macro_rules! dispatch {
    (() $($file:ident { $($Variant:ident($Config:ident)),+ $(,)? })+) => {
        $(
            pub use $file::{$($Config),+};
        )+

        /// Any controller. Built-in ones are dispatched by variant.
        #[allow(clippy::large_enum_variant)] // one per flow, and the rest of the flow is large
        #[allow(missing_docs)] // each controller's parameters are documented
        pub enum Control {
            $($($Variant(<$Config as ControlLaw>::Controller),)+)+
            /// A registered controller.
            Own(Box<dyn Controller>),
        }

        delegate_controller! { Control $($($Variant)+)+ Own }
    };
}

controllers! { dispatch! () }

// With many flows, controllers are a large part of the memory.
const _: () = assert!(size_of::<Control>() <= 64, "put the state of the large law in a box");

/// The slow start threshold never falls below two segments (RFC 5681 §3.1 Eq. 4).
pub const LEAST_THRESHOLD: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queueing_share_is_that_of_the_largest_delay_seen() {
        let path = |rtt: u64, max: u64| Path {
            rtt: Span::from_millis(rtt),
            min_rtt: Span::from_millis(100),
            max_rtt: Span::from_millis(max),
            ..Path::new(1000)
        };
        assert_eq!(path(125, 200).queueing_share(), 0.25);
        assert_eq!(path(200, 200).queueing_share(), 1.0);
        assert_eq!(path(100, 100).queueing_share(), 0.0);
        assert_eq!(Path::new(1000).queueing_share(), 0.0);
    }

    #[test]
    fn a_sender_was_limited_when_less_was_in_flight_than_the_window_allows() {
        let window = Window { congestion: 20.9, threshold: 10.0 };
        for (flight, limited) in [(0, true), (19, true), (20, false), (30, false)] {
            assert_eq!(Path { flight, ..Path::new(1000) }.limited(&window), limited, "{flight}");
        }
    }

    #[test]
    fn slow_start_lasts_below_the_threshold() {
        for (congestion, slow) in [(9.9, true), (10.0, false), (11.0, false)] {
            assert_eq!(Window { congestion, threshold: 10.0 }.in_slow_start(), slow);
        }
    }

    #[test]
    fn a_controller_takes_little_room_in_a_connection() {
        // Many connections exceed a cache: a law boxes any state beyond two cache lines.
        assert!(size_of::<Control>() <= 128 + 8, "{}", size_of::<Control>());
    }

    /// A controller whose window reveals the called method.
    struct Echo(f64);

    impl Controller for Echo {
        fn on_ack(&mut self, _path: &Path, window: &mut Window) {
            window.congestion = 1.0;
        }
        fn on_other_ack(&mut self, _path: &Path, window: &mut Window) {
            window.congestion = 2.0;
        }
        fn on_loss(&mut self, _path: &Path, window: &mut Window) -> Verdict {
            window.congestion = 3.0;
            Verdict::Random
        }
        fn on_timeout(&mut self, _path: &Path, window: &mut Window) -> Verdict {
            window.congestion = 4.0;
            Verdict::Random
        }
        fn on_restart(&mut self, _path: &Path, window: &mut Window) {
            window.congestion = 5.0;
        }
        fn estimate(&self) -> Option<Estimate> {
            Some(Estimate::Custom(self.0))
        }
    }

    #[test]
    fn a_programs_own_controller_hears_of_everything() {
        let mut control = Control::Own(Box::new(Echo(7.0)));
        let (path, mut window) = (Path::new(1000), Window { congestion: 0.0, threshold: 0.0 });
        control.on_ack(&path, &mut window);
        assert_eq!(window.congestion, 1.0);
        control.on_other_ack(&path, &mut window);
        assert_eq!(window.congestion, 2.0);
        assert_eq!(control.on_loss(&path, &mut window), Verdict::Random);
        assert_eq!(window.congestion, 3.0);
        assert_eq!(control.on_timeout(&path, &mut window), Verdict::Random);
        assert_eq!(window.congestion, 4.0);
        control.on_restart(&path, &mut window);
        assert_eq!(window.congestion, 5.0);
        assert_eq!(control.estimate(), Some(Estimate::Custom(7.0)));
    }

    #[test]
    fn a_built_in_controller_hears_of_everything() {
        // In ns-2 a restart counts as the first decrease, so the next loss keeps β instead of one half.
        let law = AimdConfig { alpha: Some(2.0), beta: Some(0.75) };
        let mut control = Control::Aimd(law.controller(Preset::Ns2));
        let (path, mut window) =
            (Path { in_use: 40.0, ..Path::new(1000) }, Window { congestion: 40.0, threshold: 2.0 });
        control.on_ack(&path, &mut window);
        assert_eq!(window.congestion, 40.05);
        control.on_other_ack(&path, &mut window);
        assert_eq!(window.congestion, 40.05);
        control.on_restart(&path, &mut window);
        assert_eq!(control.on_loss(&path, &mut window), Verdict::Congestion);
        assert_eq!(window.congestion, 30.0);
        assert_eq!(control.on_timeout(&path, &mut window), Verdict::Congestion);
        assert_eq!(window.congestion, 1.0);
        assert_eq!(control.estimate(), None);
    }
}
