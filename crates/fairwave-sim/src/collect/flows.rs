//! Flow rows: sent packets, fates of units, and the quality of a call or video.

use std::sync::Arc;

use fairwave_core::quality::delay::DelaySummary;
use fairwave_core::quality::playout::{CallScore, call_quality};
use fairwave_core::transport::{Properties as _, Sender, TransportConfig};
use fairwave_core::units::{Bytes, Instant, Span};
use fairwave_scenario::plan::FlowPlan;

use super::due::{Carriage, Deadline, Elsewhere, Outcome, Tally, UnitsDue};
use super::recorded::RunRecord;
use super::units::{judged, place_of};
use crate::decodability;
use crate::ends::ReceivingEnd;
use crate::result::{FateRow, FlowRow};
use crate::unit_log::UnitLog;

/// Names in the rows of flows. Equal names share memory: with many flows, they are a large part of it.
pub(crate) struct Names<'r> {
    groups: Vec<Arc<str>>,
    /// Label of the latest transport configuration.
    transport: Option<(&'r Arc<TransportConfig>, Arc<str>)>,
}

impl<'r> Names<'r> {
    /// Creates the names of a run.
    pub fn new(run: &RunRecord<'r>) -> Self {
        Names { groups: run.plan.groups.iter().map(|name| name.as_str().into()).collect(), transport: None }
    }

    /// Returns the group's name and the transport's label.
    fn next(&mut self, plan: &'r FlowPlan) -> (Arc<str>, Arc<str>) {
        let transport = match &self.transport {
            Some((config, label)) if Arc::ptr_eq(config, &plan.transport) => label,
            _ => &self.transport.insert((&plan.transport, plan.transport.label().into())).1,
        };
        (self.groups[plan.group].clone(), transport.clone())
    }
}

/// Returns the row of a flow, the `index`-th of its group, and its fate rows.
pub(crate) fn rows<'r>(
    run: &RunRecord<'r>,
    flow: usize,
    index: u32,
    receiving: &ReceivingEnd,
    names: &mut Names<'r>,
) -> (FlowRow, Vec<FateRow>) {
    let plan = &run.plan.flows[flow];
    let measure = &receiving.measure;
    let (window, view) = (run.window, run.sending[flow].sender.view());
    let before = run.before.get(flow).copied().unwrap_or_default();
    let start = plan.start.min(window.end);
    let stop = plan.stop.min(run.ended(flow)).min(window.end);
    let on = run.length_on(flow);
    let [limited_receiver_s, limited_congestion_s, limited_application_s] =
        before.limited_since(&view, window.end.min(run.ended(flow))).map_or([None; 3], |times| times.map(Some));
    let judgements =
        receiving.judge.as_ref().map_or_else(Default::default, |judge| judge.judgements.count_since(before.judgements));
    let (group, transport) = names.next(plan);
    let mut row = FlowRow {
        group,
        flow: index,
        transport,
        start_s: start.seconds(),
        stop_s: stop.seconds(),
        measured_s: on.seconds(),
        units_sent: 0,
        units_received: 0,
        units_lost: 0,
        units_waiting: 0,
        units_in_flight: 0,
        payload_received: measure.payload,
        goodput_bps: rate(measure.payload_while_on(), on),
        packets_sent: run.sending[flow].packets_sent - before.packets_sent,
        packets_retransmitted: view.retransmitted - before.retransmitted,
        wire_sent: run.sending[flow].wire_sent - before.wire_sent,
        timeouts: view.timeouts - before.timeouts,
        fast_retransmits: view.fast_retransmits - before.fast_retransmits,
        limited_receiver_s,
        limited_congestion_s,
        limited_application_s,
        dropped: measure.dropped.into(),
        lost: measure.lost.into(),
        delay_mean_s: None,
        delay_p50_s: None,
        delay_p95_s: None,
        delay_p99_s: None,
        delay_max_s: None,
        jitter_s: None,
        jitter_max_s: None,
        r_factor: None,
        mos: None,
        quality_note: String::new(),
        late_units: 0,
        mouth_to_ear_s: None,
        missed_ratio: None,
        longest_gap_s: None,
        gaps: None,
        silence_s: None,
        r_cost_codec: None,
        r_cost_delay: None,
        r_cost_loss: None,
        r_cost_lateness: None,
        units_skipped: 0,
        sender_wait_max_s: None,
        sender_backlog: None,
        frames: 0,
        decodable_ratio: None,
        decodable_layers: None,
        congestion_as_congestion: judgements.congestion_as_congestion,
        congestion_as_random: judgements.congestion_as_random,
        random_as_congestion: judgements.random_as_congestion,
        random_as_random: judgements.random_as_random,
        marked: measure.marked.into(),
    };
    let mut rows = Vec::new();
    if let Some(log) = &receiving.units {
        let due = due(run, flow, log);
        let tally = due.tally(log);
        describe_units(&mut row, log, &due, &tally);
        rate_call(&mut row, log, &due, plan);
        if let Some(backlog) = view.backlog {
            row.sender_wait_max_s = Some(backlog.longest_by(window.end).seconds());
            row.sender_backlog = Some(backlog.payload.get() as f64);
        }
        if let Some(frames) = plan.traffic.frames() {
            let watched = decodability::decodability(log, &frames, window.end);
            row.frames = watched.frames;
            row.decodable_ratio = watched.ratio();
            row.decodable_layers = watched.mean_layers();
            row.late_units = decodability::count_late(log, &frames) + row.units_waiting;
        }
        rows = fates(run, flow, &row, &tally);
    }
    (row, rows)
}

/// Returns the fate rows of the flow with row `row`: each fate with its place, in the order of [`FATES`].
fn fates(run: &RunRecord<'_>, flow: usize, row: &FlowRow, tally: &Tally) -> Vec<FateRow> {
    let plan = &run.plan.flows[flow];
    // Some of the arrived units were too late to be useful.
    let late = match plan.traffic.call() {
        Some(_) => row.late_units - row.units_waiting,
        None if plan.traffic.frames().is_some() => row.late_units - row.units_waiting,
        None => 0,
    };
    let used = if plan.traffic.call().is_some() { "played" } else { "arrived" };
    let arrived = [(used, Arc::default(), tally.received - late), ("late", Arc::default(), late)];
    let missing = tally.missing.iter().map(|&(fate, units)| (fate.name(), place_of(fate, &run.plan.links), units));
    let mut rows: Vec<FateRow> = (arrived.into_iter().chain(missing))
        .filter(|(_, _, units)| *units > 0)
        .map(|(fate, place, units)| FateRow { group: row.group.clone(), flow: row.flow, fate, place, units })
        .collect();
    rows.sort_by_key(|row| FATES.iter().position(|name| *name == row.fate));
    rows.dedup_by(|later, row| {
        let is_same = later.fate == row.fate && later.place == row.place;
        row.units += if is_same { later.units } else { 0 };
        is_same
    });
    rows
}

/// Fates in the order of the table.
const FATES: [&str; 7] = ["played", "arrived", "late", "dropped", "lost", "waiting", "on-the-way"];

/// Payload divided by a span, in bits per second; `None` for an empty span.
pub(crate) fn rate(payload: u64, span: Span) -> Option<f64> {
    (span > Span::ZERO).then(|| Bytes::new(payload).rate_over(span).bits_per_second() as f64)
}

/// Returns the rules for the fates of a flow's units at the end of the run.
pub(crate) fn due(run: &RunRecord<'_>, flow: usize, log: &UnitLog) -> UnitsDue {
    let (plan, end) = (&run.plan.flows[flow], run.window.end);
    let deadline = match plan.traffic.frames() {
        _ if plan.traffic.transfers() => Deadline::Never,
        Some(frames) => Deadline::from_patience(frames.playout_delay, end),
        None => Deadline::from_units(log, plan.thresholds.last().copied().unwrap_or_default(), end),
    };
    let backlog = run.sending[flow].sender.view().backlog.and_then(|backlog| backlog.since);
    let elsewhere = if run.is_live || log.has_unnamed_losses {
        Elsewhere::Hidden
    } else if plan.transport.controls_rate() && plan.traffic.media().is_none() {
        Elsewhere::Sender
    } else {
        Elsewhere::Receiver
    };
    let carriage = Carriage {
        delivers_all: plan.transport.delivers_all(),
        repairs: plan.transport.repairs_losses(),
        held: backlog.unwrap_or(Instant::NEVER),
        elsewhere,
    };
    UnitsDue { from: log.from, deadline, carriage }
}

fn describe_units(row: &mut FlowRow, log: &UnitLog, due: &UnitsDue, tally: &Tally) {
    row.units_received = tally.received;
    row.units_lost = tally.lost;
    row.units_waiting = tally.overdue;
    row.units_sent = row.units_received + row.units_lost + row.units_waiting;
    row.units_skipped = tally.skipped;
    row.units_in_flight = tally.in_flight;
    // Undefined for several streams together: the table `media` has the jitter of each stream.
    if log.is_one_stream {
        row.jitter_s = Some(log.jitter.mean().seconds());
        row.jitter_max_s = Some(log.jitter.largest().seconds());
    }
    let received = due.judged(log).filter(|(_, outcome)| *outcome == Outcome::Received);
    if let Some(delays) = DelaySummary::from_units(received.map(|(unit, _)| (unit.created, unit.arrived))) {
        row.delay_mean_s = Some(delays.mean.seconds());
        row.delay_p50_s = Some(delays.p50.seconds());
        row.delay_p95_s = Some(delays.p95.seconds());
        row.delay_p99_s = Some(delays.p99.seconds());
        row.delay_max_s = Some(delays.max.seconds());
    }
}

fn rate_call(row: &mut FlowRow, log: &UnitLog, due: &UnitsDue, plan: &FlowPlan) {
    let Some((codec, packet_time)) = plan.traffic.call() else { return };
    let waiting = row.units_waiting;
    match call_quality(&judged(log, due), waiting, codec, packet_time, plan.reception, &plan.playout) {
        Ok(quality) => {
            row.late_units = quality.late;
            row.mouth_to_ear_s = quality.delay.map(Span::seconds);
            row.missed_ratio = Some(quality.missed);
            row.longest_gap_s = Some(quality.gaps.longest().seconds());
            row.gaps = Some(quality.gaps.interruptions() as f64);
            row.silence_s = Some(quality.gaps.silence().seconds());
            match quality.score {
                Ok(score) => rate_by_emodel(row, &score),
                Err(reason) => row.quality_note = reason.to_string(),
            }
        }
        Err(reason) => row.quality_note = reason.to_string(),
    }
}

fn rate_by_emodel(row: &mut FlowRow, score: &CallScore) {
    row.r_factor = Some(score.rating.r);
    row.mos = Some(score.mos);
    row.quality_note = score.caveats.to_string();
    row.r_cost_codec = Some(score.causes.codec);
    row.r_cost_delay = Some(score.causes.delay);
    row.r_cost_loss = Some(score.causes.loss);
    row.r_cost_lateness = Some(score.causes.lateness);
}
