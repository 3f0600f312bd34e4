//! Completion time of transfers: a file, or a page with its embedded objects.
//!
//! **Definition.** The completion time of a transfer is the time from its start to the delivery of its last byte to the
//! receiving application. A file starts when the application hands it over, which is when its flow starts. So the
//! handshake of a connection counts, and the acknowledgement of the last byte does not. A page starts with its request.
//! So the request's delay counts, and the parsing between the page and its objects. The *slowdown* is the completion
//! time divided by the time that the bytes alone would take at the rate of the narrowest link on the path. A slowdown
//! of 1 is impossible, because headers, round trips and slow start count, too.
//!
//! **Censoring.** A transfer that is incomplete at the end of the run or of its flow has no completion time, and
//! neither has a refused one. Both are counted, but excluded from the mean and the quantiles. If many transfers are
//! unfinished, mean and quantiles are too low, because mainly long transfers remain unfinished.

use super::delay::DelaySummary;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Fate of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransferFate {
    /// The last byte was delivered at this time.
    Completed(Instant),
    /// Incomplete at the end of the run or of its flow.
    Unfinished,
    /// Refused, because as many transfers were active as the limit allows.
    Refused,
}

impl TransferFate {
    /// Returns the name in tables.
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
    /// Start time.
    pub began: Instant,
    /// Payload size.
    pub size: Bytes,
    /// Fate.
    pub fate: TransferFate,
    /// Rate of the narrowest link on its path.
    pub narrowest: Rate,
}

impl TransferRecord {
    /// Returns the completion time; `None` unless completed.
    pub fn took(&self) -> Option<Span> {
        match self.fate {
            TransferFate::Completed(at) => Some(at.span_since(self.began)),
            _ => None,
        }
    }

    /// Returns the slowdown; `None` unless completed, or if its link needs no time for it.
    pub fn slowdown(&self) -> Option<f64> {
        let alone = self.narrowest.time_for(self.size);
        self.took().filter(|_| alone > Span::ZERO).map(|took| took.seconds() / alone.seconds())
    }
}

/// Summary of several transfers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Completions {
    /// Completed transfers.
    pub completed: u64,
    /// Unfinished transfers.
    pub unfinished: u64,
    /// Refused transfers.
    pub refused: u64,
    /// Completion times of completed transfers; quantiles by the nearest rank. `None` if there are none.
    pub times: Option<DelaySummary>,
    /// Mean slowdown; `None` if there is none.
    pub slowdown: Option<f64>,
}

impl Completions {
    /// Summarises these transfers.
    pub fn from_transfers<'a>(transfers: impl IntoIterator<Item = &'a TransferRecord>) -> Self {
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
        Completions { completed, unfinished, refused, times: DelaySummary::from_delays(times), slowdown }
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
    fn counts_unfinished_and_refused_transfers_outside_the_means() {
        let several = [
            completed(1, 2),
            completed(2, 4),
            transfer(3, TransferFate::Unfinished),
            transfer(4, TransferFate::Refused),
        ];
        let found = Completions::from_transfers(&several);
        assert_eq!((found.completed, found.unfinished, found.refused), (2, 1, 1));
        assert_eq!(found.times.expect("times").mean, Span::from_secs(3));
        // One megabyte takes one second at 8 Mb/s.
        assert_eq!(found.slowdown, Some(3.0));
    }

    #[test]
    fn quantiles_are_times_that_occurred() {
        let several: Vec<_> = (1..=100).map(|seconds| completed(0, seconds)).collect();
        let times = Completions::from_transfers(&several).times.expect("times");
        assert_eq!((times.p50, times.p95), (Span::from_secs(50), Span::from_secs(95)));
    }

    #[test]
    fn means_are_undefined_without_completed_transfers() {
        let found = Completions::from_transfers(&[transfer(0, TransferFate::Unfinished)]);
        assert_eq!((found.completed, found.times), (0, None));
        assert_eq!(found.slowdown, None);
    }
}
