//! What a run leaves: rows per flow, per threshold of timeliness, per link, and the series and units that were asked for.
//!
//! Times are in seconds, rates in bits per second of payload, sizes in bytes; a field that does not apply is NaN.

use fairwave_core::quality::delay::DelaySummary;
use fairwave_core::quality::playout::{Fate, SpokenUnit, call_quality, play};
use fairwave_core::quality::{fairness, smoothness, throughput};
use fairwave_core::transport::Sender;
use fairwave_core::units::{Bytes, Instant, Rate, Span};
use fairwave_scenario::plan::FlowPlan;
use serde::Serialize;

use crate::application::{self, PlaybackRow, RecoveryRow};
use crate::classes::{self, ClassRow};
use crate::ends::Receiving;
use crate::link::Service;
use crate::measure::Bins;
use crate::run::Simulation;
use crate::unit_log::UnitLog;
use crate::watched;

/// Everything that a run leaves.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunResult {
    /// One row per flow.
    pub flows: Vec<FlowRow>,
    /// One row per flow group.
    pub groups: Vec<GroupRow>,
    /// One row per flow, threshold and reading of timeliness, for flows whose application makes units.
    pub timeliness: Vec<TimelinessRow>,
    /// One row per flow, reading and share, for flows whose receiver plays back at a constant rate.
    pub playback: Vec<PlaybackRow>,
    /// One row per flow and level, for flows whose recovery was to be measured.
    pub recovery: Vec<RecoveryRow>,
    /// One row per link direction.
    pub links: Vec<LinkRow>,
    /// One row per managed queue and traffic class.
    pub classes: Vec<ClassRow>,
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
    /// Units that the application made and sent.
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
    /// RFC 3550 interarrival jitter: mean of the running estimate over the units received.
    pub jitter_s: f64,
    /// The largest that the estimate became.
    pub jitter_max_s: f64,
    /// E-model rating of a voice flow with its playout buffer.
    pub r_factor: f64,
    /// Mean opinion score from the rating.
    pub mos: f64,
    /// Units of a call that arrived after their playout; units of a video that arrived after their frame was shown, or that
    /// had not left the sender by then.
    pub late_units: u64,
    /// Mean delay mouth to ear of the units that a call's receiver plays.
    pub mouth_to_ear_s: f64,
    /// Units that the transport's adaptation left out (layers above those subscribed): neither sent nor lost.
    pub units_skipped: u64,
    /// The longest that a unit waited in the sender for the rate that the transport allows, those that still wait at the
    /// end included; 0 for transports that hold nothing back, and for TCP, which does not tell.
    pub sender_wait_max_s: f64,
    /// Payload that still waited there at the end; likewise.
    pub sender_backlog: u64,
    /// Frames of a video that were to be shown by the end.
    pub frames: u64,
    /// Share of them of which at least the base layer could be decoded; NaN for what is not video.
    pub decodable_ratio: f64,
    /// Layers in which they could be decoded, mean; NaN for what is not video.
    pub decodable_layers: f64,
    /// Packets dropped by queues that a judging receiver took for congestion.
    pub congestion_as_congestion: u64,
    /// Packets dropped by queues that it took for random loss.
    pub congestion_as_random: u64,
    /// Packets lost by links that it took for congestion.
    pub random_as_congestion: u64,
    /// Packets lost by links that it took for random loss.
    pub random_as_random: u64,
}

/// The flows of one group together.
#[derive(Clone, Debug, Serialize)]
pub struct GroupRow {
    /// Name of the group.
    pub group: String,
    /// How many flows it has.
    pub flows: u64,
    /// How they were sent.
    pub transport: String,
    /// Sum of the flows' goodputs over their lives.
    pub goodput_bps: f64,
    /// Sum of the flows' goodputs after the warm-up.
    pub goodput_steady_bps: f64,
    /// Jain's index of the flows' goodputs over their lives.
    pub jain: f64,
    /// Jain's index of the flows' goodputs after the warm-up.
    pub jain_steady: f64,
    /// Smallest over largest goodput after the warm-up.
    pub worst_case_fairness: f64,
    /// Mean of Jain's index per bin after the warm-up; NaN without bins.
    pub short_term_fairness: f64,
    /// Mean of the flows' coefficients of variation over the bins after the warm-up; NaN without bins.
    pub cov: f64,
    /// Share of the bytes sent (on the wire, data direction) that are not payload delivered.
    pub overhead: f64,
    /// Data packets dropped by queues over those sent.
    pub dropped_share: f64,
    /// Data packets lost by links over those sent.
    pub lost_share: f64,
    /// Units that the applications made.
    pub units_sent: u64,
    /// Units complete at the receivers.
    pub units_received: u64,
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
    /// What it is: `goodput_bps`, `allotted_goodput_bps`, `allotted_fairness`, `queue_packets`, `window`,
    /// `ssthresh`, `srtt_s`, `estimate`, `rate_bps`, `layers`, `receive_bps`, `bound_bps`.
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
    /// `played`, `late` (after its playout) or `lost` in a call; `arrived`, `lost`, or `skipped` by a transport's
    /// adaptation otherwise.
    pub fate: &'static str,
    /// When a call's receiver plays it; NaN if it does not.
    pub played_s: f64,
}

/// The sums of a series that was asked for, or nothing.
fn binned(bins: &Option<Box<Bins>>) -> &[u64] {
    bins.as_ref().map_or(&[], |bins| &bins.sums)
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

pub(crate) fn collect(simulation: &Simulation) -> RunResult {
    let mut result = RunResult {
        links: links(simulation),
        classes: (simulation.plan.links.iter().zip(&simulation.network.links))
            .flat_map(|(plan, link)| classes::rows(&plan.name, link))
            .collect(),
        packet_hops: simulation.network.links.iter().map(|link| link.measure.whole().departures).sum(),
        events: simulation.events_handled,
        ..RunResult::default()
    };
    let mut index_in_group = vec![0; simulation.plan.groups.len()];
    for (flow, receiving) in simulation.receiving.iter().enumerate() {
        let group = simulation.plan.flows[flow].group;
        result.flows.push(flow_row(simulation, flow, index_in_group[group], receiving));
        if let Some(log) = &receiving.units {
            result.timeliness.extend(log.timeliness.results().map(|timely| TimelinessRow {
                group: simulation.plan.groups[group].clone(),
                flow: index_in_group[group],
                threshold_s: timely.threshold.seconds(),
                reading: timely.reading.name(),
                delayed: timely.delayed,
                timely: timely.timely,
            }));
        }
        result.playback.extend(application::playback(simulation, flow, index_in_group[group]));
        result.recovery.extend(application::recovery(simulation, flow, index_in_group[group]));
        index_in_group[group] += 1;
    }
    result.groups = groups(simulation, &result.flows);
    series(simulation, &mut result.series);
    for &flow in &simulation.plan.record.units {
        let Some(log) = &simulation.receiving[flow].units else { continue };
        result.units.extend(unit_rows(&simulation.plan.flows[flow], log));
    }
    result
}

fn groups(simulation: &Simulation, flows: &[FlowRow]) -> Vec<GroupRow> {
    let rate = |bps: f64| Rate::from_bits_per_second(bps as u64);
    (simulation.plan.groups.iter().enumerate())
        .map(|(index, name)| {
            let members: Vec<usize> =
                (0..flows.len()).filter(|&flow| simulation.plan.flows[flow].group == index).collect();
            let whole: Vec<Rate> = members.iter().map(|&flow| rate(flows[flow].goodput_bps)).collect();
            let steady: Vec<Rate> = members.iter().map(|&flow| rate(flows[flow].goodput_steady_bps)).collect();
            let sum = |count: &dyn Fn(&FlowRow) -> u64| members.iter().map(|&flow| count(&flows[flow])).sum::<u64>();
            let bins: Vec<Vec<Rate>> = members.iter().map(|&flow| steady_bins(simulation, flow)).collect();
            let per_bin: Vec<Vec<Rate>> = (0..bins.first().map_or(0, Vec::len))
                .map(|bin| bins.iter().filter_map(|flow| flow.get(bin).copied()).collect())
                .collect();
            GroupRow {
                group: name.clone(),
                flows: members.len() as u64,
                transport: members.first().map_or_else(String::new, |&flow| flows[flow].transport.clone()),
                goodput_bps: members.iter().map(|&flow| flows[flow].goodput_bps).sum(),
                goodput_steady_bps: members.iter().map(|&flow| flows[flow].goodput_steady_bps).sum(),
                jain: fairness::jain(&whole),
                jain_steady: fairness::jain(&steady),
                worst_case_fairness: fairness::worst_case(&steady),
                short_term_fairness: fairness::short_term(per_bin.iter().map(Vec::as_slice)),
                cov: smoothness::system_coefficient_of_variation(bins.iter().map(Vec::as_slice)),
                overhead: throughput::overhead(
                    Bytes::new(sum(&|row| row.wire_sent)),
                    Bytes::new(sum(&|row| row.payload_received)),
                ),
                dropped_share: ratio(sum(&|row| row.dropped), sum(&|row| row.packets_sent)),
                lost_share: ratio(sum(&|row| row.lost), sum(&|row| row.packets_sent)),
                units_sent: sum(&|row| row.units_sent),
                units_received: sum(&|row| row.units_received),
            }
        })
        .collect()
}

/// A flow's goodput in the whole bins of the steady part; empty without bins.
fn steady_bins(simulation: &Simulation, flow: usize) -> Vec<Rate> {
    bins(simulation, flow, simulation.window.warmup, simulation.window.end)
}

/// A flow's goodput in the whole bins between two times; empty without bins.
pub(crate) fn bins(simulation: &Simulation, flow: usize, from: Instant, to: Instant) -> Vec<Rate> {
    let bin = simulation.plan.record.bin;
    let payload: Vec<Bytes> =
        binned(&simulation.receiving[flow].measure.payload_in_bin).iter().map(|&bytes| Bytes::new(bytes)).collect();
    smoothness::rates(&payload, bin, bin, from.since(Instant::ZERO), to.since(Instant::ZERO))
}

fn flow_row(simulation: &Simulation, flow: usize, index: u32, receiving: &Receiving) -> FlowRow {
    let plan = &simulation.plan.flows[flow];
    let measure = &receiving.measure;
    let (window, view) = (simulation.window, simulation.sending[flow].sender.view());
    let start = plan.start.min(window.end);
    let stop = plan.stop.min(window.end);
    let steady = stop.since(start.max(window.warmup));
    let per = |payload: u64, span: Span| Bytes::new(payload).per(span).bits_per_second() as f64;
    let judgements = receiving.judge.as_ref().map_or_else(Default::default, |judge| judge.judgements);
    let mut row = FlowRow {
        group: simulation.plan.groups[plan.group].clone(),
        flow: index,
        transport: plan.transport.label(),
        start_s: start.seconds(),
        stop_s: stop.seconds(),
        units_sent: 0,
        units_received: 0,
        units_lost: 0,
        payload_received: measure.payload(),
        goodput_bps: per(measure.payload(), stop.since(start)),
        goodput_steady_bps: per(measure.payload_steady, steady),
        packets_sent: simulation.sending[flow].packets_sent,
        packets_retransmitted: view.retransmitted,
        wire_sent: simulation.sending[flow].wire_sent,
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
        jitter_max_s: f64::NAN,
        r_factor: f64::NAN,
        mos: f64::NAN,
        late_units: 0,
        mouth_to_ear_s: f64::NAN,
        units_skipped: 0,
        sender_wait_max_s: view.backlog.longest_by(window.end).seconds(),
        sender_backlog: view.backlog.payload.get(),
        frames: 0,
        decodable_ratio: f64::NAN,
        decodable_layers: f64::NAN,
        congestion_as_congestion: judgements.congestion_as_congestion,
        congestion_as_random: judgements.congestion_as_random,
        random_as_congestion: judgements.random_as_congestion,
        random_as_random: judgements.random_as_random,
    };
    if let Some(log) = &receiving.units {
        describe_units(&mut row, log);
        rate_call(&mut row, log, plan);
        if let Some(frames) = plan.traffic.frames() {
            let watched = watched::decodability(log, &frames, simulation.window.end);
            row.frames = watched.frames;
            row.decodable_ratio = watched.ratio();
            row.decodable_layers = watched.mean_layers();
            row.late_units = watched::late(log, &frames, simulation.window.end, view.backlog.units);
        }
    }
    row
}

fn describe_units(row: &mut FlowRow, log: &UnitLog) {
    row.units_sent = log.units.len() as u64 - log.skipped;
    row.units_skipped = log.skipped;
    row.units_received = log.received;
    row.units_lost = row.units_sent - row.units_received;
    row.jitter_s = log.jitter.mean().seconds();
    row.jitter_max_s = log.jitter.largest().seconds();
    let received = log.units.iter().filter(|unit| unit.arrived != Instant::NEVER);
    if let Some(delays) = DelaySummary::of_units(received.map(|unit| (unit.created, unit.arrived))) {
        row.delay_mean_s = delays.mean.seconds();
        row.delay_p50_s = delays.p50.seconds();
        row.delay_p95_s = delays.p95.seconds();
        row.delay_p99_s = delays.p99.seconds();
        row.delay_max_s = delays.max.seconds();
    }
}

fn spoken(log: &UnitLog) -> Vec<SpokenUnit> {
    log.units.iter().map(|unit| SpokenUnit { created: unit.created, arrived: unit.arrived }).collect()
}

fn rate_call(row: &mut FlowRow, log: &UnitLog, plan: &FlowPlan) {
    let Some((codec, packet_time)) = plan.traffic.call() else { return };
    if let Some(quality) = call_quality(&spoken(log), codec, packet_time, plan.concealment, &plan.playout) {
        row.r_factor = quality.rating.r;
        row.mos = quality.mos;
        row.late_units = quality.late;
        row.mouth_to_ear_s = quality.delay.seconds();
    }
}

/// The units of a recorded flow; a call's with what the receiver's playout made of them.
fn unit_rows<'a>(plan: &'a FlowPlan, log: &'a UnitLog) -> impl Iterator<Item = UnitRow> + 'a {
    let fates = plan.traffic.call().map(|(_, packet_time)| play(&spoken(log), packet_time, &plan.playout));
    log.units.iter().enumerate().map(move |(index, unit)| {
        let (fate, played) = match fates.as_ref().and_then(|fates| fates.get(index)) {
            _ if unit.skipped => ("skipped", f64::NAN),
            Some(Fate::Played(at)) => ("played", at.seconds()),
            Some(Fate::Late(_)) => ("late", f64::NAN),
            Some(Fate::Lost) => ("lost", f64::NAN),
            None if unit.arrived == Instant::NEVER => ("lost", f64::NAN),
            None => ("arrived", f64::NAN),
        };
        UnitRow {
            flow: plan.name.clone(),
            unit: index as u32,
            created_s: unit.created.seconds(),
            arrived_s: if unit.arrived == Instant::NEVER { f64::NAN } else { unit.arrived.seconds() },
            payload: unit.payload,
            fate,
            played_s: played,
        }
    })
}

fn links(simulation: &Simulation) -> Vec<LinkRow> {
    let (end, steady) = (simulation.window.end.since(Instant::ZERO), simulation.window.steady());
    let average = |packet_nanos: u64, span: Span| {
        if span == Span::ZERO { 0.0 } else { packet_nanos as f64 / span.nanos() as f64 }
    };
    (simulation.plan.links.iter().zip(&simulation.network.links))
        .map(|(plan, link)| {
            let (m, whole) = (&link.measure, link.measure.whole());
            let dropped = m.dropped_in_all();
            let waiting = link.waiting_at(simulation.window.end);
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
                utilisation: ratio(m.steady.wire, plan.rate.bytes_in(steady).get()),
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

fn series(simulation: &Simulation, rows: &mut Vec<SeriesRow>) {
    let record = &simulation.plan.record;
    if record.bin > Span::ZERO {
        let bin = record.bin.seconds();
        let whole_bins = (simulation.window.end.nanos() / record.bin.nanos()) as usize;
        for &link in &record.queues {
            let waited = binned(&simulation.network.links[link].measure.waited_in_bin);
            rows.extend(waited.iter().take(whole_bins).enumerate().map(|(i, nanos)| SeriesRow {
                kind: "queue_packets",
                name: simulation.plan.links[link].name.clone(),
                time_s: bin * (i + 1) as f64,
                value: *nanos as f64 / record.bin.nanos() as f64,
            }));
        }
        for &flow in &record.goodput {
            let (plan, receiving) = (&simulation.plan.flows[flow], &simulation.receiving[flow]);
            rows.extend(binned(&receiving.measure.payload_in_bin).iter().take(whole_bins).enumerate().map(
                |(i, bytes)| SeriesRow {
                    kind: "goodput_bps",
                    name: plan.name.clone(),
                    time_s: bin * (i + 1) as f64,
                    value: *bytes as f64 * 8.0 / bin,
                },
            ));
        }
    }
    application::allotted(simulation, rows);
    for sample in &simulation.samples {
        let view = &sample.view;
        let values = [
            ("window", view.window),
            ("ssthresh", view.slow_start_threshold),
            ("srtt_s", view.smoothed_rtt),
            ("rate_bps", view.rate),
            ("estimate", view.estimate),
            ("layers", view.layers),
            ("receive_bps", sample.receiver.receive_rate),
            ("bound_bps", sample.receiver.bound),
        ];
        rows.extend(values.into_iter().filter(|(_, value)| value.is_finite()).map(|(kind, value)| SeriesRow {
            kind,
            name: simulation.plan.flows[sample.flow].name.clone(),
            time_s: sample.at.seconds(),
            value,
        }));
    }
}
