//! Counters that see what happens and when, and count what lies within the run.
//!
//! Links are crossed ahead of time, so everything here is told the time of the happening and leaves out what comes
//! after the end. Queue lengths are time averages: the sum of the waiting times that fall into a window over the window.

use fairwave_core::quality::playback::Playback;
use fairwave_core::queue::DropReason;
use fairwave_core::units::{Bytes, Instant, Span};

/// The time that counts: from the end of the warm-up to the end of the run. What comes before is kept for the books alone.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Measures begin here.
    pub warmup: Instant,
    /// Nothing counts after this.
    pub end: Instant,
}

impl Window {
    /// Its length.
    pub fn length(&self) -> Span {
        self.end.since(self.warmup)
    }

    /// How much of [from, to) lies in it, in nanoseconds.
    fn overlap(&self, from: Instant, to: Instant) -> u64 {
        to.min(self.end).since(from.max(self.warmup)).nanos()
    }
}

/// A sum per bin of time, kept only when a series was asked for.
#[derive(Clone, Debug)]
pub struct Bins {
    width: u64,
    /// The sums.
    pub sums: Vec<u64>,
}

impl Bins {
    /// All zero, over the run; none when the width is zero.
    pub fn over(window: Window, width: Span) -> Option<Box<Self>> {
        let bins = window.end.nanos().checked_div(width.nanos())?;
        Some(Box::new(Bins { width: width.nanos(), sums: vec![0; bins as usize + 1] }))
    }

    /// The sums; none without bins.
    fn sums_of(bins: Option<&Self>) -> &[u64] {
        bins.map_or(&[], |bins| &bins.sums)
    }

    /// Adds `amount` at `now`.
    pub fn add(&mut self, now: Instant, amount: u64) {
        if let Some(sum) = self.sums.get_mut((now.nanos() / self.width) as usize) {
            *sum += amount;
        }
    }

    /// Adds `amount` times the time from `from` to `to`, in nanoseconds, to the bins in which it lies.
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

/// Packets that did not come through a link, or not as they came.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkLosses {
    /// Dropped for want of room.
    pub overflow: u64,
    /// Dropped by the discipline.
    pub early: u64,
    /// Transmitted and lost on the wire.
    pub lost: u64,
    /// Taken by a failure of the link, waiting for transmission or in it.
    pub failed: u64,
    /// Not missing: begun to be transmitted with a mark that the queue gave.
    pub marked: u64,
}

impl LinkLosses {
    /// Dropped by the queue, for either reason.
    pub fn dropped(&self) -> u64 {
        self.overflow + self.early
    }
}

/// What one direction of a link counts. The counters that every packet touches come first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct LinkMeasure {
    /// In the window.
    pub steady: LinkCrossings,
    /// Packet-nanoseconds of waiting in the window.
    pub waited: u64,
    /// Most packets that waited at once in the window.
    pub max_queue: u32,
    /// Transmitted by the end and then still on the wire.
    pub on_wire: u32,
    /// What few links have.
    rare: Option<Box<LinkRarities>>,
}

/// What few links count. Most never make one: with many flows that is most of their memory.
#[derive(Clone, Debug, Default)]
struct LinkRarities {
    /// Packet-nanoseconds of waiting per bin of the run, when asked for.
    waited_in_bin: Option<Box<Bins>>,
    /// Packets that left the transmitter per bin of the run, when asked for; such a link is not crossed in one step.
    departed_in_bin: Option<Box<Bins>>,
    /// Before the window; most runs have no warm-up.
    warming: Option<Box<LinkWarming>>,
    /// In the window.
    missing: LinkLosses,
    /// In the window.
    disorder: Disorder,
    /// Of the bytes that left in the window, those transmitted before it: the beginning of a single packet.
    sent_before: u64,
    /// Of a packet that is being transmitted at the end, the bytes transmitted by then.
    sent_by_end: u64,
}

/// What one direction of a link counts before the window.
#[derive(Clone, Copy, Debug, Default)]
struct LinkWarming {
    crossings: LinkCrossings,
    missing: LinkLosses,
    disorder: Disorder,
}

/// What a wire does to packets that arrive.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disorder {
    /// Copies that it made.
    pub duplicated: u64,
    /// Packets that one which left later overtook.
    pub reordered: u64,
}

impl LinkMeasure {
    /// Nothing yet; with a sum of waiting per bin if they are given.
    pub fn new(waited_in_bin: Option<Box<Bins>>) -> Self {
        let rare = waited_in_bin
            .map(|waited| Box::new(LinkRarities { waited_in_bin: Some(waited), ..LinkRarities::default() }));
        LinkMeasure { rare, ..LinkMeasure::default() }
    }

    /// What crosses at `now` is counted here.
    #[inline]
    fn crossings(&mut self, now: Instant, window: Window) -> &mut LinkCrossings {
        if now >= window.warmup { &mut self.steady } else { &mut self.warming().crossings }
    }

    /// What happens before the window is counted here. Kept out of the way of runs without a warm-up.
    #[cold]
    #[inline(never)]
    fn warming(&mut self) -> &mut LinkWarming {
        self.rare().warming.get_or_insert_default()
    }

    /// What was counted before the window.
    fn warmed(&self) -> LinkWarming {
        self.rare.as_ref().and_then(|rare| rare.warming.as_deref()).copied().unwrap_or_default()
    }

    fn rare(&mut self) -> &mut LinkRarities {
        self.rare.get_or_insert_default()
    }

    /// Packets that did not come through in the window.
    pub fn missing(&self) -> LinkLosses {
        self.rare.as_ref().map_or_else(LinkLosses::default, |rare| rare.missing)
    }

    /// The same, to be changed.
    #[cfg(test)]
    pub fn missing_mut(&mut self) -> &mut LinkLosses {
        &mut self.rare().missing
    }

    /// What the wire did in the window.
    pub fn disorder(&self) -> Disorder {
        self.rare.as_ref().map_or_else(Disorder::default, |rare| rare.disorder)
    }

    /// Packet-nanoseconds of waiting per bin of the run; empty unless asked for.
    pub fn waited_in_bin(&self) -> &[u64] {
        Bins::sums_of(self.rare.as_ref().and_then(|rare| rare.waited_in_bin.as_deref()))
    }

    /// Packets that left the transmitter per bin of the run; empty unless asked for.
    pub fn departed_in_bin(&self) -> &[u64] {
        Bins::sums_of(self.rare.as_ref().and_then(|rare| rare.departed_in_bin.as_deref()))
    }

    /// Packets that leave the transmitter are counted per bin from here on, or not.
    pub fn count_departures(&mut self, bins: Option<Box<Bins>>) {
        if bins.is_some() || self.rare.is_some() {
            self.rare().departed_in_bin = bins;
        }
    }

    /// Whether packets that leave the transmitter are counted per bin.
    pub fn counts_departures(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.departed_in_bin.is_some())
    }

    /// A packet arrived; arrivals after the end are never told.
    #[inline]
    pub fn arrived(&mut self, now: Instant, window: Window) {
        self.crossings(now, window).arrivals += 1;
    }

    /// A packet arrived and departed in the window.
    #[inline(always)]
    pub fn crossed(&mut self, wire: u16) {
        self.steady.arrivals += 1;
        self.steady.departures += 1;
        self.steady.wire += u64::from(wire);
    }

    /// A packet left the transmitter in the window, where no bins count that.
    #[inline(always)]
    pub fn left(&mut self, wire: u16) {
        self.steady.departures += 1;
        self.steady.wire += u64::from(wire);
    }

    /// A packet arrived in the window, to wait for `wait` within it: with those before it, `packets` wait. There are no bins of waiting.
    #[inline(always)]
    pub fn waits(&mut self, packets: u32, wait: Span) {
        self.max_queue = self.max_queue.max(packets);
        self.waited += wait.nanos();
    }

    /// Packets that crossed in the whole run.
    pub fn whole(&self) -> LinkCrossings {
        let (warming, steady) = (self.warmed().crossings, self.steady);
        LinkCrossings {
            arrivals: warming.arrivals + steady.arrivals,
            departures: warming.departures + steady.departures,
            wire: warming.wire + steady.wire,
        }
    }

    /// Bytes on the wire that were transmitted within the window: of packets that straddle an edge the part that lies in it.
    pub fn transmitted(&self) -> u64 {
        let (sent_before, sent_by_end) = self.rare.as_ref().map_or((0, 0), |rare| (rare.sent_before, rare.sent_by_end));
        self.steady.wire + sent_by_end - sent_before
    }

    /// Bytes that were transmitted before the window, of a packet that leaves the transmitter in the window.
    pub fn begun_before(&mut self, bytes: u64) {
        self.rare().sent_before = bytes;
    }

    /// Bytes already transmitted of the packet in transmission at the end.
    pub fn cut_off(&mut self, bytes: u64) {
        self.rare().sent_by_end = bytes;
    }

    /// Packets that did not come through in the whole run.
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

    /// A packet was dropped.
    pub fn dropped(&mut self, now: Instant, reason: DropReason, window: Window) {
        let missing = self.missing_at(now, window);
        match reason {
            DropReason::Overflow => missing.overflow += 1,
            _ => missing.early += 1,
        }
    }

    /// The transmission of a packet begins at `now` that the queue has marked.
    pub fn marked(&mut self, now: Instant, window: Window) {
        self.missing_at(now, window).marked += 1;
    }

    /// The wire lost a packet that left the transmitter at `now`.
    pub fn lost(&mut self, now: Instant, window: Window) {
        self.missing_at(now, window).lost += 1;
    }

    /// A failure of the link took the packet at `now` that was thought to leave then.
    pub fn failed(&mut self, now: Instant, wire: u16, window: Window) {
        let crossings = self.crossings(now, window);
        crossings.departures -= 1;
        crossings.wire -= u64::from(wire);
        self.missing_at(now, window).failed += 1;
    }

    /// The wire made a copy of a packet that arrives at `now`.
    pub fn duplicated(&mut self, now: Instant, window: Window) {
        self.disorder_at(now, window).duplicated += 1;
    }

    /// Number of packets that a packet arriving at `now` overtakes.
    pub fn overtaken(&mut self, packets: u64, now: Instant, window: Window) {
        self.disorder_at(now, window).reordered += packets;
    }

    fn disorder_at(&mut self, now: Instant, window: Window) -> &mut Disorder {
        if now >= window.warmup { &mut self.rare().disorder } else { &mut self.warming().disorder }
    }

    /// Copies that the wire made in the whole run.
    pub fn copies(&self) -> u64 {
        self.disorder().duplicated + self.warmed().disorder.duplicated
    }

    /// `packets` packets wait at `now`.
    #[inline]
    pub fn waiting(&mut self, packets: u32, now: Instant, window: Window) {
        if now >= window.warmup {
            self.max_queue = self.max_queue.max(packets);
        }
    }

    /// `packets` packets wait, or waited, from `from` to `to`.
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

    /// A packet leaves the transmitter at `now`, which may lie beyond the end. Answers whether it counts.
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

/// What watches a flow's payload beyond summing it.
#[derive(Clone, Debug, Default)]
pub struct PayloadObserver {
    /// Bytes of payload per bin of the run, when asked for.
    pub payload_in_bin: Option<Box<Bins>>,
    /// The application that plays back, if there is one.
    pub playback: Option<Box<Playback>>,
    /// When the flow stops; what is delivered from then on drains what was under way.
    stop: Instant,
    /// Payload delivered in the window from the stop on.
    payload_drained: u64,
}

/// Packets of a flow that are gone before the window; as many as a run can hold.
#[derive(Clone, Copy, Debug, Default)]
struct EarlyRemovals {
    dropped: u32,
    lost: u32,
}

/// What one flow counts at its receiver's end of the network. The counters that every packet touches come last.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct FlowMeasure {
    /// Data packets dropped by queues in the window; as many as a run can hold, as what follows.
    pub dropped: u32,
    /// Data packets lost by links in the window.
    pub lost: u32,
    /// Data packets that arrived in the window with congestion experienced.
    pub marked: u32,
    /// Feedback packets dropped by queues or lost by links.
    pub feedback_missing: u32,
    gone_warming: EarlyRemovals,
    /// Bins, an application that plays back, or a stop before the end.
    pub observed: Option<Box<PayloadObserver>>,
    /// Data packets that reached the receiver's transport.
    pub packets_arrived: u64,
    /// Feedback packets that the receiver handed to the network.
    pub feedback_sent: u64,
    /// Payload bytes delivered to the receiving application in the window, each once.
    pub payload: u64,
}

impl FlowMeasure {
    /// Nothing yet, of a flow that stops at `stop`; with a sum of payload per bin, and of an application that plays back,
    /// where they are asked for.
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

    /// Payload bytes delivered in the window while the flow was on.
    pub fn payload_while_on(&self) -> u64 {
        self.payload - self.observed.as_ref().map_or(0, |observed| observed.payload_drained)
    }

    /// Payload reached the application.
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

    /// A data packet arrived marked. Apart, as it touches what others leave alone.
    #[cold]
    #[inline(never)]
    pub fn arrived_marked(&mut self, now: Instant, window: Window) {
        self.marked += u32::from(now >= window.warmup);
    }

    /// A packet was dropped by a queue at `now`.
    pub fn dropped(&mut self, feedback: bool, now: Instant, window: Window) {
        match (feedback, now >= window.warmup) {
            (true, _) => self.feedback_missing += 1,
            (false, true) => self.dropped += 1,
            (false, false) => self.gone_warming.dropped = self.gone_warming.dropped.saturating_add(1),
        }
    }

    /// A packet was lost by a link at `now`.
    pub fn lost(&mut self, feedback: bool, now: Instant, window: Window) {
        match (feedback, now >= window.warmup) {
            (true, _) => self.feedback_missing += 1,
            (false, true) => self.lost += 1,
            (false, false) => self.gone_warming.lost = self.gone_warming.lost.saturating_add(1),
        }
    }

    /// Data packets dropped by queues and lost by links in the whole run.
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
        let bins = Bins::over(window, Span::from_millis(500));
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
        assert_eq!((link.whole().departures, link.whole().wire), (1, 1040));
    }
}
