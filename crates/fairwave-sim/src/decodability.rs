//! Decodable frames of a video, derived from the arrivals of its units.

use fairwave_core::quality::decodable::{Arrivals, Decodability, ReceivedFrame, decodable_layers};
use fairwave_core::traffic::{Frames, LayerRates};
use fairwave_core::units::Instant;

use crate::unit_log::{LoggedUnit, UnitLog};

/// Returns the decodability of the frames created in the log's window and due for display by `end`. Units that the
/// sender skips never arrive.
pub(crate) fn decodability(log: &UnitLog, frames: &Frames, end: Instant) -> Decodability {
    let arrivals = match frames {
        Frames { blocks: true, .. } => block_arrivals(log, frames),
        Frames { packets: true, .. } => packet_arrivals(log, frames),
        _ => layer_arrivals(log, frames),
    };
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
    Decodability::from_layers(decodable_layers(&received).get(early..shown).unwrap_or(&[]))
}

/// Returns the arrival of a unit; never if it was skipped.
fn arrival(unit: &LoggedUnit) -> Instant {
    if unit.skipped { Instant::NEVER } else { unit.arrived }
}

/// Returns the creation time of each frame and the arrival of each of its layers. Each unit is a layer or a version
/// of a frame.
fn layer_arrivals(log: &UnitLog, frames: &Frames) -> Vec<(Instant, Arrivals)> {
    let frame_arrivals = |units: &[LoggedUnit]| {
        let mut arrived = [Instant::NEVER; LayerRates::MOST];
        if frames.versions {
            // One version is decodable without any lower version.
            for (place, unit) in units.iter().enumerate().take(LayerRates::MOST) {
                arrived[..=place].iter_mut().for_each(|slot| *slot = (*slot).min(arrival(unit)));
            }
        } else {
            arrived.iter_mut().zip(units).for_each(|(slot, unit)| *slot = arrival(unit));
        }
        (units.first().map_or(Instant::ZERO, |unit| unit.created), arrived)
    };
    log.units.chunks(usize::from(frames.layers).max(1)).map(frame_arrivals).collect()
}

/// The same for frames that are blocks of packets. A frame is complete with as many packets, original or repair, as
/// it has original ones.
fn block_arrivals(log: &UnitLog, frames: &Frames) -> Vec<(Instant, Arrivals)> {
    // A frame's packets leave within 0.99 of the frame interval; clock skew is far smaller than the remaining margin.
    let next = frames.frame_time.scaled(0.995);
    let frame_arrivals = |units: &[LoggedUnit]| {
        let own = units.iter().filter(|unit| unit.layer == 0).count();
        let mut arrived: Vec<Instant> = units.iter().map(arrival).collect();
        arrived.sort_unstable();
        let mut of_layers = [Instant::NEVER; LayerRates::MOST];
        of_layers[0] = own.checked_sub(1).and_then(|last| arrived.get(last)).copied().unwrap_or(Instant::NEVER);
        (units.first().map_or(Instant::ZERO, |unit| unit.created), of_layers)
    };
    let mut first = 0;
    let mut found = Vec::new();
    for place in 1..=log.units.len() {
        let ends = log.units.get(place).is_none_or(|unit| unit.created.span_since(log.units[first].created) >= next);
        if ends {
            found.push(frame_arrivals(&log.units[first..place]));
            first = place;
        }
    }
    found
}

/// The same for layers that are byte streams cut into packets. A frame's part of a layer needs the packets made for
/// it and the previous packet, which contains its first bytes.
fn packet_arrivals(log: &UnitLog, frames: &Frames) -> Vec<(Instant, Arrivals)> {
    let Some(start) = log.units.first().map(|unit| unit.created) else { return Vec::new() };
    let time = frames.frame_time.nanos().max(1);
    let number_of = |unit: &LoggedUnit| ((unit.created - start).nanos() + time / 2) / time;
    let mut found: Vec<(Instant, Arrivals)> = Vec::new();
    // Arrival of each layer's latest packet; nothing to wait for before the first packet.
    let mut latest = [Instant::ZERO; LayerRates::MOST];
    for units in log.units.chunk_by(|one, next| number_of(one) == number_of(next)) {
        let number = units.first().map_or(0, number_of);
        // Frames with all bytes in earlier packets.
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

/// Counts the units of the log's window that arrived after the display of their frame.
pub(crate) fn count_late(log: &UnitLog, frames: &Frames) -> u64 {
    let came_too_late = |unit: &&LoggedUnit| {
        let arrived = unit.arrived != Instant::NEVER && !unit.skipped;
        arrived && unit.created >= log.from && unit.arrived > unit.created + frames.playout_delay
    };
    log.units.iter().filter(came_too_late).count() as u64
}

#[cfg(test)]
mod tests {
    use fairwave_core::traffic::{TrafficConfig, Unit};
    use fairwave_core::units::Span;

    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// Logs units with layer, creation time and arrival (ms); `None` for units that do not arrive.
    fn log(units: &[(u8, u64, Option<u64>)]) -> UnitLog {
        let mut log = UnitLog::new(&[], Instant::ZERO);
        for (id, &(layer, made, arrived)) in units.iter().enumerate() {
            let unit = Unit { id: id as u32, payload: 1000, created: ms(made), layer, frame_type: Default::default() };
            log.sent(&unit);
            if let Some(arrived) = arrived {
                log.received(id as u32, ms(arrived));
            }
        }
        log
    }

    fn frames(json: &str) -> Frames {
        serde_json::from_str::<TrafficConfig>(json).expect("a video").frames().expect("frames")
    }

    #[test]
    fn a_frames_part_of_a_layer_is_there_with_its_packets_and_the_one_before_them() {
        let two = frames(r#"{"kind":"video","layers":["100 kb/s","100 kb/s"],"packet":"1000 B"}"#);
        let log = log(&[
            (0, 0, Some(10)),
            (1, 0, Some(11)),
            // Frame 1 has no packet in layer 1, and frame 2 has none at all.
            (0, 40, Some(55)),
            (0, 120, None),
            (1, 120, Some(130)),
            (0, 160, Some(170)),
        ]);
        let never = Instant::NEVER;
        let found: Vec<_> = packet_arrivals(&log, &two).iter().map(|(made, a)| (*made, a[0], a[1], a[2])).collect();
        assert_eq!(
            found,
            [
                (ms(0), ms(10), ms(11), never),
                (ms(40), ms(55), ms(11), never),
                (ms(80), ms(55), ms(11), never),
                (ms(120), never, ms(130), never),
                (ms(160), never, ms(130), never), // its beginning is in the packet that was lost
            ]
        );
    }

    #[test]
    fn a_frame_of_a_game_is_there_with_as_many_of_its_packets_and_its_codes_as_it_has_packets() {
        let game = frames(r#"{"kind":"game","frame":"2 kB","redundancy":0.5,"frame-rate":50}"#);
        let log = log(&[
            // One lost packet, repaired by the code.
            (0, 0, None),
            (0, 0, Some(12)),
            (1, 0, Some(15)),
            // No loss: the repair packet arrived too late, but was not needed.
            (0, 20, Some(30)),
            (0, 20, Some(31)),
            (1, 20, Some(90)),
            // Two lost.
            (0, 40, None),
            (0, 40, Some(51)),
            (1, 40, None),
        ]);
        let found: Vec<_> = block_arrivals(&log, &game).iter().map(|(made, arrived)| (*made, arrived[0])).collect();
        assert_eq!(found, [(ms(0), ms(15)), (ms(20), ms(31)), (ms(40), Instant::NEVER)]);
        let end = ms(1000);
        assert!(block_arrivals(&UnitLog::new(&[], Instant::ZERO), &game).is_empty());
        assert_eq!(decodability(&log, &game, end).ratio(), Some(2.0 / 3.0));
    }

    #[test]
    fn a_simulcast_version_includes_all_lower_layers() {
        let two = frames(r#"{"kind":"video","layers":["100 kb/s","200 kb/s"],"coding":"simulcast"}"#);
        let mut log = log(&[(0, 0, None), (1, 0, Some(20)), (0, 40, Some(50)), (1, 40, None)]);
        log.units[0].skipped = true;
        log.units[3].skipped = true;
        let found: Vec<_> = layer_arrivals(&log, &two).iter().map(|(_, a)| (a[0], a[1])).collect();
        assert_eq!(found, [(ms(20), ms(20)), (ms(50), Instant::NEVER)]);
    }
}
