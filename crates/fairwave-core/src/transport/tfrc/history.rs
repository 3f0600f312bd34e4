//! The loss event rate: which packets are lost, which losses are one loss event, and the average interval between events.
//!
//! RFC 5348 §5. A packet is lost when three with higher sequence numbers have arrived (§5.1). Losses within one
//! round-trip time of an event's first loss belong to that event; the time of a loss is interpolated between its
//! neighbours' arrivals (§5.2). Intervals count packets from one event's first loss to the next's (§5.3). Their weighted
//! mean over the latest eight, with the open interval only when it raises the mean, gives the rate (§5.4), and when the
//! open interval is more than twice the mean, older ones are discounted (§5.5).
//!
//! **Assumptions.** A packet that arrives after it was taken for lost does not take the loss back (§5.1 allows to).

use crate::units::{Instant, Span};

/// Closed intervals that are averaged (§5.4: n = 8).
const INTERVALS: usize = 8;
/// Their weights, newest first (§5.4).
const WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// No discount goes below this (§5.5: THRESHOLD).
const LEAST_DISCOUNT: f64 = 0.25;
/// Packets with higher sequence numbers that must arrive before a packet counts as lost (§5.1: NDUPACK).
const LATER_ARRIVALS: usize = 3;

/// An arrival: sequence number (unwrapped) and time.
type Arrival = (u64, Instant);

/// Packets missing between two arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The last arrival before the gap.
    pub before: (u64, Instant),
    /// The first arrival after it.
    pub after: (u64, Instant),
}

impl Gap {
    /// When the packet `sequence` would have arrived (§5.2, T_loss).
    fn time_of(&self, sequence: u64) -> Instant {
        let width = u128::from(self.after.0 - self.before.0).max(1);
        let along = u128::from(sequence.saturating_sub(self.before.0));
        let span = u128::from((self.after.1 - self.before.1).nanos());
        self.before.1 + Span::from_nanos((span * along / width) as u64)
    }

    /// The first packet of the gap that would have arrived later than `limit`.
    fn first_later_than(&self, limit: Instant) -> Option<u64> {
        let first = self.before.0 + 1;
        if self.time_of(first) > limit {
            return Some(first);
        }
        let (mut low, mut high) = (first, self.after.0);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.time_of(middle) > limit { high = middle } else { low = middle }
        }
        (high < self.after.0).then_some(high)
    }
}

/// Finds gaps in the order of arrivals; tolerates reordering by up to two packets.
#[derive(Clone, Debug, Default)]
pub struct LossDetector {
    /// All up to here is settled: arrived or lost.
    settled: Option<Arrival>,
    /// Later arrivals, ascending; always fewer than [`LATER_ARRIVALS`] between calls.
    pending: [Option<Arrival>; LATER_ARRIVALS],
}

impl LossDetector {
    /// A packet arrived (no duplicate); returns the gap that is now known to be lost.
    pub fn on_arrival(&mut self, sequence: u64, now: Instant) -> Option<Gap> {
        let settled = *self.settled.get_or_insert((sequence, now));
        if sequence <= settled.0 {
            return None;
        }
        let mut arrival = Some((sequence, now));
        for place in &mut self.pending {
            let sorts_before = match (&arrival, &place) {
                (Some(a), Some(p)) => a.0 < p.0,
                (Some(_), None) => true,
                (None, _) => false,
            };
            if sorts_before {
                std::mem::swap(place, &mut arrival);
            }
        }
        let mut found = None;
        // The lowest is settled when enough have arrived above the gap, counting itself, or when there is no gap.
        while let Some(lowest) = self.pending[0] {
            let before = self.settled.unwrap_or(lowest);
            let gap = lowest.0 > before.0 + 1;
            if gap && self.pending[LATER_ARRIVALS - 1].is_none() {
                break;
            }
            if gap {
                found = Some(Gap { before, after: lowest });
            }
            self.settled = Some(lowest);
            self.pending.rotate_left(1);
            self.pending[LATER_ARRIVALS - 1] = None;
        }
        found
    }
}

/// Intervals between loss events and the rate that follows from them.
#[derive(Clone, Debug)]
pub struct LossHistory {
    discounting: bool,
    /// The first loss of the current event: packet and time.
    event: Option<Arrival>,
    /// Closed intervals in packets with their discounts, newest first.
    closed: [(f64, f64); INTERVALS],
    count: usize,
    events: u64,
}

impl LossHistory {
    /// No loss so far. `discounting`: §5.5.
    pub fn new(discounting: bool) -> Self {
        LossHistory { discounting, event: None, closed: [(0.0, 1.0); INTERVALS], count: 0, events: 0 }
    }

    /// Loss events so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Takes in a gap, with the present round-trip time; returns how many loss events begin in it. When it holds the
    /// very first, the caller follows with [`LossHistory::set_first_interval`].
    pub fn on_gap(&mut self, gap: Gap, round_trip: Span) -> u64 {
        let begun = self.events;
        // No more events are kept than there are intervals, so a gap of any width ends here.
        for _ in 0..=INTERVALS {
            let start = match self.event {
                None => Some(gap.before.0 + 1),
                Some((_, time)) => gap.first_later_than(time + round_trip),
            };
            let Some(start) = start else { break };
            if let Some((earlier, _)) = self.event {
                let discount = self.discount(start.saturating_sub(1));
                for older in &mut self.closed {
                    older.1 *= discount;
                }
                self.push(start.saturating_sub(earlier) as f64);
            }
            self.event = Some((start, gap.time_of(start)));
            self.events += 1;
        }
        self.events - begun
    }

    /// The interval before the first loss event, in packets: from the rate that was reached until then (§6.3.1).
    pub fn set_first_interval(&mut self, packets: f64) {
        if self.count < INTERVALS {
            self.closed[self.count] = (packets, 1.0);
            self.count += 1;
        }
    }

    fn push(&mut self, packets: f64) {
        self.closed.rotate_right(1);
        self.closed[0] = (packets.max(1.0), 1.0);
        self.count = (self.count + 1).min(INTERVALS);
    }

    fn open(&self, highest: u64) -> f64 {
        self.event.map_or(0.0, |(start, _)| (highest + 1).saturating_sub(start) as f64)
    }

    /// Weighted sums of the closed intervals, the newest having the weight of place `shift`: (packets, weights).
    fn sums(&self, shift: usize, discount: f64) -> (f64, f64) {
        let weights = &WEIGHTS[shift..];
        self.closed[..self.count].iter().zip(weights).fold((0.0, 0.0), |(packets, total), (&(length, d), &w)| {
            (packets + length * w * d * discount, total + w * d * discount)
        })
    }

    /// DF of §5.5: below 1 when the open interval is more than twice the mean of the closed ones.
    fn discount(&self, highest: u64) -> f64 {
        let (packets, weights) = self.sums(0, 1.0);
        let open = self.open(highest);
        if !self.discounting || weights == 0.0 || open <= 2.0 * packets / weights {
            return 1.0;
        }
        (2.0 * packets / weights / open).max(LEAST_DISCOUNT)
    }

    /// The loss event rate, a fraction; 0 before the first loss. `highest`: the highest sequence number that arrived.
    pub fn loss_event_rate(&self, highest: u64) -> f64 {
        if self.event.is_none() || self.count == 0 {
            return 0.0;
        }
        let open = self.open(highest);
        let (packets, weights) = self.sums(1, self.discount(highest));
        let with_open = (packets + open * WEIGHTS[0]) / (weights + WEIGHTS[0]);
        let (packets, weights) = self.sums(0, 1.0);
        1.0 / with_open.max(packets / weights).max(1.0)
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
