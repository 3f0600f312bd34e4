//! TCP against ns-2.35: a dumbbell at 10 Mb/s shared by 10, 50 and 100 flows of one flavour.
//!
//! The reference numbers are in `validation/compare/ns2/references`. `tcp_dumbbell.json`, without random sending delays, was made
//! independently of fairwave. `tcp_dumbbell_jitter.json`, with these delays, was made by `dumbbell.tcl` in the same
//! folder. Two means agree when they differ by at most 3 % or each is in the other's 95 % interval. No value in
//! fairwave was fitted to these numbers.

use crate::support::{Dumbbell, config};
use fairwave_core::queue::{Capacity, DropTailConfig, QueueConfig};
use fairwave_core::random::Seed;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use fairwave_core::units::{Instant, Rate, Span};
use fairwave_sim::Run;
use rayon::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    seeds: Vec<u64>,
    results: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    flows: usize,
    variant: String,
    alpha: f64,
    beta: f64,
    bottleneck_mbps: f64,
    access_mbps: f64,
    buffer_limit: u32,
    duration_s: f64,
    start_jitter_s: f64,
    send_jitter_s: f64,
    /// Number of seeds used; all if missing.
    runs: Option<usize>,
    metrics: Metrics,
}

/// Mean and sample standard deviation over the seeds.
type Spread = (f64, f64);

#[derive(Deserialize)]
struct Metrics {
    goodput_mbps: Spread,
    drop_rate: Spread,
    mean_queue_pkts: Spread,
    jain: Spread,
}

const REFERENCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/compare/ns2/references");

/// Known differences with random sending delays, each with its reason and its bound as a share of ns-2's mean.
///
/// Ten Vegas flows want 10 to 30 places. Where each of them stops depends on the smallest round trip that it measured
/// while the others filled the queue. Runs of either simulator vary by 10 to 20 %.
const EXPLAINED_WITH_DELAYS: &[(&str, f64)] = &[("10 × Vegas: queue", 0.15)];

/// Known differences without delays, each with its reason and its bound as a share of ns-2's mean.
///
/// All round trips are equal and all links have one rate. So packets of different flows reach the bottleneck
/// repeatedly at the same instant, and their order decides which packet is dropped: a phase effect (Floyd & Jacobson
/// 1992). ns-2 keeps time in binary fractions of a second, and their rounding decides, for long times in the same way
/// for each pair of flows. fairwave breaks ties at random. This explains ns-2's large variance over seeds and its low
/// fairness at ten flows. Random sending delays of up to one packet time remove the effect in both simulators, and
/// then they agree (the other test). Ten Vegas flows occasionally lose a packet in ns-2, and none here.
const EXPLAINED_PHASE_EFFECTS: &[(&str, f64)] = &[
    ("10 × Vegas: drop rate", 1.0),
    ("50 × GAIMD TCP(0.583,0.75) Reno: drop rate", 0.1),
    ("50 × Sack1: drop rate", 0.08),
    ("50 × Sack1: queue", 0.08),
    ("100 × Sack1: queue", 0.08),
];

impl Case {
    fn transport(&self) -> TransportConfig {
        let jitter = format!(r#""send-jitter": "{} ns""#, (self.send_jitter_s * 1e9).round());
        let json = if self.name.starts_with("GAIMD") {
            format!(
                r#"{{"name": "tcp/aimd", "alpha": {}, "beta": {}, "preset": "ns2", {jitter}}}"#,
                self.alpha, self.beta
            )
        } else if self.is_vegas() {
            format!(r#"{{"name": "tcp/vegas", "preset": "ns2", {jitter}}}"#)
        } else {
            format!(r#"{{"name": "tcp/{}", "preset": "ns2", {jitter}}}"#, self.variant)
        };
        config(&json)
    }

    /// ns-2.35's Vegas omits the header: its packets are 1000 bytes on the wire.
    fn is_vegas(&self) -> bool {
        self.variant == "vegas"
    }

    /// Goodput in Mb/s, drop rate, mean queue in packets, Jain's index.
    fn simulate(&self, seed: u64) -> [f64; 4] {
        let megabits = |rate: f64| Rate::from_bits_per_second((rate * 1e6) as u64);
        let dumbbell = Dumbbell {
            bottleneck: megabits(self.bottleneck_mbps),
            access: megabits(self.access_mbps),
            // ns-2's limit includes the arriving packet.
            queue: QueueConfig::new(Capacity::Packets(self.buffer_limit - 1), DropTailConfig {}),
            duration: Span::from_seconds(self.duration_s),
            // The reference measures the whole run.
            warmup: Span::ZERO,
            ..Dumbbell::default()
        };
        let mut starts = Seed(seed).stream("starts");
        let flows = (0..self.flows)
            .map(|_| {
                let start = starts.span_between(Span::ZERO, Span::from_seconds(self.start_jitter_s));
                (TrafficConfig::default(), self.transport(), Instant::ZERO + start)
            })
            .collect();
        let result = Run::new(&dumbbell.plan(seed, flows)).execute().expect("a run");
        let goodputs: Vec<f64> = result.flows.iter().map(|flow| flow.goodput_bps.expect("measured")).collect();
        let (sum, squares): (f64, f64) = goodputs.iter().fold((0.0, 0.0), |(s, q), g| (s + g, q + g * g));
        let link = &result.links[0];
        let jain = sum * sum / (goodputs.len() as f64 * squares);
        // The reference subtracts 40 of 1040 bytes as header, also for Vegas, which has none.
        let payload = if self.is_vegas() { 1000.0 / 1040.0 } else { 1.0 };
        [payload * sum / 1e6, link.drop_rate, link.mean_queue_packets, jain]
    }
}

fn spread(values: &[f64]) -> Spread {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}

/// Student's t for a 95 % interval of `values` values.
fn student(values: usize) -> f64 {
    match values {
        2 => 12.706,
        3 => 4.303,
        4 => 3.182,
        5 => 2.776,
        20 => 2.093,
        _ => f64::NAN,
    }
}

/// Whether two means over equally many runs differ by at most 3 %, or each is in the other's 95 % interval.
fn agree(ours: Spread, theirs: Spread, runs: usize) -> bool {
    let difference = (ours.0 - theirs.0).abs();
    let half = student(runs) * ours.1.min(theirs.1) / (runs as f64).sqrt();
    difference <= 0.03 * theirs.0 || difference <= half
}

/// A measure outside the tolerance.
struct Disagreement {
    /// Case and measure.
    key: String,
    /// Relative difference from the reference.
    relative: f64,
    line: String,
}

/// Runs all cases of a reference with its seeds, and returns the measures outside the tolerance.
fn disagreements(file: &str) -> Vec<Disagreement> {
    let reference: Reference = config(&std::fs::read_to_string(format!("{REFERENCES}/{file}")).expect("the reference"));
    let mut different = Vec::new();
    let outcomes: Vec<Vec<[f64; 4]>> = reference
        .results
        .par_iter()
        .map(|case| {
            let runs = case.runs.unwrap_or(reference.seeds.len());
            reference.seeds[..runs].par_iter().map(|seed| case.simulate(*seed)).collect()
        })
        .collect();
    for (case, runs) in reference.results.iter().zip(outcomes) {
        let metrics = &case.metrics;
        let theirs = [metrics.goodput_mbps, metrics.drop_rate, metrics.mean_queue_pkts, metrics.jain];
        for (index, (what, theirs)) in ["goodput", "drop rate", "queue", "fairness"].iter().zip(theirs).enumerate() {
            let ours = spread(&runs.iter().map(|run| run[index]).collect::<Vec<_>>());
            let line = format!(
                "{:38} {:3} {what:9} {:9.4} ± {:.4}, ns-2 {:9.4} ± {:.4}, {:+.1} %",
                case.name,
                case.flows,
                ours.0,
                ours.1,
                theirs.0,
                theirs.1,
                100.0 * (ours.0 / theirs.0 - 1.0)
            );
            println!("{line}");
            if !agree(ours, theirs, runs.len()) {
                let key = format!("{} × {}: {what}", case.flows, case.name);
                different.push(Disagreement { key, relative: ours.0 / theirs.0 - 1.0, line });
            }
        }
    }
    different
}

/// Checks that every disagreement is exempt and within its bound, and that every exemption is still needed.
fn check(different: &[Disagreement], exempt: &[(&str, f64)]) {
    let bound = |key: &str| exempt.iter().find(|(exempt, _)| *exempt == key).map(|(_, bound)| *bound);
    let unexplained: Vec<_> = (different.iter())
        .filter(|one| bound(&one.key).is_none_or(|bound| one.relative.abs() > bound))
        .map(|one| &one.line)
        .collect();
    assert!(unexplained.is_empty(), "neither equal nor within the bound of an exemption: {unexplained:#?}");
    let idle: Vec<_> = exempt.iter().filter(|(key, _)| different.iter().all(|one| one.key != *key)).collect();
    assert!(idle.is_empty(), "exempt though they agree, so take them out: {idle:#?}");
}

#[test]
fn with_random_sending_delays_goodput_drop_rate_and_queue_are_those_of_ns2() {
    check(&disagreements("tcp_dumbbell_jitter.json"), EXPLAINED_WITH_DELAYS);
}

#[test]
fn measures_without_phase_effects_match_ns2_without_delays() {
    let mut different = disagreements("tcp_dumbbell.json");
    different.retain(|one| !one.key.ends_with("fairness"));
    check(&different, EXPLAINED_PHASE_EFFECTS);
}
