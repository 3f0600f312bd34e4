//! BBR, version 3: a model of the path's bandwidth and capacity, probed periodically and bounded by losses and marks.
//!
//! Source: draft-ietf-ccwg-bbr (as of 2026-08-03), by the names of its functions. Marks, which the draft leaves
//! open, follow version 3 in `google/bbr`. *Startup* doubles the rate until three round trips have added less than
//! a quarter, or until losses are too high. *Drain* empties the queue. Then *ProbeBW* repeats a cycle
//! (`probe_bw`). DOWN yields to other flows. CRUISE keeps the rate for two to three seconds (or as many round
//! trips as Reno would take). REFILL fills the pipe. UP sends a quarter faster until the delivery rate stops
//! growing or loss is too high. *ProbeRTT* (`probe_rtt`) halves the data in flight for 200 ms if five seconds have
//! brought no shorter round trip. Losses and marks set two bounds of the data in flight and one of the rate
//! (`bounds`): over the long term, and since the last probing.
//!
//! **Assumptions and deviations.** Acknowledgements are selective. Losses are processed once per acknowledgement
//! that reports losses, not once per segment. The data in flight at a loss is taken from the segment whose
//! delivery revealed the loss: the data in flight when that segment was sent. Discontiguous ranges lost in Startup
//! count as acknowledgements that report losses, as in Google's code. A segment is a quantum (`C.send_quantum`):
//! the sender passes no larger pieces to hardware. A restart after an idle time is recognised by the first segment
//! delivered after it, which was alone in flight. ProbeRTT is skipped then, but the pace of the flight before is
//! not lowered to the rate itself. Spurious losses are not undone. After a timeout one segment is sent, since all
//! data in flight counts as lost. Google's quicker probing after the end of marks is left out. After a large fall of the
//! rate before a deep buffer, ProbeRTT ends each cycle early and the old rate stays (`docs/protocols/bbr.md`).

mod bounds;
#[cfg(test)]
mod clauses;
pub(super) mod filter;
mod min_rtt;
mod probe_bw;
mod probe_rtt;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlLaw, Controller, Estimate, Path, RateSample, Verdict, Window};
use crate::{Preset, Recovery};
use bounds::{Bounds, MarkShare};
use fairwave_units::config::{ConfigError, check_between, check_fraction, check_span};
use fairwave_units::random::{Seed, Stream};
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Span};
use filter::{LimitedSamples, MaxOverRounds, Rounds, rate};
use min_rtt::MinRtt;
use probe_bw::Cycle;

/// BBR version 3 (draft-ietf-ccwg-bbr). It sends at the measured delivery rate of the path and keeps about one
/// bandwidth-delay product in flight. It probes for more every few seconds, and gives way to losses and marks.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct BbrConfig {
    /// Part of the short-term bounds kept in a round trip with losses, above 0 and below 1. Default 0.7.
    #[serde(with = "Ratio")]
    pub beta: f64,
    /// Part of a round trip that may be lost while bandwidth is probed, above 0 and below 1. Default 0.02.
    #[serde(with = "Ratio")]
    pub loss_threshold: f64,
    /// Part of the long-term bound that cruising leaves to other flows, from 0 to 1. Default 0.15.
    #[serde(with = "Ratio")]
    pub headroom: f64,
    /// Length of the window over which the smallest round trip is taken. Default 10 s.
    pub min_rtt_window: Span,
    /// Time without a shorter round trip after which the sender measures again. Default 5 s, at most min-rtt-window.
    pub probe_rtt_interval: Span,
    /// Time for which little data is kept in flight to measure the smallest round trip. Default 200 ms.
    pub probe_rtt_duration: Span,
    /// Data in flight during this measurement, as a part of the bandwidth-delay product, above 0 and below 1. Default
    /// 0.5.
    #[serde(with = "Ratio")]
    pub probe_rtt_gain: f64,
    /// Up to this round trip, the response to marks follows their share; on longer paths, a mark counts as a loss.
    /// Default 5 ms.
    pub ecn_max_rtt: Span,
    /// Part of the data in flight by which a round trip with only marks reduces it, from 0 to 1. Default 1/3.
    #[serde(with = "Ratio")]
    pub ecn_factor: f64,
    /// Part of a round trip that may be marked while bandwidth is probed, above 0 and below 1. Default 0.5.
    #[serde(with = "Ratio")]
    pub ecn_threshold: f64,
}

impl Default for BbrConfig {
    fn default() -> Self {
        BbrConfig {
            beta: 0.7,
            loss_threshold: 0.02,
            headroom: 0.15,
            min_rtt_window: Span::from_secs(10),
            probe_rtt_interval: Span::from_secs(5),
            probe_rtt_duration: Span::from_millis(200),
            probe_rtt_gain: 0.5,
            ecn_max_rtt: Span::from_millis(5),
            ecn_factor: 1.0 / 3.0,
            ecn_threshold: 0.5,
        }
    }
}

impl Checked for BbrConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_between("beta", self.beta, 0.0, 1.0, "beta = 0.7")?;
        check_between("loss-threshold", self.loss_threshold, 0.0, 1.0, "loss-threshold = 0.02")?;
        check_fraction("headroom", self.headroom, "headroom = 0.15")?;
        check_span("probe-rtt-interval", self.probe_rtt_interval, "probe-rtt-interval = \"5 s\"")?;
        if self.min_rtt_window < self.probe_rtt_interval {
            let allowed = format!("at least probe-rtt-interval ({})", self.probe_rtt_interval);
            return Err(ConfigError::new("min-rtt-window", self.min_rtt_window, allowed, "min-rtt-window = \"10 s\""));
        }
        check_span("probe-rtt-duration", self.probe_rtt_duration, "probe-rtt-duration = \"200 ms\"")?;
        check_between("probe-rtt-gain", self.probe_rtt_gain, 0.0, 1.0, "probe-rtt-gain = 0.5")?;
        check_fraction("ecn-factor", self.ecn_factor, "ecn-factor = 0.33")?;
        check_between("ecn-threshold", self.ecn_threshold, 0.0, 1.0, "ecn-threshold = 0.5")
    }
}

impl Law for BbrConfig {
    const NAME: &'static str = "tcp/bbr";
}

impl ControlLaw for BbrConfig {
    type Controller = Box<Bbr>;
    const RECOVERY: Recovery = Recovery::Sack;
    const CREDIT: bool = false;
    const SAMPLES: bool = true;
    const PACES: bool = true;

    fn controller(&self, preset: Preset) -> Box<Bbr> {
        self.controller_with(preset, Seed::default().stream("controller"))
    }

    fn controller_with(&self, _preset: Preset, stream: Stream) -> Box<Bbr> {
        Box::new(Bbr {
            config: *self,
            stream,
            state: State::Startup,
            rounds: Rounds::default(),
            max_bw: [0.0; 2],
            bounds: Bounds::default(),
            marked: MarkShare::default(),
            full: FullPipe::default(),
            drain_began: 0,
            cycle: Cycle::default(),
            min_rtt: MinRtt::default(),
            aggregation: Aggregation::default(),
            held: LimitedSamples::default(),
            pace: 0.0,
            prior: 0.0,
            initial: 0.0,
            lost: 0,
            recover: None,
            payload: 0,
        })
    }
}

/// `BBR.StartupPacingGain`: 4·ln 2.
const STARTUP_GAIN: f64 = 4.0 * std::f64::consts::LN_2;
const DRAIN_GAIN: f64 = 0.5;
const DOWN_GAIN: f64 = 0.9;
const UP_GAIN: f64 = 1.25;
/// `BBR.DefaultCwndGain`.
const CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
/// Margin of the pace below the rate (`BBR.PacingMarginPercent`).
const MARGIN: f64 = 0.01;
/// `BBR.MinPipeCwnd`: segments that keep delayed acknowledgements coming.
const LEAST: f64 = 4.0;
/// Three quanta of a segment each (`BBR.offload_budget`).
const QUANTA: f64 = 3.0;
/// Rate growth below this factor, for this many round trips, means that the pipe is full.
const GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Drain lasts for at most this many round trips.
const DRAIN_ROUNDS: u64 = 3;
/// `BBRStartupFullLossCnt`.
const STARTUP_LOSSES: u32 = 6;

/// Phase of BBR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => STARTUP_GAIN,
            State::Drain => DRAIN_GAIN,
            State::Down => DOWN_GAIN,
            State::Up => UP_GAIN,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    /// `IsInAProbeBWState`.
    fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// `IsProbingBW`.
    fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

/// Detects that the rate has stopped growing (`CheckFullBWReached`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct FullPipe {
    /// The rate that further growth is compared with.
    bw: f64,
    count: u32,
    now: bool,
    /// True after the pipe was full once.
    reached: bool,
}

impl FullPipe {
    /// `ResetFullBW`: further growth is compared with `bw`.
    fn reset(&mut self, bw: f64) {
        *self = FullPipe { bw, count: 0, now: false, reached: self.reached };
    }

    fn check(&mut self, rate: f64) {
        if rate >= self.bw * GROWTH {
            self.reset(rate);
            return;
        }
        self.count += 1;
        self.now = self.count >= FULL_ROUNDS;
        self.reached |= self.now;
    }
}

/// Excess of acknowledged data over the estimated rate (`UpdateACKAggregation`).
#[derive(Clone, PartialEq, Debug, Default)]
struct Aggregation {
    since: Instant,
    delivered: f64,
    extra: MaxOverRounds<10>,
}

impl Aggregation {
    fn update(&mut self, path: &Path, newly: f64, bw: f64, window: f64, round: u64, long: bool) {
        let mut expected = bw * path.now.span_since(self.since).seconds();
        if self.delivered <= expected {
            (self.delivered, self.since, expected) = (0.0, path.now, 0.0);
        }
        self.delivered += newly;
        self.extra.note(round, (self.delivered - expected).min(window));
        if !long {
            self.extra.keep_present_only();
        }
    }
}

/// The window and the pace of BBR, version 3.
#[derive(Clone, PartialEq, Debug)]
pub struct Bbr {
    config: BbrConfig,
    stream: Stream,
    state: State,
    rounds: Rounds,
    /// The largest rates of the previous and the current probing cycle, segments per second.
    max_bw: [f64; 2],
    bounds: Bounds,
    marked: MarkShare,
    full: FullPipe,
    /// The round trip in which Drain began.
    drain_began: u64,
    cycle: Cycle,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    held: LimitedSamples,
    /// Segments per second; 0 before the first sample.
    pace: f64,
    /// `BBR.prior_cwnd`: the window to return to.
    prior: f64,
    /// The initial window.
    initial: f64,
    /// Losses so far.
    lost: u64,
    /// Recovery ends when everything before this segment is acknowledged.
    recover: Option<u32>,
    /// Bytes of a segment.
    payload: u32,
}

/// An acknowledgement, prepared for all steps.
#[derive(Clone, Copy, Debug)]
struct Ack<'a> {
    path: &'a Path,
    sample: &'a RateSample,
    /// The delivery rate; 0 if the interval was too short.
    rate: f64,
    /// RS.delivered: segments delivered in the sample's interval.
    delivered: f64,
    /// Segments newly counted as lost since the previous acknowledgement.
    lost: u64,
    /// The sender, or this law, kept less in flight than the path can carry.
    is_limited: bool,
    /// The window was full before this acknowledgement.
    fills_window: bool,
}

impl Bbr {
    /// `BBR.max_bw`.
    fn max_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// `BoundBWForModel`.
    fn bw(&self) -> f64 {
        self.max_bw().min(self.bounds.bw_shortterm)
    }

    /// `BDPMultiple` of this rate: `gain` times the bandwidth-delay product, segments.
    fn product(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt.seconds() == f64::INFINITY { self.initial } else { gain * bw * self.min_rtt.seconds() }
    }

    /// `QuantizationBudget`.
    fn with_quanta(&self, inflight: f64) -> f64 {
        inflight.max(QUANTA).max(LEAST) + if self.state == State::Up { 2.0 } else { 0.0 }
    }

    /// `Inflight`.
    fn inflight(&self, bw: f64) -> f64 {
        self.with_quanta(self.product(bw, 1.0))
    }

    /// `TargetInflight`.
    fn target_inflight(&self, window: &Window) -> f64 {
        self.product(self.bw(), 1.0).min(window.congestion)
    }

    /// `UpdateMaxBw`, without the round count.
    fn update_max_bw(&mut self, ack: &Ack) {
        if ack.rate > 0.0 && (ack.rate >= self.max_bw() || !ack.is_limited) {
            self.max_bw[1] = self.max_bw[1].max(ack.rate);
        }
    }

    /// `AdvanceMaxBwFilter`.
    fn advance_max_bw(&mut self) {
        if self.max_bw[1] > 0.0 {
            self.max_bw = [self.max_bw[1], 0.0];
        }
    }

    /// `CheckStartupDone` and `CheckStartupHighLoss`.
    fn check_startup(&mut self, ack: &Ack) {
        if self.state != State::Startup {
            return;
        }
        let losses = self.bounds.startup_losses(ack, self.recover.is_some(), STARTUP_LOSSES);
        let too_many = losses && self.bounds.is_too_high(ack, &self.config, self.marked.is_counted);
        if !self.full.reached && (too_many || self.marked.ends_startup()) {
            (self.full.now, self.full.reached) = (true, true);
            self.bounds.inflight_longterm = self.product(self.max_bw(), 1.0).max(self.bounds.inflight_latest);
        }
        if self.full.reached {
            self.state = State::Drain;
            self.drain_began = self.rounds.count;
        }
    }

    /// `CheckDrainDone`.
    fn check_drain(&mut self, ack: &Ack) {
        let drained = f64::from(ack.path.pipe) <= self.inflight(self.bw());
        if self.state == State::Drain && (drained || self.rounds.count > self.drain_began + DRAIN_ROUNDS) {
            self.start_down(ack.path);
        }
    }

    /// `SetPacingRate`. Before the pipe was full, the pace only rises.
    fn set_pace(&mut self) {
        let pace = self.state.pacing_gain() * self.bw() * (1.0 - MARGIN);
        if pace > 0.0 && (self.full.reached || pace > self.pace) {
            self.pace = pace;
        }
    }

    /// `SetCwnd`, with `UpdateMaxInflight`, `BoundCwndForProbeRTT` and `BoundCwndForModel`.
    fn set_window(&self, ack: &Ack, window: &mut Window) {
        let gain = match self.state {
            State::Up => UP_CWND_GAIN,
            State::ProbeRtt => self.config.probe_rtt_gain,
            _ => CWND_GAIN,
        };
        let most = self.with_quanta(self.product(self.bw(), gain) + self.aggregation.extra.largest());
        let newly = f64::from(ack.sample.newly_delivered);
        let mut congestion = window.congestion;
        if self.full.reached {
            congestion = (congestion + newly).min(most);
        } else if congestion < most || (ack.path.delivered as f64) < self.initial {
            congestion += newly;
        }
        congestion = congestion.max(LEAST);
        if self.state == State::ProbeRtt {
            congestion = congestion.min(self.probe_rtt_window());
        }
        let longterm = match self.state {
            State::Cruise | State::ProbeRtt => self.bounds.with_headroom(self.config.headroom),
            state if state.is_probe_bw() => self.bounds.inflight_longterm,
            _ => f64::INFINITY,
        };
        window.congestion = congestion.min(longterm.min(self.bounds.inflight_shortterm).max(LEAST));
    }

    /// `SaveCwnd`.
    fn save(&mut self, window: &Window) {
        let undisturbed = self.recover.is_none() && self.state != State::ProbeRtt;
        self.prior = if undisturbed { window.congestion } else { self.prior.max(window.congestion) };
    }

    /// `RestoreCwnd`.
    fn restore(&self, window: &mut Window) {
        window.congestion = window.congestion.max(self.prior);
    }

    fn leave_recovery(&mut self, window: &mut Window) {
        if self.recover.take().is_some() {
            self.restore(window);
        }
    }

    fn begin(&mut self, path: &Path, window: &Window) {
        self.initial = window.congestion;
        self.min_rtt.begin(path.now);
        self.aggregation.since = path.now;
        self.pace = self.pacing(path, window);
    }

    /// The pace before the first sample (`InitPacingRate`) and after it.
    fn pacing(&self, path: &Path, window: &Window) -> f64 {
        if self.pace > 0.0 {
            return self.pace;
        }
        let rtt = if path.rtt > Span::ZERO { path.rtt } else { Span::from_millis(1) };
        STARTUP_GAIN * window.congestion / rtt.seconds()
    }
}

impl Controller for Box<Bbr> {
    fn on_ack(&mut self, _path: &Path, _window: &mut Window) {}

    /// `UpdateOnACK`, losses first.
    fn on_sample(&mut self, path: &Path, sample: &RateSample, window: &mut Window) {
        if self.initial == 0.0 {
            self.begin(path, window);
        }
        if self.recover.is_some_and(|recover| path.unacknowledged >= recover) {
            self.leave_recovery(window);
        }
        let lost = path.lost.saturating_sub(self.lost);
        (self.lost, self.payload) = (path.lost, path.payload);
        let before = f64::from(path.pipe) + f64::from(sample.newly_delivered) + lost as f64;
        let ack = Ack {
            path,
            sample,
            rate: rate(sample),
            delivered: path.delivered.saturating_sub(sample.prior_delivered) as f64,
            lost,
            is_limited: self.held.limits(sample),
            fills_window: before >= window.congestion.floor(),
        };
        self.marked.take(&ack, &self.config, self.min_rtt.seconds());
        self.note_losses(&ack, window);
        self.bounds.update_latest(&ack);
        self.rounds.update(path, sample);
        self.cycle.count_round(self.rounds.begins);
        self.update_max_bw(&ack);
        self.marked.end_round(self.rounds.begins, &self.config);
        self.adapt_lower_bounds(window);
        let (newly, round) = (f64::from(sample.newly_delivered), self.rounds.count);
        self.aggregation.update(path, newly, self.bw(), window.congestion, round, self.full.reached);
        if !self.full.now && self.rounds.begins && !ack.is_limited && ack.rate > 0.0 {
            self.full.check(ack.rate);
        }
        self.check_startup(&ack);
        self.check_drain(&ack);
        self.update_cycle(&ack, window);
        self.update_min_rtt(&ack);
        self.check_probe_rtt(&ack, window);
        self.bounds.advance_latest(&ack);
        self.set_pace();
        self.set_window(&ack, window);
    }

    /// `OnEnterFastRecovery`.
    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        self.save(window);
        self.recover = Some(path.next);
        window.threshold = window.congestion;
        Verdict::Congestion
    }

    /// A mark without a count is handled as a loss. Counted marks arrive with the samples.
    fn on_mark(&mut self, path: &Path, _window: &mut Window) {
        if path.marked == 0 {
            self.bounds.note_loss(path);
        }
    }

    fn on_recovered(&mut self, _path: &Path, window: &mut Window) {
        self.leave_recovery(window);
    }

    /// `OnEnterRTO`.
    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        self.save(window);
        self.bounds.note_loss(path);
        self.recover = Some(path.next);
        window.congestion = 1.0;
        Verdict::Congestion
    }

    /// The window stays unchanged: pacing alone prevents a burst at the restart.
    fn on_restart(&mut self, _path: &Path, window: &mut Window) {
        if self.full.reached {
            window.congestion = window.congestion.max(self.with_quanta(self.product(self.bw(), CWND_GAIN)));
        }
    }

    fn pacing(&self, path: &Path, window: &Window) -> f64 {
        Bbr::pacing(self, path, window)
    }

    /// `BBR.bw`, bits per second of payload.
    fn estimate(&self) -> Option<Estimate> {
        let bits = self.bw() * f64::from(self.payload) * 8.0;
        (bits > 0.0).then_some(Estimate::Bandwidth(bits))
    }
}
