//! Unit rows of recorded flows.

use std::sync::Arc;

use fairwave_core::encoder::StreamKind;
use fairwave_core::quality::playout::{SpokenUnit, UnitFate, play};
use fairwave_core::units::Instant;
use fairwave_scenario::plan::LinkPlan;

use super::due::{Fate, Outcome, UnitsDue};
use super::flows::due;
use super::recorded::RunRecord;
use crate::result::UnitRow;
use crate::unit_log::{LoggedUnit, UnitLog};

/// Converts a unit to the form that the playout takes.
pub(crate) fn spoken(unit: &LoggedUnit) -> SpokenUnit {
    SpokenUnit { created: unit.created, arrived: unit.arrived }
}

/// Returns the units of a call that count, for its receiver's playout.
pub(crate) fn judged(log: &UnitLog, due: &UnitsDue) -> Vec<SpokenUnit> {
    due.judged(log).map(|(unit, _)| spoken(unit)).collect()
}

/// Returns the place of a fate: the name of a link, or `sender`; otherwise empty.
pub(crate) fn place_of(fate: Fate, links: &[LinkPlan]) -> Arc<str> {
    let link = |link: usize| links.get(link).map_or_else(Arc::default, |link| link.name.clone());
    match fate {
        Fate::InSender => "sender".into(),
        Fate::Dropped(at) | Fate::InQueue(at) | Fate::Lost(Some(at)) | Fate::OnTheWay(Some(at)) => link(at),
        Fate::Skipped | Fate::Received | Fate::Useless | Fate::Lost(None) | Fate::OnTheWay(None) => Arc::default(),
    }
}

/// Returns the units of a recorded flow over the whole run. Units of a call include the result of the receiver's
/// playout.
pub(crate) fn rows<'a>(run: &RunRecord<'a>, flow: usize, log: &'a UnitLog) -> impl Iterator<Item = UnitRow> + 'a {
    let (plan, due, links) = (&run.plan.flows[flow], due(run, flow, log), &run.plan.links);
    let speech = || log.units.iter().filter(|unit| !unit.noise).map(spoken).collect::<Vec<_>>();
    let fates = plan.traffic.call().map(|(_, packet_time)| play(&speech(), packet_time, &plan.playout));
    // The streams of a media session have separate numbers: `call[0]/audio`.
    let names = plan.traffic.media().map(|_| StreamKind::ALL.map(|kind| format!("{}/{}", plan.name, kind.name())));
    let mut numbers = [0_u32; StreamKind::ALL.len()];
    let mut next = 0;
    log.units.iter().enumerate().map(move |(index, unit)| {
        let played = fates.as_ref().and_then(|fates| fates.get(next)).filter(|_| !unit.noise);
        next += usize::from(!unit.noise);
        let became = due.fate(unit);
        let (fate, played) = match (became, played) {
            (Fate::Received, _) if unit.noise => ("noise", None),
            (Fate::Dropped(_) | Fate::Lost(_), _) if unit.noise => ("lost-noise", None),
            (Fate::Received, Some(UnitFate::Played(at))) => ("played", Some(at.seconds())),
            (Fate::Received, Some(_)) => ("late", None),
            _ => (became.name(), None),
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
            place: place_of(became, links),
            counted: u64::from(!unit.noise && !matches!(due.outcome(unit), Outcome::InFlight | Outcome::Skipped)),
            played_s: played,
        }
    })
}
