//! Application results from goodput over time: playback, recovery, and the joint goodput of chosen flows per bin.

use fairwave_core::quality::playback::PlaybackSuccess;
use fairwave_core::quality::{fairness, throughput};
use fairwave_core::units::{Instant, Rate, Span};

use super::recorded::RunRecord;
use crate::result::{PlaybackRow, RecoveryRow, SeriesRow};

/// Returns how often the application of a flow with playback had enough data.
pub(crate) fn playback(run: &RunRecord<'_>, flow: usize, index: u32) -> Vec<PlaybackRow> {
    let observed = run.receiving[flow].measure.observed.as_ref();
    let Some(playback) = observed.and_then(|observed| observed.playback.as_ref()) else { return Vec::new() };
    let group = &run.plan.groups[run.plan.flows[flow].group];
    let row = |result: PlaybackSuccess| PlaybackRow {
        group: group.clone(),
        flow: index,
        reading: result.reading.name(),
        share: result.share,
        reads: result.reads,
        success_percent: result.success,
    };
    playback.results().map(row).collect()
}

/// Returns the recovery time of a flow after its interruption, if measured.
pub(crate) fn recovery(run: &RunRecord<'_>, flow: usize, index: u32) -> Vec<RecoveryRow> {
    let plan = &run.plan.flows[flow];
    let Some(config) = &plan.recovery else { return Vec::new() };
    let (from, to) = (Instant::ZERO + config.from, Instant::ZERO + config.to);
    let before = run.bins(flow, plan.start.max(run.window.warmup), from);
    let sum: u64 = before.iter().map(|rate| rate.bits_per_second()).sum();
    let full = Rate::from_bits_per_second(sum / (before.len() as u64).max(1));
    let after = run.bins(flow, to, plan.stop.min(run.window.end));
    let bin = run.plan.record.bin;
    let row = |&level: &f64| RecoveryRow {
        group: run.plan.groups[plan.group].clone(),
        flow: index,
        level,
        full_bps: full.bits_per_second() as f64,
        recovery_s: throughput::recovery_time(&after, bin, full, level).map(Span::seconds),
    };
    config.levels.iter().map(row).collect()
}

/// Appends goodput and fairness per bin for the flows selected for joint allotment. A flow's bin counts towards
/// fairness only if the flow is active for the whole bin. Its payload always counts towards goodput.
pub(crate) fn allotted(run: &RunRecord<'_>, rows: &mut Vec<SeriesRow>) {
    let bin = run.plan.record.bin;
    if bin == Span::ZERO {
        return;
    }
    for (name, flows) in &run.plan.record.allotted {
        let each: Vec<Vec<Rate>> = flows.iter().map(|&flow| run.bins(flow, Instant::ZERO, run.window.end)).collect();
        for index in 0..each.first().map_or(0, Vec::len) {
            let (begins, ends) = (Instant::ZERO + bin * index as u64, Instant::ZERO + bin * (index as u64 + 1));
            let there = |flow: usize| {
                let plan = &run.plan.flows[flow];
                plan.start <= begins && plan.stop >= ends
            };
            let rate = |bins: &Vec<Rate>| bins.get(index).copied().unwrap_or_default();
            let present: Vec<Rate> =
                flows.iter().zip(&each).filter(|(flow, _)| there(**flow)).map(|(_, bins)| rate(bins)).collect();
            let sum: u64 = each.iter().map(|bins| rate(bins).bits_per_second()).sum();
            let time_s = ends.seconds();
            rows.push(SeriesRow { kind: "allotted_goodput_bps", name: name.clone(), time_s, value: sum as f64 });
            if let Some(value) = fairness::jain(&present) {
                rows.push(SeriesRow { kind: "allotted_fairness", name: name.clone(), time_s, value });
            }
        }
    }
}
