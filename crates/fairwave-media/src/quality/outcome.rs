//! Quality of Outcome (QoO): how closely latency and loss meet the requirements of an application, from 0 to 100.
//!
//! Source: draft-ietf-ippm-qoo-11, *Describing Network Performance Requirements* and *Calculating QoO*. A requirement
//! has percentiles of latency and a share of loss. Each has a value for the best outcome (ROP, *requirements for
//! optimal performance*) and one for the worst (CPUP, *conditions at the point of unacceptable performance*). Each part
//! is linear from 100 at the first to 0 at the second; the score is the least of all.
//!
//! **Deviation.** The draft sets the score to 0 if the path has less throughput than the application needs. This rule
//! is omitted here, because insufficient throughput already shows in the application's latency and loss.
//!
//! **Assumptions.** Percentiles are by the nearest rank. The caller supplies latencies, one-way or round trip: a
//! requirement applies to one of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::delay::quantile;
use fairwave_units::config::ConfigError;
use fairwave_units::ratio::Ratio;
use fairwave_units::units::Span;

/// Percentile of latency, with its best and worst value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LatencyRequirement {
    /// Percentile, above 0 and at most 100.
    pub percentile: f64,
    /// Up to this value the application works perfectly.
    pub optimal: Span,
    /// From this value on the application is unusable; above `optimal`.
    pub unacceptable: Span,
}

/// Share of lost packets, with its best and worst value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LossRequirement {
    /// Up to this share the application works perfectly, 0 to 1.
    #[serde(with = "Ratio")]
    pub optimal: f64,
    /// From this share on the application is unusable; above `optimal`, at most 1.
    #[serde(with = "Ratio")]
    pub unacceptable: f64,
}

/// Kind of latency that a requirement limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Latency {
    /// One way from application to application, over units that arrived.
    #[default]
    OneWay,
    /// Round trip, for pings and for flows in `record.round-trips`.
    RoundTrip,
}

/// Requirements of an application on latency and loss.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Requirement {
    /// Kind of latency for the percentiles.
    #[serde(default)]
    pub of: Latency,
    /// Percentiles of latency, at least one.
    pub latency: Vec<LatencyRequirement>,
    /// Loss. Without it, only latency counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossRequirement>,
}

impl Requirement {
    /// Checks the ranges.
    ///
    /// # Errors
    /// No percentile, one outside (0, 100], or a worst value that is not above the best.
    pub fn check(&self) -> Result<(), ConfigError> {
        let example = "latency = [{ percentile = 99, optimal = \"100 ms\", unacceptable = \"300 ms\" }]";
        if self.latency.is_empty() {
            return Err(ConfigError::new("latency", "[]", "at least one percentile", example));
        }
        for one in &self.latency {
            if !(one.percentile > 0.0 && one.percentile <= 100.0) {
                return Err(ConfigError::new("percentile", one.percentile, "above 0 and at most 100", example));
            }
            if one.unacceptable <= one.optimal {
                let allowed = format!("above `optimal` ({})", one.optimal);
                return Err(ConfigError::new("unacceptable", one.unacceptable, allowed, example));
            }
        }
        match &self.loss {
            Some(LossRequirement { optimal, unacceptable })
                if !(*optimal >= 0.0 && unacceptable > optimal && *unacceptable <= 1.0) =>
            {
                let (found, allowed) = (format!("{optimal} and {unacceptable}"), "0 ≤ optimal < unacceptable ≤ 1");
                Err(ConfigError::new("loss", found, allowed, "loss = { optimal = \"0.1 %\", unacceptable = \"2 %\" }"))
            }
            _ => Ok(()),
        }
    }
}

/// A score and its parts, each from 0 to 100.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// Least of the other values.
    pub score: f64,
    /// Least value over the percentiles of latency.
    pub latency: f64,
    /// Value for loss; 100 if loss does not count.
    pub loss: f64,
}

/// Returns 100 at the best, 0 at the worst, and linear values in between.
fn part(found: f64, optimal: f64, unacceptable: f64) -> f64 {
    (100.0 * (1.0 - (found - optimal) / (unacceptable - optimal))).clamp(0.0, 100.0)
}

/// Returns the score of latencies in ascending order and a share of packets lost; `None` without latencies.
pub fn outcome(requirement: &Requirement, sorted: &[Span], lost: f64) -> Option<Outcome> {
    let of = |one: &LatencyRequirement| {
        let found = quantile(sorted, one.percentile / 100.0)?;
        Some(part(found.seconds(), one.optimal.seconds(), one.unacceptable.seconds()))
    };
    let each: Option<Vec<f64>> = requirement.latency.iter().map(of).collect();
    let latency = each?.into_iter().fold(100.0, f64::min);
    let loss = requirement.loss.as_ref().map_or(100.0, |loss| part(lost, loss.optimal, loss.unacceptable));
    Some(Outcome { score: latency.min(loss), latency, loss })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requirement() -> Requirement {
        let one = |percentile, optimal, unacceptable| LatencyRequirement {
            percentile,
            optimal: Span::from_millis(optimal),
            unacceptable: Span::from_millis(unacceptable),
        };
        Requirement {
            of: Latency::OneWay,
            latency: vec![one(50.0, 100, 200), one(99.0, 200, 400)],
            loss: Some(LossRequirement { optimal: 0.001, unacceptable: 0.011 }),
        }
    }

    fn latencies(most: u64, longest: u64) -> Vec<Span> {
        // 98 of 100 take `most`, and the last two `longest`: the median is `most`, the 99th percentile `longest`.
        let mut each = vec![Span::from_millis(most); 98];
        each.extend([Span::from_millis(longest); 2]);
        each
    }

    #[test]
    fn the_score_is_the_least_of_its_parts() {
        let score = |most, longest, lost| {
            let found = outcome(&requirement(), &latencies(most, longest), lost).expect("latencies");
            [found.score, found.latency, found.loss].map(|one| (one * 1e6).round() / 1e6)
        };
        assert_eq!(score(100, 200, 0.001), [100.0, 100.0, 100.0], "at the requirement");
        assert_eq!(score(125, 200, 0.0), [75.0, 75.0, 100.0], "a quarter of the way of the median");
        assert_eq!(score(100, 300, 0.0), [50.0, 50.0, 100.0], "half the way of the 99th percentile");
        assert_eq!(score(125, 300, 0.009), [20.0, 50.0, 20.0], "loss is worst: eight tenths of its way");
        assert_eq!(score(100, 1000, 0.0), [0.0, 0.0, 100.0], "never below 0");
        assert_eq!(score(10, 20, 0.5), [0.0, 100.0, 0.0]);
    }

    #[test]
    fn loss_counts_only_with_a_requirement_and_the_score_needs_latencies() {
        let mut lax = requirement();
        lax.loss = None;
        assert_eq!(outcome(&lax, &latencies(10, 20), 1.0).map(|one| one.score), Some(100.0));
        assert_eq!(outcome(&lax, &[], 0.0), None);
    }

    #[test]
    fn a_requirement_that_says_nothing_or_runs_backwards_is_refused() {
        let refused = |change: fn(&mut Requirement)| {
            let mut one = requirement();
            change(&mut one);
            one.check().expect_err("refused").key
        };
        assert_eq!(requirement().check(), Ok(()));
        assert_eq!(refused(|one| one.latency.clear()), "latency");
        assert_eq!(refused(|one| one.latency[0].percentile = 0.0), "percentile");
        assert_eq!(refused(|one| one.latency[0].percentile = 100.5), "percentile");
        assert_eq!(refused(|one| one.latency[0].unacceptable = one.latency[0].optimal), "unacceptable");
        assert_eq!(refused(|one| one.loss = Some(LossRequirement { optimal: 0.1, unacceptable: 0.1 })), "loss");
        assert_eq!(refused(|one| one.loss = Some(LossRequirement { optimal: 0.1, unacceptable: 1.1 })), "loss");
    }
}
