//! TFRC: the rate of a TCP flow on the same path, from the throughput equation (RFC 5348). For comparison.
//!
//! The sender computes everything from per-packet feedback: the loss event rate (§5), the receive rate of each round
//! trip, and the allowed rate X (§4.3). X is at most twice the receive rate. It doubles in each round trip before the
//! first loss, and follows the equation after it. Without feedback for four round trips it is halved (§4.4).
//!
//! **Assumptions.** Rates count whole IP packets, and so does s. The session starts at the configured rate, not with
//! two to four packets per round trip (§4.2). X is never below the encoders' lowest rate. A sender with an empty pacer
//! was limited by its data (§8.2.1). Oscillation reduction (§4.5) and discounting (§5.5) are optional and omitted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_network::packet::Ecn;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate, Span};

use super::loss_events::{loss_for, throughput};
use super::rounds::{Round, Rounds};
use super::{ControlLaw, ControlView, Decision, Feedback, Limits, RateController, SentPacket};

/// §4.2: no-feedback timer before the first feedback.
const FIRST_TIMER: Span = Span::from_secs(2);
/// Shortest no-feedback timer, because feedback need not arrive every round trip.
const SHORTEST_TIMER: Span = Span::from_millis(500);

/// TFRC at the sender.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct TfrcConfig {
    /// Pacing rate as a multiple of the rate, from 1 to 10. Default 1, as in TFRC.
    pub pacing: f64,
    /// Packets carry ECT(0); a mark counts as a loss. Default false.
    pub ecn: bool,
}

impl Default for TfrcConfig {
    fn default() -> Self {
        TfrcConfig { pacing: 1.0, ecn: false }
    }
}

impl Checked for TfrcConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if !(1.0..=10.0).contains(&self.pacing) {
            return Err(ConfigError::new("pacing", self.pacing, "from 1 to 10", "pacing = 1.0"));
        }
        Ok(())
    }
}

impl Law for TfrcConfig {
    const NAME: &'static str = "tfrc";
    const EXAMPLE: &'static str = r#"{"pacing": 1.25}"#;
}

impl ControlLaw for TfrcConfig {
    type Controller = Tfrc;

    fn controller(&self, _stream: Stream) -> Tfrc {
        Tfrc::new(*self)
    }

    fn ecn(&self) -> Ecn {
        if self.ecn { Ecn::Ect0 } else { Ecn::NotEct }
    }
}

/// State of TFRC: rates in bytes per second.
#[derive(Clone, Debug)]
pub struct Tfrc {
    config: TfrcConfig,
    limits: Limits,
    rounds: Rounds,
    rate: f64,
    loss: f64,
    /// X_recv_set with times; empty means {infinity}.
    received: Vec<(Instant, f64)>,
    most_received: f64,
    /// tld: time of the last doubling of the rate.
    doubled: Option<Instant>,
    is_started: bool,
    timer: Instant,
    /// True if something was sent since the timer was set.
    has_sent: bool,
}

impl Tfrc {
    fn new(config: TfrcConfig) -> Self {
        Tfrc {
            config,
            limits: Limits { start: Rate::default(), least: Rate::default(), most: Rate::default() },
            rounds: Rounds::default(),
            rate: 0.0,
            loss: 0.0,
            received: Vec::new(),
            most_received: 0.0,
            doubled: None,
            is_started: false,
            timer: Instant::NEVER,
            has_sent: false,
        }
    }

    fn set(&mut self, rate: f64) {
        let least = self.limits.least.bits_per_second() as f64 / 8.0;
        let most = (self.limits.most.bits_per_second() as f64 / 8.0).max(least);
        self.rate = rate.min(most).max(least);
    }

    fn largest(&self) -> f64 {
        if self.received.is_empty() {
            return f64::INFINITY;
        }
        self.received.iter().fold(0.0, |most, one| one.1.max(most))
    }

    /// §4.3 step 4.
    fn on_round(&mut self, now: Instant, round: &Round) {
        let round_trip = self.rounds.round_trip.unwrap_or(0.0);
        let before = self.loss;
        if round.is_first {
            // §6.3.1: the interval that yields the highest receive rate so far.
            let target = self.most_received.max(round.received).max(1.0);
            self.rounds.events.set_first_interval(1.0 / loss_for(target, self.rounds.size, round_trip));
        }
        self.most_received = self.most_received.max(round.received);
        self.loss = self.rounds.events.rate(self.rounds.highest);
        let is_worse = round.lost || self.loss > before;
        let limit = if !round.has_waited && round.received > 0.0 {
            let share = if is_worse { 0.85 } else { 1.0 };
            let kept = self.received.iter().map(|one| if is_worse { one.1 / 2.0 } else { one.1 });
            let largest = kept.fold(share * round.received, f64::max);
            self.received = vec![(now, largest)];
            if is_worse { largest } else { 2.0 * largest }
        } else {
            let two = self.rounds.span() * 2;
            self.received.retain(|one| now - one.0 <= two);
            self.received.push((now, round.received));
            2.0 * self.largest()
        };
        if self.loss > 0.0 {
            self.set(throughput(self.rounds.size, round_trip, self.loss).min(limit));
        } else if self.doubled.is_none_or(|doubled| (now - doubled).seconds() >= round_trip) {
            self.doubled = Some(now);
            let start = self.limits.start.bits_per_second() as f64 / 8.0;
            self.set((2.0 * self.rate).min(limit).max(start));
        }
    }

    /// Sets the timer to RTO = max(4 R, 2 s / X).
    fn set_timer(&mut self, now: Instant) {
        let packets = Span::from_seconds(2.0 * self.rounds.size / self.rate.max(1.0));
        self.timer = now + (self.rounds.span() * 4).max(packets).max(SHORTEST_TIMER);
        self.has_sent = false;
    }
}

impl RateController for Tfrc {
    fn on_limits(&mut self, now: Instant, limits: Limits) {
        self.limits = limits;
        if self.is_started {
            self.set(self.rate);
        } else {
            self.is_started = true;
            self.set(limits.start.bits_per_second() as f64 / 8.0);
            self.timer = now + FIRST_TIMER;
        }
    }

    fn on_sent(&mut self, _packet: &SentPacket) {
        self.has_sent = true;
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if let Some(round) = self.rounds.take(feedback) {
            self.on_round(feedback.now, &round);
        }
        if self.rounds.round_trip.is_some() && feedback.packets.iter().any(|report| report.arrived.is_some()) {
            self.set_timer(feedback.now);
        }
    }

    fn on_timer(&mut self, now: Instant) {
        if now < self.timer {
            return;
        }
        if self.has_sent {
            // §4.4: halving the receive rates halves the rate.
            self.received.iter_mut().for_each(|one| one.1 /= 2.0);
            self.set(self.rate / 2.0);
        }
        self.set_timer(now);
    }

    fn deadline(&self) -> Instant {
        self.timer
    }

    fn decision(&self) -> Decision {
        Decision::paced(Rate::from_bits_per_second((self.rate * 8.0) as u64), self.config.pacing)
    }

    fn on_new_path(&mut self, now: Instant, limits: Limits) {
        *self = Tfrc::new(self.config);
        self.on_limits(now, limits);
    }

    fn view(&self) -> ControlView {
        ControlView {
            capacity: Some(self.rate * 8.0),
            round_trip: self.rounds.round_trip,
            lost: Some(self.loss),
            state: if self.loss > 0.0 { "equation" } else { "slow start" },
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

    fn tfrc() -> Tfrc {
        let mut tfrc = TfrcConfig::default().controller(Seed(1).stream("control"));
        tfrc.on_limits(Instant::ZERO, limits(400_000, 30_000, 8_000_000));
        (tfrc.rounds.round_trip, tfrc.rounds.size) = (Some(0.1), 1000.0);
        tfrc
    }

    fn round(received: f64) -> Round {
        Round { received, lost: false, is_first: false, has_waited: true }
    }

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-3 * b.abs().max(1.0)
    }

    #[test]
    fn rate_doubles_each_round_trip_before_a_loss_up_to_twice_the_arrival_rate() {
        let mut tfrc = tfrc();
        tfrc.on_round(ms(100), &round(60_000.0));
        assert!(near(tfrc.rate, 100_000.0));
        tfrc.on_round(ms(199), &round(70_000.0));
        assert!(near(tfrc.rate, 100_000.0), "not yet a round trip");
        tfrc.on_round(ms(200), &round(80_000.0));
        assert!(near(tfrc.rate, 160_000.0), "{}", tfrc.rate);
        assert_eq!(tfrc.view().state, "slow start");
    }

    #[test]
    fn the_first_interval_gives_the_most_that_has_arrived_and_then_the_equation_rules() {
        let mut tfrc = tfrc();
        tfrc.on_round(ms(100), &round(60_000.0));
        tfrc.rounds.events.on_lost(&crate::control::rig::report(50, 100, None).packet, Span::ZERO);
        tfrc.rounds.highest = 50;
        tfrc.on_round(ms(200), &Round { lost: true, is_first: true, ..round(50_000.0) });
        assert!(near(tfrc.rate, 60_000.0), "{}", tfrc.rate);
        assert!(near(throughput(1000.0, 0.1, tfrc.loss), 60_000.0) && tfrc.view().state == "equation");
        // A long open interval raises the rate to at most twice the receive rate.
        tfrc.rounds.highest = 100_000;
        tfrc.on_round(ms(500), &round(70_000.0));
        assert!(near(tfrc.rate, 140_000.0), "{}", tfrc.rate);
    }

    #[test]
    fn a_sender_limited_by_its_data_keeps_the_highest_and_halves_it_at_a_loss() {
        let mut tfrc = tfrc();
        let idle = |received| Round { has_waited: false, ..round(received) };
        tfrc.on_round(ms(100), &idle(90_000.0));
        tfrc.on_round(ms(900), &idle(10_000.0));
        assert_eq!(tfrc.received, [(ms(900), 90_000.0)]);
        tfrc.on_round(ms(1000), &Round { lost: true, ..idle(80_000.0) });
        assert_eq!(tfrc.received, [(ms(1000), 68_000.0)], "0.85 of what arrives against half of the highest");
        tfrc.on_round(ms(1100), &round(5000.0));
        tfrc.on_round(ms(1250), &round(6000.0));
        assert_eq!(tfrc.received.len(), 2, "two round trips");
    }

    #[test]
    fn four_round_trips_without_feedback_halve_the_rate_of_a_sender_that_sends() {
        let mut tfrc = tfrc();
        assert_eq!(tfrc.deadline(), ms(2000));
        tfrc.on_timer(ms(2000));
        assert!(near(tfrc.rate, 50_000.0), "nothing was sent");
        tfrc.rounds.round_trip = Some(0.2);
        tfrc.set_timer(ms(2000));
        assert_eq!(tfrc.deadline(), ms(2800));
        tfrc.on_sent(&crate::control::rig::report(0, 0, None).packet);
        tfrc.on_timer(ms(2799));
        assert!(near(tfrc.rate, 50_000.0));
        tfrc.on_timer(ms(2800));
        assert!(near(tfrc.rate, 25_000.0));
        tfrc.rate = 100.0;
        tfrc.set_timer(ms(3000));
        assert_eq!(tfrc.deadline(), ms(23_000), "two packets");
    }

    #[test]
    fn pacing_has_a_range_and_marks_a_key() {
        assert_eq!(TfrcConfig { pacing: 0.5, ..TfrcConfig::default() }.check().expect_err("slow").key, "pacing");
        assert_eq!(TfrcConfig { ecn: true, ..TfrcConfig::default() }.ecn(), Ecn::Ect0);
        assert_eq!(TfrcConfig::default().ecn(), Ecn::NotEct);
    }

    const LAW: &str = r#"{"name": "tfrc"}"#;

    #[test]
    fn flow_uses_a_link_of_1_megabit_and_two_flows_share_it() {
        let course =
            run(&Path::drop_tail(1_000_000, 50, 300), &[(LAW, 0)], limits(300_000, 30_000, 2_500_000), 60).remove(0);
        println!("tfrc: {:.0} kb/s, lost {} of {}", course.mean(30) / 1000.0, course.lost, course.sent);
        assert!(course.mean(30) > 600_000.0);
        let all =
            run(&Path::drop_tail(2_000_000, 50, 300), &[(LAW, 0), (LAW, 10)], limits(300_000, 30_000, 2_500_000), 90);
        let (first, second) = (all[0].mean(50), all[1].mean(50));
        println!("tfrc: {:.0} and {:.0} kb/s", first / 1000.0, second / 1000.0);
        assert!(first + second > 1_200_000.0 && (0.33..3.0).contains(&(first / second)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_feedback_makes_it_leave_its_limits(all in prop::collection::vec(any::<(u8, u16, u16, bool)>(), 0..150)) {
            torture(LAW, &all);
        }
    }
}
