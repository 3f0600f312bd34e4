//! Timely or delayed? Four readings of the real-time performance index (papers 000 §4.3, 001 §III.B, 002 §4.2),
//! reported together.
//!
//! Index = timely / sent by the application; delayed rate = delayed / sent. A unit that never arrives is neither timely
//! nor delayed: it is lost.
//!
//! 1. *Gap*: a unit is delayed if it arrives more than the threshold after the previous arrival, as in paper 000's
//!    inter-arrival times. So the first unit of a talkspurt is delayed if the silence was longer than the threshold.
//! 2. *Excess gap*: the gap in excess of the sender's gap, D(i, j) = (Rⱼ − Rᵢ) − (Sⱼ − Sᵢ) of paper 002's Eq. (12).
//! 3. *Delay*, the argument in the papers' prose: one-way delay above the threshold.
//! 4. *Sequence*, a literal reading of paper 001's Algorithm 1: the gap to the unit *numbered* one less. If that unit
//!    has not arrived, its entry in the algorithm's table of arrivals was never set and is 0. So the unit after a lost
//!    one is delayed.
//!
//! **Assumptions.** The first unit has no predecessor: it is timely by all gap readings. A unit that overtook the one
//! numbered before it finds that entry unset. The other then has a negative gap, which exceeds nothing. Time 0 is the
//! start of the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::units::{Instant, Span};

/// Definition of 'delayed'.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Reading {
    /// Gap to the previously received unit exceeds the threshold.
    Gap = 0,
    /// Gap, less the sender's gap, exceeds the threshold.
    ExcessGap = 1,
    /// One-way delay exceeds the threshold.
    Delay = 2,
    /// Gap to the unit numbered one less exceeds the threshold; measured from time 0 if that unit has not arrived.
    Sequence = 3,
}

const READINGS: usize = 4;

impl Reading {
    /// All readings, in the order of their indices.
    pub const ALL: [Reading; READINGS] = [Reading::Gap, Reading::ExcessGap, Reading::Delay, Reading::Sequence];

    /// Returns the name in tables: `gap`, `excess-gap`, `delay`, `sequence`.
    pub const fn name(self) -> &'static str {
        match self {
            Reading::Gap => "gap",
            Reading::ExcessGap => "excess-gap",
            Reading::Delay => "delay",
            Reading::Sequence => "sequence",
        }
    }
}

/// Result for one threshold and reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimelinessResult {
    /// The threshold.
    pub threshold: Span,
    /// The reading.
    pub reading: Reading,
    /// Units received too late by this reading.
    pub delayed: u64,
    /// Units received in time.
    pub timely: u64,
}

/// Counter of delayed units for several thresholds, by all readings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timeliness {
    /// Per threshold: delayed units by reading.
    delayed: Vec<(Span, [u64; READINGS])>,
    received: u64,
    /// Creation and arrival of the previously received unit.
    previous: Option<(Instant, Instant)>,
}

impl Timeliness {
    /// Returns an empty counter.
    pub fn new(thresholds: &[Span]) -> Self {
        let delayed = thresholds.iter().map(|&threshold| (threshold, [0; READINGS])).collect();
        Timeliness { delayed, received: 0, previous: None }
    }

    /// Records a unit created at `created` and complete at the receiver at `arrived`; call in order of arrival.
    /// `before` is the arrival of the unit numbered one less: `None` for the first unit, [`Instant::NEVER`] if it has
    /// not arrived.
    pub fn on_received(&mut self, created: Instant, arrived: Instant, before: Option<Instant>) {
        self.received += 1;
        let (gap, senders_gap) = match self.previous {
            // Units may overtake each other, so the sender's gap may be negative.
            Some((c, a)) => (arrived - a, i128::from(created.nanos()) - i128::from(c.nanos())),
            None => (Span::ZERO, 0),
        };
        let excess = i128::from(gap.nanos()) - senders_gap;
        let delay = arrived - created;
        let by_number = match before {
            Some(Instant::NEVER) => arrived - Instant::ZERO,
            Some(before) => arrived.span_since(before),
            None => Span::ZERO,
        };
        self.previous = Some((created, arrived));
        for (threshold, counts) in &mut self.delayed {
            counts[Reading::Gap as usize] += u64::from(gap > *threshold);
            counts[Reading::ExcessGap as usize] += u64::from(excess > i128::from(threshold.nanos()));
            counts[Reading::Delay as usize] += u64::from(delay > *threshold);
            counts[Reading::Sequence as usize] += u64::from(by_number > *threshold);
        }
    }

    /// Returns the number of received units.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Returns the result for every threshold and reading, in the given order of thresholds.
    pub fn results(&self) -> impl Iterator<Item = TimelinessResult> + '_ {
        self.delayed.iter().flat_map(move |&(threshold, counts)| {
            Reading::ALL.into_iter().map(move |reading| {
                let delayed = counts[reading as usize];
                TimelinessResult { threshold, reading, delayed, timely: self.received - delayed }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns delayed units by reading for one threshold. Units are given as (creation, arrival) in milliseconds,
    /// numbered in creation order, and arrive in the given order; `None` never arrives.
    fn delayed_of(threshold: u64, units: &[(u64, Option<u64>)]) -> [u64; READINGS] {
        let mut timeliness = Timeliness::new(&[Span::from_millis(threshold)]);
        let at = |millis: u64| Instant::ZERO + Span::from_millis(millis);
        let mut arrivals = vec![Instant::NEVER; units.len()];
        let mut order: Vec<(u64, usize)> =
            units.iter().enumerate().filter_map(|(number, (_, arrived))| Some(((*arrived)?, number))).collect();
        order.sort_unstable();
        for (arrived, number) in order {
            let before = number.checked_sub(1).map(|before| arrivals[before]);
            timeliness.on_received(at(units[number].0), at(arrived), before);
            arrivals[number] = at(arrived);
        }
        let mut counts = [0; READINGS];
        timeliness.results().for_each(|result| counts[result.reading as usize] = result.delayed);
        counts
    }

    /// Like [`delayed_of`], for units that all arrive.
    fn delayed(threshold: u64, units: &[(u64, u64)]) -> [u64; READINGS] {
        delayed_of(threshold, &units.iter().map(|&(created, arrived)| (created, Some(arrived))).collect::<Vec<_>>())
    }

    #[test]
    fn algorithm_1_counts_gaps_above_the_threshold_and_spares_the_first_packet() {
        // Arrivals 50, 70, 371, 671, 680 ms: the gaps are 20, 301, 300 and 9 ms; one of them exceeds 300 ms.
        let units = [(0, 50), (20, 70), (40, 371), (60, 671), (80, 680)];
        let counts = delayed(300, &units);
        assert_eq!([counts[Reading::Gap as usize], counts[Reading::Sequence as usize]], [1, 1]);
    }

    #[test]
    fn gap_readings_count_a_talkspurt_after_silence_as_late() {
        let units = [(0, 50), (20, 70), (1020, 1070), (1040, 1090)];
        assert_eq!(delayed(300, &units), [1, 0, 0, 1]);
    }

    #[test]
    fn a_standing_queue_delays_every_unit_but_leaves_no_gaps() {
        let units = [(0, 350), (20, 370), (40, 390)];
        assert_eq!(delayed(300, &units), [0, 0, 3, 0]);
    }

    #[test]
    fn a_stall_is_an_excess_gap_and_its_backlog_is_not() {
        let units = [(0, 50), (20, 500), (40, 500), (60, 500)];
        assert_eq!(delayed(300, &units), [1, 1, 3, 1]);
    }

    #[test]
    fn exactly_the_threshold_is_in_time() {
        assert_eq!(delayed(300, &[(0, 0), (0, 300)]), [0, 0, 0, 0]);
    }

    #[test]
    fn unit_after_a_loss_is_late_by_number_because_the_lost_place_holds_time_0() {
        // The gap from 520 to 560 ms does not count; the entry of the unit between them was never set.
        assert_eq!(delayed_of(300, &[(500, Some(520)), (520, None), (540, Some(560))]), [0, 0, 0, 1]);
        // A loss within the first 300 ms of the run goes unnoticed: 260 ms after time 0.
        assert_eq!(delayed_of(300, &[(200, Some(220)), (220, None), (240, Some(260))]), [0, 0, 0, 0]);
    }

    #[test]
    fn overtaking_unit_is_late_by_number_and_the_overtaken_one_is_not() {
        assert_eq!(delayed(300, &[(500, 520), (520, 570), (540, 560)]), [0, 0, 0, 1]);
    }

    proptest! {
        #[test]
        fn a_stricter_threshold_never_delays_fewer(
            steps in prop::collection::vec((0u64..400, 0u64..800), 1..50), low in 0u64..400, more in 0u64..400,
        ) {
            let mut clock = 0;
            let units: Vec<(u64, u64)> = steps.iter().map(|&(gap, delay)| { clock += gap; (clock, clock + delay) }).collect();
            let (strict, lax) = (delayed(low, &units), delayed(low + more, &units));
            prop_assert!(strict.iter().zip(lax).all(|(s, l)| *s >= l));
        }
    }
}
