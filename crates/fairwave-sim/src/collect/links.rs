//! What each link direction carried, dropped and kept waiting.

use super::recorded::{Recorded, ratio};
use crate::link::Service;
use crate::result::LinkRow;

/// One row per link direction, over the window.
pub(crate) fn rows(run: &Recorded<'_>) -> Vec<LinkRow> {
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
                utilisation: ratio(m.steady.wire, link.capacity(run.window.warmup, run.window.end).get()),
                drop_rate: ratio(m.missing.dropped(), m.steady.arrivals),
                mean_wait_s: match &link.service {
                    // What a managed queue dropped may have waited, too.
                    Service::Managed(managed) => managed.classes.since(&managed.classes_before).mean_wait(),
                    // Little's law: all that waited passed the transmitter.
                    Service::Fifo(_) => ratio(m.waited, m.steady.departures),
                } / 1e9,
            }
        })
        .collect()
}
