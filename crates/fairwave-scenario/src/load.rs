//! Workloads as stated in papers: the total offered load, and the share of each traffic class.
//!
//! ```toml
//! [load]
//! total = "5.25 Mb/s"                              # while every source is on, bytes on the wire
//! shares = { voice = 13, other-udp = 52, tcp = 35 } # percent
//! transfer = "250 kb/s"                            # what a file transfer counts for
//! ```
//!
//! With a load, the `count` of a flow group is its weight. The groups of a class keep the proportions of their counts and are
//! multiplied until together they offer the class's share. A class consists of whole flows, so its load is within half of one
//! source's rate of its share.
//!
//! **Assumptions.** A source offers its rate while it is active (paper 004's tables of workloads do not state whether pauses
//! count). Bulk data over a transport that controls its rate has no defined rate, so the load states a rate per transfer. Weights
//! are multiplied exactly and rounded by largest remainder. A class with a share has at least one flow.

use crate::error::Problem;
use crate::law::wire_of_unit;
use crate::model::{Flow, Scenario};
use crate::path::Path;
use crate::shares::Load;

/// Tolerance for the sum of shares around 100 %, for floating-point errors.
const SLACK: f64 = 1e-6;

impl Scenario {
    /// Sets the number of flows of each group according to the load, and removes the load.
    pub(crate) fn counted(&self, problems: &mut Vec<Problem>) -> Scenario {
        let mut counted = self.clone();
        let Some(load) = counted.load.take() else { return counted };
        let at = Path::default().key("load");
        let before = problems.len();
        check(&load, &at, problems);
        if problems.len() > before {
            return counted;
        }
        for (name, class, percent) in load.shares.entries() {
            let members: Vec<usize> =
                (0..self.flows.len()).filter(|&index| self.flows[index].class() == class).collect();
            let counts = match self.counts(&load, &members, name, percent) {
                Ok(counts) => counts,
                Err(problem) => {
                    problems.push(*problem);
                    continue;
                }
            };
            for (index, count) in members.into_iter().zip(counts) {
                counted.flows[index].count = Some(count);
            }
        }
        counted
    }

    /// Number of flows of each group of a class.
    fn counts(&self, load: &Load, members: &[usize], class: &str, percent: f64) -> Result<Vec<u64>, Box<Problem>> {
        if percent == 0.0 {
            return Ok(vec![0; members.len()]);
        }
        let at = Path::default().key("load").key("shares").key(class);
        let mut weights = Vec::with_capacity(members.len());
        let mut offered = 0.0;
        for &index in members {
            let flow = &self.flows[index];
            let weight = self.count_of(flow) as f64;
            weights.push(weight);
            if weight > 0.0 {
                offered += weight * self.rate_of(flow, index, load)?;
            }
        }
        if offered <= 0.0 {
            let problem = Problem::new(at, format!("`{class}` has {percent} % of the load, but no flows"));
            return Err(Box::new(problem.help(format!(
                "add a [[flow]] of class `{class}`, or write `{class} = 0` and give its share to others"
            ))));
        }
        let factor = percent / 100.0 * load.total.bits_per_second() as f64 / offered;
        Ok(round(&weights, factor))
    }

    /// Offered load of an active flow, in bits per second on the wire.
    fn rate_of(&self, flow: &Flow, index: usize, load: &Load) -> Result<f64, Box<Problem>> {
        let at = Path::default().key("flow").index(index).key("traffic");
        // Other checks report laws that cannot be resolved.
        let (Ok(transport), Ok(traffic)) =
            (flow.transport.with_details(self.preset), flow.traffic.with_details(self.preset))
        else {
            return Ok(0.0);
        };
        if traffic.is_bulk() {
            return load.transfer.map(|rate| rate.bits_per_second() as f64).ok_or_else(|| {
                let what = format!("`load` does not say what a transfer of `{}` counts for", flow.name);
                Box::new(
                    Problem::new(Path::default().key("load").key("transfer"), what)
                        .allowed("a rate above 0")
                        .help("add for example `transfer = \"250 kb/s\"`"),
                )
            });
        }
        let wire = wire_of_unit(&traffic, &transport) as f64 * 8.0;
        traffic.units_per_second().map(|units| units * wire).ok_or_else(|| {
            Box::new(
                Problem::new(at, format!("what `{}` of `{}` offers has no fixed rate", flow.traffic.name(), flow.name))
                    .allowed("bulk data, calls, or constant rates and bursts of them in a scenario with a `load`")
                    .help("remove `load`, and say how many flows there are"),
            )
        })
    }
}

fn check(load: &Load, at: &Path, problems: &mut Vec<Problem>) {
    for (key, rate) in [("total", Some(load.total)), ("transfer", load.transfer)] {
        if rate.is_some_and(|rate| rate.bits_per_second() == 0) {
            problems.push(
                Problem::new(at.key(key), format!("`{key}` is 0"))
                    .allowed("a rate above 0")
                    .help(format!("write for example `{key} = \"5 Mb/s\"`")),
            );
        }
    }
    let at = at.key("shares");
    let mut sum = 0.0;
    for (name, _, percent) in load.shares.entries() {
        if !(0.0..=100.0).contains(&percent) {
            problems.push(
                Problem::new(at.key(name), format!("`{name}` is {percent}"))
                    .allowed("a share from 0 to 100 (percent)")
                    .help(format!("write for example `{name} = 25`")),
            );
            return;
        }
        sum += percent;
    }
    if (sum - 100.0).abs() > SLACK {
        let [voice, other, tcp] = load.shares.entries().map(|(_, _, percent)| percent);
        problems.push(
            Problem::new(at, format!("`shares` add up to {sum} % ({voice} + {other} + {tcp})"))
                .allowed("shares of voice, other-udp and tcp that add up to 100 %")
                .help("write for example `shares = { voice = 25, other-udp = 50, tcp = 25 }`"),
        );
    }
}

/// Weights times a factor, rounded so that their sum is the rounded sum. The sum is at least 1.
fn round(weights: &[f64], factor: f64) -> Vec<u64> {
    let exact: Vec<f64> = weights.iter().map(|weight| weight * factor).collect();
    let mut counts: Vec<u64> = exact.iter().map(|count| *count as u64).collect();
    let wanted = (exact.iter().sum::<f64>().round() as u64).max(1);
    let missing = wanted.saturating_sub(counts.iter().copied().fold(0, u64::saturating_add));
    let mut order: Vec<usize> = (0..weights.len()).filter(|&index| weights[index] > 0.0).collect();
    order.sort_by(|&a, &b| {
        let rest = |index: usize| exact[index] - counts[index] as f64;
        rest(b).total_cmp(&rest(a)).then(a.cmp(&b))
    });
    for &index in order.iter().take(missing as usize) {
        counts[index] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rounding_keeps_the_sum_and_stays_within_one_of_each_weight(
            weights in prop::collection::vec(0.0f64..20.0, 1..8), factor in 0.01f64..10.0,
        ) {
            prop_assume!(weights.iter().any(|weight| *weight > 0.0));
            let counts = round(&weights, factor);
            let exact: f64 = weights.iter().sum::<f64>() * factor;
            prop_assert_eq!(counts.iter().sum::<u64>(), (exact.round() as u64).max(1));
            for (count, weight) in counts.iter().zip(&weights) {
                prop_assert!((*count as f64 - weight * factor).abs() <= 1.0);
            }
        }
    }
}
