//! SCReAM v2: a reference window that shrinks on L4S marks, losses and queueing delay, and a rate of one window per
//! round trip.
//!
//! Follows draft-johansson-ccwg-rfc8298bis-screamv2 as implemented in libwebrtc
//! (`modules/congestion_controller/scream/`). Nothing changes between feedback messages. Each message triggers these
//! steps in order:
//! 1. The share of marked packets updates α: a rise with gain 1/8, a fall with gain 1/128 (§4.2.1.3).
//! 2. Congestion shrinks the window, once per round trip or 25 ms, whichever is less (§4.2.2.1). Persistent loss
//!    removes 30 %. Marks remove α/2, and less near the *inflection point*, the window at which congestion began. A
//!    delay above half of its target acts like marks: α goes from 0 there to 1 at the target.
//! 3. Bytes that arrived unmarked increase the window (§4.2.2.2). Near the inflection point the increase is about a
//!    packet per round trip; far from it, 2 % of the window for each packet.
//! 4. The target rate is the window divided by the sum of round trip and feedback hold time (§4.4).
//!
//! For the window's growth, a round trip is at least the *virtual round trip* of 25 ms, so flows with short paths do
//! not starve others.
//!
//! **Where the sources differ, this follows libwebrtc** (its `g3doc/implementation_diff.md`), because its published
//! scenarios serve as tests. In contrast, the draft and the authors' program (`EricssonResearch/scream`,
//! `ScreamV2Tx.cpp`)
//! - react to every loss event, and to classic ECN;
//! - scale with 8, not 2, around the inflection point (the draft moves that point every 10 round trips, not after each
//!   net growth);
//! - scale growth by the ratio of round trip and virtual round trip, not by its square;
//! - let the window exceed the bytes in flight by 50 %, not 10 %;
//! - subtract a tenth of the target for frames that are larger than the mean (the program);
//! - raise the delay target in competition with loss-based flows, and pace faster near the highest rate.
//!
//! **Choices.** When a missing packet is first reported, it counts among the bytes that arrived unmarked, as in
//! libwebrtc. If it arrives late, it does not count again. libwebrtc asks the encoder to skip a share of frames while
//! the pacer holds more than 100 ms (all from 500 ms on); here the target falls by that share. After 100 round trips
//! without congestion, the first mark reduces the window to the bytes in flight and sets α to 1/4. The draft and the
//! authors intend this. In libwebrtc this never happens, because the condition compares with a time that has just been
//! set.

mod delay;
mod loss;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use delay::Delays;
use fairwave_network::packet::Ecn;
use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};
use loss::Losses;

use super::reports::{News, Reports, signed_delay};
use super::{ControlLaw, ControlView, Decision, Feedback, Limits, RateController, SentPacket};

/// `VirtualRtt`.
const VIRTUAL_ROUND_TRIP: Span = Span::from_millis(25);
/// `MaxSegmentSize`, bytes.
const SEGMENT: f64 = 1280.0;
/// α rises by 1/8 and falls by 1/128 of the distance (`L4sAvgGUp`, `L4sAvgGDown`).
const ALPHA_UP: f64 = 1.0 / 8.0;
const ALPHA_DOWN: f64 = 1.0 / 128.0;
/// α after a long calm period (`scream_v2.cc`), and the length of that period in round trips.
const ALPHA_AFTER_CALM: f64 = 0.25;
const CALM: f64 = 100.0;
/// `BackoffScaleFactorCloseToRefWindowI`.
const NEAR_INFLECTION: f64 = 2.0;
/// Round trips after congestion until the window's multiplicative growth is complete (`PostCongestionDelayRtts`), and
/// the share of that growth.
const POST_CONGESTION: f64 = 100.0;
const MULTIPLICATIVE: f64 = 0.02;
/// The window may exceed the bytes in flight by this factor and a packet (`BytesInFlightHeadRoom`).
const HEAD_ROOM: f64 = 1.1;
/// Largest ratio of bytes in flight to the window (`RefWinMin`, `RefWinMax`).
const OVERHEAD_MIN: f64 = 1.5;
const OVERHEAD_MAX: f64 = 3.0;
/// Gain of the feedback hold time (`FeedbackHoldTimeAvgG`).
const HOLD_GAIN: f64 = 1.0 / 8.0;
/// Share of the target below which the application limits (`AlrThreshold`), and the window of the received rate.
const LIMITED_BELOW: f64 = 0.9;
const RECEIVED_WINDOW: f64 = 0.1;
/// Lowest pacing rate, as a share of the received rate (`PacingRateReceivedFactor`).
const PACING_OF_RECEIVED: f64 = 0.8;
/// Time for which the target is halved to drain a queue: round trips, and at least a duration.
const DRAIN_ROUNDS: f64 = 5.0;
const DRAIN_LEAST: f64 = 0.1;
/// Duration of padding and of its pauses (`PaddingDuration`, `PeriodicPadding`), and its delay after the window has
/// shrunk.
const PADDING: Span = Span::from_secs(3);
const PADDING_AFTER: Span = Span::from_secs(1);
/// Duration of short bursts after congestion (`AllowLargePacingBurstsAfterCongestionTime`), and their length.
const SHORT_BURSTS: Span = Span::from_secs(15);
const SHORT_BURST: Span = Span::from_millis(10);
/// Delay in the pacer at which the target starts to fall, and at which it reaches zero, s.
const PUSHBACK: (f64, f64) = (0.1, 0.5);
/// Smaller changes of push-back are applied with the next change of the target.
const PUSHBACK_STEP: f64 = 0.1;

/// SCReAM v2, with marks (L4S), delay and losses as signs of congestion.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ScreamConfig {
    /// Packets carry ECT(1), so that queues may mark them (RFC 9331); otherwise Not-ECT. Default true.
    pub l4s: bool,
    /// Queueing delay at which the window is halved per round trip; half of this delay is tolerated. Above 0; default
    /// 60 ms.
    pub queue_delay_target: Span,
    /// Share of the window that remains after persistent loss. Above 0 and below 1; default 0.7.
    #[serde(with = "Ratio")]
    pub loss_factor: f64,
    /// Smallest window. At least 1 byte; default 1000 bytes.
    pub least_window: Bytes,
    /// Pacing rate as a multiple of the target, from 1 to 10. Default 1.1.
    pub pacing: f64,
    /// Adds padding up to the target for 3 s, then pauses for 3 s, while the streams cannot use the target. Default
    /// true.
    pub padding: bool,
    /// Video encoders skip frames while the pacer holds more than 100 ms, or more is in flight than the window. Default
    /// true.
    pub push_back: bool,
}

impl Default for ScreamConfig {
    fn default() -> Self {
        ScreamConfig {
            l4s: true,
            queue_delay_target: Span::from_millis(60),
            loss_factor: 0.7,
            least_window: Bytes::new(1000),
            pacing: 1.1,
            padding: true,
            push_back: true,
        }
    }
}

impl Checked for ScreamConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_span("queue-delay-target", self.queue_delay_target, "queue-delay-target = \"60 ms\"")?;
        check_between("loss-factor", self.loss_factor, 0.0, 1.0, "loss-factor = 0.7")?;
        if self.least_window.get() == 0 {
            return Err(ConfigError::new("least-window", "0 bytes", "1 byte or more", "least-window = \"1000 bytes\""));
        }
        if !(1.0..=10.0).contains(&self.pacing) {
            return Err(ConfigError::new("pacing", self.pacing, "from 1 to 10", "pacing = 1.1"));
        }
        Ok(())
    }
}

impl Law for ScreamConfig {
    const NAME: &'static str = "scream";
    const EXAMPLE: &'static str = r#"{"l4s": false, "queue-delay-target": "40 ms"}"#;
}

impl ControlLaw for ScreamConfig {
    type Controller = Scream;

    fn controller(&self, _stream: Stream) -> Scream {
        Scream::new(*self)
    }

    fn ecn(&self) -> Ecn {
        if self.l4s { Ecn::Ect1 } else { Ecn::NotEct }
    }
}

/// Summary of a feedback message; delays in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Message {
    now: Instant,
    round_trip: Span,
    in_flight: f64,
    /// Packets.
    received: u64,
    marked: u64,
    missing: u64,
    recovered: u64,
    /// Bytes.
    received_bytes: f64,
    unmarked_bytes: f64,
    least_delay: f64,
    most_delay: f64,
    /// By the receiver's clock.
    first_arrival: Instant,
    last_arrival: Instant,
}

/// State of SCReAM v2. Windows in bytes, rates in bytes per second, times in seconds.
#[derive(Clone, Debug)]
pub struct Scream {
    config: ScreamConfig,
    limits: Limits,
    reports: Reports,
    delays: Delays,
    losses: Losses,
    is_started: bool,
    target: f64,
    window: f64,
    inflection: f64,
    /// True if the window has grown since the inflection point was set.
    may_move_inflection: bool,
    alpha: f64,
    hold: f64,
    in_flight: f64,
    /// Most bytes in flight in this round trip and in the previous one, and the start of this one.
    flown: f64,
    flown_before: f64,
    round: Option<Instant>,
    /// Received rate; bytes since a time of the receiver's clock.
    received: f64,
    gathered: f64,
    gathered_since: Option<Instant>,
    reacted: Option<Instant>,
    shrunk: Option<Instant>,
    drains: Option<Instant>,
    is_limited: bool,
    pads_until: Option<Instant>,
    pads: bool,
    /// True for a while after congestion: the pacer's bursts are short.
    is_careful: bool,
    /// Share of the target that is held back because of the pacer's queue or a full window, and the target at that
    /// time.
    pushback: f64,
    pushed: f64,
    state: &'static str,
}

impl Scream {
    fn new(config: ScreamConfig) -> Self {
        Scream {
            config,
            limits: Limits { start: Rate::default(), least: Rate::default(), most: Rate::default() },
            reports: Reports::default(),
            delays: Delays::new(config.queue_delay_target),
            losses: Losses::default(),
            is_started: false,
            target: 0.0,
            window: config.least_window.get() as f64,
            inflection: 1.0,
            may_move_inflection: true,
            alpha: 0.0,
            hold: 0.0,
            in_flight: 0.0,
            flown: 0.0,
            flown_before: 0.0,
            round: None,
            received: f64::INFINITY,
            gathered: 0.0,
            gathered_since: None,
            reacted: None,
            shrunk: None,
            drains: None,
            is_limited: false,
            pads_until: None,
            pads: false,
            is_careful: false,
            pushback: 0.0,
            pushed: 0.0,
            state: "start",
        }
    }

    fn least_window(&self) -> f64 {
        self.config.least_window.get() as f64
    }

    fn clamped(&self, target: f64) -> f64 {
        let (least, most) = (bytes(self.limits.least), bytes(self.limits.most));
        target.max(least).min(most.max(least))
    }

    fn read(&mut self, feedback: &Feedback<'_>) -> Message {
        let mut message = Message {
            now: feedback.now,
            round_trip: feedback.round_trip,
            in_flight: feedback.in_flight.get() as f64,
            least_delay: f64::INFINITY,
            most_delay: f64::NEG_INFINITY,
            first_arrival: Instant::NEVER,
            ..Message::default()
        };
        for report in feedback.packets {
            let size = report.packet.size.get() as f64;
            let news = self.reports.take(report);
            match (news, report.arrived) {
                (News::Missing, _) => {
                    message.missing += 1;
                    message.unmarked_bytes += size;
                }
                (News::Arrived | News::Recovered, Some(arrived)) => {
                    message.recovered += u64::from(news == News::Recovered);
                    message.received += 1;
                    message.received_bytes += size;
                    if report.ecn == Ecn::Ce {
                        message.marked += 1;
                    } else if news == News::Arrived {
                        message.unmarked_bytes += size;
                    }
                    let delay = signed_delay(report.packet.sent, arrived);
                    message.least_delay = message.least_delay.min(delay);
                    message.most_delay = message.most_delay.max(delay);
                    message.first_arrival = message.first_arrival.min(arrived);
                    message.last_arrival = message.last_arrival.max(arrived);
                }
                _ => {}
            }
        }
        // The lost packets are not needed: this controller counts reports of missing packets.
        while self.reports.lost().is_some() {}
        message
    }

    fn measure_received(&mut self, message: &Message) {
        self.gathered += message.received_bytes;
        let Some(since) = self.gathered_since else {
            // Without a rate yet, the application cannot be the limit.
            (self.gathered_since, self.gathered) = (Some(message.last_arrival), 0.0);
            return;
        };
        let time = (message.last_arrival - since).seconds();
        if time >= RECEIVED_WINDOW {
            self.received = self.gathered / time;
            (self.gathered_since, self.gathered) = (Some(message.last_arrival), 0.0);
        }
    }

    /// Returns the largest window that growth may reach.
    fn allowed(&self) -> f64 {
        (SEGMENT + self.flown.max(self.flown_before) * HEAD_ROOM).max(self.least_window())
    }

    fn segments(&self) -> f64 {
        (SEGMENT / self.window).min(1.0)
    }

    /// Returns 0.1 at the inflection point, and 1 far from it (§4.2.2.1).
    fn inflection_scale(&self) -> f64 {
        let distance = NEAR_INFLECTION * (self.window - self.inflection).abs() / self.inflection;
        (distance * distance).clamp(0.1, 1.0)
    }

    /// Returns the bytes that may be in flight (§4.3.1).
    fn send_window(&self) -> f64 {
        self.window * (OVERHEAD_MIN + (OVERHEAD_MAX - OVERHEAD_MIN) * self.delays.least_delay_scale(0.0))
    }

    fn update_alpha(&mut self, message: &Message) {
        let share = message.marked as f64 / message.received as f64;
        self.alpha = if share > self.alpha {
            self.alpha + ALPHA_UP * (share - self.alpha)
        } else {
            (1.0 - ALPHA_DOWN) * self.alpha
        };
    }

    fn update_window(&mut self, message: &Message) {
        let now = message.now;
        let round_trip = self.delays.round_trip();
        let virtual_round = VIRTUAL_ROUND_TRIP.seconds();
        let longer = virtual_round.max(round_trip);
        let is_marked = message.marked > 0;
        let is_delayed = self.delays.is_queueing();
        let has_new_loss = self.losses.update(message, round_trip);
        let is_lost = has_new_loss && (self.losses.is_congestion() || is_delayed);
        let before = self.window;
        let calm = |reacted: Option<Instant>| reacted.map_or(f64::INFINITY, |reacted| (now - reacted).seconds());

        let mut reacts = false;
        if (is_delayed || is_marked || is_lost) && calm(self.reacted) >= virtual_round.min(round_trip) {
            reacts = true;
            let since = calm(self.reacted);
            self.reacted = Some(now);
            let slower = (round_trip / virtual_round).max(1.0);
            let share = if is_lost {
                self.state = "loss";
                1.0 - self.config.loss_factor
            } else if is_marked {
                self.state = "marked";
                let mut share = self.alpha / 2.0 / slower;
                if !is_delayed {
                    share *= self.inflection_scale().max(0.25);
                    share *= self.delays.least_delay_scale(0.1);
                }
                if since > CALM * longer {
                    // The window may have grown far above the bytes in flight.
                    self.window = self.flown_before.max(self.least_window()).min(self.window);
                    self.alpha = ALPHA_AFTER_CALM;
                }
                share
            } else {
                self.state = "delay";
                self.delays.virtual_alpha() / 2.0 / slower
            };
            self.window *= 1.0 - share;
        }

        if (!is_marked && self.losses.level() < 0.01 && !is_delayed) || reacts {
            if !reacts {
                self.state = "increase";
            }
            let mut scale = self.segments();
            let loop_time = round_trip + self.hold;
            if loop_time < virtual_round {
                scale *= (loop_time / virtual_round) * (loop_time / virtual_round);
            }
            scale *= self.inflection_scale().max(0.25);
            scale *= self.delays.least_delay_scale(0.1);
            scale *= self.delays.spread_scale();
            let post = (calm(self.reacted) / (POST_CONGESTION * longer)).min(1.0);
            scale *= 1.0 + MULTIPLICATIVE * self.window / SEGMENT * post * self.inflection_scale();
            let most = self.allowed();
            if self.window < most {
                self.window = (self.window + message.unmarked_bytes * scale).clamp(self.least_window(), most);
            }
        }
        self.window = self.window.max(1.0);

        if self.window > before {
            self.may_move_inflection = true;
        }
        if self.window < before {
            self.shrunk = Some(now);
            if self.may_move_inflection {
                (self.inflection, self.may_move_inflection) = (before, false);
            }
        }
    }

    fn update_target(&mut self, now: Instant) {
        let round_trip = self.delays.round_trip().max(0.001);
        let small = 1.0 - (self.segments() - 0.1).clamp(0.0, 0.2);
        let mut target = small * self.window / (round_trip + self.hold);
        if self.delays.drained_in_time(now) {
            self.drains = None;
        } else {
            let since = *self.drains.get_or_insert(now);
            if (now - since).seconds() < (DRAIN_ROUNDS * round_trip).max(DRAIN_LEAST) {
                (target, self.state) = (target / 2.0, "drain");
            } else {
                self.delays.reset();
            }
        }
        self.target = self.clamped(target);
    }

    /// Keeps bursts short until 15 s after congestion (`MaybeCreatePacerConfig`).
    fn update_bursts(&mut self, now: Instant) {
        self.is_careful = self.reacted.is_some_and(|reacted| now - reacted <= SHORT_BURSTS);
    }

    /// Starts and stops padding. It starts with the session, lasts 3 s and pauses 3 s; a shrinking window ends it.
    fn update_padding(&mut self, now: Instant) {
        self.pads = false;
        if self.shrunk.is_none_or(|shrunk| now - shrunk > PADDING_AFTER) {
            if self.pads_until.is_some_and(|until| now < until) {
                self.pads = true;
            } else if self.pads_until.is_none_or(|until| now - until >= PADDING) {
                (self.pads, self.pads_until) = (true, Some(now + PADDING));
            }
        } else if self.pads_until.is_some_and(|until| now < until) {
            self.pads_until = Some(now);
        }
    }
}

fn bytes(rate: Rate) -> f64 {
    rate.bits_per_second() as f64 / 8.0
}

fn bits(rate: f64) -> Rate {
    Rate::from_bits_per_second((rate * 8.0) as u64)
}

impl RateController for Scream {
    fn on_limits(&mut self, now: Instant, limits: Limits) {
        self.limits = limits;
        if !self.is_started {
            self.target = self.clamped(bytes(limits.start));
            self.update_padding(now);
        }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.in_flight += packet.size.get() as f64;
        self.flown = self.flown.max(self.in_flight);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let message = self.read(feedback);
        self.in_flight = message.in_flight;
        if message.received == 0 {
            return;
        }
        self.flown = self.flown.max(message.in_flight);
        self.measure_received(&message);
        self.is_limited = self.allowed() < self.window && self.received < LIMITED_BELOW * self.target;
        self.delays.update(&message, self.is_limited);
        if !self.is_limited {
            let held = (message.last_arrival - message.first_arrival).seconds();
            self.hold = if self.hold == 0.0 { held } else { self.hold + HOLD_GAIN * (held - self.hold) };
        }
        if !self.is_started {
            self.is_started = true;
            self.window = (self.target * (self.delays.round_trip() + self.hold)).max(self.least_window());
        }
        self.update_alpha(&message);
        self.update_window(&message);
        self.update_target(message.now);
        let longer = VIRTUAL_ROUND_TRIP.seconds().max(self.delays.round_trip());
        if self.round.is_none_or(|began| (message.now - began).seconds() >= longer) {
            self.round = Some(message.now);
            (self.flown_before, self.flown) = (self.flown, 0.0);
        }
        let waits = feedback.waiting.get() as f64 / bytes(self.decision().pacing).max(1.0);
        let full = message.in_flight > self.send_window();
        let pushback = if full { 1.0 } else { ((waits - PUSHBACK.0) / (PUSHBACK.1 - PUSHBACK.0)).clamp(0.0, 1.0) };
        // Small changes alone are not applied (`scream_network_controller.cc`, `CreateUpdate`).
        if self.target != self.pushed || (pushback - self.pushback).abs() > PUSHBACK_STEP {
            (self.pushback, self.pushed) = (pushback, self.target);
        }
        self.update_padding(message.now);
        self.update_bursts(message.now);
    }

    fn on_timer(&mut self, now: Instant) {
        self.update_padding(now);
        self.update_bursts(now);
    }

    fn deadline(&self) -> Instant {
        let bursts = match self.reacted {
            Some(reacted) if self.is_careful => reacted + SHORT_BURSTS + Span::from_nanos(1),
            _ => Instant::NEVER,
        };
        let padding = match self.pads_until {
            Some(until) if self.config.padding => {
                let calm = self.shrunk.map_or(Instant::ZERO, |shrunk| shrunk + PADDING_AFTER + Span::from_nanos(1));
                if self.pads { until } else { (until + PADDING).max(calm) }
            }
            _ => Instant::NEVER,
        };
        bursts.min(padding)
    }

    fn decision(&self) -> Decision {
        let target = self.clamped(self.target);
        let received = if self.received.is_finite() { self.received } else { 0.0 };
        // At least 800 b/s, because a stopped pacer would get no feedback and never recover.
        let pacing = (target * self.config.pacing).max(received.min(1e12) * PACING_OF_RECEIVED).max(100.0);
        let pads = self.config.padding && self.pads && target < bytes(self.limits.most);
        let pushback = if self.config.push_back { self.pushback } else { 0.0 };
        Decision {
            target: bits(target),
            pacing: bits(pacing),
            padding: bits(if pads { target } else { 0.0 }),
            window: self.is_started.then(|| Bytes::new(self.send_window() as u64)),
            held_back: pushback,
            burst: self.is_careful.then_some(SHORT_BURST),
        }
    }

    fn on_new_path(&mut self, now: Instant, limits: Limits) {
        *self = Scream::new(self.config);
        self.on_limits(now, limits);
    }

    fn view(&self) -> ControlView {
        ControlView {
            capacity: Some(self.target * 8.0),
            queueing_delay: self.delays.queueing(),
            round_trip: Some(self.delays.round_trip()).filter(|_| self.is_started),
            lost: None,
            marked: Some(self.alpha),
            state: if self.is_limited { "limited" } else { self.state },
        }
    }
}

#[cfg(test)]
mod tests;
