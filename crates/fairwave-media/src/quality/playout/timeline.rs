//! Playback of a recorded call through the jitter buffer: fates of units, and the timeline of the output.

use super::neteq::{HELD_BACK, JitterBuffer, NeteqConfig, Packet, Piece, TICK, whole_samples};
use super::unit::{SpokenUnit, UnitFate, talkspurts};
use crate::quality::gaps::Gaps;
use crate::quality::loss::LossRuns;
use fairwave_units::units::{Instant, Span};

/// Output of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timeline {
    /// Time of the first output; never if nothing arrived.
    pub begins: Instant,
    /// Output without gaps.
    pub pieces: Vec<Piece>,
    /// Fate of each unit. [`UnitFate::Late`] contains the time when a newer unit was played instead.
    pub fates: Vec<UnitFate>,
    /// Missed units and unit times made up, in playout order.
    pub missed: LossRuns,
    /// Gaps of these losses.
    pub gaps: Gaps,
}

/// Plays a call with units of `packet_time` each.
///
/// Media times advance like RTP timestamps (RFC 3550 §5.1): by a packet time within a talkspurt, and by the elapsed
/// time between talkspurts.
pub fn timeline(units: &[SpokenUnit], packet_time: Span, config: &NeteqConfig) -> Timeline {
    let (spurts, length) = (talkspurts(units, packet_time), whole_samples(packet_time));
    let packets = numbered(units, &spurts, length);
    let mut arrivals: Vec<(Instant, usize)> = (units.iter().enumerate())
        .filter(|(_, unit)| unit.arrived < Instant::NEVER)
        .map(|(index, unit)| (unit.arrived, index))
        .collect();
    arrivals.sort_unstable();
    let Some(&(first, _)) = arrivals.first() else {
        let (pieces, fates) = (Vec::new(), vec![UnitFate::Lost; units.len()]);
        let (missed, gaps) = runs(units.iter().map(|_| true), length);
        return Timeline { begins: Instant::NEVER, pieces, fates, missed, gaps };
    };
    let ticks_until = |at: Instant| at.nanos().div_ceil(TICK.nanos());
    let begins = ticks_until(first);
    let pieces = play(&packets, &arrivals, config, begins, ticks_until);
    let begins = Instant::from_nanos(begins * TICK.nanos()) + HELD_BACK;
    let fates = fates(units, &pieces, begins, length);
    let (missed, gaps) = runs(missed(&fates, &pieces, &spurts, length), length);
    Timeline { begins, pieces, fates, missed, gaps }
}

/// Returns the units as packets with media times.
fn numbered(units: &[SpokenUnit], spurts: &[usize], length: Span) -> Vec<Packet> {
    let mut media = Span::ZERO;
    (units.iter().enumerate())
        .map(|(unit, spoken)| {
            if let Some(before) = unit.checked_sub(1).and_then(|before| units.get(before)) {
                let same = spurts[unit] == spurts[unit - 1];
                media += if same { length } else { spoken.created.span_since(before.created) };
            }
            let ends_talkspurt = spurts.get(unit + 1) != Some(&spurts[unit]);
            Packet { unit, media, length, ends_talkspurt }
        })
        .collect()
}

/// Performs ticks from `begins` on until all arrivals have been played.
fn play(
    packets: &[Packet],
    arrivals: &[(Instant, usize)],
    config: &NeteqConfig,
    begins: u64,
    ticks_until: impl Fn(Instant) -> u64,
) -> Vec<Piece> {
    let mut buffer = JitterBuffer::new(*config);
    let mut pieces = Vec::with_capacity(packets.len() * 2);
    let (mut tick, mut next) = (begins, 0);
    loop {
        while let Some(&(at, unit)) = arrivals.get(next)
            && ticks_until(at) <= tick
        {
            buffer.on_arrival(packets[unit]);
            next += 1;
        }
        match arrivals.get(next) {
            None if buffer.packets_waiting() == 0 => return pieces,
            Some(&(at, _)) if buffer.is_idle() => {
                let idle = ticks_until(at) - tick;
                buffer.stay_idle(idle, &mut pieces);
                tick += idle;
            }
            _ => {
                buffer.tick(&mut pieces);
                tick += 1;
            }
        }
    }
}

/// Returns the fates: an unplayed unit is late or lost once a newer one was played.
fn fates(units: &[SpokenUnit], pieces: &[Piece], begins: Instant, length: Span) -> Vec<UnitFate> {
    let mut fates = vec![UnitFate::Lost; units.len()];
    let (mut heard, mut settled) = (Span::ZERO, 0);
    for piece in pieces {
        match *piece {
            Piece::Unit(unit) => {
                for older in settled..unit {
                    fates[older] = missing(&units[older], begins + heard);
                }
                fates[unit] = UnitFate::Played(begins + heard);
                settled = settled.max(unit + 1);
                heard += length;
            }
            Piece::Shortened(span) => heard = heard.saturating_sub(span),
            Piece::Lengthened(span) | Piece::Concealed(span) | Piece::Silence(span) => heard += span,
        }
    }
    for (fate, unit) in fates.iter_mut().zip(units).skip(settled) {
        *fate = missing(unit, begins + heard);
    }
    fates
}

fn missing(unit: &SpokenUnit, passed: Instant) -> UnitFate {
    if unit.arrived == Instant::NEVER { UnitFate::Lost } else { UnitFate::Late(passed) }
}

/// Returns losses and gaps of units with this length, given whether each was missed.
pub(super) fn runs(missed: impl IntoIterator<Item = bool>, length: Span) -> (LossRuns, Gaps) {
    let (mut losses, mut gaps) = (LossRuns::new(), Gaps::default());
    for is_missed in missed {
        losses.on_unit(is_missed);
        if is_missed { gaps.on_missing(length) } else { gaps.on_played() }
    }
    (losses, gaps)
}

/// Returns which unit times were missed: those of unplayed units, and additional concealment in a talkspurt for units
/// that were played late. A remainder of less than a unit is carried to the next.
fn missed(fates: &[UnitFate], pieces: &[Piece], spurts: &[usize], length: Span) -> Vec<bool> {
    let mut made_up = vec![Span::ZERO; fates.len()];
    let mut concealed = Span::ZERO;
    let mut last: Option<usize> = None;
    for piece in pieces {
        match *piece {
            Piece::Concealed(span) => concealed += span,
            Piece::Unit(unit) => {
                if let Some(last) = last.filter(|&last| last < unit && spurts[last] == spurts[unit]) {
                    made_up[unit] = concealed.saturating_sub(length * (unit - last - 1) as u64);
                }
                last = Some(unit);
                concealed = Span::ZERO;
            }
            _ => {}
        }
    }
    let mut missed = Vec::with_capacity(fates.len());
    let mut owed = Span::ZERO;
    for (fate, made_up) in fates.iter().zip(made_up) {
        owed += made_up;
        while length > Span::ZERO && owed >= length {
            missed.push(true);
            owed = owed.saturating_sub(length);
        }
        missed.push(!matches!(fate, UnitFate::Played(_)));
    }
    missed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PACKET: Span = Span::from_millis(20);

    /// Returns units given as (creation, arrival) in milliseconds.
    fn units(units: &[(u64, Option<u64>)]) -> Vec<SpokenUnit> {
        let at = |millis| Instant::ZERO + Span::from_millis(millis);
        (units.iter())
            .map(|&(made, arrived)| SpokenUnit { created: at(made), arrived: arrived.map_or(Instant::NEVER, at) })
            .collect()
    }

    #[test]
    fn media_times_advance_by_a_packet_within_a_talkspurt_and_by_what_passed_between_two() {
        let call = units(&[(0, None), (21, None), (40, None), (1000, None), (1019, None)]);
        let packets = numbered(&call, &[0, 0, 0, 1, 1], PACKET);
        let media: Vec<u64> = packets.iter().map(|packet| packet.media.nanos() / 1_000_000).collect();
        assert_eq!(media, [0, 20, 40, 1000, 1020]);
        assert!(packets.iter().map(|packet| packet.ends_talkspurt).eq([false, false, true, false, true]));
    }

    fn plain() -> NeteqConfig {
        NeteqConfig { stretch: false, ..NeteqConfig::default() }
    }

    fn heard(call: &[(u64, Option<u64>)]) -> Timeline {
        timeline(&units(call), PACKET, &plain())
    }

    /// Returns playout times in milliseconds after creation; negative for late units, `None` for lost ones.
    fn offsets(call: &[(u64, Option<u64>)]) -> Vec<Option<f64>> {
        (heard(call).fates.iter().zip(call))
            .map(|(fate, (made, _))| match fate {
                UnitFate::Played(at) => Some(at.seconds() * 1e3 - *made as f64),
                UnitFate::Late(at) => Some(*made as f64 - at.seconds() * 1e3),
                UnitFate::Lost => None,
            })
            .collect()
    }

    #[test]
    fn playing_begins_with_the_tick_after_the_first_arrival() {
        // Arrival at 33 ms, tick at 40 ms, and 5 samples held back.
        assert_eq!(offsets(&[(0, Some(33)), (20, Some(53))]), [Some(40.625), Some(40.625)]);
        assert_eq!(offsets(&[(0, Some(30)), (20, Some(50))]), [Some(30.625), Some(30.625)]);
    }

    #[test]
    fn a_late_unit_is_played_and_delays_those_after_it() {
        let call = [(0, Some(30)), (20, Some(85)), (40, Some(86)), (60, Some(90))];
        assert_eq!(offsets(&call), [Some(30.625), Some(70.625), Some(70.625), Some(70.625)]);
        let missed = heard(&call).missed;
        assert_eq!((missed.sent(), missed.lost()), (6, 2), "40 ms were made up: two units' time");
    }

    #[test]
    fn a_unit_whose_turn_is_over_is_late_since_the_next_was_played() {
        let call = [(0, Some(30)), (20, Some(120)), (40, Some(60)), (60, Some(90)), (80, None), (100, Some(130))];
        assert_eq!(offsets(&call), [Some(30.625), Some(20.0 - 70.625), Some(30.625), Some(30.625), None, Some(30.625)]);
        let missed = heard(&call).missed;
        assert_eq!((missed.sent(), missed.lost()), (6, 2));
    }

    #[test]
    fn carries_over_less_than_a_unit() {
        // Two units, each 10 ms late.
        let call = [(0, Some(30)), (20, Some(60)), (40, Some(80)), (60, Some(110)), (80, Some(120))];
        let missed = heard(&call).missed;
        assert_eq!((missed.sent(), missed.lost()), (6, 1));
        let once = heard(&call[..3]).missed;
        assert_eq!((once.sent(), once.lost()), (3, 0));
    }

    #[test]
    fn a_talkspurt_that_begins_late_interrupts_nothing() {
        let call = [(0, Some(30)), (20, Some(50)), (200, Some(300)), (220, Some(301))];
        let timeline = heard(&call);
        assert_eq!((timeline.missed.sent(), timeline.missed.lost()), (4, 0));
        assert!(timeline.pieces.iter().all(|piece| !matches!(piece, Piece::Concealed(_))));
        assert_eq!(offsets(&call)[..2], [Some(30.625), Some(30.625)]);
    }

    #[test]
    fn a_lost_end_of_a_talkspurt_is_one_unit_however_long_the_silence() {
        let call = [(0, Some(30)), (20, None), (300, Some(330)), (320, Some(350))];
        let timeline = heard(&call);
        assert!(timeline.pieces.iter().any(|piece| matches!(piece, Piece::Concealed(_))), "its end was not told");
        assert_eq!((timeline.missed.sent(), timeline.missed.lost()), (4, 1));
    }

    #[test]
    fn a_silence_as_long_as_a_packet_and_a_half_is_still_speech() {
        let ends = |gap| timeline(&units(&[(0, Some(30)), (gap, Some(gap + 30))]), PACKET, &plain()).pieces;
        assert!(!ends(30).iter().any(|piece| matches!(piece, Piece::Silence(_))));
        assert!(ends(31).iter().any(|piece| matches!(piece, Piece::Silence(_))));
    }

    #[test]
    fn a_call_of_which_nothing_arrives_is_not_heard() {
        let timeline = heard(&[(0, None), (20, None)]);
        assert_eq!((timeline.begins, timeline.pieces.len()), (Instant::NEVER, 0));
        assert_eq!(timeline.fates, [UnitFate::Lost, UnitFate::Lost]);
        assert_eq!((timeline.missed.sent(), timeline.missed.lost()), (2, 2));
    }

    #[test]
    fn units_after_the_last_that_is_played_are_missed_too() {
        let timeline = heard(&[(0, Some(30)), (20, None), (40, None)]);
        assert_eq!(timeline.fates[1..], [UnitFate::Lost, UnitFate::Lost]);
        assert_eq!(timeline.missed.lost(), 2);
    }

    #[test]
    fn centuries_of_silence_take_no_time() {
        let far = 3_000_000_000_000;
        let timeline = heard(&[(0, Some(30)), (far, Some(far + 30)), (far + 20, Some(far + 50))]);
        assert!(timeline.pieces.len() < 200);
        assert!(timeline.fates.iter().all(|fate| matches!(fate, UnitFate::Played(_))));
    }

    proptest! {
        #[test]
        fn units_are_played_after_arrival_and_have_one_fate(
            delays in prop::collection::vec(prop::option::weighted(0.9, 0u64..700), 1..150),
            silences in prop::collection::vec(0u64..12, 150),
            min_delay in 0u64..300,
            max_packets in 20u32..60,
            fast_accelerate in any::<bool>(),
        ) {
            let mut made = 0;
            let call: Vec<(u64, Option<u64>)> = (delays.iter().zip(silences))
                .map(|(delay, silence)| {
                    made += 20 + 300 * (silence / 11);
                    (made, delay.map(|delay| made + delay))
                })
                .collect();
            let call = units(&call);
            let min_delay = Span::from_millis(min_delay);
            let config = NeteqConfig { min_delay, max_packets, fast_accelerate, ..NeteqConfig::default() };
            let heard = timeline(&call, PACKET, &config);
            prop_assert_eq!(heard.fates.len(), call.len());
            for (unit, fate) in call.iter().zip(&heard.fates) {
                match fate {
                    UnitFate::Played(at) => prop_assert!(*at >= unit.arrived),
                    UnitFate::Late(_) => prop_assert!(unit.arrived < Instant::NEVER),
                    UnitFate::Lost => prop_assert_eq!(unit.arrived, Instant::NEVER),
                }
            }
            let played = heard.fates.iter().filter(|fate| matches!(fate, UnitFate::Played(_))).count() as u64;
            prop_assert_eq!(heard.missed.sent() - heard.missed.lost(), played);
            let units = heard.pieces.iter().filter(|piece| matches!(piece, Piece::Unit(_))).count() as u64;
            prop_assert_eq!(units, played);
        }
    }
}
