//! Gaps of speech: the events that means over a call hide.
//!
//! A gap is speech that is missing without a break: units that were not played, and time that the receiver made up for units that
//! came late. Pauses of the talker do not lengthen a gap.
//!
//! **Assumptions.** A gap above 0.5 s interrupts the call. In ITU-T P.59 (Table 1) both parties are silent for 0.508 s on average, so
//! a listener takes a longer gap for the end of a turn. The bound is fairwave's: no Recommendation has one for single gaps.
//! Concealment fades to silence within 60 ms, as in ITU-T G.711 Appendix I, whatever the codec.

use fairwave_units::units::Span;

/// A longer gap interrupts the call.
pub const INTERRUPTION: Span = Span::from_millis(500);

/// After so long, concealment has faded to silence.
pub const FADED: Span = Span::from_millis(60);

/// The gaps of a call, counted in the order of hearing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Gaps {
    current: Span,
    longest: Span,
    silence: Span,
    interruptions: u64,
}

impl Gaps {
    /// Speech of this length is missing.
    pub fn on_missing(&mut self, speech: Span) {
        let before = self.current;
        self.current += speech;
        self.longest = self.longest.max(self.current);
        self.silence += self.current.saturating_sub(before.max(FADED));
        self.interruptions += u64::from(before <= INTERRUPTION && self.current > INTERRUPTION);
    }

    /// Speech is heard again.
    pub fn on_played(&mut self) {
        self.current = Span::ZERO;
    }

    /// The longest gap.
    pub fn longest(&self) -> Span {
        self.longest
    }

    /// Time in gaps after their concealment had faded.
    pub fn silence(&self) -> Span {
        self.silence
    }

    /// Gaps above [`INTERRUPTION`].
    pub fn interruptions(&self) -> u64 {
        self.interruptions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps of units of 20 ms, `.` for those played.
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
