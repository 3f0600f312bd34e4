//! Builds the result tables from the records of a run.

mod application;
mod conversations;
pub(crate) mod due;
mod flows;
mod groups;
mod links;
mod means;
mod media;
mod radio;
mod recorded;
mod round_trips;
mod series;
mod sessions;
mod transfers;
mod units;

pub(crate) use recorded::{RunRecord, Sample, ratio};

use crate::classes;
use crate::link::Service;
use crate::result::{RunResult, TimelinessRow};
use crate::service_classes;

/// Adds the tables of links and media. Call it while their queues still hold the waiting packets.
pub(crate) fn add_links(run: &RunRecord<'_>, result: &mut RunResult) {
    result.links = links::rows(run);
    result.classes = (run.plan.links.iter().zip(run.links))
        .flat_map(|(plan, link)| match &link.service {
            Service::Managed(managed) => {
                classes::rows(&plan.name, &managed.queue, &managed.classes.count_since(&managed.classes_before))
            }
            Service::Shared(shared) => {
                classes::shared_rows(&plan.name, &shared.classes, &shared.classes.count_since(&shared.classes_before))
            }
            Service::Fifo(_) => Vec::new(),
        })
        .collect();
    result.tins = links::tins(run);
    result.radio = radio::rows(run);
    result.service_classes =
        (run.plan.links.iter().zip(run.links)).flat_map(|(plan, link)| service_classes::rows(plan, link)).collect();
    result.outages = links::outages(run);
    result.packet_hops = run.links.iter().map(|link| link.measure.totals().departures).sum();
    result.events = run.events;
}

/// Adds the tables of flows. Call it after the positions of their packets have been logged.
pub(crate) fn add_flows(run: &RunRecord<'_>, result: &mut RunResult) {
    result.flows.reserve_exact(run.receiving.len());
    let mut index_in_group = vec![0; run.plan.groups.len()];
    let mut names = flows::Names::new(run);
    for (flow, receiving) in run.receiving.iter().enumerate() {
        let group = run.plan.flows[flow].group;
        let (row, fates) = flows::rows(run, flow, index_in_group[group], receiving, &mut names);
        result.fates.extend(fates);
        if let Some(log) = &receiving.units {
            result.timeliness.extend(log.timeliness.results().map(|timely| TimelinessRow {
                group: run.plan.groups[group].clone(),
                flow: index_in_group[group],
                threshold_s: timely.threshold.seconds(),
                reading: timely.reading.name(),
                delayed: timely.delayed,
                timely: timely.timely,
            }));
        }
        result.flows.push(row);
        result.playback.extend(application::playback(run, flow, index_in_group[group]));
        result.recovery.extend(application::recovery(run, flow, index_in_group[group]));
        result.round_trips.extend(round_trips::row(run, flow, index_in_group[group]));
        result.outcomes.extend(round_trips::outcomes(run, flow, index_in_group[group]));
        media::append(run, flow, index_in_group[group], result);
        index_in_group[group] += 1;
    }
    result.groups = groups::rows(run, &result.flows);
    (result.transfers, result.completions) = transfers::rows(run);
    result.conversations = conversations::rows(run);
    result.sessions = sessions::rows(run);
    series::append(run, &mut result.series);
    means::append(run, &mut result.series);
    for &flow in &run.plan.record.units {
        let Some(log) = &run.receiving[flow].units else { continue };
        result.units.extend(units::rows(run, flow, log));
    }
}
