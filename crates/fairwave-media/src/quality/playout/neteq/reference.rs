//! Step-by-step comparison with libwebrtc: operations and targets of libwebrtc's decision logic for the same arrivals.
//!
//! The outputs in `reference/*.txt` come from libwebrtc's `decision_logic.cc`, `delay_manager.cc`,
//! `underrun_optimizer.cc`, `reorder_optimizer.cc`, `histogram.cc`, `packet_arrival_history.cc` and
//! `delay_constraints.cc` as of 2026-08. They were called tick by tick as `neteq_impl.cc` does. A pitch period of 50
//! samples at 8 kHz is found each time, and concealment lasts as long as needed. A line has a tick at which operation
//! or target changed, the operation's letter, and the target in ms.

use super::*;

/// Returns arrivals as (arrival in ms, packet). They have jitter of 40 ms, 4 % losses, and 60 ms more delay for 3 %.
/// There is a stall of 600 ms every 400 units, and a silence of half a second every 250.
fn arrivals(count: usize, length_ms: u64) -> Vec<(u64, Packet)> {
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u64::from(state >> 16)
    };
    let mut media = 0;
    let mut found = Vec::new();
    for unit in 0..count {
        if unit > 0 {
            media += length_ms;
            if unit % 250 == 0 {
                media += 500 + 7 * (unit as u64 / 250);
            }
        }
        let (jitter, lost, reordered) = (random() % 40, random() % 25 == 0, random() % 33 == 0);
        let stall = match unit % 400 {
            at @ 100..130 => 20 * (130 - at as u64),
            _ => 0,
        };
        let arrived = media + 30 + jitter + stall + if reordered { 60 } else { 0 };
        let ends_talkspurt = unit + 1 == count || (unit + 1) % 250 == 0;
        let (media, length) = (Span::from_millis(media), Span::from_millis(length_ms));
        if !lost {
            found.push((arrived, Packet { unit, media, length, ends_talkspurt }));
        }
    }
    found.sort_by_key(|(arrived, _)| *arrived);
    found
}

const fn letter(operation: Operation) -> char {
    match operation {
        Operation::Normal => 'N',
        Operation::Merge => 'M',
        Operation::Expand => 'E',
        Operation::Accelerate => 'A',
        Operation::FastAccelerate => 'F',
        Operation::PreemptiveExpand => 'P',
        Operation::ComfortNoise => 'C',
        Operation::ComfortNoiseContinued => 'c',
    }
}

fn trace(count: usize, length_ms: u64) -> String {
    let arrivals = arrivals(count, length_ms);
    let mut buffer = JitterBuffer::new(NeteqConfig::default());
    let begins = arrivals.first().map_or(0, |(arrived, _)| arrived.next_multiple_of(10));
    let (mut lines, mut last, mut next) = (String::new(), None, 0);
    for tick in 0_u64.. {
        while let Some((_, packet)) = arrivals.get(next).filter(|(arrived, _)| *arrived <= begins + 10 * tick) {
            buffer.on_arrival(*packet);
            next += 1;
        }
        if next == arrivals.len() && buffer.packets_waiting() == 0 {
            break;
        }
        let now = (letter(buffer.tick(&mut Vec::new())), buffer.target_delay().millis());
        if last != Some(now) {
            lines.push_str(&format!("{} {} {}\n", tick + 1, now.0, now.1));
            last = Some(now);
        }
    }
    lines
}

fn assert_same(ours: &str, theirs: &str) {
    for (ours, theirs) in ours.lines().zip(theirs.lines()) {
        assert_eq!(ours, theirs, "ours, then libwebrtc's");
    }
    assert_eq!(ours.lines().count(), theirs.lines().count());
}

#[test]
fn frames_of_20_ms_are_played_as_libwebrtc_decides() {
    assert_same(&trace(800, 20), include_str!("reference/frames-of-20-ms.txt"));
}

#[test]
fn frames_of_10_ms_are_played_as_libwebrtc_decides() {
    assert_same(&trace(800, 10), include_str!("reference/frames-of-10-ms.txt"));
}

#[test]
fn frames_of_60_ms_are_played_as_libwebrtc_decides() {
    assert_same(&trace(400, 60), include_str!("reference/frames-of-60-ms.txt"));
}
