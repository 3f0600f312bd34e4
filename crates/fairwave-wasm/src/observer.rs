//! Time series of a run. The observer does not change the run's results.
//!
//! Counts per bin do not depend on the order of events, because the simulator processes links ahead of time.

use fairwave_core::packet::{Class, Packet};
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::Plan;
use fairwave_sim::probe::{Probe, RemovalCause};

use crate::progress::Progress;

/// Maximum number of observed links: those with the lowest rates, because packets wait there.
const MOST_LINKS: usize = 32;

/// A level over time, stored as its mean per bin.
#[derive(Clone, Default)]
struct Level {
    /// Sum of changes within a bin, each weighted by the time until the end of the bin, in units × nanoseconds.
    within: Vec<i64>,
    /// The change of the level that takes effect at the start of the bin.
    onwards: Vec<i64>,
}

impl Level {
    fn new(bins: usize) -> Self {
        Level { within: vec![0; bins], onwards: vec![0; bins + 1] }
    }

    fn change(&mut self, by: i64, at: Instant, bin: Span) {
        let index = (at.nanos() / bin.nanos()) as usize;
        if let Some(within) = self.within.get_mut(index) {
            *within += by * ((index as u64 + 1) * bin.nanos() - at.nanos()) as i64;
            self.onwards[index + 1] += by;
        }
    }

    fn means(&self, bin: Span) -> Vec<f64> {
        let mut level = 0;
        let one = |(within, onwards): (&i64, &i64)| {
            level += onwards;
            level as f64 + *within as f64 / bin.nanos() as f64
        };
        self.within.iter().zip(&self.onwards).map(one).collect()
    }
}

/// One link direction over time.
pub struct Observed {
    /// Index in the plan.
    pub link: usize,
    waiting: [Level; 3],
    /// Packets that its queue dropped or its wire lost, per class and bin.
    pub gone: [Vec<u32>; 3],
    /// Packets that arrived.
    pub arrivals: u64,
}

/// The run over time.
pub struct Observer {
    bin: Span,
    links: Vec<Observed>,
    /// For each link of the plan: its index among the observed links.
    place: Vec<u32>,
    /// The group of each flow.
    group: Vec<usize>,
    /// Bytes on the wire delivered to each group's receivers, per bin.
    received: Vec<Vec<u64>>,
    /// Data packets lost or dropped, per group and bin.
    missing: Vec<Vec<u32>>,
    progress: Progress,
}

impl Observer {
    /// Observes a plan's run in `bins` bins.
    pub fn new(plan: &Plan, bins: usize) -> Self {
        let bin = Span::from_nanos(plan.duration.nanos().div_ceil(bins as u64).max(1));
        let mut slowest: Vec<usize> = (0..plan.links.len()).collect();
        slowest.sort_by_key(|&link| plan.links[link].direction.rate.nominal());
        slowest.truncate(MOST_LINKS);
        let mut place = vec![u32::MAX; plan.links.len()];
        slowest.iter().enumerate().for_each(|(index, &link)| place[link] = index as u32);
        let observed = |&link: &usize| Observed {
            link,
            waiting: std::array::from_fn(|_| Level::new(bins)),
            gone: std::array::from_fn(|_| vec![0; bins]),
            arrivals: 0,
        };
        Observer {
            bin,
            links: slowest.iter().map(observed).collect(),
            place,
            group: plan.flows.iter().map(|flow| flow.group).collect(),
            received: vec![vec![0; bins]; plan.groups.len()],
            missing: vec![vec![0; bins]; plan.groups.len()],
            progress: Progress::new(plan.duration),
        }
    }

    /// Width of a bin.
    pub fn bin(&self) -> Span {
        self.bin
    }

    /// The links observed.
    pub fn links(&self) -> &[Observed] {
        &self.links
    }

    /// Mean number of waiting packets of a class at a link, per bin. Excludes the packet in transmission.
    pub fn waiting(&self, link: &Observed, class: Class) -> Vec<f64> {
        link.waiting[class as usize].means(self.bin)
    }

    /// Throughput to a group's receivers per bin, bits per second on the wire.
    pub fn throughput(&self, group: usize) -> Vec<f64> {
        let seconds = self.bin.seconds();
        self.received.get(group).into_iter().flatten().map(|bytes| *bytes as f64 * 8.0 / seconds).collect()
    }

    /// Data packets of a group that were dropped or lost anywhere, per bin.
    pub fn missing(&self, group: usize) -> &[u32] {
        self.missing.get(group).map_or(&[], Vec::as_slice)
    }

    fn observed(&mut self, link: usize) -> Option<&mut Observed> {
        self.links.get_mut(self.place[link] as usize)
    }

    fn miss(&mut self, link: usize, packet: &Packet, at: Instant) {
        let bin = (at.nanos() / self.bin.nanos()) as usize;
        if let Some(here) = self.observed(link)
            && let Some(gone) = here.gone[packet.class as usize].get_mut(bin)
        {
            *gone += 1;
        }
        let group = self.group[packet.flow.0 as usize];
        if !packet.feedback
            && let Some(missing) = self.missing[group].get_mut(bin)
        {
            *missing += 1;
        }
    }
}

impl Probe for Observer {
    fn now(&mut self, now: Instant) {
        self.progress.now(now);
    }

    fn arrived(&mut self, link: usize, packet: &Packet, at: Instant) {
        let bin = self.bin;
        if let Some(here) = self.observed(link) {
            here.arrivals += 1;
            here.waiting[packet.class as usize].change(1, at, bin);
        }
    }

    fn begun(&mut self, link: usize, packet: &Packet, at: Instant) {
        let bin = self.bin;
        if let Some(here) = self.observed(link) {
            here.waiting[packet.class as usize].change(-1, at, bin);
        }
    }

    fn received(&mut self, packet: &Packet, at: Instant) {
        if packet.feedback {
            return;
        }
        let (bin, group) = ((at.nanos() / self.bin.nanos()) as usize, self.group[packet.flow.0 as usize]);
        if let Some(received) = self.received[group].get_mut(bin) {
            *received += u64::from(packet.wire);
        }
    }

    fn left(&mut self, link: usize, packet: &Packet, at: Instant, lost: bool) {
        if lost {
            self.miss(link, packet, at);
        }
    }

    fn gone(&mut self, link: usize, packet: &Packet, at: Instant, how: RemovalCause) {
        let bin = self.bin;
        // A packet lost in a link failure has left the queue already: its transmission had begun.
        if matches!(how, RemovalCause::Dropped(_))
            && let Some(here) = self.observed(link)
        {
            here.waiting[packet.class as usize].change(-1, at, bin);
        }
        self.miss(link, packet, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_the_mean_over_each_bin_in_whatever_order_it_is_told() {
        let (bin, at) = (Span::from_millis(10), |millis| Instant::ZERO + Span::from_millis(millis));
        let changes = [(1, at(5)), (1, at(20)), (-1, at(25)), (-1, at(30))];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0]] {
            let mut level = Level::new(4);
            order.iter().for_each(|&one: &usize| level.change(changes[one].0, changes[one].1, bin));
            assert_eq!(level.means(bin), [0.5, 1.0, 1.5, 0.0]);
        }
    }
}
