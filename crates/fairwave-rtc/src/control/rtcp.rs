//! Rate control by the loss in receiver reports: up below 2 %, down above 10 %. For comparison.
//!
//! Follows libwebrtc's sender before per-packet feedback (`send_side_bandwidth_estimation.cc` without its later
//! estimators; draft-ietf-rmcat-gcc §6 has the same thresholds). Up to 2 % loss, the rate is 8 % plus 1 kb/s above the
//! lowest of the last second. Above 10 % it is multiplied by 1 − loss/2, once per report and at most once per 300 ms
//! plus a round trip. In between it stays. Reports are summed until they cover 20 packets. After 6 s without reports
//! nothing changes. The layers of transport `rtcp` apply the same idea in steps.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate, Span};

use super::{ControlLaw, ControlView, Decision, Feedback, Limits, LossReport, RateController};

/// Number of packets that reports must cover (`kLimitNumPackets`).
const PACKETS: f64 = 20.0;
/// `kBweIncreaseInterval`, `kBweDecreaseInterval`; validity of a report (1.2 × 5 s).
const INCREASE: Span = Span::from_secs(1);
const DECREASE: Span = Span::from_millis(300);
const HOLDS: Span = Span::from_secs(6);
/// Growth: factor, and additional bits per second.
const FACTOR: f64 = 1.08;
const EXTRA: f64 = 1000.0;
/// Interval of libwebrtc's periodic update.
const TICK: Span = Span::from_millis(25);

/// Rate control by the losses in receiver reports.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RtcpConfig {
    /// Share of packets lost below which the rate grows. From 0 to 1; default 0.02.
    #[serde(with = "Ratio")]
    pub add_below: f64,
    /// Share of packets lost above which the rate falls. From `add-below` to 1; default 0.1.
    #[serde(with = "Ratio")]
    pub cut_above: f64,
    /// Pacing rate as a multiple of the rate, from 1 to 10. Default 2.5, as in libwebrtc.
    pub pacing: f64,
}

impl Default for RtcpConfig {
    fn default() -> Self {
        RtcpConfig { add_below: 0.02, cut_above: 0.1, pacing: 2.5 }
    }
}

impl Checked for RtcpConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_fraction("add-below", self.add_below, "add-below = 0.02")?;
        check_fraction("cut-above", self.cut_above, "cut-above = 0.1")?;
        if self.cut_above < self.add_below {
            let allowed = format!("`add-below` ({}) or more", self.add_below);
            return Err(ConfigError::new("cut-above", self.cut_above, allowed, "cut-above = 0.1"));
        }
        if !(1.0..=10.0).contains(&self.pacing) {
            return Err(ConfigError::new("pacing", self.pacing, "from 1 to 10", "pacing = 2.5"));
        }
        Ok(())
    }
}

impl Law for RtcpConfig {
    const NAME: &'static str = "rtcp";
    const EXAMPLE: &'static str = r#"{"cut-above": "5 %"}"#;
}

impl ControlLaw for RtcpConfig {
    type Controller = Rtcp;

    fn controller(&self, _stream: Stream) -> Rtcp {
        Rtcp {
            config: *self,
            limits: Limits { start: Rate::default(), least: Rate::default(), most: Rate::default() },
            rate: 0.0,
            lowest: VecDeque::new(),
            lost: 0.0,
            expected: 0.0,
            fraction: None,
            has_cut: false,
            cut: None,
            reported: Instant::ZERO,
            round_trip: Span::ZERO,
            is_started: false,
            next: Instant::NEVER,
            state: "start",
        }
    }
}

/// State of the controller: rates in bits per second.
#[derive(Clone, Debug)]
pub struct Rtcp {
    config: RtcpConfig,
    limits: Limits,
    rate: f64,
    /// Rates of the last second that no later rate undercuts, oldest first.
    lowest: VecDeque<(Instant, f64)>,
    /// Losses and packets in reports that do not count yet.
    lost: f64,
    expected: f64,
    fraction: Option<f64>,
    /// True if the rate has been reduced for this report.
    has_cut: bool,
    cut: Option<Instant>,
    reported: Instant,
    round_trip: Span,
    is_started: bool,
    next: Instant,
    state: &'static str,
}

impl Rtcp {
    fn set(&mut self, rate: f64) {
        let least = self.limits.least.bits_per_second() as f64;
        self.rate = rate.min((self.limits.most.bits_per_second() as f64).max(least)).max(least);
    }

    /// Returns the lowest rate of the last second.
    fn least_of_late(&mut self, now: Instant) -> f64 {
        while self.lowest.front().is_some_and(|oldest| now - oldest.0 > INCREASE) {
            self.lowest.pop_front();
        }
        while self.lowest.back().is_some_and(|newest| newest.1 >= self.rate) {
            self.lowest.pop_back();
        }
        self.lowest.push_back((now, self.rate));
        self.lowest.front().map_or(self.rate, |least| least.1)
    }

    fn update(&mut self, now: Instant) {
        let least = self.least_of_late(now);
        let Some(fraction) = self.fraction.filter(|_| now - self.reported < HOLDS) else { return };
        if fraction <= self.config.add_below {
            self.state = "increase";
            self.set(FACTOR * least + EXTRA);
        } else if fraction <= self.config.cut_above {
            self.state = "hold";
        } else if !self.has_cut && self.cut.is_none_or(|cut| now - cut >= DECREASE + self.round_trip) {
            self.state = "decrease";
            (self.has_cut, self.cut) = (true, Some(now));
            self.set(self.rate * (1.0 - fraction / 2.0));
        }
    }
}

impl RateController for Rtcp {
    fn on_limits(&mut self, now: Instant, limits: Limits) {
        self.limits = limits;
        if !self.is_started {
            (self.is_started, self.next) = (true, now + TICK);
            self.rate = limits.start.bits_per_second() as f64;
        }
        self.set(self.rate);
    }

    fn on_feedback(&mut self, _feedback: &Feedback<'_>) {}

    fn on_report(&mut self, report: &LossReport) {
        self.round_trip = report.round_trip.unwrap_or(self.round_trip);
        let expected = f64::from(report.expected);
        self.lost += report.fraction_lost.clamp(0.0, 1.0) * expected;
        self.expected += expected;
        self.reported = report.now;
        if self.expected >= PACKETS {
            self.fraction = Some(self.lost / self.expected);
            (self.lost, self.expected, self.has_cut) = (0.0, 0.0, false);
            self.update(report.now);
        }
    }

    fn on_timer(&mut self, now: Instant) {
        self.update(now);
        self.next = now + TICK;
    }

    fn deadline(&self) -> Instant {
        self.next
    }

    fn decision(&self) -> Decision {
        Decision::paced(Rate::from_bits_per_second(self.rate as u64), self.config.pacing)
    }

    fn on_new_path(&mut self, now: Instant, limits: Limits) {
        *self = self.config.controller(fairwave_units::random::Seed(0).stream("unused"));
        self.on_limits(now, limits);
    }

    fn view(&self) -> ControlView {
        let round_trip = (self.round_trip > Span::ZERO).then(|| self.round_trip.seconds());
        ControlView {
            capacity: Some(self.rate),
            round_trip,
            lost: self.fraction,
            state: self.state,
            ..ControlView::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::rig::{Path, limits, run, torture};
    use fairwave_units::random::Seed;
    use proptest::prelude::*;

    fn rtcp() -> Rtcp {
        let mut rtcp = RtcpConfig::default().controller(Seed(1).stream("control"));
        rtcp.on_limits(Instant::ZERO, limits(400_000, 30_000, 2_000_000));
        rtcp
    }

    fn report(rtcp: &mut Rtcp, ms: u64, fraction_lost: f64, expected: u32) -> f64 {
        let now = Instant::ZERO + Span::from_millis(ms);
        rtcp.on_report(&LossReport { now, fraction_lost, expected, round_trip: Some(Span::from_millis(100)) });
        rtcp.rate
    }

    #[test]
    fn grows_by_eight_percent_and_a_kilobit_of_the_least_of_the_last_second_up_to_two_percent() {
        let mut rtcp = rtcp();
        assert_eq!(report(&mut rtcp, 1000, 0.02, 100), 433_000.0);
        rtcp.on_timer(Instant::from_seconds(1.5));
        assert_eq!(rtcp.rate, 433_000.0, "the least of the last second is still 400");
        rtcp.on_timer(Instant::from_seconds(2.1));
        assert!((rtcp.rate - (433_000.0 * 1.08 + 1000.0)).abs() < 1.0, "{}", rtcp.rate);
    }

    #[test]
    fn stays_from_two_to_ten_percent_and_loses_half_of_the_loss_once_above() {
        let mut rtcp = rtcp();
        assert_eq!((report(&mut rtcp, 1000, 0.021, 1000), report(&mut rtcp, 2000, 0.1, 1000)), (400_000.0, 400_000.0));
        assert!((report(&mut rtcp, 3000, 0.2, 100) - 360_000.0).abs() < 1.0);
        rtcp.on_timer(Instant::from_seconds(3.9));
        assert!((rtcp.rate - 360_000.0).abs() < 1.0, "once per report");
        assert!((report(&mut rtcp, 3399, 0.2, 100) - 360_000.0).abs() < 1.0, "400 ms are not over");
        rtcp.on_timer(Instant::from_seconds(3.4));
        assert!((rtcp.rate - 324_000.0).abs() < 1.0);
    }

    #[test]
    fn twenty_packets_make_a_report_count_and_six_seconds_end_it() {
        let mut rtcp = rtcp();
        assert_eq!(report(&mut rtcp, 500, 0.0, 19), 400_000.0);
        assert!(report(&mut rtcp, 1000, 0.0, 1) > 430_000.0);
        rtcp.on_timer(Instant::from_seconds(6.9));
        let held = rtcp.rate;
        rtcp.on_timer(Instant::from_seconds(7.0));
        rtcp.on_timer(Instant::from_seconds(9.0));
        assert_eq!(rtcp.rate, held);
        assert_eq!(rtcp.deadline(), Instant::from_seconds(9.025));
        rtcp.on_new_path(Instant::from_seconds(10.0), limits(300_000, 30_000, 2_000_000));
        assert!(rtcp.rate == 300_000.0 && rtcp.fraction.is_none());
    }

    #[test]
    fn keys_out_of_range_are_refused() {
        let refused = |text: &str| serde_json::from_str::<RtcpConfig>(text).expect(text).check().expect_err(text).key;
        assert_eq!(refused(r#"{"add-below": -1}"#), "add-below");
        assert_eq!(refused(r#"{"cut-above": 2}"#), "cut-above");
        assert_eq!(refused(r#"{"cut-above": 0.01}"#), "cut-above");
        assert_eq!(refused(r#"{"pacing": 0.5}"#), "pacing");
    }

    const LAW: &str = r#"{"name": "rtcp"}"#;

    #[test]
    fn flow_fills_a_link_and_its_queue_and_two_flows_share_it() {
        let course =
            run(&Path::drop_tail(1_000_000, 50, 300), &[(LAW, 0)], limits(300_000, 30_000, 2_500_000), 60).remove(0);
        let queue = course.queued[30..].iter().copied().fold(0.0, f64::max);
        println!(
            "rtcp: {:.0} kb/s, lost {} of {}, queue {queue:.3}",
            course.mean(30) / 1000.0,
            course.lost,
            course.sent
        );
        assert!(course.mean(30) > 850_000.0 && queue > 0.25, "it knows no delay");
        let all =
            run(&Path::drop_tail(2_000_000, 50, 300), &[(LAW, 0), (LAW, 10)], limits(300_000, 30_000, 2_500_000), 90);
        println!("rtcp: {:.0} and {:.0} kb/s", all[0].mean(50) / 1000.0, all[1].mean(50) / 1000.0);
        assert!(all[0].mean(50) + all[1].mean(50) > 1_700_000.0 && all[1].mean(50) > 300_000.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_feedback_makes_it_leave_its_limits(all in prop::collection::vec(any::<(u8, u16, u16, bool)>(), 0..150)) {
            torture(LAW, &all);
        }
    }
}
