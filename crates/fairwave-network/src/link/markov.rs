//! A rate that changes at random: a chain of states with different rates, for example of a radio channel.
//!
//! Source: none but the definition. A continuous-time Markov chain: the time in a state is exponential with the
//! state's mean, and the weights of the state that ends decide the next one. The first state is drawn from the
//! stationary distribution (elimination of Grassmann, Taksar and Heyman 1985), so that there is no initial transient.
//! A transmission that begins at s ends at the first t at which the integral of the rate from s to t equals its size.
//! States are drawn in advance from the link's random stream, so they do not depend on the traffic.
//!
//! **Presets.** Rates come from standards. The usable part of a rate and the speed of changes are assumptions of
//! fairwave, not fitted to a measurement:
//!
//! - `lte`: one user alone in a cell of 10 MHz. The 15 spectral efficiencies of the channel quality indicator (3GPP TS
//!   36.213, 7.2.3-1) over 50 resource blocks of 12 subcarriers with 14 symbols per millisecond, one layer. Ours: a
//!   quarter of the symbols goes to control and reference signals. The rate goes from each indicator to a neighbouring one,
//!   100 ms in each in the mean. 0.96 to 35 Mb/s.
//! - `wifi`: one station of IEEE 802.11n, 20 MHz, one stream, long guard interval: MCS 0 to 7 (IEEE 802.11-2012, 20.6).
//!   Ours: 65 % of the rate is left for packets; from each to a neighbouring one, 200 ms in each in the mean. 4.2 to 42
//!   Mb/s.
//!
//! **Delay and loss.** In addition to its rate, a state can have an extra delay and a loss rate: a slow radio is also
//! late and lossy. Both hold for packets that leave the transmitter in that state, in addition to the link's delay
//! and loss. Packets stay in order.
//!
//! **Assumptions.** A transmission continues at the new rate when the state changes; at rate 0 it waits. Buffers are
//! sized by the long-run mean rate.

use std::cell::RefCell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::course::Course;
use super::{RateLaw, Transmitter};
use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Changes at random: a Markov chain of states. Each state has a rate and a mean time; it can add a delay and a loss.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("anyOf" = [{ "required": ["preset"] }, { "required": ["states"] }]))]
pub struct MarkovRateConfig {
    /// A chain by name: `lte` (0.96 to 35 Mb/s) or `wifi` (4.2 to 42 Mb/s). The rates come from the standards, the
    /// times are assumptions of fairwave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<RatePreset>,
    /// Instead of a preset: the states, 2 to 64. Each state must be reachable from every other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<RateState>,
}

/// A state of the chain.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RateState {
    /// The rate. At least one state has a rate above 0.
    pub rate: Rate,
    /// Mean time in this state, 1 ms or more; times are exponential.
    pub mean: Span,
    /// Extra delay of packets that leave in this state, at most 1 min. Default 0 ms.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub delay: Span,
    /// Share of the packets that leave in this state and are lost, 0 to 1, in addition to the link's `loss`. Default 0.
    #[serde(with = "Ratio", default, skip_serializing_if = "is_nothing")]
    pub loss: f64,
    /// Weights of the next state, one per state in order, 0 for this state. Default: all others are equally likely.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<f64>,
}

fn is_no_time(time: &Span) -> bool {
    *time == Span::ZERO
}

fn is_nothing(loss: &f64) -> bool {
    *loss == 0.0
}

/// Chains by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RatePreset {
    /// A user alone in an LTE cell of 10 MHz.
    Lte,
    /// A station of IEEE 802.11n.
    Wifi,
}

/// Spectral efficiency of channel quality indicators 1 to 15 in 10⁻⁴ bits per symbol (3GPP TS 36.213, 7.2.3-1).
const CQI: [u64; 15] =
    [1523, 2344, 3770, 6016, 8770, 11758, 14766, 19141, 24063, 27305, 33223, 39023, 45234, 51152, 55547];

/// Symbols per second of 50 resource blocks, three quarters of which carry packets.
const SYMBOLS: u64 = 50 * 12 * 14 * 1000 * 3 / 4;

/// MCS 0 to 7 at 20 MHz with a guard interval of 800 ns, in kb/s (IEEE 802.11-2012, 20.6).
const MCS: [u64; 8] = [6_500, 13_000, 19_500, 26_000, 39_000, 52_000, 58_500, 65_000];

/// Bits per second per kb/s that are left for packets: 65 %.
const LEFT: u64 = 650;

const SHORTEST: Span = Span::from_millis(1);
const MOST: usize = 64;
const LONGEST_DELAY: Span = Span::from_secs(60);
const EXAMPLE: &str = "states = [{ rate = \"20 Mb/s\", mean = \"2 s\" }, { rate = \"1 Mb/s\", mean = \"500 ms\" }]";

impl RatePreset {
    fn states(self) -> Vec<RateState> {
        let (rates, mean): (Vec<u64>, Span) = match self {
            RatePreset::Lte => (CQI.iter().map(|cqi| cqi * SYMBOLS / 10_000).collect(), Span::from_millis(100)),
            RatePreset::Wifi => (MCS.iter().map(|mcs| mcs * LEFT).collect(), Span::from_millis(200)),
        };
        let beside = |own: usize| (0..rates.len()).map(|to| f64::from(u8::from(to.abs_diff(own) == 1))).collect();
        let state = |(own, rate)| RateState {
            rate: Rate::from_bits_per_second(rate),
            mean,
            delay: Span::ZERO,
            loss: 0.0,
            to: beside(own),
        };
        rates.clone().into_iter().enumerate().map(state).collect()
    }
}

impl Checked for MarkovRateConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let refuse = |key: &str, value: String, allowed: &str, example: &str| {
            Err(ConfigError::new(key, value, allowed, example))
        };
        match (self.preset, self.states.len()) {
            (Some(_), 0) => return Ok(()),
            (Some(_), _) => return refuse("preset", "given beside `states`".to_owned(), "left out there", EXAMPLE),
            (None, 0) => return refuse("preset", "missing".to_owned(), "given, or `states`", "preset = \"lte\""),
            (None, 2..=MOST) => {}
            (None, count) => return refuse("states", format!("{count} of them"), "2 to 64", EXAMPLE),
        }
        for (place, state) in self.states.iter().enumerate() {
            if state.mean < SHORTEST {
                let (key, example) = (format!("states.{place}.mean"), "mean = \"500 ms\"");
                return refuse(&key, state.mean.to_string(), "1 ms or more", example);
            }
            if state.delay > LONGEST_DELAY {
                let (key, example) = (format!("states.{place}.delay"), "delay = \"40 ms\"");
                return refuse(&key, state.delay.to_string(), "from 0 ms to 1 min", example);
            }
            check_fraction("loss", state.loss, "loss = \"2 %\"")
                .map_err(|error| error.nested_in(&format!("states.{place}")))?;
            let right = state.to.len() == self.states.len()
                && state.to.iter().all(|weight| *weight >= 0.0 && weight.is_finite())
                && state.to[place] == 0.0
                && state.to.iter().sum::<f64>() > 0.0
                && state.to.iter().sum::<f64>().is_finite();
            if !state.to.is_empty() && !right {
                let allowed = "one weight for each state, 0 or more, 0 for the state itself, above 0 for another";
                let example = if place == 0 { "to = [0, 1]" } else { "to = [1, 0]" };
                return refuse(&format!("states.{place}.to"), format!("{:?}", state.to), allowed, example);
            }
        }
        if self.states.iter().all(|state| state.rate == Rate::default()) {
            return refuse("states", "0 b/s throughout".to_owned(), "such that one rate at least is above 0", EXAMPLE);
        }
        let chain = Chain::from_states(&self.states);
        let apart = (0..chain.states()).find(|to| !chain.reaches(0, *to) || !chain.reaches(*to, 0));
        match apart {
            Some(place) => {
                let allowed = "such that each state can be reached from each";
                refuse("states", format!("without a way from state 0 to state {place} and back"), allowed, EXAMPLE)
            }
            None => Ok(()),
        }
    }
}

impl MarkovRateConfig {
    fn chain(&self) -> Chain {
        match self.preset {
            Some(preset) => Chain::from_states(&preset.states()),
            None => Chain::from_states(&self.states),
        }
    }
}

impl Law for MarkovRateConfig {
    const NAME: &'static str = "markov";
    const EXAMPLE: &'static str = r#"{"preset": "lte"}"#;
}

impl RateLaw for MarkovRateConfig {
    type Transmitter = Markov;

    fn transmitter(&self, stream: Stream) -> Result<Markov, ConfigError> {
        self.check()?;
        let steps = Steps::new(self.chain(), stream);
        let course = Course::beginning(steps.chain.rates[steps.state]);
        Ok(Markov(Box::new(RefCell::new(DrawnRates { steps, course }))))
    }

    fn conditions(&self, stream: Stream) -> Option<Conditions> {
        let of_states: Box<[(Span, f64)]> = self.states.iter().map(|state| (state.delay, state.loss)).collect();
        if self.check().is_err() || of_states.iter().all(|both| *both == (Span::ZERO, 0.0)) {
            return None;
        }
        let mut steps = Steps::new(self.chain(), stream);
        let state = steps.state;
        let until = steps.next(Instant::ZERO.nanos());
        Some(Conditions { of_states, steps, state, until })
    }

    fn nominal(&self) -> Rate {
        if self.check().is_err() {
            return Rate::from_bits_per_second(1);
        }
        let chain = self.chain();
        let part = |(rate, share): (&Rate, f64)| rate.bits_per_second() as f64 * share;
        let mean = chain.rates.iter().zip(chain.shares()).map(part).sum::<f64>();
        Rate::from_bits_per_second((mean.round() as u64).max(1))
    }

    fn highest(&self) -> Rate {
        self.chain().rates.into_iter().max().unwrap_or_default()
    }
}

/// States with their mean times and the weights of the next state.
#[derive(Clone)]
struct Chain {
    rates: Vec<Rate>,
    /// Mean times in seconds.
    means: Vec<f64>,
    /// Per state, the weights of the next state.
    weights: Vec<Vec<f64>>,
}

impl Chain {
    fn from_states(states: &[RateState]) -> Self {
        let all = states.len();
        let weights = |(own, state): (usize, &RateState)| match state.to.is_empty() {
            true => (0..all).map(|to| f64::from(u8::from(to != own))).collect(),
            false => state.to.clone(),
        };
        Chain {
            rates: states.iter().map(|state| state.rate).collect(),
            means: states.iter().map(|state| state.mean.seconds()).collect(),
            weights: states.iter().enumerate().map(weights).collect(),
        }
    }

    fn states(&self) -> usize {
        self.rates.len()
    }

    /// Whether the chain can reach `to` from `from`.
    fn reaches(&self, from: usize, to: usize) -> bool {
        let (mut seen, mut open) = (vec![false; self.states()], vec![from]);
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut seen[state], true) {
                open.extend((0..self.states()).filter(|next| self.weights[state][*next] > 0.0));
            }
        }
        seen[to]
    }

    /// Long-run share of time of each state.
    fn shares(&self) -> Vec<f64> {
        let all = self.states();
        // Rates of transition; those from a state to itself are never read.
        let mut q: Vec<Vec<f64>> = (0..all)
            .map(|own| {
                let sum: f64 = self.weights[own].iter().sum();
                self.weights[own].iter().map(|weight| weight / sum / self.means[own]).collect()
            })
            .collect();
        // Eliminates one state after the other, from the last on. Nothing is subtracted, so nothing cancels.
        for out in (1..all).rev() {
            let leaves: f64 = q[out][..out].iter().sum();
            for from in 0..out {
                q[from][out] /= leaves;
                for to in 0..out {
                    q[from][to] += q[from][out] * q[out][to];
                }
            }
        }
        let mut shares = vec![1.0];
        for own in 1..all {
            let share = shares.iter().zip(&q).map(|(share, rates): (&f64, _)| share * rates[own]).sum();
            shares.push(share);
        }
        let sum: f64 = shares.iter().sum();
        shares.into_iter().map(|share| share / sum).collect()
    }
}

/// Draws an index by the weights.
fn pick(weights: &[f64], stream: &mut Stream) -> usize {
    let mut left = stream.uniform() * weights.iter().sum::<f64>();
    let likely = |place: &usize| weights[*place] > 0.0;
    let found = (0..weights.len()).filter(likely).find(|place| {
        left -= weights[*place];
        left < 0.0
    });
    // Rounding can leave a rest; it belongs to the last state.
    found.or_else(|| (0..weights.len()).rfind(likely)).unwrap_or(0)
}

/// A running chain.
pub struct Markov(Box<RefCell<DrawnRates>>);

/// The chain's steps, drawn one by one. The same stream gives the same steps.
#[derive(Clone)]
struct Steps {
    chain: Chain,
    /// The latest state.
    state: usize,
    stream: Stream,
}

impl Steps {
    /// Starts in the first state, drawn by the long-run shares of time.
    fn new(chain: Chain, mut stream: Stream) -> Self {
        let state = pick(&chain.shares(), &mut stream);
        Steps { chain, state, stream }
    }

    /// Moves on to the next state from the latest one, which began at `from`. Returns the start of the next state.
    fn next(&mut self, from: u64) -> u64 {
        let lasts = Span::from_seconds(self.stream.exponential(self.chain.means[self.state])).nanos().max(1);
        self.state = pick(&self.chain.weights[self.state], &mut self.stream);
        from.saturating_add(lasts)
    }
}

/// Effects of the chain's states on packets besides the rate. They change at the same times as the rate.
#[derive(Clone)]
pub struct Conditions {
    /// Delay and loss of each state.
    of_states: Box<[(Span, f64)]>,
    /// Steps, one state ahead.
    steps: Steps,
    /// The current state, and its end.
    state: usize,
    until: u64,
}

impl Conditions {
    /// Extra delay and loss probability of a packet that leaves at `now`. `now` does not decrease from call to call.
    pub fn effects(&mut self, now: Instant) -> (Span, f64) {
        while self.until <= now.nanos() && now < Instant::NEVER {
            self.state = self.steps.state;
            self.until = self.steps.next(self.until);
        }
        self.of_states.get(self.state).copied().unwrap_or_default()
    }
}

/// The drawn states.
struct DrawnRates {
    steps: Steps,
    course: Course,
}

impl DrawnRates {
    /// Draws states until one begins after `time`.
    fn draw_until(&mut self, time: u64) {
        while self.course.latest() <= time && self.course.latest() < u64::MAX {
            let at = self.steps.next(self.course.latest());
            self.course.append(at, self.steps.chain.rates[self.steps.state]);
        }
    }
}

impl Transmitter for Markov {
    fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        let drawn = self.0.get_mut();
        drawn.draw_until(start.nanos());
        loop {
            let (end, latest) = (drawn.course.end_of(start, size), drawn.course.latest());
            if end.nanos() <= latest {
                return end;
            }
            // The length of the latest state is not known yet.
            drawn.draw_until(latest);
        }
    }

    fn capacity(&self, from: Instant, to: Instant) -> Bytes {
        let mut drawn = self.0.borrow_mut();
        drawn.draw_until(to.nanos());
        drawn.course.capacity(from, to)
    }

    fn change_from(&self, at: Instant) -> Option<(Instant, Rate)> {
        let mut drawn = self.0.borrow_mut();
        drawn.draw_until(at.nanos());
        drawn.course.change_from(at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use fairwave_units::random::Seed;

    fn config(json: &str) -> MarkovRateConfig {
        serde_json::from_str(json).expect("a chain")
    }

    fn running(json: &str, seed: u64) -> Markov {
        config(json).transmitter(Seed(seed).stream("rate")).expect("a law")
    }

    const TWO: &str =
        r#"{ "states": [{ "rate": "9 Mb/s", "mean": "300 ms" }, { "rate": "1 Mb/s", "mean": "100 ms" }] }"#;

    #[test]
    fn the_mean_rate_weighs_each_state_by_its_share_of_time() {
        assert_eq!(config(TWO).nominal().bits_per_second(), 7_000_000);
        // 0 to 1 always, 1 to 0 and 2 alike, 2 to 1: visits 1 : 2 : 1, times 1 : 1 : 2.
        let three = r#"{ "states": [{ "rate": "1 Mb/s", "mean": "1 s", "to": [0, 1, 0] },
            { "rate": "2 Mb/s", "mean": "1 s", "to": [3, 0, 3] }, { "rate": "4 Mb/s", "mean": "2 s", "to": [0, 7, 0] }] }"#;
        assert_eq!(config(three).nominal().bits_per_second(), (1_000_000 + 2 * 2_000_000 + 2 * 4_000_000) / 5);
    }

    #[test]
    fn long_run_capacity_is_the_mean_rate_from_the_start() {
        let hour = Instant::from_seconds(3600.0);
        let sent = running(TWO, 1).capacity(Instant::ZERO, hour).rate_over(hour.span_since(Instant::ZERO));
        assert!((sent.bits_per_second() as f64 / 7e6 - 1.0).abs() < 0.02, "{sent}");
        let fast = (0..2000).filter(|seed| {
            running(TWO, *seed).change_from(Instant::ZERO).is_some_and(|(_, rate)| rate.bits_per_second() == 9_000_000)
        });
        let share = fast.count() as f64 / 2000.0;
        assert!((share - 0.75).abs() < 0.03, "{share} begin in the state that has 3/4 of the time");
    }

    #[test]
    fn the_first_state_is_drawn_by_shares_of_time_and_not_by_the_times_themselves() {
        // Visits 1 : 2 : 1 of 1 s, 1 s and 2 s: a fifth, two fifths, two fifths of the time.
        let three = r#"{ "states": [{ "rate": "1 Mb/s", "mean": "1 s", "to": [0, 1, 0] },
            { "rate": "2 Mb/s", "mean": "1 s", "to": [1, 0, 1] }, { "rate": "4 Mb/s", "mean": "2 s", "to": [0, 1, 0] }] }"#;
        let first = |seed| running(three, seed).change_from(Instant::ZERO).map(|(_, rate)| rate.bits_per_second());
        let share = |rate| (0..3000).filter(|seed| first(*seed) == Some(rate)).count() as f64 / 3000.0;
        let shares = [1_000_000, 2_000_000, 4_000_000].map(share);
        for (found, expected) in shares.iter().zip([0.2, 0.4, 0.4]) {
            assert!((found - expected).abs() < 0.03, "{shares:?}");
        }
    }

    #[test]
    fn times_in_a_state_are_exponential_with_its_mean() {
        let law = running(TWO, 2);
        let (mut at, mut times) = (Instant::ZERO, [Vec::new(), Vec::new()]);
        for _ in 0..20_000 {
            let (begin, rate) = law.change_from(at).expect("a state");
            let (end, _) = law.change_from(begin + Span::from_nanos(1)).expect("the next");
            times[usize::from(rate.bits_per_second() == 1_000_000)].push(end.span_since(begin).seconds());
            at = end;
        }
        for (times, mean) in times.iter().zip([0.3, 0.1]) {
            let count = times.len() as f64;
            let found = times.iter().sum::<f64>() / count;
            assert!((found / mean - 1.0).abs() < 0.03, "{found}");
            // exp(-1) of exponential times last longer than the mean.
            let longer = times.iter().filter(|time| **time > mean).count() as f64 / count;
            assert!((longer - 0.3679).abs() < 0.015, "{longer}");
        }
    }

    #[test]
    fn the_presets_have_the_rates_of_their_standards() {
        let rates = |preset: RatePreset| -> Vec<u64> {
            preset.states().iter().map(|state| state.rate.bits_per_second()).collect()
        };
        let lte = rates(RatePreset::Lte);
        assert_eq!((lte.len(), lte[0], lte[6], lte[14]), (15, 959_490, 9_302_580, 34_994_610));
        // 65 % of 6.5 to 65 Mb/s, by MCS.
        let wifi = [4_225, 8_450, 12_675, 16_900, 25_350, 33_800, 38_025, 42_250].map(|rate| rate * 1000);
        assert_eq!(rates(RatePreset::Wifi), wifi);
        // A state at the end is entered half as often as another.
        let mean = (lte[1..14].iter().sum::<u64>() as f64 + (lte[0] + lte[14]) as f64 / 2.0) / 14.0;
        let nominal = config(r#"{ "preset": "lte" }"#).nominal().bits_per_second() as f64;
        assert!((nominal / mean - 1.0).abs() < 1e-6, "{nominal} and {mean}");
    }

    #[test]
    fn delay_and_loss_change_when_the_rate_does() {
        let json = r#"{ "states": [{ "rate": "9 Mb/s", "mean": "300 ms" },
            { "rate": "1 Mb/s", "mean": "100 ms", "delay": "40 ms", "loss": "20 %" }] }"#;
        for seed in 0..20 {
            let law = running(json, seed);
            let mut conditions = config(json).conditions(Seed(seed).stream("rate")).expect("they differ");
            let mut at = Instant::ZERO;
            for _ in 0..200 {
                let (begin, rate) = law.change_from(at).expect("a state");
                let expected = match rate.bits_per_second() {
                    1_000_000 => (Span::from_millis(40), 0.2),
                    _ => (Span::ZERO, 0.0),
                };
                assert_eq!(conditions.effects(begin), expected, "{begin}");
                let (end, _) = law.change_from(begin + Span::from_nanos(1)).expect("the next");
                assert_eq!(conditions.effects(Instant::from_nanos(end.nanos() - 1)), expected, "{end}");
                at = end;
            }
        }
        assert!(config(TWO).conditions(Seed(1).stream("rate")).is_none(), "nothing but the rate changes");
        let state = |more: &str| json.replace(r#""loss": "20 %""#, more);
        let refused = |json: &str| config(json).check().expect_err(json).key;
        assert_eq!(refused(&state(r#""loss": 1.5"#)), "states.1.loss");
        assert_eq!(refused(&json.replace("40 ms", "2 min")), "states.1.delay");
    }

    #[test]
    fn a_chain_that_cannot_go_on_is_refused() {
        let refused = |json: &str| config(json).check().map_err(|error| error.key);
        assert_eq!(refused("{}"), Err("preset".to_owned()));
        assert_eq!(refused(r#"{ "states": [{ "rate": "1 Mb/s", "mean": "1 s" }] }"#), Err("states".to_owned()));
        let two = |more: &str, second: &str| {
            format!(r#"{{ "states": [{{ "rate": "1 Mb/s", "mean": "1 s"{more} }}, {{ {second} }}] }}"#)
        };
        let still = r#""rate": "0 b/s", "mean": "1 s""#;
        assert_eq!(refused(&two("", still)), Ok(()));
        assert_eq!(refused(&two(r#", "to": [1, 1]"#, still)), Err("states.0.to".to_owned()));
        assert_eq!(refused(&two(r#", "to": [0]"#, still)), Err("states.0.to".to_owned()));
        assert_eq!(refused(&two(r#", "to": [0, -1]"#, still)), Err("states.0.to".to_owned()));
        assert_eq!(refused(&two("", r#""rate": "0 b/s", "mean": "1 us""#)), Err("states.1.mean".to_owned()));
        assert_eq!(refused(&two("", still).replace("1 Mb/s", "0 b/s")), Err("states".to_owned()));
        let trap = r#"{ "states": [{ "rate": "1 Mb/s", "mean": "1 s" }, { "rate": "0 b/s", "mean": "1 s", "to": [0, 0, 1] },
            { "rate": "0 b/s", "mean": "1 s", "to": [0, 1, 0] }] }"#;
        assert_eq!(refused(trap), Err("states".to_owned()));
        assert_eq!(refused(&format!(r#"{{ "preset": "lte", {}"#, &TWO[2..])), Err("preset".to_owned()));
    }

    proptest! {
        #[test]
        fn bytes_are_sent_while_the_states_allow_it_in_any_order_of_calls(
            seed in 0u64..1000, packets in prop::collection::vec((0u64..2_000_000, 1u64..200_000), 1..60),
        ) {
            let json = r#"{ "states": [{ "rate": "9 Mb/s", "mean": "3 ms" }, { "rate": "0 b/s", "mean": "2 ms" },
                { "rate": "1 Mb/s", "mean": "5 ms" }] }"#;
            let (mut asked, other) = (running(json, seed), running(json, seed));
            let _ = other.capacity(Instant::ZERO, Instant::from_seconds(1.0));
            let mut start = Instant::ZERO;
            for (gap, size) in packets {
                start += Span::from_nanos(gap);
                let end = asked.end_of(start, Bytes::new(size));
                let given = other.capacity(start, end + Span::from_nanos(1)).get();
                prop_assert!(given >= size && other.capacity(start, end.max(start + Span::from_nanos(1))).get() <= size + 1);
                start = end;
            }
        }
    }
}
