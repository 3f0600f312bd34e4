//! What a run leaves: rows per flow, per threshold of timeliness, per link, and the series and units that were asked for.
//!
//! Times are in seconds, rates in bits per second of payload, sizes in bytes; a field that does not apply is NaN.

use fairwave_core::transport::Sender;
use fairwave_core::units::{Bytes, Instant, Span};
use serde::Serialize;

use crate::run::{Receiving, Simulation};
use crate::unit_log::UnitLog;

/// Everything that a run leaves.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunResult {
    /// One row per flow.
    pub flows: Vec<FlowRow>,
    /// One row per flow, threshold and reading of timeliness, for flows whose application makes units.
    pub timeliness: Vec<TimelinessRow>,
    /// One row per link direction.
    pub links: Vec<LinkRow>,
    /// Series, if asked for.
    pub series: Vec<SeriesRow>,
    /// Units of recorded flows.
    pub units: Vec<UnitRow>,
    /// Packets that left a link direction: the simulator's unit of work.
    pub packet_hops: u64,
    /// Events that the simulator handled.
    pub events: u64,
}

/// One flow.
#[derive(Clone, Debug, Serialize)]
pub struct FlowRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// How it was sent.
    pub transport: String,
    /// When it began.
    pub start_s: f64,
    /// When it ended: its stop, or the end of the run.
    pub stop_s: f64,
    /// Units that the application made.
    pub units_sent: u64,
    /// Units complete at the receiver.
    pub units_received: u64,
    /// Units made and not received by the end, whatever the reason.
    pub units_lost: u64,
    /// Payload delivered to the application, each byte once.
    pub payload_received: u64,
    /// Payload over the flow's life.
    pub goodput_bps: f64,
    /// Payload after the warm-up over that span.
    pub goodput_steady_bps: f64,
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets sent again.
    pub packets_retransmitted: u64,
    /// Bytes on the wire of the data packets sent.
    pub wire_sent: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Window reductions on loss without a timeout.
    pub fast_retransmits: u64,
    /// Data packets dropped by queues.
    pub dropped: u64,
    /// Data packets lost by links.
    pub lost: u64,
    /// One-way delay of received units, application to application: mean.
    pub delay_mean_s: f64,
    /// Median.
    pub delay_p50_s: f64,
    /// 95th percentile.
    pub delay_p95_s: f64,
    /// 99th percentile.
    pub delay_p99_s: f64,
    /// Largest.
    pub delay_max_s: f64,
    /// RFC 3550 interarrival jitter after the last unit.
    pub jitter_s: f64,
    /// E-model rating of a voice flow with its playout buffer.
    pub r_factor: f64,
    /// Mean opinion score from the rating.
    pub mos: f64,
    /// Units that arrived after their playout.
    pub late_units: u64,
}

/// Timeliness of one flow by one reading.
#[derive(Clone, Debug, Serialize)]
pub struct TimelinessRow {
    /// Name of the group.
    pub group: String,
    /// Index within the group.
    pub flow: u32,
    /// The threshold.
    pub threshold_s: f64,
    /// `gap`, `excess-gap` or `delay`.
    pub reading: &'static str,
    /// Units received too late by this reading.
    pub delayed: u64,
    /// Units received in time.
    pub timely: u64,
}

/// One direction of a link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkRow {
    /// `from>to`.
    pub link: String,
    /// Packets that arrived at the queue.
    pub arrivals: u64,
    /// Packets that left the transmitter.
    pub departures: u64,
    /// Dropped for want of room.
    pub dropped_overflow: u64,
    /// Dropped by the discipline.
    pub dropped_early: u64,
    /// Transmitted and lost on the wire.
    pub lost: u64,
    /// Bytes on the wire that left the transmitter.
    pub wire_departed: u64,
    /// Time average of the packets that wait, the one in transmission not counted.
    pub mean_queue_packets: f64,
    /// The same after the warm-up.
    pub mean_queue_steady_packets: f64,
    /// Most that waited.
    pub max_queue_packets: u32,
    /// Bits that left after the warm-up over what the link could have carried.
    pub utilisation: f64,
    /// Dropped over arrived.
    pub drop_rate: f64,
    /// The same after the warm-up.
    pub drop_rate_steady: f64,
    /// Mean wait of the packets whose transmission began.
    pub mean_wait_s: f64,
}

/// One point of a series.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesRow {
    /// What it is: `goodput_bps`, `queue_packets`, `window`, `ssthresh`, `srtt_s`, `estimate`, `rate_bps`.
    pub kind: &'static str,
    /// Flow or link.
    pub name: String,
    /// End of the bin, or time of the sample.
    pub time_s: f64,
    /// The value.
    pub value: f64,
}

/// One unit of a recorded flow.
#[derive(Clone, Debug, Serialize)]
pub struct UnitRow {
    /// The flow.
    pub flow: String,
    /// Number of the unit.
    pub unit: u32,
    /// When the application made it.
    pub created_s: f64,
    /// When it was complete at the receiver; NaN if it was not.
    pub arrived_s: f64,
    /// Payload bytes.
    pub payload: u32,
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

pub(crate) fn collect(simulation: &Simulation) -> RunResult {
    let mut result = RunResult {
        links: links(simulation),
        packet_hops: simulation.network.links.iter().map(|link| link.measure.departures).sum(),
        events: simulation.events_handled,
        ..RunResult::default()
    };
    let mut index_in_group = vec![0; simulation.plan.groups.len()];
    for (flow, receiving) in simulation.receiving.iter().enumerate() {
        let group = simulation.plan.flows[flow].group;
        result.flows.push(flow_row(simulation, flow, index_in_group[group], receiving));
        index_in_group[group] += 1;
    }
    series(simulation, &mut result.series);
    for &flow in &simulation.plan.record.units {
        let Some(log) = &simulation.receiving[flow].units else { continue };
        let name = &simulation.plan.flows[flow].name;
        result.units.extend(log.units.iter().enumerate().map(|(unit, logged)| UnitRow {
            flow: name.clone(),
            unit: unit as u32,
            created_s: logged.created.seconds(),
            arrived_s: if logged.arrived == Instant::NEVER { f64::NAN } else { logged.arrived.seconds() },
            payload: logged.payload,
        }));
    }
    result
}

fn flow_row(simulation: &Simulation, flow: usize, index: u32, receiving: &Receiving) -> FlowRow {
    let plan = &simulation.plan.flows[flow];
    let measure = &receiving.measure;
    let (window, view) = (simulation.window, simulation.sending[flow].sender.view());
    let start = plan.start.min(window.end);
    let stop = plan.stop.min(window.end);
    let steady = stop.since(start.max(window.warmup));
    let per = |payload: u64, span: Span| Bytes::new(payload).per(span).bits_per_second() as f64;
    let mut row = FlowRow {
        group: simulation.plan.groups[plan.group].clone(),
        flow: index,
        transport: plan.transport.label(),
        start_s: start.seconds(),
        stop_s: stop.seconds(),
        units_sent: 0,
        units_received: 0,
        units_lost: 0,
        payload_received: measure.payload,
        goodput_bps: per(measure.payload, stop.since(start)),
        goodput_steady_bps: per(measure.payload_steady, steady),
        packets_sent: measure.packets_sent,
        packets_retransmitted: view.retransmitted,
        wire_sent: measure.wire_sent,
        timeouts: view.timeouts,
        fast_retransmits: view.fast_retransmits,
        dropped: measure.dropped,
        lost: measure.lost,
        delay_mean_s: f64::NAN,
        delay_p50_s: f64::NAN,
        delay_p95_s: f64::NAN,
        delay_p99_s: f64::NAN,
        delay_max_s: f64::NAN,
        jitter_s: f64::NAN,
        r_factor: f64::NAN,
        mos: f64::NAN,
        late_units: 0,
    };
    if let Some(log) = &receiving.units {
        describe_units(&mut row, log);
    }
    row
}

fn describe_units(row: &mut FlowRow, log: &UnitLog) {
    row.units_sent = log.units.len() as u64;
    row.units_received = log.received;
    row.units_lost = row.units_sent - row.units_received;
}

fn links(simulation: &Simulation) -> Vec<LinkRow> {
    let (end, steady) = (simulation.window.end.since(Instant::ZERO), simulation.window.steady());
    let average = |packet_nanos: u64, span: Span| {
        if span == Span::ZERO { 0.0 } else { packet_nanos as f64 / span.nanos() as f64 }
    };
    (simulation.plan.links.iter().zip(&simulation.network.links))
        .map(|(plan, link)| {
            let m = &link.measure;
            let dropped = m.dropped_overflow + m.dropped_early;
            LinkRow {
                link: plan.name.clone(),
                arrivals: m.arrivals,
                departures: m.departures,
                dropped_overflow: m.dropped_overflow,
                dropped_early: m.dropped_early,
                lost: m.lost,
                wire_departed: m.wire_departed,
                mean_queue_packets: average(m.waited, end),
                mean_queue_steady_packets: average(m.waited_steady, steady),
                max_queue_packets: m.max_queue,
                utilisation: ratio(m.wire_departed_steady, plan.rate.bytes_in(steady).get()),
                drop_rate: ratio(dropped, m.arrivals),
                drop_rate_steady: ratio(m.dropped_steady, m.arrivals_steady),
                mean_wait_s: ratio(m.waited, m.started) / 1e9,
            }
        })
        .collect()
}

fn series(simulation: &Simulation, rows: &mut Vec<SeriesRow>) {
    let record = &simulation.plan.record;
    if record.bin > Span::ZERO {
        let bin = record.bin.seconds();
        let whole_bins = (simulation.window.end.nanos() / record.bin.nanos()) as usize;
        for &link in &record.queues {
            let waited = &simulation.network.links[link].measure.waited_in_bin;
            rows.extend(waited.iter().take(whole_bins).enumerate().map(|(i, nanos)| SeriesRow {
                kind: "queue_packets",
                name: simulation.plan.links[link].name.clone(),
                time_s: bin * (i + 1) as f64,
                value: *nanos as f64 / record.bin.nanos() as f64,
            }));
        }
        for (plan, receiving) in simulation.plan.flows.iter().zip(&simulation.receiving) {
            rows.extend(receiving.measure.payload_in_bin.iter().take(whole_bins).enumerate().map(|(i, bytes)| {
                SeriesRow {
                    kind: "goodput_bps",
                    name: plan.name.clone(),
                    time_s: bin * (i + 1) as f64,
                    value: f64::from(*bytes) * 8.0 / bin,
                }
            }));
        }
    }
    for sample in &simulation.samples {
        let view = &sample.view;
        let values = [
            ("window", view.window),
            ("ssthresh", view.slow_start_threshold),
            ("srtt_s", view.smoothed_rtt),
            ("rate_bps", view.rate),
            ("estimate", view.estimate),
        ];
        rows.extend(values.into_iter().filter(|(_, value)| value.is_finite()).map(|(kind, value)| SeriesRow {
            kind,
            name: simulation.plan.flows[sample.flow].name.clone(),
            time_s: sample.at.seconds(),
            value,
        }));
    }
}
