//! A recorded call through the jitter buffer: what becomes of each unit, and what is heard when.

use super::neteq::{HELD_BACK, JitterBuffer, NeteqConfig, Packet, Piece, TICK, whole_samples};
use super::{Fate, SpokenUnit, talkspurts};
use crate::quality::loss::LossRuns;
use crate::units::{Instant, Span};

/// A call as it is heard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timeline {
    /// When the first piece is heard; never if nothing arrived.
    pub begins: Instant,
    /// What is heard, without a gap.
    pub pieces: Vec<Piece>,
    /// What becomes of each unit. [`Fate::Late`] says when something newer was played instead.
    pub fates: Vec<Fate>,
    /// Units that were missed and units' times that were made up beside them, in the order of hearing.
    pub missed: LossRuns,
}

/// Plays a call of units of `packet_time` each.
///
/// Media times advance as RTP timestamps do (RFC 3551 §4.1): by a packet time within a talkspurt, and by what passed
/// between talkspurts.
pub fn timeline(units: &[SpokenUnit], packet_time: Span, config: &NeteqConfig) -> Timeline {
    let (spurts, length) = (talkspurts(units, packet_time), whole_samples(packet_time));
    let mut media = Span::ZERO;
    let packets: Vec<Packet> = (units.iter().enumerate())
        .map(|(unit, spoken)| {
            if let Some(before) = unit.checked_sub(1).and_then(|before| units.get(before)) {
                let same = spurts[unit] == spurts[unit - 1];
                media += if same { length } else { spoken.created.since(before.created) };
            }
            let ends_talkspurt = spurts.get(unit + 1) != Some(&spurts[unit]);
            Packet { unit, media, length, ends_talkspurt }
        })
        .collect();
    let mut arrivals: Vec<(Instant, usize)> = (units.iter().enumerate())
        .filter(|(_, unit)| unit.arrived < Instant::NEVER)
        .map(|(index, unit)| (unit.arrived, index))
        .collect();
    arrivals.sort_unstable();
    let Some(&(first, _)) = arrivals.first() else {
        let (pieces, fates) = (Vec::new(), vec![Fate::Lost; units.len()]);
        let missed = units.iter().map(|_| true).collect();
        return Timeline { begins: Instant::NEVER, pieces, fates, missed };
    };
    let ticks_until = |at: Instant| at.nanos().div_ceil(TICK.nanos());
    let begins = ticks_until(first);
    let pieces = play(&packets, &arrivals, config, begins, ticks_until);
    let begins = Instant::from_nanos(begins * TICK.nanos()) + HELD_BACK;
    let fates = fates(units, &pieces, begins, length);
    let missed = missed(&fates, &pieces, &spurts, length);
    Timeline { begins, pieces, fates, missed }
}

/// Ticks from `begins` on until all that arrives has been played.
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

/// What becomes of each unit: what was passed over when a newer one was played is late, or lost.
fn fates(units: &[SpokenUnit], pieces: &[Piece], begins: Instant, length: Span) -> Vec<Fate> {
    let mut fates = vec![Fate::Lost; units.len()];
    let (mut heard, mut settled) = (Span::ZERO, 0);
    for piece in pieces {
        match *piece {
            Piece::Unit(unit) => {
                for older in settled..unit {
                    fates[older] = missing(&units[older], begins + heard);
                }
                fates[unit] = Fate::Played(begins + heard);
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

fn missing(unit: &SpokenUnit, passed: Instant) -> Fate {
    if unit.arrived == Instant::NEVER { Fate::Lost } else { Fate::Late(passed) }
}

/// Which units' times were missed: those of units that were not played, and what was made up within a talkspurt beyond
/// them, because a unit came late and was played all the same. What falls short of a unit is carried to the next.
fn missed(fates: &[Fate], pieces: &[Piece], spurts: &[usize], length: Span) -> LossRuns {
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
    let mut runs = LossRuns::new();
    let mut owed = Span::ZERO;
    for (fate, made_up) in fates.iter().zip(made_up) {
        owed += made_up;
        while length > Span::ZERO && owed >= length {
            runs.on_unit(true);
            owed = owed.saturating_sub(length);
        }
        runs.on_unit(!matches!(fate, Fate::Played(_)));
    }
    runs
}
