//! Transfer rows of files and pages: the completion time of each, and the joint results of a group.

use fairwave_core::quality::completion::{Completions, TransferFate, TransferRecord};
use fairwave_core::quality::delay::DelaySummary;
use fairwave_core::traffic::{TrafficSource, TransferRequest};
use fairwave_core::units::{Bytes, Instant, Rate, Span};

use super::recorded::RunRecord;
use crate::result::{CompletionRow, TransferRow};

/// Returns one row per transfer that began in the window, and one per group with transfers or with a limit of
/// simultaneous flows.
pub(crate) fn rows(run: &RunRecord<'_>) -> (Vec<TransferRow>, Vec<CompletionRow>) {
    let (mut rows, mut completions) = (Vec::new(), Vec::new());
    let mut flow = 0;
    for members in run.plan.flows.chunk_by(|one, next| one.group == next.group) {
        let name = members.first().map_or("", |first| &run.plan.groups[first.group]);
        let first = flow;
        flow += members.len();
        let all: Vec<usize> = (first..flow).collect();
        let Some(plan) = members.first() else { continue };
        if plan.traffic.transfers() {
            let mut several = Vec::new();
            for &flow in &all {
                for (number, transfer) in list_transfers(run, flow) {
                    rows.push(row(name, (flow - first) as u32, number, &transfer));
                    several.push(transfer);
                }
            }
            completions.push(completion(name, several.len() as u64, &Completions::from_transfers(&several)));
        } else if plan.at_most.is_some() {
            let begun = all.iter().filter(|&&flow| run.plan.flows[flow].start >= run.window.warmup);
            let fates: Vec<TransferRecord> = begun.map(|&flow| timed(run, flow)).collect();
            let counted = Completions { times: None, slowdown: None, ..Completions::from_transfers(&fates) };
            completions.push(completion(name, fates.len() as u64, &counted));
        }
    }
    (rows, completions)
}

/// Iterates over the complete objects that a flow requested in the window, with their numbers.
fn list_transfers<'a>(run: &'a RunRecord<'_>, flow: usize) -> impl Iterator<Item = (u32, TransferRecord)> + 'a {
    let (plan, sending) = (&run.plan.flows[flow], &run.sending[flow]);
    let rate = |link: &usize| run.plan.links.get(*link).map(|link| link.direction.rate.nominal());
    let narrowest = plan.forward.iter().filter_map(rate).min().unwrap_or_default();
    let transferred = move |wanted: &TransferRequest| {
        let began = sending.clock.asked_at(wanted.began);
        let arrived = run.receiving[flow].units.as_ref().map_or(Instant::NEVER, |log| log.arrival(wanted));
        let fate = match arrived {
            _ if sending.refused => TransferFate::Refused,
            Instant::NEVER => TransferFate::Unfinished,
            at => TransferFate::Completed(at),
        };
        TransferRecord { began, size: Bytes::new(wanted.size), fate, narrowest }
    };
    let within = |one: &(u32, TransferRecord)| one.1.began >= run.window.warmup && one.1.began <= run.window.end;
    let numbered = sending.source.requests().iter().enumerate();
    numbered.map(move |(number, wanted)| (number as u32, transferred(wanted))).filter(within)
}

/// Returns the record of a flow with a given duration.
fn timed(run: &RunRecord<'_>, flow: usize) -> TransferRecord {
    let plan = &run.plan.flows[flow];
    let fate = match plan.stop {
        _ if run.sending[flow].refused => TransferFate::Refused,
        stop if stop <= run.window.end => TransferFate::Completed(stop),
        _ => TransferFate::Unfinished,
    };
    TransferRecord { began: plan.start, size: Bytes::ZERO, fate, narrowest: Rate::default() }
}

fn row(group: &str, flow: u32, number: u32, transfer: &TransferRecord) -> TransferRow {
    let ended = match transfer.fate {
        TransferFate::Completed(at) => Some(at.seconds()),
        _ => None,
    };
    TransferRow {
        group: group.to_owned(),
        flow,
        transfer: number,
        began_s: transfer.began.seconds(),
        size: transfer.size.get(),
        ended_s: ended,
        seconds: transfer.took().map(Span::seconds),
        slowdown: transfer.slowdown(),
        fate: transfer.fate.name(),
    }
}

fn completion(group: &str, transfers: u64, found: &Completions) -> CompletionRow {
    let time = |of: fn(&DelaySummary) -> Span| found.times.as_ref().map(|times| of(times).seconds());
    CompletionRow {
        group: group.to_owned(),
        transfers,
        completed: found.completed,
        unfinished: found.unfinished,
        refused: found.refused,
        mean_s: time(|times| times.mean),
        p50_s: time(|times| times.p50),
        p95_s: time(|times| times.p95),
        max_s: time(|times| times.max),
        slowdown: found.slowdown,
    }
}
