//! Speaker selection: the server forwards the audio of the loudest participants.
//!
//! A participant talks while packets of speech arrive; a comfort noise frame (DTX) is not speech. Real servers read the
//! audio level of RFC 6464 from packets. Here talk spurts replace the level, so all speech is equally loud.
//!
//! A new talker gets a free slot, or the slot of the participant who has been silent longest, if for at least [`HOLD`].
//! While active talkers fill all slots, further talkers are not forwarded.

use fairwave_units::units::{Instant, Span};

/// A slot is kept for this long after the last packet of speech †.
pub const HOLD: Span = Span::from_millis(300);

/// Participants with forwarded audio.
#[derive(Clone, Debug)]
pub struct Speakers {
    places: usize,
    /// Participants in slots, with the time of their latest speech.
    chosen: Vec<(usize, Instant)>,
    /// Latest speech of each participant.
    spoke: Vec<Option<Instant>>,
}

impl Speakers {
    /// Returns a selection of `places` out of `participants`.
    pub fn new(places: usize, participants: usize) -> Self {
        Speakers { places, chosen: Vec::new(), spoke: vec![None; participants] }
    }

    /// Handles audio of a participant. Returns the participant who lost a slot to them.
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
        if now.span_since(silent.1) < HOLD {
            return None;
        }
        Some(std::mem::replace(silent, (who, now)).0)
    }

    /// Checks whether the participant's audio is forwarded.
    pub fn is_heard(&self, who: usize) -> bool {
        self.chosen.iter().any(|(one, _)| *one == who)
    }

    /// Returns the time of the participant's latest speech.
    pub fn spoke(&self, who: usize) -> Option<Instant> {
        self.spoke.get(who).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn talker_replaces_the_participant_who_was_silent_longest() {
        let mut speakers = Speakers::new(2, 4);
        assert_eq!(speakers.on_audio(ms(0), 0, true), None);
        assert_eq!(speakers.on_audio(ms(10), 1, true), None);
        assert_eq!(speakers.on_audio(ms(20), 2, true), None, "both places are taken by people who talk");
        assert!(!speakers.is_heard(2));
        assert_eq!(speakers.on_audio(ms(300), 1, true), None);
        assert_eq!(speakers.on_audio(ms(301), 2, true), Some(0));
        assert!(speakers.is_heard(2) && speakers.is_heard(1) && !speakers.is_heard(0));
    }

    #[test]
    fn comfort_noise_takes_no_place() {
        let mut speakers = Speakers::new(3, 2);
        assert_eq!(speakers.on_audio(ms(0), 1, false), None);
        assert!(!speakers.is_heard(1) && speakers.spoke(1).is_none());
    }
}
