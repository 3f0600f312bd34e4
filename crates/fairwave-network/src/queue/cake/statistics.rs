//! Statistics of CAKE's tins, as `tc -s qdisc` shows them and Linux' `sch_cake` counts them. They cover the whole run,
//! including the warm-up.
//!
//! **Deviations.** `marks` counts packets that bore no mark before. `un_flows` counts the queues with a BLUE drop
//! probability above 0.

use fairwave_units::units::{Bytes, Rate, Span};

/// Statistics of a tin, by their names in `tc`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TinStatistics {
    /// `Best Effort`, `Bulk`, `Video`, `Voice`.
    pub name: &'static str,
    /// thresh: the rate up to which the tin has precedence; `None` without `bandwidth`.
    pub threshold: Option<Rate>,
    /// target: COBALT's target.
    pub target: Span,
    /// interval: COBALT's interval.
    pub interval: Span,
    /// pk_delay: running peak of the queueing delay.
    pub peak_delay: Span,
    /// av_delay: running mean of the queueing delay.
    pub average_delay: Span,
    /// sp_delay: running minimum of the queueing delay.
    pub base_delay: Span,
    /// backlog: waiting bytes.
    pub backlog: Bytes,
    /// pkts: packets that arrived, including those dropped later.
    pub packets: u64,
    /// bytes: their bytes on the wire.
    pub bytes: Bytes,
    /// way_inds: packets of flows whose queue is not the direct one of the hash.
    pub indirect_hits: u64,
    /// way_miss: flows that took an unused queue.
    pub misses: u64,
    /// way_cols: packets of flows that share a queue because all ways of the set are in use.
    pub collisions: u64,
    /// drops: packets.
    pub drops: u64,
    /// marks: packets.
    pub marks: u64,
    /// ack_drop: acknowledgements that the ACK filter dropped.
    pub acknowledgements_dropped: u64,
    /// sp_flows: flows that are new.
    pub sparse_flows: u32,
    /// bk_flows: flows in the round.
    pub bulk_flows: u32,
    /// un_flows: flows that BLUE drops.
    pub unresponsive_flows: u32,
    /// max_len: the largest packet.
    pub longest: Bytes,
    /// quantum: quantum of a flow.
    pub quantum: Bytes,
}

/// Counters of a tin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct TinCounters {
    pub packets: u64,
    pub bytes: u64,
    pub longest: u16,
    pub indirect_hits: u64,
    pub misses: u64,
    pub collisions: u64,
    pub drops: u64,
    pub marks: u64,
    pub acknowledgements_dropped: u64,
    /// Nanoseconds, like the following delays.
    pub average: u64,
    pub peak: u64,
    pub base: u64,
}

/// `sch_cake`'s moving average: the sample has weight 2^−`shift`.
const fn moved(average: u64, sample: u64, shift: u32) -> u64 {
    average - (average >> shift) + (sample >> shift)
}

impl TinCounters {
    /// Counts an arrival of this many bytes.
    pub fn came(&mut self, wire: u16) {
        self.packets += 1;
        self.bytes += u64::from(wire);
        self.longest = self.longest.max(wire);
    }

    /// Counts a departure after this delay.
    pub fn left(&mut self, waited: Span) {
        let waited = waited.nanos();
        self.average = moved(self.average, waited, 8);
        self.peak = moved(self.peak, waited, if waited > self.peak { 2 } else { 8 });
        self.base = moved(self.base, waited, if waited < self.base { 2 } else { 8 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_move_as_in_sch_cake() {
        let mut counters = TinCounters::default();
        counters.left(Span::from_nanos(25_600));
        // From 0: a quarter of a larger delay for the peak, a 256th for the others.
        assert_eq!((counters.average, counters.peak, counters.base), (100, 6400, 100));
        counters.left(Span::from_nanos(0));
        // 100 − 100/256 = 100, 6400 − 6400/256 = 6375, 100 − 100/4 = 75.
        assert_eq!((counters.average, counters.peak, counters.base), (100, 6375, 75));
    }

    #[test]
    fn packets_are_counted_with_their_bytes_and_the_largest() {
        let mut counters = TinCounters::default();
        [40, 1500, 200].into_iter().for_each(|wire| counters.came(wire));
        assert_eq!((counters.packets, counters.bytes, counters.longest), (3, 1740, 1500));
    }
}
