//! What `tc -s qdisc` tells of CAKE's tins, counted as Linux' `sch_cake` does: of the whole run, warm-up included.
//!
//! **Deviations.** `marks` counts packets that bore no mark before. `un_flows` are the queues that BLUE drops from at the moment.

use fairwave_units::units::{Bytes, Rate, Span};

/// The statistics of a tin, by the names of `tc`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TinStatistics {
    /// `Best Effort`, `Bulk`, `Video`, `Voice`.
    pub name: &'static str,
    /// thresh: the rate up to which the tin has precedence; none where nothing is limited.
    pub threshold: Option<Rate>,
    /// target: COBALT's.
    pub target: Span,
    /// interval: COBALT's.
    pub interval: Span,
    /// pk_delay: running peak of the waits.
    pub peak_delay: Span,
    /// av_delay: running mean of the waits.
    pub average_delay: Span,
    /// sp_delay: running minimum of the waits.
    pub base_delay: Span,
    /// backlog: what waits.
    pub backlog: Bytes,
    /// pkts: packets that came, those dropped later included.
    pub packets: u64,
    /// bytes: theirs on the wire.
    pub bytes: Bytes,
    /// way_inds: packets whose flow's queue was another than the hash's own.
    pub indirect_hits: u64,
    /// way_miss: flows that took a queue that was not in use.
    pub misses: u64,
    /// way_cols: packets of flows that shared a queue, all ways of the set being in use.
    pub collisions: u64,
    /// drops: packets.
    pub drops: u64,
    /// marks: packets.
    pub marks: u64,
    /// ack_drop: acknowledgements that the ACK filter dropped.
    pub acknowledgements_dropped: u64,
    /// sp_flows: flows that have just begun.
    pub sparse_flows: u32,
    /// bk_flows: flows in the round.
    pub bulk_flows: u32,
    /// un_flows: flows that BLUE drops from.
    pub unresponsive_flows: u32,
    /// max_len: the largest packet.
    pub longest: Bytes,
    /// quantum: a flow's.
    pub quantum: Bytes,
}

/// What a tin counts.
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
    /// Nanoseconds, as the delays that follow.
    pub average: u64,
    pub peak: u64,
    pub base: u64,
}

/// `sch_cake`'s moving average: of the sample counts one part in 2 to the `shift`.
const fn moved(average: u64, sample: u64, shift: u32) -> u64 {
    average - (average >> shift) + (sample >> shift)
}

impl TinCounters {
    /// A packet of this many bytes arrived.
    pub fn came(&mut self, wire: u16) {
        self.packets += 1;
        self.bytes += u64::from(wire);
        self.longest = self.longest.max(wire);
    }

    /// A packet leaves that has waited so long.
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
        // From 0: a quarter of a larger wait for the peak, a 256th for the others.
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
