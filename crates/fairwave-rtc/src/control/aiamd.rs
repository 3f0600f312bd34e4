//! AIAMD: adds one packet per round trip; removes one packet on random loss, and half the rate on congestion. For
//! comparison.
//!
//! Follows paper 002 §3.2, Eq. (11), like transport `dvrc`, but at the sender from per-packet feedback. The arrival
//! rates at the starts of loss events have a moving mean R̄ and a moving deviation D̄. A loss is random if the rate is
//! at least R̄ − n·D̄.
//!
//! **Assumptions.** As for `dvrc`: gains and initial values follow RFC 6298 (1/8, 1/4; R and R/2); the first loss is
//! random; a round without arrivals is congestion. Loss events follow RFC 5348 §5: losses of packets sent within one
//! round trip are one event. One second without feedback, while packets are sent, is a round without arrivals. The
//! packet of "one packet per round trip" has the mean size in the round trip, in whole IP packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate, Span};

use super::rounds::{Round, Rounds};
use super::{ControlLaw, ControlView, Decision, Feedback, Limits, RateController, SentPacket};

/// Gains of R̄ and D̄ (RFC 6298).
const MEAN_GAIN: f64 = 0.125;
const DEVIATION_GAIN: f64 = 0.25;
/// Silence after which a round counts as without arrivals.
const SILENCE: Span = Span::from_secs(1);

/// AIAMD, the policy of DVRC.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AiamdConfig {
    /// α_I: packets per round trip added in each round trip without loss. Above 0; default 1.
    pub alpha_increase: f64,
    /// α_D: packets per round trip removed on a random loss. Above 0; default 1.
    pub alpha_decrease: f64,
    /// β_D: share of the rate that remains after congestion. Above 0 and below 1; default 0.5.
    #[serde(with = "Ratio")]
    pub beta_decrease: f64,
    /// n: deviations below the mean at which congestion begins. 0 and above; default 1.5.
    pub deviations: f64,
    /// Pacing rate as a multiple of the rate, from 1 to 10. Default 1.
    pub pacing: f64,
}

impl Default for AiamdConfig {
    fn default() -> Self {
        AiamdConfig { alpha_increase: 1.0, alpha_decrease: 1.0, beta_decrease: 0.5, deviations: 1.5, pacing: 1.0 }
    }
}

impl Checked for AiamdConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_between("alpha-increase", self.alpha_increase, 0.0, f64::INFINITY, "alpha-increase = 1.0")?;
        check_between("alpha-decrease", self.alpha_decrease, 0.0, f64::INFINITY, "alpha-decrease = 1.0")?;
        check_between("beta-decrease", self.beta_decrease, 0.0, 1.0, "beta-decrease = 0.5")?;
        if !(self.deviations >= 0.0 && self.deviations.is_finite()) {
            return Err(ConfigError::new("deviations", self.deviations, "0 and above", "deviations = 1.5"));
        }
        if !(1.0..=10.0).contains(&self.pacing) {
            return Err(ConfigError::new("pacing", self.pacing, "from 1 to 10", "pacing = 1.0"));
        }
        Ok(())
    }
}

impl Law for AiamdConfig {
    const NAME: &'static str = "aiamd";
    const EXAMPLE: &'static str = r#"{"deviations": 1.0}"#;
}

impl ControlLaw for AiamdConfig {
    type Controller = Aiamd;

    fn controller(&self, _stream: Stream) -> Aiamd {
        Aiamd {
            config: *self,
            limits: Limits { start: Rate::default(), least: Rate::default(), most: Rate::default() },
            rounds: Rounds::default(),
            rate: 0.0,
            history: None,
            is_started: false,
            silence: Instant::NEVER,
            has_sent: false,
            state: "start",
        }
    }
}

/// State of AIAMD: rates in bytes per second.
#[derive(Clone, Debug)]
pub struct Aiamd {
    config: AiamdConfig,
    limits: Limits,
    rounds: Rounds,
    rate: f64,
    /// R̄ and D̄.
    history: Option<(f64, f64)>,
    is_started: bool,
    silence: Instant,
    has_sent: bool,
    state: &'static str,
}

impl Aiamd {
    fn set(&mut self, rate: f64) {
        let least = self.limits.least.bits_per_second() as f64 / 8.0;
        let most = (self.limits.most.bits_per_second() as f64 / 8.0).max(least);
        self.rate = rate.min(most).max(least);
    }

    /// Returns the increase of one packet per round trip, in bytes per second.
    fn step(&self) -> f64 {
        self.rounds.size / self.rounds.round_trip.unwrap_or(0.0).max(0.001)
    }

    fn on_round(&mut self, round: &Round) {
        if !round.lost {
            self.state = "increase";
            self.set(self.rate + self.config.alpha_increase * self.step());
            return;
        }
        self.on_loss(round.received);
    }

    fn on_loss(&mut self, received: f64) {
        let bound = self.history.map(|(mean, deviation)| mean - self.config.deviations * deviation);
        if received <= 0.0 || bound.is_some_and(|bound| received < bound) {
            self.state = "congestion";
            self.set(self.rate * self.config.beta_decrease);
        } else {
            self.state = "random loss";
            self.set(self.rate - self.config.alpha_decrease * self.step());
        }
        self.history = Some(match self.history {
            None => (received, received / 2.0),
            Some((mean, deviation)) => {
                let difference = (received - mean).abs();
                (mean + MEAN_GAIN * (received - mean), deviation + DEVIATION_GAIN * (difference - deviation))
            }
        });
    }
}

impl RateController for Aiamd {
    fn on_limits(&mut self, now: Instant, limits: Limits) {
        self.limits = limits;
        if self.is_started {
            self.set(self.rate);
        } else {
            self.is_started = true;
            self.set(limits.start.bits_per_second() as f64 / 8.0);
            self.silence = now + SILENCE;
        }
    }

    fn on_sent(&mut self, _packet: &SentPacket) {
        self.has_sent = true;
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if let Some(round) = self.rounds.take(feedback) {
            self.on_round(&round);
        }
        if feedback.packets.iter().any(|report| report.arrived.is_some()) {
            (self.silence, self.has_sent) = (feedback.now + SILENCE, false);
        }
    }

    fn on_timer(&mut self, now: Instant) {
        if now < self.silence {
            return;
        }
        if self.has_sent {
            self.on_loss(0.0);
        }
        (self.silence, self.has_sent) = (now + SILENCE, false);
    }

    fn deadline(&self) -> Instant {
        self.silence
    }

    fn decision(&self) -> Decision {
        Decision::paced(Rate::from_bits_per_second((self.rate * 8.0) as u64), self.config.pacing)
    }

    fn on_new_path(&mut self, now: Instant, limits: Limits) {
        (self.rounds, self.history, self.is_started) = (Rounds::default(), None, false);
        self.on_limits(now, limits);
    }

    fn view(&self) -> ControlView {
        ControlView {
            capacity: Some(self.rate * 8.0),
            round_trip: self.rounds.round_trip,
            lost: Some(self.rounds.events.rate(self.rounds.highest)),
            state: self.state,
            ..ControlView::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::rig::{Path, limits, report, run, torture};
    use fairwave_units::random::Seed;
    use proptest::prelude::*;

    /// Returns a controller at 800 kb/s; one packet per round trip is 10 000 bytes per second.
    fn aiamd() -> Aiamd {
        let mut aiamd = AiamdConfig::default().controller(Seed(1).stream("control"));
        aiamd.on_limits(Instant::ZERO, limits(800_000, 30_000, 8_000_000));
        (aiamd.rounds.round_trip, aiamd.rounds.size) = (Some(0.1), 1000.0);
        aiamd
    }

    fn round(received: f64, lost: bool) -> Round {
        Round { received, lost, is_first: false, has_waited: false }
    }

    #[test]
    fn a_round_without_loss_adds_a_packet_per_round_trip() {
        let mut aiamd = aiamd();
        aiamd.on_round(&round(90_000.0, false));
        assert_eq!((aiamd.rate, aiamd.view().state), (110_000.0, "increase"));
    }

    #[test]
    fn a_loss_at_the_bound_is_random_and_below_it_congestion() {
        let mut aiamd = aiamd();
        aiamd.history = Some((100_000.0, 20_000.0)); // the bound is 70 000
        aiamd.on_round(&round(70_000.0, true));
        assert_eq!((aiamd.rate, aiamd.view().state), (90_000.0, "random loss"));
        aiamd.history = Some((100_000.0, 20_000.0));
        aiamd.on_round(&round(69_999.0, true));
        assert_eq!((aiamd.rate, aiamd.view().state), (45_000.0, "congestion"));
    }

    #[test]
    fn the_first_loss_is_random_and_begins_the_history_that_gains_move() {
        let mut aiamd = aiamd();
        aiamd.on_round(&round(80_000.0, true));
        assert_eq!((aiamd.rate, aiamd.history), (90_000.0, Some((80_000.0, 40_000.0))));
        aiamd.on_round(&round(40_000.0, true));
        assert_eq!(aiamd.history, Some((75_000.0, 40_000.0)));
    }

    #[test]
    fn a_second_of_silence_is_congestion_for_a_sender_that_sends() {
        let mut aiamd = aiamd();
        aiamd.on_timer(Instant::from_seconds(1.0));
        assert_eq!(aiamd.rate, 100_000.0);
        aiamd.on_sent(&report(0, 0, None).packet);
        aiamd.on_timer(Instant::from_seconds(1.5));
        assert_eq!(aiamd.rate, 100_000.0, "too early");
        aiamd.on_timer(aiamd.deadline());
        assert_eq!(aiamd.rate, 50_000.0);
        aiamd.on_new_path(Instant::from_seconds(3.0), limits(400_000, 30_000, 8_000_000));
        assert_eq!((aiamd.rate, aiamd.history), (50_000.0, None));
    }

    #[test]
    fn keys_out_of_range_are_refused() {
        let refused = |text: &str| serde_json::from_str::<AiamdConfig>(text).expect(text).check().expect_err(text).key;
        assert_eq!(refused(r#"{"alpha-increase": 0}"#), "alpha-increase");
        assert_eq!(refused(r#"{"alpha-decrease": -1}"#), "alpha-decrease");
        assert_eq!(refused(r#"{"beta-decrease": 1}"#), "beta-decrease");
        assert_eq!(refused(r#"{"deviations": -0.1}"#), "deviations");
        assert_eq!(refused(r#"{"pacing": 0}"#), "pacing");
    }

    const LAW: &str = r#"{"name": "aiamd"}"#;

    #[test]
    fn flow_uses_a_link_of_1_megabit_and_two_flows_share_it() {
        let course =
            run(&Path::drop_tail(1_000_000, 50, 300), &[(LAW, 0)], limits(300_000, 30_000, 2_500_000), 60).remove(0);
        println!("aiamd: {:.0} kb/s, lost {} of {}", course.mean(30) / 1000.0, course.lost, course.sent);
        assert!(course.mean(30) > 700_000.0);
        let all =
            run(&Path::drop_tail(2_000_000, 50, 300), &[(LAW, 0), (LAW, 10)], limits(300_000, 30_000, 2_500_000), 90);
        let (first, second) = (all[0].mean(50), all[1].mean(50));
        println!("aiamd: {:.0} and {:.0} kb/s", first / 1000.0, second / 1000.0);
        assert!(first + second > 1_400_000.0 && (0.2..5.0).contains(&(first / second)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_feedback_makes_it_leave_its_limits(all in prop::collection::vec(any::<(u8, u16, u16, bool)>(), 0..150)) {
            torture(LAW, &all);
        }
    }
}
