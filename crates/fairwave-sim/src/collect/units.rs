//! The units of recorded flows, one by one.

use fairwave_core::encoder::StreamKind;
use fairwave_core::quality::playout::{SpokenUnit, UnitFate, play};
use fairwave_core::units::Instant;

use super::due::{Outcome, UnitsDue};
use super::flows::due;
use super::recorded::RunRecord;
use crate::result::UnitRow;
use crate::unit_log::{LoggedUnit, UnitLog};

fn spoken(unit: &LoggedUnit) -> SpokenUnit {
    SpokenUnit { created: unit.created, arrived: unit.arrived }
}

/// The units of a call that count, as its receiver's playout takes them.
pub(crate) fn judged(log: &UnitLog, due: &UnitsDue) -> Vec<SpokenUnit> {
    due.judged(log).map(|(unit, _)| spoken(unit)).collect()
}

/// The units of a recorded flow, of the whole run; a call's with what the receiver's playout made of them.
pub(crate) fn rows<'a>(run: &RunRecord<'a>, flow: usize, log: &'a UnitLog) -> impl Iterator<Item = UnitRow> + 'a {
    let (plan, due) = (&run.plan.flows[flow], due(run, flow, log));
    let speech = || log.units.iter().filter(|unit| !unit.noise).map(spoken).collect::<Vec<_>>();
    let fates = plan.traffic.call().map(|(_, packet_time)| play(&speech(), packet_time, &plan.playout));
    // The streams of a media session are numbered each by itself: `call[0]/audio`.
    let names = plan.traffic.media().map(|_| StreamKind::ALL.map(|kind| format!("{}/{}", plan.name, kind.name())));
    let mut numbers = [0_u32; StreamKind::ALL.len()];
    let mut next = 0;
    log.units.iter().enumerate().map(move |(index, unit)| {
        let played = fates.as_ref().and_then(|fates| fates.get(next)).filter(|_| !unit.noise);
        next += usize::from(!unit.noise);
        let (fate, played) = match (due.outcome(unit), played) {
            (Outcome::Skipped, _) => ("skipped", None),
            (Outcome::InFlight, _) => ("in-flight", None),
            (Outcome::Waiting, _) => ("waiting", None),
            (Outcome::Received, _) if unit.noise => ("noise", None),
            (Outcome::Lost, _) if unit.noise => ("lost-noise", None),
            (_, Some(UnitFate::Played(at))) => ("played", Some(at.seconds())),
            (_, Some(UnitFate::Late(_))) => ("late", None),
            (Outcome::Lost, _) | (_, Some(UnitFate::Lost)) => ("lost", None),
            (Outcome::Received, None) => ("arrived", None),
        };
        let stream = usize::from(unit.layer);
        let (flow, number) = match (names.as_ref().and_then(|names| names.get(stream)), numbers.get_mut(stream)) {
            (Some(name), Some(number)) => (name.clone(), std::mem::replace(number, *number + 1)),
            _ => (plan.name.clone(), index as u32),
        };
        UnitRow {
            flow,
            unit: number,
            created_s: unit.created.seconds(),
            arrived_s: (unit.arrived != Instant::NEVER).then(|| unit.arrived.seconds()),
            payload: unit.payload,
            fate,
            played_s: played,
        }
    })
}
