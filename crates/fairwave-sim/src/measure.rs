//! Counters that see what happens and when, and count what lies within the run.
//!
//! Links are crossed ahead of time, so everything here is told the time of the happening and leaves out what comes
//! after the end. Queue lengths are time averages: the sum of the waiting times that fall into a window over the window.

use fairwave_core::queue::DropReason;
use fairwave_core::units::{Instant, Span};

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

/// What one direction of a link counts.
#[derive(Clone, Debug)]
pub struct LinkMeasure {
    window: Window,
    /// Packets that arrived at the queue.
    pub arrivals: u64,
    /// Those of the steady part.
    pub arrivals_steady: u64,
    /// Packets that left the transmitter: packet-hops.
    pub departures: u64,
    /// Dropped for want of room.
    pub dropped_overflow: u64,
    /// Dropped by the discipline.
    pub dropped_early: u64,
    /// Dropped in the steady part, for either reason.
    pub dropped_steady: u64,
    /// Transmitted and lost on the wire.
    pub lost: u64,
    /// Bytes on the wire that left the transmitter.
    pub wire_departed: u64,
    /// Those of the steady part.
    pub wire_departed_steady: u64,
    /// Packets whose transmission began.
    pub started: u64,
    /// Packet-nanoseconds of waiting.
    pub waited: u64,
    /// Those of the steady part.
    pub waited_steady: u64,
    /// Most packets that waited at once.
    pub max_queue: u32,
    bin: u64,
    /// Packet-nanoseconds of waiting per bin; empty when not recorded.
    pub waited_in_bin: Vec<u64>,
}

impl LinkMeasure {
    /// All zero; with a series of queue lengths when `bin` is not zero.
    pub fn new(window: Window, bin: Span) -> Self {
        LinkMeasure {
            window,
            arrivals: 0,
            arrivals_steady: 0,
            departures: 0,
            dropped_overflow: 0,
            dropped_early: 0,
            dropped_steady: 0,
            lost: 0,
            wire_departed: 0,
            wire_departed_steady: 0,
            started: 0,
            waited: 0,
            waited_steady: 0,
            max_queue: 0,
            bin: bin.nanos(),
            waited_in_bin: vec![0; window.end.nanos().checked_div(bin.nanos()).map_or(0, |n| n as usize + 1)],
        }
    }

    /// A packet arrived; arrivals after the end are never told.
    #[inline]
    pub fn arrived(&mut self, now: Instant) {
        self.arrivals += 1;
        self.arrivals_steady += u64::from(now >= self.window.warmup);
    }

    /// A packet was dropped.
    #[inline]
    pub fn dropped(&mut self, now: Instant, reason: DropReason) {
        match reason {
            DropReason::Overflow => self.dropped_overflow += 1,
            _ => self.dropped_early += 1,
        }
        self.dropped_steady += u64::from(now >= self.window.warmup);
    }

    /// A packet that arrived at `arrival` waits, or waited, until `start`.
    #[inline]
    pub fn waited(&mut self, arrival: Instant, start: Instant) {
        self.started += u64::from(start <= self.window.end);
        if start <= arrival {
            return;
        }
        self.held(1, arrival, start);
    }

    /// `packets` packets wait, or waited, from `from` to `to`.
    #[inline]
    pub fn held(&mut self, packets: u32, from: Instant, to: Instant) {
        let packets = u64::from(packets);
        self.waited += packets * self.window.overlap(from, to, Instant::ZERO);
        self.waited_steady += packets * self.window.overlap(from, to, self.window.warmup);
        if self.bin > 0 {
            self.spread_over_bins(packets, from.nanos(), to.min(self.window.end).nanos());
        }
    }

    fn spread_over_bins(&mut self, packets: u64, mut from: u64, to: u64) {
        while from < to {
            let bin = from / self.bin;
            let until = ((bin + 1) * self.bin).min(to);
            if let Some(sum) = self.waited_in_bin.get_mut(bin as usize) {
                *sum += packets * (until - from);
            }
            from = until;
        }
    }

    /// A packet leaves the transmitter at `now`, which may lie beyond the end. Answers whether it counts.
    #[inline]
    pub fn departed(&mut self, now: Instant, wire: u16) -> bool {
        if now > self.window.end {
            return false;
        }
        self.departures += 1;
        self.wire_departed += u64::from(wire);
        if now >= self.window.warmup {
            self.wire_departed_steady += u64::from(wire);
        }
        true
    }
}

/// What one flow counts.
#[derive(Clone, Debug)]
pub struct FlowMeasure {
    window: Window,
    /// Data packets that the sender handed to the network, retransmissions included.
    pub packets_sent: u64,
    /// Their bytes on the wire.
    pub wire_sent: u64,
    /// Data packets that reached the receiver's transport.
    pub packets_arrived: u64,
    /// Data packets dropped by queues.
    pub dropped: u64,
    /// Data packets lost by links.
    pub lost: u64,
    /// Feedback packets: handed to the network, arrived, dropped, lost.
    pub feedback: [u64; 4],
    /// Payload bytes delivered to the receiving application, each once.
    pub payload: u64,
    /// Those of the steady part.
    pub payload_steady: u64,
    /// Bytes of payload per bin; empty when not recorded.
    pub payload_in_bin: Vec<u32>,
    bin: u64,
}

impl FlowMeasure {
    /// All zero; with a series of goodput when `bin` is not zero.
    pub fn new(window: Window, bin: Span) -> Self {
        FlowMeasure {
            window,
            packets_sent: 0,
            wire_sent: 0,
            packets_arrived: 0,
            dropped: 0,
            lost: 0,
            feedback: [0; 4],
            payload: 0,
            payload_steady: 0,
            payload_in_bin: vec![0; window.end.nanos().checked_div(bin.nanos()).map_or(0, |n| n as usize + 1)],
            bin: bin.nanos(),
        }
    }

    /// Payload reached the application.
    #[inline]
    pub fn delivered(&mut self, now: Instant, payload: u32) {
        self.payload += u64::from(payload);
        if now >= self.window.warmup {
            self.payload_steady += u64::from(payload);
        }
        if self.bin > 0
            && let Some(sum) = self.payload_in_bin.get_mut((now.nanos() / self.bin) as usize)
        {
            *sum += payload;
        }
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
        let mut link = LinkMeasure::new(window, Span::from_millis(500));
        link.waited(seconds(0.5), seconds(1.5));
        link.waited(seconds(2.75), seconds(9.0));
        assert_eq!(link.waited, 1_250_000_000);
        assert_eq!(link.waited_steady, 750_000_000);
        let bins: Vec<f64> = link.waited_in_bin.iter().map(|n| *n as f64 / 1e9).collect();
        assert_eq!(bins, [0.0, 0.5, 0.5, 0.0, 0.0, 0.25, 0.0]);
        assert_eq!(link.started, 1);
    }

    #[test]
    fn a_departure_after_the_end_is_no_packet_hop() {
        let mut link = LinkMeasure::new(Window { warmup: Instant::ZERO, end: seconds(1.0) }, Span::ZERO);
        assert!(link.departed(seconds(1.0), 1040));
        assert!(!link.departed(seconds(1.1), 1040));
        assert_eq!((link.departures, link.wire_departed), (1, 1040));
    }
}
