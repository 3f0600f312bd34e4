//! Two states in continuous time: good, bad, good, … with sojourns that are exponential (a Markov chain) or constant, or the good
//! ones constant alone.

use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Span};

/// How long the chain stays in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sojourn {
    /// Exponential with the state's mean.
    Exponential,
    /// Always the state's mean.
    Constant,
    /// Always the mean while good, exponential while bad.
    Regular,
}

/// The chain, advanced only when it is read: the cost does not depend on the time between reads.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Chain {
    good: Span,
    bad: Span,
    sojourn: Sojourn,
    is_bad: bool,
    /// When the present sojourn ends.
    until: Instant,
    stream: Stream,
}

impl Chain {
    /// A chain that begins with a fresh good sojourn.
    pub(super) fn from_good(good: Span, bad: Span, sojourn: Sojourn, stream: Stream) -> Self {
        let mut chain = Chain { good, bad, sojourn, is_bad: false, until: Instant::ZERO, stream };
        let first = chain.draw();
        chain.until += first;
        chain
    }

    /// A chain that is bad at the beginning with the probability that it has in the long run. Exponential sojourns have
    /// no memory, so what is left of the first is drawn like any other.
    pub(super) fn stationary(good: Span, bad: Span, sojourn: Sojourn, stream: Stream) -> Self {
        let mut chain = Chain { good, bad, sojourn, is_bad: false, until: Instant::ZERO, stream };
        chain.is_bad = chain.stream.chance(bad.seconds() / (good.seconds() + bad.seconds()));
        let first = chain.draw();
        chain.until += first;
        chain
    }

    fn draw(&mut self) -> Span {
        let mean = if self.is_bad { self.bad } else { self.good };
        match self.sojourn {
            Sojourn::Constant => mean,
            Sojourn::Regular if !self.is_bad => mean,
            Sojourn::Regular | Sojourn::Exponential => Span::from_seconds(self.stream.exponential(mean.seconds())),
        }
    }

    /// The state at `now`, which must not decrease from call to call.
    pub(super) fn is_bad(&mut self, now: Instant) -> bool {
        while now >= self.until && self.until < Instant::NEVER {
            if now == Instant::NEVER {
                // A transmission that never ends: its outcome is never used, and the chain would run for centuries.
                break;
            }
            self.is_bad = !self.is_bad;
            let sojourn = self.draw();
            self.until += sojourn;
        }
        self.is_bad
    }
}

#[cfg(test)]
mod tests {
    use fairwave_units::random::Seed;

    use super::*;

    #[test]
    fn at_the_beginning_it_is_bad_as_often_as_in_the_long_run() {
        // Gilbert 1960: in the long run the bad state has its mean time over the sum of both, a tenth here.
        let bad = (0..10_000)
            .filter(|seed| {
                let stream = Seed(*seed).stream("chain");
                Chain::stationary(Span::from_millis(900), Span::from_millis(100), Sojourn::Exponential, stream)
                    .is_bad(Instant::ZERO)
            })
            .count();
        assert!((900..1100).contains(&bad), "{bad} of 10000");
        let mut fresh = Chain::from_good(
            Span::from_millis(1),
            Span::from_millis(1000),
            Sojourn::Exponential,
            Seed(1).stream("chain"),
        );
        assert!(!fresh.is_bad(Instant::ZERO), "one that begins good does so");
    }
}
