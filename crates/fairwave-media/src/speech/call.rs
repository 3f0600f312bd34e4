//! Rendering of a received call: each unit carries its frame of speech through the playout buffer, and missing speech
//! is concealed.
//!
//! The listener's clock starts when the first unit is created. A unit created at t with playout delay D is played at t
//! + D. A buffer that changes the tempo plays faster and slower in between.
//!
//! **Assumptions.** Silence between talkspurts is known to be silence (as from a silence descriptor) and is never
//! concealed; it is rendered as zeros, without comfort noise. If the buffer uses fixed offsets, talkspurts are complete
//! and never overlap.

use super::RATE;
use super::concealment::{conceal, silence};
use super::g711::Law;
use super::stretching::{Change, stretch};
use crate::quality::playout::neteq::Piece;
use crate::quality::playout::{PlayoutConfig, SpokenUnit, UnitFate, play, talkspurts, timeline};
use fairwave_units::units::{Instant, Span};

/// Received sound of a call.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReceivedSpeech {
    /// Samples, from the creation of the first unit on.
    pub samples: Vec<i16>,
    /// Per unit: index of its first sample; for an unplayed unit, the index at which it was due.
    pub position: Vec<usize>,
    /// Per unit: true if it was played.
    pub played: Vec<bool>,
}

/// Longest call that is rendered, samples: six hours.
const LONGEST: usize = 6 * 3600 * RATE as usize;

/// Renders a call.
///
/// `speech` is divided into frames of `packet_time`; unit k carries frame k, and the frames repeat after the last.
/// `conceals` selects concealment of missing speech (G.711 Appendix I) or silence. Calls longer than six hours, or
/// without a complete frame of speech, have no sound.
pub fn heard(
    units: &[SpokenUnit],
    packet_time: Span,
    playout: &PlayoutConfig,
    speech: &[i16],
    law: Law,
    conceals: bool,
) -> ReceivedSpeech {
    let frame = samples_in(packet_time);
    let frames = speech.len().checked_div(frame).unwrap_or(0);
    let (Some(first), Some(last)) = (units.first(), units.last()) else { return ReceivedSpeech::default() };
    if frames == 0 || samples_in(last.created.span_since(first.created)) > LONGEST {
        return ReceivedSpeech::default();
    }
    let decoded = |unit: usize| {
        let begin = unit % frames * frame;
        speech[begin..begin + frame].iter().map(move |sample| law.decode(law.encode(*sample)))
    };
    let fill = |line: &[i16], missing: &[bool]| if conceals { conceal(line, missing) } else { silence(line, missing) };
    match playout {
        PlayoutConfig::Neteq(config) => {
            let timeline = timeline(units, packet_time, config);
            let played = timeline.fates.iter().map(|fate| matches!(fate, UnitFate::Played(_))).collect();
            let lead = match timeline.begins {
                Instant::NEVER => 0,
                begins => samples_in(begins.span_since(first.created)),
            };
            let (samples, at) = stretched(&timeline.pieces, lead, frame, units.len(), &decoded, &fill);
            ReceivedSpeech { samples, position: due(&at, frame), played }
        }
        _ => {
            let fates = play(units, packet_time, playout);
            let played: Vec<bool> = fates.iter().map(|fate| matches!(fate, UnitFate::Played(_))).collect();
            let position = positions(units, &fates, packet_time, frame);
            let length = position.last().map_or(0, |last| last + frame);
            if length > LONGEST {
                return ReceivedSpeech::default();
            }
            let (mut line, mut missing) = (vec![0; length], vec![false; length]);
            for (unit, place) in position.iter().enumerate() {
                if played[unit] {
                    line[*place..place + frame].iter_mut().zip(decoded(unit)).for_each(|(to, from)| *to = from);
                } else {
                    missing[*place..place + frame].fill(true);
                }
            }
            ReceivedSpeech { samples: fill(&line, &missing), position, played }
        }
    }
}

/// Returns the nearest whole number of samples.
fn samples_in(span: Span) -> usize {
    ((u128::from(span.nanos()) * u128::from(RATE) + 500_000_000) / 1_000_000_000) as usize
}

/// Joins the pieces, then changes their tempo. Also returns the position of each played unit.
fn stretched<I: Iterator<Item = i16>>(
    pieces: &[Piece],
    lead: usize,
    frame: usize,
    units: usize,
    decoded: &impl Fn(usize) -> I,
    fill: &impl Fn(&[i16], &[bool]) -> Vec<i16>,
) -> (Vec<i16>, Vec<Option<usize>>) {
    let (mut line, mut missing) = (vec![0; lead], vec![false; lead]);
    let (mut changes, mut at) = (Vec::new(), vec![None; units]);
    for piece in pieces {
        if line.len() > LONGEST {
            break;
        }
        let place = line.len();
        match *piece {
            Piece::Unit(unit) => {
                at[unit] = Some(place);
                line.extend(decoded(unit));
                line.resize(place + frame, 0);
            }
            Piece::Shortened(span) => changes.push((place, Change::Tempo(-(samples_in(span) as i64)))),
            Piece::Lengthened(span) => changes.push((place, Change::Tempo(samples_in(span) as i64))),
            Piece::Concealed(span) => {
                line.resize(place + samples_in(span), 0);
                missing.resize(place, false);
                missing.resize(line.len(), true);
            }
            Piece::Silence(span) => {
                line.resize(place + samples_in(span), 0);
                changes.push((place, Change::Silent(line.len())));
            }
        }
        missing.resize(line.len(), false);
    }
    let (heard, edits) = stretch(&fill(&line, &missing), &changes);
    (heard, at.into_iter().map(|place| place.map(|place: usize| edits.moved(place))).collect())
}

/// Returns the positions of all units. An unplayed unit is due before the next played one, or after the last.
fn due(at: &[Option<usize>], frame: usize) -> Vec<usize> {
    let mut places = vec![0; at.len()];
    let mut after: Option<usize> = None;
    for unit in (0..at.len()).rev() {
        if let Some(place) = at[unit].or_else(|| after.map(|next| next.saturating_sub(frame))) {
            places[unit] = place;
            after = Some(place);
        }
    }
    // After the last played unit; positions never decrease.
    let mut before = 0usize;
    let last = at.iter().rposition(Option::is_some);
    for (unit, place) in places.iter_mut().enumerate() {
        if last.is_none_or(|last| unit > last) {
            *place = if unit == 0 { 0 } else { before + frame };
        }
        *place = (*place).max(before);
        before = *place;
    }
    places
}

/// Returns the first sample of each unit if talkspurts keep their offset.
fn positions(units: &[SpokenUnit], fates: &[UnitFate], packet_time: Span, frame: usize) -> Vec<usize> {
    let spurts = talkspurts(units, packet_time);
    let offset = |unit: usize| match fates[unit] {
        UnitFate::Played(at) | UnitFate::Late(at) => Some(at.span_since(units[unit].created)),
        UnitFate::Lost => None,
    };
    let known = |spurt: &[usize]| spurt.iter().find_map(|&unit| offset(unit));
    let all: Vec<usize> = (0..units.len()).collect();
    // A completely lost talkspurt has the offset of the previous one, or of the first one.
    let mut delay = known(&all).unwrap_or(Span::ZERO);
    let (mut free, mut places) = (0, Vec::with_capacity(units.len()));
    for spurt in all.chunk_by(|one, next| spurts[*one] == spurts[*next]) {
        delay = known(spurt).unwrap_or(delay);
        let begin = samples_in(units[spurt[0]].created.span_since(units[0].created) + delay).max(free);
        places.extend((0..spurt.len()).map(|index| begin + index * frame));
        free = begin + spurt.len() * frame;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Span = Span::from_millis(20);

    fn instant(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn units(delays: &[Option<u64>]) -> Vec<SpokenUnit> {
        let one = |(index, delay): (usize, &Option<u64>)| {
            let created = instant(20 * index as u64);
            let arrived = delay.map_or(Instant::NEVER, |delay| created + Span::from_millis(delay));
            SpokenUnit { created, arrived }
        };
        delays.iter().enumerate().map(one).collect()
    }

    fn speech(frames: usize) -> Vec<i16> {
        (0..frames * 160).map(|i| (libm::sin(i as f64 * 0.1) * 9000.0) as i16).collect()
    }

    #[test]
    fn with_a_fixed_offset_each_unit_is_heard_whole_at_its_time() {
        let fixed: PlayoutConfig =
            serde_json::from_str(r#"{"strategy":"fixed","delay":"60 ms"}"#).expect("a configuration");
        let speech = speech(3);
        let found = heard(&units(&[Some(30), None, Some(35)]), PACKET, &fixed, &speech, Law::A, false);
        assert_eq!(found.position, [720, 880, 1040]);
        assert_eq!(found.played, [true, false, true]);
        let coded: Vec<i16> = speech.iter().map(|sample| Law::A.decode(Law::A.encode(*sample))).collect();
        assert_eq!(found.samples[720..880], coded[..160]);
        assert_eq!(found.samples[880..1040], [0; 160]);
        assert_eq!(found.samples[1040..], coded[320..]);
    }

    #[test]
    fn a_jitter_buffer_plays_every_unit_of_a_steady_network_in_order() {
        let steady = units(&[Some(30); 100]);
        let found = heard(&steady, PACKET, &PlayoutConfig::default(), &speech(7), Law::U, true);
        assert!(found.played.iter().all(|played| *played));
        assert!(found.position.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", found.position);
        // Unit 7 repeats the first frame.
        let coded = Law::U.decode(Law::U.encode(speech(1)[100]));
        assert_eq!(found.samples[found.position[98] + 100], coded);
    }

    #[test]
    fn units_that_were_not_played_are_due_before_the_next_that_was() {
        assert_eq!(due(&[None, Some(500), None, None, Some(1000), None], 160), [340, 500, 680, 840, 1000, 1160]);
        assert_eq!(due(&[None, None], 160), [0, 160]);
    }

    #[test]
    fn output_is_silent_without_speech_units_or_arrivals() {
        let neteq = PlayoutConfig::default();
        assert_eq!(heard(&[], PACKET, &neteq, &speech(1), Law::U, true), ReceivedSpeech::default());
        assert_eq!(heard(&units(&[Some(1)]), PACKET, &neteq, &[1; 159], Law::U, true), ReceivedSpeech::default());
        assert!(heard(&units(&[None]), PACKET, &neteq, &speech(1), Law::U, true).samples.is_empty());
    }
}
