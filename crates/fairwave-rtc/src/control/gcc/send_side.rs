//! Delay and loss together, and what holds when feedback stops (libwebrtc's `send_side_bandwidth_estimation.cc`).

use std::collections::VecDeque;

use fairwave_units::units::{Instant, Span};

use super::LossLaw;
use super::loss_based_v2::{LossBased, LossState};
use crate::control::PacketReport;

/// The start, after the first report of a receiver.
const START: Span = Span::from_secs(2);
/// A loss report counts when it is based on so many packets.
const PACKETS: f64 = 20.0;
/// Below this loss the rate by reports grows, above the other it falls.
const LOW_LOSS: f64 = 0.02;
const HIGH_LOSS: f64 = 0.1;
const INCREASE_INTERVAL: Span = Span::from_secs(1);
const DECREASE_INTERVAL: Span = Span::from_millis(300);
/// A report counts for so long: 1.2 times 5 s.
const REPORT_COUNTS: Span = Span::from_secs(6);
/// A round trip above this, with the time for which feedback is missing, cuts the rate.
const ROUND_TRIP_LIMIT: Span = Span::from_secs(3);
const ROUND_TRIP_CUT: f64 = 0.8;
const ROUND_TRIP_INTERVAL: Span = Span::from_secs(1);
/// libwebrtc's least rate.
pub(super) const LEAST: f64 = 5_000.0;
/// libwebrtc's most.
pub(super) const MOST: f64 = 1e9;

#[derive(Clone, Debug)]
pub(super) struct SendSide {
    law: LossLaw,
    least: f64,
    target: f64,
    by_delay: f64,
    by_loss: LossBased,
    state: LossState,
    /// Lowest targets of the last second, when each was set; rising.
    lowest: VecDeque<(Instant, f64)>,
    lost: f64,
    expected: f64,
    fraction_lost: f64,
    first_report: Option<Instant>,
    last_report: Option<Instant>,
    has_decreased: bool,
    last_decrease: Option<Instant>,
    round_trip: Span,
    /// When feedback arrived last, and the round trip of the path by it.
    feedback: Option<(Instant, Span)>,
    last_sent: Option<Instant>,
}

impl SendSide {
    /// The least target, bits per second.
    pub fn least(&self) -> f64 {
        self.least
    }

    pub fn new(law: LossLaw, start: f64, least: f64) -> Self {
        let least = least.max(LEAST);
        SendSide {
            law,
            least,
            target: start.clamp(least, MOST.max(least)),
            by_delay: f64::INFINITY,
            by_loss: LossBased::new(least, MOST),
            state: LossState::Delay,
            lowest: VecDeque::new(),
            lost: 0.0,
            expected: 0.0,
            fraction_lost: 0.0,
            first_report: None,
            last_report: None,
            has_decreased: false,
            last_decrease: None,
            round_trip: Span::ZERO,
            feedback: None,
            last_sent: None,
        }
    }

    pub fn set_least(&mut self, least: f64) {
        self.least = least.max(LEAST);
        self.by_loss.set_limits(self.least, MOST);
    }

    /// Bits per second.
    pub fn target(&self) -> f64 {
        self.target.max(self.least)
    }

    pub fn state(&self) -> LossState {
        self.state
    }

    /// Share lost: by packets if they count, by reports otherwise.
    pub fn lost(&self) -> f64 {
        if self.law == LossLaw::Packets { self.by_loss.loss() } else { self.fraction_lost }
    }

    /// A probe set the rate: it holds at once.
    pub fn set_target(&mut self, rate: f64) {
        self.by_delay = f64::INFINITY;
        self.limit(rate);
        self.lowest.clear();
    }

    pub fn set_by_delay(&mut self, rate: f64) {
        self.by_delay = rate;
        self.limit(self.target);
    }

    pub fn set_arrives(&mut self, arrives: f64) {
        self.by_loss.set_arrives(arrives);
    }

    pub fn on_packets(&mut self, now: Instant, packets: &[PacketReport], limited: bool) {
        if self.law == LossLaw::Packets {
            self.by_loss.on_feedback(packets, self.by_delay, limited);
            self.update(now);
        }
    }

    pub fn on_sent(&mut self, now: Instant) {
        // Before the first feedback its absence counts from the first packet.
        self.feedback.get_or_insert((now, Span::ZERO));
        self.last_sent = Some(now);
    }

    pub fn on_propagation(&mut self, now: Instant, round_trip: Span) {
        self.feedback = Some((now, round_trip));
    }

    /// The round trip, with the time during which packets were sent and feedback was missing, is above 3 s.
    pub fn is_round_trip_above_limit(&self) -> bool {
        let Some((heard, round_trip)) = self.feedback else { return false };
        let missing = self.last_sent.map_or(Span::ZERO, |sent| sent.since(heard));
        missing + round_trip > ROUND_TRIP_LIMIT
    }

    /// A receiver report has arrived.
    pub fn on_report(&mut self, now: Instant, lost: f64, expected: f64, round_trip: Option<Span>) {
        if let Some(round_trip) = round_trip {
            self.round_trip = round_trip;
        }
        self.first_report.get_or_insert(now);
        if expected <= 0.0 {
            return;
        }
        self.lost += lost;
        self.expected += expected;
        if self.expected < PACKETS {
            return;
        }
        self.has_decreased = false;
        self.fraction_lost = (self.lost / self.expected).clamp(0.0, 1.0);
        self.lost = 0.0;
        self.expected = 0.0;
        self.last_report = Some(now);
        self.update(now);
    }

    fn is_start(&self, now: Instant) -> bool {
        self.first_report.is_none_or(|first| now.since(first) < START)
    }

    /// Called every 25 ms, and when something has arrived.
    pub fn update(&mut self, now: Instant) {
        if self.is_round_trip_above_limit() {
            let pause = self.last_decrease.is_none_or(|last| now.since(last) >= ROUND_TRIP_INTERVAL);
            if pause && self.target > LEAST {
                self.last_decrease = Some(now);
                self.limit((self.target * ROUND_TRIP_CUT).max(LEAST));
            } else {
                self.limit(self.target);
            }
            return;
        }
        let by_packets = if self.law == LossLaw::Packets { self.by_loss.result() } else { None };
        if self.fraction_lost == 0.0
            && self.is_start(now)
            && by_packets.is_none()
            && self.by_delay.is_finite()
            && self.by_delay > self.target
        {
            self.lowest.clear();
            self.lowest.push_back((now, self.target));
            self.limit(self.by_delay);
            return;
        }
        self.remember(now);
        if let Some((rate, state)) = by_packets {
            self.state = state;
            self.limit(rate);
            return;
        }
        if self.law == LossLaw::None {
            self.limit(if self.by_delay.is_finite() { self.by_delay } else { self.target });
            return;
        }
        let rate = match self.last_report {
            Some(last) if now.since(last) < REPORT_COUNTS => self.by_report(now),
            _ => self.target,
        };
        self.limit(rate);
    }

    /// By the loss of a report: up by 8 % of the lowest rate of the last second and 1 kb/s below 2 %; down by half the loss
    /// above 10 %, once a report and at most every 300 ms and a round trip.
    fn by_report(&mut self, now: Instant) -> f64 {
        if self.fraction_lost <= LOW_LOSS {
            let lowest = self.lowest.front().map_or(self.target, |&(_, rate)| rate);
            return lowest * 1.08 + 1_000.0;
        }
        let pause = DECREASE_INTERVAL + self.round_trip;
        if self.fraction_lost > HIGH_LOSS
            && !self.has_decreased
            && self.last_decrease.is_none_or(|last| now.since(last) >= pause)
        {
            self.last_decrease = Some(now);
            self.has_decreased = true;
            return self.target * (1.0 - 0.5 * self.fraction_lost);
        }
        self.target
    }

    fn remember(&mut self, now: Instant) {
        let margin = Span::from_millis(1);
        while self.lowest.front().is_some_and(|&(set, _)| now.since(set) + margin > INCREASE_INTERVAL) {
            self.lowest.pop_front();
        }
        while self.lowest.back().is_some_and(|&(_, rate)| self.target <= rate) {
            self.lowest.pop_back();
        }
        self.lowest.push_back((now, self.target));
    }

    fn limit(&mut self, rate: f64) {
        self.target = rate.min(self.by_delay).min(MOST).max(self.least);
    }
}
