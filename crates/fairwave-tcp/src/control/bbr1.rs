//! BBR, version 1: paced at the measured delivery rate, with little more than the bandwidth-delay product in flight.
//!
//! Source: draft-cardwell-iccrg-bbr-congestion-control-00, by the names of its functions. The bottleneck bandwidth
//! is the largest delivery rate of the last ten round trips. The round-trip propagation time is the smallest round
//! trip of the last ten seconds. *Startup* doubles the rate each round trip until three round trips have added
//! less than a quarter. *Drain* empties the queue that Startup left. *ProbeBW* has eight phases of a round trip
//! each: a quarter faster, a quarter slower, and six at the rate. *ProbeRTT* keeps four segments in flight for
//! 200 ms if ten seconds have brought no round trip as short. Losses affect the model only by reducing deliveries.
//! In the first round trip of a recovery the sender sends as much as is delivered; afterwards the previous window
//! returns.
//!
//! The preset `linux` adds three features of Linux (`net/ipv4/tcp_bbr.c`): extra window for aggregated
//! acknowledgements (`aggregation`), windows of even numbers, and a pace 1 % below the rate.
//!
//! **Assumptions and deviations.** Linux' long-term model of policers is left out. Segments leave one by one: the
//! sender passes no larger pieces to hardware. But the window has room for three quanta (`BBR.send_quantum`), as
//! for senders that do. A restart after an idle time is recognised by the first segment delivered after it, which
//! was alone in flight. ProbeRTT is skipped then, but the pace of the flight before is not lowered to the rate
//! itself. The connection's random stream selects the first phase of ProbeBW. Marks are ignored, as losses are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bbr::filter::{LimitedSamples, MaxOverRounds, Rounds, rate, round_trip};
use super::{ControlLaw, Controller, Estimate, Path, RateSample, Verdict, Window};
use crate::{Preset, Recovery};
use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::random::{Seed, Stream};
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Span};

use aggregation::Aggregation;

mod aggregation;

/// BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00). It sends at the largest recent delivery rate, keeps
/// about one bandwidth-delay product in flight, and almost ignores losses.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Bbr1Config {
    /// The window while probing for bandwidth, in estimated bandwidth-delay products; above 1. Default 2.
    pub cwnd_gain: f64,
    /// Length of the window over which the smallest round trip is taken; then the sender measures again. Default 10 s.
    pub min_rtt_window: Span,
    /// Time for which four segments are kept in flight to measure the smallest round trip. Default 200 ms.
    pub probe_rtt_duration: Span,
    /// The window grows by the measured aggregation of acknowledgements, at most by the data of 100 ms. Default: linux
    /// true, else false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-defaults" = Preset::defaults(&Preset::ALL, |preset| preset == Preset::Linux)))]
    pub ack_aggregation: Option<bool>,
    /// Rounds the window up to an even number of segments, and adds two while probing for bandwidth. Default: linux
    /// true, else false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-defaults" = Preset::defaults(&Preset::ALL, |preset| preset == Preset::Linux)))]
    pub even_window: Option<bool>,
    /// Margin by which pacing stays below the rate that the gains give, 0 to 1. Default: linux 0.01, else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-defaults" = Preset::defaults(&Preset::ALL, margin)))]
    pub pacing_margin: Option<f64>,
}

impl Default for Bbr1Config {
    fn default() -> Self {
        Bbr1Config {
            cwnd_gain: 2.0,
            min_rtt_window: Span::from_secs(10),
            probe_rtt_duration: Span::from_millis(200),
            ack_aggregation: None,
            even_window: None,
            pacing_margin: None,
        }
    }
}

impl Checked for Bbr1Config {
    fn check(&self) -> Result<(), ConfigError> {
        check_between("cwnd-gain", self.cwnd_gain, 1.0, f64::INFINITY, "cwnd-gain = 2.0")?;
        check_span("min-rtt-window", self.min_rtt_window, "min-rtt-window = \"10 s\"")?;
        check_span("probe-rtt-duration", self.probe_rtt_duration, "probe-rtt-duration = \"200 ms\"")?;
        match self.pacing_margin {
            Some(margin) if margin != 0.0 => check_between("pacing-margin", margin, 0.0, 1.0, "pacing-margin = 0.01"),
            _ => Ok(()),
        }
    }
}

impl Law for Bbr1Config {
    const NAME: &'static str = "tcp/bbr1";
}

impl ControlLaw for Bbr1Config {
    type Controller = Box<Bbr1>;
    const RECOVERY: Recovery = Recovery::Sack;
    const CREDIT: bool = false;
    const SAMPLES: bool = true;
    const PACES: bool = true;

    fn controller(&self, preset: Preset) -> Box<Bbr1> {
        self.controller_with(preset, Seed::default().stream("controller"))
    }

    fn controller_with(&self, preset: Preset, stream: Stream) -> Box<Bbr1> {
        let is_linux = preset == Preset::Linux;
        Box::new(Bbr1 {
            aggregation: self.ack_aggregation.unwrap_or(is_linux).then(Aggregation::default),
            even: self.even_window.unwrap_or(is_linux),
            below: self.pacing_margin.unwrap_or(margin(preset)),
            config: *self,
            stream,
            state: State::Startup,
            bandwidth: MaxOverRounds::default(),
            rounds: Rounds::default(),
            min_rtt: f64::INFINITY,
            min_rtt_at: Instant::ZERO,
            full: 0.0,
            full_count: 0,
            filled: false,
            cycle_at: Instant::ZERO,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            pace: 0.0,
            prior: 0.0,
            initial: 0.0,
            lost: 0,
            conserves: false,
            recover: None,
            held: LimitedSamples::default(),
            payload: 0,
        })
    }
}

/// `bbr_pacing_margin_percent` of Linux.
const LINUX_MARGIN: f64 = 0.01;

/// Margin of the pace below the gains, if not configured.
fn margin(preset: Preset) -> f64 {
    if preset == Preset::Linux { LINUX_MARGIN } else { 0.0 }
}
/// `BBRHighGain`, 2/ln 2: the smallest gain that doubles the rate each round trip.
const HIGH_GAIN: f64 = 2.0 / std::f64::consts::LN_2;
/// Pacing gains of the phases of ProbeBW.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `BBRMinPipeCwnd`: segments that keep delayed acknowledgements coming.
const LEAST: f64 = 4.0;
/// Quanta added to the model's window: in the sender, on the wire, at the receiver.
const QUANTA: f64 = 3.0;
/// Segments that Linux adds while probing for bandwidth, so that a small window can grow.
const PROBING: f64 = 2.0;
/// Paces in bits of payload per second: below the first a quantum is one segment, below the second two.
const PACES: [f64; 2] = [1.2e6, 24e6];
/// Above both, a quantum is the data of a millisecond, but at most this many bytes.
const LARGEST_QUANTUM: f64 = 65_536.0;
/// Rate growth below this factor, for this many round trips, means that the pipe is full.
const GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;

/// Phase of BBR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Startup,
    Drain,
    /// Bandwidth probing, with the index of the phase.
    ProbeBw(usize),
    ProbeRtt,
}

/// The window and the pace of BBR, version 1.
#[derive(Clone, PartialEq, Debug)]
pub struct Bbr1 {
    config: Bbr1Config,
    aggregation: Option<Aggregation>,
    /// Margin of the pace below the gains.
    below: f64,
    /// Windows are even, and two segments larger while probing for bandwidth.
    even: bool,
    stream: Stream,
    state: State,
    /// Segments per second.
    bandwidth: MaxOverRounds<10>,
    rounds: Rounds,
    /// Seconds.
    min_rtt: f64,
    min_rtt_at: Instant,
    full: f64,
    full_count: u32,
    /// True after the pipe was full once.
    filled: bool,
    /// Start of the phase.
    cycle_at: Instant,
    /// The end of ProbeRTT, once the data in flight is small enough.
    probe_rtt_until: Option<Instant>,
    probe_rtt_round_done: bool,
    /// Segments per second; 0 before the first sample.
    pace: f64,
    /// The window to return to.
    prior: f64,
    /// The initial window.
    initial: f64,
    /// Losses so far.
    lost: u64,
    /// Packet conservation: the sender sends as much as is delivered.
    conserves: bool,
    /// Recovery ends when everything before this segment is acknowledged.
    recover: Option<u32>,
    held: LimitedSamples,
    /// Bytes of a segment.
    payload: u32,
}

impl Bbr1 {
    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => HIGH_GAIN,
            State::Drain => 1.0 / HIGH_GAIN,
            State::ProbeBw(phase) => CYCLE[phase],
            State::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => HIGH_GAIN,
            State::ProbeBw(_) => self.config.cwnd_gain,
            State::ProbeRtt => 1.0,
        }
    }

    /// `BBRInflight`: segments in flight for this multiple of the bandwidth-delay product.
    fn inflight(&self, gain: f64) -> f64 {
        self.inflight_and(gain, 0.0)
    }

    /// The same, plus `more` segments.
    fn inflight_and(&self, gain: f64, more: f64) -> f64 {
        if self.min_rtt == f64::INFINITY {
            return self.initial;
        }
        let target = gain * self.bandwidth.largest() * self.min_rtt + more + QUANTA * self.quantum();
        match self.even {
            true => 2.0 * libm::ceil(target / 2.0) + if self.state == State::ProbeBw(0) { PROBING } else { 0.0 },
            false => target,
        }
    }

    /// `BBRSetSendQuantum`: in segments.
    fn quantum(&self) -> f64 {
        let segment = f64::from(self.payload);
        let pace = self.pace * segment;
        if pace * 8.0 < PACES[0] {
            1.0
        } else if pace * 8.0 < PACES[1] {
            2.0
        } else {
            (pace * 1e-3).min(LARGEST_QUANTUM) / segment
        }
    }

    /// `BBRUpdateBtlBw`.
    fn update_bandwidth(&mut self, path: &Path, sample: &RateSample) {
        self.rounds.update(path, sample);
        if self.rounds.begins {
            self.conserves = false;
            self.bandwidth.move_to(self.rounds.count);
        }
        let rate = rate(sample);
        if rate > 0.0 && (rate >= self.bandwidth.largest() || !self.held.limits(sample)) {
            self.bandwidth.note(self.rounds.count, rate);
        }
    }

    /// `BBRCheckCyclePhase`.
    fn check_cycle_phase(&mut self, path: &Path, lost: u64, before: f64) {
        let State::ProbeBw(phase) = self.state else { return };
        let is_full_length = path.now.span_since(self.cycle_at).seconds() > self.min_rtt;
        let gain = CYCLE[phase];
        let ends = if gain > 1.0 {
            is_full_length && (lost > 0 || before >= self.inflight(gain))
        } else if gain < 1.0 {
            is_full_length || before <= self.inflight(1.0)
        } else {
            is_full_length
        };
        if ends {
            self.state = State::ProbeBw((phase + 1) % CYCLE.len());
            self.cycle_at = path.now;
        }
    }

    /// `BBREnterProbeBW`: starts in any phase except the draining one.
    fn enter_probe_bw(&mut self, now: Instant) {
        let back = self.stream.uniform_below(CYCLE.len() as u64 - 1) as usize;
        self.state = State::ProbeBw((CYCLE.len() - back) % CYCLE.len());
        self.cycle_at = now;
    }

    /// `BBRCheckFullPipe`.
    fn check_full_pipe(&mut self, sample: &RateSample) {
        if self.filled || !self.rounds.begins || self.held.limits(sample) {
            return;
        }
        if self.bandwidth.largest() >= self.full * GROWTH {
            (self.full, self.full_count) = (self.bandwidth.largest(), 0);
            return;
        }
        self.full_count += 1;
        self.filled = self.full_count >= FULL_ROUNDS;
    }

    /// `BBRCheckDrain`.
    fn check_drain(&mut self, path: &Path) {
        if self.state == State::Startup && self.filled {
            self.state = State::Drain;
        }
        if self.state == State::Drain && f64::from(path.pipe) <= self.inflight(1.0) {
            self.enter_probe_bw(path.now);
        }
    }

    /// `BBRUpdateRTprop` and `BBRCheckProbeRTT`.
    fn check_probe_rtt(&mut self, path: &Path, sample: &RateSample, window: &mut Window) {
        let expired = path.now.span_since(self.min_rtt_at) > self.config.min_rtt_window;
        if let Some(rtt) = round_trip(sample).filter(|rtt| *rtt <= self.min_rtt || expired) {
            (self.min_rtt, self.min_rtt_at) = (rtt, path.now);
        }
        let was_idle = sample.application_limited && sample.in_flight <= 1;
        if self.state != State::ProbeRtt && expired && !was_idle {
            self.save(window);
            self.state = State::ProbeRtt;
            self.probe_rtt_until = None;
        }
        if self.state != State::ProbeRtt {
            return;
        }
        self.held.mark(path);
        match self.probe_rtt_until {
            None if f64::from(path.pipe) <= LEAST => {
                self.probe_rtt_until = Some(path.now + self.config.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.rounds.begin(path);
            }
            Some(until) => {
                self.probe_rtt_round_done |= self.rounds.begins;
                if self.probe_rtt_round_done && path.now > until {
                    self.min_rtt_at = path.now;
                    self.restore(window);
                    if self.filled {
                        self.enter_probe_bw(path.now);
                    } else {
                        self.state = State::Startup;
                    }
                }
            }
            None => {}
        }
    }

    /// `BBRSetPacingRate`. Before the pipe was full, the pace only rises.
    fn set_pace(&mut self) {
        let pace = self.pacing_gain() * (1.0 - self.below) * self.bandwidth.largest();
        if pace > 0.0 && (self.filled || pace > self.pace) {
            self.pace = pace;
        }
    }

    /// `BBRSetCwnd`.
    fn set_window(&self, path: &Path, sample: &RateSample, lost: u64, window: &mut Window) {
        let bunches = self.aggregation.as_ref().filter(|_| self.filled);
        let more = bunches.map_or(0.0, |bunches| bunches.window(self.bandwidth.largest()));
        let (target, delivered) = (self.inflight_and(self.cwnd_gain(), more), f64::from(sample.newly_delivered));
        let mut congestion = window.congestion;
        if lost > 0 {
            congestion = (congestion - lost as f64).max(1.0);
        }
        if self.conserves {
            congestion = congestion.max(f64::from(path.pipe) + delivered);
        } else {
            if self.filled {
                congestion = (congestion + delivered).min(target);
            } else if congestion < target || (path.delivered as f64) < self.initial {
                congestion += delivered;
            }
            congestion = congestion.max(LEAST);
        }
        if self.state == State::ProbeRtt {
            congestion = congestion.min(LEAST);
        }
        window.congestion = congestion;
    }

    /// `BBRSaveCwnd`.
    fn save(&mut self, window: &Window) {
        let undisturbed = self.recover.is_none() && self.state != State::ProbeRtt;
        self.prior = if undisturbed { window.congestion } else { self.prior.max(window.congestion) };
    }

    /// `BBRRestoreCwnd`.
    fn restore(&self, window: &mut Window) {
        window.congestion = window.congestion.max(self.prior);
    }

    fn leave_recovery(&mut self, window: &mut Window) {
        if self.recover.take().is_some() {
            self.conserves = false;
            self.restore(window);
        }
    }
}

impl Controller for Box<Bbr1> {
    fn on_ack(&mut self, _path: &Path, _window: &mut Window) {}

    fn on_mark(&mut self, _path: &Path, _window: &mut Window) {}

    fn on_sample(&mut self, path: &Path, sample: &RateSample, window: &mut Window) {
        if self.initial == 0.0 {
            self.initial = window.congestion;
            self.min_rtt_at = path.now;
        }
        if self.recover.is_some_and(|recover| path.unacknowledged >= recover) {
            self.leave_recovery(window);
        }
        self.payload = path.payload;
        let lost = path.lost.saturating_sub(self.lost);
        self.lost = path.lost;
        let before = f64::from(path.pipe) + f64::from(sample.newly_delivered) + lost as f64;
        self.update_bandwidth(path, sample);
        if let Some(aggregation) = &mut self.aggregation {
            aggregation.update(path.now, self.rounds.begins, sample, self.bandwidth.largest(), window.congestion);
        }
        self.check_cycle_phase(path, lost, before);
        self.check_full_pipe(sample);
        self.check_drain(path);
        self.check_probe_rtt(path, sample, window);
        self.set_pace();
        self.set_window(path, sample, lost, window);
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        self.save(window);
        self.recover = Some(path.next);
        self.conserves = true;
        self.rounds.begin(path);
        // Segments lost by now are no longer in flight; they must not be subtracted again.
        self.lost = path.lost.max(self.lost);
        window.congestion = f64::from(path.pipe).max(1.0) + 1.0;
        window.threshold = window.congestion;
        Verdict::Congestion
    }

    fn on_recovered(&mut self, _path: &Path, window: &mut Window) {
        self.leave_recovery(window);
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        self.save(window);
        self.recover = Some(path.next);
        self.conserves = false;
        window.congestion = 1.0;
        Verdict::Congestion
    }

    /// The window stays unchanged: pacing alone prevents a burst at the restart.
    fn on_restart(&mut self, _path: &Path, window: &mut Window) {
        if self.filled {
            window.congestion = window.congestion.max(self.inflight(self.config.cwnd_gain));
        }
    }

    fn pacing(&self, path: &Path, window: &Window) -> f64 {
        if self.pace > 0.0 {
            return self.pace;
        }
        let rtt = if path.rtt > Span::ZERO { path.rtt } else { Span::from_millis(1) };
        HIGH_GAIN * window.congestion / rtt.seconds()
    }

    /// The bottleneck bandwidth, bits per second of payload.
    fn estimate(&self) -> Option<Estimate> {
        let bits = self.bandwidth.largest() * f64::from(self.payload) * 8.0;
        (bits > 0.0).then_some(Estimate::Bandwidth(bits))
    }
}

#[cfg(test)]
mod clauses;
#[cfg(test)]
mod tests;
