//! Units of a call, their fates, and the talkspurts that they form.

use fairwave_units::units::{Instant, Span};

/// A unit of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpokenUnit {
    /// Start of its speech, by the application's clock.
    pub created: Instant,
    /// Time when it was complete at the receiver; [`Instant::NEVER`] if it was not.
    pub arrived: Instant,
}

/// Fate of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnitFate {
    /// Played at this time.
    Played(Instant),
    /// Arrived, but not played: its playing time passed at this time.
    Late(Instant),
    /// It never arrived.
    Lost,
}

/// Returns the talkspurt of each unit, counted from 0.
pub(crate) fn talkspurts(units: &[SpokenUnit], packet_time: Span) -> Vec<usize> {
    let longest_gap = packet_time + packet_time / 2;
    let mut spurt = 0;
    (units.iter().enumerate())
        .map(|(i, unit)| {
            let before = i.checked_sub(1).and_then(|i| units.get(i));
            spurt += usize::from(before.is_some_and(|before| unit.created - before.created > longest_gap));
            spurt
        })
        .collect()
}
