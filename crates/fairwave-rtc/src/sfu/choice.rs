//! Choice of layers for a receiver, within the estimate of its path.
//!
//! 1. The rate of forwarded audio is subtracted from the estimate.
//! 2. Each video gets its lowest rung, in the given order (screens, then cameras by how recently their owners spoke).
//! 3. In the same order, each video moves up one rung, repeatedly, until no next rung fits.
//!
//! A rung above the current one must fit with a margin, and a video that moved down waits before it moves up. This
//! prevents oscillation with the estimate. A video whose lowest rung does not fit stops; it resumes with the same
//! margin.

use super::layers::Rung;
use fairwave_units::units::{Instant, Span};

/// Required rate for a higher rung, as a multiple of its rate †.
pub const MARGIN: f64 = 1.1;
/// Wait from a step down to the next step up †.
pub const PATIENCE: Span = Span::from_secs(2);

/// A video that a receiver may get.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Candidate {
    /// Available rungs with their rates, ascending, bits per second.
    pub ladder: Vec<(Rung, f64)>,
    /// Current rung; `None` while stopped.
    pub has: Option<Rung>,
    /// Earliest time at which it may move up.
    pub up_from: Option<Instant>,
}

/// Returns the rung of each candidate; `None` to stop it. `budget` is the total rate, bits per second.
pub fn choose(now: Instant, budget: f64, candidates: &[Candidate]) -> Vec<Option<Rung>> {
    let mut places: Vec<Option<usize>> = vec![None; candidates.len()];
    let mut spent = 0.0;
    loop {
        let mut any = false;
        for (place, candidate) in places.iter_mut().zip(candidates) {
            let next = place.map_or(0, |place| place + 1);
            let Some((rung, rate)) = candidate.ladder.get(next) else { continue };
            let before = place.and_then(|place| candidate.ladder.get(place)).map_or(0.0, |one| one.1);
            let is_higher = candidate.has.is_none_or(|has| *rung > has);
            if is_higher && candidate.up_from.is_some_and(|from| now < from) {
                continue;
            }
            let margin = if is_higher { (MARGIN - 1.0) * rate } else { 0.0 };
            if spent - before + rate + margin <= budget {
                spent += rate - before;
                *place = Some(next);
                any = true;
            }
        }
        if !any {
            break;
        }
    }
    let rung = |(place, candidate): (&Option<usize>, &Candidate)| {
        place.and_then(|place| candidate.ladder.get(place)).map(|(rung, _)| *rung)
    };
    places.iter().zip(candidates).map(rung).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rung(layer: u8) -> Rung {
        Rung { layer, temporal: 0 }
    }

    fn candidate(has: Option<u8>) -> Candidate {
        let ladder = vec![(rung(0), 100_000.0), (rung(1), 400_000.0), (rung(2), 1_500_000.0)];
        Candidate { ladder, has: has.map(rung), up_from: None }
    }

    fn layers(budget: f64, candidates: &[Candidate]) -> Vec<Option<u8>> {
        choose(Instant::ZERO, budget, candidates).iter().map(|one| one.map(|rung| rung.layer)).collect()
    }

    #[test]
    fn videos_get_their_lowest_rung_before_any_gets_a_higher() {
        let both = [candidate(None), candidate(None)];
        assert_eq!(layers(250_000.0, &both), [Some(0), Some(0)]);
        assert_eq!(layers(560_000.0, &both), [Some(1), Some(0)]);
        assert_eq!(layers(1_000_000.0, &both), [Some(1), Some(1)]);
        assert_eq!(layers(9_000_000.0, &both), [Some(2), Some(2)]);
    }

    #[test]
    fn an_estimate_just_below_the_lowest_rung_stops_it_and_one_just_above_keeps_it() {
        assert_eq!(layers(99_999.0, &[candidate(Some(0))]), [None]);
        assert_eq!(layers(100_000.0, &[candidate(Some(0))]), [Some(0)]);
        assert_eq!(layers(109_999.0, &[candidate(None)]), [None], "it begins again with a margin");
        assert_eq!(layers(110_001.0, &[candidate(None)]), [Some(0)]);
    }

    #[test]
    fn lowered_videos_wait_before_they_go_up() {
        let mut one = candidate(Some(0));
        one.up_from = Some(Instant::ZERO + PATIENCE);
        assert_eq!(choose(Instant::ZERO, 9e6, std::slice::from_ref(&one)), [Some(rung(0))]);
        assert_eq!(choose(Instant::ZERO + PATIENCE, 9e6, std::slice::from_ref(&one)), [Some(rung(2))]);
    }

    #[test]
    fn a_publisher_that_sends_nothing_gets_nothing() {
        assert_eq!(layers(9e6, &[Candidate::default()]), [None]);
    }

    proptest! {
        #[test]
        fn choice_fits_the_budget(budget in 0.0..5e6f64, has in prop::collection::vec(prop::option::of(0u8..3), 0..8)) {
            let candidates: Vec<Candidate> = has.iter().map(|one| candidate(*one)).collect();
            let chosen = choose(Instant::ZERO, budget, &candidates);
            let rate = |(one, rung): (&Candidate, &Option<Rung>)| {
                rung.and_then(|rung| one.ladder.iter().find(|known| known.0 == rung)).map_or(0.0, |known| known.1)
            };
            prop_assert!(candidates.iter().zip(&chosen).map(rate).sum::<f64>() <= budget);
        }
    }
}
