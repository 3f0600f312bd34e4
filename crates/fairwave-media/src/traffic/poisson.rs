//! Packets with random gaps: a Poisson process, or any other renewal process, with sizes from any distribution.
//!
//! Source: Kleinrock, *Queueing Systems* I (1975): M/M/1 has the mean wait ρ/(μ(1 − ρ)) (Eq. 3.25). M/G/1 has that of
//! Pollaczek and Khinchine, `λE[S²]/(2(1 − ρ))` (Eq. 5.113); M/D/1 is a special case. S is the transmission time of all
//! bytes on the wire, so the transport's header counts (`transport = { kind = "udp", header = "0 B" }` has none).
//!
//! **Assumptions.** Gaps and sizes are independent of each other and of everything else. A renewal process starts in
//! equilibrium, so that it has its mean rate from the start. The time to its first packet is the residual time of a gap
//! at a random time (Cox, *Renewal Theory*, 1962, §2.2). A payload above the transport's largest is split into several
//! packets, which leave together; `max-payload` of UDP raises that limit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::size::Size;
use super::{FrameType, Period, TrafficLaw, TrafficSource, Unit};
use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Largest packet rate, per second.
const MOST_PER_SECOND: f64 = 1e9;

/// Packets of a Poisson process. On one link this is M/M/1 with exponential sizes, M/D/1 with equal sizes, M/G/1 with
/// any other sizes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("anyOf" = [{ "required": ["rate"] }, { "required": ["per-second"] }]))]
pub struct PoissonConfig {
    /// Mean payload bits per second, above 0. Give either this or `per-second`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Mean packets per second, above 0, at most 10⁹. Give either this or `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// Payload of a packet: a size, or a distribution from which each packet draws a size. Default 1000 B.
    #[serde(default = "default_payload")]
    pub payload: Size,
}

fn default_payload() -> Size {
    Size::Fixed(Bytes::new(1000))
}

impl PoissonConfig {
    /// Returns the mean packets per second.
    fn packets_per_second(&self) -> f64 {
        match (self.per_second, self.rate) {
            (Some(packets), _) => packets,
            (None, rate) => rate.unwrap_or_default().bits_per_second() as f64 / (8.0 * self.payload.mean().max(1.0)),
        }
    }
}

impl Checked for PoissonConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.payload.check("payload")?;
        match (self.rate, self.per_second) {
            (Some(rate), None) if rate == Rate::default() => {
                Err(ConfigError::new("rate", rate, "a rate above 0", "rate = \"800 kb/s\""))
            }
            (Some(_), None) => Ok(()),
            (None, Some(packets)) => {
                check_between("per-second", packets, 0.0, f64::INFINITY, "per-second = 100")?;
                if packets > MOST_PER_SECOND {
                    return Err(ConfigError::new("per-second", packets, "at most 1e9", "per-second = 100"));
                }
                Ok(())
            }
            (Some(rate), Some(_)) => {
                Err(ConfigError::new("rate", rate, "either `rate` or `per-second`, not both", "rate = \"800 kb/s\""))
            }
            (None, None) => {
                Err(ConfigError::new("rate", "missing", "given, or `per-second` instead", "rate = \"800 kb/s\""))
            }
        }
    }
}

impl Law for PoissonConfig {
    const NAME: &'static str = "poisson";
    const EXAMPLE: &'static str =
        r#"{"rate": "800 kb/s", "payload": {"distribution": "exponential", "mean": "1000 B"}}"#;
}

impl TrafficLaw for PoissonConfig {
    type Source = Arrivals;

    fn source(&self, start: Instant, stream: Stream) -> Result<Arrivals, ConfigError> {
        // The shortest mean gap is a nanosecond, the resolution of the clock.
        let exact = (1e9 / self.packets_per_second()).max(1.0);
        let mean = Span::from_seconds(exact / 1e9);
        let is_whole = (exact - mean.nanos() as f64).abs() <= exact * 1e-12;
        let fine = (!is_whole).then_some(FineGaps { mean: exact, rest: 0.0 });
        let mut arrivals = Arrivals {
            gaps: Gaps::Exponential { mean },
            fine,
            payload: self.payload.clone(),
            due: start,
            next_id: 0,
            stream,
        };
        arrivals.go_on();
        Ok(arrivals)
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(self.packets_per_second())
    }

    fn mean_payload(&self) -> Option<f64> {
        Some(self.payload.mean())
    }
}

/// Packets of a renewal process. Gaps and sizes are drawn from any distribution (G/G/1 on one link).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RenewalConfig {
    /// Time from one packet to the next.
    pub gap: Gaps,
    /// Payload of a packet: a size, or a distribution from which each packet draws a size. Default 1000 B.
    #[serde(default = "default_payload")]
    pub payload: Size,
}

/// Distribution of gaps between packets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "distribution", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Gaps {
    /// Exponential: a Poisson process.
    Exponential {
        /// Mean gap, above 0.
        mean: Span,
    },
    /// Constant.
    Constant {
        /// The gap, above 0.
        mean: Span,
    },
    /// Uniform between two lengths.
    Uniform {
        /// Shortest gap, 0 and above.
        least: Span,
        /// Longest gap, above `least`.
        most: Span,
    },
    /// Pareto: P(gap > x) = (scale / x)^shape, scale = mean · (shape − 1) / shape.
    Pareto {
        /// Mean gap, above 0.
        mean: Span,
        /// Shape, above 1; below 2 the variance is infinite. Default 1.5.
        #[serde(default = "default_shape")]
        shape: f64,
    },
    /// Lognormal.
    Lognormal {
        /// Median gap, e^μ, above 0.
        median: Span,
        /// σ, the standard deviation of the logarithm, from 0 to 10.
        sigma: f64,
    },
    /// Uniform from a list, for example of measured gaps.
    List {
        /// The gaps; at least one is above 0.
        gaps: Vec<Span>,
    },
}

fn default_shape() -> f64 {
    1.5
}

impl Gaps {
    /// Returns the same distribution as a period; `None` for a list.
    fn period(&self) -> Option<Period> {
        Some(match *self {
            Gaps::Exponential { mean } => Period::Exponential { mean },
            Gaps::Constant { mean } => Period::Constant { mean },
            Gaps::Uniform { least, most } => Period::Uniform { least, most },
            Gaps::Pareto { mean, shape } => Period::Pareto { mean, shape },
            Gaps::Lognormal { median, sigma } => Period::Lognormal { median, sigma },
            Gaps::List { .. } => return None,
        })
    }

    fn listed(&self) -> &[Span] {
        match self {
            Gaps::List { gaps } => gaps,
            _ => &[],
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        match self.period() {
            Some(period) => period.check(),
            None if self.listed().is_empty() => {
                Err(ConfigError::new("gaps", "empty", "one gap at least", "gaps = [\"10 ms\", \"30 ms\"]"))
            }
            None => check_span("gaps", self.mean(), "gaps = [\"10 ms\", \"30 ms\"]"),
        }
    }

    /// Returns the mean gap.
    pub fn mean(&self) -> Span {
        match self.period() {
            Some(period) => period.mean(),
            None => {
                let gaps = self.listed();
                let sum: f64 = gaps.iter().map(|gap| gap.seconds()).sum();
                Span::from_seconds(sum / gaps.len().max(1) as f64)
            }
        }
    }

    #[inline]
    fn draw(&self, stream: &mut Stream) -> Span {
        match self {
            Gaps::Exponential { mean } => Span::from_seconds(stream.exponential(mean.seconds())),
            Gaps::List { gaps } => {
                let place = stream.uniform_below(gaps.len() as u64) as usize;
                gaps.get(place).copied().unwrap_or_default()
            }
            other => other.period().map_or(Span::ZERO, |period| period.draw(stream)),
        }
    }

    /// Draws the rest of the gap that contains a random time.
    fn draw_residual(&self, stream: &mut Stream) -> Span {
        if let Some(period) = self.period() {
            return period.draw_residual(stream);
        }
        // A random time is in a gap with probability proportional to its length, and uniform in it.
        let gaps = self.listed();
        let mut left = stream.uniform() * gaps.iter().map(|gap| gap.seconds()).sum::<f64>();
        let found = gaps.iter().find(|gap| {
            left -= gap.seconds();
            left < 0.0
        });
        found.or(gaps.last()).map_or(Span::ZERO, |gap| gap.scaled(stream.uniform()))
    }
}

impl Checked for RenewalConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.gap.check().map_err(|error| error.nested_in("gap"))?;
        self.payload.check("payload")
    }
}

impl Law for RenewalConfig {
    const NAME: &'static str = "renewal";
    const EXAMPLE: &'static str =
        r#"{"gap": {"distribution": "uniform", "least": "5 ms", "most": "15 ms"}, "payload": "1000 B"}"#;
}

impl TrafficLaw for RenewalConfig {
    type Source = Arrivals;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<Arrivals, ConfigError> {
        let due = start + self.gap.draw_residual(&mut stream);
        Ok(Arrivals { gaps: self.gap.clone(), fine: None, payload: self.payload.clone(), due, next_id: 0, stream })
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(1.0 / self.gap.mean().seconds().max(1e-9))
    }

    fn mean_payload(&self) -> Option<f64> {
        Some(self.payload.mean())
    }
}

/// Source of packets at random times.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrivals {
    gaps: Gaps,
    /// Instead of `gaps`, if there are any.
    fine: Option<FineGaps>,
    payload: Size,
    due: Instant,
    next_id: u32,
    stream: Stream,
}

/// Exponential gaps whose mean is no whole number of nanoseconds. What rounding leaves of a gap goes to the next, so the mean is right
/// in the long run.
#[derive(Clone, PartialEq, Debug)]
struct FineGaps {
    /// Nanoseconds.
    mean: f64,
    /// Nanoseconds, below 0 if the last gap was rounded up.
    rest: f64,
}

impl Arrivals {
    /// Draws the gap before the next packet.
    fn go_on(&mut self) {
        self.due += match &mut self.fine {
            Some(FineGaps { mean, rest }) => {
                let exact = self.stream.exponential(*mean) + *rest;
                let gap = libm::round(exact).max(0.0);
                *rest = exact - gap;
                Span::from_nanos(gap as u64)
            }
            None => self.gaps.draw(&mut self.stream),
        };
    }
}

impl TrafficSource for Arrivals {
    fn next_unit(&mut self) -> Option<Unit> {
        if self.due == Instant::NEVER {
            return None;
        }
        let payload = self.payload.draw(&mut self.stream);
        let unit = Unit { id: self.next_id, payload, created: self.due, layer: 0, frame_type: FrameType::None };
        self.next_id = self.next_id.wrapping_add(1);
        self.go_on();
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::TrafficConfig;
    use fairwave_units::random::Seed;

    fn units(json: &str, seed: u64, count: usize) -> Vec<Unit> {
        let config: TrafficConfig = serde_json::from_str(json).expect("a source");
        let mut source = crate::traffic::Source::new(&config, Instant::ZERO, Seed(seed).stream("traffic")).expect(json);
        std::iter::from_fn(|| source.next_unit()).take(count).collect()
    }

    /// Returns the mean wait at a link with this rate in bits per second, in seconds: Lindley's recursion.
    fn wait(json: &str, bits_per_second: f64) -> f64 {
        let (mut wait, mut sum, mut before) = (0.0f64, 0.0, None);
        let units = units(json, 1, 1_000_000);
        for unit in &units {
            if let Some((created, service)) = before {
                let gap = unit.created.seconds() - created;
                wait = f64::max(wait + service - gap, 0.0);
            }
            sum += wait;
            before = Some((unit.created.seconds(), 8.0 * f64::from(unit.payload) / bits_per_second));
        }
        sum / units.len() as f64
    }

    #[test]
    fn waits_are_those_of_pollaczek_and_khinchine() {
        // 1000 B take 8 ms at 1 Mb/s. At a load of 80 % the mean wait is ρ S (1 + c²) / (2 (1 − ρ)).
        let of = |payload: &str| format!(r#"{{"kind":"poisson","rate":"800 kb/s","payload":{payload}}}"#);
        for (payload, spread, tolerance) in [
            (r#""1000 B""#, 0.0, 0.02),                                            // M/D/1
            (r#"{"distribution":"exponential","mean":"1000 B"}"#, 1.0, 0.04),      // M/M/1
            (r#"{"distribution":"list","sizes":["500 B","1500 B"]}"#, 0.25, 0.03), // M/G/1
        ] {
            let expected = 0.8 * 0.008 * (1.0 + spread) / (2.0 * 0.2);
            let found = wait(&of(payload), 1e6);
            assert!((found / expected - 1.0).abs() < tolerance, "{payload}: {found} for {expected}");
        }
    }

    #[test]
    fn constant_gaps_and_sizes_never_wait_and_constant_gaps_with_exponential_sizes_wait_as_in_d_m_1() {
        let gap = r#""gap":{"distribution":"constant","mean":"10 ms"}"#;
        assert_eq!(wait(&format!(r#"{{"kind":"renewal",{gap},"payload":"1000 B"}}"#), 1e6), 0.0);
        // D/M/1 (Kleinrock Eq. 6.27): σ = e^(−(1 − σ)/ρ), and the mean wait is S σ / (1 − σ).
        let mut sigma = 0.5;
        for _ in 0..200 {
            sigma = libm::exp(-(1.0 - sigma) / 0.8);
        }
        let json = format!(r#"{{"kind":"renewal",{gap},"payload":{{"distribution":"exponential","mean":"1000 B"}}}}"#);
        let (found, expected) = (wait(&json, 1e6), 0.008 * sigma / (1.0 - sigma));
        assert!((found / expected - 1.0).abs() < 0.03, "{found} for {expected}");
    }

    #[test]
    fn packets_in_a_second_have_the_variance_of_their_mean_when_they_are_poisson() {
        let mut counts = vec![0.0; 1800];
        for unit in units(r#"{"kind":"poisson","per-second":50}"#, 2, 100_000) {
            if let Some(count) = counts.get_mut(unit.created.seconds() as usize) {
                *count += 1.0;
            }
        }
        let mean = counts.iter().sum::<f64>() / 1800.0;
        let variance = counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / 1800.0;
        assert!((mean / 50.0 - 1.0).abs() < 0.02 && (variance / mean - 1.0).abs() < 0.13, "{mean} {variance}");
    }

    #[test]
    fn a_renewal_process_has_its_mean_rate_from_the_first_second_on() {
        for gap in [
            r#"{"distribution":"constant","mean":"300 ms"}"#,
            r#"{"distribution":"uniform","least":"0 s","most":"600 ms"}"#,
            r#"{"distribution":"lognormal","median":"182 ms","sigma":1.0}"#,
            r#"{"distribution":"list","gaps":["0 s","100 ms","800 ms"]}"#,
            r#"{"distribution":"pareto","mean":"300 ms","shape":2.5}"#,
        ] {
            let json = format!(r#"{{"kind":"renewal","gap":{gap}}}"#);
            let first = |seed| units(&json, seed, 60).iter().filter(|unit| unit.created.seconds() < 0.2).count();
            let found = (0..20_000).map(first).sum::<usize>() as f64 / 20_000.0;
            assert!((found / (0.2 / 0.3) - 1.0).abs() < 0.04, "{gap}: {found} in the first 200 ms");
        }
    }

    #[test]
    fn rates_count_payload_and_the_number_of_packets_follows() {
        let per_second = |json: &str| {
            serde_json::from_str::<TrafficConfig>(json).expect("a source").units_per_second().expect("a rate")
        };
        let exponential =
            r#"{"kind":"poisson","rate":"800 kb/s","payload":{"distribution":"exponential","mean":"500 B"}}"#;
        assert!((per_second(exponential) - 200.0).abs() < 1e-6);
        assert_eq!(per_second(r#"{"kind":"poisson","rate":"800 kb/s"}"#), 100.0);
        assert_eq!(per_second(r#"{"kind":"poisson","per-second":7}"#), 7.0);
        let listed = r#"{"kind":"renewal","gap":{"distribution":"list","gaps":["10 ms","30 ms"]}}"#;
        assert!((per_second(listed) - 50.0).abs() < 1e-6);
    }

    #[test]
    fn arrivals_that_make_no_sense_are_refused_by_their_key() {
        for (json, key) in [
            (r#"{"kind":"poisson"}"#, "rate"),
            (r#"{"kind":"poisson","rate":"0 b/s"}"#, "rate"),
            (r#"{"kind":"poisson","rate":"1 Mb/s","per-second":3}"#, "rate"),
            (r#"{"kind":"poisson","per-second":0}"#, "per-second"),
            (r#"{"kind":"poisson","per-second":2e9}"#, "per-second"),
            (r#"{"kind":"poisson","rate":"1 Mb/s","payload":"0 B"}"#, "payload"),
            (r#"{"kind":"renewal","gap":{"distribution":"list","gaps":[]}}"#, "gap.gaps"),
            (r#"{"kind":"renewal","gap":{"distribution":"list","gaps":["0 s"]}}"#, "gap.gaps"),
            (r#"{"kind":"renewal","gap":{"distribution":"pareto","mean":"1 s","shape":1.0}}"#, "gap.shape"),
            (r#"{"kind":"renewal","gap":{"distribution":"constant","mean":"1 s"},"payload":"0 B"}"#, "payload"),
        ] {
            let config: TrafficConfig = serde_json::from_str(json).expect("a source");
            assert_eq!(config.check().expect_err(json).key, key, "{json}");
        }
    }
}
