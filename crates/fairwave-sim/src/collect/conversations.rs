//! Conversation rows: both directions of each conversation together.

use fairwave_core::quality::call::UnratedCause;
use fairwave_core::quality::conversation::{Direction, Interval, joined, length, overlap, rate};
use fairwave_core::quality::playout::{CallQuality, SpokenUnit, UnitFate, call_quality, play};
use fairwave_core::traffic::Codec;
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::{FlowPlan, Partner};

use super::flows::due;
use super::recorded::RunRecord;
use super::units::spoken;
use crate::result::ConversationRow;

/// One row per conversation.
pub(crate) fn rows(run: &RunRecord<'_>) -> Vec<ConversationRow> {
    let mut rows = Vec::new();
    let (mut group, mut number) = (usize::MAX, 0);
    for (flow, plan) in run.plan.flows.iter().enumerate() {
        let Some(Partner { flow: back, leads: true }) = plan.partner else { continue };
        number = if plan.group == group { number + 1 } else { 0 };
        group = plan.group;
        rows.push(row(run, number, flow, back));
    }
    rows
}

fn row(run: &RunRecord<'_>, number: u32, there: usize, back: usize) -> ConversationRow {
    let mut row = ConversationRow {
        group: run.plan.groups[run.plan.flows[there].group].clone(),
        conversation: number,
        mouth_to_ear_there_s: None,
        mouth_to_ear_back_s: None,
        round_trip_s: None,
        double_talk_meant: None,
        double_talk_heard_from: None,
        double_talk_heard_to: None,
        mutual_silence_meant: None,
        r_there: None,
        r_back: None,
        mos_there: None,
        mos_back: None,
        mos: None,
        mos_mean: None,
        quality_note: String::new(),
    };
    let (Some(one), Some(other)) = (Party::from_run(run, there), Party::from_run(run, back)) else { return row };
    let window = run.on(there);
    let on = run.length_on(there).seconds();
    if on > 0.0 {
        let [one_speaks, other_speaks] = [&one, &other].map(|party| joined(party.spoken_intervals(), window));
        let [one_hears, other_hears] = [&one, &other].map(|party| joined(party.heard_intervals(), window));
        let at_once = overlap(&one_speaks, &other_speaks).seconds();
        row.double_talk_meant = Some(at_once / on);
        row.double_talk_heard_from = Some(overlap(&one_speaks, &other_hears).seconds() / on);
        row.double_talk_heard_to = Some(overlap(&other_speaks, &one_hears).seconds() / on);
        let talked = length(&one_speaks).seconds() + length(&other_speaks).seconds() - at_once;
        row.mutual_silence_meant = Some((1.0 - talked / on).max(0.0));
    }
    let (there, back) = match (one.quality(), other.quality()) {
        (Ok(there), Ok(back)) => (there, back),
        (Err(reason), _) | (_, Err(reason)) => {
            row.quality_note = reason.to_string();
            return row;
        }
    };
    let seconds = |quality: &CallQuality| quality.delay.map(Span::seconds);
    (row.mouth_to_ear_there_s, row.mouth_to_ear_back_s) = (seconds(&there), seconds(&back));
    row.round_trip_s = row.mouth_to_ear_there_s.zip(row.mouth_to_ear_back_s).map(|(there, back)| there + back);
    match rate(&[one.direction(&there), other.direction(&back)]) {
        Ok(rating) => {
            let [there, back] = rating.directions;
            (row.r_there, row.r_back) = (Some(there.rating.r), Some(back.rating.r));
            (row.mos_there, row.mos_back) = (Some(there.mos), Some(back.mos));
            (row.mos, row.mos_mean) = (Some(rating.worse()), Some(rating.mean()));
            let notes = [("there", there.caveats.to_string()), ("back", back.caveats.to_string())];
            row.quality_note = match notes {
                [(_, there), (_, back)] if there == back => there,
                notes => {
                    let notes = notes.iter().filter(|(_, note)| !note.is_empty());
                    notes.map(|(way, note)| format!("{way}: {note}")).collect::<Vec<_>>().join("; ")
                }
            };
        }
        Err(reason) => row.quality_note = reason.to_string(),
    }
    row
}

/// One talking party: its units and their fates.
struct Party<'a> {
    plan: &'a FlowPlan,
    codec: Codec,
    packet_time: Span,
    units: Vec<SpokenUnit>,
    /// For each unit: whether its party talks.
    talks: Vec<bool>,
    overdue: u64,
}

impl<'a> Party<'a> {
    fn from_run(run: &RunRecord<'a>, flow: usize) -> Option<Self> {
        let plan = &run.plan.flows[flow];
        let log = run.receiving[flow].units.as_ref()?;
        let (codec, packet_time) = plan.traffic.call()?;
        let due = due(run, flow, log);
        let (units, talks) = due.judged(log).map(|(unit, _)| (spoken(unit), !unit.background)).unzip();
        let overdue = due.tally(log).overdue;
        Some(Party { plan, codec, packet_time, units, talks, overdue })
    }

    /// Returns the intervals with speech at this party's mouth.
    fn spoken_intervals(&self) -> Vec<Interval> {
        let speech = self.units.iter().zip(&self.talks).filter(|(_, talks)| **talks);
        speech.map(|(unit, _)| (unit.created, unit.created + self.packet_time)).collect()
    }

    /// Returns the intervals with speech at the other party's ear. A unit is heard after it has been spoken, coded
    /// and played.
    fn heard_intervals(&self) -> Vec<Interval> {
        let behind = self.packet_time + self.codec.look_ahead();
        let fates = play(&self.units, self.packet_time, &self.plan.playout);
        let mut heard: Vec<Instant> = (fates.iter().zip(&self.talks))
            .filter_map(|(fate, talks)| match fate {
                UnitFate::Played(at) if *talks => Some(*at + behind),
                _ => None,
            })
            .collect();
        heard.sort_unstable();
        heard.into_iter().map(|at| (at, at + self.packet_time)).collect()
    }

    /// # Errors
    /// Returns the reason for a missing rating.
    fn quality(&self) -> Result<CallQuality, UnratedCause> {
        let Party { plan, units, overdue, codec, packet_time, .. } = self;
        call_quality(units, *overdue, *codec, *packet_time, plan.reception, &plan.playout)
    }

    fn direction(&self, quality: &CallQuality) -> Direction {
        let coded = self.packet_time + self.codec.look_ahead();
        Direction {
            codec: self.codec,
            reception: self.plan.reception,
            delay: quality.delay.unwrap_or(coded),
            loss: quality.missed,
            burst_ratio: quality.burst_ratio,
        }
    }
}
