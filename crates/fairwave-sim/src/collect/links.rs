//! What each link direction carried, dropped and kept waiting.

use fairwave_core::units::{Instant, Span};

use super::recorded::{Recorded, ratio};
use crate::link::Service;
use crate::result::LinkRow;

/// One row per link direction.
pub(crate) fn rows(run: &Recorded<'_>) -> Vec<LinkRow> {
    let (end, steady) = (run.window.end.since(Instant::ZERO), run.window.steady());
    let average = |packet_nanos: u64, span: Span| {
        if span == Span::ZERO { 0.0 } else { packet_nanos as f64 / span.nanos() as f64 }
    };
    (run.plan.links.iter().zip(run.links))
        .map(|(plan, link)| {
            let (m, whole) = (&link.measure, link.measure.whole());
            let dropped = m.dropped_in_all();
            let waiting = link.waiting_at(run.window.end);
            LinkRow {
                link: plan.name.clone(),
                arrivals: whole.arrivals,
                departures: whole.departures,
                dropped_overflow: m.dropped_overflow,
                dropped_early: m.dropped_early,
                lost: m.lost,
                wire_departed: whole.wire,
                mean_queue_packets: average(m.waited, end),
                mean_queue_steady_packets: average(m.waited_steady, steady),
                max_queue_packets: m.max_queue,
                utilisation: ratio(m.steady.wire, link.capacity(run.window.warmup, run.window.end).get()),
                drop_rate: ratio(dropped, whole.arrivals),
                drop_rate_steady: ratio(m.dropped_steady, m.steady.arrivals),
                // What a managed queue dropped may have waited, too.
                mean_wait_s: match &link.service {
                    Service::Managed(managed) => managed.classes.mean_wait(),
                    Service::Fifo(_) => ratio(m.waited, whole.arrivals.saturating_sub(dropped + waiting)),
                } / 1e9,
            }
        })
        .collect()
}
