//! What each link direction carried, dropped and kept waiting.

use fairwave_core::link::Outage;
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::LinkPlan;

use super::recorded::{RunRecord, ratio};
use crate::link::{Link, Service};
use crate::result::{LinkRow, OutageRow};
use crate::unsteady::OutageLosses;

/// One row per link direction, over the window.
pub(crate) fn rows(run: &RunRecord<'_>) -> Vec<LinkRow> {
    let length = run.window.length();
    (run.plan.links.iter().zip(run.links))
        .map(|(plan, link)| {
            let m = &link.measure;
            LinkRow {
                link: plan.name.clone(),
                arrivals: m.steady.arrivals,
                departures: m.steady.departures,
                dropped_overflow: m.missing.overflow,
                dropped_early: m.missing.early,
                lost: m.missing.lost,
                wire_departed: m.steady.wire,
                mean_queue_packets: ratio(m.waited, length.nanos()),
                max_queue_packets: m.max_queue,
                // Each transmission is rounded to the nanosecond, so a link that never rests may send a few bytes more than its rate says.
                utilisation: ratio(m.transmitted(), link.capacity(run.window.warmup, run.window.end).get()).min(1.0),
                drop_rate: ratio(m.missing.dropped(), m.steady.arrivals),
                mean_wait_s: match &link.service {
                    // What a managed queue dropped may have waited, too.
                    Service::Managed(managed) => managed.classes.since(&managed.classes_before).mean_wait(),
                    // Little's law: all that waited passed the transmitter.
                    Service::Fifo(_) => ratio(m.waited, m.steady.departures),
                } / 1e9,
                marked: m.missing.marked,
                duplicated: m.disorder.duplicated,
                reordered: m.disorder.reordered,
            }
        })
        .collect()
}

/// One row per link direction and outage that began within the run.
pub(crate) fn outages(run: &RunRecord<'_>) -> Vec<OutageRow> {
    let of_link = |(plan, link): (&LinkPlan, &Link)| {
        let tolls = link.unsteady().map_or(&[][..], |unsteady| unsteady.tolls());
        let began = |(outage, _): &(&Outage, &OutageLosses)| Instant::ZERO + outage.from <= run.window.end;
        let row = |(outage, toll): (&Outage, &OutageLosses)| OutageRow {
            link: plan.name.clone(),
            from_s: outage.from.seconds(),
            to_s: outage.to.filter(|to| Instant::ZERO + *to <= run.window.end).map_or(f64::NAN, Span::seconds),
            lost_waiting: toll.waiting,
            lost_in_transmission: toll.in_transmission,
        };
        plan.direction.changes.outages.iter().zip(tolls).filter(began).map(row).collect::<Vec<_>>()
    };
    run.plan.links.iter().zip(run.links).flat_map(of_link).collect()
}
