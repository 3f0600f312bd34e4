//! GREEN: raises its drop probability while the arrival rate exceeds the target rate, and lowers it otherwise.
//!
//! Follows Wydrowski & Zukerman, "GREEN: an active queue management algorithm for a self managed Internet" (2002), after
//! paper 004 §2 (its reference 9). The rate of congestion notification rests on an estimate of the incoming rate and the
//! link's capacity, not on the queue. Each `interval` P ← P + ΔP · U(x − c), with U = 1 if x ≥ c and −1 otherwise. Each
//! arrival is dropped with probability P. On an arrival of b bytes, Δ after the one before, x ← (1 − e^(−Δ/K)) b/Δ +
//! e^(−Δ/K) x.
//!
//! **Assumptions.** The target c is 0.97 of the link, so that the queue drains. No published values of ΔP, the interval and
//! K are available; the defaults are a thousandth per 10 ms, and 100 ms. The estimate combines packets that arrive at the
//! same time into one. By default, x counts all arrivals, including dropped ones. An unresponsive load above c then drives P
//! to 1, and no packet passes. With `estimate = "admitted"`, dropped packets do not count, and such a load gets c (like AVQ
//! in ns-2). P does not depend on packet sizes. If the victim rule drops a packet other than the arrival, the arrival counts
//! as admitted and the victim is subtracted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::Capacity;
use super::discipline::{Arrival, Discipline, DisciplineLaw, QueueDrop, RateChange, Verdict};
use super::red::check_probability;
use super::ticker::Ticker;
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate, Span};

/// The rate that GREEN estimates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimate {
    /// The rate of all arrivals.
    #[default]
    Arrived,
    /// The rate of admitted packets.
    Admitted,
}

/// GREEN (Wydrowski & Zukerman 2002). It drops by the estimated rate of arrivals.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GreenConfig {
    /// Target rate as a part of the link's rate, in (0, 1].
    #[serde(with = "Ratio", default = "target")]
    pub target: f64,
    /// Step of the drop probability (ΔP), in (0, 1].
    #[serde(with = "Ratio", default = "step")]
    pub step: f64,
    /// Time between changes of the drop probability.
    #[serde(default = "interval")]
    pub interval: Span,
    /// Time constant of the estimate of the rate (K).
    #[serde(default = "memory")]
    pub memory: Span,
    /// The rate that GREEN estimates.
    #[serde(default)]
    pub estimate: Estimate,
}

fn target() -> f64 {
    0.97
}

fn step() -> f64 {
    0.001
}

fn interval() -> Span {
    Span::from_millis(10)
}

fn memory() -> Span {
    Span::from_millis(100)
}

impl Checked for GreenConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_probability("target", self.target, "target = 0.97")?;
        check_probability("step", self.step, "step = 0.001")?;
        check_span("interval", self.interval, "interval = \"10 ms\"")?;
        check_span("memory", self.memory, "memory = \"100 ms\"")
    }
}

impl Law for GreenConfig {
    const NAME: &'static str = "green";
}

impl DisciplineLaw for GreenConfig {
    type Discipline = Green;

    fn caution(&self) -> Option<String> {
        (self.estimate == Estimate::Arrived).then(|| {
            format!(
                "if unresponsive traffic offers more than {} of the rate, GREEN drops more and more until nothing \
                gets through; write `estimate = \"admitted\"`: then the link carries that part",
                self.target
            )
        })
    }

    fn discipline(&self, _capacity: Capacity, rate: Rate) -> Green {
        Green {
            target: self.target * rate.bits_per_second() as f64 / 8.0,
            part: self.target,
            step: self.step,
            memory: self.memory.seconds(),
            admitted_only: self.estimate == Estimate::Admitted,
            ticker: Ticker::new(self.interval),
            pending: 0.0,
            updated: Instant::ZERO,
            rate: 0.0,
            probability: 0.0,
        }
    }
}

/// State of GREEN.
#[derive(Clone, Debug)]
pub struct Green {
    /// Target rate c, bytes per second.
    target: f64,
    /// Target rate as a fraction of the link's rate.
    part: f64,
    step: f64,
    /// Time constant K, seconds.
    memory: f64,
    admitted_only: bool,
    ticker: Ticker,
    /// Bytes that count but are not in the estimate yet: those of the arrivals at `updated`.
    pending: f64,
    updated: Instant,
    /// Estimated rate x, bytes per second.
    rate: f64,
    probability: f64,
}

impl Green {
    /// Updates the estimate and the probability.
    fn catch_up(&mut self, now: Instant) {
        let elapsed = now.span_since(self.updated).seconds();
        if elapsed > 0.0 {
            let kept = libm::exp(-elapsed / self.memory);
            self.rate = (1.0 - kept) * (self.pending / elapsed) + kept * self.rate;
            (self.pending, self.updated) = (0.0, now);
        }
        let steps = self.ticker.skip(now) as f64 * self.step;
        let change = if self.rate >= self.target { steps } else { -steps };
        self.probability = (self.probability + change).clamp(0.0, 1.0);
    }
}

impl Discipline for Green {
    #[inline]
    fn arrive(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        self.catch_up(arrival.now);
        let drop = stream.chance(self.probability);
        if !(drop && self.admitted_only) {
            self.pending += f64::from(arrival.packet.wire);
        }
        if drop { Verdict::Drop } else { Verdict::Admit }
    }

    #[inline]
    fn on_drop(&mut self, drop: QueueDrop<'_>) {
        if self.admitted_only
            && let QueueDrop::Exchanged { arrival, victim } = drop
        {
            self.pending += f64::from(arrival.wire) - f64::from(victim.wire);
        }
    }

    /// The target rate is a fraction of the current rate.
    fn on_rate_change(&mut self, change: &RateChange<'_>) {
        self.catch_up(change.now);
        self.target = self.part * change.rate.bits_per_second() as f64 / 8.0;
    }

    /// The drop probability.
    fn average(&self) -> Option<f64> {
        Some(self.probability)
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::Buffer;
    use super::super::testing::{feed, packet, stream};
    use super::*;
    use crate::packet::Class;

    /// On a link of 1 MB/s.
    fn green(extra: &str) -> Green {
        let config: GreenConfig = serde_json::from_str(&format!("{{{extra}}}")).expect("green");
        config.discipline(Capacity::Packets(100), Rate::from_bits_per_second(8_000_000))
    }

    fn arrive(green: &mut Green, now: Instant, stream: &mut Stream) -> bool {
        let (packet, buffer) = (packet(0, 1000, Class::Tcp), Buffer::with_capacity(0));
        green.arrive(&Arrival { now, packet: &packet, buffer: &buffer, idle: Span::ZERO, full: false }, stream)
            == Verdict::Drop
    }

    fn instant(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn target_is_a_fraction_of_the_current_rate() {
        let (mut green, buffer) = (green(r#""target":0.5"#), Buffer::with_capacity(0));
        assert!((green.target - 5e5).abs() < 1e-6);
        let rate = Rate::from_bits_per_second(800_000);
        green.on_rate_change(&RateChange { now: instant(1), rate, idle: Span::ZERO, buffer: &buffer });
        assert!((green.target - 5e4).abs() < 1e-6, "{}", green.target);
    }

    #[test]
    fn the_estimate_follows_its_law() {
        let (mut green, mut stream) = (green(""), stream());
        arrive(&mut green, instant(0), &mut stream);
        arrive(&mut green, instant(10), &mut stream);
        // (1 − e^(−10/100)) · 1000 B / 10 ms
        let first = (1.0 - libm::exp(-0.1)) * 1e5;
        assert!((green.rate - first).abs() < 1e-6, "{}", green.rate);
        // Two packets at once count as one of twice the size.
        arrive(&mut green, instant(10), &mut stream);
        arrive(&mut green, instant(30), &mut stream);
        let second = (1.0 - libm::exp(-0.2)) * 1e5 + libm::exp(-0.2) * first;
        assert!((green.rate - second).abs() < 1e-6, "{}", green.rate);
    }

    #[test]
    fn the_probability_takes_one_step_each_interval_up_above_the_target_and_down_below() {
        let mut green = green(r#""step":0.25"#);
        for (now, rate, expected) in [
            (10, 970_000.0, 0.0),
            (11, 970_001.0, 0.25),
            (31, 2e6, 0.75),
            (71, 2e6, 1.0),
            (81, 9e5, 0.75),
            (999, 0.0, 0.0),
        ] {
            green.rate = rate;
            // Nothing is pending and no time passes, so the estimate stays the same.
            green.updated = instant(now);
            green.catch_up(instant(now));
            assert_eq!(green.average(), Some(expected), "at {now} ms");
        }
    }

    /// Fraction of the link's rate that a steady load gets in the second half of 200 s.
    fn carried(extra: &str, load: f64) -> f64 {
        let (mut green, mut stream, mut admitted) = (green(extra), stream(), 0.0);
        feed(Instant::ZERO, 200.0, 1e-3 / load, |now| {
            if !arrive(&mut green, now, &mut stream) && now > instant(100_000) {
                admitted += 1.0;
            }
        });
        admitted / 100_000.0
    }

    #[test]
    fn load_that_does_not_yield_is_shut_out_unless_only_what_is_admitted_counts() {
        assert!((carried("", 0.95) - 0.95).abs() < 0.001, "below the target nothing is dropped");
        assert!(carried("", 1.2) < 0.001);
        for load in [1.2, 2.0] {
            let part = carried(r#""estimate":"admitted""#, load);
            assert!((part - 0.97).abs() < 0.03, "at load {load}: {part}");
        }
        let cautions = |text: &str| serde_json::from_str::<GreenConfig>(text).expect("green").caution();
        assert!(cautions("{}").is_some_and(|words| words.contains("0.97") && words.contains("admitted")));
        assert_eq!(cautions(r#"{"estimate":"admitted"}"#), None);
    }

    #[test]
    fn a_victim_in_the_arrivals_place_counts_only_where_admission_does() {
        let (large, small) = (packet(0, 1500, Class::Tcp), packet(0, 100, Class::Voice));
        for (extra, pending) in [("", 0.0), (r#""estimate":"admitted""#, 1400.0)] {
            let mut green = green(extra);
            green.on_drop(QueueDrop::Exchanged { arrival: &large, victim: &small });
            assert_eq!(green.pending, pending, "{extra}");
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for (text, key) in [
            (r#"{"target":0}"#, "target"),
            (r#"{"target":1.1}"#, "target"),
            (r#"{"step":0}"#, "step"),
            (r#"{"interval":"0 s"}"#, "interval"),
            (r#"{"memory":"0 s"}"#, "memory"),
        ] {
            let error = serde_json::from_str::<GreenConfig>(text).expect("green").check().expect_err(text);
            assert_eq!(error.key, key);
        }
    }
}
