//! The loss event rate: lost packets, loss events, and the average interval between events.
//!
//! RFC 5348 §5. A packet is lost when three with higher sequence numbers have arrived (§5.1). Losses within one
//! round-trip time of an event's first loss belong to that event; the time of a loss is interpolated between its
//! neighbours' arrivals (§5.2). Intervals count packets from one event's first loss to the next's (§5.3). Their
//! weighted mean over the latest eight, with the open interval only when it raises the mean, gives the rate (§5.4).
//! When the open interval is more than twice the mean, older ones are discounted (§5.5).
//!
//! For small packets a closed interval of at most two round trips counts as its packets over its losses (RFC 4828).
//!
//! **Assumptions.** A late packet that already counts as lost does not undo the loss (§5.1 allows it).

use fairwave_endpoint::gaps::{Arrival, Gap};
use fairwave_units::units::Span;

/// Number of averaged closed intervals (§5.4: n = 8).
const INTERVALS: usize = 8;
/// Their weights, newest first (§5.4).
const WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Intervals between loss events, and the resulting loss event rate.
#[derive(Clone, Debug)]
pub struct LossHistory {
    discounting: bool,
    /// Short intervals count N/K (RFC 4828).
    short: bool,
    /// Packets lost since the current event began, including the first one.
    losses: u64,
    /// Lower bound of the discount (§5.5: THRESHOLD).
    least_discount: f64,
    /// The first loss of the current event: packet and time.
    event: Option<Arrival>,
    /// Closed intervals in packets with their discounts, newest first.
    closed: [(f64, f64); INTERVALS],
    count: usize,
    events: u64,
}

impl LossHistory {
    /// Creates an empty history. With `discounting`, old intervals are discounted (§5.5), down to `least_discount`.
    pub fn new(discounting: bool, least_discount: f64) -> Self {
        LossHistory {
            discounting,
            short: false,
            losses: 0,
            least_discount,
            event: None,
            closed: [(0.0, 1.0); INTERVALS],
            count: 0,
            events: 0,
        }
    }

    /// If `short`, intervals of at most two round trips count as their packets over their losses.
    #[must_use]
    pub fn with_short_intervals(self, short: bool) -> Self {
        LossHistory { short, ..self }
    }

    /// Loss events so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Adds a gap, with the current round-trip time. Returns the number of loss events that begin in it. After the
    /// very first event, the caller must call [`LossHistory::set_first_interval`].
    pub fn on_gap(&mut self, gap: Gap, round_trip: Span) -> u64 {
        let begun = self.events;
        let mut counted = gap.before.0 + 1;
        // At most `INTERVALS` + 1 events are processed, so a gap of any width ends here.
        for _ in 0..=INTERVALS {
            let start = match self.event {
                None => Some(gap.before.0 + 1),
                Some((_, time)) => gap.first_later_than(time + round_trip),
            };
            let Some(start) = start else { break };
            self.losses += start.saturating_sub(counted);
            counted = start;
            if let Some((earlier, time)) = self.event {
                let discount = self.discount(start.saturating_sub(1));
                for older in &mut self.closed {
                    older.1 *= discount;
                }
                let packets = start.saturating_sub(earlier) as f64;
                let is_short = self.short && gap.time_of(start) <= time + round_trip * 2;
                self.push(if is_short { packets / self.losses.max(1) as f64 } else { packets });
            }
            self.event = Some((start, gap.time_of(start)));
            self.losses = 0;
            self.events += 1;
        }
        self.losses += gap.after.0.saturating_sub(counted);
        self.events - begun
    }

    /// Sets the interval before the first loss event, in packets, from the rate reached until then (§6.3.1).
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

    /// Weighted sums of the closed intervals, (packets, weights). The newest interval has the weight at index `shift`.
    fn sums(&self, shift: usize, discount: f64) -> (f64, f64) {
        let weights = &WEIGHTS[shift..];
        self.closed[..self.count].iter().zip(weights).fold((0.0, 0.0), |(packets, total), (&(length, d), &w)| {
            (packets + length * w * d * discount, total + w * d * discount)
        })
    }

    /// DF of §5.5: below 1 if the open interval is more than twice the mean of the closed ones.
    fn discount(&self, highest: u64) -> f64 {
        let (packets, weights) = self.sums(0, 1.0);
        let open = self.open(highest);
        if !self.discounting || weights == 0.0 || open <= 2.0 * packets / weights {
            return 1.0;
        }
        (2.0 * packets / weights / open).max(self.least_discount)
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
