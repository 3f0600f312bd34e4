//! What became of a video's frames: from the units that arrived to what a decoder can make of them.

use fairwave_core::quality::decodable::{Decodability, ReceivedFrame, decodable_layers};
use fairwave_core::traffic::Frames;
use fairwave_core::units::Instant;

use crate::unit_log::{Logged, UnitLog};

/// Over the frames made in the log's window that were to be shown by `end`. A layer counts when all of it arrived before its frame was shown, and so
/// did the layers below it.
pub(crate) fn decodability(log: &UnitLog, frames: &Frames, end: Instant) -> Decodability {
    let in_time = |unit: &Logged| {
        !unit.skipped && unit.arrived != Instant::NEVER && unit.arrived <= unit.created + frames.playout_delay
    };
    let by_frame = || log.units.chunks(usize::from(frames.layers).max(1));
    let received: Vec<ReceivedFrame> = by_frame()
        .enumerate()
        .map(|(number, units)| ReceivedFrame {
            frame_type: frames.frame_type(number),
            layers: units.iter().take_while(|unit| in_time(unit)).count() as u8,
        })
        .collect();
    let shown =
        by_frame().take_while(|units| units.iter().all(|unit| unit.created + frames.playout_delay <= end)).count();
    let early = by_frame().take_while(|units| units.iter().any(|unit| unit.created < log.from)).count();
    Decodability::of(decodable_layers(&received).get(early..shown).unwrap_or(&[]))
}
