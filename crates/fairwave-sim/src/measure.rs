//! Counters of links and flows, restricted to the run's window.
//!
//! The run computes link crossings ahead of time. So every method takes the time of the event and ignores events
//! after the end. Queue lengths are time averages: the sum of the waiting times inside a window, divided by the
//! window's length.

use fairwave_core::quality::playback::Playback;
use fairwave_core::queue::DropReason;
use fairwave_core::units::{Bytes, Instant, Span};

/// Measurement window, from the end of the warm-up to the end of the run. Earlier counts are kept only for the packet
/// accounting.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Start of the measurements.
    pub warmup: Instant,
    /// End of the measurements.
    pub end: Instant,
}

impl Window {
    /// Returns its length.
    pub fn length(&self) -> Span {
        self.end.span_since(self.warmup)
    }

    /// Returns how much of [from, to) is in the window, in nanoseconds.
    fn overlap(&self, from: Instant, to: Instant) -> u64 {
        to.min(self.end).span_since(from.max(self.warmup)).nanos()
    }
}

/// A sum per time bin, kept only for a requested series.
#[derive(Clone, Debug)]
pub struct Bins {
    width: u64,
    /// Sums.
    pub sums: Vec<u64>,
}

impl Bins {
    /// Creates zero sums over the run; `None` if `width` is zero.
    pub fn zero(window: Window, width: Span) -> Option<Box<Self>> {
        let bins = window.end.nanos().checked_div(width.nanos())?;
        Some(Box::new(Bins { width: width.nanos(), sums: vec![0; bins as usize + 1] }))
    }

    /// Returns the sums; empty without bins.
    fn sums_of(bins: Option<&Self>) -> &[u64] {
        bins.map_or(&[], |bins| &bins.sums)
    }

    /// Adds `amount` to the bin of `now`.
    pub fn add(&mut self, now: Instant, amount: u64) {
        if let Some(sum) = self.sums.get_mut((now.nanos() / self.width) as usize) {
            *sum += amount;
        }
    }

    /// Adds `amount` × nanoseconds to each bin that overlaps the time from `from` to `to`.
    fn spread(&mut self, amount: u64, from: Instant, to: Instant) {
        let (mut from, to) = (from.nanos(), to.nanos());
        while from < to {
            let bin = from / self.width;
            let until = ((bin + 1) * self.width).min(to);
            if let Some(sum) = self.sums.get_mut(bin as usize) {
                *sum += amount * (until - from);
            }
            from = until;
        }
    }
}

/// Packets that crossed a link.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCrossings {
    /// Packets that arrived at the queue.
    pub arrivals: u64,
    /// Packets that left the transmitter: packet-hops.
    pub departures: u64,
    /// Bytes on the wire that left the transmitter.
    pub wire: u64,
}

/// Packets that a link removed or marked.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkLosses {
    /// Dropped because the queue was full.
    pub overflow: u64,
    /// Dropped by the discipline.
    pub early: u64,
    /// Transmitted and lost on the wire.
    pub lost: u64,
    /// Removed by a link failure, while waiting or in transmission.
    pub failed: u64,
    /// Not missing: transmission started with a mark from this queue.
    pub marked: u64,
}

impl LinkLosses {
    /// Returns the packets dropped by the queue, for either reason.
    pub fn dropped(&self) -> u64 {
        self.overflow + self.early
    }
}

/// Counters of one link direction. The counters that every packet touches come first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct LinkMeasure {
    /// Crossings in the window.
    pub steady: LinkCrossings,
    /// Packet-nanoseconds of waiting in the window.
    pub waited: u64,
    /// Largest number of simultaneously waiting packets in the window.
    pub max_queue: u32,
    /// Packets transmitted by the end and then still on the wire.
    pub on_wire: u32,
    /// Counters that only few links need.
    rare: Option<Box<LinkRarities>>,
}

/// Counters that only few links need. Most links never allocate them. With many flows, that saves most of the links'
/// memory.
#[derive(Clone, Debug, Default)]
struct LinkRarities {
    /// Packet-nanoseconds of waiting per bin of the run, if requested.
    waited_in_bin: Option<Box<Bins>>,
    /// Packets that left the transmitter per bin of the run, if requested. Such a link is not crossed in one step.
    departed_in_bin: Option<Box<Bins>>,
    /// Counts before the window; most runs have no warm-up.
    warming: Option<Box<LinkWarming>>,
    /// Losses in the window.
    missing: LinkLosses,
    /// Duplicates and reordering in the window.
    disorder: Disorder,
    /// Bytes that left in the window but were transmitted before it: the first part of a single packet.
    sent_before: u64,
    /// Bytes already transmitted at the end, of the packet then in transmission.
    sent_by_end: u64,
}

/// Counts of one link direction before the window.
#[derive(Clone, Copy, Debug, Default)]
struct LinkWarming {
    crossings: LinkCrossings,
    missing: LinkLosses,
    disorder: Disorder,
}

/// Duplicates and reordering by a wire, of packets that arrive.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disorder {
    /// Copies made by the wire.
    pub duplicated: u64,
    /// Packets overtaken by a packet that left later.
    pub reordered: u64,
}

impl LinkMeasure {
    /// Creates zero counters, with bins of waiting if given.
    pub fn new(waited_in_bin: Option<Box<Bins>>) -> Self {
        let rare = waited_in_bin
            .map(|waited| Box::new(LinkRarities { waited_in_bin: Some(waited), ..LinkRarities::default() }));
        LinkMeasure { rare, ..LinkMeasure::default() }
    }

    /// Returns the crossing counters for the time `now`.
    #[inline]
    fn crossings(&mut self, now: Instant, window: Window) -> &mut LinkCrossings {
        if now >= window.warmup { &mut self.steady } else { &mut self.warming().crossings }
    }

    /// Returns the counters before the window. Out of line, because most runs have no warm-up.
    #[cold]
    #[inline(never)]
    fn warming(&mut self) -> &mut LinkWarming {
        self.rare().warming.get_or_insert_default()
    }

    /// Returns the counts before the window.
    fn warmed(&self) -> LinkWarming {
        self.rare.as_ref().and_then(|rare| rare.warming.as_deref()).copied().unwrap_or_default()
    }

    fn rare(&mut self) -> &mut LinkRarities {
        self.rare.get_or_insert_default()
    }

    /// Returns the packets removed or marked in the window.
    pub fn missing(&self) -> LinkLosses {
        self.rare.as_ref().map_or_else(LinkLosses::default, |rare| rare.missing)
    }

    /// Returns a mutable reference to [`Self::missing`].
    #[cfg(test)]
    pub fn missing_mut(&mut self) -> &mut LinkLosses {
        &mut self.rare().missing
    }

    /// Returns the duplicates and reordering in the window.
    pub fn disorder(&self) -> Disorder {
        self.rare.as_ref().map_or_else(Disorder::default, |rare| rare.disorder)
    }

    /// Returns packet-nanoseconds of waiting per bin of the run; empty unless requested.
    pub fn waited_in_bin(&self) -> &[u64] {
        Bins::sums_of(self.rare.as_ref().and_then(|rare| rare.waited_in_bin.as_deref()))
    }

    /// Returns departed packets per bin of the run; empty unless requested.
    pub fn departed_in_bin(&self) -> &[u64] {
        Bins::sums_of(self.rare.as_ref().and_then(|rare| rare.departed_in_bin.as_deref()))
    }

    /// Starts or stops counting departed packets per bin.
    pub fn count_departures(&mut self, bins: Option<Box<Bins>>) {
        if bins.is_some() || self.rare.is_some() {
            self.rare().departed_in_bin = bins;
        }
    }

    /// Whether departed packets are counted per bin.
    pub fn counts_departures(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.departed_in_bin.is_some())
    }

    /// Counts an arrival. Callers do not report arrivals after the end.
    #[inline]
    pub fn arrived(&mut self, now: Instant, window: Window) {
        self.crossings(now, window).arrivals += 1;
    }

    /// Counts an arrival and a departure in the window.
    #[inline(always)]
    pub fn crossed(&mut self, wire: u16) {
        self.steady.arrivals += 1;
        self.steady.departures += 1;
        self.steady.wire += u64::from(wire);
    }

    /// Counts a departure in the window, without bins.
    #[inline(always)]
    pub fn left(&mut self, wire: u16) {
        self.steady.departures += 1;
        self.steady.wire += u64::from(wire);
    }

    /// Counts a packet that arrives in the window and waits for `wait` inside it. Then `packets` packets wait. Only
    /// for links without bins.
    #[inline(always)]
    pub fn waits(&mut self, packets: u32, wait: Span) {
        self.max_queue = self.max_queue.max(packets);
        self.waited += wait.nanos();
    }

    /// Returns the crossings of the whole run.
    pub fn totals(&self) -> LinkCrossings {
        let (warming, steady) = (self.warmed().crossings, self.steady);
        LinkCrossings {
            arrivals: warming.arrivals + steady.arrivals,
            departures: warming.departures + steady.departures,
            wire: warming.wire + steady.wire,
        }
    }

    /// Returns the bytes transmitted within the window. Packets that straddle an edge count with their part inside.
    pub fn transmitted(&self) -> u64 {
        let (sent_before, sent_by_end) = self.rare.as_ref().map_or((0, 0), |rare| (rare.sent_before, rare.sent_by_end));
        self.steady.wire + sent_by_end - sent_before
    }

    /// Records the bytes transmitted before the window, of a packet that leaves the transmitter in the window.
    pub fn begun_before(&mut self, bytes: u64) {
        self.rare().sent_before = bytes;
    }

    /// Records the bytes already transmitted at the end, of the packet in transmission.
    pub fn cut_off(&mut self, bytes: u64) {
        self.rare().sent_by_end = bytes;
    }

    /// Returns the packets removed or marked in the whole run.
    pub fn whole_missing(&self) -> LinkLosses {
        let (warming, steady) = (self.warmed().missing, self.missing());
        LinkLosses {
            overflow: warming.overflow + steady.overflow,
            early: warming.early + steady.early,
            lost: warming.lost + steady.lost,
            failed: warming.failed + steady.failed,
            marked: warming.marked + steady.marked,
        }
    }

    fn missing_at(&mut self, now: Instant, window: Window) -> &mut LinkLosses {
        if now >= window.warmup { &mut self.rare().missing } else { &mut self.warming().missing }
    }

    /// Counts a drop.
    pub fn dropped(&mut self, now: Instant, reason: DropReason, window: Window) {
        let missing = self.missing_at(now, window);
        match reason {
            DropReason::Overflow => missing.overflow += 1,
            _ => missing.early += 1,
        }
    }

    /// Counts a transmission that starts at `now`, of a packet marked by the queue.
    pub fn marked(&mut self, now: Instant, window: Window) {
        self.missing_at(now, window).marked += 1;
    }

    /// Counts a loss on the wire of a packet that left the transmitter at `now`.
    pub fn lost(&mut self, now: Instant, window: Window) {
        self.missing_at(now, window).lost += 1;
    }

    /// Takes back the departure at `now` of a packet that a link failure removed.
    pub fn failed(&mut self, now: Instant, wire: u16, window: Window) {
        let crossings = self.crossings(now, window);
        crossings.departures -= 1;
        crossings.wire -= u64::from(wire);
        self.missing_at(now, window).failed += 1;
    }

    /// Counts a copy of a packet that arrives at `now`.
    pub fn duplicated(&mut self, now: Instant, window: Window) {
        self.disorder_at(now, window).duplicated += 1;
    }

    /// Counts the packets overtaken by a packet that arrives at `now`.
    pub fn overtaken(&mut self, packets: u64, now: Instant, window: Window) {
        self.disorder_at(now, window).reordered += packets;
    }

    fn disorder_at(&mut self, now: Instant, window: Window) -> &mut Disorder {
        if now >= window.warmup { &mut self.rare().disorder } else { &mut self.warming().disorder }
    }

    /// Returns the copies made in the whole run.
    pub fn copies(&self) -> u64 {
        self.disorder().duplicated + self.warmed().disorder.duplicated
    }

    /// Records that `packets` packets wait at `now`.
    #[inline]
    pub fn waiting(&mut self, packets: u32, now: Instant, window: Window) {
        if now >= window.warmup {
            self.max_queue = self.max_queue.max(packets);
        }
    }

    /// Records that `packets` packets wait from `from` to `to`.
    #[inline]
    pub fn held(&mut self, packets: u32, from: Instant, to: Instant, window: Window) {
        if to <= from {
            return;
        }
        let packets = u64::from(packets);
        self.waited += packets * window.overlap(from, to);
        if let Some(bins) = self.rare.as_mut().and_then(|rare| rare.waited_in_bin.as_mut()) {
            bins.spread(packets, from, to.min(window.end));
        }
    }

    /// Counts a departure at `now`, which can be after the end. Returns whether it counts.
    #[inline]
    pub fn departed(&mut self, now: Instant, wire: u16, window: Window) -> bool {
        if now > window.end {
            return false;
        }
        let crossings = self.crossings(now, window);
        crossings.departures += 1;
        crossings.wire += u64::from(wire);
        if let Some(bins) = self.rare.as_mut().and_then(|rare| rare.departed_in_bin.as_mut()) {
            bins.add(now, 1);
        }
        true
    }
}

/// Optional observers of a flow's payload.
#[derive(Clone, Debug, Default)]
pub struct PayloadObserver {
    /// Payload bytes per bin of the run, if requested.
    pub payload_in_bin: Option<Box<Bins>>,
    /// Playback application of the flow, if any.
    pub playback: Option<Box<Playback>>,
    /// Stop of the flow. Later deliveries drain packets in transit.
    stop: Instant,
    /// Payload delivered in the window at or after the stop.
    payload_drained: u64,
}

/// Packets of a flow removed before the window. 32 bits suffice for any run.
#[derive(Clone, Copy, Debug, Default)]
struct EarlyRemovals {
    dropped: u32,
    lost: u32,
}

/// Counters of one flow at its receiver's end. The counters that every packet touches come last.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct FlowMeasure {
    /// Data packets dropped by queues in the window. 32 bits suffice for any run, here and below.
    pub dropped: u32,
    /// Data packets lost by links in the window.
    pub lost: u32,
    /// Data packets that arrived in the window with a mark (congestion experienced).
    pub marked: u32,
    /// Feedback packets dropped by queues or lost by links.
    pub feedback_missing: u32,
    gone_warming: EarlyRemovals,
    /// Set for flows with bins, a playback application, or a stop before the end.
    pub observed: Option<Box<PayloadObserver>>,
    /// Data packets that reached the receiver's transport.
    pub packets_arrived: u64,
    /// Feedback packets that the receiver handed to the network.
    pub feedback_sent: u64,
    /// Payload bytes delivered to the receiving application in the window, each once.
    pub payload: u64,
}

impl FlowMeasure {
    /// Creates zero counters for a flow that stops at `stop`, with payload bins and a playback application if given.
    pub fn new(
        payload_in_bin: Option<Box<Bins>>,
        playback: Option<Box<Playback>>,
        stop: Instant,
        window: Window,
    ) -> Self {
        let is_observed = payload_in_bin.is_some() || playback.is_some() || stop < window.end;
        let observed =
            is_observed.then(|| Box::new(PayloadObserver { payload_in_bin, playback, stop, payload_drained: 0 }));
        FlowMeasure { observed, ..FlowMeasure::default() }
    }

    /// Returns the payload bytes delivered in the window before the flow's stop.
    pub fn payload_while_on(&self) -> u64 {
        self.payload - self.observed.as_ref().map_or(0, |observed| observed.payload_drained)
    }

    /// Counts payload delivered to the application.
    #[inline]
    pub fn delivered(&mut self, now: Instant, payload: u32, window: Window) {
        self.payload += if now >= window.warmup { u64::from(payload) } else { 0 };
        if self.observed.is_some() {
            self.observe(now, payload, window);
        }
    }

    fn observe(&mut self, now: Instant, payload: u32, window: Window) {
        let Some(observed) = &mut self.observed else { return };
        if now >= observed.stop.max(window.warmup) {
            observed.payload_drained += u64::from(payload);
        }
        if let Some(bins) = &mut observed.payload_in_bin {
            bins.add(now, u64::from(payload));
        }
        if let Some(playback) = &mut observed.playback {
            playback.on_received(now, Bytes::new(u64::from(payload)));
        }
    }

    /// Counts a marked data packet. A separate function, because it touches a counter that other packets do not need.
    #[cold]
    #[inline(never)]
    pub fn arrived_marked(&mut self, now: Instant, window: Window) {
        self.marked += u32::from(now >= window.warmup);
    }

    /// Counts a packet dropped by a queue at `now`.
    pub fn dropped(&mut self, feedback: bool, now: Instant, window: Window) {
        match (feedback, now >= window.warmup) {
            (true, _) => self.feedback_missing += 1,
            (false, true) => self.dropped += 1,
            (false, false) => self.gone_warming.dropped = self.gone_warming.dropped.saturating_add(1),
        }
    }

    /// Counts a packet lost by a link at `now`.
    pub fn lost(&mut self, feedback: bool, now: Instant, window: Window) {
        match (feedback, now >= window.warmup) {
            (true, _) => self.feedback_missing += 1,
            (false, true) => self.lost += 1,
            (false, false) => self.gone_warming.lost = self.gone_warming.lost.saturating_add(1),
        }
    }

    /// Returns the data packets dropped by queues and lost by links in the whole run.
    pub fn gone_in_all(&self) -> (u64, u64) {
        let all = |in_window: u32, before: u32| u64::from(in_window) + u64::from(before);
        (all(self.dropped, self.gone_warming.dropped), all(self.lost, self.gone_warming.lost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(s: f64) -> Instant {
        Instant::from_seconds(s)
    }

    #[test]
    fn waiting_counts_only_inside_the_window_and_its_series_over_the_run() {
        let window = Window { warmup: seconds(1.0), end: seconds(3.0) };
        let bins = Bins::zero(window, Span::from_millis(500));
        let mut link = LinkMeasure::new(bins);
        link.held(1, seconds(0.5), seconds(1.5), window);
        link.held(1, seconds(2.75), seconds(9.0), window);
        assert_eq!(link.waited, 750_000_000);
        let seconds: Vec<f64> = link.waited_in_bin().iter().map(|&nanos| nanos as f64 / 1e9).collect();
        assert_eq!(seconds, [0.0, 0.5, 0.5, 0.0, 0.0, 0.25, 0.0]);
    }

    #[test]
    fn a_departure_after_the_end_is_no_packet_hop() {
        let window = Window { warmup: Instant::ZERO, end: seconds(1.0) };
        let mut link = LinkMeasure::default();
        assert!(link.departed(seconds(1.0), 1040, window));
        assert!(!link.departed(seconds(1.1), 1040, window));
        assert_eq!((link.totals().departures, link.totals().wire), (1, 1040));
    }
}
