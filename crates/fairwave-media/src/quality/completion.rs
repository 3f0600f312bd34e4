//! How long it takes until all of something is there: a file, a page with what is embedded in it.
//!
//! **Definition.** The completion time of a transfer is from its beginning to the moment at which its last byte is
//! delivered to the receiving application. A file begins when the application hands it over, which is when its flow
//! begins: the handshake of a connection counts, the acknowledgement of the last byte does not. A page begins when it
//! is asked for: the request's way counts, and parsing between the page and its objects. Its *slowdown* is the
//! completion time over the time that its bytes alone would take at the rate of the narrowest link on their way. A
//! slowdown of 1 is out of reach, since headers, round trips and slow start count too.
//!
//! **Censoring.** What is not complete when the run, or its flow, ends has no completion time, and neither has what was refused.
//! Both are counted and stay out of the mean and the quantiles. Where much is unfinished, these are too low: what takes long is what
//! is unfinished.

use super::delay::DelaySummary;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// What became of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransferFate {
    /// Its last byte was delivered at this moment.
    Completed(Instant),
    /// It was under way when the run or its flow ended.
    Unfinished,
    /// As many as may be at work were, when it would have begun.
    Refused,
}

impl TransferFate {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            TransferFate::Completed(_) => "completed",
            TransferFate::Unfinished => "unfinished",
            TransferFate::Refused => "refused",
        }
    }
}

/// A transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransferRecord {
    /// When it began.
    pub began: Instant,
    /// Its payload.
    pub size: Bytes,
    /// What became of it.
    pub fate: TransferFate,
    /// The rate of the narrowest link on its way.
    pub narrowest: Rate,
}

impl TransferRecord {
    /// Its completion time; none when it was not completed.
    pub fn took(&self) -> Option<Span> {
        match self.fate {
            TransferFate::Completed(at) => Some(at.since(self.began)),
            _ => None,
        }
    }

    /// Its slowdown; none when it was not completed, or when its link takes no time for it.
    pub fn slowdown(&self) -> Option<f64> {
        let alone = self.narrowest.time_for(self.size);
        self.took().filter(|_| alone > Span::ZERO).map(|took| took.seconds() / alone.seconds())
    }
}

/// Joint results of several transfers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Completions {
    /// Transfers that were completed.
    pub completed: u64,
    /// Transfers that were not.
    pub unfinished: u64,
    /// Transfers that were refused.
    pub refused: u64,
    /// Completion times of those that were completed; quantiles by the nearest rank. None when there is none.
    pub times: Option<DelaySummary>,
    /// Mean of their slowdowns; none when there is none.
    pub slowdown: Option<f64>,
}

impl Completions {
    /// Of these transfers.
    pub fn of<'a>(transfers: impl IntoIterator<Item = &'a TransferRecord>) -> Self {
        let (mut unfinished, mut refused, mut times) = (0, 0, Vec::new());
        let (mut slowdowns, mut slowed) = (0.0, 0u64);
        for transfer in transfers {
            match transfer.fate {
                TransferFate::Completed(_) => times.extend(transfer.took()),
                TransferFate::Unfinished => unfinished += 1,
                TransferFate::Refused => refused += 1,
            }
            if let Some(slowdown) = transfer.slowdown() {
                slowdowns += slowdown;
                slowed += 1;
            }
        }
        let completed = times.len() as u64;
        let slowdown = (slowed > 0).then(|| slowdowns / slowed as f64);
        Completions { completed, unfinished, refused, times: DelaySummary::of(times), slowdown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(began: u64, fate: TransferFate) -> TransferRecord {
        TransferRecord {
            began: Instant::ZERO + Span::from_secs(began),
            size: Bytes::new(1_000_000),
            fate,
            narrowest: Rate::from_bits_per_second(8_000_000),
        }
    }

    fn completed(began: u64, took: u64) -> TransferRecord {
        transfer(began, TransferFate::Completed(Instant::ZERO + Span::from_secs(began + took)))
    }

    #[test]
    fn what_is_unfinished_or_refused_is_counted_and_is_in_no_mean() {
        let several = [
            completed(1, 2),
            completed(2, 4),
            transfer(3, TransferFate::Unfinished),
            transfer(4, TransferFate::Refused),
        ];
        let found = Completions::of(&several);
        assert_eq!((found.completed, found.unfinished, found.refused), (2, 1, 1));
        assert_eq!(found.times.expect("times").mean, Span::from_secs(3));
        // A megabyte takes a second at 8 Mb/s.
        assert_eq!(found.slowdown, Some(3.0));
    }

    #[test]
    fn quantiles_are_times_that_occurred() {
        let several: Vec<_> = (1..=100).map(|seconds| completed(0, seconds)).collect();
        let times = Completions::of(&several).times.expect("times");
        assert_eq!((times.p50, times.p95), (Span::from_secs(50), Span::from_secs(95)));
    }

    #[test]
    fn without_anything_completed_nothing_is_defined() {
        let found = Completions::of(&[transfer(0, TransferFate::Unfinished)]);
        assert_eq!((found.completed, found.times), (0, None));
        assert_eq!(found.slowdown, None);
    }
}
