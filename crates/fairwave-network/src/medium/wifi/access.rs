//! Channel access (IEEE 802.11-2020 §10.3.3 and §10.23.2): backoffs that count idle slots, and the choice of the next
//! transmitters.
//!
//! Slots need no events. A *domain* is the state of the air as a group of nodes senses it. It holds the end of the busy
//! period and, per access category, the idle slots counted before. A backoff is a target value of that count, so it needs no
//! work while it is frozen. The instant of access follows from the end of the last transmission. A domain has common slot
//! boundaries, so two backoffs that end at the same boundary collide.

use super::config::{Access, CATEGORIES};
use fairwave_units::random::Stream;
use fairwave_units::units::Instant;

/// Nodes with instants of access closer together than this do not sense each other in time, in nanoseconds (aCCATime of
/// OFDM).
pub(super) const SENSING: u64 = 4_000;

/// The air as a group of nodes senses it; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Domain {
    /// End of the current or last busy period.
    pub busy_until: u64,
    /// Idle slots after AIFS until `busy_until`, by category.
    counted: [u64; CATEGORIES],
}

impl Domain {
    /// Idle slots after AIFS until `now`.
    fn counted_at(&self, category: usize, now: u64, access: &Access, slot: u64) -> u64 {
        self.counted[category] + now.saturating_sub(self.busy_until + access.aifs) / slot
    }

    /// Starts a transmission at `now` that keeps the air busy until `until`.
    pub fn occupy(&mut self, now: u64, until: u64, accesses: &[Access; CATEGORIES], slot: u64) {
        if now > self.busy_until {
            for (category, access) in accesses.iter().enumerate() {
                self.counted[category] = self.counted_at(category, now, access, slot);
            }
        }
        self.busy_until = self.busy_until.max(until);
    }
}

/// One access category of one node.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub node: u32,
    pub category: u8,
    /// Contention window, and failed attempts since the last success.
    pub window: u32,
    pub failures: u32,
    /// Number of counted slots at which the backoff ends.
    target: u64,
    /// Whether it contends for the air.
    pub contends: bool,
    /// Whether it transmits or waits for an acknowledgement.
    pub transmits: bool,
    /// Earliest time of its access, nanoseconds.
    pub after: u64,
    /// End of its TXOP; 0 for none.
    pub txop_end: u64,
    /// Packets that wait for their first or next transmission.
    pub backlog: u32,
}

impl Function {
    pub fn new(node: u32, category: u8, access: &Access) -> Self {
        Function {
            node,
            category,
            window: access.cw_min,
            failures: 0,
            target: 0,
            contends: false,
            transmits: false,
            after: 0,
            txop_end: 0,
            backlog: 0,
        }
    }

    /// Time of its access if no other node transmits before: a slot boundary after `after`.
    pub fn instant(&self, domain: &Domain, access: &Access, slot: u64) -> u64 {
        let first = domain.busy_until + access.aifs;
        let due = first + self.target.saturating_sub(domain.counted[usize::from(self.category)]) * slot;
        if due > self.after {
            return due;
        }
        first + ((self.after - first) / slot + 1) * slot
    }

    /// Starts to contend at `now`. If its backoff is over and the air is busy, draws a new one (§10.3.4.3).
    pub fn joins(&mut self, now: Instant, domain: &Domain, access: &Access, slot: u64, stream: &mut Stream) {
        self.contends = true;
        self.after = now.nanos();
        let over = self.target <= domain.counted_at(usize::from(self.category), now.nanos(), access, slot);
        if over && domain.busy_until > now.nanos() {
            self.draws(now.nanos(), domain, slot, stream);
        }
    }

    /// Draws a new backoff, from `now` or from the end of the current transmission.
    pub fn draws(&mut self, now: u64, domain: &Domain, slot: u64, stream: &mut Stream) {
        let idle = now.saturating_sub(domain.busy_until).div_ceil(slot);
        self.target =
            domain.counted[usize::from(self.category)] + idle + stream.uniform_below(u64::from(self.window) + 1);
    }

    /// Handles a failed attempt: doubles the window, or resets it at the limit.
    pub fn fails(&mut self, access: &Access, limit: u32) {
        self.failures += 1;
        if self.failures >= limit {
            self.succeeds(access);
            return;
        }
        self.window = (2 * self.window + 1).min(access.cw_max);
    }

    /// Handles a successful attempt.
    pub fn succeeds(&mut self, access: &Access) {
        (self.failures, self.window) = (0, access.cw_min);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    const ACCESS: Access = Access { aifs: 34, cw_min: 15, cw_max: 1023, txop: 0 };

    fn function(target: u64) -> Function {
        Function { target, ..Function::new(0, 1, &ACCESS) }
    }

    #[test]
    fn a_backoff_stands_still_while_the_air_is_busy() {
        let accesses = [ACCESS; CATEGORIES];
        let mut domain = Domain { busy_until: 1000, ..Domain::default() };
        let waits = function(10);
        assert_eq!(waits.instant(&domain, &ACCESS, 9), 1000 + 34 + 90);
        // Four slots and a part of the fifth pass; then the air is busy until 5000.
        domain.occupy(1000 + 34 + 40, 5000, &accesses, 9);
        assert_eq!(waits.instant(&domain, &ACCESS, 9), 5000 + 34 + 54);
        // No slot passes before the end of AIFS.
        domain.occupy(5030, 6000, &accesses, 9);
        assert_eq!(waits.instant(&domain, &ACCESS, 9), 6000 + 34 + 54);
    }

    #[test]
    fn node_with_expired_backoff_transmits_at_the_next_boundary_of_idle_air() {
        let domain = Domain { busy_until: 1000, ..Domain::default() };
        let mut joins = function(0);
        joins.joins(Instant::from_nanos(2000), &domain, &ACCESS, 9, &mut Seed(1).stream("a"));
        // 1034 + 108 · 9 is the first boundary after 2000.
        assert_eq!(joins.instant(&domain, &ACCESS, 9), 2006);
        let mut early = function(0);
        early.joins(Instant::from_nanos(1010), &domain, &ACCESS, 9, &mut Seed(1).stream("a"));
        assert_eq!(early.instant(&domain, &ACCESS, 9), 1034, "AIFS at least");
    }

    #[test]
    fn node_draws_a_backoff_if_the_air_is_busy() {
        let domain = Domain { busy_until: 1000, ..Domain::default() };
        let mut stream = Seed(1).stream("a");
        let instants = (0..400).map(|_| {
            let mut joins = function(0);
            joins.joins(Instant::from_nanos(500), &domain, &ACCESS, 9, &mut stream);
            (joins.instant(&domain, &ACCESS, 9) - 1034) / 9
        });
        let slots: std::collections::BTreeSet<u64> = instants.collect();
        assert_eq!(slots, (0..=15).collect());
    }

    #[test]
    fn the_window_doubles_and_begins_anew_at_the_limit() {
        let mut function = function(0);
        let mut windows = Vec::new();
        for _ in 0..7 {
            windows.push(function.window);
            function.fails(&ACCESS, 7);
        }
        assert_eq!(windows, [15, 31, 63, 127, 255, 511, 1023]);
        assert_eq!((function.window, function.failures), (15, 0));
    }
}
