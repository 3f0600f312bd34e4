//! Combines the estimates from delay and loss, and reduces the rate when feedback stops (libwebrtc's
//! `send_side_bandwidth_estimation.cc`).

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::units::{Instant, Span};

use super::loss_based_v2::{LossBased, LossState};
use crate::control::PacketReport;

/// Loss that reduces the rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossLaw {
    /// Loss of packets in feedback, with a model of the channel: loss-based estimator 2, the default of libwebrtc.
    #[default]
    Packets,
    /// Loss in receiver reports: up below 2 %, down above 10 %, as in draft-ietf-rmcat-gcc-02 §6. The default until
    /// 2023.
    Reports,
    /// No loss: only the delay counts.
    None,
}

/// Duration of the start phase, after the first receiver report.
const START: Span = Span::from_secs(2);
/// Number of packets that a loss report requires.
const PACKETS: f64 = 20.0;
/// Loss below which the rate from reports grows, and above which it falls.
const LOW_LOSS: f64 = 0.02;
const HIGH_LOSS: f64 = 0.1;
const INCREASE_INTERVAL: Span = Span::from_secs(1);
const DECREASE_INTERVAL: Span = Span::from_millis(300);
/// Validity of a report: 1.2 times 5 s.
const REPORT_COUNTS: Span = Span::from_secs(6);
/// The rate is reduced if the round trip plus the time without feedback exceeds this.
const ROUND_TRIP_LIMIT: Span = Span::from_secs(3);
const ROUND_TRIP_CUT: f64 = 0.8;
const ROUND_TRIP_INTERVAL: Span = Span::from_secs(1);
/// Lowest rate in libwebrtc, bits per second.
pub(super) const LEAST: f64 = 5_000.0;
/// Highest rate in libwebrtc, bits per second.
pub(super) const MOST: f64 = 1e9;

#[derive(Clone, Debug)]
pub(super) struct SendSide {
    law: LossLaw,
    least: f64,
    target: f64,
    by_delay: f64,
    by_loss: LossBased,
    state: LossState,
    /// Lowest targets of the last second, with their times; increasing.
    lowest: VecDeque<(Instant, f64)>,
    lost: f64,
    expected: f64,
    fraction_lost: f64,
    first_report: Option<Instant>,
    last_report: Option<Instant>,
    has_decreased: bool,
    last_decrease: Option<Instant>,
    round_trip: Span,
    /// Arrival of the latest feedback, and its round trip.
    feedback: Option<(Instant, Span)>,
    last_sent: Option<Instant>,
}

impl SendSide {
    /// Returns the lowest target, bits per second.
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

    /// Returns the target, bits per second.
    pub fn target(&self) -> f64 {
        self.target.max(self.least)
    }

    pub fn state(&self) -> LossState {
        self.state
    }

    /// Returns the share lost: from packets if they count, otherwise from reports.
    pub fn lost(&self) -> f64 {
        if self.law == LossLaw::Packets { self.by_loss.loss() } else { self.fraction_lost }
    }

    /// Sets the rate that a probe measured; it applies at once.
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
        // Before the first feedback, the time without feedback starts at the first packet.
        self.feedback.get_or_insert((now, Span::ZERO));
        self.last_sent = Some(now);
    }

    pub fn on_propagation(&mut self, now: Instant, round_trip: Span) {
        self.feedback = Some((now, round_trip));
    }

    /// Checks whether the round trip, plus the time in which packets were sent without feedback, exceeds 3 s.
    pub fn is_round_trip_above_limit(&self) -> bool {
        let Some((heard, round_trip)) = self.feedback else { return false };
        let missing = self.last_sent.map_or(Span::ZERO, |sent| sent.span_since(heard));
        missing + round_trip > ROUND_TRIP_LIMIT
    }

    /// Handles a receiver report.
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
        self.first_report.is_none_or(|first| now.span_since(first) < START)
    }

    /// Periodic update, every 25 ms and after each arrival.
    pub fn update(&mut self, now: Instant) {
        if self.is_round_trip_above_limit() {
            let pause = self.last_decrease.is_none_or(|last| now.span_since(last) >= ROUND_TRIP_INTERVAL);
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
            Some(last) if now.span_since(last) < REPORT_COUNTS => self.update_from_report(now),
            _ => self.target,
        };
        self.limit(rate);
    }

    /// Updates the rate from a loss report. Below 2 % loss: 8 % plus 1 kb/s above the lowest rate of the last second.
    /// Above 10 %: reduces it by half the loss, once per report and at most once per 300 ms plus a round trip.
    fn update_from_report(&mut self, now: Instant) -> f64 {
        if self.fraction_lost <= LOW_LOSS {
            let lowest = self.lowest.front().map_or(self.target, |&(_, rate)| rate);
            return lowest * 1.08 + 1_000.0;
        }
        let pause = DECREASE_INTERVAL + self.round_trip;
        if self.fraction_lost > HIGH_LOSS
            && !self.has_decreased
            && self.last_decrease.is_none_or(|last| now.span_since(last) >= pause)
        {
            self.last_decrease = Some(now);
            self.has_decreased = true;
            return self.target * (1.0 - 0.5 * self.fraction_lost);
        }
        self.target
    }

    fn remember(&mut self, now: Instant) {
        let margin = Span::from_millis(1);
        while self.lowest.front().is_some_and(|&(set, _)| now.span_since(set) + margin > INCREASE_INTERVAL) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Carries, SentPacket};
    use fairwave_network::packet::Ecn;
    use fairwave_units::units::Bytes;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn by(law: LossLaw) -> SendSide {
        SendSide::new(law, 300_000.0, 10_000.0)
    }

    /// Returns `count` packets, one every 10 ms from `from` (ms) on; one in `every` is lost.
    fn packets(from: u64, count: u64, every: u64) -> Vec<PacketReport> {
        let report = |n: u64| PacketReport {
            packet: SentPacket {
                sequence: from + n,
                sent: ms(from + n * 10),
                size: Bytes::new(1000),
                carries: Carries::Video,
                probe: None,
            },
            arrived: (!(from + n).is_multiple_of(every)).then(|| ms(from + n * 10 + 50)),
            ecn: Ecn::NotEct,
        };
        (0..count).map(report).collect()
    }

    #[test]
    fn start_follows_the_delay_upwards_and_never_above_it() {
        let mut side = by(LossLaw::Reports);
        side.set_by_delay(500_000.0);
        assert_eq!(side.target(), 300_000.0);
        side.update(ms(25));
        assert_eq!(side.target(), 500_000.0);
        side.set_by_delay(200_000.0);
        assert_eq!(side.target(), 200_000.0, "a lower one holds at once");
        side.set_by_delay(1.0);
        assert_eq!(side.target(), 10_000.0, "the least");
        side.set_least(20_000.0);
        assert_eq!(side.target(), 20_000.0);
        side.set_target(700_000.0);
        assert_eq!(side.target(), 700_000.0, "a probe");
    }

    #[test]
    fn delay_does_not_raise_the_target_after_two_seconds_of_reports() {
        let mut side = by(LossLaw::Reports);
        side.on_report(ms(1000), 0.0, 10.0, None);
        side.set_by_delay(500_000.0);
        side.update(ms(2999));
        assert_eq!(side.target(), 500_000.0);
        side.set_by_delay(900_000.0);
        side.update(ms(3000));
        assert_eq!(side.target(), 500_000.0);
    }

    #[test]
    fn reports_without_loss_raise_it_by_8_percent_and_1_kb_of_the_lowest_of_a_second() {
        let mut side = by(LossLaw::Reports);
        side.set_by_delay(10e6);
        side.on_report(ms(0), 0.0, 0.0, None);
        side.target = 300_000.0;
        side.on_report(ms(3000), 0.0, 19.0, None);
        assert_eq!(side.target(), 300_000.0, "fewer than 20 packets");
        side.on_report(ms(3000), 0.0, 1.0, None);
        assert_eq!(side.target(), 325_000.0);
        side.update(ms(3500));
        assert_eq!(side.target(), 325_000.0, "the lowest was 300 kb/s");
        side.update(ms(4000));
        assert_eq!(side.target(), 352_000.0, "the lowest is 325 kb/s now");
        side.update(ms(8999));
        let last = side.target();
        side.update(ms(10_500));
        assert_eq!(side.target(), last, "the report is 6 s old");
    }

    #[test]
    fn loss_above_10_percent_takes_off_half_of_it_once_a_report() {
        let mut side = by(LossLaw::Reports);
        side.on_report(ms(0), 2.0, 100.0, Some(Span::from_millis(100)));
        assert_eq!(side.target(), 325_000.0, "2 % is low");
        side.on_report(ms(3000), 10.0, 100.0, None);
        assert_eq!(side.target(), 325_000.0, "10 % changes nothing");
        side.on_report(ms(4000), 20.0, 100.0, None);
        assert_eq!(side.target(), 292_500.0);
        side.update(ms(4900));
        assert_eq!(side.target(), 292_500.0, "once a report");
        side.last_decrease = Some(ms(4700));
        side.on_report(ms(5000), 20.0, 100.0, None);
        assert_eq!(side.target(), 292_500.0, "300 ms and a round trip have not passed");
        side.update(ms(5100));
        assert_eq!(side.target(), 263_250.0);
        assert_eq!(side.lost(), 0.2);
    }

    #[test]
    fn only_the_delay_counts_if_losses_are_ignored() {
        let mut side = by(LossLaw::None);
        side.on_packets(ms(0), &packets(0, 100, 2), false);
        side.on_report(ms(3000), 50.0, 100.0, None);
        assert_eq!(side.target(), 300_000.0, "nothing is known");
        side.set_by_delay(2e6);
        side.update(ms(6000));
        assert_eq!(side.target(), 2e6);
    }

    #[test]
    fn packets_count_from_the_third_observation_on() {
        let mut side = by(LossLaw::Packets);
        side.set_by_delay(800_000.0);
        side.set_arrives(400_000.0);
        for n in 0..2 {
            side.on_packets(ms(n * 300 + 300), &packets(n * 300, 30, 2), false);
        }
        assert_eq!((side.target(), side.state()), (800_000.0, LossState::Delay));
        side.on_packets(ms(900), &packets(600, 30, 2), false);
        assert_eq!(side.state(), LossState::Decrease);
        assert!((side.lost() - 0.5).abs() < 0.01);
        assert_eq!(side.target(), 400_000.0, "what arrives is the least");
    }

    #[test]
    fn missing_feedback_cuts_it_by_a_fifth_each_second() {
        let mut side = by(LossLaw::Packets);
        assert!(!side.is_round_trip_above_limit(), "nothing was sent");
        side.on_sent(ms(0));
        side.on_sent(ms(3000));
        side.update(ms(3000));
        assert_eq!(side.target(), 300_000.0, "3 s");
        side.on_sent(ms(3001));
        side.update(ms(3001));
        assert_eq!(side.target(), 240_000.0);
        side.update(ms(4000));
        assert_eq!(side.target(), 240_000.0);
        side.update(ms(4001));
        assert_eq!(side.target(), 192_000.0);
        side.on_propagation(ms(4100), Span::from_millis(100));
        assert!(!side.is_round_trip_above_limit(), "feedback is back; nothing was sent since");
        side.update(ms(6000));
        assert_eq!(side.target(), 192_000.0);
        side.on_propagation(ms(6100), Span::from_millis(3001));
        assert!(side.is_round_trip_above_limit(), "a round trip above 3 s");
    }
}
