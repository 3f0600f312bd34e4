//! The units of recorded flows, one by one.

use fairwave_core::quality::playout::{Fate, SpokenUnit, play};
use fairwave_core::units::Instant;
use fairwave_scenario::plan::FlowPlan;

use crate::result::UnitRow;
use crate::unit_log::UnitLog;

/// A call's units as its receiver's playout takes them.
pub(crate) fn spoken(log: &UnitLog) -> Vec<SpokenUnit> {
    log.units.iter().map(|unit| SpokenUnit { created: unit.created, arrived: unit.arrived }).collect()
}

/// The units of a recorded flow; a call's with what the receiver's playout made of them.
pub(crate) fn rows<'a>(plan: &'a FlowPlan, log: &'a UnitLog) -> impl Iterator<Item = UnitRow> + 'a {
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
