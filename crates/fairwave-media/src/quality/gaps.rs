//! Gaps of speech: events that averages over a call hide.
//!
//! A gap is an uninterrupted period of missing speech: units that were not played, and concealment time for units that
//! arrived late. Pauses of the talker do not extend a gap.
//!
//! **Assumptions.** A gap above 0.5 s interrupts the call. In ITU-T P.59 (Table 1) both parties are silent for 0.508 s
//! on average, so a listener takes a longer gap for the end of a turn. The bound is fairwave's: no Recommendation has
//! one for single gaps. Concealment fades to silence within 60 ms, as in ITU-T G.711 Appendix I, for every codec.

use fairwave_units::units::Span;

/// Longest gap that does not interrupt the call.
pub const INTERRUPTION: Span = Span::from_millis(500);

/// Time after which concealment has faded to silence.
pub const FADED: Span = Span::from_millis(60);

/// Gaps of a call, counted in playout order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Gaps {
    current: Span,
    longest: Span,
    silence: Span,
    interruptions: u64,
}

impl Gaps {
    /// Records missing speech of this duration.
    pub fn on_missing(&mut self, speech: Span) {
        let before = self.current;
        self.current += speech;
        self.longest = self.longest.max(self.current);
        self.silence += self.current.saturating_sub(before.max(FADED));
        self.interruptions += u64::from(before <= INTERRUPTION && self.current > INTERRUPTION);
    }

    /// Records played speech.
    pub fn on_played(&mut self) {
        self.current = Span::ZERO;
    }

    /// Returns the longest gap.
    pub fn longest(&self) -> Span {
        self.longest
    }

    /// Returns the time in gaps after the concealment had faded.
    pub fn silence(&self) -> Span {
        self.silence
    }

    /// Returns the number of gaps above [`INTERRUPTION`].
    pub fn interruptions(&self) -> u64 {
        self.interruptions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the gaps of units of 20 ms, `.` for played ones.
    fn gaps(units: &str) -> Gaps {
        let mut gaps = Gaps::default();
        for unit in units.bytes() {
            if unit == b'.' { gaps.on_played() } else { gaps.on_missing(Span::from_millis(20)) }
        }
        gaps
    }

    #[test]
    fn a_gap_is_unbroken_and_is_silent_after_60_ms() {
        let found = gaps("..x...xxxx.xxxxx.");
        assert_eq!(found.longest(), Span::from_millis(100));
        assert_eq!(found.silence(), Span::from_millis(20 + 40));
        assert_eq!(found.interruptions(), 0);
        assert_eq!(gaps("...."), Gaps::default());
    }

    #[test]
    fn a_gap_above_half_a_second_interrupts_once() {
        assert_eq!(gaps(&"x".repeat(25)).interruptions(), 0, "0.5 s");
        assert_eq!(gaps(&"x".repeat(26)).interruptions(), 1);
        let two_seconds = "x".repeat(100);
        let found = gaps(&format!("{two_seconds}.{two_seconds}xx.x"));
        assert_eq!((found.interruptions(), found.longest()), (2, Span::from_millis(2040)));
        assert_eq!(gaps(&format!("{}.{}", "x".repeat(20), "x".repeat(20))).interruptions(), 0, "two of 0.4 s");
    }
}
