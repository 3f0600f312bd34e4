//! What became of a video's frames: from the units that arrived to what a decoder can make of them.

use fairwave_core::quality::decodable::{Arrivals, Decodability, ReceivedFrame, decodable_layers};
use fairwave_core::traffic::{Frames, LayerRates};
use fairwave_core::units::Instant;

use crate::unit_log::{Logged, UnitLog};

/// Over the frames made in the log's window that were to be shown by `end`. What is left out of a frame by its sender never
/// arrives.
pub(crate) fn decodability(log: &UnitLog, frames: &Frames, end: Instant) -> Decodability {
    let arrivals = if frames.packets { of_packets(log, frames) } else { of_parts(log, frames) };
    let shown_at = |made: Instant| made + frames.playout_delay;
    let received: Vec<ReceivedFrame> = arrivals
        .iter()
        .enumerate()
        .map(|(number, &(made, arrived))| ReceivedFrame {
            frame_type: frames.frame_type(number),
            shown: shown_at(made),
            arrived,
        })
        .collect();
    let shown = received.iter().take_while(|frame| frame.shown <= end).count();
    let early = arrivals.iter().take_while(|(made, _)| *made < log.from).count();
    Decodability::of(decodable_layers(&received).get(early..shown).unwrap_or(&[]))
}

/// When a unit was there; never if it was left out.
fn arrival(unit: &Logged) -> Instant {
    if unit.skipped { Instant::NEVER } else { unit.arrived }
}

/// When each frame was made, and when each layer of it arrived: each unit is a layer, or a version, of a frame.
fn of_parts(log: &UnitLog, frames: &Frames) -> Vec<(Instant, Arrivals)> {
    let of_frame = |units: &[Logged]| {
        let mut arrived = [Instant::NEVER; LayerRates::MOST];
        if frames.versions {
            // Whoever has a version has no need of those below it.
            for (place, unit) in units.iter().enumerate().take(LayerRates::MOST) {
                arrived[..=place].iter_mut().for_each(|slot| *slot = (*slot).min(arrival(unit)));
            }
        } else {
            arrived.iter_mut().zip(units).for_each(|(slot, unit)| *slot = arrival(unit));
        }
        (units.first().map_or(Instant::ZERO, |unit| unit.created), arrived)
    };
    log.units.chunks(usize::from(frames.layers).max(1)).map(of_frame).collect()
}

/// The same where each unit is a packet of a layer that is a stream of bytes: a frame's part of a layer is there with the packets
/// made for it and the one made before them, which holds its beginning.
fn of_packets(log: &UnitLog, frames: &Frames) -> Vec<(Instant, Arrivals)> {
    let Some(start) = log.units.first().map(|unit| unit.created) else { return Vec::new() };
    let time = frames.frame_time.nanos().max(1);
    let number_of = |unit: &Logged| ((unit.created - start).nanos() + time / 2) / time;
    let mut found: Vec<(Instant, Arrivals)> = Vec::new();
    // The arrival of each layer's latest packet; before the first one there is nothing to wait for.
    let mut latest = [Instant::ZERO; LayerRates::MOST];
    for units in log.units.chunk_by(|one, next| number_of(one) == number_of(next)) {
        let number = units.first().map_or(0, number_of);
        // Frames all of whose bytes were in packets made before.
        while (found.len() as u64) < number {
            found.push((start + frames.frame_time * found.len() as u64, latest));
        }
        let mut arrived = latest;
        for unit in units {
            let layer = usize::from(unit.layer) % LayerRates::MOST;
            arrived[layer] = arrived[layer].max(arrival(unit));
            latest[layer] = arrival(unit);
        }
        found.push((start + frames.frame_time * number, arrived));
    }
    for (_, arrived) in &mut found {
        arrived.iter_mut().skip(usize::from(frames.layers)).for_each(|slot| *slot = Instant::NEVER);
    }
    found
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
