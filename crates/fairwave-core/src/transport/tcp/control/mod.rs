//! Controllers: what a TCP flavour is. The one TCP sender tells its controller of acknowledgements, losses and timeouts,
//! together with the state of the path, and the controller answers with a [`Window`]. To add one is one file here and one
//! line in [`Control`]; a program's own goes into [`Control::Custom`].

pub mod aimd;
pub mod gamma;
pub mod real;
pub mod vegas;
pub mod westwood;
pub mod westwood_plus;

use crate::units::{Instant, Rate, Span};

pub use aimd::Aimd;
pub use gamma::Gamma;
pub use real::Real;
pub use vegas::Vegas;
pub use westwood::Westwood;
pub use westwood_plus::WestwoodPlus;

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
            flight: 0,
            payload,
            in_use: 1.0,
            rate: Rate::default(),
            wave: 0,
            transmissions: 1,
            timed_out_before: false,
        }
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
    /// New data is acknowledged, outside of loss recovery.
    fn on_ack(&mut self, path: &Path, window: &mut Window);

    /// An acknowledgement arrived that does not open the window: a duplicate, or one within loss recovery
    /// (`path.acknowledged` tells which).
    fn on_other_ack(&mut self, path: &Path, window: &mut Window) {
        let _ = (path, window);
    }

    /// A loss was found by duplicate or selective acknowledgements; asked once per recovery. Sets both fields of the window.
    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict;

    /// The retransmission timer went off.
    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict;

    /// The connection was idle for longer than the retransmission timeout and sends again; the sender has set the
    /// congestion window to the restart window.
    fn on_restart(&mut self, path: &Path, window: &mut Window) {
        let _ = (path, window);
    }

    /// What it estimates, for plots; NaN if nothing. See [`crate::transport::SenderView::estimate`].
    fn estimate(&self) -> f64 {
        f64::NAN
    }
}

/// Any controller: built-in ones are dispatched by variant.
#[allow(clippy::large_enum_variant)] // one per flow, and the flow is what is large
pub enum Control {
    /// TCP(α, β).
    Aimd(Aimd),
    /// γ, with or without δ, around TCP(α, β).
    Gamma(Gamma<Aimd>),
    /// Vegas.
    Vegas(Vegas),
    /// Westwood.
    Westwood(Westwood),
    /// Westwood+.
    WestwoodPlus(WestwoodPlus),
    /// TCP-Real.
    Real(Real),
    /// A program's own.
    Custom(Box<dyn Controller>),
}

macro_rules! each {
    ($any:expr, $controller:ident => $call:expr) => {
        match $any {
            Control::Aimd($controller) => $call,
            Control::Gamma($controller) => $call,
            Control::Vegas($controller) => $call,
            Control::Westwood($controller) => $call,
            Control::WestwoodPlus($controller) => $call,
            Control::Real($controller) => $call,
            Control::Custom($controller) => $call,
        }
    };
}

impl Controller for Control {
    #[inline]
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        each!(self, c => c.on_ack(path, window));
    }
    #[inline]
    fn on_other_ack(&mut self, path: &Path, window: &mut Window) {
        each!(self, c => c.on_other_ack(path, window));
    }
    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        each!(self, c => c.on_loss(path, window))
    }
    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        each!(self, c => c.on_timeout(path, window))
    }
    fn on_restart(&mut self, path: &Path, window: &mut Window) {
        each!(self, c => c.on_restart(path, window));
    }
    fn estimate(&self) -> f64 {
        each!(self, c => c.estimate())
    }
}

/// The slow start threshold never falls below two segments (RFC 5681 §3.1 Eq. 4).
pub(crate) const LEAST_THRESHOLD: f64 = 2.0;
