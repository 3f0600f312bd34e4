//! Session rows: the viewer's experience of each adaptive stream.

use fairwave_core::traffic::TrafficSource;
use fairwave_core::units::Span;

use super::recorded::RunRecord;
use crate::result::SessionRow;

/// One row per adaptive stream that began by the end of the run.
pub(crate) fn rows(run: &RunRecord<'_>) -> Vec<SessionRow> {
    let mut rows = Vec::new();
    let mut first = 0;
    for members in run.plan.flows.chunk_by(|one, next| one.group == next.group) {
        for (index, plan) in members.iter().enumerate() {
            let sending = &run.sending[first + index];
            let until = run.window.end.min(plan.stop);
            if sending.refused || plan.start > run.window.end {
                continue;
            }
            let Some(session) = sending.source.session(sending.clock.shown(until)) else { continue };
            rows.push(SessionRow {
                group: run.plan.groups[plan.group].clone(),
                flow: index as u32,
                segments: session.segments,
                start_up_s: session.start_up.map(Span::seconds),
                played_s: session.played,
                stalled_s: session.stalled,
                stalls: session.stalls,
                stall_ratio: session.stall_ratio(),
                rate_bps: session.rate,
                switches: session.switches,
                experience_bps: session.experience,
            });
        }
        first += members.len();
    }
    rows
}
