//! A two-state process in continuous time: good, bad, good, … All sojourns are exponential (a Markov chain), all are
//! constant, or only the good ones are constant.

use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Span};

/// Distribution of the time that the chain stays in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sojourn {
    /// Exponential with the mean of the state.
    Exponential,
    /// Always the mean of the state.
    Constant,
    /// Always the mean while good, exponential while bad.
    Regular,
}

/// The chain. It advances only when it is read, so the cost does not depend on the time between reads.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Chain {
    good: Span,
    bad: Span,
    sojourn: Sojourn,
    is_bad: bool,
    /// End of the current sojourn.
    until: Instant,
    stream: Stream,
}

impl Chain {
    /// Returns a chain at the start of a good sojourn.
    pub(super) fn from_good(good: Span, bad: Span, sojourn: Sojourn, stream: Stream) -> Self {
        let mut chain = Chain { good, bad, sojourn, is_bad: false, until: Instant::ZERO, stream };
        let first = chain.draw();
        chain.until += first;
        chain
    }

    /// Returns a chain with the stationary probability of the bad state. Exponential sojourns have no memory, so the rest of
    /// the first one has the same distribution as all others.
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
                // A transmission that never ends. Its outcome is not used, and the loop would not terminate in reasonable
                // time.
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
    fn starts_bad_with_the_long_run_probability() {
        // Gilbert 1960: the long-run probability of the bad state is its mean sojourn divided by the sum of both, here 0.1.
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
