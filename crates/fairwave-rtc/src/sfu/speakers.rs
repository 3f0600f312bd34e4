//! Whose audio is forwarded: that of the loudest participants.
//!
//! A participant talks while packets of speech come; a frame of comfort noise (DTX) is none. Real servers read the level of
//! RFC 6464 from the packet; talk spurts stand in for it here, and all talk equally loud.
//!
//! Who talks takes a free place, or that of the one who has been silent longest, if for at least [`HOLD`]. While all places are
//! taken by people who talk, further talkers are not heard.

use fairwave_units::units::{Instant, Span};

/// A place is kept for this long after the last packet of speech †.
pub const HOLD: Span = Span::from_millis(300);

/// The participants whose audio is forwarded.
#[derive(Clone, Debug)]
pub struct Speakers {
    places: usize,
    /// Who, and when speech of theirs came last.
    chosen: Vec<(usize, Instant)>,
    /// When speech of a participant came last.
    spoke: Vec<Option<Instant>>,
}

impl Speakers {
    /// Of so many participants, the loudest so many.
    pub fn new(places: usize, participants: usize) -> Self {
        Speakers { places, chosen: Vec::new(), spoke: vec![None; participants] }
    }

    /// Audio of a participant came. Answers with who lost their place by it.
    pub fn on_audio(&mut self, now: Instant, who: usize, speech: bool) -> Option<usize> {
        if !speech {
            return None;
        }
        if let Some(spoke) = self.spoke.get_mut(who) {
            *spoke = Some(now);
        }
        if let Some((_, last)) = self.chosen.iter_mut().find(|(one, _)| *one == who) {
            *last = now;
            return None;
        }
        if self.chosen.len() < self.places {
            self.chosen.push((who, now));
            return None;
        }
        let silent = self.chosen.iter_mut().min_by_key(|(one, last)| (*last, *one))?;
        if now.since(silent.1) < HOLD {
            return None;
        }
        Some(std::mem::replace(silent, (who, now)).0)
    }

    /// Whether the participant is heard.
    pub fn is_heard(&self, who: usize) -> bool {
        self.chosen.iter().any(|(one, _)| *one == who)
    }

    /// When the participant spoke last.
    pub fn spoke(&self, who: usize) -> Option<Instant> {
        self.spoke.get(who).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn who_talks_takes_the_place_of_the_one_who_was_silent_longest() {
        let mut speakers = Speakers::new(2, 4);
        assert_eq!(speakers.on_audio(at(0), 0, true), None);
        assert_eq!(speakers.on_audio(at(10), 1, true), None);
        assert_eq!(speakers.on_audio(at(20), 2, true), None, "both places are taken by people who talk");
        assert!(!speakers.is_heard(2));
        assert_eq!(speakers.on_audio(at(300), 1, true), None);
        assert_eq!(speakers.on_audio(at(301), 2, true), Some(0));
        assert!(speakers.is_heard(2) && speakers.is_heard(1) && !speakers.is_heard(0));
    }

    #[test]
    fn comfort_noise_takes_no_place() {
        let mut speakers = Speakers::new(3, 2);
        assert_eq!(speakers.on_audio(at(0), 1, false), None);
        assert!(!speakers.is_heard(1) && speakers.spoke(1).is_none());
    }
}
