//! Link rows: carried, dropped and waiting packets of each link direction.

use fairwave_core::link::Outage;
use fairwave_core::medium::Medium;
use fairwave_core::queue::TinStatistics;
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::LinkPlan;

use super::recorded::{RunRecord, ratio};
use crate::link::{Link, Service};
use crate::result::{LinkRow, OutageRow, TinRow};
use crate::unsteady::OutageLosses;

/// One row per link direction, over the window.
pub(crate) fn rows(run: &RunRecord<'_>) -> Vec<LinkRow> {
    let length = run.window.length();
    (run.plan.links.iter().zip(run.links))
        .map(|(plan, link)| {
            let (m, missing) = (&link.measure, link.measure.missing());
            LinkRow {
                link: plan.name.clone(),
                arrivals: m.steady.arrivals,
                departures: m.steady.departures,
                dropped_overflow: missing.overflow,
                dropped_early: missing.early,
                lost: missing.lost,
                wire_departed: m.steady.wire,
                mean_queue_packets: ratio(m.waited, length.nanos()),
                max_queue_packets: m.max_queue,
                // Each transmission is rounded to the nanosecond. So a link that never idles can send a few bytes
                // more than its rate allows.
                utilisation: ratio(m.transmitted(), capacity(run, link)).min(1.0),
                drop_rate: ratio(missing.dropped(), m.steady.arrivals),
                mean_wait_s: match &link.service {
                    // A managed queue can drop packets after they waited.
                    Service::Managed(managed) => managed.classes.count_since(&managed.classes_before).mean_wait(),
                    Service::Shared(shared) => shared.classes.count_since(&shared.classes_before).mean_wait(),
                    // Little's law: every packet that waited passed the transmitter.
                    Service::Fifo(_) => ratio(m.waited, m.steady.departures),
                } / 1e9,
                marked: missing.marked,
                duplicated: m.disorder().duplicated,
                reordered: m.disorder().reordered,
            }
        })
        .collect()
}

/// Returns the bytes that a link direction could have carried in the window.
fn capacity(run: &RunRecord<'_>, link: &Link) -> u64 {
    let (from, to) = (run.window.warmup, run.window.end);
    match &link.service {
        Service::Shared(shared) => {
            run.media.get(shared.medium).map_or(0, |run| run.medium.capacity(shared.member, from, to).get())
        }
        _ => link.capacity(from, to).get(),
    }
}

/// One row per tin of each queue under CAKE.
pub(crate) fn tins(run: &RunRecord<'_>) -> Vec<TinRow> {
    let of_link = |(plan, link): (&LinkPlan, &Link)| match &link.service {
        Service::Managed(managed) => managed.queue.tins().into_iter().map(|tin| row_of(&plan.name, &tin)).collect(),
        Service::Fifo(_) | Service::Shared(_) => Vec::new(),
    };
    run.plan.links.iter().zip(run.links).flat_map(of_link).collect()
}

fn row_of(link: &str, tin: &TinStatistics) -> TinRow {
    TinRow {
        link: link.to_owned(),
        tin: tin.name,
        thresh_bps: tin.threshold.map(|rate| rate.bits_per_second() as f64),
        target_s: tin.target.seconds(),
        interval_s: tin.interval.seconds(),
        pk_delay_s: tin.peak_delay.seconds(),
        av_delay_s: tin.average_delay.seconds(),
        sp_delay_s: tin.base_delay.seconds(),
        backlog: tin.backlog.get(),
        pkts: tin.packets,
        bytes: tin.bytes.get(),
        way_inds: tin.indirect_hits,
        way_miss: tin.misses,
        way_cols: tin.collisions,
        drops: tin.drops,
        marks: tin.marks,
        ack_drop: tin.acknowledgements_dropped,
        sp_flows: u64::from(tin.sparse_flows),
        bk_flows: u64::from(tin.bulk_flows),
        un_flows: u64::from(tin.unresponsive_flows),
        max_len: tin.longest.get(),
        quantum: tin.quantum.get(),
    }
}

/// One row per link direction and outage that began within the run.
pub(crate) fn outages(run: &RunRecord<'_>) -> Vec<OutageRow> {
    let of_link = |(plan, link): (&LinkPlan, &Link)| {
        let tolls = link.unsteady().map_or(&[][..], |unsteady| unsteady.tolls());
        let began = |(outage, _): &(&Outage, &OutageLosses)| Instant::ZERO + outage.from <= run.window.end;
        let row = |(outage, toll): (&Outage, &OutageLosses)| OutageRow {
            link: plan.name.to_string(),
            from_s: outage.from.seconds(),
            to_s: outage.to.filter(|to| Instant::ZERO + *to <= run.window.end).map(Span::seconds),
            lost_waiting: toll.waiting,
            lost_in_transmission: toll.in_transmission,
        };
        plan.direction.changes.outages.iter().zip(tolls).filter(began).map(row).collect::<Vec<_>>()
    };
    run.plan.links.iter().zip(run.links).flat_map(of_link).collect()
}
