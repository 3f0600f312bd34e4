//! Counters that see what happens and when, and count what lies within the run.
//!
//! Links are crossed ahead of time, so everything here is told the time of the happening and leaves out what comes
//! after the end. Queue lengths are time averages: the sum of the waiting times that fall into a window over the window.

use fairwave_core::quality::playback::Playback;
use fairwave_core::queue::DropReason;
use fairwave_core::units::{Bytes, Instant, Span};

/// The time that counts: the whole run, and the part of it after the warm-up.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Steady-state measures begin here.
    pub warmup: Instant,
    /// Nothing counts after this.
    pub end: Instant,
}

impl Window {
    /// Length of the steady part.
    pub fn steady(&self) -> Span {
        self.end.since(self.warmup)
    }

    /// How much of [from, to) lies in [low, end).
    fn overlap(&self, from: Instant, to: Instant, low: Instant) -> u64 {
        to.min(self.end).since(from.max(low)).nanos()
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
pub struct Crossings {
    /// Packets that arrived at the queue.
    pub arrivals: u64,
    /// Packets that left the transmitter: packet-hops.
    pub departures: u64,
    /// Bytes on the wire that left the transmitter.
    pub wire: u64,
}

/// What one direction of a link counts. The counters that every packet touches come first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct LinkMeasure {
    /// In the steady part.
    pub steady: Crossings,
    /// Packet-nanoseconds of waiting.
    pub waited: u64,
    /// Those of the steady part.
    pub waited_steady: u64,
    /// Most packets that waited at once.
    pub max_queue: u32,
    /// Packet-nanoseconds of waiting per bin, when asked for.
    pub waited_in_bin: Option<Box<Bins>>,
    /// Before the steady part.
    early: Crossings,
    /// Dropped for want of room.
    pub dropped_overflow: u64,
    /// Dropped by the discipline.
    pub dropped_early: u64,
    /// Dropped in the steady part, for either reason.
    pub dropped_steady: u64,
    /// Transmitted and lost on the wire.
    pub lost: u64,
    /// Transmitted by the end and then still on the wire.
    pub on_wire: u64,
}

impl LinkMeasure {
    /// Nothing yet; with a sum of waiting per bin if they are given.
    pub fn new(waited_in_bin: Option<Box<Bins>>) -> Self {
        LinkMeasure { waited_in_bin, ..LinkMeasure::default() }
    }

    /// What crosses at `now` is counted here.
    #[inline]
    fn crossings(&mut self, now: Instant, window: Window) -> &mut Crossings {
        if now >= window.warmup { &mut self.steady } else { &mut self.early }
    }

    /// A packet arrived; arrivals after the end are never told.
    #[inline]
    pub fn arrived(&mut self, now: Instant, window: Window) {
        self.crossings(now, window).arrivals += 1;
    }

    /// Packets that crossed in the whole run.
    pub fn whole(&self) -> Crossings {
        let (early, steady) = (self.early, self.steady);
        Crossings {
            arrivals: early.arrivals + steady.arrivals,
            departures: early.departures + steady.departures,
            wire: early.wire + steady.wire,
        }
    }

    /// A packet was dropped.
    pub fn dropped(&mut self, now: Instant, reason: DropReason, window: Window) {
        match reason {
            DropReason::Overflow => self.dropped_overflow += 1,
            _ => self.dropped_early += 1,
        }
        self.dropped_steady += u64::from(now >= window.warmup);
    }

    /// `packets` packets wait, or waited, from `from` to `to`.
    #[inline]
    pub fn held(&mut self, packets: u32, from: Instant, to: Instant, window: Window) {
        if to <= from {
            return;
        }
        let packets = u64::from(packets);
        let whole = packets * window.overlap(from, to, Instant::ZERO);
        self.waited += whole;
        self.waited_steady +=
            if from >= window.warmup { whole } else { packets * window.overlap(from, to, window.warmup) };
        if let Some(bins) = &mut self.waited_in_bin {
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
        true
    }

    /// Dropped, for either reason.
    pub fn dropped_in_all(&self) -> u64 {
        self.dropped_overflow + self.dropped_early
    }
}

/// What one flow counts at its receiver's end of the network. The counters that every packet touches come last.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct FlowMeasure {
    /// Payload delivered before the steady part.
    payload_early: u64,
    /// Bytes of payload per bin, when asked for.
    pub payload_in_bin: Option<Box<Bins>>,
    /// The application that plays back, if there is one.
    pub playback: Option<Box<Playback>>,
    /// Data packets dropped by queues.
    pub dropped: u64,
    /// Data packets lost by links.
    pub lost: u64,
    /// Feedback packets dropped by queues or lost by links.
    pub feedback_missing: u64,
    /// There are bins or an application that plays back.
    observed: bool,
    /// Data packets that reached the receiver's transport.
    pub packets_arrived: u64,
    /// Feedback packets that the receiver handed to the network.
    pub feedback_sent: u64,
    /// Payload bytes delivered to the receiving application in the steady part, each once.
    pub payload_steady: u64,
}

impl FlowMeasure {
    /// Nothing yet; with a sum of payload per bin, and of an application that plays back, where they are asked for.
    pub fn new(payload_in_bin: Option<Box<Bins>>, playback: Option<Box<Playback>>) -> Self {
        let observed = payload_in_bin.is_some() || playback.is_some();
        FlowMeasure { observed, payload_in_bin, playback, ..FlowMeasure::default() }
    }

    /// Payload bytes delivered in the whole run.
    pub fn payload(&self) -> u64 {
        self.payload_early + self.payload_steady
    }

    /// Payload reached the application.
    #[inline]
    pub fn delivered(&mut self, now: Instant, payload: u32, window: Window) {
        *(if now >= window.warmup { &mut self.payload_steady } else { &mut self.payload_early }) += u64::from(payload);
        if self.observed {
            self.observe(now, payload);
        }
    }

    fn observe(&mut self, now: Instant, payload: u32) {
        if let Some(bins) = &mut self.payload_in_bin {
            bins.add(now, u64::from(payload));
        }
        if let Some(playback) = &mut self.playback {
            playback.on_received(now, Bytes::new(u64::from(payload)));
        }
    }

    /// A packet was dropped by a queue.
    pub fn dropped(&mut self, feedback: bool) {
        *(if feedback { &mut self.feedback_missing } else { &mut self.dropped }) += 1;
    }

    /// A packet was lost by a link.
    pub fn lost(&mut self, feedback: bool) {
        *(if feedback { &mut self.feedback_missing } else { &mut self.lost }) += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(s: f64) -> Instant {
        Instant::from_seconds(s)
    }

    #[test]
    fn waiting_counts_only_inside_the_run_and_its_steady_part() {
        let window = Window { warmup: seconds(1.0), end: seconds(3.0) };
        let bins = Bins::over(window, Span::from_millis(500));
        let mut link = LinkMeasure::new(bins);
        link.held(1, seconds(0.5), seconds(1.5), window);
        link.held(1, seconds(2.75), seconds(9.0), window);
        assert_eq!(link.waited, 1_250_000_000);
        assert_eq!(link.waited_steady, 750_000_000);
        let bins = link.waited_in_bin.map_or(Vec::new(), |bins| bins.sums);
        let seconds: Vec<f64> = bins.into_iter().map(|nanos| nanos as f64 / 1e9).collect();
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
