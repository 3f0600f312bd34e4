//! What became of a video's frames: from the units that arrived to what a decoder can make of them.

use fairwave_core::quality::decodable::{Decodability, ReceivedFrame, decodable_layers};
use fairwave_core::traffic::{Frames, LayerRates};
use fairwave_core::units::Instant;

use crate::unit_log::{Logged, UnitLog};

/// Over the frames made in the log's window that were to be shown by `end`. What is left out of a frame by its sender never
/// arrives.
pub(crate) fn decodability(log: &UnitLog, frames: &Frames, end: Instant) -> Decodability {
    let by_frame = || log.units.chunks(usize::from(frames.layers).max(1));
    let received: Vec<ReceivedFrame> = by_frame()
        .enumerate()
        .map(|(number, units)| {
            let mut arrived = [Instant::NEVER; LayerRates::MOST];
            let arrivals = units.iter().map(|unit| if unit.skipped { Instant::NEVER } else { unit.arrived });
            arrived.iter_mut().zip(arrivals).for_each(|(slot, arrival)| *slot = arrival);
            let made = units.first().map_or(Instant::ZERO, |unit| unit.created);
            ReceivedFrame { frame_type: frames.frame_type(number), shown: made + frames.playout_delay, arrived }
        })
        .collect();
    let shown = received.iter().take_while(|frame| frame.shown <= end).count();
    let early = by_frame().take_while(|units| units.iter().any(|unit| unit.created < log.from)).count();
    Decodability::of(decodable_layers(&received).get(early..shown).unwrap_or(&[]))
}

/// Units of the log's window that missed the showing of their frame, due by `end`, though nothing has lost them: they arrived after it, or are
/// among the `waiting` newest, which had not left the sender when the run ended.
pub(crate) fn late(log: &UnitLog, frames: &Frames, end: Instant, waiting: u64) -> u64 {
    let missed = |(from_the_newest, unit): (usize, &Logged)| {
        let shown = unit.created + frames.playout_delay;
        let came_too_late = unit.arrived != Instant::NEVER && unit.arrived > shown;
        let never_left = unit.arrived == Instant::NEVER && (from_the_newest as u64) < waiting;
        unit.created >= log.from && shown <= end && (came_too_late || never_left)
    };
    log.units.iter().rev().filter(|unit| !unit.skipped).enumerate().filter(|&unit| missed(unit)).count() as u64
}
