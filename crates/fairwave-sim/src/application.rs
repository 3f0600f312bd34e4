//! What applications and bystanders make of goodput over time: playback, recovery, and what flows get together per bin.

use fairwave_core::quality::{fairness, throughput};
use fairwave_core::units::{Instant, Rate, Span};
use serde::Serialize;

use crate::result::{SeriesRow, bins};
use crate::run::Simulation;

/// Playback of one flow by one reading and share: the x % application success percentage.
#[derive(Clone, Debug, Serialize)]
pub struct PlaybackRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// `goodput` or `buffer`.
    pub reading: &'static str,
    /// The share of a read that must be there.
    pub share: f64,
    /// Reads that the application attempted.
    pub reads: u64,
    /// How many succeeded, 0 to 100; NaN without reads.
    pub success_percent: f64,
}

/// Recovery of one flow from an interruption, to one level.
#[derive(Clone, Debug, Serialize)]
pub struct RecoveryRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// The share of full speed that counts as recovered.
    pub level: f64,
    /// Full speed: the goodput between the warm-up and the interruption.
    pub full_bps: f64,
    /// From the end of the interruption to the end of the first bin that reaches the level; NaN if none does.
    pub recovery_s: f64,
}

pub(crate) fn playback(simulation: &Simulation, flow: usize, index: u32) -> Vec<PlaybackRow> {
    let Some(playback) = &simulation.receiving[flow].measure.playback else { return Vec::new() };
    let group = &simulation.plan.groups[simulation.plan.flows[flow].group];
    let row = |result: fairwave_core::quality::playback::PlaybackSuccess| PlaybackRow {
        group: group.clone(),
        flow: index,
        reading: result.reading.name(),
        share: result.share,
        reads: result.reads,
        success_percent: result.success,
    };
    playback.results().map(row).collect()
}

pub(crate) fn recovery(simulation: &Simulation, flow: usize, index: u32) -> Vec<RecoveryRow> {
    let plan = &simulation.plan.flows[flow];
    let Some(config) = &plan.recovery else { return Vec::new() };
    let (from, to) = (Instant::ZERO + config.from, Instant::ZERO + config.to);
    let before = bins(simulation, flow, plan.start.max(simulation.window.warmup), from);
    let sum: u64 = before.iter().map(|rate| rate.bits_per_second()).sum();
    let full = Rate::from_bits_per_second(sum / (before.len() as u64).max(1));
    let after = bins(simulation, flow, to, plan.stop.min(simulation.window.end));
    let bin = simulation.plan.record.bin;
    let row = |&level: &f64| RecoveryRow {
        group: simulation.plan.groups[plan.group].clone(),
        flow: index,
        level,
        full_bps: full.bits_per_second() as f64,
        recovery_s: throughput::recovery_time(&after, bin, full, level).map_or(f64::NAN, Span::seconds),
    };
    config.levels.iter().map(row).collect()
}

/// Allotted goodput and fairness per bin of the flows that were chosen together. A flow's bin counts towards fairness
/// when the flow is there during all of it; what arrives counts towards goodput in any case.
pub(crate) fn allotted(simulation: &Simulation, rows: &mut Vec<SeriesRow>) {
    let bin = simulation.plan.record.bin;
    if bin == Span::ZERO {
        return;
    }
    for (name, flows) in &simulation.plan.record.allotted {
        let each: Vec<Vec<Rate>> =
            flows.iter().map(|&flow| bins(simulation, flow, Instant::ZERO, simulation.window.end)).collect();
        for index in 0..each.first().map_or(0, Vec::len) {
            let (begins, ends) = (Instant::ZERO + bin * index as u64, Instant::ZERO + bin * (index as u64 + 1));
            let there = |flow: usize| {
                let plan = &simulation.plan.flows[flow];
                plan.start <= begins && plan.stop >= ends
            };
            let rate = |bins: &Vec<Rate>| bins.get(index).copied().unwrap_or_default();
            let present: Vec<Rate> =
                flows.iter().zip(&each).filter(|(flow, _)| there(**flow)).map(|(_, bins)| rate(bins)).collect();
            let sum: u64 = each.iter().map(|bins| rate(bins).bits_per_second()).sum();
            let time_s = ends.seconds();
            rows.push(SeriesRow { kind: "allotted_goodput_bps", name: name.clone(), time_s, value: sum as f64 });
            if !present.is_empty() {
                let value = fairness::jain(&present);
                rows.push(SeriesRow { kind: "allotted_fairness", name: name.clone(), time_s, value });
            }
        }
    }
}
