//! Controllers: a TCP flavour is a controller. The one TCP sender reports acknowledgements, losses and timeouts to its
//! controller, together with the state of the path, and the controller answers with a [`Window`].
//!
//! A controller is one file here, which holds its parameters ([`ControlLaw`]) and its window rule ([`Controller`]), and one
//! line in `controllers!`. A program writes its own in the same way and adds it by [`register`]. `docs/extend.md`
//! shows both.

pub mod aimd;
pub mod bbr;
pub mod bbr1;
pub mod binomial;
pub mod cubic;
pub mod dctcp;
pub mod gamma;
mod growth;
pub mod hystart;
pub mod ledbat;
#[cfg(test)]
mod pipe_test;
pub mod policy;
pub mod prague;
pub mod real;
#[cfg(test)]
mod today_tests;
pub mod vegas;
pub mod westwood;
pub mod westwood_plus;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Preset, Recovery};
pub use fairwave_endpoint::Estimate;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law, delegate};
use fairwave_units::units::{Instant, Rate, Span};

/// All controllers in the order in which they are listed to people: a file, and within braces the names that it gives, each
/// with its parameters.
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
            policy { TcpPolicy(TcpPolicyConfig) }
        }
    };
}
pub use crate::controllers;

/// What a controller decides, in segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Congestion window. The sender uses its whole part.
    pub congestion: f64,
    /// Slow start threshold: below it the window is in slow start.
    pub threshold: f64,
}

impl Window {
    /// Whether the window is still in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.congestion < self.threshold
    }
}

/// What the sender knows of the path when it asks its controller.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The present time.
    pub now: Instant,
    /// The round trip that the latest acknowledgement measured by its echo; zero before the first.
    pub rtt: Span,
    /// The smallest so far; [`Span::MAX`] before the first.
    pub min_rtt: Span,
    /// The largest so far.
    pub max_rtt: Span,
    /// The segment that the receiver waits for: all before are acknowledged, this acknowledgement included.
    pub unacknowledged: u32,
    /// The segment that would be sent next.
    pub next: u32,
    /// Segments that this acknowledgement newly covers; 0 for a duplicate.
    pub acknowledged: u32,
    /// For how many segments this acknowledgement counts in congestion avoidance: what it newly covers where the receiver delays
    /// acknowledgements, as RFC 5681 §3.1 recommends; else 1, as its Eq. 3 has it. ns-2.35 counts 1 in either case.
    pub credit: u32,
    /// Segments sent and not acknowledged before this acknowledgement.
    pub flight: u32,
    /// Payload bytes of a segment: of the latest that was sent.
    pub payload: u32,
    /// The window that a decrease starts from, in segments: what was in flight (RFC 5681 §3.1 Eq. 4), or the window that
    /// the sender could use (ns-2.35).
    pub in_use: f64,
    /// The receiver's rate of the last wave, payload (TCP-Real); zero when it has measured none.
    pub rate: Rate,
    /// The wave over which that rate was measured.
    pub wave: u16,
    /// How often the lost segment has been sent, the coming retransmission not counted; 1 unless the sender keeps count.
    pub transmissions: u32,
    /// The timer has gone off before for this segment.
    pub timed_out_before: bool,
    /// Segments of which this acknowledgement newly reports that they arrived marked; 0 unless feedback is accurate.
    pub marked: u32,
    /// Segments that have been delivered so far: acknowledged, or reported as held. Kept, as what follows, for laws that
    /// ask for samples only ([`ControlLaw::SAMPLES`]).
    pub delivered: u64,
    /// Segments that have been taken for lost so far.
    pub lost: u64,
    /// Segments in flight, as loss recovery counts them, after this acknowledgement.
    pub pipe: u32,
}

/// How fast segments were delivered, measured from one that this acknowledgement covers back to what had been delivered when
/// that was sent (draft-ietf-ccwg-bbr §4.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSample {
    /// Delivered in the interval over the interval, segments per second; none if the interval is too short to say.
    pub rate: Option<f64>,
    /// The longer of the times that sending and acknowledging took.
    pub interval: Span,
    /// [`Path::delivered`] when the segment was sent.
    pub prior_delivered: u64,
    /// Segments in flight when it was sent, itself included.
    pub in_flight: u32,
    /// Segments taken for lost between its sending and now.
    pub lost: u32,
    /// Number of marked packets among those delivered in the interval.
    pub marked: u32,
    /// The application left the sender without data at some time in the interval: the path may carry more.
    pub application_limited: bool,
    /// The round trip of the segment sent last of those covered; [`Span::MAX`] if it had been sent twice.
    pub rtt: Span,
    /// Segments newly delivered by this acknowledgement.
    pub newly_delivered: u32,
}

impl Path {
    /// A path of which nothing is known.
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

    /// Whether application or receiver's window, and not the congestion window, held the sender back before this
    /// acknowledgement arrived: less was in flight than `window` allowed. A window that is not used says nothing of the path,
    /// so a controller may choose not to open it further.
    pub fn limited(&self, window: &Window) -> bool {
        self.flight < window.congestion as u32
    }

    /// The queueing delay's share of the largest seen, 0 to 1 (paper 003 Eq. 15); 0 while no two round trips differ.
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

/// A controller's answer to a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Congestion: the window has been set anew.
    Congestion,
    /// Not congestion (an error of the wire): the window stays, the segment is sent again.
    Random,
}

/// The law of a TCP flavour.
///
/// The window is the sender's; a controller changes it in place. It never has to clamp to what the receiver allows, and
/// it need not care for the inflation of fast recovery, which the sender keeps apart.
pub trait Controller: Send {
    /// New data is acknowledged, outside of loss recovery. With `classic` marks not by an acknowledgement that bears the echo of
    /// one (RFC 3168 §6.1.2): that is told by [`Controller::on_other_ack`].
    fn on_ack(&mut self, path: &Path, window: &mut Window);

    /// An acknowledgement arrived that does not open the window: a duplicate, or one within loss recovery
    /// (`path.acknowledged` tells which).
    fn on_other_ack(&mut self, path: &Path, window: &mut Window) {
        let _ = (path, window);
    }

    /// A loss was found by duplicate or selective acknowledgements; asked once per recovery. Sets both fields of the window.
    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict;

    /// The path has marked a segment (RFC 3168 §6.1.2): asked at most once for what was in flight at the answer before, to a mark or to a
    /// loss; after [`Controller::on_ack`] or [`Controller::on_other_ack`] of the acknowledgement that tells of it. `path.in_use` is
    /// what was in flight before that. A mark counts as a loss unless the law says otherwise.
    fn on_mark(&mut self, path: &Path, window: &mut Window) {
        self.on_loss(path, window);
    }

    /// A sample of the delivery rate, on every acknowledgement that delivers anything, in recovery and outside; after
    /// [`Controller::on_ack`] or [`Controller::on_other_ack`]. Only for laws that ask for it ([`ControlLaw::SAMPLES`]).
    fn on_sample(&mut self, path: &Path, sample: &RateSample, window: &mut Window) {
        let _ = (path, sample, window);
    }

    /// Loss recovery has ended: what was in flight when it began has been delivered. Fast recovery, and with `rack` also that from
    /// a timeout.
    fn on_recovered(&mut self, path: &Path, window: &mut Window) {
        let _ = (path, window);
    }

    /// The rate at which segments leave, in segments per second; infinite for a law that leaves it to acknowledgements. Asked
    /// whenever a segment is sent, of laws that say so ([`ControlLaw::PACES`]).
    fn pacing(&self, path: &Path, window: &Window) -> f64 {
        let _ = (path, window);
        f64::INFINITY
    }

    /// The retransmission timer went off.
    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict;

    /// The connection was idle for longer than the retransmission timeout and sends again; the sender has set the
    /// congestion window to the restart window.
    fn on_restart(&mut self, path: &Path, window: &mut Window) {
        let _ = (path, window);
    }

    /// What it estimates of the path, for plots; none if nothing, or nothing yet.
    fn estimate(&self) -> Option<Estimate> {
        None
    }
}

/// A law whose state is large is in a box: each connection has room for the state of any law, so a large one would be paid for by all.
impl<C: Controller> Controller for Box<C> {
    #[inline]
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        (**self).on_ack(path, window);
    }

    #[inline]
    fn on_other_ack(&mut self, path: &Path, window: &mut Window) {
        (**self).on_other_ack(path, window);
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        (**self).on_loss(path, window)
    }

    fn on_mark(&mut self, path: &Path, window: &mut Window) {
        (**self).on_mark(path, window);
    }

    fn on_sample(&mut self, path: &Path, sample: &RateSample, window: &mut Window) {
        (**self).on_sample(path, sample, window);
    }

    fn on_recovered(&mut self, path: &Path, window: &mut Window) {
        (**self).on_recovered(path, window);
    }

    fn pacing(&self, path: &Path, window: &Window) -> f64 {
        (**self).pacing(path, window)
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        (**self).on_timeout(path, window)
    }

    fn on_restart(&mut self, path: &Path, window: &mut Window) {
        (**self).on_restart(path, window);
    }

    fn estimate(&self) -> Option<Estimate> {
        (**self).estimate()
    }
}

/// The parameters of a controller, and how it is made. The connection's own keys ([`TcpConfig`](super::TcpConfig)) stand beside
/// them in a scenario's table, so none of them may be used again.
pub trait ControlLaw: Law {
    /// The window rule.
    type Controller: Controller + 'static;

    /// The loss recovery of a connection that does not choose one.
    const RECOVERY: Recovery;

    /// The receiver measures the rate of each wave of segments and says so: [`Path::rate`], [`Path::wave`].
    const WAVES: bool = false;

    /// It asks for samples of the delivery rate.
    const SAMPLES: bool = false;

    /// What its segments say of congestion, and how its receiver answers, unless the connection says otherwise.
    const MARKS: Marks = Marks::None;

    /// It grows in congestion avoidance by [`Path::credit`], so that the connection's `byte-counting` is of use to it.
    const CREDIT: bool = true;

    /// Its segments leave at the rate that [`Controller::pacing`] says. That is asked for no other law, unless a connection wants its segments
    /// paced in any case.
    const PACES: bool = false;

    /// Whether a connection can begin: all that the parameters name is there.
    ///
    /// # Errors
    /// The key of what is missing.
    fn ready(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    /// A controller for a new connection. The parameters have been checked; `preset` says whose habits to follow where the
    /// controller's source and a simulator differ.
    fn controller(&self, preset: Preset) -> Self::Controller;

    /// As [`ControlLaw::controller`], for a law that draws random numbers: `stream` is the controller's own.
    fn controller_with(&self, preset: Preset, stream: Stream) -> Self::Controller {
        let _ = stream;
        self.controller(preset)
    }

    /// The parameters that tell it from another of its name, for labels: `0.31, 0.875`.
    fn shown(&self) -> Option<String> {
        None
    }
}

/// What is asked of a controller that was made while the program runs: [`ControlLaw`], without types of its own.
pub trait AnyControlLaw: Checked + Send + Sync {
    /// See [`ControlLaw::RECOVERY`].
    fn any_recovery(&self) -> Recovery;
    /// See [`ControlLaw::WAVES`].
    fn any_waves(&self) -> bool;
    /// See [`ControlLaw::SAMPLES`].
    fn any_samples(&self) -> bool {
        false
    }
    /// See [`ControlLaw::MARKS`].
    fn any_marks(&self) -> Marks {
        Marks::None
    }
    /// See [`ControlLaw::PACES`].
    fn any_paces(&self) -> bool {
        false
    }
    /// See [`ControlLaw::controller`]. `stream` is the controller's own.
    fn any_controller(&self, preset: Preset, stream: Stream) -> Box<dyn Controller>;
    /// See [`ControlLaw::shown`].
    fn any_shown(&self) -> Option<String>;
}

macro_rules! at_work {
    (() $($file:ident { $($Variant:ident($Config:ident)),+ $(,)? })+) => {
        $(
            pub use $file::{$($Config),+};
        )+

        /// Any controller: built-in ones are dispatched by variant.
        #[allow(clippy::large_enum_variant)] // one per flow, and the flow is what is large
        #[allow(missing_docs)] // each controller's parameters say what it is
        pub enum Control {
            $($($Variant(<$Config as ControlLaw>::Controller),)+)+
            /// A program's own.
            Own(Box<dyn Controller>),
        }

        impl Controller for Control {
            delegate! {
                [Control $($($Variant)+)+ Own]
                #[inline]
                fn on_ack(&mut self, path: &Path, window: &mut Window);
                #[inline]
                fn on_other_ack(&mut self, path: &Path, window: &mut Window);
                fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict;
                fn on_mark(&mut self, path: &Path, window: &mut Window);
                fn on_sample(&mut self, path: &Path, sample: &RateSample, window: &mut Window);
                fn on_recovered(&mut self, path: &Path, window: &mut Window);
                fn pacing(&self, path: &Path, window: &Window) -> f64;
                fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict;
                fn on_restart(&mut self, path: &Path, window: &mut Window);
                fn estimate(&self) -> Option<Estimate>;
            }
        }
    };
}

controllers! { at_work! () }

// With many flows their state is a large part of the memory.
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
        // Many connections do not fit a cache: what a law keeps beyond two lines of it belongs into a box of its own.
        assert!(size_of::<Control>() <= 128 + 8, "{}", size_of::<Control>());
    }

    /// A controller whose answers tell which of its methods was asked.
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
        // In ns-2 a restart counts as the first decrease, so the next loss keeps β and not a half.
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
