//! Requested series: queues and goodput per bin, senders over time.

use fairwave_core::transport::Estimate;
use fairwave_core::units::{Instant, Span};

use super::application;
use super::recorded::RunRecord;
use crate::result::SeriesRow;

/// Appends every series.
pub(crate) fn append(run: &RunRecord<'_>, rows: &mut Vec<SeriesRow>) {
    let record = &run.plan.record;
    if record.bin > Span::ZERO {
        let bin = record.bin.seconds();
        let whole_bins = (run.window.end.nanos() / record.bin.nanos()) as usize;
        for &link in &record.queues {
            let waited = run.links[link].measure.waited_in_bin();
            rows.extend(waited.iter().take(whole_bins).enumerate().map(|(i, nanos)| SeriesRow {
                kind: "queue_packets",
                name: run.plan.links[link].name.to_string(),
                time_s: bin * (i + 1) as f64,
                value: *nanos as f64 / record.bin.nanos() as f64,
            }));
        }
        // The link's capacity, for comparison with the rate controller's estimate.
        if run.plan.flows.iter().any(|flow| flow.traffic.media().is_some()) {
            for &link in &record.queues {
                let at = |bins: usize| Instant::ZERO + record.bin * bins as u64;
                rows.extend((0..whole_bins).map(|i| SeriesRow {
                    kind: "capacity_bps",
                    name: run.plan.links[link].name.to_string(),
                    time_s: bin * (i + 1) as f64,
                    value: run.links[link].capacity(at(i), at(i + 1)).get() as f64 * 8.0 / bin,
                }));
            }
        }
        for &flow in &record.goodput {
            let name = &run.plan.flows[flow].name;
            rows.extend(run.payload_in_bin(flow).iter().take(whole_bins).enumerate().map(|(i, bytes)| SeriesRow {
                kind: "goodput_bps",
                name: name.clone(),
                time_s: bin * (i + 1) as f64,
                value: *bytes as f64 * 8.0 / bin,
            }));
        }
    }
    application::allotted(run, rows);
    for sample in run.samples {
        let view = &sample.view;
        let values = [
            ("window", view.window),
            ("ssthresh", view.slow_start_threshold),
            ("srtt_s", view.smoothed_rtt),
            ("rate_bps", view.rate),
            ("estimate", view.estimate.map(Estimate::value)),
            ("layers", view.layers.map(f64::from)),
            ("receive_bps", sample.receiver.receive_rate),
            ("bound_bps", sample.receiver.bound),
        ];
        rows.extend(values.into_iter().filter_map(|(kind, value)| {
            Some(SeriesRow {
                kind,
                name: run.plan.flows[sample.flow].name.clone(),
                time_s: sample.at.seconds(),
                value: value.filter(|value| value.is_finite())?,
            })
        }));
    }
}
