//! PIE: drops with a probability that a proportional-integral controller computes from the queueing delay.
//!
//! Follows RFC 8033. §4.1 defines random dropping with its safeguards. §4.2 defines the drop probability, updated every
//! `update` from the delay's distance to its reference (α) and its change (β). Both gains are scaled down while the
//! probability is small. The probability decays when the queue is empty. §4.4 defines the burst allowance, §5.1 marking,
//! §5.4 derandomization, and §5.5 the limit on the probability's growth.
//!
//! Queue and probability change only at calls, so each call first catches up on all updates that are due.
//!
//! **Assumptions.** The delay is the backlog over the link's rate, since that rate is known (§4.3 allows any estimate). The
//! packet in transmission is not counted. Optional §5 features left out: the auto-turn on and off (§5.3) and timestamps.
//! `alpha` and `beta` are scaled for the RFC's update period of 15 ms, and are not rescaled for other periods.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DropReason;
use super::buffer::Buffer;
use super::config::Capacity;
use super::discipline::{Arrival, Discipline, DisciplineLaw, RateChange, Verdict};
use super::red::{check_probability, check_size};
use super::ticker::Ticker;
use crate::packet::Packet;
use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::random::Stream;
use fairwave_units::ratio::OptionalRatio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// PIE (RFC 8033). It drops arrivals with a probability that follows the queueing delay's distance to `target` and its
/// change. It updates the probability every `update`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PieConfig {
    /// Target of the queueing delay (QDELAY_REF).
    #[serde(default = "fifteen_millis")]
    pub target: Span,
    /// How often the drop probability is updated (T_UPDATE).
    #[serde(default = "fifteen_millis")]
    pub update: Span,
    /// Length of a burst after calm that passes without drops (MAX_BURST).
    #[serde(default = "max_burst")]
    pub max_burst: Span,
    /// Gain on the distance of the delay from its target, per second.
    #[serde(default = "alpha")]
    pub alpha: f64,
    /// Gain on the change of the delay, per second.
    #[serde(default = "beta")]
    pub beta: f64,
    /// Mean packet size on the wire: there are no drops while at most two such packets wait.
    #[serde(default = "mean_packet")]
    pub mean_packet: Bytes,
    /// Mark instead of dropping early, if the packet's transport understands marks (RFC 8033 §5.1).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
    /// The drop probability up to which packets are marked, in (0, 1]. Above it they are dropped. Only with `ecn`. Default: 0.1.
    #[serde(with = "OptionalRatio", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = MARK_UP_TO))]
    pub mark_ecnth: Option<f64>,
}

pub(super) fn fifteen_millis() -> Span {
    Span::from_millis(15)
}

pub(super) fn max_burst() -> Span {
    Span::from_millis(150)
}

pub(super) fn alpha() -> f64 {
    0.125
}

pub(super) fn beta() -> f64 {
    1.25
}

fn mean_packet() -> Bytes {
    Bytes::new(1000)
}

impl Checked for PieConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_span("target", self.target, "target = \"15 ms\"")?;
        check_span("update", self.update, "update = \"15 ms\"")?;
        check_between("alpha", self.alpha, 0.0, f64::INFINITY, "alpha = 0.125")?;
        check_between("beta", self.beta, 0.0, f64::INFINITY, "beta = 1.25")?;
        check_marking(self.ecn, self.mark_ecnth)?;
        check_size("mean-packet", self.mean_packet)
    }
}

impl Law for PieConfig {
    const NAME: &'static str = "pie";
}

impl DisciplineLaw for PieConfig {
    type Discipline = Pie;

    fn marks(&self) -> bool {
        self.ecn
    }

    fn discipline(&self, _capacity: Capacity, rate: Rate) -> Pie {
        let set = Settings {
            target: self.target.seconds(),
            update: self.update,
            max_burst: self.max_burst,
            alpha: self.alpha,
            beta: self.beta,
            two_packets: self.mean_packet.get().saturating_mul(2),
            mark_up_to: marks_up_to(self.ecn, self.mark_ecnth),
        };
        let link = rate.bits_per_second().max(1) as f64 / 8.0;
        Pie { state: State::new(&set), set, link, ticker: Ticker::new(self.update) }
    }
}

/// Default drop probability up to which packets are marked (mark_ecnth, §5.1).
pub(super) const MARK_UP_TO: f64 = 0.1;

/// Checks that a mark threshold is in (0, 1], and that marking is on.
pub(super) fn check_marking(ecn: bool, up_to: Option<f64>) -> Result<(), ConfigError> {
    match up_to {
        Some(value) if !ecn => {
            Err(ConfigError::new("mark-ecnth", value, "left out without `ecn = true`", "ecn = true, mark-ecnth = 0.1"))
        }
        Some(value) => check_probability("mark-ecnth", value, "mark-ecnth = 0.1"),
        None => Ok(()),
    }
}

/// The probability up to which packets are marked; below 0 if `ecn` is off.
pub(super) fn marks_up_to(ecn: bool, up_to: Option<f64>) -> f64 {
    if ecn { up_to.unwrap_or(MARK_UP_TO) } else { -1.0 }
}

/// Parameters of PIE.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// In seconds.
    pub target: f64,
    pub update: Span,
    pub max_burst: Span,
    pub alpha: f64,
    pub beta: f64,
    /// Size of two mean packets, bytes.
    pub two_packets: u64,
    /// See [`marks_up_to`].
    pub mark_up_to: f64,
}

/// PIE's state for one queue.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub probability: f64,
    /// Delay at the last update, seconds.
    pub delay: f64,
    burst: Span,
    /// Probability accumulated since the last drop.
    accumulated: f64,
}

/// State of the discipline PIE.
#[derive(Clone, Debug)]
pub struct Pie {
    set: Settings,
    state: State,
    /// Rate of the link, bytes per second.
    link: f64,
    ticker: Ticker,
}

impl State {
    /// Returns the initial state, without congestion.
    pub fn new(set: &Settings) -> Self {
        State { probability: 0.0, delay: 0.0, burst: set.max_burst, accumulated: 0.0 }
    }

    /// Does one update with the given delay in seconds (§4.2). Returns false if nothing changed; further updates with the
    /// same delay then change nothing either.
    #[inline]
    pub fn step(&mut self, set: &Settings, delay: f64) -> bool {
        let before = (self.probability, self.delay, self.burst);
        let raw = set.alpha * (delay - set.target) + set.beta * (delay - self.delay);
        let mut change = raw * scale(self.probability);
        if self.probability >= 0.1 && change > 0.02 {
            change = 0.02;
        }
        self.probability += change;
        if delay == 0.0 && self.delay == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst = self.burst.saturating_sub(set.update);
        let half = set.target / 2.0;
        if self.probability == 0.0 && delay < half && self.delay < half {
            self.burst = set.max_burst;
        }
        self.delay = delay;
        before != (self.probability, self.delay, self.burst)
    }

    /// Verdict on an arrival whose queue holds `backlog` bytes (§4.1, §5.1, §5.4).
    #[inline]
    pub fn verdict(&mut self, set: &Settings, backlog: u64, stream: &mut Stream) -> Verdict {
        let calm = self.delay < set.target / 2.0 && self.probability < 0.2;
        if self.burst > Span::ZERO || calm || backlog <= set.two_packets {
            return Verdict::Admit;
        }
        // §5.4: no drop before the accumulated probability of the admitted packets reaches 0.85, and a certain drop at 8.5.
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        let drop = match self.accumulated {
            sum if sum < 0.85 => false,
            sum if sum >= 8.5 => true,
            _ => stream.chance(self.probability),
        };
        if !drop {
            return Verdict::Admit;
        }
        self.accumulated = 0.0;
        if self.probability <= set.mark_up_to { Verdict::Mark } else { Verdict::Drop }
    }
}

impl Pie {
    /// Updates the probability for every period that ended before `now`. The backlog has not changed since the last call.
    #[inline]
    fn catch_up(&mut self, now: Instant, buffer: &Buffer) {
        while self.ticker.tick(now) {
            if !self.state.step(&self.set, buffer.total().bytes as f64 / self.link) {
                self.ticker.skip(now);
            }
        }
    }
}

impl Discipline for Pie {
    fn arrive(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        self.catch_up(arrival.now, arrival.buffer);
        self.state.verdict(&self.set, arrival.buffer.total().bytes, stream)
    }

    #[inline]
    fn depart(&mut self, now: Instant, buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        // The controller depends on the backlog, which is about to change.
        self.catch_up(now, buffer);
        buffer.pop_front().map(|(packet, _)| packet)
    }

    /// The delay is the backlog divided by the current rate.
    fn on_rate_change(&mut self, change: &RateChange<'_>) {
        self.catch_up(change.now, change.buffer);
        self.link = change.rate.bits_per_second().max(1) as f64 / 8.0;
    }

    /// The drop probability.
    fn average(&self) -> Option<f64> {
        Some(self.state.probability)
    }
}

/// Factor that scales the gains down at a small probability (§4.2).
fn scale(probability: f64) -> f64 {
    const TABLE: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    TABLE.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, stream};
    use super::*;
    use crate::packet::Class;

    /// On a link of 8 Mb/s: 1000 bytes are 1 ms of delay.
    fn pie() -> Pie {
        let config: PieConfig = serde_json::from_str("{}").expect("pie");
        config.discipline(Capacity::Packets(1000), Rate::from_bits_per_second(8_000_000))
    }

    fn queue_of(packets: u32) -> Buffer {
        let mut buffer = Buffer::with_capacity(0);
        for flow in 0..packets {
            buffer.push(Instant::ZERO, packet(flow, 1000, Class::Tcp));
        }
        buffer
    }

    #[test]
    fn the_delay_is_that_of_the_rate_that_there_is() {
        let (mut pie, buffer) = (pie(), queue_of(10));
        pie.catch_up(Instant::ZERO + Span::from_millis(20), &buffer);
        assert!((pie.state.delay - 0.010).abs() < 1e-12, "{}", pie.state.delay);
        let now = Instant::ZERO + Span::from_millis(29);
        pie.on_rate_change(&RateChange {
            now,
            rate: Rate::from_bits_per_second(800_000),
            idle: Span::ZERO,
            buffer: &buffer,
        });
        assert!((pie.state.delay - 0.010).abs() < 1e-12, "what was due before was due at the rate before");
        pie.catch_up(Instant::ZERO + Span::from_millis(31), &buffer);
        assert!((pie.state.delay - 0.100).abs() < 1e-12, "{}", pie.state.delay);
    }

    #[test]
    fn the_probability_follows_the_controller() {
        let mut pie = pie();
        (pie.state.probability, pie.state.delay) = (0.2, 0.020);
        pie.state.step(&pie.set, 0.025);
        // α(25 − 15 ms) + β(25 − 20 ms), unscaled above 0.1
        assert!(
            (pie.state.probability - (0.2 + 0.125 * 0.010 + 1.25 * 0.005)).abs() < 1e-12,
            "{}",
            pie.state.probability
        );
    }

    #[test]
    fn gains_are_scaled_down_while_the_probability_is_small() {
        for (probability, divisor) in
            [(0.0, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (5e-2, 2.0), (0.2, 1.0)]
        {
            let mut pie = pie();
            (pie.state.probability, pie.state.delay) = (probability, 0.020);
            pie.state.step(&pie.set, 0.020);
            let expected = probability + 0.125 * 0.005 / divisor;
            assert!((pie.state.probability - expected).abs() < 1e-15, "at {probability}");
        }
    }

    #[test]
    fn from_a_tenth_on_one_update_adds_at_most_two_hundredths() {
        let mut pie = pie();
        pie.state.probability = 0.1;
        pie.state.step(&pie.set, 0.5);
        assert!((pie.state.probability - 0.12).abs() < 1e-12);
    }

    #[test]
    fn an_empty_queue_decays_the_probability_exponentially() {
        let mut pie = pie();
        (pie.state.probability, pie.state.delay) = (0.5, 0.0);
        pie.state.step(&pie.set, 0.0);
        assert!((pie.state.probability - (0.5 - 0.125 * 0.015) * 0.98).abs() < 1e-12);
    }

    /// Number of drops among 1000 arrivals at a queue of 40 ms, for this probability and burst allowance.
    fn dropped(probability: f64, burst: Span, waiting: u32) -> usize {
        let (mut pie, buffer, mut stream) = (pie(), queue_of(waiting), stream());
        (pie.state.probability, pie.state.delay, pie.state.burst) = (probability, 0.040, burst);
        let packet = packet(0, 1000, Class::Tcp);
        let arrival = Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
        (0..1000).filter(|_| pie.arrive(&arrival, &mut stream) == Verdict::Drop).count()
    }

    #[test]
    fn drops_are_spread_by_accumulating_probability() {
        // At 0.1 the first 8 packets after a drop pass (sum 0.8). Then each is dropped with probability 0.1: one drop per 8
        // + 10 packets.
        let drops = dropped(0.1, Span::ZERO, 40);
        assert!((45..=66).contains(&drops), "{drops}");
    }

    #[test]
    fn bursts_and_short_queues_pass() {
        assert_eq!(dropped(1.0, Span::from_millis(1), 40), 0);
        assert_eq!(dropped(1.0, Span::ZERO, 2), 0);
        assert_eq!(dropped(1.0, Span::ZERO, 3), 1000);
    }

    #[test]
    fn the_burst_allowance_runs_down_and_returns_when_calm() {
        let mut pie = pie();
        for _ in 0..10 {
            pie.state.step(&pie.set, 0.030);
        }
        assert_eq!(pie.state.burst, Span::ZERO);
        (pie.state.probability, pie.state.delay) = (0.0, 0.001);
        pie.state.step(&pie.set, 0.001);
        assert_eq!(pie.state.burst, Span::from_millis(150));
    }

    #[test]
    fn catching_up_late_is_the_same_as_every_timer_in_time() {
        let (mut lazy, mut eager) = (pie(), pie());
        (lazy.state.probability, eager.state.probability) = (0.01, 0.01);
        for i in 1..=400u64 {
            eager.catch_up(Instant::ZERO + Span::from_millis(15) * i + Span::from_nanos(1), &queue_of(0));
        }
        lazy.catch_up(Instant::ZERO + Span::from_millis(6001), &queue_of(0));
        assert_eq!(
            (lazy.state.probability, lazy.state.burst, lazy.state.delay),
            (eager.state.probability, eager.state.burst, eager.state.delay)
        );
    }

    /// Decision about an arrival at a long queue without burst allowance: (dropped, accumulated probability).
    fn decided(probability: f64, delay: f64, accumulated: f64) -> (bool, f64) {
        let (mut pie, buffer, mut stream) = (pie(), queue_of(40), stream());
        (pie.state.probability, pie.state.delay, pie.state.burst, pie.state.accumulated) =
            (probability, delay, Span::ZERO, accumulated);
        let packet = packet(0, 1000, Class::Tcp);
        let arrival = Arrival { now: Instant::ZERO, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false };
        (pie.arrive(&arrival, &mut stream) == Verdict::Drop, pie.state.accumulated)
    }

    #[test]
    fn a_calm_queue_drops_nothing_below_a_fifth() {
        // RFC 8033 §4.1: safeguard while the old delay is below half the target and the probability below 0.2. The
        // accumulated probability is 20, so that an arrival without the safeguard is always dropped.
        assert!(!decided(0.199, 0.0074, 20.0).0);
        assert!(decided(0.2, 0.0074, 20.0).0, "0.2 is not below 0.2");
        assert!(decided(0.199, 0.0075, 20.0).0, "half the target is not below it");
        assert_eq!(decided(0.199, 0.0074, 20.0).1, 20.0, "what is safe does not count");
    }

    #[test]
    fn no_drop_before_the_sum_is_0_85_and_one_for_certain_at_8_5() {
        // RFC 8033 §5.4.
        assert_eq!(decided(0.5, 0.04, 0.349), (false, 0.849));
        assert_eq!(decided(1.0, 0.04, -0.151), (false, 0.849), "even a certain drop waits");
        assert_eq!(decided(1.0, 0.04, -0.15), (true, 0.0), "from 0.85 on chance decides");
        assert_eq!(decided(1.0 / 1024.0, 0.04, 8.5 - 1.0 / 1024.0), (true, 0.0), "8.5 is enough");
        let below = 8.5 - 2.0 / 1024.0;
        assert_eq!(decided(1.0 / 1024.0, 0.04, below), (false, below + 1.0 / 1024.0));
        assert_eq!(decided(0.0, 0.04, 20.0), (false, 0.0), "without probability the sum begins anew");
    }

    /// Returns the probability after one update.
    fn stepped(probability: f64, before: f64, delay: f64) -> f64 {
        let mut pie = pie();
        (pie.state.probability, pie.state.delay) = (probability, before);
        pie.state.step(&pie.set, delay);
        pie.state.probability
    }

    #[test]
    fn clauses_of_an_update_have_their_edges() {
        // §5.5: the cap applies from 0.1 on. Below, the change of 0.125 · 0.485 + 1.25 · 0.5 is only halved.
        assert!((stepped(0.1, 0.0, 0.5) - 0.12).abs() < 1e-12);
        assert!((stepped(0.09, 0.0, 0.5) - (0.09 + (0.125 * 0.485 + 1.25 * 0.5) / 2.0)).abs() < 1e-12);
        assert!((stepped(0.2, 0.015, 0.031) - (0.2 + 0.02)).abs() < 1e-12, "0.022 is more than two hundredths");
        // §4.2: decay needs two empty queues in succession, and the probability stays within 0 and 1.
        assert!((stepped(0.5, 0.001, 0.0) - (0.5 - 0.125 * 0.015 - 1.25 * 0.001)).abs() < 1e-12);
        assert!((stepped(0.5, 0.0, 0.001) - (0.5 - 0.125 * 0.014 + 1.25 * 0.001)).abs() < 1e-12);
        assert_eq!((stepped(0.995, 0.1, 0.2), stepped(0.001, 0.4, 0.0)), (1.0, 0.0));
    }

    #[test]
    fn the_divisors_change_at_the_powers_of_ten() {
        let divisors = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1].map(|edge| (1.0 / scale(edge), 1.0 / scale(edge * 0.999)));
        let expected = [(512.0, 2048.0), (128.0, 512.0), (32.0, 128.0), (8.0, 32.0), (2.0, 8.0), (1.0, 2.0)];
        assert_eq!(divisors, expected);
    }

    #[test]
    fn the_allowance_returns_only_with_no_probability_and_two_short_delays() {
        // §4.4: after an update period of 15 ms.
        let burst = |probability, before, delay| {
            let mut pie = pie();
            (pie.state.probability, pie.state.delay, pie.state.burst) = (probability, before, Span::from_millis(40));
            pie.state.step(&pie.set, delay);
            pie.state.burst
        };
        let (left, whole) = (Span::from_millis(25), Span::from_millis(150));
        assert_eq!(burst(0.0, 0.007, 0.007), whole);
        assert_eq!(burst(0.3, 0.007, 0.007), left);
        assert_eq!(burst(0.0, 0.0075, 0.007), left, "half the target is not below it");
        assert_eq!(burst(0.0, 0.007, 0.0075), left);
    }

    #[test]
    fn the_backlog_is_taken_as_it_stood_and_the_head_leaves() {
        let (mut pie, mut buffer, mut drops) = (pie(), queue_of(40), Vec::new());
        let head = pie.depart(Instant::ZERO + Span::from_millis(16), &mut buffer, &mut drops).map(|head| head.flow.0);
        assert_eq!((head, buffer.total().packets, drops.len()), (Some(0), 39, 0));
        // 40 packets of 1 ms each: α(40 − 15 ms) + β · 40 ms, scaled by 1/2048.
        let expected = (0.125 * 0.025 + 1.25 * 0.040) / 2048.0;
        assert!((pie.average().expect("a probability") - expected).abs() < 1e-15, "{:?}", pie.average());
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for (text, key) in [
            (r#"{"target":"0 ms"}"#, "target"),
            (r#"{"update":"0 ms"}"#, "update"),
            (r#"{"alpha":0}"#, "alpha"),
            (r#"{"beta":0}"#, "beta"),
            (r#"{"mean-packet":"0 B"}"#, "mean-packet"),
        ] {
            let error = serde_json::from_str::<PieConfig>(text).expect("pie").check().expect_err(text);
            assert_eq!(error.key, key);
        }
    }
}
