//! Filters that both versions of BBR share. They compute a maximum over the last round trips, count round trips by
//! deliveries, and mark samples taken while the law limited the sender.

use super::super::{Path, RateSample};
use fairwave_units::units::Span;

/// The largest value of the last `N` round trips, including the current one. Exact, with constant cost per value.
#[derive(Clone, PartialEq, Debug)]
pub(in super::super) struct MaxOverRounds<const N: usize> {
    /// The largest value of each round trip.
    of: [f64; N],
    round: u64,
    /// The largest of all these values.
    largest: f64,
}

impl<const N: usize> Default for MaxOverRounds<N> {
    fn default() -> Self {
        MaxOverRounds { of: [0.0; N], round: 0, largest: 0.0 }
    }
}

impl<const N: usize> MaxOverRounds<N> {
    /// Adds a value, 0 or more, of this round trip. Round trips must not decrease.
    pub fn note(&mut self, round: u64, value: f64) {
        self.move_to(round);
        let present = &mut self.of[(round % N as u64) as usize];
        *present = present.max(value);
        self.largest = self.largest.max(value);
    }

    /// Begins a round trip and discards the oldest one.
    pub fn move_to(&mut self, round: u64) {
        if round == self.round {
            return;
        }
        for past in 0..(round - self.round).min(N as u64) {
            self.of[((round - past) % N as u64) as usize] = 0.0;
        }
        self.round = round;
        self.largest = self.of.iter().copied().fold(0.0, f64::max);
    }

    /// Discards all but the current round trip.
    pub fn keep_present_only(&mut self) {
        let present = self.of[(self.round % N as u64) as usize];
        self.of = [0.0; N];
        self.of[(self.round % N as u64) as usize] = present;
        self.largest = present;
    }

    /// The largest value; 0 if there is none.
    pub fn largest(&self) -> f64 {
        self.largest
    }
}

/// Round trips, counted by deliveries. One ends with the delivery of a segment that was sent after it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in super::super) struct Rounds {
    /// Segments delivered when the current round trip began.
    pub next: u64,
    /// Number of round trips begun.
    pub count: u64,
    /// True if a round trip begins with this acknowledgement.
    pub begins: bool,
}

impl Rounds {
    /// Processes a sample.
    pub fn update(&mut self, path: &Path, sample: &RateSample) {
        self.begins = sample.prior_delivered >= self.next;
        if self.begins {
            self.begin(path);
            self.count += 1;
        }
    }

    /// Begins a new round trip.
    pub fn begin(&mut self, path: &Path) {
        self.next = path.delivered;
    }
}

/// Marks samples of segments that were sent while the law itself limited the data in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in super::super) struct LimitedSamples {
    from: u64,
    until: u64,
}

impl LimitedSamples {
    /// Marks the segments sent from now until the current flight is delivered.
    pub fn mark(&mut self, path: &Path) {
        if path.delivered > self.until {
            self.from = path.delivered;
        }
        self.until = path.delivered + u64::from(path.pipe).max(1);
    }

    /// True if the law or the application limited this sample.
    pub fn limits(&self, sample: &RateSample) -> bool {
        sample.application_limited || (self.from..=self.until).contains(&sample.prior_delivered) && self.until > 0
    }
}

/// The sample's round trip in seconds. `None` without a measurement.
pub(in super::super) fn round_trip(sample: &RateSample) -> Option<f64> {
    (sample.rtt != Span::MAX).then(|| sample.rtt.seconds())
}

/// The sample's rate, segments per second; 0 if its interval was too short.
pub(in super::super) fn rate(sample: &RateSample) -> f64 {
    sample.rate.unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_maximum_is_that_of_all_values_of_the_last_rounds(
            values in proptest::collection::vec((0u64..4, 0.0..100.0f64), 1..200),
        ) {
            let (mut filter, mut kept, mut round) = (MaxOverRounds::<10>::default(), Vec::new(), 0);
            for (later, value) in values {
                round += later * later;
                filter.note(round, value);
                kept.push((round, value));
                let plain = kept.iter().filter(|(of, _)| of + 10 > round).map(|(_, value)| *value).fold(0.0, f64::max);
                prop_assert_eq!(filter.largest(), plain);
            }
        }
    }

    #[test]
    fn only_the_present_round_is_kept_when_that_is_asked_for() {
        let mut filter = MaxOverRounds::<10>::default();
        filter.note(1, 9.0);
        filter.note(2, 4.0);
        filter.keep_present_only();
        assert_eq!(filter.largest(), 4.0);
        filter.move_to(30);
        assert_eq!(filter.largest(), 0.0);
    }

    fn sample(prior_delivered: u64) -> RateSample {
        RateSample {
            rate: Some(1.0),
            interval: Span::from_millis(1),
            prior_delivered,
            in_flight: 1,
            lost: 0,
            marked: 0,
            application_limited: false,
            rtt: Span::MAX,
            newly_delivered: 1,
        }
    }

    #[test]
    fn a_round_ends_with_the_delivery_of_what_was_sent_after_it_began() {
        let mut rounds = Rounds::default();
        // Ten in flight: the n-th segment to be delivered was sent after n − 10 deliveries.
        let begins: Vec<u64> = (10..60u64)
            .filter(|delivered| {
                rounds.update(&Path { delivered: *delivered, ..Path::new(1000) }, &sample(delivered - 10));
                rounds.begins
            })
            .collect();
        assert_eq!(begins, [10, 20, 30, 40, 50]);
        assert_eq!(rounds.count, 5);
    }

    #[test]
    fn samples_of_what_was_sent_while_held_back_are_limited_and_those_before_and_after_are_not() {
        let mut held = LimitedSamples::default();
        assert!(!held.limits(&sample(0)));
        for delivered in 100..120 {
            held.mark(&Path { delivered, pipe: 4, ..Path::new(1000) });
        }
        let limited: Vec<u64> = (90..140).filter(|prior| held.limits(&sample(*prior))).collect();
        assert_eq!(limited, (100..=123).collect::<Vec<_>>());
        held.mark(&Path { delivered: 500, pipe: 4, ..Path::new(1000) });
        assert!(!held.limits(&sample(120)) && held.limits(&sample(504)) && !held.limits(&sample(505)));
        assert!(held.limits(&RateSample { application_limited: true, ..sample(600) }));
    }
}
