//! NADA: combines delay, marks and losses into one congestion signal that sets the rate (RFC 8698).
//!
//! The sender computes the receiver's part of the RFC from per-packet feedback (§6.4), every 100 ms (DELTA). The
//! queueing delay is the least of 15 samples (§5.1.1). It is warped down if it is long and packets were lost recently
//! (Eq. 1). With the shares of marked and lost packets it forms the signal x (Eq. 2). Without loss and delay for 500 ms
//! the rate climbs to (1 + γ) times the arrival rate (Eq. 3 and 4). Otherwise it moves by the distance of x from its
//! balance and by its change (Eq. 5 to 7). The backlog of the pacer reduces the encoders' rate and increases the
//! pacer's rate (Eq. 11 to 14).
//!
//! **Assumptions.**
//! - A message counts as due a tenth of DELTA early, so that feedback every 100 ms with jitter is handled each time.
//! - A packet that feedback reports as missing is lost, even if it arrives later (§5.1.2 treats packets out of order as
//!   lost). Reordering within a message does not count.
//! - The loss interval is the mean of the closed intervals of RFC 5348 §5.4; the first interval is the number of
//!   packets before the first loss. x is at most 3.2767 s (§5.3: 15 bits of 100 µs).
//! - The base delay is the least of ten minutes, kept per minute (§5.1.1: 'tens of minutes').
//! - RMIN and RMAX are the lowest and the highest rate of the encoders. The session starts at the configured rate, not
//!   at RMIN.
//! - Between messages nothing changes: without feedback the rate stays.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_network::packet::Ecn;
use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate, Span};

use super::loss_events::LossEvents;
use super::reports::{News, Reports, signed_delay};
use super::{ControlLaw, ControlView, Decision, Feedback, Limits, RateController};

// Table 2; times in seconds.
const KAPPA: f64 = 0.5;
const ETA: f64 = 2.0;
const TAU: f64 = 0.5;
const DELTA: f64 = 0.1;
/// Time after which a message counts as due, s.
const DUE: f64 = 0.090;
const LOGWIN: Span = Span::from_millis(500);
const QEPS: f64 = 0.010;
const DFILT: f64 = 0.120;
const GAMMA_MAX: f64 = 0.5;
const QBOUND: f64 = 0.050;
const MULTILOSS: f64 = 7.0;
const LAMBDA: f64 = 0.5;
const PLRREF: f64 = 0.01;
const PMRREF: f64 = 0.01;
const DLOSS: f64 = 0.010;
const DMARK: f64 = 0.002;
const FPS: f64 = 30.0;
const BETA_S: f64 = 0.1;
const BETA_V: f64 = 0.1;
const ALPHA: f64 = 0.1;
/// §5.1.1: samples of the filter.
const SAMPLES: usize = 15;
/// Largest signal (§5.3), s.
const LARGEST: f64 = 3.2767;
/// Gain of the smoothed round trip, as in RFC 6298.
const ROUND_TRIP_GAIN: f64 = 0.125;
/// Number of minutes in the window of the base delay.
const MINUTES: usize = 10;

/// NADA at the sender.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct NadaConfig {
    /// Weight of the flow (PRIO). Above 0; default 1.
    pub priority: f64,
    /// The signal at which a flow of the highest rate is in balance (XREF). Above 0; default 10 ms.
    pub reference: Span,
    /// Delay above which losses warp it down (QTH). Above 0; default 50 ms.
    pub warp_from: Span,
    /// Packets carry ECT(0), so that queues may mark them. Default true.
    pub ecn: bool,
}

impl Default for NadaConfig {
    fn default() -> Self {
        NadaConfig { priority: 1.0, reference: Span::from_millis(10), warp_from: Span::from_millis(50), ecn: true }
    }
}

impl Checked for NadaConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_between("priority", self.priority, 0.0, f64::INFINITY, "priority = 1.0")?;
        check_span("reference", self.reference, "reference = \"10 ms\"")?;
        check_span("warp-from", self.warp_from, "warp-from = \"50 ms\"")
    }
}

impl Law for NadaConfig {
    const NAME: &'static str = "nada";
    const EXAMPLE: &'static str = r#"{"priority": 2.0}"#;
}

impl ControlLaw for NadaConfig {
    type Controller = Nada;

    fn controller(&self, _stream: Stream) -> Nada {
        Nada::new(*self)
    }

    fn ecn(&self) -> Ecn {
        if self.ecn { Ecn::Ect0 } else { Ecn::NotEct }
    }
}

/// A packet of the observation window.
#[derive(Clone, Copy, Debug)]
struct ObservedPacket {
    at: Instant,
    bits: f64,
    is_lost: bool,
    is_marked: bool,
    is_delayed: bool,
}

/// State of NADA: rates in bits per second, times in seconds.
#[derive(Clone, Debug)]
pub struct Nada {
    config: NadaConfig,
    limits: Limits,
    reports: Reports,
    events: LossEvents,
    highest: u64,
    first: Option<u64>,
    /// Least delay of each minute, newest last, and the start of the newest minute.
    base: VecDeque<f64>,
    minute: Option<Instant>,
    samples: VecDeque<f64>,
    seen: VecDeque<ObservedPacket>,
    newest: Instant,
    // Sums over `seen`.
    arrived_bits: f64,
    lost: u32,
    marked: u32,
    delayed: u32,
    loss_ratio: f64,
    mark_ratio: f64,
    round_trip: Option<f64>,
    rate: f64,
    signal: f64,
    updated: Option<Instant>,
    waiting: f64,
    state: &'static str,
}

impl Nada {
    fn new(config: NadaConfig) -> Self {
        Nada {
            config,
            limits: Limits { start: Rate::default(), least: Rate::default(), most: Rate::default() },
            reports: Reports::default(),
            events: LossEvents::default(),
            highest: 0,
            first: None,
            base: VecDeque::new(),
            minute: None,
            samples: VecDeque::new(),
            seen: VecDeque::new(),
            newest: Instant::ZERO,
            arrived_bits: 0.0,
            lost: 0,
            marked: 0,
            delayed: 0,
            loss_ratio: 0.0,
            mark_ratio: 0.0,
            round_trip: None,
            rate: 0.0,
            signal: 0.0,
            updated: None,
            waiting: 0.0,
            state: "start",
        }
    }

    fn range(&self) -> (f64, f64) {
        let least = self.limits.least.bits_per_second() as f64;
        (least, (self.limits.most.bits_per_second() as f64).max(least))
    }

    fn clamped(&self, rate: f64) -> f64 {
        let (least, most) = self.range();
        // Eq. (8) and (9).
        rate.min(most).max(least)
    }

    fn base_delay(&mut self, now: Instant, delay: f64) -> f64 {
        if self.minute.is_none_or(|began| now - began >= Span::from_secs(60)) {
            self.minute = Some(now);
            self.base.push_back(f64::INFINITY);
            if self.base.len() > MINUTES {
                self.base.pop_front();
            }
        }
        if let Some(newest) = self.base.back_mut() {
            *newest = newest.min(delay);
        }
        self.base.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn see(&mut self, seen: ObservedPacket) {
        self.count(&seen, 1);
        self.seen.push_back(seen);
        while self.seen.front().is_some_and(|oldest| self.newest - oldest.at > LOGWIN) {
            if let Some(oldest) = self.seen.pop_front() {
                self.count(&oldest, -1);
            }
        }
        if self.seen.is_empty() {
            self.arrived_bits = 0.0;
        }
    }

    fn count(&mut self, seen: &ObservedPacket, by: i32) {
        let add = |number: &mut u32, is: bool| *number = number.saturating_add_signed(by * i32::from(is));
        add(&mut self.lost, seen.is_lost);
        add(&mut self.marked, seen.is_marked);
        add(&mut self.delayed, seen.is_delayed);
        if !seen.is_lost {
            self.arrived_bits += seen.bits * f64::from(by);
        }
    }

    fn read(&mut self, feedback: &Feedback<'_>) {
        for report in feedback.packets {
            let first = *self.first.get_or_insert(report.packet.sequence);
            let bits = report.packet.size.get() as f64 * 8.0;
            match (self.reports.take(report), report.arrived) {
                (News::Missing, _) => {
                    let round_trip = Span::from_seconds(self.round_trip.unwrap_or(0.0));
                    if self.events.on_lost(&report.packet, round_trip) {
                        self.events.set_first_interval(report.packet.sequence.saturating_sub(first) as f64);
                    }
                    let at = self.newest;
                    self.see(ObservedPacket { at, bits, is_lost: true, is_marked: false, is_delayed: false });
                }
                (News::Arrived | News::Recovered, Some(arrived)) => {
                    self.newest = self.newest.max(arrived);
                    self.highest = self.highest.max(report.packet.sequence);
                    let delay = signed_delay(report.packet.sent, arrived);
                    let queued = delay - self.base_delay(feedback.now, delay);
                    self.samples.push_back(queued);
                    if self.samples.len() > SAMPLES {
                        self.samples.pop_front();
                    }
                    let is_marked = report.ecn == Ecn::Ce;
                    self.see(ObservedPacket {
                        at: arrived,
                        bits,
                        is_lost: false,
                        is_marked,
                        is_delayed: queued >= QEPS,
                    });
                }
                _ => {}
            }
        }
        while self.reports.lost().is_some() {}
    }

    /// Returns the queueing delay: the least of the latest samples.
    fn queued(&self) -> f64 {
        self.samples.iter().copied().fold(f64::INFINITY, f64::min).min(LARGEST)
    }

    /// Eq. (1). The warping applies in full for MULTILOSS loss intervals after a loss, and fades over one more.
    fn warped(&self, queued: f64) -> f64 {
        let threshold = self.config.warp_from.seconds();
        let (Some(open), Some(mean)) = (self.events.open(self.highest), self.events.mean()) else { return queued };
        if queued < threshold {
            return queued;
        }
        let bent = threshold * libm::exp(-LAMBDA * (queued - threshold) / threshold);
        let fade = (open / mean - MULTILOSS).clamp(0.0, 1.0);
        fade * queued + (1.0 - fade) * bent
    }

    /// Eq. (2).
    fn aggregate(&self, delay: f64) -> f64 {
        let marks = self.mark_ratio / PMRREF;
        let losses = self.loss_ratio / PLRREF;
        (delay + DMARK * marks * marks + DLOSS * losses * losses).min(LARGEST)
    }

    fn received(&self) -> f64 {
        self.arrived_bits.max(0.0) / LOGWIN.seconds()
    }

    /// Eq. (3) and (4).
    fn ramp_up(&mut self) {
        let gamma = gamma(QBOUND, self.round_trip.unwrap_or(0.0));
        self.rate = self.rate.max((1.0 + gamma) * self.received());
    }

    /// Eq. (5) to (7); `delta` in seconds.
    fn gradual(&mut self, signal: f64, delta: f64) {
        let (_, most) = self.range();
        let balance = self.config.priority * self.config.reference.seconds() * most / self.rate.max(1.0);
        let (offset, change) = (signal - balance, signal - self.signal);
        self.rate += -KAPPA * (delta / TAU) * (offset / TAU) * self.rate - KAPPA * ETA * (change / TAU) * self.rate;
    }

    fn update(&mut self, delta: f64) {
        let packets = self.seen.len() as f64;
        if packets > 0.0 {
            // Eq. (10).
            self.loss_ratio += ALPHA * (f64::from(self.lost) / packets - self.loss_ratio);
            self.mark_ratio += ALPHA * (f64::from(self.marked) / packets - self.mark_ratio);
        }
        let signal = self.aggregate(self.warped(self.queued()));
        if self.lost == 0 && self.delayed == 0 {
            self.state = "ramp-up";
            self.ramp_up();
        } else {
            self.state = "gradual";
            self.gradual(signal, delta);
        }
        self.rate = self.clamped(self.rate);
        self.signal = signal;
    }
}

/// Eq. (3): γ, from the bound on the delay that it may cause.
fn gamma(bound: f64, round_trip: f64) -> f64 {
    (bound / (round_trip + DELTA + DFILT)).min(GAMMA_MAX)
}

impl RateController for Nada {
    fn on_limits(&mut self, _now: Instant, limits: Limits) {
        self.limits = limits;
        let rate = if self.updated.is_none() { limits.start.bits_per_second() as f64 } else { self.rate };
        self.rate = self.clamped(rate);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.read(feedback);
        self.waiting = feedback.waiting.get() as f64;
        if self.samples.is_empty() {
            return;
        }
        let sample = feedback.round_trip.seconds();
        self.round_trip = Some(self.round_trip.map_or(sample, |mean| mean + ROUND_TRIP_GAIN * (sample - mean)));
        let Some(updated) = self.updated else {
            self.updated = Some(feedback.now);
            return;
        };
        let delta = (feedback.now - updated).seconds();
        if delta >= DUE {
            self.update(delta);
            self.updated = Some(feedback.now);
        }
    }

    fn decision(&self) -> Decision {
        let (least, most) = self.range();
        let whole = 8.0 * self.waiting * FPS;
        let slower = (0.05 * self.rate).min(BETA_V * whole); // Eq. (11)
        let faster = (0.05 * self.rate).min(BETA_S * whole); // Eq. (12)
        let rate = |bits: f64| Rate::from_bits_per_second(bits as u64);
        let target = rate((self.rate - slower).max(least)); // Eq. (13)
        Decision { pacing: rate((self.rate + faster).min(most)), ..Decision::paced(target, 1.0) } // Eq. (14)
    }

    fn on_new_path(&mut self, now: Instant, limits: Limits) {
        *self = Nada::new(self.config);
        self.on_limits(now, limits);
    }

    fn view(&self) -> ControlView {
        let is_known = !self.samples.is_empty();
        ControlView {
            capacity: Some(self.rate),
            queueing_delay: is_known.then(|| self.queued()),
            round_trip: self.round_trip,
            lost: Some(self.loss_ratio),
            marked: Some(self.mark_ratio),
            state: self.state,
        }
    }
}

#[cfg(test)]
#[path = "nada_tests.rs"]
mod tests;
